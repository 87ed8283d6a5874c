"""Lifts the body of a function by waves, as the pipeline would, and compares it with the loop."""

from __future__ import annotations

import ast
import contextlib
import copy
import inspect
import textwrap
from typing import Any

import torch

from looplift.emit.waves import waves_source
from looplift.frontend.host import HostProgram, host_program


def program_of(function: Any, *args: Any) -> HostProgram:
    definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    ast.increment_lineno(definition, function.__code__.co_firstlineno - 1)
    live_ins = dict(inspect.signature(function).bind(*args).arguments)
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    live_ins |= {name: cell.cell_contents for name, cell in cells}
    return host_program(definition.body, live_ins, ["return"], function.__globals__)


def batched(function: Any, *args: Any) -> Any:
    """The batched form, for arguments of the same kinds; its text is in ``source``."""
    program = program_of(function, *args)
    source = waves_source(program)
    namespace = dict(program.constants)
    exec(compile(source, "<waves>", "exec"), namespace)
    extra = [cell.cell_contents for cell in function.__closure__ or ()]

    def run(*values: Any) -> Any:
        for text, value in program.guards:
            live = dict(zip(program.parameters, (*values, *extra)))
            now = eval(text, {**program.guard_scope, **live})
            assert now is value or now == value, text
        return namespace["region"](*values, *extra)[0]

    run.source = source
    run.program = program
    return run


def tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, (list, tuple)) or not isinstance(value, (str, int, float, type(None))):
        return [item for part in value for item in tensors(part)]
    return []


def assert_same(got: Any, want: Any) -> None:
    assert type(got) is type(want)
    if isinstance(want, torch.Tensor):
        assert got.dtype == want.dtype and got.shape == want.shape and got.requires_grad == want.requires_grad
        torch.testing.assert_close(got.detach(), want.detach(), rtol=1e-4, atol=1e-5, equal_nan=True)
    elif isinstance(want, dict):
        assert list(got) == list(want)
        for key in want:
            assert_same(got[key], want[key])
    elif isinstance(want, (list, tuple)):
        assert len(got) == len(want)
        for left, right in zip(got, want):
            assert_same(left, right)
    else:
        assert got == want


def gradients(function: Any, args: tuple, leaves: list[torch.Tensor]) -> list[torch.Tensor | None]:
    for leaf in leaves:
        leaf.grad = None
    outputs = [item for item in tensors(function(*args)) if item.requires_grad]
    generator = torch.Generator().manual_seed(0)
    if outputs:
        sum((item * torch.randn(item.shape, generator=generator)).sum() for item in outputs).backward()
    return [leaf.grad for leaf in leaves]


def check(function: Any, *args: Any, others: tuple = (), leaves: Any = None) -> Any:
    """Values and gradients of both forms agree, on the arguments it was made for and on others."""
    lifted = batched(function, *args)
    for values in (args, *others):
        assert_same(lifted(*values), function(*values))
        with torch.no_grad():
            assert_same(lifted(*values), function(*values))
        modules = [item for item in values if isinstance(item, torch.nn.Module)]
        found = [leaf for module in modules for leaf in module.parameters()] if leaves is None else leaves
        want = copy.copy(gradients(function, values, found))
        for left, right in zip(gradients(lifted, values, found), want):
            assert (left is None) == (right is None)
            if left is not None:
                torch.testing.assert_close(left, right, rtol=1e-3, atol=1e-5, equal_nan=True)
    return lifted


def check_values(lifted: Any, function: Any, *args: Any) -> None:
    """The same of arguments that are not finite, or make what is not: with gradients the loop may run for them."""
    with torch.no_grad():
        assert_same(lifted(*args), function(*args))
    with contextlib.suppress(NotImplementedError):
        assert_same(lifted(*args), function(*args))
