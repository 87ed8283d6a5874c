"""An array program through which gradients flow in; the same with copies of the numbers that autograd keeps, out.

for j in range(len(m)):                        torch.where(m.clone(), x.sin(), x)
    y.append(x[j].sin() if m[j] else x[j])

The loop reads Python's numbers out of masks, indices and weights, and its graph keeps nothing of these tensors, which
may change in place before the backward pass. Batched code hands the tensors to operations that keep them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from looplift.emit.arrays import VIEWS
from looplift.emit.hoisted import memory_of, memory_of_assigned
from looplift.ir.array import Node, Program, Write, attributes_with, every_step, leaves_of, nodes_of
from looplift.ops.table import base_name

KEEPING_NOTHING = VIEWS | {"cast", "display", "tiles"}
"""Nodes that give elements as they are; a backward pass keeps their sizes alone, as it does of ``SUMS``."""
SUMS = ("add", "sub")
OF_PARAMETERS = ("module", "cell", "custom")


def keep_own_numbers(program: Program) -> None:
    """Put copies in front of what a backward pass keeps of tensors that others see, or that change."""
    if program.gradients and program.library == "torch":
        _Copies(program).put()


class _Copies:
    def __init__(self, program: Program) -> None:
        self.nodes, self.steps = nodes_of(program), list(every_step(program.steps))
        self.memory = memory_of_assigned(self.steps)
        self.assigned = {*self.memory}
        self.handed = {one.serial for _, node in program.results for leaf in leaves_of(node) for one in _shown(leaf)}
        self.steady: dict[int, Node] = {}

    def put(self) -> None:
        asking = _asking(self.nodes)
        for node in self.nodes:
            if node.serial in asking and node.op not in KEEPING_NOTHING and not _is_sum(node):
                done = self._copies(node.args, node.serial, node.time)
                node.args, node.attrs = _with(node.args, done), attributes_with(node.attrs, done)
        for step in self.steps:
            if isinstance(step, Write) and _may_ask(step.node):
                done = self._copies(step.operands[1:], step.serial, step.serial)
                step.operands, step.render = _with(step.operands, done), attributes_with(step.render, done)

    def _copies(self, operands: Iterable[Node], before: int, time: int) -> dict[int, Node]:
        """What stands for operands that are read for their numbers, in front of the step or node of a serial, which
        reads them at a time."""
        seen = [one for one in operands if one.axes and _is_read_for_numbers(one) and self._is_seen(one)]
        return {one.serial: self._own(one, before - place, time - place) for place, one in enumerate(seen, 1)}

    def _is_seen(self, value: Node) -> bool:
        """Whether a value shows memory of the caller, of an array that is written to, or of a result."""
        return any(_is_given(one) or one.serial in self.handed or self._is_written(one) for one in _shown(value))

    def _is_written(self, node: Node) -> bool:
        return node.serial in self.assigned or bool(node.attrs.get("memory"))

    def _own(self, value: Node, serial: int, time: int) -> Node:
        """A copy of what is written to, as it is in front of its reader; of the rest one that no loop changes."""
        if any(map(self._is_written, _shown(value))):
            return _copy(value, serial, time)
        if value.serial not in self.steady:
            self.steady[value.serial] = self._of_steady(value)
        return self.steady[value.serial]

    def _of_steady(self, value: Node) -> Node:
        varies = bool(memory_of(value, self.memory))
        if not (varies or value.op == "retype") or not _is_view(value):
            return _copy(value, value.serial + 1, value.time + 1)
        base, *rest = value.args
        own = self._own(base, 0, 0)
        attrs = attributes_with(value.attrs, {base.serial: own})
        serial, time = value.serial + 2, value.time + 2
        return Node(value.op, (own, *rest), value.axes, value.kind, attrs, value.hint, serial, time)


def _asking(nodes: list[Node]) -> set[int]:
    """The values that may ask for gradients."""
    users: dict[int, list[Node]] = {}
    for node in nodes:
        for arg in node.args:
            users.setdefault(arg.serial, []).append(node)
    pending = [node for node in nodes if _begins_to_ask(node)]
    found = {node.serial for node in pending}
    while pending:
        for user in users.get(pending.pop().serial, ()):
            if user.serial not in found and _may_ask(user):
                found.add(user.serial)
                pending.append(user)
    return found


def _begins_to_ask(node: Node) -> bool:
    if node.op in ("name", "derived"):
        return _may_ask(node) and (node.attrs.get("gradient") is not False or bool(node.attrs.get("memory")))
    return node.op in OF_PARAMETERS and _may_ask(node)


def _may_ask(node: Node) -> bool:
    kind = node.kind
    if kind.is_number or (node.op == "method" and node.attrs["name"] == "detach"):
        return False
    return not kind.is_array or kind.dtype.is_floating_point or kind.dtype.is_complex


def _is_sum(node: Node) -> bool:
    return node.op == "elementwise" and base_name(node.attrs["name"]) in SUMS and "product" not in node.attrs


def _is_read_for_numbers(value: Node) -> bool:
    """Whether the loop has a number in each lane of a value, or takes its element for one."""
    if any(one.kind.is_number for one in _shown(value)):
        return True
    return value.kind.is_array and not value.kind.rank and not _may_ask(value)


def _is_given(node: Node) -> bool:
    """Whether a node is a tensor of the caller."""
    return node.op in ("name", "derived") and node.kind.family == "tensor" and not node.attrs.get("local")


def _shown(value: Node) -> Iterator[Node]:
    """A value, and those in whose memory it is."""
    yield value
    while _is_view(value):
        value = value.args[0]
        yield value


def _is_view(node: Node) -> bool:
    if node.op == "method":
        return node.attrs["name"] not in ("clone", "copy")
    return bool(node.args) and node.op in VIEWS


def _copy(value: Node, serial: int, time: int) -> Node:
    attrs = {"name": "clone", "extents": None}
    return Node("method", (value,), value.axes, value.kind, attrs, value.hint, serial, time)


def _with(operands: tuple[Node, ...], done: dict[int, Node]) -> tuple[Node, ...]:
    return tuple(done.get(operand.serial, operand) for operand in operands)
