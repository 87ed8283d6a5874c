"""Syntax in, the names that it reads and binds in its own scope out."""

from __future__ import annotations

import ast
import itertools
import re
import types
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from looplift.base.data import dataclass, field, fields_of
from looplift.base.syntax import children_of, nodes_of

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FOUND = "looplift_names"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass
class Names:
    """``loads`` and ``stores`` of this scope; ``captured`` by functions inside; ``rebound`` by their ``nonlocal``."""

    loads: set[str] = field(default_factory=set)
    stores: set[str] = field(default_factory=set)
    unsure: set[str] = field(default_factory=set)  # stored by ``:=`` where an expression may not get to
    deleted: set[str] = field(default_factory=set)
    captured: set[str] = field(default_factory=set)
    rebound: set[str] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)  # declared global or nonlocal here

    def merge(self, other: Names) -> None:
        for name in fields_of(self):
            getattr(self, name).update(getattr(other, name))


def names_of(nodes: ast.AST | Iterable[ast.AST | None]) -> Names:
    """The names of one node or several. Trees are not changed once they are read: found names stay with the node."""
    if isinstance(nodes, ast.AST):
        found = nodes.__dict__.get(_FOUND)
        if found is None:
            collector = _Collector()
            collector.visit(nodes)
            found = nodes.__dict__[_FOUND] = collector.names
        return found
    every = Names()
    for node in nodes:
        if node is not None:
            every.merge(names_of(node))
    return every


def walk_own(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes except those of functions inside."""
    yield node
    for child in children_of(node):
        if not isinstance(child, (*FUNCTIONS, ast.ClassDef)):
            yield from walk_own(child)


def position_of(node: ast.AST) -> tuple[int, int]:
    """Line and column of a statement or expression."""
    assert isinstance(node, ast.stmt | ast.expr)
    return node.lineno, node.col_offset


class Numbers(Iterator[int]):
    """Numbers for made-up names: none with which a name of the author's ends, so that these are no names of his."""

    def __init__(self):
        self.counted, self.taken = itertools.count(1), set[int]()

    def __next__(self) -> int:
        return next(number for number in self.counted if number not in self.taken)

    def avoid(self, statements: Iterable[ast.AST]) -> None:
        """Statements are read, with names of their own."""
        named = (node.id for statement in statements for node in nodes_of(statement) if isinstance(node, ast.Name))
        self.taken |= {int(found[1]) for name in named if (found := _NUMBERED.fullmatch(name))}


_NUMBERED = re.compile(r"_.*_([0-9]{1,9})")


def fresh_name(name: str, taken: Iterable[str]) -> str:
    """A name like this one that is not taken."""
    while name in taken:
        name = f"{name}_"
    return name


def value_of(node: ast.expr, known: Mapping[str, Any], bound: Container[str]) -> Any:
    """What a name that is not bound here, or an attribute of a module, holds; None of other expressions."""
    match node:
        case ast.Name(id=name) if name not in bound:
            return known.get(name)
        case ast.Attribute(value=value, attr=attr):
            owner = value_of(value, known, bound)
            return getattr(owner, attr, None) if isinstance(owner, types.ModuleType) else None
    return None


def parameters(arguments: ast.arguments) -> list[str]:
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    found += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [one.arg for one in found]


def annotations_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.expr]:
    """The annotations of a function, which are evaluated where it is defined."""
    if isinstance(node, ast.Lambda):
        return []
    args = node.args
    every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
    return [note for note in (node.returns, *(one.annotation for one in every if one)) if note is not None]


def inner_names(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Names:
    """The names of a nested function's own body; its free names are ``loads`` without ``stores``."""
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    found = names_of(body)
    found.stores |= set(parameters(node.args))
    return found


def free_names(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    found = inner_names(node)
    return (found.loads - found.stores) | found.outer


class _Collector(ast.NodeVisitor):
    def __init__(self):
        self.names = Names()
        self.may_not_run = False

    def visit_Name(self, node: ast.Name) -> None:
        match node.ctx:
            case ast.Load():
                self.names.loads.add(node.id)
            case ast.Store():
                self.names.stores.add(node.id)
            case ast.Del():
                self.names.deleted.add(node.id)
                self.names.stores.add(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        if self.may_not_run:
            self.names.unsure.add(node.target.id)
        self.generic_visit(node)

    def _short_circuit(self, sure: list[ast.expr], rest: list[ast.expr]) -> None:
        for part in sure:
            self.visit(part)
        outside, self.may_not_run = self.may_not_run, True
        for part in rest:
            self.visit(part)
        self.may_not_run = outside

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._short_circuit(node.values[:1], node.values[1:])

    def visit_Compare(self, node: ast.Compare) -> None:
        self._short_circuit([node.left, *node.comparators[:1]], node.comparators[1:])

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._short_circuit([node.test], [node.body, node.orelse])

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.names.loads.add(node.target.id)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is None and isinstance(node.target, ast.Name):  # makes a local, but binds nothing
            self.names.deleted.add(node.target.id)
        self.generic_visit(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        outside = [*node.args.defaults, *node.args.kw_defaults, *getattr(node, "decorator_list", [])]
        outside += annotations_of(node)
        self.names.merge(names_of(outside))
        inside = inner_names(node)
        free = (inside.loads - inside.stores) | inside.outer
        self.names.loads |= free
        self.names.captured |= free
        self.names.rebound |= (inside.outer & inside.stores) | (inside.rebound - inside.stores)
        if not isinstance(node, ast.Lambda):
            self.names.stores.add(node.name)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.names.merge(names_of([*node.bases, *node.keywords, *node.decorator_list]))
        inside = names_of(node.body)
        self.names.loads |= inside.loads
        self.names.captured |= inside.loads | inside.captured
        self.names.rebound |= (inside.outer & inside.stores) | inside.rebound
        self.names.stores.add(node.name)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        self.visit(node.generators[0].iter)
        elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        rest = [part for generator in node.generators for part in (generator.target, *generator.ifs)]
        inside = names_of([*elements, *rest, *(generator.iter for generator in node.generators[1:])])
        every = [part for child in (*elements, *rest) for part in nodes_of(child)]
        walrus = {part.target.id for part in every if isinstance(part, ast.NamedExpr)}
        targets = inside.stores - walrus
        self.names.loads |= inside.loads - targets
        self.names.stores |= walrus
        self.names.unsure |= walrus
        self.names.captured |= inside.captured - targets
        self.names.rebound |= inside.rebound

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.names.stores.add(node.name)
            self.names.deleted.add(node.name)
        self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        self.names.stores.add(node.asname or node.name.partition(".")[0])

    def _declaration(self, node: ast.Global | ast.Nonlocal) -> None:
        self.names.outer |= set(node.names)

    visit_Global = visit_Nonlocal = _declaration

    def _pattern(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            self.names.stores.add(node.name)
        self.generic_visit(node)

    visit_MatchAs = visit_MatchStar = _pattern

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.names.stores.add(node.rest)
        self.generic_visit(node)


UPDATES = {"add_": ast.Add, "sub_": ast.Sub, "mul_": ast.Mult, "div_": ast.Div}
"""Methods in place that are read as augmented assignments."""


def assigned_names(statements: list[ast.stmt]) -> list[str]:
    """Names bound or deleted by statements, in order of appearance; comprehensions keep theirs to themselves, but for
    what ``:=`` binds."""
    names: dict[str, None] = {}

    def visit(node: ast.AST, private: bool) -> None:
        kind = type(node)
        if kind is ast.Constant or kind is ast.Lambda:
            return
        if isinstance(node, ast.Name):
            if not private and type(node.ctx) is not ast.Load:
                names.setdefault(node.id)
            return
        if isinstance(node, ast.FunctionDef):
            names.setdefault(node.name)
            return
        if isinstance(node, ast.NamedExpr):
            names.setdefault(node.target.id)
        private = private or kind in COMPREHENSIONS
        for child in children_of(node):
            visit(child, private)

    for node in statements:
        visit(node, False)
    return list(names)


def updated_names(loop: ast.For | ast.While) -> list[str]:
    """The names that a loop may give what a method made of their value in place: ``x`` in ``x.add_(v)``."""
    names: dict[str, None] = {}
    for node in nodes_of(loop):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr))) if attr in UPDATES:
                names.setdefault(name)
    return list(names)
