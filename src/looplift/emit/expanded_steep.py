"""An operation on rows in, whether a gradient of 0 may become NaN on its way through it."""

from __future__ import annotations

from looplift.emit.expanded import Expansion
from looplift.emit.native_ops import canonical
from looplift.ir.grammar import Const, Op, Var, atoms

STEEP = frozenset("sqrt rsqrt reciprocal log log2 log10 log1p asin acos acosh atanh hypot norm logit xlogy".split())
QUOTIENTS = frozenset(("truediv", "mod", "fmod"))


def is_steep(expansion: Expansion, op: Op) -> bool:
    """Whether a finite operand may have an infinite derivative: autograd makes NaN of it for elements nobody reads.

    What divides all elements alike is no such thing: those that are read have it too.
    """
    given = [atom for argument in op.args for atom in atoms(argument) if isinstance(atom, Var)]
    short, last = canonical(op.name)[1], op.args[-1] if op.args else None
    if any(expansion.rows[atom].steep for atom in given if atom in expansion.rows):
        return True
    if short == "pow":
        return not (
            isinstance(last, Const) and type(last.value) in (int, float) and (last.value >= 1 or not last.value)
        )
    divides = [atom for atom in atoms(last) if isinstance(atom, Var)] if last is not None else []
    return short in STEEP or (short in QUOTIENTS and any(atom in expansion.rows for atom in divides))
