"""What the program generator speaks of: choices, typed values, scopes, and how torch and NumPy spell things."""

from dataclasses import dataclass, field, replace


class Choices:
    """Draws decisions from a `random.Random`."""

    def __init__(self, random):
        self.random = random

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def between(self, low, high):
        """An integer of `low` to `high`, both included."""
        return self.random.randrange(low, high + 1)

    def pick(self, options):
        return options[self.random.randrange(len(options))]

    def weighted(self, options):
        """One of `(weight, option)` pairs."""
        at = self.random.randrange(sum(weight for weight, _ in options))
        for weight, option in options:
            at -= weight
            if at < 0:
                return option
        raise AssertionError("weights must be positive")


@dataclass(frozen=True)
class Value:
    """An expression of the program being written, with what is known of its type.

    kind: "number" is a Python number, "tensor" a tensor, array or NumPy scalar, "either" one or the other.
    category: "f" float (or complex), "i" integer, "b" boolean.  dims: names of the extents.
    into: the extent that this integer (or each entry) is a valid index of; low: how far it stays above 0; high: below
    the last index.  form: "tensor", "tensors" (a list of tensors), "numbers" (a list, maybe of lists, of numbers).
    weight: how often to read it.
    """

    text: str
    kind: str = "tensor"
    category: str = "f"
    dims: tuple = ()
    into: str | None = None
    low: int = 0
    high: int = 0
    form: str = "tensor"
    writable: bool = False
    weight: int = 4


@dataclass
class Scope:
    """The values that statements at one point may read, and the loops around that point."""

    values: list = field(default_factory=list)
    depth: int = 0
    in_loop: bool = False
    skippable: bool = False
    _reads: dict = field(default_factory=dict, repr=False)

    def child(self, *values, **changes):
        return replace(self, values=[*self.values, *values], _reads={}, **changes)

    def add(self, *values):
        self.values.extend(values)
        self._reads.clear()

    def indices(self, dim):
        return [v for v in self.values if v.into == dim and not v.dims]

    def reads(self, dims, category):
        """(value, kept dimensions) for all ways to read something of these extents and category, repeated by weight."""
        key = dims, category
        if key not in self._reads:
            ways = [(v, keep) for v in self.values if v.category == category for keep in self._keeps(v, dims)]
            self._reads[key] = [
                way for way in ways for _ in range(way[0].weight * (1 if len(way[1]) == len(way[0].dims) else 2))
            ]
        return self._reads[key]

    def _keeps(self, value, dims):
        if (value.form == "numbers" and dims) or len(dims) > len(value.dims):
            return
        for keep in _subsets(len(value.dims)):
            if tuple(value.dims[k] for k in keep) != dims:
                continue
            if value.form != "tensor" and keep != tuple(range(len(value.dims) - len(dims), len(value.dims))):
                continue
            if value.form == "tensors" and dims and 0 in keep:
                continue
            if all(self.indices(d) for k, d in enumerate(value.dims) if k not in keep):
                yield keep


SUBSETS = {
    0: [()],
    1: [(), (0,)],
    2: [(), (0,), (1,), (0, 1)],
    3: [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)],
}


def _subsets(rank):
    return SUBSETS[rank]


@dataclass(frozen=True)
class Library:
    """How one of the two libraries spells what programs need."""

    name: str
    other: dict
    clone: str
    elementwise: tuple
    reductions: tuple
    rowwise: tuple

    def spell(self, word):
        return f"{self.name}.{self.other.get(word, word)}"


TORCH = Library(
    name="torch",
    other={},
    clone="clone",
    elementwise=(
        "torch.sin({})",
        "torch.cos({})",
        "torch.tanh({})",
        "torch.abs({})",
        "torch.exp(-torch.abs({}))",
        "torch.sqrt(torch.abs({}) + 0.25)",
        "torch.log({}.abs() + 1)",
        "{}.tanh()",
        "torch.sigmoid({})",
        "torch.relu({})",
        "{}.square()",
        "torch.sign({})",
        "torch.floor({})",
        "torch.nn.functional.softplus({})",
        "{}.exp()",
        "{}.clamp(min=0)",
        "torch.clamp({}, -0.5, 0.5)",
        "torch.sqrt(torch.abs({}))",
        "-{}",
        "abs({})",
        "{}.neg()",
        "{}.double()",
        "{}.float()",
        "torch.nan_to_num({})",
        "{}.detach()",
        "{}.clone()",
        "torch.round({})",
        "torch.erf({})",
        "torch.atan({})",
    ),
    reductions=(
        "{}.sum()",
        "torch.sum({})",
        "{}.mean()",
        "torch.max({})",
        "{}.min()",
        "torch.norm({})",
        "{}.norm()",
        "{}.prod()",
        "torch.logsumexp({}, 0)",
        "torch.sum({}, dim=-1)",
        "{}.max(0)[0]",
        "torch.max({}, 0).values",
        "{}.var(unbiased=False)",
        "({} > 0).sum()",
        "{}.abs().max()",
        "torch.linalg.norm({})",
        "{}.amax()",
        "{}.median()",
    ),
    rowwise=(
        "torch.softmax({}, 0)",
        "torch.cumsum({}, 0)",
        "{}.flip(0)",
        "torch.roll({}, 1)",
        "torch.sort({})[0]",
        "{}.cumsum(-1)",
        "torch.nn.functional.relu({})",
        "torch.log_softmax({}, dim=0)",
        "{} - {}.mean()",
        "{}.contiguous()",
        "{}.cummax(0)[0]",
    ),
)

NUMPY = Library(
    name="np",
    other={"clamp": "clip", "cat": "concatenate", "tensor": "array", "norm": "linalg.norm"},
    clone="copy",
    elementwise=(
        "np.sin({})",
        "np.cos({})",
        "np.tanh({})",
        "np.abs({})",
        "np.exp(-np.abs({}))",
        "np.sqrt(np.abs({}) + 0.25)",
        "np.log(np.abs({}) + 1)",
        "np.square({})",
        "np.sign({})",
        "np.floor({})",
        "np.clip({}, -0.5, 0.5)",
        "-{}",
        "abs({})",
        "np.exp({})",
        "np.sqrt(np.abs({}))",
        "np.log1p(np.abs({}))",
        "{}.clip(0, 1)",
        "np.arctan({})",
        "np.round({}, 1)",
    ),
    reductions=(
        "{}.sum()",
        "np.sum({})",
        "{}.mean()",
        "np.max({})",
        "{}.min()",
        "np.linalg.norm({})",
        "{}.prod()",
        "np.mean({})",
        "np.sum({}, axis=0)",
        "{}.var()",
        "np.std({})",
        "({} > 0).sum()",
        "np.count_nonzero({})",
        "np.ptp({})",
        "np.median({})",
    ),
    rowwise=(
        "np.cumsum({}, 0)",
        "np.flip({})",
        "np.roll({}, 1)",
        "np.sort({})",
        "{}[::-1]",
        "{} - {}.mean()",
        "np.maximum({}, 0)",
    ),
)

COMPLEX_ELEMENTWISE = (
    "torch.sin({})",
    "{}.conj()",
    "-{}",
    "torch.exp(-torch.abs({}))",
    "{}.square()",
    "{} * 1j",
    "torch.abs({})",
)
COMPLEX_REDUCTIONS = ("{}.sum()", "torch.sum({})", "{}.mean()", "torch.sum({}, dim=-1)")
INTEGER_ELEMENTWISE = (
    "-{}",
    "abs({})",
    "{} * 2",
    "{} % 3",
    "{} // 2",
    "{} & 3",
    "{} ^ 1",
    "{} | 2",
    "{} ** 2",
    "~{}",
    "{} << 1",
    "{} >> 1",
)
NUMBER_FUNCTIONS = (
    "math.sin({})",
    "math.tanh({})",
    "math.exp(-abs({}))",
    "math.sqrt(abs({}))",
    "math.floor({})",
    "abs({})",
    "-{}",
    "math.log(abs({}) + 1)",
    "math.atan2({}, 2.0)",
    "float({})",
    "round({}, 2)",
    "math.fabs({})",
    "math.hypot({}, 1.0)",
)
