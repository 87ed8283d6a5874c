"""A value of the translation in, whether it surely is a tensor or an integer of Python out: kinds come later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from looplift.frontend import perhaps
from looplift.frontend.scope import Builder, Value
from looplift.ir.grammar import Const, If, Let, Loop, Op, Operand, Statement, Var, constant, definitions, operands, walk

TAKING = ("getitem", "iter_item", "copy", "method.clone", "method.detach")
"""Operations that make a tensor if the first of their operands is one: of a list they give an item at the place."""
ARITHMETIC = ("neg", "add", "sub", "mul", "truediv", "pow", "matmul")
"""Operations that make a tensor if one of their operands is one, and none is a list, which a tensor may repeat."""
KEEPING = ("getitem", "iter_item", "copy", *ARITHMETIC)
"""Operations that make no tensor if none of their operands is one."""
INTEGRAL = ("copy", "neg", "add", "sub", "mul", "floordiv", "mod")
NUMERIC = frozenset(
    """builtin.len iter_len builtin.int builtin.float as_key math.sqrt math.sin math.cos math.exp math.log math.hypot
    math.atan2""".split()
)
"""Operations that give a number of Python's whatever they are given."""
CREATION = frozenset(("zeros", "ones", "full", "empty", "rand", "randn", "arange", "linspace", "eye", "tensor"))


def is_tensor(build: Builder, value: Value, *, carried: bool = True) -> bool:
    """Whether a value is an argument that is a tensor, or was made of one.

    What a loop carries counts by what it is before the loop, unless ``carried`` is False: it may become a number.
    """
    import torch

    if not isinstance(value, Var):
        return False
    if (path := build.param_path(value)) is not None:
        return isinstance(build.param_values[path], torch.Tensor)
    if value in build.entered:
        return carried and is_tensor(build, build.entered[value])
    match maker(build, value):
        case If(phis=phis):
            phi = next(phi for phi in phis if phi.var is value)
            return all(is_tensor(build, side, carried=carried) for side in (phi.then, phi.orelse))
        case Let(op=op):
            prefix, _, name = op.name.rpartition(".")
            if prefix == "torch" and name.removesuffix("_like") in CREATION:
                return True
            if op.name in TAKING or prefix == "inplace":
                return isinstance(op.args[0], Var) and is_tensor(build, op.args[0], carried=carried)
            if op.name not in ARITHMETIC or any(_may_be_sequence(build, one) for one in operands(op)):
                return False
            return any(is_tensor(build, one, carried=carried) for one in operands(op) if isinstance(one, Var))
        case Loop(carries=carries) if carried:
            return is_tensor(build, next(carry.init for carry in carries if carry.after is value))
    return False


def _may_be_sequence(build: Builder, value: Operand) -> bool:
    """Whether a value may be a list or tuple, of what it is before a loop."""
    if isinstance(value, Const):
        return isinstance(value.value, Sequence)
    if not isinstance(value, Var) or value in build.sites:
        return True
    if (path := build.param_path(value)) is not None:
        return isinstance(build.param_values[path], Sequence)
    if value in build.entered:
        return _may_be_sequence(build, first_value(build, value))  # type: ignore[arg-type]
    match maker(build, value):
        case Let(op=op) if op.name in ARITHMETIC:
            return any(_may_be_sequence(build, one) for one in operands(op))
        case Let(op=op) if op.name in TAKING:
            owner = op.args[0]
            is_of_numbers = isinstance(owner, Var) and (is_tensor(build, owner) or is_array(build, owner))
            return not is_of_numbers and not is_python_number(build, value)
        case Let(op=op):
            return op.name in _LISTS
    return False


def may_be_tensor(build: Builder, value: Value) -> bool:
    """Whether a value is not surely something else: a list, tuple or array of the caller, or a list of the region."""
    import torch

    if not isinstance(value, Var) or value in build.sites or is_array(build, value):
        return False
    if (path := build.param_path(value)) is not None:
        return isinstance(build.param_values[path], torch.Tensor)
    if value in build.entered:
        return may_be_tensor(build, build.entered[value])
    made = maker(build, value)
    return not (isinstance(made, Let) and made.op.name in _LISTS)


_LISTS = ("list", "tuple", "builtin.list", "builtin.tuple", "method.tolist")


def may_be_none(build: Builder, value: Value, certain: Value | None) -> bool:
    """Whether a value that statements around give is None in some iterations, where ``certain`` is not."""
    if isinstance(value, Const):
        return value.value is None
    if isinstance(value, perhaps.Perhaps):
        return True
    if not isinstance(value, Var) or value is certain:
        return False
    if value in build.entered:
        return may_be_none(build, build.entered[value], certain)
    match maker(build, value):
        case If(phis=phis):
            phi = next(phi for phi in phis if phi.var is value)
            return any(may_be_none(build, side, certain) for side in (phi.then, phi.orelse))
        case Loop(carries=carries):
            carry = next(carry for carry in carries if carry.after is value)
            return any(may_be_none(build, one, certain) for one in (carry.init, carry.next))
    return False


def is_array(build: Builder, value: Value) -> bool:
    """Whether a value is surely an array of NumPy's: an argument, or one that the region makes."""
    import numpy as np

    if not isinstance(value, Var):
        return False
    if (path := build.param_path(value)) is not None:
        return isinstance(build.param_values[path], np.ndarray)
    if value in build.entered:
        return is_array(build, build.entered[value])
    match maker(build, value):
        case Let(op=op):
            prefix, _, name = op.name.rpartition(".")
            return prefix == "np" and name.removesuffix("_like") in CREATION
    return False


def is_integer(build: Builder, value: Value) -> bool:
    """Whether a value is an integer of Python's: a literal, an argument, an index, a length, or made of such."""
    if isinstance(value, Const):
        return type(value.value) is int
    if not isinstance(value, Var):
        return False
    if (path := build.param_path(value)) is not None:
        return type(build.param_values[path]) is int
    if value in build.ranges:
        return True
    if value in build.entered:
        return is_integer(build, build.entered[value])
    match maker(build, value):
        case Let(op=op) if op.name in INTEGRAL:
            return all(is_integer(build, operand) for operand in op.args if isinstance(operand, Var | Const))
        case Let(op=Op(name="method.size", args=[Var() as owner, _])):
            return is_tensor(build, owner)
        case Let(op=Op(name="getitem", args=[Var() as shape, Const(value=int())])):
            return _is_shape(build, shape)
        case Let(op=Op(name="unpack", args=[Var() as shape, *_])):
            return _is_shape(build, shape)
        case Let(op=op):
            return op.name in ("builtin.len", "iter_len", "builtin.int", "as_key")
    return False


def is_count(build: Builder, value: Value) -> bool:
    """Whether a value surely is an integer that is not negative: a literal, a length, or what ``max(0, n)`` gives."""
    if isinstance(value, Const):
        return type(value.value) is int and value.value >= 0
    match maker(build, value) if isinstance(value, Var) else None:
        case Let(op=Op(name="builtin.len" | "iter_len")):
            return True
        case Let(op=Op(name="builtin.max", args=[Const(value=0), _])):
            return True
        case Let(op=Op(name="add", args=args)):
            return all(is_count(build, one) for one in args if isinstance(one, Var | Const))
    return False


def _is_shape(build: Builder, value: Var) -> bool:
    """Whether a value surely is the shape of a tensor or an array, whose items are integers."""
    match maker(build, value):
        case Let(op=Op(name="attribute", args=[Var() as owner, Const(value="shape")])):
            return is_tensor(build, owner) or is_array(build, owner)
    return False


def is_extent(build: Builder, value: Value) -> bool:
    """Whether a value surely is an extent of a tensor: ``x.shape[0]`` or ``x.size(0)``."""
    match maker(build, value) if isinstance(value, Var) else None:
        case Let(op=Op(name="method.size", args=[_, _])):
            return True
        case Let(op=Op(name="getitem", args=[Var() as shape, Const(value=int())])):
            match maker(build, shape):
                case Let(op=Op(name="attribute", args=[_, Const(value="shape")])):
                    return True
    return False


def is_python_number(build: Builder, value: Value) -> bool:
    """Whether a value surely is an integer or a float of Python's own.

    A variable of a loop that begins as a literal is assumed to stay one, which the end of the loop has to prove.
    """
    if isinstance(value, Const):
        return type(value.value) in (int, float)
    if not isinstance(value, Var):
        return False
    if (path := build.param_path(value)) is not None:
        return type(build.param_values[path]) in (int, float)
    if value in build.ranges:
        return True
    if value in build.entered:
        is_literal = type(getattr(first_value(build, value), "value", None)) in (int, float)
        if is_literal:
            build.assumed.add(value)
        return is_literal
    match maker(build, value):
        case If(phis=phis):
            phi = next(phi for phi in phis if phi.var is value)
            return is_python_number(build, phi.then) and is_python_number(build, phi.orelse)
        case Let(op=op) if op.name in (*INTEGRAL, "truediv") or op.name.startswith("inplace."):
            return all(is_python_number(build, operand) for operand in op.args if isinstance(operand, Var | Const))
        case Let(op=op) if op.name in NUMERIC:
            return True
        case Let(op=Op(name="getitem" | "iter_item", args=(Var() as owner, Var() | Const() as index))):
            path = build.param_path(owner)
            items: Any = build.param_values[path] if path is not None else None
            of_numbers = type(items) in (list, tuple) and {*map(type, items)} in ({int}, {float})
            return of_numbers and is_integer(build, index)
    return False


def first_value(build: Builder, value: Value) -> Value:
    """What a variable of loops holds before the outermost."""
    while isinstance(value, Var) and value in build.entered:
        value = build.entered[value]
    return value


def computed_of(build: Builder, value: Var) -> list[Var]:
    """The variables of loops that a value is computed of by arithmetic."""
    if value in build.entered:
        return [value]
    match maker(build, value):
        case Let(op=op) if op.name in (*INTEGRAL, "truediv", "pow") or op.name.startswith("inplace."):
            return [one for operand in op.args if isinstance(operand, Var) for one in computed_of(build, operand)]
    return []


NUMBERS = (
    "builtin.len",
    "iter_len",
    "builtin.int",
    "builtin.float",
    "method.item",
    "method.size",
    "method.numel",
    "method.tolist",
)


def is_no_tensor(build: Builder, value: Value) -> bool:
    """Whether a value is surely a number of Python's or NumPy's, or an array of NumPy's.

    A variable of a loop that is none at first is assumed to stay so, which the end of the loop has to prove.
    """
    return _is_no_tensor(build, value, set())


def _is_no_tensor(build: Builder, value: Value, seen: set[Value]) -> bool:
    import numpy as np

    if isinstance(value, Const):
        return isinstance(value.value, int | float)
    if not isinstance(value, Var):
        return False
    if value in seen:
        return True
    seen.add(value)
    if (path := build.param_path(value)) is not None:
        found = build.param_values[path]
        if type(found) in (list, tuple):
            return bool(found) and all(isinstance(item, int | float | np.generic) for item in found)
        return isinstance(found, int | float | np.generic | np.ndarray | range)
    if value in build.ranges:
        return True
    made = _maker_anywhere(build, value)
    if value in build.entered and made is None:
        build.tensorless.add(value)
        return _is_no_tensor(build, build.entered[value], seen)
    match made:
        case If(phis=phis):
            phi = next(phi for phi in phis if phi.var is value)
            return _is_no_tensor(build, phi.then, seen) and _is_no_tensor(build, phi.orelse, seen)
        case Loop(index=index) if index is value:
            return True
        case Loop(carries=carries):
            carry = next(carry for carry in carries if value in (carry.inside, carry.after))
            return _is_no_tensor(build, carry.init, seen) and _is_no_tensor(build, carry.next, seen)
        case Let(op=op) if op.name in NUMBERS:
            return True
        case Let(op=op) if op.name == "attribute":
            return constant(op.args[1]) in ("shape", "ndim", "size")
        case Let(op=op) if op.name in ("unpack", *INTEGRAL, *KEEPING) or op.name.startswith(
            ("inplace.", "np.", "math.")
        ):
            return all(_is_no_tensor(build, operand, seen) for operand in operands(op) if isinstance(operand, Var))
    return False


def _maker_anywhere(build: Builder, value: Var) -> Statement | None:
    """The statement that gives a variable its value, also inside of those that stand in a block around."""
    statements = (statement for block in build.blocks for statement in walk(block))
    return next((s for s in statements if any(made is value for made in definitions(s))), None)


def is_seen_through(build: Builder, value: Value) -> bool:
    """Whether items taken of a sequence show what is stored into it later: views do, and tuples do not change."""
    import numpy as np

    path = build.param_path(value)
    found = build.param_values[path] if path is not None else None
    return isinstance(found, tuple) or (isinstance(found, np.ndarray) and found.ndim > 1) or is_tensor(build, value)


def maker(build: Builder, value: Var) -> Statement | None:
    """The statement that gives a variable its value, if it stands in a block around."""
    return next((s for block in reversed(build.blocks) for s in reversed(block) if _makes(s, value)), None)


def _makes(statement: Statement, value: Var) -> bool:
    if isinstance(statement, Let):
        return statement.var is value
    if isinstance(statement, Loop):
        return any(carry.after is value for carry in statement.carries)
    return isinstance(statement, If) and any(phi.var is value for phi in statement.phis)
