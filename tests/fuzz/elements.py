"""Random programs over elements of NumPy's arrays of many dtypes, and Python's containers of them."""

from __future__ import annotations

from .plain import Plain

ARGUMENTS = """
def arguments(seed):
    g = np.random.default_rng(seed)
    n = [6, 0, 3, 9][seed % 4]
    wide = 2**31 - 1 if seed % 5 == 3 else 9
    a, b = g.integers(0, 4, n).astype(np.A), g.integers(0, wide, n).astype(np.B)
    x = g.normal(size=n).round(1).astype(np.X)
    if seed % 6 == 5 and n:
        x[0] = np.inf
    table = g.integers(0, 3, (n, 4)).astype(np.T)
    return a, b, x, table, [int(one) for one in g.integers(-3, 5, n)], n
"""
START = """out, seen, counts, queue, heap, acc = [], set(), {}, collections.deque(), [], []
total, mean, best, last = 0, 0.0, 0.1, None
made = np.zeros(n + 1, dtype=np.M)
marks = np.zeros((n + 1, 4), dtype=np.K)""".splitlines()
RESULT = "out, seen, counts, list(queue), heap, acc, total, mean, best, last, made, marks, a, b, x, table"

# <i> an integer of any sort, <j> a place, <d> a divisor, <x> a float of any sort, <e> an element of an array, <b> a
# truth value, <v> an array of one dimension.
SHORT = {
    "i": ["-2", "0", "1", "3", "n", "total"], "x": ["0.5", "-1.5", "2.0", "mean", "best"], "j": ["0", "-1"],
    "e": ["a[-1]", "b[0]", "x[0]"], "b": ["out", "last is None", "n"], "v": ["a", "b", "made"],
}  # fmt: skip
LONG = {
    "i": """a[<j>]|b[<j>]|table[<j>, 1]|table[<j>][2]|made[<j>]|int(<e>)|(<i> + <i>)|(<i> - <i>)|(<i> * <j>)
(<i> // <d>)
(<i> % <d>)|abs(<i>)|-<i>|min(<i>, <i>)|max(<i>, <i>)|len(acc)|(<i> if <b> else <i>)|(a[<j>] & 3)|(b[<j>] ^ a[<j>])
(a[<j>] << 1)|(b[<j>] >> 1)|~a[<j>]|round(<x>)|int(<v>.sum())|int(<v>.max())|np.int32(<j>)|ints[<j>]|table.shape[1]
math.floor(<x>)|a[<j>].item()|counts.get(<i>, <j>)|<v>[<j>]|sum(ints)|len(<v>)|(last if last is not None else <j>)""",
    "d": "2|3|(b[<j>] or 3)|-3|7",
    "j": "k|(k - 1)|0|n - 1|(k // 2)|int(a[k]) % n|-1|k",
    "x": """x[<j>]|(<x> + <x>)|(<x> - <x>)|(<x> * <x>)|(<x> / 2)|(<x> * <i>)|float(<e>)|abs(<x>)|min(<x>, <x>)
max(<x>, <x>)|min(<x>, <x>, key=abs)|max(<x>, <x>, key=lambda v: (v - 1) ** 2)
(<x> // 0.7)|(<x> % 0.7)|math.sqrt(abs(<x>))|(<i> / 7)|(<x> if <b> else <x>)|-<x>|np.float32(<x>)
(x[<j>] - <i>)|np.sqrt(abs(x[<j>]))|x[<j>] ** 2|x.max()|(a[<j>] * <x>)|0.1|x[<j>].item()|(<x> + 0.1)""",
    "e": "a[<j>]|b[<j>]|x[<j>]|table[<j>, 0]|made[<j>]|marks[<j>, 1]",
    "b": """(<i> > <i>)|(<i> == <i>)|(0 <= <i> < 3)|(<x> > <x>)|(<x> == 0.1)|(<i> in seen)|(<e> == <e>)|marks[<j>, 2]
(a[<j>] == a[<j>])|(<x> < <i>)|(not <i>)|(last is None)|(<b> and <b>)|(<b> or <b>)|acc|(<i> in counts)|bool(<e>)
((<i>, <x>) < (<i>, <x>)) and n|(<v> > 1).any()""",
    "v": "a|b|made|table[<j>]|a[:2]|b[::-1]|table[:, 1]|(a + b)|marks[<j>]|(<v> * 2)",
}
SIMPLE = """total += <i>|total = <i>|mean += <x>|mean = <x>|best = <x>|best = max(best, <x>)|last = <i>|last = None
out.append((<i>, <x>))|out.append((<i>, <x>))|seen.add(<i>)|acc.append(<i>)|acc.append(<e>)|queue.append(<e>)
if queue: total += queue.popleft()|counts[<i>] = counts.get(<i>, 0) + 1|heapq.heappush(heap, (<x>, <j>))
if heap: best = heapq.heappop(heap)[0]|made[<j>] = <i>|made[<j>] = <x>|made[<j>] += <i>|made[<j>] = <e>
marks[<j>, 1] = <b>|marks[<j>, 0] = <i>|marks[<j>] = table[<j>]|a[<j>] = <i>|b[<j>] += 1|x[<j>] = <x>|x[<j>] *= <x>
table[<j>, 2] = a[<j>]|table[<j>] = <j>|total -= <i>|made[:2] = a[:2]|acc.sort()|if acc: total += acc.pop()
total, last = <i>, total|x[<j>] += 0.1|marks[<j>, 3] = not marks[<j>, 3]|acc = <v>.tolist()
acc = [int(e) for e in <v>]|mean = sum(float(e) for e in x)|counts = {int(e): k for e in <v>}|seen.discard(<i>)"""
HEADS = """k in range(n):i|k in range(n):i|k in range(n - 1, -1, -1):i|k, V in enumerate(a):ii|V in range(n):j|V in x:x
k in range(1, n, 2):i|V, W in zip(a, x):ix|V, W in enumerate(b):ji|V in table:v|V in <v>:e"""
DTYPES = ("int8", "uint8", "int16", "uint16", "int32", "int32", "uint32", "int64")


class Elements(Plain):
    """Writes one program; ``rng``: Python's random numbers."""

    start, long, simple_ones, heads, result = START, LONG, SIMPLE, HEADS, RESULT
    parameters, arguments, short = "a, b, x, table, ints, n", ARGUMENTS, SHORT
    modules, brief, grown = ("collections", "heapq", "math", "random", "numpy as np"), {}, "acc out heap"

    def source(self):
        self.helper = None
        text = super().source().replace("    out, seen", "    k = 0\n    out, seen", 1)
        single = self.rng.choice(("float32", "float32", "float64"))
        names = {name: self.rng.choice(DTYPES) for name in "ABT"} | {"X": single}
        names["M"] = self.rng.choice((*DTYPES, "float32", "float64"))
        names["K"] = self.rng.choice(("bool_", "uint8", "int32"))
        for name, dtype in names.items():
            text = text.replace(f"np.{name})", f"np.{dtype})")
        return text


def elements_source(rng):
    """The source of one program; ``rng``: Python's random numbers."""
    return Elements(rng).source()
