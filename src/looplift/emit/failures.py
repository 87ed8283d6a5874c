"""An array program in, what may still go wrong in it out: after its writes, and in NumPy's arithmetic."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple

from looplift.emit.hoisted import memory_of_assigned
from looplift.ir.array import (
    Assign,
    Check,
    Effect,
    Node,
    Program,
    Run,
    Step,
    Write,
    changed_by,
    leaves_of,
    operands_of,
    parts_of,
    reachable,
)
from looplift.ops.table import base_name

SURE = frozenset((
    "along", "arange", "assemble", "attribute", "collect", "const", "copied", "count", "dense", "derived", "diagonal",
    "display", "empty_list", "extent", "field", "flattened", "full", "index", "join", "last", "length", "lengths",
    "linear", "listed", "merged", "name", "none", "owned", "part", "permuted", "place", "reshaped", "retype", "settled",
    "slice", "spread", "split", "transposed", "turned", "unbound", "unflattened", "unsqueezed", "vector", "where",
    "zipped",
))  # fmt: skip
"""Nodes that move values and compute none."""
_OF_NONE = ("add", "mul", "and", "or")
"""Reductions that have a result where there is nothing to reduce."""
CALLS = frozenset(("apply", "batched", "custom", "each", "module", "slopes", "vmapped"))
DIVISIONS = frozenset(("floordiv", "mod", "remainder", "fmod", "floor_divide", "pow", "lshift", "rshift"))


class Order(NamedTuple):
    """The steps of a program as they are printed, with checks in front of writes where they may be: those up to the
    first write into an array of the caller, what is computed ``early``, in front of that, and the steps from it on."""

    before: list[Step]
    early: list[Node]
    after: list[Step]


def in_order(program: Program, steps: list[Step], mutated: Set[str]) -> Order:
    """The order of some steps of a program that writes to the ``mutated`` arrays of the caller."""
    effects = [step for step in steps if isinstance(step, Effect)]
    steps = [step for step in _checks_before_writes(steps) if not isinstance(step, Effect)]
    first = next((k for k, step in enumerate(steps) if changed_by([step]) & mutated), None)
    if first is None:
        return Order([*steps, *effects], [], [])
    after = [*steps[first:], *effects]
    return Order(steps[:first], _before_writes(program, after), after)


def commits_early(program: Program, order: Order, mutated: Set[str]) -> bool:
    """Whether something may still fail after the first write into an array of the caller."""
    if any(isinstance(step, Run) for step in program.steps):
        return bool(mutated) and not _only_runs_at_the_end(program)
    if not order.after:
        return False
    writes = [step for step in order.after if isinstance(step, Write)]
    if len(writes) < len(order.after) or not _are_sure(writes, program.library):
        return True
    early = [*(node for step in [*order.before, writes[0]] for node in operands_of(step)), *order.early]
    sure = {node.serial for node in reachable(early)}
    return any(_may_fail(node, program) for node in reachable(_read_after(program, writes)) if node.serial not in sure)


def _are_sure(writes: list[Write], library: str) -> bool:
    """Whether writes do not fail once the first of them has begun: all places are known to be in their arrays, and what
    comes after the first is known to fit, into arrays that NumPy may not find to be read-only."""
    if library == "np" and len({write.array for write in writes}) > 1:
        return False
    return all(write.render.get("inside") for write in writes) and all(write.render["fits"] for write in writes[1:])


def _checks_before_writes(steps: list[Step]) -> list[Step]:
    """The steps, with checks in front of the writes before them that do not change what is checked."""
    memory = memory_of_assigned(steps)
    found: list[Step] = []
    for step in steps:
        place = len(found)
        if isinstance(step, Check):
            place = _place_of(step, found, memory)
        found.insert(place, step)
    return found


def _place_of(check: Check, before: list[Step], memory: dict[int, frozenset[str]]) -> int:
    """The place of a check among the steps before it: that of the first write that it may stand in front of."""
    place, read = len(before), _read(check.cond, memory)
    for k in range(len(before) - 1, -1, -1):
        if not isinstance(step := before[k], Write | Check) or changed_by([step]) & read:
            break
        place = k if isinstance(step, Write) else place
    return place


def _read(node: Node, memory: dict[int, frozenset[str]]) -> set[str]:
    """The names of arrays whose elements are read where a node is printed: also by what is computed of them and is
    asked for its size alone, as it gets a name then."""
    found: set[str] = set()
    seen: set[int] = set()
    pending = [node]
    while pending:
        one = pending.pop()
        if one.serial in seen:
            continue
        seen.add(one.serial)
        found |= memory.get(one.serial, frozenset())
        if one.op == "name" and (one.attrs.get("memory") or one.attrs.get("local")):
            found.add(one.attrs["text"])
        sizes = one.op in ("extent", "length")
        pending += [part for part in parts_of(one) if not (sizes and part.op == "name")]
    return found


def _before_writes(program: Program, after: list[Step]) -> list[Node]:
    """What is needed after the first of some writes, may fail, and can be computed before it."""
    if not all(isinstance(step, Write) for step in after):
        return []
    memory = memory_of_assigned(program.steps)
    free = [node for node in _read_after(program, after) if not _read(node, memory) & changed_by(after)]
    return [node for node in free if any(_may_fail(part, program) for part in reachable([node]))]


def _read_after(program: Program, writes: Sequence[Step]) -> list[Node]:
    """What is needed after the first of some writes."""
    results = [leaf for _, node in program.results for leaf in leaves_of(node)]
    return [node for step in writes[1:] for node in operands_of(step)] + results


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
    if program.library == "np" and _may_warn(node):
        return True
    if node.op == "elementwise":
        return not _is_float(node) and base_name(node.attrs["name"]) in DIVISIONS
    return node.op not in SURE and not (node.op == "reduce" and node.attrs["operator"] in _OF_NONE)


def _may_warn(node: Node) -> bool:
    if node.op in SURE:
        return False
    if node.op in CALLS or any(map(_is_float, (node, *node.args))):
        return True
    return node.op == "elementwise" and base_name(node.attrs["name"]) in DIVISIONS


def _is_float(node: Node) -> bool:
    word = str(node.kind.dtype or node.kind.family)
    return "float" in word or "complex" in word
