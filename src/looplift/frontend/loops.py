"""Loops of Python into loops of the IR: what they carry, what they iterate, and how they end."""

from __future__ import annotations

import ast
from collections.abc import Callable

from looplift.base.data import dataclass
from looplift.base.errors import NotLiftable
from looplift.base.spans import Span
from looplift.frontend import (
    complexes,
    evident,
    expressions,
    generators,
    growing,
    iteration,
    joins,
    nests,
    peeling,
    perhaps,
    rows,
    statements,
    unrolling,
)
from looplift.frontend.cells import Cells
from looplift.frontend.exits import FIRST, STOP_ATTRIBUTE, binds
from looplift.frontend.scope import STATIC, Builder, Parted, Structure, Tup, Value, hint_of, is_none, shown
from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Atom,
    Block,
    Carry,
    Let,
    Loop,
    Op,
    Perform,
    Range,
    Var,
    While,
    uses,
    walk,
)
from looplift.ir.writes import GROWING

Place = tuple[str | int, ...]
"""A name and the positions in its tuple, outermost first."""

MOST_NESTED = 4
"""So many tuples in one another may take the place of None: a chain of pairs has another one in each iteration."""


@dataclass
class _Entry:
    """The names that a loop assigns: their values before it and at entry of its body."""

    init: dict[str, Value]
    inside: dict[str, Value]
    places: dict[Var, Place]
    """Of the variables that are not bound before the loop."""
    none: dict[Var, Place]
    """Of those that are None before it."""
    numbers: dict[Var, Place]
    """Of those that are literals, or variables of another loop."""
    reads: dict[str, int]
    """How often items were read of the lists and dicts that names hold."""


def _enter(
    build: Builder,
    names: list[str],
    counts: dict[Place, int],
    hidden: set[str],
    numbers: set[Place],
    shelved: set[str],
) -> _Entry:
    """Open a loop: each name assigned in it gets a variable for its value at entry of the body.

    ``hidden`` names hold a list, dict or function that the body replaces: they are bound in each iteration anew.
    At the places of ``numbers`` there are literals that complex numbers follow. Of the lists and dicts of ``shelved``
    names the items are carried.
    """
    entry = _Entry({}, {}, {}, {}, {}, {})

    def shaped(place: Place, value: Value) -> Value:
        if place in counts and (value is UNDEFINED or is_none(value)):
            value = Tup((UNDEFINED,) * counts[place]) if value is UNDEFINED else perhaps.absent(counts[place])
        if place in numbers and (number := complexes.number_before(build, value)) is not None:
            return number
        if isinstance(value, Parted) and isinstance(value, perhaps.Perhaps):
            return perhaps.Perhaps(Tup(tuple(shaped((*place, k), v) for k, v in enumerate(value.parts.items))))
        if isinstance(value, Tup):
            return Tup(tuple(shaped((*place, k), item) for k, item in enumerate(value.items)))
        return value

    def opened(place: Place, value: Value) -> Value:
        if isinstance(value, Tup):
            return Tup(tuple(opened((*place, k), item) for k, item in enumerate(value.items)))
        if isinstance(value, Parted):
            return _like(value, opened(place, value.parts))
        if isinstance(value, Cells) and place[0] in shelved and (parts := value.parts(build)) is not None:
            inside = opened(place, parts)
            assert isinstance(inside, Tup)
            return value.carried(build, inside)
        if isinstance(value, Structure):
            return value
        var = build.fresh(hint_of(str(place[0])))
        if place[0] in build.settled:
            build.certain |= {var}
        build.entered[var] = value
        if value is UNDEFINED or value in build.unbound_at_entry:
            entry.places[var] = place
        elif build.markers and (is_none(value) or value in build.none_at_entry):
            entry.none[var] = place
        else:
            entry.numbers[var] = place
        return var

    for name in names:
        init = shaped((name,), build.entry_value(name))
        if name in hidden:
            init = UNDEFINED
        entry.init[name], entry.inside[name] = init, opened((name,), init)
        build.held(name)[name] = inside = entry.inside[name]
        if isinstance(inside, Cells):
            entry.reads[name] = inside.reads
    return entry


def _like(value: Parted, parts: Value) -> Parted:
    """The same value of other parts."""
    assert isinstance(parts, Tup)
    if isinstance(value, perhaps.Perhaps):
        return perhaps.Perhaps(parts)
    assert isinstance(value, complexes.Complex)
    return complexes.with_parts(value, parts)


def _leave(build: Builder, entry: _Entry, read: set[Atom]) -> tuple[Carry, ...]:
    """Close a loop: pair the values at entry with those at the end of the body, and bind those after it."""
    carries: list[Carry] = []

    def closed(name: str, init: Value, inside: Value, last: Value) -> Value:
        if isinstance(inside, Parted) and isinstance(inside, perhaps.Perhaps) and isinstance(init, perhaps.Perhaps):
            end = perhaps.as_perhaps(last, len(inside.parts.items) - 1)
            if end is None:
                raise build.refuse(
                    "mixed-kinds", f"'{shown(name)}' is a tuple or None before the loop and something else in it"
                )
            parts = closed(name, init.parts, inside.parts, end.parts)
            assert isinstance(parts, Tup)
            return perhaps.Perhaps(parts)
        if isinstance(inside, Parted) and isinstance(inside, complexes.Complex) and isinstance(init, complexes.Complex):
            found = complexes.both(build, inside, last)
            if found is None or complexes.least_of(init, found[1]) is not inside.least:
                raise build.refuse(
                    "mixed-kinds", f"'{shown(name)}' is a complex number before the loop and another kind in it"
                )
            return complexes.with_parts(init, closed(name, init.parts, inside.parts, found[1].parts))
        if isinstance(inside, Cells) and isinstance(last, Cells) and last is not inside and inside.is_like(last):
            before, now, then = (one.parts(build) if isinstance(one, Cells) else None for one in (init, inside, last))
            if before is not None and now is not None and then is not None:
                if inside is not init:
                    found = closed(name, before, now, then)
                    assert isinstance(found, Tup)
                    return last.carried(build, found)
                if inside.reads > entry.reads[name]:
                    raise CarriesItems(name)
        if isinstance(inside, Structure):
            if last is not inside:
                raise Rebound(name)
            return init
        is_tuple = isinstance(last, Tup) or (isinstance(last, Parted) and isinstance(last, perhaps.Perhaps))
        if isinstance(inside, Var) and inside in build.none_at_entry and is_tuple:
            raise joins.BecomesTuple(inside, perhaps.count_of(last, perhaps.NONE) or 0)  # it never is None again
        if isinstance(last, Parted) and isinstance(last, complexes.Complex):
            complexes.both(build, inside, last)
        if isinstance(last, Structure):
            if not isinstance(last, rows.Row):
                unbound = init is UNDEFINED or init in build.unbound_at_entry
                if inside in read or isinstance(inside, Tup) or not unbound:
                    raise build.refuse("mixed-kinds", f"'{shown(name)}' becomes {last.noun} in the loop")
                return UNDEFINED
            last = last.whole
        if isinstance(inside, Tup) and isinstance(init, Tup):
            if not isinstance(last, Tup) or len(last.items) != len(inside.items):
                raise build.refuse(
                    "mixed-kinds", f"'{shown(name)}' is a tuple before the loop and something else in it"
                )
            return Tup(tuple(map(closed, [name] * len(inside.items), init.items, inside.items, last.items)))
        assert isinstance(inside, Var) and not isinstance(init, Tup)
        if isinstance(last, Tup):
            joins.unbound_like(build, last, inside)
            raise build.refuse("mixed-kinds", f"'{shown(name)}' becomes a tuple in the loop")
        if inside in build.assumed and not evident.is_python_number(build, last):
            raise build.refuse(
                "mixed-kinds", f"'{shown(name)}' meets complex numbers, and may become another kind of number"
            )
        if last is UNDEFINED and inside not in read:
            return UNDEFINED
        if last is UNDEFINED:
            raise build.refuse("unsupported-syntax", f"'{shown(name)}' may not be bound here")
        if last is inside and init is UNDEFINED:
            if inside in read:
                raise build.refuse("unsupported-syntax", f"'{shown(name)}' may not be bound here")
            return UNDEFINED
        assert not isinstance(init, Structure)
        carries.append(Carry(inside, init, last, build.fresh(hint_of(name))))
        return init if last is inside else carries[-1].after

    ends = {name: build.held(name)[name] for name in entry.init}
    read |= {leaf for name, end in ends.items() for leaf in leaves(end) if leaf not in leaves(entry.inside[name])}
    for name, init in entry.init.items():
        build.held(name)[name] = closed(name, init, entry.inside[name], ends[name])
    return tuple(carries)


def _loop(build: Builder, names: list[str], translate_loop: Callable[[_Entry], None]) -> None:
    """Translate a loop; again, where a name that is not bound before it turns out to be bound to a tuple in it."""
    counts: dict[Place, int] = {}
    hidden: set[str] = set()
    shelved: set[str] = set()
    numbers: set[Place] = set()
    before, depth, length = build.state(), len(build.blocks), len(build.blocks[-1])
    unbound, none = build.unbound_at_entry, build.none_at_entry
    while True:
        entry = _enter(build, names, counts, hidden, numbers, shelved)
        build.unbound_at_entry = unbound | entry.places.keys()
        build.none_at_entry = none | {var: var for var in entry.none}
        shared = len(build.shared)
        try:
            translate_loop(entry)
            changed = [name for name in before[1] if name not in entry.init and _moved(build, name, before[1][name])]
            is_late = any(not cells.isdisjoint(before[1]) for cells in build.shared[shared:])
            if not changed and not is_late:  # else the body took what it met at first for its name's alone
                return
            names = [*names, *changed]
        except Rebound as found:
            hidden.add(found.name)
        except CarriesItems as found:
            shelved.add(found.name)
        except complexes.BecomesComplex as found:
            if (place := entry.numbers.get(found.var)) is None:
                raise
            outer = _outer_value(entry.init[str(place[0])], place)
            if complexes.number_before(build, outer) is None:
                assert isinstance(outer, Var)
                raise complexes.BecomesComplex(outer) from None
            numbers.add(place)
        except joins.BecomesTuple as found:
            place = entry.places.get(found.var) or entry.none.get(found.var)
            outer = found.var if place is None else _outer_value(entry.init[str(place[0])], place)
            if place is None or not (outer is UNDEFINED or is_none(outer)):
                assert isinstance(outer, Var)
                raise joins.BecomesTuple(build.none_at_entry.get(outer, outer), found.count) from None
            if sum(place[:length] in counts for length in range(1, len(place))) >= MOST_NESTED:
                message = f"'{shown(str(place[0]))}' becomes a tuple of more tuples in each iteration"
                raise build.refuse("mixed-kinds", message) from None
            if counts.get(place) == found.count:  # it is held in another way, which knows no parts
                raise build.refuse("mixed-kinds", f"'{shown(str(place[0]))}' becomes a tuple in the loop") from None
            counts[place] = found.count
        finally:
            build.unbound_at_entry, build.none_at_entry = unbound, none
        del build.blocks[depth:], build.blocks[-1][length:]
        build.restore(before)


class Rebound(Exception):
    """A name that holds a list, dict or function before a loop is bound to another one in it."""

    def __init__(self, name: str):
        self.name = name


class CarriesItems(Exception):
    """A name is bound to a list or dict, in each iteration to another one of the same places, made from that before."""

    def __init__(self, name: str):
        self.name = name


def _moved(build: Builder, name: str, before: Value) -> bool:
    """Whether an item of a static list or dict was changed."""
    return build.cells.get(name, before) is not before


def _outer_value(value: Value, place: Place) -> Value:
    """What a variable of a loop holds before it."""
    for position in place[1:]:
        value = value.parts if isinstance(value, Parted) else value
        assert isinstance(value, Tup)
        value = value.items[int(position)]
    return value


def translate_for(build: Builder, node: ast.For) -> None:
    span = build.span
    if _may_be_rewritten(build, node.iter):
        if generators.translated(build, node):
            return
        if not getattr(node, STOP_ATTRIBUTE, None):
            node = nests.nested(build, node)
    source = iteration.source_of_iterable(build, node.iter, node.body)
    site = build.site(node)
    if isinstance(source, iteration.Source) and build.forms.get(site) == STATIC:
        source = unrolling.positions(build, source)
    if isinstance(source, list):
        unrolling.unroll(build, node, source)
        return
    is_peeled = build.markers or getattr(node, FIRST, False)
    if not is_peeled or not peeling.peeled(build, node, source, lambda rest: _iterated(build, node, rest, span)):
        _iterated(build, node, source, span)


def _may_be_rewritten(build: Builder, iterable: ast.expr) -> bool:
    """Whether what is iterated may be a generator, or an iterator of a library that stands for loops of its own."""
    match iterable:
        case ast.Call(func=ast.Name(id="enumerate" | "range" | "reversed" | "zip" as name), args=args, keywords=[]):
            nested = name == "enumerate" and args and isinstance(args[0], ast.Call)
            return bool(nested) or not build.is_builtin(name)
    return isinstance(iterable, ast.Call)


def _iterated(build: Builder, node: ast.For, source: iteration.Source, span: Span) -> None:
    """A loop of the IR over what a ``for`` iterates."""
    site = build.site(node)

    def translated(entry: _Entry) -> None:
        index = build.fresh(_index_hint(node.target))
        build.ranges[index] = site, source.domain

        def body() -> None:
            statements.assign(build, node.target, source.item(build, index), 0)
            statements.translate_block(build, node.body)

        block = build.block(body)
        loop = _finish(build, source.domain, index, entry, block, node, span)
        if set(source.sequences) & set(_lengthened(loop)):
            raise NotLiftable("unsupported-iterable", "the list that is iterated changes its length meanwhile", span)

    _loop(build, growing.rebound(build, node), translated)


def _index_hint(target: ast.expr) -> str:
    match target:
        case ast.Name(id=name):
            return name
        case ast.Tuple(elts=[ast.Name(id=name), *_]):
            return name
    return "k"


def _lengthened(loop: Loop) -> list[Atom]:
    """Lists that the body of a loop makes longer or shorter, under the names that they have before it too."""
    found: list[Atom] = []
    earlier = {
        carry.inside: carry.init for inner in (loop, *walk(loop.body)) for carry in getattr(inner, "carries", ())
    }
    for statement in walk(loop.body):
        match statement:
            case Append(ref=ref):
                found.append(ref)
            case Let(op=op) | Perform(op=op) if op.name.removeprefix("method.") in GROWING and op.args:
                found += [arg for arg in op.args[:1] if isinstance(arg, Var)]
            case Let(op=Op(name="inplace.add", args=[ref, *_])):
                found += [ref] if isinstance(ref, Var) else []
    for ref in found:
        if (before := earlier.get(ref)) is not None and before not in found:  # type: ignore[arg-type]
            found.append(before)
    return found


def translate_while(build: Builder, node: ast.While) -> None:
    span = build.span
    if binds(node.test):
        raise build.refuse("unsupported-syntax", "a 'while' with an 'else' whose test binds a name")

    def translated(entry: _Entry) -> None:
        found: dict[str, Atom] = {}
        test = build.block(lambda: found.update(cond=expressions.evaluate_test(build, node.test)))
        block = build.block(lambda: statements.translate_block(build, node.body))
        _finish(build, While(test, found["cond"]), None, entry, block, node, span)

    _loop(build, growing.rebound(build, node), translated)


def _finish(
    build: Builder,
    domain: Range | While,
    index: Var | None,
    entry: _Entry,
    block: Block,
    node: ast.For | ast.While,
    span: Span,
) -> Loop:
    stop: str | None = getattr(node, STOP_ATTRIBUTE, None)
    flag = build.atom(build.env[stop]) if stop else None
    read = {
        atom
        for part in (block, *([domain.block] if isinstance(domain, While) else []))
        for s in walk(part)
        for atom in uses(s)
    }
    loop = Loop(domain, index, _leave(build, entry, read), block, flag, span)
    build.add(loop)
    for carry in loop.carries:
        if carry.inside in build.tensorless and not evident.is_no_tensor(build, carry.next):
            raise build.refuse("unsupported-value", f"'divmod' of '{carry.hint}', which may become a tensor")
    return loop


def leaves(value: Value) -> list[Atom]:
    """The atoms of a value."""
    if isinstance(value, Parted):
        return leaves(value.parts)
    if isinstance(value, Structure):
        return []
    return [leaf for item in value.items for leaf in leaves(item)] if isinstance(value, Tup) else [value]
