"""Subscripts of a dict in, whether they are integers of Python's out: it tells tensors apart by what they are."""

from __future__ import annotations

import ast
from collections.abc import Container, Mapping
from typing import Any

from looplift.base.data import dataclass
from looplift.base.syntax import nodes_of


@dataclass(eq=False)
class Keys:
    """Keys in statements: ``parents`` of their nodes by identity, ``known`` values, names that are ``given`` before."""

    statements: list[ast.stmt]
    parents: Mapping[int, ast.AST]
    known: Mapping[str, Any]
    given: Container[str]

    def is_integer(self, node: ast.expr) -> bool:
        """Whether a key is an integer, as far as its form and what loops run over tell."""
        match node:
            case ast.Constant(value=value):
                return type(value) is int
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Mod(), right=right):
                return self.is_integer(left) and self.is_integer(right)
            case ast.Name(id=name):
                every = [one for statement in self.statements for one in nodes_of(statement)]
                bound = [one for one in every if isinstance(one, ast.Name) and _binds(one, name)]
                return bool(bound) and name not in self.given and all(map(self._runs_over_integers, bound))
        return False

    def _runs_over_integers(self, node: ast.Name) -> bool:
        """Whether a name is the target of a loop over integers, or a part of one over tuples with integers there."""
        parent = self.parents.get(id(node), node)
        inside = isinstance(parent, ast.Tuple)
        loop = self.parents.get(id(parent), parent) if inside else parent
        if not isinstance(loop, ast.For | ast.comprehension):
            return False
        place = parent.elts.index(node) if isinstance(parent, ast.Tuple) else None
        match loop.iter:
            case ast.Call(func=ast.Name(id="range")):
                return place is None
            case ast.Call(func=ast.Name(id="enumerate"), args=[ast.Name(id=name)]):
                return place == 0 or (place == 1 and _has_integers(self.known.get(name), None))
            case ast.Call(func=ast.Name(id="zip"), args=sources) if place is not None and place < len(sources):
                source = sources[place]
                return isinstance(source, ast.Name) and _has_integers(self.known.get(source.id), None)
            case ast.Name(id=name):
                return _has_integers(self.known.get(name), place)
        return False


def _binds(node: ast.Name, name: str) -> bool:
    return node.id == name and not isinstance(node.ctx, ast.Load)


def _has_integers(value: Any, place: int | None) -> bool:
    """Whether a list or dict has integers only, or tuples with integers at a place."""
    if type(value) not in (list, tuple, dict):
        return False
    if place is None:
        return all(type(item) is int for item in value)
    return all(type(item) is tuple and len(item) > place and type(item[place]) is int for item in value)
