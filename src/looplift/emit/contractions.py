"""Source text of products, network modules and operations under ``torch.vmap``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from looplift.emit import products
from looplift.emit.held_products import product_text
from looplift.emit.spelling import ATOM, MEDIANS, PRODUCT, literal
from looplift.emit.text import Text, arranged, atom, expanded, full
from looplift.ir.array import Axis, Node
from looplift.ops import table

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def matmul_text(p: Printer, node: Node) -> Text:
    if (factors := _factors(p, node)) is not None:
        return Text(f"{factors[0].at(PRODUCT)} @ {factors[1].at(PRODUCT + 1)}", PRODUCT)
    return einsum_text(p, node)


def _factors(p: Printer, node: Node) -> tuple[Text, Text] | None:
    """What is multiplied, where ``@`` does it for all lanes."""
    a, b = node.args
    ranks = (a.kind.rank, b.kind.rank)
    if _is_turned(p, node):
        return p.text(b), atom(p.turned.get(a.serial) or _turned(p, a))
    if not b.axes and (ranks[0] == 2 or ranks == (1, 2) or (ranks == (1, 1) and a.axes)):
        return p.text(a), p.text(b)
    return None


def added_product(p: Printer, node: Node) -> Text | None:
    """A product of matrices that begins with what it is added to; None where it stands elsewhere, too."""
    position = node.attrs["product"]
    product, other = node.args[position], node.args[1 - position]
    if product.op not in ("matmul", "apply") or product.serial in p.names or p.uses.get(product.serial, 0) > 1:
        return None
    if [arg.rank for arg in product.args] != [2, 2]:  # as a matrix of each lane with one vector
        return None
    factors = tuple(map(p.text, product.args)) if product.op == "apply" else _factors(p, product)
    if factors is None or not other.kind.is_array:
        return None
    start = arranged(p, other, node.axes, node.kind.rank, 0)
    return atom(f"torch.addmm({start}, {factors[0].text}, {factors[1].text})")


def _is_turned(p: Printer, node: Node) -> bool:
    """Whether a matrix is multiplied with a vector of each lane, the rows of another one."""
    a, b = node.args
    return not a.axes and (a.kind.rank, b.kind.rank) == (2, 1) and p.library == "torch"


def _turned(p: Printer, matrix: Node) -> str:
    return f"{p.text(matrix).at(ATOM)}.mT"


def turn_matrices(p: Printer, nodes: list[Node], varying: set[int]) -> None:
    """Names for matrices that a loop does not change, as it multiplies them in each step."""
    for node in nodes:
        if node.op == "matmul" and node.serial in varying and node.serial not in p.names and _is_turned(p, node):
            matrix = node.args[0]
            if matrix.serial not in varying and matrix.serial not in p.turned:
                text = _turned(p, matrix)
                p.turned[matrix.serial] = p.fresh(f"{text.partition('.')[0]}_turned")
                p.line(f"{p.turned[matrix.serial]} = {text}")


def einsum_text(p: Printer, node: Node) -> Text:
    """Labelled axes are letters already."""
    a, b = node.args
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    of: dict[Axis, str] = {}
    texts, subscripts = [], []
    for operand in (a, b):
        text, axes = expanded(p, operand, node.axes)
        texts.append(text)
        subscripts.append("".join(of.setdefault(axis, next(letters)) for axis in axes))
    m, k, n = (next(letters) for _ in range(3))
    lane = {(1, 1): (k, k, ""), (1, 2): (k, k + n, n), (2, 1): (m + k, k, m), (2, 2): (m + k, k + n, m + n)}[
        (a.kind.rank, b.kind.rank)
    ]
    out = "".join(of[axis] for axis in node.axes) + lane[2]
    first, second = (own + letters for own, letters in zip(subscripts, lane, strict=False))
    if (dots := _dots_of_rows(p, node, (texts[0], first), (texts[1], second), out)) is not None:
        return dots
    if (
        made := products.matrix_product((texts[0], first), (texts[1], second), out, stacks=p.library == "torch")
    ) is not None:
        return made
    if (made := _with_each(p, (texts[0], first), (texts[1], second), out)) is not None:
        return made
    return atom(f'{p.library}.einsum("{first},{second}->{out}", {texts[0].text}, {texts[1].text})')


def _with_each(p: Printer, a: products.Factor, b: products.Factor, out: str) -> Text | None:
    """The product of a matrix with each of many, as ``einsum`` computes it; None for other products."""
    found = products.matrix_with_each(a, b, out) if p.library == "torch" else None
    if found is None:
        return None
    p.need("product_with_each")
    return atom(f"product_with_each({', '.join(found)})")


def _dots_of_rows(p: Printer, node: Node, a: products.Factor, b: products.Factor, out: str) -> Text | None:
    """The dot product of each row of one factor with that of the other; None for other products."""
    alike = a[1] == b[1] == out + a[1][-1] and out
    real = str(node.kind.dtype) in ("torch.float32", "torch.float64")
    if p.library != "torch" or not alike or not real or torch._C._is_any_autocast_enabled():
        return None
    return atom(f"torch.linalg.vecdot({a[0].text}, {b[0].text})")


def contract_text(p: Printer, node: Node) -> Text:
    """A sum of products over axes that both factors have, and over dimensions of one lane's value."""
    letters = iter("ijklmnopqrstuvw")
    of: dict[Axis, str] = {}
    *own, lane = node.attrs["lanes"]
    subscripts = [
        "".join(of.setdefault(axis, next(letters)) for axis in factor.axes) + lanes
        for factor, lanes in zip(node.args, own, strict=True)
    ]
    out = "".join(of[axis] for axis in node.axes) + lane
    return product_text(p, node.args, lambda factors: _contraction(p, node, factors, subscripts, out))


def _contraction(p: Printer, node: Node, factors: list[Text], subscripts: list[str], out: str) -> Text:
    (first, second), (a, b) = factors, subscripts
    if (dots := _dots_of_rows(p, node, (first, a), (second, b), out)) is not None:
        return dots
    if (made := products.matrix_product((first, a), (second, b), out, stacks=p.library == "torch")) is not None:
        return made
    if (made := _with_each(p, (first, a), (second, b), out)) is not None:
        return made
    best = ", optimize=True" if p.library == "np" else ""
    return atom(f'{p.library}.einsum("{a},{b}->{out}", {first.text}, {second.text}{best})')


def only_finite_text(p: Printer, node: Node) -> Text:
    """A value that is the loop's only where it is finite."""
    helper, least = ("only_finite", "least_size") if p.library == "torch" else ("only_finite_array", "least_size_array")
    p.need(least)
    p.need(helper)
    return atom(f"{helper}({', '.join(p.text(arg).text for arg in node.args)})")


def distances_text(p: Printer, node: Node) -> Text:
    """The distances between the rows of two arrays, or their squares."""
    a, b = (p.text(side).text for side in node.args)
    if not p.gradients:
        found = f'torch.cdist({a}, {b}, compute_mode="donot_use_mm_for_euclid_dist")'
        return atom(f"{found}.square()" if node.attrs["squared"] else found)
    p.need("comes_finite")
    p.need("distances")
    return atom(f"distances({a}, {b}, squared=True)" if node.attrs["squared"] else f"distances({a}, {b})")


def counted_both_text(p: Printer, node: Node) -> Text:
    """How many elements hold in both of two masks, for each pair of lanes."""
    p.need("counted_both")
    a, b = (p.text(mask).text for mask in node.args)
    return atom(f"counted_both({a}, {b}, {node.args[0].kind.rank})")


def counted_own_text(p: Printer, node: Node) -> Text:
    """How many elements hold in a mask that is broadcast to the shape of another one, for each lane."""
    p.need("counted_own")
    a, b = (p.text(mask).text for mask in node.args)
    return atom(f"counted_own({a}, {b}, {node.args[0].kind.rank})")


def label_table_text(p: Printer, node: Node) -> Text:
    """How many places have each pair of labels, with two rows and columns for the labels of no lane."""
    p.need("label_table")
    return atom(f"label_table({', '.join(p.text(arg).text for arg in node.args)})")


def label_pairs_text(p: Printer, node: Node) -> Text:
    """How many places have both labels, for each pair of lanes."""
    return atom(f"{p.text(node.args[0]).at(100)}[1:-1, 1:-1]")


def label_either_text(p: Printer, node: Node) -> Text:
    """How many places have one of two labels, for each pair of lanes."""
    p.need("label_either")
    return atom(f"label_either({p.text(node.args[0]).text})")


def label_sums_text(p: Printer, node: Node) -> Text:
    """The sums of the rows that have each label."""
    p.need("label_bins")
    p.need("label_sums")
    return atom(f"label_sums({', '.join(p.text(arg).text for arg in node.args)})")


def leading_text(p: Printer, node: Node) -> Text:
    """A function that takes all leading dimensions as lanes."""
    names = node.attrs.get("kwargs", [])
    count = len(node.args) - len(names)
    texts = [arranged(p, a, node.axes, a.kind.rank, 0) if a.axes else p.text(a).text for a in node.args[:count]]
    texts += [f"{key}={p.text(arg).text}" for key, arg in zip(names, node.args[count:], strict=True)]
    texts += [node.attrs["extra"]] if node.attrs.get("extra") else []
    return atom(f"{node.attrs['name']}({', '.join(texts)})")


def custom_text(p: Printer, node: Node) -> Text:
    """An operator of the user's, called for all lanes at once; dimensions of its own in front stand behind theirs."""
    texts = []
    for operand, rank in zip(node.args, node.attrs["ranks"], strict=True):
        texts.append(arranged(p, operand, node.axes, rank, 0) if operand.axes else p.text(operand).text)
    if node.attrs["masked"]:
        texts[-1] = f"where={texts[-1]}"
    return atom(f"{node.attrs['name']}({', '.join(texts)})")


def module_text(p: Printer, node: Node) -> Text:
    (x,) = node.args
    path = node.attrs["path"]
    text = p.text(x)
    if not node.attrs.get("flatten") or (len(node.axes) == 1 and not node.attrs.get("own_batch")):
        return atom(f"{path}({text.text})")
    lead = len(node.axes) + bool(node.attrs.get("own_batch"))
    flat = f"{text.at(ATOM)}.flatten(0, {lead - 1})"
    return atom(f"{path}({flat}).unflatten(0, {text.at(ATOM)}.shape[:{lead}])")


def _of_stacks(p: Printer, node: Node) -> Text | None:
    """The op as it is of all lanes at once, where it takes dimensions in front; None of others."""
    name, operands = node.attrs["name"], node.args
    base, arrays = table.base_name(name), [arg for arg in node.args if arg.kind.is_array]
    flat = [k for k in node.attrs["positional"] if isinstance(k, int)]
    if not arrays or not operands[0].axes or len(flat) < len(node.attrs["positional"]):
        return None
    texts = [full(p, arg, node.axes) if arg.kind.is_array else p.text(arg).text for arg in operands]
    if operands[0].axes == node.axes:
        texts[0] = p.text(operands[0]).at(ATOM)
    rest = [texts[k] for k in flat[1:]] + [f"{key}={texts[k]}" for key, k in node.attrs["kwargs"].items()]
    if base in table.MATRIX_FUNCTIONS and all(arg.kind.rank == 2 for arg in arrays) and flat[:1] == [0]:
        owner = f"{texts[0]}.{base}(" if name.startswith("method.") else f"{name}({texts[0]}{', ' * bool(rest)}"
        return atom(f"{owner}{', '.join(rest)})")
    if base == "diagonal" and arrays[0].kind.rank == 2 and not rest:
        return atom(f"{texts[0]}.diagonal(0, -2, -1)")
    dim = operands[1] if base == "squeeze" and len(operands) == 2 else None
    if dim is not None and dim.op == "const" and type(dim.attrs["value"]) is int:
        place = dim.attrs["value"] - (operands[0].kind.rank if dim.attrs["value"] >= 0 else 0)
        return atom(f"{texts[0]}.squeeze({place})")
    return None


def vmapped_text(p: Printer, node: Node) -> Text:
    """``torch.vmap`` of one op, once for each axis."""
    if (found := _of_stacks(p, node)) is not None:
        return found
    name = node.attrs["name"]
    names = {k: f"x{k}" for k, arg in enumerate(node.args) if arg.axes}
    texts = [names.get(k) or p.text(arg).text for k, arg in enumerate(node.args)]
    called = [_argument_text(pattern, texts) for pattern in node.attrs["positional"]]
    called += [f"{key}={_argument_text(pattern, texts)}" for key, pattern in node.attrs["kwargs"].items()]
    if name.startswith("method."):
        body = f"{called[0]}.{name[7:]}({', '.join(called[1:])})"
    else:
        body = f"{name}({', '.join(called)})"
    function = f"lambda {', '.join(names.values())}: {body}"
    for axis in reversed(node.axes):
        dims = [0 if axis in arg.axes else None for arg in node.args if arg.axes]
        extra = "" if all(d == 0 for d in dims) else f", in_dims={literal(tuple(dims), 'torch')}"
        function = f"torch.vmap({function}{extra})"
    values = ", ".join(p.text(arg).text for arg in node.args if arg.axes)
    return atom(f"{function}({values})")


def _argument_text(pattern: int | list, texts: list[str]) -> str:
    if isinstance(pattern, int):
        return texts[pattern]
    return f"[{', '.join(_argument_text(inner, texts) for inner in pattern)}]"


def paired_text(p: Printer, node: Node) -> Text:
    """Values and indices along a dimension, which is counted from the end."""
    x, rest, named = node.args[0], node.args[1 : 1 + node.attrs["rest"]], node.args[1 + node.attrs["rest"] :]
    texts = [p.text(arg).text for arg in rest]
    texts += [f"{key}={p.text(arg).text}" for key, arg in zip(node.attrs["kwargs"], named, strict=True)]
    dim = f"dim={node.attrs['dim']}"
    whole = ".contiguous()" if node.attrs["name"] in MEDIANS and p.library == "torch" else ""
    return atom(f"{p.text(x).at(ATOM)}{whole}.{node.attrs['name']}({', '.join([*texts, dim])})")


def identity_text(p: Printer, node: Node) -> Text:
    """The identity matrix as large as each of some matrices."""
    matrices = p.text(node.args[0]).at(ATOM)
    return atom(f"torch.eye({matrices}.shape[-1], dtype={matrices}.dtype, device={matrices}.device)")


def field_text(p: Printer, node: Node) -> Text:
    return atom(f"{p.text(node.args[0]).at(ATOM)}[{node.attrs['position']}]")


RENDERERS: dict[str, Callable[[Printer, Node], Text]] = {
    "matmul": matmul_text, "contract": contract_text, "distances": distances_text, "only_finite": only_finite_text,
    "counted_both": counted_both_text, "label_pairs": label_pairs_text, "counted_own": counted_own_text,
    "label_table": label_table_text, "label_either": label_either_text, "label_sums": label_sums_text,
    "leading": leading_text, "module": module_text, "custom": custom_text,
    "vmapped": vmapped_text, "paired": paired_text, "field": field_text, "identity": identity_text,
}  # fmt: skip
