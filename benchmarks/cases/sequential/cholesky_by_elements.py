"""Cholesky factor of a positive definite matrix, element by element, with gradients.

Source: Golub and Van Loan, Matrix Computations; a frequent exercise
Tags: sequential, nested, triangular, conditional, reduction
Grad: yes
Hand: torch.linalg.cholesky
"""
import torch


def slow(matrix):
    n = matrix.shape[0]
    factor = torch.zeros_like(matrix)
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(j):
                s = s + factor[i, k].clone() * factor[j, k].clone()
            if i == j:
                factor[i, j] = torch.sqrt(matrix[i, i] - s)
            else:
                factor[i, j] = (matrix[i, j] - s) / factor[j, j].clone()
    return factor


def hand(matrix):
    # the loop reads the lower triangle only
    return torch.linalg.cholesky_ex(matrix.tril() + matrix.tril(-1).T).L


def inputs(size="small", seed=0):
    n = {"tiny": 4, "small": 12, "full": 40}[size]
    g = torch.Generator().manual_seed(seed)
    base = torch.randn(n, n, generator=g, dtype=torch.float64)
    return (base @ base.T + n * torch.eye(n, dtype=torch.float64),)
