"""The greatest and the least of what ranges count are their ends, and need no list of all.

places = []                                 holds = n > 0
for i in range(n):                          require holds
    for j in range(m):                      holds = m > 0
        places.append(i)          ->        require holds
largest = max(places)                       largest = n - 1

So are those of a list of the items of such a list, as ``max(i for i, _ in near)`` is of the keys of a dict that was
filled in two loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from looplift.base.data import dataclass, replace
from looplift.ir.filled import SIZES, counts_up, is_same
from looplift.ir.grammar import (
    Append,
    Atom,
    Block,
    Const,
    Function,
    Let,
    Loop,
    Op,
    Operand,
    Range,
    Require,
    Statement,
    Var,
    children,
    definitions,
    uses,
    walk,
)
from looplift.ir.integers import Integers
from looplift.ir.prune import without_unread_lists
from looplift.ir.started import LENGTHS, Changes
from looplift.ir.writes import Writes

EXTREMES = frozenset(("builtin.max", "builtin.min"))
READS = frozenset(("getitem", "iter_item", "builtin.sum", *EXTREMES, *LENGTHS))
"""What leaves a list as it is."""


def known_ends(function: Function) -> Function:
    """The same function, with the ends of ranges in place of the extremes of what they count."""
    ends = _Ends(function)
    changes = Changes({}, {})
    for extreme in [s for s in walk(function.body) if isinstance(s, Let) and s.op.name in EXTREMES]:
        ends.find(extreme, changes)
    if not changes.statements:
        return function
    results = tuple((name, changes.atom(atom)) for name, atom in function.results)
    return without_unread_lists(replace(function, body=changes.block(function.body), results=results))


@dataclass(frozen=True)
class _Filling:
    """Loops, outermost first, in the innermost of which a list gets the index of one of them."""

    loops: tuple[Loop, ...]
    counted: Loop


class _Ends:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.lets = {s.var: s for s in walk(function.body) if isinstance(s, Let)}
        self.users: dict[Atom, list[Statement]] = {}
        for statement in walk(function.body):
            for atom in dict.fromkeys(uses(statement)):
                self.users.setdefault(atom, []).append(statement)
        self.integers = Integers(function)
        self.handed_out = {atom for _, atom in function.results}
        self.numbers = 0

    def find(self, extreme: Let, changes: Changes) -> None:
        """Note what stands in the place of one extreme, where it is an end."""
        args = extreme.op.args
        if len(args) != 1 or extreme.op.kwargs:
            return
        filling = self._filling(args[0], extreme)
        if filling is None or (lengths := self._lengths(filling, extreme)) is None:
            return
        statements, ends = lengths
        for end in ends:
            statements += self._not_empty(end, extreme)
        last = ends[filling.loops.index(filling.counted)]
        if extreme.op.name == "builtin.min":
            changes.atoms[extreme.var] = Const(0)
        else:
            statements.append(replace(extreme, op=Op("sub", (last, Const(1)))))
            for user in self.users.get(extreme.var, []):
                if isinstance(user, Let) and user.op.name == "add" and _adds_one(user.op.args, extreme.var):
                    changes.drop(user, last)
        changes.statements[id(extreme)] = tuple(statements)

    # ------------------------------------------------------------ how a list is filled

    def _filling(self, ref: Operand, reader: Statement) -> _Filling | None:
        """The loops that fill a list of a region's own before a statement reads it."""
        if not isinstance(ref, Var):
            return None
        users = self.users.get(ref, [])
        appends = [user for user in users if isinstance(user, Append) and user.ref is ref and user.value is not ref]
        made = self.lets.get(ref)
        if made is None or made.op.name != "list" or made.op.args or len(appends) != 1 or ref in self.handed_out:
            return None
        if not all(user is appends[0] or _reads(user, ref) for user in users):
            return None
        home = next(block for block in _blocks(self.function.body) if made in block.statements)
        at = next((k for k, one in enumerate(home.statements) if _holds(one, appends[0])), None)
        if at is None or not any(_holds(one, reader) for one in home.statements[at + 1 :]):
            return None
        return self._counted(tuple(_path(home.statements[at], appends[0])), appends[0])

    def _counted(self, path: Sequence[Statement], append: Append) -> _Filling | None:
        loops = tuple(one for one in path if isinstance(one, Loop) and counts_up(one) and self._ends_at_integer(one))
        if not loops or len(loops) != len(path):
            return None
        counted = next((loop for loop in loops if loop.index is append.value), None)
        if counted is not None:
            return _Filling(loops, counted)
        return self._of_items(loops[0], append) if len(loops) == 1 else None

    def _of_items(self, loop: Loop, append: Append) -> _Filling | None:
        """The same for a list of the items of another one, which a loop has gone through from its first to its last."""
        item = self.lets.get(append.value)  # pyright: ignore[reportArgumentType]
        if item is None or item.op.name != "iter_item" or item.op.args[1] is not loop.index:
            return None
        assert isinstance(loop.domain, Range)
        (taken, _), source, length = item.op.args, loop.domain.source, self.lets.get(loop.domain.hi)  # pyright: ignore
        if length is None or length.op.name not in LENGTHS or length.op.args != (source,):
            return None
        found, measured = self._filling(taken, loop), self._filling(source, loop)  # pyright: ignore
        return found if found and measured and found.loops[-1] is measured.loops[-1] else None

    # ------------------------------------------------------------ where its loops end

    def _ends_at_integer(self, loop: Loop) -> bool:
        return isinstance(loop.domain, Range) and self.integers.has(loop.domain.hi)

    def _lengths(self, filling: _Filling, extreme: Let) -> tuple[list[Statement], list[Atom]] | None:
        """Where each of the loops ends, and the statements that compute that where the extreme is taken."""
        writes = self._writes(filling.loops[0], extreme)
        inside = {var for one in walk(Block((filling.loops[0],))) for var in definitions(one)}
        statements: list[Statement] = []
        copies: dict[Operand, Atom] = {}

        def outside(atom: Atom) -> Atom | None:
            if atom in copies or atom not in inside:
                return copies.get(atom, atom)
            let = self.lets.get(atom)  # pyright: ignore[reportArgumentType]
            if let is None or let.op.name not in SIZES or let.op.kwargs or writes.may_change(let.op):
                return None
            args = tuple(outside(one) if isinstance(one, Var | Const) else None for one in let.op.args)
            if None in args:
                return None
            self.numbers += 1
            copy = Var(f"{let.var.hint}.e{extreme.var.name.partition('.')[2]}_{self.numbers}")
            statements.append(Let(copy, replace(let.op, args=args), extreme.span))
            copies[atom] = copy
            return copy

        ends = [outside(loop.domain.hi) for loop in filling.loops if isinstance(loop.domain, Range)]
        return None if None in ends else (statements, ends)  # pyright: ignore[reportReturnType]

    def _writes(self, loop: Loop, extreme: Let) -> Writes:
        """What is written to from the first of the loops on until the extreme is taken."""
        home = next(block for block in _blocks(self.function.body) if loop in block.statements)
        first = home.statements.index(loop)
        last = next(k for k, one in enumerate(home.statements) if k > first and _holds(one, extreme))
        return Writes(self.function, walk(Block(home.statements[first : last + 1])))

    def _not_empty(self, end: Atom, extreme: Let) -> list[Statement]:
        if isinstance(end, Const) and end.value > 0:
            return []
        self.numbers += 1
        holds = Var(f"holds.e{extreme.var.name.partition('.')[2]}_{self.numbers}")
        greater = Let(holds, Op("gt", (end, Const(0))), extreme.span)
        return [greater, Require(holds, "a list of which an extreme is taken is not empty", extreme.span)]


def _adds_one(args: Sequence[Operand], var: Var) -> bool:
    return len(args) == 2 and var in args and any(is_same(one, Const(1)) for one in args)


def _reads(user: Statement, ref: Var) -> bool:
    """Whether a statement only reads a list, and hands no part of it on under another name."""
    if isinstance(user, Loop):
        carried = any(ref in (carry.init, carry.next) for carry in user.carries)
        return isinstance(user.domain, Range) and user.domain.source is ref and not carried
    return isinstance(user, Let) and user.op.name in READS and user.op.args[0] is ref


def _blocks(block: Block) -> Iterator[Block]:
    """A block and all that are in it."""
    yield block
    for statement in block:
        for inner in children(statement):
            yield from _blocks(inner)


def _holds(statement: Statement, inner: Statement) -> bool:
    return any(found is inner for found in walk(Block((statement,))))


def _path(statement: Statement, inner: Statement) -> Iterator[Statement]:
    """The statements around one, outermost first."""
    while statement is not inner:
        yield statement
        statement = next(one for block in children(statement) for one in block if _holds(one, inner))
