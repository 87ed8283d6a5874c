"""Where a value that began as a Python number surely is a tensor: ``best = -inf; if v > best: best = v; return best``.

after the loop            some iteration took a tensor
on the sides of an if     the side that is taken has one
arithmetic                all operands that may be numbers are tensors
"""

from __future__ import annotations

from looplift.ir.array import Axis, Node, merge_axes
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
    Var,
    operands,
)
from looplift.ops import table
from looplift.vectorize import lists, nodes
from looplift.vectorize.context import Context

Known = dict[Var, bool]
"""What is assumed of carried values at the entry of an iteration."""


def check_operands(context: Context, statement: Statement) -> None:
    """Require that what a statement hands out is a tensor in all lanes that run."""
    match statement:
        case Append(value=value):
            check(context, value)
        case Let(op=op) | Perform(op=op) if isinstance(op, Op):
            if isinstance(statement, Perform) or op.name not in table.ARITHMETIC:
                for atom in operands(op):
                    check(context, atom)


def check(context: Context, atom: Atom) -> None:
    """Require that a value is a tensor, in the lanes that run."""
    if not isinstance(atom, Var) or atom not in context.facts.handed:
        return
    found = _is_tensor(context, atom, {}) if context.facts.kind(atom).is_array else None
    if found is None or nodes.is_const(found, False):
        message = f"'{atom.hint}' is a number in one iteration and a tensor in another"
        raise context.refuse("mixed-kinds", message)
    context.check(found)


def _is_tensor(context: Context, atom: Atom, known: Known) -> Node | None:
    """Where a value is a tensor; None if that is not seen."""
    if not isinstance(atom, Var):
        return nodes.const(atom is UNDEFINED)
    if atom in known:
        return nodes.const(known[atom])
    if atom not in context.facts.mixed:
        return nodes.const(context.facts.kind(atom).is_array)
    match context.flow.definition.get(atom):
        case Let(op=op) if op.name in table.ARITHMETIC and not op.name.startswith("builtin.m"):
            return _all_tensors(context, op, known)
        case If(cond=cond, phis=phis):
            phi = next(p for p in phis if p.var is atom)
            return _on_sides(context, cond, phi.then, phi.orelse, known)
        case Loop(carries=carries) as loop:
            carry = next((c for c in carries if c.after is atom), None)
            return None if carry is None else _after(context, loop, carry, known)
    return None


def _all_tensors(context: Context, op: Op, known: Known) -> Node | None:
    found = [_is_tensor(context, a, known) for a in operands(op) if isinstance(a, Var) and a in context.facts.mixed]
    result: Node = nodes.const(True)
    for side in found:
        if side is None:
            return None
        result = side if nodes.is_const(result, True) else nodes.both(result, side)
    return result


def _on_sides(context: Context, cond: Atom, then: Atom, orelse: Atom, known: Known) -> Node | None:
    first, second = _is_tensor(context, then, known), _is_tensor(context, orelse, known)
    if first is None or second is None:
        return None
    if all(nodes.is_const(side, True) for side in (first, second)):
        return first
    if all(nodes.is_const(side, False) for side in (first, second)):
        return first
    if isinstance(cond, Var) and cond not in context.vals:
        return None
    test = lists.holds(context, cond)
    return _either(_both(test, first), _both(nodes.negated(test), second))


def _both(a: Node, b: Node) -> Node:
    return b if nodes.is_const(b, False) else nodes.both(a, b)


def _either(a: Node, b: Node) -> Node:
    if nodes.is_const(a, False):
        return b
    return a if nodes.is_const(b, False) else nodes.elementwise("or_", [a, b], nodes.BOOL)


def _after(context: Context, loop: Loop, carry: Carry, known: Known) -> Node | None:
    """Some iteration makes it a tensor, and none makes it a number again."""
    before = _is_tensor(context, carry.init, known)
    kept = _is_tensor(context, carry.next, known | {carry.inside: True})
    made = _is_tensor(context, carry.next, known | {carry.inside: False})
    if before is None or made is None or kept is None or not nodes.is_const(kept, True):
        return None
    if nodes.is_const(before, True) or nodes.is_const(made, False):
        return before
    if loop in context.strips:
        return made if nodes.is_const(made, True) else None
    if loop not in context.lanes_of:
        return None
    axis, mask = context.lanes_of[loop]
    if axis.is_ragged and axis.lengths is not None and mask is None and nodes.is_const(made, True):
        return _either(nodes.compare("gt", axis.lengths, nodes.const(0)), before)
    made = nodes.both(mask, made)
    return None if axis.is_ragged and axis not in made.axes else _either(_some(made, axis), before)


def _some(flag: Node, axis: Axis) -> Node:
    """Whether a flag holds in one of an axis' iterations, of which there are some."""
    if axis not in flag.axes:
        return flag
    rest = merge_axes(tuple(a for a in flag.axes if a is not axis), axis.parents)
    return Node("reduce", (flag,), rest, nodes.BOOL, {"axes": (axis,), "operator": "or"}, "some")
