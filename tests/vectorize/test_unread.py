"""Elements that nothing reads: Python looks for them all the same, and so do lanes and loops that stay."""

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def left_early(x, z, out):
    for _ in range(2):
        for j in range(len(x)):
            if x[j] > 100:
                break
            unread = z[j]  # noqa: F841
            out[j] = x[j]
    return out


def of_a_list(x, z, out):
    for _ in range(2):
        for j in range(len(x)):
            if x[j] > 100:
                break
            unread = [1, 2, 3][j]  # noqa: F841
            out[j] = x[j]
    return out


def at_one_place(x, z, out):
    for i in range(len(x)):
        unread = z[len(x) - 1]  # noqa: F841
        out[i] = x[i]
    return out


def whole_columns(x, z, out):
    h = x[0] * 0
    for i in range(len(x)):
        unread = z[:, i] * 2  # noqa: F841
        h = torch.sin(x[i] + h)
        out[i] = h
    return out


def outcome(function, arguments):
    try:
        return function(*arguments), arguments
    except Exception as error:
        return type(error), str(error), arguments


@pytest.mark.parametrize("backend", ["torch", "native", "auto"])
@pytest.mark.parametrize("function", [left_early, of_a_list, at_one_place, whole_columns])
def test_unread_elements_raise(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for n in (3, 5, 2, 1):
        z = torch.rand(2, 3) if function is whole_columns else torch.rand(3)
        found, wanted = (outcome(one, (torch.ones(n), z, torch.zeros(n))) for one in (lifted, function))
        assert difference(found, wanted) is None, n
