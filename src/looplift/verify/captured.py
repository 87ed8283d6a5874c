"""What a function holds besides its arguments (closure, globals, the module it belongs to), put back after a run."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from looplift.base.closures import closure_of

_CONTAINERS = (list, dict, set)


def captured_by(function: Any) -> list[Any]:
    """The mutable data that a function can reach without its arguments."""
    function = plain_function(function)
    values = [function] if isinstance(function, torch.nn.Module) else []
    values += [getattr(function, "__self__", None)]
    function = getattr(function, "__func__", function)
    if isinstance(code := getattr(function, "__code__", None), type((lambda: 0).__code__)):
        values += [*closure_of(function).values(), *_globals_of(function)] if inspect.isfunction(function) else []
        values += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()] if code else []
    return [value for value in values if _is_data(value)]


def _globals_of(function: types.FunctionType) -> list[Any]:
    known = function.__globals__
    return [known[name] for name in function.__code__.co_names if name in known]


def plain_function(function: Any) -> Any:
    """The function as its author wrote it, without what decorators have put around it."""
    while (inner := getattr(function, "original", None)) is not None and callable(inner):
        function = inner
    return function


def _is_data(value: Any) -> bool:
    kinds = (torch.Tensor, np.ndarray, torch.nn.Module, torch.Generator, *_CONTAINERS)
    if isinstance(value, kinds):
        return True
    return hasattr(value, "__dict__") and not callable(value) and not inspect.ismodule(value)


class Snapshot:
    """The state of some values and of all that they hold; ``restore`` puts it back in place."""

    def __init__(self, values: list[Any]):
        self._undo: list[Callable[[], Any]] = []
        self._alive: dict[int, Any] = {}
        for value in values:
            self._take(value)

    def restore(self) -> None:
        with torch.no_grad():
            for undo in self._undo:
                undo()

    def _take(self, value: Any) -> None:
        if id(value) in self._alive:
            return
        self._alive[id(value)] = value
        match value:
            case torch.Tensor():
                self._take_tensor(value)
            case np.ndarray():
                saved = value.copy()
                self._undo.append(lambda: np.copyto(value, saved) if value.flags.writeable else None)
            case torch.Generator():
                state = value.get_state()
                self._undo.append(lambda: value.set_state(state))
            case list():
                self._take_container(value, list(value), lambda saved: value.__setitem__(slice(None), saved))
            case dict():
                items = dict(value)
                self._take_container(value, list(value.values()), lambda _: (value.clear(), value.update(items)))
            case set():
                self._take_container(value, list(value), lambda saved: (value.clear(), value.update(saved)))
            case _ if not callable(value) or isinstance(value, torch.nn.Module):
                self._take(getattr(value, "__dict__", None))

    def _take_tensor(self, value: torch.Tensor) -> None:
        saved, grad, version_free = value.detach().clone(), value.grad if value.is_leaf else None, value.is_leaf
        if grad is not None:
            grad = grad.clone()

        def undo() -> None:
            if not torch.equal(value.detach(), saved):
                value.detach().copy_(saved)
            if version_free:
                value.grad = grad

        self._undo.append(undo)

    def _take_container(self, value: Any, parts: list[Any], undo: Callable[[list[Any]], Any]) -> None:
        for part in parts:
            self._take(part)
        self._undo.append(lambda: undo(parts))
