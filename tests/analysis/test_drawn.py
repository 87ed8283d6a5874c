"""Loops that call what draws random numbers: functions, methods, modules, distributions. The loop is the oracle."""

from __future__ import annotations

import pytest
import torch
from tests.frontend.test_nested_draws import run
from torch import nn
from torch.nn import functional

from looplift import lift
from looplift.base.compare import difference

torch.manual_seed(3)
X, W, P = torch.randn(7, 6), torch.randn(6, 6) / 5, torch.rand(6, 4)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.mean, self.spread, self.back = (
            nn.Linear(6, 8),
            nn.Linear(8, 3),
            nn.Linear(8, 3),
            nn.Linear(3, 6),
        )

    def sampled(self, mean, spread):
        return mean + torch.exp(0.5 * spread) * torch.randn_like(spread)

    def forward(self, x):
        h = torch.relu(self.body(x))
        mean, spread = self.mean(h), self.spread(h)
        return self.back(self.sampled(mean, spread)), mean, spread


class Dropping(nn.Module):
    def __init__(self, rate=0.3):
        super().__init__()
        self.first, self.drop, self.last = nn.Linear(6, 8), nn.Dropout(rate), nn.Linear(8, 2)

    def forward(self, x):
        return self.last(self.drop(torch.relu(self.first(x))))


class Policy(nn.Module):
    def __init__(self, by_logits):
        super().__init__()
        self.layer, self.by_logits = nn.Linear(4, 3), by_logits

    def act(self, s):
        scores = self.layer(s)
        if self.by_logits:
            chosen = torch.distributions.Categorical(logits=scores)
        else:
            chosen = torch.distributions.Categorical(torch.softmax(scores, -1))
        action = chosen.sample()
        return action, chosen.log_prob(action), chosen.entropy()


ENCODER, DROPPING, ALL_KEPT, ALL_DROPPED = Encoder(), Dropping(), Dropping(0.0), Dropping(1.0)
TESTED = Dropping().eval()
BY_PROBS, BY_LOGITS = Policy(False), Policy(True)


def moved(x, w):
    return x - 0.1 * (w @ x) + 0.3 * torch.randn_like(x)


def chains(x0, w, steps):
    out = []
    for x in x0:
        for _ in range(steps):
            x = moved(x, w)
        out.append(x)
    return torch.stack(out)


def backwards(x0, w, steps):
    out = []
    for x in x0:
        for t in range(steps - 1, -1, -1):
            x = moved(x, w) * t
        out.append(x)
    return torch.stack(out)


def every_second(x0, w, steps):
    out = []
    for x in x0:
        for t in range(0, steps, 2):
            x = moved(x, w) * t
        out.append(x)
    return torch.stack(out)


def losses(module, xs):
    total = 0
    for x in xs:
        y, mean, spread = module(x)
        total = total + ((y - x) ** 2).sum() - 0.5 * (1 + spread - mean**2 - spread.exp()).sum()
    return total / len(xs)


def dropped(module, xs):
    return torch.stack([module(x) for x in xs])


def repeated(module, x, times):
    ys = []
    for _ in range(times):
        ys.append(module(x))
    return torch.stack(ys)


def shaken_if(x, w):
    out = []
    for row in x:
        if row[0] > 0:
            row = moved(row, w)
        out.append(row)
    return torch.stack(out)


def episodes(policy, s0, steps):
    total = 0
    for s in s0:
        gain = 0.0
        for _ in range(steps):
            action, log, entropy = policy.act(s)
            s = 0.9 * s + 0.1 * action
            gain = gain + log * s.sum().detach() + 0.01 * entropy
        total = total + gain
    return total / len(s0)


def masked(logits, allowed):
    out = []
    for row, mask in zip(logits, allowed):
        chosen = torch.distributions.Categorical(logits=row.masked_fill(~mask, -float("inf")))
        action = chosen.sample()
        out.append(chosen.log_prob(action) + chosen.entropy())
    return torch.stack(out)


def dropped_by_torch(x, training):
    return torch.stack([torch.dropout(row * 2, 0.5, train=training) for row in x])


def coins(p, logits):
    out = []
    for k in range(len(p)):
        first = torch.distributions.Bernoulli(p[k])
        second = torch.distributions.Bernoulli(logits=logits[k])
        a, b = first.sample(), second.sample()
        out.append(first.log_prob(a) + second.log_prob(b) + first.entropy() * second.probs + second.entropy())
    return torch.stack(out)


def normals(mean, spread):
    out = []
    for k in range(len(mean)):
        found = torch.distributions.Normal(mean[k], spread[k])
        z, y = found.rsample(), found.sample()
        out.append(z + found.log_prob(z) - found.log_prob(y) * found.entropy() + found.mean * found.stddev)
    return torch.stack(out)


def shown(p):
    out = []
    for row in p:
        found = torch.distributions.Categorical(row)
        out.append(found)
    return [one.probs for one in out]


def asked_for_its_class(p):
    total = 0
    for row in p:
        found = torch.distributions.Categorical(row)
        if isinstance(found, torch.distributions.Categorical):
            total = total + found.log_prob(found.sample())
    return total


def of_several(p):
    return torch.stack([torch.distributions.Categorical(row).sample((3,)) for row in p])


def of_floats(p):
    return torch.stack([torch.distributions.Categorical(row).log_prob(torch.tensor(1.5)) for row in p])


CASES = [
    (chains, (X, W, 3), True),
    (backwards, (X, W, 3), True),
    (every_second, (X, W, 5), False),
    (losses, (ENCODER, X), True),
    (dropped, (DROPPING, X), True),
    (dropped, (TESTED, X), True),
    (dropped, (ALL_KEPT, X), False),
    (dropped, (ALL_DROPPED, X), False),
    (repeated, (DROPPING, X, 5), True),
    (shaken_if, (X, W), False),
    (episodes, (BY_PROBS, P, 4), True),
    (episodes, (BY_LOGITS, P, 4), True),
    (masked, (X[:6, :4], P >= P.sort(1).values[:, 1:2]), True),
    (dropped_by_torch, (X, True), False),
    (dropped_by_torch, (X, False), False),
    (coins, (P, X[:6, :4]), True),
    (coins, (P * 2, X[:6, :4]), False),
    (normals, (X, W.exp()[:1].expand(7, 6)), True),
    (normals, (X, X), False),
    (shown, (P,), False),
    (asked_for_its_class, (P,), False),
    (of_several, (P,), False),
    (of_floats, (P,), False),
    (episodes, (BY_PROBS, P * float("nan"), 4), False),
]


@pytest.mark.parametrize(("function", "arguments", "is_lifted"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_the_same_numbers_are_drawn_and_the_loop_and_its_lifted_form_agree(function, arguments, is_lifted):
    for backend in ("torch", "auto"):
        lifted = lift(function, verify="off", backend=backend)
        for _ in range(2):
            wanted = run(function, arguments)
            why = difference(run(lifted, arguments), wanted, magnitude=1.0, path="call")
            assert not why, f"{function.__name__}, {backend}: {why}\n{lifted.source}"
        if backend == "torch":
            kept = "kept" in [loop.decision for loop in lifted.report().loops]
            assert kept != is_lifted, lifted.report()


def gradients(function, module, *arguments):
    torch.manual_seed(5)
    module.zero_grad()
    function(module, *arguments).sum().backward()
    return [one.grad.clone() for one in module.parameters()]


@pytest.mark.parametrize(
    ("function", "module", "arguments"),
    [(losses, ENCODER, (X,)), (dropped, DROPPING, (X,)), (episodes, BY_PROBS, (P, 4)), (episodes, BY_LOGITS, (P, 4))],
)
def test_gradients_are_those_of_the_loop(function, module, arguments):
    for backend in ("torch", "auto"):
        lifted = lift(function, verify="off", backend=backend)
        found, wanted = gradients(lifted, module, *arguments), gradients(function, module, *arguments)
        for one, other in zip(found, wanted, strict=True):
            torch.testing.assert_close(one, other)


def test_a_module_that_stops_training_drops_nothing():
    module, lifted = Dropping(), lift(dropped, verify="off", backend="torch")
    for training in (True, False, True):
        module.train(training)
        for rate in (0.3, 0.0, 0.6):
            module.drop.p = rate
            torch.manual_seed(1)
            found, after = lifted(module, X), torch.rand(1)
            torch.manual_seed(1)
            torch.testing.assert_close(found, dropped(module, X))
            assert torch.equal(after, torch.rand(1))


def test_later_calls_of_other_sizes_draw_as_the_loop_does():
    lifted = lift(losses, verify="off", backend="torch")
    chained = lift(chains, verify="off", backend="torch")
    for rows in (7, 2, 1, 0, 5):
        why = difference(
            run(chained, (X[:rows], W, rows)), run(chains, (X[:rows], W, rows)), magnitude=1.0, path="call"
        )
        assert not why, why
        if rows:
            why = difference(run(lifted, (ENCODER, X[:rows])), run(losses, (ENCODER, X[:rows])), magnitude=1.0, path="")
            assert not why, why
    smaller = run(lift(chains, backend="torch"), (X[:, :3], W[:3, :3], 2))
    assert not difference(smaller, run(chains, (X[:, :3], W[:3, :3], 2)), magnitude=1.0, path="call")


def test_dropout_of_a_function():
    def rows(x, w):
        return torch.stack([functional.dropout(torch.relu(w @ row), 0.5) for row in x])

    lifted = lift(rows, verify="off", backend="torch")
    assert not difference(run(lifted, (X, W)), run(rows, (X, W)), magnitude=1.0, path="call")


def test_a_distribution_that_is_changed_is_left_to_the_loop(monkeypatch):
    lifted = lift(episodes, verify="off", backend="torch")
    torch.manual_seed(1)
    lifted(BY_PROBS, P, 2)
    monkeypatch.setattr(torch.distributions.Categorical, "log_prob", lambda self, value: self.probs.sum(-1) * 2)
    for one in (lifted, lift(episodes, verify="off", backend="torch")):
        torch.manual_seed(1)
        found = one(BY_PROBS, P, 2)
        torch.manual_seed(1)
        torch.testing.assert_close(found, episodes(BY_PROBS, P, 2))
