"""What NumPy warns of in lanes: the loop's words, as often as in the loop; and what fails after a write."""

import warnings

import numpy as np
import pytest
import torch

from looplift import lift


def quotients(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = x[i] / y[i]
    return out


def where_positive(x, y):
    out, total = np.zeros(len(x)), 0.0
    for i in range(len(x)):
        if y[i] > 0:
            out[i] = x[i] / y[i]
            total += np.log(y[i])
    return out, total


def powers(x, y):
    return [np.exp(x[i]) ** y[i] for i in range(len(x))]


def after_a_write(x, y):
    total = 0.0
    for i in range(len(x)):
        x[i] = x[i] * 2 + 1
        total += np.log(y[i])
    return total


def means(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = y[: int(x[0])].mean() + x[i]
    return out


VALUES = [
    (np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0])),
    (np.array([1.0, 0.0, 3.0]), np.array([0.0, 0.0, 4.0])),
    (np.array([1e3, 1e3, 0.0]), np.array([-1.0, np.inf, 4.0])),
    (np.zeros(3), np.zeros(3)),
]


def told(function, values, action, states):
    x, y = (value.copy() for value in values)
    with warnings.catch_warnings(record=True) as caught, np.errstate(**states):
        warnings.simplefilter(action)
        try:
            found = repr(function(x, y))
        except (RuntimeWarning, FloatingPointError) as error:
            found = repr(error)
    return found, repr(x), [str(one.message) for one in caught if one.category is RuntimeWarning]


@pytest.mark.parametrize("loop", [quotients, where_positive, powers, after_a_write, means])
@pytest.mark.parametrize(
    "action, states",
    [("always", {}), ("error", {}), ("always", {"all": "raise"}), ("always", {"all": "ignore"})],
    ids=["warned", "error", "raised", "ignored"],
)
def test_warnings_are_those_of_the_loop(loop, action, states):
    lifted = lift(loop, verify="off", backend="torch")
    for values in VALUES:
        assert told(lifted, values, action, states) == told(loop, values, action, states)


def test_states_may_change_between_calls():
    lifted = lift(quotients, verify="off", backend="torch")
    for states in ({"all": "ignore"}, {}, {"divide": "raise"}, {"invalid": "ignore"}, {}):
        for values in VALUES:
            assert told(lifted, values, "always", states) == told(quotients, values, "always", states)


def test_a_division_that_fails_after_a_write_is_undone():
    def shares(x, y):
        out = []
        for i in range(len(x)):
            x[i] = x[i] * 2 + 1
            out.append(y[i] // x[0] if i < 0 else 7 // y[i])
        return out

    lifted = lift(shares, verify="off", backend="torch")
    for y in ([1, 2, 3], [1, 0, 3]):
        ours, theirs = torch.arange(3), torch.arange(3)
        for function, x in ((lifted, ours), (shares, theirs)):
            try:
                function(x, torch.tensor(y))
            except RuntimeError as error:
                assert "ZeroDivisionError" in str(error)
        assert torch.equal(ours, theirs)


def products(a):
    s = a[0]
    for i in range(1, len(a)):
        s = s + a[i] * a[i - 1]
    return s


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_what_numpy_warns_of_is_a_reason():
    lifted, bytes_ = lift(products, verify="off", backend="torch"), np.array([1, 3, 2, 100, 5], np.uint8)
    assert lifted(bytes_) == products(bytes_)
    assert "kept [requirement]" in str(lifted.report())
    assert "NumPy warns of these values: overflow encountered" in " ".join(str(lifted.report()).split())
