"""A list of tensors that a region makes in, whether rows of a table may stand for its tensors out.

A list holds objects, a table only what they hold. Nobody can tell them apart where all tensors are of one kind and
shape, none of them is changed in place or handed out, and none asks for another gradient than the others do.
"""

from __future__ import annotations

from collections.abc import Iterable

from looplift.ir.facts import Facts
from looplift.ir.filled import counts_up
from looplift.ir.grammar import (
    Append,
    Atom,
    Block,
    Const,
    Function,
    Let,
    Loop,
    Operand,
    Range,
    Statement,
    Store,
    Var,
    atoms,
    children,
    operands,
    uses,
    walk,
)
from looplift.ir.histories import is_made_anew
from looplift.ir.partial import Parts

CREATION = frozenset("torch.zeros torch.ones torch.empty torch.full torch.zeros_like torch.ones_like".split())
READS = frozenset("getitem iter_item iter_len builtin.len torch.stack".split())
"""What reads a list, and makes no other name of it."""
JOINS = frozenset("torch.cat torch.concat torch.concatenate torch.stack torch.hstack torch.vstack".split())
"""What makes one tensor of copies of the items of a list."""


class HeldList:
    """A list, what is put into it and what reads it; ``tables`` are tensors that stand for other lists."""

    def __init__(self, function: Function, facts: Facts, made: Let, tables: set[Var], *, gradients: bool):
        self.function, self.facts, self.made, self.ref = function, facts, made, made.var
        self.tables, self.gradients = tables, gradients
        self.everything = list(walk(function.body))
        self.stores = [s for s in self.everything if isinstance(s, Store) and s.ref is self.ref]
        self.appends = [s for s in self.everything if isinstance(s, Append) and s.ref is self.ref]
        self.lets = {s.var: s for s in self.everything if isinstance(s, Let)}
        loops = [s for s in self.everything if isinstance(s, Loop)]
        self.carries = {var: one for loop in loops for one in loop.carries for var in (one.inside, one.after)}
        self.in_place = any(s.combine is not None for s in self.stores)
        """Whether its tensors are changed themselves, ``h[v] += x``, and not other ones put into their places."""
        self.items = [s.value for s in (self.appends if self.in_place else (*self.appends, *self.stores))]
        self.ends: dict[Var | None, Atom] = {}
        """Loops over several sequences, by their index, and how often they must run to read all of this list."""

    def is_uniform(self) -> bool:
        """Whether everything that the list ever holds is a tensor of one kind and shape."""
        values = [s.value for s in (*self.appends, *self.stores)]
        found = [self.facts[value] for value in values if not (self.in_place and self._is_number(value))]
        if not all(isinstance(value, Var) and value in self.facts.of for value in self.items):
            return False
        if any(value in self.facts.mixed for value in values if isinstance(value, Var)):
            return False
        kind, shape = found[0].kind, found[0].shape
        if kind.family != "tensor" or any(f.kind != kind or tuple(f.shape) != tuple(shape) for f in found):
            return False
        if any(s.method or (s.combine is None) == self.in_place for s in self.stores):
            return False
        return all(self.is_place(s.index) for s in self.stores)

    def is_place(self, index: Operand) -> bool:
        """Whether a subscript is one integer."""
        if not isinstance(index, Var | Const):
            return False
        kind = self.facts.kind(index)
        return kind.family == "int" or (kind.family == "tensor" and str(kind.dtype) == "torch.int64" and not kind.rank)

    def holds_values(self) -> bool:
        """Whether nothing can tell the tensors of the list from copies of them: nothing is changed in place that may
        be one of them, and none of them is handed out."""
        if self.in_place and not all(map(self._is_fresh, self.items)):
            return False
        if self._stores_elsewhere() and not all(map(self.is_new, self.items)):
            return False
        if not self._changes_in_place() and not self._may_hand_out():
            return True
        reads = [s for s in self.lets.values() if s.op.name in ("getitem", "iter_item") and s.op.args[0] is self.ref]
        if not all(self.is_new(item) and self._is_alone(item) for item in self.items):
            return False
        whole = [s for s in self.everything if self.ref in uses(s) and not self._is_plain_use(s)]
        return not whole and all(self._is_only_computed_with(read.var) for read in reads)

    def _is_fresh(self, item: Atom) -> bool:
        """Whether a tensor is made for the list alone; no backward pass needs what it held then."""
        let = self.lets.get(item) if isinstance(item, Var) else None
        users = [s for s in self.everything if item in uses(s)]
        made = let is not None and (let.op.name in CREATION or (self.is_new(item) and not self.gradients))
        return made and len(users) == 1 and self._is_alone(item)

    def _stores_elsewhere(self) -> bool:
        """Whether something else than lists of numbers is stored into."""
        refs = {s.ref for s in self.everything if isinstance(s, Store)} - self.tables - {self.ref}
        return any(ref not in self.facts.of or self.facts.kind(ref).is_array for ref in refs)

    def _changes_in_place(self) -> bool:
        """Whether tensors are changed that are not seen to be made in the region, under one name."""
        for statement in self.everything:
            match statement:
                case Let(op=op) if op.name.startswith("inplace.") and self._may_be_tensor(op.args[0]):
                    return True
                case Store(ref=ref, combine=None) if ref in self.facts.of and self.facts.kind(ref).family == "list":
                    continue  # another tensor is bound to a place
                case Store(ref=ref) if ref is not self.ref and ref not in self.tables and not self._is_made_here(ref):
                    return True
        return False

    def _may_be_tensor(self, operand: Operand) -> bool:
        return any(not isinstance(a, Const) and not self._is_number(a) for a in atoms(operand))

    def _is_number(self, atom: Atom) -> bool:
        return atom in self.facts.of and self.facts.kind(atom).is_number

    def _is_made_here(self, ref: Var) -> bool:
        """Whether what is stored into is a list of numbers, or memory that was made for it."""
        let = self.lets.get(ref)
        if let is not None and let.op.name in CREATION:
            return True
        stored = [s.value for s in self.everything if isinstance(s, Store | Append) and s.ref is ref]
        return let is not None and let.op.name == "list" and all(map(self._is_number, stored))

    def _may_hand_out(self) -> bool:
        """Whether a result may be a tensor of the list: it is none that an operation has made."""
        return any(not self._is_made(atom) for name, atom in self.function.results if atom is not self.ref)

    def _is_made(self, atom: Atom, seen: frozenset[Atom] = frozenset()) -> bool:
        if isinstance(atom, Const) or self._is_number(atom) or atom in self.function.params or atom in seen:
            return True
        if (carry := self.carries.get(atom)) is not None:
            return all(self._is_made(one, seen | {carry.inside}) for one in (carry.init, carry.next))
        let = self.lets.get(atom)
        if atom is self.ref:
            return False
        if let is not None and let.op.name in ("tuple", "zipped"):
            return all(self._is_made(one, seen) for one in operands(let.op))
        if let is not None and let.op.name == "list":
            appended = [s.value for s in self.everything if isinstance(s, Append) and s.ref is atom]
            return all(self.is_new(value) or self._is_number(value) for value in (*operands(let.op), *appended))
        return self.is_new(atom)

    def is_new(self, item: Atom) -> bool:
        """Whether a value has memory of its own."""
        let = self.lets.get(item) if isinstance(item, Var) else None
        return let is not None and is_made_anew(let, self.facts)

    def _is_alone(self, item: Atom) -> bool:
        """Whether a value is in this list only."""
        keepers = [s for s in self.everything if item in uses(s) and not self._computes(s)]
        if len(keepers) != 1 or any(atom is item for _, atom in self.function.results):
            return False
        return self._is_beside(item, keepers[0])

    def _is_beside(self, item: Atom, keeper: Statement) -> bool:
        """Whether a value is made anew whenever it is put into the list."""
        let = self.lets.get(item) if isinstance(item, Var) else None
        return any(let in block.statements and keeper in block.statements for block in blocks(self.function.body))

    def _is_only_computed_with(self, var: Var) -> bool:
        users = [s for s in self.everything if var in uses(s)]
        if any(atom is var for _, atom in self.function.results):
            return False
        return all(self._computes(user) or self._is_there_to_be_joined(user) for user in users)

    def _is_there_to_be_joined(self, statement: Statement) -> bool:
        """Whether a statement makes a list that nothing but joins reads: they copy its items."""
        if not isinstance(statement, Let) or statement.op.name != "list":
            return False
        users = [s for s in self.everything if statement.var in uses(s)]
        return all(isinstance(user, Let) and user.op.name in JOINS for user in users) and not any(
            atom is statement.var for _, atom in self.function.results
        )

    def _computes(self, statement: Statement) -> bool:
        return isinstance(statement, Let) and self.is_new(statement.var)

    def _is_plain_use(self, statement: Statement) -> bool:
        match statement:
            case Let(op=op):
                return op.name in READS
            case Loop(domain=domain):
                return isinstance(domain, Range) and self.ref not in carried(statement)
        return isinstance(statement, Append | Store) and statement.ref is self.ref and statement.value is not self.ref

    def may_be_listed(self) -> bool:
        """Whether rows of a table can stand for the tensors of the list: where they are handed out each of these was
        made for it alone, and where some ask for gradients only what is made of all of them is handed out."""
        if self.gradients and self.facts.kind(self.items[0]).dtype.is_floating_point:
            parts = Parts(self.function, self.facts, self.ref, self.length())
            if parts.reach_results():
                return False
            self.ends = {loop.index: length for loop, length in parts.lengths.items()}
        if any(atom is self.ref for _, atom in self.function.results):
            return all(self.is_new(item) and self._is_alone(item) for item in self.items)
        return True

    def length(self) -> Atom | None:
        """How often the loop ran that filled the list."""
        if len(self.appends) != 1:
            return None
        block = next(b for b in blocks(self.function.body) if self.made in b.statements)
        for loop in (s for s in block if isinstance(s, Loop) and self.appends[0] in s.body.statements):
            if counts_up(loop) and isinstance(loop.domain, Range):
                return loop.domain.hi
        return None


def blocks(block: Block) -> Iterable[Block]:
    """A block and all those inside of it."""
    yield block
    for statement in walk(block):
        yield from children(statement)


def carried(loop: Loop) -> list[Atom]:
    """What goes into the variables that a loop carries."""
    return [atom for carry in loop.carries for atom in (carry.init, carry.next)]


__all__ = ["READS", "HeldList", "blocks", "carried"]
