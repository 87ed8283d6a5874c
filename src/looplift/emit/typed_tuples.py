"""``tuple(...)`` over items that are known one by one in, a tuple with a type and a place for each of them out.

state = tuple(s + dt * d for s, d in zip(state, slope))        becomes        Tuple{s0 + dt * d0, s1 + dt * d1}

Others hold any number of items of one type. Where tuples of both kinds meet, neither is right for all, so a program is
written with the latter first, and with the former where that has no types.
"""

from __future__ import annotations

import ast
from typing import Any

from looplift.base.spans import is_strict
from looplift.emit.typed_folds import Folds
from looplift.emit.typed_scope import Value, as_int
from looplift.emit.typed_types import INT, NEVER, NONE, Tup

MOST_ITEMS = 16
"""A tuple of more items is not written out."""


class Tuples(Folds):
    """Tuples of what is gone through."""

    writes_items: bool
    """Whether tuples of known items are written out."""
    meets_items = False
    """Whether there are such tuples."""

    def tuple_of_known(self, source: ast.expr) -> Value | None:
        """None where it is not known how many items there are, or they are not to be written out."""
        iterable = self._one_iterable(source)
        count = None if iterable is None else self._known_count(iterable)
        if iterable is None or count is None or (count is not NEVER and count > MOST_ITEMS):
            return None
        self.meets_items = True
        if not self.writes_items:
            return None
        if count is NEVER:
            return Value(NEVER, "None_()")
        items = self._known_items(iterable)
        return self.tuple_of(self.in_order([lambda item=item: self._known_element(source, item) for item in items]))

    def _one_iterable(self, source: ast.expr) -> ast.expr | None:
        """What an expression goes through item by item, to make one of each."""
        match source:
            case ast.GeneratorExp(generators=[one]) | ast.ListComp(generators=[one]):
                return None if one.ifs or one.is_async else one.iter
            case ast.Call(args=[ast.Lambda() | ast.Name(), one], keywords=[]) if self.callee(source) is map:
                return one
        return source if self.is_stream(source) else None

    def _known_element(self, source: ast.expr, item: Value) -> Value:
        if isinstance(source, ast.Call):
            return self.applied(source.args[0], item) if self.callee(source) is map else item
        assert isinstance(source, ast.GeneratorExp | ast.ListComp)
        before = dict(self.renamed)
        self.bind_own(source.generators[0].target, item)
        found = self.expression(source.elt)
        self.renamed = before
        return found

    def _known_count(self, node: ast.expr) -> Any:
        """How many items there are; NEVER where that is to be found out yet, None where there may be any number."""
        if (inner := self._goes_through(node)) is not None:
            counts = [self._known_count(one) for one in inner]
            if None in counts or NEVER in counts:
                return None if None in counts else NEVER
            return None if isinstance(node, ast.Call) and is_strict(node) and len(set(counts)) > 1 else min(counts)
        if isinstance(node, ast.Call) and self.callee(node) is range:
            bounds = [self._known_number(one) for one in node.args]
            return None if None in bounds else NEVER if NEVER in bounds else _length(bounds)
        value = self.looked_at(node)
        if value is None or value.type is NEVER:
            return value and NEVER
        return len(value.type.items) if isinstance(value.type, Tup) else None

    def _known_number(self, node: ast.expr) -> Any:
        """The number that a literal stands for, or the length of a tuple."""
        if isinstance(node, ast.Call) and self.callee(node) is len and len(node.args) == 1 and not node.keywords:
            type_ = NONE if (value := self.looked_at(node.args[0])) is None else value.type
            return len(type_.items) if isinstance(type_, Tup) else NEVER if type_ is NEVER else None
        try:
            found = ast.literal_eval(node)
        except ValueError:
            return None
        return found if type(found) is int else None

    def _goes_through(self, node: ast.expr) -> list[ast.expr] | None:
        """What ``zip``, ``enumerate`` and ``reversed`` go through."""
        if not isinstance(node, ast.Call) or not node.args or any(isinstance(one, ast.Starred) for one in node.args):
            return None
        function = self.callee(node)
        if function is zip and is_strict(node) is not None:
            return node.args
        if function is reversed and self.is_stream(node.args[0]):  # which Python raises of
            return None
        return node.args[:1] if function in (enumerate, reversed) else None

    def _known_items(self, node: ast.expr) -> list[Value]:
        inner, function = self._goes_through(node), self.callee(node) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and function is range:
            return [Value(INT, f"I({number}LL)") for number in range(*map(self._known_number, node.args))]
        if not isinstance(node, ast.Call) or inner is None:
            return self.fields(self.keep(self.present(self.expression(node))))
        columns = [self._known_items(one) for one in inner]
        if function is reversed:
            return columns[0][::-1]
        if function is enumerate:
            return self._numbered(node, columns[0])
        return [self.parted(self.tuple_of([*items]), [*items]) for items in zip(*columns)]

    def _numbered(self, node: ast.Call, items: list[Value]) -> list[Value]:
        given = [*node.args[1:], *(one.value for one in node.keywords)]
        first = self.keep(Value(INT, as_int(self.expression(given[0]), node) if given else "I(0)"))
        numbers = [self.arithmetic(ast.Add, first, Value(INT, f"I({k})"), node) for k in range(len(items))]
        return [self.parted(self.tuple_of([*pair]), [*pair]) for pair in zip(numbers, items)]


def _length(bounds: list[int]) -> int | None:
    return len(range(*bounds)) if 0 < len(bounds) <= 3 and bounds[2:] != [0] else None
