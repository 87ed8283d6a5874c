"""Views that a loop chooses are made after it, at the place where the loop found them.

best = x[0]                                   best, best_at = x[0], 0
for i in range(1, n):                         for i in range(1, n):
    if x[i] > best:                               if x[i] > best:
        best = x[i]                                   best, best_at = x[i], i
return best                                   return x[best_at]

What is handed out is then the view that it is in the loop, whatever becomes of the values that are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from looplift.ir.grammar import (
    Atom,
    Const,
    Function,
    Group,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Statement,
    Var,
    as_atom,
    definitions,
    operands,
    walk,
)
from looplift.ir.lookups import DISPLAYS, EXTREMES, Choice, Lookups, Place
from looplift.ir.prune import prune

SUBSCRIPTS = frozenset(("getitem", "iter_item"))
INTEGERS = frozenset(("add", "sub", "mul", "floordiv", "mod", "neg"))


def chosen_views(function: Function) -> Function:
    """The same function, in which such values are looked up once more at the end."""
    reader = _Reader(function)
    choices = [choice for var in reader.handed_out() if (choice := reader.choice(var)) is not None]
    alone = [var for var in reader.handed_out() if all(var is not choice.after for choice in choices)]
    apart = {one for var in alone for one in reader.origins(var)}
    choices = [choice for choice in choices if not apart & choice.places.keys()]
    if not choices:
        return function
    writers = [Lookups(choice, number) for number, choice in enumerate(choices)]
    if any(one.may_be(other) and one.alternatives != other.alternatives for one, other in combinations(writers, 2)):
        return function
    for writer in writers:
        function = writer.function(function)
    for one, other in combinations(writers, 2):
        if one.may_be(other):
            function = one.apart_from(other, function)
    return prune(function)


class _Reader:
    """Finds the choices of a function."""

    def __init__(self, source: Function):
        self.source = source
        self.outside = list(source.body)
        self.definition: dict[Atom, Statement] = {v: s for s in walk(source.body) for v in definitions(s)}
        self.early = {v for s in self.outside if not isinstance(s, Loop | If) for v in definitions(s)}
        found = Counter(one for atom in self.handed_out() for one in self.origins(atom))
        self.shared = {one for one, times in found.items() if isinstance(one, Var) and times > 1}
        """What several results may be."""

    def handed_out(self) -> Iterator[Var]:
        """The results, and what they are made of after the loops: items that are written out, sides of an If."""
        pending: list[Operand] = [atom for _, atom in self.source.results]
        seen: set[Operand] = set()
        while pending:
            atom = pending.pop()
            if not isinstance(atom, Var) or atom in seen:
                continue
            seen.add(atom)
            match self.definition.get(atom):
                case Let(op=op) if op.name in DISPLAYS:
                    pending += op.args
                case If(phis=phis) as branch if any(branch is one for one in self.outside):
                    pending += [side for phi in phis if phi.var is atom for side in (phi.then, phi.orelse)]
                case _:
                    yield atom

    def origins(self, atom: Atom) -> set[Atom]:
        """What a value is one of, however it is carried and joined."""
        found: set[Atom] = set()
        seen: set[Atom] = set()
        pending = [atom]
        while pending:
            one = pending.pop()
            if one in seen:
                continue
            seen.add(one)
            match self.definition.get(one):
                case If(phis=phis):
                    pending += [side for phi in phis if phi.var is one for side in (phi.then, phi.orelse)]
                case Loop(carries=carries):
                    pending += [part for c in carries if one in (c.inside, c.after) for part in (c.init, c.next)]
                case Let(op=op) if op.name in EXTREMES:
                    pending += operands(op)
                case _:
                    found.add(one)
        return found

    def choice(self, after: Var) -> Choice | None:
        """What a carried value may be after its loop; None where that is one thing, or not known well enough."""
        if not any(isinstance(s, Loop) and any(c.after is after for c in s.carries) for s in self.outside):
            return None
        found = Choice(after)
        joined = False
        pending: list[Atom] = [after]
        while pending:
            atom = pending.pop()
            if atom in found.members or atom in found.places or atom in found.others:
                continue
            match self.definition.get(atom) if isinstance(atom, Var) else None:
                case If(phis=phis) as branch if not any(branch is one for one in self.outside):
                    (phi,) = (phi for phi in phis if phi.var is atom)
                    found.members.add(phi.var)
                    pending += [phi.then, phi.orelse]
                    joined = True
                case Loop(index=index, carries=carries) if atom is not index:
                    (carry,) = (c for c in carries if atom in (c.inside, c.after))
                    found.members |= {carry.inside, carry.after}
                    pending += [carry.init, carry.next]
                case Let(var=var, op=op) if _is_extreme(op):
                    found.members.add(var)
                    pending += map(as_atom, op.args)
                    joined = True
                case made:
                    if not self._is_leaf(found, atom, made):
                        return None
        return found if joined and found.places and self._is_of_views(found) else None

    def _is_leaf(self, found: Choice, atom: Atom, made: Statement | None) -> bool:
        is_object = atom in self.shared and atom in self.early
        if not is_object and isinstance(made, Let) and isinstance(atom, Var) and (place := self._place(made)):
            found.places[atom] = place
            return True
        found.others.append(atom)
        return isinstance(atom, Const) or atom in self.source.params or atom in self.early

    def _is_of_views(self, found: Choice) -> bool:
        """Whether what is looked up are views of arrays, or arrays in a list; numbers are no objects of their own."""
        values = self.source.attributes["values"]
        return all(_holds_arrays(values[root], depth) for root, depth in found.targets)

    def _place(self, made: Let) -> Place | None:
        """The argument that something is a view of, and where."""
        if made.op.name not in SUBSCRIPTS or made.op.kwargs:
            return None
        owner, index = made.op.args
        items = index.items if isinstance(index, Group) else (index,)
        positions = tuple(item for item in items if isinstance(item, Var | Const) and self._is_integer(item))
        if len(positions) < len(items) or not isinstance(owner, Var):
            return None
        if owner in self.source.params:
            return Place(owner, positions)
        outer = self.definition.get(owner)
        lead = self._place(outer) if isinstance(outer, Let) else None
        return Place(lead.root, lead.positions + positions) if lead is not None else None

    def _is_integer(self, atom: Atom, seen: frozenset[Atom] = frozenset()) -> bool:
        """Whether a value surely is a Python integer; what is carried is what comes in and what each step makes."""
        if isinstance(atom, Const):
            return type(atom.value) is int
        if atom in seen:
            return True
        if atom in self.source.params:
            return type(self.source.attributes["values"][atom]) is int
        seen |= {atom}
        match self.definition.get(atom):
            case Loop(index=index, carries=carries):
                parts = [part for c in carries if atom in (c.inside, c.after) for part in (c.init, c.next)]
                return index is atom or all(self._is_integer(part, seen) for part in parts)
            case If(phis=phis):
                parts = [part for phi in phis if phi.var is atom for part in (phi.then, phi.orelse)]
                return all(self._is_integer(part, seen) for part in parts)
            case Let(op=op) if op.name.removeprefix("inplace.") in INTEGERS:
                return all(isinstance(arg, Var | Const) and self._is_integer(arg, seen) for arg in op.args)
            case Let(op=op):
                return op.name == "builtin.int" and len(op.args) == 1
        return False


def _holds_arrays(value: Any, depth: int) -> bool:
    import numpy as np
    import torch

    if type(value) in (list, tuple):
        return bool(value) and all(isinstance(item, torch.Tensor | np.ndarray) for item in value)
    return isinstance(value, torch.Tensor) or (isinstance(value, np.ndarray) and depth < value.ndim)


def _is_extreme(op: Op) -> bool:
    """Whether it is one of two things, by a comparison."""
    return (
        op.name in EXTREMES and len(op.args) == 2 and not op.kwargs and not any(isinstance(a, Group) for a in op.args)
    )
