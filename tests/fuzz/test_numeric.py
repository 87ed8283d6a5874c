"""Random programs over numbers of mixed types, and of gradients: a share of them is run here."""

import random

import pytest

from .differential import check
from .gradients import gradients_source
from .kinds import kinds_source
from .meters import meters_source
from .numeric import numeric_source
from .slots import slots_source

SOURCES = (gradients_source, kinds_source, meters_source, numeric_source, slots_source)


@pytest.mark.parametrize("backend", ("auto", "torch"))
@pytest.mark.parametrize("source_of", SOURCES, ids=lambda one: one.__name__)
def test_programs_give_the_same_answer(source_of, backend):
    for number in range(8):
        source = source_of(random.Random(number))
        verdict = check(source, settings={"verify": "off", "backend": backend})
        assert not verdict.why, f"{verdict.why}\n{source}"
