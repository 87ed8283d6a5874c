"""Source text of nodes that move data: slices, gathers, reductions, joins, contractions, results."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from looplift.emit.integers import sum_text
from looplift.emit.ragged import segment_text
from looplift.emit.spelling import ATOM, MEDIANS, dtype_text, literal
from looplift.emit.text import Text, arranged, as_number, atom, full
from looplift.ir.array import Axis, Node
from looplift.ir.facts import Kind

if TYPE_CHECKING:
    from looplift.emit.source import Printer


# ---------------------------------------------------------------- folds


def reduce_text(p: Printer, node: Node) -> Text:
    """A reduction over axes; a ragged one returns to its parent by a segment sum."""
    (value,) = node.args
    axes, operator = node.attrs["axes"], node.attrs["operator"]
    ragged = [a for a in axes if a.is_ragged and set(a.parents) & set(node.axes)]
    text = p.text(value).at(ATOM)
    dims = [value.axes.index(axis) for axis in axes if axis not in ragged]
    if ragged:
        if dims or len(ragged) > 1:
            p.fail("ragged-shape", "a sum over several ragged loops at once")
        return _segments(p, node, value, ragged[0], operator)
    method = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin", "maximum": "amax", "minimum": "amin",
              "and": "all", "or": "any"}[operator]  # fmt: skip
    if method == "sum" and p.library == "torch" and node.kind.is_number and str(p.dtype(value.kind)) == "torch.bool":
        method = "count_nonzero"
    every = len(dims) == value.rank
    if p.library == "np":
        method = method.replace("amax", "max").replace("amin", "min")
        given = [] if every else [f"axis={literal(tuple(dims), 'np')}"]
        if method in ("sum", "prod") and node.kind.is_array and node.kind.dtype.kind in "iu":
            given += [] if node.kind.dtype.itemsize == 8 else [f"dtype={dtype_text(node.kind.dtype, 'np')}"]
        return as_number(node, f"{text}.{method}({', '.join(given)})")
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
    return as_number(node, text)


def _segments(p: Printer, node: Node, value: Node, axis: Axis, operator: str) -> Text:
    """The fold of a loop's values over each lane's entries."""
    if operator in ("and", "or"):
        return _any_of(p, node, value, axis, operator)
    short = {"maximum": "max", "minimum": "min"}.get(operator, operator)
    made = Node("segment", (value,), node.axes, node.kind, {"axis": axis, "operator": short, "gradients": True})
    return as_number(node, segment_text(p, made).text)


def _any_of(p: Printer, node: Node, value: Node, axis: Axis, operator: str) -> Text:
    """Whether one of each lane's entries holds, or all: none of them does not."""
    dtype = p.dtype(Kind("int"))
    counted = value if operator == "or" else Node("elementwise", (value,), value.axes, value.kind, {"name": "not"})
    ones = Node("cast", (counted,), value.axes, Kind("tensor", dtype), {"dtype": dtype})
    attrs = {"axis": axis, "operator": "add", "gradients": False}
    count = segment_text(p, Node("segment", (ones,), node.axes, ones.kind, attrs))
    return as_number(node, f"({count.text} {'>' if operator == 'or' else '=='} 0)")


def fold_text(p: Printer, node: Node) -> Text:
    """A reduction of dimensions of each lane's value."""
    x, extra = node.args[0], node.args[1:]
    base, dims, keep = node.attrs["name"], node.attrs["dims"], node.attrs["keepdim"]
    text = p.text(x).at(ATOM)
    names = node.attrs["kwargs"]
    more = "".join(f", {k}={p.text(v).text}" for k, v in zip(names, extra, strict=True))
    if (
        keep
        and len(dims) > 1
        and (base in ("norm", "argmax", "argmin") if p.library == "np" else _is_single(base, dims))
    ):
        bare = Node("fold", node.args, node.axes, node.kind, node.attrs | {"keepdim": False})
        return atom(f"{fold_text(p, bare).at(ATOM)}[...{', None' * len(dims)}]")
    if p.library == "np":
        short = {"amax": "max", "amin": "min", "norm": "linalg.norm", "absolute": "abs"}.get(base, base)
        if base in ("norm", "argmax", "argmin") and len(dims) > 1:
            text, dims = f"{text}.reshape({text}.shape[:{len(x.axes)}] + (-1,))", (-1,)
        keeps = ", keepdims=True" if keep else ""
        where = dims[0] if len(dims) == 1 else dims
        return atom(f"np.{short}({text}, axis={where}{keeps}{more})")
    keeps = ", keepdim=True" if keep else ""
    if _is_single(base, dims) and len(dims) > 1:
        text, dims = f"{text}.flatten({-len(dims)})", (-1,)
    where = dims[0] if len(dims) == 1 else dims
    if base in ("max", "min"):
        base = f"a{base}"
        if p.gradients and p.dtype(x.kind).is_floating_point:
            p.need("extreme")
            return atom(f'extreme({text}, "{base}", {where}{keeps})')
    if base == "prod" and p.gradients and p.dtype(x.kind).is_floating_point and not more:
        for helper in ("comes_finite", "unless_finite", "with_zeros_apart", "product"):
            p.need(helper)
        rank = x.kind.rank if dims == node.attrs["dims"] else 1
        return atom(f"product({text}, {where}, {rank}{', at_once=True' if node.attrs['all'] else ''}{keeps})")
    if base == "vector_norm":
        return atom(f"torch.linalg.vector_norm({text}, dim={where}{keeps}{more})")
    if base in ("logsumexp", "nansum", "nanmean"):
        return atom(f"torch.{base}({text}, {where}{keeps}{more})")
    if base == "norm":
        return atom(f"{text}.norm(dim={where}{keeps}{more})")
    if base in MEDIANS:
        if p.gradients and p.dtype(x.kind).is_floating_point:
            p.need("extreme")
            return atom(f'extreme({text}.contiguous(), "{base}", {where}{keeps})')
        return atom(f"{text}.contiguous().{base}({where}{keeps}{more}).values")
    return atom(f"{text}.{base}({where}{keeps}{more})")


def _is_single(base: str, dims: tuple[int, ...]) -> bool:
    """Whether torch folds but one dimension at a time."""
    return base in ("prod", "argmax", "argmin", *MEDIANS) or (base in ("any", "all") and len(dims) > 1)


def along_dim_text(p: Printer, node: Node) -> Text:
    base, dim = node.attrs["name"], node.attrs["dim"]
    text = p.text(node.args[0]).at(ATOM)
    if p.library == "np":
        return atom(f"np.{base}({text}, axis={dim})")
    if base == "softmin":
        return atom(f"torch.nn.functional.{base}({text}, {dim})")
    if base in ("cummax", "cummin"):
        return atom(f"{text}.{base}({dim}).values")
    if base == "cumprod" and p.gradients and p.dtype(node.args[0].kind).is_floating_point:
        p.need("with_zeros_apart")
        p.need("products_so_far")
        return atom(f"products_so_far({text}, {literal(dim, 'torch')}, {node.args[0].kind.rank})")
    if isinstance(dim, tuple) and base != "flip":
        p.fail("unknown-op", f"'{base}' along several dimensions")
    return atom(f"{text}.{base}({literal(dim, 'torch')})")


def sorted_places_text(p: Printer, node: Node) -> Text:
    text = p.text(node.args[0]).at(ATOM)
    if p.library == "np":
        return atom(f'np.argsort({text}, axis=-1, kind="stable")')
    if not node.attrs["reverse"] and not p.device:
        p.need("places_in_order")
        if node.attrs.get("partly"):
            p.need("PlacesInOrder")
            return atom(f"PlacesInOrder({text})")
        return atom(f"places_in_order({text})")
    order = ", descending=True" if node.attrs["reverse"] else ""
    return atom(f"{text}.sort(dim=-1, stable=True{order})[1]")


def first_places_text(p: Printer, node: Node) -> Text:
    """As many places in order as a slice reads, counted from the first; or all of them."""
    made, base, extent = node.args
    text = p.text(made).at(ATOM)
    return atom(text if p.device else f"{text}.first({sum_text(p, base, extent)})")


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
    x, *lane = node.args
    sizes = [p.extent(axis) for axis in node.axes] + [p.text(size).text for size in lane]
    return atom(f"{p.text(x).at(ATOM)}.reshape({', '.join(sizes)})")


def stretched_text(p: Printer, node: Node) -> Text:
    x, *lane = node.args
    sizes = ["-1"] * len(node.axes) + [p.text(size).text for size in lane]
    return atom(f"{p.text(x).at(ATOM)}.expand({', '.join(sizes)})")


def permuted_text(p: Printer, node: Node) -> Text:
    lead = len(node.axes)
    order = [*range(lead), *(lead + k for k in node.attrs["order"])]
    text = p.text(node.args[0]).at(ATOM)
    if order == sorted(order):
        return atom(text)
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


def unflattened_text(p: Printer, node: Node) -> Text:
    """One dimension becomes several."""
    return atom(f"{p.text(node.args[0]).at(ATOM)}.unflatten({node.attrs['dim']}, {node.attrs['sizes']})")


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


RENDERERS: dict[str, Callable[[Printer, Node], Text]] = {
    "reduce": reduce_text, "fold": fold_text, "along_dim": along_dim_text, "method": method_text,
    "transposed": transposed_text, "unsqueezed": unsqueezed_text, "reshaped": reshaped_text,
    "stretched": stretched_text, "permuted": permuted_text, "merged": merged_text, "join": join_text,
    "unflattened": unflattened_text, "sorted_places": sorted_places_text,
    "first_places": first_places_text,
}  # fmt: skip
