"""Arrays that a kernel makes, allocated by itself or by the library to which it hands them out; copies of views."""

from __future__ import annotations

from looplift.base.data import replace
from looplift.emit.native_convert import constant, convert
from looplift.emit.native_flow import ArrayType
from looplift.emit.native_mixed import copy_line, element_type_of
from looplift.emit.native_ops import COMPARE
from looplift.emit.native_types import INT, Scalar
from looplift.emit.native_values import Number, View
from looplift.emit.native_writer import Adopted, Writer
from looplift.ir.grammar import Var


def allocate(
    writer: Writer, scalar: Scalar, sizes: list[Number], hint: str = "", *, filling: Number | None = None
) -> View:
    """A new array, of this number everywhere; without it the elements are not set yet."""
    for size in sizes:
        if size.low < 0:
            writer.fail_if(f"{size.at(COMPARE)} < 0", "broken_requirement")
    if writer.current in writer.overwritten:
        filling = None
    scalar = element_type_of(writer, scalar)
    kind = ArrayType(scalar, len(sizes))
    name = writer.fresh(hint or ("values" if writer.hint in ("t", "items") else writer.hint))
    writer.line(f"{kind.cpp} {name};")
    shape, made = ", ".join(size.text for size in sizes), owned(writer, name, kind)
    if made.origin in writer.findings.handed and writer.depth == 1 and is_adopted(kind):
        is_zero = filling is not None and str(filling.constant) in ("0", "0.0", "False")
        memory, is_filled = adopted(writer, name, kind, f"{{{shape}}}", is_zero=is_zero)
        writer.line(f"if (!{name}.adopt({memory}, {{{shape}}})) return out_of_memory;")
        filling = None if is_filled else filling
    else:
        writer.line(f"if (!{name}.allocate({{{shape}}})) return out_of_memory;")
    if filling is not None:
        writer.line(f"{name}.fill({convert(writer, filling, scalar).text});")
    writer.extents[name] = tuple(size.constant for size in sizes)
    for axis, size in enumerate(sizes):
        if not size.homes and not size.reads:
            writer.are_equal(f"{name}.size[{axis}]", size.text)
    return made


def is_adopted(kind: ArrayType) -> bool:
    """Whether an array that is handed out is allocated by its library."""
    if kind.holds_objects or kind.rank == 0:
        return False
    return kind.scalar.family == "numpy" or (kind.scalar.family == "tensor" and kind.rank <= 6)


def adopted(writer: Writer, name: str, kind: ArrayType, shape: str, *, is_zero: bool = False) -> tuple[str, bool]:
    """The memory of an array that its library allocates, and whether it is filled with zeros."""
    import numpy as np

    number, scalar = len(writer.adopted), kind.scalar
    writer.adopted[name] = Adopted(scalar)
    if scalar.family == "tensor":
        return f"made_tensor(watch, maker, made, {number}, {shape})", False
    kept = f"{np.dtype(scalar.name).num}, {'true' if is_zero else 'false'}"
    return f"made_array(watch, maker, made, {number}, {kept}, {shape})", is_zero


def owned(writer: Writer, name: str, kind: ArrayType) -> View:
    origin = writer.current or Var(name)
    writer.findings.made.add(origin)
    return View(name, kind.scalar, (None,) * kind.rank, origin, holds_objects=kind.holds_objects)


def sizes_of(writer: Writer, view: View) -> list[Number]:
    known = writer.extents.get(view.root) if view.root not in writer.grown else None
    sizes = [Number(view.size(axis), INT, low=0, high=2**47, homes=view.homes) for axis in range(view.rank)]
    if known is None:
        return sizes
    found = [known[axis] for axis in view.axes]
    return [size if length is None else constant(length, INT) for size, length in zip(sizes, found, strict=True)]


def copied(writer: Writer, view: View) -> View:
    """A copy of an array or list, or of what is left of one."""
    if view.is_list and view.rank > 1:
        raise writer.refuse("aliasing", "a copy of a list that shares its rows")
    source = view_text(view)
    made = allocate(writer, view.type, sizes_of(writer, view))
    writer.line(copy_line(made.root, source, view.type, made.type))
    return replace(made, holds_objects=view.holds_objects)


def view_text(view: View) -> str:
    """A view as C++: what is left of its root after the indices."""
    text, seen = view.root, 0
    for axis, index in enumerate(view.indices):
        if index is not None:
            text = f"row_at<{axis - seen}>({text}, {index})"
            seen += 1
    return text
