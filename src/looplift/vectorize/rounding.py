"""A region in; out: the statements that would tell a number of Python's, exact or of 64 bits, from the element of a
tensor, of fewer bits, that lanes have in its place, where a value is a number in some lanes and a tensor in others.

v = y[k]                            of 8-bit integers: 7 * 100 is 700 for Python, and 188 for a tensor
if v < 7: v = 7
out[k] = v * 100

while abs(z) > 0.1:                 the lane 0 never holds a tensor: its numbers are those of Python,
    if i >= 1: z = z * 0.5 + v      and its test has all their digits
    else: z = z - 0.3

v = y[k] if y[k] > 5 else ids[k]    a tensor has 20000001 where ids[k] is that only if it is of 64 bits
out[k] = v % 10

What the numbers may be is followed through the region, as pairs of the exact value and what a tensor makes of it
(constant propagation: Wegman and Zadeck, *Constant propagation with conditional branches*, 1991), or, where these are
not known, as bounds of their magnitudes. Where numbers that are given have none, and some would do, these are required.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from looplift.base.data import dataclass, field
from looplift.ir.array import Node
from looplift.ir.facts import Kind
from looplift.ir.grammar import (
    UNDEFINED,
    Atom,
    Carry,
    Const,
    If,
    Let,
    Loop,
    Phi,
    Range,
    Statement,
    Store,
    Var,
    definitions,
    walk,
)
from looplift.ir.grammar import operands as operands_of
from looplift.vectorize import magnitudes, nodes
from looplift.vectorize.flow import TRUTH, Flow
from looplift.vectorize.magnitudes import DIGITS, NORMAL, WHOLE, WIDEST, Some, word_of

if TYPE_CHECKING:
    from looplift.vectorize.context import Context

Numbers: TypeAlias = "frozenset[tuple[Any, Any]] | Some"
FEW_BITS = ("int8", "uint8", "int16", "int32")
MOST = 16
"""How many numbers a variable is followed with."""
RAISES = "raises"
"""In the place of a number that Python does not give; where it divides by zero, lanes are asked for that elsewhere."""
LIMITS = (
    (WIDEST, 0.0, math.inf), (2**53, 0.0, 3e38), (2**31 - 1, 2.0**-60, 2.0**60), (2**24, 2.0**-40, 2.0**40),
    (2**15, 2.0**-14, 2.0**15), (2**10, 2.0**-10, 2.0**10),
)  # fmt: skip
"""What may be required of numbers that are given: the greatest integer, the least and the greatest float."""

COMPUTED: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in "add sub mul truediv floordiv mod neg pos".split()},
    "pow": lambda base, exponent: _power(base, exponent),
    **{f"inplace.{name}": getattr(operator, name) for name in "add sub mul truediv".split()},
    "builtin.abs": abs,
}
COMPARED: dict[str, Callable[..., Any]] = {name: getattr(operator, name) for name in "eq ne lt le gt ge".split()}
EITHER = ("builtin.max", "builtin.min")
UNHEARD = frozenset((*COMPARED, *TRUTH))
"""What says of a value but whether it is zero, or less than another."""
AMPLIFYING = frozenset(("mod", "floordiv", *COMPARED))
"""What makes much of the last digit."""


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and exponent > 64:
        return math.inf if abs(base) > 1 else base**exponent  # of more digits than any tensor's integers
    return base**exponent


@dataclass
class Told:
    """``at``: for each such statement, the name of what it tells. ``inexact``: what is not exact as a tensor.
    ``bounds``: what is required of numbers that are given."""

    at: dict[Statement, str] = field(default_factory=dict)
    inexact: set[Var] = field(default_factory=set)
    bounds: dict[Var, Some] = field(default_factory=dict)


def told(context: Context) -> Told:
    """What a region tells of its numbers, with the bounds of those that are given of which it tells least; nothing
    where none of its tensors may be one."""
    if not context.facts.mixed:
        return Told()
    if "told" not in context.facts.found:
        context.facts.found["told"] = _told(context)
    return context.facts.found["told"]


def _told(context: Context) -> Told:
    best = Told()
    for limits in LIMITS:
        followed = Followed(context, limits)
        found = followed.told()
        if limits is LIMITS[0] or len(found.at) < len(best.at):
            best = found
        if not best.at or not followed.given:
            break
    return best


def check(context: Context, statement: Statement) -> None:
    """Raise NotLiftable for a statement that lanes would give another number."""
    if (hint := context.told.at.get(statement)) is not None:
        message = f"'{hint}', which is a number in one iteration and a tensor in another, has fewer digits as a tensor"
        raise context.refuse("mixed-kinds", message)


def check_inside(context: Context, statement: Statement) -> None:
    """The same for a statement in a kernel, where nothing is required of numbers."""
    check(context, statement)
    if (var := next((var for var in definitions(statement) if var in context.told.bounds), None)) is not None:
        raise context.refuse(
            "mixed-kinds", f"'{var.hint}' may be too large for the tensor that is in its place at times"
        )


def require_indices(context: Context, loop: Loop) -> None:
    """Require bounds of the index of a loop, before it."""
    if loop.index in context.told.bounds and isinstance(loop.domain, Range):
        for atom in (loop.domain.lo, loop.domain.hi):
            _require(context, atom, context.told.bounds[loop.index])


def require_made(context: Context, statement: Statement) -> None:
    """Require bounds of the numbers that a statement has made."""
    is_loop = isinstance(statement, Loop)
    require(context, [carry.after for carry in statement.carries] if is_loop else definitions(statement))


def require(context: Context, variables: Iterable[Var]) -> None:
    """Require bounds of numbers that are given."""
    for var in variables:
        if var in context.told.bounds:
            _require(context, var, context.told.bounds[var])


def _require(context: Context, atom: Atom, bounds: Some) -> None:
    number = context.node(atom)
    if bounds.whole:
        context.check(nodes.both(_at_most(number, bounds.most), _at_least(number, -bounds.most)))
        return
    beyond = _either_of(
        nodes.both(_above(number, bounds.most), _below(number, math.inf)),
        nodes.both(_below(number, -bounds.most), _above(number, -math.inf)),
    )
    if bounds.least:
        for inner in (
            nodes.both(_above(number, 0.0), _below(number, bounds.least)),
            nodes.both(_below(number, 0.0), _above(number, -bounds.least)),
        ):
            beyond = _either_of(beyond, inner)
    context.check(nodes.negated(beyond))


def _at_most(number: Node, limit: float) -> Node:
    return nodes.compare("le", number, nodes.const(limit))


def _at_least(number: Node, limit: float) -> Node:
    return nodes.compare("ge", number, nodes.const(limit))


def _above(number: Node, limit: float) -> Node:
    return nodes.compare("gt", number, nodes.const(limit))


def _below(number: Node, limit: float) -> Node:
    return nodes.compare("lt", number, nodes.const(limit))


def _either_of(first: Node, second: Node) -> Node:
    return nodes.elementwise("or_", [first, second], nodes.BOOL)


@dataclass
class Followed:
    """The numbers that each variable of a region may be, where lanes hold an element of a tensor."""

    context: Context
    limits: tuple[int, float, float]
    of: dict[Var, Numbers] = field(default_factory=dict)
    given: dict[Var, Some] = field(default_factory=dict)
    """The numbers that are given, of which bounds may be required."""
    found: Told = field(default_factory=Told)

    @property
    def flow(self) -> Flow:
        return self.context.flow

    def kind(self, atom: Atom) -> Kind:
        return self.context.facts.kind(atom)

    def told(self) -> Told:
        body = list(walk(self.flow.function.body))
        self.index_of = {s.index: s for s in body if isinstance(s, Loop) and s.index is not None}
        growth = magnitudes.Growth()
        while True:
            before = dict(self.of)
            for statement in body:
                self._follow(statement)
            growth.looks += 1
            for var, now in self.of.items():
                known = before.get(var)
                if isinstance(now, Some) and isinstance(known, Some) and now != known:
                    self.of[var] = growth.widened(var, known, now)
            if self.of == before:
                break
        self.found.inexact = {var for var in self.of if not self._is_exact(var)}
        for statement in body:
            if (var := self._telling(statement)) is not None:
                self.found.at[statement] = var.hint
        if self.limits is not LIMITS[0]:
            self.found.bounds = self.given
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
        known = self.of.get(var, numbers)
        if isinstance(known, frozenset) and isinstance(numbers, frozenset):
            both: Numbers = known | numbers
            self.of[var] = both if len(both) <= MOST else _summary(both, self.kind(var))
        else:
            self.of[var] = magnitudes.joined(_summary(known, self.kind(var)), _summary(numbers, self.kind(var)))

    def _may_be(self, atom: Atom) -> bool:
        return atom in self.of or (atom is not UNDEFINED and self.kind(atom).is_number)

    def _numbers(self, atom: Atom) -> Numbers:
        if isinstance(atom, Var) and atom in self.of:
            return self.of[atom]
        if isinstance(atom, Const):
            exact = _exact(atom.value)
            return frozenset({(exact, None if exact is RAISES else exact)})
        return self._unknown(atom)

    def _unknown(self, var: Var) -> Some:
        """A number that is given, with what will be required of it."""
        family, (whole, least, most) = self.kind(var).family, self.limits
        if family == "bool":
            return Some(True, 1, 1)
        may_require = self._may_require(var) and self._is_usual(var)
        if family == "int":
            if (size := self._range_of(var)) is not None:
                return Some(True, 1, size)
            found = Some(True, 1, whole if may_require else WIDEST)
        else:
            bounded = may_require and family == "float"
            given = not self.context.facts[var].loops
            found = Some(False, least, most, given) if bounded else Some(False, given=given)
        if may_require and family in ("int", "float"):
            self.given[var] = found
        return found

    def _may_require(self, var: Var) -> bool:
        """Whether something may be required of a number where it is made; of what a loop carries it may not."""
        made = self.flow.definition.get(var)
        return not (isinstance(made, Loop) and any(carry.inside is var for carry in made.carries))

    def _is_usual(self, var: Var) -> bool:
        """Whether the number that is known of the first iteration is as required."""
        sample, (whole, least, most) = self.context.facts[var].sample, self.limits
        if isinstance(sample, int):
            return abs(sample) <= whole
        return not isinstance(sample, float) or not math.isfinite(sample) or sample == 0 or least <= abs(sample) <= most

    def _range_of(self, var: Var) -> int | None:
        """The greatest index of a loop over a range that is known beforehand."""
        loop = self.index_of.get(var)
        match loop.domain if loop is not None else None:
            case Range(lo=Const(value=int() as lo), hi=Const(value=int() as hi)):
                return max(abs(lo), abs(hi))
        return None

    def _as_tensor(self, numbers: Numbers, kind: Kind) -> Numbers:
        if isinstance(numbers, Some):
            return numbers
        return frozenset((exact, _as_held(held, kind)) for exact, held in numbers)

    def _computed(self, name: str, var: Var, atoms: list[Atom]) -> Numbers:
        known = [self._numbers(atom) for atom in atoms]
        factors = known[: 2 if name.endswith("mul") else 1 if name.endswith("truediv") else 0]
        if any(map(_is_zero, factors)):
            return self._as_tensor(frozenset({(0, 0)}), self.kind(var))
        exact = [one for one in known if not isinstance(one, Some)]
        if len(exact) < len(known) or math.prod(map(len, exact)) > MOST:
            bounds = [_summary(one, self._held_as(atom, var)) for atom, one in zip(atoms, known)]
            fits, adds_up = self._is_computed_exactly(name, var, atoms), self._adds_up(name, var, atoms)
            return magnitudes.result(name, bounds, _exponent(name, known), exact=fits, adds_up=adds_up)
        found = set()
        for values, elements in self._cases(atoms, exact):
            held = _value(COMPUTED[name], elements)
            found.add((_exact(_value(COMPUTED[name], values)), _as_held(held, self.kind(var))))
        return frozenset(found) if len(found) <= MOST else _summary(frozenset(found), self.kind(var))

    def _held_as(self, atom: Atom, var: Var) -> Kind:
        """The kind of the element that an operand is in lanes."""
        return self.kind(atom) if atom in self.of else self.kind(var)

    def _is_computed_exactly(self, name: str, var: Var, atoms: list[Atom]) -> bool:
        """Whether the operands are the numbers themselves, and are rounded once. PyTorch multiplies numbers by the
        reciprocals of tensors; libraries have powers of their own."""
        if name.endswith("truediv") and atoms[0] not in self.of:
            return False
        if name == "pow" and not all(_is_whole(self._numbers(atom)) for atom in atoms):
            return False
        return all(_is_exact_as(self._numbers(atom), self._held_as(atom, var)) for atom in atoms)

    def _adds_up(self, name: str, var: Var, atoms: list[Atom]) -> bool:
        """Whether a sum is one that a loop carries from iteration to iteration."""
        return name.endswith(("add", "sub")) and any(self._is_sum_of(atom, var, set()) for atom in atoms)

    def _is_sum_of(self, atom: Atom, var: Var, seen: set[Atom]) -> bool:
        """Whether an atom is made of a variable by nothing but choices and sums."""
        if atom is var:
            return True
        if atom in seen or atom not in self.of or not isinstance(atom, Var):
            return False
        seen.add(atom)
        made = self.flow.definition.get(atom)
        if isinstance(made, Let) and made.op.name not in EITHER and not made.op.name.endswith(("add", "sub")):
            return False
        return any(self._is_sum_of(source, var, seen) for source in self.flow.sources.get(atom, ()))

    def _cases(self, atoms: list[Atom], known: list[Any]) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        """The operands in each case: numbers, and with elements of tensors in the place of some."""
        for pairs in itertools.product(*known):
            elements = [_element(h, self.kind(a)) if a in self.of else h for a, (_, h) in zip(atoms, pairs)]
            yield tuple(exact for exact, _ in pairs), tuple(elements)

    # ------------------------------------------------------------ who tells

    def _is_exact(self, var: Var) -> bool:
        """Whether a tensor's element is the number."""
        return _is_exact_as(self.of[var], self.kind(var))

    def _is_rounded(self, var: Var) -> bool:
        """Whether the element is not even the number in the tensor's type."""
        return _summary(self.of[var], self.kind(var)).rounded

    def _telling(self, statement: Statement) -> Var | None:
        """What a statement tells, if any."""
        match statement:
            case Let(var=var, op=op):
                return self._of_operation(var, op.name, list(operands_of(op)))
            case If(cond=Var() as cond) if cond in self.of and self._hides_zero(cond):
                return cond
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
        """Whether integers wrap around, or have no form as a tensor's."""
        if var not in self.found.inexact:
            return False
        return "float" not in word_of(self.kind(var)) or _is_beyond(self.of[var])

    def _of_operation(self, var: Var, name: str, atoms: list[Atom]) -> Var | None:
        told = [atom for atom in atoms if isinstance(atom, Var) and atom in self.of]
        if name in COMPUTED and (flag := self._flag_among(atoms, name)) is not None:
            return flag
        for atom in told:
            if self._stays_whole(atom, atoms):
                return atom
            if name in TRUTH and self._hides_zero(atom):
                return atom
            if name in AMPLIFYING and var not in self.of and self._is_rounded(atom):
                return atom
        if name in COMPARED:
            return told[0] if told and all(map(self._may_be, atoms)) and self._differs(name, atoms) else None
        decides = var in self.of and name in COMPUTED and var in self.flow.deciding
        if self._wraps(var) or (decides and self._is_rounded(var)):
            return next(iter(told), var)
        if told and var in self.of and name in COMPUTED and self._amplifies(name, var, atoms):
            return told[0]
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

    def _amplifies(self, name: str, var: Var, atoms: list[Atom]) -> bool:
        """Whether a result has fewer right digits than what it is made of, or Python raises instead."""
        found, kind = self._computed(name, var, atoms), self.kind(var)
        if isinstance(found, Some):
            exact, adds_up = self._is_computed_exactly(name, var, atoms), self._adds_up(name, var, atoms)
            return magnitudes.tells(name, found, kind, exact=exact, adds_up=adds_up)
        return not all(_is_near(exact, held, kind) for exact, held in found)

    def _flag_among(self, atoms: list[Atom], name: str) -> Var | None:
        """A truth value in arithmetic that is Python's, which is an integer, at times, and a tensor at others."""
        is_open = all(map(self._may_be, atoms)) or name.endswith(("sub", "neg"))
        for atom in atoms if is_open else ():
            if isinstance(atom, Var) and (atom in self.of or atom in self.context.facts.mixed):
                kind = self.kind(atom)
                if kind.family == "bool" or word_of(kind) == "bool":
                    return atom
        return None

    def _hides_zero(self, var: Var) -> bool:
        """Whether a number may be zero as a tensor's element alone."""
        numbers, kind = self.of[var], self.kind(var)
        if isinstance(numbers, Some):
            return not numbers.is_exact(kind) and numbers.least < NORMAL.get(word_of(kind), (math.inf,))[0]
        return any(exact is RAISES or bool(exact) != bool(held) for exact, held in numbers)

    def _is_rounded_once(self, number: Atom, tensor: Atom) -> bool:
        """Whether what may be a number is divided by a tensor, which PyTorch rounds twice for numbers; but for powers
        of two."""
        if number not in self.of or tensor in self.of or self.kind(tensor).family != "tensor":
            return False
        numbers = self._numbers(number)
        return isinstance(numbers, Some) or not all(_is_scale(exact) for exact, _ in numbers)

    def _stays_whole(self, atom: Atom, atoms: list[Atom]) -> bool:
        """Whether a whole number beside integers of few bits is made one of them, where a tensor's element is a float
        beside which they are floats."""
        numbers = self._numbers(atom)
        may_be_whole = isinstance(numbers, Some) or any(isinstance(exact, int) for exact, _ in numbers)
        others = [word_of(self.kind(a)) for a in atoms if self.kind(a).is_array and a not in self.of]
        return may_be_whole and "float" in word_of(self.kind(atom)) and any(word in FEW_BITS for word in others)

    def _overflows(self, target: Kind, value: Var) -> bool:
        """Whether a number may not fit the type that it is stored in, where Python raises and a tensor has infinity, or
        wraps around."""
        numbers, word = self.of[value], word_of(target)
        if not target.is_array or word == "bool" or target.is_complex:
            return False
        if isinstance(numbers, Some):
            limit = NORMAL[word][1] if word in NORMAL else WHOLE.get(word, 0)
            return numbers.most > limit
        return not all(_fits(exact, target) for exact, _ in numbers)

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
        exact = [one for one in known if not isinstance(one, Some)]
        if len(exact) < len(known) or math.prod(map(len, exact)) > MOST:
            kinds = [self.kind(atom) for atom in atoms if atom in self.of]
            return not all(
                (isinstance(one, Some) and one.given) or all(_is_exact_as(one, kind) for kind in kinds) for one in known
            )
        function = COMPARED[name]
        return any(_decision(function, a) != _decision(function, b) for a, b in self._cases(atoms, exact))


def _sides(phi: Phi) -> tuple[Atom, ...]:
    return tuple(side for side in (phi.then, phi.orelse) if side is not None)


def _digits(kind: Kind) -> int | None:
    """The bits of a float's type, 0 for integers and booleans; None for what is no real number's type."""
    if kind.is_complex or not kind.is_array:
        return None
    return DIGITS.get(word_of(kind), 0)


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


def _as_held(value: Any, kind: Kind) -> Any:
    """The number that a number is as an element of a tensor or an array."""
    if type(value) is float:  # the signs of zeros are told apart
        return _float_as_held(value.hex(), kind.family == "tensor", kind.dtype)
    if type(value) in (int, bool):
        return _whole_as_held(type(value), value, kind.family == "tensor", kind.dtype)
    return _held(_element(value, kind))


@lru_cache(4096)
def _float_as_held(text: str, is_tensor: bool, dtype: Any) -> Any:
    return _held(_element(float.fromhex(text), Kind("tensor" if is_tensor else "array", dtype)))


@lru_cache(4096)
def _whole_as_held(of: type, value: int, is_tensor: bool, dtype: Any) -> Any:
    return _held(_element(of(value), Kind("tensor" if is_tensor else "array", dtype)))


def _value(function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    """The result of a function; RAISES or None, of a division by zero, where Python raises."""
    import numpy as np

    if RAISES in [value for value in values if isinstance(value, str)]:
        return RAISES
    if any(value is None for value in values):
        return None
    try:
        with np.errstate(all="ignore"):
            return function(*values)
    except ZeroDivisionError:
        return None
    except (ArithmeticError, TypeError, ValueError, RuntimeError):
        return RAISES


def _decision(function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    found = _value(function, values)
    return found if isinstance(found, str) else bool(found)


def _same(exact: Any, held: Any) -> bool:
    """Whether a number and an element are one number. What Python raises for decides in the loop."""
    if exact is None or held is None:
        return exact is None
    return exact == held or (exact != exact and held != held)


def _is_exact_as(numbers: Numbers, kind: Kind) -> bool:
    """Whether numbers are the same as elements of a tensor."""
    if isinstance(numbers, Some):
        return numbers.is_exact(kind)
    return all(_same(exact, held) and _same(exact, _as_held(exact, kind)) for exact, held in numbers)


def _is_near(exact: Any, held: Any, kind: Kind) -> bool:
    """Whether an element is what a tensor has of a number, but for its last digits."""
    if exact is None:
        return True
    if exact is RAISES or held is None:
        return False
    if _same(_as_held(exact, kind), held):
        return True
    digits = _digits(kind)
    return (
        bool(digits) and exact != 0 and abs(exact) < math.inf and abs(exact - held) <= abs(exact) * 2.0 ** (4 - digits)
    )


def _fits(exact: Any, target: Kind) -> bool:
    """Whether a tensor or an array takes a number."""
    if exact is None:
        return True
    if exact is RAISES or isinstance(exact, complex):
        return False
    if word_of(target) not in NORMAL:
        low, high = -WHOLE.get(word_of(target), 0), WHOLE.get(word_of(target), 255)
        return low <= exact <= high
    return not math.isfinite(exact) or abs(exact) <= NORMAL[word_of(target)][1]


def _exact(value: Any) -> Any:
    """A number of Python's; integers that no tensor takes are none, as Python raises where one does."""
    return RAISES if isinstance(value, int) and not -WIDEST <= value <= WIDEST else _held(value)


def _held(value: Any) -> Any:
    """The number that an element is; all that are none are one."""
    value = value.item() if hasattr(value, "item") else value
    return math.nan if value is not None and value != value else value


def _is_scale(value: Any) -> bool:
    """Whether a number is zero or a power of two, or has no digits to round."""
    if not isinstance(value, (int, float)):
        return value is None  # where Python raises
    return not math.isfinite(value) or abs(math.frexp(value)[0]) in (0.0, 0.5)


def _is_zero(numbers: Numbers) -> bool:
    return not isinstance(numbers, Some) and all(exact == 0 for exact, _ in numbers)


def _is_whole(numbers: Numbers) -> bool:
    return numbers.whole if isinstance(numbers, Some) else all(isinstance(exact, int) for exact, _ in numbers)


def _is_beyond(numbers: Numbers) -> bool:
    """Whether integers are among the numbers that no tensor takes."""
    return not isinstance(numbers, Some) and any(exact is RAISES for exact, _ in numbers)


def _exponent(name: str, known: list[Numbers]) -> int | None:
    """The exponent of a power, if it is one integer that is not negative."""
    if name != "pow" or isinstance(known[1], Some) or len(known[1]) != 1:
        return None
    ((exact, _),) = known[1]
    return exact if type(exact) is int and exact >= 0 else None


def _summary(numbers: Numbers, kind: Kind) -> Some:
    """What numbers have in common, beside elements of a kind."""
    if isinstance(numbers, Some):
        return numbers
    rounded = not all(exact is None or _same(_as_held(exact, kind), held) for exact, held in numbers)
    return magnitudes.of_values((exact for exact, _ in numbers), rounded=rounded)
