"""Integers that a loop which stays carries in, how many bits they take at most out.

What grows by a small constant in each iteration, ``n += 1``, stays small for as long as anybody waits: 2**40 iterations
of batched code, each of which takes microseconds.
"""

from __future__ import annotations

from looplift.ir.grammar import UNDEFINED, Atom, Carry, Const, If, Let, Var
from looplift.vectorize import nodes
from looplift.vectorize.context import Context
from looplift.vectorize.numbers import bits_of

STEP_BITS = 10
COUNTER_BITS = nodes.INDEX_BITS + STEP_BITS + 2


def carried_bits(context: Context, carry: Carry) -> int:
    """How many bits the magnitude of a carried integer takes at most; 64 where nothing is known."""
    if context.facts.kind(carry.inside).family != "int" or carry.init is UNDEFINED:
        return 64
    if context.facts.kind(carry.init).family != "int" or bits_of(context.node(carry.init)) > nodes.INDEX_BITS:
        return 64
    return COUNTER_BITS if _steps(context, carry.next, carry) <= 2**STEP_BITS else 64


def _steps(context: Context, atom: Atom, carry: Carry) -> float:
    """By how much the next value may be further from zero than the one before, or than an index."""
    if atom is carry.inside:
        return 0
    if isinstance(atom, Const):
        return 0 if type(atom.value) is int and atom.value.bit_length() <= nodes.INDEX_BITS else float("inf")
    statement = context.flow.definition.get(atom)
    if isinstance(statement, If):
        phi = next(phi for phi in statement.phis if phi.var is atom)
        return max(_steps(context, side, carry) for side in (phi.then, phi.orelse))
    if not isinstance(statement, Let) or statement.op.name.removeprefix("inplace.") not in ("add", "sub"):
        return float("inf")
    return _sum(context, statement, carry)


def _sum(context: Context, statement: Let, carry: Carry) -> float:
    if statement.op.kwargs or len(statement.op.args) != 2:
        return float("inf")
    first, second = statement.op.args
    if isinstance(first, Const) and statement.op.name.endswith("add"):
        first, second = second, first
    if not isinstance(first, Var) or not isinstance(second, Const) or type(second.value) is not int:
        return float("inf")
    return abs(second.value) + _steps(context, first, carry)
