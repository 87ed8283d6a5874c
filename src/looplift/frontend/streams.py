"""Statements that draw single numbers at random, wherever they do, in; the same over states of generators, out.

for _ in range(n):                       state = random.getstate()
    x = random.random()                  words = ...  # an array of them
    if x < p and random.random() < q:    for _ in range(n):
        hits += 1                            x = unit(words)
                                             if x < p and unit(words) < q:
                                                 hits += 1
                                         random.setstate(...)

Of PyTorch's draws, what counts is the number of a tensor of one element: ``torch.rand(1).item()``. What draws is
written in ``mersenne.py``, as loops that a kernel takes in, bit for bit as the libraries have it.
"""

from __future__ import annotations

import ast
import copy
import itertools
import random
import re
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from looplift.base.closures import closure_of
from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.base.streams import numpy_random
from looplift.base.syntax import fresh_copy, nodes_of
from looplift.frontend import mersenne
from looplift.frontend.libraries import LIBRARIES, Draw, OfNumpy, OfPython, Stream, is_as_written
from looplift.frontend.names import assigned_names, fresh_name, names_of, value_of
from looplift.frontend.source import remade, source_of
from looplift.frontend.torch_draws import OfTensors
from looplift.ops.names import of_libraries


@dataclass
class Streams:
    """A region over the states of its generators. ``result``: a name for what it gives. ``as_lists``: the states are
    lists, not arrays."""

    statements: list[ast.stmt]
    made: _Made
    namespace: Mapping[str, Any]
    result: str
    as_lists: bool = False

    @property
    def names(self) -> list[str]:
        return [*self.made.states(), *(one.state for one in self.made.streams.values())]

    @property
    def openings(self) -> list[str]:
        tables = [f"{name} = np.array({text})" for name, text in self.made.tables.items()]
        lines = [*tables, *(line for stream in self.made.streams.values() for line in stream.opening())]
        return lines + [f"{name} = {name}.tolist()" for name in self._arrays if self.as_lists]

    @property
    def endings(self) -> list[str]:
        lines = [f"{name} = np.array({name})" for name in self._arrays if self.as_lists]
        return lines + [line for stream in self.made.streams.values() for line in stream.ending()]

    @property
    def _arrays(self) -> list[str]:
        return [name for one in self.made.streams.values() for name in one.arrays()]

    def given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values, with the states of the generators as they are now."""
        from looplift.base.errors import RequirementFailed

        known = {**self.namespace, **values, "np": np, "RequirementFailed": RequirementFailed}
        try:
            exec("\n".join(self.openings), known)
        except RequirementFailed:
            raise NotLiftable("requirement", "a generator that draws in a way of its own") from None
        return {**values, **self.made.functions, **{name: known[name] for name in self.names if name in known}}

    def guards(self) -> tuple[list[str], dict[str, Any]]:
        """Conditions that functions which draw still call those that they did, that generators are one or several as
        they were, and what the text stands for."""
        streams = self.made.streams.values()
        texts = [f"{one.itself()} is {one.itself(other)}" for one in streams for other in sorted(one.others)]
        texts += [
            f"{one.itself()} is not {other.itself()}"
            for one, other in itertools.combinations(streams, 2)
            if type(one) is type(other)
        ]
        names: dict[str, Any] = {}
        for number, (around, name, function) in enumerate(self.made.read):
            names |= {f"_names_{number}": around, f"_called_{number}": function}
            texts.append(f"_names_{number}.get({name!r}) is _called_{number}")
        for number, (space, name) in enumerate(self.made.roots):
            names[f"_drawn_{number}"] = space
            texts.append(f"_drawn_{number}.get({name!r}) is {name}")
        return texts + of_libraries(self.made.drawing, names), names

    def as_named(self, text: str) -> str | None:
        """A condition in terms of the user's functions; None where it is about states, or what draws of them."""
        for name, called in self.made.origins.items():
            text = re.sub(rf"\b{name}\b", called, text)
        own = [*self.names, *(self.made.functions.keys() - self.made.origins.keys())]
        return None if re.search(rf"\b({'|'.join(own)})\b", text) else text


def streams_of(statements: list[ast.stmt], values: Mapping[str, Any], namespace: Mapping[str, Any]) -> Streams | None:
    """None where nothing is drawn, or something in another way than is known here."""
    known = {**namespace, **values}
    finder = _Finder(known, {*assigned_names(statements)})
    made = _Made({*known, *assigned_names(statements)} | names_of(statements).loads, finder)
    replaced = _Replaced(finder, made)
    copied = [ast.fix_missing_locations(replaced.visit(fresh_copy(statement))) for statement in statements]
    if not made.streams:
        return None
    return Streams(copied, made, namespace, made.fresh("drawn"))


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
                found = value_of(owner, self.known, self.bound)
                is_known = _draws(found) or (_is_library(found) and _draws(_generator_of(getattr(found, name, None))))
                return (ast.unparse(owner), found, name) if is_known else None
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


@dataclass
class _Made:
    """What is made for a region as its draws are replaced."""

    taken: set[str]
    around: _Finder
    """That of the region."""
    streams: dict[Any, Stream] = field(default_factory=dict)
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    callees: dict[Any, tuple[str, list[str]] | None] = field(default_factory=dict)
    """Functions of the user that draw: the names of theirs over states, and of the states that they take."""
    origins: dict[str, str] = field(default_factory=dict)
    """The names of these in the region, by the names over states."""
    read: list[tuple[dict[str, Any], str, types.FunctionType]] = field(default_factory=list)
    """The names of these that others of them read, and where."""
    roots: list[tuple[Mapping[str, Any], str]] = field(default_factory=list)
    """The names by which they know what they draw from, and where."""
    drawing: dict[tuple[types.ModuleType, str], Any] = field(default_factory=dict)
    """The functions of libraries that are drawn by."""

    def fresh(self, name: str) -> str:
        name = fresh_name(name, self.taken)
        self.taken.add(name)
        return name

    def is_known_as(self, text: str, generator: Any) -> bool:
        """Whether a generator that a function of the user draws from goes by the same text in the region."""
        root, *attributes = text.split(".")
        if root in self.around.bound:
            return False
        found = self.around.known.get(root)
        for name in attributes:
            found = getattr(found, name, None)
        return _global(found) == _global(generator)

    def states(self) -> set[str]:
        return {*self.tables, *(name for one in self.streams.values() for name in (one.words, one.held))}


class _Replaced(OfTensors):
    """Draws as calls of functions over states."""

    made: _Made

    def __init__(self, finder: _Finder, made: _Made, around: dict[str, Any] | None = None):
        self.finder, self.made, self.around = finder, made, around

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if (number := self.number_of_tensor(node)) is not None:
            return number
        found = self.finder(node)
        self.generic_visit(node)
        if found is None:
            return self._called(node)
        owner, generator, name = found
        if not self.made.is_known_as(owner, generator):
            return node
        self.ask_for(owner.partition(".")[0])
        if isinstance(generator, types.ModuleType):
            self.made.drawing[generator, name] = getattr(generator, name)
        kind = OfPython if generator is random or type(generator) is random.Random else OfNumpy
        if name == "choice" and kind is OfNumpy:
            return self._chosen(node, owner, generator)
        draw = LIBRARIES[kind].get(name)
        arguments = None if draw is None else _arguments(draw, name, node)
        if draw is None or arguments is None or not is_as_written(name, kind):
            return node
        called = self.drawn(self.stream(owner, generator, kind), draw, arguments)
        if name == "choice":
            called = ast.Subscript(copy.deepcopy(node.args[0]), called, ast.Load())
        return ast.copy_location(called, node)

    def drawn(self, stream: Stream, draw: Draw, arguments: list[ast.expr]) -> ast.expr:
        stream.by_two |= draw.by_two
        states = [stream.words, stream.held] if draw.by_two else [stream.words]
        return _call(self.name(draw.function), [*map(_read, states), *arguments])

    def ask_for(self, root: str) -> None:
        """Have it asked whether what a function of the user draws from still goes by the same name in the region."""
        known = self.finder.known
        if self.around is None or isinstance(known[root], types.ModuleType):
            return
        asked = self.around if self.around.get(root) is known[root] else {root: known[root]}
        if not any(space is asked and name == root for space, name in self.made.roots):
            self.made.roots.append((asked, root))

    def _called(self, node: ast.Call) -> ast.AST:
        """A call of a function of the user that draws is one of the same over states."""
        if not isinstance(node.func, ast.Name) or node.func.id in self.finder.bound:
            return node
        function = self.finder.known.get(node.func.id)
        if type(function) is not types.FunctionType:
            return node
        if function not in self.made.callees:
            self.made.callees[function] = None  # of one that calls itself nothing is made
            self.made.callees[function] = self._over_states(function)
        if (found := self.made.callees[function]) is None:
            return node
        name, states = found
        if self.around is None:
            self.made.origins[name] = node.func.id
        else:
            self.made.read.append((self.around, node.func.id, function))
        given = [*node.keywords, *(ast.keyword(state, _read(state)) for state in states)]
        return ast.copy_location(ast.Call(_read(name), node.args, given), node)

    def _over_states(self, function: types.FunctionType) -> tuple[str, list[str]] | None:
        try:
            tree = fresh_copy(source_of(function).tree)
        except NotLiftable:
            return None
        bound = {*assigned_names(tree.body)} | {one.arg for one in nodes_of(tree.args) if isinstance(one, ast.arg)}
        self.made.taken |= bound | names_of(tree.body).loads
        known = {**function.__globals__, **closure_of(function)}
        inside = _Replaced(_Finder(known, bound), self.made, function.__globals__)
        tree.body = fresh_copy([inside.visit(statement) for statement in tree.body])
        if any(known.get(name) is function for name in names_of(tree.body).loads):
            return None  # it calls itself
        taken = sorted(names_of(tree.body).loads & (self.made.states() | self.made.functions.keys()))
        if not taken:
            return None
        tree.args.kwonlyargs += [ast.arg(one) for one in taken]
        tree.args.kw_defaults += [None for _ in taken]
        name = self.made.fresh(f"{function.__name__}_over_states")
        self.made.functions[name] = remade(function, ast.fix_missing_locations(tree))
        return name, taken

    def _chosen(self, node: ast.Call, owner: str, generator: Any) -> ast.AST:
        """NumPy's choice of an item: one of an array of what is given, or of the first integers."""
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        way = "choice" if given.keys() == {"p"} else "randint"
        if len(node.args) != 1 or given.keys() - {"p"} or not is_as_written(way, OfNumpy):
            return node
        items = node.args[0]
        value = value_of(items, self.finder.known, self.finder.bound)
        if is_number := type(value) is int or self._is_integer(items):
            count = items
        elif _is_display(items):
            name = self.made.fresh(f"items_{len(self.made.tables) + 1}")
            self.made.tables[name] = ast.unparse(items)
            items, count = _read(name), _call("len", [_read(name)])
        elif type(value) is np.ndarray and value.ndim == 1:
            count = _call("len", [copy.deepcopy(items)])
        else:
            return node
        words = _read(self.stream(owner, generator, OfNumpy).words)
        if "p" in given:
            drawn: ast.expr = _call(self.name(mersenne.numpy_choice), [words, given["p"], count])
        else:
            drawn = _call(self.name(mersenne.numpy_integer), [words, ast.Constant(0), count])
        return ast.copy_location(drawn if is_number else ast.Subscript(items, drawn, ast.Load()), node)

    def _is_integer(self, node: ast.expr) -> bool:
        """Whether an expression is an integer for certain: one that is written out, a length, an extent."""
        match node:
            case ast.Constant(value=value):
                return type(value) is int
            case ast.Call(func=ast.Name(id="len") as function, args=[ast.Name()], keywords=[]):
                return value_of(function, {"len": len, **self.finder.known}, self.finder.bound) is len
            case ast.Subscript(value=ast.Attribute(value=ast.Name(), attr="shape"), slice=ast.Constant(value=place)):
                return type(place) is int
        return False

    def stream(self, owner: str, generator: Any, kind: type[Stream]) -> Stream:
        streams, key = self.made.streams, _global(generator)
        if key not in streams:
            number = len(streams) + 1
            state, words, held = (self.made.fresh(f"{what}_{number}") for what in ("state", "words", "held"))
            streams[key] = kind(owner, state, words, held)
        if owner != streams[key].owner:
            streams[key].others.add(owner)
        return streams[key]

    def name(self, function: Callable[..., Any]) -> str:
        for name, known in self.made.functions.items():
            if known is function:
                return name
        name = self.made.fresh(f"draw_{function.__name__}")
        self.made.functions[name] = function
        return name


def _global(generator: Any) -> int:
    """A key of a generator: of a library it is the one that its functions draw from."""
    if generator is random:
        return id(getattr(random.random, "__self__", random))
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
        return [_count_of(node.args[0])] if _may_be_read_twice(node.args) else None
    every = []
    for parameter, default in draw.defaults.items():
        if parameter not in given and default is None:
            return None
        every.append(given.get(parameter, ast.Constant(default)))
    return every


def _count_of(items: ast.expr) -> ast.expr:
    """How many items there are."""
    if isinstance(items, ast.List | ast.Tuple):
        return ast.Constant(len(items.elts))
    if isinstance(items, ast.Constant) and isinstance(items.value, str):
        return ast.Constant(len(items.value))
    return _call("len", [items])


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
