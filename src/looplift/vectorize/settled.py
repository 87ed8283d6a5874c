"""Where a value that began as a Python number surely is a tensor: ``best = -inf; if v > best: best = v; return best``,
and where one that began as an integer surely is a float: ``total = 0; while x > 1: total += x``.

after the loop            some iteration took a tensor
on the sides of an if     the side that is taken has one
arithmetic                all operands that may be numbers are tensors
"""

from __future__ import annotations

from typing import Any

from looplift.ir.array import Assign, Axis, Node, merge_axes
from looplift.ir.facts import Kind
from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Atom,
    Carry,
    If,
    Let,
    Loop,
    Op,
    Perform,
    Statement,
    Store,
    Var,
    atoms,
    operands,
)
from looplift.ops import table
from looplift.vectorize import nodes, numbers
from looplift.vectorize.begun import never_raises
from looplift.vectorize.context import Context

Known = dict[Var, bool]
"""What is assumed of carried values at the entry of an iteration."""


def check_operands(context: Context, statement: Statement) -> None:
    """Require that what a statement hands out is a tensor in all lanes that run."""
    match statement:
        case Append(value=value):
            check(context, value)
        case Store(index=index):
            for atom in atoms(index):
                if context.facts.kind(atom).rank:
                    check(context, atom)
        case Let(op=op) if op.name in table.ARITHMETIC:
            _check_defined(context, op)
        case Let(op=op) | Perform(op=op) if isinstance(op, Op):
            for atom in operands(op):
                check(context, atom)


def _check_defined(context: Context, op: Op) -> None:
    """Require of a quotient or power that one operand is a tensor, or that it is one that numbers have."""
    facts = context.facts
    mixed = [a for a in operands(op) if isinstance(a, Var) and a in facts.mixed and facts.kind(a).is_array]
    if not mixed or never_raises(op):
        return
    if not all(a in mixed or facts.kind(a).is_number for a in operands(op)):
        return
    decides = context.node(op.args[0] if op.name == "pow" else op.args[1])  # type: ignore[arg-type]
    if op.name != "pow" and _is_asked(context.mask, nodes.structure_key(decides)):
        return
    defined: Node = nodes.const(False)
    for atom in mixed:
        side = _is_settled(context, atom, facts.kind(atom), {})
        defined = defined if side is None else _either(side, defined)
    if not decides.kind.rank:
        test = nodes.compare("gt" if op.name == "pow" else "ne", decides, nodes.const(0))
        defined = _either(defined, test)
    if nodes.is_const(defined, False):
        why = f"'{mixed[0].hint}' is a number in some iterations, where Python may raise, and a tensor in others"
        raise context.refuse("mixed-kinds", why)
    context.check(defined)


def _is_asked(mask: Node | None, key: Any) -> bool:
    """Whether lanes run only where a divisor is none of zero: ``if count > 0: mean = total / count``."""
    if mask is None or mask.op != "elementwise":
        return False
    if mask.attrs["name"] == "and_":
        return any(_is_asked(side, key) for side in mask.args)
    if mask.attrs["name"] not in ("gt", "ne") or not nodes.is_const(mask.args[1], 0):
        return False
    return nodes.structure_key(mask.args[0]) == key


def check(context: Context, atom: Atom) -> None:
    """Require that a value is a tensor, in the lanes that run."""
    if not isinstance(atom, Var) or atom not in context.facts.handed:
        return
    kind = context.facts.kind(atom)
    found = _is_settled(context, atom, kind, {}) if kind.is_array or kind.family in ("int", "float") else None
    if found is None or nodes.is_const(found, False):
        first, last = ("a number", "a tensor") if kind.is_array else ("of one type", "of another")
        raise context.refuse("mixed-kinds", f"'{atom.hint}' is {first} in one iteration and {last} in another")
    context.check(found)


def _is_settled(context: Context, atom: Atom, kind: Kind, known: Known) -> Node | None:
    """Where a value is of the kind that it ends with, a tensor or a type of number; None if that is not seen."""
    if atom is UNDEFINED:
        return nodes.const(True)
    if isinstance(atom, Var) and atom in known:
        return nodes.const(known[atom])
    if not isinstance(atom, Var) or atom not in context.facts.mixed:
        found = context.facts[atom].kind
        return nodes.const(found.is_array if kind.is_array else found.family == kind.family)
    match context.flow.definition.get(atom):
        case Let(op=op) if op.name in table.ARITHMETIC and not op.name.startswith("builtin.m"):
            return _all_settled(context, op, kind, known)
        case If(cond=cond, phis=phis):
            phi = next(p for p in phis if p.var is atom)
            return _on_sides(context, cond, phi.then, phi.orelse, kind, known)
        case Loop(carries=carries) as loop:
            carry = next((c for c in carries if c.after is atom), None)
            return None if carry is None else _after(context, loop, carry, kind, known)
    return None


def _all_settled(context: Context, op: Op, kind: Kind, known: Known) -> Node | None:
    mixed = [a for a in operands(op) if isinstance(a, Var) and a in context.facts.mixed]
    found = [_is_settled(context, a, kind, known) for a in mixed]
    if _one_is_enough(context, mixed, kind):
        either: Node = nodes.const(False)
        for side in found:
            either = either if side is None or nodes.is_const(either, True) else _either(side, either)
        return either
    result: Node = nodes.const(True)
    for side in found:
        if side is None:
            return None
        result = side if nodes.is_const(result, True) else nodes.both(result, side)
    return result


def _one_is_enough(context: Context, mixed: list[Var], kind: Kind) -> bool:
    """Whether a tensor among these operands makes a tensor of the type in question, whatever the others are: one of no
    dimensions, as a row has another shape beside a number than beside a row."""
    if kind.rank or any(context.facts.kind(a).rank for a in mixed):
        return False
    if kind.family != "tensor" or kind.dtype is None or not kind.dtype.is_floating_point:
        return False
    return all(context.facts.kind(a).family == "tensor" and context.facts.kind(a).dtype == kind.dtype for a in mixed)


def _on_sides(context: Context, cond: Atom, then: Atom, orelse: Atom, kind: Kind, known: Known) -> Node | None:
    first, second = _is_settled(context, then, kind, known), _is_settled(context, orelse, kind, known)
    if first is None or second is None:
        return None
    if all(nodes.is_const(side, True) for side in (first, second)):
        return first
    if all(nodes.is_const(side, False) for side in (first, second)):
        return first
    if isinstance(cond, Var) and cond not in context.vals:
        return None
    test = numbers.holds(context, cond)
    return _either(_both(test, first), _both(nodes.negated(test), second))


def _both(a: Node, b: Node) -> Node:
    return b if nodes.is_const(b, False) else nodes.both(a, b)


def _either(a: Node, b: Node) -> Node:
    if nodes.is_const(a, False) or nodes.is_const(b, True):
        return b
    return a if nodes.is_const(b, False) or nodes.is_const(a, True) else nodes.elementwise("or_", [a, b], nodes.BOOL)


def _after(context: Context, loop: Loop, carry: Carry, kind: Kind, known: Known) -> Node | None:
    """Some iteration makes it what it ends as, and none makes it what it began as again."""
    before = _is_settled(context, carry.init, kind, known)
    kept = _is_settled(context, carry.next, kind, known | {carry.inside: True})
    made = _is_settled(context, carry.next, kind, known | {carry.inside: False})
    if before is None or made is None or kept is None or not nodes.is_const(kept, True):
        return None
    if nodes.is_const(before, True) or nodes.is_const(made, False):
        return before
    if carry in context.settles:
        flag = context.settles[carry]
        if flag.op == "name":
            flag = Node("name", (), flag.axes, flag.kind, dict(flag.attrs), flag.hint)  # what it is after the loop
        return _either(flag, before)
    if loop in context.strips:
        return made if nodes.is_const(made, True) else None
    if loop not in context.lanes_of:
        return None
    axis, mask = context.lanes_of[loop]
    same = mask is None or axis not in mask.axes
    if axis.is_ragged and axis.lengths is not None and same and nodes.is_const(made, True):
        return _either(nodes.both(mask, nodes.compare("gt", axis.lengths, nodes.const(0))), before)
    made = nodes.both(mask, made)
    return None if axis.is_ragged and axis not in made.axes else _either(_some(made, axis), before)


def _some(flag: Node, axis: Axis) -> Node:
    """Whether a flag holds in one of an axis' iterations, of which there are some."""
    if axis not in flag.axes:
        return flag
    rest = merge_axes(tuple(a for a in flag.axes if a is not axis), axis.parents)
    return Node("reduce", (flag,), rest, nodes.BOOL, {"axes": (axis,), "operator": "or"}, "some")


def begin_notes(context: Context, carries: list[Carry], *, all_run: bool) -> list[Carry]:
    """Make names for where an iteration has made of carried numbers what they end as, if something is handed out whose
    kind depends on that; ``all_run``: all lanes have an iteration."""
    noted = [one for one in carries if _is_asked_for(context, one)]
    if all_run:
        noted = [one for one in noted if one.next in context.facts.mixed]
    axes = context.active_axes()
    for carry in noted:
        name, nowhere = context.fresh_name("ran"), nodes.const(False)
        context.add(Assign(name, Node("spread", (nowhere,), axes, nodes.BOOL, {}, name) if axes else nowhere))
        context.settles[carry] = Node("name", (), axes, nodes.BOOL, {"text": name, "local": True}, name)
    return noted


def _is_asked_for(context: Context, carry: Carry) -> bool:
    facts = context.facts
    if not facts.handed or carry.init is UNDEFINED or carry.after not in facts.mixed:
        return False
    return facts[carry.init].kind.is_number or carry.init in facts.mixed


def note_lanes(context: Context, carry: Carry, axis: Axis) -> None:
    """The same of a sum whose terms were made in lanes, while the loop around stays."""
    if _is_asked_for(context, carry):
        made = _is_settled(context, carry.next, context.facts.kind(carry.after), {carry.inside: False})
        if made is not None:
            context.settles[carry] = _some(made, axis)


def note_iteration(context: Context, noted: list[Carry], active: Node | None) -> None:
    """At the end of an iteration; ``active`` is where it ran, None where it ran everywhere."""
    for carry in noted:
        flag = context.settles[carry]
        made = _is_settled(context, carry.next, context.facts.kind(carry.after), {carry.inside: False})
        if made is None:
            del context.settles[carry]
        elif not nodes.is_const(made, False):
            now = made if active is None else nodes.both(active, made)
            now = now if nodes.is_const(now, True) else nodes.elementwise("or_", [flag, now], nodes.BOOL)
            context.add(Assign(flag.attrs["text"], now))
