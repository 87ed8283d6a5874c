"""Operations of rows and small matrices in, calls of their formulas in typed programs out."""

from __future__ import annotations

import ast
from typing import Any

from looplift.emit import typed_formulas
from looplift.emit.typed_expressions import element, is_box
from looplift.emit.typed_losses import Losses
from looplift.emit.typed_scope import Value, needed, refuse
from looplift.emit.typed_tensor_made import is_constant
from looplift.emit.typed_tensor_ops import is_tensor
from looplift.emit.typed_types import BOOL, INT, NEVER, NUMBERS, Box

REQUIRED = object()
"""Of a parameter that has no default."""


class Composed(Losses):
    """Calls of functions of ``typed_formulas.py``."""

    def _given(self, order: dict[str, Any], nodes: list, keywords: dict, node: ast.Call) -> dict[str, ast.expr]:
        """The arguments behind the first by name, constants for what is not given."""
        given = dict(zip(order, nodes)) | keywords
        lacking = any(default is REQUIRED and name not in given for name, default in order.items())
        if len(nodes) > len(order) or not {*given} <= {*order} or lacking:
            raise refuse(node, "is called in another way")
        return {name: given.get(name, ast.Constant(default)) for name, default in order.items()}

    def _constant_of(self, node: ast.expr, call: ast.Call) -> Any:
        if not is_constant(node):
            raise refuse(call, "is called in another way")
        return ast.literal_eval(node)

    def _row(self, owner: Value, node: ast.Call, *ranks: int) -> Value:
        if not is_tensor(owner) or owner.type.rank not in (ranks or (1,)) or "float" not in owner.type.dtype:
            raise refuse(node, "is of other values than rows of floats")
        return self.keep(owner)

    def _values(self, owner: Value, nodes: list[ast.expr]) -> list[Value]:
        """The first operand and others, computed in their order."""
        read = [lambda one=one: self.present(self.expression(one)) for one in nodes]
        return list(map(self.keep, self.in_order([lambda: owner, *read])))

    def _check_alike(self, values: list[Value], node: ast.Call) -> None:
        if not all(is_tensor(one) and one.type == values[0].type for one in values):
            raise refuse(node, "is of values of several kinds")

    def _check_along(self, axis: Any, rank: int, node: ast.Call) -> None:
        """Operations of rows go along their last dimension."""
        if type(axis) is not int or axis not in (-1, rank - 1):
            raise refuse(node, "goes along another dimension")

    # ------------------------------------------------------------ several rows at once

    def picked(self, owner: Value, index: Value, axis: int, node: ast.AST) -> Value:
        """``x[x > 0]`` and ``x[places]``, which copy, where they are read."""
        if self.may_become_known(element(index) if is_box(index, "list") else needed(index).type):
            return Value(NEVER, "None_()")
        is_read = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
        is_read &= not isinstance(getattr(node, "slice", None), ast.Tuple)
        if not is_read or not is_tensor(owner) or owner.type.rank not in (1, 2) or "float" not in owner.type.dtype:
            return super().picked(owner, index, axis, node)
        assert isinstance(node, ast.Subscript)
        call = ast.copy_location(ast.Call(node.value, [], []), node)
        if is_tensor(index) and index.type.rank == 1 and index.type.dtype == "bool":
            return self._by_function(typed_formulas.masked_select, [self.keep(owner), self.keep(index)], call)
        if _are_places(index):
            return self._by_function(typed_formulas.taken, [self.keep(owner), self.keep(index)], call)
        return super().picked(owner, index, axis, node)

    def tensor_index_select(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        given = self._given({"dim": REQUIRED, "index": REQUIRED}, nodes, keywords, node)
        owner, index = self._values(self._row(owner, node, 1, 2), [given["index"]])
        axis = self._constant_of(given["dim"], node)
        if type(axis) is not int or axis != 0 or not is_tensor(index) or index.type.rank != 1:
            raise refuse(node, "takes rows along another dimension")
        if index.type.dtype not in ("int64", "int32"):
            raise refuse(node, "takes rows at what are no places")
        return self._by_function(typed_formulas.taken_from_start, [owner, index], node)

    # ------------------------------------------------------------ of several operands

    def tensor_outer(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        given = self._given({"vec2": REQUIRED}, nodes, keywords, node)
        values = self._values(self._row(owner, node), [given["vec2"]])
        self._check_alike(values, node)
        return self._by_function(typed_formulas.outer, values, node)

    tensor_ger = tensor_outer

    def tensor_addcmul(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        return self._added(typed_formulas.addcmul, typed_formulas.addcmul_by_one, owner, nodes, keywords, node)

    def tensor_addcdiv(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        return self._added(typed_formulas.addcdiv, typed_formulas.addcdiv_by_one, owner, nodes, keywords, node)

    def _added(self, function: Any, by_one: Any, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        given = self._given({"tensor1": REQUIRED, "tensor2": REQUIRED, "value": 1}, nodes, keywords, node)
        is_one = is_constant(given["value"]) and ast.literal_eval(given["value"]) == 1
        owner = self._row(owner, node, 0, 1, 2)
        values = self._values(owner, [given["tensor1"], given["tensor2"], *([] if is_one else [given["value"]])])
        self._check_alike(values[:3], node)
        if not is_one and values[3].type not in NUMBERS:
            raise refuse(node, "is called in another way")
        return self._by_function(by_one if is_one else function, values, node)

    def tensor_lerp(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        given = self._given({"end": REQUIRED, "weight": REQUIRED}, nodes, keywords, node)
        values = self._values(self._row(owner, node, 0, 1, 2), [given["end"], given["weight"]])
        self._check_alike(values[:2], node)
        if values[2].type not in NUMBERS:
            raise refuse(node, "is weighted by what is no number")
        return self._by_function(typed_formulas.lerp, values, node)

    def tensor_masked_fill(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        given = self._given({"mask": REQUIRED, "value": REQUIRED}, nodes, keywords, node)
        owner, mask, value = self._values(owner, [given["mask"], given["value"]])
        fits = {"float32": NUMBERS, "float64": NUMBERS, "int64": (INT, BOOL), "bool": (BOOL,)}
        is_known = is_tensor(owner) and value.type in fits.get(owner.type.dtype, ())
        if not is_known or not is_tensor(mask) or mask.type.dtype != "bool":
            raise refuse(node, "is filled in another way")
        return self.chosen(mask, value, owner)

    def tensor_masked_select(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        given = self._given({"mask": REQUIRED}, nodes, keywords, node)
        values = self._values(self._row(owner, node), [given["mask"]])
        if not is_tensor(values[1]) or values[1].type.dtype != "bool" or values[1].type.rank != 1:
            raise refuse(node, "is chosen from in another way")
        return self._by_function(typed_formulas.masked_select, values, node)

    # ------------------------------------------------------------ of a row

    def tensor_normalize(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        given = self._given({"p": 2.0, "dim": 1, "eps": 1e-12}, nodes, keywords, node)
        owner = self._row(owner, node)
        self._check_along(self._constant_of(given["dim"], node), owner.type.rank, node)
        if self._constant_of(given["p"], node) != 2:
            raise refuse(node, "is called in another way")
        self.inexact.add("norm")
        return self._by_function(typed_formulas.normalize, self._values(owner, [given["eps"]]), node)

    def tensor_layer_norm(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        order = {"normalized_shape": REQUIRED, "weight": None, "bias": None, "eps": 1e-5}
        given = self._given(order, nodes, keywords, node)
        shape = given["normalized_shape"]
        if not isinstance(shape, ast.Tuple | ast.List) or len(shape.elts) != 1:
            raise refuse(node, "is called in another way")
        others = [given[name] for name in ("weight", "bias") if not _is_none(given[name])]
        first, size, eps, *more = self._values(self._row(owner, node), [shape.elts[0], given["eps"], *others])
        self._check_alike([first, *more], node)
        if size.type is not INT:
            raise refuse(node, "is of another size")
        more = [self.keep(self._by_function(typed_formulas.finite, [one], node)) for one in more]
        found = self.keep(self._by_function(typed_formulas.layer_norm, [first, size, eps], node))
        for name in ("weight", "bias"):
            if not _is_none(given[name]):
                found = self.keep(self.operation("mul" if name == "weight" else "add", found, more.pop(0)))
        return found

    def tensor_var(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        return self._spread_of(typed_formulas.var, owner, nodes, keywords, node)

    def tensor_std(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        return self._spread_of(typed_formulas.std, owner, nodes, keywords, node)

    def _spread_of(self, function: Any, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        given = [self._constant_of(one, node) for one in nodes]
        named = {name: self._constant_of(one, node) for name, one in keywords.items()}
        order = ("unbiased",) if len(given) == 1 and type(given[0]) is bool else ("dim", "unbiased")
        every = dict(zip(order, given)) | named
        kinds = {"dim": (int, type(None)), "unbiased": (bool,), "correction": (int,)}
        known = all(type(value) in kinds.get(name, ()) for name, value in every.items())
        lost = [every[name] for name in ("unbiased", "correction") if name in every]
        if len(every) < len(given) + len(named) or len(given) > len(order) or not known or len(lost) > 1:
            raise refuse(node, "is called in another way")
        owner = self._row(owner, node)
        if every.get("dim") is not None:
            self._check_along(every["dim"], 1, node)
        return self._by_function(function, [owner, self.constant(int(*lost) if lost else 1)], node)

    def tensor_cumsum(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        function = typed_formulas.cumsum_of_singles if _has_dtype(owner, "float32") else typed_formulas.cumsum
        return self._along(function, owner, nodes, keywords, node)

    def tensor_cumprod(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        if not _has_dtype(owner, "float64", "int64"):  # of 32 bits it is of 64 in between
            raise refuse(node, "is of other values than rows of 64 bits")
        return self._along(typed_formulas.cumprod, owner, nodes, keywords, node)

    def _along(self, function: Any, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        """What goes along a row, of floats or integers."""
        given = self._given({"dim": REQUIRED}, nodes, keywords, node)
        owner = self._row_of_numbers(owner, node)
        self._check_along(self._constant_of(given["dim"], node), 1, node)
        return self._by_function(function, [owner], node)

    def _row_of_numbers(self, owner: Value, node: ast.Call) -> Value:
        if not _has_dtype(owner, "float32", "float64", "int64") or owner.type.rank != 1:
            raise refuse(node, "is of other values than rows of numbers")
        return self.keep(owner)

    def tensor_diff(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        self._given({}, nodes, keywords, node)
        return self._by_function(typed_formulas.diff, [self._row_of_numbers(owner, node)], node)

    def tensor_count_nonzero(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        self._given({}, nodes, keywords, node)
        if not is_tensor(owner) or not owner.type.rank:
            raise refuse(node, "is of other values than rows")
        return self._by_function(typed_formulas.count_nonzero, [self.keep(owner)], node)

    def tensor_unique(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        self._given({}, nodes, keywords, node)
        return self._by_function(typed_formulas.unique, [self._row_of_integers(owner, node)], node)

    def tensor_bincount(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        given = self._given({"weights": None, "minlength": 0}, nodes, keywords, node)
        if not _is_none(given["weights"]):
            raise refuse(node, "adds weights")
        values = self._values(self._row_of_integers(owner, node), [given["minlength"]])
        if values[1].type is not INT:
            raise refuse(node, "is called in another way")
        return self._by_function(typed_formulas.bincount, values, node)

    def _row_of_integers(self, owner: Value, node: ast.Call) -> Value:
        if not _has_dtype(owner, "int64") or owner.type.rank != 1:
            raise refuse(node, "is of other values than rows of integers")
        return self.keep(owner)

    def tensor_gather(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        if not is_tensor(owner) or owner.type.rank != 1:
            raise refuse(node, "takes elements of what is no row")
        given = self._given({"dim": REQUIRED, "index": REQUIRED}, nodes, keywords, node)
        owner, index = self._values(self._row(owner, node), [given["index"]])
        self._check_along(self._constant_of(given["dim"], node), 1, node)
        return self._by_function(typed_formulas.taken_from_start, [owner, self._row_of_integers(index, node)], node)

    def make_arange(self, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        if keywords or not 1 <= len(node.args) <= 3:
            raise refuse(node, "is made in a way of its own")
        values = list(map(self.keep, self.several(*node.args)))
        if any(one.type is not INT for one in values):
            raise refuse(node, "counts in other steps than integers")
        zero, one = Value(INT, "I(0)"), Value(INT, "I(1)")
        values = [zero, *values, one] if len(values) == 1 else [*values, one][:3]
        return self._by_function(typed_formulas.arange, values, node)

    # ------------------------------------------------------------ of rows in another order

    def tensor_flip(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        dims = [*nodes, *keywords.values()]
        axes = self._constant_of(dims[0], node) if len(dims) == 1 and {*keywords} <= {"dims"} else None
        owner = self._row(owner, node, 1, 2)
        (axis,) = axes if isinstance(axes, tuple | list) and len(axes) == 1 else (axes,)
        if type(axis) is not int or axis not in (0, -owner.type.rank):
            raise refuse(node, "turns other dimensions around than the first")
        return self._by_function(typed_formulas.flip, [owner], node)

    def tensor_roll(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        given = self._given({"shifts": REQUIRED, "dims": None}, nodes, keywords, node)
        axis = None if _is_none(given["dims"]) else self._constant_of(given["dims"], node)
        owner = self._row(owner, node, 1, 2)
        if not (type(axis) is int and axis == 0) and not (axis is None and owner.type.rank == 1):
            raise refuse(node, "moves along other dimensions than the first")
        values = self._values(owner, [given["shifts"]])
        if values[1].type is not INT:
            raise refuse(node, "moves by what is no integer")
        return self._by_function(typed_formulas.roll, values, node)

    def tensor_sort(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        order: dict[str, Any] = {"dim": -1, "descending": False}
        if nodes and is_constant(nodes[0]) and type(ast.literal_eval(nodes[0])) is bool:
            raise refuse(node, "is called in another way")
        return self._in_order(typed_formulas.sorted_row, order | {"stable": False}, owner, nodes, keywords, node)

    def tensor_argsort(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        found = self.keep(self.tensor_sort(owner, nodes, keywords, node))
        return found if found.type is NEVER else self.fields(found)[1]

    def tensor_topk(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        order = {"k": REQUIRED, "dim": -1, "largest": True, "sorted": True}
        return self._in_order(typed_formulas.top_of_row, order, owner, nodes, keywords, node)

    def _in_order(self, function: Any, order: dict, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        """Elements of a row and their places, as two tensors."""
        given = self._given(order, nodes, keywords, node)
        if not is_tensor(owner) or owner.type.rank != 1 or owner.type.dtype == "bool":
            raise refuse(node, "is of other values than rows of numbers")
        flags = {name: self._constant_of(one, node) for name, one in given.items() if name != "k"}
        self._check_along(flags.pop("dim"), 1, node)
        if not all(type(flag) is bool for flag in flags.values()) or not flags.pop("sorted", True):
            raise refuse(node, "is called in another way")
        values = self._values(owner, [given["k"]] if "k" in given else [])
        if any(one.type is not INT for one in values[1:]):
            raise refuse(node, "asks for what is no number of elements")
        found = self.keep(self._by_function(function, [*values, *map(self.constant, flags.values())], node))
        return found if found.type is NEVER else self.tuple_of(self.fields(found), named=True)

    def known(self, function: Any, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        if function is not typed_formulas.places_in:
            return super().known(function, node, keywords)
        box: Any = self.box(node, "list", 1)
        self.joins.widen(box, 0, INT)
        given = ", ".join(self.keep(one).code for one in self.several(*node.args))
        return self.keep(Value(box.find(), f"places_in({given})"))

    def tensor_repeat(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        if len(nodes) != 1 or keywords:
            raise refuse(node, "is repeated along several dimensions")
        values = self._values(self._row(owner, node), nodes)
        if values[1].type is not INT:
            raise refuse(node, "is repeated in another way")
        return self._by_function(typed_formulas.repeat, values, node)

    def tensor_repeat_interleave(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        given = self._given({"repeats": REQUIRED}, nodes, keywords, node)
        values = self._values(self._row(owner, node), [given["repeats"]])
        if values[1].type is not INT:
            raise refuse(node, "is repeated in another way")
        return self._by_function(typed_formulas.repeat_interleave, values, node)

    def tensor_transpose(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        given = self._given({"dim0": REQUIRED, "dim1": REQUIRED}, nodes, keywords, node)
        if not is_tensor(owner) or owner.type.rank != 2:
            raise refuse(node, "turns what is no matrix")
        axes = {self.axis_of(one, 2, node) for one in given.values()}
        return Value(owner.type, f"turned({owner.code})") if len(axes) == 2 else owner

    tensor_swapaxes = tensor_transpose

    def tensor_one_hot(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        given = self._given({"num_classes": REQUIRED}, nodes, keywords, node)
        owner, count = self._values(owner, [given["num_classes"]])
        if not is_tensor(owner) or owner.type.rank or owner.type.dtype != "int64" or count.type is not INT:
            raise refuse(node, "is of other values")
        return self._by_function(typed_formulas.one_hot, [owner, count], node)


def _has_dtype(owner: Value, *dtypes: str) -> bool:
    return is_tensor(owner) and owner.type.dtype in dtypes


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _are_places(index: Value) -> bool:
    """Whether a subscript is a row of integers, or a list of Python's."""
    if isinstance(index.type, Box):
        box = index.type.find()
        return box.kind == "list" and box.cells[0] is INT
    return is_tensor(index) and index.type.rank == 1 and index.type.dtype == "int64"
