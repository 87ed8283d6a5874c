"""``sum([a, b, c])`` of floats in kernels: from Python 3.12 on it keeps what each addition loses."""

from types import SimpleNamespace

import pytest
import torch

from looplift import lift
from looplift.emit import native_calls, typed_folds


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


@pytest.mark.parametrize(("version", "is_kept"), [((3, 11), False), ((3, 12), True)])
def test_kernels_of_later_versions_do_not_add_floats_plainly(version, is_kept, monkeypatch):
    for room in (native_calls, typed_folds):
        monkeypatch.setattr(room, "sys", SimpleNamespace(version_info=(*version, 0)))

    def summed(x):
        out = torch.zeros(len(x), dtype=torch.float64)
        for i in range(len(x)):
            v = float(x[i])
            out[i] = sum([v, 0.1, v * v])
        return out

    x = torch.tensor([1.0, 1e16, -3.0], dtype=torch.float64)
    lifted = lift(summed, backend="native", verify="off")
    lifted(x)
    assert ("kept" in str(lifted.report())) is is_kept
