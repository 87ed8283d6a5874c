"""What ``isinstance`` says of a value in, if it goes on to say so while a variant holds."""

from __future__ import annotations

import abc
import inspect
import types
import typing
from typing import Any

from looplift.base.classes import is_of_library
from looplift.frontend import evident
from looplift.frontend.scope import Builder
from looplift.ir.grammar import Atom, Const

_HEAP_TYPE = 1 << 9


def is_of(build: Builder, value: Atom, classes: tuple[Any, ...]) -> bool | None:
    """Whether a value is of one of some classes; None where that is not known before the loop runs."""
    import torch

    every = _flat(classes)
    path = build.param_path(value)
    if path is not None:
        return any(_given_is_of(build, path, build.param_values[path], kind) for kind in every)
    if isinstance(value, Const):
        if not value.path:
            return isinstance(value.value, every)
        path = "" if value in build.strangers else value.path
        return any(_given_is_of(build, path, value.value, kind) for kind in every)
    if evident.is_tensor(build, value, carried=False) and not any(map(_is_kind_of_tensor, every)):
        return issubclass(torch.Tensor, every)
    return None


def _flat(classes: tuple[Any, ...]) -> tuple[Any, ...]:
    """The classes of unions, too."""
    found: list[Any] = []
    for one in classes:
        is_union = isinstance(one, types.UnionType) or typing.get_origin(one) is typing.Union
        found += _flat(typing.get_args(one)) if is_union else [one]
    return tuple(found)


def _given_is_of(build: Builder, path: str, value: Any, kind: Any) -> bool:
    """The class of what a region is given is guarded; a class may decide by more than what that inherits from."""
    if type(value) is kind:
        return True
    asked = getattr(type(kind), "__instancecheck__", None)
    if asked is type.__instancecheck__ and _has_own_class(value):
        if not is_of_library(type(kind).__module__):
            build.watch(type(kind), ".__instancecheck__", asked)
        return isinstance(value, kind)
    is_known = is_of_library(type(kind).__module__) and _has_own_class(value)
    if not is_known or not (path or _is_builtin(value)):
        where = f"'{path or value!r}' and {kind!r}"
        raise build.refuse("mixed-kinds", f"'isinstance' of {where} runs code of their classes; ask before the loop")
    answer = isinstance(value, kind)
    if not (_is_builtin(value) and is_of_library(kind.__module__)):  # others may be registered, or get an attribute
        build.watch(kind, f".__instancecheck__({path})", answer)
    return answer


def _has_own_class(value: Any) -> bool:
    """Whether its ``__class__`` is its class."""
    return inspect.getattr_static(type(value), "__class__") is vars(object)["__class__"]


def _is_builtin(value: Any) -> bool:
    return not type(value).__flags__ & _HEAP_TYPE


def _is_kind_of_tensor(one: Any) -> bool:
    """Whether a class holds some tensors only, or says itself which ones, as ``torch.FloatTensor`` does."""
    import torch

    if one is torch.Tensor:
        return False
    if not isinstance(one, type) or issubclass(one, torch.Tensor):
        return True
    asked = type(one).__instancecheck__
    is_plain = asked is type.__instancecheck__
    return not is_plain and not (asked is abc.ABCMeta.__instancecheck__ and is_of_library(one.__module__))
