"""Statements in, the names that functions and generators made in them hold on to out.

What is gone at once holds nothing: a key of ``sorted`` and the like, what ``sum`` and the like run through. Methods
such as ``sort`` and ``update`` do so if they are those of Python's containers, which is seen, or asked of a parameter.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from looplift.base.data import dataclass, field
from looplift.base.syntax import children_of, nodes_of
from looplift.frontend.names import FUNCTIONS, free_names, names_of, parameters, walk_own

_KEY_CALLS = frozenset(("sorted", "min", "max", "reduce"))
_LAZY_KEY_CALLS = frozenset(("map", "filter"))
_CONSUMERS = frozenset((
    "sum", "min", "max", "any", "all", "list", "tuple", "set", "frozenset", "dict", "sorted", "next", "prod", "fsum",
    "fromiter", "stack", "cat", "Counter", "deque",
))  # fmt: skip
_METHODS = frozenset(("sort", "join", "extend", "update"))
_LIBRARIES = frozenset(
    ("builtins", "functools", "math", "collections", "numpy", "torch", "io", "warnings", "contextlib")
)
_DISPLAYS = (ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.Set, ast.SetComp, ast.JoinedStr)
_CONTAINERS = frozenset(("list", "dict", "set", "str", "sorted", "deque", "Counter", "OrderedDict", "defaultdict"))

Find = Callable[[ast.expr], Any]
"""The object that a name or an attribute of a module stands for, if it is no local one."""


@dataclass(eq=False)
class Receivers:
    """What receivers of methods in a function are; ``asked``: parameters that have to be asked for their types."""

    function: ast.FunctionDef
    find: Find
    may_ask: bool = True
    asked: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.given = {*parameters(self.function.args)}
        self.bindings: dict[str, list[ast.expr | None]] = {}
        for name, value in _bindings(self.function.body):
            self.bindings.setdefault(name, []).append(value)
        names = names_of(self.function.body)
        for name in names.rebound | names.outer:  # others bind it, too
            self.bindings[name] = [None]

    def is_container(self, node: ast.expr) -> bool:
        """Whether it is a list, dict, set or text of Python's, if the parameters in ``asked`` are."""
        match node:
            case ast.Constant(value=str()):
                return True
            case ast.Call(func=func):
                return name_in_library(func, self.find) in _CONTAINERS
            case ast.Name(id=name) if name in self.given:
                if not self.may_ask or name in self.bindings:
                    return False
                self.asked.add(name)
                return True
            case ast.Name(id=name):
                return self._all_are(name, self.is_container)
            case ast.Subscript(value=ast.Name(id=name)) if name not in self.given:
                return self._all_are(name, self._is_filled_with_containers)
        return isinstance(node, _DISPLAYS)

    def _all_are(self, name: str, holds: Callable[[ast.expr], bool]) -> bool:
        values = self.bindings.get(name, [None])
        self.bindings[name] = [None]  # a name that is bound to itself tells nothing
        found = all(value is not None and holds(value) for value in values)
        self.bindings[name] = values
        return found

    def _is_filled_with_containers(self, node: ast.expr) -> bool:
        match node:
            case ast.List(elts=items):
                return all(map(self.is_container, items))
            case ast.ListComp(elt=item) | ast.DictComp(value=item):
                return isinstance(item, _DISPLAYS)
            case ast.Call(args=[ast.Name() as maker]):
                is_dict = name_in_library(node.func, self.find) == "defaultdict"
                return is_dict and name_in_library(maker, self.find) in _CONTAINERS
        return False


def name_in_library(node: ast.expr, find: Find) -> str:
    """The name of a function or type of a library; empty for others."""
    if not isinstance(node, ast.Name | ast.Attribute) or (found := find(node)) is None:
        return ""
    home = find(node.value) if isinstance(node, ast.Attribute) else None
    module = getattr(found if home is None else home, "__module__" if home is None else "__name__", None) or ""
    is_known = module.partition(".")[0].lstrip("_") in _LIBRARIES
    return getattr(found, "__name__", "") if is_known else ""


def imports_of(function: ast.FunctionDef) -> dict[str, Any]:
    """What a function imports, by names that nothing else in it binds; of modules that are loaded already."""
    found: dict[str, Any] = {}
    names = names_of(function.body)
    others = {*parameters(function.args)} | names.rebound | names.outer
    for node in walk_own(function):
        match node:
            case ast.Import(names=aliases):
                for one in aliases:
                    name = one.name if one.asname else one.name.partition(".")[0]
                    found[one.asname or name] = sys.modules.get(name)
            case ast.ImportFrom(module=str(module), names=aliases, level=0):
                found.update(
                    {one.asname or one.name: getattr(sys.modules.get(module), one.name, None) for one in aliases}
                )
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                others.add(name)
        others.update(one.name for one in children_of(node) if isinstance(one, ast.FunctionDef | ast.ClassDef))
    return {name: one for name, one in found.items() if one is not None and name not in others}


def _bindings(nodes: list[ast.stmt]) -> Iterator[tuple[str, ast.expr | None]]:
    """Each binding of a name by statements, with the value where it is the whole of an assignment."""
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                whole = [target.id for target in targets if isinstance(target, ast.Name)]
                yield from ((name, value) for name in whole)
                yield from ((name, None) for name in names_of(node).stores.difference(whole))
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                yield name, value
            case ast.AugAssign(op=ast.Add(), target=ast.Name()):  # a list stays one
                continue
            case ast.For() | ast.While() | ast.If() | ast.With() | ast.Try():
                yield from _of_parts(node)
            case _:
                yield from ((name, None) for name in names_of(node).stores)


def _of_parts(node: ast.stmt) -> Iterator[tuple[str, ast.expr | None]]:
    for child in children_of(node):
        if isinstance(child, ast.stmt):
            yield from _bindings([child])
        elif isinstance(child, ast.ExceptHandler):
            yield from [(child.name, None)] if child.name else []
            yield from _bindings(child.body)
        else:
            yield from ((name, None) for name in names_of(child).stores)


def held_names(nodes: Iterable[ast.AST], receivers: Receivers) -> frozenset[str]:
    """Names that functions and generators in statements hold on to."""
    held: set[str] = set()

    def callee(node: ast.Call) -> str:
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in _METHODS and receivers.is_container(func.value):
            return func.attr
        return name_in_library(func, receivers.find)

    def visit(node: ast.AST, consumed: bool) -> None:
        if isinstance(node, FUNCTIONS):
            held.update(free_names(node))
        elif isinstance(node, ast.ClassDef):
            held.update(names_of(node).captured)
        elif isinstance(node, ast.GeneratorExp) and not consumed:
            held.update(_held_by(node))
        name = callee(node) if isinstance(node, ast.Call) and _makes_what_holds(node) else ""
        is_key = name in _KEY_CALLS or name == "sort" or (consumed and name in _LAZY_KEY_CALLS)
        consumes = name in _CONSUMERS | _METHODS or isinstance(node, ast.Starred) or _is_taken_apart(node)
        for child in children_of(node):
            value = child.value if isinstance(child, ast.keyword) else child
            if not (is_key and isinstance(value, ast.Lambda)):
                visit(child, consumes)

    for node in nodes:
        visit(node, False)
    return frozenset(held)


def _makes_what_holds(node: ast.Call) -> bool:
    """Whether functions or generators are made in a call: of others nobody needs to know what is called."""
    return any(isinstance(one, (*FUNCTIONS, ast.GeneratorExp)) for one in nodes_of(node))


def _is_taken_apart(node: ast.AST) -> bool:
    """Whether an assignment takes its value apart, and keeps nothing of it."""
    return isinstance(node, ast.Assign) and all(isinstance(one, ast.Tuple | ast.List) for one in node.targets)


def _held_by(node: ast.GeneratorExp) -> set[str]:
    """Names that a generator reads while it runs: what its first iteration goes through was evaluated before."""
    rest = [part for one in node.generators for part in (one.target, *one.ifs)]
    inside = names_of([node.elt, *rest, *(one.iter for one in node.generators[1:])])
    return inside.loads - inside.stores
