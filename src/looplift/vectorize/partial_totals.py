"""Sums over a loop that remembers, and the loop around it, become sums of its own in each run of it, added behind it.

loss = 0.0                              loss = 0.0
for seq in seqs:                        for seq in seqs:
    h = h0                                  h, part = h0, torch.zeros(())
    for x in seq:                           for x in seq:
        h = cell(x, h)                          h = cell(x, h)
        loss = loss + error(h)                  part = part + error(h)
                                            loss = loss + part

All sequences then take their steps together, each with a sum of its own. The terms are added in another order, as in
other sums of floats, and a sum that decides something keeps its order.
"""

from __future__ import annotations

import itertools

from looplift.base.data import dataclass, replace
from looplift.ir.facts import Facts, Kind
from looplift.ir.grammar import (
    Atom,
    Carry,
    Const,
    Function,
    Group,
    If,
    Let,
    Loop,
    Op,
    Range,
    Require,
    Statement,
    Var,
    walk,
)
from looplift.ir.started import Changes
from looplift.vectorize.flow import Flow
from looplift.vectorize.reductions import Accumulator, accumulator_of


@dataclass
class _Total:
    """A sum over an outer loop, and the carried value of an inner one that adds to it."""

    found: Accumulator
    carry: Carry
    way: str
    """``inplace.add`` where its terms are added in place: who else knows the sum sees it change."""


def with_partial_totals(function: Function, facts: Facts) -> Function | None:
    """The same function with such sums; None if it has none."""
    flow, numbers = Flow(function), itertools.count(1)
    changed: dict[int, tuple[Statement, ...]] = {}
    loops = [statement for statement in walk(function.body) if isinstance(statement, Loop)]
    carried = {
        id(loop): [one for carry in loop.carries if (one := accumulator_of(flow, loop, carry)) is not None]
        for loop in loops
    }
    begins = {var: one.carry.init for sums in carried.values() for one in sums for var in one.chain}
    for outer in loops:
        sums = carried[id(outer)]
        for inner in outer.body:
            if isinstance(inner, Loop) and id(inner) not in changed:
                totals = _totals(flow, facts, inner, [one for one in sums if one.operator == "add"])
                if totals and _remembers(inner, sums):
                    changed[id(inner)] = _parted(flow, facts, inner, totals, begins, numbers)
    if not changed:
        return None
    body = Changes(changed, {}).block(function.body)
    return replace(function, body=body, attributes=dict(function.attributes))


def _totals(flow: Flow, facts: Facts, inner: Loop, sums: list[Accumulator]) -> list[_Total]:
    """The sums that a loop adds to; none if one of them has no form of its own."""
    found = [
        _Total(one, carry, _way(flow, one)) for carry in inner.carries for one in sums if carry.inside in one.chain
    ]
    fine = all(one.way and _start(facts.of[one.carry.after].kind) is not None for one in found)
    return found if fine else []


def _adds(flow: Flow, atom: Atom, inside: Var) -> bool:
    """Whether something is added to what is carried, on all ways through an iteration."""
    match flow.definition.get(atom) if isinstance(atom, Var) and atom is not inside else None:
        case Let():
            return True
        case If(phis=phis):
            phi = next(one for one in phis if one.var is atom)
            return _adds(flow, phi.then, inside) and _adds(flow, phi.orelse, inside)
    return False


def _way(flow: Flow, found: Accumulator) -> str:
    """How terms are added to a sum; nothing where some are in place and others are not."""
    made = [flow.definition.get(var) for var in found.updates]
    ways = {isinstance(one, Let) and one.op.name.startswith("inplace.") for one in made}
    return ("inplace.add" if ways.pop() else "add") if len(ways) == 1 else ""


def _remembers(inner: Loop, sums: list[Accumulator]) -> bool:
    """Whether a loop carries something else than sums."""
    chains = {var for one in sums for var in one.chain}
    return any(carry.inside not in chains and carry.next is not carry.inside for carry in inner.carries)


def _beginning(begins: dict[Var, Atom], atom: Atom) -> Atom:
    """What a sum begins with in front of all loops that carry it."""
    while isinstance(atom, Var) and atom in begins:
        atom = begins[atom]
    return atom


def _start(kind: Kind) -> Op | Const | None:
    """What a sum of a kind begins with."""
    if kind.family == "tensor" and not kind.rank and "float" in str(kind.dtype):
        return Op("torch.zeros", (Group("tuple", ()),), (("dtype", Const(kind.dtype)),))
    return {"float": Const(0.0), "int": Const(0)}.get(kind.family)


def _parted(
    flow: Flow,
    facts: Facts,
    inner: Loop,
    totals: list[_Total],
    begins: dict[Var, Atom],
    numbers: itertools.count,
) -> tuple[Statement, ...]:
    before: list[Statement] = []
    after: list[Statement] = []
    carries = {carry.inside: carry for carry in inner.carries}
    for total in totals:
        carry, number = total.carry, next(numbers)
        first, kind = facts[_beginning(begins, total.found.carry.init)].kind, facts.of[carry.after].kind
        becomes = first.is_number and first.family != kind.family  # where nothing is added it stays what it was
        surely = _counts(inner) and _adds(flow, carry.next, carry.inside)
        start = begin = _start(first if becomes and not surely else kind)
        if isinstance(start, Op):
            begin = Var(f"start.p{number}")
            before.append(Let(begin, start, inner.span))
        part = Var(f"part_{carry.hint}.p{number}")
        assert isinstance(begin, Var | Const)
        carries[carry.inside] = replace(carry, init=begin, after=part)
        after.append(Let(carry.after, Op(total.way, (carry.init, part)), inner.span))
        if becomes and surely:
            before += _runs(inner, number)
    return (*before, replace(inner, carries=tuple(carries.values())), *after)


def _counts(inner: Loop) -> bool:
    """Whether the bounds of a loop tell whether it has an iteration."""
    domain = inner.domain
    plain = isinstance(domain, Range) and isinstance(domain.step, Const) and domain.step.value in (1, -1)
    return plain and inner.stop is None


def _runs(inner: Loop, number: int) -> list[Statement]:
    """A number that nothing is added to is no tensor, and an integer no float: the loop has an iteration."""
    domain, some = inner.domain, Var(f"some.p{number}")
    assert isinstance(domain, Range) and isinstance(domain.step, Const)
    bounds: tuple[Atom, Atom] = (domain.lo, domain.hi) if domain.step.value == 1 else (domain.hi, domain.lo)
    reason = "a sum that nothing is added to stays the number that it began as"
    return [Let(some, Op("lt", bounds), inner.span), Require(some, reason, inner.span)]
