"""How Python calls a kernel: codes that say what each of its parameters is, and a call by them through ctypes.

The parameters of a kernel are those of its C++ function, in order. One code stands for one value of Python's:

    h            the functions that a kernel has of Python (``Host``), which no caller passes
    m            those that make arrays and tensors (``Maker``), likewise
    t:float64:2  a tensor of two dimensions: its memory, its sizes and its steps
    a:int64      an array of NumPy: its fields
    o            an object as it is
    p            an address, or None
    q u d b      an integer, an unsigned one, a float, a truth value
    >float64     a number that the kernel hands out
    >5           so many integers of 64 bits that it hands out

What is called by them takes the values of all codes that hand out nothing, and returns the kernel's outcome, an int,
or, where that is 0, a tuple of what it hands out.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

from looplift.ir.kernel import OUTCOMES


def through_ctypes(
    library: Any, name: str, codes: str, host: int, maker: Callable[[], int], array_at: Callable[[Any], Any]
) -> Callable[..., Any]:
    """A function of a library by its codes: that which takes one array with a slot of 8 bytes for each parameter.

    ``array_at`` gives a reference to the fields of an array.
    """
    function = getattr(library, f"{name}_slots")
    function.restype, function.argtypes = ctypes.c_int, [ctypes.c_void_p]
    places: list[tuple[str, int]] = []
    count = 0
    for code in codes.split():
        places.append((code, count))
        count += slots_of(code)

    def call(*given: Any) -> Any:
        slots, values, kept = (ctypes.c_int64 * count)(), iter(given), list[Any]()
        for code, place in places:
            if code in ("h", "m"):
                slots[place] = host if code == "h" else maker()
            elif code[0] != ">":
                value = next(values)
                if code in LIMITS and not LIMITS[code][0] <= value < LIMITS[code][1]:
                    return OVERFLOW
                put(slots, place, code, value, kept)
        return function(slots) or tuple(handed(slots, place, code) for code, place in places if code[0] == ">")

    def put(slots: Any, place: int, code: str, value: Any, kept: list[Any]) -> None:
        if code[0] == "t":
            import torch

            dtype, rank = code[2:].split(":")
            wrong = not isinstance(value, torch.Tensor) or value.dtype is not getattr(torch, dtype)
            if wrong or value.layout is not torch.strided or value.device.type != "cpu" or value.dim() != int(rank):
                raise TypeError(f"a {rank}-dimensional tensor of {dtype} on the CPU is needed")
            if value.is_neg():
                raise TypeError("a tensor is needed that is no negative view")
            words = [value.data_ptr(), *value.shape, *value.stride()]
            slots[place : place + len(words)] = words
        elif code[0] == "a":
            if getattr(value, "dtype", None) != code[2:]:
                raise TypeError(f"an array of {code[2:]} is needed")
            kept.append(array_at(value))
            slots[place] = ctypes.cast(kept[-1], ctypes.c_void_p).value or 0
        elif code == "d":
            struct.pack_into("d", slots, 8 * place, value)
        else:
            slots[place] = id(value) if code == "o" else 0 if value is None else value

    def handed(slots: Any, place: int, code: str) -> Any:
        if code[1:].isdigit():
            return tuple(slots[place : place + int(code[1:])])
        return getattr(ctypes, NUMBERS[code[1:]]).from_buffer(slots, 8 * place).value

    return call


def slots_of(code: str) -> int:
    """The number of slots that a value takes."""
    if code[0] == "t":
        return 1 + 2 * int(code.rpartition(":")[2])
    return int(code[1:]) if code[1:].isdigit() else 1


NUMBERS = {
    "float64": "c_double", "float32": "c_float", "int64": "c_int64", "int32": "c_int32", "int16": "c_int16",
    "int8": "c_int8", "uint64": "c_uint64", "uint32": "c_uint32", "uint16": "c_uint16", "uint8": "c_uint8",
    "bool": "c_bool",
}  # fmt: skip
"""The types of ctypes by those of numbers in a kernel."""
LIMITS = {"q": (-(2**63), 2**63), "u": (0, 2**64)}
OVERFLOW = list(OUTCOMES).index("integer_overflow")
