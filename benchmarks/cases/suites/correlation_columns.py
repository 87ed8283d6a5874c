"""Correlation of the columns of a table: means and deviations first, then each pair of columns once.

Source: the PolyBench kernel correlation
Tags: dense, nested, reduction, conditional, mutates
Grad: no
Hand: matrix product
"""
import numpy as np


def slow(data):
    n, m = data.shape
    mean = np.zeros(m)
    stddev = np.zeros(m)
    for j in range(m):
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    for j in range(m):
        for i in range(n):
            stddev[j] += (data[i, j] - mean[j]) ** 2
        stddev[j] = np.sqrt(stddev[j] / n)
        if stddev[j] <= 0.1:
            stddev[j] = 1.0
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
            data[i, j] /= np.sqrt(n) * stddev[j]
    corr = np.eye(m)
    for i in range(m - 1):
        for j in range(i + 1, m):
            corr[i, j] = 0.0
            for k in range(n):
                corr[i, j] += data[k, i] * data[k, j]
            corr[j, i] = corr[i, j]
    return corr


def hand(data):
    stddev = data.std(axis=0)
    stddev[stddev <= 0.1] = 1.0
    data -= data.mean(axis=0)
    data /= np.sqrt(len(data)) * stddev
    corr = data.T @ data
    np.fill_diagonal(corr, 1.0)
    return corr


def inputs(size="small", seed=0):
    n = {"tiny": 4, "small": 24, "full": 110}[size]
    return (np.random.default_rng(seed).random((n + 2, n)),)
