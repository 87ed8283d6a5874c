"""``sum([a, b, c])`` of floats in kernels: from Python 3.12 on it keeps what each addition loses."""

from types import SimpleNamespace

import pytest

from looplift import lift
from looplift.base.errors import NotLiftable
from looplift.emit import native_calls
from looplift.emit.native_convert import constant
from looplift.emit.native_types import FLOAT
from looplift.emit.native_values import Items


def sums(xs, ys):
    out = []
    for i in range(len(xs)):
        a, b = xs[i] * 0.1, ys[i] * 0.1
        out.append(sum([a, b, a * b]) + sum((a, b)))
    return out


def of_integers(xs, ys):
    out = []
    for i in range(len(xs)):
        out.append(sum([xs[i], ys[i], i]))
    return out


@pytest.mark.parametrize(("function", "kind"), [(sums, float), (of_integers, int)])
def test_sums_in_kernels(function, kind):
    xs, ys = list(map(kind, (1, 1e16, -3))), list(map(kind, (1e15, -1e16, 7)))
    lifted = lift(function, backend="native", verify="off")
    for _ in range(3):
        assert repr(lifted(xs, ys)) == repr(function(xs, ys))


class Writer:
    """A writer that only refuses."""

    def refuse(self, code, message):
        return NotLiftable(code, message)


def test_kernels_of_later_versions_do_not_add_floats_plainly(monkeypatch):
    monkeypatch.setattr(native_calls, "sys", SimpleNamespace(version_info=(3, 12, 0)))
    items = Items(tuple(constant(value, FLOAT) for value in (0.1, 0.2, 0.3)), True)
    with pytest.raises(NotLiftable, match="'sum' of floats"):
        native_calls._over_known(Writer(), "sum", items)
