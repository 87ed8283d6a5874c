"""Objects that a region makes: their attributes are held as names are, their methods are translated in place.

agent = Agent(x)                            position = x
for u in controls:                          for u in controls:
    agent.step(u)                               position = step(position, u)
out.append(agent.position)                  out.append(position)

So attributes are carried by loops, joined behind an ``if`` and differ by lane. The object as a whole never is a value:
where one is put into a list, returned or passed to what is not read, the region is refused.
"""

from __future__ import annotations

import abc
import ast
import dataclasses
import inspect
import types
from typing import Any

from looplift.base.classes import FIELD_GETTER, is_of_library
from looplift.base.data import dataclass
from looplift.frontend import calls, evident, expressions, structures
from looplift.frontend.cells import Cells
from looplift.frontend.scope import MISSING, Builder, Restart, Structure, Tup, Value, is_none, is_unbound
from looplift.ir.grammar import UNDEFINED, Atom, Const
from looplift.ops.distributions import TWINS

INITIALIZERS = ("__init__", "__new__", "__setattr__", "__getattribute__")
_GENERATED = "<string>"
"""The file of methods that ``dataclasses`` and ``collections`` write."""
_OF_ITEMS = ("__init__", "__getitem__", "__iter__", "__len__", "__contains__", "__getattribute__", "__getattr__")
"""What a NamedTuple has from ``tuple`` if its items are read as a tuple's."""
_FROM_FACTORY = dataclasses._HAS_DEFAULT_FACTORY  # pyright: ignore[reportAttributeAccessIssue]
"""The default of a parameter of a generated ``__init__`` whose value a factory makes."""
_HARMLESS = ("abc", "typing")
"""Modules of which classes of the user may inherit: their classes do nothing when an object is made."""


@dataclass(eq=False)
class Instance(Cells):
    """An object of a class of the user's, of a NamedTuple, or a ``SimpleNamespace``."""

    of: Any = None
    callee: Any = None
    """The class, as the region reaches it."""

    @property
    def noun(self) -> str:  # type: ignore[override]
        return f"an object of '{self.of.__name__}' that the loop makes"

    def take_name(self, name: str) -> None:
        """Its cells have the names of its attributes."""

    def cell_for(self, build: Builder, key: Any) -> str:
        if build.blocks[-1] is not self.block:  # it is there before the branch or loop that sets it first
            build.late.setdefault(self.of, set()).add(key)
            raise Restart
        return f"<{next(build.counter)}>{key}"

    def like(self, build: Builder, parts: Tup) -> Instance:
        found = _new(build, self.callee)
        for name, value in zip(self.cells, parts.items, strict=True):
            found.add(build, name, value)
        return found

    def check_may_change(self, build: Builder) -> None:
        if self.is_carried:
            raise self.refusal(build, "changed after a name was bound to it or to another one in turn")

    def is_like(self, other: Cells) -> bool:
        return isinstance(other, Instance) and other.of is self.of and super().is_like(other)

    @property
    def is_tuple(self) -> bool:
        return issubclass(self.of, tuple)

    # ------------------------------------------------------------ attributes

    def attribute(self, build: Builder, name: str) -> Value:
        declared = declared_in(self.of.__mro__, name)
        if name == "__class__" and self.of not in TWINS and self._has_own_class:
            return self.callee
        if type(declared) is property and declared.fget is not None:
            build.watch(self.of, f".{name}", declared)
            return calls.inline(build, Const(declared.fget, self._path(name)), declared.fget, [self], {})
        if name in self.cells:
            self._watch_declared(build, name, declared)
            if is_unbound(build.cells[self.cells[name]]):
                raise build.refuse("unsupported-syntax", f"'.{name}' of {self.noun} may not be set here")
            return self.value(build, name)
        if declared is MISSING:
            raise build.refuse("unsupported-value", f"{self.noun} has no attribute '{name}'")
        return self._of_class(build, name, declared)

    def _of_class(self, build: Builder, name: str, declared: Any) -> Value:
        """What the class has under a name."""
        found = method_of(build, self, self.of, name, declared)
        if found is not None:
            return found
        if hasattr(type(declared), "__get__"):
            raise self.refusal(build, f"asked for '.{name}', which is computed at each access")
        return expressions.attribute(build, self.callee, name)

    def _watch_declared(self, build: Builder, name: str, declared: Any) -> None:
        """What the class has under the name of an attribute leaves it to the object, and goes on to do so."""
        if self.is_tuple:
            if type(declared) is not FIELD_GETTER or declared.__get__(tuple(self.cells), self.of) != name:
                raise self.refusal(build, f"asked for '.{name}', which is no field of its class any more")
            build.watch(self.of, f".{name}.__reduce__()[1][0]", list(self.cells).index(name))
        elif declared is not MISSING:
            owner = next(one for one in self.of.__mro__ if name in vars(one))
            build.watch(owner, f".__dict__[{name!r}].__class__", type(declared))

    @property
    def _has_own_class(self) -> bool:
        """Whether its ``__class__`` is its class."""
        return declared_in(self.of.__mro__, "__class__") is vars(object)["__class__"]

    def is_of(self, build: Builder, kind: Any) -> bool:
        """What ``isinstance`` says of it, if it asks nothing but which classes its class inherits from."""
        if self.of in TWINS:
            raise self.refusal(build, "asked for its class")
        inherits, asked = kind in self.of.__mro__, getattr(type(kind), "__instancecheck__", None)
        if asked is type.__instancecheck__ and self._has_own_class:
            build.watch(type(kind), ".__instancecheck__", asked)
            return inherits
        is_base = inherits and type(kind) is abc.ABCMeta
        if is_base and declared_in(kind.__mro__, "__subclasshook__") is vars(object)["__subclasshook__"]:
            return True
        raise self.refusal(build, f"asked whether it is of {kind!r}, where more than its bases decides")

    def _path(self, name: str) -> str:
        return f"{self.of.__name__}.{name}"

    def set(self, build: Builder, name: str, value: Value) -> None:
        """``owner.name = value``."""
        declared = declared_in(self.of.__mro__, name)
        if type(declared) is property and declared.fset is not None:
            build.watch(self.of, f".{name}", declared)
            calls.inline(build, Const(declared.fset, self._path(name)), declared.fset, [self, value], {})
            return
        if self.is_tuple or self.of.__setattr__ not in (object.__setattr__, types.SimpleNamespace.__setattr__):
            raise self.refusal(build, f"given another '.{name}', which its class does not allow")
        self.put(build, name, value)

    def put(self, build: Builder, name: str, value: Value) -> None:
        """What ``object.__setattr__(owner, name, value)`` does where it does nothing else."""
        declared = declared_in(self.of.__mro__, name)
        is_slot = isinstance(declared, types.MemberDescriptorType)
        if not is_slot and (not self.of.__dictoffset__ or hasattr(type(declared), "__set__")):
            raise self.refusal(build, f"given another '.{name}', which its class does not hold as it is")
        self._watch_declared(build, name, declared)
        self.add(build, name, value)

    # ------------------------------------------------------------ calls

    def method(self, build: Builder, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if self.is_tuple and name == "_replace" and not args and kwargs.keys() <= self.cells.keys():
            return self.like(build, Tup(tuple(kwargs.get(str(key), self.value(build, key)) for key in self.cells)))
        return calls.call_value(build, self.attribute(build, name), args, kwargs)

    def special(self, build: Builder, name: str) -> Value | None:
        """A special method, which Python looks for in the class alone; None where it has none."""
        declared = declared_in(self.of.__mro__, name)
        return method_of(build, self, self.of, name, declared) if isinstance(declared, types.FunctionType) else None

    def _special_call(self, build: Builder, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        found = self.special(build, name)
        if found is None:
            raise self.refusal(build, f"asked for what a '{name}' would do")
        return calls.call_value(build, found, args, kwargs)

    def call(self, build: Builder, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return self._special_call(build, "__call__", args, kwargs)

    # ------------------------------------------------------------ items

    def item(self, build: Builder, key: Value) -> Value:
        if not self.is_tuple:
            return self._special_call(build, "__getitem__", [key], {})
        known, values = structures.key_of(key), self.values(build)
        if type(known) is not int or not -len(values) <= known < len(values):
            raise self.refusal(build, "read at a place that is not known before the loop runs")
        return values[known]

    def store(self, build: Builder, key: Value, value: Value) -> None:
        self._special_call(build, "__setitem__", [key, value], {})

    def unpacked(self, build: Builder, count: int | None) -> tuple[Value, ...]:
        return structures.as_many(build, self.iterated(build), count)

    def iterated(self, build: Builder) -> list[Value]:
        return self.values(build) if self.is_tuple else super().iterated(build)

    def listed(self, build: Builder) -> list[Value] | None:
        return self.values(build) if self.is_tuple else None

    def length(self, build: Builder) -> Atom:
        return Const(len(self.cells)) if self.is_tuple else super().length(build)


@dataclass(eq=False)
class Method(Structure):
    """A method of an object, or of a class, with what it is bound to."""

    owner: Value
    function: types.FunctionType
    path: str

    @property
    def noun(self) -> str:  # type: ignore[override]
        return f"the method '{self.path}'"

    def call(self, build: Builder, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return calls.inline(build, Const(self.function, self.path), self.function, [self.owner, *args], kwargs)


def method_of(build: Builder, owner: Instance, of: type, name: str, declared: Any) -> Value | None:
    """A method that a class gives an object, watched; None of anything else."""
    path = f"{of.__name__}.{name}"
    if isinstance(declared, types.FunctionType):
        build.watch(of, f".{name}", declared)
        return Method(owner, declared, path)
    if isinstance(declared, staticmethod) and isinstance(declared.__func__, types.FunctionType):
        build.watch(of, f".{name}", declared.__func__)
        return Const(declared.__func__, path)
    if isinstance(declared, classmethod) and isinstance(declared.__func__, types.FunctionType):
        build.watch(of, f".{name}.__func__", declared.__func__)
        return Method(owner.callee, declared.__func__, path)
    return None


def declared_in(classes: tuple[type, ...], name: str) -> Any:
    """What the first of some classes that has a name has under it."""
    return next((vars(one)[name] for one in classes if name in vars(one)), MISSING)


# ---------------------------------------------------------------- making


def called(build: Builder, callee: Const, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """The value of a call that makes an object, or sets an attribute of one; None of any other."""
    value = callee.value
    if isinstance(value, type):
        return _made(build, callee, args, kwargs)
    if not args or not isinstance(args[0], Instance):
        return None
    if value is object.__setattr__ and len(args) == 3 and not kwargs:
        return _set_directly(build, args[0], args[1], args[2])
    return _replaced(build, args[0], kwargs) if value is dataclasses.replace and len(args) == 1 else None


def _set_directly(build: Builder, owner: Instance, name: Value, value: Value) -> Value | None:
    """``object.__setattr__(self, name, value)``, by which frozen objects are filled."""
    known = structures.key_of(name)
    if not isinstance(known, str) or owner.is_tuple:
        return None
    owner.put(build, known, value)
    return Const(None)


def _replaced(build: Builder, owner: Instance, changes: dict[str, Value]) -> Value | None:
    """``dataclasses.replace(owner, name=value)``."""
    fields = getattr(owner.of, "__dataclass_fields__", None)
    if fields is None or not all(one.init and _is_field(one) for one in fields.values()):
        return None
    given = {name: changes.get(name, UNDEFINED) for name in fields} | changes
    given = {name: owner.attribute(build, name) if value is UNDEFINED else value for name, value in given.items()}
    return _made(build, owner.callee, [], given)


def _made(build: Builder, callee: Const, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    if callee.value is types.SimpleNamespace and not args:
        found = _begun(build, callee)
        for name, value in kwargs.items():
            found.add(build, name, value)
        return found
    of: Any = callee.value
    if _is_named_tuple(of):
        _watch(build, of)
        found = _new(build, callee)
        for name, value in _bound(build, callee, of.__new__, found, args, kwargs).items():
            found.add(build, name, value)
        return found
    if not _is_plain(of):
        return None
    _watch(build, of)
    found = _begun(build, callee)
    if not is_none(initialize(build, found, of.__mro__, args, kwargs)):
        raise found.refusal(build, "made by an '__init__' that may return a value")
    return found


def _begun(build: Builder, callee: Const) -> Instance:
    """An object before its ``__init__``: what a branch or loop sets first is read of its class until then."""
    found = _new(build, callee)
    for name in sorted(build.late.get(callee.value, ())):
        declared = declared_in(callee.value.__mro__, name)
        is_value = declared is not MISSING and not hasattr(type(declared), "__get__")
        found.add(build, name, expressions.attribute(build, callee, name) if is_value else UNDEFINED)
    return found


def _new(build: Builder, callee: Const) -> Instance:
    prefix = f"<{next(build.counter)}>object"
    return Instance("object", prefix, len(build.blocks), block=build.blocks[-1], of=callee.value, callee=callee)


def _watch(build: Builder, of: type) -> None:
    """A variant holds while the classes of an object make objects in the same way and get no further attributes."""
    for name in INITIALIZERS:
        found = getattr(of, name)
        if isinstance(found, types.FunctionType):
            build.watch(of, f".{name}", found)
        else:  # one of Python's own, which is told by its name from one process to the next
            build.watch(of, f".{name}.__qualname__", found.__qualname__)
    build.watch(of, ".__mro__", of.__mro__)
    for base in of.__mro__:
        if not is_of_library(base.__module__):
            build.watch(base, ".__dict__.__len__()", len(vars(base)))


def initialize(
    build: Builder, found: Instance, classes: tuple[type, ...], args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """What the first ``__init__`` of some classes does to an object."""
    owner = next(one for one in classes if "__init__" in vars(one))
    declared = vars(owner)["__init__"]
    if owner is object:
        if args or kwargs:
            raise build.refuse("unknown-call", f"'{found.of.__name__}' takes no arguments")
        return Const(None)
    if "__dataclass_fields__" in vars(owner) and declared.__code__.co_filename == _GENERATED:
        return _fill(build, found, owner, declared, args, kwargs)
    method = method_of(build, found, owner, "__init__", declared)
    if method is None:
        raise found.refusal(build, "made in a way that cannot be read")
    return calls.call_value(build, method, args, kwargs)


def _fill(
    build: Builder,
    found: Instance,
    owner: Any,
    generated: types.FunctionType,
    args: list[Value],
    kwargs: dict[str, Value],
) -> Value:
    """The ``__init__`` that ``dataclasses`` wrote for a class."""
    build.watch(owner, ".__init__", generated)
    given = _bound(build, found.callee, generated, found, args, kwargs)
    named = {*generated.__code__.co_names, *generated.__code__.co_consts}  # frozen objects are filled by words
    rest: list[Value] = []
    for place, (name, one) in enumerate(vars(owner)["__dataclass_fields__"].items()):
        is_initial = one._field_type is dataclasses._FIELD_INITVAR  # pyright: ignore[reportAttributeAccessIssue]
        if is_initial:
            if name not in given:
                raise found.refusal(build, f"made with '{name}', which is no parameter of its '__init__'")
            rest.append(given[name])
        elif _is_field(one) and name in named:  # other fields are the class's alone
            found.put(build, name, given[name] if name in given else _field_default(build, found, one, place))
    if "__post_init__" in named:
        found.method(build, "__post_init__", rest, {})
    return Const(None)


def _field_default(build: Builder, found: Instance, one: dataclasses.Field, place: int) -> Value:
    """What a field holds that is no parameter, or whose parameter stands for what a factory makes."""
    if one.default_factory is not dataclasses.MISSING:
        return _from_factory(build, found, one, place)
    return calls.default_value(build, found.callee, one.default)


def _is_field(one: dataclasses.Field) -> bool:
    return one._field_type is dataclasses._FIELD  # pyright: ignore[reportAttributeAccessIssue]


def _from_factory(build: Builder, found: Instance, one: dataclasses.Field, place: int) -> Value:
    """What ``field(default_factory=...)`` makes."""
    factory: Any = one.default_factory
    node = ast.List([], ast.Load(), lineno=build.span.line, col_offset=build.span.column, end_col_offset=-1 - place)
    if factory is list:
        return structures.list_display(build, node, [])
    if factory is dict:
        return structures.empty_dict(build, node)
    path = f"{found.of.__name__}.{one.name}"
    if not build.is_known_by_itself(factory):
        raise build.refuse("unknown-call", f"what makes '{path}' is not known before the loop runs")
    return calls.call_value(build, build.stranger(factory, path), [], {})


def _bound(
    build: Builder, callee: Const, function: Any, found: Instance, args: list[Value], kwargs: dict[str, Value]
) -> dict[str, Value]:
    """The arguments of a call of a generated function by the names of the fields that they are for, with the defaults
    that are values."""
    if "__signature__" in vars(function):
        raise build.refuse("unknown-call", f"'{callee.path}' shows another signature than its own")
    signature = inspect.signature(function, follow_wrapped=False)
    try:
        given = signature.bind(found, *args, **kwargs).arguments
    except TypeError as error:
        raise build.refuse("unknown-call", f"the call of '{callee.path}' does not fit: {error}") from None
    build.watch_function(function)
    return {
        name: given[name] if name in given else calls.default_value(build, callee, one.default)
        for name, one in list(signature.parameters.items())[1:]
        if name in given or one.default is not _FROM_FACTORY
    }


def _is_plain(of: type) -> bool:
    """Whether to make an object of a class does nothing but to run its ``__init__``."""
    return (
        type(of) in (type, abc.ABCMeta)
        and not getattr(of, "__abstractmethods__", ())
        and (of in TWINS or not is_of_library(of.__module__))
        and all(one is object or one.__module__ in _HARMLESS or _is_of_users(one) for one in of.__mro__)
        and of.__new__ is object.__new__
        and of.__getattribute__ is object.__getattribute__
        and (of.__setattr__ is object.__setattr__ or _is_frozen(of))
        and not any(hasattr(of, name) for name in ("__del__", "__getattr__"))
    )


_HEAP_TYPE = 1 << 9


def _is_of_users(of: type) -> bool:
    return bool(of.__flags__ & _HEAP_TYPE) and (of in TWINS or not is_of_library(of.__module__))


def _is_frozen(of: type) -> bool:
    """Whether a class forbids to set attributes because ``dataclasses`` says so."""
    declared = declared_in(of.__mro__, "__setattr__")
    is_generated = isinstance(declared, types.FunctionType) and declared.__code__.co_filename == _GENERATED
    return is_generated and dataclasses.is_dataclass(of)


def _is_named_tuple(of: Any) -> bool:
    """Whether a class is a NamedTuple of the user's, whose objects are made of their fields and nothing else."""
    if of.__bases__ != (tuple,) or not isinstance(vars(of).get("_fields"), tuple) or is_of_library(of.__module__):
        return False
    made = of.__new__
    is_generated = isinstance(made, types.FunctionType) and made.__code__.co_filename == _GENERATED
    return is_generated and not any(name in vars(of) for name in _OF_ITEMS)


# ---------------------------------------------------------------- super() and operators


@dataclass(eq=False)
class Super(Structure):
    """``super()`` in a method of an object that the region makes."""

    owner: Instance
    classes: tuple[type, ...]
    noun = "'super()'"

    def method(self, build: Builder, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name == "__init__":
            return initialize(build, self.owner, self.classes, args, kwargs)
        return calls.call_value(build, self.attribute(build, name), args, kwargs)

    def attribute(self, build: Builder, name: str) -> Value:
        owner = next((one for one in self.classes if name in vars(one)), None)
        declared = MISSING if owner is None else vars(owner)[name]
        if owner is not None and type(declared) is property and declared.fget is not None:
            build.watch(owner, f".{name}", declared)
            return calls.inline(build, Const(declared.fget, f"super().{name}"), declared.fget, [self.owner], {})
        found = None if owner is None else method_of(build, self.owner, owner, name, declared)
        return super().attribute(build, name) if found is None else found


def parent(build: Builder) -> Super | None:
    """``super()`` where the method that is translated is one of an object that the region makes; else None."""
    function, outer = build.calls[-1] if build.calls else None, build.frame.outer
    cell = getattr(outer, "cells", {}).get("__class__")
    if not isinstance(function, types.FunctionType) or cell is None or not function.__code__.co_argcount:
        return None
    owner, of = build.env.get(function.__code__.co_varnames[0]), cell.cell_contents
    if not isinstance(owner, Instance) or of not in owner.of.__mro__:
        return None
    build.watch(cell, ".cell_contents", of)
    return Super(owner, owner.of.__mro__[owner.of.__mro__.index(of) + 1 :])


def binary(build: Builder, name: str, left: Value, right: Value) -> Value | None:
    """``left + right`` where the class of one of them says what that is; None of other values."""
    word = name.rstrip("_")
    if isinstance(left, Instance):
        first = left.special(build, f"__{word}__")
        if first is None or not _is_asked_first(build, left, right):
            return None
        return calls.call_value(build, first, [right], {})
    if isinstance(right, Instance) and evident.is_python_number(build, left):
        second = right.special(build, f"__r{word}__")
        return None if second is None else calls.call_value(build, second, [left], {})
    return None


def _is_asked_first(build: Builder, left: Instance, right: Value) -> bool:
    """Whether Python asks the left operand first: a class that inherits of its class goes before it."""
    if isinstance(right, Instance):
        return right.of is left.of or not issubclass(right.of, left.of)
    return not isinstance(right, Structure) and build.object_path(right) is None


def updated(build: Builder, name: str, owner: Instance, value: Value) -> Value:
    """What a name is bound to by ``owner += value``."""
    in_place = owner.special(build, f"__i{name.rstrip('_')}__")
    found = binary(build, name, owner, value) if in_place is None else calls.call_value(build, in_place, [value], {})
    if found is None:
        raise owner.refusal(build, "an operand of what its class does not have")
    return found


def negative(build: Builder, name: str, owner: Instance) -> Value:
    """``-owner``, ``+owner`` and ``~owner``."""
    return owner._special_call(build, f"__{name}__", [], {})
