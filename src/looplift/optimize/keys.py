"""A node of an array program in, a key out that is equal for nodes of equal values."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

from looplift.base.data import fields_of
from looplift.ir.array import Axis, Node

UNKEYED = ("extents", "bits", "key", "choice", "inputs", "tiles")


def key_of_node(node: Node) -> Any:
    """What a node is made of, its operands by their numbers. Raises TypeError where there is no key."""
    key = _Unnamed({}, {}).key_of(node)
    hash(key)
    return key


# ---------------------------------------------------------------- names of axes do not matter inside


class BoundKeys:
    """Keys of sums and contractions in which the axes that are summed are numbers.

    ``rewritten`` gives the node that stands for all that are equal to one. Shapes of nodes that were met have numbers,
    so that a key is as large as one node, however often its operands are shared.
    """

    def __init__(self, rewritten: Callable[[Node], Node]) -> None:
        self.rewritten = rewritten
        self.shapes: dict[Any, int] = {}

    def key_of(self, node: Node) -> Any:
        """The key of a node that sums over axes, none of them ragged; None for other nodes."""
        if node.op not in ("reduce", "contract") or any(axis.is_ragged for arg in node.args for axis in arg.axes):
            return None
        inside = dict.fromkeys(axis for arg in node.args for axis in arg.axes if axis not in node.axes)
        if not inside:
            return None
        numbers = {axis: number for number, axis in enumerate(inside)}
        ranges = tuple(
            (self.rewritten(axis.extent).serial, self.rewritten(axis.lo).serial, axis.step) for axis in inside
        )
        return (ranges, _Unnamed(self.shapes, numbers).shape_of(node))


class _Unnamed:
    """The numbers of the shapes of nodes, of which some axes have no names."""

    def __init__(self, shapes: dict[Any, int], numbers: dict[Axis, int]) -> None:
        self.shapes, self.numbers = shapes, numbers
        self.done: dict[int, Any] = {}

    def node(self, node: Node) -> Any:
        if not any(axis in self.numbers for axis in node.axes):
            return node.serial
        if node.serial not in self.done:
            self.done[node.serial] = self.shape_of(node)
        return self.done[node.serial]

    def shape_of(self, node: Node) -> Any:
        return ("shape", self.shapes.setdefault(self.key_of(node), len(self.shapes)))

    def key_of(self, node: Node) -> Any:
        args = tuple(map(self.node, node.args))
        attrs = {key: value for key, value in node.attrs.items() if key not in UNKEYED}
        return (node.op, args, self.value(node.axes), node.kind, self.value(attrs))

    def value(self, value: Any) -> Any:
        """What attributes hold, without names of axes."""
        match value:
            case Axis():
                return ("axis", self.numbers[value]) if value in self.numbers else value
            case Node():
                return self.node(value)
            case list() | tuple():
                return tuple(map(self.value, value))
            case dict():
                return tuple(sorted((key, self.value(item)) for key, item in value.items()))
            case Number():
                return (type(value), repr(value))  # 1 is not True, nor 0.0 -0.0
        fields = () if isinstance(value, type) else fields_of(value)
        return (type(value), *(self.value(getattr(value, name)) for name in fields)) if fields else value
