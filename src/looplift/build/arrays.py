"""NumPy arrays as kernels take them: by the address of their fields, which is where CPython keeps the array itself."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

import numpy as np


class Fields(ctypes.Structure):
    """The fields of an array, in the order of NumPy's C API (``PyArrayObject_fields``)."""

    _fields_ = (
        ("references", ctypes.c_int64), ("type", ctypes.c_void_p), ("data", ctypes.c_void_p), ("rank", ctypes.c_int),
        ("size", ctypes.POINTER(ctypes.c_int64)), ("step", ctypes.POINTER(ctypes.c_int64)), ("base", ctypes.c_void_p),
        ("dtype", ctypes.c_void_p), ("flags", ctypes.c_int),
    )  # fmt: skip


def described(array: np.ndarray) -> Any:
    """The fields of an array, written anew."""
    extents = ctypes.c_int64 * array.ndim
    fields = Fields(data=array.ctypes.data, rank=array.ndim, flags=array.flags.num)
    fields.size, fields.step = extents(*array.shape), extents(*array.strides)
    return ctypes.byref(fields)


@cache
def are_as_said() -> bool:
    """Whether this Python keeps arrays as NumPy's C API says."""
    plain = sys.implementation.name == "cpython" and object.__basicsize__ == 16
    return plain and all(map(_is_as_said, _samples()))


class Dtype(ctypes.Structure):
    """The first fields of a dtype (``PyArray_Descr``)."""

    _fields_ = (
        ("references", ctypes.c_int64), ("type", ctypes.c_void_p), ("made", ctypes.c_void_p), ("kind", ctypes.c_char),
        ("letter", ctypes.c_char), ("order", ctypes.c_char), ("unused", ctypes.c_char), ("number", ctypes.c_int),
    )  # fmt: skip


def numbers_of(name: str) -> tuple[int, int]:
    """The numbers that NumPy has for a dtype: integers of one size may have two names in C."""
    dtype = np.dtype(name)
    same = [one.num for one in map(np.dtype, "bBhHiIlLqQ") if one == dtype]
    return (same[0], same[-1]) if same else (dtype.num, dtype.num)


def _samples() -> list[np.ndarray]:
    table = np.arange(12, dtype=np.int32).reshape(3, 4)
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    return [table, table[::2, ::-1], frozen, np.zeros(2, dtype=bool), np.zeros(2, dtype=">f4")]


def _is_as_said(array: np.ndarray) -> bool:
    fields = Fields.from_address(id(array))
    if (fields.data, fields.rank, fields.flags) != (array.ctypes.data, array.ndim, array.flags.num):
        return False
    dtype = Dtype.from_address(fields.dtype or 0) if fields.dtype == id(array.dtype) else None
    known = (array.dtype.num, array.dtype.byteorder.encode())
    extents = (tuple(fields.size[: array.ndim]), tuple(fields.step[: array.ndim]))
    return extents == (array.shape, array.strides) and dtype is not None and (dtype.number, dtype.order) == known


class Maker(ctypes.Structure):
    """The functions of NumPy and Python by which a kernel makes what it hands out, in the order of its C++."""

    _fields_ = tuple(
        (name, ctypes.c_void_p)
        for name in ("dtype", "zeros", "empty", "place", "call", "method", "address", "leave", "item", "put", "forget")
    )


@cache
def maker() -> Maker:
    """The functions, those of NumPy from its C API: places in that table never change."""
    api = ctypes.pythonapi
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", api))
    core: Any = getattr(np, "_core", None) or np.core
    table = ctypes.cast(pointer(core._multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    of_python = (
        api.PyObject_CallFunction, api.PyObject_CallMethod, api.PyLong_AsVoidPtr, api.Py_DecRef, api.PyList_GetItem,
        api.PyList_SetItem, api.PyErr_Clear,
    )  # fmt: skip
    of_numpy = (table[place] for place in (45, 183, 184, 160))
    return Maker(*of_numpy, *(ctypes.cast(function, ctypes.c_void_p).value for function in of_python))
