"""A region in, its code by way of the IR out: translated, planned, within memory, as text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from looplift.base.data import replace
from looplift.base.errors import NotLiftable, TooLarge
from looplift.base.settings import Settings
from looplift.pipeline.kernels import built, kernel_for, kernel_of, one_kernel
from looplift.pipeline.translation import translated

if TYPE_CHECKING:
    from looplift.frontend.rewriting import RegionProgram
    from looplift.runtime.variants import RegionCode


def over(program: Any, statements: list[ast.stmt], live_out: Iterable[str] | None = None) -> Any:
    """A region of other statements in the place of a program's, with what of a program the way through the IR reads."""
    from types import SimpleNamespace

    names = {key: getattr(program, key) for key in ("file", "name", "namespace", "arguments")}
    live_out = program.live_out if live_out is None else live_out
    return SimpleNamespace(region=SimpleNamespace(statements=statements), live_out=live_out, **names)


def through_the_ir(
    program: RegionProgram,
    values: Mapping[str, Any],
    settings: Settings,
    *,
    kernels: bool = True,
    markers: bool | str = False,
    empties: bool = False,
    searches: bool = True,
    clips: bool = False,
    sizes: bool = False,
    by_python: bool = False,
) -> RegionCode:
    """The region by way of the IR; without ``kernels`` none is the whole region, without ``searches`` loops that are
    left early are none.

    With ``markers`` loops begin after what is None before them has its first value, and with ``empties`` they may have
    no iteration; with ``clips`` slices may end behind the end of what they cut; with ``sizes`` tuples of
    a few integers are constants. With ``by_python`` functions of numbers that must be exact are Python's own.
    """
    from looplift.frontend.peeling import asks_for_iterations

    kernels = kernels and not settings.in_graph
    options = {"markers": markers, "empties": empties, "clips": clips, "sizes": sizes}
    places = {"file": program.file, "name": program.name, **options}
    function = _with_gradients(translated(program.region.statements, values, program.live_out, **places))
    function.attributes["names"] = frozenset(program.arguments)
    function.attributes["by_python"] = by_python or settings.backend == "torch"
    options |= {"settings": settings, "kernels": kernels}
    again = partial(through_the_ir, program, **{key: options[key] for key in options if key != "clips"})
    code = _code_of(function, program, values, settings, again, kernels=kernels, searches=searches, clips=clips)
    if markers and not empties and asks_for_iterations(function):
        code.weaker = partial(again, empties=True)
    return code


def _code_of(
    function: Any,
    program: RegionProgram,
    values: Mapping[str, Any],
    settings: Settings,
    again: partial[RegionCode],
    *,
    kernels: bool,
    searches: bool,
    clips: bool,
) -> RegionCode:
    """The code of a translated region; ``again`` makes other forms of it, by other options."""
    from looplift.frontend.clipping import has_ends
    from looplift.vectorize.kernel_first import (
        collects_short_rows,
        has_short_rows,
        may_gain_as_a_kernel,
        scatters_numbers,
        stay_short,
        suits_a_kernel,
        suits_rows_in_a_kernel,
        takes_short_rows,
    )

    options = {name: again.keywords[name] for name in ("markers", "empties")}
    whole_kernel = _kernels_of(function, settings)
    if kernels and (settings.backend == "native" or suits_a_kernel(function)):
        if not isinstance(found := whole_kernel(), NotLiftable):
            found.renewable = settings.backend == "native" or any(type(value) is list for value in values.values())
            lanes = partial(again, kernels=False)
            found.alternative = partial(kernel_for, program, **options) if found.renewable else lanes
            return found
    from looplift.optimize import reuse
    from looplift.pipeline.planning import planned
    from looplift.pipeline.programs import kernel_or_program, over_small_tensors, small_tensors_for
    from looplift.vectorize.plan import needs_grad, plan

    def reuses(program: Any) -> bool:
        return reuse.reuse_memory(program)

    facts = None
    try:
        facts = formed(_analysed(function))
        make = partial(plan, backend=settings.backend, kernel_of=kernel_of, reuses=reuses)
        made = planned(facts, make, settings, searches=searches)
        whole = kernels and (not made.is_all_lanes or made.rewritten)
        whole = whole or (kernels and settings.backend == "auto" and scatters_numbers(facts) and not needs_grad(facts))
        short = whole and has_short_rows(facts)
        if whole and not isinstance(found := whole_kernel(rows=short), NotLiftable):
            found.alternative = partial(again, kernels=False)
            found.guards += stay_short(function) if short and settings.backend == "auto" else []
            return found
        stays = any(loop.decision == "sequential" for loop in made.decisions)
        small = short and stays and not needs_grad(facts)
        if small and (found := over_small_tensors(program, values, settings)) is not None:
            found.alternative = partial(again, kernels=False)
            if settings.backend == "auto":  # many lanes are faster together than one by one, few are not
                found.rival, found.expected = found.alternative, unknown
            return found
        code = within_memory(program, made, values, settings)
    except Exception as error:
        if not kernels:
            raise
        short = takes_short_rows(function) if facts is None else suits_rows_in_a_kernel(facts)
        rows = isinstance(error, TooLarge) or short
        if isinstance(found := whole_kernel(rows=rows), NotLiftable):
            if rows and facts is not None and settings.backend != "torch" and not needs_grad(facts):
                with suppress(NotLiftable):  # what stands around the loops may be no scalar work
                    make = partial(
                        plan, backend=settings.backend, kernel_of=partial(kernel_of, rows=True), reuses=reuses
                    )
                    return within_memory(program, planned(facts, make, settings, searches=searches), values, settings)
            raise found if settings.backend == "native" and found.code not in ("backend", "device") else error from None
        if isinstance(error, TooLarge):
            found.guards.append(f"not ({error.fits})")
            found.namespace |= error.namespace
        return found
    if kernels and settings.backend == "auto" and not made.is_all_lanes:
        code.alternative = partial(kernel_or_program, program, settings=settings, **options)
    elif made.unsearched is not None:
        code.alternative = partial(again, searches=False)
    elif not clips and has_ends(function):
        code.renewable, code.alternative = True, partial(again, clips=True)
    if kernels and settings.backend == "auto" and may_gain_as_a_kernel(made.program) and not needs_grad(facts):
        code.rival = partial(kernel_or_program, program, settings=settings, **options)
        code.expected = partial(_expected, made)
    elif whole and stays and settings.backend == "auto" and collects_short_rows(facts):
        # steps of few lanes take longer with autograd's graph than with a tape of numbers, those of many do not
        code.rival, code.expected = partial(small_tensors_for, program, settings=settings), unknown
    return code


def formed(facts: Any) -> Any:
    """Facts of a function in which stores fit their places, and what is stored into is no copy."""
    from looplift.analysis.probe import analyse
    from looplift.ir.copied_reads import with_copied_reads
    from looplift.ir.fitted_stores import with_fitted_stores

    for form in (with_fitted_stores, with_copied_reads):
        if (made := form(facts.function, facts)) is not None:
            facts = analyse(made)
    return facts


def _analysed(function: Any) -> Any:
    """Facts of a function, or of one without the conditions in loops that its arguments decide."""
    from looplift.analysis.probe import analyse
    from looplift.analysis.settled import with_settled_conditions

    try:
        return analyse(function)
    except NotLiftable as refusal:
        if refusal.code != "mixed-kinds" or (settled := with_settled_conditions(function)) is None:
            raise
        with suppress(NotLiftable):
            return analyse(settled)
        raise


def _kernels_of(function: Any, settings: Settings) -> Callable[..., RegionCode | NotLiftable]:
    """The region as one kernel, with or without ``rows``, each tried once: what is none with rows is none without."""
    made: dict[bool, RegionCode | NotLiftable] = {}

    def whole_kernel(*, rows: bool = True) -> RegionCode | NotLiftable:
        if isinstance(refused := made.get(True), NotLiftable):
            return refused
        if rows not in made:
            made[rows] = one_kernel(function, settings, rows=rows)
        return made[rows]

    return whole_kernel


def unknown(values: Mapping[str, Any]) -> float:
    """Nothing is known of the seconds that a call will take: it is tried."""
    return 0.0


def _expected(made: Any, values: Mapping[str, Any]) -> float:
    """Seconds that a call of a kernel should take in the place of a plan."""
    from looplift.build.speed import speed
    from looplift.emit.work import work_of

    return speed().seconds(work_of(made, set(values)).counts(values))


def _with_gradients(function: Any) -> Any:
    """The function, with the gradients that it takes written out."""
    if not function.attributes["differentiates"]:
        return function
    from looplift.analysis.probe import analyse
    from looplift.ir.gradients import Torch, check_leaves, takes_gradients, with_next_gradient
    from looplift.ops.differentiated import asks, differentiated, may_raise

    torch = Torch(differentiated, asks, may_raise)
    attributes, function = function.attributes, replace(function, attributes=function.attributes | {"slopes": True})
    while takes_gradients(function):
        function = with_next_gradient(function, analyse(function), torch)
    check_leaves(function, analyse(function), torch)
    return replace(function, attributes=attributes)


SEARCHED = 2**22


def within_memory(program: RegionProgram, made: Any, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    """The code of a plan; where its intermediate values do not fit into memory, that of a plan in pieces.

    Raises TooLarge if there is none.
    """
    from looplift.emit.budget import pieces_of, room_for
    from looplift.optimize import narrowing
    from looplift.optimize.longest_first import longest_first
    from looplift.optimize.simplify import simplify
    from looplift.runtime.variants import standard_namespace

    made.program = simplify(made.program)
    room = room_for(made, settings.memory if made.unsearched is None else min(SEARCHED, settings.memory or SEARCHED))
    if made.program.has_loops():
        made.program = narrowing.narrowed(longest_first(made.program))
    if made.unsearched is not None and room is not None:
        names = program.namespace | standard_namespace() | room.namespace | dict(values)
        if room.fits(names):
            code = _printed(made)
        else:
            other = _in_blocks(made, room) if settings.backend == "torch" else made.unsearched
            code = within_memory(program, other, values, settings)
        code.guards.append(room.guard if room.fits(names) else f"not ({room.guard})")
        return code
    code = _printed(made)
    if room is None:
        return code
    names = program.namespace | standard_namespace() | room.namespace | dict(values)
    if room.fits(names):
        code.guards.append(room.guard)
    else:
        code = _in_pieces(made, room, pieces_of(made, room, names), names, settings)
        code.guards.append(f"not ({room.guard})")
    code.namespace |= room.namespace
    return code


def _in_blocks(made: Any, room: Any) -> Any:
    """The plan in which searches look at a block of iterations at a time, until all lanes have left; where there is
    none, that without searches."""
    from looplift.analysis.probe import analyse
    from looplift.emit.budget import blocks_of
    from looplift.ir.strips import strip_mined
    from looplift.vectorize.plan import plan

    if (steps := blocks_of(made, room, SEARCHED)) is not None:
        with suppress(NotLiftable):
            return plan(analyse(strip_mined(made.facts.function, steps, searches=True)), backend="torch")
    return made.unsearched


def _in_pieces(made: Any, room: Any, steps: Mapping[Any, str], names: Mapping[str, Any], settings: Settings) -> Any:
    """The code of a plan whose outermost loops run piece by piece."""
    from looplift.analysis.probe import analyse
    from looplift.emit.budget import room_for
    from looplift.ir.strips import strip_mined
    from looplift.optimize.simplify import simplify
    from looplift.vectorize.plan import plan

    refusal = TooLarge(room.message(names), room.guard, room.namespace, made.facts.function.span)
    if not steps:
        raise refusal
    try:
        found = plan(analyse(strip_mined(made.facts.function, steps)), backend="torch")
    except NotLiftable as why:
        raise refusal.because(why) from None
    found.program = simplify(found.program)
    rest = room_for(found, settings.memory)
    if rest is not None and not rest.fits(names):
        raise refusal
    return _printed(found)


def _printed(made: Any) -> RegionCode:
    """The code of a plan, with its kernels."""
    from looplift.emit.source import emit
    from looplift.optimize.partly_sorted import partly_sorted
    from looplift.optimize.reaches import shortened

    made.program = partly_sorted(shortened(made.program))
    emitted = emit(made)
    for kernel, gradients in emitted.kernels:
        emitted.namespace[kernel.name] = built(kernel, gradients)
    return _code_from_emitted(emitted, made)


def _code_from_emitted(emitted: Any, made: Any) -> RegionCode:
    from looplift.runtime.variants import RegionCode
    from looplift.vectorize.precision import rounded_to

    names = ("statements", "namespace", "standalone", "guards", "paths", "mutated", "imports", "random")
    fields = {name: getattr(emitted, name) for name in names}
    for name in ("commits_early", "repeatable", "may_warn", "parts_ways", "sets"):
        fields |= {name: getattr(emitted, name)} if hasattr(emitted, name) else {}
    found = rounded_to(made.facts)
    return RegionCode(**fields, decisions=made.decisions, description=made.describe(), rounded_to=found)
