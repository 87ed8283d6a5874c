"""Attributes that a program sets in, the objects that have them out, once all of its tensors are computed.

The text between the two marks is also part of each emitted program, which so runs without this package.
"""

from __future__ import annotations

# --- begin ---
import types
from typing import Any

import torch


class Attributes:
    """Keeps what is assigned to attributes of objects; nothing is changed before all is done."""

    def __init__(self):
        self.assigned: Any = {}  # of each object and name the object and the value, in the order of first assignments
        self.settable: Any = set()

    def put(self, value, owner, name, *kinds):
        """``owner.name = value``, of an object of one of these classes."""
        kind = type(owner)
        if (kind, name) not in self.settable:
            if kind not in kinds or not self.is_plain(kind, name):
                raise NotImplementedError(f"setting {name!r} of a {kind.__name__}")
            self.settable.add((kind, name))
        self.assigned[id(owner), name] = owner, value

    def get(self, owner, name):
        """``owner.name``, with what was assigned to it so far."""
        found = self.assigned.get((id(owner), name))
        return getattr(owner, name) if found is None else found[1]

    def values_assigned(self):
        """What is assigned, one value for each attribute."""
        return [value for _, value in self.assigned.values()]

    def assign(self, values):
        """Gives the objects their attributes, with these values."""
        for ((_, name), (owner, _)), value in zip(self.assigned.items(), values, strict=True):
            setattr(owner, name, value)

    @staticmethod
    def is_plain(kind, name):
        """Whether an attribute of a class is no more than a place for a value."""
        if issubclass(kind, (torch.Tensor, type, types.ModuleType)) or hasattr(kind, "__getattr__"):
            return False
        if kind.__setattr__ is not object.__setattr__ or kind.__getattribute__ is not object.__getattribute__:
            return False
        stored = next((vars(cls)[name] for cls in kind.__mro__ if name in vars(cls)), None)
        if isinstance(stored, types.MemberDescriptorType):
            return True
        return kind.__dictoffset__ != 0 and not hasattr(stored, "__set__") and not hasattr(stored, "__delete__")


# --- end ---
