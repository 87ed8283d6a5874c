"""A list of tensors some of which are replaced in, whether what is made of the rest has the inputs of those out.

A tensor that no list holds any more gives no gradient to what it was made of, where a table gives it zeros.

    held.append(v * x[k])          'held' may lose all that 'v' went into
    held[to[i]] = w * y[i]
    held[to[i]] = held[to[i]] * w  keeps what it had
"""

from __future__ import annotations

import re

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
    Phi,
    Range,
    Store,
    Var,
    children,
    operands,
    walk,
)

LOOSE = re.compile(r"detach|_like|new_|item|data|numpy|tensor|zeros|ones|full|empty|rand|arange")
"""What makes tensors that ask for no gradient of others that do."""
ITEM = ("getitem", "iter_item")
CHOOSING = ("builtin.max", "builtin.min")
Inputs = frozenset[object]
"""Tensors of the caller, and modules, by their identity."""


class Replaced:
    """Follows values back to the tensors of the caller, and the modules, that they are made of."""

    def __init__(self, function: Function, facts: Facts, ref: Var):
        self.function, self.facts, self.ref = function, facts, ref
        everything = list(walk(function.body))
        self.blocks = [function.body, *(block for s in everything for block in children(s))]
        self.stores = [s for s in everything if isinstance(s, Store) and s.ref is ref]
        self.appended = [s.value for s in everything if isinstance(s, Append) and s.ref is ref]
        self.filled: dict[Var, list[Atom]] = {}
        self.makers: dict[Atom, Let | Phi | Carry] = {}
        for statement in everything:
            match statement:
                case Let(var=var):
                    self.makers[var] = statement
                case If(phis=phis):
                    self.makers |= {phi.var: phi for phi in phis}
                case Loop(carries=carries):
                    self.makers |= {var: one for one in carries for var in (one.inside, one.after)}
                case Append(ref=other, value=value) | Store(ref=other, value=value) if other is not ref:
                    self.filled.setdefault(other, []).append(value)

    def keep_inputs(self) -> bool:
        """Whether whatever takes the place of a tensor has its inputs too, in every iteration."""
        anew = [store for store in self.stores if not self._is_made_of_old(store)]
        lost = list(self.appended)
        if len(self.stores) > 1 or not all(map(self._is_at_each, anew)):
            lost += [store.value for store in self.stores]
        may = [self._may(value, frozenset()) for value in lost]
        if not anew or not any(found is None or found for found in may):
            return True
        kept = [self._surely(store.value, frozenset()) or frozenset() for store in anew]
        return all(found is not None and all(found <= one for one in kept) for found in may)

    # ------------------------------------------------------------ what takes the place of itself

    def _is_made_of_old(self, store: Store) -> bool:
        """Whether a new tensor is made of the one in its place."""
        if store.combine is not None:
            return True
        block = next(one for one in self.blocks if store in one.statements)
        before = block.statements[: block.statements.index(store)]
        last = max((k for k, s in enumerate(before) if self._changes(s)), default=-1)
        reads = {s.var for s in before[last + 1 :] if isinstance(s, Let) and self._is_read(s, store.index)}
        return self._reaches(store.value, reads, frozenset())

    def _changes(self, statement: object) -> bool:
        """Whether something in a statement puts another tensor into the list."""
        return any(inner in self.stores for inner in walk(Block((statement,))))  # type: ignore[arg-type]

    def _is_read(self, let: Let, index: object) -> bool:
        return let.op.name in ITEM and let.op.args[0] is self.ref and self._is_same(let.op.args[1], index)

    def _reaches(self, atom: Atom, reads: set[Var], seen: frozenset[Atom]) -> bool:
        """Whether gradients surely flow from a value to one of those that were read."""
        if atom in reads:
            return True
        let = self.makers.get(atom)
        if not isinstance(let, Let) or atom in seen or not self._asks(atom) or self._is_loose(let):
            return False
        found = [self._reaches(one, reads, seen | {atom}) for one in self._sources(let)]
        return all(found) and bool(found) if let.op.name in CHOOSING else any(found)

    def _is_same(self, one: object, other: object) -> bool:
        """Whether two subscripts are the same integer: one value, or the same item of what the caller gives."""
        first, second = self.makers.get(one), self.makers.get(other)  # type: ignore[arg-type]
        if one is other or not (isinstance(first, Let) and isinstance(second, Let)):
            return one is other
        given = first.op.args[0] in self.function.params and first.op.args[0] not in self.filled
        return given and first.op.name == second.op.name == "getitem" and first.op.args == second.op.args

    def _is_at_each(self, store: Store) -> bool:
        """Whether a loop that runs once comes to each place once."""
        loops = [s for s in self.function.body if isinstance(s, Loop) and store in s.body.statements]
        return any(loop.index is store.index and isinstance(loop.domain, Range) for loop in loops)

    # ------------------------------------------------------------ what values are made of

    def _is_loose(self, let: Let) -> bool:
        return LOOSE.search(let.op.name) is not None and let.op.name not in ITEM

    def _asks(self, atom: Atom) -> bool:
        """Whether gradients may flow to a value."""
        if not isinstance(atom, Var) or atom not in self.facts.of:
            return isinstance(atom, Var)
        kind = self.facts.kind(atom)
        return not (kind.is_number or "int" in str(kind.dtype) or "bool" in str(kind.dtype) or kind.family == "bool")

    def _may(self, atom: Atom, seen: frozenset[Atom]) -> Inputs | None:
        """What a value may be made of; None where that is not known, as for items of a list of the caller's."""
        maker = self.makers.get(atom)
        if atom in seen or not self._asks(atom) or atom is self.ref:
            return frozenset()
        if maker is None:
            is_tensor = atom in self.facts.of and self.facts.kind(atom).is_array
            return frozenset({atom}) if is_tensor else None
        seen = seen | {atom}
        sources = [*self._sources(maker), *(self.filled.get(atom, ()) if isinstance(atom, Var) else ())]
        found = [self._may(source, seen) for source in sources]
        own = _modules(maker)
        return None if None in found else own.union(*(one for one in found if one is not None))

    def _surely(self, atom: Atom, seen: frozenset[Atom]) -> Inputs | None:
        """What a value, or each item of a list, is made of in every iteration; None for what goes around in a loop:
        whatever it was made of before."""
        maker = self.makers.get(atom)
        if atom in seen:
            return None
        if not self._asks(atom):
            return frozenset()
        if maker is None:
            return frozenset({atom}) if isinstance(atom, Var) else frozenset()
        is_list = isinstance(maker, Let) and maker.op.name == "list" and isinstance(atom, Var)
        if isinstance(maker, Let) and self._is_loose(maker):
            return frozenset()
        sources = [*self._sources(maker), *(self._put_into(atom) if is_list else ())]
        found = [self._surely(source, seen | {atom}) for source in sources]
        if isinstance(maker, Let) and maker.op.name not in CHOOSING and not is_list:
            return None if None in found else _modules(maker).union(*(one for one in found if one is not None))
        known = [one for one in found if one is not None]
        return frozenset.intersection(*known) if known else (None if found else frozenset())

    def _put_into(self, ref: Atom) -> list[Atom]:
        """What is put into a list."""
        if ref is self.ref:
            return [*self.appended, *(store.value for store in self.stores)]
        return self.filled.get(ref, []) if isinstance(ref, Var) else []

    def _sources(self, maker: Let | Phi | Carry) -> list[Atom]:
        if isinstance(maker, Phi):
            return [maker.then, maker.orelse]
        if isinstance(maker, Carry):
            return [maker.init, maker.next]
        given = list(operands(maker.op))
        if maker.op.name in ITEM:
            return given[:1]
        return given[1:] if maker.op.name.rpartition(".")[2] == "where" else given


def _modules(maker: Let | Phi | Carry) -> Inputs:
    """The module whose parameters a value is made of."""
    called = maker.op.args[0] if isinstance(maker, Let) and maker.op.name in ("module", "call") else None
    return frozenset({id(called.value)}) if isinstance(called, Const) else frozenset()
