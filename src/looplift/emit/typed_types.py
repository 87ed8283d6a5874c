"""Values of Python's in, their types out: of numbers, text and containers, joined to a fixpoint, with names in C++."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from looplift.base.data import dataclass
from looplift.base.errors import NotLiftable

DEPTH = 6
"""How deep containers are nested at most."""


class HoldsItself(NotLiftable):
    """A type that has no end, or none near enough."""

    def __init__(self) -> None:
        super().__init__("unsupported-value", f"containers are nested deeper than {DEPTH}, or one holds itself")


class Type:
    """A type that is its own object: numbers, text, None, and what is not known yet."""

    def __init__(self, name: str, text: str):
        self.name, self.text = name, text

    def __repr__(self) -> str:
        return self.name


NEVER = Type("nothing yet", "None_")
NONE = Type("None", "None_")
BOOL = Type("bool", "bool")
INT = Type("int", "I")
FLOAT = Type("float", "F")
MIXED = Type("a number", "Dyn")
TEXT = Type("str", "Str")
WORDED = Type("a number or str", "Worded")
"""Where no other type is left: what a number and a text have in common is that they are kept, and handed out."""


class Scalar(Type):
    """A scalar of NumPy's: its dtype, the C++ type of its value, and what it is as a number of Python's."""

    def __init__(self, dtype: str, storage: str, plain: Type):
        super().__init__(f"a {dtype} of NumPy's", f"Np<{storage}>")
        self.dtype, self.storage, self.plain = dtype, storage, plain


_STORAGE = {
    "bool": "bool", "int8": "int8_t", "uint8": "uint8_t", "int16": "int16_t", "uint16": "uint16_t",
    "int32": "int32_t", "uint32": "uint32_t", "int64": "I", "uint64": "U", "float32": "float", "float64": "F",
}  # fmt: skip
ELEMENTS = {
    dtype: Scalar(dtype, storage, BOOL if dtype == "bool" else FLOAT if "float" in dtype else INT)
    for dtype, storage in _STORAGE.items()
}
"""The scalars of NumPy's by their dtypes, in the order in which the C++ counts them, from 1."""
NP_BOOL, NP_INT, NP_FLOAT32, NP_FLOAT = (ELEMENTS[one] for one in ("bool", "int64", "float32", "float64"))
SCALARS = tuple(ELEMENTS.values())
NUMBERS = (BOOL, INT, FLOAT, MIXED, *SCALARS)
PLAIN = {scalar: scalar.plain for scalar in SCALARS}
"""What the scalars of NumPy's are as numbers of Python's."""
SCALAR = {BOOL: NP_BOOL, INT: NP_INT, FLOAT: NP_FLOAT}
"""What NumPy makes of Python's numbers."""


class Arr(Type):
    """An array of NumPy's: the scalars that are its elements, and how many dimensions it has."""

    def __init__(self, element: Scalar, rank: int):
        super().__init__(f"a {rank}-dimensional array of {element.dtype}", f"Arr<{element.storage}, {rank}>")
        self.element, self.rank = element, rank


@cache
def array_type(element: Scalar, rank: int) -> Arr:
    """The one type of such arrays."""
    return Arr(element, rank)


DTYPES = {
    "float32": "float", "float64": "F", "int64": "I", "bool": "bool", "int32": "int32_t", "int16": "int16_t",
    "int8": "int8_t", "uint8": "uint8_t",
}  # fmt: skip
"""The dtypes that tensors may have, and what their elements are, in the order in which the C++ counts them."""
WHOLE = frozenset(DTYPES) - {"float32", "float64"}
"""Those of integers and booleans."""


def number_type(dtype: str) -> Type:
    """What an element of a tensor is as a number of Python's."""
    return BOOL if dtype == "bool" else INT if dtype in WHOLE else FLOAT


@dataclass(frozen=True)
class Tup:
    """A tuple: its items' types. ``named``: it is of a type of PyTorch's own, as that of sizes. ``of``: the NamedTuple
    of the user's that it is."""

    items: tuple[Any, ...]
    named: bool = False
    of: Any = None


@dataclass(frozen=True)
class Maybe:
    """None, or a value of a type."""

    inner: Any


@dataclass(frozen=True)
class Ten:
    """A tensor of a dtype, ``float32`` or the like, with so many dimensions."""

    dtype: str
    rank: int


@dataclass(frozen=True)
class Either:
    """A number of Python's, or a tensor."""

    number: Any
    tensor: Ten


@dataclass(frozen=True)
class Fixed:
    """A dtype or a device that is known before the program runs."""

    value: Any


@dataclass(frozen=True)
class Member:
    """A member of a plain enumeration of the user's."""

    of: Any


@dataclass(frozen=True)
class Rec:
    """A dict of the caller's that is only read, under these names, each with a type of its own."""

    names: tuple[str, ...]
    items: tuple[Any, ...]


class Box:
    """A container: all that may be one object share one type, however it is found out.

    ``kind``: list, deque, dict, ordered dict, defaultdict, counter, set, bytes or bytearray. ``cells``: the types of
    its items, or of its keys and values.
    ``default``: what makes the missing values of a defaultdict. ``made``: the class of objects, whose attributes are
    ``fields``.
    """

    def __init__(self, kind: str, *cells: Any):
        self.kind, self.cells = kind, list(cells)
        self.same: Box | None = None
        self.default: Any = None
        self.made: Any = None
        self.fields: list[str] | None = None

    def find(self) -> Box:
        box = self
        while box.same is not None:
            box = box.same
        return box


class Joins:
    """Joins of types; ``changes`` counts what became wider. ``has_numpy``: whether NumPy's scalars are among the
    numbers, ``has_singles``: of float32. ``tensors``: whether there are any, ``tracked``: whether one of them asks
    for a gradient. ``of_objects``: what tells the types of objects of the user's, and which values are none.
    ``words_numbers``: whether what is a number may be a text, too."""

    def __init__(self) -> None:
        self.changes = 0
        self.has_numpy = self.has_singles = self.tensors = self.tracked = False
        self.of_objects: Any = None
        self.words_numbers = False

    def meet_numpy(self, element: Any = None) -> None:
        """There are numbers of NumPy's, of this scalar, too."""
        singles = self.has_singles or element is NP_FLOAT32
        self.changes += (not self.has_numpy) + (singles != self.has_singles)
        self.has_numpy, self.has_singles = True, singles

    def join(self, one: Any, other: Any) -> Any:
        if one is other or other is NEVER:
            return one
        if one is NEVER:
            return other
        if isinstance(one, Maybe) or isinstance(other, Maybe) or NONE in (one, other):
            inner = self.join(*(_inner(each) for each in (one, other)))
            return NONE if inner is NEVER else Maybe(inner)
        if isinstance(one, Ten | Either) or isinstance(other, Ten | Either):
            return self._with_tensor(one, other)
        if isinstance(one, Fixed | Member) and one == other:
            return one
        if one in NUMBERS and other in NUMBERS:
            return MIXED
        if self.words_numbers and all(each in (*NUMBERS, TEXT, WORDED) for each in (one, other)):
            return WORDED
        if isinstance(one, Tup) and isinstance(other, Tup) and _are_alike(one, other):
            return Tup(tuple(map(self.join, one.items, other.items)), one.named or other.named, one.of)
        if isinstance(one, Rec) and isinstance(other, Rec) and one.names == other.names:
            return Rec(one.names, tuple(map(self.join, one.items, other.items)))
        if isinstance(one, Box) and isinstance(other, Box):
            return self.unite(one.find(), other.find())
        raise NotLiftable("mixed-kinds", f"a name or an item is {described(one)} and {described(other)}")

    def _with_tensor(self, one: Any, other: Any) -> Any:
        """Numbers and tensors of one kind may stand in for one another."""
        sides = [_sides(each) for each in (one, other)]
        numbers = [number for number, _ in sides if number is not None]
        tensors = {tensor for _, tensor in sides if tensor is not None}
        if (None, None) in sides or len(tensors) != 1:
            raise NotLiftable("mixed-kinds", f"a name or an item is {described(one)} and {described(other)}")
        if not numbers:
            return tensors.pop()
        return Either(self.join(*numbers) if len(numbers) == 2 else numbers[0], tensors.pop())

    def unite(self, one: Box, other: Box) -> Box:
        if one is other:
            return one
        if one.kind != other.kind:
            raise NotLiftable("mixed-kinds", f"a name or an item is a {one.kind} and a {other.kind}")
        if one.default != other.default:
            raise NotLiftable("mixed-kinds", "dicts with several defaults meet")
        self.changes += 1
        other.same = one
        for place, cell in enumerate(other.cells):
            self.widen(one, place, cell)
        return one.find()

    def widen(self, box: Any, place: int, type_: Any) -> None:
        """Let a container hold values of a type, too."""
        box = box.find()
        joined = self.join(box.cells[place], type_)
        box = box.find()
        if not same(joined, box.cells[place]):
            self.changes += 1
            box.cells[place] = joined


def copy_of(type_: Any, seen: dict[int, Any], known: Callable[[Box], Box]) -> Any:
    """The same type, with containers of its own; ``known``: the program's own type of some objects."""
    if isinstance(type_, Box):
        box = type_.find()
        if id(box) not in seen:
            made = seen[id(box)] = known(box) if box.made else Box(box.kind, *[NEVER] * len(box.cells))
            made.default = box.default
            cells = [copy_of(cell, seen, known) for cell in box.cells]
            made.cells[: len(cells)] = cells if not box.made else map(_wider, made.cells, cells)
        return seen[id(box)]
    if isinstance(type_, Maybe):
        return Maybe(copy_of(type_.inner, seen, known))
    if isinstance(type_, Rec):
        return Rec(type_.names, tuple(copy_of(item, seen, known) for item in type_.items))
    if isinstance(type_, Tup):
        return Tup(tuple(copy_of(item, seen, known) for item in type_.items), type_.named, type_.of)
    return type_


def _wider(one: Any, other: Any) -> Any:
    return Joins().join(one, other)


def _are_alike(one: Tup, other: Tup) -> bool:
    return len(one.items) == len(other.items) and one.of is other.of


def _sides(type_: Any) -> tuple[Any, Any]:
    """What a value is where it is a number, and where it is a tensor."""
    if isinstance(type_, Either):
        return type_.number, type_.tensor
    return (type_ if type_ in NUMBERS else None), (type_ if isinstance(type_, Ten) else None)


def _inner(type_: Any) -> Any:
    return type_.inner if isinstance(type_, Maybe) else NEVER if type_ is NONE else type_


def same(one: Any, other: Any) -> bool:
    """Whether two types are one."""
    if isinstance(one, Box) and isinstance(other, Box):
        return one.find() is other.find()
    if isinstance(one, Maybe) and isinstance(other, Maybe):
        return same(one.inner, other.inner)
    if isinstance(one, Tup) and isinstance(other, Tup):
        return _are_alike(one, other) and one.named == other.named and all(map(same, one.items, other.items))
    if isinstance(one, Rec) and isinstance(other, Rec):
        return one.names == other.names and all(map(same, one.items, other.items))
    if isinstance(one, Ten | Either | Fixed | Member):
        return one == other
    return one is other


def described(type_: Any, depth: int = 0) -> str:
    if depth > 3:
        return "..."
    if isinstance(type_, Box):
        return f"{type_.find().kind} of {', '.join(described(cell, depth + 1) for cell in type_.find().cells)}"
    if isinstance(type_, Maybe):
        return f"None or {described(type_.inner, depth)}"
    if isinstance(type_, Member):
        return f"a member of {type_.of.__name__}"
    if isinstance(type_, Rec):
        return f"a dict of {', '.join(type_.names)}"
    if isinstance(type_, Tup):
        return f"({', '.join(described(item, depth + 1) for item in type_.items)})"
    return repr(type_)


# ---------------------------------------------------------------- C++ names


def text_of(type_: Any, depth: int = 0) -> str:
    """The C++ type."""
    if depth > DEPTH:
        raise HoldsItself
    if isinstance(type_, Tup):
        inner = ", ".join(text_of(item, depth + 1) for item in type_.items)
        plain = f"Tup{len(type_.items)}<{inner}>" if type_.items else "Tup0"
        return plain if type_.of is None else f"Named_{type_.of.__name__}<{plain}>"
    if isinstance(type_, Maybe):
        return f"Opt<{text_of(type_.inner, depth + 1)}>"
    if isinstance(type_, Box):
        box = type_.find()
        if box.kind.startswith("object "):
            return f"Ref<{box.kind[7:]}>"
        inner = ", ".join(text_of(cell, depth + 1) for cell in box.cells)
        return f"Ref<{_TEMPLATES[box.kind].format(inner)}>"
    if isinstance(type_, Rec):
        return f"{record_name(type_.names)}<{', '.join(text_of(item, depth + 1) for item in type_.items)}>"
    if isinstance(type_, Ten):
        return f"Ten<{DTYPES[type_.dtype]}, {type_.rank}>"
    if isinstance(type_, Either):
        return f"Either<{text_of(type_.number)}, {text_of(type_.tensor)}>"
    if isinstance(type_, Fixed):
        return "None_"
    if isinstance(type_, Member):
        return f"Enum_{type_.of.__name__}"
    return type_.text


DICTS = ("dict", "ordered dict", "defaultdict")
TABLES = (*DICTS, "counter")
"""Dicts, and the counters of Python's library, which have a way of their own to add."""
KINDS = ("list", "deque", "bytes", "bytearray", "tuple", *TABLES, "set")
"""Of tuples those of any length."""
_TEMPLATES = {
    "list": "List<{}, 0>", "deque": "List<{}, 1>", "bytes": "List<{}, 2>", "bytearray": "List<{}, 3>",
    "tuple": "List<{}, 4>",
    "dict": "Dict<{}, 0>", "ordered dict": "Dict<{}, 0>", "defaultdict": "Dict<{}, 1>", "counter": "Dict<{}, 1>",
    "set": "Set<{}>",
}  # fmt: skip


def record_name(names: tuple[str, ...]) -> str:
    """The C++ template for dicts that are read under these names."""
    return "Rec_" + "_".join(name.replace("_", "__") for name in names)


def record_names(name: str) -> list[str]:
    """The names again."""
    return [one.replace("\0", "_") for one in name.removeprefix("Rec_").replace("__", "\0").split("_")]


def holds_tensor(type_: Any) -> bool:
    return holds(type_, lambda one: isinstance(one, Ten | Either))


def holds(type_: Any, wanted: Callable[[Any], bool], depth: int = 0) -> bool:
    """Whether a type, or one of those that it is made of, is wanted."""
    if wanted(type_):
        return True
    inner = type_.items if isinstance(type_, Tup | Rec) else [type_.inner] if isinstance(type_, Maybe) else []
    if isinstance(type_, Box) and depth < 6:
        inner = type_.find().cells
    return any(holds(one, wanted, depth + 1) for one in inner)


def has_no_order(type_: Any) -> bool:
    """Whether there are values of a type that nothing compares, alone or as items."""
    return holds(type_, _is_incomparable)


def _is_incomparable(type_: Any) -> bool:
    if isinstance(type_, Box):
        return type_.find().kind not in ("list", "deque", "bytes", "bytearray", "tuple") and not type_.find().made
    return isinstance(type_, Either | Rec) or type_ is WORDED or (isinstance(type_, Ten) and type_.rank > 0)
