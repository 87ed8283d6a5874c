"""Functions of Python's numbers whose last digit decides something: of each lane's number, by Python itself."""

from __future__ import annotations

from looplift.ir.array import Node, merge_axes
from looplift.vectorize import nodes
from looplift.vectorize.context import Context

SAFE = {"math.acosh": 1.0, "pow": 1.0}
"""Where a function is defined, for lanes that do not run; others are at one half."""


def of_each(context: Context, name: str, args: list[Node], why: str) -> Node:
    """``name`` of the numbers of each lane. Where one is outside of its domain Python raises, and the loop runs.

    ``why`` it must be exact; a kernel is faster where one is possible, so it is refused at first.
    """
    if not context.facts.function.attributes.get("by_python"):
        refusal = context.refuse("carried", f"{why}, and must be exact")
        refusal.by_python = True
        raise refusal
    if context.mask is not None:
        rest = nodes.const(SAFE.get(name, 0.5))
        args = [nodes.select(context.mask, arg, rest, nodes.FLOAT) if arg.axes else arg for arg in args]
    axes = merge_axes(*(arg.axes for arg in args))
    return Node("each", tuple(args), axes, nodes.FLOAT, {"name": name})
