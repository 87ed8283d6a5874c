"""LU decomposition without pivots, in place.

Source: the PolyBench kernel lu
Tags: dense, nested, in-place, sequential, mutates
Grad: no
Hand: loop over pivots, an outer product for each
"""
import torch


def slow(A):
    n = len(A)
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k] = A[i, k] / A[k, k]
            for j in range(k + 1, n):
                A[i, j] = A[i, j] - A[i, k] * A[k, j]
    return A


def hand(A):
    for k in range(len(A) - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :].addr_(A[k + 1 :, k], A[k, k + 1 :], alpha=-1)
    return A


def inputs(size="small", seed=0):
    n = {"tiny": 4, "small": 14, "full": 44}[size]
    a = torch.rand(n, n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return (a @ a.t() + n * torch.eye(n, dtype=torch.float64),)
