"""Statements of Python into statements of the IR: assignments, stores, branches and loops."""

from __future__ import annotations

import ast

from looplift.frontend import expressions
from looplift.frontend.exits import STOP_ATTRIBUTE
from looplift.frontend.iteration import Source, source_of_iterable
from looplift.frontend.scope import Builder, Tup, Value
from looplift.ir.grammar import (
    UNDEFINED, Append, Atom, Block, Carry, Const, If, Let, Loop, Op, Perform, Phi, Range, Require, Store, Var, While,
)  # fmt: skip


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
            found = _right_side(build, targets, value)
            for target in targets:
                assign(build, target, found)
        case ast.AnnAssign(target=target, value=value):
            if value is not None:
                assign(build, target, expressions.evaluate(build, value))
        case ast.AugAssign():
            _augmented(build, node)
        case ast.Expr(value=value):
            _expression(build, value)
        case ast.If():
            _branch(build, node)
        case ast.For():
            _for(build, node)
        case ast.While():
            _while(build, node)
        case ast.Assert(test=test):
            build.add(Require(expressions.evaluate_atom(build, test), "an assertion fails", build.span))
        case ast.Raise():
            build.add(Require(Const(False), "the loop raises an exception", build.span))
        case ast.With() | ast.Try():
            raise build.refuse("exception-handling", "'with' or 'try' inside a loop")
        case _:
            raise build.refuse("unsupported-syntax", f"'{type(node).__name__.lower()}' is not understood in a loop")


def _right_side(build: Builder, targets: list[ast.expr], value: ast.expr) -> Value:
    """``a, b = b, a`` evaluates all of the right side first; a tuple display needs no tuple."""
    return expressions.evaluate(build, value)


def assign(build: Builder, target: ast.expr, value: Value) -> None:
    match target:
        case ast.Name(id=name):
            build.env[name] = _named(build, name, value)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            for inner, item in zip(targets, _unpack(build, targets, value), strict=True):
                assign(build, inner, item)
        case ast.Subscript(value=owner, slice=index):
            ref = build.atom(expressions.evaluate(build, owner))
            if not isinstance(ref, Var):
                raise build.refuse("unsupported-value", "a store into something that is no tensor or list")
            build.add(Store(ref, expressions.subscript(build, index), build.atom(value), None, build.span))
        case ast.Attribute(attr=name):
            raise build.refuse("effect-order", f"the attribute '.{name}' is set inside the loop")
        case _:
            raise build.refuse("unsupported-syntax", "this target of an assignment is not understood")


def _named(build: Builder, name: str, value: Value) -> Value:
    """Give a temporary the author's name."""
    block = build.blocks[-1]
    if isinstance(value, Var) and block and isinstance(block[-1], Let) and block[-1].var is value:
        if value.hint in ("t", "items", "choice", "pair"):
            last = block.pop()
            value = build.fresh(name)
            build.add(Let(value, last.op, last.span))
    return value


def _unpack(build: Builder, targets: list[ast.expr], value: Value) -> tuple[Value, ...]:
    count = len(targets)
    if any(isinstance(target, ast.Starred) for target in targets):
        raise build.refuse("unsupported-syntax", "a starred target in an assignment")
    if isinstance(value, Const) and isinstance(value.value, tuple):
        value = Tup(tuple(map(Const, value.value)))
    if isinstance(value, Tup):
        if len(value.items) != count:
            raise build.refuse("requirement", f"{len(value.items)} values for {count} names")
        return value.items
    return tuple(build.emit("unpack", value, Const(k), Const(count)) for k in range(count))


def _augmented(build: Builder, node: ast.AugAssign) -> None:
    name = expressions.BINARY[type(node.op)]
    match node.target:
        case ast.Name(id=target):
            old = build.atom(build.lookup(target))
            value = expressions.evaluate_atom(build, node.value)
            if expressions._number(old) and expressions._number(value) and name in ("add", "sub", "mul"):
                build.env[target] = Const(expressions.fold(name, old.value, value.value))
            else:
                build.env[target] = build.emit(f"inplace.{name}", old, value, hint=target)
        case ast.Subscript(value=owner, slice=index):
            ref = build.atom(expressions.evaluate(build, owner))
            if not isinstance(ref, Var):
                raise build.refuse("unsupported-value", "a store into something that is no tensor or list")
            where = expressions.subscript(build, index)
            value = expressions.evaluate_atom(build, node.value)
            build.add(Store(ref, where, value, name, build.span))
        case _:
            raise build.refuse("effect-order", "an attribute is changed inside the loop")


def _expression(build: Builder, value: ast.expr) -> None:
    match value:
        case ast.Constant():
            return
        case ast.Call(func=ast.Attribute(value=owner, attr="append"), args=[item], keywords=[]):
            ref = build.atom(expressions.evaluate(build, owner))
            if isinstance(ref, Var):
                build.add(Append(ref, expressions.evaluate_atom(build, item), build.span))
                return
        case ast.Call(func=ast.Name(id="print"), args=args) if build.outer_value("print") is print:
            items = tuple(build.atom(v) for v in expressions._items(build, args))
            kwargs = tuple((k.arg, expressions.evaluate_atom(build, k.value)) for k in value.keywords)
            build.add(Perform(Op("builtin.print", items, kwargs), build.span))
            return
    expressions.evaluate(build, value)


# ---------------------------------------------------------------- joins


def join(build: Builder, then: Value, orelse: Value, hint: str, phis: list[Phi], extra: dict[str, list]) -> Value:
    """One value of two that reach the end of an If; tuples are joined item by item."""
    if then is orelse:
        return then
    if isinstance(then, Const) and isinstance(orelse, Const) and not then.path and not orelse.path:
        if type(then.value) is type(orelse.value) and then.value == orelse.value and then is not UNDEFINED:
            if orelse is not UNDEFINED and repr(then.value) == repr(orelse.value):
                return then
    if isinstance(then, Tup) and isinstance(orelse, Tup) and len(then.items) == len(orelse.items):
        pairs = zip(then.items, orelse.items, strict=True)
        return Tup(tuple(join(build, a, b, hint, phis, extra) for a, b in pairs))
    sides = {}
    for side, value in (("then", then), ("orelse", orelse)):
        if isinstance(value, Tup):
            raise build.refuse("mixed-kinds", f"'{hint}' is a tuple on one side of an 'if' and not on the other")
        sides[side] = value
    var = build.fresh(hint)
    phis.append(Phi(var, sides["then"], sides["orelse"]))
    return var


def _branch(build: Builder, node: ast.If) -> None:
    test = expressions.evaluate_atom(build, node.test)
    if isinstance(test, Const):
        translate_block(build, node.body if test.value else node.orelse)
        return
    span, before = build.span, dict(build.env)
    then_block = build.block(lambda: translate_block(build, node.body))
    then_env = dict(build.env)
    build.frame.env.clear()
    build.frame.env.update(before)
    else_block = build.block(lambda: translate_block(build, node.orelse))
    phis: list[Phi] = []
    extra: dict[str, list] = {"then": [], "orelse": []}
    for name in dict.fromkeys([*then_env, *build.env]):
        a, b = then_env.get(name, UNDEFINED), build.env.get(name, UNDEFINED)
        build.env[name] = join(build, a, b, name, phis, extra)
    build.add(If(test, then_block, else_block, tuple(phis), span))


# ---------------------------------------------------------------- loops


def assigned_names(statements: list[ast.stmt]) -> list[str]:
    """Names bound by statements, in order of appearance; comprehensions keep theirs to themselves."""
    names: dict[str, None] = {}

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp | ast.Lambda):
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.setdefault(node.id)
        for child in ast.iter_child_nodes(node):
            visit(child)

    for node in statements:
        visit(node)
    return list(names)


def _enter(build: Builder, names: list[str]) -> dict[str, tuple[Value, Value]]:
    """Open a loop: each name assigned in it gets a variable for its value at entry of the body."""

    def opened(name: str, value: Value) -> Value:
        return Tup(tuple(opened(name, item) for item in value.items)) if isinstance(value, Tup) else build.fresh(name)

    entries = {}
    for name in names:
        init = build.env.get(name, UNDEFINED)
        if init is UNDEFINED and name in build.frame.outer and build.frame.is_root:
            init = build.lookup(name)
        entries[name] = (init, opened(name, init))
        build.env[name] = entries[name][1]
    return entries


def _leave(build: Builder, entries: dict[str, tuple[Value, Value]]) -> tuple[Carry, ...]:
    """Close a loop: pair the values at entry with those at the end of the body, and bind those after it."""
    carries: list[Carry] = []

    def closed(name: str, init: Value, inside: Value, last: Value) -> Value:
        if isinstance(inside, Tup):
            if not isinstance(last, Tup) or len(last.items) != len(inside.items):
                raise build.refuse("mixed-kinds", f"'{name}' is a tuple before the loop and something else in it")
            return Tup(tuple(map(closed, [name] * len(inside.items), init.items, inside.items, last.items)))
        if isinstance(last, Tup):
            if init is UNDEFINED:
                return Tup(tuple(closed(name, UNDEFINED, build.fresh(name), item) for item in last.items))
            raise build.refuse("mixed-kinds", f"'{name}' becomes a tuple in the loop")
        if last is inside:
            carries.append(Carry(inside, init, inside, build.fresh(name)))
            return init if init is not UNDEFINED else carries.pop().after
        carries.append(Carry(inside, init, last, build.fresh(name)))
        return carries[-1].after

    for name, (init, inside) in entries.items():
        build.env[name] = closed(name, init, inside, build.env[name])
    return tuple(carries)


def _for(build: Builder, node: ast.For) -> None:
    span = build.span
    source = source_of_iterable(build, node.iter)
    stop = getattr(node, STOP_ATTRIBUTE, None)
    names = assigned_names([node])
    entries = _enter(build, names)
    index = build.fresh(_index_hint(node.target))
    outer_stop = build.env.get(stop) if stop else None
    assert stop is None or outer_stop is not None

    def body() -> None:
        assign(build, node.target, source.item(build, index))
        translate_block(build, node.body)

    block = build.block(body)
    _finish(build, source.domain, index, entries, block, stop, span)


def _index_hint(target: ast.expr) -> str:
    match target:
        case ast.Name(id=name):
            return name
        case ast.Tuple(elts=[ast.Name(id=name), *_]):
            return name
    return "k"


def _while(build: Builder, node: ast.While) -> None:
    span = build.span
    stop = getattr(node, STOP_ATTRIBUTE, None)
    entries = _enter(build, assigned_names([node]))
    found: dict[str, Atom] = {}
    test = build.block(lambda: found.update(cond=expressions.evaluate_atom(build, node.test)))
    block = build.block(lambda: translate_block(build, node.body))
    _finish(build, While(test, found["cond"]), None, entries, block, stop, span)


def _finish(build: Builder, domain, index, entries, block: Block, stop: str | None, span) -> None:
    flag = build.env[stop] if stop else None
    carries = _leave(build, entries)
    build.add(Loop(domain, index, carries, block, flag, span))


def loops_of(generators: list[ast.comprehension], body: list[ast.stmt]) -> ast.stmt:
    """The nested for statements that a comprehension stands for."""
    for generator in reversed(generators):
        for test in reversed(generator.ifs):
            body = [ast.If(test, body, [])]
        body = [ast.For(generator.target, generator.iter, body, [])]
    return body[0]


def translate_scoped(build: Builder, generators: list[ast.comprehension], statements: list[ast.stmt]) -> None:
    """Translate statements whose loop variables are private, as a comprehension's are."""
    private = assigned_names([ast.Expr(generator.target) for generator in generators])
    saved = {name: build.env.pop(name) for name in private if name in build.env}
    # the first iterable is evaluated outside of the comprehension's scope
    build.env.update({k: v for k, v in saved.items() if _reads(generators[0].iter, k)})
    translate_block(build, statements)
    for name in private:
        build.env.pop(name, None)
    build.env.update(saved)


def _reads(node: ast.expr, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


def comprehension(build: Builder, node: ast.ListComp | ast.GeneratorExp) -> Atom:
    """``[e for x in xs if c]`` is an empty list and a loop that appends."""
    name = f"_list_{next(build.counter)}"
    build.env[name] = build.emit("list", hint="items")
    append = ast.Expr(ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load()), [node.elt], []))
    loop = loops_of(node.generators, [append])
    ast.copy_location(loop, node)
    ast.fix_missing_locations(loop)
    translate_scoped(build, node.generators, [loop])
    return build.env.pop(name)


