"""Lists that a loop goes over in, their elements as plain memory out: what does not change is looked up once.

for j in range(m):                       Strip<F> r1 = strip_of<true>(v_d, v_i), r2 = strip_of<false>(v_d, v_k);
    d[i][j] = min(d[i][j], d[k][j])      for (...) r1[j] = smaller(r1[j], r2[j]);

In such a loop no list of these types grows, shrinks or is put into another one, and nothing is called that might do so.
"""

from __future__ import annotations

import ast
from typing import Any

from looplift.base.data import dataclass, field
from looplift.base.syntax import nodes_of
from looplift.emit.typed_expressions import SEQUENCES, element, is_box
from looplift.emit.typed_library_calls import LibraryCalls
from looplift.emit.typed_scope import Factory, Refused, Value, as_int
from looplift.emit.typed_types import BOOL, FLOAT, INT, MIXED, NEVER, NUMBERS, TABLES, TEXT, Arr, Box, Ten, text_of
from looplift.emit.typed_unseen import LOUD, Unseen, is_quiet

_STORABLE = (BOOL, INT, FLOAT, MIXED)


@dataclass
class Survey:
    """Of a loop: the names that it binds, the subscripts in it, and the lists that it changes otherwise than by storing
    numbers, by their types."""

    bound: set[str] = field(default_factory=set)
    subscripts: list[ast.Subscript] = field(default_factory=list)
    changed: list[Any] = field(default_factory=list)
    stored: set[str] = field(default_factory=set)
    """The lists, as they are written, into which numbers are stored."""


class _Loud(Exception):
    """A loop may do something to lists that is not seen."""


class Rows(LibraryCalls):
    """Loops whose lists stay what they are."""

    rows: dict[str, Value]
    survey: Survey | None
    """Of the loop that began last, if it was understood."""
    _outside: list[dict[str, Value]]

    def no_rows(self) -> None:
        """At the beginning of a function."""
        self.rows, self._outside, self.survey = {}, [], None

    def loop_begins(self, node: ast.For | ast.While, test: str = "") -> None:
        self._outside.append(self.rows)
        try:
            self.survey = survey = self._surveyed(node)
        except _Loud:
            self.rows, self.survey = {}, None
            return
        self.rows = {key: row for key, row in self.rows.items() if not _is_among(row, survey.changed)}
        for one in survey.subscripts:
            self._add(one, survey)

    def loop_ends(self) -> None:
        self.rows = self._outside.pop()

    # ------------------------------------------------------------ what a loop does

    def _surveyed(self, node: ast.For | ast.While) -> Survey:
        survey = Survey()
        if Unseen(self.records, self.routines, self.source_of).may_change_lists():
            raise _Loud
        if isinstance(node, ast.For) and self.goes_through_generator(node.iter):
            raise _Loud
        made = [box.find().default for box in self.boxes.values()]
        bodies = [one.body for one in made if isinstance(one, Factory) and one.routine is self.routine]
        for part in [*node.body, *([node.test] if isinstance(node, ast.While) else [node.target]), *bodies]:
            for one in nodes_of(part):
                self._look_at(one, survey)
        return survey

    def _look_at(self, node: ast.AST, survey: Survey) -> None:
        if isinstance(node, LOUD):
            raise _Loud
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            survey.bound.add(node.id)
        if isinstance(node, ast.AugAssign):
            self._note_change(node.target, survey)
        if isinstance(node, ast.Call):
            self._look_at_call(node, survey)
        if isinstance(node, ast.Subscript):
            self._look_at_subscript(node, survey)
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            raise _Loud

    def _look_at_call(self, node: ast.Call, survey: Survey) -> None:
        function = node.func
        known = self._resolved(function)
        if known is None and isinstance(function, ast.Attribute):
            self._note_change(function.value, survey)
            return
        if not is_quiet(known):
            raise _Loud
        for one in node.keywords:
            self._look_at_key(one, survey)

    def _look_at_key(self, keyword: ast.keyword, survey: Survey) -> None:
        """``key=f``: what is called for each item."""
        if keyword.arg != "key":
            return
        if isinstance(keyword.value, ast.Attribute):
            self._note_change(keyword.value.value, survey)
        elif not is_quiet(self._resolved(keyword.value)):
            raise _Loud

    def _resolved(self, node: ast.expr) -> Any:
        try:
            return self.resolved(node)
        except Refused:
            raise _Loud from None

    def _look_at_subscript(self, node: ast.Subscript, survey: Survey) -> None:
        if isinstance(node.ctx, ast.Load):
            survey.subscripts.append(node)
            return
        owner = self._type_at(node.value)
        if isinstance(node.slice, ast.Slice) or isinstance(node.ctx, ast.Del):
            self._note_change(node.value, survey)
        elif is_list(owner) and element(Value(owner, "")) in _STORABLE:
            survey.subscripts.append(node)
            survey.stored.add(ast.unparse(node.value))
        elif is_list(owner):
            survey.changed.append(owner.find())
        elif not _is_apart(owner):
            raise _Loud

    def _note_change(self, owner: ast.expr, survey: Survey) -> None:
        """Something of a list, or of anything else that is found by names, may change."""
        type_ = self._type_at(owner)
        if is_list(type_):
            survey.changed.append(type_.find())
        elif type_ not in (*NUMBERS, TEXT) and not _is_apart(type_):
            raise _Loud

    def _type_at(self, node: ast.expr) -> Any:
        """The type of a name, or of an item of it; None if it is not known."""
        if isinstance(node, ast.Subscript):
            owner = self._type_at(node.value)
            if isinstance(owner, Box) and not isinstance(node.slice, ast.Slice):
                return owner.find().cells[-1]
            return None
        if not isinstance(node, ast.Name) or node.id in self.renamed:
            return None
        owner = self.owner(node.id)
        return None if owner is None else owner.types.get(node.id)

    # ------------------------------------------------------------ rows

    def _add(self, node: ast.Subscript, survey: Survey) -> None:
        """A row of what a subscript is of, or of the longest part of it that the loop does not change."""
        path = node.value
        while not self._stays(path, survey):
            if not isinstance(path, ast.Subscript):
                return
            path = path.value
        key = ast.unparse(path)
        type_ = self._type_at(path)
        if key in self.rows or element(Value(type_, "")) is NEVER:
            return
        code, places = self._place_of(path)
        if not code:
            return
        stored = str(key in survey.stored).lower()
        name = self.fresh("r")
        self.emit(f"const auto {name} = strip_of<{stored}>({', '.join([code, *places])});")
        self.rows[key] = Value(type_.find(), name)

    def _stays(self, path: ast.expr, survey: Survey) -> bool:
        type_ = self._type_at(path)
        if not is_list(type_) or _is_among(Value(type_, ""), survey.changed):
            return False
        if isinstance(path, ast.Subscript):
            return self._stays(path.value, survey) and self.is_known(path.slice, survey)
        return isinstance(path, ast.Name) and path.id not in survey.bound and path.id in self.bound

    def is_known(self, index: ast.expr, survey: Survey) -> bool:
        """Whether a place in a list is the same in all iterations, and had without an effect."""
        match index:
            case ast.Constant(value=value):
                return type(value) is int
            case ast.Name(id=name):
                here = name in self.bound and name not in self.renamed and self.owner(name) is self.routine
                return here and name not in survey.bound and self.routine.types.get(name) is INT
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return self.is_known(inner, survey)
            case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right):
                return self.is_known(left, survey) and self.is_known(right, survey)
        return False

    def _place_of(self, path: ast.expr) -> tuple[str, list[str]]:
        """The list that a name stands for, and where in it a row is; nothing if that takes more than a name."""
        if isinstance(path, ast.Subscript):
            code, places = self._place_of(path.value)
            with self.block() as lines:
                place = as_int(self.expression(path.slice))
            return ("", []) if lines else (code, [*places, place])
        with self.block() as lines:
            value = self.expression(path)
        return (value.code, []) if not lines and value.code.isidentifier() else ("", [])

    def _row_at(self, node: ast.expr) -> Value | None:
        return self.rows.get(ast.unparse(node)) if self.rows and isinstance(node, ast.Name | ast.Subscript) else None

    def _item(self, row: Value, index: Value, node: ast.AST) -> Value:
        return Value(element(row), f"{row.code}[{as_int(index, node)}]")

    # ------------------------------------------------------------ what is done with rows

    def of_Subscript(self, node: ast.Subscript) -> Value:
        row = None if isinstance(node.slice, ast.Slice) else self._row_at(node.value)
        if row is None:
            return super().of_Subscript(node)
        index = self.expression(node.slice)
        if index.type in NUMBERS:
            return self._item(row, index, node)
        return self.item(self.present(self.expression(node.value)), index, node)

    def bind(self, target: ast.expr, value: Value) -> None:
        row = self._stored_row(target)
        if row is None:
            super().bind(target, value)
            return
        value = self.keep(value)
        index = self.expression(target.slice)  # type: ignore[attr-defined]
        if index.type in NUMBERS:
            self._store(row, index, value, target)
        else:
            self.put(self.expression(target.value), index, value, target)  # type: ignore[attr-defined]

    def _stored_row(self, target: ast.expr) -> Value | None:
        if not isinstance(target, ast.Subscript) or isinstance(target.slice, ast.Slice):
            return None
        row = self._row_at(target.value)
        return row if row is not None and is_box(row, "list", "deque") and element(row) in _STORABLE else None

    def _store(self, row: Value, index: Value, value: Value, node: ast.AST) -> None:
        self.alters(row)
        text = self.item_of(row, value)
        self.emit(f"{self._item(row, index, node).code} = {text};")

    def _change_item(self, node: ast.AugAssign, target: ast.Subscript) -> None:
        row = self._stored_row(target)
        with self.block():
            is_number = row is not None and self.expression(target.slice).type in NUMBERS
        if row is None or not is_number:
            super()._change_item(node, target)
            return
        index = self.keep(self.expression(target.slice))
        old = self.keep(self._item(row, index, target))
        value = self.present(self.expression(node.value))
        self._store(row, index, self.keep(self.binary(type(node.op), old, value, node)), target)


def is_list(type_: Any) -> bool:
    return isinstance(type_, Box) and type_.find().kind in SEQUENCES


def _is_apart(type_: Any) -> bool:
    """Whether what changes in a value of this type is the length of no list."""
    is_table = isinstance(type_, Box) and type_.find().kind in (*TABLES, "set")
    return is_table or isinstance(type_, Arr | Ten)


def _is_among(row: Value, changed: list[Any]) -> bool:
    """Whether a list may be one of those that change: the caller's may be one object under several names."""
    return any(text_of(row.type) == text_of(one) for one in changed)
