"""Where a vector of each lane holds, ``torch.where(v)[0]`` and ``v.nonzero()``: the entries of a ragged axis."""

from __future__ import annotations

from typing import Any

from looplift.ir.array import Node
from looplift.ir.facts import Fact, Kind, kind_of
from looplift.ir.grammar import Op, constant
from looplift.ops import table
from looplift.vectorize import nodes, ragged
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.segments import mask_axis
from looplift.vectorize.subscripts import extent_of


def positions(context: Context, op: Op, args: list[Any], fact: Fact) -> Val | None:
    """The places of a vector that are not zero, of a function that may be asked for them; None for other forms."""
    base = table.base_name(op.name)
    if len(args) != 1:
        return None
    vector = args[0]
    as_tuple = [constant(value) for key, value in op.kwargs if key == "as_tuple"]
    if not isinstance(vector, Node) or vector.kind.rank != 1 or len(op.kwargs) != len(as_tuple):
        return None
    entries = _entries(context, vector)
    if isinstance(fact.sample, tuple):
        if (kind := kind_of(fact.sample[0])) != entries[1]:
            raise context.refuse("unknown-op", f"'{base}' that gives {kind.dtype}")
        return Val(Node("display", (entries[0].node,), entries[0].node.axes, fact.kind), items=[entries[0]])
    return entries[0] if base == "flatnonzero" else ragged.with_unit(entries[0], 1)


def _entries(context: Context, vector: Node) -> tuple[Val, Kind]:
    """The places as one vector for each lane, and the kind that the vector has."""
    if "bool" not in str(vector.kind.dtype):
        dtype = nodes.compare("eq", nodes.const(0), nodes.const(0)).kind
        flags = Kind(vector.kind.family, nodes.lane_dtype(dtype), 1)
        vector = nodes.elementwise("ne", [vector, nodes.const(0)], flags)
    axis, index = mask_axis(context, vector, extent_of(vector, 0), "k")
    family = "array" if context.library == "np" else "tensor"
    dtype = nodes.lane_dtype(nodes.INT) if family == "tensor" else _int64()
    node = Node("retype", (index,), index.axes, Kind(family, dtype, 0), {"bits": 40})
    return Val(node, dims=(axis,)), Kind(family, dtype, 1)


def _int64() -> Any:
    import numpy as np

    return np.dtype("int64")
