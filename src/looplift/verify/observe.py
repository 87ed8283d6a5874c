"""One call in, everything that its caller can see out: result, exception, text, arguments, memory, random state."""

from __future__ import annotations

import contextlib
import copy
import io
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from looplift.base.compare import difference
from looplift.verify.captured import Snapshot, captured_by

SEED = 7
MOST_PARTS = 100
MOST_WORK = 10_000


@dataclass
class Observation:
    """What one call did. ``arguments`` and ``captured`` are as the call left them."""

    result: Any
    error: Exception | None
    text: str
    arguments: tuple[Any, ...]
    captured: list[Any]
    random_states: list[Any]
    shared: list[list[int]]


Backward = Literal["leaves", "history"]


def observe(function: Callable, arguments: tuple[Any, ...], *, backward: Backward | None = None) -> Observation:
    """Call with copies of the arguments. With ``backward`` the result is what the caller gets as gradients."""
    arguments = copied(arguments)
    captured = captured_by(function)
    snapshot = Snapshot(captured)
    text = io.StringIO()
    result = error = None
    with _random_states_restored(), contextlib.redirect_stdout(text):
        _seed()
        try:
            result = _run(function, arguments, backward)
        except Exception as raised:  # the exception is part of the behaviour
            error = raised
        states = _random_states()
    shared = [] if backward else shared_memory(result, arguments)
    try:
        left = copied(captured)
    except Exception:  # something that cannot be copied is not compared
        left = []
    snapshot.restore()
    return Observation(result, error, text.getvalue(), arguments, left, states, shared)


def _run(function: Callable, arguments: tuple[Any, ...], backward: Backward | None) -> Any:
    if backward is None:
        return function(*arguments)
    return gradients(function, arguments, leaves=backward == "leaves")


def first_difference(got: Observation, want: Observation, *, magnitude: float) -> str | None:
    """None if a caller cannot tell the two calls apart, else the first thing that differs, in one line."""
    if type(got.error) is not type(want.error) or str(got.error) != str(want.error):
        return f"raised {_shown(got.error)} instead of {_shown(want.error)}"
    if got.text != want.text:
        return f"printed {got.text!r:.80} instead of {want.text!r:.80}"
    why = difference(got.result, want.result, magnitude=magnitude)
    why = why or _difference_of_all(got.arguments, want.arguments, "argument", magnitude)
    why = why or _difference_of_all(got.captured, want.captured, "captured value", magnitude)
    if why is None and got.shared != want.shared:
        return "the result shares memory with other arguments, or among its parts, than it should"
    if why is None and difference(got.random_states, want.random_states) is not None:
        return "a random generator was left in another state"
    return why


def copied(values: Any) -> Any:
    """A deep copy in which what shared memory still does; tensors with a history become leaves."""
    memo: dict[int, Any] = {}
    for value in parts_of(values):
        if isinstance(value, torch.Generator):
            memo[id(value)] = value.clone_state()
        elif isinstance(value, torch.Tensor) and not value.is_leaf:
            memo[id(value)] = value.detach().clone().requires_grad_(value.requires_grad)
    return copy.deepcopy(values, memo)


def parts_of(value: Any, seen: dict[int, Any] | None = None) -> Iterator[Any]:
    """The leaves of a value, each object once: what containers, modules and plain objects hold."""
    seen = {} if seen is None else seen
    if id(value) in seen:
        return
    seen[id(value)] = value
    match value:
        case torch.nn.Module():
            children = [*value.parameters(), *value.buffers()]
        case dict():
            children = list(value.values())
        case list() | tuple() | set() | frozenset():
            children = list(value)
        case torch.Tensor() | np.ndarray() | np.generic():
            children = []
        case _:
            children = list(vars(value).values()) if hasattr(value, "__dict__") and not callable(value) else []
            if not children:
                yield value
    if isinstance(value, (torch.Tensor, np.ndarray, np.generic)):
        yield value
    for child in children:
        yield from parts_of(child, seen)


def float_leaves(values: Any) -> list[torch.Tensor]:
    """The tensors with respect to which a caller can ask for gradients, buffers of modules excepted."""
    modules = [part for part in _modules_in(values)]
    buffers = {id(buffer) for module in modules for buffer in module.buffers()}
    tensors = [part for part in parts_of(values) if isinstance(part, torch.Tensor) and id(part) not in buffers]
    return [part for part in tensors if part.is_leaf and (part.is_floating_point() or part.is_complex())]


def gradients(function: Callable, arguments: tuple[Any, ...], *, leaves: bool) -> list[torch.Tensor | None] | None:
    """Gradients of a fixed random projection of all results; None if the result has none.

    The arguments that get one are leaves themselves, or made from leaves (then a loop may store into them).
    """
    wanted = float_leaves((arguments, captured_by(function)))
    asked = [leaf.requires_grad for leaf in wanted]
    for leaf in wanted:
        leaf.requires_grad_(True)
    if not leaves:
        made = {id(leaf): leaf.clone() for leaf in wanted if not isinstance(leaf, torch.nn.Parameter)}
        arguments = copy.deepcopy(arguments, dict(made))
    try:
        outputs = [part for part in parts_of(function(*arguments)) if isinstance(part, torch.Tensor)]
        outputs = [part for part in outputs if part.requires_grad and part.grad_fn is not None]
        if not outputs:
            return None
        return list(torch.autograd.grad(_projection(outputs), wanted, allow_unused=True))
    finally:
        for leaf, before in zip(wanted, asked, strict=True):
            if leaf.is_leaf:
                leaf.requires_grad_(before)


def _projection(outputs: list[torch.Tensor]) -> torch.Tensor:
    generator = torch.Generator().manual_seed(SEED)
    weights = [torch.randn(part.shape, generator=generator, dtype=torch.float64) for part in outputs]
    terms = [(part * weight.to(part)).sum() for part, weight in zip(outputs, weights, strict=True)]
    return sum((term.real if term.is_complex() else term).double() for term in terms)  # pyright: ignore


def shared_memory(result: Any, arguments: tuple[Any, ...]) -> list[list[int]]:
    """For each array of the result, the places (arguments first) of those with which it has an element in common."""
    ours = [span for part in parts_of(result) if (span := _memory(part))][:MOST_PARTS]
    everything = [span for part in parts_of(arguments) if (span := _memory(part))][:MOST_PARTS] + ours
    return [[place for place, other in enumerate(everything) if _overlap(span, other)] for span in ours]


def _memory(part: Any) -> tuple[int, int, np.ndarray | None] | None:
    """The first and one past the last byte of a tensor or array, and its elements where the CPU can see them."""
    if isinstance(part, torch.Tensor):
        if part.layout != torch.strided or not part.numel() or part.is_meta:
            return None
        reach = sum((extent - 1) * stride for extent, stride in zip(part.shape, part.stride(), strict=True))
        end = part.data_ptr() + (reach + 1) * part.element_size()
        return part.data_ptr(), end, _elements_of(part.detach())
    if isinstance(part, np.ndarray) and part.size:
        return *np.lib.array_utils.byte_bounds(part), part
    return None


def _elements_of(tensor: torch.Tensor) -> np.ndarray | None:
    if tensor.device.type != "cpu" or tensor.is_quantized:
        return None
    tensor = tensor.resolve_conj() if tensor.is_complex() else tensor
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    sizes = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.view(sizes[tensor.element_size()]).numpy()


def _overlap(one: tuple[int, int, np.ndarray | None], other: tuple[int, int, np.ndarray | None]) -> bool:
    if one[0] >= other[1] or other[0] >= one[1]:
        return False
    if one[2] is None or other[2] is None:
        return True
    try:
        return np.shares_memory(one[2], other[2], max_work=MOST_WORK)  # pyright: ignore
    except np.exceptions.TooHardError:
        return True


def _modules_in(values: Any) -> Iterator[torch.nn.Module]:
    match values:
        case torch.nn.Module():
            yield values
        case list() | tuple():
            for value in values:
                yield from _modules_in(value)
        case dict():
            yield from _modules_in(list(values.values()))


def _difference_of_all(got: Any, want: Any, what: str, magnitude: float) -> str | None:
    for place, (ours, theirs) in enumerate(zip(got, want, strict=False)):
        if why := difference(ours, theirs, magnitude=magnitude, path=f"{what} {place} after the call"):
            return why
    return None


def _shown(error: Exception | None) -> str:
    return f"{type(error).__name__}({str(error)!r:.100})" if error is not None else "nothing"


def _seed() -> None:
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    random.seed(SEED)


def _random_states() -> list[Any]:
    return [torch.get_rng_state(), np.random.get_state(), random.getstate()]


@contextlib.contextmanager
def _random_states_restored() -> Iterator[None]:
    ours, numpys, pythons = torch.get_rng_state(), np.random.get_state(), random.getstate()
    try:
        yield
    finally:
        torch.set_rng_state(ours)
        np.random.set_state(numpys)
        random.setstate(pythons)
