"""Integers of lanes in, sums of positions on axes out; and masks in, what they say of such sums."""

from __future__ import annotations

from collections.abc import Iterator

from looplift.base.data import dataclass, field
from looplift.ir.array import Axis, Node
from looplift.vectorize import nodes


@dataclass
class Linear:
    """``sum(coefficient * position, from 0, on axis) + base``; coefficients and base are integers of no axis."""

    terms: dict[Axis, Node] = field(default_factory=dict)
    base: Node = field(default_factory=lambda: nodes.const(0))


def linear_of(node: Node) -> Linear | None:
    """An integer of lanes as such a sum, if it is one."""
    if node.kind.family != "int":
        return None
    if not node.axes:
        return Linear({}, node)
    match node.op:
        case "index":
            axis: Axis = node.attrs["axis"]
            return None if axis.is_ragged else Linear({axis: nodes.const(axis.step)}, axis.lo)
        case "along":
            return Linear({node.axes[0]: nodes.const(node.attrs["coefficient"])}, node.args[0])
        case "elementwise" if len(node.args) in (1, 2):
            parts = [linear_of(arg) for arg in node.args]
            found = [part for part in parts if part is not None]
            return _combined(node.attrs["name"], found) if len(found) == len(parts) else None
    return None


def _combined(name: str, parts: list[Linear]) -> Linear | None:
    match name, parts:
        case "neg", [one]:
            return scaled(one, nodes.const(-1))
        case "add", [one, other]:
            return plus(one, other)
        case "sub", [one, other]:
            return minus(one, other)
        case "mul", [one, other] if not other.terms:
            return scaled(one, other.base)
        case "mul", [one, other] if not one.terms:
            return scaled(other, one.base)
    return None


def scaled(form: Linear, factor: Node) -> Linear | None:
    made = {axis: _product(coefficient, factor) for axis, coefficient in form.terms.items()}
    base = _product(form.base, factor)
    terms = {axis: coefficient for axis, coefficient in made.items() if coefficient is not None}
    return Linear(terms, base) if base is not None and len(terms) == len(made) else None


def _product(a: Node, b: Node) -> Node | None:
    """The product of two integers of which one is a constant."""
    for one, other in ((a, b), (b, a)):
        if (value := nodes.constant_of(one)) is not None:
            return nodes.times(other, value)
    return None


def plus(a: Linear, b: Linear, sign: int = 1) -> Linear:
    terms = dict(a.terms)
    for axis, coefficient in b.terms.items():
        terms[axis] = nodes.plus(terms.get(axis, nodes.const(0)), coefficient, sign)
    terms = {axis: coefficient for axis, coefficient in terms.items() if not nodes.is_const(coefficient, 0)}
    return Linear(terms, nodes.plus(a.base, b.base, sign))


def minus(a: Linear, b: Linear) -> Linear:
    return plus(a, b, -1)


def same(a: Linear, b: Linear) -> bool:
    gap = minus(a, b)
    return not gap.terms and nodes.is_const(gap.base, 0)


# ---------------------------------------------------------------- what a mask says


def conditions(mask: Node) -> Iterator[tuple[Linear | None, Node]]:
    """What holds where the mask does: each with the sum that is not negative then, None for one of another form."""
    yield from _said(mask, True)


_NEGATED = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def _said(node: Node, holds: bool) -> Iterator[tuple[Linear | None, Node]]:
    own = node if holds else nodes.negated(node)
    name = node.attrs.get("name") if node.op == "elementwise" else None
    if name == "not":
        yield from _said(node.args[0], not holds)
    elif name == ("and_" if holds else "or_"):
        for arg in node.args:
            yield from _said(arg, holds)
    elif name in _NEGATED:
        yield _compared(name if holds else _NEGATED[name], *node.args), own
    elif name == ("ne" if holds else "eq"):
        yield _unequal(*node.args), own
    else:
        yield None, own


def _unequal(a: Node, b: Node) -> Linear | None:
    """A position that is not the first one of its axis is behind it, one that is not the last one before it."""
    one, other = linear_of(a), linear_of(b)
    gap = None if one is None or other is None else minus(one, other)
    if gap is None or len(gap.terms) != 1:
        return None
    ((axis, coefficient),) = gap.terms.items()
    sign = nodes.constant_of(coefficient)
    if axis.is_ragged or sign not in (1, -1):
        return None
    at_last = nodes.plus(gap.base, nodes.times(nodes.minus(axis.extent, nodes.const(1)), sign))
    for bound, beyond in ((gap.base, sign), (at_last, -sign)):
        if nodes.is_const(bound, 0):
            away = gap if beyond == 1 else scaled(gap, nodes.const(-1))
            return None if away is None else plus(away, Linear({}, nodes.const(1)), -1)
    return None


def _compared(name: str, a: Node, b: Node) -> Linear | None:
    one, other = linear_of(a), linear_of(b)
    if one is None or other is None:
        return None
    gap = minus(one, other) if name in ("gt", "ge") else minus(other, one)
    return plus(gap, Linear({}, nodes.const(1)), -1) if name in ("gt", "lt") else gap
