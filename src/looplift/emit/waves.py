"""From a host program to the text of one function of its live-ins, that runs without this package."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import sys
from typing import Any

from looplift.emit.waves_lanes import NoRule, lanes_body
from looplift.emit.waves_reach import reach_of
from looplift.emit.waves_rows import rows_body
from looplift.emit.waves_slopes import is_steep, watched
from looplift.runtime import waves, waves_attributes, waves_batches, waves_slopes, waves_sums, waves_tables
from looplift.runtime.waves_program import Apply, HostProgram, Point


def waves_source(program: HostProgram, name: str = "region") -> str:
    """A module text that defines ``name``: the live-ins in, a tuple of the live-outs out.

    Any exception that the function raises means: run the original, nothing was changed.
    """
    blocks = [line for point in program.points for line in _point(point, program.scheduler)]
    for function in program.functions:
        blocks += ["", *ast.unparse(ast.fix_missing_locations(function)).splitlines()]
    for dispatcher, method, table in program.dispatchers:
        blocks += ["", *_dispatcher(dispatcher, method, table, program.scheduler)]
    blocks.append("")
    for statement in program.statements:
        blocks += ast.unparse(ast.fix_missing_locations(statement)).splitlines()
    blocks += _return(program)
    body = "\n".join(f"    {line}" if line else "" for line in blocks)
    parameters = ", ".join(program.parameters)
    head = f"@without_collections\ndef {name}({parameters}):"
    function = f"{head}\n    {program.scheduler} = Waves({parameters})\n{body}\n"
    scheduler = scheduler_text()
    imports = _imports(program, function)
    return f"{imports}\n\n\n{scheduler}\n\n\n{function}"


SCHEDULER_IMPORTS = """import gc
import types
from array import array
from bisect import bisect_right
from typing import Any

import torch
"""


def scheduler_text() -> str:
    """The scheduler's source, without its imports."""
    texts = []
    for module in (waves_tables, waves_slopes, waves_batches, waves_sums, waves_attributes, waves):
        source = str(inspect.getsource(module)).split("# --- begin ---\n")[1].split("# --- end ---")[0]
        texts.append(re.sub(r"\A(?:(?:import|from) .*\n|\n)*", "", source).strip())
    return "\n\n\n".join(texts)


def _imports(program: HostProgram, source: str) -> str:
    """Import lines for the objects that the text needs, where they can be imported."""
    used = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    lines: list[str] = list(SCHEDULER_IMPORTS.splitlines())
    for name, value in sorted(program.constants.items()):
        if name in used and not (name == "torch" and value is sys.modules.get("torch")):
            lines.append(_import_line(name, value))
    return "\n".join(lines)


def _import_line(name: str, value: Any) -> str:
    if isinstance(value, type(sys)):
        return f"import {value.__name__}" + ("" if name == value.__name__ else f" as {name}")
    if value is None or isinstance(value, (bool, int, float, str)):
        return f"{name} = {value!r}"
    home, own = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    if home and getattr(sys.modules.get(home), own, None) is value and not hasattr(builtins, own):
        return f"from {home} import {own}" + ("" if name == own else f" as {name}")
    return f"# {name} is expected in the namespace"


ROLES = {"tensor": "t", "shared": "s", "index": "i", "number": "n", "weak": "w"}


def _point(point: Point, scheduler: str) -> list[str]:
    """The point over lanes where every operation has a rule, else over one row, to be mapped."""
    roles = "".join(ROLES[item.role] for item in point.parameters)
    options = [f"stage={point.stage}"]
    if roles:
        options.append(f"roles={roles!r}")
    if point.width != -1:
        options.append(f"width={point.width}")
    try:
        body = lanes_body(point)
        options.append("lanes=True")
        if ranks := [str((item.rank or 0) + item.listed) for item in point.parameters if item.role == "tensor"]:
            options.append(f"ranks=({', '.join(ranks)},)")
    except NoRule:
        found = watched(point)
        body = rows_body(point, {tree: f"note{k}" for k, tree in enumerate(found)})
        if found:
            options.append(f"watched={tuple(found.values())!r}")
    if is_steep(point):
        options.append("steep=True")
    if is_sum(point):
        options.append("sums=True")
    if reach := reach_of(point):
        options.append(f"reach={reach!r}")
    lines = sorted({step.line for step in point.steps})
    where = f"line {lines[0]}" if len(lines) == 1 else f"lines {lines[0]} to {lines[-1]}"
    signature = ", ".join(item.name for item in point.parameters)
    decorator = f"@{scheduler}.point({', '.join(options)})  # {where}"
    return ["", decorator, f"def {point.name}({signature}):", *(f"    {line}" for line in body)]


def is_sum(point: Point) -> bool:
    """Whether the point adds one of its tensors to the other, and does nothing else."""
    if len(point.steps) != 1 or [item.role for item in point.parameters] != ["tensor", "tensor"]:
        return False
    match point.steps[0].tree:
        case Apply(kind="operator", source=ast.BinOp(op=ast.Add()) | ast.AugAssign(op=ast.Add()), arguments=operands):
            return list(operands) == point.parameters and not any(item.listed for item in point.parameters)
    return False


def _dispatcher(name: str, method: str, table: dict[str, str], scheduler: str) -> list[str]:
    entries = ", ".join(f"{kind}: {function}" for kind, function in table.items())
    return [
        f"def {name}(self, *arguments, **keywords):",
        f"    return {scheduler}.method(self, {method!r}, {{{entries}}})(self, *arguments, **keywords)",
    ]


def _return(program: HostProgram) -> list[str]:
    """The live-outs as a tuple, with tensors in place of handles."""
    renamed = {"return": program.returned_name}
    names = [renamed.get(name, name) for name, _ in program.results]
    waiting = [renamed.get(name, name) for name, waits in program.results if waits]
    lines = []
    if program.returned is not None:
        text = ast.unparse(ast.fix_missing_locations(program.returned))
        lines.append(f"{program.returned_name} = {text}")
    given, taken = list(waiting), list(waiting)
    if program.assigned:
        given.append(f"{program.scheduler}.values_assigned()")
        taken.append(program.assigned)
    if given:
        lines.append(f"{_tuple(taken)} = {program.scheduler}.resolve(({_tuple(given)}))")
    else:
        lines.append(f"{program.scheduler}.run()")
    if program.assigned:
        lines.append(f"{program.scheduler}.assign({program.assigned})")
    return [*lines, f"return ({_tuple(names)})"]


def _tuple(parts: list[str]) -> str:
    return "".join(f"{part}, " for part in parts).strip()
