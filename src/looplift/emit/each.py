"""Source text of Python's own functions of the number of each lane."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from looplift.emit.text import Text, arranged, atom
from looplift.ir.array import Node

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def each_text(p: Printer, node: Node) -> Text:
    """The function of each number; the helper takes numbers and arrays of them."""
    p.need(name := "of_each" if p.library == "torch" else "of_each_array")
    columns = ", ".join(arranged(p, arg, node.axes, 0, 0) for arg in node.args)
    return atom(f"{name}({node.attrs['name']}, {columns})")


RENDERERS: dict[str, Callable[[Printer, Node], Text]] = {
    "each": each_text,
}  # fmt: skip
