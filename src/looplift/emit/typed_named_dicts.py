"""Dicts of a few names with values of several kinds in, objects with a field for each name out.

row = {"used": 0, "items": []}; row["used"] += 3; row["items"].append(seq)
"""

from __future__ import annotations

import ast
import copy
from itertools import chain
from typing import Any

from looplift.emit.typed_classes import Record
from looplift.emit.typed_scope import Value, coerced, evaluated, refuse
from looplift.emit.typed_tables import Tables
from looplift.emit.typed_types import NEVER, NONE, Box, text_of

MOST = 32


class NamedDicts(Tables):
    """What is done with such dicts, where ``has_named_dicts``: in programs that have no other form."""

    has_named_dicts: bool

    def given_objects(self, made: type, values: list[Any], seen: dict[int, Any]) -> tuple[list[Any], list[Any]]:
        if made is not dict:
            return super().given_objects(made, values, seen)
        if not self.has_named_dicts:
            return [], values
        by_names: dict[tuple[Any, ...], list[dict[Any, Any]]] = {}
        for value in values:
            by_names.setdefault(tuple(value), []).append(value)
        found, others = [], []
        for names, those in by_names.items():
            if names in self.records or (are_names([*names]) and _has_named(those)):
                found.append(self.later(self.record_of_names(names), those, those, seen))
            else:
                others += those
        return found, others

    def record_of_names(self, key: tuple[str, ...]) -> Record:
        """What dicts with these names are; those that a place alone makes also have the place."""
        known: Any = key
        if known not in self.records:
            names = tuple(name for name in key if name.isidentifier())
            box = Box(f"object D{len(self.records)}", *[NEVER] * len(names))
            box.made = key
            self.records[known] = Record(dict, box, list(names), list(names), has_hash=False, names=names)
        return self.records[known]

    def record_of(self, made: Any) -> Record:
        is_dict = isinstance(made, tuple) and isinstance(made[0], str)
        return self.record_of_names(made) if is_dict else super().record_of(made)

    def of_Dict(self, node: ast.Dict) -> Value:
        names = [one.value if isinstance(one, ast.Constant) else None for one in node.keys]
        if not self.has_named_dicts or not are_names(names):
            return super().of_Dict(node)
        return self._made_of(tuple(map(str, names)), list(map(self.keep, self.several(*node.values))), ())

    def _made_of(self, names: tuple[str, ...], values: list[Value], place: tuple[str, ...]) -> Value:
        record = self.record_of_names((*names, *place))
        text, made = text_of(record.box), self.fresh()
        self.emit(f"{text} {made} = made<{text[4:-1]}>();")
        for number, (name, value) in enumerate(zip(names, values, strict=True)):
            self.joins.widen(record.box, number, value.type)
            self.emit(f"{made}->v_{name} = {coerced(value, record.box.cells[number])};")
        return Value(record.box, made)

    def of_DictComp(self, node: ast.DictComp) -> Value:
        """``{name: f(value) for name, value in row.items()}`` as a display of what each name has."""
        entries = self._entries(node.generators)
        if entries is None or not isinstance(node.key, ast.Name):
            return super().of_DictComp(node)
        shown = [entry.keys.get(node.key.id) for entry in entries]
        names = [one.value if isinstance(one, ast.Constant) else None for one in shown]
        if not are_names(names):
            return super().of_DictComp(node)
        values = [self._of_entry(entry, node.value) for entry in entries]
        return self._made_of(tuple(map(str, names)), values, (f"{node.lineno}:{node.col_offset}",))

    def of_ListComp(self, node: ast.ListComp) -> Value:
        entries = self._entries(node.generators)
        if entries is None:
            return super().of_ListComp(node)
        values = [self._of_entry(entry, node.elt) for entry in entries]
        return self.filled(self.box(node, "list", 1), [("push", [value]) for value in values])

    def _of_entry(self, entry: _Entry, node: ast.expr) -> Value:
        """An expression where the variables of a comprehension stand for one name, and for what it has then."""
        before = dict(self.renamed)
        for name, item in entry.items.items():
            self.renamed[name] = self.keep(self.expression(item))
        found = self.keep(self.expression(entry.visit(copy.deepcopy(node))))
        self.renamed = before
        return found

    def _entries(self, generators: list[ast.comprehension]) -> list[_Entry] | None:
        """What stands for the variables of a comprehension over such a dict, for each of its names."""
        one = generators[0]
        owner, method = _gone_through(one.iter)
        if not self.has_named_dicts or len(generators) > 1 or one.ifs or owner is None or method is None:
            return None
        record = self.record_at(Value(self.peek(owner), ""))
        targets = one.target.elts if isinstance(one.target, ast.Tuple) else [one.target]
        wanted = {"items": 2, "keys": 1, "values": 1}[method]
        if record is None or record.names is None or len(targets) != wanted:
            return None
        if not all(isinstance(target, ast.Name) for target in targets):
            return None
        found = []
        for name in record.names:
            key = ast.Constant(name)
            value = ast.Subscript(owner, key, ast.Load())
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            keys = {} if method == "values" else {names[0]: key}
            found.append(_Entry(keys, {} if method == "keys" else {names[-1]: value}, one.iter))
        return found

    def _named(self, owner: Value, node: ast.AST) -> tuple[Record, int] | None:
        """The dict, and the place of the name that a subscript is; None for other values."""
        record = self.record_at(owner)
        if record is None or record.names is None:
            return None
        index = getattr(node, "slice", None)
        name = index.value if isinstance(index, ast.Constant) else None
        if name not in record.names:
            raise refuse(node, "is read or written under a name that is not known")
        return record, record.names.index(name)

    def item(self, owner: Value, index: Value, node: ast.AST) -> Value:
        found = self._named(owner, node)
        if found is None:
            return super().item(owner, index, node)
        record, place = found
        return Value(record.box.cells[place], f"{owner.code}->v_{record.fields[place]}")

    def put_named(self, owner: Value, value: Value, node: ast.AST) -> bool:
        """``row["used"] = value``; False for other owners."""
        found = self._named(owner, node)
        if found is None:
            return False
        record, place = found
        owner = self.keep(owner)
        self.alters(owner)
        self.joins.widen(record.box, place, value.type)
        self.emit(f"{owner.code}->v_{record.fields[place]} = {coerced(value, record.box.cells[place])};")
        self.emit(f"{owner.code}->dirty |= I(1) << {place};")
        return True

    def contains(self, owner: Value, item: Value, node: ast.AST) -> str:
        record = self.record_at(owner)
        if record is None or record.names is None:
            return super().contains(owner, item, node)
        left = getattr(node, "left", None)
        if not isinstance(left, ast.Constant):
            raise refuse(node, "looks for a name that is not known")
        return evaluated(str(left.value in record.names).lower(), owner)

    def equal(self, left: Value, right: Value, node: ast.AST, *, items: bool = False) -> str:
        if any(one is not None and one.names is not None for one in map(self.record_at, (left, right))):
            raise refuse(node, "compares dicts")
        return super().equal(left, right, node, items=items)

    def method_of_object(self, owner: Value, record: Record, node: ast.Call, func: ast.Attribute) -> Value:
        if record.names is None:
            return super().method_of_object(owner, record, node, func)
        name = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
        if func.attr != "get" or node.keywords or not isinstance(name, str) or len(node.args) > 2:
            raise refuse(node, "calls a method of a dict without a form")
        owner = self.keep(owner)
        others = list(map(self.keep, self.several(*node.args[1:])))
        if name in record.names:
            return Value(record.box.cells[record.names.index(name)], f"{owner.code}->v_{name}")
        return others[0] if others else Value(NONE, "None_()")

    def call_len(self, node: ast.Call, *values: Value) -> Value:
        if len(values) == 1 and (record := self.record_at(values[0])) is not None and record.names is not None:
            raise refuse(node, "asks a dict of names for its length")
        return super().call_len(node, *values)


class _Entry(ast.NodeTransformer):
    """One name of a dict: puts it where the variable of a comprehension stands for it. ``items``: what it has."""

    def __init__(self, keys: dict[str, ast.Constant], items: dict[str, ast.Subscript], place: ast.AST) -> None:
        self.keys, self.items, self._place = keys, items, place

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in (*self.keys, *self.items) and not isinstance(node.ctx, ast.Load):
            raise refuse(self._place, "binds the variable of a comprehension again")
        return ast.copy_location(self.keys[node.id], node) if node.id in self.keys else node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        raise refuse(node, "is a function of the variable of a comprehension")


def _gone_through(node: ast.expr) -> tuple[ast.expr | None, str | None]:
    """The dict that a loop goes through, an expression without effects, and whether by names, values or both."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=owner, attr=("items" | "keys" | "values") as method), args=[], keywords=[]
        ):
            pass
        case owner:
            method = "keys"
    plain = owner
    while isinstance(plain, ast.Attribute):
        plain = plain.value
    return (owner, method) if isinstance(plain, ast.Name) else (None, None)


def are_names(keys: list[Any]) -> bool:
    """Whether the keys of a dict are a few names, each once."""
    plain = all(type(key) is str and key.isidentifier() and not key.startswith("__") for key in keys)
    return plain and 0 < len(keys) <= MOST and len({*keys}) == len(keys)


def is_named(value: dict[Any, Any]) -> bool:
    """Whether a dict has a few names, and values of several kinds."""
    return are_names(list(value)) and len({_kind(one) for one in value.values() if one is not None}) > 1


def _has_named(values: list[dict[Any, Any]]) -> bool:
    """Whether one of dicts of the same names has values of several kinds."""
    kinds = {*map(type, chain.from_iterable(value.values() for value in values))} - {type(None)}
    is_plain = kinds <= {bool, int, float} or kinds == {str}
    return not is_plain and any(map(is_named, values))


def _kind(value: Any) -> Any:
    if isinstance(value, (bool, int, float)):
        return "number"
    return type(value), getattr(value, "dtype", None), getattr(value, "ndim", None)
