"""A Kalman filter of one number; the states go into a list that becomes an array.

Source: Kalman filters, as in introductions to them
Tags: recurrence, sequential, list
Grad: no
Hand: the loop on Python floats
"""
import numpy as np


def slow(zs, q, r):
    x, p = 0.0, 1.0
    xs = []
    for z in zs:
        p = p + q
        k = p / (p + r)
        x = x + k * (z - x)
        p = (1 - k) * p
        xs.append(x)
    return np.array(xs)


def hand(zs, q, r):
    x, p = 0.0, 1.0
    out = np.empty(len(zs))
    for t, z in enumerate(zs.tolist()):
        p += q
        k = p / (p + r)
        x += k * (z - x)
        p *= 1 - k
        out[t] = x
    return out


def inputs(size="small", seed=0):
    n = {"tiny": 5, "small": 20000, "full": 800000}[size]
    return np.random.default_rng(seed).standard_normal(n), 1e-3, 0.1
