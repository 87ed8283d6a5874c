"""A syntax tree in, its nodes out: as ``ast.walk`` and ``ast.iter_child_nodes``, in a third of their time.

Most of what is asked of a loop's source walks over it, and a region that is refused is walked over again for each of
its pieces. Contexts of names (``ast.Load`` and such) are left out.
"""

from __future__ import annotations

import ast
from typing import Any

_NEVER_NODES = frozenset("ctx id attr type_comment kind level module is_async asname kwd_attrs".split())


class _FieldsWithNodes(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of a type of node that may hold nodes; of names and constants none."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        names = [name for name in kind._fields if name not in _NEVER_NODES]
        self[kind] = found = () if kind is ast.Constant else tuple(names)
        return found


_FIELDS = _FieldsWithNodes()


def children_of(node: ast.AST) -> list[ast.AST]:
    """The nodes right below a node, in the order of the source."""
    found: list[ast.AST] = []
    _add_children([node], found)
    return found


def nodes_of(node: ast.AST) -> list[ast.AST]:
    """A node and all that is below it, level by level."""
    found = [node]
    _add_children(found, found)
    return found


def _add_children(nodes: list[ast.AST], found: list[ast.AST]) -> None:
    """Add what is right below some nodes; ``found`` may be these themselves, and grows as it is walked over."""
    for node in nodes:
        if not (fields := _FIELDS[type(node)]):
            continue
        attributes = node.__dict__
        for name in fields:
            value = attributes.get(name)
            if type(value) is list:
                for item in value:
                    if isinstance(item, ast.AST):
                        found.append(item)
            elif value is not None and isinstance(value, ast.AST):
                found.append(value)


def fresh_copy(node: Any) -> Any:
    """A copy of a tree that shares no node with it, without what was noted on its nodes."""
    if isinstance(node, list):
        return [fresh_copy(item) for item in node]
    if not isinstance(node, ast.AST):
        return node
    given, kind = node.__dict__, type(node)
    made = kind.__new__(kind)
    kept = made.__dict__
    for name in kind._attributes:
        if name in given:
            kept[name] = given[name]
    for name in kind._fields:
        if name in given:
            value = given[name]
            kept[name] = fresh_copy(value) if isinstance(value, (ast.AST, list)) else value
    return made


class Fails(ast.expr):
    """Whether an operation on names raises: ``division`` and ``subscript`` of two, ``function`` of a call's argument.

    ``exceptions``: what it would raise is caught under one of these names.
    """

    _fields = ("operation", "function", "operands", "exceptions")
    operation: str
    function: ast.expr | None
    operands: list[ast.expr]
    exceptions: list[str]


class Tallied(ast.expr):
    """The different ones of ``items``, or how often each is among them: ``name`` is that of the operation."""

    _fields = ("items", "name")
    items: ast.expr
    name: str
