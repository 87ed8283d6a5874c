"""Classes of the user's in, what typed programs know of them out: attributes, methods, constants, comparisons."""

from __future__ import annotations

import ast
import collections
import dataclasses
import types
from contextlib import suppress
from typing import Any

from looplift.base.classes import FIELD_GETTER
from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.base.syntax import nodes_of
from looplift.emit.typed_enumerations import is_member
from looplift.emit.typed_scope import refuse
from looplift.emit.typed_types import NEVER, Box
from looplift.runtime.contents import class_attributes

_OF_DATACLASSES = frozenset(
    """__dataclass_fields__ __dataclass_params__ __match_args__ __replace__ __init__ __eq__ __hash__ __post_init__
    __setattr__ __delattr__""".split()
)
_SHOWN = frozenset(("__repr__", "__str__"))
"""What programs never call: they make no text of objects."""
_UNUSED = _SHOWN | frozenset(
    """__format__ __iter__ __next__ __reversed__ __setitem__ __delitem__ __enter__ __exit__ __copy__ __deepcopy__
    __getstate__ __setstate__ __sizeof__ __dir__""".split()
)
"""Nor do they go through any, or store under subscripts of them."""
TRUTH = ("__bool__", "__len__")
"""What says whether an object holds: the first of them that its class has."""
_ASKED = frozenset((*TRUTH, "__contains__", "__getitem__", "__call__"))
OPERATORS: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.MatMult: "matmul",
}  # fmt: skip
"""The operators that classes may have, by the names of their methods."""
_ARITHMETIC = {"__neg__", "__abs__"} | {f"__{side}{name}__" for name in OPERATORS.values() for side in ("", "r")}
_CONSTANTS = (bool, int, float, str, type(None))
_OF_NAMED_TUPLES = frozenset(
    """__slots__ _fields _field_defaults __new__ _make _replace _asdict __repr__ __getnewargs__ __match_args__
    __orig_bases__ __replace__ __annotations__""".split()
)


FACTORIES = (list, dict, set, collections.deque)
"""What makes empty containers for the fields of dataclasses."""
_FROM_FACTORY = dataclasses._HAS_DEFAULT_FACTORY  # pyright: ignore[reportAttributeAccessIssue]


@dataclass(eq=False)
class Record:
    """A class: the type of its objects, and its methods. All its objects share the types of their attributes.

    ``first``: the attributes that a constructor sets. ``parts``: the fields of a dataclass, whose constructor nobody
    wrote. ``by_fields``: its objects are compared by them.
    """

    of: type
    box: Box
    fields: list[str]
    first: list[str]
    methods: dict[str, types.FunctionType] = field(default_factory=dict)
    properties: dict[str, types.FunctionType] = field(default_factory=dict)
    unbound: dict[str, types.FunctionType] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    parts: list[Any] | None = None
    by_fields: bool = False
    has_hash: bool = True
    is_frozen: bool = False
    given: bool = False
    """Whether there are such objects of the caller's."""
    names: tuple[str, ...] | None = None
    """Those of dicts that stand for objects."""
    is_partial: bool = False
    """Whether each of those dicts has some of the names."""
    has_slots: bool = False
    """Whether its objects have places for their attributes, and no dict."""
    later: frozenset[str] = frozenset()
    """Attributes that methods set, and constructors not in any case."""
    lacking: set[str] = field(default_factory=set)
    """Those of them that some object of the caller's has not."""
    is_made: bool = False
    """Whether the program makes such objects."""

    def may_lack(self, name: str) -> bool:
        """Whether there may be objects without an attribute."""
        return name in self.lacking or (self.is_made and name in self.later)

    @property
    def knows_attributes(self) -> bool:
        """Whether objects know which attributes they have."""
        return self.is_partial or any(map(self.may_lack, self.fields))


def record_for(made: type, source_of: Any) -> Record:
    """What is known of a class; raises Refused for all but plain ones."""
    attributes = class_attributes(made)
    is_data = "__dataclass_fields__" in attributes
    slots = slots_of(made)
    known = _UNUSED | _ARITHMETIC | _ASKED | (_OF_DATACLASSES if is_data else frozenset(("__init__", "__lt__")))
    known |= frozenset(("__slots__",) if slots else ())
    odd = {name for name in attributes if name.startswith("__") and name not in known}
    if type(made) is not type or made.__bases__ != (object,) or odd or (is_data and not _is_plain(made, attributes)):
        raise refuse(None, f"'{made.__name__}' is no plain class")
    record = Record(made, Box(f"object C_{made.__name__}"), [], [], has_slots=bool(slots))
    for name, value in attributes.items():
        if isinstance(value, types.FunctionType):
            record.methods[name] = value
        elif type(value) is property and value.fset is None and isinstance(value.fget, types.FunctionType):
            record.properties[name] = value.fget
        elif isinstance(value, staticmethod) and isinstance(value.__func__, types.FunctionType):
            record.unbound[name] = value.__func__
        elif name == "__slots__" or name in slots:
            continue
        elif is_constant(value):
            record.constants[name] = value
        elif name not in _OF_DATACLASSES and hasattr(type(value), "__get__") and not isinstance(value, classmethod):
            raise refuse(None, f"'{made.__name__}.{name}' is an attribute with a way of its own")
    if is_data:
        _of_dataclass(record)
    elif "__init__" in record.methods:
        record.first = _first_attributes(source_of(record.methods["__init__"]).tree)
    record.fields = list(record.first)
    if not record.has_slots and not record.is_frozen:
        later = _later_attributes(record, source_of)
        record.later = frozenset(later)
        record.fields += later
    record.box.cells[:] = [NEVER] * len(record.fields)
    record.box.made = made
    return record


def runs_unseen(record: Record) -> list[types.FunctionType]:
    """The methods that run where no call is written: for operators, tests, subscripts and properties."""
    special = _ARITHMETIC | _ASKED | {"__lt__"}
    return [*record.properties.values(), *(one for name, one in record.methods.items() if name in special)]


def hideable(record: Record) -> list[str]:
    """What a class has that an attribute of an object would hide: no property, and nothing that Python asks of it."""
    if record.has_slots or record.names is not None:
        return []
    known = {*record.fields, *record.properties}
    return [one for one in class_attributes(record.of) if one not in known and not one.startswith("__")]


def slots_of(made: type) -> tuple[str, ...]:
    """The names of a class whose objects have places for their attributes, and no dict; empty for other classes."""
    names = vars(made).get("__slots__", ())
    if not isinstance(names, (tuple, list)) or made.__dictoffset__ or made.__weakrefoffset__:
        return ()
    return tuple(names) if all(type(vars(made).get(one)) is types.MemberDescriptorType for one in names) else ()


def attributes_of(value: Any) -> dict[str, Any] | None:
    """The attributes of an object; None where it keeps them in a way of its own, or not all are set."""
    if type(getattr(value, "__dict__", None)) is dict and hasattr(type(value), "__dict__"):
        return vars(value)
    slots = slots_of(type(value))
    try:  # a class with a __getattr__ may run code for those that are not set
        return {name: vars(type(value))[name].__get__(value) for name in slots} or None
    except AttributeError:
        return None


def is_constant(value: Any) -> bool:
    """Whether a value of a class is one that never changes."""
    return type(value) in _CONSTANTS or is_member(value) or (type(value) is tuple and all(map(is_constant, value)))


def _is_plain(made: type, attributes: dict[str, Any]) -> bool:
    """Whether a dataclass has the methods that its fields give it, and no slots."""
    written = ("__init__", "__eq__", "__hash__", "__setattr__", "__delattr__")
    own = [attributes.get(name) for name in written]
    generated = all(not isinstance(one, types.FunctionType) or one.__code__.co_filename == "<string>" for one in own)
    parts = dataclasses.fields(made)
    generated &= {*attributes["__dataclass_fields__"]} == {one.name for one in parts}
    return (
        generated
        and has_own_defaults(made)
        and ("__post_init__" in attributes) == ("__post_init__" in made.__init__.__code__.co_names)
        and all(one.init and one.compare and one.hash is None and not one.kw_only and _has_form(one) for one in parts)
    )


def has_own_defaults(made: Any) -> bool:
    """Whether what makes the objects of a dataclass or NamedTuple has the defaults that the class tells of."""
    function = maker_of(made)
    if function is None:
        return False
    if dataclasses.is_dataclass(made):
        parts = [one for one in dataclasses.fields(made) if one.init]
        told = [one.default for one in parts if one.default is not dataclasses.MISSING]
        found = [one for one in function.__defaults__ or () if one is not _FROM_FACTORY]
    else:
        told, found = [*made._field_defaults.values()], [*(function.__defaults__ or ())]
    return len(found) == len(told) and all(one is other for one, other in zip(found, told, strict=True))


def maker_of(made: Any) -> types.FunctionType | None:
    """The generated function by which a dataclass or a NamedTuple makes its objects; None of other classes."""
    found = made.__init__ if dataclasses.is_dataclass(made) else made.__new__
    return found if isinstance(found, types.FunctionType) and found.__code__.co_filename == "<string>" else None


def _has_form(part: Any) -> bool:
    """Whether the default of a field is a constant, or made by a container's type or a function of the user's."""
    if part.default is not dataclasses.MISSING:
        return is_constant(part.default)
    made = part.default_factory
    return made in (dataclasses.MISSING, *FACTORIES) or isinstance(made, types.FunctionType)


def _of_dataclass(record: Record) -> None:
    settings = record.of.__dataclass_params__  # type: ignore[attr-defined]
    record.parts = list(dataclasses.fields(record.of))
    record.first = [one.name for one in record.parts]
    record.by_fields, record.is_frozen = settings.eq, settings.frozen
    record.has_hash = not settings.eq or settings.frozen
    for name in (*_OF_DATACLASSES - {"__post_init__"}, *record.first):
        record.methods.pop(name, None)
        record.constants.pop(name, None)


def _first_attributes(tree: ast.FunctionDef) -> list[str]:
    """The attributes that a constructor sets whatever happens, before anything may read them."""
    own = tree.args.args[0].arg if tree.args.args else ""
    found: dict[str, None] = {}

    def is_own(node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == own

    for statement in tree.body:
        read = [one for one in nodes_of(statement) if isinstance(one, ast.Attribute) and is_own(one.value)]
        known = {id(one.value) for one in read if isinstance(one.ctx, ast.Store) or one.attr in found}
        if any(is_own(one) and id(one) not in known for one in nodes_of(statement)):
            break
        if any(isinstance(one, ast.Return) for one in nodes_of(statement)):
            break
        for target in _targets(statement):
            if isinstance(target, ast.Attribute) and is_own(target.value):
                found[target.attr] = None
    return list(found)


def _later_attributes(record: Record, source_of: Any) -> list[str]:
    """The other attributes that methods set of their objects."""
    found: dict[str, None] = {}
    for function in record.methods.values():
        with suppress(NotLiftable):
            tree = source_of(function).tree
            own = tree.args.args[0].arg if isinstance(tree, ast.FunctionDef) and tree.args.args else None
            stored = [
                one.attr
                for one in nodes_of(tree)
                if isinstance(one, ast.Attribute)
                and isinstance(one.ctx, ast.Store)
                and isinstance(one.value, ast.Name)
                and one.value.id == own
            ]
            found |= dict.fromkeys(stored)
    return [name for name in found if name not in record.first and name not in record.properties]


def _targets(statement: ast.stmt) -> list[ast.expr]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AnnAssign) and statement.value else targets
    return [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]


def is_named_tuple(made: Any) -> bool:
    """Whether a class is a NamedTuple with nothing changed of what tuples do."""
    if (
        not isinstance(made, type)
        or made.__bases__ != (tuple,)
        or not isinstance(getattr(made, "_fields", None), tuple)
    ):
        return False
    attributes = class_attributes(made)
    special = {name for name in attributes if name.startswith("__")} - _OF_NAMED_TUPLES - _SHOWN
    if not all(type(attributes.get(name)) is FIELD_GETTER for name in made._fields) or not has_own_defaults(made):
        return False
    return not special and "typing" not in made.__module__ and made.__module__ != "torch.return_types"
