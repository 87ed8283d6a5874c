"""Rewrites the values of an array program: equal ones become one, and rules of algebra apply.

A rule takes a node whose operands are rewritten already and returns a cheaper node, or None where it does not apply.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from looplift.base.data import replace
from looplift.ir.array import (
    Assign,
    Axis,
    Check,
    Choose,
    Effect,
    For,
    Forever,
    LeaveUnless,
    Node,
    Program,
    Push,
    Run,
    Step,
    Write,
    attributes_with,
    leaves_of,
    nodes_of,
    reachable,
)
from looplift.optimize import diagonals, in_place, picked, reuse
from looplift.optimize.algebra import RULES
from looplift.optimize.keys import BoundKeys, key_of_node
from looplift.optimize.times import Times

Rewrite = Callable[[Node], Node | None]

READS = frozenset(("slice", "stencil", "tiles", "gather", "permuted"))
"""What picks elements of an array, and may put zeros around them."""


def simplify(program: Program) -> Program:
    """The same program with equal values computed once, and the rules of algebra applied."""
    if _has_lists(program) and (lanes := picked.as_lanes(program)) is not None:
        program = _rewritten(program, (lanes.rewritten,))
        program.steps[:0] = lanes.finite_checks()
    made = _rewritten(program, tuple(rule.rewrite for rule in RULES))
    kinds = {node.op for node in nodes_of(made)}
    if kinds & {"permuted", "assemble"} and in_place.has_moved(made):
        made = _rewritten(made, (in_place.stays(made),))
    if kinds >= {"where", "index"} and diagonals.has_diagonals(made):
        made = _rewritten(made, (diagonals.on_diagonal,))
    if made.overwrites and made.has_loops():
        reuse.reuse_memory(made)
    return made


def _has_lists(program: Program) -> bool:
    """Whether there are entries of lists that dense loops fill."""
    axes = {axis for node in nodes_of(program) for axis in node.axes if axis.is_ragged}
    return any(axis.members is not None and axis.members.op == "collect" for axis in axes)


def _rewritten(program: Program, rules: tuple[Rewrite, ...]) -> Program:
    leaves = [leaf for _, node in program.results for leaf in leaves_of(node)]
    views = {
        leaf.serial for leaf, memory in zip(leaves, program.memory, strict=False)
        if memory is None and leaf.kind.is_array
    }  # fmt: skip
    rewriter = _Rewriter(rules, _written(program.steps), views, Times(program.steps))
    steps = rewriter.steps(program.steps)
    results = [(name, rewriter.node(node)) for name, node in program.results]
    return replace(program, steps=steps, results=results)


def _written(steps: list[Step]) -> set[int]:
    """The serials of arrays that steps write to, and of what these are made of."""
    found: set[int] = set()
    for step in steps:
        match step:
            case Write(node=node) | Assign(node=node, memory=True):
                found.update(one.serial for one in reachable([node]))
            case Run(operands=operands):
                found.update(one.serial for one in reachable([*operands]))
            case Choose(then=then, orelse=orelse):
                found |= _written(then) | _written(orelse)
            case For(body=body) | Forever(body=body):
                found |= _written(body)
    return found


class _Rewriter:
    """``views``: results of the caller's memory, of which two are two objects also where they show one place."""

    def __init__(self, rules: tuple[Rewrite, ...], written: set[int], views: set[int], times: Times) -> None:
        self.rules, self.written, self.views, self.times = rules, written, views, times
        self.done: dict[int, Node] = {}
        self.known: dict[Any, Node] = {}
        self.bound = BoundKeys(self.node)
        self.volatile: dict[int, bool] = {}
        self.axes: set[Axis] = set()
        self.checked: set[Any] = set()
        self.sure: set[int] = set()
        """What was checked in every run."""
        self.depth = 0

    def node(self, node: Node) -> Node:
        pending = [node]
        while pending:
            current = pending[-1]
            missing = [arg for arg in current.args if arg.serial not in self.done]
            if missing:
                pending += missing
                continue
            pending.pop()
            if current.serial not in self.done:
                for axis in current.axes:
                    self._axis(axis)
                self.done[current.serial] = self._rewritten(current)
        return self.done[node.serial]

    def _axis(self, axis: Axis) -> None:
        """What a ragged axis is made of is rewritten as well, once."""
        if axis.is_ragged and axis not in self.axes:
            self.axes.add(axis)
            axis.lengths = None if axis.lengths is None else self.node(axis.lengths)
            axis.members = None if axis.members is None else self.node(axis.members)
            axis.extent = self.node(axis.extent)

    def _rewritten(self, node: Node) -> Node:
        args = tuple(self.done[arg.serial] for arg in node.args)
        made = node
        if any(a is not b for a, b in zip(args, node.args, strict=True)):
            made = _with_args(node, args, attributes_with(node.attrs, self.done))
        for rewrite in self.rules:
            if (better := rewrite(made)) is not None and self.times.put_in_place(made, better):
                made = _with_args(better, tuple(map(self.node, better.args)))
        if made.op == "where" and made.args[0].serial in self.sure and self._is_in_place(made, made.args[1]):
            return made.args[1]
        return self._shared(made)

    def _is_in_place(self, choice: Node, value: Node) -> bool:
        """Whether a value that is chosen everywhere is the choice: no lanes and no type come of the others."""
        return value.axes == choice.axes and value.kind == choice.kind and self.times.put_in_place(choice, value)

    def _shared(self, node: Node) -> Node:
        """An equal node that exists already, unless its value may change between the two."""
        if self._is_volatile(node) or _is_new(node) or (node.op == "name" and node.attrs.get("local")):
            return node
        if node.serial in self.views:
            return node
        try:
            return self.known.setdefault(self.bound.key_of(node) or key_of_node(node), node)
        except TypeError:
            return node

    def _is_volatile(self, node: Node) -> bool:
        if node.serial not in self.volatile:
            own = node.op in ("drawn", "empty_list", "flattened", "dense") or (node.op == "name" and _changes(node))
            own = own or (_is_new(node) and node.serial in self.written)
            self.volatile[node.serial] = bool(own) or any(map(self._is_volatile, node.args))
        return self.volatile[node.serial]

    def steps(self, steps: list[Step]) -> list[Step]:
        """The steps of a block, rewritten, without the checks that hold already where it begins or since then."""
        before = set(self.checked)
        kept = []
        self.depth += 1
        for step in steps:
            self._step(step)
            if not (isinstance(step, Check) and self._holds(step.cond)):
                kept.append(step)
        self.checked = before
        self.depth -= 1
        steps[:] = kept
        return steps

    def _holds(self, cond: Node) -> bool:
        """Whether a condition was checked before, and is the same value still; from now on it was."""
        if self._is_volatile(cond):
            return False
        known = cond.serial in self.checked
        self.checked.add(cond.serial)
        if self.depth == 1 and not cond.axes and cond.kind.family == "bool":
            self.sure.add(cond.serial)
        finite = cond.op in ("finite", "keeps_products") and self._is_finite(cond.args[0])
        return known or (cond.op == "finite" and finite)

    def _is_finite(self, value: Node) -> bool:
        """Whether a value is read from an array that was seen to be finite; remembers the array that it is."""
        whole = value
        while whole.op in READS or _is_value_or_number(whole):
            whole = whole.args[whole.op == "where"]
        given = whole.op == "name" and not whole.attrs.get("local")
        key = ("finite", whole.attrs["text"] if given else whole.serial)
        if key in self.checked:
            return True
        if whole is value:
            self.checked.add(key)
        return False

    def _step(self, step: Step) -> None:
        match step:
            case Check() | LeaveUnless():
                step.cond = self.node(step.cond)
            case Write():
                step.operands = tuple(map(self.node, step.operands))
                step.render = attributes_with(step.render or {}, self.done)
            case Choose():
                step.cond = self.node(step.cond)
                self.steps(step.then)
                self.steps(step.orelse)
            case Assign() | Push():
                step.node = self.node(step.node)
            case Run() | Effect():
                step.operands = tuple(map(self.node, step.operands))
            case For():
                lo, hi, stride = map(self.node, step.bounds)
                step.bounds = (lo, hi, stride)
                self.steps(step.body)
            case Forever():
                self.steps(step.body)


def _is_new(node: Node) -> bool:
    """Whether a value is an array with memory of its own: two of them are not one."""
    return node.op == "apply" and node.kind.is_array


def _is_value_or_number(node: Node) -> bool:
    """Whether a value is another one where a mask holds, and elsewhere a finite number."""
    if node.op != "where" or node.args[2].op != "const":
        return False
    return math.isfinite(node.args[2].attrs["value"])


def _changes(name: Node) -> bool:
    """Whether one node of a name stands for several values; that of a carried number stands for one of each step.

    What counts the steps of a loop is read in it alone, where it is one number.
    """
    number = not (name.kind.is_array or name.axes or name.attrs.get("counts"))
    return bool(name.attrs.get("memory") or (name.attrs.get("local") and number))


def _with_args(node: Node, args: tuple[Node, ...], attrs: dict[str, Any] | None = None) -> Node:
    """The node on other operands; it keeps its place in the order of creation, and the time at which it reads."""
    return Node(
        node.op, args, node.axes, node.kind, node.attrs if attrs is None else attrs, node.hint, node.serial, node.born
    )
