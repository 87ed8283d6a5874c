"""Random programs over complex numbers: a share of them is run here."""

import random

from .complexes import complex_source
from .differential import check


def test_programs_over_complex_numbers_give_the_same_answer():
    for number in range(6):
        source = complex_source(random.Random(number))
        verdict = check(source)
        assert not verdict.why, f"{verdict.why}\n{source}"
