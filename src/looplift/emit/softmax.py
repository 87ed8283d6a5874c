"""Source text of a softmax along axes that stand side by side, and of the logarithm of sums of exponentials."""

from __future__ import annotations

from collections.abc import Callable
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


def axes_logsumexp_text(p: Printer, node: Node) -> Text:
    (value,) = node.args
    dims = [value.axes.index(axis) for axis in node.attrs["axes"]]
    return atom(f"{p.text(value).at(ATOM)}.logsumexp({dims[0] if len(dims) == 1 else tuple(dims)})")


RENDERERS: dict[str, Callable[[Printer, Node], Text]] = {
    "axes_logsumexp": axes_logsumexp_text, "axes_softmax": axes_softmax_text,
}  # fmt: skip
