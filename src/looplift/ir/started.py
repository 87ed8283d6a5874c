"""Lists of tensors that begin with items, and of which a loop reads the last one, become lists and carried values.

out = [x]                         last = x; out = []
for ...:                          for ...:
    out.append(f(out[-1]))            last = f(last); out.append(last)
torch.stack(out)                  torch.cat((torch.stack([x]), torch.stack(out)))
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
    last: dict[Let, Atom | None]
    """What reads the last item inside of the loop: None, or what was appended before in the same iteration."""
    after: list[Let]


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
        loop = next((s for s in block if isinstance(s, Loop) and appends[0] in s.body.statements), None)
        if loop is None or not isinstance(loop.domain, Range) or loop.stop is not None:
            return None
        last = self._readers_inside(made, loop, appends[0])
        after = [s for s in readers if s is not appends[0] and (last is None or s not in last)]
        if last is None or not all(isinstance(s, Let) and self._is_read_whole(s, made.var) for s in after):
            return None
        behind = block.statements[block.statements.index(loop) + 1 :]
        inside = {id(s) for s in walk(Block(behind))}
        if not all(id(s) in inside for s in after) or not any(s.op.name in JOINS for s in after if isinstance(s, Let)):
            return None
        return Start(made, loop, appends[0], last, [s for s in after if isinstance(s, Let)])

    def _readers_inside(self, made: Let, loop: Loop, append: Append) -> dict[Let, Atom | None] | None:
        """What reads the last item in the loop; None if anything else of the list is read there."""
        found: dict[Let, Atom | None] = {}
        appended: Atom | None = None
        for statement in loop.body:
            if statement is append:
                appended = append.value
                continue
            for inner in walk(Block((statement,))):
                if all(atom is not made.var for atom in uses(inner)):
                    continue
                if not isinstance(inner, Let) or not self._is_last(inner.op, made, loop, appended is not None):
                    return None
                found[inner] = appended
        return found

    def _is_last(self, op: Op, made: Let, loop: Loop, appended: bool) -> bool:
        """Whether ``op`` reads the list's last item: ``out[-1]``, or at an index that counts as the list grows."""
        if op.name != "getitem" or op.args[0] is not made.var:
            return False
        index = op.args[1]
        if isinstance(index, Const):
            return type(index.value) is int and index.value == -1
        shift = self._shift(index, loop)
        domain = loop.domain
        if shift is None or not isinstance(domain, Range) or not isinstance(domain.lo, Const):
            return False
        if not isinstance(domain.step, Const) or domain.step.value != 1 or type(domain.lo.value) is not int:
            return False
        return domain.lo.value + shift == len(made.op.args) - 1 + appended

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

    def _is_read_whole(self, let: Let, var: Var) -> bool:
        """Whether a statement behind the loop joins the list, or asks for its last item or its length."""
        first, *rest = let.op.args or (None,)
        others = [atom for operand in (*rest, *(value for _, value in let.op.kwargs)) for atom in atoms(operand)]
        if first is not var or not all(isinstance(atom, Const) for atom in others):
            return False
        if let.op.name == "getitem":
            return isinstance(rest[0], Const) and type(rest[0].value) is int and rest[0].value == -1
        return let.op.name in JOINS or let.op.name in LENGTHS

    # ------------------------------------------------------------ what becomes of it

    def without(self, start: Start) -> Function:
        """The function without the items at the list's beginning."""
        made, loop, append = start.made, start.loop, start.append
        hint = made.var.hint or "list"
        grown, inside = self._var(hint), self._var(f"last_{hint}")
        carry = Carry(inside, _first(made), append.value, self._var(f"last_{hint}"))
        is_read = bool(start.last) or any(let.op.name == "getitem" for let in start.after)
        changed = Changes({
            id(made): (Let(grown, Op("list"), made.span),),
            id(append): (replace(append, ref=grown),),
            id(loop): (replace(loop, carries=(*loop.carries, carry) if is_read else loop.carries),),
        }, {})  # fmt: skip
        for let, appended in start.last.items():
            changed.drop(let, inside if appended is None else appended)
        for let in start.after:
            if let.op.name == "getitem":
                changed.drop(let, carry.after)
            else:
                changed.statements[id(let)] = tuple(self._answer(let, made, grown))
        results = tuple((name, changed.atom(atom)) for name, atom in self.function.results)
        return replace(self.function, body=changed.block(self.function.body), results=results)

    def _var(self, hint: str) -> Var:
        return Var(f"{hint}.s{self.number}_{next(self.names)}")

    def _answer(self, let: Let, made: Let, grown: Var) -> list[Statement]:
        """What is asked of the whole list, of its parts."""
        if let.op.name in LENGTHS:
            count = self._var("count")
            added = Op("add", (count, Const(len(made.op.args))))
            return [Let(count, Op(let.op.name, (grown,)), let.span), replace(let, op=added)]
        first, rest = self._var("first"), self._var("rest")
        items = Group("list", made.op.args)
        where = () if "vstack" in let.op.name else let.op.args[1:]
        keywords = let.op.kwargs
        return [
            Let(first, Op(let.op.name, (items, *let.op.args[1:]), keywords), let.span),
            Let(rest, Op(let.op.name, (grown, *let.op.args[1:]), keywords), let.span),
            replace(let, op=Op(JOINS[let.op.name], (Group("tuple", (first, rest)), *where), keywords)),
        ]


def _first(made: Let) -> Atom:
    last = made.op.args[-1]
    assert isinstance(last, Var | Const)
    return last


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
