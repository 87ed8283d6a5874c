"""Statements in; the same out, in which a name that an iteration binds anew on a straight way is another name.

for row in rows:                            for row in rows:
    found = []                                  found = []
    ...                                         ...
    found = torch.stack(found)                  found_l1_ = torch.stack(found)
    total = total + found.sum()                 total = total + found_l1_.sum()
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterable, Iterator

from looplift.base.syntax import nodes_of
from looplift.emit.typed_names import Renamed, names_in_functions, with_versions


def with_all_versions(
    statements: list[ast.stmt], parameters: set[str], live: set[str], held: set[str]
) -> tuple[list[ast.stmt], dict[str, str]]:
    """The same of names that loops bind anew, and of those behind loops; also the last name of each that has several.
    The statements themselves where there are none."""
    in_loops = with_versions_in_loops(statements, live, held)
    made, last = with_versions(in_loops or statements, parameters, held)
    return (made if last else in_loops or statements), last


def with_versions_in_loops(statements: list[ast.stmt], live: set[str], held: set[str]) -> list[ast.stmt] | None:
    """``live`` are the names that are read afterwards, ``held`` those that functions inside share, which stay as they
    are. None where no name is bound anew."""
    every = {node.id for one in statements for node in nodes_of(one) if isinstance(node, ast.Name)}
    names = (name for k in itertools.count(1) if not any(one.endswith(name := f"_l{k}_") for one in every))
    made = _block(copy.deepcopy(statements), live, held, names)
    return made if next(names) != "_l1_" else None


def function_with_versions(body: list[ast.stmt], parameters: set[str]) -> list[ast.stmt]:
    """What a function does, the same where it binds no name anew on a straight way."""
    others = {name for one in body for node in nodes_of(one) if isinstance(node, ast.Nonlocal) for name in node.names}
    return with_all_versions(body, parameters, set(), names_in_functions(body) | others)[0]


def _block(block: list[ast.stmt], live: set[str], held: set[str], names: Iterator[str]) -> list[ast.stmt]:
    for statement, after in _with_liveness(block, live):
        match statement:
            case ast.If():
                statement.body = _block(statement.body, after, held, names)
                statement.orelse = _block(statement.orelse, after, held, names)
            case ast.For() | ast.While() if not statement.orelse:
                end = after | _reads([statement])
                given = _names(statement.target) if isinstance(statement, ast.For) else set[str]()
                statement.body = _block(_versions(statement.body, given, end | held, names), end, held, names)
    return block


def _with_liveness(block: list[ast.stmt], live: set[str]) -> list[tuple[ast.stmt, set[str]]]:
    """Statements with the names that are read behind them, before they are bound."""
    found: list[tuple[ast.stmt, set[str]]] = []
    for statement in reversed(block):
        found.append((statement, live))
        live = (live - _bound_at(statement)) | _reads([statement])
    return found[::-1]


def _reads(block: Iterable[ast.stmt]) -> set[str]:
    """Names that statements read before they bind them for sure."""
    bound, found = set[str](), set[str]()
    for statement in block:
        match statement:
            case ast.For():
                inner = _reads(statement.body) - _names(statement.target)
                here = _loads(statement.iter) | inner | _reads(statement.orelse)
            case ast.While():
                here = _loads(statement.test) | _reads(statement.body) | _reads(statement.orelse)
            case ast.If():
                here = _loads(statement.test) | _reads(statement.body) | _reads(statement.orelse)
            case _:
                here = _loads(statement)
        found |= here - bound
        bound |= _bound_at(statement)
    return found


def _loads(node: ast.AST) -> set[str]:
    """Names that a statement or an expression reads; one that is changed in place, or unbound, is read."""
    changed = {one.target.id for one in nodes_of(node) if isinstance(one, ast.AugAssign | ast.NamedExpr)
               and isinstance(one.target, ast.Name)}  # fmt: skip
    return changed | {one.id for one in nodes_of(node) if isinstance(one, ast.Name) and not _is_stored(one)}


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _names(target: ast.expr) -> set[str]:
    return {one.id for one in nodes_of(target) if isinstance(one, ast.Name)}


def _targets(statement: ast.stmt) -> list[ast.Name]:
    """The names that a statement binds whatever happens."""
    match statement:
        case ast.Assign(targets=[ast.Name() as name]):
            return [name]
        case ast.Assign(targets=[ast.Tuple(elts=parts)]):
            return [part for part in parts if isinstance(part, ast.Name)]
    return []


def _bound_at(statement: ast.stmt) -> set[str]:
    return {name.id for name in _targets(statement)}


def _versions(body: list[ast.stmt], bound: set[str], kept: set[str], names: Iterator[str]) -> list[ast.stmt]:
    """An iteration, in which names that are bound several times, and are not ``kept``, have another name each time;
    ``bound`` are those that it begins with."""
    current, out = dict[str, str](), list[ast.stmt]()
    for statement in body:
        again = {place: name.id for place, name in enumerate(_targets(statement)) if name.id in bound - kept}
        bound = bound | _bound_at(statement)
        out.append(Renamed(current).visit(statement))
        for place, name in again.items():
            current[name] = name + next(names)
            _targets(statement)[place].id = current[name]
    return out
