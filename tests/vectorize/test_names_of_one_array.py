"""Several names for one array, and names for one of several: what is stored under one is read under another."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from tests.fuzz.aliases import aliases_source
from tests.fuzz.differential import difference
from tests.fuzz.places import places_source
from tests.fuzz.rounds import rounds_source
from tests.fuzz.sharing import programs_first

from looplift import lift, pipeline

BODIES = """v = a if x[i] > 0 else b; v[0] = v[0] + 1; for j in range(3): a[i] += v[i] + x[j]
v = a if x[i] > 0 else b; v[0] = v[0] + 1; a[1:] = v[:-1] * 2
v = a if x[i] > 0 else b; v[0] = v[0] + 1; a[1:] = v[:-1]
v = a if x[i] > 0 else b; v += a[i]
for j in range(3): a[i] += w[i] + x[j]; w = a if x[i] > -1 else b
if x[i] > 0: w = a; for k in range(6): a[k] = a[k] + w[5 - k]
v = a; if x[i] > 0.5: v += 1; for k in range(6): a[i] += v[i] + x[k]
w *= 0.5; if x[i] > -1: w = b
w = w * 0.5; if x[i] > -1: w = a; for k in range(3): w *= 0.5"""


def source(library, body, within):
    """A loop over the lines of a body, with arrays that are made before it; ``within`` another loop."""
    lines = [f"a, b = {library}.arange(6) * 0.5, {library}.ones(6) * 0.25", "w = b", "for i in range(6):"]
    lines += [f"    {line}" for line in body.split("; ")]
    end = ["total = total + a[1] + 2 * b[2] + 3 * a[3] + w[5]"]
    if within:
        lines = ["total = 0.0", "for r in range(2):", *(f"    {line}" for line in [*lines, *end]), "return total"]
    else:
        lines += ["return a, b, w + 0"]
    head = ["import numpy as np", "import torch", "def program(x):"]
    made = ["def arguments(seed):", "    x = np.random.RandomState(seed).randn(6)"]
    made += [f"    return ({'torch.from_numpy(x)' if library == 'torch' else 'x'},)"]
    return "\n".join(["# precision: double", *head, *(f"    {line}" for line in lines), *made]) + "\n"


@pytest.mark.parametrize("within", (False, True))
@pytest.mark.parametrize("library", ("torch", "np"))
@pytest.mark.parametrize("body", BODIES.splitlines())
def test_what_one_name_changes_another_shows(body, library, within):
    for backend in ("auto", "torch"):
        text = source(library, body, within)
        assert difference(text, settings={"verify": "off", "backend": backend}) is None, text


@pytest.mark.parametrize("backend", ("auto", "torch"))
@pytest.mark.parametrize("start", (0, 10))
def test_random_programs(start, backend):
    for number in range(start, start + 10):
        text = aliases_source(random.Random(number))
        assert difference(text, settings={"verify": "off", "backend": backend}) is None, text


@pytest.mark.parametrize("start", (0, 20))
def test_random_programs_in_which_arrays_stand_at_several_places(start):
    for number in range(start, start + 20):
        text = places_source(random.Random(number))
        assert difference(text, settings={"verify": "off", "backend": "torch"}) is None, text


def test_random_programs_in_which_values_go_around(monkeypatch):
    monkeypatch.setattr(pipeline, "compile_region", pipeline.compile_region)
    programs_first()
    for number in range(8):
        text = rounds_source(random.Random(number))
        assert difference(text, settings={"verify": "off"}) is None, text


def test_a_name_that_loops_choose_is_one_of_the_arrays():
    def chosen(x, two):
        a, b = two * 2, two * 1
        c, d = a, a
        for i in range(x.shape[0]):
            d = b
            for _ in range(3):
                if not x[i] > 0:
                    c = b
        return c, d

    lifted = lift(chosen, backend="torch", verify="off")
    for seed in range(4):
        x = torch.from_numpy(np.random.RandomState(seed).randn(3))
        for function in (chosen, lifted):
            c, d = function(x, torch.arange(3.0))
            assert (c is d) == bool((x <= 0).any())


def test_names_that_go_around():
    def around(n):
        a, b, c = [1.0, 2.0], [3.0, 4.0], [5.0, 6.0]
        for i in range(n):
            c[0] = c[0] + b[1] * i
            a, b, c = c, a, [b[0], 1.0]
            a[1] += 1
        return a, b, c

    lifted = lift(around, verify="off")
    assert [lifted(n) for n in (5, 0, 1, 7)] == [around(n) for n in (5, 0, 1, 7)]
