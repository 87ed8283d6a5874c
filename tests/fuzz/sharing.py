"""Kernels that share their loops among threads, or run iterations at once, however short these are."""

from looplift.build import native
from looplift.emit import native_jammed
from looplift.ir.kernel_parts import PARTS


def share_at_once():
    """From now on kernels do so, in this process; they ask PyTorch how many threads there are."""
    text = PARTS
    for old, new in (("passed < known;", "passed < 0;"), ("done > begin ? ", "false ? ")):
        assert text.count(old) == 1
        text = text.replace(old, new)
    native.PARTS = text


def few_lanes(count):
    """Kernels run so many iterations of a loop at once, where each has a loop of its own."""
    native_jammed.LANES = count


def programs_first():
    """Have programs over numbers, text and containers tried before any other form."""
    from looplift import pipeline
    from looplift.base.errors import NotLiftable
    from looplift.pipeline.programs import typed_program

    ordinary = pipeline.compile_region

    def compiled(program, values, settings):
        try:
            return typed_program(program, values, settings)
        except NotLiftable:
            return ordinary(program, values, settings)

    pipeline.compile_region = compiled
