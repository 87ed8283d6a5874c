"""A call of a typed program in, its loop for other tensors in the place of those that asked for gradients out.

Gradients of a program's gradients are those of its loop. What the call was given is copied for it beforehand, as both
the caller and the loop may change lists; of tensors it is known by their versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from looplift.base.data import dataclass, field
from looplift.build.second import again

NO_SECOND = (
    "the gradient of a program cannot be differentiated again, as its loop cannot be run for it: "
    "lift the function with backend='torch'"
)
CHANGED = (
    "the gradient of a program cannot be differentiated again, as a tensor that the loop read was changed after it: "
    "let the loop work on a copy, or lift the function with backend='torch'"
)
_PLAIN = (int, float, bool, str, type(None))
_KINDS = frozenset(_PLAIN)


class _Uncopied(Exception):
    """A value that is no tensor, number or text, nor a list, tuple or dict of such."""


@dataclass(eq=False)
class Call:
    """One call of a loop. ``places``: where among all tensors that are in its result, and in what it was given, those
    with gradients are. ``versions``: of the tensors that it was given, when it had run."""

    loop: Callable[..., Any]
    values: list[Any]
    places: list[int] = field(default_factory=list)
    versions: list[tuple[torch.Tensor, int]] = field(default_factory=list)

    def ends(self, result: Any, values: Sequence[Any], made: Sequence[Any], given: Sequence[Any]) -> Call | None:
        """The call as it ended; None where not all tensors that it made are where they can be found again."""
        places = {id(tensor): place for place, tensor in enumerate(_tensors([result, *values], set()))}
        if not all(id(tensor) in places for tensor in made):
            return None
        self.places = [places[id(tensor)] for tensor in made]
        self.versions = [(tensor, tensor._version) for tensor in given]
        return self

    def results(self, leaves: Sequence[Any], others: Sequence[Any], places: Sequence[int]) -> list[Any]:
        """What the loop makes of ``others`` in the place of the leaves; ``places``: one of each leaf."""
        known: dict[int, Any] = {id(leaves[place]): others[place] for place in places}
        values = [_copied(value, known) for value in self.values]
        result = self.loop(*values)
        tensors = list(_tensors([result, *values], set()))
        return [tensors[place] for place in self.places]

    @property
    def is_as_it_was(self) -> bool:
        return all(tensor._version == version for tensor, version in self.versions)


def begun(loop: Callable[..., Any] | None, values: Sequence[Any]) -> Call | None:
    """A call of a loop that begins now, if gradients may be asked for and it can be run again."""
    if loop is None or not torch.is_grad_enabled():
        return None
    known: dict[int, Any] = {}
    try:
        return Call(loop, [_copied(value, known) for value in values])
    except _Uncopied:
        return None


def second(
    call: Call | None, leaves: Sequence[Any], given: Sequence[Any], found: tuple, gradients: Sequence[Any]
) -> tuple:
    """Gradients that were found for ``leaves``, so that they can be differentiated again. ``given``: the same tensors
    as the call was given them."""
    if call is None:
        return again(found, None, leaves, gradients, NO_SECOND)
    refusal = "" if call.is_as_it_was else CHANGED
    found, places = _one_each(given, found)
    return again(found, lambda inputs: call.results(given, inputs, places), leaves, gradients, refusal)


def of_the_loop(
    call: Call | None, given: Sequence[Any], found: Sequence[Any], gradients: Sequence[Any], only: bool = False
) -> list[Any]:
    """The loop's own gradients for the tensors that it was given, in the place of those ``found``, if its call is
    known: what is infinite, or no number, depends on which products autograd forms, those with zero among them.
    ``only``: nothing was found."""
    if only and (call is None or not call.is_as_it_was):
        raise RuntimeError(NO_SECOND if call is None else CHANGED)
    if call is None or not call.is_as_it_was:
        return list(found)
    _, places = _one_each(given, tuple(found))
    with torch.enable_grad():
        inputs = [one.detach().requires_grad_() for one in given]
        ends = zip(call.results(given, inputs, places), gradients, strict=True)
        pairs = [(end, slope) for end, slope in ends if slope is not None and end.requires_grad]
        if not pairs:
            return [None for _ in found] if only else list(found)
        ends, slopes = zip(*pairs)
        own = torch.autograd.grad(ends, [inputs[place] for place in places], slopes, allow_unused=True)
    there = dict(zip(places, own, strict=True))
    return [there.get(place) for place in range(len(given))]


def _one_each(given: Sequence[Any], found: tuple) -> tuple[tuple, list[int]]:
    """One gradient for each tensor, which may be given several times, and the place that has it: to the loop, that runs
    again, all of them are one tensor."""
    places: dict[int, int] = {}
    for place, one in enumerate(given):
        first = places.setdefault(id(one), place)
        if found[first] is None and found[place] is not None:
            places[id(one)] = place
    merged: list[Any] = [None] * len(found)
    for one, slope in zip(given, found, strict=True):
        place = places[id(one)]
        if slope is not None:
            merged[place] = slope if merged[place] is None else merged[place] + slope
    return tuple(merged), list(places.values())


def _copied(value: Any, known: dict[int, Any]) -> Any:
    """A value with containers of its own, in which ``known`` objects have others in their place."""
    if id(value) in known:
        return known[id(value)]
    if isinstance(value, (torch.Tensor, *_PLAIN)):
        return value
    kind = type(value)
    if kind is list:
        known[id(value)] = copied = []
        copied += _copies(value, known)
    elif kind is dict:
        known[id(value)] = copied = {}
        copied |= zip(value, _copies(list(value.values()), known), strict=True)
    elif kind is tuple:
        known[id(value)] = copied = value if _is_plain(value) else tuple(_copies(value, known))
    else:
        raise _Uncopied
    return copied


def _copies(values: Sequence[Any], known: dict[int, Any]) -> Sequence[Any]:
    return values if _is_plain(values) else [_copied(value, known) for value in values]


def _is_plain(values: Sequence[Any]) -> bool:
    """Whether there are numbers and text only."""
    return _KINDS.issuperset(map(type, values))


def _tensors(values: Sequence[Any], seen: set[int]) -> Iterator[Any]:
    """The tensors in values, in an order that is the same for values alike."""
    if _is_plain(values):
        return
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple, dict)) and id(value) not in seen:
            seen.add(id(value))
            yield from _tensors(list(value.values()) if isinstance(value, dict) else value, seen)
