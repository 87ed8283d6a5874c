"""Array programs in; out, with places in order of which only the first are read looked for as far as they are read.

order = places_in_order(keys)          order = PlacesInOrder(keys)
for start in range(0, n, step):        for start in range(0, n, step):
    stop = min(start + step, n)            stop = min(start + step, n)
    ... order[:, start:stop] ...           ... order.first(stop)[:, start:stop] ...
"""

from __future__ import annotations

from looplift.base.data import replace
from looplift.ir.array import (
    Assign,
    Axis,
    Node,
    Program,
    Run,
    Step,
    Write,
    axis_nodes,
    every_step,
    operands_of,
    reachable,
)

ARITHMETIC = frozenset("neg add sub mul truediv pow".split())
"""What has memory of its own."""


def partly_sorted(program: Program) -> Program:
    """The same program, in which places in order are looked for when they are read."""
    if program.library != "torch":
        return program
    roots = [node for step in program.steps for node in operands_of(step)] + [node for _, node in program.results]
    nodes = reachable(roots)
    made = [node for node in nodes if node.op == "sorted_places" and not node.attrs["reverse"]]
    outside = {node.serial for node in roots}
    outside |= {part.serial for axis in {axis for node in nodes for axis in node.axes} for part in axis_nodes(axis)}
    for one in made:
        users = [node for node in nodes if any(arg is one for arg in node.args)]
        if one.serial not in outside and _is_unwritten(program, one.args[0]) and _are_partial(users, one):
            _read_partly(one, users)
    return program


def _is_unwritten(program: Program, keys: Node) -> bool:
    """Whether what is sorted stays as it is until it is looked at."""
    while keys.op in ("collect", "retype", "relabel"):
        keys = keys.args[0]
    if keys.op == "elementwise" and keys.attrs["name"] in ARITHMETIC:
        return True
    return not any(map(_writes, every_step(program.steps)))


def _writes(step: Step) -> bool:
    return isinstance(step, Write | Run) or (isinstance(step, Assign) and (step.memory or bool(step.function)))


def _are_partial(users: list[Node], made: Node) -> bool:
    """Whether all that is read are runs of places, and not all of them."""
    size = made.attrs["extents"][0] if made.attrs.get("extents") else None
    found = [_run(user) for user in users]
    return None not in found and not all(axis is not None and axis.extent is size for axis in found)


def _run(user: Node) -> Axis | None:
    """The axis along which a value reads places one after the other; None for another value."""
    if user.op != "slice" or len(user.attrs["pieces"]) != 1:
        return None
    (piece,) = user.attrs["pieces"]
    return piece.axis if type(piece).__name__ == "Along" and piece.coefficient == 1 else None


def _read_partly(made: Node, users: list[Node]) -> None:
    made.attrs["partly"] = True
    for user in users:
        (piece,) = user.attrs["pieces"]
        args = (made, piece.base, piece.axis.extent)
        first = Node("first_places", args, made.axes, replace(made.kind), {"extents": None}, made.hint)
        user.args = (first, *user.args[1:])
