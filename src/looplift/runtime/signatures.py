"""The text of an operator's signature in, what it takes and gives out: dtypes, sizes and numbers.

    (image: float32[h, w], matrix: float32[2, 3], scale: float) -> float32[h, w]

Names in front of a colon may be left out. A size is a number or a name; the same name is the same size everywhere.
Sizes of results may also be sums, differences, products and quotients of such, and of arguments of type ``int``.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Mapping
from typing import Any

from looplift.base.data import dataclass

DTYPES = {
    "float32": "float", "float64": "double", "int64": "int64_t", "int32": "int32_t", "int16": "int16_t",
    "int8": "int8_t", "uint8": "uint8_t", "bool": "bool",
}  # fmt: skip
"""Dtypes of arrays, and what their elements are in C++."""
NUMBERS = {"float": "float64", "int": "int64", "bool": "bool"}
"""Types of numbers, and the dtype of the array without dimensions that stands for one."""
_ARITHMETIC: dict[type, Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
}  # fmt: skip


class BadSignature(ValueError):
    """A signature that says nothing; the message says what is wrong with it."""


@dataclass(frozen=True)
class Array:
    """An argument or a result of ``dims``: each is a number, a name, or for a result an expression."""

    name: str
    dtype: str
    dims: tuple[str, ...]

    @property
    def text(self) -> str:
        return f"{self.dtype}[{', '.join(self.dims)}]"


@dataclass(frozen=True)
class Number:
    """An argument that is a number; ``is_size``: the sizes of results depend on it."""

    name: str
    kind: str
    is_size: bool = False

    @property
    def text(self) -> str:
        return self.kind


@dataclass(frozen=True)
class Signature:
    """``sizes``: the names of sizes of the arguments, in the order of their first appearance."""

    parameters: tuple[Array | Number, ...]
    results: tuple[Array, ...]
    sizes: tuple[str, ...]
    is_tuple: bool

    def declaration(self, name: str) -> str:
        """The C++ function: arguments, then the memory of the results, then the sizes that have names."""
        return f"void {name}({', '.join(self.cpp_parameters())})"

    def cpp_parameters(self) -> list[str]:
        taken = [
            f"const {DTYPES[one.dtype]}* {one.name}" if isinstance(one, Array) else f"{_cpp_number(one)} {one.name}"
            for one in self.parameters
        ]
        given = [f"{DTYPES[one.dtype]}* {one.name}" for one in self.results]
        return [*taken, *given, *(f"int64_t {name}" for name in self.sizes)]


def _cpp_number(number: Number) -> str:
    return DTYPES[NUMBERS[number.kind]]


# ---------------------------------------------------------------- reading


def parsed(text: str) -> Signature:
    """The signature that a text says. Raises BadSignature."""
    left, arrow, right = text.partition("->")
    if not arrow:
        raise BadSignature(f"{text!r} has no '->' between what the function takes and what it gives")
    left, right = left.strip(), right.strip()
    if not (left.startswith("(") and left.endswith(")")):
        raise BadSignature(f"{left!r}: what the function takes stands in parentheses")
    taken = [_item(one, f"argument{k}") for k, one in enumerate(_split(left[1:-1]))]
    is_tuple = right.startswith("(") and right.endswith(")")
    given = _split(right[1:-1] if is_tuple else right)
    names = ["result"] if len(given) == 1 else [f"result{k}" for k in range(len(given))]
    results = [_item(one, name) for one, name in zip(given, names)]
    if not results or not all(isinstance(one, Array) for one in results):
        raise BadSignature(f"{right!r}: a result is an array, as 'float32[n]' or 'float32[]'")
    return _checked(taken, [one for one in results if isinstance(one, Array)], is_tuple or len(results) > 1)


def _split(text: str) -> list[str]:
    """The items between commas that stand in no brackets."""
    items = re.findall(r"(?:[^,\[]|\[[^\]]*\]?)+", text)
    return [item.strip() for item in items if item.strip()]


def _item(text: str, name: str) -> Array | Number:
    found = re.fullmatch(r"(?:([A-Za-z_]\w*)\s*:\s*)?(\w+)\s*(?:\[([^\]]*)\])?", text)
    if found is None:
        raise BadSignature(f"{text!r} is no type: write 'float32[h, w]', 'image: float32[h, w]', 'float' or 'int'")
    given, word, dims = found.groups()
    name = given or name
    if dims is None:
        if word in NUMBERS:
            return Number(name, word)
        hint = f": for an array of no dimensions write '{word}[]'" if word in DTYPES else ""
        raise BadSignature(f"{text!r} is no type of a number (those are {_listed(NUMBERS)}){hint}")
    if word not in DTYPES:
        raise BadSignature(f"{text!r}: arrays are of {_listed(DTYPES)}, not of {word!r}")
    return Array(name, word, tuple(dim.strip() for dim in dims.split(",")) if dims.strip() else ())


def _listed(words: Mapping[str, str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}"


def _checked(taken: list[Array | Number], results: list[Array], is_tuple: bool) -> Signature:
    names = [one.name for one in (*taken, *results)]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadSignature(f"two arguments or results are called {twice!r}")
    sizes: dict[str, None] = {}
    for one in taken:
        for dim in one.dims if isinstance(one, Array) else ():
            if not dim.isidentifier() and not dim.isdigit():
                raise BadSignature(f"'{one.text}': a size of an argument is a number or a name, not {dim!r}")
            if dim in names:
                raise BadSignature(f"'{one.text}': {dim!r} is the name of an argument or a result as well")
            sizes |= {dim: None} if dim.isidentifier() else {}
    if any(name == "where" for name in names):
        raise BadSignature("'where' is the name of the argument that says which calls of many are made")
    integers = {one.name for one in taken if isinstance(one, Number) and one.kind == "int"}
    used = {word for one in results for dim in one.dims for word in _names(one, dim)}
    if missing := sorted(used - sizes.keys() - integers):
        raise BadSignature(
            f"the size {missing[0]!r} of a result is no size of an argument, nor an argument of type int"
        )
    parameters = [Number(p.name, p.kind, p.name in used) if isinstance(p, Number) else p for p in taken]
    return Signature(tuple(parameters), tuple(results), tuple(sizes), is_tuple)


def _names(result: Array, dim: str) -> set[str]:
    """The names in the size of a result."""
    try:
        tree = ast.parse(dim, mode="eval").body
    except SyntaxError:
        tree = None
    if tree is None or not _is_arithmetic(tree):
        raise BadSignature(f"'{result.text}': {dim!r} is no size; it is made of names and numbers by + - * //")
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _is_arithmetic(node: ast.expr) -> bool:
    match node:
        case ast.Name() | ast.Constant(value=int()):
            return True
        case ast.BinOp(left=left, op=op, right=right):
            return type(op) in _ARITHMETIC and _is_arithmetic(left) and _is_arithmetic(right)
    return False


# ---------------------------------------------------------------- sizes of a call


def size_of(dim: str, sizes: Mapping[str, Any]) -> Any:
    """A size of a result, from those of the arguments; an integer, or one of a graph."""
    if dim in sizes:
        return sizes[dim]
    return int(dim) if dim.isdigit() else _value(ast.parse(dim, mode="eval").body, sizes)


def _value(node: ast.expr, sizes: Mapping[str, Any]) -> Any:
    match node:
        case ast.Name(id=name):
            return sizes[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _ARITHMETIC[type(op)](_value(left, sizes), _value(right, sizes))
    assert isinstance(node, ast.Constant)
    return node.value
