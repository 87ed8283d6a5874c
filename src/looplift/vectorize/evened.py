"""Loops of another length in each lane in, that stay; the same with one length for all lanes, under an ``if``, out.

for j in range(n[i]):        for j in range(longest(n)):
    s += x[i, j]                 if j < n[i]:
                                     s += x[i, j]

What needs the iteration before it can be a scan or a search then, over all lanes at once. Where few lanes are much
longer than the others this would be mostly nothing: that it is not is required.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection

from looplift.base.data import replace
from looplift.ir.array import Node
from looplift.ir.facts import Facts
from looplift.ir.grammar import (
    LONGEST,
    UNDEFINED,
    Block,
    Const,
    Function,
    If,
    Let,
    Loop,
    Op,
    Phi,
    Range,
    Statement,
    Var,
    as_atom,
    walk,
)
from looplift.ir.started import Changes
from looplift.vectorize import nodes, segments
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.searches import told_twice

WASTE = 8
"""How many places there may be for each iteration, of more than a few."""
FEW = 2**16


def with_even_loops(function: Function, facts: Facts, lanes: Collection[Loop]) -> Function | None:
    """The same function with such loops, except for those that are lanes as they are; None if it has none."""
    numbers = itertools.count(1)
    changed: dict[int, tuple[Statement, ...]] = {}
    for loop in walk(function.body):
        if isinstance(loop, Loop) and loop not in lanes and _is_uneven(facts, loop):
            changed[id(loop)] = _even(loop, next(numbers))
    if not changed:
        return None
    body = Changes(changed, {}).block(function.body)
    made = replace(function, body=body, attributes=dict(function.attributes))
    made.attributes["again"] = told_twice(function, made)
    return made


def _is_uneven(facts: Facts, loop: Loop) -> bool:
    """Whether a loop counts from 0 to what differs by an iteration around it."""
    domain = loop.domain
    if not isinstance(domain, Range) or loop.index is None or not isinstance(domain.hi, Var):
        return False
    plain = all(isinstance(atom, Const) and atom.value == value for atom, value in ((domain.lo, 0), (domain.step, 1)))
    made = all(carry.init is not UNDEFINED for carry in loop.carries)
    inner = not any(isinstance(statement, Loop) for statement in walk(loop.body))
    return plain and made and inner and facts[domain.hi].kind.family == "int" and bool(facts[domain.hi].loops)


def _even(loop: Loop, number: int) -> tuple[Statement, ...]:
    domain, span = loop.domain, loop.span
    assert isinstance(domain, Range) and loop.index is not None
    longest, runs, stop = (Var(f"{name}.even{number}") for name in ("longest", "runs", "stop"))
    phis: list[Phi] = []
    carries = []
    for carry in loop.carries:
        after = carry.next
        if carry.next is not carry.inside and carry.next is not loop.stop:
            after = Var(f"{carry.hint}.even{number}.{carry.inside.name}")
            phis.append(Phi(after, carry.next, carry.inside))
        carries.append(replace(carry, next=stop if carry.next is loop.stop else after))
    if loop.stop is not None:
        phis.append(Phi(stop, loop.stop, Const(False)))
    body = (
        Let(runs, Op("lt", (loop.index, domain.hi)), span),
        If(runs, loop.body, Block(()), tuple(phis), span),
    )
    even = replace(
        loop,
        domain=replace(domain, hi=longest, source=None),
        carries=tuple(carries),
        body=Block(body),
        stop=None if loop.stop is None else stop,
    )
    return Let(longest, Op(LONGEST, (domain.hi,)), span), even


def longest(context: Context, op: Op) -> Val:
    """The number of iterations of the lane that has most."""
    count = context.node(as_atom(op.args[0]))
    if not count.axes:
        return Val(count)
    if context.mask is not None and segments.axis_of_lengths(context, count) is None:
        count = nodes.select(context.mask, count, nodes.const(0), nodes.INT)
    attrs = {"axes": count.axes, "bits": 42}
    most = Node("reduce", (count,), (), nodes.INT, {**attrs, "operator": "max", "longest of": count}, "longest")
    total = Node("reduce", (count,), (), nodes.INT, {**attrs, "operator": "add", "bits": 62}, "total")
    lanes = nodes.const(1)
    for axis in count.axes:
        lanes = nodes.elementwise("mul", [lanes, axis.extent], nodes.INT)
    places = nodes.elementwise("mul", [lanes, most], nodes.INT, bits=62)
    allowed = nodes.elementwise("mul", [nodes.const(WASTE), total], nodes.INT, bits=62)
    allowed = nodes.elementwise("add", [allowed, nodes.const(FEW)], nodes.INT, bits=62)
    with context.unmasked():
        context.check(nodes.compare("le", places, allowed), f"longest{count.serial}")
    return Val(most)
