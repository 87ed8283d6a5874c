"""What is known of numbers that are not known one by one, in; what is known of the result of an operation, out.

least, most     of the magnitudes of those that are not zero, as intervals (Moore, *Interval analysis*, 1966)
whole           all are integers of Python's
rounded         a tensor would not even hold them as its type rounds them
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from looplift.base.data import dataclass
from looplift.ir.facts import Kind

WIDEST = 2**63 - 1
"""The greatest integer that PyTorch takes; lanes hold none beyond it."""
WHOLE = {"float64": 2**53, "float32": 2**24, "float16": 2**11, "bfloat16": 2**8, "int64": WIDEST,
         "int32": 2**31 - 1, "int16": 2**15 - 1, "int8": 127}  # fmt: skip
"""Up to where a type has all integers."""
DIGITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
NORMAL = {"float64": (2.0**-1022, math.inf), "float32": (2.0**-126, 3.4028234663852886e38),
          "float16": (2.0**-14, 65504.0), "bfloat16": (2.0**-126, 3.3895313892515355e38)}  # fmt: skip
"""The magnitudes that a type of floats has with all its digits; beyond those of Python's there are no other ones."""
SCALES = ("mul", "truediv", "neg", "pos", "abs", "pow")
"""Operations whose result has about as many right digits as their operands."""
_SIGNS = ("neg", "pos", "abs")
_LARGEST = 1.7976931348623157e308
_BEYOND = 2**1024
_ROUNDS = 2**35
"""More than the additions that one variable takes part in, times 16."""


@dataclass(frozen=True)
class Some:
    """``given``: one float, the same in all lanes."""

    whole: bool
    least: float = 0.0
    most: float = math.inf
    given: bool = False
    rounded: bool = False

    def is_exact(self, kind: Kind) -> bool:
        """Whether a tensor's element is the number."""
        word = word_of(kind)
        return not self.rounded and (self.most <= WHOLE.get(word, 0) if self.whole else word == "float64")


def word_of(kind: Kind) -> str:
    return str(kind.dtype).removeprefix("torch.")


def of_values(values: Iterable[Any], *, rounded: bool) -> Some:
    """What a few numbers have in common."""
    known = [value for value in values if isinstance(value, int | float)]
    sizes = [abs(value) for value in known if value != 0]
    whole = all(isinstance(value, int) for value in known)
    most = max(sizes, default=1)
    return Some(whole, min(sizes, default=1), math.inf if most != most else most, rounded=rounded)


def joined(first: Some, second: Some) -> Some:
    """What numbers of one kind or of another have in common."""
    return Some(
        first.whole and second.whole, min(first.least, second.least), max(first.most, second.most),
        first.given and second.given, first.rounded or second.rounded,
    )  # fmt: skip


def result(name: str, operands: list[Some], exponent: int | None, *, exact: bool, adds_up: bool) -> Some:
    """What arithmetic makes of such numbers; ``exact``: tensors hold the operands; ``adds_up``: it adds to a sum that a
    loop carries, as other orders of a sum do, and no digits count but those of its terms."""
    base = name.rpartition(".")[2]
    whole = all(one.whole for one in operands) and base != "truediv" and (base != "pow" or exponent is not None)
    least, most = _MAGNITUDES.get(base, _unknown)(operands, exponent)
    if base in ("add", "sub") and adds_up:
        least = min(one.least for one in operands)
    least = max(least, 1) if whole else least
    return Some(whole, least, math.inf if most > _BEYOND or most != most else most, rounded=not exact)


def tells(name: str, found: Some, kind: Kind, *, exact: bool, adds_up: bool) -> bool:
    """Whether a result may be told from what a tensor's elements give, or Python may raise for it."""
    base = name.rpartition(".")[2]
    if found.whole and found.most > WIDEST:
        return True
    if base == "pow" and found.most > _LARGEST:
        return True
    if exact or base in _SIGNS or adds_up:
        return False
    low, high = NORMAL.get(word_of(kind), (math.inf, 0.0))
    return base not in SCALES or found.least < low or found.most > high


def _product(operands: list[Some], exponent: int | None) -> tuple[float, float]:
    (low, high), (other_low, other_high) = ((_float(one.least), one.most) for one in operands)
    if math.inf in (high, other_high) or not all(one.whole for one in operands):
        high, other_high = _float(high), _float(other_high)
    return low * _float(other_low), high * other_high


def _sum(operands: list[Some], exponent: int | None) -> tuple[float, float]:
    if all(one.whole for one in operands):
        return 0.0, operands[0].most + operands[1].most
    return 0.0, _float(operands[0].most) + _float(operands[1].most)


def _quotient(operands: list[Some], exponent: int | None) -> tuple[float, float]:
    first, second = operands
    most = math.inf if second.least == 0 else _float(first.most) / second.least
    return 0.0 if second.most == math.inf else _float(first.least) / _float(second.most), most


def _floor(operands: list[Some], exponent: int | None) -> tuple[float, float]:
    if all(one.whole for one in operands):
        return 1, operands[0].most
    return 1.0, _quotient(operands, exponent)[1] + 1


def _rest(operands: list[Some], exponent: int | None) -> tuple[float, float]:
    return 0.0, operands[1].most


def _same(operands: list[Some], exponent: int | None) -> tuple[float, float]:
    return operands[0].least, operands[0].most


def _power(operands: list[Some], exponent: int | None) -> tuple[float, float]:
    if exponent is None or exponent > 64:
        return _unknown(operands, exponent)
    try:
        return operands[0].least ** exponent, operands[0].most ** exponent
    except OverflowError:
        return _unknown(operands, exponent)


def _unknown(operands: list[Some], exponent: int | None) -> tuple[float, float]:
    return 0.0, math.inf


def _float(value: float) -> float:
    """A magnitude as a float, infinite where it is none."""
    return math.inf if value > _LARGEST else float(value)


_MAGNITUDES: dict[str, Callable[[list[Some], int | None], tuple[float, float]]] = {
    "mul": _product, "add": _sum, "sub": _sum, "truediv": _quotient, "floordiv": _floor, "mod": _rest, "pow": _power,
    "neg": _same, "pos": _same, "abs": _same,
}  # fmt: skip


class Growth:
    """The bounds of variables that grow with each look at a loop, by the same amount each time, or without end
    (widening: Cousot and Cousot, *Abstract interpretation*, 1977)."""

    PATIENCE = 40

    def __init__(self) -> None:
        self.steps: dict[Any, float] = {}
        self.slopes: dict[Any, float] = {}
        self.looks = 0

    def widened(self, var: Any, before: Some, now: Some) -> Some:
        """What a variable is taken to be after one more look."""
        least = now.least if now.least == before.least or self.looks < self.PATIENCE else 0.0
        return Some(now.whole, least, self._most(var, before.most, now.most), now.given, now.rounded)

    def _most(self, var: Any, before: float, now: float) -> float:
        step = now - before if now < math.inf else math.inf
        if step == 0 or step != step:
            return now
        if var in self.slopes:
            return before if step <= 16 * self.slopes[var] else math.inf
        if step == math.inf or self.looks > self.PATIENCE:
            return math.inf
        if self.steps.get(var) == step:
            self.slopes[var] = step
            return now + step * _ROUNDS
        self.steps[var] = step
        return now
