"""Statements over numbers, text and containers of Python's in, one C++ program for all of them out.

It keeps what Python's objects are: lists, dicts and the like are shared by reference, and what came from the caller
goes back into the caller's objects, once all is done. Whatever Python would raise, integers beyond 64 bits, and values
of other types than those at hand end it before anything was changed.
"""

from __future__ import annotations

import ast
import builtins
import functools
import operator
import re
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import torch

from looplift.base.data import dataclass, field
from looplift.base.declared import Read
from looplift.base.handed import own_nodes, with_yields
from looplift.base.syntax import nodes_of
from looplift.emit.typed_attempts import without_attempts
from looplift.emit.typed_classes import is_constant
from looplift.emit.typed_enumerations import is_enumeration
from looplift.emit.typed_generators import is_generator
from looplift.emit.typed_groups import with_groups
from looplift.emit.typed_loop_names import function_with_versions
from looplift.emit.typed_names import captured_names, stored_names
from looplift.emit.typed_scope import Factory, Refused, Routine, Value, refuse
from looplift.emit.typed_tables import is_table
from looplift.emit.typed_tensor_calls import torch_name
from looplift.emit.typed_types import (
    TEXT,
    Arr,
    Box,
    Fixed,
    Maybe,
    Member,
    Rec,
    Tup,
    copy_of,
    holds,
    holds_tensor,
    text_of,
)
from looplift.emit.typed_unchecked import Unchecked
from looplift.emit.typed_values import type_of

_LIBRARIES = ("heapq", "collections", "math", "functools", "bisect", "itertools")
_TORCH = ("torch", "torch.nn", "torch.nn.functional", "torch.special", "torch.linalg")
_PASSES = 40
_ARITHMETIC: dict[type, Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


@dataclass
class TypedProgram:
    """``text``: C++ of the program. ``inputs``: what it is given, in order. ``changes``: those that it may change.

    ``callees``: functions of the user's that it calls, with what their names stand for. ``is_deep``: it recurses.
    ``types``: of the inputs. ``classes``: those of its objects, each with what it has. ``functions``: what it takes
    from modules of libraries. ``has_numpy``: it makes objects of NumPy's.
    """

    text: str
    inputs: list[str]
    changes: list[str]
    callees: dict[Any, tuple[Any, ...]]
    is_deep: bool
    types: dict[str, Any]
    classes: list[tuple[type, dict[str, Any]]]
    functions: dict[tuple[types.ModuleType, str], Any]
    has_numpy: bool = False
    tensors: bool = False
    notes: tuple[str, ...] = ()
    is_of_objects: bool = False
    """Whether what tensors it has are numbers, in containers and functions that only such a program knows."""
    keeps_rows: bool = False
    """Whether it computes rows of tensors that it keeps, which other forms may compute many at a time."""
    passes_objects: bool = False
    """Whether it is given its classes, too, behind its inputs."""
    makes_missing: bool = False
    """Whether dicts make what is missing by an expression, which no other form knows."""
    loops: tuple[str, ...] = ()
    """Functions of NumPy's whose loops it calls."""
    tracked: bool = False
    """Whether a tensor asks for gradients."""
    paths: dict[str, str] = field(default_factory=dict)
    """Where inputs are that network modules hold, by their names."""
    modules: tuple[str, ...] = ()
    """The paths of modules that it knows."""
    equal: dict[str, Any] = field(default_factory=dict)
    """Numbers and the like that modules hold, by their paths."""
    overriding: dict[tuple[type, str], Any] = field(default_factory=dict)
    """Methods of the user's modules."""
    outside: dict[str, tuple[Any, str]] = field(default_factory=dict)
    """Inputs that classes hold, or the modules of functions, which are only read."""
    library: tuple[str, ...] = ()
    """Calls of the library's own functions, as functions of their operands."""
    tables: tuple[tuple[dict[Any, Any], tuple[Any, ...]], ...] = ()
    """Dicts of functions, with what is in them."""
    named_tables: dict[str, Any] = field(default_factory=dict)
    """Those that the region's own statements name."""
    reads: tuple[Read, ...] = ()
    """What is read of modules by running no code."""
    sets: tuple[tuple[str, str], ...] = ()
    """Attributes of modules that are set to what is handed out last: the paths of the modules, and names."""
    told_apart: list[str] = field(default_factory=list)
    """Conditions: which paths lead to one module."""


class Writer(Unchecked):
    """Writes one program, again and again until no type becomes wider."""

    def __init__(
        self,
        body: list[ast.stmt],
        values: Mapping[str, Any],
        live_out: list[str],
        source_of: Callable,
        others: list,
        *,
        has_named_dicts: bool = False,
        has_optional_names: bool = False,
        words_numbers: bool = False,
        writes_items: bool = False,
        has_versions: bool = False,
    ):
        super().__init__()
        self.has_versions = has_versions
        self.writes_items = writes_items
        self.has_named_dicts, self.has_optional_names = has_named_dicts, has_optional_names
        self.body, self.values, self.live_out, self.tree_of = body, values, live_out, source_of
        self.records, self.classes, self.unread = {}, {}, []
        self.tables, self.named_tables = {}, {}
        self.joins.of_objects, self.joins.words_numbers = self.given_objects, words_numbers
        self.loops, self.computed_with, self.mixes_arrays = {}, set(), False
        self.structs, self.inexact, self.short = {}, set(), set()
        self.changes_tensors = self.widens_numbers = self.makes_rows = self.keeps_rows = self.passes_objects = False
        self.unlinks = False
        self.in_any_order = {}
        self.routines, self.exits, self.texts, self.lambdas, self.replaced = {}, [], {}, {}, {}
        self.imports: dict[str, Any] = {}
        self.callees: dict[Any, tuple[Any, ...]] = {}
        self.functions: dict[tuple[types.ModuleType, str], Any] = {}
        self.edges: dict[Routine, dict[Routine, None]] = {}
        self.methods: dict[Routine, list[str]] = {}
        stores = stored_names(body)
        loads = {one.id for node in body for one in nodes_of(node) if isinstance(one, ast.Name)}
        self.inputs = sorted(name for name in loads & values.keys() if is_data(values[name]))
        self.line_reached = 0  # the line of the statement of the body that is written
        self.main = Routine("run", list(self.inputs), body, stores, None)
        self.main.kept = captured_names(body)
        for name in self.inputs:
            self.main.types[name] = type_of(values[name], self.joins, self.seen)
        self.look_into(self.seen)
        for other in others:
            copies: dict[int, Any] = {}
            self._join_with({name: copy_of(other[name], copies, self.known_box) for name in self.inputs})
        self.given = {name: self.main.types[name] for name in self.inputs}

    def _join_with(self, types_: dict[str, Any]) -> None:
        for name, type_ in types_.items():
            self.main.types[name] = self.joins.join(self.main.types[name], type_)

    def written(self) -> TypedProgram:
        for _ in range(_PASSES):
            before = self.joins.changes
            self.count, self.texts, self.methods = 0, {}, {}
            self.structs.clear()
            self.library.clear()
            self.altered.clear()
            self.gone_through = []
            self.mixes_arrays = self.waits = False
            refusal = self._once()
            if self.joins.changes == before and self.waits and not self.is_settled:
                self.is_settled = True  # what no round tells is nothing: of empty lists, and where nobody comes
            elif self.joins.changes == before:
                if refusal is not None:
                    raise refusal
                return self._finished()
        raise refuse(None, "types that grow without an end")

    def _once(self) -> Refused | None:
        """Write all routines with the types that are known so far; what is refused may be understood when more are."""
        self.routine, self.bound, self.renamed, self.exits = self.main, set(self.inputs), {}, []
        self.told, self.handings, self.unrolled, self.counted = frozenset(), [], {}, {}
        self.no_rows()
        refused = None
        try:
            with self.block() as lines:
                self._main()
            self.methods[self.main] = lines
            self.line_reached = 0
        except Refused as refusal:
            refused = refusal
        rest = self._rest([*self.edges.get(self.main, ())])
        return refused or rest

    def statements(self, nodes: list[ast.stmt]) -> bool:
        if nodes is not self.body or self.routine is not self.main:
            return super().statements(nodes)
        for node in nodes:
            self.line_reached = node.lineno
            if not super().statements([node]):
                return False
        return True

    def _main(self) -> None:
        self.prepare_orders()
        if self.statements(self.body):
            if self.live_out == ["return"]:
                self.returned(Value(type_of(None, self.joins, {}), "None_()"))
            else:
                values = [self.load(name, self.main) for name in self.live_out]
                super().returned(self.tuple_of([*values, *self.set_at_the_end()]))

    def returned(self, value: Value) -> None:
        if self.routine is self.main and self.changing:
            value = self.tuple_of([self.keep(value), *self.set_at_the_end()])
        super().returned(value)

    def _rest(self, pending: list[Routine]) -> Refused | None:
        """The bodies of all routines that are called; what of them is refused first."""
        refused, seen = None, set()
        while pending:
            routine = pending.pop()
            if routine in seen:
                continue
            seen.add(routine)
            try:
                self._write_routine(routine)
            except Refused as refusal:
                refused = refused or refusal
            pending += [one for one in self.edges.get(routine, ()) if one not in seen]
        return refused

    def _write_routine(self, routine: Routine) -> None:
        self.routine, self.bound, self.told = routine, set(routine.parameters), frozenset()
        self.renamed, self.exits, self.handings, self.unrolled, self.counted = {}, [], [], {}, {}
        self.no_rows()
        with self.block() as lines:
            if self.statements(routine.body):
                self.do_Return(ast.Return())
        self.methods[routine] = lines

    # ------------------------------------------------------------ names

    def global_value(self, name: str, node: ast.AST) -> Value:
        value, space = self._global(name), self.routine.namespace
        is_there = space is not None and (name in space or hasattr(builtins, name))
        if is_there and is_constant(value):
            return self.constant(value)
        found = self.held_outside(space, name, value) if space is not None and name in space else None
        if found is None:
            raise refuse(node, "is not known")
        return found

    def _global(self, name: str) -> Any:
        if name in self.imports:
            return self.imports[name]
        space = self.routine.namespace
        if space is None:
            if name in self.values:
                return self.values[name]
            raise refuse(None, f"'{name}' is not known")
        value = space.get(name, getattr(builtins, name, None))
        self.callees[self.routine.parameters_of][2][name] = value  # type: ignore[attr-defined]
        return value

    def resolved(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Name):
            if node.id in self.renamed or (self.owner(node.id) is not None and node.id not in self.imports):
                return None
            return self._global(node.id)
        if not isinstance(node, ast.Attribute):
            return None
        owner = self.resolved(node.value)
        if isinstance(owner, types.ModuleType):
            if owner.__name__ == "numpy":
                self.joins.meet_numpy()
            if owner.__name__ in (*_LIBRARIES, *_TORCH, "sys", "numpy"):
                return self._of_library(owner, node.attr)
        if isinstance(owner, np.ufunc):
            return getattr(owner, node.attr, None)
        return self._of_class(owner, node.attr) if isinstance(owner, type) else None

    def _of_class(self, made: type, name: str) -> Any:
        """A constant of a class, or a function that needs no object."""
        value = vars(made).get(name)
        if made is dict and name == "fromkeys":
            return dict.fromkeys
        if is_enumeration(made):
            return vars(made)["_member_map_"].get(name)
        if (
            type(made) is not type
            or made.__module__ == "builtins"
            or not isinstance(value, staticmethod | int | float | str | tuple)
        ):
            return None
        self.look_at(made)
        return value.__func__ if isinstance(value, staticmethod) else value if is_constant(value) else None

    def _of_library(self, module: types.ModuleType, name: str) -> Any:
        return self.functions.setdefault((module, name), getattr(module, name, None))

    def constant_text(self, value: str) -> Value:
        name = self.texts.setdefault(value, f"s{len(self.texts)}")
        return Value(TEXT, name)

    def equal_text(self, left: Value, right: Value) -> str:
        codes = [self._letter(one) for one in (left, right)]
        if all(codes):
            return f"({codes[0]} == {codes[1]})"
        return super().equal_text(left, right)

    def _letter(self, value: Value) -> str:
        """The code point of what is one letter."""
        if value.code.startswith("at("):
            return "letter_" + value.code
        known = next((text for text, name in self.texts.items() if name == value.code), "")
        return f"{ord(known)}u" if len(known) == 1 else ""

    # ------------------------------------------------------------ functions

    def load(self, name: str, routine: Routine) -> Value:
        if (routine, name) in self.routines:
            raise refuse(None, f"'{name}' is a function, and read as a value")
        return super().load(name, routine)

    def define(self, node: ast.FunctionDef) -> None:
        outer = self.routine
        if outer.hands_out:
            raise refuse(None, f"'{node.name}' is a function in one that hands out its results one by one")
        key = (outer, node.name)
        routine = self.routines.get(key)
        if routine is None:
            name = f"f_{node.name}" if outer is self.main else f"f{len(self.routines)}_{node.name}"
            routine = self._routine(node, name, self._names_around())
            self._put_inside(routine, outer)
            self._check_annotations(node)
            try:
                defaults = [_default_of(one) for one in node.args.defaults]
            except (ValueError, ArithmeticError):
                raise refuse(None, f"'{node.name}' has defaults that are no constants") from None
            routine.defaults = _expressions_of(defaults, node.name)
            routine.memory = self._memory(node)
            if routine.memory is not None and routine.hands_out:
                raise refuse(None, f"'{node.name}' keeps what it hands out one by one")
            self.routines[key] = routine
        elif routine.body is not self.body_of(node, self._names_around()):
            raise refuse(None, f"'{node.name}' is defined twice")
        routine.bound = set(self.bound) & (outer.kept | set(outer.parameters))
        if routine.memory:
            self.emit(f"forget_{routine.name}();")

    def _check_annotations(self, node: ast.FunctionDef) -> None:
        """Annotations are expressions that run with the definition: those that only name types do nothing."""
        notes = [node.returns, *(one.annotation for one in node.args.args)]
        for part in (part for note in notes if note is not None for part in nodes_of(note)):
            is_name = isinstance(part, ast.Name) and self._is_named_outside(part.id)
            if not is_name and not isinstance(part, ast.Constant | ast.Attribute | ast.Subscript | ast.Tuple):
                raise refuse(None, f"'{node.name}' has annotations that are computed")

    def _is_named_outside(self, name: str) -> bool:
        """Whether a name is there, and no variable."""
        space = self.routine.namespace
        return self.owner(name) is None and (
            name in (self.values if space is None else space) or hasattr(builtins, name)
        )

    def _put_inside(self, routine: Routine, outer: Routine) -> None:
        """A function that another one defines, whose variables it shares, and the module around it."""
        routine.outer, routine.namespace = outer, outer.namespace
        if outer.namespace is not None:
            routine.parameters_of = outer.parameters_of  # type: ignore[attr-defined]

    def _names_around(self) -> Mapping[str, Any]:
        """Names that mean something of their own in the function that is written."""
        space, found, routine = self.routine.namespace, dict[str, Any](), self.routine
        while routine is not None:
            found |= dict.fromkeys({*routine.stores, *routine.parameters})
            routine = routine.outer
        return found | dict(self.values if space is None else space)

    def _routine(self, node: ast.FunctionDef, name: str, space: Mapping[str, Any]) -> Routine:
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
            raise refuse(None, f"'{node.name}' takes arguments in a way of its own")
        if any(isinstance(one, ast.Await | ast.Global) for one in nodes_of(node)):
            raise refuse(None, f"'{node.name}' is no plain function")
        body = self.body_of(node, space)
        own = (inner for statement in body for inner in own_nodes(statement))
        shared = {one for inner in own if isinstance(inner, ast.Nonlocal) for one in inner.names}
        made = Routine(name, [one.arg for one in arguments.args], body, stored_names(body), None)
        made.shared, made.hands_out = shared, is_generator(body)
        made.kept = captured_names(body)
        return made

    def body_of(self, node: ast.FunctionDef, space: Mapping[str, Any]) -> list[ast.stmt]:
        """What a function does; ``space``: names that are no builtins of Python's, or else are these."""
        if node not in self.replaced:
            own = {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
            body = with_yields(
                without_attempts(node.body),
                lambda name: name not in own and space.get(name, made := getattr(builtins, name)) is made,
            )
            body = with_groups(body)
            self.replaced[node] = function_with_versions(body, own) if self.has_versions else body
        return self.replaced[node]

    def source_of(self, function: Any) -> Any:
        return self.tree_of(function)

    def _memory(self, node: ast.FunctionDef) -> int | None:
        """How many results the decorators of a function keep."""
        if not node.decorator_list:
            return None
        one = node.decorator_list[0]
        call = one if isinstance(one, ast.Call) else None
        function = self.resolved(call.func if call else one)
        if len(node.decorator_list) > 1 or function not in (functools.lru_cache, functools.cache):
            raise refuse(None, f"'{node.name}' has decorators that are not known")
        if function is functools.cache:
            return -1
        given = [*call.args, *(k.value for k in call.keywords if k.arg == "maxsize")] if call else []
        if call and (len(given) > 1 or len(given) != len(call.args) + len(call.keywords)):
            raise refuse(None, f"'{node.name}' keeps results in a way of its own")
        if not given:
            return 128
        size = given[0].value if isinstance(given[0], ast.Constant) else ...
        if size is not None and type(size) is not int:
            raise refuse(None, f"'{node.name}' keeps as many results as is computed")
        return -1 if size is None else size

    def routine_of(self, function: Any) -> Routine | None:
        if isinstance(function, Routine):
            return function
        function = getattr(function, "__looplift_original__", function)
        if not isinstance(function, types.FunctionType) or function.__module__.split(".")[0] in (*_LIBRARIES, "numpy"):
            return None
        if torch_name(function) is not None:
            return None
        if function not in self.routines:
            if function.__closure__ or function.__kwdefaults__:
                raise refuse(None, f"'{function.__name__}' holds on to values of its own")
            tree = self.source_of(function).tree
            routine = self._routine(tree, f"g{len(self.routines)}_{tree.name}", function.__globals__)
            if tree.decorator_list and not hasattr(self.values.get(tree.name), "__looplift_original__"):
                raise refuse(None, f"'{function.__name__}' has decorators")
            routine.defaults = _expressions_of(function.__defaults__ or (), function.__name__)
            routine.namespace, routine.parameters_of = function.__globals__, function  # type: ignore[attr-defined]
            self.routines[function] = routine
            self.callees[function] = function.__code__, function.__defaults__, {}
        return self.routines[function]

    def reached(self, routine: Routine) -> None:
        self.edges.setdefault(self.routine, {})[routine] = None

    def do_Import(self, node: ast.Import) -> None:
        for one in node.names:
            if one.name not in _LIBRARIES or one.name not in sys.modules:
                raise refuse(node, "is imported")
            self.imports[one.asname or one.name] = sys.modules[one.name]

    def do_ImportFrom(self, node: ast.ImportFrom) -> None:
        for one in node.names:
            if node.module not in _LIBRARIES or node.module not in sys.modules:
                raise refuse(node, "is imported")
            self.imports[one.asname or one.name] = self._of_library(sys.modules[node.module], one.name)

    # ------------------------------------------------------------ the text

    def _finished(self) -> TypedProgram:
        from looplift.emit.typed_text import program_text

        every = [self.main, *(one for one in self.methods if one is not self.main)]
        for one in every:
            one.calls_itself = one in self._reachable(one)
        if any(one.outer is not None and one.outer.calls_itself for one in every):
            raise refuse(None, "a function that calls itself has functions inside")
        check_result(self.main.result)
        if any(holds(one, _is_named) for one in (self.main.result, *self.given.values())):
            raise refuse(None, "sizes, or values with their places, are handed out as one")
        self.passes_objects = any(map(reaches_classes, (self.main.result, *self.given.values())))
        for one in self.records.values():
            one.box.fields = list(one.fields)
        stored = self.changes_tensors
        if stored and any(holds_tensor(self.given[name]) for name in self.outside):
            raise refuse(None, "tensors are changed, and there are some of a module's or a class")
        if stored and self.unlinks:
            raise refuse(None, "a tensor that may ask for a gradient is detached, and tensors are changed")
        held = {
            name: type_ for name, type_ in self.given.items() if name not in self.outside and name not in self.changing
        }
        altered = {text_of(one) for one in self.altered}
        for type_, source in self.gone_through:
            if may_change(type_, altered):
                raise refuse(source, "may change while groups of it are handed out; take groups of list(...) of it")
        changes = [
            name for name, type_ in held.items() if may_change(type_, altered) or (stored and holds_tensor(type_))
        ]
        changes = list(dict.fromkeys(re.split(r"\W", self.paths.get(name, name))[0] for name in changes))
        text = program_text(self, every)
        classes = list(self.classes.items())
        deep = any(one.calls_itself for one in every)
        return TypedProgram(
            text, self.inputs, changes, self.callees, deep, self.given, classes, self.functions, self.joins.has_numpy,
            self.joins.tensors, self._notes(), self._is_of_objects(deep), self.keeps_rows, self.passes_objects,
            any(isinstance(box.find().default, Factory) for box in self.boxes.values()),
            tuple(one.__name__ for one in self.loops), self.joins.tracked,
            self.paths, tuple(self.watched), self.settings_that_stay(), self.overriding, self.outside,
            tuple(self.library), tuple(self.tables.values()), self.named_tables, tuple(dict.fromkeys(self.reads)),
            tuple((one.owner, one.name) for one in self.changing.values()), self.told_apart(),
        )  # fmt: skip

    def _is_of_objects(self, deep: bool) -> bool:
        kinds = {box.find().kind for box in self.boxes.values()}
        inner = any(isinstance(one, ast.FunctionDef) for one in self.body)
        return not self.makes_rows and (deep or inner or bool(kinds & {"defaultdict", "counter", "deque", "set"}))

    def _notes(self) -> tuple[str, ...]:
        named = ", ".join(sorted(self.inexact))
        return (f"a branch may depend on {named}, whose last digit may differ from torch's",) if named else ()

    def _reachable(self, routine: Routine) -> set[Routine]:
        found: set[Routine] = set()
        pending = [*self.edges.get(routine, ())]
        while pending:
            one = pending.pop()
            if one not in found:
                found.add(one)
                pending += self.edges.get(one, ())
        return found


def _default_of(node: ast.expr) -> Any:
    """The value of a default of a function inside: a constant, or arithmetic of numbers."""
    match node:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            operands = [_default_of(one) for one in (left, right)]
            if all(type(one) in (int, float) for one in operands):
                return _ARITHMETIC[type(op)](*operands)
            raise ValueError
        case ast.Tuple(elts=items):
            return tuple(map(_default_of, items))
    return ast.literal_eval(node)


def _expressions_of(defaults: Iterable[Any], name: str) -> list[ast.expr]:
    """Constants as expressions."""

    def expression(value: Any) -> ast.expr:
        return ast.Tuple([*map(expression, value)], ast.Load()) if isinstance(value, tuple) else ast.Constant(value)

    if not all(map(is_constant, defaults)):
        raise refuse(None, f"'{name}' has defaults that are no constants")
    return [expression(value) for value in defaults]


def check_result(type_: Any, depth: int = 0) -> None:
    """What is handed out is of Python's plain types, or of classes of the user's."""
    if isinstance(type_, Rec | Fixed):
        raise refuse(None, "a dict of the caller's, or a dtype, is handed out")
    if isinstance(type_, Box) and not type_.find().made:
        if type_.find().kind in ("ordered dict", "defaultdict", "counter") or depth > 6:
            raise refuse(None, "a dict of another class is handed out")
        for cell in type_.find().cells:
            check_result(cell, depth + 1)
    for item in type_.items if isinstance(type_, Tup) else [type_.inner] if isinstance(type_, Maybe) else []:
        check_result(item, depth + 1)


def reaches_classes(type_: Any) -> bool:
    """Whether values of a type are, or hold, objects of classes."""
    return holds(
        type_,
        lambda one: (
            (isinstance(one, Box) and bool(one.find().made))
            or (isinstance(one, Tup) and bool(one.of))
            or isinstance(one, Member)
        ),
    )


def _is_named(type_: Any) -> bool:
    return isinstance(type_, Tup) and type_.named


def may_change(type_: Any, altered: set[str], seen: set[int] | None = None) -> bool:
    """Whether values of a type, or what they hold, are among those that a program alters. Types are told apart by their
    texts, as one object of the caller's may go by several names; arrays may have views anywhere."""
    seen = set() if seen is None else seen
    if isinstance(type_, Arr):
        return True
    if isinstance(type_, Box):
        box = type_.find()
        if id(box) in seen:
            return False
        seen.add(id(box))
        return text_of(box) in altered or any(may_change(cell, altered, seen) for cell in box.cells)
    inner = type_.items if isinstance(type_, Tup | Rec) else [type_.inner] if isinstance(type_, Maybe) else []
    return any(may_change(one, altered, seen) for one in inner)


def is_data(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return True
    if isinstance(value, types.ModuleType | torch.dtype | torch.device) or is_table(value):
        return False
    return not callable(value) or _is_plain_object(value)


def _is_plain_object(value: Any) -> bool:
    """Whether a value is an object that can be called because its class, with no other above it, says how."""
    made = type(value)
    return made.__bases__ == (object,) and isinstance(vars(made).get("__call__"), types.FunctionType)
