"""Random programs over Python's own values: a share of them is run here."""

import random

import pytest

from looplift.emit import native_jammed

from .bridged import bridged_source
from .contexts import context_source
from .differential import check
from .elements import elements_source
from .inner import inner_source
from .late import late_source
from .nests import nests_source
from .objects import objects_source
from .plain import plain_source
from .samples import samples_source
from .stored import stored_source
from .strips import strips_source


@pytest.mark.parametrize("made", (elements_source, objects_source, bridged_source, context_source))
def test_programs_over_elements_objects_and_two_libraries_give_the_same_answer(made):
    for number in range(2):
        source = made(random.Random(number))
        verdict = check(source)
        assert not verdict.why, f"{verdict.why}\n{source}"


def test_programs_over_plain_values_give_the_same_answer():
    for number in range(4):
        source = plain_source(random.Random(number))
        verdict = check(source)
        assert not verdict.why, f"{verdict.why}\n{source}"


def test_programs_with_functions_inside_and_generator_functions_give_the_same_answer():
    for number in range(3):
        source = inner_source(random.Random(number))
        verdict = check(source)
        assert not verdict.why, f"{verdict.why}\n{source}"


def test_loops_over_lists_that_may_be_one_and_change_give_the_same_answer():
    for number in range(6):
        source = strips_source(random.Random(number))
        verdict = check(source)
        assert not verdict.why, f"{verdict.why}\n{source}"


def test_programs_over_samples_of_any_length_give_the_same_answer():
    for number in range(8):
        source = samples_source(random.Random(number))
        verdict = check(source)
        assert not verdict.why, f"{verdict.why}\n{source}"


@pytest.mark.parametrize("lanes", [2, 8])
def test_nests_over_arrays_give_the_same_answer(lanes, monkeypatch):
    monkeypatch.setattr(native_jammed, "LANES", lanes)
    for number in range(5):
        source = nests_source(random.Random(number))
        verdict = check(source, settings={"backend": "native", "verify": "off"})
        assert not verdict.why, f"{verdict.why}\n{source}"


def test_stores_with_gradients_give_the_same_answer():
    for number in range(3):
        source = stored_source(random.Random(number))
        verdict = check(source)
        assert not verdict.why, f"{verdict.why}\n{source}"


def test_programs_that_fail_after_they_have_written_leave_what_the_loop_leaves():
    for number in range(12):
        source = late_source(random.Random(number))
        verdict = check(source, settings={"verify": "off", "backend": ("torch", "auto")[number % 2]})
        assert not verdict.why, f"{verdict.why}\n{source}"
