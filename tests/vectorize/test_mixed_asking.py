"""Lists of tensors of several lengths, of which some ask for gradients: each result asks as it does in the loop."""

from types import SimpleNamespace

import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")
COUNT = 10


def made(asking):
    return [torch.arange(1.0, k % 3 + 2).div(4).requires_grad_(k in asking) for k in range(COUNT)]


def sums(xs):
    return [x.sum() for x in xs]


def filled(xs):
    found = {}
    for k, x in enumerate(xs):
        found[k] = x.mean()
    return [*found.values()]


def running(xs):
    total, found = torch.zeros(()), []
    for x in xs:
        total = total + x.sum()
        found.append(total)
    return found


def stepped(xs):
    found = []
    for x in xs:
        state = torch.zeros(())
        for value in x:
            state = torch.tanh(state + value)
        found.append(state)
    return found


def of_objects(xs):
    return [one.x.sum() * 2 for one in [SimpleNamespace(x=x) for x in xs]]


def total(xs):
    found = torch.zeros(())
    for x in xs:
        found = found + (x**2).sum()
    return [found]


def guarded(xs):
    found = torch.zeros(())
    for x in xs:
        for j in range(3):
            if j != 0:
                found = found + (x / j).sum()
    return [found]


def seen(function, asking, *, recording=True):
    """Results, which of them ask, and the gradients of each."""
    xs = made(asking)
    with torch.set_grad_enabled(recording):
        found = function(xs)
    leaves = [x for x in xs if x.requires_grad]
    slopes = [
        [
            None if one is None else one.tolist()
            for one in torch.autograd.grad(one, leaves, None, True, allow_unused=True)
        ]
        for one in found
        if one.requires_grad
    ]
    return [one.item() for one in found], [one.requires_grad for one in found], slopes


NONE, LAST, FIRST, ALL = (), (COUNT - 1,), (0,), tuple(range(COUNT))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [sums, filled, running, stepped, of_objects, total, guarded])
@pytest.mark.parametrize("calls", [(LAST, NONE, ALL), (NONE, LAST, FIRST), (ALL, LAST), (FIRST, ALL), ((1, 4, 8),)])
def test_results_ask_for_gradients_as_in_the_loop(function, calls, backend):
    lifted = lift(function, backend=backend, verify="off")
    for asking in calls:
        wanted, found = seen(function, asking), seen(lifted, asking)
        assert found[1] == wanted[1]
        assert torch.allclose(torch.tensor(found[0]), torch.tensor(wanted[0]))
        assert flat(found[2]) == pytest.approx(flat(wanted[2]), rel=1e-5)


def flat(slopes):
    return {
        (place, leaf, k): value
        for place, row in enumerate(slopes)
        for leaf, one in enumerate(row)
        for k, value in enumerate([-1.0] if one is None else one)
    }


@pytest.mark.parametrize("backend", ("auto", "torch"))
@pytest.mark.parametrize("asking", [NONE, ALL])
def test_lists_that_ask_alike_are_lifted(asking, backend):
    lifted = lift(total, backend=backend, verify="off")
    for _ in range(2):
        assert seen(lifted, asking) == seen(total, asking)
    assert [record.decision for record in lifted.report().loops] == ["lanes"]


@pytest.mark.parametrize("backend", ("auto", "torch"))
def test_a_total_over_a_list_of_both_is_lifted(backend):
    lifted = lift(total, backend=backend, verify="off")
    assert seen(lifted, LAST) == seen(total, LAST)
    assert [record.decision for record in lifted.report().loops] == ["lanes"]


@pytest.mark.parametrize("function", [sums, total])
def test_where_none_is_recorded_it_does_not_matter_which_ask(function):
    lifted = lift(function, backend="torch", verify="off")
    for asking in (LAST, FIRST):
        assert seen(lifted, asking, recording=False) == seen(function, asking, recording=False)
    assert [record.decision for record in lifted.report().loops] == ["lanes"]
