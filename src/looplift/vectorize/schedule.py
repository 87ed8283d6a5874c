"""A loop that remembers in, the phases that it is cut into: lanes, shifts, scans, and what runs one by one."""

from __future__ import annotations

from collections.abc import Iterator

from looplift.base.data import dataclass
from looplift.ir.grammar import Append, Block, Carry, If, Let, Loop, Range, Statement, Var, uses, walk
from looplift.vectorize import nodes, proofs
from looplift.vectorize.context import Context
from looplift.vectorize.dependence import Component, Pieces, Unit, pieces_of
from looplift.vectorize.forms import Scan, scan_of
from looplift.vectorize.reductions import Accumulator, accumulator_of
from looplift.vectorize.views import is_joined


@dataclass(eq=False)
class Phase:
    """Units that run together: ``lanes``, ``shift`` and ``scan`` for all iterations at once, ``serial`` one by one."""

    way: str
    units: list[Unit]
    scan: Scan | None = None

    @property
    def carries(self) -> list[Carry]:
        return [unit.item for unit in self.units if isinstance(unit.item, Carry)]


@dataclass
class Schedule:
    """The phases of a loop in order, and where each value is made."""

    pieces: Pieces
    phases: list[Phase]
    reductions: dict[Carry, Accumulator]

    def phase_of(self, var: Var) -> Phase | None:
        unit = self.pieces.maker.get(var)
        return next((phase for phase in self.phases if unit in phase.units), None)


def schedule_of(context: Context, loop: Loop) -> Schedule | None:
    """How a loop may be distributed; None if nothing in it can leave the sequential loop."""
    if not isinstance(loop.domain, Range) or loop.stop is not None or not _is_plain_range(context, loop):
        return None
    if any(isinstance(s, Let) and has_two_names(context, s.var) for s in walk(loop.body)):
        return None
    reductions = _reductions(context, loop)
    atomic: set[int] = set()
    while True:
        pieces = pieces_of(context, loop, list(reductions), atomic)
        made = Schedule(pieces, _phases(context, pieces), reductions)
        serial = [phase for phase in made.phases if phase.way == "serial"]
        held = {unit for phase in serial for unit in phase.units}
        ordered = [c for c, found in reductions.items() if any(pieces.maker.get(v) in held for v in _chain(found))]
        together = {id(statement) for statement in _crossing(context, made)} - atomic
        if not ordered and not together:
            break
        for carry in ordered:
            del reductions[carry]
        atomic |= together
    if all(phase.way == "serial" for phase in made.phases):
        return None
    return made


def _is_plain_range(context: Context, loop: Loop) -> bool:
    """Whether all lanes walk the same range, by a step that is known."""
    domain = loop.domain
    assert isinstance(domain, Range)
    if any(context.node(atom).axes for atom in (domain.lo, domain.hi, domain.step)):
        return False
    return nodes.constant_of(context.node(domain.step)) not in (None, 0)


def _reductions(context: Context, loop: Loop) -> dict[Carry, Accumulator]:
    found: dict[Carry, Accumulator] = {}
    for carry in loop.carries:
        if carry.next is carry.inside or proofs.only_carried(context, carry):
            continue
        accumulator = accumulator_of(context.flow, loop, carry)
        if accumulator is not None and proofs.is_reduction(context, accumulator):
            found[carry] = accumulator
    return found


def _chain(found: Accumulator) -> set[Var]:
    return (found.chain | set(found.updates)) - {found.carry.inside}


def _crossing(context: Context, made: Schedule) -> Iterator[Statement]:
    """Ifs whose parts run one by one while something made under them is needed in lanes: they stay together.

    So do those that are an ``if`` in lanes too, under which what is made has no name behind it.
    """
    for phase in made.phases:
        for var in needed_later(context, made, phase):
            unit = made.pieces.maker[var]
            if unit.guards and (phase.way == "serial" or _is_chosen(context, made.pieces.loop, unit)):
                yield from _outermost(made.pieces.loop.body, unit)


def _is_chosen(context: Context, loop: Loop, unit: Unit) -> bool:
    return bool(context.serial_loops) and any(loop not in context.facts[guard].loops for guard in unit.guards)


def _outermost(block: Block, unit: Unit) -> Iterator[Statement]:
    for statement in block:
        if isinstance(statement, If) and _holds(statement, unit.item):
            yield statement


def _holds(statement: If, item: object) -> bool:
    if any(phi is item for phi in statement.phis):
        return True
    for inner in (*statement.then, *statement.orelse):
        if inner is item or (isinstance(inner, If) and _holds(inner, item)):
            return True
    return False


# ---------------------------------------------------------------- phases


def _phases(context: Context, pieces: Pieces) -> list[Phase]:
    waiting = [component for component in pieces.components if not _is_free(context, pieces, component)]
    done = {unit for component in pieces.components if component not in waiting for unit in component.units}
    scans = {id(c): scan_of(context, pieces, c) for c in waiting if c.cyclic}
    phases: list[Phase] = []
    while waiting:
        for way in ("lanes", "shift", "scan", "serial"):
            units, taken = _ready(waiting, done, way, scans)
            if not units:
                continue
            waiting = [component for component in waiting if component not in taken]
            done |= set(units)
            scan = scans.get(id(taken[0])) if way == "scan" else None
            phases.append(Phase(way, sorted(units, key=lambda unit: unit.position), scan))
            break
        else:
            raise context.refuse("internal", "the parts of the loop have no order")
    return phases


def _is_free(context: Context, pieces: Pieces, component: Component) -> bool:
    """Cheap units are made where they are read; values that no iteration reads need no unit, nor do reductions."""
    (first, *more) = component.units
    if more or component.cyclic:
        return False
    if isinstance(first.item, Carry):
        carry = first.item
        return carry.next is carry.inside or proofs.only_carried(context, carry) or carry in pieces.reductions
    defined = next(iter(first.defines), None)
    return first.cheap and defined is not None and bool(context.flow.users.get(defined))


def _way(component: Component, scans: dict) -> str:
    if component.cyclic:
        return "scan" if scans.get(id(component)) is not None else "serial"
    return "shift" if component.carries else "lanes"


def _ready(waiting: list[Component], done: set[Unit], way: str, scans: dict) -> tuple[list[Unit], list[Component]]:
    """The units of one way whose predecessors are done, or among them; of scans and shifts one at a time."""
    units: set[Unit] = set()
    taken: list[Component] = []
    for component in waiting:
        if _way(component, scans) != way:
            continue
        own = set(component.units)
        if all(other in done or other in units or other in own for unit in component.units for other in unit.before):
            units |= own
            taken.append(component)
            if way in ("scan", "shift"):
                break
    return list(units), taken


def needed_later(context: Context, made: Schedule, phase: Phase) -> list[Var]:
    """What a phase makes and a later one reads."""
    own = {var: unit for unit in phase.units for var in unit.defines}
    later = made.phases[made.phases.index(phase) + 1 :]
    read = {var for other in later for unit in other.units for var in (*unit.reads, *unit.guards)}
    return [var for var in own if var in read]


# ---------------------------------------------------------------- identity


def has_two_names(context: Context, atom: Var) -> bool:
    """Whether the very object may be handed out under two names, which would tell a copy from it."""
    if context.facts.kind(atom).family not in ("tensor", "array"):
        return False
    ends, seen, pending = 0, {atom}, [atom]
    while pending:
        var = pending.pop()
        ends += sum(result is var for _, result in context.facts.function.results)
        for user in context.flow.users.get(var, ()):
            handed = isinstance(user, Append) and not is_joined(context, user.ref)
            listed = isinstance(user, Let) and user.op.name in ("tuple", "list", "copy")
            if handed or (listed and not _is_only_joined(context, user)):
                ends += sum(used is var for used in uses(user))
            for other in _same_object(user, var):
                if other not in seen:
                    seen.add(other)
                    pending.append(other)
    return ends > 1


def _is_only_joined(context: Context, display: Statement) -> bool:
    """Whether a list that is written down is only what a join makes a new tensor of."""
    assert isinstance(display, Let)
    users = context.flow.users.get(display.var, ())
    joins = all(isinstance(user, Let) and user.op.name in _JOINS for user in users)
    return bool(users) and display.op.name != "copy" and joins


_JOINS = frozenset(f"torch.{name}" for name in ("stack", "cat", "concat", "concatenate", "hstack", "vstack"))


def _same_object(user: Statement, var: Var) -> list[Var]:
    """The variables that a statement binds to the object that another one holds."""
    if isinstance(user, If):
        return [phi.var for phi in user.phis if var in (phi.then, phi.orelse)]
    if isinstance(user, Loop):
        return [
            bound for carry in user.carries if var in (carry.init, carry.next) for bound in (carry.inside, carry.after)
        ]
    return []
