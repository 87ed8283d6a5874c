"""Integers stored into arrays of a narrower type: they raise where the loop does, in lanes and in kernels."""

import copy

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def whole(x, out):
    for i in range(len(x)):
        out[i] = int(x[i])
    return out


def moved(x, out):
    for i in range(len(x)):
        out[i] = x[i]
    return out


def converted(x, out):
    for i in range(len(x)):
        out[i] = x[i].astype(np.int32)
    return out


def doubled(x, out):
    for i in range(len(x)):
        out[i] = x[i] * 2
    return out


def chosen(x, out):
    for i in range(len(x)):
        if x[i] > 1000:
            out[i] = int(x[i]) - 1000
    return out


def counted(n, out):
    for i in range(n):
        out[i] = i * 100
    return out


def scattered(x, k, out):
    for i in range(len(x)):
        out[k[i]] = int(x[i])
    return out


def added(x, k, out):
    for i in range(len(x)):
        out[k[i]] += x[i]
    return out


def raised(k, v, out):
    for i in range(len(k)):
        out[k[i]] += v
    return out


def outcome(function, arguments):
    arguments = copy.deepcopy(arguments)
    try:
        return function(*arguments), arguments
    except Exception as error:
        return type(error), str(error)


def array(*items, like=np.int8):
    return torch.tensor(items, dtype=like) if isinstance(like, torch.dtype) else np.array(items, dtype=like)


BYTES = (np.int8, torch.int8)
CASES = [
    (converted, [(array(*x, like=np.float64), array(0, 0)) for x in ((1.5, 2.0), (300.0, 2.0))]),
    *(
        (whole, [(array(*x, like=f), array(0, 0, like=b)) for x in ((1.5, 2.0), (300.0, 2.0), (-129.0, 2.0))])
        for f, b in ((np.float64, np.int8), (torch.float64, torch.int8), (torch.float32, torch.uint8))
    ),
    *(
        (function, [(array(*x, like=w), array(0, 0, like=n)) for x in ((1, 2), (100, 2), (200, 2), (-200, 2))])
        for function in (moved, doubled)
        for w, n in ((np.int64, np.int8), (np.int16, np.int8), (torch.int64, torch.int8))
    ),
    (moved, [(array(1, like=np.uint8), array(0)), (array(200, like=np.uint8), array(0))]),
    (
        moved,
        [(array(1, like=np.uint64), array(0, like=np.int64)), (array(2**63, like=np.uint64), array(0, like=np.int64))],
    ),
    (moved, [(array([1, 2]), array([0, 0])), (array([300, 2], like=np.int64), array([0, 0]))]),
    (
        moved,
        [(array(1, 2, like=np.int64), array([0, 0], [0, 0])), (array(300, 2, like=np.int64), array([0, 0], [0, 0]))],
    ),
    (chosen, [(array(*x, like=torch.float64), array(0, 0, like=torch.int8)) for x in ((1.5, 1010.0), (300.0, 2000.0))]),
    *((counted, [(n, array(0, 0, 0, 0, like=b)) for n in (1, 2, 3, 0)]) for b in BYTES),
    *(
        (
            scattered,
            [(array(*x, like=f), array(1, 1, 0, like=k), array(0, 0, like=b)) for x in ((1.5, 2, 3), (300.0, 2, 3))],
        )
        for f, k, b in ((np.float64, np.int64, np.int8), (torch.float64, torch.int64, torch.int8))
    ),
    (
        added,
        [(array(*x, like=np.int64), array(0, 1, 1, like=np.int64), array(0, 0)) for x in ((1, 2, 3), (100, 100, 100))],
    ),
    *(
        (raised, [(array(0, 1, 1, like=k), v, array(0, 0, like=b)) for v in (1, 100, 300)])
        for k, b in ((np.int64, np.int8), (torch.int64, torch.int8))
    ),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("backend", ["torch", "native", "auto"])
@pytest.mark.parametrize(("function", "calls"), CASES)
def test_integers_of_a_narrower_type(function, calls, backend):
    lifted = lift(function, backend=backend, verify="off")
    for arguments in calls:
        assert difference(outcome(lifted, arguments), outcome(function, arguments)) is None, arguments


@pytest.mark.parametrize("number", [np.float64, torch.float64])
def test_what_fits_is_in_lanes(number):
    narrow = torch.int8 if number is torch.float64 else np.int8
    lifted = lift(whole, backend="torch", verify="off")
    lifted(array(1.5, 2.0, like=number), array(0, 0, like=narrow))
    assert lifted.report().loops[0].decision == "lanes"


def smoothed(labels, k, held, others):
    out = torch.zeros(len(labels), k)
    for i in range(len(labels)):
        for c in range(k):
            out[i, c] = held * 2 if labels[i] == c else others / 2
    return out


@pytest.mark.parametrize(
    ("held", "others"), [(0.5, 0.25), (float("inf"), 0.0), (float("nan"), 1.0), (1e38, -1e38), (3, 4)]
)
def test_of_two_numbers_for_all_lanes_each_is_looked_at(held, others):
    labels = torch.tensor([0, 2, 1, 2])
    lifted = lift(smoothed, verify="off", backend="torch")
    for _ in range(2):
        found = lifted(labels, 3, held, others)
        assert torch.equal(found.nan_to_num(7), smoothed(labels, 3, held, others).nan_to_num(7))
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}
    assert ".all()" not in lifted.source


@pytest.mark.parametrize(("held", "others"), [(1e300, 1.0), (1.0, -1e300)])
def test_a_number_that_single_precision_does_not_hold_raises_where_it_is_stored(held, others):
    lifted = lift(smoothed, verify="off", backend="torch")
    with pytest.raises(RuntimeError):
        lifted(torch.tensor([0, 1]), 2, held, others)
    seldom = torch.tensor([5, 7]) if held > 2 else torch.tensor([0])
    found = lifted(seldom, 2 if held > 2 else 1, held, others)
    assert torch.equal(found, smoothed(seldom, 2 if held > 2 else 1, held, others))
