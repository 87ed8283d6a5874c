"""Statements that draw single numbers at random, wherever they do, in; the same over states of generators, out.

for _ in range(n):                       state = random.getstate()
    x = random.random()                  words = np.array(state[1])
    if x < p and random.random() < q:    for _ in range(n):
        hits += 1                            x = unit(words)
                                             if x < p and unit(words) < q:
                                                 hits += 1
                                         random.setstate((state[0], tuple(words.tolist()), state[2]))

What draws is written in ``mersenne.py``, as loops that a kernel takes in, bit for bit as the libraries have it.
"""

from __future__ import annotations

import ast
import copy
import random
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from looplift.base.data import dataclass
from looplift.base.streams import numpy_random
from looplift.frontend import mersenne
from looplift.frontend.names import assigned_names, names_of
from looplift.frontend.syntax import fresh_copy, nodes_of


@dataclass
class Draw:
    """``defaults``: of its parameters, by name; None for one that must be given. ``by_two``: it holds one back."""

    function: Callable[..., Any]
    defaults: dict[str, float | None]
    by_two: bool = False


NUMPY = {
    "rand": Draw(mersenne.unit, {}),
    "random": Draw(mersenne.unit, {}),
    "random_sample": Draw(mersenne.unit, {}),
    "uniform": Draw(mersenne.numpy_uniform, {"low": 0.0, "high": 1.0}),
    "randint": Draw(mersenne.numpy_integer, {"low": None, "high": None}),
    "randn": Draw(mersenne.numpy_standard, {}, by_two=True),
    "standard_normal": Draw(mersenne.numpy_standard, {}, by_two=True),
    "normal": Draw(mersenne.numpy_normal, {"loc": 0.0, "scale": 1.0}, by_two=True),
    "exponential": Draw(mersenne.numpy_exponential, {"scale": 1.0}),
}
PYTHON = {
    "random": Draw(mersenne.unit, {}),
    "uniform": Draw(mersenne.python_uniform, {"a": None, "b": None}),
    "randint": Draw(mersenne.python_integer, {"a": None, "b": None}),
    "randrange": Draw(mersenne.python_range, {"start": None, "stop": None}),
    "choice": Draw(mersenne.python_below, {"seq": None}),
    "gauss": Draw(mersenne.python_gauss, {"mu": 0.0, "sigma": 1.0}, by_two=True),
    "normalvariate": Draw(mersenne.python_normal, {"mu": 0.0, "sigma": 1.0}),
    "expovariate": Draw(mersenne.python_exponential, {"lambd": None}),
}


@dataclass
class Stream:
    """A generator: the text that it goes by, and the names of its state and of the arrays that are made of it."""

    owner: str
    is_python: bool
    state: str
    words: str
    held: str
    by_two: bool = False

    def opening(self) -> list[str]:
        state = self.state
        if self.is_python:
            lines = [f"{state} = {self.owner}.getstate()", f"{self.words} = np.array({state}[1])"]
            held = f"[{state}[2] is not None, {state}[2] or 0.0]"
        else:
            lines = [f"{state} = {self.owner}.get_state(legacy=False)"]
            lines.append(f"if {state}['bit_generator'] != 'MT19937':\n    raise RequirementFailed")
            lines.append(f"{self.words} = np.append({state}['state']['key'].astype(np.int64), {state}['state']['pos'])")
            held = f"[{state}['has_gauss'], {state}['gauss']]"
        return [*lines, f"{self.held} = np.array({held}, dtype=np.float64)"] if self.by_two else lines

    def ending(self) -> str:
        state, words, held = self.state, self.words, self.held
        if self.is_python:
            left = f"float({held}[1]) if {held}[0] else None" if self.by_two else f"{state}[2]"
            return f"{self.owner}.setstate(({state}[0], tuple({words}.tolist()), {left}))"
        left = f"'has_gauss': int({held}[0]), 'gauss': float({held}[1]), " if self.by_two else ""
        bits = f"{{'key': {words}[:624], 'pos': {words}[624]}}"
        return f"{self.owner}.set_state({{**{state}, {left}'state': {bits}}})"


@dataclass
class Streams:
    """A region over the states of its generators."""

    statements: list[ast.stmt]
    streams: list[Stream]
    functions: dict[str, Callable[..., Any]]
    namespace: Mapping[str, Any]
    tables: dict[str, str]
    """Arrays of what is chosen from, and what they are made of."""
    result: str

    @property
    def names(self) -> list[str]:
        return [*self.tables, *(name for one in self.streams for name in (one.state, one.words, one.held))]

    @property
    def openings(self) -> list[str]:
        tables = [f"{name} = np.array({text})" for name, text in self.tables.items()]
        return [*tables, *(line for stream in self.streams for line in stream.opening())]

    @property
    def endings(self) -> list[str]:
        return [stream.ending() for stream in self.streams]

    def given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values, with the states of the generators as they are now."""
        from looplift.base.errors import RequirementFailed

        known = {**self.namespace, **values, "np": np, "RequirementFailed": RequirementFailed}
        exec("\n".join(self.openings), known)
        return {**values, **self.functions, **{name: known[name] for name in self.names if name in known}}


def streams_of(statements: list[ast.stmt], values: Mapping[str, Any], namespace: Mapping[str, Any]) -> Streams | None:
    """None where nothing is drawn, or something in another way than is known here."""
    known = {**namespace, **values}
    finder = _Finder(known, {*assigned_names(statements)})
    copied = [fresh_copy(statement) for statement in statements]
    taken = {*known, *assigned_names(statements)} | names_of(statements).loads
    replaced = _Replaced(finder, taken)
    copied = [ast.fix_missing_locations(replaced.visit(statement)) for statement in copied]
    if not replaced.streams:
        return None
    result = replaced.fresh("drawn")
    return Streams(copied, [*replaced.streams.values()], replaced.functions, namespace, replaced.tables, result)


@dataclass
class _Finder:
    """Which generator a call draws from, and what it draws."""

    known: Mapping[str, Any]
    bound: set[str]

    def __call__(self, node: ast.Call) -> tuple[str, Any, str] | None:
        """The text of the generator, the generator, and the name of what it draws."""
        match node.func:
            case ast.Name(id=name) if name not in self.bound:
                function = self.known.get(name)
                owner = _generator_of(function)
                return (f"{name}.__self__", owner, getattr(function, "__name__", "")) if _draws(owner) else None
            case ast.Attribute(value=owner, attr=name):
                found = self.value(owner)
                is_known = _draws(found) or (_is_library(found) and _draws(_generator_of(getattr(found, name, None))))
                return (ast.unparse(owner), found, name) if is_known else None
        return None

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Name(id=name) if name not in self.bound:
                return self.known.get(name)
            case ast.Attribute(value=value, attr=attr):
                owner = self.value(value)
                return getattr(owner, attr, None) if isinstance(owner, types.ModuleType) else None
        return None


def _generator_of(function: Any) -> Any:
    """What a function draws from that is a method of a generator."""
    return getattr(function, "__self__", None) if callable(function) else None


def _draws(value: Any) -> bool:
    """Whether a value is a generator of the Mersenne twister's, and nobody's subclass."""
    module = numpy_random()
    return type(value) is random.Random or (module is not None and type(value) is module.RandomState)


def _is_library(value: Any) -> bool:
    return value is random or (value is not None and value is numpy_random())


class _Replaced(ast.NodeTransformer):
    """Draws as calls of functions over states."""

    def __init__(self, finder: _Finder, taken: set[str]):
        self.finder, self.taken = finder, taken
        self.streams: dict[Any, Stream] = {}
        self.functions: dict[str, Callable[..., Any]] = {}
        self.tables: dict[str, str] = {}

    def visit_Call(self, node: ast.Call) -> ast.AST:
        found = self.finder(node)
        self.generic_visit(node)
        if found is None:
            return node
        owner, generator, name = found
        is_python = generator is random or type(generator) is random.Random
        if name == "choice" and not is_python:
            return self._chosen(node, owner, generator)
        draw = (PYTHON if is_python else NUMPY).get(name)
        arguments = None if draw is None else _arguments(draw, name, node)
        if draw is None or arguments is None or not is_as_written(name, is_python=is_python):
            return node
        stream = self._stream(owner, generator, is_python=is_python)
        stream.by_two |= draw.by_two
        function = self._name(draw.function)
        states = [stream.words, stream.held] if draw.by_two else [stream.words]
        called: ast.expr = _call(function, [*map(_read, states), *arguments])
        if name == "choice":
            called = ast.Subscript(copy.deepcopy(node.args[0]), called, ast.Load())
        return ast.copy_location(called, node)

    def _chosen(self, node: ast.Call, owner: str, generator: Any) -> ast.AST:
        """NumPy's choice of an item: one of an array of what is given, or of the first integers."""
        if len(node.args) != 1 or node.keywords or not is_as_written("randint", is_python=False):
            return node
        items = node.args[0]
        value = self.finder.value(items)
        if is_number := type(value) is int or (isinstance(items, ast.Constant) and type(items.value) is int):
            count = items
        elif _is_display(items):
            name = self.fresh(f"items_{len(self.tables) + 1}")
            self.tables[name] = ast.unparse(items)
            items, count = _read(name), _call("len", [_read(name)])
        elif type(value) is np.ndarray and value.ndim == 1:
            count = _call("len", [copy.deepcopy(items)])
        else:
            return node
        words = _read(self._stream(owner, generator, is_python=False).words)
        drawn: ast.expr = _call(self._name(mersenne.numpy_integer), [words, ast.Constant(0), count])
        return ast.copy_location(drawn if is_number else ast.Subscript(items, drawn, ast.Load()), node)

    def _stream(self, owner: str, generator: Any, *, is_python: bool) -> Stream:
        key = _global(generator)
        if key not in self.streams:
            number = len(self.streams) + 1
            state, words, held = (self.fresh(f"{what}_{number}") for what in ("state", "words", "held"))
            self.streams[key] = Stream(owner, is_python, state, words, held)
        return self.streams[key]

    def _name(self, function: Callable[..., Any]) -> str:
        for name, known in self.functions.items():
            if known is function:
                return name
        name = self.fresh(f"draw_{function.__name__}")
        self.functions[name] = function
        return name

    def fresh(self, name: str) -> str:
        while name in self.taken:
            name = f"{name}_"
        self.taken.add(name)
        return name


def _global(generator: Any) -> int:
    """A key of a generator: of a library it is the one that its functions draw from."""
    if generator is random:
        return id(random.random.__self__)
    module = numpy_random()
    return id(module.rand.__self__) if module is not None and generator is module else id(generator)


def _read(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _call(name: str, arguments: list[ast.expr]) -> ast.Call:
    return ast.Call(_read(name), arguments, [])


def _arguments(draw: Draw, name: str, node: ast.Call) -> list[ast.expr] | None:
    """What a draw of one number is given, in the order of its parameters; None where it may draw more."""
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    if len(node.args) > len(draw.defaults) or any(isinstance(one, ast.Starred) for one in node.args):
        return None
    positional = dict(zip(draw.defaults, node.args, strict=False))
    if given.keys() - (draw.defaults.keys() - positional.keys()):
        return None
    given |= positional
    if name in ("randint", "randrange") and len(given) == 1 and len(positional) == 1:
        if name == "randrange" or "low" in given:
            return [ast.Constant(0), node.args[0]]
        return None
    if name == "choice":
        return [_call("len", [node.args[0]])] if _may_be_read_twice(node.args) else None
    every = []
    for parameter, default in draw.defaults.items():
        if parameter not in given and default is None:
            return None
        every.append(given.get(parameter, ast.Constant(default)))
    return every


def _is_display(node: ast.expr) -> bool:
    """Whether an expression is a list or tuple of numbers that are written out."""
    numbers = (ast.Constant, ast.UnaryOp, ast.unaryop, ast.expr_context)
    if not isinstance(node, ast.List | ast.Tuple) or not node.elts:
        return False
    parts = [part for item in node.elts for part in nodes_of(item)]
    return all(
        isinstance(part, numbers) and (not isinstance(part, ast.Constant) or type(part.value) in (int, float))
        for part in parts
    )


def _may_be_read_twice(nodes: list[ast.expr]) -> bool:
    fine = (ast.Name, ast.List, ast.Tuple, ast.Constant, ast.UnaryOp, ast.expr_context, ast.unaryop)
    return len(nodes) == 1 and all(isinstance(part, fine) for part in nodes_of(nodes[0]))


# ---------------------------------------------------------------- the libraries as they are here


@cache
def is_as_written(name: str, *, is_python: bool) -> bool:
    """Whether this library draws as ``mersenne.py`` does: another version may do so in another way."""
    if is_python:
        mine, theirs = random.Random(7), random.Random(7)
        opening, draw = Stream("mine", True, "state", "words", "held", by_two=True), PYTHON[name]
    else:
        module = numpy_random()
        mine, theirs = module.RandomState(7), module.RandomState(7)
        opening, draw = Stream("mine", False, "state", "words", "held", by_two=True), NUMPY[name]
    known: dict[str, Any] = {"mine": mine, "np": np}
    exec("\n".join(opening.opening()), known)
    states = [known["words"], known["held"]] if draw.by_two else [known["words"]]
    given = _EXAMPLES[draw.function](name)
    made = [_example(draw, name, states, given) for _ in range(40)]
    drawn = [getattr(theirs, name)(*given) for _ in range(40)]
    exec(opening.ending(), known)
    return made == drawn and mine.random() == theirs.random()


def _example(draw: Draw, name: str, states: list[Any], given: tuple[Any, ...]) -> Any:
    if name == "choice":
        return given[0][draw.function(*states, len(given[0]))]
    return draw.function(*states, *given)


_EXAMPLES: dict[Callable[..., Any], Callable[[str], tuple[Any, ...]]] = {
    draw.function: (lambda name: ()) for draw in (*NUMPY.values(), *PYTHON.values())
}
_EXAMPLES |= {
    mersenne.numpy_uniform: lambda name: (-0.3, 2.9),
    mersenne.numpy_integer: lambda name: (-3, 39),
    mersenne.numpy_normal: lambda name: (0.7, 1.3),
    mersenne.numpy_exponential: lambda name: (1.7,),
    mersenne.python_uniform: lambda name: (-0.3, 2.9),
    mersenne.python_integer: lambda name: (-3, 39),
    mersenne.python_range: lambda name: (-3, 39),
    mersenne.python_below: lambda name: ("abcdefghijk",),
    mersenne.python_gauss: lambda name: (0.7, 1.3),
    mersenne.python_normal: lambda name: (0.7, 1.3),
    mersenne.python_exponential: lambda name: (1.7,),
}
