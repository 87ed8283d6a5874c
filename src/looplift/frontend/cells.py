"""What lists, dicts and objects that a region makes hold: for each place a cell, bound and joined as a name is."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping

from looplift.base.data import dataclass, field
from looplift.frontend.scope import Branch, Builder, Structure, Tup, Value
from looplift.ir.grammar import UNDEFINED, Atom, Const


@dataclass(eq=False)
class Cells(Structure):
    """A list, dict or object: for each place in it a cell, which is bound and joined as a name is."""

    kind: str
    prefix: str
    depth: int
    cells: dict[Hashable, str] = field(default_factory=dict)
    made: tuple[list, Atom] | None = None
    """Once it was used as a whole: the block and the variable; it must not change any more."""
    block: list | None = None
    """The block that it was made in."""
    is_handed_over: bool = False
    """Whether its items were put into a list, as one object that nothing else may change or be."""
    is_carried: bool = False
    """Whether a name is bound to it and to others in turn, item by item: none of them may change any more."""
    reads: int = 0
    """How often an item was read."""
    is_itself: bool = True

    @property
    def noun(self) -> str:  # type: ignore[override]
        return f"the {self.kind} '{self.prefix.rpartition('>')[2]}'"

    def take_name(self, name: str) -> None:
        """The first name that it is bound to is the author's."""
        start, _, hint = self.prefix.rpartition(">")
        if hint == self.kind and not name.startswith("_"):
            self.prefix = f"{start}>{name}"

    def cell_for(self, build: Builder, key: Hashable) -> str:
        """The name of a new cell."""
        raise NotImplementedError

    def like(self, build: Builder, parts: Tup) -> Cells:
        """Another one of the same places, with these parts."""
        raise NotImplementedError

    def check_may_change(self, build: Builder) -> None:
        if self.made is not None or self.is_handed_over:
            raise self.refusal(build, "changed after it was used as a whole")
        if self.is_carried:
            raise self.refusal(build, "changed after a loop has bound its name anew")

    def add(self, build: Builder, key: Hashable, value: Value) -> None:
        if key not in self.cells:
            self.cells[key] = self.cell_for(build, key)
        self.check_may_change(build)
        build.cells[self.cells[key]] = value

    def values(self, build: Builder) -> list[Value]:
        return [self.value(build, key) for key in self.cells]

    def value(self, build: Builder, key: Hashable) -> Value:
        self.reads += 1
        value = build.cells[self.cells[key]]
        if value is UNDEFINED:
            raise self.refusal(build, f"read at {key!r}, which may not be there")
        return value

    # ------------------------------------------------------------ from one iteration to the next

    def is_like(self, other: Cells) -> bool:
        return self.kind == other.kind and list(self.cells) == list(other.cells)

    def parts(self, build: Builder) -> Tup | None:
        """Its items, if each is a number, a tensor or a tuple of some."""
        return self.parts_in(build.cells)

    def parts_in(self, held: Mapping[str, Value]) -> Tup | None:
        """The same of what cells hold at another place."""
        values = [held.get(name, UNDEFINED) for name in self.cells.values()]
        return None if any(value is UNDEFINED or is_of_host(value) for value in values) else Tup(tuple(values))

    def carried(self, build: Builder, parts: Tup) -> Cells:
        """What a name is bound to that is bound to lists, dicts or objects of the same places in turn."""
        found = self.like(build, parts)
        found.is_carried, found.is_itself = True, False
        self.share(build)
        return found

    def share(self, build: Builder) -> None:
        """From now on another name may be bound to it: none of its names may change it or tell it from others."""
        if not self.is_carried:
            build.shared.append(frozenset(self.cells.values()))
        self.is_carried, self.is_itself = True, False

    def hand_over(self, build: Builder) -> bool:
        """Its items become those of a list's item: it must be new, and must not be used as an object again."""
        if self.made is not None or self.is_handed_over or not is_once_here(build, self.block):
            return False
        self.is_handed_over = True
        return True


def is_of_host(value: Value) -> bool:
    """Whether a value has no place in a list of the IR: a module, a function, a list or dict known item by item."""
    if isinstance(value, Tup):
        return any(map(is_of_host, value.items))
    if isinstance(value, Const):
        return bool(value.path) and callable(value.value)
    return isinstance(value, Structure)


def is_once_here(build: Builder, block: list | None) -> bool:
    """Whether what runs now does so once at most for each time that the block runs."""
    inside = [one for one in build.blocks if one is block or not isinstance(one, Branch)]
    return inside[-1] is block


def word_of(key: Hashable) -> str:
    """What a cell is called by."""
    return re.sub(r"\W+", "_", str(key)).strip("_")
