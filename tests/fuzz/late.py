"""Random loops that write into arrays of the caller, and of which an iteration may fail after others have written:
by an index out of range, a division by zero, an argument outside of a function's domain or an exception of their own.
"""

from __future__ import annotations

ARGUMENTS = """
def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = [7, 3, 8, 1][seed % 4]
    x, y = torch.randn(n, generator=g, dtype=torch.float64), torch.randn(5, generator=g, dtype=torch.float64)
    places, steps = torch.randint(0, 5, (n,), generator=g), torch.randint(1, 4, (n,), generator=g)
    if seed % 4 != 1:
        places[n // 2 + (seed % 2) * (n // 4)] = [0, 0, 9, -7][seed % 4]
        steps[n // 2] = [2, 1, 1, 0][seed % 4]
    one, two, m = (torch.randn(*s, generator=g, dtype=torch.float64) for s in ((9,), (18,), (9, 9)))
    CONVERTED
    return x, y, places, steps, one, two, m
"""
VALUES = (
    "x[i]", "x[i]", "x[i] * 2", "<r>", "<r>", "<r> + x[i]", "one[i]", "two[i] - x[i]", "m[i, i]", "float(i)", "<q>",
    "<d>(x[i]) + 1", "x[i] ** 2",
)  # fmt: skip
READS = ("y[places[i]]", "y[places[i]]", "y[places[i] - 1]", "x[steps[i] - 1]", "m[i, places[i]]", "y[i % 5]", "y[i]")
WHOLES = ("i // int(steps[i])", "12 % int(steps[i])", "i * int(steps[i])", "int(places[i])")
DOMAINS = ("abs", "float", "math.exp", "math.sqrt", "math.log")
STATEMENTS = (
    "one[i] = <v>", "one[i] = <v>", "one[i] += <v>", "two[i] = <v>", "two[2 * i] = <v>", "two[i + 1] += <v>",
    "m[i, i] = <v>", "m[i] = <v>", "m[i, 2] += <v>", "m[:, i] *= 0.5", "t = t + <v>", "t += <v>", "two[i] = one[i]",
    "one[places[i]] = <v>", "one[places[i]] += <v>", "two[i * step] += <v>", "found.append(<v>)", "k += <w>",
    "if <c>:\n    <s>", "if <c>:\n    <s>\nelse:\n    <s>", "for j in range(2):\n    m[i, j] = <v>",
    "if <b>:\n    raise ValueError(i)", "assert <b>", "t = <v>",
)  # fmt: skip
TESTS = ("x[i] > 0", "i % 2", "<r> > 0.5", "int(steps[i]) > 1")
NEVER = ("x[i] > 1.5", "i > 6", "int(steps[i]) == 0", "y[places[i]] > 3")
ROWS = ("one / 0.5", "<l>.exp(two * 0.1)", "m[0] * 2", "one + 1", "x - one[:len(x)]")
"""What may be computed of arrays that were written, of which only the size is asked before it is read."""
RESULTS = ("t", "t, k", "found", "one, t", "k", "None", "one.sum() + t", "y[places[0]]")


def late_source(rng):
    """A program of a few stores and reads, most of which no iteration fails in for the first arguments."""
    library = rng.choice(("torch", "torch", "np"))
    options = {
        "<v>": VALUES, "<r>": READS, "<q>": ("<w> * 0.5",), "<w>": WHOLES, "<d>": DOMAINS, "<c>": TESTS, "<b>": NEVER,
        "<s>": STATEMENTS[:14], "<l>": (library,),
    }  # fmt: skip

    def text(form):
        while any(mark in form for mark in options):
            for mark, choices in options.items():
                while mark in form:
                    form = form.replace(mark, rng.choice(choices), 1)
        return form.splitlines()

    body = [line for _ in range(rng.randint(2, 4)) for line in text(rng.choice(STATEMENTS))]
    lines = ["t, k, found, step = 0.0, 0, [], 2", "for i in range(len(x)):", *("    " + line for line in body)]
    if rng.random() < 0.15:
        lines = [lines[0], "for _ in range(2):", *("    " + line for line in lines[1:])]
    if rng.random() < 0.3:
        lines += [
            f"rows = {text(rng.choice(ROWS))[0]}",
            "for j in range(rows.shape[0]):",
            "    t = t + rows[j] * m[0, j]",
        ]
    lines += [f"return {text(rng.choice(RESULTS))[0]}"]
    names = "x, y, places, steps, one, two, m"
    converted = f"{names} = (one.numpy() for one in ({names}))" if library == "np" else "pass"
    head = ["# precision: double", "import math", "import numpy as np", "import torch", "", ""]
    program = [f"def program({names}):", *("    " + line for line in lines), ""]
    return "\n".join([*head, *program]) + ARGUMENTS.replace("CONVERTED", converted)
