"""LU decomposition and both substitutions, with products of growing slices.

Source: the PolyBench kernel ludcmp as it is written for NumPy
Tags: dense, nested, slices, in-place, sequential, mutates
Grad: no
Hand: loop over pivots, an outer product for each; torch's triangular solves
"""
import torch


def slow(A, b):
    x = torch.zeros_like(b)
    y = torch.zeros_like(b)
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= A[i, :i] @ A[:i, j]
    for i in range(A.shape[0]):
        y[i] = b[i] - A[i, :i] @ y[:i]
    for i in range(A.shape[0] - 1, -1, -1):
        x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x, y


def hand(A, b):
    for k in range(len(A) - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :].addr_(A[k + 1 :, k], A[k, k + 1 :], alpha=-1)
    y = torch.linalg.solve_triangular(A, b[:, None], upper=False, unitriangular=True)
    return torch.linalg.solve_triangular(A, y, upper=True)[:, 0], y[:, 0]


def inputs(size="small", seed=0):
    n = {"tiny": 4, "small": 14, "full": 50}[size]
    a = torch.rand(n, n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return a @ a.t() + n * torch.eye(n, dtype=torch.float64), a[0].clone()
