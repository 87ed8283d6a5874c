"""Kernels in which the run decides whether a result has a gradient: flags tell; where it has none the loop runs."""

import pytest
import torch

from looplift import lift

double = torch.float64


def cholesky(a):
    n = a.shape[0]
    low = torch.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            s = torch.zeros((), dtype=a.dtype)
            for k in range(j):
                s = s + low[i, k].clone() * low[j, k].clone()
            if i == j:
                low[i, j] = torch.sqrt(a[i, i] - s)
            else:
                low[i, j] = (a[i, j] - s) / low[j, j].clone()
    return low


def forward_substitution(a, b):
    x = torch.zeros_like(b)
    for i in range(b.shape[0]):
        s = 0.0
        for j in range(i):
            s = s + a[i, j] * x[j].clone()
        x[i] = (b[i] - s) / a[i, i]
    return x


def filtered(x, w):
    y = torch.zeros_like(x)
    for t in range(len(x)):
        acc = torch.zeros((), dtype=x.dtype)
        for k in range(1, len(w) + 1):
            if t >= k:
                acc = acc - w[k - 1] * y[t - k].clone()
        y[t] = acc + x[t]
    return y


def resets(x, threshold):
    v = torch.zeros((), dtype=x.dtype)
    out = torch.zeros_like(x)
    for t in range(len(x)):
        v = 0.9 * v + x[t]
        if v > threshold:
            out[t] = v
            v = torch.zeros((), dtype=x.dtype)
    return out


def gated(x, keep):
    h = torch.zeros((), dtype=x.dtype)
    for t in range(len(x)):
        if keep[t]:
            h = h + x[t] * x[t]
        else:
            h = torch.ones((), dtype=x.dtype) * 0.5
    return h * 1.0


def until(x, limit):
    total = torch.zeros((), dtype=x.dtype)
    i = 0
    while i < len(x) and total < limit:
        if x[i] > 0:
            total = total + torch.sin(x[i])
        i += 1
    return total + 0.0


def table(x, w):
    """One result is reached by ``w`` only, and only where the row is long enough."""
    n = x.shape[0]
    cost = torch.zeros(n, n, dtype=x.dtype)
    for i in range(n):
        for j in range(i + 1, n):
            cost[i, j] = cost[i, j - 1].clone() + w[j - i - 1] * (x[j] - x[i])
    return cost


def spd(n, seed=0):
    base = torch.randn(n, n, generator=torch.Generator().manual_seed(seed), dtype=double)
    return base @ base.T + n * torch.eye(n, dtype=double)


def vector(n, seed=0):
    return torch.randn(n, generator=torch.Generator().manual_seed(seed), dtype=double)


def gradients(function, arguments):
    """Values, whether they ask for a gradient, and the gradients themselves."""
    leaves = [a.clone().requires_grad_() if torch.is_tensor(a) and a.is_floating_point() else a for a in arguments]
    out = function(*leaves)
    wanted = [leaf for leaf in leaves if torch.is_tensor(leaf) and leaf.requires_grad]
    if not out.requires_grad:
        return out, None
    weights = torch.arange(1.0, out.numel() + 1, dtype=out.dtype).reshape(out.shape)
    return out.detach(), torch.autograd.grad((out * weights).sum(), wanted, allow_unused=True)


CASES = [
    (cholesky, [(spd(n, n),) for n in (4, 1, 2, 7)]),
    (forward_substitution, [(spd(n, n), vector(n, n)) for n in (4, 1, 2, 9)]),
    (filtered, [(vector(n, n), vector(k, k)) for n, k in ((6, 3), (5, 0), (1, 2), (9, 4))]),
    (resets, [(vector(9, seed), limit) for seed, limit in ((1, 0.3), (2, 50.0), (3, -50.0), (4, 0.3))]),
    (gated, [(vector(4, 5), torch.tensor(bits, dtype=torch.bool)) for bits in ((1, 0, 1, 1), (0,) * 4, (1, 1, 1, 0))]),
    (until, [*((vector(8, k), limit) for k, limit in ((1, 1.0), (2, 0.2), (2, -1.0))), (-vector(3, 1).abs(), 1.0)]),
    (table, [(vector(n, n), vector(n + 2, 7)) for n in (5, 1, 2, 8)]),
]  # fmt: skip


@pytest.mark.parametrize(("function", "calls"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_gradients_that_depend_on_the_run(function, calls):
    lifted = lift(function, backend="native")
    for arguments in [*calls, *calls]:
        want, want_gradients = gradients(function, arguments)
        got, got_gradients = gradients(lifted, arguments)
        torch.testing.assert_close(got, want, equal_nan=True)
        assert got.requires_grad == want.requires_grad
        assert (got_gradients is None) == (want_gradients is None)
        for mine, theirs in zip(got_gradients or (), want_gradients or (), strict=True):
            assert (mine is None) == (theirs is None)
            if theirs is not None:
                torch.testing.assert_close(mine, theirs, equal_nan=True)
        if arguments is calls[0] and function is not until:  # its result may be the tensor from before the loop
            assert {loop.decision for loop in lifted.report().loops} == {"native"}


def test_a_run_that_no_gradient_reaches_is_the_loop():
    """``h`` is made anew in the last iteration: it asks for no gradient."""
    x, keep = vector(3).requires_grad_(), torch.tensor([True, True, False])
    lifted = lift(gated, backend="native")
    assert lifted(x, ~keep).requires_grad
    assert not lifted(x, keep).requires_grad


def stored_on_both_sides(x, w, decay):
    v = torch.zeros((), dtype=x.dtype)
    out = torch.zeros_like(x)
    for t in range(x.shape[0]):
        v = decay * v + w * x[t]
        if v > 0.5:
            out[t] = v
            v = v - 0.5
        elif v < -0.5:
            out[t] = -v
        else:
            out[t] = 0.5 * v
            v = v * 0.9
    return out


@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_what_both_sides_of_an_if_store_is_stored_in_every_run(count):
    torch.manual_seed(count)
    lifted = lift(stored_on_both_sides, verify="off")
    for _ in range(2):
        inputs = [torch.randn(count, dtype=torch.float64), torch.tensor(0.8).double(), torch.tensor(0.7).double()]
        inputs = [one.requires_grad_() for one in inputs]
        wanted, found = stored_on_both_sides(*inputs), lifted(*inputs)
        torch.testing.assert_close(found, wanted)
        assert found.requires_grad == wanted.requires_grad
        if wanted.requires_grad:
            slopes = [torch.autograd.grad(one.square().sum(), inputs) for one in (found, wanted)]
            torch.testing.assert_close(*slopes)
            assert {loop.decision for loop in lifted.report().loops} == {"native"}


def unread_conversion(x):
    line = torch.ones((2 * x.shape[0],), dtype=torch.float64)
    for i in range(1):
        v = (x[i] - x) * x[i]
        _ = x[0].double() ** 3
        for c in range(x.shape[0]):
            line[c] = v[c] * 1
    return line


def conversions_of_elements(x):
    found = torch.ones((x.shape[0],), dtype=torch.float64)
    total = torch.tensor(0.0, dtype=torch.float64)
    for i in range(x.shape[0]):
        y = x[i]
        if y > 0:
            total = total + y.double() * y.to(torch.float64)
        else:
            total = total * 0.5 + x[0].double()
        found[i] = total * y.double()
    return found


@pytest.mark.parametrize("loop", [unread_conversion, conversions_of_elements])
@pytest.mark.parametrize("scale", [1.0, 0.0])
def test_elements_that_are_converted_to_what_they_are(loop, scale):
    lifted = lift(loop, backend="native", verify="off")
    for seed in range(3):
        generator = torch.Generator().manual_seed(seed)
        x = torch.randn(5, dtype=torch.float64, generator=generator).requires_grad_()
        results = [function(x) for function in (lifted, loop, lifted)]
        weights = torch.randn(results[0].shape, dtype=torch.float64, generator=generator) * scale
        found, expected, again = (torch.autograd.grad((one * weights).sum(), x)[0] for one in results)
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(again, expected)
