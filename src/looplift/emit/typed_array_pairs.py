"""Functions of NumPy's of several operands, which are numbers or arrays, in a typed program in; types and C++ out."""

from __future__ import annotations

import ast

from looplift.emit.typed_arrays import Arrays, is_array
from looplift.emit.typed_numpy import operand, promoted
from looplift.emit.typed_scope import Value, as_number, refuse, truth
from looplift.emit.typed_types import (
    BOOL,
    FLOAT,
    INT,
    MIXED,
    NEVER,
    NONE,
    NP_BOOL,
    NP_FLOAT,
    NP_INT,
    NUMBERS,
    SCALAR,
    SCALARS,
    Arr,
    Maybe,
    Scalar,
)


class Pairs(Arrays):
    """The greater of two, what is between bounds, and what a test chooses."""

    computed_with: set[ast.AST]
    """Expressions of which only the number counts: operands of operators and comparisons."""

    def _in_doubles(self, values: list[Value]) -> list[Value]:
        """Numbers of which only the run tells what they are, as floats where NumPy computes with floats of 64 bits."""
        kinds = {one.type for one in values}
        if MIXED not in kinds or self.joins.has_singles or not kinds & {FLOAT, NP_FLOAT}:
            return values
        return [Value(FLOAT, as_number(one, FLOAT)) if one.type is MIXED else one for one in values]

    def _common(self, values: list[Value], node: ast.AST) -> Scalar:
        """The dtype in which NumPy computes with two operands; two numbers of Python's are arrays of it first."""
        if any(not is_array(one) and (one.type not in NUMBERS or one.type is MIXED) for one in values):
            raise refuse(node, "has no form in a typed program")
        kinds = [one.type.element if isinstance(one.type, Arr) else one.type for one in values]
        return promoted(*(kinds if any(one in SCALARS for one in kinds) else (SCALAR[one] for one in kinds)))

    def of_two(self, name: str, values: list[Value], node: ast.AST) -> Value:
        """A function of two numbers, or of the elements of arrays."""
        if any(one.type is NEVER for one in values):
            return Value(NEVER, "None_()")
        values = self._in_doubles(values)
        made = self._common(values, node)
        if name == "length_of":
            made = NP_FLOAT if made is NP_INT else made
            if made is not NP_FLOAT:
                raise refuse(node, "has no form in a typed program")
        if made is NP_BOOL:
            raise refuse(node, "is arithmetic of truth values")
        if is_array(*values):
            texts, given = self._computed(values, made)
            return self.mapped_array(made, given, f"{name}({', '.join(texts)})")
        codes = [self.keep(operand(one, made)).code for one in values]
        return self.keep(self.scalar(Value(made.plain, f"{name}({', '.join(codes)})"), made))

    def between(self, value: Value, low: Value, high: Value, node: ast.AST) -> Value:
        """Not less than one bound, nor greater than the other; NumPy makes an array of what has bounds first."""
        value = self.keep(self.present(value))
        value = self.scalar(value) if value.type in (INT, FLOAT) else value
        bounds = [(name, bound) for name, bound in (("greater_of", low), ("less_of", high)) if bound.type is not NONE]
        if not bounds or any(isinstance(bound.type, Maybe) for _, bound in bounds):
            raise refuse(node, "has bounds that may be none")
        for name, bound in [(name, self.keep(bound)) for name, bound in bounds]:
            value = self.keep(self.of_two(name, [value, bound], node))
        return value

    def chosen_by(self, values: list[Value], node: ast.Call) -> Value:
        """``np.where(test, a, b)``: of numbers alone it is an array without dimensions, which becomes a number of
        NumPy's where something is computed with it."""
        test, *sides = map(self.keep, map(self.present, values))
        if any(one.type is NEVER for one in (test, *sides)):
            return Value(NEVER, "None_()")
        sides = self._in_doubles(sides)
        made = self._common(sides, node)
        if is_array(test, *sides):
            if not is_array(test) and test.type not in NUMBERS:
                raise refuse(node, "has no form in a typed program")
            test = test if is_array(test) else self.keep(Value(BOOL, truth(test)))
            _, sides = self._computed(sides, made)
            return self.mapped_array(made, [test, *sides], f"a != 0 ? ({made.storage})b : ({made.storage})c")
        if node not in self.computed_with or test.type not in NUMBERS:
            raise refuse(node, "is an array without dimensions")
        yes, no = (self.keep(operand(one, made)) for one in sides)
        return self.keep(self.scalar(Value(yes.type, f"({truth(test)} ? {yes.code} : {no.code})"), made))

    def of_BinOp(self, node: ast.BinOp) -> Value:
        if not isinstance(node.op, ast.Pow):
            self.computed_with |= {node.left, node.right}
        return super().of_BinOp(node)

    def of_Compare(self, node: ast.Compare) -> Value:
        if not any(isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot) for op in node.ops):
            self.computed_with |= {node.left, *node.comparators}
        return super().of_Compare(node)
