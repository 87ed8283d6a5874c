"""``torch.func.functional_call`` in loops: modules run with other tensors in the place of their parameters."""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

import looplift

BACKENDS = ["auto", "torch", "native"]


class Net(nn.Module):
    def __init__(self, inner=5):
        super().__init__()
        self.first, self.second = nn.Linear(3, inner), nn.Linear(inner, 2)
        self.register_buffer("shift", torch.linspace(-1, 1, 2))
        self.scale = 0.5

    def forward(self, x, gain=1.0):
        return self.second(torch.tanh(self.first(x))) * self.scale * gain + self.shift


class Whole(nn.Module):
    """What runs as a whole has no form in which its parameters are others."""

    def __init__(self):
        super().__init__()
        self.normed, self.last = nn.BatchNorm1d(3).eval(), nn.Linear(3, 2)

    def forward(self, x):
        return self.last(self.normed(x))


class Listed(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(3, 3)) for _ in range(2)])

    def forward(self, x):
        for weight in self.weights:
            x = torch.tanh(x @ weight)
        return x


class Held(nn.Module):
    """Its weight is in containers, too, where another one does not stand for it."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 3))
        self.again = {"all": [self.weight]}

    def forward(self, x):
        return torch.tanh(x @ self.weight) @ self.again["all"][0]


def of_what_is_held(net, scales, x):
    out = []
    for i in range(x.shape[0]):
        out.append(functional_call(net, {"weight": net.weight * scales[i]}, (x[i],)))
    return torch.stack(out)


def adapted(net, tasks, lr, steps):
    losses = []
    for xs, ys in tasks:
        weights = dict(net.named_parameters())
        for _ in range(steps):
            loss = F.mse_loss(functional_call(net, weights, (xs,)), ys)
            grads = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
            weights = {name: w - lr * g for (name, w), g in zip(weights.items(), grads, strict=True)}
        losses.append(F.mse_loss(functional_call(net, weights, (xs,)), ys))
    return torch.stack(losses)


def ensemble(net, stacked, x):
    out = []
    for i in range(x.shape[0]):
        own = {name: value[i] for name, value in stacked.items()}
        out.append(functional_call(net, own, (x[i],)))
    return torch.stack(out)


def beside_its_own(net, scales, x):
    out = []
    for i in range(x.shape[0]):
        mine = {"first.bias": scales[i] * net.first.bias, "shift": net.shift * scales[i]}
        out.append(functional_call(net, mine, x[i]) - net(x[i]) + net.first.bias.sum())
    return torch.stack(out)


def with_keywords(net, scales, x):
    out = []
    for i in range(x.shape[0]):
        weights = {"second.weight": net.second.weight * scales[i]}
        buffers = {"shift": net.shift + 1}
        out.append(functional_call(net, (weights, buffers), (x[i],), {"gain": scales[i]}))
    return torch.stack(out)


def of_unknown_name(net, scales, x):
    out = []
    for i in range(x.shape[0]):
        out.append(functional_call(net, {"third.weight": net.second.weight * scales[i]}, (x[i],)))
    return torch.stack(out)


def of_a_number(net, scales, x):
    out = []
    for i in range(x.shape[0]):
        out.append(functional_call(net, {"first.bias": 0.5}, (x[i],)))
    return torch.stack(out)


def of_another_weight(net, scales, x):
    out = []
    for i in range(x.shape[0]):
        out.append(functional_call(net, {"last.weight": net.last.weight * scales[i]}, (x[i : i + 1],)))
        out.append(functional_call(net, {"normed.weight": net.normed.weight * scales[i]}, (x[i : i + 1],)))
    return torch.stack(out)


def of_a_list(net, scales, x):
    out = []
    for i in range(x.shape[0]):
        out.append(functional_call(net, {"weights.1": net.weights[0] * scales[i]}, (x[i],)))
    return torch.stack(out)


def arguments_of(function):
    torch.manual_seed(3)
    if function is adapted:
        return Net(), [(torch.randn(4, 3), torch.randn(4, 2)) for _ in range(3)], 0.1, 2
    if function is ensemble:
        net = Net()
        stacked = {name: torch.randn(4, *p.shape).requires_grad_() for name, p in net.named_parameters()}
        return net, stacked, torch.randn(4, 3)
    kinds = {of_another_weight: Whole, of_a_list: Listed, of_what_is_held: Held}
    return kinds.get(function, Net)(), torch.rand(4).requires_grad_(), torch.randn(4, 3)


def outcome(function, arguments):
    net, tensors = arguments[:2]
    before = copy.deepcopy(dict(net.state_dict()))
    try:
        result = function(*arguments)
    except Exception as error:  # part of what is compared
        return f"{type(error).__name__}: {error}"
    leaves = [*net.parameters()]
    leaves += [t for t in (tensors.values() if isinstance(tensors, dict) else [tensors]) if isinstance(t, torch.Tensor)]
    slopes = torch.autograd.grad(result.pow(2).sum(), leaves, allow_unused=True)
    for name, value in net.state_dict().items():
        assert torch.equal(value, before[name])
    return result, [torch.zeros_like(t) if g is None else g for t, g in zip(leaves, slopes, strict=True)]


EACH = [
    adapted,
    ensemble,
    beside_its_own,
    with_keywords,
    of_unknown_name,
    of_a_number,
    of_another_weight,
    of_a_list,
    of_what_is_held,
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", EACH)
def test_values_gradients_and_errors_are_those_of_the_loop(function, backend):
    lifted = looplift.lift(function, backend=backend, verify="off")
    for _ in range(3):
        expected, came = outcome(function, arguments_of(function)), outcome(lifted, arguments_of(function))
        agree(expected, came)


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", [adapted, ensemble, beside_its_own, with_keywords])
def test_such_loops_are_lifted(function, backend):
    lifted = looplift.lift(function, backend=backend, verify="off")
    lifted(*arguments_of(function))
    assert all(loop.decision != "kept" for loop in lifted.report().loops)


@pytest.mark.parametrize("backend", BACKENDS)
def test_modules_that_change_between_calls(backend):
    lifted = looplift.lift(ensemble, backend=backend, verify="off")
    net, stacked, x = arguments_of(ensemble)
    for change in (
        lambda: None,
        lambda: setattr(net, "scale", 2.0),
        lambda: setattr(net, "shift", torch.ones(2)),
        lambda: stacked.pop("first.bias"),
        lambda: setattr(net.second, "weight", nn.Parameter(torch.ones(2, 5))),
        lambda: setattr(net, "second", nn.Sequential(nn.Linear(5, 2))),
        lambda: stacked.pop("second.weight"),
        lambda: stacked.pop("second.bias"),
        lambda: setattr(net, "first", nn.Linear(3, 5, bias=False)),
        lambda: setattr(net, "second", nn.Linear(5, 2)),
    ):
        change()
        agree(outcome(ensemble, (net, stacked, x)), outcome(lifted, (net, stacked, x)))


def agree(expected, came):
    if isinstance(expected, str):
        assert came == expected
    else:
        torch.testing.assert_close(came, expected)


def share_a_module(net):
    net.third = net.first


def share_a_parameter(net):
    net.other = net.first.bias


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("share", [share_a_module, share_a_parameter])
def test_shared_parameters_are_left_to_the_loop(share, backend):
    found = []
    for function in (beside_its_own, looplift.lift(beside_its_own, backend=backend, verify="off")):
        net, scales, x = arguments_of(beside_its_own)
        results = [function(net, scales, x)]
        share(net)
        results += [function(net, scales, x), function(net, scales, x)]  # the second sees what torch left behind
        found.append(results)
    torch.testing.assert_close(found[1], found[0])
