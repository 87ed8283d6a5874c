"""Expressions of a typed program in, their types and C++ out."""

from __future__ import annotations

import ast
import enum
from typing import Any

from looplift.emit.typed_scope import (
    Scope,
    Value,
    as_int,
    as_number,
    coerced,
    common,
    refuse,
    truth,
)
from looplift.emit.typed_told import not_none
from looplift.emit.typed_types import (
    BOOL,
    FLOAT,
    INT,
    MIXED,
    NEVER,
    NONE,
    NUMBERS,
    TEXT,
    WORDED,
    Box,
    Maybe,
    Member,
    Tup,
    same,
    text_of,
)

_ARITHMETIC = {
    ast.Add: "plus", ast.Sub: "minus", ast.Mult: "times", ast.Div: "over", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "power",
}  # fmt: skip
_BITWISE = {
    ast.BitAnd: "bitand_", ast.BitOr: "bitor_", ast.BitXor: "bitxor_", ast.LShift: "shl", ast.RShift: "shr",
}  # fmt: skip
SEQUENCES = ("list", "deque", "bytes", "bytearray", "tuple")


def quoted(text: str) -> str:
    """A constant text, made once."""
    letters = "".join(f"\\x{ord(c):02x}" for c in text)
    return f'str_from("{letters}")'


def element(value: Value) -> Any:
    """The type of what a list holds."""
    return value.type.find().cells[0]


def is_box(value: Value, *kinds: str) -> bool:
    return isinstance(value.type, Box) and value.type.find().kind in kinds


class Values(Scope):
    """Values of expressions."""

    def expression(self, node: ast.expr) -> Value:
        method = getattr(self, f"of_{type(node).__name__}", None)
        if method is None:
            raise refuse(node, "has no form in a typed program")
        value = method(node)
        if value.type is NEVER:  # what has no type has no value: Python raises before there is one
            self.emit(f"(void)({value.code}); bail(KIND);")
            return Value(NEVER, "None_()")
        return value

    def several(self, *nodes: ast.expr) -> list[Value]:
        return self.in_order([lambda node=node: self.expression(node) for node in nodes])

    def of_Constant(self, node: ast.Constant) -> Value:
        value = node.value
        if type(value) is bool:
            return Value(BOOL, str(value).lower())
        if type(value) is int and abs(value) < 2**63:
            return Value(INT, f"I({value}LL)")
        if type(value) is float:
            return Value(FLOAT, float_text(value))
        if type(value) is str and all(0 < ord(c) < 256 for c in value):
            return self.constant_text(value)
        if value is None:
            return Value(NONE, "None_()")
        raise refuse(node, "is a constant without a form")

    def constant_text(self, value: str) -> Value:
        raise NotImplementedError

    def of_Name(self, node: ast.Name) -> Value:
        if node.id in self.renamed:
            return self.renamed[node.id]
        owner = self.owner(node.id)
        if owner is not None:
            value = self.load(node.id, owner)
            return self.present(value) if node.id in self.told and owner is self.routine else value
        return self.global_value(node.id, node)

    def global_value(self, name: str, node: ast.AST) -> Value:
        raise NotImplementedError

    def of_Attribute(self, node: ast.Attribute) -> Value:
        value = self.resolved(node)
        if type(value) in (int, float, str, bool, tuple) or isinstance(value, enum.Enum):
            return self.constant(value)
        if value is not None:
            raise refuse(node, "is not known")
        owner = self.present(self.expression(node.value))
        if isinstance(owner.type, Tup) and owner.type.of is not None:
            return self.field_of(owner, node)
        if isinstance(owner.type, Member):
            return self.attribute_of_member(owner, node)
        if is_box(owner, "deque") and node.attr == "maxlen":
            return Value(Maybe(INT), f"longest({owner.code})")
        record = self.record_at(owner)
        if owner.type is NEVER or record is None:
            return owner if owner.type is NEVER else self._no_attribute(node)
        return self.attribute_of(owner, record, node)

    def constant(self, value: Any) -> Value:
        raise NotImplementedError

    def attribute_of_member(self, owner: Value, node: ast.Attribute) -> Value:
        raise NotImplementedError

    def field_of(self, value: Value, node: ast.Attribute) -> Value:
        raise NotImplementedError

    def _no_attribute(self, node: ast.AST) -> Value:
        raise refuse(node, "is no attribute of an object")

    def record_at(self, value: Value) -> Any:
        raise NotImplementedError

    def attribute_of(self, value: Value, record: Any, node: ast.Attribute) -> Value:
        raise NotImplementedError

    def resolved(self, node: ast.AST) -> Any:
        raise NotImplementedError

    def of_Tuple(self, node: ast.Tuple) -> Value:
        if any(isinstance(one, ast.Starred) for one in node.elts):
            raise refuse(node, "unpacks")
        values = self.several(*node.elts)
        return self.tuple_of(values)

    def tuple_of(self, values: list[Value], *, named: bool = False, of: Any = None) -> Value:
        type_ = Tup(tuple(value.type for value in values), named, of)
        code = f"{text_of(Tup(type_.items))}{{{', '.join(value.code for value in values)}}}"
        return Value(type_, code if of is None else f"{text_of(type_)}{{{code}}}")

    def of_List(self, node: ast.List) -> Value:
        if any(isinstance(one, ast.Starred) for one in node.elts):
            raise refuse(node, "unpacks")
        values = self.several(*node.elts)
        box = self.box(node, "list", 1)
        return self.filled(box, [("push", [value]) for value in values])

    def filled(self, box: Any, steps: list[tuple[str, list[Value]]]) -> Value:
        """A new container, and what is put into it."""
        for _, values in steps:
            for place, value in enumerate(values):
                self.joins.widen(box, place, value.type)
        cells = box.find().cells
        name = self.fresh()
        self.emit(f"{text_of(box)} {name} = made<{inside(text_of(box))}>();")
        for method, values in steps:
            items = ", ".join(coerced(value, cell) for value, cell in zip(values, cells, strict=True))
            self.emit(f"{name}->{method}({items});")
        return Value(box.find(), name)

    def of_Dict(self, node: ast.Dict) -> Value:
        if any(key is None for key in node.keys):
            raise refuse(node, "unpacks")
        values = self.several(*(one for pair in zip(node.keys, node.values) for one in pair if one is not None))
        steps = [("set", [key, value]) for key, value in zip(values[::2], values[1::2])]
        return self.hashed(self.filled(self.box(node, "dict", 2), steps), node)

    def of_Set(self, node: ast.Set) -> Value:
        steps = [("add", [value]) for value in self.several(*node.elts)]
        found = self.hashed(self.filled(self.box(node, "set", 1), steps), node)
        if all(isinstance(one, ast.Constant) for one in node.elts):  # Python copies a set of constants, with its places
            self.emit(f"{found.code}->removed = true;")
        return found

    def hashed(self, value: Value, node: ast.AST) -> Value:
        self.check_key(value.type.find().cells[0], node)
        return value

    def has_hash(self, type_: Any) -> bool:
        raise NotImplementedError

    def check_key(self, type_: Any, node: ast.AST) -> None:
        if isinstance(type_, Box) and type_.find().kind == "tuple":
            self.check_key(type_.find().cells[0], node)
        elif isinstance(type_, Box) and not self.has_hash(type_):
            raise refuse(node, "has keys that change")
        for item in type_.items if isinstance(type_, Tup) else [type_.inner] if isinstance(type_, Maybe) else []:
            self.check_key(item, node)

    # ------------------------------------------------------------ operators

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        value = self.present(self.expression(node.operand))
        return self.negated(node, value)

    def negated(self, node: ast.UnaryOp, value: Value) -> Value:
        """An operator before a value."""
        if isinstance(node.op, ast.Not):
            return Value(BOOL, f"(!{self.truth_of(value)})")
        if value.type is NEVER:
            return value
        if value.type not in NUMBERS:
            raise refuse(node, "is no number")
        if value.type is BOOL:
            value = Value(INT, f"I({value.code})")
        if isinstance(node.op, ast.UAdd):
            return Value(MIXED, f"negative(negative({value.code}))") if value.type is MIXED else value
        if isinstance(node.op, ast.USub):
            if value.type is INT and isinstance(node.operand, ast.Constant):
                return Value(INT, f"I(-{node.operand.value}LL)")
            return Value(value.type, f"negative({value.code})")
        if value.type is INT:
            return Value(INT, f"(~{value.code})")
        raise refuse(node, "is no integer")

    def of_BinOp(self, node: ast.BinOp) -> Value:
        if isinstance(node.op, ast.Mod | ast.BitAnd) and _has_product(node.left):
            found = self._remainder(node)
            if found is not None:
                return found
        left, right = map(self.present, self.several(node.left, node.right))
        return self.binary(type(node.op), left, right, node)

    def _remainder(self, node: ast.BinOp) -> Value | None:
        """``(a * x + c) % m``, or ``& m``: of integers, with twice the bits for what it is of; None of other values,
        whose operators may read what later operands change."""
        leaves: list[ast.expr] = []
        _leaves(node.left, leaves)
        before, renamed = set(self.bound), dict(self.renamed)
        with self.block() as lines:
            *values, right = map(self.present, self.several(*leaves, node.right))
        if any(value.type is not INT for value in (*values, right)):
            self.bound, self.renamed = before, renamed
            return None
        self.lines += lines
        given = dict(zip(map(id, leaves), values, strict=True))
        return Value(
            INT, f"{'mod' if isinstance(node.op, ast.Mod) else 'bitand_'}({_wide(node.left, given)}, {right.code})"
        )

    def told_by(self, value: Value, other: Value) -> Value:
        """What may be a number or a text as what the other operand is; where it is not, Python raises."""
        if value.type is not WORDED:
            return value
        is_text = other.type is TEXT
        return self.keep(Value(TEXT if is_text else MIXED, f"{'text' if is_text else 'number'}_in({value.code})"))

    def binary(self, op: Any, left: Value, right: Value, node: ast.AST) -> Value:
        if op is not ast.Mult:  # a text times an integer is a text
            left, right = self.told_by(left, right), self.told_by(right, left)
        if NEVER in (left.type, right.type):
            return Value(NEVER, "None_()")
        if left.type in NUMBERS and right.type in NUMBERS:
            return self.arithmetic(op, left, right, node)
        if op is ast.Add and left.type is TEXT and right.type is TEXT:
            return Value(TEXT, f"concat({left.code}, {right.code})")
        if op is ast.Mult:
            left, right = (right, left) if left.type in (INT, BOOL) else (left, right)
            if right.type in (INT, BOOL) and (left.type is TEXT or is_box(left, "list")):
                result = left.type if left.type is TEXT else self.made_of(node, left)
                return Value(result, f"repeat({left.code}, {as_int(right)})")
        if op is ast.Add and is_box(left, "list") and is_box(right, "list"):
            self.joins.join(left.type, right.type)
            return Value(left.type.find(), f"concat({left.code}, {right.code})")
        if op is ast.Add and isinstance(left.type, Tup) and isinstance(right.type, Tup):
            one, other = self.keep(left), self.keep(right)
            named = one.type.named or other.type.named
            return self.tuple_of(self.fields(one) + self.fields(other), named=named)
        raise refuse(node, "is not understood")

    def fields(self, value: Value) -> list[Value]:
        return [Value(item, f"{value.code}.a{k}") for k, item in enumerate(value.type.items)]

    def made_of(self, node: ast.AST, value: Value) -> Any:
        """The type of a new list of the items of another one."""
        return value.type.find()

    def arithmetic(self, op: Any, left: Value, right: Value, node: ast.AST) -> Value:
        if op in _BITWISE:
            if left.type is BOOL and right.type is BOOL and op not in (ast.LShift, ast.RShift):
                return Value(BOOL, f"bool({_BITWISE[op]}(I({left.code}), I({right.code})))")
            return Value(INT, f"{_BITWISE[op]}({as_int(left, node)}, {as_int(right, node)})")
        if op not in _ARITHMETIC:
            raise refuse(node, "is not understood")
        type_ = common(left.type, right.type)
        code = f"{_ARITHMETIC[op]}({as_number(left, type_)}, {as_number(right, type_)})"
        return Value(FLOAT if op is ast.Div else type_, code)

    def of_BoolOp(self, node: ast.BoolOp) -> Value:
        first = self.expression(node.values[0])
        for one in node.values[1:]:
            first = self._either(first, one, isinstance(node.op, ast.And))
        return first

    def _either(self, first: Value, node: ast.expr, is_and: bool) -> Value:
        """``a and b``, ``a or b``: one of two values."""
        before = set(self.bound)
        with self.block() as lines:
            second = self.expression(node)
        self.bound = before
        if same(first.type, second.type) and first.type is BOOL and not lines:
            return Value(BOOL, f"({first.code} {'&&' if is_and else '||'} {second.code})")
        type_ = self.joins.join(first.type, second.type)
        if type_ is NEVER:
            return first
        first = self.keep(first)
        name = self.fresh()
        self.emit(f"{text_of(type_)} {name} = {coerced(first, type_)};")
        holds = self.truth_of(first)
        self.emit(f"if ({'' if is_and else '!'}{holds}) {{")
        self.lines += [*lines, f"{name} = {coerced(second, type_)};", "}"]
        return Value(type_, name)

    def condition(self, node: ast.expr) -> str:
        """C++ that is true where an expression is: of ``a and b`` only that counts, not which of both."""
        if isinstance(node, ast.BoolOp):
            code = self.condition(node.values[0])
            word = "&&" if isinstance(node.op, ast.And) else "||"
            for one in node.values[1:]:
                with self.block() as lines:
                    second = self.condition(one)
                if lines:
                    name = self.fresh()
                    self.emit(f"bool {name} = {code};")
                    self.emit(f"if ({'' if word == '&&' else '!'}{name}) {{")
                    self.lines += [*lines, f"{name} = {second};", "}"]
                    code = name
                else:
                    code = f"({code} {word} {second})"
            return code
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return f"(!{self.condition(node.operand)})"
        return self.truth_of(self.expression(node))

    def truth_of(self, value: Value) -> str:
        """C++ that is true where a value is."""
        return truth(value)

    def of_IfExp(self, node: ast.IfExp) -> Value:
        test, told = self.condition(node.test), self.told
        sides = []
        for one, holds in ((node.body, True), (node.orelse, False)):
            self.told = told | not_none(node.test, holds)
            with self.block() as lines:
                sides.append((self.expression(one), lines))
        self.told = told
        (yes, yes_lines), (no, no_lines) = sides
        type_ = self.joins.join(yes.type, no.type)
        if not (yes_lines or no_lines):
            if type_ is NEVER:
                return yes
            return Value(type_, f"({test} ? {text_of(type_)}({coerced(yes, type_)}) : {coerced(no, type_)})")
        name = self.fresh()
        self.emit(f"{text_of(type_)} {name};")
        self.lines += [f"if ({test}) {{", *yes_lines, f"{name} = {coerced(yes, type_)};", "} else {"]
        self.lines += [*no_lines, f"{name} = {coerced(no, type_)};", "}"]
        return Value(type_, name)

    def of_JoinedStr(self, node: ast.JoinedStr) -> Value:
        values = self.in_order([lambda one=one: self._part_of_text(one, node) for one in node.values])
        code = [value.code for value in values] or [quoted("")]
        total = code[0]
        for one in code[1:]:
            total = f"concat({total}, {one})"
        return Value(TEXT, total)

    def _part_of_text(self, part: ast.expr, node: ast.AST) -> Value:
        if not isinstance(part, ast.FormattedValue):
            return self.expression(part)
        if part.conversion != -1:
            raise refuse(node, "formats a value")
        if part.format_spec is None:
            return Value(TEXT, self.as_text(self.expression(part.value), node))
        value, form = self.several(part.value, part.format_spec)
        return self.formatted(value, form, node)

    def formatted(self, value: Value, form: Value, node: ast.AST) -> Value:
        """``f"{value:08b}"``, ``format(value, "08b")``."""
        if NEVER in (value.type, form.type):
            return Value(NEVER, "None_()")
        if value.type not in (INT, FLOAT, TEXT) or form.type is not TEXT:
            raise refuse(node, "formats a value")
        return Value(TEXT, f"formatted({value.code}, {form.code})")

    def as_text(self, value: Value, node: ast.AST) -> str:
        inner = value.type.inner if isinstance(value.type, Maybe) else value.type
        if inner is NEVER:
            return "Str()"
        if inner not in (*NUMBERS, TEXT, NONE):
            raise refuse(node, "makes a text of a container")
        return value.code if value.type is TEXT else f"text({value.code})"


def float_text(value: float) -> str:
    """C++ of a float."""
    if value != value:
        return 'F(__builtin_nan(""))'
    return f"F({value!r})" if value - value == 0 else f"F({'-' if value < 0 else ''}__builtin_inf())"


def inside(text: str) -> str:
    """What a ``Ref`` refers to."""
    return text.removeprefix("Ref<").removesuffix(">")


_OF_PRODUCTS = (ast.Add, ast.Sub, ast.Mult)


def _has_product(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, _OF_PRODUCTS)
        and (isinstance(node.op, ast.Mult) or _has_product(node.left) or _has_product(node.right))
    )


def _leaves(node: ast.expr, found: list[ast.expr]) -> None:
    """What is added and multiplied, from left to right."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, _OF_PRODUCTS):
        _leaves(node.left, found)
        _leaves(node.right, found)
    else:
        found.append(node)


def _wide(node: ast.expr, given: dict[int, Value]) -> str:
    if id(node) in given:
        return f"Int128({given[id(node)].code})"
    assert isinstance(node, ast.BinOp)
    return f"{_ARITHMETIC[type(node.op)]}({_wide(node.left, given)}, {_wide(node.right, given)})"
