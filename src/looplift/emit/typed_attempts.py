"""Statements that are tried, in; branches by whether a dict has a key out.

try:                            if key in d:
    d[key] += 1                     d[key] += 1
except KeyError:                else:
    d[key] = 1                      d[key] = 1
"""

from __future__ import annotations

import ast

from looplift.base.syntax import fresh_copy, nodes_of

_EXCEPTIONS = ("KeyError", "LookupError")
_ADDING = ("append", "add", "extend")
_PLAIN = (
    ast.Name, ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Subscript, ast.Assign,
    ast.AugAssign, ast.Expr, ast.Return,
)  # fmt: skip


class KeyTest(ast.Compare):
    """Whether a key is in what must be a dict, which raises nothing but KeyError. ``exception``: the name of what is
    caught."""

    _fields = (*ast.Compare._fields, "exception")
    exception: str


def without_attempts(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements with branches in the place of what they try, as far as that is known; the same where there is none."""
    if not any(isinstance(node, ast.Try) for statement in body for node in nodes_of(statement)):
        return body
    return [_Branches().visit(fresh_copy(statement)) for statement in body]


class _Branches(ast.NodeTransformer):
    def visit_Try(self, node: ast.Try) -> ast.AST:
        self.generic_visit(node)
        return _branch(node) or node


def _branch(node: ast.Try) -> ast.If | None:
    if node.orelse or node.finalbody or len(node.body) != 1:
        return None
    match node.handlers:
        case [ast.ExceptHandler(type=ast.Name(id=name), name=None, body=otherwise)] if name in _EXCEPTIONS:
            pass
        case _:
            return None
    statement = node.body[0]
    looked_up = [one for one in nodes_of(statement) if isinstance(one, ast.Subscript)]
    if len(looked_up) != 1 or not _raises_nothing_else(statement, looked_up[0]):
        return None
    (item,) = looked_up
    test = KeyTest(fresh_copy(item.slice), [ast.In()], [fresh_copy(item.value)])
    test.exception = name
    return ast.fix_missing_locations(ast.copy_location(ast.If(test, [statement], otherwise), node))


def _raises_nothing_else(statement: ast.stmt, item: ast.Subscript) -> bool:
    """Whether nothing but looking up an item may raise KeyError, and that comes first."""
    if not isinstance(item.value, ast.Name) or isinstance(item.slice, ast.Slice):
        return False
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=name), args=arguments, keywords=[])):
            parts = [part for one in arguments for part in nodes_of(one)] + nodes_of(item)
            return owner is item and name in _ADDING and all(isinstance(part, _PLAIN) for part in parts)
        case ast.AugAssign(target=first):
            first = first if first is item else _first_of(statement.value)
        case ast.Assign(targets=[ast.Name()], value=value) | ast.Return(value=ast.expr() as value):
            first = _first_of(value)
        case _:
            return False
    return first is item and all(isinstance(part, _PLAIN) for part in nodes_of(statement))


def _first_of(value: ast.expr) -> ast.expr:
    """What of an expression is evaluated first."""
    while isinstance(value, ast.BinOp):
        value = value.left
    return value
