"""The facts of the analysis hold in every iteration, and the analysis changes nothing."""

import contextlib
import io

import pytest
from defects import ANALYSIS
from programs import PROGRAMS
from running import copied, translated, values_of
from truth import wrong_facts

from looplift.analysis.probe import analyse
from looplift.base.compare import difference
from looplift.base.errors import NotLiftable

KNOWN = {
    "appends_to_rows_of_the_caller", "numpy_in_place", "items_of_several_kinds", "trips_that_a_break_decides",
    "power_of_a_negative_number", "maximum_of_a_number_and_an_element",
}  # fmt: skip
"""Defects that are known and not mended."""

MISTAKEN = {"items_of_a_sequence", "displays"}
"""Programs over lists of several kinds, of whose items the analysis knows the first."""


def facts_that_fail(program, aspects):
    """Contradicted facts, changed arguments and printed text, over all inputs that the analysis accepts."""
    for arguments in program.inputs:
        made_for, before, seen = (copied(arguments) for _ in range(3))
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                facts = analyse(translated(program.function, made_for))
        except NotLiftable:
            facts = None
        if printed.getvalue():
            yield "the analysis prints"
        if (why := difference(made_for, before, exact=True)) is not None:
            yield f"the analysis changes its values: {why}"
        if facts is not None:
            with contextlib.suppress(ArithmeticError, AssertionError, ValueError):
                with contextlib.redirect_stdout(io.StringIO()):
                    yield from wrong_facts(facts.function, facts, values_of(program.function, seen), aspects)


@pytest.mark.parametrize("program", PROGRAMS, ids=repr)
def test_kinds_hold_in_every_iteration(program):
    if repr(program) in MISTAKEN:
        pytest.xfail("a known defect of the analysis")
    assert list(facts_that_fail(program, ("kind",))) == []


@pytest.mark.parametrize("program", ANALYSIS, ids=repr)
def test_programs_whose_facts_were_wrong(program):
    wrong = list(facts_that_fail(program, ("kind", "loops")))
    if wrong and repr(program) in KNOWN:
        pytest.xfail(f"a known defect of the analysis: {wrong[0]}")
    assert wrong == []
