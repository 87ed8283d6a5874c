"""Source text of slices, windows and gathers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from looplift.emit.integers import sum_text
from looplift.emit.spelling import ATOM
from looplift.emit.text import Text, arranged, atom
from looplift.ir.array import Axis, Node

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def is_whole(p: Printer, base: Node, dim: int, piece) -> bool:
    """Whether an axis walks a dimension from end to end."""
    extents = base.attrs.get("extents")
    known = extents[dim] if extents is not None else None
    if piece.base.op != "const" or piece.base.attrs["value"] != 0 or piece.coefficient != 1:
        return False
    if known is not None:
        return sum_text(p, piece.axis.extent, known, -1) == "0"
    if base.op != "name" or base.axes:
        return False
    owner, place = base.attrs.get("equal", {}).get(dim, (base, dim))
    return piece.axis.extent.attrs.get("key") == f"{owner.attrs['text']}.shape[{place}]"


def piece_kind(piece) -> str:
    return type(piece).__name__


def piece_text(p: Printer, base: Node, dim: int, piece) -> str:
    """One subscript of a slice."""
    match piece_kind(piece):
        case "Whole":
            return ":"
        case "New":
            return "None"
        case "Point":
            return p.text(piece.at).text
        case "Cut":
            parts = ["" if part is None else p.text(part).text for part in (piece.lo, piece.hi, piece.step)]
            return f"{parts[0]}:{parts[1]}" + (f":{parts[2]}" if parts[2] else "")
        case "Along":
            if is_whole(p, base, dim, piece):
                return ":"
            return _along_text(p, piece)
    raise AssertionError(piece)


def _along_text(p: Printer, piece) -> str:
    first, size = piece.base, abs(piece.coefficient)
    lo = p.text(first).text
    if piece.coefficient == 1:
        hi = sum_text(p, first, piece.axis.extent)
        return f"{'' if lo == '0' else lo}:{hi}"
    if piece.coefficient > 0:
        from looplift.emit.integers import terms_of

        terms, constant = terms_of(first)
        last = sum_text(p, first, piece.axis.extent, size)
        return f"{'' if lo == '0' else lo}:{last} - {size - 1}:{size}" if terms or constant >= 0 else last
    raise AssertionError("a slice that walks backwards is turned round first")


def slice_text(p: Printer, node: Node) -> Text:
    """``x[lo:hi, ...]`` with the walked dimensions moved to the front, in the order of the axes."""
    base, pieces = node.args[0], node.attrs["pieces"]
    text = p.text(base).at(ATOM)
    items: list[str] = []
    flips: list[int] = []
    labels: list[Axis | int] = list(base.axes)
    windows: list[tuple[int, object]] = []
    lane = 0
    lead = [":"] * len(base.axes)
    for dim, piece in enumerate(pieces):
        kind = piece_kind(piece)
        if kind == "Along" and piece.coefficient < 0:
            items.append(_backwards(p, piece))
            flips.append(len(labels))
        elif kind == "Window":
            items.append(":")
            windows.append((len(labels), piece))
        else:
            items.append(piece_text(p, base, dim, piece))
        if kind in ("Along", "Window"):
            labels.append(piece.axis)
        elif kind != "Point":
            labels.append(lane)
            lane += 1
    items = lead + items
    while items and items[-1] == ":":
        items.pop()
    if items:
        text = f"{text}[{', '.join(items)}]"
    if flips:
        dims = ", ".join(map(str, flips))
        text = f"{text}.flip({dims})" if p.library == "torch" else f"np.flip({text}, ({dims},))"
    if windows:
        return _windowed(p, node, text, labels, windows, pieces)
    return _permuted(p, text, labels, node)


def _backwards(p: Printer, piece) -> str:
    """``base, base - c, ...`` read forwards from its other end; it is flipped afterwards."""
    size = abs(piece.coefficient)
    last = sum_text(p, piece.base, piece.axis.extent, -size)
    lo = _plus(last, size)
    hi = _plus(p.text(piece.base).text, 1)
    return f"{lo}:{hi}" + (f":{size}" if size > 1 else "")


def _plus(text: str, number: int) -> str:
    if text.endswith(suffix := f" - {number}"):
        return text[: -len(suffix)]
    try:
        return str(int(text) + number)
    except ValueError:
        return f"{text} + {number}"


def _permuted(p: Printer, text: str, labels: list, node: Node) -> Text:
    """Axes first, in canonical order, then lane dimensions in theirs."""
    wanted = [*node.axes, *sorted(label for label in labels if isinstance(label, int))]
    order = [labels.index(label) for label in wanted]
    if order == list(range(len(order))):
        return atom(text)
    if order == [1, 0]:
        return atom(f"{text}.T")
    if p.library == "np":
        return atom(f"{text}.transpose({', '.join(map(str, order))})")
    return atom(f"{text}.permute({', '.join(map(str, order))})")


def _windowed(p: Printer, node: Node, text: str, labels: list, windows: list, pieces: list) -> Text:
    """Windows by ``unfold``, which puts the window's dimension last."""
    if p.library == "np" or len(windows) > 1 or any(piece_kind(q) == "Along" and q.coefficient < 0 for q in pieces):
        p.fail("ragged-shape", "several windows, or windows of a NumPy array")
    position, piece = windows[0]
    width = p.text(piece.width).text
    end = sum_text(p, piece.base, piece.axis.extent, abs(piece.coefficient))
    lo = p.text(piece.base).text
    if piece.coefficient < 1:
        p.fail("ragged-shape", "windows that walk backwards")
    last = _plus_text(_plus(end, -(piece.coefficient - 1)) if piece.coefficient > 1 else end, width)
    lead = ":, " * position
    cut = f"{text}[{lead}{lo}:{last} - 1]"
    text = f"{cut}.unfold({position}, {width}, {piece.coefficient})"
    before = sum(1 for label in labels[:position] if isinstance(label, int))
    ranks = [label if isinstance(label, Axis) or label < before else label + 1 for label in labels]
    return _permuted(p, text, [*ranks, before], node)


def _plus_text(a: str, b: str) -> str:
    try:
        return str(int(a) + int(b))
    except ValueError:
        return f"{a} + {b}"


def gather_text(p: Printer, node: Node) -> Text:
    """Advanced indexing with one index for each dimension that lanes choose."""
    base, pieces = node.args[0], node.attrs["pieces"]
    text = p.text(base).at(ATOM)
    lead = len(base.axes)
    gathered = [k for k, piece in enumerate(pieces) if piece_kind(piece) == "Gather"]
    rest = [k for k in range(len(pieces)) if k not in gathered]
    # dimensions of the base's own axes are walked by their positions
    order = [*range(lead), *(lead + k for k in gathered), *(lead + k for k in rest)]
    if order != list(range(len(order))):
        numbers = ", ".join(map(str, order))
        text = f"{text}.permute({numbers})" if p.library == "torch" else f"{text}.transpose({numbers})"
    items = [_position(p, axis, node) for axis in base.axes]
    items += [arranged(p, pieces[k].index, node.axes, 0, 0) for k in gathered]
    items += [piece_text(p, base, k, pieces[k]) for k in rest]
    while items and items[-1] == ":":
        items.pop()
    return atom(f"{text}[{', '.join(items)}]")


def _position(p: Printer, axis: Axis, node: Node) -> str:
    """Positions 0, 1, ... on an axis, aligned with the axes of a node."""
    from looplift.ir.array import ancestors

    if axis in node.axes:
        items = ["None" if other is not axis else ":" for other in node.axes]
        while items and items[0] == "None":
            items.pop(0)
        text = p.positions(axis)
        items = items[:-1] if items == [":"] else items
        return f"{text}[{', '.join(items)}]" if items else text
    child = next(other for other in node.axes if axis in ancestors(other))
    return p.parents(child)


def take_text(p: Printer, node: Node) -> Text:
    """A vector of indices in each lane: its dimensions follow the axes."""
    base, *indices, index = node.args
    text = p.text(base).at(ATOM)
    rank = index.kind.rank
    items = [_wide(_position(p, axis, node), rank) for axis in base.axes]
    items += [
        arranged(p, i, node.axes, 0, 0) if not i.axes else _wide(arranged(p, i, node.axes, 0, 0), rank) for i in indices
    ]
    items.append(arranged(p, index, node.axes, rank, 0))
    return atom(f"{text}[{', '.join(items)}]")


def _wide(text: str, rank: int) -> str:
    """Index positions with trailing dimensions for the window that a wide index makes."""
    extra = ", None" * rank
    return f"{text}[...{extra}]"
