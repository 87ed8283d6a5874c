"""Source text of nodes: operands aligned by label, subscripts, one function for each kind of node."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from looplift.base.data import dataclass
from looplift.emit.spelling import (
    ATOM,
    CHOICE,
    COMPARE,
    OPERATORS,
    POWER,
    PRODUCT,
    SUM,
    UNARY,
    dtype_text,
    lane_function,
    literal,
)
from looplift.ir.array import Assign, Axis, Node, ancestors
from looplift.ir.facts import Kind

if TYPE_CHECKING:
    from looplift.emit.source import Printer


@dataclass(frozen=True)
class Text:
    """A piece of source and how tightly it binds."""

    text: str
    level: int = ATOM

    def at(self, level: int) -> str:
        """The text as an operand of something that binds at ``level``."""
        return self.text if self.level >= level else f"({self.text})"


def atom(text: str) -> Text:
    return Text(text)


def as_number(node: Node, text: str) -> Text:
    """A Python number where the loop has one."""
    return atom(f"{text}.item()") if node.kind.is_number and not node.axes else atom(text)


# ---------------------------------------------------------------- alignment


def arranged(p: Printer, node: Node, axes: tuple[Axis, ...], rank: int, level: int = ATOM) -> str:
    """The node's text with dimensions ``axes`` followed by ``rank`` lane dimensions, broadcast where it lacks them."""
    if node.kind.is_number and not node.axes:
        return p.text(node).at(level)
    text, own = expanded(p, node, axes)
    items = [":" if axis in own else "None" for axis in axes]
    items += ["None"] * (rank - node.kind.rank) + [":"] * node.kind.rank
    while items and items[0] == "None":
        items.pop(0)
    return _subscripted(text, items).at(level)


def _subscripted(text: Text, items: list[str]) -> Text:
    while items and items[-1] == ":":
        items = items[:-1]
    return atom(f"{text.at(ATOM)}[{', '.join(items)}]") if items else text


def expanded(p: Printer, node: Node, axes: tuple[Axis, ...]) -> tuple[Text, tuple[Axis, ...]]:
    """Values of a parent lane, repeated for each entry of a ragged axis."""
    own = list(node.axes)
    inner = next((axis for axis in axes if axis not in own and set(own) & set(ancestors(axis))), None)
    if inner is not None and _counts_lanes(node, own):
        return atom(p.entries(inner, own[0])), (inner,)
    text = p.text(node)
    for axis in axes:
        outer = [parent for parent in own if parent in ancestors(axis)]
        if axis in own or not outer:
            continue
        position = own.index(outer[0])
        if own[position : position + len(outer)] != outer:
            p.fail("ragged-shape", "a value of several loops in a ragged loop inside of some of them")
        if p.library == "np" and not position and axis.parents == (own[0],) and axis.members is None:
            text = p.repeated(text.text, axis, node.rank)
            own[0] = axis
            continue
        entries = ", ".join(p.entries(axis, parent) for parent in outer)
        if p.library == "torch" and len(outer) == 1:
            text = atom(f"{text.at(ATOM)}.index_select({position}, {entries})")
        else:
            text = atom(f"{text.at(ATOM)}[{':, ' * position}{entries}]")
        own[position : position + len(outer)] = [axis]
    return _in_order(p, node, text, own, axes)


def _in_order(
    p: Printer, node: Node, text: Text, own: list[Axis], axes: tuple[Axis, ...]
) -> tuple[Text, tuple[Axis, ...]]:
    """The entries of a ragged axis stand where their parents stood; the dimensions as the axes are ordered."""
    ordered = [axis for axis in axes if axis in own]
    if ordered == own or len(ordered) < len(own):
        return text, tuple(own)
    order = [own.index(axis) for axis in ordered] + [len(own) + k for k in range(node.kind.rank)]
    method = "permute" if p.library == "torch" else "transpose"
    return atom(f"{text.at(ATOM)}.{method}({', '.join(map(str, order))})"), tuple(ordered)


def _counts_lanes(node: Node, outer: list[Axis]) -> bool:
    """Whether a value is the position 0, 1, ... of its lane, which each entry has already."""
    if len(outer) > 1:
        return False
    if node.op == "along":
        return node.attrs["coefficient"] == 1 and _is_zero(node.args[0])
    return node.op == "index" and not outer[0].is_ragged and outer[0].step == 1 and _is_zero(outer[0].lo)


def _is_zero(node: Node) -> bool:
    return node.op == "const" and node.attrs["value"] == 0


def full(p: Printer, node: Node, axes: tuple[Axis, ...], kind: Kind | None = None) -> str:
    """The node with all of ``axes`` present at their extents; a number becomes an array of ``kind``."""
    if node.kind.is_number and not node.axes:
        shape = ", ".join(p.extent(axis) for axis in axes)
        dtype = dtype_text(p.dtype(kind or node.kind), p.library)
        value = p.text(node).text
        return f"{p.library}.full(({shape},), {value}, dtype={dtype}{p.device_argument()})"
    missing = [axis for axis in axes if axis not in node.axes and not _descends(node, axis)]
    text = arranged(p, node, axes, node.kind.rank)
    if not missing:
        return text
    shape = [p.extent(axis) for axis in axes] + ["-1"] * node.kind.rank
    if p.library == "np":
        lane = [f"*{p.text(node).at(ATOM)}.shape[{len(node.axes)}:]"] if node.kind.rank else []
        return f"np.broadcast_to({text}, ({', '.join([p.extent(a) for a in axes] + lane)},))"
    return f"{text}.expand({', '.join(shape)})"


def _descends(node: Node, axis: Axis) -> bool:
    return any(parent in node.axes for parent in ancestors(axis))


# ---------------------------------------------------------------- one function for each kind of node


def _name(p: Printer, node: Node) -> Text:
    return atom(node.attrs["text"])


def _const(p: Printer, node: Node) -> Text:
    text = literal(node.attrs["value"], p.library)
    return Text(text, UNARY if text.startswith("-") else ATOM)


def _linear(p: Printer, node: Node) -> Text:
    pieces: list[str] = []
    ordered = sorted(node.attrs["terms"].values(), key=lambda pair: pair[1] < 0)
    for term, coefficient in ordered:
        text = p.text(term)
        size = abs(coefficient)
        level = UNARY if not pieces and coefficient < 0 else SUM + 1
        body = text.at(level) if size == 1 else f"{size} * {text.at(PRODUCT + 1)}"
        sign = "-" if coefficient < 0 else "+"
        pieces.append(body if not pieces and sign == "+" else f"-{body}" if not pieces else f" {sign} {body}")
    constant = node.attrs["constant"]
    if constant:
        pieces.append(f" {'-' if constant < 0 else '+'} {abs(constant)}")
    alone = len(pieces) == 1
    return Text("".join(pieces), PRODUCT if alone else SUM)


def _arange(p: Printer, first: str, last: str, step: int) -> Text:
    if step == 1:
        bounds = last if first == "0" else f"{first}, {last}"
    else:
        bounds = f"{first}, {last}, {step}"
    return atom(f"{p.library}.arange({bounds}{p.device_argument()})")


def _end(p: Printer, first: Node, extent: Node, step: int) -> str:
    from looplift.emit.integers import sum_text

    return sum_text(p, first, extent, step)


def _index(p: Printer, node: Node) -> Text:
    axis: Axis = node.attrs["axis"]
    if axis.is_ragged:
        from looplift.emit.ragged import positions_text

        return positions_text(p, axis)
    return _arange(p, p.text(axis.lo).text, _end(p, axis.lo, axis.extent, axis.step), axis.step)


def _along(p: Printer, node: Node) -> Text:
    base, extent = node.args
    step = node.attrs["coefficient"]
    return _arange(p, p.text(base).text, _end(p, base, extent, step), step)


def _extent(p: Printer, node: Node) -> Text:
    return atom(f"{p.text(node.args[0]).at(ATOM)}.shape[{node.attrs['dim']}]")


def _length(p: Printer, node: Node) -> Text:
    return atom(f"len({p.text(node.args[0]).text})")


def _count(p: Printer, node: Node) -> Text:
    return atom(f"len(range({', '.join(p.text(arg).text for arg in node.args)}))")


def _total(p: Printer, node: Node) -> Text:
    (lengths,) = node.args
    if lengths.op != "name" and not p.text(lengths).text.isidentifier():
        p.bind(lengths)
    return atom(f"int({p.text(lengths).at(ATOM)}.sum())")


def _lengths(p: Printer, node: Node) -> Text:
    helper = "row_lengths" if p.library == "torch" else "row_lengths_array"
    p.need(helper)
    return atom(p.on_device(f"{helper}({p.text(node.args[0]).text})"))


def _chained(p: Printer, node: Node) -> Text:
    """The lists in all lists of lists."""
    lists, one, item = p.text(node.args[0]).text, p.fresh("lists"), p.fresh("row")
    return atom(f"[{item} for {one} in {lists} for {item} in {one}]")


def _entries(p: Printer, node: Node) -> Text:
    if node.attrs["of"] == "tensor":
        p.need("same_dtype_stack")
        p.need("row_tensors")
        return atom(f"row_tensors({p.text(node.args[0]).text})")
    helper = "row_entries" if p.library == "torch" else "row_entries_array"
    p.need(helper)
    return atom(p.on_device(f"{helper}({p.text(node.args[0]).text}, {node.attrs['of']})"))


def _pack(p: Printer, node: Node) -> Text:
    element = node.attrs["element"]
    if element.is_number:
        helper = "number_vector" if p.library == "torch" else "number_array"
        p.need(helper)
        return atom(p.on_device(f"{helper}({p.text(node.args[0]).text}, {element.family})"))
    if p.library == "np":
        p.need("same_dtype_array")
        return atom(f"same_dtype_array({p.text(node.args[0]).text})")
    p.need("same_dtype_stack")
    return atom(f"same_dtype_stack({p.text(node.args[0]).text})")


def _all_read(p: Printer, node: Node) -> Text:
    p.need("all_read")
    places, count = (p.text(arg).text for arg in node.args)
    return atom(f"all_read({places}, {count})")


def _without_gradients(p: Printer, node: Node) -> Text:
    p.need("without_gradients")
    return atom(f"without_gradients({p.text(node.args[0]).text})")


def _same_inputs(p: Printer, node: Node) -> Text:
    p.need("same_inputs")
    return atom(f"same_inputs({p.text(node.args[0]).text})")


def _vector(p: Printer, node: Node) -> Text:
    maker = "torch.tensor" if p.library == "torch" else "np.array"
    return atom(f"{maker}({literal(node.attrs['values'], p.library)}, dtype={dtype_text(node.kind.dtype, p.library)})")


# ---------------------------------------------------------------- arithmetic


def _elementwise(p: Printer, node: Node) -> Text:
    name = node.attrs["name"].removeprefix("inplace.")
    count = node.attrs.get("positional", len(node.args))
    args, kwargs = node.args[:count], node.args[count:]
    in_lanes = any(a.rank or not a.kind.is_number for a in node.args)
    if name == "not":
        return _negation(p, node)
    if (made := _added_product(p, node)) is not None:
        return made
    if name in OPERATORS and len(args) == 2:
        from looplift.emit.position_masks import position_mask_text

        if (mask := position_mask_text(p, node)) is not None:
            return mask
        return _binary(p, node, name, in_lanes)
    if name in ("neg", "pos", "invert") and len(args) == 1:
        sign = {"neg": "-", "pos": "+", "invert": "~"}[name]
        return Text(sign + arranged(p, args[0], node.axes, node.kind.rank, UNARY), UNARY)
    rank = max((a.kind.rank for a in node.args), default=0)
    texts = [arranged(p, a, node.axes, rank, 0) for a in args]
    texts += [
        f"{k}={arranged(p, a, node.axes, rank, 0)}" for k, a in zip(node.attrs.get("kwargs", ()), kwargs, strict=False)
    ]
    if not in_lanes:
        spelled = name.removeprefix("builtin.")
        return atom(f"{spelled}({', '.join(texts)})")
    if name.startswith("method.") and not (args[0].kind.is_number and not args[0].axes):
        receiver = arranged(p, args[0], node.axes, rank, ATOM)
        if p.library == "torch":
            return atom(f"{receiver}.{name[7:]}({', '.join(texts[1:])})")
    function = lane_function(name, p.library)
    if name == "builtin.complex":
        return _of_parts(p, args, texts)
    if name == "builtin.round" and args[0].kind.is_number:
        p.need(function := "rounded_to" if p.library == "torch" else "rounded_to_array")
    if p.library == "torch" and len(args) >= 1 and args[0].kind.is_number and not args[0].axes:
        texts[0] = f"torch.tensor({texts[0]}{_width_beside(args)})"
    return atom(f"{function}({', '.join(texts)})")


def _width_beside(args: tuple[Node, ...]) -> str:
    """The dtype by which a number keeps its digits beside tensors, which none of their kind becomes wider by."""
    width = {"float": ", dtype=torch.float64", "complex": ", dtype=torch.complex128"}.get(args[0].kind.family, "")
    dtypes = [arg.kind.dtype for arg in args[1:] if arg.kind.is_array]
    return width if dtypes and all(one.is_floating_point or one.is_complex for one in dtypes) else ""


def _of_parts(p: Printer, args: tuple[Node, ...], texts: list[str]) -> Text:
    """Complex numbers of Python's, in lanes."""
    if p.library == "np":
        p.need("complex_array")
        return atom(f"complex_array({', '.join(texts)})")
    shared = [arg.kind.is_number and not arg.axes for arg in args]
    parts = [
        p.on_device(f"torch.tensor({text}, dtype=torch.float64)") if one else text
        for text, one in zip(texts, shared, strict=True)
    ]
    return atom(f"torch.complex({', '.join(parts)})")


def _added_product(p: Printer, node: Node) -> Text | None:
    if "product" not in node.attrs or p.library != "torch":
        return None
    from looplift.emit.contractions import added_product

    return added_product(p, node)


def into_buffer(p: Printer, step: Assign) -> str:
    """An element-wise operation whose result goes where that of the iteration before it was; at first that is None."""
    node, buffer = step.node, p.buffers[step.serial]
    rank = max(arg.kind.rank for arg in node.args)
    operands = ", ".join(arranged(p, arg, node.axes, rank, 0) for arg in node.args)
    return f"{buffer} = {step.function}({operands}, out={buffer})"


def _binary(p: Printer, node: Node, name: str, in_lanes: bool) -> Text:
    sign, level = OPERATORS[name]
    a, b = node.args
    rank = max(a.kind.rank, b.kind.rank)
    if not in_lanes and name in ("and_", "or_"):
        word = {"and_": "and", "or_": "or"}[name]
        return Text(f"{p.text(a).at(COMPARE)} {word} {p.text(b).at(COMPARE)}", CHOICE + 5)
    left = arranged(p, a, node.axes, rank, level + (1 if level in (COMPARE, POWER) else 0))
    right = arranged(p, b, node.axes, rank, level + (0 if level == POWER else 1))
    return Text(f"{left} {sign} {right}", level)


def _negation(p: Printer, node: Node) -> Text:
    (a,) = node.args
    if a.rank == 0 and a.kind.is_number:
        return Text(f"not {p.text(a).at(COMPARE)}", 20)
    return Text(f"~{p.text(a).at(UNARY)}", UNARY)


def _where(p: Printer, node: Node) -> Text:
    mask, then, orelse = node.args
    if not mask.axes and mask.kind.is_number:
        from looplift.emit.sides import choice_text

        return choice_text(p, node)
    from looplift.emit.limited import limited_text
    from looplift.emit.position_masks import off_diagonal_text

    if (known := limited_text(p, node) or off_diagonal_text(p, node)) is not None:
        return known
    rank = max(then.kind.rank, orelse.kind.rank)
    sides = [_plain_number(p, side, other) for side, other in ((then, orelse), (orelse, then))]
    texts = [arranged(p, side, node.axes, rank, 0) for side in sides]
    loose = [side.kind.is_number and not side.axes for side in (then, orelse)]
    for k, (side, other) in enumerate(((then, orelse), (orelse, then))):
        if _has_number(p, side, other, node):
            texts[k] = p.numbers.get((texts[k], p.dtype(node.kind)), texts[k])
    if p.library == "torch" and all(loose):
        texts[0] = _scalar(p, then, node.kind)
    elif p.library == "np" and any(loose):
        for k in range(2):
            if loose[k]:
                texts[k] = f"{dtype_text(p.dtype(node.kind), 'np')}({texts[k]})"
    return atom(f"{p.library}.where({arranged(p, mask, node.axes, rank, 0)}, {texts[0]}, {texts[1]})")


def name_numbers(p: Printer, node: Node) -> None:
    """Names for the numbers of a choice in a loop, as tensors, which torch would make of them in each step."""
    mask, then, orelse = node.args
    if p.library != "torch" or not mask.axes:
        return
    for side, other in ((then, orelse), (orelse, then)):
        if not _has_number(p, side, other, node):
            continue
        number, dtype = _plain_number(p, side, other), p.dtype(node.kind)
        if (key := (p.text(number).text, dtype)) not in p.numbers:
            p.numbers[key] = p.fresh("number")
            p.line(f"{p.numbers[key]} = {_scalar(p, number, node.kind)}")


def _has_number(p: Printer, side: Node, other: Node, node: Node) -> bool:
    """Whether one side of a choice is a number that is known, the other one a tensor of the dtype of both."""
    number = _plain_number(p, side, other)
    if number.op != "const" or not other.rank or not (other.kind.is_array or other.kind.is_number):
        return False
    return p.dtype(other.kind) == p.dtype(node.kind)


def _scalar(p: Printer, number: Node, kind: Kind) -> str:
    return f"torch.tensor({p.text(number).text}, dtype={dtype_text(p.dtype(kind), 'torch')}{p.device_argument()})"


def _plain_number(p: Printer, side: Node, other: Node) -> Node:
    """A side that is a tensor of one known number, as that number: beside a tensor of its dtype it takes that dtype."""
    if p.library != "torch" or side.op != "full" or side.args[0].op != "const" or other.op == "full":
        return side
    return side.args[0] if other.kind.is_array and other.kind.dtype == side.kind.dtype else side


def _cast(p: Printer, node: Node) -> Text:
    dtype = dtype_text(node.attrs["dtype"], p.library)
    text = p.text(node.args[0]).at(ATOM)
    return atom(f"{text}.to({dtype})" if p.library == "torch" else f"{text}.astype({dtype})")


def _moved(p: Printer, node: Node) -> Text:
    return atom(f"{p.text(node.args[0]).at(ATOM)}.to({node.attrs['device']!r})")


def _full(p: Printer, node: Node) -> Text:
    dtype = dtype_text(node.attrs["dtype"], p.library)
    if p.library == "np":
        return atom(f"{dtype}({p.text(node.args[0]).text})")
    return atom(f"torch.tensor({p.text(node.args[0]).text}, dtype={dtype}{p.device_argument()})")


def _settled(p: Printer, node: Node) -> Text:
    """What may be a number as a tensor."""
    dtype, text = dtype_text(node.kind.dtype, p.library), p.text(node.args[0]).text
    if p.library == "np":
        return atom(f"{dtype}({text})")
    return atom(f"torch.as_tensor({text}, dtype={dtype}{p.device_argument()})")


def _same(p: Printer, node: Node) -> Text:
    return p.text(node.args[0])


# ---------------------------------------------------------------- as written


def _apply(p: Printer, node: Node) -> Text:
    """An operation on values that no axis changes, spelled as its author did."""
    name, count = node.attrs["name"].removeprefix("inplace."), node.attrs["positional"]
    args, kwargs = node.args[:count], node.args[count:]
    if (made := _added_product(p, node)) is not None:
        return made
    if name in OPERATORS and len(args) == 2:
        sign, level = OPERATORS[name]
        left = p.text(args[0]).at(level + (1 if level in (COMPARE, POWER) else 0))
        return Text(f"{left} {sign} {p.text(args[1]).at(level + 1)}", level)
    if name in ("neg", "pos", "invert", "not"):
        sign = {"neg": "-", "pos": "+", "invert": "~", "not": "not "}[name]
        return Text(sign + p.text(args[0]).at(UNARY), UNARY if name != "not" else 20)
    if name in ("getitem", "iter_item"):
        return atom(f"{p.text(args[0]).at(ATOM)}[{_index_text(p, args[1])}]")
    texts = [p.text(a).text for a in args]
    texts += [f"{k}={p.text(a).text}" for k, a in zip(node.attrs["kwargs"], kwargs, strict=True)]
    if name.startswith("method."):
        return atom(f"{p.text(args[0]).at(ATOM)}.{name[7:]}({', '.join(texts[1:])})")
    if name == "module":
        return atom(f"{texts[0]}({', '.join(texts[1:])})")
    return atom(f"{name.removeprefix('builtin.')}({', '.join(texts)})")


def _index_text(p: Printer, node: Node) -> str:
    if node.op == "display" and node.attrs["kind"] == "tuple":
        return ", ".join(_index_text(p, item) for item in node.args)
    if node.op == "cut":
        lo, hi, step = ("" if a.op == "const" and a.attrs["value"] is None else p.text(a).text for a in node.args)
        return f"{lo}:{hi}" + (f":{step}" if step else "")
    return p.text(node).text


def _attribute(p: Printer, node: Node) -> Text:
    owner = p.text(node.args[0]).at(ATOM)
    return atom(f"{f'({owner})' if owner.isdigit() else owner}.{node.attrs['name']}")


def _display(p: Printer, node: Node) -> Text:
    texts = [p.text(item).text for item in node.args]
    if node.attrs["kind"] == "dict":
        return atom(f"{{{', '.join(f'{key!r}: {text}' for key, text in zip(node.attrs['keys'], texts, strict=True))}}}")
    if node.attrs.get("continued"):
        texts[-1] = f"*{texts[-1]}"
    inner = ", ".join(texts)
    if node.attrs["kind"] == "list":
        return atom(f"[{inner}]")
    if len(node.args) == 1:
        inner += ","
    return atom(inner if node.attrs.get("bare") else f"({inner})")


def _display_or_none(p: Printer, node: Node) -> Text:
    there, display = (p.text(arg).text for arg in node.args)
    return atom(f"({display} if {there} else None)")


def _zipped(p: Printer, node: Node) -> Text:
    zipped = f"zip({', '.join(p.text(item).text for item in node.args)})"
    match node.attrs["kind"]:
        case "dict":
            return atom(f"[dict(zip({tuple(node.attrs['keys'])!r}, items)) for items in {zipped}]")
        case "list":
            return atom(f"list(map(list, {zipped}))")
        case "mapping":
            return atom(f"dict({zipped})")
    return atom(f"list({zipped})")


def _is_of_type(p: Printer, node: Node) -> Text:
    return Text(f"type({p.text(node.args[0]).text}) is {node.attrs['type']}", COMPARE)


def _some(p: Printer, node: Node) -> Text:
    return atom(f"bool({p.text(node.args[0]).at(ATOM)}.any())")


TRIVIAL = frozenset(("name", "const", "retype"))
"""What needs no name."""

RENDERERS: dict[str, Callable[[Printer, Node], Text]] = {
    "name": _name, "derived": _name, "const": _const,
    "linear": _linear, "index": _index, "along": _along, "extent": _extent,
    "length": _length, "count": _count, "total": _total, "lengths": _lengths, "chained": _chained, "entries": _entries,
    "pack": _pack, "vector": _vector, "elementwise": _elementwise, "where": _where, "cast": _cast,
    "full": _full, "retype": _same,
    "settled": _settled, "moved": _moved,
    "apply": _apply, "attribute": _attribute, "display": _display, "display_or_none": _display_or_none,
    "zipped": _zipped, "some": _some, "same_inputs": _same_inputs,
    "without_gradients": _without_gradients, "all_read": _all_read,
    "is_of_type": _is_of_type,
}  # fmt: skip
