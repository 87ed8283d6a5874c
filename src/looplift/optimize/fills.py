"""Reads of arrays that hold one number, and counts of what is there: labelled values in, smaller ones out."""

from __future__ import annotations

from typing import Any

import torch

from looplift.ir.array import Node
from looplift.ir.facts import Kind

FILLS = {"zeros": 0, "ones": 1, "zeros_like": 0, "ones_like": 1}
WHERE_MADE = {"dtype", "device"}
"""What may be said of an array besides its shape."""


def read_of_fill(node: Node) -> Node | None:
    """A row of zeros is the same in all lanes: beside a value of these lanes, zeros for all of them are not needed."""
    if node.op not in ("where", "elementwise") or node.kind.family != "tensor":
        return None
    args = list(node.args)
    for place, arg in enumerate(args):
        others = {axis for k, other in enumerate(args) if k != place for axis in other.axes}
        if not others >= set(arg.axes) or not _is_of_one_dtype(node, arg):
            continue
        if (item := _item_of_fill(arg)) is not None:
            args[place] = item
    if all(new is old for new, old in zip(args, node.args, strict=True)):
        return None
    return Node(node.op, tuple(args), node.axes, node.kind, node.attrs, node.hint)


def _is_of_one_dtype(node: Node, arg: Node) -> bool:
    """Whether an operand has a say in the dtype of a result only as the others have it."""
    values = node.args[1:] if node.op == "where" else node.args
    return any(arg is one for one in values) and all(
        one.kind.is_array and one.kind.dtype == arg.kind.dtype for one in values
    )


def _item_of_fill(node: Node) -> Node | None:
    if node.op != "slice" or node.kind.family != "tensor":
        return None
    array, pieces = node.args[0], node.attrs["pieces"]
    if array.op == "assemble":
        return _item_of_stored(node, array.args[0])
    library, _, name = array.attrs["name"].rpartition(".") if array.op == "apply" else ("", "", "")
    if library != "torch" or name not in FILLS or not set(array.attrs["kwargs"]) <= WHERE_MADE:
        return None
    if any(not _takes_whole_or_one(piece) for piece in pieces) or len(pieces) != array.kind.rank:
        return None
    extents = array.attrs.get("extents") or [None] * len(pieces)
    whole = [extent for extent, piece in zip(extents, pieces, strict=True) if type(piece).__name__ == "Whole"]
    kept = [extent for extent in whole if extent is not None]
    if not whole:
        return _number(node, FILLS[name])
    if name.endswith("_like") or len(whole) == len(pieces) or len(kept) < len(whole):
        return None
    shape = Node("display", tuple(kept), (), Kind("tuple"), {"kind": "tuple"})
    operands = (shape, *array.args[array.attrs["positional"] :])
    return Node("apply", operands, (), node.kind, array.attrs | {"positional": 1, "extents": kept}, node.hint)


def _item_of_stored(node: Node, stored: Node) -> Node | None:
    """Any item of an array in which one number stands everywhere."""
    walks = all(type(piece).__name__ == "Along" for piece in node.attrs["pieces"])
    if not walks or stored.op != "const" or type(stored.attrs["value"]) not in (int, float):
        return None
    dtype, value = node.kind.dtype, stored.attrs["value"]
    if not dtype.is_floating_point or not abs(value) <= torch.finfo(dtype).max:  # which PyTorch does not store
        return None
    return _number(node, value)


def _takes_whole_or_one(piece: Any) -> bool:
    """Whether a piece of a subscript keeps a dimension, or takes a place of it in each lane that is known to be one."""
    return type(piece).__name__ in ("Whole", "Along")


def _number(node: Node, value: float) -> Node | None:
    """A tensor of no dimensions."""
    dtype = node.kind.dtype
    if dtype.is_complex or node.kind.rank:
        return None
    number = bool(value) if "bool" in str(dtype) else float(value) if dtype.is_floating_point else value
    family = type(number).__name__
    const = Node("const", (), (), Kind(family), {"value": number})
    return Node("full", (const,), (), node.kind, {"dtype": dtype}, node.hint)


SUMS = ("reduce", "contract", "segment", "label_sums")
"""What PyTorch adds up from zero, so that it is never a negative zero."""


def sum_from_zero(node: Node) -> Node | None:
    """A sum that begins with zero is the sum."""
    if node.op != "elementwise" or len(node.args) != 2 or "product" in node.attrs:
        return None
    for start, total in (node.args, node.args[::-1]):
        same = total.kind == node.kind and total.axes == node.axes and _is_of_one_dtype(node, start)
        begins = start.op == "full" and _is_zero(start.args[0])
        if same and begins and total.op in SUMS and total.attrs.get("operator", "add") == "add":
            return total
    return None


def counted_where_some(node: Node) -> Node | None:
    """How many there are where there are any, and otherwise zero, is how many there are."""
    if node.op != "where" or len(node.args) != 3:
        return None
    mask, count, none = node.args
    same = count.op == "label_counts" and count.axes == node.axes and count.kind == node.kind
    return count if same and _is_zero(none) and _is_some(mask, count) else None


def _is_zero(node: Node) -> bool:
    return node.op == "const" and node.attrs["value"] == 0


def mean_of_groups(node: Node) -> Node | None:
    """The mean of each group, zero where nothing is in it: the sum of nothing is zero, whatever divides it."""
    if node.op != "where" or len(node.args) != 3:
        return None
    mask, mean, none = node.args
    if mean.op != "elementwise" or mean.attrs["name"] not in ("truediv", "torch.div", "torch.true_divide"):
        return None
    if len(mean.args) != 2 or mean.kind != node.kind or mean.axes != node.axes:
        return None
    sums, divisor = mean.args
    count, safe = _count(divisor)
    if sums.op != "label_sums" or count is None or sums.args[1:] != count.args or not _is_some(mask, count):
        return None
    if not _is_row_of_zeros(none, sums):
        return None
    if safe:
        return mean
    limit = Node("const", (), (), Kind("int"), {"value": 1})
    attrs = {"name": "torch.clamp", "positional": 1, "kwargs": ["min"]}
    counts = Node("elementwise", (count, limit), count.axes, count.kind, attrs)
    return Node("elementwise", (sums, counts), node.axes, node.kind, mean.attrs, node.hint)


def _count(divisor: Node) -> tuple[Node | None, bool]:
    """The count of a group that something is divided by, and whether that is one where there are none."""
    inner = _plain(divisor)
    if inner.op == "label_counts":
        return inner, False
    if inner.op != "where" or _plain(inner.args[1]).op != "label_counts":
        return None, False
    mask, count, one = inner.args[0], _plain(inner.args[1]), inner.args[2]
    is_safe = _is_some(mask, count) and one.op == "const" and one.attrs["value"] == 1
    return (count, True) if is_safe else (None, False)


def _plain(node: Node) -> Node:
    """A value without the change of its kind in the loop."""
    return node.args[0] if node.op == "retype" else node


def _is_some(mask: Node, count: Node) -> bool:
    """Whether a mask holds where there are any."""
    compared = mask.op == "elementwise" and mask.attrs["name"] in ("gt", "ne") and len(mask.args) == 2
    return compared and mask.args[0] is count and _is_zero(mask.args[1])


def _is_row_of_zeros(node: Node, sums: Node) -> bool:
    """Whether a value is zero, and of the shape of the sums."""
    if node.axes or node.kind.rank != sums.kind.rank:
        return False
    if not node.kind.rank:
        inner = node.args[0] if node.op == "full" else node
        return _is_zero(inner)
    if node.op != "apply" or node.attrs["name"] != "torch.zeros":
        return False
    extents = node.attrs.get("extents") or ()
    rows = sums.args[0]
    return len(extents) == node.kind.rank and all(
        extent is not None and extent.op == "extent" and extent.args[0] is rows and extent.attrs["dim"] == k
        for k, extent in enumerate(extents, 1)
    )
