"""Random programs in which a value is a number of Python's in some iterations and an element of a tensor in others."""

TYPES = ("float32", "float64", "float16", "uint8", "int8", "int32", "int64")
NUMBERS = (
    "0.1",
    "0.29",
    "7",
    "2.7",
    "0",
    "-1",
    "1.5",
    "float('-inf')",
    "16777217",
    "300",
    "(k * 0.1 + 0.3)",
    "k",
    "z",
    "w",
    "9007199254740993",
    "3000000001",
    "(k * 20000001 + 1)",
    "ids[k]",
    "m",
    "1e30",
    "1e-30",
    "20.0",
    "True",
)
BEGINS = [number for number in NUMBERS if "k" not in number]
BOOLS = ("True", "k % 2 == 0", "False", "k")
BOUND = {
    "carried": "",
    "branch": "        if k % 3 == 0:\n            s = {number}\n        else:\n            s = y[k]\n",
    "clipped": "        s = y[k]\n        if s < {number}:\n            s = {number}\n",
    "greatest": "        s = max({number}, y[k])\n",
    "least": "        s = min(y[k], {number})\n",
    "flag": "        s = y[k] > 2\n        if k % 3 == 0:\n            s = {flag}\n",
}
LATER = (
    "s = y[k]",
    "if y[k] > 2:\n            s = y[k]",
    "s = max(s, y[k])",
    "s = s + y[k]",
    "s = s * 3",
    "s = s / x[k]",
    "s = s * 31 + 1 if y[k] < 5 else y[k] * 1",
    "s = s + (y[k] if y[k] > 1 else 0.3)",
    "s = s + (y[k] if y[k] > 1 else 20000001)",
)
MADE = """s + x[k]|x[k] - s|s * x[k]|x[k] / s|s / x[k]|s // x[k]|s % x[k]|s * 3|s * 100|-s|abs(s)|s ** 2|max(s, x[k])|s
min(x[k], s)|s + 0.1|s / 3|s // 2|s * s * s|1 - s|49 / s|(s + s)|s * 0.1 + 1|(k + 1) / x[k]|k / x[k]|z / x[k]
s * 1000003 - 100000|s * 5000001 % 10|s * 1e30 / 1e30|s * s * 1e30|s ** 300|s * 10**19|s * m % 7|s % 10|s - s|~s
divmod(s, 3)[0]|divmod(3, s)[1]|s * 1e30|s ** 3 - s ** 3 * 0.9999999|-s * 0.1 - 0.3|s == 0.3|s // 0.1"""
USED = """out.append(float(r))|out.append(int(r * 100))|c[k] = r|c[k] = r * 100|c[k] += r|n += int(r)
if r >= 1: n += 1|if r * 100 >= 29: n += 1|if r == s: n += 1|c[k] = s|if r > x[k]: c[k] = 2
if 0.3 < r: n += 1|d[int(r * 10)] = k|if s * 3 > 0.87: n += k|c[int(r) % len(c)] += 1|if x[k] < s: n += 3"""
ARGUMENTS = """

def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = [7, 0, 3, 9][seed % 4]
    x = (torch.rand(n, generator=g, dtype=torch.float64) * 9 + 1).to(torch.{x})
    y = (torch.rand(n, generator=g, dtype=torch.float64) * {scale}).to(torch.{y})
    ids = [(20000001, 7, 3000000007, 16777217, 2**53 + 1, 4, {few})[(seed + k) % {among}] for k in range(n)]
    return x, y, 0.29, 49.0, ids, {m}
"""


def kinds_source(rng):
    """The source of one program; ``rng``: Python's random numbers."""
    form = rng.choice(sorted(BOUND))
    lines = ["# precision: double", "import torch", "", "", "def program(x, y, z, w, ids, m):"]
    lines += ["    out, d, n = [], {}, 0", f"    c = torch.zeros(len(x) + 1, dtype=torch.{rng.choice(TYPES)})"]
    lines += [f"    s = {rng.choice(BEGINS)}"] * (form == "carried" or rng.random() < 0.2)
    lines += ["    for k in range(len(x)):"]
    text = BOUND[form].format(number=rng.choice(NUMBERS), flag=rng.choice(BOOLS))
    for _ in range(rng.choice((1, 1, 2))):
        made, used = (rng.choice(choices.replace("\n", "|").split("|")) for choices in (MADE, USED))
        text += f"        r = {made}\n        {used}\n"
    text += f"        {rng.choice(LATER)}\n" if form == "carried" else ""
    arguments = ARGUMENTS.format(
        x=rng.choice(TYPES[:6]),
        y=rng.choice(TYPES),
        scale=rng.choice((1, 9, 0.3)),
        few=rng.choice((0, -1, 300)),
        among=rng.choice((1, 2, 7)),
        m=rng.choice((3, 1000, 3 * 10**9, 10**10 + 7)),
    )
    return "\n".join(lines) + "\n" + text + "    return out, d, n, c\n" + arguments
