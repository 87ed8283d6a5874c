"""A loop that draws random numbers in each iteration in; the draws alone, and the loop over what they gave, out.

for row in x:                            draw_1, draw_2 = [], []
    a = rng.uniform()                    for row in x:
    for t in range(3):                       draw_1.append(rng.uniform())
        row = row + rng.normal(a)            draw_2.append([])
    y.append(row)                            for t in range(3):
                                                 draw_2[-1].append(rng.normal(a))
                                         for k, row in enumerate(x):
                                             a = draw_1[k]
                                             for j, t in enumerate(range(3)):
                                                 row = row + draw_2[k, j]
                                             y.append(row)

The draws come one iteration after the other, as in the loop: they stand where it is known which iterations get to them,
and what they are given is not made by the loop, nor changed by it, whatever it is called. Those that are given what the
loop makes, or stand in what it calls, are found in the IR (``analysis/drawn.py``).
"""

from __future__ import annotations

import ast
import copy
import random
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from looplift.base.data import dataclass
from looplift.base.errors import NotLiftable
from looplift.base.streams import numpy_generators, numpy_random
from looplift.base.syntax import fresh_copy, nodes_of
from looplift.frontend.asked_draws import draw_for
from looplift.frontend.draw_order import Drawn, Place, contents, in_order, is_known_otherwise, needed, parts
from looplift.frontend.draws_at_once import at_once, in_one_stream
from looplift.frontend.names import assigned_names, fresh_name, names_of, value_of
from looplift.ops import table

FUNCTIONS = {
    "torch": """rand randn randint randperm normal bernoulli multinomial rand_like randn_like randint_like poisson""",
    "numpy.random": """rand randn random random_sample randint uniform normal standard_normal choice permutation
    exponential poisson binomial beta gamma laplace lognormal triangular integers""",
    "random": """random uniform randint gauss choice randrange normalvariate expovariate betavariate triangular""",
}
NAMES = {module: frozenset(names.split()) for module, names in FUNCTIONS.items()}


@dataclass
class Draws:
    """``before``: the assignments that what is drawn needs."""

    drawn: list[Drawn]
    before: list[str]
    loop: ast.For
    indices: list[str]
    """Names for the numbers of iterations, of the loop and of those inside."""
    around: tuple[list[ast.stmt], list[ast.stmt]]
    namespace: Mapping[str, Any]
    read: list[str]
    """What the draws take something of beside shapes and lengths, which the loop must not change."""
    taken: set[str]
    at_once: list[str] | None = None
    """Lines that draw for all iterations by one call."""
    guards: tuple[str, ...] = ()
    """What must hold for what is drawn to have the sizes that it has."""
    is_apart: bool = False
    """Whether the loops bind what the region reads before they do, so that they need names of their own."""

    @property
    def names(self) -> list[str]:
        return [one.name for one in self.drawn]

    @property
    def lines(self) -> list[str]:
        """The draws of all iterations, one after the other: a list for each, of lists where there are loops inside."""
        if self.at_once:
            return self.at_once
        lines = [*(f"{name} = []" for name in self.names), *self._lines_of(self.loop, 1)]
        if not self.is_apart:
            return lines
        name, found = fresh_name("drawn", self.taken), f"({', '.join(self.names)},)"
        return [f"def {name}():", *(f"    {line}" for line in lines), f"    return {found}", f"{found} = {name}()"]

    def _lines_of(self, loop: ast.For, depth: int) -> list[str]:
        lines = [f"for {ast.unparse(loop.target)} in {ast.unparse(loop.iter)}:"]
        for part in parts(self.drawn, loop):
            if isinstance(part, Drawn):
                lines.append(f"    {part.line()}")
                continue
            begun = [one.name for one in self.drawn if part in one.place.loops]
            lines += [f"    {name}{'[-1]' * (depth - 1)}.append([])" for name in begun]
            lines += [f"    {line}" for line in self._lines_of(part, depth + 1)]
        return lines

    def statements(self, columns: Mapping[str, Any]) -> list[ast.stmt]:
        """The region over what was drawn: each iteration has arrays of its own, as a draw gives them."""
        items = {_place(one.place.call): self._item(one, columns[one.name]) for one in self.drawn}
        loops = {_place(loop): depth for one in self.drawn for depth, loop in enumerate(one.place.loops)}
        numbered = {place: self.indices[depth] for place, depth in loops.items()}
        made = _Replaced(items, numbered).visit(fresh_copy(self.loop))
        before, behind = self.around
        return [*before, ast.fix_missing_locations(made), *behind]

    def _item(self, drawn: Drawn, column: Any) -> ast.expr:
        places: list[ast.expr] = [ast.Name(name, ast.Load()) for name in self.indices[: drawn.depth]]
        item: ast.expr = ast.Name(drawn.name, ast.Load())
        if isinstance(column, list) or drawn.depth == 1:
            for place in places:
                item = ast.Subscript(item, place, ast.Load())
        else:
            item = ast.Subscript(item, ast.Tuple(places, ast.Load()), ast.Load())
        if drawn.sequence is not None:
            return ast.Subscript(drawn.sequence, item, ast.Load())
        of_numpy = type(column).__module__ == "numpy"
        if isinstance(column, list) or (of_numpy and column.ndim == drawn.depth):
            return item
        return ast.Call(ast.Attribute(item, "copy" if of_numpy else "clone", ast.Load()), [], [])

    def given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values, with what would be drawn now; generators are left as they were found."""
        return {**values, **self._drawn_by(self.lines, values)[0]}

    def join(self, values: Mapping[str, Any]) -> None:
        """Draw all numbers by one call, where that gives the very same and leaves the generators as they would be."""
        known = {**self.namespace, **values}
        if self.at_once or not any("torch." in one.text for one in self.drawn):
            return
        apart, states = self._drawn_by(self.lines, values)
        if (lines := in_one_stream(self, apart, known)) is None:
            return
        together, after = self._drawn_by(lines, values)
        if states == after and all(_are_equal(apart[name], together[name]) for name in self.names):
            self.at_once = lines

    def _drawn_by(self, lines: list[str], values: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        """What lines draw, and the states of PyTorch's generators after them."""
        from looplift.runtime.snapshot import GeneratorStates

        kinds = (random.Random, *numpy_generators())
        own = {name: copy.deepcopy(value) for name, value in values.items() if isinstance(value, kinds)}
        states, known = GeneratorStates(values.values()), {**self.namespace, "torch": torch, **values, **own}
        try:
            exec("\n".join([*self.before, *lines]), known)
            generators = [value for value in values.values() if isinstance(value, torch.Generator)]
            after = b"".join(one.get_state().numpy().tobytes() for one in (torch.default_generator, *generators))
        except Exception as error:
            raise NotLiftable("requirement", f"what is drawn raises {type(error).__name__}: {error}") from None
        finally:
            states.restore()
        return {name: known[name] for name in self.names}, after


def _are_equal(apart: Any, together: torch.Tensor) -> bool:
    """Whether a tensor holds what a list of tensors does, or a list of such lists."""
    if isinstance(apart, list):
        return len(apart) == len(together) and all(map(_are_equal, apart, together))
    return torch.equal(apart, together)


def draws_of(statements: list[ast.stmt], values: Mapping[str, Any], namespace: Mapping[str, Any]) -> Draws | None:
    """None where nothing is drawn, or in another way."""
    known = {**namespace, **values}
    is_draw = _Draw(known, {*assigned_names(statements)})
    if not draws_numbers(statements, known):
        return None
    positions = [k for k, statement in enumerate(statements) if any(map(is_draw, nodes_of(statement)))]
    loop = statements[positions[0]]
    if len(positions) > 1 or not isinstance(loop, ast.For) or loop.orelse:
        return None
    before, behind = statements[: positions[0]], statements[positions[0] + 1 :]
    if not (places := in_order(loop, is_draw)):
        return None
    if any(keyword.arg in table.KNOWN_ELSEWHERE for place in places for keyword in place.call.keywords):
        return None
    taken = {*known, *assigned_names(statements)} | names_of(statements).loads
    chosen = [_chosen(place.call, is_draw) for place in places]
    alone: list[ast.Call] = [
        place.call if one is None else _at_its_place(place.call, one) for place, one in zip(places, chosen, strict=True)
    ]
    if (before_it := needed(places, alone, before, known)) is None:
        return None
    first = [ast.unparse(statement) for statement in before_it]
    if {*assigned_names(before_it)} & values.keys():
        return None  # what the region is given is bound anew before it is read
    read = contents(places, alone, before_it)
    if is_known_otherwise(places, {*assigned_names(before_it)} & read, known):
        return None
    blanks = [_blank(call) if place.tests else None for place, call in zip(places, alone, strict=True)]
    if any(place.tests and blank is None for place, blank in zip(places, blanks, strict=True)):
        return None
    names = [fresh_name(f"draw_{k}", taken) for k in range(1, len(places) + 1)]
    found = [
        Drawn(name, place, ast.unparse(call), sequence, blank)
        for name, place, call, sequence, blank in zip(names, places, alone, chosen, blanks, strict=True)
    ]
    read = sorted(read - {*assigned_names([*before_it, loop])})
    deepest = max(one.depth for one in found)
    indices = [fresh_name("draw" if k == 1 else f"draw_in_{k}", taken) for k in range(1, deepest + 1)]
    taken |= {*indices, *names}
    once = at_once(places[0], known, is_draw.bound) if len(found) == 1 else None
    lines = [f"{names[0]} = {once}"] if once else None
    bound = {name for place in places for one in place.loops for name in names_of(one.target).stores}
    hides = not bound.isdisjoint(values)
    return Draws(found, first, loop, indices, (before, behind), namespace, read, taken, lines, is_apart=hides)


def draws_numbers(statements: list[ast.stmt], known: Mapping[str, Any]) -> bool:
    """Whether statements themselves draw random numbers; what they call may do so, too."""
    return any(map(_Draw(known, {*assigned_names(statements)}), _every(statements)))


def draws_before(
    places: Sequence[Any], samples: Sequence[torch.Tensor], arguments: Mapping[str, Any], around: Mapping[str, Any]
) -> Draws:
    """What is drawn at places of the IR (``analysis/drawn.py``), in loops that only count. ``samples``: what each is
    drawn for in the first iteration; ``around``: the namespace of the region."""
    taken, loops, found = {*arguments, *around}, dict[Any, ast.For](), list[Drawn]()
    for number, (place, sample) in enumerate(zip(places, samples, strict=True), 1):
        for loop, (name, count) in zip(place.loops, place.counts, strict=True):
            if loop not in loops:
                counted = ast.parse(f"range({count})", mode="eval").body
                loops[loop] = ast.For(ast.Name(name, ast.Store()), counted, [], [])
        text, blank = draw_for(sample, place.name, place.generator, place.rate)
        name = fresh_name(f"draw_{number}", taken)
        taken.add(name)
        tests = tuple((ast.parse(test, mode="eval").body, holds) for test, holds in place.tests)
        where = Place(ast.Call(ast.Name(name), [], []), tuple(loops[loop] for loop in place.loops), tests)
        found.append(Drawn(name, where, text, None, blank))
    outer = found[0].place.loops[0]
    guards = [guard for place in places for guard in place.guards]
    guards += _sizes(arguments, outer, {**around, **arguments})
    return Draws(found, [], outer, [], ([], []), around, [], taken, guards=tuple(guards))


def _sizes(arguments: Mapping[str, Any], loop: ast.For, known: Mapping[str, Any]) -> Iterator[str]:
    """Guards of the sizes of arguments, but for the number of iterations."""
    count = len(eval(ast.unparse(loop.iter), {**known}))
    for name, value in arguments.items():
        if hasattr(value, "shape") and hasattr(value, "dtype") and value.ndim:
            start = int(value.shape[0] == count)
            yield f"{name}.shape[{start}:] == {tuple(value.shape[start:])}"


def _blank(draw: ast.Call) -> str | None:
    """The text of zeros in the place of numbers that are drawn by their sizes."""
    found = re.match(r"torch\.(?:rand|randn)(?P<like>_like)?\(", text := ast.unparse(draw))
    if found is None or "generator" in text:
        return None
    return f"torch.zeros{found['like'] or ''}({text[found.end() :]}"


def _every(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    for statement in statements:
        yield from nodes_of(statement)


def _place(node: ast.expr | ast.For) -> tuple[int | None, ...]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


class _Draw:
    """Whether a node calls a function that draws random numbers."""

    def __init__(self, known: Mapping[str, Any], bound: set[str]):
        self.known, self.bound = known, bound

    def __call__(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.Call):
            return False
        match node.func:
            case ast.Name(id=name) if name not in self.bound:
                return _draws(self.known.get(name))
            case ast.Attribute(value=owner, attr=name):
                found = value_of(owner, self.known, self.bound)
                kinds = (random.Random, *numpy_generators())
                if isinstance(found, kinds):
                    return name in NAMES["random"] | NAMES["numpy.random"]
                return isinstance(found, types.ModuleType) and name in NAMES.get(found.__name__, ())
        return False


def _draws(function: Any) -> bool:
    """Whether a function that goes by a name of its own is one of a library that draws."""
    if not callable(function):
        return False
    libraries = (("torch", torch), ("numpy.random", numpy_random()), ("random", random))
    name = getattr(function, "__name__", "")
    return any(
        library is not None and name in NAMES[module] and getattr(library, name, None) == function
        for module, library in libraries
    )


def _chosen(draw: ast.Call, is_draw: _Draw) -> ast.expr | None:
    """What Python's ``choice`` takes an item of, unless all of them are plain values: of others the loop gets the item
    itself, as a row of a tensor that it may change."""
    owner = value_of(draw.func.value, is_draw.known, is_draw.bound) if isinstance(draw.func, ast.Attribute) else None
    named = is_draw.known.get(draw.func.id) if isinstance(draw.func, ast.Name) else None
    of_python = owner is random or isinstance(owner, random.Random) or named == random.choice
    name = draw.func.attr if isinstance(draw.func, ast.Attribute) else "choice"
    if not of_python or name != "choice" or len(draw.args) != 1 or draw.keywords:
        return None
    try:
        found = ast.literal_eval(draw.args[0])
    except ValueError:
        found = value_of(draw.args[0], is_draw.known, is_draw.bound)
    return None if isinstance(found, list | tuple | str | range) and _is_plain_value(found) else draw.args[0]


def _is_plain_value(value: Any) -> bool:
    """Whether a value of Python's own, or each of a list or tuple, cannot be changed."""
    if type(value) in (list, tuple):
        return all(type(item) is not list and _is_plain_value(item) for item in value)
    return type(value) in (int, float, bool, complex, str, range, type(None))


def _at_its_place(draw: ast.Call, sequence: ast.expr) -> ast.Call:
    """The same draw, of the place of an item: ``choice(range(len(sequence)))``."""
    length = ast.Call(ast.Name("len", ast.Load()), [sequence], [])
    return ast.Call(draw.func, [ast.Call(ast.Name("range", ast.Load()), [length], [])], [])


class _Replaced(ast.NodeTransformer):
    """Draws as items of what was drawn before, in loops that count."""

    def __init__(
        self, items: Mapping[tuple[int | None, ...], ast.expr], numbered: Mapping[tuple[int | None, ...], str]
    ):
        self.items, self.numbered = items, numbered

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        if (index := self.numbered.get(_place(node))) is None:
            return node
        pair = ast.Tuple([ast.Name(index, ast.Store()), node.target], ast.Store())
        counted = ast.Call(ast.Name("enumerate", ast.Load()), [node.iter], [])
        return ast.copy_location(ast.For(pair, counted, node.body, []), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if (item := self.items.get(_place(node))) is None:
            return self.generic_visit(node)
        return ast.copy_location(fresh_copy(item), node)
