"""Tensors of different lengths in a list, read at places that the data names; ranges of another length in each lane."""

import pytest
import torch

from looplift import lift


def sums(docs, near, scale):
    out = torch.zeros(len(near))
    for b in range(len(near)):
        out[b] = (docs[near[b]] * scale).sum()
    return out


def of_a_tensor(docs, near, scale):
    places, out = torch.tensor(near), []
    for b in range(places.shape[0]):
        out.append(docs[places[b]].mean() * scale)
    return torch.stack(out)


def lengths(docs, near, scale):
    out = []
    for i in near:
        out.append(docs[i].shape[0] * scale)
    return torch.stack(out)


def parts(docs, near, scale):
    out = torch.zeros(len(near))
    for b, i in enumerate(near):
        doc = docs[i]
        out[b] = doc[-1] + doc[:2].sum() * scale
    return out


def beside_their_own(docs, near, scale):
    out = torch.zeros(len(near))
    for b in range(len(near)):
        out[b] = docs[near[b]].sum() * scale - docs[b % len(docs)].sum()
    return out


def under_a_condition(docs, near, scale):
    out = torch.zeros(len(near))
    for b in range(len(near)):
        if near[b] > 0:
            out[b] = docs[near[b]].sum() * scale
    return out


def again_in_each(docs, near, scale):
    """The place is that of an inner loop's own index, whose loops run as often together as there are items."""
    out = torch.zeros(2)
    for b in range(2):
        total = torch.zeros(())
        for k in range(near[b]):
            total = total + docs[k].sum() * scale
        out[b] = total
    return out


def joined(docs, near, scale):
    return torch.cat([docs[i] * scale for i in near])


def apart(docs, near, scale):
    return [docs[i] * scale for i in near]


def handed_out(docs, near, scale):
    return [docs[i] for i in near]


PROGRAMS = [
    sums, of_a_tensor, lengths, parts, beside_their_own, under_a_condition, again_in_each, joined, apart, handed_out,
]  # fmt: skip
PLACES = [[2, 0, 1, 2], [0, 0], [3, 2, 1, 0], [-1, 1, -4], [1], [2, 2]]


def documents(*counts, gradients=False, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(count, generator=generator).requires_grad_(gradients) for count in counts]


def outcome(function, docs, near, scale):
    """What comes out, whether it asks for gradients, and the gradients; or what was raised."""
    try:
        found = function(docs, near, scale)
    except Exception as error:
        return type(error), str(error)
    every = found if isinstance(found, list) else [found]
    leaves = [one for one in (*docs, scale) if one.requires_grad]
    total = sum((one * torch.cos(torch.arange(one.numel())).reshape(one.shape)).sum() for one in every)
    grads = torch.autograd.grad(total, leaves, allow_unused=True) if total.requires_grad else ()
    shared = [[one.data_ptr() == doc.data_ptr() for doc in docs] for one in every if one.numel()]
    return [one.detach() for one in every], [one.requires_grad for one in every], list(grads), shared


def assert_same(function, lifted, *args):
    found, wanted = outcome(lifted, *args), outcome(function, *args)
    if isinstance(wanted[0], type):
        assert found == wanted
    else:
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", PROGRAMS)
def test_values_and_gradients_are_the_loops(function, backend):
    for gradients in (False, True):
        lifted, scale = lift(function, verify="off", backend=backend), torch.tensor(2.0, requires_grad=gradients)
        for near in PLACES:
            assert_same(function, lifted, documents(2, 3, 1, 4), near, scale)
        assert_same(function, lifted, documents(3, 1, 5, 2, seed=1), PLACES[0], scale)
        assert_same(function, lifted, documents(2, 0, 1, 3), PLACES[0], scale)
        assert_same(function, lifted, documents(2, 2, 2, 2), PLACES[0], scale)
        assert_same(function, lifted, documents(2, 3, 1, 4, gradients=gradients), PLACES[0], scale)


@pytest.mark.parametrize("near", [[0, 4], [4, 0], [-5, 1], [1, -5]])
@pytest.mark.parametrize("function", [sums, lengths, under_a_condition, joined])
def test_places_that_are_not_there_raise(function, near):
    lifted, scale = lift(function, verify="off", backend="torch"), torch.tensor(2.0)
    for places in ([1, 0], near, [1, 0], near):
        assert_same(function, lifted, documents(2, 3, 1, 4), places, scale)


@pytest.mark.parametrize("function", [sums, parts, beside_their_own, under_a_condition, again_in_each])
def test_items_are_read_together(function):
    lifted = lift(function, verify="off", backend="torch")
    lifted(documents(2, 3, 1, 4), [2, 2], torch.tensor(2.0))
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}


def test_matrices_that_differ_in_one_dimension():
    def rows(matrices, near):
        return torch.stack([matrices[i].mean(0) for i in near])

    def columns(matrices, near):
        return torch.stack([matrices[i].sum(1) for i in near])

    generator = torch.Generator().manual_seed(0)
    tall = [torch.randn(count, 3, generator=generator) for count in (2, 4, 1)]
    wide = [torch.randn(3, count, generator=generator) for count in (2, 4, 1)]
    for function, matrices in ((rows, tall), (columns, wide)):
        lifted = lift(function, verify="off", backend="torch")
        for near in ([2, 0, 2], [1, 1, -1], [0, 1, 2]):
            torch.testing.assert_close(lifted(matrices, near), function(matrices, near))
        assert {loop.decision for loop in lifted.report().loops} == {"kept" if function is columns else "lanes"}


# ---------------------------------------------------------------- ranges


def packed(docs, bins, width):
    tokens = torch.full((len(bins), width), -1.0)
    places = torch.zeros(len(bins), width, dtype=torch.long)
    mask = torch.zeros(len(bins), width, width, dtype=torch.bool)
    for row, items in enumerate(bins):
        start = 0
        for i in items:
            n = docs[i].shape[0]
            tokens[row, start : start + n] = docs[i]
            places[row, start : start + n] = torch.arange(n)
            mask[row, start : start + n, start : start + n] = True
            start += n
    return tokens, places, mask


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_documents_are_packed(backend):
    lifted, docs = lift(packed, verify="off", backend=backend), documents(2, 3, 1, 4, 2)
    for bins in ([[0, 1], [3], [2, 4]], [[4, 3, 2], [1]], [[1, -1, 0]], [[], [0]], [[0, 1, 2, 3]], [[0, 9]]):
        found = [outcome_of(function, docs, bins, 8) for function in (lifted, packed)]
        if isinstance(found[1][0], type):
            assert found[0] == found[1]
        else:
            torch.testing.assert_close(*found)


def outcome_of(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("dtype", [None, torch.int32, torch.float32, torch.float64, torch.float16])
def test_ranges_of_each_lane(dtype):
    def weighted(x, counts):
        out = []
        for b in range(len(counts)):
            n = counts[b]
            steps = torch.arange(n) if dtype is None else torch.arange(n, dtype=dtype)
            later = torch.arange(b, n + b)
            out.append((x[b, :n] * steps).sum() + (x[b, :n] * later).sum())
        return torch.stack(out)

    x = torch.randn(3, 5, generator=torch.Generator().manual_seed(0))
    lifted = lift(weighted, verify="off", backend="torch")
    for counts in ([1, 2, 3], [5, 0, 2], [0, 0, 0], [2, -1, 3]):
        found, wanted = outcome_of(lifted, x, counts), outcome_of(weighted, x, counts)
        if isinstance(wanted, tuple):
            assert found == wanted
        else:
            torch.testing.assert_close(found, wanted)
