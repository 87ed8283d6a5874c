"""Objects of the user's plain classes, dataclasses and NamedTuples in, what is done with them in C++ out."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping
from typing import Any

from looplift.base.syntax import nodes_of
from looplift.emit.typed_class_orders import ordering
from looplift.emit.typed_classes import (
    FACTORIES,
    OPERATORS,
    TRUTH,
    Record,
    attributes_of,
    hideable,
    is_constant,
    is_named_tuple,
    maker_of,
    record_for,
)
from looplift.emit.typed_enumerations import is_enumeration
from looplift.emit.typed_members import Members
from looplift.emit.typed_scope import Routine, Value, coerced, needed, refuse
from looplift.emit.typed_types import BOOL, FLOAT, INT, NEVER, NONE, Box, Maybe, Member, Tup, holds, text_of
from looplift.emit.typed_values import tuples_of, types_of
from looplift.runtime.contents import class_attributes


class Objects(Members):
    """Objects of classes."""

    records: dict[type, Record]
    classes: dict[type, dict[str, Any]]
    callees: dict[Any, tuple[Any, ...]]
    unread: list[Any]
    values: Mapping[str, Any]
    inputs: list[str]
    main: Routine

    def record_of(self, made: type) -> Record:
        """What is known of a class; raises Refused for all but plain ones."""
        if made not in self.records:
            self.records[made] = record_for(made, self.source_of)
            self.look_at(made)
        return self.records[made]

    def look_at(self, made: type) -> None:
        """A class of which the program knows something must stay as it is."""
        if any(one.__name__ == made.__name__ and one is not made for one in self.classes):
            raise refuse(None, f"two classes are called '{made.__name__}'")
        self.classes[made] = class_attributes(made)
        if (maker := maker_of(made)) is not None:
            self.callees[maker] = maker.__code__, maker.__defaults__, {}

    def has_hash(self, type_: Any) -> bool:
        record = self.records.get(type_.find().made)
        return record is not None and record.has_hash

    # ------------------------------------------------------------ objects of the caller

    def given_objects(self, made: type, values: list[Any], seen: dict[int, Any]) -> tuple[list[Any], list[Any]]:
        """The types of objects of one class from outside, and those of them that are none; what they hold is looked at
        later."""
        if is_enumeration(made):
            self.look_at(made)
            return [Member(made)], []
        if is_named_tuple(made):
            self.look_at(made)
            return [*tuples_of(values, self.joins, seen, of=made)], []
        every = [attributes_of(value) for value in values]
        if any(one is None for one in every):
            return [], values
        record = self.record_of(made)
        if not record.given:
            record.given = True
            record.fields += [name for name in every[0] or () if name not in record.fields]
            record.box.cells += [NEVER] * (len(record.fields) - len(record.box.cells))
        held = [{*(one or ())} for one in every]
        self._add_hiding(record, held)
        names = {*record.fields}
        if not all(one >= names - record.later for one in held) or not all(map(str.isidentifier, names)):
            raise refuse(None, f"objects of '{made.__name__}' have other attributes than others")
        for one in held:
            record.lacking |= record.later - one
        return [self.later(record, values, every, seen)], []

    def _add_hiding(self, record: Record, held: list[set[str]]) -> None:
        """Attributes that some objects have of their own in place of what their class has."""
        for name in dict.fromkeys(one for one in hideable(record) for names in held if one in names):
            if name not in record.constants:
                raise refuse(None, f"'{name}' of some objects of '{record.of.__name__}' hides what their class has")
            record.fields.append(name)
            record.box.cells.append(NEVER)
            record.later |= {name}

    def later(self, record: Record, values: list[Any], attributes: list[Any], seen: dict[int, Any]) -> Box:
        """The type of objects whose attributes are looked at later."""
        record.given = True
        seen.update(dict.fromkeys(map(id, values), record.box))
        self.unread.append((record, attributes))
        return record.box

    def look_into(self, seen: dict[int, Any]) -> None:
        """What the objects of the caller hold, and those that these hold."""
        while self.unread:
            record, attributes = self.unread.pop()
            for place, name in enumerate(record.fields):
                column = [one[name] for one in attributes if name in one]
                for type_ in types_of(column, self.joins, seen):
                    self.joins.widen(record.box, place, type_)

    def known_box(self, box: Box) -> Box:
        """This program's type of the objects that another program has a type of."""
        record = self.record_of(box.made)
        if not record.fields or len(record.fields) < len(box.cells):
            record.fields = list(box.fields or record.fields)
            record.box.cells += [NEVER] * (len(record.fields) - len(record.box.cells))
            record.given = True
        if record.fields[: len(box.fields or [])] != list(box.fields or []):
            raise refuse(None, f"objects of '{box.made.__name__}' have other attributes than others")
        return record.box

    def source_of(self, function: Any) -> Any:
        raise NotImplementedError

    def record_at(self, value: Value) -> Record | None:
        if not isinstance(value.type, Box):
            return None
        return self.records.get(value.type.find().made)

    def made_object(self, made: type, node: ast.Call) -> Value:
        """``C(...)``."""
        if is_named_tuple(made):
            return self._made_tuple(made, node)
        record = self.record_of(made)
        if {*record.fields} - record.later != {*record.first}:
            raise refuse(node, "makes an object with fewer attributes than those that are given")
        self.joins.changes += not record.is_made
        record.is_made = True
        text = text_of(record.box)
        value = Value(record.box, self.fresh())
        if record.parts is not None:
            return self._made_of_fields(value, record, node)
        self.emit(f"{text} {value.code} = made<{text[4:-1]}>();")
        if "__init__" in record.methods:
            if self.call(self.method_of(record, "__init__", node), node, first=value).type not in (NEVER, NONE):
                raise refuse(node, "makes an object by an '__init__' that may return a value")
        elif node.args or node.keywords:
            raise refuse(node, "gives arguments to a class without a constructor")
        return value

    def _bound(self, names: list[str], node: ast.Call) -> dict[str, Value]:
        """The arguments of a call by the names of the fields that they are for."""
        given = [*names[: len(node.args)], *(str(one.arg) for one in node.keywords)]
        if len(node.args) > len(names) or len({*given}) < len(given) or not {*given} <= {*names}:
            raise refuse(node, "is called with other arguments than there are fields")
        values = self.several(*node.args, *(one.value for one in node.keywords))
        return dict(zip(given, map(self.keep, values), strict=True))

    def _made_tuple(self, made: Any, node: ast.Call) -> Value:
        self.look_at(made)
        given = self._bound(list(made._fields), node)
        for name in made._fields:
            if name not in given:
                if not is_constant(made._field_defaults.get(name, [])):
                    raise refuse(node, "lacks a field")
                given[name] = self.constant(made._field_defaults[name])
        return self.tuple_of([given[name] for name in made._fields], of=made)

    def _made_of_fields(self, value: Value, record: Record, node: ast.Call) -> Value:
        """An object of a dataclass, whose constructor nobody wrote."""
        given = self._bound(record.first, node)
        for part in record.parts or ():
            if part.name not in given:
                given[part.name] = self._default(part, node)
        text = text_of(record.box)
        self.emit(f"{text} {value.code} = made<{text[4:-1]}>();")
        for name in record.first:
            self._set(value, record, name, given[name], node)
        if "__post_init__" in record.methods:
            self.call(self.method_of(record, "__post_init__", node), ast.Call(node.func, [], []), first=value)
        return value

    def _default(self, part: Any, node: ast.Call) -> Value:
        if part.default is not dataclasses.MISSING:
            return self.constant(part.default)
        if part.default_factory is dataclasses.MISSING:
            raise refuse(node, "lacks a field")
        if part.default_factory not in FACTORIES:
            routine = self.routine_of(part.default_factory)
            assert routine is not None
            return self.keep(self.call(routine, ast.Call(node.func, [], [])))
        kind = part.default_factory.__name__
        return self.filled(self.box(node, kind, 2 if kind == "dict" else 1, part.name), [])

    def constant(self, value: Any) -> Value:
        """A number, a text, None, or a tuple of those."""
        if isinstance(value, tuple):
            return self.tuple_of([self.constant(one) for one in value])
        return self.of_Constant(ast.Constant(value))

    def of_Call(self, node: ast.Call) -> Value:
        if any(isinstance(one, ast.Starred) for one in node.args):
            node = ast.copy_location(ast.Call(node.func, self._spread(node), node.keywords), node)
        is_variable = isinstance(node.func, ast.Name) and self.owner(node.func.id) is not None
        if isinstance(node.func, ast.Subscript) or (is_variable and self.callee(node) is None):
            value = self.present(self.expression(node.func))
            if (record := self.record_at(value)) is not None:
                return self._called_object(value, record, node)
        return super().of_Call(node)

    def binary(self, op: Any, left: Value, right: Value, node: ast.AST) -> Value:
        """``left + right`` where the class of one of them says what that is."""
        records = self.record_at(left), self.record_at(right)
        if records == (None, None) or op not in OPERATORS or NEVER in (left.type, right.type):
            return super().binary(op, left, right, node)
        left, right, name = self.keep(left), self.keep(right), OPERATORS[op]
        if records[0] is not None and f"__{name}__" in records[0].methods:
            return self._with_operand(left, records[0], f"__{name}__", node, right)
        is_other = records[0] is not records[1] and (records[0] is not None or left.type in (INT, FLOAT, BOOL))
        if records[1] is None or not is_other:  # of two objects of one class Python asks the first alone
            raise refuse(node, "is an operator that its class does not have")
        return self._with_operand(right, records[1], f"__r{name}__", node, left)

    def _with_operand(self, owner: Value, record: Record, name: str, node: ast.AST | None, *operands: Value) -> Value:
        routine = self.method_of(record, name, node)
        if len(routine.parameters) != 1 + len(operands):
            raise refuse(node, "calls a method that takes other arguments")
        return self.called(routine, dict(zip(routine.parameters, (owner, *operands), strict=True)))

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        signs = any("__neg__" in record.methods for record in self.records.values())
        if signs and isinstance(node.op, ast.USub) and isinstance(self.peek(node.operand), Box):
            value = self.present(self.expression(node.operand))
            if (record := self.record_at(value)) is not None:
                return self._with_operand(self.keep(value), record, "__neg__", node)
            raise refuse(node, "is not understood")
        return super().of_UnaryOp(node)

    def call_abs(self, node: ast.Call, value: Value) -> Value:
        if (record := self.record_at(value)) is not None:
            return self._with_operand(self.keep(value), record, "__abs__", node)
        return super().call_abs(node, value)

    # ------------------------------------------------------------ what classes say of their objects

    def truth_of(self, value: Value) -> str:
        inner = value.type.inner if isinstance(value.type, Maybe) else value.type
        record = self.record_at(Value(inner, ""))
        name = next((one for one in TRUTH if record is not None and one in record.methods), None)
        if record is None or name is None:
            return super().truth_of(value)
        value, holds = self.keep(value), self.fresh()
        self.emit(f"bool {holds} = {f'{value.code}.has' if isinstance(value.type, Maybe) else 'true'};")
        self.emit(f"if ({holds}) {{")
        object_ = self.keep(needed(value))
        found = self._asked_for_length(object_, record) if name == "__len__" else self._asked_for_truth(object_, record)
        self.emit(f"{holds} = {super().truth_of(found)}; }}")
        return holds

    def _asked_for_truth(self, owner: Value, record: Record) -> Value:
        found = self._with_operand(owner, record, "__bool__", None)
        if found.type not in (BOOL, NEVER):
            raise refuse(None, "'__bool__' gives what is no truth value")
        return found

    def _asked_for_length(self, owner: Value, record: Record) -> Value:
        found = self._with_operand(owner, record, "__len__", None)
        if found.type not in (INT, NEVER):
            raise refuse(None, "'__len__' gives what is no integer")
        if found.type is INT:
            self.emit(f"if ({found.code} < 0) bail(DOMAIN);")
        return found

    def call_len(self, node: ast.Call, *values: Value) -> Value:
        if len(values) == 1 and (record := self.record_at(values[0])) is not None and "__len__" in record.methods:
            return self._asked_for_length(self.keep(values[0]), record)
        return super().call_len(node, *values)

    def item(self, owner: Value, index: Value, node: ast.AST) -> Value:
        if (record := self.record_at(owner)) is None:
            return super().item(owner, index, node)
        return self._with_operand(self.keep(owner), record, "__getitem__", node, self.keep(index))

    def contains(self, owner: Value, item: Value, node: ast.AST) -> str:
        owner = self.present(owner)
        if (record := self.record_at(owner)) is None:
            return super().contains(owner, item, node)
        found = self._with_operand(self.keep(owner), record, "__contains__", node, self.keep(item))
        return self.truth_of(found)

    def _called_object(self, value: Value, record: Record, node: ast.Call) -> Value:
        """``controller(error)``, where a class says what that is."""
        return self.call(self.method_of(record, "__call__", node), node, first=self.keep(value))

    def _spread(self, node: ast.Call) -> list[ast.expr]:
        """The arguments, those behind a star one by one."""
        found: list[ast.expr] = []
        for one in node.args:
            if not isinstance(one, ast.Starred):
                found.append(one)
                continue
            if any(isinstance(inner, ast.Call) for before in (*found, one.value) for inner in nodes_of(before)):
                raise refuse(node, "unpacks between calls")
            value = self.keep(self.present(self.expression(one.value)))
            for item in self.taken_apart(value, self._count_of(one.value, value, node), node):
                found.append(self.apart_as(f"the value {self.fresh()}", item, one.value))
        return found

    def apart_as(self, name: str, value: Value, node: ast.expr) -> ast.expr:
        """A name that no program has, for a value."""
        self.renamed[name] = value
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _count_of(self, node: ast.expr, value: Value, call: ast.Call) -> int:
        """How many items a value has: as many as those that the program is made for, where no type tells."""
        if isinstance(value.type, Tup):
            return len(value.type.items)
        places = 0
        while isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            places += len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
            node = node.value
        name = node.id if isinstance(node, ast.Name) else ""
        shape = getattr(self.values.get(name), "shape", ())
        if name not in self.inputs or name in self.main.stores or len(shape) <= places:
            raise refuse(call, "unpacks what has a number of items that is not known")
        return int(shape[places])

    def method_of_object(self, owner: Value, record: Record, node: ast.Call, func: ast.Attribute) -> Value:
        """``owner.name(...)``."""
        if func.attr == "__init__":
            self.alters(owner)
        if func.attr in record.fields:
            value = self.present(self.attribute_of(self.keep(owner), record, func))
            if (found := self.record_at(value)) is not None:
                return self._called_object(value, found, node)
        owner = self.keep(owner)
        self._must_not_hide(owner, record)
        static = record.unbound.get(func.attr) if func.attr not in record.fields else None
        routine = self.routine_of(static) if static else None
        if routine is not None:
            return self.call(routine, node)
        return self.call(self.method_of(record, func.attr, node), node, first=owner)

    def has_own_order(self, type_: Any) -> bool:
        """Whether a class of the user's says which of two such values is the lesser one."""
        return holds(type_, lambda one: self._order_of(one) is not None)

    def sort_is_known(self, type_: Any) -> bool:
        """Whether a sort compares as Python does, or how it compares makes no difference."""
        records = [record for record in self.records.values() if ordering(record, self.source_of) is None]
        return not holds(type_, lambda one: self._order_of(one) in records)

    def _order_of(self, type_: Any) -> Record | None:
        record = self.record_at(Value(type_, ""))
        return record if record is not None and "__lt__" in record.methods else None

    def prepare_orders(self) -> None:
        """What tells which of two objects is the lesser one is called wherever something is sorted."""
        for record in self.records.values():
            if "__lt__" in record.methods and (routine := self.routine_of(record.methods["__lt__"])) is not None:
                for name in routine.parameters:
                    self.widen(routine, name, record.box)
                self.reached(routine)

    def method_of(self, record: Record, name: str, node: ast.AST | None) -> Routine:
        routine = self.routine_of(record.methods.get(name)) if name not in record.fields else None
        if routine is None:
            raise refuse(node, "calls what is no method")
        return routine

    def place_of_field(self, record: Record, name: str, node: ast.AST) -> int:
        if name not in record.fields:
            raise refuse(node, "is an attribute that not all objects of its class have")
        return record.fields.index(name)

    def attribute_of(self, value: Value, record: Record, node: ast.Attribute) -> Value:
        if node.attr not in record.fields and node.attr in record.constants:
            self._must_not_hide(value, record)
            return self.constant(record.constants[node.attr])
        if (
            node.attr not in record.fields
            and record.names is None
            and (found := self.held_by_class(record.of, node.attr))
        ):
            self._must_not_hide(value, record)
            return found
        if node.attr in record.properties:
            routine = self.routine_of(record.properties[node.attr])
            assert routine is not None
            return self.call(routine, ast.Call(node, [], []), first=self.keep(value))
        place = self.place_of_field(record, node.attr, node)
        if record.may_lack(node.attr):
            return self._attribute_if_set(self.keep(value), record, place)
        return Value(record.box.cells[place], f"{value.code}->v_{node.attr}")

    def _must_not_hide(self, value: Value, record: Record) -> None:
        """What an object of the caller's has is read, which tells whether it hides anything of its class."""
        if record.given and hideable(record):
            self.emit(f"(void){value.code}.operator->();")

    def held_by_class(self, made: type, name: str) -> Value | None:
        """A container, or a tensor, that a class holds for all its objects."""
        raise NotImplementedError

    def _attribute_if_set(self, value: Value, record: Record, place: int) -> Value:
        """An attribute that an object may lack: then it is what the class has, or Python raises."""
        name, is_set = record.fields[place], f"{value.code}->has >> {place} & 1"
        found = Value(record.box.cells[place], f"{value.code}->v_{name}")
        if name not in record.constants:
            self.emit(f"if (!({is_set})) bail(KIND);")
            return found
        default = self.constant(record.constants[name])
        type_ = self.joins.join(found.type, default.type)
        sides = coerced(found, type_), coerced(default, type_)
        return Value(type_, f"({is_set} ? {text_of(type_)}({sides[0]}) : {text_of(type_)}({sides[1]}))")

    def field_of(self, value: Value, node: ast.Attribute) -> Value:
        """A field of a NamedTuple."""
        made = value.type.of
        if node.attr in made._fields:
            return self.fields(self.keep(value))[made._fields.index(node.attr)]
        found = vars(made).get(node.attr)
        if isinstance(found, property) and (routine := self.routine_of(found.fget)) is not None:
            return self.call(routine, ast.Call(node, [], []), first=self.keep(value))
        raise refuse(node, "is no field of a tuple")

    def method_of_tuple(self, value: Value, node: ast.Call, func: ast.Attribute) -> Value:
        """``edge._replace(weight=2)``, or a method that its class has."""
        made, value = value.type.of, self.keep(value)
        if func.attr == "_replace" and not node.args:
            given = self._bound(list(made._fields), node)
            parts = [given.get(name, one) for name, one in zip(made._fields, self.fields(value), strict=True)]
            return self.tuple_of(parts, of=made)
        routine = self.routine_of(vars(made).get(func.attr)) if not func.attr.startswith("_") else None
        if routine is None:
            raise refuse(node, "calls what is no method")
        return self.call(routine, node, first=value)

    def put_attribute(self, owner: Value, value: Value, node: ast.Attribute) -> None:
        """``owner.name = value``."""
        if owner.type is NEVER:
            return
        record = self.record_at(owner)
        if record is None or record.is_frozen:
            raise refuse(node, "sets an attribute of something else")
        if not self._is_being_made(owner, record):
            self.alters(owner)
        self._set(owner, record, node.attr, value, node)
        self.emit(f"{owner.code}->dirty |= I(1) << {record.fields.index(node.attr)};")

    def _is_being_made(self, owner: Value, record: Record) -> bool:
        """Whether it is the object that a constructor is called for."""
        routine = self.routine
        own = routine.parameters[0] if routine.parameters else ""
        is_own = owner.code == f"v_{routine.variable(own)}" and own not in routine.stores
        return is_own and self.routines.get(record.methods.get("__init__")) is routine

    def _set(self, owner: Value, record: Record, name: str, value: Value, node: Any) -> None:
        place = self.place_of_field(record, name, node)
        if name in record.properties:
            raise refuse(node, "sets what a class computes")
        self.joins.widen(record.box, place, value.type)
        self.emit(f"{owner.code}->v_{name} = {coerced(value, record.box.cells[place])};")
        if record.may_lack(name):
            self.emit(f"now_has({owner.code}, {place});")
