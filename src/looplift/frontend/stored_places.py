"""Statements in, whether lists that they make, or functions that they call, change at places of the data out."""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.base.syntax import nodes_of
from looplift.frontend.callees import may_be_users
from looplift.frontend.named_items import Meanings, in_terms_of, meanings_of
from looplift.frontend.recursion import function_of, scope_of
from looplift.frontend.source import source_of
from looplift.frontend.writing import is_of_library
from looplift.runtime.named import objects_named


def stores_at_places(statements: list[ast.stmt], values: Mapping[str, Any]) -> bool:
    """Whether a list that statements make, or functions that they call, is stored into at places that are not written
    out."""
    return _store_at_places(statements, values, set())


def _store_at_places(statements: list[ast.stmt], scope: Mapping[str, Any], seen: set[types.CodeType]) -> bool:
    if _has_stores_at_places(statements):
        return True
    meanings = meanings_of(statements)
    calls = [node for statement in statements for node in nodes_of(statement) if isinstance(node, ast.Call)]
    return any(_stores_at_places_inside(call, scope, meanings, seen) for call in calls if may_be_users(call.func))


def _stores_at_places_inside(
    call: ast.Call, scope: Mapping[str, Any], meanings: Meanings, seen: set[types.CodeType]
) -> bool:
    """Whether one of the functions that may be called does so."""
    for value in objects_named(in_terms_of(meanings, call.func), scope):
        found = function_of(value)
        if found is None or found[0].__code__ in seen or is_of_library(found[0]):
            continue
        function, owner = found
        seen.add(function.__code__)
        try:
            tree = source_of(function).tree
        except NotLiftable:
            continue
        given = _arguments(call, tree, scope, meanings, skips=owner is not None)
        if _store_at_places(tree.body, scope_of(function, tree, owner) | given, seen):
            return True
    return False


def _arguments(
    call: ast.Call, tree: ast.FunctionDef, scope: Mapping[str, Any], meanings: Meanings, *, skips: bool
) -> dict[str, Any]:
    """What the parameters of a function may be, as far as it is known; ``skips``: the first is another one's."""
    names = [one.arg for one in (*tree.args.posonlyargs, *tree.args.args)][skips:]
    given = [*zip(names, call.args, strict=False), *((one.arg, one.value) for one in call.keywords if one.arg)]
    found = {name: objects_named(in_terms_of(meanings, value), scope) for name, value in given}
    return {name: objects[0] for name, objects in found.items() if objects}


def _has_stores_at_places(statements: list[ast.stmt]) -> bool:
    every = [node for statement in statements for node in nodes_of(statement)]
    lists = {
        node.targets[0].id
        for node in every
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _makes_list(node.value)
    }
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id in lists
        and not isinstance(node.slice, ast.Constant)
        for node in every
    )


def _makes_list(node: ast.expr) -> bool:
    match node:
        case ast.ListComp() | ast.List(elts=[]) | ast.Call(func=ast.Name(id="list")):
            return True
        case ast.BinOp(left=ast.List()) | ast.BinOp(right=ast.List()) | ast.Call(func=ast.Attribute(attr="copy")):
            return True
    return False
