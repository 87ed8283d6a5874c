"""Statements and what is known of their tests in, the statements without the sides that are not taken, out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping

from looplift.base.data import dataclass
from looplift.base.syntax import children_of, nodes_of

Known = Callable[[ast.expr], bool | None]
"""Whether a test holds; None where that is not known."""

_SIGNS: dict[type[ast.cmpop], tuple[Callable[[float], bool], bool, bool]] = {
    ast.Eq: (lambda c: c == 0, False, False), ast.NotEq: (lambda c: c != 0, True, True),
    ast.Lt: (lambda c: c < 0, False, True), ast.LtE: (lambda c: c <= 0, False, True),
    ast.Gt: (lambda c: c > 0, True, False), ast.GtE: (lambda c: c >= 0, True, False),
}  # fmt: skip
"""What holds of a difference, and whether it holds of all that is far above zero, and far below."""


@dataclass(frozen=True)
class Linear:
    """A sum of integers: terms by their text, each with its factor, and a constant."""

    terms: Mapping[str, int]
    constant: int

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        terms = dict(self.terms)
        for term, count in other.terms.items():
            terms[term] = terms.get(term, 0) + factor * count
        return Linear({term: count for term, count in terms.items() if count}, self.constant + factor * other.constant)


def linear(node: ast.expr, changing: Collection[str]) -> Linear | None:
    """An expression as a sum, whose terms are names, lengths and sizes; ``changing``: names and terms that are none."""
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return Linear({}, number)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = linear(operand, changing)
            return None if inner is None else Linear({}, 0).plus(inner, -1)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            first, second = linear(left, changing), linear(right, changing)
            if first is None or second is None:
                return None
            return first.plus(second, 1 if isinstance(op, ast.Add) else -1)
    if (
        _is_term(node)
        and ast.unparse(node) not in changing
        and not any(isinstance(one, ast.Name) and one.id in changing for one in nodes_of(node))
    ):
        return Linear({ast.unparse(node): 1}, 0)
    return None


def _is_term(node: ast.expr) -> bool:
    match node:
        case ast.Name():
            return True
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name()], keywords=[]):
            return True
        case ast.Subscript(value=ast.Attribute(value=ast.Name(), attr="shape"), slice=ast.Constant(value=int())):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr="size"), args=[ast.Constant(value=int())], keywords=[]):
            return True
    return False


def _names(node: ast.expr) -> set[str]:
    """The names that are terms of a sum."""
    match node:
        case ast.BinOp(left=left, right=right):
            return _names(left) | _names(right)
        case ast.UnaryOp(operand=operand):
            return _names(operand)
        case ast.Name(id=name):
            return {name}
    return set()


def of_index(index: str, first: Linear, step: int, changing: Collection[str], *, later: bool) -> Known:
    """What is known of tests of an index in its first iteration, where it is ``first``; or in all that follow."""
    changing = {*changing} - {index}

    def known(node: ast.expr) -> bool | None:
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _SIGNS:
                if not _names(left) | _names(right) <= {index, *first.terms}:
                    return None  # others may be no integers: ``x + i > x`` does not hold of a great float
                sides = linear(left, changing), linear(right, changing)
            case ast.Name(id=name) if name == index:
                op, sides = ast.NotEq(), (Linear({index: 1}, 0), Linear({}, 0))
            case _:
                return None
        if sides[0] is None or sides[1] is None:
            return None
        difference = sides[0].plus(sides[1], -1)
        count = difference.terms.get(index, 0)
        at_first = difference.plus(Linear({index: 1}, 0), -count).plus(first, count)
        if not count or at_first.terms:
            return None
        holds, above, below = _SIGNS[type(op)]
        if not later:
            return holds(at_first.constant)
        nearest = at_first.constant + count * step
        if (nearest > 0) == (count * step > 0) and nearest:
            return above if nearest > 0 else below
        at_nearest = holds(nearest)
        return at_nearest if nearest == 0 and at_nearest == (above if count * step > 0 else below) else None

    return known


def folded(statements: list[ast.stmt], known: Known) -> tuple[list[ast.stmt], int]:
    """The statements (which are changed) without what is known, and how many tests were."""
    fold = _Fold(known)
    return fold.block(statements), fold.count


class _Fold(ast.NodeTransformer):
    def __init__(self, known: Known):
        self.known, self.count = known, 0

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in statements:
            if isinstance(statement, ast.If):
                test = self.test(statement.test)
                if isinstance(test, ast.Constant):
                    made += self.block(statement.body if test.value else statement.orelse)
                    continue
                statement.test = test
                statement.body = self.block(statement.body)
                statement.orelse = self.block(statement.orelse)
            elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self._inside(statement)
            made.append(statement)
        return made

    def _inside(self, statement: ast.stmt) -> None:
        for name, value in ast.iter_fields(statement):
            if name in ("body", "orelse", "finalbody") and isinstance(value, list):
                setattr(statement, name, self.block(value) or ([ast.Pass()] if name == "body" else []))
            elif isinstance(value, ast.expr):
                setattr(statement, name, self.visit(value))
            elif isinstance(value, list):
                setattr(statement, name, [self.visit(one) if isinstance(one, ast.expr) else one for one in value])

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        test = self.test(node.test)
        if isinstance(test, ast.Constant):
            return self.visit(node.body if test.value else node.orelse)
        node.test = test
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def test(self, node: ast.expr) -> ast.expr:
        found = self.known(node)
        if found is not None:
            self.count += 1
            return ast.copy_location(ast.Constant(found), node)
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.test(operand)
                if isinstance(inner, ast.Constant):
                    return ast.copy_location(ast.Constant(not inner.value), node)
                node.operand = inner
            case ast.BoolOp(op=op, values=values):
                return self._joined(node, [self.test(one) for one in values], decides=isinstance(op, ast.Or))
        return node

    def _joined(self, node: ast.BoolOp, parts: list[ast.expr], *, decides: bool) -> ast.expr:
        """``and`` and ``or`` without the parts that leave the others to decide, up to one that does."""
        kept: list[ast.expr] = []
        for part in parts:
            if isinstance(part, ast.Constant) and bool(part.value) is not decides:
                continue
            kept.append(part)
            if isinstance(part, ast.Constant):
                break
        if not kept:
            return ast.copy_location(ast.Constant(not decides), node)
        node.values = kept
        return kept[0] if len(kept) == 1 else node


def leaves_early(statements: list[ast.stmt]) -> bool:
    """Whether statements of a loop's body leave it, or the function, in another way than at their end."""
    for statement in statements:
        if isinstance(statement, ast.Break | ast.Return | ast.Continue):
            return True
        inner = [one for one in children_of(statement) if isinstance(one, ast.stmt)]
        if isinstance(statement, ast.For | ast.While):
            if any(isinstance(one, ast.Return) for one in nodes_of(statement)) or leaves_early(statement.orelse):
                return True
        elif not isinstance(statement, ast.FunctionDef | ast.ClassDef) and leaves_early(inner):
            return True
    return False
