"""The slopes that torch finds of what one operation takes, in every lane.

Lanes are independent: where the batched form of an operation runs once more on leaves that each lane has of its own,
the gradients of these are those of all lanes at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from looplift.base.data import replace
from looplift.ir.array import Axis, Check, Node, merge_axes, reachable
from looplift.ir.facts import Fact, kind_of, shape_of
from looplift.ir.grammar import Atom, Const, Group, Let, Op, Var, atoms, operands
from looplift.ir.slopes import Called, filled
from looplift.ops.evaluate import evaluate
from looplift.vectorize import mapped, nodes
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val


def slopes_through(context: Context, statement: Let) -> Val:
    """The slopes of the operands of an operation, of those of its results."""
    called, ends, slopes = _parts(statement.op)
    axes = _axes(context, operands(statement.op))
    creates = called.creates and (context.needs_grad or _holds_leaves(context, operands(statement.op)))
    if creates and context.mask is not None and context.mask.axes:
        raise context.refuse("gradient", f"a gradient through '{called.name}' in some iterations that has gradients")
    leaves = [Node("leaf", (node,), axes, node.kind, {"creates": creates}, "leaf") for node in map(context.node, ends)]
    made = _run_again(context, statement, leaves)
    pairs = [(result, slope) for result, slope in zip(made, slopes, strict=True) if not isinstance(slope, Const)]
    asked = _asked(context, operands(statement.op)) if creates else []
    args = (*(one for one, _ in pairs), *(context.node(one) for _, one in pairs), *leaves, *asked)
    attrs = {"results": len(pairs), "leaves": len(leaves), "creates": creates, "unbounded": True}
    fact = context.facts.of[statement.var]
    return mapped.several(Node("slopes", args, axes, fact.kind, attrs), fact)


def _parts(op: Op) -> tuple[Called, list[Var], list[Atom]]:
    called, ends, slopes = op.args[:3]
    assert isinstance(called, Const)
    return called.value, [one for one in atoms(ends) if isinstance(one, Var)], [*atoms(slopes)]


def _axes(context: Context, read: Iterable[Atom]) -> tuple[Axis, ...]:
    """Those of all that is read: each lane has its own leaves, also of what all lanes read."""
    axes = merge_axes(*(node.axes for atom in read for node in _nodes(context, atom)))
    if any(axis.is_ragged for axis in axes):
        raise context.refuse("gradient", "a gradient by torch of values of several lengths")
    return axes


def _nodes(context: Context, atom: Atom) -> list[Node]:
    val = context.val(atom)
    return [val.node] if val.items is None else [item.node for item in val.items]


def _holds_leaves(context: Context, read: Iterable[Atom]) -> bool:
    """Whether this is itself differentiated."""
    return any(one.op == "leaf" for one in reachable([node for atom in read for node in _nodes(context, atom)]))


def _asked(context: Context, read: Iterable[Atom]) -> list[Node]:
    """What may ask for a gradient of the slopes."""
    found = {node.serial: node for atom in read for node in _nodes(context, atom)}
    return [node for node in found.values() if node.kind.is_array and nodes.may_have_gradient(node.kind.dtype)]


def _run_again(context: Context, statement: Let, leaves: list[Node]) -> list[Node]:
    """The results of the operation of leaves, in all lanes, with the forms that gradients flow through."""
    import torch

    from looplift.vectorize.operations import operation

    called, ends, _ = _parts(statement.op)
    stand_ins = [Var(f"{end.hint}.leaf.{leaf.serial}") for end, leaf in zip(ends, leaves, strict=True)]
    let = Let(Var(f"again.{leaves[0].serial}"), _filled(statement.op, called, stand_ins), statement.span)
    facts, loops = context.facts.of, context.facts.of[statement.var].loops
    known = {one: replace(facts[end], loops=loops) for one, end in zip(stand_ins, ends, strict=True)}
    with _known(context, known, dict(zip(stand_ins, map(Val, leaves), strict=True))):
        with torch.no_grad():
            sample = evaluate(let.op, lambda atom: context.facts[atom].sample)
        made = Fact(kind_of(sample), loops, shape_of(sample), sample)
        with _known(context, {let.var: made}, {}), _of_all_lanes(context):
            return _results(operation(context, let), sample)


def _filled(op: Op, called: Called, stand_ins: list[Var]) -> Op:
    given = dict(zip(called.holes, stand_ins, strict=True))
    args = filled(op.args[3], given)
    assert isinstance(args, Group)
    return Op(called.name, args.items, tuple((name, filled(value, given)) for name, value in op.kwargs))


def _results(made: Val, sample: Any) -> list[Node]:
    if made.items is not None:
        return [item.node for item in made.items]
    if not isinstance(sample, tuple):
        return [made.node]
    return [
        Node("field", (made.node,), made.node.axes, kind_of(item), {"position": place})
        for place, item in enumerate(sample)
    ]


@contextmanager
def _known(context: Context, facts: dict[Var, Fact], vals: dict[Var, Val]) -> Iterator[None]:
    """Variables that only this operation has."""
    context.facts.of |= facts
    context.vals |= vals
    try:
        yield
    finally:
        for var in facts:
            del context.facts.of[var]
        for var in vals:
            del context.vals[var]


@contextmanager
def _of_all_lanes(context: Context) -> Iterator[None]:
    """Lanes that do not run are computed, too, and touch no others; what is required is of those that do."""
    needs_grad, mask = context.needs_grad, context.mask
    context.needs_grad, context.mask = True, None
    context.steps.append([])
    try:
        yield
    finally:
        context.needs_grad, context.mask = needs_grad, mask
        made = context.steps.pop()
    for step in made:
        if isinstance(step, Check):
            context.check(step.cond)
        else:
            context.add(step)
