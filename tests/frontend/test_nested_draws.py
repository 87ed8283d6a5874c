"""Loops that draw random numbers in loops inside of them, or for what they make. The loop is the oracle."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import torch
from tests.frontend.oracle import outcome
from torch import nn

from looplift import lift
from looplift.base.compare import difference

torch.manual_seed(3)
X, Y, W = torch.randn(7, 5), torch.randn(4, 3), torch.randn(5, 5) / 5
P = torch.rand(6, 4)
NET = nn.Linear(4, 1)
WIDE = torch.randn(5, 16)
IMAGES = torch.rand(4, 2, 3, 3)


def chains(x0, w, steps):
    out = []
    for x in x0:
        for _ in range(steps):
            x = x - 0.1 * (w @ x) + 0.3 * torch.randn_like(x)
        out.append(x)
    return torch.stack(out)


def paths(n, steps):
    ends = []
    for _ in range(n):
        s = torch.tensor(1.0)
        for _ in range(steps):
            s = s * torch.exp(0.1 * torch.randn(()))
        ends.append(s)
    return torch.stack(ends)


def walks(n, steps):
    out = torch.zeros(n, steps, 2)
    for i in range(n):
        place = torch.randn(2)
        for t in range(steps):
            step = torch.randn(2)
            place = place + step / step.norm()
            out[i, t] = place
    return out


def uniform_walks(n, steps, rooms):
    out = []
    for i in range(n):
        a = torch.rand(3)
        for t in range(steps):
            b = torch.rand(3)
            for _ in range(rooms):
                a = a * torch.rand(()) + b
        out.append(a + torch.rand(3).sum())
    return torch.stack(out)


def wide_noise(x):
    out = []
    for row in x:
        for _ in range(3):
            row = row * 0.5 + torch.randn(16)
        out.append(row)
    return torch.stack(out)


def wider_noise(x):
    out = []
    for row in x:
        for _ in range(3):
            row = row[:1] * 0.5 + torch.randn(17)
        out.append(row)
    return torch.stack(out)


def metropolis(x0, steps):
    out, accepted = [], 0
    for x in x0:
        for _ in range(steps):
            proposal = x + 0.5 * torch.randn_like(x)
            ratio = torch.exp(0.5 * ((x**2).sum() - (proposal**2).sum()))
            if torch.rand(()) < ratio:
                x = proposal
                accepted += 1
        out.append(x)
    return torch.stack(out), accepted


def denoised(betas, n):
    out = []
    for _ in range(n):
        x = torch.randn(4)
        for t in range(len(betas) - 1, -1, -1):
            noise = torch.randn(4) if t > 0 else torch.zeros(4)
            x = x * (1 - betas[t]) + torch.sqrt(betas[t]) * noise
        out.append(x)
    return torch.stack(out)


def noise_in_a_branch(x0, steps):
    out = []
    for x in x0:
        for t in range(steps):
            if t % 2 == 0:
                noise = torch.randn_like(x)
                x = x + noise
            else:
                x = x * 2
        out.append(x)
    return torch.stack(out)


def encoded(x):
    total = 0
    for row in x:
        mean, spread = row[:2], torch.exp(row[2:4])
        z = mean + spread * torch.randn_like(spread)
        total = total + (z**2).sum()
    return total


def coins(p):
    out = []
    for row in p:
        out.append(torch.bernoulli(row * 0.5 + 0.25) * 2 - 1)
    return torch.stack(out)


def coins_out_of_range(p):
    out = []
    for row in p:
        out.append(torch.bernoulli(row * 1.5))
    return torch.stack(out)


def coins_of_gradients(p, w):
    out = []
    for row in p:
        out.append(torch.bernoulli(torch.sigmoid(row * w)) * w)
    return torch.stack(out)


def rollouts(net, s0, steps):
    gains = []
    for s in s0:
        total = 0.0
        for _ in range(steps):
            p = torch.sigmoid(net(s))[0]
            a = torch.bernoulli(p.detach())
            total = total + torch.where(a > 0, torch.log(p), torch.log(1 - p))
            s = 0.9 * s + 0.1 * (2 * a - 1)
        gains.append(total)
    return torch.stack(gains).mean()


def tokens(logits, table, steps):
    found = []
    for row in logits:
        line = []
        for _ in range(steps):
            k = torch.multinomial(torch.softmax(row, 0), 1).item()
            line.append(k)
            row = table[k] + row * 0.5
        found.append(line)
    return torch.tensor(found)


def several_tokens(p):
    out = []
    for row in p:
        out.append(torch.multinomial(row / row.sum(), 2))
    return torch.stack(out)


def weights_of_nothing(p):
    out = []
    for row in p:
        out.append(torch.multinomial(row - row, 1))
    return torch.stack(out)


def of_its_shape(x):
    out = []
    for row in x:
        h = torch.relu(row[1:])
        out.append(h + torch.rand(h.shape) + torch.randn(h.size(0)))
    return torch.stack(out)


def images(batch):
    out = []
    for image in batch:
        for _ in range(2):
            image = image * 0.5 + torch.randn_like(image)
        out.append(image)
    return torch.stack(out)


def images_by_columns(batch):
    return images(batch)


def turned_images(batch):
    out = []
    for image in batch:
        turned = image.transpose(0, 2) * 2
        out.append(turned + torch.randn_like(turned))
    return torch.stack(out)


def by_a_generator(x0, steps, generator):
    out = []
    for x in x0:
        for _ in range(steps):
            x = x + torch.randn(x.shape, generator=generator)
        out.append(x)
    return torch.stack(out)


def changed_noise(x0, steps):
    out = []
    for x in x0:
        for _ in range(steps):
            noise = torch.randn_like(x)
            noise *= 0.5
            x = x + noise
            out.append(noise)
    return torch.stack(out)


def ragged(lengths):
    out = []
    for n in lengths:
        s = torch.zeros(())
        for _ in range(n):
            s = s + torch.randn(())
        out.append(s)
    return torch.stack(out)


def left_early(n, steps):
    out = []
    for _ in range(n):
        s = torch.zeros(())
        for _ in range(steps):
            s = s + torch.randn(())
            if s > 1:
                break
        out.append(s)
    return torch.stack(out)


def growing(n):
    out = []
    for _ in range(n):
        s = torch.zeros(1)
        for k in range(3):
            s = torch.cat([s, torch.randn_like(s)])
        out.append(s)
    return torch.stack(out)


def of_numpy(n, steps, rng):
    out = np.zeros((n, steps))
    for i in range(n):
        x = rng.normal()
        for t in range(steps):
            x = 0.9 * x + 0.1 * rng.normal()
            out[i, t] = x
    return out, rng.normal()


def at_once_by_numpy(n, steps, rng):
    out = np.zeros((n, steps, 2))
    for i in range(n):
        for t in range(steps):
            out[i, t] = rng.normal(size=2) * i
    return out, rng.normal()


def of_python(n, steps):
    out = []
    for i in range(n):
        s = 0.0
        for _ in range(steps):
            s += random.gauss(0, 1) * i
        out.append(s)
    return out


def mixed_kinds(x0, steps):
    out = []
    for x in x0:
        scale = torch.rand(())
        for _ in range(steps):
            x = x * scale + torch.randn_like(x)
        out.append(x)
    return torch.stack(out)


def consumed(x, parts):
    out = []
    for row in x:
        for part in parts:
            row = row + part * torch.randn(5)
        out.append(row)
    return torch.stack(out)


def into_a_tensor(x, w):
    out = []
    for row in x:
        out.append(row + torch.rand(5, out=w))
    return torch.stack(out)


def into_a_tensor_each_step(x, w, steps):
    out = []
    for row in x:
        for _ in range(steps):
            row = row + torch.rand(5, out=w)
        out.append(row)
    return torch.stack(out)


def leaves(x, steps):
    out, noise = [], []
    for row in x:
        for _ in range(steps):
            e = torch.randn(5, requires_grad=True)
            noise.append(e)
            row = row + e
        out.append(row)
    return torch.stack(out), noise[0].is_leaf, len(noise)


def of_what_is_carried(x, rng):
    s, out = 1.0, []
    for row in x:
        a = rng.normal(s)
        s = s + a
        out.append(a)
    return out


def under_what_is_carried(x, steps):
    out = []
    for row in x:
        h = row
        for _ in range(steps):
            if h[0] > 0:
                h = h - torch.rand(())
        out.append(h)
    return torch.stack(out)


CASES = [
    (of_what_is_carried, lambda: (X, np.random.default_rng(1))),
    (under_what_is_carried, lambda: (X, 3)),
    (into_a_tensor, lambda: (X, torch.zeros(5))),
    (into_a_tensor_each_step, lambda: (X, torch.zeros(5), 2)),
    (leaves, lambda: (X, 2)),
    (chains, lambda: (X, W, 4)),
    (paths, lambda: (6, 9)),
    (walks, lambda: (5, 4)),
    (uniform_walks, lambda: (4, 3, 2)),
    (wide_noise, lambda: (WIDE,)),
    (wider_noise, lambda: (WIDE,)),
    (metropolis, lambda: (X, 4)),
    (denoised, lambda: (torch.linspace(0.1, 0.5, 5), 6)),
    (noise_in_a_branch, lambda: (X, 5)),
    (encoded, lambda: (X,)),
    (coins, lambda: (P,)),
    (coins, lambda: (P.double(),)),
    (coins_out_of_range, lambda: (P,)),
    (coins_of_gradients, lambda: (P, torch.ones(4, requires_grad=True))),
    (rollouts, lambda: (NET, P, 5)),
    (tokens, lambda: (Y, torch.randn(3, 3, generator=torch.Generator().manual_seed(0)), 5)),
    (several_tokens, lambda: (P,)),
    (weights_of_nothing, lambda: (P,)),
    (of_its_shape, lambda: (X,)),
    (images, lambda: (IMAGES,)),
    (images_by_columns, lambda: (IMAGES.transpose(1, 3),)),
    (turned_images, lambda: (IMAGES,)),
    (by_a_generator, lambda: (X, 3, torch.Generator())),
    (changed_noise, lambda: (X, 3)),
    (ragged, lambda: ([3, 1, 2],)),
    (left_early, lambda: (5, 6)),
    (growing, lambda: (4,)),
    (of_numpy, lambda: (4, 5, np.random.default_rng(1))),
    (at_once_by_numpy, lambda: (4, 5, np.random.default_rng(1))),
    (of_python, lambda: (4, 5)),
    (mixed_kinds, lambda: (X, 3)),
    (consumed, lambda: (X, [1.0, 2.0, 3.0])),
    (consumed, lambda: (X, iter([1.0, 2.0, 3.0]))),
]
KEPT = frozenset(
    """wider_noise coins_out_of_range weights_of_nothing several_tokens images_by_columns
     turned_images ragged left_early growing
    of_what_is_carried under_what_is_carried into_a_tensor into_a_tensor_each_step leaves""".split()
)


def run(function, arguments):
    """What a function gives, its gradients, and what would be drawn afterwards."""
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    found = outcome(function, arguments)
    own = [torch.rand(2, generator=one) for one in found["arguments"] if isinstance(one, torch.Generator)]
    return found, own, torch.rand(1), torch.randn(3), np.random.rand(), random.random()


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_the_same_numbers_are_drawn_and_the_loop_and_its_lifted_form_agree(function, arguments):
    for backend in ("torch", "auto"):
        lifted = lift(function, verify="off", backend=backend)
        for _ in range(2):
            wanted = run(function, arguments())
            why = difference(run(lifted, arguments()), wanted, magnitude=1.0, path="call")
            assert not why, f"{function.__name__}, {backend}: {why}\n{lifted.source}"
        if backend == "torch":
            found = [loop.decision for loop in lifted.report().loops]
            assert (function.__name__ in KEPT) == ("kept" in found) or "iterator" in str(arguments()), lifted.report()


SIZES_OF_CHAINS = [(X[:2], W, 1), (X, W, 0), (X[:0], W, 2), (X.double(), W.double(), 3), (X.t(), torch.eye(7), 2)]
OTHERS = [
    (
        chains,
        (X, W, 4),
        [(X[:2], W, 1), (X, W, 0), (X[:0], W, 2), (X.double(), W.double(), 3), (X.t(), torch.eye(7), 2)],
    ),
    (walks, (5, 4), [(1, 1), (0, 3), (3, 0), (40, 2)]),
    (uniform_walks, (4, 3, 2), [(2, 1, 1), (1, 5, 3), (2, 0, 1)]),
    (of_its_shape, (X,), [(Y,), (X[:, :2],), (X.double(),)]),
    (coins, (P,), [(P[:2],), (P[:, :1],), (P.t(),), (P * 4,)]),
    (encoded, (X,), [(X[:1],), (X.t(),), (torch.full((3, 4), math.nan),)]),
    (images, (IMAGES,), [(IMAGES[:, :1],), (IMAGES.transpose(1, 3),), (IMAGES[:1],)]),
    (tokens, (Y, torch.eye(3), 5), [(Y[:, :2], torch.eye(2), 3), (Y.double(), torch.eye(3).double(), 2)]),
    (denoised, (torch.linspace(0.1, 0.5, 5), 6), [(torch.ones(1), 3), (torch.ones(9), 1), (torch.ones(0), 2)]),
]


@pytest.mark.parametrize(("function", "first", "others"), OTHERS, ids=lambda one: getattr(one, "__name__", ""))
def test_later_calls_of_other_sizes_draw_as_the_loop_does(function, first, others):
    for backend in ("torch", "auto"):
        lifted = lift(function, verify="off", backend=backend)
        for arguments in (first, *others, first, *others):
            why = difference(run(lifted, arguments), run(function, arguments), magnitude=1.0, path="call")
            assert not why, f"{backend}: {why}\n{lifted.source}"


def test_gradients_flow_through_what_is_drawn_for_what_the_loop_makes():
    def gradients(function):
        torch.manual_seed(1)
        x, w = X.clone().requires_grad_(), W.clone().requires_grad_()
        function(x, w, 4).pow(2).sum().backward()
        return x.grad, w.grad

    for backend in ("torch", "auto"):
        for found, wanted in zip(gradients(lift(chains, backend=backend)), gradients(chains), strict=True):
            torch.testing.assert_close(found, wanted)


def test_one_call_draws_the_numbers_of_all_iterations():
    lifted = lift(paths, backend="torch", verify="off")
    lifted(6, 9)
    assert "[..., 0].normal_()" in lifted.source and ".append(torch.randn" not in lifted.source


def bound_before(i, x):
    t, out = x[0] * i, []
    for i in range(len(x)):
        u, v = torch.rand(()), torch.randn(5)
        out.append(t * u + v)
    return torch.stack(out), i


def bound_anew(x, n):
    n = n + 1
    out = []
    for row in x:
        u, v = torch.rand(()), torch.randn(n)
        out.append(v.sum() * u + row[0])
    return torch.stack(out), n


def bound_anew_for_numpy(x, n):
    n = n + 1
    out = []
    for row in x:
        out.append(np.random.normal(size=n).sum() * np.random.rand() + row[0])
    return out, n


def bound_by_loops(x, row, t):
    s, out = row + t, []
    for row in x:
        for t in range(3):
            s = s * torch.rand(()) + torch.randn(5)
        out.append(s + row)
    return torch.stack(out), row, t


def of_the_same_names(x, iteration_1, numbers):
    out = []
    for row in x:
        h = torch.relu(row)
        out.append(h * torch.randn_like(h) + torch.rand(()) + iteration_1 + numbers)
    return torch.stack(out), iteration_1, numbers


def sized_by_name(x, steps):
    out = []
    for row in x:
        for _ in range(steps):
            row = row + torch.rand(size=(5,))
        out.append(row)
    return torch.stack(out)


SCOPES = [
    (bound_before, (7, X)), (bound_anew, (X, 3)), (bound_anew_for_numpy, (X.numpy(), 3)),
    (bound_by_loops, (X, torch.ones(5), 2)), (of_the_same_names, (X, 5, 6.0)), (sized_by_name, (X, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "arguments"), SCOPES, ids=lambda one: getattr(one, "__name__", ""))
def test_the_draws_bind_no_name_of_the_loop(function, arguments):
    for backend in ("torch", "auto"):
        lifted = lift(function, verify="off", backend=backend)
        for _ in range(2):
            why = difference(run(lifted, arguments), run(function, arguments), magnitude=1.0, path="call")
            assert not why, f"{backend}: {why}\n{lifted.source}"
