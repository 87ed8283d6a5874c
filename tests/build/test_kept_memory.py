"""Memory that a program has done with is there for all programs, and there is not more of it for each."""

import looplift
from looplift.build import native


def groups(n):
    found = {}
    for i in range(n):
        found.setdefault(i % 101, []).append([i, i + 1])
    return len(found), found[7][-1]


def pairs(n):
    found = []
    for i in range(n):
        found.append((i, [i * 2]))
    return len(found), found[-1][1]


def kept_after(function, n):
    lifted = looplift.lift(function, backend="native", verify="off")
    for _ in range(2):
        assert lifted(n) == function(n)
    assert lifted.report().loops[0].decision == "native"
    return native._KEPT.total


def test_a_program_takes_what_another_has_left():
    before = kept_after(groups, 20000)
    assert before > 0
    largest = max(before, kept_after(pairs, 20000))
    assert kept_after(groups, 20000) == largest == kept_after(pairs, 20000) <= 32 << 20
