"""A list of integers in each lane, in; its different items, and how often each is there, as two such lists, out."""

from __future__ import annotations

from looplift.base.data import dataclass
from looplift.ir.array import Axis, Node
from looplift.ir.facts import Kind
from looplift.ir.grammar import DISTINCT, Op, as_atom
from looplift.vectorize import nodes, segments
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.rows import Listed


@dataclass(eq=False)
class Tallied(Listed):
    """One integer for each item of a list that stands there for the first time: ``node`` has them over ``axis``."""

    whole: Listed
    node: Node
    axis: Axis
    kinds: tuple[Kind, ...] = (nodes.INT,)

    @property
    def is_steady(self) -> bool:
        return self.whole.is_steady

    def measured(self, context: Context) -> Node:
        assert self.axis.lengths is not None
        return self.axis.lengths

    def entries(self, context: Context, axis: Axis) -> Node | None:
        if axis is self.axis:
            return self.node
        if axis.parents != self.axis.parents or axis.lengths is not self.axis.lengths:
            return None
        return Node("relabel", (self.node,), (axis,), self.node.kind, {"bits": 62}, self.node.hint)

    def taken(self, context: Context, at: Node) -> Node:
        from looplift.vectorize.ragged_items import at_entries

        return at_entries(context, self.node, self.axis, at)


def tallied(context: Context, op: Op) -> Val | None:
    """The list of the items, or of how often they are there."""
    whole = context.lookup(as_atom(op.args[0])).sequence
    if not isinstance(whole, Listed) or context.library != "torch" or whole.kind(context) != nodes.INT:
        raise context.refuse("unsupported-value", "a dict counts what is in no list of integers of each iteration")
    key = ("tallied", whole, None if context.mask is None else context.mask.serial)
    if key not in context.ragged_axes:
        context.ragged_axes[key] = _counted(context, whole)
    axis, items, times = context.ragged_axes[key]
    node = Node("kept", (items if op.name == DISTINCT else times, times), (axis,), nodes.INT, {"bits": 62}, "items")
    return Val(nodes.const(None), sequence=Tallied(whole, node, axis))


def _counted(context: Context, whole: Listed) -> tuple[Axis, Node, Node]:
    """The axis of the different items of each lane; all items, and how often each is there where it stands first."""
    from looplift.vectorize.ragged_folds import segment

    value = whole.value(context)
    assert value.dims is not None and value.dims[0] is not None
    every = value.dims[0]
    times = Node("times", (value.node,), (every,), nodes.INT, {"bits": 40}, "times")
    first = nodes.cast(nodes.compare("gt", times, nodes.const(0)), nodes.lane_dtype(nodes.INT))
    lengths = segment(context, first, every, "add", Kind("tensor", nodes.lane_dtype(nodes.INT), 0))
    lengths = Node("retype", (lengths,), lengths.axes, nodes.INT, {"bits": 40})
    axis = segments.axis_of(context, lengths, segments.lane_axes(context, lengths.axes), "k", ("tallied", every))
    return axis, value.node, times
