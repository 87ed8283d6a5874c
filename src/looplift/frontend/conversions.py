"""``list(x)``, ``tuple(x)``, ``dict(x)``: copies of what is known item by item, and loops that fill lists."""

from __future__ import annotations

import ast
from typing import Any

from looplift.frontend import comprehensions, dictionaries, expressions, structures
from looplift.frontend.scope import Builder, Structure, Tup, Value
from looplift.ops.names import name_of

JOINS = frozenset("stack cat concat concatenate hstack vstack dstack column_stack row_stack".split())
ITERATIONS = ("range", "zip", "enumerate", "reversed", "map")


def converted(build: Builder, node: ast.Call) -> Value | None:
    """The value of the call; None where it is left to others."""
    assert isinstance(node.func, ast.Name)
    kind = node.func.id
    if kind == "dict":
        return _dict(build, node)
    if node.keywords:
        return None
    if not node.args:
        return Tup(()) if kind == "tuple" else structures.list_display(build, node, [])
    (argument,) = node.args
    if isinstance(argument, ast.GeneratorExp | ast.ListComp):
        return _as_kind(comprehensions.comprehension(build, argument), build, kind)
    if isinstance(argument, ast.Call) and isinstance(argument.func, ast.Name) and argument.func.id in ITERATIONS:
        return _as_kind(_listed(build, node, argument), build, kind)
    value = expressions.evaluate(build, argument)
    items = expressions.known_items(build, value)
    if items is not None:
        return Tup(tuple(items)) if kind == "tuple" else structures.shelf_of(build, items)
    if kind == "tuple" and not isinstance(value, Structure):
        return dictionaries.tuple_of(build, value)
    name = f"_source_{next(build.counter)}"
    build.env[name] = value
    found = _listed(build, node, ast.copy_location(ast.Name(name, ast.Load()), node))
    del build.env[name]
    return _as_kind(found, build, kind)


def _as_kind(value: Value, build: Builder, kind: str) -> Value:
    if kind != "tuple":
        return value
    if isinstance(value, structures.Shelf):
        return Tup(tuple(value.values(build)))
    raise build.refuse("unsupported-value", "a tuple is made of as many items as a loop has iterations; make it a list")


def of_lists(build: Builder, node: ast.Call, function: Any) -> ast.Call:
    """``torch.stack(tuple(row * 2 for row in x))`` with a list in place of the tuple: it is but joined."""
    match node.args:
        case [
            ast.Call(func=ast.Name(id="tuple"), args=[ast.GeneratorExp() | ast.ListComp() as one], keywords=[]),
            *rest,
        ]:
            if build.is_builtin("tuple") and str(name_of(function)).rpartition(".")[2] in JOINS:
                rows = ast.copy_location(ast.ListComp(one.elt, one.generators), one)
                return ast.copy_location(ast.Call(node.func, [rows, *rest], node.keywords), node)
    return node


def _listed(build: Builder, node: ast.Call, iterable: ast.expr) -> Value:
    """``[x for x in iterable]``."""
    name = f"_item_{next(build.counter)}"
    target = ast.Name(name, ast.Store())
    made = ast.ListComp(ast.Name(name, ast.Load()), [ast.comprehension(target, iterable, [], 0)])
    ast.copy_location(made, node)
    return comprehensions.comprehension(build, ast.fix_missing_locations(made))


def _dict(build: Builder, node: ast.Call) -> Value | None:
    pairs: dict = {}
    if node.args:
        (argument,) = node.args
        found = _pairs(build, node, argument)
        if found is None:
            return None
        pairs |= found
    for keyword in node.keywords:
        if keyword.arg is None:
            return None
        pairs[keyword.arg] = expressions.evaluate(build, keyword.value)
    return structures.shelf_of(build, pairs) if pairs else structures.empty_dict(build, node)


def _pairs(build: Builder, node: ast.Call, argument: ast.expr) -> dict | None:
    if isinstance(argument, ast.Call | ast.GeneratorExp | ast.ListComp):
        key, value = f"_key_{next(build.counter)}", f"_value_{next(build.counter)}"
        target = ast.Tuple([ast.Name(key, ast.Store()), ast.Name(value, ast.Store())], ast.Store())
        generator = ast.comprehension(target, argument, [], 0)
        made = ast.DictComp(ast.Name(key, ast.Load()), ast.Name(value, ast.Load()), [generator])
        found = structures.dict_comprehension(build, ast.fix_missing_locations(ast.copy_location(made, node)))
    else:
        found = expressions.evaluate(build, argument)
        items = expressions.known_items(build, found) if not isinstance(found, structures.Shelf) else None
        if items is not None and all(isinstance(item, Tup) and len(item.items) == 2 for item in items):
            pairs = {structures.key_of(item.items[0]): item.items[1] for item in items if isinstance(item, Tup)}
            return None if None in pairs else pairs
    if isinstance(found, structures.Shelf) and found.kind == "dict":
        return {key: found.value(build, key) for key in found.cells}
    return None


def unpacked_zip(build: Builder, node: ast.Call) -> Value | None:
    """``zip(*pairs)`` of a list of tuples is its columns; of values known one by one, tuples of these."""
    from looplift.frontend.records import RecordList

    if len(node.args) != 1 or not isinstance(node.args[0], ast.Starred):
        return None
    value = expressions.evaluate(build, node.args[0].value)
    if isinstance(value, RecordList):
        columns = value.columns()
        return None if columns is None else structures.Once("'zip(...)'", columns, build.blocks[-1])
    rows = [expressions.known_items(build, item) for item in expressions.known_items(build, value) or ()]
    if not rows or any(row is None for row in rows):
        return None
    made: list[Value] = [Tup(items) for items in zip(*[row for row in rows if row is not None])]
    return structures.Once("'zip(...)'", made, build.blocks[-1])
