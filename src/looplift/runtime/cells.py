"""The entry of a region that reads variables of functions around its own in, the same with the cells of these out.

A function inside of another is made anew, with other cells, whenever the one around it runs. Where some function
rebinds such a variable, statements that run as written have to read it where it is, and not as it was at first: what is
called may rebind it.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Mapping
from typing import Any

import torch


class _Running(threading.local):
    """The cells of the call that runs in this thread, by the names of the variables."""

    def __init__(self):
        self.cells: dict[str, types.CellType] = {}


class Within:
    """Called in place of a region, with a function that reads the variables and the region's arguments."""

    def __init__(self, regions: list[Any], number: int):
        self.regions, self.number, self.running = regions, number, _Running()

    def __call__(self, reader: types.FunctionType, *arguments: Any) -> Any:
        if torch.compiler.is_dynamo_compiling():
            return self.regions[self.number](*arguments)
        running, around = self.running, self.running.cells
        running.cells = dict(zip(reader.__code__.co_freevars, reader.__closure__ or ()))
        try:
            return self.regions[self.number](*arguments)
        finally:
            running.cells = around

    def closing(
        self,
        code: types.CodeType,
        namespace: dict[str, Any],
        cells: Mapping[str, types.CellType],
        on_values: Callable[..., Any],
    ) -> Callable[..., Any]:
        """A function of this code that reads the variables in the cells of the call that runs, others in ``cells``;
        ``on_values``: the same of its arguments alone, where a graph is traced."""

        def run(*arguments: Any) -> Any:
            if torch.compiler.is_dynamo_compiling():
                return on_values(*arguments)
            found = {**cells, **self.running.cells}
            closure = tuple(found[name] for name in code.co_freevars)
            return types.FunctionType(code, namespace, code.co_name, None, closure)(*arguments)

        return run
