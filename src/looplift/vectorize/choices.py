"""Branches in an iteration that runs by itself, where all lanes take the same one: an ``if``, with the names it gives.

for k in range(n):                          for k in range(n):
    for i in range(k + 1, n):                   if k + 1 < n:
        A[i] = A[i] - A[k] * A[i, k]                A[k + 1:n] = A[k + 1:n] - A[k] * A[k + 1:n, k, None]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from looplift.ir.array import Assign, Choose, Node, reachable
from looplift.ir.facts import EITHER, Kind
from looplift.ir.grammar import UNDEFINED, Append, Atom, Carry, Const, Let, Loop, Perform, Range, Var, walk
from looplift.vectorize import carried_inputs, nodes, numbers, settled, stores, unbounded, views
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val


class Side(NamedTuple):
    """What lowers a side of a choice, and what the variables are at its end."""

    lower: Callable[[], None]
    values: Sequence[Atom]


def choose(context: Context, cond: Node, roots: Iterable[Var], variables: list[Var], then: Side, orelse: Side) -> None:
    """Lower both sides into an ``if`` and give the variables their names; ``roots`` are what is stored into."""
    for root in roots:
        if root in context.arrays:  # one side alone would give it its name, or another value
            stores.bind(context, context.arrays[root])
    step = Choose(cond, [], [])
    kept = dict(context.vals)
    found: list[list[Node]] = []
    for steps, side in ((step.then, then), (step.orelse, orelse)):
        with context.nested(steps):
            side.lower()
            kinds = [context.facts.kind(var) for var in variables]
            found.append([_value(context, atom, kind) for atom, kind in zip(side.values, kinds, strict=True)])
    for var, one, other in zip(variables, *found, strict=True):
        kept[var] = Val(_named(context, step, var, one, other))
    context.vals = kept
    context.add(step)


def _named(context: Context, step: Choose, var: Var, then: Node, orelse: Node) -> Node:
    """The name that holds a variable after an ``if``."""
    kind, name = context.facts.kind(var), context.fresh_name(var.hint)
    axes = nodes.merge_axes(then.axes, orelse.axes)
    for steps, value in ((step.then, then), (step.orelse, orelse)):
        made = value if value.axes == axes else Node("spread", (value,), axes, kind, {}, value.hint)
        steps.append(Assign(name, nodes.as_array(made, kind)))
    bits = max(numbers.bits_of(then), numbers.bits_of(orelse)) if kind.family == "int" else 64
    made = Node("name", (), axes, kind, {"text": name, "local": True, "bits": bits}, name)
    made.attrs["unbounded"] = any(unbounded.is_unbounded(context, side) for side in (then, orelse))
    carried_inputs.note_choice(context, made, then, orelse)
    return made


def _value(context: Context, atom: Atom, kind: Kind) -> Node:
    """A value at the end of one side; what is not bound there is never read, and is nothing."""
    from looplift.vectorize.lower import fitting

    if kind == EITHER:
        return _handed_out(context, atom)
    return fitting(nodes.const(0) if atom is UNDEFINED else context.node(atom), kind)


def _handed_out(context: Context, atom: Atom) -> Node:
    """One side of what is either of one kind or of another, as it is handed out."""
    val = context.val(atom)
    if val.sequence is not None or val.items is not None or val.node.axes:
        raise context.refuse(
            "mixed-kinds", f"'{getattr(atom, 'hint', atom)}' is a list or tuple on one side of an 'if'"
        )
    if atom in context.facts.handed:
        settled.check(context, atom)
    views.check_result(context, "return", atom)
    return val.node


def runs_at_times(context: Context, loop: Loop) -> Node | None:
    """Whether a loop inside of one that stays runs at all, where that is not the same in all iterations of this."""
    domain = loop.domain
    if not context.serial_loops or not isinstance(domain, Range) or loop in context.strips.values():
        return None
    lo, hi, step = context.node(domain.lo), context.node(domain.hi), domain.step
    if lo.axes or hi.axes or not isinstance(step, Const) or type(step.value) is not int:
        return None
    first, last = (lo, hi) if step.value > 0 else (hi, lo)
    gap = nodes.minus(last, first)
    moves = any(node.op == "name" and node.attrs.get("local") for node in reachable([gap]))
    if nodes.least(gap) >= 1 or not moves or not all(_is_plain(context, carry) for carry in loop.carries):
        return None
    made = {one.var for one in walk(loop.body) if isinstance(one, Let)}
    if any(isinstance(one, Perform) or (isinstance(one, Append) and one.ref not in made) for one in walk(loop.body)):
        return None
    return nodes.compare("lt", first, last)


def _is_plain(context: Context, carry: Carry) -> bool:
    """Whether what is carried is a number or an array, and is there, of the same kind, without the loop."""
    facts = context.facts
    if carry.init is UNDEFINED or carry.after in context.accumulators or carry.init in facts.mixed:
        return False
    kind = facts.kind(carry.after)
    is_same = carry.after not in facts.mixed and facts.kind(carry.init) == kind
    return is_same and context.lookup(carry.init).dims is None and (kind.is_array or kind.is_number)
