"""Backward probabilities of a hidden Markov model, state by state.

Source: the backward algorithm
Tags: dp, recurrence, nested
Grad: no
Hand: loop over steps, a product of matrix and vector in each
"""
import numpy as np


def slow(obs, A, B):
    T = obs.shape[0]
    beta = np.zeros((T, A.shape[0]))
    beta[T - 1] = np.ones(A.shape[0])
    for t in range(T - 2, -1, -1):
        for j in range(A.shape[0]):
            beta[t, j] = (beta[t + 1] * B[:, obs[t + 1]]).dot(A[j, :])
    return beta


def hand(obs, A, B):
    beta = np.ones((len(obs), len(A)))
    emitted = B.T[obs]
    for t in range(len(obs) - 2, -1, -1):
        beta[t] = A @ (beta[t + 1] * emitted[t + 1])
    return beta


def inputs(size="small", seed=0):
    n = {"tiny": 4, "small": 300, "full": 8000}[size]
    r = np.random.default_rng(seed)
    A, B = r.random((6, 6)) + 0.1, r.random((6, 5)) + 3
    return r.integers(0, 5, n), A / A.sum(1, keepdims=True), B / B.sum(1, keepdims=True) * 5
