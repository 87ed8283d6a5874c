"""The test of a condition in, the names out that are not None where it holds, or where it does not."""

from __future__ import annotations

import ast

from looplift.base.syntax import nodes_of


def not_none(test: ast.expr, holds: bool) -> frozenset[str]:
    """Names that cannot be None: ``x is not None and y`` tells it of both where it holds."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not_none(inner, not holds)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) is holds:
            return frozenset().union(*(not_none(one, holds) for one in values))
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(None)]):
            return frozenset({name} if isinstance(op, ast.IsNot) is holds else ())
        case ast.Name(id=name) if holds:
            return frozenset({name})
    return frozenset()


def assigned(node: ast.AST) -> frozenset[str]:
    """The names that a loop may bind anew."""
    return frozenset(
        one.id for one in nodes_of(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store | ast.Del)
    )
