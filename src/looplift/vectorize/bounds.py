"""Steps and results in, requirements that the integers given from outside are as small as the lanes take them to be."""

from __future__ import annotations

from looplift.ir.array import Axis, Check, Node, Step, operands_of, reachable
from looplift.vectorize import nodes


def given_integers(given: set[str], steps: list[Step], results: list[Node]) -> list[Check]:
    """A check of each integer among the live-ins that integers of lanes, which have 64 bits, are computed with."""
    found: dict[str, Node] = {}
    for node in reachable([*(one for step in steps for one in operands_of(step)), *results]):
        if node.axes and node.kind.family == "int":
            for atom in _atoms(_operands(node)):
                if atom.op == "name" and atom.attrs["text"] in given:
                    found[atom.attrs["text"]] = atom
    limit = nodes.const(2**nodes.INDEX_BITS)
    size = [nodes.elementwise("builtin.abs", [found[text]], nodes.INT) for text in sorted(found)]
    return [Check(nodes.compare("lt", one, limit)) for one in size]


def _operands(node: Node) -> list[Node]:
    if node.op == "index":
        axis: Axis = node.attrs["axis"]
        return [axis.lo]
    return [arg for arg in node.args if not arg.axes and arg.kind.family == "int"]


def _atoms(integers: list[Node]) -> list[Node]:
    """What sums of integers of no axis are made of."""
    return [atom for integer in integers for atom, _ in nodes.parts(integer)[0].values()]
