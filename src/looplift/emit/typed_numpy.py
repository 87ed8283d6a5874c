"""Numbers of a typed program in, some of them scalars of NumPy's, which give scalars again; types and C++ out."""

from __future__ import annotations

import ast
from typing import Any

from looplift.emit.typed_folds import has_items
from looplift.emit.typed_scope import Value, as_number, plain, refuse, truth
from looplift.emit.typed_tensor_stores import Stores
from looplift.emit.typed_types import (
    BOOL,
    FLOAT,
    INT,
    MIXED,
    NEVER,
    NP_BOOL,
    NP_FLOAT,
    NP_INT,
    NUMBERS,
    PLAIN,
    SCALAR,
    SCALARS,
    Either,
    Maybe,
    Ten,
    same,
    text_of,
)

_OPERATORS = {
    ast.Add: "plus", ast.Sub: "minus", ast.Mult: "times", ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "power",
}  # fmt: skip
_ON_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor)
OPERAND = "value of operand"


def is_scalar(*values: Value) -> bool:
    return any(value.type in SCALARS for value in values)


class Scalars(Stores):
    """Arithmetic, comparisons and sums in which scalars of NumPy's take part."""

    is_asked = False
    compared_types: tuple[Any, ...] = ()
    compared_codes = ""
    """Whether the comparison at hand is only asked whether it holds."""

    def scalar(self, value: Value) -> Value:
        """A number of Python's as one of NumPy's."""
        type_ = SCALAR[value.type]
        return Value(type_, f"{text_of(type_)}{{{value.code}}}")

    def apart(self, value: Value, node: ast.expr) -> ast.expr:
        """An expression that stands for a value."""
        self.renamed[OPERAND] = value
        return ast.copy_location(ast.Name(OPERAND, ast.Load()), node)

    # ------------------------------------------------------------ operators

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if not self.joins.has_numpy or isinstance(node.operand, ast.Constant):
            return super().of_UnaryOp(node)
        value = self.present(self.expression(node.operand))
        if value.type in SCALARS and not isinstance(node.op, ast.Not):
            return self._signed(value, node)
        return super().of_UnaryOp(ast.copy_location(ast.UnaryOp(node.op, self.apart(value, node.operand)), node))

    def _signed(self, value: Value, node: ast.UnaryOp) -> Value:
        inner = plain(value)
        if isinstance(node.op, ast.Invert):
            if value.type is NP_FLOAT:
                raise refuse(node, "is no integer")
            return self.scalar(Value(inner.type, f"({'!' if inner.type is BOOL else '~'}{inner.code})"))
        if value.type is NP_BOOL:
            raise refuse(node, "is the sign of a truth value")
        return value if isinstance(node.op, ast.UAdd) else self.scalar(Value(inner.type, f"negative({inner.code})"))

    def arithmetic(self, op: Any, left: Value, right: Value, node: ast.AST) -> Value:
        if MIXED in (left.type, right.type) and self.joins.has_numpy:
            return self._of_mixed(op, left, right, node)
        if not is_scalar(left, right):
            return super().arithmetic(op, left, right, node)
        both_truths = all(PLAIN.get(one.type, one.type) is BOOL for one in (left, right))
        if both_truths and op not in _ON_BITS:
            raise refuse(node, "is arithmetic of truth values")
        left, right = plain(left), plain(right)
        if op not in (ast.Div, *_OPERATORS):
            return self.scalar(super().arithmetic(op, left, right, node))
        left, right = self.keep(left), self.keep(right)
        found = super().arithmetic(op, left, right, node)
        if found.type is FLOAT:
            return self.scalar(
                Value(FLOAT, f"quiet({found.code}, {', '.join(as_number(v, FLOAT) for v in (left, right))})")
            )
        return self.scalar(found)

    def _of_mixed(self, op: Any, left: Value, right: Value, node: ast.AST) -> Value:
        """Of numbers that only the run tells whether they are NumPy's."""
        if NP_FLOAT in (left.type, right.type):
            numbers = [Value(FLOAT, as_number(one, FLOAT)) if one.type is MIXED else one for one in (left, right)]
            return self.arithmetic(op, numbers[0], numbers[1], node)
        if op is not ast.Div and op not in _OPERATORS:
            raise refuse(node, "is not understood")
        names = [self.keep(Value(MIXED, as_number(one, MIXED))).code for one in (left, right)]
        name = "over_mixed" if op is ast.Div else _OPERATORS[op]
        return Value(MIXED, f"quiet({name}({', '.join(names)}), {', '.join(names)})")

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
        if any(_may_be_scalar(one) for one in types):
            raise refuse(node, "is kept, though only its truth is known")
        return found

    def compared(self, op: ast.cmpop, left: Value, right: Value, node: ast.AST) -> str:
        if not isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot):
            self.compared_types = (*self.compared_types, left.type, right.type)
            if self.joins.has_numpy and MIXED in (left.type, right.type) and {left.type, right.type} <= {*NUMBERS}:
                left, right = (self.keep(Value(MIXED, as_number(one, MIXED))) for one in (left, right))
                self.compared_codes = f"{left.code}, {right.code}"
        return super().compared(op, left, right, node)

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
            self.folded(node, step)
        type_ = types[0]
        text = text_of(type_)
        first = as_number(start, type_)
        self.emit(f"{text} {name} = {text}{{{first}}}; bool {seen} = false;")
        self.lines += lines
        if same(type_, start.type) or has_items(node.args[0]):
            return Value(type_, name)
        return self.keep(Value(MIXED, f"({seen} ? Dyn({name}) : Dyn({start.code}))"))

    def call_abs(self, node: ast.Call, value: Value) -> Value:
        if value.type not in SCALARS:
            return super().call_abs(node, value)
        return value if value.type is NP_BOOL else self.scalar(super().call_abs(node, plain(value)))

    def call_round(self, node: ast.Call, *values: Value) -> Value:
        if len(values) == 1 and values[0].type is NP_INT:
            return plain(values[0])
        return super().call_round(node, *values)

    def call_pow(self, node: ast.Call, *values: Value) -> Value:
        if len(values) == 3 and (is_scalar(*values) or (self.joins.has_numpy and MIXED in {v.type for v in values})):
            raise refuse(node, "is a power of NumPy's")
        return super().call_pow(node, *values)

    def as_text(self, value: Value, node: ast.AST) -> str:
        if value.type is NP_FLOAT or (isinstance(value.type, Maybe) and value.type.inner in SCALARS):
            raise refuse(node, "makes a text of a number of NumPy's")
        return super().as_text(value, node)


def _may_be_scalar(type_: Any) -> bool:
    return type_ in SCALARS or type_ is MIXED or (isinstance(type_, Maybe) and _may_be_scalar(type_.inner))
