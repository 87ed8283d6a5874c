"""A value of which only some lanes have a gradient in; what is required so that zeros stay zeros in the others.

torch.clamp(x[i] * x[i] * x[i], max=3.0)        x[i] * x[i] is a factor of the gradient, and may be infinite

A gradient of zero becomes NaN on its way where a derivative is not finite. Given finite inputs, that is so at singular
points, and where a factor that the value is computed from has overflowed, though the value is finite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from looplift.ir.array import Node, Step
from looplift.ops.slopes import BOUNDED, KEEPING, LEVEL, LINEAR
from looplift.ops.table import base_name
from looplift.vectorize import nodes
from looplift.vectorize.origins import Origin, origins_of
from looplift.vectorize.reached import gradient_nodes, operands_first
from looplift.vectorize.sheltered import check_regular, singular_operand
from looplift.vectorize.unbounded import LINEAR_FORMS, is_float, is_unbounded

if TYPE_CHECKING:
    from looplift.vectorize.context import Context

KEEPING_FORMS = frozenset(
    """matmul contract owned spread unsqueezed transposed permuted reshaped merged relabel retype cast""".split()
)
"""Of which the result is not finite where an operand is not."""


PRODUCTS = frozenset(
    """mul multiply pow power square prod matmul mm mv bmm dot vdot inner outer einsum tensordot
    contract linear bilinear addcmul addcdiv lerp""".split()
)
"""Of which an operand is a factor of the other's derivative, or of its own."""
DIVISIONS = frozenset(("truediv", "div", "divide"))


def is_linear(context: Context, value: Node) -> bool:
    """Whether all derivatives on the way to the inputs are finite, whatever the inputs are."""
    return all(_is_linear_step(node) for origin in origins_of(context, value) for node in gradient_nodes(origin.value))


def _is_linear_step(node: Node) -> bool:
    if "name" in node.attrs:
        return _base(node) in LINEAR
    return node.attrs["operator"] in LINEAR if "operator" in node.attrs else node.op in LINEAR_FORMS


def _base(node: Node) -> str:
    return base_name(node.attrs["name"].removeprefix("inplace."))


def check_factors(context: Context, value: Node, *, finite: bool) -> None:
    """Require that all derivatives on the way to finite inputs are finite. ``finite``: the value itself is known to be
    so in all lanes."""
    origins = origins_of(context, value)
    small = _small(origins)
    for origin in origins:
        known = _known(origin.value) if finite and origin.place is None else set()
        reached = [node for node in gradient_nodes(origin.value) if node.serial not in known]
        doubtful = [node for node in reached if _may_grow(node, small)]
        if origin.place is None:
            _require(context, origin.value, doubtful)
            continue
        made: list[Step] = []
        with context.nested(made), context.unmasked():
            _require(context, origin.value, doubtful)
        steps, step = origin.place
        at = steps.index(step)
        steps[at:at] = made


def check_products(context: Context, value: Node) -> None:
    """Require that a value of which some lanes are taken is made of no factor that has overflowed in the others.

    What infinities are written into is sheltered instead.
    """
    for node in large_factors(context, [Origin(value)]):
        check_finite(context, node)


def large_factors(context: Context, origins: list[Origin], *, items: bool = False) -> list[Node]:
    """The factors that values with lanes are made of which may have overflowed, but for what is infinite anyway;
    ``items``: those of lists are known to be finite, as other inputs are."""
    small = _small(origins, items=items)
    reached = dict.fromkeys(node for origin in origins for node in gradient_nodes(origin.value))
    factors = (arg for node in reached for arg in _factors(node) if arg.axes and is_float(arg.kind))
    return [node for node in dict.fromkeys(factors) if not small[node.serial] and not is_unbounded(context, node)]


def check_finite(context: Context, node: Node) -> None:
    context.check(Node("finite", (node,), (), nodes.BOOL))


def _factors(node: Node) -> tuple[Node, ...]:
    """The operands of a product; by an infinite divisor gradients are zero."""
    base = _base(node) if "name" in node.attrs else node.op
    if base in DIVISIONS:
        return node.args[:1]
    return node.args if base in PRODUCTS else ()


def _require(context: Context, value: Node, finite: list[Node]) -> None:
    check_regular(context, value)
    for node in finite:
        check_finite(context, node)


def _known(value: Node) -> set[int]:
    """What is finite if the value is."""
    known, pending = set[int](), [value]
    while pending:
        node = pending.pop()
        if node.serial not in known:
            known.add(node.serial)
            keeps = _base(node) in KEEPING if "name" in node.attrs else node.op in KEEPING_FORMS
            pending += node.args if keeps else ()
    return known


def _may_grow(node: Node, small: dict[int, bool]) -> bool:
    """Whether a factor of a derivative may be infinite, which the result is as well then."""
    if _is_linear_step(node) or singular_operand(node) is not None:
        return False
    level = "name" in node.attrs and (_base(node) in LEVEL or _is_bounded(node))
    return not level and not all(small[arg.serial] for arg in node.args)


def _is_bounded(node: Node) -> bool:
    return _base(node) in BOUNDED and not any(arg.kind.is_complex for arg in node.args)


def _small(origins: list[Origin], *, items: bool = False) -> dict[int, bool]:
    """Which values cannot have overflowed, or are asked to be finite, by serial."""
    found: dict[int, bool] = {}
    large: set[str] = set()
    order = [node for origin in origins for node in operands_first(origin.value)]
    while True:
        found = {}
        for node in order:
            found[node.serial] = _is_small(node, found, large, items=items)
        grown = {origin.name for origin in origins if not found[origin.value.serial]} - large
        if not grown:
            return found
        large |= grown


def _is_small(node: Node, found: dict[int, bool], large: set[str], *, items: bool) -> bool:
    if node.kind.is_number:
        return node.op == "const" or node.kind.family != "float"
    if node.op in ("pack", "items"):
        return items  # of tensors in lists nothing is asked where all lanes take them
    if node.op == "name":
        return node.attrs["text"] not in large
    if singular_operand(node) is not None:
        return True
    if "name" in node.attrs and _is_bounded(node):
        return True
    level = _is_linear_step(node) or ("name" in node.attrs and _base(node) in LEVEL)
    return level and all(found[arg.serial] for arg in node.args)
