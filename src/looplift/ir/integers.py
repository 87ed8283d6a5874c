"""Which values surely are integers of Python's: a tensor or an array of one element is none."""

from __future__ import annotations

from looplift.ir.grammar import Const, Function, Let, Loop, Operand, Range, Var, atoms, walk

LENGTHS = frozenset(("builtin.len", "iter_len", "builtin.int"))
WHOLE = LENGTHS | frozenset("add sub mul floordiv mod neg builtin.abs builtin.min builtin.max".split())


class Integers:
    """What is known of a function's values before they are analysed."""

    def __init__(self, function: Function) -> None:
        self.values = function.attributes["values"]
        self.lets = {s.var: s for s in walk(function.body) if isinstance(s, Let)}
        loops = [s for s in walk(function.body) if isinstance(s, Loop)]
        self.indices = {loop.index for loop in loops}
        self.natural = {loop.index for loop in loops if _is_natural(loop)}
        """The indices that surely are never negative."""

    def has(self, atom: Operand) -> bool:
        """Whether a value surely is an integer, and no negative one where it is written out."""
        if isinstance(atom, Const):
            return type(atom.value) is int and atom.value >= 0
        if atom in self.indices:
            return True
        let = self.lets.get(atom) if isinstance(atom, Var) else None
        if let is None:
            return isinstance(atom, Var) and type(self.values.get(atom)) is int
        if let.op.name in LENGTHS:
            return True
        if let.op.name in ("getitem", "unpack"):
            return self._is_shape(let.op.args[0])
        return let.op.name in WHOLE and all(self.has(a) for operand in let.op.args for a in atoms(operand))

    def _is_shape(self, atom: Operand) -> bool:
        let = self.lets.get(atom) if isinstance(atom, Var) else None
        if let is None or let.op.name != "attribute":
            return False
        name = let.op.args[1]
        return isinstance(name, Const) and name.value == "shape"


def _is_natural(loop: Loop) -> bool:
    """Whether a loop counts up from what is written out and not negative, or down to it."""
    match loop.domain:
        case Range(lo=Const(value=int() as lo), step=Const(value=int() as step)) if step > 0:
            return lo >= 0
        case Range(hi=Const(value=int() as hi), step=Const(value=int() as step)) if step < 0:
            return hi >= -1
    return False
