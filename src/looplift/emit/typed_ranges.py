"""Statements that hold ranges by names, or choose one of two, in; the same over lists of their numbers out.

columns = range(w)                      columns = [k for k in range(w)]
if y % 2: columns = columns[::-1]       if y % 2: columns = columns[::-1]
for x in columns: ...                   for x in columns: ...

Only where nobody can tell a list from a range: it is iterated, measured, asked for an item, a slice or a member. A
range of more numbers than are worth a list ends the program.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping
from typing import Any

from looplift.base.syntax import children_of, fresh_copy, nodes_of

MOST = 1_000_000
"""Of so many numbers a list is made at most."""

_READERS = frozenset("len reversed enumerate zip sorted list tuple set frozenset sum min max any all map".split())
_PLAIN = (
    ast.Name, ast.Constant, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Add, ast.Sub, ast.Mult, ast.USub, ast.Subscript,
)  # fmt: skip
_NUMBER = "__number"


def with_lists_for_ranges(body: list[ast.stmt], values: Mapping[str, Any], live_out: Iterable[str]) -> list[ast.stmt]:
    """``values``: of names before; ``live_out``: names that are read after. The same where there is nothing to do."""
    nodes = [node for statement in body for node in nodes_of(statement)]
    if not any(map(_is_range, nodes)) or not all(_is_builtin(name, values) for name in (*_READERS, "range")):
        return body
    if not {*_READERS, "range"}.isdisjoint(_stored(nodes)):
        return body
    names = _names_of_ranges(body) - {*values, *live_out}
    while seen := names & _seen_as_ranges(body, names):
        names -= seen
    lists = _Lists(names)
    made = [part for statement in body for part in _listed(lists.visit(fresh_copy(statement)))]
    return made if lists.changed else body


def _is_builtin(name: str, values: Mapping[str, Any]) -> bool:
    return name not in values or values[name] is getattr(builtins, name)


def _listed(found: ast.stmt | list[ast.stmt]) -> list[ast.stmt]:
    return found if isinstance(found, list) else [found]


def _is_range(node: ast.AST) -> bool:
    """Whether a node is a call of ``range`` whose arguments may be computed twice."""
    match node:
        case ast.Call(func=ast.Name(id="range"), args=[_, *_] as args, keywords=[]):
            return all(isinstance(part, _PLAIN) or _is_length(part) for arg in args for part in _parts(arg))
    return False


def _parts(node: ast.AST) -> list[ast.AST]:
    return [node] if _is_length(node) else [node, *(part for child in children_of(node) for part in _parts(child))]


def _is_length(node: ast.AST) -> bool:
    match node:
        case ast.Call(
            func=ast.Name(id="len"), args=[ast.Name() | ast.Attribute() | ast.Subscript() as one], keywords=[]
        ):
            return all(isinstance(part, _PLAIN) for part in nodes_of(one))
    return False


def _gives_a_range(node: ast.expr, names: set[str]) -> bool:
    match node:
        case ast.Name(id=name):
            return name in names
        case ast.IfExp(body=one, orelse=other):
            return _gives_a_range(one, names) and _gives_a_range(other, names)
        case ast.Subscript(value=one, slice=ast.Slice()):
            return _gives_a_range(one, names)
    return _is_range(node)


def _stored(nodes: list[ast.AST]) -> set[str]:
    return {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}


def _names_of_ranges(body: list[ast.stmt]) -> set[str]:
    """Names to which nothing but ranges is assigned."""
    nodes = [node for statement in body for node in nodes_of(statement)]
    given: dict[str, list[ast.expr]] = {}
    plain = set[ast.AST]()
    for node in nodes:
        for name, value in _assigned(node):
            given.setdefault(name.id, []).append(value)
            plain.add(name)
    stored = (node for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
    others = {node.id for node in stored if node not in plain}
    others |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    others |= {name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    names = given.keys() - others
    while True:
        kept = {name for name in names if all(_gives_a_range(value, names) for value in given[name])}
        if kept == names:
            return kept
        names = kept


def _assigned(node: ast.AST) -> list[tuple[ast.Name, ast.expr]]:
    """The names and values of an assignment of one each."""
    match node:
        case ast.Assign(targets=[ast.Name() as name], value=value):
            return [(name, value)]
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            return [(one, value) for one, value in zip(names, values) if isinstance(one, ast.Name)]
    return []


def _seen_as_ranges(body: list[ast.stmt], names: set[str]) -> set[str]:
    """Names of those that are read where a list would be another value."""
    found = set[str]()

    def visit(node: ast.AST, allowed: bool) -> None:
        if isinstance(node, ast.Name):
            if node.id in names and isinstance(node.ctx, ast.Load) and not allowed:
                found.add(node.id)
            return
        assigned = {value for name, value in _assigned(node) if name.id in names}
        where = {*assigned, *_where_lists_do(node, allowed)}
        for child in children_of(node):
            if isinstance(child, ast.Tuple) and not assigned.isdisjoint(child.elts):
                for item in child.elts:
                    visit(item, item in assigned)
            else:
                visit(child, child in where)

    for statement in body:
        visit(statement, False)
    return found


def _where_lists_do(node: ast.AST, allowed: bool) -> list[ast.AST]:
    """The nodes right below one that may be a list instead of a range; ``allowed``: so may the node itself."""
    match node:
        case ast.For(iter=one) | ast.comprehension(iter=one) | ast.Starred(value=one):
            return [one]
        case ast.Call(func=ast.Name(id=name), args=args) if name in _READERS:
            return [*args]
        case ast.Call(func=ast.Attribute(attr="index" | "count") as method):
            return [method]
        case ast.Attribute(value=one, attr="index" | "count"):
            return [one] if allowed else []
        case ast.Subscript(value=one, slice=ast.Slice()):
            return [one] if allowed else []
        case ast.Subscript(value=one):
            return [one]
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[one]):
            return [one]
        case ast.IfExp(test=test, body=one, orelse=other):
            return [test, one, other] if allowed else [test]
        case ast.If(test=test) | ast.While(test=test) | ast.UnaryOp(op=ast.Not(), operand=test):
            return [test]
    return []


class _Lists(ast.NodeTransformer):
    def __init__(self, names: set[str]):
        self.names, self.changed = names, False

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        pairs = _assigned(node)
        held = [value for name, value in pairs if name.id in self.names]
        if not held:
            return node
        return [*map(_ends_if_long, _ranges_of(held)), self._with_lists(node, held)]

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        if not isinstance(node.iter, ast.IfExp) or not (ranges := _ranges_of([node.iter])):
            return node
        return [*map(_ends_if_long, ranges), self._with_lists(node, [node.iter])]

    def _with_lists(self, node: ast.stmt, values: list[ast.expr]) -> ast.stmt:
        """The statement with lists of what ``values`` are ranges of."""
        self.changed = True
        return _Filled({id(one) for one in _ranges_of(values)}).visit(node)


def _ranges_of(values: list[ast.expr]) -> list[ast.Call]:
    """The ranges that a value is, or is chosen of, also reversed or in part."""
    found: list[ast.Call] = []
    for value in values:
        match value:
            case ast.IfExp(body=one, orelse=other):
                found += _ranges_of([one, other])
            case ast.Subscript(value=one, slice=ast.Slice()):
                found += _ranges_of([one])
            case ast.Call(func=ast.Name(id="reversed"), args=[one], keywords=[]):
                found += _ranges_of([one])
            case ast.Call() if _is_range(value):
                found.append(value)
    return found


class _Filled(ast.NodeTransformer):
    def __init__(self, ranges: set[int]):
        self.ranges = ranges

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if id(node) in self.ranges:
            return _list_of(node)
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="reversed"), args=[ast.ListComp()]):
                return _list_of(node)
        return node


def _list_of(node: ast.expr) -> ast.ListComp:
    made = ast.ListComp(ast.Name(_NUMBER, ast.Load()), [ast.comprehension(ast.Name(_NUMBER, ast.Store()), node, [], 0)])
    return ast.fix_missing_locations(ast.copy_location(made, node))


def _ends_if_long(node: ast.Call) -> ast.stmt:
    """A statement that raises where a range has too many numbers, so that the original runs."""
    low, high = (node.args[0], node.args[1]) if len(node.args) > 1 else (ast.Constant(0), node.args[0])
    wide = ast.BinOp(fresh_copy(high), ast.Sub(), fresh_copy(low))
    test = ast.Compare(ast.Constant(-MOST), [ast.Lt(), ast.Lt()], [wide, ast.Constant(MOST)])
    return ast.fix_missing_locations(ast.copy_location(ast.Assert(test, None), node))
