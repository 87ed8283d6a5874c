"""A lifted function and examples in, a program of ``torch.export`` in a file out; such a file in, a callable out.

The texts of compiled kernels lie in the file, next to the program, whose operators are defined from them before it is
read.
"""

from __future__ import annotations

import inspect
import json
import warnings
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch

from looplift.base.data import fields_of
from looplift.base.errors import LoopliftWarning
from looplift.runtime import custom, operators
from looplift.runtime.graphs import traced_as_written

_KERNELS = "looplift_kernels.json"
_OF_USERS = "looplift_operators.json"


class _Caller(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *arguments: Any) -> Any:
        return self.function(*arguments)


class Saved(NamedTuple):
    """A program that was written: it, its kernels, and the operators of users in it."""

    program: Any
    kernels: list[dict[str, Any]]
    of_users: list[dict[str, str]]


def save(function: Any, path: str, arguments: tuple[Any, ...], dynamic_shapes: Any) -> Saved:
    module = function if isinstance(function, torch.nn.Module) else _Caller(function)
    if module is not function and isinstance(dynamic_shapes, Mapping):
        names = inspect.signature(function).parameters
        dynamic_shapes = tuple(dynamic_shapes.get(name) for name, _ in zip(names, arguments))
    if module is not function and dynamic_shapes is not None:
        dynamic_shapes = (tuple(dynamic_shapes),)
    with traced_as_written() as loops:
        try:
            program = torch.export.export(module, arguments, dynamic_shapes=dynamic_shapes)
        except Exception as problem:
            for text in dict.fromkeys(loops):
                problem.add_note(text)
            raise
    for text in dict.fromkeys(loops):
        warnings.warn(text, LoopliftWarning, stacklevel=3)
    names = {node.target.name().removeprefix("looplift::") for node in program.graph.nodes if _is_operator(node)}
    kernels = [_as_dict(operators.defined[name]) for name in sorted(names) if name in operators.defined]
    of_users = [custom.defined[name] for name in sorted(names) if name in custom.defined]
    torch.export.save(program, path, extra_files={_KERNELS: json.dumps(kernels), _OF_USERS: json.dumps(of_users)})
    return Saved(program, kernels, of_users)


def _read(archive: zipfile.ZipFile, name: str) -> list[dict[str, Any]]:
    found = [one for one in archive.namelist() if one.endswith(name)]
    return json.loads(archive.read(found[0])) if found else []


def _as_dict(definition: operators.Definition) -> dict[str, Any]:
    return {name: getattr(definition, name) for name in fields_of(definition)}


def _is_operator(node: Any) -> bool:
    return isinstance(node.target, torch._ops.OpOverload) and node.target.namespace == "looplift"


def opened(
    path: str,
    callable_of: Callable[[Mapping[str, Any]], Callable[..., Any]],
    operator_of: Callable[[dict[str, str]], Any],
) -> Callable[..., Any]:
    """``callable_of`` makes the callable of a kernel from its definition, ``operator_of`` an operator of a user's."""
    with zipfile.ZipFile(path) as archive:
        kernels, of_users = (_read(archive, name) for name in (_KERNELS, _OF_USERS))
    for definition in of_users:
        if definition["operator"] not in custom.defined:
            operator_of(definition)
    for kernel in kernels:
        fields: dict[str, Any] = {k: tuple(value) if isinstance(value, list) else value for k, value in kernel.items()}
        definition = operators.Definition(**fields)
        operators.Operator(definition, callable_of(kernel)).define(definition.types)
    return torch.export.load(path).module()
