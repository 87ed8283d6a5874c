"""Reads at places that a tensor gives are copies: what is stored into them is seen nowhere else."""

import numpy as np
import pytest
import torch

import looplift


def masked_labels(labels, places, weight):
    out = torch.zeros_like(places)
    for i in range(len(labels)):
        label = labels[i][places[i]]
        label[weight[i] < 0.5] = 0
        out[i] = label
    return out


def first_of_each(labels, places, weight):
    out = torch.zeros_like(places)
    for i in range(len(labels)):
        label = labels[i, places[i]]
        label[0] = 9
        label[1:] = label[0] + labels[i, 1]
        out[i] = label
    return out


def lost(labels, places, weight):
    out = torch.zeros_like(places)
    for i in range(len(labels)):
        labels[i][places[i]][0] = 7
        out[i] = labels[i][places[i]]
    return out


def with_gradients(labels, places, weight):
    total = 0.0
    for i in range(len(labels)):
        row = weight[i][places[i]]
        row[labels[i, 0]] = 0.0
        total = total + (row * weight[i, 0]).sum()
    return total


def given():
    torch.manual_seed(0)
    return torch.randint(0, 5, (6, 4)), torch.randint(0, 4, (6, 8)), torch.rand(6, 8)


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", [masked_labels, first_of_each, lost, with_gradients])
def test_of_a_tensor(function, backend):
    lifted = looplift.lift(function, backend=backend)
    for _ in range(3):
        args, others = given(), given()
        for one in (args, others):
            one[2].requires_grad_(function is with_gradients)
        got, want = lifted(*args), function(*others)
        torch.testing.assert_close(got, want)
        torch.testing.assert_close(args, others)
        if function is with_gradients:
            left, right = torch.autograd.grad(got, args[2]), torch.autograd.grad(want, others[2])
            torch.testing.assert_close(left, right)
    assert "kept" not in {loop.decision for loop in lifted.report().loops}, lifted.report()


@pytest.mark.parametrize("lengths", [[4] * 6, [4, 5, 4, 6, 7, 4]])
def test_of_a_list(lengths):
    """Items of one length become lanes; of several the loop is kept, for a reason that is true."""
    lifted = looplift.lift(masked_labels)
    _, places, weight = given()
    for seed in range(3):
        torch.manual_seed(seed)
        labels = [torch.randint(1, 5, (n,)) for n in lengths]
        before = [one.clone() for one in labels]
        torch.testing.assert_close(lifted(labels, places, weight), masked_labels(labels, places, weight))
        torch.testing.assert_close(labels, before)
    report = str(lifted.report())
    assert "lanes" in report if len({*lengths}) == 1 else "is read at several places" in report, report


def of_arrays(x, places):
    out = np.zeros(places.shape)
    for i in range(len(x)):
        row = x[i][places[i]]
        row[0] = -1.0
        out[i] = row
    return out


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_of_arrays(backend):
    rng = np.random.default_rng(0)
    lifted = looplift.lift(of_arrays, backend=backend)
    for _ in range(3):
        x, places = rng.random((5, 4)), rng.integers(0, 4, (5, 7))
        before = x.copy()
        np.testing.assert_allclose(lifted(x, places), of_arrays(x, places), rtol=1e-12)
        np.testing.assert_array_equal(x, before)
    assert "kept" not in {loop.decision for loop in lifted.report().loops}, lifted.report()
