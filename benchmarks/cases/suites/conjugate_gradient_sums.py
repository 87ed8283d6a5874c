"""Conjugate gradients with every sum written out: each begins as a number and becomes a tensor.

Source: the textbook algorithm, element by element
Tags: dense, nested, recurrence, sequential, break
Grad: no
Hand: loop over iterations, products of vectors and a matrix in each
"""
import torch


def slow(A, b, iterations):
    n = len(b)
    x = torch.zeros(n, dtype=b.dtype)
    r = b.clone()
    p = b.clone()
    rs = 0.0
    for i in range(n):
        rs += r[i] * r[i]
    for it in range(iterations):
        Ap = torch.zeros(n, dtype=b.dtype)
        for i in range(n):
            for j in range(n):
                Ap[i] += A[i, j] * p[j]
        pAp = 0.0
        for i in range(n):
            pAp += p[i] * Ap[i]
        alpha = rs / pAp
        for i in range(n):
            x[i] += alpha * p[i]
            r[i] -= alpha * Ap[i]
        rs_new = 0.0
        for i in range(n):
            rs_new += r[i] * r[i]
        if rs_new < 1e-12:
            break
        beta = rs_new / rs
        for i in range(n):
            p[i] = r[i] + beta * p[i]
        rs = rs_new
    return x


def hand(A, b, iterations):
    x, r, p = torch.zeros_like(b), b.clone(), b.clone()
    rs = r @ r
    for _ in range(iterations):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        rs_new = r @ r
        if rs_new < 1e-12:
            break
        p = r + rs_new / rs * p
        rs = rs_new
    return x


def inputs(size="small", seed=0):
    n, iterations = {"tiny": (4, 3), "small": (12, 5), "full": (70, 12)}[size]
    a = torch.rand(n, n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return a @ a.t() + n * torch.eye(n, dtype=torch.float64), a[0].clone(), iterations
