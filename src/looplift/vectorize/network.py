"""Contractions, network modules and functions on one sample; ``torch.vmap`` of what has no rule of its own."""

from __future__ import annotations

from typing import Any

import torch

from looplift.base.data import replace
from looplift.ir.array import Node, merge_axes
from looplift.ir.facts import Fact, Kind
from looplift.ir.grammar import Const, Op, Var
from looplift.ops import table
from looplift.ops.autocast import rounds_products
from looplift.ops.names import said
from looplift.vectorize import nodes
from looplift.vectorize.array_forms import tree
from looplift.vectorize.context import Context
from looplift.vectorize.held import converted
from looplift.vectorize.mapped import vmapped
from looplift.vectorize.subscripts import extent_of

LETTERS = "abcdefgh"
"""Names of dimensions in contractions; axes have other ones."""

# modules that treat all leading dimensions as samples
LEADING = frozenset(
    """Linear Identity ReLU ReLU6 Sigmoid Tanh GELU SiLU Mish ELU SELU CELU LeakyReLU PReLU_ Softplus Softsign Hardtanh
    Hardswish Hardsigmoid LogSigmoid Tanhshrink Threshold Hardshrink Softshrink LayerNorm RMSNorm Embedding""".split()
)
DROPOUTS = ("Dropout", "Dropout1d", "Dropout2d", "AlphaDropout")
SAMPLE_RANK = {"Conv1d": 2, "Conv2d": 3, "Conv3d": 4, "MaxPool1d": 2, "MaxPool2d": 3, "AvgPool1d": 2, "AvgPool2d": 3,
               "AdaptiveAvgPool1d": 2, "AdaptiveAvgPool2d": 3, "AdaptiveMaxPool2d": 3, "ConvTranspose1d": 2,
               "ConvTranspose2d": 3, "ConvTranspose3d": 4, "MaxPool3d": 4, "AvgPool3d": 4, "AdaptiveAvgPool3d": 4,
               "AdaptiveMaxPool1d": 2, "InstanceNorm1d": 2, "InstanceNorm2d": 3, "InstanceNorm3d": 4}  # fmt: skip
BATCH_RANKS = {"BatchNorm1d": (2, 3), "BatchNorm2d": (4,), "BatchNorm3d": (5,), "GroupNorm": (2, 3, 4, 5)}
"""Norms that take batches only: of how many dimensions."""
FRESH = frozenset(
    """Linear Sigmoid Tanh GELU Softplus Softsign LogSigmoid Tanhshrink LayerNorm RMSNorm Embedding Softmax
    LogSoftmax""".split()
)
"""Modules whose results are memory of their own, never an operand or a view of one."""


def module_call(context: Context, op: Op, fact: Fact, var: Var) -> Node:
    """A standard module called on one sample."""
    module, path = _callee(op)
    args = [context.node(operand) for operand in op.args[1:] if isinstance(operand, Var | Const)]
    if op.kwargs or len(args) != 1 or len(op.args) != 2:
        kind = type(module).__name__
        raise context.refuse("unknown-op", f"'{path}' ({kind}) with several arguments has no batched rule yet")
    return _of_sample(context, module, path, args[0], fact.kind, var.hint)


def _callee(op: Op) -> tuple[Any, str]:
    callee = op.args[0]
    assert isinstance(callee, Const)
    return callee.value, callee.path


def module_of_rows(context: Context, op: Op, x: Node, rank: int, dense: int, fact: Fact) -> Node | None:
    """A module called on a value of ``rank`` dimensions of which the last ``dense`` ones are of one length.

    None where it does not take the others as those of samples.
    """
    module, path = _callee(op)
    kind = type(module).__name__
    if kind not in (*LEADING, *DROPOUTS, "Softmax", "LogSoftmax") or op.kwargs or len(op.args) != 2:
        return None
    least = max(_dimensions_read(module, kind), kind in ("Linear", "LayerNorm", "RMSNorm"))
    if not 0 <= least <= dense or (kind.endswith("Softmax") and (module.dim is None or module.dim >= 0)):
        return None
    made = Kind(fact.kind.family, fact.kind.dtype, fact.kind.rank - rank + x.kind.rank)
    return _of_sample(context, module, path, x, made, "")


def _of_sample(context: Context, module: Any, path: str, x: Node, made: Kind, hint: str) -> Node:
    kind = type(module).__name__
    if kind in DROPOUTS:
        if module.training:
            raise context.refuse("random-order", f"'{path}' draws random numbers in training mode")
        return x
    if getattr(module, "scale_grad_by_freq", False) and any(one.requires_grad for one in module.parameters()):
        _check_counts_no_indices(context, path)
    attrs: dict[str, Any] = {"path": path, "extents": None, "reads": _dimensions_read(module, kind)}
    if kind in FRESH and type(module) is getattr(torch.nn, kind, None):
        attrs["fresh"] = True
    if kind in ("Softmax", "LogSoftmax") and module.dim is not None and module.dim < 0:
        return Node("module", (x,), x.axes, made, attrs, hint)
    if kind in LEADING and x.kind.rank >= (kind in ("Linear", "LayerNorm", "RMSNorm")):
        return Node("module", (x,), x.axes, made, attrs, hint)
    if kind in SAMPLE_RANK:
        sample = SAMPLE_RANK[kind]
        if x.kind.rank == sample:
            return Node("module", (x,), x.axes, made, {**attrs, "flatten": True}, hint)
        if x.kind.rank == sample + 1:
            return Node("module", (x,), x.axes, made, {**attrs, "flatten": True, "own_batch": True}, hint)
    if x.kind.rank in BATCH_RANKS.get(kind, ()) and getattr(module, "running_mean", module) is not None:
        return Node("module", (x,), x.axes, made, {**attrs, "flatten": True, "own_batch": True}, hint)
    raise context.refuse("unknown-op", f"'{path}' ({kind}) has no batched rule yet")


def _check_counts_no_indices(context: Context, name: str) -> None:
    """A gradient that is divided by how often an index is in a call is another one of all lanes at once."""
    if context.needs_grad:
        text = f"the gradient of '{name}' depends on how often an index is in one call (scale_grad_by_freq)"
        raise context.refuse("unknown-op", text)


def _dimensions_read(module: Any, kind: str) -> int:
    """How many of the last dimensions a module that takes any leading ones works on together."""
    match kind:
        case "LayerNorm" | "RMSNorm":
            return len(module.normalized_shape)
        case "Softmax" | "LogSoftmax":
            return -(module.dim or 0)
        case "Linear":
            return 1
    return 0


def contraction(context: Context, name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Node:
    """Products summed over a dimension, written as einsum or matmul over labelled axes."""
    base = table.base_name(name)
    if base not in ("linear", "outer", "ger") and rounds_products(fact.kind.dtype):
        raise context.refuse("unknown-op", f"'{base}' under autocast, which would round a product of matrices")
    if name == "torch.tensordot" and (made := tensordot(args, kwargs, fact)) is not None:
        return made
    if base == "linear" and kwargs.keys() == {"bias"}:
        args, kwargs = [*args, kwargs["bias"]], {}
    if kwargs or any(isinstance(a, list) for a in args):
        return special(context, name, args, kwargs, fact)
    if base == "linear":
        return _linear(context, args, fact)
    if base in ("matmul", "mm", "mv", "dot", "inner", "vdot") and len(args) == 2:
        a, b = args
        if base == "vdot" and "complex" in str(a.kind.dtype):  # of which the first factor is conjugated
            a = nodes.elementwise("torch.conj", [a], a.kind)
        ranks = (a.kind.rank, b.kind.rank)
        if max(ranks) <= 2 and min(ranks) >= 1 and not (base in ("inner", "vdot") and ranks != (1, 1)):
            return product(a, b, fact.kind)
        if base == "matmul":
            return _stack_product(a, b, fact.kind) or special(context, "torch.matmul", args, kwargs, fact)
    if base in ("outer", "ger") and len(args) == 2 and [a.kind.rank for a in args] == [1, 1]:
        a = Node("unsqueezed", (args[0],), args[0].axes, Kind(args[0].kind.family, args[0].kind.dtype, 2), {"dim": -1})
        return nodes.elementwise("mul", [a, args[1]], fact.kind)
    return special(context, name, args, kwargs, fact)


def _stack_product(a: Node, b: Node, kind: Kind) -> Node | None:
    """``a @ b`` of stacks of matrices, whose leading dimensions broadcast as those of ``einsum`` do."""
    ranks = (a.kind.rank, b.kind.rank)
    stacked = max(ranks) - 2
    if min(ranks) < 1 or stacked + 3 > len(LETTERS) or any(axis.is_ragged for axis in (*a.axes, *b.axes)):
        return None
    stack, (row, inner, column) = LETTERS[:stacked], LETTERS[stacked : stacked + 3]
    left = (stack + row + inner)[-ranks[0] :] if ranks[0] > 1 else inner
    right = (stack + inner + column)[-ranks[1] :] if ranks[1] > 1 else inner
    kept = stack + row * (ranks[0] > 1) + column * (ranks[1] > 1)
    return Node("contract", (a, b), merge_axes(a.axes, b.axes), kind, {"lanes": (left, right, kept)})


def tensordot(args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Node | None:
    """Dimensions of both factors that are summed have one letter; None where they are not known."""
    given = [*args[2:], *kwargs.values()]
    if set(kwargs) - {"dims"} or len(given) != 1 or any(a.kind.dtype != fact.kind.dtype for a in args[:2]):
        return None
    a, b = args[:2]
    ranks = (a.kind.rank, b.kind.rank)
    pairs = _summed_dimensions(given[0], *ranks)
    if pairs is None or sum(ranks) > len(LETTERS) or any(axis.is_ragged for axis in (*a.axes, *b.axes)):
        return None
    left, right = list(LETTERS[: ranks[0]]), list(LETTERS[ranks[0] : sum(ranks)])
    for one, other in pairs:
        right[other] = left[one]
    summed = {left[one] for one, _ in pairs}
    kept = [letter for letter in left + right if letter not in summed]
    lanes = tuple(map("".join, (left, right, kept)))
    places = [(a, left.index(letter)) if letter in left else (b, right.index(letter)) for letter in kept]
    attrs = {"lanes": lanes, "extents": [extent_of(side, dim) for side, dim in places]}
    return Node("contract", (a, b), merge_axes(a.axes, b.axes), fact.kind, attrs)


def _summed_dimensions(dims: Any, *ranks: int) -> list[tuple[int, int]] | None:
    value = _constants(dims)
    if type(value) is int:
        return [(ranks[0] - value + k, k) for k in range(value)]
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    sides = [[side] if type(side) is int else side for side in value]
    if any(not isinstance(side, list | tuple) or not all(type(d) is int for d in side) for side in sides):
        return None
    return [(one % ranks[0], other % ranks[1]) for one, other in zip(*sides, strict=True)]


def _constants(value: Any) -> Any:
    if isinstance(value, list):
        return [_constants(item) for item in value]
    return value.attrs["value"] if value.op == "const" else None


def product(a: Node, b: Node, kind: Kind) -> Node:
    """``a @ b`` of vectors and matrices in lanes."""
    axes = merge_axes(a.axes, b.axes)
    return Node("matmul", (a, b), axes, kind)


def _linear(context: Context, args: list[Node], fact: Fact) -> Node:
    if not any(a.axes for a in args[1:]):
        return Node("leading", tuple(args), args[0].axes, fact.kind, {"name": "torch.nn.functional.linear"})
    ranks = [a.kind.rank for a in args]
    if any(rounds_products(a.kind.dtype) for a in args) or ranks not in ([1, 2], [2, 2], [1, 2, 1], [2, 2, 1]):
        return special(context, "torch.nn.functional.linear", args, {}, fact)
    x, weight = args[:2]
    made = product(x, Node("transposed", (weight,), weight.axes, weight.kind), fact.kind)
    return nodes.elementwise("add", [made, *args[2:]], fact.kind) if len(args) == 3 else made


def special(context: Context, name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Node:
    """Stacks of lane values; any other pure torch function through ``torch.vmap``."""
    base, first = table.base_name(name), args[0] if args else None
    if base in ("hstack", "vstack") and len(args) == 1 and isinstance(args[0], list) and not kwargs:
        return _stacked(context, *_joining(base, args[0]), {}, fact)
    if base in ("stack", "cat", "concat", "concatenate", "tensor", "array") and args and isinstance(args[0], list):
        return _stacked(context, name, args, kwargs, fact)
    if base in ("diag", "diag_embed") and not kwargs and len(args) == 1 and first is not None and _is_vector(first):
        return Node("leading", (first,), first.axes, fact.kind, {"name": "torch.diag_embed"})
    if name in ("torch.tensor", "torch.as_tensor") and set(kwargs) <= {"dtype"} and len(args) == 1:
        number: Any = args[0]
        if number.kind.is_number:
            return converted(context, number, fact.kind.dtype)
    if name == "torch.nn.functional.one_hot":
        return _one_hot(context, [*args, *kwargs.values()], fact)
    if base == "embedding" and _counts_indices(name, args, kwargs):
        _check_counts_no_indices(context, said(name))
    if context.library != "torch" or base.endswith("_"):
        raise context.refuse("unknown-op", f"'{name.replace('method.', '.')}' has no batched rule")
    return vmapped(context, name, args, kwargs, fact)


def _one_hot(context: Context, args: list[Any], fact: Fact) -> Node:
    """Of all lanes at once, which tells of classes that there are not; ``torch.vmap`` does not ask."""
    if len(args) != 2 or args[1].axes or args[1].kind.family != "int" or not args[0].kind.is_array:
        raise context.refuse("unknown-op", "'one_hot' of a number of classes that the classes tell has no batched rule")
    values, count = args
    context.check(nodes.compare("ge", count, nodes.const(1)))
    if context.mask is not None:
        values = nodes.select(context.mask, values, nodes.const(0), values.kind)
    return Node("leading", (values, count), values.axes, fact.kind, {"name": "torch.nn.functional.one_hot"})


def _counts_indices(name: str, args: list[Any], kwargs: dict[str, Any]) -> bool:
    """Whether an embedding that asks for a gradient divides it by how often an index is in the call."""
    first, place = (0, 3) if name == "torch.embedding" else (1, 5)
    counts = kwargs.get("scale_grad_by_freq", args[place] if len(args) > place else nodes.const(False))
    weight = kwargs.get("weight", args[first] if len(args) > first else None)
    asks = weight is None or weight.attrs.get("gradient") is not False
    return asks and not nodes.is_const(counts, False)


def _is_vector(operand: Any) -> bool:
    return isinstance(operand, Node) and operand.kind.family == "tensor" and operand.kind.rank == 1


def _joining(base: str, items: list[Node]) -> tuple[str, list[Any]]:
    """``hstack`` and ``vstack`` of elements, vectors or matrices as ``cat`` or ``stack``."""
    ranks = {item.kind.rank for item in items}
    flat = ranks <= {0, 1}
    if base == "vstack":
        items = [_of_rank(item, 1 if flat else 2) for item in items]
        return ("stack" if flat else "cat"), [items]
    if ranks == {0}:
        return "stack", [items]
    return "cat", [[_of_rank(item, 1) for item in items], nodes.const(0 if flat else 1)]


def _of_rank(item: Node, least: int) -> Node:
    """The value with new dimensions in front if it has fewer."""
    while item.kind.rank < least:
        kind = Kind(item.kind.family, item.kind.dtype, item.kind.rank + 1)
        item = Node("unsqueezed", (item,), item.axes, kind, {"dim": -kind.rank})
    return item


def _element(context: Context, name: str, item: Node, fact: Fact) -> Node:
    """What an array is made of: a number, or a row that is itself a list of such."""
    row = tree(item)
    if not isinstance(row, list):
        return converted(context, item, fact.kind.dtype)
    if not row:
        raise context.refuse("unknown-op", f"'{table.base_name(name)}' of empty lists")
    kind = replace(fact.kind, rank=fact.kind.rank - 1)
    return _stacked(context, name, [row], {}, replace(fact, kind=kind))


def _stacked(context: Context, name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Node:
    items: list[Node] = args[0]
    base = table.base_name(name)
    dim = kwargs.get("dim", kwargs.get("axis", args[1] if len(args) > 1 else nodes.const(0)))
    if any(isinstance(item, list) for item in items) or set(kwargs) - {"dim", "axis", "dtype"}:
        raise context.refuse("unknown-op", f"'{base}' of nested lists")
    if dim.op != "const":
        raise context.refuse("unsupported-value", "a dimension that is not a constant")
    axis = dim.attrs["value"]
    if "dtype" in kwargs:
        items = [nodes.cast(item, fact.kind.dtype) if item.kind.is_array else item for item in items]
    if base in ("tensor", "array"):
        items = [_element(context, name, item, fact) for item in items]
        axis = 0
    elif len({nodes.lane_dtype(i.kind) for i in items}) > 1:
        raise context.refuse("mixed-kinds", f"'{base}' of tensors of different dtypes")
    rank = fact.kind.rank
    axis = axis if axis < 0 else axis - rank
    axes = merge_axes(*(item.axes for item in items))
    join = "cat" if base in ("cat", "concat", "concatenate") else "stack"
    extents = None
    if join == "stack":
        inner: list[Node | None] = items[0].attrs.get("extents") or [None] * (rank - 1)
        extents = list(inner)
        extents.insert(rank + axis, nodes.const(len(items)))
    made = Node("join", tuple(items), axes, fact.kind, {"join": join, "dim": axis, "extents": extents})
    if base == "tensor" and context.needs_grad and nodes.may_have_gradient(fact.kind.dtype):
        return Node("method", (made,), axes, fact.kind, {"name": "detach", "extents": extents})
    return made
