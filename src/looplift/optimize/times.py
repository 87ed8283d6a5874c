"""The steps of a program in, and what a rule puts in the place of a value; out, whether that reads arrays as they were.

total = x.sum(0) @ W            # read here
W[0] = 0
return total                    # and not here

A value reads what is written to when it is born; what stands in its place is born then, too. A rule that reads through
a value that was computed before a write, in the place of one that is computed after it, does not apply.
"""

from __future__ import annotations

from bisect import bisect

from looplift.ir.array import (
    Assign,
    For,
    Forever,
    Node,
    Push,
    Run,
    Step,
    Write,
    changed_by,
    every_step,
    next_serial,
    parts_of,
)

AS_OPERANDS = frozenset(("name", "const", "retype"))
"""What is read when its reader is computed."""
OF_SHAPES = frozenset(("extent", "length"))
"""What no write changes."""


class Times:
    """When steps change what has a name; nodes from now on are those of rules."""

    def __init__(self, steps: list[Step]) -> None:
        self.begin = next_serial()
        self.changes: dict[str, list[int]] = {}
        self.arrays: dict[int, str] = {}
        for step in every_step(steps):
            match step:
                case Assign(name=name, node=node, memory=True):
                    self.arrays[node.serial] = name
                case Write() | Assign() | Push() | Run() | For() | Forever():
                    for name in changed_by([step]):
                        self.changes.setdefault(name, []).append(step.serial)
        for found in self.changes.values():
            found.sort()

    def put_in_place(self, old: Node, new: Node) -> bool:
        """Give what a rule has made the time of the node that it stands for; whether it reads the same."""
        if new is old:
            return True
        made = self._made(new)
        for node in made:
            node.born = old.time
        if not self.changes:
            return True
        if named := self._named(new):
            return all(self._steps_before(name, old.time) == len(self.changes[name]) for name in named)
        read = {name for node in made for name in self._read_by(node)}
        return not read or self._is_read_then(old, made, read)

    def _made(self, new: Node) -> list[Node]:
        """The nodes that a rule has made, of those that a value is made of."""
        found: dict[int, Node] = {}
        pending = [new]
        while pending:
            node = pending.pop()
            if node.serial > self.begin and node.born is None and node.serial not in found:
                found[node.serial] = node
                pending += parts_of(node)
        return list(found.values())

    def _is_read_then(self, old: Node, made: list[Node], read: set[str]) -> bool:
        """Whether what the rule has taken apart reads names as the node in whose place it is does now."""
        kept = {part.serial for node in made for part in parts_of(node)}
        now = {name: self._steps_before(name, old.time) for name in read}
        pending, seen = [old], set[int]()
        while pending:
            node = pending.pop()
            if node.serial in seen or (node.serial in kept and node is not old):
                continue
            seen.add(node.serial)
            if any(name in now and self._steps_before(name, node.time) != now[name] for name in self._read_by(node)):
                return False
            pending += [part for part in parts_of(node) if part.op not in OF_SHAPES]
        return True

    def _steps_before(self, name: str, time: int) -> int:
        return bisect(self.changes[name], time)

    def _read_by(self, node: Node) -> list[str]:
        """The names of what changes, of those that a node reads by itself."""
        if node.op in AS_OPERANDS or node.op in OF_SHAPES:
            return []
        return [name for part in parts_of(node) for name in self._named(part)]

    def _named(self, node: Node) -> list[str]:
        while node.op == "retype":
            (node,) = node.args
        name = self.arrays.get(node.serial)
        if node.op == "name" and (node.attrs.get("memory") or node.attrs.get("local")):
            name = node.attrs["text"]
        return [name] if name in self.changes else []
