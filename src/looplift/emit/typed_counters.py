"""``collections.Counter`` in typed programs: a dict of numbers in which what is missing is 0.

counts = Counter(words); counts[word] += 1; counts.most_common(3)
"""

from __future__ import annotations

import ast

from looplift.emit.typed_expressions import element, is_box
from looplift.emit.typed_methods import Methods
from looplift.emit.typed_scope import Value, as_int, coerced, refuse
from looplift.emit.typed_types import INT, NEVER, NONE, TABLES, Tup, text_of


class Counters(Methods):
    """What is done with counters; they are made inside of a program, and stay there."""

    def container(self, kind: str, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        if kind != "counter":
            return super().container(kind, node, keywords)
        if keywords or len(node.args) > 1:
            raise refuse(node, "is made in a way of its own")
        found = self.filled(self.box(node, kind, 2), [])
        self.joins.widen(found.type, 1, INT)
        if node.args:
            self._count(found, node.args[0], node)
        return found

    def _count(self, owner: Value, source: ast.expr, node: ast.AST) -> None:
        """Count what an expression goes through."""
        value = self.looked_at(source)
        if value is not None and is_box(value, *TABLES, "set"):
            raise refuse(node, "counts what another dict or a set holds")
        if value is None:  # it may look at what was counted meanwhile
            self.folded(source, lambda item: self._count_one(owner, item, node))
            return
        items = self.listed(node, source)
        place = self.fresh("i")
        self.emit(f"for (I {place} = 0; {place} < {items.code}->n; ++{place}) {{")
        self._count_one(owner, Value(element(items), f"{items.code}->data[{items.code}->head + {place}]"), node)
        self.emit("}")

    def _count_one(self, owner: Value, value: Value, node: ast.AST) -> None:
        self.joins.widen(owner.type, 0, value.type)
        self.check_key(element(owner), node)
        key, count = owner.type.find().cells
        if NEVER in (value.type, key):
            return
        item, number = self.fresh(), self.fresh()
        given, one = coerced(value, key), coerced(Value(INT, "I(1LL)"), count)
        self.emit(f"{text_of(key)} {item} = {given}; {text_of(count)} {number} = {self._number(owner, item, count)};")
        self.emit(f"{owner.code}->set({item}, plus({number}, {one}));")

    def _number(self, owner: Value, key: str, count: object) -> str:
        return f"counted({owner.code}, {key}, {coerced(Value(INT, 'I(0LL)'), count)})"

    def item(self, owner: Value, index: Value, node: ast.AST) -> Value:
        if not is_box(owner, "counter"):
            return super().item(owner, index, node)
        self.joins.widen(owner.type, 0, index.type)
        self.check_key(element(owner), node)
        key, count = owner.type.find().cells
        return self.keep(Value(count, self._number(owner, coerced(index, key), count)))

    def counter_get(self, owner: Value, node: ast.Call, key: Value, default: Value | None = None) -> Value:
        return self.dict_get(owner, node, key, default)

    def counter_update(self, owner: Value, node: ast.Call) -> Value:
        self._count(self.keep(owner), node.args[0], node)
        return Value(NONE, "None_()")

    def counter_most_common(self, owner: Value, node: ast.Call, most: Value | None = None) -> Value:
        """The pairs with the greatest numbers, equal ones in the order in which they were seen."""
        owner = self.keep(owner)
        box, keys = self.box(node, "list", 1, "pairs"), self.box(node, "list", 1, "numbers")
        key, count = owner.type.find().cells
        self.joins.widen(box, 0, Tup((key, count)))
        self.joins.widen(keys, 0, count)
        pairs, numbers = self.filled(box, []), self.filled(keys, [])
        if NEVER in (key, count):
            return pairs
        place, pair = self.fresh("i"), element(pairs)
        entry = f"{owner.code}->entries[{place}]"
        given = (Value(key, f"{entry}.key"), Value(count, f"{entry}.value"))
        items = [coerced(one, type_) for one, type_ in zip(given, pair.items, strict=True)]
        self.emit(f"{owner.code}->in_order();")
        self.emit(f"for (I {place} = 0; {place} < {owner.code}->used; ++{place}) if ({entry}.live) {{")
        self.emit(f"{pairs.code}->push({text_of(pair)}({', '.join(items)}));")
        self.emit(f"{numbers.code}->push({coerced(given[1], element(numbers))}); }}")
        self.emit(f"sort_by({pairs.code}, {numbers.code}, true);")
        if most is not None and most.type is not NONE:
            number = self.fresh()
            self.emit(f"I {number} = {as_int(most, node)};")
            self.emit(f"while ({pairs.code}->n > 0 && {pairs.code}->n > {number}) {pairs.code}->pop();")
        return pairs
