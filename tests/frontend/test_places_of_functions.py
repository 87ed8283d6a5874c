"""A function or module of a list is chosen by what a list takes, and by nothing that only equals it."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import torch
from tests.frontend.oracle import check

from looplift import lift
from looplift.base.compare import difference

X = torch.tensor([0.5, -1.0, 2.0])
KEYS = [
    [0, 1, 0], [0.0, 1.0, 0.0], [True, False, True], torch.tensor([1, 0, 1]), torch.tensor([1.0, 0.0, 1.0]),
    torch.tensor([True, False, True]), np.array([0, 1, 1]), np.array([True, False, True]),
    np.array([0.0, 1.0, 1.0]), ["0", "1", "0"],
]  # fmt: skip


def of_tensors(functions, keys, x):
    out = torch.zeros(len(x))
    for i in range(len(keys)):
        out[i] = functions[keys[i]](x[i])
    return out


def of_numbers(functions, keys, x):
    total = 0.0
    for i in range(len(keys)):
        total = total * 0.5 + functions[keys[i]](2.0)
    return total


def by_a_result(functions, keys, x):
    out = torch.zeros(len(x))
    for i in range(len(keys)):
        out[i] = functions[keys[i] * 1](x[i])
    return out


def by_a_quotient(functions, keys, x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        out[i] = functions[(i + i) / 2 - i](x[i])
    return out


def by_a_literal(functions, keys, x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        out[i] = functions[1.0](x[i])
    return out


@pytest.mark.parametrize("keys", KEYS, ids=str)
@pytest.mark.parametrize("function", [of_tensors, by_a_result, by_a_quotient, by_a_literal])
def test_functions(function, keys):
    check(function, ([torch.sin, torch.cos], keys, X), kept=True)


def before_a_store(functions, keys, x):
    out = torch.zeros(len(x))
    for i in range(len(keys)):
        chosen = functions[keys[i]]
        keys[i] = 1 - keys[i]
        out[i] = chosen(x[i])
    return out


@pytest.mark.parametrize("keys", [[0, 1, 0], torch.tensor([1, 0, 1]), np.array([0, 1, 1])], ids=str)
def test_functions_that_were_chosen_before_a_store(keys):
    check(before_a_store, ([torch.sin, torch.cos], keys, X), kept=True)


@pytest.mark.parametrize("keys", KEYS, ids=str)
def test_functions_of_numbers(keys):
    check(of_numbers, ([math.sin, math.cos], keys, X), kept=True)


def test_functions_by_integers_are_batched():
    check(of_tensors, ([torch.sin, torch.cos], torch.tensor([1, 0, 1]), X))


class Experts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = torch.nn.ModuleList([torch.nn.Linear(3, 2, dtype=torch.float64) for _ in range(2)])

    def forward(self, x, keys):
        rows = []
        for i in range(len(keys)):
            rows.append(self.experts[keys[i]](x[i]))
        return torch.stack(rows)


def result(module, *arguments):
    try:
        found = module(*arguments)
    except Exception as error:
        return type(error).__name__, str(error)
    return found, torch.autograd.grad(found.square().sum(), [*module.parameters()], allow_unused=True)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("keys", KEYS, ids=str)
def test_modules(backend, keys):
    torch.manual_seed(0)
    module, x = Experts(), torch.randn(3, 3, dtype=torch.float64)
    lifted = lift(copy.deepcopy(module), backend=backend, verify="off")
    for _ in range(2):
        assert difference(result(lifted, x, keys), result(module, x, keys)) is None
