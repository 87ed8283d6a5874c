"""A loop over NumPy arrays and tensors in, the same over tensors alone out.

for i in range(len(images)):                              images_tensor = torch.from_numpy(images)
    x = torch.from_numpy(images[i])                       for i in range(len(images_tensor)):
    found.append(model(x).detach().numpy())                   x = images_tensor[i]
return np.stack(found)                                        found.append(model(x).detach())
                                                          return torch.stack(found).numpy()

The tensors share the memory of the arrays. An operation is taken only where the one on tensors gives the same values of
the same dtype and rank, and where NumPy would not warn; what is found of the tensors is compared with what was found of
the arrays in the end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from looplift.analysis import probe
from looplift.analysis.bridged_ops import MADE, OF_NUMPY, SCALARS, Operations, is_numpy, tensor_dtype
from looplift.base.data import dataclass, field, replace
from looplift.base.spans import Span
from looplift.ir.facts import Facts, Kind
from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Atom,
    Block,
    Function,
    Group,
    If,
    Let,
    Loop,
    Op,
    Range,
    Slice,
    Statement,
    Store,
    Var,
    While,
    as_atom,
    atoms,
    children,
    operands,
    uses,
    walk,
)

WAYS = {"array": "{}.numpy()", "numpy": "{}.numpy()[()]"}
SHOWING = ("torch.from_numpy", "torch.as_tensor")
NEITHER = ("iter_len", "builtin.len", "attribute", "torch.tensor")
"""What reads no elements, or makes a copy of its own."""
ROUNDING = frozenset("builtin.int builtin.round builtin.bool math.floor math.ceil method.long method.int".split())


@dataclass(frozen=True, eq=False)
class Bridged:
    """``function`` is over tensors; ``given`` are those that stand for arrays, with the paths of these, by their names.

    ``ways``: for each result how it is turned back, an expression with ``{}`` for its text; None for what stays.
    """

    function: Function
    facts: Facts
    given: dict[str, tuple[str, Any]]
    ways: dict[str, str | None]
    copied: frozenset[str] = frozenset()
    """Of those, copies: autograd keeps them, and nobody sees that the array is filled anew before the backward pass."""

    def values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {**values, **{name: tensors for name, (_, tensors) in self.given.items()}}


def as_tensors(value: Any) -> Any:
    """Tensors in the memory of an array, or of those in a list."""
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value)
    return [torch.from_numpy(one) for one in value]


def conversion(path: str, tensors: Any, *, copied: bool) -> str:
    """The text of the same, ``copied``: in memory of their own."""
    make = "torch.tensor" if copied else "torch.from_numpy"
    return f"{make}({path})" if isinstance(tensors, torch.Tensor) else f"[{make}(one) for one in {path}]"


def over_tensors(function: Function, facts: Facts, *, gradients: bool) -> Bridged:
    """``gradients``: whether any may flow, so that ``.numpy()`` may raise. Raises TwoLibraries where there is none."""
    bridge = _Bridge(function, facts, gradients)
    made = bridge.function_over_tensors()
    found = probe.analyse(made)
    bridge.check(found)
    ways = {key: bridge.way(facts.kind(atom), atom, function.span) for key, atom in function.results}
    return Bridged(made, found, bridge.given, ways, frozenset(bridge.own_memory))


def _holds_numpy(kind: Kind) -> bool:
    return is_numpy(kind) or any(map(_holds_numpy, kind.items))


@dataclass
class _Bridge(Operations):
    given: dict[str, tuple[str, Any]] = field(default_factory=dict)
    own_memory: set[str] = field(default_factory=set)

    def function_over_tensors(self) -> Function:
        function = self.source
        for statement in walk(function.body):
            if isinstance(statement, Let):
                self.lets[statement.var] = statement.op
            if isinstance(statement, If):
                self.tests.add(statement.cond)
            for atom in uses(statement):
                if isinstance(atom, Var):
                    self.users.setdefault(atom, []).append(statement)
        attributes = dict(function.attributes)
        attributes["paths"], attributes["values"] = dict(attributes["paths"]), dict(attributes["values"])
        for var in function.params:
            if _holds_numpy(self.facts.kind(var)):
                self.parameter(var, attributes)
        body = self.block(function.body)
        self.check_decisions()
        return replace(function, body=body, attributes=attributes)

    def parameter(self, var: Var, attributes: dict[str, Any]) -> None:
        path, value = attributes["paths"][var], attributes["values"][var]
        arrays = value if type(value) is list else [value]
        plain = all(type(one) is np.ndarray and one.ndim and one.flags.writeable for one in arrays)
        bound = any(atom is var for key, atom in self.source.results if key != "return")
        if not plain or bound:
            raise self.refuse(f"'{path}' is no array of its own", self.source.span)
        if type(value) is list and any(isinstance(one, Append) and one.ref is var for one in self.users.get(var, ())):
            raise self.refuse(f"'{path}' is changed", self.source.span)
        if not path.isidentifier() and self.is_changed(var):
            raise self.refuse(f"'{path}' is changed", self.source.span)
        taken = {root.partition(".")[0] for root in (*attributes["paths"].values(), *attributes["modules"])}
        taken |= {key for key, _ in self.source.results} | self.given.keys()
        name = re.findall(r"[A-Za-z_]\w*", path)[-1] + ("_tensors" if type(value) is list else "_tensor")
        while name in taken:
            name += "_"
        attributes["paths"][var] = name
        try:
            attributes["values"][var] = as_tensors(value)
        except (TypeError, ValueError) as error:
            raise self.refuse(str(error), self.source.span) from None
        self.given[name] = path, attributes["values"][var]
        seen = self.seen_in(var) if self.gradients else set()
        if seen == {"memory", "values"}:
            raise self.refuse(f"'{path}' is read both as numbers and as tensors in its memory", self.source.span)
        if seen == {"values"}:
            self.own_memory.add(name)

    def seen_in(self, var: Var) -> set[str]:
        """What is read of an array: its "memory", as a tensor that changes with it, or "values" of this moment."""
        return {way for user in self.users.get(var, ()) for way in self.ways_seen(var, user)}

    def ways_seen(self, var: Var, user: Statement) -> set[str]:
        if isinstance(user, Store) and user.ref is var:
            return {"memory"}
        if isinstance(user, Loop) and all(
            var is not atom for carry in user.carries for atom in (carry.init, carry.next)
        ):
            return set()
        if not isinstance(user, Let):
            return {"values"}
        if user.op.name in ("getitem", "iter_item") and user.op.args[0] is var:
            return self.seen_in(user.var)
        if user.op.name in SHOWING and self.kind(var).family == "array":
            return {"memory"}
        return set() if user.op.name in NEITHER else {"values"}

    def is_changed(self, var: Var) -> bool:
        return any(isinstance(one, Store) and one.ref is var for one in self.users.get(var, ()))

    # ------------------------------------------------------------ statements

    def block(self, block: Block) -> Block:
        return Block(tuple(one for statement in block for one in self.statement(statement)))

    def statement(self, statement: Statement) -> list[Statement]:
        match statement:
            case Let():
                return self.let(statement) if self.touches(statement) else [statement]
            case Store(ref=ref, value=value, combine=combine, index=index) if self.touches(statement):
                self.check_index(index, statement.span)
                if combine is not None or not self.is_known(ref) or not self.fits(ref, value):
                    raise self.refuse(f"what is stored into '{ref.hint}'", statement.span)
            case If():
                for phi in statement.phis:
                    self.check_same(phi.var, (phi.then, phi.orelse), statement.span)
                return [replace(statement, then=self.block(statement.then), orelse=self.block(statement.orelse))]
            case Loop():
                for carry in statement.carries:
                    self.check_same(carry.inside, (carry.init, carry.next, carry.after), statement.span)
                if len(children(statement)) > 1 and any(map(self.touches, walk(children(statement)[0]))):
                    raise self.refuse("the condition of a 'while' loop", statement.span)
                return [replace(statement, body=self.block(statement.body))]
            case _ if not isinstance(statement, Append) and self.touches(statement):
                raise self.refuse("an array in another place", statement.span)
        return [statement]

    def touches(self, statement: Statement) -> bool:
        """Whether an array of NumPy's is read or made by a statement."""
        found = [*uses(statement), *([statement.var] if isinstance(statement, Let) else [])]
        if any(_holds_numpy(self.kind(atom)) for atom in found):
            return True
        return isinstance(statement, Let) and statement.op.name.startswith("np.")

    def check_same(self, var: Var, sources: tuple[Atom, ...], span: Span) -> None:
        """That what is joined is of NumPy on all sides, or on none."""
        kinds = [self.kind(atom) for atom in (var, *sources) if atom is not UNDEFINED]
        if any(map(_holds_numpy, kinds)) and (len(set(kinds)) > 1 or var in self.facts.mixed):
            raise self.refuse(f"'{var.hint}' is of several kinds", span)

    def is_known(self, ref: Var) -> bool:
        """Whether what is stored into is an array of the caller's, or one that is made here."""
        if ref in self.source.params:
            return self.kind(ref).family == "array"
        return ref in self.lets and (self.lets[ref].name in MADE or self.lets[ref].name == "list")

    def fits(self, ref: Var, value: Atom) -> bool:
        """Whether a value is stored into an array, or a list, as into a tensor."""
        into, kind = self.kind(ref), self.kind(value)
        if into.family == "list":
            return True
        if kind.family not in (*OF_NUMPY, *SCALARS):
            return False
        whole = kind.family in ("int", "bool") or (kind.dtype is not None and kind.dtype.kind in "iub")
        if into.dtype.kind == "f":  # of floats that overflow in a narrower dtype NumPy warns
            return whole or kind.dtype is None or kind.dtype.itemsize <= into.dtype.itemsize
        return into.dtype.kind == "i" and whole

    # ------------------------------------------------------------ what was found

    def check(self, found: Facts) -> None:
        """That each tensor is of the dtype and rank of the array that it stands for, and all else as it was."""
        for var, fact in self.facts.of.items():
            if (op := self.lets.get(var)) is not None and op.name == "attribute":
                continue  # a shape of a class of its own, which is read number by number
            if var not in found.of or not _same(fact.kind, found.of[var].kind):
                raise self.refuse(f"'{var.hint}' is otherwise of tensors", self.source.span)

    def check_decisions(self) -> None:
        """That nothing which tensors round otherwise decides what is done, or where."""
        reached = set(self.inexact)
        for _ in range(len(self.lets)):
            before = len(reached)
            for statement in walk(self.source.body):
                for var, sources in _flows(statement):
                    if any(atom in reached for atom in sources):
                        reached.add(var)
            if len(reached) == before:
                break
        for statement in walk(self.source.body):
            if any(atom in reached for atom in _deciding(statement)):
                raise self.refuse("what is computed of arrays decides, and tensors round it otherwise", statement.span)

    def way(self, kind: Kind, atom: Atom, span: Span) -> str | None:
        if atom in self.source.params and _holds_numpy(kind):
            return self.source.attributes["paths"][atom]
        if is_numpy(kind):
            return WAYS[kind.family]
        if kind.family == "list" and len(kind.items) == 1 and is_numpy(kind.items[0]):
            return f"[{WAYS[kind.items[0].family].format('one')} for one in {{}}]"
        if kind.family == "tuple" and any(map(_holds_numpy, kind.items)):
            return self.way_of_tuple(kind, atom, span)
        if _holds_numpy(kind):
            raise self.refuse("what holds arrays leaves the loop", span)
        return None

    def way_of_tuple(self, kind: Kind, atom: Atom, span: Span) -> str:
        op = self.lets.get(atom) if isinstance(atom, Var) else None
        if op is None or op.name != "tuple" or any(isinstance(one, Group | Slice) for one in op.args):
            raise self.refuse("a tuple leaves the loop", span)
        ways = [self.way(one, as_atom(arg), span) for one, arg in zip(kind.items, op.args, strict=True)]
        parts = [(way or "{}").replace("{}", f"{{}}[{k}]") for k, way in enumerate(ways)]
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


def _flows(statement: Statement) -> list[tuple[Var, list[Atom]]]:
    """What a statement binds, and what that is made of."""
    match statement:
        case Let(var=var, op=op):
            return [(var, [*operands(op)])]
        case Store(ref=ref, value=value) | Append(ref=ref, value=value):
            return [(ref, [value])]
        case If(phis=phis):
            return [(phi.var, [phi.then, phi.orelse]) for phi in phis]
        case Loop(carries=carries):
            found = [(carry.inside, [carry.init, carry.next]) for carry in carries]
            return found + [(carry.after, [carry.init, carry.next]) for carry in carries]
    return []


def _deciding(statement: Statement) -> list[Atom]:
    """What a statement reads to decide what is done, or where; integers that are made of floats decide later."""
    match statement:
        case Let(op=Op(name="getitem" | "iter_item", args=(_, *places))):
            return [atom for place in places for atom in atoms(place)]
        case Let(op=op) if op.name in ROUNDING:
            return [*operands(op)]
        case Store(index=index):
            return [*atoms(index)]
        case If(cond=cond):
            return [cond]
        case Loop(domain=While(cond=cond), stop=stop):
            return [cond] if stop is None else [cond, stop]
        case Loop(domain=Range(lo=lo, hi=hi, step=step), stop=stop):
            return [lo, hi, step] if stop is None else [lo, hi, step, stop]
    return []


def _same(was: Kind, now: Kind) -> bool:
    if is_numpy(was):
        return now.family == "tensor" and now.dtype == tensor_dtype(was.dtype) and now.rank == was.rank
    if len(was.items) != len(now.items):
        return False
    same = was.family == now.family and was.dtype == now.dtype and was.rank == now.rank
    return same and all(map(_same, was.items, now.items))
