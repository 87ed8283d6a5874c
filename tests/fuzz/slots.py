"""Random programs over places that hold numbers at first and tensors later, some of them under several names."""

START = """    acc, d, seen, out = [0.0, 1, x[0] * 1], {}, [], []
    t, m = x[1] * 1, 0.5
    b, c = Both(0.0), Both(t)
"""
# <p> a place, <j> a key, <v> a value, <o> an operator
DEEP = {
    "p": "acc[<j>]|acc[<j>]|acc[<j>]|b.first|b.second|c.first|c.second|m|t|d[<j>]|d[<j>]|lists[<j>]",
    "j": "i % 3|i % 2|0|1|-1|2|k|k",
    "v": "x[i]|x[i]|y[i]|1.5|2|x[i] * 2|(x[i] * y[i])|<p>|(<p> * 0.5)|x[i].item()|(<p> + x[i])|m|t|(x[i] - <p>)",
    "o": "+|+|+|-|*",
}
STATEMENTS = """<p> <o>= <v>|<p> <o>= <v>|<p> <o>= <v>|<p> <o>= <v>|<p> = <v>|<p> = t|<p> = <p>|seen.append(<p>)|m = <p>
b = Both(<v>)|out.append(<v>)|if k not in d: d[k] = 0.0|if k not in d: d[k] = <v>|if <p> > 0.5: <p> <o>= <v>
d[k] = d.get(k, 0.0) + <v>
acc.append(<v>)|if i % 2: <p> <o>= <v>|for j in range(2): acc[j] <o>= <v>|c = b|d.setdefault(k, 0)|<p> <o>= <v>"""
CLASS = """class Both:
    def __init__(self, first):
        self.first = first
        self.second = first


"""
ARGUMENTS = """

def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = [7, 2, 3, 9][seed % 4]
    x = torch.randn(n, {shape}generator=g, dtype=torch.float64).to(torch.{x})
    y = torch.randn(n, {shape}generator=g, dtype=torch.float64).to(torch.{y})
    return {x_text}, y, [i * 7 % 3 for i in range(n)], [0.5, torch.ones(()), 2]
"""


def filled(rng, text, depth=0):
    while "<" in text and any(f"<{key}>" in text for key in DEEP):
        for key, choices in DEEP.items():
            simple = "x[i]|1.5|m" if key == "v" and depth > 3 else choices
            text = text.replace(f"<{key}>", rng.choice(simple.split("|")), 1)
        depth += 1
    return text


def slots_source(rng):
    """The source of one program; ``rng``: Python's random numbers."""
    body = [filled(rng, rng.choice(STATEMENTS.replace("\n", "|").split("|"))) for _ in range(rng.choice((2, 3, 4, 6)))]
    start = START + "    d = {k: 0.0 for k in range(3)}\n" * (rng.random() < 0.6)
    start += f"    for i in range({rng.choice(('len(x)', 'len(x)', 'len(x) - 1'))}):\n        k = keys[i]\n"
    inner = start + "".join(f"        {line}\n" for line in body)
    if rng.random() < 0.7:
        inner = inner.replace("lists[", "acc[")
    results = "acc, d, seen, out, t, m, b.first, b.second, c.first, c.second"
    if rng.random() < 0.7:  # values alone, that no two names share
        results = "".join(f"[v * 1 for v in {name}], " for name in ("acc", "d.values()", "seen", "out"))
        results += "t * 1, m * 1, b.first * 1, b.second * 1, c.first * 1, c.second * 1"
    if rng.random() < 0.8:  # what is made in a loop is nobody's
        inner = "    found = []\n    for r in range(2):\n" + "".join(f"    {line}\n" for line in inner.splitlines())
        inner, results = f"{inner}        found.append(({results}))\n", "found"
    text = f"import torch\n\n\n{CLASS}def program(x, y, keys, lists):\n{inner}    return {results}\n"
    plain = rng.choice(("float64", "float64", "float32"))
    x_text = "x.requires_grad_()" if rng.random() < 0.25 else "x"
    shape = "" if rng.random() < 0.85 else "2, "
    other = rng.choice((plain, plain, "float32"))
    return text + ARGUMENTS.format(x=plain, y=other, x_text=x_text, shape=shape)
