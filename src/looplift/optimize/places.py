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


def first_member(node: Node) -> Node | None:
    """The first place at which the mask of a lane holds, without a list of all such places."""
    if node.op != "entry" or node.kind.rank or node.attrs["axis"].parents != node.axes:
        return None
    member, place = node.args
    member = member.args[0] if member.op == "retype" else member
    if place.op == "where":
        place = place.args[1] if _is_zero(place.args[2]) else place
    if member.op != "member" or not _is_first(place, node.attrs["axis"]):
        return None
    mask = member.args[0]
    is_row = mask.kind.rank == 1 and mask.axes == node.axes and "bool" in str(mask.kind.dtype)
    if mask.op == "label_members" or not is_row:
        return None
    return Node("first_held", (mask,), node.axes, node.kind, {}, node.hint)


def _is_first(place: Node, axis: Axis) -> bool:
    """Whether a position is that of the first entry of each lane."""
    if place.op != "elementwise" or place.attrs["name"] != "add" or not _is_zero(place.args[1]):
        return False
    return place.args[0].op == "first" and place.args[0].attrs["axis"] is axis


def _is_zero(node: Node) -> bool:
    return node.op == "const" and node.attrs["value"] == 0
