"""``torch.autograd.grad`` inside of a loop: one operation for each input, whose derivative the IR writes out later.

Modules on the way become functions of their parameters, so that there are values to differentiate by.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from looplift.frontend import backward
from looplift.frontend.scope import STATIC, Builder, Differentiates, Structure, Tup, Value
from looplift.ir.grammar import Append, Atom, Block, Const, Let, Operand, Statement, Store, Var, definitions, uses, walk
from looplift.ir.slopes import GRADIENT, stops


def gradients(build: Builder, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """The gradients of one output by each input, as a tuple."""
    import torch

    names = ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs", "allow_unused")
    given = dict(zip(names, positional)) | keywords
    if not {*given} <= {*names} or len(positional) > len(names) or not {"outputs", "inputs"} <= {*given}:
        raise build.refuse("gradient", "'torch.autograd.grad' with arguments for which there is no batched form")
    if not torch.is_grad_enabled():
        raise build.refuse("gradient", "'torch.autograd.grad' where no gradients are recorded")
    if not build.differentiates:
        raise Differentiates
    (output,), inputs = _listed(build, given["outputs"], 1), _listed(build, given["inputs"], None)
    creates = _flag(build, given.get("create_graph", Const(False)))
    retains = _flag(build, given.get("retain_graph", Const(None)))
    kwargs: dict[str, Operand] = {"creates": Const(creates), "retains": Const(creates if retains is None else retains)}
    seeds = given.get("grad_outputs", Const(None))
    if not isinstance(seeds, Const):
        kwargs["seed"] = _listed(build, seeds, 1)[0]
    guard_tensors(build)
    return Tup(tuple(build.operation(GRADIENT, (output, one), kwargs, "slope") for one in inputs))


def guard_tensors(build: Builder) -> None:
    """Guards hold which live-ins are one tensor, and that none has a history or a hook."""
    import torch

    firsts: dict[int, str] = {}
    for path, value in build.param_values.items():
        if isinstance(value, torch.Tensor) and value.requires_grad:
            first = firsts.setdefault(id(value), path)
            if first != path:
                build.watch(None, f"({path} is {first})", True)
                build.same.setdefault(build.params[first], {build.params[first]}).add(build.params[path])
    if len(firsts) > 1:
        build.watch(None, f"len({{*map(id, ({', '.join(firsts.values())}))}})", len(firsts))
    for path in firsts.values():
        value = build.param_values[path]
        if value._backward_hooks:
            raise build.refuse("gradient", f"'{path}' has hooks, which run in each backward pass")
        build.watch(None, f"({path}.is_leaf, not {path}._backward_hooks)", (value.is_leaf, True))


def _listed(build: Builder, value: Value, count: int | None) -> list[Atom]:
    """The tensors of an argument that is a tensor, or a list or tuple of some."""
    from looplift.frontend import host_items, structures

    items: Any = [value]
    if isinstance(value, Tup):
        items = value.items
    elif isinstance(value, Structure):
        items = value.listed(build)
    elif (made := _display(build, value)) is not None:
        items = made
    elif isinstance(found := host_items.items_of(build, value), list | tuple):
        items = found
    elif isinstance(made := _before_loops(build, value), Var) and made in build.displays - build.lengthened:
        structures.restart(build, build.sites[made], STATIC)
    if items is None or (count is not None and len(items) != count):
        raise build.refuse("gradient", "'torch.autograd.grad' of something that is not known item by item")
    return [build.atom(item) for item in items]


def _before_loops(build: Builder, value: Value) -> Value:
    """What a name holds before the loops that bind it anew."""
    while isinstance(value, Var) and value in build.entered:
        value = build.entered[value]
    return value


def _display(build: Builder, value: Value) -> list[Operand] | None:
    """The items of a list that was written down just now."""
    last = build.blocks[-1][-1] if build.blocks[-1] else None
    is_list = isinstance(last, Let) and last.var is value and last.op.name == "list"
    return list(last.op.args) if is_list else None  # type: ignore[union-attr]


def _flag(build: Builder, value: Value) -> bool | None:
    if not isinstance(value, Const) or not (value.value is None or isinstance(value.value, bool)):
        raise build.refuse("gradient", "a flag of 'torch.autograd.grad' that is not known before the loop runs")
    return value.value


def asks_for_gradients(build: Builder, owner: Value, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """``x.requires_grad_()``: ``x``, noted as one to differentiate by."""
    import torch

    if not torch.is_grad_enabled():  # it and its views ask for a gradient then, and nothing else that is computed
        raise build.refuse("gradient", "'.requires_grad_(...)' where no gradients are recorded")
    flags = [*positional, *keywords.values()]
    if not isinstance(owner, Var) or any(not isinstance(flag, Const) or flag.value is not True for flag in flags):
        raise build.refuse("gradient", "'.requires_grad_(...)' of something else than a tensor made in the loop")
    _note_what_is_made(build, owner)
    build.leaves.add(owner)
    backward.made_leaf(build, owner)
    return owner


def set_to_ask(build: Builder, owner: Atom, value: Value) -> None:
    """``x.requires_grad = True``."""
    asks_for_gradients(build, owner, [value], {})
    if isinstance(owner, Var):
        build.set_leaves.add(owner)


def _note_what_is_made(build: Builder, leaf: Var) -> None:
    """What was made of a leaf before it asked for a gradient has none."""
    if leaf in build.leaves or build.param_path(leaf) is not None:
        return
    if not any(leaf in definitions(statement) for statement in build.blocks[-1]):
        raise build.refuse("gradient", "'.requires_grad_(...)' in a branch or loop of a tensor made outside of it")
    before = [statement for block in build.blocks for statement in walk(block)]
    if made := _made_of(leaf, before):
        build.constants |= made
        build.before_leaves += before


def _made_of(leaf: Var, statements: list[Statement]) -> set[Var]:
    found: set[Atom] = {leaf}
    for statement in statements:
        if not _stops(statement) and any(atom in found for atom in uses(statement)):
            found |= {statement.ref} if isinstance(statement, Append | Store) else {*definitions(statement)}
    return {atom for atom in found if isinstance(atom, Var)} - {leaf}


def _stops(statement: Statement) -> bool:
    return isinstance(statement, Let) and stops(statement.op)


def check(build: Builder, body: Block, results: Iterable[Atom]) -> None:
    """Refuses later uses of what was made of a leaf before it asked for a gradient: one would flow through them."""
    if not build.constants:
        return
    before = {id(statement) for statement in build.before_leaves}
    for statement in walk(body):
        if id(statement) not in before and not _stops(statement) and not build.constants.isdisjoint(uses(statement)):
            raise build.refuse("gradient", EARLY)
    if not build.constants.isdisjoint(results):
        raise build.refuse("gradient", EARLY)


EARLY = "'.requires_grad_(...)' behind what was made of its tensor, and is used later: call it at once"


def attribute(build: Builder, owner: Atom, name: str) -> Value | None:
    """``p.requires_grad`` of a tensor of the caller's, which is known before the loop runs, and ``p.grad`` where the
    region goes back; None of any other attribute."""
    import torch

    if name == "grad":
        return backward.gradient(build, owner)
    if name == "data" and owner in build.passes.given:
        return build.emit("method.detach", owner)

    path = build.param_path(owner) if name == "requires_grad" else None
    if path is None or not isinstance(given := build.param_values[path], torch.Tensor):
        return None
    build.watch(None, f"{path}.requires_grad", given.requires_grad)
    return Const(given.requires_grad)


FUNCTIONAL = frozenset(
    """LayerNorm RMSNorm GELU SiLU Mish Softplus ELU SELU CELU LeakyReLU ReLU ReLU6 Hardtanh Hardsigmoid Hardswish
    LogSigmoid Softsign Tanhshrink Tanh Sigmoid Linear Embedding Conv1d Conv2d""".split()
)
"""Modules of ``torch.nn`` whose ``forward`` calls one function on their attributes, for which there is a rule."""


def is_functional(build: Builder, module: Any) -> bool:
    """Whether a module is inlined so that gradients by its parameters can be written out."""
    return build.differentiates and type(module).__name__ in FUNCTIONAL and not getattr(module, "inplace", False)


def with_fixed_options(build: Builder, callee: Const) -> None:
    """The integers and floats that a module of ``torch.nn`` hands to its function are guarded: rules depend on them."""
    if build.differentiates:
        options = {name for name, value in vars(callee.value).items() if type(value) in (int, float)}
        build.fixed.update(f"{callee.path}.{name}" for name in options)


def module(build: Builder, callee: Const, positional: list[Value]) -> Value | None:
    """The call of a module of ``torch.nn`` as a function of its parameters too; None for others."""
    if not build.differentiates or len(positional) != 1:
        return None
    found, (value,) = callee.value, positional
    kind = type(found).__name__
    if kind == "Identity":
        return value
    if kind in ("Dropout", "Dropout1d", "Dropout2d") and not found.training:
        build.watch(None, f"{callee.path}.training", False)
        return value
    if kind in ("Softmax", "LogSoftmax") and type(found.dim) is int:
        build.watch(None, f"{callee.path}.dim", found.dim)
        name = {"Softmax": "torch.softmax", "LogSoftmax": "torch.log_softmax"}[kind]
        return build.emit(name, build.atom(value), Const(found.dim))
    if kind in ("BatchNorm1d", "BatchNorm2d") and not found.training and found.running_mean is not None:
        build.watch(None, f"{callee.path}.training", False)
        names = ("running_mean", "running_var", "weight", "bias")
        state = [build.live_in(f"{callee.path}.{name}", getattr(found, name)) for name in names]
        build.watch(None, f"{callee.path}.eps", found.eps)
        options = {"training": Const(False), "eps": Const(found.eps)}
        return build.operation("torch.nn.functional.batch_norm", [build.atom(value), *state], options)
    return None
