"""Tensors of a region that are on several devices: where lanes would mix them up, and what is moved.

In a loop each iteration moves single values, ``out[i] = found`` of a device into a tensor on the CPU; lanes move all of
them at once. What is on one device in some iterations and on another one in others is no lane.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from looplift.base.devices import default_device
from looplift.base.errors import NotLiftable
from looplift.ir.array import Node
from looplift.ir.facts import Facts
from looplift.ir.grammar import Append, Atom, If, Loop, Range, Statement, Var, walk

CPU = torch.device("cpu")


def checks_places(facts: Facts) -> bool:
    """Whether places that tensors tell are checked before they are read: on a device one that is outside of its tensor
    would end the process, where the CPU raises."""
    return not facts.devices <= {CPU}


def check_devices(facts: Facts) -> None:
    """Raises NotLiftable where a value is on another device in other iterations."""
    if (device := default_device()) is not None and any(not _is_on(found, device) for found in facts.devices):
        made = f"new tensors are made on {device}, torch's default device; these are on {_listed(facts.devices)}"
        raise NotLiftable("two-devices", made, facts.function.span)
    if len(facts.devices) < 2:
        return
    if len(facts.devices - {CPU}) > 1:
        raise NotLiftable("two-devices", f"its tensors are on {_listed(facts.devices)}", facts.function.span)
    inner = _inner_loops(facts)
    for statement in walk(facts.function.body):
        for name, one, other in _met(facts, statement, inner):
            if one.device != other.device:
                where = _listed({one.device, other.device})
                raise NotLiftable("two-devices", f"'{name}' is on {where}, by iteration", statement.span)


def _is_on(found: torch.device, device: torch.device) -> bool:
    return found.type == device.type and device.index in (None, found.index)


def _listed(devices: Iterable[torch.device]) -> str:
    return " and on ".join(sorted(map(str, devices)))


def _inner_loops(facts: Facts) -> set[Loop]:
    """Loops inside of others that may run zero times in some iterations of those."""
    found = set()
    for outer in walk(facts.function.body):
        for loop in walk(outer.body) if isinstance(outer, Loop) else ():
            bounds = (
                (loop.domain.lo, loop.domain.hi) if isinstance(loop, Loop) and isinstance(loop.domain, Range) else ()
            )
            if isinstance(loop, Loop) and (not bounds or any(facts[bound].loops for bound in bounds)):
                found.add(loop)
    return found


def _met(facts: Facts, statement: Statement, inner: set[Loop]) -> list[tuple[str, torch.Tensor, torch.Tensor]]:
    """Tensors that are one value, or items of one list: its name, and two of them."""
    pairs: list[tuple[str, Any, Any]] = []
    match statement:
        case If(phis=phis):
            pairs = [(phi.var.hint, facts[phi.then].sample, facts[phi.orelse].sample) for phi in phis]
        case Loop(carries=carries):
            pairs = [(one.hint, facts[one.init].sample, facts[one.next].sample) for one in carries]
            if statement not in inner and isinstance(statement.domain, Range):
                pairs = [(name, a, b) for name, a, b in pairs if not _begins_as_a_number(a, b)]
        case Append(ref=ref, value=value):
            items = facts[ref].sample
            pairs = [(ref.hint, items[0], facts[value].sample)] if isinstance(items, list) and items else []
    return [pair for pair in pairs if all(isinstance(one, torch.Tensor) for one in pair[1:])]


def _begins_as_a_number(before: Any, after: Any) -> bool:
    """``total = torch.zeros(())`` on the CPU, to which tensors of a device are added: it is there from then on."""
    return all(isinstance(one, torch.Tensor) and not one.dim() for one in (before, after)) and before.device == CPU


def at_home(facts: Facts, owner: Atom | None, value: Node) -> Node:
    """A value where the tensor of this variable is in the loop."""
    if not isinstance(owner, Var) or (not value.kind.is_array and not value.axes) or len(facts.devices) < 2:
        return value
    sample = facts[owner].sample
    if not isinstance(sample, torch.Tensor):
        return value
    attrs = {"device": str(sample.device), "extents": value.attrs.get("extents")}
    return Node("moved", (value,), value.axes, value.kind, attrs, value.hint)


def check_items(facts: Facts, owner: Atom | None) -> None:
    """Raises NotLiftable for a list of tensors that are on the CPU where others are on a device."""
    items = facts[owner].sample if isinstance(owner, Var) and len(facts.devices) > 1 else None
    if isinstance(items, list | tuple) and any(isinstance(one, torch.Tensor) and one.device == CPU for one in items):
        assert isinstance(owner, Var)
        text = f"'{owner.hint}' holds tensors that are on the CPU, beside others on a device"
        raise NotLiftable("two-devices", text, facts.function.span)
