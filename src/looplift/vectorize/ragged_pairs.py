"""``values, indices = x.max(0)`` along a dimension of another length in each lane."""

from __future__ import annotations

from typing import Any

from looplift.ir.array import Node, merge_axes
from looplift.ir.facts import Fact, Kind
from looplift.vectorize import nodes
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.ragged import dims_of, made_of
from looplift.vectorize.ragged_folds import Folding, constant_of, place_of_entry, position, segment


def extreme_and_place(context: Context, base: str, args: list[Val], kwargs: dict[str, Val], fact: Fact) -> Val:
    """The extreme of each lane's entries and where it stands; the gradient is that of the first one that holds it."""
    x, along = args[0], _dimension(context, base, args, kwargs)
    folding = Folding(context, x, (along,), fact)
    if not folding.ragged:
        raise context.refuse("unknown-op", f"'{base}' along a dimension, which gives two results")
    place = position(folding, base, {})
    rest = tuple(axis for k, axis in enumerate(dims_of(x)) if k != along)
    items = [made_of(_extreme(folding, base, place), rest), made_of(place, rest)]
    axes = merge_axes(*(item.node.axes for item in items))
    shown = Node("display", tuple(item.node for item in items), axes, fact.kind, {"kind": "tuple"})
    return Val(shown, items=items, extra={"names": {"values": 0, "indices": 1}})


def _dimension(context: Context, base: str, args: list[Val], kwargs: dict[str, Val]) -> int:
    given: list[Any] = [constant_of(context, val) for val in args[1:]]
    given += [constant_of(context, kwargs[key]) for key in kwargs if key == "dim"]
    if len(given) != 1 or len(given) != len(args) - 1 + len(kwargs) or type(given[0]) is not int:
        raise context.refuse("unknown-op", f"'{base}' with these arguments")
    return given[0] % len(dims_of(args[0]))


def _extreme(folding: Folding, base: str, place: Node) -> Node:
    """The entry at a place: found by a fold, or where gradients flow the only one that a sum takes in."""
    context, node, (axis,) = folding.context, folding.x.node, folding.ragged
    if not (context.needs_grad and "float" in str(node.kind.dtype)):
        return segment(context, node, axis, base, node.kind)
    index = place_of_entry(axis, place.kind)
    flag = Kind(node.kind.family, nodes.lane_dtype(nodes.BOOL), node.kind.rank)
    chosen = nodes.elementwise("eq", [index, place], flag)
    return segment(context, nodes.select(chosen, node, nodes.const(0.0), node.kind), axis, "add", node.kind)
