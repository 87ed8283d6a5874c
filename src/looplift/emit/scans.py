"""Source text of values that run along a loop: histories, shifts, running sums, the last one taken, recurrences."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from looplift.emit.spelling import ATOM, SUM, dtype_text
from looplift.emit.text import Text, arranged, as_number, atom, full
from looplift.ir.array import Axis, Node
from looplift.ir.facts import Kind

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def _empty_list(p: Printer, node: Node) -> Text:
    return atom("[]")


def _unbound(p: Printer, node: Node) -> Text:
    """What stands for an array of which nothing is known yet, where all lanes are about to get one."""
    dtype = dtype_text(p.dtype(node.kind), p.library)
    return atom(f"{p.library}.zeros((), dtype={dtype}{p.device_argument() if p.library == 'torch' else ''})")


def _at(p: Printer, node: Node) -> Text:
    """One position along an axis; a Python number where no other axis is left."""
    value, place = node.args
    lead = ":, " * value.axes.index(node.attrs["axis"])
    text = f"{p.text(value).at(ATOM)}[{lead}{p.text(place).text}]"
    return atom(f"{text}.item()" if node.kind.is_number and not node.axes else text)


def _pieces(p: Printer, node: Node) -> Text:
    """Arrays that loops over pieces left behind, joined; or the one that they were put into."""
    if node.args[0].kind.is_array:
        return p.text(node.args[0])
    join = "torch.cat" if p.library == "torch" else "np.concatenate"
    return atom(f"{join}({p.text(node.args[0]).text})")


def _put(p: Printer, node: Node) -> Text:
    p.need("put_piece")
    return atom(f"put_piece({', '.join(p.text(arg).text for arg in node.args)})")


def _history(p: Printer, node: Node) -> Text:
    (listed,) = node.args
    name, dim = p.text(listed).text, node.axes.index(node.attrs["axis"])
    if node.kind.family == "int" and len(node.axes) == 1:  # of which some may have more than 64 bits
        p.need(helper := "number_vector" if p.library == "torch" else "number_array")
        return atom(p.on_device(f"{helper}({name}, int)"))
    if node.kind.is_number and len(node.axes) == 1:
        maker = f"{p.library}.{'tensor' if p.library == 'torch' else 'array'}"
        device = p.device_argument() if p.library == "torch" else ""
        return atom(f"{maker}({name}, dtype={dtype_text(p.dtype(node.kind), p.library)}{device})")
    if p.library == "np":
        return atom(f"np.stack({name}{f', axis={dim}' if dim else ''})")
    return atom(f"torch.stack({name}{f', {dim}' if dim else ''})")


def _asking(p: Printer, node: Node) -> Text:
    """Which tensors of a list ask for a gradient."""
    return atom(f"torch.tensor([one.requires_grad for one in {p.text(node.args[0]).text}]{p.device_argument()})")


def _whole(p: Printer, node: Node, axes: tuple[Axis, ...], kind: Kind) -> str:
    """The node with all of the axes, and the lane dimensions of ``kind``."""
    if axes:
        text = full(p, node, axes, kind)
    elif node.kind.is_number:
        text = _scalar(p, node, kind)
    else:
        text = p.text(node).text
    rank = node.kind.rank if node.kind.is_array else 0
    if rank >= kind.rank or not (axes or node.kind.is_array):
        return text
    missing = ", ".join(["None"] * (kind.rank - rank))
    return f"{text}[{':, ' * len(axes) if rank else '..., '}{missing}]"


def _scalar(p: Printer, node: Node, kind: Kind) -> str:
    dtype = dtype_text(p.dtype(kind), p.library)
    if p.library == "np":
        return f"np.array({p.text(node).text}, dtype={dtype})"
    return f"torch.tensor({p.text(node).text}, dtype={dtype}{p.device_argument()})"


def _split(node: Node) -> tuple[int, tuple[Axis, ...]]:
    """The dimension that the scan runs along, and the other axes."""
    axis = node.attrs["axis"]
    return node.axes.index(axis), tuple(a for a in node.axes if a is not axis)


def _shift(p: Printer, node: Node) -> Text:
    init, after = node.args
    dim, rest = _split(node)
    if p.library == "torch" and init.op == "const" and after.kind.is_number and not after.kind.rank:
        before = "0, 0, " * (len(node.axes) - 1 - dim)
        values = _whole(p, after, node.axes, node.kind)
        return atom(f"torch.constant_pad_nd({values}, ({before}1, -1), {p.text(init).text})")
    p.need(name := _for_library(p, "shifted"))
    return atom(f"{name}({_whole(p, init, rest, node.kind)}, {_whole(p, after, node.axes, node.kind)}, {dim})")


def _running_sum(p: Printer, node: Node) -> Text:
    term, init = node.args
    dim, rest = _split(node)
    counted = _is_counted(term) and node.kind.family == "int"
    text = _atomic(_whole(p, *((term.args[0], node.axes, Kind("bool")) if counted else (term, node.axes, node.kind))))
    dtype = p.dtype(node.kind)
    summed = f"{text}.cumsum({dim})"
    if not str(dtype).endswith(("float32", "float64", "int64")):
        dtype_name = dtype_text(dtype, p.library)
        summed += f".to({dtype_name})" if p.library == "torch" else f".astype({dtype_name})"
    if init.op == "const" and init.attrs["value"] == 0 and type(init.attrs["value"]) in (int, float):
        return atom(summed)
    start = _whole(p, init, rest, node.kind)
    if node.attrs.get("ordered"):
        p.need(name := _for_library(p, "sums_from"))
        return atom(f"{name}({start}, {text}, {dim})")
    if rest or node.kind.rank:
        start = f"{_atomic(start)}.unsqueeze({dim})" if p.library == "torch" else f"np.expand_dims({start}, {dim})"
    elif init.kind.is_number:
        start = p.text(init).at(ATOM)
    return Text(f"{start} + {summed}", SUM)


def _is_counted(term: Node) -> bool:
    """Whether a term is 1 where a mask holds and 0 elsewhere, which is what a sum takes a mask for."""
    numbers = [side.attrs["value"] if side.op == "const" else None for side in term.args[1:]]
    return term.op == "where" and numbers == [1, 0] and bool(term.args[0].axes)


def _running_last(p: Printer, node: Node) -> Text:
    taken, value, init = node.args
    dim, rest = _split(node)
    if p.library == "torch" and not p.gradients and rest and _is_best(node):
        p.need("running_best")
        texts = [f'"{taken.attrs["sign"]}"', _whole(p, value, node.axes, node.kind), _whole(p, init, rest, node.kind)]
        return atom(f"running_best({', '.join(texts)}, {dim})")
    p.need(name := _for_library(p, "running_last"))
    mask = _whole(p, taken, node.axes, Kind("bool"))
    texts = mask, _whole(p, value, node.axes, node.kind), _whole(p, init, rest, node.kind)
    return atom(f"{name}({', '.join(texts)}, {dim})")


def _is_best(node: Node) -> bool:
    """Whether what is taken is the best value so far, with no other mask, in floats."""
    taken, value, init = node.args
    own = taken.op == "passes" and taken.attrs["axis"] is node.attrs["axis"] and taken.args == (value, init)
    return own and not node.kind.rank and "float" in str(node.kind.dtype or node.kind.family)


def _last_taken(p: Printer, node: Node) -> Text:
    taken, value, init = node.args
    axes = node.attrs["along"]
    p.need(name := _for_library(p, "last_taken"))
    mask = _whole(p, taken, axes, Kind("bool"))
    texts = mask, _whole(p, value, axes, node.kind), _whole(p, init, node.axes, node.kind)
    text = f"{name}({', '.join(texts)}, {axes.index(node.attrs['axis'])})"
    if node.axes:
        return atom(text)
    return atom(f"{text}.item()" if node.kind.is_number else f"{text}[()]" if node.kind.family == "numpy" else text)


def _best_place(p: Printer, node: Node) -> Text:
    if p.library == "torch":
        p.need("best_of")
    return _best(p, node, _for_library(p, "best_place"))


def _best_of(p: Printer, node: Node) -> Text:
    return _best(p, node, "best_of")


def _best(p: Printer, node: Node, name: str) -> Text:
    value, init, *mask = node.args
    axes, kind = node.attrs["along"], node.attrs["of"]
    p.need(name)
    texts = [f'"{node.attrs["sign"]}"', _whole(p, value, axes, kind), _whole(p, init, node.axes, kind)]
    texts += [str(axes.index(node.attrs["axis"])), *(_whole(p, m, axes, Kind("bool")) for m in mask)]
    return atom(f"{name}({', '.join(texts)})")


def _best_item(p: Printer, node: Node) -> Text:
    return atom(f"{p.text(node.args[0]).at(ATOM)}[{node.attrs['item']}]")


def _at_best(p: Printer, node: Node) -> Text:
    place, value, init = node.args
    axes, axis = node.attrs["along"], node.attrs["axis"]
    where = arranged(p, place, node.axes, 0)
    if place.axes and node.axes == place.axes and _is_own_place(value, axis):
        none_is_last = init.op == "const" and init.attrs["value"] == -1
        return atom(where if none_is_last else f"{p.library}.where({where} >= 0, {where}, {p.text(init).text})")
    p.need(name := _for_library(p, "at_best"))
    texts = where, _whole(p, value, axes, node.kind), _whole(p, init, node.axes, node.kind), str(axes.index(axis))
    text = f"{name}({', '.join(texts)})"
    if node.axes:
        return atom(text)
    return atom(f"{text}.item()" if node.kind.is_number else f"{text}[()]" if node.kind.family == "numpy" else text)


def _is_own_place(value: Node, axis: Axis) -> bool:
    """Whether a value is the position along an axis that counts from 0."""
    own = value.op == "index" and value.attrs["axis"] is axis and axis.step == 1
    return own and axis.lo.op == "const" and axis.lo.attrs["value"] == 0


def _first_true(p: Printer, node: Node) -> Text:
    mask, otherwise = node.args
    axis = node.attrs["axis"]
    p.need(name := _for_library(p, "first_true"))
    texts = [p.text(mask).text, str(mask.axes.index(axis)), p.text(otherwise).text]
    if axis.step != 1 or not (axis.lo.op == "const" and axis.lo.attrs["value"] == 0):
        texts += [p.text(axis.lo).text, *(["-1"] if axis.step != 1 else [])]
    return as_number(node, f"{name}({', '.join(texts)})")


def _reach(p: Printer, node: Node) -> Text:
    """How long an axis is of which lanes see no more than their first places: a number under a name."""
    last, extent = node.args
    p.need("places_reached")
    texts = [p.text(last).text, p.text(extent).text, str(node.attrs["more"])]
    return Text(p.bind(node, atom(f"places_reached({', '.join(texts)})")))


def _passes(p: Printer, node: Node) -> Text:
    value, init, *mask = node.args
    dim, rest = _split(node)
    kind = node.attrs["of"]
    p.need(name := _for_library(p, "passes"))
    texts = [f'"{node.attrs["sign"]}"', _whole(p, value, node.axes, kind), _whole(p, init, rest, kind), str(dim)]
    texts += [_whole(p, m, node.axes, Kind("bool")) for m in mask]
    return atom(f"{name}({', '.join(texts)})")


def _recurrence(p: Printer, node: Node) -> Text:
    factor, term, init, *begun = node.args
    dim, rest = _split(node)
    p.need(name := _for_library(p, "linear_recurrence"))
    first = p.text(factor).text
    if factor.axes or not factor.kind.is_number:
        kind = Kind(node.kind.family, node.kind.dtype, node.kind.rank) if node.kind.is_array else node.kind
        first = _whole(p, factor, node.axes, kind)
    if p.library == "torch" and _is_zero(init):
        start = f"{p.text(init).text}.shape" if init.kind.is_array and init.kind.rank else "None"
    else:
        start = _whole(p, init, rest, node.kind)
    texts = [first, _whole(p, term, node.axes, node.kind), start, str(dim)]
    texts += [_whole(p, mask, node.axes, Kind("bool", None, node.kind.rank)) for mask in begun]
    return atom(f"{name}({', '.join(texts)})")


def _keeps_products(p: Printer, node: Node) -> Text:
    states, factor = node.args
    p.need(name := _for_library(p, "keeps_products"))
    text = p.text(factor).text
    if factor.axes or not factor.kind.is_number:
        text = _whole(p, factor, states.axes, states.kind)
    return atom(f"{name}({p.text(states).text}, {text}, {states.axes.index(node.attrs['axis'])})")


def _is_zero(node: Node) -> bool:
    """Whether a value is zero, and has no gradient."""
    while node.op in ("full", "cast", "retype") or (node.op == "apply" and node.attrs["name"] == "builtin.float"):
        node = node.args[0]
    if node.op == "const":
        return node.attrs["value"] == 0
    made = node.op == "apply" and node.attrs["name"] == "torch.zeros"
    return made and "requires_grad" not in node.attrs["kwargs"]


def _finite(p: Printer, node: Node) -> Text:
    text = p.text(node.args[0]).text
    if p.library == "np":
        return atom(f"bool(np.isfinite({text}).all())")
    if node.args[0].kind.is_number and not node.args[0].axes:
        return atom(f"(abs({text}) < float('inf'))")
    p.need("all_finite")
    if node.args[0].kind.family == "tuple":
        return atom(f"all(map(all_finite, {text}))")
    return atom(f"all_finite({text})")


def _atomic(text: str) -> str:
    return text if text.replace(".", "").replace("_", "").isalnum() else f"({text})"


def _for_library(p: Printer, name: str) -> str:
    return name if p.library == "torch" else f"{name}_array"


def _narrowing(p: Printer, node: Node) -> Text:
    """What takes the lanes that go on, or puts all together again; a tuple, or its only item."""
    helper, operands = node.attrs["helper"], node.attrs["operands"]
    for name in ("all_lanes", helper) if helper == "those_that_go_on" else (helper,):
        p.need(name)
    texts = [one if isinstance(one, str) else f"({', '.join(one)}{',' * (len(one) == 1)})" for one in operands]
    alone = "[0]" if _gives_one(helper, operands) else ""
    return atom(f"{helper}({', '.join(texts)}){alone}")


def _gives_one(helper: str, operands: list[str | list[str]]) -> bool:
    """Whether a tuple of one item comes of a call, which is bound to one name."""
    if helper == "first_lanes":
        return sum(len(one) for one in operands if isinstance(one, list)) == 1
    return helper in ("all_lanes", "as_axes", "in_old_order") and len(operands[-1]) == 1


def _of_lanes(p: Printer, node: Node) -> Text:
    """Of values of all lanes those of the lanes that go on."""
    p.need(node.op)
    return atom(f"{node.op}({', '.join(p.text(arg).text for arg in node.args)})")


def _places_of_steps(p: Printer, node: Node) -> Text:
    """Where the lanes that run each step read, one step after the other."""
    p.need("places_of_steps")
    texts = [p.text(arg).text for arg in node.args] + ["-1"] * (node.attrs["way"] == "-")
    return atom(f"places_of_steps({', '.join(texts)})")


def _split_steps(p: Printer, node: Node) -> Text:
    """What belongs to each step, of the values of all."""
    value, counts = node.args
    return atom(f"{p.text(value).at(ATOM)}.split({p.text(counts).text})")


def _of_step(p: Printer, node: Node) -> Text:
    values, step = node.args
    return atom(f"{p.text(values).text}[{p.text(step).text}]")


def _flat_lanes(p: Printer, node: Node) -> Text:
    """A value for the lanes along several axes as one for those along one."""
    (value,), axes = node.args, node.attrs["of"]
    rest = tuple(axis for axis in value.axes if axis not in axes)
    return atom(f"{full(p, value, (*axes, *rest), value.kind)}.flatten(0, {len(axes) - 1})")


RENDERERS: dict[str, Callable[[Printer, Node], Text]] = {
    "narrowing": _narrowing, "of_lanes": _of_lanes, "of_first_lanes": _of_lanes, "flat_lanes": _flat_lanes,
    "places_of_steps": _places_of_steps, "split_steps": _split_steps, "of_step": _of_step,
    "empty_list": _empty_list, "at": _at, "history": _history, "asking": _asking, "pieces": _pieces, "put": _put,
    "shift": _shift, "running_sum": _running_sum, "first_true": _first_true,
    "running_last": _running_last, "last_taken": _last_taken, "passes": _passes,
    "best_place": _best_place, "best_of": _best_of, "best_item": _best_item, "at_best": _at_best,
    "reach": _reach, "recurrence": _recurrence, "keeps_products": _keeps_products, "finite": _finite,
    "unbound": _unbound,
}  # fmt: skip
