"""Calls that typed programs have no form for in, calls of the library's own function out, through Python.

step = torch.linalg.solve(A, g)     Site& o1 = called<0>(nullptr, 0, v_A, v_g);
                                    Ten<F, 1> t2 = result_at<F, 1>(o1, 0, 0);

The function gets copies, changes nothing, and what it makes is no part of them: then nobody knows its call from the
loop's. What kinds its results are of is found with samples, and checked where it runs.
"""

from __future__ import annotations

import ast
import math
import warnings
from typing import Any

import torch

from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.base.syntax import nodes_of
from looplift.emit.typed_composed import Composed
from looplift.emit.typed_scope import Refused, Value
from looplift.emit.typed_tensor_ops import is_tensor, type_of_result
from looplift.emit.typed_types import BOOL, DTYPES, FLOAT, INT, Either, Fixed, Ten, Tup, text_of
from looplift.ops.names import name_of
from looplift.ops.table import base_name, family, is_pure_call
from looplift.ops.writes import writes_operand

_NUMBERS = {BOOL: False, INT: 1, FLOAT: 1.0}
_TELLING = frozenset("equal allclose is_nonzero is_same_size numel is_floating_point".split())
"""Functions that make numbers of Python's of what tensors hold, and not of where they hold it."""
_EXTENTS = (2, 3, 4, 1)
"""Those of samples: some functions take vectors of three alone, or tensors of one element."""


@dataclass
class _Call:
    """Tensors and numbers that the program computes, and the text of the call in which ``a0`` is the first of those,
    ``n0`` of these."""

    name: str
    tensors: list[Value] = field(default_factory=list)
    numbers: list[Value] = field(default_factory=list)
    text: str = ""

    def operand(self, value: Value) -> str:
        letter, operands = ("a", self.tensors) if is_tensor(value) else ("n", self.numbers)
        operands.append(value)
        return f"{letter}{len(operands) - 1}"

    @property
    def operands(self) -> list[Value]:
        return [*self.tensors, *self.numbers]

    def fits(self) -> bool:
        """Whether there is room for what is known of the operands."""
        return len(self.tensors) <= 8 and sum(one.type.rank for one in self.tensors) <= 32


class LibraryCalls(Composed):
    """Calls of functions of PyTorch's, and of methods of its tensors."""

    library: dict[str, int]
    """What is called, as functions of tensors and numbers, in the order of these."""

    def __init__(self) -> None:
        super().__init__()
        self.library = {}
        self.without_form: dict[int, Refused] = {}
        """By the calls: why they have none."""
        self._results: dict[Any, Any] = {}

    def of_Call(self, node: ast.Call) -> Value:
        lines, count, known = self.lines, len(self.lines), (set(self.bound), dict(self.renamed), self.told)
        modules = dict(self.unrolled), dict(self.counted)
        try:
            return super().of_Call(node)
        except Refused as refusal:
            if refusal.node is not None and refusal.node is not node:
                raise
            self.lines = lines
            del lines[count:]
            self.bound, self.renamed, self.told = known
            self.unrolled, self.counted = modules
            found = self._by_library(node)
            if found is None:
                refusal.node = node  # what it stands in is not called so, either
                raise
            self.without_form.setdefault(id(node), refusal)
            return found

    def _by_library(self, node: ast.Call) -> Value | None:
        """None for what is not called through Python."""
        try:
            name = self._library_name(node)
        except Refused:  # as of a module, which is no value
            return None
        if name is None or self.joins.has_numpy:
            return None
        call = self._call_of(name, node)
        if call is None or (call.tensors and self.joins.tracked):  # what flows back through it is not known
            return None
        key = call.text, tuple(value.type for value in call.operands)
        if key not in self._results:
            self._results[key] = _result_of(call)
        result = self._results[key]
        return None if result is None else self._called_by_library(call, result)

    def _library_name(self, node: ast.Call) -> str | None:
        if isinstance(node.func, ast.Attribute) and self.resolved(node.func) is None:
            type_ = self.peek(node.func.value)
            is_method = isinstance(type_, Ten) and callable(getattr(torch.Tensor, node.func.attr, None))
            return f"method.{node.func.attr}" if is_method else None
        function = self.callee(node)
        name = (name_of(function) if callable(function) else None) or ""
        return name if name.startswith("torch.") else None

    def _call_of(self, name: str, node: ast.Call) -> _Call | None:
        """The call with its operands evaluated in their order; None where it may have effects, or an operand is no
        number, tensor or constant."""
        words = [str(one.arg) for one in node.keywords]
        if not _has_no_effects(name) or any(isinstance(one, ast.Starred) for one in node.args):
            return None
        if {*words} & {"out", "inplace", "generator", "requires_grad"}:
            return None
        is_method = name.startswith("method.")
        nodes = [node.func.value] if is_method and isinstance(node.func, ast.Attribute) else []
        nodes += [*node.args, *(one.value for one in node.keywords)]
        read = [leaf for one in nodes for leaf in _leaves(one)]
        values = [self.keep(self.present(value)) for value in self.several(*read)]
        call, given = _Call(name), dict(zip(map(id, read), values, strict=True))
        texts = [_text_of(one, given, call) for one in nodes]
        if None in texts or not call.fits():
            return None
        positional = [str(one) for one in texts[: len(texts) - len(words)]]
        arguments = [*positional[is_method:], *(f"{word}={one}" for word, one in zip(words, texts[len(positional) :]))]
        owner = f"{positional[0]}.{base_name(name)}" if is_method else name
        call.text = f"{owner}({', '.join(arguments)})"
        return call

    def _called_by_library(self, call: _Call, result: Any) -> Value:
        tensors, numbers = call.tensors, call.numbers
        parameters = ", ".join(
            f"{letter}{k}" for letter, all_ in (("a", tensors), ("n", numbers)) for k in range(len(all_))
        )
        text = f"lambda {parameters}: {call.text}" if parameters else f"lambda: {call.text}"
        given, made, place = self.fresh("n"), self.fresh("o"), self.library.setdefault(text, len(self.library))
        if numbers:
            self.emit(f"PyObject* {given}[] = {{{', '.join(f'object({one.code})' for one in numbers)}}};")
        arguments = [given if numbers else "nullptr", str(len(numbers)), *(one.code for one in tensors)]
        self.emit(f"Site& {made} = called<{place}>({', '.join(arguments)});")
        self.inexact.add(base_name(call.name))
        results = result.items if isinstance(result, Tup) else [result]
        if any(isinstance(one, Ten) and one.rank for one in (*results, *(one.type for one in tensors))):
            self.makes_rows = self.keeps_rows = True  # other forms may call it for many at once
        if not isinstance(result, Tup):
            return self._result_at(f"{made}, 0, 0", result)
        count = len(result.items)
        values = [self._result_at(f"{made}, {place}, {count}", type_) for place, type_ in enumerate(result.items)]
        return self.tuple_of(values, named=result.named)

    def _result_at(self, where: str, type_: Any) -> Value:
        if not isinstance(type_, Ten):
            return self.keep(Value(type_, f"From<{text_of(type_)}>::of(item_of({where}))"))
        return self.keep(Value(type_, f"result_at<{DTYPES[type_.dtype]}, {type_.rank}>({where})"))


WORK = 8
"""So many operations pay for a call of the library, which takes somewhat longer than that of the loop does."""
_LOOPS = ast.For | ast.While | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_OPERATIONS = ast.BinOp | ast.Compare | ast.Call | ast.Subscript | ast.AugAssign


def check_worth(writer: LibraryCalls, main: list[ast.stmt], functions: list[list[ast.stmt]]) -> None:
    """Raises NotLiftable where little is done beside calls of the library, in loops or in functions."""
    places: list[ast.AST] = [node for one in main for node in nodes_of(one) if isinstance(node, _LOOPS)]
    places += [statement for body in functions for statement in body]
    inside = {id(node): node for one in places for node in nodes_of(one)}
    outside = {id(node) for one in main for node in nodes_of(one)} - inside.keys()
    calls = [refusal for place, refusal in writer.without_form.items() if place not in outside]
    operations = sum(isinstance(node, _OPERATIONS) for node in inside.values()) - len(calls)
    if operations < WORK * len(calls):
        raise calls[0]


def _has_no_effects(name: str) -> bool:
    return is_pure_call(name, torch.ones(())) and family(name) != "random"


def _leaves(node: ast.expr) -> list[ast.expr]:
    """The expressions of an argument that is written as a tuple or a list of others, constants left out."""
    if isinstance(node, ast.Tuple | ast.List):
        return [leaf for one in node.elts for leaf in _leaves(one)]
    return [] if isinstance(node, ast.Constant) else [node]


def _text_of(node: ast.expr, given: dict[int, Value], call: _Call) -> str | None:
    """An argument in the text of a call; None where it has no form."""
    if isinstance(node, ast.Tuple | ast.List):
        return _sequence([_text_of(one, given, call) for one in node.elts], isinstance(node, ast.List))
    if isinstance(node, ast.Constant):
        return None if isinstance(node.value, complex) else repr(node.value)
    return _text_of_value(given[id(node)], call)


def _sequence(parts: list[str | None], is_list: bool) -> str | None:
    if any(one is None for one in parts):
        return None
    text = ", ".join(map(str, parts))
    return f"[{text}]" if is_list else f"({text}{',' if len(parts) == 1 else ''})"


def _text_of_value(value: Value, call: _Call) -> str | None:
    type_ = value.type
    if isinstance(type_, Fixed):
        return str(type_.value) if isinstance(type_.value, torch.dtype) else f"torch.device({str(type_.value)!r})"
    if isinstance(type_, Either):
        return call.operand(Value(type_.tensor, f"tensor_of({value.code})"))
    if isinstance(type_, Tup) and type_.of is None:
        parts = [Value(one, f"{value.code}.a{place}") for place, one in enumerate(type_.items)]
        return _sequence([_text_of_value(one, call) for one in parts], is_list=False)
    return call.operand(value) if isinstance(type_, Ten) or type_ in _NUMBERS else None


# ---------------------------------------------------------------- samples


def _result_of(call: _Call) -> Any:
    """The type of a call's result, or a tuple of those; None where it has no form, or changes or shows its operands."""
    state = torch.get_rng_state()
    try:
        for extent in _EXTENTS:
            values = [_sample(value.type, extent) for value in call.operands]
            found = _tried(call, values)
            if found is not None:
                return None if not torch.equal(state, torch.get_rng_state()) else _type_of(found, call, values)
    finally:
        torch.set_rng_state(state)
    return None


def _tried(call: _Call, values: list[Any]) -> Any:
    tensors, numbers = values[: len(call.tensors)], values[len(call.tensors) :]
    names = {f"a{k}": value for k, value in enumerate(tensors)} | {f"n{k}": value for k, value in enumerate(numbers)}
    if writes_operand(call.name, values, {}):
        return None
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return eval(call.text, {"torch": torch, "inf": math.inf, "nan": math.nan}, names)
        except Exception:
            return None


def _sample(type_: Any, extent: int) -> Any:
    if not isinstance(type_, Ten):
        return _NUMBERS[type_]
    dtype, shape = getattr(torch, type_.dtype), [extent] * type_.rank
    if type_.rank < 2:
        return torch.ones(shape, dtype=dtype)
    return torch.eye(extent).expand(shape).to(dtype).clone()


def _type_of(found: Any, call: _Call, values: list[Any]) -> Any:
    if type(found) in (bool, int, float):
        return {bool: BOOL, int: INT, float: FLOAT}[type(found)] if base_name(call.name) in _TELLING else None
    results = list(found) if isinstance(found, tuple) else [found]
    given = [one for one in values if isinstance(one, torch.Tensor)]
    if not results or not all(type(one) is torch.Tensor and one.device.type == "cpu" for one in results):
        return None
    if any(_shares_memory(one, given) for one in results) or any(one._version for one in given):
        return None
    try:
        types = tuple(map(type_of_result, results))
    except NotLiftable:
        return None
    return Tup(types, type(found) is not tuple) if isinstance(found, tuple) else types[0]


def _shares_memory(tensor: torch.Tensor, others: list[torch.Tensor]) -> bool:
    """Whether a tensor is one of others, or a view of one."""
    place = tensor.untyped_storage().data_ptr()
    return any(place == one.untyped_storage().data_ptr() for one in others if one.numel())
