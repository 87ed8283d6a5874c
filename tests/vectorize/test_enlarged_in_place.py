"""Changes in place that would make an array larger raise, in later calls as well."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check_backends


def total(x, k):
    a = torch.zeros(k)
    for i in range(x.shape[0]):
        a += x[i]
    return a


def masked_total(x, k):
    a = torch.zeros(k)
    for i in range(x.shape[0]):
        if x[i, 0] > 0.5:
            a -= x[i] * 2
    return a


def product(x, k):
    a = torch.ones(2, k)
    for i in range(x.shape[0]):
        a.mul_(x[i])
    return a


def in_each_step(x, k):
    out = torch.zeros(x.shape[0])
    for b in range(x.shape[0]):
        h = torch.zeros(k)
        h += x[b]
        h *= x[b] + 1
        out[b] = h.sum()
    return out


def running(x, k):
    h, out = torch.zeros(k), torch.zeros(x.shape[0], x.shape[1])
    for i in range(x.shape[0]):
        h *= 0.5
        h += x[i]
        out[i] = h
    return out


def stays(x, k):
    h = torch.zeros(k)
    for i in range(x.shape[0]):
        h += torch.tanh(h) + x[i]
    return h


def anew(x, k):
    a = torch.zeros(k)
    for i in range(x.shape[0]):
        a = a + x[i]
    return a


FUNCTIONS = (total, masked_total, product, in_each_step, running, stays)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_later_calls_raise(function):
    x = torch.rand(4, 3)
    calls = [[x, 3], [x, 1], [x[:2], 3], [x[:, :1], 3], [x[:, :1], 1], [x, 1]]
    check_backends(function, *calls, kept={"torch", "auto", "native"})


@pytest.mark.parametrize("function", [*FUNCTIONS, anew])
def test_what_fits_stays_lifted(function):
    x = torch.rand(4, 3)
    check_backends(function, [x, 3], [torch.rand(2, 5), 5], kept={"torch"} if function is stays else None)


def test_what_is_bound_anew_may_become_larger():
    check_backends(anew, [torch.rand(4, 3), 3], [torch.rand(4, 3), 1], [torch.rand(4, 1), 3])


def test_arrays_that_would_become_larger():
    def summed(x, k):
        a = np.zeros(k)
        for i in range(x.shape[0]):
            a += x[i]
        return a

    x = np.random.default_rng(0).random((4, 3))
    check_backends(summed, [x, 3], [x, 1], kept={"torch", "auto", "native"})
    check_backends(summed, [x, 3], [x[:, :2], 2])
