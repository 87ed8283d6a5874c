"""Strings that a region reads letter by letter, in; the region over lists of their code points out.

for i in range(len(a)):                 for i in range(len(a)):            a = list(map(ord, a))
    if a[i] == b[i] or a[i] == "x":         if a[i] == b[i] or a[i] == 120:

Two letters compare as their code points do. So letters may only be compared, with one another or with literals of one
letter, or be asked for their ``ord``.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Iterable, Mapping
from typing import Any

from looplift.base.data import dataclass, field
from looplift.base.syntax import nodes_of
from looplift.frontend.names import FUNCTIONS

COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


@dataclass
class Letters:
    """The strings among a region's arguments, and its statements over code points."""

    names: tuple[str, ...]
    statements: list[ast.stmt]

    def values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: list(map(ord, value)) if name in self.names else value for name, value in values.items()}

    @property
    def conversions(self) -> list[str]:
        return [f"{name} = list(map(ord, {name}))" for name in self.names]


def letters_of(
    statements: list[ast.stmt], values: Mapping[str, Any], arguments: Iterable[str], live_out: Iterable[str]
) -> Letters | None:
    """None where there are no strings, or one is used in another way."""
    outer = {*arguments, *live_out}
    strings = {name for name in arguments if type(values.get(name)) is str}
    if not strings or any(isinstance(node, FUNCTIONS) for statement in statements for node in nodes_of(statement)):
        return None
    every = [node for statement in statements for node in nodes_of(statement)]
    uses = _Uses(strings & {node.id for node in every if isinstance(node, ast.Name)}, values)
    for _ in range(2):  # the second time all names of letters are known
        for node in every:
            uses.look(node)
    if not uses.strings or uses.letters & outer or not all(map(uses.allows, every)):
        return None
    spelled = [_Spelled(uses).visit(copy.deepcopy(statement)) for statement in statements]
    return Letters(tuple(sorted(uses.strings)), spelled)


@dataclass
class _Uses:
    """What is known of names: which are strings, which letters, and where they stand in their proper places."""

    strings: set[str]
    values: Mapping[str, Any]
    letters: set[str] = field(default_factory=set)
    proper: set[int] = field(default_factory=set)

    def look(self, node: ast.AST) -> None:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name() as whole], keywords=[]) if self.knows("len"):
                self._accept(whole)
            case ast.Call(func=ast.Name(id="ord"), args=[one], keywords=[]) if self.knows("ord"):
                self._accept(one)
            case ast.Subscript(value=ast.Name() as whole, slice=index) if not isinstance(index, ast.Slice):
                self._accept(whole)
            case ast.Compare(left=left, ops=ops, comparators=others) if _all_of(ops, COMPARISONS):
                if all(self.is_letter(one) or _is_literal(one) for one in (left, *others)):
                    self._accept(left, *others)
            case ast.For(target=target, iter=source) | ast.comprehension(target=target, iter=source):
                self._iterated(target, source)
            case ast.Assign(targets=[ast.Name() as target], value=value) if self.is_letter(value):
                self._bind(target)
                self._accept(value)

    def knows(self, name: str) -> bool:
        return self.values.get(name) is getattr(builtins, name)

    def _accept(self, *found: ast.AST) -> None:
        self.proper.update(map(id, found))

    def _bind(self, target: ast.AST) -> None:
        if isinstance(target, ast.Name):
            self.letters.add(target.id)
            self._accept(target)

    def _iterated(self, target: ast.AST, source: ast.AST) -> None:
        match source, target:
            case ast.Name(id=name), _ if name in self.strings:
                self._accept(source)
                self._bind(target)
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]), ast.Tuple(elts=[_, one]):
                if self.knows("enumerate"):
                    self._iterated(one, inner)
            case ast.Call(func=ast.Name(id="zip"), args=inners, keywords=[]), ast.Tuple(elts=targets):
                if self.knows("zip") and len(inners) == len(targets):
                    for inner, one in zip(inners, targets, strict=True):
                        self._iterated(one, inner)

    def is_letter(self, node: ast.AST) -> bool:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                return name in self.letters
            case ast.Subscript(value=ast.Name(id=name), slice=index, ctx=ast.Load()):
                return name in self.strings and not isinstance(index, ast.Slice)
        return False

    def allows(self, node: ast.AST) -> bool:
        """Whether a node is no string and no letter, or stands where it may."""
        if isinstance(node, ast.Name) and node.id in self.strings | self.letters:
            return id(node) in self.proper
        return not self.is_letter(node) or id(node) in self.proper


def _all_of(found: list[Any], kinds: tuple[type, ...]) -> bool:
    return all(isinstance(one, kinds) for one in found)


def _is_literal(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is str and len(node.value) == 1


class _Spelled(ast.NodeTransformer):
    """Literals that letters are compared with as numbers, ``ord`` of a letter as the letter."""

    def __init__(self, uses: _Uses):
        self.uses = uses

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if any(map(self.uses.is_letter, (node.left, *node.comparators))):
            node.left, *node.comparators = map(_number, (node.left, *node.comparators))
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="ord"), args=[one], keywords=[]) if self.uses.knows("ord"):
                return one if self.uses.is_letter(one) else _number(one) if _is_literal(one) else node
        return node


def _number(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Constant) and _is_literal(node):
        return ast.copy_location(ast.Constant(ord(str(node.value))), node)
    return node
