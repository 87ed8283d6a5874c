"""Statements over lists of numbers, and batched code for what is computed before them, in; the code of a region out."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from looplift.base.budget import fits
from looplift.base.compare import NARROW, narrowest
from looplift.base.memory import apart, own_places
from looplift.base.report import LoopRecord
from looplift.emit.helpers import HELPERS, helper_functions
from looplift.runtime import contents
from looplift.runtime.variants import RegionCode, build_function, indented

NEEDED: dict[str, Any] = {"zip": zip, "list": list, "bool": bool}
"""What the text may call beside what the region does."""


def code_over_lists(
    program: Any, ahead: Any, values: Mapping[str, Any], front: RegionCode | None, memory: int | None
) -> RegionCode:
    """``ahead``: the statements, with the tensors that become lists, and what they may do to which values."""
    residue = ahead.residue
    guards, namespace = _guards(ahead, values, memory)
    code = RegionCode(
        [], NEEDED | namespace, guards=guards, mutated=sorted(residue.written), random=residue.draws,
        commits_early=bool(residue.written),
    )  # fmt: skip
    if front is not None:
        _put_in_front(program, code, front, values, ahead.numbers)
    code.statements += [f"{name} = {source}.tolist()" for source, name in ahead.lists.items()]
    code.statements += [line for statement in ahead.statements for line in ast.unparse(statement).splitlines()]
    called = {word for line in code.statements for word in re.findall(r"\b_\w+(?=\()", line)}
    called |= {"_int64"} if "_double" in called else set()
    helpers = tuple(sorted(called & HELPERS.keys(), reverse=True))
    code.standalone += [HELPERS[name] for name in helpers]
    code.namespace |= helper_functions(helpers)
    code.decisions = [LoopRecord(program.file, line, "lists") for line, _ in program.loops]
    if words := {word for value in values.values() for word in _words(value)}:
        code.rounded_to = dict.fromkeys(["result", *code.mutated], narrowest(words))
    return code


def _words(value: Any) -> list[str]:
    """The dtypes of arrays, also in containers, with fewer digits than double precision has."""
    if isinstance(value, list | tuple | dict):
        items = value.values() if isinstance(value, dict) else value
        return [word for item in items for word in _words(item)]
    word = str(value.dtype).removeprefix("torch.") if isinstance(value, torch.Tensor | np.ndarray | np.generic) else ""
    return [word] if word in NARROW else []


def _guards(ahead: Any, values: Mapping[str, Any], memory: int | None) -> tuple[list[str], dict[str, Any]]:
    """What must hold of the values, and the names that this mentions."""
    residue = ahead.residue
    names: dict[str, Any] = {"_holds_only": contents.holds_only, "_arrays": contents.ARRAYS}
    looked_through = (("()", residue.containers), ("_arrays", residue.mixed))
    guards = [f"_holds_only({kinds}, {', '.join(sorted(found))})" for kinds, found in looked_through if found]
    if ahead.lists:
        names |= {"_count": contents.count, "_fits": fits if memory is None else memory.__ge__}
        guards.append(f"_fits({ahead.size})")
    if ahead.floats:
        names["_without_nan"] = contents.without_nan
        guards.append(f"_without_nan({', '.join(ahead.floats)})")
    read = [name for name in ahead.read if isinstance(values.get(name), torch.Tensor | np.ndarray)]
    guards += [f"_apart({one}, {other})" for one in sorted(residue.stored) for other in read]
    guards += [f"_own_places({one})" for one in ahead.given]
    guards += [f"_apart({one}, {other})" for one in ahead.given for other in ahead.others if other != one]
    if residue.callees:
        names |= {"_same_callees": contents.same_callees, "_callees": residue.callees}
        guards.append("_same_callees(_callees)")
    return guards, names | {"_apart": apart, "_own_places": own_places}


def _put_in_front(
    program: Any, code: RegionCode, front: RegionCode, values: Mapping[str, Any], numbers: list[str]
) -> None:
    """Let the code begin with a call of other code, which makes lists of numbers."""
    name, arguments, results = f"{program.name}_numbers", ", ".join(program.arguments), ", ".join(numbers)
    whole: Any = SimpleNamespace(
        name=name, arguments=program.arguments, returns=False, live_out=numbers, line=program.line,
        namespace=program.namespace,
    )  # fmt: skip
    code.namespace[name] = build_function(whole, front, values, 0)
    code.namespace |= {key: value for key, value in front.namespace.items() if key not in code.namespace}
    code.standalone += [
        *front.standalone,
        f"def {name}({arguments}):\n{indented([*front.statements, f'return {results}'])}",
    ]
    call = f"{results} = {name}({arguments})"
    if any(isinstance(value, np.ndarray) for value in values.values()):  # NumPy warns of what no iteration may compute
        code.statements += ['with np.errstate(divide="raise", over="raise", invalid="raise"):', indented([call])]
    else:
        code.statements.append(call)
    code.guards += front.guards
    code.paths, code.imports = front.paths, front.imports
