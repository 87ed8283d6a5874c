"""What programs read torch's tensors with, without Python: torch's C functions, and where a tensor's object keeps it.

The functions are those that PyTorch gives to compiled models (``torch/csrc/inductor/aoti_torch/c/shim.h``).
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import torch

_OF_TENSORS = tuple(
    f"aoti_torch_get_{name}" for name in ("data_ptr", "dtype", "device_type", "layout", "dim", "sizes", "strides")
)
_ASKS, _NEGATIVE = "_ZNK3c1010TensorImpl13requires_gradEv", "_ZN2at4_ops6is_neg4callERKNS_6TensorE"


class Access(ctypes.Structure):
    """In the order of the C++: ``place`` of the tensor in its object, the two types of such objects, the codes of
    dtypes, and the functions."""

    _fields_ = (
        ("place", ctypes.c_int64), ("kinds", ctypes.c_void_p * 2), ("codes", ctypes.c_int32 * 16),
        *((name, ctypes.c_void_p) for name in (*_OF_TENSORS, "asks", "negative")),
    )  # fmt: skip


def address(dtypes: Sequence[torch.dtype]) -> int:
    """Where in memory it is said how tensors of these dtypes are read; 0 where they must be read through Python."""
    found = access(dtypes)
    return 0 if found is None else ctypes.addressof(found)


@cache
def access(dtypes: Sequence[torch.dtype]) -> Access | None:
    """How they are read; None where this torch and this Python keep them in another way."""
    if sys.implementation.name != "cpython":
        return None
    found = Access(kinds=(id(torch.Tensor), id(torch.nn.Parameter)))
    try:
        for name, function in _functions():
            setattr(found, name, ctypes.cast(function, ctypes.c_void_p).value)
    except (OSError, AttributeError):
        return None
    samples = [torch.ones(2, 3).to(dtype) for dtype in dtypes]
    places = {_place(one) for one in samples}
    if len(places) > 1 or None in places:
        return None
    found.place = places.pop()
    found.codes = type(found.codes)(*(_number(found, "aoti_torch_get_dtype", one) for one in samples))
    return found if len({*found.codes}) == len(dtypes) and all(_is_as_said(found, one) for one in _others()) else None


def _functions() -> Iterator[tuple[str, Any]]:
    folder = os.path.join(os.path.dirname(torch.__file__), "lib")
    kind = "dylib" if sys.platform == "darwin" else "so"
    of_tensors, of_types = (ctypes.CDLL(os.path.join(folder, f"lib{name}.{kind}")) for name in ("torch_cpu", "c10"))
    yield from ((name, getattr(of_tensors, name)) for name in _OF_TENSORS)
    yield "asks", getattr(of_types, _ASKS)
    yield "negative", getattr(of_tensors, _NEGATIVE)


def _place(tensor: torch.Tensor) -> int | None:
    """Where in a tensor's object the address of torch's own object is."""
    width = ctypes.sizeof(ctypes.c_void_p)
    words = (ctypes.c_size_t * (torch.Tensor.__basicsize__ // width)).from_address(id(tensor))
    known = [place for place, word in enumerate(words) if word == tensor._cdata]
    return width * known[0] if len(known) == 1 else None


def _others() -> list[torch.Tensor]:
    table = torch.arange(12.0).reshape(3, 4)
    negative = torch.ones(2, dtype=torch.complex64).conj().imag
    return [table, table[1:, ::2], table[2, 1], table.clone().requires_grad_(), negative, torch.nn.Parameter(table)]


def _is_as_said(found: Access, tensor: torch.Tensor) -> bool:
    address, rank = id(tensor) + found.place, tensor.dim()
    numbers = {
        "aoti_torch_get_data_ptr": tensor.data_ptr(), "aoti_torch_get_dim": rank,
        "aoti_torch_get_device_type": 0, "aoti_torch_get_layout": 0,
    }  # fmt: skip
    if any(_number(found, name, tensor) != number for name, number in numbers.items()):
        return False
    for name, known in (("aoti_torch_get_sizes", tensor.shape), ("aoti_torch_get_strides", tensor.stride())):
        listed = (ctypes.c_int64 * rank).from_address(_number(found, name, tensor)) if rank else ()
        if tuple(listed) != tuple(known):
            return False
    return (_truth(found.asks, tensor._cdata), _truth(found.negative, address)) == (
        tensor.requires_grad,
        tensor.is_neg(),
    )


def _number(found: Access, name: str, tensor: torch.Tensor) -> int:
    """What a function of torch's says of a tensor; -1 where it fails."""
    number = ctypes.c_int64(0)
    function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)(getattr(found, name))
    return -1 if function(id(tensor) + found.place, ctypes.byref(number)) else number.value


def _truth(function: int, address: int) -> bool:
    return bool(ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)(function)(address))
