"""Random programs over Python's complex numbers: arithmetic, tests and sizes of them, in loops that carry them."""

from __future__ import annotations

STARTS = ("0", "0.0", "0j", "1 + 0j", "c", "complex(0.5, -0.25)", "complex(step, 1)", "zs[0] if zs else 1j")
ARGUMENTS = """

def arguments(seed):
    g = random.Random(seed)
    count = (5, 3, 1, 0)[seed % 4]
    zs = [complex(g.uniform(-2, 2), g.uniform(-2, 2)) for _ in range(count)]
    if seed == 2:
        zs = [complex(-0.0, 1.0), complex(float("inf"), 0.0)][:count]
    xs = [g.uniform(-1, 1) for _ in range(count)]
    return zs, xs, complex(g.uniform(-1, 1), -0.5), count, 0.5 + seed
"""


class Writer:
    """Expressions and statements; ``rng``: Python's random numbers."""

    def __init__(self, rng):
        self.rng, self.names = rng, ["z", "w"]

    def number(self, depth=2):
        """A complex number."""
        if depth == 0 or self.rng.random() < 0.25:
            return self.rng.choice([*self.names * 3, "c", "zs[i]", "1j", "(0.5 - 2j)", f"complex({self.real(0)}, 0.5)"])
        one = lambda: self.number(depth - 1)
        forms = (
            lambda: f"({one()} {self.rng.choice('+-*')} {one()})",
            lambda: f"({one()} {self.rng.choice('+-*')} {self.real(depth - 1)})",
            lambda: f"({self.real(depth - 1)} {self.rng.choice('+-*')} {one()})",
            lambda: f"({one()} / {self.rng.choice((one(), '2', '(1 + 2j)', self.real(0)))})",
            lambda: f"({one()} ** {self.rng.choice('23')})",
            lambda: f"(-{one()})",
            lambda: f"{one()}.conjugate()",
            lambda: f"({one()} if {self.test(0)} else {one()})",
        )
        return self.rng.choice(forms)()

    def real(self, depth=1):
        """A real one."""
        simple = ["0.5", "2", "i", "step", "xs[i]", "total", "count"]
        if depth == 0 or self.rng.random() < 0.4:
            return self.rng.choice(simple)
        inner = self.number(depth - 1)
        return self.rng.choice((f"{inner}.real", f"{inner}.imag", f"abs({inner})", f"(i * {self.rng.choice(simple)})"))

    def test(self, depth=1):
        one = self.number(depth)
        return self.rng.choice((f"abs({one}) <= 2", f"{one}.real > step", f"{one} == z", f"abs({one}) > i", "i % 2"))

    def statements(self, depth=2):
        rng, name = self.rng, self.rng.choice(self.names)
        kind = rng.randrange(9)
        if kind < 3 or depth == 0:
            return [f"{name} = {self.number()}"]
        if kind == 3:
            return [f"{name} {rng.choice('+-*')}= {rng.choice((self.number(1), self.real()))}"]
        if kind == 4:
            return ["z, w = w, " + self.number(1)]
        if kind == 5:
            return [f"total += {self.real()}"]
        if kind == 6:
            return [f"out.append({self.real()})"]
        inner = [f"    {line}" for _ in range(rng.randint(1, 2)) for line in self.statements(depth - 1)]
        if kind == 7:
            orelse = ["else:", *(f"    {line}" for line in self.statements(depth - 1))] if rng.random() < 0.5 else []
            return [f"if {self.test()}:", *inner, *orelse]
        if rng.random() < 0.5:
            return [f"for j in range({rng.choice(('3', 'count', 'i'))}):", *inner]
        count = f"k{depth}"  # of its own: an inner loop that begins anew would make this one endless
        return [f"{count} = 0", f"while {self.test()} and {count} < 4:", *inner, f"    {count} += 1"]


def complex_source(rng):
    """The source of one program."""
    write = Writer(rng)
    body = [line for _ in range(rng.randint(1, 4)) for line in write.statements()]
    results = rng.choice(("out, total", "out, total, z", "out, total, abs(z), w.real", "z, w"))
    fresh = rng.random() < 0.5
    starts = [f"z, w = {rng.choice(STARTS)}, {rng.choice(STARTS)}"]
    lines = ["out, total = [], 0.0", *starts, "for i in range(count):"]
    lines += [f"    {line}" for line in ([starts[0]] if fresh else []) + body]
    lines.append("    out.append(z.real)" if rng.random() < 0.6 else "    out.append(abs(w))")
    text = "\n".join(f"    {line}" for line in [*lines, f"return {results}"])
    return f"import random\n\n\ndef program(zs, xs, c, count, step):\n{text}\n{ARGUMENTS}"
