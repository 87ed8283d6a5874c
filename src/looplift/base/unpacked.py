"""What is unpacked into names at once, in; the same as a display or a list, out.

a, b = map(f, (x, y))               a, b = [f(v) for v in (x, y)]
a, b = map(lambda v: v * k, (x, y)) a, b = (x * k, y * k)
a, b = (f(v) for v in xs)           a, b = [f(v) for v in xs]
a, b = [d[k] for k in ("a", "b")]   a, b = (d["a"], d["b"])

An iterator that is unpacked where it is made is seen by nobody else: a list of its items is the same.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from looplift.base.syntax import fresh_copy, nodes_of

_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)


def unpacked(targets: list[ast.expr], value: ast.expr, is_builtin: Callable[[str], bool]) -> ast.expr:
    """The value of an assignment; another one where its target takes it apart and it is an iterator made there."""
    if len(targets) != 1 or not isinstance(targets[0], ast.Tuple | ast.List):
        return value
    made: ast.expr | None = None
    match value:
        case ast.GeneratorExp(elt=elt, generators=generators) | ast.ListComp(elt=elt, generators=generators):
            made = _written_out(elt, generators)
            if made is None and isinstance(value, ast.GeneratorExp):
                made = ast.ListComp(elt, generators)
        case ast.Call(func=ast.Name(id="map"), args=[function, *sources], keywords=[]) if (
            sources and not any(isinstance(source, ast.Starred) for source in sources) and is_builtin("map")
        ):
            made = _mapped(function, sources)
    return value if made is None else ast.fix_missing_locations(ast.copy_location(made, value))


def _written_out(elt: ast.expr, generators: list[ast.comprehension]) -> ast.expr | None:
    """A comprehension over names and constants that are written out, as a display."""
    match generators:
        case [ast.comprehension(target=ast.Name(id=name), iter=ast.Tuple(elts=items) | ast.List(elts=items), ifs=[])]:
            inside = nodes_of(elt)
            if all(map(_is_plain, items)) and not any(isinstance(node, (*_SCOPES, ast.Call)) for node in inside):
                return ast.Tuple([replaced(elt, {name: item}) for item in items], ast.Load())
    return None


def _mapped(function: ast.expr, sources: list[ast.expr]) -> ast.expr | None:
    """``map(f, xs)`` as a display of calls, or as a list."""
    if not isinstance(function, ast.Lambda) and not _is_path(function):
        return None
    displays = [source.elts for source in sources if isinstance(source, ast.Tuple | ast.List)]
    if _calls(function) and not all(isinstance(item, ast.Constant) for display in displays for item in display):
        displays = []  # what is called may give the names to others
    if len(displays) == len(sources) and all(_is_plain(item) for display in displays for item in display):
        calls = [applied(function, list(items)) for items in zip(*displays, strict=False)]
        return ast.Tuple([call for call in calls if call is not None], ast.Load()) if None not in calls else None
    names = [f"_given_{place}" for place in range(len(sources))]
    called = applied(function, [ast.Name(name, ast.Load()) for name in names])
    if called is None or len(sources) > 1:
        return None
    return ast.ListComp(called, [ast.comprehension(ast.Name(names[0], ast.Store()), sources[0], [], 0)])


def _calls(function: ast.expr) -> bool:
    """Whether a function may change names: a lambda that calls nothing does not."""
    return not isinstance(function, ast.Lambda) or any(isinstance(node, ast.Call) for node in nodes_of(function.body))


def _is_path(node: ast.expr) -> bool:
    """Whether an expression is a name or attributes of one, which are the same each time that they are read."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Constant)


def applied(function: ast.expr, arguments: list[ast.expr]) -> ast.expr | None:
    """A call, or the value of a lambda with its parameters replaced; None where it is more than an expression."""
    if not isinstance(function, ast.Lambda):
        return ast.Call(function, arguments, [])
    given = function.args
    others = [given.vararg, given.kwarg, *given.kwonlyargs, *given.posonlyargs, *given.defaults]
    if any(one is not None for one in others) or len(given.args) != len(arguments):
        return None
    if any(isinstance(node, _SCOPES) for node in nodes_of(function.body)):
        return None
    return replaced(function.body, dict(zip((one.arg for one in given.args), arguments, strict=True)))


def replaced(node: ast.expr, values: dict[str, ast.expr]) -> ast.expr:
    """A copy of an expression with others in the place of names."""

    class Replaced(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return fresh_copy(values[node.id]) if node.id in values else node

    return Replaced().visit(fresh_copy(node))
