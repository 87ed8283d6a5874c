"""Counts of booleans, of labels and of pairs of them, and sums of groups: labelled values in, cheaper ones out."""

from __future__ import annotations

from looplift.base.data import replace
from looplift.ir.array import Axis, Node, labels_compared

AND = ("and_", "torch.logical_and", "torch.bitwise_and", "mul", "torch.mul", "method.logical_and")
OR = ("or_", "torch.logical_or", "torch.bitwise_or", "method.logical_or")


def _counted(node: Node) -> Node | None:
    """The booleans of each lane of which this is the number that hold."""
    if node.op != "fold" or node.attrs["name"] != "sum" or node.attrs["keepdim"] or len(node.args) != 1:
        return None
    (mask,) = node.args
    every = len(node.attrs["dims"]) == mask.kind.rank
    counts = every and str(node.kind.dtype) == "torch.int64" and _is_mask(mask)
    return mask if counts else None


def _is_mask(node: Node) -> bool:
    return node.kind.family == "tensor" and str(node.kind.dtype) == "torch.bool" and node.kind.rank > 0


def counted_mask(node: Node) -> Node | None:
    """How often a mask holds, of numbers of Python: 1 where it does, 0 elsewhere, added up."""
    if node.op != "reduce" or node.attrs["operator"] != "add" or node.kind.family != "int":
        return None
    (value,) = node.args
    if value.op != "where" or len(value.args) != 3 or any(axis.is_ragged for axis in node.attrs["axes"]):
        return None
    mask, one, zero = value.args
    truth = mask.kind.family == "bool" or (str(mask.kind.dtype) == "torch.bool" and not mask.kind.rank)
    plain = truth and set(node.attrs["axes"]) <= set(mask.axes) and value.axes == mask.axes
    if not plain or not all(side.op == "const" and type(side.attrs["value"]) is int for side in (one, zero)):
        return None
    if (one.attrs["value"], zero.attrs["value"]) != (1, 0):
        return None
    return Node("reduce", (mask,), node.axes, node.kind, dict(node.attrs), node.hint)


def counted_labels(node: Node) -> Node | None:
    """How many of the labels are each of the loop's own numbers."""
    mask = _counted(node)
    equal = None if mask is None else labels_compared(mask)
    if equal is None or node.axes != equal[1].axes:
        return None
    return Node("label_counts", _numbered(equal), node.axes, node.kind, {}, node.hint)


def _numbered(equal: tuple[Node, Node]) -> tuple[Node, Node, Node]:
    labels, index = equal
    axis: Axis = index.attrs["axis"]
    return labels, axis.lo, axis.extent


def _pair(node: Node, names: tuple[str, ...]) -> tuple[Node, Node] | None:
    """Two masks of one rank that are joined by one of the operations, each with an axis that the other has not."""
    mask = _counted(node)
    if mask is None or mask.op != "elementwise" or mask.attrs["name"] not in names or len(mask.args) != 2:
        return None
    a, b = mask.args
    if not (_is_mask(a) and _is_mask(b)) or a.kind.rank != b.kind.rank or set(a.axes) & set(b.axes):
        return None
    ragged = any(axis.is_ragged for axis in (*a.axes, *b.axes))
    return (a, b) if a.axes and b.axes and not ragged else None


def counted_both(node: Node) -> Node | None:
    """How many elements hold in both masks, for each pair of lanes."""
    pair = _pair(node, AND)
    if pair is None:
        return None
    a, b = pair
    if node.axes != (*a.axes, *b.axes):
        a, b = b, a
    if node.axes != (*a.axes, *b.axes):
        return None
    equal = labels_compared(a), labels_compared(b)
    if equal[0] is not None and equal[1] is not None:
        return Node("label_pairs", (_table(equal[0], equal[1], node),), node.axes, node.kind, {}, node.hint)
    return None if _is_autocast() else Node("counted_both", (a, b), node.axes, node.kind, {}, node.hint)


def _table(equal: tuple[Node, Node], others: tuple[Node, Node], node: Node) -> Node:
    """How many places have each pair of labels, those that are no label of a lane first and last."""
    operands = (*_numbered(equal), *_numbered(others))
    return Node("label_table", operands, (), replace(node.kind, rank=2), {}, "pairs")


def _is_autocast() -> bool:
    """Whether matrix products may be of shorter floats."""
    import torch

    return torch._C._is_any_autocast_enabled()


def counted_either(node: Node) -> Node | None:
    """How many elements hold in one of two masks, from how many do in each and in both."""
    pair = _pair(node, OR)
    if pair is None:
        return None
    (mask,) = node.args
    both = _count(node, Node("elementwise", mask.args, mask.axes, mask.kind, {"name": "and_"}))
    found = counted_both(both)
    if found is None:
        return None
    if found.op == "label_pairs":
        return Node("label_either", found.args, node.axes, node.kind, {}, node.hint)
    one, other = (_own_count(node, part, pair[1 - k]) for k, part in enumerate(pair))
    total = Node("elementwise", (one, other), node.axes, node.kind, {"name": "add"})
    return Node("elementwise", (total, both), node.axes, node.kind, {"name": "sub"}, node.hint)


def _count(node: Node, mask: Node) -> Node:
    return Node("fold", (mask,), mask.axes, node.kind, dict(node.attrs))


def _own_count(node: Node, mask: Node, other: Node) -> Node:
    """How many elements hold in a mask that has the shape of both."""
    return Node("counted_own", (mask, other), mask.axes, node.kind, {})


def grouped_sum(node: Node) -> Node | None:
    """The sums of the rows of each group: rows are added where their labels say, in the order that they have."""
    if node.op != "segment" or node.attrs["operator"] != "add" or not node.args:
        return None
    axis, rows = node.attrs["axis"], node.args[0]
    if node.attrs.get("outer", axis) is not axis:
        return None
    members = axis.members
    if members is None or members.op != "label_members" or rows.op != "gather" or rows.axes != (axis,):
        return None
    base = rows.args[0]
    if not _is_of_members(rows) or base.axes or node.axes != axis.parents or node.kind.dtype != base.kind.dtype:
        return None
    return Node("label_sums", (base, *members.args[:3]), node.axes, node.kind, {}, node.hint)


def _is_of_members(rows: Node) -> bool:
    """Whether rows are picked by the members of groups alone, along the first dimension."""
    first, *others = rows.attrs["pieces"]
    picked = type(first).__name__ == "Gather" and first.index.op == "member"
    return picked and all(type(piece).__name__ == "Whole" for piece in others)
