"""Statements of Python into statements of the IR: assignments, stores and branches."""

from __future__ import annotations

import ast

from looplift.base.unpacked import unpacked
from looplift.frontend import (
    attributes,
    backward,
    clipping,
    contexts,
    dictionaries,
    differentiation,
    evident,
    expressions,
    growing,
    host_items,
    instances,
    joins,
    loops,
    structures,
)
from looplift.frontend.names import UPDATES
from looplift.frontend.scope import Builder, Structure, Tup, Value
from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Const,
    Let,
    Op,
    Operand,
    Perform,
    Require,
    Statement,
    Store,
    Var,
    children,
)
from looplift.ir.writes import is_in_place

TEMPORARY = ("t", "items", "choice", "pair")
"""Names of values that have none of their author's yet."""


def without_docstring(statements: list[ast.stmt]) -> list[ast.stmt]:
    first = statements[0] if statements else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return statements[1:]
    return statements


def translate_block(build: Builder, statements: list[ast.stmt]) -> None:
    for node in statements:
        build.span = expressions.located(build, node)
        translate(build, node)


def translate(build: Builder, node: ast.stmt) -> None:
    match node:
        case ast.Pass():
            pass
        case ast.Assign(targets=targets, value=value):
            _assignment(build, targets, value)
        case ast.AnnAssign(target=target, value=value):
            if value is not None:
                _assignment(build, [target], value)
        case ast.AugAssign():
            _augmented(build, node)
        case ast.Expr(value=value):
            _expression(build, value)
        case ast.If():
            _branch(build, node)
        case ast.For():
            loops.translate_for(build, node)
        case ast.While():
            loops.translate_while(build, node)
        case ast.Assert(test=test):
            build.add(Require(expressions.evaluate_atom(build, test), "an assertion fails", build.span))
        case ast.Raise():
            build.add(Require(Const(False), "the loop raises an exception", build.span))
        case ast.FunctionDef(name=name):
            build.env[name] = structures.closure(build, node)
        case ast.Delete(targets=targets):
            for target in targets:
                _delete(build, target)
        case ast.With():
            contexts.enter(build, node)
        case ast.Try():
            raise build.refuse("exception-handling", "a 'try' inside the loop")
        case _:
            raise build.refuse("unsupported-syntax", f"'{type(node).__name__.lower()}' is not understood in a loop")


def _delete(build: Builder, target: ast.expr) -> None:
    match target:
        case ast.Name(id=name):
            build.lookup(name)
            build.env[name] = UNDEFINED
        case ast.Subscript(value=owner, slice=index):
            found = expressions.evaluate(build, owner)
            if not isinstance(found, structures.Shelf):
                raise build.refuse("effect-order", f"'del {ast.unparse(target)}' changes a list or dict in the loop")
            found.method(build, "pop", [expressions.evaluate(build, index)], {})
        case _:
            raise build.refuse("effect-order", f"'del {ast.unparse(target)}' changes an object in the loop")


def _assignment(build: Builder, targets: list[ast.expr], value: ast.expr) -> None:
    """``a = b = value``; ``a, b = b, a`` evaluates all of the right side first."""
    made_from = len(build.blocks[-1])
    found = expressions.evaluate(build, unpacked(targets, value, build.is_builtin))
    if len(targets) > 1 and isinstance(targets[0], ast.Name):
        found = _named(build, targets[0].id, found, made_from)
    for target in targets:
        assign(build, target, found, made_from if len(targets) == 1 else None)


def assign(build: Builder, target: ast.expr, value: Value, made_from: int | None = None) -> None:
    """Bind a target. What the block holds from ``made_from`` on was made for this value and has no other reader."""
    match target:
        case ast.Name(id=name):
            build.env[name] = _named(build, name, value, made_from)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            items = _unpack(build, targets, value)
            every = [leaf for item in items for leaf in loops.leaves(item)]
            targets = [target.value if isinstance(target, ast.Starred) else target for target in targets]
            for inner, item in zip(targets, items, strict=True):
                alone = sum(leaf is item for leaf in every) == 1
                assign(build, inner, item, made_from if alone else None)
        case ast.Subscript(value=owner, slice=index):
            into = expressions.evaluate(build, owner)
            if isinstance(into, Structure):
                _refuse_method(build, target, into)
                into.store(build, expressions.evaluate(build, index), value)
                return
            ref = build.atom(into)
            if not isinstance(ref, Var):
                raise build.refuse("unsupported-value", "a store into something that is no tensor or list")
            if ref in build.sites:
                structures.stored(build, ref)
            place = clipping.clipped(build, ref, expressions.subscript(build, index))
            if isinstance(value, Structure) and isinstance(value, dictionaries.Listed):
                value = value.stored(build, ref)
            build.add(Store(ref, place, build.atom(value), None, build.span, getattr(target, METHOD, "")))
        case ast.Attribute(value=owner, attr=attr):
            into = expressions.evaluate(build, owner)
            if isinstance(into, instances.Instance):
                into.set(build, attr, _named(build, attr, value, made_from))
                return
            if attr == "grad" and evident.may_be_tensor(build, into):
                backward.store(build, into, value)
                return
            if attr == "requires_grad" and evident.may_be_tensor(build, into):
                differentiation.set_to_ask(build, build.atom(into), value)
                return
            attributes.store(build, target, into, value)
        case _:
            raise build.refuse("unsupported-syntax", "this target of an assignment is not understood")


def _named(build: Builder, name: str, value: Value, made_from: int | None) -> Value:
    """Give a temporary that was made for this name its author's name."""
    block = build.blocks[-1]
    if isinstance(value, Structure) and isinstance(value, structures.Shelf):
        value.take_name(name)
    if made_from is None or len(block) <= made_from or not isinstance(value, Var) or value.hint not in TEMPORARY:
        return value
    last = block[-1]
    if not isinstance(last, Let) or last.var is not value:
        return value
    if any(leaf is value for held in (*build.cells.values(), *build.env.values()) for leaf in loops.leaves(held)):
        return value
    named = build.fresh(name)
    block[-1] = Let(named, last.op, last.span)
    if value in build.sites:
        build.sites[named] = build.sites.pop(value)
    for held in (build.displays, build.leaves, build.set_leaves, build.constants):
        if value in held:
            held.discard(value)
            held.add(named)
    if value in build.passes.made:
        build.passes.made[named] = build.passes.made.pop(value)
    return named


def _unpack(build: Builder, targets: list[ast.expr], value: Value) -> tuple[Value, ...]:
    count = len(targets)
    starred = [k for k, target in enumerate(targets) if isinstance(target, ast.Starred)]
    if starred:
        return _unpack_starred(build, count, starred[0], value)
    if isinstance(value, Structure):
        return value.unpacked(build, count)
    if build.is_container(value) and (known := host_items.items_of(build, value)) is not None:
        value = Tup(tuple(map(Const, known) if isinstance(known, dict) else known))
    if isinstance(value, Const) and isinstance(value.value, tuple):
        value = Tup(tuple(map(Const, value.value)))
    if isinstance(value, Tup):
        if len(value.items) != count:
            raise build.refuse("requirement", f"{len(value.items)} values for {count} names")
        return value.items
    hints = [target.id if isinstance(target, ast.Name) else "t" for target in targets]
    return tuple(build.emit("unpack", value, Const(k), Const(count), hint=hint) for k, hint in enumerate(hints))


def _unpack_starred(build: Builder, count: int, place: int, value: Value) -> tuple[Value, ...]:
    """``first, *rest = value`` of something known item by item."""
    known = value.unpacked(build, None) if isinstance(value, Structure) else expressions.known_items(build, value)
    if known is None:
        raise build.refuse("unsupported-syntax", "a starred target takes items that are not known one by one")
    items = list(known)
    behind = count - place - 1
    if len(items) < count - 1:
        raise build.refuse("requirement", f"{len(items)} values for {count - 1} names and more")
    middle = structures.shelf_of(build, items[place : len(items) - behind])
    return (*items[:place], middle, *items[len(items) - behind :])


def _augmented(build: Builder, node: ast.AugAssign) -> None:
    name = expressions.BINARY[type(node.op)]
    match node.target:
        case ast.Name(id=target):
            if name == "add" and growing.extend(build, ast.Name(target, ast.Load()), node.value):
                return
            before = build.lookup(target)
            found = _updated(build, name, before, expressions.evaluate(build, node.value), target)
            if found is not before and evident.is_tensor(build, before):
                _update_items(build, before, found)
            build.env[target] = found
        case ast.Subscript(value=owner, slice=index):
            into = expressions.evaluate(build, owner)
            if isinstance(into, Structure):
                _refuse_method(build, node.target, into)
                _augmented_item(build, name, into, expressions.evaluate(build, index), node.value)
                return
            ref = build.atom(into)
            if not isinstance(ref, Var):
                raise build.refuse("unsupported-value", "a store into something that is no tensor or list")
            if ref in build.sites:
                structures.stored(build, ref)
            method = getattr(node.target, METHOD, "")
            place = clipping.clipped(build, ref, expressions.subscript(build, index))
            _augmented_store(build, name, ref, place, node.value, method)
        case ast.Attribute() as target:
            owner = expressions.evaluate(build, target.value)
            if isinstance(owner, instances.Instance):
                before = owner.attribute(build, target.attr)
                found = _updated(build, name, before, expressions.evaluate(build, node.value), target.attr)
                owner.set(build, target.attr, found)
                return
            before = build.cells[attributes.settable(build, target, owner)]
            found = expressions.evaluate(build, node.value)
            if isinstance(before, Tup | Structure) or isinstance(found, Tup | Structure):
                raise build.refuse("effect-order", f"the attribute '{ast.unparse(target)}' is changed inside the loop")
            known = expressions.folded(name, before, found)
            value = known or build.emit(f"inplace.{name}", before, found, hint=target.attr)
            attributes.store(build, target, owner, value)


def _update_items(build: Builder, before: Value, found: Value) -> None:
    """Items of lists and dicts that are the very tensor which was changed in place under a name of its own."""
    for cell, value in build.cells.items():
        if value is before:
            build.cells[cell] = found


def _augmented_item(build: Builder, name: str, owner: Structure, key: Value, node: ast.expr) -> None:
    """``table[key] += e`` of a list or dict that is known item by item."""
    before = owner.item(build, key)
    found = _updated(build, name, before, expressions.evaluate(build, node))
    if found is not before or isinstance(owner, instances.Instance):  # a list holds the one that it held
        owner.store(build, key, found)


def _updated(build: Builder, name: str, before: Value, value: Value, hint: str = "t") -> Value:
    """What is bound by ``before += value``."""
    if name == "add" and isinstance(before, Tup) and isinstance(value, Tup):
        return Tup(before.items + value.items)
    if name == "add" and isinstance(before, structures.Shelf):
        before.method(build, "extend", [value], {})
        return before
    if isinstance(before, instances.Instance):
        return instances.updated(build, name, before, value)
    if (number := expressions.of_complex(build, name, before, value)) is not None:
        return number
    old, value = build.atom(before), build.atom(value)
    return expressions.folded(name, old, value) or build.emit(f"inplace.{name}", old, value, hint=hint)


def _refuse_method(build: Builder, target: ast.expr, owner: Structure) -> None:
    if method := getattr(target, METHOD, ""):
        raise owner.refusal(build, f"changed by '.{method}(...)' of one of its items")


def _augmented_store(build: Builder, name: str, ref: Var, where: Operand, node: ast.expr, method: str) -> None:
    """``ref[where] += e`` reads the place before ``e``, which matters if ``e`` has effects."""
    block = build.blocks[-1]
    position = len(block)
    value = expressions.evaluate_atom(build, node)
    if not any(map(has_effect, block[position:])):
        build.add(Store(ref, where, value, name, build.span, method))
        return
    old = build.fresh("old")
    block.insert(position, Let(old, Op("getitem", (ref, where)), build.span))
    build.add(Store(ref, where, build.emit(f"inplace.{name}", old, value), None, build.span, method and "+"))


def has_effect(statement: Statement) -> bool:
    """Whether something that a later read may see is changed."""
    if any(has_effect(inner) for block in children(statement) for inner in block):
        return True
    if not isinstance(statement, Let):
        return isinstance(statement, Store | Append | Perform)
    prefix, _, method = statement.op.name.partition(".")
    if prefix in ("call", "inplace"):
        return True
    return prefix == "method" and is_in_place(method)


METHOD = "looplift_method"
"""The attribute of a target that holds the method which its author called on it."""


def _as_store(build: Builder, value: ast.expr) -> ast.stmt | None:
    """The assignment that a method in place amounts to: ``x[i].add_(v)`` is ``x[i] += v``, ``x[i].fill_(v)`` is
    ``x[i] = v``. That ``x[i]`` is a view of a tensor is asked where its kind is known."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name) as owner, attr=attr), keywords=[]):
            if attr not in UPDATES or not evident.is_tensor(build, build.lookup(name)):
                return None
            target = ast.copy_location(ast.Name(name, ast.Store()), owner)
        case ast.Call(func=ast.Attribute(value=ast.Subscript() as owner, attr=attr), keywords=[]):
            target = ast.copy_location(ast.Subscript(owner.value, owner.slice, ast.Store()), owner)
            setattr(target, METHOD, attr)
        case _:
            return None
    match value.args:
        case [operand] if attr in UPDATES:
            return ast.copy_location(ast.AugAssign(target, UPDATES[attr](), operand), value)
        case [operand] if attr in ("fill_", "copy_") and isinstance(owner, ast.Subscript):
            return ast.copy_location(ast.Assign([target], operand), value)
        case [] if attr == "zero_" and isinstance(owner, ast.Subscript):
            return ast.copy_location(ast.Assign([target], ast.copy_location(ast.Constant(0), value)), value)
    return None


def _expression(build: Builder, value: ast.expr) -> None:
    if (store := _as_store(build, value)) is not None:
        translate(build, store)
        return
    match value:
        case ast.Constant():
            return
        case ast.Call(func=ast.Attribute(value=owner, attr="append"), args=[item], keywords=[]):
            if growing.append(build, expressions.evaluate(build, owner), expressions.evaluate(build, item)):
                return
        case ast.Call(func=ast.Attribute(value=owner, attr="extend"), args=[items], keywords=[]):
            if growing.extend(build, owner, items):
                return
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="sort"), args=[], keywords=keywords):
            if growing.put_in_order(build, name, keywords):
                return
        case ast.Call(func=ast.Name(id="print"), args=args, keywords=keywords) if build.is_builtin("print"):
            items = tuple(build.atom(v) for v in expressions._items(build, args))
            if any(keyword.arg is None for keyword in keywords):
                raise build.refuse("unsupported-syntax", "'**' in a call inside a loop")
            kwargs = tuple((str(k.arg), expressions.evaluate_atom(build, k.value)) for k in keywords)
            build.add(Perform(Op("builtin.print", items, kwargs), build.span))
            return
    expressions.evaluate(build, value)


def _branch(build: Builder, node: ast.If) -> None:
    test = expressions.evaluate_test(build, node.test)
    if isinstance(test, Const):
        translate_block(build, node.body if test.value else node.orelse)
        return
    joins.branch(build, test, lambda: translate_block(build, node.body), lambda: translate_block(build, node.orelse))
