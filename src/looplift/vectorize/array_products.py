"""Forms of NumPy's products, norms, transforms and convolutions: see ``array_forms``."""

from __future__ import annotations

from looplift.ir.array import Node, merge_axes
from looplift.ir.facts import Kind
from looplift.vectorize import nodes
from looplift.vectorize.array_forms import (
    Call,
    Form,
    Made,
    axes_text,
    is_array,
    is_shared,
    of_type,
)


def _is_complex(*arrays: Node) -> bool:
    return any("complex" in str(nodes.lane_dtype(node.kind)) for node in arrays)


def _product(a: Node, b: Node, kind: Kind) -> Node:
    return Node("matmul", (a, b), merge_axes(a.axes, b.axes), kind)


def _transposed(x: Node) -> Node:
    extents = x.attrs.get("extents")
    return Node("transposed", (x,), x.axes, x.kind, {"extents": extents[::-1] if extents else None})


def _two(call: Call) -> tuple[Node, Node] | None:
    """Two arrays with dimensions, alone."""
    given = list(call.given.values())
    if len(given) != 2 or not all(is_array(one) and 1 <= one.kind.rank <= 2 for one in given):
        return None
    return given[0], given[1]


def _inner(call: Call) -> Made:
    """Sums of products over the last dimensions of both."""
    pair = _two(call)
    if pair is None:
        return None
    a, b = pair
    return _product(a, _transposed(b) if b.kind.rank == 2 else b, call.fact.kind)


def _plain_product(call: Call) -> Made:
    pair = _two(call)
    if pair is None or _is_complex(*pair):
        return None
    wanted = {"matvec": (2, 1), "vecmat": (1, 2), "vecdot": (1, 1), "vdot": (1, 1), "matmul": None}
    ranks = wanted[call.name.rpartition(".")[2]]
    return _product(*pair, call.fact.kind) if ranks in (None, tuple(one.kind.rank for one in pair)) else None


def _conjugated_product(call: Call) -> Made:
    """The first factor of a complex product of vectors is conjugated."""
    pair = _two(call)
    if pair is None or any(one.kind.rank != 1 for one in pair):
        return None
    a, b = pair
    first = nodes.elementwise("np.conj", [a], a.kind) if _is_complex(a) else a
    return _product(first, b, call.fact.kind)


def _tensordot(call: Call) -> Made:
    from looplift.vectorize.network import tensordot

    return tensordot([call.get("a"), call.get("b"), call.get("axes", nodes.const(2))], {}, call.fact)


def _chained(call: Call) -> Made:
    """A product of several matrices, the first and the last of which may be vectors."""
    items = call.first
    if not isinstance(items, list) or len(items) < 2 or not all(is_array(one) and one.kind.rank for one in items):
        return None
    first, *middle, last = items
    if max(first.kind.rank, last.kind.rank) > 2 or any(one.kind.rank != 2 for one in middle):
        return None
    if not middle:
        return _product(first, last, call.fact.kind)
    operands = {f"a{k}": one for k, one in enumerate(items)}
    listed = ", ".join(f"{{{name}}}" for name in operands)
    vectors = f"{first.kind.rank == 1}, {last.kind.rank == 1}"
    return call.made(f"chained([{listed}], {vectors})", operands, need=["chained"])


def _kron(call: Call) -> Made:
    pair = _two(call)
    if pair is None or pair[0].kind.rank != pair[1].kind.rank:
        return None
    rank = pair[0].kind.rank
    return call.made(f"kronecker({{a}}, {{b}}, {rank})", {"a": pair[0], "b": pair[1]}, need=["kronecker"])


def _convolved(call: Call) -> Made:
    """Sums of products of windows, real ones."""
    base = call.name.rpartition(".")[2]
    a, v = call.get("a"), call.get("v")
    mode = call.const("mode", "full" if base == "convolve" else "valid")
    if not is_array(a, 1) or not is_array(v, 1) or mode not in ("full", "same", "valid"):
        return None
    dtype = call.fact.kind.dtype
    if dtype.kind not in "iuf":
        return None
    a, v = (of_type(one, dtype) for one in (a, v))
    function, need = (
        ("convolved", ["correlated", "convolved"]) if base == "convolve" else ("correlated", ["correlated"])
    )
    return call.made(f'{function}({{a}}, {{v}}, "{mode}")', {"a": a, "v": v}, need=need)


# ---------------------------------------------------------------- norms


def _norm(call: Call) -> Made:
    """Of matrices, with an order; other norms are reductions."""
    x, order, axis = call.first, call.get("ord"), call.const("axis")
    keep = call.const("keepdims", False)
    if order is None or not is_shared(order) or order.kind.family == "none" or not isinstance(keep, bool):
        return None
    both = (axis is None and x.kind.rank == 2) or (isinstance(axis, tuple | list) and len(axis) == 2)
    dims = axes_text(call, x.kind.rank) if both else None
    if dims is None:
        return None
    extra = ", keepdims=True" if keep else ""
    return call.made(f"np.linalg.norm({{x}}, {{o}}, axis={dims}{extra})", {"x": x, "o": order})


def _vector_norm(call: Call) -> Made:
    x, order, keep = call.first, call.get("ord", nodes.const(2)), call.const("keepdims", False)
    dims = axes_text(call, x.kind.rank)
    if dims is None or not x.kind.rank or not is_shared(order) or not isinstance(keep, bool):
        return None
    extra = ", keepdims=True" if keep else ""
    return call.made(f"np.linalg.vector_norm({{x}}, ord={{o}}, axis={dims}{extra})", {"x": x, "o": order})


def _matrix_norm(call: Call) -> Made:
    x, order = call.first, call.get("ord", nodes.const("fro"))
    if x.kind.rank != 2 or not is_shared(order) or "keepdims" in call.given:
        return None
    return call.made("np.linalg.matrix_norm({x}, ord={o})", {"x": x, "o": order})


# ---------------------------------------------------------------- transforms


def _transform(call: Call) -> Made:
    """Of the last two dimensions, all that a matrix has."""
    if call.first.kind.rank != 2:
        return None
    return call.made(f"np.fft.{call.name.rpartition('.')[2]}({{x}})", {"x": call.first})


def _shifted(call: Call) -> Made:
    dims = axes_text(call, call.first.kind.rank, "axes")
    if dims is None or not call.first.kind.rank:
        return None
    return call.made(f"np.fft.{call.name.rpartition('.')[2]}({{x}}, axes={dims})", {"x": call.first})


# ---------------------------------------------------------------- functions of pairs


def _outer(call: Call) -> Made:
    """``np.subtract.outer``: every element with every one of another vector."""
    pair = _two(call)
    function = call.name.rpartition(".")[0]
    if pair is None or any(one.kind.rank != 1 for one in pair):
        return None
    return call.made(f"{function}({{a!}}[..., :, None], {{b!}}[..., None, :])", {"a": pair[0], "b": pair[1]})


def _reduced(call: Call) -> Made:
    """``np.add.reduce`` or ``np.maximum.accumulate``, of the first dimension where none is given."""
    x, rank = call.first, call.first.kind.rank
    keep = call.const("keepdims", False)
    dims = axes_text(call, rank) if "axis" in call.given else str(-rank)
    if dims is None or not rank or not isinstance(keep, bool) or not is_array(x):
        return None
    return call.made(f"{call.name}({{x}}, axis={dims}{', keepdims=True' if keep else ''})", {"x": x})


FUNCTIONS = """add subtract multiply divide true_divide maximum minimum power arctan2 hypot logaddexp equal not_equal
less less_equal greater greater_equal logical_and logical_or bitwise_and bitwise_or bitwise_xor""".split()

FORMS: dict[str, tuple[str, Form]] = {
    "inner": ("a b", _inner), "matvec": ("x1 x2", _plain_product), "vecmat": ("x1 x2", _plain_product),
    "vecdot": ("x1 x2", _conjugated_product), "vdot": ("a b", _conjugated_product),
    "linalg.vecdot": ("x1 x2", _conjugated_product), "linalg.matmul": ("x1 x2", _plain_product),
    "tensordot": ("a b axes", _tensordot), "linalg.tensordot": ("a b axes", _tensordot),
    "linalg.multi_dot": ("arrays", _chained), "kron": ("a b", _kron),
    "convolve": ("a v mode", _convolved), "correlate": ("a v mode", _convolved),
    "linalg.norm": ("x ord axis keepdims", _norm), "linalg.vector_norm": ("x axis keepdims ord", _vector_norm),
    "linalg.matrix_norm": ("x keepdims ord", _matrix_norm),
    **dict.fromkeys(("fft.fft2", "fft.ifft2", "fft.rfft2", "fft.irfft2"), ("a", _transform)),
    **dict.fromkeys(("fft.fftshift", "fft.ifftshift"), ("x axes", _shifted)),
    **dict.fromkeys((f"{name}.outer" for name in FUNCTIONS), ("a b", _outer)),
    **dict.fromkeys((f"{name}.reduce" for name in FUNCTIONS), ("a axis keepdims", _reduced)),
    **dict.fromkeys((f"{name}.accumulate" for name in FUNCTIONS), ("a axis", _reduced)),
}  # fmt: skip
