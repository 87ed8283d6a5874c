"""Loops for kernels: which of them have iterations that do not meet is said in `test_native_threads.py`."""

import numpy as np
import torch


def generator(seed):
    return torch.Generator().manual_seed(seed)


def vector(seed, count=400):
    return torch.rand(count, generator=generator(seed))


def table(seed, count=400):
    return torch.rand(count, 5, generator=generator(seed))


# ---------------------------------------------------------------- iterations that do not meet


def moved(x, out):
    for i in range(1, len(x)):
        k, v = 0, x[i]
        while v < 30 and k < 9:
            v = v * 1.3 + 0.1
            k += 1
        out[i - 1] = v
        out[i - 1] += k
    return out


moved.arguments = lambda seed: (vector(seed), torch.zeros(400))


def beside(x, y):
    """Where the two are parts of one tensor, its iterations meet."""
    for i in range(len(x)):
        k = 0
        while k < 7 and y[i] < 50:
            k += 1
            x[i] = x[i] * 1.5 + y[i] * k
    return x


def shifted(seed):
    whole = vector(seed, 401)
    return whole[1:], whole[:-1]


beside.arguments = lambda seed: shifted(seed) if seed % 2 else (vector(seed), vector(seed + 1))


def own_rows(v, n):
    for i in range(n):
        for j in range(3):
            k = 0
            while k < 5 and v[i, j] < 100:
                v[i, j] = v[i, j] * 2 + i
                k += 1
    return v


own_rows.arguments = lambda seed: (
    (torch.as_strided(vector(seed, 402), (400, 3), (1, 1)), 400) if seed % 2 else (vector(seed, 1200).view(400, 3), 400)
)


def gathered(x, places, out):
    """One seed has an index that is out of range."""
    for i in range(len(places)):
        k = 0
        while x[places[i]] > k:
            k += 1
        out[i] = k
    return out


gathered.arguments = lambda seed: (
    vector(seed, 50) * 9,
    torch.randint(0, 50 + seed % 2, (400,), generator=generator(seed)),
    torch.zeros(400),
)


def divided(a, b):
    """One seed divides by zero, of which NumPy warns."""
    out = np.zeros((len(a), 3))
    for i in range(len(a)):
        for j in range(3):
            k = 0
            while k < 4 and a[i] > k:
                k += 1
            out[i, j] = a[i] / b[i, j] + k
    return out


def fractions(seed):
    b = np.random.default_rng(seed).random((400, 3))
    b[313, 1] *= seed % 2 == 0
    return np.random.default_rng(seed + 1).random(400) * 6, b


divided.arguments = fractions


def names_of_its_own(x):
    shared = torch.zeros(len(x))
    for first in range(len(x)):
        part, ran, outcome, watch = 0, 1.0, 2, 3
        last = x[first]
        while last < 5 and part < 9:
            last = last * 1.5 + ran * watch
            part += 1
        shared[first] = last + outcome
    return shared


names_of_its_own.arguments = lambda seed: (vector(seed),)


def listed(a, bounds):
    return np.array([a[lo:hi].mean() for lo, hi in bounds])


def spans(seed):
    start = np.random.default_rng(seed).integers(0, 300, 400)
    return np.random.default_rng(seed + 1).random(400), np.stack([start, start + 5], 1)


listed.arguments = spans


def other_axis(x):
    out = torch.zeros(7, len(x))
    for i in range(len(x)):
        for c in range(7):
            k = 0
            while k < 5 and x[i, c % 5] * k < 1:
                k += 1
            out[c, i] = k
            out[c, i] += x[i, 0]
    return out


other_axis.arguments = lambda seed: (table(seed),)

APART = [moved, beside, own_rows, gathered, divided, names_of_its_own, listed, other_axis]

# ---------------------------------------------------------------- iterations that meet, or end the loop


def left(x, out):
    for i in range(len(x)):
        if x[i] < 0.01:
            break
        out[i] = x[i] * 2
    return out


left.arguments = lambda seed: (vector(seed), torch.zeros(400))


def one_after_the_other(x, out):
    for i in range(1, len(x)):
        v = x[i].item()
        while v < 30:
            v = v * 1.3 + 0.1
        out[i] = out[i - 1] + v
    return out


one_after_the_other.arguments = left.arguments


def counted(x):
    histogram = torch.zeros(10, dtype=torch.long)
    for i in range(len(x)):
        k, v = 0, x[i]
        while v < 5:
            v = v * 1.2 + 0.1
            k += 1
        histogram[k % 10] += 1
    return histogram


counted.arguments = lambda seed: (vector(seed),)


def both_sides(x):
    n = len(x)
    d = torch.zeros(n, n)
    for i in range(n):
        for j in range(i):
            s = 0.0
            for k in range(x.shape[1]):
                t = x[i, k] - x[j, k]
                if t > 0:
                    s = s + t * t
                else:
                    s = s - t
            d[i, j] = s
            d[j, i] = s
    return d


both_sides.arguments = lambda seed: (table(seed, 40),)


def two_names(x):
    a = torch.zeros(400)
    b = a
    for i in range(len(x)):
        k = 0
        while k < 5 and x[i, 0] * k < 1:
            k += 1
        a[i] = k
        b[(i + 1) % 400] = 7.0
    return a, b


two_names.arguments = lambda seed: (table(seed),)


def neighbours(x):
    out = x.clone()
    for i in range(1, len(x) - 1):
        k = 0
        while k < 3:
            out[i, 0] = out[i - 1, 0] * 0.5 + out[i + 1, 1]
            k += 1
    return out


neighbours.arguments = two_names.arguments


def some_listed(a, bounds):
    return np.array([a[lo:hi].mean() for lo, hi in bounds if lo > 40])


some_listed.arguments = spans

MEETING = [left, one_after_the_other, counted, both_sides, two_names, neighbours, some_listed]
