"""A ``while`` whose counter goes on by the same in each iteration, in; a ``for`` over a range out.

while start + n <= len(x):          for start in range(start, len(x) - n + 1, 16):
    frames.append(x[start:start+n])     frames.append(x[start:start+n])
    start += 16

Afterwards the counter is what it was left with. A step that is a variable is required to lead to the end.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from looplift.base.data import dataclass, field, replace
from looplift.ir.facts import Facts
from looplift.ir.grammar import (
    Append,
    Atom,
    Block,
    Carry,
    Const,
    Function,
    If,
    Let,
    Loop,
    Op,
    Perform,
    Range,
    Require,
    Statement,
    Var,
    While,
    definitions,
    operands,
    uses,
    walk,
)
from looplift.ir.partial import LENGTHS
from looplift.ir.prune import prune
from looplift.ir.started import Changes

COMPARISONS = {"lt": (1, 0), "le": (1, 1), "gt": (-1, 0), "ge": (-1, -1)}
"""Of a counter with its bound: which way it counts, and by how much its range ends behind the bound."""
FLIPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
SIGNS = {"add": 1, "inplace.add": 1, "sub": -1, "inplace.sub": -1}
ARITHMETIC = frozenset("add sub mul neg floordiv mod builtin.min builtin.max builtin.abs".split())
Terms = list[tuple[int, Atom]]
"""What is added to a counter, with signs."""


def with_ranges(function: Function, facts: Facts) -> Function | None:
    """The same function with ranges for its loops that count; None if there are none."""
    if not any(isinstance(s, Loop) and isinstance(s.domain, While) for s in walk(function.body)):
        return None
    ranges = _Ranges(function, facts)
    body = ranges.block(function.body)
    return prune(replace(function, body=body)) if ranges.found else None


@dataclass
class _Ranges:
    function: Function
    facts: Facts
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    found: bool = False

    def block(self, block: Block) -> Block:
        return Block(tuple(made for statement in block for made in self.statement(statement)))

    def statement(self, statement: Statement) -> Iterable[Statement]:
        match statement:
            case If(then=then, orelse=orelse):
                return [replace(statement, then=self.block(then), orelse=self.block(orelse))]
            case Loop(body=body):
                return self.loop(replace(statement, body=self.block(body)))
        return [statement]

    def loop(self, loop: Loop) -> list[Statement]:
        counting = _Counting(self, loop) if isinstance(loop.domain, While) and loop.stop is None else None
        made = counting.statements() if counting is not None else None
        self.found = self.found or made is not None
        return made or [loop]

    def is_integer(self, atom: object) -> bool:
        if isinstance(atom, Const):
            return type(atom.value) is int
        return isinstance(atom, Var) and atom in self.facts.of and self.facts.kind(atom).family == "int"

    def is_read(self, var: Var) -> bool:
        results = any(atom is var for _, atom in self.function.results)
        return results or any(var in set(uses(s)) for s in walk(self.function.body))


class _Counting:
    """One ``while`` that runs to its end, and the range that it counts through."""

    def __init__(self, outer: _Ranges, loop: Loop):
        assert isinstance(loop.domain, While)
        self.outer, self.loop, self.domain = outer, loop, loop.domain
        self.carries = {carry.inside: carry for carry in loop.carries}
        self.lets = {s.var: s for s in loop.domain.block if isinstance(s, Let)}
        self.body = {s.var: s for s in loop.body if isinstance(s, Let)}
        parts = Block((*loop.domain.block, *loop.body))
        self.inner = {*self.carries, *(var for s in walk(parts) for var in definitions(s))}
        self.number = next(outer.numbers)
        self.before: list[Statement] = []

    def statements(self) -> list[Statement] | None:
        """The statements of the ``for``; None where the loop does not count."""
        test = self.lets.get(self.domain.cond) if isinstance(self.domain.cond, Var) else None
        if test is None or len(self.lets) < len(self.domain.block.statements) or test.op.name not in COMPARISONS:
            return None
        held = [let for let in self.lets.values() if let is not test]
        still: set[Atom] = set()
        for let in held:
            if self.is_still(let, still):
                still.add(let.var)
                self.before.append(let)
        first, second = test.op.args
        for name, counter, bound in ((test.op.name, first, second), (FLIPPED[test.op.name], second, first)):
            found = self.terms(counter, self.lets, still)
            if found is None or not isinstance(bound, Var | Const) or not self.is_known(bound, still):
                continue
            carry, added = found
            way, behind = COMPARISONS[name]
            if (step := self.step(carry, way)) is not None:
                end = self.sum("end", bound, [(-sign, atom) for sign, atom in added], behind)
                return self.counted(carry, end, step)
        return None

    # ------------------------------------------------------------ what is asked

    def is_known(self, atom: object, still: set[Atom]) -> bool:
        """Whether an integer is the same in all iterations."""
        return self.outer.is_integer(atom) and (atom not in self.inner or atom in still)

    def is_still(self, let: Let, still: set[Atom]) -> bool:
        """Whether a part of the condition has the same value whenever it is asked."""
        op = let.op
        known = [operand for operand in operands(op) if operand not in self.inner or operand in still]
        if len(known) < len([*operands(op)]) or op.kwargs:
            return False
        if op.name in ARITHMETIC:
            return all(map(self.outer.is_integer, operands(op)))
        owner = op.args[0] if op.args else None
        if op.name in ("getitem", "unpack"):  # of a shape
            made = self.lets.get(owner) if isinstance(owner, Var) else None
            return made is not None and made.op.name == "attribute" and self.outer.is_integer(let.var)
        is_shape = op.name == "attribute" and isinstance(op.args[1], Const) and op.args[1].value in ("shape", "ndim")
        if not (op.name in LENGTHS or is_shape or op.name in ("method.size", "method.numel", "method.dim")):
            return False
        return isinstance(owner, Var) and owner in self.outer.facts.of and self.keeps_its_length(owner)

    def keeps_its_length(self, owner: Var) -> bool:
        family = self.outer.facts.kind(owner).family
        if family in ("tensor", "array", "tuple", "string"):
            return True
        changed = [atom for s in walk(self.loop.body) for atom in _lengthened(s) if not self.has_no_items(atom)]
        if not changed:
            return family == "list"
        made = {s.var for s in walk(self.outer.function.body) if isinstance(s, Let) and s.op.name == "list"}
        return family == "list" and owner in self.outer.function.params and all(atom in made for atom in changed)

    def has_no_items(self, atom: object) -> bool:
        """Whether a variable is a number, or an array, which nothing makes longer."""
        kind = self.outer.facts.kind(atom) if isinstance(atom, Var) and atom in self.outer.facts.of else None
        return kind is not None and (kind.is_number or kind.is_array)

    def terms(self, atom: object, lets: dict[Var, Let], still: set[Atom]) -> tuple[Carry, Terms] | None:
        """The counter that a number is made of, and what is added to it."""
        if not isinstance(atom, Var):
            return None
        if (carry := self.carries.get(atom)) is not None:
            return (carry, []) if self.outer.is_integer(atom) else None
        made = lets.get(atom)
        if made is None or made.op.name not in SIGNS or len(made.op.args) != 2:
            return None
        first, second = made.op.args
        sign = SIGNS[made.op.name]
        for counter, other in ((first, second), (second, first))[: 2 if sign > 0 else 1]:
            if self.is_known(other, still) and (found := self.terms(counter, lets, still)) is not None:
                return found[0], [*found[1], (sign, other)]  # type: ignore[list-item]
        return None

    def step(self, carry: Carry, way: int) -> Atom | None:
        """By how much the counter goes on in each iteration, towards the end."""
        found = self.terms(carry.next, self.body, set())
        if found is None or found[0] is not carry:
            return None
        step = self.sum("step", Const(0), found[1], 0)
        if isinstance(step, Const):
            return step if step.value * way > 0 else None
        leads = self.let("leads", Op("gt" if way > 0 else "lt", (step, Const(0))))
        self.before.append(Require(leads, "a loop that counts does not come nearer to its end", self.loop.span))
        return step

    # ------------------------------------------------------------ what is made

    def let(self, hint: str, op: Op) -> Var:
        made = Var(f"{hint}.counted{self.number}_{len(self.before)}")
        self.before.append(Let(made, op, self.loop.span))
        return made

    def sum(self, hint: str, first: Atom, terms: Terms, more: int) -> Atom:
        """A number and what is added to it: a literal where all are."""
        for sign, atom in terms:
            if isinstance(atom, Const):
                more += sign * atom.value
            elif sign > 0 and isinstance(first, Const) and not first.value:
                first = atom
            else:
                first = self.let(hint, Op("add" if sign > 0 else "sub", (first, atom)))
        if isinstance(first, Const):
            return Const(first.value + more)
        if not more:
            return first
        return self.let(hint, Op("add" if more > 0 else "sub", (first, Const(abs(more)))))

    def counted(self, carry: Carry, end: Atom, step: Atom) -> list[Statement]:
        """The loop over the range, and the counter behind it."""
        span, start = self.loop.span, carry.init
        index = Var(f"{carry.hint}.counted{self.number}")
        others = tuple(one for one in self.loop.carries if one is not carry)
        domain, body = Range(start, end, step), list(self.loop.body)
        number: Var = index
        if not isinstance(step, Const):
            number = Var(f"{carry.hint}.at{self.number}")
            along = Var(f"along.counted{self.number}")
            steps = Let(along, Op("mul", (index, step)), span)
            body = [steps, Let(number, Op("add", (start, along)), span), *body]
            domain = Range(Const(0), self.count(start, end, step), Const(1))
        asked = self.outer.is_read(carry.after)
        behind = self.left(carry.after, start, end, step) if asked else []
        made = Loop(domain, index, others, Block(tuple(body)), None, span)
        plain = {
            id(s): (replace(s, op=_plain(s.op)),) for s in self.body.values() if self.terms(s.var, self.body, set())
        }
        (made,) = Changes(plain, {carry.inside: number}).block(Block((made,)))  # type: ignore[arg-type]
        return [*self.before, made, *behind]

    def count(self, start: Atom, end: Atom, step: Atom) -> Atom:
        span = self.let("span", Op("sub", (start, end)))
        steps = self.let("steps", Op("neg", (self.let("steps", Op("floordiv", (span, step))),)))
        return self.let("n", Op("builtin.max", (Const(0), steps)))

    def left(self, after: Var, start: Atom, end: Atom, step: Atom) -> list[Statement]:
        """What the counter is behind the loop."""
        if isinstance(step, Const) and abs(step.value) == 1:
            furthest = "builtin.max" if step.value == 1 else "builtin.min"
            return [Let(after, Op(furthest, (start, end)), self.loop.span)]
        along = self.let("along", Op("mul", (self.count(start, end, step), step)))
        return [Let(after, Op("add", (start, along)), self.loop.span)]


def _plain(op: Op) -> Op:
    """An update of an integer that is bound anew."""
    return replace(op, name=op.name.removeprefix("inplace."))


GROWING = frozenset("append extend insert pop remove clear popleft appendleft add discard update".split())


def _lengthened(statement: Statement) -> list[object]:
    """What a statement may make longer or shorter; None stands for what is not known."""
    match statement:
        case Append(ref=ref):
            return [ref]
        case Let(op=Op(name="call")) | Perform(op=Op(name="call")):
            return [None]
        case Let(op=op) | Perform(op=op):
            prefix, _, method = op.name.partition(".")
            if (prefix == "method" and method in GROWING) or prefix == "inplace":
                return list(op.args[:1])
    return []
