"""Loops to be run piece by piece in, the same function with each of them inside of a loop over pieces out.

for i in range(lo, hi):       for start in range(lo, hi, step):
    body                          for i in range(start, min(start + step, hi)):
                                      body

The iterations and their order are the same. ``step`` is an expression over the region's live-ins, as text: a call.
A search, whose first carried value is the first iteration in which something holds, is over with the piece that has it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import cast

from looplift.base.data import dataclass, field, replace
from looplift.ir.grammar import (
    STEP,
    STOP,
    UNDEFINED,
    Block,
    Carry,
    Const,
    Function,
    If,
    Let,
    Loop,
    Op,
    Phi,
    Range,
    Statement,
    Var,
    While,
    uses,
    walk,
)


def strip_mined(function: Function, steps: Mapping[Loop, str], *, searches: bool = False) -> Function:
    """The function with loops, which are ``searches`` or not, in pieces of as many iterations as the expressions say;
    its ``strips`` maps each loop over pieces to the loop over the iterations of one."""
    made = _Strips(steps, searches)
    body = made.block(function.body)
    return replace(function, body=body, attributes=function.attributes | {"strips": made.strips})


def can_be_stripped(loop: Loop) -> bool:
    """Whether the loop counts by a step that is known, and is not left early."""
    domain = loop.domain
    if not isinstance(domain, Range) or loop.stop is not None or not isinstance(domain.step, Const):
        return False
    return type(domain.step.value) is int and domain.step.value != 0


@dataclass
class _Strips:
    steps: Mapping[Loop, str]
    searches: bool
    strips: dict[Loop, Loop] = field(default_factory=dict)
    numbers: itertools.count = field(default_factory=lambda: itertools.count(1))

    def block(self, block: Block) -> Block:
        return Block(tuple(made for statement in block for made in self.statement(statement)))

    def statement(self, statement: Statement) -> list[Statement]:
        if isinstance(statement, Loop) and statement in self.steps:
            return self.stripped(statement)
        if isinstance(statement, If):
            return [replace(statement, then=self.block(statement.then), orelse=self.block(statement.orelse))]
        if isinstance(statement, Loop):
            domain = statement.domain
            if isinstance(domain, While):
                domain = replace(domain, block=self.block(domain.block))
            return [replace(statement, domain=domain, body=self.block(statement.body))]
        return [statement]

    def stripped(self, loop: Loop) -> list[Statement]:
        domain, span, number = loop.domain, loop.span, next(self.numbers)
        assert isinstance(domain, Range) and isinstance(domain.step, Const)
        step, start, stop = (Var(f"{name}.strip{number}") for name in ("step", "start", "stop"))
        pairs = [_carries(loop, carry, number) for carry in loop.carries]
        inner = replace(
            loop, domain=replace(domain, lo=start, hi=stop, source=None), carries=tuple(pair[1] for pair in pairs)
        )
        body = (Let(stop, Op(STOP, (start, step, domain.hi, domain.step)), span), inner)
        outer = Loop(
            Range(domain.lo, domain.hi, step), start, tuple(pair[0] for pair in pairs), Block(body), None, span
        )
        if self.searches:
            outer, inner = _left_early(outer, inner, stop, number)
        self.strips[outer] = inner
        factor = {1: "", -1: "-"}.get(domain.step.value, f"{domain.step.value} * ")
        return [Let(step, Op(STEP, (Const(factor + self.steps[loop]), domain.step)), span), outer]


def _left_early(outer: Loop, inner: Loop, stop: Var, number: int) -> tuple[Loop, Loop]:
    """The loop over the pieces of a search that is left after a piece in which something is found, and that piece."""
    assert isinstance(inner.domain, Range) and isinstance(outer.domain, Range)
    first, span = inner.carries[0], inner.span
    up = cast(int, cast(Const, inner.domain.step).value) > 0
    inner = replace(inner, carries=(replace(first, init=stop), *inner.carries[1:]))
    before, found, after, place = (Var(f"found.{role}{number}") for role in ("before", "here", "after", "place"))
    body = (
        outer.body.statements[0],
        inner,
        Let(found, Op("lt" if up else "gt", (first.after, stop)), span),
        If(found, Block(()), Block(()), (Phi(place, first.after, outer.domain.hi),), span),
    )
    carries = (replace(outer.carries[0], next=place), *outer.carries[1:], Carry(before, Const(False), found, after))
    return replace(outer, carries=carries, body=Block(body), stop=found), inner


def _carries(loop: Loop, carry: Carry, number: int) -> tuple[Carry, Carry]:
    """A carry of the loop over pieces, and the one that it becomes inside of a piece."""
    entry, last = (Var(f"{carry.hint}.{role}{number}.{carry.inside.name}") for role in ("entry", "last"))
    if carry.next is carry.inside:
        return Carry(entry, carry.init, entry, carry.after), Carry(carry.inside, entry, carry.inside, last)
    begins = entry if _is_read(loop, carry.inside) else UNDEFINED  # each piece has an iteration
    return Carry(entry, carry.init, last, carry.after), Carry(carry.inside, begins, carry.next, last)


def _is_read(loop: Loop, var: Var) -> bool:
    nexts = (carry.next for carry in loop.carries)
    return any(atom is var for atom in (*nexts, *(a for statement in walk(loop.body) for a in uses(statement))))
