"""Entries that a mask of positions picks out of dense loops: lanes of these loops under the mask, not a flat list.

s = [f(i, j) for j in range(n) if j != i]       f over {i, j}, under i != j
exp(s - max(s)).sum()                           where(i != j, exp(f - max), 0).sum(j): no nonzero, gather or segment

Such a mask says nothing of the data, and holds for most positions, or for a part of them that grows with the loops.
"""

from __future__ import annotations

from typing import Any

from looplift.ir.array import (
    Axis,
    Check,
    Choose,
    For,
    Forever,
    Node,
    Program,
    Step,
    array_read,
    merge_axes,
    operands_of,
    reachable,
)
from looplift.ir.facts import Kind
from looplift.ops import table
from looplift.optimize.picked_entries import (
    Picked,
    entry_of_loop,
    groups_of,
    is_called,
    is_free,
    is_pick,
    is_softmax,
    summed_powers,
)


def as_lanes(program: Program) -> Lanes | None:
    """The rewriting of such entries, and of the checks that speak of them; None where there are none."""
    if program.library != "torch":
        return None
    nodes = reachable(
        [node for step in program.steps for node in operands_of(step)] + [node for _, node in program.results]
    )
    groups = [group for group in groups_of(nodes) if is_free(program, group, nodes)]
    return Lanes(program, groups, nodes) if groups else None


class Lanes:
    """A rule for values, whose operands are rewritten already; checks are of the entries that there are."""

    def __init__(self, program: Program, groups: list[Picked], nodes: list[Node]) -> None:
        self.program, self.groups = program, groups
        self.softmaxes = frozenset(node.serial for node in nodes if is_softmax(node))
        sums = [(node.serial, summed_powers(node)) for node in nodes]
        self.logarithms = {serial: self._group((one.attrs["axis"],)) for serial, one in sums if one is not None}
        asked = [(node.serial, self._group(node.args[0].axes)) for node in nodes if node.op == "some"]
        self.asked = {serial: group for serial, group in asked if group is not None}
        self.finite: dict[str, Node] = {}
        self._mask_checks(program.steps)

    def _mask_checks(self, steps: list[Step]) -> None:
        for step in steps:
            match step:
                case Check(cond=cond) if (group := self._group(cond.axes)) is not None:
                    absent = Node("elementwise", (group.mask,), group.mask.axes, BOOL, {"name": "not"})
                    step.cond = Node("elementwise", (cond, absent), cond.axes, BOOL, {"name": "or_"})
                case For(body=body) | Forever(body=body):
                    self._mask_checks(body)
                case Choose(then=then, orelse=orelse):
                    self._mask_checks(then)
                    self._mask_checks(orelse)

    def _group(self, axes: tuple[Axis, ...]) -> Picked | None:
        return next((group for group in self.groups if group.axes & set(axes)), None)

    def finite_checks(self) -> list[Step]:
        """What must hold so that a masked factor is enough to make a product nothing."""
        return [Check(Node("finite", (array,), (), BOOL)) for array in self.finite.values()]

    def rewritten(self, node: Node) -> Node | None:
        if (group := self._group(node.axes)) is not None and node.op != "member":
            return self._mapped(node, group)
        if node.op == "entry" and (group := self._group((node.attrs["axis"],))) is not None:
            return self._renamed(node, group)
        if (group := self.logarithms.get(node.serial)) is not None:
            return self._logarithm(node, group)
        if (group := self.asked.get(node.serial)) is not None:
            return Node("some", (_both(group.mask, node.args[0]),), node.axes, node.kind, node.attrs)
        axes = [node.attrs["axis"]] if node.op == "segment" else node.attrs["axes"] if node.op == "reduce" else []
        group = self._group(tuple(axes))
        return None if group is None else self._folded(node, group)

    def _mapped(self, node: Node, group: Picked) -> Node:
        if is_pick(node, group):
            return self._picked(node, group)
        if node.op == "gather":
            return self._read(node, group)
        if node.serial in self.softmaxes and (made := self._softmax(node, group)) is not None:
            return made
        args = list(node.args)
        rest = [axis for axis in node.axes if axis not in group.axes]
        if node.op == "spread":
            axes = merge_axes(tuple(rest), group.parents, group.inside)
        else:
            args = self._sheltered(node, args, group)
            axes = merge_axes(*(arg.axes for arg in args))
        return Node(node.op, tuple(args), axes, node.kind, dict(node.attrs), node.hint)

    def _softmax(self, node: Node, group: Picked) -> Node | None:
        """The softmax along the loops, of what is nothing where the mask does not hold."""
        shifted = _without_where(node.args[0].args[0], group)
        if not is_called(shifted, "sub"):
            return None
        value = _without_where(shifted.args[0], group)
        value = _where(group, value, float("-inf"))
        places = [value.axes.index(axis) for axis in group.inside if axis in value.axes]
        if places != list(range(places[0], places[0] + len(group.inside))):
            return None
        return Node("axes_softmax", (value,), value.axes, node.kind, {"axes": group.inside}, node.hint)

    def _logarithm(self, node: Node, group: Picked) -> Node | None:
        """The logarithm of the sum of exponentials along the loops, of what is nothing where the mask does not hold."""
        (total,) = node.args[1].args
        powers = total.args[0].args[0] if total.args[0].op == "spread" else total.args[0]
        shifted = _without_where(powers, group).args[0]
        value = _where(group, _without_where(_without_where(shifted, group).args[0], group), float("-inf"))
        if not {*node.axes, *group.inside} <= set(value.axes):
            return None
        return Node("axes_logsumexp", (value,), node.axes, node.kind, {"axes": group.inside}, node.hint)

    def _picked(self, node: Node, group: Picked) -> Node:
        """The value of each iteration; what backward sees of iterations that are not there is nothing."""
        (value,) = node.args[0].args
        if self.program.gradients and _is_float(value.kind):
            value = _where(group, value, 0.0)
        return Node("relabel", (value,), value.axes, node.kind, {"extents": node.attrs.get("extents")}, node.hint)

    def _read(self, node: Node, group: Picked) -> Node:
        """A place that a loop counts is one in iterations that are not there, too; any other may be none."""
        base, *places = node.args
        safe = [place if _counts(place) else _where(group, place, 0) for place in places]
        instead = {old.serial: new for old, new in zip(places, safe, strict=True)}
        pieces = [_with_index(piece, instead) for piece in node.attrs["pieces"]]
        axes = merge_axes(base.axes, *(place.axes for place in safe))
        return Node("gather", (base, *safe), axes, node.kind, node.attrs | {"pieces": pieces}, node.hint)

    def _renamed(self, node: Node, group: Picked) -> Node:
        """The value of each iteration as that of another loop's."""
        other, (own, *_) = entry_of_loop(node, group), group.inside
        assert other is not None
        value = node.args[0]
        axes = merge_axes(tuple(other if axis is own else axis for axis in value.axes))
        attrs = {"pair": (other, own), "extents": node.attrs.get("extents")}
        return Node("renamed", (value,), axes, node.kind, attrs, node.hint)

    def _sheltered(self, node: Node, args: list[Node], group: Picked) -> list[Node]:
        """Operands of operations with singular points are safe where the mask does not hold."""
        if node.op not in ("elementwise", "fold"):
            return args
        base = table.base_name(node.attrs["name"])
        if base in PRODUCTS and self.program.gradients:
            return [_where(group, a, 1.0) if _is_shared(a, group) else a for a in args]
        found = table.singular(base, is_complex=any(arg.kind.is_complex for arg in args))
        if found is None or found[0] >= len(args) or not (self.program.gradients or base in DIVISIONS):
            return args
        position, safe = found
        operand = args[position]
        if operand.op == "const" or not operand.axes or safe is None:
            return args
        args[position] = _where(group, operand, safe if _is_float(operand.kind) else 1)
        return args

    def _folded(self, node: Node, group: Picked) -> Node:
        """The fold over the loops, of what is nothing where the mask does not hold."""
        (value,), operator = node.args, node.attrs["operator"]
        axes = [axis for axis in node.attrs.get("axes", ()) if axis not in group.axes]
        folded = tuple(sorted((*axes, *group.inside), key=lambda axis: axis.order))
        value = self._masked(value, group, operator)
        missing = merge_axes(value.axes, node.axes, folded)
        if missing != value.axes:
            value = Node("spread", (value,), missing, value.kind, dict(value.attrs), value.hint)
        attrs = {"axes": folded, "operator": operator, "extents": node.attrs.get("extents")}
        return Node("reduce", (value,), node.axes, node.kind, attrs, node.hint)

    def _masked(self, value: Node, group: Picked, operator: str) -> Node:
        """A sum of products needs factors that are nothing, or one of them and the other one finite."""
        if operator == "add" and value.op == "elementwise" and value.attrs["name"] == "mul" and _is_float(value.kind):
            one, other = value.args if self._is_finite(value.args[1]) else value.args[::-1]
            other = other if self._is_finite(other) else _where(group, other, 0.0)
            is_none = one.op == "axes_softmax" and not self.program.gradients  # where the mask does not hold
            args = (one if is_none else _where(group, one, 0.0), other)
            return Node("elementwise", args, merge_axes(args[0].axes, other.axes), value.kind, dict(value.attrs))
        return _where(group, value, _identity(operator, value.kind))

    def _is_finite(self, value: Node) -> bool:
        """Whether a factor is read from an array that was finite, and is required to be."""
        array = array_read(value)
        if array is None or not self.program.is_finite(array.attrs["text"]):
            return False
        self.finite[array.attrs["text"]] = array
        return True


BOOL = Kind("bool")
PRODUCTS = ("mul", "multiply")
DIVISIONS = ("floordiv", "mod", "remainder", "fmod", "floor_divide")


def _where(group: Picked, value: Node, other: Any) -> Node:
    kind = Kind({float: "float", int: "int", bool: "bool"}[type(other)])
    safe = Node("const", (), (), kind, {"value": other})
    attrs = {"extents": value.attrs.get("extents"), "picked": group.inside}
    axes = merge_axes(group.mask.axes, value.axes)
    return Node("where", (group.mask, value, safe), axes, value.kind, attrs, value.hint)


def _both(mask: Node, other: Node) -> Node:
    return Node("elementwise", (mask, other), merge_axes(mask.axes, other.axes), BOOL, {"name": "and_"})


def _without_where(node: Node, group: Picked) -> Node:
    """What a value is where the mask holds."""
    while node.op == "relabel" or (node.op == "where" and node.attrs.get("picked") == group.inside):
        node = node.args[0] if node.op == "relabel" else node.args[1]
    return node


def _identity(operator: str, kind: Kind) -> Any:
    if operator in ("and", "or"):
        return operator == "and"
    if operator == "add":
        return 0.0 if _is_float(kind) else 0
    least = operator in ("max", "maximum")
    if _is_float(kind):
        return float("-inf") if least else float("inf")
    import torch

    limits = torch.iinfo(kind.dtype or torch.int64)
    return limits.min if least else limits.max


def _is_float(kind: Kind) -> bool:
    return kind.family == "float" or "float" in str(kind.dtype)


def _is_shared(node: Node, group: Picked) -> bool:
    """Whether entries share a value that may have a gradient."""
    return node.kind.is_array and _is_float(node.kind) and bool(node.axes) and not set(group.inside) & set(node.axes)


def _counts(place: Node) -> bool:
    while place.op in ("cast", "retype", "relabel"):
        (place,) = place.args
    return place.op in ("index", "along")


def _with_index(piece: Any, instead: dict[int, Node]) -> Any:
    if type(piece).__name__ != "Gather":
        return piece
    return type(piece)(instead.get(piece.index.serial, piece.index))
