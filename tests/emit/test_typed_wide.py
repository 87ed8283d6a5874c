"""Remainders of products that need more than 64 bits, in typed programs: generators, hashes and powers."""

from __future__ import annotations

import pytest

from looplift import lift


def linear_congruential(n, state):
    out = []
    for _ in range(n):
        state = (0x5DEECE66D * state + 11) & (2**48 - 1)
        out.append(state >> 16)
        state = (5**13 * state) % 2**46
    return out, state


def signed_remainders(n, a, m):
    return [(-a * k * 1234567891234567 + k - a * a) % m for k in range(n)]


def power(base, exponent, modulus):
    found = 1
    while exponent > 0:
        if exponent & 1:
            found = (found * base) % modulus
        base = base * base % modulus
        exponent >>= 1
    return found


def polynomial_hashes(words, modulus):
    out = []
    for word in words:
        found = 7
        for letter in word:
            found = (found * 1000003 + ord(letter) * 31 * found) % modulus
        out.append(found)
    return out


def of_floats(numbers, modulus):
    return [(x * 2.5 + 1) % modulus for x in numbers] + [(x * True) % 7 for x in numbers]


def masked(n, mask):
    return [(k * 2**40 - 3) & mask for k in range(n)]


CASES = [
    (linear_congruential, [(60, 1), (3, 2**46 - 1)]),
    (signed_remainders, [(60, 10**15, 10**15 + 7), (60, 10**15, -(10**15) - 7), (30, 4 * 10**18, 97), (3, 1, 0)]),
    (power, [(3, 10**18, 10**18 + 9), (7, 10**15, 2**62 - 57), (2, 5, -3)]),
    (polynomial_hashes, [(["abc", "x" * 50, ""] * 9, 2**61 - 1)]),
    (of_floats, [([1.5, 2.0, -3.25] * 9, 1.75), ([1, 2, 3] * 9, 5)]),
    (masked, [(60, 2**62 - 1), (60, -1), (9, -4)]),
]


def shown(function, arguments):
    try:
        return repr(function(*arguments))
    except ZeroDivisionError as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("function, calls", CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_remainders_are_those_of_the_loop(function, calls):
    lifted = lift(function, verify="off")
    for arguments in calls:
        assert shown(lifted, arguments) == shown(function, arguments)
    assert "native" in {one.decision for one in lifted.report().loops}
