"""Where the values of a loop are read and written: uses, stores, and which of them may share one C++ variable."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from looplift.base.data import dataclass, field
from looplift.emit.native_joins import joined_variables
from looplift.emit.native_types import Scalar
from looplift.ir.grammar import (
    Append,
    Atom,
    Block,
    Carry,
    If,
    Let,
    Loop,
    Phi,
    Range,
    Statement,
    Store,
    Var,
    While,
    atoms,
    children,
    operands,
    uses,
    walk,
)  # fmt: skip


class ArrayType(NamedTuple):
    """What an array holds, in how many dimensions, and whether it is a list of NumPy's numbers."""

    scalar: Scalar
    rank: int
    holds_objects: bool = False

    @property
    def cpp(self) -> str:
        return f"Array<{self.scalar.cpp}, {self.rank}>"


@dataclass(eq=False)
class Home:
    """One C++ variable that several values of the loop live in, one after the other."""

    hint: str
    name: str = ""
    flag: str = ""
    bound: str = ""
    is_element: bool = False
    array: ArrayType | None = None


@dataclass
class Flow:
    """Uses of one loop nest.

    ``kept``: values that are also read at the end of the block that binds them; ``updates``: those whose operation
    changes a tensor in place; ``held``: views of elements that show what is stored while they are held; ``decided``:
    what computes a value, or the condition by which it is one of two.
    """

    loop: Loop
    kept: frozenset[Var] = frozenset()
    counts: Counter[Var] = field(default_factory=Counter)
    appends: Counter[Var] = field(default_factory=Counter)
    homes: dict[Var, Home] = field(default_factory=dict)
    updates: set[Var] = field(default_factory=set)
    feeds: dict[Var, list[Var]] = field(default_factory=dict)
    held: frozenset[Var] = frozenset()
    decided: dict[Var, Let | tuple[Atom, Phi]] = field(default_factory=dict)
    _reads: dict[Statement, frozenset[Var]] = field(default_factory=dict)
    _writes: dict[Statement, bool] = field(default_factory=dict)
    _assigned: dict[Statement, frozenset[Home]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for statement in walk(Block((self.loop,))):
            self.counts.update(atom for atom in uses(statement) if isinstance(atom, Var))
            match statement:
                case Append(ref=ref):
                    self.appends[ref] += 1
                case Let(var=var):
                    self.decided[var] = statement
                case If(cond=cond, phis=phis):
                    self.decided |= {phi.var: (cond, phi) for phi in phis}
        for joined, atoms_ in joined_variables(self.loop).items():
            for atom in atoms_:
                if isinstance(atom, Var):
                    self.feeds.setdefault(atom, []).append(joined)

    def reads(self, statement: Statement) -> frozenset[Var]:
        """Every variable that a statement or anything inside it reads."""
        if statement not in self._reads:
            inner = walk(Block((statement,)))
            self._reads[statement] = frozenset(atom for s in inner for atom in uses(s) if isinstance(atom, Var))
        return self._reads[statement]

    def writes(self, statement: Statement) -> bool:
        """Whether a statement or anything inside it stores into a tensor."""
        if statement not in self._writes:
            self._writes[statement] = any(self._is_write(inner) for inner in walk(Block((statement,))))
        return self._writes[statement]

    def _is_write(self, statement: Statement) -> bool:
        return isinstance(statement, Store) or (isinstance(statement, Let) and statement.var in self.updates)

    def assigned(self, statement: Statement) -> frozenset[Home]:
        """The shared variables that a statement or anything inside it assigns."""
        if statement not in self._assigned:
            bound = (var for inner in walk(Block((statement,))) for var in bound_by(inner))
            self._assigned[statement] = frozenset(self.homes[var] for var in bound if var in self.homes)
        return self._assigned[statement]

    def holds_view(self, home: Home) -> bool:
        """Whether a shared variable must show later changes of an element."""
        return any(other is home and var in self.held for var, other in self.homes.items())

    def is_read_between(self, var: Var, statements: tuple[Statement, ...]) -> bool:
        return any(var in self.reads(statement) for statement in statements)

    def is_stale(self, var: Var, rest: tuple[Statement, ...], tail: tuple[Atom, ...]) -> bool:
        """Whether something is stored between here and the last use of ``var`` in this block."""
        last = max((k for k, statement in enumerate(rest) if var in self.reads(statement)), default=-1)
        if var in tail or var in self.kept:
            return any(map(self.writes, rest))
        if last < 0:
            return False
        ends_in = rest[last]
        if isinstance(ends_in, Let | Store) or (isinstance(ends_in, If) and self._only_decides(var, ends_in)):
            return any(map(self.writes, rest[:last]))
        return any(map(self.writes, rest[: last + 1]))

    def _only_decides(self, var: Var, branch: If) -> bool:
        """Whether a value is read before the sides of a branch run, and not in them."""
        inner = (*branch.then.statements, *branch.orelse.statements)
        chosen = (atom for phi in branch.phis for atom in (phi.then, phi.orelse))
        return var not in chosen and not self.is_read_between(var, inner)


def bound_by(statement: Statement) -> tuple[Var, ...]:
    match statement:
        case Let(var=var):
            return (var,)
        case If(phis=phis):
            return tuple(phi.var for phi in phis)
        case Loop(carries=carries):
            return tuple(var for carry in carries for var in (carry.inside, carry.after))
    return ()


def tail_of_body(loop: Loop) -> tuple[Atom, ...]:
    """What is read at the end of a loop's body."""
    return tuple(carry.next for carry in loop.carries) + ((loop.stop,) if loop.stop is not None else ())


def live_ins(loop: Loop) -> tuple[Var, ...]:
    """Variables that a loop reads and does not bind, in the order of their first use."""
    bound = {var for statement in walk(Block((loop,))) for var in bound_by(statement)}
    bound |= {inner.index for inner in walk(Block((loop,))) if isinstance(inner, Loop) and inner.index is not None}
    found: dict[Var, None] = {}
    for statement in walk(Block((loop,))):
        for atom in _in_reading_order(statement):
            if isinstance(atom, Var) and atom not in bound:
                found.setdefault(atom)
    return tuple(found)


def _in_reading_order(statement: Statement):
    match statement:
        case Let(op=op):
            return list(operands(op))
        case Store(ref=ref, index=index, value=value):
            return [ref, *atoms(index), value]
    return list(uses(statement))


# ---------------------------------------------------------------- sharing variables


def share_variables(flow: Flow, can_share) -> None:
    """Give each carried value a Home, and put there what flows into it, as the author's own assignments did.

    ``can_share(var, home_var)`` says whether two values have the same C++ type.
    """
    _share_loop(flow, flow.loop, can_share)
    for statement in walk(Block((flow.loop,))):
        if isinstance(statement, Loop):
            _share_loop(flow, statement, can_share)
        if isinstance(statement, If):
            _share_phis(flow, statement, can_share)


def _share_loop(flow: Flow, loop: Loop, can_share) -> None:
    for position, carry in enumerate(loop.carries):
        home = flow.homes.get(carry.inside) or Home(carry.inside.hint)
        flow.homes.setdefault(carry.inside, home)
        flow.homes.setdefault(carry.after, home)
        others = tuple(c.next for k, c in enumerate(loop.carries) if k != position)
        tail = others + ((loop.stop,) if loop.stop is not None else ())
        _place(flow, carry.next, home, carry.inside, loop.body.statements, tail, can_share)


def _share_phis(flow: Flow, branch: If, can_share) -> None:
    for position, phi in enumerate(branch.phis):
        if phi.var in flow.homes:
            continue
        home = Home(phi.var.hint)
        flow.homes[phi.var] = home
        for side, block in (("then", branch.then), ("orelse", branch.orelse)):
            tail = tuple(getattr(other, side) for k, other in enumerate(branch.phis) if k != position)
            _place(flow, getattr(phi, side), home, phi.var, block.statements, tail, can_share)


def _place(flow: Flow, value: Atom, home: Home, current: Var, statements, tail, can_share) -> bool:
    """Let ``value`` live in ``home``, which holds ``current`` before: nobody may read ``current`` after."""
    position = next((k for k, s in enumerate(statements) if value in bound_by(s)), None)
    if not isinstance(value, Var) or position is None or value in flow.homes:
        return False
    rest = statements[position + 1 :]
    if not can_share(value, current) or flow.is_read_between(current, rest) or current in tail or current in flow.kept:
        return False
    match statements[position]:
        case Let():
            flow.homes[value] = home
            return True
        case If() as branch:
            return _place_phi(flow, branch, value, home, current, can_share)
        case Loop() as loop:
            return _place_carry(flow, loop, value, home, current, can_share)
    return False


def _place_phi(flow: Flow, branch: If, value: Var, home: Home, current: Var, can_share) -> bool:
    chosen = next(phi for phi in branch.phis if phi.var is value)
    others = [phi for phi in branch.phis if phi is not chosen]
    if any(current in (phi.then, phi.orelse) for phi in others):
        return False
    flow.homes[value] = home
    for side, block in (("then", branch.then), ("orelse", branch.orelse)):
        tail = tuple(getattr(phi, side) for phi in others)
        argument = getattr(chosen, side)
        if argument is not current:
            _place(flow, argument, home, current, block.statements, tail, can_share)
    return True


def _place_carry(flow: Flow, loop: Loop, value: Var, home: Home, current: Var, can_share) -> bool:
    carry: Carry = next(c for c in loop.carries if c.after is value)
    reads = flow.reads(loop)
    inits = [c.init for c in loop.carries]
    if carry.inside in flow.homes or not can_share(carry.inside, current):
        return False
    only_init = carry.init is current and inits.count(current) == 1 and _reads_inside(flow, loop, current) is False
    if not only_init and current in reads:
        return False
    flow.homes[carry.inside] = home
    flow.homes[value] = home
    return True


def _reads_inside(flow: Flow, loop: Loop, var: Var) -> bool:
    inner = [statement for block in children(loop) for statement in block]
    bounds: tuple[Atom, ...] = ()
    match loop.domain:
        case Range(lo=lo, hi=hi, step=step):
            bounds = (lo, hi, step)
        case While(cond=cond):
            bounds = (cond,)
    return var in bounds or var in tail_of_body(loop) or flow.is_read_between(var, tuple(inner))


def is_temporary(var: Var) -> bool:
    """Whether a name was made up, so that it may vanish from the text."""
    return var.hint in _MADE_UP or var.hint.startswith("_") or var.hint[:1] == "%"


_MADE_UP = {"t", "item", "items", "choice", "min", "max", "pair", "table", "last", "shape", "size", "ndim", "dtype", ""}
