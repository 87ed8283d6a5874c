"""Names that tell a state by strings, members of enumerations or None, as small integers."""

import ast
import enum
import textwrap

import pytest
import torch

import looplift
from looplift.base.compare import difference
from looplift.frontend.states import with_numbered_states


class Way(enum.Enum):
    UP = 1
    DOWN = -1
    FLAT = 0
    LEVEL = 0


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Bits(enum.Flag):
    A = 1
    B = 2


class Word(str, enum.Enum):
    A = "a"
    B = "b"


NAMES = {"Way": Way, "Level": Level, "Bits": Bits, "Word": Word}


def numbered(text, arguments="x"):
    tree = ast.parse(f"def f({arguments}):\n" + textwrap.indent(textwrap.dedent(text), "    ")).body[0]
    assert isinstance(tree, ast.FunctionDef)
    before = ast.unparse(tree)
    after = ast.unparse(with_numbered_states(tree, NAMES))
    return None if after == before else after


def test_what_becomes_of_a_state():
    found = numbered("""
        state = "idle"
        last = None
        for v in x:
            if state == "idle" and v > 1:
                state = "active" if v > 2 else state
            elif state in ("active", "late") or last is None:
                last = state
        return state, last
    """)
    assert (
        found
        == textwrap.dedent("""
        def f(x):
            state = 0
            last = 1
            for v in x:
                if state == 0 and v > 1:
                    state = 2 if v > 2 else state
                elif state in (2, 3) or last == 1:
                    last = state
            return (('idle', None, 'active', 'late')[state], ('idle', None, 'active', 'late')[last])
    """).strip()
    )


def test_values_of_several_members():
    found = numbered("s = Way.FLAT\nfor v in x:\n    s = Way.UP if v else Way.DOWN\n    n = s.value\nreturn n")
    assert found is not None
    assert "n = 0 if s == 0 else 1 if s == 1 else -1" in found


def test_members_of_an_enumeration():
    found = numbered("""
        way = Way.FLAT
        for v in x:
            if way is Way.LEVEL:
                way = Way.UP
            total = total + way.value
        return way.name
    """)
    assert found is not None
    assert "if way == 0:" in found
    assert "total = total + (0 if way == 0 else 1)" in found
    assert found.endswith("return (Way.FLAT, Way.UP)[way].name")


@pytest.mark.parametrize(
    "body",
    [
        "s = 'a'\nfor v in x:\n    s = s + 'b'\nreturn s",
        "s = 'a'\nfor v in x:\n    s = 'b'\n    print(s)\nreturn s",
        "s = 'a'\nfor v in x:\n    s = 'b' if s < 'b' else 'a'\nreturn s",
        "s = 'a'\nfor v in x:\n    s = 'b' if s else 'a'\nreturn s",
        "s = 'a'\nfor v in x:\n    s = 'b'\n    n = t[s]\nreturn s",
        "s = 'a'\nfor v in x:\n    s = 'b' if s is 'a' else 'a'\nreturn s",
        "s = 'a'\nfor s in x:\n    s = 'b'\nreturn s",
        "s = 'a'\nfor v in x:\n    s = 'b' if s == v else 'a'\nreturn s",
        "s = 'a'\nfor v in x:\n    s = g(s)\nreturn s",
        "s = 'a'\ng = lambda: s\nfor v in x:\n    s = 'b'\nreturn g()",
        "s = 'a'\nfor v in x:\n    s = 'b'\nreturn locals()",
        "global s\nfor v in x:\n    s = 'b'\nreturn s == 'b'",
        "for v in x:\n    s = 'b'\n    del s\nreturn 1",
        "for v in x:\n    try:\n        s = 'b'\n    except E as s:\n        pass\nreturn s == 'b'",
        "s = Bits.A\nfor v in x:\n    s = Bits.B if s == Bits.A else s\nreturn s",
        "s, t = Word.A, 'a'\nfor v in x:\n    s = Word.B if s == Word.A else s; t = 'b' if t == 'a' else t\nreturn t",
        "s = None\nfor v in x:\n    s = None\nreturn s",
        "s = 'a'\nwhile_none = s\nreturn s == 'a'",
        "x = 'a'\nfor v in y:\n    x = 'b'\nreturn x == 'a'",
        "s = None\nfor v in x:\n    s = Way.UP if s is None else s\n    n = s.value\nreturn s",
    ],
)
def test_names_that_stay(body):
    assert numbered(body) is None


def bursts(x):
    state, starts, ends = "idle", [], []
    for t in range(len(x)):
        if state == "idle" and x[t] > 0.8:
            state = "active"
            starts.append(t)
        elif state == "active" and x[t] < 0.2:
            state = "idle"
            ends.append(t)
    return starts, ends, state


def turns(x):
    way, out, total = Way.FLAT, torch.zeros(len(x), dtype=torch.int64), 0
    for i in range(1, len(x)):
        if x[i] > x[i - 1] + 0.2:
            way = Way.UP
        elif x[i] < x[i - 1] - 0.2:
            way = Way.DOWN
        out[i] = way.value
        total += 1 if way is Way.UP else 0
    return out, total, way


def changes(x):
    last, count = None, 0
    for v in x:
        kind = "high" if v > 0.5 else "low"
        if last is not None and kind != last:
            count += 1
        last = kind
    return count, last


def machine(x):
    state, i, seen = "start", 0, 0
    while state != "end":
        match state:
            case _ if i >= len(x):
                state = "end"
            case "start" | "again":
                state = "inside" if x[i] > 0.3 else state
            case "inside":
                seen += 1
                state = "again" if x[i] > 0.9 else state
        i += 1
    return i, seen, state


def swapped(x):
    a, b, out = "x", "y", torch.zeros_like(x)
    for i in range(len(x)):
        if x[i] > 0.5:
            a, b = b, a
        out[i] = 1.0 if a == "x" else -1.0
    return out, a, b


def raising(x):
    level, count = Level.LOW, 0
    for i in range(len(x)):
        if x[i] > 0.5:
            level = Level.HIGH
        if level is Level.HIGH and x[i] < 0.01:
            raise ValueError(f"at {i}")
        count += 1
    return level, count, level + 1


def unbound(x):
    for i in range(len(x)):
        if x[i] > 0.5:
            state = "b"
    return state == "b"  # pyright: ignore[reportPossiblyUnboundVariable]


PROGRAMS = [bursts, turns, changes, machine, swapped, raising, unbound]


def outcome(function, x):
    try:
        return function(x)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_the_loop_is_what_it_stands_for(program, backend):
    lifted = looplift.lift(program, verify="off", backend=backend)
    for n in (0, 1, 2, 9, 60):
        x = torch.rand(n, generator=torch.Generator().manual_seed(n), dtype=torch.float64)
        for values in (x, torch.cat([x, x.new_zeros(1)]), x * 0.4):
            wanted, found = outcome(program, values), outcome(lifted, values)
            assert type(found) is type(wanted)
            assert difference(found, wanted, magnitude=1) is None
            assert [type(one) for one in found] == [type(one) for one in wanted] if type(found) is tuple else True


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p is not unbound], ids=lambda p: p.__name__)
def test_it_is_lifted(program):
    lifted = looplift.lift(program, verify="off")
    lifted(torch.rand(60, generator=torch.Generator().manual_seed(60), dtype=torch.float64) + 0.02)
    assert "kept" not in {loop.decision for loop in lifted.report().loops}, str(lifted.report())
