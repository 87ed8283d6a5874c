"""Calls that train: backward passes and steps of optimizers, whose iterations cannot run together."""

from __future__ import annotations

from typing import Any

from looplift.base.errors import NotLiftable
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


def refusal(build: Builder) -> NotLiftable:
    """Of ``torch.autograd.backward``."""
    hint = "; torch.func.grad under torch.vmap gives the gradients of all iterations at once"
    return build.refuse("training-step", f"'torch.autograd.backward' runs in each iteration{hint}")


def _trains(found: Any, name: str) -> bool:
    import torch

    kinds = (torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler, torch.amp.GradScaler)
    return isinstance(found, kinds) or (name == "zero_grad" and isinstance(found, torch.nn.Module))
