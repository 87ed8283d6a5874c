"""The slopes of what one operation takes, by torch itself, from the slopes of its results.

h = logsigmoid(z)         ->          slope_z = slopes_through(logsigmoid)(slope_h, z)

So an operation needs no derivative that is written down here: it runs once more, on leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Any

from looplift.ir.grammar import Atom, Const, Op, operands
from looplift.ir.slopes import CHOICES, THROUGH, Called, Differentiated, filled
from looplift.ops import table
from looplift.ops.evaluate import apply, evaluate

Value = Callable[[Atom], Any]


RAISED = (RuntimeError, TypeError, ValueError, IndexError)
"""What torch says of operations that it does not take, or does not differentiate."""


def differentiated(op: Op, ends: list[Atom], value: Value) -> Differentiated | None:
    """Through which results torch goes back to which of the ``ends``, of these values; None where nobody knows."""
    if not _may_run_again(op, value):
        return None
    import torch

    leaves = {end: value(end).detach().clone().requires_grad_() for end in ends}
    try:
        results = _results(op, lambda atom: leaves.get(atom, _without_history(atom, value)))
        if not all(isinstance(one, torch.Tensor) for one in results):
            return None
        flowing = [k for k, one in enumerate(results) if one.requires_grad]
        if not flowing:
            return Differentiated([], [False for _ in ends], [False for _ in ends])
        seeds = [torch.ones_like(results[k]) for k in flowing]
        found = torch.autograd.grad([results[k] for k in flowing], [*leaves.values()], seeds, allow_unused=True)
    except RAISED:
        return None
    memory = {*map(_memory, seeds), None}
    shows = [slope is not None and _memory(slope) in memory for slope in found]
    return Differentiated(flowing, [slope is not None for slope in found], shows)


def asks(op: Op, asking: Container[Atom], value: Value) -> bool:
    """Whether all floating results of an operation ask for a gradient, where some of its operands do."""
    if not _may_run_again(op, value):
        return False
    if op.name in CHOICES and not all(atom in asking for atom in operands(op)):
        return False
    import torch

    def leaf(atom: Atom) -> Any:
        given = _without_history(atom, value)
        asked = atom in asking and isinstance(given, torch.Tensor) and given.is_floating_point()
        return given.clone().requires_grad_() if asked else given

    try:
        results = _results(op, leaf)
    except RAISED:
        return False
    floating = [one for one in results if isinstance(one, torch.Tensor) and one.is_floating_point()]
    return bool(floating) and all(one.requires_grad for one in floating)


def may_raise(op: Op) -> bool:
    """Whether an operation raises for some values of operands that it takes others of."""
    return op.name != THROUGH and table.family(op.name) not in ("elementwise", "along", "contraction")


def _results(op: Op, value: Value) -> tuple:
    """What an operation gives while gradients are recorded."""
    import torch

    with torch.enable_grad():
        made = evaluate(op, value)
    return made if isinstance(made, tuple) else (made,)


def _memory(value: Any) -> int | None:
    """Where a tensor is in memory; None of one that has none, as zeros that are not written down."""
    try:
        return value.untyped_storage().data_ptr()
    except RuntimeError:
        return None


def _without_history(atom: Atom, value: Value) -> Any:
    return _detached(value(atom))


def _detached(given: Any) -> Any:
    import torch

    if type(given) in (list, tuple):
        return type(given)(map(_detached, given))
    return given.detach() if isinstance(given, torch.Tensor) else given


def _may_run_again(op: Op, value: Value) -> bool:
    """Whether an operation changes nothing, and gives the same if it runs once more."""
    if op.name == THROUGH:
        return True
    if op.name == "module":
        return isinstance(op.args[0], Const) and table.is_stateless(op.args[0].value)
    receiver = value(next(operands(op))) if op.name.startswith("method.") else None
    return _is_repeatable(op.name) and table.is_pure_call(op.name, receiver)


def _is_repeatable(name: str) -> bool:
    base = table.base_name(name)
    namespace = name.rpartition(".")[0]
    known = namespace in ("", "method", "builtin") or namespace.startswith("torch")
    return (
        known
        and base not in ("call", "unrecorded")
        and table.family(name) not in ("random", "blocked")
        and not base.endswith("_like")
    )


def slopes_through(called: Called, ends: tuple, slopes: tuple, args: tuple, kwargs: dict[str, Any]) -> tuple:
    """The slopes of what an operation takes; with histories, where those are recorded and asked for."""
    import torch

    creates = called.creates and torch.is_grad_enabled() and any(map(_asks, (*ends, *slopes, *_flat(args))))
    with torch.enable_grad():
        leaves = [end.view_as(end) if creates and end.requires_grad else end.detach().requires_grad_() for end in ends]
        given = dict(zip(called.holes, leaves, strict=True))
        made = apply(called.name, [*filled(args, given)], filled(kwargs, given))
        results = made if isinstance(made, tuple) else (made,)
        pairs = [(one, slope) for one, slope in zip(results, slopes, strict=True) if slope is not None]
        outputs, seeds = zip(*pairs, strict=True)
        return torch.autograd.grad(outputs, leaves, seeds, create_graph=creates)


def _asks(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor) and value.requires_grad


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list):
        for item in value:
            yield from _flat(item)
    else:
        yield value
