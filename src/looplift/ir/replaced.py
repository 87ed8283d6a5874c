"""A list of tensors some of which are replaced in, whether what is made of the rest has the inputs of those out.

A tensor that no list holds any more gives no gradient to what it was made of, where a table gives it zeros.

    held.append(v * x[k])          'held' may lose all that 'v' went into
    held[to[i]] = w * y[i]
    held[to[i]] = held[to[i]] * w  keeps what it had
"""

from __future__ import annotations

import re

from looplift.ir.facts import Facts
from looplift.ir.grammar import Append, Atom, Carry, Function, If, Let, Loop, Phi, Range, Store, Var, operands, walk

LOOSE = re.compile(r"detach|_like|new_|item|data|numpy|tensor|zeros|ones|full|empty|rand|arange|float|int\b|bool")
"""What makes tensors that ask for no gradient of others that do."""
Inputs = frozenset[Atom]


class Replaced:
    """Follows values back to the tensors of the caller that they are made of."""

    def __init__(self, function: Function, facts: Facts, ref: Var):
        self.function, self.facts, self.ref = function, facts, ref
        everything = list(walk(function.body))
        self.stores = [s for s in everything if isinstance(s, Store) and s.ref is ref]
        self.appended = [s.value for s in everything if isinstance(s, Append) and s.ref is ref]
        self.makers: dict[Atom, Let | Phi | Carry] = {}
        for statement in everything:
            if isinstance(statement, Let):
                self.makers[statement.var] = statement
            elif isinstance(statement, If):
                self.makers |= {phi.var: phi for phi in statement.phis}
            elif isinstance(statement, Loop):
                self.makers |= {var: one for one in statement.carries for var in (one.inside, one.after)}

    def keep_inputs(self) -> bool:
        """Whether whatever takes the place of a tensor has its inputs too, in every iteration."""
        anew = [store for store in self.stores if not self._is_made_of_old(store)]
        lost = list(self.appended)
        if len(self.stores) > 1 or not all(map(self._is_at_each, anew)):
            lost += [store.value for store in self.stores]
        may = [self._may(value, frozenset()) for value in lost]
        if not anew or not any(found is None or found for found in may):
            return True
        kept = [self._surely(store.value, frozenset()) for store in anew]
        return all(found is not None and all(found <= one for one in kept) for found in may)

    def _is_made_of_old(self, store: Store) -> bool:
        """Whether a new tensor is made of the one in its place."""
        return store.combine is not None or self._reaches(store.value, store.index, frozenset())

    def _reaches(self, atom: Atom, index: object, seen: Inputs) -> bool:
        let = self.makers.get(atom)
        if not isinstance(let, Let) or atom in seen or self._is_loose(let):
            return False
        if let.op.name in ("getitem", "iter_item") and let.op.args[0] is self.ref:
            return self._is_same(let.op.args[1], index)
        return any(self._reaches(one, index, seen | {atom}) for one in operands(let.op))

    def _is_same(self, one: object, other: object) -> bool:
        """Whether two subscripts are the same integer: one value, or the same item of what the caller gives."""
        first, second = self.makers.get(one), self.makers.get(other)  # type: ignore[arg-type]
        if one is other or not (isinstance(first, Let) and isinstance(second, Let)):
            return one is other
        given = first.op.args[0] in self.function.params
        return given and first.op.name == second.op.name == "getitem" and first.op.args == second.op.args

    def _is_at_each(self, store: Store) -> bool:
        """Whether a loop that runs once comes to each place once."""
        loops = [s for s in self.function.body if isinstance(s, Loop) and store in s.body.statements]
        return any(loop.index is store.index and isinstance(loop.domain, Range) for loop in loops)

    def _is_loose(self, let: Let) -> bool:
        return LOOSE.search(let.op.name) is not None and let.op.name != "getitem"

    def _asks(self, atom: Atom) -> bool:
        """Whether gradients may flow to a value."""
        if not isinstance(atom, Var) or atom not in self.facts.of:
            return isinstance(atom, Var)
        kind = self.facts.kind(atom)
        return not (kind.is_number or (kind.dtype is not None and "int" in str(kind.dtype)) or kind.family == "bool")

    def _may(self, atom: Atom, seen: Inputs) -> Inputs | None:
        """The tensors of the caller that a value may be made of; None for those of a list of the caller's."""
        maker = self.makers.get(atom)
        if atom in seen or not self._asks(atom) or atom is self.ref:
            return frozenset()
        if maker is None:
            return frozenset({atom}) if self._is_tensor(atom) else None
        seen = seen | {atom}
        found = [self._may(source, seen) for source in self._sources(maker)]
        return None if None in found else frozenset().union(*(one for one in found if one is not None))

    def _surely(self, atom: Atom, seen: Inputs) -> Inputs:
        """The tensors of the caller that a value is made of in every iteration."""
        maker = self.makers.get(atom)
        if maker is None:
            return frozenset({atom}) if isinstance(atom, Var) and atom is not self.ref else frozenset()
        if atom in seen or (isinstance(maker, Let) and self._is_loose(maker)):
            return frozenset()
        found = [self._surely(source, seen | {atom}) for source in self._sources(maker)]
        if isinstance(maker, Let):
            return frozenset().union(*found)
        return frozenset.intersection(*found) if found else frozenset()

    def _is_tensor(self, atom: Atom) -> bool:
        return atom in self.facts.of and self.facts.kind(atom).is_array

    def _sources(self, maker: Let | Phi | Carry) -> list[Atom]:
        if isinstance(maker, Let):
            is_item = maker.op.name in ("getitem", "iter_item")
            return list(operands(maker.op))[:1] if is_item else list(operands(maker.op))
        return [maker.then, maker.orelse] if isinstance(maker, Phi) else [maker.init, maker.next]


__all__ = ["Replaced"]
