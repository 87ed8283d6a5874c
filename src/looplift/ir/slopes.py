"""The slopes of values, gathered from the last operation to the first: what flows to a value is added up.

A slope has the shape of its value. What is made while no graph is asked for leads back to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.base.spans import Span
from looplift.ir.facts import Facts
from looplift.ir.grammar import Atom, Const, Group, Let, Op, Operand, Require, Var

STOPS = frozenset(
    """detach item tolist numpy eq ne lt le gt ge not and_ or_ isnan isinf isfinite argmax argmin argsort sign floor
    ceil round attribute numel size dim len iter_len zeros_like ones_like full_like
    empty_like rand_like randn_like new_zeros new_ones new_full new_empty bool int long slope_of""".split()
)
"""Operations that no gradient flows through."""


LISTS = ("list", "tuple")
"""Of tensors, which have slopes of their own."""


Rule = Callable[["Slopes", Let, Atom], None]
"""Adds to the slopes of what an operation takes, from the slope of its result."""


class Slopes:
    """Slopes of values, and the operations that compute them, in order."""

    def __init__(self, facts: Facts, made: dict[Var, Let], names: Iterator[str], span: Span, *, creates: bool):
        self.facts, self.made, self.names, self.span, self.creates = facts, made, names, span, creates
        self.lets: list[Let | Require] = []
        self.of: dict[Atom, Atom] = {}
        self.wanted: set[Var] = set()
        self.alone: dict[Var, Var] = {}

    def begin(self, output: Any, seed: Any, like: Any) -> None:
        """The slope of the output itself; ``like`` is an input of its dtype, so that the output may go unread."""
        if seed is None:
            if any(extent != 1 for extent in self.shape(output)):
                raise self.refusal("the gradient of an output with several elements")
            if like is None:
                seed = self.let("torch.ones_like", output)
            else:
                seed = self.let("method.new_ones", like, group(*self.shape(output)))
        elif self.shape(seed) != self.shape(output) or self.dtype(seed) != self.dtype(output):
            raise self.refusal("'grad_outputs' of another shape or dtype than the output")
        self.of[output] = seed

    def through(self, let: Let, wanted: set[Var], rules: dict[str, Rule]) -> None:
        """The slopes of what an operation takes, of those that are wanted."""
        self.wanted = wanted
        slope = self.of.get(let.var)
        if slope is not None:
            rules[let.op.name.rpartition(".")[2]](self, let, slope)

    def refusal(self, message: str) -> NotLiftable:
        return NotLiftable("gradient", message, self.span)

    def shape(self, atom: Any) -> tuple[int, ...]:
        return self.facts[atom].shape

    def let(self, name: str, *args: Operand, **kwargs: Operand) -> Var:
        """The result of an operation; only a graph that is asked for leads back to what it takes."""
        if not self.creates and name not in ("attribute", "method.numel", "torch.autograd.grad"):
            args = tuple(map(self.detached, args))
        var = Var(next(self.names))
        self.lets.append(Let(var, Op(name, tuple(args), tuple(kwargs.items())), self.span))
        return var

    def check_no_graph(self, name: str) -> None:
        """Refuses a graph through a slope whose own derivative torch has by another formula, or not at all."""
        if self.creates:
            raise self.refusal(f"a gradient of a gradient through '{name}'")

    def require(self, condition: Atom, why: str) -> None:
        """Else the loop runs, which raises."""
        self.lets.append(Require(condition, why, self.span))

    def detached(self, operand: Operand) -> Operand:
        if not isinstance(operand, Var) or operand not in self.facts.of or "float" not in self.dtype(operand):
            return operand
        if operand not in self.alone:
            self.alone[operand] = var = Var(next(self.names))
            self.lets.append(Let(var, Op("method.detach", (operand,)), self.span))
        return self.alone[operand]

    def dtype(self, atom: Any) -> str:
        return str(self.facts[atom].kind.dtype)

    def add(self, operand: Any, slope: Callable[[], Atom] | Atom, shape: tuple[int, ...] | None = None) -> None:
        """Add to the slope of an operand what flows to it, which has this shape, or the operand's."""
        if operand not in self.wanted:
            return
        value = slope if isinstance(slope, Var | Const) else slope()
        if shape is not None:
            value = self.summed(value, shape, self.shape(operand))
        before = self.of.get(operand)
        self.of[operand] = value if before is None else self.let("add", before, value)

    def summed(self, slope: Atom, shape: tuple[int, ...], wanted: tuple[int, ...]) -> Atom:
        """The slope of what was broadcast from the wanted shape to another."""
        if shape == wanted:
            return slope
        if not wanted:
            return self.let("method.sum", slope)
        extra = len(shape) - len(wanted)
        if extra:
            slope = self.let("method.sum", slope, group(*range(extra)))
        for axis, (have, want) in enumerate(zip(shape[extra:], wanted)):
            if want == 1 and have != 1:
                slope = self.let("method.sum", slope, Const(axis), keepdim=Const(True))
        return slope

    def count(self, atom: Any) -> Atom:
        """The number of elements of a value."""
        return self.let("method.numel", atom)


def group(*axes: int) -> Operand:
    return Group("tuple", tuple(map(Const, axes)))


def argument(let: Let, position: int, name: str, default: Any) -> Any:
    """An argument as it stands, by its place or name."""
    return let.op.args[position] if len(let.op.args) > position else dict(let.op.kwargs).get(name, Const(default))


def given(let: Let, position: int, name: str, default: Any = None) -> Any:
    """A constant argument, by its place or name."""
    found = argument(let, position, name, default)
    if isinstance(found, Group) and all(isinstance(item, Const) for item in found.items):
        return tuple(item.value for item in found.items if isinstance(item, Const))
    return found.value if isinstance(found, Const) else ...


def only(s: Slopes, let: Let, count: int, *names: str) -> None:
    """Refuses an operation with more arguments than its rule knows."""
    if len(let.op.args) > count or {name for name, _ in let.op.kwargs} - set(names):
        raise s.refusal(f"a gradient through '{let.op.name}' with arguments for which there is no rule")


def extent(s: Slopes, x: Any, axis: int) -> Atom:
    return s.let("getitem", s.let("attribute", x, Const("shape")), Const(axis))


def positions(s: Slopes, x: Any, extent: Atom) -> Atom:
    """The places of a dimension, where the tensor is."""
    device = s.facts[x].sample.device
    options = {"device": Const(str(device))} if device.type != "cpu" else {}
    return s.let("torch.arange", extent, **options)


def axis_of(s: Slopes, let: Let) -> tuple[Any, int]:
    """What an operation takes, and the dimension along which it works."""
    only(s, let, 2, "dim")
    axis = given(let, 1, "dim", ...)
    if type(axis) is not int:
        raise s.refusal(f"a gradient through '{let.op.name}' along a dimension that is not known before the loop runs")
    return let.op.args[0], axis
