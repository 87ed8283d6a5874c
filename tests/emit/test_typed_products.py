"""Products of vectors and matrices in typed programs, with gradients."""

import numpy as np
import pytest
import torch

from looplift import lift


def factors(ratings, p, q, rate):
    p, q = p.copy(), q.copy()
    wrong = []
    for user, item, number in ratings:
        error = number - np.dot(p[user], q[item])
        before = p[user].copy()
        p[user] += rate * (error * q[item] - 0.1 * p[user])
        q[item] += rate * (error * before - 0.1 * q[item])
        wrong.append(error**2)
    return p, q, wrong


def states(table, begin, steps):
    found, x = {}, begin
    for k in range(steps):
        x = table @ x * 0.5 + table.T.dot(x) - begin @ table
        found[k] = x @ begin
    return x, found, table @ table.T


def searched(a, b, begin, most):
    points, steps = [], []
    for k in range(a.shape[0]):
        x, n = begin[k].clone(), 0
        for n in range(most):
            r = a[k] @ x - b[k]
            g = a[k].t() @ r
            if torch.norm(g) < 1e-3:
                break
            t = 1.0
            while True:
                y = x - t * g
                s = a[k] @ y - b[k]
                if 0.5 * torch.dot(s, s) <= 0.5 * torch.dot(r, r) - 1e-4 * t * torch.dot(g, g):
                    break
                t *= 0.5
            x = y
        points.append(x)
        steps.append(n)
    return torch.stack(points), steps


def powers(a, x, stop):
    seen = {0: x}
    k = 0
    while seen[k].sum() < stop and k < 9:
        seen[k + 1] = torch.mv(a, seen[k]) + torch.matmul(x, a.T)
        k += 1
    return seen[k], torch.mm(a, a.t()).sum() * k


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_products_of_arrays():
    lifted = lift(factors, verify="off")
    for seed in range(4):
        r = np.random.default_rng(seed)
        ratings = [(int(r.integers(3)), int(r.integers(4)), float(r.random())) for _ in range(seed * 5)]
        given = r.normal(size=(3, 2 + seed)), r.normal(size=(4, 2 + seed))
        for got, wanted in zip(lifted(ratings, *given, 0.1), factors(ratings, *given, 0.1), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12)
    assert [one.decision for one in lifted.report().loops] == ["native"]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_matrices_of_arrays(dtype):
    lifted = lift(states, verify="off", backend="native")
    for n in (3, 1, 5):
        r = np.random.default_rng(n)
        given = r.normal(size=(n, n)).astype(dtype) / n, r.normal(size=n).astype(dtype), 4
        got, wanted = lifted(*given), states(*given)
        tolerance = 1e-12 if dtype == "float64" else 1e-5
        for ours, theirs in zip((got[0], got[2]), (wanted[0], wanted[2]), strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(list(got[1].values()), list(wanted[1].values()), rtol=tolerance, atol=tolerance)


def test_searches_with_products_are_programs():
    lifted = lift(searched, verify="off", backend="native")
    for count in (4, 1, 6):
        given = random(count, 5, 3), random(count, 5), random(count, 3), 20
        got, wanted = lifted(*given), searched(*given)
        torch.testing.assert_close(got[0], wanted[0])
        assert got[1] == wanted[1]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("asking", ["both", "table", "vector", "none"])
def test_gradients_of_products(asking, dtype):
    lifted = lift(powers, verify="off", backend="native")
    for n in (3, 1, 4):
        a = (random(n, n, seed=n).abs() / n).to(dtype).requires_grad_(asking in ("both", "table"))
        x = random(n, seed=n).abs().to(dtype).requires_grad_(asking in ("both", "vector"))
        got, wanted = lifted(a, x, 40.0), powers(a, x, 40.0)
        torch.testing.assert_close(got, wanted)
        inputs = [one for one in (a, x) if one.requires_grad]
        for ours, theirs in zip(got, wanted, strict=True):
            assert ours.requires_grad == theirs.requires_grad
            if theirs.requires_grad:
                pair = [
                    torch.autograd.grad(one.sum(), inputs, allow_unused=True, retain_graph=True)
                    for one in (ours, theirs)
                ]
                torch.testing.assert_close(*([zero(one) for one in side] for side in pair))


def zero(slope):
    return torch.zeros(()) if slope is None else slope


def test_gradients_checked_by_differences():
    lifted = lift(powers, verify="off", backend="native")
    a, x = (random(3, 3, seed=5).abs() / 4).requires_grad_(), random(3, seed=6).abs().requires_grad_()
    assert torch.autograd.gradcheck(lambda a, x: lifted(a, x, 40.0), (a, x))


def test_a_changed_factor_is_an_error():
    lifted = lift(powers, verify="off", backend="native")
    a, x = random(2, 2).requires_grad_(), random(2).abs()
    (result, _) = lifted(a, x, 40.0)
    with torch.no_grad():
        a.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def test_other_lengths_raise_as_the_loop_does():
    lifted = lift(powers, verify="off", backend="native")
    lifted(random(2, 2), random(2), 1e3)
    for function in (lifted, powers):
        with pytest.raises(RuntimeError):
            function(random(2, 3), random(2), 1e3)
