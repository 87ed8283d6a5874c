"""A value whose lanes are handed out, or read, one by one in; what is required so that the others do not show.

A gradient of one lane alone reaches the others as zeros. The loop gives none to tensors of a list of the caller that
it did not take in that iteration: nobody sees that where all of them were made of the same inputs. A factor that is
not finite makes NaN of zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from looplift.ir.array import Node
from looplift.vectorize import nodes
from looplift.vectorize.factors import check_factors, is_linear
from looplift.vectorize.reached import gradient_nodes

if TYPE_CHECKING:
    from looplift.ir.facts import Kind
    from looplift.vectorize.context import Context

READS = ("pack", "items")


def may_ask(context: Context, item: Kind) -> bool:
    """Whether items of a list of the caller may be tensors that ask for gradients."""
    return item.family == "tensor" and context.needs_grad and nodes.may_have_gradient(item.dtype)


def check_asks_for_none(context: Context, read: Node) -> None:
    """Require that no item of a list asks for a gradient, so that nobody sees which lanes take one."""
    (given,) = read.args
    context.check(Node("without_gradients", (given,), (), nodes.BOOL), f"none{nodes.key_of(given)}")
    read.attrs["gradient"] = False


def noted(context: Context, read: Node, items: Any) -> Node:
    """All items of a list as one array, which is remembered, with whether these are inputs by themselves."""
    if context.needs_grad and nodes.may_have_gradient(read.kind.dtype):
        read.attrs["apart"] = len({id(item) for item in items if item.requires_grad and item.is_leaf}) > 1
        context.items_given.append(read)
    return read


def check_any_lane(context: Context, value: Node) -> None:
    """Require that nobody sees which lanes of a value are used: a loop that stays need not use all of them."""
    if context.items_of(value):
        _check_same_inputs(context, context.items_given)


def check(context: Context, value: Node, mask: Node | None = None) -> None:
    """Require that no gradient of one lane shows the others, of which those under the mask are there."""
    _check_inputs(context, value)
    if not _may_show(context, value):
        return
    context.is_parted = True
    check_factors(context, value, finite=mask is None)
    there = value if mask is None else nodes.select(mask, value, nodes.const(0.0), value.kind)
    context.check(Node("finite", (there,), (), nodes.BOOL))


def check_pieces(context: Context, value: Node, pieces: Node) -> None:
    """The same of what a loop over pieces has made, in which ``value`` is of one piece."""
    _check_inputs(context, value)
    if not _may_show(context, value):
        return
    context.is_parted = True
    check_factors(context, pieces, finite=False)
    context.check(Node("finite", (pieces,), (), nodes.BOOL))


def _may_show(context: Context, value: Node) -> bool:
    flows = context.needs_grad and context.library == "torch" and value.kind.is_array
    return flows and bool(value.axes) and nodes.may_have_gradient(value.kind.dtype) and not is_linear(context, value)


def _check_inputs(context: Context, value: Node) -> None:
    """Require of the lists whose items a value is made of that these have the same inputs."""
    made_of = gradient_nodes(value) if context.items_given else []
    reads = [node for node in made_of if node.op in READS]
    if any(node.op in ("name", "history") and node.axes for node in made_of):  # what a loop has made of anything
        reads = context.items_given
    _check_same_inputs(context, reads)


def _check_same_inputs(context: Context, reads: list[Node]) -> None:
    for node in reads:
        (given,) = node.args
        if node.attrs.get("apart"):
            raise context.refuse("carried", f"an item of '{given.hint}' may get no gradient in the loop")
        context.check(Node("same_inputs", (given,), (), nodes.BOOL), f"inputs{nodes.key_of(given)}")
