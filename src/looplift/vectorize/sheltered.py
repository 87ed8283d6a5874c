"""A value of which only the lanes of a mask are taken, in; the same, without what makes NaN of zero in other lanes.

d = torch.sqrt(x[i])              where(x > 0, torch.sqrt(where(x > 0, x, 1)), 0)
if x[i] > 0: total = total + d

What the loop does not take has no gradient; in batched code it has one of zero, which a factor that is not finite, as
that of a root at zero, would make NaN.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from looplift.ir.array import Node, merge_axes, reachable
from looplift.ir.facts import Kind
from looplift.ir.grammar import Op, Var, operands
from looplift.ops import table
from looplift.ops.names import said
from looplift.ops.slopes import FLAT, ROOTS, SMOOTH
from looplift.vectorize import doubts, nodes, unbounded
from looplift.vectorize.nodes import Val

if TYPE_CHECKING:
    from looplift.vectorize.context import Context

SINGULAR_MAPS = frozenset(
    """cosine_similarity cosine_embedding_loss pairwise_distance triplet_margin_loss normalize dist""".split()
)
"""Operations that run through ``torch.vmap``, with singular points at which the gradient of their gradient is NaN."""

REGULAR_MATRICES = {
    "inv": 0, "inverse": 0, "det": 0, "logdet": 0, "slogdet": 0, "cholesky": 0, "cholesky_inverse": 0, "solve": 0,
    "solve_triangular": 0, "cholesky_solve": 1,
}  # fmt: skip
"""Functions of a matrix that must be regular, with its place: the identity is safe."""

TRANSPARENT = frozenset(
    "elementwise fold where retype cast relabel along_dim unsqueezed transposed spread join".split()
)
SUMS = frozenset("contract matmul reduce".split())


def sheltered(context: Context, value: Node, mask: Node) -> Node:
    """The value, with safe operands for operations with singular points where the mask does not hold."""
    if not (context.needs_grad and context.library == "torch" and mask.axes):
        return value
    from looplift.vectorize.factors import check_products

    made = _Shelter(context, mask).rebuilt(value)
    check_products(context, made)
    return made


class _Shelter:
    """One mask, and what was rebuilt under it."""

    def __init__(self, context: Context, mask: Node) -> None:
        self.context, self.mask = context, mask
        self.parts = doubts.parts_of(mask)
        self.made: dict[int, Node] = {}

    def rebuilt(self, node: Node) -> Node:
        if node.op == "vmapped" and _may_differ(node) and self._fits(node) and set(node.axes) & set(self.mask.axes):
            return self._mapped(node)
        if not _may_differ(node):
            return node
        if not self._sees_through(node) or not self._fits(node):
            check_regular_everywhere(self.context, node)
            return node
        if node.serial not in self.made:
            self.made[node.serial] = self._rebuilt(node)
        return self.made[node.serial]

    def _rebuilt(self, node: Node) -> Node:
        args = [self.rebuilt(arg) for arg in node.args]
        if node.op == "where" and self._holds_in(node.args[0]):
            args[1] = node.args[1]
        if (found := singular_operand(node, FLAT)) is not None:
            args[found[0]] = self._safe(args[found[0]], found[1])
        for position in unbounded.unsafe_operands(self.context, node, args):
            args[position] = self._safe(args[position], 0.0)
        if all(new is old for new, old in zip(args, node.args, strict=True)):
            return node
        axes = merge_axes(node.axes, *(arg.axes for arg in args))
        return Node(node.op, tuple(args), axes, node.kind, dict(node.attrs), node.hint)

    def _sees_through(self, node: Node) -> bool:
        """Whether safe operands may be put into a node: into products and sums only where no lanes are made for it."""
        if node.op in TRANSPARENT:
            return True
        if node.op not in SUMS:
            return False
        changing = [arg for arg in node.args if unbounded.is_unbounded(self.context, arg)]
        return bool(changing) and all(set(self.mask.axes) <= set(arg.axes) for arg in changing)

    def _mapped(self, node: Node) -> Node:
        """What runs through ``torch.vmap``, of operands that are safe where the mask does not hold."""
        if node.serial not in self.made:
            args = self.operands(node.attrs["name"], list(node.args))
            axes = merge_axes(node.axes, *(arg.axes for arg in args))
            self.made[node.serial] = Node(node.op, tuple(args), axes, node.kind, dict(node.attrs), node.hint)
        return self.made[node.serial]

    def operands(self, name: str, args: list[Node]) -> list[Node]:
        """Those of a function that runs through ``torch.vmap``; refused where none are known that are safe."""
        base, places = table.base_name(name), [k for k, arg in enumerate(args) if _may_differ(arg)]
        matrix = REGULAR_MATRICES.get(base)
        if matrix is not None and all(arg.kind.rank == 2 for arg in args if arg.kind.is_array):
            return [self._regular(arg) if place == matrix else arg for place, arg in enumerate(args)]
        if places and base not in table.SMOOTH | SINGULAR_MAPS:
            text = f"'{said(name)}' in some iterations has no batched rule with gradients"
            raise self.context.refuse("unknown-op", text)
        unsafe = places if base in SINGULAR_MAPS else []
        return [self._safe(arg, place + 1.0) if place in unsafe else arg for place, arg in enumerate(args)]

    def _safe(self, operand: Node, safe: float) -> Node:
        return self._chosen(operand, nodes.const(safe))

    def _regular(self, matrix: Node) -> Node:
        return self._chosen(matrix, Node("identity", (matrix,), (), matrix.kind))

    def _chosen(self, operand: Node, safe: Node) -> Node:
        if operand.attrs.get("safe") and self._holds_in(operand.args[0]):
            return operand
        if not set(operand.axes) & set(self.mask.axes):
            return operand  # it is the same in the lanes that are taken
        return unbounded.chosen(self.mask, operand, safe)

    def _holds_in(self, mask: Node) -> bool:
        """Whether another mask holds only where this one does."""
        return self.parts <= doubts.parts_of(mask)

    def _fits(self, node: Node) -> bool:
        """Whether the mask can be applied to a node without another loop's lanes being made for it."""
        ragged = any(axis.is_ragged for axis in (*node.axes, *self.mask.axes))
        return not ragged or set(self.mask.axes) <= set(node.axes)


def operands_in_lanes(context: Context, op: Op, kind: Kind) -> dict[Var, Val]:
    """What operands are for an operation that only some lanes run, where they may be infinite in others."""
    mask = context.mask
    if mask is None or not mask.axes or not context.needs_grad or context.library != "torch":
        return {}
    if unbounded.passes(op.name) or not (kind.family == "tuple" or unbounded.is_float(kind)):
        return {}
    found: dict[Var, Val] = {}
    for atom in operands(op):
        if isinstance(atom, Var) and unbounded.is_float(context.facts.kind(atom)):
            val = context.lookup(atom)
            if val.sequence is None and val.dims is None and unbounded.is_unbounded(context, val.node):
                safe = sheltered(context, val.node, mask)
                found[atom] = Val(
                    unbounded.chosen(mask, safe, nodes.const(0.0)) if unbounded.is_unbounded(context, safe) else safe
                )
    return found


def safe_operands(context: Context, name: str, args: list[Node]) -> list[Node]:
    """The operands of what runs through ``torch.vmap``, safe in lanes that do not run."""
    if context.mask is None or not context.needs_grad:
        return args
    return _Shelter(context, context.mask).operands(name, args)


def _may_differ(node: Node) -> bool:
    return bool(node.axes) and node.kind.is_array and nodes.may_have_gradient(node.kind.dtype)


def check_regular(context: Context, value: Node) -> None:
    """Require that no gradient of zero becomes NaN in a value of which only some lanes are taken, not known before."""
    if not (context.needs_grad and context.library == "torch"):
        return
    for node in reachable([value]):
        if not _may_differ(node):
            continue
        for position in unbounded.unsafe_operands(context, node):
            context.check(Node("finite", (node.args[position],), (), nodes.BOOL))
        if (found := singular_operand(node)) is None:
            continue
        base, operand = table.base_name(node.attrs["name"]), node.args[found[0]]
        context.check(Node("finite", (node,), (), nodes.BOOL))
        if base in ("asin", "acos", "arcsin", "arccos"):
            size = nodes.elementwise("torch.abs", [operand], operand.kind)
            context.check(nodes.compare("lt", size, nodes.const(1.0)))
        elif base in ROOTS:
            context.check(nodes.compare("ne", node, nodes.const(0.0)))


def check_regular_everywhere(context: Context, value: Node) -> None:
    """The same in the lanes, too, in which the statement at hand does not run."""
    with context.unmasked():
        check_regular(context, value)


def singular_operand(node: Node, regular: Collection[str] = SMOOTH) -> tuple[int, float] | None:
    """The position of the operand that has singular points, and what is safe there; None where there are none, and of
    ``regular`` operations."""
    if node.op not in ("elementwise", "fold") or node.attrs.get("regular"):
        return None
    base = table.base_name(node.attrs["name"])
    found = table.singular(base, is_complex=any(arg.kind.is_complex for arg in node.args))
    if found is None or base in regular or found[1] is None or found[0] >= len(node.args):
        return None
    position, safe = found
    operand = node.args[position]
    if operand.op == "const" or unbounded.is_whole_power(base, list(node.args)):
        return None
    return position, safe
