"""Whether statements reach a function that calls itself: the programs that waves are for."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator, Mapping
from typing import Any

from looplift.base.closures import closure_of
from looplift.base.errors import NotLiftable
from looplift.base.syntax import nodes_of
from looplift.frontend.host_inner import calls_itself
from looplift.frontend.source import source_of

MAX_DEPTH = 6


def is_recursive(statements: list[ast.stmt], values: Mapping[str, Any]) -> bool:
    """Whether a call in the statements leads back to itself, as far as callees are known before they run."""
    inner = [one for statement in statements for one in nodes_of(statement) if isinstance(one, ast.FunctionDef)]
    if inner and calls_itself(inner):
        return True
    return any(_reaches_itself(function, owner, ()) for function, owner in _callees(statements, values))


def _reaches_itself(function: types.FunctionType, owner: Any, path: tuple[types.CodeType, ...]) -> bool:
    if function.__code__ in path:
        return True
    if len(path) >= MAX_DEPTH:
        return False
    try:
        tree = source_of(function).tree
    except NotLiftable:
        return False
    if calls_itself(tree.body):
        return True
    inner, scope = (*path, function.__code__), scope_of(function, tree, owner)
    return any(_reaches_itself(callee, its, inner) for callee, its in _callees(tree.body, scope))


def scope_of(function: types.FunctionType, tree: ast.FunctionDef, owner: Any) -> dict[str, Any]:
    """The values of names in a function that are known before it is called; ``owner``: of a method its object."""
    scope = function.__globals__ | closure_of(function)
    if owner is not None and tree.args.args:
        scope[tree.args.args[0].arg] = owner
    return scope


def _callees(nodes: list[ast.stmt], scope: Mapping[str, Any]) -> Iterator[tuple[types.FunctionType, Any]]:
    for statement in nodes:
        for node in nodes_of(statement):
            if isinstance(node, ast.Call) and (found := function_of(_value(node.func, scope))) is not None:
                yield found


def _value(node: ast.expr, scope: Mapping[str, Any]) -> Any:
    match node:
        case ast.Name(id=name):
            return scope.get(name)
        case ast.Attribute(value=owner, attr=name):
            value = _value(owner, scope)
            return None if value is None else _attribute(value, name)
    return None


def _attribute(value: Any, name: str) -> Any:
    """An attribute that can be read without running code of its own."""
    import inspect

    import torch

    if isinstance(value, torch.nn.Module) and name in value._modules:
        return value._modules[name]
    found = inspect.getattr_static(value, name, None)
    if isinstance(found, types.FunctionType) and not isinstance(value, types.ModuleType | type):
        return types.MethodType(found, value)
    return found


def function_of(value: Any) -> tuple[types.FunctionType, Any] | None:
    """The function of the user's that a call of something runs, and the object whose method it is; None of others."""
    import torch

    if isinstance(value, types.MethodType) and isinstance(value.__func__, types.FunctionType):
        return value.__func__, value.__self__
    if isinstance(value, types.FunctionType):
        return value, None
    if isinstance(value, torch.nn.Module) and not type(value).__module__.startswith("torch."):
        return type(value).forward, value
    return None
