"""``loss.backward()`` in a loop: its gradients and what it leaves in ``.grad`` are the loop's, or the loop is kept."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from looplift import lift

BACKENDS = ("auto", "torch", "native")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 6), nn.Linear(6, 3)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))


class Spare(Net):
    """With parameters that no output depends on."""

    def __init__(self):
        super().__init__()
        self.spare = nn.Linear(2, 2)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        self.b.weight = self.a.weight

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))


class ResetsItself(Net):
    def zero_grad(self, set_to_none=True):
        pass


# ---------------------------------------------------------------- lifted


def fisher(net, xs, ys):
    found = {name: torch.zeros_like(p) for name, p in net.named_parameters()}
    for i in range(len(xs)):
        net.zero_grad()
        loss = F.nll_loss(F.log_softmax(net(xs[i : i + 1]), dim=1), ys[i : i + 1])
        loss.backward()
        for name, p in net.named_parameters():
            found[name] += p.grad.detach() ** 2 / len(xs)
    return found


def fisher_of_those_reached(net, xs, ys):
    found = {name: torch.zeros_like(p) for name, p in net.named_parameters() if p.requires_grad}
    for x, y in zip(xs, ys):
        net.zero_grad()
        F.cross_entropy(net(x[None]), y[None]).backward()
        for name, p in net.named_parameters():
            if p.grad is not None:
                found[name] += p.grad.data.clone().pow(2)
    return found


def clipped(net, xs, ys):
    total = [torch.zeros_like(p) for p in net.parameters()]
    for x, y in zip(xs, ys):
        for p in net.parameters():
            p.grad = None
        F.cross_entropy(net(x.unsqueeze(0)), y.unsqueeze(0)).backward()
        norm = torch.sqrt(sum(p.grad.norm() ** 2 for p in net.parameters()))
        scale = torch.clamp(0.5 / (norm + 1e-6), max=1.0)
        for t, p in zip(total, net.parameters()):
            t += p.grad * scale
    return total


def by_an_optimizer(net, xs, ys):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    return reset_by_it(net, optimizer, xs, ys)


def reset_by_it(net, optimizer, xs, ys):
    norms = []
    for i in range(len(xs)):
        optimizer.zero_grad()
        F.cross_entropy(net(xs[i : i + 1]), ys[i : i + 1]).backward()
        norms.append(torch.cat([p.grad.view(-1) for p in net.parameters()]).norm())
    return norms


def saliency(net, xs, ys):
    found = torch.zeros_like(xs)
    for i in range(len(xs)):
        x = xs[i].clone().requires_grad_(True)
        net(x[None])[0, ys[i]].backward()
        found[i] = x.grad.abs()
    return found


def saliency_of_leaves(net, xs, ys):
    found = []
    for x, y in zip(xs, ys):
        x = x.detach().clone()
        x.requires_grad = True
        net.zero_grad()
        loss = F.cross_entropy(net(x.unsqueeze(0)), y.unsqueeze(0))
        loss.backward()
        found.append(x.grad.clone())
    return torch.stack(found)


def gradients_kept(net, xs, ys):
    found = []
    for i in range(len(xs)):
        net.zero_grad(set_to_none=True)
        net(xs[i]).square().sum().backward()
        found.append(net.a.weight.grad)
    return found


def without_history(net, xs, ys):
    found = {name: torch.zeros_like(p) for name, p in net.named_parameters()}
    for i in range(len(xs)):
        net.zero_grad()
        F.cross_entropy(net(xs[i : i + 1]), ys[i : i + 1]).backward()
        with torch.no_grad():
            for name, p in net.named_parameters():
                found[name] += p.grad**2
    return found


def accumulated(net, xs, ys):
    losses = []
    for x, y in zip(xs, ys):
        loss = F.cross_entropy(net(x[None]), y[None])
        loss.backward()
        losses.append(loss.item())
    return losses


def last_one(net, xs, ys):
    g, total = None, 0.0
    for x in xs:
        net.zero_grad()
        net(x).square().sum().backward()
        g = net.a.weight.grad
        total = total + g.norm()
    return g, total


def last_one_changed(net, xs, ys):
    for x in xs:
        net.zero_grad()
        net(x).square().sum().backward()
        g = net.a.weight.grad
    g *= 2
    return g


def one_of_those_kept_changed(net, xs, ys):
    found = []
    for x in xs:
        net.zero_grad()
        net(x).square().sum().backward()
        found.append(net.a.weight.grad)
    found[-1] *= 2
    return found


def shown_by_a_view(net, xs, ys):
    found = []
    for x in xs:
        net.zero_grad()
        net(x).square().sum().backward()
        found.append(net.a.weight.grad.view(-1))
    found[-1].mul_(2)
    return found


def held_in_a_dict(net, xs, ys):
    found = {}
    for x in xs:
        net.zero_grad()
        net(x).square().sum().backward()
        found = {name: p.grad for name, p in net.named_parameters()}
    return found


def carried_and_changed(net, xs, ys):
    best = torch.zeros(6, 4)
    for x in xs:
        best *= 2
        net.zero_grad()
        net(x).square().sum().backward()
        best = net.a.weight.grad
    best += 1
    return best


def reset_before_alone(net, xs, ys):
    total = 0.0
    net.zero_grad()
    for x in xs:
        loss = net(x).square().mean()
        loss.backward()
        total += loss.detach()
    return total


LIFTED = (
    fisher,
    fisher_of_those_reached,
    clipped,
    saliency,
    saliency_of_leaves,
    gradients_kept,
    without_history,
    accumulated,
)

# ---------------------------------------------------------------- kept, or lifted in parts


def reset_by_zeros(net, xs, ys):
    total = 0.0
    for x in xs:
        net.zero_grad(set_to_none=False)
        net(x).sum().backward()
        total = total + net.a.weight.grad.norm()
    return total


def read_before(net, xs, ys):
    found = []
    for x in xs:
        net(x).sum().backward()
        found.append(net.b.weight.grad.norm())
    return found


def reset_behind(net, xs, ys):
    found = []
    for x in xs:
        net(x).sum().backward()
        found.append(net.b.weight.grad.norm())
        net.zero_grad()
    return found


def reset_in_part(net, xs, ys):
    found = []
    for x in xs:
        net.a.zero_grad()
        net(x).sum().backward()
        found.append(net.a.weight.grad.norm())
    return found


def back_twice(net, xs, ys):
    found = []
    for x in xs:
        net.zero_grad()
        net(x).sum().backward()
        net(x).square().sum().backward()
        found.append(net.a.weight.grad.norm())
    return found


def back_through_one_graph_twice(net, xs, ys):
    for x in xs:
        net.zero_grad()
        loss = net(x).sum()
        loss.backward()
        loss.backward()
    return xs


def graph_retained(net, xs, ys):
    found = []
    for x in xs:
        net.zero_grad()
        h = net(x)
        h.sum().backward(retain_graph=True)
        found.append(h)
    return found


def trained(net, xs, ys):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in zip(xs, ys):
        optimizer.zero_grad()
        F.cross_entropy(net(x[None]), y[None]).backward()
        optimizer.step()
    return [p.detach() for p in net.parameters()]


def clipped_in_place(net, xs, ys):
    found = []
    for x in xs:
        net.zero_grad()
        net(x).sum().backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.1)
        found.append(net.a.weight.grad.norm())
    return found


def scaled_in_place(net, xs, ys):
    found = []
    for x in xs:
        net.zero_grad()
        net(x).sum().backward()
        net.a.weight.grad.mul_(0.5)
        g = net.b.weight.grad
        g *= 3
        found.append(net.a.weight.grad.norm() + net.b.weight.grad.norm())
    return found


def view_scaled_in_place(net, xs, ys):
    found = []
    for x in xs:
        net.zero_grad()
        net(x).sum().backward()
        net.a.weight.grad.view(-1)[0] = 7.0
        found.append(net.a.weight.grad.norm())
    return found


def augmented(net, xs, ys):
    found = []
    for x in xs:
        net.zero_grad()
        net(x).sum().backward()
        net.a.weight.grad *= 2
        found.append(net.a.weight.grad.norm())
    return found


def set_by_hand(net, xs, ys):
    for x in xs:
        net.zero_grad()
        net(x).sum().backward()
        net.a.weight.grad = torch.ones_like(net.a.weight)
    return xs


def in_a_branch(net, xs, ys):
    found = []
    for i in range(len(xs)):
        net.zero_grad()
        loss = F.cross_entropy(net(xs[i : i + 1]), ys[i : i + 1])
        if ys[i] > 0:
            loss.backward()
        found.append(0.0 if net.a.weight.grad is None else net.a.weight.grad.norm().item())
    return found


def inner_sums(net, xs, ys):
    found = []
    for i in range(len(xs)):
        net.zero_grad()
        for j in range(2):
            (net(xs[i]) * (j + 1)).sum().backward()
        found.append(net.a.weight.grad.norm())
    return found


def graph_in_the_total(net, xs, ys):
    total = 0.0
    for x in xs:
        net.zero_grad()
        loss = net(x).sum()
        loss.backward()
        total = total + loss
    return total


def not_scalar(net, xs, ys):
    for x in xs:
        net.zero_grad()
        net(x).backward()
    return xs


def of_nothing(net, xs, ys):
    for x in xs:
        net.zero_grad()
        x.sum().backward()
    return xs


def leaf_handed_out(net, xs, ys):
    x = None
    for i in range(len(xs)):
        x = xs[i].clone().requires_grad_()
        net(x).sum().backward()
    return x


def through_what_was_stored(net, xs, ys):
    held = torch.zeros(len(xs) + 1, 3)
    found = []
    for i in range(len(xs)):
        net.zero_grad()
        loss = (net(xs[i]) + held[i]).square().sum()
        loss.backward()
        held[i + 1] = net.b.bias.grad
        found.append(loss.detach())
    return torch.stack(found), held


def with_history_stored(net, xs, ys):
    held = torch.zeros(len(xs) + 1, 3)
    for i in range(len(xs)):
        net.zero_grad()
        (net(xs[i]) + held[i]).square().sum().backward()
        held[i + 1] = net.a.bias[:3]
    return held


def by_torch_autograd_backward(net, xs, ys):
    for x in xs:
        net.zero_grad()
        torch.autograd.backward(net(x).sum())
    return xs


def hooked(net, xs, ys):
    seen = []
    handle = net.a.weight.register_hook(lambda g: g * 2)
    seen = fisher(net, xs, ys)
    handle.remove()
    return seen


OTHERS = (
    by_an_optimizer,
    last_one,
    last_one_changed,
    one_of_those_kept_changed,
    shown_by_a_view,
    held_in_a_dict,
    carried_and_changed,
    reset_before_alone,
    reset_by_zeros,
    read_before,
    reset_behind,
    reset_in_part,
    back_twice,
    back_through_one_graph_twice,
    graph_retained,
    trained,
    clipped_in_place,
    scaled_in_place,
    view_scaled_in_place,
    augmented,
    set_by_hand,
    in_a_branch,
    inner_sums,
    graph_in_the_total,
    not_scalar,
    of_nothing,
    leaf_handed_out,
    through_what_was_stored,
    with_history_stored,
    by_torch_autograd_backward,
    hooked,
)

# ---------------------------------------------------------------- the comparison


def example(kind: Any = Net, count: int = 5) -> Any:
    torch.manual_seed(0)
    return kind(), torch.randn(count, 4), torch.randint(0, 3, (count,))


def leaves(value) -> list:
    if isinstance(value, dict):
        return [*value, *leaves(list(value.values()))]
    return [leaf for one in value for leaf in leaves(one)] if isinstance(value, (list, tuple)) else [value]


def twin_of(net):
    """A copy of a network, gradients and all."""
    made = copy.deepcopy(net)
    for one, other in zip(made.parameters(), net.parameters()):
        one.grad = None if other.grad is None else other.grad.clone()
    return made


def told(value):
    """What can be seen of a value."""
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().clone(), value.requires_grad, value.is_leaf, value.stride() if value.dim() else ()


def outcome(function, net, xs, ys, *before):
    """Results or the exception; then the gradients, and what an earlier caller still holds of them."""
    held = [p.grad for p in net.parameters()]
    try:
        found = leaves(function(net, *before, xs, ys))
    except Exception as error:
        found = [(type(error), str(error))]
    grads = [p.grad for p in net.parameters()]
    alike = [[one is other for other in (*found, *held) if other is not None] for one in grads]
    return [told(one) for one in (*found, *grads, *held, xs.grad)], alike


def assert_alike(found, wanted):
    assert found[1] == wanted[1]
    assert len(found[0]) == len(wanted[0])
    for one, other in zip(found[0], wanted[0]):
        assert type(one) is type(other)
        if isinstance(other, tuple) and isinstance(other[0], torch.Tensor):
            torch.testing.assert_close(one[0], other[0], rtol=1e-4, atol=1e-5, equal_nan=True)
            assert one[1:] == other[1:]
        elif isinstance(other, float):
            assert one == pytest.approx(other, rel=1e-4)
        else:
            assert one == other


def compare(function, examples, *, backend="auto", verify="off"):
    lifted = lift(function, backend=backend, verify=verify)
    for net, xs, ys in examples:
        twin, inputs = twin_of(net), xs.detach().clone().requires_grad_(xs.requires_grad)
        for _ in range(3):
            assert_alike(outcome(lifted, net, xs, ys), outcome(function, twin, inputs, ys))
    return lifted


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", LIFTED)
def test_gradients_are_those_of_the_loop(function, backend):
    compare(function, [example(), example(count=1), example(count=0), example(count=3)], backend=backend)
    if backend != "native":
        lifted = lift(function, backend=backend, verify="off")
        lifted(*example())
        decisions = [loop.decision for loop in lifted.report().loops]
        assert "lanes" in decisions and set(decisions) <= {"lanes", "sequential"}


@pytest.mark.parametrize("function", (fisher, saliency, gradients_kept, accumulated))
def test_the_first_call_is_compared(function):
    compare(function, [example(), example(count=0), example(count=8)], verify="first")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", OTHERS)
def test_others_do_what_the_loop_does(function, backend):
    compare(function, [example(), example(count=1), example(count=0)], backend=backend)


@pytest.mark.parametrize("function", (fisher, fisher_of_those_reached, clipped, saliency, accumulated))
@pytest.mark.parametrize("kind", (Spare, Tied, ResetsItself))
def test_other_networks(function, kind):
    compare(function, [example(kind), example(kind, 2)])


class Convolutional(nn.Sequential):
    def __init__(self):
        layers = nn.Unflatten(1, (1, 2, 2)), nn.Conv2d(1, 2, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
        super().__init__(*layers, nn.Linear(2, 3))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", (fisher, saliency, accumulated))
def test_convolutions(function, backend):
    compare(function, [example(Convolutional), example(Convolutional, 1)], backend=backend)
    if backend != "native":
        lifted = lift(function, backend=backend, verify="off")
        lifted(*example(Convolutional))
        assert "lanes" in [loop.decision for loop in lifted.report().loops]


def test_what_is_not_reached_has_none():
    lifted = lift(fisher_of_those_reached, verify="off")
    lifted(*example(Spare))
    assert "lanes" in [loop.decision for loop in lifted.report().loops]


@pytest.mark.parametrize("function", (fisher, saliency, accumulated))
def test_an_exception_leaves_what_the_loop_leaves(function):
    net, xs, ys = example()
    wrong = ys.clone()
    wrong[3] = 17
    compare(function, [(net, xs, ys), (net, xs, wrong), (net, xs, ys)])


@pytest.mark.parametrize("function", (fisher_of_those_reached, saliency, accumulated))
def test_parameters_that_ask_for_none(function):
    def frozen(parameter):
        net, xs, ys = example()
        fisher(net, xs, ys)
        getattr(net, parameter).requires_grad_(False)
        return net, xs, ys

    compare(function, [frozen("a"), example(), frozen("b"), frozen("a")])


@pytest.mark.parametrize("function", (fisher, saliency, saliency_of_leaves, accumulated))
def test_inputs_that_ask_for_gradients(function):
    net, xs, ys = example()
    compare(function, [(net, xs.clone().requires_grad_(), ys), (net, xs, ys), (net, xs, ys)])


@pytest.mark.parametrize("function", (saliency, accumulated))
def test_gradients_that_share_memory(function):
    net, xs, ys = example(Net)
    net.a.bias.grad = memory = torch.zeros(6)
    twin = twin_of(net)
    lifted = lift(function, verify="off")
    for one, call in ((net, lifted), (twin, function)):
        call(one, xs, ys)
        one.a.bias.grad = one.b.weight.grad[0]
        call(one, xs, ys)
    assert_alike(outcome(lifted, net, xs, ys), outcome(function, twin, xs, ys))
    assert memory.abs().sum() > 0


class Scaled(Net):
    """With a parameter of no dimension."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(0.5))

    def forward(self, x):
        return self.b(torch.tanh(self.a(x))) * self.scale


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("verify", ("first", "off"))
@pytest.mark.parametrize("function", (saliency, accumulated))
def test_gradients_that_are_there_are_added_to(function, verify, backend):
    def with_gradients(count, kind=Net):
        net, xs, ys = example(kind, count)
        for p in net.parameters():
            p.grad = torch.ones_like(p)
        return net, xs, ys

    compare(
        function,
        [with_gradients(5), with_gradients(5, Scaled), example(Scaled), with_gradients(0)],
        backend=backend,
        verify=verify,
    )
    if backend != "native":
        lifted = lift(function, backend=backend, verify=verify)
        lifted(*with_gradients(5))
        assert [loop.decision for loop in lifted.report().loops] == ["lanes"]


def reads_a_gradient(net, given, xs, ys):
    found = []
    for x in xs:
        found.append(given.sum().item())
        net(x).sum().backward()
    return found


def test_a_gradient_that_is_read_under_another_name():
    net, xs, ys = example()
    accumulated(net, xs, ys)
    twin = twin_of(net)
    lifted = lift(reads_a_gradient, verify="off")
    apart = torch.ones(3)
    assert_alike(outcome(lifted, net, xs, ys, apart), outcome(reads_a_gradient, twin, xs, ys, apart))
    found = outcome(lifted, net, xs, ys, net.a.weight.grad)
    assert_alike(found, outcome(reads_a_gradient, twin, xs, ys, twin.a.weight.grad))


def of_a_name_bound_anew(w, xs, ys):
    found = []
    for x in xs:
        w.grad = None
        (w * x).sum().backward()
        found.append(w.grad.norm())
        w = w.detach().clone().requires_grad_()
    return found


def of_a_tensor(w, xs, ys):
    found = []
    for x in xs:
        w.grad = None
        (w * x).sin().sum().backward()
        found.append(w.grad.norm())
    w = w.detach() * 2
    return found, w


def of_a_tensor_alone(w, xs, ys):
    found = []
    for x in xs:
        w.grad = None
        (w * x).sin().sum().backward()
        found.append(w.grad.norm())
    return torch.stack(found)


@pytest.mark.parametrize("function", (of_a_name_bound_anew, of_a_tensor, of_a_tensor_alone))
@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients_of_an_argument(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    _, xs, ys = example()
    for asks in (True, True, False):
        ours, theirs = (torch.ones(4, requires_grad=asks) for _ in range(2))
        for _ in range(2):
            found, wanted = taken(lifted, ours, xs, ys), taken(function, theirs, xs, ys)
            assert_alike((found, []), (wanted, []))


def taken(function, w, xs, ys):
    try:
        return [told(one) for one in (*leaves(function(w, xs, ys)), w.grad)]
    except RuntimeError as error:
        return [str(error)]


class Odd(nn.Sequential):
    """Whose parameters are reached by their places."""

    def __init__(self):
        super().__init__(nn.Linear(4, 3), nn.Tanh(), nn.Sequential(nn.Linear(3, 3)))


@pytest.mark.parametrize("function", (fisher, saliency, accumulated))
@pytest.mark.parametrize("verify", ("first", "off"))
def test_layers_at_places(function, verify):
    compare(function, [example(Odd), example(Odd, 0), example(Odd, 3)], verify=verify)
    lifted = lift(function, verify="off")
    lifted(*example(Odd))
    assert "lanes" in [loop.decision for loop in lifted.report().loops]


def test_an_optimizer_of_the_caller():
    net, xs, ys = example()
    twin = twin_of(net)
    lifted = lift(reset_by_it, verify="off")
    for parts in (slice(None), slice(0, 2), slice(None)):
        ours, theirs = (torch.optim.SGD(list(one.parameters())[parts], lr=0.1) for one in (net, twin))
        assert_alike(outcome(lifted, net, xs, ys, ours), outcome(reset_by_it, twin, xs, ys, theirs))
        if parts == slice(None):
            assert "lanes" in [loop.decision for loop in lifted.report().loops]


def test_a_reset_of_an_object_of_its_own():
    net, xs, ys = example()
    twin = twin_of(net)
    lifted = lift(fisher, verify="off")
    assert_alike(outcome(lifted, net, xs, ys), outcome(fisher, twin, xs, ys))
    for one in (net, twin):
        one.zero_grad = lambda: None
    assert_alike(outcome(lifted, net, xs, ys), outcome(fisher, twin, xs, ys))


def of_two(net, other, xs, ys):
    found = []
    for x in xs:
        net.zero_grad()
        (net(x) * other(x).detach()).sum().backward()
        found.append(net.a.weight.grad.norm())
    return found


def test_networks_that_are_one():
    net, xs, ys = example()
    other = Net()
    lifted = lift(of_two, verify="off")
    for alike in (False, True, False):
        twin, another = twin_of(net), twin_of(other)
        found = outcome(lifted, net, xs, ys, net if alike else other)
        assert_alike(found, outcome(of_two, twin, xs, ys, twin if alike else another))


@pytest.mark.parametrize("function", (fisher, saliency))
def test_hooks_run(function):
    net, xs, ys = example()
    twin, seen = twin_of(net), []
    lifted = lift(function, verify="off")
    assert_alike(outcome(lifted, net, xs, ys), outcome(function, twin, xs, ys))
    for one in (net, twin):
        one.a.weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.norm().item()))
    assert_alike(outcome(lifted, net, xs, ys), outcome(function, twin, xs, ys))
    assert len(seen) == 2 * len(xs)


@pytest.mark.parametrize("mode", (torch.no_grad, torch.inference_mode))
def test_where_nothing_is_recorded(mode):
    net, xs, ys = example()
    twin = twin_of(net)
    lifted = lift(fisher, verify="off")
    lifted(net, xs, ys), fisher(twin, xs, ys)
    with mode():
        assert_alike(outcome(lifted, net, xs, ys), outcome(fisher, twin, xs, ys))


@pytest.mark.parametrize(
    ("function", "words"),
    (
        (back_twice, "a second '.backward()'"),
        (read_before, "holds what earlier iterations left"),
        (reset_by_zeros, "leave its arguments out"),
        (scaled_in_place, "is changed in place"),
    ),
)
def test_reasons(function, words):
    lifted = lift(function, verify="off")
    lifted(*example())
    (record,) = lifted.report().loops
    assert record.code == "training-step" and words in record.reason
