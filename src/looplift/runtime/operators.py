"""A compiled kernel in, an operator of torch out, which graphs can hold: it has rules for shapes and gradients.

An operator changes none of its arguments; what the kernel writes to comes back as new tensors. Its backward pass is an
operator as well, which runs the kernel again, with a tape. (`torch.library`, "Custom Operators" in PyTorch's manual.)
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import torch

from looplift.base.data import dataclass, replace
from looplift.base.errors import RequirementFailed
from looplift.runtime.traced_kinds import NotTraced, in_a_thread

_TYPES = {int: "SymInt", torch.SymInt: "SymInt", float: "float", bool: "bool"}


@functools.cache
def library() -> torch.library.Library:
    return torch.library.Library("looplift", "FRAGMENT")


@dataclass(frozen=True)
class Definition:
    """All that an operator is made of: the texts of a kernel, and what they take and give.

    ``stored`` and ``sources`` are the positions of the arguments that the kernel writes to, and that get gradients;
    ``dtypes`` are those of its results, which are 0-dim tensors; ``types`` those of the arguments, once known.
    """

    name: str
    source: str
    caller: str
    adjoint: str | None
    adjoint_caller: str | None
    has_gradients: bool
    stored: tuple[int, ...]
    sources: tuple[int, ...]
    dtypes: tuple[str, ...]
    types: tuple[str, ...] = ()

    @property
    def operator(self) -> str:
        text = f"{self.source}{self.adjoint}{self.has_gradients}"
        return f"{self.name}_{hashlib.sha256(text.encode()).hexdigest()[:12]}"


defined: dict[str, Definition] = {}
"""The operators that torch knows in this process."""


@dataclass(eq=False)
class Operator:
    """Stands in for a kernel's callable. The first call defines it: that tells the types of its arguments."""

    definition: Definition
    call: Callable[..., tuple[Any, ...]]
    made: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> tuple[Any, ...]:
        if self.made is None:
            self.made = self.define(tuple(map(_type_of, arguments)))
        found = self.made(*arguments)
        if self.definition.has_gradients:
            return tuple(found)
        count = len(self.definition.dtypes)
        for position, new in zip(self.definition.stored, found[count:], strict=True):
            arguments[position].copy_(new)
        return tuple(found[:count])

    def define(self, types: tuple[str, ...]) -> Callable[..., Any]:
        name = self.definition.operator
        if name not in defined:
            defined[name] = replace(self.definition, types=types)
            taken = ", ".join(f"{kind} a{k}" for k, kind in enumerate(types))
            known = library()
            known.define(f"{name}({taken}) -> Tensor[]")
            known.impl(name, self._forward, "CPU")
            torch.library.register_fake(f"looplift::{name}", self._shapes, lib=known)
            if self.definition.has_gradients:
                self._define_backward(name, taken, known)
        return getattr(torch.ops.looplift, name)

    def _define_backward(self, name: str, taken: str, library: torch.library.Library) -> None:
        library.define(f"{name}_backward({taken}, Tensor?[] gradients) -> Tensor[]")
        library.impl(f"{name}_backward", self._backward, "CPU")
        torch.library.register_fake(f"looplift::{name}_backward", self._shapes_backward, lib=library)
        torch.library.register_autograd(f"looplift::{name}", self._gradients, setup_context=self._save, lib=library)

    # ------------------------------------------------------------ what the operator does

    def _forward(self, *arguments: Any) -> list[torch.Tensor]:
        values = list(arguments)
        if not self.definition.has_gradients:  # else the callable itself makes new ones
            for position in self.definition.stored:
                values[position] = values[position].clone()
        with torch.no_grad():
            found = self._run(values)
        return (
            list(found)
            if self.definition.has_gradients
            else [*found, *(values[position] for position in self.definition.stored)]
        )

    def _run(self, values: Sequence[Any]) -> tuple[Any, ...]:
        try:
            return self.call(*values)
        except RequirementFailed as failure:
            message = (
                f"a loop that runs as a kernel inside of a graph: {failure}; outside of the graph it runs as written"
            )
            raise RuntimeError(message) from None

    def _shapes(self, *arguments: Any) -> list[torch.Tensor]:
        results = [torch.empty((), dtype=getattr(torch, dtype)) for dtype in self.definition.dtypes]
        return results + [torch.empty_like(arguments[position]) for position in self.definition.stored]

    # ------------------------------------------------------------ gradients

    def _save(self, ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        ctx.numbers = [None if isinstance(one, torch.Tensor) else one for one in inputs]
        tensors = (one for one in inputs if isinstance(one, torch.Tensor))
        ctx.save_for_backward(*(one.clone() for one in tensors))  # what the loop writes to changes afterwards
        ctx.sources = [one for one in inputs if isinstance(one, torch.Tensor) and one.requires_grad]

    def _gradients(self, ctx: Any, gradients: Sequence[Any]) -> tuple[Any, ...]:
        tensors = iter(ctx.saved_tensors)
        arguments = [next(tensors) if one is None else one for one in ctx.numbers]
        found = getattr(torch.ops.looplift, f"{self.definition.operator}_backward")(*arguments, list(gradients))
        if torch.is_grad_enabled():
            found = Once.apply(found, *ctx.sources, *(one for one in gradients if one is not None))
        every: list[Any] = [None] * len(arguments)
        for position, gradient in zip(self.definition.sources, found, strict=True):
            every[position] = gradient
        return tuple(every)

    def _backward(self, *arguments: Any) -> list[torch.Tensor]:
        *values, gradients = arguments
        return in_a_thread(lambda: self._run_backward(values, gradients), gradients=True)

    def _run_backward(self, values: list[Any], gradients: Sequence[Any]) -> list[torch.Tensor]:
        for position in self.definition.sources:
            values[position] = values[position].detach().requires_grad_()
        given = [(end, one) for end, one in zip(self._run(values), gradients, strict=True) if one is not None]
        given = [(end, one) for end, one in given if end.requires_grad]
        sources = [values[position] for position in self.definition.sources]
        if not given:
            return [torch.zeros_like(source) for source in sources]
        ends, starts = zip(*given)
        found = torch.autograd.grad(ends, sources, starts, allow_unused=True)
        return [torch.zeros_like(source) if one is None else one for source, one in zip(sources, found, strict=True)]

    def _shapes_backward(self, *arguments: Any) -> list[torch.Tensor]:
        return [torch.empty_like(arguments[position]) for position in self.definition.sources]


class Once(torch.autograd.Function):
    """Gradients as they are, which cannot be differentiated again."""

    @staticmethod
    def forward(ctx: Any, found: list[torch.Tensor], *sources: torch.Tensor) -> Any:
        return tuple(found)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise RuntimeError(
            "the gradient of a kernel in a graph or in a file cannot be differentiated again: call the lifted "
            "function itself, or lift it with backend='torch'"
        )


def operator(call: Any) -> Operator:
    """For a kernel's callable, as the compiler makes it; raises NotTraced where a graph cannot hold it."""
    kernel = call.kernel
    if kernel.device is not None:
        raise NotTraced("a kernel on a device is no operator")
    if any(not _is_number_tensor(result) for result in kernel.results):
        raise NotTraced("a kernel's result is a number, or of a size that a graph does not know")
    texts = (kernel.name, kernel.source, kernel.caller, kernel.adjoint, kernel.adjoint_caller, call.has_gradients)
    inputs = list(kernel.inputs)
    stored, sources = (tuple(map(inputs.index, names)) for names in (kernel.stored, kernel.differentiable))
    return Operator(Definition(*texts, stored, sources, tuple(result.kind.dtype for result in kernel.results)), call)


def _type_of(argument: Any) -> str:
    if isinstance(argument, torch.Tensor):
        return "Tensor"
    if (found := _TYPES.get(type(argument))) is None:
        raise NotTraced(f"a kernel takes a value of type {type(argument).__name__}")
    return found


def _is_number_tensor(result: Any) -> bool:
    plain = not (result.other or result.may_be_none or result.may_be_unbound) and result.init is None
    return plain and result.same_as is None and result.kind.family == "tensor" and result.kind.rank == 0
