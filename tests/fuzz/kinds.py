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
)
BEGINS = [number for number in NUMBERS if "k" not in number]
BOUND = {
    "carried": "",
    "branch": "        if k % 3 == 0:\n            s = {number}\n        else:\n            s = y[k]\n",
    "clipped": "        s = y[k]\n        if s < {number}:\n            s = {number}\n",
    "greatest": "        s = max({number}, y[k])\n",
    "least": "        s = min(y[k], {number})\n",
}
LATER = (
    "s = y[k]",
    "if y[k] > 2:\n            s = y[k]",
    "s = max(s, y[k])",
    "s = s + y[k]",
    "s = s * 3",
    "s = s / x[k]",
)
MADE = """s + x[k]|x[k] - s|s * x[k]|x[k] / s|s / x[k]|s // x[k]|s % x[k]|s * 3|s * 100|-s|abs(s)|s ** 2|max(s, x[k])|s
min(x[k], s)|s + 0.1|s / 3|s // 2|s * s * s|1 - s|49 / s|(s + s)|s * 0.1 + 1|(k + 1) / x[k]|k / x[k]|z / x[k]"""
USED = """out.append(float(r))|out.append(int(r * 100))|c[k] = r|c[k] = r * 100|c[k] += r|n += int(r)
if r >= 1: n += 1|if r * 100 >= 29: n += 1|if r == s: n += 1|c[k] = s|if r > x[k]: c[k] = 2
if 0.3 < r: n += 1|d[int(r * 10)] = k|if s * 3 > 0.87: n += k|c[int(r) % len(c)] += 1|if x[k] < s: n += 3"""
ARGUMENTS = """

def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = [7, 0, 3, 9][seed % 4]
    x = (torch.rand(n, generator=g, dtype=torch.float64) * 9 + 1).to(torch.{x})
    y = (torch.rand(n, generator=g, dtype=torch.float64) * {scale}).to(torch.{y})
    return x, y, 0.29, 49.0
"""


def kinds_source(rng):
    """The source of one program; ``rng``: Python's random numbers."""
    form = rng.choice(sorted(BOUND))
    lines = ["# precision: double", "import torch", "", "", "def program(x, y, z, w):"]
    lines += ["    out, d, n = [], {}, 0", f"    c = torch.zeros(len(x) + 1, dtype=torch.{rng.choice(TYPES)})"]
    lines += [f"    s = {rng.choice(BEGINS)}"] * (form == "carried" or rng.random() < 0.2)
    lines += ["    for k in range(len(x)):"]
    text = BOUND[form].format(number=rng.choice(NUMBERS))
    for _ in range(rng.choice((1, 1, 2))):
        made, used = (rng.choice(choices.replace("\n", "|").split("|")) for choices in (MADE, USED))
        text += f"        r = {made}\n        {used}\n"
    text += f"        {rng.choice(LATER)}\n" if form == "carried" else ""
    arguments = ARGUMENTS.format(x=rng.choice(TYPES[:6]), y=rng.choice(TYPES), scale=rng.choice((1, 9, 0.3)))
    return "\n".join(lines) + "\n" + text + "    return out, d, n, c\n" + arguments
