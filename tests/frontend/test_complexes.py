"""Complex numbers of Python, computed by their parts: the loop itself is the oracle, bit by bit."""

import copy
import itertools
import math

import numpy as np
import pytest
import torch

from looplift import lift

PARTS = (0.0, -0.0, 1.0, -2.5, 3e200, 1e-310, math.inf, -math.inf, math.nan)
NUMBERS = [complex(a, b) for a, b in itertools.product(PARTS, PARTS)]
BACKENDS = ("auto", "native", "torch")


def outcome(function, *arguments):
    try:
        return repr(function(*arguments))
    except (ArithmeticError, TypeError, IndexError, RuntimeError) as error:
        return repr(error)


def check(function, *arguments, backends=BACKENDS, modes=("first", "off")):
    """The same text, which tells types, signs of zeros and NaN, from the loop and each lifted form."""
    wanted = outcome(function, *arguments)
    for backend, verify in itertools.product(backends, modes):
        lifted = lift(function, backend=backend, verify=verify)
        for _ in range(2):
            assert outcome(lifted, *arguments) == wanted


def is_lifted(function, *arguments):
    lifted = lift(function, verify="off")
    lifted(*arguments)
    return all(loop.decision != "kept" for loop in lifted.report().loops)


def sums(zs, ws):
    out = []
    for i in range(len(zs)):
        v = zs[i] + ws[i]
        w = zs[i] - ws[i]
        out.append((v.real, v.imag, w.real, w.imag))
    return out


def products(zs, ws):
    out = []
    for z, w in zip(zs, ws):
        v = z * w
        out.append((v.real, v.imag))
    return out


def quotients(zs, ws):
    out = []
    for z, w in zip(zs, ws):
        v = complex(z.real, z.imag) / w
        out.append((v.real, v.imag))
    return out


def squares(zs, ws):
    out = []
    for z in zs:
        v = (z + 0) ** 2 * 1j
        out.append((v.real, v.imag))
    return out


def with_reals(zs, ws):
    out = []
    for i in range(len(zs)):
        z = complex(zs[i].real, ws[i].imag)
        v = -(2 * z + 1.5 - z * i) / 4 - i
        w = (i - z).conjugate()
        out.append((v.real, v.imag, w.real, w.imag))
    return out


def sizes(zs, ws):
    out = []
    for i in range(len(zs)):
        z = complex(zs[i].real, ws[i].imag)
        out.append((abs(z), abs(z) > 2, z == ws[i], z != zs[i]))
    return out


OPERATIONS = (sums, products, quotients, squares, with_reals, sizes)


@pytest.mark.parametrize("function", OPERATIONS, ids=lambda one: one.__name__)
def test_ordinary_numbers(function):
    zs = [complex(math.sin(k), math.cos(3 * k)) for k in range(40)]
    ws = [complex(math.cos(2 * k), math.sin(k)) for k in range(40)]
    for count in (40, 1, 0):
        check(function, zs[:count], ws[:count])


@pytest.mark.parametrize("function", OPERATIONS, ids=lambda one: one.__name__)
def test_special_numbers(function):
    pairs = [(z, NUMBERS[(place + shift) % len(NUMBERS)]) for shift in (0, 4, 31) for place, z in enumerate(NUMBERS)]
    raising = [pair for pair in pairs if "Error" in outcome(function, [pair[0]], [pair[1]])]
    check(function, *map(list, zip(*(pair for pair in pairs if pair not in raising), strict=True)), backends=("auto",))
    for z, w in raising[::20]:
        check(function, [1j, z], [1 + 1j, w], backends=("auto",))


def escape(c, limit):
    z = 0
    steps = 0
    while abs(z) <= 2 and steps < limit:
        z = z * z + c
        steps += 1
    return steps


def escapes(n, limit):
    out = torch.zeros(n, n, dtype=torch.int32)
    for i in range(n):
        for j in range(n):
            out[i, j] = escape(complex(-2 + 3 * j / n, -1.5 + 3 * i / n), limit)
    return out


def julia(n, c, limit):
    out = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        for j in range(n):
            z = complex(3 * j / n - 1.5, 3 * i / n - 1.5)
            for k in range(limit):
                if abs(z) > 2:
                    break
                z = z**2 + c
            out[i, j] = k
    return out


def newton(n, roots, limit):
    out = []
    for i in range(n):
        z = complex(i - n / 3, 0.7)
        for _ in range(limit):
            z -= (z**3 - 1) / (3 * z**2)
            if abs(z**3 - 1) < 1e-8:
                break
        nearest = -1
        for k, root in enumerate(roots):
            if abs(z - root) < 1e-3:
                nearest = k
        out.append((nearest, z.real, z.imag))
    return out


ROOTS = [1 + 0j, complex(-0.5, math.sqrt(3) / 2), complex(-0.5, -math.sqrt(3) / 2)]


@pytest.mark.parametrize(
    ("function", "rest"),
    [(escapes, (25,)), (julia, (complex(-0.4, 0.6), 25)), (newton, (ROOTS, 30))],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_fractals(function, rest):
    check(function, 1, *rest, modes=("off",))
    check(function, 12, *rest, modes=("off",))
    assert is_lifted(function, 12, *rest)


def test_what_may_be_an_integer_is_not_handed_out_as_another_number():
    def total(n):
        found = 0
        for k in range(n):
            found += complex(k, 1)
        return found

    def size(n):
        z = 0
        for k in range(n):
            z = z * z + complex(k, 1)
        return abs(z)

    for n in (0, 1, 3):
        check(total, n)
        check(size, n)


def test_what_meets_a_tensor_is_left_to_it():
    def scaled(x):
        out = []
        for k in range(len(x)):
            z = complex(k, 1) * x[k]
            out.append(abs(z))
        return out

    def counted(x):
        t, z, out = 0.0, 1 + 0j, []
        for k in range(len(x)):
            z = z * complex(0.5, 0.1) * t
            t = t + x[k]
            out.append(z)
        return out

    check(scaled, torch.linspace(0, 1, 3))
    check(counted, torch.linspace(0, 1, 3))


def test_lists_of_other_numbers_take_another_form():
    lifted = lift(products, verify="off")
    for zs in ([1j, 2 + 1j], [1j, 2.0], [1j, 3], [1.0, 2.0], []):
        assert repr(lifted(zs, zs)) == repr(products(zs, zs))


def test_numbers_that_are_carried():
    def walk(n, z):
        a, b, state = z, 1j, (0, 1 + 1j)
        for k in range(n):
            a, b = b, a + b * complex(0.2, k)
            count, inner = state
            state = (count + 1, inner * complex(1, k) / (2 - 1j))
            if k % 2:
                z = z - a
            else:
                z *= 0.5
        return z, a, state

    for n in (0, 1, 5):
        check(walk, n, complex(0.3, -1))
    assert is_lifted(walk, 5, complex(0.3, -1))


def test_elements_of_tensors_as_parts():
    def moduli(x):
        out = torch.zeros(len(x))
        for k in range(len(x)):
            z = complex(x[k, 0], x[k, 1])
            out[k] = (z * z.conjugate()).real
        return out

    check(moduli, torch.randn(5, 2, dtype=torch.float64))
    check(moduli, torch.randn(5, 2, dtype=torch.complex64))


def escapes_of_elements(cs, limit):
    out = []
    for k in range(len(cs)):
        c, z, n = complex(cs[k]), 0j, 0
        while abs(z) <= 2 and n < limit:
            z, n = z * z + c, n + 1
        out.append(n)
    return out


def powers_of_elements(cs, limit):
    out = []
    for c in cs:
        z = complex(c)
        for _ in range(limit):
            z = z * z
        out.append(z)
    return out


def turned_in_place(cs, limit):
    for k in range(1, len(cs)):
        cs[k] = complex(cs[k - 1]) * 1j
    return [*cs[:limit]]


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
@pytest.mark.parametrize("function", [escapes_of_elements, powers_of_elements, turned_in_place])
def test_elements_of_arrays(function, backend):
    g = np.random.default_rng(0)
    whole = g.normal(size=12) + 1j * g.normal(size=12)
    lifted = lift(function, verify="off", backend=backend)
    for values in (whole, whole.astype(np.complex64), whole[::2], whole.real, whole.tolist(), np.arange(3.0)):
        ours, theirs = copy.copy(values), copy.copy(values)
        assert outcome(lifted, ours, 3) == outcome(function, theirs, 3)
        assert repr(ours) == repr(theirs)
