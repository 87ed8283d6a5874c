"""Random programs over objects that iterations make for themselves, bound to several names, rebound and changed."""

# <p> a name of an object, <q> what an object is, <f> an attribute, <v> a value, <t> a test
CHOICES = {
    "q": "<p>|<p>|<p>|Box(<v>)|Box(<v>, <v>)|Box.of(<v>)|(<p> if <t> else <p>)|<p>.mixed(<p>)|(<p> + <v>)",
    "t": "k % 2|<v> > 0.25|<p> is <p>|<p> is not b|<p>.n > 1|x[i, k] > 0",
    "v": "x[i, k]|x[i, k] * 0.5|<p>.<f>|<p>.<f> * 0.5|<p>.twice|<p>.peek(<p>)|1.5|float(k)|(<p>.<f> + x[i, k])"
    "|-x[i, 0]",
    "p": "a|a|b|b|c",
    "f": "x|x|y|n",
    "g": "x|y",
}
STATEMENTS = """<p>.<g> = <v>|<p>.<g> = <v>|<p>.<g> += <v>|<p>.<g> *= 0.5|<p>.n += 1|<p>.put(<v>)|<p>.put(<v>)
<p>.take(<p>)|a = <q>|b = <q>|c = <q>|a, b = b, a|a, c = c, <q>|c = a = <q>|if <t>: <p>.<g> = <v>|if <t>: a = <q>
if <t>: b, c = <p>, <p>|old = <p>.<g>; <p>.<g> = <v>; out.append(<p>.<g> * 1.0); <p>.<g> = old
out.append(<v> * 1.0)|out.append(<p>.<g> * 1.0)
hits += <p> is <p>|if <t>: continue|if <p>.n > 3: break|for k in range(2): <p>.put(<v>)|<p>.<f> += 1|seen.append(<p>.n)
<p>.log.append(<v> * 1.0)|if len(<p>.log) > 1: out.append(<p>.log[-1])|hits += isinstance(<p>, Box)"""
CLASS = """class Base:
    RATE = 0.25

    @property
    def twice(self):
        return self.x * 2

    def peek(self, other):
        {peek}


class Box(Base):
    def __init__(self, x, y={default}):
        {first}
        self.y = y
        self.n = 0
        self.log = []

    @classmethod
    def of(cls, x):
        return cls(x * 2, x)

    def put(self, v):
        {put}
        self.n += 1

    def take(self, other):
        {take}

    def mixed(self, other):
        return Box(self.x + other.x, other.y)

    def __add__(self, v):
        return Box(self.x + v, self.y)
"""
STARTS = (
    "Box(x[i, 0]), Box(0.5), Box(x[i, 0] * 2, 2.0)",
    "Box(0.0), Box(1.0), Box(2.0)",
    "Box(x[i, 0], x[i, 0]), Box(-x[i, 0]), Box(x[i, 0])",
)
ARGUMENTS = """

def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n, m = [(3, 4), (1, 2), (0, 3), (5, 1)][seed % 4]
    x = torch.randn(n, m, {more}generator=g, dtype=torch.float64)
    return ({x_text},)
"""


def filled(rng, text, depth=0):
    """A statement with all holes filled."""
    while any(f"<{key}>" in text for key in CHOICES):
        for key, choices in CHOICES.items():
            simple = {"v": "x[i, k]|1.5", "q": "a|b", "t": "k % 2"}.get(key, choices) if depth > 3 else choices
            text = text.replace(f"<{key}>", rng.choice(simple.split("|")), 1)
        depth += 1
    return text


def boxes_source(rng):
    """The source of one program; ``rng``: Python's random numbers."""
    statements = STATEMENTS.replace("\n", "|").split("|")
    lines = [filled(rng, rng.choice(statements)) for _ in range(rng.choice((2, 3, 4, 5)))]
    kind = CLASS.format(
        default=rng.choice(("0.5", "1.0", "-2.0")),
        first=rng.choice(("self.x = x", "self.x = x + 0.0", "super().__init__(); self.x = x")),
        put=rng.choice(
            ("self.x = self.x * 0.5 + v", "self.y = v", "self.x, self.y = self.y, v", "self.x = v + self.RATE")
        ),
        take=rng.choice(
            ("self.x = other.x", "other.y, self.y = self.x, other.x", "other.put(self.x)", "self.y += other.y")
        ),
        peek=rng.choice(("return other.x", "return self.x - other.y", "return self.x if self is other else other.y")),
    )
    body = "\n".join(f"            {line}" for line in lines)
    start = rng.choice(STARTS)
    inner = rng.choice(
        ("for k in range(x.shape[1]):", "for k in range(x.shape[1]):", "for k in range(min(i + 1, x.shape[1])):")
    )
    ends = rng.choice(
        ("out.append(a.x * 1.0); out.append(b.y * 1.0)", "out.append(a.x + b.x + c.y)", "last = a.x; seen.append(b.n)")
    )
    text = f"""import torch


{kind}

def program(x):
    out, seen, hits, last = [], [], 0, None
    for i in range(x.shape[0]):
        a, b, c = {start}
        old = 0.0
        {inner}
{body}
        {ends}
    return [v * 1 for v in out], seen, hits, last
"""
    more = rng.choice(("", "", "", "2, "))
    return text + ARGUMENTS.format(more=more, x_text=rng.choice(("x", "x", "x.requires_grad_()", "x.numpy()")))
