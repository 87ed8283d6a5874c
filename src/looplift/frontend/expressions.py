"""Expressions of Python into operations on atoms."""

from __future__ import annotations

import ast
import inspect
import random
import types
from collections.abc import Callable
from typing import Any, TypeGuard

from looplift.base.declared import is_computed
from looplift.base.spans import Span, span_of
from looplift.base.streams import numpy_generators
from looplift.base.syntax import Fails, Tallied
from looplift.frontend import (
    attributes,
    calls,
    choices,
    clipping,
    complexes,
    comprehensions,
    cuts,
    dictionaries,
    differentiation,
    evident,
    failing,
    functional,
    host_items,
    instances,
    joins,
    nested,
    nests,
    parts,
    perhaps,
    reading,
    rows,
    statements,
    structures,
    unrolling,
)
from looplift.frontend.scope import DICTS, LITERALS, MISSING, Builder, Parted, Structure, Tup, Value, is_none, spelled
from looplift.ir.grammar import Atom, Const, Group, If, Operand, Phi, Require, Slice, Var
from looplift.ops import special
from looplift.ops.names import is_library, joining_name

BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor",
    ast.LShift: "lshift", ast.RShift: "rshift",
}  # fmt: skip
UNARY = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert", ast.Not: "not"}
COMPARE = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
    ast.Is: "is_", ast.IsNot: "is_not", ast.In: "in_", ast.NotIn: "not_in",
}  # fmt: skip


def located(build: Builder, node: ast.AST) -> Span:
    """The span of a node of the region; what is inlined has that of its call."""
    span = span_of(node)
    return span if span.line and build.frame.is_root else build.span


def evaluate(build: Builder, node: ast.expr) -> Value:
    """The value of an expression; emits the operations that compute it."""
    saved, build.span = build.span, located(build, node)
    try:
        return _evaluate(build, node)
    finally:
        build.span = saved


def evaluate_atom(build: Builder, node: ast.expr) -> Atom:
    return build.atom(evaluate(build, node))


def evaluate_test(build: Builder, node: ast.expr) -> Atom:
    """A condition, of which only the truth matters: of ``a and b`` not which of them is the value."""
    if isinstance(node, ast.BoolOp):
        return build.atom(_short_circuit(build, isinstance(node.op, ast.And), node.values, _part_of_test))
    value = evaluate(build, node)
    if isinstance(value, Parted) and isinstance(value, perhaps.Perhaps):
        return value.truth
    if isinstance(value, nested.Frozen):
        return build.emit("ne", value.length(build), Const(0))
    return build.atom(value)


def _part_of_test(build: Builder, node: ast.expr) -> Atom:
    """One side of ``a and b`` in a condition; what is no comparison is asked, as sides are of one type then."""
    value = evaluate_test(build, node)
    is_truth = isinstance(node, ast.Compare | ast.BoolOp) or isinstance(getattr(node, "op", None), ast.Not)
    return (
        value
        if isinstance(value, Const) or (is_truth and value not in build.sites)
        else build.emit("builtin.bool", value)
    )


def _evaluate(build: Builder, node: ast.expr) -> Value:
    match node:
        case ast.Constant(value=value):
            return Const(value)
        case ast.Name(id=name):
            return build.lookup(name)
        case ast.BinOp() if parts.is_list(build, node):
            return parts.joined(build, node)
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(build, BINARY[type(op)], evaluate(build, left), evaluate(build, right))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _unary(build, "not", evaluate_test(build, operand))
        case ast.UnaryOp(op=op, operand=operand):
            return _signed(build, UNARY[type(op)], evaluate(build, operand))
        case ast.Compare():
            return _compare(build, node)
        case ast.BoolOp(op=op, values=values):
            return _short_circuit(build, isinstance(op, ast.And), values, evaluate_atom)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _choose(build, evaluate_test(build, test), body, orelse)
        case ast.Subscript(value=value, slice=index):
            return _subscript(build, evaluate(build, value), index)
        case ast.Attribute(value=value, attr=name):
            return attribute(build, evaluate(build, value), name)
        case ast.Call():
            return calls.call(build, node)
        case ast.Tuple(elts=items):
            return Tup(tuple(_items(build, items)))
        case ast.List(elts=items):
            return structures.list_display(build, node, _items(build, items))
        case ast.ListComp():
            return comprehensions.comprehension(build, node)
        case ast.Dict():
            return structures.dict_display(build, node)
        case ast.DictComp():
            return structures.dict_comprehension(build, node)
        case ast.Lambda():
            return structures.closure(build, node)
        case ast.NamedExpr(target=target, value=value):
            statements.assign(build, target, found := evaluate(build, value))
            return found
        case Fails():
            return failing.fails(build, node)
        case Tallied(items=items, name=name):
            return build.emit(name, build.atom(evaluate(build, items)), hint=name)
        case ast.JoinedStr(values=values):
            return build.emit("format", *(_format_part(build, part) for part in values), hint="text")
    raise build.refuse("unsupported-syntax", f"'{ast.unparse(node)}' is not understood inside a loop")


def _items(build: Builder, nodes: list[ast.expr]) -> list[Value]:
    out: list[Value] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            if (sizes := nests.sizes_of(build, node.value)) is not None:
                out += [evaluate(build, size) for size in sizes]
                continue
            value = evaluate(build, node.value)
            if not isinstance(value, Tup):
                value = spread(build, value)
            out += value.items
        else:
            out.append(evaluate(build, node))
    return out


def spread(build: Builder, value: Value) -> Tup:
    """``*value`` where the number of items is known before the loop runs."""
    if (items := known_items(build, value)) is not None:
        return Tup(tuple(items))
    raise build.refuse("unsupported-syntax", "'*' of something whose length is not known before the loop runs")


def known_items(build: Builder, value: Value) -> list[Value] | None:
    """The items of a value if they are known one by one."""
    if isinstance(value, Tup):
        return list(value.items)
    if isinstance(value, Const) and isinstance(value.value, tuple):
        return list(map(Const, value.value))
    if isinstance(value, Structure):
        return value.listed(build)
    found = host_items.items_of(build, value) if build.is_container(value) else None
    return list(map(Const, found)) if isinstance(found, dict) else found


def _format_part(build: Builder, node: ast.expr) -> Operand:
    match node:
        case ast.Constant(value=value):
            return Const(value)
        case ast.FormattedValue(value=value, conversion=conversion, format_spec=spec):
            parts = spec.values if isinstance(spec, ast.JoinedStr) else []
            constants = [part.value for part in parts if isinstance(part, ast.Constant)]
            if len(constants) < len(parts):
                raise build.refuse("unsupported-syntax", "a format that is computed")
            text = "".join(map(str, constants))
            return Group("tuple", (evaluate_atom(build, value), Const(conversion), Const(text)))
    raise build.refuse("unsupported-syntax", "this part of a formatted string is not understood")


def fold(name: str, *values: Any) -> Any:
    import operator

    return getattr(operator, {"and_": "and_", "or_": "or_", "not": "not_"}.get(name, name))(*values)


def is_number(atom: Value) -> TypeGuard[Const]:
    """Whether a value is a literal number."""
    return isinstance(atom, Const) and not atom.path and type(atom.value) in (int, float, bool)


def _is_literal(value: Value) -> TypeGuard[Const]:
    """Whether a value is a literal number, which may be complex."""
    return is_number(value) or (isinstance(value, Const) and not value.path and type(value.value) is complex)


def _binary(build: Builder, name: str, left: Value, right: Value) -> Value:
    if name == "add" and isinstance(left, Tup) and isinstance(right, Tup):
        return Tup(left.items + right.items)
    if (found := of_complex(build, name, left, right)) is not None:
        return found
    if isinstance(left, Structure) or isinstance(right, Structure):
        if (found := instances.binary(build, name, left, right)) is not None:
            return found
    return folded(name, left, right) or build.emit(name, build.atom(left), build.atom(right))


def of_complex(build: Builder, name: str, left: Value, right: Value) -> Value | None:
    """An operation on complex numbers of Python's; None of others."""
    is_possible = isinstance(left, Parted) or isinstance(right, Parted)
    return complexes.binary(build, name, left, right) if is_possible else None


def folded(name: str, left: Value, right: Value) -> Const | None:
    """The result of an operation on two literals that cannot fail."""
    if name in ("add", "sub", "mul") and _is_literal(left) and _is_literal(right):
        return Const(fold(name, left.value, right.value))
    return None


def _signed(build: Builder, name: str, value: Value) -> Value:
    if isinstance(value, Parted) and isinstance(value, complexes.Complex):
        return complexes.unary(build, name, value)
    if isinstance(value, instances.Instance):
        return instances.negative(build, name, value)
    return _unary(build, name, build.atom(value))


def _unary(build: Builder, name: str, value: Atom) -> Atom:
    if _is_literal(value) and name in ("neg", "pos", "not"):
        return Const(fold(name, value.value))
    return build.emit(name, value)


def _compare(build: Builder, node: ast.Compare) -> Atom:
    left = evaluate(build, node.left)

    def chain(left: Value, position: int) -> Atom:
        right = evaluate(build, node.comparators[position])
        first = compare_one(build, COMPARE[type(node.ops[position])], left, right)
        if position + 1 == len(node.ops):
            return first
        return build.atom(conditional(build, first, lambda: chain(right, position + 1), lambda: first))

    return chain(left, 0)


def compare_one(build: Builder, name: str, left: Value, right: Value) -> Atom:
    if name in ("in_", "not_in") and (table := dictionaries.members(build, right, left)) is not None:
        found = table.contains(build, left)
        if name == "in_":
            return found
        return Const(not found.value) if isinstance(found, Const) else build.emit("not", found)
    if isinstance(left, Structure) or isinstance(right, Structure):
        found = complexes.compared(build, name, left, right)
        return _compare_structures(build, name, left, right) if found is None else found
    if name in ("in_", "not_in") and isinstance(right, Tup):
        return _member(build, name, left, right)
    if isinstance(left, Tup) and isinstance(right, Tup) and name in ("eq", "ne"):
        return _equal_tuples(build, name, left, right)
    if isinstance(left, Tup) and isinstance(right, Tup) and name in ("is_", "is_not"):
        raise build.refuse("mixed-kinds", "'is' of two tuples; compare them by '=='")
    left, right = build.atom(left), build.atom(right)
    if name in ("is_", "is_not") and isinstance(left, Const) and isinstance(right, Const):
        return Const((left.value is right.value) == (name == "is_"))
    if name in ("is_", "is_not") and is_none(right) and (left in build.certain or _is_some(build, left)):
        return Const(name == "is_not")
    if isinstance(left, Const) and isinstance(right, Const) and _compares_as_text(left.value):
        if name in ("eq", "ne") and (_compares_as_text(right.value) or not isinstance(right.value, str)):
            return Const((left.value == right.value) == (name == "eq"))
    return build.emit(name, left, right)


def _compares_as_text(value: Any) -> bool:
    """Whether a value is None or a text, which may be a member of an enumeration, that says no ``__eq__`` itself."""
    return value is None or (isinstance(value, str) and type(value).__eq__ is str.__eq__)


def _is_some(build: Builder, value: Atom) -> bool:
    from looplift.frontend import gaps

    return gaps.is_some(build, value)


def _compare_structures(build: Builder, name: str, left: Value, right: Value) -> Atom:
    """Comparisons with lists, dicts and functions that are known item by item, and with rows of the caller."""
    if name in ("in_", "not_in") and isinstance(right, Structure):
        found = right.contains(build, left)
        if name == "in_":
            return found
        return Const(not found.value) if isinstance(found, Const) else build.emit("not", found)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, perhaps.Perhaps) and is_none(other) and name in ("is_", "is_not"):
            return one.asked(build, name)
        if isinstance(one, rows.Record) and isinstance(other, Const) and isinstance(other.value, str | None):
            return one.compared(build, name, other)
        if isinstance(one, Structure) and not isinstance(one, rows.Record) and name in ("is_", "is_not"):
            if not one.is_itself and isinstance(other, Structure) and not other.is_itself:
                raise one.refusal(build, f"compared by '{name.rstrip('_').replace('_', ' ')}'")
            return Const((one is other) == (name == "is_"))
    if isinstance(left, rows.Record) and isinstance(right, Tup) and name in ("in_", "not_in"):
        return _member(build, name, left, right)
    if name in ("in_", "not_in") and (held := choices.holds_word(build, host_items.items_of(build, right), left)):
        return held if name == "in_" else build.emit("not", held)
    return compare_one(build, name, build.atom(left), build.atom(right))


def _member(build: Builder, name: str, left: Value, right: Tup) -> Atom:
    def chain(position: int) -> Atom:
        item = right.items[position]
        if item is not left:
            _refuse_nan(build, left, item)
        same = Const(True) if item is left else compare_one(build, "eq", left, item)
        if position + 1 == len(right.items):
            return same
        return build.atom(conditional(build, same, lambda: Const(True), lambda: chain(position + 1)))

    found = chain(0) if right.items else Const(False)
    return build.emit("not", found) if name == "not_in" else build.emit("builtin.bool", found)


def _refuse_nan(build: Builder, a: Value, b: Value) -> None:
    """Containers find what is the very same object without asking whether it is equal, which tells of NaN alone."""
    if _is_nan(a) and _is_nan(b):
        raise build.refuse("unsupported-value", "NaN is compared with NaN in a container, which may be the same object")
    if all(_is_nan(one) or (isinstance(one, Var) and not evident.is_integer(build, one)) for one in (a, b)):
        one = a if isinstance(a, Var) else b
        assert isinstance(one, Var)
        build.add(Require(build.emit("eq", one, one), "NaN may be found as the object that it is", build.span))


def _is_nan(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, float | complex) and value.value != value.value


def _equal_tuples(build: Builder, name: str, left: Tup, right: Tup) -> Atom:
    """Tuples are equal if their items are, asked one by one up to the first that is not."""
    if len(left.items) != len(right.items):
        return Const(name == "ne")

    def chain(position: int) -> Value:
        if position == len(left.items):
            return Const(True)
        a, b = left.items[position], right.items[position]
        return conditional(build, _same_item(build, a, b), lambda: chain(position + 1), lambda: Const(False))

    same = build.atom(chain(0))
    if isinstance(same, Const):
        return Const(bool(same.value) == (name == "eq"))
    return build.emit("not", same) if name == "ne" else same


def _same_item(build: Builder, a: Value, b: Value) -> Atom:
    """Whether two items of tuples are one object or equal."""
    if a is b:
        return Const(True)
    _refuse_nan(build, a, b)
    same = compare_one(build, "eq", a, b)
    if isinstance(a, Tup) and isinstance(b, Tup):
        return same
    return Const(bool(same.value)) if isinstance(same, Const) else build.emit("builtin.bool", same)


def _short_circuit(build: Builder, is_and: bool, nodes: list[ast.expr], part: Callable[..., Atom]) -> Value:
    first = part(build, nodes[0])
    if len(nodes) == 1:
        return first
    later = lambda: _short_circuit(build, is_and, nodes[1:], part)  # noqa: E731
    if isinstance(first, Const):
        return later() if bool(first.value) == is_and else first
    same = lambda: first  # noqa: E731
    return conditional(build, first, later if is_and else same, same if is_and else later)


def _choose(build: Builder, test: Atom, body: ast.expr, orelse: ast.expr) -> Value:
    return conditional(build, test, lambda: evaluate(build, body), lambda: evaluate(build, orelse))


def conditional(build: Builder, test: Atom, then, orelse) -> Value:
    """The value of ``then() if test else orelse()``."""
    if isinstance(test, Const):
        return then() if test.value else orelse()
    found: dict[str, Value] = {}
    span, before = build.span, build.state()
    then_block = build.block(lambda: found.update(then=then()))
    then_state = build.state()
    build.restore(before)
    else_block = build.block(lambda: found.update(orelse=orelse()))
    else_state = build.state()
    if found["then"] is found["orelse"] and not then_block and not else_block and then_state == else_state:
        build.add(If(test, then_block, else_block, (), span))  # what is asked may be no truth
        return found["then"]
    build.restore(before)
    phis: list[Phi] = []
    cells = then_state[1], else_state[1]
    value = joins.join(build, found["then"], found["orelse"], "choice", phis, cells)
    joins.join_states(build, then_state, else_state, phis)
    build.add(If(test, then_block, else_block, tuple(phis), span))
    return value


# ---------------------------------------------------------------- subscripts and attributes


def _subscript(build: Builder, value: Value, index: ast.expr) -> Value:
    place: Operand | None = None
    if isinstance(value, Structure) and isinstance(index, ast.Slice):
        chosen, _ = _static_index(build, index)
        if not isinstance(chosen, slice):
            raise value.refusal(build, "sliced at a place that is not known before the loop runs")
        return value.sliced(build, chosen)
    if isinstance(value, Structure):
        return value.item(build, evaluate(build, index))
    if isinstance(value, Tup) or (isinstance(value, Const) and isinstance(value.value, tuple)):
        items = value.items if isinstance(value, Tup) else tuple(map(Const, value.value))
        chosen, place = _static_index(build, index)
        if isinstance(chosen, slice):
            return Tup(items[chosen])
        if type(chosen) is int and -len(items) <= chosen < len(items):
            return items[chosen]
    value = build.atom(value)
    if not isinstance(index, ast.Slice) and (item := calls.special(build, value, "__getitem__", [index])) is not None:
        return item
    if isinstance(value, Var) and isinstance(index, ast.Slice) and parts.is_part(build, value, index):
        if value not in build.displays:  # what begins with items is taken apart as a whole
            return parts.copied(build, value, index)
    if isinstance(value, Const) and (name := joining_name(value.value)) and _are_values(index):
        return build.operation(name, [subscript(build, index)], {})
    if isinstance(value, Const) and value.path:
        return _static_item(build, value, evaluate(build, index) if place is None else place)
    if (owner := build.param_path(value)) is not None and (
        not isinstance(index, ast.Slice | ast.Tuple) or type(build.param_values[owner]) in DICTS
    ):
        found = build.param_values[owner]
        if (
            type(found) in DICTS
            or (type(found) is list and rows.is_list_of_rows(found))
            or (type(found) in (list, tuple) and host_items.is_host_list(found))
        ):
            return _host_item(build, value, owner, evaluate(build, index))
    place = clipping.clipped(build, value, subscript(build, index) if place is None else place)
    if owner is not None and isinstance(place, Var) and type(build.param_values[owner]) in (list, tuple, *DICTS):
        if (listed := rows.records_under(build, owner, place)) is not None:
            return listed
        read = lambda build, lists: build.emit("getitem", lists, place)  # noqa: E731
        if (number := complexes.item_of_given(build, value, read)) is not None:
            return number
        if (listed := rows.list_of_param(build, owner, read)) is not None:
            _require_place(build, place, build.emit("builtin.len", value))
            return listed
    found = _guarded_item(build, value, place)
    return build.emit("getitem", value, place) if found is None else found


def _guarded_item(build: Builder, value: Atom, key: Operand) -> Value | None:
    """Guards the kind of an item of a list or dict of the caller, under a key that is known when the region begins.

    An object among them is reached by a path of its own, as its attributes are guarded too.
    """
    path, place = build.param_path(value), build.param_path(key) if isinstance(key, Var) else None
    owner = build.param_values[path] if path is not None else None
    is_known = place is not None or (isinstance(key, Const) and not key.path)
    if not isinstance(owner, list | tuple | dict) or type(owner) not in (list, tuple, dict) or not is_known:
        return None
    known = build.param_values[place] if place is not None else key.value  # type: ignore[union-attr]
    special.check_operation("getitem", [owner, known], span=build.span)
    try:
        item = owner[known]
    except (LookupError, TypeError):
        return None
    text = f"{path}[{place if place is not None else repr(known)}]"
    if type(item) is complex:
        build.watch(None, f"type({text})", complex)
        return complexes.given(build, text, item)
    if item is None or isinstance(item, bool | str | bytes):
        build.watch(None, f"type({text})", type(item))
        return None
    build.modules.setdefault(text, item)
    return build.live_in(text, item) if rows.is_record(item) and not isinstance(item, rows.RECORDS) else None


def _are_values(index: ast.expr) -> bool:
    """Whether several arrays or numbers are joined, and no ranges are written."""
    ranges = (ast.Slice, ast.Starred)
    return isinstance(index, ast.Tuple) and not any(
        isinstance(item, ranges) or (isinstance(item, ast.Constant) and isinstance(item.value, str))
        for item in index.elts
    )


def _require_place(build: Builder, place: Atom, count: Atom) -> None:
    """The item at a place is there, also if nothing reads a part of it."""
    build.add(Require(build.emit("lt", place, count), "a list is read behind its end", build.span))
    start = Const(-count.value) if isinstance(count, Const) else build.emit("neg", count)
    build.add(Require(build.emit("ge", place, start), "a list is read before its start", build.span))


def _host_item(build: Builder, value: Atom, path: str, key: Value) -> Value:
    """An item of a dict of the caller under a key that is known now, or of a list of records."""
    owner, known = build.param_values[path], structures.key_of(key)
    if (table := dictionaries.unknown_key(build, value, key)) is not None:
        return table.item(build, key)
    if isinstance(owner, dict) and type(owner) is not dict:
        held = _held_item(build, path, place := build.atom(key))
        return build.emit("getitem", value, place) if held is None else held
    if (chosen := choices.under_words(build, path, host_items.items_of(build, value), key)) is not None:
        return chosen
    if isinstance(owner, list) and rows.is_list_of_rows(owner):
        found = _guarded_item(build, value, place := build.atom(key))
        if found is not None:
            return found
        _require_place(build, place, build.emit("builtin.len", value))
        return rows.item_of(build, value, place)
    if isinstance(owner, list | tuple):
        items = host_items.items_of(build, value)
        assert isinstance(items, list)
        if isinstance(known, int) and -len(items) <= known < len(items):
            return items[known]
        unrolling.must_be_known(build, key)
        _require_place(build, place := build.atom(key), Const(len(items)))
        return choices.at(build, path, items, place)
    if known is not None and known in owner:
        return build.live_in(f"{path}[{known!r}]", owner[known])
    found = _guarded_item(build, value, place := build.atom(key))
    if found is None and not isinstance(place, Const):
        found = rows.records_under(build, path, place)
    return build.emit("getitem", value, place) if found is None else found


def _held_item(build: Builder, path: str, key: Atom) -> Value | None:
    """What a dict with default values, or an ordered one, holds under a key that is known when the region begins.

    It is read by ``get``, which puts nothing into the dict where there is no such key.
    """
    owner, place = build.param_values[path], build.param_path(key)
    known = build.param_values[place] if place is not None else structures.key_of(key)
    if type(owner) not in DICTS or type(known) not in (int, str) or known not in owner:
        return None
    return build.live_in(f"{path}.get({place or repr(known)})", owner[known])


def _static_index(build: Builder, index: ast.expr) -> tuple[Any, Operand | None]:
    """The index if it is known now, and the operand for it if it had to be evaluated."""
    try:
        return (ast.literal_eval(index) if not isinstance(index, ast.Slice) else _literal_slice(index)), None
    except ValueError:
        place = subscript(build, index)
        return (place.value if isinstance(place, Const) else None), place


def _literal_slice(index: ast.Slice) -> slice:
    parts = (index.lower, index.upper, index.step)
    return slice(*(ast.literal_eval(part) if part is not None else None for part in parts))


def _static_item(build: Builder, value: Const, atom: Value | Operand) -> Value:
    if value in build.strangers:
        raise build.refuse(
            "unsupported-value", f"'{value.path}' is an object of another module; pass it as an argument"
        )
    if isinstance(atom, Const) and isinstance(atom.value, (int, str)):
        path = f"{value.path}[{atom.value!r}]"
        try:
            return build.live_in(path, value.value[atom.value])
        except LookupError as error:
            raise build.refuse("requirement", f"'{path}' raises {type(error).__name__}: {error}") from None
    items = host_items.items_of(build, value)
    if isinstance(atom, Structure) and (found := choices.under_words(build, value.path, items, atom)) is not None:
        return found
    if isinstance(items, list) and isinstance(atom, Var):
        unrolling.must_be_known(build, atom)
        return choices.at(build, value.path, items, atom)
    raise build.refuse("unsupported-value", f"'{value.path}' is subscripted by something not known before the loop")


def subscript(build: Builder, index: ast.expr) -> Operand:
    """The operand of a subscript: an atom, a slice, or a tuple of those."""
    match index:
        case ast.Tuple(elts=items):
            return Group("tuple", tuple(subscript(build, item) for item in items))
        case ast.Slice(lower=lo, upper=hi, step=step):
            return Slice(*(Const(None) if part is None else evaluate_atom(build, part) for part in (lo, hi, step)))
        case ast.List():
            return Group("list", tuple(evaluate_atom(build, item) for item in index.elts))
    value = evaluate(build, index)
    if isinstance(value, Tup):
        return Group("tuple", tuple(_place(build, item) for item in value.items))
    return _place(build, value)


def _place(build: Builder, value: Value) -> Operand:
    """An index that is a value: a list known item by item, a slice, or an atom."""
    if isinstance(value, Structure) and isinstance(value, structures.Shelf | cuts.Cut):
        return value.operand(build)
    return build.atom(value)


def attribute(build: Builder, value: Value, name: str) -> Value:
    """``value.name``; of a static value it is resolved now."""
    if name in ("real", "imag") and (number := complexes.begun(build, value)) is not None:
        value = number
    if isinstance(value, Structure):
        return value.attribute(build, name)
    value = build.atom(value)
    if build.replaced and (found := functional.attribute(build, value, name)) is not None:
        return found
    if (found := attributes.held(build, value, name)) is not None:
        return found
    path = value.path if isinstance(value, Const) else build.object_path(value)
    if path and (getter := getter_of(build, type(build.given(value)), name)) is not None:
        reading.watch(build, build.given(value), path, name)
        return calls.inline(build, Const(getter, f"{path}.{name}"), getter, [value], {})
    if isinstance(value, Const) and value.path:
        found = read_attribute(build, value.value, value.path, name)
        reading.watch(build, value.value, value.path, name)
        if value in build.strangers:
            return of_stranger(build, value, name, found)
        if isinstance(value.value, types.ModuleType):
            return _of_module(build, value, name, found)
        return build.live_in(f"{value.path}.{name}", found)
    if path:
        found = read_attribute(build, build.param_values[path], path, name)
        reading.watch(build, build.param_values[path], path, name)
        return build.live_in(f"{path}.{name}", found)
    if (found := differentiation.attribute(build, value, name)) is not None:
        return found
    return build.emit("attribute", value, Const(name), hint=name if name.isidentifier() else "t")


def read_attribute(build: Builder, owner: Any, path: str, name: str) -> Any:
    """The attribute, if it is held by an object or its class: one that code computes may differ in each iteration."""

    if (path, name) in build.attributes:
        raise build.refuse("effect-order", f"the attribute '{path}.{name}' is set inside the loop")
    computed = is_computed(owner, name)
    if computed and isinstance(owner, (random.Random, *numpy_generators())):
        raise build.refuse("random-order", f"'{path}.{name}' draws random numbers, and their order must stay")
    if computed:
        raise build.refuse("unsupported-value", f"'{path}.{name}' is computed at each access")
    if (found := getattr(owner, name, MISSING)) is MISSING:
        raise build.refuse("unsupported-value", f"'{path}' has no attribute '{name}'")
    return found


def getter_of(build: Builder, kind: type, name: str) -> types.FunctionType | None:
    """What runs where a property of an object of a class is read; None of any other attribute."""
    declared = inspect.getattr_static(kind, name, None)
    if type(declared) is not property or not isinstance(declared.fget, types.FunctionType):
        return None
    if reads_its_own_way(kind):
        return None
    build.watch(kind, f".{name}", declared)
    return declared.fget


def reads_its_own_way(kind: type) -> bool:
    """Whether a class says itself how attributes of its objects are read, at first or where there is none."""
    import torch

    base = torch.nn.Module if issubclass(kind, torch.nn.Module) else object
    reader = getattr(base, "__getattr__", None)
    return kind.__getattribute__ is not base.__getattribute__ or getattr(kind, "__getattr__", None) is not reader


def watch_module(build: Builder, module: types.ModuleType, name: str, found: Any) -> None:
    """A variant holds while a module keeps what was read of it: of a library, its functions."""
    if is_library(module):
        if callable(found) and not isinstance(found, type):
            build.watch(module, f".{name}", found)
    elif name in vars(module):
        build.watch(vars(module), f".get({name!r})", found)
    else:
        build.watch(module, f".{name}", found)


def _of_module(build: Builder, owner: Const, name: str, found: Any) -> Atom:
    path = f"{owner.path}.{name}"
    if is_library(owner.value):
        watch_module(build, owner.value, name, found)
        return Const(found) if type(found) in LITERALS else Const(found, path)
    if not build.is_known_by_itself(found) and type(found) not in LITERALS:
        return build.live_in(path, found)
    watch_module(build, owner.value, name, found)
    made = spelled(found, path)
    if made.path and isinstance(found, types.FunctionType):
        build.modules.setdefault(path, found)
    return made


def of_stranger(build: Builder, owner: Const, name: str, found: Any) -> Const:
    """An attribute of a module, class or function that the region does not reach by the same path."""
    path = f"{owner.path}.{name}"
    method = isinstance(found, types.MethodType) and isinstance(found.__self__, type)
    if not (method or type(found) in LITERALS or build.is_known_by_itself(found)):
        raise build.refuse("unsupported-value", f"'{path}' is an object of another module; pass it as an argument")
    if isinstance(owner.value, types.ModuleType):
        watch_module(build, owner.value, name, found)
    elif isinstance(found, types.MethodType):
        build.watch(owner.value, f".{name}.__func__", found.__func__)
    else:
        build.watch(owner.value, f".{name}", found)
    return build.stranger(found, path)
