"""``with`` inside of a loop: contexts that change nothing but gradients."""

from __future__ import annotations

import ast

from looplift.frontend import expressions, statements
from looplift.frontend.scope import Builder
from looplift.ir.grammar import Const


def enter(build: Builder, node: ast.With) -> None:
    """``with torch.no_grad():`` where no gradients are recorded anyhow; other contexts stay as they are."""
    import torch

    for item in node.items:
        text = ast.unparse(item.context_expr)
        call = item.context_expr
        called = expressions.evaluate(build, call.func) if isinstance(call, ast.Call) and not call.args else None
        known = isinstance(called, Const) and called.value in (torch.no_grad, torch.inference_mode)
        if not known or item.optional_vars is not None or (isinstance(call, ast.Call) and call.keywords):
            raise build.refuse("exception-handling", f"'with {text}' inside the loop")
        if torch.is_grad_enabled() or called.value is torch.inference_mode:  # type: ignore[union-attr]
            raise build.refuse("exception-handling", f"'with {text}' inside the loop; put it around the loop")
    statements.translate_block(build, node.body)
