"""What raises before the operation that a handler is meant for is not swallowed, and names are bound in their turn."""

from __future__ import annotations

import math

import pytest
import torch
from tests.frontend.oracle import check


def power_and_key(ks, d):
    total = 0.0
    for k in ks:
        try:
            v = 10.0**k * d[k]
        except KeyError:
            v = 1.0
        total += v
    return total


def power_and_place(ks, d):
    xs, total = [0.5, 1.5, -2.0], 0.0
    for k in ks:
        try:
            total += 2.0**k + xs[k]
        except IndexError:
            total -= 1.0
    return total


def shift_and_quotient(ks, d):
    total = 0.0
    for k in ks:
        try:
            v = (1 << k) + 1.0 / k
        except ZeroDivisionError:
            v = -1.0
        total += v
    return total


def shift_and_rest(ks, d):
    total = 0
    for k in ks:
        try:
            total += (1000 >> (k - 1)) + 7 % k
        except ZeroDivisionError:
            total += 100
    return total


def power_and_root(ks, d):
    total = 0.0
    for k in ks:
        try:
            v = 10.0 ** (k * k) - math.sqrt(3 - k)
        except ValueError:
            v = 1.0
        total += v
    return total


def in_a_choice(ks, d):
    total = 0.0
    for k in ks:
        try:
            v = (10.0**k if k > 0 else 1.0) + d[k]
        except KeyError:
            v = 1.0
        total += v
    return total


def called_in_a_choice(ks, d):
    seen, total = [], 0.0

    def note(k):
        seen.append(k)
        return k

    for k in ks:
        try:
            v = (note(k) if k > 1 else 1.0) + d[k]
        except KeyError:
            v = 1.0
        total += v
    return total, seen


def power_of_a_quotient(ks, d):
    total = 0.0
    for k in ks:
        try:
            v = (3.0 / (k - 1)) ** 2 + k
        except ZeroDivisionError:
            v = 1.0
        total += v
    return total


def power_in_a_test(ks, d):
    total = 0.0
    for k in ks:
        try:
            if 10.0**k - 1.0 / (k - 1) > 5:
                total += 1
            else:
                total -= 2.0**k
        except ZeroDivisionError:
            total += 100
    return total


def power_of_a_power(ks, d):
    total = 0.0
    for k in ks:
        try:
            v = (10.0**k) ** 2 / k + 2.0**k / (k - 1) - 3.0**k
        except ZeroDivisionError:
            v = -1.0
        total = total * 0.5 + v
    return total


def bound_in_the_divisor(ks, d):
    total = 0.0
    for a in ks:
        try:
            v = a / (a := 2)
        except ZeroDivisionError:
            v = -1.0
        total += v + a
    return total


def bound_before_the_divisor(ks, d):
    total, a = 0.0, 1
    for k in ks:
        try:
            v = (a := k) + 1.0 / a
        except ZeroDivisionError:
            v = -1.0
        total += v + a
    return total


def bound_in_a_choice(ks, d):
    total, a = 0.0, 1
    for k in ks:
        try:
            v = (1 if k > 1 and (a := k - 2) else 2) + 1.0 / a
        except ZeroDivisionError:
            v = -1.0
        total += v + a
    return total


PROGRAMS = [power_and_key, power_and_place, shift_and_quotient, shift_and_rest, power_and_root, in_a_choice,
            power_in_a_test, power_of_a_power, called_in_a_choice,
            power_of_a_quotient, bound_in_the_divisor, bound_before_the_divisor,
            bound_in_a_choice]  # fmt: skip


@pytest.mark.parametrize("ks", [[1, 2], [1, 2, 400], [2, 2000], [1, -1], [0, 1, 2], [2, 0, -1], [3, 5, 1]], ids=str)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda one: one.__name__)
def test_handlers_take_what_they_are_meant_for(function, ks):
    check(function, (ks, {0: 0.5, 1: 2.0, 2: 3.0}), kept=True)


@pytest.mark.parametrize("function", [power_of_a_quotient, power_and_key, power_in_a_test, power_of_a_power])
def test_powers_are_lifted(function):
    check(function, ([3, 1, 4], {1: 0.5, 4: 2.0}), kept=function is power_and_key)


def updated(total, ks, zs):
    count = 0
    for k, z in zip(ks, zs):
        try:
            total[k] += 1.0 / z
        except ZeroDivisionError:
            count += 1
    return count


def updated_by_one_of(total, ks, zs):
    values, count = [1.0, 2.0, 3.0], 0
    for k, z in zip(ks, zs):
        try:
            total[k] -= values[z]
        except ValueError:
            count += 10
        except LookupError:
            count += 1
    return count


def updated_in_a_row(total, ks, zs):
    count = 0
    for k, z in zip(ks, zs):
        try:
            total[0, k] += 7 // z
        except ZeroDivisionError:
            count += 1
    return count


@pytest.mark.parametrize(("ks", "zs"), [([0, 5, 1], [1, 0, 2]), ([0, 1, 1], [1, 0, 2]), ([0, -1], [7, 1])], ids=str)
@pytest.mark.parametrize("total", [[0.0, 1.0], torch.zeros(2), torch.zeros(1, 2), {0: 0.5, 1: 2.0}], ids=str)
@pytest.mark.parametrize("function", [updated, updated_by_one_of, updated_in_a_row])
def test_an_element_is_read_before_what_is_added_to_it(function, total, ks, zs):
    check(function, (total, ks, zs), kept=True)


@pytest.mark.parametrize("total", [[0.0, 1.0], torch.zeros(2)], ids=str)
def test_updates_of_elements_that_are_there_are_lifted(total):
    check(updated, (total, [0, 1, 1], [1.0, 0.0, 2.0]))
