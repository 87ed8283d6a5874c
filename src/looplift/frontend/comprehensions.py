"""Comprehensions and generators as loops, whose names are private."""

from __future__ import annotations

import ast

from looplift.base.syntax import nodes_of
from looplift.frontend import expressions, statements, structures, writing
from looplift.frontend.callees import may_be_users
from looplift.frontend.names import assigned_names, names_of
from looplift.frontend.scope import Builder, Private, Value


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
    functions = frozenset(id(node) for node in nodes_of(generators[0].iter) if isinstance(node, ast.Lambda))
    entered = Private(build.frame, {name: saved.get(name) for name in private}, functions)
    outside, build.private = build.private, (*build.private, entered)
    statements.translate_block(build, body)
    build.private = outside
    for name in private:
        build.env.pop(name, None)
    build.env.update(saved)


def made_first(build: Builder, iterable: ast.expr, later: list[ast.expr]) -> ast.expr:
    """What is gone through, for arguments of the call that are evaluated behind it: all but a generator is made before
    these are, and before a function of theirs is called."""
    if all(isinstance(one, ast.Constant) for one in later):
        return iterable
    is_late = isinstance(iterable, ast.GeneratorExp)
    early = iterable.generators[0].iter if isinstance(iterable, ast.GeneratorExp) else iterable
    changes = any(has_effects(build, one) for one in later if not isinstance(one, ast.Lambda))
    is_ordered = has_effects(build, early) or (changes and not isinstance(early, ast.Name | ast.Constant))
    if names_of(later).stores & names_of(early).loads or (is_late and is_ordered):
        raise build.refuse("unsupported-syntax", "an argument changes what another one reads")
    return iterable if is_late or not is_ordered else listed(build, iterable)


def has_effects(build: Builder, node: ast.expr) -> bool:
    """Whether it may matter when an expression is evaluated."""
    calls = [part.func for part in nodes_of(node) if isinstance(part, ast.Call)]
    says = any(may_be_users(one) or (isinstance(one, ast.Name) and one.id == "print") for one in calls)
    return says or bool(names_of(node).stores) or writing.may_write(build, [node])


def listed(build: Builder, node: ast.expr) -> ast.expr:
    """A name for what an expression gives, which is evaluated here."""
    name = f"_listed_{next(build.counter)}"
    build.env[name] = expressions.evaluate(build, node)
    return ast.copy_location(ast.Name(name, ast.Load()), node)


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
