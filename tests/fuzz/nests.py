"""Random nests of loops over arrays: sums, best ones and filters inside of independent loops, and recurrences."""

from __future__ import annotations

TEMPLATE = """# precision: exact
import numpy as np
import torch


def program(x, w, long, table, out, n, m):
{body}
    return out, made, x


def arguments(seed):
    g = np.random.default_rng(seed)
    n, m = [(9, 3), (0, 2), (3, 0), (19, 5), (8, 8), (2, 1)][seed % 6]
    made = [g.normal(size=size).round(1) for size in (n, m, n + m + 3, (n + m + 3, n + m + 3), n)]
    if seed % 7 == 6 and m:
        made[1][0] = [np.inf, np.nan, 1e300][seed % 3]
    given = [{wrap}(one.astype(np.{dtype})) for one in made]
    if seed % 5 == 4:
        given[4] = given[2][{start} : n + {start}]
    return *given, n, m
"""
# <x> a number; <b> a truth value
NUMBERS = """x[i]|long[i + k]|long[i * 2 % n + k]|table.reshape(-1)[i * m + k]
long[k * 2 - k]|long[i + 2]|w[k]|table[i, k]|table[k, i]|table[k, k + i]|total|best|0.5|-1.5|(<x> + <x>)
(<x> - <x>)|(<x> * <x>)|(<x> / 2.0)|abs(<x>)|max(<x>, <x>)|min(<x>, <x>)|-<x>|out[i]|(<x> if <b> else <x>)
float(i - k)|made[i]|r|x[i] * w[k]"""
TESTS = "<x> > <x>|<x> < 0.5|i != k|(k % 2 == 0)|i > k|(<x> > 0.0 and k > 0)|(<x> > <x> or i == 2)|k + 1 < m|i + k < n"
INNER = """total += <x>|total = total * 0.5 + <x>|total = max(total, <x>)|best = <x>|out[i] += <x>|made[i] = <x>
table[i, k] = <x>|if <x> > best: best, at = <x>, k|if <b>: total += <x>|if <b>: continue|count += 1
r = <x>|made[i] += <x>|at = k|if <b>: out[i] = <x>|total -= long[k + 1]|if <b>: total = <x>
w2 = w[k] * 0.5|total += w[k] * long[i + k]"""
RARE = (
    "if <b>: break|x[i - 1] = <x>|out[i - 1] += <x>|w[k] = <x>|total += x[(i + k) % n]|total += w[int(abs(x[i])) % m]"
)
AFTER = """out[i] = total|out[i] = best + at|out[i] += total|made[i] = total - best|if <b>: out[i] = total
table[i, 1] = total|x[i] = total|out[i] = out[i - 1] * 0.5 + total
made[i] = made[i - 1] + out[i]|out[i] = total + count"""
ALONG = """out[i] = out[i - 1] * 0.5 + x[i]|out[i] = x[i] - out[i - 2] + out[i - 1]
made[i] = max(made[i - 1], x[i]) - made[i - 3]|x[i] = x[i] + x[i - 1] * long[i]
out[i] = out[i - 1] if x[i] > 0.0 else x[i]|made[i] = out[i - 1] + x[i]
out[i] += out[i - 1]|if x[i] > 1.0: break|if x[i] > 1.0: continue|made[i] = made[i - 1] * 0.9 + x[i]"""
BACK = """out[i] = out[i + 1] * 0.5 + x[i]|made[i] = x[i] - made[i + 2] * 0.5 + made[i + 1]
x[i] += x[i + 1]|out[i] = x[i + 1]"""


class Nests:
    """Writes one program; ``rng``: Python's random numbers."""

    def __init__(self, rng):
        self.rng = rng

    def filled(self, text, depth=0):
        while "<x>" in text or "<b>" in text:
            text = text.replace("<b>", self.filled(self.rng.choice(TESTS.split("|")), depth + 1), 1)
            numbers = NUMBERS.replace("\n", "|").split("|")
            numbers = [one for one in numbers if "<" not in one] if depth + text.count("(") > 3 else numbers
            text = text.replace("<x>", self.rng.choice(numbers), 1)
        return text

    def some(self, table, least, most):
        lines = table.replace("\n", "|").split("|")
        return [self.filled(self.rng.choice(lines)) for _ in range(self.rng.randint(least, most))]

    def nest(self):
        """An independent loop, mostly, around one or two others."""
        inner = self.some(INNER, 1, 3) + (self.some(RARE, 1, 1) if self.rng.random() < 0.15 else [])
        self.rng.shuffle(inner)
        head = self.rng.choice(("m", "m", "m", "m - 1", "1, m", "3", "n", "i"))
        lines = [f"for k in range({head}):", *(f"    {line}" for line in inner)]
        if self.rng.random() < 0.3:
            lines = [f"for u in range({self.rng.choice(('2', 'm', 'n'))}):", *(f"    {line}" for line in lines)]
        before = ["total, best, at, count, r, k = 0.0, -9.0, 0, 0, 1.0, 0", *self.some("total = x[i]|best = <x>", 0, 1)]
        between = self.some("total = total * 0.5|best = max(best, total)|if <b>: total += 1.0", 0, 1)
        whole = [*before, *lines, *between, *(lines if self.rng.random() < 0.2 else []), *self.some(AFTER, 1, 2)]
        start = self.rng.choice(("", "", "1, "))
        return [f"for i in range({start}n):", *(f"    {line}" for line in whole)]

    def recurrence(self):
        if self.rng.random() < 0.3:
            return ["for i in range(n - 3, -1, -1):", *(f"    {line}" for line in self.some(BACK, 1, 2))]
        return ["for i in range(3, n):", *(f"    {line}" for line in self.some(ALONG, 1, 2))]

    def source(self):
        library = self.rng.choice(("numpy", "numpy", "torch"))
        dtype = self.rng.choice(("float64", "float64", "float32"))
        zeros = f"np.zeros(n, dtype=np.{dtype})" if library == "numpy" else f"torch.zeros(n, dtype=torch.{dtype})"
        lines = [f"made = {zeros}"]
        for _ in range(self.rng.randint(1, 2)):
            part = self.nest() if self.rng.random() < 0.7 else self.recurrence()
            if self.rng.random() < 0.25:
                part = ["for t in range(3):", *(f"    {line}" for line in part)]
            lines += part
        wrap = "np.asarray" if library == "numpy" else "torch.from_numpy"
        body = "\n".join(f"    {line}" for line in lines)
        return TEMPLATE.format(body=body, dtype=dtype, wrap=wrap, start=self.rng.randint(0, 3))


def nests_source(rng):
    """The source of one program; ``rng``: Python's random numbers."""
    return Nests(rng).source()
