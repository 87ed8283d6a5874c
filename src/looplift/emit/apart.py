"""Results of a program in; the same, with copies where two would share memory that the loop's do not share, out."""

from __future__ import annotations

from typing import Any

from looplift.emit.arrays import is_view
from looplift.ir.array import Node, Program, leaves_of

LISTS = frozenset(("listed", "last_item"))
"""Made anew for each result: their items are copies."""


def results_apart(program: Program) -> list[tuple[str, Node]]:
    """The results, each leaf in memory that no other leaf has, where the loop has it so."""
    leaves = [leaf for _, node in program.results for leaf in leaves_of(node)]
    copied = [_is_taken(leaves, program.memory, k) for k in range(len(leaves))] if program.memory else []
    if not any(copied):
        return program.results
    marks = iter(copied)
    return [(key, _with_copies(node, marks)) for key, node in program.results]


def _is_taken(leaves: list[Node], memory: list[Any], k: int) -> bool:
    leaf, own = leaves[k], memory[k]
    if own is None or leaf.kind.is_number or leaf.op == "const":
        return False
    used = _memory(leaf)
    return any(
        theirs is not None and not own & theirs and used & _memory(other)
        for other, theirs in zip(leaves[:k], memory[:k], strict=True)
    )


def _memory(node: Node) -> set[Any]:
    """What the memory of a printed value may be that of: nodes, and names that steps assign."""
    found: set[Any] = set()
    pending = [node]
    while pending:
        current = pending.pop()
        found.add(current.attrs["text"] if current.op == "name" else current.serial)
        if current.op in ("assemble", "owned") and not current.attrs.get("carried"):
            pending += () if is_view(current.args[0]) else current.args[:1]
        elif is_view(current) or current.op == "collect":
            pending += current.args[:1]
    return found


def _with_copies(node: Node, marks: Any) -> Node:
    if node.op == "display":
        return Node("display", tuple(_with_copies(arg, marks) for arg in node.args), (), node.kind, node.attrs)
    if not next(marks):
        return node
    if node.op in LISTS:
        return Node(node.op, node.args, node.axes, node.kind, node.attrs, node.hint)
    return Node("copied", (node,), (), node.kind, {}, node.hint)
