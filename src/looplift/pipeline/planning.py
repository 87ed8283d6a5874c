"""Facts of a function in, a plan of it, or of another form of it that leaves fewer loops, out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.base.settings import Settings


def planned(facts: Any, plan: Callable[[Any], Any], settings: Settings, *, searches: bool = True) -> Any:
    """The plan of a function; where it has loops that stay, one of another form, if kernels then do all of it: rows
    that a loop carries fill tables, and where values are numbers before the first iteration alone, it comes first;
    where loops are left early, one in which they are ``searches``."""
    from looplift.analysis.probe import analyse

    made = refusal = None
    try:
        made = plan(facts)
    except NotLiftable as why:
        refusal = why
        made = _with_sums_apart(facts, plan)
        if made is None and why.code == "mixed-kinds":
            made = _with_first_apart(facts, plan)
        if made is not None:
            facts, made.rewritten = made.facts, True
    if (made is None or _staying(made)) and (ranges := _counted(facts)) is not None:
        try:
            other = plan(ranges)
        except NotLiftable as why:
            other, refusal = None, why
        if made is None or (other is not None and _staying(other) < _staying(made)):
            facts, made = ranges, other
    decisions = {loop.decision for loop in made.decisions} if made is not None else {"sequential"}
    for formed in _forms_for_kernels(facts, decisions) if settings.backend != "torch" else ():
        try:
            other = plan(analyse(formed))
            if all(loop.decision == "native" for loop in other.decisions):
                return other
        except NotLiftable as why:
            refusal = refusal or why
    if (other := _parted(facts, plan, made)) is not None:
        made, facts = other, other.facts
        made.rewritten = True
    if (made is None or not _is_done(made)) and (other := _forwarded(facts, plan)) is not None:
        made, facts = other, other.facts
        made.rewritten = True
    if searches and (made is None or not _is_done(made)) and (other := _told_beforehand(facts, plan, made)) is not None:
        other.unsearched, other.rewritten = other.unsearched or made, True
        made = other
    if made is None:
        assert refusal is not None
        raise refusal
    return made


def _counted(facts: Any) -> Any:
    """Facts of the function with ranges for the loops that count; None where there are none."""
    from looplift.analysis.probe import analyse
    from looplift.vectorize.counted_ranges import with_ranges

    if (function := with_ranges(facts.function, facts)) is None:
        return None
    with suppress(NotLiftable):
        return analyse(function)
    return None


def _with_first_apart(facts: Any, plan: Callable[[Any], Any]) -> Any:
    """The plan of a function whose loops know of what kind each value is behind their first iterations; None if there
    is none."""
    from looplift.analysis.probe import analyse
    from looplift.ir.first_apart import with_first_apart

    if (function := with_first_apart(facts.function, facts)) is None:
        return None
    with suppress(NotLiftable):
        return plan(analyse(function))
    return None


def _with_sums_apart(facts: Any, plan: Callable[[Any], Any]) -> Any:
    """The plan of a function whose loops that remember have sums of their own; None if there is none."""
    from looplift.analysis.probe import analyse
    from looplift.vectorize.partial_totals import with_partial_totals

    if (function := with_partial_totals(facts.function, facts)) is None:
        return None
    with suppress(NotLiftable):
        return plan(analyse(function))
    return None


def _forms_for_kernels(facts: Any, decisions: set[str]) -> Iterator[Any]:
    """Other forms of a function with such loops, of which kernels may do all."""
    from looplift.analysis.probe import analyse
    from looplift.vectorize.plan import needs_grad

    if decisions & {"sequential", "scan"} and needs_grad(facts):
        from looplift.ir.totals import with_new_totals

        if (formed := with_new_totals(facts.function, facts)) is not None:
            yield formed
            facts = analyse(formed)
    if "sequential" in decisions:
        from looplift.ir.histories import with_histories

        if (formed := with_histories(facts.function, facts)) is not None:
            yield formed
    if decisions & {"sequential", "scan"}:
        from looplift.ir.first_apart import with_first_apart

        if (formed := with_first_apart(facts.function, facts)) is not None:
            yield formed


def _is_done(made: Any) -> bool:
    """Whether a plan has no loop that stays; a kernel's gradients are slow beside those of batched code."""
    from looplift.vectorize.plan import needs_grad

    native = all(loop.decision == "native" for loop in made.decisions)
    return made.is_all_lanes or (native and not needs_grad(made.facts))


def _forwarded(facts: Any, plan: Callable[[Any], Any]) -> Any:
    """The plan of a function that carries what it reads of the iteration before, if no loop of that stays."""
    from looplift.analysis.probe import analyse
    from looplift.vectorize.forwarded import with_forwarding
    from looplift.vectorize.plan import needs_grad

    function = with_forwarding(facts.function, facts, gradients=needs_grad(facts))
    if function is None:
        return None
    with suppress(NotLiftable):
        made = plan(analyse(function))
        return made if _is_done(made) else None
    return None


def _parted(facts: Any, plan: Callable[[Any], Any], before: Any) -> Any:
    """The plan of a function whose loops that stay map what they do not carry before, if any of them can."""
    if before is not None and all(loop.decision != "sequential" for loop in before.decisions):
        return None
    from looplift.analysis.probe import analyse
    from looplift.vectorize.parted import with_parted_products

    if (function := with_parted_products(facts.function, facts)) is None:
        return None
    with suppress(NotLiftable):
        return plan(analyse(function))
    return None


def _told_beforehand(facts: Any, plan: Callable[[Any], Any], before: Any) -> Any:
    """The plan in which loops that are left early are searches, or that in which those that stay then have one length
    in all lanes, if fewer stay so; None if there is neither."""
    from looplift.analysis.probe import analyse
    from looplift.vectorize.evened import with_even_loops
    from looplift.vectorize.plan import needs_grad

    searched = _searched(facts, plan, before)
    found = searched or before
    if not _staying(found) or needs_grad(facts):
        return searched
    if (function := with_even_loops(found.facts.function, found.facts, set(found.loops.values()))) is None:
        return searched
    with suppress(NotLiftable):
        even = analyse(function)
        made = plan(even)
        other = (_searched(even, plan, made) if _staying(made) else None) or made
        if _staying(other) < _staying(found):
            counted = {loop.index for loop in found.searches}
            other.searches += tuple(loop for loop in other.loops.values() if loop.index in counted)
            other.unsearched = found
            if searched is not None:
                searched.unsearched = before
            return other
    return searched


def _staying(made: Any) -> int:
    """How many loops stay."""
    return 0 if made is None else sum(loop.decision == "sequential" for loop in made.decisions)


def _searched(facts: Any, plan: Callable[[Any], Any], before: Any) -> Any:
    """The plan of a function in which loops that are left early are searches in lanes; None if none can be."""
    from looplift.analysis.probe import analyse
    from looplift.vectorize.searches import with_searches

    without: frozenset[str] = frozenset()
    while (searched := with_searches(facts.function, facts, without)) is not None:
        try:
            made = plan(analyse(searched.function))
        except NotLiftable:
            return None
        lanes = set(made.loops.values())
        slow = {name for loop, name in searched.searches.items() if loop not in lanes}
        if not slow:
            made.searches = tuple(searched.searches)
            kernel = before is not None and all(loop.decision == "native" for loop in before.decisions)
            return made if made.is_all_lanes or not kernel else None
        without |= slow
    return None
