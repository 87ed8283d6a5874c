"""Sums, means, extremes and tests of whole arrays inside of a kernel, or along one axis, as loops."""

from __future__ import annotations

from looplift.base.data import replace
from looplift.base.errors import NotLiftable
from looplift.emit.native_allocation import allocate
from looplift.emit.native_convert import constant
from looplift.emit.native_ops import COMPARE, MULTIPLY
from looplift.emit.native_types import INT, Scalar
from looplift.emit.native_values import Elements, Number, Value
from looplift.emit.native_vector_loops import check_zeros, over
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Const, Group, Op

SUMS = ("sum", "mean")
CHOICES = {"max": ">", "min": "<", "amax": ">", "amin": "<"}
PLACES = {"argmax": ">", "argmin": "<"}
SPREADS = ("var", "std")
REDUCTIONS = (*SUMS, *SPREADS, *CHOICES, *PLACES, "norm", "any", "all")


def reduced(writer: Writer, short: str, namespace: str, op: Op, part: Elements) -> Value:
    """A reduction of all elements, which is a number, or along an axis, which is an array."""
    if not part.sizes:
        raise writer.refuse("not-scalar", f"'{short}' of a single number")
    _check(writer, short, namespace, op, part)
    writer.findings.has_vectors = True
    op, freedom = _without_freedom(writer, op) if short in SPREADS else (op, 0)
    axes, kept = axes_of(writer, op, len(part.sizes))
    if axes is None and kept:
        raise writer.refuse("not-scalar", f"'{short}' that keeps all dimensions")
    if axes is None:
        return _of_all(writer, short, part, freedom)
    if short in ("max", "min", "norm") and part.type.family == "tensor":
        raise writer.refuse("unknown-op", f"'{short}' along an axis of a tensor has no scalar form")
    if len(axes) > 1 and short in PLACES:
        raise writer.refuse("unknown-op", f"'{short}' along several axes")
    return _along(writer, short, part, axes, kept, freedom)


def axes_of(writer: Writer, op: Op, rank: int) -> tuple[tuple[int, ...] | None, bool]:
    """The axes in their order, None for all of them, and whether they stay, with one element."""
    found: dict[str, object] = {"axis": Const(None), "keepdims": Const(False)}
    given = [("axis", operand) for operand in op.args[1:]] + list(op.kwargs)
    for name, operand in given:
        name = {"dim": "axis", "keepdim": "keepdims"}.get(name, name)
        if name not in found or len(op.args) > 2:
            raise _unknown(writer, op)
        found[name] = operand
    axes, kept = found["axis"], found["keepdims"]
    if not isinstance(kept, Const) or type(kept.value) is not bool:
        raise _unknown(writer, op)
    if isinstance(axes, Const) and axes.value is None:
        return None, kept.value
    return _places_of_axes(writer, op, axes, rank), kept.value


def _places_of_axes(writer: Writer, op: Op, axes: object, rank: int) -> tuple[int, ...]:
    atoms = axes.items if isinstance(axes, Group) else (axes,)
    places = [atom.value for atom in atoms if isinstance(atom, Const) and type(atom.value) is int]
    found = sorted({place % rank for place in places if -rank <= place < rank})
    if not found or len(found) < len(atoms):
        raise _unknown(writer, op)
    return tuple(found)


def _unknown(writer: Writer, op: Op) -> NotLiftable:
    return writer.refuse("not-scalar", f"these arguments of '{op.name}' have no scalar form")


def _along(writer: Writer, short: str, part: Elements, axes: tuple[int, ...], kept: bool, freedom: int) -> Value:
    outer = tuple(size for axis, size in enumerate(part.sizes) if axis not in axes)
    if not outer and not kept:
        return _of_all(writer, short, part, freedom)
    others = iter(outer)
    sizes = [constant(1, INT) if axis in axes else next(others) for axis in range(len(part.sizes))]
    folded = tuple(part.sizes[axis] for axis in axes)
    if short not in ("sum", "any", "all", "norm"):  # with no element in a row, also where there is no row
        for size in folded:
            writer.fail_if(f"{size.at(COMPARE)} == 0", "broken_requirement")
    made = allocate(writer, _type_of(short, part), sizes if kept else list(outer))

    def body(index: tuple[str, ...]) -> None:
        def at(writer: Writer, inner: tuple[str, ...]) -> Number:
            rest, own = iter(index), iter(inner)
            return part.at(writer, tuple(next(own) if axis in axes else next(rest) for axis in range(len(sizes))))

        row = Elements(folded, part.type, at, part.origins, part.homes)
        rest = iter(index)
        place = ["0" if axis in axes else next(rest) for axis in range(len(sizes))] if kept else index
        writer.line(f"{made.root}({', '.join(place)}) = {_of_all(writer, short, row, freedom).text};")

    over(writer, outer, body)
    return made


def _type_of(short: str, part: Elements) -> Scalar:
    family = part.type.family
    if short in ("any", "all"):
        return Scalar(family, "bool")
    if short in PLACES or (short in SUMS and not part.type.is_float):
        return Scalar(family, "int64")
    return part.type


def _check(writer: Writer, short: str, namespace: str, op: Op, part: Elements) -> None:
    family = part.type.family
    if part.type.is_half or (short in ("mean", "norm", *SPREADS) and not part.type.is_float):
        raise writer.refuse("unknown-op", f"'{short}' of these kinds has no scalar form")
    if short in SPREADS and family != "tensor":
        raise writer.refuse("unknown-op", f"'{op.name}' of these kinds has no scalar form")
    if (namespace == "np" and family == "tensor") or (short == "norm" and family == "numpy" and namespace != "np"):
        raise writer.refuse("unknown-op", f"'{op.name}' of these kinds has no scalar form")


def _of_all(writer: Writer, short: str, part: Elements, freedom: int = 0) -> Number:
    if short in SPREADS:
        return _spread(writer, short, part, freedom)
    if short in PLACES:
        return _place(writer, short, part)
    if short in CHOICES:
        return _extreme(writer, short, part)
    if short in ("any", "all"):
        return _tested(writer, short, part)
    wide = "double" if part.type.is_float else "int64_t"
    total = writer.fresh("total")
    writer.line(f"{wide} {total} = 0;")

    def body(index: tuple[str, ...]) -> None:
        number = part.at(writer, index)
        if short == "norm":
            number = writer.bind(number)
            writer.line(f"{total} += {wide}({number.text}) * {number.text};")
        else:
            writer.line(f"{total} += {number.text};")

    over(writer, part.sizes, body, sums=total)
    writer.differs(short) if part.type.is_float else None
    return _total(writer, short, total, part)


def _total(writer: Writer, short: str, total: str, part: Elements) -> Number:
    scalar = part.type if part.type.is_float else Scalar(part.type.family, "int64")
    text = total
    if short == "mean":
        count = " * ".join(size.at(COMPARE) for size in part.sizes)
        text = f"{scalar.cpp}({total}) / {scalar.cpp}({count})"
    elif short == "norm":
        text = f"math::sqrt({scalar.cpp}({total}))"  # infinite where the squares are, in this type
    number = writer.bind(Number(f"{scalar.cpp}({text})", scalar), writer.hint)
    if scalar.family == "numpy" and scalar.is_float:
        # NumPy may warn of what overflows or is undefined
        writer.fail_if(f"!math::isfinite({number.text})", "warned")
    return number


def _without_freedom(writer: Writer, op: Op) -> tuple[Op, int]:
    """A variance without the argument that tells what is taken from the count, and that."""
    flags = [one for one in op.args[1:2] if isinstance(one, Const) and isinstance(one.value, bool)]
    given = [*flags, *(value for name, value in op.kwargs if name in ("unbiased", "correction"))]
    first = given[0] if given else Const(1)
    value = first.value if isinstance(first, Const) else None
    if len(given) > 1 or not isinstance(value, int) or value < 0:
        raise _unknown(writer, op)
    rest = tuple((name, operand) for name, operand in op.kwargs if name not in ("unbiased", "correction"))
    return replace(op, args=(op.args[0], *op.args[1 + len(flags) :]), kwargs=rest), int(value)


def _spread(writer: Writer, short: str, part: Elements, freedom: int) -> Number:
    """A variance or its root: in two passes, the mean first, added up in double precision as PyTorch does."""
    count = writer.fresh("count")
    writer.line(f"const int64_t {count} = {' * '.join(size.at(MULTIPLY) for size in part.sizes)};")
    writer.fail_if(f"{count} <= {freedom}", "broken_requirement")
    total, squares = writer.fresh("total"), writer.fresh("squares")
    writer.line(f"double {total} = 0, {squares} = 0;")
    over(writer, part.sizes, lambda index: writer.line(f"{total} += {part.at(writer, index).text};"), sums=total)
    mean = writer.fresh("mean")
    writer.line(f"const double {mean} = {total} / double({count});")

    def body(index: tuple[str, ...]) -> None:
        apart = writer.fresh("apart")
        writer.line(f"const double {apart} = double({part.at(writer, index).text}) - {mean};")
        writer.line(f"{squares} += {apart} * {apart};")

    over(writer, part.sizes, body, sums=squares)
    writer.differs(short)
    text = f"{squares} / double({count}{f' - {freedom}' if freedom else ''})"
    text = f"math::sqrt({text})" if short == "std" else text
    return writer.bind(Number(f"{part.type.cpp}({text})", part.type), writer.hint)


def _extreme(writer: Writer, short: str, part: Elements) -> Number:
    """The greatest or smallest; a NaN wins."""
    for size in part.sizes:
        writer.fail_if(f"{size.at(COMPARE)} == 0", "broken_requirement")
    best = writer.fresh("largest" if CHOICES[short] == ">" else "smallest")
    writer.hoists.append(None)
    first = part.at(writer, tuple("0" for _ in part.sizes))
    writer.hoists.pop()
    writer.line(f"{part.type.cpp} {best} = {first.text};")

    def body(index: tuple[str, ...]) -> None:
        number = writer.bind(part.at(writer, index))
        undefined = f" || {number.text} != {number.text}" if part.type.is_float else ""
        writer.line(f"if ({number.text} {CHOICES[short]} {best}{undefined}) {best} = {number.text};")

    over(writer, part.sizes, body)
    check_zeros(writer, part, best)
    return Number(best, part.type)


def _place(writer: Writer, short: str, part: Elements) -> Number:
    """Where the greatest or smallest stands first, or the first NaN."""
    if part.type.is_bool:
        raise writer.refuse("not-scalar", f"'{short}' of booleans")
    for size in part.sizes:
        writer.fail_if(f"{size.at(COMPARE)} == 0", "broken_requirement")
    best, place = writer.fresh("largest" if short == "argmax" else "smallest"), writer.fresh("place")
    writer.line(f"{part.type.cpp} {best} = 0;")
    writer.line(f"int64_t {place} = -1;")

    def body(index: tuple[str, ...]) -> None:
        number = writer.bind(part.at(writer, index))
        undefined = f" || ({number.text} != {number.text} && {best} == {best})" if part.type.is_float else ""
        better = f"{place} < 0 || {number.text} {PLACES[short]} {best}{undefined}"
        flat = index[0]
        for size, inner in zip(part.sizes[1:], index[1:], strict=True):
            flat = f"({flat}) * {size.at(MULTIPLY)} + {inner}"
        writer.line(f"if ({better}) {best} = {number.text}, {place} = {flat};")

    over(writer, part.sizes, body)
    return Number(place, Scalar(part.type.family, "int64"), low=0, high=2**47)


def _tested(writer: Writer, short: str, part: Elements) -> Number:
    found = writer.fresh(short)
    writer.line(f"bool {found} = {'false' if short == 'any' else 'true'};")

    def body(index: tuple[str, ...]) -> None:
        number = part.at(writer, index)
        writer.line(f"{found} = {found} {'||' if short == 'any' else '&&'} {number.at(COMPARE)} != 0;")

    over(writer, part.sizes, body)
    return Number(found, Scalar(part.type.family, "bool"))
