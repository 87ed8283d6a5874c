"""Lists that a loop makes longer until it is left, and of which it reads the last item or the length: both are carried.

row = [x]                                  row = []; row.append(x); last = x; count = 1
while count_of(row[-1]) and len(row) < n:  while count_of(last) and count < n:
    row.append(f(row[-1]))                     last = f(last); count += 1; row.append(last)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from looplift.base.data import dataclass, replace
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
    Phi,
    Statement,
    Var,
    While,
    children,
    uses,
    walk,
)
from looplift.ir.started import LENGTHS, Changes


def last_items(function: Function) -> Function:
    """The same function, whose loops that are left early read no list that they make longer."""
    for number in itertools.count(1):
        found = next(_candidates(function, number), None)
        if found is None:
            return function
        function = found.without(function)
    raise AssertionError


def _candidates(function: Function, number: int) -> Iterator[_Lengthened]:
    handed_out = {atom for _, atom in function.results}
    for block in _blocks_in_loops(function.body, False):
        for made in block:
            if isinstance(made, Let) and made.op.name == "list" and made.var not in handed_out:
                found = _lengthened(made, block, number)
                if found is not None:
                    yield found


def _blocks_in_loops(block: Block, is_inside: bool) -> Iterator[Block]:
    """The blocks that run for each iteration of a loop: lists of no loop have one length."""
    if is_inside:
        yield block
    for statement in block:
        for inner in children(statement):
            yield from _blocks_in_loops(inner, is_inside or isinstance(statement, Loop))


def _lengthened(made: Let, block: Block, number: int) -> _Lengthened | None:
    """The loop that makes a list longer, in one place, if it is left early and reads the list's last item or length."""
    appends = [s for s in walk(block) if isinstance(s, Append) and s.ref is made.var]
    if len(appends) != 1 or any(not isinstance(item, Var | Const) for item in made.op.args):
        return None
    (append,) = appends
    loop = next((s for s in block if isinstance(s, Loop) and any(one is append for one in walk(Block((s,))))), None)
    if loop is None or (loop.stop is None and not isinstance(loop.domain, While)) or _is_in_a_loop(append, loop.body):
        return None
    readers = [s for s in (loop, *_all_of(loop)) if s is not append and any(atom is made.var for atom in uses(s))]
    before = block.statements[: block.statements.index(loop)]
    is_known = all(isinstance(s, Let) and _is_known(s.op, made) for s in readers)
    is_untouched = not any(atom is made.var for s in walk(Block(before)) if s is not made for atom in uses(s))
    if not readers or not is_known or not is_untouched or append.value is made.var:
        return None
    return _Lengthened(made, loop, append, [s for s in readers if isinstance(s, Let)], number)


def _all_of(loop: Loop) -> Iterator[Statement]:
    if isinstance(loop.domain, While):
        yield from walk(loop.domain.block)
    yield from walk(loop.body)


def _is_in_a_loop(append: Append, body: Block) -> bool:
    return any(isinstance(s, Loop) and any(one is append for one in walk(s.body)) for s in walk(body))


def _is_known(op: Op, made: Let) -> bool:
    if op.args[0] is not made.var or op.kwargs:
        return False
    if op.name in LENGTHS:
        return len(op.args) == 1
    index = op.args[1] if op.name == "getitem" else None
    return bool(made.op.args) and isinstance(index, Const) and type(index.value) is int and index.value == -1


@dataclass
class _State:
    """The last item and the length at some place of an iteration."""

    last: Atom
    count: Atom


@dataclass
class _Lengthened:
    made: Let
    loop: Loop
    append: Append
    readers: list[Let]
    number: int

    def __post_init__(self) -> None:
        self.names = itertools.count(1)
        self.changed = Changes({}, {})
        names = {let.op.name for let in self.readers}
        self.counts, self.keeps_last = not names.isdisjoint(LENGTHS), "getitem" in names

    def without(self, function: Function) -> Function:
        items, span = self.made.op.args, self.made.span
        begin = _State(self._var("last"), self._var("count"))
        if isinstance(self.loop.domain, While):
            self._read(self.loop.domain.block, begin)
        body, end = self._walked(self.loop.body, begin)
        begun = [Append(self.made.var, item, span) for item in items if isinstance(item, Var | Const)]
        carries = [*self.loop.carries]
        if self.keeps_last:
            carries.append(_carry(begin.last, begun[-1].value, end.last, self._var("last")))
        if self.counts:
            carries.append(_carry(begin.count, Const(len(items)), end.count, self._var("count")))
        self.changed.statements[id(self.made)] = (replace(self.made, op=Op("list")), *begun)
        self.changed.statements[id(self.loop)] = (replace(self.loop, carries=tuple(carries), body=body),)
        results = tuple((name, self.changed.atom(atom)) for name, atom in function.results)
        return replace(function, body=self.changed.block(function.body), results=results)

    def _var(self, what: str) -> Var:
        return Var(f"{what}_{self.made.var.hint or 'list'}.t{self.number}_{next(self.names)}")

    def _read(self, block: Block, state: _State) -> None:
        """Readers in a block that does not make the list longer."""
        for statement in walk(block):
            if isinstance(statement, Let) and statement in self.readers:
                self.changed.drop(statement, state.count if statement.op.name in LENGTHS else state.last)

    def _walked(self, block: Block, state: _State) -> tuple[Block, _State]:
        """The block with the new state behind the append, and the state at its end."""
        out: list[Statement] = []
        for statement in block:
            if not any(one is self.append for one in walk(Block((statement,)))):
                self._read(Block((statement,)), state)
                out.append(statement)
            elif statement is self.append:
                count = self._var("count")
                added = Let(count, Op("add", (state.count, Const(1))), self.append.span)
                out += [statement, added] if self.counts else [statement]
                state = _State(self.append.value, count)
            else:
                assert isinstance(statement, If)
                then, one = self._walked(statement.then, state)
                orelse, other = self._walked(statement.orelse, state)
                joined = _State(self._var("last"), self._var("count"))
                phis = [*statement.phis]
                phis += [_phi(joined.last, one.last, other.last)] if self.keeps_last else []
                phis += [_phi(joined.count, one.count, other.count)] if self.counts else []
                out.append(replace(statement, then=then, orelse=orelse, phis=tuple(phis)))
                state = joined
        return Block(tuple(out)), state


def _carry(inside: Atom, init: Atom, following: Atom, after: Atom) -> Carry:
    assert isinstance(inside, Var) and isinstance(after, Var)
    return Carry(inside, init, following, after)


def _phi(var: Atom, then: Atom, orelse: Atom) -> Phi:
    assert isinstance(var, Var)
    return Phi(var, then, orelse)
