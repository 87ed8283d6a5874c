"""Lists of states that samples of any length make in a loop over their steps, with gradients."""

import pytest
import torch
from tests.vectorize.harness import check, outcome

from looplift import lift
from looplift.base.compare import difference


def means_of_states(x, w):
    out = []
    for row in x:
        h = torch.zeros(3)
        states = []
        for t in range(row.shape[0]):
            h = torch.tanh(row[t] + h * w)
            states.append(h)
        out.append(torch.stack(states).mean(0))
    return torch.stack(out)


def attention_over_states(x, w):
    out = []
    for row in x:
        h = torch.zeros(3)
        states = []
        for item in row:
            h = torch.tanh(item + h * w)
            states.append(h)
        shares = torch.softmax(torch.stack([torch.dot(w, s) for s in states]), 0)
        context = 0
        for share, state in zip(shares, states):
            context = context + share * state
        out.append(context)
    return torch.stack(out)


def both_directions(x, w):
    out = []
    for row in x:
        h, there = torch.zeros(3), []
        for t in range(row.shape[0]):
            h = torch.sin(row[t] + h * w)
            there.append(h)
        h, back = torch.zeros(3), []
        for t in reversed(range(row.shape[0])):
            h = torch.cos(row[t] + h * w)
            back.insert(0, h)
        out.append(torch.stack([torch.cat([a, b]) for a, b in zip(there, back)]).sum(0))
    return torch.stack(out)


def read_backwards(x, w):
    out = []
    for row in x:
        h, states = torch.zeros(3), []
        for t in range(row.shape[0]):
            h = torch.sin(row[t] + h * w)
            states.append(h)
        states.reverse()
        total = torch.zeros(3)
        for k in range(len(states)):
            total = total + states[k] * (k + 1)
        out.append(total + states[0])
    return torch.stack(out)


ALL_LANES = [means_of_states, attention_over_states, both_directions, read_backwards]


def ragged(seed, lengths):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(n, 3, generator=generator, dtype=torch.float64) for n in lengths]


@pytest.mark.parametrize("program", ALL_LANES, ids=lambda p: p.__name__)
def test_states_of_samples(program, dtype64):
    w = torch.linspace(-1, 1, 3)
    calls = ([ragged(n, (3, 5, 1, 7, 2)[:n]), w] for n in (5, 1, 3))
    check(program, *calls, gradients=False, decisions={"lanes", "sequential"})


def state_before(x, w):
    """The first item has no gradient of w."""
    out = []
    for row in x:
        h, states = torch.zeros(3), []
        for t in range(len(row)):
            states.append(h)
            h = torch.tanh(row[t] + h * w)
        out.append(torch.stack(states).sum(0))
    return torch.stack(out)


def some_steps(x, w):
    out = []
    for row in x:
        h, states = torch.zeros(3), [torch.zeros(3)]
        for t in range(len(row)):
            h = torch.tanh(row[t] + h * w)
            if t % 2 == 1:
                states.append(h)
        out.append(torch.stack(states).sum(0))
    return torch.stack(out)


def until_large(x, w):
    out = []
    for row in x:
        h, states = torch.zeros(3), []
        for t in range(len(row)):
            h = row[t] + h * w
            if h.sum() > 1.5:
                break
            states.append(h)
        out.append(torch.stack(states).sum(0) if states else torch.zeros(3))
    return torch.stack(out)


def handed_out(x, w):
    every = []
    for row in x:
        h, states = torch.zeros(3), []
        for t in range(len(row)):
            h = torch.tanh(row[t] + h)
            if t > 2:
                h = h * w
            states.append(h)
        every.append(torch.stack(states))
    return every


def roots(x, w):
    """What runs on in lanes that are done would make NaN of a gradient of zero."""
    out = []
    for row in x:
        h, states = torch.zeros(3) + 0.3, []
        for t in range(len(row)):
            h = h - 0.1
            states.append(torch.sqrt(h) * w + row[t])
        out.append(torch.stack(states).sum(0))
    return torch.stack(out)


@pytest.mark.parametrize(
    "program", [*ALL_LANES, state_before, some_steps, until_large, handed_out, roots], ids=lambda p: p.__name__
)
@pytest.mark.parametrize("asking", ["x", "w", "x w"])
def test_gradients_are_none_where_the_loop_has_none(program, asking, dtype64):
    lifted = lift(program, verify="off", backend="torch")
    for lengths in ((3, 5, 1, 2), (1, 1), (2, 3), (3, 5, 1, 2)):
        x, w = ragged(0, lengths), torch.linspace(-1, 1, 3)
        if program is roots:
            x = [row[:3] for row in x]
        for _ in range(2):
            got, wanted = (grads(one, x, w, asking) for one in (lifted, program))
            assert not difference(got, wanted, magnitude=1.0)


def grads(function, x, w, asking):
    x = [row.clone().requires_grad_("x" in asking) for row in x]
    w = w.clone().requires_grad_("w" in asking)
    result = function(x, w)
    scored = [one for one in (result if isinstance(result, list) else [result]) if one.requires_grad]
    leaves = [one for one in (*x, w) if one.requires_grad]
    if not scored:
        return result, None
    return result, torch.autograd.grad(sum(one.square().sum() for one in scored), leaves, allow_unused=True)


@pytest.fixture
def dtype64():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def test_cells_of_modules():
    torch.manual_seed(0)
    cell = torch.nn.GRUCell(3, 4)

    def states(cell, x):
        out = []
        for row in x:
            h, kept = torch.zeros(4), []
            for item in row:
                h = cell(item, h)
                kept.append(h)
            out.append(torch.stack(kept).amax(0))
        return torch.stack(out)

    x = [torch.randn(n, 3) for n in (3, 5, 1)]
    lifted = lift(states, verify="off", backend="torch")
    for _ in range(2):
        got, wanted = (outcome(one, [cell, x], gradients=False) for one in (lifted, states))
        assert not difference(got, wanted, magnitude=1.0)
    assert {loop.decision for loop in lifted.report().loops} == {"lanes", "sequential"}
