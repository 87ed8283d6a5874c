"""Small loop programs, each with the arguments that it is run on. They show the grammar of what people write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

PROGRAMS: list[Program] = []


@dataclass
class Program:
    function: Callable
    inputs: list[tuple] = field(default_factory=list)

    def __repr__(self) -> str:
        return self.function.__name__


def on(*inputs: tuple) -> Callable[[Any], Any]:
    """Names the tuples of arguments that the function below is run on."""

    def register(function: Callable) -> Callable:
        PROGRAMS.append(Program(function, list(inputs)))
        return function

    return register


def vector(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float32)


def matrix(rows: int, columns: int) -> torch.Tensor:
    return torch.arange(float(rows * columns)).reshape(rows, columns) / 3 - 1
