"""What a ``for`` loop iterates: ranges, sequences, ``enumerate``, ``zip``, ``reversed``, products of these."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Sequence

from looplift.base.data import dataclass
from looplift.base.spans import is_strict
from looplift.base.syntax import nodes_of
from looplift.frontend import (
    calls,
    complexes,
    evident,
    expressions,
    host_items,
    nests,
    parts,
    rows,
    structures,
    writing,
)
from looplift.frontend.scope import Builder, Late, Structure, Tup, Value
from looplift.ir.grammar import Atom, Const, Range, Require, Var


@dataclass(frozen=True)
class Source:
    """A domain, and the value that the loop's target takes for an index of it."""

    domain: Range
    item: Callable[[Builder, Atom], Value]
    sequences: tuple[Atom, ...] = ()
    """What is iterated, which the loop must not lengthen."""


def source_of_iterable(build: Builder, node: ast.expr, body: Sequence[ast.stmt] = ()) -> Source | list[Value]:
    """The domain of ``for target in node`` and how its items are made; or the items, where each is of its own kind.
    ``body``: what runs for each of them."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not build.is_builtin(node.func.id):
        return of_value(build, expressions.evaluate(build, node))
    match node:
        case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]):
            return source_of_range(build, domain_of(build, args))
        case ast.Call(func=ast.Name(id="reversed"), args=[inner], keywords=[]):
            return _reversed(build, inner, body)
        case ast.Subscript(value=ast.Call(func=ast.Name(id="range")) as inner, slice=ast.Slice(None, None, step)) if (
            build.is_builtin("range") and step is not None and ast.unparse(step) == "-1"
        ):
            return _reversed(build, inner, body)
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *start], keywords=keywords):
            return _enumerate(build, inner, [*start, *(keyword.value for keyword in keywords)], body)
        case ast.Call(func=ast.Name(id="zip"), args=[ast.Starred(value=inner)], keywords=[]) if (
            columns := _columns(build, inner)
        ) is not None:
            return columns
        case ast.Call(func=ast.Name(id="zip"), args=[_, *_] as inners) if (strict := is_strict(node)) is not None:
            return _zip(build, inners, body, strict=strict)
        case ast.Call(func=ast.Name(id="map"), args=[function, *inners], keywords=[]) if inners:
            return _map(build, function, inners, body)
        case ast.Call(func=function, args=[_, *_] as inners, keywords=keywords) if (
            found := of_library(build, function, inners, keywords, body)
        ) is not None:
            return found
        case ast.Tuple() | ast.List() if node.elts:
            return _display(build, expressions._items(build, node.elts))
        case ast.Subscript(value=ast.Name() as owner, slice=ast.Slice() as index):
            value = expressions.evaluate(build, owner)
            if isinstance(value, Var) and parts.is_part(build, value, index):
                return _of_part(build, value, index)
        case ast.BinOp(left=left, right=right) if parts.is_list(build, node):
            return _chained(build, *(_of_list(build, side) for side in (left, right)))
    return of_value(build, expressions.evaluate(build, node))


def _of_part(build: Builder, value: Var, index: ast.Slice) -> Source:
    """The neighbouring items of a list that a slice takes."""
    domain = parts.domain(build, value, index)
    return Source(domain, lambda build, index: rows.item_of(build, value, index), (value,))


def _of_list(build: Builder, node: ast.expr) -> Source:
    """A list of the region or a part of one, or the items of a display as a list."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        value = expressions.evaluate(build, node.value)
        assert isinstance(value, Var)
        return _of_part(build, value, node.slice)
    source = source_of_iterable(build, node)
    return source if isinstance(source, Source) else _of_items(source)


def _of_items(items: list[Value]) -> Source:
    """Items that are known one by one."""

    def item(build: Builder, index: Atom, place: int = 0) -> Value:
        if place == len(items) - 1:
            return items[place]
        is_here = build.emit("eq", index, Const(place))
        return expressions.conditional(build, is_here, lambda: items[place], lambda: item(build, index, place + 1))

    return Source(Range(Const(0), Const(len(items)), Const(1)), item)


def _columns(build: Builder, node: ast.expr) -> list[Value] | None:
    """``zip(*records)`` of a list of tuples that the region fills: its columns, if it has any."""
    from looplift.frontend.records import RecordList

    value = expressions.evaluate(build, node) if isinstance(node, ast.Name) else None
    found = value.columns() if isinstance(value, RecordList) else None
    if found is not None:
        some = build.emit("le", Const(1), value.length(build))  # type: ignore[union-attr]
        build.add(Require(some, "'zip(*...)' of an empty list gives nothing", build.span))
    return found


def of_library(
    build: Builder,
    function: ast.expr,
    inners: list[ast.expr],
    keywords: list[ast.keyword],
    body: Sequence[ast.stmt] = (),
) -> Source | None:
    """What an iterator of ``itertools`` over sequences runs through; None where it is none, or of other things."""
    known = nests.library_value(build, function)
    sources: list[Source] = []
    if known not in (itertools.chain, itertools.islice, itertools.zip_longest):
        return None
    for inner in inners if known is not itertools.islice else inners[:1]:
        source = source_of_iterable(build, inner, body)
        if not isinstance(source, Source) or isinstance(inner, ast.Starred):
            return None
        sources.append(source)
    if known is itertools.chain and not keywords:
        return functools.reduce(functools.partial(_chained, build), sources)
    if known is itertools.islice and not keywords and len(inners) > 1:
        bounds = [expressions.evaluate_atom(build, inner) for inner in inners[1:]]
        return _sliced(build, sources[0], bounds, calls=_maps(build, inners[:1]))
    if known is itertools.zip_longest and {keyword.arg for keyword in keywords} <= {"fillvalue"}:
        fill = expressions.evaluate(build, keywords[0].value) if keywords else Const(None)
        return _zip_longest(build, sources, fill)
    return None


def _chained(build: Builder, first: Source, second: Source) -> Source:
    """``chain(xs, ys)``: the items of one, then those of the other."""
    count = _count(build, first)
    total = build.emit("add", count, _count(build, second), hint="n")

    def item(build: Builder, index: Atom) -> Value:
        late = build.emit("sub", index, count)
        return expressions.conditional(
            build,
            build.emit("lt", index, count),
            lambda: _at(build, first, index),
            lambda: _at(build, second, late),
        )

    return Source(Range(Const(0), total, Const(1)), item, (*first.sequences, *second.sequences))


def _sliced(build: Builder, source: Source, bounds: list[Atom], *, calls: bool) -> Source | None:
    """``islice(xs, stop)`` and ``islice(xs, start, stop, step)``. ``calls``: the items are made by calls."""
    start, stop, step = (Const(0), bounds[0], Const(1)) if len(bounds) == 1 else (*bounds, Const(1))[:3]
    start, step = (default if _is_none(bound) else bound for bound, default in ((start, Const(0)), (step, Const(1))))
    if not (isinstance(step, Const) and type(step.value) is int and step.value > 0):
        return None
    if not all(_is_none(bound) or evident.is_integer(build, bound) for bound in (start, stop)):
        return None
    if calls and not (_is(start, 0) and _is(step, 1)):
        raise build.refuse("unsupported-iterable", "'islice' also asks for the items of 'map' that it passes over")
    end = _length(build, source)
    for bound in (start, stop):
        if isinstance(bound, Var):
            build.add(Require(build.emit("ge", bound, Const(0)), "'islice' of a negative number", build.span))
        elif isinstance(bound, Const) and bound.value is not None and bound.value < 0:
            raise build.refuse("requirement", "'islice' of a negative number")
    if not _is_none(stop):
        end = build.emit("builtin.min", end, stop, hint="n")
    return Source(Range(start, end, step), lambda build, index: _at(build, source, index), source.sequences)


def _is_none(atom: Atom) -> bool:
    return isinstance(atom, Const) and atom.value is None


def _zip_longest(build: Builder, sources: list[Source], fill: Value) -> Source:
    """``zip_longest(xs, ys, fillvalue=e)``: as many as the longest has."""
    counts = [_length(build, source) for source in sources]
    total = counts[0]
    for count in counts[1:]:
        total = build.emit("builtin.max", total, count, hint="n")

    def item(build: Builder, index: Atom) -> Value:
        def filled(source: Source, count: Atom) -> Value:
            there = build.emit("lt", index, count)
            return expressions.conditional(build, there, lambda: _at(build, source, index), lambda: fill)

        return Tup(tuple(map(filled, sources, counts)))

    return Source(Range(Const(0), total, Const(1)), item, tuple(atom for one in sources for atom in one.sequences))


def of_value(build: Builder, value: Value) -> Source | list[Value]:
    """What a loop over a value runs through."""
    if isinstance(value, Structure):
        return value.running(build)
    if isinstance(value, Tup):
        return _display(build, list(value.items))
    if (items := expressions.known_items(build, value)) is not None:
        return items
    if build.is_container(value):
        if (view := rows.dict_view(build, value, "keys")) is not None:
            return view.iterated(build)
        if (numbers := complexes.source_of_given(build, value)) is not None:
            return numbers
    return sequence(build, value)


def sequence(build: Builder, value: Atom) -> Source:
    count = build.emit("iter_len", value, hint="n")
    domain = Range(Const(0), count, Const(1), value)

    def item(build: Builder, index: Atom) -> Value:
        if build.is_container(value):
            return rows.item_of(build, value, index)
        return build.emit("iter_item", value, index, hint="item")

    return Source(domain, item, (value,))


def _display(build: Builder, items: list[Value]) -> Source | list[Value]:
    """``for x in (a, b, c)``: a tuple known item by item; each use of it reads one."""
    if not items or any(map(structures.is_of_host, items)) or not all(map(_is_constant, items)):
        return items
    if build.sizes and len(items) <= host_items.MAX_SIZES:
        return items
    if not all(isinstance(item, Const | Tup) for item in items) or not _is_table(items):
        return sequence(build, build.emit("list", *(build.atom(item) for item in items), hint="items"))

    def item(build: Builder, index: Atom) -> Value:
        def column(values: list[Value]) -> Value:
            rows = [value.items for value in values if isinstance(value, Tup)]
            if rows:
                return Tup(tuple(column(list(items)) for items in zip(*rows, strict=True)))
            table = build.emit("list", *(build.atom(v) for v in values), hint="table")
            return build.emit("iter_item", table, index, hint="item")

        return column(items)

    return Source(Range(Const(0), Const(len(items)), Const(1)), item)


def _is_constant(value: Value) -> bool:
    return all(map(_is_constant, value.items)) if isinstance(value, Tup) else isinstance(value, Const)


def _is_table(values: list[Value]) -> bool:
    """Whether no item is a tuple, or all are, of one length, at every depth."""
    rows = [value.items for value in values if isinstance(value, Tup)]
    if not rows:
        return True
    if len(rows) < len(values) or len({len(row) for row in rows}) > 1:
        return False
    return all(_is_table(list(items)) for items in zip(*rows, strict=True))


def source_of_range(build: Builder, domain: Range) -> Source:
    """The numbers of a range."""
    if isinstance(domain.step, Const):
        return Source(domain, lambda build, index: index)
    return _stepped(build, domain)


def domain_of(build: Builder, args: list[ast.expr]) -> Range:
    """``range(…)`` of these arguments."""
    bounds = [expressions.evaluate_atom(build, arg) for arg in args]
    match bounds:
        case [hi]:
            return Range(Const(0), hi, Const(1))
        case [lo, hi]:
            return Range(lo, hi, Const(1))
        case [lo, hi, step]:
            return Range(lo, hi, step)
    raise build.refuse("unsupported-iterable", "'range' takes one to three arguments")


def _stepped(build: Builder, domain: Range) -> Source:
    """A range by a step that is known when it runs: its numbers are counted."""
    moves = build.emit("ne", domain.step, Const(0))
    build.add(Require(moves, "the step of a range is zero", build.span))
    count = count_of(build, domain)

    def item(build: Builder, index: Atom) -> Value:
        return _number_at(build, domain, index)

    return Source(Range(Const(0), count, Const(1)), item)


def count_of(build: Builder, domain: Range) -> Atom:
    """How many numbers a range has: ``max(0, -((lo - hi) // step))``."""
    span = build.emit("sub", domain.lo, domain.hi)
    return build.emit("builtin.max", Const(0), build.emit("neg", build.emit("floordiv", span, domain.step)), hint="n")


def _number_at(build: Builder, domain: Range, position: Atom) -> Atom:
    """``lo + position * step``."""
    steps = position if _is(domain.step, 1) else build.emit("mul", position, domain.step)
    return steps if _is(domain.lo, 0) else build.emit("add", domain.lo, steps)


def _length(build: Builder, source: Source) -> Atom:
    """How many items; for a plain range its own count."""
    domain = source.domain
    if _is(domain.lo, 0) and _is(domain.step, 1):
        return domain.hi
    if _is(domain.step, 1):
        span = build.emit("sub", domain.hi, domain.lo)
        return build.emit("builtin.max", Const(0), span)
    return count_of(build, domain)


def _count(build: Builder, source: Source) -> Atom:
    """How many items, to count with: none where a plain range ends below zero."""
    length = _length(build, source)
    return length if evident.is_count(build, length) else build.emit("builtin.max", Const(0), length, hint="n")


def _is(atom: Atom, number: int) -> bool:
    return isinstance(atom, Const) and atom.value == number and type(atom.value) is int


def _at(build: Builder, source: Source, position: Atom) -> Value:
    """The item at a position that counts from 0."""
    return source.item(build, _number_at(build, source.domain, position))


_ITERATORS = ("map", "zip", "enumerate", "filter", "reversed", "iter")


def _is_call_of(build: Builder, node: ast.expr, names: Sequence[str]) -> bool:
    is_named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
    return is_named and build.is_builtin(node.func.id)  # type: ignore[union-attr]


def _maps(build: Builder, nodes: list[ast.expr]) -> bool:
    """Whether a call of ``map`` is among these, whose items are made when they are asked for."""
    calls = (part for node in nodes for part in nodes_of(node) if isinstance(part, ast.Call))
    return any(_is_call_of(build, call, ("map",)) for call in calls)


def _is_iterator(build: Builder, node: ast.expr) -> bool:
    """Whether an expression is a call that gives an iterator, of Python's own or of ``itertools``."""
    if _is_call_of(build, node, _ITERATORS):
        return True
    known = nests.library_value(build, node.func) if isinstance(node, ast.Call) else None
    return isinstance(known, type) and known.__module__ == "itertools"


def _reversed(build: Builder, inner: ast.expr, body: Sequence[ast.stmt]) -> Source | list[Value]:
    if _is_iterator(build, inner):
        raise build.refuse("unsupported-iterable", "an iterator is not reversible, and 'reversed' raises")
    source = source_of_iterable(build, inner, body)
    if isinstance(source, list):
        return source[::-1]
    whole = source.domain.source
    if whole is not None and (_updates(body) or writing.may_write(build, body)):
        if evident.is_tensor(build, whole):
            return sequence(build, build.emit("method.flip", whole, Const(0)))
        if evident.may_be_tensor(build, whole):
            raise build.refuse("unsupported-iterable", "'reversed' of what may be a tensor is a copy of it")
    count = _length(build, source)
    if source.domain.source is None and isinstance(inner, ast.Call) and _is(source.domain.step, 1):
        if isinstance(inner.func, ast.Name) and inner.func.id == "range":
            return _reversed_range(build, source)
    last = build.emit("sub", count, Const(1), hint="last")

    def item(build: Builder, index: Atom) -> Value:
        return _at(build, source, build.emit("sub", last, index))

    return Source(Range(Const(0), count, Const(1), source.domain.source), item, source.sequences)


def _updates(body: Sequence[ast.stmt]) -> bool:
    """Whether names are updated, which changes tensors in place."""
    return any(isinstance(node, ast.AugAssign) for statement in body for node in nodes_of(statement))


def _reversed_range(build: Builder, source: Source) -> Source:
    domain = source.domain
    one = Const(1)
    start = Const(domain.hi.value - 1) if isinstance(domain.hi, Const) else build.emit("sub", domain.hi, one)
    end = Const(domain.lo.value - 1) if isinstance(domain.lo, Const) else build.emit("sub", domain.lo, one)
    return Source(Range(start, end, Const(-1)), lambda build, index: index)


def _enumerate(
    build: Builder, inner: ast.expr, start: list[ast.expr], body: Sequence[ast.stmt]
) -> Source | list[Value]:
    source = source_of_iterable(build, inner, body)
    if isinstance(source, list):
        first = expressions.evaluate_atom(build, start[0]) if start else Const(0)
        return [Tup((_number(build, first, position), item)) for position, item in enumerate(source)]
    count = _length(build, source)
    first = expressions.evaluate_atom(build, start[0]) if start else Const(0)
    if not evident.is_integer(build, first):
        raise build.refuse("unsupported-iterable", "'enumerate' from a start that is not surely an integer of Python's")

    def item(build: Builder, index: Atom) -> Value:
        number = index if _is(first, 0) else build.emit("add", first, index)
        return Tup((number, _at(build, source, index)))

    return Source(Range(Const(0), count, Const(1), source.domain.source), item, source.sequences)


def _number(build: Builder, first: Atom, position: int) -> Atom:
    known = expressions.folded("add", first, Const(position))
    return known or build.emit("add", first, Const(position))


def _zip(
    build: Builder, inners: list[ast.expr], body: Sequence[ast.stmt], *, strict: bool = False
) -> Source | list[Value]:
    """Items side by side, up to the end of the shortest; ``strict``: all are as long."""
    if _maps(build, inners[:-1]):
        raise build.refuse("unsupported-iterable", "'zip' asks for an item more of what is mapped before its last one")
    sources = [_source_of_argument(build, inner, body) for inner in inners]
    every = [source for part in sources for source in part]
    if strict:
        _require_one_length(build, every)
    if any(isinstance(source, list) for source in every):
        return _zip_known(build, every)
    plain = [source for source in every if isinstance(source, Source)]
    return _zip_sources(build, plain)


def _require_one_length(build: Builder, sources: list[Source | list[Value]]) -> None:
    """What ``zip(..., strict=True)`` raises of is seen before the first iteration."""
    first, *rest = [Const(len(one)) if isinstance(one, list) else _length(build, one) for one in sources]
    for other in rest:
        same = build.emit("eq", first, other)
        build.add(Require(same, "'zip' of sequences of different lengths", build.span))


def _source_of_argument(build: Builder, node: ast.expr, body: Sequence[ast.stmt]) -> list[Source | list[Value]]:
    """What an argument of ``zip`` runs through; of ``*lists`` each of them."""
    if not isinstance(node, ast.Starred):
        return [source_of_iterable(build, node, body)]
    spread = expressions.spread(build, expressions.evaluate(build, node.value))
    return [of_value(build, value) for value in spread.items]


def _zip_known(build: Builder, sources: list[Source | list[Value]]) -> list[Value]:
    """Values known one by one, beside sequences that must be as long as they."""
    count = min(len(source) for source in sources if isinstance(source, list))
    columns: list[list[Value]] = []
    for source in sources:
        if isinstance(source, list):
            columns.append(source[:count])
            continue
        longer = build.emit("ge", _length(build, source), Const(count))
        build.add(Require(longer, "fewer items than modules or functions beside them", build.span))
        columns.append([late_item(source, position) for position in range(count)])
    return [Tup(items) for items in zip(*columns, strict=True)]


def late_item(source: Source, position: int) -> Late:
    """The item at a position that counts from 0."""
    return Late(lambda build: _at(build, source, Const(position)))


def current(build: Builder, value: Value) -> Value:
    """An item, read now."""
    if isinstance(value, Tup):
        return Tup(tuple(current(build, item) for item in value.items))
    return current(build, value.read(build)) if isinstance(value, Late) else value


def finish(build: Builder, value: Value) -> None:
    """Refuses what has changed since the loop began and would be iterated otherwise."""
    if isinstance(value, Tup):
        for item in value.items:
            finish(build, item)
    if isinstance(value, Late):
        value.finish(build)


def _zip_sources(build: Builder, sources: list[Source]) -> Source:
    count = _length(build, sources[0])
    for source in sources[1:]:
        count = build.emit("builtin.min", count, _length(build, source), hint="n")

    def item(build: Builder, index: Atom) -> Value:
        return Tup(tuple(_at(build, source, index) for source in sources))

    sequences = tuple(atom for source in sources for atom in source.sequences)
    return Source(Range(Const(0), count, Const(1), sources[0].domain.source), item, sequences)


def _map(build: Builder, function: ast.expr, inners: list[ast.expr], body: Sequence[ast.stmt]) -> Source | list[Value]:
    """``map(f, xs)``: the items are values of ``f``."""
    called = expressions.evaluate(build, function)
    source = _zip(build, inners, (*body, ast.Expr(ast.Call(function, [], []))))
    if isinstance(source, list):
        return [_late_call(called, item) for item in source]

    def item(build: Builder, index: Atom) -> Value:
        return _applied(build, called, source.item(build, index))

    return Source(source.domain, item, source.sequences)


def _late_call(function: Value, arguments: Value) -> Late:
    return Late(
        lambda build: _applied(build, function, current(build, arguments)),
        lambda build: finish(build, arguments),
    )


def _applied(build: Builder, function: Value, arguments: Value) -> Value:
    assert isinstance(arguments, Tup)
    return calls.call_value(build, function, list(arguments.items), {})
