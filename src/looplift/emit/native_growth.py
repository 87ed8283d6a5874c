"""A region of the IR in, the sums out that cannot leave 64 bits before its user has waited for years.

A counter that begins small and grows by a little at each step is at most as great as the number of steps. So is a table
of which each item is made of others: their least or greatest, a little more, a half.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from looplift.ir.grammar import (
    Append,
    Atom,
    Block,
    Const,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Range,
    Statement,
    Store,
    Var,
    operands,
    walk,
)  # fmt: skip
from looplift.ops.table import base_name

LITTLE = 2**8
"""So much at most is added at each step: 2**54 of them, of a nanosecond each, are half a year."""
START = 2**47
"""What is no greater at first, as the length of anything in memory."""

_COMPARISONS = frozenset("lt le gt ge eq ne not isnan isinf isfinite logical_and logical_or logical_not".split())
_SIZES = frozenset("len iter_len numel".split())
_ATTRIBUTES = frozenset("shape size ndim nbytes itemsize".split())
_EXTREMES = frozenset("min max minimum maximum".split())
_SAME = frozenset("getitem iter_item zipped copy neg abs pos".split())
_WITHOUT_EFFECT = frozenset("attribute add sub mul truediv floordiv mod int float sum tuple".split())
_FILLED = frozenset("zeros ones zeros_like ones_like".split())
_ARRAYS = _FILLED | frozenset("full full_like list copy".split())
_NOTHING = Const(None)


def slow_sums(loop: Loop) -> frozenset[Var | Store]:
    """The sums and differences of integers, among the statements of a loop, that need no check for an overflow."""
    return _Growth(loop).sums()


class _Growth:
    """What may be great, found from nothing: each value of which a rule does not say that it is small enough."""

    def __init__(self, loop: Loop):
        self.statements = list(walk(Block((loop,))))
        self.sources: dict[Var, Op | tuple[Atom, ...]] = {}
        for statement in self.statements:
            self.sources |= _sources(statement)
        self.parts: dict[Var, Var] = {}
        for var, source in self.sources.items():
            for atom in _shared(source):
                self.parts[self.whole(atom)] = self.whole(var)
        loops = [s for s in self.statements if isinstance(s, Loop)]
        self.carried = {s.index for s in loops} | {v for s in loops for c in s.carries for v in (c.inside, c.after)}
        made = (var for var, source in self.sources.items() if isinstance(source, Op) and _name(source) in _ARRAYS)
        self.containers = {self.whole(var) for var in made}
        self.great: set[Var] = set()
        size = -1
        while size != len(self.great):
            size = len(self.great)
            self.great |= {var for var, source in self.sources.items() if not self.stays(source)}
            self.great |= set(self.spoilt())

    def sums(self) -> frozenset[Var | Store]:
        found: set[Var | Store] = set()
        for statement in self.statements:
            if isinstance(statement, Let) and _name(statement.op) in ("add", "sub") and self.is_small(statement.var):
                found.add(statement.var)
            if isinstance(statement, Store) and statement.combine in ("add", "sub") and self.is_small(statement.ref):
                found.add(statement)
        return frozenset(found)

    def whole(self, var: Var) -> Var:
        """The value that stands for all that may share items with one."""
        while (other := self.parts.get(var, var)) is not var:
            var = other
        return var

    def is_small(self, atom: object) -> bool:
        """Whether a number, or all in a container, is no more than what it began with and the steps so far."""
        if isinstance(atom, Const):
            return isinstance(atom.value, int) and abs(atom.value) <= START
        return isinstance(atom, Var) and atom in self.sources and not {atom, self.whole(atom)} & self.great

    def stays(self, source: Op | tuple[Atom, ...]) -> bool:
        """Whether what is computed so is small if its operands are."""
        if isinstance(source, tuple):
            return all(map(self.is_small, source))
        name, args = _name(source), source.args
        first, second, *_ = (*args, _NOTHING, _NOTHING)
        if name in _COMPARISONS or name in _SIZES or name in _FILLED:
            return True
        if name == "attribute":
            return isinstance(second, Const) and second.value in _ATTRIBUTES
        if name in ("add", "sub"):
            return self.is_sum(first, second)
        if name in ("full", "full_like", "mod"):
            return self.is_small(second)
        if name in ("tuple", "list") or (name in _EXTREMES and len(args) > 1):
            return all(map(self.is_small, args))
        if name in _SAME or name == "rshift" or (name == "floordiv" and _is_whole(second)):
            return self.is_small(first)
        if name == "mul":
            return self.is_list(first) and self.is_small(first)
        return name == "and_" and (_is_mask(first) or _is_mask(second))

    def is_sum(self, first: Operand, second: Operand) -> bool:
        pairs = ((first, second), (second, first))
        return any(self.is_small(great) and self.is_little(little) for great, little in pairs)

    def is_little(self, atom: object) -> bool:
        """Whether a value is from -256 to 256, whatever the loop is given."""
        if isinstance(atom, Const):
            return isinstance(atom.value, int) and abs(atom.value) <= LITTLE
        source = self.sources.get(atom) if isinstance(atom, Var) else None
        if isinstance(source, Op):
            name = _name(source)
            is_choice = name in _EXTREMES and len(source.args) > 1
            return name in _COMPARISONS or (is_choice and all(map(self.is_little, source.args)))
        return source is not None and atom not in self.carried and all(map(self.is_little, source))

    def is_list(self, atom: Operand) -> bool:
        source = self.sources.get(atom) if isinstance(atom, Var) else None
        return isinstance(source, Op) and source.name == "list"

    def spoilt(self) -> Iterator[Var]:
        """What great numbers are stored in, or what is changed in ways that are not looked into."""
        for statement in self.statements:
            match statement:
                case Store(ref=ref, value=value, combine=combine):
                    little = combine in ("add", "sub") and self.is_little(value)
                    same = combine in (None, "minimum", "maximum") and self.is_small(value)
                    if not little and not same:
                        yield self.whole(ref)
                case Append(ref=ref, value=value) if not self.is_small(value):
                    yield self.whole(ref)
                case Let(op=op) if not self.is_known(op):
                    yield from {self.whole(atom) for atom in operands(op) if isinstance(atom, Var)} & self.containers

    def is_known(self, op: Op) -> bool:
        """Whether an operation changes none of its operands, or in a way that the rules know."""
        name = _name(op)
        if op.name.startswith("inplace."):
            return self.is_little(op.args[1]) and name in ("add", "sub")
        return name in _COMPARISONS | _SIZES | _EXTREMES | _SAME | _ARRAYS | _WITHOUT_EFFECT


def _sources(statement: Statement) -> dict[Var, Op | tuple[Atom, ...]]:
    """What the variables of a statement are computed by, or which values they may have."""
    match statement:
        case Let(var=var, op=op):
            return {var: op}
        case If(phis=phis):
            return {phi.var: (phi.then, phi.orelse) for phi in phis}
        case Loop(index=index, carries=carries, domain=domain):
            found: dict[Var, Op | tuple[Atom, ...]] = {}
            for carry in carries:
                found |= {var: (carry.init, carry.next) for var in (carry.inside, carry.after)}
            if index is not None and isinstance(domain, Range) and _is_little_step(domain.step):
                found[index] = (domain.lo,)
            return found
    return {}


def _is_little_step(step: Atom) -> bool:
    return isinstance(step, Const) and isinstance(step.value, int) and abs(step.value) <= LITTLE


def _shared(source: Op | tuple[Atom, ...]) -> Iterable[Var]:
    """The operands of which a result may be a part, or which may be a part of it."""
    if isinstance(source, tuple):
        return [atom for atom in source if isinstance(atom, Var)]
    name = _name(source)
    if name in ("tuple", "list"):
        return [atom for atom in source.args if isinstance(atom, Var)]
    if name in _SAME or source.name.startswith("inplace.") or name == "mul":
        return [atom for atom in source.args[:1] if isinstance(atom, Var)]
    return []


def _name(op: Op) -> str:
    return base_name(op.name)


def _is_mask(atom: object) -> bool:
    return isinstance(atom, Const) and isinstance(atom.value, int) and 0 <= atom.value <= START


def _is_whole(atom: object) -> bool:
    return isinstance(atom, Const) and isinstance(atom.value, int)
