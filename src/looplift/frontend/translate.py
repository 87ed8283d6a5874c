"""A region's statements in, one IR function out."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.base.spans import span_of
from looplift.frontend import attributes, backward, changed, differentiation, limits, training
from looplift.frontend import statements as translation
from looplift.frontend.exits import exits, without_exits
from looplift.frontend.names import assigned_names
from looplift.frontend.peeling import MET
from looplift.frontend.scope import Builder, Differentiates, Frame, Passes, Restart, Site, Value, Watched, is_unbound
from looplift.ir import (
    anew,
    backwards,
    begun,
    ends,
    filled,
    filled_rows,
    growing,
    just_appended,
    keyed,
    lasts,
    sink,
    started,
    tables,
)
from looplift.ir.grammar import (
    RESULT,
    TABLE,
    UNDEFINED,
    Append,
    Atom,
    Block,
    Const,
    Function,
    If,
    Let,
    Loop,
    Statement,
    While,
    children,
    walk,
)
from looplift.ir.prune import prune
from looplift.ops.names import LIMITS

MAX_ATTEMPTS = 40


def translate(
    statements: list[ast.stmt],
    values: Mapping[str, Any],
    live_out: list[str],
    *,
    file: str,
    name: str,
    markers: bool | str = False,
    empties: bool = False,
    scattered: bool = False,
    clips: bool = False,
    sizes: bool = False,
) -> Function:
    """The IR of a region; with ``markers`` loops begin after what is None before them has a first value (``peeling``),
    with ``empties`` they may have no iteration; with ``scattered`` lists may be changed at places that are not known
    before the loop runs, with ``clips`` slices may end behind the end of what they cut; with ``sizes`` tuples
    of a few integers are constants.

    ``values`` holds each root name that the region reads and that is bound at its entry. The result named
    ``return`` is there when the region ends the user's function. Raises NotLiftable for syntax outside the IR.
    """
    returns = isinstance(statements[-1], ast.Return | ast.Raise)
    if not returns and any(exits(node, loops=False) for node in statements):
        message = "a return inside the loop, with more to do after it"
        raise NotLiftable("unsupported-syntax", message, span_of(statements[0]))
    bound = frozenset(assigned_names(statements))
    forms: dict[Site, Any] = {}
    sets: dict[tuple[str, str], Any] = {}
    grown: dict[str, Any] = {}
    fixed: set[str] = set()
    late: dict[type, set[str]] = {}
    changes = differentiates = False
    passes = Passes(trains=training.steps(statements, values))
    for _ in range(MAX_ATTEMPTS):
        build = Builder(
            values, bound=bound, forms=forms, markers=bool(markers), scattered=scattered, clips=clips, changes=changes
        )
        build.counter.avoid(statements)
        build.meets, build.sizes = markers == MET, sizes
        build.empties, build.fixed, build.attributes, build.late = empties, fixed, sets, late
        build.grown = dict.fromkeys(grown)
        build.differentiates, build.passes = differentiates, passes
        build.frames.append(Frame({}, values, is_root=True, file=file))
        try:
            body, results = _translated(build, statements, [*live_out, *([RESULT] if returns else [])])
            arguments = {var: build.param_values[path] for path, var in build.params.items()}
            if not (build.beforehand and changed.changes_containers(body, arguments)):
                break
            changes = True
        except Differentiates:
            differentiates = True
        except Restart:
            grown |= build.grown
    else:
        raise NotLiftable("unsupported-syntax", "lists of too many forms", span_of(statements[0]))
    function = Function(name, tuple(build.params.values()), body, results, file, span_of(statements[0]), {
        "paths": {var: path for path, var in build.params.items()},
        "values": arguments,
        "guards": build.guards,
        "foreign": list(build.foreign.values()),
        "reads": list(dict.fromkeys(build.reads)),
        "modules": build.modules,
        "unrolled": build.unrolled,
        "sets": tuple(key for key, _ in results if "." in key and not key.endswith("]")),
        "grows": tuple(build.grown),
        "leaves": build.leaves,
        "set_leaves": build.set_leaves,
        "unrecorded": frozenset(build.unrecorded),
        "unrecorded_spans": frozenset(build.unrecorded_spans),
        "alike": {build.params[path]: like for path, like in build.alike.items()},
        "same": list(build.same.values()),
        "differentiates": differentiates or bool(build.leaves),
    })  # fmt: skip
    made = _rewritten(function)
    if markers:
        from looplift.ir.optional import without_none

        return without_none(made)
    return made


LENGTHENING = frozenset("cat concat concatenate vstack append".split())
"""Functions that join a tensor or an array and a piece."""


def _rewritten(function: Function) -> Function:
    """The function after the passes over the IR, of which those that would find nothing to do are not imported."""
    if any(isinstance(s, If) and s.then and s.orelse for s in walk(function.body)):
        function = sink.sink_stores(function)
    called = {name.rpartition(".")[2] for name in _names(function)}
    if called & LENGTHENING or called >= {"tensor", "list"}:
        function = growing.joined_after_loops(function)
    function = prune(_with_growing_lists(function))
    if called & {*LIMITS}:
        function = limits.known_limits(function)
    loops = [s for s in walk(function.body) if isinstance(s, Loop)]
    if any(carry.init is UNDEFINED for loop in loops for carry in loop.carries):
        function = anew.bound_anew(function)
    return _with_chosen_views(function)


def _names(function: Function) -> set[str]:
    return {s.op.name for s in walk(function.body) if isinstance(s, Let)}


def _with_growing_lists(function: Function) -> Function:
    """Lists and dicts of the region's own as lists that grow."""
    if any(isinstance(s, Append) for s in walk(function.body)):
        function = just_appended.without_reads_of_what_was_appended(function)
    names = _names(function)
    if names & {"method.insert", "method.reverse"}:
        function = backwards.lists_read_backwards(function)
    if TABLE in names:
        function = tables.tables_as_lists(_with_places_for_keys(function))
    if "list" in names:
        function = filled_rows.rows_filled_in_order(function)
    if names & EXTREMES and any(isinstance(s, Append) for s in walk(function.body)):
        function = ends.known_ends(function)
    if _gets_first_items(function.body):
        function = begun.begun_lists(function)
    grown = {s.ref for s in walk(function.body) if isinstance(s, Append)}
    if any(s.var in grown and s.op.args for s in _lists(function)):
        function = started.started_lists(function)
    if grown and any(_is_left_early(s) for s in walk(function.body)):
        function = lasts.last_items(function)
    lists = {s.var for s in _lists(function)}
    lets = (s for s in walk(function.body) if isinstance(s, Let))
    if lists and any(s.op.name == "mul" and not lists.isdisjoint(s.op.args) for s in lets):
        function = filled.filled_lists(function)
    return function


def _with_places_for_keys(function: Function) -> Function:
    """Dicts under items of lists of the caller as dicts under their places; it is watched that items are different."""
    found, columns = keyed.keyed_by_places(function)
    for column in columns:
        path, kinds = function.attributes["paths"][column], {*map(type, function.attributes["values"][column])}
        found.attributes["foreign"].append(Watched(None, f"{{*map(type, {path})}}", kinds))
        found.attributes["foreign"].append(Watched(None, f"(len({{*{path}}}) == len({path}))", True))
    return found


def _is_left_early(statement: Statement) -> bool:
    return isinstance(statement, Loop) and (statement.stop is not None or isinstance(statement.domain, While))


def _lists(function: Function) -> list[Let]:
    return [s for s in walk(function.body) if isinstance(s, Let) and s.op.name == "list"]


def _gets_first_items(block: Block) -> bool:
    """Whether a list that is made in a block has items from its display, or from an append in the same block."""
    made: set[Atom] = set()
    for statement in block:
        if isinstance(statement, Let) and statement.op.name == "list":
            made.add(statement.var)
            if statement.op.args:
                return True
        if isinstance(statement, Append) and statement.ref in made:
            return True
    return any(_gets_first_items(inner) for statement in block for inner in children(statement))


EXTREMES = frozenset(("builtin.max", "builtin.min"))


def _with_chosen_views(function: Function) -> Function:
    """What a loop chooses and hands out, looked up at its end; where it chooses anything."""
    for statement in walk(function.body):
        if (isinstance(statement, If) and statement.phis) or (
            isinstance(statement, Let) and statement.op.name in EXTREMES
        ):
            from looplift.ir.chosen import chosen_views

            return chosen_views(function)
    return function


def _translated(
    build: Builder, statements: list[ast.stmt], names: list[str]
) -> tuple[Block, tuple[tuple[str, Atom], ...]]:
    """The body of the function, and its results."""
    try:
        plain = without_exits(statements, RESULT, build.counter)
    except SyntaxError as error:
        raise NotLiftable("unsupported-syntax", str(error), span_of(statements[0])) from None
    before: dict[str, Value] = {}

    def whole() -> None:
        backward.begin(build)
        before.update(attributes.begin(build))
        translation.translate_block(build, plain)

    body = build.block(whole)
    build.blocks.append([])
    results = *((key, _result(build, key)) for key in names), *attributes.results(build, before)
    results = *results, *backward.results(build, body, [atom for _, atom in results])
    body = Block((*body, *build.blocks.pop()))
    attributes.check(build, body)
    backward.check(build, body)
    differentiation.check(build, body, [atom for _, atom in results])
    return body, results


def _result(build: Builder, name: str) -> Atom:
    value = build.env.get(name, UNDEFINED)
    if is_unbound(value):
        if name == RESULT:
            return Const(None)
        raise NotLiftable("unsupported-syntax", f"'{name}' may not be bound after the loop", build.span)
    return build.atom(value)
