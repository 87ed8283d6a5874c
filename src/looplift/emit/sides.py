"""A choice that is made once for all lanes in, source text that computes one of its sides alone out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from looplift.emit.spelling import ATOM, CHOICE, dtype_text
from looplift.emit.text import Text, arranged, full
from looplift.ir.array import Node

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def choice_text(p: Printer, node: Node) -> Text:
    """``then if mask else orelse``; an ``if`` where a number needs statements: Python may raise in the other side."""
    mask, then, orelse = node.args
    pairs = ((then, orelse), (orelse, then))
    if not node.kind.is_number or node.axes:
        texts = [_side(p, side, node, other) for side, other in pairs]
        return _in_one_line(p, mask, texts)
    cond = p.text(mask)
    sides = [_own_lines(p, side, node, other) for side, other in pairs]
    if not any(lines for _, lines in sides):
        return _in_one_line(p, mask, [text for text, _ in sides])
    name = p.fresh(node.hint or "value")
    for word, (text, lines) in zip((f"if {cond.text}:", "else:"), sides, strict=True):
        p.line(word)
        p.lines += lines
        p.line(f"    {name} = {text}")
    p.remember(node.serial, name)
    return Text(name)


def _in_one_line(p: Printer, mask: Node, sides: list[str]) -> Text:
    return Text(f"{sides[0]} if {p.text(mask).at(CHOICE + 1)} else {sides[1]}", CHOICE)


def _own_lines(p: Printer, side: Node, node: Node, other: Node) -> tuple[str, list[str]]:
    """The text of a side, and the statements in front of it."""
    before = len(p.lines)
    with p.block():
        text = _side(p, side, node, other)
    lines = p.lines[before:]
    del p.lines[before:]
    return text, lines


def _side(p: Printer, side: Node, node: Node, other: Node) -> str:
    """One side of a choice that is made once for all lanes: it must have the shape and dtype of the whole."""
    if node.axes and side.kind.rank < other.kind.rank:
        return _spread(p, side, node, other)
    if node.axes:
        return full(p, side, node.axes, node.kind)
    if node.kind.is_array and side.kind.is_number:
        dtype = dtype_text(node.kind.dtype, p.library)
        text = p.text(side).text
        if p.library == "np":
            return f"{dtype}({text})"
        return f"torch.tensor({text}, dtype={dtype}{p.device_argument()})"
    return p.text(side).at(CHOICE + 1)


def _spread(p: Printer, side: Node, node: Node, other: Node) -> str:
    """A side of fewer dimensions, as a number that is stored into a row: in the shape of the other one."""
    whole = Text(full(p, other, node.axes), CHOICE).at(ATOM)
    if side.kind.is_number and not side.axes:
        return f"{p.library}.full_like({whole}, {p.text(side).text})"
    text = arranged(p, side, node.axes, other.kind.rank, 0)
    if p.library == "np":
        return f"np.broadcast_to({text}, {whole}.shape)"
    return f"torch.broadcast_to({text}, {whole}.shape)"
