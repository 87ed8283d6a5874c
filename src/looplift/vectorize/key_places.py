"""Keys of a dict that are too far apart for a table in; where each lane's key stands among all of them out."""

from __future__ import annotations

from looplift.ir.array import Node
from looplift.ir.grammar import Op, as_atom
from looplift.vectorize import nodes
from looplift.vectorize.context import Context
from looplift.vectorize.lists import pack
from looplift.vectorize.nodes import Val


def place_of_key(context: Context, op: Op, hint: str) -> Val:
    """The place of a number in a list of the caller's, -1 for one that is not there."""
    listed, number = (context.node(as_atom(arg)) for arg in op.args)
    if listed.axes or not number.axes or context.library != "torch":
        raise context.refuse("unsupported-value", "a dict under tuples is asked for one that all iterations share")
    keys = pack(context, listed, nodes.INT)
    return Val(Node("key_place", (keys, number), number.axes, nodes.INT, {"bits": 40}, hint))
