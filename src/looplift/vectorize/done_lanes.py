"""What lanes compute on with when they are done, in a loop that stays, in; what is required of it for gradients, out.

while e < 1e20: e = e * e * w       e * e of a lane that is done is infinite, and the gradient of zero that it has NaN

A lane that is done keeps its values. So a factor that is made of them alone, and of what is as it was before the loop,
is what it was in each of its later iterations also after the loop, where it is looked at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from looplift.ir.array import Node, attributes_with, reachable
from looplift.vectorize.factors import check_finite, large_factors
from looplift.vectorize.nodes import may_have_gradient
from looplift.vectorize.origins import Origin

if TYPE_CHECKING:
    from looplift.vectorize.context import Context


def check_iteration(context: Context, finals: list[tuple[Node, Node]]) -> list[Node]:
    """Require of each iteration that no factor has overflowed; ``finals`` are the next values, and their names inside.

    Returns the factors that are to be looked at after the loop.
    """
    if not (context.needs_grad and context.library == "torch"):
        return []
    origins = [Origin(last, inside.attrs["text"]) for last, inside in finals if may_have_gradient(inside.kind.dtype)]
    kept = {inside.serial for _, inside in finals}
    later: list[Node] = []
    for factor in large_factors(context, origins, items=True):
        if _stays(factor, kept):
            later.append(factor)
        else:
            check_finite(context, factor)
    return later


def check_kept(context: Context, factors: list[Node]) -> None:
    """Require the same of factors that are made of what lanes keep, after the loop."""
    made: dict[int, Node] = {}
    for factor in factors:
        check_finite(context, _anew(factor, made))


def _stays(factor: Node, kept: set[int]) -> bool:
    """Whether a value is made of what is carried, and of what no iteration changes."""
    for node in reachable([factor]):
        moves = node.attrs.get("local") or node.attrs.get("memory") or node.op == "history"
        if moves and node.serial not in kept:
            return False
    return True


def _anew(factor: Node, made: dict[int, Node]) -> Node:
    """The same of the names as they are now."""
    for node in reachable([factor]):
        if node.serial not in made:
            args = tuple(made[arg.serial] for arg in node.args)
            made[node.serial] = Node(node.op, args, node.axes, node.kind, attributes_with(node.attrs, made), node.hint)
    return made[factor.serial]
