"""Code over numbers that are drawn, in; the same after the draws, with checks of what was drawn, out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from looplift.base import memory
from looplift.base.errors import NotLiftable

PLAIN = (bool, int, float, complex, str, np.generic, type(None))
SURE = ("_apart", "_own_places", "_fits")
"""Guards that hold of what is drawn: it is new, and was made one by one."""


def columns(drawn: Mapping[str, list[Any]]) -> dict[str, Any]:
    """What is drawn as the region takes it: arrays and tensors side by side, numbers of Python's in a list."""
    return {name: _joined(values) for name, values in drawn.items()}


def _joined(values: Any) -> Any:
    if not isinstance(values, list):
        return values
    if values and all(type(value) is list for value in values):
        values = [_joined(value) for value in values]
    kinds = {*map(type, values)}
    if kinds <= {int} or kinds <= {float} or kinds == {list}:
        return values
    if len({getattr(value, "shape", None) for value in values}) > 1:
        raise NotLiftable("random-order", "what is drawn is of different sizes")
    if len(kinds) == 1 and isinstance(values[0], torch.Tensor):
        return torch.stack(values)
    if len(kinds) == 1 and isinstance(values[0], np.ndarray | np.generic):
        return np.stack(values)
    raise NotLiftable("random-order", "what is drawn is of different kinds")


def _joining(name: str, value: Any, depth: int) -> str:
    """The text of what is drawn, side by side, of a list, or of one of lists for loops inside of the loop."""
    join = "torch.stack" if isinstance(value, torch.Tensor) else "np.stack"
    text = f"{join}({{}})"
    for level in range(depth - 1):
        row = "row" if level == 0 else f"row_{level + 1}"
        text = f"{join}([{text.format(row)} for {row} in {{}}])"
    return text.format(name)


def add_draws(code: Any, given: Mapping[str, Any], draws: Any) -> None:
    """``given``: the values that the code was made for, with what was drawn. Raises NotLiftable where more is drawn."""
    if code.random:
        raise NotLiftable("random-order", "what is called inside of the loop draws random numbers, too")
    unchanged = _unchanged(code, given, draws)
    word = re.compile(rf"\b({'|'.join(draws.names)})\b")
    lines = [*draws.before, *draws.lines]
    for one in draws.drawn:
        value, name = given[one.name], one.name
        if isinstance(value, list):
            continue
        if not draws.at_once:
            lines.append(f"{name} = {_joining(name, value, one.depth)}")
        same = f"{name}.shape[{one.depth}:] == {tuple(value.shape[one.depth :])} and {name}.dtype == {_dtype(value)}"
        lines.append(f"if not ({same}):\n    raise RequirementFailed")
    about = [guard for guard in code.guards if word.search(guard)]
    for guard in about:
        if not guard.lstrip("(").startswith(SURE):
            if re.search(r"\b_\w+\(", guard):
                raise NotLiftable("random-order", "a guard of what is drawn")
            lines.append(f"if not ({guard}):\n    raise RequirementFailed")
    code.statements = [*lines, *code.statements]
    code.guards = [*draws.guards, *(guard for guard in code.guards if guard not in about), *unchanged]
    code.paths = [path for path in code.paths if not word.search(path)]
    code.mutated = [path for path in code.mutated if not word.search(path)]
    code.random = True


def _unchanged(code: Any, given: Mapping[str, Any], draws: Any) -> list[str]:
    """Guards: what the draws take something of is not what the loop changes, nor a part of it."""
    changed = [path for path in code.mutated if path not in draws.names]
    known = {**draws.namespace, **given}
    read = [path for path in draws.read if changed and not isinstance(eval(path, known), PLAIN)]
    if both := {*read} & {*changed}:
        raise NotLiftable("random-order", f"what is drawn depends on '{min(both)}', which the loop changes")
    if read:
        code.namespace = {**code.namespace, "_held_apart": memory.held_apart}
    return [f"_held_apart({one}, {path})" for one in changed for path in read]


def _dtype(value: Any) -> str:
    return str(value.dtype) if isinstance(value, torch.Tensor) else f"np.dtype({str(value.dtype)!r})"
