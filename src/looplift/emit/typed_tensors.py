"""Tensors in a typed program: operators, comparisons, items, slices and stores in, their types and C++ out."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import torch

from looplift.emit import typed_products
from looplift.emit.native_ops import COMPARISONS
from looplift.emit.typed_counters import Counters
from looplift.emit.typed_expressions import is_box
from looplift.emit.typed_scope import Value, as_int, as_number, coerced, evaluated, needed, refuse
from looplift.emit.typed_stars import takes_rest
from looplift.emit.typed_tensor_ops import is_tensor, result_of, struct_name, struct_of, takes_no_bool
from looplift.emit.typed_types import (
    BOOL,
    DICTS,
    DTYPES,
    FLOAT,
    INT,
    MIXED,
    NEVER,
    NONE,
    NUMBERS,
    WHOLE,
    Box,
    Either,
    Fixed,
    Maybe,
    Rec,
    Ten,
    Tup,
    holds_tensor,
    number_type,
    same,
    text_of,
)

_OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor",
}  # fmt: skip
_COMPARISONS = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip
_CONSTANT_POWERS = {2: "square", 0.5: "sqrt", -1: "reciprocal"}


def has_tensor(*values: Value) -> bool:
    return any(isinstance(value.type, Ten | Either) for value in values)


def element_text(dtype: str) -> str:
    return DTYPES[dtype]


class Tensors(Counters):
    """What operators and subscripts are where an operand is a tensor."""

    structs: dict[str, str]
    inexact: set[str]
    makes_rows: bool
    short: set[str]
    """Codes of rows of a few elements, which no other form computes many of at a time."""

    def keep(self, value: Value) -> Value:
        kept = super().keep(value)
        if value.code in self.short:
            self.short.add(kept.code)
        return kept

    # ------------------------------------------------------------ a number or a tensor

    def split(self, value: Value, make: Callable[[Value], Value]) -> Value:
        """What is made of a value, where it is a number and where it is a tensor."""
        value = self.keep(value)
        sides = []
        for part, type_ in (("n", value.type.number), ("t", value.type.tensor)):
            before = set(self.bound)
            with self.block() as lines:
                sides.append((make(Value(type_, f"{value.code}.{part}")), lines))
            self.bound = before
        if (lower := _of_lower_rank([found.type for found, _ in sides])) is not None:
            sides[lower] = (Value(NEVER, "None_()"), ["bail(KIND);"])
        type_ = NEVER
        for found, _ in sides:
            type_ = self.joins.join(type_, found.type)
        name = self.fresh()
        if type_ not in (NEVER, NONE):
            self.emit(f"{text_of(type_)} {name};")
        for head, (found, lines) in zip((f"if ({value.code}.plain) {{", "} else {"), sides, strict=True):
            self.lines += [head, *lines]
            if NEVER not in (type_, found.type) and type_ is not NONE:
                self.emit(f"{name} = {coerced(found, type_)};")
        self.emit("}")
        return Value(type_, name) if type_ not in (NEVER, NONE) else Value(NONE, "None_()")

    def tensor_if_either(self, value: Value) -> Value:
        """What may be a number is a tensor where nothing else is taken: else Python raises."""
        if not isinstance(value.type, Either):
            return value
        return self.keep(Value(value.type.tensor, f"tensor_of({value.code})"))

    def number_of(self, value: Value) -> Value:
        """``tensor.item()``; numbers are as they are."""
        if isinstance(value.type, Either):
            return self.split(value, self.number_of)
        if not isinstance(value.type, Ten):
            return value
        if value.type.rank:
            raise refuse(None, "a tensor of several elements is no number")
        kind = number_type(value.type.dtype)
        return Value(kind, f"{text_of(kind)}(val({value.code}).v)")

    # ------------------------------------------------------------ operations

    def operation(self, name: str, *values: Value) -> Value:
        """An operation on each element of one or two operands."""
        for place, value in enumerate(values):
            if isinstance(value.type, Either):
                rest = list(values)

                def make(one: Value, place: int = place, rest: list[Value] = rest) -> Value:
                    return self.element_wise(name, *rest[:place], one, *rest[place + 1 :])

                others = [self.keep(one) for one in values]
                rest[:] = others
                return self.split(others[place], make)
        return self.element_wise(name, *values)

    def element_wise(self, name: str, *values: Value) -> Value:
        if any(isinstance(value.type, Either) for value in values):
            return self.operation(name, *values)
        if not has_tensor(*values):
            return self.of_numbers(name, *values)
        if any(value.type not in NUMBERS and not is_tensor(value) for value in values):
            raise refuse(None, f"'{name}' of what is no number")
        made, dtype = result_of(name, *(value.type for value in values))
        if takes_no_bool(name, *(value.type for value in values)):
            values = tuple(Value(MIXED, f"no_bool({one.code})") if one.type is MIXED else one for one in values)
        integer = dtype in WHOLE and name not in ("truediv",)
        if name not in COMPARISONS and (integer and name not in _INTEGER):
            raise refuse(None, f"'{name}' of integers")
        if dtype == "bool" and name not in (*COMPARISONS, *_LOGIC):
            raise refuse(None, f"'{name}' of booleans")
        op = self.op(name, integer=integer and name not in (*COMPARISONS, *_LOGIC, *_TESTS))
        return self.mapped(op, made, dtype, *values)

    def of_numbers(self, name: str, *values: Value) -> Value:
        for op, one in _OPERATORS.items():
            if one == name and len(values) == 2:
                return super().binary(op, *values, ast.Constant(name))
        for op, one in _COMPARISONS.items():
            if one == name and len(values) == 2:
                return Value(BOOL, super().compared(op(), *values, ast.Constant(name)))
        raise refuse(None, f"'{name}' of numbers")

    def op(self, name: str, *, integer: bool = False) -> str:
        key = struct_name(name, integer)
        if key not in self.structs:
            self.structs[key] = struct_of(name, integer=integer, tracked=self.joins.tracked)
        return f"ops::{key}()"

    def mapped(self, op: str, made: Ten, dtype: str, *values: Value) -> Value:
        rank = f", {made.rank}" if made.rank else ""
        self.makes_rows |= bool(made.rank) and op != "Op_same()"
        kind = ("rows" if made.rank else "map") + str(len(values))
        types = f"{DTYPES[dtype]}, {DTYPES[made.dtype]}{rank}"
        code = f"{kind}<{types}>({op}, {', '.join(value.code for value in values)})"
        rows = [value.code for value in values if is_tensor(value) and value.type.rank]
        if rows and self.short.issuperset(rows):
            self.short.add(code)
        return Value(made, code)

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.USub | ast.UAdd | ast.Invert):
            value = self.present(self.expression(node.operand))
            if has_tensor(value):
                if not isinstance(node.op, ast.USub):
                    raise refuse(node, "has no form for tensors")
                return self.operation("neg", value) if is_tensor(value) else self.split(value, self._negative)
            return self.negated(node, value)
        return super().of_UnaryOp(node)

    def _negative(self, value: Value) -> Value:
        return self.operation("neg", value) if is_tensor(value) else Value(value.type, f"negative({value.code})")

    def binary(self, op: Any, left: Value, right: Value, node: ast.AST) -> Value:
        if not has_tensor(left, right):
            return super().binary(op, left, right, node)
        if NEVER in (left.type, right.type):
            return Value(NEVER, "None_()")
        if op is ast.MatMult:
            return typed_products.of_tensors(self, left, right, node)
        if op is ast.Pow:
            return self.power(left, right, node.right if isinstance(node, ast.BinOp) else None, node)
        if op not in _OPERATORS:
            raise refuse(node, "has no form for tensors")
        return self._divided(left, right) if op is ast.Div else self.operation(_OPERATORS[op], left, right)

    def _divided(self, left: Value, right: Value) -> Value:
        """``left / right``: of a number and a tensor it is ``right.reciprocal() * left``, and rounds twice."""
        if isinstance(left.type, Either):
            right = self.keep(right)
            return self.split(left, lambda one: self._divided(one, right))
        if isinstance(right.type, Either):
            left = self.keep(left)
            return self.split(right, lambda one: self._divided(left, one))
        if is_tensor(left) or not is_tensor(right):
            return self.operation("truediv", left, right)
        left = self.keep(left)
        return self.operation("mul", self.operation("reciprocal", right), left)

    def power(self, base: Value, exponent: Value, text: ast.expr | None, node: ast.AST) -> Value:
        try:
            known = ast.literal_eval(text) if text is not None else None
        except ValueError:
            known = None
        if isinstance(base.type, Either):
            exponent = self.keep(exponent)
            return self.split(self.keep(base), lambda one: self._power_of(one, exponent, text, node))
        if isinstance(exponent.type, Either):
            base = self.keep(base)
            return self.split(self.keep(exponent), lambda one: self._power_of(base, one, text, node))
        if is_tensor(exponent) and base.type in (INT, FLOAT):
            return self._power_of_number(base, exponent, node)
        if not is_tensor(base) or type(known) is bool or (known != 2 and base.type.dtype in WHOLE):
            raise refuse(node, "is a power without a form")
        if known in _CONSTANT_POWERS:
            return self.operation(_CONSTANT_POWERS[known], base)
        if is_tensor(exponent):
            if exponent.type.dtype == "bool":
                raise refuse(node, "is a power whose exponent autograd takes nothing from")
            self.inexact.add("pow")
            code = f"Op_powers<{DTYPES[exponent.type.dtype]}>()"
            return self.mapped(code, *result_of("pow", base.type, exponent.type), base, exponent)
        if exponent.type not in (INT, FLOAT):
            raise refuse(node, "is a power without a form")
        code = f"Op_power({as_number(exponent, FLOAT)})"
        self.inexact.add("pow")
        return self.mapped(code, base.type, base.type.dtype, base)

    def _power_of(self, base: Value, exponent: Value, text: ast.expr | None, node: ast.AST) -> Value:
        """What may be a number of Python's or a tensor, to a power that may be one, too."""
        if has_tensor(base, exponent):
            return self.power(base, exponent, text, node)
        return self.arithmetic(ast.Pow, base, exponent, node)

    def held(self, value: Value, dtype: str) -> Value:
        raise NotImplementedError

    def _power_of_number(self, base: Value, exponent: Value, node: ast.AST) -> Value:
        """``10 ** x``: the derivative is the power times the logarithm of the base."""
        if exponent.type.dtype in WHOLE:
            raise refuse(node, "is a power without a form")
        base = self.held(base, exponent.type.dtype)
        self.inexact.add("pow")
        made, dtype = result_of("pow", base.type, exponent.type)
        return self.mapped(f"Op_power_of({as_number(base, FLOAT)})", made, dtype, exponent)

    # ------------------------------------------------------------ comparisons

    def of_Compare(self, node: ast.Compare) -> Value:
        if len(node.ops) > 1 or type(node.ops[0]) not in _COMPARISONS:
            return super().of_Compare(node)
        left, right = self.several(node.left, node.comparators[0])
        if not isinstance(node.ops[0], ast.Eq | ast.NotEq):
            left, right = self.present(left), self.present(right)
            if self.may_become_known(left.type) or self.may_become_known(right.type):
                return Value(NEVER, "None_()")
            if NEVER in (left.type, right.type):
                return Value(BOOL, "false")
        left, right = (self._tensor_if_any(one) for one in (left, right))
        if has_tensor(left, right) and all(one.type in NUMBERS or has_tensor(one) for one in (left, right)):
            return self.operation(_COMPARISONS[type(node.ops[0])], left, right)
        return Value(BOOL, self.compared(node.ops[0], left, right, node))

    def _tensor_if_any(self, value: Value) -> Value:
        return self.present(value) if isinstance(value.type, Maybe) and isinstance(value.type.inner, Ten) else value

    def compared(self, op: ast.cmpop, left: Value, right: Value, node: ast.AST) -> str:
        if isinstance(op, ast.Is | ast.IsNot):
            if isinstance(left.type, Ten | Either) and right.type is NONE:
                return evaluated(str(isinstance(op, ast.IsNot)).lower(), left)
            return super().compared(op, left, right, node)
        if has_tensor(left, right):
            if type(op) not in _COMPARISONS or not all(one.type in NUMBERS or has_tensor(one) for one in (left, right)):
                raise refuse(node, "compares tensors")
            found = self.operation(_COMPARISONS[type(op)], left, right)
            return f"truth({found.code})"
        return super().compared(op, left, right, node)

    def comparable(self, left: Value, right: Value, node: ast.AST) -> tuple[str, str]:
        if not has_tensor(left, right):
            return super().comparable(left, right, node)
        if any((not is_tensor(one) and one.type not in NUMBERS) or (is_tensor(one) and one.type.rank)
               for one in (left, right)):  # fmt: skip
            raise refuse(node, "compares tensors")
        text = DTYPES[result_of("lt", left.type, right.type)[1]]
        first, second = (f"wide(as_num<{text}>({one.code}).v)" for one in (left, right))
        return first, second

    def _better(self, name: str, best: Value, value: Value, node: ast.AST) -> Value:
        if isinstance(best.type, Either):
            best, value = self.keep(best), self.keep(value)
            return self.split(best, lambda one: self._better(name, one, value, node))
        if isinstance(value.type, Either):
            best = self.keep(best)
            return self.split(value, lambda one: self._better(name, best, one, node))
        return super()._better(name, best, value, node)

    def equal(self, left: Value, right: Value, node: ast.AST, *, items: bool = False) -> str:
        if has_tensor(left, right):
            if not (is_tensor(left) and same(left.type, right.type) and not left.type.rank and items):
                raise refuse(node, "compares tensors")
            return f"item_eq({left.code}, {right.code})"
        return super().equal(left, right, node, items=items)

    def contains(self, owner: Value, item: Value, node: ast.AST) -> str:
        if holds_tensor(item.type) or (holds_tensor(owner.type) and not is_box(owner, *DICTS)):
            raise refuse(node, "looks for a tensor")
        return super().contains(owner, item, node)

    def check_key(self, type_: Any, node: ast.AST) -> None:
        if isinstance(type_, Ten | Either):
            raise refuse(node, "has tensors for keys")
        super().check_key(type_, node)

    # ------------------------------------------------------------ items and slices

    def peek(self, node: ast.expr) -> Any:
        """The type of an expression that is not evaluated here."""
        before, renamed = set(self.bound), dict(self.renamed)
        with self.block():
            found = self.expression(node)
        self.bound, self.renamed = before, renamed
        return found.type

    def of_Subscript(self, node: ast.Subscript) -> Value:
        parts = subscripts(node)
        if any(not is_place(part) for part in parts) and isinstance(self.peek(node.value), Ten):
            return self.view(node, parts)
        return super().of_Subscript(node)

    def view(self, node: ast.Subscript, parts: list[ast.expr]) -> Value:
        """``x[:, j]`` and the like."""
        nodes: list[ast.expr] = [node.value]
        for part in parts:
            if isinstance(part, ast.Slice):
                nodes += [one for one in (part.lower, part.upper, part.step) if one is not None]
            elif is_place(part):
                nodes.append(part)
        owner, *found = self.several(*nodes)
        owner = self.keep(owner)
        owner, given = self.viewed(owner), iter(found)
        axis = 0
        for part in parts:
            if isinstance(part, ast.Slice):
                if axis >= owner.type.rank:
                    raise refuse(node, "has more subscripts than dimensions")
                if part.lower is part.upper is part.step is None:
                    axis += 1
                    continue
                size = Value(INT, f"{owner.code}.size[{axis}]")
                bounds = [next(given) if one is not None else None for one in (part.lower, part.upper, part.step)]
                name = self.cut_from(size.code, bounds, node)
                owner = self.keep(Value(owner.type, f"cut_of<{axis}>({owner.code}, {name})"))
                axis += 1
            elif isinstance(part, ast.Constant) and part.value is None:
                owner = self.widened(owner, axis)
                axis += 1
            elif is_place(part):
                owner = self.keep(self.picked(owner, next(given), axis, node))
                if owner.type is NEVER:
                    return owner
            else:
                raise refuse(node, "has subscripts of another kind")
        return owner

    def viewed(self, owner: Value) -> Value:
        """All of a tensor, which is another object."""
        return self.keep(Value(owner.type, f"viewed({owner.code})"))

    def widened(self, owner: Value, axis: int) -> Value:
        made = Ten(owner.type.dtype, owner.type.rank + 1)
        self.widens_numbers |= not owner.type.rank
        code = owner.code if owner.type.rank else f"{text_of(owner.type)}({owner.code})"
        return self.keep(Value(made, f"widened<{axis}>({code})"))

    def picked(self, owner: Value, index: Value, axis: int, node: ast.AST) -> Value:
        if axis >= owner.type.rank:
            raise refuse(node, "has more subscripts than dimensions")
        if is_tensor(index) and index.type.dtype in WHOLE - {"bool", "uint8"}:  # those are masks
            index = self.number_of(index)
        index = needed(index)
        if index.type not in (INT, MIXED, NEVER):
            raise refuse(node, "has a subscript that is no integer")
        return Value(Ten(owner.type.dtype, owner.type.rank - 1), f"pick<{axis}>({owner.code}, {as_int(index, node)})")

    def item(self, owner: Value, index: Value, node: ast.AST) -> Value:
        if isinstance(owner.type, Either):
            owner = Value(owner.type.tensor, f"tensor_of({owner.code})")
        if isinstance(owner.type, Rec):
            return self.named_item(owner, node)
        if not is_tensor(owner):
            if is_tensor(index) and index.type.dtype in WHOLE - {"bool"} and not index.type.rank:
                if isinstance(owner.type, Box) and owner.type.find().kind in DICTS:
                    raise refuse(node, "has a tensor for a key")
                index = self.number_of(index)
            return super().item(owner, index, node)
        if isinstance(index.type, Tup):
            for one in index.parts or self.fields(self.keep(index)):
                owner = self.picked(owner, one, 0, node)
                if owner.type is NEVER:
                    break
            return owner
        return self.picked(owner, index, 0, node)

    def named_item(self, owner: Value, node: ast.AST) -> Value:
        """``d["name"]``."""
        name = getattr(node, "slice", None)
        if not (isinstance(name, ast.Constant) and name.value in owner.type.names):
            raise refuse(node, "is read under a name that is not known")
        place = owner.type.names.index(name.value)
        return Value(owner.type.items[place], f"{owner.code}.a{place}")

    # ------------------------------------------------------------ going through

    def steps_of_value(self, value: Value, node: ast.AST) -> Any:
        from looplift.emit.typed_loops import Steps

        value = self.present(value)
        if not is_tensor(value):
            return super().steps_of_value(value, node)
        if not value.type.rank:
            raise refuse(node, "goes through a number")
        value, place = self.keep(value), self.fresh("i")
        self.emit(f"walked({value.code});")
        self.emit(f"I {place} = 0;")
        found = Value(Ten(value.type.dtype, value.type.rank - 1), f"pick<0>({value.code}, {place})")
        return Steps(f"{place} < {value.code}.size[0]", [f"++{place}"], found)

    def taken_apart(self, value: Value, count: int, node: ast.AST) -> list[Value]:
        if not is_tensor(value) or takes_rest(node):
            return super().taken_apart(value, count, node)
        if not value.type.rank:
            raise refuse(node, "takes a number apart")
        value = self.keep(value)
        self.emit(f"walked({value.code});")
        self.emit(f"if ({value.code}.size[0] != {count}) bail(KIND);")
        made = Ten(value.type.dtype, value.type.rank - 1)
        return [Value(made, f"pick<0>({value.code}, I({place}))") for place in range(count)]

    # ------------------------------------------------------------ attributes

    def of_Attribute(self, node: ast.Attribute) -> Value:
        if node.attr in ("shape", "dtype", "device", "T", "values", "indices") and self.resolved(node) is None:
            type_ = self.peek(node.value)
            type_ = type_.inner if isinstance(type_, Maybe) else type_
            if isinstance(type_, Ten | Either):
                owner = self.present(self.expression(node.value))
                if isinstance(type_, Either):
                    owner = Value(type_.tensor, f"tensor_of({owner.code})")
                return self.of_tensor(owner, node)
            if isinstance(type_, Tup) and len(type_.items) == 2 and node.attr in ("values", "indices"):
                return self.fields(self.keep(self.expression(node.value)))[node.attr == "indices"]
        if isinstance(found := self.resolved(node), torch.dtype):
            return Value(Fixed(found), "None_()")
        return super().of_Attribute(node)

    def of_tensor(self, owner: Value, node: ast.Attribute) -> Value:
        if node.attr == "shape":
            return self.shape_of(owner)
        if node.attr == "dtype":
            return Value(Fixed(getattr(torch, owner.type.dtype)), "None_()")
        if node.attr == "device":
            return Value(Fixed(torch.device("cpu")), "None_()")
        if node.attr == "T" and owner.type.rank == 2:
            return Value(owner.type, f"turned({owner.code})")
        raise refuse(node, "is no attribute of a tensor here")

    def shape_of(self, owner: Value) -> Value:
        owner = self.keep(owner)
        sizes = [Value(INT, f"{owner.code}.size[{axis}]") for axis in range(owner.type.rank)]
        return self.tuple_of(sizes, named=True)

    def integer_of(self, value: Value, node: ast.AST) -> str:
        return as_int(self.number_of(value), node)


_INTEGER = ("add", "sub", "mul", "neg", "abs", "square", "sign", "maximum", "minimum", "floordiv", "mod", "pos",
            "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "isnan", "isinf", "isfinite")  # fmt: skip
_LOGIC = ("logical_and", "logical_or", "logical_xor")
_TESTS = ("isnan", "isinf", "isfinite", "signbit")


def subscripts(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def is_place(part: ast.expr) -> bool:
    """Whether a subscript stands for one position."""
    return not (isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value in (None, ...)))


def _of_lower_rank(types: list[Any]) -> int | None:
    """Which of two types has tensors of fewer dimensions than the other, so that no name can be of both."""
    tensors = [one.tensor if isinstance(one, Either) else one for one in types]
    if not all(isinstance(one, Ten) for one in tensors) or tensors[0].rank == tensors[1].rank:
        return None
    return 0 if tensors[0].rank < tensors[1].rank else 1
