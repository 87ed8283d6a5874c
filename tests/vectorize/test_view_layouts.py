"""``view`` asks for strides that fit: where the loop raises for how a tensor lies in memory, so does what is lifted."""

import pytest
import torch

from looplift import lift


def rows(x):
    out = []
    for i in range(x.shape[0]):
        out.append(x[i].view(-1) * 2)
    return torch.stack(out)


def stored(x):
    out = torch.zeros(x.shape[0], x.shape[1] * x.shape[2])
    for i in range(x.shape[0]):
        out[i] = x[i].view(x.shape[1] * x.shape[2])
    return out


def turned(x):
    out = []
    for i in range(x.shape[0]):
        out.append(x[i].t().view(-1))
    return torch.stack(out)


def copied(x):
    out = []
    for i in range(x.shape[0]):
        out.append(x[i].t().contiguous().view(-1).sum())
    return torch.stack(out)


def of_computed(x):
    out = []
    for i in range(x.shape[0]):
        out.append((x[i] + 1).view(-1))
    return torch.stack(out)


LAYOUTS = {
    "contiguous": lambda: torch.arange(24.0).reshape(2, 3, 4),
    "transposed": lambda: torch.arange(24.0).reshape(2, 4, 3).transpose(1, 2),
    "lanes last": lambda: torch.arange(24.0).reshape(3, 4, 2).permute(2, 0, 1),
    "lanes between": lambda: torch.arange(24.0).reshape(3, 2, 4).transpose(0, 1),
    "a part": lambda: torch.arange(48.0).reshape(2, 3, 8)[:, :, :4],
    "one column": lambda: torch.arange(6.0).reshape(2, 1, 3).transpose(1, 2),
}


def outcome(function, x):
    try:
        return function(x).tolist()
    except RuntimeError as error:
        return str(error)


@pytest.mark.parametrize("function", [rows, stored, turned, copied, of_computed], ids=lambda one: one.__name__)
def test_the_loop_raises_or_not(function):
    lifted = lift(function, verify="off")
    for _ in range(2):
        for make in LAYOUTS.values():
            assert outcome(lifted, make()) == outcome(function, make())


def test_tensors_of_a_list():
    def each(tensors):
        out = []
        for tensor in tensors:
            out.append(tensor.view(-1) * 2)
        return torch.stack(out)

    lifted, plain, turned = lift(each, backend="torch", verify="off"), torch.rand(2, 3), torch.rand(3, 2).t()
    for tensors in ([plain, plain], [plain, turned], [turned, plain], [plain]):
        assert outcome(lifted, tensors) == outcome(each, tensors)


def test_what_else_is_in_lists_is_not_touched():
    def each(tensors, others):
        out = []
        for tensor in tensors:
            out.append(tensor.view(-1) * len(others))
        return torch.stack(out)

    lifted, itself, left = lift(each, backend="torch", verify="off"), [1], iter([1, 2])
    itself.append(itself)
    for others in ([1], itself, [left], {"a": {"b": 1}}):
        assert outcome(lambda x, o=others: lifted(x, o), [torch.ones(2, 2)]) == [[float(len(others))] * 4]
    assert next(left) == 1
