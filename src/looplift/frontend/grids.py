"""Lists of numbers of tensors that a region makes in one length and fills place by place, in; tensors for them out.

best = [[torch.tensor(inf) for _ in range(m)] for _ in range(n)]      best = torch.tensor(inf).expand(n, m).clone()
best[0][0] = x[0]                                                     best[0, 0] = x[0]
for i in range(1, n):                                                 for i in range(1, n):
    best[i][j] = f(best[i - 1][j])                                        best[i, j] = f(best[i - 1, j].clone())
                                                                          held[i, j] = True
return best[n - 1][m - 1]                                             assert held[n - 1, m - 1].item()
                                                                      return torch.clone(best[n - 1, m - 1])

A list may hold Python's numbers at first, or None, and items that have another name: ``held`` tells where a value is
that was made for the list. What is read and not computed with at once must be such a value. Whether the items are what
they are taken for here is seen in the IR (``ir/grids.py``).
"""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Iterable, Mapping
from typing import Any

import torch

from looplift.base.data import dataclass, field
from looplift.base.syntax import nodes_of
from looplift.frontend.names import FUNCTIONS, assigned_names

NUMBERS = frozenset((0.0, float("inf"), float("-inf")))
"""What is the same in every dtype of floats, also after sums and products."""
_MAKERS = frozenset("tensor zeros ones full".split())
_KEEPS = frozenset("append extend insert add setdefault update put appendleft".split())
_BUILTINS = {"range": range, "min": min, "max": max, "float": float, "len": len, "math": math, "torch": torch}
_BLOCKS = ("body", "orelse", "finalbody")


@dataclass
class Grid:
    """A list: its name, that of the table of what it holds, its extents, and what stands in it at first."""

    name: str
    held: str
    extents: list[ast.expr]
    first: ast.expr
    number: float | None = None
    is_empty: bool = False

    @property
    def holds_tensors(self) -> bool:
        return self.number is None and not self.is_empty


@dataclass
class Grids:
    statements: list[ast.stmt]
    tables: dict[str, Grid] = field(default_factory=dict)


def has_grid(statements: Iterable[ast.stmt]) -> bool:
    """Whether statements make a list of one length that holds one thing everywhere at first."""
    every = [node for one in statements for node in nodes_of(one)]
    return any(isinstance(node, ast.Assign) and _repeated(node.value) is not None for node in every)


def grids_of(statements: list[ast.stmt], values: Mapping[str, Any], outer: Iterable[str], dtype: str) -> Grids | None:
    """The region with tensors of ``dtype`` in place of such lists; None where it has none, or uses one otherwise."""
    bound = set(assigned_names(statements))
    if any(name in bound or values.get(name, known) is not known for name, known in _BUILTINS.items()):
        return None
    if any(isinstance(node, (*FUNCTIONS, ast.NamedExpr)) for one in statements for node in nodes_of(one)):
        return None
    taken, numbers = {*values, *bound, *outer}, _numbers(statements, values)
    found: dict[str, Grid] = {}
    for node in (node for one in statements for node in nodes_of(one)):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in {*outer, *values}:
                grid = _grid(name, value, numbers)
                if grid is not None and f"{name}_held" not in taken and name not in found:
                    found[name] = grid
    found = {name: grid for name, grid in found.items() if _bound_once(statements, name)}
    writer = _Writer(found, numbers, dtype)
    try:
        made = writer.block([copy.deepcopy(one) for one in statements])
    except _Other:
        return None
    return Grids([ast.fix_missing_locations(one) for one in made], found) if found else None


class _Other(Exception):
    """A list is used in another way."""


def _bound_once(statements: list[ast.stmt], name: str) -> bool:
    names = [n for one in statements for n in nodes_of(one) if isinstance(n, ast.Name) and n.id == name]
    return sum(not isinstance(n.ctx, ast.Load) for n in names) == 1


def _numbers(statements: list[ast.stmt], values: Mapping[str, Any]) -> dict[str, float]:
    """Names of numbers that are the same in every dtype."""
    found = {name: float(value) for name, value in values.items() if type(value) is float and value in NUMBERS}
    for node in statements:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _bound_once(statements, name):
                if (number := _number(value, {})) is not None:
                    found[name] = number
    return found


def _grid(name: str, value: ast.expr, numbers: Mapping[str, float]) -> Grid | None:
    extents: list[ast.expr] = []
    while (inner := _repeated(value)) is not None:
        value, extent = inner
        extents.append(extent)
    if not 0 < len(extents) < 4:
        return None
    number = _number(value, numbers)
    is_empty = isinstance(value, ast.Constant) and value.value is None
    if number is None and not is_empty and not _makes_tensor(value):
        return None
    return None if number is not None and number not in NUMBERS else Grid(
        name, f"{name}_held", extents, value, number, is_empty
    )  # fmt: skip


def _repeated(value: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """What a list holds everywhere, and how long it is."""
    match value:
        case ast.BinOp(left=ast.List(elts=[item]), op=ast.Mult(), right=extent) if not isinstance(item, ast.Starred):
            return None if _repeated(item) is not None else (item, extent)  # rows would be one and the same
        case ast.ListComp(
            elt=item,
            generators=[
                ast.comprehension(
                    target=ast.Name(id=index),
                    iter=ast.Call(func=ast.Name(id="range"), args=[extent], keywords=[]),
                    ifs=[],
                    is_async=0,
                )
            ],
        ) if not any(isinstance(n, ast.Name) and n.id == index and _is_read(n) for n in nodes_of(item)):
            return item, extent
    return None


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _number(value: ast.expr, names: Mapping[str, float]) -> float | None:
    match value:
        case ast.Name(id=name):
            return names.get(name)
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.UnaryOp(op=ast.USub(), operand=inner) if (number := _number(inner, names)) is not None:
            return -number
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(text))], keywords=[]):
            return {"inf": float("inf"), "-inf": float("-inf"), "+inf": float("inf")}.get(text.lower())
        case ast.Attribute(value=ast.Name(id="math" | "torch"), attr="inf"):
            return float("inf")
    return None


def _makes_tensor(value: ast.expr) -> bool:
    """Whether an expression makes a tensor, of nothing that a list's length could change."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr=attr)):
            return attr in _MAKERS or attr in ("new_tensor", "new_zeros", "new_full", "new_ones")
    return False


@dataclass
class _Writer:
    grids: dict[str, Grid]
    numbers: Mapping[str, float]
    dtype: str
    asserted: list[ast.stmt] = field(default_factory=list)
    stored: set[str] = field(default_factory=set)
    """Places that are surely held when they are read: they were just stored to."""

    # ------------------------------------------------------------ statements

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        before, self.stored = self.stored, set(self.stored)
        made = [made for one in statements for made in self.statement(one)]
        self.stored = before
        return made

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) if name in self.grids:
                return self._made(self.grids[name], node)
            case ast.Assign(targets=[ast.Subscript() as target]) if (place := self._place(target)) is not None:
                return self._stored(*place, node)
        blocks = {key: self.block(getattr(node, key)) for key in _BLOCKS if isinstance(getattr(node, key, None), list)}
        if isinstance(node, (ast.Try, ast.With, ast.Match)):
            raise _Other
        before = self.asserted
        self.asserted = []
        for key, value in ast.iter_fields(node):
            if key in blocks:
                setattr(node, key, blocks[key])
            elif isinstance(value, ast.expr):
                setattr(node, key, self._read(value, node, certain=not isinstance(node, ast.While)))
            elif isinstance(value, list):
                setattr(node, key, [self._read(one, node) if isinstance(one, ast.expr) else one for one in value])
        made, self.asserted = [*self.asserted, node], before
        return made

    def _made(self, grid: Grid, node: ast.Assign) -> list[ast.stmt]:
        if any(self._is_grid(inner) for inner in nodes_of(node.value)):
            raise _Other
        sizes = ", ".join(map(ast.unparse, grid.extents))
        if grid.holds_tensors:
            text = f"{grid.name} = ({ast.unparse(grid.first)}).expand({sizes}).clone()"
        else:
            first = "0.0" if grid.is_empty else ast.unparse(grid.first)
            text = f"{grid.name} = torch.full(({sizes},), {first}, dtype=torch.{self.dtype})"
        held = f"{grid.held} = torch.zeros(({sizes},), dtype=torch.bool)"
        same = f"assert {ast.unparse(grid.first)} == {_spelled(grid.number)}\n" if grid.number is not None else ""
        return self._parsed(f"{same}{text}\n{held}", node)

    def _stored(self, grid: Grid, index: list[ast.expr], node: ast.Assign) -> list[ast.stmt]:
        value, before = node.value, self.asserted
        self.asserted = []
        index = [self._read(one, node) for one in index]
        number = _number(value, self.numbers)
        if number is not None and (number not in NUMBERS or grid.holds_tensors):
            raise _Other  # another number would be rounded
        is_new = isinstance(value, (ast.BinOp, ast.UnaryOp, ast.Name)) and number is None
        is_new |= isinstance(value, ast.Call) and number is None and not (self._selects(value) or _makes_tensor(value))
        node.targets = [self._cell(grid.name, index, ast.Store(), node)]
        node.value = self._read(value, node, keeps=True)
        places = ast.unparse(self._cell(grid.held, index, ast.Load(), node))
        mark = self._parsed(f"{places} = {is_new}", node)
        made, self.asserted = [*self.asserted, node, *mark], before
        if is_new:
            self.stored.add(places)
        return made

    def _selects(self, call: ast.Call) -> bool:
        return isinstance(call.func, ast.Name) and call.func.id in ("min", "max")

    def _parsed(self, text: str, node: ast.stmt) -> list[ast.stmt]:
        made = ast.parse(text).body
        for inner in (inner for one in made for inner in nodes_of(one)):
            if isinstance(inner, (ast.expr, ast.stmt)):
                ast.copy_location(inner, node)
        return made

    # ------------------------------------------------------------ reads

    def _is_grid(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id in self.grids

    def _place(self, node: ast.expr) -> tuple[Grid, list[ast.expr]] | None:
        """The list that a subscript is of, and the place in it."""
        index: list[ast.expr] = []
        while isinstance(node, ast.Subscript):
            index.insert(0, node.slice)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.grids:
            return None
        grid = self.grids[node.id]
        if len(index) != len(grid.extents) or not all(map(_is_plain, index)):
            raise _Other
        return grid, index

    def _read(self, node: ast.expr, parent: ast.AST, *, keeps: bool = False, certain: bool = True) -> ast.expr:
        """An expression with what it reads of lists; ``keeps``: its value stays only as an item that is not held,
        ``certain``: it is evaluated where its statement runs."""
        if isinstance(node, ast.Subscript) and (place := self._place(node)) is not None:
            grid, index = place
            if not isinstance(node.ctx, ast.Load):
                raise _Other
            index = [self._read(one, node, certain=certain) for one in index]
            cell = self._cell(grid.name, index, ast.Load(), node)
            held = ast.unparse(self._cell(grid.held, index, ast.Load(), node))
            is_loose = self._is_loose(grid, parent) or (keeps and grid.holds_tensors)
            if is_loose and not (certain and held in self.stored):
                return _called(ast.Attribute(cell, "clone", ast.Load()), [], node)
            if not certain:
                raise _Other
            self.asserted += self._parsed(f"assert {held}.item()", node)  # type: ignore[arg-type]
            return _called(ast.Attribute(ast.Name("torch", ast.Load()), "clone", ast.Load()), [cell], node)
        if self._is_grid(node):
            raise _Other
        certain = certain and not isinstance(node, (ast.IfExp, ast.BoolOp, ast.ListComp, ast.GeneratorExp))
        if isinstance(node, (ast.SetComp, ast.DictComp, ast.Lambda)) and any(map(self._is_grid, nodes_of(node))):
            raise _Other
        above = parent if isinstance(node, (ast.List, ast.Tuple)) and isinstance(parent, ast.Call) else node
        for key, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, key, self._read(value, above, certain=certain))
            elif isinstance(value, list):
                made = [self._inner(one, above, certain) for one in value]
                setattr(node, key, made)
        return node

    def _inner(self, node: Any, parent: ast.AST, certain: bool) -> Any:
        if isinstance(node, ast.expr):
            return self._read(node, parent, certain=certain)
        if isinstance(node, (ast.keyword, ast.comprehension)) and any(map(self._is_grid, nodes_of(node))):
            raise _Other
        return node

    def _is_loose(self, grid: Grid, parent: ast.AST) -> bool:
        """Whether an item is computed with at once, by what takes Python's numbers and tensors alike."""
        match parent:
            case ast.Compare(ops=ops) if any(isinstance(one, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for one in ops):
                raise _Other
            case _ if grid.is_empty:
                return False
            case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult()) | ast.Compare():
                return True
            case ast.Call(func=ast.Name(id="min" | "max")):
                return True
            case ast.BinOp() | ast.UnaryOp():
                return grid.holds_tensors
            case ast.Call(func=ast.Attribute(attr=attr)):
                return grid.holds_tensors and attr not in _KEEPS
            case ast.Call():
                return grid.holds_tensors
        return False

    def _cell(self, name: str, index: list[ast.expr], context: ast.expr_context, node: ast.AST) -> ast.Subscript:
        place = index[0] if len(index) == 1 else ast.Tuple([copy.deepcopy(one) for one in index], ast.Load())
        return ast.copy_location(ast.Subscript(ast.Name(name, ast.Load()), copy.deepcopy(place), context), node)


def _spelled(number: float) -> str:
    return repr(number) if abs(number) < float("inf") else f"float('{number}')"


def _is_plain(index: ast.expr) -> bool:
    """Whether a place can be computed twice."""
    allowed = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)
    return all(isinstance(node, allowed) for node in nodes_of(index))


def _called(function: ast.expr, arguments: list[ast.expr], node: ast.AST) -> ast.Call:
    return ast.copy_location(ast.Call(function, arguments, []), node)
