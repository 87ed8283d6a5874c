"""A function's statements in, the same without the functions that are defined among them out, and those by themselves.

def encode(tree, emb):                       def encode(tree, emb):
    memo = {}                                    memo = {}
    def visit(node): ... memo ... emb            return visit(emb, memo, tree)
    return visit(tree)                       def visit(emb, memo, node): ...

An inner function reads the names around it when it is called, and nothing can bind them anew before it returns: it may
as well be given what they hold (lambda lifting, Johnsson 1985). It is left as it is where it is more than called.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from looplift.base.data import dataclass
from looplift.base.syntax import fresh_copy, nodes_of
from looplift.frontend.names import FUNCTIONS, free_names, names_of
from looplift.frontend.names import parameters as all_parameters

_ORIGIN = "looplift_inner_function"


@dataclass(frozen=True)
class Origin:
    """What a function made here is made of: its syntax tree, and the functions that it may call by their names."""

    tree: ast.FunctionDef
    beside: dict[str, types.FunctionType]


Functions = dict[str, types.FunctionType]


def origin_of(function: types.FunctionType) -> Origin | None:
    return getattr(function, _ORIGIN, None)


def calls_itself(body: Sequence[ast.stmt]) -> bool:
    """Whether one of the functions that are defined among statements leads back to itself."""
    reads = {one.name: free_names(one) for one in body if isinstance(one, ast.FunctionDef)}
    for _ in reads:
        reads = {name: read.union(*(reads[other] for other in read & reads.keys())) for name, read in reads.items()}
    return any(name in read for name, read in reads.items())


def taken_apart(
    function: types.FunctionType, parameters: list[str], body: list[ast.stmt]
) -> tuple[list[ast.stmt], Functions]:
    """A function's statements without the definitions among them, with calls that hand on what these read, and the
    functions."""
    known = {*parameters, *names_of([one for one in body if not isinstance(one, ast.FunctionDef)]).stores}
    code = function.__code__
    apart = _Apart({*parameters}, known, frozenset(code.co_freevars), function.__globals__, code.co_filename)
    return apart.block(body)


def taken_out_of_loops(
    statements: list[ast.stmt], names: Iterable[str], globals: Mapping[str, Any], file: str
) -> tuple[list[ast.stmt], Functions]:
    """The same of the bodies of loops in a region that reads some names of the function around it."""
    nodes = [node for statement in statements for node in nodes_of(statement)]
    if not any(isinstance(node, ast.FunctionDef) for node in nodes):
        return statements, {}
    found: Functions = {}
    known = {*names, *names_of(statements).stores}
    apart = _Apart({*names}, known, frozenset(), dict(globals), file)
    changed = [fresh_copy(one) for one in statements]
    every = [node for statement in changed for node in nodes_of(statement)]
    for node in every:
        if isinstance(node, ast.For | ast.While) and any(isinstance(one, ast.FunctionDef) for one in node.body):
            rest, made = apart.block(node.body)
            inside = sum(_mentions(one, {*made}) for one in node.body)
            if made and not found.keys() & made.keys() and inside == sum(_mentions(one, {*made}) for one in changed):
                node.body, found = rest, found | made
    return changed, found


@dataclass
class _Apart:
    """What takes functions out of blocks. ``known``: the names around them, ``given`` those that come from outside;
    ``outer``: names of functions that cannot be seen."""

    given: set[str]
    known: set[str]
    outer: frozenset[str]
    globals: dict[str, Any]
    file: str

    def block(self, body: list[ast.stmt]) -> tuple[list[ast.stmt], Functions]:
        inner = {one.name: one for one in body if isinstance(one, ast.FunctionDef)}
        rest = [one for one in body if not isinstance(one, ast.FunctionDef)]
        if not inner or len(inner) + len(rest) < len(body):
            return body, {}
        reads = {name: free_names(one) & (self.known | inner.keys()) for name, one in inner.items()}
        for _ in reads:
            reads = {name: read.union(*(reads[other] for other in read & reads.keys())) for name, read in reads.items()}
        given = {name: sorted(read - inner.keys()) for name, read in reads.items()}
        names, taken = {*inner}, {one for every in given.values() for one in every} | {*inner}
        stored = names_of(rest).stores
        if names & (stored | self.given) or taken & _bound_apart(body) or not _begin_first(body, names):
            return body, {}
        if not all(_may_move(one, taken, self.outer) for one in inner.values()):
            return body, {}
        rest = [_Calls(given).visit(fresh_copy(one)) for one in rest]
        made: Functions = {}
        made |= {name: _function(one, given, made, self.globals, self.file) for name, one in inner.items()}
        return rest, made


def _begin_first(body: list[ast.stmt], names: set[str]) -> bool:
    """Whether functions are only called, and all are defined before one is."""
    calls = [place for place, one in enumerate(body) if not isinstance(one, ast.FunctionDef) and _mentions(one, names)]
    last = max(place for place, one in enumerate(body) if isinstance(one, ast.FunctionDef))
    return min(calls, default=last + 1) > last and all(_are_only_called(one, names) for one in body)


def _mentions(statement: ast.stmt, names: set[str]) -> int:
    return sum(isinstance(node, ast.Name) and node.id in names for node in nodes_of(statement))


def _bound_apart(body: list[ast.stmt]) -> set[str]:
    """Names that comprehensions and lambdas bind for themselves."""
    found: set[str] = set()
    for node in (node for statement in body for node in nodes_of(statement)):
        if isinstance(node, ast.comprehension):
            found |= {one.id for one in nodes_of(node.target) if isinstance(one, ast.Name)}
        elif isinstance(node, ast.Lambda):
            found |= {*all_parameters(node.args)}
    return found


def _may_move(one: ast.FunctionDef, taken: set[str], outer: frozenset[str]) -> bool:
    """Whether a function is a plain one, of which all that it reads can be handed to it."""
    arguments = one.args
    others = (arguments.vararg, arguments.kwarg, *arguments.kwonlyargs, *arguments.posonlyargs)
    plain = not any(others) and not one.decorator_list and all(map(_is_literal, arguments.defaults))
    inside = [node for statement in one.body for node in nodes_of(statement)]
    nested = (*FUNCTIONS, ast.ClassDef, ast.Nonlocal, ast.Global, ast.Yield, ast.YieldFrom, ast.Await)
    own = {*all_parameters(arguments)} | names_of(one.body).stores
    free = own & taken or outer & free_names(one)
    return plain and not free and not any(isinstance(node, nested) for node in inside)


def _is_literal(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant)


def _are_only_called(statement: ast.stmt, names: set[str]) -> bool:
    called = {id(node.func) for node in nodes_of(statement) if isinstance(node, ast.Call)}
    every = (node for node in nodes_of(statement) if isinstance(node, ast.Name) and node.id in names)
    return all(id(node) in called for node in every)


class _Calls(ast.NodeTransformer):
    """Puts what an inner function reads in front of the arguments of its calls."""

    def __init__(self, given: dict[str, list[str]]):
        self.given = given

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self.given:
            handed = [ast.copy_location(ast.Name(name, ast.Load()), node) for name in self.given[node.func.id]]
            node.args = [*handed, *node.args]
        return node


def _function(
    one: ast.FunctionDef, given: dict[str, list[str]], beside: Functions, globals: dict[str, Any], file: str
) -> types.FunctionType:
    made = _Calls(given).visit(fresh_copy(one))
    made.returns = None
    for argument in made.args.args:
        argument.annotation = None
    made.args.args = [*(ast.copy_location(ast.arg(name), one) for name in given[one.name]), *made.args.args]
    module = ast.Module([made], [])
    namespace: dict[str, object] = {}
    exec(compile(ast.fix_missing_locations(module), file, "exec", dont_inherit=True), namespace)
    found = namespace[one.name]
    assert isinstance(found, types.FunctionType)
    function = types.FunctionType(found.__code__, globals, one.name, found.__defaults__)
    setattr(function, _ORIGIN, Origin(made, beside))
    return function
