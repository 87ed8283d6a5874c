"""A call's name and operands in, whether it writes into one of them out: `out`, `inplace`, methods in place."""

from __future__ import annotations

import inspect
import itertools
from functools import cache
from typing import Any

import numpy as np

from looplift.ops.names import callable_of

IN_PLACE_METHODS = frozenset("sort partition fill put resize itemset setfield setflags byteswap".split())
"""Of NumPy arrays; torch marks such methods by an underscore."""

IN_PLACE_FUNCTIONS = frozenset("copyto put putmask place fill_diagonal put_along_axis".split())
"""Of NumPy; those of torch have an underscore."""


def writes_operand(name: str, args: list[Any], kwargs: dict[str, Any]) -> bool:
    """Whether the call changes an operand, by its name or because a parameter asks for it, given in any position."""
    prefix, _, base = name.rpartition(".")
    if prefix == "method" and base in IN_PLACE_METHODS and args and isinstance(args[0], np.ndarray):
        return True
    if prefix == "np" and base in IN_PLACE_FUNCTIONS:
        return True
    given = by_parameter(name, args) | kwargs
    inplace = given.get("inplace")
    return given.get("out") is not None or (inplace is not None and inplace is not False) or _as_told(base, given)


def _as_told(base: str, given: dict[str, Any]) -> bool:
    """Functions that write unless, or only if, a parameter of another name says so."""
    match base:
        case "nan_to_num":
            return "x" in given and given.get("copy", True) is not True
        case "batch_norm" | "instance_norm":
            uses_own = given.get("training", given.get("use_input_stats", base == "instance_norm"))
            return uses_own is not False and given.get("running_mean") is not None
        case "embedding" | "embedding_bag":
            return given.get("max_norm") is not None
    return False


def by_parameter(name: str, args: list[Any]) -> dict[str, Any]:
    """The positional arguments by the names of their parameters, as far as those are known."""
    if not name.startswith("method."):
        return dict(zip(_parameters(name), args, strict=False))
    if not args or not isinstance(args[0], np.ndarray | np.generic):
        return {}
    place = _OUT_OF_METHODS.get(name[7:], len(args))
    written = {"out": args[place]} if place < len(args) else {}
    return dict(zip(_parameters(name), args, strict=False)) | written


_OUT_OF_METHODS = {
    "all": 2, "any": 2, "argmax": 2, "argmin": 2, "choose": 2, "clip": 3, "compress": 3, "conj": 1, "conjugate": 1,
    "cumprod": 3, "cumsum": 3, "dot": 2, "max": 2, "mean": 3, "min": 2, "prod": 3, "round": 2, "std": 3, "sum": 3,
    "take": 3, "trace": 5, "var": 3,
}  # fmt: skip
"""Where arrays' methods take what they write to, counted with the array; not all tell their parameters."""


@cache
def _parameters(name: str) -> tuple[str, ...]:
    if not name.startswith(("torch.", "np.", "method.")):
        return ()
    try:
        function = getattr(np.ndarray, name[7:]) if name.startswith("method.") else callable_of(name)
        if isinstance(function, np.ufunc):
            return (*(f"x{k}" for k in range(function.nin)), "out")
        parameters = inspect.signature(function).parameters.values()
    except (AttributeError, TypeError, ValueError):
        return ()
    single = itertools.takewhile(lambda one: one.kind in _SINGLE, parameters)
    return tuple(one.name for one in single)


_SINGLE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
