"""Objects of the user's plain classes in, their C++ out: made and used inside a typed program, never handed out."""

from __future__ import annotations

import ast
import types
from typing import Any

from looplift.base.data import dataclass, field
from looplift.base.syntax import nodes_of
from looplift.emit.typed_scope import Routine, Value, coerced, refuse
from looplift.emit.typed_tensor_calls import TensorCalls
from looplift.emit.typed_types import NEVER, Box, text_of
from looplift.runtime.contents import class_attributes


@dataclass(eq=False)
class Record:
    """A class: the type of its objects, and its methods. All its objects share the types of their attributes."""

    box: Box
    fields: list[str]
    methods: dict[str, types.FunctionType] = field(default_factory=dict)


class Objects(TensorCalls):
    """Objects of classes."""

    records: dict[type, Record]

    def record_of(self, made: type) -> Record:
        """What is known of a class; raises Refused for all but plain ones."""
        if made in self.records:
            return self.records[made]
        methods = class_attributes(made)
        odd = not all(isinstance(one, types.FunctionType) for one in methods.values())
        special = {name for name in methods if name.startswith("__")} - {"__init__"}
        if type(made) is not type or made.__bases__ != (object,) or odd or special or "__init__" not in methods:
            raise refuse(None, f"'{made.__name__}' is no plain class")
        tree = self.source_of(methods["__init__"]).tree
        fields = _fields(tree)
        box = Box(f"object C{len(self.records)}_{made.__name__}", *[NEVER] * len(fields))
        self.records[made] = Record(box, fields, methods)
        return self.records[made]

    def source_of(self, function: Any) -> Any:
        raise NotImplementedError

    def record_at(self, value: Value) -> Record | None:
        if not isinstance(value.type, Box):
            return None
        return next((one for one in self.records.values() if one.box is value.type.find()), None)

    def made_object(self, made: type, node: ast.Call) -> Value:
        """``C(...)``."""
        record = self.record_of(made)
        text = text_of(record.box)
        value = Value(record.box, self.fresh())
        self.emit(f"{text} {value.code} = made<{text[4:-1]}>();")
        self.call(self.method_of(record, "__init__", node), node, first=value)
        return value

    def method_of(self, record: Record, name: str, node: ast.AST) -> Routine:
        routine = self.routine_of(record.methods.get(name))
        if routine is None:
            raise refuse(node, "calls what is no method")
        return routine

    def place_of_field(self, record: Record, name: str, node: ast.AST) -> int:
        if name not in record.fields:
            raise refuse(node, "is an attribute that not all objects of its class have")
        return record.fields.index(name)

    def attribute_of(self, value: Value, record: Record, node: ast.Attribute) -> Value:
        place = self.place_of_field(record, node.attr, node)
        return Value(record.box.cells[place], f"{value.code}->v_{node.attr}")

    def put_attribute(self, owner: Value, value: Value, node: ast.Attribute) -> None:
        """``owner.name = value``."""
        if owner.type is NEVER:
            return
        record = self.record_at(owner)
        if record is None:
            raise refuse(node, "sets an attribute of something else")
        place = self.place_of_field(record, node.attr, node)
        self.joins.widen(record.box, place, value.type)
        self.emit(f"{owner.code}->v_{node.attr} = {coerced(value, record.box.cells[place])};")

    def object_texts(self) -> list[str]:
        """The C++ of all classes."""
        names = [text_of(one.box)[4:-1] for one in self.records.values()]
        out = [f"struct {name};" for name in names]
        for name, record in zip(names, self.records.values(), strict=True):
            fields = [
                f"{text_of(cell)} v_{one}{{}};" for one, cell in zip(record.fields, record.box.cells, strict=True)
            ]
            # never freed before the end: a chain of objects may be longer than the stack is deep
            out.append(f"struct {name} {{ I refs = (I)1 << 40; {' '.join(fields)} void empty() {{}} }};")
            out.append(f"static bool truth(const Ref<{name}>&) {{ return true; }}")
        return out


def _fields(tree: ast.FunctionDef) -> list[str]:
    """The attributes that a constructor sets whatever happens, before anything may read them."""
    own = tree.args.args[0].arg if tree.args.args else ""
    found: dict[str, None] = {}

    def is_own(node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == own

    for statement in tree.body:
        read = [one for one in nodes_of(statement) if isinstance(one, ast.Attribute) and is_own(one.value)]
        known = {id(one.value) for one in read if isinstance(one.ctx, ast.Store) or one.attr in found}
        if any(is_own(one) and id(one) not in known for one in nodes_of(statement)):
            break
        if any(isinstance(one, ast.Return) for one in nodes_of(statement)):
            break
        for target in _targets(statement):
            if isinstance(target, ast.Attribute) and is_own(target.value):
                found[target.attr] = None
    return list(found)


def _targets(statement: ast.stmt) -> list[ast.expr]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AnnAssign) and statement.value else targets
    return [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]
