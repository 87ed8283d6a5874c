"""Tuples that may be None: whether there is one is a number of its own, and the items are carried one by one.

at = None                            there, row, column = False, None, None
for i in range(n):                   for i in range(n):
    for j in range(n):                   for j in range(n):
        if x[i, j] > 1:                      if x[i, j] > 1:
            at = (i, j)                          there, row, column = True, i, j
return at                            return (row, column) if there else None
"""

from __future__ import annotations

from looplift.base.data import dataclass
from looplift.frontend.scope import Builder, Parted, Structure, Tup, Value, is_none
from looplift.ir.grammar import Atom, Const, Require

NONE = Const(None)


@dataclass(eq=False)
class Perhaps(Parted):
    """A tuple or None. ``parts``: whether it is a tuple, and the items, each None where there is none."""

    noun = "a tuple that may be None"

    @property
    def there(self) -> Atom:
        found = self.parts.items[0]
        assert not isinstance(found, Tup | Structure)
        return found

    @property
    def truth(self) -> Atom:
        """A tuple is true if it has items."""
        return self.there if len(self.parts.items) > 1 else Const(False)

    def asked(self, build: Builder, name: str) -> Atom:
        """``is None`` or ``is not None``."""
        if isinstance(self.there, Const):
            return Const(self.there.value == (name == "is_not"))
        return self.there if name == "is_not" else build.emit("not", self.there)

    def known(self, build: Builder) -> tuple[Value, ...]:
        """The items, where it has to be a tuple."""
        build.add(Require(self.there, "a tuple that is None is taken apart", build.span))
        return self.parts.items[1:]

    def atom(self, build: Builder) -> Atom:
        items = [build.atom(item) for item in self.parts.items]
        return build.emit("tuple_or_none", *items, hint="pair")

    def item(self, build: Builder, key: Value) -> Value:
        count = len(self.parts.items) - 1
        if not isinstance(key, Const) or type(key.value) is not int or not -count <= key.value < count:
            raise self.refusal(build, "subscripted by what is not known before the loop runs")
        return self.known(build)[key.value]

    def unpacked(self, build: Builder, count: int | None) -> tuple[Value, ...]:
        items = self.known(build)
        if count not in (None, len(items)):
            raise build.refuse("requirement", f"{len(items)} values for {count} names")
        return items

    def length(self, build: Builder) -> Atom:
        return Const(len(self.known(build)))


def absent(count: int) -> Perhaps:
    """None, where a tuple of so many items may stand."""
    return Perhaps(Tup((Const(False), *(NONE,) * count)))


def as_perhaps(value: Value, count: int) -> Perhaps | None:
    """A tuple of so many items, or None, as one that may be either; nothing for what is neither."""
    if is_none(value):
        return absent(count)
    if isinstance(value, Tup) and len(value.items) == count:
        return Perhaps(Tup((Const(True), *value.items)))
    return value if isinstance(value, Perhaps) and len(value.parts.items) == count + 1 else None


def count_of(*values: Value) -> int | None:
    """How many items there are, if one of some values may be None and another one is a tuple, or one may be either."""
    for value in values:
        if isinstance(value, Perhaps):
            return len(value.parts.items) - 1
    tuples = [value for value in values if isinstance(value, Tup)]
    return len(tuples[0].items) if tuples and any(map(is_none, values)) else None
