"""A list of the caller's that is reached by several ways gets the items that the loop appends, and no others."""

from __future__ import annotations

import pytest

from looplift import lift


class Holder:
    def __init__(self):
        self.items = []

    def put(self, value):
        self.items.append(value)


def chosen(x, a, b):
    for k in range(3):
        c = a if x > k - 1 else b
        c.items.append(x + k)


def by_a_method(x, a, b):
    for k in range(3):
        c = a if x > k - 1 else b
        c.put(x + k)


def in_a_list(x, a, b):
    both = [a, b]
    for k in range(3):
        both[k % 2].items.append(x + k)


def by_a_name(x, a, b):
    for k in range(2):
        items = a.items if x > k else b.items
        items.append(x)


def in_turn(x, a, b):
    p, q = a, b
    for k in range(3):
        p.items.append(x * k)
        p, q = q, p


def made_here(x, a, b):
    found = []
    for _ in range(2):
        p, q = Holder(), Holder()
        for k in range(3):
            c = p if x > k - 1 else q
            c.items.append(x + k)
        found.append((list(p.items), list(q.items)))
    a.items.append(found)


FUNCTIONS = (chosen, by_a_method, in_a_list, by_a_name, in_turn, made_here)


@pytest.mark.parametrize("backend", ("auto", "torch", "native"))
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_as_the_loop(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for begun in ([], [], [1.0]):
        found, expected = ((Holder(), Holder()) for _ in range(2))
        for one in (*found, *expected):
            one.items += begun
        lifted(0.5, *found)
        function(0.5, *expected)
        assert [one.items for one in found] == [one.items for one in expected]
