"""A function that draws random numbers in a loop in, those of what it calls included; the same over what was drawn
before it, and where each draw stands, out.

for x in X:                              draw_1 = ...  # a row for each iteration
    std = ...                            for i, x in enumerate(X):
    eps = torch.randn_like(std)              std = ...
                                             eps = draw_1[i].view(std.shape).clone()
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from looplift.base.data import dataclass, replace
from looplift.base.errors import NotLiftable
from looplift.base.spans import Span
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
_BINARY = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "eq": "==", "ne": "!=", "lt": "<", "le": "<=",
    "gt": ">", "ge": ">=",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Place:
    """A draw, in loops that each run as often whatever the iteration of those around them. ``name``: what is drawn;
    ``of``: what it is drawn for, or what is drawn; ``rate``: of ``dropout``, and its text; ``counts``: for each loop a
    name of its iteration's number, and how many there are, as text in terms of the arguments; ``tests``: whether these,
    in terms of both, hold where it draws; ``generator``: the text of one; ``guards``: what must hold."""

    let: Let
    name: str
    loops: tuple[Loop, ...]
    counts: tuple[tuple[str, str], ...]
    tests: tuple[tuple[str, bool], ...]
    of: Var
    rate: tuple[float, str] | None = None
    generator: str = ""
    guards: tuple[str, ...] = ()


def is_random(statement: Statement) -> bool:
    return isinstance(statement, Let) and table.family(statement.op.name) == "random"


def places(function: Function, facts: Facts) -> list[Place]:
    """Where all draws stand, in order. Raises NotLiftable where it depends on the data what is drawn."""
    found = [*_Places(function, facts).of(function.body, (), ())]
    if len({place.loops[0] for place in found}) > 1:
        raise NotLiftable("random-order", "random numbers are drawn in several loops", found[-1].let.span)
    return found


class _Places:
    def __init__(self, function: Function, facts: Facts):
        self.facts, self.text = facts, _Text(function, facts)

    def of(
        self, block: Iterable[Statement], loops: tuple[Loop, ...], tests: tuple[tuple[str, bool], ...]
    ) -> Iterator[Place]:
        for statement in block:
            if is_random(statement):
                assert isinstance(statement, Let)
                if not loops:
                    raise NotLiftable("random-order", "random numbers are drawn beside the loop", statement.span)
                yield self._place(statement, loops, tests)
            if not any(is_random(one) for inner in children(statement) for one in walk(inner)):
                continue
            match statement:
                case If(cond=cond, then=then, orelse=orelse) if loops:
                    test = self.text.of(cond, statement.span)
                    yield from self.of(then, loops, (*tests, (test, True)))
                    yield from self.of(orelse, loops, (*tests, (test, False)))
                case Loop(domain=Range(), stop=None, body=body) if not tests:
                    self.text.number(statement)
                    yield from self.of(body, (*loops, statement), ())
                case _:
                    text = "random numbers are drawn in a loop that is left early, or under an 'if'"
                    raise NotLiftable("random-order", text, statement.span)

    def _place(self, let: Let, loops: tuple[Loop, ...], tests: tuple[tuple[str, bool], ...]) -> Place:
        namespace, _, name = let.op.name.rpartition(".")
        given, options = list(let.op.args), dict(let.op.kwargs)
        generator = options.pop("generator", None)
        rate, guards = None, ()
        if name == "dropout":
            rate, guards = self._rate(given, options, let)
            given, options = given[:1], {}
        elif name == "multinomial":
            numbers = [*given[1:], *([options.pop("num_samples")] if "num_samples" in options else [])]
            given = given[:1] if [one.value if isinstance(one, Const) else None for one in numbers] == [1] else []
        elif name in SIZED and options.keys() <= {"size", "dtype", "device"}:
            given, options = [let.var], {}
        of = given[0] if given else None
        if namespace not in NAMESPACES or name not in NAMES or len(given) != 1 or options or not isinstance(of, Var):
            text = f"'{let.op.name}' with these arguments is not drawn before the loop"
            raise NotLiftable("random-order", text, let.span)
        fact = self.facts[of]
        if not fact.fixed or fact.kind.family != "tensor":
            raise NotLiftable("random-order", "how many numbers are drawn differs by iteration", let.span)
        text = "" if generator is None else f"generator={self.text.of(generator, let.span)}"
        counts = tuple((self.text.numbers[loop.index][0], self.text.count(loop)) for loop in loops)
        return Place(let, name, loops, counts, tests, of, rate, text, guards)

    def _rate(
        self, given: list[Operand], options: dict[str, Operand], let: Let
    ) -> tuple[tuple[float, str], tuple[str, ...]]:
        """The probability of ``dropout``, its text, and what must hold: that it is one, in training."""
        if options.keys() - {"p", "training", "inplace"}:
            raise NotLiftable("random-order", "'dropout' with arguments that are not known here", let.span)
        values = dict(zip(("input", "p", "training", "inplace"), given, strict=False)) | options
        rest = {"p": Const(0.5), "training": Const(True), "inplace": Const(False)} | values
        found = {key: as_atom(one) for key, one in rest.items() if key != "input"}
        p, training, in_place = (self.facts[found[key]].sample for key in ("p", "training", "inplace"))
        if type(p) is not float or not 0 < p < 1 or training is not True or in_place is not False:
            raise NotLiftable("random-order", "'dropout' of nothing or all, outside of training, or in place", let.span)
        texts = {key: self.text.of(atom, let.span) for key, atom in found.items()}
        guards = f"0 < {texts['p']} < 1", f"{texts['training']} is True", f"{texts['inplace']} is False"
        return (p, texts["p"]), guards


# ---------------------------------------------------------------- text in terms of the arguments


class _Text:
    """Values as text, in terms of arguments and of the numbers of iterations. Raises NotLiftable of others."""

    def __init__(self, function: Function, facts: Facts):
        self.facts, self.paths = facts, function.attributes["paths"]
        self.made = {s.var: s.op for s in walk(function.body) if isinstance(s, Let)}
        self.numbers: dict[Var | None, tuple[str, Range]] = {}
        """Names for the numbers of iterations, by the index of the loop."""
        self.taken = {name for path in self.paths.values() for name in re.findall(r"\w+", path)}

    def number(self, loop: Loop) -> None:
        """Give the iterations of a loop a name."""
        assert isinstance(loop.domain, Range)
        name = f"iteration_{len(self.numbers) + 1}"
        while name in self.taken:
            name += "_"
        self.numbers[loop.index] = name, loop.domain

    def count(self, loop: Loop) -> str:
        """The number of iterations."""
        domain = self.numbers[loop.index][1]
        lo, hi, step = (self.of(atom, loop.span) for atom in (domain.lo, domain.hi, domain.step))
        return hi if (lo, step) == ("0", "1") else f"len(range({lo}, {hi}, {step}))"

    def of(self, atom: Operand, span: Span) -> str:
        if isinstance(atom, Const):
            return repr(atom.value)
        if atom in self.paths:
            return self.paths[atom]
        if atom in self.numbers:
            name, domain = self.numbers[atom]
            first, step = self.of(domain.lo, span), self.of(domain.step, span)
            return name if (first, step) == ("0", "1") else f"({first} + {step} * {name})"
        op = self.made.get(atom) if isinstance(atom, Var) else None
        match (op.name, op.args) if op is not None else ("", ()):
            case (("iter_len" | "builtin.len"), [owner]):
                return f"len({self.of(owner, span)})"
            case name, [a, b] if name in _BINARY and self._is_number(a) and self._is_number(b):
                return f"({self.of(a, span)} {_BINARY[name]} {self.of(b, span)})"
            case ("builtin.min" | "builtin.max") as name, [a, b] if self._is_number(a) and self._is_number(b):
                return f"{name.removeprefix('builtin.')}({self.of(a, span)}, {self.of(b, span)})"
            case "not", [a] if self._is_number(a):
                return f"(not {self.of(a, span)})"
            case "attribute", [owner, Const(value="shape")]:
                return f"{self.of(owner, span)}.shape"
            case "method.size", [owner, Const(value=int(axis))]:
                return f"{self.of(owner, span)}.size({axis})"
            case "getitem", [Var() as owner, Const(value=int(item))] if self._is_shape(owner):
                return f"{self.of(owner, span)}[{item}]"
        raise NotLiftable("random-order", "how many random numbers are drawn is not known before the loop", span)

    def _is_number(self, operand: Operand) -> bool:
        return isinstance(operand, Var | Const) and self.facts.kind(operand).family in ("int", "float", "bool")

    def _is_shape(self, owner: Var) -> bool:
        return owner in self.made and self.made[owner].name == "attribute"


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
        self.name, self.numbers = name, itertools.count(1)
        self.lets: list[Statement] = []

    def let(self, name: str, *args: Operand, var: Var | None = None, **kwargs: Operand) -> Var:
        var = Var(f"{self.name}.{next(self.numbers)}") if var is None else var
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
