"""Lists, dicts and functions that a region makes and whose parts are known one by one, item after item."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from looplift.base.data import dataclass
from looplift.base.syntax import nodes_of
from looplift.frontend import calls, comprehensions, dictionaries, expressions, unrolling
from looplift.frontend.cells import Cells, is_of_host, is_once_here, word_of
from looplift.frontend.names import annotations_of, assigned_names
from looplift.frontend.scope import (
    OPEN,
    PLAIN,
    STATIC,
    Builder,
    Frame,
    Late,
    Private,
    Restart,
    Site,
    Structure,
    Tup,
    Value,
)
from looplift.ir.grammar import TABLE, UNDEFINED, Atom, Const, Group, Let, Operand, Var


def key_of(value: Value) -> Hashable | None:
    """The key that a value is, if it is known now; None if not."""
    if isinstance(value, Tup):
        keys = tuple(map(key_of, value.items))
        return None if None in keys else keys
    if isinstance(value, Const) and isinstance(value.value, str | int | float) and not value.path:
        return value.value
    return None


@dataclass(eq=False)
class Shelf(Cells):
    """A list or dict: for each place in it a cell, which is bound and joined as a name is."""

    site: Site | None = None
    """Where a dict was made empty."""

    def cell_for(self, build: Builder, key: Hashable) -> str:
        if len(build.blocks) != self.depth:
            raise self.refusal(build, "made longer in some iterations only")
        return f"<{next(build.counter)}>{self.prefix.rpartition('>')[2]}_{word_of(key)}"

    def like(self, build: Builder, parts: Tup) -> Shelf:
        found = shelf_of(build, dict(zip(self.cells, parts.items, strict=True)))
        found.kind, found.prefix = self.kind, self.prefix
        return found

    def pop(self, build: Builder, key: Hashable) -> Value:
        if len(build.blocks) != self.depth or self.made is not None or self.is_handed_over or self.is_carried:
            raise self.refusal(build, "made shorter in some iterations only")
        value = self.value(build, key)
        del build.cells[self.cells.pop(key)]
        return value

    # ------------------------------------------------------------ as a whole

    def operand(self, build: Builder) -> Operand:
        if self.kind == "dict":
            return self.atom(build)
        return Group("list", tuple(calls.operand(build, value) for value in self.values(build)))

    def atom(self, build: Builder) -> Atom:
        if self.is_handed_over:
            raise self.refusal(build, "used as a whole after it was put into a list")
        if self.made is not None and any(block is self.made[0] for block in build.blocks):
            return self.made[1]
        items = [build.atom(value) for value in self.values(build)]
        if self.kind == "list":
            found = build.emit("list", *items, hint="items")
        else:
            keys = tuple(Const(key) for key in self.cells)
            found = build.emit("dict", Group("tuple", keys), *items, hint="table")
        self.made = (build.blocks[-1], found)
        return found

    # ------------------------------------------------------------ reads and writes

    def _key(self, build: Builder, key: Value) -> Hashable:
        known = key_of(key)
        if known is None:
            unrolling.must_be_known(build, key)
            if self.site is not None and not self.cells:
                restart(build, self.site, OPEN)
            raise self.refusal(build, "read or written at a place that is not known before the loop runs")
        if self.kind == "list":
            if not isinstance(known, int):
                raise build.refuse("requirement", f"{self.noun} has no place {known!r}")
            known = known + len(self.cells) if known < 0 else known
        return known

    def item(self, build: Builder, key: Value) -> Value:
        if self.kind == "list" and key_of(key) is None:
            unrolling.must_be_known(build, key)
            return build.emit("getitem", self.atom(build), build.atom(key))
        if (table := dictionaries.unknown_key(build, self, key)) is not None:
            return table.item(build, key)
        known = self._key(build, key)
        if known not in self.cells:
            filled = "" if self.cells or self.kind != "list" else " before the loop fills it, and places of it change"
            raise build.refuse("requirement", f"{self.noun} has no {known!r}{filled}")
        return self.value(build, known)

    def sliced(self, build: Builder, part: slice) -> Value:
        return shelf_of(build, self.values(build)[part])

    def store(self, build: Builder, key: Value, value: Value) -> None:
        known = self._key(build, key)
        if self.kind == "list" and known not in self.cells:
            raise build.refuse("requirement", f"{self.noun} has no place {known!r}")
        self.add(build, known, value)

    def unpacked(self, build: Builder, count: int | None) -> tuple[Value, ...]:
        return as_many(build, self.iterated(build), count)

    def length(self, build: Builder) -> Atom:
        return Const(len(self.cells))

    def contains(self, build: Builder, key: Value) -> Atom:
        if self.kind == "dict":
            return Const(self._key(build, key) in self.cells)
        return expressions.compare_one(build, "in_", key, Tup(tuple(self.values(build))))

    def iterated(self, build: Builder) -> list[Value]:
        return self.shown(build, "values" if self.kind == "list" else "keys")

    listed = iterated

    def running(self, build: Builder) -> list[Value]:
        return self.late("values" if self.kind == "list" else "keys")

    def shown(self, build: Builder, part: str) -> list[Value]:
        """Its keys, values or pairs of both now."""
        return [self._shown_at(build, key, part) for key in self.cells]

    def _shown_at(self, build: Builder, key: Hashable, part: str) -> Value:
        if part == "keys":
            return _key_value(key)
        value = self.value(build, key)
        return value if part == "values" else Tup((_key_value(key), value))

    def late(self, part: str) -> list[Value]:
        """The same for a loop over them: each is read when its iteration begins."""
        keys, cells = list(self.cells), list(self.cells.items())

        def check(build: Builder) -> None:
            if len(self.cells) != len(keys) or (self.kind == "dict" and list(self.cells.items()) != cells):
                raise self.refusal(build, "made longer or shorter while it is iterated")

        def item(key: Hashable) -> Late:
            def read(build: Builder) -> Value:
                check(build)
                return self._shown_at(build, key, part)

            return Late(read, check)

        return [item(key) for key in keys]

    def method(self, build: Builder, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        found = getattr(self, f"_{self.kind}_{name}", None)
        if found is None or kwargs:
            raise self.refusal(build, f"asked to '.{name}(...)'")
        try:
            inspect.signature(found).bind(build, *args)
        except TypeError:
            raise self.refusal(build, f"asked to '.{name}(...)' with these arguments") from None
        return found(build, *args)

    # ------------------------------------------------------------ methods of lists

    def _list_append(self, build: Builder, value: Value) -> Value:
        self.add(build, len(self.cells), value)
        return Const(None)

    def _list_extend(self, build: Builder, values: Value) -> Value:
        for value in _items(build, values):
            self.add(build, len(self.cells), value)
        return Const(None)

    def _list_insert(self, build: Builder, place: Value, value: Value) -> Value:
        known, values = key_of(place), self.values(build)
        if not isinstance(known, int):
            raise self.refusal(build, "changed at a place that is not known before the loop runs")
        values.insert(known, value)
        self._refill(build, values)
        return Const(None)

    def _list_pop(self, build: Builder, place: Value = Const(-1)) -> Value:
        values, known = self.values(build), self._key(build, place)
        if not isinstance(known, int) or not 0 <= known < len(values):
            raise build.refuse("requirement", f"{self.noun} has no place {known!r}")
        value = values.pop(known)
        self._refill(build, values)
        return value

    def _list_reverse(self, build: Builder) -> Value:
        self._refill(build, self.values(build)[::-1])
        return Const(None)

    def _list_copy(self, build: Builder) -> Value:
        return shelf_of(build, self.values(build))

    def _refill(self, build: Builder, values: list[Value]) -> None:
        for key in [*self.cells]:
            self.pop(build, key)
        for key, value in enumerate(values):
            self.add(build, key, value)

    # ------------------------------------------------------------ methods of dicts

    def _dict_get(self, build: Builder, key: Value, default: Value = Const(None)) -> Value:
        known = self._key(build, key)
        return self.value(build, known) if known in self.cells else default

    def _dict_setdefault(self, build: Builder, key: Value, default: Value = Const(None)) -> Value:
        known = self._key(build, key)
        if known not in self.cells:
            self.add(build, known, default)
        return self.value(build, known)

    def _dict_pop(self, build: Builder, key: Value) -> Value:
        known = self._key(build, key)
        if known not in self.cells:
            raise build.refuse("requirement", f"{self.noun} has no {known!r}")
        return self.pop(build, known)

    def _dict_keys(self, build: Builder) -> Value:
        return View("the keys of a dict", lambda build: self.shown(build, "keys"), lambda: self.late("keys"))

    def _dict_values(self, build: Builder) -> Value:
        return View("the values of a dict", lambda build: self.shown(build, "values"), lambda: self.late("values"))

    def _dict_items(self, build: Builder) -> Value:
        return View("the items of a dict", lambda build: self.shown(build, "items"), lambda: self.late("items"))

    def _dict_update(self, build: Builder, other: Value) -> Value:
        if not isinstance(other, Shelf) or other.kind != "dict":
            raise self.refusal(build, "updated from something that is not known item by item")
        for key in other.cells:
            self.add(build, key, other.value(build, key))
        return Const(None)

    def _dict_copy(self, build: Builder) -> Value:
        pairs = zip(self.cells, self.values(build), strict=True)
        return shelf_of(build, dict(pairs))


def _key_value(key: Hashable) -> Value:
    return Tup(tuple(map(_key_value, key))) if isinstance(key, tuple) else Const(key)


def _items(build: Builder, value: Value) -> list[Value]:
    if isinstance(value, Tup):
        return list(value.items)
    if isinstance(value, Structure):
        found = value.iterated(build)
        if isinstance(found, list):
            return found
    if isinstance(value, Var) and value in build.displays - build.lengthened:
        restart(build, build.sites[value], STATIC)
    raise build.refuse("unsupported-value", "a list is extended by something that is not known item by item")


def shelf_of(build: Builder, items: list[Value] | Mapping[Any, Value], hint: str = "") -> Shelf:
    """A new list or dict of these items."""
    kind = "list" if isinstance(items, list) else "dict"
    shelf = Shelf(kind, f"<{next(build.counter)}>{hint or kind}", len(build.blocks), block=build.blocks[-1])
    for key, value in enumerate(items) if isinstance(items, list) else items.items():
        shelf.add(build, key, value)
    return shelf


# ---------------------------------------------------------------- views and iterators


@dataclass(eq=False)
class View(Structure):
    """``d.keys()`` and the like: what it shows is what the dict holds when it is asked."""

    noun: str
    shown: Callable[[Builder], list[Value]]
    late: Callable[[], list[Value]]

    def iterated(self, build: Builder) -> list[Value]:
        return self.shown(build)

    listed = iterated

    def unpacked(self, build: Builder, count: int | None) -> tuple[Value, ...]:
        return as_many(build, self.iterated(build), count)

    def running(self, build: Builder) -> list[Value]:
        return self.late()

    def length(self, build: Builder) -> Atom:
        return Const(len(self.late()))

    def contains(self, build: Builder, key: Value) -> Atom:
        return expressions.compare_one(build, "in_", key, Tup(tuple(self.shown(build))))


@dataclass(eq=False)
class Once(Structure):
    """An iterator over values that are known one by one: whoever asks first takes them."""

    noun: str
    items: list[Value]
    block: list
    """The block that it was made in: in a loop inside, its items would be there once only."""
    is_taken: bool = False

    def iterated(self, build: Builder) -> list[Value]:
        if self.is_taken or not is_once_here(build, self.block):
            raise self.refusal(build, "iterated where it may have no items left")
        self.is_taken = True
        return self.items

    listed = iterated

    def unpacked(self, build: Builder, count: int | None) -> tuple[Value, ...]:
        return as_many(build, self.iterated(build), count)


def as_many(build: Builder, items: list[Value], count: int | None) -> tuple[Value, ...]:
    """The items, as many as there are names for them."""
    if count is not None and len(items) != count:
        raise build.refuse("requirement", f"{len(items)} values for {count} names")
    return tuple(items)


# ---------------------------------------------------------------- displays


def list_display(build: Builder, node: ast.AST, items: list[Value]) -> Value:
    """``[a, b]``: a list of the IR, unless its items are of the host or it was found out that they must be known."""
    site = build.site(node)
    form = build.forms.get(site)
    if form == STATIC or any(map(is_of_host, items)):
        return shelf_of(build, items)
    if form not in (None, PLAIN) and not items:
        from looplift.frontend.records import columns

        return columns(build, form, site)
    found = build.emit("list", *(build.atom(value) for value in items), hint="items")
    build.sites[found] = site
    if items:
        build.displays.add(found)
    return found


def dict_display(build: Builder, node: ast.Dict) -> Value:
    items: dict[Hashable, Value] = {}
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        if key_node is None:
            other = expressions.evaluate(build, value_node)
            if not isinstance(other, Shelf) or other.kind != "dict":
                raise build.refuse("unsupported-syntax", "'**' of something that is not known item by item")
            items.update({key: other.value(build, key) for key in other.cells})
            continue
        key = key_of(expressions.evaluate(build, key_node))
        if key is None:
            text = ast.unparse(key_node)
            raise build.refuse("unsupported-value", f"the key '{text}' of a dict is not known before the loop runs")
        items[key] = expressions.evaluate(build, value_node)
    return shelf_of(build, items) if items else empty_dict(build, node)


def empty_dict(build: Builder, node: ast.AST) -> Value:
    """``{}``: a dict that is known item by item, unless it was found out that its keys are not."""
    site = build.site(node)
    if build.forms.get(site) == OPEN:
        return build.emit(TABLE, hint="table")
    shelf = shelf_of(build, {})
    shelf.site = site
    return shelf


def dict_comprehension(build: Builder, node: ast.DictComp) -> Value:
    """``{k: v for x in xs}`` is an empty dict and a loop that stores."""
    name = f"_dict_{next(build.counter)}"
    build.env[name] = empty_dict(build, node)
    key, made = node.key, []
    if any(comprehensions.has_effects(build, part) for part in (node.key, node.value)):  # the key is made first
        first = f"_key_{next(build.counter)}"
        made = [ast.Assign([ast.Name(first, ast.Store())], node.key)]
        key = ast.Name(first, ast.Load())
    target = ast.Subscript(ast.Name(name, ast.Load()), key, ast.Store())
    loop = comprehensions.loops_of(node.generators, [*made, ast.Assign([target], node.value)])
    ast.copy_location(loop, node)
    ast.fix_missing_locations(loop)
    comprehensions.translate_scoped(build, node.generators, [loop])
    return build.env.pop(name)


def stored(build: Builder, ref: Var) -> None:
    """A store into a list of the IR that was made with its items: they are to be known one by one."""
    site = build.sites.get(ref)
    if site is not None and not (build.scattered and ref not in build.displays):
        restart(build, site, STATIC)


def append(build: Builder, ref: Var, value: Value) -> None:
    """An append to a list of the IR may show that the list needs another form: then the translation starts again."""
    site = build.sites.get(ref)
    if site is None:
        return
    is_made_here = any(isinstance(s, Let) and s.var is ref for s in build.blocks[-1])
    is_unrolled = build.rounds[: len(site.rounds)] == site.rounds and len(build.rounds) > len(site.rounds)
    if is_unrolled and is_made_here:  # elsewhere it grows in some iterations only
        restart(build, site, STATIC)
    if ref in build.displays and not is_made_here:
        build.lengthened.add(ref)
    if site in build.forms:
        return
    if isinstance(value, Tup | Shelf):
        from looplift.frontend.records import form_of, is_columnar, parts

        for part in parts(build, value):
            if isinstance(part, Var) and part in build.displays:
                restart(build, build.sites[part], STATIC)
        form = form_of(build, value)
        if form is not None and is_columnar(form):
            restart(build, site, form)
    elif isinstance(value, Var) and value in build.displays - build.lengthened:
        restart(build, build.sites[value], STATIC)
    if is_of_host(value) and not isinstance(value, Tup):
        restart(build, site, STATIC)


def restart(build: Builder, site: Site, form: object) -> None:
    """Start the translation again with a list of another form, unless it was found to need one before."""
    known = build.forms.get(site)
    if known is not None and (form != PLAIN or known in (STATIC, OPEN, PLAIN)):
        return
    build.forms[site] = form
    raise Restart


# ---------------------------------------------------------------- functions


@dataclass(eq=False)
class Closure(Structure):
    """A lambda or a function defined in the region: its names are those of the frame that it was made in."""

    node: ast.Lambda | ast.FunctionDef
    frame: Frame
    defaults: dict[str, Value]
    private: tuple[Private, ...]

    @property
    def noun(self) -> str:  # type: ignore[override]
        return "a lambda" if isinstance(self.node, ast.Lambda) else f"the function '{self.node.name}'"

    def call(self, build: Builder, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if self.node in build.calls:
            raise build.refuse("recursion", f"{self.noun} calls itself")
        if build.private[: len(self.private)] != self.private:
            raise self.refusal(build, "called outside of the comprehension that it was made in")
        env = self._bound(build, args, kwargs)
        body: list[ast.stmt] = [ast.Return(self.node.body)] if isinstance(self.node, ast.Lambda) else self.node.body
        for name in assigned_names(body):
            env.setdefault(name, UNDEFINED)
        outer = self.frame.outer
        frame = Frame(env, outer, file=self.frame.file, parent=self.frame, private=self.private)
        return calls.run_body(build, frame, self.node, body)

    def _bound(self, build: Builder, args: list[Value], kwargs: dict[str, Value]) -> dict[str, Value]:
        arguments = self.node.args
        names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
        only = [one.arg for one in arguments.kwonlyargs]
        env: dict[str, Value] = dict(zip(names, args, strict=False))
        if arguments.vararg is not None:
            env[arguments.vararg.arg] = Tup(tuple(args[len(names) :]))
        extra = {key: value for key, value in kwargs.items() if key not in (*names, *only)}
        named = {key: value for key, value in kwargs.items() if key not in extra}
        fits = len(args) <= len(names) or arguments.vararg is not None
        by_place = {one.arg for one in arguments.posonlyargs}
        if not fits or named.keys() & (env.keys() | by_place) or (extra and arguments.kwarg is None):
            raise build.refuse("unknown-call", f"the call of {self.noun} does not fit its parameters")
        env |= named
        if arguments.kwarg is not None:
            env[arguments.kwarg.arg] = shelf_of(build, {**extra})
        env = {**self.defaults, **env}
        if missing := [name for name in (*names, *only) if name not in env]:
            raise build.refuse("unknown-call", f"the call of {self.noun} gives no '{missing[0]}'")
        return env


def closure(build: Builder, node: ast.Lambda | ast.FunctionDef) -> Closure:
    """A function made now; its defaults are evaluated now."""
    inside = [node.body] if isinstance(node, ast.Lambda) else node.body
    kinds = (ast.Yield, ast.YieldFrom, ast.Await, ast.Nonlocal, ast.Global)
    if any(isinstance(child, kinds) for part in inside for child in nodes_of(part)):
        raise build.refuse("unsupported-syntax", "a function inside the loop with 'yield', 'nonlocal' or 'global'")
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        raise build.refuse("unsupported-syntax", f"the function '{node.name}' inside the loop has a decorator")
    _check_annotations(build, node)
    arguments = node.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    pairs = list(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults, strict=True))
    pairs += [(one.arg, value) for one, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value]
    defaults = {name: expressions.evaluate(build, value) for name, value in pairs}
    private = build.private
    while private and id(node) in private[-1].outside:
        private = private[:-1]
    return Closure(node, build.frame, defaults, private)


def _check_annotations(build: Builder, node: ast.Lambda | ast.FunctionDef) -> None:
    """Annotations are expressions that run with the definition: those that only name types do nothing."""
    for part in (part for note in annotations_of(node) for part in nodes_of(note)):
        if isinstance(part, ast.Name):
            build.lookup(part.id)
        elif not isinstance(part, ast.Constant | ast.Attribute | ast.Subscript | ast.Tuple):
            raise build.refuse("unsupported-syntax", "a function inside the loop has annotations that are computed")


@dataclass(eq=False)
class Partial(Structure):
    """``functools.partial(f, ...)`` made in the region."""

    function: Value
    args: list[Value]
    kwargs: dict[str, Value]
    noun = "a partial function"

    def call(self, build: Builder, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return calls.call_value(build, self.function, [*self.args, *args], {**self.kwargs, **kwargs})
