"""The state of one translation: frames of names, blocks under construction, parameters, and static values."""

from __future__ import annotations

import ast
import builtins
import collections
import itertools
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from looplift.base.classes import is_called_object
from looplift.base.data import dataclass, field
from looplift.base.declared import Read
from looplift.base.errors import NotLiftable
from looplift.base.spans import NOWHERE, Span, span_of
from looplift.frontend.names import Numbers
from looplift.ir.grammar import (
    UNDEFINED,
    UNRECORDED,
    Atom,
    Block,
    Const,
    Let,
    Op,
    Operand,
    Range,
    Statement,
    Store,
    Var,
)


@dataclass(frozen=True)
class Tup:
    """A tuple whose items are known one by one; it never reaches the IR unless it must."""

    items: tuple[Value, ...]


class Structure:
    """A value of the host with parts that are known one by one: a list, a dict, an object, a function.

    It never reaches the IR itself. What a kind of structure does not support is refused in words of ``noun``.
    """

    noun = "an object"
    is_itself = True
    """Whether the object is this structure, and another structure another object."""

    def refusal(self, build: Builder, doing: str) -> NotLiftable:
        return build.refuse("unsupported-value", f"{self.noun} is {doing}")

    def atom(self, build: Builder) -> Atom:
        """The structure as one value of the IR."""
        raise self.refusal(build, "used as a whole inside the loop")

    def operand(self, build: Builder) -> Operand:
        """The structure as an argument of an operation."""
        return self.atom(build)

    def attribute(self, build: Builder, name: str) -> Value:
        raise self.refusal(build, f"asked for '.{name}'")

    def item(self, build: Builder, key: Value) -> Value:
        raise self.refusal(build, "subscripted")

    def sliced(self, build: Builder, part: slice) -> Value:
        """Some of its items, at places that are known now."""
        raise self.refusal(build, "sliced")

    def store(self, build: Builder, key: Value, value: Value) -> None:
        raise self.refusal(build, "written to")

    def unpacked(self, build: Builder, count: int | None) -> tuple[Value, ...]:
        """Its items, ``count`` of them if that is given."""
        raise self.refusal(build, "unpacked")

    def length(self, build: Builder) -> Atom:
        raise self.refusal(build, "asked for its length")

    def contains(self, build: Builder, key: Value) -> Atom:
        raise self.refusal(build, "searched by 'in'")

    def iterated(self, build: Builder) -> Any:
        """What a loop over it runs through: a Source, or values one by one."""
        raise build.refuse("unsupported-iterable", f"{self.noun} is iterated")

    def running(self, build: Builder) -> Any:
        """The same for a loop whose body may change what is iterated."""
        return self.iterated(build)

    def listed(self, build: Builder) -> list[Value] | None:
        """Its items now, if they are known one by one."""
        return None

    def method(self, build: Builder, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        raise self.refusal(build, f"asked to '.{name}(...)'")

    def call(self, build: Builder, args: list[Value], kwargs: dict[str, Value]) -> Value:
        raise build.refuse("unknown-call", f"{self.noun} is called")


@dataclass(eq=False)
class Parted(Structure):
    """A value that is carried as a tuple of its parts: a complex number, or a tuple that may be None."""

    parts: Tup


@dataclass(eq=False)
class Late(Structure):
    """An item of a loop that is translated item by item: it is read when its iteration begins.

    ``finish`` refuses at the end of the loop what has changed so that other iterations would have been run.
    """

    read: Callable[[Builder], Value]
    finish: Callable[[Builder], None] = lambda build: None
    noun = "an item of what is iterated"


Value = Atom | Tup | Structure
State = tuple[dict[str, Value], dict[str, Value]]
"""What names and items of static lists and dicts hold."""


STATIC = "static"
"""The form of a list, or of the range of a loop, whose items are known one by one."""


OPEN = "open"
"""The form of a dict whose keys are not known one by one."""


PLAIN = "plain"
"""The form of a list that holds lists or dicts as objects of their own."""


class Restart(Exception):
    """The translation begins again, with more known about a place that makes a list or dict."""


def _items_in(value: Any) -> Iterator[Any]:
    """What a value holds in containers at any depth, or the value."""
    if isinstance(value, (dict, list, tuple)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _items_in(item)
    else:
        yield value


@dataclass(frozen=True)
class Replaced:
    """The tensors that stand for those of modules while one is called: by the module's ``id`` and the name."""

    values: dict[tuple[int, str], Value]
    hidden: frozenset[int]
    """The ``id`` of each tensor that another stands for."""


class Differentiates(Restart):
    """The translation begins again, with modules as functions of their parameters."""


@dataclass
class Frame:
    """The names of one function being translated; ``outer`` looks up what is not local."""

    env: dict[str, Value]
    outer: Mapping[str, Any]
    is_root: bool = False
    file: str = ""
    cells_are_guarded: bool = False
    """Whether a guard of the path that leads to the function covers what it closes over."""
    path: str = ""
    """By which the region reaches the function, closure and all."""
    parent: Frame | None = None
    """The frame that a function inside the region was made in."""
    private: tuple[Private, ...] = ()
    """The comprehensions that such a function was made in, whose names it sees."""


@dataclass(eq=False)
class Private:
    """A comprehension that is translated now, whose names end with it."""

    frame: Frame
    hidden: dict[str, Value | None]
    """What each of its names was before, in the frame that it stands in; None of what was not bound."""
    outside: frozenset[int]
    """The functions of its first iterable, by identity, which are made outside of it."""


@dataclass
class Passes:
    """What backward passes of the region leave in ``.grad``: found out on the way, then restarted."""

    trains: bool = False
    """Whether an optimizer takes steps between them: they are none of a loop over gradients."""
    is_used: bool = False
    """Whether there is one, or something that resets gradients."""
    leaves: dict[str, Any] = field(default_factory=dict)
    """The tensors whose gradients the region sets, by their paths."""
    sums: set[str] = field(default_factory=set)
    """The paths of those that each pass adds to."""
    made: dict[Any, str] = field(default_factory=dict)
    """Leaves that the region makes, with the cells of their gradients."""
    given: set[Any] = field(default_factory=set)
    """The gradients, which nothing may change in place."""
    inputs: set[Any] = field(default_factory=set)
    """What the passes go back through, which nothing may change either."""


@dataclass(frozen=True, eq=False)
class Outer(Mapping[str, Any]):
    """What a function sees beyond its locals, now: its closure over its module's globals."""

    names: dict[str, Any]
    cells: dict[str, types.CellType]

    def __getitem__(self, name: str) -> Any:
        if name in self.cells:
            try:
                return self.cells[name].cell_contents
            except ValueError:
                raise KeyError(name) from None
        return self.names[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in {**self.names, **self.cells} if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True)
class Watched:
    """A value that a variant was made for and that no path of the region reaches: ``owner`` then ``access`` reads it.

    Without an owner ``access`` is an expression in the region's names. With a ``path`` the value is what the region
    reaches by it.
    """

    owner: Any
    access: str
    value: Any
    path: str = ""


DICTS = (dict, collections.OrderedDict, collections.defaultdict)


def is_none(value: Value) -> bool:
    """Whether a value is the literal None."""
    return isinstance(value, Const) and value.value is None and not value.path


def is_unbound(value: Value) -> bool:
    """Whether a value, or an item of a tuple, is one that no path has bound."""
    return any(map(is_unbound, value.items)) if isinstance(value, Tup) else value is UNDEFINED


def is_cell(name: str) -> bool:
    """Whether a name is that of an item of a static list or dict: ``<3>sums_a``."""
    return name.startswith("<")


def hint_of(name: str) -> str:
    """How a variable for a name or an item is called."""
    return name.rpartition(">")[2]


def shown(name: str) -> str:
    """How a message calls a name, an item or an attribute: ``<self.>h`` is ``self.h``."""
    owner, _, own = name.rpartition(">")
    return f"{owner[1:]}{own}" if owner.endswith(".") else own


WITHOUT_HISTORY = frozenset(
    """tuple list table dict mapping zipped zipped_lists zipped_dicts tuple_or_none iter_len not in_ not_in
    builtin.len builtin.int builtin.float builtin.bool builtin.max builtin.min method.item method.size method.dim
    method.numel""".split()
)
"""Operations whose results are no tensors, or were there before."""
MISSING = object()


LITERALS = (bool, int, float, str, bytes)
"""Types of values that a text spells; those that inherit from them say themselves what they are."""


def is_static(value: Any) -> bool:
    """Values that a variant is made for: modules, functions, classes, network modules, dtypes, flags and strings."""
    import torch

    if value is None or isinstance(value, (bool, str, bytes, type, types.ModuleType, torch.nn.Module)):
        return True
    if isinstance(value, (torch.dtype, torch.device, torch.layout, torch.memory_format)) or value is Ellipsis:
        return True
    return callable(value) and not isinstance(value, torch.Tensor) and not is_called_object(value)


def spelled(value: Any, path: str) -> Const:
    """A static value that is known by itself, whatever names lead to it: emitted code spells it by ``path``."""
    import torch

    if value is None or value is Ellipsis or type(value) in LITERALS:
        return Const(value)
    return Const(value, str(value) if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)) else path)


@dataclass(frozen=True)
class Site:
    """A place in the source, by way of the calls and unrolled iterations that lead to it."""

    file: str
    span: Span
    rounds: tuple[int, ...]
    calls: tuple[int, ...]


class Branch(list[Statement]):
    """The statements of one side of an If: they run once at most for each time that what is around them runs."""


@dataclass
class Builder:
    """What the pieces of the translation share."""

    values: Mapping[str, Any]
    frames: list[Frame] = field(default_factory=list)
    blocks: list[list[Statement]] = field(default_factory=list)
    params: dict[str, Var] = field(default_factory=dict)
    param_values: dict[str, Any] = field(default_factory=dict)
    guards: list[tuple[str, Any]] = field(default_factory=list)
    foreign: dict[tuple[int, str], Watched] = field(default_factory=dict)
    reads: list[Read] = field(default_factory=list)
    """The attributes that are read of what the region is given, and whose reading must run no code."""
    strangers: set[Const] = field(default_factory=set)
    """Constants whose path is one of another namespace: nothing is reached by it in the region's."""
    in_guarded_cells: set[Const] = field(default_factory=set)
    modules: dict[str, Any] = field(default_factory=dict)
    counter: Numbers = field(default_factory=Numbers)
    calls: list[Any] = field(default_factory=list)
    descents: list[Any] = field(default_factory=list)
    """Of the functions among them that are translated in place: what is known of their arguments; see ``descents``."""
    descended: int = 0
    """How many calls were translated of functions that call themselves."""
    span: Span = NOWHERE
    unbound_at_entry: frozenset[Value] = frozenset()
    """Variables of the open loops for names that no path has bound before the outermost."""
    none_at_entry: dict[Value, Var] = field(default_factory=dict)
    """Variables for names that are None before the outermost of the open loops; what each is at entry of its loop."""
    bound: frozenset[str] = frozenset()
    """Every name that the region's own statements bind."""
    cells: dict[str, Value] = field(default_factory=dict)
    """What the items of static lists and dicts hold now."""
    forms: dict[Site, Any] = field(default_factory=dict)
    """Which lists are known item by item (STATIC), or hold tuples of a shape: found out on the way, then restarted."""
    attributes: dict[tuple[str, str], Any] = field(default_factory=dict)
    """The attributes that the region sets, by the paths of their objects, with these: found out on the way."""
    late: dict[type, set[str]] = field(default_factory=dict)
    """The attributes that objects of a class get in a branch or loop first: found out on the way, then restarted."""
    shared: list[frozenset[str]] = field(default_factory=list)
    """The cells of the lists, dicts and objects to which a name turned out to be bound that was bound to others."""
    grown: dict[str, Var | None] = field(default_factory=dict)
    """The paths of lists that objects hold and the region appends to, with the lists of its own for what is new."""
    fixed: set[str] = field(default_factory=set)
    """The paths of numbers of the caller for whose values alone the translation holds: found out on the way, too."""
    sites: dict[Var, Site] = field(default_factory=dict)
    """Where the lists of the IR were made, and at which depth."""
    displays: set[Var] = field(default_factory=set)
    """Those of them that were made with items."""
    lengthened: set[Var] = field(default_factory=set)
    """Those with items that a loop or branch makes longer."""
    ranges: dict[Var, tuple[Site, Range]] = field(default_factory=dict)
    """Where the loops over ranges stand, by their index."""
    rounds: tuple[int, ...] = ()
    """The iterations of the unrolled loops that are translated now, outermost first."""
    entered: dict[Var, Value] = field(default_factory=dict)
    """What the variables of loops hold before them."""
    private: tuple[Private, ...] = ()
    """The comprehensions that are translated now, outermost first."""
    unrolled: dict[Span, int] = field(default_factory=dict)
    """How many iterations the loops have that were unrolled."""
    markers: bool = False
    """Whether iterations that give names their first values stand in front of their loops."""
    meets: bool = False
    """Whether conditions on what they change are taken to hold in such iterations."""
    empties: bool = False
    """Whether such loops may have no iteration."""
    replaced: tuple[Replaced, ...] = ()
    """What stands for the parameters of modules now, innermost first."""
    sizes: bool = False
    """Whether tuples of a few integers of the caller are constants, which are the sizes of what is cut and viewed."""
    clips: bool = False
    """Whether slices are written as ending where what they cut ends."""
    scattered: bool = False
    """Whether lists stay lists where they are changed at places that are not known before the loop runs."""
    assumed: set[Var] = field(default_factory=set)
    """Variables of loops that are taken for numbers of Python's, as they are before the loop."""
    tensorless: set[Var] = field(default_factory=set)
    """Those that are taken for what is no tensor."""
    settled: frozenset[str] = frozenset()
    """Names that such an iteration has given a value: they are not None in the iterations that follow."""
    certain: frozenset[Value] = frozenset()
    """Variables that are not None."""
    differentiates: bool = False
    """Whether the region takes gradients: modules are functions of their parameters."""
    without_history: bool = False
    """Whether what is translated now runs under ``torch.no_grad()``, and what is around it does not."""
    unrecorded: set[str] = field(default_factory=set)
    """What does so: "values", "stores"; "inference" for what runs under ``torch.inference_mode()``."""
    unrecorded_spans: set[Span] = field(default_factory=set)
    """Where that stands."""
    leaves: set[Var] = field(default_factory=set)
    """Tensors that the region made and asks gradients for."""
    set_leaves: set[Var] = field(default_factory=set)
    """Those of which ``requires_grad`` is set, which raises where they have a history."""
    constants: set[Var] = field(default_factory=set)
    """What was made of them before: no gradient flows through it."""
    before_leaves: list[Statement] = field(default_factory=list)
    """The statements until then."""
    passes: Passes = field(default_factory=Passes)
    """The backward passes in it."""
    alike: dict[str, Atom] = field(default_factory=dict)
    """Live-ins that are lists of lists, and another one whose lists have the same lengths."""
    same: dict[Var, set[Var]] = field(default_factory=dict)
    """Live-ins that are one tensor, by the first of them."""
    changes: bool = False
    """Whether the region changes lists or dicts of the caller: what is made of them is not made before it."""
    beforehand: bool = False
    """Whether something is made of lists or dicts of the caller before the region."""

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def env(self) -> dict[str, Value]:
        return self.frame.env

    def fresh(self, hint: str) -> Var:
        return Var(f"{hint}.{next(self.counter)}")

    def add(self, statement: Statement) -> None:
        if self.without_history:
            self.unrecorded.add("stores" if isinstance(statement, Store) else "values")
            self.unrecorded_spans.add(self.span)
        self.blocks[-1].append(statement)

    def emit(self, name: str, *args: Operand, hint: str = "t", **kwargs: Operand) -> Var:
        """Append ``var = name(args)`` to the current block and return the variable."""
        return self.operation(name, args, kwargs, hint)

    def operation(self, name: str, args: Iterable[Operand], kwargs: Mapping[str, Operand], hint: str = "t") -> Var:
        """The same for the operands of a call, whose keywords are its author's."""
        self._check_asks_for_none(name, kwargs)
        var = self.fresh(hint)
        self.add(Let(var, Op(name, tuple(args), tuple(kwargs.items())), self.span))
        if not self.without_history or name in WITHOUT_HISTORY:
            return var
        self.add(Let(found := self.fresh(hint), Op(UNRECORDED, (var,)), self.span))
        return found

    def _check_asks_for_none(self, name: str, kwargs: Mapping[str, Operand]) -> None:
        """What a region makes is no leaf of torch's graph: gradients flow through a region from its live-ins alone."""
        asks = kwargs.get("requires_grad", Const(False))
        if not (isinstance(asks, Const) and asks.value is False):
            flag = "True" if isinstance(asks, Const) and asks.value is True else "..."
            called = f"{name.removeprefix('method')}(..., requires_grad={flag})"
            raise self.refuse("unknown-op", f"'{called}' makes a tensor that asks for gradients")

    def block(self, build: Callable[[], Any], empty: list[Statement] | None = None) -> Block:
        """Run ``build`` with an empty block and return what it made."""
        self.blocks.append([] if empty is None else empty)
        build()
        return Block(tuple(self.blocks.pop()))

    def atom(self, value: Value) -> Atom:
        """The value as an atom; a tuple becomes a tuple operation."""
        if isinstance(value, Tup):
            return self.emit("tuple", *(self.atom(item) for item in value.items), hint="pair")
        if isinstance(value, Structure):
            return value.atom(self)
        return value

    def site(self, node: ast.AST) -> Site:
        """A place in the source by which every attempt of the translation knows it."""
        return Site(self.frame.file, span_of(node), self.rounds, tuple(map(id, self.calls)))

    def state(self) -> State:
        """What names and items hold now."""
        return dict(self.env), dict(self.cells)

    def restore(self, state: State) -> None:
        for held, before in zip((self.env, self.cells), state, strict=True):
            held.clear()
            held.update(before)

    def held(self, name: str) -> dict[str, Value]:
        """Where a name is kept: with the names of this function, or with the items of static lists and dicts."""
        return self.cells if is_cell(name) else self.env

    def refuse(self, code: str, message: str) -> NotLiftable:
        return NotLiftable(code, message, self.span)

    def object_path(self, atom: Value) -> str | None:
        """The path of a live-in that is a plain object, neither a number nor a container nor a tensor."""
        import numpy as np
        import torch

        plain = (int, float, complex, list, tuple, dict, set, torch.Tensor, np.ndarray, np.generic, range)
        for path, var in self.params.items():
            if var is atom:
                return None if isinstance(self.param_values[path], plain) else path
        return None

    def param_path(self, value: Value) -> str | None:
        """The path of a live-in."""
        return next((path for path, var in self.params.items() if var is value), None)

    def given(self, value: Value) -> Any:
        """What a live-in holds, or a constant that is reached by a path; None for other values."""
        path = self.param_path(value)
        if path is not None:
            return self.param_values[path]
        return value.value if isinstance(value, Const) and value.path else None

    def is_container(self, value: Value) -> bool:
        """Whether a value is a list, tuple or dict of the caller, or a module: its items may be known one by one."""
        import torch

        return isinstance(self.given(value), (list, tuple, dict, torch.nn.Module))

    # ------------------------------------------------------------ names

    def lookup(self, name: str) -> Value:
        frame, value = self._seen(name)
        if value is not None:
            if is_unbound(value):
                raise self.refuse("unsupported-syntax", f"'{name}' may not be bound here")
            return value
        with self.within(frame):
            return self._outer(name)

    def _seen(self, name: str) -> tuple[Frame, Value | None]:
        """The frame that binds a name, of those that the function at hand stands in, and the value; else the
        outermost of them and None."""
        frame, private = self.frame, self.private
        while (value := self._value_in(frame, name, private)) is None and frame.parent is not None:
            frame, private = frame.parent, frame.private
        return frame, value

    def _value_in(self, frame: Frame, name: str, private: tuple[Private, ...]) -> Value | None:
        """A name's value for who sees the names of these comprehensions, and not those of others."""
        for entered in self.private:
            if entered.frame is frame and name in entered.hidden and entered not in private:
                return entered.hidden[name]
        return frame.env.get(name)

    def _outer(self, name: str) -> Value:
        found = self.outer_value(name)
        if found is MISSING:
            raise self.refuse("unsupported-syntax", f"the name '{name}' is not known before the loop runs")
        if self.frame.is_root:
            return self.live_in(name, found)
        return self.foreign_value(name, found)

    @contextmanager
    def within(self, frame: Frame) -> Iterator[None]:
        """Names are those of another frame for a while."""
        self.frames.append(frame)
        try:
            yield
        finally:
            self.frames.pop()

    def outer_value(self, name: str) -> Any:
        frame, private = self.frame, self.private
        while frame.parent is not None:
            frame, private = frame.parent, frame.private
            if self._value_in(frame, name, private) is not None:
                return MISSING
        if name in frame.outer:
            return frame.outer[name]
        if frame.is_root and name in self.bound:
            return MISSING
        return getattr(builtins, name, MISSING)

    def entry_value(self, name: str) -> Value:
        """The value of a name before a branch or loop: of the region's, an argument that was not read yet is one."""
        if is_cell(name):
            return self.cells.get(name, UNDEFINED)
        if name not in self.env and self.frame.is_root and name in self.frame.outer:
            return self.lookup(name)
        return self.env.get(name, UNDEFINED)

    def is_builtin(self, name: str) -> bool:
        """Whether a name still means what it means in a fresh Python."""
        if name in self.env or self.outer_value(name) is not getattr(builtins, name, None):
            return False
        self._watch_builtin(name)
        return True

    def _watch_builtin(self, name: str) -> None:
        """The module of an inlined function may get a name of its own for what is a builtin now."""
        outer = self.frame.outer
        if isinstance(outer, Outer) and name not in outer:
            self.watch(outer.names, f".get({name!r})", None)

    def live_in(self, path: str, value: Any) -> Atom:
        """A value that reaches the region under ``path``: static ones are constants, others parameters."""
        self._check_hidden(path, value)
        if path in self.params:
            return self.params[path]
        if is_static(value):
            if isinstance(value, (bool, str, bytes)) or value is None:
                self.guards.append((path, value))
            self.modules.setdefault(path, value)
            return Const(value, path)
        if type(value) in (int, float) and path in self.fixed:
            self.guards.append((path, value))
            return Const(value)
        self._check_kind(path, value)
        var = Var(self._parameter_name(path))
        self.params[path] = var
        self.param_values[path] = value
        return var

    def _check_hidden(self, path: str, value: Any) -> None:
        if self.replaced and any(id(item) in one.hidden for one in self.replaced for item in _items_in(value)):
            raise self.refuse("unknown-call", f"'functional_call' of a module that reads '{path}' in another way")

    def _check_kind(self, path: str, value: Any) -> None:
        from looplift.runtime.guards import check_items

        try:
            check_items(path, value)
        except NotLiftable as refusal:
            raise self.refuse(refusal.code, refusal.message) from None

    def _parameter_name(self, path: str) -> str:
        """``self.rows[0]`` is ``self_rows_0``, unless that is another parameter."""
        name = path if path.isidentifier() else re.sub(r"\W", "_", re.sub(r"[\]'\"]", "", _short(path)))
        taken = {var.name for var in self.params.values()}
        names = itertools.chain([name], (f"{name}_{k}" for k in itertools.count(2)))
        return next(one for one in names if one not in taken and (one == path or one not in self.values))

    # ------------------------------------------------------------ names of other namespaces

    def watch(self, owner: Any, access: str, value: Any, path: str = "") -> None:
        """The variant holds while ``owner`` then ``access`` is this value."""
        self.foreign.setdefault((id(owner), f"{access} {path}"), Watched(owner, access, value, path))

    def watch_function(self, function: types.FunctionType) -> None:
        """The variant holds while a function's code and defaults are these; those of keywords may change in place."""
        self.watch(function, ".__code__", function.__code__)
        self.watch(function, ".__defaults__", function.__defaults__)
        if not function.__kwdefaults__:
            self.watch(function, ".__kwdefaults__", function.__kwdefaults__)
        for name, value in (function.__kwdefaults__ or {}).items():
            self.watch(function, f".__kwdefaults__[{name!r}]", value)

    def foreign_value(self, name: str, value: Any) -> Atom:
        """A name of an inlined function's own module or closure: static, or a number that is guarded to stay."""
        outer = self.frame.outer
        cell = outer.cells.get(name) if isinstance(outer, Outer) else None
        if type(value) not in (int, float) and not self.is_known_by_itself(value):
            return self._shared(name, value, is_global=cell is None)
        if cell is not None and not self.frame.cells_are_guarded:
            self.watch(cell, ".cell_contents", value)
        elif isinstance(outer, Outer) and cell is None and name in outer.names and not _is_library_module(value):
            self.watch(outer.names, f".get({name!r})", value)
        else:
            self._watch_builtin(name)
        return self.stranger(value, name, in_guarded_cell=cell is not None and self.frame.cells_are_guarded)

    def stranger(self, value: Any, path: str, *, in_guarded_cell: bool = False) -> Const:
        """A constant that is reached in another namespace than the region's."""
        found = spelled(value, path)
        if found.path:
            self.strangers.add(found)
        if in_guarded_cell:
            self.in_guarded_cells.add(found)
        return found

    @staticmethod
    def is_known_by_itself(value: Any) -> bool:
        import torch

        own = (type, types.ModuleType, torch.dtype, torch.layout, torch.memory_format)
        functions = (types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType)
        if value is None or value is Ellipsis or isinstance(value, (*own, *functions)):
            return True
        if type(value) in (bool, str, bytes):
            return True
        from looplift.ops.names import name_of

        return callable(value) and not isinstance(value, torch.nn.Module) and name_of(value) is not None

    def _shared(self, name: str, value: Any, *, is_global: bool) -> Atom:
        """An object that the region reaches by the same name: what it sees there is guarded to be this very object."""
        outer = self.frame.outer
        assert isinstance(outer, Outer)
        same = self.values.get(name) is value and name not in self.bound
        near = name not in self.values and self.frame.file == self.frames[0].file and self._is_free(name)
        if is_global and (same or near):
            self.watch(outer.names, f".get({name!r})", value, path=name)
            return self.live_in(name, value)
        if not is_global and same and self.frame.path:
            position = list(outer.cells).index(name)
            self.watch(None, f"{self.frame.path}.__closure__[{position}].cell_contents", value, path=name)
            return self.live_in(name, value)
        where = "a global of another module" if is_global else "a name of another function"
        raise self.refuse("unsupported-value", f"'{name}' is {where}; pass it as an argument")

    def _is_free(self, name: str) -> bool:
        return name not in self.frames[0].env and name not in self.bound


def _short(path: str) -> str:
    """What a list that is made from a live-in is called: ``pairs_0`` for ``[row[0] for row in pairs]``."""
    if found := re.fullmatch(r"\[(?:\w+\()?row(.*?)\)?(?: .*)? for row in (.*)\]", path):
        return f"{_short(found[2])}{found[1]}"
    if found := re.fullmatch(r"list\((.*)\.(values|keys|items)\(\)\)", path):
        return f"{found[1]}.{found[2]}"
    if found := re.fullmatch(r"list\(([\w.]+)\)", path):
        return f"{found[1]}.keys"
    return "table" if re.search(r"[( ]", path) else path


def _is_library_module(value: Any) -> bool:
    from looplift.ops.names import is_library

    return isinstance(value, types.ModuleType) and is_library(value)
