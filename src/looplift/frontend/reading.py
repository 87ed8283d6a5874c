"""Attributes of what a region is given, whose reading must run no code while a variant holds."""

from __future__ import annotations

import types
from typing import Any

from looplift.base.declared import Read, asked, reads_of
from looplift.frontend.scope import Builder
from looplift.ops.names import is_library


def watch(build: Builder, owner: Any, path: str, name: str) -> None:
    """A variant holds while no code runs where the attribute of what is at a path is read."""
    if isinstance(owner, types.ModuleType):
        if "__getattr__" in vars(owner) and not is_library(owner):
            build.watch(vars(owner), f".__contains__({name!r})", True)
    else:
        build.reads += reads_of(owner, path, name, is_guarded=path in build.values)


def watch_each(build: Builder, owners: list[Any], path: str, name: str) -> None:
    """The same for the items of a list."""
    kinds = tuple(dict.fromkeys(map(type, owners)))
    held_in = next(filter(None, (asked(owner, name) for owner in owners)), "")
    build.reads.append(Read(path, name, kinds, each=True, held_in=held_in))
