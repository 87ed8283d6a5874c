"""NumPy's differences, running sums and counts of a row, and places in lists, in a kernel."""

from __future__ import annotations

from looplift.base.data import replace
from looplift.emit.native_allocation import allocate
from looplift.emit.native_convert import constant, convert
from looplift.emit.native_ops import ADD, COMPARE
from looplift.emit.native_types import INT, Scalar
from looplift.emit.native_values import Elements, Number, View
from looplift.emit.native_vector_loops import elements_of_view, over
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Op


def array_of_list(writer: Writer, view: View) -> View:
    """A list as NumPy sees it where it is an operand: the same memory, under another type."""
    scalar = view.type.of_family("numpy")
    if scalar.name != "float64":
        writer.fail_if(f"{view.size(0)} == 0", "another_kind")
    return replace(view, type=scalar, holds_objects=False)


def place_in_list(writer: Writer, view: View, wanted: Number) -> Number:
    """``items.index(x)``: the first that is equal; a NaN would be found by its identity."""
    if view.rank != 1 or view.type != wanted.type or wanted.other is not None:
        raise writer.refuse("mixed-kinds", "'index' of a value of another kind")
    wanted = writer.bind(wanted)
    if view.type.is_float:
        writer.fail_if(f"{wanted.text} != {wanted.text}", "broken_requirement")
    place = writer.fresh("place")
    part = elements_of_view(writer, replace(view, type=view.type.of_family("numpy"), holds_objects=False))
    writer.hoists.append(None)
    writer.line(f"int64_t {place} = 0;")
    element = part.at(writer, (place,))
    writer.hoists.pop()
    size = view.size(0)
    writer.line(f"while ({place} < {size} && {element.text} != {wanted.text}) ++{place};")
    writer.fail_if(f"{place} == {size}", "broken_requirement")
    return Number(place, INT, low=0, high=2**47, below=frozenset({size}))


def differences(writer: Writer, part: Elements, subtract) -> Elements | None:
    """``np.diff(x)`` of one dimension."""
    if len(part.sizes) != 1 or part.type.family != "numpy" or part.type.is_bool:
        return None
    size = part.sizes[0].at(COMPARE)
    count = writer.bind(Number(f"{size} > 0 ? {size} - 1 : 0", INT, 12, low=0, high=2**47), "count")

    def at(writer: Writer, index: tuple[str, ...]) -> Number:
        (k,) = index
        return subtract([part.at(writer, (f"{k} + 1",)), part.at(writer, (k,))])

    return replace(part, sizes=(count,), at=at)


def running_sum(writer: Writer, part: Elements) -> View | None:
    """``np.cumsum(x)`` of one dimension: one addition after the other."""
    scalar = part.type
    if len(part.sizes) != 1 or scalar.family != "numpy" or not (scalar.is_float or scalar.name == "int64"):
        return None
    made = allocate(writer, scalar, [writer.bind(replace(part.sizes[0], homes=frozenset()), "size")])
    total = writer.fresh("total")
    writer.line(f"{scalar.cpp} {total} = {'-0.0' if scalar.is_float else '0'};")

    def body(index: tuple[str, ...]) -> None:
        writer.line(f"{total} += {part.at(writer, index).text};")
        writer.line(f"{made.root}({index[0]}) = {total};")

    over(writer, part.sizes, body)
    if scalar.is_float:
        writer.fail_if(f"!math::isfinite({total})", "warned")
    return made


def counted(writer: Writer, op: Op, part: Elements) -> View | None:
    """``np.bincount(x, minlength=n)``: how often each number is there, as many as the greatest asks for."""
    keywords = dict(op.kwargs)
    least = keywords.pop("minlength", None)
    if keywords or len(op.args) != 1 or len(part.sizes) != 1 or not part.type.is_integer or part.type.name == "uint64":
        return None
    number = writer.number(least) if least is not None else constant(0, INT)
    if number.type.is_float or number.other is not None:
        return None
    number = convert(writer, number, INT)
    writer.fail_if(f"{number.at(COMPARE)} < 0", "broken_requirement")
    length = writer.fresh("length")
    writer.line(f"int64_t {length} = {number.text};")

    def measure(index: tuple[str, ...]) -> None:
        item = writer.bind(part.at(writer, index))
        writer.fail_if(f"{item.text} < 0", "broken_requirement")
        writer.line(f"{length} = {item.text} < {length} ? {length} : int64_t({item.text}) + 1;")

    over(writer, part.sizes, measure)
    size = writer.bind(Number(f"{length} + 0", INT, ADD, low=0, high=2**47), "size")
    made = allocate(writer, Scalar("numpy", "int64"), [size], filling=constant(0, INT))
    over(writer, part.sizes, lambda index: writer.line(f"++{made.root}({part.at(writer, index).text});"))
    return made
