"""Statements of Python into statements of the IR: assignments, stores, branches and loops."""

from __future__ import annotations

import ast
from collections.abc import Callable

from looplift.base.data import dataclass
from looplift.base.errors import NotLiftable
from looplift.base.spans import Span
from looplift.frontend import (
    contexts,
    evident,
    expressions,
    growing,
    host_items,
    iteration,
    nests,
    peeling,
    rows,
    structures,
    unrolling,
)
from looplift.frontend.exits import STOP_ATTRIBUTE, binds
from looplift.frontend.names import COMPREHENSIONS
from looplift.frontend.scope import Branch, Builder, State, Structure, Tup, Value, hint_of
from looplift.frontend.syntax import children_of, nodes_of
from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Atom,
    Block,
    Carry,
    Const,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Perform,
    Phi,
    Range,
    Require,
    Statement,
    Store,
    Var,
    While,
    children,
    uses,
    walk,
)

TEMPORARY = ("t", "items", "choice", "pair")
"""Names of values that have none of their author's yet."""
GROWING = frozenset(("append", "extend", "insert", "pop", "remove", "clear", "add", "discard", "update", "popleft"))
IN_PLACE = GROWING | {"sort", "reverse", "fill", "setdefault", "popitem", "appendleft", "rotate"}


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
            _for(build, node)
        case ast.While():
            _while(build, node)
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
    found = expressions.evaluate(build, value)
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
            every = [leaf for item in items for leaf in leaves(item)]
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
            structures.stored(build, ref)
            place = expressions.subscript(build, index)
            build.add(Store(ref, place, build.atom(value), None, build.span, getattr(target, METHOD, "")))
        case ast.Attribute():
            raise build.refuse("effect-order", f"the attribute '{ast.unparse(target)}' is set inside the loop")
        case _:
            raise build.refuse("unsupported-syntax", "this target of an assignment is not understood")


def leaves(value: Value) -> list[Atom]:
    """The atoms of a value."""
    if isinstance(value, Structure):
        return []
    return [leaf for item in value.items for leaf in leaves(item)] if isinstance(value, Tup) else [value]


def _named(build: Builder, name: str, value: Value, made_from: int | None) -> Value:
    """Give a temporary that was made for this name its author's name."""
    block = build.blocks[-1]
    if isinstance(value, structures.Shelf):
        value.take_name(name)
    if made_from is None or len(block) <= made_from or not isinstance(value, Var) or value.hint not in TEMPORARY:
        return value
    last = block[-1]
    if not isinstance(last, Let) or last.var is not value:
        return value
    named = build.fresh(name)
    block[-1] = Let(named, last.op, last.span)
    if value in build.sites:
        build.sites[named] = build.sites.pop(value)
    if value in build.displays:
        build.displays.add(named)
    return named


def _unpack(build: Builder, targets: list[ast.expr], value: Value) -> tuple[Value, ...]:
    count = len(targets)
    starred = [k for k, target in enumerate(targets) if isinstance(target, ast.Starred)]
    if starred:
        return _unpack_starred(build, count, starred[0], value)
    if isinstance(value, Structure):
        return value.unpacked(build, count)
    if (known := host_items.items_of(build, value)) is not None:
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
            found = expressions.evaluate(build, node.value)
            if name == "add" and isinstance(before, Tup) and isinstance(found, Tup):
                build.env[target] = Tup(before.items + found.items)
                return
            if isinstance(before, structures.Shelf) and name == "add":
                before.method(build, "extend", [found], {})
                return
            old, value = build.atom(before), build.atom(found)
            known = expressions.folded(name, old, value)
            build.env[target] = known or build.emit(f"inplace.{name}", old, value, hint=target)
        case ast.Subscript(value=owner, slice=index):
            into = expressions.evaluate(build, owner)
            if isinstance(into, Structure):
                _refuse_method(build, node.target, into)
                _augmented_item(build, name, into, expressions.evaluate(build, index), node.value)
                return
            ref = build.atom(into)
            if not isinstance(ref, Var):
                raise build.refuse("unsupported-value", "a store into something that is no tensor or list")
            structures.stored(build, ref)
            method = getattr(node.target, METHOD, "")
            _augmented_store(build, name, ref, expressions.subscript(build, index), node.value, method)
        case _:
            raise build.refuse("effect-order", f"the attribute '{ast.unparse(node.target)}' is changed inside the loop")


def _augmented_item(build: Builder, name: str, owner: Structure, key: Value, node: ast.expr) -> None:
    """``table[key] += e`` of a list or dict that is known item by item."""
    before = owner.item(build, key)
    found = expressions.evaluate(build, node)
    if isinstance(before, structures.Shelf) and name == "add":
        before.method(build, "extend", [found], {})
        return
    old, value = build.atom(before), build.atom(found)
    known = expressions.folded(name, old, value)
    owner.store(build, key, known or build.emit(f"inplace.{name}", old, value))


def _refuse_method(build: Builder, target: ast.expr, owner: Structure) -> None:
    if method := getattr(target, METHOD, ""):
        raise owner.refusal(build, f"changed by '.{method}(...)' of one of its items")


def _augmented_store(build: Builder, name: str, ref: Var, where: Operand, node: ast.expr, method: str) -> None:
    """``ref[where] += e`` reads the place before ``e``, which matters if ``e`` has effects."""
    block = build.blocks[-1]
    position = len(block)
    value = expressions.evaluate_atom(build, node)
    if not any(map(_has_effect, block[position:])):
        build.add(Store(ref, where, value, name, build.span, method))
        return
    old = build.fresh("old")
    block.insert(position, Let(old, Op("getitem", (ref, where)), build.span))
    build.add(Store(ref, where, build.emit(f"inplace.{name}", old, value), None, build.span, method and "+"))


def _has_effect(statement: Statement) -> bool:
    """Whether something that a later read may see is changed."""
    if any(_has_effect(inner) for block in children(statement) for inner in block):
        return True
    if not isinstance(statement, Let):
        return isinstance(statement, Store | Append | Perform)
    prefix, _, method = statement.op.name.partition(".")
    if prefix in ("call", "inplace"):
        return True
    return prefix == "method" and (method in IN_PLACE or (method.endswith("_") and not method.endswith("__")))


METHOD = "looplift_method"
"""The attribute of a target that holds the method which its author called on it."""
UPDATES = {"add_": ast.Add, "sub_": ast.Sub, "mul_": ast.Mult, "div_": ast.Div}


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
        case ast.Call(func=ast.Name(id="print"), args=args, keywords=keywords) if build.is_builtin("print"):
            items = tuple(build.atom(v) for v in expressions._items(build, args))
            if any(keyword.arg is None for keyword in keywords):
                raise build.refuse("unsupported-syntax", "'**' in a call inside a loop")
            kwargs = tuple((str(k.arg), expressions.evaluate_atom(build, k.value)) for k in keywords)
            build.add(Perform(Op("builtin.print", items, kwargs), build.span))
            return
    expressions.evaluate(build, value)


# ---------------------------------------------------------------- joins


def join(build: Builder, then: Value, orelse: Value, hint: str, phis: list[Phi]) -> Value:
    """One value of two that reach the end of an If; tuples are joined item by item."""
    if then is orelse:
        return then
    if any(isinstance(side, Structure) and not isinstance(side, rows.Row) for side in (then, orelse)):
        if UNDEFINED in (then, orelse):
            return UNDEFINED
        raise build.refuse("mixed-kinds", f"'{hint}' is another list, dict or function on each side of an 'if'")
    then, orelse = (build.atom(side) if isinstance(side, Structure) else side for side in (then, orelse))
    if isinstance(then, Const) and isinstance(orelse, Const) and not then.path and not orelse.path:
        if type(then.value) is type(orelse.value) and then.value == orelse.value:
            if repr(then.value) == repr(orelse.value):
                return then
    if isinstance(then, Tup) and isinstance(orelse, Tup) and len(then.items) == len(orelse.items):
        pairs = zip(then.items, orelse.items, strict=True)
        return Tup(tuple(join(build, a, b, hint, phis) for a, b in pairs))
    if isinstance(then, Tup):
        if (other := _unbound_like(build, then, orelse)) is not None:
            return join(build, then, other, hint, phis)
    elif isinstance(orelse, Tup):
        if (other := _unbound_like(build, orelse, then)) is not None:
            return join(build, other, orelse, hint, phis)
    if isinstance(then, Tup) or isinstance(orelse, Tup):
        raise build.refuse("mixed-kinds", f"'{hint}' is a tuple on one side of an 'if' and not on the other")
    var = build.fresh(hint)
    phis.append(Phi(var, then, orelse))
    return var


class BecomesTuple(Exception):
    """A name that no path has bound before a loop is bound to a tuple in it: its items are carried one by one."""

    def __init__(self, var: Var, count: int):
        self.var, self.count = var, count


def _unbound_like(build: Builder, shape: Tup, value: Value) -> Tup | None:
    """A tuple of as many items that are not bound, for a value that is not bound."""
    if value is UNDEFINED:
        return Tup((UNDEFINED,) * len(shape.items))
    if isinstance(value, Var) and value in build.unbound_at_entry:
        raise BecomesTuple(value, len(shape.items))
    return None


def _branch(build: Builder, node: ast.If) -> None:
    test = expressions.evaluate_atom(build, node.test)
    if isinstance(test, Const):
        translate_block(build, node.body if test.value else node.orelse)
        return
    branch(build, test, lambda: translate_block(build, node.body), lambda: translate_block(build, node.orelse))


def branch(build: Builder, test: Atom, then: Callable[[], None], orelse: Callable[[], None]) -> None:
    """An If of the IR: what names and items hold on its two sides is joined."""
    span, before = build.span, build.state()
    then_block = build.block(then, Branch())
    then_state = build.state()
    build.restore(before)
    else_block = build.block(orelse, Branch())
    else_state = build.state()
    build.restore(before)
    phis: list[Phi] = []
    join_states(build, then_state, else_state, phis)
    build.add(If(test, then_block, else_block, tuple(phis), span))


def join_states(build: Builder, then: State, orelse: State, phis: list[Phi]) -> None:
    """What names and items hold after either of two sides."""
    for held, *sides in zip((build.env, build.cells), then, orelse, strict=True):
        joined: dict[str, Value] = {}
        for name in dict.fromkeys([*sides[0], *sides[1]]):
            first, second = (side[name] if name in side else build.entry_value(name) for side in sides)
            joined[name] = join(build, first, second, hint_of(name), phis)
        held.update(joined)


# ---------------------------------------------------------------- loops


def assigned_names(statements: list[ast.stmt]) -> list[str]:
    """Names bound or deleted by statements, in order of appearance; comprehensions keep theirs to themselves, but for
    what ``:=`` binds."""
    names: dict[str, None] = {}

    def visit(node: ast.AST, private: bool) -> None:
        if isinstance(node, ast.Lambda):
            return
        if isinstance(node, ast.FunctionDef):
            names.setdefault(node.name)
            return
        if isinstance(node, ast.NamedExpr):
            names.setdefault(node.target.id)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and not private:
            names.setdefault(node.id)
        for child in children_of(node):
            visit(child, private or isinstance(node, COMPREHENSIONS))

    for node in statements:
        visit(node, False)
    return list(names)


def updated_names(loop: ast.For | ast.While) -> list[str]:
    """The names that a loop may give what a method made of their value in place: ``x`` in ``x.add_(v)``."""
    names: dict[str, None] = {}
    for node in nodes_of(loop):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr))) if attr in UPDATES:
                names.setdefault(name)
    return list(names)


Place = tuple[str | int, ...]
"""A name and the positions in its tuple, outermost first."""


@dataclass
class _Entry:
    """The names that a loop assigns: their values before it and at entry of its body."""

    init: dict[str, Value]
    inside: dict[str, Value]
    places: dict[Var, Place]
    """Of the variables that are not bound before the loop."""


def _enter(build: Builder, names: list[str], counts: dict[Place, int], hidden: set[str]) -> _Entry:
    """Open a loop: each name assigned in it gets a variable for its value at entry of the body.

    ``hidden`` names hold a list, dict or function that the body replaces: they are bound in each iteration anew.
    """
    entry = _Entry({}, {}, {})

    def shaped(place: Place, value: Value) -> Value:
        if value is UNDEFINED and place in counts:
            value = Tup((UNDEFINED,) * counts[place])
        if isinstance(value, Tup):
            return Tup(tuple(shaped((*place, k), item) for k, item in enumerate(value.items)))
        return value

    def opened(place: Place, value: Value) -> Value:
        if isinstance(value, Tup):
            return Tup(tuple(opened((*place, k), item) for k, item in enumerate(value.items)))
        if isinstance(value, Structure):
            return value
        var = build.fresh(hint_of(str(place[0])))
        if place[0] in build.settled:
            build.certain |= {var}
        build.entered[var] = value
        if value is UNDEFINED or value in build.unbound_at_entry:
            entry.places[var] = place
        return var

    for name in names:
        init = shaped((name,), build.entry_value(name))
        if name in hidden:
            init = UNDEFINED
        entry.init[name], entry.inside[name] = init, opened((name,), init)
        build.held(name)[name] = entry.inside[name]
    return entry


def _leave(build: Builder, entry: _Entry, read: set[Atom]) -> tuple[Carry, ...]:
    """Close a loop: pair the values at entry with those at the end of the body, and bind those after it."""
    carries: list[Carry] = []

    def closed(name: str, init: Value, inside: Value, last: Value) -> Value:
        if isinstance(inside, Structure):
            if last is not inside:
                raise Rebound(name)
            return init
        if isinstance(last, Structure) and not isinstance(last, rows.Row):
            if inside in read or (isinstance(inside, Tup) or init is not UNDEFINED):
                raise build.refuse("mixed-kinds", f"'{hint_of(name)}' becomes {last.noun} in the loop")
            return UNDEFINED
        if isinstance(last, rows.Row):
            last = last.whole
        if isinstance(inside, Tup) and isinstance(init, Tup):
            if not isinstance(last, Tup) or len(last.items) != len(inside.items):
                raise build.refuse("mixed-kinds", f"'{name}' is a tuple before the loop and something else in it")
            return Tup(tuple(map(closed, [name] * len(inside.items), init.items, inside.items, last.items)))
        assert isinstance(inside, Var) and not isinstance(init, Tup)
        if isinstance(last, Tup):
            _unbound_like(build, last, inside)
            raise build.refuse("mixed-kinds", f"'{name}' becomes a tuple in the loop")
        if last is UNDEFINED and inside not in read:
            return UNDEFINED
        if last is UNDEFINED:
            raise build.refuse("unsupported-syntax", f"'{name}' may not be bound here")
        if last is inside and init is UNDEFINED:
            if inside in read:
                raise build.refuse("unsupported-syntax", f"'{name}' may not be bound here")
            return UNDEFINED
        assert not isinstance(init, Structure)
        carries.append(Carry(inside, init, last, build.fresh(hint_of(name))))
        return init if last is inside else carries[-1].after

    ends = {name: build.held(name)[name] for name in entry.init}
    read |= {leaf for name, end in ends.items() for leaf in leaves(end) if leaf not in leaves(entry.inside[name])}
    for name, init in entry.init.items():
        build.held(name)[name] = closed(name, init, entry.inside[name], ends[name])
    return tuple(carries)


def _loop(build: Builder, names: list[str], translate_loop: Callable[[_Entry], None]) -> None:
    """Translate a loop; again, where a name that is not bound before it turns out to be bound to a tuple in it."""
    counts: dict[Place, int] = {}
    hidden: set[str] = set()
    before, depth, length, unbound = build.state(), len(build.blocks), len(build.blocks[-1]), build.unbound_at_entry
    while True:
        entry = _enter(build, names, counts, hidden)
        build.unbound_at_entry = unbound | entry.places.keys()
        try:
            translate_loop(entry)
            changed = [name for name in before[1] if name not in entry.init and _moved(build, name, before[1][name])]
            if not changed:
                return
            names = [*names, *changed]
        except Rebound as found:
            hidden.add(found.name)
        except BecomesTuple as found:
            place = entry.places.get(found.var)
            if place is None or _outer_value(entry.init[str(place[0])], place) is not UNDEFINED:
                outer = found.var if place is None else _outer_value(entry.init[str(place[0])], place)
                assert isinstance(outer, Var)
                raise BecomesTuple(outer, found.count) from None
            counts[place] = found.count
        finally:
            build.unbound_at_entry = unbound
        del build.blocks[depth:], build.blocks[-1][length:]
        build.restore(before)


class Rebound(Exception):
    """A name that holds a list, dict or function before a loop is bound to another one in it."""

    def __init__(self, name: str):
        self.name = name


def _moved(build: Builder, name: str, before: Value) -> bool:
    """Whether an item of a static list or dict was changed."""
    return build.cells.get(name, before) is not before


def _outer_value(value: Value, place: Place) -> Value:
    """What a variable of a loop holds before it."""
    for position in place[1:]:
        assert isinstance(value, Tup)
        value = value.items[int(position)]
    return value


def _for(build: Builder, node: ast.For) -> None:
    span = build.span
    if not getattr(node, STOP_ATTRIBUTE, None):
        node = nests.nested(build, node)
    source = iteration.source_of_iterable(build, node.iter)
    site = build.site(node)
    if isinstance(source, iteration.Source) and build.forms.get(site) == structures.STATIC:
        source = unrolling.positions(build, source)
    if isinstance(source, list):
        unrolling.unroll(build, node, source)
    elif not peeling.peeled(build, node, source, lambda rest: _iterated(build, node, rest, span)):
        _iterated(build, node, source, span)


def _iterated(build: Builder, node: ast.For, source: iteration.Source, span: Span) -> None:
    """A loop of the IR over what a ``for`` iterates."""
    site = build.site(node)

    def translated(entry: _Entry) -> None:
        index = build.fresh(_index_hint(node.target))
        build.ranges[index] = site, source.domain

        def body() -> None:
            assign(build, node.target, source.item(build, index), 0)
            translate_block(build, node.body)

        block = build.block(body)
        loop = _finish(build, source.domain, index, entry, block, node, span)
        if set(source.sequences) & set(_lengthened(loop)):
            raise NotLiftable("unsupported-iterable", "the list that is iterated changes its length meanwhile", span)

    _loop(build, growing.rebound(build, node), translated)


def _index_hint(target: ast.expr) -> str:
    match target:
        case ast.Name(id=name):
            return name
        case ast.Tuple(elts=[ast.Name(id=name), *_]):
            return name
    return "k"


def _lengthened(loop: Loop) -> list[Atom]:
    """Lists that the body of a loop makes longer or shorter, under the names that they have before it too."""
    found: list[Atom] = []
    earlier = {
        carry.inside: carry.init for inner in (loop, *walk(loop.body)) for carry in getattr(inner, "carries", ())
    }
    for statement in walk(loop.body):
        match statement:
            case Append(ref=ref):
                found.append(ref)
            case Let(op=op) | Perform(op=op) if op.name.removeprefix("method.") in GROWING and op.args:
                found += [arg for arg in op.args[:1] if isinstance(arg, Var)]
            case Let(op=Op(name="inplace.add", args=[ref, *_])):
                found += [ref] if isinstance(ref, Var) else []
    for ref in found:
        if (before := earlier.get(ref)) is not None and before not in found:  # type: ignore[arg-type]
            found.append(before)
    return found


def _while(build: Builder, node: ast.While) -> None:
    span = build.span
    if binds(node.test):
        raise build.refuse("unsupported-syntax", "a 'while' with an 'else' whose test binds a name")

    def translated(entry: _Entry) -> None:
        found: dict[str, Atom] = {}
        test = build.block(lambda: found.update(cond=expressions.evaluate_atom(build, node.test)))
        block = build.block(lambda: translate_block(build, node.body))
        _finish(build, While(test, found["cond"]), None, entry, block, node, span)

    _loop(build, growing.rebound(build, node), translated)


def _finish(
    build: Builder,
    domain: Range | While,
    index: Var | None,
    entry: _Entry,
    block: Block,
    node: ast.For | ast.While,
    span: Span,
) -> Loop:
    stop: str | None = getattr(node, STOP_ATTRIBUTE, None)
    flag = build.atom(build.env[stop]) if stop else None
    read = {
        atom
        for part in (block, *([domain.block] if isinstance(domain, While) else []))
        for s in walk(part)
        for atom in uses(s)
    }
    loop = Loop(domain, index, _leave(build, entry, read), block, flag, span)
    build.add(loop)
    return loop


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
    outside, build.private = build.private, (*build.private, object())
    translate_block(build, statements)
    build.private = outside
    for name in private:
        build.env.pop(name, None)
    build.env.update(saved)


def _reads(node: ast.expr, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in nodes_of(node))


def comprehension(build: Builder, node: ast.ListComp | ast.GeneratorExp) -> Value:
    """``[e for x in xs if c]`` is an empty list and a loop that appends."""
    name = f"_list_{next(build.counter)}"
    build.env[name] = structures.list_display(build, node, [])
    append = ast.Expr(ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load()), [node.elt], []))
    loop = loops_of(node.generators, [append])
    ast.copy_location(loop, node)
    ast.fix_missing_locations(loop)
    translate_scoped(build, node.generators, [loop])
    return build.env.pop(name)
