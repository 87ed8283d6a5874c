"""A loop over a call of a generator function in, C++ out in which that function hands each result to the loop's body.

for q in neighbours(p):     auto hand = [&](I item) -> bool { bool ends = true; do {
    if q == goal: break       v_q = item; if (eq(v_q, v_goal)) break;
                            } while ((ends = false)); return ends; };
                            neighbours(v_p, hand);

So the statements of both run in turns, as Python's do, and where the loop is left the rest of the function never runs.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.base.handed import own_nodes
from looplift.emit.typed_items import Expressions
from looplift.emit.typed_scope import Routine, Value, coerced, refuse
from looplift.emit.typed_types import BOOL, NEVER, NONE, text_of
from looplift.emit.typed_variants import fitting

Step = Callable[[Value], None]
"""Writes what is done with an item."""


@dataclass
class Handing:
    """The statements that a generator function hands its results to, a function inside of the one that they stand in.

    ``way``: the variable that tells how they were left. ``exits``: of each other way than the loop's own what is done,
    and how many such functions there are around that.
    """

    way: str
    exits: list[tuple[int, str]] = field(default_factory=list)


class Generators(Expressions):
    """Calls of generator functions that are gone through at once."""

    handings: list[Handing]
    """Those around the statement that is written."""
    records: dict[type, Any]

    def __init__(self) -> None:
        super().__init__()
        self.handings = []
        self._steps: dict[int, Step] = {}
        """What is done with the results of a call, by its function."""

    def callee(self, node: ast.Call) -> Any:
        raise NotImplementedError

    def called_with(self, routine: Routine, values: dict[str, Value]) -> list[str]:
        raise NotImplementedError

    def peek(self, node: ast.expr) -> Any:
        raise NotImplementedError

    def record_at(self, value: Value) -> Any:
        raise NotImplementedError

    def hands_out(self, node: ast.expr) -> bool:
        """Whether an expression is a call of a generator function."""
        if not isinstance(node, ast.Call):
            return False
        function = self.callee(node)
        if function is None and isinstance(node.func, ast.Attribute):
            function = self._method_at(node.func)
        if isinstance(function, Routine):
            return function.hands_out
        return self.is_gone_through(function)

    def is_gone_through(self, function: Any) -> bool:
        """Whether what a function gives is gone through once: it is a generator function, or returns an iterator."""
        function = getattr(function, "__looplift_original__", function)
        if not isinstance(function, types.FunctionType) or inspect.isgeneratorfunction(function):
            return inspect.isgeneratorfunction(function)
        try:
            return is_generator(self.body_of(self.source_of(function).tree, function.__globals__))
        except NotLiftable:
            return False

    def source_of(self, function: Any) -> Any:
        raise NotImplementedError

    def body_of(self, node: ast.FunctionDef, space: Mapping[str, Any]) -> list[ast.stmt]:
        raise NotImplementedError

    def _method_at(self, node: ast.Attribute) -> Any:
        """The generator function that a method of an object of the user's is."""
        named = [one.methods.get(node.attr, one.unbound.get(node.attr)) for one in self.records.values()]
        if not any(map(self.is_gone_through, named)):
            return None
        record = self.record_at(self.present(Value(self.peek(node.value), "")))
        return None if record is None else record.methods.get(node.attr, record.unbound.get(node.attr))

    def hand_to(self, node: ast.expr, step: Step) -> None:
        """Write a call of a generator function, and what is done with each of its results."""
        assert isinstance(node, ast.Call)
        self._steps[id(node.func)] = step
        self.expression(node)
        self._steps.pop(id(node.func), None)

    def handed_out(self, routine: Routine, values: dict[str, Value], node: ast.Call) -> Value:
        """A call of a generator function, whose arguments are known: true where it did not come to its end."""
        step = self._steps.pop(id(node.func), None)
        if step is None:
            raise refuse(node, "hands out its results one by one, with 'yield', and is not gone through at once")
        routine = fitting(routine, values, self.routines)
        texts = self.called_with(routine, values)
        hand, item, ends, stopped = (self.fresh(hint) for hint in ("hand", "item", "ends", "stopped"))
        handing = Handing(self.fresh("way"))
        with self.block() as lines:
            self.handings.append(handing)
            try:
                step(Value(routine.result, item))
            finally:
                self.handings.pop()
        self.emit(f"int {handing.way} = 0;")
        if not self.handings and any(line.startswith(_RETURNED) for line in lines):
            self.emit(f"{text_of(self.routine.result)} {_RETURNED}{{}};")
        self.emit(f"auto {hand} = [&]({text_of(routine.result)} {item}) -> bool {{")
        self.lines += [f"bool {ends} = true;", "do {", *lines, f"}} while (({ends} = false));", f"return {ends};", "};"]
        self.emit(f"const bool {stopped} = {routine.name}({', '.join([*texts, hand])});")
        for place, (depth, text) in enumerate(handing.exits, 1):
            self.emit(f"if ({handing.way} == {place}) {{ {self.leaving(depth, text)} }}")
        return Value(BOOL, stopped)

    routines: dict[Any, Routine]

    # ------------------------------------------------------------ leaving the statements that results are handed to

    def leaving(self, depth: int, text: str) -> str:
        """What leaves the statements that are written, for ``text`` to be done with ``depth`` functions around it."""
        if len(self.handings) == depth:
            return text
        handing = self.handings[-1]
        handing.exits.append((depth, text))
        return f"{handing.way} = {len(handing.exits)}; return true;"

    def leave_routine(self, code: str) -> None:
        """Return a value from the function that is written."""
        if not self.handings or self.routine.hands_out:
            self.emit(self.leaving(0, f"return {code};"))
            return
        self.emit(f"{_RETURNED} = {code};")
        self.emit(self.leaving(0, f"return {_RETURNED};"))

    # ------------------------------------------------------------ inside of a generator function

    def do_yield(self, node: ast.Yield | ast.YieldFrom) -> None:
        if isinstance(node, ast.YieldFrom):
            self.for_each(node.value, self._hand_out)
        else:
            self._hand_out(self.expression(node.value) if node.value is not None else Value(NONE, "None_()"))

    def for_each(self, source: ast.expr, step: Step) -> None:
        raise NotImplementedError

    def _hand_out(self, value: Value) -> None:
        code = coerced(value, self.widen_result(value))
        self.emit(f"if (hand_out({code})) {{ {self.leaving(0, 'return true;')} }}")

    def widen_result(self, value: Value) -> Any:
        """The type of what a function gives, which may be this, too."""
        routine = self.routine
        joined = self.joins.join(routine.result, value.type)
        if joined is not routine.result and _text_or_never(joined) != _text_or_never(routine.result):
            self.joins.changes += 1
        routine.result = joined
        return joined


_RETURNED = "returned"
"""The variable of what is returned from inside of a loop."""


def _text_or_never(type_: Any) -> str:
    return "" if type_ is NEVER else text_of(type_)


def is_generator(body: list[ast.stmt]) -> bool:
    """Whether statements of a function hand out its results, not those of functions inside."""
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for statement in body for node in own_nodes(statement))
