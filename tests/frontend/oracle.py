"""A function and arguments in, whether every backend gives what the loop gives out: results, changes, exceptions."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from looplift import lift
from looplift.base.compare import difference


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    given = copy.deepcopy(arguments)
    try:
        result = function(*given)
    except Exception as error:
        return {"raised": type(error).__name__, "text": str(error), "arguments": list(given)}
    return {"result": result, "arguments": list(given)}


def check(function: Callable[..., Any], arguments: tuple[Any, ...], *, kept: bool = False) -> None:
    """The lifted function agrees with the loop, twice; with ``kept`` loops of it may stay as written."""
    wanted = outcome(function, arguments)
    for backend in ("auto", "torch", "native"):
        lifted = lift(function, verify="off", backend=backend)
        for _ in range(2):
            why = difference(outcome(lifted, arguments), wanted, magnitude=1.0, path="call")
            assert not why, f"{function.__name__}, {backend}: {why}\n{lifted.source}"
        if backend == "auto":
            found = [loop.decision for loop in lifted.report().loops]
            assert kept or "kept" not in found, lifted.report()
