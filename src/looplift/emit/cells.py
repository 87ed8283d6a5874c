"""Source text of recurrent cells and of layers that take sequences: the samples of all lanes in one dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from looplift.emit.spelling import ATOM
from looplift.emit.text import Text, atom, full
from looplift.ir.array import Node

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def cell_text(p: Printer, node: Node) -> Text:
    """The call, with the samples of a batch where the module has them."""
    args = node.args[:-1] if "rows" in node.attrs else node.args
    places = node.attrs.get("places", [0] * len(args))
    given = [_given(p, node, arg, place) for arg, place in zip(args, places, strict=True)]
    names = node.attrs.get("names", [""] * len(args))
    texts = iter([f"{name}={text}" if name else text for name, text in zip(names, given, strict=True)])
    groups = [f"({', '.join(next(texts) for _ in range(n))})" if n else next(texts) for n in node.attrs["groups"]]
    called = f"{node.attrs['path']}({', '.join(groups)})"
    return atom(called if node.kind.family == "tuple" else called + _apart(p, node, node.attrs.get("place", 0)))


def _given(p: Printer, node: Node, arg: Node, place: int | None) -> str:
    """An argument with the samples of all lanes in one dimension; without a place it is the same for all of them."""
    if place is None:
        return p.text(arg).text
    lead, own = len(node.axes), "rows" in node.attrs
    text = full(p, arg, node.axes)
    if own and place:
        text += f".movedim({lead + place}, {lead})"
    if lead + own > 1:
        text += f".flatten(0, {lead + own - 1})"
    return text + (f".movedim(0, {place})" if place else "")


def cell_part_text(p: Printer, node: Node) -> Text:
    """One of the results of a call."""
    (cell,) = node.args
    picked = node.attrs.get("picked", f"[{node.attrs.get('position')}]")
    return atom(f"{p.text(cell).at(ATOM)}{picked}{_apart(p, cell, node.attrs.get('place', 0))}")


def _apart(p: Printer, node: Node, place: int) -> str:
    """Text behind a result whose samples become those of each lane."""
    extents = [p.extent(axis) for axis in node.axes]
    own = "rows" in node.attrs
    if own:
        extents.append(p.text(node.args[-1]).text)
    text = f".movedim({place}, 0)" if place else ""
    if len(extents) > 1:
        text += f".unflatten(0, ({', '.join(extents)}))"
    return text + (f".movedim({len(node.axes)}, {len(node.axes) + place})" if own and place else "")


def open_rows_text(p: Printer, node: Node) -> Text:
    """Whether a mask leaves something in each of its rows."""
    p.need("open_rows")
    return atom(f"open_rows({p.text(node.args[0]).text})")


RENDERERS: dict[str, Callable[[Printer, Node], Text]] = {
    "cell": cell_text, "part": cell_part_text, "open_rows": open_rows_text,
}  # fmt: skip
