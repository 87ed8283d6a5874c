"""Elements that nothing reads: Python looks for them all the same, and so do lanes and loops that stay."""

import numpy as np
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


def asked_for_its_truth(x, y, out):
    for i in range(len(out)):
        if x[i]:
            pass
        out[i] = i
    return out


def compared_for_nothing(x, y, out):
    for i in range(len(out)):
        if x[i] > 0.5:
            unread = 1  # noqa: F841
        out[i] = i
    return out


def unpacked(x, y, out):
    for i in range(len(out)):
        first, second = x[i]  # noqa: RUF059
        out[i] = i
    return out


def without_such_an_attribute(x, y, out):
    for i in range(len(out)):
        unread = x[i].gradient  # noqa: F841
        out[i] = i
    return out


def added_to_another_length(x, y, out):
    for i in range(len(out)):
        unread = x[i] + y  # noqa: F841
        out[i] = i
    return out


def the_greater_row(x, y, out):
    for i in range(len(out)):
        unread = max(x[i], y)  # noqa: F841
        out[i] = i
    return out


def turned(x, y, out):
    for i in range(len(out)):
        unread = x[i].mT  # noqa: F841
        out[i] = i
    return out


NOTHING_READS = [
    turned,
    the_greater_row,
    asked_for_its_truth, compared_for_nothing, unpacked, without_such_an_attribute, added_to_another_length,
]  # fmt: skip


def greater_rows(x, y, out):
    rows = []
    for i in range(len(out)):
        rows.append(max(x[i], y) * 2)
    return rows


@pytest.mark.parametrize("backend", ["torch", "native", "auto"])
@pytest.mark.parametrize("function", [*NOTHING_READS, greater_rows])
def test_what_nothing_reads_may_raise(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for width, other in ((2, 2), (1, 1), (3, 3), (3, 2), (0, 0)):
        x, y = torch.ones(4, width), torch.ones(other)
        found, wanted = (outcome(one, (x, y, torch.zeros(4))) for one in (lifted, function))
        assert difference(found, wanted) is None, (width, other)


def divides_before_it_is_left(x, limit):
    for value in x:
        if limit > 3:
            break
        for j in range(len(x)):
            7 // (2 - j)
    return len(x)


def divides_until_a_value(x, limit):
    for value in x:
        if value > limit:
            break
        for j in range(len(x)):
            if j > 0:
                7 // (2 - j)
    return len(x)


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", [divides_before_it_is_left, divides_until_a_value])
@pytest.mark.parametrize("limit", [1.0, 5.0, -5.0])
def test_what_raises_in_a_loop_inside_of_one_that_is_left_early(function, limit, backend):
    lifted = lift(function, verify="off", backend=backend)
    for size in (4, 2, 1, 4):
        for values in (np.linspace(0.0, 0.9, size), torch.linspace(0.0, 0.9, size)):
            try:
                wanted = function(values, limit)
            except ZeroDivisionError:
                with pytest.raises(ZeroDivisionError):
                    lifted(values, limit)
            else:
                assert lifted(values, limit) == wanted
