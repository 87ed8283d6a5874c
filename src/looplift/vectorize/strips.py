"""Loops over pieces of other loops: the numbers that bound a piece, and what is checked of all pieces at once.

for start in range(lo, hi, step):
    stop = min(start + step, hi)        # lo <= start, stop <= hi: who needs them needs it of lo and hi
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from looplift.ir.array import Assign, Node
from looplift.ir.grammar import STEP, STOP, Let, Loop, Op, Range, as_atom, constant
from looplift.vectorize import nodes
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val


def bound(context: Context, statement: Let) -> Val | None:
    """The number of iterations of a piece, and where a piece ends; None for any other statement."""
    op, hint = statement.op, statement.var.hint
    if op.name == STEP:
        return Val(Node("derived", (), (), nodes.INT, {"text": constant(op.args[0]), "bits": 62}, hint))
    if op.name == STOP:
        return Val(_stop(context, op, hint))
    return None


def _stop(context: Context, op: Op, hint: str) -> Node:
    start, step, end, stride = map(as_atom, op.args)
    last, up = context.node(end), constant(stride) > 0
    reach = nodes.elementwise("add", [context.node(start), context.node(step)], nodes.INT, bits=62)
    attrs = {"name": "builtin.min" if up else "builtin.max", "kwargs": [], "positional": 2}
    name = context.fresh_name(hint)
    context.add(Assign(name, Node("apply", (reach, last), (), nodes.INT, attrs)))
    bounds = {"most" if up else "least": last}
    return Node("name", (), (), nodes.INT, {"text": name, "bits": 62, "local": True, **bounds}, name)


@contextmanager
def pieces(context: Context, loop: Loop, index: Node, first: Node) -> Iterator[None]:
    """The body of a loop that may be one over pieces: none of them begins before the range does."""
    piece = context.strips.get(loop)
    if piece is None:
        yield
        return
    assert isinstance(piece.domain, Range)
    index.attrs["least" if constant(piece.domain.step) > 0 else "most"] = first
    context.before_pieces.append(len(context.steps))
    yield
    context.before_pieces.pop()
