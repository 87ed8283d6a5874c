"""Lists that begin with items before a loop makes them longer are handed out as the loop's, item by item."""

import copy

import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


def assert_same(got, want):
    assert type(got) is type(want)
    if isinstance(want, list | tuple):
        assert len(got) == len(want)
        for one, other in zip(got, want):
            assert_same(one, other)
    elif isinstance(want, float):
        assert got == pytest.approx(want, rel=1e-5, abs=1e-6, nan_ok=True)
    elif isinstance(want, torch.Tensor):
        torch.testing.assert_close(got, want, equal_nan=True)
        assert got.requires_grad == want.requires_grad
    else:
        assert got == want


def tensors_of(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [one for item in value for one in tensors_of(item)] if isinstance(value, list | tuple) else []


def slopes_of(result, given):
    inputs = [one for one in tensors_of(given) if one.requires_grad]
    results = [one for one in tensors_of(result) if one.requires_grad]
    if not inputs or not results:
        return []
    total = sum((k + 1) * one.sum() for k, one in enumerate(results))
    return list(torch.autograd.grad(total, inputs, allow_unused=True))


def runs_alike(function, *given, backend, lifts=None):
    lifted = lift(function, backend=backend, verify="off")
    for _ in range(2):
        outcomes = []
        for one in (lifted, function):
            mine = copy.deepcopy(given)
            try:
                result = one(*mine)
                outcomes.append([result, *slopes_of(result, mine), *mine])
            except Exception as error:
                outcomes.append((type(error).__name__, str(error)))
        (got, want) = outcomes
        assert len(got) == len(want)
        for one, other in zip(got, want):
            assert_same(one, other)
    if lifts is not None and backend in lifts:
        assert all(loop.decision != "kept" for loop in lifted.report().loops), lifted.report()


def sums(x):
    found = [x[0].sum().item()]
    for i in range(1, len(x)):
        found.append(x[i].sum().item())
    return found


def mixed(x):
    found = [0, True, x[0, 0].item()]
    for i in range(len(x)):
        found.append(x[i].sum().item())
    return found, len(found)


def places(x):
    found = [len(x)]
    for i in range(len(x)):
        found.append(x[i].argmax().item())
    return {"places": found, "count": len(found)}["places"], len(found) - 1


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [sums, mixed, places])
@pytest.mark.parametrize("x", [torch.randn(5, 3), torch.randn(1, 3), torch.randn(2, 3, dtype=torch.float64)],
                         ids=["several", "one", "two"])  # fmt: skip
def test_numbers(function, x, backend):
    runs_alike(function, x, backend=backend, lifts=("auto", "torch") if len(x) == 5 and function is not mixed else ())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [sums, mixed, places])
def test_none_at_all(function, backend):
    runs_alike(function, torch.randn(0, 3), backend=backend)


def smoothed(x, rate):
    average, found, first = None, [], 0
    for row in x:
        value = row.square().sum().item()
        average = value if average is None else (1 - rate) * average + rate * value
        first = first + (value - average) * row
        found.append(average)
    return found, first, average


def states(x, w):
    best, kept = None, []
    for row in x:
        h = torch.zeros_like(row)
        for _ in range(3):
            h = torch.tanh(w @ h + row)
        score = h.sum().item()
        best = score if best is None else 0.5 * best + score
        kept.append([score, h[0].item()])
    return kept, best


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("count", [0, 1, 2, 6])
def test_averages_that_are_none_at_first(count, backend):
    runs_alike(smoothed, torch.randn(count, 3), 0.1, backend=backend)


@pytest.mark.parametrize("count", [3, 6])
def test_averages_that_are_none_at_first_are_lifted(count):
    runs_alike(smoothed, torch.randn(count, 3), 0.1, backend="torch", lifts=("torch",))
    runs_alike(smoothed, torch.randn(count, 3, requires_grad=True), 0.1, backend="torch")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("count", [0, 1, 2, 6])
def test_rows_of_numbers(count, backend):
    runs_alike(states, torch.randn(count, 3), torch.randn(3, 3), backend=backend)


def rows(x, w):
    found = [x[0]]
    for i in range(1, len(x)):
        found.append(torch.tanh(x[i] * w))
    return found


def rows_and_their_first(x, w):
    first = x[0] * w
    found = [first, first]
    for i in range(1, len(x)):
        found.append(x[i] * w)
    return found, first


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [rows, rows_and_their_first])
@pytest.mark.parametrize("count", [0, 1, 4])
@pytest.mark.parametrize("asks", [False, True])
def test_rows(function, count, asks, backend):
    x, w = torch.randn(count, 3), torch.randn(3)
    runs_alike(function, x.requires_grad_(asks), w.requires_grad_(asks), backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_which_items_are_one_object(backend):
    def given_first(h, x):
        found = [h, h]
        for row in x:
            found.append(row * 2)
        return found, h

    lifted = lift(given_first, backend=backend, verify="off")
    for _ in range(2):
        h, x = torch.ones(3), torch.randn(4, 3)
        (first, second, *rest), same = lifted(h, x)
        assert first is h and second is h and same is h
        rest[0].zero_()
        torch.testing.assert_close(rest[1], x[1] * 2)


def shared(x):
    first = x[0] + 1
    found = [first]
    for i in range(1, len(x)):
        found.append(x[i] + 1)
    first += 10
    return found, first


def views(x):
    found = [x[0]]
    for i in range(1, len(x)):
        found.append(x[i])
    return found


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_changes_in_place(backend):
    runs_alike(shared, torch.randn(4, 3), backend=backend)
    for function in (shared, views):
        lifted = lift(function, backend=backend, verify="off")
        for _ in range(2):
            results = []
            for one in (lifted, function):
                x = torch.arange(12.0).reshape(4, 3)
                found = one(x)
                items = found[0] if isinstance(found, tuple) else found
                items[0].mul_(3)
                items[1].mul_(5)
                results.append((found, x))
            assert_same(*results)


def fails(x, divisors):
    found = [1 / divisors[0]]
    for i in range(1, len(divisors)):
        found.append(x[i].item() + 1 / divisors[i])
    return found


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("divisors", [[0, 1], [1, 2, 0], [2, 3, 4, 5, 6], [2.0]])
def test_exceptions(divisors, backend):
    runs_alike(fails, torch.randn(4), divisors, backend=backend)


def reads(x):
    found = [x[0].sum().item()]
    for i in range(1, len(x)):
        found.append(found[-1] * 0.5 + x[i].sum().item())
    return found, found[0], found[-1], found[::-1], sum(found)


def stores(x):
    found = [0.0]
    for i in range(len(x)):
        found.append(x[i].sum().item())
    found[0] = 7.0
    return found


def sometimes(x):
    found = [0.0]
    for i in range(len(x)):
        if x[i, 0] > 0:
            found.append(x[i].sum().item())
    return found


def goes_through(x):
    found, total = [2.0], 0.0
    for i in range(len(x)):
        found.append(x[i].sum().item())
    for one in found:
        total += one * one
    return total, found


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [reads, stores, sometimes, goes_through])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_other_uses(function, count, backend):
    runs_alike(function, torch.randn(count, 3), backend=backend)
