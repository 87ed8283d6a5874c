"""Sizes of tensors that the loop computes, where no value is needed for them: ``q @ k / math.sqrt(q.shape[-1])``.

A size that stands in a formula of numbers beside a tensor is computed where that operation is.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from looplift.base.syntax import children_of, nodes_of
from looplift.frontend.host_tables import torch_name
from looplift.frontend.host_values import Live, is_tensor_atom

if TYPE_CHECKING:
    from looplift.frontend.host_flow import Flow


def extent_of(node: ast.AST) -> tuple[ast.Name, int] | None:
    """The tensor and the dimension of ``x.shape[0]``, ``x.size(0)`` and ``len(x)``."""
    match node:
        case ast.Subscript(value=ast.Attribute(value=ast.Name() as owner, attr="shape"), slice=place):
            return None if (axis := _integer(place)) is None else (owner, axis)
        case ast.Call(func=ast.Attribute(value=ast.Name() as owner, attr="size"), args=[place], keywords=[]):
            return None if (axis := _integer(place)) is None else (owner, axis)
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name() as owner], keywords=[]):
            return owner, 0
    return None


def _integer(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return None


def is_beside_a_tensor(flow: Flow, node: ast.AST) -> bool | None:
    """Whether a size is part of a formula that is an operand of tensor work; None while that is not known."""
    if isinstance(node, ast.Attribute):
        node = flow.parent(node) or node
    if extent_of(node) is None:
        return False
    while _is_formula(above := flow.parent(node), node):
        assert above is not None
        node = above
    match above:
        case ast.BinOp(left=left, right=right):
            known = flow.values.get(right if node is left else left)
            return any(map(is_tensor_atom, known)) if known else None
        case ast.Call(func=function, args=arguments) if node in arguments:
            known = flow.values.get(function)
            found = [torch_name(atom.value) if isinstance(atom, Live) else None for atom in known or ()]
            return all(found) if known else None
    return False


def is_formula(flow: Flow, node: ast.AST) -> bool:
    """Whether a node computes a number of a size that waits for its operation."""
    return node in flow.extents or any(_is_formula(node, part) and is_formula(flow, part) for part in children_of(node))


def _is_formula(node: ast.AST | None, below: ast.AST) -> bool:
    """Whether a node computes a number of the one below and of constants."""
    match node:
        case ast.BinOp():
            others = [item for item in (node.left, node.right) if item is not below]
            return all(isinstance(item, ast.Constant) for item in others)
        case ast.UnaryOp(op=ast.USub()):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math")), args=[one], keywords=[]):
            return one is below
    return False


def parents_of(statements: list[ast.stmt]) -> dict[ast.AST, ast.AST]:
    nodes = [node for statement in statements for node in nodes_of(statement)]
    return {child: node for node in nodes for child in children_of(node)}
