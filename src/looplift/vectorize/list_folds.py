"""``sum``, ``max`` and ``min`` of a list that the region made, in; the fold of the array that the list is.

sum([loss(x[i]) for i in range(n)])          loss(x).sum()
max(x[i] @ y[j] for j in range(m))           (x @ y.T).amax(-1)
"""

from __future__ import annotations

from looplift.base.data import replace
from looplift.ir.array import Node, reachable
from looplift.ir.facts import Fact, Kind
from looplift.ir.grammar import Append, Atom, Let, Op, Var, operands
from looplift.ops import table
from looplift.vectorize import doubts, lane_lists, lists, nodes, ragged_folds, ragged_pairs, sharing
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.numbers import bounded
from looplift.vectorize.sheltered import check_regular

FOLDS = ("builtin.sum", "builtin.max", "builtin.min")


def folded(context: Context, built: lists.Built, op: Op, fact: Fact, var: Var) -> Val:
    """The value of one of Python's folds of a list."""
    base, element = table.base_name(op.name), built.item_kind(context)
    plain = built.ragged is None and built.row is None and len(op.args) == 1 and not op.kwargs
    if not plain or not _has_fold(base, element, fact.kind):
        raise context.refuse("unknown-op", f"'{base}' of '{built.var.hint}', in this form")
    if base == "sum":
        _check_sum(context, built, element, var)
    else:
        _check_choice(context, built, element)
    array = Kind(lists.array_family(context), lists.lane_dtype(context, element), element.rank)
    made = replace(fact, kind=array if element.is_number else fact.kind)
    found = _of_differing(context, built, base, array, made) if built.differs else _of_alike(context, built, base, made)
    if base != "sum" and "float" in str(found.kind.dtype):
        context.check(nodes.compare("eq", found, found))  # what Python finds depends on where NaN stands
    if not element.is_number:
        return Val(found)
    if found.axes:
        return Val(Node("retype", (found,), found.axes, element))
    return Val(Node("apply", (found,), (), element, {"name": "method.item", "kwargs": [], "positional": 1}))


def _has_fold(base: str, element: Kind, kind: Kind) -> bool:
    """Whether the fold of an array is of the type that Python's is, and rounds as it does."""
    if element.is_number:
        return element.family in ("int", "float") and kind.family == element.family
    if not element.is_array or not kind.is_array or kind.dtype != element.dtype or kind.rank != element.rank:
        return False
    if base == "sum":
        return str(kind.dtype).endswith(("float64", "float32", "int64", "complex128"))
    return not element.rank and "bool" not in str(kind.dtype) and "complex" not in str(kind.dtype)


def _check_sum(context: Context, built: lists.Built, element: Kind, var: Var) -> None:
    if element.family != "int" and "int" not in str(element.dtype) and var in context.flow.deciding:
        raise context.refuse("carried", f"the sum of '{built.var.hint}' decides something, and must keep its order")
    if element.family == "int":
        saved = context.mask
        for value, _, mask in built.entries:
            context.mask = nodes.both(built.outside, mask)
            for item in built.beside or [value]:
                bounded(context, item, nodes.INDEX_BITS)
        context.mask = saved


def _check_choice(context: Context, built: lists.Built, element: Kind) -> None:
    """One of the items is handed on as it is, and the others get no gradient."""
    if not element.is_number:
        leaves = any(context.facts.kind(atom).family == "list" for _, atom in context.facts.function.results)
        if leaves or not _holds_new(context, built.var):
            raise context.refuse("aliasing", f"an item of '{built.var.hint}' may be seen under another name")
    if not context.needs_grad:
        return
    built.check_alike(context)
    for value, _, _ in built.entries:
        packs = any(node.op in ("pack", "items") for node in reachable([value]))
        if packs or doubts.found_in(context, value):
            raise context.refuse("carried", f"an item of '{built.var.hint}' may get no gradient in the loop")
        check_regular(context, value)


def _holds_new(context: Context, var: Var) -> bool:
    """Whether the items of a list are made by the operations that give them."""
    appends = [one for one in context.flow.users.get(var, ()) if isinstance(one, Append) and one.ref is var]
    return bool(appends) and all(_is_new(context, one.value) for one in appends)


def _is_new(context: Context, atom: Atom) -> bool:
    made = context.flow.definition.get(atom) if isinstance(atom, Var) else None
    if not isinstance(made, Let) or made.op.name in (*sharing.ITEMS, "copy", "unpack"):
        return False
    if made.op.name in ("builtin.min", "builtin.max"):
        return all(isinstance(a, Var) and _holds_new(context, a) for a in operands(made.op))
    return context.facts.kind(made.var).family == "numpy" or not sharing.may_give_its_argument(context, made)


def _of_alike(context: Context, built: lists.Built, base: str, fact: Fact) -> Node:
    """Of a list that has one length in all lanes."""
    node, kind = built.collected(context), fact.kind
    context.check(nodes.compare("ge", built.length(context), nodes.const(1)))
    if base != "sum" and context.needs_grad and nodes.may_have_gradient(kind.dtype):
        attrs = {"name": base, "dim": -1, "rest": 0, "kwargs": []}
        pair = Node("paired", (node,), node.axes, Kind("tuple"), attrs)
        return Node("field", (pair,), node.axes, kind, {"position": 0})
    name = base if base == "sum" else f"a{base}"
    attrs = {"name": name, "dims": (-node.kind.rank,), "keepdim": False, "all": node.kind.rank == 1, "kwargs": [],
             "as": f"{context.library}.{name}"}  # fmt: skip
    return Node("fold", (node,), node.axes, kind, attrs)


def _of_differing(context: Context, built: lists.Built, base: str, array: Kind, fact: Fact) -> Node:
    """Of a list that has another length in each lane."""
    val = lane_lists.value(context, built, Kind(array.family, array.dtype, array.rank + 1))
    lane_lists.check_not_empty(context, val)
    first = Val(nodes.const(0))
    if base != "sum" and context.needs_grad and nodes.may_have_gradient(array.dtype):
        found = ragged_pairs.extreme_and_place(context, base, [val, first], {}, fact)
        assert found.items is not None
        return found.items[0].node
    name = f"{context.library}.{base if base == 'sum' or context.library == 'np' else f'a{base}'}"
    return ragged_folds.reduction(context, name, [val, first], {}, fact).node
