"""Random programs whose loops go over lists of numbers, and lists of such, by places that move with the loop; these may
be one list, and change otherwise on the way."""

from __future__ import annotations

ARGUMENTS = """
def arguments(seed):
    r = random.Random(seed)
    n, more = [6, 0, 3, 9, 1][seed % 5], 4 * (seed % 4 != 1)
    large = 2**61 if seed % 4 == 3 else 5
    a = [r.choice((r.uniform(-2, 2), float(r.randint(-3, 3)), -0.0)) for _ in range(n + 1 + more)]
    b = [r.uniform(-2, 2) for _ in range(n + seed % 2 + more)]
    c = [r.choice((r.randint(-4, 4), r.randint(0, 3), large)) for _ in range(n + more)]
    m = [[r.randint(-3, 3) / 2 for _ in range(n + more)] for _ in range(n + more)]
    if seed % 3 == 1:
        b = a
    if seed % 6 == 4 and len(m) > 1:
        m[1] = m[0]
    if seed % 7 == 5 and m:
        m[-1] = a
    if seed % 7 == 6:
        a = [one if k % 3 else int(one) for k, one in enumerate(a)]
    return a, b, c, m, n, seed % 3 - (seed % 5 == 4)
"""
PLACES = (
    "{v}",
    "{v}",
    "{v}",
    "{v} + 1",
    "{v} - 1",
    "{v} + k",
    "{v} - k",
    "k + {v}",
    "-{v} - 1",
    "n - 1 - {v}",
    "0",
    "k",
    "-1",
)
VALUES = (
    "a[{p}]",
    "b[{p}]",
    "m[{w}][{p}]",
    "m[{p}][{w}]",
    "x",
    "0.5",
    "2",
    "a[{p}] * b[{q}]",
    "m[{w}][{p}] - m[{u}][{q}]",
    "a[c[{p}] % (n or 1)]",
    "max(a[{p}], b[{q}])",
    "abs(b[{p}]) + 1",
    "a[{p}] / (abs(b[{q}]) + 1)",
    "float(c[{p}] % 7)",
    "(a[{p}] if c[{q}] > 0 else b[{p}])",
    "min(m[{w}])",
)
WHOLE = ("c[{p}]", "c[{p}] + c[{q}]", "c[{p}] % 5", "k", "{v}", "c[{p}] * 2", "len(a)", "int(a[{p}])")
STORES = (
    "a[{p}] = {x}",
    "b[{p}] = {x}",
    "m[{w}][{p}] = {x}",
    "a[{p}] += {x}",
    "b[{p}] -= {x}",
    "m[{w}][{p}] += {x}",
    "m[{p}][{w}] *= {x}",
    "c[{p}] = ({i}) % 99991",
    "c[{p}] += ({i}) % 7",
    "x += {x}",
    "x = {x}",
    "t += {i}",
    "row[{p}] += {x}",
    "a[{p}], b[{q}] = b[{q}], a[{p}]",
    "out.append({x})",
)
RARE = (
    "if len(a) < 40: a.append({x})",
    "a.reverse()",
    "b.sort()",
    "m[{w}] = b",
    "m[{w}], m[{u}] = m[{u}], m[{w}]",
    "row = m[{w}]",
    "b = a",
    "row = a[:]",
    "a = [e + 1 for e in a]",
    "k = -k",
    "if len(b) > 3: b.pop()",
    "if len(a) < 40: a += [x]",
    "m.reverse()",
    "{v} = {v} + 1",
    "b[1:2] = [x]",
    "del a[-1:]",
    "d['r'] = row",
    "if len(row) < 40: d['r'] += [x]",
    "if len(a) < 40: m[{w}] += [x]",
    "row = m[0] if m else row",
    "d['r'][{p}] += 1",
    "row = list(b)",
    "x += sum([sum(e) for e in zip(*m)])",
    "out.append([max(e) for e in zip(*m)])",
    "m = [list(e) for e in zip(*m)]",
    "row = list(map(abs, a))",
    "x = max(map(abs, m[{w}]))",
    "x, t = map(abs, (x, {i}))",
    "x += sum(map(lambda e: e * 2, b))",
    "a[::2] = b[::2]",
    "b[{v}::2] = a[1::2]",
    "row[::-1] = row",
    "t += bin(c[{p}]).count('1')",
)
TESTS = (
    "a[{p}] > b[{q}]",
    "c[{p}] % 2",
    "{v} > k",
    "x < 3",
    "{v} + 1 < n",
    "m[{w}][{p}] > 0",
    "{v} > 0 and a[{v} - 1] < 1",
)
RANGES = (
    "range(n)",
    "range(n)",
    "range(1, n)",
    "range(n - 1)",
    "range(k, n)",
    "range(n, 0, -1)",
    "range(0, n, 2)",
    "range(len(a))",
    "range(len(b) - 1)",
    "range({o}, n)",
    "range({o} + 1, n)",
    "range(n - 1, -1, -1)",
)
LEAVES = ("break", "continue", "return a, b, c, m, x, t, out, row, k")


def strips_source(rng) -> str:
    """The text of one program."""
    lines = ["    x, t, out, row, d = 0.0, 0, [], b, {'r': a}"]
    for _ in range(rng.randint(1, 3)):
        lines += _loop(rng, [], 1)
    text = "\n".join(lines)
    body = f"import random\n\n\ndef program(a, b, c, m, n, k):\n{text}\n    return a, b, c, m, x, t, out, row, k\n"
    return f"# precision: exact\n{body}\n{ARGUMENTS}"


def _loop(rng, around: list[str], depth: int) -> list[str]:
    name = "ijl"[len(around)]
    indent = "    " * depth
    names = [*around, name]
    outer = around[-1] if around else "k"
    if rng.random() < 0.06:
        test = _filled(rng, rng.choice(TESTS), names)
        head = [f"{indent}{name} = -1", f"{indent}while {name} + 1 < n and {test}:", f"{indent}    {name} += 1"]
    else:
        head = [f"{indent}for {name} in {rng.choice(RANGES).format(o=outer)}:"]
    body: list[str] = []
    for _ in range(rng.randint(1, 3)):
        if len(names) < 3 and rng.random() < 0.45:
            body += _loop(rng, names, depth + 1)
        else:
            body += _statement(rng, names, depth + 1)
    tail = [f"{indent}else:", f"{indent}    t += 1"] if rng.random() < 0.06 else []
    return [*head, *body, *tail]


def _statement(rng, names: list[str], depth: int) -> list[str]:
    indent, dice = "    " * depth, rng.random()
    if dice < 0.2:
        inner = rng.choice(LEAVES) if rng.random() < 0.25 else _filled(rng, rng.choice(STORES), names)
        return [f"{indent}if {_filled(rng, rng.choice(TESTS), names)}:", f"{indent}    {inner}"]
    return [indent + _filled(rng, rng.choice(RARE if dice < 0.27 else STORES), names)]


def _filled(rng, text: str, names: list[str]) -> str:
    """A form with places, values and names for what is open in it."""
    while "{" in text.replace("{'", ""):
        parts = {
            "x": rng.choice(VALUES), "i": rng.choice(WHOLE), "p": rng.choice(PLACES), "q": rng.choice(PLACES),
            "v": names[-1], "w": rng.choice([*names, names[0]]), "u": rng.choice([*names, "0"]),
        }  # fmt: skip
        first = text.index("{")
        text = text[:first] + parts[text[first + 1]] + text[first + 3 :]
    return text
