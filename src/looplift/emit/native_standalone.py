"""A kernel as a Python text of its own: its C++ in a string, and the few lines that compile, load and call it."""

from __future__ import annotations

import inspect

from looplift.emit import cuda_standalone
from looplift.ir.kernel import OUTCOMES, Kernel
from looplift.ir.kernel_entry import LIMITS, NUMBERS, OVERFLOW, slots_of, through_ctypes
from looplift.ir.kernel_parts import PARTS, shares_loops

LOADER = '''\
import ctypes
import functools
import hashlib
import os
import pathlib
import struct
import subprocess
import tempfile
from collections.abc import Callable
from typing import Any

import torch


@functools.cache
def _library(source):
    """Compile C++ with the system's compiler, once for each text, and load it."""
    command = [os.environ.get("CXX", "c++"), *"{FLAGS}".split()]
    key = hashlib.sha256(" ".join([*command, source]).encode()).hexdigest()[:32]
    directory = pathlib.Path(tempfile.gettempdir()) / f"kernels-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    directory.mkdir(mode=0o700, exist_ok=True)
    if hasattr(os, "getuid") and directory.stat().st_uid != os.getuid():
        directory = pathlib.Path(tempfile.mkdtemp())
    library = directory / f"{key}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=directory) as workplace:
            text, built = pathlib.Path(workplace, "kernel.cpp"), pathlib.Path(workplace, "kernel.so")
            text.write_text(source)
            subprocess.run([*command, str(text), "-o", str(built)], check=True)
            os.replace(built, library)
    return ctypes.PyDLL(str(library))


class _Host(ctypes.Structure):
    """What a kernel needs of Python: to let other threads run, to see Ctrl-C, and to run in threads itself."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("release", "acquire", "signals", "threads", "in_parts")]


_api = ctypes.pythonapi
_threads = ctypes.CFUNCTYPE(ctypes.c_int)(torch.get_num_threads)
_python = (_api.PyEval_SaveThread, _api.PyEval_RestoreThread, _api.PyErr_CheckSignals, _threads)
_host = _Host(*(ctypes.cast(function, ctypes.c_void_p).value for function in _python))
_OUTCOMES = {OUTCOMES}


def failed(outcome):
    """The error for what a kernel returned."""
    return RuntimeError(_OUTCOMES[outcome])
'''

ARRAYS = '''

class _Array(ctypes.Structure):
    """The fields of an array of NumPy, in the order of its C API."""

    _fields_ = [
        ("references", ctypes.c_int64), ("type", ctypes.c_void_p), ("data", ctypes.c_void_p), ("rank", ctypes.c_int),
        ("size", ctypes.POINTER(ctypes.c_int64)), ("step", ctypes.POINTER(ctypes.c_int64)), ("base", ctypes.c_void_p),
        ("dtype", ctypes.c_void_p), ("flags", ctypes.c_int),
    ]


def array_at(array):
    """An array as a kernel takes it."""
    extents = ctypes.c_int64 * array.ndim
    fields = _Array(data=array.ctypes.data, rank=array.ndim, flags=array.flags.num)
    fields.size, fields.step = extents(*array.shape), extents(*array.strides)
    return ctypes.byref(fields)
'''
MAKERS = '''

@functools.cache
def _maker():
    """The functions of NumPy and Python by which a kernel makes what it hands out."""
    import numpy

    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))
    core = getattr(numpy, "_core", None) or numpy.core
    table = ctypes.cast(pointer(core._multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    functions = (
        _api.PyObject_CallFunction, _api.PyObject_CallMethod, _api.PyLong_AsVoidPtr, _api.Py_DecRef,
        _api.PyList_GetItem, _api.PyList_SetItem, _api.PyErr_Clear,
    )
    addresses = [table[place] for place in (45, 183, 184, 160)]
    addresses += [ctypes.cast(function, ctypes.c_void_p).value for function in functions]
    return (ctypes.c_void_p * len(addresses))(*addresses)
'''

_ENTRY = f'''

NUMBERS = {NUMBERS}
LIMITS = {LIMITS}
OVERFLOW = {OVERFLOW}


{inspect.getsource(slots_of)}

{inspect.getsource(through_ctypes)}

def entry(library, name, codes):
    """A function of a library that takes Python's values."""
    return through_ctypes(library, name, codes, ctypes.addressof(_host), lambda: ctypes.addressof(_maker()), array_at)
'''

MEMORY = '''

def share_memory(tensor, *others):
    """Whether a tensor shares memory with one of the others."""
    storages = [one.untyped_storage() for one in (tensor, *others)]
    (start, end), *rest = ((storage.data_ptr(), storage.data_ptr() + storage.nbytes()) for storage in storages)
    return any(start < other_end and other_start < end for other_start, other_end in rest)


def overlaps(tensor):
    """Whether two elements of a tensor may share memory."""
    reach = 1
    for step, size in sorted((step, size) for size, step in zip(tensor.shape, tensor.stride()) if size > 1):
        if step < reach:
            return True
        reach += step * (size - 1)
    return False


def is_doubtful(gradient):
    """Whether a gradient may be none at all, or hold what flowed from none: its sum is zero or not finite."""
    total = float(gradient.sum())
    return total == 0 or total - total != 0


def once(backward):
    """A backward pass whose gradients raise an error when they are differentiated again: there is no loop to do it."""

    class Once(torch.autograd.Function):
        @staticmethod
        def forward(context, found, *sources):
            return found

        @staticmethod
        def backward(context, *gradients):
            raise RuntimeError("the gradient of a native kernel cannot be differentiated again (once_differentiable)")

    def wrapped(context, *gradients):
        with torch.no_grad():
            found = backward(context, *gradients)
        if not torch.is_grad_enabled():
            return found
        sources = (one for one in (*context.everything, *gradients) if isinstance(one, torch.Tensor))
        return Once.apply(found, *sources)

    return wrapped
'''

PARTS_TEXT = f'''_parts_source = r"""
{PARTS}"""
_host.in_parts = ctypes.cast(_library(_parts_source).looplift_in_parts, ctypes.c_void_p).value


'''

TAPE = '''

class {NAME}_Tape(ctypes.Structure):
    """What the forward pass leaves for the backward pass; its memory is freed with it."""

    _fields_ = [("words", ctypes.c_void_p), ("length", ctypes.c_int64), ("capacity", ctypes.c_int64)]

    def __del__(self):
        if self.words:
            release(ctypes.addressof(self))
'''

FLAGS = (
    "-O3 -fPIC -shared -std=c++17 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math"
    " -fwrapv -fno-strict-aliasing -fopenmp-simd -fno-exceptions -fno-tree-slp-vectorize"
    " -fvisibility-inlines-hidden -fno-semantic-interposition -pipe"
)


def loader_text() -> str:
    """What every standalone kernel needs; once in a module is enough."""
    outcomes = "(\n" + "".join(f"    {text!r},\n" for text in OUTCOMES.values()) + ")"
    text = LOADER.replace("{FLAGS}", FLAGS).replace("{OUTCOMES}", outcomes)
    return text + ARRAYS + MAKERS + _ENTRY + MEMORY


def function_text(kernel: Kernel) -> str:
    """The function of one kernel, under the kernel's name, for a module that holds the loader."""
    if kernel.adjoint is not None:
        return _differentiable_text(kernel)
    shared = [PARTS_TEXT] if shares_loops(kernel.source) else []
    inner = _indented(kernel.caller)
    return "\n".join([
        *shared,
        f'{kernel.name}_source = r"""',
        kernel.source + '"""',
        "",
        "",
        f"def _make_{kernel.name}():",
        f"    library = _library({kernel.name}_source)",
        *_release(kernel),
        *_careful(kernel),
        *_numpy(kernel.caller),
        inner,
        f"    return {kernel.name}",
        "",
        "",
        f"{kernel.name} = _make_{kernel.name}()",
        "",
    ])  # fmt: skip


def _differentiable_text(kernel: Kernel) -> str:
    assert kernel.adjoint is not None and kernel.adjoint_caller is not None
    tape = TAPE.replace("{NAME}_Tape", "Tape").strip()
    return "\n".join([
        f'{kernel.name}_source = r"""',
        kernel.adjoint + '"""',
        "",
        "",
        f"def _make_{kernel.name}():",
        f"    library = _library({kernel.name}_source)",
        f"    release = library.{kernel.name}_release",
        f'    tracked_library = lambda: _library("#define TRACKED\\n" + {kernel.name}_source)',
        "    release.argtypes, release.restype = [ctypes.c_void_p], None",
        *_numpy(kernel.adjoint_caller),
        "",
        _indented(tape),
        "",
        _indented(kernel.adjoint_caller),
        f"    return {kernel.name}",
        "",
        "",
        f"{kernel.name} = _make_{kernel.name}()",
        "",
    ])  # fmt: skip


def _release(kernel: Kernel) -> list[str]:
    if "function_release" not in kernel.caller:
        return []
    return [
        "    function_release = library.release",
        "    function_release.argtypes, function_release.restype = [ctypes.c_void_p], None",
    ]


def _careful(kernel: Kernel) -> list[str]:
    if "careful_library" not in kernel.caller:
        return []
    return [f'    careful_library = lambda: _library("#define CAREFUL\\n" + {kernel.name}_source)']


def _numpy(text: str) -> list[str]:
    return ["    import numpy", ""] if "numpy." in text else []


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.strip().splitlines())


def standalone_text(kernel: Kernel) -> str:
    """A Python text that defines a function with the kernel's name; it needs torch and a C++ compiler, nothing else."""
    if kernel.device is not None:
        return cuda_standalone.standalone_text(kernel)
    return loader_text() + "\n\n" + function_text(kernel)
