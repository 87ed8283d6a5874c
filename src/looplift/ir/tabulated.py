"""Functions that take long, of nothing but the places in inner loops, in; tables of them in front of the loops out.

for i in range(n):                                 weights = [exp(-(a * a + b * b)) for a in ... for b in ...]
    for a in range(-r, r + 1):                     for i in range(n):
        for b in range(-r, r + 1):                     for a in range(-r, r + 1):
            s += exp(-(a * a + b * b)) * x[i, a, b]        for b in range(-r, r + 1):
                                                               s += weights[(a + r) * k + b + r] * x[i, a, b]

Only what each iteration computes, whatever the data are: a table asks the functions for no number that the loop does
not ask them for.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator

from looplift.base.data import dataclass, replace
from looplift.base.spans import Span
from looplift.ir.grammar import (
    Append,
    Atom,
    Block,
    Const,
    Function,
    Let,
    Loop,
    Op,
    Range,
    Statement,
    Var,
    as_atom,
    constant,
    definitions,
    operands,
    walk,
)
from looplift.ir.started import Changes

COSTLY = frozenset(
    "exp sin cos tan log pow expm1 log1p log2 log10 sinh cosh tanh atan2 atan asin acos exp2 power".split()
)
ARITHMETIC = frozenset("add sub mul truediv floordiv mod neg pow".split())
LARGEST = 2**22
"""Numbers that a table may have: 32 MiB."""
_SIGNS = {"add": ("+", operator.add), "sub": ("-", operator.sub), "mul": ("*", operator.mul),
          "floordiv": ("//", operator.floordiv), "neg": ("-", operator.neg)}  # fmt: skip


def with_tables(function: Function) -> tuple[Function, list[str]] | None:
    """The same function with such tables, and what must hold of its arguments, as Python; None if there are none."""
    tables = _Tables(function)
    for statement in function.body:
        if isinstance(statement, Loop):
            tables.find([statement])
    if not tables.before:
        return None
    changes = Changes(dict(tables.instead), {})
    changes.statements |= {key: (*made, loop) for key, (loop, made) in tables.before.items()}
    made = replace(function, body=changes.block(function.body), attributes=dict(function.attributes))
    return made, list(dict.fromkeys(tables.guards))


@dataclass
class _Slice:
    """What an atom is computed of, in order; the loops whose places it takes, and the variables that it begins with."""

    lets: list[Let]
    loops: list[Loop]
    leaves: list[Var]


class _Tables:
    def __init__(self, function: Function) -> None:
        self.values, self.paths = function.attributes["values"], function.attributes["paths"]
        self.guards: list[str] = []
        self.params = {*function.params}
        self.definition = {var: one for one in walk(function.body) for var in definitions(one)}
        self.numbers = itertools.count(1)
        self.before: dict[int, tuple[Loop, list[Statement]]] = {}
        self.instead: dict[int, tuple[Statement, ...]] = {}

    # ------------------------------------------------------------ where a table stands in for a function

    def find(self, around: list[Loop]) -> None:
        """The functions in the innermost of some loops, each in the one before it, all of whose iterations run."""
        loop = around[-1]
        if not isinstance(loop.domain, Range) or loop.stop is not None or loop.domain.source is not None:
            return
        for statement in loop.body:
            if isinstance(statement, Loop):
                self.find([*around, statement])
            elif isinstance(statement, Let) and _is_costly(statement.op) and len(around) > 1:
                self._tabulate(statement, around)

    def _tabulate(self, let: Let, around: list[Loop]) -> None:
        found = self._slice(let.var, around)
        if found is None or not 1 <= len(found.loops) <= 3:
            return
        for depth, outside in enumerate(around):
            inner = {var for one in walk(Block((outside,))) for var in definitions(one)}
            rest = around[depth:]
            saves = (
                any(loop not in found.loops for loop in rest[: rest.index(found.loops[-1])])
                if found.loops[-1] in rest
                else False
            )
            ranges = [self._range(loop, inner) for loop in found.loops]
            apart = all(loop in rest for loop in found.loops) and not inner & {*found.leaves}
            known = [one for one in ranges if one is not None]
            if saves and apart and len(known) == len(ranges) and (guard := self._guard(known)) is not None:
                self.guards.append(guard)
                self._put(let, found, outside, known)
                return

    def _slice(self, atom: Atom, around: list[Loop]) -> _Slice | None:
        """None where it is made of something else than places, numbers that are known before, and arithmetic."""
        indices = {loop.index: loop for loop in around}
        found = _Slice([], [], [])
        seen: set[Var] = set()
        if not self._takes(atom, indices, found, seen):
            return None
        found.loops.sort(key=around.index)
        return found

    def _takes(self, atom: Atom, indices: dict, found: _Slice, seen: set[Var]) -> bool:
        if isinstance(atom, Const):
            return type(atom.value) in (int, float)
        if atom in seen:
            return True
        seen.add(atom)
        if atom in indices:
            found.loops.append(indices[atom])
            return True
        made = self.definition.get(atom)
        if atom in self.params:
            found.leaves.append(atom)
            return type(self.values.get(atom)) in (int, float)
        if isinstance(made, Let) and (extents := self._extent(made)):
            of_array = as_atom(extents[0].op.args[0])
            known = of_array in self.params and hasattr(self.values.get(of_array), "shape")
            found.leaves.append(of_array if known else atom)  # type: ignore[arg-type]
            found.lets += [one for one in extents if known and one not in found.lets]
            return True
        if not isinstance(made, Let) or made.op.kwargs or not (made.op.name in ARITHMETIC or _is_costly(made.op)):
            return False
        if not all(isinstance(one, Var | Const) for one in made.op.args):
            return False
        if not all(self._takes(one, indices, found, seen) for one in operands(made.op)):
            return False
        found.lets.append(made)
        return True

    def _extent(self, made: Let) -> list[Let]:
        """What gives the length of something, or an extent of an array; nothing for other values."""
        if made.op.name in ("builtin.len", "iter_len"):
            return [made]
        if made.op.name not in ("unpack", "getitem") or not isinstance(made.op.args[0], Var):
            return []
        shape = self.definition.get(made.op.args[0])
        name = shape.op.args[1] if isinstance(shape, Let) and shape.op.name == "attribute" else None
        known = isinstance(name, Const) and name.value == "shape" and isinstance(made.op.args[1], Const)
        return [shape, made] if known and isinstance(shape, Let) else []

    # ------------------------------------------------------------ how large a table is

    def _guard(self, ranges: list[tuple[list[Let], Atom, Atom]]) -> str | None:
        """What holds where a table is small enough; None where that is not known, or does not hold now."""
        texts, total = [], 1
        for _, lo, hi in ranges:
            first, last = self._number(lo), self._number(hi)
            if first is None or last is None:
                return None
            texts.append(f"({last[0]} - {first[0]})")
            total *= max(0, last[1] - first[1])
        return f"{' * '.join(texts)} <= {LARGEST}" if total <= LARGEST else None

    def _number(self, atom: Atom) -> tuple[str, int] | None:
        """An integer as Python that computes it from the arguments, and what it is now."""
        if isinstance(atom, Const):
            return (repr(atom.value), atom.value) if type(atom.value) is int else None
        if atom in self.params:
            value = self.values.get(atom)
            return (self.paths[atom], value) if type(value) is int else None
        made = self.definition.get(atom)
        if not isinstance(made, Let):
            return None
        if extents := self._extent(made):
            return self._size(extents)
        parts = [self._number(as_atom(one)) for one in made.op.args]
        known = [one for one in parts if one is not None]
        if len(known) < len(parts) or made.op.name not in _SIGNS or (made.op.name == "floordiv" and not known[1][1]):
            return None
        sign, compute = _SIGNS[made.op.name]
        text = f"(-{known[0][0]})" if len(known) == 1 else f"({known[0][0]} {sign} {known[1][0]})"
        return text, compute(*(one for _, one in known))

    def _size(self, extents: list[Let]) -> tuple[str, int] | None:
        array = as_atom(extents[0].op.args[0])
        shape = getattr(self.values.get(array), "shape", None)
        if array not in self.params or shape is None:
            return None
        place = constant(extents[1].op.args[1]) if len(extents) > 1 else 0
        return f"{self.paths[array]}.shape[{place}]", int(shape[place])

    # ------------------------------------------------------------ the table

    def _range(self, loop: Loop, inner: set[Var]) -> tuple[list[Let], Atom, Atom] | None:
        """What is computed for the bounds of a loop in front of all loops, and these; None where that is not known."""
        domain = loop.domain
        assert isinstance(domain, Range)
        if not isinstance(domain.step, Const) or domain.step.value != 1:
            return None
        found = _Slice([], [], [])
        seen: set[Var] = set()
        if not all(self._takes(one, {}, found, seen) for one in (domain.lo, domain.hi)) or inner & {*found.leaves}:
            return None
        return found.lets, domain.lo, domain.hi

    def _put(self, let: Let, found: _Slice, outside: Loop, ranges: list[tuple[list[Let], Atom, Atom]]) -> None:
        number = next(self.numbers)
        table, span = Var(f"table.{number}"), let.span
        before: list[Statement] = []
        bounds: list[tuple[Atom, Atom]] = []
        extents: list[Atom] = []
        for position, (lets, lo, hi) in enumerate(ranges):
            names = {one.var: Var(f"{one.var.hint}.b{number}.{position}.{k}") for k, one in enumerate(lets)}
            before += [Let(names[one.var], _renamed(one.op, names), span) for one in lets]
            bounds.append((_name(lo, names), _name(hi, names)))
            extent = Var(f"extent.{number}.{position}")
            before.append(Let(extent, Op("sub", bounds[-1][::-1]), span))
            extents.append(extent)
        before += [Let(table, Op("list"), span), *self._filled(let, found, table, bounds, number)]
        self.before.setdefault(id(outside), (outside, []))[1].extend(before)
        place = Var(f"place.{number}")
        lets = self._place(found, bounds, extents, place, span)
        self.instead[id(let)] = (*lets, Let(let.var, Op("getitem", (table, place)), span))

    def _filled(self, let: Let, found: _Slice, table: Var, bounds, number: int) -> Iterator[Statement]:
        """Loops that fill the table."""
        names: dict[Atom, Var] = {
            loop.index: Var(f"{loop.index.hint}.t{number}") for loop in found.loops if loop.index is not None
        }
        names |= {one.var: Var(f"{one.var.hint}.t{number}.{k}") for k, one in enumerate(found.lets)}
        body: tuple[Statement, ...] = tuple(
            Let(names[one.var], _renamed(one.op, names), let.span) for one in found.lets
        )
        body = (*body, Append(table, names[let.var], let.span))
        for loop, (lo, hi) in reversed([*zip(found.loops, bounds, strict=True)]):
            assert loop.index is not None
            body = (Loop(Range(lo, hi, Const(1)), names[loop.index], (), Block(body), None, let.span),)
        yield from body

    def _place(self, found: _Slice, bounds, extents: list[Atom], place: Var, span: Span) -> Iterator[Statement]:
        """Where in the table an iteration's number stands."""
        row: Atom = Const(0)
        for position, (loop, (lo, _), extent) in enumerate(zip(found.loops, bounds, extents, strict=True)):
            assert loop.index is not None
            step, first = Var(f"step.{place.name}.{position}"), Var(f"row.{place.name}.{position}")
            made = place if position + 1 == len(found.loops) else Var(f"{place.name}.{position}")
            yield Let(step, Op("sub", (loop.index, lo)), span)
            yield Let(first, Op("mul", (row, extent)), span)
            yield Let(made, Op("add", (first, step)), span)
            row = made


def _is_costly(op: Op) -> bool:
    """Whether an operation takes as long as many others, and does nothing else."""
    library, _, name = op.name.rpartition(".")
    if op.kwargs or name not in COSTLY or library not in ("math", "np", ""):
        return False
    power = op.args[1] if name in ("pow", "power") and len(op.args) == 2 else None
    return not isinstance(power, Const) or type(power.value) is not int


def _name(atom: Atom, names: dict) -> Atom:
    return names.get(atom, atom)


def _renamed(op: Op, names: dict) -> Op:
    return replace(op, args=tuple(_name(one, names) if isinstance(one, Var) else one for one in op.args))
