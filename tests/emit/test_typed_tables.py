"""Functions in dicts, called by the keys of the data: programs have a branch for each."""

import math

import pytest
from tests.emit.container_programs import outcome, runs_alike

from looplift import lift


def halved(a):
    return a / 2 if a > 1 else a


BINARY = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if abs(b) > 1e-6 else 1.0,
    "max": max,
}
UNARY = {"sin": math.sin, "abs": abs, "half": halved}
STEPS = {0: lambda state: state + 1, 1: lambda state: state * 3, 7: lambda state: state // 2}
KINDS = {"a": lambda x: x, "b": lambda x: [x]}


def evaluate(tokens, row):
    stack = []
    for token in tokens:
        if token in BINARY:
            b = stack.pop()
            a = stack.pop()
            stack.append(BINARY[token](a, b))
        elif token in UNARY:
            stack.append(UNARY[token](stack.pop()))
        elif token.startswith("x"):
            stack.append(row[int(token[1:])])
        else:
            stack.append(float(token))
    return stack[0]


def errors(formulas, rows):
    found = []
    for tokens in formulas:
        total = 0.0
        for row in rows:
            total += evaluate(tokens, row) ** 2
        found.append(total)
    return found


def machine(program, state):
    """The table is the function's own name for it, the code what it reads."""
    trace = []
    for code in program:
        if code not in STEPS:
            continue
        state = STEPS[code](state)
        trace.append(state)
    return state, trace


def unchecked(program, state):
    for code in program:
        state = STEPS[code](state)
    return state


def of_several_kinds(names):
    found = []
    for name in names:
        found.append(KINDS[name](1))
    return found


ROWS = [[0.5, 2.0], [1.5, -1.0], [0.0, 3.0]]


def test_a_stack_machine():
    runs_alike(errors, [["x0", "x1", "+"], ["x0", "sin", "2.5", "*", "x1", "max"], ["x1", "x0", "/", "half"]], ROWS)
    runs_alike(errors, [["3", "abs"]], ROWS)
    runs_alike(errors, [], ROWS, native=None)


def test_a_table_of_integers():
    runs_alike(machine, [0, 1, 1, 7, 4, 0], 5)
    runs_alike(unchecked, [0, 1, 7], 5)
    runs_alike(unchecked, [], 5, native=None)


@pytest.mark.parametrize("tokens", [["x0", "+"], ["x0", "x9", "-"], ["x0", "oops"], []])
def test_what_raises(tokens):
    runs_alike(errors, [["x0", "x1", "+"], tokens], ROWS, native=None)


def test_a_key_that_is_not_there():
    runs_alike(unchecked, [0, 5, 1], 2, native=None)
    runs_alike(machine, [0, True, 1, 1.0], 2, native=None)
    runs_alike(machine, [0, "a"], 2, native=None)


def test_other_results():
    runs_alike(of_several_kinds, ["a", "b"], native=None)
    runs_alike(of_several_kinds, ["c"], native=None)


@pytest.mark.parametrize("function, given", [(machine, ([0, 1, 7], 5)), (unchecked, ([0, 1, 7], 5))])
def test_a_table_that_changes(function, given, monkeypatch):
    for backend in ("auto", "native"):
        lifted = lift(function, backend=backend, verify="off")
        assert lifted(*given) == function(*given)
        with monkeypatch.context() as patch:
            patch.setitem(STEPS, 1, lambda state: state - 100)
            assert lifted(*given) == function(*given)
        assert lifted(*given) == function(*given)
        with monkeypatch.context() as patch:
            patch.delitem(STEPS, 7)
            assert outcome(lifted, given) == outcome(function, given)
        with monkeypatch.context() as patch:
            patch.setitem(globals(), "STEPS", {**STEPS, 0: abs})
            assert lifted(*given) == function(*given)
        assert lifted(*given) == function(*given)


def test_a_table_of_a_helper_that_changes(monkeypatch):
    formulas = [["x0", "x1", "+"], ["x1", "half"]]
    lifted = lift(errors, verify="off")
    assert lifted(formulas, ROWS) == errors(formulas, ROWS)
    with monkeypatch.context() as patch:
        patch.setitem(BINARY, "+", lambda a, b: a - 7 * b)
        assert lifted(formulas, ROWS) == errors(formulas, ROWS)
    with monkeypatch.context() as patch:
        patch.setitem(UNARY, "x1", lambda a: a)
        assert outcome(lifted, (formulas, ROWS)) == outcome(errors, (formulas, ROWS))
    assert lifted(formulas, ROWS) == errors(formulas, ROWS)
