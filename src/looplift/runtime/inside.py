"""Statements that stay in; the functions of the user's that they call, lifted by themselves while that gains something.

for step in range(n):                    # stays: it trains
    loss = loss_of(model, batch)         # a loop in there is lifted
    loss.backward()
"""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Mapping
from typing import Any

import torch

from looplift.base.classes import method_of_users
from looplift.runtime.callees import Callees
from looplift.runtime.named import objects_named


class Inside:
    """The hook of calls in statements that stay: gives what is called, or its lifted form."""

    def __init__(self, callees: Callees):
        self.callees = callees
        self.asleep: set[types.FunctionType] = set()
        """Functions in which nothing is lifted any more."""

    def __call__(self, value: Any) -> Any:
        kind = type(value)
        if kind is types.FunctionType or kind is types.MethodType:
            function = value if kind is types.FunctionType else value.__func__
        else:
            function = method_of_users(kind, "__call__")
        if function is None or torch.compiler.is_dynamo_compiling():
            return self.callees(value)
        if function in self.asleep:
            return value
        found = self.callees(value)
        if found is value or not is_idle(found):
            return found
        self.asleep.add(function)
        return value

    def with_loops(self, calls: Mapping[tuple[int, int], ast.expr], values: Mapping[str, Any]) -> frozenset[Any]:
        """The places at which something with loops is called, as far as it is known beforehand."""
        return frozenset(place for place, callee in calls.items() if self._states(callee, values))

    def are_idle(self, calls: Mapping[tuple[int, int], ast.expr], values: Mapping[str, Any], asking: Any) -> bool:
        """Whether nothing is lifted in what is called; ``asking``: the dispatcher of the statements that call, which
        may be among those of a function that calls itself."""
        self.asleep.clear()  # sizes may have grown
        states = [state for callee in calls.values() for state in self._states(callee, values)]
        return all(_is_idle(state, asking=asking) for state in states)

    def _states(self, callee: ast.expr, values: Mapping[str, Any]) -> list[Any]:
        """The states of the lifted forms of functions with loops of their own that may be called."""
        found = [value for value in objects_named(callee, values) if not isinstance(value, type)]
        states = dict.fromkeys(state_of(self.callees(value)) for value in found)
        return [state for state in states if state is not None and state.dispatchers]


def state_of(found: Any) -> Any:
    """The state behind the lifted form of a function, method or module; None of anything else."""
    found = found.func if type(found) is functools.partial else found
    found = found.__func__ if type(found) is types.MethodType else found
    return found.__dict__.get("__looplift_state__") if type(found) is types.FunctionType else None


def is_idle(found: Any) -> bool:
    """Whether nothing is lifted in the lifted form of something."""
    state = state_of(found)
    return state is not None and _is_idle(state)


def _is_idle(state: Any, seen: frozenset[Any] = frozenset(), asking: Any = None) -> bool:
    """Whether nothing is lifted in a function, nor in those that it has called.

    ``asking``: the dispatcher of statements that want to know. Functions that lead back to them wait for nothing else.
    """
    seen |= {state}
    others = [inner for inner in state.callees if inner not in seen]
    leads_back = asking is not None and _leads_to(state, asking)
    idle = all(one.is_idle_itself if leads_back else one.is_idle for one in state.dispatchers)
    return idle and all(_is_idle(one, seen, asking) for one in others)


def _leads_to(state: Any, wanted: Any, seen: frozenset[Any] = frozenset()) -> bool:
    """Whether some statements are of a function, or of one that it has called."""
    pending = list(state.dispatchers)
    while pending:
        if (one := pending.pop()) is wanted:
            return True
        pending += one.children
    seen |= {state}
    return any(_leads_to(inner, wanted, seen) for inner in state.callees if inner not in seen)
