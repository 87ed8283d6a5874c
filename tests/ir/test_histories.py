"""Rows that a loop carries: as tables they are part of a kernel, and values and gradients are the loop's."""

import pytest
import torch

from looplift import lift

double = torch.float64


def partition(scores, moves, start):
    alpha = start + scores[0]
    for t in range(1, scores.shape[0]):
        alpha = torch.logsumexp(alpha.unsqueeze(1) + moves, dim=0) + scores[t]
    return torch.logsumexp(alpha, dim=0)


def cell(x, w, u):
    h = torch.zeros(w.shape[0], dtype=x.dtype)
    for row in x:
        h = torch.tanh(w @ h + u * row.sum())
    return h


def filtered(x, gain):
    """Two states; the order in which they are made counts."""
    mean, spread = torch.zeros_like(x[0]), torch.ones_like(x[0])
    for t in range(x.shape[0]):
        error = x[t] - mean
        spread = 0.9 * spread + gain * error * error
        mean = mean + error / (1 + spread)
    return mean, spread


def backward_sums(x, w):
    beta = torch.zeros(x.shape[1], dtype=x.dtype)
    total = torch.zeros((), dtype=x.dtype)
    for t in range(x.shape[0]):
        beta = torch.logsumexp(w + beta[None, :] + x[t], 1)
        total = total + beta[0]
    return beta, total * 1.0


def swapped(x):
    first, second = x[0] * 1.0, x[1] * 1.0
    for t in range(2, x.shape[0]):
        first, second = second, first * 0.5 + x[t]
    return first, second


def collected(x, w, u):
    h = torch.zeros(w.shape[0], dtype=x.dtype)
    states, sums = [], []
    for row in x:
        h = torch.tanh(w @ h + u * row.sum())
        sums.append(h.sum())
        states.append(h)
    return h, torch.stack(sums), torch.stack(states)


def spikes(x, threshold):
    v = torch.zeros((), dtype=x.dtype)
    out = []
    for t in range(1, len(x)):
        v = 0.9 * v + x[t]
        if v > threshold:
            v = v - threshold
        out.append(v)
    return torch.stack(out, dim=0)


def smoothed(x, threshold):
    last = x[0]
    kept = [last]
    out = []
    for value in x:
        last = torch.where(value > threshold, value, 0.5 * last + 0.5 * value)
        out.append(last * 2)
    return torch.stack(out), kept


def gated(x, keep):
    """The state may be made of what asks for no gradient."""
    h = torch.zeros(x.shape[1], dtype=x.dtype)
    for t in range(x.shape[0]):
        if keep[t]:
            h = h + x[t]
        else:
            h = torch.zeros(x.shape[1], dtype=x.dtype)
    return h * 1.0


def in_place(x):
    h = torch.zeros(x.shape[1], dtype=x.dtype)
    for t in range(x.shape[0]):
        h = h * 0.5
        h += x[t]
    return h


def detached(x):
    h = torch.zeros(x.shape[1], dtype=x.dtype)
    for t in range(x.shape[0]):
        h = h.detach() * 0.5 + x[t]
    return h


def number(*sizes, seed=0):
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed + sum(sizes)), dtype=double)


SIZES = ((5, 3), (1, 2), (2, 1), (0, 3), (7, 4))
CASES = [
    (partition, [(number(t, k), number(k, k), number(k)) for t, k in SIZES if t], True),
    (cell, [(number(t, k), number(k, k, seed=1), number(k)) for t, k in SIZES], True),
    (filtered, [(number(t, k), number(k).abs()) for t, k in SIZES if t], True),
    (backward_sums, [(number(t, k), number(k, k)) for t, k in SIZES], True),
    (collected, [(number(t, k), number(k, k, seed=1), number(k)) for t, k in SIZES if t], True),
    (spikes, [(number(t), torch.tensor(0.3, dtype=double)) for t in (6, 2, 3, 9)], True),
    (smoothed, [(number(t), torch.tensor(0.3, dtype=double)) for t in (6, 1, 3, 9)], False),
    (swapped, [(number(t + 2, k),) for t, k in SIZES], False),
    (gated, [(number(4, 2), torch.tensor(bits, dtype=torch.bool)) for bits in ((1, 0, 1, 1), (1, 1, 1, 0))], False),
    (in_place, [(number(t, k),) for t, k in SIZES], False),
    (detached, [(number(t, k),) for t, k in SIZES], False),
]


def outcome(function, arguments, *, gradients):
    leaves = [a.clone().requires_grad_(gradients and a.is_floating_point()) for a in arguments]
    found = function(*leaves)
    results = [r for r in found if torch.is_tensor(r)] if isinstance(found, tuple) else [found]
    values = [result.detach() for result in results] + [result.requires_grad for result in results]
    asking = [result for result in results if result.requires_grad]
    if asking:
        loss = torch.stack(
            [(r * torch.arange(1.0, r.numel() + 1, dtype=r.dtype).reshape(r.shape)).sum() for r in asking]
        ).sum()
        values += torch.autograd.grad(loss, [leaf for leaf in leaves if leaf.requires_grad], allow_unused=True)
    return values


@pytest.mark.parametrize("gradients", [True, False])
@pytest.mark.parametrize(("function", "calls", "is_kernel"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_carried_rows(function, calls, is_kernel, gradients):
    lifted = lift(function)
    for arguments in [*calls, *calls]:
        want = outcome(function, arguments, gradients=gradients)
        got = outcome(lifted, arguments, gradients=gradients)
        assert len(got) == len(want)
        for mine, theirs in zip(got, want, strict=True):
            if torch.is_tensor(theirs):
                torch.testing.assert_close(mine, theirs, equal_nan=True)
            else:
                assert mine is theirs
        if is_kernel and gradients and arguments is calls[0]:
            assert {loop.decision for loop in lifted.report().loops} == {"native"}


def test_a_state_that_grows_is_left_to_the_loop():
    def widened(x, rows):
        h = x[0] * 1.0
        for row in rows:
            h = h + row
        return h

    x = number(3, 1)
    lifted = lift(widened)
    for rows in (number(4, 1), number(4, 3), number(4, 1)):
        torch.testing.assert_close(lifted(x, rows), widened(x, rows))


def test_the_state_after_the_loop_is_a_tensor_of_its_own():
    lifted = lift(filtered)
    x, gain = number(5, 3), number(3).abs()
    for _ in range(3):
        mean, spread = lifted(x, gain)
        mean += 1
        assert mean.untyped_storage().nbytes() == 24
        torch.testing.assert_close(spread, filtered(x, gain)[1])


def forgotten(x, start):
    state = start
    for t in range(len(x)):
        state = x[t] * 2
    return state


def cut_off(x, start):
    state = start
    for t in range(len(x)):
        state = x[t] * 2 + state.detach() / 2
    return state


@pytest.mark.parametrize("function", [forgotten, cut_off])
def test_a_state_that_no_gradient_reaches_has_none(function):
    lifted = lift(function, backend="native", verify="off")
    for n in (3, 1, 4):
        x, start = torch.ones(n, 3, requires_grad=True), torch.ones(3, requires_grad=True)
        found, wanted = (torch.autograd.grad(one(x, start).sum(), [x, start], allow_unused=True)
                         for one in (lifted, function))  # fmt: skip
        assert found[1] is None and wanted[1] is None
        assert torch.equal(found[0], wanted[0])


def changed_in_turn(x, y):
    kept = []
    for t in range(len(x)):
        kept.append(x[t])
        x[t] = y[t] * 2
    return torch.stack(kept)


def changed_before_they_are_stacked(x, y):
    kept = []
    for t in range(len(x)):
        kept.append(x[t])
    x[0] = 5
    stacked = torch.stack(kept)
    for t in range(len(x)):
        y[t] = stacked[t] * 2
    return y


@pytest.mark.parametrize("backend", ["native", "auto", "torch"])
@pytest.mark.parametrize("function", [changed_in_turn, changed_before_they_are_stacked])
def test_what_is_stacked_is_what_the_items_hold_then(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for n in (3, 1, 4):
        x, y = torch.arange(1.0, n + 1), torch.full((n,), 0.25)
        found, wanted = (one(x.clone(), y.clone()) for one in (lifted, function))
        assert torch.equal(found, wanted)
