"""Distances between the rows of two arrays, which need no differences as an intermediate."""

from __future__ import annotations

from looplift.ir.array import Node

NORMS = ("norm", "vector_norm")
SQUARES = ("pow", "torch.pow", "method.pow")


def distances(node: Node) -> Node | None:
    """The length, or its square, of differences of which each side has an axis that the other has not."""
    if node.op != "fold" or node.attrs["dims"] != (-1,) or node.attrs["keepdim"] or len(node.args) != 1:
        return None
    squared = node.attrs["name"] == "sum"
    if not squared and node.attrs["name"] not in NORMS:
        return None
    if squared and (node.attrs.get("decides") or node.attrs.get("compared")):
        return None  # the square of a root is not the sum of squares to the last digit
    sides = _difference(_root(node.args[0]) if squared else node.args[0])
    if sides is None or not _are_rows(node, *sides):
        return None
    a, b = sides if sides[0].axes == node.axes[:-1] else sides[::-1]
    if a.axes != node.axes[:-1] or b.axes != (*node.axes[:-2], node.axes[-1]):
        return None
    return Node("distances", (a, b), node.axes, node.kind, {"squared": squared}, node.hint)


def _root(node: Node) -> Node | None:
    """What is squared."""
    if node.op != "elementwise" or node.attrs.get("kwargs"):
        return None
    name, args = node.attrs["name"], node.args
    if name in ("mul", "torch.mul") and args[0] is args[1]:
        return args[0]
    if name in ("torch.square", "method.square"):
        return args[0]
    if name in SQUARES and args[1].op == "const" and args[1].attrs["value"] == 2:
        return args[0]
    return None


def _difference(node: Node | None) -> tuple[Node, Node] | None:
    """The two sides of a difference, also of one that is replaced where its value does not matter."""
    if node is not None and node.op == "where" and node.attrs.get("safe"):
        node = node.args[1]
    if node is None or node.op != "elementwise" or node.attrs["name"] not in ("sub", "torch.sub"):
        return None
    return (node.args[0], node.args[1]) if len(node.args) == 2 else None


def _are_rows(node: Node, a: Node, b: Node) -> bool:
    """Whether the sides are vectors of floats, of as many lanes as a table of distances has rows and columns."""
    import torch

    plain = all(side.kind.family == "tensor" and side.kind.rank == 1 and len(side.axes) >= 1 for side in (a, b))
    exact = {side.kind.dtype for side in (a, b, node)} in ({torch.float32}, {torch.float64})
    dense = not any(axis.is_ragged for axis in (*a.axes, *b.axes)) and len(node.axes) >= 2
    return plain and exact and dense and not torch._C._is_any_autocast_enabled()
