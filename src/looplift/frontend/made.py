"""Statements in; the tensors and arrays of numbers that they make before their first loop, to store to, out.

labels = torch.zeros(height, width, dtype=torch.int64)

Storing a number into a tensor takes a microsecond, into a list some nanoseconds. What is made in front of the loops is
known before: the statements that make it run once, for the values that a region is compiled for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import torch

from looplift.base.syntax import nodes_of

DTYPES = ("int64", "float64", "float32", "bool")
CREATORS = frozenset("zeros ones empty full zeros_like ones_like empty_like full_like arange eye linspace".split())
PLAIN = (
    ast.expr_context, ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Attribute, ast.Subscript, ast.Call, ast.keyword,
    ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.UnaryOp, ast.USub,
)  # fmt: skip
FUNCTIONS = (len, int, min, max)


def made_by(statements: Iterable[ast.stmt], values: Mapping[str, Any]) -> dict[str, Any]:
    """The tensors and arrays by their names, as they are for these values."""
    scope, found = dict(values), {}
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name() | ast.Tuple() as target], value=value) if _is_plain(value, scope):
                names = [one.id for one in nodes_of(target) if isinstance(one, ast.Name)]
                try:
                    exec(compile(ast.Module([statement], []), "<looplift made>", "exec"), {}, scope)
                except Exception:
                    break  # so does the loop
                if isinstance(value, ast.Call) and is_creator(value.func, lambda node: resolved(node, values)):
                    found |= {name: scope[name] for name in names if _may_be_stored_to(scope[name])}
            case ast.For() | ast.While():
                break
            case _:
                for name in _bound(statement):
                    scope.pop(name, None)
    return found


def is_creator(function: ast.expr, find: Callable[[ast.expr], Any]) -> bool:
    """Whether what is called makes a tensor or array in memory of its own."""
    if not (isinstance(function, ast.Attribute) and function.attr in CREATORS):
        return False
    return find(function) is getattr(find(function.value), function.attr, None) and any(
        find(function.value) is one for one in (torch, np)
    )


def resolved(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """The object that a chain of names stands for; None of other expressions."""
    if isinstance(node, ast.Name):
        return values.get(node.id)
    return getattr(resolved(node.value, values), node.attr, None) if isinstance(node, ast.Attribute) else None


def _is_plain(node: ast.expr, scope: Mapping[str, Any]) -> bool:
    """Whether an expression only reads sizes, computes with them, and makes tensors."""
    every = nodes_of(node)
    return all(isinstance(one, PLAIN) for one in every) and all(
        one.id in scope for one in every if isinstance(one, ast.Name)
    ) and all(_is_plain_call(one.func, scope) for one in every if isinstance(one, ast.Call))  # fmt: skip


def _is_plain_call(function: ast.expr, scope: Mapping[str, Any]) -> bool:
    if is_creator(function, lambda node: resolved(node, scope)):
        return True
    match function:
        case ast.Name(id=name):
            return any(scope[name] is one for one in FUNCTIONS)
        case ast.Attribute(value=ast.Name(id=name), attr="size" | "numel" | "dim"):
            return isinstance(scope[name], torch.Tensor)
    return False


def _may_be_stored_to(value: Any) -> bool:
    if isinstance(value, torch.Tensor) and (value.requires_grad or value.device.type != "cpu"):
        return False
    plain = isinstance(value, torch.Tensor | np.ndarray) and value.ndim > 0
    return plain and str(value.dtype).removeprefix("torch.") in DTYPES


def _bound(statement: ast.stmt) -> Iterator[str]:
    for one in nodes_of(statement):
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load):
            yield one.id
