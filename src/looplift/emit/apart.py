"""Results of a program in; the same, with copies where two would share memory that the loop's do not share, out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.emit.arrays import is_view
from looplift.ir.array import Node, Program, anew, leaves_of

LISTS = frozenset(("listed", "last_item"))
"""Made anew for each result: their items are copies."""


def results_apart(program: Program) -> list[tuple[str, Node]]:
    """The results, each leaf in memory that no other leaf has, where the loop has it so."""
    leaves = [leaf for _, node in program.results for leaf in leaves_of(node)]
    if not program.memory or not any(_is_taken(leaves, program.memory, k) for k in range(len(leaves))):
        return program.results
    made = iter(_copied(leaves, program.memory))
    displays: dict[int, Node] = {}
    return [(key, _with_copies(node, made, displays)) for key, node in program.results]


def _copied(leaves: list[Node], memory: list[Any]) -> list[Node]:
    """The leaves, with copies for some; what is one object in the loop is one copy."""
    made: list[Node] = []
    for k, leaf in enumerate(leaves):
        kin = [j for j in range(k) if memory[j] and memory[k] and memory[j] & memory[k]]
        same = [j for j in kin if leaves[j] is leaf]
        if same:
            made.append(made[same[0]])
        elif not _is_taken(leaves, memory, k):
            made.append(leaf)
        elif kin:
            raise NotLiftable("aliasing", "two results share memory, and others must not share it with them")
        else:
            made.append(_copy(leaf))
    return made


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


def _with_copies(node: Node, made: Iterator[Node], displays: dict[int, Node]) -> Node:
    if node.op != "display":
        return next(made)
    parts = tuple(_with_copies(arg, made, displays) for arg in node.args)
    if node.serial not in displays:
        displays[node.serial] = Node("display", parts, (), node.kind, node.attrs)
    return displays[node.serial]


def _copy(node: Node) -> Node:
    if node.op in LISTS:
        return anew(node)
    return Node("copied", (node,), (), node.kind, {}, node.hint)
