"""A kernel's backward pass in, one whose gradients can be differentiated again out: through the loop, as in the IR.

First derivatives are the kernel's. Only where a derivative of these is asked for, the loop runs, operation by
operation, and torch differentiates it twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from looplift.base.data import dataclass
from looplift.ir.kernel import Kernel
from looplift.ops import interpret

NO_LOOP = (
    "the gradient of a native kernel cannot be differentiated again, as its loop is not at hand: "
    "lift the function in this process, or with backend='torch'"
)
CHANGED = (
    "the gradient of a native kernel cannot be differentiated again, as a tensor that the loop read or wrote into was "
    "changed after it: let the loop work on a copy, or lift the function with backend='torch'"
)


Results = Callable[[Sequence[Any]], Sequence[Any]]
"""What a call handed out with gradients, by its loop, of inputs in the place of its own."""


@dataclass(frozen=True)
class First:
    """Of a backward pass: its ``inputs``, so many, and what came in from the results; ``others`` has those that are no
    tensors, ``places`` the places of tensors among them. ``refusal``: why it cannot be differentiated, if so."""

    results: Results | None
    others: list[Any]
    inputs: int
    places: list[int]
    refusal: str


def again_by(kernel: Kernel) -> Callable[[Callable[..., Any]], Callable[..., tuple]]:
    """The decorator of a kernel's backward pass."""
    results = partial(_results, kernel) if kernel.loop is not None else None

    def decorated(backward: Callable[..., tuple]) -> Any:
        def wrapped(context: Any, *gradients: Any) -> tuple:
            if results is not None and any(map(is_batched, gradients)):
                return _of_batches(results, context, gradients)
            with torch.no_grad():
                found = backward(context, *gradients)
            given = [*context.everything, *gradients]
            changed = any(given[place]._version != version for place, version in context.every_version.items())
            refusal = NO_LOOP if results is None else CHANGED if changed else ""
            return again(found, results, context.everything, gradients, refusal)

        return wrapped

    return decorated


def is_batched(gradient: Any) -> bool:
    """Whether a gradient stands for many, as with ``is_grads_batched``: a kernel cannot read its numbers."""
    kinds = torch._C._functorch  # pyright: ignore[reportAttributeAccessIssue]
    is_one_of = kinds.is_batchedtensor, kinds.is_legacy_batchedtensor
    return isinstance(gradient, torch.Tensor) and any(test(gradient) for test in is_one_of)


def _of_batches(results: Results, context: Any, gradients: Sequence[Any]) -> tuple:
    """Many gradients at once, by the loop, operation by operation."""
    given, is_deeper = context.everything, torch.is_grad_enabled()
    if any(given[place]._version != version for place, version in context.every_version.items() if place < len(given)):
        raise RuntimeError(CHANGED)
    with torch.enable_grad():
        inputs = [_another(one) if _flows(one) else one for one in given]
        ends = _ends(results(inputs), gradients)
        starts = [one for one in inputs if _flows(one)]
        if not ends or not starts:
            return tuple(None for _ in given)
        found = iter(
            torch.autograd.grad(
                [end for end, _ in ends], starts, [one for _, one in ends], create_graph=is_deeper, allow_unused=True
            )
        )
    return tuple(next(found) if _flows(one) else None for one in inputs)


def _results(kernel: Kernel, inputs: Sequence[Any]) -> list[Any]:
    """What the kernel gives for these inputs, by its loop, through which gradients flow."""
    assert kernel.loop is not None
    values = dict(zip(kernel.inputs, inputs, strict=True))
    for var in kernel.stored:
        values[var] = values[var].clone() if isinstance(values[var], torch.Tensor) else values[var].copy()
    found = interpret.run_loop(kernel.loop, values)
    return [*(found.get(output.var) for output in kernel.results), *(found[var] for var in kernel.stored)]


def again(
    found: tuple, results: Results | None, inputs: Sequence[Any], gradients: Sequence[Any], refusal: str
) -> tuple:
    """The gradients that a backward pass found, so that they can be differentiated, or say why they cannot."""
    if not torch.is_grad_enabled():
        return found
    given = [*inputs, *gradients]
    tensors = {place: one for place, one in enumerate(given) if isinstance(one, torch.Tensor)}
    others = [None if place in tensors else one for place, one in enumerate(given)]
    return _Again.apply(found, First(results, others, len(inputs), list(tensors), refusal), *tensors.values())


class _Again(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, found: tuple, first: First, *tensors: Any) -> tuple:
        context.first = first
        context.set_materialize_grads(False)  # what nobody asks for takes no part: no gradient is not one of zeros
        context.save_for_backward(*tensors)
        return found

    @staticmethod
    def backward(ctx: Any, *seconds: Any) -> Any:
        if ctx.first.refusal:
            raise RuntimeError(ctx.first.refusal)
        return None, None, *_second(ctx.first.results, ctx.first, ctx.saved_tensors, seconds)


def _second(results: Any, first: First, tensors: Sequence[Any], seconds: Sequence[Any]) -> list[Any]:
    """Gradients of the loop's gradients, for its inputs and for what came in from its results."""
    given, places, count = list(first.others), first.places, first.inputs
    is_deeper = torch.is_grad_enabled()
    with torch.enable_grad():
        for place, tensor in zip(places, tensors, strict=True):
            given[place] = _another(tensor)
        inputs, incoming = given[:count], given[count:]
        ends = _ends(results(inputs), incoming)
        starts = [(k, one) for k, one in enumerate(inputs) if _flows(one) and seconds[k] is not None]
        if not ends or not starts:
            return [None] * len(places)
        slopes = torch.autograd.grad(
            [end for end, _ in ends], [one for _, one in starts], [one for _, one in ends],
            create_graph=True, allow_unused=True,
        )  # fmt: skip
        pairs = [(slope, seconds[k]) for (k, _), slope in zip(starts, slopes, strict=True) if _flows(slope)]
        wanted = [given[place] for place in places if _flows(given[place])]
        if not pairs:
            return [None] * len(places)
        ends, weights = zip(*pairs)
        found = iter(torch.autograd.grad(ends, wanted, weights, create_graph=is_deeper, allow_unused=True))
    return [next(found) if _flows(given[place]) else None for place in places]


def _ends(results: Sequence[Any], gradients: Sequence[Any]) -> list[tuple[torch.Tensor, Any]]:
    """The results from which gradients flow back, each with the one that came in."""
    return [(end, one) for end, one in zip(results, gradients, strict=True) if _flows(end) and one is not None]


def _another(tensor: torch.Tensor) -> torch.Tensor:
    """The same value, apart from others that are one tensor with it."""
    return tensor.view_as(tensor) if tensor.requires_grad else tensor


def _flows(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad
