"""Each row of the table of operations is reached by a random program, and a share of them is run here."""

import random

import pytest

from .differential import difference
from .fakes import unchanged
from .operations import NOT_COMPARED, ROWS, operation_source, sources_of_row
from .vocabulary import Choices

looplift = pytest.importorskip("looplift")

PLAN = ((0, True), (1, True))
COMPARED = [row for row in ROWS if row not in NOT_COMPARED]


def test_every_row_of_the_table_is_reached():
    assert set(ROWS) >= NOT_COMPARED
    assert [row for row in COMPARED if not sources_of_row(row, 2)] == []


def test_programs_of_operations_are_repeatable():
    for row in COMPARED[::29]:
        for source in sources_of_row(row, 2):
            assert f"# {row}\n" in source
            assert difference(source, lift=unchanged) is None
    assert operation_source(Choices(random.Random(5))) == operation_source(Choices(random.Random(5)))


@pytest.mark.parametrize("share", range(12))
def test_operations_give_the_same_answer(share):
    for row in COMPARED[share::12]:
        for source in sources_of_row(row, 1):
            why = difference(source, settings={"verify": "off"}, plan=PLAN)
            assert why is None, f"{why}\n\n{source}"
