"""Modified Gram-Schmidt: each column is taken out of all that follow.

Source: the kernel gramschmidt of NPBench
Tags: dense, nested, in-place, sequential, mutates
Grad: no
Hand: loop over columns, all that follow at once
"""
import numpy as np


def slow(A):
    Q = np.zeros_like(A)
    R = np.zeros((A.shape[1], A.shape[1]), dtype=A.dtype)
    for k in range(A.shape[1]):
        nrm = np.dot(A[:, k], A[:, k])
        R[k, k] = np.sqrt(nrm)
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, A.shape[1]):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]
    return Q, R


def hand(A):
    Q, R = np.zeros_like(A), np.zeros((A.shape[1], A.shape[1]), dtype=A.dtype)
    for k in range(A.shape[1]):
        R[k, k] = np.sqrt(A[:, k] @ A[:, k])
        Q[:, k] = A[:, k] / R[k, k]
        R[k, k + 1 :] = Q[:, k] @ A[:, k + 1 :]
        A[:, k + 1 :] -= np.outer(Q[:, k], R[k, k + 1 :])
    return Q, R


def inputs(size="small", seed=0):
    n = {"tiny": 4, "small": 50, "full": 400}[size]
    return (np.random.default_rng(seed).random((n + 2, n)),)
