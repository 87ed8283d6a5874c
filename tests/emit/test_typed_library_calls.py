"""Calls of PyTorch's own functions in typed programs."""

import warnings

import pytest
import torch
from tests.emit.test_typed_losses import g, runs_as_program
from tests.emit.test_typed_tensors import assert_same, first

from looplift import lift
from looplift.emit import typed_library_calls

__all__ = ["first"]


@pytest.fixture(autouse=True)
def also_where_it_does_not_pay(monkeypatch, request):
    if "worth" not in request.node.name:
        monkeypatch.setattr(typed_library_calls, "WORK", 0)


def solved_alone(a, b):
    memo = {}
    for k in range(40):
        b = torch.linalg.solve(a, b)
        memo[k] = b
    return memo


def test_calls_alone_are_not_worth_a_program():
    lifted = lift(solved_alone, verify="off")
    a, b = square(), torch.ones(3, dtype=torch.float64)
    for _ in range(2):
        assert_same(lifted(a, b), solved_alone(a, b))
    assert [loop.decision for loop in lifted.report().loops] == ["kept"]


def square(seed=0, n=3, dtype=torch.float64):
    return g(n, n, seed=seed).to(dtype) * 0.1 + 2 * torch.eye(n, dtype=dtype)


def solved(a, b):
    memo, x = {}, b
    for k in range(4):
        x = torch.linalg.solve(a + k * torch.diag(torch.diag(a)), x + b)
        memo[k] = x.sum()
    return memo, x


def factored(a, b):
    memo = {}
    for k in range(3):
        values, vectors = torch.linalg.eigh(a @ a.T)
        lower = torch.linalg.cholesky(a @ a.T + k)
        u, s, v = torch.linalg.svd(a, full_matrices=False)
        memo[k] = (
            values[0] + lower[2, 0] + torch.linalg.det(a) + s[k % 3] + (vectors * u * v).sum() * 0,
            torch.linalg.inv(a)[0, k] * b[k],
        )
    return memo


def measured(a, b):
    memo = {}
    for k in range(3):
        near, place = torch.cdist(a, a[k:]).min(dim=1)
        found = torch.searchsorted(torch.cumsum(b.abs(), 0), torch.tensor([0.1 * k], dtype=b.dtype))
        memo[k] = near.sum().item() + found.item() + int(place[0]), torch.einsum("ij,j->i", a, b)[k]
    return memo


def counted(a, b):
    memo, told = {}, {}
    for k in range(4):
        for step in torch.linspace(9, 0, k + 2).long().tolist():
            memo[k] = memo.get(k, 0) + step * b[0].item() + torch.arange(k, k + 3).float().mean().item()
        told[k] = torch.equal(a, a.T), torch.allclose(a, a + 1e-12 * k), b.to(torch.int64)[0].item()
    return memo, told


PROGRAMS = [solved, factored, measured, counted]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_calls(function, dtype, first):
    runs_as_program(function, lambda: square(dtype=dtype), lambda: g(3, seed=1).to(dtype))


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
def test_backends_and_sizes(function, backend):
    lifted = lift(function, verify="off", backend=backend)
    for n in (3, 4, 3, 5):
        for a, b in ((square(n=n), g(n).double()), (square(n=n).T, g(n, 2).double()[:, 1])):
            assert_same(lifted(a, b), function(a, b))


@pytest.mark.parametrize("function", [solved, factored], ids=lambda f: f.__name__)
def test_gradients_are_the_loop_s(function, first):
    runs_as_program(function, lambda: square().requires_grad_(True), lambda: g(3).double(), program=None)


def weighed_by_bins(a, bins):
    memo, edges = {}, torch.linspace(-1, 1, bins, dtype=torch.float64)
    for k in range(a.shape[0]):
        window = torch.hann_window(k + 2, dtype=torch.float64)
        for j in range(bins - 1):
            if edges[j].item() < a[k, 0].item() <= edges[j + 1].item():
                memo[k, j] = (a[k, 0] - edges[j]) * window[-2] + memo.get((k - 1, j), 0)
    return memo, edges, window


def test_gradients_beside_calls_of_numbers(first):
    runs_as_program(weighed_by_bins, lambda: square().requires_grad_(True), lambda: 5)
    runs_as_program(weighed_by_bins, lambda: square(n=2).requires_grad_(True) * 1, lambda: 2, program=None)


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
def test_backends_beside_calls_of_numbers(backend):
    lifted = lift(weighed_by_bins, verify="off", backend=backend)
    for n, bins in ((3, 5), (4, 3), (3, 9)):
        ours, theirs = (square(seed=n, n=n).requires_grad_(True) for _ in range(2))
        (found, *others), (wanted, *rest) = lifted(ours, bins), weighed_by_bins(theirs, bins)
        assert_same((found, *others), (wanted, *rest))
        assert not any(one.requires_grad for one in others)
        if wanted:
            sum(found.values()).backward()
            sum(wanted.values()).backward()
        assert_same(ours.grad, theirs.grad)


def test_errors_are_the_loop_s(first):
    lifted = lift(solved, verify="off")
    lifted(square(), torch.ones(3, dtype=torch.float64))
    for a, b in (
        (torch.zeros(3, 3), torch.ones(3)),
        (torch.eye(3), torch.ones(4)),
        (torch.eye(3), torch.ones(3).double()),
    ):
        with pytest.raises(RuntimeError) as wanted:
            solved(a, b)
        with pytest.raises(type(wanted.value)) as got:
            lifted(a, b)
        assert str(got.value) == str(wanted.value)


def changed_later(a, b):
    kept, memo = [], {}
    for k in range(3):
        x = torch.linalg.solve(a, b)
        x[0] = k
        kept.append(x)
        memo[k] = x.sum() + torch.linalg.solve(a, b).sum()
    return kept, memo


def views(a, b):
    memo = {}
    for k in range(3):
        rows = torch.atleast_2d(b)
        row = torch.narrow(b, 0, 0, 2)
        b[0] = b[0] + 1
        memo[k] = rows.sum() + row.sum() + torch.real(a)[0, 0]
    return memo


def ordered(a, b):
    kept = []
    for k in range(3):
        kept.append(torch.linalg.solve(a + k, a))
    return kept


@pytest.mark.parametrize("function", [changed_later, views, ordered], ids=lambda f: f.__name__)
def test_what_shares_memory(function, first):
    lifted = lift(function, verify="off")
    for _ in range(3):
        got, wanted = lifted(square(), g(3).double()), function(square(), g(3).double())
        assert_same(got, wanted)
        if function is ordered:
            assert [one.stride() for one in got] == [one.stride() for one in wanted]
        if function is changed_later:
            assert len({one.data_ptr() for one in got[0]}) == 3


def drawn(a, b):
    memo = {}
    for k in range(3):
        memo[k] = torch.svd_lowrank(a, q=1)[1].sum() + torch.bernoulli(b.sigmoid()).sum()
    return memo


def into(a, b):
    memo = {}
    for k in range(3):
        torch.linalg.solve(a, b, out=b)
        memo[k] = b.sum() * 1
    return memo


def warned(a, b):
    memo = {}
    for k in range(3):
        memo[k] = torch.meshgrid(b, b + k)[0].sum()
    return memo


def test_effects_are_the_loop_s(first):
    for function in (drawn, into, warned):
        lifted = lift(function, verify="off")
        for _ in range(3):
            found = []
            for run in (lifted, function):
                torch.manual_seed(3)
                a, b = square(), g(3).double()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found.append((run(a, b), b, torch.get_rng_state()))
            assert_same(*found)


def test_of_other_values_than_samples_told(first):
    def program(a, b):
        memo = {}
        for k in range(3):
            memo[k] = torch.cross(a[:, k], b, dim=0).sum() + torch.linalg.matrix_power(a, k)[0, 0]
        return memo

    lifted = lift(program, verify="off")
    for _ in range(2):
        assert_same(lifted(square(), g(3).double()), program(square(), g(3).double()))
    with pytest.raises(RuntimeError):
        lifted(square(n=4), g(4).double())


def interrupted(a, b):
    memo = {}
    for k in range(3):
        memo[k] = torch.linalg.solve(a, b).sum()
    return memo


def test_many_calls_keep_no_memory(first):
    lifted = lift(interrupted, verify="off")
    a, b = square(), g(3).double()
    wanted = interrupted(a, b)
    for _ in range(300):
        assert_same(lifted(a, b), wanted)
    for n in range(3, 40):
        assert_same(lifted(square(n=n), g(n).double()), interrupted(square(n=n), g(n).double()))
