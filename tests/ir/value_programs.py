"""Programs of subscripts, conditions, comprehensions and calls."""

from __future__ import annotations

import math

import numpy as np
import torch
from registry import matrix, on, vector

# ---------------------------------------------------------------- stores and subscripts


@on((matrix(3, 4),))
def stores_into_an_argument(x):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] = x[i, j] * j + i


@on((matrix(3, 4), [2, 0, 2]))
def augmented_stores(x, index):
    count = [0] * 3
    for k, i in enumerate(index):
        x[i] += k
        x[i, 1] *= 2
        x[i][0] -= 1
        count[i] += 1
    return count


@on((matrix(4, 5),))
def slices(x):
    out = torch.zeros(4, 3)
    for i in range(1, 4):
        out[i] = x[i, 1:4] + x[i - 1, :3] + x[i, 2:]
        out[i, :2] = x[i, ::3]
        out[:i, 2] += 1
    return out, x[..., 0], x[:, None].shape


@on((matrix(3, 4), [[0, 1], [2, 3], [1, 1]]))
def chained_subscripts(x, table):
    total = 0.0
    for i in range(3):
        total = total + x[i][table[i][1]] * x[table[i][0] - 1, -1]
    return total


@on(([3, 1, 2, 0],))
def swaps_in_a_list(items):
    n = len(items)
    for i in range(n):
        for j in range(n - 1 - i):
            if items[j] > items[j + 1]:
                items[j], items[j + 1] = items[j + 1], items[j]
    return items


@on((np.arange(6.0).reshape(2, 3),))
def numpy_rows(x):
    out = np.zeros_like(x)
    for i, row in enumerate(x):
        out[i] = np.cumsum(row) / np.linalg.norm(row)
        out[i, 0] += np.where(row > 1, row, 0).sum()
    return out


@on((vector(3, 1, 2),))
def aliases(x):
    y = x
    row = y[1:]
    for i in range(2):
        row[i] = y[i] + 1
        y += i
    return x, row


@on((vector(1, 2, 3),))
def stores_on_both_sides(x):
    out = torch.zeros(3)
    for i in range(3):
        if x[i] > 1.5:
            scale = 2
            out[i] = x[i] * scale
        else:
            out[i] = -x[i]
    return out


# ---------------------------------------------------------------- conditions


@on(([3, 0, -1, 12],))
def chained_comparisons(items):
    out = []
    for i, item in enumerate(items):
        out.append(0 < item <= 5 and i != 7)
        out.append(-2 < item < 1 < 4)
    return out


@on(([3, 0, -1, 12],))
def short_circuits(items):
    out = []
    for i in range(len(items)):
        if i > 0 and 10 / (i + items[i - 1] - 1 or 1) > 1:
            out.append(i)
        out.append(items[i] or "none")
        out.append(not items[i] and i)
    return out


@on((vector(0.5, -1, 2),))
def ternaries(x):
    out = []
    for value in x:
        sign = 1 if value > 0 else -1 if value < -0.5 else 0
        out.append(value * sign)
    return torch.stack(out)


@on(([1, 2, 3], 2, None), ([1, 2], 5, 3))
def membership_and_identity(items, wanted, other):
    count = 0
    for item in items:
        if item in (wanted, 1) and item not in (7, 8):
            count += 1
        if item in items:
            count += 10
        if other is not None and item == other:
            count += 100
    return count


@on((vector(1, 2, 3), 2.0), (vector(), 1.0), (vector(4, -1), 1.0))
def branches_of_a_branch(x, limit):
    low, high, rest = 0, 0, 0.0
    for value in x:
        if value < limit:
            if value < 0:
                low -= 1
            else:
                low += 1
        elif value == limit:
            rest = rest + value
        else:
            high += 1
    return low, high, rest


@on(([1, 2, 3],), ([1, -2, 3],))
def assertions(items):
    total = 0
    for item in items:
        assert item > 0, "positive"
        total += item
    return total


# ---------------------------------------------------------------- comprehensions and generators


@on(([1, 2, 3], 2), ([], 1))
def comprehensions(items, n):
    squares = [item * item for item in items]
    pairs = [(i, item) for i in range(n) for item in items if item != i if i >= 0]
    table = [[i * j for j in range(i)] for i in range(n + 1)]
    i = 7
    again = [i for i in range(n)]
    return squares, pairs, table, i, again


@on(([1, 2, 3], [4, 5, 6]), ([], []))
def sums(a, b):
    total = sum(x * y for x, y in zip(a, b))
    total += sum([x for x in a if x > 1]) + sum(range(len(a))) + sum((x for x in b), 10)
    return total, sum(a)


@on(([1, 2, 3],), ([],), ([0, 5],))
def searches(items):
    out = [any(item > 2 for item in items), all(item > 0 for item in items)]
    for i in range(2):
        out.append(any(item == i for item in items))
        out.append(all(item % 2 == i for item in items) or i)
    return out


@on(([3, 1, 2],))
def extremes(items):
    largest = items[0]
    for item in items:
        largest = max(largest, item, 2)
        smallest = min(item, largest - 1)
    return largest, smallest, max(items), min(items), abs(smallest - 4)


# ---------------------------------------------------------------- calls


def affine(x, scale=2.0, *, shift=0):
    """Has a docstring."""
    return x * scale + shift


def sign_of(x):
    if x > 0:
        return 1
    if x < 0:
        return -1
    return 0


def first_above(items, limit):
    for i, item in enumerate(items):
        if item > limit:
            return i
    return None


def split(x):
    whole = math.floor(x)
    return whole, x - whole


@on((vector(1, 2, 3),))
def default_and_keyword_arguments(x):
    total = 0
    for i in range(len(x)):
        total = total + affine(x[i]) + affine(x[i], shift=i) + affine(scale=3, x=x[i])
    return total


@on(([1.5, -2.0, 0.0],))
def helpers_with_returns(items):
    signs, sums = [], []
    for item in items:
        signs.append((sign_of(item), first_above(items, item)))
        whole, part = split(item)
        sums.append(whole + 2 * part)
    return signs, sums


@on((vector(1, 2),))
def printing(x):
    for i, value in enumerate(x):
        print(i, value, f"{i:03d} {float(value):.2f} {i!r}", sep="|", end=";\n")
    return None


@on((vector(4, 9), [0.5, 2.0]))
def operations(x, items):
    out = []
    for i in range(len(x)):
        out.append(torch.sqrt(x[i]) + math.exp(items[i]) + x.sum() + torch.nn.functional.relu(-x[i]))
        out.append(int(items[i]) // 2 + round(items[i]) % 3 + float(x[i]))
        out.append(torch.stack([x[i], x[i] * 2]).max(dim=0).values)
    return out


@on((matrix(3, 2),))
def random_draws(x):
    out = []
    for row in x:
        out.append(row + torch.randn(2))
    return torch.stack(out)


class Cell(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.inner = torch.nn.Linear(2, 3)
        self.gate = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh())
        self.scale = torch.nn.Parameter(torch.tensor(0.5))
        self.steps = 2
        self.final = True

    def forward(self, x, state=None):
        if state is None:
            state = torch.zeros(3)
        for _ in range(self.steps):
            state = self.mix(x, state)
        return state

    def mix(self, x, state):
        out = torch.relu(self.inner(x)) + state * self.scale
        return out + 1 if self.final else out


@on((Cell(), matrix(3, 2)))
def modules(cell, x):
    out = []
    state = None
    for row in x:
        out.append(cell.gate(cell(row)))
        state = cell(row, state) if state is not None else cell(row)
    return torch.stack(out), state


class Meter:
    def __init__(self):
        self.rate = 0.5
        self.table = torch.arange(3.0)

    def decayed(self, value, steps=1):
        for _ in range(steps):
            value = value * self.rate
        return value + self.table[0]


@on((Meter(), vector(1, 2, 3)))
def methods_of_an_object(meter, x):
    total = 0
    for i, value in enumerate(x):
        total = total + meter.decayed(value, steps=i) * meter.table[i]
    return total


def made_with_closure():
    offset = 3
    weights = [1, 2, 3]

    def inner(value):
        return value + offset

    def closure(n):
        total = 0
        for i in range(n):
            total += inner(i) * weights[i] + offset
        return total

    return closure


on((3,), (0,))(made_with_closure())


@on(([1, 0, 2],), ([1, 2],))
def raising(items):
    total = 0.0
    for item in items:
        total += 1 / item
    return total


@on(([1, 5, 2],), ([1, 2],))
def raise_statement(items):
    total = 0
    for item in items:
        if item > 4:
            raise ValueError(item)
        total += item
    return total


@on(([[1, 2], [3], []],))
def ragged(rows):
    out = []
    for row in rows:
        mean = 0.0
        for item in row:
            mean += item / len(row)
        out.append(mean)
    return out


@on((matrix(4, 3), matrix(4, 3)))
def pairwise(a, b):
    squares = torch.zeros((a.shape[0], b.shape[0]))
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            squares[i, j] = torch.sum((a[i, :] - b[j, :]) ** 2)
    return squares


@on((5,), (1,))
def table_of_a_recurrence(n):
    table = [[0] * (n + 1) for _ in range(n + 1)]
    table[0][0] = 1
    for i in range(1, n + 1):
        for j in range(1, i + 1):
            table[i][j] = table[i - 1][j - 1] + j * table[i - 1][j]
    return table
