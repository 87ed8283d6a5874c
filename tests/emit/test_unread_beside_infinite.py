"""Elements that nobody reads of rows times something unbounded: autograd makes NaN of zero times infinity there."""

import pytest
import torch
import torch.nn.functional as F
from tests.frontend.gradients_of_leaves import check

ROWS = {
    "relu": torch.relu,
    "twice": lambda a: torch.relu(torch.relu(a)),
    "pos": lambda a: +a,
    "stack": lambda a: torch.stack([a[0], a[1]]),
    "clamp": lambda a: a.clamp(min=0.0),
    "clone": lambda a: a.clone(),
    "contiguous": lambda a: a.contiguous(),
    "unsqueeze": lambda a: a.unsqueeze(0)[0],
    "abs": lambda a: a.abs(),
    "leaky": F.leaky_relu,
    "softplus": F.softplus,
}


@pytest.mark.parametrize("name", ROWS)
def test_unread_elements(name):
    row_of = ROWS[name]

    def program(x, v):
        h = torch.zeros((), dtype=x.dtype)
        for i in range(x.shape[0]):
            row = row_of(x[i]) * v[i]
            h = torch.tanh(h * 0.5 + row[0])
        return h

    def example(value):
        x = torch.tensor([[0.5, value], [0.25, 1.0], [0.5, 0.75]], dtype=torch.float64)
        return x.requires_grad_(), torch.ones(3, 2, dtype=torch.float64, requires_grad=True)

    found = check(program, *(example(value) for value in (1.0, float("inf"), float("nan"), -float("inf"), 2.0)))
    assert "kept" not in found
