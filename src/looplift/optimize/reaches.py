"""Array programs in; out, with axes of which all lanes see but the first places only as long as these.

    mask = arange(n) <= first[:, None]          places = places_reached(first, n, 1)
    where(mask, f(x), 0.0).sum(1)               mask = arange(places) <= first[:, None]
                                                where(mask, f(x[:, :places]), 0.0).sum(1)

What follows a search does nothing in the iterations behind the one that ended it. Where all that leaves the axis holds
for none of the places behind a lane's last one, nobody sees what is there, and none need be more than the farthest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from looplift.base.data import fields_of
from looplift.ir.array import (
    Axis,
    Check,
    Effect,
    For,
    Forever,
    Node,
    Program,
    Step,
    ancestors,
    axis_nodes,
    every_step,
    nodes_of,
    operands_of,
)
from looplift.ir.facts import Kind

PLACE_BY_PLACE = frozenset(
    "index elementwise where cast retype relabel spread unsqueezed slice gather entry fold running_sum shift".split()
)
"""What at one place of an axis depends on nothing behind it."""
KEEPING = frozenset("cast retype relabel spread".split())
NOTHING = {"add": 0, "mul": 1, "or": False, "and": True}
"""What folds do not notice."""
COMPARED = {"le": 1, "lt": 0}
TURNED = {"ge": "le", "gt": "lt"}
COUNTS = ("sum", "count_nonzero")


def shortened(program: Program) -> Program:
    """The same program, with axes that end where no lane looks any further."""
    if program.library != "torch":
        return program
    for axis in _candidates(nodes_of(program)):
        nodes = nodes_of(program)
        for bound, more in _bounds(axis, nodes):
            reach = _Reach(program, nodes, axis, bound, more)
            if reach.is_all():
                reach.shorten()
                break
    return program


def _candidates(nodes: list[Node]) -> list[Axis]:
    """Axes that count from 0 as far as a size tells."""
    axes = dict.fromkeys(axis for node in nodes for axis in node.axes)
    return [
        axis for axis in axes
        if not axis.is_ragged and axis.below is None and axis.step == 1 and axis.extent.op != "const"
        and axis.lo.op == "const" and axis.lo.attrs["value"] == 0
    ]  # fmt: skip


def _bounds(axis: Axis, nodes: list[Node]) -> dict[tuple[Node, int], None]:
    """The integers of lanes that positions are compared with, and how many places more than these hold."""
    found = (_bound_of(node, axis) for node in nodes)
    return dict.fromkeys(pair for pair in found if pair is not None)


def _bound_of(mask: Node, axis: Axis) -> tuple[Node, int] | None:
    """What a mask holds up to; None for another value."""
    if mask.op != "elementwise" or len(mask.args) != 2:
        return None
    name: str = mask.attrs["name"]
    place, bound = mask.args if name in COMPARED else mask.args[::-1]
    more = COMPARED.get(TURNED.get(name, name))
    counts = place.op == "index" and place.attrs["axis"] is axis
    whole = bound.kind.family == "int" and bool(bound.axes) and axis not in bound.axes
    return (bound, more) if counts and whole and more is not None and not _is_ragged(bound) else None


def _is_ragged(node: Node) -> bool:
    return any(axis.is_ragged for axis in node.axes)


class _Reach:
    """An axis, and the places of each lane that are up to a bound, of which there is one more with ``more``."""

    def __init__(self, program: Program, nodes: list[Node], axis: Axis, bound: Node, more: int) -> None:
        self.program, self.nodes, self.axis, self.bound, self.more = program, nodes, axis, bound, more
        self.known: dict[int, Any] = {}
        self.users: dict[int, list[Node]] = {}
        for node in nodes:
            for arg in node.args:
                self.users.setdefault(arg.serial, []).append(node)

    # ------------------------------------------------------------ whether anything is seen behind the bound

    def is_all(self) -> bool:
        """Whether nothing else is seen of the axis."""
        axes = {axis for node in self.nodes for axis in node.axes}
        if any(self.axis in ancestors(one) for one in axes):
            return False
        self.members = {one.members.serial for one in axes if one.members is not None}
        self.outside = {node.serial for step in every_step(self.program.steps) for node in _own_operands(step)}
        self.outside |= {node.serial for _, node in self.program.results}
        self.outside |= {part.serial for one in axes for part in axis_nodes(one) if part is not one.members}
        return all(map(self.is_bounded, self.nodes)) and all(map(self.may_stay, every_step(self.program.steps)))

    def is_bounded(self, node: Node) -> bool:
        """Whether a value shows nothing of what is behind the bound."""
        if self.axis in node.axes:
            return node.op in PLACE_BY_PLACE
        if not any(self.axis in arg.axes for arg in node.args):
            return not self.mentions(list(node.attrs.values()))
        match node.op:
            case "reduce":
                return self.is_nothing(node.args[0], node.attrs["operator"])
            case "some":
                return self.is_nothing(node.args[0], "or")
            case "first_true":
                return self.is_nothing(node.args[0], "or") and self.axis not in node.args[1].axes
            case "last":
                return self.is_total(node.args[0])
            case "collect":
                return self.is_picked(node)
        return False

    def is_nothing(self, value: Node, operator: str) -> bool:
        """Whether a fold does not notice what is behind the bound."""
        known = self.behind(value)
        return operator in NOTHING and self.axis in value.axes and known is not None and known == NOTHING[operator]

    def is_total(self, value: Node) -> bool:
        """Whether what is last along the axis is a sum to which nothing is added behind the bound."""
        summed = value.op == "running_sum" and value.attrs["axis"] is self.axis
        return summed and self.is_nothing(value.args[0], "add")

    def is_picked(self, made: Node) -> bool:
        """Whether of an array with a dimension for the axis nothing is read, or counted, behind the bound."""
        if tuple(made.attrs["inside"]) != (self.axis,) or len(made.args) != 1:
            return False
        if made.serial in self.outside:
            return False
        users = self.users.get(made.serial, [])
        if self.is_nothing(made.args[0], "or"):
            return all(map(_counts, users))
        return made.serial not in self.members and all(self.picks(user, made) for user in users)

    def picks(self, user: Node, made: Node) -> bool:
        """Whether a value is an item of an array at each place where a mask holds that ends at the bound."""
        if user.op != "gather" or len(user.args) != 2 or user.args[0] is not made or user.args[1].op != "member":
            return False
        (mask,) = user.args[1].args
        own = mask.op == "collect" and tuple(mask.attrs["inside"]) == (self.axis,) and len(mask.args) == 1
        pieces = [type(piece).__name__ for piece in user.attrs["pieces"]]
        return own and pieces[0] == "Gather" and set(pieces[1:]) <= {"Whole"} and self.is_nothing(mask.args[0], "or")

    def behind(self, node: Node) -> Any:
        """The number that a value is at all places behind the bound; None where that is not known."""
        if node.serial not in self.known:
            self.known[node.serial] = self._behind(node)
        return self.known[node.serial]

    def _behind(self, node: Node) -> Any:
        if _bound_of(node, self.axis) == (self.bound, self.more):
            return False
        match node.op:
            case "const":
                return node.attrs["value"] if type(node.attrs["value"]) in (bool, int, float) else None
            case "where":
                taken = self.behind(node.args[0])
                return None if taken is None else self.behind(node.args[1 if taken else 2])
            case "elementwise":
                return self._of_masks(node)
        return self.behind(node.args[0]) if node.op in KEEPING and len(node.args) == 1 else None

    def _of_masks(self, node: Node) -> bool | None:
        if "bool" not in (node.kind.family, str(node.kind.dtype).rpartition(".")[2]):
            return None
        known = [self.behind(arg) for arg in node.args]
        match node.attrs["name"]:
            case "and_":
                return False if False in known else None
            case "or_":
                return True if True in known else None
            case "not" | "invert":
                return None if known[0] is None else not known[0]
        return None

    def may_stay(self, step: Step) -> bool:
        """Whether a step that speaks of the axis is a check, of which nothing is asked behind the bound."""
        if isinstance(step, Effect) and step.axis is self.axis:
            return False
        if isinstance(step, Check) and self.axis in step.cond.axes:
            return self.is_nothing(step.cond, "and")
        return not any(self.axis in node.axes for node in _own_operands(step))

    def mentions(self, value: Any) -> bool:
        """Whether an attribute speaks of the axis."""
        if isinstance(value, list | tuple | set | frozenset):
            return any(map(self.mentions, value))
        if isinstance(value, dict):
            return any(map(self.mentions, (*value.keys(), *value.values())))
        if isinstance(value, Node | Axis | type):
            return value is self.axis
        return any(getattr(value, name) is self.axis for name in fields_of(value))

    # ------------------------------------------------------------ the axis as long as that

    def shorten(self) -> None:
        extent = Node("reach", (self.bound, self.axis.extent), (), Kind("int"), {"more": self.more}, "places")
        for node in self.nodes:
            if node.op == "collect" and tuple(node.attrs["inside"]) == (self.axis,):
                node.attrs["extents"] = [extent, *node.attrs["extents"][1:]]
        self.axis.extent = extent


def _counts(user: Node) -> bool:
    """Whether a value is how many items of a mask hold, or where they are."""
    return user.op == "member" or (user.op == "fold" and user.attrs["name"] in COUNTS and len(user.args) == 1)


def _own_operands(step: Step) -> Iterator[Node]:
    """The operands of a step, without those of steps inside of it."""
    match step:
        case For(bounds=bounds):
            yield from bounds
        case Forever():
            return
        case _ if hasattr(step, "then"):
            yield step.cond  # type: ignore[union-attr]
        case _:
            yield from operands_of(step)
