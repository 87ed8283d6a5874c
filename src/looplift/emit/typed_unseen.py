"""What classes say of their objects in, whether operators, properties and tests of these may change lists out.

total += a + b        # may append to a list that a loop reads, if the class of a has such an __add__
"""

from __future__ import annotations

import ast
import builtins
import math
import types
from collections.abc import Iterator
from typing import Any

from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.base.syntax import nodes_of
from looplift.emit.typed_classes import Record, runs_unseen
from looplift.emit.typed_scope import Routine
from looplift.emit.typed_types import NUMBERS

QUIET = frozenset(
    """abs min max len int float bool range enumerate zip reversed sum round ord chr divmod pow any all""".split()
)
"""Python's own functions that change nothing, unless what they are given has methods that do."""
LOUD = (
    ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.Try, ast.With, ast.Yield, ast.YieldFrom, ast.Await, ast.Global,
    ast.Nonlocal, ast.Import, ast.ImportFrom,
)  # fmt: skip
_CONSTRUCTORS = ("__init__", "__post_init__")


def is_quiet(function: Any) -> bool:
    """Whether a function is one of Python's own that change nothing."""
    name = getattr(function, "__name__", "")
    is_builtin = name in QUIET and getattr(builtins, name, None) is function
    return is_builtin or (callable(function) and getattr(math, name, None) is function)


@dataclass
class Unseen:
    """Of a program: its classes, and the functions that it has."""

    records: dict[type, Record]
    routines: dict[Any, Routine]
    source_of: Any
    _seen: set[Any] = field(default_factory=set)

    def may_change_lists(self) -> bool:
        """Whether something that no call shows may make a list longer or shorter."""
        functions = [one for record in self.records.values() for one in runs_unseen(record)]
        return not all(map(self._is_quiet, functions))

    def _is_quiet(self, function: types.FunctionType) -> bool:
        if function in self._seen:
            return True
        self._seen.add(function)
        try:
            tree = self.source_of(function).tree
        except NotLiftable:
            return False
        nodes = [node for statement in tree.body for node in nodes_of(statement)]
        return all(self._is_quiet_node(node, function) for node in nodes)

    def _is_quiet_node(self, node: ast.AST, function: types.FunctionType) -> bool:
        if isinstance(node, LOUD):
            return False
        if isinstance(node, ast.AugAssign):
            routine = self.routines.get(function)
            name = node.target.id if isinstance(node.target, ast.Name) else ""
            return routine is not None and routine.types.get(name) in NUMBERS
        if isinstance(node, ast.Subscript):
            return isinstance(node.ctx, ast.Load)
        if isinstance(node, ast.Attribute):
            return isinstance(node.ctx, ast.Load) or function.__name__ in _CONSTRUCTORS
        return not isinstance(node, ast.Call) or self._is_quiet_call(node, function)

    def _is_quiet_call(self, node: ast.Call, function: types.FunctionType) -> bool:
        if any(one.arg == "key" for one in node.keywords):
            return False
        callees = [*self._callees(node.func, function)]
        return bool(callees) and all(is_quiet(one) or self._is_quiet_callee(one) for one in callees)

    def _callees(self, node: ast.expr, function: types.FunctionType) -> Iterator[Any]:
        """What may be called: what a name stands for, or the methods that have one."""
        if isinstance(node, ast.Name) and node.id not in function.__code__.co_varnames:
            yield function.__globals__.get(node.id, getattr(builtins, node.id, None))
        if isinstance(node, ast.Attribute):
            value = node.value
            owner = function.__globals__.get(value.id) if isinstance(value, ast.Name) else None
            methods = [record.methods.get(node.attr) for record in self.records.values()]
            yield from [getattr(math, node.attr, None)] if owner is math else filter(None, methods)

    def _is_quiet_callee(self, callee: Any) -> bool:
        if isinstance(callee, type) and (record := self.records.get(callee)) is not None:
            makers = [record.methods[name] for name in _CONSTRUCTORS if name in record.methods]
            return all(map(self._is_quiet, makers))
        return isinstance(callee, types.FunctionType) and self._is_quiet(callee)
