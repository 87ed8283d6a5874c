"""Positions of the entries of ragged axes: labelled values in, ones with fewer intermediates out."""

from __future__ import annotations

from looplift.ir.array import Axis, Node


def counted_on(node: Node) -> Node | None:
    """The position of an entry in its lane, plus a start of the lane."""
    if node.op != "elementwise" or node.attrs["name"] != "add" or len(node.args) != 2:
        return None
    for index, start in (node.args, node.args[::-1]):
        if index.op == "index" and node.kind.family == "int" and start.kind.family == "int":
            axis: Axis = index.attrs["axis"]
            single = axis.is_ragged and len(axis.parents) == 1 and axis.members is None
            if single and start.axes == axis.parents and node.axes == (axis,):
                return Node("place", (start,), node.axes, node.kind, dict(node.attrs, name="place"), node.hint)
    return None
