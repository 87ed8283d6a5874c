"""Names that tell a state by a string, a member of an enumeration or None, in; the same told by small integers out.

state = "idle"                                state = 0
for v in signal:                              for v in signal:
    if state == "idle" and v > high:              if state == 0 and v > high:
        state = "active"                              state = 1
return state                                  return ("idle", "active")[state]

Such a name is bound in a loop, to nothing but constants and other such names, and loops only compare it with these.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Mapping
from typing import Any

from looplift.base.data import dataclass, field
from looplift.base.syntax import fresh_copy, nodes_of
from looplift.frontend.names import FUNCTIONS, free_names, parameters

LOOPS = (ast.For, ast.While)
FRAME_READERS = frozenset(("locals", "vars", "eval", "exec", "dir"))
BUILTIN_BASES = (object, int, str, float, enum.Enum, enum.IntEnum)


def with_numbered_states(tree: ast.FunctionDef, namespace: Mapping[str, Any]) -> ast.FunctionDef:
    """The tree with integers for states; the tree itself where there are none."""
    if not any(isinstance(node, LOOPS) for node in nodes_of(tree)):
        return tree
    found = _Names(tree, _Symbols(namespace, _bound(tree)))
    if not found.names:
        return tree
    numbered = _Numbered(found)
    made = numbered.visit(fresh_copy(tree))
    return ast.fix_missing_locations(made) if numbered.complete() else tree


def _bound(tree: ast.FunctionDef) -> frozenset[str]:
    stored = (n.id for n in nodes_of(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))
    return frozenset((*parameters(tree.args), *stored))


@dataclass(frozen=True)
class _Symbols:
    """Which expressions are constants that tell a state, and what tells them apart: a key, which is None for None."""

    namespace: Mapping[str, Any]
    local: frozenset[str]

    def holds(self, node: ast.AST) -> bool:
        return self.key(node) is not None or (isinstance(node, ast.Constant) and node.value is None)

    def key(self, node: ast.AST) -> tuple[Any, str] | None:
        match node:
            case ast.Constant(value=str() as value):
                return (str, value)
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner not in self.local:
                kind = self.namespace.get(owner)
                if isinstance(kind, enum.EnumMeta) and _compares_by_identity(kind) and name in kind.__members__:
                    member: Any = kind.__members__[name]
                    return (kind, member.name)
        return None


def _compares_by_identity(kind: enum.EnumMeta) -> bool:
    """Whether two members are equal only where they are one."""
    return not issubclass(kind, enum.Flag) and not any(
        "__eq__" in vars(base) for base in kind.__mro__ if base not in BUILTIN_BASES
    )


@dataclass
class _Names:
    """The names that tell states, by elimination."""

    tree: ast.FunctionDef
    symbols: _Symbols
    names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        nodes = nodes_of(self.tree)
        bindings = [pair for node in nodes for pair in bindings_of(node)]
        looped = {id(inner) for node in nodes if isinstance(node, LOOPS) for inner in nodes_of(node)}
        loads = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        if any(isinstance(node, OTHER) for node in nodes) or any(node.id in FRAME_READERS for node in loads):
            return
        self.names = {target.id for target, _ in bindings} - self._bound_otherwise(nodes, bindings)
        lost: set[str] = {""}
        while lost:
            proper = {id(name) for node in nodes for name in self._compared(node)}
            proper |= {id(name) for target, value in bindings if target.id in self.names for name in _named(value)}
            lost = {target.id for target, value in bindings if not self.is_state(value)}
            lost |= {node.id for node in loads if id(node) in looped and id(node) not in proper}
            lost &= self.names
            self.names -= lost
        self.names &= {target.id for target, _ in bindings if id(target) in looped}

    def _bound_otherwise(self, nodes: list[ast.AST], bindings: list[tuple[ast.Name, ast.expr]]) -> set[str]:
        """Names that something else binds, or that functions inside see."""
        plain = {id(target) for target, _ in bindings}
        stores = (node for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
        inside = (free_names(node) for node in nodes if isinstance(node, FUNCTIONS) and node is not self.tree)
        return {*parameters(self.tree.args), *(node.id for node in stores if id(node) not in plain)}.union(*inside)

    def is_state(self, node: ast.AST) -> bool:
        """Whether an expression tells a state."""
        match node:
            case ast.Name(id=name):
                return name in self.names
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_state(body) and self.is_state(orelse)
        return self.symbols.holds(node)

    def compares(self, node: ast.AST) -> bool:
        """Whether a comparison is of states alone, of which one is no constant."""
        match node:
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[ast.Tuple() | ast.List() as right]):
                return isinstance(left, ast.Name) and self.is_state(left) and all(map(self.symbols.holds, right.elts))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if any(map(_named, (left, right))):
                known = isinstance(op, ast.Eq | ast.NotEq)
                known = known or (isinstance(op, ast.Is | ast.IsNot) and any(map(self._is_one_object, (left, right))))
                return known and self.is_state(left) and self.is_state(right)
        return False

    def asks(self, node: ast.AST) -> bool:
        """Whether for the value of a member of an enumeration."""
        match node:
            case ast.Attribute(value=ast.Name(id=name, ctx=ast.Load()), attr="value", ctx=ast.Load()):
                return name in self.names
        return False

    def _is_one_object(self, node: ast.expr) -> bool:
        """Whether a constant is equal to nothing but itself: None, or a member of an enumeration."""
        key = self.symbols.key(node)
        return self.symbols.holds(node) and (key is None or key[0] is not str)

    def _compared(self, node: ast.AST) -> list[ast.Name]:
        if isinstance(node, ast.Attribute) and self.asks(node):
            return _named(node.value)
        if not isinstance(node, ast.Compare) or not self.compares(node):
            return []
        return [*_named(node.left), *_named(node.comparators[0])]


OTHER = (ast.Global, ast.Nonlocal, ast.Delete, ast.Match, ast.ClassDef, ast.ExceptHandler, ast.Import, ast.ImportFrom)
"""What binds or reads names in ways that are not followed here."""


def bindings_of(node: ast.AST) -> list[tuple[ast.Name, ast.expr]]:
    """The names that an assignment binds, each with its expression."""
    match node:
        case (
            ast.Assign(targets=[ast.Name() as target], value=value)
            | ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value)
        ):
            return [(target, value)]
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            if len(targets) == len(values) and not any(isinstance(one, ast.Starred) for one in (*targets, *values)):
                pairs = zip(targets, values, strict=True)
                return [(target, value) for target, value in pairs if isinstance(target, ast.Name)]
    return []


def _named(node: ast.AST) -> list[ast.Name]:
    """The names that an expression may give the value of."""
    match node:
        case ast.Name():
            return [node]
        case ast.IfExp(body=body, orelse=orelse):
            return [*_named(body), *_named(orelse)]
    return []


class _Numbered(ast.NodeTransformer):
    """States as numbers in the order in which they are met; where they leave, taken from a tuple of them."""

    def __init__(self, found: _Names):
        self.found = found
        self.codes: dict[Any, int] = {}
        self.constants: list[ast.expr] = []
        self.leaving: list[ast.Tuple] = []
        self.asked: list[tuple[ast.IfExp, ast.Name]] = []

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if not self.found.compares(node):
            return self.generic_visit(node)
        node.left, node.comparators = self._code(node.left), [self._code(node.comparators[0])]
        node.ops = [{ast.Is: ast.Eq, ast.IsNot: ast.NotEq}.get(type(op), type(op))() for op in node.ops]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        pairs = {id(value): target.id in self.found.names for target, value in bindings_of(node)}
        if pairs and isinstance(node.value, ast.Tuple) and id(node.value) not in pairs:
            items = node.value.elts
            node.value.elts = [self._code(one) if pairs.get(id(one)) else self.visit(one) for one in items]
            node.targets = [self.visit(target) for target in node.targets]
            return node
        return self._bind(node, pairs.get(id(node.value), False))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        return self._bind(node, any(target.id in self.found.names for target, _ in bindings_of(node)))

    def _bind(self, node: Any, is_state: bool) -> ast.AST:
        if not is_state:
            return self.generic_visit(node)
        node.value = self._code(node.value)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.found.names or not isinstance(node.ctx, ast.Load):
            return node
        states = ast.Tuple([], ast.Load())
        self.leaving.append(states)
        return ast.copy_location(ast.Subscript(states, node, ast.Load()), node)

    def _code(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.IfExp():
                node.test, node.body, node.orelse = (
                    self.visit(node.test),
                    self._code(node.body),
                    self._code(node.orelse),
                )
            case ast.Tuple() | ast.List():
                node.elts = list(map(self._code, node.elts))
            case _ if self.found.symbols.holds(node):
                key = self.found.symbols.key(node)
                if key not in self.codes:
                    self.codes[key] = len(self.codes)
                    self.constants.append(node)
                return ast.copy_location(ast.Constant(self.codes[key]), node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """``state.value`` is chosen by comparisons."""
        if not self.found.asks(node):
            return self.generic_visit(node)
        assert isinstance(node.value, ast.Name)
        choice = ast.IfExp(ast.Constant(True), ast.Constant(0), ast.Constant(0))
        self.asked.append((choice, node.value))
        return ast.copy_location(choice, node)

    def complete(self) -> bool:
        """Write out what needs all states, of which there may be more after a name is read; False if that cannot be."""
        kinds = {key[0] for key in self.codes if key is not None}
        if not kinds or (len(kinds) > 1 and any(kind is not str and issubclass(kind, str | int) for kind in kinds)):
            return False
        values = [None if key is None or key[0] is str else key[0].__members__[key[1]].value for key in self.codes]
        if self.asked and any(type(value) not in (int, float) for value in values):
            return False
        for states in self.leaving:
            states.elts = fresh_copy(self.constants)
        for choice, name in self.asked:
            choice.test, choice.body, choice.orelse = _chosen(name.id, values)
        return True


def _chosen(name: str, values: list[Any]) -> tuple[ast.expr, ast.expr, ast.expr]:
    """The parts of ``values[0] if name == 0 else values[1] if name == 1 else ...``."""
    first, *rest = map(ast.Constant, values)
    test = ast.Compare(ast.Name(name, ast.Load()), [ast.Eq()], [ast.Constant(0)])
    made = (test, first, rest[-1] if rest else first)
    for code in range(len(rest) - 1, 0, -1):
        test = ast.Compare(ast.Name(name, ast.Load()), [ast.Eq()], [ast.Constant(code)])
        made = (made[0], first, ast.IfExp(test, rest[code - 1], made[2]))
    return made
