"""Rules of algebra on labelled values, each with its formula beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from looplift.ir.array import Axis, Node, labels_compared


@dataclass(frozen=True)
class Rule:
    """``algebra`` says in the field's notation what is rewritten into what."""

    name: str
    algebra: str
    rewrite: Callable[[Node], Node | None]


def _is_float(node: Node) -> bool:
    return node.kind.family == "tensor" and node.kind.dtype.is_floating_point


def _summed_product(node: Node) -> tuple[Node, Node] | None:
    """The two factors of a sum of products of floats."""
    if node.op != "reduce" or node.attrs["operator"] != "add" or any(a.is_ragged for a in node.attrs["axes"]):
        return None
    (product,) = node.args
    if product.op != "elementwise" or product.attrs["name"] not in ("mul", "torch.mul") or len(product.args) != 2:
        return None
    a, b = product.args
    if not (_is_float(a) and _is_float(b)) or a.kind.dtype != b.kind.dtype or "16" in str(a.kind.dtype):
        return None
    return a, b


def factored_sum(node: Node) -> Node | None:
    """A sum over independent factors is a product of sums."""
    factors = _summed_product(node)
    if factors is None:
        return None
    a, b = factors
    axes: tuple[Axis, ...] = node.attrs["axes"]
    mine, others = [x for x in axes if x in a.axes], [x for x in axes if x in b.axes]
    if not mine or not others or set(mine) & set(others):
        return None
    parts = tuple(_sum(factor, tuple(over)) for factor, over in ((a, mine), (b, others)))
    return Node("elementwise", parts, node.axes, node.kind, {"name": "mul"}, node.hint)


def _sum(node: Node, axes: tuple[Axis, ...]) -> Node:
    rest = tuple(axis for axis in node.axes if axis not in axes)
    return Node("reduce", (node,), rest, node.kind, {"axes": axes, "operator": "add"}, node.hint)


def contracted(node: Node) -> Node | None:
    """A sum of products over a shared axis is a contraction, which needs no intermediate."""
    factors = _summed_product(node)
    if factors is None:
        return None
    a, b = factors
    axes: tuple[Axis, ...] = node.attrs["axes"]
    if a.kind.rank or b.kind.rank or not all(axis in a.axes and axis in b.axes for axis in axes):
        return None
    if len(a.axes) + len(b.axes) <= len(axes) + 1 + len(axes):
        return None
    return Node("contract", (a, b), node.axes, node.kind, {}, node.hint)


def counted_labels(node: Node) -> Node | None:
    """How many of the labels are each of the loop's own numbers."""
    if node.op != "fold" or node.attrs["name"] != "sum" or node.attrs["keepdim"]:
        return None
    equal = labels_compared(node.args[0])
    if equal is None or node.axes != equal[1].axes or node.kind.rank or str(node.kind.dtype) != "torch.int64":
        return None
    labels, index = equal
    axis: Axis = index.attrs["axis"]
    return Node("label_counts", (labels, axis.lo, axis.extent), node.axes, node.kind, {}, node.hint)


RULES: tuple[Rule, ...] = (
    Rule("counted-labels", "sum_n [label_n = c] -> bincount(label)_c", counted_labels),
    Rule("factored-sum", "sum_ij a_i b_j -> (sum_i a_i) (sum_j b_j)", factored_sum),
    Rule("contraction", "sum_k a_ik b_kj -> einsum(ik,kj->ij)", contracted),
)
