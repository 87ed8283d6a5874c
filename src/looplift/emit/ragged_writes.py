"""Source text of writes at the entries of a ragged axis, and of what must hold for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from looplift.emit.ragged import in_order
from looplift.emit.spelling import ATOM, dtype_text
from looplift.emit.subscripts import position_text
from looplift.emit.text import Text, arranged, atom, full
from looplift.ir.array import Axis, Node, Write, merge_axes

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def write_text(p: Printer, step: Write) -> str:
    """``array[places] = value`` at the entries of a ragged axis."""
    value, array, pieces = step.operands[0], step.node, step.render["pieces"]
    axis: Axis = step.render["axis"]
    kinds = [type(piece).__name__ for piece in pieces]
    lead, free = len(array.axes), step.render["free"]
    walked = {pieces[k].axis: k for k, kind in enumerate(kinds) if kind == "Along"}
    places = [position_text(p, outer, (axis,), 0) for outer in array.axes]
    chosen = [k for k, kind in enumerate(kinds) if kind not in ("Whole", "Along")]
    places += [_place_text(p, pieces[k], axis) for k in chosen]
    rest = [k for k, kind in enumerate(kinds) if kind == "Whole"]
    axes = merge_axes((axis,), free)
    order, index = [], []
    for one in axes:  # places stand together, so that their dimension is where they are
        order += [*range(lead), *(lead + k for k in chosen)] if one is axis else [lead + walked[one]]
        index += places if one is axis else [_steps(p, pieces[walked[one]])]
    target = in_order(p, step.array, [*order, *(lead + k for k in rest)])
    source = p.text(value).text if value.kind.is_number and not value.axes else arranged(p, value, axes, len(rest), 0)
    joined = ", ".join(index)
    if step.mode == "add_entries":
        return _added(p, step, target, places, source)
    one = value.kind.is_number and not value.axes  # the same whoever writes it last
    if p.library == "np" or step.render["distinct"] or one:
        return f"{target}[{joined}] = {source}"
    p.need("write_last")
    return f"write_last({target}, ({joined}{',' if len(places) == 1 else ''}), {source})"


def _steps(p: Printer, piece) -> str:
    """The slice along which an axis walks by steps of one."""
    first, extent = piece.base.attrs["value"], p.text(piece.axis.extent).at(ATOM)
    return f"{first}:{first} + {extent}" if first else f":{extent}"


def _place_text(p: Printer, piece, axis: Axis) -> str:
    index = piece.at if type(piece).__name__ == "Point" else piece.index
    return p.text(index).text if not index.axes else full(p, index, (axis,))


def _added(p: Printer, step: Write, target: str, places: list[str], source: str) -> str:
    value = step.operands[0]
    if p.library == "np":
        p.need("at_places")
        return f"at_places(np.add, {target}, ({', '.join(places)},), {source})"
    if value.kind.is_number and not value.axes:
        source = f"torch.tensor({source}, dtype={dtype_text(step.render['dtype'], 'torch')}{p.device_argument()})"
    elif len(places) == 1 and value.axes and value.kind.rank == step.node.kind.rank - 1:
        return f"{target}.index_add_(0, {places[0]}, {source})"
    return f"{target}.index_put_(({', '.join(places)},), {source}, accumulate=True)"


def segments_apart_text(p: Printer, node: Node) -> Text:
    p.need("segments_apart")
    return atom(f"segments_apart({p.text(node.args[0]).text}, {p.text(node.args[1]).text})")


def places_apart_text(p: Printer, node: Node) -> Text:
    p.need("places_apart")
    array, *indices = node.args
    axes = node.attrs["axes"]
    texts = [p.text(index).text if not index.axes else full(p, index, axes) for index in indices]
    sizes = [f"{p.text(array).at(ATOM)}.shape[{len(array.axes) + dim}]" for dim in node.attrs["dims"]]
    return atom(f"places_apart(({', '.join(texts)},), ({', '.join(sizes)},))")


RENDERERS = {"segments_apart": segments_apart_text, "places_apart": places_apart_text}
