"""Text of integer expressions that are put together while printing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from looplift.emit.spelling import PRODUCT, SUM, UNARY
from looplift.ir.array import Node

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def terms_of(node: Node) -> tuple[dict[str, tuple[Node, int]], int]:
    if node.op == "const":
        return {}, int(node.attrs["value"])
    if node.op == "linear":
        return dict(node.attrs["terms"]), node.attrs["constant"]
    key = node.attrs.get("key") or node.attrs.get("text") or f"#{node.serial}"
    return {key: (node, 1)}, 0


def combined_text(p: Printer, parts: list[tuple[Node, int]], constant: int = 0) -> str:
    """``sum(factor * integer) + constant``, with equal terms cancelled."""
    terms: dict[str, tuple[Node, int]] = {}
    for node, factor in parts:
        own, more = terms_of(node)
        constant += factor * more
        for key, (atom, coefficient) in own.items():
            terms[key] = (atom, terms.get(key, (atom, 0))[1] + factor * coefficient)
    return _text(p, terms, constant)


def sum_text(p: Printer, first: Node, extent: Node, step: int = 1) -> str:
    """``first + step * extent``, with equal terms cancelled."""
    terms, constant = terms_of(first)
    added, more = terms_of(extent)
    for key, (atom, coefficient) in added.items():
        terms[key] = (atom, terms.get(key, (atom, 0))[1] + step * coefficient)
    return _text(p, terms, constant + step * more)


def _text(p: Printer, terms: dict[str, tuple[Node, int]], constant: int) -> str:
    pieces = []
    for atom, coefficient in sorted((pair for pair in terms.values() if pair[1]), key=lambda pair: pair[1] < 0):
        size = abs(coefficient)
        level = UNARY if not pieces and coefficient < 0 else SUM + 1
        body = p.text(atom).at(level) if size == 1 else f"{size} * {p.text(atom).at(PRODUCT + 1)}"
        lead = "-" if coefficient < 0 else "" if not pieces else "+"
        pieces.append(f" {lead} {body}" if pieces else f"{lead}{body}")
    if constant or not pieces:
        pieces.append(f" {'-' if constant < 0 else '+'} {abs(constant)}" if pieces else str(constant))
    return "".join(pieces)
