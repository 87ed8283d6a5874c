"""The one page that is the pipeline: a region of the user's code in, batched code for it out, stage by stage."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from looplift.base.data import replace
from looplift.base.errors import NotLiftable, TooLarge
from looplift.base.settings import Settings

if TYPE_CHECKING:
    from looplift.frontend.draws import Draws
    from looplift.frontend.letters import Letters
    from looplift.frontend.outer_lists import OuterLists
    from looplift.frontend.rewriting import RegionProgram
    from looplift.runtime.variants import RegionCode


class Stage(NamedTuple):
    """One arrow of the pipeline: ``does`` says in a sentence what comes in and what goes out."""

    name: str
    room: str
    does: str


STAGES = (
    Stage("read", "frontend", "A function's source becomes a syntax tree with the lines of its file."),
    Stage("find", "frontend", "The tree becomes regions: loops with the statements that belong to them."),
    Stage("translate", "frontend", "A region and the values it starts from become a function of the IR."),
    Stage("analyse", "analysis", "The IR gets facts: kinds, shapes and the loops that each value varies with."),
    Stage("plan", "vectorize", "Each loop gets a schedule that is proven to give the loop's answer, or a reason."),
    Stage("optimize", "optimize", "The plan becomes one with less work and less memory."),
    Stage("emit", "emit", "The plan becomes Python, and C++ where a loop is native."),
    Stage("build", "build", "C++ becomes a library, once for each text, kept on disk."),
    Stage("run", "runtime", "Text becomes a variant: guarded, compared with the loop at first, undone if it fails."),
)  # fmt: skip


def calls_itself(statements: list[ast.stmt], values: Mapping[str, Any]) -> bool:
    """Whether statements call a function, method or network module that calls itself."""
    from looplift.frontend.recursion import is_recursive

    return is_recursive(statements, values)


def compile_region(program: RegionProgram, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    """Batched code for a region and the kinds of these values. Raises NotLiftable with the reason if there is none."""
    if settings.backend == "inductor":
        code = compile_region(program, values, replace(settings, backend="torch"))
        code.fused = not any("np." in line for line in code.statements) and not any(map(_is_of_numpy, values.values()))
        return code
    refusals: list[NotLiftable] = []
    if program.is_whole:
        return _typed(program, values, settings)
    if (code := _over_letters(program, values, settings)) is not None:
        return code
    attempt: Any = None
    for attempt in _attempts(program, values, refusals):
        try:
            return attempt(program, values, settings)
        except NotLiftable as refusal:
            refusals.append(refusal)
        except Exception as error:
            refusals.append(NotLiftable("internal", f"{type(error).__name__}: {error}"))
    refusal = _most_telling(refusals)
    with suppress(NotLiftable):
        return _typed(program, values, settings)
    from looplift.frontend.host_effects import changes_its_surroundings, grows_by_joining

    if refusal.code not in _NEVER_IN_ANOTHER_FORM:
        statements = program.region.statements
        waves = attempt is not _in_waves and not (changes_its_surroundings(statements) or grows_by_joining(statements))
        refusal.other = partial(_over_lists, program, settings=settings, waves=waves)
    raise refusal


_NEVER_IN_ANOTHER_FORM = (
    "training-step",
    "gradient",
    "subclass",
    "generator",
    "no-source",
    "no-loop",
    "memory",
    "backend",
    "verification",
)


def _is_of_numpy(value: Any) -> bool:
    items = value if isinstance(value, list | tuple) else [value]
    return any(type(item).__module__ == "numpy" for item in items)


def _attempts(program: RegionProgram, values: Mapping[str, Any], refusals: list[NotLiftable]) -> Iterator[Any]:
    """The ways to batched code, each to be tried where those before it were refused."""
    yield _through_the_ir
    from looplift.frontend.draws import draws_of
    from looplift.frontend.grids import has_grid
    from looplift.frontend.outer_lists import outer_lists
    from looplift.frontend.peeling import has_marker
    from looplift.frontend.writing import stores_at_places

    statements = program.region.statements
    if (lists := outer_lists(statements, values, program.arguments)) is not None:
        yield partial(_with_own_lists, lists)
    if any(one.code in ("mixed-kinds", "requirement") for one in refusals) or has_marker(statements):
        yield partial(_through_the_ir, markers=True)
    if stores_at_places(statements):
        yield _through_tables
    if has_grid(statements):
        yield _through_grids
    if (draws := draws_of(statements, values, program.namespace)) is not None:
        yield partial(_with_draws, draws)
    if calls_itself(statements, values):
        yield _in_waves  # of what the IR refuses for other reasons the pieces may be faster than waves


def _over(program: Any, statements: list[ast.stmt], live_out: Iterable[str] | None = None) -> Any:
    """A region of other statements in the place of a program's, with what of a program the way through the IR reads."""
    from types import SimpleNamespace

    names = {key: getattr(program, key) for key in ("file", "name", "namespace")}
    live_out = program.live_out if live_out is None else live_out
    return SimpleNamespace(region=SimpleNamespace(statements=statements), live_out=live_out, **names)


def _over_letters(program: RegionProgram, values: Mapping[str, Any], settings: Settings) -> RegionCode | None:
    """A region that reads strings letter by letter, over their code points; None where there is no such code."""
    if not any(type(values.get(name)) is str for name in program.arguments):
        return None
    from looplift.frontend.letters import letters_of

    letters = letters_of(program.region.statements, values, program.arguments, program.live_out)
    if letters is None:
        return None
    try:
        return _with_letters(
            _through_the_ir(_over(program, letters.statements), letters.values(values), settings), letters
        )
    except NotLiftable:
        return None  # the strings are taken as they are, and what then refuses them says why


def _with_letters(code: RegionCode, letters: Letters) -> RegionCode:
    """Code over code points as code over strings."""
    code.statements = [*letters.conversions, *code.statements]
    asked = [re.sub(r"\blen\(\w+\)", "", guard) for guard in code.guards]  # of both there are as many
    if any(re.search(rf"\b{name}\b", guard) for name in letters.names for guard in asked):
        raise NotLiftable("unsupported-value", "a guard of letters")
    if code.alternative is not None:
        other = code.alternative
        code.alternative = lambda values: _with_letters(other(letters.values(values)), letters)
    return code


def _with_own_lists(lists: OuterLists, program: Any, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    """A region that appends to lists of the caller, over lists of its own."""
    rewritten = _over(program, lists.statements, [*dict.fromkeys((*program.live_out, *lists.live_out))])

    def ended(code: RegionCode, values: Mapping[str, Any]) -> RegionCode:
        code.statements = [*code.statements, *lists.endings]
        code.mutated = [*code.mutated, *lists.names]
        code.guards += lists.guards(values, code.paths)
        if code.alternative is not None:
            other = code.alternative
            code.alternative = lambda values: ended(other(values), values)
        return code

    code = ended(_going_further(rewritten, values, settings), values)
    if not code.decisions or code.decisions[0].decision == "sequential":
        raise NotLiftable("carried", "the loops without what is appended may be kernels")
    return code


def _going_further(program: Any, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    """A rewritten region by way of the IR: what refuses it then is what there is to tell."""
    try:
        return _through_the_ir(program, values, settings)
    except NotLiftable as refusal:
        refusal.goes_further = True
        raise


def _with_draws(draws: Draws, program: Any, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    """The region over what it draws, which is drawn before it."""
    from looplift.emit.drawn import code_with_draws, columns

    def given(values: Mapping[str, Any]) -> dict[str, Any]:
        found = draws.given(values)
        return found | columns({name: found[name] for name in draws.names})

    first = given(values)
    code = _going_further(_over(program, draws.statements(first)), first, settings)
    return code_with_draws(code, draws, first, given)


def _most_telling(refusals: list[NotLiftable]) -> NotLiftable:
    """The refusal to report: the IR's, except of recursion, of which waves know more, and of what comes after draws."""
    first, last = refusals[0], refusals[-1]
    if (further := next((one for one in refusals if one.goes_further), None)) is not None:
        return further
    if first.code == "recursion" and last is not first:
        return NotLiftable("recursion", f"{first.message}; {last.message}", last.span)
    return first


def _through_the_ir(
    program: RegionProgram,
    values: Mapping[str, Any],
    settings: Settings,
    *,
    kernels: bool = True,
    markers: bool = False,
    searches: bool = True,
) -> RegionCode:
    """The region by way of the IR; without ``kernels`` none is the whole region, without ``searches`` loops that are
    left early are none.

    With ``markers`` loops begin after what is None before them has its first value.
    """
    from looplift.analysis.probe import analyse
    from looplift.frontend.translate import translate
    from looplift.optimize.reuse import reuse_memory
    from looplift.vectorize.kernel_first import (
        has_short_rows,
        suits_a_kernel,
        suits_rows_in_a_kernel,
        takes_short_rows,
    )
    from looplift.vectorize.plan import plan

    kernels = kernels and not settings.in_graph
    region = program.region
    places = {"file": program.file, "name": program.name, "markers": markers}
    function = _with_gradients(translate(region.statements, values, list(program.live_out), **places))
    one_kernel = cache(lambda *, rows=True: _one_kernel(function, settings, rows=rows))
    if kernels and (settings.backend == "native" or suits_a_kernel(function)):
        if not isinstance(found := one_kernel(), NotLiftable):
            found.renewable = settings.backend == "native" or any(type(value) is list for value in values.values())
            lanes = partial(_through_the_ir, program, settings=settings, kernels=False, markers=markers)
            found.alternative = partial(_kernel_for, program, markers=markers) if found.renewable else lanes
            return found
    facts = None
    try:
        facts = analyse(function)
        make = partial(plan, backend=settings.backend, kernel_of=_kernel_of, reuses=reuse_memory)
        made = _planned(facts, make, settings, searches=searches)
        whole = kernels and (not made.is_all_lanes or made.rewritten)
        short = whole and has_short_rows(facts)
        if whole and not isinstance(found := one_kernel(rows=short), NotLiftable):
            without = partial(_through_the_ir, program, settings=settings, kernels=False, markers=markers)
            found.alternative = without
            return found
        code = _within_memory(program, made, values, settings)
    except Exception as error:
        if not kernels:
            raise
        short = takes_short_rows(function) if facts is None else suits_rows_in_a_kernel(facts)
        rows = isinstance(error, TooLarge) or short
        if isinstance(found := one_kernel(rows=rows), NotLiftable):
            raise found if settings.backend == "native" and found.code != "backend" else error from None
        if isinstance(error, TooLarge):
            found.guards.append(f"not ({error.fits})")
            found.namespace |= error.namespace
        return found
    if kernels and settings.backend == "auto" and not made.is_all_lanes:
        code.alternative = partial(_kernel_for, program, markers=markers)
    elif made.unsearched is not None:
        options = {"settings": settings, "kernels": kernels, "markers": markers, "searches": False}
        code.alternative = partial(_through_the_ir, program, **options)
    return code


def _with_gradients(function: Any) -> Any:
    """The function, with the gradients that it takes written out."""
    if not function.attributes["differentiates"]:
        return function
    from looplift.analysis.probe import analyse
    from looplift.ir.gradients import check_leaves, takes_gradients, with_next_gradient

    attributes, function = function.attributes, replace(function, attributes=function.attributes | {"slopes": True})
    while takes_gradients(function):
        function = with_next_gradient(function, analyse(function))
    check_leaves(function, analyse(function))
    return replace(function, attributes=attributes)


def _through_tables(program: RegionProgram, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    """The region by way of the IR, with tables for its lists of tensors that change at places of the data."""
    from looplift.analysis.probe import analyse
    from looplift.frontend.translate import translate
    from looplift.ir.scattered import lines_of_changes, with_scattered
    from looplift.optimize.reuse import reuse_memory
    from looplift.vectorize.plan import needs_grad, plan

    places = {"file": program.file, "name": program.name, "scattered": True}
    function = translate(program.region.statements, values, list(program.live_out), **places)
    facts = analyse(function)
    tabled = with_scattered(function, facts, gradients=needs_grad(facts))
    if tabled is None:
        raise NotLiftable("unsupported-value", "no list of tensors can be a table", function.span)
    make = partial(plan, backend=settings.backend, kernel_of=_kernel_of, reuses=reuse_memory)
    made = _planned(analyse(tabled), make, settings)
    slow = {loop.line for loop in made.decisions if loop.decision == "sequential"}
    if slow & lines_of_changes(tabled):
        raise NotLiftable("memory-dependence", "a list of tensors is read where it is changed", function.span)
    return _within_memory(program, made, values, settings)


def _through_grids(program: RegionProgram, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    """The region by way of the IR, with tensors for its lists of numbers of tensors."""
    from looplift.analysis.probe import analyse
    from looplift.base.data import replace
    from looplift.frontend.grids import grids_of
    from looplift.frontend.translate import translate
    from looplift.ir.grids import check_grids, with_plain_copies
    from looplift.ir.scattered import lines_of_changes
    from looplift.vectorize.plan import needs_grad, plan

    refusal = NotLiftable("unsupported-value", "no list of tensors can be a tensor")
    outer = {*program.live_out, *program.arguments}
    values = {**values, "torch": program.namespace.get("torch")}
    for dtype in _dtypes_of(values):
        found = grids_of(program.region.statements, values, outer, dtype)
        if found is None:
            raise refusal
        function = translate(found.statements, values, list(program.live_out), file=program.file, name=program.name)
        facts = analyse(function)
        tables = {grid.name: (grid.held, grid.holds_tensors) for grid in found.tables.values()}
        try:
            check_grids(function, facts, tables, gradients=needs_grad(facts))
        except NotLiftable as why:
            refusal = why
            continue
        function = replace(function, body=with_plain_copies(function.body))
        made = _planned(analyse(function), partial(plan, backend=settings.backend, kernel_of=_kernel_of), settings)
        if {loop.line for loop in made.decisions if loop.decision == "sequential"} & lines_of_changes(function):
            raise refusal
        return _within_memory(program, made, values, settings)
    raise refusal


def _dtypes_of(values: Mapping[str, Any]) -> list[str]:
    """The dtypes of floats among tensors and items of lists."""
    found: dict[str, None] = {}
    for value in values.values():
        first = value[0] if isinstance(value, list | tuple) and value else value
        if (dtype := getattr(first, "dtype", None)) is not None and str(dtype).startswith("torch.float"):
            found[str(dtype).removeprefix("torch.")] = None
    return list(found)


def _planned(facts: Any, plan: Callable[[Any], Any], settings: Settings, *, searches: bool = True) -> Any:
    """The plan of a function; where it has loops that stay, one of another form, if kernels then do all of it: rows
    that a loop carries fill tables, and where values are numbers before the first iteration alone, it comes first;
    where loops are left early, one in which they are ``searches``."""
    from looplift.analysis.probe import analyse
    from looplift.ir.first_apart import with_first_apart
    from looplift.ir.histories import with_histories

    made = refusal = None
    try:
        made = plan(facts)
    except NotLiftable as why:
        refusal = why
    decisions = {loop.decision for loop in made.decisions} if made is not None else {"sequential"}
    for form, changed in ((with_histories, {"sequential"}), (with_first_apart, {"sequential", "scan"})):
        if settings.backend == "torch" or decisions.isdisjoint(changed):
            continue
        if (formed := form(facts.function, facts)) is None:
            continue
        try:
            other = plan(analyse(formed))
            if all(loop.decision == "native" for loop in other.decisions):
                return other
        except NotLiftable as why:
            refusal = refusal or why
    if (made is None or not _is_done(made)) and (other := _forwarded(facts, plan)) is not None:
        made, facts = other, other.facts
        made.rewritten = True
    if searches and (made is None or not _is_done(made)) and (other := _searched(facts, plan, made)) is not None:
        other.unsearched, other.rewritten = made, True
        made = other
    if made is None:
        assert refusal is not None
        raise refusal
    return made


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
            kernel = before is not None and all(loop.decision == "native" for loop in before.decisions)
            return made if made.is_all_lanes or not kernel else None
        without |= slow
    return None


SEARCHED = 2**22
"""Bytes of intermediate values up to which lanes are searched as a whole: a loop over the positions that stays may be
left early."""


def _within_memory(program: RegionProgram, made: Any, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    """The code of a plan; where its intermediate values do not fit into memory, that of a plan in pieces.

    Raises TooLarge if there is none.
    """
    from looplift.emit.budget import pieces_of, room_for
    from looplift.optimize.narrowing import narrowed
    from looplift.optimize.simplify import simplify
    from looplift.runtime.variants import standard_namespace

    made.program = simplify(made.program)
    room = room_for(made, settings.memory if made.unsearched is None else min(SEARCHED, settings.memory or SEARCHED))
    made.program = narrowed(made.program)
    if made.unsearched is not None and room is not None:
        names = program.namespace | standard_namespace() | room.namespace | dict(values)
        code = _printed(made) if room.fits(names) else _within_memory(program, made.unsearched, values, settings)
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

    emitted = emit(made)
    for kernel, gradients in emitted.kernels:
        emitted.namespace[kernel.name] = _built(kernel, gradients)
    return _code_from_emitted(emitted, made)


def _kernel_for(program: RegionProgram, values: Mapping[str, Any], *, markers: bool = False) -> RegionCode:
    """The region as one kernel, whole rows included; raises NotLiftable where it is none."""
    from looplift.frontend.translate import translate

    places = {"file": program.file, "name": program.name, "markers": markers}
    function = translate(program.region.statements, values, list(program.live_out), **places)
    return _as_one_kernel(function, rows=True)


def _one_kernel(function: Any, settings: Settings, *, rows: bool) -> RegionCode | NotLiftable:
    """The region as one native kernel, or why it cannot be; ``rows``: also if it works on whole rows at once."""
    if settings.backend == "torch":
        return NotLiftable("backend", "kernels are not wanted")
    try:
        return _as_one_kernel(function, rows=rows)
    except NotLiftable as refusal:
        return refusal
    except Exception as error:
        return NotLiftable("internal", f"{type(error).__name__}: {error}")


def _as_one_kernel(function: Any, *, rows: bool) -> RegionCode:
    from looplift.emit.native_whole import whole_region
    from looplift.ir.first_apart import with_first_apart
    from looplift.runtime.variants import RegionCode
    from looplift.vectorize.plan import decisions_of_kernel
    from looplift.vectorize.whole import check_whole

    check_whole(function)
    try:
        whole = whole_region(function, rows=rows)
    except NotLiftable as refusal:
        apart = with_first_apart(function) if refusal.code == "mixed-kinds" else None
        if apart is None:
            raise
        whole = whole_region(apart, rows=rows)
    namespace = whole.namespace | {whole.kernel.name: _built(whole.kernel, False)}
    decisions = decisions_of_kernel(function, tuple(whole.notes))
    return RegionCode(
        whole.statements, namespace, whole.standalone, whole.guards, whole.paths, whole.mutated, ["import torch"],
        decisions=decisions,
    )  # fmt: skip


def _kernel_of(loop: Any, facts: Any, *, gradients: bool) -> Any:
    """The C++ of a loop; the rooms for it are imported when the first one is tried."""
    from looplift.emit.native import kernel_of

    try:
        return kernel_of(loop, facts, gradients=gradients)
    except NotLiftable:
        raise
    except Exception as error:  # other plans may do
        raise NotLiftable("internal", f"{type(error).__name__}: {error}", loop.span) from error


def _built(kernel: Any, gradients: bool) -> Callable[..., Any]:
    from looplift.build.native import differentiable, load

    call: Any = differentiable(kernel) if gradients else load(kernel)
    call.kernel, call.has_gradients = kernel, gradients  # for those that make an operator of it
    return call


def _code_from_emitted(emitted: Any, made: Any) -> RegionCode:
    from looplift.runtime.variants import RegionCode
    from looplift.vectorize.precision import rounded_to

    names = ("statements", "namespace", "standalone", "guards", "paths", "mutated", "imports", "random")
    fields = {name: getattr(emitted, name) for name in names}
    for name in ("commits_early", "repeatable", "may_warn"):
        fields |= {name: getattr(emitted, name)} if hasattr(emitted, name) else {}
    found = rounded_to(made.facts)
    return RegionCode(**fields, decisions=made.decisions, description=made.describe(), rounded_to=found)


# ---------------------------------------------------------------- other forms than batched code


def _typed(
    program: RegionProgram,
    values: Mapping[str, Any],
    settings: Settings,
    others: list[Mapping[str, Any]] | None = None,
) -> RegionCode:
    """The region as one program over numbers, text and containers; ``others``: types of values that it is for, too."""
    from looplift.build.native import load_program
    from looplift.emit.typed import region_code, typed_code
    from looplift.frontend.source import source_of

    if settings.backend == "torch":
        raise NotLiftable("backend", "kernels are not wanted")
    known = list(others or [])
    try:
        typed = typed_code(program, values, source_of, known)
    except NotLiftable:
        if not known:
            raise
        known, typed = [], typed_code(program, values, source_of, [])
    code = region_code(program, typed, load_program(typed.program.text, typed.caller))
    kept = [typed.program.types, *known[:2]]

    def again(values: Mapping[str, Any]) -> RegionCode:
        found = _typed(program, values, settings, kept)
        if found.standalone == code.standalone:
            raise NotLiftable("requirement", "these values need what a program of their types has not")
        return found

    code.renewable, code.alternative = True, again
    return code


def is_typed_whole(statements: list[ast.stmt], values: Mapping[str, Any], settings: Settings, *, loops: bool) -> bool:
    """Whether a function, with these values of its names, is one program over numbers, text and containers."""
    from looplift.emit.typed import whole_function
    from looplift.frontend.source import source_of

    return settings.backend in ("auto", "native") and whole_function(statements, values, source_of, loops=loops)


def _over_lists(program: RegionProgram, values: Mapping[str, Any], settings: Settings, *, waves: bool) -> RegionCode:
    """The region as it is, over lists instead of tensors; in waves where it is none of those."""
    from looplift.emit.lists import NEEDED, code_over_lists
    from looplift.frontend.ahead import ahead_of

    refusal = NotLiftable("unsupported-syntax", "a name may not be bound after the loop")
    values = NEEDED | dict(values)
    for moves in () if program.optional else (True, False):
        try:
            ahead = ahead_of(program.region.statements, values, program.live_out, moves=moves, memory=settings.memory)
            front = _in_front(program, ahead, values, settings) if moves else None
        except NotLiftable as why:
            refusal = why
            continue
        if ahead.residue.computes and waves:
            with suppress(NotLiftable):
                return _in_waves(program, values, settings)
        return code_over_lists(program, ahead, values, front, settings.memory)
    if waves:
        return _in_waves(program, values, settings)
    raise refusal


def _in_front(program: RegionProgram, ahead: Any, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    """Batched code for the loops that were taken out of the region."""
    code = _through_the_ir(_over(program, ahead.front, ahead.numbers), values, settings)
    prints = any("print(" in line for line in code.statements)
    if code.mutated or code.random or prints or any(loop.decision == "kept" for loop in code.decisions):
        raise NotLiftable("effect-order", "what is computed before the loop has effects")
    return code


def _in_waves(program: RegionProgram, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    from looplift.base.report import LoopRecord
    from looplift.emit.waves import waves_source
    from looplift.frontend.host import host_program, needed_constants
    from looplift.runtime.variants import RegionCode

    if settings.backend not in ("auto", "torch"):
        raise NotLiftable("backend", "waves need torch")
    live_ins = {name: values[name] for name in program.arguments}
    live_outs = ["return"] if program.returns else list(program.live_out)
    host = host_program(program.region.statements, live_ins, live_outs, program.namespace)
    name = f"{program.name}_waves"
    text = waves_source(host, name)
    function = _run_text(text, name, needed_constants(host, text))
    call = f"{name}({', '.join(host.parameters)})"
    if program.returns:
        statements = [f"return {call}[0]"]
    else:
        statements = [f"{''.join(f'{out}, ' for out in live_outs).strip()} = {call}" if live_outs else call]
    guards, scope = _guards_of_waves(host.guards, host.guard_scope)
    line, file = program.line, program.file
    records = [LoopRecord(file, place[0], "waves") for place in program.loops] or [LoopRecord(file, line, "waves")]
    code = RegionCode(statements, {name: function} | scope, [text], guards, decisions=records, imports=[])
    code.shares_work = lambda: function.__globals__["Waves"].sharing > 1.5
    return code


def _run_text(text: str, name: str, namespace: dict[str, Any]) -> Callable[..., Any]:
    """Run a module text and return what it defines; tracebacks show its lines."""
    import linecache

    label = f"<looplift {name}>"
    linecache.cache[label] = (len(text), None, text.splitlines(keepends=True), label)
    scope = dict(namespace)
    exec(compile(text, label, "exec", dont_inherit=True), scope)
    return scope[name]


def _guards_of_waves(pairs: list[tuple[str, Any]], scope: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Guards as expressions, and the objects that they mention."""
    texts: list[str] = []
    mentioned: dict[str, Any] = {}
    for number, (expression, value) in enumerate(pairs):
        expected = f"_expected_{number}"
        plain = isinstance(value, (int, float, str, bytes, tuple))
        texts.append(f"({expression}) {'==' if plain else 'is'} {expected}")
        mentioned[expected] = value
        names = {node.id for node in ast.walk(ast.parse(expression, mode="eval")) if isinstance(node, ast.Name)}
        mentioned |= {name: scope[name] for name in names if name in scope}
    return texts, mentioned
