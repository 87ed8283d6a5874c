"""A region with blocks under ``torch.no_grad()`` in, its code under ``torch.no_grad()`` as a whole out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from looplift.base.errors import NotLiftable
from looplift.base.settings import Settings
from looplift.pipeline.translation import as_written

if TYPE_CHECKING:
    from looplift.frontend.rewriting import RegionProgram
    from looplift.runtime.variants import RegionCode

Compile = Callable[..., "RegionCode"]


def under_no_grad(
    program: RegionProgram, values: Mapping[str, Any], settings: Settings, compile_: Compile
) -> RegionCode | None:
    """The code that ``compile_`` makes of the region where no gradients are recorded; None where that does another
    thing than the region, or is nothing new. Raises NotLiftable."""
    import torch

    if not torch.is_grad_enabled() or not _runs_whole(program, values):
        return None
    try:
        return _compiled(partial(compile_, program), values, settings=settings)
    except NotLiftable as refusal:
        if refusal.other is not None:
            refusal.other = partial(_compiled, refusal.other)
        raise


def _runs_whole(program: RegionProgram, values: Mapping[str, Any]) -> bool:
    from looplift.analysis.probe import analyse
    from looplift.analysis.unrecorded import runs_whole

    statements, places = program.region.statements, {"file": program.file, "name": program.name}
    for markers in (False, True):
        with suppress(NotLiftable):
            function = as_written(statements, values, program.live_out, markers=markers, **places)
            return runs_whole(function, analyse(function))
    return False


def _compiled(compile_: Compile, values: Mapping[str, Any], **options: Any) -> RegionCode:
    """Code that is made, and runs, where no gradients are recorded; so are its other forms."""
    import torch

    with torch.no_grad():
        code = compile_(values, **options)
    lines = "\n".join(code.statements).splitlines()
    code.statements = ["with torch.no_grad():", *(f"    {line}" for line in lines)]
    for form in ("alternative", "weaker", "otherwise"):
        if (other := getattr(code, form)) is not None:
            setattr(code, form, partial(_compiled, other))
    return code
