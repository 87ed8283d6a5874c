"""An array program in, the bytes that its intermediates take out, as expressions over the region's live-ins.

Every value that gets memory of its own counts, as if all of them lived at once; results that leave the region as they
are do not, since the loop makes them too. What only the values of the data tell, as the length of a ragged axis, and
the size of what functions without a rule make, is left out; the members of all groups are as many as the labels.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from looplift.base.data import dataclass, field
from looplift.emit.arrays import is_view
from looplift.emit.source import Printer
from looplift.emit.spelling import ATOM
from looplift.ir.array import Axis, Node, Program, ancestors, leaves_of, operands_of, reachable

Factors = tuple[str, ...]
"""A product of extents, as texts in their order."""
WORDS = frozenset(("shape", "len", "range", "max", "min", "int"))
PASSED_ON = frozenset(("assemble", "owned", "collect", "listed", "retype", "permuted"))
NUMBERS = {"bool": 1, "complex": 16}


@dataclass
class Size:
    """Bytes by product of extents: ``12 * n * m + 4 * n`` is ``{(m, n): 12, (n,): 4}``."""

    terms: Counter[Factors] = field(default_factory=Counter)

    @property
    def degree(self) -> int:
        """How many extents are multiplied at most."""
        return max(map(len, self.terms), default=0)

    @property
    def text(self) -> str:
        """The bytes as an expression."""
        pairs = sorted(self.terms.items(), key=lambda pair: (-len(pair[0]), pair[0]))
        return " + ".join(" * ".join([str(number), *factors]) for factors, number in pairs) or "0"

    def of_one(self, extent: str) -> Size:
        """The bytes of one position on an axis with this extent."""
        return Size(Counter({_without(factors, extent): number for factors, number in self.terms.items()}))

    def shortened(self) -> Size:
        """Not less, in fewer terms: ``12 * n * m + 4 * n`` is at most ``16 * n * m``."""
        made: Counter[Factors] = Counter()
        for factors, number in sorted(self.terms.items(), key=lambda pair: -len(pair[0])):
            wider = next((other for other in made if not Counter(factors) - Counter(other)), factors)
            made[wider] += number
        return Size(made)

    def __add__(self, other: Size) -> Size:
        return Size(self.terms + other.terms)


def _without(factors: Factors, one: str) -> Factors:
    place = factors.index(one) if one in factors else len(factors)
    return factors[:place] + factors[place + 1 :]


def sizes_of(program: Program, names: set[str]) -> dict[Axis, tuple[Size, str]]:
    """For each outermost axis the bytes of all that varies with it, and its extent; ``names`` are the live-ins."""
    return Sizes(program, names).found()


def extents_of(program: Program, axes: Iterable[Axis], names: set[str]) -> dict[Axis, str]:
    """The extents of axes as factors of such sizes, without numbers that are added."""
    sizes = Sizes(program, names)
    return {axis: sizes.known_extent(axis.extent) for axis in axes}


class Sizes:
    """How many elements the values of a program have, over the live-ins ``names``."""

    def __init__(self, program: Program, names: set[str]):
        self.program, self.names = program, names
        self.lanes: dict[int, list[str]] = {}

    def found(self) -> dict[Axis, tuple[Size, str]]:
        results = [node for _, node in self.program.results]
        handed_on = {_source(leaf).serial for result in results for leaf in leaves_of(result)}
        found: dict[Axis, tuple[Size, str]] = {}
        for node in reachable([*results, *(n for step in self.program.steps for n in operands_of(step))]):
            if not node.axes or is_view(node) or node.serial in handed_on or node.op == "label_members":
                continue
            axis = _outermost(node)
            size, extent = found.get(axis, (Size(), self.number(axis.extent)))
            found[axis] = (size + self.elements(node, item_size(node)), extent)
        return found

    def elements(self, node: Node, each: int = 1) -> Size:
        """How many elements a value has, times ``each``."""
        return product([self.number(one.extent) for one in node.axes] + self.lane(node), each)

    def number(self, node: Node) -> str:
        """An integer as a factor; 1 if it is not known before the call."""
        printer = Printer(self.program.library)
        text = printer.text(node).at(ATOM)
        known = self.names | WORDS
        words = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", text))
        return text if not printer.lines and words <= known and "[" not in text.replace(".shape[", "") else "1"

    def known_extent(self, node: Node) -> str:
        """An extent as a factor, also of what is made here, by what that is made of."""
        if node.op == "linear" and [times for _, times in node.attrs["terms"].values()] == [1]:
            ((node, _),) = node.attrs["terms"].values()
        if (text := self.number(node)) != "1" or node.op != "extent":
            return text
        (made,) = node.args
        place = node.attrs["dim"] - len(made.axes)
        return self.lane(made)[place] if 0 <= place < made.kind.rank else "1"

    def lane(self, node: Node) -> list[str]:
        """The extents of one lane's value."""
        if node.serial not in self.lanes:
            self.lanes[node.serial] = self._lane(node) if node.kind.is_array and node.kind.rank else []
        return self.lanes[node.serial]

    def _lane(self, node: Node) -> list[str]:
        rank, given = node.kind.rank, node.attrs.get("extents")
        if given is not None and len(given) == rank and None not in given:
            return [self.number(extent) for extent in given]
        if node.op == "name" and not node.axes:
            path = node.attrs["text"]
            return [f"{path}.shape[{dim}]" if _root(path) in self.names else "1" for dim in range(rank)]
        if node.op == "field" and node.args[0].op == "slopes":
            return self.lane(node.args[0].args[2 * node.args[0].attrs["results"] + node.attrs["position"]])
        inner = [self.lane(arg) for arg in node.args]
        if node.op == "matmul":
            return (inner[0][:-1] + inner[1][-1:])[:rank]
        if node.op == "fold":
            return self._folded(node, inner[0])
        if node.op == "label_sums":
            return inner[0][1:]
        return [self._widest(inner, rank - dim) for dim in range(rank)]

    def _folded(self, node: Node, lane: list[str]) -> list[str]:
        dims = {dim % max(len(lane), 1) for dim in node.attrs["dims"]}
        kept = ["1" if k in dims else factor for k, factor in enumerate(lane)]
        return kept if node.attrs["keepdim"] else [factor for k, factor in enumerate(kept) if k not in dims]

    def _widest(self, lanes: list[list[str]], from_end: int) -> str:
        """What operands broadcast to in one dimension, counted from the last."""
        found = list(dict.fromkeys(lane[-from_end] for lane in lanes if len(lane) >= from_end))
        found = [factor for factor in found if factor != "1"]
        return f"max({', '.join(sorted(found))})" if len(found) > 1 else found[0] if found else "1"


def product(factors: Iterable[str], number: int = 1) -> Size:
    """A number of factors times a number, as a size."""
    factors = list(factors)
    known = [int(factor) for factor in factors if factor.isdecimal()]
    unknown = tuple(sorted(factor for factor in factors if not factor.isdecimal()))
    return Size(Counter({unknown: math.prod(known, start=number)}))


def _root(path: str) -> str:
    return re.split(r"[.\[(]", path)[0]


def _outermost(node: Node) -> Axis:
    every = {above for axis in node.axes for above in (axis, *ancestors(axis))}
    return min(every, key=lambda axis: axis.order)


def _source(node: Node) -> Node:
    """What a result is made of, if nothing but its form is changed."""
    while node.op in PASSED_ON:
        node = node.args[0]
    return node


def item_size(node: Node) -> int:
    """The bytes of an element."""
    dtype: Any = node.kind.dtype if node.kind.is_array else None
    return dtype.itemsize if dtype is not None else NUMBERS.get(node.kind.family, 8)
