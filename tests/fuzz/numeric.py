"""Random loops over numbers of mixed types, with NaN, infinities, ties and the largest integers; some raise."""

from __future__ import annotations

import re

ARGUMENTS = """
def arguments(seed):
    g = np.random.RandomState(seed)
    n = SIZES_OF[seed % 4]
    special = SPECIAL
    def numbers(count, kind):
        if kind.startswith("float") or kind == "bfloat16":
            one = g.randn(count).round(1 if seed % 2 else 6)
            for k in range(count):
                if special and g.rand() < 0.25:
                    one[k] = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, 0.5)[g.randint(7)]
            return torch.from_numpy(one).to(getattr(torch, kind))
        if kind == "bool":
            return torch.from_numpy(g.rand(count) < 0.5)
        low, high = torch.iinfo(getattr(torch, kind)).min, torch.iinfo(getattr(torch, kind)).max
        one = [int(g.randint(0 if low == 0 else -4, 6)) for _ in range(count)]
        for k in range(count):
            if special and g.rand() < 0.2:
                one[k] = (low, high, high - 1, low + 1, 0)[g.randint(5)]
        return torch.tensor(one, dtype=getattr(torch, kind))
    x, y, k = numbers(n, "KIND_X"), numbers(n, "KIND_Y"), numbers(n, "KIND_K")
    m = numbers(3 * n, "KIND_X").reshape(n, 3)
    w = numbers(4, "KIND_Y")
    TAKEN
    return x, y, k, m, w, SCALAR_P, SCALAR_Q
"""
FLOATS = ("float64", "float64", "float32", "float16", "bfloat16")
INTEGERS = ("int64", "int64", "int32", "int16", "int8", "uint8", "bool")

# <e> any number, <c> a condition, <i> an index, <n> a Python number, <l> a whole row
LEAVES = ["x[i]", "x[i]", "y[i]", "k[i]", "m[i, 1]", "m[i][2]", "w[0]", "w[-1]", "i", "p", "q", "acc", "best", "count"]
NUMBERS = ["0", "1", "2", "-1", "3", "0.5", "-2.5", "0.0", "True", "1.0", "255", "100", "-7"]
FORMS = """<e> + <e>|<e> - <e>|<e> * <e>|<e> / <e>|<e> // <e>|<e> % <e>|-<e>|abs(<e>)|<e> ** 2|<e> ** 0.5|2 ** <e>
<e> + <n>
<n> - <e>|<e> * <n>|<e> / <n>|<e> // <n>|<e> % <n>|<n> // <e>|<n> % <e>|<n> / <e>
min(<e>, <e>)|max(<e>, <e>)|max(<e>, <n>)|min(<n>, <e>)|max(<e>, <e>, <n>)|int(<e>)|float(<e>)|round(<e>)|bool(<e>)
(<e> if <c> else <e>)|(<e> if <c> else <n>)|(<c>)|(<c>) + <e>|(<c>) * <e>|<e> >> 1|<e> << 2|<e> & <e>|<e> || <n>
<e> ^ <e>|~<e>
<e>.item()|divmod(<e>, <n>)[0]|divmod(<e>, <n>)[1]|(<e> and <e>)|(<e> or <n>)|(not <e>)|sum([<e>, <e>])|int(<e> > <n>)
round(float(<e>), 1)|math.floor(<e>)|math.sqrt(<e>)|math.ceil(<n> * i)|round(<e>, 2)|round(float(<e>), ndigits=3)"""
TORCH = """torch.maximum(x[i], y[i])|torch.minimum(x[i], x[0])|m[i].max()|m[i].min()|m[i].sum()|m[i].argmax()
m[i].argmin()|m[i].prod()
torch.where(<c>, x[i], y[i])|torch.sqrt(<t>)|torch.log(<t>)|torch.exp(<t>)|torch.abs(<t>)|torch.sign(<t>)
torch.clamp(<t>, 0, 1)
torch.clamp(<t>, min=<n>)|torch.floor(<t>)|torch.round(<t>)|torch.isnan(<t>)|torch.isfinite(<t>)|x[:i].sum()
x[i:].max()|x[:i].any()|x[i:].all()
<t>.float()|<t>.double()|<t>.int()|<t>.long()|<t>.bool()|<t>.to(torch.uint8)|<t>.to(torch.int16)|torch.fmod(<t>, 3)
torch.remainder(<t>, -3)
m[i].mean()|m[i].std()|m[i].sort()[0][1]|m[i].argsort()[0]|m[i].cumsum(0)[1]|m[i].norm()|torch.relu(<t>)
torch.tensor(<n>) + <e>
torch.floor_divide(<t>, 2)|torch.div(<t>, 3, rounding_mode='trunc')|torch.div(<t>, 2, rounding_mode='floor')
m[i].median()|m[i].amax()
torch.logical_not(<t>)|torch.fmax(x[i], y[i])|torch.atan2(<t>, <t>)|torch.pow(<t>, 2)|torch.pow(2, <t>)
torch.zeros(()) + <e>|<t>.clamp(max=2)|torch.count_nonzero(m[i])|m[i].any()|m[i].all()|torch.sigmoid(<t>)
torch.nan_to_num(<t>)|torch.reciprocal(<t>)|torch.square(<t>)|torch.eq(<t>, <t>)|torch.lt(<t>, <n>)
torch.sum(m[i] * w[:3])|torch.dot(m[i], m[0])|torch.sum(m[i] > 0)|torch.heaviside(x[i], x[0])
torch.copysign(<t>, y[i])|torch.hypot(x[i], x[0])|torch.trunc(<t>)|torch.frac(<t>)|torch.log1p(<t>)|torch.rsqrt(<t>)
torch.bitwise_and(<t>, 3)|torch.full((), <n>) * <e>|torch.logical_and(<t>, <t>)|torch.max(x[:i + 1])|torch.argmax(x)
torch.nonzero(m[i]).shape[0]|x[i:i].sum()|x[i:i].prod()|np.sign(<t>)|np.isnan(<t>)|np.sqrt(<t>)
np.maximum(x[i], y[i])"""
NUMPY = """np.maximum(x[i], y[i])|np.minimum(x[i], x[0])|m[i].max()|m[i].min()|m[i].sum()|m[i].argmax()|m[i].argmin()
m[i].prod()
np.where(<c>, x[i], y[i])|np.sqrt(<t>)|np.log(<t>)|np.exp(<t>)|np.abs(<t>)|np.sign(<t>)|np.clip(<t>, 0, 1)
np.floor(<t>)|np.round(<t>)|np.isnan(<t>)|np.isfinite(<t>)|x[:i].sum()|x[i:].max()|x[:i].any()|x[i:].all()
np.float32(<e>)|np.float64(<e>)|np.int32(<e>)|np.int64(<e>)|np.uint8(<n>) + <e>|np.int8(<n>)|np.fmod(<t>, 3)
np.remainder(<t>, -3)|np.bool_(<e>)
m[i].mean()|m[i].std()|np.sort(m[i])[1]|m[i].argsort()[0]|m[i].cumsum()[1]|np.linalg.norm(m[i])|np.float64(<n>) * <e>
np.int64(<n>) + <e>
np.floor_divide(<t>, 2)|np.median(m[i])|np.logical_not(<t>)|np.fmax(x[i], y[i])|np.fmin(x[i], y[i])
np.arctan2(<t>, <t>)|np.power(<t>, 2)|np.power(2, <t>)|np.count_nonzero(m[i])|m[i].any()|m[i].all()
np.nan_to_num(<t>)|np.reciprocal(<t>)|np.square(<t>)|np.equal(<t>, <t>)|np.sum(m[i] * w[:3])|np.dot(m[i], m[0])
np.sum(m[i] > 0)|np.heaviside(x[i], x[0])|np.copysign(<t>, y[i])|np.hypot(x[i], x[0])|np.trunc(<t>)|np.log1p(<t>)
np.bitwise_and(<t>, 3)|np.logical_and(<t>, <t>)|np.max(x[:i + 1])|np.argmax(x)|x[i].astype(np.int32)
x[i].astype(np.float32)|x[i:i].sum()|x[i:i].prod()|np.add(x[i], <n>)|np.float32(<n>) * x[i]|np.sign(x[i]) * y[i]
np.rint(<t>)"""
CONDITIONS = """<e> > <e>|<e> < <n>|<e> == <e>|<e> != <e>|<n> < <e> <= <n>|<e> >= <e>|not <e> > <n>
<e> > <n> and <e> < <e>|<e> < <n> or <e> > <e>
<e>|i % 2 == 0|best is None|best is not None and <e> > best|<e> == <n>|<e> != <e>|<e> in (0, 1, <n>)|0 < <e> < <e>
(<e> > 0) == (<e> > 0)|i > 1"""
INDICES = [
    "i",
    "i",
    "i",
    "i - 1",
    "-i - 1",
    "n - 1 - i",
    "i // 2",
    "(i + 1) % n",
    "int(k[i]) % n",
    "k[i]",
    "i + 1",
    "-1",
]
STATEMENTS = """acc = acc + <e>|acc += <e>|acc = max(acc, <e>)|acc = min(acc, <e>)|acc *= <e>|acc = <e>|count += 1
count += <c>
out[<i>] = <e>|out[<i>] += <e>|out[i] = <e>|out[i] = <e>|found.append(<e>)|found.append(<e>)|res.append((<e>, <n>))
if <c>: <s>|if <c>: <s>|if <c>: best = <e>|if best is None or <e> > best: best = <e>|if <c>: count += 1|best = <e>
if <c>: continue|if <c>: break|t = <e>; <s>|t = x[<i>]; <s>|acc -= <n>|assert <c>, 'wrong'
if <c>: raise ValueError('at', i)
acc = acc * 2 + <e>|count = count * 3 + <e>|best = acc|out[i], acc = acc, <e>|x[i] = <e>|x[<i>] = x[i]
ints[i] = <e>|ints[<i>] += <e>|flags[i] = <c>|flags[i] = <e>|ints[i] += <c>|acc = acc + x[<i>]|acc //= <n>|acc %= 7
count -= 1; <s>
acc = -acc|out[i] = x[i]; out[i] //= <n>|ints[i] = k[i]; ints[i] *= 3|ints[i] = ints[i - 1] * 3 + k[i]
out[i] = out[i - 1] + <e>"""
HEADS = ["for i in range(n):"] * 5 + [
    "for i in range(n - 1, -1, -1):", "for i in range(1, n):", "for i in range(n + 1):", "for i in range(0, n, 2):",
]  # fmt: skip


def split(text):
    return [one.replace("\0", "|") for line in text.replace("||", "\0").splitlines() for one in line.split("|")]


BITS = (">>", "<<", "&", " | ", "^", "~", "bitwise")
MAPS = """out[i] = <e>|out[i] = <e>|found.append(<e>)|found.append(<e>)|found.append((<e>, <n>))|if <c>: <s>
t = <e>; found.append(t + <n>)
if <c>: continue|t = x[i]; t = t + <e> if <c> else t; found.append(t)|out[i] += <e>|if <c>: raise ValueError('at', i)
assert <c>, 'wrong'|if <c>: found.append(<e>)|res.append(<e> if <c> else <e>)|out[n - 1 - i] = <e>
found.append(x[<i>])|res.append(<c>)|t = x[i] * 1; t += <e>; found.append(t)
t = y[i] + 0; t += x[<i>]; t -= <e>; found.append(t)|t = x[i] * 1; t *= <e>; found.append(t)"""


class _Writer:
    def __init__(self, rng, library, bits, maps):
        self.rng, self.library = rng, library
        forms, own = split(FORMS), split(TORCH if library == "torch" else NUMPY)
        if not bits:
            forms, own = ([one for one in kind if not any(b in one for b in BITS)] for kind in (forms, own))
        self.forms = rng.sample(forms, 6) + rng.sample(own, 5)
        self.conditions, self.statements = split(CONDITIONS), split(MAPS if maps else STATEMENTS)
        leaves = [one for one in LEAVES if not maps or one not in ("acc", "best", "count")]
        self.leaves = rng.sample(leaves, 4) + ["x[i]", "y[i]"]
        if maps:
            self.conditions = [one for one in self.conditions if "best" not in one]

    def filled(self, text, depth):
        return re.sub("<(.)>", lambda found: self.value(found[1], depth), text)

    def value(self, kind, depth):
        rng = self.rng
        if kind == "n":
            return rng.choice(NUMBERS)
        if kind == "i":
            return rng.choice(INDICES)
        if kind == "c":
            return self.filled(rng.choice(self.conditions), depth - 1)
        if kind == "t":
            return rng.choice(("x[i]", "x[i]", "y[i]", "k[i]", "m[i, 0]", "x[i] - y[i]", "w[1]"))
        if kind == "s":
            return self.filled(rng.choice([s for s in self.statements if "<s>" not in s and not s.startswith("if")]), 1)
        if depth <= 0 or rng.random() < 0.35:
            return rng.choice(self.leaves)
        text = self.filled(rng.choice(self.forms), depth - 1)
        return text if text.endswith(")") and text.startswith("(") else f"({text})"

    def lines(self):
        found = []
        for _ in range(self.rng.choice((1, 1, 2, 2, 3))):
            text = self.filled(self.rng.choice(self.statements), 2)
            if self.rng.random() < 0.12:
                found += ["for j in range(3):", f"    {text.replace('[i, 1]', '[i, j]').replace('[i][2]', '[i][j]')}"]
            elif self.rng.random() < 0.06:
                found += [
                    "j = 0",
                    f"while j < i % 4 or {self.filled('<c>', 1)}:",
                    "    j += 1",
                    "    if j > 5: break",
                    f"    {text}",
                ]
            else:
                found.append(text)
        return found


def numeric_source(rng):
    """A program over arrays of two types, integers, a matrix, and two numbers of any type."""
    library = rng.choice(("torch", "np"))
    floats = [kind for kind in FLOATS if library == "torch" or kind != "bfloat16"]
    kind_x, kind_y = rng.choice(floats if rng.random() < 0.65 else INTEGERS), rng.choice(floats + list(INTEGERS))
    whole = {kind_x, kind_y} <= set(INTEGERS)
    maps = rng.random() < 0.6
    writer = _Writer(rng, library, whole, maps)
    kinds = [kind_x] * 3 + (floats if not whole else floats + list(INTEGERS))
    made, wide = (f"dtype={library}.{rng.choice(of)}" for of in (kinds, INTEGERS))
    torch_starts = ("0", "0.0", "False", "1", "x.sum()", "torch.zeros(())", "2**62", "p", "w[0]")
    numpy_starts = ("0", "0.0", "False", "1", "x.sum()", "np.float32(0)", "2**62", "p", "w[0]", "np.zeros(())")
    body = [rng.choice(HEADS), *("    " + line for line in writer.lines())]
    if rng.random() < 0.2:
        body += ["for i in range(n):", *("    " + line for line in writer.lines())]
    starts = {
        "acc": rng.choice(torch_starts if library == "torch" else numpy_starts),
        "best": rng.choice(("None", "0", "-1e9", "math.inf", "x[0]")), "count": "0", "found": "[]", "res": "[]",
        "t": "0", "out": f"{library}.zeros(n, {made})", "ints": f"{library}.zeros(n, {wide})",
        "flags": f"{library}.zeros(n, dtype={'torch.bool' if library == 'torch' else 'np.bool_'})",
    }  # fmt: skip
    used = [name for name in starts if re.search(rf"\b{name}\b", "\n".join(body))]
    lines = ["n = len(x)", *(f"{name} = {starts[name]}" for name in used), *body, f"return {', '.join(used) or 'None'}"]
    taken = "pass" if library == "torch" else "x, y, k, m, w = (one.numpy() for one in (x, y, k, m, w))"
    if library == "torch" and rng.random() < 0.4 and kind_x in floats:
        taken = "x.requires_grad_(); w = w.requires_grad_() if w.is_floating_point() else w"
    scalars = ["2", "1.5", "True", "0", "float('nan')", "x[:1].sum()", "n", "-3", "2**40"]
    scalars += ["torch.tensor(2)", "torch.tensor(1.5)", "torch.tensor([2.0])"] if library == "torch" else [
        "np.float32(1.5)", "np.int64(3)", "np.float64(0.5)", "np.uint8(200)", "np.bool_(True)", "np.array([1.0])"
    ]  # fmt: skip
    text = ARGUMENTS
    for old, new in (
        ("SIZES_OF", rng.choice(("[7, 4, 1, 0]", "[5, 2, 3, 6]"))),
        ("SPECIAL", rng.choice(("True", "False", "seed % 2 == 1"))),
        ("KIND_X", kind_x), ("KIND_Y", kind_y), ("KIND_K", rng.choice(INTEGERS)), ("TAKEN", taken),
        ("SCALAR_P", rng.choice(scalars)), ("SCALAR_Q", rng.choice(scalars)),
    ):  # fmt: skip
        text = text.replace(old, new)
    head = ["import math", "import numpy as np", "import torch", "", "", "def program(x, y, k, m, w, p, q):"]
    return "\n".join([*head, *("    " + line for line in lines), ""]) + text
