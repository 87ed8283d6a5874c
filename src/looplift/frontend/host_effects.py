"""A region's statements in; whether they change lists, dicts or objects that they did not make themselves out.

Waves run over handles: what a region leaves in a container of its surroundings would be one, and is not put back.
"""

from __future__ import annotations

import ast

from looplift.base.syntax import nodes_of
from looplift.frontend.names import COMPREHENSIONS

CHANGES = frozenset((
    "append", "appendleft", "extend", "extendleft", "insert", "add", "update", "pop", "popleft", "popitem", "remove",
    "discard", "clear", "setdefault", "sort", "reverse", "rotate",
))  # fmt: skip


def changes_its_surroundings(statements: list[ast.stmt]) -> bool:
    """Whether a container or object that may be of the caller is written to, as far as the text tells."""
    every = [node for statement in statements for node in nodes_of(statement)]
    made = _made(every)
    return any((root := _written(node)) is not None and root not in made for node in every)


def grows_by_joining(statements: list[ast.stmt]) -> bool:
    """Whether a loop makes something longer and longer: waves would keep all of its lengths."""
    loops = [node for statement in statements for node in nodes_of(statement) if isinstance(node, ast.For | ast.While)]
    return any(_joins_itself(node) for loop in loops for node in nodes_of(loop))


def _joins_itself(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr=function)) as call):
            loads = {one.id for one in nodes_of(call) if isinstance(one, ast.Name)}
            return function in _JOINS and name in loads
    return False


_JOINS = frozenset("cat concat concatenate hstack vstack append column_stack row_stack".split())


def _made(nodes: list[ast.AST]) -> set[str]:
    """Names that are bound to containers written out in these statements, and to nothing else."""
    fresh: set[str] = set()
    other: set[str] = set()
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    _sort_out(target, value if len(targets) == 1 else None, fresh, other)
            case ast.For(target=target):
                other |= _bound(target)
    return fresh - other


def _sort_out(target: ast.expr, value: ast.expr | None, fresh: set[str], other: set[str]) -> None:
    """Puts the names that an assignment binds to those of fresh containers, or to the others."""
    match target, value:
        case ast.Tuple(elts=parts), ast.Tuple(elts=values) if len(parts) == len(values):
            for part, item in zip(parts, values):
                _sort_out(part, item, fresh, other)
        case ast.Name(id=name), ast.expr() if _is_display(value):
            fresh.add(name)
        case _:
            other |= _bound(target)


def _bound(target: ast.expr) -> set[str]:
    return {node.id for node in nodes_of(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _is_display(node: ast.expr) -> bool:
    if isinstance(node, (ast.List, ast.Dict, ast.Set, ast.Tuple, *COMPREHENSIONS)):
        return True
    if isinstance(node, ast.BinOp):  # [None] * n
        return isinstance(node.op, ast.Mult | ast.Add) and (_is_list(node.left) or _is_list(node.right))
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)


def _is_list(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.ListComp) or (isinstance(node, ast.BinOp) and _is_display(node))


def _written(node: ast.AST) -> str | None:
    """The name through which a node changes something."""
    match node:
        case ast.Subscript(value=owner, ctx=ast.Store() | ast.Del()):
            return _root(owner)
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in CHANGES:
            return _root(owner)
    return None


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
