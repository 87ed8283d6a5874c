"""Lists of values whose first dimension has another length in each lane in, what joins them side by side out.

torch.cat([h, agg], 1)      the rows of all lanes, each with what the others have at the same place
"""

from __future__ import annotations

from looplift.ir.array import Node, merge_axes
from looplift.ir.facts import Fact
from looplift.ir.grammar import Const, Group, Let, Op, Operand, Var
from looplift.vectorize import nodes
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.ragged import lane_kind, relabelled

JOINS = frozenset("torch.cat torch.concat torch.concatenate".split())


def display(context: Context, statement: Let) -> Val | None:
    """A list or tuple that is only there to be joined; None for another."""
    readers = context.flow.users.get(statement.var, ())
    if statement.op.name not in ("list", "tuple") or not readers:
        return None
    if not all(isinstance(reader, Let) and reader.op.name in JOINS for reader in readers):
        return None
    return Val(nodes.const(None), items=[context.lookup(item) for item in statement.op.args])  # type: ignore[arg-type]


def is_ragged(context: Context, op: Op) -> bool:
    """Whether an operation joins such values."""
    return op.name in JOINS and any(item.dims is not None for item in _items(context, op))


def _items(context: Context, op: Op) -> list[Val]:
    match op.args:
        case [Var() as listed, *_]:
            return context.lookup(listed).items or []
        case [Group(items=items), *_] if all(isinstance(item, Var) for item in items):
            return [context.lookup(item) for item in items]  # type: ignore[arg-type]
    return []


def joined(context: Context, op: Op, fact: Fact) -> Val:
    """``torch.cat`` along a dimension that is as long in all lanes."""
    items = _items(context, op)
    rank, dim = fact.kind.rank, _dimension(context, op)
    dim = dim + rank if dim < 0 else dim
    first = items[0].dims
    if first is None or first[0] is None or not 0 < dim < rank:
        raise context.refuse("ragged-shape", "values of another length in each iteration are joined along that length")
    found: list[Node] = []
    for item in items:
        if item.dims is None or item.dims[0] is None or any(item.dims[1:]) or len(item.dims) != rank:
            raise context.refuse("ragged-shape", "a value of another length in each iteration is joined with others")
        found.append(relabelled(context, item.node, list(item.dims), item.dims[0], first[0]))
    if len({node.kind.dtype for node in found}) != 1 or found[0].kind.dtype != fact.kind.dtype:
        raise context.refuse("mixed-kinds", "tensors of different dtypes are joined")
    attrs = {"join": "cat", "dim": dim - rank, "extents": None}
    axes = merge_axes(*(node.axes for node in found))
    return Val(Node("join", tuple(found), axes, lane_kind(context, fact, first), attrs), dims=first)


def _dimension(context: Context, op: Op) -> int:
    given: dict[str, Operand] = dict(op.kwargs)
    if set(given) - {"dim"} or len(op.args) + len(given) > 2:
        raise context.refuse("unknown-op", "tensors are joined in another way")
    found = op.args[1] if len(op.args) > 1 else given.get("dim", Const(0))
    if not isinstance(found, Const) or type(found.value) is not int:
        raise context.refuse("unsupported-value", "a dimension that is not a constant")
    return found.value
