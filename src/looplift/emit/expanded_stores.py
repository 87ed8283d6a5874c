"""Stores of rows as loops that store their elements."""

from __future__ import annotations

from looplift.emit.expanded import Expansion, Row, Size, place_in, rank_of
from looplift.ir.grammar import Atom, Const, Group, Operand, Slice, Store, Var, as_atom


def store(walk: Expansion, statement: Store) -> None:
    value = walk.row(statement.value)
    root = walk.roots.get(statement.ref, statement.ref)
    if value is None:
        if _target_rank(walk, statement):
            raise walk.refusal("a number is stored into a whole row")
        walk.out.append(statement)
    else:
        _store_row(walk, statement, value, root)
        walk.changed = True
    walk.writes.append((root, _place_of(walk, statement) if statement.ref is root else None))


def _place_of(walk: Expansion, statement: Store) -> Atom | None:
    """The subscript of the first axis that a store writes to."""
    parts = statement.index.items if isinstance(statement.index, Group) else (statement.index,)
    return parts[0] if parts and isinstance(parts[0], Var | Const) and walk.is_place(parts[0]) else None


def _target_rank(walk: Expansion, statement: Store) -> int:
    parts = statement.index.items if isinstance(statement.index, Group) else (statement.index,)
    return rank_of(walk.facts, statement.ref) - sum(not isinstance(part, Slice) for part in parts)


def _store_row(walk: Expansion, statement: Store, value: Row, root: Var) -> None:
    index = statement.index
    parts = list(index.items) if isinstance(index, Group) else [index]
    places = rank_of(walk.facts, statement.ref)
    if any(not isinstance(part, Var | Const) or isinstance(walk.facts[part].sample, bool) for part in parts):
        raise walk.refusal("a store into a part of a tensor")
    if any(walk.facts.kind(as_atom(part)).family != "int" for part in parts) or len(parts) >= places:
        raise walk.refusal("a store into a part of a tensor")
    if len(value.sizes) > places - len(parts):
        raise walk.refusal("a store of more dimensions than the place has")
    _keep_apart(walk, statement, value, root, parts[0])
    own: list[Size] = [walk.let("method.size", statement.ref, Const(axis)) for axis in range(len(parts), places)]
    offset = len(own) - len(value.sizes)
    for axis, size in enumerate(value.sizes):
        if size != 1:
            own[offset + axis] = walk.same_size(size, own[offset + axis])

    def put(free: tuple[Atom, ...]) -> None:
        element = value.at(tuple(place_in(size, k) for size, k in zip(value.sizes, free[offset:], strict=True)))
        place = Group("tuple", (*parts, *free))
        walk.out.append(Store(statement.ref, place, element, statement.combine, statement.span))

    walk.require_elements(tuple(own))
    walk.each(tuple(own), put)


def _keep_apart(walk: Expansion, statement: Store, value: Row, root: Var, place: Operand) -> None:
    """All of the right side is read before anything is written: it must be of other rows of the tensor."""
    mine = [first for read, first in value.reads if read is root]
    if mine and statement.ref is not root:
        raise walk.refusal("a row is stored into the tensor that it is computed from")
    for first in mine:
        walk.require_other_rows(root, place, first)
