"""A small, repeatable share of the fuzzing: random programs give the same answer lifted and not.

`python -m tests.fuzz.run` does the same at any size.
"""

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from .differential import difference
from .programs import programs

looplift = pytest.importorskip("looplift")
pytestmark = pytest.mark.skipif(not hasattr(looplift, "lift"), reason="looplift.lift is not there")

quick = settings(
    deadline=None,
    derandomize=True,
    database=None,
    report_multiple_bugs=False,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def assert_same(source, **lifted_settings):
    why = difference(source, settings=lifted_settings)
    assert why is None, f"{why}\n\n{source}"


@settings(quick, max_examples=120)
@given(programs())
def test_random_programs_give_the_same_answer(source):
    assert_same(source, verify="off")


@settings(quick, max_examples=30)
@given(programs())
def test_verification_finds_nothing(source):
    assert_same(source, verify="first")
