"""A user's compiled function in, an operator over tensors and arrays out, which loops and graphs can hold.

An operator is called with the arrays of one call, or with those of many at once, along dimensions in front, which
broadcast: ``warp(images, matrix)`` of images (8, 32, 32) is a ``warp`` of each. That is what NumPy calls a generalised
universal function; a lifted loop makes one such call. ``torch.library`` knows the operator, with rules for shapes, for
``torch.vmap`` and for gradients.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from looplift.base.data import dataclass
from looplift.runtime.custom_calls import Call, fitted, gathered, in_dtype, in_lanes, rank_of, shape_text, spread
from looplift.runtime.operators import library
from looplift.runtime.signatures import NUMBERS, Array, Number, Signature

Lanes = Callable[[Sequence[int], Sequence[torch.Tensor], Any, Sequence[int]], None]
"""``(lanes, arrays, active, sizes)``: arguments and results with dimensions of lanes, of which ``active`` ones run."""


@dataclass(frozen=True)
class Rules:
    """Functions of the user: ``batch`` of many calls, ``backward`` of the gradients and arguments of one."""

    batch: Callable[..., Any] | None = None
    backward: Callable[..., Any] | None = None


made: dict[str, Any] = {}
"""The operators of this process, by the names under which lifted loops call them."""
defined: dict[str, dict[str, str]] = {}
"""Their definitions, by their names in ``torch.ops.looplift``."""


_MISSING = type("Missing", (), {})


def _free_name(name: str, taken: Container[str]) -> str:
    """The name, or, where there is such an operator, the name with a number: loops may hold the older one."""
    numbered = itertools.chain([name], (f"{name}_{k}" for k in itertools.count(2)))
    return next(one for one in numbered if one not in taken)


class CustomOperator:
    """What ``looplift.op`` gives. ``name`` is that of its function in C++, and with a number behind it its own."""

    def __init__(self, definition: dict[str, str], signature: Signature, calls: Mapping[str, Lanes], rules: Rules):
        self.__name__ = definition["name"]
        self.name = _free_name(self.__name__, made)
        digest = hashlib.sha256("\0".join(definition.values()).encode()).hexdigest()[:12]
        self.registered = definition.get("operator") or _free_name(f"{self.__name__}_{digest}", defined)
        defined[self.registered] = {**definition, "operator": self.registered}
        self.text = f"{self.__name__}{definition['signature']}"
        self.signature, self.calls, self.rules = signature, calls, rules
        self.positions = {one.name: k for k, one in enumerate(signature.parameters)}
        self.operator = self._defined()
        made[self.name] = self

    def __repr__(self) -> str:
        return f"<looplift operator {self.text}>"

    def __copy__(self) -> CustomOperator:
        return self

    def __deepcopy__(self, memory: Any) -> CustomOperator:
        """As of a function: a copy of what holds it calls the same."""
        return self

    def __call__(self, *arguments: Any, where: Any = None, **named: Any) -> Any:
        """The results for one call, or for all along the dimensions in front; those are zero where not ``where``."""
        given = self.ordered(arguments, named)
        of_numpy = any(isinstance(one, (np.ndarray, np.generic)) for one in given)
        if of_numpy and not any(isinstance(one, torch.Tensor) for one in given):
            given, where = [_from_numpy(one) for one in given], _from_numpy(where)
        else:
            of_numpy = False
        tensors = [self._tensor(one, value) for one, value in zip(self.signature.parameters, given, strict=True)]
        if where is not None and not isinstance(where, torch.Tensor):
            where = torch.tensor(bool(where), device="cpu")
        found = self._called(*tensors, where)
        results = tuple(found) if self.signature.is_tuple else (found,)
        if of_numpy:
            results = tuple(one.numpy()[()] for one in results)
        return results if self.signature.is_tuple else results[0]

    def _called(self, *arguments: Any) -> Any:
        if torch.compiler.is_compiling() or torch._C._len_torch_dispatch_stack():
            return self.operator(*arguments)
        if _is_transformed():
            return Transformed.apply(self, *arguments)
        return (self._run if all(map(_is_plain, arguments)) else self.operator)(*arguments)

    def ordered(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """The arguments by position; raises TypeError as a Python function does."""
        count = len(self.signature.parameters)
        if len(arguments) > count:
            raise TypeError(f"{self.text} takes {count} arguments, not {len(arguments)}")
        given = [*arguments, *[_MISSING] * (count - len(arguments))]
        for name, value in named.items():
            if name not in self.positions:
                raise TypeError(f"{self.text} has no argument '{name}'")
            if given[self.positions[name]] is not _MISSING:
                raise TypeError(f"{self.text}: '{name}' is given twice")
            given[self.positions[name]] = value
        for one, value in zip(self.signature.parameters, given, strict=True):
            if value is _MISSING:
                raise TypeError(f"{self.text}: '{one.name}' is missing")
        return given

    def _tensor(self, parameter: Array | Number, value: Any) -> Any:
        """An argument as the operator of torch takes it: only a number that is a size is none of its tensors."""
        if isinstance(parameter, Number) and parameter.is_size:
            if isinstance(value, torch.Tensor) and value.dim() == 0 and not value.is_floating_point():
                value = value.item()
            if isinstance(value, bool) or not isinstance(value, (int, torch.SymInt)):
                raise TypeError(f"{self.text}: '{parameter.name}' must be an int, not {_said(value)}")
            return value
        if isinstance(value, torch.Tensor):
            return value
        if isinstance(parameter, Array):
            if not parameter.dims and type(value) in (bool, int, float):
                raise TypeError(f"{self.text}: '{parameter.name}' must be {parameter.text}, not {_said(value)}")
            raise TypeError(f"{self.text}: '{parameter.name}' must be a tensor or an array, not {_said(value)}")
        accepted = {"float": (int, float), "int": (int, torch.SymInt), "bool": (bool,)}[parameter.kind]
        if not isinstance(value, accepted):
            raise TypeError(f"{self.text}: '{parameter.name}' must be of type {parameter.kind}, not {_said(value)}")
        return torch.tensor(value, dtype=getattr(torch, NUMBERS[parameter.kind]), device="cpu")

    def example(self, *arguments: Any, where: Any = None, **named: Any) -> Any:
        """Zeros of the kinds that a call gives: the function itself does not run."""
        given = self.ordered(arguments, named)
        of_numpy = any(isinstance(one, (np.ndarray, np.generic)) for one in given)
        given = [_from_numpy(one) for one in given] if of_numpy else given
        tensors = [self._tensor(one, value) for one, value in zip(self.signature.parameters, given, strict=True)]
        results = tuple(torch.zeros_like(one) for one in self._shapes(*tensors, None))
        results = tuple(one.numpy()[()] for one in results) if of_numpy else results
        return results if self.signature.is_tuple else results[0]

    # ------------------------------------------------------------ what torch knows

    def _defined(self) -> Any:
        taken = ["SymInt" if isinstance(p, Number) and p.is_size else "Tensor" for p in self.signature.parameters]
        taken = [f"{kind} {one.name}" for kind, one in zip(taken, self.signature.parameters, strict=True)]
        given = ", ".join(["Tensor"] * len(self.signature.results))
        known, name = library(), self.registered
        qualified = f"looplift::{name}"
        known.define(f"{name}({', '.join([*taken, 'Tensor? where'])}) -> {f'({given})' if ',' in given else given}")
        for device in ("CPU", "CUDA"):
            known.impl(name, self._run, device)
        torch.library.register_fake(qualified, lambda *arguments: self._alone(self._shapes(*arguments)), lib=known)
        torch.library.register_vmap(qualified, self._mapped, lib=known)
        torch.library.register_autograd(qualified, self._gradients, setup_context=self._save, lib=known)
        return getattr(torch.ops.looplift, name).default

    def _alone(self, results: Sequence[torch.Tensor]) -> Any:
        return tuple(results) if len(results) > 1 else results[0]

    def _run(self, *arguments: Any) -> Any:
        *given, where = arguments
        call = fitted(self.text, self.signature, given, where, self.calls)
        if self.rules.batch is not None and call.lanes:
            return self._alone(self._by_rule(self.rules.batch, given, where, call))
        make = torch.empty if where is None else torch.zeros
        results = [
            make((*call.lanes, *shape), dtype=getattr(torch, one.dtype), device=call.device)
            for one, shape in zip(self.signature.results, call.shapes, strict=True)
        ]
        arrays = [
            in_lanes(in_dtype(one, value).to(call.device), rank_of(one), call.lanes)
            for one, value in zip(self.signature.parameters, given, strict=True)
        ]
        active = None if where is None else where.to(call.device).expand(call.lanes).contiguous()
        sizes = [call.sizes[name] for name in self.signature.sizes]
        self.calls[call.device.type](call.lanes, [*arrays, *results], active, sizes)
        return self._alone(results)

    def _shapes(self, *arguments: Any) -> list[torch.Tensor]:
        *given, where = arguments
        call = fitted(self.text, self.signature, given, where, self.calls)
        return [
            torch.empty((*call.lanes, *shape), dtype=getattr(torch, one.dtype), device=call.device)
            for one, shape in zip(self.signature.results, call.shapes, strict=True)
        ]

    # ------------------------------------------------------------ many calls at once

    def _by_rule(self, rule: Callable[..., Any], given: Sequence[Any], where: Any, call: Call) -> list[torch.Tensor]:
        """The results of the user's batch rule, for the calls that are made."""
        chosen = None if where is None else where.to(call.device).expand(call.lanes).reshape(-1)
        flat = [self._flat(one, value, call.lanes, chosen) for one, value in zip(self.signature.parameters, given)]
        found = rule(*flat)
        found = list(found) if isinstance(found, tuple | list) else [found]
        count = math.prod(call.lanes) if chosen is None else int(chosen.sum())
        wanted = [(count, *shape) for shape in call.shapes]
        dtypes = [getattr(torch, one.dtype) for one in self.signature.results]
        if [(tuple(one.shape), one.dtype) for one in found] != list(zip(wanted, dtypes, strict=True)):
            shown = ", ".join(f"{one.dtype} {shape_text(one)}" for one in found)
            listed = ", ".join(f"{dtype} {shape}" for dtype, shape in zip(dtypes, wanted, strict=True))
            raise ValueError(f"{self.text}: the batch rule gives {shown} where {listed} is wanted")
        return [spread(one, chosen, call.lanes) for one in found]

    def _flat(self, parameter: Array | Number, value: Any, lanes: Sequence[int], chosen: Any) -> Any:
        """An argument with one dimension of lanes in front."""
        if not isinstance(value, torch.Tensor):
            return value
        rank = rank_of(parameter)
        flat = value.expand((*lanes, *value.shape[value.dim() - rank :]))
        flat = flat.flatten(0, len(lanes) - 1) if lanes else flat[None]
        return flat if chosen is None else flat[chosen]

    def _mapped(self, info: Any, in_dims: Sequence[int | None], *arguments: Any) -> Any:
        return _in_front(self.operator(*self.moved(in_dims, arguments)))

    def moved(self, in_dims: Sequence[int | None], arguments: Sequence[Any]) -> list[Any]:
        """Under ``torch.vmap``: the dimension that it maps over becomes the first of those in front."""
        ranks = [*(rank_of(one) for one in self.signature.parameters), 0]
        own = [
            one.dim() - rank - (dim is not None) if isinstance(one, torch.Tensor) else 0
            for one, rank, dim in zip(arguments, ranks, in_dims, strict=True)
        ]
        moved = []
        for one, dim, count in zip(arguments, in_dims, own, strict=True):
            if dim is not None:
                one = one.movedim(dim, 0)
                one = one.reshape((one.shape[0], *[1] * (max(own) - count), *one.shape[1:]))
            moved.append(one)
        return moved

    # ------------------------------------------------------------ gradients

    def _save(self, ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        ctx.numbers = [None if isinstance(one, torch.Tensor) else one for one in inputs]
        ctx.present = [isinstance(one, torch.Tensor) for one in inputs]
        ctx.save_for_backward(*(one for one in inputs if isinstance(one, torch.Tensor)))
        ctx.shapes = [tuple(one.shape) for one in (output if isinstance(output, tuple) else (output,))]

    def _gradients(self, ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        rule = self.rules.backward
        if rule is None:
            raise RuntimeError(f"{self.text} has no gradient: give looplift.op(..., backward=...) a function of them")
        tensors = iter(ctx.saved_tensors)
        *given, where = (next(tensors) if there else one for there, one in zip(ctx.present, ctx.numbers, strict=True))
        dtypes = [getattr(torch, one.dtype) for one in self.signature.results]
        device = next((one.device for one in gradients if one is not None), None)
        reaching = [
            torch.zeros(shape, dtype=dtype, device=device) if one is None else one
            for one, shape, dtype in zip(gradients, ctx.shapes, dtypes, strict=True)
        ]
        call = fitted(self.text, self.signature, given, where, self.calls)
        if not call.lanes and where is None:
            return *self._backward_of_one(rule, reaching, given), None
        return *self._backward_of_many(rule, reaching, given, where, call), None

    def _backward_of_one(self, rule: Callable[..., Any], gradients: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        found = rule(tuple(gradients) if self.signature.is_tuple else gradients[0], *given)
        found = list(found) if isinstance(found, tuple | list) else [found]
        if len(found) != len(given):
            raise ValueError(f"{self.text}: 'backward' gives {len(found)} gradients for {len(given)} arguments")
        for parameter, gradient, value in zip(self.signature.parameters, found, given, strict=True):
            if gradient is not None and gradient.shape != value.shape:
                wrong = f"'backward' gives {shape_text(gradient)} for '{parameter.name}' of shape {shape_text(value)}"
                raise ValueError(f"{self.text}: {wrong}")
        return found

    def _backward_of_many(self, rule: Any, gradients: list[Any], given: Sequence[Any], where: Any, call: Call) -> Any:
        """Gradients of the calls that were made, under ``torch.vmap`` where their rule allows that."""
        chosen = None if where is None else where.to(call.device).expand(call.lanes).reshape(-1)
        ends = [one.reshape((math.prod(call.lanes), *shape)) for one, shape in zip(gradients, call.shapes, strict=True)]
        ends = ends if chosen is None else [one[chosen] for one in ends]
        flat = [self._flat(one, value, call.lanes, chosen) for one, value in zip(self.signature.parameters, given)]
        found = self._each(rule, ends, flat)
        return [
            None if one is None else gathered(spread(one, chosen, call.lanes), value.shape)
            for one, value in zip(found, given, strict=True)
        ]

    def _each(self, rule: Any, gradients: list[Any], given: list[Any]) -> list[Any]:
        there: list[bool] = []

        def one(gradients: list[Any], given: list[Any]) -> list[Any]:
            found = self._backward_of_one(rule, gradients, given)
            there[:] = [gradient is not None for gradient in found]
            return [gradient for gradient in found if gradient is not None]

        count = len(gradients[0])
        axes = [0 if isinstance(value, torch.Tensor) else None for value in given]
        if not count:
            return [
                torch.zeros_like(v) if isinstance(v, torch.Tensor) and v.is_floating_point() else None for v in given
            ]
        try:
            found = torch.vmap(one, in_dims=(0, axes))(gradients, given)
        except (RuntimeError, ValueError, NotImplementedError):  # the rule looks at values, or works in place
            picked = ([v[k] if isinstance(v, torch.Tensor) else v for v in given] for k in range(count))
            rows = [one([end[k] for end in gradients], row) for k, row in enumerate(picked)]
            found = [torch.stack(column) for column in zip(*rows)]
        whole = iter(found)
        return [next(whole) if is_there else None for is_there in there]


def _is_plain(value: Any) -> bool:
    """Whether torch has nothing to see to: no gradient, no other device, no tensor of a subclass."""
    return (
        type(value) is int
        or value is None
        or (type(value) is torch.Tensor and not value.requires_grad and value.is_cpu)
    )


def _is_transformed() -> bool:
    """Whether a transform of ``torch.func`` runs."""
    return torch._C._functorch.peek_interpreter_stack() is not None  # pyright: ignore[reportAttributeAccessIssue]


def _in_front(found: Any) -> tuple[Any, Any]:
    """Results under ``torch.vmap``, and where its dimension is."""
    return found, (tuple([0] * len(found)) if isinstance(found, tuple) else 0)


class Transformed(torch.autograd.Function):
    """An operator under transforms of ``torch.func``, which do not take the gradients that are registered with it."""

    @staticmethod
    def forward(operator: CustomOperator, *arguments: Any) -> Any:
        return operator.operator(*arguments)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.of = inputs[0]
        ctx.of._save(ctx, inputs[1:], output)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return None, *ctx.of._gradients(ctx, *gradients)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *given: Any) -> Any:
        operator, *arguments = given
        return _in_front(Transformed.apply(operator, *operator.moved(in_dims[1:], arguments)))


def _from_numpy(value: Any) -> Any:
    if isinstance(value, np.generic):
        return torch.from_numpy(np.array(value))
    if not isinstance(value, np.ndarray):
        return value
    usable = value.flags.writeable and all(step >= 0 and step % value.itemsize == 0 for step in value.strides)
    return torch.from_numpy(value if usable else value.copy(order="C"))


def _said(value: Any) -> str:
    return f"{value!r:.40}" if isinstance(value, bool | int | float | str) or value is None else type(value).__name__
