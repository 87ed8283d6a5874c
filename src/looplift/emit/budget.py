"""A plan and the memory that it may take in; whether its intermediates fit, and how long pieces are if not, out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from looplift.base.budget import PIECE, fits
from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.base.report import readable_bytes
from looplift.emit.guards import device_of
from looplift.emit.sizes import Size, extents_of, sizes_of
from looplift.ir import strips
from looplift.ir.array import Axis
from looplift.ir.grammar import Loop, walk


@dataclass
class Room:
    """What the intermediates of a plan take: ``guard`` says whether they fit, over the region's names and
    ``namespace``."""

    sizes: dict[Axis, tuple[Size, str]]
    total: str
    guard: str
    limit: int | None = None
    namespace: dict[str, Any] = field(default_factory=dict)

    def fits(self, names: Mapping[str, Any]) -> bool:
        """Whether they fit for the values under these names; raises NotLiftable where a range has no step."""
        try:
            return bool(eval(self.guard, dict(names)))
        except ZeroDivisionError:
            raise NotLiftable("requirement", "the step of a range is zero") from None

    def message(self, names: Mapping[str, Any]) -> str:
        """How much they would take."""
        size = readable_bytes(eval(self.total, dict(names)))
        allowed = (
            "may be taken of what is free" if self.limit is None else f"the {readable_bytes(self.limit)} of 'memory'"
        )
        return f"all iterations together would take {size}, which is more than {allowed}"


def room_for(made: Any, limit: int | None) -> Room | None:
    """What a plan needs; None if that cannot be much. ``limit`` in bytes, None for a share of what is free."""
    found = sizes_of(made.program, _live_ins(made))
    sizes = {axis: (size.shortened(), extent) for axis, (size, extent) in found.items()}
    if not any(size.degree > (limit is None) for size, _ in sizes.values()):
        return None  # as long as one dimension of something that is there
    total = sum((size for size, _ in sizes.values()), Size()).shortened().text
    if limit is not None:
        return Room(sizes, total, f"{total} <= {limit}", limit)
    device = device_of(made.facts)
    guard = f"_fits({total}{', ' * bool(device)}{device})"
    return Room(sizes, total, guard, namespace={"_fits": fits})


def _live_ins(made: Any) -> set[str]:
    return {re.split(r"[.\[(]", path)[0] for path in made.facts.function.attributes["paths"].values()}


def pieces_of(made: Any, room: Room, names: Mapping[str, Any]) -> dict[Loop, str]:
    """For each loop that must run piece by piece the number of iterations of a piece, as a call.

    Nothing if that is of no help.
    """
    found: dict[Loop, str] = {}
    most = min(room.limit or PIECE, PIECE)
    large = [one for one in room.sizes.items() if eval(one[1][0].text, dict(names)) * len(room.sizes) > most]
    for axis, (size, extent) in large:
        loop = made.loops.get(axis)
        lane = size.of_one(extent).text
        if loop is None or extent.isdecimal() or not _stands_alone(loop, made) or eval(lane, dict(names)) > most:
            return {}
        found[loop] = f"max(1, {most} // {lane})" if lane.isdecimal() else f"max(1, {most} // ({lane}))"
    return found


def blocks_of(made: Any, room: Room, most: int) -> dict[Loop, str] | None:
    """For each search how many of its iterations take so many bytes, as a call; None if that is not known of one.

    Those that are as long as the longest lane needs are none: they take little more than what is in the lanes.
    """
    extents = extents_of(made.program, made.loops, _live_ins(made))
    searches = {loop: axis for axis, loop in made.loops.items() if loop in made.searches and axis.below is None}
    if any(extents[axis].isdecimal() for axis in searches.values()):
        return None
    return {loop: f"max(1, {most} * {extents[axis]} // ({room.total}))" for loop, axis in searches.items()}


def _stands_alone(loop: Loop, made: Any) -> bool:
    """Whether the loop can run piece by piece, and no other loop that became an axis is around it."""
    around = (other for other in made.loops.values() if other is not loop)
    return strips.can_be_stripped(loop) and not any(
        statement is loop for other in around for statement in walk(other.body)
    )
