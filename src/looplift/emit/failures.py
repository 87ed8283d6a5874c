"""An array program in, what may still go wrong in it out: after its writes, and in NumPy's arithmetic."""

from __future__ import annotations

from looplift.ir.array import Assign, Check, Node, Program, Run, Write, changed_by, operands_of, reachable
from looplift.ops.table import base_name

SURE = frozenset((
    "along", "arange", "assemble", "attribute", "collect", "const", "copied", "count", "dense", "derived", "diagonal",
    "display", "empty_list", "extent", "field", "flattened", "full", "index", "join", "last", "length", "lengths",
    "linear", "listed", "merged", "name", "none", "owned", "part", "permuted", "place", "reshaped", "retype", "settled",
    "slice", "spread", "split", "transposed", "turned", "unbound", "unflattened", "unsqueezed", "vector", "where",
    "zipped",
))  # fmt: skip
"""Nodes that move values and compute none."""
CALLS = frozenset(("apply", "batched", "custom", "each", "module", "vmapped"))
DIVISIONS = frozenset(("floordiv", "mod", "remainder", "fmod", "floor_divide", "pow", "lshift", "rshift"))


def commits_early(program: Program, mutated: set[str]) -> bool:
    """Whether something may still fail after the first write into an array of the caller."""
    if any(isinstance(step, Run) for step in program.steps):
        return bool(mutated) and not _only_runs_at_the_end(program)
    writing = [k for k, step in enumerate(program.steps) if changed_by([step]) & mutated]
    last = program.steps[-1] if program.steps else None
    plain = isinstance(last, Write) and last.mode == "set"
    if not writing:
        return False
    results = reachable([node for _, node in program.results])
    return writing[0] < len(program.steps) - 1 or not plain or any(_may_fail(node, program) for node in results)


def _only_runs_at_the_end(program: Program) -> bool:
    """Whether a kernel is all that writes, and nothing can fail after it: a kernel that fails has written nothing."""
    *before, last = program.steps
    results = reachable([node for _, node in program.results])
    is_plain = isinstance(last, Run) and not last.gradients and all(isinstance(s, Assign | Check) for s in before)
    return is_plain and not any(_may_fail(node, program) for node in results)


def may_warn(program: Program) -> bool:
    """Whether NumPy may warn: of operations on floats, and of divisions."""
    if program.library != "np":
        return False
    every = [node for step in program.steps for node in operands_of(step)] + [node for _, node in program.results]
    return any(_may_warn(node) for node in reachable(every))


def _may_fail(node: Node, program: Program) -> bool:
    """Whether a computation may raise for some values of the kinds that it was made for."""
    if node.op in CALLS:
        return True
    if program.library == "np":
        return _may_warn(node)
    return node.op == "elementwise" and not _is_float(node) and base_name(node.attrs["name"]) in DIVISIONS


def _may_warn(node: Node) -> bool:
    if node.op in SURE:
        return False
    if node.op in CALLS or any(map(_is_float, (node, *node.args))):
        return True
    return node.op == "elementwise" and base_name(node.attrs["name"]) in DIVISIONS


def _is_float(node: Node) -> bool:
    word = str(node.kind.dtype or node.kind.family)
    return "float" in word or "complex" in word
