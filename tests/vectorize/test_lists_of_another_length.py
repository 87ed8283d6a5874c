"""Lists that each step of a loop makes anew: of another length than before, or taken only after the last step."""

import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def curve(control, t):
    points = [p for p in control]
    while len(points) > 1:
        new = []
        for k in range(len(points) - 1):
            new.append((1 - t) * points[k] + t * points[k + 1])
        points = new
    return points[0]


def curves(controls, times):
    found = []
    for control in controls:
        found.append(torch.stack([curve(control, t) for t in times]))
    return torch.stack(found)


def test_lists_that_shrink():
    torch.manual_seed(0)
    calls = [[torch.randn(n, k, 2), torch.linspace(0, 1, m)] for n, k, m in ((3, 4, 5), (2, 2, 1), (1, 6, 3))]
    check(curves, *calls)
    check(curves, [torch.randn(2, 1, 2), torch.linspace(0, 1, 3)])


def tournament(x):
    found = []
    for row in x:
        level = [v for v in row]
        while len(level) > 1:
            level = [torch.tanh(level[2 * i] - level[2 * i + 1]) for i in range(len(level) // 2)]
        found.append(level[0])
    return torch.stack(found)


def test_lists_of_half_the_length():
    check(tournament, [torch.randn(5, 8)], [torch.randn(5, 7)], [torch.randn(5, 2)], decisions={"sequential", "lanes"})


def widths(x, steps):
    found = []
    for row in x:
        level = [v * 2 for v in row]
        for _ in range(steps):
            last = [level[i] * level[i + 1] for i in range(len(level) - 1)]
            level = [last[0], *last] + [last[-1]]
        found.append(torch.stack(level))
    return torch.stack(found)


def buffers(x, steps):
    rows = []
    for k in range(x.shape[0]):
        level = [v * 1.5 for v in x[k]]
        last = torch.zeros(x.shape[1])
        for _ in range(steps):
            last = torch.zeros(len(level))
            for i in range(len(level)):
                last[i] = level[i] * 2
            level = [level[i] + level[i + 1] for i in range(len(level) - 1)]
        rows.append(torch.stack([last[i] * level[i] for i in range(len(level))]))
    return torch.stack(rows)


def broadcast(x, steps):
    rows = []
    for k in range(x.shape[0]):
        level = [v * 1.5 for v in x[k]]
        last = torch.stack(level)
        for _ in range(steps):
            last = torch.stack(level)
            level = [level[i] + level[i + 1] for i in range(len(level) - 1)]
        rows.append(last * torch.stack(level))
    return torch.stack(rows)


def in_some_rows(x, counts):
    rows = []
    for k in range(x.shape[0]):
        level = [v * 1.0 for v in x[k]]
        for _ in range(counts[k]):
            level = [level[i] + level[i + 1] for i in range(len(level) - 1)]
        rows.append(level[0])
    return torch.stack(rows)


@pytest.mark.parametrize("function", [widths, buffers, broadcast, in_some_rows])
def test_lists_of_other_lengths_beside_other_values(function):
    counts = function is in_some_rows
    for x, steps in ((torch.randn(3, 5), 2), (torch.randn(3, 2), 1), (torch.randn(3, 5), 1), (torch.randn(3, 4), 0)):
        lifted = lift(function, verify="off", backend="torch")
        for _ in range(2):
            given = [steps, 0, steps] if counts else steps
            assert outcome(lifted, x, given) == outcome(function, x, given)


def outcome(function, *arguments):
    try:
        return function(*arguments).tolist()
    except RuntimeError as error:
        return str(error)


def routed(u, w, steps):
    outputs = []
    for sample in u:
        b = torch.zeros(w.shape[0])
        for step in range(steps):
            c = torch.softmax(b, 0)
            v = []
            for k in range(w.shape[0]):
                v.append(torch.tanh(w[k] @ sample) * c[k])
            if step < steps - 1:
                b = b + torch.stack([torch.dot(one, sample) for one in v])
        outputs.append(torch.stack(v))
    return torch.stack(outputs)


def test_the_list_of_the_last_step():
    torch.manual_seed(0)
    for steps in (3, 1):
        check(routed, [torch.randn(4, 3), torch.randn(5, 3, 3), steps], decisions={"sequential", "lanes"})


def test_no_step_leaves_no_list():
    lifted, u, w = lift(routed), torch.randn(4, 3), torch.randn(5, 3, 3)
    lifted(u, w, 2)
    with pytest.raises(UnboundLocalError):
        lifted(u, w, 0)


def last_of_several(x, steps):
    for step in range(steps):
        v, names = [], []
        for k in range(step + 1):
            v.append(x[k] * (step + 1))
            names.append(k * step)
    return torch.stack(v), v, names, len(v)


def test_a_list_that_is_longer_in_each_step():
    check(last_of_several, [torch.randn(5, 2), 4], [torch.randn(5, 2), 1], decisions={"kept", "lanes"})


def left_early(x, steps):
    total = torch.zeros(())
    for step in range(steps):
        v = []
        for k in range(x.shape[0]):
            v.append(x[k] * (step + 1))
        total = total + torch.stack(v).sum()
        if total > 1.0:
            break
    return total, torch.stack(v)


def test_a_list_of_the_step_that_left():
    check(left_early, [torch.randn(5, 2) + 0.2, 4], [torch.randn(5, 2) - 1, 3], decisions={"kept", "lanes"})
