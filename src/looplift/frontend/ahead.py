"""A region that stays in; its statements over lists of numbers, for the tensors that it only reads numbers of, out.

for k in range(len(source)):                    source_list, weight_list = source.tolist(), weight.tolist()
    near = edges.setdefault(                    for k in range(len(source)):
        int(source[k]), [])              ->         near = edges.setdefault(int(source_list[k]), [])
    near.append(float(weight[k]))                   near.append(float(weight_list[k]))

An element of a tensor takes some microseconds to become a number, an item of a list some nanoseconds.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch

from looplift.base.data import dataclass
from looplift.base.errors import NotLiftable
from looplift.frontend.hoisting import hoisted
from looplift.frontend.names import names_of
from looplift.frontend.residue import Residue, residue_of
from looplift.frontend.syntax import children_of, fresh_copy, nodes_of

CONVERSIONS = ("int", "float", "bool")
COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
DTYPES = frozenset("float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool".split())
BYTES = 40
"""Of a number in a list."""


@dataclass
class Ahead:
    """The tensors that become lists, with the names of these, the statements over them, and what these may do.

    ``front``: loops that make ``numbers``, lists of what the statements compute of tensors, before them.
    """

    lists: dict[str, str]
    statements: list[ast.stmt]
    residue: Residue
    front: list[ast.stmt]
    numbers: list[str]

    @property
    def read(self) -> list[str]:
        """Names that must not change meanwhile."""
        return sorted({*self.lists} | names_of(self.front).loads)

    @property
    def size(self) -> str:
        """The bytes that the lists take, as an expression."""
        return f"{BYTES} * ({' + '.join(f'_count({name})' for name in self.lists)})"


def ahead_of(statements: list[ast.stmt], values: Mapping[str, Any], live_out: Iterable[str], *, moves: bool) -> Ahead:
    """Raises NotLiftable where the region reads no numbers of tensors, or may change the tensors meanwhile.

    ``moves``: also what it computes of tensors becomes lists, before it.
    """
    names = names_of(statements)
    renamed = _Renamed({*values} | names.loads | names.stores)
    statements = [renamed.visit(fresh_copy(statement)) for statement in statements]
    stores = _stores(statements)
    tables = {name: Table(value) for name, value in values.items() if name not in stores and _may_be_list(value)}
    front, numbers = [], []
    if moves:
        is_element = Reader(values, tables, set(stores), set()).element
        if (found := hoisted(statements, values, stores, is_element)) is None:
            raise NotLiftable("unsupported-value", "nothing is computed of tensors alone")
        front, numbers, statements = found.front, found.lists, found.statements
        stores = _stores(statements)
    single = {name for name, count in stores.items() if count == 1} - {*live_out} - values.keys()
    while True:
        reader = Reader(values, tables, set(stores), single)
        changed = [reader.visit(fresh_copy(statement)) for statement in statements]
        if not (left := reader.left_over(changed)):
            break
        single -= left
    if not (reader.used or numbers):
        raise NotLiftable("unsupported-value", "no element of a tensor is read as a number")
    lists = {name: reader.list_name(name) for name in sorted(reader.used)}
    depths = {lists[name]: tables[name].rank for name in lists} | {n: rank for n, (_, rank) in reader.derived.items()}
    residue = residue_of(changed, values, depths | dict.fromkeys(numbers, 1))
    if (residue.written | residue.stored) & names_of(front).loads:
        raise NotLiftable("aliasing", "what is computed before the loop is changed in it")
    return Ahead(lists, changed, residue, front, numbers)


def _stores(statements: list[ast.stmt]) -> Counter[str]:
    """How often each name is bound."""
    every = [node for statement in statements for node in nodes_of(statement)]
    return Counter(node.id for node in every if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))


class _Renamed(ast.NodeTransformer):
    """``for t in x: t = int(t)`` gives the element a name of its own."""

    def __init__(self, taken: set[str]):
        self.taken = taken

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        targets = {one.id: one for one in nodes_of(node.target) if isinstance(one, ast.Name)}
        for statement in node.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in targets:
                    loads = [one for one in nodes_of(value) if isinstance(one, ast.Name) and one.id == name]
                    if len(loads) == 1:
                        targets[name].id = loads[0].id = self.fresh(f"{name}_element")
            used = names_of(statement)
            for name in targets.keys() & (used.loads | used.stores):
                del targets[name]
        return node

    def fresh(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name


@dataclass
class Table:
    """A tensor or array as a list: how many dimensions it has, and its dtype's name."""

    value: Any

    @property
    def rank(self) -> int:
        return self.value.ndim

    @property
    def dtype(self) -> str:
        return str(self.value.dtype).removeprefix("torch.")


def _may_be_list(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        plain = not (value.requires_grad or value.is_neg() or value.is_conj()) and value.device.type == "cpu"
    else:
        plain = type(value) is np.ndarray and value.dtype.isnative
    if not plain or value.ndim == 0:
        return False
    return str(value.dtype).removeprefix("torch.") in DTYPES


# ---------------------------------------------------------------- reads


class Reader(ast.NodeTransformer):
    """Reads of elements as numbers become reads of lists.

    ``derived``: names that are bound to a part of a tensor, with the tensor and the dimensions that are left.
    """

    def __init__(self, values: Mapping[str, Any], tables: dict[str, Table], stored: set[str], single: set[str]):
        self.values, self.tables, self.stored, self.single = values, tables, stored, single
        self.derived: dict[str, tuple[str, int]] = {}
        self.used: set[str] = set()
        self.made: set[int] = set()

    def list_name(self, name: str) -> str:
        found = f"{name}_list"
        while found in self.values or found in self.stored:
            found += "_"
        return found

    def left_over(self, statements: list[ast.stmt]) -> set[str]:
        """Names of parts that are read in another way as well."""
        nodes = [node for statement in statements for node in nodes_of(statement) if id(node) not in self.made]
        loads = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        return loads & self.derived.keys()

    # ------------------------------------------------------------ patterns

    def part(self, node: ast.AST) -> tuple[str, int, list[ast.expr]] | None:
        """The name, the dimensions that are left, and the indices of a subscript of a tensor's list."""
        indices: list[ast.expr] = []
        while isinstance(node, ast.Subscript):
            here = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            indices[:0] = here
            node = node.value
        if not isinstance(node, ast.Name) or not all(map(_is_index, indices)):
            return None
        if node.id in self.derived:
            rank = self.derived[node.id][1]
        elif node.id in self.tables:
            rank = self.tables[node.id].rank
        else:
            return None
        return (node.id, rank - len(indices), indices) if rank >= len(indices) else None

    def element(self, node: ast.AST) -> bool:
        found = self.part(node)
        return found is not None and found[1] == 0

    def dtype(self, node: ast.AST) -> str:
        found = self.part(node)
        assert found is not None
        name = self.derived[found[0]][0] if found[0] in self.derived else found[0]
        return self.tables[name].dtype

    def read(self, node: ast.AST) -> ast.expr:
        """The same read, of the list."""
        found = self.part(node)
        assert found is not None
        name, _, indices = found
        if name not in self.derived:
            self.used.add(name)
            name = self.list_name(name)
        base: ast.expr = ast.Name(name, ast.Load())
        self.made.add(id(base))
        for index in indices:
            base = ast.Subscript(base, self.visit(index), ast.Load())
        return ast.fix_missing_locations(ast.copy_location(base, node))

    def is_builtin(self, name: str) -> bool:
        return self.values.get(name) is getattr(builtins, name)

    # ------------------------------------------------------------ conversions

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Name(id=name), args=[one], keywords=[]) if name in CONVERSIONS:
                if self.is_builtin(name) and self.element(one):
                    node.args = [self.read(one)]
                    return node
            case ast.Call(func=ast.Attribute(value=one, attr="item"), args=[], keywords=[]) if self.element(one):
                return self.read(one)
            case ast.Call(func=ast.Attribute(value=ast.Subscript() as one, attr="tolist"), args=[], keywords=[]):
                if (found := self.part(one)) is not None and found[1] == 1 and self.is_builtin_or_unread("list"):
                    return ast.copy_location(ast.Call(ast.Name("list", ast.Load()), [self.read(one)], []), node)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name) as one], keywords=[]) if (
                name in self.derived
            ):
                if self.is_builtin("len") and self.derived[name][1] > 0:
                    node.args = [self.read(one)]
                    return node
            case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]) if self.is_builtin("range"):
                node.args = [self.index(one) for one in args]
                return node
        return self.generic_visit(node)

    def is_builtin_or_unread(self, name: str) -> bool:
        return self.values.get(name, getattr(builtins, name)) is getattr(builtins, name)

    def index(self, node: ast.expr) -> ast.expr:
        """An integer element where Python asks for an index."""
        return self.read(node) if self.element(node) and "int" in self.dtype(node) else self.visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        owner = None if name in self.stored else self.values.get(name)
        if type(owner) in (list, tuple, str) and not isinstance(node.slice, ast.Slice):
            node.slice = self.index(node.slice)
            return node
        return self.generic_visit(node)

    # ------------------------------------------------------------ conditions

    def truth(self, node: ast.expr) -> ast.expr:
        """The node where only its truth matters."""
        match node:
            case ast.BoolOp(values=values):
                node.values = [self.truth(one) for one in values]
                return node
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                node.operand = self.truth(operand)
                return node
            case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, COMPARISONS):
                if self.compares(left, right):
                    sides = [self.read(one) if self.element(one) else one for one in (left, right)]
                    node.left, node.comparators = sides[0], sides[1:]
                    return node
        return self.read(node) if self.element(node) else self.visit(node)

    def compares(self, left: ast.expr, right: ast.expr) -> bool:
        """Whether numbers of the lists compare as the elements do: those of one dtype, or with an exact literal."""
        if self.element(left) and self.element(right):
            return self.dtype(left) == self.dtype(right)
        for one, other in ((left, right), (right, left)):
            if self.element(one) and (number := _literal(other)) is not None:
                return _is_exact(number, self.dtype(one))
        return False

    def visit_If(self, node: ast.If) -> ast.AST:
        return self.tested(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self.tested(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        return self.tested(node)

    def tested(self, node: Any) -> ast.AST:
        test = self.truth(node.test)
        node.test = ast.copy_location(ast.Constant(True), test)
        node = self.generic_visit(node)
        node.test = test
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        return self.truth(node) if isinstance(node.op, ast.Not) else self.generic_visit(node)

    # ------------------------------------------------------------ names for parts

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() as value) if name in self.single:
                if (found := self.part(value)) is not None:
                    self.derive(name, found[0], found[1])
                    node.value = self.read(value)
                    return node
        return self.generic_visit(node)

    def derive(self, name: str, owner: str, rank: int) -> None:
        self.derived[name] = (self.derived[owner][0] if owner in self.derived else owner, rank)

    def visit_For(self, node: ast.For) -> ast.AST:
        node.iter = self.iterated(node.target, node.iter)
        node.body = [self.visit(one) for one in node.body]
        node.orelse = [self.visit(one) for one in node.orelse]
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self.comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self.comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self.comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self.comprehension(node)

    def comprehension(self, node: Any) -> ast.AST:
        """What it runs over comes first: it binds the names."""
        for part in node.generators:
            part.iter = self.iterated(part.target, part.iter)
            part.ifs = [self.truth(one) for one in part.ifs]
        for name in ("key", "value", "elt"):
            if hasattr(node, name):
                setattr(node, name, self.visit(getattr(node, name)))
        return node

    def iterated(self, target: ast.expr, source: ast.expr) -> ast.expr:
        match source, target:
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *more], keywords=[]), ast.Tuple(elts=[_, one]):
                if self.is_builtin("enumerate"):
                    source.args = [self.iterated(one, inner), *map(self.visit, more)]
                    return source
            case ast.Call(func=ast.Name(id="zip"), args=inners, keywords=[]), ast.Tuple(elts=targets):
                if self.is_builtin("zip") and len(inners) == len(targets):
                    source.args = [self.iterated(one, inner) for inner, one in zip(inners, targets, strict=True)]
                    return source
            case ast.Name() | ast.Subscript(), ast.Name(id=name) if name in self.single:
                if (found := self.part(source)) is not None and found[1] > 0:
                    self.derive(name, found[0], found[1] - 1)
                    return self.read(source)
        return self.visit(source)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node


def _is_index(node: ast.expr) -> bool:
    """Whether an index may be an integer, of which lists and tensors think alike."""
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not)
    plain = (ast.Name, ast.BinOp, ast.Subscript, ast.Call, ast.Attribute)
    return isinstance(node, plain) and not any(isinstance(one, ast.Compare | ast.BoolOp) for one in children_of(node))


def _literal(node: ast.expr) -> float | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    number = node.value if isinstance(node, ast.Constant) else None
    return sign * number if isinstance(number, int | float) and not isinstance(number, bool) else None


def _is_exact(number: float, dtype: str) -> bool:
    """Whether a tensor of this dtype holds the number."""
    if type(number) is int and dtype in ("int64", "int32"):
        return -(2**31) <= number < 2**31
    if dtype == "float64":
        return type(number) is float or abs(number) < 2**53
    return dtype in ("float32", "float16", "bfloat16") and abs(number) <= 256 and float(number).is_integer()
