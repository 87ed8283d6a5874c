"""A loop of the IR that works on short rows and small stacks in; the same loop on single numbers, out.

best = torch.logsumexp(torch.stack([a, b]), 0)     m = max(a, b); best = m + log(exp(a - m) + exp(b - m))
cost = ((x[i] - y[j]) ** 2).sum()                  cost = 0; for k: cost = cost + (x[i, k] - y[j, k]) ** 2
table[t] = table[t - 1] + w                        for k: table[t, k] = table[t - 1, k] + w[k]

A row is not computed where it is bound, but element by element where it is used up, so that kernels of numbers and
their gradients need to know nothing of rows. What cannot be written this way is refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import torch

from looplift.base.data import dataclass, replace
from looplift.base.errors import NotLiftable
from looplift.emit.native_ops import BITS, COMPARISONS, LOGIC, TESTS, canonical, row_of
from looplift.ir.facts import Fact, Facts, Kind
from looplift.ir.grammar import (
    Atom,
    Block,
    Carry,
    Const,
    Group,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Range,
    Require,
    Slice,
    Statement,
    Store,
    Var,
    While,
    as_atom,
    atoms,
    children,
    uses,
    walk,
)
from looplift.ops.table import base_name

LONGEST = 4096
"""Numbers that are computed for a row above which a library is faster."""
PRODUCTS = ("dot", "inner", "matmul", "mv", "vdot")
STACKED = 8
"""Elements of a stack that are written out one by one."""

Size = int | Atom
Bounds = tuple[tuple[Var, float], ...]
"""Inputs whose elements must be finite, and at most how large."""


@dataclass
class Row:
    """A tensor by its elements: ``at`` writes what computes one of them, and gives it.

    ``reads``: the tensors that it reads, each with the subscript of its first axis. ``is_view``: it shows later writes
    to them; else ``made``: how many writes came before it. ``steep``: a gradient of 0 may become NaN on its way to
    what it is made of. ``needs``: what must be finite, or it may become so too. ``items``: the
    numbers that it is a stack of.
    """

    sizes: tuple[Size, ...]
    dtype: torch.dtype
    at: Callable[[tuple[Atom, ...]], Atom]
    reads: frozenset[tuple[Var, Atom | None]] = frozenset()
    is_view: bool = False
    made: int = 0
    steep: bool = False
    needs: tuple = ()
    items: tuple[Atom, ...] = ()


def expanded(loop: Loop, facts: Facts, *, gradients: bool = False) -> tuple[Loop, Facts, Bounds] | None:
    """The loop over single numbers, facts of it, and which inputs must be how small; None if it is one already.

    Raises NotLiftable if there is none.
    """
    if not any(_is_row(facts, s) for s in walk(Block((loop,)))):
        return None
    expansion = Expansion(loop, facts, gradients)
    (found,) = expansion.block(Block((loop,)))
    assert isinstance(found, Loop)
    if not expansion.changed:
        return None
    return found, replace(facts, of=facts.of | expansion.known), tuple(expansion.looked_at.items())


def _is_row(facts: Facts, statement: Statement) -> bool:
    return isinstance(statement, Let) and rank_of(facts, statement.var) > 0


def rank_of(facts: Facts, atom: Operand) -> int:
    fact = facts.of.get(atom) if isinstance(atom, Var) else None
    return fact.kind.rank if fact is not None and fact.kind.family == "tensor" else 0


class Expansion:
    """The walk over one loop. ``writes``: the stores so far, each with the subscript of its first axis.

    ``kept``: the rows that the kernel itself knows, as views. ``looked_at``: inputs that must be finite, and at most
    how large, of which some elements are computed with that nobody reads.
    """

    def __init__(self, loop: Loop, facts: Facts, gradients: bool):
        self.facts, self.gradients = facts, gradients
        self.rows: dict[Var, Row] = {}
        self.displays = {
            s.var: s.op.args for s in walk(Block((loop,))) if isinstance(s, Let) and s.op.name in ("list", "tuple")
        }
        self.roots: dict[Var, Var] = {}
        self.firsts: dict[Var, Atom | None] = {}
        self.stored = self._stored_in(loop)
        self.writes: list[tuple[Var, Atom | None]] = []
        self.out: list[Statement] = []
        self.numbers = itertools.count(1)
        self.changed = False
        self.kept: set[Var] = set()
        self.work: dict[Var, int] = {}
        self.known: dict[Var, Fact] = {}
        self.span = loop.span
        self.bound = {s.var for s in walk(Block((loop,))) if isinstance(s, Let)}
        self.made: dict[Var, str] = {}
        self.taken_here: set[tuple[Operand, Any]] = set()
        self.looked_at: dict[Var, float] = {}

    # ------------------------------------------------------------ statements

    def block(self, block: Block) -> Block:
        outer, self.out = self.out, []
        before, self.taken_here = self.taken_here, set(_takes(block))
        for statement in block:
            if isinstance(statement, Let | Store | If):
                self.span = statement.span
            self._statement(statement)
        found, self.out, self.taken_here = Block(tuple(self.out)), outer, before
        return found

    def _statement(self, statement: Statement) -> None:
        match statement:
            case Let():
                self._let(statement)
            case Store():
                from looplift.emit.expanded_stores import store

                store(self, statement)
            case If(then=then, orelse=orelse):
                self._refuse_rows(statement)
                self.out.append(replace(statement, then=self.block(then), orelse=self.block(orelse)))
            case Loop():
                self._loop(statement)
            case _:
                self._refuse_rows(statement)
                self.out.append(statement)

    def _loop(self, loop: Loop) -> None:
        self._refuse_rows(loop)
        self.writes += [(root, None) for root in self._stored_in(loop)]
        domain = loop.domain
        if isinstance(domain, While):
            domain = replace(domain, block=self.block(domain.block))
        self.out.append(replace(loop, domain=domain, body=self.block(loop.body)))
        self.writes += [(root, None) for root in self._stored_in(loop)]

    def _stored_in(self, loop: Loop) -> set[Var]:
        owners: dict[Var, Var] = {}
        found: set[Var] = set()
        for statement in walk(Block((loop,))):
            if isinstance(statement, Let) and statement.op.args and isinstance(statement.op.args[0], Var):
                owners[statement.var] = owners.get(statement.op.args[0], statement.op.args[0])
            if isinstance(statement, Store):
                found |= {statement.ref, owners.get(statement.ref, statement.ref)}
            if isinstance(statement, Let) and statement.op.name.startswith("inplace."):
                found |= {owners[statement.var]} if statement.var in owners else set()  # a number has none
        return found | {self.roots[ref] for ref in found if ref in self.roots}

    def _refuse_rows(self, statement: Statement) -> None:
        """What hands rows on as they are has no form on numbers."""
        if any(isinstance(atom, Var) and atom in self.rows for atom in uses(statement)):
            raise self.refusal("a row is handed on as a whole")

    def refusal(self, message: str) -> NotLiftable:
        return NotLiftable("not-scalar", message, self.span)

    # ------------------------------------------------------------ writing

    def fresh(self, hint: str = "t") -> Var:
        return Var(f"{hint}.e{next(self.numbers)}")

    def let(self, name: str, *args: Operand, var: Var | None = None, **kwargs: Operand) -> Var:
        var = var if var is not None else self.fresh(_hint(name))
        self.out.append(Let(var, Op(name, args, tuple(kwargs.items())), self.span))
        return var

    def require(self, name: str, first: Operand, second: Operand, why: str) -> None:
        self.out.append(Require(self.let(name, first, second), why, self.span))

    def require_some(self, sizes: tuple[Size, ...], what: str) -> None:
        if any(isinstance(size, int) and size == 0 for size in sizes):
            raise self.refusal(what)
        for size in sizes:
            if not isinstance(size, int):
                self.require("ge", size, Const(1), what)

    def require_elements(self, sizes: tuple[Size, ...]) -> None:
        """Rows without elements have a gradient in the loop, and none element by element."""
        if self.gradients:
            self.require_some(sizes, "a row without elements, with gradients")

    def total(self, size: Size, init: Atom, step: Callable[[Atom, Atom], Atom], dtype: torch.dtype) -> Atom:
        """``for k in range(size): init = step(k, init)``: the value after it."""
        if isinstance(size, int):
            for k in range(size):
                init = step(Const(k), init)
            return init
        index, inside, after = self.fresh("k"), self.fresh("total"), self.fresh("total")
        self.known |= dict.fromkeys((inside, after), Fact(Kind("tensor", dtype)))
        outer, self.out = self.out, []
        last = step(index, inside)
        body, self.out = Block(tuple(self.out)), outer
        domain = Range(Const(0), size, Const(1))
        self.out.append(Loop(domain, index, (Carry(inside, init, last, after),), body, None, self.span))
        return after

    def each(self, sizes: tuple[Size, ...], body: Callable[[tuple[Atom, ...]], None]) -> None:
        """Nested loops over all indices."""
        if not sizes:
            body(())
            return
        first, rest = sizes[0], sizes[1:]
        if isinstance(first, int):
            for k in range(first):
                self.each(rest, lambda index, k=k: body((Const(k), *index)))
            return
        index = self.fresh("k")
        outer, self.out = self.out, []
        self.each(rest, lambda inner: body((index, *inner)))
        block, self.out = Block(tuple(self.out)), outer
        self.out.append(Loop(Range(Const(0), first, Const(1)), index, (), block, None, self.span))

    def number(self, value: float, dtype: torch.dtype) -> Var:
        return self.let("torch.tensor", Const(value), dtype=Const(dtype))

    # ------------------------------------------------------------ bindings

    def _let(self, statement: Let) -> None:
        var, op = statement.var, statement.op
        from looplift.emit.expanded_finite import needs_of
        from looplift.emit.expanded_ops import reduction, row_of_operation
        from looplift.emit.expanded_steep import is_steep

        given = [argument for argument in op.args if not isinstance(argument, Slice)]
        has_rows = any(self._has_row(argument) for argument in given)
        if has_rows and self._is_cast(op, var):
            raise self.refusal(f"'{base_name(op.name)}' under autocast is computed in another dtype")
        if op.name in ("getitem", "iter_item") and self._is_tensor(op.args[0]):
            self._subscript(statement)
        elif op.name in ("list", "tuple") and rank_of(self.facts, var) == 0:
            self.out.append(statement)
        elif rank_of(self.facts, var) > 0:
            row = row_of_operation(self, op)
            if row is None or (work := self._work(var, op)) > LONGEST:
                raise self.refusal(f"'{base_name(op.name)}' of rows has no form on single numbers")
            needs = needs_of(self, op) if self.gradients else ()
            row = replace(row, made=len(self.writes), steep=is_steep(self, op), needs=needs)
            self.rows[var], self.changed, self.work[var] = row, True, work
            self.made[var] = canonical(op.name)[1]
        elif has_rows and not _only_sizes(op):
            if not reduction(self, statement):
                raise self.refusal(f"'{base_name(op.name)}' of rows has no form on single numbers")
            self.changed = True
        else:
            self.out.append(statement)

    def _is_cast(self, op: Op, var: Var) -> bool:
        """Whether autocast may have changed what an operation on rows gives: it is of another dtype than these."""
        kind = self.facts.of[var].kind if var in self.facts.of else Kind("undefined")
        if kind.family != "tensor" or not torch._C._is_any_autocast_enabled() or not kind.dtype.is_floating_point:
            return False
        given = {self.dtype(a) for operand in op.args for a in atoms(operand) if rank_of(self.facts, a)}
        return given != {kind.dtype}

    def _work(self, var: Var, op: Op) -> int:
        """How many numbers are computed for all of a row: those of a row before it as often as it is read."""
        short, length = canonical(op.name)[1], max(prod(self.facts.of[var].shape), 1)
        given = [a for operand in op.args for a in atoms(operand) if isinstance(a, Var)]
        longest = max((prod(self.facts.of[a].shape) for a in given if a in self.facts.of), default=1)
        again = {"softmax": 3, "log_softmax": 3, "logsumexp": 2}.get(short, 1)
        before = sum(max(self.work.get(a, 0), 1) for a in given)
        if short in PRODUCTS:
            return longest + length * before
        return again * max(before, longest, length)

    def _has_row(self, operand: Operand) -> bool:
        return any(isinstance(atom, Var) and (atom in self.rows or self._stacked(atom)) for atom in atoms(operand))

    def _stacked(self, atom: Atom) -> bool:
        return isinstance(atom, Var) and any(rank_of(self.facts, item) for item in self.displays.get(atom, ()))

    def _is_tensor(self, operand: Operand) -> bool:
        fact = self.facts.of.get(operand) if isinstance(operand, Var) else None
        return fact is not None and fact.kind.family == "tensor" and fact.kind.rank > 0

    def _subscript(self, statement: Let) -> None:
        """An element as it is; a row of a tensor of the loop stays a view, and is known by its elements too."""
        var, (owner, index) = statement.var, statement.op.args
        assert isinstance(owner, Var)
        parts: list[Operand] = list(index.items) if isinstance(index, Group) else [index]
        whole = all(isinstance(part, Var) or (isinstance(part, Const) and type(part.value) is int) for part in parts)
        self.roots[var] = root = self.roots.get(owner, owner)
        first = parts[0] if parts and not isinstance(parts[0], Slice | Group) and owner not in self.roots else None
        self.firsts[var] = self.firsts.get(owner) or (first if isinstance(first, Var | Const) else None)
        source = self.rows.get(owner)
        if whole and (source is None or owner in self.kept):
            self.out.append(statement)
            if rank_of(self.facts, var):
                self.rows[var] = self.view(var, root)
                self.kept.add(var)
            return
        if whole and source is not None and not source.is_view:
            self._taken(var, owner, self.row(owner) or source, parts)
            return
        found = self._sliced(source if source is not None else self.view(owner, root), parts)
        if found is None or not rank_of(self.facts, var):
            raise self.refusal("a part of a row has no form on single numbers")
        reads = frozenset((read, self.firsts[var]) for read, _ in found.reads) if source is None else found.reads
        self.rows[var], self.changed = replace(found, reads=reads), True

    def _taken(self, var: Var, owner: Var, row: Row, parts: list[Operand]) -> None:
        """``row[k]`` of a row that is computed."""
        self.check_unread(row)
        places: list[Atom] = []
        for part, size in zip(parts, row.sizes, strict=False):
            length = Const(size) if isinstance(size, int) else size
            is_negative = isinstance(part, Const) and part.value < 0
            place = self.let("add", length, part) if is_negative else as_atom(part)
            self.require("ge", place, Const(0), "an index from the start")
            self.require("lt", place, length, "an index is in range")
            places.append(place)
        self.roots.pop(var, None)
        if len(places) < len(row.sizes):
            self.rows[var] = replace(row, sizes=row.sizes[len(places) :], at=lambda index: row.at((*places, *index)))
        else:
            self.let("copy", self._beside(owner, row, row.at(tuple(places))), var=var)
        self.changed = True

    def _beside(self, owner: Var, row: Row, found: Atom) -> Atom:
        """A number of a stack; through others that are not taken goes a gradient of zero, as autograd has it."""
        taken = found
        for place, item in enumerate(row.items if self.gradients else ()):
            places = (owner, place), (owner, place - len(row.items))
            if item is not taken and self.taken_here.isdisjoint(places):
                always = self.let("torch.eq", zero := self.number(0.0, row.dtype), zero)
                found = self.let("torch.where", always, found, item)
        return found

    def check_unread(self, row: Row) -> None:
        """A gradient of zero stays zero on its way through the elements of a row that are not read."""
        from looplift.emit.expanded_finite import require_needs

        if self.gradients and row.steep:
            raise self.refusal("an element of a row whose other elements may have infinite gradients")
        if self.gradients:
            require_needs(self, row)

    def view(self, var: Var, root: Var) -> Row:
        """A tensor that the kernel knows as a view."""
        rank, kind = rank_of(self.facts, var), self.facts.kind(var)
        sizes: tuple[Size, ...] = tuple(self.let("method.size", var, Const(axis)) for axis in range(rank))

        def at(index: tuple[Atom, ...]) -> Atom:
            return self.let("getitem", var, index[0] if len(index) == 1 else Group("tuple", index))

        return Row(sizes, kind.dtype, at, frozenset({(root, self.firsts.get(var))}), True)

    def _sliced(self, row: Row, parts: list[Operand]) -> Row | None:
        """``row[:, k]``, ``row[None]``, ``row[i : i + 3]``: whole axes, windows, single places and new axes."""
        sizes: list[Size] = []
        take: list[Atom | tuple[int, Atom | None]] = []
        axes = iter(range(len(row.sizes)))
        for part in parts:
            if isinstance(part, Const) and part.value is None:
                sizes.append(1)
            elif isinstance(part, Slice):
                first, size = self._window(row, row.sizes[next(axes)], part)
                take.append((len(sizes), first))
                sizes.append(size)
            elif self.is_place(part) and row.is_view:
                next(axes)
                take.append(part)  # pyright: ignore[reportArgumentType]
            else:
                return None
        for axis in axes:
            take.append((len(sizes), None))
            sizes.append(row.sizes[axis])

        def place(one: Atom | tuple[int, Atom | None], index: tuple[Atom, ...]) -> Atom:
            if not isinstance(one, tuple):
                return one
            return index[one[0]] if one[1] is None else self.let("add", one[1], index[one[0]])

        return replace(row, sizes=tuple(sizes), at=lambda index: row.at(tuple(place(one, index) for one in take)))

    def _window(self, row: Row, size: Size, part: Slice) -> tuple[Atom | None, Size]:
        """The first place of a slice, None for 0, and its length; what is behind the end is cut off."""
        lo, hi, step = (None if isinstance(one, Const) and one.value is None else one for one in _bounds(part))
        if lo is hi is step is None:
            return None, size
        bounds = [one for one in (lo, hi) if one is not None]
        if step not in (None, Const(1)) or not row.is_view or not all(map(self.is_place, bounds)):
            raise self.refusal("a part of a row has no form on single numbers")
        length = Const(size) if isinstance(size, int) else size
        first = Const(0) if lo is None else self._from_front(lo, length)
        last = length if hi is None else self.let("builtin.min", self._from_front(hi, length), length)
        self.require("le", Const(0), first, "a slice begins inside of what it is taken of")
        self.require("le", first, last, "a slice begins inside of what it is taken of")
        return first, self.let("sub", last, first)

    def _from_front(self, bound: Atom, length: Atom) -> Atom:
        is_behind = isinstance(bound, Const) and bound.value < 0
        return self.let("add", length, bound) if is_behind else bound

    def is_place(self, part: Operand) -> bool:
        if isinstance(part, Const):
            return type(part.value) is int
        return isinstance(part, Var) and self.facts.kind(part).family == "int"

    # ------------------------------------------------------------ operands

    def row(self, operand: Operand) -> Row | None:
        """An operand by its elements; a number is the same everywhere."""
        if isinstance(operand, Var) and operand in self.rows:
            found = self.rows[operand]
            if not found.is_view:
                self._check_unchanged(found)
            return found
        if isinstance(operand, Var) and rank_of(self.facts, operand):
            return self.view(operand, self.roots.get(operand, operand))
        return None

    def _check_unchanged(self, row: Row) -> None:
        """What a row was computed from must be as it was then: other rows of the tensors may have changed."""
        for root, place in self.writes[row.made :]:
            for read, first in row.reads:
                if read is root:
                    self.require_other_rows(root, place, first)

    def require_other_rows(self, root: Var, place: Operand | None, first: Atom | None) -> None:
        if place is None or first is None or any(self.facts.kind(as_atom(a)).family != "int" for a in (place, first)):
            raise self.refusal("a row is computed from what changes before it is used")
        length = self.let("method.size", root, Const(0))
        here, there = (self.let("mod", atom, length) for atom in (place, first))
        self.require("ne", here, there, "a row is computed from other rows")

    def dtype(self, operand: Operand) -> torch.dtype | None:
        """The dtype of a tensor, None of a Python number."""
        kind = self.kind(operand)
        return kind.dtype if kind.family == "tensor" else None

    def kind(self, operand: Operand) -> Kind:
        if isinstance(operand, Const):
            return self.facts.kind(operand)
        fact = self.facts.of.get(operand) if isinstance(operand, Var) else None
        if fact is None or operand in self.facts.mixed or not (fact.kind.family == "tensor" or fact.kind.is_number):
            raise self.refusal("rows of something else than tensors and numbers")
        return fact.kind

    def held(self, operand: Operand, op: Op) -> Operand:
        """A number that rows meet, as it is now: what is an element of a tensor shows its later changes."""
        if not isinstance(operand, Var) or operand not in self.roots:
            return operand
        if self.roots[operand] in self.stored and canonical(op.name)[1] not in ("add", "sub"):
            raise self.refusal("autograd keeps an element that the loop changes")
        return self.let("method.clone", operand)

    def may_change(self, row: Row) -> bool:
        """Whether a row shows what the loop changes: autograd would keep it for backward, and find it changed."""
        return row.is_view and any(root in self.stored for root, _ in row.reads)

    def same_size(self, first: Size, second: Size) -> Size:
        """The size of an axis of two rows; the smaller of a literal 1."""
        if first == 1 and isinstance(first, int):
            return second
        if (second == 1 and isinstance(second, int)) or first is second or first == second:
            return first
        if isinstance(first, int) and isinstance(second, int):
            raise self.refusal("rows of different lengths")
        fixed, other = (first, second) if isinstance(first, int) else (second, first)
        as_atom = Const(fixed) if isinstance(fixed, int) else fixed
        assert not isinstance(other, int)
        self.require("eq", as_atom, other, "rows are equally long")
        return fixed


def _takes(block: Block) -> Iterator[tuple[Operand, Any]]:
    """What is taken in a block of what, at places that are known."""
    for statement in block:
        if isinstance(statement, Let) and statement.op.name == "getitem":
            owner, place = statement.op.args
            if isinstance(place, Const):
                yield owner, place.value


def _hint(name: str) -> str:
    return {"torch.exp": "power", "torch.where": "chosen", "method.size": "size"}.get(name, "t")


def _bounds(part: Slice) -> tuple[Atom, Atom, Atom]:
    return part.lo, part.hi, part.step


def place_in(size: Size, index: Atom) -> Atom:
    """The index into an axis that may be repeated."""
    return Const(0) if isinstance(size, int) and size == 1 else index


def _only_sizes(op: Op) -> bool:
    """Whether an operation asks for the sizes of a row alone; a view has them in a kernel."""
    return op.name in ("attribute", "builtin.len", "iter_len", "method.size", "method.dim")


def is_elementwise(name: str) -> bool:
    """Whether an operation takes single numbers."""
    short = canonical(name)[1]
    if name.startswith(("builtin.", "inplace.", "math.")):
        return name == "builtin.abs"
    return short in (*COMPARISONS, *BITS, *TESTS, *LOGIC, "where", "pow", "invert") or row_of(short) is not None


__all__ = ["STACKED", "Expansion", "Row", "Size", "children", "expanded", "is_elementwise"]
