"""Calls of modules: those of ``torch.nn`` are tensor operations, those of the user are functions."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

from looplift.base.hooks import HOOKS
from looplift.frontend.host_flow import Flow, Operation, refuse
from looplift.frontend.host_tables import CELLS, MODULES
from looplift.frontend.host_values import Atom, Live


def module_call(flow: Flow, callee: Live, node: ast.Call, enter: Callable[..., set[Atom]]) -> set[Atom]:
    module = callee.value
    home = callee.path or flow.homes.get(id(module))
    if home is None:
        refuse("unknown-call", f"the module of '{ast.unparse(node)}' cannot be reached by a name", node)
    require_plain(flow, module, home, node)
    kind = type(module)
    if kind.__module__.startswith("torch."):
        return _builtin_module(flow, module, node)
    forward = kind.forward
    if not isinstance(forward, types.FunctionType) or "forward" in module.__dict__:
        refuse("unknown-call", f"the 'forward' of a '{kind.__name__}' is not a plain method", node)
    flow.guard(f"{home}.forward.__code__", forward.__code__)
    return enter(flow, forward, callee, kind, node)


SETTINGS = ("dim", "inplace", "max_norm", "scale_grad_by_freq", "sparse", "p")
"""Attributes of modules of ``torch.nn`` that decide whether and how rows are computed together."""


def require_plain(flow: Flow, module: Any, path: str, node: ast.AST) -> None:
    """A call of the module runs its forward and nothing else; in eval mode where that makes a difference."""
    import torch

    kind = type(module)
    if any(getattr(module, name, None) for name in HOOKS):
        refuse("unknown-call", f"the module '{ast.unparse(node)}' has hooks", node)
    if kind.__call__ is not torch.nn.Module.__call__ or getattr(module, "_compiled_call_impl", None) is not None:
        refuse("unknown-call", f"a '{kind.__name__}' is not called in the usual way", node)
    flow.guard(f"type({path})", kind)
    hooks = " or ".join(f"{path}.{name}" for name in HOOKS)
    flow.guard(f"bool({hooks})", False)
    for name in SETTINGS if kind.__module__.startswith("torch.") else ():
        if name in vars(module):
            flow.guard(f"{path}.{name}", vars(module)[name])
    if hasattr(module, "normalized_shape"):
        flow.guard(f"len({path}.normalized_shape)", len(module.normalized_shape))
    if kind.__name__.startswith("Dropout"):
        if module.training and module.p > 0:
            refuse("random-order", "dropout in training draws random numbers", node)
        flow.guard(f"{path}.training", module.training)
    if kind.__name__ == "Sequential":
        flow.guard(f"len({path})", len(module))
        for position, child in enumerate(module):
            require_plain(flow, child, f"{path}[{position}]", node)
            if module_family(child) is None:
                refuse("unknown-call", f"a '{type(child).__name__}' is not in the table of modules", node)


def module_family(module: Any) -> str | None:
    """The family of a module of ``torch.nn`` that treats each row by itself, None for others."""
    kind = type(module)
    if not kind.__module__.startswith("torch.nn.modules") or "forward" in module.__dict__:
        return None
    if kind.__name__ == "Embedding" and (module.max_norm is not None or module.scale_grad_by_freq or module.sparse):
        return None
    if kind.__name__ in ("Softmax", "LogSoftmax") and module.dim is None:
        return None
    if getattr(module, "inplace", False):
        return None
    return MODULES.get(kind.__name__)


def _builtin_module(flow: Flow, module: Any, node: ast.Call) -> set[Atom]:
    name, family = type(module).__name__, module_family(module)
    if family is None or node.keywords:
        refuse("unknown-call", f"a '{name}' called like this is not in the table of modules", node)
    operation = Operation(name, family, "module", tuple(node.args), {}, module)
    rank = flow.rank(flow.values[node.args[0]])
    if rank is not None and rank >= 0:
        rank += sum(family_rank(item) for item in (module if family == "sequential" else [module]))
    if name in CELLS:
        return flow.lane(node, operation, rank, 2 if name == "LSTMCell" else -1)
    return flow.lane(node, operation, rank)


def family_rank(module: Any) -> int:
    """By how much the module raises the rank."""
    if module_family(module) == "sequential":
        return sum(map(family_rank, module))
    return 1 if module_family(module) == "embedding" else 0
