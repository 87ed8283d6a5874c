"""``hstack`` and ``vstack`` of elements, which become vectors first, of vectors and matrices, and of several ranks."""

import numpy as np
import pytest
import torch
from tests.vectorize.harness import outcome

from looplift import lift
from looplift.base.compare import difference


def elements_in_a_row(a, b, c):
    out = torch.zeros(a.shape[0], dtype=a.dtype)
    for i in range(a.shape[0]):
        out[i] = torch.hstack([a[i], b[i], a[i] * b[i]]).prod()
    return out


def rows_of_elements(a, b, c):
    out = []
    for i in range(a.shape[0]):
        out.append(torch.hstack((a[i], b[i])))
    return torch.stack(out)


def columns_of_elements(a, b, c):
    out = []
    for i in range(a.shape[0]):
        out.append(torch.vstack([a[i], b[i], a[i] * 2]))
    return torch.stack(out)


def beside_vectors(a, b, c):
    out = []
    for i in range(a.shape[0]):
        out.append(torch.hstack([a[i], c[i], b[i], c[i, 1:]]))
    return torch.stack(out)


def below_vectors(a, b, c):
    out = []
    for i in range(a.shape[0]):
        out.append(torch.vstack([a[i], c[i, :1], b[i]]))
    return torch.stack(out)


def below_matrices(a, b, c):
    out = []
    for i in range(a.shape[0]):
        out.append(torch.vstack([c[i], c[:2], c[i] * a[i]]))
    return torch.stack(out)


def only_where(a, b, c):
    out = torch.zeros(a.shape[0], dtype=a.dtype)
    for i in range(a.shape[0]):
        if a[i] > 0:
            out[i] = torch.hstack([a[i], b[i]]).max()
        else:
            out[i] = torch.vstack([a[i], b[i]])[1, 0]
    return out


TORCH = [
    elements_in_a_row, rows_of_elements, columns_of_elements, beside_vectors, below_vectors, below_matrices, only_where,
]  # fmt: skip


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", TORCH)
def test_values_and_gradients(function, backend):
    torch.manual_seed(0)
    lifted = lift(function, backend=backend, verify="off")
    for count in (5, 2, 3):
        given = [torch.randn(shape, dtype=torch.float64) for shape in ((count,), (count,), (count, 3))]
        want, got = (outcome(one, given, gradients=True) for one in (function, lifted))
        assert difference(got, want) is None
    assert backend == "native" or not any(loop.decision == "kept" for loop in lifted.report().loops)


def arrays_in_a_row(a, b):
    out = np.zeros((len(a), 3))
    for i in range(len(a)):
        out[i] = np.hstack([a[i], b[i], a[i] * 2])
    return out


def arrays_in_a_column(a, b):
    out = np.zeros((len(a), 3, 1))
    for i in range(len(a)):
        out[i] = np.vstack([a[i], b[i], a[i] * 2])
    return out


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", [arrays_in_a_row, arrays_in_a_column])
def test_elements_of_arrays(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for count in (5, 1, 3):
        given = np.arange(1.0, count + 1), np.linspace(-1, 1, count)
        np.testing.assert_array_equal(lifted(*given), function(*given))
