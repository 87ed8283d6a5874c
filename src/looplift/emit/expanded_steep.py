"""An operation on rows in, whether a gradient of 0 may become NaN on its way through it."""

from __future__ import annotations

from looplift.emit.expanded import Expansion
from looplift.emit.native_ops import canonical
from looplift.ir.grammar import Const, Op, Var, atoms
from looplift.ops import table

REGULAR = frozenset("exp exp2 expm1 sinh cosh norm vector_norm std".split())
"""Operations whose derivative is finite where they are, and those at whose singular points torch's gradient is zero."""


def is_steep(expansion: Expansion, op: Op) -> bool:
    """Whether a finite operand may have an infinite derivative: autograd makes NaN of it for elements nobody reads.

    What divides all elements alike is no such thing: those that are read have it too.
    """
    given = [atom for argument in op.args for atom in atoms(argument) if isinstance(atom, Var)]
    short = canonical(op.name)[1]
    if any(expansion.rows[atom].steep for atom in given if atom in expansion.rows):
        return True
    found = table.SINGULAR.get(short)
    if found is None or short in REGULAR or found[0] >= len(op.args):
        return False
    if short == "pow":
        return not is_smooth_power(op)
    return any(atom in expansion.rows for atom in atoms(op.args[found[0]]))


def is_smooth_power(op: Op) -> bool:
    """Whether an operation is a power whose derivative is finite."""
    power = op.args[-1] if op.args and canonical(op.name)[1] == "pow" else None
    return isinstance(power, Const) and type(power.value) in (int, float) and (power.value >= 1 or not power.value)
