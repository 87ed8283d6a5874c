"""Loops that carry a number at first and tensors from then on: the first iteration goes in front of the loop.

level = 0.3                                  level = 0.3
for t in range(n):                           level = 0.6 * x[0] + 0.4 * level
    level = 0.6 * x[t] + 0.4 * level         for t in range(1, n):
                                                 level = 0.6 * x[t] + 0.4 * level

Python's 0.3 has more digits than a tensor of 32 bits, so what an iteration makes of it is not what it makes of a
tensor. In either part the kind is known. Where the loop has no iteration, the original runs.
"""

from __future__ import annotations

import itertools

from looplift.base.data import replace
from looplift.ir.facts import Facts
from looplift.ir.grammar import (
    Append,
    Atom,
    Block,
    Carry,
    Const,
    Domain,
    Function,
    Group,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Perform,
    Phi,
    Range,
    Require,
    Slice,
    Statement,
    Store,
    Var,
    While,
    constant,
    operands,
)

MOST = 4
"""So many loops of a function are written twice at most."""

NO_ITERATION = "a loop that gives names their first values has no iteration"

_OF_NUMBERS = ("add", "sub", "mul", "truediv", "neg")
"""What makes floats of Python's of others."""


def with_first_apart(function: Function, facts: Facts | None = None) -> Function | None:
    """The same function with the first iterations of such loops in front of them; None if it has none."""
    apart = _Apart(function, facts)
    body = apart.block(function.body)
    if not 0 < apart.count <= MOST:
        return None
    return replace(function, body=body, attributes=dict(function.attributes))


class _Apart:
    def __init__(self, function: Function, facts: Facts | None):
        self.values, self.facts = function.attributes.get("values", {}), facts
        self.made = {statement.var: statement.op for statement in function.body if isinstance(statement, Let)}
        self.count = 0
        self.numbers = itertools.count(1)

    def block(self, block: Block) -> Block:
        return Block(tuple(made for statement in block for made in self.statement(statement)))

    def statement(self, statement: Statement) -> list[Statement]:
        match statement:
            case If(then=then, orelse=orelse):
                return [replace(statement, then=self.block(then), orelse=self.block(orelse))]
            case Loop() if self._is_one(statement):
                self.count += 1
                return self._apart(replace(statement, body=self.block(statement.body)))
            case Loop():
                return [replace(statement, body=self.block(statement.body))]
        return [statement]

    # ------------------------------------------------------------ whether it is one

    def _is_one(self, loop: Loop) -> bool:
        match loop.domain:
            case Range(step=Const(value=1 | -1)) if loop.index is not None:
                return any(map(self._changes_kind, loop.carries))
            case While():
                return any(map(self._changes_kind, loop.carries))
        return False

    def _changes_kind(self, carry: Carry) -> bool:
        if not self._is_number(carry.init) or not isinstance(carry.next, Var) or carry.next is carry.inside:
            return False
        return self.facts is None or self.facts.kind(carry.next).family in ("tensor", "numpy")

    def _is_number(self, atom: Atom) -> bool:
        """Whether it is a float of Python's, other than zero, which is the same in any type."""
        if isinstance(atom, Const):
            return type(atom.value) is float and atom.value != 0
        if self.facts is not None:
            return self.facts.kind(atom).family == "float"
        if (op := self.made.get(atom)) is None:
            return type(self.values.get(atom)) is float
        numbers = [one for one in operands(op) if not (isinstance(one, Const) and type(one.value) in (int, float))]
        return op.name in _OF_NUMBERS and (op.name == "truediv" or bool(numbers)) and all(map(self._is_number, numbers))

    # ------------------------------------------------------------ the two parts

    def _apart(self, loop: Loop) -> list[Statement]:
        copy = _Copy(self, {carry.inside: carry.init for carry in loop.carries})
        domain = loop.domain
        made = self._enters(domain, copy, loop) if isinstance(domain, While) else self._begins(domain, copy, loop)
        made += copy.block(loop.body)
        if isinstance(domain, Range):
            domain = replace(domain, lo=self._second(domain, made, loop))
        carries = tuple(replace(carry, init=copy.atom(carry.next)) for carry in loop.carries)
        rest = replace(loop, domain=domain, carries=carries)
        return [*made, rest if loop.stop is None else self._unless(copy.atom(loop.stop), rest)]

    def _enters(self, domain: While, copy: _Copy, loop: Loop) -> list[Statement]:
        """A first test, which must hold."""
        return [*copy.block(domain.block).statements, Require(copy.atom(domain.cond), NO_ITERATION, loop.span)]

    def _begins(self, domain: Domain, copy: _Copy, loop: Loop) -> list[Statement]:
        """A first number, which must be one of the range's."""
        assert isinstance(domain, Range) and loop.index is not None
        runs, first = self._fresh("runs"), domain.lo
        compared = Op("lt" if constant(domain.step) == 1 else "gt", (domain.lo, domain.hi))
        made: list[Statement] = [Let(runs, compared, loop.span), Require(runs, NO_ITERATION, loop.span)]
        known = isinstance(first, Const) or (self.facts is not None and self.facts.kind(first).family == "int")
        if not known:  # what `range` gives are integers of Python's
            first = self._fresh(loop.index.hint)
            made.append(Let(first, Op("builtin.int", (domain.lo,)), loop.span))
        copy.names[loop.index] = first
        return made

    def _second(self, domain: Range, made: list[Statement], loop: Loop) -> Atom:
        """The second number of a range."""
        if isinstance(domain.lo, Const) and isinstance(domain.step, Const):
            return Const(domain.lo.value + domain.step.value)
        later = self._fresh("later")
        made.append(Let(later, Op("add", (domain.lo, domain.step)), loop.span))
        return later

    def _unless(self, stopped: Atom, rest: Loop) -> If:
        """The other iterations, unless the first one was the last."""
        ends = [self._fresh(carry.hint) for carry in rest.carries]
        carries = tuple(replace(carry, after=end) for carry, end in zip(rest.carries, ends))
        phis = tuple(Phi(carry.after, carry.init, end) for carry, end in zip(rest.carries, ends))
        return If(stopped, Block(()), Block((replace(rest, carries=carries),)), phis, rest.span)

    def _fresh(self, hint: str) -> Var:
        return Var(f"{hint}.first{next(self.numbers)}")

    def copied(self, var: Var) -> Var:
        return self._fresh(var.hint)


class _Copy:
    """Statements under names of their own, with other atoms for some variables."""

    def __init__(self, apart: _Apart, names: dict[Var, Atom]):
        self.apart, self.names = apart, names

    def atom(self, atom: Atom) -> Atom:
        return self.names.get(atom, atom) if isinstance(atom, Var) else atom

    def operand(self, operand: Operand) -> Operand:
        match operand:
            case Group(items=items):
                return replace(operand, items=tuple(map(self.operand, items)))
            case Slice(lo=lo, hi=hi, step=step):
                return Slice(self.atom(lo), self.atom(hi), self.atom(step))
        return self.atom(operand)

    def op(self, op: Op) -> Op:
        kwargs = tuple((name, self.operand(value)) for name, value in op.kwargs)
        return replace(op, args=tuple(map(self.operand, op.args)), kwargs=kwargs)

    def bound(self, var: Var) -> Var:
        self.names[var] = made = self.apart.copied(var)
        return made

    def variable(self, var: Var) -> Var:
        found = self.atom(var)
        assert isinstance(found, Var)
        return found

    def block(self, block: Block) -> Block:
        return Block(tuple(map(self.statement, block)))

    def statement(self, statement: Statement) -> Statement:
        match statement:
            case Let(var=var, op=op):
                op = self.op(op)
                return replace(statement, var=self.bound(var), op=op)
            case Store(ref=ref, index=index, value=value):
                index, value = self.operand(index), self.atom(value)
                return replace(statement, ref=self.variable(ref), index=index, value=value)
            case Append(ref=ref, value=value):
                return replace(statement, ref=self.variable(ref), value=self.atom(value))
            case If(cond=cond, then=then, orelse=orelse, phis=phis):
                cond, then, orelse = self.atom(cond), self.block(then), self.block(orelse)
                joined = tuple(Phi(self.bound(p.var), self.atom(p.then), self.atom(p.orelse)) for p in phis)
                return replace(statement, cond=cond, then=then, orelse=orelse, phis=joined)
            case Require(cond=cond):
                return replace(statement, cond=self.atom(cond))
            case Perform(op=op):
                return replace(statement, op=self.op(op))
            case Loop():
                return self.loop(statement)
        raise AssertionError

    def loop(self, loop: Loop) -> Loop:
        inits = [self.atom(carry.init) for carry in loop.carries]
        domain = loop.domain
        if isinstance(domain, Range):
            source = self.atom(domain.source) if domain.source is not None else None
            domain = Range(self.atom(domain.lo), self.atom(domain.hi), self.atom(domain.step), source)
        index = self.bound(loop.index) if loop.index is not None else None
        insides = [self.bound(carry.inside) for carry in loop.carries]
        if isinstance(domain, While):
            block = self.block(domain.block)
            domain = While(block, self.atom(domain.cond))
        body = self.block(loop.body)
        nexts = [self.atom(carry.next) for carry in loop.carries]
        stop = self.atom(loop.stop) if loop.stop is not None else None
        afters = [self.bound(carry.after) for carry in loop.carries]
        carries = tuple(map(Carry, insides, inits, nexts, afters))
        return replace(loop, domain=domain, index=index, carries=carries, body=body, stop=stop)
