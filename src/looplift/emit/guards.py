"""Guards of a variant beyond the kinds of its values: flags and strings that were taken as constants, memory apart."""

from __future__ import annotations

import enum
import math
import re
import types
from collections.abc import Iterable
from typing import Any

from looplift.base import declared, memory
from looplift.base.errors import NotLiftable, OfStrides
from looplift.ir.facts import Facts
from looplift.ir.grammar import Function, Let, Var, walk
from looplift.ops.names import is_library, is_operation, is_replaced, of_libraries, standing_at
from looplift.ops.table import base_name
from looplift.runtime import contents


def device_of(facts: Facts) -> str:
    """The device for tensors that the emitted code makes, as text; empty for the CPU."""
    import torch

    for var, path in facts.function.attributes["paths"].items():
        value = facts.of[var].sample
        if isinstance(value, torch.Tensor) and value.device.type != "cpu":
            return f"{path}.device"
    found = next((device for device in facts.devices if device.type != "cpu"), None)
    return f"{str(found)!r}" if found is not None else ""


def guarded_modules(function: Function) -> list[str]:
    """Paths of functions, network modules, classes and dtypes that the code was made for."""
    return [path for path, value in function.attributes["modules"].items() if not _has_a_guard(value)]


def _has_a_guard(value: Any) -> bool:
    """Whether a static value is among the guards of flags and strings."""
    return value is None or isinstance(value, bool | str | bytes)


def guards_of(plan: Any) -> tuple[list[str], dict[str, Any]]:
    """Expressions that must hold, and the names that they use beyond the region's."""
    attributes = plan.facts.function.attributes
    guards: list[str] = []
    names: dict[str, Any] = {}
    for path, value in attributes["guards"]:
        guards += _stays(path, value, names)
    guards += declared.conditions(attributes.get("reads", ()), names)
    functions = {}
    for number, watched in enumerate(attributes["foreign"]):
        if isinstance(watched.owner, types.ModuleType) and is_library(watched.owner):
            functions[watched.owner, watched.access.removeprefix(".")] = watched.value
        else:
            guards.append(_watching(watched, number, names))
    guards += of_libraries(functions, names)
    guards += [f"{a} == {b}" for a, b in attributes.get("equal", ())]
    for a, b in sorted(plan.apart):
        names["_apart"] = memory.apart
        guards.append(f"_apart({a}, {b})")
    for path in sorted(set(plan.mutated)):
        for module in _outermost_modules(plan.facts.function):
            names["_apart_from_module"] = memory.apart_from_module
            guards.append(f"_apart_from_module({path}, {module})")
    for path in sorted(plan.whole):
        names["_own_places"] = memory.own_places
        guards.append(f"_own_places({path})")
    if asks_for_layouts(plan.facts):
        guards += _layouts(plan.facts, names)
    return list(dict.fromkeys(guards)), names


def _stays(path: str, value: Any, names: dict[str, Any]) -> list[str]:
    """That a flag, a number or a text is the same one: what is equal may be a zero of another sign, or of another type,
    which is looked at of all names."""
    if value is None or isinstance(value, bool):
        return [f"{path} is {value!r}"]
    if type(value) in (str, bytes, int, float):
        is_spelled = type(value) is not float or (value and math.isfinite(value))
        same = f"{path} == {value!r}" if is_spelled else f"repr({path}) == {str(value)!r}"
        return [same] if path.isidentifier() else [same, f"type({path}) is {type(value).__name__}"]
    name = f"_value_{len(names)}"
    names[name] = value
    if isinstance(value, enum.Enum):
        return [f"{path} is {name}"]
    names["_same"] = contents.same
    return [f"_same({path}, {name})"]


def asks_for_layouts(facts: Facts) -> bool:
    """Whether a tensor of several dimensions is seen in another shape by ``view``, which depends on its strides."""
    for statement in walk(facts.function.body):
        if isinstance(statement, Let) and base_name(statement.op.name) == "view" and statement.op.args:
            fact = facts.of.get(of) if isinstance(of := statement.op.args[0], Var) else None
            if fact is None or (fact.kind.family == "tensor" and fact.kind.rank > 1):
                return True
    return False


def _layouts(facts: Facts, names: dict[str, Any]) -> list[str]:
    """That tensors of several dimensions lie in memory as those lie that ``view`` was tried on."""
    import torch

    guards = []
    for var, path in facts.function.attributes["paths"].items():
        value = facts.of[var].sample
        if isinstance(value, list | tuple | dict):
            if not memory.contiguous(value):
                raise OfStrides(f"the tensors of '{var.hint}' may lie in memory in several ways")
            names["_contiguous"] = memory.contiguous
            guards.append(f"_contiguous({path})")
        elif isinstance(value, torch.Tensor) and value.dim() > 1:
            names["_layout"] = memory.layout
            here = (
                f"{path}.is_contiguous()" if value.is_contiguous() else f"_layout({path}) == {memory.layout(value)!r}"
            )
            guards.append(here)
    return guards


def _watching(watched: Any, number: int, names: dict[str, Any]) -> str:
    """That what another namespace holds is still the object it was, or an equal number or string."""
    owner = f"_foreign_{number}" if watched.owner is not None else ""
    if owner:
        names[owner] = watched.owner
    text, expected = f"{owner}{watched.access}", f"_expected_{number}"
    if watched.path:
        return f"{text} is {watched.path}"
    if watched.value is None or isinstance(watched.value, bool):
        return f"{text} is {watched.value}"
    names[expected] = watched.value
    if not isinstance(watched.value, int | float | str | bytes | tuple | set):
        return f"{text} is {expected}"
    names["_same"] = contents.same
    return f"({text} is {expected} or _same({text}, {expected}))"


_CALLED = re.compile(r"(?<![\w.'\"])((?:torch|np|math)(?:\.[A-Za-z_]\w*)*)\.([A-Za-z_]\w*)(?=\()")


def called_functions(statements: Iterable[str]) -> dict[tuple[Any, str], Any]:
    """The functions that batched code calls by the names that they have in their libraries."""
    found = {}
    for module, attribute in sorted({*_CALLED.findall("\n".join(statements))}):
        name = f"{module}.{attribute}"
        if is_operation(name):
            if is_replaced(name):
                raise NotLiftable("unsupported-value", f"another function stands at '{name}'")
            found[standing_at(module), attribute] = standing_at(name)
    return found


def _outermost_modules(function: Function) -> list[str]:
    """Paths of network modules, without those that are parts of others."""
    import torch

    found = [path for path, value in function.attributes["modules"].items() if isinstance(value, torch.nn.Module)]
    return [one for one in found if not any(one.startswith((f"{other}.", f"{other}[")) for other in found)]
