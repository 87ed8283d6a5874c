"""A block in; when each of its statements runs out, and when each variable is read."""

from __future__ import annotations

from typing import NamedTuple

from looplift.base.data import dataclass, field
from looplift.ir.grammar import Atom, Block, If, Loop, Var, While, uses


class Moment(NamedTuple):
    """A place in the order of the statements, with the loops that it is in and the sides of ``if``s."""

    order: int
    loops: tuple[Loop, ...]
    sides: tuple[tuple[If, str], ...]

    def excludes(self, other: Moment) -> bool:
        """Whether the two stand on different sides of an ``if``."""
        return any(
            branch is theirs and side != another for branch, side in self.sides for theirs, another in other.sides
        )


@dataclass
class Moments:
    """``of``: the moment of each statement, by its identity.

    What an ``if`` chooses is read at the end of the side, what a loop carries on at the end of its body.
    """

    of: dict[int, Moment] = field(default_factory=dict)
    reads: dict[Var, list[Moment]] = field(default_factory=dict)
    ticks: int = 0

    def at(self, loops: tuple[Loop, ...] = (), sides: tuple[tuple[If, str], ...] = ()) -> Moment:
        """The next moment."""
        self.ticks += 1
        return Moment(self.ticks, loops, sides)

    def read(self, moment: Moment, *atoms: Atom | None) -> None:
        for atom in atoms:
            if isinstance(atom, Var):
                self.reads.setdefault(atom, []).append(moment)


def moments_of(block: Block, results: tuple[Atom, ...] = ()) -> Moments:
    """The moments of all statements of a block; ``results`` are read at its end."""
    found = Moments()
    _visit(found, block, (), ())
    found.read(found.at(), *results)
    return found


def _visit(found: Moments, block: Block, loops: tuple[Loop, ...], sides: tuple[tuple[If, str], ...]) -> None:
    for statement in block:
        moment = found.of[id(statement)] = found.at(loops, sides)
        match statement:
            case If():
                _visit_branch(found, statement, moment)
            case Loop():
                _visit_loop(found, statement, moment)
            case _:
                found.read(moment, *uses(statement))


def _visit_branch(found: Moments, branch: If, moment: Moment) -> None:
    found.read(moment, branch.cond)
    for side in ("then", "orelse"):
        sides = (*moment.sides, (branch, side))
        _visit(found, getattr(branch, side), moment.loops, sides)
        found.read(found.at(moment.loops, sides), *(getattr(phi, side) for phi in branch.phis))


def _visit_loop(found: Moments, loop: Loop, moment: Moment) -> None:
    domain, inner = loop.domain, (*moment.loops, loop)
    found.read(moment, *(carry.init for carry in loop.carries))
    if isinstance(domain, While):
        _visit(found, domain.block, inner, moment.sides)
        found.read(found.at(inner, moment.sides), domain.cond)
    else:
        found.read(moment, domain.lo, domain.hi, domain.step, domain.source)
    _visit(found, loop.body, inner, moment.sides)
    found.read(found.at(inner, moment.sides), *(carry.next for carry in loop.carries), loop.stop)
