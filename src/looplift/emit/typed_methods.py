"""Calls of methods of lists, deques, dicts, sets and text in, their types and C++ out."""

from __future__ import annotations

import ast
import collections
import inspect
from typing import Any

from looplift.emit.typed_calls import Calls
from looplift.emit.typed_expressions import SEQUENCES, element, is_box
from looplift.emit.typed_folds import check_order
from looplift.emit.typed_scope import Value, as_int, coerced, refuse
from looplift.emit.typed_types import BOOL, DICTS, INT, NEVER, NONE, TABLES, TEXT, Box, Maybe, Tup, text_of

_TESTS = {"isalpha": "is_alpha", "isdigit": "is_digit", "isalnum": "is_alnum", "isupper": "is_upper",
          "islower": "is_lower", "isspace": "is_space"}  # fmt: skip
_CLASSES = {
    "list": list, "deque": collections.deque, "dict": dict, "ordered dict": collections.OrderedDict,
    "defaultdict": dict, "counter": collections.Counter, "set": set, "bytes": bytes, "bytearray": bytearray,
    "tuple": tuple,
}  # fmt: skip
_NO_PLACE = ("deque", "pop", True)
"""What a deque does not do: take out an item at a place."""
_OF_NO_CHANGE = frozenset("copy union difference intersection issubset issuperset isdisjoint".split())
_READING = _OF_NO_CHANGE | frozenset("get keys values items index count most_common".split())
_AT_AN_END = ("popitem", "move_to_end")
_CODINGS = ("utf-8", "utf8", "UTF-8")
_SEARCHES = {"count": "count_of", "find": "find_in", "index": "index_of"}


class Methods(Calls):
    """Calls of methods."""

    def method(self, node: ast.Call, func: ast.Attribute) -> Value:
        owner = self.present(self.expression(func.value))
        if owner.type is NEVER:
            self.several(*node.args)
            return owner
        if owner.type is TEXT:
            return self.of_text(func.attr, owner, node)
        if isinstance(owner.type, Tup) and owner.type.of is not None:
            return self.method_of_tuple(owner, node, func)
        if not isinstance(owner.type, Box):
            raise refuse(node, "calls a method of something else")
        if (record := self.record_at(owner)) is not None:
            return self.method_of_object(owner, record, node, func)
        if func.attr == "sort" and is_box(owner, "list") and not node.args:
            self.alters(owner)
            self.sort(self.keep(owner), {str(one.arg): one.value for one in node.keywords}, node)
            return Value(NONE, "None_()")
        if func.attr in _AT_AN_END and is_box(owner, "ordered dict"):
            return self._at_an_end(owner, node, func.attr)
        if node.keywords:
            raise refuse(node, "is called with names")
        kind = owner.type.find().kind
        makers = [lambda: owner, *(lambda one=one: self.expression(one) for one in node.args)]
        extends = func.attr in ("extend", "update", "extendleft") and len(node.args) == 1
        owner, *values = [owner] if extends else self.in_order(makers)
        if kind == "set" and func.attr not in _OF_NO_CHANGE and id(node) not in self.changed_sets:
            self.changed_sets[id(node)] = owner.type
            self.joins.changes += 1
        if func.attr not in _READING:
            self.alters(owner)
        family = "dict" if kind in DICTS else "list" if kind in ("deque", "tuple") else kind
        found = getattr(self, f"{family}_{func.attr}", None)
        if found is None or not hasattr(_CLASSES[kind], func.attr) or (kind, func.attr, bool(values)) == _NO_PLACE:
            raise refuse(node, "calls a method without a form")
        try:
            inspect.signature(found).bind(owner, node, *values)
        except TypeError:
            raise refuse(node, "is called with other arguments") from None
        return found(owner, node, *values)

    def _at_an_end(self, owner: Value, node: ast.Call, name: str) -> Value:
        """``cache.popitem(last=False)``, ``cache.move_to_end(key)``."""
        count = int(name == "move_to_end")
        given = [*node.args[count:], *(one.value for one in node.keywords if one.arg == "last")]
        last = given[0].value if given and isinstance(given[0], ast.Constant) else True if not given else None
        if type(last) is not bool or len(node.args) + len(node.keywords) != count + len(given) or len(given) > 1:
            raise refuse(node, "is called in a way of its own")
        if len(node.args) < count or (count and not last):
            raise refuse(node, "moves what it takes to the beginning")
        self.alters(owner)
        if not count:
            return self._item_at_end(owner, node, last=last)
        owner, key = self.in_order([lambda: owner, lambda: self.expression(node.args[0])])
        return self.done(f"{owner.code}->move_to_end({self.key_of(owner, key, node)});")

    def dict_popitem(self, owner: Value, node: ast.Call) -> Value:
        return self._item_at_end(owner, node, last=True)

    def _item_at_end(self, owner: Value, node: ast.Call, *, last: bool) -> Value:
        owner, place = self.keep(owner), self.fresh()
        cells = owner.type.find().cells
        if NEVER in cells:
            self.emit("bail(EMPTY);")
            return Value(NEVER, "None_()")
        self.emit(f"auto* {place} = {owner.code}->outermost({str(last).lower()});")
        found = self.keep(self.tuple_of([Value(cells[0], f"{place}->key"), Value(cells[1], f"{place}->value")]))
        self.emit(f"{owner.code}->drop({place});")
        return found

    def list_rotate(self, owner: Value, node: ast.Call, count: Value | None = None) -> Value:
        return self.done(f"rotate({owner.code}, {'I(1)' if count is None else as_int(count, node)});")

    def method_of_object(self, owner: Value, record: Any, node: ast.Call, func: ast.Attribute) -> Value:
        raise NotImplementedError

    def method_of_tuple(self, value: Value, node: ast.Call, func: ast.Attribute) -> Value:
        raise NotImplementedError

    def done(self, line: str) -> Value:
        self.emit(line)
        return Value(NONE, "None_()")

    def item_of(self, owner: Value, value: Value, place: int = 0) -> str:
        """A value as an item of a container, which may hold such ones from now on."""
        self.joins.widen(owner.type, place, value.type)
        type_ = owner.type.find().cells[place]
        return f"{text_of(type_)}({coerced(value, type_)})"

    # ------------------------------------------------------------ lists and deques

    def list_append(self, owner: Value, node: ast.Call, value: Value) -> Value:
        return self.done(f"{owner.code}->push({self.item_of(owner, value)});")

    def list_appendleft(self, owner: Value, node: ast.Call, value: Value) -> Value:
        return self.done(f"{owner.code}->push_front({self.item_of(owner, value)});")

    def list_pop(self, owner: Value, node: ast.Call, *values: Value) -> Value:
        place = as_int(values[0], node) if values else ""
        return self.keep(Value(element(owner), f"{owner.code}->pop({place})"))

    def list_popleft(self, owner: Value, node: ast.Call) -> Value:
        return self.keep(Value(element(owner), f"{owner.code}->pop_front()"))

    def list_insert(self, owner: Value, node: ast.Call, place: Value, value: Value) -> Value:
        return self.done(f"{owner.code}->insert({as_int(place, node)}, {self.item_of(owner, value)});")

    def list_extend(self, owner: Value, node: ast.Call) -> Value:
        return self.extend(owner, node.args[0], node)

    def extend(self, owner: Value, source: ast.expr, node: ast.AST) -> Value:
        owner = self.keep(owner)
        self.alters(owner)
        if self.is_stream(source):  # which may go through what grows meanwhile
            self.folded(source, lambda value: self.emit(f"{owner.code}->push({self.item_of(owner, value)});"))
            return Value(NONE, "None_()")
        items = self.listed(node, source)
        self.joins.widen(owner.type, 0, element(items))
        self.joins.widen(items.type, 0, element(owner))
        return self.done(f"extend({owner.code}, {items.code});")

    def list_reverse(self, owner: Value, node: ast.Call) -> Value:
        return self.done(f"{owner.code}->reverse();")

    def list_copy(self, owner: Value, node: ast.Call) -> Value:
        return self.keep(Value(owner.type, f"copy({owner.code})"))

    def list_clear(self, owner: Value, node: ast.Call) -> Value:
        return self.done(f"{{ auto& all = *{owner.code}.p; while (all.n) all.pop(); all.changed(); }}")

    def list_index(self, owner: Value, node: ast.Call, value: Value) -> Value:
        return Value(INT, f"index_of({owner.code}, {self.item_like(owner, value, node)})")

    def list_count(self, owner: Value, node: ast.Call, value: Value) -> Value:
        return Value(INT, f"count_of({owner.code}, {self.item_like(owner, value, node)})")

    def list_remove(self, owner: Value, node: ast.Call, value: Value) -> Value:
        return self.done(f"{owner.code}->pop(index_of({owner.code}, {self.item_like(owner, value, node)}));")

    def item_like(self, owner: Value, value: Value, node: ast.AST) -> str:
        """What items are compared with."""
        found = self.item_of(owner, value)
        check_order(element(owner), node)
        return found

    # ------------------------------------------------------------ dicts and sets

    def key_of(self, owner: Value, value: Value, node: ast.AST) -> str:
        found = self.item_of(owner, value)
        self.check_key(element(owner), node)
        return found

    def dict_get(self, owner: Value, node: ast.Call, key: Value, default: Value | None = None) -> Value:
        text = self.key_of(owner, key, node)
        type_ = owner.type.find().cells[1]
        found = Value(Maybe(type_) if not isinstance(type_, Maybe) else type_, f"get({owner.code}, {text})")
        if isinstance(type_, Maybe):
            raise refuse(node, "gets what may be None")
        if default is None:
            return Value(NONE, "None_()") if type_ is NEVER else found
        default = self.keep(default)  # it is worked out before it is known whether it is taken
        if type_ is NEVER:
            return default
        found = self.keep(found)
        joined = self.joins.join(type_, default.type)
        inner = Value(type_, f"{found.code}.v")
        code = f"({found.code}.has ? {text_of(joined)}({coerced(inner, joined)}) : {coerced(default, joined)})"
        return self.keep(Value(joined, code))

    def dict_pop(self, owner: Value, node: ast.Call, key: Value, default: Value | None = None) -> Value:
        if default is not None:
            found = self.dict_get(owner, node, key, default)
            self.emit(f"{owner.code}->discard({self.key_of(owner, key, node)});")
            return found
        return self.keep(Value(owner.type.find().cells[1], f"{owner.code}->pop({self.key_of(owner, key, node)})"))

    def dict_setdefault(self, owner: Value, node: ast.Call, key: Value, default: Value) -> Value:
        text, item = self.key_of(owner, key, node), self.item_of(owner, self.keep(default), 1)
        type_, name = owner.type.find().cells[1], self.fresh()
        self.emit(f"{text_of(type_)} {name};")
        self.emit(f"{{ auto key = {text}; auto* e = {owner.code}->find(key);")
        self.emit(f"if (!e) {{ {owner.code}->set(key, {item}); e = {owner.code}->find(key); }} {name} = e->value; }}")
        return Value(type_, name)

    def dict_update(self, owner: Value, node: ast.Call) -> Value:
        owner, source = self.keep(owner), self.keep(self.present(self.expression(node.args[0])))
        if source.type is not NEVER:
            if not is_box(source, *TABLES):
                raise refuse(node, "takes items of what is no dict")
            self.with_items_of(owner, source)
        return Value(NONE, "None_()")

    def dict_copy(self, owner: Value, node: ast.Call) -> Value:
        return self.keep(Value(owner.type, f"copy({owner.code})"))

    def dict_clear(self, owner: Value, node: ast.Call) -> Value:
        return self.done(f"{owner.code}->clear();")

    def set_add(self, owner: Value, node: ast.Call, value: Value) -> Value:
        return self.done(f"{owner.code}->add({self.key_of(owner, value, node)});")

    def set_discard(self, owner: Value, node: ast.Call, value: Value) -> Value:
        return self.done(f"{owner.code}->discard({self.key_of(owner, value, node)});")

    def set_remove(self, owner: Value, node: ast.Call, value: Value) -> Value:
        return self.done(f"if (!{owner.code}->discard({self.key_of(owner, value, node)})) bail(KEY);")

    def set_update(self, owner: Value, node: ast.Call) -> Value:
        owner = self.keep(owner)
        source = node.args[0]
        value = self.looked_at(source)
        if value is not None and not (value.type is TEXT or is_box(value, *SEQUENCES)):
            raise refuse(node, "adds in an order of its own")
        if value is None:
            self.folded(source, lambda value: self.emit(f"{owner.code}->add({self.key_of(owner, value, node)});"))
            return Value(NONE, "None_()")
        items = self.listed(node, source)
        self.joins.widen(owner.type, 0, element(items))
        self.joins.widen(items.type, 0, element(owner))
        self.check_key(element(owner), node)
        place = self.fresh("i")
        return self.done(
            f"for (I {place} = 0; {place} < {items.code}->n; ++{place}) {owner.code}->add({items.code}->at({place}));"
        )

    # ------------------------------------------------------------ text

    def _parts_of_text(self, owner: Value, values: list[Value], node: ast.Call) -> Value:
        """``text.split()``, ``text.split(",")``: a new list."""
        box: Any = self.box(node, "list", 1, "split")
        self.joins.widen(box, 0, TEXT)
        codes = ", ".join(one.code for one in (owner, *values))
        return self.keep(Value(box.find(), f"parts_of<{text_of(box.find().cells[0])}>({codes})"))

    def _encoded(self, owner: Value, node: ast.Call) -> Value:
        """``text.encode("utf-8")``: its bytes."""
        given = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
        if node.args and (len(node.args) > 1 or given not in _CODINGS):
            raise refuse(node, "encodes in another way than UTF-8")
        box: Any = self.box(node, "bytes", 1, "encoded")
        self.joins.widen(box, 0, INT)
        return self.keep(Value(box.find(), f"encoded({owner.code})"))

    def of_text(self, name: str, owner: Value, node: ast.Call) -> Value:
        if node.keywords:
            raise refuse(node, "is called with names")
        if name == "join" and len(node.args) == 1:
            owner = self.keep(owner)
            items = self.listed(node, node.args[0])
            if element(items) not in (TEXT, NEVER):
                raise refuse(node, "joins what is no text")
            self.joins.widen(items.type, 0, TEXT)
            return Value(TEXT, f"joined({owner.code}, {items.code})")
        owner, *values = self.in_order([lambda: owner, *(lambda one=one: self.expression(one) for one in node.args)])
        if name == "encode":
            return self._encoded(owner, node)
        if name in _TESTS and not values:
            return Value(BOOL, f"every({owner.code}, {_TESTS[name]}, {str(name in ('isupper', 'islower')).lower()})")
        if name == "split" and (not values or (len(values) == 1 and values[0].type is TEXT)):
            return self._parts_of_text(owner, values, node)
        if name in ("strip", "lstrip", "rstrip") and (not values or (len(values) == 1 and values[0].type is TEXT)):
            sides = f"{str(name != 'rstrip').lower()}, {str(name != 'lstrip').lower()}"
            return Value(TEXT, f"stripped<{sides}>({', '.join(one.code for one in (owner, *values))})")
        if name == "replace" and [one.type for one in values] == [TEXT, TEXT]:
            return Value(TEXT, f"replaced({', '.join(one.code for one in (owner, *values))})")
        if name in ("lower", "upper") and not values:
            return Value(TEXT, f"{name}ed({owner.code})")
        if len(values) == 1 and values[0].type is TEXT:
            if name in ("count", "find", "index"):
                return Value(INT, f"{_SEARCHES[name]}({owner.code}, {values[0].code})")
            if name in ("startswith", "endswith"):
                return Value(BOOL, f"{name}({owner.code}, {values[0].code})")
        raise refuse(node, "calls a method without a form")
