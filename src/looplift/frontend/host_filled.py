"""Loops that store into a tensor made before them in, the same over lists of what is stored, and where, out.

out = torch.zeros(n, 4)                    out = torch.zeros(n, 4)
for i, tree in enumerate(trees):           out_rows, out_places = [], []
    out[i] = encode(tree)            ->    for i, tree in enumerate(trees):
                                               out_rows.append(encode(tree)); out_places.append((i,))
                                           if out_places: out = filled(out, out_rows, places(out_places))

That is the same only if nothing else reads the tensor before all is stored.
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Mapping
from typing import Any

from looplift.base.data import dataclass
from looplift.base.syntax import nodes_of
from looplift.frontend.private import numbered

FILLED, ADDED, PLACES = "_filled", "_added", "_places"
"""What stands in the statements for functions of the scheduler: stores, sums, and where they go."""
MADE = ("zeros", "ones", "full", "zeros_like", "ones_like", "full_like")
EMPTY = {"empty": "zeros", "empty_like": "zeros_like"}
"""Functions that give memory as it is: each element of it is stored, so it may as well be zero."""


def with_filled(statements: list[ast.stmt], bound: Mapping[str, Any], around: Mapping[str, Any]) -> list[ast.stmt]:
    """``bound``: names that are bound before the statements, with what they stand for where that is known; ``around``:
    the names of the scopes around them. Gives copies where something changes."""
    nodes = [node for statement in statements for node in nodes_of(statement)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    assigned = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    scope = {name: value for name, value in {**around, **bound}.items() if name in names - assigned}
    made = {maker.name for node in nodes if (maker := _made(node, scope)) is not None}
    stored = {name for node in nodes if (name := _stored(node)) in made}
    if not stored:
        return statements
    return _Filling(stored, names | set(bound), scope).block(statements)


def _stored(node: ast.AST) -> str | None:
    """The name of what ``name[…] = value`` and ``name[…] += value`` store into."""
    match node:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))]):
            return name
        case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name)), op=ast.Add()):
            return name
    return None


@dataclass
class _Made:
    """A statement that gives a name a tensor that is not made of other ones, by a function of torch."""

    name: str
    function: str


def _made(node: ast.AST, scope: Mapping[str, Any]) -> _Made | None:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=callee)):
            function = _function(callee, scope)
            return _Made(name, function) if function else None
    return None


def _function(node: ast.expr, scope: Mapping[str, Any]) -> str:
    """Which of the functions of torch that give new tensors a callee is; a function of that name may be the user's."""
    import torch

    match node:
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if isinstance(scope.get(owner), types.ModuleType):
            found = vars(scope[owner])
        case ast.Name(id=name):
            found = scope
        case _:
            return ""
    if name not in (*MADE, *EMPTY) or any(found.get(one) is not getattr(torch, one) for one in _needed(node, name)):
        return ""
    return name


def _needed(node: ast.expr, name: str) -> list[str]:
    """``torch.zeros`` takes the place of ``torch.empty``."""
    return [name, EMPTY[name]] if isinstance(node, ast.Attribute) and name in EMPTY else [name]


class _Filling:
    """Rewrites the blocks in which tensors are made and then filled by loops."""

    def __init__(self, names: set[str], known: set[str], scope: Mapping[str, Any]):
        self.names, self.known, self.scope = names, known, scope

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        made: dict[str, int] = {}
        for statement in statements:
            used = {node.id for node in nodes_of(statement) if isinstance(node, ast.Name)}
            found = [(name, self.stores(name, out[made[name]], statement)) for name in sorted(made.keys() & used)]
            made = {name: place for name, place in made.items() if (name, None) not in found}
            if (maker := _made(statement, self.scope)) is not None and maker.name in self.names:
                made[maker.name] = len(out)
            statement = self.inside(statement)
            fillings = [one for _, one in found if one is not None]
            for one in fillings:
                out[made[one.name]] = _zeroed(out[made[one.name]])
                out += one.before()
                statement = one.visit(copy.deepcopy(statement))
            out += [statement, *(one.after() for one in fillings)]
        return out

    def inside(self, statement: ast.stmt) -> ast.stmt:
        """The statement, with the blocks in it rewritten."""
        changed = copy.copy(statement)
        for name in ("body", "orelse"):
            block = getattr(statement, name, None)
            if isinstance(block, list) and block:
                setattr(changed, name, self.block(block))
        return changed

    def stores(self, name: str, made: ast.stmt, loop: ast.stmt) -> _Stores | None:
        """How a loop fills the tensor, None if it does something else with it."""
        if not isinstance(loop, ast.For | ast.While) or any(_is_named(node, name) for node in nodes_of(_head(loop))):
            return None
        stores = [node for node in nodes_of(loop) if _stored(node) == name]
        uses = [node for node in nodes_of(loop) if _is_named(node, name)]
        maker = _made(made, self.scope)
        kinds, whole = {type(node) for node in stores}, maker is not None and maker.function in EMPTY
        adds = ast.AugAssign in kinds
        if len(uses) != len(stores) or len(kinds) != 1 or (adds and whole) or not all(map(_has_plain_place, stores)):
            return None
        return _Stores(name, adds, whole, loop, self.known)


def _zeroed(made: ast.stmt) -> ast.stmt:
    """``torch.zeros`` in place of ``torch.empty`` of which each element is stored."""
    match made:
        case ast.Assign(value=ast.Call(func=ast.Attribute(value=owner, attr=name) as old) as value) if name in EMPTY:
            function = ast.copy_location(ast.Attribute(owner, EMPTY[name], ast.Load()), old)
            call = ast.copy_location(ast.Call(function, value.args, value.keywords), value)
            return ast.copy_location(ast.Assign(made.targets, call), made)
    return made


def _head(loop: ast.For | ast.While) -> ast.expr:
    return loop.iter if isinstance(loop, ast.For) else loop.test


def _is_named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _has_plain_place(store: ast.AST) -> bool:
    """Whether evaluating the place does nothing, and whole slices come last only."""
    target = store.targets[0] if isinstance(store, ast.Assign) else getattr(store, "target", None)
    assert isinstance(target, ast.Subscript)
    return bool(parts := _parts(target.slice)) and all(map(_is_plain, parts))


def _parts(index: ast.expr) -> list[ast.expr]:
    """The numbers of a subscript, without the whole slices behind them."""
    parts = list(index.elts) if isinstance(index, ast.Tuple) else [index]
    while parts and isinstance(last := parts[-1], ast.Slice) and not (last.lower or last.upper or last.step):
        parts.pop()
    return parts


def _is_plain(part: ast.expr) -> bool:
    plain = (ast.Name, ast.Constant, ast.BinOp, ast.operator, ast.Subscript, ast.Attribute)
    return all(isinstance(node, plain) or _is_length(node) for node in nodes_of(part))


def _is_length(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


class _Stores(ast.NodeTransformer):
    """The stores of one loop into one tensor, as items of two lists.

    ``adds``: by ``+=``; ``whole``: each element of the tensor must be stored.
    """

    def __init__(self, name: str, adds: bool, whole: bool, loop: ast.stmt, known: set[str]):
        self.name, self.adds, self.whole, self.loop = name, adds, whole, loop
        self.rows, self.places = (self.fresh(f"{name}_{part}", known) for part in ("rows", "places"))

    def fresh(self, hint: str, known: set[str]) -> str:
        made = numbered(hint, known) if hint in known else hint
        known.add(made)
        return made

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        return self.stored(node, node.targets[0], node.value) if _stored(node) == self.name else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt | list[ast.stmt]:
        return self.stored(node, node.target, node.value) if _stored(node) == self.name else node

    def stored(self, node: ast.stmt, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        assert isinstance(target, ast.Subscript)
        place = ast.Tuple(_parts(target.slice), ast.Load())
        return [self.at(node, _append(self.rows, value)), self.at(node, _append(self.places, place))]

    def before(self) -> list[ast.stmt]:
        names = self.rows, self.places
        return [self.at(self.loop, ast.Assign([ast.Name(one, ast.Store())], ast.List([], ast.Load()))) for one in names]

    def after(self) -> ast.stmt:
        given = [_load(self.places), *([ast.Constant(True)] if self.adds else [])]
        places = ast.Call(ast.Name(PLACES, ast.Load()), given, [])
        arguments = [_load(self.name), _load(self.rows), places, *([ast.Constant(True)] if self.whole else [])]
        made = ast.Call(ast.Name(ADDED if self.adds else FILLED, ast.Load()), arguments, [])
        statement: ast.stmt = ast.Assign([ast.Name(self.name, ast.Store())], made)
        if not self.whole:
            statement = ast.If(_load(self.places), [statement], [])
        return self.at(self.loop, statement)

    def at(self, node: ast.stmt, made: ast.stmt) -> ast.stmt:
        return ast.fix_missing_locations(ast.copy_location(made, node))


def _append(name: str, value: ast.expr) -> ast.stmt:
    return ast.Expr(ast.Call(ast.Attribute(_load(name), "append", ast.Load()), [value], []))


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())
