"""What becomes of loops, line by line."""

from __future__ import annotations

from collections.abc import Iterable

from looplift.base.data import dataclass
from looplift.ir.grammar import Function, Loop, walk


@dataclass(frozen=True)
class Decision:
    """What becomes of one loop: ``lanes``, ``sequential``, ``native``, ``scan``, ``waves`` or ``kept``."""

    line: int
    decision: str
    code: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()
    is_unrolled: bool = False
    """Whether its items were known before the loop runs: in the code there is no such loop."""


def lines_that_stay(decisions: Iterable[Decision]) -> set[int]:
    """The lines of the loops that run in Python."""
    return {one.line for one in decisions if one.decision == "sequential" and not one.is_unrolled}


def decisions_of_kernel(function: Function, notes: tuple[str, ...]) -> list[Decision]:
    """The decisions of a region that is one kernel."""
    loops = [statement for statement in walk(function.body) if isinstance(statement, Loop)]
    return [Decision(loop.span.line, "native", notes=notes) for loop in loops]
