"""A region in, the reason why its statements cannot move into a function of their own out."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from looplift.base.syntax import children_of, nodes_of
from looplift.frontend.names import FUNCTIONS, free_names, names_of, walk_own

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
    if held := (names.stores & scope.captured & scope.locals) - _own(region):
        return "unsupported-syntax", f"a function inside holds on to '{min(held)}'"
    if late := region.held & region.bound_later & scope.locals:
        return "unsupported-syntax", f"a function made here holds on to '{min(late)}', which changes later"
    if deleted := names.deleted & {*region.arguments, *region.live_out}:
        return "unsupported-syntax", f"the name '{min(deleted)}' is deleted"
    if missing := region.never_bound:
        return "unsupported-syntax", f"the name '{min(missing)}' is not bound before the loop"
    if doubtful := _read_for_nothing(region):
        return "unsupported-syntax", f"the name '{doubtful}' may not be bound where it is read, and nothing needs it"
    if any(_leaves_loop(node) for node in nodes):
        return "unsupported-syntax", "a break or continue of the loop around"
    if not region.returns and has_return(nodes):
        return "unsupported-syntax", "a return inside the loop, with more to do after it"
    if needed := names.stores & scope.flow.raising[nodes[0]]:
        return "exception-handling", f"'{min(needed)}' is still needed if the loop raises an exception"
    return None


def _read_for_nothing(region: Region) -> str:
    """A name that may not be bound where it gets another name that is never read: where it is not, Python raises."""
    flow = region.scope.flow
    for node in (inner for statement in region.statements for inner in nodes_of(statement)):
        if not isinstance(node, ast.Assign | ast.Expr) or node not in flow.bound:
            continue
        targets = [target.id for target in _targets(node) if isinstance(target, ast.Name)]
        if len(targets) < len(_targets(node)) or flow.after[node].intersection(targets):
            continue
        for value in node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]:
            if isinstance(value, ast.Name) and value.id in region.scope.locals - flow.bound[node]:
                return value.id
    return ""


def _targets(node: ast.Assign | ast.Expr) -> list[ast.expr]:
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]


def _own(region: Region) -> frozenset[str]:
    """Names that only functions made and used up in the region hold on to, and that nothing else binds or reads."""
    scope = region.scope
    if region.block is not scope.function.body:  # it may run again, and rebind what an earlier function holds
        return frozenset()
    made = [node for statement in region.statements for node in nodes_of(statement) if isinstance(node, FUNCTIONS)]
    inside = {id(node) for node in made}
    if {node.name for node in made if not isinstance(node, ast.Lambda)} & set(region.live_out):
        return frozenset()
    mine = frozenset().union(*(free_names(node) for node in made))
    every = [node for node in nodes_of(scope.function) if isinstance(node, (*FUNCTIONS, ast.ClassDef))]
    others = [node for node in every if node is not scope.function and id(node) not in inside]
    held = (free_names(node) if isinstance(node, FUNCTIONS) else names_of(node).captured for node in others)
    elsewhere = frozenset().union(*held)
    outside = [node for node in scope.function.body if node not in region.statements]
    rest = frozenset(region.live_out) | frozenset(region.arguments) | names_of(outside).stores
    return mine - elsewhere - rest


def _leaves_loop(node: ast.AST) -> bool:
    """Whether there is a break or continue of a loop outside of the statement."""
    match node:
        case ast.Break() | ast.Continue():
            return True
        case ast.For(orelse=orelse) | ast.While(orelse=orelse):
            return any(map(_leaves_loop, orelse))
        case ast.FunctionDef() | ast.Lambda() | ast.ClassDef():
            return False
    return any(map(_leaves_loop, children_of(node)))


def has_return(nodes: Iterable[ast.stmt]) -> bool:
    return any(isinstance(child, ast.Return) for node in nodes for child in walk_own(node))
