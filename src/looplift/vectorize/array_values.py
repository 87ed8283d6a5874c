"""Forms of NumPy's functions that make arrays of one value, or give them as they are: see ``array_forms``."""

from __future__ import annotations

from typing import Any

from looplift.ir.array import Node
from looplift.ir.facts import Kind
from looplift.vectorize import nodes
from looplift.vectorize.array_forms import (
    Call,
    Form,
    Made,
    is_array,
    is_integer,
    sizes_of,
)
from looplift.vectorize.held import converted


def replace_kind(node: Node, kind: Kind) -> Node:
    """A cast gives the family that the loop has."""
    if node.op == "cast":
        node.kind = kind
    return node


def _as_array(call: Call) -> Made:
    x = call.first
    wanted = call.fact.kind.dtype
    if not x.kind.rank or isinstance(x, list) or call.fact.kind.rank != x.kind.rank:
        return None
    if call.name == "np.array" and x.kind.dtype == wanted:
        return Node("method", (x,), x.axes, call.fact.kind, {"name": "copy", "extents": x.attrs.get("extents")})
    return replace_kind(nodes.cast(x, wanted), call.fact.kind)


def _shape(call: Call) -> Made:
    from looplift.vectorize import items

    x = call.first
    if len(call.given) > 1:
        return None
    match call.name.rpartition(".")[2]:
        case "ndim":
            return nodes.const(x.kind.rank)
        case "size":
            return items._count_of_elements(x)
    return items._shape(x, call.fact)


def _spread(call: Call, value: Node, shape: Any) -> Made:
    """The value in a shape, as a view."""
    sizes = sizes_of(shape)
    if sizes is None or not is_array(value) or len(sizes) != call.fact.kind.rank or len(sizes) < value.kind.rank:
        return None
    operands = {"x": value} | {f"s{k}": size for k, size in enumerate(sizes)}
    inner = ", ".join(f"{{s{k}}}" for k in range(len(sizes)))
    text = f"np.broadcast_to({{x}}, ({{extents}}{inner},))"
    return call.made(text, operands, rank=len(sizes), view=True, extents=list(sizes))


def _full(call: Call) -> Made:
    value = call.get("fill_value")
    if value is None or isinstance(value, list) or not value.axes or not is_array(value, 0):
        return None
    return _spread(call, replace_kind(nodes.cast(value, call.fact.kind.dtype), value.kind), call.get("shape"))


def _full_like(call: Call) -> Made:
    x, value = call.get("a"), call.get("fill_value")
    if not is_array(x) or isinstance(value, list) or not (value.kind.is_array or value.kind.is_number):
        return None
    value = converted(call.context, value, call.fact.kind.dtype)
    if value.kind.rank > x.kind.rank:
        return None
    text = "np.broadcast_to({v}, np.broadcast_shapes({v!}.shape, {x!}.shape))"
    return call.made(text, {"v": value, "x": x}, rank=x.kind.rank, view=True, extents=x.attrs.get("extents"))


def _broadcast_to(call: Call) -> Made:
    return _spread(call, call.get("array"), call.get("shape")) if is_array(call.get("array")) else None


def _linspace(call: Call) -> Made:
    """Evenly spaced numbers between two of each lane."""
    a, b, count = call.get("start"), call.get("stop"), call.get("num", nodes.const(50))
    if isinstance(a, list) or isinstance(b, list) or not is_integer(count) or str(call.fact.kind.dtype) != "float64":
        return None
    if any(value.kind.rank or str(nodes.lane_dtype(value.kind)) in ("float16", "complex128") for value in (a, b)):
        return None
    text = "np.linspace({a}, {b}, {n}, axis=-1)"
    return call.made(text, {"a": a, "b": b, "n": count}, extents=[count])


def _unravelled(call: Call) -> Made:
    """One index for each dimension."""
    from looplift.vectorize.mapped import several

    place, sizes = call.get("indices"), sizes_of(call.get("shape", []))
    if not is_array(place, 0) and not (isinstance(place, Node) and place.kind.family == "int"):
        return None
    if not sizes or len(call.given) > 2 or not isinstance(call.fact.sample, tuple):
        return None
    operands = {"x": place} | {f"s{k}": size for k, size in enumerate(sizes)}
    inner = ", ".join(f"{{s{k}}}" for k in range(len(sizes)))
    return several(call.made(f"np.unravel_index({{x}}, ({inner},))", operands), call.fact)


FORMS: dict[str, tuple[str, Form]] = {
    "asarray": ("a dtype", _as_array), "asanyarray": ("a dtype", _as_array), "array": ("a dtype", _as_array),
    "ascontiguousarray": ("a dtype", _as_array), "asfortranarray": ("a dtype", _as_array),
    "size": ("a", _shape), "ndim": ("a", _shape), "shape": ("a", _shape),
    "full": ("shape fill_value dtype", _full), "full_like": ("a fill_value dtype", _full_like),
    "broadcast_to": ("array shape", _broadcast_to), "linspace": ("start stop num", _linspace),
    "unravel_index": ("indices shape", _unravelled),
}  # fmt: skip
