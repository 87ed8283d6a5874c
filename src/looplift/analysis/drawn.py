"""A function that draws random numbers in a loop in, those of what it calls included; the same over what was drawn
before it, and where each draw stands, out.

for x in X:                              draw_1 = ...  # a row for each iteration
    std = ...                            for i, x in enumerate(X):
    eps = torch.randn_like(std)              std = ...
                                             eps = draw_1[i].view(std.shape).clone()
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from looplift.base.data import dataclass, replace
from looplift.base.errors import NotLiftable
from looplift.ir.facts import Facts
from looplift.ir.grammar import (
    Atom,
    Block,
    Const,
    Function,
    Group,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Range,
    Require,
    Statement,
    Var,
    While,
    as_atom,
    children,
    walk,
)
from looplift.ir.started import Changes
from looplift.ops import table

SIZED = ("rand", "randn")
LIKE = ("rand_like", "randn_like")
NAMES = (*SIZED, *LIKE, "bernoulli", "multinomial", "dropout")
NAMESPACES = ("torch", "torch.nn.functional", "method")
_BINARY = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//"}


@dataclass(frozen=True, eq=False)
class Place:
    """A draw, in loops that each run as often whatever the iteration of those around them. ``name``: what is drawn;
    ``of``: what it is drawn for, or what is drawn; ``rate``: of ``dropout``, and its text; ``counts``: the numbers of
    iterations, as text in terms of the arguments; ``generator``: the text of one; ``guards``: what must hold."""

    let: Let
    name: str
    loops: tuple[Loop, ...]
    counts: tuple[str, ...]
    of: Var
    rate: tuple[float, str] | None = None
    generator: str = ""
    guards: tuple[str, ...] = ()


def is_random(statement: Statement) -> bool:
    return isinstance(statement, Let) and table.family(statement.op.name) == "random"


def places(function: Function, facts: Facts) -> list[Place]:
    """Where all draws stand, in order. Raises NotLiftable where it depends on the data what is drawn."""
    found = [*_in_block(function.body, (), facts)]
    if len({place.loops[0] for place in found}) > 1:
        raise NotLiftable("random-order", "random numbers are drawn in several loops", found[-1].let.span)
    return found


def _in_block(block: Iterable[Statement], loops: tuple[Loop, ...], facts: Facts) -> Iterator[Place]:
    for statement in block:
        if is_random(statement):
            assert isinstance(statement, Let)
            if not loops:
                raise NotLiftable("random-order", "random numbers are drawn beside the loop", statement.span)
            yield _place(statement, loops, facts)
        drawing = [one for inner in children(statement) for one in walk(inner) if is_random(one)]
        if not drawing:
            continue
        if not isinstance(statement, Loop) or isinstance(statement.domain, While) or statement.stop is not None:
            what = "under an 'if'" if isinstance(statement, If) else "in a loop that is left early"
            raise NotLiftable("random-order", f"random numbers are drawn {what}", drawing[0].span)
        yield from _in_block(statement.body, (*loops, statement), facts)


def _place(let: Let, loops: tuple[Loop, ...], facts: Facts) -> Place:
    namespace, _, name = let.op.name.rpartition(".")
    given, options = list(let.op.args), dict(let.op.kwargs)
    generator = options.pop("generator", None)
    rate, guards = None, ()
    if name == "dropout":
        rate, guards = _rate(given, options, facts, let)
        given, options = given[:1], {}
    elif name == "multinomial":
        numbers = [*given[1:], *([options.pop("num_samples")] if "num_samples" in options else [])]
        given = given[:1] if [one.value if isinstance(one, Const) else None for one in numbers] == [1] else []
    elif name in SIZED:
        given, options = [let.var], {}
    of = given[0] if given else None
    if namespace not in NAMESPACES or name not in NAMES or len(given) != 1 or options or not isinstance(of, Var):
        text = f"'{let.op.name}' with these arguments is not drawn before the loop"
        raise NotLiftable("random-order", text, let.span)
    fact = facts[of]
    if not fact.fixed or fact.kind.family != "tensor":
        raise NotLiftable("random-order", "how many numbers are drawn differs by iteration", let.span)
    text = "" if generator is None else f"generator={_text(as_atom(generator), facts, let)}"
    counts = tuple(_count(loop, facts) for loop in loops)
    return Place(let, name, loops, counts, of, rate, text, guards)


def _rate(
    given: list[Operand], options: dict[str, Operand], facts: Facts, let: Let
) -> tuple[tuple[float, str], tuple[str, ...]]:
    """The probability of ``dropout``, its text, and what must hold: that it is one, in training."""
    values = dict(zip(("input", "p", "training", "inplace"), given, strict=False)) | options
    rest = {"p": Const(0.5), "training": Const(True), "inplace": Const(False)} | values
    found = {key: as_atom(one) for key, one in rest.items() if key != "input"}
    p, training, in_place = (facts[found[key]].sample for key in ("p", "training", "inplace"))
    text = _text(found["p"], facts, let)
    if type(p) is not float or not 0 < p < 1 or training is not True or in_place is not False:
        raise NotLiftable("random-order", "'dropout' of nothing or all, outside of training, or in place", let.span)
    guards = tuple(
        f"{_text(found[key], facts, let)} is {value}" for key, value in (("training", True), ("inplace", False))
    )
    return (p, text), (f"0 < {text} < 1", *guards)


# ---------------------------------------------------------------- numbers of iterations


def _count(loop: Loop, facts: Facts) -> str:
    """The number of iterations as text, in terms of the arguments."""
    domain = loop.domain
    assert isinstance(domain, Range)
    lo, hi, step = (_text(atom, facts, loop) for atom in (domain.lo, domain.hi, domain.step))
    return hi if (lo, step) == ("0", "1") else f"len(range({lo}, {hi}, {step}))"


def _text(atom: Atom, facts: Facts, at: Let | Loop) -> str:
    if isinstance(atom, Const):
        return repr(atom.value)
    paths = facts.function.attributes["paths"]
    if atom in paths:
        return paths[atom]
    made = next((s for s in walk(facts.function.body) if isinstance(s, Let) and s.var is atom), None)
    if made is not None:
        args = [one for one in made.op.args if isinstance(one, Var | Const)]
        match made.op.name, args:
            case (("iter_len" | "builtin.len"), [owner]):
                return f"len({_text(owner, facts, at)})"
            case (("add" | "sub" | "mul" | "floordiv"), [a, b]):
                return f"({_text(a, facts, at)} {_BINARY[made.op.name]} {_text(b, facts, at)})"
            case "attribute", [owner, Const(value="shape")]:
                return f"{_text(owner, facts, at)}.shape"
            case "method.size", [owner, Const(value=int(axis))]:
                return f"{_text(owner, facts, at)}.size({axis})"
            case "getitem", [owner, Const(value=int(item))]:
                return f"{_text(owner, facts, at)}[{item}]"
    raise NotLiftable("random-order", "how often random numbers are drawn is not known before the loop", at.span)


# ---------------------------------------------------------------- over what was drawn


def over_rows(function: Function, found: list[Place], columns: dict[str, Any], *, gradients: bool) -> Function:
    """The function over what was drawn: ``columns`` has a tensor for each draw, with a dimension for each loop."""
    changes = Changes({}, {})
    given = {Var(f"{name}.given"): (name, value) for name, value in columns.items()}
    for place, (column, (name, _)) in zip(found, given.items(), strict=True):
        made = _Made(name, place)
        changes.statements[id(place.let)] = tuple(made.statements(column, gradients=gradients))
    attributes = dict(function.attributes)
    attributes["paths"] = attributes["paths"] | {var: path for var, (path, _) in given.items()}
    attributes["values"] = attributes["values"] | {var: value for var, (_, value) in given.items()}
    body: Block = changes.block(function.body)
    return replace(function, params=(*function.params, *given), body=body, attributes=attributes)


class _Made:
    """What takes the place of a draw."""

    def __init__(self, name: str, place: Place):
        self.place, self.span = place, place.let.span
        self.names: Callable[[], str] = map(lambda k: f"{name}.{k}", itertools.count(1)).__next__
        self.lets: list[Statement] = []

    def let(self, name: str, *args: Operand, var: Var | None = None, **kwargs: Operand) -> Var:
        var = Var(self.names()) if var is None else var
        self.lets.append(Let(var, Op(name, args, tuple(kwargs.items())), self.span))
        return var

    def statements(self, column: Var, *, gradients: bool) -> list[Statement]:
        place = self.place
        numbers = [self._number(loop) for loop in place.loops]
        row = self.let("getitem", column, numbers[0] if len(numbers) == 1 else Group("tuple", tuple(numbers)))
        if place.name in SIZED:
            self.let("method.clone", row, var=place.let.var)
            return self.lets
        held = self.let("method.view", row, self.let("attribute", place.of, Const("shape")))
        match place.name:
            case "bernoulli":
                self._coins(held, gradients=gradients)
            case "multinomial":
                self._chosen(held)
            case "dropout":
                self.let("mul", place.of, held, var=place.let.var)
            case _:
                self.let("method.clone", held, var=place.let.var)
        return self.lets

    def _number(self, loop: Loop) -> Atom:
        """The number of an iteration."""
        domain, index = loop.domain, loop.index
        assert isinstance(domain, Range) and index is not None
        if isinstance(domain.step, Const) and domain.step.value in (1, -1):
            is_first = isinstance(domain.lo, Const) and domain.lo.value == 0
            if domain.step.value == 1:
                return index if is_first else self.let("sub", index, domain.lo)
            return self.let("sub", domain.lo, index)
        raise NotLiftable("random-order", "random numbers are drawn in a loop of larger steps", loop.span)

    def _coins(self, held: Var, *, gradients: bool) -> None:
        p, var = self.place.of, self.place.let.var
        self._require(self.let("ge", p, Const(0)), self.let("le", p, Const(1)))
        coin = self.let("method.to", self.let("lt", held, p), self.let("attribute", p, Const("dtype")))
        # torch has gradients of zero for probabilities
        self.let("add", coin, self.let("mul", p, Const(0)) if gradients else Const(0), var=var)

    def _chosen(self, held: Var) -> None:
        p = self.place.of
        self._require(self.let("ge", p, Const(0)), self.let("lt", p, Const(float("inf"))))
        self._require(self.let("gt", self.let("method.sum", p, Const(-1)), Const(0)))
        scaled = self.let("truediv", p, held)
        self.let("method.argmax", scaled, Const(-1), keepdim=Const(True), var=self.place.let.var)

    def _require(self, *conditions: Var) -> None:
        """What PyTorch raises an error without."""
        for condition in conditions:
            self.lets.append(Require(self.let("method.all", condition), "a probability is none", self.span))
