"""Entries that a mask of positions picks, in; the same values, as lanes under the mask."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import check, outcome

from looplift import lift
from looplift.base.compare import difference


def others_by_weight(x):
    out = []
    for i in range(len(x)):
        scores = []
        for j in range(len(x)):
            if j != i:
                scores.append(torch.dot(x[i], x[j]))
        out.append(torch.softmax(torch.stack(scores), 0).pow(2).sum())
    return torch.stack(out)


def distances_to_others(x):
    out = []
    for i in range(len(x)):
        found = []
        for j in range(len(x)):
            if j != i:
                found.append((x[i] - x[j]).norm())
        out.append(torch.logsumexp(torch.stack(found), 0))
    return torch.stack(out)


def inverse_distances(x, v):
    out = []
    for i in range(len(x)):
        weights, values = [], []
        for j in range(len(x)):
            if i != j:
                weights.append(1 / ((x[i] - x[j]) ** 2).sum())
                values.append(v[j])
        weights = torch.stack(weights)
        weights = weights / weights.sum()
        total = torch.zeros(v.shape[1])
        for k in range(len(weights)):
            total = total + weights[k] * values[k]
        out.append(total)
    return torch.stack(out)


def windows_of_an_image(q, v, radius: int = 1):
    height, width = q.shape
    out = []
    for y in range(height):
        row = []
        for x in range(width):
            scores, values = [], []
            for dy in range(-radius, radius + 1):
                for dx in range(-radius, radius + 1):
                    yy, xx = y + dy, x + dx
                    if yy < 0 or yy >= height or xx < 0 or xx >= width:
                        continue
                    scores.append(q[y, x] * q[yy, xx])
                    values.append(v[yy, xx])
            weights = torch.softmax(torch.stack(scores), dim=0)
            row.append(sum(a * b for a, b in zip(weights, values, strict=True)))
        out.append(torch.stack(row))
    return torch.stack(out)


def windows_zipped(q, v):
    out = []
    for y in range(q.shape[0]):
        scores, values = [], []
        for d in range(-2, 3):
            if 0 <= y + d < q.shape[0] and d != 0:
                scores.append((q[y] * q[y + d]).sum())
                values.append(v[y + d])
        weights = torch.softmax(torch.stack(scores), dim=0)
        out.append(sum(a * b for a, b in zip(weights, values)))
    return torch.stack(out)


def causal_attention(q, k, v):
    out = torch.zeros_like(v)
    for t in range(q.shape[0]):
        weights = torch.softmax(torch.stack([q[t] @ k[u] for u in range(t + 1)]), dim=0)
        out[t] = sum(weights[u] * v[u] for u in range(t + 1))
    return out


def items_of_neighbours(x, w):
    n, out = len(x), []
    for i in range(n):
        near = []
        for d in range(-2, 3):
            j = i + d
            if 0 <= j < n and d != 0:
                near.append(j)
        total = torch.zeros(())
        for j in near:
            total = total + x[j] * w[j]
        out.append(total / len(near))
    return torch.stack(out)


def logarithms_of_those_before(x):
    out = []
    for i in range(len(x)):
        found = []
        for j in range(len(x)):
            if j < i:
                found.append(x[j] * x[i])
        total = 0.0
        for item in found:
            total = total + torch.log(item * item)
        out.append(total + x[i])
    return torch.stack(out)


def rows_of_others(x):
    out = []
    for i in range(len(x)):
        rows = []
        for j in range(len(x)):
            if j != i:
                rows.append(x[j] - x[i])
        rows = torch.stack(rows)
        out.append(rows.mean(0) + rows.sum(dim=1).exp().sum())
    return torch.stack(out)


def values(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


CASES = [
    (others_by_weight, [values(6, 3)]),
    (others_by_weight, [values(2, 3, dtype=torch.float64)]),
    (distances_to_others, [values(6, 3)]),
    (inverse_distances, [values(6, 3), values(6, 2, seed=1)]),
    (windows_zipped, [values(7, 3), values(7, 2, seed=1)]),
    (causal_attention, [values(6, 3), values(6, 3, seed=1), values(6, 2, seed=2)]),
    (items_of_neighbours, [values(6), values(6, seed=1)]),
    (logarithms_of_those_before, [values(5)]),
    (rows_of_others, [values(5, 3)]),
]


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_entries_are_lanes_under_the_mask(function, arguments):
    check(function, arguments, decisions={"lanes"})
    lifted = lift(function, verify="off", backend="torch")
    lifted(*arguments)
    assert "nonzero" not in lifted.source
    assert "index_add" not in lifted.source


def test_a_list_that_two_loops_fill_has_their_entries_in_order():
    check(windows_of_an_image, [values(4, 5), values(4, 5, seed=1)], decisions={"lanes"})


@pytest.mark.parametrize("odd", [float("inf"), float("nan")])
def test_what_is_not_finite_is_taken_where_the_loop_takes_it(odd):
    q, v = values(4, 5), values(4, 5, seed=1)
    v[1, 2] = odd
    check(windows_of_an_image, [q, v], gradients=False)
    x = values(5, 2)
    x[3, 1] = odd
    check(others_by_weight, [x], gradients=False)


def places_in_the_list(x):
    out = []
    for i in range(len(x)):
        found = []
        for j in range(len(x)):
            if j != i:
                found.append(x[j])
        out.append(torch.stack(found).argmax())
    return torch.stack(out)


def equal_values(x):
    out = []
    for i in range(len(x)):
        found = []
        for j in range(len(x)):
            if j != i:
                found.append(x[j])
        out.append(torch.stack(found).max())
    return torch.stack(out)


def pieces_of_the_caller(x):
    out = []
    for i in range(len(x)):
        found = []
        for j in range(len(x)):
            if j <= i:
                found.append(x[j])
        out.append(torch.stack(found))
    return out


@pytest.mark.parametrize("function", [places_in_the_list, equal_values, pieces_of_the_caller])
def test_what_needs_the_list_itself_has_it(function):
    check(function, [torch.tensor([1.0, 3.0, 3.0, -2.0])])


def test_integers_are_divided_by_what_is_there():
    def quotients(x):
        out = []
        for i in range(len(x)):
            found = []
            for j in range(len(x)):
                if j != i:
                    found.append(x[j] // (x[i] - x[j]))
            out.append(torch.stack(found).sum())
        return torch.stack(out)

    check(quotients, [torch.tensor([3, 7, 1, 12])])


def test_exponentials_of_entries_that_are_not_there_do_not_overflow():
    def shares(x):
        out = []
        for i in range(len(x)):
            found = []
            for j in range(len(x)):
                if j != i:
                    found.append(x[j])
            found = torch.stack(found)
            out.append(torch.exp(found - found.max().detach()).sum())
        return torch.stack(out)

    check(shares, [torch.tensor([1.0, 2.0, 1000.0, 3.0])])


def test_exponentials_divided_by_their_sum_are_a_softmax():
    arguments = [values(6, 3), values(6, 3, seed=1), values(6, 2, seed=2)]
    lifted = lift(causal_attention, verify="off", backend="torch")
    lifted(*arguments)
    assert ".softmax(1)" in lifted.source
    lifted = lift(windows_of_an_image, verify="off", backend="torch")
    lifted(values(4, 5), values(4, 5, seed=1))
    assert ".flatten(2, 3).softmax(2)" in lifted.source


def test_a_lane_without_entries_leaves_no_trace():
    def mixed(x, v):
        out = []
        for i in range(len(x)):
            scores, items = [], []
            for j in range(len(x)):
                if j < i:
                    scores.append(x[i] * x[j])
                    items.append(v[j])
            if len(scores) > 0:
                weights = torch.softmax(torch.stack(scores), 0)
                out.append(sum(a * b for a, b in zip(weights, items, strict=True)))
            else:
                out.append(v[i])
        return torch.stack(out)

    check(mixed, [values(5), values(5, seed=1)], decisions={"lanes"})


def contrasted(z, labels, temperature):
    losses = []
    for i in range(len(z)):
        near = {}
        for j in range(len(z)):
            if j != i:
                near[j] = torch.dot(z[i], z[j]) / temperature
        scale = torch.logsumexp(torch.stack(list(near.values())), dim=0)
        total, count = 0.0, 0
        for j in near:
            if labels[j] == labels[i]:
                total = total + (near[j] - scale)
                count += 1
        if count > 0:
            losses.append(-total / count)
    if not losses:
        return torch.zeros((), dtype=z.dtype)
    return sum(losses) / len(losses)


@pytest.mark.parametrize("labels", [[0, 0, 1, 1, 0], [0, 1, 2, 3, 4], [0, 1, 2, 2, 4], [3, 3], [1, 0]])
@pytest.mark.parametrize("odd", [None, float("inf"), float("nan"), -300.0])
def test_logarithms_of_sums_under_the_mask_and_terms_of_some_of_them(labels, odd):
    z = values(len(labels), 3, dtype=torch.float64)
    if odd is not None:
        z[1, 2] = odd
    lifted = lift(contrasted, verify="off", backend="torch")
    for gradients in (False, True):
        arguments = [z, torch.tensor(labels), 0.5]
        wanted = outcome(contrasted, arguments, gradients=gradients)
        why = difference(outcome(lifted, arguments, gradients=gradients), wanted, magnitude=1.0)
        assert not why, why


def test_they_are_one_call():
    for gradients in (False, True):
        lifted = lift(contrasted, verify="off", backend="torch")
        for size in (5, 6):
            lifted(values(size, 3).requires_grad_(gradients), torch.arange(size) // 2, 0.5)
        source = lifted.source
        assert source.count(".logsumexp(1)") == 1 and "repeat_interleave" not in source and ".any(1)" not in source
