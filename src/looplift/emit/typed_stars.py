"""Stars in displays and in targets of typed programs in, their types and C++ out.

[first, *rest, last]; (*box, label); {*xs, 0}; head, *others = row
"""

from __future__ import annotations

import ast
from typing import Any

from looplift.emit.typed_expressions import inside, is_box
from looplift.emit.typed_loops import Loops
from looplift.emit.typed_scope import Value, coerced, refuse
from looplift.emit.typed_types import NEVER, TEXT, Tup, text_of


class Stars(Loops):
    """Displays of which some items are gone through, and targets of which one takes what others leave."""

    def of_List(self, node: ast.List) -> Value:
        return self._with_stars(node, "list") if has_star(node.elts) else super().of_List(node)

    def of_Set(self, node: ast.Set) -> Value:
        return self.hashed(self._with_stars(node, "set"), node) if has_star(node.elts) else super().of_Set(node)

    def of_Tuple(self, node: ast.Tuple) -> Value:
        if not has_star(node.elts):
            return super().of_Tuple(node)
        types = [self.peek(one.value) for one in node.elts if isinstance(one, ast.Starred)]
        if not all(isinstance(one, Tup) or one is NEVER for one in types):
            return self._with_stars(node, "tuple")
        items: list[Value] = []
        for place, value in enumerate(self.several(*map(_without_star, node.elts))):
            is_starred = isinstance(node.elts[place], ast.Starred)
            items += self.fields(self.keep(value)) if is_starred and value.type is not NEVER else [value]
        return self.tuple_of(items)

    def _with_stars(self, node: ast.List | ast.Set | ast.Tuple, kind: str) -> Value:
        box, name, method = self.box(node, kind, 1), self.fresh(), "add" if kind == "set" else "push"
        with self.block() as lines:
            for one in node.elts:
                if isinstance(one, ast.Starred):
                    self.put_each(box, name, one.value, method)
                else:
                    self.put_items(box, name, [one], method)
        text = text_of(box)
        self.emit(f"{text} {name} = made<{inside(text)}>();")
        self.lines += lines
        return Value(box.find(), name)

    def taken_apart(self, value: Value, count: int, node: ast.AST) -> list[Value]:
        if not takes_rest(node):
            return super().taken_apart(value, count, node)
        assert isinstance(node, ast.Tuple | ast.List)
        elts = node.elts
        value = self.present(value)
        if value.type is NEVER:
            return [value] * count
        before = next(place for place, one in enumerate(elts) if isinstance(one, ast.Starred))
        if isinstance(value.type, Tup):
            return self._around_fields(value, before, count, elts[before], node)
        if value.type is not TEXT and not is_box(value, "list", "deque", "tuple"):
            raise refuse(node, "is not taken apart")
        return self._around(self.keep(value), before, count, elts[before])

    def _around_fields(self, value: Value, before: int, count: int, star: ast.expr, node: ast.AST) -> list[Value]:
        fields = value.parts or self.fields(self.keep(value))
        end = len(fields) - (count - before - 1)
        if end < before:
            raise refuse(node, "has another number of items")
        rest = self.filled(self.box(star, "list", 1), [("push", [one]) for one in fields[before:end]])
        return [*fields[:before], rest, *fields[end:]]

    def _around(self, value: Value, before: int, count: int, star: ast.expr) -> list[Value]:
        """The first items and the last ones, and a list of those between."""
        after, box, place, end = count - before - 1, self.box(star, "list", 1), self.fresh("i"), self.fresh("n")
        self.emit(f"I {end} = size({value.code}) - {after};")
        self.emit(f"if ({end} < {before}) bail(KIND);")
        item = self.item_at(value, place)
        self.joins.widen(box, 0, item.type)
        rest = self.filled(box, [])
        self.emit(f"for (I {place} = {before}; {place} < {end}; ++{place})")
        self.emit(f"{rest.code}->push({coerced(item, box.find().cells[0])});")
        places: list[Any] = [*range(before), *(f"({end} + {k})" for k in range(after))]
        items = [self.keep(self.item_at(value, str(one))) for one in places]
        return [*items[:before], rest, *items[before:]]


def takes_rest(node: ast.AST) -> bool:
    """Whether one of the names that a value is taken apart into gets a list of what others leave."""
    return isinstance(node, ast.Tuple | ast.List) and has_star(node.elts)


def has_star(nodes: list[ast.expr]) -> bool:
    return any(isinstance(one, ast.Starred) for one in nodes)


def _without_star(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Starred) else node
