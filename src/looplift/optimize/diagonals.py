"""Choices between values by ``i == j``: the other values are computed on the diagonal alone, and put there.

where(i == j, f(a_i, b_j), g_ij)        g, with f(a_i, b_i) on its diagonal
"""

from __future__ import annotations

from looplift.ir.array import Axis, Node, Program, merge_axes, operands_of, reachable

MAPPED = ("elementwise", "where", "cast", "retype")
MOST = 60
"""So many nodes may be made anew for a diagonal."""


def has_diagonals(program: Program) -> bool:
    """Whether there is such a choice."""
    if program.library != "torch":
        return False
    roots = [n for step in program.steps for n in operands_of(step)] + [node for _, node in program.results]
    return any(_pair(node) is not None for node in reachable(roots))


def _pair(node: Node) -> tuple[Axis, Axis, Node, Node] | None:
    """The two axes, what is on the diagonal and what is beside it."""
    if node.op != "where" or len(node.args) != 3 or node.kind.family != "tensor":
        return None
    mask, then, orelse = node.args
    name = mask.attrs.get("name") if mask.op == "elementwise" else None
    if name not in ("eq", "ne") or len(mask.args) != 2 or any(arg.op != "index" for arg in mask.args):
        return None
    one, other = sorted((arg.attrs["axis"] for arg in mask.args), key=lambda axis: axis.order)
    if one is other or not _run_together(one, other) or not _are_alike(node, then, orelse):
        return None
    return (one, other, then, orelse) if name == "eq" else (one, other, orelse, then)


def _run_together(one: Axis, other: Axis) -> bool:
    """Whether two axes have the same positions."""
    if one.is_ragged or other.is_ragged or one.step != other.step:
        return False
    return all(_same(a, b) for a, b in ((one.lo, other.lo), (one.extent, other.extent)))


def _same(a: Node, b: Node) -> bool:
    if a.op == b.op == "const":
        return a.attrs["value"] == b.attrs["value"]
    return a is b or (a.op == b.op == "extent" and a.args[0] is b.args[0] and a.attrs["dim"] == b.attrs["dim"])


def _are_alike(node: Node, *sides: Node) -> bool:
    """Whether both sides are tensors of the type and the rank of the whole, and none is a safe operand."""
    return not node.attrs.get("safe") and all(side.kind == node.kind and side.axes for side in sides)


def on_diagonal(node: Node) -> Node | None:
    """The values beside the diagonal, and those that go onto it."""
    found = _pair(node)
    if found is None:
        return None
    one, other, inside, beside = found
    if not {one, other} <= set(beside.axes) or any(axis.is_ragged for axis in node.axes):
        return None
    made = _Diagonal(one, other).of(inside)
    if made is None:
        return None
    return Node("on_diagonal", (beside, made), node.axes, node.kind, {"pair": (one, other)}, node.hint)


class _Diagonal:
    """A value where two axes have the same position, which is that of the first one then."""

    def __init__(self, kept: Axis, gone: Axis) -> None:
        self.kept, self.gone = kept, gone
        self.done: dict[int, Node] = {}

    def of(self, node: Node) -> Node | None:
        if self.gone not in node.axes:
            return node
        if node.serial not in self.done:
            if len(self.done) > MOST:
                return None
            made = self._made(node)
            if made is None:
                return None
            self.done[node.serial] = made
        return self.done[node.serial]

    def _made(self, node: Node) -> Node | None:
        if node.op == "index":
            return Node("index", (), (self.kept,), node.kind, dict(node.attrs) | {"axis": self.kept}, node.hint)
        if node.op in (*MAPPED, "on_diagonal"):
            return self._mapped(node)
        axes = merge_axes(tuple(self.kept if axis is self.gone else axis for axis in node.axes))
        attrs = {"pair": (self.kept, self.gone)}
        return Node("diagonal" if self.kept in node.axes else "renamed", (node,), axes, node.kind, attrs, node.hint)

    def _mapped(self, node: Node) -> Node | None:
        args = [self.of(arg) for arg in node.args]
        if any(arg is None for arg in args):
            return None
        parts = tuple(arg for arg in args if arg is not None)
        attrs = {key: value for key, value in node.attrs.items() if key != "extents"}
        if node.op == "on_diagonal":
            pair = {self.kept if axis is self.gone else axis for axis in node.attrs["pair"]}
            if len(pair) == 1:
                return parts[1]
            one, other = sorted(pair, key=lambda axis: axis.order)
            inside = _Diagonal(one, other).of(parts[1])
            if inside is None:
                return None
            parts, attrs["pair"] = (parts[0], inside), (one, other)
        return Node(node.op, parts, merge_axes(*(arg.axes for arg in parts)), node.kind, attrs, node.hint)
