"""What may fail in a ``try``, with names for its operands, in; whether it does, as a value, out."""

from __future__ import annotations

import builtins
import collections
import math

from looplift.base.syntax import Fails
from looplift.frontend import dictionaries, expressions
from looplift.frontend.scope import Builder, Structure, Tup, Value
from looplift.ir.grammar import Atom, Const

LOGARITHMS = (math.log, math.log2, math.log10)


def fails(build: Builder, node: Fails) -> Value:
    """Whether the operation raises."""
    for name in node.exceptions:
        if not build.is_builtin(name):
            raise build.refuse("exception-handling", f"'{name}' is no exception of Python's here")
    caught = tuple(getattr(builtins, name) for name in node.exceptions)
    operands = [expressions.evaluate(build, operand) for operand in node.operands]
    match node.operation:
        case "division":
            dividend, divisor = map(build.atom, operands)
            return build.emit("eq", build.emit("as_divisor", dividend, divisor), Const(0))
        case "function":
            assert node.function is not None
            return _outside(build, expressions.evaluate(build, node.function), build.atom(operands[0]))
    return _misses(build, operands[0], operands[1], caught)


def _outside(build: Builder, function: Value, argument: Atom) -> Value:
    """Whether a number is outside of what a function of ``math`` takes."""
    known = function.value if isinstance(function, Const) else None
    if known in LOGARITHMS:
        return build.emit("le", build.emit("builtin.float", argument), Const(0))
    if known is math.sqrt:
        return build.emit("lt", build.emit("builtin.float", argument), Const(0))
    return Const(False)


def _misses(build: Builder, owner: Value, key: Value, caught: tuple[type[BaseException], ...]) -> Value:
    """Whether a dict lacks a key, or a sequence or array a place."""
    if (table := dictionaries.table_of(build, owner)) is not None:
        if not issubclass(KeyError, caught) or _makes_what_it_lacks(build, owner):
            return Const(False)
        found = table.contains(build, key)
        return Const(not found.value) if isinstance(found, Const) else build.emit("not", found)
    if not issubclass(IndexError, caught) or issubclass(ValueError, caught) or isinstance(owner, Structure):
        return Const(False)
    places = key.items if isinstance(key, Tup) else (key,)
    array = build.atom(owner)

    def beyond(dim: int) -> Value:
        place = build.emit("as_key", build.atom(places[dim]))
        extent = build.emit("iter_len", array) if dim == 0 else _extent(build, array, dim)
        low = build.emit("lt", place, build.emit("neg", extent))
        high = lambda: build.emit("ge", place, extent)  # noqa: E731
        here = build.atom(expressions.conditional(build, low, lambda: Const(True), high))
        if dim + 1 == len(places):
            return here
        return expressions.conditional(build, here, lambda: Const(True), lambda: beyond(dim + 1))

    return beyond(0)


def _makes_what_it_lacks(build: Builder, owner: Value) -> bool:
    """Whether a dict may have a factory: whether it has is not guarded."""
    path = build.param_path(owner)
    return path is not None and isinstance(build.param_values[path], collections.defaultdict)


def _extent(build: Builder, array: Atom, dim: int) -> Atom:
    return build.emit("getitem", build.emit("attribute", array, Const("shape")), Const(dim))
