"""Removes ``continue``, ``break`` and ``return`` from syntax trees, leaving ifs and flags.

    if c: continue            if c: pass
    rest                      else: rest

    if c: break               if c: _stop = True
    rest                      else: rest                 and the loop stops after an iteration that set ``_stop``

A ``return e`` in a function becomes ``_result = e``, and what follows it is skipped in the same way.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from looplift.base.data import dataclass, field
from looplift.base.syntax import children_of, fresh_copy, nodes_of
from looplift.frontend import attempts

STOP_ATTRIBUTE = "looplift_stop"
LEFT_ATTRIBUTE = "looplift_left"
FIRST = "looplift_first"
"""The attribute of loops that the translation makes with a marker of its own: their first iteration is peeled."""


@dataclass
class _Scope:
    """Names of the flags in force: one per enclosing loop, another one for those that are left by break and by return,
    and those that guard the rest of a block."""

    counter: Iterator[int]
    stops: list[str] = field(default_factory=list)
    lefts: list[str] = field(default_factory=list)
    skips: list[tuple[int, str]] = field(default_factory=list)
    result: str = ""

    def fresh(self, hint: str) -> str:
        return f"_{hint}_{next(self.counter)}"


def without_exits(statements: list[ast.stmt], result: str, counter: Iterator[int]) -> list[ast.stmt]:
    """The statements of a function body or region with no continue, break or return in them.

    ``result`` is the name that takes the returned value. Loops carry the name of their stop flag in an attribute.
    """
    return _block(statements, _Scope(counter, result=result))


def with_tuples_for_dicts(statements: list[ast.stmt]) -> tuple[tuple[Any, ...], list[ast.stmt]]:
    """The body of a function that returns dicts of the same keys at several places, with tuples of their values for
    them, and the keys; no keys, and the same body, of any other function."""
    returns = [node for statement in statements for node in _returns_of(statement)]
    found = {_constant_keys(node.value) for node in returns}
    if len(returns) < 2 or len(found) > 1 or not (keys := found.pop()) or not always_exits(statements):
        return (), statements
    return keys, [_WithTuples().visit(fresh_copy(statement)) for statement in statements]


def _returns_of(node: ast.AST) -> list[ast.Return]:
    if isinstance(node, ast.Return):
        return [node]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
        return []
    return [inner for child in children_of(node) for inner in _returns_of(child)]


def _constant_keys(node: ast.expr | None) -> tuple[Any, ...]:
    """The keys of a dict that is written out, where each is a text or an integer, and another one."""
    if not isinstance(node, ast.Dict):
        return ()
    keys = tuple(key.value for key in node.keys if isinstance(key, ast.Constant) and type(key.value) in (str, int))
    return keys if len(set(keys)) == len(node.keys) else ()


class _WithTuples(ast.NodeTransformer):
    def visit_Return(self, node: ast.Return) -> ast.AST:
        assert isinstance(node.value, ast.Dict)
        made = ast.copy_location(ast.Tuple(node.value.values, ast.Load()), node.value)
        return ast.copy_location(ast.Return(made), node)

    def _inner(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _inner


def exits(node: ast.stmt, *, loops: bool = True) -> bool:
    """Whether a statement may leave the block that it stands in (``loops``: by continue or break as well)."""
    match node:
        case ast.Return():
            return True
        case ast.Break() | ast.Continue():
            return loops
        case ast.If(body=body, orelse=orelse):
            return any(exits(child, loops=loops) for child in body + orelse)
        case ast.For(body=body, orelse=orelse) | ast.While(body=body, orelse=orelse):
            return any(exits(child, loops=False) for child in body) or any(exits(c, loops=loops) for c in orelse)
        case ast.With(body=body):
            return any(exits(child, loops=loops) for child in body)
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
            parts = [*body, *orelse, *final, *(child for handler in handlers for child in handler.body)]
            return any(exits(child, loops=loops) for child in parts)
    return False


def always_exits(statements: list[ast.stmt]) -> bool:
    """Whether the end of the block is never reached."""
    for node in statements:
        match node:
            case ast.Return() | ast.Break() | ast.Continue():
                return True
            case ast.If(body=body, orelse=orelse) if orelse and always_exits(body) and always_exits(orelse):
                return True
            case ast.With(body=body) if always_exits(body):
                return True
    return False


def _block(statements: list[ast.stmt], scope: _Scope) -> list[ast.stmt]:
    out: list[ast.stmt] = []
    for position, node in enumerate(statements):
        rest = statements[position + 1 :]
        match node:
            case ast.Continue():
                return out + _skip(node, scope, levels=0)
            case ast.Break():
                return out + _set(node, scope.stops[-1]) + _skip(node, scope, levels=0)
            case ast.Return():
                return out + _leave(node, scope)
            case ast.If() if exits(node):
                return out + _branch(node, rest, scope)
            case ast.If():
                out.append(_if(node, _block(node.body, scope), _block(node.orelse, scope)))
            case ast.For() | ast.While():
                node = _testing_inside(node)
                out += _loop(node, scope)
                if exits(node, loops=False) or node.orelse:
                    return out + _after_loop(node, rest, scope)
            case ast.With() if exits(node):
                return out + _context(node, rest, scope)
            case ast.With():
                out.append(_with(node, body=_block(node.body, scope)))
            case ast.Try() if (made := attempts.as_branches(node, scope.counter)) is not None:
                return out + _block(made + rest, scope)
            case _:
                out.append(node)
    return out


def _skip(node: ast.stmt, scope: _Scope, levels: int | None) -> list[ast.stmt]:
    """Set every skip flag of this loop level (None: of all levels)."""
    depth = len(scope.stops)
    return [s for level, name in scope.skips if levels is None or level == depth for s in _set(node, name)]


def _leave(node: ast.Return, scope: _Scope) -> list[ast.stmt]:
    value = node.value or ast.copy_location(ast.Constant(None), node)
    out = [_assign(node, scope.result, value)]
    for flag in scope.stops + scope.lefts:
        out += _set(node, flag)
    return out + _skip(node, scope, levels=None)


def _branch(node: ast.If, rest: list[ast.stmt], scope: _Scope) -> list[ast.stmt]:
    if always_exits(node.body):
        return [_if(node, _block(node.body, scope), _block(node.orelse + rest, scope))]
    if node.orelse and always_exits(node.orelse):
        return [_if(node, _block(node.body + rest, scope), _block(node.orelse, scope))]
    flag = scope.fresh("skip")
    scope.skips.append((len(scope.stops), flag))
    branch = _if(node, _block(node.body, scope), _block(node.orelse, scope))
    scope.skips.pop()
    return [*_set(node, flag, False), branch, *_unless(node, flag, rest, scope)]


def _context(node: ast.With, rest: list[ast.stmt], scope: _Scope) -> list[ast.stmt]:
    if always_exits(node.body):
        return [_with(node, body=_block(node.body, scope))]
    flag = scope.fresh("skip")
    scope.skips.append((len(scope.stops), flag))
    inside = _with(node, body=_block(node.body, scope))
    scope.skips.pop()
    return [*_set(node, flag, False), inside, *_unless(node, flag, rest, scope)]


def _testing_inside(node: ast.For | ast.While) -> ast.For | ast.While:
    """``while (v := f()) > 0: body`` as ``while True: if not …: break; body``: the last test binds names too."""
    if not isinstance(node, ast.While) or not binds(node.test) or node.orelse:
        return node
    leave = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], [])
    return _with(node, test=_located(ast.Constant(True), node), body=[_located(leave, node), *node.body])


def binds(node: ast.expr) -> bool:
    """Whether an expression binds a name."""
    return any(isinstance(part, ast.NamedExpr) for part in nodes_of(node))


def _loop(node: ast.For | ast.While, scope: _Scope) -> list[ast.stmt]:
    stop = scope.fresh("stop")
    both = any(map(breaks, node.body)) and any(exits(child, loops=False) for child in node.body)
    left = [scope.fresh("left")] if both else []
    scope.stops.append(stop)
    scope.lefts += left
    body = _block(node.body, scope)
    scope.stops.pop()
    del scope.lefts[len(scope.lefts) - len(left) :]
    loop = _with(node, body=body, orelse=[])
    stops = any(_assigns(child, stop) for child in body)
    setattr(loop, STOP_ATTRIBUTE, stop if stops else None)
    setattr(node, STOP_ATTRIBUTE, stop if stops else None)
    setattr(node, LEFT_ATTRIBUTE, left[0] if left else None)
    flags = [*([stop] if stops else []), *left]
    return [*(statement for flag in flags for statement in _set(node, flag, False)), loop]


def _after_loop(node: ast.For | ast.While, rest: list[ast.stmt], scope: _Scope) -> list[ast.stmt]:
    """The loop's ``else`` clause, which a break skips, and the rest, which a return inside the loop skips as well."""
    stop = getattr(node, STOP_ATTRIBUTE)
    if stop is None:
        return _block(node.orelse + rest, scope)
    clause = [_guarded(node, stop, node.orelse)] if node.orelse else []
    if not any(exits(child, loops=False) for child in node.body):
        return _block(clause + rest, scope)
    if not clause and not rest:
        return []
    left = getattr(node, LEFT_ATTRIBUTE) or stop
    return _block([_guarded(node, left, clause + rest)], scope)


def breaks(node: ast.AST) -> bool:
    """Whether a statement may end the loop that it stands in by ``break``."""
    match node:
        case ast.Break():
            return True
        case ast.For(orelse=orelse) | ast.While(orelse=orelse):
            return any(map(breaks, orelse))
        case ast.FunctionDef() | ast.Lambda() | ast.ClassDef():
            return False
    return any(map(breaks, children_of(node)))


def _guarded(node: ast.stmt, flag: str, body: list[ast.stmt]) -> ast.stmt:
    """``if not flag: body``, whose exits are still to be removed."""
    test = ast.UnaryOp(ast.Not(), ast.Name(flag, ast.Load()))
    return _located(ast.If(test, body, []), node)


def _unless(node: ast.stmt, flag: str, rest: list[ast.stmt], scope: _Scope) -> list[ast.stmt]:
    body = _block(rest, scope)
    if not body:
        return []
    test = ast.UnaryOp(ast.Not(), ast.Name(flag, ast.Load()))
    return [_located(ast.If(test, body, []), node)]


def _assigns(node: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in nodes_of(node))


def _set(node: ast.stmt, name: str, value: bool = True) -> list[ast.stmt]:
    return [_assign(node, name, ast.Constant(value))]


def _assign(node: ast.stmt, name: str, value: ast.expr) -> ast.stmt:
    return _located(ast.Assign([ast.Name(name, ast.Store())], value), node)


def _if(node: ast.If, body: list[ast.stmt], orelse: list[ast.stmt]) -> ast.If:
    return _with(node, body=body or [_located(ast.Pass(), node)], orelse=orelse)


def _with(node, **fields):
    copied = type(node)(**{**{name: getattr(node, name) for name in node._fields if hasattr(node, name)}, **fields})
    return ast.copy_location(copied, node)


def _located(new, node: ast.AST):
    return ast.fix_missing_locations(ast.copy_location(new, node))
