"""Sets of typed programs: made of one another, and gone through where nobody can tell in which order.

found = {x for x in a if x in b}; sorted(set(counts) | extra); sum(1 for x in a if x in b)
for x in a: if x in b: counts[x[0]] += 1

Python goes through a set by the hashes of its items and by what was put into it before. A program knows neither, so
the order must not matter: of integers that are added up, of sets that are filled, of numbers in dicts. A dict that got
more than one key meanwhile has an order that is not known (``jumbled``), and a set of such items has places that are
not known (``removed``): the loop runs where one of them would be shown.
"""

from __future__ import annotations

import ast
from typing import Any

from looplift.base.syntax import nodes_of
from looplift.emit.typed_expressions import element, is_box
from looplift.emit.typed_loops import Steps
from looplift.emit.typed_scope import Value, refuse
from looplift.emit.typed_statements import Statements
from looplift.emit.typed_types import (
    BOOL,
    INT,
    NEVER,
    NONE,
    TABLES,
    TEXT,
    Box,
    Maybe,
    Member,
    Tup,
    holds,
    text_of,
)

_OPERATORS = {ast.BitOr: "united", ast.BitAnd: "shared", ast.Sub: "without", ast.BitXor: "of_one"}
_METHODS = {"union": "united", "intersection": "shared", "difference": "without", "symmetric_difference": "of_one"}
_PURE = (
    ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Subscript, ast.Tuple, ast.IfExp,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip
_FUNCTIONS = ("len", "abs", "int", "min", "max")


class Sets(Statements):
    """What is done with sets, in no order."""

    in_any_order: dict[int, ast.expr]
    """Expressions that may be gone through in any order, by what tells them apart."""
    jumbles: bool = False
    """Whether something was gone through in an order that is not Python's."""

    # ------------------------------------------------------------ sets of sets and dicts

    def container(self, kind: str, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        if kind != "set" or keywords or len(node.args) != 1:
            return super().container(kind, node, keywords)
        source = node.args[0]
        value = self.looked_at(source)
        if value is None or not is_box(value, *TABLES, "set"):
            return self._collected_set(node, source, lambda: super(Sets, self).container(kind, node, keywords))
        value = self.keep(self.present(self.expression(source)))
        self.check_exact(element(value), node)
        return self._new_set(node, f"keys_of({value.code})", value)

    def of_SetComp(self, node: ast.SetComp) -> Value:
        return self._collected_set(
            node, ast.GeneratorExp(node.elt, node.generators), lambda: super(Sets, self).of_SetComp(node)
        )

    def _collected_set(self, node: ast.expr, source: ast.expr, make: Any) -> Value:
        """A set of what is gone through, in any order if it is pure."""
        before, self.jumbles = self.jumbles, False
        self.allow(source)
        found = make()
        if self.jumbles:
            self.check_exact(element(found), node)
            self.emit(f"{found.code}->removed = true;")
        self.jumbles = before
        return found

    def _new_set(self, node: ast.AST, code: str, *operands: Value) -> Value:
        """A set of items that are some of the operands'."""
        box: Any = self.box(node, "set", 1, "new set")
        for one in operands:
            self.joins.widen(box, 0, element(one))
            self.joins.widen(one.type, 0, box.find().cells[0])
        return self.keep(Value(box.find(), code))

    def check_exact(self, type_: Any, node: ast.AST) -> None:
        """Of equal items it does not matter which one is kept: they are alike."""
        if not _is_exact(type_):
            raise refuse(node, "keeps one of several items that are equal and not alike")

    def binary(self, op: Any, left: Value, right: Value, node: ast.AST) -> Value:
        if op in _OPERATORS and is_box(left, "set") and is_box(right, "set"):
            return self._combined(_OPERATORS[op], left, right, node)
        return super().binary(op, left, right, node)

    def _combined(self, name: str, left: Value, right: Value, node: ast.AST) -> Value:
        left, right = self.keep(left), self.keep(right)
        for one in (left, right):
            self.check_exact(element(one), node)
        return self._new_set(node, f"{name}({left.code}, {right.code})", left, right)

    def method(self, node: ast.Call, func: ast.Attribute) -> Value:
        if func.attr in _METHODS and len(node.args) == 1 and not node.keywords:
            if is_box(Value(self.peek(func.value), ""), "set") and is_box(Value(self.peek(node.args[0]), ""), "set"):
                left, right = map(self.present, self.several(func.value, node.args[0]))
                return self._combined(_METHODS[func.attr], left, right, node)
        return super().method(node, func)

    # ------------------------------------------------------------ any order

    def steps_of_value(self, value: Value, node: ast.AST) -> Steps:
        value = self.present(value)
        if not is_box(value, "set") or id(node) not in self.in_any_order or self.is_as_given(value.type.find()):
            return super().steps_of_value(value, node)
        self.jumbles = True
        return self.steps_of_dict(value, "keys")

    def allow(self, source: ast.expr) -> None:
        """Let sets be gone through in any order, where nothing but pure expressions is computed of their items."""
        if not isinstance(source, ast.GeneratorExp):
            self.in_any_order[id(source)] = source
            return
        iters = [one.iter for one in source.generators]
        parts = [source.elt, *iters, *(test for one in source.generators for test in one.ifs)]
        if all(map(is_pure, parts)) and not self.reads_objects(parts):
            self.in_any_order |= {id(one): one for one in iters}

    def reads_objects(self, parts: list[ast.expr]) -> bool:
        """Whether functions of the user's may be called, or a dict may make what is missing."""
        called = {_called(one) for part in parts for one in nodes_of(part)} - {""}
        is_known = all(map(self.is_builtin, called))
        return not is_known or any(holds(one, _may_call) for one in self._types_in(parts))

    def _types_in(self, parts: list[ast.expr]) -> list[Any]:
        """The types of the variables that expressions read."""
        names = {one.id for part in parts for one in nodes_of(part) if isinstance(one, ast.Name)}
        return [self._type_of(name) for name in sorted(names)]

    def _type_of(self, name: str) -> Any:
        owner = self.owner(name)
        return NEVER if owner is None else owner.types.get(name, NEVER)

    def total(self, node: ast.Call) -> Value:
        return self._folded_in_any_order(node, lambda: super(Sets, self).total(node))

    def _folded_in_any_order(self, node: ast.Call, make: Any) -> Value:
        before, self.jumbles = self.jumbles, False
        self.allow(node.args[0])
        found = make()
        if self.jumbles and found.type not in (INT, NEVER):
            raise refuse(node, "adds up floats in an order of its own")
        self.jumbles = before
        return found

    def do_For(self, node: ast.For) -> bool | None:
        tally = Tally.of(node)
        value = None if tally is None else self.looked_at(node.iter)
        if tally is None or value is None or not is_box(value, "set"):
            return super().do_For(node)
        return self._for_in_any_order(node, tally)

    def _for_in_any_order(self, node: ast.For, tally: Tally) -> bool | None:
        before, self.jumbles = self.jumbles, False
        self.in_any_order[id(node.iter)] = node.iter
        tables = {name: self.expression(ast.Name(name, ast.Load())) for name in sorted(tally.containers)}
        counts = {name: self.fresh("n") for name in tables}
        for name, count in counts.items():
            self.emit(f"I {count} = {'0' if tables[name].type is NEVER else f'size({tables[name].code})'};")
        found = super().do_For(node)
        if self.jumbles:
            self._check_tally(node, tally, tables)
            for name, count in counts.items():
                if is_box(tables[name], *TABLES):
                    self.emit(f"if (size({tables[name].code}) - {count} > 1) {tables[name].code}->jumbled = true;")
                elif is_box(tables[name], "set"):
                    self.emit(f"{tables[name].code}->removed = true;")
            for one in nodes_of(node.target):
                if isinstance(one, ast.Name):
                    self._forget(one.id)
        self.jumbles = before
        return found

    def _forget(self, name: str) -> None:
        """A name that is bound to one item or another."""
        if name not in self.routine.doubtful:
            self.routine.doubtful.add(name)
            self.joins.changes += 1
        self.emit(f"set_{name} = false;")
        self.bound.discard(name)

    def _check_tally(self, node: ast.For, tally: Tally, tables: dict[str, Value]) -> None:
        """Whether nothing shows the order: integers are added up, and no container that changes is read."""
        numbers = [self._type_of(name) for name in sorted(tally.numbers)]
        for value in tables.values():
            if is_box(value, *TABLES):
                numbers.append(value.type.find().cells[1])
            elif value.type is not NEVER and not is_box(value, "set"):
                raise refuse(node, "fills what has an order while it goes through a set")
            if is_box(value, *TABLES, "set"):
                self.check_exact(element(value), node)
        if any(one not in (INT, BOOL, NEVER) for one in numbers):
            raise refuse(node, "adds up floats in the order of a set")
        changed = {text_of(value.type) for value in tables.values()}
        types = [*self._types_in(tally.parts), self.peek(node.iter)]
        if self.reads_objects(tally.parts) or any(holds(one, lambda type_: _is_among(type_, changed)) for one in types):
            raise refuse(node, "reads what it changes while it goes through a set")


class Tally:
    """A loop that only counts and collects: the ``numbers`` it adds to, the ``containers`` it fills, and the ``parts``
    that are evaluated."""

    def __init__(self) -> None:
        self.numbers: set[str] = set()
        self.containers: set[str] = set()
        self.parts: list[ast.expr] = []

    @classmethod
    def of(cls, node: ast.For) -> Tally | None:
        found = cls()
        if node.orelse or not found._takes(node.body) or not all(map(is_pure, found.parts)):
            return None
        stored = found.numbers | found.containers
        read = {one.id for part in found.parts for one in nodes_of(part) if isinstance(one, ast.Name)}
        bound = {one.id for one in nodes_of(node.target) if isinstance(one, ast.Name)}
        is_apart = stored.isdisjoint(read | bound) and found.numbers.isdisjoint(found.containers)
        return found if is_apart and _is_of_names(node.target) else None

    def _takes(self, statements: list[ast.stmt]) -> bool:
        return all(map(self._takes_one, statements))

    def _takes_one(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Pass() | ast.Continue():
                return True
            case ast.If(test=test, body=body, orelse=orelse):
                self.parts.append(test)
                return self._takes(body) and self._takes(orelse)
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add() | ast.Sub(), value=value):
                self.numbers.add(name)
                self.parts.append(value)
            case ast.AugAssign(
                target=ast.Subscript(value=ast.Name(id=name), slice=key), op=ast.Add() | ast.Sub(), value=value
            ):
                self.containers.add(name)
                self.parts += [key, value]
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="add"), args=[value])):
                self.containers.add(name)
                self.parts.append(value)
            case _:
                return False
        return True


def is_pure(node: ast.expr) -> bool:
    """Whether an expression changes nothing, whatever its names stand for but objects with operators of their own."""
    return all(isinstance(one, _PURE) or _called(one) for one in nodes_of(node))


def _called(node: ast.AST) -> str:
    """The name of a function that changes nothing, if it is Python's."""
    match node:
        case ast.Call(func=ast.Name(id=name), keywords=[]) if name in _FUNCTIONS:
            return name
    return ""


def _is_of_names(target: ast.expr) -> bool:
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return all(isinstance(one, ast.Name) for one in parts)


def _is_exact(type_: Any) -> bool:
    if isinstance(type_, Maybe):
        return _is_exact(type_.inner)
    if isinstance(type_, Tup):
        return type_.of is None and all(map(_is_exact, type_.items))
    return type_ in (INT, BOOL, TEXT, NONE, NEVER) or isinstance(type_, Member)


def _may_call(type_: Any) -> bool:
    return isinstance(type_, Box) and (bool(type_.find().made) or type_.find().kind == "defaultdict")


def _is_among(type_: Any, texts: set[str]) -> bool:
    return isinstance(type_, Box) and text_of(type_) in texts
