"""Loops that draw random numbers at several places. The loop is the oracle."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from tests.frontend.oracle import outcome

from looplift import lift
from looplift.base.compare import difference

X = np.arange(12.0).reshape(4, 3)
T = torch.arange(24.0).reshape(4, 6)
RNG = np.random.default_rng(3)
LEG = np.random.RandomState(4)
MT = np.random.Generator(np.random.MT19937(2))


def jittered(x, rng):
    out = np.empty_like(x)
    n = x.shape[1]
    for i in range(len(x)):
        noise = rng.normal(0, 0.1, size=n)
        scale = rng.uniform(0.9, 1.1)
        out[i] = x[i] * scale + noise
    return out, rng.normal()


def aug(batch):
    out = []
    for img in batch:
        if torch.rand(1).item() < 0.5:
            img = torch.flip(img, dims=[-1])
        scale = 0.8 + 0.4 * torch.rand(1)
        out.append(img * scale)
    return torch.stack(out)


def aug2(batch):
    out = []
    for img in batch:
        noise = torch.randn_like(img)
        out.append(img + 0.1 * noise * torch.rand(()))
    return torch.stack(out)


def shaken(row):
    return row + torch.rand(6)


def inside(batch):
    out = []
    for row in batch:
        scale = torch.randn(6)
        out.append(shaken(row) * scale)
    return torch.stack(out)


def aug3(batch):
    out = []
    for i in range(len(batch)):
        top = torch.randint(0, 3, (1,)).item()
        left = torch.randint(0, 3, (1,)).item()
        out.append(batch[i, top : top + 2] * left)
    return torch.stack(out)


def of_numpy(x):
    s = []
    for row in x:
        a = np.random.rand()
        b = np.random.randint(0, 3)
        s.append(row[b] * a)
    return np.array(s)


def python(x):
    s = 0.0
    for row in x:
        s += row[0] * random.random() + random.uniform(-1, 1)
    return s


def cond(x):
    s = 0.0
    for row in x:
        if np.random.rand() < 0.5:
            s += np.random.rand() * row[0]
    return s


def raised(x):
    out = np.zeros(3)
    for i in range(4):
        a = np.random.rand()
        out[i] = a * np.random.rand()
    return out


def raise_state(x):
    out = np.zeros(3)
    try:
        for i in range(4):
            a = np.random.rand()
            out[i] = a * np.random.rand()
    except IndexError:
        pass
    return out


def left(x):
    s = 0.0
    for row in x:
        a = np.random.rand()
        if a * np.random.rand() > 0.3:
            break
        s += a
    return s


def left_inside(x):
    out = []
    for row in x:
        s = 0.0
        for v in row:
            if v > 9.5:
                break
            s += v
        out.append(s * np.random.rand())
    return np.array(out)


def left_by_else(x):
    s = 0.0
    for row in x:
        for v in row:
            if v > 7:
                break
        else:
            break
        s += np.random.rand()
    return s


def sampled(rows, top, penalty):
    tokens, logs = [], []
    for row in rows:
        counts = {}
        for t in range(len(row)):
            counts[t % 3] = counts.get(t % 3, 0) + 1
        z = row.clone()
        for t, c in counts.items():
            z[t] = z[t] / penalty**c
        probs = torch.softmax(z, dim=0).tolist()
        nucleus, mass = [], 0.0
        for i in sorted(range(len(probs)), key=lambda i: -probs[i]):
            nucleus.append(i)
            mass += probs[i]
            if mass >= top:
                break
        u = torch.rand((), dtype=torch.float64).item() * mass
        acc, choice = 0.0, nucleus[-1]
        for i in nucleus:
            acc += probs[i]
            if u < acc:
                choice = i
                break
        tokens.append(choice)
        logs.append(torch.log(torch.tensor(probs[choice] / mass, dtype=torch.float64)))
    return tokens, torch.stack(logs)


def skipped(x):
    s = 0.0
    for row in x:
        a, b = np.random.rand(), np.random.normal(size=2)
        if a > 0.3:
            continue
        s += a * b.sum() * row[0]
    return s


def continue2(x):
    s = 0.0
    for row in x:
        a = np.random.rand()
        if a > 0.3:
            continue
        s += a * np.random.rand()
    return s


def dependent(x):
    s = 1.0
    for row in x:
        a = np.random.rand()
        s = np.random.normal(s, a)
    return s


def dependent2(x):
    s = 1.0
    for row in x:
        a = np.random.randint(1, 4)
        b = np.random.normal(size=a)
        s += b.sum()
    return s


def data_changed(x, rng):
    for i in range(4):
        j = rng.integers(0, 3)
        k = rng.choice(x[:, 0])
        x[i, 0] = k * j
    return x, rng.random()


def none(x, rng):
    s = 0.0
    for row in x:
        s += rng.random() * rng.normal()
    return s, rng.random()


def returned(x, rng):
    out = []
    for row in x:
        a = rng.normal(size=2)
        b = rng.random()
        out.append(a)
    return out, a, b, row


def inplace(x, rng):
    out = []
    for row in x:
        a = rng.normal(size=3)
        a += row * rng.random()
        out.append(a.sum())
    return np.array(out), a


def grad(x):
    s = 0.0
    for row in x:
        s = s + (row * torch.randn(6) * torch.rand(1)).sum()
    return s


def perm(x, rng):
    out = []
    for i in range(len(x)):
        p = rng.permutation(3)
        w = rng.random()
        out.append(x[i][p] * w)
    return np.stack(out)


def boot(x, rng, n):
    out = np.zeros(n)
    for b in range(n):
        idx = rng.integers(0, len(x), size=len(x))
        out[b] = x[idx, 0].mean()
    return out


def boot2(x, rng, n):
    means = []
    d = x[:, 0]
    for _ in range(n):
        s = rng.choice(d, size=len(d), replace=True)
        means.append(s.mean())
    return np.percentile(means, [5, 95])


def pi(n):
    inside = 0
    for _ in range(n):
        x, y = random.random(), random.random()
        if x * x + y * y <= 1:
            inside += 1
    return 4 * inside / n


def both(x, rng):
    s = 0.0
    for row in x:
        s += rng.random() and rng.normal()
        t = 0 < rng.random() < rng.random()
    return s, t


def walk(x, rng, n):
    pos = np.zeros((n + 1, 2))
    for t in range(n):
        step = rng.normal(size=2)
        pos[t + 1] = pos[t] + step * rng.random()
    return pos


def walk2(x, n):
    path = [0]
    for _ in range(n):
        path.append(path[-1] + random.choice([-1, 1]))
    return path


def added(x, rng):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = x[i] + rng.normal(0, 0.1, size=x.shape[1])
    return out


def added_of_old(x, rng):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = x[i] + rng.normal(0, 0.1, size=3)
    return out


def keyword(x, rng, s):
    t = 0.0
    for row in x:
        t += row[0] * rng.normal(scale=s)
    return t


def matrices(x, rng):
    out = []
    for row in x:
        out.append(row * rng.uniform(-1, 1, (2, 3)))
    return np.stack(out)


def walk_of_one(n):
    s = [1.0]
    for _ in range(n):
        s.append(s[-1] + np.random.standard_normal() * 0.1)
    return s


def walk_of_two(n):
    pos = np.zeros((n + 1, 2))
    for t in range(1, n + 1):
        pos[t] = pos[t - 1] + np.random.normal(size=2)
    return pos


def counted(n):
    c = 0
    for t in range(0, n, 2):
        if np.random.random() < 0.5:
            c += 1
    return c


def unpacked(x, rng):
    return_value = 0.0
    for a, b, c in x:
        return_value += rng.exponential(2.0) * a - c
    return return_value


def of_the_row(x, rng):
    t = 0.0
    for row in x:
        t += rng.normal(row[0], 1.0)
    return t


def gammas(x, rng):
    t = 0.0
    for row in x:
        t += rng.gamma(2.0, 1.0) + row[1]
    return t, rng.beta(1.0, 2.0)


def laplaces(x, rng):
    n = x.shape[1]
    out = np.zeros((len(x), n))
    for i in range(len(x)):
        out[i] = x[i] * rng.laplace(0.0, 1.0, n)
    return out


def numbered(x, rng):
    t = 0.0
    for i, row in enumerate(x):
        t += rng.random() * i
    return t


def no_iteration(x, rng, n):
    t = 0.0
    for i in range(n):
        t += rng.random() * i
    return t


def negative_scale(x, rng, s):
    t = 0.0
    for i in range(3):
        t += rng.normal(0, s)
    return t


def normals(x, rng):
    t = 0.0
    for i in range(5):
        t += rng.standard_normal(3).sum()
    return t, rng.standard_normal(3)


CASES = [
    (inside, (T,)),
    (
        jittered,
        (
            X,
            np.random.default_rng(3),
        ),
    ),
    (aug, (T,)),
    (aug2, (T,)),
    (aug3, (T,)),
    (of_numpy, (X,)),
    (python, (X,)),
    (cond, (X,)),
    (raised, (X,)),
    (raise_state, (X,)),
    (left, (X,)),
    (skipped, (X,)),
    (continue2, (X,)),
    (dependent, (X,)),
    (dependent2, (X,)),
    (
        data_changed,
        (
            X,
            np.random.default_rng(3),
        ),
    ),
    (
        none,
        (
            X[:0],
            np.random.default_rng(3),
        ),
    ),
    (
        returned,
        (
            X,
            np.random.default_rng(3),
        ),
    ),
    (
        inplace,
        (
            X,
            np.random.default_rng(3),
        ),
    ),
    (grad, (T.clone().requires_grad_(),)),
    (
        perm,
        (
            X,
            np.random.default_rng(3),
        ),
    ),
    (
        boot,
        (
            X,
            np.random.default_rng(3),
            5,
        ),
    ),
    (
        boot2,
        (
            X,
            np.random.default_rng(3),
            5,
        ),
    ),
    (pi, (5,)),
    (
        both,
        (
            X,
            np.random.default_rng(3),
        ),
    ),
    (
        walk,
        (
            X,
            np.random.default_rng(3),
            20,
        ),
    ),
    (
        walk2,
        (
            X,
            20,
        ),
    ),
    (
        added,
        (
            X,
            RNG,
        ),
    ),
    (
        added_of_old,
        (
            X,
            LEG,
        ),
    ),
    (
        keyword,
        (
            X,
            MT,
            0.3,
        ),
    ),
    (
        matrices,
        (
            X,
            RNG,
        ),
    ),
    (walk_of_one, (5,)),
    (walk_of_two, (5,)),
    (counted, (7,)),
    (
        unpacked,
        (
            X,
            RNG,
        ),
    ),
    (
        of_the_row,
        (
            X,
            RNG,
        ),
    ),
    (
        gammas,
        (
            X,
            LEG,
        ),
    ),
    (
        laplaces,
        (
            X,
            RNG,
        ),
    ),
    (
        numbered,
        (
            X,
            RNG,
        ),
    ),
    (
        no_iteration,
        (
            X,
            RNG,
            0,
        ),
    ),
    (
        negative_scale,
        (
            X,
            RNG,
            -1.0,
        ),
    ),
    (
        normals,
        (
            X,
            LEG,
        ),
    ),
    (left_inside, (X,)),
    (left_by_else, (X[::-1],)),
]
KEPT = frozenset(
    """inside cond raised raised_state raise_state left continue2 dependent dependent2 data_changed none both
    no_iteration negative_scale inplace left_by_else""".split()
)


def run(function, arguments):
    """What a function gives, and what would be drawn afterwards."""
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    found = outcome(function, arguments)
    own = [one.normal() for one in found["arguments"] if _draws(one)]
    return found, torch.rand(1), np.random.rand(), random.random(), own


def _draws(value):
    return isinstance(value, np.random.Generator | np.random.RandomState)


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_the_same_numbers_are_drawn_and_the_loop_and_its_lifted_form_agree(function, arguments):
    wanted = run(function, arguments)
    for backend in ("auto", "torch", "native"):
        lifted = lift(function, verify="off", backend=backend)
        for _ in range(2):
            why = difference(run(lifted, arguments), wanted, magnitude=1.0, path="call")
            assert not why, f"{function.__name__}, {backend}: {why}\n{lifted.source}"
        if backend == "auto":
            found = [loop.decision for loop in lifted.report().loops]
            assert function.__name__ in KEPT or "kept" not in found, lifted.report()


@pytest.mark.parametrize("arguments", [(T / 7, 0.9, 1.3), (T[:1], 0.5, 1.3), (T[:0], 0.5, 1.3)])
def test_a_program_takes_what_is_drawn_before_it(arguments):
    wanted = run(sampled, arguments)
    lifted = lift(sampled)
    for _ in range(3):
        why = difference(run(lifted, arguments), wanted, magnitude=1.0, path="call")
        assert not why, why


def test_a_program_over_what_is_drawn_is_kept_where_it_is_faster():
    lifted = lift(sampled)
    for _ in range(40):
        torch.manual_seed(0)
        got = lifted(T.repeat(8, 8) / 7, 0.9, 1.3)
        torch.manual_seed(0)
        want = sampled(T.repeat(8, 8) / 7, 0.9, 1.3)
        assert got[0] == want[0] and torch.allclose(got[1], want[1])
    assert all(loop.decision == "native" for loop in lifted.report().loops)
