"""Random programs with functions inside of loops and of functions, with caches and without, and generator functions."""

from __future__ import annotations

from .plain import HEADS, LONG, Plain

CLASSES = """def stepping(a, most):
    for k in range(abs(a) % 6):
        if k == most:
            return
        yield a + k
        if k % 2:
            yield k


def counted(items, most):
    for place, item in enumerate(items):
        if place >= most:
            break
        yield item
    yield from stepping(len(items), 3)


def totals(d, scale):
    calls = 0

    @functools.cache
    def upto(k):
        nonlocal calls
        calls += 1
        return 0 if k < 0 else (upto(k - 1) + d[k] * scale) % 1013

    found = [upto(k) for k in range(len(d))]
    return found, calls


""".splitlines()
HANDED = """stepping(<i> % 99, <j>)|counted(<q>, <j>)|counted(<q>[:9], <i> % 7)|nums(<i> % 50)""".split("|")
ONES = """sum(<g>)|max(<g>, default=<j>)|sum(e * 2 for e in <g> if e > <j>)|len(sorted(<g>))|len(set(<g>))
totals(<q>, <j>)[1]|sum(totals(<r>[:12], <i> % 9)[0])|memo(<i> % 30)|memo(<i> % 30)|memo(<i> % 9, <j>)|memo(<i> % 9)"""
BOTH = "any(e > <j> for e in <g>)|(<j> in list(<g>))"
LISTS = "list(<g>)|[e % 9 for e in <g>]|totals(<q>, 3)[0]"
DECORATORS = ["@functools.cache", "@functools.lru_cache(maxsize=None)", "@functools.lru_cache(maxsize=64)", "", ""]
MEMOS = """a <= 0 or b > 12|<k>|memo(a // 2, b + 1)
a < 1 or b > 12|a * b + <k>|memo(a - 2, b + 1)
b > 8|(a + <k>) % 97|memo(a, b + 1) + memo(a // 2, b + 2)"""
SHARED = ["total", "len(acc)", "n", "(last or 0)", "len(label)", "sum(counts.values())"]


class Inner(Plain):
    """Writes one program with functions of its own, which its loops define and call."""

    classes = CLASSES
    modules = (*Plain.modules, "functools")
    heads = HEADS + "|" + "|".join(f"V in {one}:i" for one in HANDED) + "|V, W in enumerate(<g>):ii"

    def __init__(self, rng):
        super().__init__(rng)
        self.long = {
            **LONG,
            "i": f"{LONG['i']}\n{ONES}",
            "b": LONG["b"] + "|any(e > <j> for e in <g>)|(<j> in list(<g>))",
        }
        self.long["r"] = LONG["r"] + "|list(<g>)|[e % 9 for e in <g>]|totals(<q>, 3)[0]"
        self.defined = False
        self.start = [*Plain.start, *self._nums()]

    def value(self, kind, depth):
        if kind == "g":
            return self.filled(self.rng.choice(HANDED), depth)
        made = super().value(kind, depth)
        return made if self.defined else made.replace("memo(", "max(0, ")

    def _nums(self):
        """A generator function that looks at what changes while it is gone through."""
        test = self.rng.choice(("e > a", "total > a", "len(acc) > a", "e in seen"))
        return ["def nums(a):", f"    for e in {self.rng.choice(('acc', 'acc', 'ints', 'sorted(seen)'))}:",
                f"        if {test}:", f"            {self.rng.choice(('break', 'return', 'yield a', 'continue'))}",
                f"        yield (e + {self.rng.choice(SHARED)}) % 1013"]  # fmt: skip

    def _memo(self):
        shared = self.rng.choice(SHARED + [self.rng.choice(self.names["i"])])
        test, last, again = self.rng.choice(MEMOS.splitlines()).replace("<k>", shared).split("|")
        decorator = self.rng.choice(DECORATORS)
        return [*([decorator] if decorator else []), "def memo(a, b=1):", f"    if {test}:", f"        return {last}",
                f"    return ({again} + a + {self.rng.choice(SHARED)}) % 1013"]  # fmt: skip

    def indented(self, most, found=()):
        if self.defined or not self.loops or not found or self.rng.random() < 0.3:
            return super().indented(most, found)
        for kind, name in found:
            self.names[kind] += [name] * 2
        head = self._memo()
        for kind, name in found:
            self.names[kind] = [one for one in self.names[kind] if one != name]
        self.defined = True
        made = super().indented(most + 1, found)
        self.defined = False
        return [*(f"    {line}" for line in head), *made]


def inner_source(rng):
    """The source of one program; ``rng``: Python's random numbers."""
    return Inner(rng).source()
