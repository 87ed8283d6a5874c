"""Calls of PyTorch's functions and methods in a typed program in, their types and C++ out."""

from __future__ import annotations

import ast
import itertools
import math
import re
from typing import Any

import torch

from looplift.emit import typed_products
from looplift.emit.native_ops import canonical
from looplift.emit.typed_scope import Value, coerced, refuse, truth
from looplift.emit.typed_tensor_made import TensorMaking, by_name, is_constant
from looplift.emit.typed_tensor_ops import INEXACT, is_tensor, known_row, result_of, type_of_result
from looplift.emit.typed_tensors import has_tensor
from looplift.emit.typed_types import (
    DTYPES,
    FLOAT,
    INT,
    NEVER,
    NONE,
    NP_FLOAT,
    NUMBERS,
    SCALARS,
    WHOLE,
    Either,
    Maybe,
    Ten,
    number_type,
    same,
    text_of,
)
from looplift.ops.names import name_of

_FOLDS = {
    "sum": "Fold_sum", "mean": "Fold_mean", "logsumexp": "Fold_logsumexp", "norm": "Fold_norm", "prod": "Fold_prod",
    "any": "Fold_any", "all": "Fold_all", "argmax": "Fold_place<1>", "argmin": "Fold_place<-1>",
    "amax": "Fold_extreme<1, true>", "amin": "Fold_extreme<-1, true>",
}  # fmt: skip
_ROWS = {"softmax": "Row_softmax", "log_softmax": "Row_log_softmax"}
_EXTREMES = {"max": 1, "min": -1}
_BINARY = ("add", "sub", "mul", "truediv", "maximum", "minimum", "logaddexp", "atan2", "hypot", "eq", "ne", "lt", "le",
           "gt", "ge", "logical_and", "logical_or")  # fmt: skip
_UNARY = ("isnan", "isinf", "isfinite")
_CASTS = {"float": "float32", "double": "float64", "long": "int64", "int": "int32", "short": "int16", "bool": "bool"}
_SAME = ("cpu",)


class TensorCalls(TensorMaking):
    """Calls where tensors are made, taken apart or folded."""

    unlinks: bool
    """Whether it detaches what may ask for a gradient: a copy then, which nobody tells from a view."""

    def known(self, function: Any, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        name = torch_name(function)
        if name is None:
            return super().known(function, node, keywords)
        made = getattr(self, f"make_{name}", None)
        if made is not None:
            return made(node, keywords)
        if not node.args:
            raise refuse(node, "is called without arguments")
        return self.tensor_call(name, list(node.args), keywords, node)

    def method(self, node: ast.Call, func: ast.Attribute) -> Value:
        type_ = self.peek(func.value)
        type_ = type_.inner if isinstance(type_, Maybe) else type_
        if not isinstance(type_, Ten | Either):
            return super().method(node, func)
        if not hasattr(torch.Tensor, func.attr):
            raise refuse(node, "calls a method that tensors do not have")
        keywords = {str(one.arg): one.value for one in node.keywords}
        return self.tensor_call(canonical(f"method.{func.attr}")[1], [func.value, *node.args], keywords, node)

    def tensor_call(self, name: str, nodes: list[ast.expr], keywords: dict[str, ast.expr], node: ast.Call) -> Value:
        """A function, or a method, whose first argument is a tensor."""
        if name.startswith("new_") or name.endswith("_like"):
            return self.made_like(name, nodes, keywords, node)
        found = getattr(self, f"tensor_{name}", None)
        owner = self.present(self.expression(nodes[0]))
        if owner.type is NEVER:
            return owner
        if isinstance(owner.type, Either):
            owner = self.keep(owner)
            before = dict(self.renamed)

            def make(one: Value) -> Value:
                if not is_tensor(one):
                    self.emit("bail(KIND);")
                    return Value(NEVER, "None_()")
                self.renamed["the tensor"] = one
                return self.tensor_call(name, [ast.Name("the tensor", ast.Load()), *nodes[1:]], keywords, node)

            result = self.split(owner, make)
            self.renamed = before
            return result
        if found is not None:
            return found(owner, nodes[1:], keywords, node)
        if not is_tensor(owner):
            raise refuse(node, "is not of a tensor")
        if name in _FOLDS or name in _EXTREMES:
            return self.folded_tensor(name, owner, nodes[1:], keywords, node)
        if name in _ROWS:
            return self.rows_of(name, owner, nodes[1:], keywords, node)
        if keywords:
            raise refuse(node, "is called with names")
        if name in typed_products.OF_TENSORS and len(nodes) == 2:
            left, right = self.in_order([lambda: owner, lambda: self.expression(nodes[1])])
            return typed_products.of_tensors(self, left, right, node, typed_products.OF_TENSORS[name])
        if name == "t" and len(nodes) == 1 and owner.type.rank == 2:
            return Value(owner.type, f"turned({owner.code})")
        if name in _SAME and len(nodes) == 1:
            return owner
        if name in _CASTS and len(nodes) == 1:
            return self.cast(owner, _CASTS[name])
        if name in _BINARY and len(nodes) == 2:
            left, right = self._beside(owner, nodes[1])
            return self.noted(name, self.operation(name, left, right))
        if len(nodes) == 1 and (name in _UNARY or (known_row(name) is not None and name not in _BINARY)):
            return self.noted(name, self.operation(name, owner))
        raise refuse(node, "has no form for tensors")

    def _beside(self, owner: Value, *nodes: ast.expr) -> list[Value]:
        """A first argument that was evaluated, and those after it."""
        rest = [lambda one=one: self.present(self.expression(one)) for one in nodes]
        return self.in_order([lambda: owner, *rest])

    def noted(self, name: str, value: Value) -> Value:
        if name in INEXACT or name in ("logaddexp", "logsumexp", "sum", "mean", "norm"):
            self.inexact.add(name)
        return value

    def tensor_pow(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        if len(nodes) != 1 or keywords:
            raise refuse(node, "is called in another way")
        base, exponent = self._beside(owner, nodes[0])
        if NEVER in (base.type, exponent.type):
            return Value(NEVER, "None_()")
        if not has_tensor(base, exponent):
            raise refuse(node, "is a power of numbers")
        return self.power(base, exponent, nodes[0], node)

    # ------------------------------------------------------------ numbers of tensors

    def tensor_item(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        return self.number_of(self.only_element(owner))

    def only_element(self, owner: Value) -> Value:
        """Of a tensor the one element that it must have; other values as they are."""
        if not is_tensor(owner) or not owner.type.rank:
            return owner
        owner = self.keep(owner)
        self.emit(f"if (count_of({owner.code}) != 1) bail(KIND);")
        for _ in range(owner.type.rank):
            owner = self.keep(self.picked(owner, Value(INT, "I(0)"), 0, ast.Constant(0)))
        return owner

    def tensor_tolist(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        rank = owner.type.rank
        if rank == 0:
            return self.number_of(owner)
        kind = number_type(owner.type.dtype)
        box: Any = self.box(node, "list", 1)
        self.joins.widen(box, 0, kind)
        for depth in range(1, rank):
            outer: Any = self.box(node, "list", 1, f"outer{depth}")
            self.joins.widen(outer, 0, box)
            box = outer.find()
        if rank > 2:
            raise refuse(node, "makes lists of lists of lists")
        return self.keep(Value(box.find(), f"listed_of<{text_of(kind)}>({owner.code})"))

    def tensor_size(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        shape = self.shape_of(owner)
        if not nodes:
            return shape
        return self.fields(self.keep(shape))[self.axis_of(nodes[0], owner.type.rank, node)]

    def tensor_dim(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        return Value(INT, f"I({owner.type.rank})")

    def tensor_numel(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        return Value(INT, f"count_of({text_of(owner.type)}({owner.code}))")

    def tensor_clone(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        return self.mapped("Op_same()", owner.type, owner.type.dtype, owner)

    def tensor_detach(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        """A view, or a copy without a history where gradients are wanted."""
        if nodes or keywords:
            raise refuse(node, "is called in another way")
        self.unlinks |= self.joins.tracked
        return self.keep(Value(owner.type, f"{'unlinked' if self.joins.tracked else 'detached'}({owner.code})"))

    def tensor_squeeze(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        """A view without a dimension of one element."""
        given = nodes or [*keywords.values()] or [ast.Constant(0)]
        if len(given) > 1 or not {*keywords} <= {"dim"} or (owner.type.rank != 1 and not (nodes or keywords)):
            raise refuse(node, "is called in another way")
        axis = self.axis_of(given[0], max(owner.type.rank, 1), node)
        if not owner.type.rank:
            raise refuse(node, "leaves no dimension out")
        owner = self.keep(owner)
        self.emit(f"if ({owner.code}.size[{axis}] != 1) bail(KIND);")
        return self.keep(self.picked(owner, Value(INT, "I(0)"), axis, node))

    def tensor_contiguous(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        """A view or a copy, which are one as long as nothing changes."""
        if nodes[1:] or keywords:
            raise refuse(node, "is called in another way")
        if owner.type.rank:
            owner = self.viewed(owner)
            self.emit(f"fix({owner.code});")
        return owner

    def tensor_reshape(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        """All elements in a row, or in rows: a view or a copy, which are one as long as nothing changes."""
        return self._in_shape(owner, nodes or [*keywords.values()], node, is_fixed=True)

    def tensor_view(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        """The elements of a row, which any strides allow."""
        if is_tensor(owner) and owner.type.rank > 1:
            raise refuse(node, "depends on how a tensor lies in memory; 'reshape' does not")
        return self._in_shape(owner, nodes if not keywords else [], node, is_fixed=False)

    def _in_shape(self, owner: Value, nodes: list[ast.expr], node: ast.Call, *, is_fixed: bool) -> Value:
        if not nodes or not is_tensor(owner) or any(isinstance(self.fixed(one), torch.dtype) for one in nodes):
            raise refuse(node, "takes another shape")
        listed = len(nodes) == 1 and isinstance(nodes[0], ast.Tuple | ast.List)
        owner = self.keep(owner)
        sizes = self.sizes_in(nodes[0], node) if listed else self.sizes(nodes, node)
        if len(sizes) not in (1, 2):
            raise refuse(node, "takes a shape of other dimensions than one or two")
        owner = self.viewed(owner) if owner.type.rank else self.widened(owner, 0)
        if is_fixed:
            self.emit(f"fix({owner.code});")
        made = f"in_shape({', '.join((f'flat({owner.code})', *sizes))})"
        return self.keep(Value(Ten(owner.type.dtype, len(sizes)), made))

    def tensor_flatten(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        if nodes or keywords or not owner.type.rank:
            raise refuse(node, "takes another shape")
        owner = self.viewed(owner)
        self.emit(f"fix({owner.code});")
        return self.keep(Value(Ten(owner.type.dtype, 1), f"flat({owner.code})"))

    def tensor_unsqueeze(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        return self.widened(self.keep(owner), self.axis_of(nodes[0], owner.type.rank + 1, node))

    def tensor_t(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        if owner.type.rank != 2:
            raise refuse(node, "turns what is no matrix")
        return Value(owner.type, f"turned({owner.code})")

    def tensor_to(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        wanted = self.dtype_in(nodes, keywords, node)
        return owner if wanted is None else self.cast(owner, wanted)

    tensor_type = tensor_to

    def cast(self, owner: Value, dtype: str) -> Value:
        if owner.type.dtype == dtype:
            return owner
        if dtype in WHOLE and owner.type.dtype not in WHOLE:
            raise refuse(None, "floats become integers")
        made = Ten(dtype, owner.type.rank)
        test = "ops::Op_ne()" if dtype == "bool" else ""
        if test:
            raise refuse(None, "numbers become booleans")
        return self.mapped(f"Op_cast<{DTYPES[dtype]}>()", made, owner.type.dtype, owner)

    def tensor_clamp(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        given = by_name(("min", "max"), nodes, keywords, node)
        if not set(given) <= {"min", "max"} or not given:
            raise refuse(node, "clamps in a way of its own")
        bounds = {}
        owner, *values = self._beside(owner, *given.values())
        for name, value in zip(given, values, strict=True):
            if value.type in (INT, FLOAT):
                bounds[name] = self.held(value, owner.type.dtype).code
            elif value.type is not NONE:
                raise refuse(node, "clamps to what is no number")
        if owner.type.dtype not in ("float32", "float64"):
            raise refuse(node, "clamps integers")
        text = DTYPES[owner.type.dtype]
        low, high = (f"({text}){bounds[name]}" if name in bounds else f"{text}()" for name in ("min", "max"))
        flags = ", ".join(str(name in bounds).lower() for name in ("min", "max"))
        return self.mapped(f"Op_clamp<{text}>{{{flags}, {low}, {high}}}", owner.type, owner.type.dtype, owner)

    tensor_clip = tensor_clamp

    def tensor_dot(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        owner, other = self._beside(owner, nodes[0])
        if not (is_tensor(other) and other.type.rank == owner.type.rank == 1 and other.type == owner.type):
            raise refuse(node, "is no product of two rows")
        owner, other = self.keep(owner), self.keep(other)
        self.emit(f"if ({owner.code}.size[0] != {other.code}.size[0]) bail(KIND);")
        return self.fold("sum", self.operation("mul", owner, other), None, False)

    def tensor_linear(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        given = by_name(("weight", "bias"), nodes, keywords, node)
        if not is_tensor(owner) or not {"weight"} <= {*given} <= {"weight", "bias"}:
            raise refuse(node, "is called in another way")
        owner = self.keep(owner)
        weight, *rest = (self.keep(one) for one in self.several(*(given[k] for k in ("weight", "bias") if k in given)))
        if not is_tensor(weight) or weight.type.rank != 2:
            raise refuse(node, "is no layer of rows")
        return self.linear(owner, weight, rest[0] if rest and rest[0].type is not NONE else None, node)

    def linear(self, x: Value, weight: Value, bias: Value | None, node: ast.AST) -> Value:
        """A row, or several, times the rows of a matrix."""
        if x.type.rank == 2:
            made = typed_products.of_tensors(self, x, Value(weight.type, f"turned({weight.code})"), node)
        elif x.type.rank == 1:
            made = typed_products.of_tensors(self, weight, x, node)
        else:
            raise refuse(node, "is a layer of more dimensions")
        if bias is None:
            return made
        if not is_tensor(bias) or bias.type.rank != 1:
            raise refuse(node, "adds what is no row")
        made, bias = self.keep(made), self.keep(bias)
        self.emit(f"if ({bias.code}.size[0] != {weight.code}.size[0]) bail(KIND);")
        return self.operation("add", made, bias)

    def tensor_chunk(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        """Views of equal parts along the last axis, or the first one."""
        given = by_name(("chunks", "dim"), nodes, keywords, node)
        if not is_tensor(owner) or not owner.type.rank or not all(map(is_constant, given.values())) or not given:
            raise refuse(node, "is called in another way")
        count, rank = ast.literal_eval(given["chunks"]), owner.type.rank
        axis = self.axis_of(given["dim"], rank, node) if "dim" in given else 0
        owner = self.keep(owner)
        self.emit(f"walked({owner.code});")
        size, name = self.keep(Value(INT, f"({owner.code}.size[{axis}] / {count})")), f"the value {self.fresh()}"
        self.emit(f"if ({owner.code}.size[{axis}] % {count} || !{owner.code}.size[{axis}]) bail(KIND);")
        self.renamed |= {name: owner, f"{name}, a part": size}
        part: ast.expr = ast.Name(f"{name}, a part", ast.Load())
        bounds = [ast.BinOp(part, ast.Mult(), ast.Constant(k)) for k in range(count + 1)]
        slices = [ast.Slice(low, high) for low, high in itertools.pairwise(bounds)]
        whole = [ast.Slice() for _ in range(axis)]
        places = [ast.Tuple([*whole, one], ast.Load()) if axis else one for one in slices]
        views = [ast.Subscript(ast.Name(name, ast.Load()), place, ast.Load()) for place in places]
        return self.tuple_of([self.keep(self.expression(one)) for one in views])

    def tensor_leaky_relu(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        nodes = [*nodes, *([keywords["negative_slope"]] if "negative_slope" in keywords else [])]
        if not is_tensor(owner) or len(nodes) > 1 or not {*keywords} <= {"negative_slope"}:
            raise refuse(node, "is called in another way")
        owner, slope = self._beside(owner, nodes[0]) if nodes else (owner, Value(FLOAT, "0.01"))
        if slope.type not in (INT, FLOAT):
            raise refuse(node, "has a slope that is no number of Python's")
        return self.operation("leaky_relu", owner, slope)

    def tensor_dist(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        if len(nodes) != 1 or keywords:
            raise refuse(node, "is another distance")
        owner, other = self._beside(owner, nodes[0])
        self.inexact.add("norm")
        return self.fold("norm", self.operation("sub", owner, other), None, False)

    def make_where(self, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        if len(node.args) != 3 or keywords:
            raise refuse(node, "is called in another way")
        test, yes, no = map(self.present, self.several(*node.args))
        if not is_tensor(test) or any(not is_tensor(one) and one.type not in NUMBERS for one in (yes, no)):
            raise refuse(node, "chooses between other values")
        if test.type.dtype != "bool":
            raise refuse(node, "chooses by what is no boolean")
        if not has_tensor(yes, no):
            raise refuse(node, "chooses between numbers")
        if any(is_tensor(one) and one.type.rank for one in (test, yes, no)):
            return self.chosen(*map(self.keep, (test, yes, no)))
        made, dtype = result_of("add", yes.type, no.type)
        yes, no = (self.held(one, dtype) for one in (yes, no))
        code = f"Op_select<{DTYPES[dtype]}>{{{truth(test)}}}"
        return self.mapped(code, made, dtype, yes, no)

    def chosen(self, test: Value, yes: Value, no: Value) -> Value:
        """The elements of one where a test holds, and those of another elsewhere: what either has, beside zeros."""
        made, dtype = result_of("add", yes.type, no.type)
        yes, no = (self.held(one, dtype) for one in (yes, no))
        sides = []
        for on, one in (("true", yes), ("false", no)):
            rank = max(test.type.rank, one.type.rank if is_tensor(one) else 0)
            sides.append(self.keep(self.mapped(f"Op_gate{{{on}}}", Ten(dtype, rank), dtype, test, one)))
        whole = Ten(dtype, max(made.rank, test.type.rank))
        return self.keep(self.mapped("Op_union()", whole, dtype, *sides))

    # ------------------------------------------------------------ folds

    def folded_tensor(
        self, name: str, owner: Value, nodes: list[ast.expr], keywords: dict[str, ast.expr], node: ast.Call
    ) -> Value:
        order = ("p", "dim", "keepdim") if name == "norm" else ("dim", "keepdim")
        given = by_name(order, nodes, keywords, node)
        if name in _EXTREMES and nodes and not is_constant(nodes[0]):
            owner, other = self._beside(owner, nodes[0])
            if len(nodes) == 1 and not keywords and is_tensor(other):
                return self.operation("maximum" if name == "max" else "minimum", owner, other)
        if not set(given) <= set(order) or ("p" in given and ast.unparse(given["p"]) not in ("2", "2.0", "None")):
            raise refuse(node, "is called in another way")
        keep = ast.literal_eval(given["keepdim"]) if "keepdim" in given and is_constant(given["keepdim"]) else False
        if ("keepdim" in given and not is_constant(given["keepdim"])) or (name == "logsumexp" and "dim" not in given):
            raise refuse(node, "is called in another way")
        axis = None
        if "dim" in given and not (is_constant(given["dim"]) and ast.literal_eval(given["dim"]) is None):
            axis = self.axis_of(given["dim"], max(owner.type.rank, 1), node)
        self.noted(name, owner)
        if name in _EXTREMES and axis is not None:
            return self.extreme_along(name, owner, axis, keep, node)
        return self.fold(name, owner, axis, keep)

    def fold(self, name: str, owner: Value, axis: int | None, keep: bool) -> Value:
        fold = f"Fold_extreme<{_EXTREMES[name]}, true>" if name in _EXTREMES else _FOLDS[name]
        return self.folding(name, fold, owner, axis, keep)

    def _folding_all(self, types: str, fold: str, owner: Value) -> str:
        """A fold of all elements; of those of a list that were put together for it alone, as they are in the list."""
        made = re.fullmatch(
            rf"Ten<(\w+), 1> {owner.code} = stacked<\w+, 1>\((.*)\);", self.lines[-1] if self.lines else ""
        )
        if made is None:
            return f"fold_all<{types}>({fold}(), {owner.code})"
        self.lines.pop()
        return f"fold_list<{types}, {made[1]}>({fold}(), {made[2]})"

    def folding(self, name: str, fold: str, owner: Value, axis: int | None, keep: bool) -> Value:
        made = Ten(folded_dtype(name, owner.type), 0)
        dtype = made.dtype if name in ("sum", "prod") else owner.type.dtype
        types = f"{DTYPES[dtype]}, {DTYPES[made.dtype]}"
        if axis is None or not owner.type.rank:
            if keep and owner.type.rank:
                raise refuse(None, "a fold that keeps dimensions")
            return Value(made, self._folding_all(types, fold, owner))
        if owner.type.rank == 1:
            found = Value(made, self._folding_all(types, fold, owner))
            return self.widened(self.keep(found), axis) if keep else found
        rank = owner.type.rank - 1
        self.makes_rows = True
        found = self.keep(Value(Ten(made.dtype, rank), f"fold_axis<{types}, {axis}>({fold}(), {owner.code})"))
        return self.widened(found, axis) if keep else found

    def extreme_along(self, name: str, owner: Value, axis: int, keep: bool, node: ast.AST) -> Value:
        owner = self.keep(owner)
        sign = _EXTREMES[name]
        values = self.keep(self.folding("amax", f"Fold_extreme<{sign}, false>", owner, axis, keep))
        places = self.keep(self.folding("argmax", f"Fold_place<{sign}>", owner, axis, keep))
        return self.tuple_of([values, places], named=True)

    def rows_of(
        self, name: str, owner: Value, nodes: list[ast.expr], keywords: dict[str, ast.expr], node: ast.Call
    ) -> Value:
        given = by_name(("dim",), nodes, keywords, node)
        if set(given) != {"dim"} or not owner.type.rank or owner.type.dtype not in ("float32", "float64"):
            raise refuse(node, "is called in another way")
        self.inexact.add(name)
        self.makes_rows = True
        axis = self.axis_of(given["dim"], owner.type.rank, node)
        return self.keep(Value(owner.type, f"each_row<{axis}>({_ROWS[name]}(), {owner.code})"))

    # ------------------------------------------------------------ Python's own functions

    def call_len(self, node: ast.Call, *values: Value) -> Value:
        if len(values) == 1 and is_tensor(values[0]) and values[0].type.rank:
            return Value(INT, f"{self.keep(values[0]).code}.size[0]")
        return super().call_len(node, *values)

    def call_float(self, node: ast.Call, *values: Value) -> Value:
        return super().call_float(node, *(self.number_of(self.only_element(value)) for value in values))

    def call_int(self, node: ast.Call, *values: Value) -> Value:
        return super().call_int(node, *(self.number_of(self.only_element(value)) for value in values))

    def call_bool(self, node: ast.Call, *values: Value) -> Value:
        return super().call_bool(node, *(self.number_of(self.only_element(value)) for value in values))

    def call_abs(self, node: ast.Call, value: Value) -> Value:
        if is_tensor(value):
            return self.operation("abs", value)
        if isinstance(value.type, Either):
            return self.split(self.keep(value), lambda one: self.call_abs(node, one))
        return super().call_abs(node, value)

    def of_math(self, function: Any, node: ast.Call) -> Value:
        if function is math.trunc and node.args:
            type_ = self.peek(node.args[0])
            if isinstance(type_, Ten | Either) or (type_ in SCALARS and type_ is not NP_FLOAT):
                raise refuse(node, "asks a value for a method that it has not")
        return super().of_math(function, node)

    def math_values(self, values: list[Value]) -> list[Value]:
        return [self.number_of(value) for value in values]

    def total(self, node: ast.Call) -> Value:
        if not self._sums_tensors(node):
            return super().total(node)
        if len(node.args) == 2 and not self.may_come_first(node.args[1], node.args[0]):
            raise refuse(node, "evaluates what it begins with in an order of its own")
        start = self.present(self.expression(node.args[1])) if len(node.args) == 2 else Value(INT, "I(0)")
        name, types = self.fresh(), [start.type]

        def step(value: Value) -> None:
            found = self.binary(ast.Add, Value(types[0], name), self.present(value), node)
            types[0] = self.joins.join(types[0], found.type)
            self.emit(f"{name} = {coerced(found, types[0])};")

        before: Any = NEVER
        lines: list[str] = []
        while not same(types[0], before):  # until the sum is of the type of its items, too
            before = types[0]
            with self.block() as found:
                self.folded(node.args[0], step)
            lines = found
        self.emit(f"{text_of(types[0])} {name} = {coerced(start, types[0])};")
        self.lines += lines
        return Value(types[0], name)

    def _sums_tensors(self, node: ast.Call) -> bool:
        found: list[Any] = []
        before = set(self.bound)
        with self.block():
            self.folded(node.args[0], lambda value: found.append(value.type))
        self.bound = before
        return any(isinstance(one.inner if isinstance(one, Maybe) else one, Ten | Either) for one in found)


def folded_dtype(name: str, type_: Ten) -> str:
    """The dtype of a fold's result."""
    value = torch.ones([2] * type_.rank, dtype=getattr(torch, type_.dtype))
    function = {"norm": torch.linalg.vector_norm, "logsumexp": lambda x: torch.logsumexp(x, 0)}.get(name)
    try:
        return type_of_result((function or getattr(torch, name))(value)).dtype
    except RuntimeError as error:
        raise refuse(None, f"'{name}': {error}") from None


def torch_name(function: Any) -> str | None:
    """The name of one of PyTorch's functions."""
    name = getattr(function, "__name__", "")
    for module in (torch, torch.nn.functional, torch.special, torch.linalg):
        if name and getattr(module, name, None) is function and function is not None:
            return canonical(f"torch.{name}")[1]
    known = (name_of(function) if callable(function) else None) or ""  # as what is called log_sigmoid by itself
    return canonical(f"torch.{known.rpartition('.')[2]}")[1] if known.startswith("torch.") else None
