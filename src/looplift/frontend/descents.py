"""Functions that call themselves, with other objects of the host each time: a walk over a tree that is known.

def value(node, x):                                 value(root, x[i]) is translated call by call, a node each,
    if node.is_leaf:                                for one tree that all iterations share
        return node.weight * x
    return value(node.left, x) + value(node.right, x)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
import torch

from looplift.frontend.scope import Builder, Tup, Value
from looplift.ir.grammar import Const, Var

MAX_DESCENTS = 128
"""A function that calls itself more often than this is left to other forms."""


NUMBERS = (int, float, complex, str, torch.Tensor, np.ndarray, np.generic)
"""What is given to a region, and is not the same in each call of it."""


class Descent(NamedTuple):
    """A call: what is known of its arguments, and the iterations of unrolled loops that it is in."""

    function: Any
    known: tuple[Hashable, ...]
    rounds: tuple[int, ...]


def known_of(build: Builder, arguments: Iterable[Value]) -> tuple[Hashable, ...]:
    """What is known of arguments before the loop runs; None in the place of what is not."""
    return tuple(_known(build, value) for value in arguments)


def _known(build: Builder, value: Value) -> Hashable:
    if isinstance(value, Tup):
        return known_of(build, value.items)
    if isinstance(value, Var):
        given = build.given(value)
        return None if given is None or isinstance(given, NUMBERS) else id(given)
    if not isinstance(value, Const):
        return None
    plain = isinstance(value.value, int | float | str | bool | None)
    return (type(value.value), value.value) if plain else id(value.value)


def goes_on(build: Builder, function: Any, known: tuple[Hashable, ...]) -> bool:
    """Whether a call of a function that is being translated may be translated, too: other things are known of its
    arguments, and it is not for one of many trees, of which others do more at once."""
    before = [one for one in build.descents if one.function is function]
    if not before or before[0].rounds or any(one.known == known for one in before) or not any(known):
        return False
    build.descended += 1
    return build.descended <= MAX_DESCENTS
