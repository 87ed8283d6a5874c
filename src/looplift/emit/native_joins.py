"""Values that come from several places: which type they have in C++, and what else they may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from looplift.base.data import dataclass
from looplift.base.errors import NotLiftable
from looplift.emit.native_mixed import are_mixed
from looplift.emit.native_types import BOOL, FLOAT, INT, MIXED, Scalar, exactly, scalar_of, type_of_constant
from looplift.ir.facts import Facts
from looplift.ir.grammar import UNDEFINED, Atom, Block, Const, If, Let, Loop, Range, Var, operands, walk

ABSENT = Scalar("absent", "nothing")
NONE = Scalar("absent", "None")
OTHER = Scalar("other", "constant")
"""A constant that is no real number: a complex one, text, a tuple."""

Possible = frozenset[Scalar]


@dataclass(frozen=True)
class Join:
    """``type`` in C++; ``other``: the Python type that it may have instead; ``absent``: it may be None or unbound.

    ``sure``: it has its type if each loop before has an iteration.
    """

    type: Scalar
    other: Scalar | None = None
    rounded: bool = False
    absent: bool = False
    absent_value: Any = None
    zero: bool = False
    leaves: frozenset[Atom] = frozenset()
    sure: bool = False


UNKNOWN = Join(INT, absent=True)
"""The first guess of a variable of which nothing is known yet."""


def joined_variables(loop: Loop, *, all_run: bool = False) -> dict[Var, tuple[Atom, ...]]:
    """Each variable that takes its value from others, with these; ``all_run``: where each loop has an iteration."""
    sources: dict[Var, tuple[Atom, ...]] = {}
    for statement in walk(Block((loop,))):
        match statement:
            case If(phis=phis):
                for phi in phis:
                    sources[phi.var] = (phi.then, phi.orelse)
            case Loop(carries=carries):
                for carry in carries:
                    sources[carry.inside] = (carry.init, carry.next)
                    sources[carry.after] = (
                        (carry.next,) if all_run or _always_runs(statement) else (carry.init, carry.next)
                    )
    return sources


def possible_objects(loop: Loop) -> dict[Var, tuple[Atom, ...]]:
    """Each variable that may be one of several objects, with these: also what Python's ``min`` and ``max`` return."""
    sources = joined_variables(loop)
    for statement in walk(Block((loop,))):
        if isinstance(statement, Let) and statement.op.name in ("builtin.min", "builtin.max"):
            sources[statement.var] = tuple(operands(statement.op))
    return sources


def objects_of(loop: Loop, var: Var) -> set[Var]:
    """The variables whose statements may have made the object that a variable holds, and changed it in place."""
    sources = possible_objects(loop)
    for statement in walk(Block((loop,))):
        if isinstance(statement, Let) and (statement.op.name.startswith("inplace.") or statement.op.name == "copy"):
            sources[statement.var] = tuple(operands(statement.op))[:1]
    found: set[Var] = set()
    seen: set[Var] = set()
    pending = [var]
    while pending:
        current = pending.pop()
        if current not in seen:
            seen.add(current)
            pending += [atom for atom in sources.get(current, ()) if isinstance(atom, Var)]
            found |= set() if current in sources else {current}
    return found


def _always_runs(loop: Loop) -> bool:
    match loop.domain:
        case Range(lo=Const(value=lo), hi=Const(value=hi), step=Const(value=step)):
            return type(lo) is type(hi) is type(step) is int and step != 0 and len(range(lo, hi, step)) > 0
    return False


def possible_of(atom: Atom, possible: dict[Var, Possible]) -> Possible:
    if isinstance(atom, Var):
        return possible.get(atom, frozenset())
    if atom is UNDEFINED:
        return frozenset({ABSENT})
    if atom.value is None:
        return frozenset({NONE})
    scalar = type_of_constant(atom.value)
    return frozenset({OTHER if scalar is None else scalar})


def spread(sources: dict[Var, tuple[Atom, ...]], possible: dict[Var, Possible]) -> None:
    """Let the possible types of variables flow to where they are joined, until nothing changes."""
    changed = True
    while changed:
        changed = False
        for var, atoms in sources.items():
            found = frozenset().union(*(possible_of(atom, possible) for atom in atoms), possible.get(var, frozenset()))
            if found != possible.get(var):
                possible[var] = found
                changed = True


def sure_types(loop: Loop, possible: dict[Var, Possible]) -> set[Var]:
    """The joined variables that have a type of their own if each loop has an iteration."""
    sources = joined_variables(loop, all_run=True)
    found = {var: types for var, types in possible.items() if var not in sources}
    spread(sources, found)
    unsure = (ABSENT, NONE, OTHER)
    return {var for var in sources if found.get(var) and not any(t.is_python or t in unsure for t in found[var])}


def first_guess(facts: Facts, sources: dict[Var, tuple[Atom, ...]]) -> dict[Var, Possible]:
    """The kinds that analysis found, before the loop's own types are known."""
    guess: dict[Var, Possible] = {}
    for var in sources:
        fact = facts.of.get(var)
        scalar = scalar_of(fact.kind) if fact is not None and fact.kind.rank == 0 else None
        if scalar is not None:
            guess[var] = frozenset({scalar})
    return guess


def join_of(
    var: Var,
    possible: dict[Var, Possible],
    sources,
    zeros: set[Var] | None,
    refuse: Callable[[str, str], NotLiftable],
    *,
    mixes: bool = False,
) -> Join | None:
    """How a joined variable is held; None while nothing is known of it. ``zeros``: None to hope for the best.

    ``mixes``: one that is an integer or a float has a type for both.
    """
    found = possible.get(var, frozenset())
    absent = found & {ABSENT, NONE}
    numbers = found - absent
    if not numbers - {OTHER}:
        return None
    if OTHER in numbers:
        raise refuse("mixed-kinds", f"'{var.hint}' holds a number at times, and at times what is none")
    chosen = MIXED if mixes and are_mixed(*numbers) else _widest(numbers)
    numbers = frozenset({MIXED}) if chosen == MIXED else numbers
    others = numbers - {chosen}
    if chosen is None or len(others) > 1 or any(not other.is_python for other in others):
        raise refuse("mixed-kinds", f"'{var.hint}' holds values of different types")
    if len(absent) > 1 and var.hint == "return":
        absent = frozenset({NONE})  # some return is always reached
    if len(absent) > 1:
        raise refuse("mixed-kinds", f"'{var.hint}' is None in some iterations and not bound in others")
    other = next(iter(others), None)
    leaves = leaves_of(var, other, possible, sources) if other is not None else frozenset()
    rounded = other is not None and not all(_keeps(leaf, other, chosen) or _is_zero(leaf, zeros) for leaf in leaves)
    zero = all(_is_zero(leaf, zeros) for leaf in leaves)
    return Join(chosen, other, rounded, bool(absent), UNDEFINED if ABSENT in absent else None, zero, leaves)


def _is_zero(leaf: Atom, zeros: set[Var] | None) -> bool:
    if isinstance(leaf, Const):
        return str(leaf.value) in ("0", "0.0", "False")
    return zeros is None or leaf in zeros


def _widest(numbers: frozenset[Scalar]) -> Scalar | None:
    typed = [scalar for scalar in numbers if not scalar.is_python]
    if typed:
        return typed[0] if len(typed) == 1 else None
    return next((scalar for scalar in (FLOAT, INT, BOOL) if scalar in numbers), None)


def leaves_of(var: Var, other: Scalar, possible, sources) -> frozenset[Atom]:
    """The atoms of type ``other`` that reach a joined variable."""
    seen: set[Atom] = set()
    pending: list[Atom] = [var]
    found: set[Atom] = set()
    while pending:
        atom = pending.pop()
        if atom in seen:
            continue
        seen.add(atom)
        if isinstance(atom, Var) and atom in sources:
            pending.extend(sources[atom])
        elif other in possible_of(atom, possible):
            found.add(atom)
    return frozenset(found)


def _keeps(leaf: Atom, other: Scalar, chosen: Scalar) -> bool:
    """Whether the number is the same value in the chosen type."""
    if isinstance(leaf, Const):
        return exactly(leaf.value, chosen)
    return other.name == chosen.name or (other.is_bool and not chosen.is_bool)
