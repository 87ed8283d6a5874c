"""Methods that change a row in place are stores."""

import copy

import pytest
import torch

from looplift import lift


def accumulate(x):
    out = torch.zeros(3, x.shape[1])
    for i in range(len(x)):
        out[i % 3].add_(x[i])
    return out


def scale(x):
    for i in range(len(x)):
        x[i].add_(i)
        x[i].mul_(2)
        x[i].sub_(x[i].sum())
        x[i].div_(3)
    return x


def fill(x):
    out = torch.empty_like(x)
    for i in range(len(x)):
        out[i].fill_(i)
    return out


def clear(x):
    for i in range(len(x)):
        x[i, 1:].zero_()
    return x


def mirror(x):
    out = torch.empty_like(x)
    for i in range(len(x)):
        out[i].copy_(x[-1 - i])
    return out


@pytest.mark.parametrize("loop", [accumulate, scale, fill, clear, mirror])
@pytest.mark.parametrize("rows", [1, 5])
def test_the_same_memory_changes(loop, rows):
    x = torch.randn(rows, 4)
    ours, theirs = x.clone(), x.clone()
    lifted = lift(loop)
    torch.testing.assert_close(lifted(ours), loop(theirs))
    torch.testing.assert_close(ours, theirs)
    assert {record.decision for record in lifted.report().loops} == {"lanes"}


def test_integers_take_no_floats():
    def add(x, values):
        for i in range(len(x)):
            x[i].add_(values[i])
        return x

    with pytest.raises(RuntimeError, match="can't be cast"):
        lift(add)(torch.zeros(3, dtype=torch.int64), torch.rand(3))


def fill_by(x, values):
    for i in range(len(values)):
        x[i].fill_(values[i])
    return x


def clear_at(x, places):
    for i in range(len(places)):
        x[places[i]].zero_()
    return x


def add_at(x, places):
    for i in range(len(places)):
        x[places[i]].add_(1)
    return x


def copy_each(x, rows):
    for i in range(len(rows)):
        x[i].copy_(rows[i])
    return x


def add_to_first(x, rows):
    s = x[0]
    for i in range(len(rows)):
        s.add_(rows[i])
    return s, x


def told(function, *arguments):
    try:
        return repr(function(*arguments)), repr(arguments)
    except Exception as error:
        return repr(error), repr(arguments)


TENSOR = torch.arange(12.0).reshape(4, 3)
CALLS = [
    (fill_by, TENSOR, [1, 2.5, True]),
    (fill_by, TENSOR, torch.rand(4, 1)),
    (fill_by, TENSOR, torch.rand(4)),
    (fill_by, TENSOR.numpy(), [1.0]),
    (fill_by, [TENSOR[0], TENSOR[1]], [1.0, 2.0]),
    (clear_at, TENSOR, [0, -1]),
    (clear_at, TENSOR, torch.tensor([1, 3])),
    (clear_at, TENSOR, torch.tensor([[0, 1], [1, 2]])),
    (clear_at, TENSOR, torch.eye(4).bool()),
    (clear_at, TENSOR, [[0, 1], [2]]),
    (clear_at, TENSOR, [True, False]),
    (add_at, TENSOR, torch.eye(4).bool()),
    (add_at, (TENSOR[0], TENSOR[1]), [0, 1, 1]),
    (add_at, TENSOR.numpy(), [0, 1]),
    (copy_each, TENSOR, torch.rand(4, 1, 3)),
    (copy_each, TENSOR, [1.0, 2.0]),
    (copy_each, TENSOR, TENSOR.numpy()),
    (add_to_first, TENSOR, torch.rand(4, 3)),
    (add_to_first, TENSOR.numpy(), TENSOR.numpy()),
    (add_to_first, [1.0, 2.0], [1.0, 2.0]),
]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("loop, x, given", CALLS)
def test_methods_are_those_of_tensors(loop, x, given, backend):
    ours, theirs = copy.deepcopy((x, given)), copy.deepcopy((x, given))
    assert told(lift(loop, verify="off", backend=backend), *ours) == told(loop, *theirs)


def totals(x):
    total, kept = torch.zeros(2), []
    for i in range(len(x)):
        total.add_(x[i])
        kept.append(total)
    return torch.stack(kept)


def one_total(x):
    total = torch.zeros(2)
    for i in range(len(x)):
        if x[i, 0] > 0:
            total.sub_(x[i])
    return total


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("loop", [totals, one_total])
def test_a_tensor_is_changed_by_each_iteration(loop, backend):
    lifted = lift(loop, verify="off", backend=backend)
    for n in (3, 1, 5):
        x = torch.randn(n, 2)
        torch.testing.assert_close(lifted(x), loop(x))
