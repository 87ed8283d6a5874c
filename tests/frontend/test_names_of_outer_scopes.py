"""Locals that are not bound yet, with globals and builtins of their names; tuples of tuples that loops make deeper."""

from __future__ import annotations

import pytest
from tests.fuzz.differential import difference

BODIES = """t = t + x[i] * scale; if x[i] > 5: scale = 3.0
t = t + abs(x[i]); if x[i] > 5: abs = 3.0
t = t + x[i] + len(x); if x[i] > 5: len = 3.0
t = t + x[i] * read(1.0); if x[i] > 5: scale = 3.0
t = t + early(x[i])
t = t + early_builtin(x[i])
t = t + sum([abs for abs in [x[i]]]) + abs(x[i])""".splitlines()
AFTER = ("pass", "scale = 3.0", "abs = 3.0", "len = 3.0", "import math", "def read(z): return z", "(x, read) = x, 1")
LATE = "t = t + abs(x[i]) + scale * math.sin(x[i]) + len(x) + read(1.0)"
SOURCE = """# precision: double
import math
import numpy as np
import torch
scale = 2.0
def read(z):
    return z * scale
def early(z):
    z = z + scale
    if z > 100:
        scale = 2.0
    return z
def early_builtin(z):
    z = abs(z)
    if z > 100:
        abs = 2.0
    return z
def program(x):
    t = 0.0
    for i in range(len(x)):
        BODY
    AFTER
    return t
def arguments(seed):
    return (torch.from_numpy(np.random.RandomState(seed).randn([5, 3, 1, 0][seed % 4])),)
"""
PAIRS = """for e in ints: t = (t, e)
for e in ints: t = (e, t, t)
for e in ints: t = (e, (t, 1))
for e in ints: t = (t, e) if e > 0 else t
for e in ints: t = (t, e); while t is not None: t, e = t; n = n * 2 + e
for e in ints: t = ((e, 1), (e, (2, 3)))""".splitlines()


def indented(body, indent):
    return body.replace("; ", "\n" + indent).replace(": if", ":\n        if")


@pytest.mark.parametrize("backend", ("auto", "torch"))
@pytest.mark.parametrize("body", BODIES)
def test_a_local_is_no_global_before_it_is_bound(body, backend):
    text = SOURCE.replace("BODY", indented(body, " " * 8)).replace("AFTER", "pass")
    assert difference(text, settings={"verify": "off", "backend": backend}) is None, text


@pytest.mark.parametrize("after", AFTER)
def test_names_that_are_bound_after_the_loop_are_locals_before_it(after):
    text = SOURCE.replace("BODY", LATE).replace("AFTER", after)
    assert difference(text, settings={"verify": "off"}) is None, text


@pytest.mark.parametrize("backend", ("auto", "torch"))
@pytest.mark.parametrize("body", PAIRS)
def test_chains_of_pairs_end(body, backend):
    head, *rest = body.split("; ")
    lines = [head, *([f"{rest[0]}; {rest[1]}"] if rest else [])]
    made = ["# precision: exact", "def program(ints):", "    t, n = None, 0", *("    " + line for line in lines)]
    made += ["    return t, n", "def arguments(seed):", "    return ([3, -1, 4, 1, 5, 9][: [6, 2, 1, 0][seed % 4]],)"]
    text = "\n".join(made) + "\n"
    assert difference(text, settings={"verify": "off", "backend": backend}) is None, text


SPLIT = """# precision: double
scale = 2.0
def program(x):
    t = 0.0
    FIRST
    scale = 0.0
    for v in x:
        scale += v
    return scale, x[-1] if x else None
def arguments(seed):
    return ([1.5, -2.0, 3.0][: [3, 2, 1, 0][seed % 4]],)
"""


@pytest.mark.parametrize("backend", ("auto", "native", "torch"))
@pytest.mark.parametrize("first", ("while len(x) > t: t = t + scale", "for v in scale: t = t + v", "t = scale"))
def test_names_that_only_a_later_loop_binds_are_locals_before_it(first, backend):
    text = SPLIT.replace("FIRST", first)
    assert difference(text, settings={"verify": "off", "backend": backend}) is None, text


UNREAD = """# precision: double
import torch
def program(x):
    t = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            b = x[i] * 2
        t = t + x[i]
        INSIDE
    AFTER
    return t
def arguments(seed):
    x = torch.randn([5, 3, 1, 0][seed % 4], generator=torch.Generator().manual_seed(seed))
    return (-x.abs() if seed < 3 else x,)
"""


@pytest.mark.parametrize("backend", ("auto", "native", "torch"))
@pytest.mark.parametrize("places", (("c = b", "pass"), ("pass", "c = b"), ("pass", "b"), ("c, d = t, b", "pass")))
def test_what_may_not_be_bound_raises_also_where_nobody_needs_it(places, backend):
    text = UNREAD.replace("INSIDE", places[0]).replace("AFTER", places[1])
    assert difference(text, settings={"verify": "off", "backend": backend}) is None, text
