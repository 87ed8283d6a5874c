"""Runs a function twice, by Python and through the IR, and tells the two apart."""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from looplift.base.compare import difference
from looplift.frontend.calls import outer_names
from looplift.frontend.source import source_of
from looplift.frontend.statements import without_docstring
from looplift.frontend.translate import translate
from looplift.ir.grammar import Function
from looplift.ir.spec import check
from looplift.ops.interpret import run


def values_of(function: Callable, arguments: tuple) -> dict[str, Any]:
    """What the body of a function starts from: its arguments, and the outer names that are no locals of it."""
    code = function.__code__
    outer = {name: value for name, value in outer_names(function).items() if name not in code.co_varnames}
    bound = inspect.signature(function).bind(*arguments)
    bound.apply_defaults()
    return outer | dict(bound.arguments)


def translated(function: Callable, arguments: tuple) -> Function:
    """The IR of a whole function for these arguments; it is valid."""
    source = source_of(function)
    body = without_docstring(source.tree.body)
    made = translate(body, values_of(function, arguments), [], file=source.file, name=function.__name__)
    check(made)
    return made


@dataclass
class Outcome:
    """What a caller can see of a call: its result or error, the arguments after it, and the printed text."""

    result: Any
    error: str
    arguments: tuple
    printed: str
    draws: tuple


def copied(value: Any) -> Any:
    """A deep copy; a tensor with a gradient history is copied as one that requires a gradient."""
    plain = torch.Tensor.__deepcopy__

    def with_history(self: torch.Tensor, memo: dict) -> torch.Tensor:
        if self.is_leaf:
            return plain(self, memo)
        return memo.setdefault(id(self), self.detach().clone().requires_grad_())

    torch.Tensor.__deepcopy__ = with_history
    try:
        return copy.deepcopy(value)
    finally:
        torch.Tensor.__deepcopy__ = plain


def observed(call: Callable[[tuple], Any], arguments: tuple) -> Outcome:
    random.seed(0), np.random.seed(0), torch.manual_seed(0)
    printed, result, error = io.StringIO(), None, ""
    with contextlib.redirect_stdout(printed):
        try:
            result = call(arguments)
        except Exception as raised:
            error = type(raised).__name__
    draws = (random.random(), float(np.random.rand()), float(torch.rand(())))
    return Outcome(result, error, arguments, printed.getvalue(), draws)


def disagreement(
    function: Callable, arguments: tuple, change: Callable[[Function], Function] = lambda made: made
) -> str | None:
    """None if the interpreted IR, changed so, does what the function does, else the first difference."""
    theirs, ours = copied(arguments), copied(arguments)
    made = change(translated(function, ours))
    check(made)

    def interpreted(given: tuple) -> Any:
        return run(made, values_of(function, given)).get("return")

    want = observed(lambda given: function(*given), theirs)
    got = observed(interpreted, ours)
    if got.error == "AssertionError" and want.error:
        got.error = want.error  # a requirement that is not met: the original raises by itself
    return difference(vars(got), vars(want), exact=True)
