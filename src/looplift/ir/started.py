"""Lists of tensors that begin with items, and of which a loop reads the last ones, become lists and carried values.

out = [x]                         last = x; out = []
for ...:                          for ...:
    out.append(f(out[-1]))            last = f(last); out.append(last)
torch.stack(out)                  torch.cat((torch.stack([x]), torch.stack(out)))
torch.stack(out[1:])              torch.stack(out)
torch.stack(out[::-1])            torch.cat((torch.stack(out[::-1]), torch.stack([x])))

With ``out[-2]``, of a list that begins with two items, the last two are carried.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from looplift.base.data import dataclass, replace
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
    Range,
    Require,
    Slice,
    Statement,
    Store,
    Var,
    While,
    atoms,
    children,
    uses,
    walk,
)
from looplift.ir.prune import prune

JOINS = {
    "torch.stack": "torch.cat", "torch.cat": "torch.cat", "torch.concat": "torch.cat", "torch.vstack": "torch.cat",
    "np.stack": "np.concatenate", "np.concatenate": "np.concatenate", "np.vstack": "np.concatenate",
}  # fmt: skip
"""What is asked of a list, and how the parts of the answer are joined."""
LENGTHS = ("builtin.len", "iter_len")


def started_lists(function: Function) -> Function:
    """The same function with such lists as empty ones."""
    function = prune(function)  # names that nobody reads after a loop are no readers
    for number in itertools.count(1):
        started = _Started(function, number)
        starts = (started.start(one, block) for block in _blocks(function.body) for one in block)
        found = next((start for start in starts if start is not None), None)
        if found is None:
            return function
        function = started.without(found)
    raise AssertionError


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for statement in block:
        for inner in children(statement):
            yield from _blocks(inner)


@dataclass
class Start:
    """A list: the statement that makes it, the loop that lengthens it and where, and who reads it."""

    made: Let
    loop: Loop
    append: Append
    inside: dict[Let, int]
    """What reads an item inside of the loop: how far before what the iteration appends, 0 for that itself."""
    after: list[Let]

    @property
    def items(self) -> tuple[Atom, ...]:
        return tuple(item for item in self.made.op.args if isinstance(item, Var | Const))


class _Started:
    def __init__(self, function: Function, number: int):
        self.function, self.number = function, number
        self.names = itertools.count(1)
        self.definitions: dict[Atom, Op] = {}
        self.readers: dict[Atom, list[Statement]] = {}
        for statement in walk(function.body):
            if isinstance(statement, Let):
                self.definitions[statement.var] = statement.op
            for atom in uses(statement):
                self.readers.setdefault(atom, []).append(statement)

    # ------------------------------------------------------------ whether it is one

    def start(self, made: Statement, block: Block) -> Start | None:
        """The list that a statement of a block makes, if it is one to be rewritten."""
        if not isinstance(made, Let) or made.op.name != "list" or not made.op.args:
            return None
        if not all(isinstance(item, Var | Const) for item in made.op.args):
            return None
        if any(atom is made.var for _, atom in self.function.results):
            return None
        readers = self.readers.get(made.var, [])
        appends = [s for s in readers if isinstance(s, Append)]
        if len(appends) != 1 or appends[0].value is made.var:
            return None
        loop = next((s for s in block if isinstance(s, Loop) and appends[0] in walk(s.body)), None)
        if loop is None or not isinstance(loop.domain, Range) or loop.stop is not None:
            return None
        inside = self._readers_inside(made, loop, appends[0])
        in_each = appends[0] in loop.body.statements
        if inside is None or not (in_each or self._is_read_as_whole(made, readers)):
            return None
        after = [s for s in readers if s is not appends[0] and s not in inside]
        tails = [s.var for s in after if isinstance(s, Let) and _is_part(s, made)]
        after += [reader for tail in tails for reader in self.readers.get(tail, [])]
        start = Start(made, loop, appends[0], inside, [s for s in after if isinstance(s, Let)])
        return start if len(start.after) == len(after) and self._is_read_behind(start, block) else None

    def _is_read_as_whole(self, made: Let, readers: list[Statement]) -> bool:
        """Whether no single item is read, of a list that not every iteration makes longer."""
        return not any(isinstance(s, Let) and s.op.name == "getitem" and not _is_part(s, made) for s in readers)

    def _is_read_behind(self, start: Start, block: Block) -> bool:
        """Whether all other readers stand behind the loop, and ask what is known of the list's parts."""
        behind = block.statements[block.statements.index(start.loop) + 1 :]
        known = {id(s) for s in walk(Block(behind))}
        owners = {s.var: s for s in (start.made, *start.after) if s is start.made or _is_part(s, start.made)}
        handed_out = {atom for _, atom in self.function.results}
        if any(id(s) not in known or not self._is_known(s, owners, start) for s in start.after):
            return False
        return not handed_out & set(owners) and any(s.op.name in JOINS for s in start.after)

    def _is_known(self, let: Let, owners: dict[Var, Let], start: Start) -> bool:
        owner = owners.get(let.op.args[0]) if let.op.args and isinstance(let.op.args[0], Var) else None
        if owner is start.made and (_is_part(let, start.made) or _place_behind(let.op, start.made) is not None):
            return True
        return owner is not None and let not in owners.values() and _asks_of_all(let, owner.var)

    def _readers_inside(self, made: Let, loop: Loop, append: Append) -> dict[Let, int] | None:
        """What reads one of the last items in the loop; None if anything else of the list is read there."""
        found: dict[Let, int] = {}
        is_appended = False
        for statement in loop.body:
            if statement is append:
                is_appended = True
                continue
            for inner in walk(Block((statement,))):
                if inner is append or all(atom is not made.var for atom in uses(inner)):
                    continue
                back = self._back(inner.op, made, loop, is_appended) if isinstance(inner, Let) else None
                if back is None or not 0 <= back <= len(made.op.args) or (back == 0 and not is_appended):
                    return None
                assert isinstance(inner, Let)
                found[inner] = back
        return found

    def _back(self, op: Op, made: Let, loop: Loop, is_appended: bool) -> int | None:
        """How far before the item that the iteration appends ``op`` reads: ``out[-1]``, ``out[t - 1]``."""
        if op.name != "getitem" or op.args[0] is not made.var:
            return None
        index = op.args[1]
        if isinstance(index, Const):
            is_from_end = type(index.value) is int and index.value < 0
            return -index.value - is_appended if is_from_end else None
        shift, domain = self._shift(index, loop), loop.domain
        if shift is None or not isinstance(domain, Range) or not isinstance(domain.lo, Const):
            return None
        if not isinstance(domain.step, Const) or domain.step.value != 1 or type(domain.lo.value) is not int:
            return None
        return len(made.op.args) - domain.lo.value - shift if domain.lo.value + shift >= 0 else None

    def _shift(self, index: Operand, loop: Loop) -> int | None:
        """``c`` where an index is the loop's own plus ``c``."""
        if index is loop.index:
            return 0
        op = self.definitions.get(index) if isinstance(index, Var) else None
        if op is None or op.name not in ("add", "sub") or op.args[0] is not loop.index:
            return None
        by = op.args[1]
        if not isinstance(by, Const) or type(by.value) is not int:
            return None
        return by.value if op.name == "add" else -by.value

    # ------------------------------------------------------------ what becomes of it

    def without(self, start: Start) -> Function:
        """The function without the items at the list's beginning."""
        made, loop, append = start.made, start.loop, start.append
        hint = made.var.hint or "list"
        grown = self._var(hint)
        places = [_place_behind(let.op, made) for let in start.after]
        count = max((*start.inside.values(), *(place for place in places if place is not None)), default=0)
        carries = self._carries(start, hint, count)
        changed = Changes({
            id(made): (Let(grown, Op("list"), made.span),),
            id(append): (replace(append, ref=grown),),
            id(loop): (replace(loop, carries=(*loop.carries, *carries)),),
        }, {})  # fmt: skip
        for let, back in start.inside.items():
            changed.drop(let, append.value if back == 0 else carries[back - 1].inside)
        parts = {made.var: _Part(start.items, grown)}
        for let, place in zip(start.after, places, strict=True):
            if place is not None:
                changed.drop(let, carries[place - 1].after)
            elif _is_turned(let, made):
                turned = self._var(f"{hint}_turned")
                parts[let.var] = _Part(start.items[::-1], turned, is_turned=True)
                changed.statements[id(let)] = (replace(let, var=turned, op=Op("getitem", (grown, let.op.args[1]))),)
            elif _is_tail(let, made):
                parts[let.var] = _Part(start.items[_first_of(let.op.args[1]) :], grown)
                changed.statements[id(let)] = ()
        for let, place in zip(start.after, places, strict=True):
            if place is None and not _is_part(let, made):
                owner = let.op.args[0]
                assert isinstance(owner, Var)
                changed.statements[id(let)] = tuple(self._answer(let, parts[owner]))
        results = tuple((name, changed.atom(atom)) for name, atom in self.function.results)
        return replace(self.function, body=changed.block(self.function.body), results=results)

    def _carries(self, start: Start, hint: str, count: int) -> list[Carry]:
        """The last items, the very last one first."""
        carries: list[Carry] = []
        following = start.append.value
        for back, item in zip(range(1, count + 1), start.items[::-1], strict=False):
            name = f"last_{hint}" if back == 1 else f"last_{hint}_{back}"
            carries.append(Carry(self._var(name), item, following, self._var(name)))
            following = carries[-1].inside
        return carries

    def _var(self, hint: str) -> Var:
        return Var(f"{hint}.s{self.number}_{next(self.names)}")

    def _answer(self, let: Let, part: _Part) -> list[Statement]:
        """What is asked of the list, of its parts."""
        if not part.items:
            return [replace(let, op=replace(let.op, args=(part.grown, *let.op.args[1:])))]
        if let.op.name in LENGTHS:
            count = self._var("count")
            added = Op("add", (count, Const(len(part.items))))
            return [Let(count, Op(let.op.name, (part.grown,)), let.span), replace(let, op=added)]
        first, rest = self._var("first"), self._var("rest")
        where = () if "vstack" in let.op.name else let.op.args[1:]
        keywords = let.op.kwargs
        both = (rest, first) if part.is_turned else (first, rest)
        return [
            Let(first, Op(let.op.name, (Group("list", part.items), *let.op.args[1:]), keywords), let.span),
            Let(rest, Op(let.op.name, (part.grown, *let.op.args[1:]), keywords), let.span),
            replace(let, op=Op(JOINS[let.op.name], (Group("tuple", both), *where), keywords)),
        ]


@dataclass(frozen=True)
class _Part:
    """A part of a list: the items of its beginning, and the list that grew, in front of them if it ``is_turned``."""

    items: tuple[Atom, ...]
    grown: Var
    is_turned: bool = False


def _asks_of_all(let: Let, var: Var) -> bool:
    """Whether a statement joins a list, or asks for its length."""
    first, *rest = let.op.args or (None,)
    others = [atom for operand in (*rest, *(value for _, value in let.op.kwargs)) for atom in atoms(operand)]
    return first is var and let.op.name in (*JOINS, *LENGTHS) and all(isinstance(atom, Const) for atom in others)


def _place_behind(op: Op, made: Let) -> int | None:
    """Which item from the end is read behind the loop, from 1: one of as many as the list began with."""
    index = op.args[1] if op.name == "getitem" and op.args[0] is made.var else None
    if not isinstance(index, Const) or type(index.value) is not int:
        return None
    return -index.value if 1 <= -index.value <= len(made.op.args) else None


def _is_part(statement: Statement, made: Let) -> bool:
    return _is_tail(statement, made) or _is_turned(statement, made)


def _is_turned(statement: Statement, made: Let) -> bool:
    """Whether a statement takes all of the list, from its end to its beginning."""
    if not isinstance(statement, Let) or statement.op.name != "getitem" or statement.op.args[0] is not made.var:
        return False
    index = statement.op.args[1]
    bounds = (index.lo, index.hi, index.step) if isinstance(index, Slice) else ()
    return [bound.value if isinstance(bound, Const) else bound for bound in bounds] == [None, None, -1]


def _is_tail(statement: Statement, made: Let) -> bool:
    """Whether a statement takes the list without all or some of the items that it began with: ``out[1:]``."""
    if not isinstance(statement, Let) or statement.op.name != "getitem" or statement.op.args[0] is not made.var:
        return False
    index = statement.op.args[1]
    return isinstance(index, Slice) and 0 <= _first_of(index) <= len(made.op.args)


def _first_of(index: Any) -> int:
    """Where a slice to the end begins; -1 for any other."""
    is_open = isinstance(index.hi, Const) and index.hi.value is None
    is_plain = is_open and isinstance(index.step, Const) and index.step.value in (None, 1)
    known = is_plain and isinstance(index.lo, Const) and type(index.lo.value) is int
    return index.lo.value if known else -1


@dataclass
class Changes:
    """Statements in the place of others, by identity, and atoms in the place of variables."""

    statements: dict[int, tuple[Statement, ...]]
    atoms: dict[Atom, Atom]

    def drop(self, let: Let, atom: Atom) -> None:
        """Read an atom where a statement's variable was read."""
        self.statements[id(let)] = ()
        self.atoms[let.var] = atom

    def of(self, statement: Statement) -> tuple[Statement, ...]:
        """A statement with all changes inside of it."""
        found = self.statements.get(id(statement), (statement,))
        return tuple(map(self._renamed, found))

    def _renamed(self, statement: Statement) -> Statement:
        match statement:
            case Let(op=op) | Perform(op=op):
                return replace(statement, op=self._operation(op))
            case Store(ref=ref, index=index, value=value):
                return replace(statement, ref=self.atom(ref), index=self._operand(index), value=self.atom(value))
            case Append(ref=ref, value=value):
                return replace(statement, ref=self.atom(ref), value=self.atom(value))
            case Require(cond=cond):
                return replace(statement, cond=self.atom(cond))
            case If(cond=cond, then=then, orelse=orelse, phis=phis):
                phis = tuple(replace(p, then=self.atom(p.then), orelse=self.atom(p.orelse)) for p in phis)
                then, orelse = self.block(then), self.block(orelse)
                return replace(statement, cond=self.atom(cond), then=then, orelse=orelse, phis=phis)
        assert isinstance(statement, Loop)
        carries = tuple(replace(c, init=self.atom(c.init), next=self.atom(c.next)) for c in statement.carries)
        stop = None if statement.stop is None else self.atom(statement.stop)
        body, domain = self.block(statement.body), self._domain(statement.domain)
        return replace(statement, domain=domain, carries=carries, body=body, stop=stop)

    def block(self, block: Block) -> Block:
        return Block(tuple(new for old in block for new in self.of(old)))

    def _domain(self, domain: Domain) -> Domain:
        if isinstance(domain, While):
            return replace(domain, block=self.block(domain.block), cond=self.atom(domain.cond))
        source = None if domain.source is None else self.atom(domain.source)
        lo, hi, step = map(self.atom, (domain.lo, domain.hi, domain.step))
        return replace(domain, lo=lo, hi=hi, step=step, source=source)

    def _operation(self, op: Op) -> Op:
        keywords = tuple((name, self._operand(value)) for name, value in op.kwargs)
        return replace(op, args=tuple(map(self._operand, op.args)), kwargs=keywords)

    def _operand(self, operand: Operand) -> Operand:
        match operand:
            case Group(items=items):
                return replace(operand, items=tuple(map(self._operand, items)))
            case Slice(lo=lo, hi=hi, step=step):
                return replace(operand, lo=self.atom(lo), hi=self.atom(hi), step=self.atom(step))
        return self.atom(operand)

    def atom(self, atom: Any) -> Any:
        while atom in self.atoms:
            atom = self.atoms[atom]
        return atom
