"""Regions that append to lists of their caller. The loop is the oracle."""

from __future__ import annotations

import pytest
import torch
from tests.frontend.oracle import check

from looplift import lift

M = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2)).eval()
X = torch.arange(24.0).reshape(6, 4).cos()


class Log:
    def __init__(self):
        self.losses = []


def preds(x):
    preds = []
    with torch.no_grad():
        for i in range(len(x)):
            preds.append(M(x[i : i + 1]).argmax(1).item())
    return preds


def arglist(x, out):
    for row in x:
        out.append(row.sum().item())
    return out


def arglist_iter(x, out):
    for v in out:
        x[0] += v
    for row in x:
        out.append(row.sum().item())
    return len(out)


def arglist_read(x, out):
    for row in x:
        out.append(row.sum().item() + len(out))
    return len(out)


def two(x, out):
    other = []
    with torch.no_grad():
        for row in x:
            if row[0] > 0:
                out.append(row * 2)
            other.append(row.norm())
    return torch.stack(other)


def epochs(x, log):
    for epoch in range(3):
        for row in x:
            log.append(float(row[0]) * epoch)
        print("epoch")
    return log


def alias(x, ls):
    a, b = ls[0], ls[0]
    with torch.no_grad():
        for row in x:
            a.append(row[0].item())
            b.append(row[1].item())
    return ls


def alias2(x, a):
    b = a
    with torch.no_grad():
        for v in b:
            a.append(v)
            if len(b) > 20:
                break
    return a


def alias3(x, a):
    b = a
    s = 0.0
    with torch.no_grad():
        for i in range(6):
            a.append(x[i, 0].item())
            s += b[i]
    return a, s


def raise_(x, out):
    with torch.no_grad():
        for i in range(8):
            out.append(x[i].sum().item())
    return out


def grad(x, out):
    for i in range(6):
        out.append((x[i] ** 2).sum())
    return torch.stack(out).sum()


def attr(x, log):
    losses = log.losses
    for row in x:
        losses.append(row.sum().item())
    return log.losses


def attr2(x, log):
    for row in x:
        log.losses.append(row.sum().item())
    return log.losses


def raise2(x, out):
    try:
        for i in range(8):
            out.append(1.0 / x[i].sum().item())
    except IndexError:
        pass
    return out


CASES = [
    (preds, (X,)),
    (
        arglist,
        (
            X,
            [1.5],
        ),
    ),
    (
        arglist_iter,
        (
            X,
            [1.5],
        ),
    ),
    (
        arglist_read,
        (
            X,
            [1.5],
        ),
    ),
    (
        two,
        (
            X,
            [],
        ),
    ),
    (
        epochs,
        (
            X,
            [],
        ),
    ),
    (
        alias,
        (
            X,
            [[], []],
        ),
    ),
    (
        alias2,
        (
            X,
            [1.0, 2.0],
        ),
    ),
    (
        alias3,
        (
            X,
            [1.0, 2.0],
        ),
    ),
    (
        raise_,
        (
            X,
            [],
        ),
    ),
    (
        grad,
        (
            X.clone().requires_grad_(),
            [],
        ),
    ),
    (
        attr,
        (
            X,
            Log(),
        ),
    ),
    (
        attr2,
        (
            X,
            Log(),
        ),
    ),
    (
        raise2,
        (
            X,
            [],
        ),
    ),
]
KEPT = frozenset("arglist_iter arglist_read alias alias2 alias3 raise_ grad attr attr2 raise2".split())


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_the_loop_and_its_lifted_form_agree(function, arguments):
    check(function, arguments, kept=function.__name__ in KEPT)


def settled(systems, tol):
    solutions = []
    for A, b in systems:
        x = torch.zeros(len(b), dtype=b.dtype)
        steps = 0
        while steps < 30:
            new = torch.zeros(len(b), dtype=b.dtype)
            for i in range(len(b)):
                s = 0.0
                for j in range(len(b)):
                    if j != i:
                        s += A[i, j].item() * x[j].item()
                new[i] = (b[i].item() - s) / A[i, i].item()
            change = (new - x).abs().max().item()
            x = new
            steps += 1
            if change < tol:
                break
        solutions.append(x)
    return solutions


def test_a_loop_in_front_of_what_is_appended_is_a_kernel():
    generator = torch.Generator().manual_seed(3)
    systems = [
        (torch.rand(n, n, generator=generator) + n * torch.eye(n), torch.rand(n, generator=generator)) for n in (3, 5)
    ]
    lifted = lift(settled, verify="off")
    torch.testing.assert_close(lifted(systems, 1e-4), settled(systems, 1e-4))
    assert all(loop.decision == "native" for loop in lifted.report().loops)


def nearest_of_clouds(clouds, others, found):
    for cloud, other in zip(clouds, others, strict=True):
        name = f"{len(cloud)} to {len(other)}"
        nearest = []
        for point in cloud:
            best = None
            for target in other:
                distance = ((point - target) ** 2).sum()
                if best is None or distance < best:
                    best = distance
            nearest.append(best)
        found.append(sum(nearest) / len(cloud))
        print(name)
    return found


@pytest.mark.parametrize("counts", [(3, 4), (1, 2), (2, 5)])
def test_what_is_appended_may_come_of_a_name_that_is_none_at_first(counts):
    clouds = [[torch.randn(count + k, 3, dtype=torch.float64) for k in range(3)] for count in counts]
    wanted = nearest_of_clouds(*clouds, [])
    for backend in ("auto", "torch"):
        lifted = lift(nearest_of_clouds, verify="off", backend=backend)
        for _ in range(2):
            torch.testing.assert_close(lifted(*clouds, []), wanted)
        assert [loop.decision for loop in lifted.report().loops][:2] == ["kept", "lanes"]
