"""Masks that hold in every lane."""

from __future__ import annotations

from looplift.ir.array import Node


def excluded_middle(node: Node) -> Node | None:
    """``a | ~a`` is True: what is required where a mask holds may be the mask itself."""
    if node.op != "elementwise" or node.attrs["name"] != "or_" or len(node.args) != 2:
        return None
    first, second = node.args
    if _negates(first, second) or _negates(second, first):
        return Node("const", (), (), node.kind, {"value": True})
    return None


def _negates(a: Node, b: Node) -> bool:
    return a.op == "elementwise" and a.attrs["name"] in ("not", "invert") and a.args[0] is b
