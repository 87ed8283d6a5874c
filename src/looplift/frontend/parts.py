"""``xs[1:]``, ``xs[:-1]`` and ``xs[:k]`` of lists that the region makes, and sums of lists: what runs through them, and
copies."""

from __future__ import annotations

import ast

from looplift.base.syntax import nodes_of
from looplift.frontend import comprehensions, evident, expressions
from looplift.frontend.scope import Builder, Value
from looplift.ir.grammar import Atom, Const, Range, Require, Var


def is_part(build: Builder, value: Value, index: ast.expr) -> bool:
    """Whether a subscript takes neighbouring items of a list that is made inside a loop of the region."""
    return len(build.blocks) > 1 and _is_part(build, value, index)


def _is_part(build: Builder, value: Value, index: ast.expr) -> bool:
    if not isinstance(index, ast.Slice) or not isinstance(value, Var) or value not in build.sites:
        return False
    return index.step is None or (isinstance(index.step, ast.Constant) and index.step.value == 1)


def is_list(build: Builder, node: ast.expr) -> bool:
    """Whether an expression is a list that the region makes, a part of one, or a sum of such lists and of displays of
    what has no effects."""
    match node:
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            sides = (left, right)
            return any(is_list(build, side) for side in sides) and all(
                is_list(build, side) or _is_display(build, side) for side in sides
            )
        case ast.Subscript(value=ast.Name() as owner, slice=ast.Slice() as index):
            return _is_part(build, _held(build, owner), index)
        case ast.Name():
            return _is_part(build, _held(build, node), ast.Slice())
    return False


def _held(build: Builder, node: ast.Name) -> Value:
    held = build.held(node.id).get(node.id, Const(None))
    return Const(None) if held in build.displays else held


def _is_display(build: Builder, node: ast.expr) -> bool:
    return isinstance(node, ast.List) and bool(node.elts) and all(_is_number(build, one) for one in node.elts)


def _is_number(build: Builder, node: ast.expr) -> bool:
    """Whether an expression has no effects, and one value that is no tuple and no list."""
    match node:
        case ast.Constant(value=value):
            return type(value) in (int, float, bool)
        case ast.Name(id=name):
            held = build.held(name).get(name, Const(None))
            return expressions.is_number(held) or (isinstance(held, Var) and held not in build.sites)
        case ast.Subscript(value=ast.Name() as owner, slice=index):
            return is_list(build, owner) and not isinstance(index, ast.Slice) and _is_plain_place(index)
    return False


def _is_plain_place(node: ast.expr) -> bool:
    return all(isinstance(one, ast.Name | ast.Constant | ast.UnaryOp | ast.USub | ast.Load) for one in nodes_of(node))


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


def joined(build: Builder, node: ast.BinOp) -> Value:
    """A new list of the items of several."""
    item = f"_item_{next(build.counter)}"
    generator = ast.comprehension(ast.Name(item, ast.Store()), node, [], 0)
    made = ast.copy_location(ast.ListComp(ast.Name(item, ast.Load()), [generator]), node)
    return comprehensions.comprehension(build, ast.fix_missing_locations(made))
