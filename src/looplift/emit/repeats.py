"""Source text of values of a lane at the entries of its ragged axis: NumPy repeats them, torch selects them.

lengths         2 0 3
value           a b c
repeated        a a c c c         np.repeat(value, lengths)
place           a a+1 c c+1 c+2   np.arange(5) + np.repeat(value - first, lengths)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from looplift.emit.ragged import entries_text, lengths_text
from looplift.emit.spelling import ATOM, SUM
from looplift.emit.text import Text, arranged, atom
from looplift.ir.array import Axis, Node

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def repeated_text(p: Printer, text: str, axis: Axis, rank: int = 1) -> Text:
    """One value for each lane of the only parent of a ragged axis, once for each entry of the lane."""
    if p.library == "np":
        return atom(f"np.repeat({text}, {lengths_text(p, axis)}{', axis=0' if rank > 1 else ''})")
    return atom(f"{text}.index_select(0, {entries_text(p, axis, axis.parents[0])})")


def place_text(p: Printer, node: Node) -> Text:
    """The positions of the entries, counted on from a start in each lane."""
    (axis,) = node.axes
    lengths = lengths_text(p, axis)
    first = Text(f"{arranged(p, node.args[0], axis.parents, 0, SUM)} - ({lengths}.cumsum(0) - {lengths})", SUM)
    text = first.text if p.library == "np" else first.at(ATOM)
    arange = f"{p.library}.arange({p.extent(axis)}{p.device_argument()})"
    return Text(f"{arange} + {repeated_text(p, text, axis).text}", SUM)


RENDERERS: dict[str, Callable[[Printer, Node], Text]] = {
    "place": place_text,
}  # fmt: skip
