"""Loops that draw single numbers at random under conditions, in any order and number."""

import random
from random import randint as integer
from random import random as unit

import numpy as np
from numpy.random import rand as numpy_unit


def points_in_a_circle(n):
    inside = 0
    for _ in range(n):
        x, y = np.random.rand(), np.random.random_sample()
        if x * x + y * y <= 1.0:
            inside += 1
    return 4.0 * inside / n if n else inside


def spins_that_flip(n, beta=0.4):
    spins = np.ones((5, 5), dtype=int)
    sizes = []
    for step in range(n):
        i = np.random.randint(0, 5)
        j = np.random.randint(5)
        around = spins[(i + 1) % 5, j] + spins[(i - 1) % 5, j] + spins[i, (j + 1) % 5] + spins[i, (j - 1) % 5]
        change = 2 * spins[i, j] * around
        if change <= 0 or np.random.rand() < np.exp(-beta * change):
            spins[i, j] *= -1
        if step % 10 == 0:
            sizes.append(abs(spins.sum()))
    return spins, sizes


def a_chain(n):
    x, chain = 0.0, []
    for _ in range(n):
        proposed = x + np.random.normal(0, 1)
        if np.random.uniform() < min(1, np.exp(-0.5 * proposed**2) / np.exp(-0.5 * x**2)):
            x = proposed
        chain.append(x)
    return chain


def a_walk(n):
    places = np.zeros(n + 1)
    for i in range(1, n):
        step = np.random.choice([-1, 1])
        places[i] = places[i - 1] + step * (2 if np.random.choice((0.5, 1)) > 0.7 else 1)
    return places


def all_of_numpy(n):
    out = []
    for i in range(n):
        out.append(np.random.uniform(-2, 5) if i % 2 else np.random.uniform(high=3.0, low=1))
        out.append(np.random.normal(scale=2.0) + np.random.randn() - np.random.standard_normal())
        out.append(np.random.exponential(2.5) * np.random.random() + np.random.exponential())
        out.append(1.0 * (np.random.randint(-3, high=9) + np.random.choice(4) + np.random.randint(2**31)))
    return out


def all_of_python(n):
    a, b, c, d = 0.0, 0, 0.0, 0.0
    for _ in range(n):
        a += random.uniform(2, 7) + random.random()
        b += random.randint(-5, 5) + random.randrange(17) + random.randrange(3, 9)
        c += random.gauss(0, 1) + random.normalvariate(2.0, 0.5)
        d += random.expovariate(0.7) + random.choice([0.5, 1.5, 2.5])
    return a, b, c, d


def under_names(n):
    total = 0.0
    for _ in range(n):
        if integer(0, 3) == 0 or numpy_unit() < 0.5:
            total += unit()
    return total


def short_circuits(n):
    hits = 0
    for i in range(n):
        if (i % 2 == 0 and np.random.rand() < 0.5) or random.random() < 0.1:
            hits += 1
        hits += np.random.randint(3) if i % 3 else 0
    return hits


def until_it_is_late(n):
    time, steps = 0.0, 0
    while time < n:
        time += random.expovariate(0.7)
        steps += 1
        if random.random() > 0.99:
            break
    return time, steps


def found_at_once(n):
    for i in range(n):
        if np.random.rand() > 0.95:
            return i, 1
    return n, 0


def odd_normals(n):
    a = 0.0
    for _ in range(n | 1):
        a += np.random.normal() + random.gauss(0.0, 1.0)
    return a


def of_a_list(n, items=(3.0, 1.5, -2.0)):
    total = 0.0
    for _ in range(n):
        total += random.choice(items)
    return total


def rows_of_draws(n):
    rows = []
    for i in range(n):
        rows.append(sum([random.random() for _ in range(i % 4)]))
    return rows


def one_of_two_regions(n):
    a = b = 0
    for _ in range(n):
        if random.random() < 0.5:
            a += 1
    between = random.random(), np.random.normal(size=2)
    for _ in range(n):
        if random.random() < 0.5:
            b += np.random.randint(1, 3)
    return a, between, b


def of_a_state(n, generator=None):
    generator = np.random.RandomState(n) if generator is None else generator
    total = 0.0
    for _ in range(n):
        if generator.rand() < 0.5:
            total += generator.normal()
    return total, generator.rand()


def of_an_object(n, generator=None):
    generator = random.Random(n) if generator is None else generator
    total = 0.0
    for _ in range(n):
        if generator.random() < 0.5:
            total += generator.gauss(0, 1)
    return total, generator.random()


# ---------------------------------------------------------------- what raises, or draws in another way


def an_empty_range(n):
    total = 0
    for i in range(n):
        total += np.random.randint(max(4 - i, 0))
    return total


def an_empty_range_of_python(n):
    total = 0
    for i in range(n):
        total += random.randint(0, 2 - i)
    return total


def a_negative_scale(n):
    total = 0.0
    for i in range(n):
        total += np.random.normal(0.0, 3.0 - i)
    return total


def a_rate_of_zero(n):
    total = 0.0
    for i in range(n):
        total += random.expovariate(3.0 - i)
    return total


def a_wide_range(n):
    total = 0
    for _ in range(n):
        total += np.random.randint(2**40) & 7
    return total


def past_the_end(n):
    places = np.zeros(5)
    for i in range(n):
        if np.random.rand() < 0.9:
            places[i] += np.random.normal()
    return places


def a_division_by_zero(n):
    total = 0.0
    for i in range(n):
        if np.random.rand() < 0.9:
            total += 1 / (3 - i)
    return total


def rows_too(n):
    total = 0.0
    for i in range(n):
        total += np.random.rand(3).sum() if i % 2 else np.random.rand()
    return total


def shuffled_too(n):
    items, total = [1, 2, 3, 4], 0
    for _ in range(n):
        if np.random.rand() < 0.5:
            random.shuffle(items)
        total += items[0]
    return total


def by_an_array(n, low=np.array([1.0])):
    total = 0.0
    for i in range(n):
        if i % 2 == 0:
            total = total + np.random.uniform(low, 2.0)
    return total


def of_a_table(n, table=np.ones((3, 2))):
    total = 0.0
    for _ in range(n):
        total += np.random.choice(table)
    return total


def of_booleans(n):
    out = []
    for _ in range(n):
        out.append(np.random.choice([True, 2]))
    return out


def of_pairs(n):
    x = y = 0
    path = []
    for _ in range(n):
        dx, dy = random.choice([(0, 1), (1, 0), (0, -1), (-1, 0)])
        x += dx
        y += dy
        path.append((x, y))
    return path


def of_letters(n):
    x = y = 0
    for _ in range(n):
        x += {"N": 0, "E": 1, "S": 0, "W": -1}[random.choice("NESW")]
        d = random.choice(["up", "down"])
        y += 1 if d == "up" else -1
    return x, y


ROWS = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]])


def of_a_markov_chain(n, rows=ROWS):
    state, states = 0, []
    for _ in range(n):
        state = np.random.choice(len(rows), p=rows[state])
        states.append(state)
    return states


def of_emissions(n, rows=ROWS.tolist()):
    state, seen = 0, np.zeros(3, dtype=int)
    for _ in range(n):
        state = np.random.choice(3, p=rows[state])
        seen[np.random.choice((0, 2), p=[0.25, 0.75])] += 1
    return state, seen


def of_no_chances(n, rows=1.5 * ROWS):
    return of_a_markov_chain(n, rows)


def of_too_many(n, rows=ROWS[:2]):
    total = 0
    for _ in range(n):
        total += np.random.choice(rows.shape[0], p=rows[0])
    return total


class Quarter(random.Random):
    def random(self):
        return 0.25


KERNELS = (
    points_in_a_circle, spins_that_flip, a_chain, a_walk, all_of_numpy, all_of_python, under_names, short_circuits,
    until_it_is_late, found_at_once, odd_normals, of_a_list, rows_of_draws, one_of_two_regions, of_a_state,
    of_an_object, of_pairs, of_letters, of_a_markov_chain, of_emissions,
)  # fmt: skip
OTHERS = (
    an_empty_range, an_empty_range_of_python, a_negative_scale, a_rate_of_zero, a_wide_range, past_the_end,
    a_division_by_zero, rows_too, shuffled_too, by_an_array, of_a_table, of_booleans, of_no_chances, of_too_many,
)  # fmt: skip


# ---------------------------------------------------------------- functions that draw

SHARE = 0.3


def coin(p=0.5):
    return 1 if np.random.rand() < p else 0


def coins():
    return coin(SHARE) + coin(p=0.2) + coin()


def moved(x, size):
    """One step, up or down."""
    if random.random() < 0.5:
        return x + size
    return x - size * random.uniform(0, 1)


def is_taken(old, new, heat):
    return new < old or random.random() < np.exp((old - new) / heat)


def fill(out):
    for i in range(len(out)):
        out[i] = np.random.normal()


def after(k):
    return random.random() if k == 0 else after(k - 1)


def of_coins(n):
    heads = 0
    for i in range(n):
        heads += coin(0.7) + coins() + min(i, 3)
    return heads


def of_steps(n):
    x, places = 0.0, []
    for _ in range(n):
        x = moved(x, size=1.5)
        places.append(x)
    return places


def of_annealing(n):
    x, heat, best = 3.0, 1.0, 9.0
    for _ in range(n):
        y = x + random.gauss(0, 1)
        if is_taken(best, y * y, heat):
            x, best = y, y * y
        heat *= 0.95
    return x, best, heat


def of_rows(n):
    total, row = 0.0, np.zeros(7)
    for _ in range(n):
        fill(row)
        total += row[3]
    return total, row


def of_a_function_inside(n, share=0.4):
    def inner(x):
        return x + 1 if np.random.rand() < share else x

    x = 0
    for _ in range(n):
        x = inner(x)
    return x


def of_recursion(n):
    total = 0.0
    for _ in range(n):
        total += after(2) + random.random()
    return total


FUNCTIONS = (of_coins, of_steps, of_annealing, of_rows, of_a_function_inside)
