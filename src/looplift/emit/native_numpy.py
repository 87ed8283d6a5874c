"""NumPy's reductions, bit for bit: elements in, a number out, or an array of numbers along some of the axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from looplift.base.data import dataclass, replace
from looplift.emit.native_allocation import allocate
from looplift.emit.native_convert import constant
from looplift.emit.native_ops import ADD, COMPARE, MULTIPLY
from looplift.emit.native_types import INT, Scalar
from looplift.emit.native_values import Elements, Fixed, Items, Number, Value, View
from looplift.emit.native_vector_loops import check_zeros, materialized, over, type_of
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Group, Op

_SYNONYMS = {"amax": "max", "amin": "min"}
_EXTREMES = {"max": ">", "min": "<", "argmax": ">", "argmin": "<", "nanmax": ">", "nanmin": "<"}
REDUCTIONS = frozenset(
    "sum mean max min amax amin argmax argmin any all norm var std prod ptp count_nonzero median nansum nanmean "
    "nanmax nanmin nanmedian".split()
)
_OF_NOTHING = frozenset("sum any all norm prod count_nonzero nansum".split())
"""What NumPy gives a value of no elements."""


@dataclass(frozen=True)
class Reduction:
    """``short`` names it; ``freedom``: what is taken from the count in a variance.

    ``sequential``: one element after the other, as NumPy adds along any axis but the last. ``keeps``: each axis that is
    folded stays, with one element.
    """

    short: str
    freedom: int = 0
    sequential: bool = False
    keeps: bool = False


def reduced(writer: Writer, short: str, op: Op, part: Elements) -> Value:
    """``np.sum(x)``, ``x.mean(axis=1)``, ``np.std(x, ddof=1)``."""
    reduction, axes = _read(writer, _SYNONYMS.get(short, short), op, len(part.sizes))
    writer.findings.has_vectors = True
    axes = tuple(range(len(part.sizes))) if axes is None else axes
    if len(axes) == len(part.sizes) and not reduction.keeps:
        return _fold(writer, reduction, part)
    is_last = axes == (len(part.sizes) - 1,)
    return _along(writer, replace(reduction, sequential=not is_last), part, axes)


def _read(writer: Writer, short: str, op: Op, rank: int) -> tuple[Reduction, tuple[int, ...] | None]:
    """What the arguments of a call say, and the axes that are folded; None for all."""
    keywords: dict[str, Any] = dict(op.kwargs)
    rest = list(op.args[1:])
    if short == "norm" and (rest or "axis" in keywords):
        raise writer.refuse("unknown-op", f"these arguments of '{op.name}' have no scalar form")
    axis = rest.pop(0) if rest else keywords.pop("axis", None)
    freedom = _constant(writer, keywords.pop("ddof")) if short in ("var", "std") and "ddof" in keywords else 0
    keeps = _constant(writer, keywords.pop("keepdims")) if "keepdims" in keywords else False
    if rest or keywords or type(freedom) is not int or type(keeps) is not bool or (keeps and short == "norm"):
        raise writer.refuse("unknown-op", f"these arguments of '{op.name}' have no scalar form")
    found = _constant(writer, axis) if axis is not None else None
    if found is None:
        return Reduction(short, freedom, keeps=keeps), None
    wanted = found if isinstance(found, tuple) else (found,)
    if any(type(one) is not int or not -rank <= one < rank for one in wanted):
        raise writer.refuse("requirement", f"an axis of '{op.name}' that the array does not have")
    axes = tuple(sorted({one % rank for one in wanted}))
    if len(axes) < len(wanted) or (short.startswith("arg") and rank > 1 and len(wanted) > 1):
        raise writer.refuse("requirement", f"these axes of '{op.name}'")
    return Reduction(short, freedom, keeps=keeps), axes


def _constant(writer: Writer, operand: Any) -> Any:
    value = writer.operand(operand) if not isinstance(operand, Group) else Items(
        tuple(writer.operand(item) for item in operand.items)
    )  # fmt: skip
    match value:
        case Number(constant=constant) if constant is not None:
            return constant
        case Fixed(value=None):
            return None
        case Items(items=items) if all(isinstance(item, Number) and item.constant is not None for item in items):
            return tuple(item.constant for item in items if isinstance(item, Number))
    raise writer.refuse("unknown-op", "an axis that is not known before the loop runs")


def _along(writer: Writer, reduction: Reduction, part: Elements, axes: tuple[int, ...]) -> View:
    """One number for each place of the axes that are left."""
    kept = tuple(axis for axis in range(len(part.sizes)) if axis not in axes)
    sizes = tuple(part.sizes[axis] for axis in kept)
    if reduction.short not in _OF_NOTHING:  # with no element in a row, also where there is no row
        for axis in axes:
            writer.fail_if(f"{part.sizes[axis].at(COMPARE)} == 0", "broken_requirement")

    def inner(index: tuple[str, ...]) -> Elements:
        def at(writer: Writer, folded: tuple[str, ...]) -> Number:
            places = dict(zip(kept, index, strict=True)) | dict(zip(axes, folded, strict=True))
            return part.at(writer, tuple(places[axis] for axis in range(len(part.sizes))))

        return replace(part, sizes=tuple(part.sizes[axis] for axis in axes), at=at)

    scalar = type_of(writer, lambda writer, index: _fold(writer, reduction, inner(index)), len(kept))
    bound = dict(zip(kept, (writer.bind(replace(size, homes=frozenset()), "size") for size in sizes), strict=True))
    shape = [bound.get(axis, constant(1, INT)) for axis in range(len(part.sizes)) if axis in bound or reduction.keeps]
    made = allocate(writer, scalar, shape)

    def body(index: tuple[str, ...]) -> None:
        number = _fold(writer, reduction, inner(index))
        free = iter(index)
        stays = [axis for axis in range(len(part.sizes)) if axis in bound or reduction.keeps]
        place = [next(free) if axis in bound else "0" for axis in stays]
        writer.line(f"{made.root}({', '.join(place)}) = {number.text};")

    over(writer, sizes, body)
    return made


def _fold(writer: Writer, reduction: Reduction, part: Elements) -> Number:
    short, scalar = reduction.short, part.type
    if scalar.is_half or scalar.family != "numpy":
        raise writer.refuse("unknown-op", f"'{short}' of these kinds has no scalar form")
    match short:
        case "sum" | "nansum":
            return _sum(writer, reduction, part)
        case "mean" | "nanmean":
            return _mean(writer, reduction, part)
        case "var" | "std":
            return _deviation(writer, reduction, part)
        case "norm":
            return _norm(writer, part)
        case "prod":
            return _product(writer, part)
        case "any" | "all":
            return _tested(writer, short, part)
        case "count_nonzero":
            return _count(writer, part)
        case "ptp":
            return _spread(writer, part)
        case "median" | "nanmedian":
            from looplift.emit.native_selection import median

            return median(writer, part, skips=short == "nanmedian")
    return _extreme(writer, short, part)


# ---------------------------------------------------------------- sums


def floating_of(scalar: Scalar) -> Scalar:
    """The type of a mean."""
    return scalar if scalar.is_float else Scalar("numpy", "float64")


def count_of(part: Elements) -> str:
    """The number of elements as C++."""
    return " * ".join(size.at(COMPARE) for size in part.sizes)


def is_nan(number: Number) -> str:
    """Whether an element is no number."""
    return f"{number.text} != {number.text}"


Term = Callable[[Number], str]


def _added(writer: Writer, reduction: Reduction, part: Elements, term: Term, scalar: Scalar) -> str:
    """The name of the sum of a term of each element; what NumPy would warn of is looked at."""
    if len(part.sizes) == 1 and not reduction.sequential and scalar.is_float:
        total = _pairwise(writer, part, term, scalar)
    elif scalar.name == "float32" and not reduction.sequential:
        total = _pairwise(writer, _flat(writer, part), term, scalar)
    else:
        total = _one_by_one(writer, part, term, scalar, in_order=reduction.sequential)
        if scalar.is_float and not reduction.sequential:
            writer.differs(reduction.short)
    if part.type.is_float:
        _check_total(writer, part, total)
    return total


def _one_by_one(writer: Writer, part: Elements, term: Term, scalar: Scalar, *, in_order: bool) -> str:
    total = writer.fresh("total")
    writer.line(f"{scalar.cpp} {total} = 0;")
    sums = "" if in_order and scalar.is_float else total
    over(writer, part.sizes, lambda index: writer.line(f"{total} += {term(part.at(writer, index))};"), sums=sums)
    return total


def _pairwise(writer: Writer, part: Elements, term: Term, scalar: Scalar) -> str:
    """The sum of one dimension in NumPy's order, bit for bit."""
    function, index, total = writer.fresh("term"), writer.fresh("k"), writer.fresh("total")
    outer, writer.failure = writer.failure, writer.fresh("failure")
    mark = len(writer.lines)
    writer.findings.has_rows = True
    writer.hoists.append(None)
    with writer.block(f"const auto {function} = [=](int64_t {index})"):
        text = term(part.at(writer, (index,)))
        writer.line(f"return {scalar.cpp}({text});")
    writer.lines[-1] += ";"
    writer.hoists.pop()
    failure, writer.failure = writer.failure, outer
    if fails := any(f" {failure} = " in line for line in writer.lines[mark:]):
        writer.lines[mark] = writer.lines[mark].replace("[=]", f"[=, &{failure}]")
        writer.lines.insert(mark, "  " * writer.depth + f"int {failure} = 0;")
    writer.line(f"const {scalar.cpp} {total} = pairwise_sum<{scalar.cpp}>({function}, {part.sizes[0].text});")
    if fails:
        writer.line(f"if ({failure}) {f'{outer} = ' if outer else 'return '}{failure};")
    return total


def _flat(writer: Writer, part: Elements) -> Elements:
    """The elements of several dimensions in a row."""
    made = materialized(writer, part)
    size = writer.bind(Number(f"{made.root}.count()", INT, low=0, high=2**47), "size")

    def at(writer: Writer, index: tuple[str, ...]) -> Number:
        return Number(f"{made.root}.data[{index[0]}]", part.type, reads=True)

    return Elements((size,), part.type, at, part.origins, part.homes)


def _check_total(writer: Writer, part: Elements, total: str) -> None:
    """A sum that is not finite is nothing to warn of where an element is NaN, and none is infinite."""
    with writer.block(f"if (!math::isfinite({total}))"):
        undefined, infinite = writer.fresh("undefined"), writer.fresh("infinite")
        writer.line(f"bool {undefined} = false, {infinite} = false;")

        def body(index: tuple[str, ...]) -> None:
            number = writer.bind(part.at(writer, index))
            writer.line(f"{undefined} |= {is_nan(number)};")
            writer.line(f"{infinite} |= math::isinf({number.text});")

        over(writer, part.sizes, body)
        writer.fail_if(f"!{undefined} || {infinite}", "warned")


def _numbers_only(number: Number) -> str:
    return f"({is_nan(number)} ? 0 : {number.text})"


def _bound(writer: Writer, part: Elements) -> Elements:
    """Elements under names of their own, as each is read twice."""
    return replace(part, at=lambda writer, index: writer.bind(part.at(writer, index)))


def _sum(writer: Writer, reduction: Reduction, part: Elements) -> Number:
    scalar = part.type
    if scalar.is_float:
        skips = reduction.short == "nansum"
        part, term = (_bound(writer, part), _numbers_only) if skips else (part, lambda number: number.text)
        return Number(_added(writer, reduction, part, term, scalar), scalar)
    result = Scalar("numpy", "uint64" if scalar.name.startswith("u") else "int64")
    return Number(_added(writer, reduction, part, lambda number: f"{result.cpp}({number.text})", result), result)


def _mean(writer: Writer, reduction: Reduction, part: Elements) -> Number:
    result = floating_of(part.type)
    count, term = f"({count_of(part)})" if len(part.sizes) > 1 else count_of(part), lambda number: number.text
    if reduction.short == "nanmean" and part.type.is_float:
        count = writer.fresh("count")
        writer.line(f"int64_t {count} = 0;")
        over(writer, part.sizes, lambda index: _count_if(writer, count, part.at(writer, index)))
        part, term = _bound(writer, part), _numbers_only
    writer.fail_if(f"{count} == 0", "warned")
    total = _added(writer, reduction, part, term, result)
    return writer.bind(Number(f"{total} / {result.cpp}({count})", result), writer.hint)


def _count_if(writer: Writer, count: str, number: Number) -> None:
    number = writer.bind(number)
    writer.line(f"{count} += !({is_nan(number)});")


def _deviation(writer: Writer, reduction: Reduction, part: Elements) -> Number:
    """Variance and standard deviation: the mean first, as NumPy does."""
    mean, result = _mean(writer, reduction, part), floating_of(part.type)
    count = f"({count_of(part)} - {reduction.freedom})" if reduction.freedom else f"({count_of(part)})"
    writer.fail_if(f"{count} <= 0", "warned")

    def distance(writer: Writer, index: tuple[str, ...]) -> Number:
        text = f"{result.cpp}({part.at(writer, index).text}) - {mean.text}"
        return writer.bind(Number(text, part.type if part.type.is_float else result, ADD, reads=True), "distance")

    distances = replace(part, type=result, at=distance)
    total = _added(writer, reduction, distances, lambda number: f"{number.text} * {number.text}", result)
    text = f"{total} / {result.cpp}({count})"
    text = f"math::sqrt({text})" if reduction.short == "std" else text
    return writer.bind(Number(text, result, MULTIPLY), writer.hint)


def _norm(writer: Writer, part: Elements) -> Number:
    """The root of the sum of squares."""
    if len(part.sizes) > 2 or part.type.name == "float32":
        raise writer.refuse("unknown-op", "a norm of these kinds has no scalar form")
    result = floating_of(part.type)
    part, at = _bound(writer, part), lambda number: f"double({number.text}) * double({number.text})"
    total = _one_by_one(writer, part, at, result, in_order=False)
    if part.type.is_float:
        _check_total(writer, part, total)
    writer.differs("norm")
    return writer.bind(Number(f"math::sqrt({total})", result), writer.hint)


def _product(writer: Writer, part: Elements) -> Number:
    scalar = part.type
    result = scalar if scalar.is_float else Scalar("numpy", "uint64" if scalar.name.startswith("u") else "int64")
    product = writer.fresh("product")
    writer.line(f"{result.cpp} {product} = 1;")
    over(writer, part.sizes, lambda index: writer.line(f"{product} *= {part.at(writer, index).text};"))
    if scalar.is_float:
        writer.differs("prod")
        writer.fail_if(f"!math::isfinite({product})", "warned")
    return Number(product, result)


# ---------------------------------------------------------------- tests and extremes


def _tested(writer: Writer, short: str, part: Elements) -> Number:
    found = writer.fresh(short)
    writer.line(f"bool {found} = {'false' if short == 'any' else 'true'};")

    def body(index: tuple[str, ...]) -> None:
        number = part.at(writer, index)
        writer.line(f"{found} = {found} {'||' if short == 'any' else '&&'} {number.at(COMPARE)} != 0;")

    over(writer, part.sizes, body)
    return Number(found, Scalar("numpy", "bool"))


def _count(writer: Writer, part: Elements) -> Number:
    count = writer.fresh("count")
    writer.line(f"int64_t {count} = 0;")
    over(writer, part.sizes, lambda index: writer.line(f"{count} += {part.at(writer, index).at(COMPARE)} != 0;"))
    return Number(count, Scalar("numpy", "int64"), low=0, high=2**47)


def _spread(writer: Writer, part: Elements) -> Number:
    """``np.ptp``: the greatest less the smallest."""
    if not part.type.is_float:
        raise writer.refuse("unknown-op", "'ptp' of integers has no scalar form")
    high, low = _extreme(writer, "max", part), _extreme(writer, "min", part)
    number = writer.bind(Number(f"{part.type.cpp}({high.text} - {low.text})", part.type), writer.hint)
    writer.fail_if(f"surprising({number.text}, {high.text}, {low.text})", "warned")
    return number


def _extreme(writer: Writer, short: str, part: Elements) -> Number:
    """The greatest or smallest, or its place; a NaN wins, and the first of several."""
    symbol, finds_place = _EXTREMES[short], short.startswith("arg")
    for size in part.sizes:
        writer.fail_if(f"{size.at(COMPARE)} == 0", "broken_requirement")
    best = writer.fresh("largest" if symbol == ">" else "smallest")
    writer.hoists.append(None)
    first = part.at(writer, ("0",) * len(part.sizes))
    writer.hoists.pop()
    writer.line(f"{part.type.cpp} {best} = {first.text};")
    place, here = (writer.fresh("place"), writer.fresh("here")) if finds_place else ("", "")
    if finds_place:
        writer.line(f"int64_t {place} = 0, {here} = 0;")

    def body(index: tuple[str, ...]) -> None:
        number = writer.bind(part.at(writer, index))
        better = _is_better(short, number, best, symbol)
        if finds_place:
            writer.line(f"if ({better}) {best} = {number.text}, {place} = {here};")
            writer.line(f"++{here};")
        else:
            writer.line(f"{best} = {better} ? {number.text} : {best};")

    over(writer, part.sizes, body)
    if short.startswith("nan") and part.type.is_float:
        writer.fail_if(f"{best} != {best}", "warned")
    if finds_place:
        return Number(place, Scalar("numpy", "int64"), low=0, high=2**47)
    check_zeros(writer, part, best)
    return Number(best, part.type)


def _is_better(short: str, number: Number, best: str, symbol: str) -> str:
    text = f"{number.text} {symbol} {best}"
    if not number.type.is_float:
        return text
    if short.startswith("nan"):
        return f"{text} || {best} != {best}"
    if short.startswith("arg"):
        return f"{text} || ({is_nan(number)} && {best} == {best})"
    return f"{text} || {is_nan(number)}"
