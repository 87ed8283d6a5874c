"""Small programs that make one thing in a loop and do one thing with it: pairs that longer programs seldom meet.

A part of a list that a loop has made; a field of an object whose type changes from call to call; a number beside what
is none; a name that a loop carries beside the array that it may be; a row beside its elements; a place of another type.
"""

from __future__ import annotations

VALUES = (
    "None", "[]", "()", "{}", "set()", "3", "2.5", "'s'", "[1]", "(1, 2)", "{1: 2}", "[None]", "[[]]", "True",
    "[1.5, -2.0]", "[(1, 2)]", "Node(None)", "[Node(2)]", "torch.ones(2)", "np.ones(2)", "-1",
)  # fmt: skip
FIELD_USES = (
    "if v.a is None: out.append(i)", "if v.a is not None: out.append(i)", "if v.a == None: out.append(i)",
    "if not v.a: out.append(i)", "if v.a: out.append(i)", "for w in v.a: out.append(i)", "if 1 in v.a: out.append(i)",
    "out.append(len(v.a))", "for w, u in zip(v.a, (1, 2)): out.append(u)", "for k, w in enumerate(v.a): out.append(k)",
    "out.append(v.a == [])", "out.append(isinstance(v.a, list))", "out.append(sum(1 for w in v.a))",
    "out.append(any(w for w in v.a))", "if v.a == i: out.append(i)", "if v.a != 'q': out.append(1)",
    "for w in reversed(v.a): out.append(1)", "for w in sorted(v.a): out.append(1)",
    "out.append(1 if v.a is None else 2)",
    "out.append(v.a or 5)", "out.append(v.a and 5)", "if v.a is None and i > 0: return i", "out.append(i in v.a)",
    "if v.a[0] is None: out.append(1)", "out.append(list(v.a))", "out.append(min(v.a, default=9))",
    "out.append(max([1, *v.a]))", "out.extend(v.a)", "w, u = v.a\nout.append(i)", "v.a = i", "w = v.a",
    "out.append(v.a + v.a)", "out.append(v.a * 2)", "out.append(v.a[-1])", "v.a.append(i)", "out.append(str(v.a))",
)  # fmt: skip
PARTS = ("1:", ":2", ":-1", "1:-1", "::2", "1::2", "::-1", "-2:", ":n", "n:", "n:n + 1", "-n:", ":0", ":", "5:", "2:1")
ITEMS = ("row * 2.0", "row", "row + n", "row > 1.5", "row if n else row * 0.5")
PART_USES = (
    "return values", "return values, len(values)", "return sum(values)", "return values + values", "return values[0]",
    "return values[-1], values[:1]", "return [v for v in values]", "return list(reversed(values))",
    "return tuple(values)",
    "t = 0\nfor v in values: t = t + v\nreturn t", "t = 0\nfor k, v in enumerate(values): t = t + v * k\nreturn t",
    "t = 0\nfor v, w in zip(values, rows): t = t + v * w\nreturn t", "return values, every",
    "values.append(3.0)\nreturn values", "return bool(values)", "return values * 2", "return values == every",
    "return [sum(values), len(values)]", "return values[::-1]", "return values[1:]", "return [values]",
    "return {'a': values}", "return values.pop()", "x = values\nreturn x, values", "return every[1:] + values",
    "every.append(n)\nreturn values, every", "return sum(values) / len(values)", "del values[0]\nreturn values, every",
)  # fmt: skip
OTHERS = ("'q'", "None", "...", "int", "torch.float32", "s", "t", "x", "()", "b'a'", "True", "1", "2.0", "x[0]", "-0.0")
ROW_KINDS = (
    "[1, 2, 3]", "[1.0, 2.0]", "torch.tensor([1.0, 2.0])", "np.array([1, 2])", "[True, False]", "torch.ones(2, 2)",
    "['q', 'r']", "[None, 1]",
)  # fmt: skip
COMPARED = (
    "if x[i] == <o>: out.append(1)", "if x[i] != <o>: out.append(1)", "out.append(x[i] == <o>)",
    "k = k + (x[i] != <o>)",
    "k += 1 if <o> == x[i] else 2", "out.append(x[i] is <o>)", "if x[i] in (<o>, 5): out.append(i)", "k = x[i] == <o>",
    "out.append((3, 4, 5)[<o>])", "out.append([3, 4, 5][<o>])", "k = x[<o>]", "out.append(x[i] if x[i] != <o> else k)",
)  # fmt: skip
BEGINS = ("a", "a", "b", "a[:]", "a.clone()", "b if len(x) > 3 else a")
STEPS = (
    "c = c", "c = a", "c = b", "c = a if x[i] > 0 else c", "if x[i] > 0: c = a", "if x[i] > 0: c = c.view(-1)",
    "c, d = d, c", "c, d = d, a", "e = c\nc = e.view(6)", "c = c + 0", "c = a.clone()", "c = c.real", "c = c[:]",
    "c = c.to(torch.float64)", "c = c.detach()", "c = (c,)[0]", "c = torch.where(x[i] > 0, c, a)",
)  # fmt: skip
STORES = (
    "a[-1] = c.sum() * 0.25", "a[i] = c[i] * 2", "a[0] += 1", "c[0] = x[i]", "b[1] = c[2] + x[i]", "a[:] = c * 0.5",
    "if x[i] > 0: a[2] = c[3]", "a[i + 1] = c[i] + 1", "d[0] = 5.0", "for j in range(3): a[j] = c[j + 1]", "a *= 0.5",
)  # fmt: skip
READS = (
    "t = t + c.sum()", "t = t + c[i]", "t = t + a[i] + c[0]", "out.append(c.sum())", "t = t + d[0]",
    "out.append(c[i] * x[i])",
)  # fmt: skip
ENDS = (
    "return t, out",
    "return t, out, c",
    "return t + c[0], out, a",
    "a[0] = 9.0\nreturn t + c[0], out",
    "c[1] = 3.0\nreturn t + a.sum() + b.sum(), out",
)
ROWS = ("x[i]", "x[i, 0]", "x[i, j]", "x[i][0]", "x[0]", "x[j, i % 3]", "x[:, j].sum()", "x", "x[i, 1:]", "x[-1, j]")
MIXED = (
    "t = <r> * 2\nk = k + <r> * 0.3", "k = k + (<r>).sum() * <r>", "t = <r> + 1\nk = k + (<r> * t).sum()",
    "k += <r>\nt = <r> * 2",
)  # fmt: skip


def _block(lines, depth):
    return "".join("    " * depth + line + "\n" for text in lines for line in text.split("\n"))


def _fields(rng):
    begin = "import numpy as np\nimport torch\n\n\nclass Node:\n    def __init__(self, a):\n        self.a = a\n\n"
    begin += "    def __repr__(self):\n        return 'a node'\n\n\n"
    text = begin + "def program(nodes, n):\n    out = []\n    for i in range(n):\n        v = nodes[i]\n"
    text += _block(rng.sample(FIELD_USES, rng.choice((1, 1, 2))), 2) + "    return out\n\n\n"
    values = ", ".join(f"lambda: {value}" for value in rng.sample(VALUES, 4))
    text += f"def arguments(seed):\n    made = [{values}][seed % 4]\n"
    return text + "    return [Node(made()) for _ in range(3)], 3\n"


def _parts(rng):
    use = rng.choice(PART_USES)
    lines = [f"values = []\nfor row in rows: values.append({rng.choice(ITEMS)})", "every = values"]
    lines += [f"values = values[{rng.choice(PARTS)}]", use]
    text = "import numpy as np\nimport torch\n\n\ndef program(rows, n):\n"
    if rng.random() < 0.4:
        inner = [line.replace("in rows:", "in rows[j:]:").replace("return", "found =") for line in lines]
        text += "    outs = []\n    for j in range(3):\n" + _block(inner, 2)
        text += "        outs.append(found)\n    return outs\n\n\n"
    else:
        text += _block(lines, 1) + "\n\n"
    given = rng.choice(
        ("one", "one", "torch.tensor(one)", "torch.tensor(one)[:, None] * torch.ones(2)", "np.array(one)")
    )
    text += "def arguments(seed):\n    one = [[1.0, 2.5, 3.0, -1.0], [4.5], [], [0.5, 2.0]][seed % 4]\n"
    return text + f"    return {given}, seed % 3\n"


def _compared(rng):
    form = rng.choice(COMPARED).replace("<o>", rng.choice(OTHERS))
    text = (
        "import numpy as np\nimport torch\n\n\ndef program(x, n, s, t):\n    out, k = [], 0\n    for i in range(n):\n"
    )
    text += _block([form], 2) + "    return out, k\n\n\n"
    given = rng.choice(ROW_KINDS)
    return text + f"def arguments(seed):\n    return {given}, [2, 1, 0, 2][seed % 4], 'q', None\n"


def _carried(rng):
    body = [rng.choice(STEPS), rng.choice(STORES), rng.choice(READS)]
    body += [rng.choice(STEPS + STORES + READS) for _ in range(rng.choice((0, 0, 1, 2)))]
    rng.shuffle(body)
    start, rounds = f"c = {rng.choice(BEGINS)}\nd = b", rng.random() < 0.3
    text = "# precision: double\nimport torch\n\n\ndef program(x, a, b):\n    t, out = 0.0, []\n"
    text += _block(["for r in range(2):"] * rounds, 1) + _block([start, "for i in range(len(x)):"], 1 + rounds)
    text += _block(body, 2 + rounds) + _block([rng.choice(ENDS)], 1) + "\n\n"
    text += "def arguments(seed):\n    g = torch.Generator().manual_seed(seed)\n    made = lambda n: "
    text += (
        "torch.randn(n, dtype=torch.float64, generator=g)\n    return made([5, 3, 1, 4][seed % 4]), made(6), made(6)\n"
    )
    return text


def _rows(rng):
    form = rng.choice(MIXED)
    while "<r>" in form:
        form = form.replace("<r>", rng.choice(ROWS), 1)
    text = "import torch\n\n\ndef program(names, x):\n    k = torch.zeros(())\n    t, out = None, []\n"
    text += "    for i in range(len(names)):\n        j = len(names[i]) % 3\n" + _block([form], 2)
    text += "        out.append(names[i] + str(j))\n    return k, t, out\n\n\ndef arguments(seed):\n"
    text += "    g = torch.Generator().manual_seed(seed)\n    names = [['a' * n for n in (1, 4, 2, 5, 3)], ['bb'], [], "
    return text + "['c', 'ddd']][seed % 4]\n    return names, torch.randn(9, 3, generator=g)\n"


def uses_source(rng):
    """A program of one thing and one use of it."""
    return rng.choice((_fields, _fields, _parts, _compared, _carried, _carried, _rows))(rng)
