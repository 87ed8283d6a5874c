"""Stores into a tensor of a part of itself: PyTorch refuses what overlaps in part, or reads what it just wrote."""

from __future__ import annotations

from collections.abc import Sequence

from looplift.ir.grammar import Atom, Const, Group, Let, Operand, Slice, Var, as_atom
from looplift.vectorize import nodes, sharing
from looplift.vectorize.context import Context

Place = Sequence[Operand]
"""For each dimension of an array an index, or a slice."""

WHOLE = Slice(Const(None), Const(None), Const(None))


def check_overlap(context: Context, ref: Var, index: Operand, value: Atom, combine: str | None) -> None:
    """The places that are read and written must be the same ones, or surely others."""
    if context.library == "np" or not isinstance(value, Var) or not context.facts.kind(value).is_array:
        return
    root = sharing.origin(context, ref)
    if sharing.origin(context, value) is not root:
        return
    read, written = _place(context, value, root), _place(context, ref, root)
    written = None if written is None else _within(context, written, index)
    if read is None or written is None or not _is_harmless(context, read, written, combine):
        raise context.refuse("aliasing", f"a part of '{root.hint}' is stored into '{root.hint}' itself")


def _is_harmless(context: Context, read: Place, written: Place, combine: str | None) -> bool:
    if not any(isinstance(item, Slice) for item in (written if combine is not None else read)):
        return True  # a single element
    alike = True
    for one, other in zip(read, written, strict=True):
        if _are_apart(context, one, other) or _are_apart(context, other, one):
            return True
        if isinstance(one, Slice) and isinstance(other, Slice):
            alike &= _is_same(context, one, other)
        else:
            alike &= not isinstance(one, Slice) and not isinstance(other, Slice)
    return alike


def _place(context: Context, var: Var, root: Var) -> Place | None:
    """The place in an array that a chain of subscripts ends in; None where something else is in it."""
    if var is root:
        return [WHOLE] * context.facts.kind(root).rank
    made = context.flow.definition.get(var)
    if not isinstance(made, Let) or made.op.name not in ("getitem", "iter_item", "copy"):
        return None
    owner = as_atom(made.op.args[0])
    inner = _place(context, owner, root) if isinstance(owner, Var) else None
    return inner if inner is None or made.op.name == "copy" else _within(context, inner, made.op.args[1])


def _within(context: Context, place: Place, index: Operand) -> Place | None:
    """The place of a subscript of what is at a place."""
    items = index.items if isinstance(index, Group) else (index,)
    free = [dim for dim, item in enumerate(place) if isinstance(item, Slice)]
    found = list(place)
    if len(items) > len(free):
        return None
    for dim, item in zip(free, items, strict=False):
        plain = isinstance(item, Slice) or (isinstance(item, Var | Const) and _is_integer(context, item))
        if not plain or not _is_whole(found[dim]):
            return None
        found[dim] = item
    return found


def _is_integer(context: Context, atom: Atom) -> bool:
    kind = context.facts[atom].kind
    return kind.family == "int" or (kind.is_array and not kind.rank and "bool" not in str(kind.dtype))


def _is_whole(item: Operand) -> bool:
    parts = (item.lo, item.hi, item.step) if isinstance(item, Slice) else (item,)
    return all(isinstance(part, Const) and part.value is None for part in parts)


def _is_same(context: Context, one: Slice, other: Slice) -> bool:
    """Whether two slices have the same bounds."""
    pairs = zip((one.lo, one.hi, one.step), (other.lo, other.hi, other.step), strict=True)
    return all((_bound(a) is None and _bound(b) is None) or _gap(context, a, b) == 0 for a, b in pairs)


def _are_apart(context: Context, one: Operand, other: Operand) -> bool:
    """Whether all of one lies before all of the other, in any run."""
    if not isinstance(one, Slice) and not isinstance(other, Slice):
        return _gap(context, as_atom(one), as_atom(other)) not in (None, 0)
    last = one.hi if isinstance(one, Slice) else as_atom(one)
    first = other.lo if isinstance(other, Slice) else as_atom(other)
    for item in (one, other):
        if isinstance(item, Slice) and _bound(item.step) not in (None, 1):
            return False
    gap = _gap(context, last, first)
    return gap is not None and gap >= (0 if isinstance(one, Slice) else 1)


def _counts_from_end(atom: Atom) -> bool:
    return isinstance(atom, Const) and isinstance(atom.value, int) and atom.value < 0


def _bound(atom: Atom) -> object:
    return atom.value if isinstance(atom, Const) else atom


def _gap(context: Context, one: Atom, other: Atom) -> int | None:
    """The second integer less the first, if it is the same in all lanes; None where that is not known."""
    if any(_bound(atom) is None or _counts_from_end(atom) for atom in (one, other)):
        return None
    first, second = context.affine(one), context.affine(other)
    if first is None or second is None or first.terms != second.terms:
        return None
    return nodes.constant_of(nodes.minus(second.base, first.base))
