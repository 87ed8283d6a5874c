"""Functions of torch that need a text of their own for all lanes: see ``array_forms``, whose tools these are."""

from __future__ import annotations

import math
from typing import Any

import torch

from looplift.ir.array import Node, merge_axes
from looplift.ir.facts import Fact, Kind
from looplift.ops.table import base_name
from looplift.vectorize import nodes
from looplift.vectorize.array_forms import (
    Call,
    Form,
    Made,
    bound,
    is_array,
    is_integer,
    is_shared,
    negative_axis,
)
from looplift.vectorize.array_shapes import moved_axis
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val


def form(context: Context, name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Val | None:
    """The batched form of a call; None where there is none."""
    if not name.startswith(("torch.", "method.")) or base_name(name) not in FORMS:
        return None
    parameters, made_by = FORMS[base_name(name)]
    given = bound(parameters, args, kwargs)
    made = made_by(Call(context, name, given, fact)) if given else None
    return Val(made) if isinstance(made, Node) else made


def _flag(call: Call, name: str) -> bool | None:
    value = call.const(name, False)
    return value if isinstance(value, bool) else None


def _places(call: Call) -> Made:
    """Where numbers stand between sorted ones, those that all lanes share or each lane's own."""
    names = ("boundaries", "input") if base_name(call.name) == "bucketize" else ("sorted_sequence", "input")
    rows, x = (call.get(name, []) for name in names)
    right = _flag(call, "right")
    if not is_array(rows, 1) or not is_array(x) or right is None or rows.kind.dtype != x.kind.dtype:
        return None
    operands, extra = {"s": rows, "x": x}, ", right=True" if right else ""
    if is_shared(rows):
        return call.made(f"torch.bucketize({{x!}}.contiguous(), {{s}}{extra})", operands)
    if x.kind.rank != 1 or base_name(call.name) == "bucketize":
        return None
    return call.made(f"torch.searchsorted({{s!}}.contiguous(), {{x!}}.contiguous(){extra})", operands, full=True)


def _among(call: Call) -> Made:
    x, tests, invert = call.get("elements"), call.get("test_elements"), _flag(call, "invert")
    if not is_array(x) or not is_array(tests) or not is_shared(tests) or invert is None:
        return None
    return call.made(f"torch.isin({{x}}, {{t}}{', invert=True' if invert else ''})", {"x": x, "t": tests})


def _repeated(call: Call) -> Made:
    """As often for each item."""
    x, count = call.first, call.get("repeats")
    if not is_array(x) or count is None or not is_integer(count) or not x.kind.rank:
        return None
    axis = negative_axis(call.const("dim", -1 if x.kind.rank == 1 else None), x.kind.rank)
    return None if axis is None else call.made(f"{{x!}}.repeat_interleave({{n}}, {axis})", {"x": x, "n": count})


def _counts(call: Call) -> Made:
    """How often each integer below a number is met, which is above all of them."""
    x, length, weights = call.first, call.get("minlength"), call.get("weights")
    if not is_array(x, 1) or length is None or not is_integer(length):
        return None
    operands, extra = {"x": x, "n": length}, ""
    if weights is not None and not (is_shared(weights) and weights.kind.family == "none"):
        if not is_array(weights, 1):
            return None
        operands["w"], extra = weights, ", {w}"
    return call.made(f"counts_of_tensors({{x}}, {{n}}{extra})", operands, need=["counts_of_tensors"], full=True,
                     extents=[length])  # fmt: skip


def _as_tensor(call: Call) -> Made:
    """The tensor as it is, or in another type; a number as a tensor of it."""
    x = call.first
    if isinstance(x, list) or not (x.kind.is_array or x.kind.is_number) or x.kind.rank != call.fact.kind.rank:
        return None
    return nodes.cast(x, call.fact.kind.dtype)


def _filled(call: Call) -> Made:
    """Of one number everywhere, as large as the operand."""
    x, kind = call.first, call.fact.kind
    value = {"zeros_like": 0, "ones_like": 1}.get(base_name(call.name), call.const("fill_value"))
    if not is_array(x) or x.kind.dtype != kind.dtype or not isinstance(value, int | float):
        return None
    if not kind.rank:
        return nodes.cast(nodes.const(value), kind.dtype)
    return call.made(f"torch.full_like({{x!}}, {value!r})", {"x": x}, like=True) if abs(value) < math.inf else None


def _columns(call: Call) -> Made:
    items = call.first
    if not isinstance(items, list) or not items or not all(is_array(item) for item in items):
        return None
    ranks, dtypes = {item.kind.rank for item in items}, {item.kind.dtype for item in items}
    if ranks not in ({1}, {2}) or dtypes != {call.fact.kind.dtype}:
        return None
    attrs = {"join": "stack" if ranks == {1} else "cat", "dim": -1, "extents": None}
    return Node("join", tuple(items), merge_axes(*(item.axes for item in items)), call.fact.kind, attrs)


def _close(call: Call) -> Made:
    """Whether all elements are: a Python bool in each lane."""
    a, b = call.get("input"), call.get("other")
    named = {name: call.given[name] for name in ("rtol", "atol", "equal_nan") if name in call.given}
    if not is_array(a) or not is_array(b) or a.kind.dtype != b.kind.dtype or not all(map(is_shared, named.values())):
        return None
    extra = "".join(f", {name}={{{name}}}" for name in named)
    return _every(call, f"torch.isclose({{a}}, {{b}}{extra})", {"a": a, "b": b, **named}, max(a.kind.rank, b.kind.rank))


def _equal(call: Call) -> Made:
    """Whether two tensors of one size have the same elements; of other sizes the loop is asked."""
    from looplift.vectorize.subscripts import extent_of

    a, b = call.get("input"), call.get("other")
    if not is_array(a) or not is_array(b, a.kind.rank) or a.kind.dtype != b.kind.dtype:
        return None
    for dim in range(a.kind.rank):
        sizes = extent_of(a, dim), extent_of(b, dim)
        if not nodes.same_integer(*sizes):
            call.context.check(nodes.compare("eq", *sizes))
    return _every(call, "({a!} == {b!})", {"a": a, "b": b}, a.kind.rank)


def _every(call: Call, text: str, operands: dict[str, Any], rank: int) -> Node:
    """Whether a text holds of all elements."""
    dims = -1 if rank == 1 else tuple(range(-rank, 0))
    made = call.made(f"{text}.all({dims})" if rank else text, operands, Kind("tensor", torch.bool, 0), rank=rank)
    return Node("retype", (made,), made.axes, nodes.BOOL)


FORMS: dict[str, tuple[str, Form]] = {
    "allclose": ("input other rtol atol equal_nan", _close), "equal": ("input other", _equal),
    "bucketize": ("input boundaries right", _places), "searchsorted": ("sorted_sequence input right", _places),
    "isin": ("elements test_elements assume_unique invert", _among),
    "repeat_interleave": ("input repeats dim", _repeated), "bincount": ("input weights minlength", _counts),
    "moveaxis": ("a source destination", moved_axis), "as_tensor": ("data dtype", _as_tensor),
    "column_stack": ("tensors", _columns), "zeros_like": ("input", _filled), "ones_like": ("input", _filled),
    "full_like": ("input fill_value", _filled),
}  # fmt: skip
