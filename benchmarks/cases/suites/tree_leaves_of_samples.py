"""The leaf of a decision tree, kept in arrays, that each sample falls into.

Source: decision trees in arrays, as scikit-learn keeps them
Tags: control, while, gather
Grad: no
Hand: loop over levels, all samples in each
"""
import numpy as np


def slow(X, feature, threshold, left, right, value):
    out = np.zeros(X.shape[0])
    for i in range(X.shape[0]):
        node = 0
        while left[node] != -1:
            if X[i, feature[node]] <= threshold[node]:
                node = left[node]
            else:
                node = right[node]
        out[i] = value[node]
    return out


def hand(X, feature, threshold, left, right, value):
    node = np.zeros(len(X), dtype=np.int64)
    rows = np.arange(len(X))
    while True:
        inner = left[node] != -1
        if not inner.any():
            return value[node]
        goes_left = X[rows, feature[node]] <= threshold[node]
        node = np.where(inner, np.where(goes_left, left[node], right[node]), node)


def inputs(size="small", seed=0):
    n, m = {"tiny": (5, 7), "small": (3000, 63), "full": (100000, 255)}[size]
    r = np.random.default_rng(seed)
    left = np.array([2 * k + 1 if 2 * k + 2 < m else -1 for k in range(m)])
    right = np.where(left == -1, -1, left + 1)
    return r.random((n, 3)), r.integers(0, 3, m), r.random(m), left, right, r.random(m)
