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

from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.base.syntax import nodes_of
from looplift.frontend.bindings import CHOICES, MAKERS, NUMBER_CALLS, NUMBER_CHECKS, Bindings, Listed, bindings_of
from looplift.frontend.made import CREATORS
from looplift.frontend.names import names_of
from looplift.frontend.taints import Taints, root_of, tainted_by
from looplift.ops import table
from looplift.ops.names import name_of
from looplift.ops.writes import IN_PLACE_METHODS, by_parameter, writes_operand
from looplift.runtime.contents import ARRAYS, ATOMS, CONTAINERS, global_of, holds_only, holds_sets, makes_items

TYPES = (int, float, bool, complex, str, bytes, object, *CONTAINERS)
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
EFFECTS = frozenset(
    "manual_seed seed save load print backward register_hook set_rng_state storage data_ptr set_".split()
)
COPIERS = frozenset("tensor array stack cat concat concatenate hstack vstack".split())
PURE_OPERATORS = frozenset("""
abs add and_ concat contains countOf eq floordiv ge getitem gt index indexOf inv invert le length_hint lshift lt matmul
mod mul ne neg not_ or_ pos pow rshift sub truediv truth xor
""".split())  # fmt: skip
ATTRIBUTES = frozenset("shape dtype ndim device".split())
FORBIDDEN = (ast.With, ast.AsyncWith, ast.AsyncFor, ast.Try, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
             ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom,
             ast.Match)  # fmt: skip


@dataclass
class Residue:
    """What statements may do: change the arguments ``written``, call ``callees`` of the user's, draw numbers.

    ``containers`` hold numbers and text alone, ``mixed`` ones tensors and arrays as well. ``stored`` are tensors and
    arrays that they write to. ``computes``: whether they compute with tensors. ``bindings``: what their names hold;
    ``taints``: which of them may lead to a tensor.
    """

    bindings: Bindings
    taints: Taints = field(default_factory=lambda: Taints((), lambda _: False))

    draws: bool = False
    written: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    containers: set[str] = field(default_factory=set)
    mixed: set[str] = field(default_factory=set)
    callees: dict[types.FunctionType, tuple[Any, ...]] = field(default_factory=dict)
    computes: bool = False


def residue_of(statements: list[ast.stmt], values: Mapping[str, Any], lists: Mapping[str, Listed]) -> Residue:
    """Raises NotLiftable where a statement may change a tensor, or does what is not known here.

    ``lists``: names of the lists that were made of tensors.
    """
    found = Residue(_bindings(statements, values, lists))
    found.taints = _look_at(statements, values, found.bindings, found)
    ordered = {name for statement in statements for name in _iterated_names(statement)}
    for name in found.written & values.keys():
        if holds_sets(values[name]) if type(values[name]) is not set else name in ordered:
            raise NotLiftable("unsupported-value", f"a copy of '{name}', which holds a set, may have another order")
    return found


def _iterated_names(statement: ast.stmt) -> set[str]:
    """Names that are used in another way than to ask what is in a set, or to change it."""
    loads = {
        id(one): one.id for one in nodes_of(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
    }
    for node in nodes_of(statement):
        match node:
            case ast.Compare(ops=ops, comparators=others) if all(isinstance(op, ast.In | ast.NotIn) for op in ops):
                asked: list[ast.expr] = others
            case ast.Attribute(value=one, attr="add" | "discard" | "remove" | "clear" | "update"):
                asked = [one]
            case ast.Call(func=ast.Name(id="len"), args=[one]):
                asked = [one]
            case _:
                continue
        for one in asked:
            loads.pop(id(one), None)
    return set(loads.values())


_STANDARD = {name: getattr(builtins, name, None) or getattr(collections, name) for name in
             NUMBER_CALLS | CHOICES | MAKERS | {"range", "enumerate", "zip"}}  # fmt: skip


def _outside(statements: list[ast.stmt], values: Mapping[str, Any]) -> dict[str, Any]:
    loads = names_of(statements).loads
    return {name: values[name] for name in loads if values.get(name, _UNKNOWN) is not _UNKNOWN}


def _bindings(statements: list[ast.stmt], values: Mapping[str, Any], lists: Mapping[str, Listed]) -> Bindings:
    outside = _outside(statements, values)
    return bindings_of(statements, values, lists, lambda node: _creates(node, outside))


def _look_at(statements: list[ast.stmt], values: Mapping[str, Any], bindings: Bindings, found: Residue) -> Taints:
    names = names_of(statements)
    if any(values[name] is not own for name, own in _STANDARD.items() if name in values and name in names.loads):
        raise NotLiftable("unsupported-value", "a name of one of Python's own functions is used for something else")
    outside = _outside(statements, values)
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
    return taints


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
            if makes_items(value):
                self.found.written.add(name)
        elif kind is np.ndarray and value.dtype == object:
            raise NotLiftable("unsupported-value", f"'{name}' holds objects")
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
        known = {one: global_of(value, one) for one in names_of(body).loads - own}
        self.found.callees[value] = value.__code__, value.__defaults__, known
        if any(type(held) in (*CONTAINERS, *ARRAYS) for held in known.values()):
            raise NotLiftable("unknown-call", f"'{name}' reads a global that is no function")
        inner = known | dict.fromkeys(own, _UNKNOWN)
        _look_at(body, inner, _bindings(body, inner, {}), self.found)

    # ------------------------------------------------------------ nodes

    def node(self, node: ast.AST) -> None:
        if isinstance(node, FORBIDDEN):
            raise NotLiftable("unsupported-syntax", f"a '{type(node).__name__.lower()}' stands in the loop")
        match node:
            case ast.Call():
                self.called.add(id(node.func))
                self.call(node)
            case ast.Name(ctx=ast.Load()):
                self.handed_on(node, self.outside.get(node.id))
            case ast.Attribute(ctx=ast.Load()):
                self.attribute(node)
            case ast.Attribute():
                self.fail(node, "is set in the loop")
            case ast.Subscript(ctx=ast.Store() | ast.Del(), value=owner):
                self.changed(owner)
            case ast.AugAssign(target=target):
                self.changed_in_place(target)
            case ast.Compare(left=left, ops=ops, comparators=others) if any(isinstance(op, _IDENTITY) for op in ops):
                if not any(isinstance(one, ast.Constant) for one in (left, *others)):
                    self.fail(node, "asks whether two names stand for one object")

    def is_container(self, node: ast.expr) -> bool:
        """Whether a name stands for a list, dict or the like, and never for a tensor."""
        if not isinstance(node, ast.Name):
            return False
        return node.id in self.bindings.fresh or (
            node.id not in self.bound and type(self.outside.get(node.id)) in CONTAINERS
        )

    def changed_in_place(self, target: ast.expr) -> None:
        if root_of(target) in self.taints and not self.is_container(target):
            self.changed_array(target, "may change a tensor in place")
        if isinstance(target, ast.Name) and target.id not in self.bindings.numbers:
            self.writes(target)

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
        if name in self.bindings.lists or name in self.bindings.created:
            return
        if name in self.outside and name not in self.bound:
            self.found.written.add(name)
        elif not (isinstance(owner, ast.Name) and name in self.bindings.fresh):
            self.anything_changed()

    def anything_changed(self) -> None:
        self.found.written |= self.found.containers | self.found.mixed

    def attribute(self, node: ast.Attribute) -> None:
        if isinstance(_resolved(node.value, self.outside), _M):
            value = _resolved(node, self.outside)
            if not (type(value) in ATOMS or isinstance(value, type | _M) or _draws(value) or _is_known(value)):
                self.fail(node, "is not known")
            self.handed_on(node, value)
        elif not (node.attr in METHODS or node.attr in ATTRIBUTES or _reads_arrays(node.attr)):
            self.fail(node, "is not known")
        elif node.attr in CHANGES and id(node) not in self.called:
            self.may_change_anything(node)

    def handed_on(self, node: ast.expr, value: Any) -> None:
        """A function that is not called where it stands may be called with anything."""
        if not callable(value) or isinstance(value, type) or id(node) in self.called or _is_pure(value):
            return
        self.found.draws |= _draws(value)
        self.may_change_anything(node)

    def may_change_anything(self, node: ast.expr) -> None:
        self.anything_changed()
        if self.taints:
            self.fail(node, "is handed on, and may change a tensor that it is given")

    def call(self, node: ast.Call) -> None:
        if any(keyword.arg in ("out", "inplace", None) for keyword in node.keywords):
            self.fail(node, "may write into a tensor")
        match node.func:
            case ast.Name(id=name):
                if name in NUMBER_CHECKS:
                    return
                if name in self.bound or name not in self.outside:
                    self.fail(node, "calls what the loop itself has bound")
                self.function_call(node, self.outside[name])
            case ast.Attribute(value=owner, attr=name):
                if isinstance(home := _resolved(owner, self.outside), _M):
                    self.function_call(node, _resolved(node.func, self.outside))
                elif isinstance(home, type) and name in CHANGES:
                    self.fail(node, "may change what it is given")
                else:
                    self.method_call(node, owner, name)
            case _:
                self.fail(node, "calls what an expression gives")

    def method_call(self, node: ast.Call, owner: ast.expr, name: str) -> None:
        if name == "sort":
            self.changed(owner)
        elif name in CHANGES:
            self.writes(owner)
        elif {"out", "inplace"} & by_parameter(f"method.{name}", [np.empty(0), *node.args]).keys():
            self.fail(node, "may write into a tensor")

    def function_call(self, node: ast.Call, target: Any) -> None:
        if _is_array_call(target):
            self.array_call(node, str(name_of(target)), node.args, {str(one.arg): one.value for one in node.keywords})
            return
        if not (_draws(target) or target in self.found.callees or _is_known(target)):
            self.fail(node, "is not known")
        if isinstance(target, type) or _is_pure(target):
            return
        if any(self.taints.touch(one) for one in (*node.args, *(keyword.value for keyword in node.keywords))):
            self.fail(node, "may change a tensor that it is given")
        self.found.draws |= _draws(target)
        if target in self.found.callees or node.keywords:
            self.anything_changed()
        elif node.args:
            self.writes(node.args[0])

    def array_call(self, node: ast.expr, name: str, args: list[Any], kwargs: dict[str, Any]) -> None:
        base = name.rpartition(".")[2]
        known = base in CREATORS | COPIERS or (table.family(name) not in ("", "random") and base not in EFFECTS)
        if not known or name.endswith("_") or writes_operand(name, args, kwargs):
            self.fail(node, "is not known, or writes into a tensor")


_M = types.ModuleType
_IDENTITY = (ast.Is, ast.IsNot)


def _draws(value: Any) -> bool:
    return isinstance(getattr(value, "__self__", None), random.Random)


def _is_pure(value: Any) -> bool:
    """A function of Python's own that changes nothing that it is given."""
    home = getattr(value, "__module__", "")
    return home in ("builtins", "math", "cmath") or (home == "_operator" and value.__name__ in PURE_OPERATORS)


def _is_known(value: Any) -> bool:
    """A function or type of Python's own that changes nothing but lists it is given."""
    if isinstance(value, type):
        return (
            value in TYPES
            or (issubclass(value, Exception) and value.__module__ == "builtins")
            or (
                value.__module__ in ("itertools", "operator", "builtins") and value.__name__ in (FUNCTIONS | _ITERATORS)
            )
        )
    home = str(getattr(value, "__module__", "") or "").removeprefix("_")
    if home == "builtins":
        return value is getattr(builtins, getattr(value, "__name__", ""), None) and value.__name__ in FUNCTIONS
    return (home in MODULES and value.__name__ not in ("is_", "is_not")) or _is_array_call(value)


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
    if not known.startswith(("torch.", "np.")) or known.rpartition(".")[2] not in CREATORS:
        return False
    return not any(_names_objects(one, values) for one in nodes_of(node))


def _names_objects(node: ast.AST, values: Mapping[str, Any]) -> bool:
    """Whether a node may be a dtype of arrays that hold anything."""
    if isinstance(node, ast.Constant):
        return type(node.value) is str
    return any(_resolved(node, values) is one for one in (object, np.object_))


def _resolved(node: ast.AST, values: Mapping[str, Any]) -> Any:
    """The object of a module that an expression names; None of other expressions."""
    if isinstance(node, ast.Name):
        return values.get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(owner := _resolved(node.value, values), _M):
        return getattr(owner, node.attr, None)
    return None


def _reads_arrays(name: str) -> bool:
    if name.endswith("_") or name in IN_PLACE_METHODS or name in EFFECTS:
        return False
    return name in READS or table.family(f"method.{name}") not in ("", "random")
