"""``dict.fromkeys(keys, value)``: the keys are worked out before the value, and gone through after it."""

import pytest
from tests.emit.container_programs import runs_alike
from tests.emit.test_typed_tensors import first

__all__ = ["first"]

FORM = """
def function(q):
    found = []
    while len(q) > 2:
        for key, value in dict.fromkeys({keys}, {value}).items():
            found.append((key, value))
        q.append(q.pop() // 2)
        q.pop()
    return found, q
"""


@pytest.mark.parametrize(
    "keys, value",
    [
        ("[q.pop()]", "q[-1]"), ("[q[-1]]", "q.pop()"), ("q", "q.pop()"), ("[v for v in q if v > 3]", "q.pop()"),
        ("(q.pop(), q.pop())", "q[-1:]"), ("q[1:]", "(1, q.pop())"), ("[q.pop(), q[0]]", "[q.pop()]"),
        ("range(len(q))", "q.pop()"), ("range(q.pop())", "q[-1]"), ("range(len(q))", "q[-1] + 1"),
        ("['a', 'b']", "q.pop()"), ("{v: 2 for v in q}.values()", "q[0] + 1"), ("(v for v in q)", "q.pop()"),
    ],
)  # fmt: skip
def test_keys_come_before_their_value(keys, value, first, tmp_path):
    path = tmp_path / "written.py"
    path.write_text(FORM.replace("{keys}", keys).replace("{value}", value))
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    runs_alike(names["function"], [3, 9, 4, 7, 1, 8, 6], native=None)
