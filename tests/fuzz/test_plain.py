"""Random programs over Python's own values: a share of them is run here."""

import random

from .differential import check
from .plain import plain_source


def test_programs_over_plain_values_give_the_same_answer():
    for number in range(4):
        source = plain_source(random.Random(number))
        verdict = check(source)
        assert not verdict.why, f"{verdict.why}\n{source}"
