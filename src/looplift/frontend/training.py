"""Calls that train: backward passes and steps of optimizers, whose iterations cannot run together."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.base.syntax import nodes_of
from looplift.frontend.scope import Builder, Value
from looplift.ir.grammar import Const


def check_method(build: Builder, owner: Value, name: str) -> None:
    """Refuses ``loss.backward()``, ``optimizer.step()`` and the like in words of their own."""
    path = build.param_path(owner) or (owner.path if isinstance(owner, Const) else "")
    found = build.param_values.get(path, owner.value if isinstance(owner, Const) else None)
    text = f"{path or 'a loss'}.{name}()"
    if name == "backward":
        raise build.refuse("training-step", f"'{text}' leaves gradients behind, one iteration after the other")
    if name in ("step", "zero_grad") and _trains(found, name):
        raise build.refuse("training-step", f"'{text}' changes what the next iteration starts from")


def steps(statements: list[ast.stmt], values: Mapping[str, Any]) -> bool:
    """Whether statements call the ``step`` of an optimizer: what they train is no loop over gradients."""
    calls = (node for statement in statements for node in nodes_of(statement) if isinstance(node, ast.Call))
    owners = (call.func.value for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "step")
    return any(_trains(_held(owner, values), "step") for owner in owners)


def _held(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """What a name, or an attribute that an object itself holds, stands for."""
    if isinstance(node, ast.Attribute):
        return getattr(_held(node.value, values), "__dict__", {}).get(node.attr)
    return values.get(node.id) if isinstance(node, ast.Name) else None


def refusal(build: Builder) -> NotLiftable:
    """Of ``torch.autograd.backward``."""
    hint = "; torch.func.grad under torch.vmap gives the gradients of all iterations at once"
    return build.refuse("training-step", f"'torch.autograd.backward' runs in each iteration{hint}")


def _trains(found: Any, name: str) -> bool:
    import torch

    kinds = (torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler, torch.amp.GradScaler)
    return isinstance(found, kinds) or (name == "zero_grad" and isinstance(found, torch.nn.Module))
