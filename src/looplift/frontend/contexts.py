"""``with`` inside of a loop: contexts that change nothing but gradients."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache

from looplift.frontend import expressions, statements
from looplift.frontend.scope import Builder
from looplift.ir.grammar import Const


def enter(build: Builder, node: ast.With) -> None:
    """``with torch.no_grad():`` and ``with torch.inference_mode():``; loops with other contexts stay as they are."""
    import torch

    for item in node.items:
        text = ast.unparse(item.context_expr)
        call = item.context_expr
        called = expressions.evaluate(build, call.func) if isinstance(call, ast.Call) and not call.args else None
        known = isinstance(called, Const) and called.value in (torch.no_grad, torch.inference_mode)
        if not known or item.optional_vars is not None or (isinstance(call, ast.Call) and call.keywords):
            raise build.refuse("exception-handling", f"'with {text}' inside the loop")
        if called.value is torch.inference_mode:  # type: ignore[union-attr]
            build.unrecorded.add("inference")
    with without_history(build):
        statements.translate_block(build, node.body)


@contextmanager
def without_history(build: Builder) -> Iterator[None]:
    """What is translated meanwhile has no history."""
    import torch

    outside = build.without_history
    build.without_history = outside or torch.is_grad_enabled()
    try:
        yield
    finally:
        build.without_history = outside


def undecorated(build: Builder, function: types.FunctionType) -> types.FunctionType | None:
    """The function that ``@torch.no_grad()`` or ``@torch.inference_mode()`` stands above; None for others."""
    import torch

    if function.__code__ is not _wrapper():
        return None
    cells = {name: cell.cell_contents for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ())}
    context = getattr(cells["ctx_factory"], "__self__", None)
    if type(context) not in (torch.no_grad, torch.inference_mode) or not getattr(context, "mode", True):
        return None
    if type(context) is torch.inference_mode:
        build.unrecorded.add("inference")
    return cells["func"] if isinstance(cells["func"], types.FunctionType) else None


@cache
def _wrapper() -> types.CodeType:
    """The code of what such a decorator makes of a function."""
    import torch

    return torch.no_grad()(lambda: None).__code__


def are_entered(nodes: Iterable[ast.stmt]) -> bool:
    """Whether statements have a ``with`` in them."""
    return any(isinstance(inner, ast.With) for node in nodes for inner in ast.walk(node))
