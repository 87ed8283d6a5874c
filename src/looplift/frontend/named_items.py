"""Statements in; what the names that they bind may be, in terms of what they bind not, out.

for k, layer in enumerate(self.layers):      ``layer`` is any of ``self.layers[:]``
    norm = self.norms[k]                     ``norm`` any of ``self.norms[:]``
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from looplift.base.syntax import nodes_of

Meanings = Mapping[str, list[ast.expr]]
"""The expressions that a name is bound to; only those that name an object or its items."""


def meanings_of(statements: list[ast.stmt]) -> Meanings:
    """What loops and assignments bind names to."""
    found: dict[str, list[ast.expr]] = {}
    for node in (node for statement in statements for node in nodes_of(statement)):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    _bind(found, target, value)
            case ast.For(target=target, iter=source) | ast.comprehension(target=target, iter=source):
                _bind_items(found, target, source)
    return found


def _bind(found: dict[str, list[ast.expr]], target: ast.expr, value: ast.expr) -> None:
    match target, value:
        case ast.Name(id=name), ast.Name() | ast.Attribute() | ast.Subscript():
            found.setdefault(name, []).append(value)
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            for one, its in zip(targets, values, strict=True):
                _bind(found, one, its)
        case ast.Tuple(elts=targets), ast.Name() | ast.Attribute() | ast.Subscript():
            for place, one in enumerate(targets):
                _bind(found, one, ast.Subscript(value, ast.Constant(place), ast.Load()))


def _bind_items(found: dict[str, list[ast.expr]], target: ast.expr, source: ast.expr) -> None:
    """The target of a loop is any item of what it runs through."""
    match source, target:
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]), ast.Tuple(elts=[_, item]):
            _bind_items(found, item, inner)
        case ast.Call(func=ast.Name(id="zip"), args=inners), ast.Tuple(elts=items) if len(inners) == len(items):
            for item, inner in zip(items, inners, strict=True):
                _bind_items(found, item, inner)
        case ast.Call(func=ast.Name(id="reversed"), args=[inner]), _:
            _bind_items(found, target, inner)
        case ast.Call(func=ast.Attribute(value=owner, attr="values" | "children"), args=[]), _:
            _bind_items(found, target, owner)
        case ast.Call(func=ast.Attribute(value=owner, attr="items"), args=[]), ast.Tuple(elts=[_, item]):
            _bind_items(found, item, owner)
        case _:
            _bind(found, target, _any_of(source))


def _any_of(source: ast.expr) -> ast.expr:
    return ast.Subscript(source, ast.Slice(), ast.Load())


def in_terms_of(meanings: Meanings, node: ast.expr, within: frozenset[str] = frozenset()) -> ast.expr:
    """An expression that names an object, with what names mean for the names; ``within``: the meanings of these."""
    match node:
        case ast.Name(id=name) if name in meanings and name not in within:
            parts = [in_terms_of(meanings, one, within | {name}) for one in meanings[name]]
            return ast.BoolOp(ast.Or(), [*parts, node]) if parts else node
        case ast.Attribute(value=owner, attr=name):
            return ast.Attribute(in_terms_of(meanings, owner, within), name, ast.Load())
        case ast.Subscript(value=owner, slice=key):
            return ast.Subscript(in_terms_of(meanings, owner, within), key, ast.Load())
    return node
