"""States with a dimension of extent one, carried by a loop that stays, beside values of another length in each lane."""

import pytest
import torch
from tests.vectorize.harness import check


def queries(model, x, groups):
    out = []
    for g in range(int(groups.max()) + 1):
        members = x[groups == g]
        both = torch.zeros(1, 6)
        h, c = torch.zeros(1, 3), torch.zeros(1, 3)
        for _ in range(3):
            h, c = model(both, (h, c))
            shares = torch.softmax((members * h).sum(dim=1), dim=0)
            read = (shares.unsqueeze(1) * members).sum(dim=0, keepdim=True)
            both = torch.cat([h, read], dim=1)
        out.append(both[0])
    return torch.stack(out)


def columns(model, x, groups):
    out = []
    for g in range(int(groups.max()) + 1):
        members = x[groups == g]
        scale = torch.ones(3, 1)
        for _ in range(2):
            scale = torch.tanh(scale + (members @ scale).sum())
        out.append((members * scale[:, 0]).sum(0))
    return torch.stack(out)


def grows_later(model, x, groups):
    out = []
    for g in range(int(groups.max()) + 1):
        members = x[groups == g]
        h = torch.ones(1, 3)
        for k in range(2):
            total = (members * h).sum(dim=0, keepdim=True)
            h = total.expand(1 + k * (members.shape[0] - 1), 3) * 0.5
        out.append(h.sum(0))
    return torch.stack(out)


CALLS = ([0, 0, 1, 2, 2, 2], [0], [1, 1, 0, 1], [0, 2, 2])
"""Groups of several sizes, of one member, and without any."""


@pytest.mark.parametrize(
    ("program", "decisions"),
    [(queries, {"lanes", "sequential"}), (columns, {"lanes", "sequential"})],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_states_meet_the_members_of_groups(program, decisions):
    model = torch.nn.LSTMCell(6, 3)
    calls = ([model, torch.randn(len(g), 3), torch.tensor(g)] for g in CALLS)
    check(program, *calls, decisions=decisions)


def test_a_state_that_becomes_larger_is_left_to_the_loop():
    groups = torch.tensor([0, 0, 1, 1])
    check(grows_later, [None, torch.randn(4, 3), groups], decisions={"kept", "sequential"})
