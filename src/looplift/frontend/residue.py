"""Statements that run as they stand, beside lists made of tensors; what of the caller's they may change, out.

They must leave those tensors alone: what may be a tensor or an array is only read, in containers too. To other values
they may do what they like. All that is called is known.
"""

from __future__ import annotations

import ast
import builtins
import collections
import random
import types
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.base.memory import reach
from looplift.frontend.bindings import CHOICES, NUMBER_CALLS, Bindings, bindings_of
from looplift.frontend.names import names_of
from looplift.frontend.syntax import nodes_of
from looplift.frontend.taints import Taints, root_of, tainted_by
from looplift.ops import table
from looplift.ops.names import name_of
from looplift.ops.writes import IN_PLACE_METHODS, by_parameter

ARRAYS = (torch.Tensor, torch.nn.Parameter, np.ndarray)
ATOMS = frozenset((int, float, complex, bool, str, bytes, type(None), range, slice, torch.dtype, torch.device))
CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque, collections.defaultdict, collections.Counter,
              collections.OrderedDict)  # fmt: skip
TYPES = (int, float, bool, complex, str, bytes, object, *CONTAINERS)
FACTORIES = (*TYPES, type(None))
FUNCTIONS = frozenset("""
abs all any bin bool bytes chr complex dict divmod enumerate filter float format frozenset hex int isinstance iter len
list map max min next oct ord pow range repr reversed round set slice sorted str sum tuple type zip
""".split())  # fmt: skip
MODULES = frozenset("math cmath heapq bisect itertools collections operator random string statistics".split())
METHODS = frozenset("""
append extend insert pop remove index count sort reverse copy clear get items keys values setdefault update popitem
add discard union intersection difference symmetric_difference issubset issuperset isdisjoint appendleft extendleft
popleft rotate most_common elements total move_to_end join split rsplit strip lstrip rstrip startswith endswith lower
upper replace find rfind format title capitalize isdigit isalpha isalnum isspace isupper islower splitlines zfill ljust
rjust center encode bit_length bit_count is_integer removeprefix removesuffix
""".split())  # fmt: skip
CHANGES = frozenset("""
append extend insert pop remove sort reverse clear setdefault update popitem add discard appendleft extendleft popleft
rotate move_to_end
""".split())  # fmt: skip
READS = frozenset("item tolist size dim numel clone detach stride ndimension".split())
CREATORS = frozenset("zeros ones empty full zeros_like ones_like empty_like full_like".split())
ATTRIBUTES = frozenset("shape dtype ndim device".split())
FORBIDDEN = (ast.With, ast.AsyncWith, ast.AsyncFor, ast.Try, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
             ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom,
             ast.Match)  # fmt: skip


def holds_only(kinds: tuple[type, ...], *values: Any) -> bool:
    """Whether values, and all that is in containers among them, are numbers, text, or of these types exactly."""
    pending, seen = list(values), set()
    while pending:
        value = pending.pop()
        kind = type(value)
        if kind in ATOMS or kind in kinds:
            continue
        if kind not in CONTAINERS or (kind is collections.defaultdict and value.default_factory not in FACTORIES):
            return False
        if id(value) in seen:
            continue
        seen.add(id(value))
        items = [*value.keys(), *value.values()] if isinstance(value, dict) else value
        if not set(map(type, items)) <= ATOMS:
            pending += items
    return True


@dataclass
class Residue:
    """What statements may do: change the arguments ``written``, call ``callees`` of the user's, draw numbers.

    ``containers`` hold numbers and text alone, ``mixed`` ones tensors and arrays as well. ``stored`` are tensors and
    arrays that they write to. ``computes``: whether they compute with tensors.
    """

    draws: bool = False
    written: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    containers: set[str] = field(default_factory=set)
    mixed: set[str] = field(default_factory=set)
    callees: dict[types.FunctionType, tuple[Any, ...]] = field(default_factory=dict)
    computes: bool = False


def same_callees(callees: Mapping[types.FunctionType, tuple[Any, ...]]) -> bool:
    """Whether functions still are what was looked at: their code, their defaults, what their names stand for."""
    for function, (code, defaults, names) in callees.items():
        if function.__code__ is not code or function.__defaults__ is not defaults:
            return False
        if any(_global(function, name) is not value for name, value in names.items()):
            return False
    return True


def _global(function: types.FunctionType, name: str) -> Any:
    return function.__globals__.get(name, getattr(builtins, name, None))


def residue_of(statements: list[ast.stmt], values: Mapping[str, Any], lists: Mapping[str, int]) -> Residue:
    """Raises NotLiftable where a statement may change a tensor, or does what is not known here.

    ``lists``: names of the lists that were made of tensors, and how deep they are.
    """
    if any(values.get(name, getattr(builtins, name)) is not getattr(builtins, name) for name in NUMBER_CALLS | CHOICES):
        raise NotLiftable("unsupported-value", "a name of one of Python's own functions is used for something else")
    found = Residue()
    _look_at(statements, values, lists, found)
    return found


def _look_at(statements: list[ast.stmt], values: Mapping[str, Any], lists: Mapping[str, int], found: Residue) -> None:
    names = names_of(statements)
    outside = {name: values[name] for name in names.loads if values.get(name, _UNKNOWN) is not _UNKNOWN}
    bindings = bindings_of(statements, values, lists, lambda node: _creates(node, outside))
    arrays = {name for name, value in outside.items() if isinstance(value, ARRAYS) or _holds_arrays(value)}
    taints = tainted_by(statements, arrays, bindings, lambda node: _is_array_call(_resolved(node, outside)))
    found.computes |= bool(taints) and any(map(taints.computes, statements))
    parameters = {name for name, value in values.items() if value is _UNKNOWN}
    look = _Look(found, outside, names.stores | parameters, bindings, taints)
    for name, value in outside.items():
        look.value(name, value)
    for statement in statements:
        for node in nodes_of(statement):
            look.node(node)


def _holds_arrays(value: Any) -> bool:
    return type(value) in CONTAINERS and not holds_only((), value)


def _is_array_call(value: Any) -> bool:
    known = name_of(value) if callable(value) else None
    return known is not None and known.startswith(("torch.", "np."))


class _Look:
    """Looks at each value and node once; raises NotLiftable at what may not be there."""

    def __init__(self, found: Residue, outside: Mapping[str, Any], bound: set[str], bindings: Bindings, taints: Taints):
        self.found, self.outside, self.bound, self.bindings, self.taints = found, outside, bound, bindings, taints
        self.called: set[int] = set()

    def fail(self, node: ast.AST, why: str) -> None:
        raise NotLiftable("unknown-call", f"'{ast.unparse(node)}' {why}")

    # ------------------------------------------------------------ values from outside

    def value(self, name: str, value: Any) -> None:
        kind = type(value)
        if kind in CONTAINERS:
            if not holds_only(ARRAYS, value):
                raise NotLiftable("unsupported-value", f"'{name}' holds objects, or is too large to look through")
            (self.found.containers if holds_only((), value) else self.found.mixed).add(name)
        elif isinstance(value, types.FunctionType) and not _is_array_call(value) and value.__module__ not in MODULES:
            self.function(name, value)
        elif not (kind in ATOMS or kind in ARRAYS or isinstance(value, types.ModuleType) or _is_known(value)):
            raise NotLiftable("unknown-call", f"what '{name}', a {kind.__name__}, does in the loop is not known")

    def function(self, name: str, value: types.FunctionType) -> None:
        """A function of the user's may be called if it does no more than may be done here."""
        from looplift.frontend.source import source_of

        if value in self.found.callees:
            return
        if value.__closure__ or value.__kwdefaults__ or not holds_only((), *(value.__defaults__ or ())):
            raise NotLiftable("unknown-call", f"'{name}' holds on to values of its own")
        body = source_of(value).tree.body
        own = {*value.__code__.co_varnames}
        known = {one: _global(value, one) for one in names_of(body).loads - own}
        self.found.callees[value] = value.__code__, value.__defaults__, known
        if any(type(held) in (*CONTAINERS, *ARRAYS) for held in known.values()):
            raise NotLiftable("unknown-call", f"'{name}' reads a global that is no function")
        _look_at(body, known | dict.fromkeys(own, _UNKNOWN), {}, self.found)

    # ------------------------------------------------------------ nodes

    def node(self, node: ast.AST) -> None:
        if isinstance(node, FORBIDDEN):
            raise NotLiftable("unsupported-syntax", f"a '{type(node).__name__.lower()}' stands in the loop")
        match node:
            case ast.Call():
                self.called.add(id(node.func))
                self.call(node)
            case ast.Name():
                self.name(node)
            case ast.Attribute(ctx=ast.Load()):
                self.attribute(node)
            case ast.Attribute():
                self.fail(node, "is set in the loop")
            case ast.Subscript(ctx=ast.Store() | ast.Del(), value=owner):
                self.changed(owner)
            case ast.AugAssign(target=target) if root_of(target) in self.taints and not self.is_container(target):
                self.changed_array(target, "may change a tensor in place")

    def is_container(self, node: ast.expr) -> bool:
        """Whether a name stands for a list, dict or the like, and never for a tensor."""
        if not isinstance(node, ast.Name):
            return False
        return node.id in self.bindings.fresh or (
            node.id not in self.bound and type(self.outside.get(node.id)) in CONTAINERS
        )

    def changed(self, owner: ast.expr) -> None:
        """Something is stored into, or taken out of, what an expression stands for."""
        name = root_of(owner)
        if name in self.taints and not self.is_container(owner):
            self.changed_array(owner, "is written to, and may be a tensor")
        self.writes(owner)

    def changed_array(self, node: ast.expr, why: str) -> None:
        """A tensor that was made for these statements may be written to, and one that shares no memory with others."""
        name = root_of(node)
        if name in self.bindings.created:
            return
        if name in self.bound or not isinstance(self.outside.get(name), ARRAYS):
            self.fail(node, why)
        self.found.stored.add(name)

    def writes(self, owner: ast.expr) -> None:
        name = root_of(owner)
        if name in self.outside and name not in self.bound:
            self.found.written.add(name)
        elif not (isinstance(owner, ast.Name) and name in self.bindings.fresh):
            self.anything_changed()

    def anything_changed(self) -> None:
        self.found.written |= self.found.containers | self.found.mixed

    def attribute(self, node: ast.Attribute) -> None:
        known = node.attr in METHODS or node.attr in ATTRIBUTES or isinstance(_resolved(node.value, self.outside), _M)
        if not known and not _reads_arrays(node.attr):
            self.fail(node, "is not known")

    def name(self, node: ast.Name) -> None:
        """A function of the user's that is handed on may be called with anything."""
        if self.outside.get(node.id) in self.found.callees if callable(self.outside.get(node.id)) else False:
            self.anything_changed()
            if self.taints and id(node) not in self.called:
                self.fail(node, "is handed on, and may change a tensor that it is given")

    def call(self, node: ast.Call) -> None:
        if any(keyword.arg in ("out", "inplace", None) for keyword in node.keywords):
            self.fail(node, "may write into a tensor")
        match node.func:
            case ast.Name(id=name):
                if name in self.bound or name not in self.outside:
                    self.fail(node, "calls what the loop itself has bound")
                self.function_call(node, self.outside[name])
            case ast.Attribute(value=owner, attr=name):
                if isinstance(_resolved(owner, self.outside), _M):
                    self.function_call(node, _resolved(node.func, self.outside))
                elif name == "sort":
                    self.changed(owner)
                elif name in CHANGES:
                    self.writes(owner)
            case _:
                self.fail(node, "calls what an expression gives")

    def function_call(self, node: ast.Call, target: Any) -> None:
        if _is_array_call(target):
            name = str(name_of(target))
            asked = by_parameter(name, list(node.args))
            if table.family(name) in ("", "random") or name.endswith("_") or {"out", "inplace"} & asked.keys():
                self.fail(node, "is not known, or writes into a tensor")
            return
        draws = isinstance(getattr(target, "__self__", None), random.Random)
        if not (draws or target in self.found.callees or _is_known(target)):
            self.fail(node, "is not known")
        if isinstance(target, type) or getattr(target, "__module__", "") in ("builtins", "math"):
            return
        if any(self.taints.touch(one) for one in (*node.args, *(keyword.value for keyword in node.keywords))):
            self.fail(node, "may change a tensor that it is given")
        self.found.draws |= draws
        self.anything_changed()


_M = types.ModuleType


def _is_known(value: Any) -> bool:
    """A function or type of Python's own that changes nothing but lists it is given."""
    if isinstance(value, type):
        return (
            value in TYPES
            or (issubclass(value, BaseException) and value.__module__ == "builtins")
            or (
                value.__module__ in ("itertools", "operator", "builtins") and value.__name__ in (FUNCTIONS | _ITERATORS)
            )
        )
    home = str(getattr(value, "__module__", "") or "").removeprefix("_")
    if home == "builtins":
        return value is getattr(builtins, getattr(value, "__name__", ""), None) and value.__name__ in FUNCTIONS
    return home in MODULES or _is_array_call(value)


_ITERATORS = frozenset("""
itemgetter attrgetter count cycle repeat accumulate chain combinations permutations product islice starmap groupby
zip_longest takewhile dropwhile pairwise
""".split())  # fmt: skip


_UNKNOWN = object()
"""What the parameters of a function of the user's stand for."""


def _creates(node: ast.expr, values: Mapping[str, Any]) -> bool:
    """Whether an expression is a call that makes a tensor or array of its own."""
    target = _resolved(node.func, values) if isinstance(node, ast.Call) else None
    known = str(name_of(target)) if callable(target) else ""
    return known.startswith(("torch.", "np.")) and known.rpartition(".")[2] in CREATORS


def apart(stored: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    """Whether arrays share no memory with others."""
    places = [reach(one) for one in others]
    for one in stored:
        start, end = reach(one)
        if any(first < end and start < last for first, last in places):
            return False
    return True


def _resolved(node: ast.AST, values: Mapping[str, Any]) -> Any:
    """The object of a module that an expression names; None of other expressions."""
    if isinstance(node, ast.Name):
        return values.get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(owner := _resolved(node.value, values), _M):
        return getattr(owner, node.attr, None)
    return None


def _reads_arrays(name: str) -> bool:
    if name.endswith("_") or name in IN_PLACE_METHODS:
        return False
    return name in READS or table.family(f"method.{name}") not in ("", "random")
