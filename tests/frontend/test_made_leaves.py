"""Tensors made with ``requires_grad`` in a lifted function are leaves of torch's graph, as those of the caller are."""

import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")
COUNTS = torch.tensor([0.0, 2.0, 4.0])


def guarded(c):
    w = torch.ones((), requires_grad=True)
    total = torch.zeros(())
    for i in range(len(c)):
        if c[i] != 0:
            total = total + w / c[i]
    return torch.autograd.grad(total, w)


def held_in_a_dict(c):
    held = {"w": torch.full((), 2.0, requires_grad=True)}
    total = torch.zeros(())
    for i in range(len(c)):
        if c[i] != 0:
            total = total + held["w"] / c[i]
    return torch.autograd.grad(total, held["w"])


def carried(c):
    w = c.new_ones(2, requires_grad=True)
    state = torch.zeros(())
    for i in range(len(c)):
        state = torch.tanh(state * w[0] + c[i])
    return state, *torch.autograd.grad(state, w, retain_graph=True)


def told_by_a_flag(c, flag=True):
    w = torch.ones_like(c, requires_grad=flag)
    state = torch.zeros(())
    for i in range(len(c)):
        state = torch.tanh(state * w[i] + c[i])
    return state


def asks_for_none(c):
    w = torch.ones(2, requires_grad=False)
    found = torch.zeros(len(c))
    for i in range(len(c)):
        found[i] = w[0] * c[i]
    return found


def in_the_loop(c):
    made = []
    for i in range(len(c)):
        made.append(torch.zeros(2, requires_grad=True))
    return made


def by_keywords(c):
    options = {"requires_grad": True}
    made = []
    for i in range(len(c)):
        made.append(torch.tensor(1.0, **options) * c[i])
    return made


def stored_into(c):
    w = torch.zeros(3, requires_grad=True)
    for i in range(len(c)):
        w[i] = c[i]
    return w


def added_to(c):
    total = torch.zeros((), requires_grad=True)
    for i in range(len(c)):
        total += c[i]
    return total


def same(wanted, found):
    if isinstance(wanted, (list, tuple)):
        return len(wanted) == len(found) and all(map(same, wanted, found))
    facts = [(one.requires_grad, one.is_leaf, one.dtype) for one in (wanted, found)]
    return facts[0] == facts[1] and torch.allclose(wanted, found)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [guarded, held_in_a_dict, carried, told_by_a_flag, asks_for_none])
def test_a_leaf_made_in_front_of_a_loop_gets_its_gradient(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for _ in range(2):
        assert same(function(COUNTS), lifted(COUNTS))


@pytest.mark.parametrize("function", [guarded, held_in_a_dict, carried, told_by_a_flag])
def test_the_loop_that_reads_it_is_lifted(function):
    lifted = lift(function, verify="off")
    lifted(COUNTS)
    assert all(record.lifted for record in lifted.report().loops)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [in_the_loop, by_keywords])
def test_leaves_made_in_a_loop_are_leaves(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    assert same(function(COUNTS), lifted(COUNTS))
    (record,) = lifted.report().loops
    assert (
        record.code == "unknown-op" and "requires_grad=True)' makes a tensor that asks for gradients" in record.reason
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [stored_into, added_to])
def test_errors_about_leaves_are_raised(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    with pytest.raises(RuntimeError) as wanted:
        function(COUNTS)
    for _ in range(2):
        with pytest.raises(RuntimeError) as found:
            lifted(COUNTS)
        assert str(found.value) == str(wanted.value)
    assert all(record.code != "internal" for record in lifted.report().loops)
