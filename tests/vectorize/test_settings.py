"""Arguments that say how an operation works, and differ by iteration: also of one iteration, they are no lanes."""

import pytest
import torch
import torch.nn.functional as F

from looplift import lift


def in_place(x, v):
    return [F.silu(x, bool(v[i] > 0)) for i in range(len(v))]


def slopes(x, v):
    return [F.leaky_relu(x, v[i].item()) for i in range(len(v))]


def bounds(x, v):
    return [F.hardtanh(x, -abs(v[i].item()), abs(v[i].item())) for i in range(len(v))]


def factors(x, v):
    return [torch.add(x, x, alpha=v[i].item()) for i in range(len(v))]


def replaced(x, v):
    return [torch.nan_to_num(x / 0, v[i].item()) for i in range(len(v))]


def corrections(x, v):
    return [torch.var(x, correction=int(v[i].item() > 0)) for i in range(len(v))]


def decimals(x, v):
    return [torch.round(x, decimals=int(v[i] > 0)) for i in range(len(v))]


def directions(x, v):
    return [x.sort(descending=bool(v[i] > 0)).values for i in range(len(v))]


def smallest(x, v):
    return [F.cosine_similarity(x, x + 1, dim=0, eps=v[i].item()) for i in range(len(v))]


FUNCTIONS = (in_place, slopes, bounds, factors, replaced, corrections, decimals, directions, smallest)


def outcome(function, v):
    x = torch.tensor([0.3, -1.0, 2.0])
    try:
        found = function(x, torch.tensor(v))
    except (RuntimeError, TypeError) as error:
        return str(error), x, []
    return "", x, found


@pytest.mark.parametrize("backend", ("auto", "torch"))
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_operations_that_work_in_another_way_in_each_iteration(function, backend):
    lifted = lift(function, verify="off", backend=backend)
    for v in ([1.5], [1.5], [-0.5], [0.5, 2.0], [0.5, -1.0, 3.0]):
        (text, changed, found), (expected_text, expected_changed, expected) = outcome(lifted, v), outcome(function, v)
        assert text == expected_text
        assert len(found) == len(expected)
        torch.testing.assert_close(changed, expected_changed)
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other, equal_nan=True)
