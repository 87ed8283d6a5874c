"""A value that may be infinite, or NaN, though all inputs are finite, in; safe ones out, in lanes that do not run.

scores = torch.full((n,), -math.inf)        of lanes in which nothing is stored the softmax is NaN, and a gradient
if t < length: out[t] = scores.softmax(0) @ v       of zero becomes NaN on its way to v
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from looplift.ir.array import Node
from looplift.ir.facts import Kind
from looplift.ops.slopes import LEVEL, LINEAR
from looplift.ops.table import SINGULAR, base_name
from looplift.vectorize import nodes
from looplift.vectorize.reached import operands_first

if TYPE_CHECKING:
    from looplift.vectorize.context import Context

PASSING = (LINEAR | LEVEL | {"masked_fill", "mean", "detach"}) - {"logsumexp", "log_softmax", "softplus"}
"""Operations of which a gradient of zero stays zero whatever their operands are."""
LINEAR_FORMS = frozenset(
    """along_dim as_axes assemble attribute cast cell collect const copied cut derived diagonal display each entries
    entry extent field first flattened gather history items join last last_item last_taken listed merged name none
    on_diagonal owned pack paired part permuted pieces put relabel renamed reshaped retype running_last running_sum
    shift slice spread stretched taps tiles transposed turned unflattened unsqueezed vector where windows
    zipped""".split()
)
"""Those of a value's nodes that have no operation's name."""
ENDING = frozenset(("nan_to_num", "isfinite"))
DEVIATIONS = frozenset("std var std_mean var_mean nanmean nanmedian".split())


def is_unbounded(context: Context, value: Node) -> bool:
    """Whether a value is made of an infinity, a NaN or the extreme of what may be nothing, and may be one itself."""
    known = context.unbounded
    for node in operands_first(value) if value.serial not in known else ():
        if node.serial not in known:
            known[node.serial] = not _is_whole(node.kind) and not _ends(node) and (
                _is_source(node) or any(known[arg.serial] for arg in node.args)
            )  # fmt: skip
    return known[value.serial]


def _is_whole(kind: Kind) -> bool:
    return kind.family in ("int", "bool") or (kind.is_array and not is_float(kind))


def is_float(kind: Kind) -> bool:
    return kind.family in ("float", "complex") or (kind.is_array and nodes.may_have_gradient(kind.dtype))


def _ends(node: Node) -> bool:
    return bool(node.attrs.get("safe")) or base_name(node.attrs.get("name", "")) in ENDING


def _is_source(node: Node) -> bool:
    if "value" in node.attrs and node.op in ("const", "name"):
        return _is_infinite(node.attrs["value"])
    if node.op == "vmapped":
        return _holds_infinite([node.attrs["kwargs"], node.attrs["positional"]])
    written = node.op == "name" and node.attrs.get("memory")  # with what, its name does not tell
    return bool(written or node.attrs.get("unbounded")) or (not node.axes and _is_singular(node))


def _is_singular(node: Node) -> bool:
    """Whether an operation that is computed once for all lanes may give an infinity, or NaN, of finite numbers."""
    base = base_name(node.attrs.get("name", ""))
    singular = SINGULAR.get(base)
    if base in DEVIATIONS or singular is None or singular[0] >= len(node.args):
        return base in DEVIATIONS
    return node.args[singular[0]].op != "const" and not is_whole_power(base, node.args)


def is_whole_power(base: str, args: Sequence[Any]) -> bool:
    """``x ** 2`` and the like, which have no singular point."""
    power = args[1].attrs["value"] if base in ("pow", "power") and len(args) == 2 and args[1].op == "const" else None
    return isinstance(power, int | float) and power >= 1 and float(power).is_integer()


def _is_infinite(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _holds_infinite(pattern: Any) -> bool:
    if isinstance(pattern, dict):
        pattern = list(pattern.values())
    return any(map(_holds_infinite, pattern)) if isinstance(pattern, list | tuple) else _is_infinite(pattern)


def passes(name: str) -> bool:
    """Whether a gradient of zero stays zero on its way through an operation, whatever its operands are."""
    return base_name(name.removeprefix("inplace.")) in PASSING


def unsafe_operands(context: Context, node: Node, args: Sequence[Node] | None = None) -> list[int]:
    """The positions of operands that may make NaN of a gradient of zero on its way through a node; ``args``: others in
    their places."""
    if (
        ("name" in node.attrs and passes(node.attrs["name"]))
        or node.op in LINEAR_FORMS
        or node.attrs.get("operator") in LINEAR
    ):
        return []
    return [position for position, arg in enumerate(args or node.args) if is_unbounded(context, arg)]


def check_items(context: Context, read: Node) -> None:
    """Require that items of a list are finite where some lanes may take what others do not."""
    if context.parts_ways and is_float(read.kind):
        with context.unmasked():
            context.check(Node("finite", (read,), (), nodes.BOOL), f"finite items of {nodes.key_of(read.args[0])}")


def chosen(mask: Node, value: Node, safe: Node) -> Node:
    """The value where a mask holds, and a safe one elsewhere."""
    made = nodes.select(mask, value, safe, value.kind)
    made.attrs["safe"] = True
    return made
