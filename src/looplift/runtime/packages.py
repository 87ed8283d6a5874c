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
from typing import Any

import torch

from looplift.base.data import fields_of
from looplift.base.errors import LoopliftWarning
from looplift.runtime import operators
from looplift.runtime.graphs import traced_as_written

_KERNELS = "looplift_kernels.json"


class _Caller(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def save(function: Any, path: str, arguments: tuple[Any, ...], dynamic_shapes: Any) -> None:
    module = function if isinstance(function, torch.nn.Module) else _Caller(function)
    if module is not function and isinstance(dynamic_shapes, Mapping):
        names = inspect.signature(function).parameters
        dynamic_shapes = (tuple(dynamic_shapes.get(name) for name, _ in zip(names, arguments)),)
    with traced_as_written() as loops:
        program = torch.export.export(module, arguments, dynamic_shapes=dynamic_shapes)
    for text in dict.fromkeys(loops):
        warnings.warn(text, LoopliftWarning, stacklevel=3)
    names = {node.target.name().removeprefix("looplift::") for node in program.graph.nodes if _is_operator(node)}
    kernels = [_as_dict(operators.defined[name]) for name in sorted(names)]
    torch.export.save(program, path, extra_files={_KERNELS: json.dumps(kernels)})


def _as_dict(definition: operators.Definition) -> dict[str, Any]:
    return {name: getattr(definition, name) for name in fields_of(definition)}


def _is_operator(node: Any) -> bool:
    return isinstance(node.target, torch._ops.OpOverload) and node.target.namespace == "looplift"


def opened(path: str, callable_of: Callable[[Mapping[str, Any]], Callable[..., Any]]) -> Callable[..., Any]:
    """``callable_of`` makes the callable of a kernel from its definition."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(_KERNELS)]
        kernels = json.loads(archive.read(names[0])) if names else []
    for kernel in kernels:
        fields: dict[str, Any] = {k: tuple(value) if isinstance(value, list) else value for k, value in kernel.items()}
        definition = operators.Definition(**fields)
        operators.Operator(definition, callable_of(kernel)).define(definition.types)
    return torch.export.load(path).module()
