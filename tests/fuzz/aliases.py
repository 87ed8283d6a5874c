"""Random loops in which several names stand for one array, or a name for one of several: what is stored under one is
read under another."""

from __future__ import annotations

ARGUMENTS = """
def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(LENGTH, generator=g, dtype=torch.float64)
    one, two = torch.randn(2, 6, generator=g, dtype=torch.float64)
    two = one if seed == 3 and SAME else two
    x, one, two = TAKEN
    return x, one, two, 2
"""
NAMES = ("a", "b", "c", "d")
TESTS = ("x[i] > 0", "x[i] > -1", "<n>[i] > 0.5", "i % 2 == 0", "x[0] > 0 and <n>[1] > 0")
PLACES = ("i", "i", "k", "0", "(i + 1) % 6", "5 - i", "-1")
VALUES = (
    "<n>[<p>]", "<n>[<p>] + x[i]", "<n>[<p>] * 0.5", "x[i]", "<n>.sum() * 0.25", "<n>[1:4].sum()", "t", "s", "t - s",
    "0.5",
)  # fmt: skip
SAME = ("+<o>", "[<o>][0]", "<o>.T", "<o>.reshape(<o>.shape)", "<o>.squeeze()", "<o> if <c> else <o>")
"""What gives a tensor, or an array, as it is or a view of it."""
SAME_TENSOR = (
    "<o>.detach()", "<o>.double()", "<o>.contiguous()", "<o>.to(torch.float64)", "<o>.type_as(<o>)", "<o>.view_as(<o>)",
    "<o>.expand_as(<o>)", "<o>.data", "<o>.cpu()", "<o>.real", "torch.positive(<o>)", "<o>[...]", "<o>.clone()",
)  # fmt: skip
STORES = (
    "<n>[<p>] = <v>",
    "<n>[<p>] += <v>",
    "<n>[<p>] = <n>[<p>] * 0.5 + <v>",
    "t = <v>",
    "t += <v>",
    "t *= 0.5",
    "<n> += <v>",
    "<n> *= 0.5",
    "<n>[1:] = <n>[:-1] * 0.5",
    "<n>[1:4] = <n>[2:5] + <v>",
    "<n>[:] = <n> * 0.5 + <n>[0]",
    "<n>[2:] += <v>",
)
CHANGES = (
    "<m> = <n>",
    "<m> = <n> if <c> else <n>",
    "<m> = <n> if <c> else <n> if <c> else <n>",
    "<m>, <m> = <n>, <n>",
    "<m> = <w>",
    "s = <u>",
    "if <c>:\n    <m> = <n>",
    "if <c>:\n    <m> = <n>\nelse:\n    <m> = <n>",
    "if <c>:\n    <m> += 1\nelse:\n    <s>",
)


class _Writer:
    def __init__(self, rng, same):
        self.rng, self.same = rng, same

    def text(self, form):
        while "<" in form:
            for mark, name in (("<w>", self.rng.choice(NAMES)), ("<u>", "t")):
                form = form.replace(mark, self.rng.choice(self.same).replace("<o>", name))
            for mark, options in (
                ("<s>", STORES), ("<v>", VALUES), ("<c>", TESTS), ("<p>", PLACES), ("<n>", NAMES), ("<m>", NAMES[2:])
            ):  # fmt: skip
                while mark in form:
                    form = form.replace(mark, self.rng.choice(options), 1)
            if not any(mark in form for mark in ("<s>", "<v>", "<c>", "<p>", "<n>", "<m>")):
                break
        return form.splitlines()

    def lines(self, indent, inner):
        found = []
        for _ in range(self.rng.randint(1, 4)):
            chance = self.rng.random()
            if chance < 0.3:
                found += self.text(self.rng.choice(CHANGES))
            elif chance < 0.5 and inner:
                found += [f"for k in range({self.rng.choice(('3', '6', 'i'))}):", *self.lines("    ", False)]
            else:
                found += self.text(self.rng.choice(STORES))
        return [indent + line for line in found]


def aliases_source(rng):
    """A program in which `a` and `b` are two arrays, made by the program or given, and `c` and `d` names for them."""
    library = rng.choice(("torch", "np"))
    write = _Writer(rng, SAME if library == "np" else SAME + SAME_TENSOR)
    double = f"dtype={library}.float64"
    made = rng.choice((f"{library}.arange(6, {double}) * 0.5", f"{library}.zeros(6, {double})", "one", "one + 0"))
    other = rng.choice((f"{library}.ones(6, {double})", f"{library}.arange(6, {double}) * 0.25", "two", "two * 1"))
    start = ["t, s, k = x[0] * 0.5, x[0], 0", f"a = {made}", f"b = {other}", "c, d = a, b"]
    body = ["for i in range(len(x)):", *write.lines("    ", True)]
    if rng.random() < 0.5:
        end = ["total = total + a[1] + 2 * b[2] + 3 * c[3] + d[5]"]
        lines = ["total = 0.0", "for r in range(rounds):", *("    " + line for line in [*start, *body, *end])]
        lines += ["return total"]
    else:
        lines = [
            *start,
            *body,
            f"return {rng.choice(('a, b', 'a, b, c', 'c + d', 'a.sum() + c[2]', 'c, d', 's, t', 'd + s'))}",
        ]
    taken = "x, one, two" if library == "torch" else "x.numpy(), one.numpy(), two.numpy()"
    arguments = ARGUMENTS.replace("TAKEN", taken).replace("LENGTH", rng.choice(("[6, 3, 1, 0][seed % 4]", "6")))
    text = [*("import numpy as np", "import torch", "", ""), "def program(x, one, two, rounds):"]
    return "\n".join(["# precision: double", *text, *("    " + line for line in lines), ""]) + arguments.replace(
        "SAME", rng.choice(("True", "False"))
    )
