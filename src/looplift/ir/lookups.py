"""A value that a loop chooses among views is looked up after it: where it was found is carried beside it."""

from __future__ import annotations

import itertools

from looplift.base.data import dataclass, field, replace
from looplift.ir.grammar import (
    UNDEFINED,
    Atom,
    Block,
    Carry,
    Const,
    Function,
    Group,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Phi,
    Require,
    Statement,
    Var,
    While,
    as_atom,
)

DISPLAYS = frozenset(("tuple", "list"))
EXTREMES = {"builtin.max": "gt", "builtin.min": "lt"}


@dataclass(frozen=True)
class Place:
    """A view as an argument and the positions in it."""

    root: Var
    positions: tuple[Atom, ...]


@dataclass
class Choice:
    """A carried value that leaves the region: what it may be, and where that is written down."""

    after: Var
    members: set[Var] = field(default_factory=set)
    """The carried value under all its names: inside and after loops, and where sides of an If join."""
    places: dict[Var, Place] = field(default_factory=dict)
    """The views that it may be, by the name that each has where it is made."""
    others: list[Atom] = field(default_factory=list)
    """What it may be besides, made in front of all loops."""

    @property
    def targets(self) -> list[tuple[Var, int]]:
        """The arguments that are looked into, each with how many positions a view of it takes."""
        return list(dict.fromkeys((place.root, len(place.positions)) for place in self.places.values()))


class Lookups:
    """Carries beside one value where it was found, and looks it up there after the outermost loop."""

    def __init__(self, choice: Choice, number: int):
        self.choice, self.number = choice, number
        self.targets = choice.targets
        self.alternatives: list[Atom | tuple[Var, int]] = [*choice.others, *self.targets]
        """What the value may be, in the order of the numbers that stand for it."""
        self.depth = max(depth for _, depth in self.targets)
        self.parts = [f"at{d}" if self.depth > 1 else "at" for d in range(self.depth)]
        self.parts += ["which"] if len(self.alternatives) > 1 else []
        self.names: dict[tuple[Var, str], Var] = {}
        self.joined: set[Var] = set()
        """What is one of several objects, as a number says."""
        self.count = itertools.count()

    def fresh(self, word: str) -> Var:
        return Var(f"{self.choice.after.hint}_{word}.v{self.number}_{next(self.count)}")

    def name(self, var: Var, part: str) -> Var:
        if (var, part) not in self.names:
            self.names[var, part] = self.fresh(part)
        return self.names[var, part]

    def of(self, atom: Atom, part: str) -> Atom:
        """What stands for a value: one of its positions, or the number of what it is."""
        if isinstance(atom, Var) and atom in self.choice.members:
            return self.name(atom, part)
        place = self.choice.places.get(atom) if isinstance(atom, Var) else None
        if part == "which":
            mine = (place.root, len(place.positions)) if place is not None else atom
            return Const(next(k for k, one in enumerate(self.alternatives) if one is mine or one == mine))
        position = self.parts.index(part)
        return place.positions[position] if place is not None and position < len(place.positions) else Const(0)

    def function(self, function: Function) -> Function:
        after, body = self.choice.after, list(self.block(function.body))
        loop = next(s for s in body if isinstance(s, Loop) and any(c.after is after for c in s.carries))
        position = body.index(loop)
        rest = body[position + 1 :]
        made: list[Statement] = []
        result: Atom = after
        if any(atom is after for _, atom in function.results) or any(after in self._display(s) for s in rest):
            made, result = self.looked_up(loop)
        body[position + 1 :] = [*made, *(self.with_found(s, result, loop) for s in rest)]
        results = tuple((key, result if atom is after else atom) for key, atom in function.results)
        attributes = function.attributes | {"either": function.attributes.get("either", set()) | self.joined}
        return replace(function, body=Block(tuple(body)), results=results, attributes=attributes)

    @staticmethod
    def _display(statement: Statement) -> tuple[Operand, ...]:
        return statement.op.args if isinstance(statement, Let) and statement.op.name in DISPLAYS else ()

    def with_found(self, statement: Statement, result: Atom, loop: Loop) -> Statement:
        """A statement after the loop: what it hands on is ``result``, or looked up where a side of an If needs it."""
        after = self.choice.after
        if isinstance(statement, Let) and after in self._display(statement):
            args = tuple(result if arg is after else arg for arg in statement.op.args)
            return replace(statement, op=replace(statement.op, args=args))
        if isinstance(statement, If):
            sides = []
            for block, atoms in (
                (statement.then, [phi.then for phi in statement.phis]),
                (statement.orelse, [phi.orelse for phi in statement.phis]),
            ):
                made: list[Statement] = []
                found = result
                if after in atoms and result is after:
                    made, found = self.looked_up(loop)
                sides.append((Block((*block, *made)), [found if atom is after else atom for atom in atoms]))
            (then, first), (orelse, second) = sides
            self.joined |= {phi.var for phi in statement.phis if after in (phi.then, phi.orelse)}
            phis = tuple(Phi(phi.var, a, b) for phi, a, b in zip(statement.phis, first, second, strict=True))
            return replace(statement, then=then, orelse=orelse, phis=phis)
        return statement

    def block(self, block: Block) -> Block:
        return Block(tuple(made for statement in block for made in self.statements(statement)))

    def statements(self, statement: Statement) -> tuple[Statement, ...]:
        if not (isinstance(statement, Let) and statement.var in self.choice.members):
            return (self.statement(statement),)
        first, second = map(as_atom, statement.op.args)  # Python keeps the first of those that are alike
        asked = Let(self.fresh("other"), Op(EXTREMES[statement.op.name], (second, first)), statement.span)
        joined = (Phi(statement.var, second, first), *self.phis(Phi(statement.var, second, first)))
        return (asked, If(asked.var, Block(), Block(), joined, statement.span))

    def phis(self, phi: Phi) -> tuple[Phi, ...]:
        """The joins of what stands beside a value that is joined."""
        if phi.var not in self.choice.members:
            return ()
        return tuple(
            Phi(self.name(phi.var, part), self.of(phi.then, part), self.of(phi.orelse, part)) for part in self.parts
        )

    def statement(self, statement: Statement) -> Statement:
        match statement:
            case If(phis=phis):
                added = tuple(made for phi in phis for made in self.phis(phi))
                then, orelse = self.block(statement.then), self.block(statement.orelse)
                return replace(statement, then=then, orelse=orelse, phis=(*phis, *added))
            case Loop(domain=domain, carries=carries, body=body):
                if isinstance(domain, While):
                    domain = replace(domain, block=self.block(domain.block))
                added = tuple(
                    Carry(
                        self.name(carry.inside, part),
                        self.of(carry.init, part),
                        self.of(carry.next, part),
                        self.name(carry.after, part),
                    )
                    for carry in carries
                    if carry.inside in self.choice.members
                    for part in self.parts
                )
                return replace(statement, domain=domain, carries=(*carries, *added), body=self.block(body))
        return statement

    def may_be(self, other: Lookups) -> bool:
        """Whether both may be one object that is looked up."""
        mine, theirs = self.choice, other.choice
        return bool(mine.places.keys() & theirs.places.keys() or mine.members & theirs.members)

    def apart_from(self, other: Lookups, function: Function) -> Function:
        """The function where both are never found at one place: they would be two objects there."""
        body = list(function.body)
        loops = [k for k, s in enumerate(body) if isinstance(s, Loop) and self._ends(s, other)]
        alike = [self.fresh("alike") for _ in self.parts]
        asked: list[Statement] = [
            Let(var, Op("eq", (self.name(self.choice.after, part), other.name(other.choice.after, part))))
            for var, part in zip(alike, self.parts, strict=True)
        ]
        whole: Var = alike[0]
        for var in alike[1:]:
            both = self.fresh("alike")
            asked.append(Let(both, Op("and_", (whole, var))))
            whole = both
        apart = self.fresh("apart")
        why = f"'{self.choice.after.hint}' and '{other.choice.after.hint}' are one object"
        asked += [Let(apart, Op("not", (whole,))), Require(apart, why)]
        body[loops[-1] + 1 : loops[-1] + 1] = asked
        return replace(function, body=Block(tuple(body)))

    def _ends(self, loop: Loop, other: Lookups) -> bool:
        return any(carry.after in (self.choice.after, other.choice.after) for carry in loop.carries)

    def looked_up(self, loop: Loop) -> tuple[list[Statement], Atom]:
        """What the value is, by the number that the loop has left."""
        numbers = [k for k, one in enumerate(self.alternatives) if one is not UNDEFINED]
        if len(numbers) == len(self.alternatives):
            return self.one_of(numbers, loop)
        bound = self.fresh("bound")
        unbound = Const(next(k for k, one in enumerate(self.alternatives) if one is UNDEFINED))
        asked: list[Statement] = [
            Let(bound, Op("ne", (self.name(self.choice.after, "which"), unbound)), loop.span),
            Require(bound, f"'{self.choice.after.hint}' has no value after the loop", loop.span),
        ]
        made, value = self.one_of(numbers, loop)
        return asked + made, value

    def one_of(self, numbers: list[int], loop: Loop) -> tuple[list[Statement], Atom]:
        first, *rest = numbers
        made, value = self.alternative(self.alternatives[first], loop)
        if not rest:
            return made, value
        others, other = self.one_of(rest, loop)
        found, result = self.fresh("is"), self.fresh("found")
        self.joined.add(result)
        asked = Let(found, Op("eq", (self.name(self.choice.after, "which"), Const(first))), loop.span)
        return [
            asked,
            If(found, Block(tuple(made)), Block(tuple(others)), (Phi(result, value, other),), loop.span),
        ], result

    def alternative(self, one: Atom | tuple[Var, int], loop: Loop) -> tuple[list[Statement], Atom]:
        if not isinstance(one, tuple):
            return [], one
        root, depth = one
        at = [self.name(self.choice.after, part) for part in self.parts[:depth]]
        result = self.fresh("found")
        index: Operand = at[0] if depth == 1 else Group("tuple", tuple(at))
        return [Let(result, Op("getitem", (root, index)), loop.span)], result
