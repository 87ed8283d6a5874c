"""Values that may be None become pairs: whether there is one, and the value, which is read only where there is.

hit = None                          there = False
for j in range(n):                  for j in range(n):
    if x[j] > 1:                        if x[j] > 1:
        hit = x[j]                          there, hit = True, x[j]
if hit is not None:                 if there:
    out = 2 * hit                       out = 2 * hit

A name that may not be bound either tells that as well, where it is asked whether it is None.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from looplift.base.data import replace
from looplift.base.errors import NotLiftable
from looplift.base.spans import NOWHERE, Span
from looplift.ir.grammar import (
    UNDEFINED,
    Atom,
    Block,
    Carry,
    Const,
    Function,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Phi,
    Range,
    Require,
    Statement,
    Var,
    While,
    is_returned,
    uses,
    walk,
)
from looplift.ir.prune import prune
from looplift.ir.started import Changes

TESTS = ("is_", "is_not")


def without_none(function: Function) -> Function:
    """The same function with such pairs; ``optional`` among its attributes are the values."""
    function = prune(function)
    _check_tuples(function)
    optional = _reached(function, is_none)
    if not optional:
        return function
    pairs = _Pairs(function, optional)
    body = pairs.block(function.body, frozenset(), outermost=True)
    results, last = [], list(body.statements)
    for name, atom in function.results:
        results.append((name, pairs.handed_out(atom, last)))
    made = replace(function, body=Block(tuple(last)), results=tuple(results))
    made.attributes["optional"] = frozenset(optional)
    return prune(made)


def is_none(atom: object) -> bool:
    return isinstance(atom, Const) and atom.value is None and not atom.path


def _check_tuples(function: Function) -> None:
    """A tuple that may be None is made where it leaves the region, and is for nothing else."""
    made = {s.var for s in walk(function.body) if isinstance(s, Let) and s.op.name == "tuple_or_none"}
    handed = [s for s in function.body if isinstance(s, Let) and s.op.name in ("tuple", "tuple_or_none")]
    for statement in walk(function.body):
        if isinstance(statement, Let) and statement.var in made and statement not in handed:
            raise NotLiftable("mixed-kinds", "a tuple that may be None is used inside of a loop", statement.span)
        if statement not in handed and made.intersection(uses(statement)):
            raise NotLiftable("mixed-kinds", "a tuple that may be None is used as a whole", statement.span)


def _is_undefined(atom: Atom) -> bool:
    return atom is UNDEFINED


def _reached(function: Function, begins: Callable[[Atom], bool]) -> set[Var]:
    """The variables that a value may come to on some way."""
    found: set[Var] = set()

    def may_be(atom: Atom) -> bool:
        return begins(atom) or atom in found

    grown = True
    while grown:
        before = len(found)
        for statement in walk(function.body):
            if isinstance(statement, If):
                found |= {phi.var for phi in statement.phis if may_be(phi.then) or may_be(phi.orelse)}
            elif isinstance(statement, Loop):
                for carry in statement.carries:
                    if may_be(carry.init) or may_be(carry.next):
                        found |= {carry.inside, carry.after}
        grown = len(found) > before
    return found


class _Pairs:
    def __init__(self, function: Function, optional: set[Var]):
        self.optional = optional
        self.unbound = {var for var in optional & _reached(function, _is_undefined) if not is_returned(var)}
        self.there: dict[Atom, Atom] = {}
        self.bound: dict[Atom, Atom] = {}
        self.numbers = itertools.count(1)
        self.definitions: dict[Atom, Statement] = {}
        for statement in walk(function.body):
            if isinstance(statement, Let):
                self.definitions[statement.var] = statement
            elif isinstance(statement, If):
                self.definitions |= {phi.var: statement for phi in statement.phis}

    def fresh(self, like: Atom) -> Var:
        hint = like.hint if isinstance(like, Var) else "value"
        return Var(f"{hint}_there.o{next(self.numbers)}")

    def presence(self, atom: Atom) -> Atom:
        """Whether there is a value."""
        if is_none(atom) or atom is UNDEFINED:
            return Const(False)
        return self.there[atom] if atom in self.there else Const(True)

    def is_bound(self, atom: Atom) -> Atom:
        """Whether a name is bound, be it to None."""
        return Const(False) if atom is UNDEFINED else self.bound.get(atom, Const(True))

    def asked_bound(self, atom: Atom, span: Span) -> list[Statement]:
        """What is compared with None has to be bound."""
        return [Require(self.is_bound(atom), "a name that is not bound is used", span)] if atom in self.unbound else []

    # ------------------------------------------------------------ statements

    def block(self, block: Block, known: frozenset[Atom], *, outermost: bool = False) -> Block:
        out: list[Statement] = []
        for statement in block:
            out += self.statement(statement, known, out, outermost)
        return Block(tuple(out))

    def statement(
        self, statement: Statement, known: frozenset[Atom], before: list[Statement], outermost: bool
    ) -> list[Statement]:
        match statement:
            case Let(var=var, op=Op(name=name, args=(asked, none))) if name in TESTS and is_none(none):
                if asked in self.optional:
                    answer = Op("not" if name == "is_" else "builtin.bool", (self.presence(asked),))
                    return [*self.asked_bound(asked, statement.span), Let(var, answer, statement.span)]  # type: ignore[arg-type]
            case Let(op=Op(name="tuple_or_none", args=(there, *_))):
                return [*self.asked_if(there, statement, known), statement]
            case Let(op=Op(name="tuple")) if outermost:
                held = (atom for atom in uses(statement) if atom in self.optional)
                atoms: dict[Atom, Atom] = {atom: self.handed_out(atom, before) for atom in held}
                return [Changes({}, atoms)._renamed(statement)]
            case If(cond=cond):
                return [*self.asked((cond,), statement, known), self.branch(statement, known)]
            case Loop(domain=While()):
                return [self.loop(statement, known)]
            case Loop(domain=Range(lo=lo, hi=hi, step=step, source=source)):
                bounds = (lo, hi, step) if source is None else (lo, hi, step, source)
                return [*self.asked(bounds, statement, known), self.loop(statement, known)]
        return [*self.asked(tuple(uses(statement)), statement, known), statement]

    def asked(self, atoms: tuple[Atom, ...], statement: Statement, known: frozenset[Atom]) -> list[Statement]:
        """What a statement reads has to be there."""
        read = [atom for atom in dict.fromkeys(atoms) if atom in self.optional and atom not in known]
        why = "a value that is None is used"
        return [Require(self.presence(atom), why, statement.span) for atom in read]

    def asked_if(self, there: Operand, statement: Let, known: frozenset[Atom]) -> list[Statement]:
        """What a tuple holds has to be there where there is a tuple."""
        found: list[Statement] = []
        for asked in self.asked(tuple(uses(statement)), statement, known):
            if isinstance(asked, Require) and isinstance(there, Var):
                fine = self.fresh(asked.cond)
                found.append(If(there, Block(), Block(), (Phi(fine, asked.cond, Const(True)),), statement.span))
                found.append(replace(asked, cond=fine))
        return found

    def branch(self, statement: If, known: frozenset[Atom]) -> If:
        then = self.block(statement.then, known | self.implied(statement.cond, True))
        orelse = self.block(statement.orelse, known | self.implied(statement.cond, False))
        phis: list[Phi] = []
        for phi in statement.phis:
            if phi.var not in self.optional:
                phis.append(phi)
                continue
            phis.append(Phi(phi.var, _value(phi.then), _value(phi.orelse)))
            holds = ((phi.then, True), (phi.orelse, False))
            sides = [
                Const(True) if side in known | self.implied(statement.cond, held) else self.presence(side)
                for side, held in holds
            ]
            self.there[phi.var] = self.joined(phi.var, sides, phis)
            if phi.var in self.unbound:
                self.bound[phi.var] = self.joined(phi.var, list(map(self.is_bound, (phi.then, phi.orelse))), phis)
        return replace(statement, then=then, orelse=orelse, phis=tuple(phis))

    def joined(self, var: Var, sides: list[Atom], phis: list[Phi]) -> Atom:
        """What tells of a value that an ``if`` chooses, by a phi where the sides tell different things."""
        constants = {side.value for side in sides if isinstance(side, Const)}
        if len(constants) == 1 and all(isinstance(side, Const) for side in sides):
            return sides[0]
        made = self.fresh(var)
        phis.append(Phi(made, *sides))
        return made

    def loop(self, loop: Loop, known: frozenset[Atom]) -> Loop:
        pairs = [carry for carry in loop.carries if carry.inside in self.optional]
        for carry in pairs:
            self.there[carry.inside], self.there[carry.after] = self.fresh(carry.inside), self.fresh(carry.inside)
        unbound = [carry for carry in pairs if carry.inside in self.unbound]
        for carry in unbound:
            self.bound[carry.inside], self.bound[carry.after] = self.fresh(carry.inside), self.fresh(carry.inside)
        domain = loop.domain
        if isinstance(domain, While):
            domain = replace(domain, block=self.block(domain.block, known))
        body = self.block(loop.body, known)
        carries: list[Carry] = []
        for carry in loop.carries:
            if carry not in pairs:
                carries.append(carry)
                continue
            last = carry.inside if is_none(carry.next) else carry.next
            carries.append(Carry(carry.inside, _value(carry.init), last, carry.after))
            carries.append(self.told(carry, self.there, self.presence))
            if carry in unbound:
                carries.append(self.told(carry, self.bound, self.is_bound))
        return replace(loop, domain=domain, carries=tuple(carries), body=body)

    def told(self, carry: Carry, found: dict[Atom, Atom], tells: Callable[[Atom], Atom]) -> Carry:
        """What is told of a carried value, as a carried value of its own."""
        inside, after = found[carry.inside], found[carry.after]
        assert isinstance(inside, Var) and isinstance(after, Var)
        return Carry(inside, tells(carry.init), tells(carry.next), after)

    def handed_out(self, atom: Atom, before: list[Statement]) -> Atom:
        """The value, or None where there is none."""
        before += self.asked_bound(atom, NOWHERE)
        there = self.presence(atom)
        if atom not in self.optional or (isinstance(there, Const) and there.value):
            return atom
        if isinstance(there, Const):
            return Const(None)
        assert isinstance(atom, Var)
        found = Var(f"{atom.hint}.o{next(self.numbers)}")
        before.append(If(there, Block(), Block(), (Phi(found, atom, Const(None)),)))
        return found

    # ------------------------------------------------------------ what conditions tell

    def implied(self, cond: Atom, holds: bool) -> frozenset[Atom]:
        """The values that are there where a condition holds, or does not."""
        match self.definitions.get(cond):
            case Let(op=Op(name=name, args=(asked, none))) if name in TESTS and is_none(none):
                return frozenset([asked]) if holds == (name == "is_not") else frozenset()  # type: ignore[list-item]
            case Let(op=Op(name="not" | "builtin.bool" as name, args=(inner,))) if isinstance(inner, Var):
                return self.implied(inner, holds != (name == "not"))
            case If(cond=first, phis=phis):
                phi = next(phi for phi in phis if phi.var is cond)
                decided = phi.orelse if holds else phi.then
                if decided is first or (isinstance(decided, Const) and decided.value is (not holds)):
                    return self.implied(first, holds) | self.implied(phi.then if holds else phi.orelse, holds)
        return frozenset()


def _value(atom: Atom) -> Atom:
    return UNDEFINED if is_none(atom) else atom
