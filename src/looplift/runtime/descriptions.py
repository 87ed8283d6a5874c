"""Objects in; texts out that are the same in another process for objects which do the same there.

In a process a function, a class or a code is known by what it is. From one process to the next it is known by what it
holds: its instructions, lines and constants, its defaults, what it closes over, and the globals that it reads.
"""

from __future__ import annotations

import enum
import hashlib
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from looplift.runtime.contents import ABOUT_A_CLASS, names_in
from looplift.runtime.guards import Writer

PLAIN = (int, float, complex, bool, str, bytes, type(None), type(...), type(NotImplemented))
_BY_TEXT = (torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size, np.dtype, range, slice)
_OF_LIBRARIES = frozenset(
    """torch numpy math cmath itertools functools operator random builtins collections looplift types typing abc enum
    heapq bisect copy string time dataclasses statistics""".split()
)
_BUILTIN = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, type(np.argmin))
_METHODS = (staticmethod, classmethod)
_CONTAINERS = (tuple, list, dict, set, frozenset)
_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)
_WITHOUT_A_MEANING = ABOUT_A_CLASS | {
    "_abc_impl", "__abstractmethods__", "__dataclass_fields__", "__dataclass_params__", "__orig_bases__",
    "__parameters__", "__annotate_func__",
}  # fmt: skip

_OF_CODES = (
    "co_name", "co_filename", "co_firstlineno", "co_flags", "co_argcount", "co_kwonlyargcount", "co_posonlyargcount",
    "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_code", "co_linetable", "co_exceptiontable",
)  # fmt: skip


MOST = 1000
"""So many objects that one leads to are looked at."""
LONGEST = 2**16
SHORT = 100
"""Longer texts than this, in characters, are told by a digest; none longer than the former is read."""


class Unknown(Exception):
    """An object that can only be known by what it is."""


def is_of_library(value: Any) -> bool:
    """Whether a class, function or module says that it is one of a library's."""
    if isinstance(value, types.FunctionType):  # a decorator may have given it another's name
        name = value.__globals__.get("__name__")
    elif isinstance(value, types.ModuleType):
        name = value.__name__
    else:
        name = getattr(value, "__module__", None) or "builtins"
    return str(name).partition(".")[0] in _OF_LIBRARIES


class Describer:
    """Describes objects, each once; ``owners`` holds the functions that were described, by their codes."""

    def __init__(self) -> None:
        self.known: dict[int, str] = {}
        self.held: list[Any] = []
        self.count = 0
        self.owners: dict[int, types.FunctionType] = {}

    def text(self, value: Any) -> str:
        """Raises Unknown."""
        if isinstance(value, PLAIN) and type(value) in PLAIN:
            if isinstance(value, (str, bytes)) and len(value) > LONGEST:
                raise Unknown("a long text")
            return f"{type(value).__name__} {value!r}"
        if (found := self.known.get(id(value))) is not None:
            return found
        self.held.append(value)
        self.count += len(value) if isinstance(value, _CONTAINERS) else 1
        if self.count > MOST:
            raise Unknown("it leads to too much")
        self.known[id(value)] = f"within {getattr(value, '__qualname__', type(value).__name__)}"
        try:
            found = self._text(value)
        except Unknown:
            del self.known[id(value)]
            raise
        if len(found) > SHORT:  # it may be mentioned many times
            found = f"{found[:SHORT]} {hashlib.sha256(found.encode()).hexdigest()}"
        self.known[id(value)] = found
        return found

    def _text(self, value: Any) -> str:
        if isinstance(value, types.ModuleType):
            return self._of_module(value)
        if isinstance(value, types.CodeType):
            return self._of_code(value)
        if isinstance(value, types.FunctionType):
            return self._of_function(value)
        if isinstance(value, _BUILTIN):
            return self._of_builtin(value)
        if isinstance(value, type):
            return self._of_class(value)
        if isinstance(value, (np.ufunc, *_BY_TEXT)):
            return f"{type(value).__qualname__} {value!r}"
        if isinstance(value, enum.Enum):
            return f"{self.text(type(value))}.{value.name} {self.text(value.value)}"
        if type(value) in _CONTAINERS:
            return self._of_items(value)
        return self._of_wrapper(value)

    def _of_module(self, value: types.ModuleType) -> str:
        if not is_of_library(value):
            raise Unknown(value.__name__)
        return f"module {value.__name__}"

    def _of_items(self, value: Any) -> str:
        if isinstance(value, dict):
            if value is torch.nn.modules.module.__dict__:
                return "what all modules share"
            texts = [f"{self.text(key)}: {self.text(item)}" for key, item in value.items()]
        else:
            texts = [self.text(item) for item in value]
        ordered = texts if isinstance(value, (tuple, list, dict)) else sorted(texts)
        return f"{type(value).__name__} [{', '.join(ordered)}]"

    def _of_wrapper(self, value: Any) -> str:
        """What holds functions: bound methods, properties, static methods, cells."""
        if isinstance(value, types.MethodType):
            return f"method {self.text(value.__func__)} of {self.text(value.__self__)}"
        if isinstance(value, property):
            return f"property {self.text((value.fget, value.fset, value.fdel))}"
        if isinstance(value, _METHODS):
            return f"{type(value).__name__} {self.text(value.__func__)}"
        if isinstance(value, types.CellType):
            return f"cell {self.text(value.cell_contents) if value != types.CellType() else 'without a value'}"
        raise Unknown(type(value).__qualname__)

    # ------------------------------------------------------------ functions

    def _of_builtin(self, value: Any) -> str:
        owner = getattr(value, "__self__", None)
        if owner is not None and not isinstance(owner, (types.ModuleType, type)):
            raise Unknown(value.__name__)
        home = getattr(value, "__module__", None) or getattr(value, "__objclass__", None)
        return f"built in: {home} {value.__qualname__}"

    def _of_function(self, value: types.FunctionType) -> str:
        state = getattr(value, "__looplift_state__", None)
        if state is not None and value in state.faces:
            value = state.original
        self.owners[id(value.__code__)] = value
        name = f"function {value.__module__} {value.__qualname__} {self.text(value.__code__)}"
        if is_of_library(value):
            return name
        parts = [self.text(part) for part in (value.__defaults__, value.__kwdefaults__)]
        parts += [self.text(cell) for cell in value.__closure__ or ()]
        parts += [f"{name}: {self.text(found)}" for name, found in globals_of(value)]
        return "; ".join([name, *parts])

    def _of_code(self, code: types.CodeType) -> str:
        parts = [getattr(code, name) for name in _OF_CODES]
        texts = [*map(repr, parts), *map(self.text, code.co_consts)]
        return f"code {hashlib.sha256('; '.join(texts).encode()).hexdigest()}"

    # ------------------------------------------------------------ classes

    def _of_class(self, value: type) -> str:
        name = f"class {value.__module__} {value.__qualname__}"
        if is_of_library(value):
            return name
        texts = [self.text(base) for base in value.__bases__]
        for attribute, held in vars(value).items():
            if attribute not in _WITHOUT_A_MEANING and not isinstance(held, _SLOTS):
                texts.append(f"{attribute}: {self._of_attribute(held)}")
        return "; ".join([name, *texts])

    def _of_attribute(self, held: Any) -> str:
        if type(held).__name__ == "_tuplegetter":  # of a named tuple, whose fields are in ``_fields``
            return "field"
        return self.text(held)


def digest_of(value: Any) -> str:
    """The same for all objects that are described alike; raises Unknown."""
    return hashlib.sha256(Describer().text(value).encode()).hexdigest()[:32]


def globals_of(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """The globals of a function's module whose names it, or a function in it, mentions."""
    for name in sorted(names_in(function.__code__)):
        if name in function.__globals__:
            yield name, function.__globals__[name]


class DescribingWriter(Writer):
    """Conditions in which objects stand as their descriptions."""

    def __init__(self, describer: Describer):
        super().__init__(in_one_call=False)
        self.describer = describer

    def constant(self, value: Any) -> str:
        return f"<{self.describer.text(value)}>"
