"""``for`` statements in; the same out, in which numbers that the header takes from a tensor have a statement in front.

for i in scores.argsort(descending=True).tolist():      order = scores.argsort(descending=True).tolist()
    ...                                            ->   for i in order:
                                                            ...

So the loop is lifted over numbers as given ones, where the operation has no form of its own.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from looplift.base.syntax import nodes_of

_AROUND = ("enumerate", "reversed", "list", "tuple")
"""Of what is called with one argument it is the first that is evaluated."""


def with_numbers_in_front(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The tree with such statements in front of its loops; the same where there is no such loop."""
    loops = {node for node in nodes_of(tree) if isinstance(node, ast.For) and _numbers(node.iter) is not None}
    if not loops:
        return tree
    fresh = _fresh_names(tree)
    seen = _seen_elsewhere(tree)
    for node in (one for one in nodes_of(tree) if not isinstance(one, ast.ClassDef)):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and not loops.isdisjoint(block):
                block[:] = _with_fronts(block, loops, fresh, seen)
    return ast.fix_missing_locations(tree)


def _with_fronts(
    block: list[ast.stmt], loops: set[ast.For], fresh: Iterator[str], seen: set[str] | None
) -> list[ast.stmt]:
    out: list[ast.stmt] = []
    for statement in block:
        if isinstance(statement, ast.For) and statement in loops:
            front = _taken_out(statement, next(fresh))
            place = len(out)
            while seen is not None and place and _may_wait(out[place - 1], front, seen):
                place -= 1
            out.insert(place, front)
        out.append(statement)
    return out


def _fresh_names(tree: ast.FunctionDef) -> Iterator[str]:
    names = (node.id if isinstance(node, ast.Name) else getattr(node, "arg", None) for node in nodes_of(tree))
    used = {*names}
    return (name for n in itertools.count() if (name := f"_numbers_{n}") not in used)


def _seen_elsewhere(tree: ast.FunctionDef) -> set[str] | None:
    """Names that others see, also where an exception leaves the function; None where the function catches some."""
    found: set[str] = set()
    for node in (one for one in nodes_of(tree) if one is not tree):
        if isinstance(node, ast.Try | ast.With):
            return None
        if isinstance(node, ast.Global | ast.Nonlocal):
            found |= {*node.names}
        elif isinstance(node, ast.FunctionDef | ast.Lambda | ast.GeneratorExp):
            found |= {one.id for one in nodes_of(node) if isinstance(one, ast.Name)}
    return found


def _may_wait(node: ast.stmt, front: ast.Assign, seen: set[str]) -> bool:
    """Whether nobody notices that a statement runs behind another one: it binds a name to what it writes out, as the
    list that the loop fills."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() | ast.List(elts=[]) | ast.Dict(keys=[])):
            return name not in seen and not any(isinstance(one, ast.Name) and one.id == name for one in nodes_of(front))
    return False


def _taken_out(loop: ast.For, name: str) -> ast.Assign:
    """The statement that gives numbers a name, which the loop reads from now on."""
    numbers = _numbers(loop.iter)
    assert numbers is not None
    taken = ast.copy_location(ast.Name(name, ast.Load()), numbers)
    if loop.iter is numbers:
        loop.iter = taken
    else:
        assert isinstance(loop.iter, ast.Call)
        loop.iter.args[0] = taken
    return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], numbers), numbers)


def _numbers(node: ast.expr) -> ast.expr | None:
    """What a header takes from a tensor by an operation with options."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=[inner]) if name in _AROUND:
            return _numbers(inner)
        case ast.Call(func=ast.Attribute(value=owner, attr="tolist"), args=[], keywords=[]):
            every = [one for one in nodes_of(owner) if isinstance(one, ast.Call)]
            return node if any(one.keywords for one in every) else None
    return None
