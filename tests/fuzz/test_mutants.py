"""Random changes of programs that once gave a wrong answer: they end, and a share of them is run here."""

import random

import pytest

from .differential import check
from .mutants import mutants_source


@pytest.mark.parametrize("backend", ("auto", "torch"))
def test_changed_programs_give_the_same_answer(backend):
    for number in range(8):
        source = mutants_source(random.Random(number))
        verdict = check(source, settings={"verify": "off", "backend": backend})
        assert not verdict.why, f"{verdict.why}\n{source}"
