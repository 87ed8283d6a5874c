"""A loop at module level in, a function of the names that it reads and binds out, lifted and called in its place."""

from __future__ import annotations

import ast
import builtins
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from looplift.cli.names import LOOPS, bound_in, read_before_bound, read_in
from looplift.cli.rewrite import ModuleLoop
from looplift.runtime.script import Origin, register_source

NAME = "__looplift_loop"
RESULT = "__looplift_bound"


class LoopRunner:
    """Runs one loop of a module: ``runner()`` is true if it ran and its names are bound, else it runs as written."""

    def __init__(self, loop: ModuleLoop, lift: Callable[[types.FunctionType], Callable]):
        self._loop = loop
        self._lift = lift
        self._bound = bound_in(loop.statement)
        self._read = read_in(loop.statement)
        self._needed = read_before_bound([loop.statement], set()) & self._bound
        self._functions: dict[tuple[str, ...], Callable] = {}
        self._tensors_only = not isinstance(loop.statement, LOOPS)

    def __call__(self) -> bool:
        scope = sys._getframe(1).f_globals
        if not self._needed <= scope.keys():
            return False
        given = {name: scope[name] for name in sorted(self._read - self._bound) if _is_data(scope, name)}
        given |= {name: scope[name] for name in sorted(self._needed)}
        if self._tensors_only and not any(map(_holds_tensors, given.values())):
            return False
        scope.update(self._function(scope, tuple(given))(*given.values()))
        return True

    def _function(self, scope: dict[str, Any], parameters: tuple[str, ...]) -> Callable:
        if parameters not in self._functions:
            made = function_of(self._loop, parameters, sorted(self._bound), scope)
            self._functions[parameters] = self._lift(made)
        return self._functions[parameters]


def function_of(
    loop: ModuleLoop, parameters: tuple[str, ...], bound: list[str], scope: dict[str, Any]
) -> types.FunctionType:
    """A function whose body is the loop, and that returns the names it has bound, by name."""
    indent, body = _indented(loop.statement, loop.source)
    lines = [f"def {NAME}({', '.join(parameters)}):", *body, f"{indent}{RESULT} = {{}}"]
    for name in bound:
        step = f'{RESULT}["{name}"] = {name}'
        lines += [indent + step] if name in parameters else _if_bound(step, indent)
    text = "\n".join([*lines, f"{indent}return {RESULT}", ""])
    added = len(indent) - loop.statement.col_offset
    origin = Origin(loop.filename, loop.statement.lineno - 2, added)
    file = register_source(text, origin)
    (code,) = filter(_is_code, compile(text, file, "exec", dont_inherit=True).co_consts)
    made = types.FunctionType(code, scope, NAME)
    made.__module__ = scope.get("__name__", "__main__")
    return made


def _is_code(constant: Any) -> bool:
    return isinstance(constant, types.CodeType)


def _if_bound(step: str, indent: str) -> list[str]:
    return [f"{indent}try:", f"{indent}    {step}", f"{indent}except NameError:", f"{indent}    pass"]


def _indented(statement: ast.stmt, source: str) -> tuple[str, list[str]]:
    """The lines of a statement, indented by at least something, and their indentation."""
    lines = source.split("\n")[statement.lineno - 1 : statement.end_lineno]
    lines[-1] = lines[-1].encode()[: statement.end_col_offset].decode()
    if statement.col_offset:
        return lines[0][: statement.col_offset], lines
    inside_text = _lines_inside_text(statement)
    first = statement.lineno
    return "    ", [line if first + k in inside_text else f"    {line}" for k, line in enumerate(lines)]


def _lines_inside_text(statement: ast.stmt) -> set[int]:
    """The lines that begin inside a string, which must stay as they are."""
    strings = (node for node in ast.walk(statement) if isinstance(node, (ast.Constant, ast.JoinedStr)))
    return {line for node in strings for line in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)}


def _is_data(scope: dict[str, Any], name: str) -> bool:
    """Whether a global is a value that the loop works on, not a function, class or module that it uses."""
    if name not in scope or hasattr(builtins, name):
        return False
    value = scope[name]
    return not isinstance(value, (types.ModuleType, type)) and (
        not callable(value) or isinstance(value, (torch.Tensor, torch.nn.Module))
    )


def _holds_tensors(value: Any) -> bool:
    if isinstance(value, (list, tuple)) and value:
        return _holds_tensors(value[0])
    return isinstance(value, (torch.Tensor, torch.nn.Module, np.ndarray))
