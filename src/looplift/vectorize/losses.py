"""Losses of one sample, or of a batch of one iteration's own: those of all iterations at once, then folded.

A loss of all elements of a lane is the mean, or the sum, of what ``reduction="none"`` gives of every element.
"""

from __future__ import annotations

from typing import Any

from looplift.ir.array import Node
from looplift.ir.facts import Fact
from looplift.ops.names import said
from looplift.ops.table import base_name
from looplift.vectorize import nodes
from looplift.vectorize.array_forms import UNKNOWN, Call, bound, is_array, is_shared
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.sheltered import sheltered
from looplift.vectorize.subscripts import extent_of

DEPRECATED = ("size_average", "reduce")


def form(context: Context, name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Val | None:
    """The batched form of a loss; None where there is none."""
    base = base_name(name)
    given = bound(FORMS[base], args, kwargs)
    if not given or not name.startswith("torch.nn.functional."):
        return None
    call = Call(context, name, given, fact)
    if any(_word(call, word) is not None for word in DEPRECATED) or not _is_safe(call, base):
        return None
    made = _of_classes(call, base) if base in CLASSES else _of_elements(call, base)
    return None if made is None else Val(made)


def _is_safe(call: Call, base: str) -> bool:
    """Give lanes that do not run operands that neither raise nor make NaN of a gradient of zero; False where that
    cannot be."""
    mask, given = call.context.mask, call.given
    if mask is None or not mask.axes:
        return True
    if call.context.needs_grad and base in CLASSES and _word(call, "reduction", "mean") == "mean":
        _check_counted(call)
    for name, safe in zip(("input", "target"), SAFE.get(base, (0.0, 0.0)), strict=True):
        if is_array(given.get(name)) and set(given[name].axes) & set(mask.axes):
            axes = {*given[name].axes, *mask.axes}
            if any(axis.is_ragged for axis in axes) and not set(mask.axes) <= set(given[name].axes):
                return False
            given[name] = _chosen(call.context, given[name], mask, safe)
    return True


def _check_counted(call: Call) -> None:
    """A mean over classes is one of something where the class is 0: else the gradient of its sum would be NaN."""
    weight, skipped = call.given.get("weight"), call.given.get("ignore_index", nodes.const(-100))
    if (weight is not None and weight.kind.family != "none") or not is_shared(skipped) or nodes.is_const(skipped, 0):
        text = f"'{said(call.name)}', the mean of what may be nothing, in some iterations has no batched rule"
        raise call.context.refuse("unknown-op", f"{text} with gradients")
    if skipped.op != "const":
        call.context.check(nodes.compare("ne", skipped, nodes.const(0)))


def _chosen(context: Context, operand: Node, mask: Node, safe: float) -> Node:
    number = safe if nodes.may_have_gradient(operand.kind.dtype) else int(safe)
    chosen = nodes.select(mask, sheltered(context, operand, mask), nodes.const(number), operand.kind)
    chosen.attrs["safe"] = True
    return chosen


def _word(call: Call, name: str, default: Any = None) -> Any:
    """What a string, or None, is: one that is guarded has a name, and is known."""
    value = call.given.get(name)
    if value is None:
        return default
    return value.attrs.get("value", UNKNOWN) if value.op in ("const", "name") else UNKNOWN


def _settings(call: Call) -> dict[str, Node] | None:
    """Further arguments, one value for all lanes each; None where one differs, or weighs a mean."""
    known = ("input", "target", "reduction", *DEPRECATED)
    found = {name: value for name, value in call.given.items() if name not in known}
    if any(not is_shared(value) for value in found.values()):
        return None
    found = {name: value for name, value in found.items() if value.kind.family != "none"}
    weighs = "weight" in found and base_name(call.name) in ("mse_loss", "l1_loss", "huber_loss")
    return None if weighs else found


def _of_elements(call: Call, base: str) -> Node | None:
    x, y, reduction = call.get("input"), call.get("target"), _word(call, "reduction", "mean")
    settings = _settings(call)
    if not is_array(x) or not is_array(y, x.kind.rank) or settings is None:
        return None
    rank = x.kind.rank
    for dim in range(rank):
        sizes = extent_of(x, dim), extent_of(y, dim)
        if not nodes.same_integer(*sizes):
            call.context.check(nodes.compare("eq", *sizes))
    extra = "".join(f", {name}={{{name}}}" for name in settings)
    text = f'torch.nn.functional.{base}({{x}}, {{y}}{extra}, reduction="none")'
    dims = -1 if rank == 1 else tuple(range(-rank, 0))
    operands = {"x": x, "y": y, **settings}
    if reduction == "batchmean" and rank:
        operands["n"], text = extent_of(x, 0), f"{text}.sum({dims}) / {{n}}"
    elif reduction in ("mean", "sum"):
        text += f".{reduction}({dims})" if rank else ""
    elif reduction != "none":
        return None
    return call.made(f"({text})", operands, full=True, shared=tuple(settings))


def _of_classes(call: Call, base: str) -> Node | None:
    x, y, reduction = call.get("input"), call.get("target"), _word(call, "reduction", "mean")
    settings = _settings(call)
    if not is_array(x) or not is_array(y) or settings is None or reduction not in ("mean", "sum", "none"):
        return None
    dims = min(x.kind.rank, 2) - 1
    if not x.kind.rank or nodes.may_have_gradient(y.kind.dtype) or y.kind.rank != x.kind.rank - 1:
        return None
    extra = "".join(f", {name}={{{name}}}" for name in settings)
    text = f'class_losses(torch.nn.functional.{base}, {{x}}, {{y}}, {{lead}}, {dims}, "{reduction}"{extra})'
    operands = {"x": x, "y": y, **settings}
    return call.made(text, operands, full=True, shared=tuple(settings), need=["class_losses"])


SAFE = {"binary_cross_entropy": (0.5, 0.5), "kl_div": (0.0, 1.0)}
"""What input and target are in lanes that do not run, where zeros would not do."""
CLASSES = ("cross_entropy", "nll_loss")
FORMS = {
    "mse_loss": "input target size_average reduce reduction weight",
    "l1_loss": "input target size_average reduce reduction weight",
    "smooth_l1_loss": "input target size_average reduce reduction beta",
    "huber_loss": "input target reduction delta weight",
    "soft_margin_loss": "input target size_average reduce reduction",
    "kl_div": "input target size_average reduce reduction log_target",
    "binary_cross_entropy": "input target weight size_average reduce reduction",
    "binary_cross_entropy_with_logits": "input target weight size_average reduce reduction pos_weight",
    "cross_entropy": "input target weight size_average ignore_index reduce reduction label_smoothing",
    "nll_loss": "input target weight size_average ignore_index reduce reduction",
}
