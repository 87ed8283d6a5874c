"""Statements in; the same with names of their own for what comprehensions bind, where these are bound elsewhere too.

states = [encode(c) for c in node.children]        states = [encode(c_2) for c_2 in node.children]
for h, c in states: ...                            for h, c in states: ...
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections import Counter
from collections.abc import Iterable

from looplift.base.syntax import nodes_of

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def names_apart(statements: list[ast.stmt], bound: Iterable[str] = ()) -> list[ast.stmt]:
    """``bound``: names that are bound before the statements. Gives copies where something changes."""
    nodes = [node for statement in statements for node in nodes_of(statement)]
    if not any(isinstance(node, Comprehension) for node in nodes):
        return statements
    often = Counter({name: 1 for name in bound})
    inside = {id(name) for node in nodes if isinstance(node, Comprehension) for name in _targets(node)}
    for node in nodes:
        if isinstance(node, Comprehension):
            often.update({name.id for name in _targets(node)})
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in inside:
            often[node.id] += 1
        elif isinstance(node, ast.arg):
            often[node.arg] += 1
    if not any(often[name.id] > 1 for node in nodes if isinstance(node, Comprehension) for name in _targets(node)):
        return statements
    known = {node.id for node in nodes if isinstance(node, ast.Name)} | often.keys()
    renaming = _Renaming({name for name, count in often.items() if count > 1}, known)
    return [renaming.visit(copy.deepcopy(statement)) for statement in statements]


def _targets(node: Comprehension) -> list[ast.Name]:
    parts = [part for generator in node.generators for part in nodes_of(generator.target)]
    return [part for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]


class _Renaming(ast.NodeTransformer):
    def __init__(self, shared: set[str], known: set[str]):
        self.shared, self.known = shared, known
        self.names: dict[str, str] = {}

    def fresh(self, name: str) -> str:
        made = numbered(name, self.known)
        self.known.add(made)
        return made

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        node.args.defaults = [self.visit(default) for default in node.args.defaults]
        node.args.kw_defaults = [default and self.visit(default) for default in node.args.kw_defaults]
        saved = self.names
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        own = {argument.arg for argument in every if argument is not None}
        self.names = {name: text for name, text in saved.items() if name not in own}
        node.body = self.visit(node.body)
        self.names = saved
        return node

    def _comprehension(self, node: Comprehension) -> Comprehension:
        first = node.generators[0]
        first.iter = self.visit(first.iter)  # outside of the comprehension's scope
        saved = self.names
        own = {name.id for name in _targets(node)}
        self.names = {name: text for name, text in saved.items() if name not in own}
        self.names |= {name: self.fresh(name) for name in sorted(own & self.shared)}
        for generator in node.generators:
            generator.target = self.visit(generator.target)
            if generator is not first:
                generator.iter = self.visit(generator.iter)
            generator.ifs = [self.visit(test) for test in generator.ifs]
        if isinstance(node, ast.DictComp):
            node.key, node.value = self.visit(node.key), self.visit(node.value)
        else:
            node.elt = self.visit(node.elt)
        self.names = saved
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


def numbered(name: str, known: set[str]) -> str:
    """The name with the first number behind it that makes it a new one."""
    return next(text for k in itertools.count(2) if (text := f"{name}_{k}") not in known)


def attributes_apart(statements: list[ast.stmt], bound: Iterable[str] = ()) -> list[ast.stmt]:
    """The statements with each assignment to an attribute or an element alone: ``a.h, a.c = v`` by way of names."""
    nodes = [node for statement in statements for node in nodes_of(statement)]
    if not any(_is_among_targets(node) for node in nodes):
        return statements
    apart = _AttributesApart({node.id for node in nodes if isinstance(node, ast.Name)} | set(bound))
    made = [apart.visit(copy.deepcopy(statement)) for statement in statements]
    return [one for some in made for one in (some if isinstance(some, list) else [some])]


def _is_among_targets(node: ast.AST) -> bool:
    """Whether a statement assigns to an attribute or an element, and to something else too."""
    if not isinstance(node, ast.Assign) or (len(node.targets) == 1 and isinstance(node.targets[0], _PLACES)):
        return False
    parts = [part for target in node.targets for part in _flat(target)]
    return any(isinstance(part, _PLACES) for part in parts)


_PLACES = (ast.Attribute, ast.Subscript)


def _flat(target: ast.expr) -> list[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        return [part for item in target.elts for part in _flat(item)]
    return [target]


def _one_by_one(target: ast.expr, value: ast.expr) -> list[ast.stmt]:
    """``a, b = x, y`` of new names as an assignment of each."""
    match target, value:
        case ast.Tuple(elts=names), ast.Tuple(elts=items) if len(names) == len(items):
            if all(isinstance(name, ast.Name) for name in names) and not any(isinstance(i, ast.Starred) for i in items):
                return [ast.Assign([name], item) for name, item in zip(names, items)]
    return [ast.Assign([target], value)]


class _AttributesApart(ast.NodeTransformer):
    def __init__(self, known: set[str]):
        self.known = known

    def fresh(self, hint: str) -> str:
        made = numbered(hint, self.known)
        self.known.add(made)
        return made

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        if not _is_among_targets(node):
            return node
        made: list[ast.stmt] = []
        value, name = node.value, ""
        if len(node.targets) > 1:
            name = self.fresh("value")
            made.append(ast.Assign([ast.Name(name, ast.Store())], value))
        for target in node.targets:
            value = ast.Name(name, ast.Load()) if name else value
            after: list[ast.stmt] = []
            if _flat(target) != [target]:
                target = self.named(target, after)
            made += [*_one_by_one(target, value), *after]
        return [ast.fix_missing_locations(ast.copy_location(one, node)) for one in made]

    def named(self, target: ast.expr, after: list[ast.stmt]) -> ast.expr:
        """The target with a name in place of each part; what then gives the parts their values goes to ``after``."""
        if isinstance(target, ast.Tuple | ast.List):
            return type(target)([self.named(item, after) for item in target.elts], ast.Store())
        if isinstance(target, ast.Starred):
            return ast.Starred(self.named(target.value, after), ast.Store())
        name = self.fresh(target.attr if isinstance(target, ast.Attribute) else "item")
        after.append(ast.Assign([target], ast.Name(name, ast.Load())))
        return ast.Name(name, ast.Store())
