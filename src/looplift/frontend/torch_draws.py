"""Calls of PyTorch that draw one number in: ``torch.rand(1)``; what they draw, and calls over the states, out."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import torch

from looplift.base.data import dataclass
from looplift.frontend import mersenne
from looplift.frontend.libraries import LIBRARIES, Draw, OfTorch, Stream, is_as_written
from looplift.frontend.names import value_of

_BUILTINS = {"float": float, "int": int}
_FUNCTIONS = {"rand": torch.rand, "randn": torch.randn, "randint": torch.randint}
_FLOATS = {torch.float32: "float32", torch.float64: "float64"}


@dataclass(frozen=True)
class TorchDraw:
    """``owner``: the text of the generator; ``name``: of what is drawn; ``library``: of the function of PyTorch."""

    owner: str
    generator: torch.Generator
    name: str
    library: str
    arguments: tuple[ast.expr, ...] = ()


def torch_draw(node: ast.Call, known: Mapping[str, Any], bound: set[str]) -> TorchDraw | None:
    """What a call draws that makes a tensor of one element on the CPU; None of other calls."""
    function = value_of(node.func, known, bound)
    library = next((name for name, one in _FUNCTIONS.items() if one is function), "")
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    shape, arguments = _shape_and_others(library, node.args, given.pop("size", None))
    if not library or given.keys() - {"generator", "dtype"} or shape is None or not _is_one(shape):
        return None
    if torch.get_default_device().type != "cpu":
        return None
    if (owned := _generator(node, given.get("generator"), known, bound)) is None:
        return None
    owner, generator = owned
    if library == "randint":
        return None if "dtype" in given else TorchDraw(owner, generator, library, library, tuple(arguments))
    dtype = value_of(given["dtype"], known, bound) if "dtype" in given else torch.get_default_dtype()
    if dtype not in _FLOATS:
        return None
    return TorchDraw(owner, generator, f"{library} of {_FLOATS[dtype]}", library)


def _shape_and_others(
    library: str, args: list[ast.expr], size: ast.expr | None
) -> tuple[list[ast.expr] | None, list[ast.expr]]:
    """The extents of what is made, and the bounds of integers."""
    if any(isinstance(one, ast.Starred) for one in args):
        return None, []
    if library == "randint":
        bounds, sizes = (args[:-1], args[-1:]) if size is None else (args, [size])
        if len(bounds) not in (1, 2) or not isinstance(sizes[0], ast.Tuple | ast.List):
            return None, []
        return sizes[0].elts, bounds if len(bounds) == 2 else [ast.Constant(0), *bounds]
    sizes = args if size is None else [*args, size]
    if len(sizes) == 1 and isinstance(sizes[0], ast.Tuple | ast.List):
        return sizes[0].elts, []
    return sizes or None, []


def _is_one(shape: list[ast.expr]) -> bool:
    return all(isinstance(one, ast.Constant) and type(one.value) is int and one.value == 1 for one in shape)


def _generator(
    node: ast.Call, given: ast.expr | None, known: Mapping[str, Any], bound: set[str]
) -> tuple[str, torch.Generator] | None:
    """The generator that a call draws from, and its text."""
    if given is not None and not (isinstance(given, ast.Constant) and given.value is None):
        generator = value_of(given, known, bound)
        is_known = type(generator) is torch.Generator and generator.device.type == "cpu"
        return (ast.unparse(given), generator) if is_known else None
    if not isinstance(node.func, ast.Attribute) or value_of(node.func.value, known, bound) is not torch:
        return None
    return f"{ast.unparse(node.func.value)}.default_generator", torch.default_generator


def call_of(name: str, arguments: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), arguments, [])


class OfTensors(ast.NodeTransformer):
    """Numbers of tensors of one element as calls of functions over states."""

    finder: Any
    made: Any

    def drawn(self, stream: Stream, draw: Draw, arguments: list[ast.expr]) -> ast.expr:
        raise NotImplementedError

    def stream(self, owner: str, generator: Any, kind: type[Stream]) -> Stream:
        raise NotImplementedError

    def ask_for(self, root: str) -> None:
        raise NotImplementedError

    def name(self, function: Any) -> str:
        raise NotImplementedError

    def number_of_tensor(self, node: ast.Call) -> ast.expr | None:
        """``torch.rand(1).item()`` and ``float(torch.rand(()))``: the number of a tensor of one element."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Call() as inner, attr="item"), args=[], keywords=[]):
                drawn = self._drawn_by_torch(inner)
                return None if drawn is None else ast.copy_location(drawn[0], node)
            case ast.Call(func=ast.Name(id="float" | "int" as name), args=[ast.Call() as inner], keywords=[]):
                is_builtin = (
                    name not in self.finder.bound and self.finder.known.get(name, _BUILTINS[name]) is _BUILTINS[name]
                )
                drawn = self._drawn_by_torch(inner) if is_builtin else None
                return None if drawn is None else ast.copy_location(call_of(name, [drawn[0]]), node)
        return None

    def _drawn_by_torch(self, node: ast.Call) -> tuple[ast.expr, bool] | None:
        """The number that a tensor of one element gets, and whether it is one of 32 bits; None for other calls."""
        if (found := torch_draw(node, self.finder.known, self.finder.bound)) is None:
            return None
        owner, generator, name, library = found.owner, found.generator, found.name, found.library
        if not self.made.is_known_as(owner, generator) or not is_as_written(name, OfTorch):
            return None
        self.ask_for(owner.partition(".")[0])
        self.made.drawing[torch, library] = getattr(torch, library)
        arguments = [self.visit(one) for one in found.arguments]
        stream = self.stream(owner, generator, OfTorch)
        return self.drawn(stream, LIBRARIES[OfTorch][name], arguments), name.endswith("float32")

    def visit_If(self, node: ast.If) -> ast.AST:
        return self._tested(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._tested(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        return self._tested(node)

    def _tested(self, node: Any) -> ast.AST:
        node.test = self._test(node.test)
        return self.generic_visit(node)

    def _test(self, node: ast.expr) -> ast.expr:
        """A condition, of which only the truth counts: ``torch.rand(1) < 0.3`` is one of numbers."""
        match node:
            case ast.BoolOp(values=values):
                node.values = list(map(self._test, values))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                node.operand = self._test(operand)
            case ast.Compare(left=ast.Call() as inner, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]):
                if self._is_float(node.comparators[0]) and (drawn := self._drawn_by_torch(inner)) is not None:
                    node.left, is_single = drawn
                    if is_single:
                        node.comparators = [call_of(self.name(mersenne.single), node.comparators)]
        return node

    def _is_float(self, node: ast.expr) -> bool:
        """Whether an expression is a number of Python's that no statement here changes."""
        if isinstance(node, ast.Constant):
            return type(node.value) in (int, float)
        return type(value_of(node, self.finder.known, self.finder.bound)) is float
