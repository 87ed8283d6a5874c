"""Runs a function through the frontend and the analysis, with its loops as native kernels and the rest literally."""

from __future__ import annotations

import ast
import copy

import torch

from looplift.base.errors import RequirementFailed
from looplift.build.native import differentiable, load
from looplift.emit.native import kernel_of
from looplift.frontend.source import source_of
from looplift.frontend.translate import translate
from looplift.ir.facts import Fact, Facts, kind_of
from looplift.ir.grammar import If, Let, Loop, Require, Store, Var
from looplift.ops.evaluate import evaluate, operand_value


class Native:
    """A function whose outer loops are kernels."""

    def __init__(self, function, *values, gradients=False):
        source = source_of(function)
        names = [argument.arg for argument in source.tree.args.args]
        scope = {**function.__globals__, **dict(zip(names, values, strict=True))}
        body = [
            node
            for node in source.tree.body
            if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant)
        ]
        self.gradients = gradients
        self.names = names
        self.function = translate(body, scope, [], file=source.file, name=function.__name__)
        self.kernels, self.calls = {}, {}

    @property
    def text(self):
        return "\n".join(k.adjoint if self.gradients else k.source for k in self.kernels.values())

    def __call__(self, *values):
        given = dict(zip(self.names, values, strict=True))
        paths = self.function.attributes["paths"]
        held = self.function.attributes["values"]
        env = {var: given.get(paths[var], held[var]) for var in self.function.params}
        read = lambda atom: env[atom] if isinstance(atom, Var) else atom.value
        self.block(self.function.body, env, read)
        results = dict(self.function.results)
        return read(results["return"]) if "return" in results else None

    def block(self, block, env, read):
        for statement in block:
            match statement:
                case If(cond=cond, then=then, orelse=orelse, phis=phis):
                    chosen = bool(read(cond))
                    self.block(then if chosen else orelse, env, read)
                    env.update({phi.var: read(phi.then if chosen else phi.orelse) for phi in phis})
                case Let(var=var, op=op):
                    env[var] = evaluate(op, read)
                case Store(ref=ref, index=index, value=value, combine=None):
                    read(ref)[operand_value(index, read)] = read(value)
                case Loop():
                    self.run(statement, env)
                case Require(cond=cond):
                    if not read(cond):
                        raise RequirementFailed
                case _:
                    raise NotImplementedError(type(statement))

    def run(self, loop, env):
        if loop not in self.kernels:
            facts = Facts(self.function, {var: Fact(kind_of(value), sample=value) for var, value in env.items()})
            self.kernels[loop] = kernel_of(loop, facts, gradients=self.gradients, strict=False)
            self.calls[loop] = (differentiable if self.gradients else load)(self.kernels[loop])
        kernel = self.kernels[loop]
        found = self.calls[loop](*(env[var] for var in kernel.inputs))
        for var, value in zip(kernel.outputs, found):
            env[var] = value
        if self.gradients:
            for var, value in zip(kernel.stored, found[len(kernel.outputs) :], strict=True):
                env[var] = value


def same(function, *values, native=None):
    """Assert that the kernel gives what the loop gives: results, changes of arguments, dtypes."""
    ours, theirs = copy.deepcopy(values), copy.deepcopy(values)
    native = native or Native(function, *copy.deepcopy(values))
    got, want = native(*ours), function(*theirs)
    difference = equal((got, ours), (want, theirs))
    assert difference is None, f"{difference}\n{native.text}"
    return native


def equal(got, want, path="result"):
    """None, or where two values differ: bit for bit."""
    if type(got) is not type(want):
        return f"{path}: {type(got)} and not {type(want)}"
    if isinstance(want, torch.Tensor):
        if got.dtype != want.dtype or got.shape != want.shape:
            return f"{path}: {got.dtype} {tuple(got.shape)} and not {want.dtype} {tuple(want.shape)}"
        if not torch.equal(torch.nan_to_num(got), torch.nan_to_num(want)) or not torch.equal(got.isnan(), want.isnan()):
            return f"{path}: {got} and not {want}"
        return None
    if isinstance(want, tuple | list):
        if len(got) != len(want):
            return f"{path}: {len(got)} items and not {len(want)}"
        return next((d for k in range(len(want)) if (d := equal(got[k], want[k], f"{path}[{k}]"))), None)
    if hasattr(want, "dtype"):
        import numpy as np

        same = got.dtype == want.dtype and np.array_equal(got, want, equal_nan=want.dtype.kind == "f")
        return None if same else f"{path}: {got!r} and not {want!r}"
    return None if got == want or (got != got and want != want) else f"{path}: {got!r} and not {want!r}"


__all__ = ["Native", "equal", "same"]
