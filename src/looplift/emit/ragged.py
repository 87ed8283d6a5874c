"""Source text of ragged axes: the lane of each entry, its place in that lane, and folds of each lane's entries.

lengths         2 0 3
i_of_k          0 0 2 2 2         torch.repeat_interleave(torch.arange(3), lengths)
position        0 1 0 1 2         torch.arange(5) - (lengths.cumsum(0) - lengths)[i_of_k]
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from looplift.emit.spelling import ATOM, SUM, UNARY, literal
from looplift.emit.subscripts import piece_text, position_text, walks
from looplift.emit.text import Text, arranged, atom, full
from looplift.ir.array import Axis, Node, ancestors

if TYPE_CHECKING:
    from looplift.emit.source import Printer


_LENGTHS = "lengths"

# ---------------------------------------------------------------- entries


def entries_text(p: Printer, axis: Axis, ancestor: Axis) -> str:
    """For each entry of a ragged axis the position of its lane on an outer axis, under a name."""
    key = (axis, ancestor)
    if key not in p.entry_names:
        if ancestor in axis.parents:
            _bind_entries(p, axis)
        else:
            parent = next(parent for parent in axis.parents if ancestor in ancestors(parent))
            name = p.fresh(f"{ancestor.name}_of_{axis.name}")
            p.line(f"{name} = {entries_text(p, parent, ancestor)}[{entries_text(p, axis, parent)}]")
            p.entry_names[key] = name
    return p.entry_names[key]


def owners_text(p: Printer, axis: Axis) -> str:
    """For each entry of a ragged axis its lane, counted over all parents together, under a name."""
    if len(axis.parents) == 1:
        return entries_text(p, axis, axis.parents[0])
    if (axis, None) not in p.entry_names:
        _bind_entries(p, axis)
    return p.entry_names[axis, None]


def _bind_entries(p: Printer, axis: Axis) -> None:
    if axis.members is not None:
        return _bind_members(p, axis)
    assert axis.lengths is not None
    names = [p.fresh(f"{parent.name}_of_{axis.name}") for parent in axis.parents]
    single = len(names) == 1
    owner = names[0] if single else p.fresh(f"lane_of_{axis.name}")
    lanes = _count_of(p, axis.parents)
    arange = f"{p.library}.arange({lanes}{p.device_argument()})"
    repeat = "torch.repeat_interleave" if p.library == "torch" else "np.repeat"
    p.line(f"{owner} = {repeat}({arange}, {lengths_text(p, axis)})")
    if not single:
        extents = ", ".join(p.extent(parent) for parent in axis.parents)
        p.line(f"{', '.join(names)} = {p.library}.unravel_index({owner}, ({extents}))")
        p.entry_names[axis, None] = owner
    for parent, name in zip(axis.parents, names, strict=True):
        p.entry_names[axis, parent] = name


def _count_of(p: Printer, axes: tuple[Axis, ...]) -> str:
    """How many lanes some axes have together."""
    if len(axes) == 1:
        return p.extent(axes[0])
    return " * ".join(p.text(axis.extent).at(UNARY) for axis in axes)


def _bind_members(p: Printer, axis: Axis) -> None:
    """The entries are where a mask holds."""
    assert axis.members is not None
    names = [p.fresh(f"{parent.name}_of_{axis.name}") for parent in axis.parents]
    place = p.fresh(axis.name)
    if axis.members.op == "label_members":
        p.need("label_members")
        operands = ", ".join(p.text(arg).text for arg in axis.members.args)
        p.line(f"{', '.join([*names, place])} = label_members({operands})")
        p.entry_names[axis, axis.parents[0]], p.entry_names[axis, axis] = names[0], place
        return
    mask = full(p, axis.members, axis.parents)
    listed = f"torch.nonzero({mask}, as_tuple=True)" if p.library == "torch" else f"np.nonzero({mask})"
    p.line(f"{', '.join([*names, place])} = {listed}")
    for parent, name in zip(axis.parents, names, strict=True):
        p.entry_names[axis, parent] = name
    p.entry_names[axis, axis] = place
    if len(names) > 1:
        owner = p.fresh(f"lane_of_{axis.name}")
        terms = names[0]
        for parent, name in zip(axis.parents[1:], names[1:], strict=True):
            extent = p.text(parent.extent).at(UNARY)
            terms = f"({terms}) * {extent} + {name}" if " " in terms else f"{terms} * {extent} + {name}"
        p.line(f"{owner} = {terms}")
        p.entry_names[axis, None] = owner


def lengths_text(p: Printer, axis: Axis) -> str:
    """How many entries each lane has, one number for each of the parents' lanes."""
    assert axis.lengths is not None
    if (key := (axis, _LENGTHS)) not in p.entry_names:
        text = full(p, axis.lengths, axis.parents)
        if len(axis.parents) > 1:
            text = f"{text}.reshape(-1)"
        if not text.isidentifier():
            name = p.fresh("lengths")
            p.line(f"{name} = {text}")
            text = name
            if len(axis.parents) == 1 and axis.lengths.axes == axis.parents:
                p.remember(axis.lengths.serial, name)
        p.entry_names[key] = text
    return p.entry_names[key]


def member_text(p: Printer, node: Node) -> Text:
    """Where in its lane's mask an entry stands."""
    (axis,) = node.axes
    owners_text(p, axis)
    return atom(p.entry_names[axis, axis])


def first_held_text(p: Printer, node: Node) -> Text:
    """Where in its lane's mask the first entry stands."""
    helper = "first_held" if p.library == "torch" else "first_held_array"
    p.need(helper)
    return atom(f"{helper}({p.text(node.args[0]).text})")


def positions_text(p: Printer, axis: Axis) -> Text:
    """The position of each entry in its lane: 0, 1, ..."""
    owners, lengths = owners_text(p, axis), lengths_text(p, axis)
    arange = f"{p.library}.arange({p.extent(axis)}{p.device_argument()})"
    return Text(f"{arange} - ({lengths}.cumsum(0) - {lengths})[{owners}]", SUM)


def first_text(p: Printer, node: Node) -> Text:
    """The first entry of each lane in the flat order."""
    axis: Axis = node.attrs["axis"]
    lengths = lengths_text(p, axis)
    text = Text(f"{lengths}.cumsum(0) - {lengths}", SUM)
    if len(axis.parents) == 1:
        return text
    return atom(_unflattened(p, text.at(ATOM), 0, axis.parents))


def entry_text(p: Printer, node: Node) -> Text:
    """``value`` at entries of its ragged axis that are counted in the flat order."""
    value, index = node.args
    if value.axes.index(node.attrs["axis"]):
        p.fail("ragged-shape", "an item of a ragged value between other loops")
    if p.library == "torch" and value.rank == 1 and len(index.axes) > 1 and not p.gradients:
        return atom(f"{_with_spare(p, node, 0)}.take({p.text(index).text})")
    return atom(_entries_at(p, node, 0))


def entry_across_text(p: Printer, node: Node) -> Text:
    """The same for all lanes of other axes."""
    value, index = node.args
    position = value.axes.index(node.attrs["axis"])
    found = [*value.axes[:position], *index.axes, *value.axes[position + 1 :]]
    order = [found.index(axis) for axis in node.axes]
    return atom(in_order(p, _entries_at(p, node, position), [*order, *range(len(order), node.rank)]))


def _with_spare(p: Printer, node: Node, position: int) -> str:
    text = p.text(node.args[0])
    if not node.attrs["spare"]:
        return text.at(ATOM)
    p.need(name := "with_spare" if p.library == "torch" else "with_spare_array")
    return f"{name}({text.text}{f', {position}' if position else ''})"


def _entries_at(p: Printer, node: Node, position: int) -> str:
    text, index = _with_spare(p, node, position), node.args[1]
    if p.library == "torch" and not p.device and index.axes:
        p.need("taken")
        return f"taken({text}, {position}, {p.text(index).text})"
    return f"{text}[{':, ' * position}{p.text(index).text}]"


def times_text(p: Printer, node: Node) -> Text:
    """How often the integer of an entry is in its lane, where it stands first."""
    p.need("times_of_each")
    (axis,) = node.axes
    return atom(f"times_of_each({owners_text(p, axis)}, {p.text(node.args[0]).text})")


def kept_text(p: Printer, node: Node) -> Text:
    """What stands where an item is there for the first time."""
    values, times = (p.text(arg).at(ATOM) for arg in node.args)
    return atom(f"{values}[{times} > 0]")


def relabel_text(p: Printer, node: Node) -> Text:
    """The same entries as those of another axis of equal lengths."""
    return p.text(node.args[0])


# ---------------------------------------------------------------- folds


def segment_text(p: Printer, node: Node) -> Text:
    """A fold of each lane's entries."""
    value, outer = node.args[0], node.attrs.get("outer", node.attrs["axis"])
    position = value.axes.index(node.attrs["axis"])
    make = _torch_segments if p.library == "torch" else _array_segments
    if p.library == "np" and len(outer.parents) > 1 and value.rank > 1 and value.op != "name":
        p.bind(value)
    text = make(p, node, position)
    if len(outer.parents) > 1:
        text = _unflattened(p, text, position, outer.parents, value)
    axes = [*value.axes[:position], *outer.parents, *value.axes[position + 1 :]]
    return atom(_ordered(p, text, axes, node))


def _lanes_of(p: Printer, node: Node) -> tuple[str, str]:
    """For each entry its lane; how many lanes there are."""
    axis, outer = node.attrs["axis"], node.attrs.get("outer", node.attrs["axis"])
    lanes = _count_of(p, outer.parents)
    if axis is outer:
        return owners_text(p, axis), lanes
    if len(outer.parents) == 1:
        return entries_text(p, axis, outer.parents[0]), lanes
    return f"{owners_text(p, outer)}[{entries_text(p, axis, outer)}]", lanes


def _counts_of(p: Printer, node: Node) -> str:
    """How many entries each lane has."""
    if len(node.args) == 1:
        return lengths_text(p, node.attrs["axis"])
    text = p.text(node.args[1])
    return text.text if len(node.args[1].axes) == 1 else f"{text.at(ATOM)}.reshape(-1)"


def _unflattened(p: Printer, text: str, position: int, axes: tuple[Axis, ...], value: Node | None = None) -> str:
    """Dimensions of the lanes instead of the one at ``position``; ``value``: what may have more of them."""
    extents = ", ".join(p.extent(axis) for axis in axes)
    if p.library == "torch":
        return f"{text}.unflatten({position}, ({extents}))"
    if position:
        p.fail("ragged-shape", "a ragged loop between others")
    rest = "" if value is None else "".join(f", {p.text(value).at(ATOM)}.shape[{k}]" for k in range(1, value.rank))
    return f"{text}.reshape({extents}{rest})"


def _ordered(p: Printer, text: str, axes: list[Axis], node: Node) -> str:
    """Dimensions in the canonical order of the node's axes."""
    order = [axes.index(axis) for axis in node.axes] + [len(axes) + k for k in range(node.kind.rank)]
    return in_order(p, text, order)


def _torch_segments(p: Printer, node: Node, position: int) -> str:
    value, operator = node.args[0], node.attrs["operator"]
    text = p.text(value).text if value.op == "name" else p.bind(value)
    if operator == "add":
        owners, lanes = _lanes_of(p, node)
        shape = [f"{text}.shape[{k}]" for k in range(value.rank)]
        shape[position] = lanes
        if p.dtype(value.kind).is_complex:  # index_add multiplies by 1, which makes NaN of infinite numbers
            real = f"torch.view_as_real({text}.new_zeros({', '.join(shape)}))"
            added = f"{real}.index_add({position}, {owners}, torch.view_as_real({text}.resolve_conj()))"
            return f"torch.view_as_complex({added})"
        return f"{text}.new_zeros({', '.join(shape)}).index_add({position}, {owners}, {text})"
    if position and node.attrs.get("strict"):
        p.fail("ragged-shape", f"'{operator}' over a ragged loop between others")
    text = f"{text}.movedim({position}, 0)" if position else text
    name = {"mul": "prod", "max": "max", "min": "min"}[operator]
    if p.dtype(value.kind).is_floating_point and not node.attrs["gradients"]:
        data = f"{text}.contiguous()" if position else text
        p.need("fold_of_each")
        found = f'fold_of_each({data}, "{name}", {_counts_of(p, node)}, {p.extent(node.attrs["axis"])})'
    else:
        found = _scattered_segments(p, node, text)
    return f"{found}.movedim(0, {position})" if position else found


def _scattered_segments(p: Printer, node: Node, text: str) -> str:
    """For integers, and for gradients: those of ``segment_reduce`` are not shared reliably by equal values."""
    value, operator = node.args[0], node.attrs["operator"]
    empty = {"mul": 1, "max": _least(p.dtype(value.kind)), "min": _greatest(p.dtype(value.kind))}[operator]
    name = {"mul": "prod", "max": "amax", "min": "amin"}[operator]
    owners, lanes = _lanes_of(p, node)
    if node.attrs.get("strict"):
        p.need("segment_extreme")
        return f'segment_extreme({text}, "{name}", {owners}, {lanes})'
    is_float = p.dtype(value.kind).is_floating_point
    if operator == "mul" and is_float:
        for helper in ("comes_finite", "unless_finite", "products_of_others", "segment_product"):
            p.need(helper)
        return f"segment_product({text}, {owners}, {lanes}{', at_once=True' if node.attrs.get('all') else ''})"
    rest = "".join(f", {text}.shape[{k}]" for k in range(1, value.rank))
    if value.rank > 1:
        owners = f"{owners}[:{', None' * (value.rank - 1)}].expand_as({text})"
    shape = f"({lanes},)" if not rest else f"({lanes}{rest})"
    alone = ""
    if operator != "mul" and node.attrs["gradients"] and node.attrs.get("has_entries") and is_float:
        empty, alone = math.nan, ", include_self=False"  # what no value is equal to has no share of the gradient
    return f'{text}.new_full({shape}, {literal(empty, "torch")}).scatter_reduce(0, {owners}, {text}, "{name}"{alone})'


def _least(dtype) -> float:
    import torch

    return float("-inf") if dtype.is_floating_point else torch.iinfo(dtype).min


def _greatest(dtype) -> float:
    import torch

    return float("inf") if dtype.is_floating_point else torch.iinfo(dtype).max


def _array_segments(p: Printer, node: Node, position: int) -> str:
    p.need("segment_reduce")
    name = {"add": "add", "mul": "multiply", "max": "maximum", "min": "minimum"}[node.attrs["operator"]]
    empty = _empty(p, node)
    values = p.text(node.args[0]).text
    values = f"np.moveaxis({values}, {position}, 0)" if position else values
    found = f"segment_reduce(np.{name}, {values}, {_counts_of(p, node)}, {empty})"
    return f"np.moveaxis({found}, 0, {position})" if position else found


def _empty(p: Printer, node: Node) -> str:
    """What is folded of no entries."""
    import numpy as np

    operator, dtype = node.attrs["operator"], np.dtype(str(p.dtype(node.args[0].kind)).replace("torch.", ""))
    if operator in ("add", "mul"):
        return "0" if operator == "add" else "1"
    if dtype.kind == "f":
        return "-np.inf" if operator == "max" else "np.inf"
    limits = np.iinfo(dtype)
    return str(limits.min if operator == "max" else limits.max)


# ---------------------------------------------------------------- between ragged and dense


def flattened_text(p: Printer, node: Node) -> Text:
    """The entries of all lanes, one after the other, as a dimension of its own."""
    value, dim = node.args[0], node.attrs["dim"]
    text = p.text(value)
    if len(node.args) > 1:
        text = atom(f"{text.at(ATOM)}[{full(p, node.args[1], value.axes)}]")
    elif p.uses.get(value.serial, 0) > 1:
        text = _copied(p, text)
    return atom(in_order(p, text.at(ATOM), [*range(1, dim + 1), 0, *range(dim + 1, value.rank)]))


def _copied(p: Printer, text: Text) -> Text:
    """A copy, where something else holds the same memory."""
    return atom(f"{text.at(ATOM)}.{'clone' if p.library == 'torch' else 'copy'}()")


def split_text(p: Printer, node: Node) -> Text:
    """The entries of each lane as a list's item."""
    lengths = lengths_text(p, node.attrs["axis"])
    text = p.text(node.args[0])
    if p.library == "torch":
        item = "piece.tolist()" if node.attrs["as_lists"] else "piece.clone()"
        return atom(f"[{item} for piece in {text.at(ATOM)}.split({lengths}.tolist())]")
    item = "piece.tolist()" if node.attrs["as_lists"] else "piece.copy()"
    return atom(f"[{item} for piece in np.split({text.text}, {lengths}.cumsum()[:-1])]")


def dense_text(p: Printer, node: Node) -> Text:
    """Entries of lanes that all have the same number of them, as a dimension of the lane's value."""
    value, extent = node.args
    axis: Axis = node.attrs["axis"]
    position = value.axes.index(axis)
    extents = ", ".join([*(p.extent(parent) for parent in axis.parents), p.text(extent).text])
    text = p.text(value).at(ATOM)
    if p.library == "torch":
        text = f"{text}.unflatten({position}, ({extents}))"
    else:
        text = f"{text}.reshape({text}.shape[:{position}] + ({extents}) + {text}.shape[{position + 1}:])"
    if p.uses.get(value.serial, 0) > 1:
        text = _copied(p, atom(text)).text
    made = [*value.axes[:position], *axis.parents, None, *value.axes[position + 1 :]]
    first, dim = len(made), node.attrs["dim"]
    lanes = [made.index(one) for one in node.axes]
    rest = [*range(first, first + dim), made.index(None), *range(first + dim, node.rank)]
    return atom(in_order(p, text, [*lanes, *rest]))


def item_lengths_text(p: Printer, node: Node) -> Text:
    """How long each item of a list is."""
    maker = "torch.tensor" if p.library == "torch" else "np.array"
    items = p.text(node.args[0]).text
    return atom(f"{maker}([item.shape[{node.attrs['dim']}] for item in {items}]{p.device_argument()})")


def items_text(p: Printer, node: Node) -> Text:
    """The items of a list put together along the dimension in which they differ, which comes first."""
    dim, *inner = node.attrs["dims"]
    if inner:
        return _rows_text(p, node)
    name = "same_dtype_cat" if p.library == "torch" else "same_dtype_concatenation"
    p.need(name)
    text = f"{name}({p.text(node.args[0]).text}, {dim}{_asking(node)})"
    return atom(in_order(p, text, [dim, *range(dim), *range(dim + 1, node.rank)]))


def _rows_text(p: Printer, node: Node) -> Text:
    """The elements of matrices, row by row."""
    name, flat = ("same_dtype_cat", "flatten") if p.library == "torch" else ("same_dtype_concatenation", "ravel")
    p.need(name)
    return atom(f"{name}([item.{flat}() for item in {p.text(node.args[0]).text}], 0{_asking(node)})")


def _asking(node: Node) -> str:
    """The argument that says that gradients may flow to the items of a list."""
    return ", asking=True" if "apart" in node.attrs else ""


def label_counts_text(p: Printer, node: Node) -> Text:
    """How many labels are each of the numbers from a first one on."""
    p.need("label_bins")
    p.need("label_counts")
    return atom(f"label_counts({', '.join(p.text(arg).text for arg in node.args)})")


def key_place_text(p: Printer, node: Node) -> Text:
    """Where each number stands among the keys of a dict."""
    p.need("key_places")
    return atom(f"key_places({', '.join(p.text(arg).text for arg in node.args)})")


def bound_text(p: Printer, node: Node) -> Text:
    """A bound of a slice as Python takes it: counted from the end if negative, and cut to the extent."""
    bound, extent = node.args
    if not node.axes:
        return _single_bound(p, bound, extent, node.attrs["positive"])
    if not node.attrs["positive"] and not p.text(bound).text.isidentifier():
        p.bind(bound)
    text, size = (arranged(p, part, node.axes, 0, SUM) for part in (bound, extent))
    if not node.attrs["positive"]:
        text = f"{p.library}.where({text} < 0, {text} + {size}, {text})"
    limit = f"0, {size}" if not extent.axes else "0"
    text = text if text.endswith(")") and not node.attrs["positive"] else arranged(p, bound, node.axes, 0)
    clamped = f"{text}.{'clamp' if p.library == 'torch' else 'clip'}({limit})"
    return atom(clamped if not extent.axes else f"{p.library}.minimum({clamped}, {size})")


def _single_bound(p: Printer, bound: Node, extent: Node, positive: bool) -> Text:
    """A bound that no axis changes, as a Python integer."""
    text, size = p.text(bound).at(SUM), p.text(extent).at(SUM)
    if positive:
        return atom(f"min({text}, {size})")
    return atom(f"range({size})[{text}:].start")


def arange_text(p: Printer, node: Node) -> Text:
    return atom(f"{p.library}.arange({p.text(node.args[0]).text}{p.device_argument()})")


def _windows_along(p: Printer, base: Node, steps: Any, node: Node) -> Text:
    """A window of one width in each row; what says where each begins is read before its places are made."""
    p.need("taken_along")
    index = steps.index
    if index.serial not in p.names and index.op == "elementwise" and index.args[1].op == "arange":
        first = index.args[0]
        if first.axes == node.axes:
            p.need("windows_along")
            return atom(f"windows_along({p.text(base).text}, {p.text(first).text}, {p.text(steps.width).text})")
    return atom(f"taken_along({p.text(base).text}, {arranged(p, index, node.axes, 1)})")


def windows_text(p: Printer, node: Node) -> Text:
    """Advanced indexing in which each window is a dimension of the value."""
    base, pieces = node.args[0], node.attrs["pieces"]
    kinds = [type(piece).__name__ for piece in pieces]
    chosen = [k for k, kind in enumerate(kinds) if kind in ("Gather", "Steps")]
    rest = [k for k in range(len(pieces)) if k not in chosen]
    lead = len(base.axes)
    if p.library == "torch" and not p.device and kinds == ["Steps"] and _same_lanes(base, pieces[0].index, node):
        return _windows_along(p, base, pieces[0], node)
    if p.library == "torch" and not p.device and (indices := _lane_windows(base, node)) is not None:
        return _blocks_along(p, base, indices, node)
    text = in_order(p, p.text(base).at(ATOM), [*range(lead), *(lead + k for k in chosen), *(lead + k for k in rest)])
    wide = [k for k in chosen if kinds[k] == "Steps"]
    items = [position_text(p, axis, node.axes, len(wide)) for axis in base.axes]
    for k in chosen:
        if kinds[k] == "Steps":
            items.append(_steps_text(p, pieces[k].index, node, wide.index(k), len(wide)))
        else:
            index = arranged(p, pieces[k].index, node.axes, 0)
            items.append(f"{index}[...{', None' * len(wide)}]" if pieces[k].index.axes else index)
    items += [piece_text(p, base, k, pieces[k]) for k in rest]
    while items and items[-1] == ":":
        items.pop()
    made = f"{text}[{', '.join(items)}]"
    lanes = [*wide, *(k for k in rest if kinds[k] != "Point")]
    first = len(node.axes)
    return atom(in_order(p, made, [*range(first), *(first + lanes.index(k) for k in sorted(lanes))]))


def _steps_text(p: Printer, index: Node, node: Node, place: int, count: int) -> str:
    """The places of a window, one of several, in a dimension of their own."""
    text, after = arranged(p, index, node.axes, place + 1), count - 1 - place
    return f"{text}[...{', None' * after}]" if after else text


def _lane_windows(base: Node, node: Node) -> list[Node] | None:
    """The places of windows in the last dimensions of what is each lane's own, if that is what lanes read."""
    pieces = node.attrs["pieces"]
    kinds = [type(piece).__name__ for piece in pieces]
    own, wide = kinds.count("Gather"), kinds.count("Steps")
    if kinds != ["Gather"] * own + ["Whole"] * (len(kinds) - own - wide) + ["Steps"] * wide:
        return None
    indices = [piece.index for piece in pieces[len(pieces) - wide :]]
    walked = [*base.axes, *(walks(piece.index) for piece in pieces[:own])]
    met = {axis for index in indices for axis in index.axes}
    return indices if node.axes and walked == list(node.axes) and met == set(node.axes) else None


def _blocks_along(p: Printer, base: Node, indices: list[Node], node: Node) -> Text:
    p.need("taken_along")
    p.need("blocks_along")
    places = [_steps_text(p, index, node, k, len(indices)) for k, index in enumerate(indices)]
    return atom(f"blocks_along({p.text(base).text}, {len(node.axes)}, {', '.join(places)})")


def _same_lanes(base: Node, index: Node, node: Node) -> bool:
    """Whether each lane reads a row of its own."""
    return bool(node.axes) and base.axes == index.axes == node.axes


def in_order(p: Printer, text: str, order: list[int]) -> str:
    if order == list(range(len(order))):
        return text
    numbers = ", ".join(map(str, order))
    return f"{text}.permute({numbers})" if p.library == "torch" else f"{text}.transpose({numbers})"


def trailing_text(p: Printer, node: Node) -> Text:
    """A vector along a dimension that others follow."""
    return atom(f"{p.text(node.args[0]).at(ATOM)}[...{', None' * node.attrs['count']}]")


RENDERERS = {
    "first_held": first_held_text,
    "member": member_text, "first": first_text, "entry": entry_text, "entry_across": entry_across_text,
    "relabel": relabel_text, "segment": segment_text,
    "flattened": flattened_text, "split": split_text, "label_counts": label_counts_text, "items": items_text,
    "item_lengths": item_lengths_text, "dense": dense_text, "bound": bound_text, "arange": arange_text,
    "kept": kept_text, "times": times_text, "windows": windows_text, "trailing": trailing_text,
    "key_place": key_place_text,
}  # fmt: skip
