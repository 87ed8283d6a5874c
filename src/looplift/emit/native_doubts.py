"""What NumPy warns of, looked for at the end of a kernel: a number that is not finite stays so in sums and products.

A kernel runs as if all were well. If any number that it looked at is not finite, everything is put back and it runs
again with each operation checked, since that may be nothing to warn of: the caller's numbers may be infinite.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from looplift.emit.native_flow import Flow
from looplift.emit.native_types import Scalar
from looplift.ir.grammar import (
    Block,
    Const,
    If,
    Let,
    Loop,
    Operand,
    Range,
    Statement,
    Store,
    Var,
    While,
    atoms,
    children,
    operands,
    uses,
    walk,
)

if TYPE_CHECKING:
    from looplift.emit.native_signature import Parameter

HERE = "// doubts"
"""The line of a kernel that stands for the last look."""

_SPREADS = frozenset(("add", "sub", "mul"))
_ALIKE = frozenset(("neg", "abs", "builtin.abs", "absolute", "fabs"))


def settled_later(loop: Loop, flow: Flow, types: dict[Var, Scalar]) -> frozenset[Var]:
    """Results of arithmetic that, where they are not finite, make another one not finite that is looked at."""
    found: set[Var] = set()
    for block in _blocks(loop):
        shown: set[Var] = set()
        for statement in reversed(block.statements):
            if isinstance(statement, Let) and not _is_read_float(statement.var, flow, types):
                continue
            is_looked_at = isinstance(statement, Store) or _short(statement) in (*_SPREADS, "truediv")
            is_shown = isinstance(statement, Let) and statement.var in shown
            if is_looked_at and isinstance(statement, Let) and statement.var in shown:
                found.add(statement.var)
            if is_looked_at or is_shown:
                shown |= _passed_on(statement)
    return frozenset(found)


_Need = tuple[Operand | None, Block | None]


def surely_used(loop: Loop, ends: set[Var]) -> frozenset[Var | Store]:
    """What no compiler can leave out, or move to where it is computed more seldom: what is stored or decides in the
    same block or on both sides of an ``if`` there, and all that leads to it; ``ends``: what is read after the loop.
    Of stores with an operation, those whose results are."""
    homes = _homes(loop)
    places = [(loop, None), *((s, block) for block in _blocks(loop) for s in block if not isinstance(s, Store))]
    every = [*walk(Block((loop,)))]
    read = ends.union(atom for s in every if not isinstance(s, Store) for atom in uses(s) if isinstance(atom, Var))
    stores = [kept for inner in every if isinstance(inner, Loop) for kept in _kept_stores(inner, homes, read)]
    kept = {(atom, block) for store, block in stores for atom in uses(store) if isinstance(atom, Var)}
    branches = [(s, block) for s, block in reversed(places) if isinstance(s, If)]
    found, size = {*ends, *homes}, -1
    while size != len(found):  # what is carried is needed if it is after the loop: begin with all, and leave out
        size = len(found)
        needed = kept.union(*(_needed(statement, block, found) for statement, block in places))
        for branch, block in branches:
            needed |= {(var, block) for var, side in needed if side is branch.then and (var, branch.orelse) in needed}
        found = ends | {var for var, home in needed if isinstance(var, Var) and homes.get(var) is home}
    return frozenset(found) | {store for store, _ in stores if store.combine is not None}


def _homes(loop: Loop) -> dict[Var, Block]:
    """Where each variable is bound."""
    homes = {var: block for block in _blocks(loop) for statement in block for var in _bound(statement)}
    for statement in walk(Block((loop,))):
        if isinstance(statement, Loop):
            homes |= {carry.inside: statement.body for carry in statement.carries}
    return homes


def _kept_stores(loop: Loop, homes: dict[Var, Block], read: set[Var]) -> Iterator[tuple[Store, Block]]:
    """Stores of a loop, in no loop inside of it, that are not written over, also not by the next iteration.

    ``read``: the arrays made by the kernel that are not for nothing.
    """
    bounds = (loop.domain.lo, loop.domain.hi) if isinstance(loop.domain, Range) else ()
    once = [bound.value for bound in bounds if isinstance(bound, Const)] == [0, 1]
    inside = [loop.body]
    for block in inside:
        inside += [inner for s in block if isinstance(s, If) for inner in children(s)]
    replaced = {s.ref for block in inside for s in block if isinstance(s, Store) and s.combine is None}
    for block in inside:
        written: set[Var] = set()
        for statement in reversed(block.statements):
            if not isinstance(statement, Store):
                continue
            moves = once or any(a is loop.index or _home(a, homes) in inside for a in atoms(statement.index))
            grows = statement.combine is not None and statement.ref not in replaced
            is_read = statement.ref not in homes or statement.ref in read
            if is_read and (grows or (moves and statement.ref not in written)):
                yield statement, block
            written.add(statement.ref)


def _home(atom: object, homes: dict[Var, Block]) -> object:
    return homes.get(atom, atom) if isinstance(atom, Var) else atom


def _bound(statement: Statement) -> list[Var]:
    match statement:
        case Let(var=var):
            return [var]
        case If(phis=phis):
            return [phi.var for phi in phis]
        case Loop(carries=carries):
            return [carry.after for carry in carries]
    return []


def _needed(statement: Statement, block: Block | None, found: set[Var]) -> Iterator[_Need]:
    """What a statement needs whenever it runs, each with the block that it is to be bound in."""
    match statement:
        case Let(var=var, op=op):
            yield from ((atom, block) for atom in operands(op) if isinstance(atom, Var) and var in found)
        case If(cond=cond, phis=phis, then=then, orelse=orelse):
            yield cond, block
            for phi in phis:
                if phi.var in found:
                    yield from ((phi.then, then), (phi.orelse, orelse))
        case Loop(carries=carries, body=body, domain=domain, stop=stop):
            yield from ((atom, block) for atom in uses(Loop(domain, None, (), body, None)) if isinstance(domain, Range))
            if isinstance(domain, While):
                yield domain.cond, domain.block
            yield stop, body
            for carry in carries:
                if carry.inside in found and carry.after in found:
                    yield from ((carry.init, block), (carry.next, body))
        case _:
            yield from ((atom, block) for atom in uses(statement))


def _blocks(loop: Loop) -> Iterator[Block]:
    yield loop.body
    for statement in walk(loop.body):
        yield from children(statement)


def _is_read_float(var: Var, flow: Flow, types: dict[Var, Scalar]) -> bool:
    scalar = types.get(var)
    is_float = scalar is not None and scalar.family == "numpy" and scalar.is_float and not scalar.is_half
    return is_float and flow.counts[var] > 0


def _short(statement: Statement) -> str:
    name = statement.op.name if isinstance(statement, Let) else ""
    return name.removeprefix("inplace.").removeprefix("np.")


def _passed_on(statement: Statement) -> set[Var]:
    """The operands that make the result not finite if they are not."""
    match statement:
        case Let(op=op) if _short(statement) in (*_SPREADS, *_ALIKE):
            return {atom for atom in op.args if isinstance(atom, Var)}
        case Let(op=op) if _short(statement) == "truediv":
            return {atom for atom in op.args[:1] if isinstance(atom, Var)}
        case Store(value=Var() as value, combine=combine) if combine in _SPREADS:
            return {value}
    return set()


def with_doubts(lines: list[str], stored: list[Parameter], *, writes_first: bool) -> tuple[list[str], list[str]]:
    """What a kernel begins with, and its lines with the last look; ``stored``: what it writes to, ``writes_first``: not
    in loops alone.

    A kernel that fails leaves what it writes to as it was: it is put back, unless nothing is written before it fails.
    """
    place = next((k for k, line in enumerate(lines) if line.strip() == HERE), len(lines))
    doubts = any("doubt." in line for line in lines)
    look = ["  if (doubt.any()) return doubtful;"] if doubts else []
    lines = [*lines[:place], *look, *lines[place + 1 :]]
    first = ["Doubt doubt;"] if doubts else []
    if doubts or _fails_late(lines, writes_first):
        first += [line for parameter in stored for line in _kept(parameter)]
        lines += [f"  {parameter.name}_before.forget();" for parameter in stored]
    return first, lines


def _fails_late(lines: list[str], writes_first: bool) -> bool:
    """Whether a kernel may fail after it has written anything; when it is interrupted it may."""
    loops = (k for k, line in enumerate(lines) if re.match(r" *(for|while) \(", line))
    first = 0 if writes_first else next(loops, len(lines))
    return any("return " in line and "return interrupted;" not in line for line in lines[first:])


def _kept(parameter: Parameter) -> list[str]:
    """What is in an array is kept, so that it can be put back."""
    name, element = parameter.name, parameter.scalar.cpp
    whole, rank = name, parameter.rank
    if rank == 0:
        whole, rank = f"View<{element}, 1>{{&{name}, {{1}}, {{1}}}}", 1
    if parameter.ragged:
        whole, rank = f"View<{element}, 1>{{{name}.data, {{{name}.offsets[{name}.size[0]]}}, {{1}}}}", 1
    line = f"Before<{element}, {rank}> {name}_before({whole});"
    return [line, f"if ({name}_before.is_missing()) return out_of_memory;"]


def may_run_again(text: str) -> bool:
    """Whether a kernel may have to run again."""
    return "return doubtful;" in text or "return strided;" in text


DOUBTS = {
    "Doubt": """\
#ifdef CAREFUL
// Each result is looked at with its operands.
struct Doubt {
  template <class... T> static bool later(double result, T... operands) { return surprising(result, operands...); }
  template <class... T> static bool used(double result, T... operands) { return surprising(result, operands...); }
  template <class... T> static bool found(double result, T... operands) { return surprising(result, operands...); }
  template <class... T> static bool kept(double result, T... operands) { return surprising(result, operands...); }
  static bool any() { return false; }
};
#else
// Whether a number was not finite, which may be nothing to warn of: then everything is put back, and is done carefully.
// A processor that notes overflows and the like tells it of each result that is used, or kept: computed where it
// stands, whoever reads it.
struct Doubt {
  int64_t wide = 0;
  int32_t narrow = 0;
  template <class... T> static bool later(double, T...) { return false; }
  template <class... T> bool found(double result, T...) {
    wide |= result - result == 0 ? 0 : -1;
    return false;
  }
  template <class... T> bool found(float result, T...) {
    narrow |= result - result == 0 ? 0 : -1;
    return false;
  }
#ifdef __SSE2__
  Doubt() { __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() & ~63u); }
  template <class... T> static bool used(double, T...) { return false; }
  template <class R, class... T> static bool kept(R result, T...) {
    asm volatile("" : : "x"(result));
    return false;
  }
  bool any() const {
    unsigned noted;
    asm volatile("stmxcsr %0" : "=m"(noted) : : "memory");
    return wide || narrow || (noted & 13);
  }
#else
  template <class R, class... T> bool used(R result, T... operands) { return found(result, operands...); }
  template <class R, class... T> bool kept(R result, T... operands) { return found(result, operands...); }
  bool any() const { return wide || narrow; }
#endif
};
#endif
""",
    "Held": """\
// An element that a loop updates again and again: its number. Where arrays might share memory it is the element itself.
#ifdef CAREFUL
template <class T> using Held = T&;
#else
template <class T> using Held = T;
#endif
""",
    "shares": """\
// Whether arrays may share memory where a kernel holds elements of one. With care none is held.
template <class One, class Other> static inline bool shares(const One& one, const Other& other) {
#ifdef CAREFUL
  return false;
#else
  return overlap(one, other);
#endif
}
""",
    "is_dense": """\
// Whether elements are next to each other along the last axis. That speeds up a kernel, and is not asked for again.
template <class T, int rank> static inline bool is_dense(const View<T, rank>& view) {
#ifdef CAREFUL
  return true;
#else
  return view.step[rank - 1] == 1;
#endif
}
""",
    "unusual": """\
// Whether some indices from the first to the last are no places counted from the start. Then all is done with care.
static inline bool unusual(int64_t first, int64_t last, int64_t size) {
#ifdef CAREFUL
  return false;
#else
  return first < 0 || last < first || last >= size;
#endif
}
""",
    "usual_place": """\
// Where an index points to, which is not counted from the end unless care is taken.
static inline int64_t usual_place(int64_t index, int64_t size) {
#ifdef CAREFUL
  return index < 0 ? index + size : index;
#else
  return index;
#endif
}
""",
    "misplaced": """\
static inline bool misplaced(int64_t place, int64_t size) {
#ifdef CAREFUL
  return uint64_t(place) >= uint64_t(size);
#else
  return false;
#endif
}
""",
    "Before": """\
// What was in an array before a kernel wrote to it; it is put back where the kernel does not come to its end.
template <class T, int rank> struct Before {
  const View<T, rank> view;
  T* held;
  bool forgotten = false;
  explicit Before(const View<T, rank>& whole) : view(whole) {
    held = (T*)__builtin_malloc(size_t(count() + 1) * sizeof(T));
    if (held) pass(false);
  }
  Before(const Before&) = delete;
  ~Before() {
    if (held && !forgotten) pass(true);
    __builtin_free(held);
  }
  bool is_missing() const { return !held; }
  void forget() { forgotten = true; }
  int64_t count() const {
    int64_t total = 1;
    for (int axis = 0; axis < rank; ++axis) total *= view.size[axis];
    return total;
  }
  __attribute__((noinline)) void pass(bool back) const {
    int64_t next = 1;
    int axis = rank - 1;
    while (axis >= 0 && view.step[axis] == next) next *= view.size[axis--];
    if (axis >= 0) pass(back, view.data, held, 0);
    else if (next) __builtin_memcpy(back ? view.data : held, back ? held : view.data, size_t(next) * sizeof(T));
  }
  // One after the other.
  __attribute__((noinline, cold)) T* pass(bool back, T* start, T* place, int axis) const {
    for (int64_t k = 0; k < view.size[axis]; ++k, start += view.step[axis])
      if (axis < rank - 1) place = pass(back, start, place, axis + 1);
      else if (back) *start = *place++;
      else *place++ = *start;
    return place;
  }
};
""",
}
