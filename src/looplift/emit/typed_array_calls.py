"""Functions of NumPy's, attributes and methods of arrays in a typed program in, their types and C++ out."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from looplift.emit import typed_array_axes, typed_array_places, typed_products
from looplift.emit import typed_array_formulas as formulas
from looplift.emit.typed_array_pairs import Pairs
from looplift.emit.typed_arrays import element_text, is_array
from looplift.emit.typed_expressions import element, is_box
from looplift.emit.typed_numpy import BY_LOOPS, is_scalar
from looplift.emit.typed_scope import Value, as_int, as_number, as_size, plain, refuse
from looplift.emit.typed_types import (
    BOOL,
    ELEMENTS,
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
    Scalar,
    Tup,
    array_type,
    text_of,
)

_FILLED = {np.zeros: "0", np.ones: "1", np.empty: "0"}
_LIKE = {np.zeros_like: "0", np.ones_like: "1", np.empty_like: "0", np.full_like: ""}
_FOLDS = {
    np.sum: "sum", np.min: "min", np.max: "max", np.amin: "min", np.amax: "max", np.argmin: "argmin",
    np.argmax: "argmax", np.any: "any", np.all: "all", np.mean: "mean",
}  # fmt: skip
_METHODS = ("sum", "min", "max", "argmin", "argmax", "any", "all", "mean")
_OF_NUMBERS = {
    np.sqrt: "root({0})", np.floor: "floor({0})", np.ceil: "ceil({0})", np.fabs: "fabs({0})",
}  # fmt: skip
_EACH = {
    np.sqrt: (NP_FLOAT, "root(a)"), np.floor: (NP_FLOAT, "floor(a)"), np.ceil: (NP_FLOAT, "ceil(a)"),
    np.fabs: (NP_FLOAT, "fabs(a)"), np.sign: (NP_FLOAT, "sign_of(a)"),
    np.square: (NP_FLOAT, "quiet(times(a, a), a, a)"), np.isnan: (NP_BOOL, "bool(isnan(a))"),
    np.isinf: (NP_BOOL, "bool(isinf(a))"), np.isfinite: (NP_BOOL, "bool(isfinite(a))"),
}  # fmt: skip
"""What each element of an array becomes."""
_OF_MIXED = (np.sqrt, np.isnan, np.isinf, np.isfinite)
_TESTS = {np.isnan: "isnan({0})", np.isinf: "isinf({0})", np.isfinite: "isfinite({0})"}
_EXTREMES = {np.maximum: "greater_of", np.minimum: "less_of"}
_OF_TWO = {**_EXTREMES, np.hypot: "length_of"}
_OF_ORDER: dict[Any, tuple[Any, Any, int]] = {
    np.median: (formulas.median, None, 0),
    np.quantile: (formulas.quantile, formulas.quantiles, 1),
    np.percentile: (formulas.percentile, formulas.percentiles, 1),
    np.maximum.accumulate: (formulas.running_maximum, None, 0),
    np.minimum.accumulate: (formulas.running_minimum, None, 0),
}
"""Functions of numbers in their order: for one share of them, for several, and how many arguments follow the row."""
_OF_DOUBLE_ROOTS = tuple(ELEMENTS[one] for one in ("int32", "uint32", "uint64"))
"""Integers whose root is a float64: those of fewer bits have shorter ones."""


class ArrayCalls(Pairs):
    """Calls that make arrays, or that go through their elements."""

    mixes_arrays: bool
    """Whether only the run tells the dtype of an array."""
    loops: dict[Any, int]
    """Functions of NumPy's whose loops are called, in the order in which they are given."""

    def known(self, function: Any, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        of_numpy = any(isinstance(one, np.ufunc) for one in (function, getattr(function, "__self__", None)))
        if of_numpy or (getattr(function, "__module__", None) or "").split(".")[0] == "numpy":
            self.joins.meet_numpy()
            return self._of_numpy(function, node, keywords)
        return super().known(function, node, keywords)

    def _of_numpy(self, function: Any, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        if isinstance(function, type):
            return self._converted(function, node, keywords)
        if function in _FILLED:
            return self._filled(node, keywords, Value(INT, f"I({_FILLED[function]})"))
        if function is np.full:
            return self._full(node, keywords)
        if function in _LIKE:
            return self._like(_LIKE[function], node, keywords)
        if function in (np.array, np.asarray):
            return self._array(function, node, keywords)
        if function is np.stack:
            return self._stack(node, keywords)
        if function in _FOLDS and not keywords.keys() - {"a", "axis", "keepdims"}:
            given = self._arguments("a axis", node, {k: one for k, one in keywords.items() if k != "keepdims"})
            if "a" not in given:
                raise refuse(node, "is called in a way of its own")
            given |= {k: one for k, one in keywords.items() if k == "keepdims"}
            return typed_array_axes.fold(self, _FOLDS[function], self._folded_operand(given["a"]), given, node)
        if (function is np.arange and not keywords) or (function is np.eye and len(node.args) == 1 and not keywords):
            return self._counted(function, node)
        if function is np.copy and len(node.args) == 1 and not keywords:
            return self._copied(self.expression(node.args[0]), node)
        if function is np.clip:
            return self._clipped(self._arguments("a a_min a_max", node, keywords), node)
        if function is np.concatenate:
            return self._joined(self._arguments("arrays axis", node, keywords), node)
        if function is np.delete:
            return typed_array_axes.without_place(self, self._arguments("arr obj axis", node, keywords), node)
        if keywords:
            raise refuse(node, "is called with names")
        if function is np.reshape and len(node.args) == 2:
            return self._reshaped(self.expression(node.args[0]), node.args[1:], node)
        if function is np.where and len(node.args) == 3:
            return self.chosen_by(self.several(*node.args), node)
        if function in _OF_ORDER:
            return self._of_order(function, node)
        if function in typed_products.OF_ARRAYS and len(node.args) == 2:
            left, right = self.several(*node.args)
            return typed_products.of_arrays(self, left, right, node, typed_products.OF_ARRAYS[function])
        if function is np.append and len(node.args) == 2:
            given = list(map(self.present, self.several(*node.args)))
            if any(is_array(one) for one in given):
                return self._concatenated(
                    [one if is_array(one) else self._of_items([one], node) for one in given], node
                )
        values = list(map(self.present, self.several(*node.args)))
        if function in _FORMULAS:
            values = [self._of_list(one, None, node) if is_box(one, "list") else one for one in values]
        if any(one.type is NEVER for one in values):
            return Value(NEVER, "None_()")
        if function in typed_array_places.OF_PLACES and len(values) == 1:
            return typed_array_places.places_where(self, function, values[0], node)
        if (formula := _formula_of(function, values)) is not None:
            return self._by_function(formula, list(map(self.keep, values)), node)
        return self._of_each(function, values, node)

    def _by_function(self, function: Any, values: list[Value], node: ast.Call) -> Value:
        raise NotImplementedError

    def _joined(self, given: dict[str, ast.expr], node: ast.Call) -> Value:
        if "arrays" not in given:
            raise refuse(node, "is called in a way of its own")
        source, axis = given["arrays"], given.get("axis")
        if isinstance(source, ast.List | ast.Tuple) and axis is None:
            return self._concatenated(self.several(*source.elts), node)
        return typed_array_axes.joined(self, self.present(self.expression(source)), axis, node)

    def _reshaped(self, owner: Value, sizes: list[ast.expr], node: ast.Call) -> Value:
        if not is_array(owner):
            raise refuse(node, "has no form in a typed program")
        return typed_array_axes.reshaped(self, owner, sizes, node)

    def _concatenated(self, given: list[Value], node: ast.Call) -> Value:
        """Rows one behind the other, of which some may be lists."""
        values = list(map(self.keep, map(self.present, given)))
        values = [self._of_list(one, None, node) if is_box(one, "list") else one for one in values]
        if any(one.type is NEVER for one in values):
            return Value(NEVER, "None_()")
        if len(values) < 2 or any(not is_array(one) or one.type.rank != 1 for one in values):
            raise refuse(node, "joins what are no rows")
        made = ELEMENTS[np.result_type(*(one.type.element.dtype for one in values)).name]
        found, *rest = (one if one.type.element is made else self._cast(one, made, node) for one in values)
        for one in rest:
            found = self.keep(self._by_function(formulas.concatenate, [found, one], node))
            if found.type is NEVER:
                return found
        return found

    # ------------------------------------------------------------ new arrays

    def dtype_of(self, node: ast.expr | None, default: Any) -> Any:
        """The scalars that an array of a dtype has."""
        if node is None:
            return default
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            owner = self.expression(node.value)
            found = owner.type.element if isinstance(owner.type, Arr) else None
        else:
            found = known_dtype(node.value if isinstance(node, ast.Constant) else self.resolved(node))
        if found is None:
            raise refuse(node, "is a dtype without a form")
        self.joins.meet_numpy(found)
        return found

    def _arguments(self, names: str, node: ast.Call, keywords: dict[str, ast.expr]) -> dict[str, ast.expr]:
        found = dict(zip(names.split(), node.args))
        if (
            len(node.args) > len(names.split())
            or keywords.keys() - set(names.split())
            or found.keys() & keywords.keys()
        ):
            raise refuse(node, "is called in a way of its own")
        return found | keywords

    def _filled(self, node: ast.Call, keywords: dict[str, ast.expr], value: Value) -> Value:
        given = self._arguments("shape dtype", node, keywords)
        sizes = self.several(*_extents(given["shape"]))
        return self._made(sizes, self.dtype_of(given.get("dtype"), NP_FLOAT), value, node)

    def _full(self, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        given = self._arguments("shape fill_value dtype", node, keywords)
        if "shape" not in given or "fill_value" not in given:
            raise refuse(node, "is called in a way of its own")
        extents = _extents(given["shape"])
        if [*given].index("fill_value") < [*given].index("shape"):
            value, *sizes = self.several(given["fill_value"], *extents)
        else:
            *sizes, value = self.several(*extents, given["fill_value"])
        value = self.keep(self.present(value))
        if value.type not in NUMBERS or value.type is MIXED:
            raise refuse(node, "is filled with what is no number")
        return self._made(sizes, self.dtype_of(given.get("dtype"), SCALAR.get(value.type, value.type)), value, node)

    def _made(self, sizes: list[Value], kind: Any, value: Value, node: ast.AST) -> Value:
        return self._of_sizes([as_size(one, node) for one in self.places_of(sizes)], kind, value, node)

    def _of_sizes(self, sizes: list[str], kind: Any, value: Value, node: ast.AST) -> Value:
        if not 1 <= len(sizes) <= 4:
            raise refuse(node, "has no dimension, or too many")
        shape, made = self.fresh(), array_type(kind, len(sizes))
        self.emit(f"I {shape}[] = {{{', '.join(sizes)}}};")
        found = self.keep(Value(made, f"array_of<{kind.storage}, {len(sizes)}>({shape})"))
        self.emit(f"fill({found.code}, {plain(value).code});")
        return found

    def _like(self, filler: str, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        given = self._arguments("a fill_value dtype" if not filler else "a dtype", node, keywords)
        owner = self.keep(self.present(self.expression(given["a"])))
        value = Value(INT, f"I({filler})") if filler else self.keep(self.present(self.expression(given["fill_value"])))
        if not is_array(owner) or value.type not in NUMBERS:
            raise refuse(node, "is not like an array")
        kind = self.dtype_of(given.get("dtype"), owner.type.element)
        sizes = [f"{owner.code}.size[{axis}]" for axis in range(owner.type.rank)]
        found = self._of_sizes(sizes, kind, value, node)
        self.emit(f"{found.code}.base->is_in_columns = in_columns({owner.code});")
        return found

    def _array(self, function: Any, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        given = self._arguments("object dtype" if function is np.array else "a dtype", node, keywords)
        first = next(iter(given.values()), None)
        if first is None:
            raise refuse(node, "is called in a way of its own")
        if isinstance(first, ast.List | ast.Tuple) and len(given) == 1 and not self._has_rows(first):
            return self._of_items(self.several(*first.elts), node)
        source = self.present(self.expression(first))
        if is_array(source) and function is np.array:
            return self._cast(source, self.dtype_of(given.get("dtype"), source.type.element), node)
        if not is_box(source, "list"):
            raise refuse(node, "makes an array of what is no list")
        return self._of_list(source, self.dtype_of(given.get("dtype"), None), node)

    def _of_list(self, source: Value, wanted: Any, node: ast.AST) -> Value:
        """A list of numbers, of lists or tuples of them, or of arrays as an array."""
        source, cell, rank = self.keep(source), element(source), 1
        if isinstance(cell, Tup):
            return self._of_tuples(source, cell, wanted, node)
        if isinstance(cell, Arr):
            return self._stacked(source, wanted, node)
        if is_box(Value(cell, ""), "list"):
            cell, rank = cell.find().cells[0], 2
        kind = cell if cell in SCALARS else SCALAR.get(cell, cell)
        if kind is NEVER:
            return self._of_nothing()
        if kind not in SCALARS and kind is not MIXED:
            raise refuse(node, "makes an array of what are no numbers of one kind")
        if wanted is None:
            self.emit(f"if (!{source.code}->n) bail(EMPTY);")
            self.mixes_arrays |= kind is MIXED
            if kind is MIXED:  # of integers and floats NumPy makes floats, where one is there
                self.emit(f"if (!are_doubles({source.code})) bail(KIND);")
                kind = NP_FLOAT
        if rank == 2:
            self.emit(f"if (!{source.code}->n || !{source.code}->at(0)->n) bail(EMPTY);")
        made: Any = wanted or kind
        code = f"{'array_from' if rank == 1 else 'table_from'}<{made.storage}>({source.code})"
        return self.keep(Value(array_type(made, rank), code))

    def _has_rows(self, node: ast.List | ast.Tuple) -> bool:
        """Whether items that are written out are lists or arrays."""
        return any(_is_list(one) or isinstance(self.peek(one), Arr) for one in node.elts)

    def _stacked(self, source: Value, wanted: Any, node: ast.AST, axis: int | None = None) -> Value:
        """An array of a list's arrays, which have one shape; in the order that they have where an axis is given."""
        row = element(source)
        if row.rank > 3:
            raise refuse(node, "has too many dimensions")
        return typed_array_axes.stacked(self, source, wanted or row.element, axis)

    def _stack(self, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        """``np.stack(rows)`` along a new dimension."""
        given = self._arguments("arrays axis", node, keywords)
        if "arrays" not in given:
            raise refuse(node, "is called in a way of its own")
        source = self.keep(self.present(self.expression(given["arrays"])))
        if is_box(source, "list") and element(source) is NEVER:
            return self._of_nothing()
        if not is_box(source, "list") or not isinstance(element(source), Arr):
            raise refuse(node, "joins what are no arrays")
        axis = typed_array_axes.dimension(given.get("axis", ast.Constant(0)), element(source).rank + 1, node)
        return self._stacked(source, None, node, axis or 0)

    def _of_nothing(self) -> Value:
        """Of no items NumPy makes floats, of numbers what they are."""
        self.emit("bail(EMPTY);")
        return Value(NEVER, "None_()")

    def _of_tuples(self, source: Value, cell: Tup, wanted: Any, node: ast.AST) -> Value:
        """A row of a list's tuple of numbers each: of integers and floats NumPy makes floats."""
        kinds = {SCALAR.get(one, one) for one in cell.items}
        if NEVER in kinds:
            return self._of_nothing()
        if cell.of is not None or not kinds or not kinds <= {NP_INT, NP_FLOAT}:
            raise refuse(node, "makes an array of what are no numbers of one kind")
        made = wanted or (NP_FLOAT if NP_FLOAT in kinds else NP_INT)
        self.emit(f"if (!{source.code}->n) bail(EMPTY);")
        parts = [f"p[{k}] = Cast<{made.storage}>::of(raw(t.a{k}));" for k in range(len(cell.items))]
        fill = f"[](const {text_of(cell)}& t, {made.storage}* p) {{ {' '.join(parts)} }}"
        code = f"rows_from<{made.storage}>({source.code}, {len(cell.items)}, {fill})"
        return self.keep(Value(array_type(made, 2), code))

    def _counted(self, function: Any, node: ast.Call) -> Value:
        values = self.several(*node.args)
        if any(value.type not in (INT, NP_INT) for value in values) or not 1 <= len(values) <= 3:
            raise refuse(node, "counts in other steps than integers")
        codes = [as_int(value, node) for value in values]
        if function is np.eye:
            return self.keep(Value(array_type(NP_FLOAT, 2), f"identity({codes[0]})"))
        codes = ["I(0)", *codes] if len(codes) == 1 else codes
        codes += ["I(1)"] if len(codes) == 2 else []
        return self.keep(Value(array_type(NP_INT, 1), f"counted({', '.join(codes)})"))

    def _copied(self, value: Value, node: ast.AST) -> Value:
        if not is_array(value):
            raise refuse(node, "copies what is no array")
        return self.keep(Value(value.type, f"copy({value.code})"))

    def _cast(self, value: Value, made: Scalar, node: ast.AST) -> Value:
        """A copy of an array as one of a dtype."""
        if value.type.element is made:
            return self._copied(value, node)
        storage, rank = made.storage, value.type.rank
        function = f"[]({element_text(value.type)} a) {{ return Cast<{storage}>::of(a); }}"
        return self.keep(Value(array_type(made, rank), f"mapped<{storage}, {rank}>({function}, {value.code})"))

    # ------------------------------------------------------------ numbers

    def _converted(self, made: type, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        kind = known_dtype(made)
        values = list(map(self.present, self.several(*node.args)))
        if kind is None or keywords or len(values) != 1 or values[0].type not in NUMBERS or values[0].type is MIXED:
            raise refuse(node, "makes a number without a form")
        self.joins.meet_numpy(kind)
        return Value(kind, f"{kind.text}{{Cast<{kind.storage}>::of({plain(values[0]).code})}}")

    def _of_each(self, function: Any, values: list[Value], node: ast.Call) -> Value:
        if function in _OF_TWO and len(values) == 2:
            return self.of_two(_OF_TWO[function], values, node)
        if function in (np.abs, np.absolute, np.negative) and is_array(*values) and len(values) == 1:
            return self.each("negative" if function is np.negative else "magnitude", values, node)
        if function in BY_LOOPS and len(values) == 1 and is_array(*values) and values[0].type.element is NP_FLOAT:
            return self.keep(Value(values[0].type, f"each_by_numpy({self._loop_of(function)}, {values[0].code})"))
        if function in _EACH and len(values) == 1 and is_array(*values) and values[0].type.element is NP_FLOAT:
            made, formula = _EACH[function]
            return self.mapped_array(made, values, formula)
        if len(values) == 1 and values[0].type is MIXED and function in (*BY_LOOPS, *_OF_MIXED):
            values = [self.keep(self.scalar(Value(FLOAT, f"as_double({values[0].code})")))]
        plain_numbers = values and all(one.type in NUMBERS and one.type is not MIXED for one in values)
        if not plain_numbers:
            raise refuse(node, "has no form in a typed program")
        if len(values) == 1:
            return self._of_one(function, values[0], node)
        raise refuse(node, "has no form in a typed program")

    def _of_one(self, function: Any, value: Value, node: ast.Call) -> Value:
        number, made = plain(value), SCALAR.get(value.type, value.type)
        if function in (np.abs, np.absolute) and number.type is not BOOL:
            return self.scalar(Value(number.type, f"magnitude({number.code})"), made)
        if function is np.sign and made in (NP_INT, NP_FLOAT):
            return self.scalar(Value(number.type, f"sign_of({number.code})"), made)
        if function in _OF_NUMBERS and number.type is FLOAT:
            return self.scalar(Value(FLOAT, _OF_NUMBERS[function].format(number.code)), made)
        if function in BY_LOOPS and made in (NP_FLOAT, NP_INT):
            code = f"by_numpy({self._loop_of(function)}, {as_number(number, FLOAT)})"
            return self.keep(self.scalar(Value(FLOAT, code)))
        if function is np.sqrt and made in (NP_INT, *_OF_DOUBLE_ROOTS):
            return self.scalar(Value(FLOAT, f"root({as_number(number, FLOAT)})"))
        if function in _TESTS:
            return self.scalar(Value(BOOL, f"bool({_TESTS[function].format(as_number(number, FLOAT))})"))
        raise refuse(node, "has no form in a typed program")

    def _clipped(self, given: dict[str, ast.expr], node: ast.Call) -> Value:
        if len(given) != 3:
            raise refuse(node, "is called in a way of its own")
        value, low, high = self.several(*(given[one] for one in ("a", "a_min", "a_max")))
        return self.between(value, low, high, node)

    # ------------------------------------------------------------ numbers in order

    def _of_order(self, function: Any, node: ast.Call) -> Value:
        """Functions of the numbers of a row, or a list, in their order."""
        of_one, of_several, others = _OF_ORDER[function]
        if len(node.args) != 1 + others:
            raise refuse(node, "is called in a way of its own")
        row = self._numbers_in_order(self.present(self.expression(node.args[0])), node)
        if row.type is NEVER or not others:
            return row if row.type is NEVER else self._by_function(of_one, [row], node)
        if isinstance(node.args[1], ast.List | ast.Tuple):
            return self._by_function(of_several, [row, self.keep(self._folded_operand(node.args[1]))], node)
        share = self.keep(self.present(self.expression(node.args[1])))
        if is_array(share) and share.type.rank == 1 and share.type.element in (NP_FLOAT, NP_INT):
            return self._by_function(of_several, [row, share], node)
        if share.type not in (INT, FLOAT, NP_INT, NP_FLOAT):
            raise refuse(node, "has no form in a typed program")
        return self._by_function(of_one, [row, plain(share)], node)

    def _numbers_in_order(self, value: Value, node: ast.AST) -> Value:
        """A row, or a list as NumPy makes a row of it."""
        value = self._of_list(value, None, node) if is_box(value, "list") else self.keep(value)
        if value.type is NEVER:
            return value
        if not is_array(value) or value.type.rank != 1 or value.type.element not in (NP_FLOAT, NP_INT):
            raise refuse(node, "has no form in a typed program")
        return value

    def _loop_of(self, function: Any) -> int:
        return self.loops.setdefault(function, len(self.loops))

    # ------------------------------------------------------------ folds

    def _folded_operand(self, node: ast.expr) -> Value:
        """An array, or numbers that are written out, as NumPy makes an array of them."""
        if isinstance(node, ast.List | ast.Tuple):
            return self._of_items(self.several(*node.elts), node)
        value = self.present(self.expression(node))
        if is_array(value) or value.type is NEVER:
            return value
        if is_box(value, "list"):
            return self._of_list(value, None, node)
        return self._of_items(self.fields(self.keep(value)) if isinstance(value.type, Tup) else [], node)

    def _of_items(self, items: list[Value], node: ast.AST) -> Value:
        """An array of numbers that are written out."""
        values = [self.keep(self.present(one)) for one in items]
        kinds = {SCALAR.get(one.type, one.type) for one in values} - {NEVER}
        if not values or kinds - {NP_INT, NP_FLOAT, MIXED} or (MIXED in kinds and NP_FLOAT not in kinds):
            raise refuse(node, "makes an array of what are no numbers of one kind")
        kind = FLOAT if NP_FLOAT in kinds else INT
        shape = self.fresh()
        self.emit(f"I {shape}[] = {{{len(values)}}};")
        made = self.keep(Value(array_type(SCALAR[kind], 1), f"array_of<{kind.text}, 1>({shape})"))
        for place, one in enumerate(values):
            self.emit(f"{made.code}.p[{place}] = {as_number(plain(one), kind)};")
        return made

    def fold_of_all(self, name: str, value: Value, node: ast.AST) -> Value:
        one = value.type.element
        if name in ("any", "all"):
            return Value(NP_BOOL, f"Np<bool>{{{'any_of' if name == 'any' else 'all_true'}({value.code})}}")
        if name in ("argmin", "argmax"):
            return Value(NP_INT, f"Np<I>{{place_of_extreme<{str(name == 'argmax').lower()}>({value.code})}}")
        if name in ("min", "max"):
            return Value(one, f"{one.text}{{extreme_of<{str(name == 'max').lower()}>({value.code})}}")
        value = self.keep(value)
        if one.plain is FLOAT:
            total = Value(FLOAT, f"F(sum_of_floats({value.code}))")
            made = one
        else:
            total = Value(INT, f"sum_of_integers({value.code})")
            made = ELEMENTS["uint64"] if one.dtype.startswith("u") else NP_INT
        if name == "sum":
            return self.scalar(total, made)
        made = one if one.plain is FLOAT else NP_FLOAT
        total = total.code if one.plain is FLOAT else f"exact({total.code})"
        return self.scalar(Value(FLOAT, f"over({total}, F(count_of({value.code})))"), made)

    # ------------------------------------------------------------ attributes and methods

    def of_Attribute(self, node: ast.Attribute) -> Value:
        if self.joins.has_numpy:
            found = self.resolved(node)
            if type(found) is float:
                return super().of_Attribute(node)
            if found is None and is_array(owner := Value(self.peek(node.value), "")):
                owner = self.keep(self.expression(node.value))
                return self._attribute(owner, node)
        return super().of_Attribute(node)

    def _attribute(self, owner: Value, node: ast.Attribute) -> Value:
        if node.attr == "shape":
            return self.tuple_of([Value(INT, f"{owner.code}.size[{axis}]") for axis in range(owner.type.rank)])
        if node.attr == "size":
            return Value(INT, f"count_of({owner.code})")
        if node.attr == "ndim":
            return Value(INT, f"I({owner.type.rank})")
        if node.attr == "T" and owner.type.rank == 2:
            return Value(owner.type, f"turned({owner.code})")
        raise refuse(node, "is no attribute of an array here")

    def method(self, node: ast.Call, func: ast.Attribute) -> Value:
        if self.joins.has_numpy:
            owner = Value(self.peek(func.value), "")
            if is_array(owner) or is_scalar(owner):
                owner = self.keep(self.expression(func.value))
                if func.attr == "item" and is_scalar(owner) and not node.args:
                    return plain(owner)
                return self._method(owner, node, func)
        return super().method(node, func)

    def _method(self, owner: Value, node: ast.Call, func: ast.Attribute) -> Value:
        if is_array(owner) and func.attr in ("ravel", "flatten"):
            return self._row_of(owner, node, is_copy=func.attr == "flatten")
        if is_array(owner) and func.attr in _METHODS:
            given = dict(zip(("axis",), node.args)) | {str(one.arg): one.value for one in node.keywords}
            if len(given) != len(node.args) + len(node.keywords) or given.keys() - {"axis", "keepdims"}:
                raise refuse(node, "is called in a way of its own")
            return typed_array_axes.fold(self, func.attr, owner, given, node)
        if not (is_array(owner) or func.attr == "clip") or node.keywords:
            raise refuse(node, "calls a method without a form")
        if func.attr == "clip" and len(node.args) == 2:
            low, high = self.several(*node.args)
            return self.between(owner, low, high, node)
        if func.attr == "copy" and not node.args:
            return self.keep(Value(owner.type, f"copy_in_rows({owner.code})"))
        if func.attr == "dot" and len(node.args) == 1:
            return typed_products.of_arrays(self, owner, self.expression(node.args[0]), node)
        if func.attr == "reshape" and node.args:
            return self._reshaped(owner, node.args, node)
        if func.attr == "astype" and len(node.args) == 1:
            return self._cast(owner, self.dtype_of(node.args[0], None), node)
        if func.attr == "fill" and len(node.args) == 1:
            self.assign(owner, self.expression(node.args[0]), node)
            return Value(NONE, "None_()")
        if func.attr == "tolist" and not node.args:
            return typed_array_places.as_lists(self, owner, node)
        if func.attr == "nonzero" and not node.args:
            return typed_array_places.places_where(self, np.nonzero, owner, node)
        raise refuse(node, "calls a method without a form")

    def _row_of(self, owner: Value, node: ast.Call, *, is_copy: bool) -> Value:
        """All elements one after the other, in rows or, as Fortran has them, in columns."""
        given = [*node.args, *(one.value for one in node.keywords if one.arg == "order")]
        order = given[0].value if given and isinstance(given[0], ast.Constant) else None if given else "C"
        if order not in ("C", "F") or len(given) != len(node.args) + len(node.keywords) or len(given) > 1:
            raise refuse(node, "is called in a way of its own")
        if order == "F" and owner.type.rank > 2:
            raise refuse(node, "has the elements of more than columns in Fortran's order")
        text = f"turned({owner.code})" if order == "F" and owner.type.rank == 2 else owner.code
        code = f"flat(copy_in_rows({text}))" if is_copy else f"ravelled({text})"
        return self.keep(Value(array_type(owner.type.element, 1), code))

    def call_len(self, node: ast.Call, *values: Value) -> Value:
        if len(values) == 1 and is_array(values[0]):
            return Value(INT, f"size({values[0].code})")
        return super().call_len(node, *values)

    def call_tuple(self, node: ast.Call, *values: Value) -> Value:
        if is_array(*values):
            raise refuse(node, "makes a tuple of an array")
        return super().call_tuple(node, *values)


def _formula_of(function: Any, values: list[Value]) -> Any:
    """What computes a function of NumPy's of such values; None where nothing does."""
    found = _FORMULAS.get(function)
    if found is None or not values:
        return None
    formula, kinds, others = found
    first, *rest = values
    if not is_array(first) or first.type.rank != 1 or first.type.element not in kinds or len(rest) != len(others):
        return None
    fits = all(
        one.type is (first.type if other is np.ndarray else INT) for one, other in zip(rest, others, strict=True)
    )
    return formula if fits else None


_FLOATS, _WHOLE = (NP_FLOAT,), (NP_INT,)
_FORMULAS: dict[Any, tuple[Any, tuple[Scalar, ...], tuple[type, ...]]] = {
    np.cumsum: (formulas.cumsum, _FLOATS + _WHOLE, ()), np.cumprod: (formulas.cumprod, _FLOATS, ()),
    np.diff: (formulas.diff, _FLOATS + _WHOLE, ()), np.flip: (formulas.flip, SCALARS, ()),
    np.roll: (formulas.roll, SCALARS, (int,)), np.tile: (formulas.tile, SCALARS, (int,)),
    np.repeat: (formulas.repeat, SCALARS, (int,)), np.outer: (formulas.outer, _FLOATS, (np.ndarray,)),
    np.sort: (formulas.sort, _FLOATS + _WHOLE, ()),
    np.unique: (formulas.unique, _WHOLE, ()), np.bincount: (formulas.bincount, _WHOLE, ()),
    np.var: (formulas.var, _FLOATS, ()), np.std: (formulas.std, _FLOATS, ()),
}  # fmt: skip
"""Functions of rows: what computes them, of which elements, and the kinds of the other arguments."""


def known_dtype(value: Any) -> Any:
    """The scalars of a dtype that is given by its name, or by a type."""
    if not isinstance(value, str | type) or value is object:
        return None
    try:
        return ELEMENTS.get(np.dtype(value).name)
    except TypeError:
        return None


def _is_list(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Tuple | ast.ListComp)


def _extents(shape: ast.expr) -> list[ast.expr]:
    """The expressions of a shape, which may be one number."""
    return list(shape.elts) if isinstance(shape, ast.Tuple | ast.List) else [shape]
