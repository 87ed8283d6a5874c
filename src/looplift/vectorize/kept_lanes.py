"""The next value of what lanes carry in, the same for lanes that go on and the old value for the others out."""

from __future__ import annotations

from looplift.ir.array import Node
from looplift.vectorize import nodes
from looplift.vectorize.context import Context
from looplift.vectorize.reached import leaves


class KeptLanes:
    """In one iteration: where lanes are active, and where they are so under other conditions, each computed once."""

    def __init__(self, context: Context, active: Node, pairs: list[tuple[Node, Node]]) -> None:
        self.context, self.active = context, active
        self.under: dict[int, Node] = {}
        self.unless: dict[int, Node] = {}
        wheres = [(_bare(last), inside) for last, inside in pairs if _bare(last).op == "where"]
        leaving = [last.args[0].serial for last, inside in wheres if last.args[1] is inside]
        self.shared = {cond for cond in leaving if leaving.count(cond) > 1}
        self.taking: list[Node] = []
        """New values of which lanes that are never active do not have the items of a list that others have."""

    def value(self, last: Node, inside: Node) -> Node:
        """The new value of lanes that are active, the old one of the others, of which there may be none."""
        if inside.kind.family == "bool" and (made := self._raised(last, inside)) is not None:
            return made
        grows = self.context.needs_grad and inside.kind.is_array
        if not grows and (made := self._chosen(last, inside)) is not None:
            return made
        found = _where(self.active, last, inside)
        if self.context.items_of(last) - self.context.items_of(inside):
            self.taking.append(last)
        if not grows or leaves(inside) <= leaves(last, surely=True):
            return found
        others = Node("some", (nodes.negated(self.active),), (), nodes.BOOL)
        return nodes.select(others, found, last, inside.kind)

    def _also(self, cond: Node) -> Node:
        if cond.serial not in self.under:
            self.under[cond.serial] = nodes.both(self.active, cond)
        return self.under[cond.serial]

    def _chosen(self, last: Node, inside: Node) -> Node | None:
        """``active ? (c ? x : old) : old`` is ``active & c ? x : old``, and the same with ``~c``."""
        last = _bare(last)
        if last.op != "where" or not last.args[0].axes:
            return None
        cond, then, orelse = last.args
        if orelse is inside:
            return _where(self._also(cond), then, inside)
        if then is inside and cond.serial in self.shared:
            if cond.serial not in self.unless:
                self.unless[cond.serial] = nodes.both(self.active, nodes.negated(cond))
            return _where(self.unless[cond.serial], orelse, inside)
        return None

    def _raised(self, last: Node, inside: Node) -> Node | None:
        """``active ? (c | old) : old`` is ``old | (active & c)``."""
        parts = _parts(last)
        others = [part for part in parts if part is not inside]
        if len(others) == len(parts) or not others or not all(part.axes for part in others):
            return None
        cond = others[0]
        for part in others[1:]:
            cond = nodes.elementwise("or_", [cond, part], nodes.BOOL)
        return nodes.elementwise("or_", [inside, self._also(cond)], nodes.BOOL)


def _where(mask: Node, value: Node, inside: Node) -> Node:
    """The value where a mask holds; ``m ? n + 1 : n`` is ``n + m``."""
    if inside.kind.family == "int" and value.op == "elementwise" and value.attrs["name"] in ("add", "inplace.add"):
        for count, one in (value.args, value.args[::-1]):
            if count is inside and nodes.is_const(one, 1) and set(mask.axes) <= set(inside.axes):
                return Node("elementwise", (inside, mask), inside.axes, inside.kind, {**value.attrs, "name": "add"})
    return nodes.select(mask, value, inside, inside.kind)


def _bare(last: Node) -> Node:
    """The value itself, of which a choice makes new memory anyway."""
    return last.args[0] if last.op == "owned" else last


def _parts(mask: Node) -> list[Node]:
    """The conditions of which one holds at least where a mask does."""
    if mask.op == "elementwise" and mask.attrs["name"] == "or_":
        return [part for arg in mask.args for part in _parts(arg)]
    if mask.op == "where" and mask.args[1].op == "const" and mask.args[1].attrs["value"] is True:
        return [*_parts(mask.args[0]), *_parts(mask.args[2])]
    return [mask]
