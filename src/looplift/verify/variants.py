"""One tuple of arguments in, many forms of it out: other values, extents, strides, dtypes, modes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from looplift.verify.observe import Backward, copied, float_leaves, parts_of


@dataclass(frozen=True)
class Variant:
    """Arguments, the mode to call in, and whether it is the gradients that are compared."""

    name: str
    arguments: tuple[Any, ...]
    mode: Callable[[], AbstractContextManager] = contextlib.nullcontext
    backward: Backward | None = None


def variants_of(arguments: tuple[Any, ...]) -> Iterator[Variant]:
    """The arguments as given, then perturbed, the most telling forms first."""
    yield Variant("as given", arguments)
    yield Variant("as given, called again", arguments)
    yield from _gradients(arguments, "")
    yield from _resized(arguments)
    yield from _other_values(arguments)
    yield from _other_memory(arguments)
    yield from _other_dtypes(arguments)
    yield from _other_modes(arguments)


def changed(value: Any, change: Callable[[Any], Any], shared: dict[int, Any] | None = None) -> Any:
    """The same structure with ``change`` applied to its leaves; a leaf in two places stays one object."""
    shared = {} if shared is None else shared
    if id(value) in shared:
        return shared[id(value)]
    match value:
        case list():
            made = [changed(part, change, shared) for part in value]
        case tuple():
            parts = [changed(part, change, shared) for part in value]
            made = type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        case dict() if type(value) is dict:
            made = {key: changed(part, change, shared) for key, part in value.items()}
        case _:
            made = change(value)
    if not isinstance(value, (bool, int, float, str)):
        shared[id(value)] = made
    return made


def _gradients(arguments: tuple[Any, ...], suffix: str) -> Iterator[Variant]:
    yield Variant(f"gradients{suffix}", arguments, backward="leaves")
    if float_leaves(arguments):
        yield Variant(f"gradients through arguments that were computed{suffix}", arguments, backward="history")


def _resized(arguments: tuple[Any, ...]) -> Iterator[Variant]:
    """Each extent becomes 0, 1, 2 and one more, in all places where it occurs; then all become 0, or 1."""
    extents = sorted(_extents(arguments))
    for extent in extents:
        for size in (0, 1, 2, extent + 1):
            if size != extent:
                made = resized(arguments, {extent: size})
                yield Variant(f"extent {extent} changed to {size}", made)
                if size in (1, 2):
                    yield Variant(f"gradients, extent {extent} changed to {size}", made, backward="leaves")
    for size in (0, 1):
        if len(extents) > 1:
            yield Variant(f"all extents {size}", resized(arguments, dict.fromkeys(extents, size)))


def _extents(arguments: tuple[Any, ...]) -> set[int]:
    extents: set[int] = set()
    for part in parts_of(arguments):
        if isinstance(part, (torch.Tensor, np.ndarray)):
            extents.update(part.shape)
    for value in arguments:
        if isinstance(value, list) and not any(part is value for part in value):
            extents.add(len(value))
    return extents


def resized(arguments: tuple[Any, ...], sizes: dict[int, int]) -> tuple[Any, ...]:
    """Extents, lengths of lists and Python integers that are keys of ``sizes`` become its values.

    Elements repeat where there are more than before. Integers that may be positions stay inside the new extent.
    """
    extents = _extents(arguments)

    def change(value: Any) -> Any:
        match value:
            case torch.Tensor() if value.layout == torch.strided and not isinstance(value, torch.nn.Parameter):
                return _resized_tensor(value, sizes, extents)
            case np.ndarray():
                if value.dtype.kind not in "biufc":
                    return value
                return _resized_tensor(torch.from_numpy(value.copy()), sizes, extents).numpy()
            case int() if not isinstance(value, bool):
                return _position(value, sizes, extents)
        return value

    def lists(value: Any) -> Any:
        if isinstance(value, list) and len(value) in sizes:
            value = (
                [copied(value[k % len(value)]) if value else 0 for k in range(sizes[len(value)])] if value else value
            )
        return [lists(part) for part in value] if type(value) is list else value

    def whole(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    # an integer argument may be an extent, those in lists and tensors may be positions
    return tuple(sizes.get(value, value) if whole(value) else changed(lists(value), change) for value in arguments)


def _resized_tensor(value: torch.Tensor, sizes: dict[int, int], extents: set[int]) -> torch.Tensor:
    made = value.detach()
    if not made.is_floating_point() and not made.is_complex() and made.dtype != torch.bool and made.numel():
        made = _positions(made, sizes, extents)
    for dimension, extent in enumerate(value.shape):
        size = sizes.get(extent, extent)
        if size == extent:
            continue
        if not extent:
            shape = [*made.shape[:dimension], size, *made.shape[dimension + 1 :]]
            made = made.new_zeros(shape)
        else:
            made = made.index_select(dimension, torch.arange(size, device=made.device) % extent)
    return made.clone().requires_grad_(value.requires_grad)


def _positions(value: torch.Tensor, sizes: dict[int, int], extents: set[int]) -> torch.Tensor:
    """Integers that fit into the smallest extent above them are taken for positions in it."""
    home, size = _home(int(value.max()), sizes, extents)
    return value % size if 0 < size < home else value


def _position(value: int, sizes: dict[int, int], extents: set[int]) -> int:
    home, size = _home(value, sizes, extents)
    return value % size if 0 < size < home else value


def _home(largest: int, sizes: dict[int, int], extents: set[int]) -> tuple[int, int]:
    """The smallest extent above a number, before and after the change."""
    home = min((extent for extent in extents if extent > largest), default=0)
    return home, sizes.get(home, home)


def _other_values(arguments: tuple[Any, ...]) -> Iterator[Variant]:
    generator = torch.Generator().manual_seed(1)

    def of_floats(make: Callable[[torch.Tensor], torch.Tensor]) -> tuple[Any, ...]:
        return tuple(changed(value, lambda leaf: _with_floats(leaf, make)) for value in arguments)

    def drawn(value: torch.Tensor) -> torch.Tensor:
        return torch.randn(value.shape, generator=generator, dtype=torch.float64)

    def special(value: torch.Tensor) -> torch.Tensor:
        choices = torch.tensor([torch.nan, torch.inf, -torch.inf, 0.0, -0.0, 1.0, -1.0], dtype=torch.float64)
        return choices[torch.randint(len(choices), value.shape, generator=generator)]

    def with_one(number: float) -> Callable[[torch.Tensor], torch.Tensor]:
        def make(value: torch.Tensor) -> torch.Tensor:
            made = value.detach().double().clone(memory_format=torch.contiguous_format)
            if made.numel():
                made.view(-1)[made.numel() // 2] = number
            return made

        return make

    redrawn = of_floats(drawn)
    yield Variant("other values", redrawn)
    yield from _gradients(redrawn, ", other values")
    yield Variant("values with ties", of_floats(lambda value: drawn(value).round()))
    yield Variant("gradients, values with ties", of_floats(lambda value: drawn(value).round()), backward="leaves")
    yield Variant("zeros", of_floats(lambda value: torch.zeros(value.shape)))
    yield Variant("gradients, zeros", of_floats(lambda value: torch.zeros(value.shape)), backward="leaves")
    yield Variant("negated", of_floats(lambda value: -value.detach().double()))
    yield Variant("large values", of_floats(lambda value: value.detach().double() * 1e4))
    yield Variant("one zero", of_floats(with_one(0.0)))
    yield Variant("one NaN", of_floats(with_one(torch.nan)))
    yield Variant("NaN, infinities and zeros", of_floats(special))
    yield Variant("integers and booleans in another order", tuple(changed(v, _shuffled) for v in arguments))
    yield Variant("negative integers", tuple(changed(v, _negative) for v in arguments))


def _with_floats(leaf: Any, make: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(leaf, float):
        return float(make(torch.tensor([leaf], dtype=torch.float64))[0])
    if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f":
        return make(torch.from_numpy(leaf.astype(np.float64))).numpy().astype(leaf.dtype)
    if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() and leaf.layout == torch.strided:
        return make(leaf.detach()).to(leaf).requires_grad_(leaf.requires_grad)
    return leaf


def _shuffled(leaf: Any) -> Any:
    if not isinstance(leaf, torch.Tensor) or leaf.is_floating_point() or leaf.is_complex() or not leaf.numel():
        return leaf
    order = torch.randperm(leaf.numel(), generator=torch.Generator().manual_seed(2))
    return leaf.reshape(-1)[order.to(leaf.device)].reshape(leaf.shape)


def _negative(leaf: Any) -> Any:
    """Positions counted from the end, where the integers are positions."""
    whole = isinstance(leaf, torch.Tensor) and not leaf.is_floating_point() and not leaf.is_complex()
    return -1 - leaf if whole and leaf.dtype not in (torch.bool, torch.uint8) else leaf


def _other_memory(arguments: tuple[Any, ...]) -> Iterator[Variant]:
    def of_tensors(make: Callable[[torch.Tensor], torch.Tensor]) -> tuple[Any, ...]:
        def change(leaf: Any) -> Any:
            plain = type(leaf) is torch.Tensor and leaf.layout == torch.strided
            return make(leaf.detach()).requires_grad_(leaf.requires_grad) if plain else leaf

        return tuple(changed(value, change) for value in arguments)

    yield Variant("every second element of a larger tensor", of_tensors(_strided))
    yield Variant("with transposed memory", of_tensors(_transposed))
    yield Variant("rows that share memory", of_tensors(_expanded))
    for name, made in _aliased(arguments):
        yield Variant(name, made)


def _strided(value: torch.Tensor) -> torch.Tensor:
    if not value.ndim:
        return value
    base = value.new_zeros([2 * extent + 1 for extent in value.shape])
    view = base[tuple(slice(1, None, 2) for _ in value.shape)]
    return view.copy_(value)


def _transposed(value: torch.Tensor) -> torch.Tensor:
    order = tuple(reversed(range(value.ndim)))
    return value.permute(order).contiguous().permute(order)


def _expanded(value: torch.Tensor) -> torch.Tensor:
    return value[:1].clone().expand(value.shape) if value.ndim and value.shape[0] > 1 else value


def _aliased(arguments: tuple[Any, ...]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Two arguments that could be the same tensor are, or overlap by all but one row."""
    tensors = [(place, value) for place, value in enumerate(arguments) if type(value) is torch.Tensor]
    for first, one in tensors:
        for second, other in tensors:
            if first < second and one.shape == other.shape and one.dtype == other.dtype and one.numel():
                made = list(arguments)
                made[second] = made[first]
                yield f"arguments {first} and {second} the same tensor", tuple(made)
                if one.ndim:
                    base = torch.cat([one.detach(), other.detach()[-1:]])
                    made[first], made[second] = base[:-1], base[1:]
                    yield f"arguments {first} and {second} overlapping", tuple(made)


def _other_dtypes(arguments: tuple[Any, ...]) -> Iterator[Variant]:
    def cast(leaf: Any, dtype: torch.dtype) -> Any:
        plain = type(leaf) is torch.Tensor and leaf.is_floating_point()
        return leaf.detach().to(dtype).requires_grad_(leaf.requires_grad) if plain else leaf

    floats = {part.dtype for part in parts_of(arguments) if type(part) is torch.Tensor and part.is_floating_point()}
    for dtype in (torch.float64, torch.float32, torch.float16):
        if floats - {dtype}:
            made = tuple(changed(value, lambda leaf, dtype=dtype: cast(leaf, dtype)) for value in arguments)
            yield Variant(f"as {str(dtype).removeprefix('torch.')}", made)


def _other_modes(arguments: tuple[Any, ...]) -> Iterator[Variant]:
    yield Variant("under no_grad", arguments, torch.no_grad)
    yield Variant("under inference_mode", arguments, torch.inference_mode)
    yield Variant("with float64 as default dtype", arguments, _default_float64)
    other = 1 if torch.get_num_threads() > 1 else 2
    yield Variant(f"with {other} thread{'s' * (other > 1)}", arguments, lambda: _threads(other))


@contextlib.contextmanager
def _default_float64() -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@contextlib.contextmanager
def _threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
