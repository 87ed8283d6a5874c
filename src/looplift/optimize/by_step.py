"""What the lanes that run a step read in it, in; out, read for all steps at once, those of one after the other.

    h = f(x_flat[first + t] @ w, h)        x_steps = (x_flat[places_of_steps(first, counts)] @ w).split(counts)
                                           h = f(x_steps[t], h)

The lanes that run a step are the first ones, ``counts[t]`` of them. A gradient of what is read in a step is as large as
all that it is read from; of what is split it is a piece.
"""

from __future__ import annotations

from typing import Any

from looplift.base.data import fields_of, replace
from looplift.ir.array import Assign, Axis, Node, Step, operands_of, reachable
from looplift.ir.facts import Kind
from looplift.optimize.narrowing import NAME, PIECES, fresh

READS = frozenset(("gather", "entry"))
OF_READ = frozenset("elementwise where cast retype matmul contract transposed unsqueezed".split())
"""What may be computed for all steps at once, where no operand is from an earlier step."""
INT = Kind("int")


class BySteps:
    """The values of one loop that are made for all of its steps; ``given``: what lanes take along, under names."""

    def __init__(self, axis: Axis, step: str, counts: str, taken: set[str]) -> None:
        self.axis, self.counts, self.taken = axis, counts, taken
        self.count = _name(step, (), INT)
        self.entries = replace(axis)
        self.places: dict[tuple[str, str], Node] = {}
        self.whole: dict[int, Node] = {}

    def of_step(self, node: Node, given: set[str], varies: Any) -> Node:
        """The value as that of one step among those of all; itself where a step has a part in it."""
        whole = self._read(node, given, varies) or self._computed(node, varies)
        if whole is None:
            return node
        made = Node("of_step", (_name("", (), NAME), self.count), node.axes, node.kind, {}, node.hint)
        self.whole[made.serial] = whole
        return made

    def before(self, body: list[Step], serial: int) -> list[Step]:
        """What is made before the loop of what its body reads by step, which gets names."""
        made: list[Step] = []
        for node in reachable([node for step in body for node in operands_of(step)]):
            if node.op == "of_step":
                whole = self.whole[node.serial]
                name = fresh(f"{node.hint if node.hint.isidentifier() else 'value'}_steps", self.taken)
                node.args[0].attrs["text"] = name
                split = Node("split_steps", (whole, _name(self.counts, (), NAME)), (), NAME)
                made.append(Assign(name, split, serial=serial))
        return made

    def _read(self, node: Node, given: set[str], varies: Any) -> Node | None:
        """A read at places that go up or down by one with each step, from what no step changes."""
        if node.op not in READS or node.axes != (self.axis,) or len(node.args) != 2:
            return None
        table, place = node.args
        if varies(table) or table.axes[:1] == (self.axis,) or (first := self._first(place, given)) is None:
            return None
        return self._of_all(node, {place.serial: self._places(*first)})

    def _first(self, place: Node, given: set[str]) -> tuple[str, str] | None:
        """The name of where each lane begins, and the way that it goes on."""
        if place.op != "elementwise" or place.attrs["name"] not in ("add", "sub") or place.kind.family != "int":
            return None
        for first, count in (place.args, place.args[::-1]):
            known = first.op == "name" and first.axes == (self.axis,) and first.attrs["text"] in given
            if known and count.op == "name" and count.attrs["text"] == self.count.attrs["text"]:
                down = place.attrs["name"] == "sub"
                return None if down and first is not place.args[0] else (first.attrs["text"], "-" if down else "+")
        return None

    def _places(self, first: str, way: str) -> Node:
        if (first, way) not in self.places:
            args = (_name(first, (self.axis,), INT), _name(self.counts, (), NAME))
            self.places[first, way] = Node("places_of_steps", args, (self.entries,), INT, {"way": way}, "places")
        return self.places[first, way]

    def _computed(self, node: Node, varies: Any) -> Node | None:
        """What is made of values of the step, and of what all lanes and steps share."""
        if node.op not in OF_READ or node.axes[:1] != (self.axis,) or any(key in node.attrs for key in PIECES):
            return None
        known = {arg.serial: self.whole[arg.serial] for arg in node.args if arg.serial in self.whole}
        others = [arg for arg in node.args if arg.serial not in known]
        if not known or any(self.axis in arg.axes or varies(arg) for arg in others):
            return None
        return self._of_all(node, known)

    def _of_all(self, node: Node, known: dict[int, Node]) -> Node:
        """The node on the entries of all steps."""
        args = tuple(known.get(arg.serial, arg) for arg in node.args)
        axes = (self.entries, *node.axes[1:])
        attrs = {key: _renewed(value, known) if key in PIECES else value for key, value in node.attrs.items()}
        return replace(node, args=args, axes=axes, attrs=attrs | ({"spare": False} if node.op == "entry" else {}))


def _name(text: str, axes: tuple[Axis, ...], kind: Kind) -> Node:
    return Node("name", (), axes, kind, {"text": text, "local": True}, text)


def _renewed(value: Any, known: dict[int, Node]) -> Any:
    """The pieces of a subscript, with other operands."""
    if isinstance(value, Node):
        return known.get(value.serial, value)
    if isinstance(value, list | tuple):
        return type(value)(_renewed(item, known) for item in value)
    inner = {name: getattr(value, name) for name in fields_of(value)}
    changed = {name: known[one.serial] for name, one in inner.items() if isinstance(one, Node) and one.serial in known}
    return replace(value, **changed) if changed else value
