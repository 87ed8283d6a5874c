"""What a call gives is called at once: `Model(k)(x)` is entered as `model = Model(k); model(x)` is."""

from __future__ import annotations

import torch

from looplift import lift


class Rows(torch.nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, x):
        return torch.stack([(x[i] * self.k).exp().sum() for i in range(len(x))])


def sums(k):
    def of(x):
        total = torch.zeros(len(x))
        for i in range(len(x)):
            total[i] = x[i].sum() * k
        return total

    return of


def made_and_called(x):
    return Rows(2.0)(x)


def given_and_called(x):
    return sums(3)(x)


def two_in_one_place(x):
    return sums(len(sums(2)(x)))(Rows(0.5)(x)[:, None])


def test_what_a_call_gives_is_entered():
    x = torch.rand(5, 3)
    for function in (made_and_called, given_and_called, two_in_one_place):
        lifted = lift(function, verify="off")
        for _ in range(3):
            torch.testing.assert_close(lifted(x), function(x))
        assert {loop.decision for loop in lifted.report().loops} <= {"lanes", "native"}
        assert lifted.report().loops
