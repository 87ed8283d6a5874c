"""Places that counters of loops of another length in each lane reach: what is surely inside is not asked each time."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.vectorize.harness import check, outcome

from looplift import lift
from looplift.base.compare import difference

PROGRAM = """def program(rows, others, k):
    out = []
    for x, y in zip(rows, others):
        h = torch.zeros((), dtype=torch.float64)
        for t in range({range}):
            h = torch.tanh(h * 0.5 + {value})
        out.append(h)
    return torch.stack(out)
"""
INSIDE = [
    ("1, len(x)", "x[t] - x[t - 1]"),
    ("len(x) - 1", "x[t] * x[t + 1]"),
    ("2, len(x)", "x[t] - x[t - 1] * x[t - 2]"),
    ("len(x) - 1, -1, -1", "x[t]"),
    ("len(x) - 2, -1, -1", "x[t] * x[t + 1]"),
    ("min(len(x), len(y)) - 1", "x[t] + y[t + 1]"),
]
ASKED = [
    ("len(x)", "x[t - 1]"),
    ("len(x)", "x[t - len(y)]"),
    ("1, len(x)", "x[t] * y[t - 1]"),
    ("k, len(x)", "x[t] * x[t - k]"),
    ("-1, len(x) - 1", "x[t + 1] + x[t]"),
    ("len(x)", "x[t + 1]"),
    ("len(x), -1, -1", "x[t]"),
    ("len(x) - 1, -3, -1", "x[t]"),
]


def program(text: tuple[str, str]) -> Any:
    import linecache

    source = PROGRAM.format(range=text[0], value=text[1])
    label = f"<loop over {text}>"
    linecache.cache[label] = (len(source), None, source.splitlines(keepends=True), label)
    scope: dict[str, Any] = {"torch": torch}
    exec(compile(source, label, "exec"), scope)
    return scope["program"]


def rows_of(counts: tuple[int, ...], seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(count, generator=generator, dtype=torch.float64) for count in counts]


@pytest.mark.parametrize("text", INSIDE, ids=" ".join)
def test_what_is_surely_inside_is_not_asked(text):
    function = program(text)
    calls = [[rows_of(one, 0), rows_of(two, 1), 1] for one, two in (((4, 3, 5), (3, 5, 4)), ((3, 6), (4, 3)))]
    check(function, *calls, decisions={"lanes", "sequential"})
    lifted = lift(function, verify="off", backend="torch")
    lifted(*calls[0])
    assert ".all()" not in lifted.source


@pytest.mark.parametrize("text", [*INSIDE, *ASKED], ids=" ".join)
@pytest.mark.parametrize("k", [1, 0, -1, 2])
def test_places_outside_are_the_loops_errors(text, k):
    def result(called, *values):
        try:
            return outcome(called, list(values), gradients=True)
        except Exception as error:
            return type(error), str(error)

    function = program(text)
    for backend in ("auto", "torch"):
        lifted = lift(function, verify="off", backend=backend)
        for counts in ((4, 3, 5), (1, 2, 1), (2, 1), (3,), (0, 2)):
            given = [rows_of(counts, 0), rows_of(counts[::-1], 1), k]
            wanted, got = result(function, *given), result(lifted, *given)
            if isinstance(wanted, tuple):
                assert got == wanted
            else:
                assert difference(got, wanted, magnitude=1.0) is None
