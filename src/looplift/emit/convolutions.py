"""Source text of convolutions and pooling: dimensions in the order that torch's have."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from looplift.emit.spelling import ATOM
from looplift.emit.subscripts import reordered
from looplift.emit.text import Text, atom
from looplift.ir.array import Axis, Node

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def convolution_text(p: Printer, node: Node) -> Text:
    """``convolution(x, w, ...)`` of samples, groups, channels and places, put into the order of the node's axes."""
    source, weights, *rest = node.args
    names = ("samples", "groups", "outputs", "channels")
    samples, groups, outputs, channels = (node.attrs[name] for name in names)
    places = [place for place, _ in node.attrs["pairs"]]
    taps = [tap for _, tap in node.attrs["pairs"]]
    lead = len(source.axes)
    picked = node.attrs.get("picked")
    spatial = [dim + (picked is not None and dim >= picked) for dim in node.attrs["dims"]]
    if picked is None:
        order = [source.axes.index(axis) for axis in (*samples, *groups, *channels)]
    else:
        order = [*(source.axes.index(axis) for axis in samples), lead + picked]
    x = reordered(p, p.text(source).at(ATOM), order + [lead + dim for dim in spatial])
    w = reordered(p, p.text(weights).at(ATOM), [weights.axes.index(a) for a in (*groups, *outputs, *channels, *taps)])
    steps: list[str] = []
    for k, swapped in enumerate(node.attrs["swapped"]):
        first, count, step, other, apart = (p.text(part).text for part in rest[5 * k : 5 * k + 5])
        pair = (other, apart, count, step) if swapped else (count, step, other, apart)
        steps.append(f"({', '.join((first, *pair))})")
    p.need("comes_finite")
    p.need("product_where")
    p.need("convolution")
    counts = f"({len(samples)}, {len(groups)}, {len(outputs)}, {len(channels)})"
    made: list[Axis] = [*samples, *groups, *outputs, *places]
    text = f"convolution({x}, {w}, {counts}, {', '.join(steps)})"
    if node.attrs.get("grouped"):
        p.need("taken")
        p.need("grouped_convolution")
        text = f"grouped_convolution({x}, {p.text(rest[-1]).text}, {w}, {len(samples)}, {', '.join(steps)})"
    elif picked is not None and p.device:  # there a negative index would end the process
        text = f"convolution({x}[{':, ' * len(samples)}{p.text(rest[-1]).text}], {w}, {counts}, {', '.join(steps)})"
    elif picked is not None:
        p.need("taken")
        p.need("picked_convolution")
        text = f"picked_convolution({x}, {p.text(rest[-1]).text}, {w}, {len(samples)}, {', '.join(steps)})"
    return atom(reordered(p, text, [made.index(axis) for axis in node.axes]))


def pooled_text(p: Printer, node: Node) -> Text:
    """``pooled(x, "mean", ...)``, the dimensions of the windows in the places of the last two."""
    source, *rest = node.args
    p.need("reached")
    if p.gradients and node.attrs["name"] == "max":
        p.need("comes_finite")
        p.need("unless_finite")
        p.need("extreme")
        p.need("greatest_of")
    p.need("pooled")
    steps = [f"({', '.join(p.text(part).text for part in rest[k : k + 4])})" for k in (0, 4)]
    text = f'pooled({p.text(source).text}, "{node.attrs["name"]}", {", ".join(steps)})'
    made: list[Axis] = [*source.axes, *node.attrs["axes"]]
    return atom(reordered(p, text, [made.index(axis) for axis in node.axes]))


def as_axes_text(p: Printer, node: Node) -> Text:
    """The first dimensions of a lane's value are axes: the array is the same. It may have to hold windows."""
    source, *steps = node.args
    if not steps:
        return p.text(source)
    p.need("reached")
    texts = [f"({', '.join(p.text(part).text for part in steps[k : k + 4])})" for k in (0, 4)]
    return atom(f"reached({p.text(source).text}, {', '.join(texts)})")


def taps_text(p: Printer, node: Node) -> Text:
    """Weights that are as wide as the windows that they are multiplied by."""
    weights, *extents = node.args
    sizes = [*["-1"] * len(weights.axes), *(p.text(extent).text for extent in extents)]
    return atom(f"{p.text(weights).at(ATOM)}.expand({', '.join(sizes)})")


RENDERERS: dict[str, Callable[[Printer, Node], Text]] = {
    "convolution": convolution_text, "pooled": pooled_text, "as_axes": as_axes_text, "taps": taps_text,
}  # fmt: skip
