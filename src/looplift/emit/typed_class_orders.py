"""The ``__lt__`` of a class in, the attributes by which it orders objects out: of these alone any sort makes the same.

def __lt__(self, other):
    return (self.cost, -self.size) < (other.cost, -other.size)        # cost, size
"""

from __future__ import annotations

import ast
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.emit.typed_classes import Record
from looplift.emit.typed_types import NEVER, NUMBERS, TEXT, Tup


def ordering(record: Record, source_of: Any) -> list[str] | None:
    """The attributes that are all that ``__lt__`` compares; None where it may be no order, or have effects."""
    if "__lt__" not in record.methods:
        return None
    try:
        tree = source_of(record.methods["__lt__"]).tree
    except NotLiftable:
        return None
    names = [one.arg for one in tree.args.args]
    match tree.body:
        case [ast.Return(value=ast.Compare(left=left, ops=[ast.Lt() | ast.Gt()], comparators=[right]))]:
            sides = [[_read_of(left, one), _read_of(right, other)] for one, other in (names, names[::-1])]
            found = next((one for one, other in sides if one and one == other), [])
        case _:
            return None
    attributes = [name for name in found if name.isidentifier()]
    return attributes if attributes and all(_is_ordered(record, name) for name in attributes) else None


def _read_of(side: ast.expr, own: str) -> list[str]:
    """What a side of a comparison is made of: attributes of one object, with signs; nothing if of anything else."""
    match side:
        case ast.Attribute(value=ast.Name(id=name), attr=attr) if name == own:
            return [attr]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Attribute() as operand):
            return ["-", *_read_of(operand, own)] if _read_of(operand, own) else []
        case ast.Tuple(elts=elts):
            parts = [_read_of(one, own) for one in elts]
            return ["(", *(name for part in parts for name in part)] if all(parts) else []
    return []


def _is_ordered(record: Record, name: str) -> bool:
    """Whether an attribute is a number or a text, or a tuple of those."""
    return name in record.fields and _has_order(record.box.cells[record.fields.index(name)])


def _has_order(type_: Any) -> bool:
    if isinstance(type_, Tup):
        return all(map(_has_order, type_.items))
    return type_ is NEVER or type_ in NUMBERS or type_ is TEXT
