"""A region in, the reason why its statements cannot move into a function of their own out."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from looplift.frontend.names import FUNCTIONS

if TYPE_CHECKING:
    from looplift.frontend.regions import Region


def obstacle(region: Region) -> tuple[str, str] | None:
    """Why these statements cannot move into a function of their own: code and sentence, or None."""
    scope, names, nodes = region.scope, region.names, region.statements
    if scope.reads_frames or "super" in names.loads or "__class__" in names.loads:
        return "unsupported-syntax", "the function looks at its own frame or class"
    if names.outer or names.stores & scope.flow.names.outer:
        return "unsupported-syntax", "the loop assigns to a global or nonlocal name"
    if shared := (names.stores | names.loads) & scope.flow.names.rebound:
        return "unsupported-syntax", f"a function inside assigns to '{min(shared)}'"
    if held := names.stores & scope.captured & scope.locals:
        return "unsupported-syntax", f"a function inside holds on to '{min(held)}'"
    if names.deleted:
        return "unsupported-syntax", f"the name '{min(names.deleted)}' is deleted"
    if any(_leaves_loop(node) for node in nodes):
        return "unsupported-syntax", "a break or continue of the loop around"
    if not region.returns and has_return(nodes):
        return "unsupported-syntax", "a return inside the loop, with more to do after it"
    if needed := names.stores & scope.flow.raising[nodes[0]]:
        return "exception-handling", f"'{min(needed)}' is still needed if the loop raises an exception"
    return None


def walk_own(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes except those of functions inside."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*FUNCTIONS, ast.ClassDef)):
            yield from walk_own(child)


def _leaves_loop(node: ast.AST) -> bool:
    """Whether there is a break or continue of a loop outside of the statement."""
    match node:
        case ast.Break() | ast.Continue():
            return True
        case ast.For(orelse=orelse) | ast.While(orelse=orelse):
            return any(map(_leaves_loop, orelse))
        case ast.FunctionDef() | ast.Lambda() | ast.ClassDef():
            return False
    return any(map(_leaves_loop, ast.iter_child_nodes(node)))


def has_return(nodes: Iterable[ast.stmt]) -> bool:
    return any(isinstance(child, ast.Return) for node in nodes for child in walk_own(node))
