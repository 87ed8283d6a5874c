"""Random loops whose results have gradients or none: branches, ties, kinks, detached values, `no_grad`, leaves."""

from __future__ import annotations

import re

ARGUMENTS = """
def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = SIZES_OF[seed % 4]
    x, y = torch.randn(2, n, generator=g, dtype=torch.float64)
    m = torch.randn(n, 3, generator=g, dtype=torch.float64)
    w = torch.randn(4, generator=g, dtype=torch.float64)
    if ROUNDED and seed % 2:
        x, m, w = x.round(), m.round(), w.round()
    k = torch.randint(0, max(n, 1), (n,), generator=g)
    s = torch.tensor(0.7, dtype=torch.float64)
    if seed != NONE:
        LEAVES
    return x, y, m, w, k, s, n
"""
FORMS = """x[i] * w[0]|(x[i] - x[k[i]]) ** 2|(m[i] * w[:3]).sum()|m[i].norm()|m[i].max()|torch.sqrt(x[i])|x[i].abs()
x[i].clamp(min=0)|torch.relu(x[i])
x[i].clamp(-1, 1)|x[i] ** 0.5|x[i] ** 2|x[i] ** w[1]|w[0] ** 2|torch.where(<c>, <f>, <f>)|torch.log(x[i])|y[i] * x[i]
y[i] * y[i]|m[i].sort()[0][0]
x[i] / w[0]|max(x[i], w[0])|min(x[i], x[k[i]], s)|x[i].detach() * w[0]|m[i, 1]|m[k[i], 2] * x[i]|s * s|s * y[i]
<f> * <f>|<f> + <f>|<f> - <f>
<f> if <c> else <f>|(<f> if <c> else 0.0)|x[i].item() * w[1]|float(x[i]) * 2|m[i].prod()|m[i].std()|m[i].amax()
torch.maximum(x[i], w[0])
torch.minimum(x[i], x[k[i]])|m[i].cumsum(0)[1]|m[i].softmax(0)[0]|m[i].logsumexp(0)|torch.exp(-x[i])|torch.tanh(<f>)
torch.sin(<f>)|torch.sigmoid(<f>)
torch.sign(x[i])|torch.floor(x[i])|torch.round(x[i]) * w[0]|x[:i].sum()|x[i:].max()|x[k[i]]|m[:, 0].sum() * x[i]
<f>.detach()|torch.atan2(x[i], y[i])
torch.tensor(1.5)|i * x[i]|(x[i] > 0) * w[0]|m[i].median()|m[i].min()|(m[i] @ w[:3])|torch.hypot(x[i], w[0])
x[i] % 0.7|torch.fmod(x[i], 0.7)|m[i].max(0)[0]
m[i][m[i].argmax()]|m[i].mean() * s|torch.zeros((), dtype=torch.float64)|0.5|1|x[i] * 0|x[i].clone()
torch.log1p(x[i].abs())|torch.linalg.norm(m[i])|m[i].abs().sum()|torch.nan_to_num(torch.log(x[i]))
(x[i] - w[0]).abs()|torch.dist(m[i], w[:3])|torch.nn.functional.softplus(<f>)|torch.nn.functional.leaky_relu(x[i])
m[i].var()|torch.logaddexp(x[i], s)|t|t * w[0]|torch.special.entr(x[i].abs())|1 / x[i]|torch.reciprocal(w[0])
x[-1 - i]|m[i].norm(p=1)|torch.fmax(x[i], w[0])|torch.lerp(x[i], w[0], 0.3)|torch.addcmul(x[i], w[0], s)
torch.stack([x[i], w[0]]).max()|torch.where(m[i] > 0, m[i], w[:3]).sum()|m[i].masked_fill(m[i] < 0, 0.5).sum()
m[i][m[i] > 0].sum()|m[i].flip(0)[1]|m[i].roll(1)[0]|torch.outer(m[i], w[:3]).sum()|m[[0, -1]].sum()|m[k[:2]].sum()
torch.nn.functional.normalize(m[i], dim=0)[0]|torch.nn.functional.mse_loss(m[i], w[:3])
m[i].index_select(0, k[:1]).sum()
torch.nn.functional.smooth_l1_loss(m[i], w[:3])|torch.where(x[i] > 0, m[i], w[1]).sum()"""
CONDITIONS = (
    """x[i] > 0|x[i] > w[0]|y[i] > 0|<f> > 0.3|i % 2 == 0|k[i] > 1|x[i] > 0 and y[i] < 1|s > 0.5|i > 2|x[i] == 0"""
)
MAPS = """out[i] = <f>|out[i] = <f>|parts.append(<f>)|parts.append(<f>)|if <c>: <s>|if <c>: <s> E <s>|t = <f>; <s>
t = <f>; t = t * t if <c> else t; <s>
out[k[i]] += <f>|out[i] += <f>|table[i, 1] = <f>|table[i] = m[i] * <f>|table[i] += <f>|W <s>|if <c>: continue
t = <f>; h = 0; L t = t * 0.5 + <f> * 0.1; P parts.append(t)
t = <f>; W t = <f>; P <s>; parts.append(t)|t = x[i].clone(); t += <f>; <s>; parts.append(t)
t = m[i].clone(); t[1] = <f>; parts.append(t.sum())|t = x[i] * 1; t *= <f>; parts.append(t)
table[i, k[i] % 3] = <f>|out[i] = t|if <c>: out[i] = t|out[n - 1 - i] = <f>"""
CARRIES = """total = total + <f>|total = total + <f>|total += <f>|total += <f>|total = total * 0.9 + <f>
total = max(total, <f>)|total = min(total, <f>)|total = torch.maximum(total, <f>)
if <f> > total: total = <f>|if <c>: total = total + <f>|if <c>: total = total + <f> E total = total * 0.5
total = torch.tanh(total + <f>)|total = total.detach() + <f>|total = total + <f>.item()
W total = total + <f>|state = torch.tanh(state * w[0] + x[i])|state = state + m[i]
state = state.detach() if i % 2 == 0 else state|state = state * s + m[i] * <f>|total = total + state.sum()
state[1] = <f>
state += m[i]|state *= <f>|total = total - <f> * total|out[i] = total|parts.append(total)|parts.append(total)
last = i|if total > 1: break|if <c>: total = total * 0|if total > <f>: total = <f>; last = i
out[i] = out[i - 1] * 0.5 + <f>|out[k[i]] = out[k[i]] + <f>|total, other = other, total + <f>|other = other * <f>
if <c>: other = total|table[k[i]] += m[i] * <f>|total = total * <f>|total = <f>|if <c>: total = <f>"""


STARTS = {
    "total": "0.0|0|torch.zeros((), dtype=torch.float64)|s|w[0]|s * 1|w.sum()|x.new_zeros(())",
    "other": "torch.ones((), dtype=torch.float64)|1.0|s|w[1]",
    "state": "torch.zeros(3, dtype=torch.float64)|w[:3] * 1|w[:3]|w[1:].clone()",
    "out": "torch.zeros(n, dtype=torch.float64)|torch.zeros_like(x)|x * 1|x.clone()|torch.full_like(x, math.nan)",
    "table": "torch.zeros(n, 3, dtype=torch.float64)|m * 2|m.clone()",
    "parts": "[]",
    "t": "0.0|s|w[2]",
    "last": "-1",
}
BACKWARD = [
    "if torch.is_tensor(total) and total.requires_grad: total.sum().backward()",
    "return [None if one.grad is None else one.grad.clone() for one in (x, m, w, s) if one.is_leaf]",
]


def split(text):
    return [one for line in text.splitlines() for one in line.split("|")]


class _Writer:
    def __init__(self, rng, carries):
        self.rng = rng
        self.forms = rng.sample(split(FORMS), 10)
        self.conditions = split(CONDITIONS)
        self.statements = split(MAPS) + (split(CARRIES) * 2 if carries else [])

    def filled(self, text, depth):
        return re.sub("<([a-z])>", lambda found: self.value(found[1], depth), text)

    def value(self, kind, depth):
        rng = self.rng
        if kind == "s":
            simple = [one for one in self.statements if "<s>" not in one and not re.search("if|; |W |L ", one)]
            return self.filled(rng.choice(simple), 1)
        if kind == "c":
            return self.filled(rng.choice(self.conditions), depth - 1)
        if depth <= 0:
            return rng.choice(("x[i]", "w[0]", "y[i]", "x[i]", "s", "m[i, 0]", "w[1]", "x[k[i]]"))
        text = self.filled(rng.choice(self.forms), depth - 1)
        return f"({text})" if re.search(r" |^-|^\d", text) else text

    def lines(self):
        found = []
        for _ in range(self.rng.choice((1, 1, 2, 2, 3))):
            found += self.spread(self.filled(self.rng.choice(self.statements), 2))
        return found

    def spread(self, text):
        """The lines of a statement: `a; b` are two, E is an else, W a with, L a loop, P what comes after."""
        if " P " in text:
            head, tail = text.split(" P ", 1)
            return self.spread(head.rstrip(";")) + self.spread(tail)
        if text.startswith("if ") and " E " in text:
            head, other = text.split(" E ", 1)
            return [head, f"else: {other}"]
        if text.startswith("if "):
            return [text]
        found = []
        for at, one in enumerate(text.split("; ")):
            if one.startswith("W "):
                found += ["with torch.no_grad():", "    " + one[2:]]
            elif one.startswith("L "):
                found += ["while t < 1 and h < 4:", "    h += 1", "    " + one[2:]]
            else:
                found.append(one)
        return found


def loops(rng, writer):
    """One loop, at times in another one or where gradients are off, and one more."""
    head = rng.choice(("for i in range(n):",) * 4 + ("for i in range(n - 1, -1, -1):", "for i in range(1, n):"))
    body = writer.lines()
    if rng.random() < 0.15:
        body = [line.replace("m[i, 1]", "m[i, j]").replace("w[0]", "w[j]") for line in body]
        body = ["for j in range(3):", *("    " + line for line in body)]
    lines = [head, *("    " + line for line in body)]
    for chance, around in ((0.15, "for r in range(2):"), (0.12, "with torch.no_grad():")):
        if rng.random() < chance:
            lines = [around, *("    " + line for line in lines)]
    if rng.random() < 0.2:
        lines += ["for i in range(n):", *("    " + line for line in writer.lines())]
    return lines


CHANGES = "k.zero_()|y.zero_()|k[0] = 0|y[:1] = 0.5|k.clamp_(max=0)|y.mul_(2)"
OF_PLACES = "k[i] = 0|y[i] = 0.5|k[i] = k[k[i]]|y[k[i]] = x[i].item()"


def changed(rng, lines):
    """Lines that read numbers out of `k` and `y` alone, which change in place before the backward pass."""
    lines = [line.replace("y[i]", "y[i].item()") for line in lines]
    if rng.random() < 0.3:
        lines = [*lines, "for i in range(n):", f"    {rng.choice(split(OF_PLACES))}"]
    if rng.random() < 0.4:
        lines = ["for step in range(3):", *("    " + line for line in [*lines, f"if n: {rng.choice(split(CHANGES))}"])]
    return [*lines, *(f"if n: {one}" for one in rng.sample(split(CHANGES), rng.choice((1, 2))))]


def gradients_source(rng):
    """A program over x, m, w and s, some of which require gradients."""
    lines = loops(rng, _Writer(rng, rng.random() < 0.55))
    if rng.random() < 0.25 and "k[:" not in "\n".join(lines):
        lines = changed(rng, lines)
    used = [name for name in STARTS if re.search(rf"\b{name}\b", "\n".join(lines))]
    lines = [*(f"{name} = {rng.choice(split(STARTS[name]))}" for name in used), *lines]
    if rng.random() < 0.15 and "total" in used:
        lines += BACKWARD
    else:
        lines += [f"return {', '.join(used) or 'None'}"]
    leaves = "; ".join(f"{name}.requires_grad_()" for name in rng.choice(("xw", "xwms", "w", "ms", "x")))
    text = ARGUMENTS
    for old, new in (
        ("SIZES_OF", rng.choice(("[6, 3, 1, 0]", "[5, 2, 3, 6]"))), ("ROUNDED", rng.choice(("True", "False"))),
        ("NONE", rng.choice(("-1", "-1", "0", "4", "1"))), ("LEAVES", leaves),
    ):  # fmt: skip
        text = text.replace(old, new)
    top = ["# precision: double", "import math", "import torch", "", "", "def program(x, y, m, w, k, s, n):"]
    return "\n".join([*top, *("    " + line for line in lines), ""]) + text
