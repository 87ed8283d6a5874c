"""The places of a list's numbers in their order: of the list that each lane makes, in; a stable sort, out.

sorted(range(n), key=lambda j: -p[j])        places_in_order(-p)
"""

from __future__ import annotations

from looplift.ir.array import Node
from looplift.ir.facts import Kind
from looplift.ir.grammar import Op, Var, constant
from looplift.vectorize import lists, nodes
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.tolist import Numbers


def places_in_order(context: Context, built: lists.Built, op: Op, var: Var) -> Val:
    """A list of integers: Python's order of equal keys is that of a stable sort, also in reverse."""
    element, reverse = built.item_kind(context), bool(constant(op.args[1]))
    if not (element.family in ("int", "float") or _is_tensor(context, element)) or built.row is not None:
        raise context.refuse("unknown-op", "'sorted' by keys that are no integers or floats")
    if built.differs or built.ragged is not None:
        raise context.refuse("ragged-shape", "'sorted' of as many items as differ in each iteration")
    keys = built.collected(context)
    if "float" in str(keys.kind.dtype):
        context.check(nodes.compare("eq", keys, keys))  # where NaN stands depends on the way of sorting
    extents = keys.attrs.get("extents")
    if reverse and context.library == "np":
        raise context.refuse("unknown-op", "'sorted' in reverse, by keys in arrays of NumPy's")
    attrs = {"reverse": reverse, "extents": extents}
    made = Node("sorted_places", (keys,), keys.axes, _places(context), attrs, var.hint)
    return Val(made, sequence=Numbers(var, (), element=nodes.INT, node=made))


def _is_tensor(context: Context, element: Kind) -> bool:
    """Whether a key is a number of one of the libraries, whose comparisons are Python's."""
    name = str(element.dtype).rpartition(".")[2]
    return element.is_array and not element.rank and name in ("float32", "float64", "int64", "int32")


def _places(context: Context) -> Kind:
    return Kind(lists.array_family(context), lists.lane_dtype(context, nodes.INT), 1)
