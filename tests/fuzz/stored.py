"""Random programs that store into tensors, while gradients flow through what is stored.

Views whose tensor changed since they were made are not changed in place: autograd raises or not, as it was asked for
their gradient functions meanwhile.
"""

from __future__ import annotations

from .plain import Plain, split

ARGUMENTS = """
def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = [4, 1, 2, 6][seed % 4]
    made = lambda *size: torch.randn(*size, generator=g)
    a, b, w, c = made(n + 1), made(n + 1), made(3), made(n + 1)
    a.requires_grad_(seed != 1), b.requires_grad_(seed % 2 == 0), w.requires_grad_(seed % 3 == 2)
    return a, b, w, c, n
"""
START = """out, memo, mode = [], {}, 'up'
h, total = torch.zeros(()), torch.tensor(0.5)
x, y = torch.zeros(n + 1), a * 2
D, E = torch.zeros(n + 1, 3), torch.stack([b, b, b], 1)""".splitlines()
# <e> a 0-dim tensor, <r> a row of three, <j> a place, <c> one of three, <b> a truth value.
SHORT = {
    "e": ["h", "total", "a[0]", "x[-1]", "b[n]"], "r": ["w", "D[0]", "E[-1]"], "j": ["0", "-1", "n"],
    "c": ["0", "1", "2", "-1"], "b": ["mode == 'up'", "n > 2"],
}  # fmt: skip
LONG = {
    "e": """x[<j>]|y[<j>]|D[<j>, <c>]|E[<j>][<c>]|a[<j>]|b[<j>]|c[<j>]|w[<c>]|(<e> + <e>)|(<e> - <e>)|(<e> * 2)
(<e> / 4)|(<e> + <e>)|torch.minimum(a[<j>], <e> + b[<j>])|torch.maximum(<e> + 1, <e> * 0.5)|torch.tanh(<e> + 1)
(a[<j>] * w[<c>])|<r>.sum()|(<e> if <b> else <e>)|torch.stack([<e>, <e>]).sum()|x.sum()|E.sum()|x[:2].sum()|(<e> * <e>)
torch.exp(-a[<j>])|memo.get((<j>, mode), h)|torch.logsumexp(<r> + w, 0)|-<e>|v|torch.sin(<e>)""",
    "r": """w|D[<j>]|E[<j>]|(<r> + <r>)|(<r> - <e>)|(<r> * 0.5)|(w * <e>)|row|torch.tanh(<r> + 1)|(D[<j>] + w)""",
    "j": "k|k|k + 1|n - k|0|-1|k - 1|(k // 2)",
    "c": "0|1|2|k % 3|-1",
    "b": "(<e> > 0)|(mode == 'up')|(k % 2 == 0)|(<e> < <e>)|(<j> == 0)|((k, mode) in memo)",
}
SIMPLE = """x[<j>] = <e>|x[<j>] = <e>|x[<j>] += <e>|x[<j>] = 0.5|D[<j>] = <r>|D[<j>, <c>] = <e>|D[<j>, <c>] += <e>
D[<j>] += <r>|y[<j>] = <e>|y[<j>] -= <e>|E[<j>, <c>] = <e>|E[<j>] = <r>|h = <e> + 0|h = h + <e>|total += <e>|h += <e>
memo[<j>, mode] = <e>|v = x[<j>]; v += <e>|row = D[<j>]; row[<c>] = <e>|mode = 'down' if <b> else 'up'|out.append(<e>)
out.append((<e>).item())|x[:2] = <e>|D[:, <c>] = <e>|v = <e> + 0|row = <r> + 0|x[<j>] = h|E[<j>] -= <r>|x[<j>] *= 2
y[<j>] *= <e>|D[<j>] = 0.0|x[<j>] = x[<j>] + <e>|c[<j>] = 0.5|c[<j>] = <e>|h = D[<j>].sum()|total = <e> + 0"""
HEADS = "k in range(n):|k in range(n):|k in range(n - 1, -1, -1):|k in range(1, n):|k in range(2):"
RESULTS = ("x", "D", "E", "x, D, total", "out", "x.sum(), D[-1], h", "h, y", "total", "x, c", "list(memo.values())")


class Stored(Plain):
    """Writes one program; ``rng``: Python's random numbers."""

    start, long, simple_ones, heads, short = START, LONG, SIMPLE, HEADS, SHORT
    parameters, arguments = "a, b, w, c, n", ARGUMENTS
    modules, brief, grown = ("torch",), {}, "out"

    def __init__(self, rng):
        super().__init__(rng)
        if rng.random() < 0.8:  # autograd refuses most stores into what operations keep
            keeps = ("tanh", "sin", "maximum", "minimum(a[<j>], <e>", "logsumexp", "(<e> * <e>)", "w *", "*= <e>")
            self.long = {kind: "|".join(o for o in split(text) if not any(k in o for k in keeps))
                         for kind, text in LONG.items()}  # fmt: skip
            self.simple_ones = "|".join(one for one in split(SIMPLE) if "*= <e>" not in one)

    def block(self, most):
        return super().block(most + 2)

    def source(self):
        self.result, self.helper = self.rng.choice(RESULTS), None
        first = "    k, v, row = 0, torch.zeros(()), torch.zeros(3)\n    out, memo"
        text = super().source().replace("    out, memo", first, 1)
        return text.replace("# precision: exact\n", "")


def stored_source(rng):
    """The source of one program; ``rng``: Python's random numbers."""
    return Stored(rng).source()
