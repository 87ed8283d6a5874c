"""Powers of numbers: Python's, PyTorch's with its own forms for some exponents, NumPy's."""

from __future__ import annotations

from looplift.base.data import replace
from looplift.emit import native_python
from looplift.emit.native_convert import convert
from looplift.emit.native_ops import ATOM, COMPARE, MULTIPLY
from looplift.emit.native_scalar import Sink, from_template, homes_of_flags, join_facts, typed
from looplift.emit.native_types import FLOAT, INT, Scalar, common_type
from looplift.emit.native_values import Number


def power(sink: Sink, namespace: str, args: list[Number]) -> Number:
    """``a ** b``."""
    base, exponent = args
    if base.other is not None or exponent.other is not None:
        floats = [n.type.name == "float64" and n.type.family in ("python", "numpy") for n in args]
        squares = exponent.type == INT and exponent.constant is not None and base.other == FLOAT
        if all(floats) or (floats[0] and squares):
            return _mixed_power(sink, args)
        if any(n.other is not None and n.sure for n in args):
            return power(sink, namespace, [typed(sink, n) for n in args])
        raise sink.refuse("mixed-kinds", "'**' of a variable that is sometimes a number")
    common = common_type(base.type, exponent.type)
    if common is None or common.is_half:
        raise sink.refuse("unknown-op", "'**' of these kinds")
    if common.is_python and namespace != "np":
        return native_python.power(sink, base, exponent)
    if common.is_integer:
        return _integer_power(sink, base, exponent, common)
    if common.is_bool:
        raise sink.refuse("unknown-op", "'**' of booleans")
    if common.family == "numpy":
        return _numpy_power(sink, args, common.of_family("numpy"), forms=namespace == "np")
    if not base.type.is_float and not base.type.is_python:
        raise sink.refuse("unknown-op", "'**' of an integer tensor and a float")
    if sink.device is not None and exponent.constant != 2:
        sink.differs("pow")
    if exponent.type.is_python and not base.type.is_python:
        return _tensor_power(sink, convert(sink, base, common), exponent, common)
    converted = [convert(sink, argument, common) for argument in args]
    return from_template(_LIBRARY, ATOM, converted, common)


def _mixed_power(sink: Sink, args: list[Number]) -> Number:
    """A Python float at times and a NumPy one at others: both are the C library's, and what is surprising fails."""
    number = _numpy_power(sink, [replace(n, other=None) for n in args], Scalar("numpy", "float64"))
    if any(n.type.family == "numpy" and n.other is None for n in args):
        return number
    flags = " || ".join(n.flag for n in args if n.other is not None and n.type.family == "numpy")
    return replace(number, other=FLOAT, flag=flags or "false", homes=homes_of_flags(number, args))


def _numpy_power(sink: Sink, args: list[Number], common: Scalar, *, forms: bool = False) -> Number:
    """``forms``: ``np.power`` has forms of its own for some exponents, which the operator has of arrays alone."""
    converted = [sink.bind(convert(sink, argument, common)) for argument in args]
    sink.differs("pow")
    form = _numpy_form(args[1].constant) if forms else _LIBRARY
    result = sink.bind(from_template(form, ATOM, converted, common), sink.hint)
    sink.fail_if(f"surprising({result.text}, {converted[0].text}, {converted[1].text})", "warned")
    return result


_LIBRARY = "math::pow({a}, {b})"
_FORMS = {2: "{a} * {a}", 0.5: "math::sqrt({a})", -1: "1 / {a}"}


def _numpy_form(exponent: float | None) -> str:
    if exponent is not None:
        return _FORMS.get(exponent, _LIBRARY)
    return f"({''.join(f'{{b}} == {value} ? {form} : ' for value, form in _FORMS.items())}{_LIBRARY})"


def _integer_power(sink: Sink, base: Number, exponent: Number, common: Scalar) -> Number:
    if exponent.type.is_python:
        exponent = convert(sink, exponent, common)  # which must hold it
    exponent = convert(sink, exponent, INT)
    if exponent.low < 0:
        exponent = sink.bind(exponent)
        sink.fail_if(f"{exponent.at(COMPARE)} < 0", "domain_error")
    value = convert(sink, base, common)
    if common.family == "numpy":
        raise sink.refuse("unknown-op", "'**' of NumPy integers")
    text = f"wrapping_power<{common.cpp}>({value.text}, {exponent.text})"
    return join_facts(Number(text, common), [base, exponent])


def _tensor_power(sink: Sink, base: Number, exponent: Number, common: Scalar) -> Number:
    if exponent.constant == 2:
        base = base if base.level == ATOM and len(base.text) < 24 else sink.bind(base)
        return join_facts(Number(f"{base.text} * {base.text}", common, MULTIPLY), [base])
    exponent = convert(sink, exponent, FLOAT)
    text = f"power<{common.cpp}>({base.text}, {exponent.text})"
    return join_facts(Number(text, common), [base, exponent])
