"""Source text of diagonals of labelled values, and of values with others on a diagonal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from looplift.emit.arrays import MADE_ANEW, is_view
from looplift.emit.spelling import ATOM
from looplift.emit.subscripts import reordered
from looplift.emit.text import Text, atom, full
from looplift.ir.array import Node

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def _plain(text: str) -> str:
    """Without the parentheses that stand around all of it."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if not depth:
            return text[1:-1] if position == len(text) - 1 and text.startswith("(") else text
    return text


def diagonal_text(p: Printer, node: Node) -> Text:
    """Where two axes have the same position, with the dimension of the first."""
    (value,), (kept, gone) = node.args, node.attrs["pair"]
    first, second = value.axes.index(kept), value.axes.index(gone)
    place, last = node.axes.index(kept), node.rank - 1
    text = f"{p.text(value).at(ATOM)}.diagonal(0, {first}, {second})"
    return atom(text if place == last else f"{text}.movedim(-1, {place})")


def renamed_text(p: Printer, node: Node) -> Text:
    """The dimension of one axis is that of another."""
    (value,), (kept, gone) = node.args, node.attrs["pair"]
    axes = [kept if axis is gone else axis for axis in value.axes]
    order = [axes.index(axis) for axis in node.axes] + [len(axes) + k for k in range(node.kind.rank)]
    return atom(reordered(p, p.text(value).at(ATOM), order))


def on_diagonal_text(p: Printer, node: Node) -> Text:
    """Into new memory that nothing else reads, where no gradient flows."""
    (beside, inside), (kept, gone) = node.args, node.attrs["pair"]
    rest = tuple(axis for axis in node.axes if axis is not gone)
    place = rest.index(kept)
    last = place == len(rest) + node.kind.rank - 1
    diagonal = full(p, inside, rest)
    if not last:
        diagonal = f"{diagonal if diagonal.isidentifier() else f'({_plain(diagonal)})'}.movedim({place}, -1)"
    own = not p.gradients and p.uses.get(beside.serial, 2) == 1 and beside.op in MADE_ANEW and not is_view(beside)
    helper = "put_diagonal" if own else "with_diagonal"
    p.need(helper)
    dims = f"{node.axes.index(kept)}, {node.axes.index(gone)}"
    return atom(f"{helper}({_plain(full(p, beside, node.axes))}, {dims}, {_plain(diagonal)})")


RENDERERS: dict[str, Callable[[Printer, Node], Text]] = {
    "diagonal": diagonal_text, "renamed": renamed_text, "on_diagonal": on_diagonal_text,
}  # fmt: skip
