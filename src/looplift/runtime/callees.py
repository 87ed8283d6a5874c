"""What a function calls outside of its regions in, the same or its lifted form out.

Functions, methods, constructors, objects with a ``__call__`` and modules of the user that have loops, or call such, run
as lifted functions of their own. A module runs like this only while a call of it is a call of its ``forward`` and
nothing else.
"""

from __future__ import annotations

import functools
import sysconfig
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.nn import Module

from looplift.base.classes import method_of_users
from looplift.base.hooks import GLOBAL_HOOKS, HOOKS
from looplift.runtime.traced import Numbered

_EVERYWHERE = torch.nn.modules.module.__dict__
_PLAIN_CALL = Module.__call__


class Callees:
    """``lifted`` gives the lifted form of a function, or None where nothing in it can be lifted."""

    def __init__(self, lifted: Callable[[types.FunctionType], types.FunctionType | None]):
        self._lifted = lifted
        self.traced = Numbered()
        self._known: dict[types.CodeType, tuple[types.FunctionType, types.FunctionType | None]] = {}

    def __call__(self, value: Any) -> Any:
        kind = type(value)
        if kind is types.FunctionType:
            return self._of_function(value) or value
        if kind is types.MethodType:
            function = value.__func__
            found = self._of_function(function) if type(function) is types.FunctionType else None
            return value if found is None else types.MethodType(found, value.__self__)
        if kind is type:
            return self._of_class(value) or value
        if isinstance(value, Module) and kind.__call__ is _PLAIN_CALL:
            return self._of_module(value) or value
        if (function := method_of_users(kind, "__call__")) is not None:
            found = self._of_function(function)
            return value if found is None else types.MethodType(found, value)
        return value

    def _of_function(self, function: types.FunctionType) -> types.FunctionType | None:
        if torch.compiler.is_dynamo_compiling():
            if function.__code__.co_freevars:  # it may be no object yet that could be looked up
                return None
            return None if (name := _name_of_lifted(self, function)) is None else getattr(self.traced, name)
        return self._found(function)

    def _found(self, function: types.FunctionType) -> types.FunctionType | None:
        known = self._known.get(function.__code__)
        if known is None:
            known = function, self._lifted(function) if is_users(function) else None
            self._known[function.__code__] = known
        if known[0] is not function:
            return None
        found = known[1]
        if found is not None and found.__defaults__ is not function.__defaults__:
            found.__defaults__ = function.__defaults__
        if found is not None and found.__kwdefaults__ is not function.__kwdefaults__:
            found.__kwdefaults__ = function.__kwdefaults__
        return found

    def _of_class(self, made: type) -> Callable[..., Any] | None:
        """What makes an object of a class whose ``__init__`` has loops, where nothing else makes it."""
        begin: Any = made.__init__
        if type(begin) is not types.FunctionType or made.__new__ is not object.__new__ or issubclass(made, Module):
            return None
        if torch.compiler.is_dynamo_compiling() or (found := self._found(begin)) is None:
            return None
        return functools.partial(_constructed, made, found)

    def _of_module(self, module: Module) -> Callable[..., Any] | None:
        forward = type(module).forward
        if type(module).__module__.startswith("torch."):
            if forward is not torch.nn.Sequential.forward or not any(map(self._of_module, module.children())):
                return None
            return functools.partial(self._one_after_the_other, module) if _is_plain(module) else None
        found = self._of_function(forward) if type(forward) is types.FunctionType else None
        return None if found is None or not _is_plain(module) else functools.partial(found, module)

    def _one_after_the_other(self, modules: Any, value: Any) -> Any:
        for module in modules:
            value = self(module)(value)
        return value


def _constructed(made: type, begin: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    one = object.__new__(made)
    if (found := begin(one, *args, **kwargs)) is not None:
        raise TypeError(f"__init__() should return None, not '{type(found).__name__}'")
    return one


def _name_of_lifted(callees: Callees, function: types.FunctionType) -> str | None:
    """Where ``torch.compile`` finds the lifted form of a function; run, not traced."""
    found = callees._found(function)
    return None if found is None else callees.traced.name(found)


_name_of_lifted._dynamo_marked_constant = True  # pyright: ignore[reportFunctionMemberAccess]


def _is_plain(module: Module) -> bool:
    """Whether a call of a module calls its ``forward`` and does nothing else."""
    own = vars(module)
    if "forward" in own or own.get("_compiled_call_impl") is not None or torch._C._get_tracing_state() is not None:
        return False
    return not any([own.get(name) for name in HOOKS]) and not any([_EVERYWHERE.get(name) for name in GLOBAL_HOOKS])


def is_users(function: types.FunctionType) -> bool:
    """Whether a function is neither of the standard library nor of an installed package, and no decorator's."""
    if hasattr(function, "__wrapped__") or hasattr(function, "__looplift_state__"):
        return False
    return not function.__code__.co_filename.startswith(_installed())


@functools.cache
def _installed() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    places = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")} | {str(Path(__file__).parents[1])}
    return tuple(place for place in places if place)
