"""Functions of a program in, their variables and types out; the text of each is collected line by line."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.emit.typed_types import (
    BOOL,
    FLOAT,
    INT,
    MIXED,
    NEVER,
    NONE,
    NP_BOOL,
    PLAIN,
    Joins,
    Maybe,
    Scalar,
    Ten,
    Tup,
    same,
    text_of,
)

_FIXED = re.compile(r"[\d.]+|I\(-?\d+(LL)?\)")
"""C++ of a number that no statement changes."""


@dataclass
class Value:
    """The type of an expression, and C++ that gives it without changing anything; ``parts`` of one that is a tuple."""

    type: Any
    code: str
    parts: list[Any] | None = None

    @property
    def is_fixed(self) -> bool:
        return self.code in ("true", "false") or _FIXED.fullmatch(self.code) is not None


@dataclass(eq=False)
class Routine:
    """A function of the user's: ``kept`` are the variables that functions inside share with it.

    ``hands_out``: it is a generator function, whose ``result`` is what it hands out.
    """

    name: str
    parameters: list[str]
    body: list[ast.stmt]
    stores: set[str]
    namespace: Any
    kept: set[str] = field(default_factory=set)
    outer: Routine | None = None
    shared: set[str] = field(default_factory=set)
    types: dict[str, Any] = field(default_factory=dict)
    result: Any = NEVER
    doubtful: set[str] = field(default_factory=set)
    defaults: list[ast.expr] = field(default_factory=list)
    memory: int | None = None
    """How many results ``lru_cache`` keeps; -1 for all of them, None where it keeps none."""
    forms: set[tuple[int, tuple[str, ...]]] = field(default_factory=set)
    """How it is called, where it keeps results: with how many arguments, and with which names."""
    bound: set[str] = field(default_factory=set)
    calls_itself: bool = False
    modules: dict[str, Any] = field(default_factory=dict)
    """Parameters that stand for network modules, which are known."""
    hands_out: bool = False

    def variable(self, name: str) -> str:
        """What the C++ of a variable is called: functions inside share some, and the program has these of all."""
        is_program = self.namespace is None and self.outer is None
        return f"{name}__{self.name}" if name in self.kept and not is_program else name


@dataclass(frozen=True)
class Factory:
    """The expression by which a defaultdict makes what is missing, in the routine that it stands in."""

    body: ast.expr
    routine: Routine


class Refused(NotLiftable):
    """Something that a typed program has no form for: at ``node``, if it is known."""

    node: ast.AST | None = None


def refuse(node: ast.AST | None, why: str) -> Refused:
    text = f"'{ast.unparse(node)[:60]}' {why}" if node is not None else why
    refused = Refused("unsupported-syntax", text)
    refused.node = node
    return refused


class Scope:
    """What is known while the statements of one routine are written."""

    def __init__(self) -> None:
        self.joins = Joins()
        self.lines: list[str] = []
        self.count = 0
        self.calls = 0
        """How many calls of functions of the user's were written."""
        self.routine: Routine = None  # type: ignore[assignment]
        self.renamed: dict[str, Value] = {}
        self.bound: set[str] = set()
        self.is_settled = self.waits = False
        self.told: frozenset[str] = frozenset()
        """Variables of which a test that was passed tells that they are not None."""
        self.boxes: dict[tuple[int, str], Any] = {}
        self.changed_sets: dict[int, Any] = {}
        """The types of sets that methods change, by the calls of these."""
        self.altered: list[Any] = []
        """The types of containers and objects that something is stored in, or taken out of."""

    def may_become_known(self, type_: Any) -> bool:
        """Whether a type is not known yet, but another round may tell it."""
        self.waits |= type_ is NEVER
        return type_ is NEVER and not self.is_settled

    def present(self, value: Value) -> Value:
        """A value that must not be None; where it is nothing else, Python raises."""
        if value.type is NONE:
            self.emit("bail(KIND);")
            return Value(NEVER, "None_()")
        return needed(value)

    def alters(self, owner: Value) -> None:
        """Note that a container or an object changes: so may all that have its type."""
        self.altered.append(owner.type)

    def fresh(self, hint: str = "t") -> str:
        self.count += 1
        return f"{hint}{self.count}"

    def emit(self, line: str) -> None:
        self.lines.append(line)

    def keep(self, value: Value) -> Value:
        """The value in a variable of its own."""
        if value.is_fixed:
            return value
        name = self.fresh()
        self.emit(f"{text_of(value.type)} {name} = {value.code};")
        return Value(value.type, name)

    @contextmanager
    def block(self) -> Iterator[list[str]]:
        """Lines that are written meanwhile are collected apart."""
        outer, self.lines = self.lines, []
        try:
            yield self.lines
        finally:
            self.lines = outer

    def in_order(self, makers: list[Callable[[], Value]]) -> list[Value]:
        """Values one after the other: what those before stood for is kept where a later one may change it."""
        found: list[Value] = []
        for make in makers:
            before = self.lines
            with self.block() as lines:
                value = make()
            if lines:
                found = [self.keep(one) for one in found]
                before += lines
            found.append(value)
        return found

    # ------------------------------------------------------------ variables

    def owner(self, name: str) -> Routine | None:
        """The routine whose variable a name is."""
        routine: Routine | None = self.routine
        while routine is not None:
            if name not in routine.shared and (name in routine.stores or name in routine.parameters):
                return routine
            routine = routine.outer
        return None

    def _bound_in(self, owner: Routine) -> set[str]:
        """The variables of a function around that which is written, or of that itself, that are bound for sure."""
        if owner is self.routine:
            return self.bound
        inner = self.routine
        while inner.outer is not owner:
            assert inner.outer is not None
            inner = inner.outer
        return inner.bound

    def widen(self, routine: Routine, name: str, type_: Any) -> None:
        before = routine.types.get(name, NEVER)
        joined = self.joins.join(before, type_)
        if not same(before, joined):
            self.joins.changes += 1
        routine.types[name] = joined

    def store(self, name: str, value: Value) -> None:
        """Assign to a variable."""
        routine = self.owner(name)
        if routine is None:
            raise refuse(None, f"'{name}' is no variable here")
        self.widen(routine, name, value.type)
        variable = routine.variable(name)
        self.emit(f"v_{variable} = {coerced(value, routine.types[name])};")
        if name in routine.doubtful:
            self.emit(f"set_{variable} = true;")
        if routine is self.routine:
            self.bound.add(name)
            self.told -= {name}

    def load(self, name: str, routine: Routine) -> Value:
        known, variable = self._bound_in(routine), routine.variable(name)
        type_ = routine.types.get(name, NEVER)
        if name not in known and name not in routine.doubtful:
            routine.doubtful.add(name)
            self.joins.changes += 1
        if name in known:
            return Value(type_, f"v_{variable}")
        if name not in routine.types:  # nothing that is ever reached binds it
            self.emit("bail(UNBOUND);")
            return Value(NEVER, "None_()")
        return Value(type_, f"(set_{variable} ? (void)0 : bail(UNBOUND), v_{variable})")

    def box(self, node: ast.AST, kind: str, cells: int, hint: str = "") -> Any:
        """The container that an expression makes: one for each place in the text."""
        from looplift.emit.typed_types import Box

        key = (id(node), kind + hint)
        if key not in self.boxes:
            self.boxes[key] = Box(kind, *[NEVER] * cells)
        return self.boxes[key].find()


# ---------------------------------------------------------------- conversions


def coerced(value: Value, to: Any) -> str:
    """C++ of a value as one of a wider type."""
    if same(value.type, to) or value.type is NEVER:
        return value.code if value.type is not NEVER else f"({text_of(to)}{{}})"
    return f"As<{text_of(to)}>::of({value.code})"


def needed(value: Value) -> Value:
    """A value that must not be None."""
    if isinstance(value.type, Maybe):
        return Value(value.type.inner, f"need({value.code})")
    return value


def plain(value: Value) -> Value:
    """A number of NumPy's as one of Python's."""
    if not isinstance(value.type, Scalar):
        return value
    kind = value.type.plain
    return Value(kind, f"{value.code}.v" if value.type.storage == kind.text else f"wide({value.code}.v)")


def as_int(value: Value, node: ast.AST | None = None) -> str:
    value = needed(value)
    if value.type is NP_BOOL:
        raise refuse(node, "is no integer")
    value = plain(value)
    if value.type is MIXED:
        return f"integer({value.code})"
    if value.type in (INT, NEVER, NONE):
        return value.code if value.type is INT else "(bail(KIND), I(0))"
    if value.type is BOOL:
        return f"I({value.code})"
    raise refuse(node, "is no integer")


def as_size(value: Value, node: ast.AST | None = None) -> str:
    """A size of an array or a tensor, which is no truth value."""
    if needed(value).type is BOOL:
        raise refuse(node, "is no integer")
    return as_int(value, node)


def as_number(value: Value, to: Any) -> str:
    """C++ of a number as an integer, a float or either."""
    if same(value.type, to):
        return value.code
    if to is not MIXED:
        value, to = plain(value), PLAIN.get(to, to)
    if same(value.type, to):
        return value.code
    if to is INT:
        return f"I({value.code})"
    if to is FLOAT:
        return f"real({'I(' + value.code + ')' if value.type is BOOL else value.code})"
    return f"Dyn({value.code})"


def common(one: Any, other: Any) -> Any:
    """The type in which two numbers are computed with: of bool, int; a float makes floats of all others."""
    one, other = PLAIN.get(one, one), PLAIN.get(other, other)
    if FLOAT in (one, other):
        return FLOAT
    return MIXED if MIXED in (one, other) else INT


def evaluated(text: str, *values: Value) -> str:
    """C++ of what is known before it runs, of values whose evaluation may raise nevertheless."""
    codes = [value.code for value in values if not _PLAIN.fullmatch(value.code)]
    return f"({' '.join(f'(void)({code}),' for code in codes)} {text})" if codes else text


_PLAIN = re.compile(r"[\w.]+|None_\(\)")
"""What is there already: a field of an object may be read only now, and be of another type than at the first call."""


def truth(value: Value) -> str:
    if value.type is BOOL:
        return value.code
    if isinstance(value.type, Tup):
        return evaluated("true" if value.type.items else "false", value)
    if value.type is NONE:
        return evaluated("false", value)
    if isinstance(value.type, Ten) and value.type.rank:
        raise refuse(None, "whether a tensor of several elements holds")
    return f"truth({value.code})" if value.type is not NEVER else "false"
