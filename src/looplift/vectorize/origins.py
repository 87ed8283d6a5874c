"""A value in; out: all values that its gradients reach, also those that loops that stay have assigned and stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from looplift.ir.array import Assign, Node, Push, Step, Write, every_place
from looplift.vectorize.reached import gradient_nodes

if TYPE_CHECKING:
    from looplift.vectorize.context import Context

Place = tuple[list[Step], Step]


class Origin(NamedTuple):
    """One value, the name that it is given, and the step that does so among others; none where no step has it yet."""

    value: Node
    name: str = ""
    place: Place | None = None


def origins_of(context: Context, value: Node) -> list[Origin]:
    """The value, and those of the names that it is made of."""
    found, known, pending = [Origin(value)], set[str](), [value]
    writers: dict[str, list[Origin]] | None = None
    while pending:
        for node in gradient_nodes(pending.pop()):
            name = node.attrs["text"] if node.op == "name" else ""
            if not name or name in known:
                continue
            known.add(name)
            writers = _writers(context) if writers is None else writers
            found += writers.get(name, ())
            pending += [origin.value for origin in writers.get(name, ())]
    return found


def _writers(context: Context) -> dict[str, list[Origin]]:
    """What is assigned to each name, or stored there."""
    found: dict[str, list[Origin]] = {}
    for steps in context.steps:
        for place in every_place(steps):
            for name, value in _written(place[1]):
                found.setdefault(name, []).append(Origin(value, name, place))
    return found


def _written(step: Step) -> list[tuple[str, Node]]:
    match step:
        case Assign(name=name, node=node) if "," in name:
            return list(zip(name.split(","), node.args, strict=True))
        case Assign(name=name, node=node) | Push(name=name, node=node):
            return [(name, node)]
        case Write(array=name, operands=(value, *_)):
            return [(name, value)]
    return []
