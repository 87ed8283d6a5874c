"""Loops in, out whether their lifted form gives what they give, and what became of them."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from looplift import lift
from looplift.base.compare import difference


def copies(values: list[Any], *, gradients: bool) -> list[Any]:
    """Arguments of their own, floating tensors as leaves that ask for gradients."""

    def copied(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.clone().requires_grad_(gradients and value.is_floating_point())
        if isinstance(value, np.ndarray):
            return value.copy()
        if isinstance(value, list | tuple):
            return type(value)(map(copied, value))
        return value

    return [copied(value) for value in values]


def outcome(function: Callable[..., Any], values: list[Any], *, gradients: bool) -> dict[str, Any]:
    """The result, the arguments afterwards, and the gradients of a weighted sum of the results: of the tensors and of
    the parameters of modules among the arguments."""
    arguments = copies(values, gradients=gradients)
    result = function(*arguments)
    found = {"result": result, "arguments": [one for one in arguments if not isinstance(one, torch.nn.Module)]}
    scored = [t for t in _tensors(result) if t.requires_grad]
    if scored:
        generator = torch.Generator().manual_seed(7)
        weights = [torch.rand(t.shape, generator=generator, dtype=t.dtype) for t in scored]
        score = sum((t * w).sum() for t, w in zip(scored, weights, strict=True))
        leaves = [t for t in _tensors(arguments) if t.is_leaf and t.requires_grad]
        leaves += [p for one in arguments if isinstance(one, torch.nn.Module) for p in one.parameters()]
        found["gradients"] = list(torch.autograd.grad(score, leaves, allow_unused=True))
    return found


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return [t for item in value for t in _tensors(item)]
    return []


def check(
    function: Callable[..., Any], *calls: list[Any], gradients: bool = True, decisions: set[str] | None = None
) -> None:
    """The lifted form of a loop does what the loop does, each call twice, and its loops become what is expected."""
    modes = (False, True) if gradients else (False,)
    for mode in modes:
        lifted = lift(function, verify="off", backend="torch")
        for values in calls:
            wanted = outcome(function, values, gradients=mode)
            for _ in range(2):
                why = difference(outcome(lifted, values, gradients=mode), wanted, magnitude=1.0, path="call")
                assert not why, f"{function.__name__}: {why}\n{lifted.source}"
        found = {loop.decision for loop in lifted.report().loops}
        assert found == (decisions or {"lanes"}), f"{function.__name__}: {lifted.report()}"


def check_backends(
    function: Callable[..., Any], *calls: list[Any], gradients: bool = False, kept: set[str] | None = None
) -> None:
    """Every backend gives what the loop gives or raises, in each call twice; on those in ``kept`` loops may stay."""
    modes = (False, True) if gradients else (False,)
    for mode in modes:
        wanted = [_ended(function, values, gradients=mode) for values in calls]
        for backend in ("auto", "torch", "native"):
            lifted = lift(function, verify="off", backend=backend)
            for values, expected in zip(calls, wanted, strict=True):
                for _ in range(2):
                    found = _ended(lifted, values, gradients=mode)
                    why = difference(found, expected, magnitude=1.0, path="call")
                    assert not why, f"{function.__name__} on {backend}: {why}\n{lifted.source}"
            decisions = {loop.decision for loop in lifted.report().loops}
            assert backend in (kept or ()) or "kept" not in decisions, f"{backend}: {lifted.report()}"


def _ended(function: Callable[..., Any], values: list[Any], *, gradients: bool) -> dict[str, Any]:
    try:
        return outcome(function, values, gradients=gradients)
    except Exception as error:
        return {"raised": [type(error).__name__, str(error)]}


def appended(expression: str, count: str, namespace: dict[str, Any], *, join: str) -> Callable[..., Any]:
    """A loop over ``i`` that collects an expression of ``x``, ``a`` and ``b`` in a list."""
    text = (
        f"def collected(x, a, b):\n    out = []\n    for i in range({count}):\n        out.append({expression})\n"
        f"    return {join}(out)\n"
    )
    return written(text, f"<loop over {expression} by {join}>", namespace)["collected"]


def written(text: str, label: str, namespace: dict[str, Any]) -> dict[str, Any]:
    """What a text defines, as if it stood in a file."""
    linecache.cache[label] = (len(text), None, text.splitlines(keepends=True), label)
    scope = dict(namespace)
    exec(compile(text, label, "exec"), scope)
    return scope
