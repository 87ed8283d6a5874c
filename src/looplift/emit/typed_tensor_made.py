"""Calls that make tensors of numbers, and of other tensors, in, their types and C++ out."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import torch

from looplift.emit.typed_expressions import element, is_box
from looplift.emit.typed_scope import Value, as_size, refuse
from looplift.emit.typed_tensor_ops import is_tensor
from looplift.emit.typed_tensors import Tensors
from looplift.emit.typed_types import (
    BOOL,
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
    Ten,
    Tup,
    number_type,
)

_FILLS = {"zeros": 0, "ones": 1, "empty": 0}

SHORT = 8
"""Elements that a row of a few may have."""


class TensorMaking(Tensors):
    """New tensors."""

    def axis_of(self, node: ast.expr, rank: int, at: ast.AST) -> int:
        try:
            axis = ast.literal_eval(node)
        except ValueError:
            axis = None
        if type(axis) is not int or not -rank <= axis < rank:
            raise refuse(at, "has a dimension that is not known")
        return axis % rank

    # ------------------------------------------------------------ tensors that are made

    def dtype_in(self, nodes: list[ast.expr], keywords: dict[str, ast.expr], node: ast.AST) -> str | None:
        """The dtype that is asked for."""
        found = None
        for name, one in [*((None, one) for one in nodes), *keywords.items()]:
            value = self.fixed(one)
            if isinstance(value, torch.dtype) and name in (None, "dtype"):
                found = str(value).removeprefix("torch.")
            elif not (isinstance(value, torch.device) and value.type == "cpu" and name in (None, "device")):
                raise refuse(node, "is made in a way of its own")
        if found is not None and found not in DTYPES:
            raise refuse(node, f"makes {found}")
        return found

    def fixed(self, node: ast.expr) -> Any:
        """A dtype or a device."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return torch.device("cpu") if node.value == "cpu" else None
        if self.owner_of_name(node) is None:
            found = self.resolved(node)
            if isinstance(found, torch.dtype | torch.device):
                return found
        type_ = self.peek(node)
        return type_.value if isinstance(type_, Fixed) else None

    def owner_of_name(self, node: ast.expr) -> Any:
        return self.owner(node.id) if isinstance(node, ast.Name) else None

    def sizes_in(self, size: ast.expr, node: ast.AST) -> list[str]:
        """The extents of what is filled, which are a tuple or a list."""
        if isinstance(size, ast.Tuple | ast.List):
            return self.sizes(list(size.elts), node)
        if not isinstance(self.peek(size), Tup):
            raise refuse(node, "takes its extents from what is no tuple")
        return self.sizes([size], node)

    def sizes(self, nodes: list[ast.expr], node: ast.AST) -> list[str]:
        """The extents that are asked for, one by one or as a tuple."""
        values = [self.keep(value) for value in self.several(*nodes)]
        if len(values) == 1 and isinstance(values[0].type, Tup):
            values = self.fields(values[0])
        if len(values) == 1 and isinstance(values[0].type, Box):
            raise refuse(node, "takes its extents from a list")
        return [as_size(self.number_of(value), node) for value in values]

    def held(self, value: Value, dtype: str) -> Value:
        """A value that elements of a dtype take: PyTorch refuses a float of Python's that is too large for them."""
        value = self.keep(value)
        if value.type is FLOAT:
            self.emit(f"must_hold<{DTYPES[dtype]}>({value.code});")
        return value

    def filled_tensor(self, sizes: list[str], value: Value, dtype: str) -> Value:
        text, rank = DTYPES[dtype], len(sizes)
        value = self.held(value, dtype)
        number = f"as_num<{text}>({value.code})"
        if not rank:
            return Value(Ten(dtype, 0), f"fresh_number({number})")
        name = self.fresh("size")
        self.emit(f"const I {name}[] = {{{', '.join(sizes)}}};")
        return self.keep(Value(Ten(dtype, rank), f"filled_with<{text}, {rank}>({name}, {number})"))

    def made_filled(self, name: str, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        rest = {key: one for key, one in keywords.items() if key != "size"}
        nodes = list(node.args) + ([keywords["size"]] if "size" in keywords else [])
        dtype = self.dtype_in([], rest, node) or default_dtype()
        if len(nodes) == 1 and isinstance(nodes[0], ast.Tuple | ast.List):
            nodes = list(nodes[0].elts)
        return self.filled_tensor(self.sizes(nodes, node), Value(INT, f"I({_FILLS[name]})"), dtype)

    def make_zeros(self, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        return self.made_filled("zeros", node, keywords)

    def make_ones(self, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        return self.made_filled("ones", node, keywords)

    def make_empty(self, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        return self.made_filled("empty", node, keywords)

    def make_full(self, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        if len(node.args) != 2:
            raise refuse(node, "is made in a way of its own")
        size, fill = node.args
        sizes = self.sizes_in(size, node)
        value = self.keep(self.present(self.expression(fill)))
        if value.type not in (INT, FLOAT, BOOL):
            raise refuse(node, "is filled with what is no number")
        dtype = self.dtype_in([], keywords, node) or number_dtype(value.type)
        if dtype in WHOLE and value.type is FLOAT:
            raise refuse(node, "is filled with another number")
        return self.filled_tensor(sizes, value, dtype)

    def make_tensor(self, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        if len(node.args) != 1:
            raise refuse(node, "is made in a way of its own")
        asked = self.dtype_in([], keywords, node)
        value = self.present(self.expression(node.args[0]))
        depth, inner = 0, value.type
        while isinstance(inner, Box) and inner.find().kind == "list":
            depth, inner = depth + 1, inner.find().cells[0]
        width = 0
        if isinstance(inner, Tup) and depth:
            width, inner = len(inner.items), _one_kind(inner)
            if inner is NEVER:
                return Value(NEVER, value.code)
        if self.may_become_known(inner):
            return Value(NEVER, "None_()")
        if inner is NEVER:
            return Value(NEVER, value.code) if value.type is NEVER else self._empty_list(node)
        if inner not in (INT, FLOAT, BOOL) or depth > 2:
            raise refuse(node, "is made of what are no numbers")
        dtype = asked or number_dtype(inner)
        if dtype in WHOLE and inner is not number_type(dtype):
            raise refuse(node, "is made of other numbers")
        text = DTYPES[dtype]
        if not depth:
            return Value(Ten(dtype, 0), f"fresh_number(as_num<{text}>({value.code}))")
        if asked is None and dtype != default_dtype():  # an empty list makes a tensor of the default dtype
            value = self.keep(value)
            self.emit(f"if (!{value.code}->n) bail(EMPTY);")
        if width:
            puts = " ".join(f"to->put(o++, as_num<{text}>(one.a{place}));" for place in range(width))
            each = f"[](auto* to, I& o, const auto& one) {{ {puts} }}"
            made = f"{'rows_by' if depth == 1 else 'blocks_by'}<{text}>({value.code}, {width}, {each})"
            return self.keep(Value(Ten(dtype, depth + 1), made))
        return self.keep(Value(Ten(dtype, depth), f"{'row_of' if depth == 1 else 'rows_of'}<{text}>({value.code})"))

    def _empty_list(self, node: ast.AST) -> Value:
        raise refuse(node, "is made of an empty list")

    def made_like(self, name: str, nodes: list[ast.expr], keywords: dict[str, ast.expr], node: ast.Call) -> Value:
        owner = self.keep(self.present(self.expression(nodes[0])))
        if not is_tensor(owner):
            raise refuse(node, "is like no tensor")
        dtype = self.dtype_in([], keywords, node) or owner.type.dtype
        word = name.removesuffix("_like").removeprefix("new_")
        rest = nodes[1:]
        if name.endswith("_like"):
            sizes = [f"{owner.code}.size[{axis}]" for axis in range(owner.type.rank)]
        else:
            listed = word == "full" or (len(rest) == 1 and isinstance(rest[0], ast.Tuple | ast.List))
            sizes = self.sizes_in(rest[0], node) if listed and rest else self.sizes(rest, node)
            rest = rest[1:] if word == "full" else []
        if word == "full" and len(rest) == 1:
            value = self.keep(self.present(self.expression(rest[0])))
            if value.type not in (INT, FLOAT, BOOL) or dtype in WHOLE:
                raise refuse(node, "is filled with what is no number")
        elif word in _FILLS and not rest:
            value = Value(INT, f"I({_FILLS[word]})")
        else:
            raise refuse(node, "is made in a way of its own")
        return self.filled_tensor(sizes, value, dtype)

    def listed_tensors(self, node: ast.expr, at: ast.AST) -> Value:
        """A list of tensors of one kind."""
        value = self.expression(node)
        if isinstance(value.type, Tup):
            box: Any = self.box(node, "list", 1, "of a tuple")
            value = self.filled(box, [("push", [one]) for one in self.fields(self.keep(value))])
        inner = element(value) if is_box(value, "list") else None
        inner = inner.inner if isinstance(inner, Maybe) else inner
        if not isinstance(inner, Ten | Either) and inner not in (NEVER, NONE, *NUMBERS):
            raise refuse(at, "joins what are no tensors")
        return self.keep(value)

    def joined(self, node: ast.Call, keywords: dict[str, ast.expr]) -> tuple[dict[str, ast.expr], Value]:
        """The arguments of a function that joins tensors, and the list of these."""
        given = by_name(("tensors", "dim"), node.args, keywords, node)
        if "tensors" not in given or not set(given) <= {"tensors", "dim"}:
            raise refuse(node, "is called in another way")
        return given, self.listed_tensors(given["tensors"], node)

    def has_no_tensors(self, items: Value) -> bool:
        """Whether the items of a list are none so far: of numbers that later rounds of the types may make tensors."""
        inner = element(items)
        inner = inner.inner if isinstance(inner, Maybe) else inner
        if inner in NUMBERS:
            self.emit("bail(KIND);")
        return inner in (NEVER, NONE, *NUMBERS)

    def make_stack(self, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        given, value = self.joined(node, keywords)
        if self.has_no_tensors(value):
            return Value(NEVER, "None_()")
        inner = tensor_in(element(value))
        made = Ten(inner.dtype, inner.rank + 1)
        axis = self.axis_of(given["dim"], made.rank, node) if "dim" in given else 0
        if axis > 1 or (axis and made.rank > 2):
            raise refuse(node, "is stacked along another dimension")
        found = self.keep(Value(made, f"stacked<{DTYPES[made.dtype]}, {made.rank}>({value.code})"))
        written_out = given["tensors"]
        if isinstance(written_out, ast.List | ast.Tuple) and made.rank == 1 and len(written_out.elts) <= SHORT:
            self.short.add(found.code)
        return self.mapped("Op_same()", made, made.dtype, Value(made, f"turned({found.code})")) if axis else found

    def make_cat(self, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        given, value = self.joined(node, keywords)
        if self.has_no_tensors(value):
            return Value(NEVER, "None_()")
        inner = tensor_in(element(value))
        if not inner.rank:
            raise refuse(node, "joins tensors without dimensions")
        axis = self.axis_of(given["dim"], inner.rank, node) if "dim" in given else 0
        return self.keep(Value(inner, f"joined<{axis}, {DTYPES[inner.dtype]}, {inner.rank}>({value.code})"))

    make_concat = make_concatenate = make_cat


def tensor_in(type_: Any) -> Ten:
    """The tensor that a value must be."""
    type_ = type_.inner if isinstance(type_, Maybe) else type_
    return type_.tensor if isinstance(type_, Either) else type_


def by_name(
    names: Sequence[str], nodes: Sequence[ast.expr], keywords: dict[str, ast.expr], node: ast.AST
) -> dict[str, ast.expr]:
    """Arguments by their names; refused where there are more than have one."""
    if len(nodes) > len(names):
        raise refuse(node, "is called with more arguments than it has a form for")
    return dict(zip(names, nodes, strict=False)) | keywords


def is_constant(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def default_dtype() -> str:
    found = str(torch.get_default_dtype()).removeprefix("torch.")
    if found not in DTYPES:
        raise refuse(None, f"tensors of {found}")
    return found


def number_dtype(type_: Any) -> str:
    if type_ is MIXED:
        raise refuse(None, "a tensor of numbers that may be integers or floats")
    return {INT: "int64", BOOL: "bool"}.get(type_) or default_dtype()


def _one_kind(type_: Tup) -> Any:
    """The kind of numbers that a tensor of such tuples has; NONE where it has no form."""
    kinds = {*type_.items}
    if NEVER in kinds:
        return NEVER
    if kinds <= {INT, FLOAT} and not type_.of:
        return FLOAT if FLOAT in kinds else INT
    return BOOL if kinds == {BOOL} and not type_.of else NONE
