"""A short tour through cities by simulated annealing: two cities change places, and mostly stay if that is shorter.

Source: Kirkpatrick, Gelatt and Vecchi, Optimization by Simulated Annealing, Science 220 (1983), as it is taught
Tags: draws, helpers
Grad: no
Hand: the expert's loop runs on Python's numbers, over distances that are computed once
"""

import math
import random

import numpy as np


def length_of(tour, cities):
    total = 0.0
    for k in range(len(tour)):
        a, b = cities[tour[k]], cities[tour[(k + 1) % len(tour)]]
        total += math.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)
    return total


def is_taken(new, old, heat):
    return new < old or random.random() < math.exp((old - new) / heat)


def slow(cities, steps, heat):
    tour = list(range(len(cities)))
    current = length_of(tour, cities)
    lengths = np.zeros(steps)
    for step in range(steps):
        i = random.randint(0, len(tour) - 1)
        j = random.randint(0, len(tour) - 1)
        tour[i], tour[j] = tour[j], tour[i]
        new = length_of(tour, cities)
        if is_taken(new, current, heat):
            current = new
        else:
            tour[i], tour[j] = tour[j], tour[i]
        heat *= 0.999
        lengths[step] = current
    return tour, current, lengths


def hand(cities, steps, heat):
    points = cities.tolist()
    n = len(points)
    far = [[math.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) for b in points] for a in points]
    tour = list(range(n))

    def length():
        total, before = 0.0, tour[0]
        for city in [*tour[1:], tour[0]]:
            total += far[before][city]
            before = city
        return total

    current, lengths = length(), []
    for _ in range(steps):
        i, j = random.randint(0, n - 1), random.randint(0, n - 1)
        tour[i], tour[j] = tour[j], tour[i]
        new = length()
        if new < current or random.random() < math.exp((current - new) / heat):
            current = new
        else:
            tour[i], tour[j] = tour[j], tour[i]
        heat *= 0.999
        lengths.append(current)
    return tour, current, np.array(lengths)


def inputs(size="small", seed=0):
    n, steps = {"tiny": (4, 6), "small": (15, 500), "full": (40, 8000)}[size]
    random.seed(seed)
    return np.random.default_rng(seed).uniform(size=(n, 2)), steps, 1.0
