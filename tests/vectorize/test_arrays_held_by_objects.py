"""Arrays that objects and dicts hold are written to, and what else these hold stays as it is."""

from types import SimpleNamespace

import pytest
import torch

from looplift import lift

SETTINGS = [(backend, verify) for backend in ("auto", "native", "torch") for verify in ("first", "off")]


def decayed(x, h):
    for i in range(1, x.shape[0]):
        h.b[i] = h.b[i - 1] * 0.5 + x[i]
    return h.b.sum() + h.b_new.sum()


def decayed_in_a_dict(x, h):
    for i in range(1, x.shape[0]):
        h["b"][i] = h["b"][i - 1] * 0.5 + x[i]
    return h["b"].sum() + h["b_new"].sum()


def decayed_far_away(x, h):
    for i in range(1, x.shape[0]):
        h.rows[0].b[i] = h.rows[0].b[i - 1] * 0.5 + x[i]
        h.rows[1]["c"][i] = h.rows[1]["c"][i - 1] + h.rows[0].b[i]
    return h.rows[0].b.sum() + h.rows[1]["c"].prod()


def decayed_beside_a_name(x, h):
    h_b_new = x[0] + 3.0
    for i in range(1, x.shape[0]):
        h.b[i] = h.b[i - 1] * 0.5 + x[i] * h_b_new
    return h.b.sum() * h_b_new


def attributes():
    return SimpleNamespace(b=torch.zeros(4), b_new=torch.ones(2))


def items():
    return {"b": torch.zeros(4), "b_new": torch.ones(2)}


def nested():
    return SimpleNamespace(rows=[SimpleNamespace(b=torch.ones(4)), {"c": torch.ones(4)}])


def flattened(value):
    if isinstance(value, torch.Tensor):
        return [value.detach().tolist()]
    if isinstance(value, list):
        return [flattened(item) for item in value]
    return [(name, flattened(item)) for name, item in (value if isinstance(value, dict) else vars(value)).items()]


def outcome(function, make):
    x, held = torch.arange(4.0, requires_grad=True), make()
    result = function(x, held)
    result.backward()
    return result.item(), x.grad.tolist(), flattened(held)


@pytest.mark.parametrize(("backend", "verify"), SETTINGS)
@pytest.mark.parametrize(
    ("function", "make"),
    [
        (decayed, attributes),
        (decayed_in_a_dict, items),
        (decayed_far_away, nested),
        (decayed_beside_a_name, attributes),
    ],
    ids=lambda value: value.__name__,
)
def test_nothing_but_the_arrays_changes(function, make, backend, verify):
    lifted = lift(function, backend=backend, verify=verify)
    want = outcome(function, make)
    assert outcome(lifted, make) == want
    assert outcome(lifted, make) == want
    assert "internal" not in str(lifted.report())
