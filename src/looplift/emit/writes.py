"""Source text of writes into arrays: slices assigned, repeated places accumulated or written last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from looplift.emit import ragged
from looplift.emit.spelling import ATOM, dtype_text
from looplift.emit.subscripts import piece_text
from looplift.emit.text import arranged, full
from looplift.ir.array import Axis, Write

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def write_lines(p: Printer, step: Write) -> list[str]:
    """The statements that perform a write."""
    if step.mode == "set":
        return [_slices(p, step)]
    if step.mode in ("entries", "add_entries"):
        return [ragged.write_text(p, step)]
    return _scatter(p, step)


def _slices(p: Printer, step: Write) -> str:
    value, array = step.operands[0], step.node
    pieces = step.render["pieces"]
    items = [":"] * len(array.axes)
    labels: list[Axis | None] = list(array.axes)
    for dim, piece in enumerate(pieces):
        kind = type(piece).__name__
        if kind == "Along" and piece.coefficient < 0:
            items.append(_positions(p, piece))
        else:
            items.append(piece_text(p, array, dim, piece))
        if kind == "Along":
            labels.append(piece.axis)
        elif kind != "Point":
            labels.append(None)
    backwards = [k for k, piece in enumerate(pieces) if type(piece).__name__ == "Along" and piece.coefficient < 0]
    if backwards and len(pieces) > 1:
        p.fail("order", "a store that walks backwards along one of several dimensions")
    while items and items[-1] == ":":
        items.pop()
    target = f"{step.array}[{', '.join(items) or ':'}]"
    return f"{target} = {_ordered(p, value, labels)}"


def _positions(p: Printer, piece) -> str:
    from looplift.emit.integers import sum_text

    last = sum_text(p, piece.base, piece.axis.extent, piece.coefficient)
    return f"{p.library}.arange({p.text(piece.base).text}, {last}, {piece.coefficient}{p.device_argument()})"


def _ordered(p: Printer, value, labels: list[Axis | None]) -> str:
    """The value with its dimensions in the order of the array's, ready to broadcast."""
    if value.kind.is_number and not value.axes:
        return p.text(value).text
    present = [axis for axis in labels if axis is not None and axis in value.axes]
    wholes = sum(label is None for label in labels)
    lane = len(value.axes)
    order: list[int] = []
    items: list[str] = []
    short = wholes - value.kind.rank
    for label in labels:
        if label is None:
            if short > 0:
                items.append("None")
                short -= 1
            else:
                order.append(lane)
                lane += 1
                items.append(":")
        elif label in value.axes:
            order.append(value.axes.index(label))
            items.append(":")
        else:
            items.append("None")
    if len(present) < len(value.axes):
        p.fail("internal", "a stored value varies with an axis that its place does not")
    natural = order == list(range(len(order)))
    text = p.text(value).at(ATOM)
    if not natural:
        numbers = ", ".join(map(str, order))
        text = (
            f"{text}.T"
            if order == [1, 0]
            else f"{text}.permute({numbers})"
            if p.library == "torch"
            else f"{text}.transpose({numbers})"
        )
    while items and items[0] == "None":
        items.pop(0)
    while items and items[-1] == ":":
        items.pop()
    return f"{text}[{', '.join(items)}]" if items else text


def _scatter(p: Printer, step: Write) -> list[str]:
    """Places that may repeat."""
    render = step.render
    axes, count = render["axes"], render["count"]
    value, indices = step.operands[0], step.operands[1 : 1 + count]
    rank = step.node.kind.rank - count
    if render["array_axes"] or p.library == "np":
        p.fail("order", "a store into places that may repeat, in an array of each iteration")
    places = [full(p, index, axes) if index.axes else _constant_place(p, index, axes) for index in indices]
    source = _value(p, value, axes, rank)
    if render["masked"]:
        if step.operands[-1].op != "name":
            p.bind(step.operands[-1])
        chosen = full(p, step.operands[-1], axes)
        name = p.fresh("chosen")
        p.line(f"{name} = {chosen}")
        places = [f"{place}[{name}]" for place in places]
        source = source if value.kind.is_number and not value.axes else f"{_spread(p, value, axes, rank)}[{name}]"
    if render.get("dtype") is None:
        p.fail("internal", "a scatter without a dtype")
    joined = ", ".join(places) + ("," if len(places) == 1 else "")
    if step.mode == "add":
        dtype = dtype_text(render["dtype"], "torch")
        if value.kind.is_number and not value.axes:
            source = f"torch.tensor({source}, dtype={dtype})"
        elif not value.kind.is_array or value.kind.dtype != render["dtype"]:
            source = f"({source}).to({dtype})"
        whole = (
            len(axes) == len(places) == 1 and value.axes == axes and value.kind.rank == rank and not render["masked"]
        )
        if whole:
            return [f"{step.array}.index_add_(0, {places[0]}, {source})"]
        return [f"{step.array}.index_put_(({joined}), {source}, accumulate=True)"]
    p.need("write_last")
    return [f"write_last({step.array}, ({joined}), {source})"]


def _constant_place(p: Printer, index, axes) -> str:
    extents = ", ".join(p.extent(axis) for axis in axes)
    return f"torch.full(({extents},), {p.text(index).text})"


def _value(p: Printer, value, axes, rank: int) -> str:
    if value.kind.is_number and not value.axes:
        return p.text(value).text
    return arranged(p, value, axes, rank, 0)


def _spread(p: Printer, value, axes, rank: int) -> str:
    text = full(p, value, axes)
    if value.kind.rank < rank:
        text += "[..." + ", None" * (rank - value.kind.rank) + "]"
    return text
