"""``xs[1:]``, ``xs[:-1]`` and ``xs[:k]`` of lists that the region makes: what runs through them, and copies."""

from __future__ import annotations

import ast

from looplift.frontend import comprehensions, evident, expressions
from looplift.frontend.scope import Builder, Value
from looplift.ir.grammar import Atom, Const, Range, Require, Var


def is_part(build: Builder, value: Value, index: ast.expr) -> bool:
    """Whether a subscript takes neighbouring items of a list that is made inside a loop of the region."""
    if not isinstance(index, ast.Slice) or not isinstance(value, Var) or value not in build.sites:
        return False
    by_one = index.step is None or (isinstance(index.step, ast.Constant) and index.step.value == 1)
    return by_one and len(build.blocks) > 1


def domain(build: Builder, value: Var, index: ast.Slice) -> Range:
    """The places of the items in the list."""
    count = build.emit("iter_len", value, hint="n")
    lower, upper = (None if part is None else _bound(build, part, count) for part in (index.lower, index.upper))
    return Range(lower or Const(0), upper or count, Const(1))


def _bound(build: Builder, part: ast.expr, count: Atom) -> Atom | None:
    """A bound of a slice as a place from 0 to the number of items."""
    bound = expressions.evaluate_atom(build, part)
    if isinstance(bound, Const) and (bound.value is None or type(bound.value) is int):
        if bound.value is None or bound.value >= 0:
            return None if bound.value is None else build.emit("builtin.min", count, bound, hint="n")
        return build.emit("builtin.max", Const(0), build.emit("sub", count, Const(-bound.value)), hint="n")
    if not evident.is_integer(build, bound):
        raise build.refuse("unsupported-value", "a list is sliced at what is not surely an integer of Python's")
    build.add(Require(build.emit("ge", bound, Const(0)), "a list is sliced from its end", build.span))
    return build.emit("builtin.min", count, bound, hint="n")


def copied(build: Builder, value: Var, index: ast.Slice) -> Value:
    """A new list of the items."""
    name, item = (f"_{kind}_{next(build.counter)}" for kind in ("whole", "item"))
    build.env[name] = value
    part = ast.Subscript(ast.Name(name, ast.Load()), index, ast.Load())
    generator = ast.comprehension(ast.Name(item, ast.Store()), part, [], 0)
    made = ast.fix_missing_locations(ast.copy_location(ast.ListComp(ast.Name(item, ast.Load()), [generator]), index))
    found = comprehensions.comprehension(build, made)
    build.env.pop(name)
    return found
