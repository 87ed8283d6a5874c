"""Entries that a mask of positions picks out of dense loops: lanes of these loops under the mask, not a flat list.

s = [f(i, j) for j in range(n) if j != i]       f over {i, j}, under i != j
exp(s - max(s)).sum()                           where(i != j, exp(f - max), 0).sum(j): no nonzero, gather or segment

Such a mask says nothing of the data, and holds for most positions, or for a part of them that grows with the loops.
"""

from __future__ import annotations

from typing import Any

from looplift.base.data import dataclass
from looplift.ir.array import (
    Assign,
    Axis,
    Check,
    Choose,
    Effect,
    For,
    Forever,
    LeaveUnless,
    Node,
    Program,
    Push,
    Run,
    Step,
    Write,
    ancestors,
    array_read,
    merge_axes,
    operands_of,
    reachable,
)
from looplift.ir.facts import Kind
from looplift.ops import table

POSITIONAL = frozenset("index along const linear extent length elementwise count".split())
"""What a mask is made of that depends on positions and sizes alone."""

MAPPED = frozenset("elementwise where cast retype relabel method unsqueezed fold spread".split())
"""What is computed entry by entry."""

METHODS = ("detach", "clone", "contiguous")

FOLDS = ("add", "max", "min", "maximum", "minimum", "and", "or")


@dataclass
class Picked:
    """Ragged axes over the same entries, and the dense loops and the mask that these are picked by."""

    axes: frozenset[Axis]
    parents: tuple[Axis, ...]
    inside: tuple[Axis, ...]
    mask: Node


def as_lanes(program: Program) -> Lanes | None:
    """The rewriting of such entries, and of the checks that speak of them; None where there are none."""
    if program.library != "torch":
        return None
    nodes = reachable([node for step in program.steps for node in operands_of(step)] + _results(program))
    groups = [group for group in _groups(nodes) if _is_free(program, group, nodes)]
    return Lanes(program, groups) if groups else None


def _results(program: Program) -> list[Node]:
    return [node for _, node in program.results]


# ---------------------------------------------------------------- where it applies


def _groups(nodes: list[Node]) -> list[Picked]:
    ragged = sorted({a for node in nodes for a in node.axes if a.is_ragged}, key=lambda axis: axis.order)
    found: dict[int, Picked] = {}
    for axis in ragged:
        members = axis.members
        if members is None or members.op != "collect" or len(members.args) != 1 or id(axis.lengths) in found:
            continue
        inside, (mask,) = tuple(members.attrs["inside"]), members.args
        dense = not any(a.is_ragged for a in (*inside, *axis.parents, *mask.axes))
        if dense and set(mask.axes) <= {*inside, *axis.parents} and _is_positional(mask):
            alike = frozenset(a for a in ragged if a.lengths is axis.lengths and a.parents == axis.parents)
            found[id(axis.lengths)] = Picked(alike, axis.parents, inside, mask)
    return list(found.values())


def _is_positional(mask: Node) -> bool:
    if mask.op == "name":
        return not mask.axes and mask.kind.family == "int" and not mask.attrs.get("local")
    return mask.op in POSITIONAL and (mask.op in ("extent", "length") or all(map(_is_positional, mask.args)))


def _is_free(program: Program, group: Picked, nodes: list[Node]) -> bool:
    """Whether all that is computed of the entries can be computed under the mask."""
    if not all(_may_hold(step, group) for step in program.steps) or any(_touches(n, group) for n in _results(program)):
        return False
    if any(group.axes & set(ancestors(axis)) for node in nodes for axis in node.axes):
        return False
    indices = {node.serial for node in nodes if node.op == "member" and _touches(node, group)}
    for node in nodes:
        if _touches(node, group):
            alone = len(group.axes & set(node.axes)) == 1 and not set(node.axes) & set(group.inside)
            if not alone or not (node.serial in indices or _is_mapped(node, group)):
                return False
        elif any(_touches(arg, group) for arg in node.args):
            if not (_is_fold(node, group) or _entry_of_loop(node, group) is not None):
                return False
        if any(arg.serial in indices for arg in node.args) and not _is_pick(node, group):
            return False
    return True


def _touches(node: Node, group: Picked) -> bool:
    return not group.axes.isdisjoint(node.axes)


def _may_hold(step: Step, group: Picked) -> bool:
    """Whether a step, if it is about the entries, is a check."""
    match step:
        case Check():
            return True
        case For(body=body) | Forever(body=body):
            return all(_may_hold(inner, group) for inner in body)
        case Choose(then=then, orelse=orelse):
            return all(_may_hold(inner, group) for inner in (*then, *orelse))
        case Write() | Assign() | Push() | Run() | Effect() | LeaveUnless():
            return not any(_touches(node, group) for node in operands_of(step))


def _is_pick(node: Node, group: Picked) -> bool:
    """Whether a node is an item of what the loops computed, at each entry."""
    if node.op != "gather" or len(node.args) != 2 or node.args[1].op != "member":
        return False
    made, pieces = node.args[0], [type(piece).__name__ for piece in node.attrs["pieces"]]
    plain = made.op == "collect" and len(made.args) == 1 and tuple(made.attrs["inside"]) == group.inside
    return plain and pieces[0] == "Gather" and set(pieces[1:]) <= {"Whole"} and made.args[0].kind.rank == node.kind.rank


def _is_mapped(node: Node, group: Picked) -> bool:
    match node.op:
        case "gather":
            return _is_pick(node, group) or _is_read(node)
        case "method":
            return node.attrs["name"] in METHODS
        case "relabel":
            return all(_touches(arg, group) for arg in node.args)
        case _:
            return node.op in MAPPED and bool(node.args)


def _is_read(node: Node) -> bool:
    """Whether a node reads one element, or row, of an array at a place that each entry names."""
    pieces = node.attrs["pieces"]
    names = [type(piece).__name__ for piece in pieces]
    plain = set(names) <= {"Gather", "Whole"} and not any(axis.is_ragged for axis in node.args[0].axes)
    return plain and all(name == "Whole" or not p.index.kind.rank for name, p in zip(names, pieces, strict=True))


def _is_fold(node: Node, group: Picked) -> bool:
    if _touches(node, group) or len(node.args) != 1:
        return False
    operator = node.attrs.get("operator")
    if node.op == "segment":
        axis, exact = node.attrs["axis"], not node.attrs["gradients"] or operator == "add"
        return axis in group.axes and node.attrs["outer"] is axis and operator in FOLDS and exact
    return node.op == "reduce" and operator in ("add", "and", "or") and not set(node.axes) & set(group.inside)


def _entry_of_loop(node: Node, group: Picked) -> Axis | None:
    """The loop that goes through the entries by their places, where these are those of the first iterations."""
    if node.op != "entry" or node.attrs["axis"] not in group.axes or len(group.inside) != 1:
        return None
    (own,), place = group.inside, node.args[1]
    if place.op == "where":
        place = place.args[1]
    if place.op != "elementwise" or place.attrs["name"] != "add" or place.args[0].op != "first":
        return None
    index = place.args[1]
    if index.op != "index" or not _is_first(group.mask, own) or place.args[0].attrs["axis"] not in group.axes:
        return None
    axis: Axis = index.attrs["axis"]
    plain = not axis.is_ragged and axis.step == 1 and axis.lo.op == "const" and axis.lo.attrs["value"] == 0
    return axis if plain and _is_same(axis.extent, own.extent) else None


def _is_first(mask: Node, axis: Axis) -> bool:
    """Whether a mask holds for the iterations of a loop up to one of them."""
    if mask.op != "elementwise" or len(mask.args) != 2 or axis.step < 1:
        return False
    below, above = mask.args if mask.attrs["name"] in ("lt", "le") else mask.args[::-1]
    counts = below.op == "index" and below.attrs["axis"] is axis
    return mask.attrs["name"] in ("lt", "le", "gt", "ge") and counts and axis not in above.axes


def _is_same(a: Node, b: Node) -> bool:
    return a is b or (a.op == b.op == "extent" and a.args[0] is b.args[0] and a.attrs["dim"] == b.attrs["dim"])


# ---------------------------------------------------------------- the rewriting


class Lanes:
    """A rule for values, whose operands are rewritten already; checks are of the entries that there are."""

    def __init__(self, program: Program, groups: list[Picked]) -> None:
        self.program, self.groups = program, groups
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
        axes = [node.attrs["axis"]] if node.op == "segment" else node.attrs["axes"] if node.op == "reduce" else []
        group = self._group(tuple(axes))
        return None if group is None else self._folded(node, group)

    def _mapped(self, node: Node, group: Picked) -> Node:
        if _is_pick(node, group):
            return self._picked(node, group)
        if node.op == "gather":
            return self._read(node, group)
        args = list(node.args)
        rest = [axis for axis in node.axes if axis not in group.axes]
        if node.op == "spread":
            axes = merge_axes(tuple(rest), group.parents, group.inside)
        else:
            args = self._sheltered(node, args, group)
            axes = merge_axes(*(arg.axes for arg in args))
        return Node(node.op, tuple(args), axes, node.kind, dict(node.attrs), node.hint)

    def _picked(self, node: Node, group: Picked) -> Node:
        """The value of each iteration; what backward sees of iterations that are not there is nothing."""
        (value,) = node.args[0].args
        if self.program.gradients and _is_float(value.kind):
            value = _where(group.mask, value, 0.0)
        return Node("relabel", (value,), value.axes, node.kind, {"extents": node.attrs.get("extents")}, node.hint)

    def _read(self, node: Node, group: Picked) -> Node:
        """A place that a loop counts is one in iterations that are not there, too; any other may be none."""
        base, *places = node.args
        safe = [place if _counts(place) else _where(group.mask, place, 0) for place in places]
        instead = {old.serial: new for old, new in zip(places, safe, strict=True)}
        pieces = [_with_index(piece, instead) for piece in node.attrs["pieces"]]
        axes = merge_axes(base.axes, *(place.axes for place in safe))
        return Node("gather", (base, *safe), axes, node.kind, node.attrs | {"pieces": pieces}, node.hint)

    def _renamed(self, node: Node, group: Picked) -> Node:
        """The value of each iteration as that of another loop's."""
        other, (own, *_) = _entry_of_loop(node, group), group.inside
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
            return [_where(group.mask, a, 1.0) if _is_shared(a, group) else a for a in args]
        found = table.SINGULAR.get(base)
        if found is None or found[0] >= len(args) or not (self.program.gradients or base in DIVISIONS):
            return args
        position, safe = found
        operand = args[position]
        if operand.op == "const" or not operand.axes or safe is None:
            return args
        args[position] = _where(group.mask, operand, safe if _is_float(operand.kind) else 1)
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
            other = other if self._is_finite(other) else _where(group.mask, other, 0.0)
            args = (_where(group.mask, one, 0.0), other)
            return Node("elementwise", args, merge_axes(args[0].axes, other.axes), value.kind, dict(value.attrs))
        return _where(group.mask, value, _identity(operator, value.kind))

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


def _where(mask: Node, value: Node, other: Any) -> Node:
    kind = Kind({float: "float", int: "int", bool: "bool"}[type(other)])
    safe = Node("const", (), (), kind, {"value": other})
    attrs = {"extents": value.attrs.get("extents")}
    return Node("where", (mask, value, safe), merge_axes(mask.axes, value.axes), value.kind, attrs, value.hint)


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
