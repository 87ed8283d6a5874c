"""Source text of calls for all lanes: a text in which the operands are filled in."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from looplift.emit.spelling import ATOM
from looplift.emit.text import Text, arranged, atom, full
from looplift.ir.array import Node

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def batched_text(p: Printer, node: Node) -> Text:
    """``{a}`` is an operand, ``{a!}`` one that binds tightly, ``{lead}`` the number of lanes' dimensions."""
    operands = dict(zip(node.attrs["names"], node.args, strict=True))
    for helper in node.attrs.get("need", ()):
        p.need(helper)

    def filled(found: re.Match[str]) -> str:
        name, tight = found.groups()
        if name == "lead":
            return str(len(node.axes))
        if name == "extents":
            return "".join(f"{p.extent(axis)}, " for axis in node.axes)
        if name in node.attrs.get("shared", ()):
            return p.text(operands[name]).text
        return _operand(p, node, operands[name], ATOM if tight else 0)

    return atom(re.sub(r"\{(\w+)(!?)\}", filled, node.attrs["text"]))


def _operand(p: Printer, node: Node, operand: Node, level: int) -> str:
    """With the dimensions of all lanes, and where all operands broadcast, with as many of its own."""
    rank = node.attrs.get("rank")
    if operand.kind.is_array and node.attrs.get("full"):
        return full(p, operand, node.axes)
    if operand.axes or (rank is not None and operand.kind.is_array):
        return arranged(p, operand, node.axes, operand.kind.rank if rank is None else rank, level)
    return p.text(operand).at(level)


RENDERERS: dict[str, Callable[[Printer, Node], Text]] = {
    "batched": batched_text,
}  # fmt: skip
