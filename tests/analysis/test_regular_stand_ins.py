"""Operations that only some matrices allow, in loops whose first lane or whose stand-ins have others."""

import numpy as np
import pytest
import torch

from looplift import lift


def contour(hamiltonian, points, right):
    total = np.zeros((len(right), right.shape[1]), dtype=np.complex128)
    for z in points:
        system = np.zeros((len(right), len(right)), dtype=np.complex128)
        for n in range(3):
            system += np.power(z, 1 - n) * hamiltonian[n]
        found = np.linalg.solve(system, right)
        if abs(z) < 1.0:
            found = -found
        total += found
    return total


def filled(matrices, right):
    out = torch.zeros(matrices.shape[0], right.shape[0], dtype=right.dtype)
    for i in range(matrices.shape[0]):
        system = torch.zeros(right.shape[0], right.shape[0], dtype=right.dtype)
        for k in range(matrices.shape[1]):
            system = system + matrices[i, k]
        out[i] = torch.linalg.solve(system, right) + torch.linalg.inv(system)[0]
    return out


def at_times(matrices, right):
    out = torch.zeros(matrices.shape[0], right.shape[0], dtype=right.dtype)
    for i in range(matrices.shape[0]):
        if matrices[i, 0, 0] > 0:
            out[i] = torch.linalg.solve(matrices[i], right)
    return out


def powers(z, n):
    out = np.zeros((n, len(z)), dtype=np.complex128)
    for i in range(len(z)):
        for k in range(n):
            out[k, i] = z[i] ** k
    return out


def regular(*shape):
    return torch.rand(*shape, 4, 4, dtype=torch.float64) + 4 * torch.eye(4, dtype=torch.float64)


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_sums_that_begin_as_zeros(backend):
    hamiltonian = np.random.rand(3, 5, 5) + 1j * np.random.rand(3, 5, 5) + 3 * np.eye(5)
    lifted = lift(contour, backend=backend)
    for size in (20, 7, 1, 20):
        points, right = np.random.rand(size) * 2 + 0.3j, np.random.rand(5, 2) + 0j
        expected = contour(hamiltonian, points, right)
        assert np.allclose(lifted(hamiltonian, points, right), expected, rtol=1e-10, atol=1e-12)
    assert [loop.decision for loop in lifted.report().loops] == ["lanes", "sequential"]


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_values_and_gradients(backend):
    lifted = lift(filled, backend=backend)
    for _ in range(3):
        matrices, right = regular(6, 3).requires_grad_(), torch.rand(4, dtype=torch.float64, requires_grad=True)
        expected, found = filled(matrices, right), lifted(matrices, right)
        torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)
        wanted = torch.autograd.grad(expected.square().sum(), (matrices, right))
        slopes = torch.autograd.grad(found.square().sum(), (matrices, right))
        torch.testing.assert_close(slopes, wanted, rtol=1e-9, atol=1e-11)
    assert lifted.report().loops[0].decision == "lanes"


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_a_singular_matrix_raises_as_in_the_loop(backend):
    lifted = lift(filled, backend=backend)
    right = torch.rand(4, dtype=torch.float64)
    lifted(regular(6, 3), right)
    singular = regular(6, 3)
    singular[4] = 0
    with pytest.raises(torch.linalg.LinAlgError, match="singular"):
        filled(singular, right)
    with pytest.raises(torch.linalg.LinAlgError, match="singular"):
        lifted(singular, right)


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_singular_matrices_of_other_iterations(backend):
    lifted = lift(at_times, backend=backend)
    for _ in range(3):
        matrices, right = regular(6), torch.rand(4, dtype=torch.float64)
        matrices[0] = matrices[3] = 0
        torch.testing.assert_close(lifted(matrices, right), at_times(matrices, right), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_exponents_of_complex_numbers_that_a_loop_counts(backend):
    lifted = lift(powers, backend=backend)
    for _ in range(3):
        z = np.array([0j, 1.5, np.inf, 0.3 - 2j, complex(np.nan, 1)])
        with np.errstate(all="ignore"):
            assert np.allclose(lifted(z, 6), powers(z, 6), equal_nan=True)
