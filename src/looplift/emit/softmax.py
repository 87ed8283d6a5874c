"""Source text of a softmax along axes that stand side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from looplift.emit.spelling import ATOM
from looplift.emit.text import Text, atom
from looplift.ir.array import Node

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def axes_softmax_text(p: Printer, node: Node) -> Text:
    """``x.softmax(1)``, of several axes as one dimension."""
    (value,), axes = node.args, node.attrs["axes"]
    text, first = p.text(value).at(ATOM), value.axes.index(axes[0])
    if len(axes) == 1:
        return atom(f"{text}.softmax({first})")
    extents = ", ".join(p.extent(axis) for axis in axes)
    last = first + len(axes) - 1
    return atom(f"{text}.flatten({first}, {last}).softmax({first}).unflatten({first}, ({extents}))")
