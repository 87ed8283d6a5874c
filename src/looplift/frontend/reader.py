"""Statements and the tensors that may be lists in; the statements with elements read from the lists out."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from typing import Any

import torch

from looplift.base.data import dataclass
from looplift.base.syntax import children_of, nodes_of
from looplift.frontend.bindings import Bindings, Listed
from looplift.frontend.conditions import Conditions, converted

CHECKS = {"int64": int, "float64": float, "float32": type(None), "bool": bool}
"""Literals that are numbers of a dtype; of others functions of these names, with an underscore, tell."""
INDICES = ("int64", "int32", "int16", "int8")
COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


@dataclass
class Table:
    """A tensor or array as a list: how many dimensions it has, and its dtype's name.

    ``stored``: whether the statements make it themselves, and store numbers into it.
    """

    value: Any
    stored: bool = False

    @property
    def rank(self) -> int:
        return self.value.ndim

    @property
    def dtype(self) -> str:
        return str(self.value.dtype).removeprefix("torch.")

    def listed(self, rank: int) -> Listed:
        """A part of so many dimensions."""
        return Listed(rank, "int" in self.dtype)


class Reader(Conditions):
    """Reads of elements as numbers become reads of lists.

    ``derived``: names that are bound to a part of a tensor, with the tensor and the dimensions that are left;
    ``numbers``: tensors of floats whose elements are handed on as numbers; ``reads``: the subscripts that were made;
    ``puts``: the tables that are stored to, with what is stored; ``asked``: tables whose elements are read.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        tables: dict[str, Table],
        stored: set[str],
        single: set[str],
        bindings: Bindings | None = None,
    ):
        super().__init__()
        self.bindings = bindings
        self.values, self.tables, self.stored, self.single = values, tables, stored, single
        self.derived: dict[str, tuple[str, int]] = {}
        self.used: set[str] = set()
        self.numbers: set[str] = set()
        self.made: set[int] = set()
        self.reads: list[ast.Subscript] = []
        self.puts: list[tuple[str, ast.expr]] = []
        self.asked: set[str] = set()

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

    def seen_whole(self, statements: list[ast.stmt]) -> tuple[set[str], dict[str, tuple[int, int]]]:
        """The tables stored to that are used in another way while they are lists, and between which statements each
        is one."""
        stored = {name for name in self.used if self.tables[name].stored}
        lists = {self.list_name(name): name for name in stored} | {
            name: owner for name, (owner, _) in self.derived.items() if owner in stored
        }
        places: dict[str, list[int]] = {name: [] for name in stored}
        bare: list[tuple[str, int, bool]] = []
        for place, statement in enumerate(statements):
            every = nodes_of(statement)
            harmless = {id(one) for node in every for one in _only_measured(node)}
            for one in every:
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load) and id(one) not in harmless:
                    if one.id in lists:
                        places[lists[one.id]].append(place)
                    elif one.id in stored:
                        bare.append((one.id, place, _fills(statement, one.id)))
        between = {name: (found[0], found[-1]) for name, found in places.items()}
        early = {
            name
            for name, place, fills in bare
            if place <= between[name][1] and not (fills and place < between[name][0])
        }
        return early, between

    # ------------------------------------------------------------ patterns

    def part(self, node: ast.AST) -> tuple[str, int, list[ast.expr]] | None:
        """The name, the dimensions that are left, and the indices of a subscript of a tensor's list."""
        indices: list[ast.expr] = []
        while isinstance(node, ast.Subscript):
            here = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            indices[:0] = here
            node = node.value
        sliced = bool(indices) and _is_run(indices[-1])
        if not isinstance(node, ast.Name) or not all(map(_is_index, indices[: len(indices) - sliced])):
            return None
        if node.id in self.derived:
            rank = self.derived[node.id][1]
        elif node.id in self.tables:
            rank = self.tables[node.id].rank
        else:
            return None
        if rank < len(indices) or (sliced and not self.stays(node.id, 0)):
            return None
        return node.id, rank - len(indices) + sliced, indices

    def element(self, node: ast.AST) -> bool:
        found = self.part(node)
        return found is not None and found[1] == 0

    def owner(self, node: ast.AST) -> str:
        """The tensor of which an expression reads a part."""
        found = self.part(node)
        assert found is not None
        return self.derived[found[0]][0] if found[0] in self.derived else found[0]

    def dtype(self, node: ast.AST) -> str:
        return self.tables[self.owner(node)].dtype

    def read(self, node: ast.AST) -> ast.expr:
        """The same read, of the list."""
        self.asked.add(self.owner(node))
        return self.item(node)

    def item(self, node: ast.AST) -> ast.expr:
        found = self.part(node)
        assert found is not None
        name, _, indices = found
        if name not in self.derived:
            self.used.add(name)
            name = self.list_name(name)
        base: ast.expr = ast.Name(name, ast.Load())
        self.made.add(id(base))
        for index in indices:
            place = self.read(index) if self.element(index) and self.dtype(index) in INDICES else self.visit(index)
            base = ast.Subscript(base, place, ast.Load())
            if not isinstance(index, ast.Slice):
                self.reads.append(base)
        return ast.fix_missing_locations(ast.copy_location(base, node))

    def number(self, node: ast.AST) -> ast.expr:
        """The same read, of the list, for its value."""
        if "float" in self.dtype(node) and not self.tables[self.owner(node)].stored:
            self.numbers.add(self.owner(node))
        return self.read(node)

    def is_builtin(self, name: str) -> bool:
        """Whether a name stands for Python's own function, if for anything."""
        own = getattr(builtins, name)
        return name not in self.stored and self.values.get(name, own) is own

    # ------------------------------------------------------------ conversions and calls

    def call(self, node: ast.Call) -> ast.AST | None:
        if (found := converted(node)) is not None and self.element(found[1]):
            return self.conversion(node, *found)
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Subscript() as one, attr="tolist"), args=[], keywords=[]):
                if (part := self.part(one)) is not None and part[1] == 1 and self.is_builtin("list"):
                    return ast.copy_location(ast.Call(ast.Name("list", ast.Load()), [self.number(one)], []), node)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name) as one], keywords=[]) if (
                name in self.derived
            ):
                if self.is_builtin("len") and self.derived[name][1] > 0:
                    node.args = [self.read(one)]
                    return node
            case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]) if self.is_builtin("range"):
                node.args = [self.index(one) for one in args]
                return node
        return None

    def conversion(self, node: ast.Call, kind: str, one: ast.expr) -> ast.AST | None:
        if kind == "item":
            return self.number(one)
        if not self.is_builtin(kind):
            return None
        node.args = [self.number(one) if kind == "float" else self.read(one)]
        return node

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

    def condition(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, COMPARISONS):
                for dtype in {
                    self.dtype(one) for one in nodes_of(node) if isinstance(one, ast.expr) and self.element(one)
                }:
                    if all(self.is_numeric(one, dtype) for one in (left, right)):
                        node.left, node.comparators = self.numeric(left, dtype), [self.numeric(right, dtype)]
                        return node
        return self.read(node) if self.element(node) else self.visit(node)

    # ------------------------------------------------------------ arithmetic

    def is_numeric(self, node: ast.expr, dtype: str) -> bool:
        """Whether Python computes with numbers what tensors of a dtype do: elements, exact literals, sums of those."""
        if self.element(node):
            return self.dtype(node) == dtype
        if (number := _literal(node)) is not None:
            return _is_exact(number, dtype)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
            if self.computes(node, dtype) and all(self.is_numeric(one, dtype) for one in (node.left, node.right)):
                return True
        known = self.bindings
        if known is None or dtype not in ("int64", "float64"):
            return False
        return known.is_whole(node) if dtype == "int64" else known.is_number(node)

    def computes(self, node: ast.BinOp, dtype: str) -> bool:
        """Whether a sum has an element in it; what is too large for float64 NumPy warns of."""
        elements = [one for one in nodes_of(node) if isinstance(one, ast.expr) and self.element(one)]
        tensors = {isinstance(self.tables[self.owner(one)].value, torch.Tensor) for one in elements}
        return len(tensors) == 1 and (dtype == "int64" or (dtype == "float64" and True in tensors))

    def numeric(self, node: ast.expr, dtype: str) -> ast.expr:
        if self.element(node):
            return self.read(node)
        if _literal(node) is not None:
            return node
        if isinstance(node, ast.BinOp) and self.computes(node, dtype):
            node.left, node.right = self.numeric(node.left, dtype), self.numeric(node.right, dtype)
            return self.checked(node, dtype) if dtype == "int64" else node
        return self.operand(self.visit(node), dtype)

    def operand(self, node: ast.expr, dtype: str) -> ast.expr:
        """A number of Python's as tensors of a dtype take it."""
        if dtype == "int64":
            return self.checked(node, dtype)
        return ast.copy_location(ast.Call(ast.Name("_double", ast.Load()), [node], []), node)

    # ------------------------------------------------------------ stores

    def place(self, target: ast.expr) -> ast.expr | None:
        """The item of a list for an element of a table that is stored to."""
        if not (self.element(target) and self.tables[self.owner(target)].stored):
            return None
        found = self.item(target)
        assert isinstance(found, ast.Subscript)
        found.ctx = ast.Store()
        return found

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        owner = self.owner(node.target) if self.element(node.target) else ""
        if owner and isinstance(node.op, ast.Add | ast.Sub | ast.Mult) and _is_found_twice(node.target, node.value):
            if self.dtype(node.target) != "bool" and (target := self.place(node.target)) is not None:
                value = self.operand(self.visit(node.value), self.dtype(node.target))
                value = ast.BinOp(self.read(node.target), node.op, value)
                return self.put(ast.copy_location(ast.Assign([target], value), node), owner)
        return self.generic_visit(node)

    def put(self, node: ast.Assign, owner: str) -> ast.Assign:
        self.puts.append((owner, node.value))
        node.value = self.checked(node.value, self.tables[owner].dtype)
        return ast.fix_missing_locations(node)

    def checked(self, node: ast.expr, dtype: str) -> ast.expr:
        """A number, where it is one that the dtype holds."""
        match node:
            case ast.Constant(value=value) if type(value) is CHECKS[dtype]:
                return node
            case ast.Call(func=ast.Name(id=name)) if name == f"_{dtype}":
                return node
        return ast.copy_location(ast.Call(ast.Name(f"_{dtype}", ast.Load()), [node], []), node)

    # ------------------------------------------------------------ names for parts

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() as value) if name in self.single:
                if (found := self.part(value)) is not None and self.stays(found[0], found[1]):
                    self.derive(name, found[0], found[1])
                    node.value = self.read(value)
                    return node
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                if self.element(target) and (place := self.place(target)) is not None:
                    dtype = self.dtype(target)
                    same = self.is_numeric(value, dtype) and any(map(self.element, nodes_of(value)))
                    node.targets, node.value = [place], self.numeric(value, dtype) if same else self.visit(value)
                    return self.put(node, self.owner(target))
        return self.generic_visit(node)

    def stays(self, owner: str, rank: int) -> bool:
        """Whether a part is the same later on: a number in a list that is stored to is not."""
        return rank > 0 or not self.tables[self.derived[owner][0] if owner in self.derived else owner].stored

    def derive(self, name: str, owner: str, rank: int) -> None:
        self.derived[name] = (self.derived[owner][0] if owner in self.derived else owner, rank)

    def visit_For(self, node: ast.For) -> ast.AST:
        node.iter = self.iterated(node.target, node.iter)
        node.body = [self.visit(one) for one in node.body]
        node.orelse = [self.visit(one) for one in node.orelse]
        return node

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
                if (found := self.part(source)) is not None and found[1] > 0 and self.stays(found[0], found[1] - 1):
                    self.derive(name, found[0], found[1] - 1)
                    return self.read(source)
        return self.visit(source)


def _fills(statement: ast.stmt, name: str) -> bool:
    """Whether a statement does nothing with a tensor but store into it."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=owner))]) if owner == name:
            return sum(isinstance(one, ast.Name) and one.id == name for one in nodes_of(statement)) == 1
    return False


def _is_found_twice(target: ast.expr, value: ast.expr) -> bool:
    """Whether indices are the same before a value was computed and after it."""
    inside = nodes_of(target)
    if any(isinstance(one, ast.NamedExpr) for one in (*inside, *nodes_of(value))):
        return False
    if any(isinstance(one, ast.Call) for one in inside):
        return False
    simple = sum(isinstance(one, ast.Subscript) for one in inside) == 1
    return simple or not any(isinstance(one, ast.Call) for one in nodes_of(value))


def _only_measured(node: ast.AST) -> list[ast.expr]:
    """A name of which a node reads but the shape and the kind."""
    match node:
        case ast.Attribute(value=ast.Name() as one, attr="shape" | "ndim" | "dtype" | "device"):
            return [one]
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name() as one]):
            return [one]
    return []


def _is_run(node: ast.expr) -> bool:
    """Whether a subscript takes some of the items, in their order."""
    return isinstance(node, ast.Slice) and node.step is None


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
