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

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def names_apart(statements: list[ast.stmt], bound: Iterable[str] = ()) -> list[ast.stmt]:
    """``bound``: names that are bound before the statements. Gives copies where something changes."""
    nodes = [node for statement in statements for node in ast.walk(statement)]
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
    parts = [part for generator in node.generators for part in ast.walk(generator.target)]
    return [part for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]


class _Renaming(ast.NodeTransformer):
    def __init__(self, shared: set[str], known: set[str]):
        self.shared, self.known = shared, known
        self.names: dict[str, str] = {}

    def fresh(self, name: str) -> str:
        made = next(text for k in itertools.count(2) if (text := f"{name}_{k}") not in self.known)
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
