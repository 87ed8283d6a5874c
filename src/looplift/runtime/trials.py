"""Times of the first calls in, whether a variant is worth its while out.

The second call is batched. If that took much less than the loop did on the first, all is clear; else loop and batched
code take turns for a few calls, and the slower one is out. Only calls of about one size are compared with one another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import torch

from looplift.base.data import dataclass, field
from looplift.runtime import contents

CLEAR_AT_ONCE = 4.0
"""So many times faster than the loop on the first call, which was watched and cold, and no more calls are timed."""
COLD = 0.02
"""Seconds: of a shorter first call of the loop most may be what only a first call takes, or another process took."""
LONG = 0.04
"""Seconds of a loop before whose turn a second call of the batched code is seen: the first one was cold."""
CLEAR_IN_ONE = 8.0
"""So many times faster in one pair of calls, which the first call of the loop does not belie, and no more are timed."""
HOPELESS = 4.0
"""So many times slower than the loop, and better code of the same will not be faster by much."""
CLEAR = 2.0
"""So many times faster in two pairs of calls, or slower where that took long, and no more are timed."""
LOSS = 1.05
"""So many times slower than the loop in the end, and a variant is not used for arguments of this size."""
UNEVEN = 32.0
"""Where lanes leave a loop at steps of their own, some may take so many times as long as the first ones."""
ENTRY = 1e-6
"""Seconds that it takes at least to come to a variant: the guards, which a call of the loop does without."""
LONG_ENTRY = 0.1
"""Seconds: what took longer was something else than guards, which may look at all items of lists."""
UNDISTURBED = 0.1
"""Seconds: nothing that disturbs a call takes so long."""
SLOWEST = 100.0
"""So many times as long as the batched code a loop of which nothing is known is feared to take."""
FREE, SHARE = 0.2, 0.5
"""Seconds that what is not known to be faster may run, and how much of what the variant has run it may run as well."""
BOUNDED, WATCHED = 0.005, 3.0
"""Seconds of a batched call, from which on the loop's first turn is ended when it is clear that it takes longer by far;
how many times as long a loop may take that is watched for that."""
PAIRS = 4
MAX_SIZES = 6
"""With so many sizes undecided, they are decided together."""


@dataclass
class Trial:
    """Of calls of one size. ``loop`` is what the loop took when it was verified, in seconds; None if it was not.

    ``is_estimate``: it did not end, and that is what its first iterations lead to expect. ``patience``: how much slower
    a call may be because of what it saves later, in the backward pass.
    """

    loop: float | None
    patience: float = 1.0
    is_estimate: bool = False
    batched: list[float] = field(default_factory=list)
    written: list[float] = field(default_factory=list)
    is_warm: bool = False
    """Whether what the variant takes turns with has run before."""
    first_turns: int = 0
    """How often it has, where that is counted."""
    cold: list[float] = field(default_factory=list)
    """Seconds of those of its calls before that in which nothing was compiled, or which took too long even so."""
    feared: float = 0.0
    """Seconds that the first turn of pieces may take of which nothing is known: those of the loop as written."""
    as_written: float | None = None
    """Seconds that the loop took, where the pieces of another form are what it takes turns with."""
    is_against_loop: bool = False
    """Whether it takes turns with the loop as written, as it was faster than the pieces."""
    can_end: bool = False
    """Whether a turn of the loop that takes long may be ended, as it leaves nothing behind: it need not be feared."""
    is_bounded: bool = True
    """Whether a turn of the loop may be ended: not after one that ended by itself."""
    waits: bool = False
    """Whether the loop runs until better code is there: what loses is not timed until it wins by chance."""
    sizes: dict[str, Any] = field(default_factory=dict)
    """Those of the values before the first of its calls, which may take items out of them."""

    @property
    def turn_of_loop(self) -> bool:
        is_next = len(self.batched) > len(self.written) + self._is_seen_again
        fear = 0.0 if self.cold or self.written else self.feared if self.loop is not None else self._unknown
        return is_next and max(fear, sum(self.cold)) <= FREE + SHARE * sum(self.batched)

    @property
    def _unknown(self) -> float:
        """Seconds that a turn of a loop may take of which nothing is known."""
        longest = SLOWEST * min(self.batched, default=0.0)
        return min(longest, self.bound or longest) if self.can_end else longest

    @property
    def _is_seen_again(self) -> bool:
        """Whether a second call of the batched code comes before the loop's, which takes long."""
        loop = self.loop or 0.0
        return loop > LONG and bool(self.batched) and self.batched[0] < CLEAR * loop

    @property
    def bound(self) -> float | None:
        """Seconds after which a turn of the loop tells enough; None where it must end by itself."""
        shortest = min(self.batched, default=0.0)
        return CLEAR_IN_ONE / self.patience * shortest if self.is_bounded and shortest > BOUNDED else None

    def ran_out(self, seconds: float) -> None:
        """Note a turn of the loop that was ended after so long."""
        self.written.append(seconds / WATCHED)

    def took(self, seconds: float, entry: float = ENTRY) -> None:
        """Note a call of the batched code, and what it took to come to it."""
        self.batched.append(seconds + (entry if ENTRY < entry < LONG_ENTRY else ENTRY))

    @property
    def pairs(self) -> int:
        """How many calls of the batched code stand beside one of the loop."""
        return min(len(self.batched), len(self.written))

    def passed(self) -> bool | None:
        """Whether the variant is faster than the loop; None while it is not clear."""
        pairs = self.pairs
        if pairs == 0:
            is_clear = (
                self.loop is not None
                and self.loop > COLD
                and self.batched
                and CLEAR_AT_ONCE * min(self.batched) < self.loop
            )
            return True if is_clear else None
        ratio = min(self.batched) / max(min(self.written), 1e-9) / self.patience  # the least disturbed calls
        seen_twice = pairs > 1 or (self.loop or 0.0) > CLEAR * min(self.batched) or min(self.written) > UNDISTURBED
        if ratio * CLEAR_IN_ONE < 1 and seen_twice:
            return True  # two calls of the loop took long: one may have been disturbed
        if pairs >= PAIRS:
            return ratio < LOSS
        if pairs >= 2 and ratio * CLEAR < min(1, self._share_of_first()):
            return True
        # a few calls may have been disturbed, by what only first ones take or by other processes: see two more
        enough = FREE if ratio < CLEAR_IN_ONE else COLD
        return False if pairs >= 2 and ratio > CLEAR and sum(self.batched) > enough else None

    def _share_of_first(self) -> float:
        """How long the first call of the loop took beside the others: it was watched, and took no less."""
        known = self.loop and not self.is_estimate and self.patience == 1.0
        return (self.loop or 0.0) / max(min(self.written), 1e-9) if known else 1.0

    def begin_anew(self) -> None:
        """What was timed so far tells nothing any more."""
        self.batched, self.written = [], []

    @property
    def is_no_slower(self) -> bool:
        """Whether the loop was no faster in calls that nothing disturbs; False where it is not clear."""
        shortest = min(min(self.batched, default=0.0), min(self.written, default=0.0))
        is_clear = shortest > UNDISTURBED and len(self.batched) > 1
        return is_clear and min(self.batched) < min(self.written) * self.patience

    @property
    def gains_little(self) -> bool:
        """Whether the loop is about as fast; False where it was not timed beside the variant."""
        return bool(self.written) and CLEAR * min(self.batched) > min(self.written)

    @property
    def is_hopeless(self) -> bool:
        """Whether the loop is faster by far."""
        return bool(self.written) and min(self.batched) > HOPELESS * min(self.written)

    def typical(self) -> tuple[float, float]:
        """Seconds of a call of the loop, and of the batched code."""
        return sorted(self.written)[len(self.written) // 2], sorted(self.batched)[len(self.batched) // 2]


def decided_together(trials: Collection[Trial]) -> bool | None:
    """Whether a variant is faster than the loop over all sizes that are undecided; None while it is not clear."""
    if len(trials) < MAX_SIZES:
        return None
    pairs = [trial for trial in trials if trial.batched and trial.written]
    if sum(trial.pairs for trial in pairs) < PAIRS:
        if len(trials) < 2 * MAX_SIZES:
            return None
        if not pairs:
            return True
    batched = sum(min(trial.batched) for trial in pairs)
    return batched < LOSS * sum(min(trial.written) * trial.patience for trial in pairs)


def size_class(values: Iterable[Any]) -> tuple[int, ...]:
    """The lengths in arguments, each to a factor of two."""
    return tuple(length.bit_length() for value in values for length in _lengths(value))


def _lengths(value: Any) -> tuple[int, ...]:
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return tuple(value.shape)
    if isinstance(value, (list, tuple, dict, set, str, bytes, bytearray, range)):
        return () if contents.runs_code(value) else (len(value),)
    return (abs(value),) if type(value) is int else ()
