"""Lists that are written out alike are several objects, one that is repeated is one."""

from __future__ import annotations

import pytest

from looplift import lift


def repeated(m):
    cells = [[0.0]] * m
    joined = [[0.0], [1.0]] + [[0.0]]
    pairs = 2 * [[0, 1]]
    again = 2 * [[0, 1]]
    top, steps = 0, 0
    while steps < 6:
        steps += 1
        top += m
    return cells, joined, pairs, again, top


@pytest.mark.parametrize("backend", ["torch", "native", "auto"])
def test_objects_are_as_in_the_loop(backend):
    lifted = lift(repeated, backend=backend, verify="off")
    for m in (3, 1, 2):
        got, wanted = ([row for rows in program(m)[:4] for row in rows] for program in (lifted, repeated))
        assert got == wanted
        assert [[a is b for b in got] for a in got] == [[a is b for b in wanted] for a in wanted]
