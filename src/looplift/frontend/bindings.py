"""Statements in; which of the names that they bind always hold a number or text, which a container made there, out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from looplift.base.data import dataclass, field
from looplift.base.syntax import nodes_of

NUMBERS = (int, float, bool, complex, str, bytes, type(None))
NUMBER_CALLS = frozenset("int float bool len ord chr str repr".split())
NUMBER_CHECKS = ("_int64", "_float64", "_float32", "_bool", "_double")
"""Functions of the text over lists, which give the number that they are given."""
WHOLE_CALLS = frozenset("int len ord _int64".split())
CHOICES = frozenset("min max abs round".split())
MAKERS = frozenset("list dict set sorted deque defaultdict Counter OrderedDict".split())
DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)


class Listed(NamedTuple):
    """A list of numbers: how many levels of lists it has, and whether they are integers, and not truths."""

    depth: int
    whole: bool


@dataclass
class Bindings:
    """Names that hold nothing else than a number, a ``fresh`` container, or an array that was ``created`` there.

    ``whole`` are integers, and no truths. ``creates`` says of an expression whether it makes an array of its own.
    """

    lists: Mapping[str, Listed]
    creates: Callable[[ast.expr], bool]
    numbers: set[str] = field(default_factory=set)
    fresh: set[str] = field(default_factory=set)
    created: set[str] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)

    def is_number(self, node: ast.expr) -> bool:
        """Whether an expression is a number or text, as far as its form tells."""
        match node:
            case ast.Constant() | ast.JoinedStr():
                return True
            case ast.Compare(left=left, comparators=others):
                return self.is_number(left) and all(map(self.is_number, others))
            case ast.Name(id=name):
                return name in self.numbers
            case ast.BinOp(left=left, right=right):
                return self.is_number(left) and self.is_number(right)
            case ast.UnaryOp(operand=operand):
                return self.is_number(operand)
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_number(body) and self.is_number(orelse)
            case ast.Call(func=ast.Name(id=name), args=args):
                return name in (*NUMBER_CALLS, *NUMBER_CHECKS) or (name in CHOICES and all(map(self.is_number, args)))
        return self.listed(node).depth == 0

    def is_whole(self, node: ast.expr) -> bool:
        """Whether an expression, where it is an index at all, is an integer and no truth."""
        match node:
            case ast.Constant(value=value):
                return type(value) is int
            case ast.Name(id=name) if name not in self.lists:
                return name in self.whole
            case ast.UnaryOp(op=ast.UAdd() | ast.USub() | ast.Invert(), operand=operand):
                return self.is_whole(operand)
            case ast.BinOp(left=left, right=right):
                return self.is_whole(left) and self.is_whole(right)
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_whole(body) and self.is_whole(orelse)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return name in WHOLE_CALLS or (
                    name in ("min", "max") and len(args) > 1 and all(map(self.is_whole, args))
                )
            case ast.Subscript(value=ast.Attribute(value=ast.Name(), attr="shape"), slice=ast.Constant()):
                return True
        return self.listed(node) == (0, True)

    def listed(self, node: ast.expr) -> Listed:
        """What is left of a list of numbers; of a depth below zero for other expressions."""
        taken = 0
        while isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            node, taken = node.value, taken + 1
        found = self.lists.get(node.id, _NOT_LISTED) if isinstance(node, ast.Name) else _NOT_LISTED
        return Listed(found.depth - taken, found.whole)

    def is_fresh(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                return name in MAKERS
            case ast.BinOp(left=left, right=right, op=ast.Add() | ast.Mult()):
                return self.is_fresh(left) or self.is_fresh(right)
        return isinstance(node, DISPLAYS)


def bindings_of(
    statements: Iterable[ast.stmt],
    values: Mapping[str, Any],
    lists: Mapping[str, Listed],
    creates: Callable[[ast.expr], bool],
) -> Bindings:
    """What is known of names that the statements bind, and of those in ``values``, which they begin with."""
    bound: dict[str, list[ast.expr | None]] = {}
    for statement in statements:
        for node in nodes_of(statement):
            for name, value in _bound_by(node):
                bound.setdefault(name, []).append(value)
    numbers = {name for name in bound if name not in values} | {
        name for name, value in values.items() if type(value) in NUMBERS
    }
    fresh = {name for name in bound if name not in values and name not in lists}
    whole = {name for name in numbers if name not in values or type(values[name]) is int}
    found = Bindings(lists, creates, numbers - lists.keys(), fresh, set(fresh), whole)
    kinds = (
        (found.numbers, found.is_number), (found.whole, found.is_whole), (found.fresh, found.is_fresh),
        (found.created, creates),
    )  # fmt: skip
    before = -1
    while before != (before := sum(len(names) for names, _ in kinds)):
        for names, holds in kinds:
            names -= {name for name, every in bound.items() if not all(_holds(holds, value) for value in every)}
    return found


def _holds(test: Any, value: ast.expr | None) -> bool:
    return value is not None and test(value)


_NUMBER = ast.Constant(0)
_NOT_LISTED = Listed(-1, False)


def _bound_by(node: ast.AST) -> list[tuple[str, ast.expr | None]]:
    """The names that a node binds, each with the expression of its value; None where that is not known."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return [pair for target in targets for pair in _pairs(target, value)]
        case (
            ast.AnnAssign(target=ast.Name(id=name), value=value) | ast.NamedExpr(target=ast.Name(id=name), value=value)
        ):
            return [(name, value)]
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            return [(name, value)]
        case ast.For(target=target, iter=source) | ast.comprehension(target=target, iter=source):
            return _iterated(target, source)
        case ast.arg(arg=name):
            return [(name, None)]
    return []


def _pairs(target: ast.expr, value: ast.expr | None) -> list[tuple[str, ast.expr | None]]:
    match target:
        case ast.Name(id=name):
            return [(name, value)]
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            if isinstance(value, ast.Attribute) and value.attr == "shape":
                value = ast.Tuple([ast.Subscript(value, _NUMBER, ast.Load())] * len(targets), ast.Load())
            values = value.elts if isinstance(value, ast.Tuple) else []
            if len(values) != len(targets) or any(isinstance(one, ast.Starred) for one in values):
                values = [None] * len(targets)
            return [pair for one, part in zip(targets, values, strict=True) for pair in _pairs(one, part)]
        case ast.Starred(value=inner):
            return _pairs(inner, None)
    return []


def _iterated(target: ast.expr, source: ast.expr) -> list[tuple[str, ast.expr | None]]:
    """A name that runs over ``range`` is a number, one over a list of numbers an item of it."""
    match source, target:
        case ast.Call(func=ast.Name(id="range")), ast.Name():
            return _pairs(target, _NUMBER)
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]), ast.Tuple(elts=[first, second]):
            return [*_pairs(first, _NUMBER), *_iterated(second, inner)]
        case ast.Call(func=ast.Name(id="zip"), args=inners), ast.Tuple(elts=targets) if len(inners) == len(targets):
            return [pair for one, inner in zip(targets, inners, strict=True) for pair in _iterated(one, inner)]
        case ast.Name() | ast.Subscript(), ast.Name():
            return _pairs(target, ast.Subscript(source, _NUMBER, ast.Load()))
    return _pairs(target, None)
