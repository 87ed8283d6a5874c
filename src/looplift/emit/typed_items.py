"""Comparisons, items and slices of a typed program in, their types and C++ out."""

from __future__ import annotations

import ast
from typing import Any

from looplift.emit.typed_attempts import KeyTest
from looplift.emit.typed_expressions import SEQUENCES, Values, element, inside, is_box
from looplift.emit.typed_scope import Factory, Value, as_int, as_number, coerced, evaluated, plain, refuse
from looplift.emit.typed_types import (
    BOOL,
    FLOAT,
    INT,
    MIXED,
    NEVER,
    NONE,
    NUMBERS,
    TABLES,
    TEXT,
    Box,
    Maybe,
    Tup,
    same,
    text_of,
)


class Expressions(Values):
    """Values of all expressions but calls and comprehensions."""

    def of_Compare(self, node: ast.Compare) -> Value:
        left, right = self.several(node.left, node.comparators[0])
        if len(node.ops) > 1:
            right = self.keep(right)
        code = self.compared(node.ops[0], left, right, node)
        for op, one in zip(node.ops[1:], node.comparators[1:], strict=True):
            left = right
            with self.block() as lines:  # evaluated where what is before it holds
                right = self.keep(self.expression(one))
                second = self.compared(op, left, right, node)
            name = self.fresh()
            self.emit(f"bool {name} = {code};")
            if right.code.isidentifier():  # it may be compared with the next one
                lines = [
                    line.removeprefix(f"{text_of(right.type)} ") if _makes(line, right) else line for line in lines
                ]
                self.emit(f"{text_of(right.type)} {right.code}{{}};")
            self.lines += [f"if ({name}) {{", *lines, f"{name} = {second};", "}"]
            code = name
        return Value(BOOL, code)

    def of_KeyTest(self, node: KeyTest) -> Value:
        if self.resolved(ast.Name(node.exception, ast.Load())) not in (KeyError, LookupError):
            raise refuse(node, "is asked for another exception")
        left, right = self.several(node.left, node.comparators[0])
        if right.type is not NEVER and not is_box(right, "dict"):
            raise refuse(node, "is no question that only a dict answers")
        return Value(BOOL, self.compared(ast.In(), left, right, node))

    def compared(self, op: ast.cmpop, left: Value, right: Value, node: ast.AST) -> str:
        if isinstance(op, ast.In | ast.NotIn):
            code = self.contains(right, left, node)
            return f"(!{code})" if isinstance(op, ast.NotIn) else code
        if isinstance(op, ast.Is | ast.IsNot):
            return self.is_none(left, right, isinstance(op, ast.IsNot), node)
        if isinstance(op, ast.Eq | ast.NotEq):
            code = self.equal(left, right, node)
            return f"(!{code})" if isinstance(op, ast.NotEq) else code
        left, right = self.present(left), self.present(right)
        if NEVER in (left.type, right.type):
            return "false"
        if isinstance(op, ast.Gt | ast.GtE):
            left, right = right, left
        name = "lt" if isinstance(op, ast.Lt | ast.Gt) else "le"
        return f"{name}({', '.join(self.comparable(left, right, node))})"

    def comparable(self, left: Value, right: Value, node: ast.AST) -> tuple[str, str]:
        if left.type in NUMBERS and right.type in NUMBERS:
            left, right = plain(left), plain(right)
            type_ = left.type if same(left.type, right.type) else self._ordered(left.type, right.type)
            return as_number(left, type_), as_number(right, type_)
        if not (is_box(left, "list", "tuple") or left.type is TEXT or isinstance(left.type, Tup)):
            raise refuse(node, "compares what has no order")
        type_ = self.joins.join(left.type, right.type)
        return coerced(left, type_), coerced(right, type_)

    def _ordered(self, one: Any, other: Any) -> Any:
        """Integers and floats are compared exactly."""
        return MIXED if {one, other} & {FLOAT, MIXED} else INT

    def is_none(self, left: Value, right: Value, negated: bool, node: ast.AST) -> str:
        if self.record_at(left) is not None and same(left.type, right.type):
            return f"({left.code}.p {'!=' if negated else '=='} {right.code}.p)"
        left, right = (right, left) if left.type is NONE else (left, right)
        if right.type is not NONE:
            raise refuse(node, "asks whether two names stand for one object")
        if isinstance(left.type, Maybe):
            return f"({left.code}).has" if negated else f"(!({left.code}).has)"
        return evaluated(str((left.type is NONE) != negated).lower(), left, right)

    def equal(self, left: Value, right: Value, node: ast.AST, *, items: bool = False) -> str:
        """``items``: as items of containers are compared, which are equal also if they are one object."""
        if NEVER in (left.type, right.type):
            return "false"
        equal = "item_eq" if items else "eq"
        if left.type in NUMBERS and right.type in NUMBERS:
            return f"{equal}({', '.join(self.comparable(left, right, node))})"
        if (left.type is NONE) != (right.type is NONE) and not any(isinstance(v.type, Maybe) for v in (left, right)):
            return evaluated("false", left, right)
        if isinstance(left.type, Tup) and isinstance(right.type, Tup) and len(left.type.items) == len(right.type.items):
            pairs = zip(self.fields(self.keep(left)), self.fields(self.keep(right)), strict=True)
            return "(" + (" && ".join(self.equal(*pair, node, items=True) for pair in pairs) or "true") + ")"
        if left.type is TEXT and right.type is TEXT:
            return self.equal_text(left, right)
        if self.record_at(left) is not None and same(left.type, right.type):
            return f"eq({left.code}, {right.code})"
        if is_box(left, *TABLES, "set"):
            raise refuse(node, "compares dicts or sets")
        type_ = self.joins.join(left.type, right.type)
        return f"{equal}({coerced(left, type_)}, {coerced(right, type_)})"

    def equal_text(self, left: Value, right: Value) -> str:
        return f"eq({left.code}, {right.code})"

    def contains(self, owner: Value, item: Value, node: ast.AST) -> str:
        owner = self.present(owner)
        if NEVER in (owner.type, item.type):
            return "false"
        if isinstance(owner.type, Tup):
            item = self.keep(item)
            fields = self.fields(owner if owner.code.isidentifier() else self.keep(owner))
            return "(" + (" || ".join(self.equal(one, item, node, items=True) for one in fields) or "false") + ")"
        if owner.type is TEXT:
            return f"has({owner.code}, {item.code})"
        if isinstance(owner.type, Box):
            self.joins.widen(owner.type, 0, item.type)
            return f"has({owner.code}, {coerced(item, element(owner))})"
        raise refuse(node, "is no container")

    # ------------------------------------------------------------ items

    def of_Subscript(self, node: ast.Subscript) -> Value:
        if isinstance(node.slice, ast.Slice):
            return self.slice_of(node, node.slice)
        owner, index = self.several(node.value, node.slice)
        return self.item(self.present(owner), index, node)

    def item(self, owner: Value, index: Value, node: ast.AST) -> Value:
        if owner.type is NEVER:
            return owner
        if isinstance(owner.type, Tup):
            return self._field(owner, index, node)
        if owner.type is TEXT:
            return Value(TEXT, f"at({owner.code}, {as_int(index, node)})")
        if is_box(owner, *SEQUENCES):
            return Value(element(owner), f"{owner.code}->at({as_int(index, node)})")
        if not isinstance(owner.type, Box) or is_box(owner, "set"):
            raise refuse(node, "has no items")
        self.joins.widen(owner.type, 0, index.type)
        self.check_key(element(owner), node)
        key = coerced(index, element(owner))
        if is_box(owner, "defaultdict"):
            return self.made_item(owner, key)
        return Value(owner.type.find().cells[1], f"{owner.code}->at({key})")

    def made_item(self, owner: Value, key: str) -> Value:
        """An item of a dict that makes what is missing."""
        self.alters(owner)
        with self.block() as lines:
            made = self.default_of(owner.type.find())
        type_ = owner.type.find().cells[1]
        name, dict_, place, found = self.fresh(), self.fresh(), self.fresh(), self.fresh()
        self.emit(f"{text_of(type_)} {name};")
        self.emit(f"{{ auto {dict_} = {owner.code}; auto {place} = {key}; auto* {found} = {dict_}->find({place});")
        self.emit(f"if (!{found}) {{")
        self.lines += lines
        self.emit(f"{dict_}->set({place}, {made}); {found} = {dict_}->find({place}); }} {name} = {found}->value; }}")
        return Value(type_, name)

    def default_of(self, box: Any) -> str:
        if isinstance(box.default, Factory):
            if box.default.routine is not self.routine:
                raise refuse(box.default.body, "makes values for a dict that another function reads")
            value = self.present(self.expression(box.default.body))
            self.joins.widen(box, 1, value.type)
            return coerced(value, box.find().cells[1])
        simple = {"int": Value(INT, "I(0)"), "float": Value(FLOAT, "F(0)"), "bool": Value(BOOL, "false"),
                  "str": Value(TEXT, "Str()")}  # fmt: skip
        if isinstance(box.default, Value):
            self.joins.widen(box, 1, box.default.type)
            return coerced(box.default, box.find().cells[1])
        if box.default in simple:
            self.joins.widen(box, 1, simple[box.default].type)
            return coerced(simple[box.default], box.find().cells[1])
        inner = Box(box.default, *[NEVER] * (2 if box.default == "dict" else 1))
        self.joins.widen(box, 1, self.boxes.setdefault((id(box), "default"), inner))
        return f"made<{inside(text_of(box.find().cells[1]))}>()"

    def _field(self, owner: Value, index: Value, node: ast.AST) -> Value:
        count = len(owner.type.items)
        place = getattr(node, "slice", None)
        try:
            known = ast.literal_eval(place) if place is not None else None
        except ValueError:
            known = None
        if type(known) is int:
            if not -count <= known < count:
                raise refuse(node, "is no item of the tuple")
            return Value(owner.type.items[known], f"{owner.code}.a{known % count}")
        if count == 0 or not all(same(item, owner.type.items[0]) for item in owner.type.items):
            raise refuse(node, "takes any item of a tuple")
        table = self.fresh()
        text = text_of(owner.type.items[0])
        owner = self.keep(owner)
        self.emit(f"{text} {table}[] = {{{', '.join(one.code for one in self.fields(owner))}}};")
        return Value(owner.type.items[0], f"{table}[place({as_int(index, node)}, {count})]")

    def slice_of(self, node: ast.Subscript, part: ast.Slice) -> Value:
        bounds = [one for one in (part.lower, part.upper, part.step) if one is not None]
        owner, *found = self.several(node.value, *bounds)
        owner = self.present(owner)
        if owner.type is NEVER:
            return owner
        if isinstance(owner.type, Tup):
            return self._slice_of_tuple(owner, node)
        if owner.type is not TEXT and not is_box(owner, "list", "bytes", "tuple"):
            raise refuse(node, "has no slices")
        owner = self.keep(owner)
        name = self.cut_of(owner, part, found, node)
        return Value(owner.type, f"cut({owner.code}, {name}.from, {name}.step, {name}.count)")

    def cut_of(self, owner: Value, part: ast.Slice, found: list[Value], node: ast.AST) -> str:
        values = iter(found)
        bounds = [next(values) if one is not None else None for one in (part.lower, part.upper, part.step)]
        return self.cut_from(f"size({owner.code})", bounds, node)

    def cut_from(self, size: str, given: list[Value | None], node: ast.AST) -> str:
        """The slice between bounds of so many items."""
        low, high, step = (None if value is None or value.type is NONE else as_int(value, node) for value in given)
        name = self.fresh()
        text = ", ".join("true, " + bound if bound else "false, I(0)" for bound in (low, high))
        self.emit(f"Cut {name} = slice({size}, {text}, {step or 'I(1)'});")
        return name

    def _slice_of_tuple(self, owner: Value, node: ast.Subscript) -> Value:
        part: Any = node.slice
        try:
            bounds = [None if one is None else ast.literal_eval(one) for one in (part.lower, part.upper, part.step)]
            places = range(len(owner.type.items))[slice(*bounds)]
        except (ValueError, TypeError):
            raise refuse(node, "takes any items of a tuple") from None
        items = self.fields(self.keep(owner))
        return self.tuple_of([items[place] for place in places])


def _makes(line: str, value: Value) -> bool:
    return line.startswith(f"{text_of(value.type)} {value.code} = ")
