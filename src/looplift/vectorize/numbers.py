"""Python numbers in lanes: integers are int64 within checked bounds, floats float64, errors become requirements."""

from __future__ import annotations

from typing import Any

from looplift.ir.array import Node, reachable
from looplift.ir.facts import Fact, Kind, kind_of
from looplift.ir.grammar import Atom, Const, Var
from looplift.ops import decimals, table
from looplift.vectorize import arithmetic, each, linear, nodes
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val

MATH_EXACT = frozenset(("sqrt", "fabs", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "copysign", "fmod"))
MATH = MATH_EXACT | frozenset(
    """exp expm1 exp2 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh hypot pow
    erf erfc degrees radians""".split()
)
NOT_OF_NUMPY = ("math.erf", "math.erfc")
CONVERSIONS = ("builtin.float", "builtin.int", "builtin.bool", "method.item", "method.__float__")


def number_operation(
    context: Context, name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact, var: Var
) -> Val | None:
    """The operation, if it is one on Python numbers or makes one; else None."""
    if kwargs and name in ("builtin.min", "builtin.max"):
        raise context.refuse("unknown-op", f"'{table.base_name(name)}' with a key, or a default value")
    if kwargs or any(isinstance(a, list) for a in args):
        return None
    if name == "method.item" and len(args) > 1:
        raise context.refuse("unknown-op", "'.item' of one of several elements")
    if name in CONVERSIONS or (name == "method.tolist" and fact.kind.is_number):
        return Val(_converted(context, args[0], fact.kind))
    if name == "method.tolist" and args[0].kind.is_array and args[0].kind.rank == 1 and fact.sample:
        return _numbers_of(context, args[0], fact)
    if name in ("builtin.min", "builtin.max"):
        if len(args) != 2:
            raise context.refuse("unknown-op", f"'{table.base_name(name)}' of the items of an array")
        return Val(_extreme(context, name, args, fact.kind))
    if name == "not":
        return Val(nodes.negated(asked(context, args[0])))
    if name == "builtin.abs" and args[0].kind.is_array:
        return Val(nodes.elementwise("torch.abs" if context.library == "torch" else "np.abs", args, fact.kind))
    if name == "builtin.round" and fact.kind.family == "int" and len(args) == 1 and args[0].kind.is_array:
        rounded = nodes.elementwise("np.round", args, args[0].kind)
        return Val(_converted(context, rounded, fact.kind))
    if name.startswith("math.") and fact.kind.is_number:
        args = [_python_float(context, name, a) for a in args]
    if not fact.kind.is_number or not all(a.kind.is_number for a in args):
        return None
    if context.library == "np" and name in NOT_OF_NUMPY and args[0].axes:
        return Val(each.of_each(context, name, args, f"NumPy has no '{name[5:]}'"))
    return Val(_arithmetic(context, name, args, fact.kind, var))


def _python_float(context: Context, name: str, x: Node) -> Node:
    """The operand of a function of 'math', which computes in double precision whatever the dtype is."""
    if x.kind.is_number:
        return x
    if x.kind.rank or (name == "math.trunc" and str(x.kind.dtype) != "float64"):
        raise context.refuse("unknown-op", f"'{name}' of an array")
    return _converted(context, x, nodes.FLOAT)


def _numbers_of(context: Context, x: Node, fact: Fact) -> Val:
    """``x.tolist()`` of a vector: as many numbers as it has at the call that the variant is made for."""
    from looplift.vectorize.indexing import read
    from looplift.vectorize.subscripts import extent_of

    count, extent = len(fact.sample), extent_of(x, 0)
    context.check(nodes.compare("eq", extent, nodes.const(count)), f"={nodes.key_of(extent)}:{count}")
    single = Kind("numpy" if x.kind.family == "array" else "tensor", x.kind.dtype, 0)
    parts = [read(context, x, Const(position), single).node for position in range(count)]
    items = [Val(_converted(context, part, kind_of(fact.sample[0]))) for part in parts]
    node = Node("display", tuple(item.node for item in items), x.axes, fact.kind, {"kind": "list"})
    return Val(node, items=items)


def truth(node: Node) -> Node:
    """Whether each lane's value is true; a Python bool where no axis changes it."""
    if not node.axes and node.kind.family != "bool":
        return Node("apply", (node,), (), nodes.BOOL, {"name": "builtin.bool", "kwargs": [], "positional": 1})
    if node.kind.family == "bool":
        return node
    if node.kind.is_array and node.kind.rank:
        node = Node("reshaped", (node,), node.axes, Kind(node.kind.family, node.kind.dtype, 0))  # of one element
    if node.kind.is_array and str(node.kind.dtype) in ("torch.bool", "bool"):
        return nodes.cast(node, node.kind.dtype)
    return nodes.elementwise("ne", [node, nodes.const(0)], nodes.BOOL)


def asked(context: Context, node: Node) -> Node:
    """``truth`` as Python asks for it, which arrays of one element have."""
    from looplift.vectorize.subscripts import extent_of

    for dim in range(node.kind.rank if node.kind.is_array else 0):
        extent = extent_of(node, dim)
        context.check(nodes.compare("eq", extent, nodes.const(1)), f"={nodes.key_of(extent)}:1")
    return truth(node)


def holds(context: Context, atom: Atom) -> Node:
    """Whether a value is true; a list is if there is anything in it."""
    sequence = context.lookup(atom).sequence
    if sequence is None:
        return asked(context, context.node(atom))
    return nodes.compare("ne", sequence.length(context), nodes.const(0))


def bits_of(node: Node) -> int:
    """How many bits the magnitude of an integer may take."""
    if "bits" in node.attrs:
        return node.attrs["bits"]
    match node.op:
        case "const":
            return int(node.attrs["value"]).bit_length()
        case "index" | "along" | "extent" | "length":
            return nodes.INDEX_BITS
        case "linear":
            return nodes.INDEX_BITS + 8 if all(bits_of(a) <= nodes.INDEX_BITS for a in node.args) else 64
        case "where":
            return max(bits_of(node.args[1]), bits_of(node.args[2]))
        case "elementwise" if node.attrs["name"] in ("add", "sub", "mul") and node.kind.family == "int":
            first, second = map(bits_of, node.args)
            return min(first + second if node.attrs["name"] == "mul" else max(first, second) + 1, 64)
        case "vector":
            return max((int(value).bit_length() for value in node.attrs["values"] if type(value) is int), default=64)
        case "retype" | "cast" | "slice" | "gather" if _source(node).op == "vector":
            return bits_of(_source(node))
        case "retype" | "cast":
            dtype = str(node.args[0].kind.dtype)
            digits = "".join(c for c in dtype.rpartition(".")[2] if c.isdigit())
            return int(digits or 1) if "int" in dtype else 64
        case "name" if not node.axes:
            return nodes.INDEX_BITS
    return 64


def _source(node: Node) -> Node:
    """What elements are taken from."""
    while node.op in ("retype", "cast", "slice", "gather") and node.args:
        node = node.args[0]
    return node


def _converted(context: Context, x: Node, kind: Kind) -> Node:
    if x.kind.is_number and x.kind.family == kind.family:
        return x
    if kind.family == "bool":
        found = asked(context, x)
        return Node("retype", (found,), found.axes, kind) if found.kind.is_array and not found.kind.rank else found
    if kind.family != "complex" and "complex" in str(nodes.lane_dtype(x.kind)):
        raise context.refuse("unknown-op", "a complex number becomes a real one, which not all of them do")
    wanted, attrs = nodes.lane_dtype(kind), {}
    if context.needs_grad and x.kind.family == "tensor" and nodes.may_have_gradient(x.kind.dtype):
        x = Node("method", (x,), x.axes, x.kind, {"name": "detach"})
        written = {array.node.serial for array in context.arrays.values()}
        if nodes.lane_dtype(x.kind) == wanted and any(node.serial in written for node in reachable([x])):
            x = Node("method", (x,), x.axes, x.kind, {"name": "clone"})  # a number does not change with the array
    if kind.family == "int":
        check_signed(context, x)
    if kind.family == "int" and "float" in str(nodes.lane_dtype(x.kind)):
        limit = nodes.const(2.0**62)
        context.check(nodes.compare("lt", nodes.elementwise("builtin.abs", [x], x.kind), limit))
        x = nodes.elementwise("math.trunc", [x], x.kind)
        attrs = {"bits": 62}
    if x.kind.is_array and x.kind.rank:
        x = Node("reshaped", (x,), x.axes, Kind(x.kind.family, x.kind.dtype, 0))
    inner = nodes.cast(x, wanted) if nodes.lane_dtype(x.kind) != wanted else x
    return Node("retype", (inner,), x.axes, kind, attrs)


def check_signed(context: Context, x: Node) -> None:
    """Require that what becomes Python's integers is in the range of those with a sign."""
    if "uint64" not in str(nodes.lane_dtype(x.kind)):
        return
    if context.library == "torch":
        raise context.refuse("integer-range", "a number of 64 bits without a sign becomes one of Python's")
    context.check(nodes.compares_all("lt", x, nodes.const(2**63)))


def _extreme(context: Context, name: str, args: list[Node], kind: Kind) -> Node:
    """``min(a, b)`` is ``b if b < a else a``."""
    a, b = args
    if a is b and a.kind == kind:
        return a
    other = "lt" if name.endswith("min") else "gt"
    if kind.is_array:
        if any(node.kind.is_array and node.kind.rank for node in args):
            raise context.refuse("unknown-op", f"'{table.base_name(name)}' of arrays that have dimensions")
        return context.select(_compared(context, other, b, a), _as_lane(b, kind), _as_lane(a, kind), kind)
    first, second = (_as_number(context, node, kind) for node in (a, b))
    return nodes.select(nodes.compare(other, b, a), second, first, kind)


def _as_number(context: Context, node: Node, kind: Kind) -> Node:
    """One of two numbers as the type of both, for sums of them: no sum of floats is an integer."""
    if kind.family != "float" or node.kind.family == "float":
        return _as_lane(node, kind)
    if node.axes:
        return exact_float(context, node)
    if node.op == "const":
        return nodes.const(float(node.attrs["value"]))
    return Node("apply", (node,), (), kind, {"name": "builtin.float", "kwargs": [], "positional": 1})


def _compared(context: Context, name: str, a: Node, b: Node) -> Node:
    return arithmetic.arithmetic(context, name, [a, b], nodes.BOOL)


def _as_lane(node: Node, kind: Kind) -> Node:
    wanted = nodes.lane_dtype(kind)
    return node if nodes.lane_dtype(node.kind) == wanted or not node.axes else nodes.cast(node, wanted)


def _nonzero(context: Context, node: Node) -> None:
    if not (node.op == "const" and node.attrs["value"]):
        context.check(nodes.compare("ne", node, nodes.const(0)))


def _safe_divisor(context: Context, node: Node) -> Node:
    """Integers are divided in all lanes, also where none stands for a divisor."""
    return node if context.mask is None else nodes.select(context.mask, node, nodes.const(1), node.kind)


def beside_tensors(context: Context, first: Node) -> None:
    """Require that an integer of Python's that is made a tensor here is none that raises beside tensors, as in the
    loop."""
    number = first.args[0] if first.op in ("full", "cast") else first
    if number.kind.family != "int" or context.library != "torch":
        return
    known = number.op in ("index", "extent", "length")
    if not (known or (number.op == "const" and -(2**63) <= number.attrs["value"] < 2**63)):
        context.check(nodes.compare("lt", number, nodes.const(2**63)))
        context.check(nodes.compare("ge", number, nodes.const(-(2**63))))


def bounded(context: Context, node: Node, bits: int) -> None:
    """Require that an integer has at most so many bits."""
    if bits_of(node) > bits:
        limit = nodes.const(2**bits)
        context.check(nodes.compare("lt", node, limit))
        context.check(nodes.compare("gt", node, nodes.elementwise("neg", [limit], nodes.INT)))


def _arithmetic(context: Context, name: str, args: list[Node], kind: Kind, var: Var) -> Node:
    deciding = var in context.flow.deciding
    base = table.base_name(name)
    if name.startswith("math."):
        return _math(context, base, args, kind, deciding)
    args = [
        a if a.kind.family != "bool" or base in ("and_", "or_", "xor", "eq", "ne", "not") else integer(a) for a in args
    ]
    float_result = kind.family == "float"
    if base in ("truediv", "floordiv", "mod"):
        _nonzero(context, args[1])
        if base == "mod" and float_result:
            return _float_remainder(name, [_floating(a) for a in args], kind)
        if float_result or kind.family == "complex":
            args = [exact_float(context, a) if base == "truediv" else _floating(a) for a in args]
            args = [arithmetic.guarded(context, base, position, a) if a.axes else a for position, a in enumerate(args)]
        elif args[1].axes:
            args = [args[0], _safe_divisor(context, args[1])]
    elif base == "pow":
        return _power(context, args, kind, deciding)
    elif base in ("lshift", "rshift"):
        raise context.refuse("integer-range", "shifts of Python integers that differ by iteration")
    elif base == "round":
        return _rounded(context, args, kind)
    elif name == "builtin.complex" and len(args) == 2 and all(a.kind.family != "complex" for a in args):
        args = [exact_float(context, a) for a in args]
    elif base not in _PLAIN:
        raise context.refuse("unknown-op", f"'{name}' of Python numbers has no batched form")
    elif any(a.kind.family in ("float", "complex") for a in args):
        if base in _COMPARISONS and any(a.axes for a in args):
            for arg in args:
                _compared_exactly(context, arg)
        args = [exact_float(context, a) for a in args]
    if kind.family == "int" and (base in ("neg", "abs") or (base == "floordiv" and _may_negate(args[1]))):
        bounded(context, args[0], 62)
    node = nodes.elementwise(name, args, kind)
    bits = None
    if kind.family == "int" and base in ("add", "sub", "mul"):
        bits = _checked_bits(context, base, args, node)
    if bits is not None:
        node.attrs["bits"] = bits
    elif kind.family == "int" and base in ("mod", "floordiv", "neg", "abs"):
        node.attrs["bits"] = bits_of(args[1] if base == "mod" else args[0])
    return node


_COMPARISONS = frozenset("eq ne lt le gt ge".split())


def _compared_exactly(context: Context, number: Node) -> None:
    """An integer that all lanes share is compared as a float, which it must be; Python compares it as it is."""
    if number.kind.family == "int" and not number.axes and not _is_exact(number):
        limit = nodes.const(2**53)
        context.check(nodes.compare("le", nodes.elementwise("builtin.abs", [number], nodes.INT), limit))


def _is_exact(number: Node) -> bool:
    if number.op in ("extent", "length"):
        return True
    return number.op == "const" and abs(number.attrs["value"]) <= 2**53


def _may_negate(divisor: Node) -> bool:
    return divisor.op != "const" or divisor.attrs["value"] == -1


_PLAIN = frozenset("add sub mul neg pos abs eq ne lt le gt ge and_ or_ xor invert".split())


def _checked_bits(context: Context, base: str, args: list[Node], made: Node) -> int:
    a, b = args
    bits = bits_of(a) + bits_of(b) if base == "mul" else max(bits_of(a), bits_of(b)) + 1
    if bits <= 63:
        return bits
    if (form := linear.linear_of(made)) is not None and form.terms:
        context.check(nodes.compare("lt", _greatest(form), nodes.const(2**_SUM_BITS)))
        return _SUM_BITS
    if (most := _most(made)) is not None:
        context.check(nodes.compare("lt", most, nodes.const(2**62)))
        return 62
    limit = 31 if base == "mul" else 62
    for arg in args:
        bounded(context, arg, limit)
    return 62 if base == "mul" else 63


_SUM_BITS = 59


def _greatest(form: linear.Linear) -> Node:
    """What the magnitude of a sum of positions does not pass: a Python integer, which has room for it."""
    total = _magnitude(form.base)
    for axis, step in form.terms.items():
        last = nodes.minus(axis.extent, nodes.const(1))
        total = nodes.plus(total, nodes.elementwise("mul", [_magnitude(step), last], nodes.INT))
    return total


def _most(number: Node) -> Node | None:
    """What the magnitude of an integer that is made of positions does not pass: a Python integer again."""
    form = linear.linear_of(number)
    if form is not None:
        return _greatest(form)
    if number.op != "elementwise" or number.kind.family != "int" or len(number.args) != 2:
        return None
    first, second = number.args
    match table.base_name(number.attrs["name"]):
        case "floordiv":
            return _most(first)
        case "mod":
            return _most(second)
        case ("add" | "sub" | "mul") as name:
            parts = _most(first), _most(second)
            if parts[0] is not None and parts[1] is not None:
                return nodes.elementwise("mul" if name == "mul" else "add", [parts[0], parts[1]], nodes.INT)
    return None


def _magnitude(number: Node) -> Node:
    value = nodes.constant_of(number)
    return nodes.elementwise("builtin.abs", [number], nodes.INT) if value is None else nodes.const(abs(value))


def integer(node: Node) -> Node:
    """A truth value as 0 or 1."""
    if not node.axes:
        return node
    return Node("retype", (nodes.cast(node, nodes.lane_dtype(nodes.INT)),), node.axes, nodes.INT, {"bits": 1})


def _floating(node: Node) -> Node:
    if node.kind.family in ("float", "complex") or not node.axes:
        return node
    return Node("retype", (nodes.cast(node, nodes.lane_dtype(nodes.FLOAT)),), node.axes, nodes.FLOAT)


def exact_float(context: Context, node: Node) -> Node:
    """An integer beside a float, in double precision; one that has more bits is rounded, or compared as it is."""
    if node.kind.family == "int" and node.axes:
        bounded(context, node, 53)
    return _floating(node)


def _rounded(context: Context, args: list[Node], kind: Kind) -> Node:
    """To the nearest integer, or to so many decimal places, ties to even; integers have none."""
    value, *digits = args
    factor = decimals.factor(digits[0].attrs["value"] if digits and digits[0].op == "const" else None)
    if (digits and factor is None) or (value.kind.family != "float" and not digits):
        raise context.refuse("unknown-op", "'round' to digits that are not known, negative or more than 22")
    if value.kind.family in ("int", "bool"):
        return integer(value) if value.kind.family == "bool" else value
    if digits or not value.axes:
        return nodes.elementwise("builtin.round", args, kind)
    return _converted(context, nodes.elementwise("torch.round", args, Kind("float")), kind)


def _float_remainder(name: str, args: list[Node], kind: Kind) -> Node:
    """A remainder has the sign of the divisor in Python, also where it is zero."""
    remainder = nodes.elementwise(name, args, kind)
    if not remainder.axes:
        return remainder
    return nodes.elementwise("math.copysign", [remainder, args[1]], kind)


def _power(context: Context, args: list[Node], kind: Kind, deciding: bool) -> Node:
    base, exponent = args
    if kind.family == "complex" or any(a.kind.family == "complex" for a in args):
        raise context.refuse("unknown-op", "a power of complex Python numbers")
    if kind.family == "float" and base.kind.family != "float" and exponent.kind.family != "float":
        context.check(nodes.compare("lt", exponent, nodes.const(0)))  # other powers of integers are integers
    if kind.family == "int":
        power = nodes.constant_of(exponent)
        if power is None:
            return _power_of_integers(context, base, exponent)
        if power < 0 or power > 31:
            raise context.refuse("integer-range", "a power of Python integers that may pass 64 bits")
        if bits_of(base) * power > 63:
            bounded(context, base, 63 // power)
        return nodes.elementwise("pow", args, kind)
    args = [_floating(a) for a in args]
    if deciding and any(a.axes for a in args):
        return each.of_each(context, "pow", args, "a power of Python floats decides a branch or an index")
    _power_defined(context, args[0], exponent)
    node = nodes.elementwise("pow", args, kind)
    context.check(nodes.elementwise("math.isfinite", [node], nodes.BOOL))
    return node


def _power_of_integers(context: Context, base: Node, exponent: Node) -> Node:
    """A power whose exponent is computed: Python's own where all lanes share it, else at most 62 bits."""
    context.check(nodes.compare("ge", exponent, nodes.const(0)))
    node = nodes.elementwise("pow", [base, exponent], nodes.INT)
    if not node.axes:
        return node
    greatest, last = _most(base), _most(exponent)
    if greatest is None or last is None:
        raise context.refuse("integer-range", "a power of Python integers that may pass 64 bits")
    last = nodes.elementwise("builtin.max", [last, nodes.const(1)], nodes.INT)
    bits = nodes.elementwise("floordiv", [nodes.const(62), last], nodes.INT)
    context.check(nodes.compare("lt", greatest, nodes.elementwise("pow", [nodes.const(2), bits], nodes.INT)))
    node.attrs["bits"] = 62
    return node


def _power_defined(context: Context, base: Node, exponent: Node) -> None:
    """Zero has no negative power, and a negative number none that is not whole."""
    power = exponent.attrs["value"] if exponent.op == "const" else None
    if power is None or power < 0:
        whole = power is not None and float(power).is_integer()
        context.check(nodes.compare("ne" if whole else "gt", base, nodes.const(0.0)))
    elif not float(power).is_integer():
        context.check(nodes.compare("ge", base, nodes.const(0.0)))


DOMAINS = {"sqrt": ("ge", 0.0), "log": ("gt", 0.0), "log2": ("gt", 0.0), "log10": ("gt", 0.0), "log1p": ("gt", -1.0),
           "acosh": ("ge", 1.0)}  # fmt: skip
BOUNDED = frozenset(("asin", "acos", "atanh"))


def _math(context: Context, base: str, args: list[Node], kind: Kind, deciding: bool) -> Node:
    if base not in MATH or (base == "log" and len(args) > 1) or (base == "hypot" and len(args) != 2):
        raise context.refuse("unknown-op", f"'math.{base}' has no batched form")
    if deciding and base not in MATH_EXACT and any(a.axes for a in args):
        why = f"'math.{base}' decides a branch or an index here"
        return each.of_each(context, f"math.{base}", [_floating(a) for a in args], why)
    if kind.family == "int" and args[0].kind.family != "float":
        return integer(args[0]) if args[0].kind.family == "bool" else args[0]
    args = [_floating(a) for a in args]
    if base in DOMAINS:
        comparison, bound = DOMAINS[base]
        context.check(nodes.compare(comparison, args[0], nodes.const(bound)))
    elif base in BOUNDED:
        context.check(nodes.compare("lt", nodes.elementwise("builtin.abs", args, nodes.FLOAT), nodes.const(1.0)))
    elif base not in ("isnan", "isinf", "isfinite") and kind.family != "int":
        for arg in args:
            context.check(nodes.elementwise("math.isfinite", [arg], nodes.BOOL))
    if base == "fmod":
        _nonzero(context, args[1])
    args = [arithmetic.guarded(context, base, position, arg) for position, arg in enumerate(args)]
    node = nodes.elementwise(f"math.{base}", args, nodes.FLOAT if kind.family != "bool" else kind)
    if base in ("exp", "expm1", "exp2", "sinh", "cosh", "pow", "hypot"):
        context.check(nodes.elementwise("math.isfinite", [node], nodes.BOOL))
    if kind.family == "int":
        limit = nodes.const(2.0**62)
        context.check(nodes.compare("lt", nodes.elementwise("builtin.abs", [args[0]], nodes.FLOAT), limit))
        return Node("retype", (nodes.cast(node, nodes.lane_dtype(kind)),), node.axes, kind, {"bits": 62})
    return node
