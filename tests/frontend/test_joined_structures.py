"""Lists and dicts that are other ones on the two sides of an 'if'."""

import pytest
import torch

from looplift import lift


def fitted(y):
    return {"mean": y.mean(), "cost": (y * y).sum(), "signs": (y[0] > 0, y[1] * 2)}


def after_continue(v):
    out, costs = torch.zeros(v.shape[0]), torch.zeros(v.shape[0])
    for i in range(v.shape[0]):
        y = v[i]
        if y.max() < 0.5:
            continue
        found = fitted(y)
        out[i] = found["mean"]
        costs[i] = found["cost"]
    return out, costs


def on_two_sides(v):
    out = torch.zeros(v.shape[0])
    for i in range(v.shape[0]):
        y = v[i]
        if y.max() < 0.5:
            found = fitted(y)
        else:
            found = {"mean": y.sum(), "cost": y[0], "signs": (y[0] < 0, y[1])}
        out[i] = found["mean"] + found["cost"] + found["signs"][1]
    return out


def of_lists(v):
    out = torch.zeros(v.shape[0])
    for i in range(v.shape[0]):
        pair = [v[i, 0], v[i, 1]] if v[i, 0] > 0 else [v[i, 1], v[i, 2] * 2]
        out[i] = pair[0] - 2 * pair[1]
    return out


LIFTED = [after_continue, on_two_sides]


def with_grown_list(v):
    out = torch.zeros(v.shape[0])
    for i in range(v.shape[0]):
        y = v[i]
        first, second = [y[0], y[1]], [y[1], y[2]]
        if y.max() < 0.5:
            found = first
        else:
            found = second
        found[0] = y[2] * 10
        out[i] = first[0] + 3 * second[0] + found[1]
    return out


def of_other_keys(v):
    out = torch.zeros(v.shape[0])
    for i in range(v.shape[0]):
        y = v[i]
        if y.max() < 0.5:
            found = {"mean": y.mean(), "cost": y[0]}
        else:
            found = {"cost": y[1], "mean": y.sum()}
        for value in found.values():
            out[i] = out[i] * 2 + value
    return out


def of_last_iteration(v):
    out = torch.zeros(v.shape[0])
    for i in range(v.shape[0]):
        y = v[i]
        if y.max() > 0.5 or i == 0:
            found = {"mean": y.mean(), "cost": y[0]}
        out[i] = found["mean"] + found["cost"]
    return out


def never_bound(v):
    out = torch.zeros(v.shape[0])
    for i in range(v.shape[0]):
        y = v[i]
        if y.max() > 50:
            found = {"mean": y.mean(), "cost": y[0]}
        out[i] = found["mean"]
    return out


def compared(v):
    out = torch.zeros(v.shape[0])
    for i in range(v.shape[0]):
        first, second = [v[i, 0]], [v[i, 1]]
        found = first if v[i, 2] > 0 else second
        if found is first:
            out[i] = found[0] + 1
    return out


KEPT_OR_LIFTED = [of_lists, with_grown_list, of_other_keys, of_last_iteration, compared]


def table(asks=False):
    generator = torch.Generator().manual_seed(2)
    return torch.randn(40, 4, generator=generator).requires_grad_(asks)


def outcome(function, v):
    found = function(v)
    found = found if isinstance(found, tuple) else (found,)
    if not v.requires_grad:
        return found, None
    return found, torch.autograd.grad(sum(one.sum() for one in found), v)[0]


@pytest.mark.parametrize("function", LIFTED + KEPT_OR_LIFTED, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("asks", [False, True])
def test_values_and_gradients(function, backend, asks):
    lifted = lift(function, verify="off", backend=backend)
    for _ in range(2):
        torch.testing.assert_close(outcome(lifted, table(asks)), outcome(function, table(asks)))
    if function in LIFTED and backend != "native":
        assert [loop.decision for loop in lifted.report().loops] != ["kept"], lifted.report()


def test_what_is_not_bound_raises():
    for backend in ("auto", "torch", "native"):
        with pytest.raises(UnboundLocalError):
            lift(never_bound, verify="off", backend=backend)(table())
