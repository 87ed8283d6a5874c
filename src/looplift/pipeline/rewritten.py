"""A region in, the code of another region that does the same out: over code points, lists of its own, draws, tables."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from looplift.base.data import replace
from looplift.base.errors import NotLiftable, TwoLibraries
from looplift.base.settings import Settings
from looplift.pipeline.kernels import kernel_of
from looplift.pipeline.planning import planned
from looplift.pipeline.through_ir import formed, over, through_the_ir, within_memory
from looplift.pipeline.translation import translated

if TYPE_CHECKING:
    from looplift.analysis.bridges import Bridged
    from looplift.frontend.draws import Draws
    from looplift.frontend.letters import Letters
    from looplift.frontend.outer_lists import OuterLists
    from looplift.frontend.rewriting import RegionProgram
    from looplift.frontend.streams import Streams
    from looplift.frontend.words import Words
    from looplift.runtime.variants import RegionCode


def over_letters(program: RegionProgram, values: Mapping[str, Any], settings: Settings) -> RegionCode | None:
    """A region that reads strings letter by letter, over their code points; None where there is no such code."""
    from looplift.frontend.letters import letters_of

    letters = letters_of(program.region.statements, values, program.arguments, program.live_out)
    if letters is None:
        return None
    try:
        code = through_the_ir(over(program, letters.statements), letters.values(values), settings)
        return _changed(code, letters.values(values), partial(_with_letters, letters=letters), letters.values)
    except NotLiftable:
        return None  # the strings are taken as they are, and what then refuses them says why


def _changed(
    code: RegionCode,
    values: Mapping[str, Any],
    change: Callable[[RegionCode, Mapping[str, Any]], None],
    taken: Callable[[Mapping[str, Any]], Mapping[str, Any]],
) -> RegionCode:
    """The code of another region, changed into that of the region that it stands for; so are its alternatives.

    ``values`` are those that the other region takes, and ``taken`` gives them for those of the region.
    """
    change(code, values)

    def also(other: Callable[..., RegionCode]) -> Callable[[Mapping[str, Any]], RegionCode]:
        def made(values: Mapping[str, Any]) -> RegionCode:
            given = taken(values)
            return _changed(other(given), given, change, taken)

        return made

    code.alternative = None if code.alternative is None else also(code.alternative)
    code.weaker = None if code.weaker is None else also(code.weaker)
    code.rival = None if code.rival is None else also(code.rival)
    return code


def _with_letters(code: RegionCode, values: Mapping[str, Any], *, letters: Letters) -> None:
    """Code over code points as code over strings."""
    code.statements = [*letters.conversions, *code.statements]
    asked = [re.sub(r"\blen\(\w+\)", "", guard) for guard in code.guards]  # of both there are as many
    if any(re.search(rf"\b{name}\b", guard) for name in letters.names for guard in asked):
        raise NotLiftable("unsupported-value", "a guard of letters")


def with_own_lists(
    lists: OuterLists, program: Any, values: Mapping[str, Any], settings: Settings, *, markers: bool = False
) -> RegionCode:
    """A region that appends to lists of the caller, over lists of its own."""
    rewritten = over(program, lists.statements, [*dict.fromkeys((*program.live_out, *lists.live_out))])

    def ended(code: RegionCode, values: Mapping[str, Any]) -> None:
        code.statements = [*code.statements, *lists.endings]
        code.mutated = [*code.mutated, *lists.names]
        code.guards += lists.guards(values, code.paths)

    code = _changed(_going_further(rewritten, values, settings, markers=markers), values, ended, dict)
    if not code.decisions or code.decisions[0].decision == "sequential":
        raise NotLiftable("carried", "the loops without what is appended may be kernels")
    return code


def _going_further(program: Any, values: Mapping[str, Any], settings: Settings, *, markers: bool = False) -> RegionCode:
    """A rewritten region by way of the IR: what refuses it then is what there is to tell."""
    try:
        return through_the_ir(program, values, settings, markers=markers)
    except TwoLibraries:
        return with_tensors(program, values, settings)
    except NotLiftable as refusal:
        refusal.goes_further = True
        raise


def with_other_statements(
    statements: list[ast.stmt], program: Any, values: Mapping[str, Any], settings: Settings
) -> RegionCode:
    """A region by way of the IR, in statements that do the same."""
    from looplift.frontend.peeling import has_marker

    return through_the_ir(over(program, statements), values, settings, markers=has_marker(statements))


def with_words(words: Words, program: Any, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    """A region over strings, over the numbers that stand for them."""
    given = words.values(values)
    code = through_the_ir(over(program, words.statements), given, settings)
    return _changed(code, given, partial(_numbering, words=words), words.values)


def _numbering(code: RegionCode, values: Mapping[str, Any], *, words: Words) -> None:
    """Code over numbers as code over strings."""
    for name, source in words.names.items():
        code.guards = [re.sub(rf"\blen\({name}\)", f"len({source})" if source else "0", one) for one in code.guards]
    word = re.compile(rf"\b({'|'.join(words.names)})\b")
    if any(map(word.search, [*code.guards, *code.mutated])):
        raise NotLiftable("unsupported-value", "a guard of numbers that stand for strings")
    code.statements = [*words.lines, *code.statements]
    code.paths = [path for path in code.paths if not word.search(path)]


def with_draws(
    draws: Draws, program: Any, values: Mapping[str, Any], settings: Settings, *, small: bool = False
) -> RegionCode:
    """The region over what it draws, which is drawn before it; ``small``: as a program over small tensors."""
    from looplift.emit.drawn import add_draws, columns

    draws.join(values)

    def given(values: Mapping[str, Any]) -> dict[str, Any]:
        found = draws.given(values)
        return found | columns({name: found[name] for name in draws.names})

    first = given(values)
    statements, form = draws.statements(first), _as_a_program if small else _by_the_ir
    return _changed(form(program, statements, first, settings), first, partial(add_draws, draws=draws), given)


def with_drawn(program: RegionProgram, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    """The region by way of the IR, over what it, or what it calls, draws at random, which is drawn before it."""
    from looplift.analysis.drawn import over_rows, places
    from looplift.analysis.probe import analyse
    from looplift.emit.drawn import add_draws, columns
    from looplift.frontend.draws import draws_before
    from looplift.vectorize.plan import needs_grad

    where = {"file": program.file, "name": program.name}
    function = translated(program.region.statements, values, program.live_out, **where)
    facts = analyse(function)
    if not (found := places(facts.function, facts)):
        raise NotLiftable("random-order", "no random numbers are drawn")
    gradients = needs_grad(facts)
    samples = [facts[place.of].sample for place in found]
    arguments = {name: values[name] for name in program.arguments if name in values}
    draws = draws_before(found, samples, arguments, {**program.namespace, **values})
    draws.join(values)
    given = draws.given(values)
    made = columns({name: given[name] for name in draws.names})
    drawn = formed(analyse(over_rows(facts.function, found, made, gradients=gradients)))
    code = within_memory(program, planned(drawn, _plan(settings), settings), given | made, settings)
    add_draws(code, given | made, draws)
    code.alternative = code.weaker = code.rival = None
    return code


def _plan(settings: Settings) -> Callable[[Any], Any]:
    """What plans a function, with kernels, and memory that is used again."""
    from looplift.optimize import reuse
    from looplift.vectorize.plan import plan

    return partial(
        plan, backend=settings.backend, kernel_of=kernel_of, reuses=lambda program: reuse.reuse_memory(program)
    )


def _by_the_ir(program: Any, statements: list[ast.stmt], values: Mapping[str, Any], settings: Settings) -> RegionCode:
    return _going_further(over(program, statements), values, settings)


def _as_a_program(
    program: Any, statements: list[ast.stmt], values: Mapping[str, Any], settings: Settings
) -> RegionCode:
    """Other statements of a region as one program over numbers, containers and small tensors."""
    from looplift.pipeline.programs import typed_program

    rewritten = over(program, statements)
    for name in ("returns", "loops", "line", "is_piece"):
        setattr(rewritten, name, getattr(program, name))
    around = {"enumerate": enumerate, "len": len, **program.namespace, **values}
    known = {name: around[name] for name in ("enumerate", "len")}
    return typed_program(rewritten, {**values, **known}, settings)


def with_streams(streams: Streams, program: Any, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    """The region as a kernel that draws by itself: it takes the states of the generators, and gives them back."""
    if settings.backend == "torch":
        raise NotLiftable("backend", "kernels are not wanted")
    code = _over_states(streams, program, values, settings)
    lines = _before_return(code.statements, streams.endings, streams.result)
    code.statements = [*streams.openings, *lines]
    for name in ("guards", "paths", "mutated"):
        named = map(streams.as_named, getattr(code, name))
        setattr(code, name, [text for text in named if text is not None])
    guards, names = streams.guards()
    code.guards, code.namespace = [*code.guards, *guards], {**code.namespace, **names}
    code.random, code.alternative, code.rival = True, None, None
    return code


def _over_states(streams: Streams, program: Any, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    """The region over the states as a kernel, or as a program over numbers, text and containers."""
    known = streams.given(values)
    try:
        code = through_the_ir(over(program, streams.statements), known, replace(settings, backend="native"))
        if code.random or any(loop.decision != "native" for loop in code.decisions):
            raise NotLiftable("random-order", "random numbers are drawn in a loop that is no kernel")
        return code
    except NotLiftable as refusal:
        for streams.as_lists in (False, True):  # programs over tensors take no arrays
            with suppress(NotLiftable):
                code = _as_a_program(program, streams.statements, streams.given(values), settings)
                if not code.random:
                    return code
        raise refusal


def _before_return(lines: list[str], endings: list[str], result: str) -> list[str]:
    """Statements with others at their end, in front of what they return."""
    returns = [line for text in lines for line in text.splitlines() if re.match(r"\s*return\b", line)]
    if not returns:
        return [*lines, *endings]
    if len(returns) > 1 or not (found := re.match(r"return (.+)\Z", lines[-1], re.DOTALL)):
        raise NotLiftable("random-order", "random numbers are drawn in a region that is left at several places")
    return [*lines[:-1], f"{result} = {found[1]}", *endings, f"return {result}"]


def with_tensors(program: RegionProgram, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    """A region over NumPy arrays and tensors, over tensors in the memory of the arrays."""
    from looplift.analysis.bridges import as_tensors, over_tensors
    from looplift.analysis.probe import analyse
    from looplift.vectorize.plan import needs_grad

    places = {"file": program.file, "name": program.name}
    function = translated(program.region.statements, values, program.live_out, **places)
    facts = analyse(function)
    bridged = over_tensors(function, facts, gradients=needs_grad(facts))
    try:
        made = planned(bridged.facts, _plan(settings), settings)
        code = within_memory(program, made, bridged.values(values), settings)
    except NotLiftable as refusal:
        refusal.goes_further = True
        raise
    _over_arrays(code, bridged)
    code.namespace["_as_tensors"] = as_tensors
    return code


def _over_arrays(code: RegionCode, bridged: Bridged) -> None:
    """Code over tensors as code over the arrays that they stand for."""
    from looplift.analysis.bridges import conversion
    from looplift.frontend.names import fresh_name

    paths = {name: path for name, (path, _) in bridged.given.items()}
    word = re.compile(rf"\b({'|'.join(paths) or 'no name'})\b")
    code.guards = [word.sub(lambda found: f"_as_tensors({paths[found[1]]})", guard) for guard in code.guards]
    code.paths = [paths.get(path, path) for path in code.paths]
    code.mutated = [paths.get(path, path) for path in code.mutated]
    lines = [
        f"{name} = {conversion(path, tensors, copied=name in bridged.copied)}"
        for name, (path, tensors) in bridged.given.items()
    ]
    endings = [f"{key} = {way.replace('{}', key)}" for key, way in bridged.ways.items() if way and key != "return"]
    if (way := bridged.ways.get("return")) is not None:
        found = fresh_name("found", set(re.findall(r"\w+", way)))
        *body, last = _before_return(code.statements, [], found)
        code.statements = [*lines, *body, *endings, last.replace(found, way.replace("{}", found))]
    else:
        code.statements = [*lines, *code.statements, *endings]
    if "import torch" not in code.imports:
        code.imports.append("import torch")


def through_tables(program: RegionProgram, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    """The region by way of the IR, with tables for its lists of tensors that change at places of the data."""
    from looplift.analysis.probe import analyse
    from looplift.ir.scattered import lines_of_changes, with_scattered
    from looplift.vectorize.decisions import lines_that_stay
    from looplift.vectorize.plan import needs_grad

    places = {"file": program.file, "name": program.name, "scattered": True}
    try:
        function = translated(program.region.statements, values, program.live_out, **places)
    except NotLiftable as refusal:
        refusal.goes_further = True
        raise
    facts = analyse(function)
    tabled = with_scattered(function, facts, gradients=needs_grad(facts))
    if tabled is None:
        raise NotLiftable("unsupported-value", "no list of tensors can be a table", function.span)
    made = planned(analyse(tabled), _plan(settings), settings)
    if lines_that_stay(made.decisions) & lines_of_changes(tabled):
        raise NotLiftable("memory-dependence", "a list of tensors is read where it is changed", function.span)
    return within_memory(program, made, values, settings)


def through_grids(program: RegionProgram, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    """The region by way of the IR, with tensors for its lists of numbers of tensors."""
    from looplift.analysis.probe import analyse
    from looplift.frontend.grids import grids_of
    from looplift.ir.grids import check_grids, with_plain_copies
    from looplift.ir.scattered import lines_of_changes
    from looplift.vectorize.decisions import lines_that_stay
    from looplift.vectorize.plan import needs_grad, plan

    refusal = NotLiftable("unsupported-value", "no list of tensors can be a tensor")
    outer = {*program.live_out, *program.arguments}
    values = {**values, "torch": program.namespace.get("torch")}
    for dtype in _dtypes_of(values):
        found = grids_of(program.region.statements, values, outer, dtype)
        if found is None:
            raise refusal
        function = translated(found.statements, values, program.live_out, file=program.file, name=program.name)
        facts = analyse(function)
        tables = {grid.name: (grid.held, grid.holds_tensors) for grid in found.tables.values()}
        try:
            check_grids(function, facts, tables, gradients=needs_grad(facts))
        except NotLiftable as why:
            refusal = why
            continue
        function = replace(function, body=with_plain_copies(function.body))
        made = planned(analyse(function), partial(plan, backend=settings.backend, kernel_of=kernel_of), settings)
        if lines_that_stay(made.decisions) & lines_of_changes(function):
            raise refusal
        return within_memory(program, made, values, settings)
    raise refusal


def _dtypes_of(values: Mapping[str, Any]) -> list[str]:
    """The dtypes of floats among tensors and items of lists."""
    found: dict[str, None] = {}
    for value in values.values():
        first = value[0] if isinstance(value, list | tuple) and value else value
        if (dtype := getattr(first, "dtype", None)) is not None and str(dtype).startswith("torch.float"):
            found[str(dtype).removeprefix("torch.")] = None
    return list(found)
