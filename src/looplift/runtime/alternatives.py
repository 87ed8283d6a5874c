"""A variant that is slower than the loop, or does not hold, in; another form of it for the same arguments out.

The compiler may have a second form of a region, as a kernel of whole rows. It is made only where the first one failed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from looplift.runtime import entry
from looplift.runtime.variants import RegionCode

if TYPE_CHECKING:
    from looplift.runtime.dispatch import Dispatcher, Variant

WORTH_IT = 1e-4
"""Seconds of a call of the loop, from which on another form is compiled."""
MAX_RENEWALS = 5
"""So often a variant is given another form where one did not hold; values of ever new kinds are the loop's."""
LONG = 1e-3
"""Seconds of a call of the loop, from which on its pieces are lifted where the whole is slower."""


def takes_over(
    dispatcher: Dispatcher, variant: Variant, values: dict[str, Any], sizes: dict[str, Any], loop: float
) -> bool:
    """Whether another form runs from now on for arguments like these, up to twice their size.

    ``sizes``: of the arguments before the call; ``loop``: seconds that a call of the loop takes.
    """
    if variant.code is not None and variant.code.renewable:
        return False
    _set_apart(dispatcher, variant, values)
    other = variant.small
    if other is None or other.plain:
        other = _alternative(dispatcher, variant, values) if loop > WORTH_IT else None
        if other is None:
            return False
        if variant.small is not None:
            dispatcher.variants.remove(variant.small)
        dispatcher.variants.append(other)
        variant.small = other
    if other.call is None or other.is_slow:
        return False
    other.trials = {}
    return dispatcher.add_small(variant, sizes)


def _set_apart(dispatcher: Dispatcher, variant: Variant, values: dict[str, Any]) -> None:
    """Have another form that does not hold for these values stand by itself, for those of its own kind: where there may
    be more, one for these values can be made."""
    other, code = variant.small, variant.code
    if other is None or other.plain or accepts(dispatcher, variant, other, values):
        return
    variant.small, other.is_rival = None, False
    if code is not None and variant.renewals < MAX_RENEWALS:
        code.alternative, variant.renewals = other.made_by, variant.renewals + 1


def accepts(dispatcher: Dispatcher, variant: Variant, other: Variant, values: Mapping[str, Any]) -> bool:
    """Whether another form of a variant is one for these values, too."""
    arguments = [values[name] for name in dispatcher.program.arguments]
    return entry.holds(dispatcher, variant, arguments, other.guards)


def replaces(dispatcher: Dispatcher, variant: Variant, values: dict[str, Any]) -> bool:
    """Whether another form runs instead of a variant from now on, for arguments of any size."""
    if variant.renewals >= MAX_RENEWALS:
        return False
    code = variant.code
    last = None if code is None else code.otherwise
    other = None
    if code is not None and code.weaker is not None:
        other, code.weaker = made(dispatcher, variant, values, code.weaker), None
    if other is None:
        other = _alternative(dispatcher, variant, values)
    if other is not None and other.code is not None:
        other.code.otherwise = last
    elif code is not None and last is not None:
        code.alternative, code.otherwise = last, None
        other = _alternative(dispatcher, variant, values)
    if other is None:
        return False
    variant.code, variant.call, variant.conditions = other.code, other.call, other.conditions
    variant.failures, variant.verified, variant.watched, variant.trials = 0, False, True, None
    variant.renewals += 1
    return True


def _alternative(dispatcher: Dispatcher, variant: Variant, values: dict[str, Any]) -> Variant | None:
    """The other form that the compiler has, if it has one; it is asked once."""
    code = variant.code
    if code is None or code.alternative is None:
        return None
    make, code.alternative = code.alternative, None
    return made(dispatcher, variant, values, make)


def made(
    dispatcher: Dispatcher, variant: Variant, values: dict[str, Any], make: Callable[..., RegionCode]
) -> Variant | None:
    """A variant for the same arguments that runs another form; None where that cannot be compiled, or does not hold."""
    other = type(variant)([], variant.modes, len(dispatcher.variants), trials={}, made_by=make)
    try:
        with dispatcher.allowance.spending():
            dispatcher.take(other, values, make)
    except Exception:
        return None  # what the compiler cannot do leaves all as it is
    if not _holds(dispatcher, other.code, values):
        return None
    other.guards = [text for text in other.conditions if text not in variant.conditions]
    return other


def _holds(dispatcher: Dispatcher, code: RegionCode | None, values: dict[str, Any]) -> bool:
    return code is not None and entry.broken_guard(dispatcher.program, values, code) is None
