"""Operations without a rule of their own, through ``torch.vmap``; operations with several results."""

from __future__ import annotations

from typing import Any

from looplift.ir.array import Node, merge_axes
from looplift.ir.facts import Fact, kind_of
from looplift.ops import autocast, table
from looplift.ops.names import said
from looplift.vectorize import sheltered
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val

# torch's functions of one dimension that give values and indices; the position of that dimension among the arguments
PAIRED = {"sort": 1, "topk": 2, "max": 1, "min": 1, "median": 1, "nanmedian": 1, "mode": 1, "kthvalue": 2, "cummax": 1,
          "cummin": 1}  # fmt: skip

OF_ANOTHER_TYPE = frozenset(("linspace", "logspace"))
"""What gives another dtype under ``torch.vmap`` than it gives alone."""

UNASKED = frozenset(("index_fill", "one_hot"))
"""What does not ask under ``torch.vmap`` whether its indices are within bounds."""


def vmapped(context: Context, name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Node:
    """The op as written, under ``torch.vmap`` once for each axis; tensors only, watched by the first comparison."""
    flat: list[Node] = []
    positional = [_pattern(arg, flat) for arg in args]
    named = {key: _pattern(arg, flat) for key, arg in kwargs.items()}
    if any(node.axes and not node.kind.is_array for node in flat):
        raise context.refuse("unknown-op", f"'{said(name)}' with these arguments has no batched rule")
    if not _gives_tensors(fact.sample):
        raise context.refuse("unknown-op", f"'{said(name)}' gives a {fact.kind.family}")
    if not name.startswith(("torch.", "method.")) or table.family(name) in ("random", "blocked"):
        raise context.refuse("unknown-op", f"'{said(name)}' has no batched rule")
    if table.base_name(name) in OF_ANOTHER_TYPE | UNASKED or not _has_batched_rule(name):
        raise context.refuse("unknown-op", f"'{said(name)}' of tensors has no batched rule")
    if table.family(name) == "along" and any(node.axes and not node.kind.rank for node in flat if node.kind.is_array):
        raise context.refuse("unknown-op", f"'{said(name)}' of a tensor without dimensions")
    if autocast.differs_in_batches(
        name, fact.kind.dtype, [node.kind.dtype for node in flat if node.kind.rank or node.axes]
    ):
        raise context.refuse("unknown-op", f"'{said(name)}' under autocast has no batched rule")
    flat = sheltered.safe_operands(context, name, flat)
    if table.base_name(name) not in table.MATRIX_FUNCTIONS:
        context.notes.append(f"'{said(name)}' runs through torch.vmap")
    attrs = {"name": name, "kwargs": named, "positional": positional}
    return Node("vmapped", tuple(flat), merge_axes(*(node.axes for node in flat)), fact.kind, attrs)


RULES = ("FuncTorchBatched", "FuncTorchBatchedDecomposition", "CompositeImplicitAutograd")


def _has_batched_rule(name: str) -> bool:
    """Whether torch.vmap has a rule for an operation: else it runs lane by lane, and warns of that."""
    import torch

    short = name.removeprefix("torch.").removeprefix("method.").removeprefix("nn.functional.").replace(".", "_")
    packet = getattr(torch.ops.aten, short, None)
    if packet is None:
        return True
    names = [f"aten::{short}" if word == "default" else f"aten::{short}.{word}" for word in packet.overloads()]
    try:
        return any(torch._C._dispatch_has_kernel_for_dispatch_key(one, key) for one in names for key in RULES)
    except RuntimeError:  # of scripts alone
        return short != "tensor"


def _pattern(value: Any, flat: list[Node]) -> Any:
    """Where the nodes of an argument stand among all: a position, or a list of such."""
    if isinstance(value, list):
        return [_pattern(item, flat) for item in value]
    flat.append(value)
    return len(flat) - 1


def _gives_tensors(sample: Any) -> bool:
    import torch

    if isinstance(sample, tuple):
        return bool(sample) and all(isinstance(item, torch.Tensor) for item in sample)
    return isinstance(sample, torch.Tensor)


def paired(context: Context, name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Node | None:
    """Values and indices along a dimension, written directly; None for other forms."""
    base = table.base_name(name)
    x = args[0]
    if context.library != "torch" or base not in PAIRED or isinstance(x, list):
        return None
    place, rank = PAIRED[base], x.kind.rank
    given = dict(kwargs)
    rest = list(args[1:])
    dim = given.pop("dim", rest.pop(place - 1) if len(rest) >= place else None)
    numbers = [*rest, *given.values()]
    if not rank or any(isinstance(item, list) or item.axes for item in (dim, *numbers) if item is not None):
        return None
    if dim is not None and dim.op != "const":
        return None
    along = -1 if dim is None else dim.attrs["value"]
    attrs = {"name": base, "dim": along if along < 0 else along - rank, "rest": len(rest), "kwargs": list(given)}
    return Node("paired", (x, *numbers), x.axes, fact.kind, attrs)


def several(node: Node, fact: Fact) -> Val:
    """A value of several tensors: each is a field of it."""
    sample = fact.sample
    named = [] if type(sample) is tuple else [name for name in dir(type(sample)) if not name.startswith("_")]
    names = {name: k for name in named for k, item in enumerate(sample) if getattr(sample, name) is item}
    items = [Val(Node("field", (node,), node.axes, kind_of(item), {"position": k})) for k, item in enumerate(sample)]
    return Val(node, items=items, extra={"names": names})
