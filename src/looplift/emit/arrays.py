"""Source text of arrays and lists that the region makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from looplift.emit.draws import drawn_text
from looplift.emit.spelling import ATOM, dtype_text
from looplift.emit.subscripts import piece_kind
from looplift.emit.text import Text, as_number, atom, full
from looplift.ir.array import Axis, Node
from looplift.ops.table import KEPT_FOR_BACKWARD, base_name

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def assemble_text(p: Printer, node: Node) -> Text:
    """A store that covers a fresh array is that array: cast, in its order of dimensions, in memory of its own."""
    (value,) = node.args
    pieces, lead = node.attrs["pieces"], node.axes
    dims: list = [*lead, *(piece.axis if piece_kind(piece) == "Along" else None for piece in pieces)]
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
    if missing or not node.attrs["fits"]:
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
    unsure = not node.attrs["fits"]
    return atom(_own(p, text, value, node.kind.dtype, bool(missing) or (unsure and p.library == "np"), unsure))


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
    """slice stencil name retype transposed unsqueezed reshaped permuted merged diagonal renamed last attribute pack
    leaf owned spread stretched vector entries at label_pairs settled""".split()
)


VIEW_FUNCTIONS = frozenset(
    """narrow diagonal unfold expand expand_as view view_as reshape reshape_as select squeeze unsqueeze swapdims
    swapaxes movedim moveaxis t permute transpose real imag chunk split unbind tensor_split hsplit vsplit dsplit detach
    adjoint positive atleast_1d atleast_2d atleast_3d broadcast_to contiguous to type type_as float double ravel
    flatten unflatten resolve_conj as_strided alias asarray as_tensor
    conj conj_physical resolve_neg cpu to_dense broadcast_tensors meshgrid cartesian_prod einsum split_with_sizes
    unsafe_chunk unsafe_split unsafe_split_with_sizes view_as_real from_dlpack slice_inverse dropout1d dropout2d
    dropout3d bool long int half bfloat16 cfloat cdouble""".split()
)


def is_view(node: Node) -> bool:
    """Whether the node's memory may be that of something else."""
    if node.op == "cast":
        return False
    if node.op == "collect":
        return len(node.args) == 1 and is_view(node.args[0])
    if node.op in ("field", "unflattened"):
        return is_view(node.args[0])
    if node.op == "batched":
        return bool(node.attrs.get("view"))
    if node.op in ("vmapped", "leading"):
        return base_name(node.attrs["name"]) in VIEW_FUNCTIONS
    if node.op == "method":
        return node.attrs["name"] not in ("clone", "copy")
    if node.op == "where":
        return not node.args[0].axes and node.args[0].kind.is_number
    if node.op == "module":
        return not node.attrs.get("fresh") or bool(node.attrs.get("flatten"))
    if node.op in ("apply", "along_dim", "elementwise"):
        return node.op == "apply" or node.attrs.get("name", "").rpartition(".")[2] in (
            "to",
            "type",
            "contiguous",
            "view",
            "reshape",
            "pos",
            "positive",
            "conj",
            "resolve_conj",
            "resolve_neg",
            "real",
            "imag",
        )
    return node.op in VIEWS


def _shows_memory(p: Printer, node: Node) -> bool:
    """Whether the value would be another one when an array that it was read from is written to."""
    if not (node.kind.is_array or node.axes):
        return False
    if node.op == "name" or node.serial in p.memory:
        return node.serial in p.memory or bool(node.attrs.get("memory"))
    return is_view(node) and any(_shows_memory(p, arg) for arg in node.args)


def detached(p: Printer, node: Node) -> Text:
    """A value that is kept while arrays are written to."""
    made = p.text(node)
    copy = "clone" if p.library == "torch" else "copy"
    return atom(f"{made.at(ATOM)}.{copy}()") if _shows_memory(p, node) else made


def carried_text(p: Printer, node: Node) -> Text | None:
    """Numbers of lanes that get names, several at once; None where none of them is in memory that is written to."""
    parts = node.args if node.op == "display" and node.attrs.get("bare") else (node,)
    if not any(_is_copied(part) and _shows_memory(p, part) for part in parts):
        return None
    return Text(", ".join((detached(p, part) if _is_copied(part) else p.text(part)).text for part in parts))


def _is_copied(node: Node) -> bool:
    """Whether reading an array gives a number that does not change with it: of NumPy's elements, too."""
    return node.kind.is_number or node.kind.family == "numpy"


def _own(p: Printer, text: str, value: Node, dtype, expanded: bool, unsure: bool = False) -> str:
    """Memory of its own for a value; ``expanded`` is known to be a view, ``unsure`` may be one."""
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
    if not expanded and _is_alone(p, value):
        return f"{text}.contiguous()"
    if expanded or is_view(value) or (unsure and value.op == "module") or (p.gradients and _keeps_its_result(value)):
        return f"{text}.clone(memory_format=torch.contiguous_format)"
    return text if _standard(value) and not unsure else f"{text}.contiguous()"


REARRANGED = frozenset(("permuted", "transposed", "merged", "collect"))
"""All elements of one value, in another order."""
MADE_ANEW = frozenset(
    ("gather", "elementwise", "fold", "reduce", "leading", "matmul", "contract", "join", "on_diagonal", "custom")
)


def _is_alone(p: Printer, value: Node) -> bool:
    """Whether the value is new memory in another order, which nothing else reads and backward does not need."""
    inner = value
    while inner.op in REARRANGED and len(inner.args) == 1:
        (inner,) = inner.args
        if p.uses.get(inner.serial, 0) > 1:
            return False
    if inner.op == "owned":
        return not inner.attrs.get("carried") and p.uses.get(inner.serial, 0) <= 1
    if inner is value or inner.op not in MADE_ANEW:
        return False
    return not is_view(inner) and not (p.gradients and _keeps_its_result(inner))


LINEAR = frozenset("linear matmul mm bmm diag_embed tril triu flip roll".split())
"""Functions whose backward pass needs what they were given, not what they made."""


def _keeps_its_result(value: Node) -> bool:
    """Whether backward needs the result as it is: what the loop stores into an array is a copy, free to be changed."""
    if value.op == "collect":
        return _keeps_its_result(value.args[0])
    if value.op == "leading" and base_name(value.attrs["name"]) in LINEAR:
        return False
    if value.op in ("vmapped", "module", "cell", "apply", "paired", "leading", "distances"):
        return True
    if value.op == "reduce":
        return value.attrs["operator"] not in ("add", "and", "or")
    if value.op in ("elementwise", "fold", "along_dim"):
        return base_name(value.attrs["name"]) in KEPT_FOR_BACKWARD
    return False


def _standard(value: Node) -> bool:
    return value.op in ("join", "fold", "reduce", "distances", "custom")


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
        return atom(f"{_atomic(text)}[{':, ' * len(node.axes)}{mask}]")
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
    if p.library == "np" and element.family == "array":
        return atom(f"[row.copy() for row in {text}]" if element.rank else f"[np.array(item) for item in {text}]")
    if p.library == "np":
        return atom(f"list({text})")
    return atom(f"[row.clone() for row in {text}.unbind()]")


def last_item_text(p: Printer, node: Node) -> Text:
    """The last item of a list that is a result too: the very object."""
    return atom(f"{p.bind(node.args[0])}[-1]")


def copied_text(p: Printer, node: Node) -> Text:
    return atom(f"{p.text(node.args[0]).at(ATOM)}.{'clone' if p.library == 'torch' else 'copy'}()")


def last_text(p: Printer, node: Node) -> Text:
    (value,) = node.args
    position = value.axes.index(node.attrs["axis"])
    text = f"{p.text(value).at(ATOM)}[{':, ' * position}-1]"
    return as_number(node, text)


RENDERERS: dict[str, Callable[[Printer, Node], Text]] = {
    "assemble": assemble_text, "owned": owned_text, "spread": spread_text, "collect": collect_text,
    "listed": listed_text, "last": last_text, "last_item": last_item_text, "copied": copied_text, "drawn": drawn_text,
}  # fmt: skip
