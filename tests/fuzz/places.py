"""Random loops in which one array stands at several places: under names, in lists, dicts and objects, and as views of
them; what is changed at one is read at another."""

from __future__ import annotations

import re

ARGUMENTS = """
def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn([6, 3, 1, 0][seed % 4], generator=g, dtype=torch.float64)
    one, two = torch.randn(2, 6, generator=g, dtype=torch.float64)
    m = torch.randn(3, 6, generator=g, dtype=torch.float64)
    two = SAME
    GIVEN
    return x, one, two, m, xs
"""
CLASS = """
class Box:
    def __init__(self, a, b):
        self.a = a
        self.b = b
"""
STARTS = {
    "a": ("one", "<l>.zeros(6, <t>)", "one + 0", "m[0]", "<l>.ones(6, <t>)", "xs[0]"),
    "b": ("two", "a", "<l>.ones(6, <t>)", "two * 1", "m[1]", "<l>.zeros(6, <t>)", "one"),
    "ys": (
        "[a] * 3",
        "[a, b, a]",
        "list(xs)",
        "xs",
        "xs[:]",
        "[m[r] for r in range(3)]",
        "[<l>.zeros(6, <t>)] * 3",
        "[<l>.zeros(6, <t>) for _ in range(3)]",
        "[a, b, <l>.zeros(6, <t>)]",
        "list(m)",
        "[q <c0> for q in xs]",
    ),
    "e": ("{0: a, 1: b, 2: a}", "{0: a, 1: b, 2: xs[0]}", "dict(enumerate(ys))", "{r: m[r] for r in range(3)}"),
    "o": ("Box(a, b)", "Box(a, a)", "Box(ys[0], b)", "Box(m[1], ys[1])"),
    "q": ("m", "m <c0>", "<l>.zeros((3, 6), <t>)", "m.T.reshape(3, 6)", "m.reshape(6, 3).T.reshape(3, 6)"),
    "v": ("a[1:4]", "b[:3]", "q[:, 1]", "a[::2]", "m.T[2]", "m[:, 0]", "m.reshape(18)[4:7]", "<flip>"),
}
LATE = {"c": "a", "d": "b", "w": "v", "zs": "[]"}
NAMED = ("a", "b", "c", "d")
VECTORS = (
    "a", "b", "c", "d", "ys[<k>]", "e[<k>]", "o.a", "o.b", "q[<k>]", "m[<k>]", "xs[<k>]", "a", "b", "c"
)  # fmt: skip
HALVES = ("v", "<n>[1:4]", "<n>[:3]", "<n>[3:]", "<n>[::2]", "q[:, <p>]", "q.T[<p>]", "w", "v", "w")
INDEXES = ("0", "1", "2", "i % 3", "(i + 1) % 3", "-1")
TESTS = ("x[i] > 0", "x[i] > -1", "<n>[<p>] > 0.5", "i % 2 == 0", "x[0] > 0 and <n>[1] > 0")
PLACES = ("i", "i", "0", "(i + 1) % 6", "5 - i", "-1", "2")
NUMBERS = (
    "<n>[<p>]",
    "<n>[<p>] + x[i]",
    "x[i]",
    "<n>.sum() * 0.25",
    "<h>.sum()",
    "t",
    "0.5",
    "<h>[1] * 0.5",
    "q[1, <p>]",
)
WHOLES = ("<n> * 0.5", "<n> + x[i]", "<n>", "<n> + <n>", "x[i]", "0.5", "<n> * <s>")
PARTS = ("<h> * 0.5", "<h> + x[i]", "<h>", "x[i]", "<n>[:3] + <h>", "<h> * <s>")
STORES = (
    "<n>[<p>] = <s>", "<n>[<p>] += <s>", "<n>[<p>] = <n>[<p>] * 0.5 + <s>", "t = <s>", "<n> += <e>", "<n> *= 0.5",
    "<n>[1:4] = <f>", "<n>[:] = <e>", "<n>[2:5] += <f>", "<h>[:] = <f>", "v += <f>", "w *= 0.5", "v[<j>] = <s>",
    "v[<j>] += <s>", "q[<k>] = <e>", "q[<k>] += <e>", "q[<k>, <p>] = <s>", "q[:, <p>] = <f>", "q[:, <p>] += <f>",
    "ys[<k>] += <e>", "e[<k>] += <e>", "o.a += <e>", "o.b[<p>] = <s>", "ys[<k>][<p>] += <s>", "e[<k>][<p>] = <s>",
    "q += <e>", "a += <e>", "c += <e>", "c -= <e>", "d *= 0.5", "t = t + <s>", "ys[<k>][1:4] += <f>",
)  # fmt: skip
TORCH = (
    "<n>.add_(<n> * 0.5)", "<n>.mul_(0.5)", "<n>.copy_(<n>)", "<n>.fill_(x[i])", "<n>.zero_()", "<n>.clamp_(-1, 1)",
    "<n>.index_add_(0, torch.tensor([0, 2, 2]), <f2>)", "<h>.add_(x[i])", "<h>.zero_()", "<n>[<p>].add_(<s>)",
    "<n> = <n>.mul_(0.5)", "c = <n>.add_(1)", "torch.add(<n>, <n>, out=<n>)", "<n>[torch.tensor([0, 2])] += x[i]",
    "<n>[<p>].fill_(0.25)", "v = <n>.narrow(0, 1, 3)", "v = <n>.view(2, 3)[1]", "v = <n>.reshape(2, 3)[0]",
    "v = <n>.unfold(0, 3, 1)[1]", "q = q.clone()", "<n>.scatter_(0, torch.tensor([1]), x[i:i + 1])",
    "v = torch.as_strided(<n>, (3,), (2,))", "c = <n>.detach()", "c = <n>.contiguous()", "c = <n>.view(6)",
    "c = <n>.reshape(6)", "c = <n>.flatten()", "v, w = <n>.chunk(2)", "v, w = <n>.split(3)", "c, d, _ = q.unbind(0)",
    "c = <n>.expand(6)", "c = <n>.to(torch.float64)", "c = <n>.squeeze()",
)  # fmt: skip
NUMPY = (
    "np.add(<n>, <n>, out=<n>)", "np.copyto(<n>, <n>)", "np.add.at(<n>, [0, 2, 2], x[i])", "<n>.fill(x[i])",
    "<n>.sort()", "np.multiply(<n>, 0.5, out=<n>)", "np.clip(<n>, -1, 1, out=<n>)", "<n>[[0, 2]] += x[i]",
    "<n>[::-1] += <n>", "<n>[:] = <n>[::-1]", "c = <n>[::-1]", "v = <n>[4:1:-1]", "v = <n>.reshape(2, 3)[1]",
    "<n>[<n> > 0.5] = 0.25", "v = <n>.reshape(3, 2)[:, 0]", "q = q.copy()", "c = np.asarray(<n>)", "c = <n>.ravel()",
    "c = np.array(<n>)", "c = <n>.reshape(6)", "c = <n>.reshape(-1)", "c = <n>.astype(np.float64)",
    "c = np.ascontiguousarray(<n>)", "v, w = np.split(<n>, 2)", "c, d, _ = q", "c = <n>.flatten()", "c = <n>.view()",
    "c = <n>.squeeze()", "<n>[1:] = <n>[:-1]", "<n>[1:] += <n>[:-1]", "<n>[:-1] += <n>[1:]",
)  # fmt: skip
CHANGES = (
    "<m> = <n>", "<m> = <n>", "<m> = <n> if <c> else <n>", "<m>, <m> = <n>, <n>", "if <c>:\n    <m> = <n>",
    "if <c>:\n    <m> = <n>\nelse:\n    <m> = <n>", "if <c>:\n    <m> += 1\nelse:\n    <x>", "<m> = <n> <c0>",
    "<m> = <n> + 0", "v = <h>", "w = <h>", "v, w = w, v", "v = <h> if <c> else <h>", "if <c>:\n    v = <h>",
    "ys[<k>] = <n>", "e[<k>] = <n>", "o.a = <n>", "o.b = <n>", "ys[<k>] = <n> <c0>", "ys[0], ys[1] = ys[1], ys[0]",
    "ys.append(<n>)", "ys = ys[:]", "ys = list(ys)", "e[<k>] = e[<k>] + <e>", "ys = [<n>, <n>, <n>]",
    "ys = ys[1:] + [<n>]", "zs.append(<n>)", "zs.append(<n> <c0>)", "zs.append(v)", "o.a, o.b = o.b, o.a",
    "if <c>:\n    <x>", "if <c>:\n    <x>\nelse:\n    <x>", "for y in ys:\n    y[<p>] += <s>",
    "for y in ys:\n    y += <e>", "for y in q:\n    y *= 0.5", "for k, y in e.items():\n    y[k] = <s>",
    "o = Box(<n>, <n>)", "c = ys.pop()\nys.append(c)", "ys.insert(0, ys.pop())", "zs.append((<n>, <n>))",
    "for y, z in zip(ys, xs):\n    y += z * 0.5", "help(<n>, <n>)", "c = same(<n>)", "c = pick(<n>, <n>, x[i])",
)  # fmt: skip
HELPERS = (
    "def help(p, r):\n    p[1:4] += r[2:5] * 0.5\n",
    "def help(p, r):\n    p += r\n",
    "def help(p, r):\n    for k in range(1, 6):\n        p[k] = p[k - 1] + r[k] * 0.5\n",
    "def help(p, r):\n    p = p * 0.5\n    r[0] = p[1]\n",
    "def help(p, r, seen=[]):\n    p *= 0.5\n    r[1] += p[2]\n",
)
PICKS = "\n\ndef same(p):\n    return p\n\n\ndef pick(p, r, y):\n    if y > 0:\n        return p\n    return r\n"


class _Writer:
    def __init__(self, rng, library):
        self.rng, self.library = rng, library
        own = rng.sample(TORCH if library == "torch" else NUMPY, 4)
        self.changes = rng.sample(CHANGES, 8)
        clone = ".clone()" if library == "torch" else ".copy()"
        flip = "a[2:5]" if library == "torch" else "a[4:1:-1]"
        self.marks = {
            "<x>": rng.sample(STORES, 8), "<own>": own, "<e>": WHOLES, "<f>": PARTS, "<h>": rng.sample(HALVES, 4),
            "<f2>": ("x[i].expand(3)", "<n>[:3] * 0.5"), "<c>": TESTS, "<s>": NUMBERS, "<m>": NAMED[2:],
            "<n>": rng.sample(VECTORS, 5), "<k>": INDEXES, "<p>": PLACES, "<j>": ("0", "1", "2", "i % 3"),
            "<c0>": (clone,), "<l>": (library,), "<t>": (f"dtype={library}.float64",), "<flip>": (flip,),
        }  # fmt: skip

    def text(self, form):
        while any(mark in form for mark in self.marks):
            for mark, options in self.marks.items():
                while mark in form:
                    form = form.replace(mark, self.rng.choice(options), 1)
        return form.splitlines()

    def lines(self, indent, inner):
        found = []
        for _ in range(self.rng.randint(1, 4)):
            chance = self.rng.random()
            if chance < 0.35:
                found += self.text(self.rng.choice(self.changes))
            elif chance < 0.45 and inner:
                found.append(f"for i in range({self.rng.choice(('3', '6'))}):")
                found += [line.replace("x[i]", "x[0]") for line in self.lines("    ", False)]
            elif chance < 0.65:
                found += self.text("<own>")
            else:
                found += self.text(self.rng.choice(self.marks["<x>"]))
        return [indent + line for line in found]


SUMS = ("a[1] + 2 * b[2] + 3 * c[3] + d[5]", "<n>[1] + 2 * <n>[3] + <h>[1]", "<n>.sum() + t + c[2]", "v[0] + c[1] + t")
RESULTS = (
    "a, b, c", "c, d, v", "zs", "ys", "a + b + c", "e, o.a", "q, c", "ys, zs", "q.sum() + t", "t", "c", "v",
    "(v, w), ys", "t, c.sum(), v.sum()", "ys[0], ys[-1]", "m, c",
)  # fmt: skip


def places_source(rng):
    """A program over names, a list, a dict, an object, a matrix and its views, with few arrays behind all of them."""
    library = rng.choice(("torch", "np"))
    write = _Writer(rng, library)
    start = ["t = 0.5"]
    for name, options in STARTS.items():
        start += write.text(f"{name} = {rng.choice(options)}")
    start.append("c, d, w, zs = a, b, v, []")
    loop = ["for i in range(len(x)):", *write.lines("    ", True)]
    if rng.random() < 0.25:
        loop = ["for _ in range(2):", *("    " + line for line in loop)]
    result = rng.choice(RESULTS)
    within = rng.random() < 0.5
    if within:
        loop += write.text(f"total = total + {rng.choice(SUMS)}")
    lines = _pruned([*start, *loop], "\n".join(loop if within else [*loop, result]))
    if within:
        lines = ["total = 0.0", "for r in range(2):", *("    " + line for line in lines), "return total"]
    else:
        lines += [f"return {result}"]
    torch = library == "torch"
    given = [
        "xs = [torch.randn(6, generator=g, dtype=torch.float64) for _ in range(3)]",
        "xs = [one, two, one]",
        "xs = list(m)",
    ]
    arguments = [rng.choice(given)]
    if not torch:
        arguments += ["known = {id(one): one.numpy()}", "known.setdefault(id(two), two.numpy())", "m = m.numpy()"]
        arguments[0] = arguments[0].replace("list(m)", "list(m.numpy())")
        arguments += ["xs = [known.setdefault(id(y), y if isinstance(y, np.ndarray) else y.numpy()) for y in xs]"]
        arguments += ["one, two, x = known[id(one)], known[id(two)], x.numpy()"]
    elif rng.random() < 0.2:
        arguments = ["x.requires_grad_()", *arguments]
    texts = ARGUMENTS.replace("GIVEN", "\n    ".join(arguments))
    texts = texts.replace("SAME", rng.choice(("one if seed == 3 else two", "two", "two", "m[1]")))
    head = ["# precision: double", "import numpy as np", "import torch", CLASS, "", rng.choice(HELPERS) + PICKS, ""]
    return "\n".join([*head, "def program(x, one, two, m, xs):", *("    " + line for line in lines), ""]) + texts


def _pruned(lines, used):
    """Lines without the starts of names that nothing reads: most programs use few of them."""
    count = len(STARTS) + 1
    late = [name for name in LATE if re.search(rf"\b{name}\b", used)]
    starts = [f"{', '.join(late)} = {', '.join(LATE[name] for name in late)}"] if late else []
    text = "\n".join([used, *starts])
    for line in reversed(lines[:count]):
        if re.search(rf"(?<!\.)\b{line.split(' = ')[0]}\b", text):
            starts = [line, *starts]
            text += "\n" + line
    return starts + lines[count + 1 :]
