"""Random loops in which lists, tensors or arrays go around among names, lists and dicts, several in one statement."""

from __future__ import annotations

ARGUMENTS = """
def arguments(seed):
    r = np.random.RandomState(seed)
    x = r.randn([6, 3, 1, 0][seed % 4])
    return GIVEN
"""
GIVEN = {
    "list": "x.tolist(), r.randn(4).tolist(), r.randn(4).tolist()",
    "np": "x, r.randn(4), r.randn(4)",
    "torch": "torch.from_numpy(x), torch.from_numpy(r.randn(4)), torch.from_numpy(r.randn(4))",
}
NAMES = ("a", "b", "c", "d")
HELD = (
    "a",
    "b",
    "c",
    "d",
    "a",
    "b",
    "c",
    "d",
    "ys[<k>]",
    "e[<k>]",
    "t[<j>]",
    "<n> if <q> else <n>",
    "pick(<n>, <n>, y)",
)
INDEXES = ("0", "1", "2", "i % 3", "(i + 1) % 3")
MADE = {
    "list": ("[y, 1.0, 2.0, <s>]", "<n>[:]", "list(<n>)", "[z * 0.5 for z in <n>]", "<n>[1:] + [y]"),
    "np": ("<n> * 0.5", "<n> + <n>", "<n>.copy()", "np.zeros(4)", "<n> - y"),
    "torch": ("<n> * 0.5", "<n> + <n>", "<n>.clone()", "torch.zeros(4, dtype=torch.float64)", "<n> - y"),
}
PLACES = ("0", "1", "i % 4", "-1", "2")
NUMBERS = ("<n>[<p>]", "y", "<n>[<p>] * 0.5", "<n>[<p>] + y", "0.5")
TESTS = ("y > 0", "i % 2 == 0", "<n>[<p>] > 0.5")
FORMS = (
    "<m>, <m>, <m> = <v>, <v>, <v>", "<m>, <m>, <m> = <v>, <v>, <v>", "<m>, <m> = <v>, <v>", "<m>, <m> = <v>, <v>",
    "<m> = <m> = <v>", "<m> = <v>", "<n>[<p>] = <s>", "<n>[<p>] += <s>", "<n>[<p>], <n>[<p>] = <s>, <s>",
    "<m>, <n>[<p>] = <v>, <s>", "<n>[<p>], <m> = <s>, <v>", "ys[<k>], <m> = <v>, <v>", "<m>, ys[<k>] = <v>, <v>",
    "ys[<k>], ys[<k>] = ys[<k>], ys[<k>]", "e[<k>], <m> = <v>, e[<k>]", "e[<k>] = <v>", "t = (<v>, <v>)",
    "<m>, <m> = t", "(<m>, <m>), <m> = t, <v>", "<m>, (<m>, <m>) = <v>, (<v>, <v>)", "if <q>:\n    <m>, <m> = <v>, <v>",
    "if <q>:\n    <m> = <v>\nelse:\n    <m>, <n>[<p>] = <v>, <s>", "<m>, <m> = swapped(<n>, <n>)",
    "ys = [<v>, <v>, <v>]", "for z in ys:\n    z[<p>] = <s>", "for k in range(3):\n    ys[k], <m> = <m>, ys[k]",
    "ys.append(ys.pop(0))", "<m> = ys.pop()\nys.insert(0, <n>)", "for z in (<n>, <n>):\n    <m> = z\n    z[<p>] = <s>",
    "<m>, <m>, <m> = put(<n>, <s>), <v>, <n>", "while (<m> := put(<n>, <s>))[0] > 9:\n    break",
)  # fmt: skip
HELPERS = """
def pick(p, r, y):
    if y > 0:
        return p
    return r


def swapped(p, r):
    p, r = r, p
    p[0] = r[1]
    return p, r


def put(p, y):
    p[1] = y
    return p
"""


class _Writer:
    def __init__(self, rng, kind):
        self.rng = rng
        self.marks = {
            "<v>": HELD + MADE[kind], "<s>": NUMBERS, "<q>": TESTS, "<m>": NAMES, "<n>": NAMES, "<k>": INDEXES,
            "<p>": PLACES, "<j>": ("0", "1"),
        }  # fmt: skip

    def lines(self, form):
        while any(mark in form for mark in self.marks):
            for mark, options in self.marks.items():
                while mark in form:
                    form = form.replace(mark, self.rng.choice(options), 1)
        return form.splitlines()


def rounds_source(rng):
    """A program over four names, a list, a dict and a tuple that hold the same few values of one kind."""
    kind = rng.choice(("list", "list", "np", "torch"))
    write = _Writer(rng, kind)
    forms = rng.sample(FORMS, rng.randint(3, 8))
    body = [line for form in forms for line in write.lines(form)]
    made = "[0.5, 1.5, 2.5, 3.5]" if kind == "list" else "one * 0.5 + two"
    lines = [f"a, b, c = one, two, {made}", "d = a", "ys = [a, b, a]", "e = {0: b, 1: a, 2: c}", "t = (a, b)"]
    lines += ["for i, y in enumerate(x):" if kind == "list" else "for i in range(len(x)):"]
    lines += [] if kind == "list" else ["    y = x[i]"]
    lines += ["    " + line for line in body]
    result = rng.choice(("a, b, c, d", "a, b, c, d, ys", "ys, e, t", "d, c, t, e"))
    text = "\n".join(["# precision: double", "import numpy as np", "import torch", "", HELPERS, ""])
    text += "\n".join(["def program(x, one, two):", *("    " + line for line in [*lines, f"return {result}"]), ""])
    return text + ARGUMENTS.replace("GIVEN", GIVEN[kind])
