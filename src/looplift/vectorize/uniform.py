"""Operations on values that no axis changes, as their author wrote them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from looplift.ir.array import Node
from looplift.ir.facts import Fact, Kind
from looplift.ir.grammar import Group, Op, Operand, Slice, Var
from looplift.ops import table
from looplift.vectorize import extents, nodes, numbers
from looplift.vectorize.context import Context
from looplift.vectorize.subscripts import extent_of

SIZES = frozenset(("floordiv", "mod", "mul", "builtin.min", "builtin.max"))
"""Operations on integers by which extents and bounds are computed: what is computed twice is one integer."""


def operand_node(context: Context, operand: Operand) -> Node:
    """A node for any operand, groups and slices included, for operations that are spelled as written."""
    match operand:
        case Group(kind=kind, items=items):
            made = tuple(operand_node(context, item) for item in items)
            return Node("display", made, (), Kind("tuple"), {"kind": kind})
        case Slice(lo=lo, hi=hi, step=step):
            return Node("cut", tuple(context.node(part) for part in (lo, hi, step)), (), Kind("object"))
    return context.node(operand)


def uniform(context: Context, op: Op, fact: Fact, var: Var, *, random: bool = False) -> Node:
    """The operation as its author wrote it, once for all lanes."""
    if (not random and table.family(op.name) == "random") or op.name == "call":
        raise context.refuse("random-order", "random numbers are drawn here, and their order must stay")
    args = tuple(operand_node(context, operand) for operand in op.args)
    args = tuple(map(nodes.undecided, args)) if op.name in table.ARITHMETIC else args
    kwargs = tuple((key, operand_node(context, operand)) for key, operand in op.kwargs)
    if args and args[0].kind.family == "array" and table.base_name(op.name) in ("mean", "var", "std", "median"):
        check_not_empty(context, args[0], range(args[0].kind.rank))
    if op.name in ("builtin.min", "builtin.max") and len(args) == 2 and not kwargs and _are_one(context, *args):
        return args[0]
    attrs: dict[str, Any] = {"name": op.name, "kwargs": [key for key, _ in kwargs], "positional": len(args)}
    if context.mask is not None and fact.kind.is_number:
        attrs["unsafe"] = True
    node = Node("apply", args + tuple(node for _, node in kwargs), (), fact.kind, attrs, var.hint)
    if op.name in SIZES and fact.kind.family == "int" and all(arg.kind.family == "int" for arg in args):
        if not fact.loops and type(fact.sample) is int:
            node.attrs["seen"] = fact.sample
        key = ("uniform", op.name, *map(nodes.structure_key, args), context.mask is None)
        return context.ragged_axes.setdefault(key, node)
    if op.name.startswith("inplace.") and fact.kind.is_array:
        return _in_dtype(context, node, args, fact)
    if op.name in ("builtin.min", "builtin.max") and fact.kind.family == "float" and var in context.facts.mixed:
        return _as_float(context, node, args)
    if op.name in table.ARITHMETIC and var in context.facts.mixed and fact.kind.is_array and not fact.kind.rank:
        return Node("settled", (node,), (), fact.kind, {}, var.hint)
    return node


def _as_float(context: Context, node: Node, args: tuple[Node, ...]) -> Node:
    """The least or greatest of an integer and a float is either; what is computed with it is of floats."""
    for integer in (a for a in args if a.kind.family == "int"):
        numbers.bounded(context, integer, 53)
    attrs = {key: value for key, value in node.attrs.items() if key == "unsafe"}
    return Node("apply", (node,), (), node.kind, {"name": "builtin.float", "kwargs": [], "positional": 1} | attrs)


def check_not_empty(context: Context, x: Node, dims: Iterable[int]) -> None:
    """Of nothing NumPy warns that it has no mean: once, where the loop has many."""
    for dim in dims:
        context.check_at_most(nodes.const(1), extent_of(x, dim))


def _are_one(context: Context, a: Node, b: Node) -> bool:
    """Whether two integers are the same, as the lengths of what ``zip`` runs through mostly are."""
    return a.kind.family == b.kind.family == "int" and extents.agree(context, a, b)


def _in_dtype(context: Context, node: Node, args: tuple[Node, ...], fact: Fact) -> Node:
    """``a += b`` keeps the dtype and shape of ``a``."""
    if fact.kind.family == "array" and not fact.kind.rank:
        raise context.refuse("aliasing", "a NumPy array without dimensions is changed in place")
    if args[1].kind.is_array and args[1].kind.rank > fact.kind.rank:
        raise context.refuse("requirement", "a larger tensor is added in place")
    return Node("cast", (node,), (), fact.kind, {"dtype": fact.kind.dtype}, node.hint)
