"""A region that stays in; its statements over lists of numbers, for the tensors that it only reads numbers of, out.

for k in range(len(source)):                    source_list, weight_list = source.tolist(), weight.tolist()
    near = edges.setdefault(                    for k in range(len(source)):
        int(source[k]), [])              ->         near = edges.setdefault(int(source_list[k]), [])
    near.append(float(weight[k]))                   near.append(float(weight_list[k]))

An element of a tensor takes some microseconds to become a number, an item of a list some nanoseconds.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch

from looplift.base.data import dataclass
from looplift.base.errors import NotLiftable
from looplift.base.syntax import fresh_copy, nodes_of
from looplift.frontend.bindings import NUMBER_CHECKS, Listed, bindings_of
from looplift.frontend.hoisting import hoisted
from looplift.frontend.made import DTYPES as STORED
from looplift.frontend.made import made_by
from looplift.frontend.names import names_of
from looplift.frontend.reader import Reader, Table
from looplift.frontend.residue import Residue, residue_of
from looplift.frontend.taints import root_of
from looplift.runtime.contents import CONTAINERS

DTYPES = frozenset("float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool".split())
BYTES = 40
"""Of a number in a list."""
MOST = 2_000_000
"""Numbers in a list that is stored to, unless a limit is given."""


@dataclass
class Ahead:
    """The tensors that become lists, with the names of these, the statements over them, and what these may do.

    ``front``: loops that make ``numbers``, lists of what the statements compute of tensors, before them. ``floats``:
    the tensors whose elements are handed on as floats. ``given``: those that numbers are stored into, which are lists
    meanwhile, and must share no memory with ``others``.
    """

    lists: dict[str, str]
    statements: list[ast.stmt]
    residue: Residue
    front: list[ast.stmt]
    numbers: list[str]
    floats: list[str]
    given: list[str]
    others: list[str]

    @property
    def read(self) -> list[str]:
        """Names that must not change meanwhile."""
        return sorted({*self.lists} | names_of(self.front).loads)

    @property
    def size(self) -> str:
        """The bytes that the lists of what is given take, as an expression."""
        return f"{BYTES} * ({' + '.join(f'_count({name})' for name in self.lists)})"


def ahead_of(
    statements: list[ast.stmt],
    values: Mapping[str, Any],
    live_out: Iterable[str],
    *,
    moves: bool,
    memory: int | None = None,
) -> Ahead:
    """Raises NotLiftable where the region reads no numbers of tensors, or may change the tensors meanwhile.

    ``moves``: also what it computes of tensors becomes lists, before it. ``memory``: the bytes that a list may take.
    """
    most = MOST if memory is None else memory // BYTES
    names = names_of(statements)
    renamed = _Renamed({*values} | names.loads | names.stores, names.captured)
    statements = [renamed.visit(fresh_copy(statement)) for statement in statements]
    stores = _stores(statements)
    tables = {name: Table(value) for name, value in values.items() if name not in stores and _may_be_list(value)}
    tables |= {name: Table(one.value, stored=True) for name, one in tables.items() if name in _places(statements)}
    tables = {name: one for name, one in tables.items() if not one.stored or one.dtype in STORED}
    front: list[ast.stmt] = []
    numbers: dict[str, Listed] = {}
    if moves:
        is_element = Reader(values, tables, set(stores), set()).element
        if (found := hoisted(statements, values, stores, is_element)) is None:
            raise NotLiftable("unsupported-value", "nothing is computed of tensors alone")
        front, numbers, statements = found.front, found.lists, found.statements
        stores = _stores(statements)
    if names_of(statements).stores & {*HELPERS} or values.keys() & {*HELPERS}:
        raise NotLiftable("unsupported-value", "names are used that the text over lists needs itself")
    made = {name for name in made_by(statements, values) if stores[name] == 1 and name not in values}
    tables |= {name: Table(value, stored=True) for name, value in made_by(statements, values).items() if name in made}
    single = {name for name, count in stores.items() if count == 1} - {*live_out} - values.keys()
    while True:
        reader, changed, between = _read(statements, values, tables, stores, single)
        if not (reader.used or numbers):
            raise NotLiftable("unsupported-value", "no element of a tensor is read as a number")
        lists = {name: reader.list_name(name) for name in sorted(reader.used)}
        listed = numbers | {lists[name]: tables[name].listed(tables[name].rank) for name in lists}
        listed |= {name: tables[owner].listed(rank) for name, (owner, rank) in reader.derived.items()}
        residue = residue_of(changed, values, listed)
        unknown = {name for name, value in reader.puts if residue.taints.touch(value)}
        if residue.mixed:
            unknown |= between.keys() & values.keys()
        if not unknown:
            break
        tables = {name: one for name, one in tables.items() if name not in unknown}
    given = sorted(between.keys() & values.keys())
    residue.written |= {*given}
    changes, loads = residue.written | residue.stored, names_of(front).loads
    if changes & loads or (changes and any(type(values.get(name)) in CONTAINERS for name in loads)):
        raise NotLiftable("aliasing", "what is computed before the loop is changed in it")
    for read in reader.reads:
        if not residue.bindings.is_whole(read.slice):
            read.slice = ast.Call(ast.Name("_one_index", ast.Load()), [read.slice], [])
    changed = _with_tables(
        changed, [(lists[name], name, tables[name], *places) for name, places in between.items()], most
    )
    lists = {name: one for name, one in lists.items() if name not in between}
    loads |= names_of(statements).loads
    others = sorted(name for name in loads & values.keys() if isinstance(values[name], torch.Tensor | np.ndarray))
    return Ahead(lists, changed, residue, front, [*numbers], sorted(reader.numbers), given, others)


HELPERS = ("_one_index", "_listed", "_put_back", *NUMBER_CHECKS)
"""Functions that the statements call."""


def _read(
    statements: list[ast.stmt],
    values: Mapping[str, Any],
    tables: dict[str, Table],
    stores: Counter[str],
    single: set[str],
) -> tuple[Reader, list[ast.stmt], dict[str, tuple[int, int]]]:
    """The statements over lists, and between which of them tables are lists that they store to."""
    bindings = bindings_of(statements, values, {}, lambda _: False)
    while True:
        reader = Reader(values, tables, set(stores), single, bindings)
        changed = [reader.visit(fresh_copy(statement)) for statement in statements]
        left = reader.left_over(changed)
        early, between = reader.seen_whole(changed)
        early |= {name for name in between if tables[name].dtype == "float32" and name in reader.asked}  # it rounds
        early |= {name for name, (_, last) in between.items() if name in values and _may_return(changed[: last + 1])}
        if not (left or early):
            return reader, changed, between
        single = single - left
        tables = {name: one for name, one in tables.items() if name not in early}


def _may_return(statements: list[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Return) for statement in statements for node in nodes_of(statement))


def _with_tables(
    statements: list[ast.stmt], stored: list[tuple[str, str, Table, int, int]], most: int
) -> list[ast.stmt]:
    """Statements that make lists of tables before their first use, and put the numbers back after their last one."""
    found: list[ast.stmt] = []
    for place, statement in enumerate(statements):
        for name, source, table, first, _ in stored:
            if place == first:
                library = "torch" if isinstance(table.value, torch.Tensor) else "np"
                kind = f"{library}.{table.dtype}" + ("_" if library == "np" and table.dtype == "bool" else "")
                found += ast.parse(f"{name} = _listed({source}, {kind}, {table.rank}, {most})").body
        found.append(statement)
        found += [
            one
            for name, source, _, _, last in stored
            if place == last
            for one in ast.parse(f"_put_back({source}, {name})").body
        ]
    return found


def _places(statements: list[ast.stmt]) -> set[str]:
    """The names that something is stored into."""
    every = [node for statement in statements for node in nodes_of(statement)]
    return {root_of(one) for one in every if isinstance(one, ast.Subscript) and not isinstance(one.ctx, ast.Load)}


def _stores(statements: list[ast.stmt]) -> Counter[str]:
    """How often each name is bound."""
    every = [node for statement in statements for node in nodes_of(statement)]
    return Counter(node.id for node in every if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))


class _Renamed(ast.NodeTransformer):
    """``for t in x: t = int(t)`` gives the element a name of its own."""

    def __init__(self, taken: set[str], captured: set[str]):
        self.taken, self.captured = taken, captured

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        targets = {one.id: one for one in nodes_of(node.target) if isinstance(one, ast.Name)}
        targets = {name: one for name, one in targets.items() if name not in self.captured}
        for statement in node.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in targets:
                    loads = [one for one in nodes_of(value) if isinstance(one, ast.Name) and one.id == name]
                    if len(loads) == 1:
                        targets[name].id = loads[0].id = self.fresh(f"{name}_element")
            if any(isinstance(one, ast.Break | ast.Continue | ast.Return) for one in nodes_of(statement)):
                break  # the element itself may be seen after the loop
            used = names_of(statement)
            for name in targets.keys() & (used.loads | used.stores):
                del targets[name]
        return node

    def fresh(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name


def _may_be_list(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        plain = not (value.requires_grad or value.is_neg() or value.is_conj()) and value.device.type == "cpu"
    else:
        plain = type(value) is np.ndarray and value.dtype.isnative
    if not plain or value.ndim == 0:
        return False
    return str(value.dtype).removeprefix("torch.") in DTYPES
