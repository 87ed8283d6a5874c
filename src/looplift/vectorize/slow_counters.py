"""Integers that a loop which stays carries in, how many bits they take at most out.

What grows by a small constant in each iteration, ``n += 1``, stays small for as long as anybody waits: 2**40 iterations
of batched code, each of which takes microseconds. What is the index of a loop, or known before the loop, is small too.
"""

from __future__ import annotations

from looplift.ir.grammar import STOP, UNDEFINED, Atom, Carry, Const, If, Let, Loop, Op, Var, as_atom, walk
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


def _steps(context: Context, atom: Atom, carry: Carry, within: tuple[Carry, ...] = ()) -> float:
    """By how much the next value may be further from zero than the one before, or than an index."""
    if atom is carry.inside or atom is UNDEFINED:
        return 0
    if isinstance(atom, Const):
        return 0 if type(atom.value) is int and atom.value.bit_length() <= nodes.INDEX_BITS else float("inf")
    if _is_small(context, atom):
        return 0
    match context.flow.definition.get(atom):
        case If(phis=phis):
            phi = next(phi for phi in phis if phi.var is atom)
            return max(_steps(context, side, carry, within) for side in (phi.then, phi.orelse))
        case Loop(carries=carries):
            other = next(one for one in carries if atom in (one.inside, one.after))
            return 0 if other in within else _grown(context, (other.init, other.next), carry, (*within, other))
        case Let(op=Op(name="builtin.min" | "builtin.max", args=args, kwargs=())):
            return max(_steps(context, as_atom(arg), carry, within) for arg in args)
        case Let(op=op) if op.name == STOP:
            return 0
        case Let(op=op) as statement if op.name.removeprefix("inplace.") in ("add", "sub"):
            return _sum(context, statement, carry, within)
    return float("inf")


def _grown(context: Context, atoms: tuple[Atom, ...], carry: Carry, within: tuple[Carry, ...]) -> float:
    """Of what another loop carries: nothing if it only chooses among small values; who knows how much else."""
    return float("inf") if any(_steps(context, atom, carry, within) for atom in atoms) else 0


def _sum(context: Context, statement: Let, carry: Carry, within: tuple[Carry, ...]) -> float:
    if statement.op.kwargs or len(statement.op.args) != 2:
        return float("inf")
    first, second = statement.op.args
    if isinstance(first, Const) and statement.op.name.endswith("add"):
        first, second = second, first
    if not isinstance(first, Var) or not isinstance(second, Const) or type(second.value) is not int:
        return float("inf")
    return abs(second.value) + _steps(context, first, carry, within)


def _is_small(context: Context, atom: Atom) -> bool:
    """Whether an integer is the index of a loop, or known to be as small before the loop."""
    if context.facts.kind(atom).family != "int":
        return False
    if any(isinstance(s, Loop) and s.index is atom for s in walk(context.facts.function.body)):
        return True
    val = context.vals.get(atom) if isinstance(atom, Var) else None
    return val is not None and bits_of(context.node(atom)) <= nodes.INDEX_BITS
