"""Stores into tensors, and names bound to what is made of each of a few values, in; lines of C++ out."""

from __future__ import annotations

import ast
from typing import Any

from looplift.emit.typed_expressions import is_box
from looplift.emit.typed_scope import Value, refuse
from looplift.emit.typed_sets import Sets
from looplift.emit.typed_tensor_ops import is_tensor
from looplift.emit.typed_tensors import is_place, subscripts
from looplift.emit.typed_types import BOOL, INT, NEVER, NONE, NUMBERS, WHOLE, Either, Ten, same


class Stores(Sets):
    """Statements that change tensors."""

    changes_tensors: bool
    keeps_rows: bool

    def store(self, name: str, value: Value) -> None:
        self._note_row(value)
        if value.code in self.short and (owner := self.owner(name)) is not None:
            self.short.add(f"v_{owner.variable(name)}")
        super().store(name, value)

    def item_of(self, owner: Value, value: Value, place: int = 0) -> str:
        self._note_row(value)
        return super().item_of(owner, value, place)

    def _note_row(self, value: Value) -> None:
        self.keeps_rows |= is_computed_row(value) and value.code not in self.short

    def _assigned(self, node: ast.Assign) -> Value:
        made = node.value
        if isinstance(node.targets[0], ast.Tuple | ast.List) and (
            isinstance(made, ast.ListComp) or (isinstance(made, ast.GeneratorExp) and len(node.targets) == 1)
        ):  # the first of several targets uses a generator up
            first = made.generators[0]
            if len(made.generators) == 1 and not first.ifs and isinstance(first.iter, ast.Tuple | ast.List):
                return self._each(first.target, first.iter.elts, made.elt)
        return super()._assigned(node)

    def _each(self, target: ast.expr, nodes: list[ast.expr], made: ast.expr) -> Value:
        """``a, b = (f(x) for x in (c, d))``: as it would be written out."""
        values, before = [], dict(self.renamed)
        for value in [self.keep(one) for one in self.several(*nodes)]:
            self.bind_own(target, value)
            values.append(self.keep(self.expression(made)))
        self.renamed = before
        found = self.tuple_of(values)
        return Value(found.type, found.code, values)

    def put(self, owner: Value, index: Value, value: Value, node: ast.AST) -> None:
        owner = self.present(owner)
        if is_tensor(owner) and is_tensor(index) and index.type.dtype == "bool" and owner.type.rank:
            self._put_where(owner, index, self.present(value), node)
        elif is_tensor(owner):
            self.change(self.item(owner, index, node), value, node)
        else:
            if is_tensor(index) and is_box(owner, "list"):
                index = self.number_of(index)
            super().put(owner, index, value, node)

    def _put_where(self, owner: Value, mask: Value, value: Value, node: ast.AST) -> None:
        """``x[x > 0] = 1``: one value into all elements where a mask of the same shape holds."""
        if is_tensor(value) and value.type != Ten(owner.type.dtype, 0):
            raise refuse(node, "stores where a mask holds in a way of its own")
        if isinstance(value.type, Either) or mask.type.rank != owner.type.rank:
            raise refuse(node, "stores where a mask holds in a way of its own")
        if value.type is not NEVER:
            self.changes_tensors = True
            self._check_fits(owner, value, node)
            self.emit(f"change_where({owner.code}, {mask.code}, {value.code});")

    def change(self, target: Value, value: Value, node: ast.AST) -> None:
        """Put a value into the elements of a tensor."""
        value = self.present(value)
        if target.type is NEVER:
            return
        if isinstance(value.type, Either):
            self.split(value, lambda one: self._changed(target, one, node))
        elif value.type is not NEVER:
            self._changed(target, value, node)

    def _changed(self, target: Value, value: Value, node: ast.AST) -> Value:
        self._check_fits(target, value, node)
        if is_tensor(value) and value.type.rank > target.type.rank:
            raise refuse(node, "stores more dimensions than there are")
        self._apart(target, value)
        self.changes_tensors = True
        self.emit(f"change{'_rows' if target.type.rank else ''}({target.code}, {value.code});")
        return Value(NONE, "None_()")

    def _check_fits(self, target: Value, value: Value, node: ast.AST) -> None:
        if value.type not in NUMBERS and not is_tensor(value):
            raise refuse(node, "stores what is no number")
        same_dtype = is_tensor(value) and value.type.dtype == target.type.dtype
        if target.type.dtype in WHOLE and not (value.type in (INT, BOOL) or same_dtype):
            raise refuse(node, "stores a number that may not fit")

    def _apart(self, target: Value, value: Value) -> None:
        """PyTorch refuses most of what is stored into a part of itself."""
        if is_tensor(value) and target.type.rank and value.type.dtype == target.type.dtype:
            self.emit(f"apart({target.code}, {value.code});")

    def bind(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Subscript) and any(not is_place(part) for part in subscripts(target)):
            if isinstance(self.peek(target.value), Ten):
                value = self.keep(value)
                self.change(self.view(target, subscripts(target)), value, target)
                return
        super().bind(target, value)

    def version_of(self, value: Value) -> str:
        return self.keep(Value(INT, f"version_of({value.code})")).code

    def changed_in_place(self, old: Value, op: Any, value: Value, node: ast.AST, *, fresh: bool = False) -> None:
        """``old += value`` of a tensor; ``fresh``: of a view that is made for it."""
        old, value = self.keep(old), self.keep(value)
        self._apart(old, value)
        found = self.binary(op, old, value, node)
        if found.type is NEVER:
            return
        if not same(found.type, old.type):
            raise refuse(node, "changes a tensor of another kind")
        found = self.keep(found)
        if not fresh and not old.type.rank:
            self.changes_tensors = True
            self.emit(f"change_own({old.code}, {found.code});")
            return
        if not fresh:
            self.emit(f"not_stale({old.code});")
        self.change(old, found, node)


def is_computed_row(value: Value) -> bool:
    """Whether several elements were computed, and are not folded at once."""
    return isinstance(value.type, Ten) and value.type.rank > 0 and value.code.startswith("rows")
