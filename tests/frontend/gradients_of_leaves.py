"""A function in, out whether its lifted form gives the same values, flags, gradients and errors, and its decisions."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


def double(*shape: int, seed: int = 0, asks: bool = False) -> torch.Tensor:
    """Numbers between -1 and 1."""
    made = torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return (made * 2 - 1).requires_grad_(asks)


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Results and what arguments hold behind the call, or the error; then the gradients of all by all."""
    given = copy.deepcopy(arguments)
    try:
        found = tensors_of(function(*given))
    except Exception as error:
        return type(error).__name__, str(error)
    leaves = tensors_of(given)
    told = [told_of(one) for one in (*found, *leaves, *(getattr(one, "grad", None) for one in leaves))]
    asking = [one for one in found if isinstance(one, torch.Tensor) and one.grad_fn is not None]
    inputs = [one for one in leaves if isinstance(one, torch.Tensor) and one.requires_grad]
    if asking and inputs:
        slopes = torch.autograd.grad([one.sum() for one in asking], inputs, allow_unused=True)
        told += [told_of(one) for one in slopes]
    return told


def tensors_of(value: Any) -> list[Any]:
    """What containers and modules hold, in order."""
    if isinstance(value, torch.nn.Module):
        return list(value.parameters())
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [one for item in value for one in tensors_of(item)]
    return [value]


def told_of(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.dtype, tuple(value.shape), value.requires_grad, value.detach().clone()
    return type(value), value


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, torch.Tensor):
        return torch.allclose(found, wanted, rtol=1e-9, atol=1e-12, equal_nan=True)
    if isinstance(wanted, list | tuple):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    return bool(found == wanted)


def check(function: Callable[..., Any], *calls: tuple[Any, ...], backends: tuple[str, ...] = BACKENDS) -> set[str]:
    """Each call gives the same, twice; the decisions about loops that ran with the backend ``auto``."""
    decisions: set[str] = set()
    for backend in backends:
        lifted = lift(function, verify="off", backend=backend)
        for arguments in calls:
            wanted = outcome(function, arguments)
            for _ in range(2):
                found = outcome(lifted, arguments)
                assert same(found, wanted), (function.__name__, backend, found, wanted, str(lifted.report()))
        if backend == "auto":
            decisions = {loop.decision for loop in lifted.report().loops if loop.code != "not-run"}
    return decisions
