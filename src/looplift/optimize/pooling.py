"""Means and maxima of windows of the last two dimensions: pooling, which needs no array of windows."""

from __future__ import annotations

from looplift.ir.array import Node
from looplift.ops.table import base_name

NAMES = ("mean", "amax", "max")


def pooled(node: Node) -> Node | None:
    """A fold of all that is in each window of a matrix."""
    if node.op != "fold" or len(node.args) != 1 or node.attrs["keepdim"] or node.attrs.get("decides"):
        return None
    name, found = base_name(node.attrs["name"]), windows_of(node.args[0])
    if name not in NAMES or found is None or sorted(node.attrs["dims"]) != [-2, -1] or node.args[0].kind.rank != 2:
        return None
    dtypes = {str(one.kind.dtype) for one in (node, *node.args)}
    if node.kind.family != "tensor" or not dtypes < {"torch.float32", "torch.float64"}:
        return None
    source, (first, second) = found
    attrs = {"name": name, "axes": (first.attrs["axis"], second.attrs["axis"])}
    return Node("pooled", (source, *first.args[1:], *second.args[1:]), node.axes, node.kind, attrs, node.hint)


def windows_of(node: Node) -> tuple[Node, list[Node]] | None:
    """What windows of the last two dimensions are read from, and how, the first dimension first."""
    outer = node.attrs.get("tiles", node) if node.op == "slice" else node
    if outer.op != "tiles" or outer.args[0].op != "tiles":
        return None
    last = outer.kind.rank - 1
    inner = outer.args[0]
    if {outer.attrs["dim"], inner.attrs["dim"]} != {last - 1, last}:
        return None
    return inner.args[0], sorted((outer, inner), key=lambda tile: tile.attrs["dim"])
