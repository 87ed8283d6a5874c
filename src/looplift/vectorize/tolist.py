"""``x.tolist()`` that is only put into lists, looped over and read at places: the array itself, of numbers."""

from __future__ import annotations

from typing import Any

from looplift.base.data import dataclass, replace
from looplift.ir.array import Node
from looplift.ir.facts import Fact, Kind, kind_of
from looplift.ir.grammar import Append, Let, Loop, Op, Range, Var
from looplift.vectorize import lists, nodes, numbers
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val


@dataclass
class Numbers(lists.Held):
    """A list of numbers, or of lists of them, as the array that they are taken from."""

    def length(self, context: Context) -> Node:
        from looplift.vectorize.subscripts import extent_of

        assert self.node is not None
        return extent_of(self.node, 0)


def as_list(context: Context, statement: Let, fact: Fact) -> Val | None:
    """The list; None where something else is done with it, or where it holds nothing to tell its kind by."""
    op, var = statement.op, statement.var
    if op.name != "method.tolist" or len(op.args) != 1 or not isinstance(op.args[0], Var):
        return None
    node = context.val(op.args[0]).node
    if not node.kind.is_array or not node.kind.rank or not node.axes or not _is_walked(context, var):
        return None
    if (element := _leaf(fact.sample)) is None:
        return None
    if context.needs_grad and nodes.may_have_gradient(node.kind.dtype):
        node = Node("method", (node,), node.axes, node.kind, {"name": "detach", "extents": node.attrs.get("extents")})
    if element.family == "int":
        numbers.check_signed(context, node)
    made = Kind(node.kind.family, lists.lane_dtype(context, element), node.kind.rank)
    if made.dtype != node.kind.dtype:
        attrs = {"dtype": made.dtype, "extents": node.attrs.get("extents")}
        node = Node("cast", (node,), node.axes, made, attrs)
    return Val(node, sequence=_numbers(var, node, made, element))


def _is_walked(context: Context, var: Var) -> bool:
    for user in context.flow.users.get(var, ()):
        match user:
            case Append(value=value) if value is var:
                continue
            case Let(op=op) if op.name in ("iter_len", "iter_item", "builtin.len"):
                continue
            case Let(op=Op(name="getitem", args=(owner, Var()))) if owner is var:
                continue
            case Loop(domain=Range(source=source)) if source is var:
                continue
        return False
    return True


def _leaf(sample: Any) -> Kind | None:
    """The kind of the numbers in a list of lists."""
    while isinstance(sample, list):
        if not sample:
            return None
        sample = sample[0]
    return kind_of(sample)


def _numbers(var: Var, node: Node, kind: Kind, element: Kind) -> Numbers:
    if kind.rank == 1:
        return Numbers(var, (), element=element, node=node)
    inner = replace(kind, rank=kind.rank - 1)
    return Numbers(var, (), element=inner, node=node, row=_numbers(var, node, inner, element))
