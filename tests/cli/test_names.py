"""Which names a statement binds and reads, and which of them functions watch."""

from __future__ import annotations

import ast

import pytest

from looplift.cli.names import bound_in, read_before_bound, read_in, watched_names

BOUND = {
    "for i, (a, *b) in rows: c = a": {"i", "a", "b", "c"},
    "x[i] = y.z = 1": set(),
    "s = [v for v in rows]": {"s"},
    "s = [last := v for v in rows if (other := v)]": {"s", "last", "other"},
    "f(lambda v: (w := v))": set(),
    "with open(p) as f: d = f": {"f", "d"},
    "while (n := step()): pass": {"n"},
}

READ = {
    "for i in rows: x[i] = y.z": {"i", "rows", "x", "y"},
    "s = [v * w for v in rows if v > t]": {"w", "rows", "t"},
    "total += x": {"x"},
}

EXPOSED = {
    "for i in rows:\n  s = s + i": {"rows", "s"},
    "for i in rows:\n  s += i": {"rows", "s"},
    "for i in rows:\n  t = i\n  u = t": {"rows"},
    "for i in rows:\n  if i:\n    t = i\n  u = t": {"rows", "t"},
    "for i in rows:\n  if i:\n    t = i\n  else:\n    t = 0\n  u = t": {"rows"},
    "for i in rows:\n  pass\nu = i": {"rows", "i"},
    "for i in rows:\n  for j in cols[i]:\n    pass\n  u = j": {"rows", "cols", "j"},
    "while n > 0:\n  n -= 1": {"n"},
    "while (m := f()):\n  u = m": {"f"},
    "for i in rows:\n  with g(i) as h:\n    k = h\n  u = k": {"rows", "g"},
    "for i in rows:\n  try:\n    t = i\n  finally:\n    u = t": {"rows", "t"},
    "for i in rows:\n  x[i], y = i, i\n  u = y": {"rows", "x"},
}


@pytest.mark.parametrize("text", BOUND)
def test_bound(text):
    assert bound_in(ast.parse(text).body[0]) == BOUND[text]


@pytest.mark.parametrize("text", READ)
def test_read(text):
    assert read_in(ast.parse(text).body[0]) == READ[text]


@pytest.mark.parametrize("text", EXPOSED)
def test_read_before_bound(text):
    assert read_before_bound(ast.parse(text).body, set()) == EXPOSED[text]


WATCHED = """
def f(a):
    global count
    count = a + scale
    local = 1
    return [local + deep for _ in range(3)]

class C:
    field = at_once
    def g(self):
        return inside

now = [v + not_watched for v in range(3)]
consumed = sum(v + not_watched for v in range(3))
lazy = (v + later for v in range(3))
f2 = lambda: name
"""


def test_watched_names():
    watched = watched_names(WATCHED, "f.py")
    assert {"count", "scale", "deep", "inside", "later", "name"} <= watched.seen
    assert not {"a", "local", "at_once", "not_watched", "v", "now"} & watched.seen
    assert watched.rebound == {"count"}
    assert not watched.everything
    assert watched_names("def f(): return globals()", "f.py").everything
