"""Array programs in; lists whose entries a mask of positions picks, and whether they can be lanes: see ``picked``."""

from __future__ import annotations

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
    operands_of,
)
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


def groups_of(nodes: list[Node]) -> list[Picked]:
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


def is_free(program: Program, group: Picked, nodes: list[Node]) -> bool:
    """Whether all that is computed of the entries can be computed under the mask."""
    if not all(_may_hold(step, group) for step in program.steps) or any(
        _touches(node, group) for _, node in program.results
    ):
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
            if not (_is_fold(node, group) or entry_of_loop(node, group) is not None):
                return False
        if any(arg.serial in indices for arg in node.args) and not is_pick(node, group):
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


def is_pick(node: Node, group: Picked) -> bool:
    """Whether a node is an item of what the loops computed, at each entry."""
    if node.op != "gather" or len(node.args) != 2 or node.args[1].op != "member":
        return False
    made, pieces = node.args[0], [type(piece).__name__ for piece in node.attrs["pieces"]]
    plain = made.op == "collect" and len(made.args) == 1 and tuple(made.attrs["inside"]) == group.inside
    return plain and pieces[0] == "Gather" and set(pieces[1:]) <= {"Whole"} and made.args[0].kind.rank == node.kind.rank


def _is_mapped(node: Node, group: Picked) -> bool:
    match node.op:
        case "gather":
            return is_pick(node, group) or _is_read(node)
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
    if node.op == "some":
        return True
    operator = node.attrs.get("operator")
    if node.op == "segment":
        axis, exact = node.attrs["axis"], not node.attrs["gradients"] or operator == "add"
        return axis in group.axes and node.attrs["outer"] is axis and operator in FOLDS and exact
    return node.op == "reduce" and operator in ("add", "and", "or") and not set(node.axes) & set(group.inside)


def entry_of_loop(node: Node, group: Picked) -> Axis | None:
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


def is_softmax(node: Node) -> bool:
    """``exp(x - max(x)) / sum(exp(x - max(x)))`` of the entries of each lane."""
    powers, total = node.args if is_called(node, "truediv") else (node, node)
    if not is_called(powers, "exp") or total.op != "segment" or total.args != (powers,):
        return False
    (shifted,) = powers.args
    if total.attrs["operator"] != "add" or not is_called(shifted, "sub"):
        return False
    value, greatest = shifted.args
    return _is_greatest(greatest, value) and not node.kind.rank


def summed_powers(node: Node) -> Node | None:
    """The sum in ``max(x) + log(sum(exp(x - max(x))))`` of the entries of each lane; None where a value is another."""
    if not is_called(node, "add") or len(node.args) != 2 or not is_called(node.args[1], "log"):
        return None
    greatest, (total,) = node.args[0], node.args[1].args
    if total.op != "segment" or total.attrs["operator"] != "add" or not is_called(total.args[0], "exp"):
        return None
    (shifted,) = total.args[0].args
    if not is_called(shifted, "sub") or shifted.args[1] is not greatest or greatest.op != "where" or node.kind.rank:
        return None
    return total if _is_greatest(greatest.args[2], shifted.args[0]) else None


def _is_greatest(node: Node, value: Node) -> bool:
    """Whether a value is the greatest of the entries of each lane, without a gradient."""
    plain = node.op == "segment" and node.attrs["operator"] == "max" and len(node.args) == 1
    return plain and node.args[0].op == "method" and node.args[0].args[0] is value


def is_called(node: Node, name: str) -> bool:
    return node.op == "elementwise" and table.base_name(node.attrs["name"]) == name
