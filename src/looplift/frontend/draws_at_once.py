"""The draws of each iteration in; one call that draws the numbers of all, where a library makes the same, out.

for i in range(n):                                   drawn = rng.normal(size=(n, 3))
    a = rng.normal(size=3)

for i in range(n):                                   numbers = torch.rand(n, 2 + steps * 3)
    a = torch.rand(2)                                a = numbers[:, :2]
    for t in range(steps):                           b = numbers[:, 2:].view(n, steps, 3)
        b = torch.rand(3)

PyTorch takes uniform numbers from a generator of the CPU one by one. Normal ones it makes one by one where there are
less than 16, or where they are not next to each other in memory, and 16 at once otherwise
(``DistributionTemplates.h``).
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any

from looplift.base.syntax import nodes_of
from looplift.frontend.draw_order import Drawn, Place, parts
from looplift.frontend.names import fresh_name, value_of

if TYPE_CHECKING:
    from looplift.frontend.draws import Draws

IN_ONE_STREAM = {
    "normal": 2, "uniform": 2, "laplace": 2, "gamma": 2, "beta": 2, "standard_normal": 0, "random": 0,
    "random_sample": 0, "exponential": 1,
}  # fmt: skip
"""Distributions of NumPy's of which n draws one after the other are those of one call that draws n, with the number of
parameters before the size."""


def at_once(place: Place, known: Mapping[str, Any], bound: set[str]) -> str | None:
    """The draws of all iterations as one call: then an array, or a list of numbers, with a dimension for each loop."""
    if place.tests or not all(_counts(loop, known) for loop in place.loops):
        return None
    draw = place.call
    if not isinstance(draw.func, ast.Attribute):
        return None
    owner = value_of(draw.func.value, known, bound)
    if getattr(owner, "__name__", "") == "torch":
        return None
    counts = ", ".join(f"len({ast.unparse(loop.iter)})" for loop in place.loops)
    if draw.func.attr not in IN_ONE_STREAM or isinstance(owner, random.Random) or owner is random:
        return None
    return _of_numpy(place, counts, known)


def _of_numpy(place: Place, counts: str, known: Mapping[str, Any]) -> str | None:
    draw = place.call
    assert isinstance(draw.func, ast.Attribute)
    given = {keyword.arg: keyword.value for keyword in draw.keywords}
    number = IN_ONE_STREAM[draw.func.attr]
    size = draw.args[number] if len(draw.args) > number else given.pop("size", None)
    if len(draw.args) > number + 1 or given.keys() - {"loc", "scale", "low", "high"}:
        return None
    parameters = [*draw.args[:number], *given.values()]
    targets = {node.id for loop in place.loops for node in nodes_of(loop.target) if isinstance(node, ast.Name)}
    every = [node for one in (*parameters, size) if one is not None for node in nodes_of(one)]
    if any(isinstance(node, ast.Name) and node.id in targets for node in every):
        return None
    if not all(isinstance(one, ast.Constant) or _is_number(one, known) for one in parameters):
        return None
    match size:
        case None:
            shape = counts if len(place.loops) == 1 else f"({counts})"
        case ast.Tuple(elts=items) if not any(isinstance(item, ast.Starred) for item in items):
            shape = f"({', '.join([counts, *map(ast.unparse, items)])})"
        case ast.Name(id=name) if type(known.get(name)) is int:
            shape = f"({counts}, {name})"
        case ast.Constant(value=int()) | ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant()):
            shape = f"({counts}, {ast.unparse(size)})"
        case ast.Call(func=ast.Name(id="len")):
            shape = f"({counts}, {ast.unparse(size)})"
        case _:
            return None
    words = [*map(ast.unparse, draw.args[:number]), *(f"{name}={ast.unparse(value)}" for name, value in given.items())]
    text = f"{ast.unparse(draw.func)}({', '.join([*words, f'size={shape}'])})"
    return f"{text}.tolist()" if size is None else text


def _is_number(node: ast.expr, known: Mapping[str, Any]) -> bool:
    """Whether a parameter is a number whatever the call: an argument that is one, whose type is guarded."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Name) and type(known.get(node.id)) in (int, float)


def _counts(loop: ast.For, known: Mapping[str, Any]) -> bool:
    """Whether the number of iterations is the length of what is iterated."""
    match loop.iter:
        case ast.Call(func=ast.Name(id="range")):
            return True
        case ast.Name(id=name):
            return type(known.get(name)) in (list, tuple) or hasattr(known.get(name), "shape")
    return False


# ---------------------------------------------------------------- of PyTorch


def in_one_stream(draws: Draws, first: Mapping[str, Any], known: Mapping[str, Any]) -> list[str] | None:
    """Lines that draw all numbers by one call. ``first``: what was drawn, a list for each draw, of lists for loops
    inside; None where the draws are of several kinds, or of NumPy's or Python's."""
    calls = [re.fullmatch(r"torch\.(rand|randn)\((.*)\)", one.text, re.DOTALL) for one in draws.drawn]
    kinds = {(found[1], _how(found[0])) if found else None for found in calls}
    if len(kinds) > 1 or any(one.place.tests for one in draws.drawn):
        return None
    (kind,) = kinds
    samples = {one.name: _first_of(first[one.name], one.depth) for one in draws.drawn}
    if (
        kind is None
        or kind[1] is None
        or None in samples.values()
        or len({sample.dtype for sample in samples.values()}) > 1
    ):
        return None
    numbers = {name: sample.numel() for name, sample in samples.items()}
    loops = dict.fromkeys(loop for one in draws.drawn for loop in one.place.loops)
    if not all(numbers.values()) or not all(_counts(loop, known) for loop in loops):
        return None
    one_by_one = kind[0] == "rand" or all(number < 16 for number in numbers.values())
    if not one_by_one and any(number % 16 for number in numbers.values()):
        return None
    return _Stream(draws, samples, kind[0], kind[1], apart=kind[0] == "randn" and one_by_one).lines()


def _how(text: str) -> tuple[str, ...] | None:
    """What a draw takes but for sizes: the generator, and the dtype; None where it takes something else."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    is_known = {keyword.arg for keyword in call.keywords} <= {"generator", "dtype"}
    return tuple(map(ast.unparse, call.keywords)) if is_known else None


def _first_of(drawn: Any, depth: int) -> Any:
    for _ in range(depth):
        if not drawn:
            return None
        drawn = drawn[0]
    return drawn


class _Stream:
    """``apart``: numbers are made one by one, which PyTorch does for elements that are apart in memory."""

    def __init__(self, draws: Draws, samples: Mapping[str, Any], function: str, how: tuple[str, ...], *, apart: bool):
        self.draws, self.samples, self.function, self.how, self.apart = draws, samples, function, how, apart
        self.counts: dict[ast.For, str] = {}

    def lines(self) -> list[str]:
        if len(self.draws.drawn) == 1:
            (one,) = self.draws.drawn
            sizes = [*map(_count_of, one.place.loops), *map(str, self.samples[one.name].shape)]
            return [f"{one.name} = {self._call(sizes)}"]
        taken, begun = {*self.draws.taken}, list[str]()
        for loop in dict.fromkeys(loop for one in self.draws.drawn for loop in one.place.loops):
            self.counts[loop] = fresh_name("iterations", taken)
            taken.add(self.counts[loop])
            begun.append(f"{self.counts[loop]} = {_count_of(loop)}")
        numbers = fresh_name("numbers", taken)
        taken.add(numbers)
        sizes = [self.counts[self.draws.loop], self._size(self.draws.loop)]
        drawn = f"{numbers} = {self._call(sizes)}"
        return [*begun, drawn, *self._split(self.draws.loop, numbers, taken)]

    def _call(self, sizes: list[str]) -> str:
        if not self.apart:
            return f"torch.{self.function}({', '.join([*sizes, *self.how])})"
        plain = [one for one in self.how if not one.startswith("generator=")]
        generator = ", ".join(one for one in self.how if one.startswith("generator="))
        made = ", ".join([*sizes, "2", *plain])
        return f"torch.empty({made})[..., 0].normal_({generator})  # apart in memory: one by one"

    def _split(self, loop: ast.For, numbers: str, taken: set[str]) -> list[str]:
        begin, lines = "0", list[str]()
        for part in parts(self.draws.drawn, loop):
            end = _sum(begin, self._size_of(part))
            if isinstance(part, Drawn):
                shape = tuple(self.samples[part.name].shape)
                lines.append(f"{part.name} = {numbers}[..., {begin}:{end}]{self._shaped(part.place.loops, shape)}")
            else:
                rows = fresh_name(f"{numbers}_in", taken)
                taken.add(rows)
                sizes = f"({self.counts[part]}, {self._size(part)})"
                lines.append(f"{rows} = {numbers}[..., {begin}:{end}].unflatten(-1, {sizes})")
                lines += self._split(part, rows, taken)
            begin = end
        return lines

    def _shaped(self, loops: tuple[ast.For, ...], shape: tuple[int, ...]) -> str:
        if len(shape) == 1:
            return ""
        words = [*(self.counts[loop] for loop in loops), *map(str, shape)]
        return f".reshape({', '.join(words)})"

    def _size(self, loop: ast.For) -> str:
        """The text of how many numbers an iteration draws."""
        return reduce(_sum, map(self._size_of, parts(self.draws.drawn, loop)), "0")

    def _size_of(self, part: Drawn | ast.For) -> str:
        if isinstance(part, Drawn):
            return str(self.samples[part.name].numel())
        return _product(self.counts[part], self._size(part))


def _count_of(loop: ast.For) -> str:
    """The number of iterations; of ``range(n)`` it is ``n``, where nothing is drawn that has a negative size."""
    match loop.iter:
        case ast.Call(func=ast.Name(id="range"), args=[stop]):
            return ast.unparse(stop)
    return f"len({ast.unparse(loop.iter)})"


def _sum(a: str, b: str) -> str:
    *rest, last = a.split(" + ")
    if last.isdigit() and b.isdigit():
        return " + ".join([*rest, str(int(last) + int(b))])
    return b if a == "0" else f"{a} + {b}"


def _product(a: str, b: str) -> str:
    a = a if a.isidentifier() else f"({a})"
    return a if b == "1" else f"{a} * {b if b.isdigit() else f'({b})'}"
