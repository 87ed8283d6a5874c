"""Random programs over objects, made in front of loops or given, that remember numbers and tensors."""

# <f> an attribute, <a> a place that may be set, <v> a value, <o> an operator, <r> what a method returns
DEEP = {
    "a": "self.<f>|self.<f>|self.<f>|self.seen[<i>]",
    "f": "n|mean|last|best",
    "i": "0|-1|self.n % 2",
    "v": "x|x|x * 0.5|self.<f>|self.<f> * 0.5|(x - self.<f>)|(x + self.<f>) / 2|1.5|d|(1 - self.rate) * self.<f>|-x"
    "|self.seen[<i>]",
    "o": "+|+|-|*",
}
STATEMENTS = """<a> <o>= <v>|<a> <o>= <v>|<a> = <v>|<a> = <v>|d = <v>|self.n += 1|self.n += 1
<a> = self.<f>
self.seen.append(<v>)|if self.n > 2: <a> = <v>|if self.<f> > 0.5: <a> <o>= <v>
if self.last is None: self.last = <v>|self.last = x
self.mean += (x - self.mean) / (self.n + 1)|self.last = self.rate * self.mean + (1 - self.rate) * x|self.last = None
if x > self.best: self.best = x|self.other = self.last|return self.<f>|if self.n % 2: return <v>"""
CLASS = """class Meter{base}:
    def __init__(self, rate):
        super().__init__()
        self.rate = rate
        self.n, self.mean, self.last, self.best = {first}
        self.seen = [0.0, {seen}]

    def {name}(self, x):
        d = 0.25
{body}

    def total(self):
        return self.mean * 2


"""
STARTS = ("0, 0.0, None, -1e9", "0, 0.0, 0.0, 0.0", "0, 0, None, float('-inf')", "1, 1.0, 0.5, torch.zeros(())")
CALLS = {"__call__": "{m}({x})", "forward": "{m}({x})", "update": "{m}.update({x})"}
USES = """out.append({c})|{c}|{c}|y = {c}|if i % 2: {c}|{c}; out.append({m}.mean)|out.append({m}.total())|kept[i] = {c}
{m}.mean = x[i]|{m}.seen.append(x[i])|if {m}.n > 3: {c}|{m}.n += 1|h = {m}.last"""
ARGUMENTS = """

def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = [7, 2, 3, 9][seed % 4]
    x = torch.randn(n, {shape}generator=g, dtype=torch.float64).to(torch.{dtype})
    given = Meter(0.25 * (seed % 3))
    return {x_text}, given, [{first}, Meter(0.1)]
"""


def filled(rng, text, depth=0):
    while any(f"<{key}>" in text for key in DEEP):
        for key, choices in DEEP.items():
            simple = "x|1.5|d" if key == "v" and depth > 3 else choices
            text = text.replace(f"<{key}>", rng.choice(simple.split("|")), 1)
        depth += 1
    return text


def meters_source(rng):
    """The source of one program; ``rng``: Python's random numbers."""
    statements = STATEMENTS.replace("\n", "|").split("|")
    body = [filled(rng, rng.choice(statements)) for _ in range(rng.choice((1, 2, 3, 4)))]
    body.append(rng.choice(("return self.mean", "return x", "", "return d")))
    base, name = rng.choice((("", "__call__"), ("", "update"), ("(torch.nn.Module)", "forward")))
    text = "import torch\n\n\n" + CLASS.format(
        base=base,
        first=rng.choice(STARTS),
        seen=rng.choice(("1.0", "0", "torch.ones(())")),
        name=name,
        body="\n".join(f"        {line}" for line in body),
    )
    element = rng.choice(("x[i]", "x[i]", "x[i].item()", "x[i] * 2"))
    inner = "    m = Meter(0.9)\n    out, kept, y, h = [], {}, None, None\n    for i in range(len(x)):\n"
    for _ in range(rng.choice((1, 1, 2, 3))):
        meter = rng.choice(("m", "m", "m", "given", "pair[i % 2]"))
        call = CALLS[name].format(m=meter, x=element)
        inner += f"        {rng.choice(USES.replace(chr(10), '|').split('|')).format(c=call, m=meter)}\n"
    results = "out, kept, y, h, m.n, m.mean, m.last, m.best, m.seen"
    if rng.random() < 0.5:
        results = "[v * 1 for v in out], m.n, m.mean * 1, m.best * 1, given.mean * 1, y"
    text += f"def program(x, given, pair):\n{inner}    return {results}\n"
    shape = rng.choice(("", "", "", "3, "))
    return text + ARGUMENTS.format(
        shape=shape,
        dtype=rng.choice(("float32", "float64")),
        x_text=rng.choice(("x", "x", "x.requires_grad_()")),
        first=rng.choice(("Meter(0.5)", "Meter(0.5)", "given", "Meter(0.5) if seed % 2 else given")),
    )
