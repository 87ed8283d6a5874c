"""Product with the transpose of a lower triangular matrix, in place, row by row.

Source: the PolyBench kernel trmm
Tags: dense, nested, reduction, in-place, mutates
Grad: no
Hand: masked matrix product
"""
import torch


def slow(alpha, A, B):
    M, N = B.shape
    for i in range(M):
        for j in range(N):
            for k in range(i + 1, M):
                B[i, j] += A[k, i] * B[k, j]
            B[i, j] = alpha * B[i, j]
    return B


def hand(alpha, A, B):
    B += torch.tril(A, -1).t() @ B
    B *= alpha
    return B


def inputs(size="small", seed=0):
    n = {"tiny": 4, "small": 14, "full": 48}[size]
    g = torch.Generator().manual_seed(seed)
    return 1.5, torch.rand(n, n, generator=g), torch.rand(n, n + 2, generator=g)
