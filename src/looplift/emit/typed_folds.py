"""Sorts, sums, extremes and the like of a typed program in, their types and C++ out."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable
from typing import Any

from looplift.base.syntax import nodes_of
from looplift.emit.typed_expressions import element, inside, is_box
from looplift.emit.typed_scope import Value, as_int, as_number, coerced, common, refuse, truth
from looplift.emit.typed_stars import Stars
from looplift.emit.typed_types import BOOL, FLOAT, INT, MIXED, NEVER, NUMBERS, TABLES, has_no_order, same, text_of

_CONSTANT = (ast.Constant, ast.UnaryOp, ast.unaryop, ast.List, ast.Tuple)


class Folds(Stars):
    """What goes through all items of something."""

    def of_Call(self, node: ast.Call) -> Value:
        raise NotImplementedError

    def has_own_order(self, type_: Any) -> bool:
        raise NotImplementedError

    def sort_is_known(self, type_: Any) -> bool:
        raise NotImplementedError

    def is_stream(self, node: ast.expr) -> bool:
        raise NotImplementedError

    def looked_at(self, source: ast.expr) -> Value | None:
        """What an expression is, of which no more than the type may be used; None for what is only gone through."""
        if self.is_stream(source):
            return None
        with self.block():
            return self.present(self.expression(source))

    def sorted(self, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        return self._sorted(node, keywords)[0]

    def _sorted(self, node: ast.Call, keywords: dict[str, ast.expr]) -> tuple[Value, Any]:
        """A sorted list, and the type of what was compared."""
        source, keywords = self.before_option(node.args[0], keywords, "reverse", node)
        value = self.looked_at(source)
        if value is not None and (is_box(value, "set") or (is_box(value, *TABLES) and "key" not in keywords)):
            if "key" in keywords:
                raise refuse(node, "sorts a set by keys")
            value = self.keep(self.expression(source))
            box = self.box(node, "list", 1, "set")
            self.joins.widen(box, 0, element(value))
            if element(value) is NEVER:
                found = self.filled(box, [])
            else:
                cell = text_of(box.find().cells[0])
                found = self.keep(Value(box.find(), f"items_of<{cell}>({value.code})"))
        else:
            found = self.listed(node, source)
        return found, self.sort(found, keywords, node)

    def before_option(
        self, source: ast.expr, keywords: dict[str, ast.expr], name: str, node: ast.expr
    ) -> tuple[ast.expr, dict[str, ast.expr]]:
        """A source and an option, each evaluated, in this order, before the source is gone through."""
        option = keywords.get(name)
        if option is None or all(isinstance(one, _CONSTANT) for one in nodes_of(option)):
            return source, keywords
        if self.is_stream(source):
            if not self.may_come_first(option, source):
                raise refuse(node, f"evaluates '{name}' in an order of its own")
        else:
            value = self.present(self.expression(source))
            source = self.apart_as(f"the value {self.fresh()}", self.keep(value), source)
        value = self.keep(self.expression(option))
        return source, {**keywords, name: self.apart_as(f"the value {self.fresh()}", value, option)}

    def apart_as(self, name: str, value: Value, node: ast.expr) -> ast.expr:
        raise NotImplementedError

    def fewest(self, node: ast.Call, keywords: dict[str, ast.expr], *, down: bool) -> Value:
        """``nsmallest(n, xs)`` is ``sorted(xs)[:n]``, of no items if ``n`` is below 0."""
        count = as_int(self.keep(self.expression(node.args[0])), node)
        call = vars(node).setdefault("of_all", ast.copy_location(ast.Call(node.func, node.args[1:], []), node))
        found, compared = self._sorted(call, keywords | ({"reverse": ast.Constant(True)} if down else {}))
        if self.has_own_order(compared):
            raise refuse(node, "leaves objects that are neither lesser nor equal in an order of its own")
        found = self.keep(found)
        stop = Value(INT, f"({count} < 0 ? I(0) : {count})")
        name = self.cut_from(f"size({found.code})", [None, stop, None], node)
        return Value(found.type, f"cut({found.code}, {name}.from, {name}.step, {name}.count)")

    def sort(self, found: Value, keywords: dict[str, ast.expr], node: ast.AST, *, is_shared: bool = False) -> Any:
        """Sort a list in place: the type of what is compared. ``is_shared``: the keys may be computed by what knows the
        list, for which it has no items meanwhile."""
        down = self._is_reversed(keywords["reverse"]) if "reverse" in keywords else "false"
        if keywords.keys() - {"key", "reverse"}:
            raise refuse(node, "sorts in a way of its own")
        keys = found
        if "key" in keywords:
            box: Any = self.box(node, "list", 1, "keys")
            items = self.keep(Value(found.type, f"items_out_of({found.code})")) if is_shared else found
            keys = self._keys(items, keywords["key"], box)
            if is_shared:
                self.emit(f"items_back({found.code}, {items.code});")
        check_order(element(keys), node)
        if not self.sort_is_known(element(keys)):
            raise refuse(node, "sorts objects whose '__lt__' does more than to compare the same attributes of both")
        self.emit(f"sort_by({found.code}, {keys.code}, {down});")
        return element(keys)

    def _is_reversed(self, option: ast.expr) -> str:
        value = self.expression(option)
        if value.type not in (BOOL, INT, NEVER):
            raise refuse(option, "is neither true nor false")
        return self.keep(Value(BOOL, truth(value))).code

    def _keys(self, found: Value, key: ast.expr, box: Any) -> Value:
        name, place = self.fresh(), self.fresh("i")
        with self.block() as lines:
            value = self.applied(key, Value(element(found), f"{found.code}->data[{found.code}->head + {place}]"))
            self.joins.widen(box, 0, value.type)
            self.emit(f"{name}->push({coerced(value, box.find().cells[0])});")
        text = text_of(box)
        self.emit(f"{text} {name} = made<{inside(text)}>();")
        self.lines += [f"for (I {place} = 0; {place} < {found.code}->n; ++{place}) {{", *lines, "}"]
        return Value(box.find(), name)

    def applied(self, function: ast.expr, value: Value) -> Value:
        """The result of a lambda, or of a function that is named, for one value."""
        if isinstance(function, ast.Lambda):
            given = function.args
            if len(given.args) != 1 or given.defaults or given.vararg or given.kwonlyargs or given.kwarg:
                raise refuse(function, "takes other arguments")
            before = dict(self.renamed)
            self.renamed[given.args[0].arg] = self.keep(value)
            found = self.expression(function.body)
            self.renamed = before
            return found
        call = ast.copy_location(ast.Call(function, [ast.Name("value of key", ast.Load())], []), function)
        before = dict(self.renamed)
        self.renamed["value of key"] = self.keep(value)
        found = self.keep(self.of_Call(call))
        self.renamed = before
        return found

    def folded(self, source: ast.expr, step: Callable[[Value], None]) -> None:
        """Do something for each item of an argument."""
        if isinstance(source, ast.GeneratorExp):
            self.generate(source.generators, lambda: step(self.expression(source.elt)))
            return
        self.for_each(source, step)

    def may_come_first(self, first: ast.expr, second: ast.expr) -> bool:
        """Whether the one of two arguments that Python evaluates later may be evaluated first: neither changes what the
        other one reads."""
        if isinstance(second, ast.GeneratorExp):
            second = second.generators[0].iter
        parts = [nodes_of(first), nodes_of(second)]
        if any(all(isinstance(node, _CONSTANT) for node in part) for part in parts):
            return True
        calls = (node.func for part in parts for node in part if isinstance(node, ast.Call))
        if not all(isinstance(callee, ast.Name) and hasattr(builtins, callee.id) for callee in calls):
            return False
        return not any(map(self._calls_methods, (first, second)))

    def _calls_methods(self, node: ast.expr) -> bool:
        """Whether operators, subscripts or attributes in an expression call functions of the user's."""
        bound, renamed, calls = set(self.bound), dict(self.renamed), self.calls
        with self.block():
            if self.is_stream(node):
                self.folded(node, lambda value: None)
            else:
                self.expression(node)
        self.bound, self.renamed = bound, renamed
        return self.calls > calls

    def total(self, node: ast.Call) -> Value:
        if len(node.args) == 2 and not self.may_come_first(node.args[1], node.args[0]):
            raise refuse(node, "evaluates what it begins with in an order of its own")
        start = self.keep(self.expression(node.args[1])) if len(node.args) == 2 else None
        name, seen = self.fresh(), self.fresh()
        found: list[Any] = [NEVER if start is None else start.type]

        def step(value: Value) -> None:
            value = self.present(value)
            if value.type not in (*NUMBERS, NEVER):
                raise refuse(node, "adds no numbers")
            type_ = INT if value.type is BOOL else value.type
            found[0] = (
                type_ if found[0] in (NEVER, type_) else common(found[0], type_) if type_ is not NEVER else found[0]
            )
            item = as_number(value, type_) if type_ is not NEVER else "I(0)"
            self.emit(f"{name} = plus({name}, item_of_{name}({item})); {seen} = true;")

        with self.block() as lines:
            self.folded(node.args[0], step)
        type_ = INT if found[0] in (NEVER, BOOL) else found[0]
        if type_ is not INT and sys.version_info >= (3, 12):
            raise refuse(node, "adds floats more exactly than one after the other")
        first = ("F(0)" if type_ is FLOAT else "I(0)") if start is None else as_number(start, type_)
        self.emit(f"{text_of(type_)} {name} = {text_of(type_)}({first}); bool {seen} = false;")
        conversion = "real" if type_ is FLOAT else text_of(type_)
        self.lines += [line.replace(f"item_of_{name}(", f"{conversion}(") for line in lines]
        is_other = type_ is FLOAT if start is None else not same(start.type, type_)
        if is_other and not has_items(node.args[0]):
            nothing = "I(0)" if start is None else start.code
            return self.keep(Value(MIXED, f"({seen} ? Dyn({name}) : Dyn({nothing}))"))
        return Value(type_, name)

    def quantified(self, node: ast.Call, is_any: bool) -> Value:
        name, after, depth = self.fresh(), self.fresh("after"), len(self.handings)
        self.emit(f"bool {name} = {str(not is_any).lower()};")
        self.emit("{")

        def step(value: Value) -> None:
            holds = self.truth_of(value)
            found = f"{name} = {str(is_any).lower()}; {self.leaving(depth, f'goto {after};')}"
            self.emit(f"if ({'' if is_any else '!'}{holds}) {{ {found} }}")

        self.folded(node.args[0], step)
        self.emit(f"}} {after}:;")
        return Value(BOOL, name)

    def extreme(self, name: str, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        if keywords.keys() - {"key", "default"}:
            raise refuse(node, "is called with names")
        if len(node.args) > 1 and not keywords:
            values = list(map(self.present, self.several(*node.args)))
            best = values[0]
            for value in values[1:]:
                best = self._better(name, best, value, node)
            return best
        return self._extreme_of(name, node, keywords)

    def _better(self, name: str, best: Value, value: Value, node: ast.AST) -> Value:
        if NEVER in (best.type, value.type):
            return best if value.type is NEVER else value
        best, value = self.keep(best), self.keep(value)
        left, right = (value, best) if name == "min" else (best, value)
        test = f"lt({', '.join(self.comparable(left, right, node))})"
        type_ = self.joins.join(best.type, value.type)
        return self.keep(Value(type_, f"({test} ? {coerced(value, type_)} : {coerced(best, type_)})"))

    def _extreme_of(self, name: str, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        """The extreme item of what an argument goes through."""
        best, best_key, seen = self.fresh(), self.fresh(), self.fresh()
        types: list[Any] = [NEVER, NEVER]
        source = node.args[0] if len(node.args) == 1 else ast.List(node.args, ast.Load())
        source, keywords = self.before_option(source, keywords, "default", node)

        def step(value: Value) -> None:
            value = self.keep(self.present(value) if "key" not in keywords else value)
            key = self.keep(self.present(self.applied(keywords["key"], value))) if "key" in keywords else value
            if NEVER in (value.type, key.type):
                return
            old = Value(key.type, best_key)
            left, right = (key, old) if name == "min" else (old, key)
            test = f"lt({', '.join(self.comparable(left, right, node))})"
            types[:] = value.type, key.type
            self.emit(f"if (!{seen} || {test}) {{ {best} = {value.code}; {best_key} = {key.code}; {seen} = true; }}")

        with self.block() as lines:
            self.folded(source, step)
        default = self.expression(keywords["default"]) if "default" in keywords else None
        if NEVER in types:
            self.lines += lines  # an argument of another type may have items
            return default or Value(NEVER, "None_()")
        self.emit(f"{text_of(types[0])} {best}{{}}; {text_of(types[1])} {best_key}{{}}; bool {seen} = false;")
        self.lines += lines
        found = Value(types[0], best)
        if default is None:
            self.emit(f"if (!{seen}) bail(EMPTY);")
            return found
        type_ = self.joins.join(types[0], default.type)
        return self.keep(Value(type_, f"({seen} ? {coerced(found, type_)} : {coerced(default, type_)})"))


def has_items(source: ast.expr) -> bool:
    """Whether what is gone through has an item, whatever the values are: the sum of none is the integer 0."""
    if isinstance(source, ast.GeneratorExp):
        return all(not one.ifs and has_items(one.iter) for one in source.generators)
    return isinstance(source, ast.Tuple | ast.List) and bool(source.elts)


def check_order(type_: Any, node: ast.AST) -> None:
    """What is compared with its like can be."""
    if has_no_order(type_):
        raise refuse(node, "compares what may be a number or a tensor, or what has no order")
