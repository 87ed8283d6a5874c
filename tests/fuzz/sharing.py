"""Kernels that share their loops among threads at once, however short these are: programs here are all short."""

from looplift.build import native
from looplift.ir.kernel_parts import PARTS


def share_at_once():
    """From now on kernels do so, in this process; they ask PyTorch how many threads there are."""
    text = PARTS
    for old, new in (("passed < known;", "passed < 0;"), ("done > begin ? ", "false ? ")):
        assert text.count(old) == 1
        text = text.replace(old, new)
    native.PARTS = text
