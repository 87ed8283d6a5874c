"""A loop over a library's iterator of several indices in, the nested loops that it stands for out.

for i, j in product(A, B)               for a in A:            for i, j in combinations(range(n), 2)
for i, j in np.ndindex(n, m)                for b in B:        for i, j, k in permutations(range(n), 3)
for (i, j), v in np.ndenumerate(x)              i, j = a, b    for i, j in product(range(n), repeat=2)
"""

from __future__ import annotations

import ast
import itertools
import types
from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from looplift.base.syntax import nodes_of
from looplift.frontend import evident, expressions, sugar, writing
from looplift.frontend.exits import breaks
from looplift.frontend.scope import Builder
from looplift.ir.grammar import Const, Require

PAIRS = (itertools.combinations, itertools.combinations_with_replacement, itertools.permutations)


def nested(build: Builder, node: ast.For) -> ast.For:
    """The same loop; as a nest of plain loops, where its iterator is one of these and nothing leaves it early."""
    if not isinstance(node.iter, ast.Call) or any(map(breaks, node.body)):
        return node
    if not build.is_builtin("range"):
        return node
    if node.iter.keywords:
        return _repeated(build, node)
    match node.iter:
        case ast.Call(func=ast.Name(id="enumerate"), args=[ast.Call(func=inner)]) if build.is_builtin("enumerate"):
            return sugar.numbered_loop(build, node, _known(build, inner)) or node
    iterator = _known(build, node.iter.func)
    if iterator is itertools.product:
        return _nest(build, node, node.iter.args, _plain)
    if iterator is np.ndindex:
        sizes = _sizes(build, node.iter.args)
        return node if sizes is None else _nest(build, node, [_range(size) for size in sizes], _plain, counts=True)
    if iterator is np.ndenumerate and len(node.iter.args) == 1:
        return _enumerated(build, node)
    if iterator in PAIRS and len(node.iter.args) == 2:
        return _chosen(build, node, PAIRS.index(iterator))
    if iterator in sugar.ITERATORS:
        return sugar.plain_loop(build, node, iterator) or node
    return node


def _known(build: Builder, function: ast.expr) -> Any:
    """Which of the iterators that are read as nests a name of a library is."""
    found = library_value(build, function)
    return found if found in (itertools.product, np.ndindex, np.ndenumerate, *PAIRS, *sugar.ITERATORS) else None


def library_value(build: Builder, function: ast.expr) -> Any:
    """What a name of a library is, before the loop runs."""
    match function:
        case ast.Name(id=name) if name not in build.env:
            found = build.outer_value(name)
        case ast.Attribute(value=ast.Name(id=module), attr=name) if module not in build.env:
            owner = build.outer_value(module)
            found = getattr(owner, name, None) if isinstance(owner, types.ModuleType) else None
        case _:
            return None
    return found


def _nest(
    build: Builder,
    node: ast.For,
    iterables: list[ast.expr],
    value: Callable[[list[ast.expr]], ast.expr],
    *,
    counts: bool = False,
) -> ast.For:
    """Loops over fresh names, and the author's target bound inside all of them. ``counts``: no range is of a negative
    number."""
    assigned = {n.id for child in (node.target, *node.body) for n in nodes_of(child)
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}  # fmt: skip
    others = [iterable for iterable in iterables if not _is_range(iterable)]
    read = {n.id for iterable in others for n in nodes_of(iterable) if isinstance(n, ast.Name)}
    if not iterables or any(isinstance(iterable, ast.Starred) for iterable in iterables) or assigned & read:
        return node
    if not all(_is_simple(build, iterable) for iterable in iterables) or (
        writing.may_write(build, node.body) and not all(_is_seen_through(build, iterable) for iterable in others)
    ):
        return node
    iterables = [_with_bounds(build, one, counts=counts) if _is_range(one) else one for one in iterables]
    names = [f"_{k}_{next(build.counter)}" for k in _hints(node.target, len(iterables))]
    reads: list[ast.expr] = [ast.Name(name, ast.Load()) for name in names]
    body: list[ast.stmt] = [ast.Assign([node.target], value(reads)), *node.body]
    for name, iterable in zip(reversed(names), reversed(iterables), strict=True):
        body = [ast.For(ast.Name(name, ast.Store()), iterable, body, [])]
    (loop,) = body
    assert isinstance(loop, ast.For)
    ast.copy_location(loop, node)
    return ast.fix_missing_locations(loop)


def _is_range(iterable: ast.expr) -> TypeGuard[ast.Call]:
    match iterable:
        case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]):
            return not any(isinstance(one, ast.Starred) for one in args)
    return False


def _with_bounds(build: Builder, made: ast.Call, *, counts: bool = False) -> ast.Call:
    """A range whose bounds were evaluated in front of the nest: the body may change what they are made of."""
    return _range(*(_bound(build, bound, is_count=counts) for bound in made.args))


def _bound(build: Builder, node: ast.expr, *, is_count: bool = False) -> ast.expr:
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value >= 0:
        return node
    value = build.atom(expressions.evaluate(build, node))
    if is_count:
        build.add(Require(build.emit("ge", value, Const(0)), "a size is negative", build.span))
    name = f"_bound_{next(build.counter)}"
    build.env[name] = value
    return ast.Name(name, ast.Load())


def _is_simple(build: Builder, iterable: ast.expr) -> bool:
    """Whether an expression may be evaluated again and again."""
    calls = [part for part in nodes_of(iterable) if isinstance(part, ast.Call)]
    plain = ("range", "len", "enumerate", "reversed", "zip")
    named = [call.func.id for call in calls if isinstance(call.func, ast.Name)]
    return len(named) == len(calls) and all(name in plain and build.is_builtin(name) for name in named)


def _is_seen_through(build: Builder, iterable: ast.expr) -> bool:
    """Whether items that were taken before a loop are those that are read in it, also after a store: those of tuples,
    and of arrays of which they are views."""
    return isinstance(iterable, ast.Name) and evident.is_seen_through(build, build.lookup(iterable.id))


def _hints(target: ast.expr, count: int) -> list[str]:
    items = target.elts if isinstance(target, ast.Tuple) else []
    names = [item.id if isinstance(item, ast.Name) else "k" for item in items]
    return names if len(names) == count else ["k"] * count


def _plain(reads: list[ast.expr]) -> ast.expr:
    return ast.Tuple(reads, ast.Load())


def _range(*bounds: ast.expr) -> ast.Call:
    return ast.Call(ast.Name("range", ast.Load()), list(bounds), [])


def _sizes(build: Builder, arguments: list[ast.expr]) -> list[ast.expr] | None:
    """The sizes of ``ndindex(n, m)``, ``ndindex((n, m))``, ``ndindex(x.shape)`` and ``ndindex(*x.shape)``."""
    match arguments:
        case [ast.Tuple(elts=sizes)]:
            return sizes
        case [ast.Starred(value=ast.Attribute(value=array, attr="shape"))] | [ast.Attribute(value=array, attr="shape")]:
            return _shape(build, array)
        case [_, *_] if not any(isinstance(a, ast.Starred) for a in arguments):
            return arguments if len(arguments) > 1 or _is_number(build, arguments[0]) else None
    return None


def _is_number(build: Builder, node: ast.expr) -> bool:
    return isinstance(node, ast.Call | ast.Constant) or type(_value(build, node)) is int


def _shape(build: Builder, array: ast.expr) -> list[ast.expr] | None:
    """The extents of an array whose rank is known before the loop."""
    value = _value(build, array)
    if not hasattr(type(value), "ndim") or not hasattr(type(value), "shape"):
        return None
    shape = ast.Attribute(array, "shape", ast.Load())
    return [ast.Subscript(shape, ast.Constant(dim), ast.Load()) for dim in range(value.ndim)]


def sizes_of(build: Builder, node: ast.expr) -> list[ast.expr] | None:
    """The extents that ``*x.shape`` and ``*x.shape[1:]`` stand for; None for other expressions."""
    match node:
        case ast.Attribute(value=array, attr="shape"):
            return _shape(build, array)
        case ast.Subscript(value=ast.Attribute(value=array, attr="shape"), slice=ast.Slice(lower, upper, None)):
            sizes = _shape(build, array)
            if sizes is not None and all(map(_is_literal, (lower, upper))):
                return sizes[slice(*(None if part is None else ast.literal_eval(part) for part in (lower, upper)))]
    return None


def _is_literal(node: ast.expr | None) -> bool:
    match node:
        case None:
            return True
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)) | ast.Constant(value=value):
            return type(value) is int
    return False


def _value(build: Builder, node: ast.expr) -> Any:
    """What a name holds before the loop, if the region does not bind it itself."""
    if not isinstance(node, ast.Name):
        return None
    found = build.env.get(node.id)
    if found is None:
        return build.outer_value(node.id) if build.frame.is_root else None
    if isinstance(found, Const):
        return found.value
    return next((build.param_values[path] for path, var in build.params.items() if var is found), None)


def _enumerated(build: Builder, node: ast.For) -> ast.For:
    assert isinstance(node.iter, ast.Call)
    (array,) = node.iter.args
    sizes = _shape(build, array) if type(_value(build, array)) is np.ndarray else None  # items of others are no others
    if not sizes:
        return node
    items = _bound(build, array)

    def value(reads: list[ast.expr]) -> ast.expr:
        index = ast.Tuple(reads, ast.Load())
        return ast.Tuple([index, ast.Subscript(items, index, ast.Load())], ast.Load())

    return _nest(build, node, [_range(size) for size in sizes], value)


def _repeated(build: Builder, node: ast.For) -> ast.For:
    """``product(xs, repeat=3)`` is ``product(xs, xs, xs)``."""
    assert isinstance(node.iter, ast.Call)
    match node.iter.keywords:
        case [ast.keyword(arg="repeat", value=ast.Constant(value=count))] if type(count) is int and 0 < count <= MOST:
            if _known(build, node.iter.func) is itertools.product:
                return _nest(build, node, node.iter.args * count, _plain)
    return node


MOST = 5
"""Indices that an iterator gives at once, each of a loop of its own."""


def _chosen(build: Builder, node: ast.For, which: int) -> ast.For:
    """Two or more of a range: those in order, with equal ones or without, or all of different ones."""
    assert isinstance(node.iter, ast.Call)
    source, size = node.iter.args
    count = size.value if isinstance(size, ast.Constant) and type(size.value) is int else 0
    if not 2 <= count <= MOST or not _is_simple(build, source):
        return node
    if writing.may_write(build, node.body) and not (_is_range(source) or _is_seen_through(build, source)):
        return node
    match source:
        case ast.Call(args=[end]) if _is_range(source):
            items = None
        case ast.Name() | ast.Attribute() if build.is_builtin("len") and (items := sugar.bound(build, source)):
            end = ast.Call(ast.Name("len", ast.Load()), [ast.Name(items, ast.Load())], [])
        case _:
            return node
    end = _bound(build, end)
    places = [ast.Name(f"_{hint}_{next(build.counter)}", ast.Load()) for hint in _hints(node.target, count)]
    chosen: list[ast.expr] = [*places]
    if items is not None:
        chosen = [ast.Subscript(ast.Name(items, ast.Load()), place, ast.Load()) for place in places]
    body: list[ast.stmt] = [ast.Assign([node.target], ast.Tuple(chosen, ast.Load())), *node.body]
    for position in reversed(range(count)):
        before = places[:position]
        if which == 2 and before:
            tests: list[ast.expr] = [ast.Compare(places[position], [ast.NotEq()], [other]) for other in before]
            body = [ast.If(tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests), body, [])]
        start: list[ast.expr] = []
        if before and which < 2:
            start = [ast.BinOp(before[-1], ast.Add(), ast.Constant(1)) if which == 0 else before[-1]]
        body = [ast.For(ast.Name(places[position].id, ast.Store()), _range(*start, end), body, [])]
    (loop,) = body
    assert isinstance(loop, ast.For)
    ast.copy_location(loop, node)
    return ast.fix_missing_locations(loop)
