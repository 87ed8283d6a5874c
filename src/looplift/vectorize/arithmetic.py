"""Element-wise operations in lanes, computed in the dtype in which the loop computes them."""

from __future__ import annotations

from typing import Any

from looplift.base.data import replace
from looplift.ir.array import Node, merge_axes
from looplift.ir.facts import Kind
from looplift.ops import table
from looplift.ops.names import said
from looplift.vectorize import held, nodes, sheltered, unbounded
from looplift.vectorize.context import Context

OPERANDS = ("min", "max", "a_min", "a_max", "other", "exponent", "input", "end")
"""Keywords of what takes part in promotion, as operands without a name do."""

CHOICE = ("condition", "input", "other")
"""The parameters of ``torch.where``."""


def arithmetic(context: Context, name: str, args: list[Any], kind: Kind, kwargs: dict[str, Any] | None = None) -> Node:
    """An element-wise operation in the dtype in which the loop computes it."""
    kwargs = kwargs or {}
    if any(isinstance(a, list) for a in [*args, *kwargs.values()]):
        raise context.refuse("unknown-op", f"a list as an argument of '{said(name)}'")
    if kind.family in ("tuple", "list", "object", "string"):
        raise context.refuse("unknown-op", f"'{said(name)}' of a {kind.family}")
    base = table.base_name(name)
    if name in ("truediv", "inplace.truediv") and _is_number_over_tensor(args):
        return _number_over_tensor(context, args, kind)
    _check_settings(context, name, args, kwargs)
    if base in table.CONVERSIONS and args:
        return nodes.cast(args[0], kind.dtype)
    if base == "gelu" and args[0].axes and not args[0].kind.rank and "float64" not in str(args[0].kind.dtype):
        context.check(Node("finite", (args[0],), (), nodes.BOOL))  # of one infinity alone torch makes no NaN
    if base in CUT_OFF and context.needs_grad:
        context.check(nodes.elementwise("torch.eq", [args[0], args[0]], nodes.BOOL))
    if base in table.POWERS and len(args) == 2:
        _check_complex_power(context, *args)
    if context.library == "torch" and base in ("pow", "power") and len(args) == 2:
        _check_scalar_power(context, *args)
    if context.library == "np" and base in ("pow", "power") and str(args[0].kind.dtype) == "bool":
        raise context.refuse("unknown-op", "a power of booleans, whose type depends on the exponent")
    if name in table.ARITHMETIC and any(a.kind.is_array and a.axes and a.kind.dtype == kind.dtype for a in args):
        args = list(map(nodes.undecided, args))
    if base == "where":
        args, kwargs = [*args, *(kwargs[key] for key in CHOICE if key in kwargs)], {}
    if base not in ("pow", "power") or not unbounded.is_whole_power(base, args):
        args = [_divisor(context, base, position, args) or guarded(context, base, position, arg)
                for position, arg in enumerate(args)]  # fmt: skip
    named = [key for key in kwargs if key in OPERANDS]
    given = [*args, *(kwargs[key] for key in named)]
    made = _promoted(base, given, kind) if context.library == "torch" else _promoted_arrays(base, given, kind)
    _check_numbers(context, base, given, made)
    narrowed = any(map(_is_narrowed, made, given)) or (_is_short(kind) and any(map(_is_integer_of_lanes, given)))
    if context.library == "torch" and base != "where" and narrowed:
        raise context.refuse("unsupported-value", f"'{said(name)}' of numbers that differ by iteration, in 16 bits")
    args, kwargs = made[: len(args)], kwargs | dict(zip(named, made[len(args) :], strict=True))
    axes = merge_axes(*(a.axes for a in args), *(k.axes for k in kwargs.values()))
    attrs = {"name": name, "kwargs": list(kwargs), "positional": len(args)}
    node = Node("elementwise", (*args, *kwargs.values()), axes, kind, attrs)
    node.attrs["extents"] = _broadcast_extents(node, args)
    return _power(node) if base == "pow" and context.library == "np" else node


CUT_OFF = ("hardtanh", "relu6")
"""What a gradient of theirs is at NaN depends, in torch, on the place in memory: in vectors it is another one."""

OF_ONE = frozenset(
    """silu gelu elu selu leaky_relu hardtanh relu6 mish softsign logsigmoid hardswish hardsigmoid tanhshrink relu
    softplus nan_to_num logit round around""".split()
)
"""Operations of one value, whose other arguments say how."""


def _check_settings(context: Context, name: str, args: list[Node], kwargs: dict[str, Node]) -> None:
    """What says how an operation works is one number for all lanes: a tensor of one lane would be taken for that."""
    settings = [one for key, one in kwargs.items() if key not in OPERANDS and key not in CHOICE]
    settings += args[1:] if table.base_name(name) in OF_ONE else []
    if any(one.axes for one in settings):
        raise context.refuse("unknown-op", f"'{said(name)}' that works in another way in each iteration")


REFUSING = ("where", "clamp", "clip", "clamp_min", "clamp_max", "pow", "power")
"""What raises in torch where a number is beyond the type of a tensor: other operations let it wrap around."""


def _check_numbers(context: Context, base: str, given: list[Node], made: list[Node]) -> None:
    """Require that numbers are in the range of the integers, or of the floats, that they are cast to."""
    if context.library == "torch" and base not in REFUSING:
        return
    for number, cast in zip(given, made, strict=True):
        if cast is not number and number.kind.is_number:
            held.check_number(context, number, cast.kind.dtype)
            if context.library == "torch" and str(cast.kind.dtype) == "torch.float32" and number.kind.family == "float":
                held.check_float(context, number)


def _power(node: Node) -> Node:
    """NumPy takes ``x ** 0.5`` of an array by ``sqrt`` and of a scalar by ``pow``: of -0.0 and -inf they differ."""
    base, exponent = node.args
    plain = exponent.kind.family == "int" or exponent.axes or node.attrs["name"] != "pow"
    if exponent.op == "const":
        plain |= exponent.attrs["value"] != 0.5
    floats = base.kind.is_array and "float" in str(base.kind.dtype) and not node.kind.rank and base.axes
    if plain or not floats or _is_positive(base):
        return node
    attrs = node.attrs | {"name": "np.float_power"}
    made = Node("elementwise", node.args, node.axes, Kind(node.kind.family, _double()), attrs)
    return made if node.kind.dtype == _double() else nodes.cast(made, node.kind.dtype)


def _double() -> Any:
    import numpy as np

    return np.dtype("float64")


def _is_positive(node: Node) -> bool:
    """Whether a value is seen to be greater than any negative number, and not -0.0."""
    name = table.base_name(node.attrs.get("name", ""))
    if node.op == "const":
        return node.attrs["value"] > 0
    if node.op == "elementwise" and name in ("add", "maximum"):
        return all(map(_is_positive, node.args))
    if node.op == "elementwise" and name in ("mul", "multiply") and node.args[0] is node.args[1]:
        return True
    if node.op == "elementwise" and name in ("pow", "power"):
        return node.args[1].op == "const" and node.args[1].attrs["value"] in (2, 4)
    if name == "sum" or (node.op == "reduce" and node.attrs["operator"] == "add"):
        return _is_positive(node.args[0])
    return name in ("abs", "absolute", "square", "exp", "norm", "var", "fabs")


def _check_scalar_power(context: Context, base: Node, exponent: Node) -> None:
    """What torch computes otherwise by a number than by a tensor of exponents.

    Integers have no negative power, and ``sqrt`` stands for ``** 0.5``, which differ at -0.0 and -inf.
    """
    if not (base.kind.is_array and exponent.kind.is_number and exponent.axes):
        return
    if "float" not in str(base.kind.dtype) and exponent.kind.family == "int":
        context.check(nodes.compare("ge", exponent, nodes.const(0)))
    elif exponent.kind.family == "float":
        half = nodes.compare("eq", nodes.elementwise("builtin.abs", [exponent], exponent.kind), nodes.const(0.5))
        below = nodes.compare("le", base, nodes.const(0.0))
        context.check(nodes.negated(nodes.both(half, below)))


def _is_short(kind: Kind) -> bool:
    return str(kind.dtype) in ("torch.float16", "torch.bfloat16")


def _is_integer_of_lanes(given: Node) -> bool:
    return given.kind.family == "int" and bool(given.axes)


def _check_complex_power(context: Context, number: Node, exponent: Node) -> None:
    """A power by the number 0, 1 or 2 of a complex one is another function than that by a tensor of such."""
    if number.kind.is_complex and exponent.kind.is_number and exponent.axes:
        raise context.refuse("unknown-op", "powers of complex numbers whose exponents differ by iteration")


def _is_narrowed(cast: Node, given: Node) -> bool:
    """Whether an operand was rounded to 16 bits, where the loop's 0-dim tensor or number is not."""
    if cast is given or not _is_short(cast.kind):
        return False
    return given.kind.family != "bool" and "bool" not in str(given.kind.dtype)


def _broadcast_extents(node: Node, args: list[Node]) -> list[Node | None] | None:
    for arg in args:
        if arg.kind.rank == node.kind.rank and arg.attrs.get("extents") and len(args) == 1:
            return arg.attrs["extents"]
    return None


def _promoted(base: str, args: list[Node], kind: Kind) -> list[Node]:
    """Cast operands whose batched promotion would differ from the loop's, where 0-dim tensors and numbers are weak."""
    import torch

    if base == "float_power":  # in double precision, whatever it is of
        return [nodes.cast(a, kind.dtype) if a.kind.is_array or a.axes else a for a in args]
    if base == "where":
        if len(args) != 3:
            return args
        pair = _promoted("add", args[1:], kind)
        return [args[0], *pair]
    tensors = [a for a in args if a.kind.is_array or a.kind.is_number]
    wanted = nodes.common_dtype([a.kind for a in tensors])
    if kind.family == "tensor" and not any(a.kind.is_array for a in tensors):
        if wanted.is_floating_point:
            wanted = torch.get_default_dtype()  # a function of torch makes its tensors of Python numbers of this type
        elif wanted.is_complex:
            wanted = kind.dtype
    if kind.family == "tensor" and kind.dtype.is_floating_point and not wanted.is_floating_point:
        return [nodes.cast(a, kind.dtype) if a.kind.is_number and a.axes else a for a in args]  # as it is divided
    if nodes.batched_dtype(tensors) in (wanted, None):
        return args
    return [nodes.cast(a, wanted) if (a.kind.is_array or a.axes) else a for a in args]


def common_kind(context: Context, args: list[Node], kind: Kind) -> Kind:
    """The kind in which an operation of these operands is computed; of ``kind`` otherwise."""
    if context.library == "torch":
        return Kind(kind.family, nodes.common_dtype([a.kind for a in args]), kind.rank)
    import numpy as np

    weak: dict[str, Any] = {"int": 0, "float": 0.0, "bool": False, "complex": 0j}
    dtype = np.result_type(*(a.kind.dtype if a.kind.is_array else weak[a.kind.family] for a in args))
    return Kind(kind.family, dtype, kind.rank)


def _promoted_arrays(base: str, args: list[Node], kind: Kind) -> list[Node]:
    """NumPy's promotion: Python numbers are weak in the loop, and would be strong as arrays of lanes."""
    import numpy as np

    weak: dict[str, Any] = {"int": 0, "float": 0.0, "bool": False, "complex": 0j}
    values = args[1:] if base == "where" and len(args) == 3 else args
    operands = [a for a in values if a.kind.is_array or a.kind.is_number]
    if not any(a.kind.is_array for a in values) or not any(a.kind.is_number and a.axes for a in values):
        return args
    if base == "float_power":  # in double precision, whatever it is of
        return [nodes.cast(a, kind.dtype) if a.kind.is_number and a.axes else a for a in args]
    wanted = np.result_type(*(a.kind.dtype if a.kind.is_array else weak[a.kind.family] for a in operands))
    if wanted.kind in "iu" and kind.is_array and kind.dtype.kind in "fc":
        wanted = kind.dtype  # as it is divided
    made = [nodes.cast(a, wanted) if a.kind.is_number and a.axes else a for a in values]
    return [*args[: len(args) - len(values)], *made]


def _is_number_over_tensor(args: list[Node]) -> bool:
    """Whether a number that differs by lane is divided by a tensor: PyTorch sees to others itself."""
    number, tensor = args
    return number.kind.is_number and bool(number.axes) and tensor.kind.family == "tensor"


def _number_over_tensor(context: Context, args: list[Node], kind: Kind) -> Node:
    """``number / tensor`` is ``tensor.reciprocal() * number`` in PyTorch, and rounds twice."""
    of = args[1].kind
    whole = "float" not in str(of.dtype) and not of.is_complex
    inverse = arithmetic(context, "torch.reciprocal", [args[1]], replace(of, dtype=kind.dtype) if whole else of)
    return arithmetic(context, "mul", [inverse, args[0]], kind)


DIVISIONS = ("truediv", "div", "divide", "true_divide")
SMALLEST_DIVISOR = 1e-12
"""By less, a finite gradient of zero lanes may become infinite."""


def _divisor(context: Context, base: str, position: int, args: list[Node]) -> Node | None:
    """A number that is the same in all lanes is no divisor to replace in some: that it is not near zero is required."""
    if base not in DIVISIONS or position != 1 or len(args) != 2 or context.library != "torch":
        return None
    divisor = args[1]
    plain = divisor.kind.family in ("int", "float") and not divisor.axes and divisor.op != "const"
    small = any("16" in str(arg.kind.dtype) for arg in args)
    if not plain or small or context.mask is None or not context.needs_grad or not args[0].kind.is_array:
        return None
    size = nodes.elementwise("builtin.abs", [divisor], divisor.kind)
    context.check(nodes.compare("ge", size, nodes.const(SMALLEST_DIVISOR)), f"divisor {nodes.key_of(divisor)}")
    return divisor


def guarded(context: Context, base: str, position: int, arg: Node) -> Node:
    """Where a lane does not run, operands that would make NaN (and NaN gradients) are replaced by a safe one.

    NumPy warns of what they make, which the loop never computes.
    """
    singular = table.singular(base, is_complex=arg.kind.is_complex)
    if context.mask is None or singular is None or singular[0] != position or arg.op == "const":
        return arg
    if singular[1] is None:  # of equal numbers torch's gradient is zero, whatever they are
        return arg
    warns = context.library == "np" and arg.kind.family != "tensor"
    if not (context.needs_grad or warns or base in ("floordiv", "mod", "remainder", "fmod", "floor_divide")):
        return arg
    safe = nodes.const(1 if "int" in str(arg.kind.dtype) or arg.kind.family == "int" else singular[1])
    return unbounded.chosen(context.mask, sheltered.sheltered(context, arg, context.mask), safe)
