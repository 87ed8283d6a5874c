"""A number or tensor is never equal to text, None or a class: one truth for all lanes, also as a condition."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import written as defined

from looplift import lift

GIVEN = {"integers": [1, 2, 3], "floats": [1.0, 2.0], "vector": torch.tensor([1.0, 2.0]), "rows": torch.ones(2, 2)}
FORMS = (
    "if x[i] != {o}: out.append(i)",
    "if x[i] == {o}: out.append(i)",
    "out.append(x[i] != {o})",
    "k += 1 if {o} == x[i] else 2",
    "if x[i] in ({o}, 5): out.append(i)",
)


def written(form, other):
    text = "def program(x, n, s, t):\n    out, k = [], 0\n    for i in range(n):\n"
    text += f"        {form.format(o=other)}\n    return out, k\n"
    return defined(text, f"<compared {form} {other}>", {"torch": torch})["program"]


def outcome(program, x):
    try:
        return repr(program(x, 2, "q", None))
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN.keys())
def test_what_is_no_number_is_another_value(given, form):
    for other in ("'q'", "None", "[1]", "(1, 2)", "[]", "...", "int", "torch.float32", "s", "t", "x"):
        program = written(form, other)
        assert outcome(lift(program, backend="torch", verify="off"), given) == outcome(program, given), other
