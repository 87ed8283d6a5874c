"""Source text of masks that compare the positions of two loops: a diagonal, or what is on one side of it.

torch.arange(n) < (1 + torch.arange(n))[:, None]                        ->  torch.ones(n, n, dtype=torch.bool).tril_()
torch.where(torch.arange(n) != torch.arange(n)[:, None], x * y, 0.0)    ->  fill_diagonal(x * y, 0.0)

torch writes these at the speed of memory; comparisons of integers that are spread take ten times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from looplift.emit.arrays import MADE_ANEW, is_view
from looplift.emit.spelling import ATOM, UNARY, literal
from looplift.emit.text import Text, atom
from looplift.ir.array import Axis, Node

if TYPE_CHECKING:
    from looplift.emit.source import Printer

TURNED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def position_mask_text(p: Printer, node: Node) -> Text | None:
    """None where a comparison is another one."""
    if p.library != "torch" or (found := _relation(node)) is None:
        return None
    sizes = [p.extent(axis) for axis in node.axes]
    return _text(*found, sizes, f"dtype=torch.bool{p.device_argument()}")


def off_diagonal_text(p: Printer, node: Node) -> Text | None:
    """``torch.where(i != j, value, number)``: the value with a number on its diagonal; None for another choice."""
    mask, then, orelse = node.args
    relation = _relation(mask) if p.library == "torch" and mask.op == "elementwise" else None
    if relation not in (("eq", 0), ("ne", 0)):
        return None
    number, value = (then, orelse) if relation[0] == "eq" else (orelse, then)
    plain = number.op == "const" and type(number.attrs["value"]) in (int, float) and node.kind.family == "tensor"
    if not plain or value.kind != node.kind or value.axes != node.axes or mask.axes != node.axes or node.kind.rank:
        return None
    own = not p.gradients and p.uses.get(value.serial, 2) == 1 and value.op in MADE_ANEW and not is_view(value)
    text = p.text(value).text if own else f"{p.text(value).at(ATOM)}.clone()"
    p.need("fill_diagonal")
    return atom(f"fill_diagonal({text}, {literal(number.attrs['value'], 'torch')})")


def _relation(node: Node) -> tuple[str, int] | None:
    """How the position of a row, and so many more, compares with that of a column."""
    name = node.attrs["name"]
    if name not in TURNED or len(node.args) != 2 or len(node.axes) != 2:
        return None
    places = [_position(arg) for arg in node.args]
    if None in places:
        return None
    (first, left), (second, right) = places  # type: ignore[misc]
    if (first, second) == node.axes:
        return name, left - right
    return (TURNED[name], right - left) if (first, second) == node.axes[::-1] else None


def _text(name: str, ahead: int, sizes: list[str], how: str) -> Text | None:
    """``row + ahead < column`` and the like."""
    if name in ("eq", "ne"):
        eye = f"torch.eye({', '.join(dict.fromkeys(sizes))}, {how})"
        return None if ahead else atom(eye) if name == "eq" else Text(f"~{eye}", UNARY)
    side = "triu_" if name in ("lt", "le") else "tril_"
    apart = ahead + {"lt": 1, "gt": -1}.get(name, 0)
    return atom(f"torch.ones({', '.join(sizes)}, {how}).{side}({apart or ''})")


def _position(node: Node) -> tuple[Axis, int] | None:
    """The loop whose position a value is, and how much is added to it."""
    if node.op == "index":
        axis: Axis = node.attrs["axis"]
        counts = not axis.is_ragged and axis.step == 1 and node.axes == (axis,)
        return (axis, _number(axis.lo)) if counts and _number(axis.lo) is not None else None  # type: ignore[return-value]
    if node.op != "elementwise" or node.attrs["name"] not in ("add", "sub") or len(node.args) != 2:
        return None
    base, more = node.args if node.args[0].axes else node.args[::-1]
    found, number = _position(base), _number(more)
    if found is None or number is None or (node.attrs["name"] == "sub" and more is node.args[0]):
        return None
    return found[0], found[1] + (number if node.attrs["name"] == "add" else -number)


def _number(node: Node) -> int | None:
    known = node.op == "const" and type(node.attrs["value"]) is int
    return node.attrs["value"] if known else None
