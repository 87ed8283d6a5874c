"""Losses of samples of another length in each lane: those of all entries at once, then folded lane by lane.

F.cross_entropy(scores[b, :n[b]], labels[b, :n[b]])        each = F.cross_entropy(entries, labels, reduction="none")
                                                           index_add(each) / count
"""

from __future__ import annotations

from looplift.ir.facts import Fact, Kind
from looplift.ops.names import said
from looplift.ops.table import base_name
from looplift.vectorize import losses, nodes
from looplift.vectorize.array_forms import bound
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.ragged import broadcast, check_chain, dims_of, lane_kind, relabelled
from looplift.vectorize.ragged_folds import reduction as folded


def loss(context: Context, name: str, args: list[Val], kwargs: dict[str, Val], fact: Fact) -> Val:
    """A loss of which the first dimension of input and target is ragged."""
    base = base_name(name)
    given = bound(losses.FORMS[base], args, kwargs) or {}
    x, y = given.pop("input", None), given.pop("target", None)
    way = given.pop("reduction", None)
    word = "mean" if way is None else way.node.attrs.get("value")
    plain = all(one.dims is None and one.items is None and not one.node.axes for one in given.values())
    if x is None or y is None or not plain or word not in ("mean", "sum", "none") or "weight" in given:
        raise _refused(context, name)
    if dims_of(x)[0] is None or any(dims_of(x)[1:]) or dims_of(y)[:1] == (None,):
        raise _refused(context, name)
    each = _each(context, name, x, y, given)
    if word == "none":
        return each
    if base in losses.CLASSES and word == "mean":
        return _mean_of_counted(context, each, y, given, fact)
    return folded(context, f"torch.{word}", [each], {}, fact)


def _refused(context: Context, name: str):
    text = f"'{said(name)}' of values of another length in each iteration"
    return context.refuse("ragged-shape", f"{text}, with these arguments, has no batched form")


def _each(context: Context, name: str, x: Val, y: Val, given: dict[str, Val]) -> Val:
    """The loss of each entry by itself."""
    classes = base_name(name) in losses.CLASSES
    if classes:
        axis, shape = dims_of(x)[0], list(dims_of(y))
        if len(dims_of(x)) != 2 or len(shape) != 1:
            raise _refused(context, name)
        operands, dims = [x.node, relabelled(context, y.node, shape, shape[0], axis)], (axis,)
    else:
        if len(dims_of(x)) != len(dims_of(y)):
            raise _refused(context, name)
        operands, dims = broadcast(context, [x, y], len(dims_of(x)))
    options = {key: one.node for key, one in given.items()} | {"reduction": nodes.const("none")}
    kind = Kind("tensor", x.node.kind.dtype, 0 if classes else operands[0].kind.rank)
    made = losses.form(context, name, operands, options, Fact(kind))
    if made is None:
        raise _refused(context, name)
    check_chain(context, made.node.axes)
    return Val(made.node, dims=dims)


def _mean_of_counted(context: Context, each: Val, y: Val, given: dict[str, Val], fact: Fact) -> Val:
    """The mean over classes leaves out those that are ignored."""
    from looplift.vectorize.arithmetic import arithmetic

    ignored = given["ignore_index"].node if "ignore_index" in given else nodes.const(-100)
    flag = Kind("tensor", nodes.lane_dtype(nodes.BOOL), 0)
    counts = nodes.elementwise("ne", [y.node, ignored], flag)
    int64 = Kind("tensor", nodes.lane_dtype(nodes.INT), 0)
    count = folded(context, "torch.sum", [Val(counts, dims=y.dims)], {}, Fact(int64))
    total = folded(context, "torch.sum", [each], {}, fact)
    kind = lane_kind(context, fact, ())
    return Val(arithmetic(context, "truediv", [total.node, count.node], kind))
