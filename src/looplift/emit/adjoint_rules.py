"""The derivatives of one operation: for each operand, what its gradient grows by."""

from __future__ import annotations

import re

from looplift.emit.native_ops import CONVERSIONS, LEAK, canonical, row_of
from looplift.ir.grammar import Const, Op, Operand

PASSING = ("clone", "contiguous", "cpu", "to", "type", "pos", *CONVERSIONS)
"""Methods that hand their operand on, perhaps in another type."""

OF_ONE = frozenset(("sum", "mean", "prod", "max", "min", "amax", "amin"))
"""Reductions, which leave a single float as it is; those of several elements are written as loops before."""

_POWER = (
    "{b} == 0 ? 0 : {g} * {T}({b} * {T}(math::pow(double({a}), double({b} - 1))))",
    "{g} * ({a} == 0 && {b} >= 0 ? 0 : {T}({r} * simd::log(double({a}))))",
)
_POWER_OF_A_NUMBER = "{b} == 0 ? 0 : {g} * {T}({b} * {T}(power<double>({a}, {b} - 1)))"


def operand_letters(op: Op) -> dict[str, Operand]:
    """The operands of an operation under the letters that gradient texts use, with those that have a default."""
    given = (*op.args, *(operand for _, operand in op.kwargs))
    return dict(zip("abcdef", (*given, *_DEFAULTS.get(canonical(op.name)[1], ())[len(given) - 1 :])))


_DEFAULTS = {"leaky_relu": (Const(LEAK),)}
"""What follows the first operand where it is not given."""


def gradients_of(op: Op) -> tuple[str | None, ...]:
    """A text for each operand: ``{a}``, ``{b}`` operands, ``{r}`` result, ``{g}`` its gradient, ``{d}`` a decision."""
    namespace, short = canonical(op.name)
    match namespace, short:
        case "math", _:
            return ()
        case "builtin", "min" | "max":
            return ("{d} ? 0 : {g}", "{d} ? {g} : 0")
        case "builtin", "abs":
            short = "abs"
        case "builtin", _:
            return ()
        case "method", _ if short in PASSING:
            return ("{g}",)
        case "method" | "torch", "amax" | "amin":
            return ("{a} == {a} ? {T}({g}) : {T}({a})",)
        case "method" | "torch", _ if short in OF_ONE and not _has_two(op):
            return ("{g}",)
    match short:
        case "copy":
            return ("{g}",)
        case "where":
            return (None, "{a} ? {g} : 0", "{a} ? 0 : {g}")
        case "pow":
            return _power(op)
        case "clamp":
            return _clamp(op)
        case "max" | "min" if namespace == "torch":
            short = {"max": "maximum", "min": "minimum"}[short]
    row = row_of(short)
    return row.gradients if row is not None else ()


def _has_two(op: Op) -> bool:
    """Whether ``max`` and ``min`` are those of two tensors."""
    return canonical(op.name)[1] in ("max", "min") and len(op.args) > 1


def _power(op: Op) -> tuple[str | None, ...]:
    exponent = op.args[1]
    if isinstance(exponent, Const) and exponent.value == 2:
        return ("{g} * (2 * {a})", None)
    return (_POWER_OF_A_NUMBER, None) if isinstance(exponent, Const) else _POWER


def _clamp(op: Op) -> tuple[str, ...]:
    """A gradient passes where the value lies between the bounds, these included; else the bound that it is has it."""
    bounds = {"min": "b", "max": "c"}
    given = operand_letters(op)
    letters = dict(zip((name for name, _ in op.kwargs), "abcdef"[len(op.args) :]))
    found: dict[str, str] = {}
    for name, position in bounds.items():
        letter = letters.get(name) or (position if len(op.args) > "abc".index(position) else "")
        operand = given.get(letter)
        if operand is not None and not (isinstance(operand, Const) and operand.value is None):
            found[name] = f"{{{letter}}}"
    low, high = found.get("min"), found.get("max")
    inside = [f"{{a}} >= {low}"] * (low is not None) + [f"{{a}} <= {high}"] * (high is not None)
    conditions = {"{a}": " && ".join(inside) or "true"}
    if low is not None:
        conditions[low] = f"{{a}} < {low}" + (f" && {low} < {high}" if high is not None else "")
    if high is not None:
        conditions[high] = f"{{a}} > {high}" + (f" || {high} < {low}" if low is not None else "")
    return tuple(
        f"{conditions[f'{{{letter}}}']} ? {{g}} : 0" if f"{{{letter}}}" in conditions else "0" for letter in given
    )


def letters_in(text: str) -> set[str]:
    """The operands that a gradient text mentions."""
    return set(re.findall(r"\{([a-z])\}", text))


CHEAP = frozenset(
    "add sub mul neg pos abs min max maximum minimum truediv floordiv mod square eq ne lt le gt ge not and_ or_ xor "
    "invert lshift rshift getitem iter_item copy attribute unpack tuple list len int float bool item size dim clone "
    "contiguous detach double long iter_len relu where is_ is_not".split()
)
"""Operations that are cheaper to do again than to remember."""


def is_cheap(op: Op) -> bool:
    return canonical(op.name)[1] in CHEAP and not op.name.startswith("inplace.")


__all__ = ["CHEAP", "OF_ONE", "gradients_of", "is_cheap", "letters_in", "operand_letters"]
