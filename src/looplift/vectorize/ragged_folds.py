"""Reductions over dimensions of another length in each lane, as folds of each lane's entries.

mean        sum / length                      max, min     of nothing: the loop raises, so every lane has an entry
softmax     exp(x - max) / sum                logsumexp    max + log(sum(exp(x - max)))
var         sum((x - mean) ** 2) / (n - 1)    argmax       the least position that holds the maximum
"""

from __future__ import annotations

from typing import Any

from looplift.ir.array import Axis, Node
from looplift.ir.facts import Fact, Kind
from looplift.ops import table
from looplift.vectorize import nodes, segments, whole_rows
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.ragged import (
    Dims,
    array_kind,
    check_chain,
    dense_position,
    dims_of,
    extent,
    made_of,
    unsqueezed,
)

FOLD = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


def segment(
    context: Context,
    node: Node,
    axis: Axis,
    operator: str,
    kind: Kind,
    outer: Axis | None = None,
    counts: Node | None = None,
    *,
    whole: bool = True,
) -> Node:
    """A fold of each lane's entries; of a box's, up to the lanes of its ``outer`` dimension, ``counts`` in each.

    ``whole``: as a fold of whole rows, where it is one.
    """
    if "16" in str(node.kind.dtype) and operator in ("add", "mul") and "float" in str(node.kind.dtype):
        raise context.refuse("ragged-shape", "a sum in half precision, of another length in each iteration")
    if axis not in node.axes:
        raise context.refuse("ragged-shape", "a dimension of another length is folded before one inside of it")
    if (
        whole
        and counts is None
        and outer in (None, axis)
        and (found := whole_rows.folded(context, node, axis, operator))
    ):
        return found
    parents = (outer or axis).parents
    axes = tuple(sorted({*(a for a in node.axes if a is not axis), *parents}, key=lambda a: a.order))
    made = Kind(kind.family, node.kind.dtype, node.kind.rank)
    attrs = {"axis": axis, "operator": operator, "gradients": context.needs_grad}
    attrs["unbounded"] = operator in ("max", "min") and context.mask is not None  # lanes that do not run may be empty
    attrs["has_entries"] = not attrs["unbounded"]
    attrs["extents"] = node.attrs.get("extents")
    args = (node,) if counts is None else (node, segments.spread(counts, parents))
    return Node("segment", args, axes, made, attrs | {"outer": outer or axis})


class Folding:
    """One reduction: which dimensions are folded, and how the result is put together."""

    def __init__(self, context: Context, x: Val, wanted: tuple[int, ...], fact: Fact):
        self.context, self.x, self.wanted, self.fact = context, x, wanted, fact
        self.dims = dims_of(x)
        found = [self.dims[k] for k in wanted if self.dims[k] is not None]
        self.ragged = sorted((a for a in found if a is not None), key=lambda a: -a.order)
        self.dense = [k for k in wanted if self.dims[k] is None]
        self.keeps_entries = False
        """Whether what is made of the fold has the entries, which are gathered then in any case."""
        self.is_all = False
        """Whether it is said of no dimension that it is folded, as of all."""

    def fold(self, node: Node, operator: str) -> Node:
        """The dense dimensions first, then the entries, innermost first."""
        if self.dense:
            if self.context.needs_grad and operator in ("max", "min", "mul"):
                raise self.context.refuse("ragged-shape", "the gradient of equal values over several dimensions")
            rank = node.kind.rank
            dims = tuple(dense_position(self.dims, k) - rank for k in self.dense)
            kind = Kind(node.kind.family, node.kind.dtype, rank - len(dims))
            attrs = {"name": FOLD[operator], "dims": dims, "keepdim": False, "all": False, "kwargs": [], "as": ""}
            node = Node("fold", (node,), node.axes, kind, attrs)
        kind = array_kind(self.context, self.fact.kind, 0)
        if len(self.ragged) < 2:
            return segment(self.context, node, self.ragged[0], operator, kind, whole=not self.keeps_entries)
        return segment(self.context, node, self.ragged[0], operator, kind, self.ragged[-1], self.entries())

    def entries(self) -> Node:
        """How many entries each lane has in all ragged dimensions together."""
        total: Node | None = None
        for k in self.wanted:
            if self.dims[k] is not None:
                size = extent(self.context, self.x, k)
                total = size if total is None else nodes.elementwise("mul", [total, size], nodes.INT)
        assert total is not None
        return total

    def kept(self, node: Node) -> Node:
        """A result beside the value that it was made of: with the dense dimensions that were folded."""
        for k in sorted(self.dense):
            node = unsqueezed(node, dense_position(self.dims, k))
        return node

    def count(self) -> Node:
        """How many elements are folded in each lane."""
        total: Node | None = None
        for k in self.wanted:
            size = extent(self.context, self.x, k)
            total = size if total is None else nodes.elementwise("mul", [total, size], nodes.INT)
        assert total is not None
        return total

    def require(self, least: int) -> None:
        """At least so many elements in each lane; the loop raises or warns otherwise."""
        self.context.check(nodes.compare("ge", self.count(), nodes.const(least)))

    def arithmetic(self, name: str, *args: Node) -> Node:
        """Floats of the result's dtype, combined: of what is in range by the way that the reduction is put together."""
        rank = max(arg.kind.rank for arg in args)
        kind = array_kind(self.context, self.fact.kind, rank)
        axes = nodes.elementwise(name, list(args), kind)
        check_chain(self.context, axes.axes)
        axes.attrs |= {"positional": len(args), "regular": True}
        return axes

    def divided(self, node: Node, count: Node) -> Node:
        from looplift.vectorize.arithmetic import arithmetic

        mask = self.context.mask
        if mask is not None and self.context.library == "np":  # which warns of what nobody looks at
            count = nodes.select(mask, count, nodes.const(1), nodes.INT)
        return arithmetic(
            self.context, "truediv", [node, count], array_kind(self.context, self.fact.kind, node.kind.rank)
        )


def reduction(context: Context, name: str, args: list[Val], kwargs: dict[str, Val], fact: Fact) -> Val:
    """``x.sum(0)`` and the like of a value with ragged dimensions."""
    from looplift.vectorize.shapes import check_norm

    base = table.base_name(name)
    if base in ("max", "min") and isinstance(fact.sample, tuple):
        from looplift.vectorize.ragged_pairs import extreme_and_place

        return extreme_and_place(context, base, args, kwargs, fact)
    x, (wanted, keep, extra) = args[0], _arguments(context, base, args, kwargs)
    if name in table.ITEM_BY_ITEM:
        wanted = (0,)
    if any(val.dims is not None for val in args[1:]) or fact.kind.family in ("tuple", "object"):
        raise context.refuse("ragged-shape", f"'{base}' in this form, of values of another length in each iteration")
    folding = Folding(context, x, wanted, fact)
    folding.is_all = len(args) + len(kwargs) == 1
    check_norm(context, name, len(wanted), extra.get("p", extra.get("ord")))
    if base not in FOLDS:
        raise context.refuse("ragged-shape", f"'{base}' of values of another length in each iteration")
    if not folding.ragged:
        node = _dense_fold(context, name, folding, extra, fact)
    elif name in ("builtin.max", "builtin.min"):
        node = _extreme_of_items(folding, base)
    else:
        node = FOLDS[base](folding, base, extra)
    rest: Dims = tuple(None if k in wanted else axis for k, axis in enumerate(folding.dims) if keep or k not in wanted)
    if keep:
        for k in wanted:
            node = unsqueezed(node, sum(folding.dims[j] is None or j in wanted for j in range(k)))
    if fact.kind.dtype is not None and node.kind.dtype != fact.kind.dtype:
        node = nodes.cast(node, fact.kind.dtype)
    if all(axis is None for axis in rest) and node.kind != fact.kind:
        node = Node("relabel", (node,), node.axes, fact.kind, dict(node.attrs))
    return made_of(node, rest)


def _arguments(context: Context, base: str, args: list[Val], kwargs: dict[str, Val]):
    """The dimensions that are folded (counted from the front), whether they stay, and the other options."""
    from looplift.vectorize.shapes import DIM_NAMES

    options = {key: constant_of(context, val) for key, val in kwargs.items()}
    given = [constant_of(context, val) for val in args[1:]]
    if base in ("norm", "vector_norm") and given:
        options["p"] = given.pop(0)
    dim = next((options.pop(k) for k in DIM_NAMES if k in options), given.pop(0) if given else None)
    if base in ("var", "std") and given:  # where others have `keepdim`, torch has whether it is unbiased
        raise context.refuse("unknown-op", f"'{base}' with these arguments")
    keep = next((options.pop(k) for k in ("keepdim", "keepdims") if k in options), given.pop(0) if given else None)
    rank = len(dims_of(args[0]))
    chosen = range(rank) if dim is None else dim if isinstance(dim, tuple | list) else (dim,)
    if given or not isinstance(keep, bool | None) or not chosen or any(type(k) is not int for k in chosen):
        raise context.refuse("unknown-op", f"'{base}' with these arguments")
    return tuple(sorted(k % rank for k in chosen)), bool(keep), options


def constant_of(context: Context, val: Val) -> Any:
    if val.items is not None:
        return tuple(constant_of(context, item) for item in val.items)
    if val.node.op == "const":
        return val.node.attrs["value"]
    if "value" in val.node.attrs:
        return val.node.attrs["value"]
    raise context.refuse("unsupported-value", "a dimension or flag that is not a constant")


def _dense_fold(context: Context, name: str, folding: Folding, extra: dict[str, Any], fact: Fact) -> Node:
    """Only dense dimensions are folded: each entry by itself."""
    from looplift.vectorize.shapes import reduction as plain

    node, dims = folding.x.node, folding.dims
    positions = [nodes.const(dense_position(dims, k) - node.kind.rank) for k in folding.wanted]
    kind = array_kind(context, fact.kind, node.kind.rank - len(positions))
    kwargs = {"dim" if context.library == "torch" else "axis": positions if len(positions) > 1 else positions[0]}
    kwargs |= {key: nodes.const(value) for key, value in extra.items()}
    return plain(context, name, [node], kwargs, Fact(kind, fact.loops, fact.shape, fact.sample))


# ---------------------------------------------------------------- one function for each kind of fold


def _plain(folding: Folding, extra: dict[str, Any]) -> Node:
    """The value in the dtype in which it is folded."""
    node = folding.x.node
    dtype = folding.fact.kind.dtype
    extra.pop("dtype", None)
    if extra:
        raise folding.context.refuse("unknown-op", f"the option '{next(iter(extra))}'")
    if _is_complex(node.kind.dtype) and not _is_complex(dtype):
        raise folding.context.refuse(
            "ragged-shape", "complex numbers, of another length in each iteration, become real ones"
        )
    return node if node.kind.dtype == dtype or dtype is None else nodes.cast(node, dtype)


def _is_complex(dtype: Any) -> bool:
    return "complex" in str(dtype)


def _sum(folding: Folding, base: str, extra: dict[str, Any]) -> Node:
    return folding.fold(_plain(folding, extra), "add")


def _prod(folding: Folding, base: str, extra: dict[str, Any]) -> Node:
    node = _plain(folding, extra)
    if _is_complex(node.kind.dtype) and folding.context.library == "torch":  # which folds no complex ones by index
        raise folding.context.refuse(
            "ragged-shape", "a product of complex numbers, of another length in each iteration"
        )
    found = folding.fold(node, "mul")
    found.attrs["all"] = folding.is_all
    return found


def _mean(folding: Folding, base: str, extra: dict[str, Any]) -> Node:
    if folding.context.library == "np":
        folding.require(1)
    return folding.divided(folding.fold(_plain(folding, extra), "add"), folding.count())


def _extreme(folding: Folding, base: str, extra: dict[str, Any]) -> Node:
    folding.require(1)
    node = _plain(folding, extra)
    if "bool" in str(node.kind.dtype) or _is_complex(node.kind.dtype):
        raise folding.context.refuse("ragged-shape", f"'{base}' of booleans or of complex numbers")
    found = folding.fold(node, "max" if "max" in base else "min")
    found.attrs["strict"] = base in ("max", "min") and folding.context.needs_grad and "float" in str(node.kind.dtype)
    return found


def _extreme_of_items(folding: Folding, base: str) -> Node:
    """Python's ``max``: the first of the greatest items, where no comparison is one with NaN."""
    context, node = folding.context, folding.x.node
    if len(folding.dims) != 1:
        raise context.refuse("ragged-shape", f"'{base}' of rows, of another length in each iteration")
    found = _extreme(folding, base, {})
    if "float" not in str(node.kind.dtype):
        return found
    flag, signed = (
        Kind(node.kind.family, _bool_dtype(node), 0),
        "np.signbit" if context.library == "np" else "torch.signbit",
    )
    context.check(nodes.elementwise("eq", [node, node], flag))
    zero = nodes.elementwise("eq", [node, nodes.const(0)], flag)
    context.check(nodes.negated(nodes.elementwise("and_", [zero, nodes.elementwise(signed, [node], flag)], flag)))
    if context.needs_grad:  # all of which goes to the first one
        hit = nodes.cast(nodes.elementwise("eq", [node, found], flag), _integer_dtype(context))
        count = segment(context, hit, folding.ragged[0], "add", hit.kind)
        context.check(nodes.compare("eq", count, nodes.const(1)))
    return found


def _holds(folding: Folding) -> Node:
    """Where elements are true, counted."""
    node = folding.x.node
    count = nodes.elementwise("ne", [node, nodes.const(0)], Kind(node.kind.family, _bool_dtype(node), node.kind.rank))
    return nodes.cast(node if "bool" in str(node.kind.dtype) else count, _integer_dtype(folding.context))


def _bool_dtype(node: Node) -> Any:
    import torch

    if node.kind.family == "tensor":
        return torch.bool
    import numpy as np

    return np.dtype("bool")


def _integer_dtype(context: Context) -> Any:
    if context.library == "np":
        import numpy as np

        return np.dtype("int64")
    return nodes.lane_dtype(nodes.INT)


def _any(folding: Folding, base: str, extra: dict[str, Any]) -> Node:
    if extra or "bool" not in str(folding.fact.kind.dtype):
        raise folding.context.refuse("unknown-op", f"'{base}' of these values")
    count = folding.fold(_holds(folding), "add")
    kind = array_kind(folding.context, folding.fact.kind, count.kind.rank)
    if base == "any":
        return nodes.elementwise("gt", [count, nodes.const(0)], kind)
    return nodes.elementwise("eq", [count, folding.count()], kind)


def _count_nonzero(folding: Folding, base: str, extra: dict[str, Any]) -> Node:
    return folding.fold(_holds(folding), "add")


def _norm(folding: Folding, base: str, extra: dict[str, Any]) -> Node:
    order = extra.pop("p", extra.pop("ord", None))
    node = _plain(folding, extra)
    if order not in (None, 2, 2.0, "fro") or isinstance(order, bool):
        raise folding.context.refuse("unknown-op", f"the norm of order {order}")
    squares = folding.fold(folding.arithmetic("mul", node, node), "add")
    return _root(folding, squares, folding.arithmetic("mul", squares, nodes.const(0.0)))


def _root(folding: Folding, squares: Node, nothing: Node) -> Node:
    """The square root; where that is zero ``nothing``, which is zero, with its gradient."""
    if not folding.context.needs_grad:
        return folding.arithmetic("torch.sqrt" if folding.context.library == "torch" else "np.sqrt", squares)
    zero = nodes.elementwise("eq", [squares, nodes.const(0)], Kind("tensor", _bool_dtype(squares), squares.kind.rank))
    safe = nodes.select(zero, nodes.const(1.0), squares, squares.kind)
    return nodes.select(zero, nothing, folding.arithmetic("torch.sqrt", safe), squares.kind)


def _detached(node: Node) -> Node:
    return Node("method", (node,), node.axes, node.kind, {"name": "detach"})


def _maximum(folding: Folding, node: Node) -> Node:
    """The greatest entry, without a gradient: what it is subtracted for does not depend on it."""
    node = node if folding.context.library == "np" else _detached(node)
    plain = Folding(folding.context, Val(node, dims=folding.x.dims), folding.wanted, folding.fact)
    plain.keeps_entries = folding.keeps_entries
    saved, folding.context.needs_grad = folding.context.needs_grad, False
    greatest = plain.fold(node, "max")
    folding.context.needs_grad = saved
    return greatest


def _logsumexp(folding: Folding, base: str, extra: dict[str, Any]) -> Node:
    node = _plain(folding, extra)
    if _is_complex(node.kind.dtype):
        raise folding.context.refuse("ragged-shape", f"'{base}' of complex numbers")
    greatest = _maximum(folding, node)
    infinite = nodes.elementwise("torch.isinf", [greatest], Kind("tensor", _bool_dtype(greatest), greatest.kind.rank))
    greatest = nodes.select(infinite, nodes.const(0.0), greatest, greatest.kind)
    powers = folding.arithmetic("torch.exp", folding.arithmetic("sub", node, folding.kept(greatest)))
    return folding.arithmetic("add", greatest, folding.arithmetic("torch.log", folding.fold(powers, "add")))


def _variance(folding: Folding, base: str, extra: dict[str, Any]) -> Node:
    context = folding.context
    correction = _correction(folding, extra)
    node = _plain(folding, extra)
    folding.require(max(correction + 1, 1))
    count = folding.count()
    mean = folding.kept(folding.divided(folding.fold(node, "add"), count))
    centred = folding.arithmetic("sub", node, mean)
    squares = folding.fold(folding.arithmetic("mul", centred, centred), "add")
    if correction:
        count = nodes.elementwise("sub", [count, nodes.const(correction)], nodes.INT)
    variance = folding.divided(squares, count)
    if base == "var":
        return variance
    if context.library == "np":
        return folding.arithmetic("np.sqrt", variance)
    return _root(folding, variance, _detached(variance))  # torch's gradient is zero there, whatever comes in


def _correction(folding: Folding, extra: dict[str, Any]) -> int:
    default = 0 if folding.context.library == "np" else 1
    if "unbiased" in extra:
        return int(extra.pop("unbiased"))
    found = extra.pop("correction", extra.pop("ddof", default))
    if not isinstance(found, int):
        raise folding.context.refuse("unknown-op", "a correction that is no integer")
    return found


def position(folding: Folding, base: str, extra: dict[str, Any]) -> Node:
    """``argmax``: the first position that holds the greatest value, or NaN."""
    folding.require(1)
    node = folding.x.node
    unordered = "bool" in str(node.kind.dtype) or _is_complex(node.kind.dtype)
    if extra or len(folding.wanted) != 1 or unordered or node.axes != tuple(folding.ragged):
        raise folding.context.refuse("ragged-shape", f"'{base}' in this form")
    (axis,) = folding.ragged
    saved, folding.context.needs_grad = folding.context.needs_grad, False
    best = segment(folding.context, node, axis, "max" if "max" in base else "min", node.kind)
    folding.context.needs_grad = saved
    flag = Kind(node.kind.family, _bool_dtype(node), node.kind.rank)
    hit = nodes.elementwise("eq", [node, best], flag)
    if "float" in str(node.kind.dtype):
        hit = nodes.elementwise("or_", [hit, nodes.elementwise("ne", [node, node], flag)], flag)
    kind = Kind(node.kind.family, _integer_dtype(folding.context), node.kind.rank)
    index = place_of_entry(axis, kind)
    place = nodes.select(hit, index, axis.extent, kind)
    return segment(folding.context, place, axis, "min", kind)


def place_of_entry(axis: Axis, kind: Kind) -> Node:
    """Where each entry stands in its lane, the same for all of its elements."""
    index = nodes.cast(Node("index", (), (axis,), nodes.INT, {"axis": axis}), kind.dtype)
    for _ in range(kind.rank):
        index = unsqueezed(index, 0)
    return index


FOLDS = {
    "sum": _sum, "prod": _prod, "mean": _mean, "max": _extreme, "min": _extreme, "amax": _extreme, "amin": _extreme,
    "any": _any, "all": _any, "count_nonzero": _count_nonzero, "norm": _norm, "vector_norm": _norm,
    "logsumexp": _logsumexp, "var": _variance, "std": _variance, "argmax": position, "argmin": position,
}  # fmt: skip


# ---------------------------------------------------------------- softmax


def softmax(context: Context, base: str, args: list[Val], kwargs: dict[str, Val], fact: Fact) -> Val:
    """``softmax`` along a ragged dimension, or along a dense one of each entry."""
    from looplift.vectorize.shapes import along

    x = args[0]
    wanted, _, extra = _arguments(context, base, args, kwargs)
    dims = dims_of(x)
    if len(wanted) != 1 or extra or len(args) + len(kwargs) != 2:
        raise context.refuse("unknown-op", f"'{base}' without a dimension, or with more than that")
    folding = Folding(context, x, wanted, fact)
    folding.keeps_entries = True
    node = x.node
    if not folding.ragged:
        position = nodes.const(dense_position(dims, wanted[0]) - node.kind.rank)
        kind = array_kind(context, fact.kind, node.kind.rank)
        return made_of(along(context, f"torch.{base}", [node, position], {}, Fact(kind)), dims)
    if "16" in str(node.kind.dtype) or _is_complex(node.kind.dtype):
        raise context.refuse("ragged-shape", f"'{base}' in half precision, or of complex numbers")
    if base == "softmin":
        node = folding.arithmetic("neg", node)
    shifted = folding.arithmetic("sub", node, _maximum(folding, node))
    powers = folding.arithmetic("torch.exp", shifted)
    total = folding.fold(powers, "add")
    if base == "log_softmax":
        return made_of(folding.arithmetic("sub", shifted, folding.arithmetic("torch.log", total)), dims)
    return made_of(folding.arithmetic("truediv", powers, total), dims)
