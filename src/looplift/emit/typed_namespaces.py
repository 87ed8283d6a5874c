"""``SimpleNamespace`` in, objects with a field for each name out: those with the same names, in one order,
are of one kind."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

from looplift.emit.typed_classes import Record
from looplift.emit.typed_objects import Objects
from looplift.emit.typed_scope import Value, refuse
from looplift.emit.typed_types import NEVER, Box


class Namespaces(Objects):
    """What is done with objects that have no class of the user's."""

    def given_objects(self, made: type, values: list[Any], seen: dict[int, Any]) -> tuple[list[Any], list[Any]]:
        if made is not SimpleNamespace:
            return super().given_objects(made, values, seen)
        by_names: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        whole: dict[tuple[str, ...], list[Any]] = {}
        for value in values:
            names = tuple(vars(value))
            by_names.setdefault(names, []).append(vars(value))
            whole.setdefault(names, []).append(value)
        if not all(name.isidentifier() for names in by_names for name in names):
            return [], values
        return [self.later(self._record(names), whole[names], those, seen) for names, those in by_names.items()], []

    def _record(self, names: tuple[str, ...]) -> Record:
        """What those with these names are, which nothing but their names and values tells from one another."""
        key: Any = (SimpleNamespace, *names)
        if key not in self.records:
            box = Box(f"object N{len(self.records)}", *[NEVER] * len(names))
            box.made = key
            self.records[key] = Record(SimpleNamespace, box, [*names], [*names], by_fields=True, has_hash=False)
            self.look_at(SimpleNamespace)
        return self.records[key]

    def record_of(self, made: Any) -> Record:
        if isinstance(made, tuple) and made[0] is SimpleNamespace:
            return self._record(made[1:])
        known: Any = made
        return super().record_of(known)

    def made_object(self, made: type, node: ast.Call) -> Value:
        if made is not SimpleNamespace:
            return super().made_object(made, node)
        names = [one.arg for one in node.keywords]
        if node.args or None in names:
            raise refuse(node, "is made in a way of its own")
        record = self._record(tuple(map(str, names)))
        return self._made_of_fields(Value(record.box, self.fresh()), record, node)
