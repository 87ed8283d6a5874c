"""A loop that stays in; what it computes of tensors as numbers, iteration by iteration, as a loop before it, out.

for i in range(n):                              near = []
    k = int((x[i] - centres).norm(dim=1)        for i in range(n):
            .argmin())                   ->         near.append(int((x[i] - centres).norm(dim=1).argmin()))
    members.setdefault(k, []).append(i)         for i, near_item in zip(range(n), near):
                                                    k = near_item
                                                    members.setdefault(k, []).append(i)

Only what depends on nothing but the position moves. The loop in front is one like any other, and runs in lanes.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from looplift.base.data import dataclass, field
from looplift.base.syntax import fresh_copy, nodes_of
from looplift.frontend.bindings import Listed
from looplift.frontend.conditions import Conditions, converted
from looplift.frontend.names import names_of

ALLOWED = (
    ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp,
    ast.Compare, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Call, ast.keyword, ast.Attribute,
)  # fmt: skip
"""Of what an expression that moves may consist."""


@dataclass
class Hoisted:
    """The loops in front, the names of the lists that they make, and the statements that read these."""

    front: list[ast.stmt]
    lists: dict[str, Listed]
    statements: list[ast.stmt]


def hoisted(
    statements: list[ast.stmt], values: Mapping[str, Any], stores: Mapping[str, int], is_element: Callable[[Any], bool]
) -> Hoisted | None:
    """None where nothing moves. ``stores``: how often each name is bound; ``is_element``: what is a number already."""
    found = Hoisted([], {}, [])
    for statement in statements:
        if isinstance(statement, ast.For):
            loop = _Loop(statement, values, stores, is_element, len(found.lists))
            statement = loop.rewritten(found)
        found.statements.append(statement)
    return found if found.lists else None


@dataclass
class _Loop:
    loop: ast.For
    values: Mapping[str, Any]
    stores: Mapping[str, int]
    is_element: Callable[[Any], bool]
    count: int
    moved: list[tuple[str, ast.expr]] = field(default_factory=list)

    def rewritten(self, found: Hoisted) -> ast.stmt:
        targets = {one.id for one in nodes_of(self.loop.target) if isinstance(one, ast.Name)}
        self.fixed = {name for name in self.values if name not in self.stores}
        arrays = {name for name in self.fixed if isinstance(self.values[name], torch.Tensor | np.ndarray)}
        if not names_of(self.loop.iter).loads <= self.fixed or any(self.stores[name] != 1 for name in targets):
            return self.loop
        self.inside = self.fixed | targets
        self.arrays = arrays | (targets if names_of(self.loop.iter).loads & arrays else set())
        changed = fresh_copy(self.loop)
        mover = _Mover(self)
        changed.body = [mover.visit(one) for one in changed.body]
        if not self.moved:
            return self.loop
        names = [name for name, _ in self.moved]
        found.lists |= {name: Listed(1, _is_whole(value)) for name, value in self.moved}
        front = ast.parse("\n".join(f"{name} = []" for name in names)).body
        appends = [ast.parse(f"{name}.append({ast.unparse(value)})").body[0] for name, value in self.moved]
        front.append(ast.For(fresh_copy(self.loop.target), fresh_copy(self.loop.iter), appends, [], lineno=0))
        found.front += [_placed(one, self.loop) for one in front]
        changed.target = ast.Tuple(
            [changed.target, *(ast.Name(f"{name}_item", ast.Store()) for name in names)], ast.Store()
        )
        lists = [ast.Name(name, ast.Load()) for name in names]
        changed.iter = ast.Call(ast.Name("zip", ast.Load()), [changed.iter, *lists], [])
        return ast.fix_missing_locations(changed)

    def may_move(self, node: ast.expr) -> bool:
        every = nodes_of(node)
        if not all(isinstance(one, ALLOWED) for one in every) or self.is_element(node):
            return False
        names = {one.id for one in every if isinstance(one, ast.Name)}
        return names <= self.inside and bool(names & self.arrays)

    def move(self, node: ast.expr) -> ast.expr:
        name = f"numbers_{self.count + len(self.moved)}"
        while {name, f"{name}_item"} & (self.values.keys() | self.stores.keys()):
            name += "_"
        self.moved.append((name, node))
        return ast.copy_location(ast.Name(f"{name}_item", ast.Load()), node)


class _Mover(Conditions):
    """Conversions to numbers, and conditions, become reads of lists.

    ``repeats``: how many inner loops a node stands in. There a float stays: NaN would be one object more than once.
    """

    def __init__(self, loop: _Loop):
        super().__init__()
        self.loop, self.repeats = loop, 0

    def is_builtin(self, name: str) -> bool:
        own = getattr(builtins, name)
        return name not in self.loop.stores and self.loop.values.get(name, own) is own

    def call(self, node: ast.Call) -> ast.AST | None:
        if (found := converted(node)) is None:
            return None
        kind, one = found
        if (self.repeats and kind in ("float", "item")) or isinstance(one, ast.Name) or not self.loop.may_move(one):
            return None
        return self.loop.move(node)

    def condition(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Compare) and self.loop.may_move(node):
            asked = ast.Call(ast.Name("bool", ast.Load()), [node], [])
            return self.loop.move(ast.fix_missing_locations(ast.copy_location(asked, node)))
        return self.visit(node)

    def repeated(self, node: Any) -> ast.AST:
        self.repeats += 1
        node = self.tested(node) if isinstance(node, ast.While) else self.generic_visit(node)
        self.repeats -= 1
        return node

    visit_For = visit_While = comprehension = repeated


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int"


def _placed(node: Any, place: ast.stmt) -> Any:
    """All of a tree on the line of a statement."""
    for one in nodes_of(node):
        if isinstance(one, ast.stmt | ast.expr):
            ast.copy_location(one, place)
    return node
