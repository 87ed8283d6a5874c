"""Operations on whole rows and small arrays inside of a kernel: elementwise ones, sums and products, as loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

import torch

from looplift.base.data import replace
from looplift.emit import (
    native_clamp,
    native_mixed,
    native_numpy,
    native_reductions,
    native_running,
    native_selection,
    native_softmax,
)
from looplift.emit.native_access import element
from looplift.emit.native_allocation import allocate, sizes_of
from looplift.emit.native_arrays import element_type
from looplift.emit.native_convert import convert
from looplift.emit.native_items import items_as_array, turned
from looplift.emit.native_ops import BITS, COMPARE, COMPARISONS, CONVERSIONS, FUNCTIONS, LOGIC, TESTS, canonical, row_of
from looplift.emit.native_scalar import typed
from looplift.emit.native_types import FLOAT, MIXED, Scalar, floating
from looplift.emit.native_values import Elements, Number, Value, View
from looplift.emit.native_vector_loops import elements_of_view, materialized, over, type_of
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Op, Operand, Var
from looplift.ops import autocast


def vector_op(writer: Writer, namespace: str, short: str, op: Op, applied: Callable) -> Value | None:
    """An operation that takes a whole array; None for one that takes single numbers or is none of these.

    ``applied(writer, namespace, short, numbers)`` is the operation on single numbers.
    """
    function = ufunc_of_outer(op)
    if (namespace not in ("torch", "np", "method", "", "inplace", "builtin") and not function) or not op.args:
        return None
    values = [_value(writer, argument) for argument in op.args]
    if short in native_reductions.REDUCTIONS and (array := items_as_array(writer, namespace, op.args[0])) is not None:
        values[0] = array
    if namespace == "np":
        values = [native_running.array_of_list(writer, v) if _is_list_of_numbers(v) else v for v in values]
    if not any(map(is_vector, values)):
        return None
    if short == "norm" and is_vector(values[0]) and (found := _norm_of_order(writer, op, values, applied)) is not None:
        return found
    if short in ("matmul", "dot", "inner", "mv", "mm", "vdot") and len(values) == 2:
        return _product(writer, short, values)
    if short == "outer" and len(values) == 2 and not op.kwargs and all(map(is_vector, values)):
        return _outer(writer, values, *(("np", function) if function else ("", "mul")), applied)
    if namespace in ("np", "method") and is_vector(values[0]) and _family(values) == "numpy":
        if (found := _of_numpy(writer, namespace, short, op, values, applied)) is not None:
            return found
    if (
        short in native_reductions.REDUCTIONS
        and is_vector(values[0])
        and namespace != "builtin"
        and not _is_pairwise(namespace, op)
    ):
        return native_reductions.reduced(writer, short, namespace, op, _elements(writer, values[0]))
    first = values[0]
    if short in native_softmax.SOFTMAX and isinstance(first, View | Elements) and first.type.family == "tensor":
        return native_softmax.softmax(writer, short, op, _elements(writer, held(writer, first)))
    if namespace == "method" and short in ("to", "type", "astype", *CONVERSIONS):
        made = _converted(writer, short, op, _elements(writer, values[0]))
        return values[0] if short != "astype" and _is_same_tensor(values[0], made.type) else made
    if short in ("pos", "positive") and isinstance(values[0], View) and _is_same_tensor(values[0], values[0].type):
        return values[0]
    if short == "clamp" and is_vector(values[0]) and not any(map(is_vector, values[1:])):
        return native_clamp.elements(writer, op, _elements(writer, values[0]))
    if _is_elementwise(namespace, short, len(values)) and not op.kwargs:
        kind = "torch" if namespace == "method" and _family(values) == "tensor" else namespace
        kind = "" if kind in ("inplace", "builtin") else kind
        return _elementwise(writer, kind, short, values, applied)
    return None


def _is_same_tensor(value: Value | None, scalar: Scalar) -> bool:
    """Whether a conversion hands out the tensor itself, as it has the type already."""
    return isinstance(value, View) and value.type == scalar and scalar.family == "tensor"


def _of_numpy(writer: Writer, namespace: str, short: str, op: Op, values: list, applied: Callable) -> Value | None:
    """What only NumPy has, or defines in its own way."""
    if short in native_numpy.REDUCTIONS:
        return native_numpy.reduced(writer, short, op, _elements(writer, values[0]))
    if namespace == "np" and short == "sort":
        return native_selection.ordered(writer, op, _elements(writer, values[0]))
    if short == "searchsorted":
        return native_selection.searched(writer, op)
    if short == "diff" and len(op.args) == 1 and not op.kwargs:
        return native_running.differences(
            writer, _elements(writer, values[0]), lambda pair: applied(writer, "np", "sub", pair)
        )
    if namespace == "np" and short == "bincount":
        return native_running.counted(writer, op, _elements(writer, values[0]))
    if short == "cumsum" and len(op.args) == 1 and not op.kwargs:
        return native_running.running_sum(writer, _elements(writer, values[0]))
    return None


_NORMS = {"inf": "max", "-inf": "min", "1": "sum", "1.0": "sum"}


def _norm_of_order(writer: Writer, op: Op, values: list, applied: Callable) -> Value | None:
    """A norm of a vector that is the greatest, the smallest or the sum of its absolute values; None for any other."""
    orders = [*op.args[1:], *(value for name, value in op.kwargs if name in ("ord", "p"))]
    part = _elements(writer, values[0])
    if len(orders) != 1 or len(op.args) + len(op.kwargs) != 2 or len(part.sizes) != 1 or not part.type.is_float:
        return None
    order = writer.operand(orders[0])
    short = _NORMS.get(str(order.constant)) if isinstance(order, Number) else None
    if short is None or part.type.is_half:
        return None
    absolute = _elementwise(writer, "", "abs", [part], applied)
    plain = replace(op, args=op.args[:1], kwargs=())
    if part.type.family == "numpy":
        return native_numpy.reduced(writer, short, plain, absolute)
    return native_reductions.reduced(writer, short, "torch", plain, absolute)


def _is_pairwise(namespace: str, op: Op) -> bool:
    """Whether ``torch.max(a, b)`` takes the greater of two, and is no reduction."""
    return namespace in ("torch", "method") and len(op.args) == 2 and isinstance(op.args[1], Var)


def _value(writer: Writer, operand: Operand) -> Value | None:
    from looplift.ir.grammar import Group, Slice

    return None if isinstance(operand, Group | Slice) else writer.operand(operand)


def _is_list_of_numbers(value: Value | None) -> TypeGuard[View]:
    return isinstance(value, View) and value.is_list and value.rank == 1


def is_vector(value: Value | None) -> bool:
    """Whether a value is an array of at least one dimension, or made of such."""
    return isinstance(value, Elements) or (isinstance(value, View) and value.rank > 0 and not value.is_list)


def _family(values: list) -> str:
    return next(value.type.family for value in values if is_vector(value))


def _is_elementwise(namespace: str, short: str, count: int) -> bool:
    if namespace == "builtin":
        return short == "abs"
    if short in ("where",):
        return count == 3
    known = short in COMPARISONS or short in BITS or short in TESTS or short in LOGIC or row_of(short) is not None
    return known or short in ("pow", "invert", "logical_not")


# ---------------------------------------------------------------- values element by element


def _elements(writer: Writer, value: Value | None) -> Elements:
    match value:
        case Elements():
            return value
        case Number():
            number = writer.bind(_plain(writer, value))
            return Elements((), number.type, lambda writer, index: number, frozenset(), number.homes)
        case View() if not value.is_list:
            return elements_of_view(writer, value)
    raise writer.refuse("not-scalar", f"'{writer.hint}' is computed from more than arrays and numbers")


def _plain(writer: Writer, number: Number) -> Number:
    number = typed(writer, number)
    if number.other is not None:
        raise writer.refuse("mixed-kinds", "a variable that is sometimes a number, with a whole array")
    if number.bound:
        writer.fail_if(f"!{number.bound}", "unbound")
    return replace(number, bound="", alias=False)


def _broadcast(writer: Writer, parts: list[Elements]) -> tuple[Number, ...]:
    """The sizes of an operation on several arrays, which must be equal where none is a literal 1."""
    rank = max(len(part.sizes) for part in parts)
    sizes: list[Number] = []
    for axis in range(rank):
        found = [p.sizes[axis - rank + len(p.sizes)] for p in parts if axis - rank + len(p.sizes) >= 0]
        chosen = next((size for size in found if size.constant != 1), found[0])
        for size in found:
            if size.text != chosen.text and size.constant != 1:
                writer.fail_if(f"{size.at(COMPARE)} != {chosen.at(COMPARE)}", "broken_requirement")
        sizes.append(chosen)
    return tuple(sizes)


def _index_of(part: Elements, index: tuple[str, ...]) -> tuple[str, ...]:
    own = index[len(index) - len(part.sizes) :]
    return tuple("0" if size.constant == 1 else name for size, name in zip(part.sizes, own, strict=True))


def _elementwise(writer: Writer, namespace: str, short: str, values: list, applied: Callable) -> Elements:
    writer.findings.has_vectors = True
    parts = [_elements(writer, value) for value in _of_either_kind(values)]
    wanted = _scalars_as(writer, short, parts)
    sizes = _broadcast(writer, parts)
    if short == "pow" and _family(values) == "numpy":
        namespace = "" if parts[1].sizes else "np"  # exponents that are one number have forms of their own

    def at(writer: Writer, index: tuple[str, ...]) -> Number:
        numbers = [part.at(writer, _index_of(part, index)) for part in parts]
        if wanted is not None:
            numbers = [
                convert(writer, n, wanted) if not p.sizes and n.type.family == "tensor" else n
                for n, p in zip(numbers, parts, strict=True)
            ]
        return applied(writer, namespace, short, numbers)

    origins = frozenset().union(*(part.origins for part in parts))
    homes = frozenset().union(*(part.homes for part in parts))
    return Elements(sizes, type_of(writer, at, len(sizes)), at, origins, homes)


def _of_either_kind(values: list) -> list:
    """A float of Python's at one time and of NumPy's at another does the same to arrays that are no narrower floats.

    So does a float of Python's at one time and an integer at another to any floats.
    """
    arrays = [value.type for value in values if isinstance(value, View | Elements) and not _is_single(value)]
    floats = bool(arrays) and all(one.is_float and not one.is_half for one in arrays)
    wide = bool(arrays) and all(one.family == "numpy" and (one == _DOUBLE or not one.is_float) for one in arrays)

    def plain(value: Value) -> Value:
        if isinstance(value, Number) and value.type == MIXED and floats:
            return native_mixed.as_float(value)
        is_float = isinstance(value, Number) and {value.type, value.other} == {_DOUBLE, FLOAT}
        return replace(value, type=_DOUBLE, other=None, flag="") if wide and is_float else value

    return [plain(value) for value in values]


_DOUBLE = Scalar("numpy", "float64")


def _is_single(value: View | Elements) -> bool:
    return isinstance(value, Elements) and not value.sizes


def _scalars_as(writer: Writer, short: str, parts: list[Elements]) -> Scalar | None:
    """The type that 0-dim tensors are converted to: one of a dimension decides where the category is the same.

    Operations that compute integers in floats, as a true division does, convert each operand to these at once.
    """
    arrays = {part.type for part in parts if part.sizes}
    scalars = {part.type for part in parts if not part.sizes and part.type.family == "tensor"}
    if not scalars or len(arrays) != 1:
        return None
    (array,) = arrays
    same = all(scalar.is_float <= array.is_float and scalar.is_bool >= array.is_bool for scalar in scalars)
    if not same:
        raise writer.refuse("mixed-kinds", "a 0-dim tensor of a higher kind than the array that it meets")
    if array.is_half and scalars != arrays:
        raise writer.refuse("mixed-kinds", "a 0-dim tensor of more than 16 bits, which products do not round")
    return floating(array) if short in FUNCTIONS else array


def _converted(writer: Writer, short: str, op: Op, part: Elements) -> Elements:
    if short in CONVERSIONS:
        scalar: Scalar | None = Scalar("tensor", CONVERSIONS[short])
    else:
        namespace = "torch" if part.type.family == "tensor" else "np"
        if op.kwargs or len(op.args) != 2:
            raise writer.refuse("unknown-op", f"these arguments of '{op.name}' have no scalar form")
        scalar = element_type(writer, namespace, op.args[1])
    assert scalar is not None
    return replace(part, type=scalar, at=lambda writer, index: convert(writer, part.at(writer, index), scalar))


# ---------------------------------------------------------------- loops


def held(writer: Writer, value: Value) -> Value:
    """The value, in an array of its own if it is not stored yet."""
    check_no_view(writer, value)
    return materialized(writer, value) if isinstance(value, Elements) else value


def check_no_view(writer: Writer, value: Value) -> None:
    """What an operation reads, and nothing else knows, is no array that it could stay in."""
    if isinstance(value, Elements) and value.is_view:
        raise writer.refuse("aliasing", "a view with new axes is used as an array")


def kept(writer: Writer, value: Value) -> Elements:
    """The elements of a value as they are now, whatever is stored then."""
    part = _elements(writer, value)
    return _elements(writer, materialized(writer, part)) if part.sizes else part


def store(writer: Writer, target: View, value: Value, put: Callable[[Number, Number], None]) -> None:
    """``target[...] = value`` for each element; ``put(place, number)`` writes one of them.

    All of the right side is computed before anything is written.
    """
    writer.findings.has_vectors = True
    part = _elements(writer, value)
    if part.sizes and not _is_apart(writer, target, part):
        part = _elements(writer, materialized(writer, part))
    places = elements_of_view(writer, target)
    offset = len(places.sizes) - len(part.sizes)
    if offset < 0:
        raise writer.refuse("not-scalar", "a store of more dimensions than the place has")
    for own, size in zip(places.sizes[offset:], part.sizes, strict=True):
        if size.constant != 1 and own.text != size.text:
            writer.fail_if(f"{own.at(COMPARE)} != {size.at(COMPARE)}", "broken_requirement")
    _check_places(writer, target)

    def body(index: tuple[str, ...]) -> None:
        free = iter(index)
        indices = tuple(next(free) if known is None else known for known in target.indices)
        place = element(writer, replace(target, indices=indices))
        assert isinstance(place, Number)
        put(place, part.at(writer, _index_of(part, index)))

    over(writer, places.sizes, body)


def _check_places(writer: Writer, target: View) -> None:
    """PyTorch does not write to what shows one element several times."""
    findings = writer.findings
    if target.type.family != "tensor" or (target.origin in findings.made and target.origin not in findings.renamed):
        return
    for axis in target.axes:
        writer.fail_if(f"{target.root}.step[{axis}] == 0 && {target.root}.size[{axis}] > 1", "aliased")


def _is_apart(writer: Writer, target: View, part: Elements) -> bool:
    """Whether an array surely shares no memory with those that are read: each is one that the kernel made."""
    findings = writer.findings
    own = findings.is_apart(target.origin)
    others = all(map(findings.is_apart, part.origins))
    if target.origin in part.origins:
        return False
    return own or (others and target.origin not in findings.renamed)


# ---------------------------------------------------------------- products


def _product(writer: Writer, short: str, values: list) -> Value:
    """``a @ b`` of vectors and small matrices."""
    a, b = (_stored(writer, value) for value in values)
    if a.type != b.type or not a.type.is_float or a.type.is_half or a.type.is_python:
        raise writer.refuse("unknown-op", f"'{short}' of these kinds has no scalar form")
    if (a.rank, b.rank) not in ((1, 1), (2, 1), (1, 2), (2, 2)):
        raise writer.refuse("not-scalar", "a product of more than two dimensions is the library's work")
    writer.findings.has_vectors = True
    if short == "inner" and b.rank == 2:  # which sums over the last dimensions of both
        b = turned(writer, b, "transposed")
    if short == "inner" and a.type.family == "tensor" and autocast.rounds_products(getattr(torch, a.type.name)):
        raise writer.refuse("unknown-op", "'inner' under autocast may be a product of matrices")
    inner = (sizes_of(writer, a)[-1], sizes_of(writer, b)[0])
    if inner[0].text != inner[1].text:
        writer.fail_if(f"{inner[0].text} != {inner[1].text}", "broken_requirement")
    first, second = elements_of_view(writer, a), elements_of_view(writer, b)
    writer.differs("matmul")
    if a.rank == b.rank == 2:
        return _matrix_product(writer, a, b)
    if a.rank == b.rank:
        return _dot(writer, inner[0], a.type, lambda k: (first.at(writer, (k,)), second.at(writer, (k,))))
    outer = sizes_of(writer, a)[0] if a.rank == 2 else sizes_of(writer, b)[1]
    made = allocate(writer, a.type, [outer])

    def body(index: tuple[str, ...]) -> None:
        (i,) = index
        pairs = {
            2: lambda k: (first.at(writer, (i, k)), second.at(writer, (k,))),
            1: lambda k: (first.at(writer, (k,)), second.at(writer, (k, i))),
        }
        writer.line(f"{made.root}({i}) = {_dot(writer, inner[0], a.type, pairs[a.rank]).text};")

    over(writer, (outer,), body)
    return made


def _matrix_product(writer: Writer, a: View, b: View) -> View:
    outer, inner = (sizes_of(writer, a)[0], sizes_of(writer, b)[1]), sizes_of(writer, a)[1]
    first, second = elements_of_view(writer, a), elements_of_view(writer, b)
    made = allocate(writer, a.type, list(outer))

    def body(index: tuple[str, ...]) -> None:
        i, j = index
        product = _dot(writer, inner, a.type, lambda k: (first.at(writer, (i, k)), second.at(writer, (k, j))))
        writer.line(f"{made.root}({i}, {j}) = {product.text};")

    over(writer, outer, body)
    return made


def ufunc_of_outer(op: Op) -> str:
    """``add`` of ``np.add.outer``, of functions of two single numbers; nothing of any other operation."""
    name = op.name.removesuffix(".outer")
    if name.rpartition(".")[0] != "np" or name == op.name or not _is_elementwise(*canonical(name), 2):
        return ""
    return canonical(name)[1]


def _outer(writer: Writer, values: list, namespace: str, short: str, applied: Callable) -> Elements:
    """What a function of two numbers gives for each element of one vector and each of another."""
    a, b = (elements_of_view(writer, _stored(writer, value)) for value in values)
    if len(a.sizes) != 1 or len(b.sizes) != 1:
        raise writer.refuse("not-scalar", "an outer product of more than vectors")
    writer.findings.has_vectors = True

    def at(writer: Writer, index: tuple[str, ...]) -> Number:
        i, j = index
        return applied(writer, namespace, short, [a.at(writer, (i,)), b.at(writer, (j,))])

    sizes = (*a.sizes, *b.sizes)
    return Elements(sizes, type_of(writer, at, 2), at, a.origins | b.origins, a.homes | b.homes)


def _stored(writer: Writer, value: Value | None) -> View:
    if isinstance(value, Elements):
        return materialized(writer, value)
    if isinstance(value, View) and value.rank:
        return value
    raise writer.refuse("requirement", "a product with a single number")


def _dot(writer: Writer, size: Number, scalar: Scalar, pair: Callable) -> Number:
    total = writer.fresh("total")
    writer.line(f"double {total} = 0;")

    def body(index: tuple[str, ...]) -> None:
        a, b = pair(index[0])
        writer.line(f"{total} += double({a.text}) * {b.text};")

    over(writer, (size,), body, sums=total)
    number = writer.bind(Number(f"{scalar.cpp}({total})", scalar), "product")
    if scalar.family == "numpy":
        writer.fail_if(f"!math::isfinite({number.text})", "warned")
    return number
