"""A region in, the containers that its function makes in front of it for inner functions to fill out.

memo = {}                        one that nothing else has seen is made anew in the batched program, and filled there,
def encode(node):                so that a call that fails has changed nothing; the caller's own gets what is in it in
    if node not in memo:         the end, if anything can see it then
        memo[node] = ...
    return memo[node]
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from looplift.base.data import dataclass
from looplift.base.syntax import nodes_of
from looplift.frontend.names import FUNCTIONS, free_names, names_of, walk_own

if TYPE_CHECKING:
    from looplift.frontend.regions import Region


@dataclass(frozen=True)
class Started:
    """``name = {}`` in front of a region; ``is_seen``: something may look into it after the region."""

    name: str
    kind: str
    statement: ast.Assign
    is_seen: bool

    def filled(self, made: str) -> str:
        """The statement that fills the caller's own, which is as it was made."""
        return f"{self.name}[:] = {made}" if self.kind == "list" else f"{self.name}.update({made})"


def started_for(region: Region) -> list[Started]:
    """Containers that are made in the block of a region, which inner functions alone may touch until it begins."""
    before = region.block[: region.start]
    found = [made for place, one in enumerate(before) if (made := _started(region, before, place, one)) is not None]
    return [one for one in found if _is_read_by_helpers(region, one.name) and not _is_handed_on(region, one.name)]


def _is_read_by_helpers(region: Region, name: str) -> bool:
    helpers = region.scope.helpers
    return any(name in read for helper, read in helpers.items() if helper in region.names.loads)


_ASKED = frozenset(("len", "sorted", "sum", "max", "min", "any", "all", "list", "tuple", "stack", "cat"))
"""What is called on a container and keeps none of it."""


def _is_handed_on(region: Region, name: str) -> bool:
    """Whether the region, or a function inside, has a container in hand as an object: it would be another one."""
    inner = [node for node in nodes_of(region.scope.function) if isinstance(node, (*FUNCTIONS, ast.ClassDef))]
    inner = [node for node in inner if node is not region.scope.function]
    fine: set[int] = set()
    uses: set[int] = set()
    for root in (*region.statements, *inner):
        for node in nodes_of(root):
            fine |= {id(one) for one in _read_parts(node) if isinstance(one, ast.Name) and one.id == name}
            if isinstance(node, ast.Name) and node.id == name:
                uses.add(id(node))
    return not uses <= fine


def _read_parts(node: ast.AST) -> list[ast.expr]:
    """The operands of a node that it looks into, and does not keep."""
    match node:
        case ast.Subscript(value=value):
            return [value]
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=args):
            return [value, *args] if attr in _ASKED else [value]
        case ast.Call(func=ast.Name(id=name), args=args):
            return list(args) if name in _ASKED else []
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[owner]):
            return [owner]
        case ast.For(iter=iterated) | ast.comprehension(iter=iterated):
            return [iterated]
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            return [test]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return [operand]
    return []


def _started(region: Region, before: list[ast.stmt], place: int, one: ast.stmt) -> Started | None:
    if not isinstance(one, ast.Assign) or len(one.targets) != 1 or not isinstance(one.targets[0], ast.Name):
        return None
    name, kind = one.targets[0].id, _kind_of(one.value, region)
    if kind is None or name not in region.scope.locals or not _is_made_once(region, name):
        return None
    read = {node.id for node in nodes_of(one.value) if isinstance(node, ast.Name)}
    if not all(_leaves_alone(statement, {name, *region.scope.helpers}, read) for statement in before[place + 1 :]):
        return None
    return Started(name, kind, one, _is_seen(region, name, one))


def _leaves_alone(statement: ast.stmt, names: set[str], read: set[str]) -> bool:
    """Whether a statement mentions none of some names, and changes nothing that is read for a length."""
    if isinstance(statement, ast.FunctionDef):
        return not (statement.decorator_list or names & _names_of_defaults(statement) or statement.name in read)
    if not isinstance(statement, ast.Assign) or not all(isinstance(one, ast.Name) for one in statement.targets):
        return False
    nodes = list(nodes_of(statement))
    if read and any(isinstance(node, ast.Call | ast.Await | ast.NamedExpr) for node in nodes):
        return False
    return not any(isinstance(node, ast.Name) and node.id in names | _stored(node, read) for node in nodes)


def _stored(node: ast.Name, names: set[str]) -> set[str]:
    return names if isinstance(node.ctx, ast.Store) else set()


def _names_of_defaults(function: ast.FunctionDef) -> set[str]:
    every = [*function.args.defaults, *filter(None, function.args.kw_defaults)]
    return {node.id for one in every for node in nodes_of(one) if isinstance(node, ast.Name)}


def _kind_of(value: ast.expr, region: Region) -> str | None:
    """Of an expression for a new container that holds no tensors: ``{}``, ``dict()``, ``[None] * len(nodes)``."""
    match value:
        case ast.Dict(keys=[]):
            return "dict"
        case ast.List(elts=[]):
            return "list"
        case ast.Call(func=ast.Name(id="list" | "dict" | "set" as kind), args=[], keywords=[]):
            known = {"list": list, "dict": dict, "set": set}[kind]
            return kind if region.scope.lookup(kind) is known else None
        case ast.BinOp(left=ast.List(elts=[ast.Constant()]), op=ast.Mult(), right=count) if _is_count(count, region):
            return "list"
    return None


def _is_count(node: ast.expr, region: Region) -> bool:
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name()], keywords=[]):
            return region.scope.lookup("len") is len
    return False


def _is_made_once(region: Region, name: str) -> bool:
    """Whether no other statement, of the function or of one inside, binds the name."""
    stores = 0
    for node in nodes_of(region.scope.function):
        stores += isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        if isinstance(node, ast.Nonlocal | ast.Global) and name in node.names:
            return False
        if isinstance(node, ast.arg) and node.arg == name:
            return False
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return False
    return stores == 1


def _is_seen(region: Region, name: str, made: ast.Assign) -> bool:
    """Whether what is in a container may be looked at after the region: by its name, or by a function that reads it
    and is more than called in the region."""
    holders = {helper for helper, read in region.scope.helpers.items() if name in read}
    inside = {id(node) for statement in region.statements for node in nodes_of(statement)}
    called = {id(node.func) for statement in region.statements for node in _calls(statement)}
    for node in walk_own(region.scope.function):
        if not isinstance(node, ast.Name) or node is made.targets[0] or node.id not in {name, *holders}:
            continue
        if id(node) not in inside or id(node) not in called:
            return True
    return any(_may_outlive(region, node, name, holders) for node in nodes_of(region.scope.function))


def _calls(statement: ast.stmt) -> Iterator[ast.Call]:
    return (node for node in nodes_of(statement) if isinstance(node, ast.Call))


def _may_outlive(region: Region, node: ast.AST, name: str, holders: set[str]) -> bool:
    """Whether something inside of the function reads a container and is no function of those that are called."""
    if node is region.scope.function or (isinstance(node, ast.FunctionDef) and node.name in holders):
        return False
    if isinstance(node, ast.ClassDef):
        return bool(names_of(node).captured & {name, *holders})
    return isinstance(node, FUNCTIONS) and bool(free_names(node) & {name, *holders})
