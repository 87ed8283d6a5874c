"""Class bodies with annotated fields in; classes with ``__init__``, ``__repr__`` and comparison out.

``dataclass``, ``field`` and ``replace`` are those of the standard library, as far as this package needs them. There,
each method of each class is a text that is compiled when the class is made, which was a third of the first lift in a
process. Here all classes share their methods, and only one that has many instances gets an ``__init__`` of its own,
whose code is shared by the classes with that number of fields, under their own names.
``frozen`` is what the type checker holds; at run time nothing does.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


class _Fresh:
    """The default of a field that is made anew for each instance."""

    def __init__(self, make: Callable[[], Any]):
        self.make = make


def field(*, default_factory: Callable[[], Any]) -> Any:
    """A field whose default is made anew for each instance."""
    return _Fresh(default_factory)


@overload
def dataclass(cls: type[T], /) -> type[T]: ...
@overload
def dataclass(*, frozen: bool = ..., eq: bool = ...) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(field_specifiers=(field,))
def dataclass(cls: Any = None, /, *, frozen: bool = False, eq: bool = True) -> Any:
    """Give a class an ``__init__`` of its fields; with ``eq`` they compare it, and hash it if it is ``frozen``."""

    def made(cls: type[T]) -> type[T]:
        return _with_methods(cls, frozen=frozen, eq=eq)

    return made if cls is None else made(cls)


def replace(value: T, /, **changes: Any) -> T:
    """An instance of the same class with other values in some of its fields."""
    held = [changes.pop(name) if name in changes else getattr(value, name) for name in fields_of(value)]
    return type(value)(*held, **changes)


def fields_of(value: Any, /) -> tuple[str, ...]:
    """The names of the fields of an instance or its class; none if it is not made here."""
    return getattr(value, "_looplift_fields", ())


def _with_methods(cls: Any, *, frozen: bool, eq: bool) -> Any:
    members = vars(cls)
    annotations = members.get("__annotations__") or inspect.get_annotations(cls)
    own = [name for name, text in annotations.items() if "ClassVar" not in str(text)]
    names = tuple(dict.fromkeys((*fields_of(cls), *own)))
    defaults = getattr(cls, "_looplift_defaults", {}) | {name: members[name] for name in names if name in members}
    given = [name in defaults for name in names]
    if given != sorted(given):
        raise TypeError(f"'{cls.__name__}' has a field without a default after one that has a default")
    cls._looplift_fields, cls._looplift_defaults = names, defaults
    cls._looplift_fresh = tuple(name for name, value in defaults.items() if type(value) is _Fresh)
    if "__init__" not in members:
        cls.__init__ = _initializer_when_used(cls)
    if "__match_args__" not in members:
        cls.__match_args__ = names
    if "__repr__" not in members:
        cls.__repr__ = _shown
    if eq and "__eq__" not in members:
        cls._looplift_values = operator.attrgetter(*names or ("__class__",))
        cls.__eq__ = _equal
        if "__hash__" not in members:
            cls.__hash__ = _hashed if frozen else None
    for name in cls._looplift_fresh:
        if name in members:
            delattr(cls, name)
    return cls


FEW = 8
"""So many instances cost less than an ``__init__`` of the class's own."""


def _initializer_when_used(cls: Any) -> Callable[..., None]:
    """An ``__init__`` that makes way for the class's own where there are more instances than few; or wrong arguments,
    which that one finds words for."""
    names, defaults, left = cls._looplift_fields, cls._looplift_defaults, FEW

    def __init__(self: Any, *arguments: Any, **keywords: Any) -> None:
        nonlocal left
        left -= 1
        given = dict(zip(names, arguments, strict=False)) | keywords
        values = defaults | given
        is_right = len(given) == len(arguments) + len(keywords) and len(values) == len(names)
        if not left or not is_right or not all(name in values for name in names):
            cls.__init__ = _initializer(cls)
            cls.__init__(self, *arguments, **keywords)
            return
        for name in names:
            setattr(self, name, values[name])
        if cls._looplift_fresh:
            _freshen(self)
        if hasattr(cls, "__post_init__"):
            self.__post_init__()

    return __init__


def _initializer(cls: Any) -> FunctionType:
    names, defaults = cls._looplift_fields, cls._looplift_defaults
    template = _template(len(names), bool(cls._looplift_fresh), hasattr(cls, "__post_init__"))
    renamed = {f"_{place}": name for place, name in enumerate(names)}
    code = template.replace(
        co_names=tuple(renamed.get(name, name) for name in template.co_names),
        co_varnames=tuple(renamed.get(name, name) for name in template.co_varnames),
        co_qualname=f"{cls.__qualname__}.__init__",
    )
    return FunctionType(code, globals(), "__init__", tuple(defaults[name] for name in names if name in defaults))


@cache
def _template(count: int, has_fresh: bool, has_end: bool) -> CodeType:
    names = [f"_{place}" for place in range(count)]
    lines = [f"def __init__({', '.join(['self', *names])}):", *(f"    self.{name} = {name}" for name in names)]
    lines += ["    _freshen(self)"] * has_fresh + ["    self.__post_init__()"] * has_end
    made = compile("\n".join([*lines, "    return None"]), "<looplift fields>", "exec").co_consts
    return next(one for one in made if isinstance(one, CodeType))


def _freshen(self: Any) -> None:
    held = self.__dict__
    for name in self._looplift_fresh:
        if type(held[name]) is _Fresh:
            held[name] = held[name].make()


def _shown(self: Any) -> str:
    return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in fields_of(self))})"


def _equal(self: Any, other: Any) -> Any:
    """Whether the values of the fields are equal, of two instances of one class."""
    values = self._looplift_values
    return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented


def _hashed(self: Any) -> int:
    return hash(self._looplift_values(self))
