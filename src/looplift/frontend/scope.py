"""The state of one translation: frames of names, blocks under construction, parameters, and static values."""

from __future__ import annotations

import builtins
import itertools
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.base.spans import NOWHERE, Span
from looplift.ir.grammar import UNDEFINED, Atom, Block, Const, Let, Op, Operand, Statement, Var


@dataclass(frozen=True)
class Tup:
    """A tuple whose items are known one by one; it never reaches the IR unless it must."""

    items: tuple[Value, ...]


Value = Atom | Tup


@dataclass
class Frame:
    """The names of one function being translated; ``outer`` looks up what is not local."""

    env: dict[str, Value]
    outer: Mapping[str, Any]
    is_root: bool = False
    owner: Any = None
    file: str = ""
    line_offset: int = 0


MISSING = object()


def is_static(value: Any) -> bool:
    """Values that a variant is made for: modules, functions, classes, network modules, dtypes, flags and strings."""
    import torch

    if value is None or isinstance(value, (bool, str, bytes, type, types.ModuleType, torch.nn.Module)):
        return True
    if isinstance(value, (torch.dtype, torch.device, torch.layout, torch.memory_format)) or value is Ellipsis:
        return True
    return callable(value) and not isinstance(value, torch.Tensor)


@dataclass
class Builder:
    """What the pieces of the translation share."""

    values: Mapping[str, Any]
    frames: list[Frame] = field(default_factory=list)
    blocks: list[list[Statement]] = field(default_factory=list)
    params: dict[str, Var] = field(default_factory=dict)
    param_values: dict[str, Any] = field(default_factory=dict)
    guards: list[tuple[str, Any]] = field(default_factory=list)
    foreign: dict[str, Any] = field(default_factory=dict)
    modules: dict[str, Any] = field(default_factory=dict)
    counter: itertools.count = field(default_factory=lambda: itertools.count(1))
    calls: list[Any] = field(default_factory=list)
    span: Span = NOWHERE

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def env(self) -> dict[str, Value]:
        return self.frame.env

    def fresh(self, hint: str) -> Var:
        return Var(f"{hint}.{next(self.counter)}")

    def add(self, statement: Statement) -> None:
        self.blocks[-1].append(statement)

    def emit(self, name: str, *args: Operand, hint: str = "t", **kwargs: Operand) -> Var:
        """Append ``var = name(args)`` to the current block and return the variable."""
        var = self.fresh(hint)
        self.add(Let(var, Op(name, args, tuple(kwargs.items())), self.span))
        return var

    def block(self, build) -> Block:
        """Run ``build`` with an empty block and return what it made."""
        self.blocks.append([])
        build()
        return Block(tuple(self.blocks.pop()))

    def atom(self, value: Value) -> Atom:
        """The value as an atom; a tuple becomes a tuple operation."""
        if isinstance(value, Tup):
            return self.emit("tuple", *(self.atom(item) for item in value.items), hint="pair")
        return value

    def refuse(self, code: str, message: str) -> NotLiftable:
        return NotLiftable(code, message, self.span)

    def object_path(self, atom: Value) -> str | None:
        """The path of a live-in that is a plain object, neither a number nor a container nor a tensor."""
        import numpy as np
        import torch

        plain = (int, float, complex, list, tuple, dict, set, torch.Tensor, np.ndarray, np.generic, range)
        for path, var in self.params.items():
            if var is atom:
                return None if isinstance(self.param_values[path], plain) else path
        return None

    # ------------------------------------------------------------ names

    def lookup(self, name: str) -> Value:
        if name in self.env:
            value = self.env[name]
            if value is UNDEFINED:
                raise self.refuse("unsupported-syntax", f"'{name}' may not be bound here")
            return value
        found = self.outer_value(name)
        if found is MISSING:
            raise self.refuse("unsupported-syntax", f"the name '{name}' is not known before the loop runs")
        if self.frame.is_root:
            return self.live_in(name, found)
        return self.foreign_value(name, found)

    def outer_value(self, name: str) -> Any:
        if name in self.frame.outer:
            return self.frame.outer[name]
        return getattr(builtins, name, MISSING)

    def live_in(self, path: str, value: Any) -> Atom:
        """A value that reaches the region under ``path``: static ones are constants, others parameters."""
        if path in self.params:
            return self.params[path]
        if is_static(value):
            if isinstance(value, (bool, str, bytes)) or value is None:
                self.guards.append((path, value))
            self.modules.setdefault(path, value)
            return Const(value, path)
        var = Var(path.replace(".", "_").replace("[", "_").replace("]", "") if "." in path else path)
        self.params[path] = var
        self.param_values[path] = value
        return var

    def foreign_value(self, name: str, value: Any) -> Atom:
        """A global of another module than the region's: static, or a number that is guarded to stay."""
        if is_static(value):
            return Const(value, name)
        if isinstance(value, (int, float)):
            self.foreign[name] = (self.frame.outer, value)
            return Const(value)
        raise self.refuse("unsupported-value", f"'{name}' is a global of another module; pass it as an argument")
