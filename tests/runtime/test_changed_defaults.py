"""Defaults of functions that are set after a loop was lifted, and loops that end a program."""

import sys

import pytest
import torch

import looplift


def total_of(helper):
    def total(x):
        found = 0.0
        for i in range(len(x)):
            found += helper(x[i])
        return found

    return total


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
@pytest.mark.parametrize("keywords", [False, True])
def test_defaults_of_inner_functions(backend, keywords):
    def scaled(value, k=2.0, *, b=2.0):
        return value * k + b

    total = total_of(scaled)
    lifted = looplift.lift(total, backend=backend, verify="off")
    for other in (2.0, 2, True, torch.tensor(2.0), 3.5, -0.0, 0.0):
        if keywords:
            scaled.__kwdefaults__ = {"b": other}
        else:
            scaled.__defaults__ = (other,)
        for x in ([1.0, 2.0], [1, 2]):
            want, got = total(x), lifted(x)
            assert type(got) is type(want) and repr(got) == repr(want)


def leaves(numbers, seen):
    for number in numbers:
        seen.append(number)
        if number > 2:
            sys.exit(number)
    return seen


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
def test_a_loop_that_ends_the_program_leaves_what_it_did(backend):
    lifted = looplift.lift(leaves, backend=backend)
    for numbers in ([1, 2], [1, 2, 3, 4], [5]):
        seen, same = [], []
        for function, kept in ((leaves, seen), (lifted, same)):
            try:
                function(numbers, kept)
            except SystemExit as left:
                kept.append(left.code)
        assert same == seen
