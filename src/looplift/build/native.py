"""Kernels to callables: compiled, loaded by ctypes, and called through the Python text that comes with them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from looplift.base.errors import RequirementFailed
from looplift.build import compiler
from looplift.ir.kernel import OUTCOMES, Kernel


def load(kernel: Kernel) -> Callable[..., tuple]:
    """A callable ``(*inputs) -> outputs`` that writes into the stored inputs.

    It raises RequirementFailed where the loop would raise or leave what a kernel can hold; the stored inputs may then
    be written in part. Compiling may raise NotLiftable.
    """
    function = getattr(_library(kernel.source), kernel.name)
    return _defined(kernel.caller, kernel.name, function=function)


def _library(source: str) -> ctypes.PyDLL:
    """The library of a C++ text. Kernels let go of Python's lock by themselves."""
    path = compiler.library(source)
    try:
        return ctypes.PyDLL(str(path))
    except OSError:
        return ctypes.PyDLL(str(compiler.rebuilt(source)))


def _defined(text: str, name: str, **more: Any) -> Callable[..., tuple]:
    """The function that a Python text defines."""
    namespace: dict[str, Any] = {
        "ctypes": ctypes, "torch": torch, "host": ctypes.addressof(_host()), "failed": failed, "address": address,
        **more,
    }  # fmt: skip
    if "numpy." in text:
        import numpy

        namespace["numpy"] = numpy
    exec(compile(text, f"<{name}>", "exec"), namespace)
    return namespace[name]


class Host(ctypes.Structure):
    """The functions of Python that a kernel calls to let others run and to see Ctrl-C."""

    _fields_ = (("release", ctypes.c_void_p), ("acquire", ctypes.c_void_p), ("signals", ctypes.c_void_p))


@cache
def _host() -> Host:
    api = ctypes.pythonapi
    names = (api.PyEval_SaveThread, api.PyEval_RestoreThread, api.PyErr_CheckSignals)
    return Host(*(ctypes.cast(function, ctypes.c_void_p).value for function in names))


_OUTCOMES = tuple(OUTCOMES.values())


def failed(outcome: int) -> RequirementFailed:
    """The exception for what a kernel returned."""
    return RequirementFailed(_OUTCOMES[outcome])


def address(array: Any, dtype: str, rank: int, writes: bool = False) -> int:
    """Where an array's elements begin; raises TypeError if it is not what the kernel was made for."""
    if array.dtype.name != dtype or array.ndim != rank or not array.dtype.isnative:
        raise TypeError(f"an array of {rank} dimensions of {dtype} was expected")
    if not array.flags.aligned or any(step % array.itemsize for step in array.strides):
        raise RequirementFailed("an array's elements are not aligned")
    if writes and not array.flags.writeable:
        raise RequirementFailed("an array is read-only")
    return array.__array_interface__["data"][0]


def differentiable(kernel: Kernel) -> Callable[..., tuple]:
    raise NotImplementedError
