"""The least or greatest of a number and a tensor that no axis changes: which of both it is the run tells."""

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift
from looplift.base.compare import difference


def chosen_at_times(x, s):
    state = 1.0
    for row in x:
        if row[0] > 0:
            state = s * state + min(s, 0.0)
    return (state,)


def chosen_and_scaled(x, s):
    state = s * 1
    for row in x:
        if row[0] > 0:
            continue
        state = state * 0.5 + min(s, 0.1) * 2
    return state


def stored_in_both_sides(x, s):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        if x[i, 0] > 0:
            out[i] = max(s, 0.25)
        else:
            out[i] = 0.5
    return out


def beside_integers(x, s):
    total = s * 0
    for i in range(len(x)):
        total = total + i * min(s, 0.1)
    return total


def rows_by_either(x, s):
    out = []
    for row in x:
        c = min(s, 0.1) if row[0] > 0 else s
        out.append(row * c)
    return torch.stack(out)


def in_inner_loops(x, s):
    total = s * 0
    for i in range(len(x)):
        c = min(s, 0.1)
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                total = total + c
    return total


PROGRAMS = (
    (chosen_at_times, {"scan"}),
    (chosen_and_scaled, {"scan"}),
    (stored_in_both_sides, {"lanes"}),
    (beside_integers, {"lanes"}),
    (rows_by_either, {"lanes"}),
    (in_inner_loops, {"lanes"}),
)


@pytest.mark.parametrize(("program", "decisions"), PROGRAMS, ids=[program.__name__ for program, _ in PROGRAMS])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_tensors(program, decisions, dtype):
    generator = torch.Generator().manual_seed(0)
    calls = [
        [torch.randn(count, 3, generator=generator, dtype=dtype), torch.tensor(value, dtype=dtype)]
        for count, value in ((4, 0.75), (4, -0.5), (2, 0.0625), (7, 0.75))
    ]
    check(program, *calls, decisions=decisions)


def test_digits_of_a_number_are_kept():
    """A Python float beside a tensor of 64 bits is not rounded to the 32 bits that the other value has."""

    def scaled(x, s):
        out = torch.zeros_like(x)
        for i in range(len(x)):
            out[i] = x[i] * min(s, 0.1)
        return out

    x = torch.tensor([[1.0], [3.0]], dtype=torch.float64)
    lifted = lift(scaled, verify="off", backend="torch")
    for s in (torch.tensor(0.75), torch.tensor(-0.75)):
        assert torch.equal(lifted(x, s), scaled(x, s))


def of_scalars(x, s):
    state = s * 1
    for _ in range(len(x)):
        state = state * 0.5 + abs(min(s, 0.1))
    return state


def of_scalars_at_times(x, s):
    state = s * 1
    for i in range(len(x)):
        if x[i] > 0:
            state = state * 0.5 + min(s, 0.1) * 2
    return state


@pytest.mark.parametrize("function", (of_scalars, of_scalars_at_times))
@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_arrays(function, dtype):
    lifted = lift(function, verify="off", backend="torch")
    x = np.array([0.5, -1.0, 2.0, 0.25, -3.0])
    for count in (5, 2, 1):
        for s in (dtype(0.75), dtype(-0.5), dtype(0.0625)):
            why = difference(lifted(x[:count], s), function(x[:count], s), magnitude=1.0)
            assert not why, f"{why}\n{lifted.source}"
    assert {loop.decision for loop in lifted.report().loops} == {"scan"}
