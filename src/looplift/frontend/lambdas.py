"""A lambda in, the definition that it amounts to out: it is looked for where its line says, and must be the only one
there that it can come from."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import types

from looplift.base.errors import NotLiftable
from looplift.base.syntax import nodes_of
from looplift.frontend.source import Source, code_of, is_lambda, is_same, source_of, source_of_called

NAME = "_lambda"


def source_of_lambda(function: types.FunctionType) -> Source:
    """The source of a lambda, as a function that returns its value."""
    code = function.__code__
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR | inspect.CO_COROUTINE):
        raise NotLiftable("generator", "a lambda hands out its results one by one, with 'yield'")
    lines = linecache.getlines(code.co_filename, function.__globals__)
    found: dict[str, ast.FunctionDef] = {}
    for node in _lambdas("".join(lines)):
        if node.lineno == code.co_firstlineno:
            tree = _definition(node)
            if is_same(code_of(tree, code.co_freevars, code.co_filename), code):
                found[ast.dump(node)] = tree
    if len(found) != 1:
        raise NotLiftable("no-source", "a lambda whose text cannot be told from that of others on its line")
    (tree,) = found.values()
    return Source(tree, tuple(lines[tree.lineno - 1 : tree.end_lineno]), code.co_filename, code.co_firstlineno)


def source_of_any(function: types.FunctionType) -> Source:
    """The source of a function, or of a lambda."""
    return source_of_lambda(function) if is_lambda(function) else source_of(function)


def source_to_run(function: types.FunctionType) -> Source:
    """The same, also of a generator function, for those who know when its statements run."""
    return source_of_lambda(function) if is_lambda(function) else source_of_called(function)


@functools.lru_cache(16)
def _lambdas(text: str) -> tuple[ast.Lambda, ...]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return ()
    return tuple(node for node in nodes_of(tree) if isinstance(node, ast.Lambda))


def _definition(node: ast.Lambda) -> ast.FunctionDef:
    value = ast.copy_location(ast.Return(node.body), node.body)
    made = ast.FunctionDef(NAME, node.args, [value], [], None)
    return ast.fix_missing_locations(ast.copy_location(made, node))
