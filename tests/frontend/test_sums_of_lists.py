"""Sums of lists that a loop makes, and of parts of them: what a loop runs through, and new lists."""

import copy

import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


def runs_alike(function, *given, backend, is_lifted=False):
    lifted = lift(function, backend=backend, verify="off")
    for _ in range(2):
        outcomes = []
        for one in (lifted, function):
            mine = copy.deepcopy(given)
            try:
                outcomes.append((one(*mine), mine))
            except Exception as error:
                outcomes.append((type(error).__name__, str(error)))
        if isinstance(outcomes[1][0], str):
            assert outcomes[0] == outcomes[1]
        else:
            torch.testing.assert_close(outcomes[0][0], outcomes[1][0])
            torch.testing.assert_close(outcomes[0][1], outcomes[1][1])
    if is_lifted and backend != "native":
        assert all(loop.decision != "kept" for loop in lifted.report().loops), lifted.report()


def around(x, order):
    """The length of a closed line."""
    lengths = []
    for points in x:
        tour = []
        for k in range(len(points)):
            tour.append(points[k].argmax().item() + k * order)
        length = 0.0
        for a, b in zip(tour, tour[1:] + tour[:1]):
            length += points[a % len(points), 0].item() - points[b % len(points), 1].item()
        lengths.append(length)
    return lengths


def closed(x):
    found = []
    for row in x:
        line = []
        for k in range(len(row)):
            line.append(row[k].item() * k)
        ring = line + [line[0]]
        total = 0.0
        for k, (a, b) in enumerate(zip(ring, ring[1:])):  # noqa: RUF007
            total += (b - a) * k
        found.append(total)
    return found


def between(x):
    found = []
    for row in x:
        line = []
        for k in range(len(row)):
            line.append(row[k].item())
        total = 0.0
        for k, a in enumerate([0.5] + line[:-1] + [2.5, total] + line):
            total += a * (k + 1)
        found.append(total)
    return found


def turned(x, by):
    found = []
    for row in x:
        line = []
        for k in range(len(row)):
            line.append((row[k] > 0).item())
        total = 0
        for k, (a, b) in enumerate(zip(line[by:] + line[:by], line)):
            total += k if a and not b else -1
        found.append(total)
    return found


def at_the_end(x):
    line = []
    for k in range(len(x)):
        line.append(x[k].item())
    total = 0.0
    for a, b in zip(line, line[1:] + line[:1]):
        total += a * b
    return total, line + line[:1], line[1:] + line


def made_longer(x):
    found = []
    for row in x:
        line = []
        for k in range(len(row)):
            line.append(row[k].item())
        total = 0.0
        for a in line[1:] + line[:2]:
            total += a
            line.append(total)
        found.append(total + len(line))
    return found


def changed(x):
    found = []
    for row in x:
        line = []
        for k in range(len(row)):
            line.append(row[k].item())
        total = 0.0
        for k, a in enumerate(line + line):
            line[k % len(line)] = -1.0
            total += a
        found.append(total)
    return found


def kept_apart(x):
    """What is made of two lists is a list of its own."""
    found = []
    for row in x:
        line = []
        for k in range(len(row)):
            line.append(row[k].item())
        both = line + line[1:]
        line.append(5.0)
        both.append(6.0)
        found.append((sum(line), sum(both), len(line), len(both)))
    return found


PROGRAMS = {
    "around": (around, 1), "around one": (around, 0), "closed": (closed,), "between": (between,),
    "turned": (turned, 1), "turned by two": (turned, 2), "turned by many": (turned, 9), "turned back": (turned, -1),
    "made longer": (made_longer,), "changed": (changed,), "kept apart": (kept_apart,),
}  # fmt: skip
LIFTED = ("around", "closed", "between", "turned")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("shape", [(5, 4), (3, 1), (2, 2), (3, 0), (0, 3)], ids=str)
def test_it_is_the_loops(name, shape, backend):
    function, *more = PROGRAMS[name]
    x = torch.randn(*shape, 2) if function is around else torch.randn(shape)
    runs_alike(function, x, *more, backend=backend, is_lifted=name in LIFTED and shape == (5, 4))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_outside_of_all_loops(count, backend):
    runs_alike(at_the_end, torch.randn(count), backend=backend)


def tensors(x, w):
    found = []
    for row in x:
        states = []
        for k in range(row.shape[0]):
            states.append(torch.tanh(row[k] * w))
        total = torch.zeros(w.shape)
        for a, b in zip(states, states[1:] + states[:1]):
            total = total + a * b
        found.append(total)
    return torch.stack(found)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("length", [1, 2, 5])
def test_gradients(length, backend):
    torch.manual_seed(0)
    lifted = lift(tensors, backend=backend, verify="off")
    for _ in range(2):
        results = []
        for one in (lifted, tensors):
            torch.manual_seed(1)
            x, w = torch.randn(4, length, 3, requires_grad=True), torch.randn(3, requires_grad=True)
            result = one(x, w)
            results.append((result, *torch.autograd.grad(result.square().sum(), (x, w))))
        torch.testing.assert_close(*results)


def added(x, other):
    """Not all that has a sum is a list of the region's own."""
    found = []
    for row in x:
        line = []
        for k in range(len(row)):
            line.append(row[k].item())
        total = 0.0
        for a in line + other:
            total += a
        found.append(total)
    return found


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("other", [[1.5, 2.5], [], (1.0,), 3, torch.ones(3)], ids=str)
def test_what_is_given_beside(other, backend):
    runs_alike(added, torch.randn(4, 3), other, backend=backend)
