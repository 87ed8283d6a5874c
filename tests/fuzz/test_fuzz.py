"""A small, repeatable share of the fuzzing: random programs give the same answer lifted and not.

`python -m tests.fuzz.run` does the same at any size.
"""

import pytest

from .differential import difference
from .programs import program_of


def assert_same(source, **lifted_settings):
    why = difference(source, settings=lifted_settings)
    assert why is None, f"{why}\n\n{source}"


@pytest.mark.parametrize("start", range(0, 120, 10))
def test_random_programs_give_the_same_answer(start):
    for number in range(start, start + 10):
        assert_same(program_of(number), verify="off")


@pytest.mark.parametrize("start", range(1000, 1030, 10))
def test_verification_finds_nothing(start):
    for number in range(start, start + 10):
        assert_same(program_of(number), verify="first")
