"""Source text of nodes that move data: slices, gathers, reductions, joins, contractions, results."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from looplift.emit.integers import sum_text
from looplift.emit.spelling import ATOM, PRODUCT, dtype_text, literal
from looplift.emit.text import Text, arranged, atom, full
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


def _kind(piece) -> str:
    return type(piece).__name__


def piece_text(p: Printer, base: Node, dim: int, piece) -> str:
    """One subscript of a slice."""
    match _kind(piece):
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
        kind = _kind(piece)
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
    if p.library == "np" or len(windows) > 1 or any(_kind(q) == "Along" and q.coefficient < 0 for q in pieces):
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
    gathered = [k for k, piece in enumerate(pieces) if _kind(piece) == "Gather"]
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


# ---------------------------------------------------------------- folds


def reduce_text(p: Printer, node: Node) -> Text:
    """A reduction over axes; a ragged one returns to its parent by a segment sum."""
    (value,) = node.args
    axes, operator = node.attrs["axes"], node.attrs["operator"]
    ragged = [a for a in axes if a.is_ragged and a.parent in node.axes]
    text = p.text(value).at(ATOM)
    dims = [value.axes.index(axis) for axis in axes if axis not in ragged]
    if ragged:
        if dims or len(ragged) > 1:
            p.fail("ragged-shape", "a sum over several ragged loops at once")
        return _segments(p, node, value, ragged[0], operator)
    method = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin", "maximum": "amax", "minimum": "amin",
              "and": "all", "or": "any"}[operator]  # fmt: skip
    every = len(dims) == value.rank
    if p.library == "np":
        method = method.replace("amax", "max").replace("amin", "min")
        text = f"{text}.{method}({'' if every else 'axis=' + literal(tuple(dims), 'np')})"
        return _scalar(node, text)
    if method == "prod":
        for dim in sorted(dims, reverse=True):
            text += f".prod({dim})"
    elif every:
        text = f"{text}.{method}()"
    else:
        text = f"{text}.{method}({dims[0] if len(dims) == 1 else literal(tuple(dims), 'torch')})"
    lane = p.dtype(value.kind)
    if method in ("sum", "prod") and not lane.is_floating_point and node.kind.is_array and str(lane) != "torch.int64":
        text += f".to({lane})"
    return _scalar(node, text)


def _scalar(node: Node, text: str) -> Text:
    """A Python number where the loop has one."""
    return atom(f"{text}.item()") if node.kind.is_number and not node.axes else atom(text)


def _segments(p: Printer, node: Node, value: Node, axis: Axis, operator: str) -> Text:
    position = value.axes.index(axis)
    parent = p.parents(axis)
    owner = axis.parent
    assert owner is not None
    if operator != "add" or p.library == "np":
        p.fail("ragged-shape", f"'{operator}' over a ragged loop")
    text = p.text(value).text if value.op == "name" else p.bind(value)
    target = node.axes.index(owner)
    if target != position:
        p.fail("ragged-shape", "a ragged loop between others")
    shape = [f"{text}.shape[{k}]" for k in range(value.rank)]
    shape[position] = p.extent(owner)
    return _scalar(node, f"{text}.new_zeros({', '.join(shape)}).index_add({position}, {parent}, {text})")


def fold_text(p: Printer, node: Node) -> Text:
    """A reduction of dimensions of each lane's value."""
    x, extra = node.args[0], node.args[1:]
    base, dims, keep = node.attrs["name"], node.attrs["dims"], node.attrs["keepdim"]
    text = p.text(x).at(ATOM)
    names = node.attrs["kwargs"]
    more = "".join(f", {k}={p.text(v).text}" for k, v in zip(names, extra, strict=True))
    if p.library == "np":
        short = {"amax": "max", "amin": "min", "norm": "linalg.norm", "absolute": "abs"}.get(base, base)
        if base == "norm" and len(dims) > 1:
            text, dims = f"{text}.reshape({text}.shape[:{len(x.axes)}] + (-1,))", (-1,)
        keeps = ", keepdims=True" if keep else ""
        where = dims[0] if len(dims) == 1 else dims
        return atom(f"np.{short}({text}, axis={where}{keeps}{more})")
    keeps = ", keepdim=True" if keep else ""
    single = base in ("prod", "argmax", "argmin", "median", "nanmedian") or (base in ("any", "all") and len(dims) > 1)
    if single and len(dims) > 1:
        text, dims = f"{text}.flatten({-len(dims)})", (-1,)
    if base in ("max", "min"):
        base = {"max": "amax", "min": "amin"}[base]
    where = dims[0] if len(dims) == 1 else dims
    if base == "vector_norm":
        return atom(f"torch.linalg.vector_norm({text}, dim={where}{keeps}{more})")
    if base in ("logsumexp", "nansum", "nanmean"):
        return atom(f"torch.{base}({text}, {where}{keeps}{more})")
    if base == "norm":
        return atom(f"{text}.norm(dim={where}{keeps}{more})")
    suffix = ".values" if base in ("median", "nanmedian") else ""
    return atom(f"{text}.{base}({where}{keeps}{more}){suffix}")


def along_dim_text(p: Printer, node: Node) -> Text:
    base, dim = node.attrs["name"], node.attrs["dim"]
    text = p.text(node.args[0]).at(ATOM)
    if p.library == "np":
        return atom(f"np.{base}({text}, axis={dim})")
    if base == "softmin":
        return atom(f"torch.nn.functional.{base}({text}, {dim})")
    if isinstance(dim, tuple) and base != "flip":
        p.fail("unknown-op", f"'{base}' along several dimensions")
    return atom(f"{text}.{base}({literal(dim, 'torch')})")


# ---------------------------------------------------------------- shapes


def method_text(p: Printer, node: Node) -> Text:
    args = ", ".join(map(str, node.attrs.get("args", ())))
    return atom(f"{p.text(node.args[0]).at(ATOM)}.{node.attrs['name']}({args})")


def transposed_text(p: Printer, node: Node) -> Text:
    text = p.text(node.args[0]).at(ATOM)
    return atom(f"{text}.mT" if p.library == "torch" else f"{text}.swapaxes(-1, -2)")


def unsqueezed_text(p: Printer, node: Node) -> Text:
    text, dim = p.text(node.args[0]).at(ATOM), node.attrs["dim"]
    return atom(f"{text}.unsqueeze({dim})" if p.library == "torch" else f"np.expand_dims({text}, {dim})")


def reshaped_text(p: Printer, node: Node) -> Text:
    x = node.args[0]
    sizes = [p.extent(axis) for axis in node.axes] + [literal(size, p.library) for size in node.attrs["sizes"]]
    return atom(f"{p.text(x).at(ATOM)}.reshape({', '.join(sizes)})")


def permuted_text(p: Printer, node: Node) -> Text:
    lead = len(node.axes)
    order = [*range(lead), *(lead + k for k in node.attrs["order"])]
    text = p.text(node.args[0]).at(ATOM)
    if order == [1, 0]:
        return atom(f"{text}.T")
    numbers = ", ".join(map(str, order))
    return atom(f"{text}.permute({numbers})" if p.library == "torch" else f"{text}.transpose({numbers})")


def merged_text(p: Printer, node: Node) -> Text:
    """Two neighbouring dimensions become one."""
    dim = len(node.axes) + node.attrs["dim"]
    text = p.text(node.args[0]).at(ATOM)
    if p.library == "torch":
        return atom(f"{text}.flatten({dim}, {dim + 1})")
    return atom(f"{text}.reshape({text}.shape[:{dim}] + (-1,) + {text}.shape[{dim + 2}:])")


def join_text(p: Printer, node: Node) -> Text:
    """``stack`` or ``cat`` of lane values, dimensions counted from the end."""
    join, dim = node.attrs["join"], node.attrs["dim"]
    rank = node.kind.rank - (join == "stack")
    texts = []
    for item in node.args:
        texts.append(full(p, item, node.axes) if node.axes else arranged(p, item, (), rank, 0))
    name = join if p.library == "torch" else {"stack": "stack", "cat": "concatenate"}[join]
    keyword = "" if p.library == "torch" else "axis="
    return atom(f"{p.library}.{name}([{', '.join(texts)}], {keyword}{dim})")


# ---------------------------------------------------------------- contractions and modules


def matmul_text(p: Printer, node: Node) -> Text:
    a, b = node.args
    ranks = (a.kind.rank, b.kind.rank)
    if not a.axes and ranks[1] == 1 and ranks[0] == 2 and p.library == "torch":
        return Text(f"{p.text(b).at(PRODUCT)} @ {p.text(a).at(ATOM)}.mT", PRODUCT)
    if (not b.axes and ranks == (1, 2)) or (not b.axes and ranks[0] == 2):
        return Text(f"{p.text(a).at(PRODUCT)} @ {p.text(b).at(PRODUCT + 1)}", PRODUCT)
    if not b.axes and ranks == (1, 1) and len(a.axes) >= 1:
        return Text(f"{p.text(a).at(PRODUCT)} @ {p.text(b).at(PRODUCT + 1)}", PRODUCT)
    return atom(einsum_text(p, node))


def einsum_text(p: Printer, node: Node) -> str:
    """Labelled axes are letters already."""
    a, b = node.args
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    of: dict[Axis, str] = {}
    texts, subscripts = [], []
    for operand in (a, b):
        if _needs_parents(operand, node):
            p.fail("ragged-shape", "a product of values of a ragged loop and of its parent")
        texts.append(p.text(operand).text)
        subscripts.append("".join(of.setdefault(axis, next(letters)) for axis in operand.axes))
    m, k, n = (next(letters) for _ in range(3))
    lane = {(1, 1): (k, k, ""), (1, 2): (k, k + n, n), (2, 1): (m + k, k, m), (2, 2): (m + k, k + n, m + n)}[
        (a.kind.rank, b.kind.rank)
    ]
    out = "".join(of[axis] for axis in node.axes) + lane[2]
    equation = f"{subscripts[0]}{lane[0]},{subscripts[1]}{lane[1]}->{out}"
    return f'{p.library}.einsum("{equation}", {texts[0]}, {texts[1]})'


def contract_text(p: Printer, node: Node) -> Text:
    """A sum of products over axes that both factors have."""
    letters = iter("ijklmnopqrstuvw")
    of: dict[Axis, str] = {}
    subscripts = ["".join(of.setdefault(axis, next(letters)) for axis in factor.axes) for factor in node.args]
    out = "".join(of[axis] for axis in node.axes)
    texts = ", ".join(p.text(factor).text for factor in node.args)
    return atom(f'torch.einsum("{",".join(subscripts)}->{out}", {texts})')


def _needs_parents(operand: Node, node: Node) -> bool:
    return any(axis not in node.axes for axis in operand.axes)


def leading_text(p: Printer, node: Node) -> Text:
    return atom(f"{node.attrs['name']}({', '.join(p.text(a).text for a in node.args)})")


def module_text(p: Printer, node: Node) -> Text:
    (x,) = node.args
    path = node.attrs["path"]
    text = p.text(x)
    if not node.attrs.get("flatten") or (len(node.axes) == 1 and not node.attrs.get("own_batch")):
        return atom(f"{path}({text.text})")
    lead = len(node.axes) + bool(node.attrs.get("own_batch"))
    flat = f"{text.at(ATOM)}.flatten(0, {lead - 1})"
    return atom(f"{path}({flat}).unflatten(0, {text.at(ATOM)}.shape[:{lead}])")


def vmapped_text(p: Printer, node: Node) -> Text:
    """``torch.vmap`` of one op, once for each axis."""
    name, count = node.attrs["name"], node.attrs["positional"]
    letters = [f"x{k}" for k in range(len(node.args))]
    in_lanes = [bool(arg.axes) for arg in node.args]
    called = [
        letter if lane else p.text(arg).text for letter, lane, arg in zip(letters, in_lanes, node.args, strict=True)
    ]
    texts = called[:count] + [f"{k}={v}" for k, v in zip(node.attrs["kwargs"], called[count:], strict=True)]
    body = (
        f"{called[0]}.{name[7:]}({', '.join(texts[1:])})"
        if name.startswith("method.")
        else f"{name}({', '.join(texts)})"
    )
    params = [letter for letter, lane in zip(letters, in_lanes, strict=True) if lane]
    function = f"lambda {', '.join(params)}: {body}"
    for axis in reversed(node.axes):
        dims = [0 if axis in arg.axes else None for arg in node.args if arg.axes]
        extra = "" if all(d == 0 for d in dims) else f", in_dims={literal(tuple(dims), 'torch')}"
        function = f"torch.vmap({function}{extra})"
    values = ", ".join(p.text(arg).text for arg in node.args if arg.axes)
    return atom(f"{function}({values})")


# ---------------------------------------------------------------- arrays and lists that the region makes


def assemble_text(p: Printer, node: Node) -> Text:
    """A store that covers a fresh array is that array: cast, in its order of dimensions, in memory of its own."""
    (value,) = node.args
    pieces, lead = node.attrs["pieces"], node.axes
    dims: list = [*lead, *(piece.axis if _kind(piece) == "Along" else None for piece in pieces)]
    whole = [k for k, label in enumerate(dims) if label is None]
    walked = [label for label in dims if label is not None]
    present = value.axes
    shape = [p.extent(a) for a in lead] + [p.text(s).text for s in node.attrs["shape"]]
    dtype = dtype_text(node.kind.dtype, p.library)
    if value.kind.is_number and not value.axes:
        return atom(
            f"{p.library}.full(({', '.join(shape)},), {p.text(value).text}, dtype={dtype}{p.device_argument()})"
        )
    text = p.text(value).at(ATOM)
    rank = value.kind.rank
    permutation = _target_order(dims, present, rank, len(whole))
    if permutation is not None and permutation != list(range(len(permutation))):
        numbers = ", ".join(map(str, permutation))
        text = (
            f"{text}.T"
            if permutation == [1, 0]
            else f"{text}.permute({numbers})"
            if p.library == "torch"
            else f"{text}.transpose({numbers})"
        )
    missing = [label for label in walked if label not in present] or rank < len(whole)
    if missing:
        items = []
        short = len(whole) - rank
        for label in dims:
            if label is None:
                items.append("None" if short > 0 else ":")
                short -= 1
            else:
                items.append(":" if label in present else "None")
        while items and items[0] == "None":
            items.pop(0)
        while items and items[-1] == ":":
            items.pop()
        text = f"{text}[{', '.join(items)}]" if items else text
        text = (
            f"{text}.expand({', '.join(shape)})"
            if p.library == "torch"
            else f"np.broadcast_to({text}, ({', '.join(shape)},))"
        )
    return atom(_own(p, text, value, node.kind.dtype, bool(missing)))


def _target_order(dims: list, present: tuple[Axis, ...], rank: int, wholes: int) -> list[int] | None:
    """Where each dimension of the array comes from in the value; lane dimensions keep their order."""
    order = []
    lane = len(present) - (wholes - rank)
    for label in dims:
        if label is None:
            if lane >= len(present):
                order.append(lane)
            lane += 1
        elif label in present:
            order.append(present.index(label))
    return order


VIEWS = frozenset(
    """slice name retype transposed unsqueezed reshaped permuted merged last attribute pack owned spread vector
    entries""".split()
)


def is_view(node: Node) -> bool:
    """Whether the node's memory may be that of something else."""
    if node.op == "cast":
        return False
    if node.op == "method":
        return node.attrs["name"] not in ("clone", "copy")
    if node.op == "where":
        return not node.args[0].axes and node.args[0].kind.is_number
    if node.op in ("module", "apply", "along_dim", "elementwise"):
        return node.op in ("module", "apply") or node.attrs.get("name", "").rpartition(".")[2] in (
            "to",
            "type",
            "contiguous",
            "view",
            "reshape",
        )
    return node.op in VIEWS


def _own(p: Printer, text: str, value: Node, dtype, expanded: bool) -> str:
    lane = value.kind.dtype if value.kind.is_array else None
    target = dtype_text(dtype, p.library)
    converted = (lane is None and p.dtype(value.kind) != dtype) or (lane is not None and lane != dtype)
    if p.library == "np":
        return (
            f'np.array({text}, dtype={target}, order="C")'
            if converted or expanded or is_view(value)
            else f"np.ascontiguousarray({text})"
        )
    if converted:
        return f"{text}.to({target}, memory_format=torch.contiguous_format)"
    if expanded or is_view(value):
        return f"{text}.clone(memory_format=torch.contiguous_format)"
    return text if _standard(value) else f"{text}.contiguous()"


def _standard(value: Node) -> bool:
    return value.op in ("join", "fold", "reduce")


def owned_text(p: Printer, node: Node) -> Text:
    (value,) = node.args
    if node.attrs.get("carried"):
        return p.text(value)
    return atom(_own(p, p.text(value).at(ATOM), value, node.kind.dtype, False))


def spread_text(p: Printer, node: Node) -> Text:
    (value,) = node.args
    text = full(p, value, node.axes)
    return atom(text)


def collect_text(p: Printer, node: Node) -> Text:
    """What was appended, as an array: the loops' dimensions flattened into one."""
    value, inside = node.args[0], node.attrs["inside"]
    axes = tuple(sorted({*node.axes, *inside}, key=lambda axis: axis.order))
    text = full(p, value, axes)
    if len(node.args) > 1:
        mask = full(p, node.args[1], tuple(inside))
        return atom(f"{_atomic(text)}[{mask}]")
    if len(inside) > 1:
        first = len(node.axes)
        last = first + len(inside) - 1
        if p.library == "np":
            return atom(f"{_atomic(text)}.reshape((-1,) + {_atomic(text)}.shape[{last + 1}:])")
        return atom(f"{_atomic(text)}.flatten({first}, {last})")
    return atom(text)


def _atomic(text: str) -> str:
    return text if text.replace(".", "").isidentifier() else f"({text})"


def listed_text(p: Printer, node: Node) -> Text:
    (value,) = node.args
    element = node.attrs["element"]
    text = p.text(value).at(ATOM)
    if element.is_number:
        return atom(f"{text}.tolist()")
    if p.library == "np":
        return atom(f"[row.copy() for row in {text}]" if element.rank else f"list({text})")
    return atom(f"[row.clone() for row in {text}.unbind()]")


def last_text(p: Printer, node: Node) -> Text:
    (value,) = node.args
    position = value.axes.index(node.attrs["axis"])
    text = f"{p.text(value).at(ATOM)}[{':, ' * position}-1]"
    return _scalar(node, text)


def drawn_text(p: Printer, node: Node) -> Text:
    draw, extent = node.args
    text, count = p.text(draw).text, p.text(extent).text
    join = "torch.stack" if p.library == "torch" else "np.stack"
    return atom(f"{join}([{text} for _ in range({count})])")


RENDERERS: dict[str, Callable[[Printer, Node], Text]] = {
    "slice": slice_text, "gather": gather_text, "take": take_text, "reduce": reduce_text, "fold": fold_text,
    "along_dim": along_dim_text, "method": method_text, "transposed": transposed_text, "unsqueezed": unsqueezed_text,
    "reshaped": reshaped_text, "permuted": permuted_text, "merged": merged_text, "join": join_text,
    "matmul": matmul_text, "contract": contract_text, "leading": leading_text, "module": module_text,
    "vmapped": vmapped_text, "assemble": assemble_text, "owned": owned_text, "spread": spread_text,
    "collect": collect_text, "listed": listed_text, "last": last_text, "drawn": drawn_text,
}  # fmt: skip
