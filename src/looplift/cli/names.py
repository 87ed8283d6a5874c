"""Names of a module: which ones a piece of its code binds and reads, and which of them others can watch."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS = (ast.For, ast.While)
SELF_AWARE = {"globals", "locals", "vars", "dir", "eval", "exec"}


def walk_scope(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes inside one, without the bodies of functions and classes defined there."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, SCOPES):
            yield from walk_scope(child)


def bound_in(node: ast.AST) -> set[str]:
    """The names that a statement binds in its own scope."""
    return set(_stores(node))


def _stores(node: ast.AST) -> Iterator[str]:
    inside = isinstance(node, COMPREHENSIONS)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        elif inside and isinstance(child, ast.comprehension):
            # the targets live in the comprehension; only := reaches out of it
            yield from (part.target.id for part in ast.walk(child) if isinstance(part, ast.NamedExpr))
        elif not isinstance(child, SCOPES):
            yield from _stores(child)


def read_in(node: ast.AST) -> set[str]:
    """The names that a statement reads, without the targets of comprehensions inside it."""
    return set(_loads(node))


def _loads(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    own = set()
    if isinstance(node, COMPREHENSIONS):
        targets = (part for generator in node.generators for part in ast.walk(generator.target))
        own = {part.id for part in targets if isinstance(part, ast.Name)}
    for child in ast.iter_child_nodes(node):
        yield from (name for name in _loads(child) if name not in own)


def read_before_bound(statements: Iterable[ast.stmt], bound: set[str]) -> set[str]:
    """The names that may be read when only those in ``bound``, and those bound on every path before, have a value."""
    return _flow(statements, set(bound))[0]


def _flow(statements: Iterable[ast.stmt], bound: set[str]) -> tuple[set[str], set[str]]:
    """The names that may be read unbound, and the names bound on every path."""
    exposed: set[str] = set()
    for statement in statements:
        found, bound = _flow_of(statement, bound)
        exposed |= found
    return exposed, bound


def _flow_of(statement: ast.stmt, bound: set[str]) -> tuple[set[str], set[str]]:
    match statement:
        case ast.If(test=test, body=body, orelse=orelse):
            exposed = read_in(test) - bound
            bound = bound | bound_in(ast.Expr(test))
            (one, after_body), (other, after_else) = _flow(body, bound), _flow(orelse, bound)
            return exposed | one | other, after_body & after_else
        case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
            exposed = read_in(iterable) - bound
            inside = bound | bound_in(ast.Expr(iterable))
            exposed |= read_in(target) - inside
            one, _ = _flow(body, inside | bound_in(ast.Expr(target)))
            other, _ = _flow(orelse, inside)
            return exposed | one | other, inside
        case ast.While(test=test, body=body, orelse=orelse):
            exposed = read_in(test) - bound
            inside = bound | bound_in(ast.Expr(test))
            return exposed | _flow(body, inside)[0] | _flow(orelse, inside)[0], inside
        case ast.With(items=items, body=body):
            exposed = {name for item in items for name in read_in(item)} - bound
            inner, after = _flow(body, bound | {name for item in items for name in bound_in(item)})
            return exposed | inner, after
        case ast.Try():
            blocks = [statement.body, *(handler.body for handler in statement.handlers)]
            blocks += [statement.orelse, statement.finalbody]
            return {name for block in blocks for name in _flow(block, bound)[0]}, bound
        case ast.AugAssign(target=ast.Name(id=name)):
            return ({name} | read_in(statement)) - bound, bound | {name}
    return read_in(statement) - bound, bound | bound_in(statement)


@dataclass(frozen=True)
class Watched:
    """The globals that functions of a module see, those that they set, and whether some function can see all."""

    seen: set[str]
    rebound: set[str]
    everything: bool


def watched_names(source: str | bytes, filename: str) -> Watched:
    """The globals that must hold each of their values when they have it, because functions look at them."""
    table = symtable.symtable(source, filename, "exec")  # pyright: ignore  # takes bytes as well
    symbols = list(_watched(table, _lazy_lines(ast.parse(source))))
    seen = {symbol.get_name() for symbol in symbols}
    rebound = {symbol.get_name() for symbol in symbols if symbol.is_assigned()}
    return Watched(seen, rebound, bool(seen & SELF_AWARE))


def _watched(table: symtable.SymbolTable, lazy_lines: set[int], *, at_once: bool = True) -> Iterator[symtable.Symbol]:
    for child in table.get_children():
        inner_at_once = at_once and _runs_at_once(child, lazy_lines)
        if not inner_at_once:
            yield from (symbol for symbol in child.get_symbols() if symbol.is_global())
        yield from _watched(child, lazy_lines, at_once=inner_at_once)


def _runs_at_once(table: symtable.SymbolTable, lazy_lines: set[int]) -> bool:
    """Whether a scope is over before the statement that holds it is."""
    if table.get_type() == "class" or table.get_name() in ("listcomp", "setcomp", "dictcomp"):
        return True
    return table.get_name() == "genexpr" and table.get_lineno() not in lazy_lines


def _lazy_lines(tree: ast.AST) -> set[int]:
    """The lines of generator expressions that are not the only argument of a call, as in ``sum(x for x in rows)``."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and len(node.args) == 1)
    consumed = {id(call.args[0]) for call in calls}
    return {node.lineno for node in ast.walk(tree) if isinstance(node, ast.GeneratorExp) and id(node) not in consumed}
