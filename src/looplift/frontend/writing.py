"""Statements in, whether they may change what a list or an array holds out."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterable
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.base.syntax import nodes_of
from looplift.frontend.scope import MISSING, Builder
from looplift.ops.names import is_library

GROWING = frozenset(("append", "extend"))
"""Methods of lists that the region makes: those of the caller do not grow in it."""
IN_PLACE = frozenset("insert pop remove clear sort reverse fill setdefault update popitem put itemset resize".split())
DEPTH = 4


def may_write(build: Builder, nodes: Iterable[ast.AST]) -> bool:
    """Whether statements of the region store into something, or call what may."""

    def lookup(name: str) -> Any:
        return MISSING if name in build.env else build.outer_value(name)

    return _may_write(nodes, lookup, 0)


def _may_write(nodes: Iterable[ast.AST], lookup: Callable[[str], Any], depth: int) -> bool:
    for node in (part for one in nodes for part in nodes_of(one)):
        match node:
            case ast.Subscript(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store() | ast.Del()):
                return True
            case ast.Call(func=function) if _call_may_write(function, lookup, depth):
                return True
    return False


def _call_may_write(function: ast.expr, lookup: Callable[[str], Any], depth: int) -> bool:
    match function:
        case ast.Name(id=name):
            return _function_may_write(lookup(name), depth)
        case ast.Attribute(value=owner, attr=name):
            module = lookup(owner.id) if isinstance(owner, ast.Name) else MISSING
            if isinstance(module, types.ModuleType) and not is_library(module):
                return _function_may_write(getattr(module, name, MISSING), depth)
            return name in IN_PLACE or (name.endswith("_") and not name.endswith("__"))
    return True


def _function_may_write(found: Any, depth: int) -> bool:
    from looplift.frontend.calls import outer_names
    from looplift.frontend.source import is_lambda, source_of

    if found is MISSING:
        return True
    if is_of_library(found):
        return False
    if not isinstance(found, types.FunctionType):
        return not isinstance(found, type | types.BuiltinFunctionType)
    if depth == DEPTH or is_lambda(found):
        return True
    try:
        tree = source_of(found).tree
    except NotLiftable:
        return True
    outer = outer_names(found)
    return _may_write(tree.body, lambda name: outer.get(name, _builtin(name)), depth + 1)


def _builtin(name: str) -> Any:
    import builtins

    return getattr(builtins, name, MISSING)


def is_of_library(found: Any) -> bool:
    """Whether something is PyTorch's, NumPy's or Python's own."""
    return (getattr(found, "__module__", None) or "").partition(".")[0] in ("torch", "numpy", "math", "builtins")
