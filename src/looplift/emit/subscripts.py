"""Source text of slices, windows and gathers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from looplift.emit import integers
from looplift.emit.spelling import ATOM
from looplift.emit.text import Text, arranged, atom
from looplift.ir.array import Axis, Node, ancestors, merge_axes

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def is_whole(p: Printer, base: Node, dim: int, piece) -> bool:
    """Whether an axis walks a dimension from end to end."""
    extents = base.attrs.get("extents")
    known = extents[dim] if extents is not None else None
    if piece.base.op != "const" or piece.base.attrs["value"] != 0 or piece.coefficient != 1:
        return False
    if known is not None:
        return integers.sum_text(p, piece.axis.extent, known, -1) == "0"
    if base.op != "name" or base.axes:
        return False
    owner, place = base.attrs.get("equal", {}).get(dim, (base, dim))
    return piece.axis.extent.attrs.get("key") == f"{owner.attrs['text']}.shape[{place}]"


def piece_kind(piece) -> str:
    return type(piece).__name__


def dimension_of(pieces: list, position: int) -> int:
    """The dimension that a piece is about: new ones before it do not count."""
    return sum(piece_kind(piece) != "New" for piece in pieces[:position])


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
        hi = integers.sum_text(p, first, piece.axis.extent)
        return f"{'' if lo == '0' else lo}:{hi}"
    if piece.coefficient > 0:
        from looplift.emit.integers import terms_of

        terms, constant = terms_of(first)
        last = integers.sum_text(p, first, piece.axis.extent, size)
        return f"{'' if lo == '0' else lo}:{last} - {size - 1}:{size}" if terms or constant >= 0 else last
    raise AssertionError("a slice that walks backwards is turned round first")


def slice_text(p: Printer, node: Node) -> Text:
    """``x[lo:hi, ...]`` with the walked dimensions moved to the front, in the order of the axes."""
    base, pieces = node.args[0], node.attrs["pieces"]
    text = p.text(base).at(ATOM)
    items: list[str] = []
    flips: list[int] = []
    labels: list[Axis | int] = list(base.axes)
    windows: list[tuple[int, Any]] = []
    window_dims: list[int] = []
    lane = 0
    lead = [":"] * len(base.axes)
    for k, piece in enumerate(pieces):
        kind, dim = piece_kind(piece), dimension_of(pieces, k)
        if kind == "Along" and piece.coefficient < 0:
            items.append(backwards(p, piece))
            flips.append(len(labels))
        elif kind == "Window":
            items.append(_window_text(p, base, dim, piece))
            windows.append((len(labels), piece))
            window_dims.append(lane)
            lane += 1
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
    if items or "shown" in node.attrs:
        text = f"{text}[{', '.join(items) or '...'}]"
    if flips:
        dims = ", ".join(map(str, flips))
        text = f"{text}.flip({dims})" if p.library == "torch" else f"np.flip({text}, ({dims},))"
    if windows:
        return _windowed(p, node, text, [*labels, *window_dims], windows)
    return _permuted(p, text, labels, node)


def backwards(p: Printer, piece) -> str:
    """``base, base - c, ...`` read forwards from its other end; it is flipped afterwards."""
    size = abs(piece.coefficient)
    last = integers.sum_text(p, piece.base, piece.axis.extent, -size)
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


def _windowed(p: Printer, node: Node, text: str, labels: list, windows: list) -> Text:
    """Windows, each of which puts its own dimension last: ``unfold``, or ``sliding_window_view``."""
    if any(piece.coefficient < 1 for _, piece in windows):
        p.fail("ragged-shape", "windows that walk backwards")
    widths = [p.text(piece.width).text for _, piece in windows]
    places = [position for position, _ in windows]
    if p.library == "np":
        shape, axes = (f"({', '.join(part)},)" for part in (widths, map(str, places)))
        text = f"np.lib.stride_tricks.sliding_window_view({text}, {shape}, axis={axes})"
        steps = {place: f"::{piece.coefficient}" for place, piece in windows if piece.coefficient > 1}
        if steps:
            text += f"[{', '.join(steps.get(place, ':') for place in range(max(steps) + 1))}]"
    else:
        for place, width, (_, piece) in zip(places, widths, windows, strict=True):
            text += f".unfold({place}, {width}, {piece.coefficient})"
    return _permuted(p, text, labels, node)


def _window_text(p: Printer, base: Node, dim: int, piece) -> str:
    """All places that a window reaches."""
    last = [(piece.base, 1), (piece.axis.extent, piece.coefficient), (piece.width, 1)]
    lo, hi = p.text(piece.base).text, integers.combined_text(p, last, -piece.coefficient)
    extents = base.attrs.get("extents")
    known = extents[dim] if extents is not None else None
    whole = known is not None and integers.combined_text(p, [*last, (known, -1)], -piece.coefficient) == "0"
    if lo == "0" and (whole or hi == f"{p.text(base).text}.shape[{dim + len(base.axes)}]"):
        return ":"
    return f"{'' if lo == '0' else lo}:{hi}"


def stencil_text(p: Printer, node: Node) -> Text:
    """A dimension is read at steps of one axis, or in windows of which a second axis walks the places."""
    base, first, *rest = node.args
    walked, lead = node.attrs["walked"], len(base.axes)
    p.need(name := "windows" if p.library == "torch" else "windows_array")
    steps = [f"({p.text(count).text}, {p.text(step).text})" for count, step in zip(rest[::2], rest[1::2], strict=True)]
    dim = lead + node.attrs["dim"]
    text = f"{name}({p.text(base).text}, {dim}, {p.text(first).text}, {', '.join(steps)})"
    lanes = list(range(base.kind.rank - 1))
    labels: list[Axis | int] = [*base.axes, *lanes]
    labels.insert(dim, walked[0])
    return _permuted(p, text, [*labels, *walked[1:]], node)


def tiles_text(p: Printer, node: Node) -> Text:
    """Windows along a dimension, one for each position of an axis, which stands in the dimension's place."""
    base, *steps = node.args
    p.need(name := "tiles" if p.library == "torch" else "tiles_array")
    lead, rank = len(base.axes), base.kind.rank
    dim = lead + node.attrs["dim"]
    text = f"{name}({p.text(base).text}, {dim}, {', '.join(p.text(step).text for step in steps)})"
    lanes = list(range(rank))
    lanes.remove(node.attrs["dim"])
    labels: list[Axis | int] = [*base.axes, *lanes]
    labels.insert(dim, node.attrs["axis"])
    return _permuted(p, text, [*labels, node.attrs["dim"]], node)


def turned_text(p: Printer, node: Node) -> Text:
    """The positions of axes in their other order."""
    dims = ", ".join(str(node.axes.index(axis)) for axis in node.attrs["turned"])
    text = p.text(node.args[0]).at(ATOM)
    return atom(f"{text}.flip({dims})" if p.library == "torch" else f"np.flip({text}, ({dims},))")


def gather_text(p: Printer, node: Node) -> Text:
    """Advanced indexing: index tensors for the dimensions that lanes choose, slices for the others."""
    base, pieces, (first, rank) = node.args[0], node.attrs["pieces"], node.attrs["wide"]
    lead = len(base.axes)
    text = p.text(base).at(ATOM)
    points = [k for k, piece in enumerate(pieces) if piece_kind(piece) == "Point"]
    if p.library == "np" and points and (rank or _come_apart(base, node, pieces)):  # they would count as index arrays
        items = [p.text(q.at).text if piece_kind(q) == "Point" else ":" for q in pieces if piece_kind(q) != "New"]
        text = f"{text}[{', '.join([':'] * lead + items[: max(points) + 1])}]"
        pieces = [piece for k, piece in enumerate(pieces) if k not in points]
    axes = _index_axes(base, pieces)
    walked = [k for k, axis in enumerate(base.axes) if axis not in node.axes or axis in axes]
    kept = [k for k in range(lead) if k not in walked]
    chosen = [k for k, piece in enumerate(pieces) if piece_kind(piece) == "Gather"]
    labels: list[Axis | int] = [base.axes[k] for k in kept]
    items: list[str] = [":"] * len(kept)
    dims = {k: lead + dimension_of(pieces, k) for k in range(len(pieces))}
    several = len(walked) + len(chosen) > 1
    copies = bool(walked or axes or rank)  # one place that is told by tensors of one number is a view
    if (
        p.library == "torch"
        and not p.device
        and several
        and copies
        and base.rank == len(walked) + len(chosen) == lead + len(pieces)
    ):
        places = {base.axes[k]: k for k in walked}
        indices = {dims[k]: pieces[k].index for k in chosen}
        if (along := _taken_along(p, base, places, indices, axes, rank)) is not None:
            return _permuted(p, along, [*axes, *range(first, first + rank)], node)
    advanced = [position_text(p, base.axes[k], axes, rank) for k in walked]
    advanced += [_chosen(p, pieces[k].index, axes, rank) for k in chosen]
    before = [k for k in range(min(chosen, default=0)) if not walked and chosen == _run(chosen)]
    after = [k for k in range(len(pieces)) if k not in chosen and k not in before]
    order = [*kept, *(dims[k] for k in before if piece_kind(pieces[k]) != "New"), *walked, *(dims[k] for k in chosen)]
    order += [dims[k] for k in after if piece_kind(pieces[k]) != "New"]
    text = reordered(p, text, order)
    lanes = _lane_numbers(pieces, first, rank)
    for group in (before, after):
        if group is after:
            items += advanced
            labels += [*axes, *range(first, first + rank)]
        items += [piece_text(p, base, dims[k] - lead, pieces[k]) for k in group]
        labels += [pieces[k].axis if piece_kind(pieces[k]) == "Along" else lanes[k] for k in group if k in lanes
                   or piece_kind(pieces[k]) == "Along"]  # fmt: skip
    while items and items[-1] == ":":
        items.pop()
    taken = None
    if p.library == "torch" and not p.device and copies:  # elsewhere a negative index would end the process
        if node.serial in p.flat_places and len(advanced) == len(items):
            taken = f"taken_at({text}, {p.flat_places[node.serial]}, {', '.join(advanced)})"
            p.need("taken_at")
        elif len(advanced) == 1 and items[:-1] == [":"] * (len(items) - 1):
            taken = f"taken({text}, {len(items) - 1}, {items[-1]})"
            p.need("taken")
        elif (
            _is_much(p, axes) and len(advanced) > 1 and items[: -len(advanced)] == [":"] * (len(items) - len(advanced))
        ):
            taken = f"taken_together({text}, {len(items) - len(advanced)}, {', '.join(advanced)})"
            p.need("taken_together")
    return _permuted(p, taken or f"{text}[{', '.join(items)}]", labels, node)


def _is_much(p: Printer, axes: tuple[Axis, ...]) -> bool:
    """Whether a read at places may be faster by one index: of the entries of all lanes, or where gradients flow."""
    return p.gradients or any(axis.is_ragged for axis in axes)


def keep_places(p: Printer, nodes: list[Node], varying: set[int]) -> None:
    """Names for what is found once: where places stand that a loop does not change, in an array that it does."""
    for node in nodes:
        if node.op != "gather" or node.serial not in varying or p.library != "torch" or p.device:
            continue
        base, *places = node.args
        kinds = {piece_kind(piece) for piece in node.attrs["pieces"]}
        steady = kinds == {"Gather"} and len(places) == base.kind.rank > 1 and not base.axes
        if steady and base.serial in varying and not any(place.serial in varying for place in places):
            p.flat_places[node.serial] = p.fresh("places")
            p.line(f"{p.flat_places[node.serial]} = {{}}")


def _come_apart(base: Node, node: Node, pieces: list) -> bool:
    """Whether something stands between integers and index arrays, whose dimensions NumPy puts first then."""
    places = [k for k, piece in enumerate(pieces) if piece_kind(piece) in ("Point", "Gather")]
    index_axes = _index_axes(base, pieces)
    walks = any(axis not in node.axes or axis in index_axes for axis in base.axes)
    return walks or places != _run(places)


def _taken_along(
    p: Printer, base: Node, places: dict[Axis, int], indices: dict[int, Node], axes: tuple[Axis, ...], rank: int
) -> str | None:
    """Every dimension walks with an axis of its own but one, for which an index tensor has a place at each step."""
    rest: list[int] = []
    for dim, index in indices.items():
        axis = walks(index)
        if axis is None or axis in places:
            rest.append(dim)
        else:
            places[axis] = dim
    if len(rest) != 1 or set(places) != set(axes[: len(places)]) or indices[rest[0]].axes != axes:
        return None
    order = [places[axis] for axis in axes[: len(places)]] + rest
    p.need("taken_along")
    source = reordered(p, p.text(base).at(ATOM), order)
    return f"taken_along({source}, {_chosen(p, indices[rest[0]], axes, rank)})"


def walks(index: Node) -> Axis | None:
    """The axis whose positions 0, 1, ... an index is."""
    if index.op not in ("index", "along") or index.axes[0].is_ragged:
        return None
    (axis,) = index.axes
    first, step = (axis.lo, axis.step) if index.op == "index" else (index.args[0], index.attrs["coefficient"])
    return axis if step == 1 and first.op == "const" and first.attrs["value"] == 0 else None


def _run(numbers: list[int]) -> list[int]:
    """The neighbours from the first number on, as many as there are."""
    return list(range(numbers[0], numbers[0] + len(numbers))) if numbers else []


def _index_axes(base: Node, pieces: list) -> tuple[Axis, ...]:
    """The axes that index tensors walk: their own, and those of the base that these are about."""
    own = merge_axes(*(piece.index.axes for piece in pieces if piece_kind(piece) == "Gather"))
    family = {relative for axis in own for relative in (axis, *ancestors(axis))}
    met = [axis for axis in base.axes if axis in family or any(above in own for above in ancestors(axis))]
    return merge_axes(own, tuple(met))


def _lane_numbers(pieces: list, first: int, rank: int) -> dict[int, int]:
    """For each piece that keeps a dimension the place of that in one lane's result."""
    kept = [k for k, piece in enumerate(pieces) if piece_kind(piece) in ("Whole", "Cut", "New")]
    return {k: number + rank * (number >= first) for number, k in enumerate(kept)}


def reordered(p: Printer, text: str, order: list[int]) -> str:
    if order == list(range(len(order))):
        return text
    return f"{text}.{'permute' if p.library == 'torch' else 'transpose'}({', '.join(map(str, order))})"


def _chosen(p: Printer, index: Node, axes: tuple[Axis, ...], rank: int) -> str:
    """An index tensor with its axes in line, and with the dimensions that it has in one lane after them."""
    if index.kind.rank or not index.axes:
        return arranged(p, index, axes, rank, 0)
    text = arranged(p, index, axes, 0, ATOM if rank else 0)
    return f"{text}[...{', None' * rank}]" if rank else text


def position_text(p: Printer, axis: Axis, axes: tuple[Axis, ...], rank: int) -> str:
    """Positions 0, 1, ... on an axis, aligned with the axes of an index and the dimensions of one lane's."""
    if axis not in axes:
        child = next(other for other in axes if axis in ancestors(other))
        entries = p.entries(child, axis)
        return f"{entries}[...{', None' * rank}]" if rank else entries
    items = ["None" if other is not axis else ":" for other in axes] + ["None"] * rank
    while items and items[0] == "None":
        items.pop(0)
    text = p.positions(axis)
    return text if items == [":"] else f"{text}[{', '.join(items)}]"


RENDERERS: dict[str, Callable[[Printer, Node], Text]] = {
    "slice": slice_text, "stencil": stencil_text, "tiles": tiles_text, "turned": turned_text, "gather": gather_text,
}  # fmt: skip
