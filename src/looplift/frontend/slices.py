"""Names of slices in, the same out with names for the bounds of these.

part = slice(h * dk, (h + 1) * dk)            part_start = h * dk
scores = q[i, part] @ k[j, part]              part_stop = (h + 1) * dk
                                              scores = q[i, part_start:part_stop] @ k[j, part_start:part_stop]

Such a name is bound to nothing but slices, always before it is read, and is read in subscripts alone.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from looplift.base.syntax import fresh_copy, nodes_of
from looplift.frontend.names import FUNCTIONS, free_names, fresh_name, parameters
from looplift.frontend.states import FRAME_READERS, OTHER

_BLOCKS = ("body", "orelse", "finalbody")
_BOUNDS = ("start", "stop", "step")


def with_bounds_of_slices(
    tree: ast.FunctionDef, free: tuple[str, ...], namespace: Mapping[str, Any]
) -> ast.FunctionDef:
    """The tree with such names; the tree itself where there are none. ``free``: what it reads of functions around."""
    if not any(_is_made(node) for node in nodes_of(tree)) or "slice" in namespace or "slice" in free:
        return tree
    alone = _each_alone(tree) if any(map(_are_made, nodes_of(tree))) else tree
    names = _sliced(alone)
    return ast.fix_missing_locations(_WrittenOut(alone, names).visit(fresh_copy(alone))) if names else tree


def _is_made(node: ast.AST) -> bool:
    """Whether a statement gives a slice, or several, a name."""
    match node:
        case ast.Assign(targets=[ast.Name()], value=value):
            return _is_slice(value)
    return _are_made(node)


def _is_slice(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="slice"), args=args, keywords=[]):
            return 1 <= len(args) <= 3 and not any(isinstance(one, ast.Starred) for one in args)
    return False


def _are_made(node: ast.AST) -> bool:
    """Whether a statement binds several names at once, one of them to a slice."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            plain = all(isinstance(one, ast.Name) for one in names) and not any(
                isinstance(one, ast.Starred) for one in values
            )
            return plain and len(names) == len(values) and any(map(_is_slice, values))
    return False


def _each_alone(tree: ast.FunctionDef) -> ast.FunctionDef:
    inside = (free_names(node) for node in nodes_of(tree) if isinstance(node, FUNCTIONS) and node is not tree)
    made, alone = fresh_copy(tree), _Alone(set[str]().union(*inside))
    made.body = [part for one in made.body for part in _listed(alone.visit(one))]
    return made


def _listed(found: ast.stmt | list[ast.stmt]) -> list[ast.stmt]:
    return found if isinstance(found, list) else [found]


class _Alone(ast.NodeTransformer):
    """Of ``rows, columns = slice(a, b), slice(c, d)`` one statement for each name, where no value reads one of them,
    nor does a function inside."""

    def __init__(self, shared: set[str]):
        self.shared = shared

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        if not _are_made(node):
            return node
        assert isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)
        names, values = node.targets[0].elts, node.value.elts
        read = {one.id for one in nodes_of(node.value) if isinstance(one, ast.Name)} | self.shared
        if read & {one.id for one in names if isinstance(one, ast.Name)}:
            return node
        return [ast.copy_location(ast.Assign([name], value), node) for name, value in zip(names, values, strict=True)]


def _sliced(tree: ast.FunctionDef) -> set[str]:
    """The names that stand for slices and for nothing else, and are read in subscripts alone."""
    nodes = nodes_of(tree)
    every = [node for node in nodes if isinstance(node, ast.Name)]
    if any(isinstance(node, OTHER) for node in nodes) or FRAME_READERS & {node.id for node in every}:
        return set()
    if "slice" in {node.id for node in every if not isinstance(node.ctx, ast.Load)} | {*parameters(tree.args)}:
        return set()
    made = {id(node.targets[0]): node.targets[0] for node in nodes if isinstance(node, ast.Assign) and _is_made(node)}
    places = {id(part) for node in nodes if isinstance(node, ast.Subscript) for part in _parts(node)}
    inside = (free_names(node) for node in nodes if isinstance(node, FUNCTIONS) and node is not tree)
    others = {node.id for node in every if id(node) not in made and id(node) not in places}
    others = others.union({*parameters(tree.args)}, *inside)
    return {one.id for one in made.values() if isinstance(one, ast.Name)} - others - _unbound(tree.body, set())


def _parts(node: ast.Subscript) -> list[ast.expr]:
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def _unbound(block: list[ast.stmt], bound: set[str]) -> set[str]:
    """The names that may be read before anything is bound to them."""
    found: set[str] = set()
    for statement in block:
        inner = [getattr(statement, field, []) for field in _BLOCKS]
        within = {id(node) for one in inner for each in one for node in nodes_of(each)}
        here = (node for node in nodes_of(statement) if id(node) not in within)
        found |= {node.id for node in here if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)} - bound
        for one in inner:
            found |= _unbound(one, set(bound))
        if isinstance(statement, ast.Assign) and _is_made(statement):
            bound = bound | {one.id for one in statement.targets if isinstance(one, ast.Name)}
    return found


class _WrittenOut(ast.NodeTransformer):
    def __init__(self, tree: ast.FunctionDef, names: set[str]):
        self.names = names
        used = {node.id for node in nodes_of(tree) if isinstance(node, ast.Name)} | {*parameters(tree.args)}
        made = [node for node in nodes_of(tree) if isinstance(node, ast.Assign) and _is_made(node)]
        given = [(one.id, _bounds(node.value)) for node in made for one in node.targets if isinstance(one, ast.Name)]
        self.bounds = {name: {k: fresh_name(f"{name}_{_BOUNDS[k]}", used) for k in range(3)} for name in names}
        for name in names:
            never = {k for k in range(3) if all(_is_none(bounds[k]) for one, bounds in given if one == name)}
            for k in never:
                del self.bounds[name][k]

    def visit_Assign(self, node: ast.Assign) -> Any:
        target = node.targets[0]
        if not (_is_made(node) and isinstance(target, ast.Name) and target.id in self.names):
            return self.generic_visit(node)
        bounds = _bounds(node.value)
        made = [
            ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], self.visit(bounds[k])), node)
            for k, name in self.bounds[target.id].items()
        ]
        return made or ast.copy_location(ast.Pass(), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        parts = [self._written_out(part) for part in _parts(node)]
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = parts
        else:
            (node.slice,) = parts
        return node

    def _written_out(self, part: ast.expr) -> ast.expr:
        if not isinstance(part, ast.Name) or part.id not in self.names:
            return part
        bounds = self.bounds[part.id]
        lower, upper, step = (ast.Name(bounds[k], ast.Load()) if k in bounds else None for k in range(3))
        return ast.copy_location(ast.Slice(lower, upper, step), part)


def _bounds(made: Any) -> list[ast.expr]:
    """Where a slice starts and stops, and its step."""
    nothing = ast.Constant(None)
    return [nothing, *made.args, nothing] if len(made.args) == 1 else [*made.args, nothing][:3]


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
