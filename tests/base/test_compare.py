"""Comparison of values: what a caller can see is seen, what he cannot is not."""

from __future__ import annotations

import collections
import random
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from looplift.base.compare import difference


@dataclass
class Point:
    x: float
    y: torch.Tensor


@dataclass(slots=True)
class Slotted:
    x: int


Pair = collections.namedtuple("Pair", "left right")

EQUAL = {
    "integers": (3, 3),
    "nan": (float("nan"), float("nan")),
    "infinity": (float("inf"), float("inf")),
    "rounded float": (0.1 + 0.2, 0.3),
    "complex": (1 + 2j, 1 + 2j + 1e-9),
    "tensor with nan": (torch.tensor([1.0, torch.nan]), torch.tensor([1.0, torch.nan])),
    "tensor with infinities": (torch.tensor([torch.inf, -torch.inf]), torch.tensor([torch.inf, -torch.inf])),
    "reordered sum": (torch.arange(1000.0).mul(0.1).sum(), torch.tensor(float(np.arange(1000).sum() * 0.1))),
    "bfloat16 rounding": (torch.tensor([1.0], dtype=torch.bfloat16), torch.tensor([1.0078125], dtype=torch.bfloat16)),
    "empty": (torch.empty(0, 3), torch.empty(0, 3)),
    "no elements, no extents": (torch.empty(2, 0), torch.empty(2, 0)),
    "sparse": (torch.eye(2).to_sparse(), torch.eye(2).to_sparse()),
    "arrays": (np.arange(3.0), np.arange(3.0) + 1e-12),
    "text arrays": (np.array(["a", "b"]), np.array(["a", "b"])),
    "big-endian arrays": (np.arange(3, dtype=">f8"), np.arange(3, dtype=">f8")),
    "object arrays": (np.array([1, "a"], dtype=object), np.array([1, "a"], dtype=object)),
    "times": (np.array(["NaT", "2020-01-01"], dtype="datetime64[D]"),) * 2,
    "nested": ({"a": [1, (2.0, torch.ones(2))]}, {"a": [1, (2.0, torch.ones(2))]}),
    "dataclass": (Point(1.0, torch.ones(1)), Point(1.0, torch.ones(1))),
    "exceptions": (ValueError("x"), ValueError("x")),
    "sets": ({1, 2}, {2, 1}),
    "functions": (len, len),
}

DIFFERENT = {
    "types": (3, 3.0, "result: 3 instead of 3.0"),
    "boolean for integer": (True, 1, "result: True instead of 1"),
    "integers": (2**60, 2**60 + 1, f"result: {2**60} instead of {2**60 + 1}"),
    "tensor for number": (torch.tensor(1.0), 1.0, "Tensor of torch.float32 and shape () "),
    "dtype": (torch.ones(1), torch.ones(1).double(), "result: dtype torch.float32 instead of torch.float64"),
    "shape": (torch.ones(1), torch.ones(1, 1), "result: shape (1,) instead of (1, 1)"),
    "requires_grad": (torch.ones(1), torch.ones(1, requires_grad=True), "requires_grad False instead of True"),
    "large integers": (torch.tensor([2**60]), torch.tensor([2**60 + 1]), "1 of 1 elements"),
    "one element": (
        torch.tensor([1.0, 2.0, 3.0]),
        torch.tensor([1.0, 2.5, 3.0]),
        "1 of 3 elements differ, the first at 1",
    ),
    "sign of infinity": (torch.tensor([torch.inf]), torch.tensor([-torch.inf]), "inf instead of -inf"),
    "infinity for a number": (torch.tensor([torch.inf]), torch.tensor([1e30]), "inf instead of"),
    "nan for a number": (float("nan"), 1.0, "result: nan instead of 1.0"),
    "imaginary part": (torch.tensor([1 + 1j]), torch.tensor([1 + 2j]), "1 of 1 elements differ"),
    "array for list": (np.arange(2), [0, 1], "ndarray of int64 and shape (2,) instead of list [0, 1]"),
    "numpy scalar": (1.0, np.float64(1.0), "result: 1.0 instead of np.float64(1.0)"),
    "array type": (np.arange(2, dtype=np.int32), np.arange(2), "dtype int32 instead of int64"),
    "array value": (np.array([1, 2]), np.array([1, 3]), "the first at 1: "),
    "length": ([1], [1, 2], "result: 1 elements instead of 2"),
    "path": ({"a": [1, (2, 3)]}, {"a": [1, (2, 4)]}, "result['a'][1][1]: 3 instead of 4"),
    "key order": ({"a": 1, "b": 1}, {"b": 1, "a": 1}, "'a' in the place of 'b'"),
    "attribute": (Point(1.0, torch.ones(1)), Point(2.0, torch.ones(1)), "result.x: 1.0 instead of 2.0"),
    "slot": (Slotted(1), Slotted(2), "result.x: 1 instead of 2"),
    "field": (Pair(1, 2), Pair(1, 3), "result.right: 2 instead of 3"),
    "exception": (ValueError("x"), ValueError("y"), "result.args[0]: 'x' instead of 'y'"),
    "exception type": (ValueError("x"), IndexError("x"), "ValueError"),
    "set": ({1}, {2}, "result: {1} instead of {2}"),
    "generator": (torch.Generator().manual_seed(1), torch.Generator().manual_seed(2), "in another state"),
    "random": (random.Random(1), random.Random(2), "in another state"),
    "numpy generator": (np.random.default_rng(1), np.random.default_rng(2), "bit_generator.state"),
    "layout": (torch.eye(2), torch.eye(2).to_sparse(), "layout"),
}


@pytest.mark.parametrize("name", EQUAL)
def test_equal(name):
    got, want = EQUAL[name]
    assert difference(got, want) is None


@pytest.mark.parametrize("name", DIFFERENT)
def test_different(name):
    got, want, message = DIFFERENT[name]
    assert message in (difference(got, want) or "")


def test_exact_wants_the_same_bits():
    assert difference(0.1 + 0.2, 0.3, exact=True)
    assert difference(-0.0, 0.0, exact=True)
    assert difference(torch.tensor([-0.0]), torch.tensor([0.0]), exact=True)
    assert difference(torch.tensor([1.0, torch.nan]), torch.tensor([1.0, torch.nan]), exact=True) is None


def test_tolerance_follows_the_magnitude_of_what_was_computed_with():
    got, want = torch.tensor([1e-2]), torch.tensor([2e-2])
    assert difference(got, want)
    assert difference(got, want, magnitude=1e4) is None
    assert difference(torch.tensor([1e6, 1.0]), torch.tensor([1e6, 1.5])) is None
    assert difference(torch.tensor([1e6, 1.0]), torch.tensor([1e6, 9.0]))


def test_small_numbers_are_told_apart_by_a_small_magnitude():
    got, want = torch.tensor([1e-8]), torch.tensor([2e-8])
    assert difference(got, want) is None
    assert difference(got, want, magnitude=1e-8)


def test_the_same_object_in_two_places_is_seen():
    row = [0]
    assert difference([row, row], [[0], [0]]) == "result[1]: the same object as result[0] instead of one of its own"
    assert "also elsewhere" in (difference([[0], [0]], [row, row]) or "")
    assert difference([row, row], [row, row]) is None
    ours = torch.ones(2)
    assert difference([ours, ours], [torch.ones(2), torch.ones(2)])


def test_a_value_that_holds_itself():
    ours, theirs = [1], [1]
    ours.append(ours)
    theirs.append(theirs)
    assert difference(ours, theirs) is None


def test_gradients_of_leaves_belong_to_the_value():
    ours, theirs = (torch.ones(2, requires_grad=True) for _ in range(2))
    theirs.sum().backward()
    assert difference(ours, theirs) == "result.grad: None instead of Tensor of torch.float32 and shape (2,)"
    (2 * ours).sum().backward()
    assert "result.grad: 2 of 2 elements differ" in (difference(ours, theirs) or "")


def test_modules_compare_by_parameters_buffers_and_mode():
    ours, theirs = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    assert ".weight" in (difference(ours, theirs) or "")
    theirs.load_state_dict(ours.state_dict())
    assert difference(ours, theirs) is None
    theirs.eval()
    assert difference(ours, theirs) == "result.training: True instead of False"


def test_path_is_the_callers():
    assert difference(1, 2, path="argument 0") == "argument 0: 1 instead of 2"
