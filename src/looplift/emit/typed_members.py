"""Members of the user's enumerations in typed programs: numbers of a type of their own, with the members outside."""

from __future__ import annotations

import ast
from typing import Any

from looplift.emit.typed_enumerations import is_member
from looplift.emit.typed_scope import Value, refuse
from looplift.emit.typed_tensor_calls import TensorCalls
from looplift.emit.typed_types import Member, text_of


class Members(TensorCalls):
    """What is done with members: they are told apart, asked for their names and values, and are keys."""

    def look_at(self, made: type) -> None:
        raise NotImplementedError

    def member(self, value: Any) -> Value:
        made: Any = type(value)
        self.look_at(made)
        return Value(Member(made), f"{text_of(Member(made))}{{I({[*made].index(value)})}}")

    def of_Constant(self, node: ast.Constant) -> Value:
        return self.member(node.value) if is_member(node.value) else super().of_Constant(node)

    def attribute_of_member(self, owner: Value, node: ast.Attribute) -> Value:
        """``kind.name``, ``kind.value``."""
        made = owner.type.of
        if node.attr not in ("name", "value") or node.attr in vars(made):
            raise refuse(node, "is no attribute of a member of an enumeration here")
        values = [self.constant(getattr(one, node.attr)) for one in made]
        return self.one_of(values, f"{self.keep(owner).code}.at")

    def is_none(self, left: Value, right: Value, negated: bool, node: ast.AST) -> str:
        if isinstance(left.type, Member) and left.type == right.type:
            return f"({left.code}.at {'!=' if negated else '=='} {right.code}.at)"
        return super().is_none(left, right, negated, node)
