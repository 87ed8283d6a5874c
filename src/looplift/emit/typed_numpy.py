"""Numbers of a typed program in, some of them scalars of NumPy's, which give scalars again; types and C++ out."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from looplift.emit.typed_calls import decimal_factor
from looplift.emit.typed_folds import has_items
from looplift.emit.typed_scope import Value, as_number, plain, refuse, truth
from looplift.emit.typed_tensor_stores import Stores
from looplift.emit.typed_types import (
    BOOL,
    ELEMENTS,
    FLOAT,
    INT,
    MIXED,
    NEVER,
    NP_BOOL,
    NP_FLOAT,
    NP_FLOAT32,
    NP_INT,
    NUMBERS,
    PLAIN,
    SCALAR,
    SCALARS,
    WORDED,
    Either,
    Maybe,
    Scalar,
    Ten,
    holds,
    same,
    text_of,
)

_OPERATORS = {
    ast.Add: "plus", ast.Sub: "minus", ast.Mult: "times", ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "power",
}  # fmt: skip
_ON_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor)
OPERAND = "value of operand"
BY_LOOPS = (
    np.exp, np.expm1, np.exp2, np.log, np.log1p, np.log2, np.log10, np.sin, np.cos, np.tan, np.arcsin, np.arccos,
    np.arctan, np.sinh, np.cosh, np.tanh,
)  # fmt: skip
"""Those whose digits are NumPy's own: its loops over doubles are called."""


def is_scalar(*values: Value) -> bool:
    return any(value.type in SCALARS for value in values)


class Scalars(Stores):
    """Arithmetic, comparisons and sums in which scalars of NumPy's take part."""

    is_asked = False
    compared_types: tuple[Any, ...] = ()
    compared_codes = ""
    """Whether the comparison at hand is only asked whether it holds."""

    def scalar(self, value: Value, type_: Scalar | None = None) -> Value:
        """A number of Python's as one of NumPy's, of 64 bits if nothing else is said; what does not fit ends all."""
        made = type_ or SCALAR[value.type]
        return Value(made, f"{made.text}{{{fitted(value, made)}}}")

    def apart(self, value: Value, node: ast.expr) -> ast.expr:
        """An expression that stands for a value."""
        return self.apart_as(OPERAND, value, node)

    # ------------------------------------------------------------ operators

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if not self.joins.has_numpy or isinstance(node.operand, ast.Constant):
            return super().of_UnaryOp(node)
        value = self.present(self.expression(node.operand))
        if value.type in SCALARS and not isinstance(node.op, ast.Not):
            return self._signed(value, node)
        return super().of_UnaryOp(ast.copy_location(ast.UnaryOp(node.op, self.apart(value, node.operand)), node))

    def _signed(self, value: Value, node: ast.UnaryOp) -> Value:
        inner, type_ = plain(value), value.type
        if isinstance(node.op, ast.Invert):
            if inner.type is FLOAT:
                raise refuse(node, "is no integer")
            return Value(type_, f"{type_.text}{{({type_.storage})({'!' if inner.type is BOOL else '~'}{inner.code})}}")
        if type_ is NP_BOOL:
            raise refuse(node, "is the sign of a truth value")
        return (
            value if isinstance(node.op, ast.UAdd) else self.scalar(Value(inner.type, f"negative({inner.code})"), type_)
        )

    def arithmetic(self, op: Any, left: Value, right: Value, node: ast.AST) -> Value:
        if MIXED in (left.type, right.type) and self.joins.has_numpy:
            return self._of_mixed(op, left, right, node)
        if not is_scalar(left, right):
            return super().arithmetic(op, left, right, node)
        both_truths = all(PLAIN.get(one.type, one.type) is BOOL for one in (left, right))
        if both_truths and op not in _ON_BITS:
            raise refuse(node, "is arithmetic of truth values")
        made = promoted(left.type, right.type)
        if op is ast.Pow and made.plain is FLOAT and made not in (left.type, right.type):
            raise refuse(node, "is a power that NumPy takes as of arrays, with other digits")
        left, right = (self.keep(operand(one, made)) for one in (left, right))
        if op is ast.Div and made.plain is not FLOAT:
            made = NP_FLOAT
        if made is NP_FLOAT32 and op in (ast.Div, *_OPERATORS):
            codes = [f"float({one.code})" for one in (left, right)]
            name = "over" if op is ast.Div else _OPERATORS[op]
            return Value(made, f"{made.text}{{quiet({name}({', '.join(codes)}), {', '.join(codes)})}}")
        found = super().arithmetic(op, left, right, node)
        if found.type is FLOAT:
            codes = [as_number(one, FLOAT) for one in (left, right)]
            found = Value(FLOAT, f"quiet({found.code}, {', '.join(codes)})")
        return self.scalar(found, made)

    def _of_mixed(self, op: Any, left: Value, right: Value, node: ast.AST) -> Value:
        """Of numbers that only the run tells whether they are NumPy's."""
        if NP_FLOAT in (left.type, right.type):
            numbers = [Value(FLOAT, as_number(one, FLOAT)) if one.type is MIXED else one for one in (left, right)]
            return self.arithmetic(op, numbers[0], numbers[1], node)
        if op is not ast.Div and op not in _OPERATORS:
            raise refuse(node, "is not understood")
        codes = [self.keep(Value(MIXED, f"Dyn({one.code})")).code for one in (left, right)]
        if op is ast.Pow:
            self.emit(f"check_power({', '.join(codes)});")
        name = "over" if op is ast.Div else _OPERATORS[op]
        return self.keep(Value(MIXED, f"mixed({', '.join(codes)}, [](auto a, auto b) {{ return {name}(a, b); }})"))

    # ------------------------------------------------------------ comparisons

    def condition(self, node: ast.expr) -> str:
        if not isinstance(node, ast.Compare):
            return super().condition(node)
        before, self.is_asked = self.is_asked, True
        value = self.expression(node)
        self.is_asked = before
        return truth(value)

    def of_Compare(self, node: ast.Compare) -> Value:
        asked, before = self.is_asked, self.compared_types
        self.is_asked, self.compared_types = False, ()
        found, types = super().of_Compare(node), self.compared_types
        self.compared_types = before
        if not asked and len(node.ops) > 1 and any(isinstance(one, Ten | Either) for one in types):
            raise refuse(node, "is kept, though only its truth is known")
        if asked or not self.joins.has_numpy:
            return found
        if len(types) == 2 and all(one in NUMBERS for one in types):
            if any(one in SCALARS for one in types):
                return self.scalar(found)
            return Value(MIXED, f"verdict({found.code}, {self.compared_codes})") if MIXED in types else found
        in_order = any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in node.ops)
        if WORDED in types or any(_may_be_scalar(one) or (in_order and holds(one, _may_be_scalar)) for one in types):
            raise refuse(node, "is kept, though only its truth is known")
        return found

    def compared(self, op: ast.cmpop, left: Value, right: Value, node: ast.AST) -> str:
        if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            left, right = self.told_by(left, right), self.told_by(right, left)
        if not isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot):
            self.compared_types = (*self.compared_types, left.type, right.type)
            if self.joins.has_numpy and MIXED in (left.type, right.type) and {left.type, right.type} <= {*NUMBERS}:
                left, right = (self.keep(Value(MIXED, as_number(one, MIXED))) for one in (left, right))
                self.compared_codes = f"{left.code}, {right.code}"
        return super().compared(op, left, right, node)

    def comparable(self, left: Value, right: Value, node: ast.AST) -> tuple[str, str]:
        if is_scalar(left, right) and MIXED not in (left.type, right.type) and {left.type, right.type} <= {*NUMBERS}:
            made = promoted(left.type, right.type)
            if made is NP_FLOAT32 or (made.plain is FLOAT and all(map(_is_exact, (left, right)))):
                codes = [operand(one, made) for one in (left, right)]
                return codes[0].code, codes[1].code
        return super().comparable(left, right, node)

    # ------------------------------------------------------------ functions of numbers

    def total(self, node: ast.Call) -> Value:
        if not self.joins.has_numpy:
            return super().total(node)
        start = self.keep(self.expression(node.args[1])) if len(node.args) == 2 else Value(INT, "I(0)")
        name, seen = self.fresh(), self.fresh()
        types = [start.type]

        def step(value: Value) -> None:
            value = self.keep(self.present(value))
            if value.type is NEVER:
                return
            if value.type not in NUMBERS or start.type not in NUMBERS:
                raise refuse(node, "adds no numbers")
            with self.block():  # only for its type
                first = self.arithmetic(ast.Add, start, value, node)
                types[0] = self.arithmetic(ast.Add, Value(first.type, name), value, node).type
            found = self.arithmetic(ast.Add, Value(types[0], name), value, node)
            self.emit(f"{name} = {found.code}; {seen} = true;")

        with self.block() as lines:
            self.folded(node.args[0], step)
        type_ = types[0]
        text = text_of(type_)
        first = as_number(start, type_)
        zero = fitted(Value(PLAIN.get(type_, type_), first), type_) if isinstance(type_, Scalar) else first
        self.emit(f"{text} {name} = {text}{{{zero}}}; bool {seen} = false;")
        self.lines += lines
        if same(type_, start.type) or has_items(node.args[0]):
            return Value(type_, name)
        return self.keep(Value(MIXED, f"({seen} ? Dyn({name}) : Dyn({start.code}))"))

    def call_abs(self, node: ast.Call, value: Value) -> Value:
        if value.type not in SCALARS:
            return super().call_abs(node, value)
        return value if value.type is NP_BOOL else self.scalar(super().call_abs(node, plain(value)), value.type)

    def call_round(self, node: ast.Call, *values: Value) -> Value:
        if NP_BOOL in [value.type for value in values]:
            raise refuse(node, "rounds a truth value")
        if len(values) > 1 and values[0].type in SCALARS:
            factor = decimal_factor(node)
            if values[0].type is NP_INT:
                return values[0]
            if values[0].type is not NP_FLOAT:
                raise refuse(node, "rounds in single precision")
            return self.scalar(Value(FLOAT, f"decimals({plain(values[0]).code}, {factor})"), NP_FLOAT)
        return super().call_round(node, *map(plain, values))

    def call_int(self, node: ast.Call, *values: Value) -> Value:
        return super().call_int(node, *map(plain, values))

    def math_values(self, values: list[Value]) -> list[Value]:
        return [_as_float(value) for value in super().math_values(values)]

    def sort(self, found: Value, keywords: dict[str, ast.expr], node: ast.AST, *, is_shared: bool = False) -> Any:
        compared = super().sort(found, keywords, node, is_shared=is_shared)
        if self.joins.has_singles and holds(found.type, lambda one: one is MIXED):
            raise refuse(node, "sorts numbers of Python's and of float32, whose order may be none")
        return compared

    def call_pow(self, node: ast.Call, *values: Value) -> Value:
        if len(values) == 3 and (is_scalar(*values) or (self.joins.has_numpy and MIXED in {v.type for v in values})):
            raise refuse(node, "is a power of NumPy's")
        return super().call_pow(node, *values)

    def as_text(self, value: Value, node: ast.AST) -> str:
        if PLAIN.get(value.type) is FLOAT or (isinstance(value.type, Maybe) and value.type.inner in SCALARS):
            raise refuse(node, "makes a text of a number of NumPy's")
        return super().as_text(value, node)


def promoted(left: Any, right: Any) -> Scalar:
    """The scalar that NumPy makes of two numbers, of which one is its own."""
    found = np.result_type(*(_WEAK[one] if one in _WEAK else np.dtype(one.dtype) for one in (left, right)))
    return ELEMENTS[found.name]


_WEAK: dict[Any, Any] = {BOOL: False, INT: 0, FLOAT: 0.0}
"""Numbers of Python's, which take the dtype of the other operand if they can."""


def operand(value: Value, made: Scalar) -> Value:
    """A number as Python's, with the value that it has as an operand of a dtype."""
    inner, kind = plain(value), FLOAT if made.plain is FLOAT else INT
    code = as_number(inner, kind) if made is not NP_BOOL else inner.code
    if value.type is INT and made is NP_FLOAT32:
        code = f"exact({inner.code})"
    if value.type in _WEAK and value.type is not BOOL and made.storage not in ("I", "F", "bool"):
        code = code if _fits(code, made) else f"{kind.text}(fit<{made.storage}>({code}))"
    return Value(kind if made is not NP_BOOL else BOOL, code)


def _fits(code: str, made: Scalar) -> bool:
    """Whether C++ is a constant within the range of a dtype of integers."""
    known = re.fullmatch(r"I\((-?\d+)(?:LL)?\)", code)
    return bool(known) and made.plain is INT and np.iinfo(made.dtype).min <= int(known[1]) <= np.iinfo(made.dtype).max


def fitted(value: Value, made: Scalar) -> str:
    """C++ of a number of Python's as the value of a scalar."""
    if made.storage == value.type.text:
        return value.code
    if made is NP_BOOL:
        return f"truth({value.code})"
    return f"fit<{made.storage}>({as_number(value, made.plain)})"


def _as_float(value: Value) -> Value:
    """What functions of floats see of a number of NumPy's, which has no way of its own to be one of Python's."""
    inner = plain(value)
    return inner if value.type is not NP_INT else Value(INT, f"I(exact({inner.code}))")


def _is_exact(value: Value) -> bool:
    """Whether a float holds each such number."""
    return value.type not in (INT, NP_INT, ELEMENTS["uint64"])


def _may_be_scalar(type_: Any) -> bool:
    return type_ in SCALARS or type_ is MIXED or (isinstance(type_, Maybe) and _may_be_scalar(type_.inner))
