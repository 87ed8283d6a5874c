"""Attributes that the region sets: each is held as a name is, and set at the end.

self.h = torch.tanh(self.W(x) + self.U(self.h))        h = torch.tanh(self.W(x) + self.U(h))
                                                       self.h = h, behind all loops
"""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Iterator
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.base.settable import has_plain_attribute
from looplift.frontend import reading
from looplift.frontend.outer_lists import holds_containers
from looplift.frontend.scope import MISSING, Builder, Restart, Structure, Tup, Value, is_unbound
from looplift.ir.grammar import UNDEFINED, Atom, Block, Const, Var, uses, walk

_OF_ALL = "__dict__ _buffers buffers named_buffers state_dict modules named_modules children named_children".split()
"""Attributes that show others, which no path tells."""


def cell_of(path: str, name: str) -> str:
    return f"<{path}.>{name}"


def held(build: Builder, owner: Atom, name: str) -> Value | None:
    """What an attribute holds that the region sets; None of any other."""
    if not build.attributes:
        return None
    path = owner.path if isinstance(owner, Const) else build.object_path(owner)
    value = build.cells.get(cell_of(path or "", name))
    if value is not None and is_unbound(value):
        raise build.refuse("unsupported-syntax", f"'{path}.{name}' may not be set here")
    return value


def store(build: Builder, target: ast.Attribute, owner: Value, value: Value) -> None:
    """``owner.name = value``."""
    cell = settable(build, target, owner)
    if not _is_plain(value):
        assert isinstance(value, Structure)
        raise value.refusal(build, f"kept in '{ast.unparse(target)}'")
    build.cells[cell] = value


def settable(build: Builder, target: ast.Attribute, owner: Value) -> str:
    """The cell of an attribute; where it has none yet the translation begins again, with one."""
    path = owner.path if isinstance(owner, Const) else build.object_path(owner)
    if not path or owner in build.strangers or is_rebound(build, path):
        raise _refusal(build, target)
    cell = cell_of(path, target.attr)
    if cell not in build.cells:
        given = owner.value if isinstance(owner, Const) else build.param_values[path]
        if not has_plain_attribute(given, target.attr):
            raise _refusal(build, target)
        build.attributes[path, target.attr] = given
        raise Restart
    return cell


def is_rebound(build: Builder, path: str) -> bool:
    """Whether the region binds the name that a path begins with: at the end it leads to something else."""
    return re.split(r"\W", path, maxsplit=1)[0] in build.bound


def begin(build: Builder) -> dict[str, Value]:
    """The cells of all attributes that are set, with what these hold before the region."""
    for (path, name), owner in build.attributes.items():
        reading.watch(build, owner, path, name)
        value = getattr(owner, name, MISSING)
        build.watch(None, f"type({path}).__setattr__", type(owner).__setattr__)
        build.watch(None, f"getattr(type({path}), {name!r}, None)", getattr(type(owner), name, None))
        if value is MISSING:
            build.watch(None, f"hasattr({path}, {name!r})", False)
        given = UNDEFINED if value is MISSING else _given(build, f"{path}.{name}", value)
        build.cells[cell_of(path, name)] = given
    for path in build.grown:
        build.grown[path] = build.emit("list", hint=f"new_{path.rpartition('.')[2]}")
    return dict(build.cells)


def grown(build: Builder, ref: Var) -> Var:
    """The list that an append goes to: of one that an object holds a list of the region's own, by which it grows."""
    path = build.param_path(ref)
    if path is None or "." not in path or type(build.param_values[path]) is not list or is_rebound(build, path):
        return ref
    if (own := build.grown.get(path)) is None:
        build.grown[path] = None
        raise Restart
    return own


def _given(build: Builder, path: str, value: Any) -> Value:
    if value is None or isinstance(value, bool | str):
        build.guards.append((path, value))
        return Const(value)
    if type(value) is tuple:
        build.watch(None, f"(type({path}), len({path}))", (tuple, len(value)))
        return Tup(tuple(_given(build, f"{path}[{place}]", item) for place, item in enumerate(value)))
    return build.live_in(path, value)


def _is_plain(value: Value) -> bool:
    return all(map(_is_plain, value.items)) if isinstance(value, Tup) else not isinstance(value, Structure)


def _refusal(build: Builder, target: ast.Attribute) -> NotLiftable:
    return build.refuse("effect-order", f"the attribute '{ast.unparse(target)}' is set inside the loop")


# ---------------------------------------------------------------- the end


def results(build: Builder, before: dict[str, Value]) -> list[tuple[str, Atom]]:
    """What is set at the end, by its path."""
    found = []
    for path, name in build.attributes:
        value = build.cells[cell_of(path, name)]
        if value is not before[cell_of(path, name)]:
            found.append((f"{path}.{name}", build.atom(value)))
    return found + [(f"{path}[len({path}):]", own) for path, own in build.grown.items() if own is not None]


def check(build: Builder, body: Block) -> None:
    """Refuse where an object whose attributes are set may be seen by another way than its path; guards for the rest."""
    if not (build.attributes or build.grown):
        return
    for path in build.grown:
        _check_grown(build, path, body)
    seen = {*build.params, *build.modules, *(path for path, _ in build.guards), *map(".".join, build.attributes)}
    owners = {tuple(path.rsplit(".", 1)): eval(path.rpartition(".")[0], dict(build.values)) for path in build.grown}
    for (path, name), owner in (build.attributes | owners).items():
        pattern = re.compile(rf"\.(?:{name}|{'|'.join(_OF_ALL)})\b")
        own = re.compile(rf"{re.escape(path)}\.{name}(?:\[\d+\])*$")
        for other in sorted(seen):
            if pattern.search(other) and not own.match(other):
                _keep_apart(build, path, owner, other, name)
        for place in _wholes(build, body):
            if _reaches(place, owner):
                raise build.refuse("effect-order", f"'{path}' is used as a whole, and its attribute '{name}' is set")


def _check_grown(build: Builder, path: str, body: Block) -> None:
    """Nothing in the region may read a list that grows, by this path or another one."""
    var, value = build.params.get(path), build.param_values.get(path)
    held = any(map(holds_containers, build.param_values.values()))
    if held or any(one is var for statement in walk(body) for one in uses(statement)):
        raise build.refuse(
            "effect-order", f"'{path}', a list made outside of what is lifted here, is read and appended to"
        )
    build.watch(None, f"type({path})", list)
    for other, one in build.param_values.items():
        if type(one) is list and other != path:
            if one is value:
                raise build.refuse("aliasing", f"'{path}' and '{other}' are one list")
            build.watch(None, f"({path} is not {other})", True)


def _keep_apart(build: Builder, path: str, owner: Any, other: str, name: str) -> None:
    """An attribute of the same name is read of another object, which must be another one in each call."""
    found = re.fullmatch(rf"([A-Za-z_][\w.]*(?:\[[\w'\"]+\][\w.]*)*)\.{name}(?:\[\d+\])*", other)
    root = re.match(r"\w*", other)
    if found is not None and root is not None and root[0] in build.values:
        if eval(found[1], dict(build.values)) is not owner:
            build.watch(None, f"({path} is not {found[1]})", True)
            return
    raise build.refuse("effect-order", f"the attribute '{path}.{name}' is set, and '{other}' may be the same")


def _wholes(build: Builder, body: Block) -> Iterator[Any]:
    """Objects and network modules that operations are given."""
    given = {var: build.param_values[path] for path, var in build.params.items()}
    for statement in walk(body):
        for operand in uses(statement):
            if isinstance(operand, Const) and operand.path and operand is not UNDEFINED:
                yield operand.value
            elif isinstance(operand, Var) and operand in given:
                yield given[operand]


def _reaches(value: Any, owner: Any) -> bool:
    """Whether a value is an object, or may hold it."""
    import numpy as np
    import torch

    if isinstance(value, torch.nn.Module):
        return not isinstance(owner, torch.nn.Module) or any(one is owner for one in value.modules())
    if type(value) in (list, tuple, dict):
        return any(_reaches(item, owner) for item in (value.values() if type(value) is dict else value))
    plain = (torch.Tensor, np.ndarray, np.generic, int, float, complex, str, bytes, bool, type(None), range)
    functions = (types.FunctionType, types.BuiltinFunctionType, type, types.ModuleType)
    return not isinstance(value, (*plain, *functions, torch.dtype, torch.device))
