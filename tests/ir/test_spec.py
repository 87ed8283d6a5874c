"""The spec accepts what the translation makes, and names the statement of what is wrong."""

import pytest
from programs import PROGRAMS
from running import translated

from looplift.base.spans import NOWHERE, Span
from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Block,
    Carry,
    Const,
    Function,
    Group,
    If,
    Let,
    Loop,
    Op,
    Phi,
    Range,
    Require,
    Slice,
    Store,
    Var,
    While,
)
from looplift.ir.spec import InvalidIR, check

HERE = Span(7, 4, 7, 9)
A, B, C, D = (Var(name) for name in ("a", "b.1", "c.2", "d.3"))
ONE, NONE = Const(1), Const(None)
RANGE = Range(Const(0), ONE, ONE)


def add(var, *atoms, span=HERE):
    return Let(var, Op("add", atoms), span)


def loop(*carries, body=(), domain=RANGE, index=D, stop=None):
    return Loop(domain, index, carries, Block(tuple(body)), stop, HERE)


def branch(*phis, then=(), orelse=(), cond=A):
    return If(cond, Block(tuple(then)), Block(tuple(orelse)), phis, HERE)


def function(*statements, results=()):
    return Function("f", (A,), Block(statements), tuple(results))


VALID = {
    "straight": function(add(B, A, ONE), results=[("b", B)]),
    "phi": function(branch(Phi(C, B, UNDEFINED), then=[add(B, A, ONE)]), results=[("c", C)]),
    "carry": function(loop(Carry(B, UNDEFINED, D, C)), results=[("c", C)]),
    "outer in a block": function(add(B, A, ONE), loop(body=[add(C, B, D)])),
    "while": function(loop(Carry(B, A, B, C), domain=While(Block((add(D, B, ONE),)), D), index=None)),
    "subscript": function(Store(A, Group("tuple", (ONE, Slice(NONE, ONE, NONE))), ONE, "add", HERE)),
}

INVALID = {
    "'b.1' is read before it is bound": function(add(C, A, B)),
    "'b.1' is read outside of its block": function(branch(then=[add(B, A, ONE)]), add(C, B, ONE)),
    "'d.3' is read outside of its block": function(loop(), add(C, D, ONE)),
    "'b.1' is bound twice": function(add(B, A, ONE), add(B, A, ONE)),
    "two variables are named 'b.1'": function(add(B, A, ONE), add(Var("b.1"), A, ONE)),
    "a variable has no name": function(add(Var(""), A, ONE)),
    "an operand is undefined": function(add(B, A, UNDEFINED)),
    "the result 'x' is undefined": function(results=[("x", UNDEFINED)]),
    "its results need names of their own": function(results=[("x", A), ("x", A)]),
    "'c.2' is undefined on both sides": function(branch(Phi(C, UNDEFINED, UNDEFINED))),
    "'b.1' is read outside of its block ": function(branch(Phi(C, ONE, B), then=[add(B, A, ONE)])),
    "the next 'b.1' is undefined": function(loop(Carry(B, ONE, UNDEFINED, C))),
    "'c.2' is read before it is bound": function(loop(Carry(B, C, B, C))),
    "has no span": function(add(B, A, ONE, span=NOWHERE)),
    "the operation has no name": function(Let(B, Op("", (A,)), HERE)),
    "'getitem' takes 2 operands, not 1": function(Let(B, Op("getitem", (A,)), HERE)),
    "stands outside of a subscript": function(Let(B, Op("add", (A, Slice(ONE, ONE, NONE))), HERE)),
    "'call' of something not known": function(Let(B, Op("call", (A,)), HERE)),
    "the attribute has no name": function(Let(B, Op("attribute", (A, ONE)), HERE)),
    "names an operand twice": function(Let(B, Op("torch.sum", (A,), (("dim", ONE), ("dim", ONE))), HERE)),
    "stores into something that is no variable": function(Store(ONE, ONE, ONE, None, HERE)),
    "appends to something that is no variable": function(Append(ONE, ONE, HERE)),
    "a while loop has an index": function(loop(domain=While(Block(), ONE))),
    "a for loop has no index": function(loop(index=None)),
    "the stop flag is undefined": function(loop(stop=UNDEFINED)),
    "does not say why": function(Require(A, "", HERE)),
}


@pytest.mark.parametrize("name", VALID)
def test_valid(name):
    check(VALID[name])


@pytest.mark.parametrize("message", INVALID)
def test_invalid(message):
    with pytest.raises(InvalidIR) as raised:
        check(INVALID[message])
    assert message.strip() in str(raised.value)


def test_the_message_names_the_statement():
    with pytest.raises(InvalidIR) as raised:
        check(function(loop(body=[add(C, A, B)])))
    assert str(raised.value) == "f, line 7: 'c.2 = add(a, b.1)': 'b.1' is read before it is bound"


@pytest.mark.parametrize("program", PROGRAMS, ids=repr)
def test_parameters_have_paths_and_values(program):
    try:
        made = translated(program.function, program.inputs[0])
    except Exception:
        pytest.skip("not translated")
    made.attributes["paths"] = {}
    if made.params:
        with pytest.raises(InvalidIR, match="'paths' lacks"):
            check(made)
