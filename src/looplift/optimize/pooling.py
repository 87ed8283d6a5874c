"""Means and maxima of windows of the last two dimensions: pooling, which needs no array of windows."""

from __future__ import annotations

from looplift.ir.array import Node
from looplift.ops.table import base_name

NAMES = {"mean": "mean", "amax": "max", "max": "max"}


def pooled(node: Node) -> Node | None:
    """A fold of all that is in each window of a matrix."""
    if node.op != "fold" or len(node.args) != 1 or node.attrs["keepdim"] or node.attrs.get("decides"):
        return None
    outer, name = node.args[0], NAMES.get(base_name(node.attrs["name"]))
    if name is None or sorted(node.attrs["dims"]) != [-2, -1] or outer.op != "tiles" or outer.kind.rank != 2:
        return None
    inner = outer.args[0]
    if inner.op != "tiles" or {outer.attrs["dim"], inner.attrs["dim"]} != {0, 1}:
        return None
    dtypes = {str(one.kind.dtype) for one in (node, outer)}
    if node.kind.family != "tensor" or not dtypes < {"torch.float32", "torch.float64"}:
        return None
    first, second = sorted((outer, inner), key=lambda tile: tile.attrs["dim"])
    operands = (inner.args[0], *first.args[1:], *second.args[1:])
    attrs = {"name": name, "axes": (first.attrs["axis"], second.attrs["axis"])}
    return Node("pooled", operands, node.axes, node.kind, attrs, node.hint)
