"""How operations are spelled: Python operators, torch and NumPy functions."""

from __future__ import annotations

import math
from typing import Any

MEDIANS = ("median", "nanmedian")
"""Along a dimension of a tensor that was expanded torch 2.13 has them wrong."""

ATOM, POWER, UNARY, PRODUCT, SUM, SHIFT = 100, 90, 80, 70, 60, 55
AND, XOR, OR, COMPARE, NOT, CHOICE = 50, 45, 40, 30, 20, 10

OPERATORS = {
    "add": ("+", SUM), "sub": ("-", SUM), "mul": ("*", PRODUCT), "truediv": ("/", PRODUCT), "floordiv": ("//", PRODUCT),
    "mod": ("%", PRODUCT), "pow": ("**", POWER), "matmul": ("@", PRODUCT), "lshift": ("<<", SHIFT),
    "rshift": (">>", SHIFT), "and_": ("&", AND), "or_": ("|", OR), "xor": ("^", XOR), "eq": ("==", COMPARE),
    "ne": ("!=", COMPARE), "lt": ("<", COMPARE), "le": ("<=", COMPARE), "gt": (">", COMPARE), "ge": (">=", COMPARE),
    "is_": ("is", COMPARE), "is_not": ("is not", COMPARE), "in_": ("in", COMPARE), "not_in": ("not in", COMPARE),
}  # fmt: skip

# Python's functions of numbers, spelled for lanes
LANE_NAMES = {
    "builtin.abs": "abs", "math.fabs": "abs", "math.asin": "arcsin", "math.acos": "arccos", "math.atan": "arctan",
    "math.asinh": "arcsinh", "math.acosh": "arccosh", "math.atanh": "arctanh", "math.atan2": "arctan2",
    "math.degrees": "rad2deg", "math.radians": "deg2rad",
}  # fmt: skip
NUMPY_NAMES = {
    "clamp": "clip", "clamp_min": "maximum", "clamp_max": "minimum",
    "mul": "multiply", "neg": "negative", "div": "divide", "pow": "power",
    "remainder": "remainder", "lt": "less", "arctan2": "arctan2",
}  # fmt: skip


def literal(value: Any, library: str) -> str:
    """A constant as source text."""
    if isinstance(value, float) and not math.isfinite(value):
        text = "nan" if value != value else "inf"
        return ("-" if value < 0 else "") + f"{library}.{text}"
    if isinstance(value, tuple):
        inner = ", ".join(literal(item, library) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, list):
        return "[" + ", ".join(literal(item, library) for item in value) + "]"
    if isinstance(value, slice):
        return f"slice({', '.join(literal(v, library) for v in (value.start, value.stop, value.step))})"
    if value is Ellipsis:
        return "..."
    return repr(value)


def lane_function(name: str, library: str) -> str:
    """The function that does to an array what ``name`` does to a number or a 0-dim tensor."""
    short = LANE_NAMES.get(name, name.rpartition(".")[2])
    if library == "np":
        return f"np.{NUMPY_NAMES.get(short, short)}"
    if name.startswith(("torch.nn.functional.", "torch.special.")):
        return name
    return f"torch.{short}"


def dtype_text(dtype: Any, library: str) -> str:
    if library == "np":
        name = str(dtype).replace("torch.", "")
        return "np.bool_" if name == "bool" else f"np.{name}"
    return str(dtype)
