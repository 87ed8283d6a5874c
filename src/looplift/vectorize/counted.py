"""A ``while`` that counts up to a bound, or until something else holds, as a ``for`` that is left early.

while j < n and x[j] < level:      for j in range(j, n):
    total += x[j]                      if not x[j] < level: break
    j += 1                             total += x[j]

Afterwards ``j`` is where it was left, or ``n``.
"""

from __future__ import annotations

from looplift.base.data import dataclass, replace
from looplift.ir.grammar import (
    Atom,
    Block,
    Carry,
    Const,
    If,
    Let,
    Loop,
    Op,
    Phi,
    Range,
    Require,
    Statement,
    Var,
    While,
    operands,
    walk,
)
from looplift.ir.started import Changes
from looplift.vectorize.written import Written


@dataclass
class Counted:
    """A ``for``, the statements before it, and what the counter is called after it."""

    before: list[Statement]
    loop: Loop
    counter: Var


BOUNDS = {"lt": (1, 0), "le": (1, 1), "gt": (-1, 0), "ge": (-1, -1), "ne": (0, 0)}
"""Comparisons of a counter with its bound: which way it counts, and by how much its range ends behind the bound."""
STEPS = {"add": 1, "inplace.add": 1, "sub": -1, "inplace.sub": -1}


def counted(loop: Loop, flag: Carry | None, written: Written, number: int) -> Counted | None:
    """The ``for`` that a ``while`` is, which ``flag`` says to be left early; None where it is none."""
    assert isinstance(loop.domain, While)
    found = _condition(loop.domain)
    if found is None:
        return None
    hoisted, test, asked, rest = found
    if test.op.name not in BOUNDS:
        return None
    inside = {carry.inside: carry for carry in loop.carries}
    first, bound = test.op.args
    carry = inside.get(first) if isinstance(first, Var) else None
    if carry is None or not written.is_integer(carry.inside):
        return None
    growth = _growth(loop, carry)
    step = STEPS[growth.op.name] if growth is not None else None
    way, behind = BOUNDS.get(test.op.name, (0, 0))
    if growth is None or step != way or not isinstance(bound, Var | Const) or bound in inside:
        return None
    if any(atom in inside for let in hoisted for atom in operands(let.op)) or (rest is None and flag is None):
        return None
    if written.may_change(Block((*asked, *loop.body)), [*hoisted, test]):
        return None
    span, index, end, enters = loop.span, *(Var(f"{carry.hint}.{n}{number}") for n in ("counted", "end", "enters"))
    before: list[Statement] = list(hoisted)
    hi: Atom = bound
    if behind and isinstance(bound, Const) and type(bound.value) is int:
        hi = Const(bound.value + behind)
    elif behind:
        before.append(Let(end, Op("add", (bound, Const(behind))), span))
        hi = end
    order = (carry.init, hi) if step == 1 else (hi, carry.init)
    before.append(Let(enters, Op("le", order), span))
    before.append(Require(enters, "a loop that counts begins behind its end", span))
    others = [c for c in loop.carries if c is not carry]
    plain = replace(growth, op=Op("add" if step == 1 else "sub", (index, Const(1))))
    renamed = Changes({id(growth): (plain,)}, {carry.inside: index})
    made = Loop(Range(carry.init, hi, Const(step)), index, tuple(others), loop.body, loop.stop, span)
    if rest is not None:
        made = _asking(made, asked, rest, flag, number)
    made = replace(made, body=renamed.block(made.body))
    return Counted(before, made, carry.after)


def _condition(domain: While) -> tuple[list[Let], Let, list[Statement], Atom | None] | None:
    """The bound's statements, the test of the counter, and what else is asked if that holds."""
    lets: list[Let] = []
    for position, statement in enumerate(domain.block):
        if isinstance(statement, If):
            phi = next((phi for phi in statement.phis if phi.var is domain.cond), None)
            test = next((let for let in lets if let.var is statement.cond), None)
            last = position == len(domain.block.statements) - 1
            if phi is None or test is None or not last or phi.orelse is not test.var or statement.orelse:
                return None
            return [let for let in lets if let is not test], test, list(statement.then), phi.then
        if not isinstance(statement, Let):
            return None
        lets.append(statement)
    if lets and lets[-1].var is domain.cond:
        return lets[:-1], lets[-1], [], None
    return None


def _growth(loop: Loop, carry: Carry) -> Let | None:
    """Where the counter goes on by one, in each iteration that does not leave the loop, and in no other."""
    grown = carry.next if loop.stop is None else _unless_left(loop, carry)
    made = next((s for s in walk(loop.body) if isinstance(s, Let) and s.var is grown), None)
    if made is None or made.op.name not in STEPS or made.op.args[0] is not carry.inside:
        return None
    by = made.op.args[1]
    return made if isinstance(by, Const) and type(by.value) is int and by.value == 1 else None


def _unless_left(loop: Loop, carry: Carry) -> Atom | None:
    """The next value of a carry on the side of an ``if`` that goes on; the other one leaves the loop, and the carry."""
    for statement in loop.body:
        if isinstance(statement, If):
            of = {phi.var: (phi.then, phi.orelse) for phi in statement.phis}
            following, left = (of.get(atom) if isinstance(atom, Var) else None for atom in (carry.next, loop.stop))
            if following is None or left is None:
                continue
            for side in (0, 1):
                ends, goes_on = left[side], left[1 - side]
                leaves = isinstance(ends, Const) and ends.value is True
                if leaves and not isinstance(goes_on, Const) and following[side] is carry.inside:
                    return following[1 - side] if goes_on in {c.inside for c in loop.carries} else None
    return None


def _asking(loop: Loop, asked: list[Statement], rest: Atom, flag: Carry | None, number: int) -> Loop:
    """The loop with what else is asked in front of its body, which leaves it."""
    span = loop.span
    stop = Var(f"_stop.next{number}")
    phis: list[Phi] = [Phi(stop, flag.next if flag is not None else Const(False), Const(True))]
    carries: list[Carry] = []
    for carry in loop.carries:
        if carry is flag:
            continue
        following = Var(f"{carry.hint}.kept{number}.{carry.inside.name}")
        phis.append(Phi(following, carry.next, carry.inside))
        carries.append(replace(carry, next=following))
    if flag is None:
        flag = Carry(Var(f"_stop.in{number}"), Const(False), stop, Var(f"_stop.after{number}"))
    carries.append(replace(flag, next=stop))
    goes_on = If(rest, loop.body, Block(()), tuple(phis), span)
    return replace(loop, carries=tuple(carries), body=Block((*asked, goes_on)), stop=stop)
