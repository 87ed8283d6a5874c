"""Functions of libraries that somebody puts others in the place of, before a loop is lifted or between its calls."""

import math
import random

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import looplift

RELU = torch.relu


def activations(x):
    out = []
    for i in range(x.shape[0]):
        out.append(torch.relu(x[i]))
    return torch.stack(out)


def helper(value):
    return F.softplus(value) * torch.exp(value)


def total_of_a_helper(x):
    total = torch.zeros(())
    for i in range(x.shape[0]):
        total = total + helper(x[i])
    return total


def roots(x, out):
    for i in range(x.shape[0]):
        out[i] = math.sqrt(float(x[i])) + np.sqrt(x[i])
    return out


def sum_of_roots(numbers):
    total = 0.0
    for number in numbers:
        total += math.sqrt(number)
    return total


def roots_in_a_dict(words):
    found = {}
    for word, number in words:
        found[word] = found.get(word, 0.0) + math.sqrt(number)
    return found


CASES = [
    (activations, torch, "relu", lambda: (torch.linspace(-1, 1, 5),)),
    (total_of_a_helper, F, "softplus", lambda: (torch.linspace(-1, 1, 5),)),
    (total_of_a_helper, torch, "exp", lambda: (torch.linspace(-1, 1, 5),)),
    (roots, np, "sqrt", lambda: (np.arange(1.0, 4.0), np.zeros(3))),
    (roots, math, "sqrt", lambda: (np.arange(1.0, 4.0), np.zeros(3))),
    (sum_of_roots, math, "sqrt", lambda: ([1.0, 4.0, 9.0],)),
    (roots_in_a_dict, math, "sqrt", lambda: ([("a", 1.0), ("b", 4.0), ("a", 9.0)],)),
]


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
@pytest.mark.parametrize(("function", "module", "name", "arguments"), CASES)
def test_a_function_that_is_replaced_between_calls(backend, function, module, name, arguments, monkeypatch):
    lifted = looplift.lift(function, backend=backend, verify="off")
    for replacement in (None, lambda value: value * 2, None):
        with monkeypatch.context() as patch:
            if replacement is not None:
                patch.setattr(module, name, replacement)
            want, got = function(*arguments()), lifted(*arguments())
        assert torch.allclose(torch.as_tensor(got), torch.as_tensor(want)) if not isinstance(got, dict) else got == want


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
def test_a_replacement_that_calls_what_it_replaces(backend, monkeypatch):
    monkeypatch.setattr(torch, "relu", lambda value: RELU(value) + 1)
    x = torch.linspace(-1, 1, 5)
    assert torch.equal(looplift.lift(activations, backend=backend, verify="off")(x), activations(x))


def hits(count, chance):
    found, total = 0, 0.0
    for _ in range(count):
        value = random.random()
        if value < chance and random.random() < 0.5:
            found += 1
        total += random.gauss(0, 1)
    return found, total


def steps(count):
    total = 0.0
    for _ in range(count):
        value = np.random.normal()
        if value > 0:
            total += np.random.uniform(0, value)
    return total


@pytest.mark.parametrize(
    ("function", "module", "name", "replacement", "arguments"),
    [
        (hits, random, "random", lambda: 0.1, (20, 0.5)),
        (hits, random, "gauss", lambda mean, deviation: 1.0, (20, 0.5)),
        (steps, np.random, "normal", lambda: 1.0, (20,)),
        (steps, np.random, "uniform", lambda low, high: high, (20,)),
    ],
)
def test_draws_that_are_replaced(function, module, name, replacement, arguments, monkeypatch):
    lifted = looplift.lift(function, verify="off")
    for other in (None, replacement, None):
        with monkeypatch.context() as patch:
            if other is not None:
                patch.setattr(module, name, other)
            results = []
            for one in (function, lifted):
                random.seed(3)
                np.random.seed(3)
                results.append(one(*arguments))
        assert results[0] == results[1]
