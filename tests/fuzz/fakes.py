"""Stand-ins for `lift` that give wrong answers on purpose, to see that the differential test notices."""

import ast
import contextlib
import copy
import inspect
import io
import os
import time

import numpy as np
import torch


def unchanged(function, **settings):
    return function


def after(change):
    """A lift whose results went through `change(result, arguments)`."""

    def lift(function, **settings):
        return lambda *arguments: change(function(*arguments), arguments)

    return lift


def mapped(change):
    """A lift that changes every tensor of a result."""

    def walk(value):
        if isinstance(value, torch.Tensor):
            return change(value)
        if isinstance(value, (list, tuple)):
            return type(value)(walk(v) for v in value)
        return value

    return after(lambda result, arguments: walk(result))


def without_mutation(function, **settings):
    return lambda *arguments: function(*copy.deepcopy(arguments))


def without_print(function, **settings):
    def quiet(*arguments):
        with contextlib.redirect_stdout(io.StringIO()):
            return function(*arguments)

    return quiet


def swallowed(function, **settings):
    def calm(*arguments):
        try:
            return function(*arguments)
        except Exception:
            return None

    return calm


def other_message(function, **settings):
    def rephrased(*arguments):
        try:
            return function(*arguments)
        except Exception as error:
            raise type(error)("something went wrong") from None

    return rephrased


def rolled_back(function, **settings):
    """Raises as the loop does, but leaves the arguments as they were."""

    def call(*arguments):
        before = [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]
        try:
            return function(*arguments)
        except Exception:
            for now, then in zip(arguments, before):
                if isinstance(now, torch.Tensor):
                    now.copy_(then)
            raise

    return call


def stale(function, **settings):
    """Keeps the sizes of the first call: later ones get the first result again."""
    kept = []

    def call(*arguments):
        kept.append(function(*arguments))
        return kept[0]

    return call


def one_draw_more(function, **settings):
    def call(*arguments):
        result = function(*arguments)
        torch.rand(())
        return result

    return call


def rewritten(transformer):
    """A lift that runs the source after an AST transformer has spoiled it."""

    def lift(function, **settings):
        tree = transformer().visit(ast.parse(inspect.getsource(function)))
        made = {}
        exec(compile(ast.fix_missing_locations(tree), "<spoiled>", "exec"), function.__globals__, made)
        return made[function.__name__]

    return lift


class Backwards(ast.NodeTransformer):
    """Runs every `for` over a range from its end."""

    def visit_For(self, node):
        self.generic_visit(node)
        if isinstance(node.iter, ast.Call) and getattr(node.iter.func, "id", "") == "range":
            node.iter = ast.Call(ast.Name("reversed", ast.Load()), [node.iter], [])
        return node


class Inclusive(ast.NodeTransformer):
    """Takes `<` for `<=` and `>` for `>=`: ties go the other way."""

    swap = {ast.Lt: ast.LtE, ast.Gt: ast.GtE}

    def visit_Compare(self, node):
        self.generic_visit(node)
        node.ops = [self.swap.get(type(op), type(op))() for op in node.ops]
        return node


class Forgetful(ast.NodeTransformer):
    """Replaces instead of accumulating, except where a `while` counts its steps."""

    def visit_AugAssign(self, node):
        if isinstance(node.target, ast.Name) and node.target.id.startswith("steps"):
            return node
        return ast.Assign([node.target], node.value)


class Unbroken(ast.NodeTransformer):
    """Ignores `break`."""

    def visit_Break(self, node):
        return ast.Pass()


class Eager(ast.NodeTransformer):
    """Evaluates both sides of `and`, `or` and a conditional expression."""

    def visit_IfExp(self, node):
        self.generic_visit(node)
        pair = ast.Tuple([node.orelse, node.body], ast.Load())
        return ast.Subscript(pair, ast.Call(ast.Name("bool", ast.Load()), [node.test], []), ast.Load())


class FirstLane(ast.NodeTransformer):
    """Runs loops over a range once only."""

    def visit_For(self, node):
        self.generic_visit(node)
        node.body.append(ast.Break())
        return node


def as_python_number(value):
    return value.item() if isinstance(value, np.generic) else value


def backwards(function, **settings):
    return rewritten(Backwards)(function)


def fatal(function, **settings):
    """Ends the process, or sleeps, on the programs of a certain length."""

    def call(*arguments):
        if len(arguments) == 5:
            os._exit(9)
        if len(arguments) == 6:
            time.sleep(60)
        return function(*arguments)

    return call
