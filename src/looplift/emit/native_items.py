"""Arrays that a kernel makes of several numbers or rows, and whole arrays seen in another order."""

from __future__ import annotations

from looplift.base.data import replace
from looplift.emit.native_allocation import allocate, copied, sizes_of, view_text
from looplift.emit.native_arrays import element_type
from looplift.emit.native_convert import constant, convert
from looplift.emit.native_ops import COMPARE
from looplift.emit.native_types import INT, MIXED, Scalar, common_type, floating
from looplift.emit.native_values import Elements, Items, Number, Value, View
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Const, Group, Op, Slice

OF_LISTS = {"np": ("array", "asarray", "stack"), "torch": ("tensor", "as_tensor", "stack")}


def made_of_items(writer: Writer, namespace: str, short: str, op: Op) -> View | None:
    """``np.array([a, b])``, ``torch.stack([a, b])`` and the like; None for any other operation."""
    if namespace in OF_LISTS and short in OF_LISTS[namespace] and len(op.args) == 1:
        value = writer.operand(op.args[0])
        if (isinstance(value, Items) and value.items) or (isinstance(value, View) and value.is_list and value.rank):
            keywords = dict(op.kwargs)
            wanted = element_type(writer, namespace, keywords.pop("dtype", None))
            if keywords:
                raise writer.refuse("unknown-op", f"the keyword arguments of '{op.name}' have no scalar form")
            if isinstance(value, Items):
                return stacked(writer, namespace, value, wanted)
            writer.fail_if(f"{sizes_of(writer, value)[0].at(COMPARE)} == 0", "broken_requirement")
            return _of_list(writer, namespace, value, wanted)
    if namespace in OF_LISTS and short in ("eye", "identity") and len(op.args) == 1:
        return _identity(writer, namespace, op)
    return None


def stacked(writer: Writer, namespace: str, value: Items, wanted: Scalar | None = None) -> View:
    """An array of numbers, or of rows of one length; ``wanted``: the type of its elements, else what Python gives."""
    if all(isinstance(item, Number) for item in value.items):
        return _of_numbers(writer, namespace, [item for item in value.items if isinstance(item, Number)], wanted)
    rows = [_row(writer, namespace, item, wanted) for item in value.items]
    if len({(row.type, row.rank) for row in rows}) > 1:
        raise writer.refuse("mixed-kinds", "an array of rows of different kinds")
    for row in rows[1:]:
        for own, first in zip(sizes_of(writer, row), sizes_of(writer, rows[0]), strict=True):
            if own.text != first.text:
                writer.fail_if(f"{own.at(COMPARE)} != {first.at(COMPARE)}", "broken_requirement")
    sizes = [constant(len(rows), INT), *sizes_of(writer, rows[0])]
    made = allocate(writer, wanted or rows[0].type, sizes)
    for position, row in enumerate(rows):
        writer.line(f"copy(row_at<0>({made.root}, {position}), {view_text(row)});")
    return made


def _row(writer: Writer, namespace: str, item: Value, wanted: Scalar | None) -> View:
    from looplift.emit.native_vectors import materialized

    if isinstance(item, Elements):
        return materialized(writer, item)
    if isinstance(item, Items) and item.items:
        return stacked(writer, namespace, item, wanted)
    if isinstance(item, View) and item.rank and not item.is_list:
        return item
    raise writer.refuse("not-scalar", "an array of different kinds of values")


def _of_numbers(writer: Writer, namespace: str, numbers: list[Number], wanted: Scalar | None) -> View:
    if any(number.other is not None or number.bound for number in numbers):
        raise writer.refuse("mixed-kinds", "an array of values that are not always of one kind")
    scalar = numbers[0].type
    for number in numbers[1:]:
        found = common_type(scalar, number.type)
        if found is None:
            raise writer.refuse("mixed-kinds", "an array of different kinds of values")
        scalar = found
    family = "tensor" if namespace == "torch" else "numpy"
    if scalar.is_python and scalar.is_float and namespace == "torch":
        scalar = floating(Scalar("tensor", "int64"))
    scalar = wanted or scalar.of_family(family)
    view = allocate(writer, scalar, [constant(len(numbers), INT)])
    for position, number in enumerate(numbers):
        writer.line(f"{view.root}({position}) = {convert(writer, number, scalar).text};")
    return view


def _of_list(writer: Writer, namespace: str, values: View, wanted: Scalar | None) -> View:
    """An array of the numbers of a list that a kernel holds as one."""
    default = floating(Scalar("tensor", "int64")) if namespace == "torch" else Scalar("numpy", "float64")
    if values.type == MIXED:
        return _of_mixed_list(writer, values, wanted)
    scalar = values.type.of_family(default.family)
    if namespace == "torch" and (values.holds_objects or values.type.is_float):
        scalar = default
    if values.holds_objects and namespace == "torch":
        raise writer.refuse("mixed-kinds", "a tensor of NumPy's numbers")
    scalar = wanted or scalar
    if scalar != (wanted or default) or values.rank > 1:
        writer.fail_if(f"{values.size(0)} == 0", "another_kind")  # an empty list has no type
    made = allocate(writer, scalar, sizes_of(writer, values))
    if (
        values.type.is_python
        and scalar.is_integer
        and not values.type.is_bool
        and scalar.size < 8 + values.type.is_float
    ):
        _each_converted(writer, values, made)
    else:
        writer.line(f"copy({made.root}, {view_text(values)});")
    return made


def _of_mixed_list(writer: Writer, values: View, wanted: Scalar | None) -> View:
    """An array of integers and floats; which type it has by itself depends on whether there are floats."""
    if wanted is None or not wanted.is_float:
        raise writer.refuse("mixed-kinds", "an array made of a list of integers and floats, of one type or the other")
    made = allocate(writer, wanted, sizes_of(writer, values))
    writer.line(f"copy({made.root}, {view_text(values)});")
    return made


def _each_converted(writer: Writer, values: View, made: View) -> None:
    """Puts Python's numbers into an array of integers, which may not hold all of them."""
    if values.rank != 1:
        raise writer.refuse("integer-range", "an array of lists of numbers that its type may not hold")
    index = writer.fresh("k")
    with writer.block(f"for (int64_t {index} = 0; {index} < {values.size(0)}; ++{index})"):
        number = convert(writer, Number(f"{values.root}({index})", values.type), made.type)
        writer.line(f"{made.root}({index}) = {number.text};")


def _identity(writer: Writer, namespace: str, op: Op) -> View:
    keywords = dict(op.kwargs)
    default = floating(Scalar("tensor", "int64")) if namespace == "torch" else Scalar("numpy", "float64")
    scalar = element_type(writer, namespace, keywords.pop("dtype", None)) or default
    size = writer.number(op.args[0])
    if keywords or not size.type.is_integer or size.type.family == "tensor" or size.other is not None or size.bound:
        raise writer.refuse("unknown-op", f"these arguments of '{op.name}' have no scalar form")
    size = writer.bind(convert(writer, size, INT), "size")
    view = allocate(writer, scalar, [size, size])
    writer.line(f"{view.root}.fill(0);")
    index = writer.fresh("k")
    writer.line(f"for (int64_t {index} = 0; {index} < {size.text}; ++{index}) {view.root}({index}, {index}) = 1;")
    return view


# ---------------------------------------------------------------- other orders


def turned(writer: Writer, view: View, helper: str) -> View:
    """A view of a view in another order of its elements, under a name of its own."""
    name = writer.fresh("part")
    writer.line(f"const auto {name} = {helper}({view_text(view)});")
    return replace(view, root=name, indices=(None,) * view.rank, is_part=True)


def flipped(writer: Writer, namespace: str, op: Op) -> View | None:
    """``np.flip(x)`` of one dimension, which is a view in NumPy, and PyTorch's, which is a copy."""
    value = writer.operand(op.args[0])
    if isinstance(value, View) and value.rank == 1 and value.type.family == "tensor" and _is_first_axis(writer, op):
        return copied(writer, turned(writer, value, "reversed<0>"))
    if namespace != "np" or len(op.args) > 1 or op.kwargs or not isinstance(value, View) or value.rank != 1:
        return None
    return turned(writer, value, "reversed<0>")


def _is_first_axis(writer: Writer, op: Op) -> bool:
    """Whether the dimensions of ``x.flip(...)`` name the only one that there is."""
    given = [*op.args[1:], *(value for name, value in op.kwargs if name == "dims")]
    if len(given) != 1 or len(op.args) + len(op.kwargs) != 2 or isinstance(given[0], Slice):
        return False
    dims = given[0].items if isinstance(given[0], Group) else given
    values = [writer.operand(operand) for operand in dims if not isinstance(operand, Slice | Group)]
    if len(values) == 1 and isinstance(values[0], Items):
        values = list(values[0].items)
    return len(values) == 1 and isinstance(values[0], Number) and values[0].constant in (0, -1)


def is_reversal(part: Slice) -> bool:
    """Whether a slice is ``[::-1]``."""
    step = part.step
    whole = all(isinstance(bound, Const) and bound.value is None for bound in (part.lo, part.hi))
    return whole and isinstance(step, Const) and step.value == -1


def items_as_array(writer: Writer, namespace: str, operand: object) -> View | None:
    """``[a, b]`` handed to a function of NumPy, as the array that the function makes of it."""
    if namespace != "np" or isinstance(operand, Group | Slice):
        return None
    value = writer.operand(operand)  # type: ignore[arg-type]
    if isinstance(value, Items) and value.items and all(isinstance(item, Number) for item in value.items):
        return stacked(writer, namespace, value)
    return None
