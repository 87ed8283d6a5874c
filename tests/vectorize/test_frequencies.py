"""Gradients of embeddings that are divided by how often an index is in one call: it is the call of one iteration."""

import pytest
import torch

from looplift import lift


def of_one_index(indices, weight):
    out = []
    for i in range(indices.shape[0]):
        out.append(torch.nn.functional.embedding(indices[i, 0], weight, scale_grad_by_freq=True))
    return torch.stack(out)


def of_several(indices, weight):
    out = []
    for i in range(indices.shape[0]):
        out.append(torch.nn.functional.embedding(indices[i], weight, None, None, 2.0, True).sum(0))
    return torch.stack(out)


def by_keyword(indices, weight):
    out = torch.zeros(indices.shape[0], weight.shape[1])
    for i in range(indices.shape[0]):
        if indices[i, 0] > 0:
            out[i] = torch.nn.functional.embedding(indices[i], weight=weight, scale_grad_by_freq=True).mean(0)
    return out


def as_it_is(indices, weight):
    out = []
    for i in range(indices.shape[0]):
        out.append(torch.embedding(weight, indices[i], -1, True).sum(0))
    return torch.stack(out)


def unscaled(indices, weight):
    out = []
    for i in range(indices.shape[0]):
        out.append(torch.nn.functional.embedding(indices[i], weight, scale_grad_by_freq=False).sum(0))
    return torch.stack(out)


INDICES = [torch.tensor([[1, 1, 3], [2, 1, 2], [1, 4, 0], [1, 1, 1]]), torch.tensor([[3, 3, 3]])]


def called(function, indices, *, gradients=True):
    torch.manual_seed(0)
    weight = torch.randn(6, 4, requires_grad=gradients)
    made = function(indices, weight)
    if gradients:
        (made * torch.arange(made.numel()).reshape(made.shape)).sum().backward()
    return made, weight.grad


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", [of_one_index, of_several, by_keyword, as_it_is, unscaled])
def test_functions(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for indices in INDICES * 2:
        for got, want in zip(called(lifted, indices), called(function, indices), strict=True):
            torch.testing.assert_close(got, want)


@pytest.mark.parametrize("function", [of_one_index, of_several, by_keyword, as_it_is, unscaled])
def test_after_calls_without_gradients(function):
    lifted = lift(function, verify="first")
    for gradients in (False, True, False, True):
        for indices in INDICES:
            got, want = (called(one, indices, gradients=gradients) for one in (lifted, function))
            torch.testing.assert_close(got[0], want[0])
            if gradients:
                torch.testing.assert_close(got[1], want[1])


def test_without_gradients_they_run_together():
    for function in (of_one_index, of_several):
        lifted = lift(function, backend="torch", verify="off")
        got, want = (called(one, INDICES[0], gradients=False)[0] for one in (lifted, function))
        torch.testing.assert_close(got, want)
        assert {loop.decision for loop in lifted.report().loops} == {"lanes"}
    lifted = lift(unscaled, backend="torch", verify="off")
    called(lifted, INDICES[0])
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}


def words(table, indices):
    out = []
    for i in range(indices.shape[0]):
        out.append(table(indices[i]).sum(0))
    return torch.stack(out)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("scaled", [True, False])
def test_modules(scaled, backend):
    table = torch.nn.Embedding(6, 4, scale_grad_by_freq=scaled)

    def gradient(function):
        made = function(table, INDICES[0])
        (made * torch.arange(made.numel()).reshape(made.shape)).sum().backward()
        found, table.weight.grad = table.weight.grad, None
        return made, found

    want = gradient(words)
    lifted = lift(words, backend=backend, verify="off")
    for _ in range(2):
        for one, other in zip(gradient(lifted), want, strict=True):
            torch.testing.assert_close(one, other)
    if backend == "torch":
        assert {loop.decision for loop in lifted.report().loops} == {"kept" if scaled else "lanes"}
