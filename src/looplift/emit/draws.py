"""Random numbers that a loop draws, one iteration after the other, in; the text of their draws, or of one, out.

torch.stack([torch.rand(()) for _ in range(n)])      torch.rand(n)

Where numbers are uniform, PyTorch takes them from a generator of the CPU one by one, so that it is in the same state
after one draw of all as after many. That the version at hand does so is tried once. Other draws may differ: normal ones
are made in another way where there are 16 or more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from looplift.base.devices import default_device
from looplift.base.streams import numbers_alike
from looplift.emit.text import Text, atom
from looplift.ir.array import Node

if TYPE_CHECKING:
    from looplift.emit.source import Printer

FLOATS = ("torch.float32", "torch.float64")


def drawn_text(p: Printer, node: Node) -> Text:
    draw, extent = node.args
    count = p.text(extent).text
    if (sizes := _sizes_of_one(p, draw)) is not None and numbers_alike():
        given = [f"{key}={p.text(arg).text}" for key, arg in zip(draw.attrs["kwargs"], draw.args[-1:], strict=False)]
        return atom(f"torch.rand({', '.join([count, *sizes, *given])})")
    join = "torch.stack" if p.library == "torch" else "np.stack"
    for arg in draw.args:
        if arg.kind.is_array and not p.text(arg).text.isidentifier():
            p.bind(arg)
    own = p.own_text(draw).text  # under no name: it is drawn again and again
    return atom(f"{join}([{own} for _ in range({count})])")


def _sizes_of_one(p: Printer, draw: Node) -> list[str] | None:
    """The sizes of what each iteration draws, if all of it can be drawn at once."""
    plain = draw.op == "apply" and draw.attrs["name"] == "torch.rand" and draw.attrs["kwargs"] in ([], ["dtype"])
    if not plain or p.device or default_device() is not None or str(draw.kind.dtype) not in FLOATS:
        return None
    sizes = draw.args[: draw.attrs["positional"]]
    if len(sizes) == 1 and sizes[0].op == "display":
        sizes = sizes[0].args
    return [p.text(size).text for size in sizes] if all(size.kind.family == "int" for size in sizes) else None
