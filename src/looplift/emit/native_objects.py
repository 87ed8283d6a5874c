"""A change of a 0-dim tensor in place in; whether a kernel, which holds numbers, would still read the old one out.

Several variables may hold one tensor. After ``total += x`` all of them show the sum; in a kernel only those do that
take the value of that statement.
"""

from __future__ import annotations

from itertools import combinations

from looplift.base.data import dataclass, field
from looplift.emit.native_joins import possible_objects
from looplift.ir.grammar import Atom, Block, Carry, If, Let, Loop, Var, as_atom, operands, walk
from looplift.ir.moments import Moment, Moments, moments_of
from looplift.ops.table import may_show


def holders_before(loop: Loop, change: Let) -> set[Var]:
    """The variables that the changed object may come from, that of the statement among them."""
    return _names(loop, Moments()).before(as_atom(change.op.args[0]))


def read_as_before(loop: Loop, change: Let, results: tuple[Atom, ...]) -> Var | None:
    """A variable that may hold what is changed and is read with its old value afterwards; None if there is none.

    ``results`` are read after the loop.
    """
    names = _names(loop, moments_of(Block((loop,)), results))
    for var in sorted(names.also_holding(change), key=lambda var: var.name):
        if any(names.shows(change, var, read) for read in names.moments.reads.get(var, ())):
            return var
    return None


@dataclass
class _Names:
    """Which variables of a loop nest may hold the same object: ``sources`` back, ``carries`` with their loops."""

    moments: Moments
    sources: dict[Var, tuple[Atom, ...]]
    carries: dict[Var, tuple[Loop, Carry]] = field(default_factory=dict)
    homes: dict[Var, tuple[Loop, ...]] = field(default_factory=dict)
    branches: dict[Var, If] = field(default_factory=dict)

    def before(self, target: Atom) -> set[Var]:
        found: set[Var] = set()
        pending = [target]
        while pending:
            atom = pending.pop()
            if isinstance(atom, Var) and atom not in found:
                found.add(atom)
                pending += self.sources.get(atom, ())
        return found

    def after(self, starts: set[Var], passed: set[Loop]) -> set[Var]:
        """The variables that take their value from these, from one iteration to the next in loops that are passed."""
        found = set(starts)
        while True:
            more = {var for var in self.sources if var not in found and found & self._given(var, passed)}
            if not more:
                return found
            found |= more

    def _given(self, var: Var, passed: set[Loop]) -> set[Atom]:
        if var in self.carries and self.carries[var][0] not in passed:
            return {self.carries[var][1].init}
        return set(self.sources[var])

    def also_holding(self, change: Let) -> set[Var]:
        """The variables that may hold the changed object, and do not take their value from the change."""
        earlier = self.before(as_atom(change.op.args[0]))
        passed = {self.carries[var][0] for var in earlier if var in self.carries}
        changed = self.moments.of[id(change)].loops
        passed |= {loop for var in earlier for loop in changed if loop not in self.homes.get(var, ())}
        return self.after(earlier, passed) - self.after({change.var}, set())

    def shows(self, change: Let, var: Var, read: Moment) -> bool:
        """Whether a read of a variable comes after the change, in the same iteration or in a later one."""
        changed = self.moments.of[id(change)]
        if read.order > changed.order and not read.excludes(changed):
            return True
        home = self.homes.get(var, ())
        return any(loop in changed.loops and loop not in home for loop in read.loops)


def _names(loop: Loop, moments: Moments) -> _Names:
    names = _Names(moments, possible_objects(loop) | _shared(loop))
    for statement in walk(Block((loop,))):
        home = moments.of[id(statement)].loops if moments.of else ()
        match statement:
            case Let(var=var, op=op):
                names.homes[var] = home
                if op.name == "copy" or op.name.startswith("inplace."):
                    names.sources[var] = tuple(operands(op))[:1]
            case If(phis=phis):
                names.homes |= {phi.var: home for phi in phis}
                names.branches |= {phi.var: statement for phi in phis}
            case Loop(carries=carries):
                for carry in carries:
                    stays = carry.next is carry.inside
                    names.carries[carry.inside] = (statement, carry)
                    names.homes |= {carry.inside: home if stays else (*home, statement), carry.after: home}
    return names


def _shared(loop: Loop) -> dict[Var, tuple[Atom, ...]]:
    """Each variable whose memory may be that of others, with these: of what gives its argument or a view of it, and of
    the items of a list or tuple that is written out."""
    found: dict[Var, tuple[Atom, ...]] = {}
    displays: set[Atom] = set()
    for statement in walk(Block((loop,))):
        if not isinstance(statement, Let):
            continue
        var, op = statement.var, statement.op
        if op.name in ("list", "tuple"):
            displays.add(var)
            found[var] = tuple(operands(op))
        elif op.name == "attribute" or (op.name in ("getitem", "iter_item", "unpack") and op.args[0] in displays):
            found[var] = (as_atom(op.args[0]),)
        elif may_show(op.name):
            found[var] = tuple(operands(op))[:1]
    return found


def objects_from(loop: Loop, carry: Carry) -> set[Var]:
    """The variables whose objects an iteration may hand on as a carried value, but for the one it had before."""
    names = _names(loop, Moments())
    names.sources[carry.inside] = ()
    return {var for var in names.before(carry.next) if not names.sources.get(var)} - {carry.inside}


def may_be_one(loop: Loop, first: Var, second: Var) -> bool:
    """Whether two values that a loop carries may be one object after it."""
    ends = {carry.after: carry.inside for carry in loop.carries}
    pairs = _Pairs(_names(loop, Moments()), {carry.inside for carry in loop.carries})
    while True:
        before = len(pairs.alike)
        for a, b in combinations(loop.carries, 2):
            if pairs.meet(a.init, b.init) or pairs.meet(a.next, b.next):
                pairs.alike.add(frozenset((a.inside, b.inside)))
        if len(pairs.alike) == before:
            return frozenset((ends[first], ends[second])) in pairs.alike


@dataclass
class _Pairs:
    """Which of the values that a loop carries may be ``alike``: one object at the start of an iteration."""

    names: _Names
    carried: set[Var]
    alike: set[frozenset[Var]] = field(default_factory=set)

    def meet(self, one: Atom, other: Atom, seen: frozenset[tuple[Atom, Atom]] = frozenset()) -> bool:
        """Whether two values of an iteration may be the same object."""
        if not isinstance(one, Var) or not isinstance(other, Var) or (one, other) in seen:
            return False
        if one is other or frozenset((one, other)) in self.alike:
            return True
        seen |= {(one, other)}
        branch, theirs = self.names.branches.get(one), self.names.branches.get(other)
        if branch is not None and branch is theirs:
            sides = zip(self.names.sources[one], self.names.sources[other], strict=True)
            return any(self.meet(a, b, seen) for a, b in sides)
        for a, b in ((one, other), (other, one)):
            if a not in self.carried and a in self.names.sources:
                return any(self.meet(source, b, seen) for source in self.names.sources[a])
        return False
