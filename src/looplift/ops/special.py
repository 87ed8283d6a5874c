"""Special methods of the user's classes: whether an operation on some values runs one, of which nobody knows what it
does besides.

Methods of Python's own types, of its standard library, of torch and of NumPy are known.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from looplift.base.classes import is_of_library
from looplift.base.errors import NotLiftable
from looplift.base.spans import Span
from looplift.ops.names import said

_PLAIN = frozenset((int, float, bool, complex, str, bytes, type(None), slice, range))
_CONTAINERS = (list, tuple, set, frozenset)


def _methods(names: str) -> frozenset[str]:
    return frozenset(f"__{name}__" for name in names.split())


_ITEMS = _methods("getitem setitem missing len length_hint contains iter next reversed")
_KEYS = _methods("index hash eq")
_COMPARED = _methods("eq ne lt le gt ge")
_TRUTH = _methods("bool len")
_TEXT = _methods("str repr format")
_NEVER = _TEXT | _methods(
    """init new post_init init_subclass class_getitem set_name call del copy deepcopy reduce reduce_ex getstate setstate
    getnewargs getnewargs_ex enter exit aenter aexit dir sizeof setattr delattr delitem instancecheck subclasscheck
    prepare get set delete replace match_args dataclass_fields dataclass_params annotations annotate annotate_func
    annotations_cache slots dict weakref module qualname doc orig_bases parameters type_params firstlineno
    static_attributes abstractmethods class"""
)
"""What a class may have that no operation on its objects runs, but one that makes a text."""

_MOVES = frozenset(
    """tuple list dict mapping copy unrecorded attribute is_ is_not tuple_or_none zipped zipped_lists zipped_dicts call
    module""".split()
)
"""What hands values on as they are, or looks at them in its own way."""
_OF_ITEMS = frozenset("getitem iter_item iter_len unpack builtin.len key_place".split())
_COMPARISONS = frozenset("eq ne lt le gt ge".split())
_KEEPING = functools._lru_cache_wrapper
_OF_TEXT = frozenset("format builtin.str builtin.print".split())


def unknown_effects(name: str, function: Any) -> str:
    """Why a call of a function is not looked into."""
    if isinstance(function, _KEEPING):
        return (
            f"'{name}' keeps its results, which other callers find again and may count; with its definition inside of "
            "the function that has the loop they are that call's alone"
        )
    return f"the effects of calling '{name}' are not known"


def check_operation(name: str, args: list[Any], kwargs: dict[str, Any] | None = None, span: Span | None = None) -> None:
    """Refuses an operation that runs a special method of a class of the user's."""
    found = _of_operation(name, [*args, *(kwargs or {}).values()])
    if found is None:
        return
    text = f"'{said(name)}' runs '{found}', of which nobody knows what else it does; call a method by name instead"
    raise NotLiftable("unknown-call", text, *([] if span is None else [span]))


def _of_operation(name: str, values: list[Any]) -> str | None:
    if name in _MOVES or not values or all(type(value) in _PLAIN for value in values):
        return None
    if name in _OF_ITEMS:
        return _in_value(values[0], _ITEMS) or _within(values[1:], _KEYS)
    if name in ("in_", "not_in"):
        return _in_value(values[-1], _ITEMS) or _within(values, _KEYS)
    if name in ("not", "builtin.bool"):
        return _in_value(values[0], _TRUTH)
    if name.startswith("method.") and (found := _in_value(values[0], frozenset((name.removeprefix("method."),)))):
        return found
    if name in _COMPARISONS:
        return _within(values, _COMPARED)
    return _within(values, _TEXT if name in _OF_TEXT else None)


def _in_value(value: Any, names: frozenset[str] | None) -> str | None:
    return None if type(value) in _PLAIN else _of_class(type(value), names)


def _within(values: Iterable[Any], names: frozenset[str] | None) -> str | None:
    """The same of several values, and of what the containers among them hold."""
    by_class = {type(value): value for value in values}
    for kind in by_class:
        if kind not in _PLAIN and (found := _of_class(kind, names)) is not None:
            return found
    for kind in by_class:
        inner = _holds(kind)
        for value in values if inner else ():
            if type(value) is kind and (found := _within(_items(value), names)) is not None:
                return found
    return None


def _holds(kind: type) -> bool:
    import numpy as np

    return issubclass(kind, (*_CONTAINERS, dict, np.ndarray))


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*dict.keys(value), *dict.values(value)]
    if isinstance(value, _CONTAINERS):
        return list(value)
    return value.ravel().tolist() if value.dtype.hasobject else []


def _of_class(kind: type, names: frozenset[str] | None) -> str | None:
    """The first of these methods that a class of the user's among the bases of a type has; any, for None."""
    for base in kind.__mro__:
        if is_of_library(base.__module__):
            continue
        for name, member in vars(base).items():
            asked = name in names if names is not None else name[:2] == name[-2:] == "__" and name not in _NEVER
            if asked and member is not None:
                return f"{base.__qualname__}.{name}"
    return None
