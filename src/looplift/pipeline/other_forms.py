"""A region in, other code than batched code out: a program over numbers and text, lists in place of tensors, waves."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from looplift.base.errors import NotLiftable
from looplift.base.settings import Settings
from looplift.base.syntax import fresh_copy
from looplift.pipeline.through_ir import over, through_the_ir

if TYPE_CHECKING:
    from looplift.frontend.host_started import Started
    from looplift.frontend.rewriting import RegionProgram
    from looplift.runtime.variants import RegionCode


def over_lists(program: RegionProgram, values: Mapping[str, Any], settings: Settings, *, waves: bool) -> RegionCode:
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
                return in_waves(program, values, settings)
        return code_over_lists(program, ahead, values, front, settings.memory)
    if waves:
        return in_waves(program, values, settings)
    raise refusal


def _in_front(program: RegionProgram, ahead: Any, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    """Batched code for the loops that were taken out of the region."""
    code = through_the_ir(over(program, ahead.front, ahead.numbers), values, settings)
    prints = any("print(" in line for line in code.statements)
    if code.mutated or code.sets or code.random or prints or any(loop.decision == "kept" for loop in code.decisions):
        raise NotLiftable("effect-order", "what is computed before the loop has effects")
    return code


def in_waves(program: RegionProgram, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    from looplift.base.report import LoopRecord
    from looplift.emit.waves import waves_source
    from looplift.frontend.host import host_program, needed_constants
    from looplift.frontend.host_started import started_for
    from looplift.runtime.variants import RegionCode

    if settings.backend not in ("auto", "torch"):
        raise NotLiftable("backend", "waves need torch")
    live_ins = {name: values[name] for name in program.arguments}
    started = [one for one in started_for(program.region) if one.name in live_ins]
    seen = [one for one in started if one.is_seen]
    live_outs = ["return"] if program.returns else list(program.live_out)
    outs, names = [*live_outs, *(one.name for one in seen)], frozenset(one.name for one in started)
    body = [*(fresh_copy(one.statement) for one in started), *program.region.statements]
    host = host_program(body, live_ins, outs, program.namespace, names)
    name = f"{program.name}_waves"
    text = waves_source(host, name)
    function = _run_text(text, name, needed_constants(host, text))
    statements = _call_of_waves(f"{name}({', '.join(host.parameters)})", live_outs, seen)
    guards, scope = _guards_of_waves(host.guards, host.guard_scope)
    line, file = program.line, program.file
    records = [LoopRecord(file, place[0], "waves") for place in program.loops] or [LoopRecord(file, line, "waves")]
    code = RegionCode(statements, {name: function} | scope, [text], guards, decisions=records, imports=[])
    code.repeatable, code.mutated = not host.assigned, sorted(one.name for one in seen)
    code.scratch = sorted(names.difference(code.mutated))
    code.shares_work = lambda: function.__globals__["Waves"].sharing > 1.5
    return code


def _call_of_waves(call: str, live_outs: list[str], seen: list[Started]) -> list[str]:
    """The statements that call batched code, and fill the containers that it has made anew."""
    if live_outs == ["return"] and not seen:
        return [f"return {call}[0]"]
    targets = ["_returned" if name == "return" else name for name in live_outs]
    targets += [f"_made_{one.name}" for one in seen]
    statements = [f"{''.join(f'{one}, ' for one in targets).strip()} = {call}" if targets else call]
    statements += [one.filled(f"_made_{one.name}") for one in seen]
    return [*statements, "return _returned"] if live_outs == ["return"] else statements


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
