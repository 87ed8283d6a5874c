"""A condition in, what is known of integers where it holds out: they are no places outside of an array, say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from looplift.base.data import replace
from looplift.emit.native_ops import canonical
from looplift.emit.native_values import Number, Value
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Atom, Const, Let, Operand, Var

_NEGATED = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "ne": "eq"}
_TURNED = {"gt": "lt", "ge": "le"}


@contextmanager
def where(writer: Writer, condition: Atom, holds: bool) -> Iterator[None]:
    """For what is written inside: the condition holds, or it does not."""
    before: dict[Var, Value] = {}
    for short, first, second in _comparisons(writer, condition, holds):
        for atom, number in _narrowed(writer, short, first, second):
            if isinstance(atom, Var):
                before.setdefault(atom, writer.values[atom])
                writer.values[atom] = number
    yield
    writer.values |= before


def _comparisons(writer: Writer, condition: Operand, holds: bool) -> Iterator[tuple[str, Operand, Operand]]:
    """The comparisons that are sure to hold: ``lt``, ``le`` or ``eq``, and what is compared."""
    match writer.flow.decided.get(condition) if isinstance(condition, Var) else None:
        case Let(op=op):
            namespace, short = canonical(op.name)
            if namespace == "" and short == "not":
                yield from _comparisons(writer, op.args[0], not holds)
            short = short if holds else _NEGATED.get(short, "")
            if namespace == "" and short in ("lt", "le", "eq"):
                yield short, op.args[0], op.args[1]
            elif namespace == "" and short in _TURNED:
                yield _TURNED[short], op.args[1], op.args[0]
        case (cond, phi):
            other, own = (phi.orelse, phi.then) if holds else (phi.then, phi.orelse)
            if other is cond or (isinstance(other, Const) and other.value is (not holds)):
                yield from _comparisons(writer, cond, holds)
                yield from _comparisons(writer, own, holds)


def _narrowed(writer: Writer, short: str, first: Operand, second: Operand) -> Iterator[tuple[Operand, Number]]:
    a, b = (writer.values.get(x) if isinstance(x, Var) else writer.operand(x) for x in (first, second))
    if not (isinstance(a, Number) and isinstance(b, Number) and _is_plain(a) and _is_plain(b)):
        return
    gap = int(short == "lt")
    below = a.below | b.below | (frozenset({b.text}) if gap and b.is_simple else frozenset())
    yield first, replace(a, high=min(a.high, b.high - gap), below=below)
    yield second, replace(b, low=max(b.low, a.low + gap))
    if short == "eq":
        yield first, replace(a, high=min(a.high, b.high), low=max(a.low, b.low), below=below)
        yield second, replace(b, high=min(a.high, b.high), low=max(a.low, b.low), below=below)


def _is_plain(number: Number) -> bool:
    return number.type.name == "int64" and not number.alias and number.other is None and not number.bound
