"""The Ising model by Metropolis' rule: spins at random places flip, under a condition that draws again.

Source: the model as textbooks of computational physics have it (Newman and Barkema, Monte Carlo Methods, 1999)
Tags: draws, mutates
Grad: no
Hand: nothing can be drawn ahead, as only some iterations draw three numbers; the expert's loop runs on Python's numbers
"""

import math

import numpy as np


def slow(spins, steps, beta):
    n = spins.shape[0]
    sizes = []
    for step in range(steps):
        i = np.random.randint(0, n)
        j = np.random.randint(0, n)
        around = spins[(i + 1) % n, j] + spins[(i - 1) % n, j] + spins[i, (j + 1) % n] + spins[i, (j - 1) % n]
        change = 2 * spins[i, j] * around
        if change <= 0 or np.random.rand() < math.exp(-beta * change):
            spins[i, j] *= -1
        if step % 50 == 0:
            sizes.append(abs(spins.sum()) / (n * n))
    return spins, np.array(sizes)


def hand(spins, steps, beta):
    n = spins.shape[0]
    rows, size = spins.tolist(), int(spins.sum())
    chance = {change: math.exp(-beta * change) for change in (4, 8)}
    randint, rand, sizes = np.random.randint, np.random.rand, []
    for step in range(steps):
        i, j = randint(0, n), randint(0, n)
        row = rows[i]
        around = rows[i + 1 - n][j] + rows[i - 1][j] + row[j + 1 - n] + row[j - 1]
        change = 2 * row[j] * around
        if change <= 0 or rand() < chance[change]:
            size -= 2 * row[j]
            row[j] = -row[j]
        if step % 50 == 0:
            sizes.append(abs(size) / (n * n))
    spins[:] = rows
    return spins, np.array(sizes)


def inputs(size="small", seed=0):
    n, steps = {"tiny": (4, 20), "small": (16, 1500), "full": (48, 60000)}[size]
    np.random.seed(seed)
    return np.where(np.random.rand(n, n) < 0.5, -1, 1), steps, 0.44
