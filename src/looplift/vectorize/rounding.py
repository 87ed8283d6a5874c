"""A region in; out: the statements that would tell a number of Python's, exact or of 64 bits, from the element of a
tensor, of fewer bits, that lanes have in its place, where a value is a number in some lanes and a tensor in others.

v = y[k]                            of 8-bit integers: 7 * 100 is 700 for Python, and 188 for a tensor
if v < 7: v = 7
out[k] = v * 100

while abs(z) > 0.1:                 the lane 0 never holds a tensor: its numbers are those of Python,
    if i >= 1: z = z * 0.5 + v      and its test has all their digits
    else: z = z - 0.3

What the numbers may be is followed through the region, as pairs of the exact value and what a tensor makes of it
(constant propagation: Wegman and Zadeck, *Constant propagation with conditional branches*, 1991).
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from looplift.base.data import dataclass, field
from looplift.ir.facts import Kind
from looplift.ir.grammar import UNDEFINED, Atom, Carry, Const, If, Let, Loop, Phi, Range, Statement, Store, Var, walk
from looplift.ir.grammar import operands as operands_of
from looplift.vectorize.flow import Flow

if TYPE_CHECKING:
    from looplift.vectorize.context import Context

INTEGER, GIVEN, ANY, ROUNDED = "integer", "given", "any", "rounded"
"""An integer, a float that is the same in all lanes, any float, and one that a tensor would round otherwise, whatever
its type; of none of them is anything else known."""
Numbers: TypeAlias = "frozenset[tuple[Any, Any]] | str"
FEW_BITS = ("int8", "uint8", "int16", "int32")
MOST = 16
"""How many numbers a variable is followed with."""


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and exponent > 64:
        return math.inf  # for what would have more digits than any tensor's integers
    return base**exponent


COMPUTED: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in "add sub mul truediv floordiv mod neg pos".split()},
    "pow": _power,
    **{f"inplace.{name}": getattr(operator, name) for name in "add sub mul truediv".split()},
    "builtin.abs": abs,
}
COMPARED: dict[str, Callable[..., Any]] = {name: getattr(operator, name) for name in "eq ne lt le gt ge".split()}
EITHER = ("builtin.max", "builtin.min")
UNHEARD = frozenset((*COMPARED, "not", "builtin.bool"))
"""What says of a value but whether it is zero, or less than another."""


@dataclass
class Told:
    """``at``: for each such statement, the name of what it tells. ``inexact``: what is not exact as a tensor."""

    at: dict[Statement, str] = field(default_factory=dict)
    inexact: set[Var] = field(default_factory=set)


def told(context: Context) -> Told:
    """What a region tells of its numbers; nothing where none of its tensors may be one."""
    return Followed(context).told() if context.facts.mixed else Told()


def check(context: Context, statement: Statement) -> None:
    """Raise NotLiftable for a statement that lanes would give another number."""
    if (hint := context.told.at.get(statement)) is not None:
        message = f"'{hint}', which is a number in one iteration and a tensor in another, has fewer digits as a tensor"
        raise context.refuse("mixed-kinds", message)


@dataclass
class Followed:
    """The numbers that each variable of a region may be, where lanes hold an element of a tensor."""

    context: Context
    of: dict[Var, Numbers] = field(default_factory=dict)
    found: Told = field(default_factory=Told)

    @property
    def flow(self) -> Flow:
        return self.context.flow

    def kind(self, atom: Atom) -> Kind:
        return self.context.facts.kind(atom)

    def told(self) -> Told:
        body = list(walk(self.flow.function.body))
        grown = True
        while grown:
            before = dict(self.of)
            for statement in body:
                self._follow(statement)
            grown = self.of != before
        self.found.inexact = {var for var in self.of if not self._is_exact(var)}
        for statement in body:
            if (var := self._telling(statement)) is not None:
                self.found.at[statement] = var.hint
        return self.found

    # ------------------------------------------------------------ what the numbers are

    def _follow(self, statement: Statement) -> None:
        match statement:
            case Let(var=var, op=op) if self.kind(var).is_array and not self.kind(var).rank:
                atoms = list(operands_of(op))
                if op.name in EITHER:
                    self._add(var, atoms)
                elif op.name in COMPUTED and all(map(self._may_be, atoms)) and any(a in self.of for a in atoms):
                    self._join(var, self._computed(op.name, var, atoms))
            case If(phis=phis):
                for phi in phis:
                    self._add(phi.var, _sides(phi))
            case Loop(carries=carries):
                for carry in carries:
                    self._add(carry.inside, (carry.init, carry.next))
                    self._add(carry.after, self._ends(statement, carry))

    def _ends(self, loop: Loop, carry: Carry) -> tuple[Atom, ...]:
        """What a carried value may be after a loop; its first value where the loop may have no iteration."""
        bounds = (loop.domain.lo, loop.domain.hi) if isinstance(loop.domain, Range) else ()
        runs = bounds and not any(self.context.facts[bound].loops for bound in bounds)
        return (carry.next,) if runs else (carry.init, carry.next)

    def _add(self, var: Var, atoms: Iterable[Atom]) -> None:
        """Let a variable be what some atoms are where these are numbers."""
        if not self.kind(var).is_array or self.kind(var).rank:
            return
        for atom in atoms:
            if atom is not UNDEFINED and self._may_be(atom):
                self._join(var, self._as_tensor(self._numbers(atom), self.kind(var)))

    def _join(self, var: Var, numbers: Numbers) -> None:
        self.of[var] = numbers if (known := self.of.get(var)) is None else _either(known, numbers)

    def _may_be(self, atom: Atom) -> bool:
        return atom in self.of or (atom is not UNDEFINED and self.kind(atom).is_number)

    def _numbers(self, atom: Atom) -> Numbers:
        if isinstance(atom, Var) and atom in self.of:
            return self.of[atom]
        if isinstance(atom, Const):
            return frozenset({(atom.value, atom.value)})
        if self.kind(atom).family in ("int", "bool"):
            return INTEGER
        return ANY if self.context.facts[atom].loops else GIVEN

    def _as_tensor(self, numbers: Numbers, kind: Kind) -> Numbers:
        if isinstance(numbers, str):
            return numbers
        return frozenset((exact, _held(_element(held, kind))) for exact, held in numbers)

    def _computed(self, name: str, var: Var, atoms: list[Atom]) -> Numbers:
        known = [self._numbers(atom) for atom in atoms]
        factors = known[: 2 if name.endswith("mul") else 1 if name.endswith("truediv") else 0]
        if any(map(_is_zero, factors)):
            return self._as_tensor(frozenset({(0, 0)}), self.kind(var))
        exact = [one for one in known if not isinstance(one, str)]
        if len(exact) < len(known) or math.prod(map(len, exact)) > MOST:
            if name.endswith("truediv"):
                return ANY if atoms[0] in self.of else ROUNDED
            return ROUNDED if ROUNDED in known else INTEGER if all(map(_is_whole, known)) else ANY
        found = set()
        for values, elements in self._cases(atoms, exact):
            held = _value(COMPUTED[name], elements)
            found.add((_held(_value(COMPUTED[name], values)), _held(_element(held, self.kind(var)))))
        return _few(frozenset(found))

    def _cases(self, atoms: list[Atom], known: list[Any]) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        """The operands in each case: numbers, and with elements of tensors in the place of some."""
        for pairs in itertools.product(*known):
            elements = [_element(h, self.kind(a)) if a in self.of else h for a, (_, h) in zip(atoms, pairs)]
            yield tuple(exact for exact, _ in pairs), tuple(elements)

    # ------------------------------------------------------------ who tells

    def _is_exact(self, var: Var) -> bool:
        """Whether a tensor's element is the number."""
        numbers, word = self.of[var], _dtype(self.kind(var))
        if isinstance(numbers, str):
            fits = ("float64", "float32", "int64", "int32") if numbers == INTEGER else ("float64",)
            return word in fits and numbers != ROUNDED
        return all(_same(exact, held) for exact, held in numbers)

    def _is_rounded(self, var: Var) -> bool:
        """Whether the element is not even the number in the tensor's type."""
        numbers = self.of[var]
        if isinstance(numbers, str):
            return not self._is_exact(var)
        return not all(_same(_held(_element(exact, self.kind(var))), held) for exact, held in numbers)

    def _telling(self, statement: Statement) -> Var | None:
        """What a statement tells, if any."""
        match statement:
            case Let(var=var, op=op):
                return self._of_operation(var, op.name, list(operands_of(op)))
            case If(phis=phis):
                return next((phi.var for phi in phis if self._wraps(phi.var)), None)
            case Loop(carries=carries):
                return next((carry.inside for carry in carries if self._wraps(carry.inside)), None)
            case Store(ref=ref, value=Var() as value) if value in self.of:
                target = self.kind(self.flow.root(ref))
                told = value in self.found.inexact and target.is_array and not self._is_within(target, value)
                return value if told or self._overflows(target, value) else None
        return None

    def _wraps(self, var: Var) -> bool:
        return var in self.found.inexact and "float" not in _dtype(self.kind(var))

    def _of_operation(self, var: Var, name: str, atoms: list[Atom]) -> Var | None:
        told = [atom for atom in atoms if isinstance(atom, Var) and atom in self.of]
        for atom in told:
            if self._stays_whole(atom, atoms):
                return atom
        if name in COMPARED:
            return told[0] if told and all(map(self._may_be, atoms)) and self._differs(name, atoms) else None
        decides = var in self.of and name in COMPUTED and var in self.flow.deciding
        if self._wraps(var) or (decides and self._is_rounded(var)):
            return next(iter(told), var)
        if name.endswith("truediv") and self._is_rounded_once(*atoms):
            return told[0]
        if name in UNHEARD or var in self.of:
            return None
        kind = self.kind(var)
        for atom in told:
            if atom in self.found.inexact and (kind.is_number or (kind.is_array and not self._is_within(kind, atom))):
                return atom
            if self._is_wider_by(kind, atom, atoms):
                return atom
        return None

    def _is_rounded_once(self, number: Atom, tensor: Atom) -> bool:
        """Whether what may be a number is divided by a tensor, which PyTorch rounds twice for numbers; but for powers
        of two."""
        if number not in self.of or tensor in self.of or self.kind(tensor).family != "tensor":
            return False
        numbers = self._numbers(number)
        return isinstance(numbers, str) or not all(_is_scale(exact) for exact, _ in numbers)

    def _stays_whole(self, atom: Atom, atoms: list[Atom]) -> bool:
        """Whether a whole number beside integers of few bits is made one of them, where a tensor's element is a float
        beside which they are floats."""
        numbers = self._numbers(atom)
        if isinstance(numbers, str):
            may_be_whole = numbers in (INTEGER, ANY)
        else:
            may_be_whole = any(isinstance(exact, int) for exact, _ in numbers)
        others = [_dtype(self.kind(a)) for a in atoms if self.kind(a).is_array and a not in self.of]
        return may_be_whole and "float" in _dtype(self.kind(atom)) and any(word in FEW_BITS for word in others)

    def _overflows(self, target: Kind, value: Var) -> bool:
        """Whether a number may not fit the type that it is stored in, where Python raises and a tensor wraps around."""
        numbers, word = self.of[value], _dtype(target)
        if word not in FEW_BITS or word == _dtype(self.kind(value)):
            return False
        if isinstance(numbers, str):
            return word != "int32"
        return not all(_same(e, _held(_element(e, target))) for e, _ in numbers if isinstance(e, int))

    def _is_within(self, kind: Kind, atom: Atom) -> bool:
        """Whether a type has no more digits than that of a value; of integers it has none behind the point."""
        digits = _digits(kind)
        return digits is None or (bool(digits) and digits <= (_digits(self.kind(atom)) or 0))

    def _is_wider_by(self, kind: Kind, atom: Atom, atoms: list[Atom]) -> bool:
        """Whether a result has the digits of a tensor that may be a number, beside others with fewer."""
        others = [_digits(self.kind(a)) for a in atoms if self.kind(a).is_array and a not in self.of]
        given = [digits for digits in others if digits]
        return bool(given) and kind.is_array and max(given) < (_digits(kind) or 0) == (_digits(self.kind(atom)) or 0)

    def _differs(self, name: str, atoms: list[Atom]) -> bool:
        """Whether a comparison of numbers has another result for a tensor's elements."""
        known = [self._numbers(atom) for atom in atoms]
        exact = [one for one in known if not isinstance(one, str)]
        if len(exact) < len(known) or math.prod(map(len, exact)) > MOST:
            return any(a in self.found.inexact and self._numbers(a) != GIVEN for a in atoms)
        function = COMPARED[name]
        return any(bool(_value(function, a)) != bool(_value(function, b)) for a, b in self._cases(atoms, exact))


def _sides(phi: Phi) -> tuple[Atom, ...]:
    return tuple(side for side in (phi.then, phi.orelse) if side is not None)


def _dtype(kind: Kind) -> str:
    return str(kind.dtype).removeprefix("torch.")


def _digits(kind: Kind) -> int | None:
    """The bits of a float's type, 0 for integers and booleans; None for what is no real number's type."""
    word = _dtype(kind)
    if kind.is_complex or not kind.is_array:
        return None
    return {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}.get(word, 0)


def _element(value: Any, kind: Kind) -> Any:
    """A number as an element of a tensor or an array; None where it does not fit, or is none."""
    import numpy as np
    import torch

    if value is None:
        return None
    try:
        with np.errstate(all="ignore"):
            if kind.family == "tensor":
                return torch.as_tensor(value).to(kind.dtype)
            return np.asarray(value).astype(kind.dtype)[()]
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return None


def _value(function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    import numpy as np

    if any(value is None for value in values):
        return None
    try:
        with np.errstate(all="ignore"):
            return function(*values)
    except (ArithmeticError, TypeError, ValueError, RuntimeError):
        return None


def _same(exact: Any, held: Any) -> bool:
    """Whether a number and an element are one number. What Python raises for decides in the loop."""
    if exact is None or held is None:
        return exact is None
    return exact == held or (exact != exact and held != held)


def _held(value: Any) -> Any:
    """The number that an element is; all that are none are one."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, int) and value.bit_length() > 64:
        return math.inf  # of no tensor's integers
    return math.nan if value is not None and value != value else value


def _is_scale(value: Any) -> bool:
    """Whether a number is zero or a power of two, or has no digits to round."""
    if not isinstance(value, (int, float)) or (isinstance(value, int) and value.bit_length() > 64):
        return value is None  # where Python raises
    return not math.isfinite(value) or abs(math.frexp(value)[0]) in (0.0, 0.5)


def _is_zero(numbers: Numbers) -> bool:
    return not isinstance(numbers, str) and all(exact == 0 for exact, _ in numbers)


def _is_whole(numbers: Numbers) -> bool:
    return numbers == INTEGER or (not isinstance(numbers, str) and all(isinstance(e, int) for e, _ in numbers))


def _either(first: Numbers, second: Numbers) -> Numbers:
    if not isinstance(first, str) and not isinstance(second, str):
        return _few(first | second)
    if _is_whole(first) and _is_whole(second):
        return INTEGER
    if ROUNDED in (first, second):
        return ROUNDED
    return GIVEN if first == second == GIVEN else ANY


def _few(numbers: frozenset[tuple[Any, Any]]) -> Numbers:
    if len(numbers) <= MOST:
        return numbers
    return INTEGER if _is_whole(numbers) else ANY
