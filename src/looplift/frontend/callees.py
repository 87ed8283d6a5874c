"""Statements outside of regions in, the same with a hook around what they call out.

    loss = model(x).sum()          becomes          loss = __looplift_regions__[1](model)(x).sum()

The hook gets what is called and gives it back, or its lifted form: so loops are lifted in the functions, methods and
modules that a function without loops of its own calls.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Set
from typing import Any

from looplift.base.syntax import children_of
from looplift.frontend.named_items import in_terms_of, meanings_of
from looplift.frontend.names import FUNCTIONS
from looplift.frontend.source import REGIONS_NAME

Place = tuple[int, int]
"""Line and column of the end of a call: two calls may begin in one place, as in `f(x)(y)`."""


def hooked(node: Any, number: int, places: Set[Place] | None = None) -> Any:
    """A copy of a definition whose own calls, or those at some places, go through hook ``number``; the node itself
    where it has none."""
    found = _Hooks(number, node, places)
    changed = found.visit(node)
    return changed if found.count else node


def calls_of_users(statements: list[ast.stmt]) -> dict[Place, ast.expr]:
    """What statements call that may be a function, method or module of the user, by the place of the call, in terms of
    names that are bound before: the variable of a loop is any item of what the loop runs through."""
    found: dict[Place, ast.expr] = {}
    meanings = meanings_of(statements)

    def visit(node: ast.AST) -> None:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            return
        if isinstance(node, ast.Call) and may_be_users(node.func):
            found[_place(node)] = in_terms_of(meanings, node.func)
        for child in children_of(node):
            visit(child)

    for statement in statements:
        visit(statement)
    return found


class _Hooks(ast.NodeTransformer):
    def __init__(self, number: int, definition: ast.AST, places: Set[Place] | None):
        self.number, self.definition, self.places, self.count = number, definition, places, 0

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and node is not self.definition:
            return node
        return super().visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """A copy where something inside is changed."""
        changed: dict[str, Any] = {}
        for name, value in ast.iter_fields(node):
            if name in ("decorator_list", "args") and node is self.definition:
                continue
            new = value
            if isinstance(value, list):
                new = [self.visit(item) if isinstance(item, ast.AST) else item for item in value]
                new = value if all(one is other for one, other in zip(new, value, strict=True)) else new
            elif isinstance(value, ast.AST):
                new = self.visit(value)
            if new is not value:
                changed[name] = new
        if not changed:
            return node
        fields = {name: value for name, value in ast.iter_fields(node)} | changed
        return ast.copy_location(type(node)(**fields), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if not may_be_users(node.func) or (self.places is not None and _place(node) not in self.places):
            return self.generic_visit(node)
        self.count += 1
        callee = self.visit(node.func)
        hook = ast.Subscript(ast.Name(REGIONS_NAME, ast.Load()), ast.Constant(self.number), ast.Load())
        call = ast.Call(hook, [callee], [])
        arguments = [self.visit(item) for item in node.args]
        keywords = [self.visit(item) for item in node.keywords]
        made = ast.Call(call, arguments, keywords)
        for part in (hook, hook.value, hook.slice, call, made):
            ast.copy_location(part, node)
        return made


def _place(node: ast.Call) -> Place:
    assert node.end_lineno is not None and node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset


def may_be_users(callee: ast.expr) -> bool:
    """Whether the text of a callee may name a function, method or module of the user."""
    match callee:
        case ast.Name(id=name):
            return name not in _builtin_names() and name != REGIONS_NAME
        case ast.Attribute(value=owner, attr=name):
            return name not in _common_methods() and not (isinstance(owner, ast.Name) and owner.id in _LIBRARIES)
        case ast.Subscript(value=ast.Name(id=name)):
            return name != REGIONS_NAME
        case ast.Subscript():
            return True
        case ast.Call(func=maker):  # `Model(k)(x)`
            return may_be_users(maker)
    return False


_LIBRARIES = frozenset(("torch", "np", "numpy", "math", "F", "nn", "random", "os", "time", "itertools"))


@functools.cache
def _builtin_names() -> frozenset[str]:
    import builtins

    return frozenset(dir(builtins))


@functools.cache
def _common_methods() -> frozenset[str]:
    """Names of methods that tensors, arrays and containers have."""
    import numpy as np
    import torch

    kinds = (torch.Tensor, np.ndarray, list, dict, set, str, tuple)
    return frozenset(name for kind in kinds for name in dir(kind) if name != "forward")
