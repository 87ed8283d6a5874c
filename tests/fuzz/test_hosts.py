"""Random loops over Python's containers: a share of them is run here."""

import random

import pytest

from .differential import check
from .hosts import host_source


@pytest.mark.parametrize("share", range(4))
def test_loops_around_containers_give_the_same_answer(share):
    for number in range(share, 24, 4):
        source = host_source(random.Random(number))
        verdict = check(source, settings={"verify": "first"})
        assert not verdict.why, f"{verdict.why}\n{source}"
