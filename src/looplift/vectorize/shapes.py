"""Reductions, shapes and operations along a dimension of one lane's value."""

from __future__ import annotations

from typing import Any

from looplift.ir.array import Node, merge_axes
from looplift.ir.facts import Fact, Kind
from looplift.ops import table
from looplift.ops.names import said
from looplift.vectorize import nodes
from looplift.vectorize.arithmetic import arithmetic, guarded
from looplift.vectorize.context import Context
from looplift.vectorize.subscripts import Gather, Whole, extent_of
from looplift.vectorize.uniform import check_not_empty


def _static(context: Context, value: Any, what: str) -> Any:
    """An argument that must be known before the loop: a dimension, a flag, a shape."""
    if isinstance(value, list):
        return [_static(context, item, what) for item in value]
    if value.op == "const":
        return value.attrs["value"]
    raise context.refuse("unsupported-value", f"{what} is not a constant")


def _dimensions(context: Context, value: Any) -> Any:
    """One dimension or several that are known; ``np.linalg.norm`` alone takes floats, and cuts them off."""
    found = _static(context, value, "the dimension")
    if not all(isinstance(one, int | None) for one in (found if isinstance(found, list | tuple) else [found])):
        raise context.refuse("unsupported-value", "a dimension that is no integer")
    return found


def _negative(dim: Any, rank: int) -> Any:
    if isinstance(dim, list | tuple):
        return tuple(_negative(d, rank) for d in dim)
    return dim if dim < 0 else dim - max(rank, 1)


DIM_NAMES = ("dim", "axis")
OF_ONE = frozenset(("sum", "mean", "prod", "max", "min", "amax", "amin"))
"""Reductions that leave a float as it is."""


def reduction(context: Context, name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Node:
    """Folds dimensions of each lane's value; dimensions are counted from the end."""
    base = table.base_name(name)
    if isinstance(args[0], list) or not args[0].kind.is_array or fact.kind.family in ("tuple", "object"):
        raise context.refuse("unknown-op", f"'{said(name)}' in this form")
    x = args[0]
    if name in table.ITEM_BY_ITEM:
        return _of_items(context, name, args, kwargs, fact)
    if base in ("max", "min") and len(args) == 2 and not isinstance(args[1], list) and args[1].kind.is_array:
        return arithmetic(context, f"torch.{base}imum", args, fact.kind)
    rank = x.kind.rank
    extra = {k: v for k, v in kwargs.items() if k not in (*DIM_NAMES, "keepdim", "keepdims")}
    positional = args[1:]
    if base in ("var", "std") and len(positional) > 1:
        raise context.refuse("unknown-op", f"'{said(name)}' with these arguments")
    if base in ("norm", "vector_norm") and positional:
        extra.setdefault("p" if base == "norm" and context.library == "torch" else "ord", positional.pop(0))
    dims = next((kwargs[k] for k in DIM_NAMES if k in kwargs), positional.pop(0) if positional else None)
    keep = next((kwargs[k] for k in ("keepdim", "keepdims") if k in kwargs), positional.pop(0) if positional else None)
    if positional or any(isinstance(v, list) or v.axes for v in extra.values()):
        raise context.refuse("unknown-op", f"'{said(name)}' with these arguments")
    dim = None if dims is None else _dimensions(context, dims)
    if dim in ((), []) or isinstance(dim, bool) or _are_no_flags(keep):
        raise context.refuse("unknown-op", f"'{said(name)}' with these arguments")
    if base in ("max", "min") and dim is not None and x.kind.family == "tensor":
        raise context.refuse("unknown-op", f"'{base}' along a dimension, which gives two results")
    if rank == 0:
        if x.kind.family != "tensor" or dim not in (None, 0, -1):
            raise context.refuse("unknown-op", f"'{said(name)}' of a number")
        is_steep = context.needs_grad and base in ("amax", "amin")  # at NaN, of which the gradient is NaN
        if (
            base in OF_ONE
            and not is_steep
            and not extra
            and nodes.may_have_gradient(x.kind.dtype)
            and fact.kind == x.kind
        ):
            return Node("method", (x,), x.axes, x.kind, {"name": "clone", "extents": None})
        x, rank, keep = Node("unsqueezed", (x,), x.axes, Kind("tensor", x.kind.dtype, 1), {"dim": -1}), 1, None
    if base in ("var", "std") and dim is None and context.needs_grad:
        _check_freedom(context, x, extra.get("correction"))
    if base == "prod" and context.needs_grad and x.axes and nodes.may_have_gradient(x.kind.dtype):
        # where any lane has a zero, backward multiplies in all of them, and divides in the others of a loop
        context.check(Node("finite", (x,), (), nodes.BOOL))
    x = guarded(context, base, 0, x)
    wanted = tuple(range(-rank, 0)) if dim is None else _negative(dim, rank)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    if base in ("var", "std") and context.needs_grad and context.parts_ways:
        _check_lanes_freedom(context, x, [rank + one for one in wanted], extra)
    if context.library == "np" and base in ("mean", "var", "std"):
        check_not_empty(context, x, [rank + one for one in wanted])
    order = extra.get("p", extra.get("ord"))
    check_norm(context, name, len(wanted), None if order is None else order.attrs.get("value", order))
    attrs = {
        "name": base, "dims": wanted, "keepdim": bool(keep is not None and _static(context, keep, "keepdim")),
        "all": dim is None, "kwargs": list(extra), "as": name,
    }  # fmt: skip
    return Node("fold", (x, *extra.values()), merge_axes(x.axes), fact.kind, attrs)


def _of_items(context: Context, name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Node:
    x, dtype = args[0], str(fact.kind.dtype)
    if len(args) > 1 or kwargs or not x.kind.rank or not fact.kind.is_array:
        raise context.refuse("unknown-op", f"'{said(name)}' in this form")
    if not dtype.endswith(("64", "float32", "complex128")):
        raise context.refuse("unknown-op", f"'{said(name)}' in {dtype}, which each step rounds or wraps to")
    context.check(nodes.compare("ge", extent_of(x, 0), nodes.const(1)))
    attrs = {"name": table.base_name(name), "dims": (-x.kind.rank,), "keepdim": False, "all": x.kind.rank == 1,
             "kwargs": [], "as": name}  # fmt: skip
    return Node("fold", (x,), x.axes, fact.kind, attrs)


def check_norm(context: Context, name: str, dims: int, order: Any) -> None:
    """Of two dimensions ``linalg.norm`` with an order is a norm of matrices, which is no fold of their elements."""
    if name.endswith("linalg.norm") and dims == 2 and not (order is None or order == "fro"):
        raise context.refuse("unknown-op", f"'{said(name)}' of a matrix, of this order")


def _check_lanes_freedom(context: Context, x: Node, dims: list[int], extra: dict[str, Any]) -> None:
    """Without a degree of freedom a gradient of zero becomes NaN, as that of lanes that do not run would.

    A flag that is not known stands for an unbiased form, which needs more elements.
    """
    unbiased, less = extra.get("unbiased"), extra.get("correction")
    if less is None or less.kind.family == "none":
        less = nodes.const(0 if unbiased is not None and nodes.is_const(unbiased, False) else 1)
    count = nodes.const(1)
    for dim in dims:
        count = nodes.elementwise("mul", [count, extent_of(x, dim)], nodes.INT)
    context.check(nodes.compare("gt", count, less))


def _check_freedom(context: Context, x: Node, less: Any) -> None:
    """The gradient of the variance of all elements is another one where no degree of freedom is left."""
    if less is None or (less.op == "const" and less.attrs["value"] <= 1):
        return
    count = extent_of(x, 0)
    for dim in range(1, x.kind.rank):
        count = nodes.elementwise("mul", [count, extent_of(x, dim)], nodes.INT)
    context.check(nodes.compare("gt", count, less))


def _are_no_flags(keep: Any) -> bool:
    """Whether what stands where torch has `keepdim` is something else, as a dtype in NumPy."""
    return keep is not None and (isinstance(keep, list) or keep.kind.family not in ("bool", "none"))


def along(context: Context, name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Node:
    """Keeps the shape, works along one dimension."""
    base = table.base_name(name)
    x, rank = args[0], args[0].kind.rank
    if base == "roll" and (turned := _rolled(context, args, kwargs, fact)) is not None:
        return turned
    if base not in ("softmax", "log_softmax", "cumsum", "cumprod", "flip", "softmin", "logcumsumexp") or not rank:
        from looplift.vectorize.network import special

        return special(context, name, args, kwargs, fact)
    dims = next((kwargs.pop(k) for k in (*DIM_NAMES, "dims") if k in kwargs), args[1] if len(args) > 1 else None)
    if dims is None or kwargs or len(args) > 2:
        raise context.refuse("unknown-op", f"'{said(name)}' without a dimension")
    dim = _negative(_dimensions(context, dims), rank)
    attrs = {"name": base, "dim": dim, "as": name, "extents": x.attrs.get("extents")}
    return Node("along_dim", (x,), x.axes, fact.kind, attrs)


def _is_integer(node: Node) -> bool:
    return node.kind.family == "int" or (node.kind.family == "numpy" and "int" in str(node.kind.dtype))


def _rolled(context: Context, args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Node | None:
    """``roll`` by a number of each lane: the item at ``k`` comes from ``(k - shift) % n``. None for other forms."""
    from looplift.vectorize.indexing import read_pieces

    given = [*args[1:], *kwargs.values()]
    if not given or len(given) > 2 or any(isinstance(value, list) for value in given):
        return None
    x, shift, dims = args[0], given[0], given[1] if len(given) > 1 else None
    rank = x.kind.rank
    if (not shift.axes and context.library == "torch") or not _is_integer(shift) or not rank:
        return None
    if (dims is None and rank > 1) or (dims is not None and dims.op != "const"):
        return None
    dim = 0 if dims is None else dims.attrs["value"] % rank
    extent = extent_of(x, dim)
    positions = Node("along", (nodes.const(0), extent), (), Kind(x.kind.family, nodes.lane_dtype(nodes.INT), 1),
                     {"coefficient": 1, "bits": 40})  # fmt: skip
    places = nodes.elementwise("sub", [positions, shift], positions.kind)
    places = nodes.elementwise("mod", [places, extent], positions.kind)
    pieces: list[Any] = [Whole()] * rank
    pieces[dim] = Gather(places)
    return read_pieces(context, x, pieces, fact.kind)


def shape_operation(
    context: Context, base: str, args: list[Any], rest: list[Any], kwargs: dict[str, Any], fact: Fact
) -> Node | None:
    """Rearranges the dimensions of one lane's value; None where it has no rule."""
    x = args[0]
    if isinstance(x, list):
        raise context.refuse("unknown-op", f"'{base}' of a list")
    rank = x.kind.rank
    if base in ("detach", "clone", "contiguous", "copy", "cpu"):
        return Node(
            "method",
            (x,),
            x.axes,
            fact.kind,
            {"name": "copy" if base == "copy" else base, "extents": x.attrs.get("extents")},
        )
    if base in ("t", "T", "mT") and rank == 2:
        extents = x.attrs.get("extents")
        return Node("transposed", (x,), x.axes, fact.kind, {"extents": extents[::-1] if extents else None})
    if base == "mT" and rank > 2:
        return Node("method", (x,), x.axes, fact.kind, {"name": "swapaxes", "args": [-2, -1]})
    if base in ("t", "T") and rank < 2:
        return _view_of_all(context, x, fact)
    if kwargs and set(kwargs) - {"dim"}:
        return None
    given = [*rest, *kwargs.values()]
    if base in ("flatten", "ravel") and not given:
        return Node("reshaped", (x, nodes.const(-1)), x.axes, fact.kind)
    if base == "view" and context.library == "np":
        return _view_of_all(context, x, fact) if not given else None
    if base in ("reshape", "view") and fact.kind.is_array:
        sizes = given[0] if len(given) == 1 and isinstance(given[0], list) else _sizes(given)
        if any(isinstance(size, list) or size.axes or size.kind.family != "int" for size in sizes):
            raise context.refuse("ragged-shape", f"'{base}' to sizes that differ by iteration, or are no integers")
        return Node("reshaped", (x, *sizes), x.axes, fact.kind)
    if base == "expand" and fact.kind.is_array and fact.kind.rank >= rank and context.library == "torch":
        return _stretched(context, x, given, fact)
    if not all(not isinstance(value, list) and value.op == "const" for value in given):
        return None
    given = [value.attrs["value"] for value in given]
    if base == "unsqueeze":
        dim = given[0] if given[0] < 0 else given[0] - rank - 1
        return Node("unsqueezed", (x,), x.axes, fact.kind, {"dim": dim})
    if base == "transpose" and context.library == "np" and rank == 2 and given in ([0, 1], [(0, 1)]):
        return x
    if base == "transpose" and context.library == "np" and (rank != 2 or given not in ([1, 0], [(1, 0)])):
        return None
    if base in ("transpose", "swapaxes") and len(given) == 2:
        pair = [_negative(d, rank) for d in given]
        return Node("method", (x,), x.axes, fact.kind, {"name": "swapaxes", "args": pair})
    return None


def _stretched(context: Context, x: Node, given: list[Any], fact: Fact) -> Node | None:
    """``x.expand(...)`` of each lane's value; new dimensions stand in front of the lane's own."""
    sizes = given[0] if len(given) == 1 and isinstance(given[0], list) else _sizes(given)
    if any(isinstance(size, list) or size.axes or size.kind.family != "int" for size in sizes):
        return None
    for rank in range(x.kind.rank, fact.kind.rank):
        kind = Kind(fact.kind.family, fact.kind.dtype, rank + 1)
        x = Node("unsqueezed", (x,), x.axes, kind, {"dim": -rank - 1})
    return Node("stretched", (x, *sizes), x.axes, fact.kind)


def _sizes(given: list[Any]) -> list[Any]:
    """The sizes of ``view(2, 3)``, or of ``view((2, 3))`` with a constant tuple."""
    if len(given) == 1 and given[0].op == "const" and isinstance(given[0].attrs["value"], tuple):
        return [nodes.const(size) for size in given[0].attrs["value"]]
    return given


def _view_of_all(context: Context, x: Node, fact: Fact) -> Node:
    """An array as another object: of one lane of several nobody can tell."""
    if x.axes or not x.kind.rank:
        return x
    return Node("method", (x,), (), fact.kind, {"name": "view" if context.library == "np" else "t"})
