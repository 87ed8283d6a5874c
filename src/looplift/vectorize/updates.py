"""Statements in, those out that read a place, combine it with a value and write it back: updates of that place.

t = out[i]; s = f(t, v); out[i] = s          out[i] = f(out[i], v), for f that is associative
t = out[i]; if v > t: out[i] = v             out[i] = max(out[i], v)
"""

from __future__ import annotations

from looplift.ir.facts import Facts, Kind
from looplift.ir.grammar import (
    Append,
    Atom,
    Block,
    Const,
    Group,
    If,
    Let,
    Operand,
    Slice,
    Statement,
    Store,
    Var,
    children,
    walk,
)
from looplift.ops.table import ARITHMETIC
from looplift.vectorize.context import Update, Updates
from looplift.vectorize.flow import Flow
from looplift.vectorize.nodes import may_have_gradient

OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "builtin.max": "max", "builtin.min": "min", "torch.maximum": "maximum",
    "torch.minimum": "minimum", "torch.max": "maximum", "torch.min": "minimum", "np.maximum": "maximum",
    "np.minimum": "minimum", "torch.add": "add", "torch.mul": "mul",
}  # fmt: skip
CHOICES = {("gt", 1): "max", ("lt", 0): "max", ("lt", 1): "min", ("gt", 0): "min"}
"""A comparison, the position of the place that it reads, and what a store under it is."""


def updates_of(flow: Flow, facts: Facts, *, needs_grad: bool) -> Updates:
    """All updates of a function. With gradients only sums: others depend on the order, where values are equal."""
    found = Updates()
    blocks = [flow.function.body, *(inner for s in walk(flow.function.body) for inner in children(s))]
    for block in blocks:
        for position, statement in enumerate(block.statements):
            before = block.statements[:position]
            if isinstance(statement, Store) and statement.combine is None:
                _combined(flow, facts, found, statement, before)
            elif isinstance(statement, If) and not statement.phis and not statement.orelse:
                _chosen(flow, facts, found, statement, before)
    if needs_grad:
        floating = {s: u for s, u in found.of.items() if may_have_gradient(facts.kind(u.ref).dtype)}
        for statement, update in floating.items():
            if update.operator not in ("add", "sub"):
                found.absorbed -= update.reads
                del found.of[statement]
    return found


def _combined(flow: Flow, facts: Facts, found: Updates, store: Store, before: tuple[Statement, ...]) -> None:
    made = flow.definition.get(store.value) if isinstance(store.value, Var) else None
    if not isinstance(made, Let) or made.op.name not in OPERATORS or len(made.op.args) != 2 or made.op.kwargs:
        return
    for place in (0,) if made.op.name == "sub" else (0, 1):
        read, value = made.op.args[place], made.op.args[1 - place]
        if not isinstance(read, Var) or not isinstance(value, Var | Const) or value is read:
            continue
        if value in facts.mixed and made.op.name not in ARITHMETIC:
            continue  # it raises where that is a number
        alone = len(flow.users.get(made.var, ())) == 1 and len(flow.users.get(read, ())) == 1
        if alone and _is_place(flow, store, read, before) and _same_kind(facts, read, value):
            found.of[store] = Update(
                store.ref,
                store.index,
                OPERATORS[made.op.name],
                value,
                frozenset((made.var, read)),
                leads=place == 1 and made.op.name in ("builtin.max", "builtin.min"),
            )
            found.absorbed |= {made.var, read}
            return


def _chosen(flow: Flow, facts: Facts, found: Updates, branch: If, before: tuple[Statement, ...]) -> None:
    test = flow.definition.get(branch.cond) if isinstance(branch.cond, Var) else None
    *reads, store = branch.then.statements or (None,)
    if not isinstance(store, Store) or store.combine is not None or not isinstance(test, Let):
        return
    if not all(isinstance(s, Let) and s.op.name in ("getitem", "iter_item") for s in reads) or len(test.op.args) != 2:
        return
    steps = (*before, *reads)
    for place in (0, 1):
        operator = CHOICES.get((test.op.name, place))
        read, value = test.op.args[place], test.op.args[1 - place]
        if operator is None or not isinstance(read, Var) or not isinstance(value, Var | Const):
            continue
        alone = len(flow.users.get(test.var, ())) == 1 and len(flow.users.get(read, ())) == 1
        if alone and _same(flow, value, store.value, steps) and _is_place(flow, store, read, steps):
            if _same_kind(facts, read, value):
                place_read = flow.definition[read]
                assert isinstance(place_read, Let) and isinstance(place_read.op.args[0], Var)
                found.of[branch] = Update(
                    place_read.op.args[0], place_read.op.args[1], operator, value, frozenset((test.var, read))
                )
                found.absorbed |= {test.var, read}
                return


def _is_place(flow: Flow, store: Store, read: Var, before: tuple[Statement, ...]) -> bool:
    """Whether a variable is what the store's place holds when it is written: nothing writes in between."""
    made = flow.definition.get(read)
    if not isinstance(made, Let) or made.op.name not in ("getitem", "iter_item") or made not in before:
        return False
    owner, index = made.op.args
    if not _same(flow, owner, store.ref, before) or not _same(flow, index, store.index, before):
        return False
    return not _any_writes(before[before.index(made) + 1 :])


def _any_writes(statements: tuple[Statement, ...]) -> bool:
    return any(_writes(inner) for s in statements for inner in (s, *walk(Block((s,)))))


def _writes(statement: Statement) -> bool:
    if isinstance(statement, Let):
        return statement.op.name.startswith(("inplace.", "call"))
    return isinstance(statement, Store | Append)


def _same(flow: Flow, a: Operand, b: Operand, steps: tuple[Statement, ...]) -> bool:
    """Whether two operands are one value: the same variable, or the same place read twice among these statements, of
    which none in between writes."""
    match a, b:
        case Group(), Group():
            return len(a.items) == len(b.items) and all(
                _same(flow, x, y, steps) for x, y in zip(a.items, b.items, strict=True)
            )
        case Slice(), Slice():
            return all(_same(flow, x, y, steps) for x, y in ((a.lo, b.lo), (a.hi, b.hi), (a.step, b.step)))
        case Const(), Const():
            return type(a.value) is type(b.value) and repr(a.value) == repr(b.value)
        case Var(), Var() if a is not b:
            one, other = flow.definition.get(a), flow.definition.get(b)
            if not (isinstance(one, Let) and isinstance(other, Let)) or one.op.name != other.op.name:
                return False
            if one.op.name not in ("getitem", "iter_item", "add", "sub") or not _alike(one, other, steps):
                return False
            return all(_same(flow, x, y, steps) for x, y in zip(one.op.args, other.op.args, strict=True))
    return a is b


def _alike(one: Let, other: Let, steps: tuple[Statement, ...]) -> bool:
    """Whether two equal operations give one value: no statement between them writes to what they read."""
    if one.op.name in ("add", "sub"):
        return True
    if one not in steps or other not in steps:
        return False
    first, last = sorted((steps.index(one), steps.index(other)))
    return not _any_writes(steps[first:last])


def _same_kind(facts: Facts, read: Var, value: Atom) -> bool:
    """Whether a combination keeps the dtype and the shape of the place."""
    place, other = facts.kind(read), facts.kind(value)
    if not place.is_array or "16" in str(place.dtype) or "bool" in str(place.dtype) or other.rank > place.rank:
        return False
    return other.dtype == place.dtype if other.is_array else _fits(place, other)


def _fits(place: Kind, number: Kind) -> bool:
    floating = "float" in str(place.dtype)
    return number.family == "int" or (number.family == "float" and floating)
