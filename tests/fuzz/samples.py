"""Random loops over samples of any length: states that steps put into lists, neighbours in lists of lists, sums in
lists of tensors that edges add to, and lists of numbers in some other order; some samples, lists of neighbours or edges
are empty."""

from __future__ import annotations

import re

ARGUMENTS = """
def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    number = lambda low, high: int(torch.randint(low, high, (), generator=g))
    sizes = [[3, 1, 4], [2, 2], [5, LEAST, 2, 1], []][seed % 4]
    x = [torch.randn(n, 3, generator=g).requires_grad_(seed in ASKING) for n in sizes]
    near = [[[number(BELOW, n) for _ in range(number(0, 4))] for _ in range(n)] for n in sizes]
    edges = [[(number(0, n), number(BELOW, n)) for _ in range(number(MOST, 5) if n else 0)] for n in sizes]
    if seed == 5 and x:
        near[0] = BAD
    w, u = torch.randn(3, generator=g), torch.randn(3, 3, generator=g)
    return x, near, edges, w.requires_grad_(seed != 1), u.requires_grad_(seed == 2)
"""
BAD = ("[[9], [], [0]]", "[[0]]", "[[], [], [], []]", "[[0, 0], [None], [1]]")
ROW = """torch.tanh(<r> + w)|<r> * w|(u @ <r>)|<r> + <r>|<r> - 0.5|torch.maximum(<r>, w)|<r>.detach() + w
(<r> if <c> else <r>)|torch.where(<r> > 0, <r>, w)|torch.sin(<r>)"""
STEPS = """h = torch.tanh(<r> + h * w)|h = <r>|h = h + <r>|if <c>: h = <r>|h = torch.sin(h) + <r>"""
KEPT = """kept.append(h)|kept.append(h)|kept.append(<r>)|kept.append(h * <r>)|kept.insert(0, h)|if <c>: kept.append(h)
kept.append(torch.cat([h, <r>])[:3])"""
ENDS = """torch.stack(kept).mean(0)|torch.stack(kept)[-1]|torch.stack(kept).amax(0)|kept[-1] + kept[0]|sum(kept)
torch.stack(kept[::-1]).sum(0)|torch.stack([k * w for k in kept]).sum(0)
(torch.stack(kept) * torch.softmax(torch.stack([(k * w).sum() for k in kept]), 0)[:, None]).sum(0)
torch.stack(kept)|torch.stack([a * b for a, b in zip(kept, kept[::-1])]).sum(0)"""
POOLS = """torch.stack(messages).mean(0) if messages else torch.zeros(3)|sum(messages, torch.zeros(3))
torch.stack(messages).amax(0) if len(messages) > 0 else rows[v]|torch.stack([rows[v], *messages]).sum(0)"""
JOINS = """torch.tanh(rows + sums * w)|torch.cat([rows, sums], 1)[:, :3] * w
torch.stack([rows[v] * sums[v] for v in range(rows.shape[0])])
torch.cat([rows * w, torch.sin(sums)], 1)[:, 1:4]"""
RESULTS = ("out", "torch.stack(out)", "out[-1]", "out[0] * 2", "len(out)", "sum(one.sum() for one in out)")

STATES = """
    for rows in x:
        h, kept = START, []
        for t in range(rows.shape[0]):
            <step>
            <kept>
        out.append(<end>)"""
FIRSTS = """
    for rows, lists in zip(x, near):
        for v, row in enumerate(lists):
            best = None
            for k in row:
                r = <row>
                best = r if best is None else <better>
            out.append(best if best is not None else NOTHING)"""
NEIGHBOURS = """
    for rows, lists in zip(x, near):
        found = []
        for v in range(rows.shape[0]):
            messages = [<row> for k in lists[v]]
            found.append(<pool>)
        out.append(torch.stack(found).sum(0))"""
SUMS = """
    for rows, pairs in zip(x, edges):
        sums = MADE
        for s, t in pairs:
            sums[t] = sums[t] + <row>
        sums = STACKED
        out.append((<join>).sum(0))"""

NUMBERS = """
    for rows, lists in zip(x, near):
        <made>
        <turned>
        for row, value in zip(rows, values):
            <used>"""
MADE = """values = [<n> for one in lists]
values = []\n        for one in lists: values.append(<n>)
values = []\n        for one in lists: values.insert(0, <n>)
values, run = [], 0.0\n        for one in lists:\n            run = <n> + 0.5 * run\n            values.append(run)
values = []\n        for one in rows: values.append(one[0].item() * 0.5)"""
TURNED = """values.reverse()|values = values[::-1]|values = list(reversed(values))|values = sorted(values)
values = values[1:]|pass"""
USED = """out.append(<r>.sum() - value)|out.append(<r> * value)|out.append(torch.sin(<r>[0]) + value)
out.append(value + <r>[1] * value)
if value > 1: out.append(<r>.sum() * value)"""


class _Writer:
    def __init__(self, rng):
        self.rng = rng

    def one(self, text):
        return self.rng.choice(re.split(r"[|\n]", text))

    def filled(self, text, rows, conditions, depth=2):
        """The text with rows of three numbers and conditions at its places."""
        while (found := re.search(r"<([rc])>", text)) is not None:
            made = self.rng.choice(conditions) if found[1] == "c" else self.rng.choice(rows)
            if found[1] == "r" and depth and self.rng.random() < 0.4:
                made = f"({self.filled(self.one(ROW), rows, conditions, depth - 1)})"
            text = text[: found.start()] + made + text[found.end() :]
        return text

    def states(self):
        rows, conditions = ["rows[t]", "w", "rows[0]"], ["t > 1", "t % 2 == 0", "rows[t, 0] > 0", "t + 1 < len(rows)"]
        parts = {"<step>": STEPS, "<kept>": KEPT, "<end>": ENDS}
        start = self.rng.choice(("torch.zeros(3)", "torch.zeros(3)", "w * 1", "torch.ones(3)"))
        return self.written(STATES.replace("START", start), parts, rows, conditions)

    def firsts(self):
        better = "torch.maximum(best, r)|best + r|torch.minimum(best, r * 2)|torch.tanh(best * r)"
        nothing = self.rng.choice(("torch.zeros(3)", "w", "rows[v]", "torch.full((3,), -1.0)"))
        parts = {"<row>": ROW, "<better>": better}
        return self.written(FIRSTS.replace("NOTHING", nothing), parts, ["rows[k]", "w"], ["k > 0", "v > 0"])

    def neighbours(self):
        return self.written(
            NEIGHBOURS, {"<row>": ROW, "<pool>": POOLS}, ["rows[k]", "rows[v]", "w"], ["k > 0", "v > 1"]
        )

    def sums(self):
        lists = self.rng.random() < 0.6
        made = "[torch.zeros(3) for _ in range(rows.shape[0])]" if lists else "torch.zeros_like(rows)"
        text = SUMS.replace("MADE", made).replace("STACKED", "torch.stack(sums)" if lists else "sums")
        return self.written(text, {"<row>": ROW, "<join>": JOINS}, ["rows[s]", "rows[t]", "w"], ["s > t", "s > 0"])

    def numbers(self):
        made = self.rng.choice(re.split(r"\n(?=values)", MADE))
        made = made.replace("<n>", self.one("len(one) * 0.5|len(one)|len(one) * 2 - 1|float(len(one))"))
        text = NUMBERS.replace("<made>", made.replace("\\n", "\n"))
        return self.written(text, {"<turned>": TURNED, "<used>": USED}, ["row", "row * w"], ["value > 1"])

    def written(self, text, parts, rows, conditions):
        for place, choices in parts.items():
            text = text.replace(place, self.filled(self.one(choices), rows, conditions))
        return text


def samples_source(rng):
    """The source of one program; ``rng``: Python's random numbers."""
    writer = _Writer(rng)
    body = rng.choice((writer.states, writer.states, writer.firsts, writer.neighbours, writer.sums, writer.numbers))()
    choices = {
        "BAD": rng.choice(BAD), "LEAST": rng.choice("110"), "BELOW": rng.choice(("0", "0", "-n")),
        "MOST": rng.choice("01"), "ASKING": rng.choice(("()", "(0, 2)", "(0, 1, 2, 3, 4, 5)")),
    }  # fmt: skip
    arguments = ARGUMENTS
    for name, value in choices.items():
        arguments = arguments.replace(name, value)
    head = f"import torch\n\n\ndef program(x, near, edges, w, u):\n    out = []{body}\n"
    return f"{head}    return {rng.choice(RESULTS)}\n\n{arguments}"
