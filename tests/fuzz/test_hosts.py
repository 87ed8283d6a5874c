"""Random loops over Python's containers, and recursions over trees: a share of them is run here."""

import random

import pytest

from .differential import check
from .hosts import host_source
from .trees import tree_source


@pytest.mark.parametrize("share", range(4))
def test_loops_around_containers_give_the_same_answer(share):
    for number in range(share, 24, 4):
        source = host_source(random.Random(number))
        verdict = check(source, settings={"verify": "first"})
        assert not verdict.why, f"{verdict.why}\n{source}"


@pytest.mark.parametrize("share", range(2))
def test_recursions_over_trees_give_the_same_answer(share):
    for number in range(share, 12, 2):
        source = tree_source(random.Random(number))
        verdict = check(source, settings={"verify": "off", "backend": ("auto", "torch")[share]})
        assert not verdict.why, f"{verdict.why}\n{source}"
