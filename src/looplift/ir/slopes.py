"""The slopes of values, gathered from the last operation to the first: what flows to a value is added up.

A slope has the shape of its value. What is made while no graph is asked for leads back to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from looplift.base.data import dataclass, replace
from looplift.base.errors import NotLiftable
from looplift.base.spans import Span
from looplift.ir.facts import Facts
from looplift.ir.grammar import Atom, Const, Group, Let, Op, Operand, Require, Slice, Var, operands

STOPS = frozenset(
    """detach item tolist numpy eq ne lt le gt ge not and_ or_ isnan isinf isfinite argmax argmin argsort
    numel size dim len iter_len zeros_like ones_like full_like
    empty_like rand_like randn_like new_zeros new_ones new_full new_empty bool int long""".split()
)
"""Operations that no gradient flows through."""
TO_NUMBERS = frozenset("math.floor math.ceil math.trunc builtin.round".split())
"""Functions of the same name as others that do give gradients, of zeros: these give numbers."""
CHOICES = frozenset("builtin.max builtin.min builtin.sorted".split())
"""Functions of which the values decide which operands the result comes from."""
FACTS_OF_TENSORS = frozenset(
    """shape dtype device ndim layout is_cuda is_leaf requires_grad data grad grad_fn itemsize nbytes names""".split()
)
"""Attributes of tensors that no gradient flows through."""

GRADIENT = "slope_of"
"""``slope_of(y, x, seed=…, creates=…, retains=…)``: of the sum of ``y * seed`` by ``x``."""
THROUGH = "slopes_through"
"""``slopes_through(called, ends, slopes, args, …)``: the slopes of the ends, of which an operation makes results.

``slopes`` are those of its results, None for results that have none; the ends are where the arguments have holes.
"""


LISTS = ("list", "tuple")
"""Of tensors, which have slopes of their own."""


Rule = Callable[["Slopes", Let, Atom], None]
"""Adds to the slopes of what an operation takes, from the slope of its result."""


class Hole:
    """The place of an operand among the arguments of an operation."""

    def __repr__(self) -> str:
        return "_"


@dataclass(frozen=True, eq=False)
class Called:
    """The operation that slopes go back through, and the places of its operands that get some.

    ``creates``: whether these slopes have slopes of their own.
    """

    name: str
    holes: tuple[Hole, ...]
    creates: bool

    def __repr__(self) -> str:
        return self.name


def filled(value: Any, given: Mapping[Any, Any]) -> Any:
    """Values, or operands, with others in the place of holes."""
    match value:
        case tuple() | list():
            return type(value)(filled(item, given) for item in value)
        case dict():
            return {key: filled(item, given) for key, item in value.items()}
        case Group(kind=kind, items=items):
            return Group(kind, filled(items, given))
        case Const(value=Hole() as hole):
            return given.get(hole, value)
        case Hole():
            return given.get(value, value)
    return value


@dataclass(frozen=True, eq=False)
class Differentiated:
    """What torch goes back through: the results that have a history, and for each end whether it gets a slope, and
    whether that may be in the memory of the slope of a result."""

    results: list[int]
    reached: list[bool]
    shows: list[bool]


Backwards = Callable[[Op, list[Atom], Callable[[Atom], Any]], Differentiated | None]
"""Tells of an operation, some of its operands and their values what torch goes back through; None if nothing."""


def stops(op: Op) -> bool:
    """Whether no gradient flows through an operation."""
    base = op.name.rpartition(".")[2]
    if base == "attribute":
        name = op.args[1]
        return isinstance(name, Const) and name.value in FACTS_OF_TENSORS
    if op.name == THROUGH:
        called = op.args[0]
        return isinstance(called, Const) and not called.value.creates
    if op.name == GRADIENT:
        return not any(key == "creates" and isinstance(one, Const) and one.value for key, one in op.kwargs)
    return base in STOPS or op.name in TO_NUMBERS


class Slopes:
    """Slopes of values, and the operations that compute them, in order."""

    def __init__(
        self,
        facts: Facts,
        made: dict[Var, Let],
        names: Iterator[str],
        span: Span,
        backwards: Backwards,
        *,
        creates: bool,
    ):
        self.facts, self.made, self.names, self.span, self.creates = facts, made, names, span, creates
        self.backwards = backwards
        self.lets: list[Let | Require] = []
        self.of: dict[Atom, Atom] = {}
        self.of_parts: dict[Var, dict[int, Atom]] = {}
        """Of the results of operations that have several."""
        self.ones: set[Atom] = set()
        """Slopes that are one everywhere."""
        self.wanted: set[Var] = set()
        self.alone: dict[Var, Var] = {}

    def begin(self, output: Any, seed: Any, *, unread: bool) -> None:
        """The slope of the output itself; of one that is to go ``unread`` nothing is asked but what is known of it."""
        if seed is None:
            if any(extent != 1 for extent in self.shape(output)):
                raise self.refusal("the gradient of an output with several elements")
            if unread:
                options = {"dtype": Const(self.facts.kind(output).dtype), **self.placed(output)}
                seed = self.let("torch.ones", group(*self.shape(output)), **options)
            else:
                seed = self.let("torch.ones_like", output)
            self.ones.add(seed)
        elif self.shape(seed) != self.shape(output) or self.dtype(seed) != self.dtype(output):
            raise self.refusal("'grad_outputs' of another shape or dtype than the output")
        self.of[output] = seed

    def through(self, let: Let, wanted: set[Var], rules: dict[str, Rule]) -> None:
        """The slopes of what an operation takes, of those that are wanted: by its rule, else by torch."""
        self.wanted = wanted
        slope, rule = self.of.get(let.var), _rule(let.op.name, rules)
        if slope is None and let.var not in self.of_parts:
            return
        before = list(self.lets), dict(self.of), dict(self.alone)
        try:
            if rule is None or slope is None:
                raise self.refusal(f"a gradient through '{_said(let.op)}', of which no derivative is known")
            rule(self, let, slope)
        except NotLiftable as error:
            self.lets, self.of, self.alone = before
            self.by_torch(let, error)

    def by_torch(self, let: Let, refusal: NotLiftable) -> None:
        """The slopes of what an operation takes as torch finds them; ``refusal``: why there are no others."""
        if let.op.name in CHOICES:
            raise self.refusal(f"a gradient through '{let.op.name}', where values decide to what it flows")
        op = self.with_items(let.op)
        ends: list[Atom] = [atom for atom in dict.fromkeys(operands(op)) if atom in self.wanted]
        if any(not self.facts.kind(end).is_array for end in ends):
            raise refusal
        parts = {0: self.of[let.var]} if let.var in self.of else self.of_parts[let.var]
        found = self.backwards(op, ends, lambda atom: self.facts[atom].sample)
        if found is None:
            raise refusal
        parts = {place: slope for place, slope in parts.items() if place in found.results}
        reached = [end for end, is_reached in zip(ends, found.reached, strict=True) if is_reached]
        if not (reached and parts):
            return
        holes = {end: Const(Hole()) for end in reached}
        called = Const(Called(op.name, tuple(hole.value for hole in holes.values()), self.creates))
        count = 1 if let.var in self.of else len(self.facts[let.var].sample)
        slopes = Group("tuple", tuple(parts.get(k, Const(None)) for k in range(count)))
        args = Group("tuple", tuple(_with_holes(one, holes) for one in op.args))
        kwargs = {name: _with_holes(one, holes) for name, one in op.kwargs}
        every = self.let(THROUGH, called, Group("tuple", tuple(reached)), slopes, args, **kwargs)
        shown = {end for end, shows in zip(ends, found.shows, strict=True) if shows}
        for place, end in enumerate(reached):
            slope = self.let("getitem", every, Const(place))
            self.add(end, self.let("method.clone", slope) if end in shown else slope)

    def with_items(self, op: Op) -> Op:
        """The operation with the items of a list that is known in its place, where a display may stand."""
        if "." not in op.name:
            return op
        return replace(op, args=tuple(self.items_of(one) or one for one in op.args))

    def items_of(self, operand: Operand) -> Group | None:
        """The items of a list or tuple that is known item by item; None of anything else."""
        if isinstance(operand, Group):
            return operand
        made = self.made.get(operand) if isinstance(operand, Var) else None
        return Group(made.op.name, made.op.args) if made is not None and made.op.name in LISTS else None

    def add_part(self, several: Var, place: int, slope: Atom) -> None:
        """Add to the slope of one of the results of an operation."""
        if several in self.wanted:
            parts = self.of_parts.setdefault(several, {})
            parts[place] = self.let("add", parts[place], slope) if place in parts else slope

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
        if isinstance(operand, Group):
            return Group(operand.kind, tuple(map(self.detached, operand.items)))
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

    def placed(self, atom: Atom) -> dict[str, Operand]:
        """The argument by which a tensor is made where another one is."""
        device = self.facts[atom].sample.device
        return {"device": Const(str(device))} if device.type != "cpu" else {}

    def count(self, atom: Any) -> Atom:
        """The number of elements of a value."""
        return self.let("method.numel", atom)


def _said(op: Op) -> str:
    """The operation that an author has written."""
    if op.name != THROUGH:
        return op.name
    called, args = op.args[0], op.args[3]
    assert isinstance(called, Const) and isinstance(args, Group)
    return _said(Op(called.value.name, args.items))


NAMESPACES = ("", "torch", "torch.linalg", "torch.nn.functional", "method")
"""Of operations that have one meaning under one name."""


def _rule(name: str, rules: dict[str, Rule]) -> Rule | None:
    namespace, _, base = name.rpartition(".")
    return rules.get(base if namespace in NAMESPACES else name)


def _with_holes(operand: Operand, holes: Mapping[Any, Const]) -> Operand:
    match operand:
        case Group(kind=kind, items=items):
            return Group(kind, tuple(_with_holes(item, holes) for item in items))
        case Slice():
            return operand
    return holes.get(operand, operand)


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
