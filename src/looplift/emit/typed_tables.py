"""Calls of what a dict of functions has under a key, in typed programs: a branch for each function.

OPERATORS = {"+": lambda a, b: a + b, "max": max}          stack.append(OPERATORS[token](a, b))
"""

from __future__ import annotations

import ast
from typing import Any

from looplift.emit.typed_namespaces import Namespaces
from looplift.emit.typed_scope import Value, coerced, refuse
from looplift.emit.typed_types import INT, NEVER, TEXT, text_of
from looplift.ops import twins

MOST = 64
"""A dict of more functions is none of a program's."""
_ARGUMENT = "argument {} of a table"


def is_table(value: Any) -> bool:
    """Whether a value is a dict of functions under texts, or under integers."""
    if type(value) is not dict or not 0 < len(value) <= MOST or not all(map(callable, value.values())):
        return False
    return {*map(type, value)} in ({str}, {int})


class Tables(Namespaces):
    """Dicts of functions, which are known before the program runs."""

    tables: dict[int, tuple[dict[Any, Any], tuple[Any, ...]]]
    """Those that were looked at, by what they are, with what is in them."""
    named_tables: dict[str, Any]
    """Those that the program's own statements name."""

    def _global(self, name: str) -> Any:
        raise NotImplementedError

    def _table_at(self, node: ast.expr) -> dict[Any, Any] | None:
        """The dict of functions that a name stands for."""
        if not isinstance(node, ast.Name) or node.id in self.renamed or self.owner(node.id) is not None:
            return None
        space = self.routine.namespace
        if not is_table((self.values if space is None else space).get(node.id)):
            return None
        found = self._global(node.id)
        self.tables[id(found)] = found, (*found.items(),)
        if space is None:
            self.named_tables[node.id] = found
        return found

    def of_Call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Subscript) and (table := self._table_at(node.func.value)) is not None:
            return self._by_key(table, node.func.slice, node)
        return super().of_Call(node)

    def of_Compare(self, node: ast.Compare) -> Value:
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            table = self._table_at(node.comparators[0])
            if table is not None:
                return super().of_Compare(self._among_keys(table, node))
        return super().of_Compare(node)

    def _among_keys(self, table: dict[Any, Any], node: ast.Compare) -> ast.Compare:
        if self.peek(node.left) not in (_kind(table), NEVER):
            raise refuse(node, "looks for a key of another type")
        if node not in self.replaced:
            keys = ast.Tuple([*map(ast.Constant, table)], ast.Load())
            self.replaced[node] = ast.copy_location(ast.Compare(node.left, node.ops, [keys]), node)
        return self.replaced[node]

    def _by_key(self, table: dict[Any, Any], key: ast.expr, node: ast.Call) -> Value:
        if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            raise refuse(node, "is called with names")
        found, *given = map(self.keep, self.several(key, *node.args))
        found = self.present(found)
        if found.type is NEVER:
            return found
        if found.type is not _kind(table):
            raise refuse(node, "looks for a key of another type")
        before = self.renamed
        self.renamed = {**before, **{_ARGUMENT.format(place): one for place, one in enumerate(given)}}
        branches = []
        for place, (name, function) in enumerate(table.items()):
            with self.block() as lines:
                value = self.keep(self._result_under_key(function, place, node))
            branches.append((self.equal(found, self.constant(name), node), value, lines))
        self.renamed = before
        return self._of_branches(branches)

    def _result_under_key(self, function: Any, place: int, node: ast.Call) -> Value:
        call = self.replaced.get((node, place))
        if call is None:
            names: list[ast.expr] = [ast.Name(_ARGUMENT.format(k), ast.Load()) for k in range(len(node.args))]
            call = ast.copy_location(ast.Call(ast.Name("function", ast.Load()), names, []), node)
            self.replaced[node, place] = call
        function = twins.twin_of(function, len(node.args)) or function
        routine = self.routine_of(function)
        if routine is None and isinstance(function, type) and function.__module__ != "builtins":
            raise refuse(node, "makes objects")
        return self.call(routine, call) if routine is not None else self.known(function, call, {})

    def _of_branches(self, branches: list[tuple[str, Value, list[str]]]) -> Value:
        """The value of the branch that is taken; without one the key is not there."""
        type_: Any = NEVER
        for _, value, _ in branches:
            type_ = self.joins.join(type_, value.type)
        if type_ is NEVER:
            return Value(NEVER, "None_()")
        name = self.fresh()
        self.emit(f"{text_of(type_)} {name};")
        for test, value, lines in branches:
            self.lines += [f"if ({test}) {{", *lines, f"{name} = {coerced(value, type_)};", "} else"]
        self.emit("bail(KEY);")
        return Value(type_, name)


def _kind(table: dict[Any, Any]) -> Any:
    return TEXT if isinstance(next(iter(table)), str) else INT
