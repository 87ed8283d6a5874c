"""Reads of what the iteration before has stored become a value that the loop carries.

y[0] = x[0]                        y[0] = before = x[0]
for t in range(1, n):              for t in range(1, n):
    y[t] = a * y[t - 1] + x[t]         before = a * before + x[t]
                                       y[t] = before

So the loop only stores into the array, and what it carries may be a scan. With gradients only what no backward pass
keeps of the array is taken: the next store would change it.
"""

from __future__ import annotations

import itertools

from looplift.base.data import dataclass, replace
from looplift.ir.copies import copied
from looplift.ir.facts import Facts
from looplift.ir.grammar import (
    Atom,
    Block,
    Carry,
    Const,
    Function,
    Group,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Range,
    Require,
    Slice,
    Statement,
    Store,
    Var,
    atoms,
    definitions,
    uses,
    walk,
)
from looplift.ir.started import Changes
from looplift.ops import table

Linear = dict[Atom | None, int]
"""An integer as a sum of atoms with factors; None stands for one."""

Item = Linear | tuple[object, ...]

NOT_KEPT = frozenset("add sub neg inplace.add inplace.sub".split())
"""Operations whose backward pass keeps no operand."""


def with_forwarding(function: Function, facts: Facts, *, gradients: bool) -> Function | None:
    """The same function with carried values for what iterations read of the one before; None if none does."""
    found = None
    for number in itertools.count(1):
        made = _Forwarded(function, facts, gradients, number)
        body = made.block(function.body)
        if not made.found:
            return found
        found = function = replace(function, body=body, attributes=dict(function.attributes))
    return found


@dataclass(frozen=True, eq=False)
class _Place:
    """A place of an array: the array, and one item for each of its first dimensions."""

    root: Atom
    items: tuple[Item, ...]


class _Forwarded:
    """One array of the function, the first that is found."""

    def __init__(self, function: Function, facts: Facts, gradients: bool, number: int):
        self.facts, self.gradients, self.number = facts, gradients, number
        self.lets = {s.var: s for s in walk(function.body) if isinstance(s, Let)}
        self.users: dict[Atom, list[Statement]] = {}
        for statement in walk(function.body):
            for atom in uses(statement):
                self.users.setdefault(atom, []).append(statement)
        self.found = False

    def block(self, block: Block) -> Block:
        return Block(tuple(made for statement in block for made in self.statement(statement)))

    def statement(self, statement: Statement) -> list[Statement]:
        match statement:
            case If(then=then, orelse=orelse):
                return [replace(statement, then=self.block(then), orelse=self.block(orelse))]
            case Loop():
                made = None if self.found else self.loop(statement)
                return made or [replace(statement, body=self.block(statement.body))]
        return [statement]

    def loop(self, loop: Loop) -> list[Statement] | None:
        """The loop with a carried value, and what is needed before it."""
        domain = loop.domain
        stores = [s for s in walk(loop.body) if isinstance(s, Store)]
        if not isinstance(domain, Range) or loop.index is None or domain.source is not None or not stores:
            return None
        if not isinstance(domain.step, Const) or domain.step.value not in (1, -1):
            return None
        for store in stores:
            place = self.place(store.ref, store.index)
            if place is None or not any(s is store for s in loop.body) or not self.is_alone(store, place, stores):
                continue
            reads = self.reads_before(loop, store, place, domain.step.value) if _moves(place, loop) else None
            if reads is not None and reads[0]:
                self.found = True
                return self.carried(loop, domain, store, *reads)
        return None

    def is_alone(self, store: Store, place: _Place, stores: list[Store]) -> bool:
        """Whether no other store may write to the same place."""
        if store.combine not in (None, "add", "sub", "mul"):
            return False
        roots = [self.root(other.ref) for other in stores if other is not store]
        return place.root not in roots and (self.is_new(place.root) or not roots)

    def is_new(self, root: Atom) -> bool:
        made = self.lets.get(root) if isinstance(root, Var) else None
        return made is not None and made.op.name in table.CREATION

    # ------------------------------------------------------------ places

    def root(self, ref: Atom) -> Atom:
        made = self.lets.get(ref) if isinstance(ref, Var) else None
        return self.root(made.op.args[0]) if made is not None and _is_read(made) else ref  # type: ignore[arg-type]

    def place(self, ref: Atom, index: Operand) -> _Place | None:
        items = tuple(self.item(one) for one in (index.items if isinstance(index, Group) else (index,)))
        made = self.lets.get(ref) if isinstance(ref, Var) else None
        if made is None or not _is_read(made):
            return _Place(ref, items)
        owner, first = made.op.args
        before = self.place(owner, first) if isinstance(owner, Var) else None
        if before is None or not all(isinstance(item, dict) for item in before.items):
            return None
        return _Place(before.root, (*before.items, *items))

    def read_place(self, let: Let) -> _Place | None:
        owner, index = let.op.args if _is_read(let) else (None, None)
        return self.place(owner, index) if isinstance(owner, Var) and index is not None else None

    def item(self, operand: Operand) -> Item:
        if isinstance(operand, Slice):
            return ("slice", *(_key(part) for part in (operand.lo, operand.hi, operand.step)))
        if isinstance(operand, Group):
            return ("group", id(operand))
        if isinstance(operand, Const) and type(operand.value) is not int:
            return ("const", operand.value is Ellipsis, _key(operand))
        return self.linear(operand)

    def linear(self, atom: Atom) -> Linear:
        if isinstance(atom, Const):
            return {None: atom.value} if atom.value else {}
        made = self.lets.get(atom)
        if made is not None and made.op.name in ("add", "sub") and self.is_integer(atom):
            first, second = (self.linear(arg) for arg in made.op.args)  # type: ignore[arg-type]
            return _plus(first, second, 1 if made.op.name == "add" else -1)
        return {atom: 1}

    def is_integer(self, atom: Atom) -> bool:
        return atom in self.facts.of and self.facts.kind(atom).family == "int"

    def is_number(self, atom: Operand) -> bool:
        return isinstance(atom, Const) or (atom in self.facts.of and self.facts.kind(atom).is_number)  # type: ignore

    def reads_before(self, loop: Loop, store: Store, place: _Place, step: int) -> tuple[list[Let], list[Let]] | None:
        """The reads of what the iteration before stored, and of what this one has; None if there are others too."""
        wanted = tuple(_shifted(item, loop.index, step) for item in place.items)
        found: list[Let] = []
        later: list[Let] = []
        inside = list(walk(loop.body))
        for position, statement in enumerate(inside):
            handles = [atom for atom in uses(statement) if self.root(atom) is place.root and self.is_handle(atom)]
            if not handles or statement is store or (isinstance(statement, Let) and self.is_handle(statement.var)):
                continue
            here = self.read_place(statement) if isinstance(statement, Let) else None
            if here is None or not isinstance(statement, Let):
                return None
            after = position > inside.index(store)
            if here.items == wanted and self.is_only_computed_with(statement, store):
                found.append(statement)
            elif here.items == place.items and after and self.is_only_computed_with(statement, store):
                later.append(statement)
            elif here.items != place.items or after:
                return None
        if any(not self.fits(read, store) or (self.gradients and self.is_kept(read)) for read in (*found, *later)):
            return None
        return found, later

    def is_handle(self, atom: Atom) -> bool:
        """Whether an array, or a row of it, is only read and stored by subscripts."""
        if (let := self.lets.get(atom) if isinstance(atom, Var) else None) is None or not _is_read(let):
            return True
        return any(
            (isinstance(user, Let) and _is_read(user) and user.op.args[0] is atom)
            or (isinstance(user, Store) and user.ref is atom)
            for user in self.users.get(atom, ())
        )

    def is_only_computed_with(self, read: Let, store: Store) -> bool:
        """Whether nothing keeps what is read, which is a view of the array, but only its value counts."""
        plain = ("elementwise", "contraction", "reduction")
        return all(
            (user is store and store.combine is not None)
            or (
                isinstance(user, Let)
                and (user.op.name in table.ARITHMETIC or table.family(user.op.name) in plain)
                and not (user.op.name.startswith("inplace.") and user.op.args[0] is read.var)
            )
            for user in self.users.get(read.var, ())
        )

    def fits(self, read: Let, store: Store) -> bool:
        """Whether the array gives back what is stored: nothing is cast or broadcast."""
        taken = self.facts.of.get(read.var)
        given = self.facts.of.get(store.value) if isinstance(store.value, Var) else None
        if taken is None or given is None or taken.kind.family not in ("tensor", "numpy", "array"):
            return False
        same = given.kind.family == taken.kind.family and given.kind.dtype == taken.kind.dtype
        return same and given.kind.rank == taken.kind.rank and tuple(given.shape) == tuple(taken.shape)

    def is_kept(self, read: Let) -> bool:
        """Whether a backward pass may keep what is read, which the next store changes: backward raises then."""
        for user in self.users.get(read.var, ()):
            if isinstance(user, Store) and user.combine in ("add", "sub"):
                continue
            if not isinstance(user, Let):
                return True
            others = [arg for arg in user.op.args if arg is not read.var]
            scaled = user.op.name in ("mul", "truediv") and all(map(self.is_number, others))
            if user.op.name not in NOT_KEPT and not (
                scaled and not (user.op.name == "truediv" and user.op.args[0] in others)
            ):
                return True
        return False

    # ------------------------------------------------------------ what it becomes

    def carried(self, loop: Loop, domain: Range, store: Store, reads: list[Let], later: list[Let]) -> list[Statement]:
        number, span = self.number, store.span
        before, first, after, runs = (Var(f"{n}.{number}") for n in ("before", "first", "after", "runs"))
        assert loop.index is not None
        needed: set[Atom] = {reads[0].var}
        chain: list[Let] = []
        for let in reversed([s for s in walk(loop.body) if isinstance(s, Let)]):
            if let.var in needed:
                needed.update(a for arg in let.op.args for a in atoms(arg))
                chain.insert(0, let)
        made, names = copied(chain, {loop.index: domain.lo}, f".before{number}")
        value, statements = store.value, [s for s in loop.body]
        if store.combine is not None:
            own, value = Var(f"own.{number}"), Var(f"stored.{number}")
            place = statements.index(store)
            statements[place : place + 1] = [
                Let(own, Op("getitem", (store.ref, store.index)), span),
                Let(value, Op(store.combine, (own, store.value)), span),
                replace(store, value=value, combine=None),
            ]
        found: dict[Atom, Atom] = {read.var: before for read in reads}
        found |= {read.var: value for read in later}
        changes = Changes({id(read): () for read in (*reads, *later)}, found)
        body = changes.block(Block(tuple(statements)))
        ends = changes.atom(value)
        entry = names[reads[0].var]
        kind = self.facts.kind(reads[0].var)
        if kind.is_array:  # a view of what the loop writes to
            clone = "method.clone" if kind.family == "tensor" else "method.copy"
            made.append(Let(first, Op(clone, (entry,)), span))
            entry = first
        carry = Carry(before, entry, ends, after)
        carries = tuple(replace(c, next=changes.atom(c.next)) for c in loop.carries)
        test = (domain.lo, domain.hi) if domain.step.value == 1 else (domain.hi, domain.lo)  # type: ignore[union-attr]
        asked = [
            Let(runs, Op("lt", test), span),
            Require(runs, "a loop that reads what it stored has no iteration", span),
        ]
        return [*asked, *made, replace(loop, carries=(*carries, carry), body=body)]


def _moves(place: _Place, loop: Loop) -> bool:
    """Whether each iteration has a place of its own, by its index alone: all else is the same in all of them."""
    inside = {var for statement in walk(loop.body) for var in definitions(statement)}
    atoms_of: list[object] = []
    for item in place.items:
        if isinstance(item, tuple) and item[0] == "group":
            return False
        atoms_of += item if isinstance(item, dict) else item[1:]
    moves = any(isinstance(item, dict) and loop.index in item for item in place.items)
    return moves and not inside & set(atoms_of)


def _is_read(let: Let) -> bool:
    return let.op.name == "getitem" and isinstance(let.op.args[0], Var)


def _key(atom: Atom) -> object:
    return ("value", type(atom.value), atom.value) if isinstance(atom, Const) else atom


def _plus(first: Linear, second: Linear, sign: int) -> Linear:
    total = dict(first)
    for atom, factor in second.items():
        total[atom] = total.get(atom, 0) + sign * factor
    return {atom: factor for atom, factor in total.items() if factor}


def _shifted(item: Item, index: Var | None, step: int) -> Item:
    """What a subscript was in the iteration before."""
    if not isinstance(item, dict) or index not in item:
        return item
    return _plus(item, {None: item[index] * step}, -1)
