"""What a function has of the functions around it."""

from __future__ import annotations

from types import CellType, FunctionType
from typing import Any


def closure_of(function: FunctionType) -> dict[str, Any]:
    """The names of the functions around it that a function reads, with their values; without those that have none."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    return {name: cell.cell_contents for name, cell in cells if not is_empty(cell)}


def is_empty(cell: CellType) -> bool:
    try:
        return cell.cell_contents is cell
    except ValueError:
        return True
