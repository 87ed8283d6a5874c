"""``match`` statements in, the same as chains of ``if`` out.

match op:                    if op == "add":
    case "add": a                a
    case "sub" | "neg": b    elif op == "sub" or op == "neg":
    case n if n > 3: c           b
    case _: d                else:
                                 n = op
                                 if n > 3: c
                                 else: d

Patterns are literals, dotted names, alternatives of these, one name, ``_``, and of a tuple that is written out tuples
of such. A ``match`` with another pattern stays.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from looplift.base.syntax import nodes_of
from looplift.frontend.names import assigned_names, parameters

ALWAYS = ast.Constant(True)
"""The test of a pattern that everything fits."""

Subject = str | list[str]
"""The name of what is looked at, or those of the items of a tuple."""


def without_matches(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The tree with an ``if`` for each ``match``, where that is possible."""
    used = {node.id for node in nodes_of(tree) if isinstance(node, ast.Name)}
    fresh = (name for n in itertools.count() if (name := f"_subject_{n}") not in used)
    return ast.fix_missing_locations(_Chained(fresh, _own_names(tree)).visit(tree))


def _own_names(tree: ast.FunctionDef) -> set[str]:
    """The local names that no other function binds anew."""
    declared = {name for node in nodes_of(tree) if isinstance(node, ast.Nonlocal | ast.Global) for name in node.names}
    return {*parameters(tree.args), *assigned_names(tree.body)} - declared


class _Chained(ast.NodeTransformer):
    def __init__(self, fresh: Iterator[str], own: set[str]):
        self.fresh, self.own = fresh, own

    def visit_Match(self, node: ast.Match) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        held: list[ast.stmt] = []
        subject = self._held(node, held)
        chain: list[ast.stmt] = []
        for case in reversed(node.cases):
            found = _taken(case, subject, chain)
            if found is None:
                return node
            chain = found
        return [*held, *chain]

    def _held(self, node: ast.Match, held: list[ast.stmt]) -> Subject:
        """What the patterns are compared with, evaluated once."""
        match node.subject:
            case ast.Tuple(elts=items) if not any(isinstance(item, ast.Starred) for item in items):
                return [self._named(item, held) for item in items]
            case ast.Name(id=name) if name not in _bound(node) and (name in self.own or not _runs_code(node)):
                return name
        return self._named(node.subject, held)

    def _named(self, value: ast.expr, held: list[ast.stmt]) -> str:
        name = next(self.fresh)
        held.append(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), value))
        return name


def _bound(node: ast.Match) -> set[str | None]:
    """The names that patterns and guards may bind."""
    parts = [part for case in node.cases for one in (case.pattern, case.guard) if one for part in nodes_of(one)]
    walrus = {part.target.id for part in parts if isinstance(part, ast.NamedExpr)}
    return walrus | {part.name for part in parts if isinstance(part, ast.MatchAs)}


def _runs_code(node: ast.Match) -> bool:
    """Whether a guard may run code elsewhere, which may bind a name that is not the function's own."""
    kinds = (ast.Call, ast.Attribute, ast.Subscript, ast.Await, ast.Yield, ast.YieldFrom)
    return any(isinstance(part, kinds) for case in node.cases if case.guard for part in nodes_of(case.guard))


def _taken(case: ast.match_case, subject: Subject, rest: list[ast.stmt]) -> list[ast.stmt] | None:
    """The statements for a case and those after it; None for a pattern of another kind."""
    binds: list[ast.stmt] = []
    test = _test(case.pattern, subject, binds)
    if test is None or (binds and test is not ALWAYS and case.guard is not None):
        return None
    if test is not ALWAYS:
        tests = [test] if case.guard is None else [test, case.guard]
        return [ast.copy_location(ast.If(_joined(ast.And(), tests), [*binds, *case.body], rest), case.pattern)]
    if case.guard is not None:
        return [*binds, ast.copy_location(ast.If(case.guard, case.body, rest), case.pattern)]
    return [*binds, *case.body]


def _test(pattern: ast.pattern, subject: Subject, binds: list[ast.stmt]) -> ast.expr | None:
    """What must hold where a pattern fits; ``binds`` grows by what it gives names. None for other patterns."""
    tests: list[ast.expr | None]
    match pattern, subject:
        case ast.MatchAs(pattern=None, name=None), _:
            return ALWAYS
        case ast.MatchSequence(patterns=parts), list() if len(parts) == len(subject):
            tests = [_test(part, item, binds) for part, item in zip(parts, subject, strict=True)]
            found = [test for test in tests if test is not None]
            return (
                _joined(ast.And(), [test for test in found if test is not ALWAYS]) if len(found) == len(tests) else None
            )
        case ast.MatchOr(patterns=parts), _ if not any(getattr(part, "name", None) for part in nodes_of(pattern)):
            tests = [_test(part, subject, binds) for part in parts]
            found = [test for test in tests if test is not None]
            return _joined(ast.Or(), found) if len(found) == len(tests) else None
        case ast.MatchAs(pattern=None, name=str() as name), str():
            bind = ast.Assign([ast.Name(name, ast.Store())], ast.Name(subject, ast.Load()))
            binds.append(ast.copy_location(bind, pattern))
            return ALWAYS
        case ast.MatchValue(value=value), str():
            return ast.copy_location(ast.Compare(ast.Name(subject, ast.Load()), [ast.Eq()], [value]), pattern)
        case ast.MatchSingleton(value=value), str():
            test = ast.Compare(ast.Name(subject, ast.Load()), [ast.Is()], [ast.Constant(value)])
            return ast.copy_location(test, pattern)
    return None


def _joined(operator: ast.boolop, tests: list[ast.expr]) -> ast.expr:
    """Several tests as one, as Python's ``and`` and ``or`` stop at the first that decides."""
    if len(tests) < 2:
        return tests[0] if tests else ALWAYS
    return ast.copy_location(ast.BoolOp(operator, tests), tests[0])
