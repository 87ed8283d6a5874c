"""A block that runs again and again in, whether it may write to what something else reads out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from looplift.base.data import dataclass
from looplift.ir.facts import Facts
from looplift.ir.grammar import (
    Append,
    Atom,
    Function,
    If,
    Let,
    Loop,
    Range,
    Statement,
    Store,
    Var,
    operands,
    walk,
)
from looplift.ops import table
from looplift.vectorize.flow import asks_for_size


@dataclass
class Written:
    """What the statements of a function may write to, by what it is made of."""

    function: Function
    facts: Facts

    @cached_property
    def statements(self) -> list[Statement]:
        return list(walk(self.function.body))

    @cached_property
    def lets(self) -> dict[Var, Let]:
        return {s.var: s for s in self.statements if isinstance(s, Let)}

    def is_integer(self, var: Var) -> bool:
        return var in self.facts.of and self.facts.kind(var).family == "int"

    def changes(self, statement: Statement) -> bool:
        """Whether an operation changes an array or a list, as ``x += y`` does."""
        if not isinstance(statement, Let) or not statement.op.name.startswith("inplace."):
            return False
        return isinstance(statement.op.args[0], Var) and not self._has(statement.op.args[0], "is_number")

    def may_change(self, block: Iterable[Statement], lets: Iterable[Let]) -> bool:
        """Whether a block may change what statements read: the items of something, or how long a list is."""
        contents: set[Atom] = set()
        lengths: set[Atom] = set()
        for let in lets:
            read = {a for a in operands(let.op) if isinstance(a, Var) and not self._has(a, "is_number")}
            if not asks_for_size(let.op):
                contents |= {a for a in read if a not in self.lets or not asks_for_size(self.lets[a].op)}
            elif not all(self._has(a, "is_array") for a in read):
                lengths |= read
        statements = list(walk(block))
        of_lists = [s for s in statements if not self._has(_target(s), "is_array")]
        return self.is_written(statements, contents, set()) or self.is_written(of_lists, lengths, set())

    def is_written(self, statements: Iterable[Statement], read: set[Atom], new: set[Atom]) -> bool:
        """Whether statements may write to what these are made of; none of it shares memory with ``new``."""
        statements = list(statements)
        roots = {self._root(s.ref) for s in statements if isinstance(s, Store)}
        roots |= {self._root(s.op.args[0]) for s in statements if isinstance(s, Let) and self.changes(s)}
        grown = {self._root(s.ref) for s in statements if isinstance(s, Append)}
        if not read or not (roots or grown):
            return False
        sources = self.sources(read)
        if any(isinstance(a, Var) and a in self.facts.of and self.facts.kind(a).family == "list" for a in sources):
            roots |= grown
        made = {root for root in roots if root in self.lets and self._is_made(self.lets[root])}  # type: ignore[index]
        return bool(roots - made - new) or bool(roots & sources)

    def sources(self, read: set[Atom]) -> set[Atom]:
        """All that these are made of."""
        found = set(read)
        while True:
            more = {atom for statement in self.statements for atom in _made_of(statement, found)} - found
            if not more:
                return found
            found |= more

    def _root(self, atom: object) -> Atom:
        made = self.lets.get(atom) if isinstance(atom, Var) else None
        if made is not None and made.op.name in ("getitem", "iter_item"):
            return self._root(made.op.args[0])
        return atom  # type: ignore[return-value]

    def _has(self, atom: object, quality: str) -> bool:
        return atom in self.facts.of and getattr(self.facts.kind(atom), quality)  # type: ignore[arg-type]

    @staticmethod
    def _is_made(let: Let) -> bool:
        return let.op.name in table.CREATION or let.op.name == "list"


def _target(statement: Statement) -> object:
    return statement.ref if isinstance(statement, Store) else getattr(statement, "var", None)


def _made_of(statement: Statement, wanted: set[Atom]) -> Iterator[Atom]:
    """What a statement makes those of its variables of that are wanted."""
    match statement:
        case Let(var=var, op=op) if var in wanted:
            yield from operands(op)
        case If(cond=cond, phis=phis):
            for phi in phis:
                if phi.var in wanted:
                    yield from (cond, phi.then, phi.orelse)
        case Loop(domain=domain, index=index, carries=carries):
            if index in wanted and isinstance(domain, Range):
                yield from (domain.lo, domain.hi, domain.step)
            for carry in carries:
                if carry.inside in wanted or carry.after in wanted:
                    yield from (carry.init, carry.next)
