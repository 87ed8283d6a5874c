"""Lists of a list of lists, one in each lane: as subscripts, as arrays, joined, sliced, and read at any place."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift

NEAR = [[], [0, 2], [1], [3, 3, 0], [4, 1, 2, 0]]
FULL = [[0], [1, 4], [2, 0, 1], [-1, -5], [4]]


def points(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(2))


def subscripted(x, near):
    out = []
    for i in range(len(near)):
        out.append(x[near[i]].sum(0) * 2 + len(near[i]))
    return torch.stack(out)


def subscripted_by_tensors(x, near):
    out = torch.zeros(len(near), x.shape[1])
    for i in range(len(near)):
        if near[i]:
            out[i] = x[torch.tensor(near[i])].amax(0) + x[torch.tensor(near[i], dtype=torch.long)].mean(0)
        else:
            out[i] = x[i]
    return out


def normalised(x, near):
    out = []
    for i in range(len(near)):
        total = x[i]
        for j in near[i] + [i]:
            total = total + x[j] / (len(near[j]) + 1)
        out.append(total)
    return torch.stack(out)


def attended(x, near):
    out = []
    for i in range(len(near)):
        nodes = [i] + near[i] + [0]
        weights = torch.softmax(torch.stack([x[i] @ x[j] for j in nodes]), dim=0)
        out.append(sum(weights[k] * x[j] for k, j in enumerate(nodes)))
    return torch.stack(out)


def two_steps_away(x, near):
    out = torch.zeros(len(near), x.shape[1])
    for i in range(len(near)):
        for j in near[i]:
            for k in near[j][1:] + [i]:
                out[i] = out[i] + x[k] * x[j]
    return out


def under_conditions(x, near):
    out = []
    for i in range(len(near)):
        total = x[i]
        if i % 2:
            for j in near[i]:
                total = total + x[j]
                if len(near[j]) > 1:
                    total = total - x[near[j][1]]
        else:
            for j in near[i][:2]:
                total = total - x[j]
        out.append(total)
    return torch.stack(out)


def only_there_in_a_branch(x, near):
    out = []
    for i in range(len(near)):
        total = x[i]
        if 2 * i < len(near):
            row = near[2 * i]
            for j in row:
                total = total + x[j]
            if len(row) > 2:
                total = total * x[row[2]]
        out.append(total)
    return torch.stack(out)


def pairs_in_a_row(x, near):
    out = []
    for i in range(len(near)):
        total = x[i]
        for k in range(len(near[i]) - 1):
            total = total + x[near[i][k]] * x[near[i][k + 1]]
        out.append(total + x[near[i][-1]] if near[i] else total)
    return torch.stack(out)


@pytest.mark.parametrize("near", (NEAR, FULL), ids=("some", "negative"))
@pytest.mark.parametrize(
    "function", (subscripted, subscripted_by_tensors, normalised, attended, two_steps_away, under_conditions,
                 only_there_in_a_branch, pairs_in_a_row)
)  # fmt: skip
def test_rows_are_read_at_any_place(function, near):
    check(function, [points(5, 3), near], decisions={"lanes"})


def test_of_no_neighbours_at_all():
    for function in (subscripted, subscripted_by_tensors, normalised):
        lifted = lift(function, verify="off", backend="torch")
        for near in (NEAR, [[] for _ in NEAR], NEAR):
            x, y = (points(5, 3).requires_grad_() for _ in range(2))
            expected, found = function(x, near), lifted(y, near)
            assert torch.allclose(expected, found)
            expected.sum().backward()
            found.sum().backward()
            assert torch.allclose(x.grad, y.grad)


@pytest.mark.parametrize("near", ([[5], [0]], [[0], [-6]], [[0, 1], []]), ids=("above", "below", "nothing"))
def test_what_is_not_there_raises_as_in_the_loop(near):
    def first(x, near):
        out = torch.zeros(2, 3)
        for i in range(2):
            out[i] = x[near[i]].sum(0) + x[near[i][0]]
        return out

    with pytest.raises(IndexError) as expected:
        first(points(5, 3), near)
    with pytest.raises(IndexError) as found:
        lift(first, verify="off")(points(5, 3), near)
    assert str(found.value) == str(expected.value)


def slices_of_a_list(x, bounds, flat):
    out = []
    for i in range(len(bounds) - 1):
        row = flat[bounds[i] : bounds[i + 1]]
        out.append(x[row].sum(0) + x[flat[bounds[i] :][:1]].sum(0) if row else x[i])
    return torch.stack(out)


def slices_of_a_tensor(x, bounds, flat):
    out = torch.zeros(len(bounds) - 1, x.shape[1])
    for i in range(len(bounds) - 1):
        near = flat[bounds[i] : bounds[i + 1]]
        if len(near) > 0:
            out[i] = torch.softmax(x[near] @ x[i], 0) @ x[near]
    return out


def test_slices_of_flat_neighbours():
    bounds, flat = [0, 2, 2, 5, 6], [1, 0, 4, 3, -1, 2]
    check(slices_of_a_list, [points(5, 3), bounds, flat], decisions={"lanes"})
    tensors = torch.tensor(bounds), torch.tensor(flat)
    check(slices_of_a_tensor, [points(5, 3), *tensors], decisions={"lanes"})
    check(slices_of_a_tensor, [points(5, 3), tensors[0], tensors[1].int()], decisions={"lanes"})


def other_dimensions(x, near):
    out = []
    for i in range(len(near)):
        out.append(x[:, near[i]].sum(1) + x[i % 2, near[i]].sum(0) + x[0][near[i], 1].sum())
    return torch.stack(out)


def test_lists_among_other_subscripts():
    check(other_dimensions, [points(2, 5, 2), NEAR], decisions={"lanes"})


def of_arrays(x, near):
    out = np.zeros((len(near), x.shape[1]))
    for i in range(len(near)):
        out[i] = x[near[i]].sum(axis=0) + x[np.array(near[i] + [i])].max(axis=0)
    return out


def test_numpy():
    check(of_arrays, [points(5, 3).double().numpy(), NEAR], gradients=False, decisions={"lanes"})


def test_rows_that_grow_are_the_callers():
    def grown(x, near):
        out = []
        for i in range(len(near)):
            row = near[i]
            row += [i]
            out.append(x[row].sum(0))
        return torch.stack(out)

    x, near, same = points(5, 3), [list(row) for row in NEAR], [list(row) for row in NEAR]
    torch.testing.assert_close(lift(grown)(x, near), grown(x, same))
    assert near == same


class Scored(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.emb = torch.nn.Embedding(6, 4)
        self.net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.LayerNorm(4), torch.nn.GELU())
        self.score = torch.nn.Linear(4, 1)
        self.weight = torch.nn.Parameter(torch.randn(3, 4))

    def forward(self, bags):
        out = []
        for bag in bags:
            rows = self.net(self.emb(torch.tensor(bag)))
            weights = torch.softmax(self.score(rows).squeeze(-1), dim=0)
            out.append(weights @ torch.nn.functional.linear(rows, self.weight))
        return torch.stack(out)


def test_modules_of_values_of_another_length_in_each_lane():
    bags = [[1, 2], [3], [0, 0, 4, 5]]
    loop, lifted = Scored(), Scored()
    expected = loop(bags)
    found = lift(lifted, verify="off")(bags)
    assert torch.allclose(expected, found, atol=1e-6)
    expected.sum().backward()
    found.sum().backward()
    for one, other in zip(loop.parameters(), lifted.parameters(), strict=True):
        assert torch.allclose(one.grad, other.grad, atol=1e-5)
    assert {loop.decision for loop in lifted.forward.report().loops} == {"lanes"}


def test_a_module_that_no_lane_reaches_has_no_gradient():
    def guarded(x, near, layer):
        out = []
        for i in range(len(near)):
            out.append(layer(x[near[i]]).amax(0) if near[i] else x[i])
        return torch.stack(out)

    lifted = lift(guarded, verify="off")
    layer = torch.nn.Linear(3, 3)
    for near in (NEAR, [[] for _ in NEAR]):
        layer.zero_grad()
        lifted(points(5, 3), near, layer).sum().backward() if any(near) else lifted(
            points(5, 3).requires_grad_(), near, layer
        ).sum().backward()
        assert (layer.weight.grad is None) == (not any(near))
