"""Loops that are left early where it can be told beforehand when: a search, then loops that run to their end.

for j in range(n):                 first = n
    if x[j] > 0:                   for j in range(n):
        found = f(j)                   if x[j] > 0: first = min(first, j)
        break                      for j in range(n):
    total += x[j]                      if j < first: total += x[j]
                                   if first < n: found = f(first)

The condition must not depend on what the loop carries, except for numbers of hits. It is asked of iterations that the
loop never came to as well, so it has no effects; where one of them fails a requirement, the loop runs as written.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import cast

from looplift.base.data import dataclass, field, replace
from looplift.ir.copies import copied
from looplift.ir.facts import Facts
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
    Phi,
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
from looplift.ir.prune import prune
from looplift.ir.started import Changes
from looplift.ops import table
from looplift.vectorize.counted import counted
from looplift.vectorize.written import Written

Atoms = dict[Atom, Atom]

READS = frozenset(
    "builtin.len getitem iter_item iter_len attribute method.item item is_ is_not in_ not_in unpack tuple".split()
)
"""Operations outside of the families that only look at their operands."""


@dataclass
class Searched:
    """A function with searches, and for each of them the name that its loop counted by.

    ``again`` of its attributes has loops over the iterations that go on, each with its search.
    """

    function: Function
    searches: dict[Loop, str] = field(default_factory=dict)


def with_searches(function: Function, facts: Facts, without: frozenset[str] = frozenset()) -> Searched | None:
    """The same function with searches for its loops that are left early, except those that count by these names; None
    if there are none."""
    loops = [s for s in walk(function.body) if isinstance(s, Loop)]
    if not any(loop.stop is not None or isinstance(loop.domain, While) for loop in loops):
        return None
    return _Searches(function, facts, without).rewritten()


def told_twice(before: Function, after: Function) -> dict[Loop, Loop]:
    """The loops of another form of a function that are one of the author's with a search, as they were before."""
    loops = {s.index: s for s in walk(after.body) if isinstance(s, Loop)}
    pairs = [(loop.index, search.index) for loop, search in before.attributes.get("again", {}).items()]
    return {loops[index]: loops[first] for index, first in pairs if index in loops and first in loops}


class _Searches:
    def __init__(self, function: Function, facts: Facts, without: frozenset[str]):
        self.function, self.facts, self.without = function, facts, without
        self.numbers = itertools.count(1)
        self.changes = Changes({}, {})
        self.counted: dict[Var, str] = {}
        self.repeated: dict[Var, Var] = {}
        self.written = Written(function, facts)

    def rewritten(self) -> Searched | None:
        body = self.block(self.function.body, nested=False)
        if not self.counted:
            return None
        results = tuple((name, self.changes.atom(atom)) for name, atom in self.function.results)
        function = replace(self.function, body=self.changes.block(body), results=results)
        made = Searched(prune(replace(function, attributes=dict(function.attributes))))
        loops = {s.index: s for s in walk(made.function.body) if isinstance(s, Loop)}
        made.searches = {loops[index]: name for index, name in self.counted.items() if index in loops}
        again = {loops[index]: loops[first] for index, first in self.repeated.items() if index in loops}
        made.function.attributes["again"] = again | told_twice(self.function, made.function)
        return made

    def block(self, block: Block, *, nested: bool) -> Block:
        return Block(tuple(made for statement in block for made in self.statement(statement, nested=nested)))

    def statement(self, statement: Statement, *, nested: bool) -> list[Statement]:
        match statement:
            case If(then=then, orelse=orelse):
                then, orelse = self.block(then, nested=nested), self.block(orelse, nested=nested)
                return [replace(statement, then=then, orelse=orelse)]
            case Loop(body=body):
                loop = replace(statement, body=self.block(body, nested=True))
                return self.loop(self.changed(loop), nested=nested) or [loop]
        return [statement]

    def changed(self, loop: Loop) -> Loop:
        """The loop with what was found out about loops inside of it."""
        (made,) = self.changes.block(Block((loop,)))
        assert isinstance(made, Loop)
        return made

    def loop(self, loop: Loop, *, nested: bool) -> list[Statement] | None:
        """What a loop that is left early becomes; None for others."""
        flag = _flag_of(loop)
        if not isinstance(loop.domain, While):
            return self.search(loop, flag, nested=nested)
        if loop.stop is not None and (flag is None or self.is_asked(flag)):
            return None
        found = counted(loop, flag, self.written, next(self.numbers))
        if found is None:
            return None
        made = self.search(found.loop, _flag_of(found.loop), nested=nested, counter=found.counter)
        return None if made is None else [*found.before, *made]

    def is_asked(self, carry: Carry) -> bool:
        """Whether something depends on what a carry is after its loop."""
        body, results = walk(self.function.body), self.function.results
        return any(carry.after in set(uses(s)) for s in body) or any(atom is carry.after for _, atom in results)

    def search(
        self, loop: Loop, flag: Carry | None, *, nested: bool, counter: Var | None = None
    ) -> list[Statement] | None:
        """The statements of a search; ``counter`` is the index that is left after it."""
        domain = loop.domain
        if flag is None or not isinstance(domain, Range) or loop.index is None or loop.index.name in self.without:
            return None
        if not isinstance(domain.step, Const) or type(domain.step.value) is not int or not domain.step.value:
            return None
        made = _Search(self, loop, domain, flag, nested=nested)
        statements = made.statements()
        if statements is not None:
            if counter is not None:
                self.changes.atoms[counter] = made.first
            self.changes.atoms |= made.after
            self.counted[made.index] = loop.index.name
            if made.goes_on:
                self.repeated[loop.index] = made.index
        return statements


def _flag_of(loop: Loop) -> Carry | None:
    """The carry that says whether the loop was left."""
    found = next((carry for carry in loop.carries if loop.stop is not None and carry.next is loop.stop), None)
    begins_unset = found is not None and isinstance(found.init, Const) and found.init.value is False
    return found if begins_unset else None


class _Search:
    """One loop that is left early, and what it becomes; ``after`` says what its carries are after it."""

    def __init__(self, outer: _Searches, loop: Loop, domain: Range, flag: Carry, *, nested: bool):
        self.outer, self.loop, self.domain, self.flag, self.nested = outer, loop, domain, flag, nested
        self.number = next(outer.numbers)
        self.step = cast(int, cast(Const, domain.step).value)
        self.up = self.step > 0
        body = Changes({}, {flag.inside: Const(False)}).block(loop.body)
        self.body: Block = body
        self.end: Atom = cast(Atom, loop.stop) if loop.stop is not flag.inside else Const(False)
        self.carries = [carry for carry in loop.carries if carry is not flag]
        assert loop.index is not None
        self.index = Var(f"{loop.index.name}.search{self.number}")
        self.first = Var(f"first.{self.number}")
        self.after: Atoms = {}
        self.went_on: dict[Carry, Var] = {}
        self.goes_on = False

    def statements(self) -> list[Statement] | None:
        self.atoms_on: Atoms = {}
        on = _continuing(self.body, self.end, self.atoms_on)
        if on is None or not isinstance(self.end, Var) or _stopping(self.body, self.end, {}) is None:
            return None
        on_block = Changes({}, self.atoms_on).block(Block(tuple(on)))
        following = {c: self.resolved(c.next, self.atoms_on) for c in self.carries}
        changing = [c for c in self.carries if following[c] is not c.inside]
        effects = not all(_is_silent(self, s) for s in walk(on_block))
        leaking = all(self.is_left_behind(c) for c in changing)
        self.goes_on = effects or (bool(changing) and not (leaking and self.step in (1, -1)))
        computed: set[Atom] = {s.var for s in walk(on_block) if isinstance(s, Let)}
        if self.goes_on and not effects and self.is_all(changing, {self.end, *computed}):
            self.goes_on, changing = False, []
        else:
            self.live = self.carries
            self.needed = {self.end, *(() if self.goes_on else computed)}
            if not self.slice() or (self.goes_on and self.is_written(on_block)):
                return None
        made = self.search()
        if self.goes_on:
            self.went_on = {c: Var(f"{c.after.name}.on{self.number}") for c in changing}
            shared = self.is_shared(on, following)
            made += self.rest(on_block, following, up_to="le" if shared else "lt")
            if shared:
                return made + self.left()
        elif changing:
            return made + self.last_iteration()
        stopped = self.stopped({c: self.went_on.get(c, c.init) for c in self.carries})
        return None if stopped is None else made + stopped

    def is_all(self, changing: list[Carry], needed: set[Atom]) -> bool:
        """Whether the search is all that is wanted of what changes from one iteration to the next."""
        self.live = [c for c in self.carries if self.outer.is_asked(c)]
        self.needed = needed
        if any(c in self.live for c in changing) or not self.slice():
            return False
        statements, following = self.ending()
        read = {atom for s in walk(Block(tuple(statements))) for atom in uses(s)} | set(following.values())
        return not any(c.inside in read for c in changing)

    def resolved(self, atom: Atom, atoms: Atoms) -> Atom:
        return Changes({}, atoms).atom(atom)

    def is_left_behind(self, carry: Carry) -> bool:
        """Whether no iteration reads what the one before left."""
        read = {atom for s in walk(self.body) for atom in uses(s)}
        return carry.inside not in read and all(c.next is not carry.inside for c in self.carries)

    # ------------------------------------------------------------ the condition

    def slice(self) -> bool:
        """Take what the end of the loop depends on; whether that has no effects, and can be known beforehand."""
        carried: list[Carry] = []
        while True:
            self.kept = _sliced(self.body, self.needed)
            more = [c for c in self.carries if c.inside in self.needed and c not in carried]
            if not more:
                break
            carried += more
            self.needed |= {c.next for c in more}
        self.carried = carried
        whole = Block(tuple(self.kept))
        return all(_is_silent(self, s) for s in walk(whole)) and all(map(self.counts, carried))

    def counts(self, carry: Carry) -> bool:
        """Whether a carried value is a number that only grows by what the loop does not carry."""
        fact = self.outer.facts.of.get(carry.inside)
        number = fact is None or fact.kind.family in ("int", "float", "numpy", "tensor")
        return number and carry.init is not UNDEFINED and self._adds(carry.next, carry)

    def _adds(self, atom: Atom, carry: Carry) -> bool:
        if atom is carry.inside:
            return True
        made = next((s for s in walk(self.body) if atom in set(definitions(s))), None)
        match made:
            case Let(op=Op(name=name, args=args)) if name in ("add", "sub", "inplace.add", "inplace.sub"):
                inside = {c.inside for c in self.carries}
                return args[1] not in inside and self._adds(cast(Atom, args[0]), carry)
            case If(phis=phis):
                return all(self._adds(side, carry) for p in phis if p.var is atom for side in (p.then, p.orelse))
        return False

    def is_written(self, on: Block) -> bool:
        """Whether iterations that go on may write to what the condition reads."""
        # what begins as a number shares no memory with what the condition reads
        numbers = [c for c in self.carries if isinstance(c.init, Const) and type(c.init.value) in (int, float)]
        return self.outer.written.is_written(walk(on), self.needed, {c.inside for c in numbers})

    def search(self) -> list[Statement]:
        """``first``: the index of the iteration that ends the loop, else the end of its range."""
        suffix, span = f".search{self.number}", self.loop.span
        inside = {c.inside: Var(f"{c.inside.name}{suffix}") for c in self.carried}
        assert self.loop.index is not None
        statements, atoms = copied(self.kept, {self.loop.index: self.index, **inside}, suffix)
        before, least, after = (Var(f"first.{name}{self.number}") for name in ("before", "least", "sooner"))
        op = Op("builtin.min" if self.up else "builtin.max", (before, self.index))
        hit = atoms[cast(Var, self.end)]
        statements.append(If(hit, Block((Let(least, op, span),)), Block(()), (Phi(after, least, before),), span))
        carries = [Carry(before, self.domain.hi, after, self.first)]
        for c in self.carried:
            last = Var(f"{c.after.name}{suffix}")
            carries.append(Carry(inside[c.inside], c.init, self.resolved(c.next, atoms), last))
        return [Loop(self.domain, self.index, tuple(carries), Block(tuple(statements)), None, span)]

    def comes_before(self, first: Atom, second: Atom) -> Op:
        return Op("lt" if self.up else "gt", (first, second))

    # ------------------------------------------------------------ iterations that go on

    def is_shared(self, on: list[Statement], following: dict[Carry, Atom]) -> bool:
        """Whether the iteration that ends the loop does all that those before it do, and nothing else."""
        atoms: Atoms = {}
        ending = _stopping(self.body, self.end, atoms)
        if ending is None or self.step not in (1, -1):
            return False
        does, last = ([s for s in side if not _only_computes(self, s)] for side in (on, ending))
        read = {atom for s in walk(Block(tuple(does))) for atom in uses(s)}
        told = _made_with({*atoms, *self.atoms_on}, [*on, *ending])
        if not does or does != last or not told.isdisjoint((*read, *following.values())):
            return False
        return all(self.resolved(c.next, atoms) is following[c] for c in self.carries)

    def left(self) -> list[Statement]:
        """Whether the loop was left by the iteration that ends it, after what all of them do."""
        found = Var(f"found.{self.number}")
        self.after[self.flag.after] = found
        self.after |= {c.after: self.went_on.get(c, c.init) for c in self.carries}
        return [Let(found, self.comes_before(self.first, self.domain.hi), self.loop.span)]

    def rest(self, on: Block, following: dict[Carry, Atom], *, up_to: str) -> list[Statement]:
        """The iterations before the one that ends the loop, or ``up_to`` that one."""
        unchanged: Atoms = {c.inside: c.init for c in self.carries if c not in self.went_on}
        on = Changes({}, unchanged).block(on)
        following = {c: self.resolved(following[c], unchanged) for c in self.went_on}
        span, domain, index = self.loop.span, replace(self.domain, source=None), self.loop.index
        assert index is not None
        if not self.nested:
            carries = [Carry(c.inside, c.init, following[c], after) for c, after in self.went_on.items()]
            before, end = self.end_of_rest(up_to)
            return [*before, Loop(replace(domain, hi=end), index, tuple(carries), on, None, span)]
        goes = Var(f"goes.{self.number}")
        phis = {c: Phi(Var(f"{c.hint}.went{self.number}.{c.inside.name}"), following[c], c.inside) for c in following}
        carries = [Carry(c.inside, c.init, phis[c].var, after) for c, after in self.went_on.items()]
        guarded = If(goes, on, Block(()), tuple(phis.values()), span)
        test = self.comes_before(index, self.first)
        test = test if up_to == "lt" else Op(test.name.replace("t", "e"), test.args)
        body = Block((Let(goes, test, span), guarded))
        return [Loop(domain, index, tuple(carries), body, None, span)]

    def end_of_rest(self, up_to: str) -> tuple[list[Statement], Atom]:
        """Where a loop over these iterations ends."""
        if up_to == "lt":
            return [], self.first
        behind, end, span = Var(f"behind.{self.number}"), Var(f"end.{self.number}"), self.loop.span
        nearest = Op("builtin.min" if self.up else "builtin.max", (behind, self.domain.hi))
        return [Let(behind, Op("add", (self.first, self.domain.step)), span), Let(end, nearest, span)], end

    # ------------------------------------------------------------ the iteration that ends the loop

    def ending(self) -> tuple[list[Statement], dict[Carry, Atom]]:
        """What the iteration does that ends the loop, and what it leaves of what is read afterwards."""
        atoms: Atoms = {}
        statements = _stopping(self.body, self.end, atoms)
        assert statements is not None
        block = Changes({}, atoms).block(Block(tuple(statements)))
        following = {c: self.resolved(c.next, atoms) for c in self.live}
        known = {var for s in walk(Block(tuple(self.kept))) for var in definitions(s)}
        return _without_unread(block, known, set(following.values())), following

    def stopped(self, base: dict[Carry, Atom]) -> list[Statement] | None:
        """The iteration that ends the loop, if there is one."""
        span, found = self.loop.span, Var(f"found.{self.number}")
        kept, following = self.ending()
        assert self.loop.index is not None
        entry: Atoms = {c.inside: base[c] for c in self.carries}
        made, names = copied(kept, {self.loop.index: self.first, **entry}, f".end{self.number}")
        phis: list[Phi] = []
        for carry in self.live:
            last = self.resolved(following[carry], names)
            if last is base[carry] and last is UNDEFINED:
                return None
            if last is base[carry]:
                self.after[carry.after] = last
            else:
                phis.append(Phi(carry.after, last, base[carry]))
        self.after[self.flag.after] = found
        test = Let(found, self.comes_before(self.first, self.domain.hi), span)
        return [test, *([If(found, Block(tuple(made)), Block(()), tuple(phis), span)] if made or phis else [])]

    def last_iteration(self) -> list[Statement]:
        """The last iteration, which ends the loop or is the last of its range: it leaves its values behind."""
        span, number = self.loop.span, self.number
        found, runs, end, last = (Var(f"{name}.{number}") for name in ("found", "runs", "end", "last"))
        entry: Atoms = {c.inside: c.init for c in self.carries}
        assert self.loop.index is not None
        statements, names = copied(self.body, {self.loop.index: last, **entry}, f".end{number}")
        for carry in self.carries:
            self.after[carry.after] = self.resolved(carry.next, names)
        self.after[self.flag.after] = found
        least = Op("builtin.min" if self.up else "builtin.max", (self.first, end))
        return [
            Let(runs, self.comes_before(self.domain.lo, self.domain.hi), span),
            Require(runs, "a loop that binds a name for the first time has no iteration", span),
            Let(found, self.comes_before(self.first, self.domain.hi), span),
            Let(end, Op("sub", (self.domain.hi, self.domain.step)), span),
            Let(last, least, span),
            *statements,
        ]


# ---------------------------------------------------------------- pieces of a body


def _is_silent(search: _Search, statement: Statement) -> bool:
    """Whether a statement itself does nothing but compute."""
    match statement:
        case Let(op=op):
            return _is_pure(op.name) or (op.name.startswith("inplace.") and not search.outer.written.changes(statement))
        case If():
            return True
        case Loop(domain=domain, stop=stop):
            return stop is None and not isinstance(domain, While)
    return False


def _only_computes(search: _Search, statement: Statement) -> bool:
    """Whether a statement, with all that is in it, does nothing but compute."""
    return all(_is_silent(search, s) for s in walk(Block((statement,))))


def _is_pure(name: str) -> bool:
    if name in READS or (name in table.ARITHMETIC and not name.startswith("inplace.")):
        return True
    if name.startswith("inplace.") or (name.endswith("_") and table.base_name(name) not in ("and_", "or_")):
        return False
    return table.family(name) in ("elementwise", "reduction", "along", "shape", "contraction")


def _made_with(atoms: set[Atom], statements: list[Statement]) -> set[Atom]:
    """These, and all that statements make of them."""
    found, every = set(atoms), list(walk(Block(tuple(statements))))
    while True:
        more = {var for s in every if not found.isdisjoint(uses(s)) for var in definitions(s)} - found
        if not more:
            return found
        found |= more


def _sliced(block: Iterable[Statement], needed: set[Atom]) -> list[Statement]:
    """The statements that what is needed depends on; all of that is needed afterwards."""
    kept: list[Statement] = []
    for statement in reversed(list(block)):
        match statement:
            case Let(var=var, op=op) if var in needed:
                needed.update(operands(op))
                kept.append(statement)
            case If(cond=cond, phis=phis):
                chosen = tuple(phi for phi in phis if phi.var in needed)
                needed.update(atom for phi in chosen for atom in (phi.then, phi.orelse))
                then, orelse = (Block(tuple(_sliced(side, needed))) for side in (statement.then, statement.orelse))
                if chosen or then or orelse:
                    needed.add(cond)
                    kept.append(replace(statement, then=then, orelse=orelse, phis=chosen))
            case Loop():
                inside = list(walk(Block((statement,))))
                if needed.isdisjoint(var for inner in inside for var in definitions(inner)):
                    continue
                needed.update(atom for inner in inside for atom in uses(inner))
                kept.append(statement)
    return kept[::-1]


def _without_unread(block: Iterable[Statement], known: set[Var], needed: set[Atom]) -> list[Statement]:
    """The statements without those of known values that nothing reads."""
    kept: list[Statement] = []
    for statement in reversed(list(block)):
        match statement:
            case Let(var=var) if var in known and var not in needed:
                continue
            case If(then=then, orelse=orelse, phis=phis):
                phis = tuple(phi for phi in phis if phi.var in needed or phi.var not in known)
                needed.update(atom for phi in phis for atom in (phi.then, phi.orelse))
                sides = [Block(tuple(_without_unread(side, known, needed))) for side in (then, orelse)]
                if not (phis or any(sides)):
                    continue
                statement = replace(statement, then=sides[0], orelse=sides[1], phis=phis)
        needed.update(a for inner in walk(Block((statement,))) for a in uses(inner))
        kept.append(statement)
    return kept[::-1]


def _deciding(block: Block, end: Atom) -> tuple[int, If, Phi] | None:
    """The ``if`` that decides about the end of the iteration, and where it stands."""
    for position, statement in enumerate(block):
        if isinstance(statement, If):
            for phi in statement.phis:
                if phi.var is end:
                    return position, statement, phi
    return None


def _parts(block: Block, end: Atom, atoms: Atoms, *, ends: bool) -> list[Statement] | None:
    """The statements of a block of which it is known whether they end the loop; None if they cannot do so.

    ``atoms`` gets what stands for the variables of an ``if`` of which one side alone is left.
    """
    if isinstance(end, Const):
        return list(block) if bool(end.value) == ends else None
    if (found := _deciding(block, end)) is None:
        return list(block)
    position, branch, phi = found
    sides = [(branch.then, phi.then), (branch.orelse, phi.orelse)]
    then, orelse = (_parts(side, flag, atoms, ends=ends) for side, flag in sides)
    before, after = block.statements[:position], block.statements[position + 1 :]
    if then is None and orelse is None:
        return None
    if then is not None and orelse is not None:
        branch = replace(branch, then=Block(tuple(then)), orelse=Block(tuple(orelse)))
        known = Changes({}, atoms).atom
        atoms |= {p.var: known(p.then) for p in branch.phis if known(p.then) is known(p.orelse) and p is not phi}
        return [*before, branch, *after]
    for other in branch.phis:
        atoms[other.var] = other.orelse if then is None else other.then
    return [*before, *(then or orelse or ()), *after]


def _continuing(block: Block, end: Atom, atoms: Atoms) -> list[Statement] | None:
    return _parts(block, end, atoms, ends=False)


def _stopping(block: Block, end: Atom, atoms: Atoms) -> list[Statement] | None:
    return _parts(block, end, atoms, ends=True)
