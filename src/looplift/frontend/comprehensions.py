"""Comprehensions and generators as loops, whose names are private."""

from __future__ import annotations

import ast

from looplift.base.syntax import nodes_of
from looplift.frontend import statements, structures
from looplift.frontend.names import assigned_names
from looplift.frontend.scope import Builder, Value


def loops_of(generators: list[ast.comprehension], body: list[ast.stmt]) -> ast.stmt:
    """The nested for statements that a comprehension stands for."""
    for generator in reversed(generators):
        for test in reversed(generator.ifs):
            body = [ast.If(test, body, [])]
        body = [ast.For(generator.target, generator.iter, body, [])]
    return body[0]


def translate_scoped(build: Builder, generators: list[ast.comprehension], body: list[ast.stmt]) -> None:
    """Translate statements whose loop variables are private, as a comprehension's are."""
    private = assigned_names([ast.Expr(generator.target) for generator in generators])
    saved = {name: build.env.pop(name) for name in private if name in build.env}
    # the first iterable is evaluated outside of the comprehension's scope
    build.env.update({k: v for k, v in saved.items() if _reads(generators[0].iter, k)})
    outside, build.private = build.private, (*build.private, object())
    statements.translate_block(build, body)
    build.private = outside
    for name in private:
        build.env.pop(name, None)
    build.env.update(saved)


def _reads(node: ast.expr, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in nodes_of(node))


def comprehension(build: Builder, node: ast.ListComp | ast.GeneratorExp) -> Value:
    """``[e for x in xs if c]`` is an empty list and a loop that appends."""
    name = f"_list_{next(build.counter)}"
    build.env[name] = structures.list_display(build, node, [])
    append = ast.Expr(ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load()), [node.elt], []))
    loop = loops_of(node.generators, [append])
    ast.copy_location(loop, node)
    ast.fix_missing_locations(loop)
    translate_scoped(build, node.generators, [loop])
    return build.env.pop(name)
