"""A package in, modules of it out that are imported when something of them is used.

``from looplift.frontend import letters`` stands at the top of a file, and costs nothing in a call that never comes to
``letters.translated(...)``. What most calls use is better imported by name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

_IMPORTED = set[ModuleType]()
"""Those that have made way; tables of modules still have them."""


class Deferred(ModuleType):
    """Stands for a module until the first thing of it is used, then makes way for it in the library's modules."""

    def __getattr__(self, name: str) -> Any:
        if self not in _IMPORTED:
            _IMPORTED.add(self)
            self._make_way()
        return getattr(import_module(self.__name__), name)

    def _make_way(self) -> None:
        module = import_module(self.__name__)
        root, own = self.__name__.partition(".")[0], self.__name__.rpartition(".")[2]
        for holder in [one for at, one in list(sys.modules.items()) if at.startswith(root)]:
            if type(holder) is ModuleType and vars(holder).get(own) is self:
                setattr(holder, own, module)

    @property
    def __dict__(self) -> dict[str, Any]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return vars(import_module(self.__name__))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(import_module(self.__name__), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(import_module(self.__name__), name)


def modules_of(package: str) -> Callable[[str], ModuleType]:
    """The ``__getattr__`` of a package whose modules are imported when they are used."""

    def module(name: str) -> ModuleType:
        if name.startswith("_"):
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        found = Deferred(f"{package}.{name}")
        setattr(sys.modules[package], name, found)
        return found

    return module
