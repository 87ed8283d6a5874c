"""Forms of NumPy's counts, moments, quantiles and reductions: see ``array_forms``."""

from __future__ import annotations

from looplift.ir.array import Node
from looplift.ir.facts import Kind
from looplift.vectorize import nodes
from looplift.vectorize.array_forms import (
    UNKNOWN,
    Call,
    Form,
    Made,
    axes_text,
    constant,
    fields,
    is_array,
    is_integer,
    is_shared,
    kinds_of,
    negative_axis,
    of_type,
    tree,
)


def _quantiles(call: Call) -> Made:
    """The dimension of several quantiles comes first in a lane."""
    x, rank = call.first, call.first.kind.rank
    q, dims = tree(call.get("q", nodes.const(None))), axes_text(call, rank)
    if isinstance(q, list):
        numbers = constant(q)
        if numbers is UNKNOWN or not numbers or not all(type(one) in (int, float) for one in numbers):
            return None
        q = Node("const", (), (), Kind("list"), {"value": numbers})
        several = True
    else:
        several = is_array(q, 1)
    if dims is None or not rank or not is_shared(q) or not (several or q.kind.is_number):
        return None
    text = f"np.{call.name.rpartition('.')[2]}({{x}}, {{q}}, axis={dims})"
    return call.made(f"np.moveaxis({text}, 0, {{lead}})" if several else text, {"x": x, "q": q})


def _of_all(call: Call) -> Made:
    """A reduction of several dimensions, or of all."""
    x, rank = call.first, call.first.kind.rank
    dims = axes_text(call, rank)
    if dims is None or rank < 2 or not dims.startswith("("):
        return None
    extra = "".join(f", {key}={{{key}}}" for key in call.given if key in ("ddof",))
    operands = {"x": x} | {key: value for key, value in call.given.items() if key == "ddof"}
    if any(isinstance(value, list) for value in operands.values()):
        return None
    return call.made(f"np.{call.name.rpartition('.')[2]}({{x}}, axis={dims}{extra})", operands)


def _average(call: Call) -> Made:
    x, weights, rank = call.first, call.get("weights"), call.first.kind.rank
    if weights is None:
        return _of_all(call)
    axis = negative_axis(call.const("axis", -1 if rank == 1 else UNKNOWN), rank)
    if axis is None or isinstance(weights, list) or not (is_array(weights, rank) or is_array(weights, 1)):
        return None
    if weights.axes and weights.kind.rank != rank:
        return None
    text = f"np.average({{x}}, axis={axis}, weights={{w}})"
    return call.made(text, {"x": x, "w": weights}, full=bool(weights.axes))


def _integral(call: Call) -> Made:
    """With places of its own for each lane, or some for all."""
    y, x = call.first, call.get("x")
    if x is None or not is_array(y, 1) or not is_array(x, 1):
        return None
    return call.made("np.trapezoid({y}, {x}, axis=-1)", {"y": y, "x": x})


def _where(call: Call) -> Made:
    """Of the elements where a mask holds, or together with a first value."""
    x, rank, mask, initial = call.first, call.first.kind.rank, call.get("where"), call.get("initial")
    dims, keep = axes_text(call, rank), call.const("keepdims", False)
    if (mask is None and initial is None) or dims is None or not rank or not isinstance(keep, bool):
        return None
    operands, extra = {"x": x}, ", keepdims=True" if keep else ""
    if mask is not None:
        if not is_array(mask, rank) or str(mask.kind.dtype) != "bool":
            return None
        operands["w"], extra = mask, extra + ", where={w}"
    if initial is not None:
        if not is_shared(initial) or not initial.kind.is_number:
            return None
        operands["i"], extra = initial, extra + ", initial={i}"
    text = f"np.{call.name.rpartition('.')[2]}({{x}}, axis={dims}{extra})"
    return call.made(text, operands, full=True)


# ---------------------------------------------------------------- counts


def _counts(call: Call) -> Made:
    """How often each integer below a number is met, which is above all of them."""
    x, length, weights = call.get("x"), call.get("minlength"), call.get("weights")
    if not is_array(x, 1) or length is None or not is_integer(length) or "int" not in str(x.kind.dtype):
        return None
    operands, extra = {"x": x, "n": length}, ""
    if weights is not None and not (is_shared(weights) and weights.kind.family == "none"):
        if not is_array(weights, 1) or str(call.fact.kind.dtype) != "float64" or "complex" in str(weights.kind.dtype):
            return None
        operands["w"], extra = weights, ", {w}"
    return call.made(f"counts_of_rows({{x}}, {{n}}{extra})", operands, need=["counts_of_rows"], full=True,
                     extents=[length])  # fmt: skip


def _histogram(call: Call) -> Made:
    """Over bins that are the same for all lanes: their number and a range, or their edges."""
    x, bins = call.first, tree(call.get("bins", nodes.const(10)))
    if not is_array(x, 1) or x.kind.dtype.kind not in "iuf" or x.kind.dtype.itemsize < 4:
        return None
    if isinstance(bins, list):
        numbers = constant(bins)
        if numbers is UNKNOWN or not all(type(one) in (int, float) for one in numbers):
            return None
        bins = Node("const", (), (), Kind("list"), {"value": numbers})
    elif not (is_array(bins, 1) and is_shared(bins)) and not is_integer(bins):
        return None
    operands: dict[str, Node] = {"x": x, "b": bins}
    extra = ""
    if is_integer(bins) and call.const("range") is None:
        return _own_histogram(call, x, bins)
    if is_integer(bins):
        span = tree(call.get("range", nodes.const(None)))
        if not isinstance(span, list) or len(span) != 2 or not all(is_shared(s) and s.kind.is_number for s in span):
            return None
        operands |= {"l": span[0], "h": span[1]}
        extra = ", ({l}, {h})"
    kinds = kinds_of(call)
    counts = call.made(f"histograms({{x}}, {{b}}{extra})", operands, kinds[0], need=["counts_of_rows", "histograms"])
    shared = {key: node for key, node in operands.items() if key != "x"}
    empty = f"np.histogram(np.empty(0, np.{x.kind.dtype.name}), {{b}}{extra})[1]"
    return fields(call, [counts, call.made(empty, shared, kinds[1])])


def _own_histogram(call: Call, x: Node, bins: Node) -> Made:
    """Over bins between the least and the greatest item of each lane."""
    from looplift.vectorize.mapped import several

    if x.kind.dtype.kind != "f":
        return None
    need = ["counts_of_rows", "histograms_of_spans"]
    return several(call.made("histograms_of_spans({x}, {b})", {"x": x, "b": bins}, need=need), call.fact)


# ---------------------------------------------------------------- moments


def _covariance(call: Call) -> Made:
    """Of the rows of a matrix, of a vector, or of two vectors; real, and by at least two observations."""
    m, other, base = call.first, call.get("y"), call.name.rpartition(".")[2]
    rank = m.kind.rank
    flags = [call.const(name, default) for name, default in (("rowvar", True), ("bias", False), ("ddof", None))]
    plain = isinstance(flags[0], bool) and isinstance(flags[1], bool) and (flags[2] is None or type(flags[2]) is int)
    if not plain or str(call.fact.kind.dtype) != "float64" or rank not in (1, 2):
        return None
    if other is not None and (rank != 1 or not is_array(other, 1)):
        return None
    if rank == 1 and other is None and (base == "corrcoef" or call.fact.kind.rank):
        return None
    if rank == 2 and call.fact.kind.rank != 2:
        return None
    operands = {"m": of_type(m, call.fact.kind.dtype)}
    rows = "{m}" if rank == 2 else "{m!}[..., None, :]"
    if other is not None:
        operands["y"] = of_type(other, call.fact.kind.dtype)
        rows = "np.stack(np.broadcast_arrays({m}, {y}), -2)"
    rows = f"{rows}.swapaxes(-1, -2)" if rank == 2 and not flags[0] else rows
    less = flags[2] if flags[2] is not None else 0 if flags[1] else 1
    text = f"covariances({rows}, {less})"
    if base == "corrcoef":
        text = f"correlations({rows})"
    elif rank == 1 and other is None:
        text += "[..., 0, 0]"
    need = ["covariances", "correlations"] if base == "corrcoef" else ["covariances"]
    return call.made(text, operands, need=need)


FORMS: dict[str, tuple[str, Form]] = {
    **dict.fromkeys(("percentile", "quantile", "nanpercentile", "nanquantile"), ("a q axis", _quantiles)),
    **dict.fromkeys(("nanstd", "nanvar", "nanprod"), ("a axis ddof", _of_all)),
    "average": ("a axis weights", _average), "trapezoid": ("y x", _integral),
    **dict.fromkeys(("sum", "prod", "max", "min", "amax", "amin", "mean", "std", "var", "any", "all"),
                    ("a axis where initial keepdims", _where)),
    "bincount": ("x weights minlength", _counts), "histogram": ("a bins range", _histogram),
    "cov": ("m y rowvar bias ddof", _covariance), "corrcoef": ("m y rowvar", _covariance),
}  # fmt: skip
