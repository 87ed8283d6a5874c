"""Elements of a row that nobody reads in, requirements under which their gradient of zero stays zero out.

row = x[i] * w[i]; h = h + row[0]          x and w are finite: autograd multiplies the zero of row[1] by w[i, 1]

Autograd goes back through all of a row, or of a stack, of which one element is read; a kernel through that one alone.
What the loop does not change is looked at once, before it runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from looplift.base.data import dataclass
from looplift.emit.expanded import Expansion, Row, is_elementwise, rank_of
from looplift.emit.expanded_ops import over
from looplift.emit.native_ops import COMPARISONS, LOGIC, TESTS, canonical
from looplift.ir.grammar import Atom, Const, Op, Operand, Var, atoms

LEVEL = frozenset(
    """add sub neg pos clone contiguous where relu maximum minimum clamp sum mean stack unsqueeze t attribute detach
    copy getitem iter_item softmax log_softmax""".split()
) | {*COMPARISONS, *TESTS, *LOGIC}  # fmt: skip
"""Operations through which a gradient of zero stays zero whatever they take; a softmax reads all that it takes."""
GROWING = frozenset("exp exp2 expm1 sinh cosh".split())
"""Operations whose derivative is infinite where they overflow."""
MADE_CHEAPLY = frozenset(
    """mul add sub neg pos square truediv pow abs relu where maximum minimum clamp clone copy contiguous stack unsqueeze
    t""".split()
)
"""What is computed again, element by element, to see whether it is finite; other results are bounded, or sums."""


@dataclass(frozen=True)
class Need:
    """``what``, all elements of a row or a number, is finite; ``top``: and not above that."""

    what: Row | Atom
    top: float = math.inf


def needs_of(walk: Expansion, op: Op) -> tuple[Need, ...]:
    """What must hold for elements of a row that an operation makes, where not all of them are read."""
    short = canonical(op.name)[1]
    if short in ("detach", "softmax", "log_softmax"):
        return ()
    found = [need for atom in _given(walk, op) if atom in walk.rows for need in walk.rows[atom].needs]
    if short not in LEVEL:
        found += _of_factors(walk, op)
    return tuple(found)


def require_needs(walk: Expansion, row: Row) -> None:
    """Require what keeps the gradients of elements that are not read zero."""
    for need in row.needs:
        root = _input(walk, need.what)
        if root is not None:
            walk.looked_at[root] = min(need.top, walk.looked_at.get(root, math.inf))
        elif isinstance(need.what, Row):
            _require_row(walk, need.what, need.top)
        else:
            _require_number(walk, need.what)


def _given(walk: Expansion, op: Op) -> list[Var]:
    """The variables that an operation takes, those in a display one by one."""
    given = [atom for argument in op.args for atom in atoms(argument)]
    return [one for atom in given for one in _items(walk, atom) if isinstance(one, Var)]


def _items(walk: Expansion, atom: Operand) -> list[Operand]:
    if isinstance(atom, Var) and atom in walk.displays and atom not in walk.rows:
        return list(walk.displays[atom])
    return [atom]


def _of_factors(walk: Expansion, op: Op) -> Iterator[Need]:
    """The operands by which an operation multiplies gradients."""
    short = canonical(op.name)[1]
    for atom in _given(walk, op):
        row = walk.row(atom)
        if row is None:
            if is_elementwise(op.name) and _is_float(walk, atom):
                yield Need(atom)
        elif row.dtype.is_floating_point and (row.is_view or walk.made.get(atom) in MADE_CHEAPLY):
            yield Need(row, _top(short, row.dtype))


def _top(short: str, dtype: torch.dtype) -> float:
    if short not in GROWING:
        return math.inf
    return {torch.float64: 700.0, torch.float32: 80.0, torch.bfloat16: 80.0}.get(dtype, 10.0)


def _is_float(walk: Expansion, atom: Var) -> bool:
    fact = walk.facts.of.get(atom)
    if fact is None or rank_of(walk.facts, atom):
        return False
    return fact.kind.family == "float" or (fact.kind.family == "tensor" and fact.kind.dtype.is_floating_point)


def _input(walk: Expansion, what: Row | Atom) -> Var | None:
    """The input that a row is a part of, if the loop does not change it."""
    if not (isinstance(what, Row) and what.is_view) or len(what.reads) != 1:
        return None
    ((root, _),) = what.reads
    return None if root in walk.stored or root in walk.bound else root


def _require_row(walk: Expansion, row: Row, top: float) -> None:
    """Nothing less itself is nothing but of what is finite."""
    zero, one = walk.number(0.0, row.dtype), walk.number(1.0, row.dtype)

    def step(value: Atom, held: Atom) -> Atom:
        plain = walk.let("method.detach", walk.let("method.clone", value))
        found = walk.let("sub", plain, plain)
        if top < math.inf:
            is_low = walk.let("le", walk.let("abs", plain), Const(top))
            found = walk.let("torch.where", is_low, zero, one)
        return walk.let("add", held, found)

    walk.require("eq", over(walk, row, zero, step), Const(0), WHY)


WHY = "finite elements of a row of which some are not read, with gradients"


def _require_number(walk: Expansion, what: Atom) -> None:
    is_tensor = walk.kind(what).family == "tensor"
    plain = walk.let("method.detach", walk.let("method.clone", what)) if is_tensor else what
    walk.require("lt", walk.let("builtin.abs", plain), Const(math.inf), WHY)


__all__ = ["needs_of", "require_needs"]
