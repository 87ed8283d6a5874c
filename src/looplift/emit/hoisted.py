"""The steps of a loop that stays in, what none of them changes under names in front of it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from looplift.base.data import replace
from looplift.emit.contractions import turn_matrices
from looplift.emit.subscripts import keep_places
from looplift.emit.text import TRIVIAL, name_numbers
from looplift.ir.array import (
    Assign,
    Check,
    Choose,
    For,
    Forever,
    Node,
    Step,
    axis_nodes,
    changed_by,
    every_step,
    parts_of,
    reachable,
)
from looplift.ir.facts import Kind
from looplift.ops import table

if TYPE_CHECKING:
    from looplift.emit.source import Printer


BOOL = Kind("bool")


def hoist(p: Printer, steps: list[Step], inner: list[Node], changed: set[str]) -> None:
    """Names for what steps read and do not change; arrays that a step writes to are new in each."""
    written = {step.node.serial for step in every_step(steps) if isinstance(step, Assign) and step.memory}
    cache = dict(p.memory)
    nodes = reachable(inner)
    varying = _varying(nodes, changed, cache)
    used_by_varying = {arg.serial for node in nodes if node.serial in varying for arg in node.args}
    used_by_varying |= {node.serial for node in inner}
    for node in reversed(nodes):
        if node.op in TRIVIAL and node.serial in used_by_varying:
            used_by_varying |= {arg.serial for arg in node.args}
    factors = {arg.serial for node in nodes if _multiplies(node) for arg in node.args}
    for node in nodes:
        if node.serial in varying or node.serial not in used_by_varying or node.serial in p.names:
            continue
        if node.op in TRIVIAL or not (node.kind.is_array or node.axes) or node.op in ("display", "apply", "owned"):
            continue
        if node.serial in written:
            continue
        if node.op == "slice" and not node.axes and node.serial not in factors:
            continue
        p.bind(node)
    turn_matrices(p, nodes, varying)
    keep_places(p, nodes, varying)
    for node in nodes:
        if node.op == "where" and node.serial in varying and node.serial not in p.names:
            name_numbers(p, node)
    for node in _printed_inside(nodes, varying):
        for axis in node.axes:
            if axis.is_ragged and not any(part.serial in varying for part in axis_nodes(axis)):
                p.entries(axis, axis.parents[0])


def _printed_inside(nodes: list[Node], varying: set[int]) -> list[Node]:
    """What steps change, and what that is made of."""
    operands = {arg.serial for node in nodes if node.serial in varying for arg in node.args}
    return [node for node in nodes if node.serial in varying or node.serial in operands]


def _varying(nodes: list[Node], changed: set[str], cache: dict[int, frozenset[str]]) -> set[int]:
    varying = {node.serial for node in nodes if memory_of(node, cache) & changed}
    return varying | _measuring(nodes, varying)


def checks_first(p: Printer, steps: list[Step]) -> list[Step]:
    """The steps, with what loops check in front of them where it is the same in each step: no loop goes on without.

    What only lanes that run need is asked of all of them in front; where it holds for all, no step asks again.
    """
    return _checks_first(p, steps, memory_of_assigned(steps))


def memory_of_assigned(steps: list[Step]) -> dict[int, frozenset[str]]:
    """The names of the arrays that steps make."""
    named = [step for step in every_step(steps) if isinstance(step, Assign) and step.memory]
    return {step.node.serial: frozenset((step.name,)) for step in named}


def _checks_first(p: Printer, steps: list[Step], memory: dict[int, frozenset[str]]) -> list[Step]:
    done: list[Step] = []
    for step in steps:
        if not isinstance(step, For | Forever):
            done.append(step)
            continue
        body = _checks_first(p, step.body, memory)
        checks = [inside for inside in body if isinstance(inside, Check)]
        nodes = reachable([check.cond for check in checks])
        changed = changed_by(body) | ({step.name} if isinstance(step, For) else set())
        varying = _varying(nodes, changed, dict(memory))
        drawn = any(node.op == "drawn" for node in nodes)
        first = [] if drawn else [check for check in checks if check.cond.serial not in varying]
        done += first
        rest = [inside for inside in body if inside not in first]
        for place, inside in enumerate(rest):
            if isinstance(inside, Check) and (sure := _of_all_lanes(inside, varying)) is not None:
                flag = p.fresh("holds")
                done.append(Assign(flag, sure))
                known = Node("name", (), (), BOOL, {"text": flag, "local": True}, flag)
                rest[place] = Choose(_negated(known), [inside], [])
        done.append(replace(step, body=rest))
    return done


def _of_all_lanes(check: Check, varying: set[int]) -> Node | None:
    """Whether the part of a condition that no step changes, and is enough, holds for all lanes; None if it has none."""
    cond = check.cond
    either = cond.op == "elementwise" and cond.attrs["name"] == "or_" and len(cond.args) == 2 and bool(cond.axes)
    same = [part for part in cond.args if part.serial not in varying and part.axes] if either else []
    if len(same) != 1:
        return None
    return _negated(Node("some", (_negated(same[0]),), (), BOOL))


def _negated(node: Node) -> Node:
    return Node("elementwise", (node,), node.axes, node.kind, {"name": "not"})


def _multiplies(node: Node) -> bool:
    if node.op in ("elementwise", "apply"):
        return table.base_name(node.attrs["name"]) in ("matmul", "mm", "mv", "linear", "bmm", "addmm")
    return node.op in ("matmul", "leading")


def _measuring(nodes: list[Node], varying: set[int]) -> set[int]:
    """What asks for the size of something that a loop changes, which does not exist before it."""
    found: set[int] = set()
    grown = True
    while grown:
        more = {n.serial for n in nodes for part in parts_of(n) if part.serial in found or part.serial in varying}
        grown = not more <= found | varying
        found |= more - varying
    return found


def memory_of(node: Node, cache: dict[int, frozenset[str]]) -> frozenset[str]:
    """The names of written arrays that the node reads."""
    pending = [node]
    while pending:
        current = pending[-1]
        if current.serial in cache:
            pending.pop()
            continue
        parts = parts_of(current)
        missing = [arg for arg in parts if arg.serial not in cache]
        if missing:
            pending += missing
            continue
        own = (
            frozenset([current.attrs["text"]]) if current.op == "name" and current.attrs.get("memory") else frozenset()
        )
        if current.op == "name" and current.attrs.get("local"):
            own = own | {current.attrs["text"]}
        if current.op in ("extent", "length"):
            cache[current.serial] = frozenset()
        else:
            cache[current.serial] = own.union(*(cache[arg.serial] for arg in parts))
        pending.pop()
    return cache[node.serial]
