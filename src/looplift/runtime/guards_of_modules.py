"""A network module and the text that names it in; conditions that hold for modules which run and batch alike out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from looplift.base.hooks import GLOBAL_HOOKS, HOOKS

if TYPE_CHECKING:
    from looplift.runtime.guards import Writer

_SETTINGS = ("dim", "inplace", "return_indices", "batch_first", "dropout", "track_running_stats")
"""What torch's own modules hold that tells which dimensions they work on, what they give and whether they draw."""

_CONTAINERS = (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ModuleDict)
"""What is in these is guarded where it is called."""


def of_module(writer: Writer, text: str, value: torch.nn.Module) -> list[str]:
    """Its class, what decides how it is batched, and that calls of it run nothing but its ``forward``."""
    general = writer.constant(torch.nn.modules.module.__dict__)
    names = [name for name in GLOBAL_HOOKS if name in torch.nn.modules.module.__dict__]
    everywhere = " or ".join(f"{general}[{name!r}]" for name in names)
    table = writer.temporary()
    hooked = " or ".join(f"{table}[{name!r}]" for name in HOOKS)
    has_hooks = any(getattr(value, name, None) for name in HOOKS)
    own_forward = "in" if "forward" in vars(value) else "not in"
    return [
        writer.type_is(text, value),
        f"'forward' {own_forward} ({table} := {text}.__dict__)",
        f"{'' if value.training else 'not '}{table}['training']",
        f"{'' if has_hooks else 'not '}({hooked})",
        f"not ({everywhere})",
        *_of_settings(writer, text, table, value),
    ]


def _of_settings(writer: Writer, text: str, table: str, value: torch.nn.Module) -> list[str]:
    """Those of a module of torch's; what a user's class holds is guarded where it is read."""
    if not type(value).__module__.startswith("torch.nn."):
        return []
    held = vars(value)
    out = [f"{table}[{name!r}] == {held[name]!r}" for name in _SETTINGS if _is_plain_setting(held.get(name, ...))]
    if isinstance(normalized := held.get("normalized_shape"), tuple):
        out.append(f"{writer.builtin('len')}({table}['normalized_shape']) == {len(normalized)}")
    if "running_mean" in held["_buffers"]:
        without = held["_buffers"]["running_mean"] is None
        out.append(f"({table}['_buffers']['running_mean'] is None) is {without}")
    if held["_modules"] and not isinstance(value, _CONTAINERS):
        out.append(f"{writer.constant(inside)}({text}) == {inside(value)!r}")
    return out


def inside(layer: torch.nn.Module) -> list[Any]:
    """What decides how the modules in a layer run: their classes, modes and settings, and whether they have hooks."""
    found: list[Any] = []
    for name, one in layer.named_modules():
        held = one.__dict__
        hooked = "forward" in held or any(held[hooks] for hooks in HOOKS)
        settings = [held.get(setting) for setting in ("batch_first", "dropout", "p")]
        found.append((name, type(one).__qualname__, one.training, hooked, *map(repr, settings)))
    return found


def _is_plain_setting(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float)
