"""The body of a function that returns an iterator in, that of a generator function of the same items out.

def row(self, i):                                   def row(self, i):
    low, high = self.ends[i], self.ends[i + 1]          low, high = self.ends[i], self.ends[i + 1]
    return zip(self.keys[low:high], self.values)        for item in zip(self.keys[low:high], self.values):
                                                            yield item

Where such a call is gone through at once, nobody can tell one from the other.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator

from looplift.base.syntax import children_of, nodes_of

_ITERATORS = frozenset("zip enumerate reversed map filter iter".split())
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.GeneratorExp, ast.ClassDef)
_OTHERS = (ast.Await, ast.NamedExpr, ast.Lambda)
_ITEM = "_handed"


def with_yields(body: list[ast.stmt], is_builtin: Callable[[str], bool]) -> list[ast.stmt]:
    """The statements; the same ones where they return no iterator at their end, or another value elsewhere."""
    iterator = _returned(body, is_builtin)
    if iterator is None:
        return body
    if isinstance(iterator, ast.GeneratorExp):
        value, generators = iterator.elt, iterator.generators
    else:
        value, generators = (
            ast.Name(_ITEM, ast.Load()),
            [ast.comprehension(ast.Name(_ITEM, ast.Store()), iterator, [], 0)],
        )
    made: ast.stmt = ast.Expr(ast.Yield(value))
    for one in reversed(generators):
        for test in reversed(one.ifs):
            made = ast.If(test, [made], [])
        made = ast.For(one.target, one.iter, [made], [])
    return [*body[:-1], ast.fix_missing_locations(ast.copy_location(made, body[-1]))]


def _returned(body: list[ast.stmt], is_builtin: Callable[[str], bool]) -> ast.expr | None:
    own = [node for statement in body for node in own_nodes(statement)]
    leaves = [node for node in own if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom | ast.Await)]
    names = [node for node in own if isinstance(node, ast.Name)]
    if not body or leaves != body[-1:] or any(node.id == _ITEM for node in names):
        return None
    match leaves[0]:
        case ast.Return(value=ast.GeneratorExp() as made) if _is_plain(made):
            return made
        case ast.Return(value=ast.Call(func=ast.Name(id=name)) as made) if name in _ITERATORS and is_builtin(name):
            return made if all(node.id != name or isinstance(node.ctx, ast.Load) for node in names) else None
    return None


def _is_plain(made: ast.GeneratorExp) -> bool:
    """Whether its names may be the function's own: none is read before a loop binds it, and no value is awaited."""
    if any(one.is_async for one in made.generators) or any(isinstance(one, _OTHERS) for one in nodes_of(made)):
        return False
    unbound = {one.id for each in made.generators for one in nodes_of(each.target) if isinstance(one, ast.Name)}
    for one, after in itertools.pairwise(made.generators):
        unbound -= {part.id for part in nodes_of(one.target) if isinstance(part, ast.Name)}
        if unbound & {
            part.id for node in (*one.ifs, after.iter) for part in nodes_of(node) if isinstance(part, ast.Name)
        }:
            return False
    return True


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement, but not those of functions that it defines."""
    yield node
    if not isinstance(node, _FUNCTIONS):
        for child in children_of(node):
            yield from own_nodes(child)
