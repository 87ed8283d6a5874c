"""Numbers, flags and text that a network module holds, and that the region sets, in; variables of the program out.

self.visited += 1                        self_visited = self_visited + 1
                                         result, self.visited = program(..., self.visited)

What each holds at the end is handed out beside the result; the module gets it once all is done.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from torch import nn

from looplift.base.settable import has_plain_attribute
from looplift.emit.typed_held import CONSTANTS, Found, Held
from looplift.emit.typed_scope import Value, coerced, refuse
from looplift.emit.typed_types import NEVER, NONE, NUMBERS, SCALARS, TEXT, Maybe


class Setting(NamedTuple):
    """An attribute of the module at a path."""

    owner: str
    name: str

    @property
    def path(self) -> str:
        return f"{self.owner}.{self.name}"


class HeldNumbers(Held):
    """Assignments to attributes of network modules."""

    def __init__(self) -> None:
        super().__init__()
        self.changing: dict[str, Setting] = {}
        """What the program sets, by the inputs that hold it."""
        self.asked: dict[Setting, nn.Module] = {}
        """Attributes of modules that are read or set."""

    def of_Attribute(self, node: ast.Attribute) -> Value:
        owner = self._module_around(node)
        if owner is None:
            return super().of_Attribute(node)
        variable = self._variable(owner, node.attr)
        return super().of_Attribute(node) if variable is None else self._held_in(variable)

    def bind(self, target: ast.expr, value: Value) -> None:
        owner = self._module_around(target) if isinstance(target, ast.Attribute) else None
        if owner is None:
            super().bind(target, value)
            return
        assert isinstance(target, ast.Attribute)
        self._set_held(owner, target, value)

    def _change_attribute(self, node: ast.AugAssign, target: ast.Attribute) -> None:
        owner = self._module_around(target)
        if owner is None:
            super()._change_attribute(node, target)
            return
        self._settable(owner, target)
        old = self.keep(self.present(self.of_Attribute(target)))
        value = self.keep(self.present(self.expression(node.value)))
        self._set_held(owner, target, self.binary(type(node.op), old, value, node))

    def set_at_the_end(self) -> list[Value]:
        """What is in the variables of all that is set."""
        return [self._held_in(variable) for variable in self.changing]

    def settings_that_stay(self) -> dict[str, Any]:
        """Those of the numbers that are read of modules which nothing sets."""
        changed = {(id(self.asked[one]), one.name) for one in self.changing.values()}
        paths = {one.path for one, owner in self.asked.items() if (id(owner), one.name) in changed}
        return {path: value for path, value in self.settings.items() if path not in paths}

    def told_apart(self) -> list[str]:
        """Conditions: which paths lead to one module, where an attribute is set by one of them."""
        conditions = []
        for setting in self.changing.values():
            for other, module in self.asked.items():
                if other.name == setting.name and other.owner != setting.owner:
                    same = "is" if module is self.asked[setting] else "is not"
                    conditions.append(f"{setting.owner} {same} {other.owner}")
        return conditions

    def _module_around(self, node: ast.Attribute) -> Found | None:
        """The module of which an expression is an attribute."""
        owner = self.module_at(node.value)
        if owner is None or not isinstance(owner.value, nn.Module):
            return None
        self.asked[Setting(owner.path, node.attr)] = owner.value
        return owner

    def _variable(self, owner: Found, name: str) -> str | None:
        """The variable of an attribute that is set, by whatever path its module is reached."""
        for variable, setting in self.changing.items():
            if setting.name == name and self.asked[setting] is owner.value:
                return variable
        return None

    def _held_in(self, variable: str) -> Value:
        return Value(self.main.types[variable], f"v_{variable}")

    def _settable(self, owner: Found, node: ast.Attribute) -> str:
        """The variable of an attribute that is set here; where it has none yet it gets one, and all is written anew."""
        known = self._variable(owner, node.attr)
        if known is not None:
            return known
        held = vars(owner.value)
        plain = has_plain_attribute(owner.value, node.attr)
        if not plain or type(held.get(node.attr, ...)) not in CONSTANTS or node.attr == "training":
            raise refuse(node, "is an attribute of a module that is set, and holds no number or text")
        setting = Setting(owner.path, node.attr)
        self.asked[setting] = owner.value
        variable = self._new_input(setting.path, held[node.attr])
        self.paths[variable], self.changing[variable] = setting.path, setting
        self.main.result = NEVER  # what was handed out so far had nothing beside it
        return variable

    def _set_held(self, owner: Found, target: ast.Attribute, value: Value) -> None:
        variable = self._settable(owner, target)
        if not _is_plain(value.type):
            raise refuse(target, "is an attribute of a module that is set to something else than a number or text")
        self.widen(self.main, variable, value.type)
        self.emit(f"v_{variable} = {coerced(value, self.main.types[variable])};")


def _is_plain(type_: Any) -> bool:
    """Whether values of a type are numbers, flags or text of Python's, or None."""
    if isinstance(type_, Maybe):
        return _is_plain(type_.inner)
    return type_ in (NEVER, NONE, TEXT) or (type_ in NUMBERS and type_ not in SCALARS)
