"""Attributes that are read without running code in; conditions under which that stays so out.

What a region reads of an object is read once for each call. So nothing may run where it is read: no property, no
``__getattr__``, also none that the class gets between two calls. Conditions on classes come before those that read.
"""

from __future__ import annotations

import collections
import enum
import inspect
import re
import types
from collections.abc import Iterator, Sequence
from typing import Any

from looplift.base.classes import is_of_library
from looplift.base.data import dataclass, field

_HEAP_TYPE = 1 << 9
SLOTS = "__slots__"
_MISSING = object()
_READERS = ("__getattribute__", "__getattr__")


@dataclass(frozen=True)
class Read:
    """The attribute ``name`` of the object at ``path``, or of ``each`` item of the list there; without a name, that
    these are of their classes.

    ``kinds`` are the classes of the objects; of a class whose attribute is read, the class itself. ``held_in`` is the
    table of an object that holds it where a ``__getattr__`` would be asked for what is not there, or SLOTS.
    """

    path: str
    name: str
    kinds: tuple[type, ...]
    each: bool = False
    held_in: str = ""
    is_guarded: bool = False
    """Whether other conditions say of which class the object is."""


def reads_of(owner: Any, path: str, name: str, *, is_guarded: bool) -> list[Read]:
    """What has to stay so that no code runs where an attribute of an object or a class is read."""
    import torch

    if isinstance(owner, type):
        return [Read(path, name, (one,), is_guarded=True) for one in (type(owner), owner)]
    is_of_torch = isinstance(owner, torch.nn.Module) and is_of_library(type(owner).__module__)
    return [Read(path, name, (type(owner),), held_in=asked(owner, name), is_guarded=is_guarded or is_of_torch)]


def asked(owner: Any, name: str) -> str:
    """Where an object must hold an attribute, because its class runs code for one that is not there."""
    import torch

    kind = type(owner)
    declared = inspect.getattr_static(kind, name, _MISSING)
    base = torch.nn.Module if isinstance(owner, torch.nn.Module) else object
    asks = getattr(kind, "__getattr__", None) is not getattr(base, "__getattr__", None)
    if isinstance(declared, types.MemberDescriptorType):
        return SLOTS if asks else ""
    runs = asks if declared is _MISSING else _runs(declared, held=False)
    return _table_of(owner, name) if runs else ""


# ---------------------------------------------------------------- what runs

_TABLES = ("__dict__", "_parameters", "_buffers", "_modules")
_Pair = collections.namedtuple("_Pair", "first second")
_PLAIN = (
    types.FunctionType, staticmethod, classmethod, types.MemberDescriptorType, types.GetSetDescriptorType,
    type(vars(_Pair)["first"]), types.MethodDescriptorType, types.WrapperDescriptorType, types.BuiltinFunctionType,
    types.ClassMethodDescriptorType,
)  # fmt: skip
"""What gives the same where it is read of an object again."""


def is_computed(owner: Any, name: str) -> bool:
    """Whether Python code of the user may run to read an attribute."""
    import torch

    if isinstance(owner, types.ModuleType):
        return _is_computed_by_module(owner, name)
    if isinstance(owner, type):
        return _is_computed_by_class(owner, name)
    if isinstance(owner, enum.Enum) and name in ("name", "value"):
        return inspect.getattr_static(type(owner), name) is not vars(enum.Enum)[name]
    if isinstance(owner, torch.nn.Module):
        return _is_computed_by_network(owner, name)
    return _is_computed_by_object(owner, name)


def _is_computed_by_module(owner: types.ModuleType, name: str) -> bool:
    return not is_of_library(owner.__name__) and name not in vars(owner) and "__getattr__" in vars(owner)


def _is_computed_by_class(owner: type, name: str) -> bool:
    kind, declared = type(owner), inspect.getattr_static(owner, name, _MISSING)
    if isinstance(inspect.getattr_static(kind, name, None), property) or _says_how_to_read(kind):
        return True
    if declared is _MISSING:
        return hasattr(kind, "__getattr__")
    if isinstance(owner, enum.EnumMeta) and name in owner.__members__:
        return False
    return not isinstance(declared, property) and _runs(declared, held=False)


def _says_how_to_read(kind: type) -> bool:
    return isinstance(inspect.getattr_static(kind, "__getattribute__", None), types.FunctionType)


def _is_computed_by_network(owner: Any, name: str) -> bool:
    import torch

    kind = type(owner)
    if kind.__getattribute__ is not torch.nn.Module.__getattribute__:
        return True
    declared = inspect.getattr_static(kind, name, _MISSING)
    if declared is not _MISSING:
        return _runs(declared, held=name in vars(owner))
    return kind.__getattr__ is not torch.nn.Module.__getattr__ and _table_of(owner, name) == ""


def _is_computed_by_object(owner: Any, name: str) -> bool:
    kind = type(owner)
    if _says_how_to_read(kind):
        return True
    declared = inspect.getattr_static(kind, name, _MISSING)
    asks = hasattr(kind, "__getattr__")
    if declared is _MISSING:
        return asks and _table_of(owner, name) == ""
    if asks and isinstance(declared, types.MemberDescriptorType):
        return not _is_given(declared, owner)
    return _runs(declared, held=name in getattr(owner, "__dict__", {}))


def _is_given(slot: types.MemberDescriptorType, owner: Any) -> bool:
    try:
        slot.__get__(owner)
    except AttributeError:
        return False
    return True


def _runs(declared: Any, *, held: bool) -> bool:
    """Whether reading what a class declares runs code, where the object ``held`` something under the name or not."""
    if isinstance(declared, _PLAIN) or not hasattr(type(declared), "__get__"):
        return False
    return not held or hasattr(type(declared), "__set__") or hasattr(type(declared), "__delete__")


def _table_of(owner: Any, name: str) -> str:
    """The table of an object that holds an attribute of its own."""
    import torch

    tables = _TABLES if isinstance(owner, torch.nn.Module) else _TABLES[:1]
    return next((table for table in tables if name in getattr(owner, table, ())), "")


# ---------------------------------------------------------------- conditions


def asks_for_classes(condition: str) -> bool:
    """Whether a condition is one of these: it is asked before an attribute is read."""
    return re.search(r"\b_class_\d+\b", condition) is not None


def conditions(reads: Sequence[Read], names: dict[str, Any]) -> list[str]:
    """What must hold for all of them, outermost first; ``names`` gets the objects that this mentions."""
    named = _Named(names)
    return list(dict.fromkeys(text for read in reads for text in _of_read(read, named)))


@dataclass
class _Named:
    """Gives the same objects the same names."""

    names: dict[str, Any]
    known: dict[Any, str] = field(default_factory=dict)

    def name(self, stem: str, value: Any, key: Any = None) -> str:
        key = id(value) if key is None else key
        if key not in self.known:
            self.known[key] = f"{stem}_{len(self.known)}"
            self.names[self.known[key]] = value
        return self.known[key]

    def members(self, kind: type) -> str:
        """The table of what a class declares, which shows what it will declare."""
        self.name("_class", kind)
        return self.name("_class", vars(kind), (id(kind), "members"))


def _of_read(read: Read, named: _Named) -> Iterator[str]:
    kind = read.kinds[0]
    if read.each:
        kinds = frozenset(read.kinds)
        yield f"{{*map(type, {read.path})}} == {named.name('_class', kinds, kinds)}"
    elif not read.is_guarded:
        yield f"type({read.path}) is {named.name('_class', kind)}"
    for one in read.kinds if read.name else ():
        for name in (*_READERS, read.name):
            yield from _of_declaration(one, name, named)
    if read.held_in:
        yield _of_table(read, named)


def _of_declaration(kind: type, name: str, named: _Named) -> Iterator[str]:
    """That the first class to declare a name is the same one, and declares what is read in the same way."""
    for one in kind.__mro__:
        if not (one.__flags__ & _HEAP_TYPE) or is_of_library(one.__module__):
            if name in vars(one):
                return
            continue
        if name not in vars(one):
            yield f"{name!r} not in {named.members(one)}"
            continue
        if name not in _READERS:
            yield _of_member(one, name, named)
        return


def _of_member(kind: type, name: str, named: _Named) -> str:
    """What is declared may be another one of its type: reading it runs as much code."""
    return f"type({named.members(kind)}[{name!r}]) is {named.name('_class', type(vars(kind)[name]))}"


def _of_table(read: Read, named: _Named) -> str:
    """That objects hold what they held; it names their class, so that it is asked early."""
    kind, owner = read.kinds[0], "row" if read.each else read.path
    holds = f"{read.name!r} in {owner}.{read.held_in}"
    if read.held_in == SLOTS:  # one without a value raises
        declaring = next(one for one in kind.__mro__ if read.name in vars(one))
        holds = f"({named.members(declaring)}[{read.name!r}].__get__({owner}), True)"
    return f"{named.name('_class', kind)} and {f'all([{holds} for row in {read.path}])' if read.each else holds}"
