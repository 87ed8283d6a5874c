"""Tensors that ask for gradients in a loop: those that are another by another name, of integers, or handed to NumPy."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from tests.frontend.gradients_of_leaves import check, double


def of_the_caller(w, x):
    total = 0.0
    for i in range(len(x)):
        a = w.contiguous().requires_grad_()
        (a * x[i]).sum().backward()
        total += a.grad
    return total


def of_a_list_of_the_caller(w, x):
    rows, total = [w, w * 2], 0.0
    return rows_of(rows, x, total)


def rows_of(rows, x, total):
    for row in rows:
        a = row.double()
        a.requires_grad = True
        (a * a * x[0]).sum().backward()
        total += a.grad
    return total


def same_under_two_names(w, x):
    total = 0.0
    for i in range(len(x)):
        a = x[i].clone()
        b = a.double().requires_grad_()
        (g,) = torch.autograd.grad((a * b * b * w).sum(), b)
        total += g
    return total


def by_the_second_name(w, x):
    total = 0.0
    for i in range(len(x)):
        a = x[i].clone().requires_grad_()
        b = a.contiguous()
        (g,) = torch.autograd.grad((a * b * b * w).sum(), b)
        total += g
    return total


def larger_of_two(w, x):
    total = 0.0
    for i in range(len(x)):
        a, b = x[i, 0].clone(), x[i, 1].clone()
        c = max(a, b)
        c.requires_grad_()
        (g,) = torch.autograd.grad((a * b * c * w).sum(), c)
        total += g
    return total


def in_one_of_two_branches(w, x):
    found = []
    for i in range(len(x)):
        a = x[i] if x[i, 0] > 0 else w
        a.requires_grad_()
        found.append(a * w)
    return found


def set_of_what_has_a_history(w, x):
    found = []
    for i in range(len(x)):
        a = x[i] * w
        a.requires_grad = True
        (g,) = torch.autograd.grad((a * a).sum(), a)
        found.append(g)
    return found


def of_integers(w, x):
    total = 0.0
    for i in range(len(x)):
        a = (x[i] * 9).long()
        a.requires_grad_()
        total += w
    return total


def of_truth_values(w, x):
    total = 0.0
    for i in range(len(x)):
        a = (x[i] > w).requires_grad_()
        total += a * w
    return total


def handed_to_numpy(w, x):
    found = []
    for i in range(len(x)):
        a = x[i].clone().requires_grad_()
        b = a * w
        found.append(b.numpy())
    return found


def stored_into_an_array(w, x):
    found = np.zeros(tuple(x.shape))
    for i in range(len(x)):
        a = x[i].clone().requires_grad_()
        found[i] = a * w
    return found


KEPT = (of_the_caller, of_a_list_of_the_caller, same_under_two_names, by_the_second_name, larger_of_two,
        in_one_of_two_branches, set_of_what_has_a_history, of_integers, of_truth_values, handed_to_numpy,
        stored_into_an_array)  # fmt: skip


@pytest.mark.parametrize("function", KEPT)
@pytest.mark.parametrize("asks", (False, True))
def test_leaves_that_are_none_of_the_iteration(function, asks):
    check(function, *((double(n, seed=1, asks=asks), double(4, n)) for n in (3, 2)))


CONVERSIONS = {
    "pos": lambda a: +a,
    "float": lambda a: a.double(),
    "to": lambda a: a.to("cpu"),
    "as_tensor": torch.as_tensor,
    "one_axis": torch.atleast_1d,
    "flatten": torch.flatten,
    "real": torch.real,
    "dropout": lambda a: F.dropout(a, 0.5, False),
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_a_gradient_by_an_argument_that_is_handed_on(name):
    converted = CONVERSIONS[name]

    def function(w, x):
        total = 0.0
        for i in range(len(x)):
            y = converted(w)
            (g,) = torch.autograd.grad((w * y * x[i]).sum(), y)
            total += g
        return total

    check(function, (double(3, seed=1, asks=True), double(4, 3)))


def a_row_of_its_own(w, x):
    total = 0.0
    for row in x:
        a = row.clone().double().to("cpu").contiguous().requires_grad_()
        (a * a * w).sum().backward()
        total += a.grad
    return total


def of_another_dtype(w, x):
    total = 0.0
    for row in x:
        a = row.float().requires_grad_()
        (a * a * w.float()).sum().backward()
        total += a.grad
    return total


@pytest.mark.parametrize("function", (a_row_of_its_own, of_another_dtype))
def test_what_nobody_else_holds_is_a_leaf(function):
    assert "kept" not in check(function, (double(3, seed=1), double(4, 3)), (double(2, seed=1), double(3, 2)))
