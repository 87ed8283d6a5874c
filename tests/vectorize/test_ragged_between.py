"""Ragged loops inside of others that do not lengthen them: extremes, products and softmax of what they hold."""

import pytest
import torch
import torch.nn.functional as F

from looplift import lift


def attention(x, near, w):
    found = []
    for v in range(x.shape[0]):
        heads = []
        for h in range(w.shape[0]):
            mine = w[h] @ x[v]
            scores, parts = [], []
            for u in near.get(v, []) + [v]:
                other = w[h] @ x[u]
                scores.append(F.leaky_relu(torch.dot(mine, other), 0.2))
                parts.append(other)
            weights = torch.softmax(torch.stack(scores), dim=0)
            heads.append(F.elu(sum(weights[i] * parts[i] for i in range(len(parts)))))
        found.append(torch.cat(heads))
    return torch.stack(found)


def extremes(x, near, w):
    found = []
    for v in range(x.shape[0]):
        row = []
        for h in range(w.shape[0]):
            values = []
            for u in near.get(v, []) + [v]:
                values.append((w[h, 0] * x[u]).sum())
            both = torch.stack(values)
            row.append(both.max() - both.min() + both.prod())
        found.append(torch.stack(row))
    return torch.stack(found)


def rows_of_extremes(x, near, w):
    found = []
    for v in range(x.shape[0]):
        row = []
        for h in range(w.shape[0]):
            values = []
            for u in near.get(v, []) + [v]:
                values.append(w[h] @ x[u])
            row.append(torch.stack(values).amax(0))
        found.append(torch.stack(row))
    return torch.stack(found)


def graph(count, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(count, 3, generator=g, dtype=torch.float64)
    near = {v: torch.randint(0, count, (v % 4,), generator=g).tolist() for v in range(count) if v % 5}
    return x, near, torch.randn(2 + seed % 2, 4, 3, generator=g, dtype=torch.float64)


@pytest.mark.parametrize("backend", ["torch", "auto"])
@pytest.mark.parametrize("loop", [attention, extremes, rows_of_extremes], ids=lambda one: one.__name__)
@pytest.mark.parametrize("asks", [False, True])
def test_values_and_gradients_are_those_of_the_loop(loop, backend, asks):
    lifted = lift(loop, backend=backend, verify="off")
    for count, seed in ((7, 0), (5, 1), (1, 2), (9, 3)):
        x, near, w = graph(count, seed)
        x.requires_grad_(asks)
        w.requires_grad_(asks)
        got, wanted = lifted(x, near, w), loop(x, near, w)
        torch.testing.assert_close(got, wanted)
        if asks:
            pair = [torch.autograd.grad(one.sin().sum(), (x, w)) for one in (got, wanted)]
            torch.testing.assert_close(*pair)


def test_all_heads_run_together():
    lifted = lift(attention, backend="torch", verify="off")
    lifted(*graph(7, 0))
    assert {one.decision for one in lifted.report().loops} == {"lanes"}
