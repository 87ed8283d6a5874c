"""Source text of masks that compare the positions of two loops: a diagonal, or what is on one side of it.

torch.arange(n) < (1 + torch.arange(n))[:, None]  ->  torch.ones(n, n, dtype=torch.bool).tril_()

torch writes these at the speed of memory; comparisons of integers that are spread take ten times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from looplift.emit.spelling import UNARY
from looplift.emit.text import Text, atom
from looplift.ir.array import Axis, Node

if TYPE_CHECKING:
    from looplift.emit.source import Printer

TURNED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def position_mask_text(p: Printer, node: Node) -> Text | None:
    """None where a comparison is another one."""
    name = node.attrs["name"]
    if p.library != "torch" or name not in TURNED or len(node.args) != 2 or len(node.axes) != 2:
        return None
    places = [_position(arg) for arg in node.args]
    if None in places:
        return None
    (first, left), (second, right) = places  # type: ignore[misc]
    if (first, second) == node.axes[::-1]:
        name, left, right = TURNED[name], right, left
    elif (first, second) != node.axes:
        return None
    sizes = [p.extent(axis) for axis in node.axes]
    return _text(name, left - right, sizes, f"dtype=torch.bool{p.device_argument()}")


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
