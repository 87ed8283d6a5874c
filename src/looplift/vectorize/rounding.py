"""A loop that stays in lanes in; None out, or a refusal where what decides is computed with fewer digits than the
loop's: carried values that are Python's numbers in some lanes, of 64 bits, and tensors of fewer bits in others.

while abs(z) > 0.1:                 the lane 0 never holds a tensor: its numbers are those of Python,
    if i >= 1: z = z * 0.5 + v      and its test has all their digits
    else: z = z - 0.3
"""

from __future__ import annotations

from looplift.base.compare import NARROW
from looplift.ir.grammar import UNDEFINED, Atom, If, Let, Loop, Statement, Var, operands, walk
from looplift.ops import table
from looplift.vectorize.context import Context

ROUNDED = frozenset("add sub mul truediv floordiv mod pow inplace.add inplace.sub inplace.mul inplace.truediv".split())
"""Arithmetic whose result has no more digits than its type."""


def check_decisions(context: Context, loop: Loop) -> None:
    """Require that no value of 64 bits that decides something is computed with fewer."""
    narrow = [carry for carry in loop.carries if _is_narrow(context, carry.after)]
    if not narrow:
        return
    body = [loop, *walk(loop.body)]
    may = _numbers(context, body)
    rounded = {s.var for s in body if isinstance(s, Let) and s.op.name in ROUNDED} & may & context.flow.deciding
    for carry in narrow:
        if carry.next in may and rounded & _made_of(context, carry.next):
            message = f"'{carry.hint}', which decides something, is a number in one iteration and a tensor in another"
            raise context.refuse("mixed-kinds", message)


def _is_narrow(context: Context, atom: Atom) -> bool:
    kind = context.facts[atom].kind
    return kind.family == "tensor" and str(kind.dtype).removeprefix("torch.") in NARROW


def _numbers(context: Context, body: list[Statement]) -> set[Var]:
    """The variables that may hold a number of Python's in some iteration, though they are tensors in others."""
    found: set[Var] = set()

    def may_be(atom: Atom) -> bool:
        return atom in found or (atom is not UNDEFINED and context.facts[atom].kind.is_number)

    def mixed(statement: Statement) -> set[Var]:
        match statement:
            case Let(var=var, op=op) if op.name in table.ARITHMETIC and all(map(may_be, operands(op))):
                return {var}
            case If(phis=phis):
                return {phi.var for phi in phis if may_be(phi.then) or may_be(phi.orelse)}
            case Loop(carries=carries):
                begun = [carry for carry in carries if may_be(carry.init) or may_be(carry.next)]
                return {var for carry in begun for var in (carry.inside, carry.after)}
        return set()

    grown = True
    while grown:
        before = len(found)
        for statement in body:
            found |= {var for var in mixed(statement) if context.facts[var].kind.is_array}
        grown = len(found) > before
    return found


def _made_of(context: Context, atom: Atom) -> set[Var]:
    """All that a value is computed from."""
    seen: set[Var] = set()
    pending = [atom]
    while pending:
        current = pending.pop()
        if isinstance(current, Var) and current not in seen:
            seen.add(current)
            pending += context.flow.sources.get(current, ())
    return seen
