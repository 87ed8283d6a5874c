"""A field of an object is read also where its type alone answers: it may be of another one at a later call."""

import copy

import pytest
from tests.vectorize.harness import written as defined

from looplift import lift


class Node:
    def __init__(self, a):
        self.a = a


BODIES = (
    "if v.a is None: out.append(i)",
    "if v.a is not None: out.append(i)",
    "if v.a == None: out.append(i)",
    "if not v.a: out.append(i)",
    "out.append(1 if v.a is None else 2)",
    "if v.a is None and i > 0: return i",
    "if v.a != 'q': out.append(1)",
    "out.append(v.a or 5)",
    "out.append(len(v.a))",
    "for w in v.a: out.append(i)",
    "for w in reversed(v.a): out.append(i)",
    "out.append(min(v.a, default=9))",
    "out.append(all(w is None for w in v.a))",
    "out.append(i in v.a)",
    "y = v.a",
)
VALUES = (None, [], (), {}, 3, [1], (1, 2), {1: 2}, [None], [[]], "s")


def written(body):
    text = f"def program(nodes, n):\n    out = []\n    for i in range(n):\n        v = nodes[i]\n        {body}\n"
    text += "    return out\n"
    return defined(text, f"<field {body}>", {})["program"]


def outcome(program, value):
    nodes = [Node(copy.deepcopy(value)) for _ in range(3)]
    try:
        return repr((program(nodes, 3), [node.a for node in nodes]))
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("first", (None, [], (), 3, (1, 2)), ids=repr)
def test_later_calls_see_what_is_there(first, body):
    program = written(body)
    lifted = lift(program, verify="off")
    for value in (first, *VALUES):
        assert outcome(lifted, value) == outcome(program, value)
