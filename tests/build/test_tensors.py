"""Tensors read without Python are what Python says that they are."""

import ctypes
import sys

import pytest
import torch

from looplift import lift
from looplift.build import tensors

DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool, torch.int32, torch.int16, torch.int8, torch.uint8)


def test_the_address_is_of_one_table():
    where = tensors.address(DTYPES)
    assert where == tensors.address(DTYPES)
    if where:
        found = tensors.Access.from_address(where)
        assert found.kinds[0] == id(torch.Tensor)
        assert len({*found.codes}) == len(DTYPES)


def test_none_where_torch_keeps_tensors_otherwise(monkeypatch):
    monkeypatch.setattr(tensors, "_place", lambda tensor: None)
    assert tensors.access.__wrapped__(DTYPES) is None
    monkeypatch.undo()
    monkeypatch.setattr(tensors, "_ASKS", "no_such_function")
    assert tensors.access.__wrapped__(DTYPES) is None
    monkeypatch.undo()
    monkeypatch.setattr(sys.implementation, "name", "another")
    assert tensors.access.__wrapped__(DTYPES) is None


def test_none_where_a_function_says_something_else(monkeypatch):
    wrong = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)(lambda address: False)
    known = dict(tensors._functions())
    monkeypatch.setattr(tensors, "_functions", lambda: iter((known | {"negative": wrong}).items()))
    assert tensors.access.__wrapped__(DTYPES) is None


def total_of(pairs):
    best, total = {}, 0.0
    for name, value in pairs:
        found = value.item() * 2
        if name not in best or found > best[name]:
            best[name] = found
        total += found
    return best, total


def rows_of(rows):
    found = {}
    for k, row in enumerate(rows):
        for i in range(len(row)):
            found[k, i] = row[i] + 1
    return [found[k, 0] for k in range(len(rows))]


BASE = torch.arange(12.0, dtype=torch.float64)
NUMBERS = {
    "own": lambda: [torch.tensor(float(k), dtype=torch.float64) for k in range(5)],
    "elements": lambda: list(BASE),
    "parameters": lambda: [torch.nn.Parameter(one.clone()) for one in BASE],
    "negative": lambda: list(torch.complex(BASE, BASE).conj().imag),
    "mixed": lambda: [BASE[1], torch.tensor(2.0), BASE[3].clone().requires_grad_()],
    "whole": lambda: [torch.tensor(k) for k in range(4)],
    "of a class": lambda: [BASE[1], BASE[2].as_subclass(Kind)],
    "sparse": lambda: [torch.tensor(3.0).to_sparse()],
}


class Kind(torch.Tensor):
    pass


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_of_all_kinds(kind):
    lifted = lift(total_of, verify="off")
    for other in ("own", kind):
        pairs = [(k % 3, one) for k, one in enumerate(NUMBERS[other]())]
        for _ in range(2):
            assert outcome(lifted, pairs) == outcome(total_of, pairs)


@pytest.mark.parametrize("turned", [False, True])
def test_rows_contiguous_or_not(turned):
    lifted = lift(rows_of, verify="off")
    table = BASE.reshape(3, 4)
    for rows in (list(table), list(table.T), [table[0, ::2], table[1, :0], table[1, :1]], [BASE.requires_grad_()]):
        rows = rows[::-1] if turned else rows
        got, wanted = outcome(lifted, rows), outcome(rows_of, rows)
        assert got == wanted if isinstance(wanted, type) else not torch.testing.assert_close(got, wanted)
    BASE.requires_grad_(False)


def test_a_tensor_that_is_handed_back_is_itself():
    def last(pairs):
        found = {}
        for name, value in pairs:
            found[name] = value
        return found[2]

    lifted = lift(last, verify="off")
    for _ in range(3):
        pairs = [(k, one) for k, one in enumerate(NUMBERS["own"]())]
        assert lifted(pairs) is pairs[2][1]
