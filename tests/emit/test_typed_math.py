"""Functions of the math module in typed programs and kernels: every digit as Python has it."""

from __future__ import annotations

import itertools
import linecache
import math
import random

import pytest
import torch

from looplift import lift

ONE = "radians degrees asinh atanh acosh exp2 cbrt erf erfc isfinite isnan sqrt exp fabs hypot log1p".split()
TWO = "hypot log pow fmod atan2 copysign".split()
SPECIAL = [0.0, -0.0, 5e-324, -3e-308, 1e-200, 1.0, -1.5, 1e200, 1.7e308, math.inf, -math.inf, math.nan]


def made(body: str):
    text = f"import math\n\n\ndef loop(numbers, others):\n    out = []\n{body}    return out\n"
    label = f"<math: {body}>"
    linecache.cache[label] = (len(text), None, text.splitlines(keepends=True), label)
    scope: dict = {}
    exec(compile(text, label, "exec"), scope)
    return scope["loop"]


def shown(function, *arguments):
    try:
        return repr(function(*arguments))
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        return f"{type(error).__name__}: {error}"


def numbers_of(seed: int) -> list[float]:
    chance = random.Random(seed)
    return [chance.gauss(0, 1) * 10.0 ** chance.randint(-3, 3) for _ in range(200)]


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number(name):
    loop = made(f"    for a, b in zip(numbers, others):\n        out.append(math.{name}(a))\n")
    lifted = lift(loop, verify="off")
    bounded = name in ("atanh",)
    for numbers in (numbers_of(0), [math.tanh(a) for a in numbers_of(1)], [abs(a) + 1 for a in numbers_of(2)]):
        if not bounded or all(abs(a) < 1 for a in numbers):
            assert shown(lifted, numbers, numbers) == shown(loop, numbers, numbers)
    for number in SPECIAL:
        assert shown(lifted, [number], [number]) == shown(loop, [number], [number])
    assert {one.decision for one in lifted.report().loops} == {"native"}


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_numbers(name):
    loop = made(f"    for a, b in zip(numbers, others):\n        out.append(math.{name}(a, b))\n")
    lifted = lift(loop, verify="off")
    positive = [abs(a) % 7 + 0.1 for a in numbers_of(3)]
    for numbers, others in ((positive, positive[::-1]), (positive, numbers_of(4)), (numbers_of(0), numbers_of(1))):
        assert shown(lifted, numbers, others) == shown(loop, numbers, others)
    assert {one.decision for one in lifted.report().loops} == {"native"}
    for a, b in itertools.product(SPECIAL, repeat=2):
        assert shown(lifted, [a], [b]) == shown(loop, [a], [b])


def nearest(points, stations):
    found = []
    for x, y in points:
        best, least = None, float("inf")
        for k, station in enumerate(stations):
            distance = math.dist((x, y), station)
            if distance < least:
                least, best = distance, k
        found.append((best, least, min(math.hypot(x - a, y - b) for a, b in stations)))
    return found


def test_the_nearest_of_some_points():
    chance = random.Random(0)
    points, stations = ([(chance.random(), chance.random()) for _ in range(n)] for n in (40, 30))
    stations += [stations[3], (math.nan, 0.0)]
    lifted = lift(nearest, verify="off")
    for _ in range(2):
        assert lifted(points, stations) == nearest(points, stations)
    assert {one.decision for one in lifted.report().loops} == {"native"}


def test_points_of_different_dimensions_raise():
    lifted = lift(nearest, verify="off")
    with pytest.raises(ValueError, match="same number of dimensions"):
        lifted([(0.0, 1.0)], [(0.0, 1.0, 2.0)])


def counted_within(x, y):
    near = 0
    for i in range(len(x)):
        for j in range(len(y)):
            if math.hypot(x[i] - y[j], 0.5) <= 0.75:
                near += 1
    return near


def test_a_kernel_decides_by_lengths_as_the_loop_does():
    x = torch.linspace(-2, 2, 41, dtype=torch.float64)
    lifted = lift(counted_within, verify="off", backend="native")
    assert lifted(x, x.clone()) == counted_within(x, x)
    assert {one.decision for one in lifted.report().loops} == {"native"}
