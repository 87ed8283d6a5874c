"""What a region reaches by a path through network modules, as ``net.cell``, in; its value in a typed program out.

A module is a fixed object. What is guarded is what a call of it runs; parameters are read at each call of the program,
and lists and objects of the user's that a module holds; numbers that it holds must be equal.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import nn

from looplift.base.declared import Read, is_computed, reads_of
from looplift.emit.typed_array_calls import ArrayCalls
from looplift.emit.typed_scope import Routine, Value, refuse
from looplift.emit.typed_types import NONE
from looplift.emit.typed_values import type_of
from looplift.ops.names import is_library_name

_CONTAINERS = nn.ModuleList | nn.Sequential | nn.ModuleDict | nn.ParameterDict | nn.ParameterList
_IN_ORDER = nn.ModuleList | nn.Sequential | nn.ParameterList
CONSTANTS = (bool, int, float, str, type(None))


def _is_readable(value: Any) -> bool:
    """Whether a value is a tensor, or a container of numbers and text."""
    if isinstance(value, dict):
        return type(value) is dict and all(map(_is_readable, [*value, *value.values()]))
    if isinstance(value, list | set | tuple):
        return type(value) in (list, set, tuple) and all(map(_is_readable, value))
    return type(value) in (*CONSTANTS, torch.Tensor, nn.Parameter)


class Found(NamedTuple):
    """What a region reaches by a path: a module, or something that one holds."""

    value: Any
    path: str


class Held(ArrayCalls):
    """What network modules hold, and where."""

    values: Mapping[str, Any]
    inputs: list[str]
    main: Routine
    given: dict[str, Any]
    met: dict[int, Any]
    """The types of containers and objects of the caller's, by identity."""
    imports: dict[str, Any]

    def __init__(self) -> None:
        super().__init__()
        self.paths: dict[str, str] = {}
        """Of inputs that modules hold, by their names."""
        self.watched: dict[str, None] = {}
        """The paths of modules."""
        self.reads: list[Read] = []
        """What is read of modules by running no code."""
        self.settings: dict[str, Any] = {}
        """Numbers and the like that modules hold, by their paths."""
        self.overriding: dict[tuple[type, str], Any] = {}
        """Methods of the user's modules, by their classes and names."""
        self.outside: dict[str, tuple[Any, str]] = {}
        """Of inputs that classes hold, or the modules of functions: where, and under which name."""
        self.seen: dict[int, Any] = {}
        """The types of the caller's containers."""
        self.unrolled: dict[str, Found] = {}
        """What a loop over modules stands at."""
        self.counted: dict[str, int] = {}
        """How many of them it went through, by the names that count them."""

    def _global(self, name: str) -> Any:
        raise NotImplementedError

    # ------------------------------------------------------------ what a module holds

    def module_at(self, node: ast.expr) -> Found | None:
        """A module that an expression stands for, or what one holds; None for anything else."""
        if isinstance(node, ast.Name):
            return self._module_named(node.id)
        if isinstance(node, ast.Attribute):
            base = self.module_at(node.value)
            return None if base is None else self._held_by(base, node.attr)
        if isinstance(node, ast.Subscript) and (base := self.module_at(node.value)) is not None:
            return self._item_of(base, node.slice)
        return None

    def _module_named(self, name: str) -> Found | None:
        if name in self.renamed or name in self.imports:
            return None
        if name in self.unrolled:
            return self.unrolled[name]
        owner, routine = self.owner(name), self.routine
        while routine is not None and routine is not owner:
            if name in routine.modules:
                return routine.modules[name]
            routine = routine.outer
        if owner is not None:
            return None
        value = self.values.get(name)
        if not isinstance(value, nn.Module):
            return None
        space = self.routine.namespace
        if space is not None and self._global(name) is not value:
            return None
        return self._watched(Found(value, name))

    def _watched(self, found: Found) -> Found:
        if isinstance(found.value, nn.Module):
            self.watched[found.path] = None
        return found

    def _held_by(self, base: Found, name: str) -> Found | None:
        if not isinstance(base.value, nn.Module):
            return None
        if is_computed(base.value, name):
            raise refuse(None, f"'{base.path}.{name}' is computed at each access")
        self.reads += reads_of(base.value, base.path, name, is_guarded=base.path in self.values)
        held = vars(base.value)
        for table in ("_parameters", "_buffers", "_modules"):
            if name in held[table]:
                return self._watched(Found(held[table][name], f"{base.path}.{name}"))
        return Found(held[name], f"{base.path}.{name}") if name in held else None

    def _item_of(self, base: Found, index: ast.expr) -> Found | None:
        if not isinstance(base.value, _CONTAINERS):
            return None
        self._sized(base)
        try:
            place = self._known_index(index)
            return self._watched(Found(base.value[place], f"{base.path}[{place!r}]"))
        except (ValueError, KeyError, IndexError, TypeError):
            raise refuse(index, "is no place that is known") from None

    def _known_index(self, index: ast.expr) -> Any:
        """A constant, or arithmetic with what counts modules; raises ValueError for other subscripts."""
        match index:
            case ast.Name(id=name) if name in self.counted and name not in self.renamed:
                return self.counted[name]
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
                places = self._known_index(left), self._known_index(right)
                if any(type(one) is not int for one in places):
                    raise ValueError
                return sum(places) if isinstance(op, ast.Add) else places[0] - places[1]
        return ast.literal_eval(index)

    def _is_known_place(self, index: ast.expr) -> bool:
        try:
            self._known_index(index)
        except ValueError:
            return False
        return True

    def _sized(self, found: Found) -> int:
        """The number of modules in a container, which is guarded."""
        count = len(found.value)
        self.settings[f"{found.path}.__len__()"] = count
        return count

    def value_of(self, found: Found, node: ast.AST) -> Value:
        """A number, which must stay what it is, or an input: a parameter, a list, an object of the user's."""
        value = found.value
        if isinstance(value, nn.Module):
            raise refuse(node, "is a module, and read as a value")
        if not isinstance(value, CONSTANTS):
            return self._input_at(value, found.path)
        self.settings[found.path] = value
        return Value(NONE, "None_()") if value is None else self.constant(value)

    def _input_at(self, value: Any, path: str) -> Value:
        name = next((name for name, known in self.paths.items() if known == path), "")
        if not name:
            name = self._new_input(path, value)
            self.paths[name] = path
        return Value(self.main.types[name], f"v_{name}")

    def _new_input(self, path: str, value: Any) -> str:
        """An input that no name of the region stands for."""
        base = re.sub(r"\W+", "_", path).strip("_")
        taken = {*self.inputs, *self.main.stores, *self.values}
        name = next(one for k in range(len(taken) + 1) if (one := f"{base}_{k}" if k else base) not in taken)
        self.inputs.append(name)
        self.main.parameters.append(name)
        self.main.kept.add(name)
        self.main.types[name] = self.given[name] = type_of(value, self.joins, self.seen)
        self.look_into(self.seen)
        self.joins.changes += 1
        return name

    # ------------------------------------------------------------ what stands outside of the region

    def held_outside(self, owner: Any, key: str, value: Any) -> Value | None:
        """What a class, or the module of a function, holds, and is only read; None for what has no form."""
        if not _is_readable(value):
            return None
        known = [name for name, one in self.outside.items() if one[0] is owner and one[1] == key]
        name = known[0] if known else self._new_input(f"{getattr(owner, '__name__', 'module')}_{key}", value)
        self.outside[name] = owner, key
        return Value(self.main.types[name], f"v_{name}")

    def held_by_class(self, made: type, name: str) -> Value | None:
        return self.held_outside(made, name, vars(made)[name]) if name in vars(made) else None

    def _is_module(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            return False
        found = self.module_at(node)
        return found is not None and isinstance(found.value, nn.Module)

    def _container(self, node: ast.expr) -> Found | None:
        """The modules or parameters that a loop goes through."""
        found = self.module_at(node) if isinstance(node, ast.Name | ast.Attribute) else None
        return found if found is not None and isinstance(found.value, _IN_ORDER) else None

    # ------------------------------------------------------------ expressions

    def of_Name(self, node: ast.Name) -> Value:
        found = self.unrolled.get(node.id) if node.id not in self.renamed else None
        return super().of_Name(node) if found is None else self.value_of(found, node)

    def of_Attribute(self, node: ast.Attribute) -> Value:
        found = self.module_at(node)
        if found is not None:
            return self.value_of(found, node)
        made = self.resolved(node.value)
        if type(made) is type and not is_library_name(made.__module__) and self.resolved(node) is None:
            if (held := self.held_by_class(made, node.attr)) is not None:
                self.look_at(made)
                return held
        return super().of_Attribute(node)

    def of_Subscript(self, node: ast.Subscript) -> Value:
        found = self.module_at(node) if self._is_module(node.value) else None
        return super().of_Subscript(node) if found is None else self.value_of(found, node)
