"""Carried values that are reductions: ``acc = acc + v``, ``best = max(best, v)``, also under ifs and in inner loops.

    next = inside                        nothing
    next = f(chain, v)                   the chain's contributions, and v
    next = phi(chain, chain)             contributions of both sides, each under its mask
    next = inner.after, inner.init chain contributions of the inner loop

where f is associative and commutative, no v depends on the carried value, and each way through the body makes all of
its updates one after the other: a partial result that is dropped again is no contribution.
"""

from __future__ import annotations

from looplift.base.data import dataclass, field
from looplift.ir.grammar import Atom, Block, Carry, If, Let, Loop, Var
from looplift.vectorize.flow import Flow

OPERATORS = {
    "add": "add", "inplace.add": "add", "sub": "add", "inplace.sub": "add", "mul": "mul", "inplace.mul": "mul",
    "builtin.max": "max", "builtin.min": "min", "torch.maximum": "maximum", "torch.minimum": "minimum",
    "torch.max": "maximum", "torch.min": "minimum", "torch.add": "add", "torch.mul": "mul",
    "np.maximum": "maximum", "np.minimum": "minimum", "np.fmax": "none", "and_": "and", "or_": "or",
}  # fmt: skip
COMMUTATIVE = frozenset(("add", "mul", "torch.maximum", "torch.minimum", "torch.max", "torch.min", "torch.add",
                         "torch.mul", "np.maximum", "np.minimum", "and_", "or_"))  # fmt: skip


@dataclass(eq=False)
class Accumulator:
    """One carried value that is a reduction over ``loop`` and the loops inside it that ``chain`` passes through."""

    carry: Carry
    loop: Loop
    operator: str
    chain: set[Var] = field(default_factory=set)
    updates: dict[Var, tuple[Atom, bool]] = field(default_factory=dict)


def accumulator_of(flow: Flow, loop: Loop, carry: Carry) -> Accumulator | None:
    """The reduction that a carried value is, or None."""
    found = Accumulator(carry, loop, "")
    if not _trace(flow, found, carry.next, carry.inside) or not found.operator:
        return None
    for var in found.chain:
        if not all(_belongs(found, var, user) for user in flow.users.get(var, ())):
            return None
    return found if _is_one_chain(found, loop.body, carry.inside, carry.next) else None


def _is_one_chain(found: Accumulator, block: Block, begin: Atom, end: Atom) -> bool:
    """Whether each way through a block makes all of its updates one after the other, and hands on the last of them."""
    now = begin
    for statement in block:
        match statement:
            case Let(var=var, op=op) if var in found.updates:
                if not any(atom is now for atom in op.args):
                    return False
                now = var
            case If(then=then, orelse=orelse, phis=phis):
                joined = next((phi for phi in phis if phi.var in found.chain), None)
                ends = (joined.then, joined.orelse) if joined is not None else (now, now)
                if not all(_is_one_chain(found, *side) for side in zip((then, orelse), (now, now), ends, strict=True)):
                    return False
                now = joined.var if joined is not None else now
            case Loop(carries=carries, body=body):
                carried = next((one for one in carries if one.inside in found.chain), None)
                ends = (carried.inside, carried.next) if carried is not None else (now, now)
                if (carried is not None and carried.init is not now) or not _is_one_chain(found, body, *ends):
                    return False
                now = carried.after if carried is not None else now
    return now is end


def _trace(flow: Flow, found: Accumulator, atom: Atom, inside: Var) -> bool:
    """Follow the carried value backwards from the end of the body to its entry."""
    if atom is inside:
        found.chain.add(inside)
        return True
    if not isinstance(atom, Var) or atom in found.chain:
        return isinstance(atom, Var) and atom in found.chain
    match flow.definition.get(atom):
        case Let(op=op) if op.name in OPERATORS and len(op.args) == 2 and not op.kwargs:
            return _update(flow, found, atom, op, inside)
        case If(phis=phis):
            phi = next(p for p in phis if p.var is atom)
            if not (_trace(flow, found, phi.then, inside) and _trace(flow, found, phi.orelse, inside)):
                return False
        case Loop(carries=carries) as inner if inner is not found.loop:
            carry = next((c for c in carries if c.after is atom), None)
            if carry is None or not _trace(flow, found, carry.next, carry.inside):
                return False
            if not _trace(flow, found, carry.init, inside):
                return False
            found.chain.add(carry.inside)
        case _:
            return False
    found.chain.add(atom)
    return True


def _update(flow: Flow, found: Accumulator, var: Var, op, inside: Var) -> bool:
    operator = OPERATORS[op.name]
    if found.operator not in ("", operator) or operator == "none":
        return False
    left, right = op.args
    for chain, value in ((left, right), (right, left)):
        if chain is right and op.name not in COMMUTATIVE and not op.name.startswith("builtin."):
            return False
        saved = set(found.chain), dict(found.updates), found.operator
        found.operator = operator
        if isinstance(chain, Var) and _trace(flow, found, chain, inside):
            found.chain.add(var)
            found.updates[var] = (value, op.name.endswith("sub"))
            return True
        found.chain, found.updates, found.operator = saved
    return False


def _belongs(found: Accumulator, var: Var, user) -> bool:
    """Whether a use of a partial result is part of the reduction itself."""
    match user:
        case Let(var=result, op=op) if result in found.updates:
            value = found.updates[result][0]
            return value is not var and sum(a is var for a in op.args) == 1
        case If(cond=cond, phis=phis):
            return cond is not var and all(p.var in found.chain for p in phis if p.then is var or p.orelse is var)
        case Loop() as loop:
            return all(
                c.after in found.chain or (loop is found.loop and c is found.carry)
                for c in loop.carries
                if c.init is var or c.next is var
            ) and not _in_domain(loop, var)
    return False


def _in_domain(loop: Loop, var: Var) -> bool:
    domain = loop.domain
    return (
        any(getattr(domain, name, None) is var for name in ("lo", "hi", "step", "cond", "source")) or loop.stop is var
    )
