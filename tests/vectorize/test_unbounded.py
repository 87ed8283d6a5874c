"""Infinities in lanes that do not run: where the loop computes nothing of them, no gradient is NaN."""

import math
import warnings

import pytest
import torch
from tests.vectorize.harness import written

from looplift import lift

INF = math.inf


def causal_attention(q, k, v, lengths):
    out = torch.zeros(q.shape)
    for b in range(q.shape[0]):
        for t in range(q.shape[1]):
            if t >= lengths[b]:
                continue
            scores = torch.full((q.shape[1],), -INF)
            for u in range(t + 1):
                scores[u] = q[b, t] @ k[b, u]
            out[b, t] = scores.softmax(-1) @ v[b]
    return out


def attention_before_the_condition(q, k, v, lengths):
    out = torch.zeros(q.shape)
    for b in range(q.shape[0]):
        for t in range(q.shape[1]):
            scores = torch.full((q.shape[1],), -INF)
            for u in range(q.shape[1]):
                if u <= t and t < lengths[b]:
                    scores[u] = q[b, t] @ k[b, u]
            found = scores.softmax(-1) @ v[b]
            if t < lengths[b]:
                out[b, t] = found
    return out


def greatest_of_a_prefix(x, w, lengths):
    out = torch.zeros(len(lengths))
    for t in range(len(lengths)):
        if lengths[t] == 0:
            continue
        out[t] = x[: lengths[t]].max() * w[t]
    return out


def least_of_a_prefix(x, w, lengths):
    total = 0.0
    for t in range(len(lengths)):
        if lengths[t] > 0:
            total = total + x[: lengths[t]].amin() * w[t]
    return total


def logsumexp_of_a_prefix(x, w, lengths):
    out = []
    for t in range(len(lengths)):
        out.append(torch.logsumexp(x[: lengths[t]], 0) * w[t] if lengths[t] > 0 else w[t])
    return torch.stack(out)


def mean_of_a_prefix(x, w, lengths):
    out = torch.zeros(len(lengths))
    for t in range(len(lengths)):
        if lengths[t] > 0:
            out[t] = x[: lengths[t]].mean() * w[t]
    return out


def best_number(x, w, lengths):
    out = []
    for t in range(len(lengths)):
        best = -INF
        for u in range(len(x)):
            if u < lengths[t]:
                best = max(best, x[u].item())
        out.append(best * w[t] if best > -INF else w[t])
    return torch.stack(out)


def best_tensor(x, w, lengths):
    out = []
    for t in range(len(lengths)):
        best, u = torch.tensor(-INF), 0
        while u < lengths[t]:
            best = torch.maximum(best, x[u])
            u += 1
        if best > -INF:
            out.append(best * w[t])
    return torch.stack(out)


def best_known(x, w, lengths):
    total = 0.0
    for t in range(len(lengths)):
        best, u = torch.tensor(-INF), 0
        while u < lengths[t]:
            best = torch.maximum(best, x[u].detach())
            u += 1
        if best > -INF:
            total = total + best * w[t]
    return total


def best_of_each_step(x, w, lengths):
    best, total = torch.full((len(lengths),), -INF), 0.0
    for u in range(len(x)):
        for t in range(len(lengths)):
            if u < lengths[t]:
                best[t] = max(best[t], x[u].item())
    for t in range(len(lengths)):
        if best[t] > -INF:
            total = total + best[t] * w[t] * x[0]
    return total


def masked_scores(x, w, lengths):
    out = torch.zeros(len(lengths))
    for t in range(len(lengths)):
        if lengths[t] == 0:
            continue
        keep = torch.zeros(len(x), dtype=torch.bool)
        for u in range(lengths[t]):
            keep[u] = True
        out[t] = (torch.softmax(x.masked_fill(~keep, -INF), 0) * w).sum()
    return out


def filled_with_nan(x, w, lengths):
    out = []
    for t in range(len(lengths)):
        kept = torch.full((len(x),), math.nan)
        if lengths[t] > 0:
            for u in range(len(x)):
                kept[u] = x[u] * 2
            out.append((kept * w).sum())
        else:
            out.append(w.sum())
    return torch.stack(out)


def rows_of_before(x, w, lengths):
    rows, total = torch.full((len(lengths), len(x)), INF), 0.0
    for t in range(len(lengths)):
        if lengths[t] > 0:
            rows[t] = x + 1
    for t in range(len(lengths)):
        if lengths[t] > 0:
            total = total + (rows[t] * w).sum()
    return total


def square_of_the_best(x, w, lengths):
    best, total = torch.full((len(lengths),), -INF), w.sum()
    for t in range(len(lengths)):
        for u in range(lengths[t]):
            best[t] = max(best[t], x[u])
    for t in range(len(lengths)):
        if best[t] > -INF:
            total = total + best[t] ** 2 * w[t]
    return total


def by_degrees(x, w, lengths):
    inverse, out = lengths.float() ** -0.5, torch.zeros(len(x))
    for i in range(len(x)):
        if lengths[i] > 0:
            out[i] += inverse[i] * x[i] * w[i]
    return out


def by_pairs(x, w, lengths):
    inverse, total = 1 / (lengths[:, None] - lengths[None, :]), 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                total = total + x[i] * w[j] * inverse[i, j]
    return total


def without_missing(x, w, lengths):
    z, total = lengths / lengths, 0.0
    for i in range(len(x)):
        if torch.isnan(z[i]):
            continue
        total = total + (z[i] * w[0] - x[i]) ** 2
    return total


def filled_before(x, w, lengths):
    inverse, out = torch.zeros(len(x)), torch.zeros(len(x))
    for i in range(len(x)):
        inverse[i] = 1 / lengths[i]
    for i in range(len(x)):
        if lengths[i] != 0:
            out[i] = inverse[i] * x[i] * w[i]
    return out


def quotients_before_the_condition(x, w, lengths):
    scale, total = 1 / lengths, 0.0
    for i in range(len(x)):
        ratio = w[i] / scale[i]
        if lengths[i] > 0:
            total = total + ratio * x[i]
    return total


def written_down(x, w, lengths):
    costs, total = torch.tensor([2.0, INF, 1.0]), 0.0
    for i in range(len(x)):
        if costs[i] < 100:
            total = total + costs[i] * x[i] * w[i]
    return total


def by_a_number(x, w, lengths, scale=INF):
    total = 0.0
    for t in range(len(x)):
        total = total + (x[t] * w[t] * scale if lengths[t] > 9 else x[t] * w[t])
    return total


def by_items(xs, w, lengths):
    total = 0.0
    for x, length in zip(xs, lengths, strict=True):
        if length > 0:
            total = total + (x * w).sum()
    return total


def generator():
    return torch.Generator().manual_seed(1)


def heads():
    q, k, v = (torch.randn(2, 3, 2, generator=generator(), requires_grad=True) for _ in range(3))
    return q, k, v, torch.tensor([3, 1])


def vectors():
    g = generator()
    return *(torch.randn(3, generator=g, requires_grad=True) for _ in range(2)), torch.tensor([2, 0, 1])


def items():
    g = generator()
    xs = [torch.randn(3, generator=g), torch.full((3,), INF), torch.randn(3, generator=g)]
    return xs, torch.randn(3, generator=g, requires_grad=True), torch.tensor([2, 0, 1])


CASES = [
    (causal_attention, heads), (attention_before_the_condition, heads), (greatest_of_a_prefix, vectors),
    (least_of_a_prefix, vectors), (logsumexp_of_a_prefix, vectors), (mean_of_a_prefix, vectors),
    (best_number, vectors), (best_tensor, vectors), (best_known, vectors), (masked_scores, vectors),
    (filled_with_nan, vectors), (best_of_each_step, vectors),
    (rows_of_before, vectors), (square_of_the_best, vectors), (by_degrees, vectors), (by_pairs, vectors),
    (without_missing, vectors),
    (filled_before, vectors),
    (written_down, vectors), (quotients_before_the_condition, vectors), (by_a_number, vectors), (by_items, items),
]  # fmt: skip


def outcome(function, made):
    values = made()
    result = function(*values)
    result.sum().backward()
    grads = {place: one.grad for place, one in enumerate(values) if isinstance(one, torch.Tensor)}
    return {"result": result.detach()} | {place: grad for place, grad in grads.items() if grad is not None}


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_gradients_are_those_of_the_loop(case, backend):
    function, made = case
    lifted = lift(function, verify="off", backend=backend)
    for _ in range(2):
        torch.testing.assert_close(outcome(lifted, made), outcome(function, made))


@pytest.mark.parametrize("case", CASES[:7] + CASES[8:11], ids=lambda case: case[0].__name__)
def test_lanes_that_do_not_run_keep_no_loop(case):
    function, made = case
    lifted = lift(function, verify="off", backend="torch")
    lifted(*made())
    assert "kept" not in {one.decision for one in lifted.report().loops}


DEVIATIONS = [
    "torch.std(x[i])",
    "x[i].var(0)",
    "x[i].std(0, correction=2)",
    "x[i].std(-1, True)",
    "x[i].var(0, unbiased=False)",
]


@pytest.mark.parametrize("expression", DEVIATIONS)
@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_deviations_without_a_degree_of_freedom(expression, width, dtype):
    text = "def loop(x, lengths):\n    out = torch.zeros(3, dtype=torch.float64)\n    for i in range(3):\n"
    text += f"        if lengths[i] > 0:\n            out[i] += {expression}\n    return out\n"
    function = written(text, f"<deviations: {expression}>", {"torch": torch})["loop"]

    def made():
        return torch.randn(3, width, dtype=dtype, generator=generator()).requires_grad_(), torch.tensor([2, 0, 1])

    lifted = lift(function, verify="off", backend="torch")
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what has no degree of freedom
            torch.testing.assert_close(outcome(lifted, made), outcome(function, made), equal_nan=True)
