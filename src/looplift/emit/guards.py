"""Guards of a variant beyond the kinds of its values: flags and strings that were taken as constants, memory apart."""

from __future__ import annotations

import types
from typing import Any

from looplift.ir.facts import Facts
from looplift.ir.grammar import Function


def device_of(facts: Facts) -> str:
    """The device for tensors that the emitted code makes, as text; empty for the CPU."""
    import torch

    for var, path in facts.function.attributes["paths"].items():
        value = facts.of[var].sample
        if isinstance(value, torch.Tensor) and value.device.type != "cpu":
            return f"{path}.device"
    return ""


def guarded_modules(function: Function) -> list[str]:
    """Paths of functions, network modules and classes that were inlined or called."""
    return [path for path, value in function.attributes["modules"].items() if _may_change(value)]


def _may_change(value: Any) -> bool:
    import torch

    return isinstance(value, torch.nn.Module | types.FunctionType | types.MethodType)


def guards_of(plan: Any) -> tuple[list[str], dict[str, Any]]:
    """Expressions that must hold, and the names that they use beyond the region's."""
    attributes = plan.facts.function.attributes
    guards: list[str] = []
    names: dict[str, Any] = {}
    for path, value in attributes["guards"]:
        guards.append(f"{path} is {value!r}" if value is None or isinstance(value, bool) else f"{path} == {value!r}")
    for number, watched in enumerate(attributes["foreign"]):
        guards.append(_watching(watched, number, names))
    guards += [f"{a} == {b}" for a, b in attributes.get("equal", ())]
    for a, b in sorted(plan.apart):
        names["_apart"] = apart
        guards.append(f"_apart({a}, {b})")
    for path in sorted(plan.whole):
        names["_own_places"] = own_places
        guards.append(f"_own_places({path})")
    return list(dict.fromkeys(guards)), names


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
    if not isinstance(watched.value, int | float | str | bytes):
        return f"{text} is {expected}"
    names["_same"] = same
    return f"({text} is {expected} or _same({text}, {expected}))"


def same(a: Any, b: Any) -> bool:
    """Whether two numbers or texts are equal and of one type."""
    return type(a) is type(b) and a == b and repr(a) == repr(b)


def apart(a: Any, b: Any) -> bool:
    """Whether two tensors or arrays share no memory."""
    import numpy as np
    import torch

    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return a.untyped_storage().data_ptr() != b.untyped_storage().data_ptr()
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return not np.may_share_memory(a, b)
    return True


def own_places(a: Any) -> bool:
    """Whether each element of a tensor or array has a place of its own in memory."""
    import numpy as np

    strides = [s // a.itemsize for s in a.strides] if isinstance(a, np.ndarray) else a.stride()
    reach = 1
    for stride, extent in sorted((abs(s), n) for s, n in zip(strides, a.shape, strict=True) if n > 1):
        if stride < reach:
            return False
        reach = stride * (extent - 1) + reach
    return True
