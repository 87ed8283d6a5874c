"""Arrays of a typed program in, their types and C++ out: elements, views, stores, and what is done to all elements."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from looplift.emit import typed_array_spots, typed_products
from looplift.emit.typed_expressions import element, is_box
from looplift.emit.typed_loops import Steps
from looplift.emit.typed_numpy import Scalars, operand, promoted
from looplift.emit.typed_scope import Value, as_int, evaluated, needed, plain, refuse
from looplift.emit.typed_stars import takes_rest
from looplift.emit.typed_types import (
    FLOAT,
    INT,
    MIXED,
    NEVER,
    NONE,
    NP_BOOL,
    NP_FLOAT,
    NP_INT,
    NUMBERS,
    PLAIN,
    SCALAR,
    WORDED,
    Arr,
    Box,
    Maybe,
    Scalar,
    Tup,
    array_type,
    text_of,
)

_EACH = {ast.Add: "plus", ast.Sub: "minus", ast.Mult: "times", ast.Div: "over"}
_BITS = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_TESTS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def is_array(*values: Value) -> bool:
    return any(isinstance(value.type, Arr) for value in values)


def element_text(type_: Arr) -> str:
    """The C++ type of what an array holds."""
    return type_.element.storage


class Arrays(Scalars):
    """What operators, subscripts and assignments are where an operand is an array."""

    # ------------------------------------------------------------ subscripts

    def of_Subscript(self, node: ast.Subscript) -> Value:
        if self.joins.has_numpy:
            base, parts = self._chain(node)
            if isinstance(self.peek(base), Arr):
                owner, *found = self.several(base, *given_in(parts))
                return self.taken(owner, parts, found, node)
        return super().of_Subscript(node)

    def _chain(self, node: ast.expr) -> tuple[ast.expr, list[ast.expr]]:
        """What ``a[i][j, k]`` is a part of, and all its subscripts; slices, and arrays, only in the last pair of
        brackets, and arrays only where these are all."""
        groups: list[list[ast.expr]] = []
        while isinstance(node, ast.Subscript):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if groups and any(isinstance(one, ast.Slice) for one in parts):
                break
            if groups and any(map(self._is_of_several, [*parts, *groups[0]])):
                break
            groups.insert(0, list(parts))
            node = node.value
        return node, [one for parts in groups for one in parts]

    def _is_of_several(self, part: ast.expr) -> bool:
        """Whether a subscript stands for several places."""
        if isinstance(part, ast.Slice | ast.Constant):
            return False
        type_ = self.peek(part)
        parts = type_.items if isinstance(type_, Tup) else (type_,)
        return typed_array_spots.are_several([Value(one, "") for one in parts])

    def taken(self, owner: Value, parts: list[ast.expr], found: list[Value], node: ast.AST) -> Value:
        """``a[i, j]`` is an element, ``a[i]`` of a table a view of its row."""
        has_slices = any(isinstance(one, ast.Slice) for one in parts)
        places = found if has_slices else self.places_of(found)
        if any(one.type is NEVER for one in places):
            return Value(NEVER, "None_()")
        if typed_array_spots.are_several(places):
            return typed_array_spots.taken(self, owner, parts, places, node)
        if has_slices:
            return self.part(self.keep(owner), parts, found, node)
        if len(places) == owner.type.rank:
            type_ = owner.type.element
            codes = ", ".join(place_text(place, node) for place in places)
            return Value(type_, f"{text_of(type_)}{{at({owner.code}, {codes})}}")
        return self.place(self.keep(owner), places, node)

    def places_of(self, found: list[Value]) -> list[Value]:
        """The subscripts, of which one may be a tuple of several."""
        places: list[Value] = []
        for one in found:
            places += self.fields(self.keep(one)) if isinstance(one.type, Tup) else [one]
        return places

    def place(self, owner: Value, places: list[Value], node: ast.AST, axis: int = 0) -> Value:
        for place in places:
            if owner.type.rank == 1 or axis >= owner.type.rank:
                raise refuse(node, "has more subscripts than dimensions")
            code = f"pick<{axis}>({owner.code}, {place_text(place, node)})"
            owner = Value(array_type(owner.type.element, owner.type.rank - 1), code)
        return owner

    def part(self, owner: Value, parts: list[ast.expr], found: list[Value], node: ast.AST) -> Value:
        given, axis = iter(found), 0
        for part in parts:
            if isinstance(part, ast.Slice):
                owner = self.keep(self.cut(owner, part, given, axis, node))
                axis += 1
            else:
                owner = self.keep(self.place(owner, [next(given)], node, axis))
        return owner

    def cut(self, owner: Value, part: ast.Slice, given: Iterator[Value], axis: int, node: ast.AST) -> Value:
        """A view of what a slice, whose bounds are given, leaves of a dimension."""
        if axis >= owner.type.rank:
            raise refuse(node, "has more subscripts than dimensions")
        bounds = [next(given) if one is not None else None for one in (part.lower, part.upper, part.step)]
        codes = [None if one is None or one.type is NONE else as_int(one, node) for one in bounds]
        texts = ", ".join("true, " + code if code else "false, I(0)" for code in codes[:2])
        name = self.fresh()
        self.emit(f"Cut {name} = slice({owner.code}.size[{axis}], {texts}, {codes[2] or 'I(1)'});")
        return Value(owner.type, f"cut_of<{axis}>({owner.code}, {name})")

    def item(self, owner: Value, index: Value, node: ast.AST) -> Value:
        if isinstance(owner.type, Arr):
            return self.taken(owner, [], [index], node)
        return super().item(owner, index, node)

    # ------------------------------------------------------------ stores

    def bind(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Subscript) and self.joins.has_numpy:
            base, parts = self._chain(target)
            if isinstance(self.peek(base), Arr):
                value = self.keep(value)
                owner, *found = self.several(base, *given_in(parts))
                return self.put_in(owner, parts, found, value, target)
        super().bind(target, value)

    def put(self, owner: Value, index: Value, value: Value, node: ast.AST) -> None:
        if isinstance(owner.type, Arr):
            return self.put_in(owner, [], [index], value, node)
        super().put(owner, index, value, node)

    def put_in(self, owner: Value, parts: list[ast.expr], found: list[Value], value: Value, node: ast.AST) -> None:
        has_slices = any(isinstance(one, ast.Slice) for one in parts)
        places = found if has_slices else self.places_of(found)
        if any(one.type is NEVER for one in places):
            return
        if typed_array_spots.are_several(places):
            typed_array_spots.put(self, owner, parts, places, value, node)
        elif has_slices:
            self.assign(self.part(self.keep(owner), parts, found, node), value, node)
        else:
            self.put_at(owner, places, value, node)

    def put_at(self, owner: Value, places: list[Value], value: Value, node: ast.AST) -> None:
        if len(places) < owner.type.rank:
            return self.assign(self.place(owner, places, node), value, node)
        if len(places) > owner.type.rank:
            raise refuse(node, "has more subscripts than dimensions")
        value = self.present(value)
        if value.type is NEVER:
            return
        if value.type is WORDED:
            value = self.keep(Value(MIXED, f"number_in({value.code})"))
        if value.type not in NUMBERS:
            raise refuse(node, "stores what is no number into an array")
        codes = ", ".join(place_text(place, node) for place in places)
        self.emit(f"put({owner.code}, Cast<{element_text(owner.type)}>::of({plain(value).code}), {codes});")

    def row_of_list(self, value: Value) -> Value | None:
        """A list of numbers as an array; None of other lists."""
        kind = SCALAR.get(element(value), element(value))
        if kind is MIXED:
            self.emit(f"if (!are_doubles({value.code})) bail(KIND);")
            kind = NP_FLOAT
        if kind not in (NP_INT, NP_FLOAT):
            return None
        return self.keep(Value(array_type(kind, 1), f"array_from<{kind.storage}>({value.code})"))

    def assign(self, view: Value, value: Value, node: ast.AST) -> None:
        """Into all elements of a view."""
        value = self.present(value)
        if value.type in NUMBERS:
            self.emit(f"fill({view.code}, {plain(value).code});")
        elif is_array(value) and value.type.rank <= view.type.rank:
            self.emit(f"assign({view.code}, {value.code});")
        elif is_box(value, "list") and (row := self.row_of_list(value)) is not None:
            self.assign(view, row, node)
        elif value.type is not NEVER:
            raise refuse(node, "stores what is no array into an array")

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Attribute) or not self.joins.has_numpy:
            return super().do_AugAssign(node)
        base, parts = self._chain(target)
        type_ = self.peek(base)
        if not isinstance(type_, Arr):
            return super().do_AugAssign(node)
        owner, *found = self.several(base, *given_in(parts))
        owner, found = self.keep(owner), [self.keep(one) for one in found]
        has_slices = any(isinstance(one, ast.Slice) for one in parts)
        places = found if has_slices else self.places_of(found)
        if any(one.type is NEVER for one in places):
            return
        if typed_array_spots.are_several(places):
            old = self.keep(self.taken(owner, parts, places, target))
            value = self.present(self.expression(node.value))
            self.changed_in_place(old, type(node.op), value, node)
            return self.put_in(owner, parts, places, old, target)
        if not has_slices and len(places) == type_.rank and parts:
            old = self.keep(self.taken(owner, [], places, target))
            value = self.present(self.expression(node.value))
            self.put_at(owner, places, self.binary(type(node.op), old, value, node), target)
            return
        view = self.keep(self.part(owner, parts, found, target) if has_slices else self.place(owner, places, target))
        self.changed_in_place(view, type(node.op), self.present(self.expression(node.value)), node)

    def changed_in_place(self, old: Value, op: Any, value: Value, node: ast.AST, *, fresh: bool = False) -> None:
        """``old += value`` of all elements of an array, whatever it is called elsewhere."""
        if not isinstance(old.type, Arr):
            return super().changed_in_place(old, op, value, node, fresh=fresh)
        view = self.keep(old)
        made = self.binary(op, view, value, node)
        if made.type is NEVER:
            return
        if not isinstance(made.type, Arr) or made.type is not view.type:
            raise refuse(node, "changes an array into one of another dtype or shape")
        made = self.keep(made)
        self.emit(
            f"for (int k = 0; k < {view.type.rank}; ++k) if ({made.code}.size[k] != {view.code}.size[k]) bail(KIND);"
        )
        self.emit(f"assign({view.code}, {made.code});")

    # ------------------------------------------------------------ all elements at once

    def binary(self, op: Any, left: Value, right: Value, node: ast.AST) -> Value:
        if not is_array(left, right) or NEVER in (left.type, right.type):
            return super().binary(op, left, right, node)
        if op is ast.MatMult:
            return typed_products.of_arrays(self, left, right, node)
        if op in _BITS:
            return self._of_bits(_BITS[op], [left, right], node)
        if op is ast.Pow and isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant):
            kinds = {FLOAT: (int, float), INT: (int,)}.get(left.type.element.plain, ()) if is_array(left) else ()
            if node.right.value == 2 and type(node.right.value) in kinds:
                left = self.keep(left)
                return self.each("times", [left, left], node)
        return self.each(_EACH.get(op, ""), [left, right], node)

    def _of_bits(self, sign: str, operands: list[Value], node: ast.AST) -> Value:
        made = self._promoted(operands, node)
        if made.plain is FLOAT:
            raise refuse(node, "has no form for arrays")
        texts, operands = self._computed(operands, made)
        return self.mapped_array(made, operands, f"({made.storage})({texts[0]} {sign} {texts[1]})")

    def each(self, name: str, operands: list[Value], node: ast.AST) -> Value:
        """An operation on each element of arrays, and on numbers that stand for all."""
        made = self._promoted(operands, node, bool(name))
        if made is NP_BOOL:
            raise refuse(node, "is arithmetic of truth values")
        if name == "over" and made.plain is not FLOAT:
            made = NP_FLOAT
        texts, operands = self._computed(operands, made)
        if made.plain is not FLOAT:
            body = f"wrapped_{name}({', '.join(texts)})"
        elif len(operands) == 1:
            body = f"{name}({texts[0]})"
        else:
            body = f"quiet({name}({texts[0]}, {texts[1]}), {texts[0]}, {texts[1]})"
        return self.mapped_array(made, operands, body)

    def _promoted(self, operands: list[Value], node: ast.AST, has_form: bool = True) -> Scalar:
        """The dtype in which NumPy computes with arrays and numbers."""
        if not has_form or any(
            not (is_array(one) or (one.type in NUMBERS and one.type is not MIXED)) for one in operands
        ):
            raise refuse(node, "has no form for arrays")
        kinds = [one.type.element if isinstance(one.type, Arr) else one.type for one in operands]
        return promoted(kinds[0], kinds[-1])

    def _computed(self, operands: list[Value], made: Scalar) -> tuple[list[str], list[Value]]:
        """What a function of one element of each computes with, and what it is given."""
        given = [one if is_array(one) else self.keep(operand(one, made)) for one in operands]
        texts = [f"({made.storage}){name}" for name, _ in zip("ab", given)]
        return texts, given

    def mapped_array(self, made: Scalar, operands: list[Value], body: str) -> Value:
        types = [element_text(one.type) if isinstance(one.type, Arr) else one.type.text for one in operands]
        parameters = ", ".join(f"{type_} {name}" for name, type_ in zip("abc", types))
        rank = max(one.type.rank for one in operands if isinstance(one.type, Arr))
        function = f"[=]({parameters}) {{ return {body}; }}"
        code = f"mapped<{made.storage}, {rank}>({function}, {', '.join(one.code for one in operands)})"
        return self.keep(Value(array_type(made, rank), code))

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if self.joins.has_numpy and isinstance(node.op, ast.USub) and isinstance(self.peek(node.operand), Arr):
            return self.each("negative", [self.expression(node.operand)], node)
        if self.joins.has_numpy and isinstance(node.op, ast.Invert) and isinstance(self.peek(node.operand), Arr):
            return self._inverted(self.expression(node.operand), node)
        return super().of_UnaryOp(node)

    def _inverted(self, value: Value, node: ast.AST) -> Value:
        made = value.type.element
        if made.plain is FLOAT:
            raise refuse(node, "has no form for arrays")
        return self.mapped_array(made, [value], "!a" if made is NP_BOOL else f"({made.storage})~a")

    def of_Compare(self, node: ast.Compare) -> Value:
        if self.joins.has_numpy and len(node.ops) == 1 and type(node.ops[0]) in _TESTS:
            if any(isinstance(self.peek(one), Arr) for one in (node.left, node.comparators[0])):
                return self._compared_each(node)
        return super().of_Compare(node)

    def _compared_each(self, node: ast.Compare) -> Value:
        operands = self.several(node.left, node.comparators[0])
        made = self._promoted(operands, node)
        if made.plain is not FLOAT:
            operands = [one if is_array(one) else self.keep(operand(one, NP_INT)) for one in operands]
            texts = ["(I)wide(a)", "(I)wide(b)"]
        else:
            texts, operands = self._computed(operands, made)
        return self.mapped_array(NP_BOOL, operands, f"{texts[0]} {_TESTS[type(node.ops[0])]} {texts[1]}")

    def compared(self, op: ast.cmpop, left: Value, right: Value, node: ast.AST) -> str:
        if is_array(left, right):
            if isinstance(op, ast.Is | ast.IsNot) and NONE in (left.type, right.type):
                return evaluated(str(isinstance(op, ast.IsNot)).lower(), left, right)
            raise refuse(node, "compares arrays")
        return super().compared(op, left, right, node)

    def contains(self, owner: Value, item: Value, node: ast.AST) -> str:
        if is_array(owner, item) or (isinstance(owner.type, Box) and isinstance(owner.type.find().cells[0], Arr)):
            raise refuse(node, "looks for or in an array")
        return super().contains(owner, item, node)

    def equal(self, left: Value, right: Value, node: ast.AST, *, items: bool = False) -> str:
        if holds_array(left.type) or holds_array(right.type):
            raise refuse(node, "compares arrays")
        return super().equal(left, right, node, items=items)

    def comparable(self, left: Value, right: Value, node: ast.AST) -> tuple[str, str]:
        if holds_array(left.type) or holds_array(right.type):
            raise refuse(node, "compares arrays")
        return super().comparable(left, right, node)

    def check_key(self, type_: Any, node: ast.AST) -> None:
        if holds_array(type_):
            raise refuse(node, "has arrays for keys")
        super().check_key(type_, node)

    # ------------------------------------------------------------ what is gone through

    def steps_of_value(self, value: Value, node: ast.AST) -> Steps:
        value = self.present(value)
        if not isinstance(value.type, Arr):
            return super().steps_of_value(value, node)
        value, place = self.keep(value), self.fresh("i")
        self.emit(f"I {place} = 0;")
        found = self.taken(value, [], [Value(INT, place)], node)
        return Steps(f"{place} < {value.code}.size[0]", [f"++{place}"], found)

    def taken_apart(self, value: Value, count: int, node: ast.AST) -> list[Value]:
        if not isinstance(value.type, Arr) or takes_rest(node):
            return super().taken_apart(value, count, node)
        value = self.keep(value)
        self.emit(f"if ({value.code}.size[0] != {count}) bail(KIND);")
        return [self.taken(value, [], [Value(INT, f"I({place})")], node) for place in range(count)]


def place_text(value: Value, node: ast.AST) -> str:
    """A subscript that stands for one position; None would stand for a new dimension."""
    value = needed(value)
    if not (value.type in (INT, MIXED, NEVER) or PLAIN.get(value.type) is INT):
        raise refuse(node, "has a subscript that is no integer")
    return as_int(value, node)


def given_in(parts: list[ast.expr]) -> list[ast.expr]:
    """The expressions of subscripts, one after the other."""
    found: list[ast.expr] = []
    for part in parts:
        if isinstance(part, ast.Slice):
            found += [one for one in (part.lower, part.upper, part.step) if one is not None]
        else:
            found.append(part)
    return found


def holds_array(type_: Any, depth: int = 0) -> bool:
    if isinstance(type_, Arr):
        return True
    inner = type_.items if isinstance(type_, Tup) else [type_.inner] if isinstance(type_, Maybe) else []
    if isinstance(type_, Box) and depth < 6:
        inner = type_.find().cells
    return any(holds_array(one, depth + 1) for one in inner)
