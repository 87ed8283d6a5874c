"""Values in; whether they are still what statements over lists of numbers were made for, out."""

from __future__ import annotations

import builtins
import collections
import math
import operator
import types
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np
import torch

from looplift.base.classes import declares

ARRAYS = (torch.Tensor, torch.nn.Parameter, np.ndarray)
ATOMS = frozenset((int, float, complex, bool, str, bytes, type(None), range, slice, torch.dtype, torch.device))
CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque, collections.defaultdict, collections.Counter,
              collections.OrderedDict)  # fmt: skip
FACTORIES = (int, float, bool, complex, str, bytes, object, *CONTAINERS, type(None))


_OF_READING = "__getitem__ __iter__ __len__ __bool__ __contains__ __reversed__".split()
_OF_COPYING = "keys values items get copy clear extend update".split()


def runs_code(value: Any) -> bool:
    """Whether to look at what is in a container, or how much, may run methods that a class of a user's declares."""
    kind = type(value)
    if kind in CONTAINERS or kind in ATOMS or not issubclass(kind, (*CONTAINERS, str, bytes, bytearray)):
        return False
    names = _OF_READING if issubclass(kind, tuple) else (*_OF_READING, *_OF_COPYING)  # fields may go by other names
    return any(declares(kind, name) for name in names)


def holds_only(kinds: tuple[type, ...], *values: Any) -> bool:
    """Whether values, and all that is in containers among them, are numbers, text, or of these types exactly.

    No container holds dicts that make items when they are read.
    """
    seen: set[int] = set()
    given, known = set(map(id, values)), ATOMS.union(kinds)
    containers: list[Any] = [values]
    while inner := set(map(type, _items_of(containers))) - known:
        if not inner.issubset(CONTAINERS):
            return False
        new = {id(value): value for value in _items_of(containers) if type(value) in inner}
        for one in seen & new.keys():
            del new[one]
        seen |= new.keys()
        making = [value for value in new.values() if makes_items(value)] if collections.defaultdict in inner else []
        if any(id(value) not in given or value.default_factory not in FACTORIES for value in making):
            return False
        containers = [*new.values()]
    return True


def _items_of(containers: list[Any]) -> Iterable[Any]:
    """All that is in some containers, keys and values of dicts."""
    dicts = [one for one in containers if isinstance(one, dict)]
    return chain(chain.from_iterable(containers), chain.from_iterable(map(dict.values, dicts)))


def holds_sets(value: Any) -> bool:
    """Whether there are sets in a container, at any depth."""
    pending, seen = [value], set()
    while pending:
        one = pending.pop()
        if type(one) is set:
            return True
        if type(one) in CONTAINERS and id(one) not in seen:
            seen.add(id(one))
            pending += one.values() if isinstance(one, dict) else one
    return False


def makes_items(value: Any) -> bool:
    """Whether reading from a container may change it."""
    return type(value) is collections.defaultdict and value.default_factory is not None


def same_callees(callees: Mapping[types.FunctionType, tuple[Any, ...]]) -> bool:
    """Whether functions still are what was looked at: their code, their defaults, what their names stand for."""
    for function, (code, defaults, names) in callees.items():
        if function.__code__ is not code or function.__defaults__ is not defaults:
            return False
        if any(global_of(function, name) is not value for name, value in names.items()):
            return False
    return True


def same_tables(tables: tuple[tuple[dict[Any, Any], tuple[Any, ...]], ...]) -> bool:
    """Whether dicts of functions still have what they had when they were looked at."""
    return all(
        len(table) == len(items) and all(table.get(key) is function for key, function in items)
        for table, items in tables
    )


def same_methods(methods: Mapping[tuple[type, str], Any]) -> bool:
    """Whether classes still have the methods that were looked at."""
    return all(getattr(made, name, None) is function for (made, name), function in methods.items())


class Outside:
    """What classes, and modules of functions, hold under some names now, by the places of these."""

    def __init__(self, places: list[tuple[Any, str]]):
        self.places = places

    def __getitem__(self, place: int) -> Any:
        owner, name = self.places[place]
        return vars(owner)[name] if isinstance(owner, type) else owner[name]


ABOUT_A_CLASS = frozenset(
    """__module__ __dict__ __weakref__ __doc__ __qualname__ __firstlineno__ __static_attributes__ __annotations__
    __annotations_cache__ __annotate_func__ __slotnames__""".split()
)


def class_attributes(made: type) -> dict[str, Any]:
    """What a class has of its own, beside what each class has."""
    return {name: value for name, value in vars(made).items() if name not in ABOUT_A_CLASS}


def same_classes(classes: list[tuple[type, dict[str, Any]]]) -> bool:
    """Whether classes still have the methods that were looked at, and nothing else."""
    return all(_are_the_same(class_attributes(made), known) for made, known in classes)


def _are_the_same(found: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    if found.keys() != known.keys():
        return False
    are_identical = all(map(operator.is_, found.values(), known.values()))
    return are_identical or all(same(found[name], known[name]) for name in known)


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal and of one type, zeros of one sign."""
    return a is b or (type(a) is type(b) and a == b and (isinstance(a, set) or repr(a) == repr(b)))


def global_of(function: types.FunctionType, name: str) -> Any:
    return function.__globals__.get(name, getattr(builtins, name, None))


def names_in(code: types.CodeType) -> set[str]:
    """The names of globals and attributes that a code, or one inside it, mentions."""
    inner = (one for one in code.co_consts if isinstance(one, types.CodeType))
    return {*code.co_names}.union(*map(names_in, inner))


def without_nan(*arrays: Any) -> bool:
    """Whether all is a number: of NaN Python's containers know one object from another."""
    return not any((torch if isinstance(one, torch.Tensor) else np).isnan(one).any() for one in arrays)


def count(array: Any) -> int:
    """How many elements there are."""
    return math.prod(array.shape)


LOOKS_THROUGH = (holds_only, without_nan)
"""What looks at all that is in values: it takes about as long as a loop over them."""
