"""Statements in, whether lists that they make, or functions that they call, change at places of the data out."""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.base.syntax import nodes_of
from looplift.frontend.callees import calls_of_users
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
    callees = calls_of_users(statements).values()
    called = [function_of(value) for callee in callees for value in objects_named(callee, scope)]
    return any(_stores_at_places_inside(*one, seen) for one in called if one is not None)


def _stores_at_places_inside(function: types.FunctionType, owner: Any, seen: set[types.CodeType]) -> bool:
    if function.__code__ in seen or is_of_library(function):
        return False
    seen.add(function.__code__)
    try:
        tree = source_of(function).tree
    except NotLiftable:
        return False
    return _store_at_places(tree.body, scope_of(function, tree, owner), seen)


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
