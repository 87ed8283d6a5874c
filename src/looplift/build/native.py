"""Kernels to callables: compiled, loaded by ctypes, and called through the Python text that comes with them."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import re
import sys
from collections import deque
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import torch

from looplift.base import memory
from looplift.base.errors import NotLiftable, RequirementFailed
from looplift.build import background, compiler, cuda, entry, kept, second
from looplift.build.compiler import KERNELS
from looplift.ir.kernel import OUTCOMES, Kernel
from looplift.ir.kernel_parts import PARTS, shares_loops
from looplift.runtime import guards
from looplift.runtime.patience import compiling
from looplift.runtime.variants import Late

guards.check_of_arrays = entry.check_of_arrays


def load(kernel: Kernel) -> Callable[..., tuple]:
    """A callable ``(*inputs) -> outputs`` that writes into the stored inputs.

    It raises RequirementFailed where the loop would raise or leave what a kernel can hold; the stored inputs are then
    as they were. Compiling may raise NotLiftable.
    """
    if kernel.device is not None:
        return _defined(kernel.caller, kernel.name, home_of=cuda.home_of, launch=cuda.launcher(kernel.source))
    make, quick = functools.partial(_loaded, kernel), not _ANOTHER_ORDER.search(kernel.source)
    if (coming := _coming(kernel.source, quick=quick)) is None:
        return make()
    return Twofold(coming, make) if quick else Awaited(coming, make)


_ANOTHER_ORDER = re.compile(r"\breduction\b")
"""A loop that says so adds in an order that depends on how well it is compiled."""


def _coming(source: str, *, quick: bool = False) -> background.Coming | None:
    """The library of a text, where others may wait for it meanwhile."""
    may_wait = compiling.may_wait and background.is_wanted(source)
    return background.begin(source, quick=quick) if may_wait else None


def _loaded(kernel: Kernel, options: compiler.Options = KERNELS) -> Callable[..., tuple]:
    library = _library(kernel.source, options)
    more: dict[str, Any] = {"library": library}
    if shares_loops(kernel.source):
        _host().in_parts = _in_parts()
    if "function_release" in kernel.caller:
        more["function_release"] = library.release
        library.release.argtypes, library.release.restype = [ctypes.c_void_p], None
    if "careful_library" in kernel.caller:
        more["careful_library"] = cache(lambda: _library("#define CAREFUL\n" + kernel.source))
    return _defined(kernel.caller, kernel.name, **more)


def load_program(text: str, caller: str, loop: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """What a typed program's C++ and the Python text around it make: a function of its inputs.

    It raises RequirementFailed where Python's loop must run; nothing was changed then. ``loop``: that loop, of the same
    inputs, for gradients of gradients.
    """
    if "free-threading" in sys.version:
        raise NotLiftable("backend", "this Python has no lock that keeps objects as they are")
    if not background.is_wanted(text):
        return _program(text, caller, KERNELS, loop)
    coming = background.begin(text, quick=True)
    if coming is None:
        return _program(text, caller, KERNELS, loop)
    awaited = Awaited(coming, functools.partial(_grown, text, caller, loop, coming))
    return awaited if compiling.may_wait else awaited.made()


def _grown(text: str, caller: str, loop: Any, coming: background.Coming) -> Callable[..., Any]:
    """Of the best library, where it is there or nothing comes any more."""
    if coming.library.exists() or not coming.has_first():
        return _program(text, caller, KERNELS, loop)
    return Growing(_program(text, caller, background.QUICK, loop), coming, text, caller, loop)


class Awaited(Late):
    """What is made of a library that is being compiled; a call waits for it.

    Raises NotLiftable where it cannot be compiled.
    """

    def __init__(self, coming: background.Coming, make: Callable[..., Callable[..., Any]]):
        self.coming, self.make, self.run = coming, make, None

    def __call__(self, *values: Any) -> Any:
        return self.made()(*values)

    def made(self, *, best: bool = False) -> Callable[..., Any]:
        """The function itself, with the marks of this one."""
        if self.run is None:
            self.coming.wait()
            self.run = self._marked(self.make())
        return self.run

    def _marked(self, run: Callable[..., Any]) -> Callable[..., Any]:
        own = ("coming", "make", "run", "is_best")
        vars(run).update({name: value for name, value in vars(self).items() if name not in own})
        return run

    def is_coming(self) -> bool:
        return self.run is None and not self.coming.has_any()

    def is_preliminary(self) -> bool:
        return self.run is None or getattr(self.run, "is_preliminary", bool)()


class Twofold(Awaited):
    """A kernel that is made of a library that was compiled in a moment, and then of its best one."""

    def __init__(self, coming: background.Coming, make: Callable[..., Callable[..., Any]]):
        super().__init__(coming, make)
        self.is_best = False

    def __call__(self, *values: Any) -> Any:
        return self.made(best=True)(*values)

    def made(self, *, best: bool = False) -> Callable[..., Any]:
        if self.run is None or (best and not self.is_best):
            self.coming.wait(best=best)
            is_best = self.coming.library.exists() or not self.coming.has_first()
            if is_best or self.run is None:
                self.run = self._marked(self.make(KERNELS if is_best else background.QUICK))
            self.is_best = is_best or best
        return self.run

    def is_growing(self) -> bool:
        return self.run is not None and not self.is_best

    def has_grown(self) -> bool:
        return self.coming.is_over()

    def is_preliminary(self) -> bool:
        return not self.is_best


class Growing:
    """A program that runs as it was compiled in a moment, until its best library is there."""

    def __init__(self, first: Callable[..., Any], coming: background.Coming, text: str, caller: str, loop: Any):
        self.run, self.coming, self.best = first, coming, functools.partial(_program, text, caller, KERNELS, loop)

    def __call__(self, *values: Any) -> Any:
        if (coming := self.coming) is not None and coming.is_over():
            if coming.library.exists():
                self.run = self.best()
            self.coming = None
        return self.run(*values)

    def is_preliminary(self) -> bool:
        return self.coming is not None and not self.coming.is_over()


def _program(text: str, caller: str, options: compiler.Options, loop: Callable[..., Any] | None) -> Callable[..., Any]:
    """The function that a caller's text makes of a library."""
    namespace: dict[str, Any] = {
        "ctypes": ctypes, "sys": sys, "deque": deque, "RequirementFailed": RequirementFailed, "torch": torch,
        "_library": functools.partial(_library_of_program, options=options), "source": text, "loop": loop,
    }  # fmt: skip
    if "begun(loop" in caller:
        from looplift.build import recalled, tensors

        namespace |= {name: getattr(recalled, name) for name in ("begun", "second", "of_the_loop")}
        namespace["access"] = tensors.address
    if "numpy." in caller:
        import numpy

        namespace["numpy"] = numpy
    exec(kept.code_of(caller, "<typed program>"), namespace)
    return namespace["program"]


def _library(source: str, options: compiler.Options = KERNELS) -> ctypes.PyDLL:
    """The library of a C++ text. Kernels let go of Python's lock by themselves."""
    path = compiler.library(source, options)
    try:
        return ctypes.PyDLL(str(path))
    except OSError:
        return ctypes.PyDLL(str(compiler.rebuilt(source)))


class Kept(ctypes.Structure):
    """Memory that programs have done with, and how many bytes of it there are; who uses it has Python's lock."""

    _fields_ = (("first", ctypes.c_void_p), ("total", ctypes.c_int64))


_KEPT = Kept()


def _library_of_program(source: str, options: compiler.Options) -> ctypes.PyDLL:
    """The library of a program, which has the memory of all programs to take from."""
    library = _library(source, options)
    library.share_kept(ctypes.byref(_KEPT))
    return library


def _defined(text: str, name: str, **more: Any) -> Callable[..., tuple]:
    """The function that a Python text defines."""
    namespace: dict[str, Any] = {
        "ctypes": ctypes, "functools": functools, "torch": torch, "failed": failed,
        "entry": functools.partial(entry.entry, ctypes.addressof(_host())), **more,
    }  # fmt: skip
    if "numpy." in text:
        import numpy

        namespace["numpy"] = numpy
    exec(compile(text, f"<{name}>", "exec"), namespace)
    return namespace[name]


class Host(ctypes.Structure):
    """The functions that a kernel calls: Python's to let others run and to see Ctrl-C, PyTorch's number of threads, and
    what shares a range among them, which is there once a kernel asks for it."""

    _fields_ = tuple((name, ctypes.c_void_p) for name in ("release", "acquire", "signals", "threads", "in_parts"))


@cache
def _host() -> Host:
    api = ctypes.pythonapi
    functions = (api.PyEval_SaveThread, api.PyEval_RestoreThread, api.PyErr_CheckSignals, _threads())
    return Host(*(ctypes.cast(function, ctypes.c_void_p).value for function in functions))


@cache
def _in_parts() -> int | None:
    """Where the function is; None where it cannot be compiled, though a kernel is there: that runs in one thread."""
    try:
        return ctypes.cast(_library(PARTS).looplift_in_parts, ctypes.c_void_p).value
    except NotLiftable:
        return None


@cache
def _threads() -> Any:
    """The function that says how many threads there may be: the one of C++ if it can be had, as it is called while
    others may have Python's lock."""
    for name in ("libtorch_cpu.so", "libtorch_cpu.dylib"):
        with contextlib.suppress(OSError, AttributeError):
            return ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / name))._ZN2at15get_num_threadsEv
    return ctypes.CFUNCTYPE(ctypes.c_int)(torch.get_num_threads)


_OUTCOMES = tuple(OUTCOMES.values())


def failed(outcome: int) -> RequirementFailed:
    """The exception for what a kernel returned."""
    return RequirementFailed(_OUTCOMES[outcome])


def differentiable(kernel: Kernel) -> Callable[..., tuple]:
    """A callable ``(*inputs) -> (*outputs, *stored)`` through which gradients flow; it changes none of its inputs.

    The stored tensors come back as new ones. Second derivatives are those of the loop, which runs again for them.
    """
    if kernel.adjoint is None or kernel.adjoint_caller is None:
        raise ValueError("the kernel was made without gradients")
    make = functools.partial(_with_adjoint, kernel, kernel.adjoint)
    return make() if (coming := _coming(kernel.adjoint)) is None else Awaited(coming, make)


def _with_adjoint(kernel: Kernel, adjoint: str) -> Callable[..., tuple]:
    found = _library(adjoint)
    release = getattr(found, f"{kernel.name}_release")
    release.argtypes, release.restype = [ctypes.c_void_p], None
    tape = type("Tape", (Tape,), {"release": staticmethod(release)})
    return _defined(
        str(kernel.adjoint_caller), kernel.name, library=found, Tape=tape,
        tracked_library=cache(lambda: _library("#define TRACKED\n" + adjoint)), share_memory=share_memory,
        overlaps=overlaps, once=second.again_by(kernel), is_doubtful=is_doubtful,
    )  # fmt: skip


def callable_of(definition: Mapping[str, Any]) -> Callable[..., tuple]:
    """The callable of a kernel whose texts were kept: "name", "source", "caller", "adjoint", "adjoint_caller"."""
    texts = {key: definition[key] for key in ("name", "source", "caller", "adjoint", "adjoint_caller")}
    kernel = Kernel(**texts, inputs=(), stored=(), outputs=(), results=())
    return differentiable(kernel) if definition["has_gradients"] else load(kernel)


def put_beside(definition: Mapping[str, Any], directory: Path) -> list[Path]:
    """Copy the libraries of a kernel into a folder: also those that it needs in some calls alone."""
    if definition["has_gradients"]:
        texts = [definition["adjoint"], "#define TRACKED\n" + definition["adjoint"]]
    else:
        careful = "careful_library" in definition["caller"]
        texts = [definition["source"], *(["#define CAREFUL\n" + definition["source"]] if careful else [])]
    texts += [PARTS] if shares_loops(texts[0]) else []
    return [compiler.put_beside(text, directory) for text in texts]


class Tape(ctypes.Structure):
    """What a forward pass leaves for the backward pass; its memory is freed with it."""

    _fields_ = (("words", ctypes.c_void_p), ("length", ctypes.c_int64), ("capacity", ctypes.c_int64))

    def __del__(self) -> None:
        if self.words:
            self.release(ctypes.addressof(self))  # type: ignore[attr-defined]


def share_memory(tensor: torch.Tensor, *others: torch.Tensor) -> bool:
    """Whether a tensor shares memory with one of the others."""
    return not all(memory.apart(tensor, other) for other in others)


def overlaps(tensor: torch.Tensor) -> bool:
    """Whether two elements of a tensor may share memory."""
    return not memory.own_places(tensor)


def is_doubtful(gradient: torch.Tensor) -> bool:
    """Whether a gradient may be none at all, or hold what flowed from none: its sum is zero or not finite."""
    total = float(gradient.sum())
    return total == 0 or total - total != 0
