"""Loops over ``itertools.groupby`` in; loops over a list of groups, which are lists, out.

for key, group in groupby(rows, key=f):      for key, group in grouped([(f(row), row) for row in rows]):
    total += sum(group)                          total += sum(group)

Only where nobody can tell: a group is gone through at once, and once, or not at all.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from looplift.base.syntax import children_of, fresh_copy, nodes_of

GROUPS = "__groups"
"""Whose call has the call of the function that makes the groups, what must be ``groupby``, what is gone through, and
what must hold: the names that must be Python's own, and whether something may change meanwhile."""

_TAKERS = frozenset("list tuple set frozenset sum max min sorted any all".split())
_QUIET = _TAKERS | frozenset("len bool int float str abs round range enumerate zip ord chr".split())
_FRESH = ("sorted", "list")
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_ITEM = "__item"


def with_groups(body: list[ast.stmt]) -> list[ast.stmt]:
    """The same where there is nothing to do."""
    if not any(isinstance(node, ast.Call) and _is_groupby(node.func) for one in body for node in nodes_of(one)):
        return body
    found = fresh_copy(body)
    for one in found:
        for node in nodes_of(one):
            if isinstance(node, ast.For):
                node.iter = _grouped(node.iter, node.target, node.body, found) or node.iter
            elif isinstance(node, _COMPREHENSIONS):
                for place, part in enumerate(node.generators):
                    part.iter = _grouped(part.iter, part.target, _rest(node, place), found) or part.iter
    return found


def _rest(node: ast.expr, place: int) -> list[ast.AST]:
    """What a comprehension does for each item of one of its loops, as statements do it."""
    parts = node.generators[place + 1 :]  # type: ignore[attr-defined]
    ends = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]  # type: ignore[attr-defined]
    ends = [*ends, *(test for one in parts for test in one.ifs)]
    inner: list[ast.AST] = [*node.generators[place].ifs]  # type: ignore[attr-defined]
    if not parts:
        return [*inner, *ends]
    whole = ast.ListComp(ast.Tuple([*ends], ast.Load()), [*parts])
    return [*inner, whole]


def _is_groupby(node: ast.expr) -> bool:
    return (node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")) == "groupby"


def _grouped(node: ast.expr, target: ast.expr, inside: Sequence[ast.AST], body: list[ast.stmt]) -> ast.Call | None:
    match node, target:
        case ast.Call(func=func, args=[source, *more], keywords=keywords), ast.Tuple(elts=[_, ast.Name(id=name)]):
            keys = [*more, *(one.value for one in keywords if one.arg == "key")]
            if not _is_groupby(func) or len(keys) > 1 or len(more) + len(keywords) != len(keys):
                return None
        case _:
            return None
    pairs = _pairs(source, keys[0] if keys else None)
    if pairs is None or not _is_taken_once(name, inside) or _is_read_elsewhere(name, body):
        return None
    lazy = [*keys, *([source] if not isinstance(source, ast.Name) else [])]
    if _names(lazy, ast.Load) & (_names(inside, ast.Store) | _names([target], ast.Store)):
        return None
    quiet = all(map(_is_quiet, inside)) and all(map(_is_quiet, keys))
    if not quiet and not _is_looked_at(source):
        return None
    called = sorted(_called(inside) & _TAKERS)
    about = ast.Constant(" ".join([*called, "" if quiet else "changes"]).strip())
    made = ast.copy_location(ast.Call(ast.Name("grouped", ast.Load()), [pairs], []), node)
    return ast.copy_location(ast.Call(ast.Name(GROUPS, ast.Load()), [made, func, source, about], []), node)


def _pairs(source: ast.expr, key: ast.expr | None) -> ast.expr | None:
    """A list of each item behind its key."""
    item = _ITEM
    match key:
        case None | ast.Constant(value=None):
            found: ast.expr = ast.Name(item, ast.Load())
        case ast.Lambda(args=ast.arguments(args=[one], defaults=[], vararg=None, kwarg=None, kwonlyargs=[])):
            item, found = one.arg, fresh_copy(key.body)
        case ast.Name():
            found = ast.Call(fresh_copy(key), [ast.Name(item, ast.Load())], [])
        case _:
            return None
    pair = ast.Tuple([found, ast.Name(item, ast.Load())], ast.Load())
    part = ast.comprehension(ast.Name(item, ast.Store()), fresh_copy(source), [], 0)
    made = ast.copy_location(ast.ListComp(pair, [part]), source)
    for node in nodes_of(made):
        if isinstance(node, ast.expr):
            ast.copy_location(node, source)
    return made


# ---------------------------------------------------------------- how groups are used


def _is_taken_once(name: str, inside: Sequence[ast.AST]) -> bool:
    match inside:
        case [ast.Assign(targets=[ast.Name(id=other)], value=value), *_] if other == name:
            return _uses(value, name) == [True]  # from then on it is a list
    found = [good for one in inside for good in _uses(one, name)]
    return found in ([], [True])


def _uses(node: ast.AST, name: str, *, again: bool = False) -> list[bool]:
    """Of each time that a name is read whether all items are taken there; ``again``: it may be several times."""
    rest: list[ast.AST] = children_of(node)
    found: list[bool] = []
    match node:
        case ast.Name(id=other, ctx=ast.Load()):
            return [False] if other == name else []
        case ast.Call(func=ast.Name(id=taker), args=[first, *others], keywords=keywords) if taker in _TAKERS:
            source = first.generators[0].iter if isinstance(first, ast.GeneratorExp) else first
            inner = _inside(first) if isinstance(first, ast.GeneratorExp) else []
            if _is_name(source, name):
                found, rest = [not again], [*others, *keywords]
                found += [False for one in inner for _ in _uses(one, name)]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            first = node.generators[0].iter
            is_now = not isinstance(node, ast.GeneratorExp) and _is_name(first, name)
            found = [not again] if is_now else [good and not again for good in _uses(first, name)]
            return [*found, *(False for one in _inside(node) for _ in _uses(one, name))]
        case ast.For():
            found = [not again] if _is_name(node.iter, name) else _uses(node.iter, name, again=again)
            rest, again = [*node.body, *node.orelse], True
        case ast.While() | ast.Lambda() | ast.FunctionDef():
            again = True
    return [*found, *(good for one in rest for good in _uses(one, name, again=again))]


def _inside(node: ast.expr) -> list[ast.AST]:
    """What a comprehension does again and again."""
    first, *more = node.generators  # type: ignore[attr-defined]
    ends = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]  # type: ignore[attr-defined]
    return [*ends, *first.ifs, *more]


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_read_elsewhere(name: str, body: list[ast.stmt]) -> bool:
    """Whether a name is read where no loop of its own binds it."""
    bound: set[int] = set()
    every = [node for one in body for node in nodes_of(one)]
    for node in every:
        if isinstance(node, ast.For) and name in _names([node.target], ast.Store):
            bound |= {id(part) for one in node.body for part in nodes_of(one)}
        elif isinstance(node, _COMPREHENSIONS) and name in _names([one.target for one in node.generators], ast.Store):
            bound |= {id(part) for part in nodes_of(node)}
    return any(_is_name(node, name) and isinstance(node.ctx, ast.Load) and id(node) not in bound  # type: ignore
               for node in every)  # fmt: skip


# ---------------------------------------------------------------- what may happen between two groups


def _is_quiet(node: ast.AST) -> bool:
    """Whether nothing that others see changes."""
    for one in nodes_of(node):
        if isinstance(one, ast.Call) and not (isinstance(one.func, ast.Name) and one.func.id in _QUIET):
            return False
        if isinstance(one, ast.Subscript | ast.Attribute) and not isinstance(one.ctx, ast.Load):
            return False
        if isinstance(one, ast.AugAssign | ast.Delete | ast.Yield | ast.YieldFrom | ast.FunctionDef):
            return False
    return True


def _is_looked_at(source: ast.expr) -> bool:
    """Whether what is gone through is one container, whose type tells whether it changes."""
    is_fresh = isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id in _FRESH
    return is_fresh or isinstance(source, ast.Name | ast.Attribute | ast.Subscript)


def _called(nodes: Iterable[ast.AST]) -> set[str]:
    calls = (one for node in nodes for one in nodes_of(node) if isinstance(one, ast.Call))
    return {one.func.id for one in calls if isinstance(one.func, ast.Name)}


def _names(nodes: Iterable[ast.AST], context: type) -> set[str]:
    every = (one for node in nodes for one in nodes_of(node))
    return {one.id for one in every if isinstance(one, ast.Name) and isinstance(one.ctx, context)}
