"""Statements in, out whether they may change what an operation reads: by names alone, and the values of this call.

for j in range(len(xs)):        len(xs) is another number behind the second loop
    places.append(j)
for k in range(n):
    xs.append(k)
"""

from __future__ import annotations

from collections.abc import Iterable

from looplift.ir.grammar import (
    TABLE,
    Append,
    Atom,
    Const,
    Function,
    Group,
    Let,
    Op,
    Operand,
    Perform,
    Slice,
    Statement,
    Store,
    Var,
    walk,
)
from looplift.ir.started import LENGTHS

GROWING = frozenset(("append", "extend", "insert", "pop", "remove", "clear", "add", "discard", "update", "popleft"))
IN_PLACE = GROWING | {"sort", "reverse", "fill", "setdefault", "popitem", "appendleft", "rotate"}
"""Methods that change what they are called on, beside those of tensors whose names end with an underscore."""


def is_in_place(method: str) -> bool:
    """Whether a method changes what it is called on, by its name."""
    return method in IN_PLACE or (method.endswith("_") and not method.endswith("__"))


class Writes:
    """What some statements of a function write to."""

    def __init__(self, function: Function, statements: Iterable[Statement]) -> None:
        self.lets = {s.var: s for s in walk(function.body) if isinstance(s, Let)}
        self.values = function.attributes["values"]
        self.stored: set[Atom] = set()
        self.lengthened: set[Atom] = set()
        for statement in statements:
            self._note(statement)

    def _note(self, statement: Statement) -> None:
        match statement:
            case Store(ref=ref, index=index):
                self.stored.add(ref)
                if _has_slice(index):
                    self.lengthened.add(ref)
            case Append(ref=ref):
                self.lengthened.add(ref)
            case Let(op=op) | Perform(op=op) if op.args and isinstance(op.args[0], Var):
                prefix, _, method = op.name.partition(".")
                if prefix == "inplace" or (prefix == "method" and is_in_place(method)):
                    self.lengthened.add(op.args[0])
                elif prefix == "call":
                    self.lengthened.update(atom for atom in op.args if isinstance(atom, Var))

    def may_change(self, op: Op) -> bool:
        """Whether an operation that gives a size or an item may give another one behind these statements."""
        if not op.args or self._is_of_shape(op):
            return False
        if op.name in LENGTHS:
            return any(self.may_be_one(op.args[0], one) for one in self.lengthened)
        return self.may_change_items(op.args[0])

    def may_change_items(self, owner: Operand) -> bool:
        """Whether something may have other items, or more, behind these statements."""
        return any(self.may_be_one(owner, one) for one in self.lengthened | self.stored)

    def _is_of_shape(self, op: Op) -> bool:
        """Whether it is a shape, or an item of one."""
        made = self.lets.get(op.args[0]) if op.name in ("getitem", "unpack") else None  # type: ignore[arg-type]
        if made is not None:
            return self._is_of_shape(made.op)
        is_shape = op.name == "attribute" and isinstance(op.args[1], Const) and op.args[1].value == "shape"
        return is_shape or op.name in ("add", "sub", "method.size")

    def may_be_one(self, read: Operand, written: Operand) -> bool:
        """Whether what is written may be what is read, or hold it, or be held by it."""
        (first, _), (second, direct) = self._root(read), self._root(written)
        if first is second:
            return True
        if self._are_unlike(first, second) or self._are_unlike(second, first):
            return False
        return not (direct and self._is_new(second) and (first in self.values or self._is_new(first)))

    def _root(self, atom: Operand, *, direct: bool = True) -> tuple[Operand, bool]:
        """What an item is of, and whether it is that itself."""
        made = self.lets.get(atom)  # type: ignore[arg-type]
        if made is not None and made.op.name in ("getitem", "iter_item", "unpack"):
            return self._root(made.op.args[0], direct=False)
        return atom, direct

    def _is_new(self, atom: Operand) -> bool:
        made = self.lets.get(atom)  # type: ignore[arg-type]
        return made is not None and made.op.name in NEW

    def _are_unlike(self, one: Operand, other: Operand) -> bool:
        """Whether one is an array of the caller's, and the other a list of the caller's that holds no arrays."""
        array, items = self.values.get(one), self.values.get(other)
        return hasattr(array, "shape") and type(items) is list and not any(hasattr(item, "shape") for item in items)


_MADE = "zeros ones full empty zeros_like ones_like full_like empty_like".split()
NEW = frozenset(("list", TABLE, *(f"{library}.{name}" for library in ("torch", "np") for name in _MADE)))
"""What makes a container or an array of its own."""


def _has_slice(index: Operand) -> bool:
    return isinstance(index, Slice) or (isinstance(index, Group) and any(map(_has_slice, index.items)))
