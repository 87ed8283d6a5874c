"""Sums of products as contractions, which need no intermediate: labelled values in, cheaper ones out.

A ``contract`` node has two factors. Its axes are those of the factors that are not summed; ``lanes`` names the
dimensions of one lane's value as einsum does, for both factors and the result.
"""

from __future__ import annotations

from looplift.ir.array import Axis, Node, merge_axes

LETTERS = "abcdefgh"


def _may_contract(*factors: Node) -> bool:
    """Whether factors are floats that a contraction adds up as precisely as a sum does, in the same dtype."""
    import torch

    dtypes = {factor.kind.dtype for factor in factors}
    if len(dtypes) > 1 or _is_ragged(*factors):
        return False
    if all(factor.kind.family in ("array", "numpy") for factor in factors):
        return all(dtype.name == "float64" for dtype in dtypes)
    if any(factor.kind.family != "tensor" for factor in factors):
        return False
    plain = all(dtype.is_floating_point and "16" not in str(dtype) for dtype in dtypes)
    exact = torch.get_float32_matmul_precision() == "highest" and not torch._C._is_any_autocast_enabled()
    return plain and exact


def _is_ragged(*factors: Node) -> bool:
    return any(axis.is_ragged for factor in factors for axis in factor.axes)


def factors_of(product: Node) -> tuple[Node, Node] | None:
    """The two factors of a product of floats."""
    if product.op != "elementwise" or product.attrs["name"] not in ("mul", "torch.mul") or len(product.args) != 2:
        return None
    a, b = product.args
    return (a, b) if _may_contract(a, b) else None


def _summed_product(node: Node) -> tuple[Node, Node] | None:
    """The two factors of a sum of products over axes."""
    if node.op != "reduce" or node.attrs["operator"] != "add" or any(axis.is_ragged for axis in node.attrs["axes"]):
        return None
    return factors_of(node.args[0])


def _summed(node: Node, axes: tuple[Axis, ...]) -> Node:
    rest = tuple(axis for axis in node.axes if axis not in axes)
    return Node("reduce", (node,), rest, node.kind, {"axes": axes, "operator": "add"}, node.hint) if axes else node


def _only_finite(node: Node, *factors: Node) -> Node:
    """What sums of other values than the loop's give: they may overflow alone, or the loop's terms, and infinity times
    zero is NaN. ``factors``: those of the loop's terms."""
    return Node("only_finite", (node, *factors), node.axes, node.kind, {}, node.hint)


def finite_sum(node: Node) -> Node | None:
    """A sum is finite only if what is added up is."""
    if node.op != "reduce" or node.attrs["operator"] != "add" or node.args[0].op != "only_finite":
        return None
    value, *factors = node.args[0].args
    return _only_finite(Node("reduce", (value,), node.axes, node.kind, dict(node.attrs), node.hint), *factors)


def factored_sum(node: Node) -> Node | None:
    """A sum over independent factors is a product of sums."""
    factors = _summed_product(node)
    if factors is None:
        return None
    a, b = factors
    axes: tuple[Axis, ...] = node.attrs["axes"]
    mine, others = [x for x in axes if x in a.axes], [x for x in axes if x in b.axes]
    if not mine or not others or set(mine) & set(others):
        return None
    parts = tuple(_summed(factor, tuple(over)) for factor, over in ((a, mine), (b, others)))
    return _only_finite(Node("elementwise", parts, node.axes, node.kind, {"name": "mul"}, node.hint), a, b)


def inner_sum(node: Node) -> Node | None:
    """What only one factor varies with is summed before the other one comes in, where that is a contraction."""
    factors = _summed_product(node)
    for product, other in () if factors is None else (factors, factors[::-1]):
        axes: tuple[Axis, ...] = node.attrs["axes"]
        alone = tuple(axis for axis in axes if axis not in other.axes)
        rest = tuple(axis for axis in axes if axis in other.axes)
        inner = factors_of(product) or _masked_factors(product)
        if not alone or not rest or inner is None or any(factor.kind.rank for factor in (*inner, other)):
            continue
        if all(set(alone) <= set(factor.axes) for factor in inner):
            summed = _summed(Node("elementwise", inner, product.axes, product.kind, {"name": "mul"}), alone)
            kept = tuple(axis for axis in product.axes if axis not in alone)
            made = Node("elementwise", (summed, other), merge_axes(kept, other.axes), node.kind, {"name": "mul"})
            return _only_finite(_summed(made, rest), *inner, other)
    return None


def _masked_factors(node: Node) -> tuple[Node, Node] | None:
    """The factors of a product that is zero where a mask does not hold; the first one has all axes of the mask, and is
    zero there itself."""
    if node.op != "where" or len(node.args) != 3 or not _is_zero(node.args[2]):
        return None
    mask, product, zero = node.args
    factors = factors_of(product)
    for factor, other in () if factors is None else (factors, factors[::-1]):
        if set(mask.axes) <= set(factor.axes) and len(factor.axes) < len(node.axes):
            return Node("where", (mask, factor, zero), factor.axes, factor.kind, {"held": True}, factor.hint), other
    return None


def _is_zero(node: Node) -> bool:
    return node.op == "const" and type(node.attrs["value"]) in (int, float) and node.attrs["value"] == 0


def contracted_axes(node: Node) -> Node | None:
    """A sum of products over a shared axis."""
    factors = _summed_product(node)
    if factors is None:
        return None
    a, b = factors
    axes: tuple[Axis, ...] = node.attrs["axes"]
    if not all(axis in a.axes and axis in b.axes for axis in axes):
        return None
    a, b = _aligned(a, b, axes)
    if not a.kind.rank and not b.kind.rank:
        return _contraction(node, a, b, ("", "", "")) if node.axes else None
    return _contracted_rows(node, a, b)


def _aligned(a: Node, b: Node, axes: tuple[Axis, ...]) -> tuple[Node, Node]:
    """Of factors that are summed over an axis, the smaller one is turned around instead of the other."""
    if a.op == "turned" and set(a.attrs["turned"]) <= set(axes) and len(a.axes) >= len(b.axes):
        return a.args[0], Node("turned", (b,), b.axes, b.kind, dict(a.attrs) | {"extents": None}, b.hint)
    if b.op == "turned" and set(b.attrs["turned"]) <= set(axes) and len(b.axes) > len(a.axes):
        return Node("turned", (a,), a.axes, a.kind, dict(b.attrs) | {"extents": None}, a.hint), b.args[0]
    return a, b


def turned_sum(node: Node) -> Node | None:
    """A sum does not depend on the order along its axes."""
    if node.op != "reduce" or node.attrs["operator"] != "add" or node.args[0].op != "turned":
        return None
    (turned,) = node.args
    if not set(turned.attrs["turned"]) <= set(node.attrs["axes"]) or not _may_contract(node):
        return None
    return Node("reduce", turned.args, node.axes, node.kind, dict(node.attrs), node.hint)


def _contracted_rows(node: Node, a: Node, b: Node) -> Node | None:
    """Numbers by arrays, and outer products, of which a sum over all common axes is left."""
    if set(a.axes) & set(b.axes) != set(node.attrs["axes"]):
        return None
    for weight, outer in ((a, b), (b, a)):
        if not weight.kind.rank and (sides := _outer(outer)) is not None:
            column, row = sides
            if column.axes == row.axes == weight.axes:
                weighted = Node("elementwise", (weight, column), column.axes, column.kind, {"name": "mul"}, column.hint)
                return _contraction(node, weighted, row, ("a", "b", "ab"))
    if not a.kind.rank or not b.kind.rank:
        own = [LETTERS[: factor.kind.rank] for factor in (a, b)]
        return _contraction(node, a, b, (own[0], own[1], max(own)))
    if (column := _column(a)) is not None and b.kind.rank == 1:
        return _contraction(node, column, b, ("a", "b", "ab"))
    return None


def _column(node: Node) -> Node | None:
    """The vector that is a column here."""
    return node.args[0] if node.op == "unsqueezed" and node.attrs["dim"] == -1 and node.kind.rank == 2 else None


def _outer(node: Node) -> tuple[Node, Node] | None:
    """The vectors of which a product of vectors is made."""
    factors = factors_of(node)
    column = None if factors is None else _column(factors[0])
    return None if factors is None or column is None or factors[1].kind.rank != 1 else (column, factors[1])


def contracted_lanes(node: Node) -> Node | None:
    """A sum over dimensions of one lane's value, of products of factors of which each has an axis of its own."""
    if node.op != "fold" or node.attrs["name"] != "sum" or node.attrs["keepdim"] or len(node.args) != 1:
        return None
    if node.attrs.get("decides"):
        return None  # a product of matrices adds up in another order
    factors = factors_of(node.args[0])
    if factors is None or factors[0].kind.rank != factors[1].kind.rank:
        return None
    a, b = factors
    if set(a.axes) <= set(b.axes) or set(b.axes) <= set(a.axes):
        return None
    rank, dims = a.kind.rank, node.attrs["dims"]
    kept = "".join(LETTERS[k] for k in range(rank) if k - rank not in dims)
    return _contraction(node, a, b, (LETTERS[:rank], LETTERS[:rank], kept))


def _contraction(node: Node, a: Node, b: Node, lanes: tuple[str, str, str]) -> Node:
    return Node("contract", (a, b), node.axes, node.kind, {"lanes": lanes}, node.hint)


def summed_contraction(node: Node) -> Node | None:
    """A sum of contractions: over an axis of one factor it is a sum of that factor, over a shared one a wider one."""
    if node.op != "reduce" or node.attrs["operator"] != "add" or node.args[0].op not in ("contract", "matmul"):
        return None
    made = node.args[0]
    a, b = made.args
    axes: tuple[Axis, ...] = node.attrs["axes"]
    if not _may_contract(a, b, node):
        return None
    mine, others = (
        _summed(factor, tuple(x for x in axes if x in factor.axes and x not in other.axes))
        for factor, other in ((a, b), (b, a))
    )
    found = _contraction(node, mine, others, _lanes_of(made))
    return found if mine is a and others is b else _only_finite(found, a, b)


def _lanes_of(made: Node) -> tuple[str, str, str]:
    if made.op == "contract":
        return made.attrs["lanes"]
    ranks = (made.args[0].kind.rank, made.args[1].kind.rank)
    return {(1, 1): ("a", "a", ""), (1, 2): ("a", "ab", "b"), (2, 1): ("ab", "b", "a"), (2, 2): ("ab", "bc", "ac")}[
        ranks
    ]
