"""Source text of writes into arrays: slices assigned, repeated places accumulated or written last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from looplift.emit import ragged_writes
from looplift.emit.spelling import ATOM, dtype_text
from looplift.emit.subscripts import backwards, piece_kind, piece_text, position_text, reordered
from looplift.emit.text import arranged, full
from looplift.ir.array import Axis, Node, Write

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def write_lines(p: Printer, step: Write) -> list[str]:
    """The statements that perform a write."""
    if step.mode == "set":
        return [_slices(p, step)]
    if step.mode in ("entries", "add_entries"):
        return [ragged_writes.write_text(p, step)]
    return _scatter(p, step)


def _slices(p: Printer, step: Write) -> str:
    value, array = step.operands[0], step.render.get("view", step.node)
    pieces = step.render["pieces"]
    items = [":"] * len(array.axes)
    turned: list[Axis] = []
    labels: list[Axis | None] = list(array.axes)
    for dim, piece in enumerate(pieces):
        kind = type(piece).__name__
        if kind == "Along" and piece.coefficient < 0:
            items.append(backwards(p, piece))
            turned.append(piece.axis)
        else:
            items.append(piece_text(p, array, dim, piece))
        if kind == "Along":
            labels.append(piece.axis)
        elif kind != "Point":
            labels.append(None)
    while items and items[-1] == ":":
        items.pop()
    target = f"{step.array}{_cut_into_blocks(p, array)}[{', '.join(items) or ':'}]"
    return f"{target} = {_ordered(p, value, labels, turned)}"


def _cut_into_blocks(p: Printer, view: Node) -> str:
    """A view in which dimensions are cut into blocks."""
    if view.op != "blocks":
        return ""
    array, *steps = view.args
    widths = dict(zip(view.attrs["dims"], (p.text(step).text for step in steps), strict=True))
    if p.library == "torch":
        return "".join(f".unflatten({dim}, (-1, {widths[dim]}))" for dim in sorted(widths, reverse=True))
    name = p.text(array).text
    parts = [f"{name}.shape[{k}] // {widths[k]}, {widths[k]}" if k in widths else f"{name}.shape[{k}]"
             for k in range(array.kind.rank)]  # fmt: skip
    return f".reshape({', '.join(parts)})"


def _ordered(p: Printer, value, labels: list[Axis | None], turned: list[Axis]) -> str:
    """The value with its dimensions in the order of the array's, ready to broadcast; ``turned`` axes run backwards."""
    if value.kind.is_number and not value.axes:
        return p.text(value).text
    flips = [value.axes.index(axis) for axis in turned if axis in value.axes]
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
    if flips:
        dims = ", ".join(map(str, flips))
        text = f"{text}.flip({dims})" if p.library == "torch" else f"np.flip({text}, ({dims},))"
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


UFUNCS = {"add": "np.add", "mul": "np.multiply", "max": "np.maximum", "min": "np.minimum", "maximum": "np.maximum",
          "minimum": "np.minimum"}  # fmt: skip
REDUCTIONS = {"mul": "prod", "max": "amax", "min": "amin", "maximum": "amax", "minimum": "amin"}


def _scatter(p: Printer, step: Write) -> list[str]:
    """Stores by index tensors into places that may repeat."""
    render = step.render
    value, places = step.operands[0], _places(p, step)
    source = _source(p, step)
    target = _target(p, step)
    joined = ", ".join(places) + ("," if len(places) == 1 else "")
    one_dimension = len(render["axes"]) < 2 and not render["rank"]
    varies = value.kind.is_array or bool(value.axes)
    if step.mode == "last" and (render["distinct"] or (p.library == "np" and (one_dimension or not varies))):
        if p.library == "torch" and (value.kind.is_array or value.axes):
            source = _in_dtype(p, value, source, render["dtype"])
        return [f"{target}[{', '.join(places)}] = {source}"]
    if p.library == "np" and step.mode == "last":
        p.need("put_last")
        return [f"put_last({target}, ({joined}), {source})"]
    if p.library == "np":
        p.need("at_places")
        return [f"at_places({UFUNCS[step.mode]}, {target}, ({joined}), {source})"]
    if step.mode == "last":
        p.need("write_last")
        return [f"write_last({target}, ({joined}), {source})"]
    source = _in_dtype(p, value, source, render["dtype"])
    if step.mode != "add":
        p.need("update_at")
        return [f'update_at({target}, ({joined}), {source}, "{REDUCTIONS[step.mode]}")']
    axes, rank = render["axes"], step.node.kind.rank - render["count"]
    whole = len(axes) == len(places) == 1 and value.axes == axes and value.kind.rank == rank and not render["masked"]
    if whole:
        return [f"{target}.index_add_(0, {places[0]}, {source})"]
    if len(places) > 1 and len(places) == step.node.rank and target == step.array and not p.device:
        p.need("add_at")
        return [f"add_at({target}, ({joined}), {source})"]
    return [f"{target}.index_put_(({joined}), {source}, accumulate=True)"]


def _in_dtype(p: Printer, value: Node, source: str, dtype) -> str:
    if value.kind.is_number and not value.axes:
        return f"torch.tensor({source}, dtype={dtype_text(dtype, 'torch')}{p.device_argument()})"
    if not value.kind.is_array or value.kind.dtype != dtype:
        return f"({source}).to({dtype_text(dtype, 'torch')})"
    return source


def _target(p: Printer, step: Write) -> str:
    """The array, or a view of it whose first dimensions are those that index tensors choose."""
    pieces, chosen, lead = step.render["pieces"], step.render["chosen"], len(step.node.axes)
    cuts = [piece_text(p, step.node, k, piece) if piece_kind(piece) == "Cut" else ":" for k, piece in enumerate(pieces)]
    text = step.array
    if any(cut != ":" for cut in cuts):
        text += f"[{', '.join([':'] * lead + cuts)}]"
    order = [*range(lead), *(lead + k for k in chosen), *(lead + k for k in range(len(pieces)) if k not in chosen)]
    return reordered(p, text, order)


def _places(p: Printer, step: Write) -> list[str]:
    """One index tensor for each dimension that lanes choose, those of the array's own axes first."""
    render = step.render
    axes, rank = render["axes"], render["rank"]
    indices = step.operands[1 : 1 + render["count"]]
    extra = f"[...{', None' * rank}]" if rank else ""
    places = [(full_position(p, axis, axes), extra) for axis in step.node.axes]
    for index in indices:
        text = full(p, index, axes) if index.axes or index.kind.rank else _constant_place(p, index, axes)
        places.append((text, "" if index.kind.rank else extra))
    if render["masked"]:
        name = _chosen_lanes(p, step)
        places = [(f"{text}[{name}]", extra) for text, extra in places]
    return [text + extra for text, extra in places]


def _chosen_lanes(p: Printer, step: Write) -> str:
    """The mask over all axes, under a name."""
    mask = step.operands[1 + step.render["count"]]
    if mask.op != "name":
        p.bind(mask)
    name = p.fresh("chosen")
    p.line(f"{name} = {full(p, mask, step.render['axes'])}")
    step.render["lanes"] = name
    return name


def full_position(p: Printer, axis: Axis, axes: tuple[Axis, ...]) -> str:
    """Positions 0, 1, ... on an axis, at the extents of all axes."""
    text = position_text(p, axis, axes, 0)
    shape = ", ".join(p.extent(other) for other in axes)
    if axes == (axis,):
        return text
    return f"{text}.expand({shape})" if p.library == "torch" else f"np.broadcast_to({text}, ({shape},))"


def _constant_place(p: Printer, index, axes) -> str:
    if not axes:
        place = p.text(index).text
        if p.library == "np":
            return f"np.asarray({place})"
        own = "" if index.op == "const" else ".clone()"  # autograd keeps it, and its array may change later
        return f"torch.as_tensor({place}){own}"
    extents = ", ".join(p.extent(axis) for axis in axes)
    return f"{p.library}.full(({extents},), {p.text(index).text})"


def _source(p: Printer, step: Write) -> str:
    """The stored values: one for each place, or broadcast against all."""
    render, value = step.render, step.operands[0]
    axes = render["axes"]
    if value.kind.is_number and not value.axes:
        return p.text(value).text
    rank = render["rank"] + len(render["pieces"]) - render["count"]
    if not render["masked"]:
        return arranged(p, value, axes, rank, 0)
    text = full(p, value, axes)
    if value.kind.rank < rank:
        text += "[..." + ", None" * (rank - value.kind.rank) + "]"
    return f"{text}[{render['lanes']}]"
