"""A region in, one C++ program over numbers, text, containers and small tensors out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

from looplift.base.errors import NotLiftable
from looplift.base.settings import Settings
from looplift.base.syntax import nodes_of
from looplift.ops import names
from looplift.pipeline.kernels import kernel_for

if TYPE_CHECKING:
    from looplift.frontend.rewriting import RegionProgram
    from looplift.runtime.variants import RegionCode


def typed_program(
    program: RegionProgram,
    values: Mapping[str, Any],
    settings: Settings,
    others: list[Mapping[str, Any]] | None = None,
    *,
    rows: bool = True,
    last: bool = False,
    otherwise: Callable[..., RegionCode] | None = None,
    tried: Collection[str] = (),
) -> RegionCode:
    """The region as one program over numbers, text and containers; ``others``: types of values that it is for, too.
    ``tried``: texts of programs that did not hold for some values.

    Without ``rows``, and where it is a piece of a larger region, it keeps no rows of tensors that it computes, as other
    forms may compute many at once, unless it has containers and functions that no other form knows. ``last``: of no
    other form is anything left but the pieces, with which it takes turns. ``otherwise``: makes the form for values that
    a program cannot take.
    """
    from looplift.build.native import load_program
    from looplift.emit.typed import region_code, typed_code
    from looplift.frontend.lambdas import source_to_run

    if settings.backend == "torch":
        raise NotLiftable("backend", "kernels are not wanted")
    known = list(others or [])
    try:
        typed = typed_code(program, values, source_to_run, known)
    except NotLiftable:
        if not known:
            raise
        known, typed = [], typed_code(program, values, source_to_run, [])
    found = typed.program
    if found.keeps_rows and ((program.is_piece and not last) or not (rows or found.is_of_objects)):
        raise NotLiftable("unsupported-value", "rows are computed one by one")
    function: Any = load_program(found.text, typed.caller, loop_of(program, found.inputs, found.outside))
    function.texts = found.text, typed.caller, found.inputs, [*found.outside]  # for those that make it again
    code = region_code(program, typed, function)
    code.is_preliminary = getattr(function, "is_preliminary", code.is_preliminary)
    kept, seen = [found.types, *known[:2]], {*tried, *code.standalone}

    def again(values: Mapping[str, Any]) -> RegionCode:
        with suppress(NotLiftable):
            options = {"rows": rows, "last": last, "otherwise": otherwise, "tried": seen}
            found = typed_program(program, values, settings, kept, **options)
            if seen.isdisjoint(found.standalone):
                return found
        if otherwise is not None:
            return otherwise(values)
        raise NotLiftable("requirement", "these values need what a program of their types has not")

    code.renewable, code.alternative = True, again
    return code


def loop_of(program: Any, inputs: list[str], outside: Collection[str] = ()) -> Callable[..., Any] | None:
    """The statements of a region as a function of a program's inputs; None where they read more than those, or where
    others stand in their place. ``outside``: inputs that they find by themselves."""
    if not hasattr(program, "on_values") or {*program.arguments} != {*inputs} - {*outside}:
        return None
    places = [inputs.index(name) for name in program.arguments]
    return lambda *values: program.on_values(*(values[place] for place in places))


def is_typed_whole(statements: list[ast.stmt], values: Mapping[str, Any], settings: Settings, *, loops: bool) -> bool:
    """Whether a function, with these values of its names, is one program over numbers, text and containers."""
    if settings.backend not in ("auto", "native"):
        return False
    every = [node for statement in statements for node in nodes_of(statement)]
    used = {node.id for node in every if isinstance(node, ast.Name)}
    objects = _needs_objects(every, used, values)
    if not objects and _has_other_forms([values[name] for name in used & values.keys()]):
        return False
    from looplift.emit.typed import whole_function
    from looplift.frontend.lambdas import source_to_run

    return whole_function(statements, values, source_to_run, loops=loops, objects=objects)


def _has_other_forms(values: list[Any]) -> bool:
    """Whether values are such that loops over them are never a program as a whole: tensors, or arrays that no function
    of the user's is called with."""
    import numpy as np
    import torch

    if any(isinstance(value, torch.Tensor) for value in values):
        return True
    return any(isinstance(value, np.ndarray) for value in values) and all(map(_calls_nothing_of_users, values))


def _calls_nothing_of_users(value: Any) -> bool:
    if isinstance(value, ModuleType):
        return names.is_library(value)
    return not callable(value) or str(getattr(value, "__module__", None)).partition(".")[0] in names.LIBRARIES


_OBJECTS = {"defaultdict", "deque", "set", "heapq", "heappush", "lru_cache", "cache"}


def _needs_objects(every: list[ast.AST], used: set[str], values: Mapping[str, Any]) -> bool:
    """Whether nodes define functions, call one that calls itself, or use containers that only a program has."""
    if any(isinstance(node, ast.FunctionDef) for node in every):
        return True
    mentioned = used | {node.attr for node in every if isinstance(node, ast.Attribute)}
    return bool(mentioned & _OBJECTS) or any(_calls_itself(name, values[name]) for name in mentioned & values.keys())


def _calls_itself(name: str, value: Any) -> bool:
    code = getattr(getattr(value, "__looplift_original__", value), "__code__", None)
    return code is not None and name in code.co_names


def over_small_tensors(
    program: Any, values: Mapping[str, Any], settings: Settings, *, last: bool = False
) -> RegionCode | None:
    """The region as one program over small tensors and lists of them, where its loops would stay otherwise."""
    if not hasattr(program, "is_piece"):  # other statements stand in its place
        return None
    with suppress(NotLiftable):
        return typed_program(program, values, settings, last=last)
    return None


def small_tensors_for(program: Any, values: Mapping[str, Any], settings: Settings) -> RegionCode:
    """The same; raises NotLiftable where there is none."""
    if (found := over_small_tensors(program, values, settings)) is None:
        raise NotLiftable("not-scalar", "it is no program over small tensors")
    return found


def kernel_or_program(program: Any, values: Mapping[str, Any], settings: Settings, **options: bool) -> RegionCode:
    """The region as one kernel, or else as one program over small tensors."""
    try:
        return kernel_for(program, values, **options)
    except NotLiftable:
        found = over_small_tensors(program, values, settings)
        if found is None:
            raise
        return found
