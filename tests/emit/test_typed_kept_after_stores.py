"""What a program writes to a tensor of the caller's before it keeps it for the backward pass is no change after it."""

import pytest
import torch

from looplift import lift


def spread(x, y, near, heads, m):
    held, times = [], [0] * m
    for _ in range(m):
        held.append(torch.ones(len(x)))
    for i in range(len(x) - 1, -1, -1):
        for _ in near[i]:
            if 0 < y[i] < 1.5:
                x[i] -= torch.atan(y.mean())
        for q in range(len(x)):
            held[heads[q]] = 0.5 * held[heads[q]] - y[q] * x
            times[heads[q]] += 2
    return x, [held[r] / max(times[r], 1) for r in range(m)]


def slopes(function, first_alone, after):
    """Gradients of one result alone, or of all, after the tensor was changed once more, or was not."""
    x, y = torch.tensor([0.5, -1.0, 2.0]), torch.tensor([-0.5, -1.0, 0.5], requires_grad=True)
    changed, results = function(x, y, [[], [], [1, 2]], [0, 1, 1], 3)
    if after:
        with torch.no_grad():
            changed.mul_(2)
    wanted = results[0].sum() if first_alone else changed.sum() + sum(one.sum() for one in results)
    try:
        return torch.autograd.grad(wanted, y)[0]
    except RuntimeError as error:
        return str(error)[:60]


@pytest.mark.parametrize("first_alone", [False, True])
@pytest.mark.parametrize("after", [False, True])
def test_gradients_are_those_of_the_loop(first_alone, after):
    lifted = lift(spread, verify="off")
    for _ in range(2):
        found, wanted = slopes(lifted, first_alone, after), slopes(spread, first_alone, after)
        assert isinstance(found, str) == isinstance(wanted, str)
        if isinstance(wanted, str):
            assert found == wanted
        else:
            torch.testing.assert_close(found, wanted)
    assert "native" in {one.decision for one in lifted.report().loops}
