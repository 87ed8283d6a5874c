"""Loops over an inner dimension, whose results go back into that dimension: no row is moved.

stack([f(x[:, t]) for t], 1)        f(x), where f is of each element, or of the last dimensions
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from looplift.ir.array import Axis, Node, Program, operands_of, reachable
from looplift.ir.facts import Kind
from looplift.ops.table import base_name

Moved = Callable[[Node], Node | None]


def has_moved(program: Program) -> bool:
    """Whether results of a loop are put into a dimension that is not the first."""
    return program.library == "torch" and any(_place(node) is not None for node in reachable(_roots(program)))


def stays(program: Program) -> Moved:
    """The rewriting of what would be moved, for values that nothing else reads."""
    roots = _roots(program)
    uses = Counter(node.serial for node in roots)
    uses.update(arg.serial for node in reachable(roots) for arg in node.args)
    return lambda node: _stays(node, uses)


def _roots(program: Program) -> list[Node]:
    return [n for step in program.steps for n in operands_of(step)] + [node for _, node in program.results]


def _place(node: Node) -> tuple[Node, Axis, int] | None:
    """The value of one iteration, the axis of the loop, and the dimension that it becomes."""
    if node.op == "assemble" and not node.axes:
        return _stored(node)
    if node.op != "permuted" or node.axes or node.args[0].op != "collect":
        return None
    made, order = node.args[0], node.attrs["order"]
    inside, value, place = made.attrs["inside"], made.args[0], order.index(0)
    rest = [k for k in order if k]
    plain = not made.axes and len(made.args) == len(inside) == 1 and value.axes == tuple(inside)
    return (value, inside[0], place) if plain and place > 0 and rest == sorted(rest) else None


def _stored(node: Node) -> tuple[Node, Axis, int] | None:
    (value,), pieces = node.args, node.attrs["pieces"]
    names = [type(piece).__name__ for piece in pieces]
    if names.count("Along") != 1 or not set(names) <= {"Along", "Whole"} or names[0] == "Along":
        return None
    place = names.index("Along")
    axis = pieces[place].axis
    return (value, axis, place) if value.axes == (axis,) and value.kind.rank == len(pieces) - 1 else None


def _stays(node: Node, uses: Counter[int]) -> Node | None:
    found = _place(node)
    if found is None:
        return None
    value, axis, place = found
    if axis.is_ragged or node.kind.family != "tensor" or uses[node.args[0].serial] > 1:
        return None
    made = _whole(value, axis, place, uses)
    if made is None or node.op == "permuted":
        return made
    whole = next(piece for piece in node.attrs["pieces"] if type(piece).__name__ == "Whole")
    attrs = dict(node.attrs) | {"pieces": [whole] * node.kind.rank}
    return Node("assemble", (made,), (), node.kind, attrs, node.hint)


def _whole(node: Node, axis: Axis, place: int, uses: Counter[int]) -> Node | None:
    """The values of all iterations, with those of the axis along a dimension; None where they are not made so."""
    if node.op == "slice":
        return _source(node, axis, place)
    kept = node.kind.rank - place
    if node.axes != (axis,) or uses[node.serial] > 1 or kept < _dimensions_read(node):
        return None
    args: list[Node] = []
    for position, arg in enumerate(node.args):
        made: Node | None = arg
        if arg.axes:
            made = _whole(arg, axis, place, uses) if arg.kind.rank == node.kind.rank else None
        elif node.op in ("elementwise", "where") and arg.kind.rank > kept:
            made = None
        if made is None or (not arg.axes and not position and node.op not in ("elementwise", "where")):
            return None
        args.append(made)
    wide = Kind(node.kind.family, node.kind.dtype, node.kind.rank + 1)
    attrs = {key: value for key, value in node.attrs.items() if key != "extents"}
    return Node(node.op, tuple(args), (), wide, attrs, node.hint)


NOWHERE = 100


def _dimensions_read(node: Node) -> int:
    """How many of the last dimensions an operation works on together."""
    match node.op:
        case "elementwise" | "cast" | "retype":
            return 0
        case "module":
            return NOWHERE if node.attrs.get("flatten") else node.attrs["reads"]
        case "leading" if node.attrs["name"] == "torch.nn.functional.linear":
            return 1
        case "along_dim" if base_name(node.attrs["name"]) in ("softmax", "log_softmax", "cumsum", "cumprod"):
            return -node.attrs["dim"]
    return NOWHERE


def _source(node: Node, axis: Axis, place: int) -> Node | None:
    """The array that is read along one dimension, all of it."""
    array, pieces = node.args[0], node.attrs["pieces"]
    names = [type(piece).__name__ for piece in pieces]
    if array.op != "name" or array.axes or array.attrs.get("memory") or array.kind.rank != len(pieces):
        return None
    if names.count("Along") != 1 or not set(names) <= {"Along", "Whole"} or names[place] != "Along":
        return None
    piece, extent = pieces[place], axis.extent
    whole = piece.axis is axis and piece.coefficient == 1 and piece.base.op == "const" and not piece.base.attrs["value"]
    known, dim = array.attrs.get("equal", {}).get(place, (array, place))
    whole = whole and extent.op == "extent" and extent.args[0] is known and extent.attrs["dim"] == dim
    return array if whole else None
