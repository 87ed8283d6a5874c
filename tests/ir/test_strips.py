"""Functions of the IR whose loops run in pieces: valid, and interpreted they do what Python does."""

import pytest
from programs import PROGRAMS
from running import disagreement, translated

from looplift.base.errors import NotLiftable
from looplift.ir.grammar import Function, Loop, walk
from looplift.ir.strips import can_be_stripped, strip_mined


def in_pieces(made: Function) -> Function:
    """The function with all of its loops in pieces, of which none is within another."""
    loops = [statement for statement in walk(made.body) if isinstance(statement, Loop) and can_be_stripped(statement)]
    inner = {statement for loop in loops for statement in walk(loop.body)}
    return strip_mined(made, {loop: "two()" for loop in loops if loop not in inner})


@pytest.mark.parametrize("program", PROGRAMS, ids=repr)
def test_pieces_do_what_python_does(program):
    for arguments in program.inputs:
        try:
            assert disagreement(program.function, arguments, in_pieces) is None
        except NotLiftable:
            pass  # the translation says so, with or without pieces


def test_each_loop_is_known_with_the_loop_over_its_pieces():
    def counted(n):
        total = 0
        for i in range(n, 0, -2):
            total = total + i
        return total

    made = in_pieces(translated(counted, (9,)))
    ((outer, inner),) = made.attributes["strips"].items()
    assert [inner] == [statement for statement in outer.body if isinstance(statement, Loop)]
    for n in (0, 1, 2, 3, 9, 10):
        assert disagreement(counted, (n,), in_pieces) is None


def test_loops_that_are_left_early_have_no_pieces():
    def first(x):
        for i in range(len(x)):
            if x[i] > 0:
                break
        return i

    made = translated(first, ([1.0],))
    assert not any(can_be_stripped(statement) for statement in walk(made.body) if isinstance(statement, Loop))
