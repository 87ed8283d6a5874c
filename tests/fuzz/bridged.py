"""Random programs over NumPy's arrays beside tensors, which they turn into one another."""

from __future__ import annotations

HEAD = """# precision: double
import numpy as np
import torch


def program(x, y, rows, lab, t, w, n):
    {starts}
{loop}
    return {result}


SIZES = [4, 1, 6, 0]


def arguments(seed):
    n = SIZES[seed % 4]
    g = np.random.default_rng(seed)
    x = g.normal(size=(n, 3)){cast}
    y = g.normal(size=(n, 3)){cast}
    if seed % 5 == 3 and n:
        x[0, 0] = [np.inf, np.nan][seed % 2]
    rows = [g.normal(size=3) for _ in range(n)]
    lab = g.integers(0, 3, n)
    t = torch.from_numpy(g.normal(size=(n, 3)))
    w = torch.from_numpy(g.normal(size=3)).requires_grad_({leaf} and seed % 3 != 2)
    return x, y, rows, lab, t, w, n
"""

HEADS = (
    "i in range(n)", "i in range(len(x))", "i in range(x.shape[0])", "i, a in enumerate(x)",
    "i, (a, b) in enumerate(zip(x, y))",
    "i, a in enumerate(rows)", "i, s in enumerate(t)", "i in lab", "i in range(1, n)",
)  # fmt: skip
ARRAYS = (
    "x[i]", "y[i]", "rows[i]", "x[lab[i]]", "x[i, :2]", "x[i][1:]", "x[-1 - i]", "t[i].numpy()", "x[i:i + 1, 0]",
    "np.asarray(t[i])", "x[i, None]", "y[:, lab[i]]", "x[i].astype(np.float32)", "lab[i:]",
)  # fmt: skip
ON_ARRAYS = (
    "({a} - {a}.mean())", "({a} * 2.0)", "({a} / ({a}.std() + 1e-3))", "np.abs({a})", "np.sqrt(np.abs({a}))", "-{a}",
    "{a}.copy()", "np.exp({a})", "{a}[::2]", "({a} + {a})", "{a}.astype(np.float64)", "({a} / 3)", "np.tanh({a})",
    "({a} - y[i])", "{a}[0:1]",
)  # fmt: skip
TO_TENSORS = (
    "torch.from_numpy({a})", "torch.from_numpy({a})", "torch.tensor({a})", "torch.as_tensor({a})",
    "torch.tensor({a}, dtype=torch.float64)", "torch.from_numpy({a}).float()", "torch.FloatTensor({a}[:])",
    "torch.as_tensor({a}, dtype=torch.float32)",
)  # fmt: skip
TENSORS = ("t[i]", "(t[i] * w)", "torch.tensor(x[i, 1])", "torch.tensor(lab[i])", "t[lab[i]]")
ON_TENSORS = (
    "torch.tanh({v})", "({v} * 2)", "{v}.sum()", "({v} + {v})", "{v}.unsqueeze(0)", "{v}.relu()", "{v}.clone()",
    "({v} * w[:1])", "{v}.abs().max()", "{v}.detach()", "({v} - 1)",
)  # fmt: skip
BACK = ("{v}.numpy()", "{v}.detach().numpy()", "np.asarray({v}.detach())", "{v}.detach().cpu().numpy()")
NUMBERS = (
    "{v}.sum().item()", "float({v}.sum())", "float({a}.sum())", "{a}.max()", "{v}.argmax().item()", "{a}.argmax()",
    "int(lab[i])", "float(x[i, 0])", "lab[i]", "np.ones((2, n > 2)).sum()", "np.full((n > 0, 2), 0.5)[0, 1]",
)  # fmt: skip
ELEMENTS = (
    "x[i, 0]", "x[i, 1] * 200 - 50", "x[i, 0] > 0.5", "y[i].sum()", "lab[i]", "lab[i] - 2", "rows[i][0]", "t[i, 1]",
    "t[i, 0] * 200", "t[i].argmax() * 150", "t[i].argmax() - 1", "(t[i, 0] > 0)", "x[i]", "t[i, 2].item()",
)  # fmt: skip
TARGETS = (
    "np.zeros((n, 3))", "np.zeros((n, 3), dtype=np.{d})", "torch.zeros(n, 3)", "torch.zeros(n, 3, dtype=torch.{d})",
    "[[0.5] * 3 for _ in range(n)]",
)  # fmt: skip
KINDS = "vavsnzcmkeee"


class Bridged:
    """Writes one program; ``rng``: Python's random numbers."""

    def __init__(self, rng):
        self.rng = rng

    def array(self, depth=2):
        if self.rng.random() < 0.15:
            return self.rng.choice(BACK).format(v=self.tensor(depth - 1))
        found = self.rng.choice(ARRAYS)
        while depth > 0 and self.rng.random() < 0.4:
            found, depth = self.rng.choice(ON_ARRAYS).format(a=found), depth - 1
        return found

    def tensor(self, depth=2):
        if depth <= 0 or self.rng.random() < 0.25:
            return self.rng.choice(TENSORS)
        found = self.rng.choice(TO_TENSORS).format(a=self.array(depth - 1))
        while self.rng.random() < 0.5:
            found = self.rng.choice(ON_TENSORS).format(v=found)
        return found

    def number(self):
        return self.rng.choice(NUMBERS).format(a=self.array(1), v=self.tensor(1))

    def statement(self, k):
        """The lines of one statement, what is bound before the loop for it, and its result."""
        name, kind = f"r{k}", self.rng.choice(KINDS)
        if kind == "v":
            return [f"{name}.append({self.tensor()})"], f"{name} = []", self.rng.choice((f"torch.stack({name})", name))
        if kind == "a":
            value = self.rng.choice((self.array(), self.rng.choice(BACK).format(v=self.tensor())))
            joined = self.rng.choice((f"np.stack({name})", f"np.array({name})", f"np.concatenate({name})", name))
            return [f"{name}.append({value})"], f"{name} = []", joined
        if kind == "n":
            return [f"{name}.append({self.number()})"], f"{name} = []", self.rng.choice((f"np.array({name})", name))
        if kind == "z":
            dtype = self.rng.choice(("", ", dtype=np.float32", ", dtype=np.int64"))
            shape = self.rng.choice(("(n, 3)", "n"))
            whole = self.rng.choice((self.array(), self.rng.choice(BACK).format(v=self.tensor())))
            value = self.number() if shape == "n" or self.rng.random() < 0.2 else whole
            return [f"{name}[i] = {value}"], f"{name} = np.zeros({shape}{dtype})", name
        if kind == "c":
            test = f"{self.number()} {self.rng.choice(('==', '>'))} {self.rng.choice((self.number(), '1', '0.5'))}"
            return [f"if {test}:", f"    {name} += 1"], f"{name} = 0", name
        if kind == "m":
            return [f"{self.rng.choice(('x', 'y'))}[i] = {self.array()}"], "", "x"
        if kind == "k":
            return [f"{name} = {self.array()}"], f"{name} = x[0]", name
        if kind == "e":
            made = self.rng.choice(TARGETS).format(d=self.rng.choice(("float32", "int32", "uint8", "int64")))
            place = self.rng.choice(("[i, 0]", "[i, 0]", "[i][1]", "[i]"))
            return (
                [f"{name}{place} {self.rng.choice(('=', '=', '+='))} {self.rng.choice(ELEMENTS)}"],
                f"{name} = {made}",
                name,
            )
        return [f"{name} = {name} + {self.tensor()}"], f"{name} = {self.rng.choice(('0.0', 'torch.zeros(3)'))}", name

    def source(self):
        head = self.rng.choice(HEADS)
        made = [self.statement(k) for k in range(self.rng.choice((1, 1, 2, 3)))]
        lines = [line for body, _, _ in made for line in body]
        starts = "; ".join(start for _, start, _ in made if start) or "pass"
        names = {name: part for part, name in zip(("a", "b", "s"), ("x[i]", "y[i]", "t[i]"), strict=True)}
        if "rows" in head:
            names["rows[i]"] = names.pop("x[i]")
        for text, name in names.items():
            if f" {name}" in head or f"({name}" in head:
                lines = [line.replace(text, name) for line in lines]
        loop = [f"for {head}:", *(f"    {line}" for line in lines)]
        if self.rng.random() < 0.4:
            loop = ["with torch.no_grad():", *(f"    {line}" for line in loop)]
        return HEAD.format(
            starts=starts, loop="\n".join(f"    {line}" for line in loop),
            result=", ".join(result for _, _, result in made) + ",",
            cast=self.rng.choice(("", "", ".astype(np.float32)", ".round().astype(np.int64)")),
            leaf=self.rng.random() < 0.4,
        )  # fmt: skip


def bridged_source(rng):
    """The source of one program; ``rng``: Python's random numbers."""
    return Bridged(rng).source()
