"""A kernel's C++ function and the codes of its parameters in; a function that Python calls without ctypes out.

The function is one of C's that takes Python's objects as they are (``METH_FASTCALL``), the same for all kernels: it
goes through a plan of what is passed, fills slots of 8 bytes, and calls the kernel with them. A call costs a tenth of a
microsecond, and several through ctypes. That is how kernels are called where this library cannot be had, or is being
compiled, and where this Python or torch keeps arrays or tensors in another way than is known here.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch

from looplift.base.errors import NotLiftable
from looplift.build import background, compiler
from looplift.ir.kernel_entry import OVERFLOW, slots_of, through_ctypes

TENSORS = (
    "float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "uint16", "uint32",
    "uint64",
)  # fmt: skip
_LETTERS = {
    "float64": "d", "float32": "f", "int64": "q", "int32": "i", "int16": "h", "int8": "c", "uint64": "Q", "uint32": "I",
    "uint16": "H", "uint8": "C", "bool": "?",
}  # fmt: skip
MOST = 250
"""Slots."""

CALL = r"""
#include <stdint.h>

typedef void Object;
extern "C" {
extern Object *PyExc_TypeError, *PyExc_OverflowError;
char* PyBytes_AsString(Object*);
long long PyLong_AsLongLong(Object*);
unsigned long long PyLong_AsUnsignedLongLong(Object*);
void* PyLong_AsVoidPtr(Object*);
double PyFloat_AsDouble(Object*);
int PyObject_IsTrue(Object*);
Object* PyErr_Occurred();
int PyErr_ExceptionMatches(Object*);
void PyErr_Clear();
Object* PyErr_Format(Object*, const char*, ...);
Object* PyLong_FromLongLong(long long);
Object* PyLong_FromUnsignedLongLong(unsigned long long);
Object* PyFloat_FromDouble(double);
Object* PyBool_FromLong(long);
Object* PyTuple_New(int64_t);
int PyTuple_SetItem(Object*, int64_t, Object*);
}

// How torch's tensors are read; see build/tensors.py.
struct Access {
  int64_t place;
  void* kinds[2];
  int32_t codes[16];
  int32_t (*data)(void*, void**), (*dtype)(void*, int32_t*), (*device)(void*, int32_t*), (*layout)(void*, int32_t*),
      (*dim)(void*, int64_t*), (*sizes)(void*, const int64_t**), (*strides)(void*, const int64_t**);
  bool (*asks)(const void*), (*negative)(const void*);
};
struct Dtype { int64_t references; void *type, *kind_of; char kind, letter, order, unused; int number; };
struct Array {
  int64_t references;
  void* type;
  char* data;
  int rank;
  const int64_t *size, *step;
  void* base;
  Dtype* dtype;
};

// One value, by the letter of its code; what a and b are depends on that.
struct Item { int64_t letter, a, b; };
struct Plan {
  int (*kernel)(int64_t*);
  const Access* access;
  void *array, *none;
  int64_t given, handed, count, overflow;
  Item items[1];
};

static bool tensor(const Access& access, Object* given, const Item& item, int64_t* slots) {
  void* kind = ((void**)given)[1];
  if (kind != access.kinds[0] && kind != access.kinds[1]) return false;
  void* tensor = (char*)given + access.place;
  int32_t dtype = -1, device = -1, layout = -1;
  int64_t rank = -1;
  const int64_t *size = nullptr, *step = nullptr;
  if (access.device(tensor, &device) || access.layout(tensor, &layout) || device || layout) return false;
  if (access.dtype(tensor, &dtype) || access.dim(tensor, &rank)) return false;
  if (dtype != access.codes[item.a] || rank != item.b || access.negative(tensor)) return false;
  if (access.data(tensor, (void**)slots)) return false;
  if (rank && (access.sizes(tensor, &size) || access.strides(tensor, &step))) return false;
  for (int64_t axis = 0; axis < rank; ++axis) slots[1 + axis] = size[axis], slots[1 + rank + axis] = step[axis];
  return true;
}

static bool array(const Plan& plan, Object* given, const Item& item) {
  if (((void**)given)[1] != plan.array) return false;
  const Dtype& dtype = *((const Array*)given)->dtype;
  return (dtype.number == item.a || dtype.number == item.b) && (dtype.order == '=' || dtype.order == '|');
}

static Object* number(int64_t letter, const int64_t* slot) {
  switch (letter) {
    case 'd': return PyFloat_FromDouble(*(const double*)slot);
    case 'f': return PyFloat_FromDouble(*(const float*)slot);
    case 'q': return PyLong_FromLongLong(*slot);
    case 'i': return PyLong_FromLongLong(*(const int32_t*)slot);
    case 'h': return PyLong_FromLongLong(*(const int16_t*)slot);
    case 'c': return PyLong_FromLongLong(*(const int8_t*)slot);
    case 'Q': return PyLong_FromUnsignedLongLong(*(const uint64_t*)slot);
    case 'I': return PyLong_FromLongLong(*(const uint32_t*)slot);
    case 'H': return PyLong_FromLongLong(*(const uint16_t*)slot);
    case 'C': return PyLong_FromLongLong(*(const uint8_t*)slot);
    default: return PyBool_FromLong(*(const bool*)slot);
  }
}

static Object* words(int64_t count, const int64_t* slots) {
  Object* all = PyTuple_New(count);
  for (int64_t k = 0; all && k < count; ++k) PyTuple_SetItem(all, k, PyLong_FromLongLong(slots[k]));
  return all;
}

extern "C" Object* looplift_call(Object* self, Object* const* given, int64_t count) {
  const Plan& plan = *(const Plan*)PyBytes_AsString(self);
  if (count != plan.given) return PyErr_Format(PyExc_TypeError, "a kernel takes %d values", int(plan.given));
  int64_t slots[256];
  int64_t place = 0, next = 0;
  for (int64_t k = 0; k < plan.count; ++k) {
    const Item& item = plan.items[k];
    int64_t* const slot = slots + place++;
    switch (item.letter) {
      case '=': *slot = item.a; break;
      case 't':
        if (!tensor(*plan.access, given[next++], item, slot))
          return PyErr_Format(PyExc_TypeError,
              "value %d must be a %d-dimensional tensor of a kernel's dtype on the CPU", int(next), int(item.b));
        place += 2 * item.b;
        break;
      case 'a':
        if (!array(plan, given[next], item))
          return PyErr_Format(PyExc_TypeError, "value %d must be an array of a kernel's dtype", int(next + 1));
        *slot = int64_t(given[next++]);
        break;
      case 'o': *slot = int64_t(given[next++]); break;
      case 'p': *slot = given[next] == plan.none ? 0 : int64_t(PyLong_AsVoidPtr(given[next])), ++next; break;
      case 'q': *slot = PyLong_AsLongLong(given[next++]); break;
      case 'u': *slot = int64_t(PyLong_AsUnsignedLongLong(given[next++])); break;
      case 'd': *(double*)slot = PyFloat_AsDouble(given[next++]); break;
      case 'b': *slot = PyObject_IsTrue(given[next++]); break;
      default:
        *slot = 0;
        if (item.letter == 'w') place += item.a - 1;
    }
    if (*slot == -1 || item.letter == 'd')
      if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return nullptr;
        PyErr_Clear();
        return PyLong_FromLongLong(plan.overflow);
      }
  }
  if (const int outcome = plan.kernel(slots)) return PyErr_Occurred() ? nullptr : PyLong_FromLongLong(outcome);
  Object* all = PyTuple_New(plan.handed);
  place = next = 0;
  for (int64_t k = 0; all && next < plan.handed; ++k) {
    const Item& item = plan.items[k];
    if (item.letter == '>') PyTuple_SetItem(all, next++, number(item.a, slots + place));
    if (item.letter == 'w') PyTuple_SetItem(all, next++, words(item.a, slots + place));
    place += item.letter == 't' ? 1 + 2 * item.b : item.letter == 'w' ? item.a : 1;
  }
  return all;
}

// Whether values are arrays of certain dtypes, ranks and extents: of each none, one, or more, by two bits.
extern "C" Object* looplift_arrays(Object* self, Object* const* given, int64_t count) {
  const Plan& plan = *(const Plan*)PyBytes_AsString(self);
  bool holds = count == plan.given;
  for (int64_t k = 0; holds && k < count; ++k) {
    const Item &item = plan.items[2 * k], &extents = plan.items[2 * k + 1];
    if (!(holds = array(plan, given[k], item))) break;
    const Array& one = *(const Array*)given[k];
    holds = one.rank == extents.a;
    for (int64_t axis = 0; holds && axis < extents.a; ++axis)
      holds = (one.size[axis] > 1 ? 2 : one.size[axis]) == (extents.b >> 2 * axis & 3);
  }
  return PyBool_FromLong(holds);
}
"""


def entry(host: int, library: Any, name: str, codes: str) -> Callable[..., Any]:
    """What calls a function of a library by its codes (``ir/kernel_entry.py``); ``host``: the address of its functions
    of Python."""
    has_arrays = any(code[0] == "a" for code in codes.split())
    slow = through_ctypes(library, name, codes, host, _maker, _described if has_arrays else id)
    plan = _plan(host, library, name, codes)
    if plan is None:
        return slow
    if (made := _made(plan)) is not None:
        return made
    return Waiting(plan, slow)


class Waiting:
    """A kernel that is called through ctypes until what calls it faster is compiled."""

    def __init__(self, plan: bytes, slow: Callable[..., Any]):
        self.plan, self.run, self.is_fast = plan, slow, False

    def __call__(self, *given: Any) -> Any:
        if not self.is_fast and (made := _made(self.plan)) is not None:
            self.run, self.is_fast = made, True
        return self.run(*given)


def _described(array: Any) -> Any:
    from looplift.build.arrays import described

    return described(array)


def _maker() -> int:
    from looplift.build.arrays import maker

    return ctypes.addressof(maker())


# ---------------------------------------------------------------- plans


def _plan(host: int, library: Any, name: str, codes: str) -> bytes | None:
    """The plan of a function in the order of the C++; None where it must be called through ctypes."""
    every = codes.split()
    if sys.implementation.name != "cpython" or object.__basicsize__ != 16 or sum(map(slots_of, every)) > MOST:
        return None
    access = _access() if any(code[0] == "t" for code in every) else 0
    if access is None:
        return None
    kind = 0
    if any(code[0] == "a" for code in every):
        from looplift.build import arrays

        if not arrays.are_as_said():
            return None
        kind = id(arrays.np.ndarray)
    kernel = ctypes.cast(getattr(library, f"{name}_slots"), ctypes.c_void_p).value
    given = sum(code[0] not in ">hm" for code in every)
    handed = sum(code[0] == ">" for code in every)
    items = [number for code in every for number in _item(code, host)]
    head = (kernel, access, kind, id(None), given, handed, len(every), OVERFLOW)
    return struct.pack(f"{len(head) + len(items)}q", *head, *items)


def _item(code: str, host: int) -> tuple[int, int, int]:
    letter, rest = code[0], code[1:]
    if letter in "hm":
        return ord("="), host if letter == "h" else _maker(), 0
    if letter == "t":
        dtype, rank = rest[1:].split(":")
        return ord("t"), TENSORS.index(dtype), int(rank)
    if letter == "a":
        from looplift.build import arrays

        return ord("a"), *arrays.numbers_of(rest[1:])
    if letter == ">":
        return (ord("w"), int(rest), 0) if rest.isdigit() else (ord(">"), ord(_LETTERS[rest]), 0)
    return ord(letter), 0, 0


@cache
def _access() -> int | None:
    from looplift.build import tensors

    return tensors.address(tuple(getattr(torch, name) for name in TENSORS)) or None


# ---------------------------------------------------------------- the library


class _Definition(ctypes.Structure):
    """``PyMethodDef``."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("text", ctypes.c_char_p),
    )  # fmt: skip


_FASTCALL = 0x80


class _Library(NamedTuple):
    call: _Definition
    arrays: _Definition


def _made(plan: bytes, name: str = "call") -> Callable[..., Any] | None:
    """A builtin function that goes by a plan; None as long as there is no library."""
    if (library := _library()) is None:
        return None
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return new(("PyCFunction_NewEx", ctypes.pythonapi))(ctypes.addressof(getattr(library, name)), plan, None)


_found: list[_Library | None] = []
_coming: list[background.Coming | None] = []


def _library() -> _Library | None:
    if not _found and _is_there():
        _found.append(_loaded())
    return _found[0] if _found else None


def _is_there() -> bool:
    """Whether the library is compiled, or will never be; the first that asks has it compiled meanwhile."""
    if _coming:
        return _coming[0] is None or _coming[0].is_over()
    if not background.is_wanted(CALL):
        return True
    _coming.append(background.begin(CALL))
    return False


def _loaded() -> _Library | None:
    try:
        library = ctypes.PyDLL(str(compiler.library(CALL)))
    except (NotLiftable, OSError):  # each call goes through ctypes then
        return None
    functions = (ctypes.cast(one, ctypes.c_void_p).value for one in (library.looplift_call, library.looplift_arrays))
    return _Library(*(_Definition(b"kernel", function, _FASTCALL, None) for function in functions))


# ---------------------------------------------------------------- guards


def check_of_arrays(samples: Sequence[Any]) -> Callable[..., bool] | None:
    """What tells whether values are arrays as these, up to their sizes: one function, several times as fast as Python
    that looks at each. None where it cannot be had."""
    from looplift.build import arrays

    items = []
    for sample in samples:
        if type(sample) is not arrays.np.ndarray or sample.dtype.kind not in "biufc" or not sample.dtype.isnative:
            return None
        extents = sum(min(extent, 2) << 2 * axis for axis, extent in enumerate(sample.shape))
        items += [0, *arrays.numbers_of(sample.dtype.name), 0, sample.ndim, extents]
    if not arrays.are_as_said() or any(sample.ndim > 8 for sample in samples):
        return None
    head = (0, 0, id(arrays.np.ndarray), id(None), len(samples), 0, 0, 0)
    return _made(struct.pack(f"{len(head) + len(items)}q", *head, *items), "arrays")
