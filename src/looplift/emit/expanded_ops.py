"""Operations on rows as operations on their elements: elementwise ones, stacks, products, sums and extremes."""

from __future__ import annotations

from collections.abc import Callable

import torch

from looplift.base.data import replace
from looplift.emit.expanded import PRODUCTS, STACKED, Expansion, Row, Size, is_elementwise
from looplift.emit.native_ops import COMPARISONS, LOGIC, TESTS, canonical
from looplift.ir.grammar import Atom, Const, Group, Let, Op, Operand, Var, as_atom

PASSING = ("clone", "contiguous", "detach")
SPREADS = ("var", "std")
SUMS = ("sum", "mean", "logsumexp", "amax", "amin", "max", "min", "norm", "vector_norm", "dist", "prod", *SPREADS)


def row_of_operation(walk: Expansion, op: Op) -> Row | None:
    """The row that an operation makes, by its elements; None if there is no rule for it."""
    _, short = canonical(op.name)
    if short == "stack":
        return _stack(walk, op)
    source = walk.row(op.args[0]) if op.args else None
    if short in PASSING and len(op.args) == 1 and not op.kwargs and source is not None:
        return _passed(walk, op.name, source)
    if short == "unsqueeze" and source is not None and len(op.args) == 2 and not op.kwargs:
        return _unsqueezed(source, op.args[1])
    if (op.name == "attribute" and _constant(op.args[-1]) == "T") or (short == "t" and len(op.args) == 1):
        return _transposed(source)
    if short in ("softmax", "log_softmax") and source is not None:
        return _softmax(walk, short, op, source)
    if short in PRODUCTS and len(op.args) == 2 and not op.kwargs:
        return _product(walk, op)
    if short in SUMS:
        return _partly_reduced(walk, short, op, source)
    if is_elementwise(op.name) and not op.kwargs:
        return _elementwise(walk, op)
    return None


def reduction(walk: Expansion, statement: Let) -> bool:
    """Write a number that is made of rows; False if there is no rule for it."""
    op, (_, short) = statement.op, canonical(statement.op.name)
    if short in PRODUCTS and len(op.args) == 2 and not op.kwargs:
        first, second = (walk.row(argument) for argument in op.args)
        if first is None or second is None or len(first.sizes) != 1 or len(second.sizes) != 1:
            return False
        found = _dot(walk, first, second)
    elif short in SUMS and (row := _operand(walk, short, op)) is not None:
        dim = _dim(op, short, row)
        if dim is NotImplemented or (dim is not None and len(row.sizes) != 1):
            return False
        found = _reduced(walk, short, op, row)
    else:
        return False
    walk.let("copy", found, var=statement.var)
    return True


def _operand(walk: Expansion, short: str, op: Op) -> Row | None:
    if short == "dist":
        return _elementwise(walk, Op("sub", op.args)) if len(op.args) == 2 and not op.kwargs else None
    if short in ("max", "min") and len(op.args) == 2 and not isinstance(op.args[1], Const):
        return None
    return walk.row(op.args[0])


def _constant(operand: Operand) -> object:
    return operand.value if isinstance(operand, Const) else NotImplemented


# ---------------------------------------------------------------- rows of rows


def _passed(walk: Expansion, name: str, source: Row) -> Row:
    if name.endswith("contiguous"):
        if walk.may_change(source):
            raise walk.refusal("'contiguous' of a row that the loop changes may be a copy, or the row")
        return source
    return replace(source, at=lambda index: walk.let(name, source.at(index)), is_view=False)


def _unsqueezed(source: Row, place: Operand) -> Row | None:
    axis, rank = _constant(place), len(source.sizes)
    if type(axis) is not int or not -rank - 1 <= axis <= rank:
        return None
    axis %= rank + 1
    sizes = (*source.sizes[:axis], 1, *source.sizes[axis:])
    return replace(source, sizes=sizes, at=lambda index: source.at((*index[:axis], *index[axis + 1 :])))


def _transposed(source: Row | None) -> Row | None:
    if source is None or len(source.sizes) != 2:
        return None
    return replace(source, sizes=source.sizes[::-1], at=lambda index: source.at(index[::-1]))


def _stack(walk: Expansion, op: Op) -> Row | None:
    """``torch.stack([a, b])`` of numbers, or of rows in front of which it puts an axis."""
    argument = op.args[0] if op.args else None
    items = argument.items if isinstance(argument, Group) else walk.displays.get(argument, ())  # pyright: ignore
    dims = [_constant(value) for name, value in op.kwargs if name == "dim"] + list(map(_constant, op.args[1:]))
    if not 0 < len(items) <= STACKED or dims not in ([], [0]) or any(name != "dim" for name, _ in op.kwargs):
        return None
    dtypes = {walk.dtype(item) for item in items}
    if len(dtypes) != 1 or None in dtypes or not all(isinstance(item, Var) for item in items):
        return None
    (dtype,) = dtypes
    rows = [walk.row(item) for item in items]
    inner = [row.sizes for row in rows if row is not None]
    if inner and (len(inner) < len(rows) or len(set(map(len, inner))) > 1):
        return None
    for other in inner[1:]:
        for mine, theirs in zip(inner[0], other, strict=True):
            walk.same_size(mine, theirs)
    copies = [walk.let("method.clone", item) if item in walk.roots else as_atom(item) for item in items]

    def at(index: tuple[Atom, ...]) -> Atom:
        place = _constant(index[0])
        assert isinstance(place, int)
        row = rows[place]
        if row is None:
            return copies[place]
        return walk.let("method.clone", row.at(index[1:])) if row.is_view else row.at(index[1:])

    assert dtype is not None
    reads = frozenset().union(*(row.reads for row in rows if row is not None))
    numbers = tuple(copies) if not inner else ()
    return Row((len(items), *(inner[0] if inner else ())), dtype, at, reads, items=numbers)


def _elementwise(walk: Expansion, op: Op) -> Row | None:
    rows = [walk.row(argument) for argument in op.args]
    dtypes = {dtype for argument in op.args if (dtype := walk.dtype(argument)) is not None and dtype != torch.bool}
    if len(dtypes) > 1 or any(isinstance(argument, Group) for argument in op.args):
        return None
    known = [row for row in rows if row is not None]
    numbers = [argument if row is not None else walk.held(argument, op) for row, argument in zip(rows, op.args)]
    rank = max(len(row.sizes) for row in known)
    sizes: list[Size] = [1] * rank
    for row in known:
        for axis, size in enumerate(row.sizes, rank - len(row.sizes)):
            sizes[axis] = walk.same_size(sizes[axis], size)

    def at(index: tuple[Atom, ...]) -> Atom:
        given = [
            argument if row is None else row.at(_own_place(row, index))
            for row, argument in zip(rows, numbers, strict=True)
        ]
        return walk.let(op.name, *given)

    reads = frozenset().union(*(row.reads for row in known))
    dtype = known[0].dtype if not dtypes else dtypes.pop()
    return Row(tuple(sizes), torch.bool if canonical(op.name)[1] in TRUTHS else dtype, at, reads)


TRUTHS = frozenset((*COMPARISONS, *TESTS, *LOGIC, "logical_not"))
"""Operations on single numbers whose results are booleans."""


def _own_place(row: Row, index: tuple[Atom, ...]) -> tuple[Atom, ...]:
    own = index[len(index) - len(row.sizes) :]
    return tuple(Const(0) if isinstance(size, int) and size == 1 else k for size, k in zip(row.sizes, own, strict=True))


def _product(walk: Expansion, op: Op) -> Row | None:
    """A matrix and a vector."""
    first, second = (walk.row(argument) for argument in op.args)
    if canonical(op.name)[1] == "inner":  # which sums over the last dimensions of both
        second = _transposed(second) or second
    if first is None or second is None or first.dtype != second.dtype:
        return None
    ranks = (len(first.sizes), len(second.sizes))
    if walk.may_change(first) or walk.may_change(second) or not first.dtype.is_floating_point:
        return None
    reads = first.reads | second.reads
    if ranks == (2, 1):
        return Row(first.sizes[:1], first.dtype, lambda i: _dot(walk, _part(first, (*i, None)), second), reads)
    if ranks == (1, 2):
        return Row(second.sizes[1:], first.dtype, lambda i: _dot(walk, first, _part(second, (None, *i))), reads)
    return None


def _part(row: Row, places: tuple[Atom | None, ...]) -> Row:
    """A row with some of its indices given."""
    free = tuple(size for size, place in zip(row.sizes, places, strict=True) if place is None)

    def at(index: tuple[Atom, ...]) -> Atom:
        rest = iter(index)
        return row.at(tuple(next(rest) if place is None else place for place in places))

    return replace(row, sizes=free, at=at)


def _partly_reduced(walk: Expansion, short: str, op: Op, source: Row | None) -> Row | None:
    """A sum or the like over one axis of several."""
    if source is None or short in ("dist", "norm", "vector_norm") or len(source.sizes) < 2:
        return None
    dim = _dim(op, short, source)
    if not isinstance(dim, int) or short in ("max", "min") or not _may_reduce(walk, short, source):
        return None
    sizes = (*source.sizes[:dim], *source.sizes[dim + 1 :])

    def at(index: tuple[Atom, ...]) -> Atom:
        return _reduced(walk, short, op, _part(source, (*index[:dim], None, *index[dim:])))

    return Row(sizes, source.dtype, at, source.reads)


def _softmax(walk: Expansion, short: str, op: Op, source: Row) -> Row | None:
    """Along the only axis: the sum is written where the row is bound."""
    if len(source.sizes) != 1 or _dim(op, short, source) != 0 or not _may_reduce(walk, short, source):
        return None
    top = _top(walk, source, "torch.maximum")
    shifted = lambda value: walk.let("sub", value, top)  # noqa: E731
    total = _sum(walk, source, lambda value: walk.let("torch.exp", shifted(value)))
    if short == "log_softmax":
        total = walk.let("torch.log", total)
        return replace(source, at=lambda index: walk.let("sub", shifted(source.at(index)), total), is_view=False)
    share = lambda index: walk.let("truediv", walk.let("torch.exp", shifted(source.at(index))), total)  # noqa: E731
    return replace(source, at=share, is_view=False)


# ---------------------------------------------------------------- rows that become numbers


def _dim(op: Op, short: str, row: Row) -> object:
    """The axis that is reduced, None for all of them, NotImplemented for what has no rule."""
    rest = list(op.args[2:] if short == "dist" else op.args[1:])
    keywords = dict(op.kwargs)
    if short in SPREADS:
        rest, keywords = _without_freedom(rest, keywords)
    if short in ("norm", "vector_norm", "dist"):
        return None if not rest and not keywords else NotImplemented
    if len(rest) > 1 or set(keywords) - {"dim", "axis", "keepdim"} or _constant(keywords.get("keepdim", Const(False))):
        return NotImplemented
    given = rest[0] if rest else keywords.get("dim", keywords.get("axis"))
    if given is None:
        return None if short not in ("logsumexp", "softmax", "log_softmax") else NotImplemented
    axis = _constant(given)
    if short in ("max", "min") or type(axis) is not int or not -len(row.sizes) <= axis < len(row.sizes):
        return NotImplemented
    return axis % len(row.sizes)


def _without_freedom(rest: list[Operand], keywords: dict[str, Operand]) -> tuple[list[Operand], dict[str, Operand]]:
    """Arguments of a variance without those that say what is taken from the count."""
    known = {name: value for name, value in keywords.items() if name not in ("unbiased", "correction")}
    is_flag = bool(rest) and isinstance(_constant(rest[0]), bool)
    return rest[is_flag:], known


def _freedom(op: Op) -> int:
    """What a variance takes from the count; NotImplemented where it is not known."""
    keywords = dict(op.kwargs)
    given = [_constant(keywords[name]) for name in ("unbiased", "correction") if name in keywords]
    given += [value for value in map(_constant, op.args[1:2]) if isinstance(value, bool)]
    (value,) = given if len(given) == 1 else (NotImplemented if given else 1,)
    return int(value) if isinstance(value, int) and value >= 0 else NotImplemented


def _may_reduce(walk: Expansion, short: str, row: Row) -> bool:
    return row.dtype in (torch.float64, torch.float32) and (short in ("sum", "mean") or not walk.may_change(row))


def _reduced(walk: Expansion, short: str, op: Op, row: Row) -> Atom:
    if not _may_reduce(walk, short, row):
        raise walk.refusal(f"'{short}' of a row that the loop changes, or that holds no floats")
    match short:
        case "sum":
            return _sum(walk, row, lambda value: value)
        case "mean":
            return walk.let("truediv", _sum(walk, row, lambda value: value), _count(walk, row.sizes))
        case "logsumexp":
            return _logsumexp(walk, row)
        case "norm" | "vector_norm" | "dist":
            return _root(walk, _sum(walk, row, lambda value: walk.let("mul", value, value)), row.dtype)
        case "var" | "std":
            return _variance(walk, row, _freedom(op)) if short == "var" else _deviation(walk, row, _freedom(op))
        case "prod":
            raise walk.refusal("'prod' of a row has no form on single numbers")
    if op.name in ("builtin.max", "builtin.min"):
        return _first_extreme(walk, op.name, row)
    return _extreme(walk, short, row)


def _count(walk: Expansion, sizes: tuple[Size, ...]) -> Atom:
    atoms: list[Atom] = [Const(size) if isinstance(size, int) else size for size in sizes]
    found = atoms[0]
    for atom in atoms[1:]:
        found = walk.let("mul", found, atom)
    return found


def over(walk: Expansion, row: Row, init: Atom, step: Callable[[Atom, Atom], Atom]) -> Atom:
    """All elements in order: ``init = step(element, init)``."""

    def along(axis: int, index: tuple[Atom, ...], held: Atom) -> Atom:
        if axis == len(row.sizes):
            return step(row.at(index), held)
        return walk.total(row.sizes[axis], held, lambda k, inner: along(axis + 1, (*index, k), inner), row.dtype)

    walk.require_elements(row.sizes)
    return along(0, (), init)


def _sum(walk: Expansion, row: Row, of: Callable[[Atom], Atom]) -> Atom:
    return over(walk, row, walk.number(0.0, row.dtype), lambda value, held: walk.let("add", held, of(value)))


def _dot(walk: Expansion, first: Row, second: Row) -> Atom:
    if first.dtype in (torch.float16, torch.bfloat16):
        raise walk.refusal("a product of rows in half precision, whose sum is not rounded at each step,")
    size = walk.same_size(first.sizes[0], second.sizes[0])
    pair = Row((size,), first.dtype, lambda k: walk.let("mul", first.at(k), second.at(k)))
    return _sum(walk, pair, lambda value: value)


def _variance(walk: Expansion, row: Row, less: int, *, wide: bool = False) -> Atom:
    """The mean square of what elements differ from their mean, to which no gradient flows: all of it would cancel.

    ``wide``: squares in double precision, of which none is too large.
    """
    if less is NotImplemented:
        raise walk.refusal("a variance with a correction that is not a number")
    count = _count(walk, row.sizes)
    walk.require("gt", count, Const(less), "a variance of more elements than its correction")
    plain = lambda value: _detached(walk, value)  # noqa: E731
    exact = (lambda value: walk.let("method.double", value)) if wide else (lambda value: value)
    mean = walk.let("truediv", _sum(walk, row, plain), count)

    def square(value: Atom) -> Atom:
        apart = walk.let("sub", exact(value), mean)
        return walk.let("mul", apart, apart)

    mean, squared = exact(mean), replace(row, dtype=torch.float64) if wide else row
    return walk.let("truediv", _sum(walk, squared, square), walk.let("sub", count, Const(less)) if less else count)


def _deviation(walk: Expansion, row: Row, less: int) -> Atom:
    """The root of the variance, of which the gradient is zero at zero, whatever comes in."""
    variance = _variance(walk, row, less, wide=True)
    is_zero = walk.let("eq", variance, Const(0))
    root = walk.let("torch.sqrt", walk.let("torch.where", is_zero, walk.number(1.0, torch.float64), variance))
    found = walk.let("torch.where", is_zero, walk.number(0.0, torch.float64), root)
    return walk.let("method.float" if row.dtype == torch.float32 else "method.double", found)


def _root(walk: Expansion, total: Atom, dtype: torch.dtype) -> Atom:
    """The root, of which the gradient is zero at zero."""
    is_zero = walk.let("eq", total, Const(0))
    root = walk.let("torch.sqrt", walk.let("torch.where", is_zero, walk.number(1.0, dtype), total))
    return walk.let("torch.where", is_zero, walk.let("mul", total, Const(0.0)), root)


def _top(walk: Expansion, row: Row, name: str) -> Atom:
    """The extreme, as a number without a gradient."""
    start = walk.number(float("-inf") if name == "torch.maximum" else float("inf"), row.dtype)
    return over(walk, row, start, lambda value, held: walk.let(name, held, _detached(walk, value)))


def _detached(walk: Expansion, value: Atom) -> Atom:
    """A copy that no gradient flows to."""
    return walk.let("method.detach", walk.let("method.clone", value))


def _logsumexp(walk: Expansion, row: Row) -> Atom:
    top = _top(walk, row, "torch.maximum")
    zero = walk.number(0.0, row.dtype)
    shift = walk.let("torch.where", walk.let("torch.isinf", top), zero, top)
    total = _sum(walk, row, lambda value: walk.let("torch.exp", walk.let("sub", value, shift)))
    return walk.let("add", walk.let("torch.log", total), shift)


def _extreme(walk: Expansion, short: str, row: Row) -> Atom:
    """The extreme, whose gradient all elements that hold it share.

    It is the value without a gradient, less the mean of what those elements differ from it: nothing.
    """
    walk.require_some(row.sizes, "an extreme of nothing")
    top = _top(walk, row, "torch.maximum" if "max" in short else "torch.minimum")
    apart = _share_of_all if short.startswith("a") else _share_of_holders
    return walk.let("sub", top, apart(walk, row, top))


def _first_extreme(walk: Expansion, name: str, row: Row) -> Atom:
    """``min(row)`` of Python, item by item: of equal ones the first, which gets the gradient."""
    if len(row.sizes) != 1:
        raise walk.refusal(f"'{name}' of rows")
    walk.check_unread(row)
    walk.require_some(row.sizes, "an extreme of nothing")
    return over(walk, row, row.at((Const(0),)), lambda value, held: walk.let(name, held, value))


def _share_of_holders(walk: Expansion, row: Row, top: Atom) -> Atom:
    """Zero, with the gradient of ``-max()``: elements that are not the extreme have none, whatever comes in."""
    zero, one = walk.number(0.0, row.dtype), walk.number(1.0, row.dtype)
    is_far = walk.let("or_", walk.let("torch.isinf", top), walk.let("torch.isnan", top))

    def holds(value: Atom) -> Atom:
        return walk.let("or_", walk.let("eq", value, top), walk.let("torch.isnan", value))

    def apart(value: Atom) -> Atom:
        difference = walk.let("torch.where", is_far, walk.let("neg", value), walk.let("sub", top, value))
        return walk.let("torch.where", holds(value), difference, zero)

    count = _sum(walk, row, lambda value: walk.let("torch.where", holds(_detached(walk, value)), one, zero))
    return walk.let("truediv", _sum(walk, row, apart), count)


def _share_of_all(walk: Expansion, row: Row, top: Atom) -> Atom:
    """Zero, with the gradient of ``-amax()``: a product with zero for elements that are not the extreme."""
    zero, one = walk.number(0.0, row.dtype), walk.number(1.0, row.dtype)

    def share(value: Atom) -> Atom:
        return walk.let("torch.where", walk.let("eq", _detached(walk, value), top), one, zero)

    count = _sum(walk, row, share)
    mean = walk.let("truediv", _sum(walk, row, lambda value: walk.let("mul", share(value), value)), count)
    plain = _detached(walk, mean)
    walk.require("lt", walk.let("abs", plain), Const(float("inf")), "the gradient of an extreme of infinite numbers")
    return walk.let("sub", plain, mean)
