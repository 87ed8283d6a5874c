"""Statements of a typed program in, lines of C++ out."""

from __future__ import annotations

import ast
import builtins
from typing import Any

from looplift.base.syntax import children_of, nodes_of
from looplift.base.unpacked import unpacked
from looplift.emit.typed_expressions import element, inside, is_box
from looplift.emit.typed_optional_names import OptionalNames
from looplift.emit.typed_scope import Value, as_int, coerced, refuse
from looplift.emit.typed_stars import has_star
from looplift.emit.typed_told import assigned, not_none
from looplift.emit.typed_types import DICTS, INT, NEVER, NONE, TABLES, TEXT, Arr, Box, Either, Ten, Tup


class Statements(OptionalNames):
    """Statements, one after the other."""

    def statements(self, nodes: list[ast.stmt]) -> bool:
        """Write statements; whether what follows them may be reached."""
        for node in nodes:
            method = getattr(self, f"do_{type(node).__name__}", None)
            if method is None:
                raise refuse(node, "has no form in a typed program")
            if method(node) is False:
                return False
        return True

    def do_Pass(self, node: ast.Pass) -> None:
        pass

    def do_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        if isinstance(node.value, ast.Yield | ast.YieldFrom):
            self.do_yield(node.value)
            return
        if not isinstance(node.value, ast.Call):
            raise refuse(node, "does nothing")
        value = self.expression(node.value)
        if not value.is_fixed and not value.code.isidentifier():
            self.emit(f"(void)({value.code});")

    def do_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.define(node)
        self.bound.add(node.name)

    def define(self, node: ast.FunctionDef) -> None:
        raise NotImplementedError

    def do_Nonlocal(self, node: ast.Nonlocal) -> None:
        pass

    def do_Import(self, node: ast.Import) -> None:
        pass

    def do_ImportFrom(self, node: ast.ImportFrom) -> None:
        pass

    # ------------------------------------------------------------ assignments

    def do_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Lambda):
            made = self.lambdas.setdefault(id(node.value), as_function(node.targets[0].id, node.value))
            self.define(made)
            self.bound.add(node.targets[0].id)
            return
        value = self._assigned(node)
        if len(node.targets) > 1:
            value = self.keep(value)
        for target in node.targets:
            self.bind(target, value)

    def _assigned(self, node: ast.Assign) -> Value:
        if node not in self.replaced:  # the types of what is made belong to its node
            value = unpacked(node.targets, node.value, self.is_builtin)
            self.replaced[node] = ast.copy_location(ast.Assign(node.targets, value), node)
        node = self.replaced[node]
        if (columns := self._unzipped(node)) is not None:
            return columns
        is_taken_apart = isinstance(node.targets[0], ast.Tuple | ast.List)
        if isinstance(node.value, ast.Tuple) and is_taken_apart and not has_star(node.value.elts):
            values = [self.keep(value) for value in self.several(*node.value.elts)]
            found = self.tuple_of(values)
            return Value(found.type, found.code, values)
        return self.expression(node.value)

    def _unzipped(self, node: ast.Assign) -> Value | None:
        """``xs, ys = zip(*pairs)``."""
        if len(node.targets) > 1 or not isinstance(node.targets[0], ast.Tuple | ast.List):
            return None
        match node.value:
            case ast.Call(func=ast.Name(id="zip" as name), args=[ast.Starred(value=source)], keywords=[]):
                if not self.is_builtin(name):
                    return None
                rows = self.keep(self.listed(node.value, source))
                if not isinstance(element(rows), Tup):
                    raise refuse(node, "takes apart what is no list of tuples")
                self.emit(f"if (!size({rows.code})) bail(KIND);")
                return self.tuple_of([self.keep(one) for one in self.columns_of(node.value, rows)])
        return None

    def is_builtin(self, name: str) -> bool:
        return self.resolved(ast.Name(name, ast.Load())) is getattr(builtins, name)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.expression(node.value))

    def bind(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                if name in self.renamed:
                    raise refuse(target, "is bound twice")
                self.store(name, value)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                parts = self.taken_apart(value, len(elts), target)
                if value.parts is None or _stores_into(target):
                    parts = [self.keep(part) for part in parts]
                for one, part in zip(elts, parts, strict=True):
                    self.bind(one.value if isinstance(one, ast.Starred) else one, part)
            case ast.Subscript(slice=ast.Slice()):
                self._store_slice(target, value)
            case ast.Subscript():
                value = self.keep(value)
                owner, index = self.several(target.value, target.slice)
                self.put(owner, index, value, target)
            case ast.Attribute():
                value = self.keep(value)
                self.put_attribute(self.present(self.expression(target.value)), value, target)
            case _:
                raise refuse(target, "is bound")

    def put(self, owner: Value, index: Value, value: Value, node: ast.AST) -> None:
        """``owner[index] = value``."""
        owner = self.present(owner)
        if owner.type is NEVER or self.put_named(owner, value, node):
            return
        if is_box(owner, "list", "deque"):
            self.alters(owner)
            text = self.item_of(owner, value)
            self.emit(f"{owner.code}->set({as_int(index, node)}, {text});")
        elif is_box(owner, *TABLES):
            self.alters(owner)
            key = self.key_of(owner, index, node)
            self.emit(f"{owner.code}->set({key}, {self.item_of(owner, value, 1)});")
        else:
            raise refuse(node, "is stored into")

    def _store_slice(self, target: ast.Subscript, value: Value) -> None:
        """``a[:] = b``, ``a[i:j] = b``, ``a[i::k] = b``."""
        part: Any = target.slice
        if not is_box(value, "list"):
            raise refuse(target, "is stored into")
        value = self.keep(Value(value.type, f"copy({value.code})"))
        bounds = [one for one in (part.lower, part.upper, part.step) if one is not None]
        owner, *found = self.several(target.value, *bounds)
        owner = self.present(owner)
        if not is_box(owner, "list"):
            raise refuse(target, "is stored into")
        self.joins.join(owner.type, value.type)
        self.alters(owner)
        if not bounds:
            owner = self.keep(owner)
            self.list_clear(owner, ast.Call(target, [], []))
            self.emit(f"extend({owner.code}, {value.code});")
        else:
            self.emit(f"splice({owner.code}, {self.cut_of(owner, part, found, target)}, {value.code});")

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        match node.target:
            case ast.Name(id=name):
                old = self.of_Name(node.target)
                if isinstance(node.op, ast.Add) and is_box(old, "list"):
                    self.extend(old, node.value, node)
                    return
                old, value = map(self.present, self.in_order([lambda: old, lambda: self.expression(node.value)]))
                if isinstance(node.op, ast.Add) and old.type is TEXT and value.type is TEXT:
                    owner = self.owner(name)
                    if owner is not None and old.code == f"v_{owner.variable(name)}":
                        self.emit(f"append({old.code}, {value.code});")
                        return
                self.refuse_shared_change(old, node)
                self._change_name(name, old, value, node)
            case ast.Subscript(slice=ast.Slice()):
                raise refuse(node, "changes a slice")
            case ast.Subscript():
                self._change_item(node, node.target)
            case ast.Attribute():
                self._change_attribute(node, node.target)
            case _:
                raise refuse(node, "is changed")

    def _change_name(self, name: str, old: Value, value: Value, node: ast.AugAssign) -> None:
        """``name += value``: tensors and arrays change themselves."""
        if isinstance(old.type, Either):
            self.split(old, lambda one: self._changed_name(name, one, value, node))
        else:
            self._changed_name(name, old, value, node)

    def _changed_name(self, name: str, old: Value, value: Value, node: ast.AugAssign) -> Value:
        if isinstance(old.type, Ten | Arr):
            self.changed_in_place(old, type(node.op), value, node)
        else:
            self.store(name, self.binary(type(node.op), old, value, node))
        return Value(NONE, "None_()")

    def changed_in_place(self, old: Value, op: Any, value: Value, node: ast.AST, *, fresh: bool = False) -> None:
        raise NotImplementedError

    def version_of(self, value: Value) -> str:
        """The name of how often the memory of a tensor was written to."""
        raise NotImplementedError

    def refuse_shared_change(self, old: Value, node: ast.AST) -> None:
        """Containers that operators change in place are known by other names, too; objects have no such operators."""
        if isinstance(old.type, Box) and self.record_at(old) is None:
            raise refuse(node, "changes a container in place")

    def _change_item(self, node: ast.AugAssign, target: ast.Subscript) -> None:
        owner, index = self.several(target.value, target.slice)
        owner, index = self.present(owner), self.keep(index)
        if isinstance(owner.type, Tup):
            raise refuse(node, "puts something into a tuple")
        if not owner.code.isidentifier():
            owner = self.keep(owner) if not _is_path(owner.code) else owner
        old = self.item(owner, index, target)
        if old.type is NEVER:  # nothing is ever put there: Python raises
            self.emit(f"(void)({old.code}); bail(KIND);")
        if isinstance(node.op, ast.Add) and is_box(old, "list"):
            self.extend(old, node.value, node)
            return
        with self.block() as lines:
            value = self.expression(node.value)
        is_view = isinstance(owner.type, Ten) and isinstance(old.type, Ten)
        if lines:  # evaluated after the item was read
            owner, old = self.keep(owner), self.keep(old)
            version = self.version_of(old) if is_view else ""
            self.lines += lines
            if version:
                self.emit(f"same_version({old.code}, {version});")
        self.refuse_shared_change(old, node)
        if isinstance(self.present(old).type, Ten | Either | Arr):
            value = self.present(value)
            if isinstance(old.type, Either):
                owner, value = self.keep(owner), self.keep(value)
                self.split(self.keep(old), lambda one: self._changed_item(one, owner, index, value, node))
                return
            if not isinstance(old.type, Ten | Arr):
                raise refuse(node, "changes what may be a tensor")
            self.changed_in_place(old, type(node.op), value, node, fresh=is_view)
            return
        found = self.binary(type(node.op), self.present(old), self.present(value), node)
        self.put(owner, index, self.keep(found), target)

    def _changed_item(self, old: Value, owner: Value, index: Value, value: Value, node: ast.AugAssign) -> Value:
        """A number gives way to what is computed of it; a tensor changes itself, as in ``_changed_name``."""
        if isinstance(old.type, Ten):
            self.changed_in_place(old, type(node.op), value, node)
        else:
            self.put(owner, index, self.keep(self.binary(type(node.op), old, value, node)), node.target)
        return Value(NONE, "None_()")

    def _change_attribute(self, node: ast.AugAssign, target: ast.Attribute) -> None:
        owner = self.keep(self.present(self.expression(target.value)))
        if owner.type is NEVER:
            return
        record = self.record_at(owner)
        if record is None:
            raise refuse(node, "changes an attribute of something else")
        old = self.keep(self.attribute_of(owner, record, target))
        if isinstance(node.op, ast.Add) and is_box(old, "list"):
            self.extend(old, node.value, node)
            if any(isinstance(one, ast.Call) for one in nodes_of(node.value)):  # which may set the attribute
                self.put_attribute(owner, old, target)
            return
        self.refuse_shared_change(old, node)
        value = self.keep(self.present(self.expression(node.value)))
        old = self.present(old)
        if isinstance(old.type, Either):
            self.split(self.keep(old), lambda one: self._changed_attribute(one, owner, value, node, target))
        elif NEVER not in (old.type, value.type):
            self._changed_attribute(old, owner, value, node, target)

    def _changed_attribute(
        self, old: Value, owner: Value, value: Value, node: ast.AugAssign, target: ast.Attribute
    ) -> Value:
        if isinstance(old.type, Ten | Arr):
            self.changed_in_place(old, type(node.op), value, node)
            if any(isinstance(one, ast.Call) for one in nodes_of(node.value)):  # which may set the attribute
                self.put_attribute(owner, old, target)
        else:
            self.put_attribute(owner, self.binary(type(node.op), old, value, node), target)
        return Value(NONE, "None_()")

    def do_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if not isinstance(target, ast.Subscript):
                raise refuse(node, "deletes a name")
            if isinstance(target.slice, ast.Slice):
                bounds = [one for one in (target.slice.lower, target.slice.upper, target.slice.step) if one is not None]
                owner, *found = self.several(target.value, *bounds)
                if not is_box(owner, "list"):
                    raise refuse(node, "deletes")
                self.alters(owner)
                name = self.cut_of(owner, target.slice, found, node)
                self.emit(f"erase({owner.code}, {name}.from, {name}.step, {name}.count);")
                continue
            owner, index = self.several(target.value, target.slice)
            self.alters(owner)
            if is_box(owner, "list"):
                self.emit(f"(void){owner.code}->pop({as_int(index, node)});")
            elif is_box(owner, *DICTS):
                self.emit(f"(void){owner.code}->pop({self.key_of(owner, index, node)});")
            elif owner.type is not NEVER:
                raise refuse(node, "deletes")

    # ------------------------------------------------------------ flow

    def do_If(self, node: ast.If) -> bool:
        test = self.condition(node.test)
        before, told = set(self.bound), self.told
        self.emit(f"if ({test}) {{")
        self.told = told | not_none(node.test, True)
        goes_on = self.statements(node.body)
        after_body, self.bound = self.bound, set(before)
        told_after_body, self.told = self.told, told | not_none(node.test, False)
        self.emit("} else {")
        otherwise = self.statements(node.orelse)
        self.emit("}")
        if goes_on and otherwise:
            self.bound &= after_body
            self.told &= told_after_body
        elif goes_on:
            self.bound, self.told = after_body, told_after_body
        return goes_on or otherwise

    def do_While(self, node: ast.While) -> bool:
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        after, depth = self.fresh("after"), len(self.handings)
        self.loop_begins(node)
        self.emit("for (;;) {")
        self.emit("tick();")
        told = self.told = self.told - assigned(node)
        if not endless:
            self.emit(f"if (!({self.condition(node.test)})) break;")
        before = set(self.bound)
        self.told |= not_none(node.test, True)
        self._body(node.body, after if node.orelse else "", depth)
        self.bound, self.told = before, told
        self.emit("}")
        self.loop_ends()
        self._otherwise(node.orelse, after)
        return not endless or any(_breaks(one) for one in node.body)

    def do_For(self, node: ast.For) -> bool | None:
        after, depth = self.fresh("after"), len(self.handings)
        before: set[str] = set()

        def body() -> None:
            self.emit("tick();")
            self._body(node.body, after if node.orelse else "", depth)

        before = set(self.bound)
        told = self.told = self.told - assigned(node)
        self.run_through(node.iter, node.target, body, begin=lambda test: self.loop_begins(node, test))
        self.loop_ends()
        self.bound, self.told = before, told
        self._otherwise(node.orelse, after)

    def loop_begins(self, node: ast.For | ast.While, test: str = "") -> None:
        """Before the first iteration of a loop, when what it goes through is known; ``test``: whether there is one."""
        raise NotImplementedError

    def loop_ends(self) -> None:
        raise NotImplementedError

    def _body(self, nodes: list[ast.stmt], after: str, depth: int) -> None:
        self.exits.append((after, depth))
        self.statements(nodes)
        self.exits.pop()

    def _otherwise(self, nodes: list[ast.stmt], after: str) -> None:
        """What runs where a loop was not left by ``break``."""
        if nodes:
            before, told = set(self.bound), self.told - assigned(ast.Module(nodes, []))
            self.emit("{")
            self.statements(nodes)
            self.emit(f"}} {after}:;")
            self.bound, self.told = before, told

    exits: list[tuple[str, int]]
    """Of the loops around a statement where ``break`` goes, if not behind the loop, and how deep that is."""
    lambdas: dict[int, ast.FunctionDef]

    def do_Break(self, node: ast.Break) -> bool:
        label, depth = self.exits[-1]
        self.emit(self.leaving(depth, f"goto {label};") if label else "break;")
        return False

    def do_Continue(self, node: ast.Continue) -> bool:
        self.emit("continue;")
        return False

    def do_Return(self, node: ast.Return) -> bool:
        if self.routine.hands_out and node.value is None:
            self.leave_routine("false")
            return False
        value = self.expression(node.value) if node.value is not None else Value(NONE, "None_()")
        self.returned(value)
        return False

    def returned(self, value: Value) -> None:
        if self.routine.hands_out:
            raise refuse(None, f"'{self.routine.name}' hands out its results one by one, and returns a value")
        self.leave_routine(coerced(value, self.widen_result(value)))

    def do_Raise(self, node: ast.Raise) -> bool:
        self.emit("bail(RAISED);")
        return False

    def do_Assert(self, node: ast.Assert) -> None:
        self.emit(f"if (!({self.condition(node.test)})) bail(RAISED);")
        self.told |= not_none(node.test, True)


def as_function(name: str, node: ast.Lambda) -> ast.FunctionDef:
    """``f = lambda x: y`` as a function."""
    made = ast.FunctionDef(name, node.args, [ast.copy_location(ast.Return(node.body), node.body)], [])
    return ast.copy_location(made, node)


def _stores_into(target: ast.expr) -> bool:
    """Whether some part of a target is no name: to store there may change what the parts of a value are read from."""
    return any(isinstance(node, ast.Subscript | ast.Attribute) for node in nodes_of(target))


def _is_path(code: str) -> bool:
    """Whether reading an expression again costs little and gives the same."""
    return "(" not in code.replace("->at(", "")


def _breaks(node: ast.AST) -> bool:
    if isinstance(node, ast.Break):
        return True
    if isinstance(node, ast.For | ast.While):
        return any(_breaks(one) for one in node.orelse)
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        return False
    return any(_breaks(one) for one in children_of(node))


__all__ = ["INT", "Statements", "Tup", "element", "inside"]
