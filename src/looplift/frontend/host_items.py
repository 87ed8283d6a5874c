"""What the host knows item by item: lists and dicts of modules and functions, parameters of a module."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import torch

from looplift.base.syntax import nodes_of
from looplift.frontend import nested
from looplift.frontend.scope import Builder, Tup, Value
from looplift.ir.facts import Kind, kind_of
from looplift.ir.grammar import Const

MAX_ITEMS = 64
"""A loop over more items than this is not unrolled."""
MAX_MODULES = 256
"""The same of modules, each of which takes long to call."""

MAX_SIZES = 8
"""More integers in a tuple are not taken for the sizes of something."""

_LISTED = ("parameters", "buffers", "children", "modules")
_NAMED = tuple(f"named_{name}" for name in _LISTED)


def items_of(build: Builder, value: Value) -> list[Value] | dict[Any, Value] | None:
    """The items of a host value that a loop over it takes one by one; None if it is no such value."""
    path, found = _reached(build, value)
    if path is None:
        return None
    import torch

    if isinstance(found, torch.nn.ModuleList | torch.nn.Sequential | torch.nn.ParameterList):
        return _listed(build, path, found)
    if isinstance(found, torch.nn.ModuleDict | torch.nn.ParameterDict) or type(found) is dict:
        return _keyed(build, path, found) if type(found) is not dict or _is_host_dict(found) else None
    if is_host_list(found) or (build.sizes and _are_sizes(found)):
        return _listed(build, path, found)
    return None


def _reached(build: Builder, value: Value) -> tuple[str | None, Any]:
    """The path by which the region reaches a value of the host, and the value."""
    if isinstance(value, Const) and value.path:
        if value in build.strangers:
            return None, None
        return value.path, value.value
    for path, var in build.params.items():
        if var is value:
            return path, build.param_values[path]
    return None, None


def is_host_list(values: Any) -> bool:
    """Whether items cannot be lanes of one value: they are functions or modules, or of different kinds."""
    if type(values) not in (list, tuple) or not 0 < len(values) <= most_items(values):
        return False
    if any(_holds_static(value) for value in values):
        return True
    kinds = {*map(kind_of, values)}
    if len(kinds) == 1 and all(kind.is_array and kind.rank > 1 for kind in kinds):
        return len({value.shape[-1] for value in values}) > 1
    return not _agree(kinds) and all(kind.is_array or kind.family in ("none", "tuple") for kind in kinds)


def _are_sizes(values: Any) -> bool:
    """Whether it is a tuple of a few integers, or holds such tuples alone."""
    if type(values) not in (list, tuple) or not 0 < len(values) <= MAX_ITEMS:
        return False
    if type(values) is tuple and all(type(value) is int for value in values):
        return len(values) <= MAX_SIZES
    return all(type(value) is tuple and _are_sizes(value) for value in values)


def most_items(values: Sequence[Any]) -> int:
    """How many items are known one by one, at most."""
    is_modules = len(values) > MAX_ITEMS and all(isinstance(value, torch.nn.Module) for value in values)
    return MAX_MODULES if is_modules else MAX_ITEMS


def _agree(kinds: set[Kind]) -> bool:
    """Whether all are one kind; an empty list agrees with any list, in tuples too."""
    if any(kind.family == "list" and kind.items for kind in kinds):
        kinds = kinds - {Kind("list")}
    forms = {(kind.family, len(kind.items)) for kind in kinds}
    if len(kinds) > 1 and len(forms) == 1 and "tuple" in next(iter(forms)):
        return all(_agree(set(column)) for column in zip(*(kind.items for kind in kinds), strict=True))
    return len(kinds) <= 1


def _holds_static(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_holds_static, value))
    return callable(value) and not isinstance(value, torch.Tensor)


def _is_host_dict(values: dict[Any, Any]) -> bool:
    """Whether a dict is a record: words or numbers as keys, and tensors, functions or modules under them."""
    if not 0 < len(values) <= MAX_ITEMS or not all(isinstance(key, str | int) for key in values):
        return False
    return all(_holds_static(value) or kind_of(value).is_array for value in values.values())


def _listed(build: Builder, path: str, found: Any) -> list[Value]:
    if len(found) > (most := most_items(found)):
        raise build.refuse("unsupported-iterable", f"'{path}' has more than {most} items of different kinds")
    if type(found) is not tuple:
        build.watch(None, f"len({path})", len(found))
    return [item_at(build, f"{path}[{k}]", item) for k, item in enumerate(found)]


def _keyed(build: Builder, path: str, found: Any) -> dict[Any, Value]:
    build.watch(None, f"tuple({path})", tuple(found))
    return {key: item_at(build, f"{path}[{key!r}]", item) for key, item in found.items()}


def item_at(build: Builder, path: str, item: Any) -> Value:
    """The value at a path; a tuple is known item by item."""
    if type(item) is tuple and (_holds_static(item) or (build.sizes and _are_sizes(item))):
        build.watch(None, f"(type({path}), len({path}))", (tuple, len(item)))
        return Tup(tuple(item_at(build, f"{path}[{k}]", one) for k, one in enumerate(item)))
    if build.sizes and type(item) is int:
        build.fixed.add(path)
    return build.live_in(path, item)


# ---------------------------------------------------------------- what is computed before the region

_PURE = frozenset("sorted set frozenset list tuple len min max sum range reversed abs int float str bool".split())
_PLAIN = (int, float, str, bool, type(None), range)


def made_beforehand(build: Builder, node: ast.Call) -> Value | None:
    """The value of ``sorted(set(names))`` and the like, of plain values of the caller: an argument of its own."""
    if build.changes or not build.frame.is_root or not _is_pure(build, node):
        return None
    text = ast.unparse(node)
    try:
        found = eval(text, dict(build.values))
    except Exception:  # raises in the loop too, at its own place
        return None
    if not isinstance(found, list | set | frozenset):
        return None
    build.beforehand = True
    items = build.live_in(f"list({text})", list(found))
    return items if isinstance(found, list) else nested.Frozen(type(found), items)


def _is_pure(build: Builder, node: ast.expr) -> bool:
    """Whether an expression calls builtins only, on names that are bound before the region to plain values."""
    bound = {arg.arg for part in nodes_of(node) if isinstance(part, ast.Lambda) for arg in part.args.args}
    for part in nodes_of(node):
        match part:
            case ast.Call(func=ast.Name(id=name)):
                if name not in _PURE or not build.is_builtin(name):
                    return False
            case ast.Call(func=ast.Attribute(attr=name)):
                if name not in ("keys", "values", "items"):
                    return False
            case ast.Name(id=name) if name not in bound and not (name in _PURE and build.is_builtin(name)):
                if name in build.bound or name not in build.values or not _is_plain(build.values[name]):
                    return False
            case ast.NamedExpr() | ast.Await() | ast.Yield():
                return False
    return True


def _is_plain(value: Any, depth: int = 0) -> bool:
    if isinstance(value, _PLAIN):
        return True
    if depth > 3:
        return False
    if type(value) is dict:
        value = [*value, *value.values()]
    return type(value) in (list, tuple, set) and all(_is_plain(one, depth + 1) for one in value)


# ---------------------------------------------------------------- parameters and the like


def module_listing(build: Builder, owner: Value, name: str) -> list[Value] | None:
    """The values of ``module.parameters()`` and the like; None if that is something else."""
    import torch

    path, found = _reached(build, owner)
    if path is None or not isinstance(found, torch.nn.Module):
        return None
    kinds = (torch.nn.ModuleDict, torch.nn.ParameterDict)
    if isinstance(found, kinds) and name in ("items", "keys", "values"):
        table = _keyed(build, path, found)
        return {"keys": list(map(Const, table)), "values": list(table.values()), "items": _pairs(table)}[name]
    listing = f"named_{name}" if name in _LISTED else name
    if listing not in _NAMED or getattr(type(found), name, None) is not getattr(torch.nn.Module, name):
        return None
    pairs = list(getattr(found, listing)())
    if len(pairs) > MAX_ITEMS:
        raise build.refuse("unsupported-iterable", f"'{path}.{name}()' gives more than {MAX_ITEMS} items")
    build.watch(None, f"tuple([name for name, _ in {path}.{listing}()])", tuple(key for key, _ in pairs))
    values: dict[Any, Value] = {key: build.live_in(_path_of(path, found, key), item) for key, item in pairs}
    return _pairs(values) if name == listing else list(values.values())


def is_dict_view(build: Builder, owner: Value, name: str) -> bool:
    """Whether such a listing may be iterated again and again."""
    import torch

    _, found = _reached(build, owner)
    return isinstance(found, torch.nn.ModuleDict) or (isinstance(found, torch.nn.ParameterDict) and name == "keys")


def _pairs(values: dict[Any, Value]) -> list[Value]:
    return [Tup((Const(key), value)) for key, value in values.items()]


def _path_of(path: str, owner: Any, dotted: str) -> str:
    """``net.0.weight`` as an expression: ``net[0].weight``."""
    import torch

    for part in dotted.split(".") if dotted else ():
        if part.isdecimal() and isinstance(owner, torch.nn.ModuleList | torch.nn.Sequential | torch.nn.ParameterList):
            owner, path = owner[int(part)], f"{path}[{int(part)}]"
        elif part.isidentifier() and hasattr(owner, part):
            owner, path = getattr(owner, part), f"{path}.{part}"
        else:
            owner, path = owner._modules[part], f"{path}._modules[{part!r}]"
    return path
