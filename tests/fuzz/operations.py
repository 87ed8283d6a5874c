"""Random programs that walk the table of operations: one row, spelled and applied at random, in a small loop."""

import contextlib
import io
import itertools
import math
import operator
import random
import warnings
from dataclasses import dataclass, field

import numpy as np
import torch

from looplift.ops import table
from looplift.vectorize import array_forms

from .vocabulary import Choices

ROWS = tuple(
    sorted(
        {
            table.base_name(word)
            for family in (table.ELEMENTWISE, table.REDUCTION, table.ALONG, table.SHAPE, table.CONTRACTION)
            for word in family
        }
        | {table.base_name(word) for family in (table.RANDOM, table.BLOCKED, table.CREATION) for word in family}
        | set(table.EXACT)
        | set(table.SINGULAR)
        | {table.base_name(word) for word in table.ARITHMETIC}
        | {table.base_name(word) for word in array_forms.names()}
    )
)

# No call of these can be repeated and compared: they write files, take gradients, give addresses, or memory as it was.
NOT_COMPARED = frozenset(
    """backward save load data_ptr storage register_hook empty empty_like new_empty set_ get_rng_state set_rng_state
    seed getitem iter_item __getitem__ random manual_seed""".split()
)

# torch's kernels differ in what gradient they give at NaN: the one for single elements another than that for many.
UNEVEN_AT_NAN = frozenset("relu6 hardtanh elu selu hardswish".split())

CONVERTING = ("float16", "float32", "float64")
"""Types of NumPy that are called to convert."""

OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=",
    "gt": ">", "ge": ">=",
}  # fmt: skip
UNARY = {"neg": "-", "pos": "+", "invert": "~", "not": "not "}

TORCH_PLACES = ("torch", "torch.nn.functional", "torch.special", "torch.linalg")
NUMPY_PLACES = ("np", "np.linalg", "np.fft", "np.add", "np.maximum", "np.subtract")

COMMON = (
    "{a}", "{a}", "{a}", "{a}, {b}", "{a}, {b}", "{a}, {b}", "{a}, {b}, {c}", "{a}, 0", "{a}, -1", "{a}, 1", "{a}, 2",
    "{a}, 0.5", "{a}, dim=0", "{a}, dim=-1, keepdim=True", "{a}, axis=0", "{a}, axis=-1, keepdims=True",
    "{a}, -0.5, 0.5", "{a}, {b}, 0.5", "{a}, 0, 1", "{a}, (0, 1)", "{p}, {a}", "{a}, {p}", "{a}, {p}, {c}", "{a}, {i}",
    "{a}, 0, True", "{a}, False", "{a}, 0, False", "{a}, 0, None", "{a}, True", "{a}, ()",
    "{p}", "{p}, {q}", "{i}", "{i}, {p}", "{a}, dim=1", "{a}, axis=1", "{s}", "{s}, {p}", "{p}, {s}",
)  # fmt: skip
SHAPED = ("{a}, -1", "{a}, (-1,)", "{a}, 1, -1", "{a}, (m, 1)", "{a}, m", "{a}, 3, m")

SPECIAL = {
    "where": ("{k}, {a}, {b}", "{a} > 0, {a}, {b}", "{a} > {s}, {a}, 0.0", "{k}, {a}, {p}"),
    "clamp": ("{a}, min=0", "{a}, max={s}", "{a}, -0.5, {s}", "{a}, {b}, {c}", "{a}, min={b}", "{a}, {p}, 1.0"),
    "clip": ("{a}, 0, 1", "{a}, {b}, {c}", "{a}, min=0", "{a}, -0.5, None"),
    "lerp": ("{a}, {b}, 0.25", "{a}, {b}, {c}"),
    "addcmul": ("{a}, {b}, {c}", "{a}, {b}, {c}, value=0.5"),
    "addcdiv": ("{a}, {b}, {c}", "{a}, {b}, {c}, value=0.5"),
    "to": ("{a}, torch.float64", "{a}, torch.int64", "{a}, {b}", "{a}, dtype=torch.float32"),
    "type": ("{a}, torch.float64", "{a}, torch.float32", "{a}, torch.int64"),
    "sum": ("{a}, 0", "{a}, dim=-1, keepdim=True", "{a}, dtype=torch.float64", "{a}, axis=0", "{a}, dim=(0, 1)"),
    "round": ("{a}", "{a}, decimals=1", "{a}, 1", "{p}, 1", "{p}"),
    "div": ("{a}, {b}, rounding_mode='floor'", "{a}, {s}, rounding_mode='trunc'", "{a}, {b}"),
    "divide": ("{a}, {b}, rounding_mode='trunc'", "{a}, {b}"),
    "norm": ("{a}", "{a}, 1", "{a}, 2, 0", "{a}, p=1", "{a}, dim=0", "{a}, ord=1", "{a}, axis=0"),
    "vector_norm": ("{a}", "{a}, 1", "{a}, ord=1, dim=0", "{a}, float('inf')"),
    "var": ("{a}", "{a}, unbiased=False", "{a}, 0", "{a}, correction=0", "{a}, ddof=1", "{a}, axis=0"),
    "std": ("{a}", "{a}, unbiased=False", "{a}, 0", "{a}, correction=0", "{a}, ddof=1", "{a}, axis=0"),
    "logsumexp": ("{a}, 0", "{a}, dim=-1", "{a}, 0, keepdim=True"),
    "flip": ("{a}, (0,)", "{a}, [0]", "{a}", "{a}, 0", "{a}, axis=0"),
    "roll": ("{a}, 1", "{a}, -1, 0", "{a}, 2, dims=0", "{a}, shift=1"),
    "normalize": ("{a}, dim=0", "{a}, p=1, dim=0"),
    "diff": ("{a}", "{a}, n=2", "{a}, dim=0"),
    "sort": ("{a}", "{a}, descending=True", "{a}, dim=0", "{a}, axis=0", "{a}, 0, True", "{a}, stable=True"),
    "argsort": ("{a}", "{a}, descending=True", "{a}, stable=True"),
    "reshape": SHAPED, "view": SHAPED, "expand": ("{a}, 2, m", "{a}, m, -1", "{a}, (2, -1)"),
    "repeat": ("{a}, 2", "{a}, 2, 1", "{a}, 2, axis=0"),
    "transpose": ("{a}, 0, 1", "{a}"), "permute": ("{a}, (1, 0)", "{a}, 1, 0"),
    "movedim": ("{a}, 0, 1", "{a}, 0, -1"), "swapaxes": ("{a}, 0, 1",),
    "chunk": ("{a}, 2", "{a}, 1, 0"), "split": ("{a}, 1", "{a}, 2"), "unbind": ("{a}", "{a}, 0"),
    "split_with_sizes": ("{a}, (1, m - 1)",), "tensor_split": ("{a}, 2",),
    "einsum": ("'a,a->', {a}, {b}", "'a,b->ab', {a}, {b}", "'ab,b->a', {A}, {b}", "'ab,bc->ac', {A}, {B}"),
    "tensordot": ("{a}, {b}, 1", "{A}, {B}, 1", "{A}, {B}, dims=2", "{A}, {B}, axes=1"),
    "linear": ("{a}, {A}", "{a}, {A}, {b}", "{A}, {B}"),
    "bilinear": ("{a}, {b}, {A}.expand(2, -1, -1)",),
    "bmm": ("{A}[None], {B}[None]", "{A}.expand(2, m, m), {B}.expand(2, m, m)"),
    "mm": ("{A}, {B}",), "mv": ("{A}, {b}",),
    "matmul": ("{A}, {b}", "{A}, {B}", "{a}, {A}", "{a}, {b}", "{A}[None], {B}", "{a}, {A}[None, None]",
               "{A}[:, None], {b}[:, None]"),
    "dot": ("{a}, {b}", "{A}, {b}", "{A}, {B}"),
    "rand": ("()", "2", "3, 2", ""), "randn": ("()", "2", "(2,)", ""), "randint": ("0, 5, (2,)", "5, ()", "0, 7"),
    "randperm": ("3", "m"), "normal": ("0.0, 1.0, (2,)", "{a}", "{a}, 0.5", "0.0, 1.0", "size=2"),
    "uniform": ("0.0, 1.0", "size=2", ""), "choice": ("5", "{a}", "5, 2"), "shuffle": ("{a}.copy()",),
    "permutation": ("3", "{a}"), "standard_normal": ("", "3"),
    "bernoulli": ("{a}.abs().clamp(max=1)", "{a}.sigmoid()"), "multinomial": ("{a}.abs() + 1, 2, True",),
    "poisson": ("{a}.abs()", "2.0"), "dropout": ("{a}, 0.5, True", "{a}, 0.5, False"),
    "dropout1d": ("{A}",), "dropout2d": ("{A}[None]",), "dropout3d": ("{A}[None, None]",),
    "feature_alpha_dropout": ("{A}",), "gumbel_softmax": ("{a}",),
    "bucketize": ("{a}, w", "{a}, w.sort()[0]"), "searchsorted": ("w, {a}", "w.cumsum(0), {s}", "{a}.sort()[0], {b}"),
    "bincount": ("{a}", "{a}, minlength=9", "{a}, {b}, minlength=6"),
    "histc": ("{a}, 4, -1, 1",), "isin": ("{a}, w",), "repeat_interleave": ("{a}, 2",),
    "masked_select": ("{a}, {k}",), "combinations": ("{a}",), "equal": ("{a}, {b}",),
    "cartesian_prod": ("{a}, {b}",), "print": ("{p}", "'row', {i}, {p}", "{s}"), "allclose": ("{a}, {b}", "{a}, {a}"),
    "as_tensor": ("{p}", "{a}", "[{p}, 1.0]"), "from_numpy": ("{a}.detach().numpy()",),
    "full": ("(2,), 0.5", "(m,), {p}", "(m,), {i}"), "zeros": ("(m,)", "2", "m"), "ones": ("(m,)", "2", "m"),
    "new_full": ("{a}, (2,), 0.5",), "new_zeros": ("{a}, (2,)", "{a}, m"),
    "new_ones": ("{a}, m", "{a}, (2, m)"), "list": ("{a}",), "requires_grad_": ("{a}.clone()", "{a}.detach().clone()"),
    "view_as": ("{a}, {b}",), "expand_as": ("{s}, {b}", "{a}, {A}"), "type_as": ("{a}, {b}", "{a}, {s}"),
    "ldexp": ("{a}, {t}", "{a}, 2", "{p}, 2"), "bool": ("{s}", "{a}", "{p}", "{i}"),
    "convolve": ("{a}, {b}", "{a}, w", "{a}, {b}, 'same'", "{a}, w, mode='valid'"),
    "correlate": ("{a}, {b}", "{a}, w, 'full'"), "kron": ("{a}, {b}", "{A}, {B}"),
    "pad": ("{a}, 1", "{a}, (1, 2)", "{a}, 1, mode='edge'", "{A}, ((1, 0), (0, 2)), constant_values=2"),
    "percentile": ("{a}, 50", "{a}, [25, 75]", "{A}, [10, 50], axis=0"), "quantile": ("{a}, 0.5", "{a}, [0.2, 0.9]"),
    "select": ("[{k}, {a} > 0], [{a}, {b}], 0.5", "[{k}], [{a}]"), "choose": ("{t} % 2, [{a}, {b}]",),
    "piecewise": ("{a}, [{k}], [1.5, -2]", "{a}, [{a} > 0, {k}], [1, 2]"),
    "histogram": ("{a}, bins=3, range=(-1.0, 1.0)", "{a}, 4", "{a}, [-1, 0, 0.5, 2]"),
    "take": ("{a}, [0, -1]", "{a}, {t} % m", "{A}, 0, axis=1", "{a}, 0"),
    "take_along_axis": ("{a}, np.argsort({b}), 0", "{A}, np.argsort({B}, axis=1), axis=1"),
    "insert": ("{a}, 1, {s}", "{a}, 0, 2.5"), "append": ("{a}, {b}", "{a}, 1.5", "{a}, {s}"),
    "delete": ("{a}, 0", "{a}, [0, 1]", "{A}, 0, axis=1"), "lexsort": ("({a}, {b})",),
    "column_stack": ("[{a}, {b}]",), "dstack": ("[{A}, {B}]",), "multi_dot": ("[{A}, {B}, {a}]",),
    "vander": ("{a}, 3", "{a}, N=2"), "matrix_transpose": ("{A}",), "vecmat": ("{a}, {A}",), "matvec": ("{A}, {a}",),
    "full_like": ("{a}, 0.5", "{a}, {p}", "{a}, {s}"), "broadcast_to": ("{a}, (2, m)", "{s}, (2,)"),
    "linspace": ("{s}, {p}, 4", "0.0, {s}, 3"), "unravel_index": ("np.argmax({A}), (m, m)", "{t} % 4, (2, 2)"),
    "matrix_norm": ("{A}", "{A}, ord=2"), "tile": ("{a}, 2", "{a}, (2, 1)"), "moveaxis": ("{A}, 0, 1",),
    "diagflat": ("{a}", "{a}, 1"), "trace": ("{A}", "{A}, 1"), "diag": ("{a}", "{A}", "{A}, -1"),
    "inner": ("{a}, {b}", "{A}, {b}", "{a}, {A}", "{A}, {B}"), "vdot": ("{a}, {b}",),
    "average": ("{a}", "{a}, weights=w"),
    "cov": ("{a}, {b}", "{a}", "{A}"), "corrcoef": ("{a}, {b}", "{A}"), "squeeze": ("{a}", "{A}[:1], axis=0"),
    "array_equal": ("{a}, {b}", "{a}, {a}"), "isclose": ("{a}, {b}", "{a}, {s}, atol=0.5"),
    "outer": ("{a}, {b}",), "reduce": ("{a}", "{A}, axis=1"), "accumulate": ("{a}", "{A}, axis=1"),
    "float16": ("{s}", "{a}", "{p}"), "float32": ("{s}", "{a}", "{p}"), "float64": ("{s}", "{a}", "{p}"),
    "index_select": ("{a}, 0, w",), "kthvalue": ("{a}, 1",), "topk": ("{a}, 1",),
}  # fmt: skip

FLOATS = ("float32", "float32", "float32", "float64", "float64", "float16", "bfloat16", "complex64")
INTEGERS = ("int64", "int64", "int32", "uint8", "int8", "int16")
RANGES = ("normal", "normal", "unit", "tied", "special", "positive")
SIZES = ((4, 3), (5, 3), (1, 2), (2, 4), (3, 3), (6, 2), (0, 3), (2, 1), (3, 2))


@dataclass
class Draft:
    """One program in the making: its library and arrays by name, as (shape, dtype, range)."""

    choices: Choices
    library: str
    arrays: dict = field(default_factory=dict)
    leaves: set = field(default_factory=set)

    # ---- arrays

    def array(self, name, shape, dtype=None):
        """The name of an array argument, made the first time that it is asked for."""
        if name not in self.arrays:
            self.arrays[name] = shape, dtype or self.dtype(), self.choices.pick(RANGES)
        return name

    def dtype(self):
        floats = [d for d in FLOATS if self.library == "torch" or d not in ("bfloat16", "complex64")]
        return self.choices.weighted(((8, self.main), (2, self.choices.pick(floats)), (2, self.other())))

    def other(self):
        return self.choices.pick((*INTEGERS, "bool"))

    def choose_main(self):
        floats = [d for d in FLOATS if self.library == "torch" or d not in ("bfloat16", "complex64")]
        self.main = self.choices.weighted(
            ((8, self.choices.pick(floats)), (3, self.choices.pick(INTEGERS)), (1, "bool"))
        )

    # ---- operands

    def operand(self, letter, index):
        """The text of an operand: rows a b c, matrices A B, 0-dim s, numbers p q, integers t, flags k, the index i."""
        pick = self.choices.pick
        match letter:
            case "a" | "b" | "c":
                return self.row(letter, index)
            case "A" | "B":
                return f"{self.array('square' + letter, ('n', 'm', 'm'))}[{index}]"
            case "s":
                return f"{self.array('v', ('n',))}[{index}]"
            case "t":
                return f"{self.array('t', ('n',), 'int64')}[{index}]"
            case "k":
                return f"{self.array('k', ('n', 'm'), 'bool')}[{index}]"
            case "i":
                return index
            case "p":
                item = f"{self.array('v', ('n',))}[{index}].item()"
                return pick((item, item, "0.5", "2", f"f[{index}]", "-1.5"))
            case "q":
                return pick((f"f[{index}]", "0.75", f"{self.array('u', ('n',))}[{index}].item()"))
        raise AssertionError(letter)

    def row(self, letter, index):
        name = {"a": "x", "b": "y", "c": "z"}[letter]
        forms = [(8, f"{self.array(name, ('n', 'm'))}[{index}]")]
        forms += [(2, f"{self.array('s' + name, ('n',))}[{index}]"), (1, f"{self.array('w', ('m',))}")]
        if letter != "a":
            forms += [(2, f"f[{index}]"), (1, "2"), (1, "0.5")]
        else:
            forms += [(3, f"{self.array('square', ('n', 'm', 'm'))}[{index}]")]
        return self.choices.weighted(forms)

    # ---- texts

    def argument_lines(self, used):
        lines = [f"SIZES = {list(SIZES)!r}", "", "", "def arguments(seed):", "    n, m = SIZES[seed % 4]"]
        lines = [lines[0].replace(repr(list(SIZES)), repr(self.sizes)), *lines[1:]]
        numpy = self.library == "np"
        lines.append("    g = np.random.default_rng(seed)" if numpy else "    g = torch.Generator().manual_seed(seed)")
        for name in used:
            shape, dtype, values = self.arrays[name]
            lines.append(f"    {name} = {(numpy_values if numpy else torch_values)(shape, dtype, values)}")
            if name in self.leaves:
                lines.append(f"    {name}.requires_grad_()")
        lines.append("    f = [0.5 + 0.75 * r - 0.1 * seed for r in range(n)]")
        return [*lines, f"    return ({', '.join([*used, 'f', 'n', 'm'])},)"]


def torch_values(shape, dtype, values):
    extents = ", ".join(shape)
    if dtype == "bool":
        return f"torch.randint(0, 2, ({extents},), generator=g).bool()"
    if not dtype.startswith(("float", "bfloat", "complex")):
        low = "1" if values == "positive" or dtype == "uint8" else "-3"
        return f"torch.randint({low}, 5, ({extents},), generator=g).to(torch.{dtype})"
    text = f"torch.randn({extents}, generator=g, dtype=torch.float64)"
    if dtype.startswith("complex") and values == "special":
        values = "tied"  # of an infinite factor torch makes NaN or infinity, as the elements lie in memory
    text = {
        "unit": f"torch.rand({extents}, generator=g, dtype=torch.float64)",
        "tied": f"({text} * 2).round() / 2",
        "positive": f"{text}.abs() + 0.1",
        "special": f"torch.where({text}.abs() < 1.2, {text}, torch.tensor([float('nan'), float('inf'), -0.0, 0.0, "
        f"float('-inf')], dtype=torch.float64)[torch.randint(0, 5, ({extents},), generator=g)])",
    }.get(values, text)
    return f"({text}).to(torch.{dtype})"


def numpy_values(shape, dtype, values):
    extents = f"({', '.join(shape)},)"
    if dtype == "bool":
        return f"g.integers(0, 2, size={extents}).astype(bool)"
    if not dtype.startswith("float"):
        low = "1" if values == "positive" or dtype == "uint8" else "-3"
        return f"g.integers({low}, 5, size={extents}).astype(np.{dtype})"
    text = f"g.normal(size={extents})"
    text = {
        "unit": f"g.uniform(size={extents})",
        "tied": f"np.round({text} * 2) / 2",
        "positive": f"np.abs({text}) + 0.1",
        "special": f"g.choice([np.nan, np.inf, -0.0, 0.0, -np.inf, 1.5, -0.5, 2.0, 0.3], size={extents})",
    }.get(values, text)
    return f"({text}).astype(np.{dtype})"


# ---------------------------------------------------------------- spelling


def spellings(row, library):
    """(how a call begins, whether the first operand stands in front of it) for all spellings that there are."""
    places = TORCH_PLACES if library == "torch" else NUMPY_PLACES
    owners = {"torch": torch, "np": np}
    found = []
    for place in places:
        owner = operator.attrgetter(place.partition(".")[2])(owners[library]) if "." in place else owners[library]
        if callable(getattr(owner, row, None)) and (row in CONVERTING or not isinstance(getattr(owner, row), type)):
            found.append((f"{place}.{row}", False))
    kind = torch.Tensor if library == "torch" else np.ndarray
    if hasattr(kind, row):
        found += [(row, True)] * (2 if callable(getattr(kind, row)) else 1)
    if library == "torch" and hasattr(kind, row + "_"):
        found.append((row + "_", True))
    if library == "np" and hasattr(np.random, row) and row in table.RANDOM:
        found.append((f"np.random.{row}", False))
    if hasattr(math, row):
        found.append((f"math.{row}", False))
    if row in ("abs", "bool", "float", "int", "max", "min", "round", "sum", "print", "list"):
        found.append((row, False))
    if row in OPERATORS or row in UNARY:
        found += [(row, None)] * 3
    return found


def call_text(row, spelling, pattern, library):
    """The text of one call with letters for its operands, or None where the pattern does not suit the spelling."""
    beginning, is_method = spelling
    first, _, rest = pattern.partition(", ")
    if is_method is None:
        if row in UNARY:
            return f"({UNARY[row]}{first})"
        second = rest.partition(", ")[0]
        return f"({first} {OPERATORS[row]} {second})" if second.startswith("{") else None
    if not is_method:
        return f"{beginning}({pattern})"
    if not first.startswith("{"):
        return None
    kind = torch.Tensor if library == "torch" else np.ndarray
    if not callable(getattr(kind, beginning)):
        return f"{first}.{beginning}"
    return f"{first}.clone().{beginning}({rest})" if beginning.endswith("_") else f"{first}.{beginning}({rest})"


@contextlib.contextmanager
def quiet():
    """No warnings, no output, random generators as before."""
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield
    torch.set_rng_state(states[0])
    np.random.set_state(states[1])
    random.setstate(states[2])


def evaluated(draft, text):
    """What a call gives in the first lane of the first arguments; it raises what the call raises."""
    names = {"torch": torch, "np": np, "math": math}
    used = used_arrays(draft, text)
    exec("\n".join(draft.argument_lines(used)), names)
    values = dict(zip([*used, "f", "n", "m"], names["arguments"](0)))
    return eval(text, names | values | {"i": 0})


def used_arrays(draft, text):
    return [
        name
        for name in draft.arrays
        if f"{name}[" in text or (name == "w" and any(m in text for m in ("w)", "w,", "w.", "w ")))
    ]


ACCEPTED = (torch.Tensor, np.ndarray, np.generic, bool, int, float, complex, tuple, list, type(None))


def found_call(draft, row):
    """(text, its value in the first lane) of a call of the row that does not raise, or None after some tries."""
    ways = spellings(row, draft.library)
    if not ways or row in NOT_COMPARED:
        return None
    for _ in range(80):
        draft.arrays = {}
        draft.choose_main()
        special = SPECIAL.get(row)
        pattern = draft.choices.pick(special if special and draft.choices.chance(65) else COMMON)
        text = call_text(row, draft.choices.pick(ways), pattern, draft.library)
        if text is None:
            continue
        letters = {letter: draft.operand(letter, "i") for letter in "abcABpqstki" if f"{{{letter}}}" in text}
        text = text.format(**letters)
        with quiet():
            try:
                value = evaluated(draft, text)
            except Exception:
                continue
        if isinstance(value, ACCEPTED):
            return text, value
    return None


# ---------------------------------------------------------------- programs


def is_array(value):
    return isinstance(value, (torch.Tensor, np.ndarray, np.generic))


def dtype_word(value):
    return str(value.dtype).removeprefix("torch.")


def used_lines(draft, text, value):
    """(lines before the loop, lines in it, text of the result) that use a call's value in one of several ways."""
    choices, library = draft.choices, draft.library
    if isinstance(value, (tuple, list)) and value and all(is_array(v) for v in value):
        if choices.chance(60):
            names = [f"r{k}" for k in range(len(value))]
            parts = choices.pick(names)
            unpack = f"{', '.join(names)}{',' if len(names) == 1 else ''} = {text}"
            return ["out = []"], [unpack, f"out.append({parts})"], "out"
        at = choices.between(0, len(value) - 1)
        return used_lines(draft, f"{text}[{at}]", value[at])
    forms = [(2, "append")]
    if is_array(value):
        forms += [(4, "store"), (2, "update"), (2, "total"), (1, "stack"), (1, "state")]
    elif isinstance(value, (bool, int, float)):
        forms += [(2, "total"), (2, "store")]
    operand = operand_alike(draft, text, value)
    form = choices.weighted([*forms, (4, "carried")] if operand else forms)
    if form == "carried":
        return carried_lines(draft, text, value, operand)
    if form == "append":
        return ["out = []"], [f"out.append({text})"], "out"
    if form == "stack":
        return ["out = []"], [f"out.append({text})"], f"{library}.stack(out) if out else None"
    if form == "total":
        return [f"total = {choices.pick(('0', '0.0', '1'))}"], [f"total = total + {text}"], "total"
    if form == "state" and value.ndim < 2:
        start = choices.pick(("0.0", "1"))
        return [f"state = {start}", "out = []"], [f"state = 0.5 * state + {text}", "out.append(state)"], "state, out"
    shape = "".join(f"{'m' if extent == 3 else extent}, " for extent in (value.shape if is_array(value) else ()))
    word = dtype_word(value) if is_array(value) and choices.chance(75) else choices.pick(("float32", "float64"))
    start = f"out = {library}.{choices.pick(('zeros', 'ones'))}((n, {shape}), dtype={library}.{word})"
    return [start], [f"out[i] {'+=' if form == 'update' else '='} {text}"], "out"


def operand_alike(draft, text, value):
    """A row or matrix of the text that has the shape of its value, which then may take its place; or None."""
    if not is_array(value) or not value.ndim:
        return None
    extents = tuple("m" if extent == 3 else extent for extent in value.shape)
    alike = [name for name, (shape, _, _) in draft.arrays.items() if f"{name}[i]" in text and shape[1:] == extents]
    return draft.choices.pick(alike) if alike else None


def carried_lines(draft, text, value, operand):
    """What the call gives goes into the call of the next iteration."""
    choices, library = draft.choices, draft.library
    extents = ", ".join(draft.arrays[operand][0][1:])
    word = dtype_word(value) if choices.chance(75) else draft.arrays[operand][1]
    start = f"held = {library}.{choices.pick(('zeros', 'ones'))}(({extents},), dtype={library}.{word})"
    made = text.replace(f"{operand}[i]", "held")
    step = choices.pick((made, f"{made} * 0.5", f"held - {made}", f"{made} + {operand}[i]"))
    return [start], [f"held = {step}"], "held"


def guarded(draft, lines):
    """The lines under a condition on the lane, at times."""
    choices = draft.choices
    if not choices.chance(35):
        return lines
    names = [name for name, (shape, dtype, _) in draft.arrays.items() if shape == ("n",) and dtype != "complex64"]
    conditions = ["i % 2 == 0", "f[i] > 1.0", *(f"{name}[i] > 0" for name in names)]
    rows = [name for name, (shape, dtype, _) in draft.arrays.items() if shape == ("n", "m") and dtype != "complex64"]
    conditions += [f"{name}[i].sum() > 0" for name in rows]
    condition = choices.pick(conditions)
    if choices.chance(30):
        return [f"if not {condition}:", "    continue", *lines]
    return [f"if {condition}:", *("    " + line for line in lines)]


def choose_leaves(draft, row):
    """Which arrays require gradients: some float ones, in two programs of five."""
    nan = row in UNEVEN_AT_NAN and any(values == "special" for _, _, values in draft.arrays.values())
    if draft.library == "torch" and draft.choices.chance(40) and not nan:
        floats = [n for n, (_, dtype, _) in draft.arrays.items() if dtype in ("float32", "float64", "complex64")]
        draft.leaves = {name for name in floats if draft.choices.chance(75)}


def operation_source(choices, row=None):
    """The source of a program that applies a row of the table, a random one if none is given; None if none is found."""
    library = choices.weighted(((3, "torch"), (2, "np")))
    libraries = (library, "np" if library == "torch" else "torch")
    row = row or choices.pick(ROWS)
    for name in libraries:
        draft = Draft(choices, name)
        draft.sizes = [SIZES[0], *(choices.pick(SIZES) for _ in range(3))]
        if call := found_call(draft, row):
            return assembled(draft, row, *call)
    return None


def assembled(draft, row, text, value):
    before, lines, result = used_lines(draft, text, value)
    lines = guarded(draft, lines)
    lines = ["for i in range(n):", *("    " + line for line in lines)]
    if draft.library == "torch" and draft.choices.chance(6):
        lines = ['with torch.autocast("cpu", dtype=torch.bfloat16):', *("    " + line for line in lines)]
    body = "\n".join(lines)
    used = used_arrays(draft, body)
    draft.arrays = {name: draft.arrays[name] for name in used}
    choose_leaves(draft, row)
    program = [f"def program({', '.join([*used, 'f', 'n', 'm'])}):"]
    program += [f"    {line}" for line in [*before, *lines]]
    builders = draft.argument_lines(used)
    whole = "\n".join([*program, *builders])
    heads = [f"import {w}" for w in ("math",) if f"{w}." in whole]
    heads += ["import numpy as np"] * ("np." in whole) + ["import torch"] * ("torch." in whole)
    return "\n".join([*heads, "", f"# {row}", *program, f"    return {result}", "", "", *builders]) + "\n"


def sources_of_row(row, tries=6):
    """Programs that apply the row, with fixed randomness."""
    made = (operation_source(Choices(random.Random(f"{row} {number}")), row) for number in itertools.count())
    return [source for source in itertools.islice(made, tries) if source]
