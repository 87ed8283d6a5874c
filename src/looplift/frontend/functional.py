"""``torch.func.functional_call``: a module's forward pass with other tensors in the place of its parameters."""

from __future__ import annotations

from typing import Any

from looplift.frontend import calls, expressions, inheritance
from looplift.frontend.scope import Builder, Differentiates, Replaced, Structure, Tup, Value
from looplift.ir.grammar import Const, Var

_PARAMETERS = ("module", "parameter_and_buffer_dicts", "args", "kwargs")


def is_functional_call(function: Any) -> bool:
    """Whether it is ``torch.func.functional_call``."""
    import torch

    return function is torch.func.functional_call


def called(build: Builder, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """What the module gives; its own modules of ``torch.nn`` are inlined, down to the functions that they call."""
    if not build.differentiates:
        raise Differentiates
    given = dict(zip(_PARAMETERS, positional)) | keywords
    if len(positional) > len(_PARAMETERS) or not {*_PARAMETERS[:2]} <= given.keys() <= {*_PARAMETERS}:
        raise build.refuse("unknown-call", "'functional_call' with other arguments than a module, tensors and inputs")
    module = given["module"]
    if not isinstance(module, Const) or not module.path or module in build.strangers:
        raise build.refuse("unknown-call", "'functional_call' of a module that is not known before the loop runs")
    replaced = _replaced(build, module, given["parameter_and_buffer_dicts"])
    inputs = _inputs(build, given.get("args", Tup(())))
    named = _named(build, given["kwargs"]) if "kwargs" in given else {}
    outside = build.replaced
    build.replaced = (replaced, *outside)
    try:
        return calls.call_value(build, module, inputs, named)
    finally:
        build.replaced = outside


def attribute(build: Builder, owner: Value, name: str) -> Value | None:
    """What stands for a parameter or buffer of a module now; None if it is its own."""
    if not isinstance(owner, Const):
        return None
    key = id(owner.value), name
    return next((one.values[key] for one in build.replaced if key in one.values), None)


def check_module(build: Builder, callee: Const) -> None:
    """Refuses modules that are called as a whole, with their own parameters, where these are replaced."""
    hidden = {key for one in build.replaced for key in one.hidden}
    if hidden and any(id(one) in hidden for one in (*callee.value.parameters(), *callee.value.buffers())):
        name = type(callee.value).__name__
        raise build.refuse("unknown-call", f"'functional_call' of a module with '{name}', which has no form for it")


def _replaced(build: Builder, module: Const, given: Value) -> Replaced:
    owners = _owners(build, module)
    values: dict[tuple[int, str], Value] = {}
    hidden = set[int]()
    for key, value in _pairs(build, given):
        if not isinstance(key, Const) or key.value not in owners:
            raise build.refuse("unknown-call", "'functional_call' with a name that the module does not have")
        owner, name, tensor = owners[key.value]
        if (id(owner), name) in values:
            raise build.refuse("unknown-call", "'functional_call' with two tensors for one parameter")
        values[id(owner), name] = value
        hidden.add(id(tensor))
    return Replaced(values, frozenset(hidden))


def _owners(build: Builder, module: Const) -> dict[str, tuple[Any, str, Any]]:
    """By their names, the parameters and buffers of a module: who holds each, under what name, and the tensor."""
    whole, path = module.value, module.path
    modules = list(whole.named_modules(remove_duplicate=False))
    found = {
        f"{prefix}.{name}".lstrip("."): (inner, name, tensor)
        for prefix, inner in modules
        for name, tensor in [*inner._parameters.items(), *inner._buffers.items()]
        if tensor is not None
    }
    is_shared = len({id(tensor) for *_, tensor in found.values()}) < len(found)
    if is_shared or len({id(inner) for _, inner in modules}) < len(modules):
        raise build.refuse("unknown-call", "'functional_call' of a module in which two share parameters")
    for listing in ("named_parameters", "named_buffers"):
        names = tuple(name for name, _ in getattr(whole, listing)(remove_duplicate=False))
        build.watch(None, f"tuple([name for name, _ in {path}.{listing}(remove_duplicate=False)])", names)
        count = len({id(one) for _, one in getattr(whole, listing)()})
        build.watch(None, f"len([name for name, _ in {path}.{listing}()])", count)
    return found


def _pairs(build: Builder, given: Value) -> list[tuple[Value, Value]]:
    """The names and tensors of a dict, or of several."""
    if isinstance(given, Tup):
        return [pair for one in given.items for pair in _pairs(build, one)]
    if isinstance(given, Structure) and getattr(given, "kind", "") == "dict":
        view = given.method(build, "items", [], {})
    elif build.is_container(given) and type(build.given(given)) is dict:
        view = calls.of_dict(build, given, "items")
    else:
        view = None
    items = None if view is None else expressions.known_items(build, view)
    if items is None or not all(isinstance(item, Tup) and len(item.items) == 2 for item in items):
        raise build.refuse("unknown-call", "'functional_call' with tensors that are not known name by name")
    return [(item.items[0], item.items[1]) for item in items if isinstance(item, Tup)]


def _inputs(build: Builder, given: Value) -> list[Value]:
    """The positional arguments: the items of a tuple, or one."""
    if isinstance(given, Const) and given.value is None:
        return []
    if (items := expressions.known_items(build, given)) is not None and isinstance(given, Tup | Const):
        return items
    if isinstance(given, Var) and inheritance.is_of(build, given, (tuple,)) is False:
        return [given]
    raise build.refuse("unknown-call", "'functional_call' with inputs that are not known one by one")


def _named(build: Builder, given: Value) -> dict[str, Value]:
    if isinstance(given, Const) and given.value is None:
        return {}
    pairs = _pairs(build, given)
    if not all(isinstance(key, Const) and isinstance(key.value, str) for key, _ in pairs):
        raise build.refuse("unknown-call", "'functional_call' with keywords that are not known")
    return {key.value: value for key, value in pairs if isinstance(key, Const)}
