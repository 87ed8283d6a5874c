"""What a tracer shows of an argument in, its kind out; a kind in, a value of it out, with random numbers or none.

Also where values are made and code is compiled while something traces: in a thread of its own.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch._C import _functorch  # pyright: ignore[reportAttributeAccessIssue]

_CONSTANTS = (bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device)


class NotTraced(Exception):
    """Why batched code cannot be part of a graph."""


def kind_of(value: Any) -> Any:
    """All of a value that batched code may be made for; raises NotTraced where that cannot be told."""
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided or not _is_plain(value):
            raise NotTraced(f"a {type(value).__name__} of layout {value.layout}")
        extents, steps = tuple(map(_hint, value.shape)), tuple(map(_hint, value.stride()))
        return ("tensor", value.dtype, extents, steps, value.device, _gets_gradients(value))
    if isinstance(value, torch.SymInt):
        return ("size", _hint(value))
    if type(value) in _CONSTANTS:
        return ("constant", type(value), value)
    if type(value) in (list, tuple):
        return (type(value), tuple(map(kind_of, value)))
    if isinstance(value, torch.nn.Module):
        held = {**dict(value.named_parameters()), **dict(value.named_buffers())}
        if all(_has_numbers(one) for one in held.values()):
            return ("module", value)
        return ("module", tuple((name, kind_of(one)) for name, one in held.items()), value)
    raise NotTraced(f"an argument of type {type(value).__name__}")


def kind_outside(value: Any) -> Any:
    """As ``kind_of`` for what a region reads of the names around it."""
    return ("object", value) if callable(value) or isinstance(value, types.ModuleType) else kind_of(value)


def _is_plain(value: torch.Tensor) -> bool:
    """Whether a tensor is of no subclass but those of tracers."""
    from torch._subclasses import FakeTensor
    from torch._subclasses.functional_tensor import FunctionalTensor

    return type(value) in (torch.Tensor, torch.nn.Parameter, FakeTensor, FunctionalTensor)


def _has_numbers(value: torch.Tensor) -> bool:
    return type(value) in (torch.Tensor, torch.nn.Parameter) and not _functorch.is_functorch_wrapped_tensor(value)


def _gets_gradients(value: torch.Tensor) -> bool:
    """Whether a gradient may flow to a tensor, at any level of the transforms around it."""
    while not value.requires_grad and _functorch.is_functorch_wrapped_tensor(value):
        value = _functorch.get_unwrapped(value)
    return value.requires_grad


def _hint(size: Any) -> int:
    """A size, or that for which a graph with sizes of any value is traced."""
    if isinstance(size, int):
        return size
    hint = size.node.hint
    if hint is None:
        raise NotTraced("a size that the data decides")
    return int(hint)


def stand_in(kind: Any) -> Any:
    """A value of a kind: random floats, zeros else. Lists, and what is in them, are made anew."""
    return _value(kind, _tensor)


def faked(kind: Any) -> Any:
    """A value of a kind, for where tensors have no numbers."""
    return _value(kind, _empty)


def _value(kind: Any, tensor: Callable[..., torch.Tensor]) -> Any:
    first, *rest = kind
    if first == "tensor":
        return tensor(*rest)
    if first in (list, tuple):
        return first(_value(one, tensor) for one in rest[0])
    if first == "module" and len(rest) == 2:
        return _with_tensors(rest[1], "", {name: _value(one, tensor) for name, one in rest[0]})
    return rest[-1]


def _with_tensors(module: torch.nn.Module, prefix: str, tensors: Mapping[str, torch.Tensor]) -> torch.nn.Module:
    """A copy of a module that holds other parameters and buffers, by their names."""
    copy = object.__new__(type(module))
    copy.__dict__ = {name: value for name, value in vars(module).items() if name != "forward"}
    for table in ("_parameters", "_buffers"):
        held = vars(module)[table]
        copy.__dict__[table] = {name: one if one is None else tensors[prefix + name] for name, one in held.items()}
    inner = {name: one and _with_tensors(one, f"{prefix}{name}.", tensors) for name, one in module._modules.items()}
    copy.__dict__["_modules"] = inner
    return copy


def _empty(dtype: Any, extents: Any, steps: Any, device: Any, requires_grad: bool) -> torch.Tensor:
    return torch.empty_strided(extents, steps, dtype=dtype, device=device).requires_grad_(requires_grad)


def _tensor(dtype: Any, extents: Any, steps: Any, device: Any, requires_grad: bool) -> torch.Tensor:
    made = _empty(dtype, extents, steps, device, False)
    if dtype.is_floating_point or dtype.is_complex:
        generator = torch.Generator(device).manual_seed(made.numel())
        made.copy_(torch.randn(extents, dtype=torch.float32, device=device, generator=generator))
    else:
        made.zero_()
    return made.requires_grad_(requires_grad)


def _tensors(values: Any) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def share_memory(values: Sequence[Any]) -> bool:
    """Whether two tensors share memory, or may."""
    try:
        places = [one.untyped_storage()._cdata for one in _tensors(values)]
    except (NotImplementedError, RuntimeError):  # those of transforms have no storage
        return True
    return len(set(places)) < len(places)


def in_a_thread(make: Callable[[], Any], *, gradients: bool) -> Any:
    """What a function returns where none of torch's modes are on, which belong to a thread."""
    found: list[Any] = []

    def work() -> None:
        try:
            with torch.set_grad_enabled(gradients):
                found.append(make())
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=work, name="looplift")
    thread.start()
    thread.join()
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]
