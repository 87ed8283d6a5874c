"""`torch.allclose`, `torch.equal` and flags that any iteration may set."""

import copy

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference

NAN, INF = float("nan"), float("inf")


def far_apart(x, y):
    count = 0
    for a, b in zip(x, y, strict=True):
        if not torch.allclose(a, b, atol=0.5):
            count += 1
    return count


def close_by_relation(x, y):
    return [torch.allclose(x[i], y[i], 1e-3, equal_nan=True) for i in range(len(x))]


def close_to_a_row(x, y):
    return [torch.allclose(x[i], y) for i in range(len(x))]


def equal_pairs(x, y):
    count = 0
    for i in range(len(x)):
        for j in range(len(y)):
            if torch.equal(x[i], y[j]):
                count += 1
    return count


def equal_elements(x, y):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        if x[i, 0].equal(y[i, 0]):
            out[i] = 1
    return out


def repeated(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        seen, alone, weight = False, True, 0.5
        for j in range(len(x)):
            if i != j and torch.equal(x[i], x[j]):
                seen = True
                weight = x[i, 0]
            if i != j and (x[i] == x[j]).all():
                alone = False
        if seen or alone:
            out[i] = weight
    return out, seen


X = torch.tensor([[1.0, 2.0], [NAN, 3.0], [NAN, NAN], [0.0, 0.0], [INF, 1.0], [1.0, 2.0]])
Y = torch.tensor([[1.0, 2.0005], [NAN, 3.0], [0.0, 1.0], [-0.0, 0.0], [INF, 1.0], [1.0, 2.0]])
CASES = [
    (far_apart, X, Y),
    (far_apart, X.clone().requires_grad_(), Y),
    (close_by_relation, X, Y),
    (close_by_relation, X.reshape(6, 2, 1).expand(6, 2, 3), Y.reshape(6, 2, 1)),
    (close_to_a_row, X, Y[0]),
    (close_to_a_row, X.double(), torch.tensor(1.0).double()),
    (equal_pairs, X, Y),
    (equal_pairs, torch.tensor([[1, 0], [0, 1], [1, 0]]), torch.tensor([[1, 0], [1, 1]])),
    (equal_elements, X, Y),
    (repeated, X),
    (repeated, X[:1]),
]


@pytest.mark.parametrize(("fn", "arguments"), [(fn, arguments) for fn, *arguments in CASES])
@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_rows_are_compared_in_lanes(fn, arguments, backend):
    lifted = lift(fn, verify="off", backend=backend)
    want, got = fn(*copy.deepcopy(arguments)), lifted(*copy.deepcopy(arguments))
    assert difference(got, want) is None
    assert "kept" not in [loop.decision for loop in lifted.report().loops]


@pytest.mark.parametrize(
    ("fn", "arguments"),
    [
        (equal_pairs, [X, torch.ones(3, 3)]),
        (equal_pairs, [X, torch.ones(2)]),
        (far_apart, [X, Y.double()]),
        (close_by_relation, [X, torch.ones(6, 3)]),
    ],
)
def test_of_other_sizes_and_dtypes_the_loop_is_asked(fn, arguments):
    def run(function):
        try:
            return function(*copy.deepcopy(arguments))
        except RuntimeError as error:
            return str(error)

    assert run(lift(fn, verify="off")) == run(fn)
