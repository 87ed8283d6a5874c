"""A region or a loop in, a kernel that is built out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from looplift.base.errors import NotLiftable
from looplift.base.settings import Settings
from looplift.pipeline.translation import translated

if TYPE_CHECKING:
    from looplift.frontend.rewriting import RegionProgram
    from looplift.runtime.variants import RegionCode


def kernel_for(
    program: RegionProgram, values: Mapping[str, Any], *, markers: bool | str = False, empties: bool = False
) -> RegionCode:
    """The region as one kernel, whole rows included; raises NotLiftable where it is none."""
    places = {"file": program.file, "name": program.name, "markers": markers, "empties": empties}
    function = translated(program.region.statements, values, program.live_out, **places)
    return _as_one_kernel(function, rows=True)


def one_kernel(function: Any, settings: Settings, *, rows: bool) -> RegionCode | NotLiftable:
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
    from looplift.ir.tabulated import with_tables
    from looplift.runtime.variants import RegionCode
    from looplift.vectorize.decisions import decisions_of_kernel
    from looplift.vectorize.precision import rounded_to
    from looplift.vectorize.whole import check_whole

    check_whole(function)
    whole, guards = None, []
    if (tabulated := with_tables(function)) is not None:
        with suppress(NotLiftable):
            whole, guards = whole_region(tabulated[0], rows=rows), tabulated[1]
    try:
        whole = whole or whole_region(function, rows=rows)
    except NotLiftable as refusal:
        apart = with_first_apart(function) if refusal.code == "mixed-kinds" else None
        if apart is None:
            raise
        whole = whole_region(apart, rows=rows)
    namespace = whole.namespace | {whole.kernel.name: built(whole.kernel, False)}
    decisions = decisions_of_kernel(function, tuple(whole.notes))
    guards = [*whole.guards, *guards]
    return RegionCode(
        whole.statements, namespace, whole.standalone, guards, whole.paths, whole.mutated, ["import torch"],
        decisions=decisions, rounded_to=rounded_to(whole.facts, of_arguments=True), may_warn=whole.may_warn,
        sets=whole.sets,
    )  # fmt: skip


def kernel_of(loop: Any, facts: Any, *, gradients: bool, once: bool, rows: bool = False) -> Any:
    """The C++ of a loop; the rooms for it are imported when the first one is tried. A kernel on a device is launched
    ``once``: that takes longer than what an iteration of a loop around it does in other ways. ``rows``: also if it
    works on whole rows at once."""
    from looplift.emit import native

    try:
        kernel = native.kernel_of(loop, facts, gradients=gradients, rows=rows)
        if kernel.device is not None:
            from looplift.build import cuda

            if not once:
                raise NotLiftable("device", "no kernel for a device: it is in a loop that stays", loop.span)
            cuda.compiled(kernel.source, kernel.device)
        return kernel
    except NotLiftable:
        raise
    except Exception as error:  # other plans may do
        raise NotLiftable("internal", f"{type(error).__name__}: {error}", loop.span) from error


def built(kernel: Any, gradients: bool) -> Callable[..., Any]:
    from looplift.build.native import differentiable, load

    call: Any = differentiable(kernel) if gradients else load(kernel)
    call.kernel, call.has_gradients = kernel, gradients  # for those that make an operator of it
    return call
