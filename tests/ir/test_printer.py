"""The text of the IR: one statement a line, the author's names, facts as comments."""

import re
from textwrap import dedent

import pytest
import torch
from programs import PROGRAMS
from running import translated

from looplift.analysis.probe import analyse
from looplift.ir.grammar import Const, Group, Op, Slice, Var, walk
from looplift.ir.printer import line, op_text, operand_text, text


def scaled(x, n, limit):
    out = torch.zeros(n)
    total = 0
    for i in range(n):
        value = x[i, 1:]
        if value.sum() > limit:
            out[i] += 1
            total = total + i
        elif i == 7:
            break
    print(total, end="")
    return out, total


def numberless(words):
    """Text without the numbers of its variables, which change with every new statement of the translation."""
    return re.sub(r"\b([A-Za-z_]\w*)(\.\d+)+\b", r"\1", words)


def steps(x):
    count = 0
    while x > 1:
        x = x / 2
        count += 1
    return count


def test_a_while_loop():
    assert numberless(text(translated(steps, (8.0,)))) == dedent("""\
        function steps(x) -> return
          while t:
            carry x = x -> x -> x
            carry count = 0 -> count -> count
            test:
              t = gt(x, 1)
            x = truediv(x, 2)
            count = inplace.add(count, 1)
          return return = count
        """)


def test_a_for_loop():
    words = numberless(text(translated(scaled, (torch.ones(3, 4), 3, 2.0))))
    assert words.startswith("function scaled(n, x, limit) -> return\n  out = torch.zeros(n)\n")
    for part in (
        "  for i in range(0, n, 1):\n    carry total = 0 -> total -> total\n",
        "    value = x[i, 1:]\n    t = method.sum(value)\n    t = gt(t, limit)\n    if t:\n      out[i] add= 1\n",
        "    phi total = total | total\n",
        "    stop _stop_1\n  perform builtin.print(total, end='')\n",
    ):
        assert part in words


def test_facts_are_comments():
    arguments = (torch.ones(3, 4), 3, 2.0)
    made = translated(scaled, arguments)
    words = text(made, analyse(made))
    (value,) = (found for found in words.splitlines() if found.strip().startswith("value."))
    assert value.partition("# ")[2].startswith("tensor float32 [3], varies with i.")
    assert "param limit" in words and "# float" in words


@pytest.mark.parametrize("program", PROGRAMS, ids=repr)
def test_the_text_is_stable_and_complete(program):
    try:
        first, second = (translated(program.function, program.inputs[0]) for _ in range(2))
    except Exception:
        pytest.skip("not translated")
    words = text(first)
    assert numberless(words) == numberless(text(second))
    assert not any(found != found.rstrip() for found in words.splitlines())
    for statement in walk(first.body):
        assert line(statement) in words


def test_operands():
    a, none = Var("a.1"), Const(None)
    assert operand_text(Group("tuple", (a,))) == "(a.1,)"
    assert operand_text(Group("list", (a, Const(2)))) == "[a.1, 2]"
    assert operand_text(Slice(none, Const(3), none)) == ":3"
    assert operand_text(Slice(a, none, Const(2))) == "a.1::2"
    assert operand_text(Const(torch.float32, "torch.float32")) == "torch.float32"
    assert operand_text(Const(object())) == "<object>"
    assert op_text(Op("getitem", (a, Group("tuple", (none, a))))) == "a.1[None, a.1]"
    assert op_text(Op("torch.sum", (a,), (("dim", Const(0)),))) == "torch.sum(a.1, dim=0)"
