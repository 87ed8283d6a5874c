"""The translated IR, interpreted, does what Python does with the source: results, arguments, text, draws, errors."""

import pytest
import torch
from defects import TRANSLATION
from programs import PROGRAMS
from running import disagreement, translated, values_of

from looplift.base.errors import NotLiftable
from looplift.base.spans import Span
from looplift.ir.grammar import UNDEFINED, Block, Const, Function, If, Let, Op, Phi, Require, Var
from looplift.ops.interpret import run

REFUSED = {"tuple_instead_of_none", "several_returns"}
"""Programs that the translation may refuse: what they bind is a tuple on one path only."""


@pytest.mark.parametrize("program", PROGRAMS, ids=repr)
def test_the_interpreter_agrees_with_python(program):
    for arguments in program.inputs:
        try:
            assert disagreement(program.function, arguments) is None
        except NotLiftable:
            assert repr(program) in REFUSED


@pytest.mark.parametrize("program", TRANSLATION, ids=repr)
def test_programs_that_were_mistranslated(program):
    for arguments in program.inputs:
        try:
            assert disagreement(program.function, arguments) is None
        except NotLiftable:
            assert repr(program) in REFUSED


def test_each_binding_of_each_iteration_is_seen():
    def doubled(x):
        out = []
        for value in x:
            out.append(value * 2)
        return out

    seen = []
    made = translated(doubled, ([1, 2],))
    run(made, values_of(doubled, ([1, 2],)), watch=lambda var, value: seen.append((var.hint, value)))
    assert [value for name, value in seen if name == "t"] == [2, 4]


def test_parameters_are_reached_by_their_paths():
    layer = torch.nn.Linear(2, 2)

    def weighted(layer, n):
        total = 0
        for i in range(n):
            total = total + layer.weight[i]
        return total

    made = translated(weighted, (layer, 2))
    other = torch.nn.Linear(2, 2)
    assert torch.equal(run(made, {"layer": other, "n": 2})["return"], other.weight.sum(0))


def test_what_is_not_bound_is_not_read():
    here, flag, maybe, copied = Span(1), Var("flag"), Var("maybe"), Var("copied")
    join = If(flag, Block(), Block(), (Phi(maybe, Const(1), UNDEFINED),), here)
    made = Function("f", (flag,), Block((join, Let(copied, Op("copy", (maybe,)), here))), (("copied", copied),))
    assert run(made, {"flag": True}) == {"copied": 1}
    with pytest.raises(UnboundLocalError, match="maybe"):
        run(made, {"flag": False})


def test_a_requirement_that_fails_raises():
    made = Function("f", (), Block((Require(Const(False), "the rows are sorted", Span(1)),)), ())
    with pytest.raises(AssertionError, match="the rows are sorted"):
        run(made, {})
