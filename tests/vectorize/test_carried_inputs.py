"""Values of loops that stay, handed out one by one or chosen from: each has the gradients of its iteration."""

import pytest
import torch

from looplift import lift


def state_before(c, x, w):
    h, out = torch.zeros(()), []
    for i in range(c.shape[0]):
        out.append(h * 2)
        h = torch.tanh(h + w[0] * c[i])
    return out


def sometimes_scaled(c, x, w):
    h, out = torch.zeros(()), []
    for i in range(c.shape[0]):
        h = torch.tanh(h + x[i])
        if c[i] > 0:
            h = torch.sin(h * w[0])
        out.append(h + 1)
    return out


def sometimes_begun(c, x, w):
    h, out = torch.zeros(3), []
    for i in range(c.shape[0]):
        if c[i] > 0:
            h = torch.tanh(h + w)
        out.append(h * x[i])
    return out


def sometimes_added(c, x, w):
    h, out = torch.zeros(()), []
    for i in range(c.shape[0]):
        if c[i] > 0:
            h = h + w[0]
        out.append(h * 2)
    return out


def first_of_several(c, x, w):
    h, out = torch.zeros(3), []
    for i in range(c.shape[0]):
        if c[i] > 0:
            h = torch.tanh(h + w)
        out.append(h + x[i])
    return out[:1] if out else [h]


def through_an_inner_loop(c, x, w):
    h, out = torch.zeros(3), []
    for _ in range(c.shape[0]):
        z = h * 1
        for _ in range(2):
            z = torch.tanh(z + 1)
        out.append(z * 2)
        h = torch.tanh(z + w)
    return out


def ring(c, x, w):
    places, out = torch.zeros(3), []
    for i in range(c.shape[0]):
        out.append(places[i % 3] * 2)
        places[(i + 1) % 3] = places[i % 3] + w[0]
    return out


def in_each_lane(c, x, w):
    out = []
    for i in range(c.shape[0]):
        h = x[i] * 1
        for t in range(3):
            if c[i] > t * 0.3:
                h = torch.tanh(h * w[0])
        out.append(h)
    return out


def while_it_is_small(c, x, w):
    out = []
    for i in range(c.shape[0]):
        h, k = x[i] * 1, 0
        while h < 0.5 and k < 3:
            h = torch.tanh(h * w[0]) + 0.3
            k += 1
        out.append(h)
    return out


def as_often_as_told(c, x, w):
    out = []
    for i in range(c.shape[0]):
        h = torch.ones(3) * x[i]
        for _ in range(i):
            h = torch.tanh(h + w)
        out.append(h)
    return out


def dropped_later(c, x, w):
    total = torch.zeros(())
    for i in range(c.shape[0]):
        h = x[i] * 1
        for t in range(3):
            if c[i] > t * 0.3:
                h = torch.tanh(h * w[0])
        if x[i] > 0:
            total = total + h
    return [total]


def dropped_inside(c, x, w):
    total = torch.zeros(())
    for i in range(c.shape[0]):
        h, g = torch.ones(()), torch.ones(())
        for _ in range(3):
            if c[i] > 0:
                g = g + h
            else:
                h = torch.tanh(h * w[0])
        total = total + g
    return [total]


def first_alone(c, x, w):
    h, total = torch.zeros(3), torch.zeros(3)
    for i in range(c.shape[0]):
        if i < 1:
            total = total + h.exp()
        h = torch.tanh(h * x[i] + w)
    return [total]


def alike(c, x, w):
    h, out = torch.zeros(3), []
    for i in range(c.shape[0]):
        h = torch.tanh(h * c[i] + w)
        out.append(h * 2)
    return out


def alike_from_the_start(c, x, w):
    h, out = w * 1, []
    for i in range(c.shape[0]):
        out.append(h * 2)
        h = torch.tanh(h * c[i] + w)
    return out


def observed(function, values):
    draw = torch.Generator().manual_seed(3)
    inputs = [torch.randn(n, generator=draw).requires_grad_() for n in (len(values), 3)]
    results = function(torch.tensor(values), *inputs)
    asked = [one for one in results if one.requires_grad]
    slopes = [torch.autograd.grad(one.sum(), inputs, allow_unused=True, retain_graph=True) for one in asked]
    return [one.requires_grad for one in results], results, slopes


LOOPS = [
    state_before, sometimes_scaled, sometimes_begun, sometimes_added, first_of_several, through_an_inner_loop, ring,
    in_each_lane, while_it_is_small, as_often_as_told, dropped_later, dropped_inside, first_alone, alike,
    alike_from_the_start,
]  # fmt: skip


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", LOOPS)
def test_each_value_has_the_gradients_of_its_iteration(function, backend):
    lifted = lift(function, verify="off", backend=backend)
    for values in ([-0.5, 0.4, -0.2, 0.9], [0.5, 1.0, 0.7], [-1.0], [], [-0.1, -0.2], [0.2]):
        found, wanted = observed(lifted, values), observed(function, values)
        assert found[0] == wanted[0]
        torch.testing.assert_close(found[1:], wanted[1:])


@pytest.mark.parametrize("function", [alike, alike_from_the_start])
def test_what_is_alike_in_all_iterations_is_lifted(function):
    lifted = lift(function, verify="off", backend="torch")
    observed(lifted, [0.5, -0.2, 0.7])
    assert [loop.decision for loop in lifted.report().loops] == ["sequential"]


def samples_of_several_lengths(samples, w):
    ends = []
    for sample in samples:
        h = torch.zeros(3)
        for t in range(sample.shape[0]):
            h = torch.tanh(h * w + sample[t])
        ends.append(h)
    return ends


@pytest.mark.parametrize("lengths", [(2, 1, 3), (2, 0, 3), (0, 0), (1,)])
def test_samples_without_steps(lengths):
    w = torch.rand(3).requires_grad_()
    samples = [torch.rand(n, 3) for n in lengths]
    lifted = lift(samples_of_several_lengths, verify="off", backend="torch")
    found, wanted = (one(samples, w) for one in (lifted, samples_of_several_lengths))
    assert [one.requires_grad for one in found] == [one.requires_grad for one in wanted]
    if 0 not in lengths:
        assert {loop.decision for loop in lifted.report().loops} == {"lanes", "sequential"}
