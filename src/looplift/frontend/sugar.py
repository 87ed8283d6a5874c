"""Calls that run through something with a function of the author's, and iterators over neighbours, as plain loops.

max(xs, key=f)      for x in xs: s = f(x); if top is None or s > top: top, best = s, x
next(g, e)          best = e; for x in xs: if c: best = x; break
sorted(range(n),    keys = [f(i) for i in range(n)]; the places of the keys in their order
       key=f)
reduce(f, xs)       for x in xs: best = x if best is None else f(best, x)
pairwise(xs)        for k in range(len(xs) - 1): a, b = xs[k], xs[k + 1]
accumulate(xs, f)   for x in xs: acc = x if acc is None else f(acc, x)
"""

from __future__ import annotations

import ast
import itertools
from typing import Any

import numpy as np

from looplift.base.data import dataclass
from looplift.frontend import comprehensions, evident, expressions, statements, writing
from looplift.frontend.exits import FIRST, without_exits
from looplift.frontend.scope import Builder, Structure, Value
from looplift.ir.grammar import SORTED, Const, Var


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _parsed(text: str, **parts: ast.expr) -> list[ast.stmt]:
    """Statements in which some names stand for expressions."""

    class Filled(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return parts.get(node.id, node)

    return [Filled().visit(node) for node in ast.parse(text).body]


@dataclass(eq=False)
class _Something(Structure):
    """Called with what a function gave, in loops in which None stands for nothing so far; gives it back. ``name``: of
    what is not None where the function is called."""

    name: str

    def call(self, build: Builder, args: list[Value], kwargs: dict[str, Value]) -> Value:
        (value,) = args
        if evident.may_be_none(build, value, build.env.get(self.name)):
            raise build.refuse("mixed-kinds", "a function that may give None, where items are compared or joined by it")
        return value


def _run(build: Builder, node: ast.AST, made: list[ast.stmt], generators: list[ast.comprehension], name: str) -> Value:
    """Translate statements in the place of an expression; the value that they give a name.

    The last one is the loop, whose names are its own; those before it read names from outside.
    """
    for statement in made:
        ast.fix_missing_locations(ast.copy_location(statement, node))
    markers, build.markers = build.markers, True
    try:
        statements.translate_block(build, made[:-1])
        comprehensions.translate_scoped(build, generators, without_exits(made[-1:], "_unused", build.counter))
    finally:
        build.markers = markers
    return build.env.pop(name)


def best_by_key(build: Builder, node: ast.Call, name: str) -> Value | None:
    """``max(xs, key=f)`` and ``min(xs, key=f)``: the first of the items with the greatest or the least value."""
    if len(node.args) != 1 or [keyword.arg for keyword in node.keywords] != ["key"]:
        return None
    n = next(build.counter)
    key, best, top, item, score = (f"_{word}_{n}" for word in ("key", "best", "top", "item", "score"))
    iterable = comprehensions.made_first(build, node.args[0], [node.keywords[0].value])
    build.env[key] = expressions.evaluate(build, node.keywords[0].value)
    build.env[something := f"_something_{n}"] = _Something(best)
    sign = ">" if name == "max" else "<"
    made = _parsed(
        f"{best} = None\n{top} = None\n"
        f"for {item} in iterable:\n    {score} = {something}({key}({item}))\n"
        f"    if {top} is None or {score} {sign} {top}:\n        {top} = {score}\n        {best} = {item}\n",
        iterable=iterable,
    )
    try:
        return _run(build, node, made, _generators(item, iterable), best)
    finally:
        for left in (key, top, score, something):
            build.env.pop(left, None)


def sorted_by_key(build: Builder, node: ast.Call) -> Value | None:
    """``sorted(range(n), key=f)``, also in ``reverse``: the places of the keys in their order."""
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    reverse = given.pop("reverse", ast.Constant(False))
    match node.args, given, reverse:
        case ([ast.Call(func=ast.Name(id="range"), args=[_], keywords=[]) as places], {"key": by}, ast.Constant()):
            if len(given) > 1 or type(reverse.value) is not bool or not build.is_builtin("range"):
                return None
        case _:
            return None
    n = next(build.counter)
    key, item = f"_key_{n}", f"_item_{n}"
    build.env[key] = expressions.evaluate(build, by)
    each = ast.Call(_name(key), [_name(item)], [])
    listed = ast.ListComp(each, _generators(item, places))
    try:
        keys = comprehensions.comprehension(build, ast.fix_missing_locations(ast.copy_location(listed, node)))
    finally:
        build.env.pop(key)
    return build.emit(SORTED, build.atom(keys), Const(reverse.value), hint="order")


def first_of(build: Builder, node: ast.Call) -> Value | None:
    """``next((e for x in xs if c), default)``: the first item, or the default."""
    if len(node.args) != 2 or node.keywords or not isinstance(node.args[0], ast.GeneratorExp):
        return None
    generator, default = node.args
    assert isinstance(generator, ast.GeneratorExp)
    comprehensions.made_first(build, generator, [default])
    if len(generator.generators) != 1:
        return None
    found = f"_found_{next(build.counter)}"
    loop = comprehensions.loops_of(generator.generators, [_assign(found, generator.elt), ast.Break()])
    return _run(build, node, [_assign(found, default), loop], generator.generators, found)


def reduced(build: Builder, node: ast.Call) -> Value | None:
    """``functools.reduce(f, xs)`` and ``reduce(f, xs, start)``."""
    if len(node.args) not in (2, 3) or node.keywords or any(isinstance(arg, ast.Starred) for arg in node.args):
        return None
    n = next(build.counter)
    function, total, item = (f"_{word}_{n}" for word in ("function", "total", "item"))
    build.env[function] = expressions.evaluate(build, node.args[0])
    start = node.args[2] if len(node.args) == 3 else ast.Constant(None)
    iterable = comprehensions.made_first(build, node.args[1], [start])
    step = f"{function}({total}, {item})"
    if len(node.args) == 2:
        build.env[something := f"_something_{n}"] = _Something(total)
        step = f"{something}({item} if {total} is None else {step})"
    text = f"{total} = start\nfor {item} in iterable:\n    {total} = {step}\n"
    made = _parsed(text, start=start, iterable=iterable)
    try:
        return _run(build, node, made, _generators(item, iterable), total)
    finally:
        build.env.pop(function)


def _generators(item: str, iterable: ast.expr) -> list[ast.comprehension]:
    return [ast.comprehension(ast.Name(item, ast.Store()), iterable, [], 0)]


# ---------------------------------------------------------------- iterators


ITERATORS = (itertools.pairwise, itertools.accumulate)


def plain_loop(build: Builder, node: ast.For, iterator: Any) -> ast.For | None:
    """A loop over ``pairwise(xs)`` or ``accumulate(xs)`` as one over the items themselves; None where it is none."""
    assert isinstance(node.iter, ast.Call)
    if iterator is itertools.pairwise and len(node.iter.args) == 1:
        return _over_neighbours(build, node, node.iter.args[0])
    if iterator is itertools.accumulate and len(node.iter.args) in (1, 2):
        return _accumulated(build, node, node.iter.args)
    return None


def numbered_loop(build: Builder, node: ast.For, iterator: Any) -> ast.For | None:
    """A loop over ``enumerate(accumulate(xs))``."""
    assert isinstance(node.iter, ast.Call) and isinstance(node.iter.args[0], ast.Call)
    inner = node.iter.args[0]
    if iterator is not itertools.accumulate or inner.keywords or len(inner.args) not in (1, 2):
        return None
    return _accumulated(build, node, inner.args, numbered=True)


def is_ordered(build: Builder, value: Value) -> bool:
    """Whether a value is surely subscripted as it is iterated."""
    import torch

    if not isinstance(value, Var):
        return False
    path = build.param_path(value)
    return path is not None and isinstance(build.param_values[path], list | tuple | torch.Tensor | np.ndarray)


def bound(build: Builder, node: ast.expr) -> str | None:
    """A name for a sequence that is evaluated once; None where it is not surely one."""
    value = expressions.evaluate(build, node)
    if not is_ordered(build, value):
        return None
    name = f"_items_{next(build.counter)}"
    build.env[name] = value
    return name


def _over_neighbours(build: Builder, node: ast.For, items: ast.expr) -> ast.For | None:
    if not isinstance(items, ast.Name | ast.Attribute) or not build.is_builtin("range") or not build.is_builtin("len"):
        return None
    name = bound(build, items)
    if name is None:
        return None
    if writing.may_write(build, node.body) and not evident.is_seen_through(build, build.env[name]):
        return None
    index = f"_k_{next(build.counter)}"
    text = f"for {index} in range(len({name}) - 1):\n    target = {name}[{index}], {name}[{index} + 1]\n"
    return _with_body(node, text)


def _accumulated(build: Builder, node: ast.For, args: list[ast.expr], *, numbered: bool = False) -> ast.For | None:
    n = next(build.counter)
    function, total, item, k = (f"_{word}_{n}" for word in ("function", "total", "item", "k"))
    step = f"{total} + {item}"
    if len(args) == 2:
        build.env[function] = expressions.evaluate(build, args[1])
        step = f"{function}({total}, {item})"
    build.env[something := f"_something_{n}"] = _Something(total)
    build.env[total] = Const(None)
    head = f"for {k}, {item} in enumerate(iterable)" if numbered else f"for {item} in iterable"
    target = f"{k}, {total}" if numbered else total
    text = f"{head}:\n    {total} = {something}({item} if {total} is None else {step})\n    target = {target}\n"
    made = _with_body(node, text, iterable=args[0])
    setattr(made, FIRST, True)
    return made


def _with_body(node: ast.For, text: str, **parts: ast.expr) -> ast.For:
    """A loop whose body binds the author's target and then is the author's."""
    (loop,) = _parsed(text, **parts)
    assert isinstance(loop, ast.For)
    bind = loop.body[-1]
    assert isinstance(bind, ast.Assign)
    loop.body = [*loop.body[:-1], ast.Assign([node.target], bind.value), *node.body]
    ast.copy_location(loop, node)
    return ast.fix_missing_locations(loop)
