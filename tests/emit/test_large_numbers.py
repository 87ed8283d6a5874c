"""PyTorch stores no finite float of Python's that is too large for a tensor's type; code that is compiled does not."""

import pytest
import torch

from looplift import lift

X = torch.tensor([0.25, 1.0, 2.0])


def stored(x, numbers):
    found = []
    for number in numbers:
        z = x.clone()
        z[1] = number
        found.append(z)
    return found


def rows_stored(x, numbers):
    found = []
    for number in numbers:
        z = x.clone()
        z[0:2] = number
        found.append(z.sum().item())
    return found


def filled(x, numbers):
    found = []
    for number in numbers:
        found.append(torch.full((2,), number) + x[0])
    return found


def filled_like(x, numbers):
    found = []
    for number in numbers:
        found.append(torch.full_like(x, number).sum().item() + x.new_full((2,), number)[0].item())
    return found


def chosen(x, numbers):
    found = []
    for number in numbers:
        for item in x:
            found.append(torch.where(item > 0.5, number, item).item())
    return found


def masked(x, numbers):
    found = []
    for number in numbers:
        found.append(x.masked_fill(x > 0.5, number).sum().item())
    return found


def clamped(x, numbers):
    found = []
    for number in numbers:
        found.append(x.clamp(max=number).sum().item())
    return found


def filled_by_item(x, numbers):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        z = torch.full((2,), x[i].item() * numbers[0])
        out[i] = z.max() + torch.full_like(x[i], x[i].item() * numbers[0])
    return out


def outcome(function, numbers):
    try:
        return str(function(X, numbers))
    except RuntimeError as error:
        return repr(error)


FUNCTIONS = [stored, rows_stored, filled, filled_like, chosen, masked, clamped, filled_by_item]


@pytest.mark.parametrize("backend", ["native", "torch", "auto"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_too_large_a_number_raises_as_in_the_loop(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    raised = []
    for numbers in ([1.0, 2.0], [1e39, 2.0], [float("inf"), float("nan")], [-1e39], [3e38, -3e38]):
        expected = outcome(function, numbers)
        assert outcome(lifted, numbers) == expected
        raised.append("overflow" in expected)
    assert raised[1] and raised[3] and not raised[0]
