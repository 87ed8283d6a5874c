"""Source text of running extremes with the gradients of their steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from looplift.emit.ragged import in_order, owners_text
from looplift.emit.spelling import ATOM
from looplift.emit.text import Text, atom, full
from looplift.ir.array import Axis, Node

if TYPE_CHECKING:
    from looplift.emit.source import Printer

HOW = {"maximum": "amax", "minimum": "amin"}


def extreme_text(p: Printer, node: Node) -> Text:
    """``torch.maximum`` of the first operand and each value along an axis, one after the other."""
    init, value, *masks = node.args
    axis: Axis = node.attrs["axis"]
    lanes = [*axis.parents, *(one for one in value.axes if one is not axis)]
    given = [_begun(p, init, node, lanes), _first(p.text(value).at(ATOM), value, axis)]
    given.append(f'"{HOW[node.attrs["operator"]]}"')
    if axis.is_ragged:
        given.append(f"owners={owners_text(p, axis)}")
    if masks:
        text = full(p, masks[0], value.axes)
        text = f"{text}[...{', None' * value.kind.rank}]" if value.kind.rank else text
        given.append(f"taken={_first(text, value, axis)}")
    p.need("running_extreme")
    text = f"running_extreme({', '.join(given)})"
    if len(axis.parents) > 1:
        text = f"{text}.unflatten(0, ({', '.join(p.extent(one) for one in axis.parents)}))"
    order = [lanes.index(one) for one in node.axes]
    return atom(in_order(p, text, order + _of_items(node, len(lanes))))


def _begun(p: Printer, init: Node, node: Node, lanes: list[Axis]) -> str:
    """What the steps begin with, in the order of the lanes, those of a ragged loop in one dimension."""
    order = [node.axes.index(one) for one in lanes]
    text = in_order(p, full(p, init, node.axes), order + _of_items(node, len(lanes)))
    parents = len(node.attrs["axis"].parents)
    return f"{text}.flatten(0, {parents - 1})" if parents > 1 else text


def _first(text: str, value: Node, axis: Axis) -> str:
    position = value.axes.index(axis)
    return f"{text}.movedim({position}, 0)" if position else text


def _of_items(node: Node, first: int) -> list[int]:
    return list(range(first, first + node.kind.rank))


RENDERERS: dict[str, Callable[[Printer, Node], Text]] = {"extreme_in_order": extreme_text}
