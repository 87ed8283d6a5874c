"""A signature and arguments in, the call that they make out: its lanes, the sizes by name, the shapes of results."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import torch

from looplift.base.data import dataclass
from looplift.runtime.signatures import NUMBERS, Array, Number, Signature, size_of


@dataclass(frozen=True)
class Call:
    """A call that fits the signature: its lanes, the sizes by name, the shapes of what one lane gives."""

    lanes: tuple[Any, ...]
    sizes: dict[str, Any]
    shapes: tuple[tuple[Any, ...], ...]
    device: torch.device


def fitted(text: str, signature: Signature, given: Sequence[Any], where: Any, devices: Container[str]) -> Call:
    """What a call is; raises TypeError or ValueError where the arguments do not fit the signature, or are on no one of
    the ``devices`` that there is code for."""
    sizes: dict[str, Any] = {}
    homes: dict[str, str] = {}
    in_front: list[Any] = []
    for parameter, value in zip(signature.parameters, given, strict=True):
        if not isinstance(value, torch.Tensor):
            sizes[parameter.name] = value
            continue
        _check_tensor(text, parameter, value)
        rank = rank_of(parameter)
        in_front.append(value.shape[: value.dim() - rank])
        for dim, size in zip(parameter.dims if isinstance(parameter, Array) else (), value.shape[-rank or None :]):
            if dim.isdigit() and size != int(dim):
                raise ValueError(f"{text}: '{parameter.name}' has the shape {shape_text(value)}; {dim} is wanted")
            if not dim.isdigit() and sizes.setdefault(dim, size) != size:
                raise ValueError(f"{text}: '{dim}' is {sizes[dim]} in '{homes[dim]}' and {size} in '{parameter.name}'")
            homes.setdefault(dim, parameter.name)
    if where is not None:
        if where.dtype != torch.bool:
            raise TypeError(f"{text}: 'where' must be of torch.bool, not {where.dtype}")
        in_front.append(where.shape)
    lanes = in_front[0] if in_front else ()
    if any(one != lanes for one in in_front):
        try:
            lanes = torch.broadcast_shapes(*in_front)
        except RuntimeError:
            shown = ", ".join(str(tuple(one)) for one in in_front)
            raise ValueError(f"{text}: the dimensions in front do not broadcast: {shown}") from None
    shapes = tuple(tuple(size_of(dim, sizes) for dim in one.dims) for one in signature.results)
    for one, shape in zip(signature.results, shapes, strict=True):
        if any(size < 0 for size in shape):
            raise ValueError(f"{text}: the size of '{one.name}' is {shape}")
    return Call(tuple(lanes), sizes, shapes, _device(text, signature, given, devices))


def _check_tensor(text: str, parameter: Array | Number, value: torch.Tensor) -> None:
    if isinstance(parameter, Array):
        if value.dtype != getattr(torch, parameter.dtype):
            wrong = f"{text}: '{parameter.name}' must be of torch.{parameter.dtype}, not {value.dtype}"
            raise TypeError(wrong)
        if value.dim() < len(parameter.dims):
            wrong = f"'{parameter.name}' has the shape {shape_text(value)}, which is less than {parameter.text}"
            raise ValueError(f"{text}: {wrong}")
    else:
        dtype = getattr(torch, NUMBERS[parameter.kind])
        if value.dtype != dtype and torch.promote_types(value.dtype, dtype) != dtype:
            raise TypeError(f"{text}: '{parameter.name}' is of type {parameter.kind}, not {value.dtype}")


def _device(text: str, signature: Signature, given: Sequence[Any], devices: Container[str]) -> torch.device:
    """Where the arrays are; numbers may be elsewhere."""
    tensors = [(one, v) for one, v in zip(signature.parameters, given, strict=True) if isinstance(v, torch.Tensor)]
    arrays = [(one.name, v.device) for one, v in tensors if isinstance(one, Array)]
    homes = arrays or [(one.name, v.device) for one, v in tensors if v.device.type != "cpu"]
    home, found = homes[0] if homes else ("", torch.device("cpu"))
    for name, device in homes:
        if device != found:
            raise TypeError(f"{text}: '{home}' is on {found}, and '{name}' on {device}")
    if found.type != "meta" and found.type not in devices:
        hint = "; looplift.op(..., cuda=...) takes code for that" if found.type == "cuda" else ""
        raise TypeError(f"{text}: '{home}' must be on the CPU, not on {found}{hint}")
    return found


def rank_of(parameter: Array | Number) -> int:
    return len(parameter.dims) if isinstance(parameter, Array) else 0


def in_dtype(parameter: Array | Number, value: Any) -> torch.Tensor:
    if isinstance(parameter, Array):
        return value
    dtype = getattr(torch, NUMBERS[parameter.kind])
    return value.to(dtype) if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=dtype, device="cpu")


def in_lanes(value: torch.Tensor, rank: int, lanes: Sequence[int]) -> torch.Tensor:
    """The argument in all lanes; the elements of each are next to one another."""
    if not lanes and value.is_contiguous() and not value.is_neg():
        return value
    inner, expected = value.shape[value.dim() - rank :], 1
    for size, step in zip(reversed(inner), reversed(value.stride()[value.dim() - rank :])):
        if size != 1 and step != expected:
            value = value.contiguous()
            break
        expected *= size
    if value.is_neg() or value.is_conj():
        value = value.resolve_neg().resolve_conj()
    return value.expand((*lanes, *inner))


def spread(flat: torch.Tensor, chosen: Any, lanes: Sequence[int]) -> torch.Tensor:
    """What was computed for the chosen lanes, with zeros for the others, in the dimensions of all lanes."""
    if chosen is not None:
        whole = torch.zeros(len(chosen), *flat.shape[1:], dtype=flat.dtype, device=flat.device)
        whole = whole.index_put((chosen,), flat)
        flat = whole
    return flat.reshape((*lanes, *flat.shape[1:]))


def gathered(gradient: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """The sum over the lanes that shared an argument."""
    return gradient.sum_to_size(tuple(shape))


def shape_text(value: torch.Tensor) -> str:
    return str(tuple(value.shape))
