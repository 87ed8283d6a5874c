"""A loop over a call of a generator function in, the function's own statements with the loop's body in them out.

def windows(x, w):                          k = 0
    for k in range(0, len(x) - w, w):       for k in range(0, len(x) - w, w):
        yield x[k : k + w]                      part = x[k : k + w]
                                                total += f(part)
for part in windows(x, w):
    total += f(part)
"""

from __future__ import annotations

import ast
import builtins
import inspect
import types
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.base.handed import with_yields
from looplift.base.syntax import fresh_copy, nodes_of
from looplift.frontend import calls, expressions, statements
from looplift.frontend.exits import STOP_ATTRIBUTE, without_exits
from looplift.frontend.names import COMPREHENSIONS, FUNCTIONS, assigned_names, free_names, inner_names
from looplift.frontend.scope import Builder, Frame, Value
from looplift.frontend.source import plain_function, source_of_generator
from looplift.ir.grammar import Const

PLAIN = (int, float, bool, str, type(None))
"""Types of defaults that are bound as literals."""
UNKNOWN = (*FUNCTIONS, ast.ClassDef, ast.Await, ast.YieldFrom, ast.Nonlocal, ast.Global, ast.With, ast.Try)


def translated(build: Builder, node: ast.For) -> bool:
    """Translate a loop over a generator; False where it is none, or one that is not understood."""
    made = _unfolded(build, node)
    if made is None:
        return False
    private, found = made
    statements.translate_block(build, found)
    for name in private:
        build.env.pop(name, None)
    return True


def _unfolded(build: Builder, node: ast.For) -> tuple[list[str], list[ast.stmt]] | None:
    """The names that are the function's own, and the statements."""
    call = node.iter
    if not isinstance(call, ast.Call) or getattr(node, STOP_ATTRIBUTE, None) or not isinstance(call.func, ast.Name):
        return None
    if call.func.id in build.env:
        return None
    function = build.outer_value(call.func.id)
    if not isinstance(function, types.FunctionType) or (definition := _definition(function)) is None:
        return None
    callee = expressions.evaluate(build, call.func)
    tree = _tree(build, callee, function, definition)
    if tree is None or function in build.calls:
        return None
    names = {name: f"_{name}_{next(build.counter)}" for name in inner_names(tree).stores | free_names(tree)}
    bindings = _bindings(call, function, tree.args, names)
    if bindings is None or not _bind_free(build, callee, function, tree, names):
        return None
    renamed = [_Renamed(names).visit(fresh_copy(statement)) for statement in statements.without_docstring(tree.body)]
    plain = without_exits(renamed, f"_returned_{next(build.counter)}", build.counter)
    for part in (part for statement in (*bindings, *plain) for part in nodes_of(statement)):
        ast.copy_location(part, node)
    private = [*names.values(), *assigned_names([*bindings, *plain])]
    made = [_Handed(node).visit(statement) for statement in plain]
    flat = [one for statement in made for one in (statement if isinstance(statement, list) else [statement])]
    return private, [ast.fix_missing_locations(statement) for statement in (*bindings, *flat)]


def _definition(function: types.FunctionType) -> ast.FunctionDef | None:
    """The definition of a generator function, or that of one that returns an iterator as such a function."""
    try:
        tree = source_of_generator(function).tree
    except NotLiftable:
        return None
    names = {**vars(builtins), **function.__globals__}
    own = {*function.__code__.co_varnames, *function.__code__.co_freevars}
    body = with_yields(tree.body, lambda name: name not in own and names[name] is getattr(builtins, name))
    if body is not tree.body:
        tree = fresh_copy(tree)
        tree.body = [fresh_copy(statement) for statement in body]
    elif not inspect.isgeneratorfunction(function):
        return None
    return tree


def _tree(build: Builder, callee: Value, function: types.FunctionType, tree: ast.FunctionDef) -> ast.FunctionDef | None:
    """The definition, where the function hands out its values at one place."""
    if not isinstance(callee, Const) or plain_function(function) is not function:
        return None
    every = [node for statement in tree.body for node in nodes_of(statement)]
    yields = [node for node in every if isinstance(node, ast.Yield)]
    as_statements = [node.value for node in every if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield)]
    if len(yields) != 1 or as_statements != yields or yields[0].value is None or tree.decorator_list:
        return None
    if any(isinstance(node, UNKNOWN) for node in every) or any(_may_hide(node) for node in every):
        return None
    build.watch_function(function)
    return tree


def _may_hide(node: ast.AST) -> bool:
    """A comprehension whose names are its own would be renamed with those of the function."""
    return isinstance(node, COMPREHENSIONS) and any(isinstance(part, ast.NamedExpr) for part in nodes_of(node))


def _bindings(
    call: ast.Call, function: types.FunctionType, arguments: ast.arguments, names: dict[str, str]
) -> list[ast.stmt] | None:
    """The parameters under their new names, bound in the order of the call; defaults are plain values."""
    plain = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg or arguments.kwarg or len(call.args) > len(plain):
        return None
    if any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords):
        return None
    given = dict(zip(plain, call.args, strict=False))
    named = [one.arg for one in (*arguments.args, *arguments.kwonlyargs)]
    for keyword in call.keywords:
        if keyword.arg in given or keyword.arg not in named:
            return None
        given[str(keyword.arg)] = keyword.value
    last = function.__defaults__ or ()  # which may be others than those of the text
    defaults = {**dict(zip(plain[len(plain) - len(last) :], last)), **(function.__kwdefaults__ or {})}
    for name in (*plain, *(one.arg for one in arguments.kwonlyargs)):
        if name not in given and type(defaults.get(name, function)) not in PLAIN:
            return None
        given.setdefault(name, ast.Constant(defaults.get(name)))
    return [ast.Assign([ast.Name(names[name], ast.Store())], fresh_copy(value)) for name, value in given.items()]


def _bind_free(
    build: Builder, callee: Value, function: types.FunctionType, tree: ast.FunctionDef, names: dict[str, str]
) -> bool:
    """Bind what the function reads of its module and of the functions around it."""
    path = callee.path if isinstance(callee, Const) and build.modules.get(callee.path) is function else ""
    outer = calls.outer_names(function)
    frame = Frame({}, outer, file=build.frame.file, cells_are_guarded=bool(path), path=path)
    for name in sorted(free_names(tree)):
        with build.within(frame):
            if build.is_builtin(name):
                del names[name]  # it means the same wherever it is read
                continue
        try:
            with build.within(frame):
                found: Any = build.lookup(name)
        except NotLiftable:
            return False
        build.env[names[name]] = found
    return all(build.is_builtin(name) for name in free_names(tree) - names.keys())


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]):
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


class _Handed(ast.NodeTransformer):
    """What is handed out is bound to the loop's target, and the loop's body runs."""

    def __init__(self, loop: ast.For):
        self.loop = loop

    def visit_Expr(self, node: ast.Expr) -> Any:
        if not isinstance(node.value, ast.Yield):
            return node
        assert node.value.value is not None
        bound = ast.copy_location(ast.Assign([self.loop.target], node.value.value), self.loop)
        return [bound, *self.loop.body]
