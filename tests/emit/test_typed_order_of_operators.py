"""The operators of a sum of products run one by one where they are objects' own, or of tensors that change."""

import pytest
import torch
from strictly import same


class Counted:
    def __init__(self, value):
        self.value = value

    def __mul__(self, other):
        self.value += 1
        return Counted(self.value * other.value)

    def __sub__(self, other):
        return Counted(self.value - other.value)

    def __and__(self, other):
        return Counted(self.value & other.value)

    def __mod__(self, other):
        return Counted(self.value % other.value)


def doubled(one):
    one.value *= 2
    return one


def of_objects(a, b, m, n):
    found = []
    for _ in range(n):
        found.append(((a * b - doubled(a)) % m).value)
        found.append(((doubled(b) * a - b) & m).value)
    return found


def raised(x):
    x[0] += 0.5
    return x[1]


def of_tensors(x, w, seen):
    for k in range(4):
        seen.append(k)
        seen.append((x[0] * w - raised(x)) % 3.0)
        seen.append((x * w * raised(x)) % 3.0)
    return seen


def of_floats(xs, y):
    found = []

    def step(v):
        nonlocal y
        y += v
        return y

    for v in xs:
        found.append((y * 1.5 + step(v)) % 2.5)
    return found


def of_integers(xs, y):
    found = []

    def step(v):
        nonlocal y
        y += v
        return y

    for v in xs:
        found.append((y * 2**40 + step(v) * 2**50) % 1000003)
        found.append(((y * y - step(v)) % 101 * y + v) & 1023)
    return found


def test_objects():
    same(of_objects, (Counted(2), Counted(3), Counted(11), 4), (Counted(7), Counted(1), Counted(5), 3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_tensors(dtype):
    same(of_tensors, (torch.tensor([1.5, 2.5], dtype=dtype), 2.0, []))


def test_numbers():
    same(of_floats, ([0.5, 2.25, -1.0, 3.5], 1.25))
    same(of_integers, ([3, 8, -5, 2**33], 7), decisions={"native"})
