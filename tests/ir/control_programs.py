"""Programs of ranges, exits, while loops and names."""

from __future__ import annotations

import torch
from registry import on, vector

# ---------------------------------------------------------------- ranges and sequences


@on((5,), (0,), (-3,))
def range_of_one(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


@on((1, 6), (4, 2))
def range_of_two(lo, hi):
    out = []
    for i in range(lo, hi):
        out.append(i)
    return out


@on((10, 0, -3), (0, 7, 2), (0, 7, -1), (0, 3, 0))
def range_with_step(lo, hi, step):
    out = []
    for i in range(lo, hi, step):
        out.append(i)
    return out


@on((vector(1, 2, 3),), (vector(),))
def rows_of_a_tensor(x):
    total = 0
    for value in x:
        total = total + value
    return total


@on(([1, 2.5, 4],), ([],), ((1, 2),))
def items_of_a_sequence(items):
    total = 0
    for item in items:
        total = total * 2 + item
    return total


@on((vector(1, 2, 3),))
def enumerate_with_start(x):
    out = torch.zeros(5)
    for i, value in enumerate(x, 1):
        out[i] = value * i
    for j, value in enumerate(x, start=2):
        out[j] += value + j
    return out, i, j


@on(([1, 2, 3], [4, 5]), ([], [1]))
def zip_of_unequal_lengths(a, b):
    out = []
    for x, y in zip(a, b):
        out.append(x * y)
    return out


@on(([(1, 2), (3, 4)], [5, 6]))
def nested_targets(pairs, weights):
    total = 0
    for i, ((a, b), weight) in enumerate(zip(pairs, weights)):
        total += (a - b * i) * weight
    return total


@on(([1, 2, 3], 4), ([], 0), ([1], -2))
def reversed_sequences(items, n):
    out = []
    for item in reversed(items):
        out.append(item)
    for i in reversed(range(n)):
        out.append(i)
    for i in reversed(range(1, n)):
        out.append(-i)
    return out


@on((2, 6), (3, 3), (5, 2))
def zip_and_enumerate_of_ranges(lo, hi):
    out = []
    for i, j in zip(range(lo, hi), range(9)):
        out.append((i, j))
    for k, i in enumerate(range(lo, hi)):
        out.append((k, i))
    return out


@on((vector(1, 2), 3.0))
def displays(x, y):
    total = 0.0
    for value in (x[0], y, 2):
        total = total + value
    for a, b in ((1, y), (2, x[1])):
        total = total + a * b
    for sign in [1, -1, 0.5]:
        total = total * sign + 1
    return total


# ---------------------------------------------------------------- leaving loops


@on(([1, -2, 3, 0, 5],), ([],))
def continues(items):
    total = 0
    for item in items:
        if item < 0:
            continue
        if item == 0:
            total += 100
            continue
        total += item
    return total


@on(([1, 2, 9, 3], 5), ([1], 5), ([], 5))
def breaks(items, limit):
    total = 0
    last = -1
    for item in items:
        last = item
        if item > limit:
            break
        total += item
    return total, last


@on(([1, 2, 9, 3], 5), ([1, 2], 5), ([], 5))
def else_of_a_loop(items, limit):
    for item in items:
        if item > limit:
            found = item
            break
    else:
        found = None
    return found


@on(([1, 2, 9, 3], 5), ([1, 2], 5))
def else_without_break(items, limit):
    total = 0
    for item in items:
        total += item
    else:
        total += limit
    return total


@on(([3, 1, 2], 1), ([3], 1), ([], 1))
def returns_from_a_loop(items, wanted):
    for i, item in enumerate(items):
        if item == wanted:
            return i
    return -1


@on(([[1, 2], [3, 4]], 3), ([[1], []], 3), ([], 3))
def returns_from_two_loops(rows, wanted):
    count = 0
    for i, row in enumerate(rows):
        for j, item in enumerate(row):
            if item == wanted:
                return i, j, count
            count += 1
        count += 10
    return -1, -1, count


@on((4,), (0,))
def several_returns(n):
    if n < 0:
        return None
    total = 0
    for i in range(n):
        if i % 2:
            continue
        total += i
    if total > 1:
        return total, "large"
    return total


@on(([[1, 5, 2], [7], [], [1, 1]],))
def break_of_the_inner_loop(rows):
    out = []
    for row in rows:
        kept = 0
        for item in row:
            if item > 4:
                kept = -1
                break
            kept += item
        out.append(kept)
    return out


@on(([1, 2, 3, 4, 5, 6],))
def mixed_exits(items):
    total = 0
    for item in items:
        if item % 2 == 0:
            if item == 4:
                break
            total += 1
            if item == 2:
                continue
            total += 10
        else:
            total += 100
        total += 1000
    return total


@on((27,), (1,), (6,))
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@on((2.0,), (0.0,))
def while_true(x):
    guess = 1.0
    count = 0
    while True:
        guess = (guess + x / guess) / 2
        count += 1
        if abs(guess * guess - x) < 1e-9 or count == 50:
            break
    return guess, count


@on((5,), (0,))
def while_with_else(n):
    total = 0
    while n > 0:
        n -= 1
        if n == 2:
            continue
        total += n
    else:
        total *= 2
    return total, n


@on((vector(0.5, 3, 0), 4))
def while_in_for(x, limit):
    steps = torch.zeros(len(x), dtype=torch.int64)
    for i in range(len(x)):
        value = x[i]
        count = 0
        while value < limit and count < 6:
            value = value * 2 + 0.1
            count += 1
        steps[i] = count
    return steps


# ---------------------------------------------------------------- names and assignments


@on((6,), (0,))
def tuple_swap(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a, b


@on((vector(1, 2, 3),))
def state_as_a_tuple(x):
    state = (0.0, 1)
    for value in x:
        low, high = state
        state = (low + value, high * 2)
    return state


@on(([1, 2, 3],))
def last_values(items):
    for i, item in enumerate(items):
        double = item * 2
    return i, item, double


@on((0, 5.0), (2, 5.0))
def zero_trips(n, start):
    item = start
    values = []
    for item in range(n):
        values.append(item)
    return item, values


@on((vector(1, 2, 3),))
def augmented_names(x):
    total = 0
    product = 1.0
    y = x
    for value in x.clone():
        total += value
        product *= value
        product /= 2
        product **= 1.5
        y -= 0.5
    bits = 0
    for i in range(5):
        bits |= 1 << i
        bits ^= 3
        bits //= 1
        bits %= 17
    return total, product, bits


@on(([5, 3, 8],))
def best_of(items):
    best = None
    where = -1
    for i, item in enumerate(items):
        if best is None or item < best:
            best, where = item, i
    return best, where


@on((3, True), (3, False))
def flags_are_static(n, double):
    total = 0
    for i in range(n):
        if double:
            total += 2 * i
        else:
            total += i
    return total


@on((3,))
def same_name_in_two_loops(n):
    out = []
    for i in range(n):
        out.append(i)
    for i in range(n):
        for i in range(i):
            out.append(i * 10)
        out.append(i)
    return out, i


@on((vector(1, 2, 3, 4), 2))
def argument_bound_again(x, n):
    for i in range(n):
        x = x * 2
        n = n + i
    return x, n
