"""What is required of all integers of an array in, a test of the least or the greatest one out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from looplift.emit.spelling import COMPARE, SUM
from looplift.ir.array import Node

if TYPE_CHECKING:
    from looplift.emit.source import Printer

COMPARED = ("eq", "torch.eq", "method.eq")
SIGNS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def bound_text(p: Printer, cond: Node) -> str | None:
    """``greatest(x) <= bound`` for a condition that no other step reads; one pass over x makes no array."""
    shared = cond.serial in p.names or p.uses.get(cond.serial, 0) > 1
    if p.library != "torch" or shared or cond.op != "elementwise" or cond.attrs["name"] not in SIGNS:
        return None
    left, right = cond.args
    sign = SIGNS[cond.attrs["name"]]
    if _are_integers(left) and _is_integer(right):
        helper = "greatest" if sign[0] == "<" else "least"
        return f"{_extreme(p, helper, left)} {sign} {p.text(right).at(COMPARE + 1)}"
    if _is_integer(left) and _are_integers(right):
        helper = "least" if sign[0] == "<" else "greatest"
        return f"{p.text(left).at(COMPARE + 1)} {sign} {_extreme(p, helper, right)}"
    return None


def number_text(p: Printer, cond: Node) -> str | None:
    """``free_of_nan(x)`` for a condition that each number is equal to itself; None for others."""
    shared = cond.serial in p.names or p.uses.get(cond.serial, 0) > 1
    if p.library != "torch" or shared or cond.op != "elementwise" or cond.attrs["name"] not in COMPARED:
        return None
    value = cond.args[0]
    if len(cond.args) != 2 or cond.args[1] is not value or not str(value.kind.dtype).startswith("torch.float"):
        return None
    p.need("free_of_nan")
    return f"free_of_nan({p.text(value).text})"


def _extreme(p: Printer, helper: str, node: Node) -> str:
    """The least or greatest integer; of sums with one number it is a sum again, without an array of sums."""
    p.need(helper)
    is_sum = node.op == "elementwise" and node.kind.family == "int" and node.attrs["name"] == "add"
    if is_sum and node.serial not in p.names and p.uses.get(node.serial, 0) < 2:
        for numbers, number in (node.args, node.args[::-1]):
            if _is_integer(number) and _are_integers(numbers):
                return f"{helper}({p.text(numbers).text}) + {p.text(number).at(SUM + 1)}"
    return f"{helper}({p.text(node).text})"


def _are_integers(node: Node) -> bool:
    """Whether a node is a tensor of integers in the emitted code."""
    if node.kind.family == "int":
        return bool(node.axes)
    return node.kind.family == "tensor" and node.rank > 0 and str(node.kind.dtype) in ("torch.int64", "torch.int32")


def _is_integer(node: Node) -> bool:
    """Whether a node is a Python integer in the emitted code."""
    return node.kind.family == "int" and not node.axes
