"""Loops over short rows and small stacks, as kernels of single numbers: values and gradients are the loop's."""

import pytest
import torch

from looplift import lift

double = torch.float64


def warping(x, y):
    n, m = x.shape[0], y.shape[0]
    cost = torch.full((n + 1, m + 1), float("inf"), dtype=x.dtype)
    cost[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            here = ((x[i - 1] - y[j - 1]) ** 2).sum()
            before = torch.stack([cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1]])
            cost[i, j] = here + before.min()
    return cost[n, m]


def soft_warping(x, y, gamma):
    n, m = x.shape[0], y.shape[0]
    cost = torch.full((n + 1, m + 1), 1e6, dtype=x.dtype)
    cost[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            before = torch.stack((cost[i - 1, j - 1], cost[i - 1, j], cost[i, j - 1]))
            cost[i, j] = torch.norm(x[i - 1] - y[j - 1]) - gamma * torch.logsumexp(-before / gamma, dim=0)
    return cost[n, m]


def frechet(p, q):
    n, m = p.shape[0], q.shape[0]
    reach = torch.zeros(n, m, dtype=p.dtype)
    for i in range(n):
        for j in range(m):
            d = torch.dist(p[i], q[j])
            if i == 0 and j == 0:
                reach[i, j] = d
            elif i == 0:
                reach[i, j] = torch.maximum(reach[i, j - 1].clone(), d)
            elif j == 0:
                reach[i, j] = torch.maximum(reach[i - 1, j].clone(), d)
            else:
                near = torch.stack([reach[i - 1, j].clone(), reach[i, j - 1].clone(), reach[i - 1, j - 1].clone()])
                reach[i, j] = torch.maximum(torch.amin(near), d)
    return reach


def partition(scores, moves):
    table = torch.zeros_like(scores)
    table[0] = scores[0]
    for t in range(1, scores.shape[0]):
        table[t] = torch.logsumexp(table[t - 1].clone()[:, None] + moves, 0) + scores[t]
    return table


def backward_scores(scores, moves):
    table = torch.zeros_like(scores)
    for t in range(scores.shape[0] - 2, -1, -1):
        for k in range(scores.shape[1]):
            table[t, k] = torch.logsumexp(moves[k] + scores[t + 1] + table[t + 1].clone(), dim=-1)
    return table


def attention(query, keys):
    out = torch.zeros_like(keys)
    out[0] = keys[0]
    for t in range(1, keys.shape[0]):
        weights = torch.softmax(query * keys[t], dim=0)
        out[t] = weights * out[t - 1].clone() + (1 - weights) * keys[t].unsqueeze(0).mean(0)
    return out


def linear_state(a, b, x):
    state = torch.zeros(x.shape[0] + 1, a.shape[0], dtype=x.dtype)
    for t in range(x.shape[0]):
        state[t + 1] = a @ state[t].clone() + b * x[t]
    return state


def similar(x, y):
    best = torch.zeros(len(x) + 1, dtype=x.dtype)
    for i in range(len(x)):
        best[i + 1] = torch.max(best[i].clone(), torch.dot(x[i], y[i]) + 0.5 * best[i].clone())
    return best


def columns(x, w):
    total = torch.zeros(x.shape[1], dtype=x.dtype)
    for j in range(1, x.shape[1]):
        total[j] = 0.5 * total[j - 1].clone() + (x[:, j] * w).sum() - x[:, j].mean() + x.T[j - 1].max()
    return total


def of_inputs(x, w):
    total = torch.zeros((), dtype=x.dtype)
    for t in range(x.shape[0]):
        total = torch.tanh(total * torch.logsumexp(x[t], 0) + x[t].max() * w[t].min() - torch.norm(w[t]))
    return total * 1.0


def wraps(x):
    """The row before the first one is the last one, which may be the row itself."""
    out = x.clone()
    for t in range(x.shape[0]):
        out[t] = out[t - 1].clone() * 0.5 + x[t]
    return out


def added(x, w):
    out = torch.zeros_like(x)
    for t in range(1, x.shape[0]):
        out[t] += torch.exp(-(out[t - 1].clone() ** 2)) * w
        out[t] -= x[t] * x[t - 1]
    return out


def keeps_a_view(x):
    """Autograd keeps the row for its backward pass, and finds it changed."""
    out = x * 1.0
    for t in range(1, x.shape[0]):
        out[t] = torch.logsumexp(out[t - 1], 0) + x[t]
    return out


def number(*sizes, seed=0, dtype=double):
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed + sum(sizes)), dtype=dtype)


def ties(*sizes):
    return torch.randint(0, 2, sizes, generator=torch.Generator().manual_seed(sum(sizes))).to(double)


CASES = [
    (warping, [(number(n, d), number(m, d, seed=1)) for n, m, d in ((4, 5, 2), (1, 1, 1), (3, 2, 0), (6, 7, 3))]),
    (warping, [(ties(n, 1), ties(m, 1)) for n, m in ((4, 4), (5, 3), (6, 6))]),
    (warping, [(number(3, 2, dtype=torch.float32), number(4, 2, dtype=torch.float32))]),
    (soft_warping, [(number(n, 2), number(m, 2, seed=1), 0.7) for n, m in ((4, 5), (1, 1), (2, 3))]),
    (soft_warping, [(ties(4, 1), ties(4, 1), 0.1)]),
    (frechet, [(number(n, 2), number(m, 2, seed=1)) for n, m in ((4, 5), (1, 1), (1, 4), (3, 1))]),
    (frechet, [(ties(4, 2), ties(4, 2))]),
    (partition, [(number(t, k), number(k, k)) for t, k in ((5, 3), (1, 2), (2, 1), (7, 4))]),
    (partition, [(torch.full((4, 3), float("-inf"), dtype=double), number(3, 3)), (number(3, 3), number(3, 3))]),
    (backward_scores, [(number(t, k), number(k, k)) for t, k in ((5, 3), (1, 2), (2, 1), (7, 4))]),
    (attention, [(number(k), number(t, k)) for t, k in ((5, 3), (1, 2), (2, 1))]),
    (linear_state, [(number(k, k), number(k), number(t)) for t, k in ((5, 3), (0, 2), (1, 1))]),
    (similar, [(number(n, d), number(n, d, seed=3)) for n, d in ((5, 3), (1, 1), (4, 2))]),
    (columns, [(number(k, n), number(k)) for n, k in ((5, 3), (2, 1), (4, 2))]),
    (of_inputs, [(number(n, k), number(n, k, seed=5)) for n, k in ((5, 3), (1, 1), (4, 2))]),
    (of_inputs, [(ties(5, 4), ties(5, 4))]),
    (wraps, [(number(n, k),) for n, k in ((5, 3), (2, 2), (3, 1), (4, 2))]),
    (added, [(number(n, k), number(k)) for n, k in ((5, 3), (1, 2), (2, 2))]),
]


def outcome(function, arguments, *, gradients):
    leaves = [a.clone().requires_grad_(gradients) if torch.is_tensor(a) else a for a in arguments]
    out = function(*leaves)
    found = [out.detach()]
    if gradients and out.requires_grad:
        weights = torch.arange(1.0, out.numel() + 1, dtype=out.dtype).reshape(out.shape).cos()
        wanted = [leaf for leaf in leaves if torch.is_tensor(leaf)]
        found += torch.autograd.grad((out * weights).sum(), wanted, allow_unused=True)
    return found


@pytest.mark.parametrize("gradients", [True, False])
@pytest.mark.parametrize(("function", "calls"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_rows_as_numbers(function, calls, gradients):
    lifted = lift(function, backend="native" if gradients else "auto")
    for arguments in [*calls, *calls]:
        want = outcome(function, arguments, gradients=gradients)
        got = outcome(lifted, arguments, gradients=gradients)
        assert len(got) == len(want)
        for mine, theirs in zip(got, want, strict=True):
            assert (mine is None) == (theirs is None)
            if theirs is not None:
                torch.testing.assert_close(mine, theirs, equal_nan=True)
        if gradients and arguments is calls[0]:
            assert {loop.decision for loop in lifted.report().loops} == {"native"}


def test_the_row_itself_is_left_to_the_loop():
    """With one row, the row before is the row that is written."""
    x = number(1, 3)
    torch.testing.assert_close(lift(wraps)(x), wraps(x))


def test_what_autograd_finds_changed_raises_as_in_the_loop():
    x = number(4, 3).requires_grad_()
    for function in (keeps_a_view, lift(keeps_a_view, backend="native")):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            function(x).sum().backward()


def chosen(x):
    total = x[0, 0] * 0
    for i in range(x.shape[0]):
        total = total * 0.5 + torch.softmax(x[i], 0)[0] + torch.log_softmax(x[i], 0)[1]
    return total


@pytest.mark.parametrize("row", [(1.0, float("inf")), (float("inf"), 1.0), (float("-inf"),) * 2, (1.0, float("-inf"))])
def test_softmax_of_infinite_numbers(row):
    for function in (lambda x: chosen(x[:1]), chosen):
        x = torch.tensor([row, (1.0, 2.0)], dtype=double, requires_grad=True)
        torch.testing.assert_close(lift(function, backend="native", verify="off")(x), function(x), equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, double])
@pytest.mark.parametrize("row", [(1e7, 1e7), (1e30, 1e30), (1e5, 1e5 + 1)])
def test_softmax_of_large_numbers(row, dtype):
    found = []
    for function in (chosen, lift(chosen, backend="native", verify="off")):
        x = torch.tensor([row, (1.0, 2.0)], dtype=dtype, requires_grad=True)
        result = function(x)
        found.append((result.detach(), *torch.autograd.grad(result, x)))
    torch.testing.assert_close(*found)


def weighted(x):
    weights = x[0]
    for i in range(x.shape[0]):
        weights = torch.softmax(x[i] + weights, 0)
    return weights


@pytest.mark.parametrize("gradients", [True, False])
def test_softmax_of_a_carried_row_of_infinite_numbers(gradients):
    x = torch.tensor([(1.0, 2.0), (1.0, float("inf"))], dtype=double, requires_grad=gradients)
    torch.testing.assert_close(lift(weighted, backend="native", verify="off")(x), weighted(x), equal_nan=True)


def chosen_product(y, z, s):
    for row in y:
        total = torch.where(s < 2, s, torch.dot(row, row))
    return total


def carried_product(y, z, s):
    total = s * 1
    for row in y:
        total = torch.tanh(total + (row * z).sum())
    return total


def norm_of_one_side(y, z, s):
    total = s * 1
    for row in y:
        total = total - row.sum() if total > 0.2 else total * 0.5 + torch.norm(row - z)
    return total


def stored_rows(y, z, s):
    made = torch.zeros(y.shape)
    for i in range(1, y.shape[0]):
        made[i] = made[i - 1] * 0.5 + y[i] * s
    return made


@pytest.mark.parametrize("function", [chosen_product, carried_product, norm_of_one_side, stored_rows])
@pytest.mark.parametrize("widths", [(0, 2), (2, 0), (1, 0)])
def test_rows_without_elements_have_gradients_as_in_the_loop(function, widths):
    lifted = lift(function, verify="off")
    for width in widths:
        found = []
        for call in (function, lifted):
            y, z, s = torch.ones(3, width), torch.ones(width), torch.tensor(0.7)
            inputs = [tensor.requires_grad_() for tensor in (y, z, s)]
            result = call(*inputs)
            grads = torch.autograd.grad(result.sum(), inputs, allow_unused=True) if result.requires_grad else None
            found.append((result, grads))
        torch.testing.assert_close(found[1], found[0])
