"""The one page that is the pipeline: a region of the user's code in, batched code for it out, stage by stage."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from looplift.base.data import replace
from looplift.base.devices import default_device
from looplift.base.errors import NotLiftable, TwoLibraries
from looplift.base.settings import Settings
from looplift.base.spans import span_of
from looplift.base.syntax import nodes_of
from looplift.pipeline.through_ir import through_the_ir, unknown

if TYPE_CHECKING:
    from looplift.frontend.rewriting import RegionProgram
    from looplift.runtime.variants import RegionCode

__all__ = ["STAGES", "Stage", "calls_itself", "compile_region"]


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
    if default_device() is not None and not settings.in_graph:
        # what makes tensors without a device makes them there, as emitted code may: only lanes have a check for it
        return through_the_ir(program, values, replace(settings, backend="torch"), kernels=False)
    refusals: list[NotLiftable] = []
    if program.is_whole:
        return _typed(program, values, settings)
    if any(type(values.get(name)) is str for name in program.arguments):
        from looplift.pipeline.rewritten import over_letters

        if (code := over_letters(program, values, settings)) is not None:
            return code
    if (code := _without_gradients(program, values, settings)) is not None:
        return code
    attempt: Any = None
    for attempt in _attempts(program, values, refusals):
        try:
            code = attempt(program, values, settings)
            if not settings.in_graph:
                code.otherwise = partial(_typed, program, settings=settings)
            return code
        except NotLiftable as refusal:
            refusals.append(refusal)
        except Exception as error:
            refusals.append(NotLiftable("internal", f"{type(error).__name__}: {error}"))
    refusal = _unrolled(program) if (refusal := _most_telling(refusals)).code == "no-loop" else refusal
    from looplift.frontend.host_effects import changes_its_surroundings, grows_by_joining

    if refusal.code not in _NEVER_IN_ANOTHER_FORM and not any(one.in_any_form for one in refusals):
        statements = program.region.statements
        waves = attempt is not _in_waves and not (changes_its_surroundings(statements) or grows_by_joining(statements))
        refusal.other = partial(_in_another_form, program, settings=settings, waves=waves)
        if any(one.by_python for one in refusals):
            refusal.other = partial(_by_python, program, settings=settings, otherwise=refusal.other)
    otherwise = refusal.other if settings.verify == "first" else None  # which are tried beside the loop alone
    try:
        return _typed(program, values, settings, rows=otherwise is None, otherwise=otherwise)
    except NotLiftable as of_program:
        refusal.reached = of_program.reached
        if refusal.code in _OF_CONTAINERS and of_program.lacks:
            refusal.message = f"{refusal.message}; as a program over numbers and containers, {of_program.lacks}"
    raise refusal


def _unrolled(program: RegionProgram) -> NotLiftable:
    """The refusal of a region in which no loop is left once the items that it runs through are known one by one."""
    loops = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp)
    every = [node for statement in program.region.statements for node in nodes_of(statement)]
    loop = next((node for node in every if isinstance(node, loops)), None)
    if loop is None:
        return NotLiftable("no-loop", "there is no loop here")
    text = "the items that the loop runs through differ in several dimensions, or in kind, and each is taken by itself"
    return NotLiftable("ragged-shape", text, span_of(loop))


def _without_gradients(program: RegionProgram, values: Mapping[str, Any], settings: Settings) -> RegionCode | None:
    """A loop with blocks under ``torch.no_grad()`` as one under it; None where that is another loop."""
    from looplift.frontend.contexts import are_entered

    if not are_entered(program.region.statements):
        return None
    from looplift.pipeline.unrecorded import under_no_grad

    return under_no_grad(program, values, settings, compile_region)


def _typed(program: RegionProgram, values: Mapping[str, Any], settings: Settings, **options: Any) -> RegionCode:
    from looplift.pipeline.programs import typed_program

    return typed_program(program, values, settings, **options)


def _in_another_form(
    program: RegionProgram, values: Mapping[str, Any], settings: Settings, *, waves: bool
) -> RegionCode:
    """The region over lists or in waves, or else as a program over small tensors."""
    from looplift.frontend.draws import draws_of
    from looplift.pipeline.other_forms import over_lists
    from looplift.pipeline.programs import over_small_tensors, typed_program
    from looplift.pipeline.rewritten import with_draws

    if _is_left_early(program) and (found := over_small_tensors(program, values, settings)) is not None:
        return found
    try:
        code = over_lists(program, values, settings, waves=waves)
    except NotLiftable:
        if (found := over_small_tensors(program, values, settings, last=True)) is not None:
            return found
        draws = draws_of(program.region.statements, values, program.namespace)
        if draws is None:
            raise
        return with_draws(draws, program, values, settings, small=True)
    code.alternative = partial(typed_program, program, settings=settings)
    return _beside_small_tensors(code, program, settings)


def _in_waves(program: RegionProgram, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    from looplift.pipeline.other_forms import in_waves
    from looplift.pipeline.programs import small_tensors_for

    code = in_waves(program, values, settings)
    code.alternative = partial(small_tensors_for, program, settings=settings)
    return _beside_small_tensors(code, program, settings)


def _beside_small_tensors(code: RegionCode, program: RegionProgram, settings: Settings) -> RegionCode:
    """Code in waves, over lists, or partly by Python, with a program over small tensors as its rival."""
    from looplift.pipeline.programs import small_tensors_for

    if settings.backend == "auto" and hasattr(program, "is_piece"):
        code.rival, code.expected = partial(small_tensors_for, program, settings=settings), unknown
    return code


def _is_left_early(program: RegionProgram) -> bool:
    """Whether loops are left by what iterations find out: waves would wait for it each time."""
    every = (node for statement in program.region.statements for node in nodes_of(statement))
    return any(isinstance(node, ast.While | ast.Break) for node in every)


def _by_python(
    program: RegionProgram, values: Mapping[str, Any], settings: Settings, otherwise: Callable[..., RegionCode]
) -> RegionCode:
    """The region in lanes, with functions of numbers that must be exact by Python, one after the other."""
    with suppress(NotLiftable):
        code = through_the_ir(program, values, settings, kernels=False, by_python=True)
        return _beside_small_tensors(code, program, settings)
    return otherwise(values)


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


_OF_SIZES = ("requirement", "ragged-shape", "integer-range")
"""What tuples of sizes that are not known before the loop runs may be refused for."""


_OF_CONTAINERS = ("mixed-kinds", "unsupported-value", "unsupported-iterable", "aliasing", "carried", "effect-order")
"""What programs over numbers and containers may have a form for: what they lack is the reason, too."""


def _is_of_numpy(value: Any) -> bool:
    items = value if isinstance(value, list | tuple) else [value]
    return any(type(item).__module__ == "numpy" for item in items)


def _attempts(program: RegionProgram, values: Mapping[str, Any], refusals: list[NotLiftable]) -> Iterator[Any]:
    """The ways to batched code, each to be tried where those before it were refused."""
    yield through_the_ir
    from looplift.frontend.buckets import with_buckets
    from looplift.frontend.draws import draws_numbers, draws_of
    from looplift.frontend.firsts import with_firsts
    from looplift.frontend.grids import has_grid
    from looplift.frontend.outer_lists import outer_lists
    from looplift.frontend.peeling import MET, has_marker
    from looplift.frontend.stored_places import stores_at_places
    from looplift.frontend.streams import streams_of
    from looplift.frontend.tallies import with_tallies
    from looplift.frontend.words import words_of
    from looplift.pipeline import rewritten

    statements = program.region.statements
    if (lists := outer_lists(statements, values, program.arguments)) is not None:
        yield partial(rewritten.with_own_lists, lists)
    if any(isinstance(one, TwoLibraries) for one in refusals):
        yield rewritten.with_tensors
    if any(one.code in _OF_SIZES for one in refusals):
        yield partial(through_the_ir, sizes=True)
    if any(one.code in ("mixed-kinds", "two-libraries", "requirement") for one in refusals) or has_marker(statements):
        if lists is not None:
            yield partial(rewritten.with_own_lists, lists, markers=True)
        yield partial(through_the_ir, markers=True)
        if any(one.code == "mixed-kinds" for one in refusals):
            yield partial(through_the_ir, markers=MET)
    if (listed := with_buckets(statements, values, program.namespace, program.live_out)) is not None:
        yield partial(rewritten.with_other_statements, listed)
    if (tallied := with_tallies(statements, values, program.namespace, program.live_out)) is not None:
        yield partial(rewritten.with_other_statements, tallied)
    if (peeled := with_firsts(statements, values, program.arguments)) is not None:
        yield partial(rewritten.with_other_statements, peeled)
    if (words := words_of(statements, values, program.namespace, program.live_out)) is not None:
        yield partial(rewritten.with_words, words)
    if stores_at_places(statements, values):
        yield rewritten.through_tables
    if has_grid(statements):
        yield rewritten.through_grids
    draws = draws_of(statements, values, program.namespace)
    if draws is not None and draws.at_once:
        yield partial(rewritten.with_draws, draws)
    if (streams := streams_of(statements, values, program.namespace)) is not None:
        yield partial(rewritten.with_streams, streams)
    if draws is not None and not draws.at_once:
        yield partial(rewritten.with_draws, draws)
    known = {**program.namespace, **values}
    if any(one.code == "random-order" for one in refusals) or draws_numbers(statements, known):
        yield rewritten.with_drawn
    if calls_itself(statements, values):
        yield _in_waves  # of what the IR refuses for other reasons the pieces may be faster than waves


def _most_telling(refusals: list[NotLiftable]) -> NotLiftable:
    """The refusal to report: the IR's, except of recursion, of which waves know more, and of what comes after draws."""
    first, last = refusals[0], refusals[-1]
    if (further := next((one for one in refusals if one.goes_further), None)) is not None:
        return further
    if first.code == "recursion" and last is not first:
        return NotLiftable("recursion", f"{first.message}; {last.message}", last.span)
    return first
