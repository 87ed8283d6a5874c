"""NumPy's functions that work on the last dimensions of whatever comes before them: called once for all lanes."""

from __future__ import annotations

import itertools
from typing import Any

from looplift.base.data import replace
from looplift.ir.array import Node, merge_axes
from looplift.ir.facts import Fact, Kind
from looplift.ops import table
from looplift.vectorize import nodes
from looplift.vectorize.context import Context

# along one dimension: the position of the axis among the arguments, and what it is where it is left out
ALONG = {"sort": (1, -1), "argsort": (1, -1), "cumsum": (1, None), "cumprod": (1, None), "flip": (1, None),
         "nancumsum": (1, None), "percentile": (2, None), "quantile": (2, None), "nanpercentile": (2, None),
         "nanquantile": (2, None), "gradient": (99, None), "diff": (2, -1), "unwrap": (2, -1), "partition": (2, -1),
         "argpartition": (2, -1), "trapezoid": (3, -1), "average": (1, None), "nanargmin": (1, None),
         "nanargmax": (1, None), "nanstd": (1, None), "nanvar": (1, None), "nanprod": (1, None), "repeat": (2, None),
         "fft": (2, -1), "ifft": (2, -1), "rfft": (2, -1), "irfft": (2, -1), "hfft": (2, -1),
         "ihfft": (2, -1)}  # fmt: skip
# on matrices, as many as there are
MATRICES = frozenset("inv det pinv cholesky eigvalsh eigh svd qr slogdet svdvals matrix_power matrix_rank cond".split())
# of each element by itself, given arrays that all iterations share: how many of those come first
ITEMWISE = {"interp": 0, "digitize": 0, "isin": 0, "searchsorted": 1, "polyval": 1}
# on the last dimension of both operands
PAIRS = frozenset(("cross",))


def stacked(context: Context, name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Node | None:
    """The call for all lanes; None for functions and forms without such a rule."""
    base = table.base_name(name)
    if name.startswith("np.") and base in ITEMWISE:
        return _itemwise(context, name, args, kwargs, fact)
    flat = [*args, *kwargs.values()]
    if not name.startswith(("np.", "method.")) or any(isinstance(arg, list) for arg in flat) or not args:
        return None
    if base == "einsum" and not kwargs:
        return _einsum(args, fact)
    if name == "np.linalg.solve" and not kwargs and [arg.kind.rank for arg in args] == [2, 2]:
        return _called(name, args, {}, fact)
    if name == "np.linalg.solve" and not kwargs and [arg.kind.rank for arg in args] == [2, 1]:
        return _solved(args, fact)
    if not args[0].kind.is_array or not args[0].axes:
        return None
    if name == "np.array" and len(flat) == 1:
        return Node("method", tuple(args), args[0].axes, fact.kind, {"name": "copy"})
    if (
        base == "tile"
        and len(flat) == 2
        and args[0].kind.rank == 1
        and flat[1].kind.family == "int"
        and not flat[1].axes
    ):
        return _called("np.tile", args, kwargs, fact)
    if base == "astype":
        return nodes.cast(args[0], fact.kind.dtype)
    if base == "expand_dims" and len(flat) == 2 and isinstance(flat[1].attrs.get("value"), int):
        dim, rank = flat[1].attrs["value"], args[0].kind.rank
        return Node("unsqueezed", (args[0],), args[0].axes, fact.kind, {"dim": dim if dim < 0 else dim - rank - 1})
    if base == "tensordot" and [arg.kind.rank for arg in args[:2]] == [2, 2] and nodes.is_const(flat[-1], 1):
        return Node("matmul", tuple(args[:2]), merge_axes(*(arg.axes for arg in args[:2])), fact.kind)
    if base == "diff" and any(nodes.is_const(times, 0) for times in (*args[1:2], kwargs.get("n")) if times is not None):
        return None  # gives its argument
    if base in ALONG:
        return _along(context, name, args, kwargs, fact)
    if name.startswith("np.linalg.") and base in MATRICES and args[0].kind.rank == 2:
        return _called(f"np.linalg.{base}", args, kwargs, fact) if not any(a.axes for a in flat[1:]) else None
    if base in ("trace", "diagonal") and len(flat) == 1 and args[0].kind.rank == 2:
        return _called(f"np.{base}", args, {}, fact, "axis1=-2, axis2=-1")
    if base in ("ones_like", "zeros_like", "empty_like") and len(flat) == 1:
        return _called(f"np.{base}", args, {}, fact)
    if base in ("triu", "tril") and args[0].kind.rank == 2 and not any(arg.axes for arg in flat[1:]):
        return _called(f"np.{base}", args, kwargs, fact)
    if base in PAIRS and not kwargs and len(args) == 2 and all(a.kind.rank == 1 for a in args):
        return _called(f"np.{base}", args, {}, fact)
    return None


def _is_shared_count(node: Node) -> bool:
    return node.kind.family == "int" and not node.axes


def _itemwise(context: Context, name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Node | None:
    place = ITEMWISE[table.base_name(name)]
    if name == "np.isin" and (len(args) > 2 or "assume_unique" in kwargs):
        return None  # each row may have but one of each item, all rows together have more
    args, named = list(map(_written, args)), {key: _written(arg) for key, arg in kwargs.items()}
    if len(args) <= place or any(arg is None for arg in (*args, *named.values())) or not args[place].kind.is_array:
        return None
    shared = [*args[:place], *args[place + 1 :], *named.values()]
    if any(arg.axes for arg in shared) or "sorter" in named or (name == "np.searchsorted" and len(args) > 3):
        return None
    if name in ORDERED and not _in_order(context, args[ORDERED[name]]):
        return None
    return _called(name, args, named, fact)


ORDERED = {"np.searchsorted": 0, "np.interp": 1}
"""What looks up in a vector in order; in another one, the place of an item may depend on the item before it."""


def _in_order(context: Context, values: Node) -> bool:
    """Require that a vector is in order; False where that cannot be asked."""
    import numpy as np

    from looplift.vectorize.indexing import read_pieces
    from looplift.vectorize.subscripts import Cut

    if values.op == "const":
        items = values.attrs["value"]
        return isinstance(items, list) and all(a <= b for a, b in itertools.pairwise(items))
    if values.kind.family != "array" or values.kind.rank != 1:
        return False
    low, high = (
        read_pieces(context, values, [piece], values.kind)
        for piece in (Cut(None, nodes.const(-1), None), Cut(nodes.const(1), None, None))
    )
    rising = nodes.elementwise("le", [low, high], Kind("array", np.dtype(bool), 1))
    context.check(Node("apply", (rising,), (), nodes.BOOL, {"name": "np.all", "kwargs": [], "positional": 1}))
    return True


def _written(arg: Any) -> Any:
    """An argument as one node: of a list of constants, a constant list; None for other lists."""
    if not isinstance(arg, list):
        return arg
    if any(isinstance(item, list) or item.op != "const" for item in arg):
        return None
    return Node("const", (), (), Kind("list"), {"value": [item.attrs["value"] for item in arg]})


def _solved(args: list[Any], fact: Fact) -> Node:
    """One right-hand side for each matrix is a column, as a stack of vectors would be one matrix."""
    column = replace(fact.kind, rank=2)
    b = Node("unsqueezed", (args[1],), args[1].axes, column, {"dim": -1})
    solved = _called("np.linalg.solve", [args[0], b], {}, replace(fact, kind=column))
    return Node("method", (solved,), solved.axes, fact.kind, {"name": "squeeze", "args": [-1]})


def _along(context: Context, name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Node | None:
    base = table.base_name(name)
    place, default = ALONG[base]
    rank, rest, named = args[0].kind.rank, list(args[1:]), dict(kwargs)
    if "axis" in named or len(rest) >= place:
        given = named.pop("axis", None) or rest.pop(place - 1)
        if given.op != "const" or not isinstance(given.attrs["value"], int):
            return None
        axis = given.attrs["value"]
    elif default is None and rank != 1:
        return None
    else:
        axis = -1
    if not rank or any(arg.axes or (arg.kind.is_array and arg.kind.rank) for arg in (*rest, *named.values())):
        return None
    function = name if name.startswith("np.") else f"np.{base}"
    return _called(function, [args[0], *rest], named, fact, f"axis={axis if axis < 0 else axis - rank}")


def _einsum(args: list[Any], fact: Fact) -> Node | None:
    """``ij,jk->ik`` in every lane is ``...ij,...jk->...ik``."""
    text = args[0].attrs.get("value") if args[0].op == "const" else None
    if not isinstance(text, str) or "." in text or not all(arg.kind.is_array for arg in args[1:]):
        return None
    inputs, arrow, output = text.replace(" ", "").partition("->")
    if not arrow:
        output = "".join(letter for letter in sorted(set(inputs) - {","}) if inputs.count(letter) == 1)
    wide = ",".join(f"...{part}" for part in inputs.split(","))
    return _called("np.einsum", [nodes.const(f"{wide}->...{output}"), *args[1:]], {}, fact)


def _called(name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact, extra: str = "") -> Node:
    attrs = {"name": name, "kwargs": list(kwargs), "extra": extra}
    axes = merge_axes(*(arg.axes for arg in args))
    return Node("leading", (*args, *kwargs.values()), axes, fact.kind, attrs)
