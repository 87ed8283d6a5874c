"""Array programs in; their loops that stay, with carried values computed into memory that is free, out.

    for _ in range(n):                      buffer = None
        x = x * x                           for _ in range(n):
                                                x = buffer = torch.mul(x, x, out=buffer)

The first step makes new memory, for what ``x`` was before belongs to someone else. From then on nobody can see the
old value once the new one is computed, and the shape stays as it is: it is that of ``x`` and of what does not change.
"""

from __future__ import annotations

from collections.abc import Iterable

from looplift.ir.array import (
    Assign,
    Choose,
    Effect,
    For,
    Forever,
    Node,
    Program,
    Push,
    Run,
    Step,
    Write,
    operands_of,
    reachable,
)
from looplift.ops import table

_TORCH = """add sub mul truediv pow neg sin cos tan exp log sqrt tanh sigmoid abs square reciprocal rsqrt floor ceil
sign erf exp2 expm1 log1p log2 log10 atan asin acos sinh cosh maximum minimum atan2""".split()
_NUMPY = "add sub mul truediv neg sin cos tan exp log sqrt tanh abs floor ceil expm1 log1p maximum minimum".split()
_SPELLED = {"truediv": "div"}
_NUMPY_SPELLED = {"sub": "subtract", "mul": "multiply", "truediv": "true_divide", "neg": "negative"}


def reuse_memory(program: Program) -> bool:
    """Mark the assignments that may compute into old memory; whether there are any."""
    return program.overwrites and any([_mark(step, program.library) for step in _loops(program.steps)])


def _loops(steps: Iterable[Step]) -> Iterable[For]:
    for step in steps:
        if isinstance(step, For):
            yield step
        if isinstance(step, For | Forever):
            yield from _loops(step.body)


def _mark(loop: For, library: str) -> bool:
    last = loop.body[-1] if loop.body else None
    if not isinstance(last, Assign) or last.memory:
        return False
    if last.node.op == "owned" and last.node.attrs.get("carried"):
        (last.node,) = last.node.args
    last.function = _function(last.node, library)
    if not last.function or not _is_of_old_value(last, loop) or any(_keeps(step, last) for step in _every(loop.body)):
        last.function = ""
    return bool(last.function)


def _function(node: Node, library: str) -> str:
    """The function of the library that does an element-wise operation into given memory; empty if there is none."""
    if not _is_elementwise(node) or not node.kind.is_array or not node.rank or node.attrs.get("kwargs"):
        return ""
    first, name = node.args[0], node.attrs["name"].rpartition(".")[2]
    if not first.kind.is_array and not first.axes:
        return ""
    if library == "np":
        return f"np.{_NUMPY_SPELLED.get(name, name)}" if name in _NUMPY else ""
    return f"torch.{_SPELLED.get(name, name)}" if name in _TORCH else ""


def _is_elementwise(node: Node) -> bool:
    if node.op not in ("elementwise", "apply") or node.attrs["name"].startswith("inplace."):
        return False
    return node.op == "elementwise" or table.family(node.attrs["name"]) == "elementwise"


def _is_of_old_value(last: Assign, loop: For) -> bool:
    """Whether the value is made, element by element, of the one before it and of what the loop does not change."""
    changed = {loop.name, *_changed(loop.body)}
    found, pending = False, [last.node]
    while pending:
        node = pending.pop()
        if node.op == "name" and node.attrs["text"] == last.name:
            if node.axes != last.node.axes or node.kind != last.node.kind:
                return False
            found = True
        elif _is_elementwise(node):
            pending += node.args
        elif (node.kind.is_array or node.axes) and (_reads(node) & changed or _is_drawn(node)):
            return False
    return found


def _is_drawn(node: Node) -> bool:
    return any(inner.op == "drawn" for inner in reachable([node]))


def _keeps(step: Step, last: Assign) -> bool:
    """Whether after a step the old value may be known under another name, or be changed in place."""
    if step is last:
        return False
    if isinstance(step, Effect | Run | Forever | Push | Choose):
        return True
    if isinstance(step, Write) and step.array == last.name:
        return True
    if not isinstance(step, For) and last.node in reachable(operands_of(step)):
        return True
    return isinstance(step, Assign) and (step.name == last.name or last.name in _reads(step.node))


def _every(steps: Iterable[Step]) -> Iterable[Step]:
    for step in steps:
        yield step
        if isinstance(step, For | Forever):
            yield from _every(step.body)


def _changed(steps: Iterable[Step]) -> set[str]:
    names: set[str] = set()
    for step in _every(steps):
        if isinstance(step, Assign):
            names.update(step.name.split(","))
        elif isinstance(step, Write):
            names.add(step.array)
        elif isinstance(step, For):
            names.add(step.name)
    return names


def _reads(node: Node) -> set[str]:
    return {inner.attrs["text"] for inner in reachable([node]) if inner.op == "name"}
