"""Facts by probing: each operation runs once, on the values of the first lane or on stand-ins of the same kind.

The walk goes to a fixpoint over carried values: what is a Python number before the loop and a tensor after one
iteration is a tensor inside (its first value is cast), as ``total = 0`` followed by ``total = total + x[i]``.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeGuard

from looplift.analysis import stand_ins, updates
from looplift.analysis.undecided import check_dtypes
from looplift.analysis.wrapped import check_wrapped
from looplift.base.data import replace
from looplift.base.errors import NotLiftable, OfStrides
from looplift.base.streams import numpy_state, set_numpy_state
from looplift.ir.facts import EITHER, Fact, Facts, Kind, kind_of, shape_of
from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Atom,
    Block,
    Carry,
    Const,
    Function,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Perform,
    Phi,
    Range,
    Slice,
    Statement,
    Store,
    Var,
    While,
    as_atom,
    atoms,
    is_backwards,
    is_returned,
    operands,
    uses,
    walk,
)
from looplift.ops import special, table
from looplift.ops.evaluate import evaluate, operand_value
from looplift.ops.names import OF_USERS, callable_of, said
from looplift.ops.writes import writes_operand


def analyse(function: Function) -> Facts:
    """Facts of every variable of the function, for arguments of the kinds of those that it was made for."""
    probe = _Probe(function)
    probe.run()
    return probe.facts


UNKNOWN = Kind("undefined")
"""Of what the first iteration has not bound yet, until an iteration has."""
MAX_ITEMS = 4096
"""Elements in all items of the sample of a list that grows."""

_MAKING_LISTS = frozenset("list zipped_lists builtin.list builtin.sorted method.copy method.tolist add mul".split())
_REAL = ("builtin.float", "builtin.int")
"""What loses the imaginary part of a complex number of NumPy's, and raises for others, and for most times."""
_NO_REAL = re.compile("complex|timedelta|datetime")


class _Probe:
    def __init__(self, function: Function):
        self.function = function
        self.facts = Facts(function)
        self.loops: list[Loop] = []
        self.mixed: set[Var] = set()
        self.begun: dict[Var, Var] = {}
        """Carried values that begin as floats of Python's, and what each iteration makes of them."""
        self.reached_from: dict[Var, Var] = {}
        self.made_in: dict[Var, tuple[Loop, ...]] = {}
        self.own: dict[int, list[Any]] = {}
        """The samples of lists that the region makes, by their ids: an item of theirs may stand for all."""
        self.optional: set[Var] = set(function.attributes.get("optional", ()))
        self.stored = {s.ref for s in walk(function.body) if isinstance(s, Store | Append)}

    def run(self) -> None:
        import numpy as np
        import torch

        for var in self.function.params:
            value = self.function.attributes["values"][var]
            self._check_supported(value, var)
            self.facts.of[var] = Fact(kind_of(value), (), shape_of(value), value)
        with torch.no_grad(), np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # branches that no iteration takes are probed as well
            self.block(self.function.body)
            self._check_mixed()

    def _check_mixed(self) -> None:
        """What is a number in one lane and a tensor in another is stored and compared, but not handed out as it is."""
        for statement in walk(self.function.body):
            if isinstance(statement, Loop) and self._may_not_run(statement):
                self.mixed |= {c.after for c in statement.carries if self._begins_as_number(c)}
            if isinstance(statement, Loop):
                flags = [c for c in statement.carries if self._is_flag_of_tensors(c)]
                self.mixed |= {var for c in flags for var in (c.inside, c.after)}
        grown = True
        while grown:
            grown = False
            for statement in walk(self.function.body):
                for var, sources in (*_copies(statement), *self._undecided(statement)):
                    if var not in self.mixed and any(atom in self.mixed for atom in sources):
                        self.mixed.add(var)
                        grown = True
        for statement in self.function.body:
            if isinstance(statement, Loop):
                self.mixed |= {c.after for c in statement.carries if c.init in self.mixed}
        self._check_types()
        handed = [atom for _, atom in self.function.results]
        for statement in walk(self.function.body):
            if isinstance(statement, Append):
                handed.append(statement.value)
            elif isinstance(statement, Store):
                handed += atoms(statement.index)
            elif isinstance(statement, Perform) or (
                isinstance(statement, Let) and statement.op.name not in table.ARITHMETIC
            ):
                handed += operands(statement.op)
        self.facts.mixed = self.mixed
        self.facts.handed = {atom for atom in handed if atom in self.mixed and isinstance(atom, Var)}

    def _check_types(self) -> None:
        """A number becomes a tensor of another type beside a tensor than a tensor does; what is added in place to it
        later does not change that, so that the type would depend on what came first; and so would the shape."""
        for statement in walk(self.function.body):
            if _is_inplace(statement) and self._widens_by_turns(*operands(statement.op)):
                what = f"the shape of '{statement.var.hint}' depends on which iteration adds to it first"
                raise NotLiftable("mixed-kinds", what, statement.span)
        others = {statement.var for statement in walk(self.function.body) if self._makes_another_type(statement)}
        grown = bool(others)
        while grown:
            before = len(others)
            for statement in walk(self.function.body):
                if _is_inplace(statement) and statement.op.args[0] in others:
                    what = f"the type of '{statement.var.hint}' depends on which iteration adds to it first"
                    raise NotLiftable("mixed-kinds", what, statement.span)
                others |= {var for var, sources in _copies(statement) if any(atom in others for atom in sources)}
            grown = len(others) > before

    def _widens_by_turns(self, target: Atom, value: Atom) -> bool:
        """Whether what is a number at first may be made a tensor of less dimensions than what is added to it later."""
        may_be_number = target in self.begun or target in self.mixed
        return may_be_number and value in self.mixed and self.facts.kind(value).rank > 0

    def _makes_another_type(self, statement: Statement) -> TypeGuard[Let]:
        """Whether a result has one type if an operand is a number still, and another one if it is a tensor."""
        if not isinstance(statement, Let) or statement.op.name in ("builtin.max", "builtin.min"):
            return False
        for var, sources in self._undecided(statement):
            apart = var in self.mixed and any(source in self.mixed for source in sources)
            if apart and any(self.facts.kind(a).is_array and a not in self.mixed for a in sources):
                return True
        return False

    def _may_not_run(self, loop: Loop) -> bool:
        """Whether a loop may have no iteration where others of its kind have some."""
        if not isinstance(loop.domain, Range):
            return True
        return any(self.facts[a].loops for a in (loop.domain.lo, loop.domain.hi))

    def _begins_as_number(self, carry: Carry) -> bool:
        if carry.init is UNDEFINED or carry.next is carry.inside:
            return False
        first, last = self.facts[carry.init].kind, self.facts[carry.after].kind
        if not last.is_array:
            return first.is_number and (first != last or carry.init in self.mixed)
        return first.is_number or carry.init in self.mixed

    def _begins_as_float(self, carry: Carry) -> bool:
        first = None if carry.init is UNDEFINED else self.facts[carry.init].kind
        return first is not None and first.family == "float" and carry.init not in self.mixed

    def _is_flag_of_tensors(self, carry: Carry) -> bool:
        """Whether a truth value is Python's in one iteration and a tensor in another."""
        if self.facts[carry.after].kind.family != "bool":
            return False
        return any(a is not UNDEFINED and self.facts[a].kind.is_array for a in (carry.init, carry.next))

    def _undecided(self, statement: Statement) -> list[tuple[Var, list[Atom]]]:
        """Arithmetic of nothing that is surely a tensor: its kind is as undecided as its operands' kinds."""
        if not isinstance(statement, Let) or statement.op.name not in table.ARITHMETIC:
            return []
        found: list[Atom] = [a for a in operands(statement.op) if isinstance(a, Var)]
        if statement.op.name in ("builtin.float", "builtin.int", "builtin.bool", "not") or self._is_float(statement):
            return []
        if any(self.facts.kind(a).is_array and a not in self.mixed for a in operands(statement.op)):
            check_dtypes(self.facts, statement, self.mixed)
            if statement.op.name not in ("builtin.max", "builtin.min") and self._same_with_numbers(statement):
                return []
        return [(statement.var, found)]

    def _is_float(self, statement: Let) -> bool:
        """Whether a Python float among the operands makes the result one, whether the others are floats or integers."""
        if self.facts.kind(statement.var).family != "float" or statement.op.name in ("builtin.max", "builtin.min"):
            return False
        return any(self.facts.kind(a).family == "float" and a not in self.mixed for a in operands(statement.op))

    def _same_with_numbers(self, statement: Let) -> bool:
        """Whether a result is of the same kind if what is undecided turns out to be Python numbers."""
        undecided = [a for a in operands(statement.op) if a in self.mixed]
        floats = any("float" in str(self.facts.kind(a).dtype or self.facts.kind(a).family) for a in undecided)
        begins = undecided and all(a in self.begun and self.begun[a] not in self.mixed for a in undecided)
        for number in (1.0,) if begins else (1, 1.0) if floats else (1,) if undecided else ():
            value = lambda atom, number=number: number if atom in undecided else self.sample(atom)  # noqa: E731
            try:
                result = self._evaluate(statement.op, value)
            except Exception:
                return False
            if kind_of(result) != self.facts.kind(statement.var):
                return False
        return True

    def _check_supported(self, value: Any, var: Var) -> None:
        import torch

        if isinstance(value, torch.Tensor):
            plain = type(value) in (torch.Tensor, torch.nn.Parameter) and value.layout == torch.strided
            if not plain or value.is_quantized:
                raise NotLiftable("subclass", f"'{var.hint}' is a {type(value).__name__} of layout {value.layout}")

    # ------------------------------------------------------------ statements

    def block(self, block: Block) -> None:
        for statement in block:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Let():
                self.let(statement)
            case If():
                self.branch(statement)
            case Loop():
                self.loop(statement)
            case Append(value=value) | Store(value=value) if self.facts[value].kind == UNKNOWN:
                pass
            case Append(ref=ref, value=value):
                self.append(ref, self.facts[value], statement)
            case Store():
                self._check_store(statement)
                updates.check_update(statement, self.sample)
                if statement.method:
                    updates.check_method(statement, self.sample)
            case Perform(op=op):
                args = [operand_value(argument, self.sample) for argument in op.args]
                special.check_operation(op.name, args, span=statement.span)

    def _check_store(self, store: Store) -> None:
        """A store runs no code of the user's: none that takes it, that makes numbers of places, or of what is put."""
        ref, value = self.sample(store.ref), self.sample(store.value)
        special.check_operation("getitem", [ref, operand_value(store.index, self.sample)], span=store.span)
        if store.combine or store.method or not isinstance(ref, list | dict):
            special.check_operation(f"inplace.{store.combine or 'add'}", [value], span=store.span)

    def sample(self, atom: Atom) -> Any:
        if atom is UNDEFINED:
            raise NotLiftable("unsupported-syntax", "a name may not be bound yet where it is read")
        if isinstance(atom, Const):
            return atom.value
        if atom not in self.facts.of:
            raise NotLiftable("unsupported-value", f"'{atom.hint}' has no value that is known before the loop runs")
        return self.facts.of[atom].sample

    def let(self, statement: Let) -> None:
        op, var = statement.op, statement.var
        if op.name in ("getitem", "iter_item") and isinstance(op.args[0], Var):
            self.reached_from[var] = op.args[0]
        for atom in operands(op):
            if atom is UNDEFINED:
                raise NotLiftable("unsupported-syntax", "a name may not be bound yet where it is read", statement.span)
        if op.name == "list" and not op.args:
            self.made_in[var] = tuple(self.loops)
        if any(atom in self.optional and self.facts[atom].kind == UNKNOWN for atom in operands(op)):
            self.optional.add(var)
            self.facts.of[var] = Fact(UNKNOWN, self.union(*(self.facts[atom].loops for atom in operands(op))))
            return
        if op.name in _REAL and any(_NO_REAL.search(str(self.facts[atom].kind.dtype)) for atom in operands(op)):
            text = "a complex number, or a time, becomes a real number, which not all of them do"
            raise NotLiftable("unknown-op", text, statement.span)
        sample = self.probe(op, statement)
        loops = self.union(*(self.facts[atom].loops for atom in operands(op)))
        if op.name in table.CREATION and var in self.stored:
            loops = tuple(self.loops)
        kind = self._kind(op, sample, statement.span)
        if kind != kind_of(sample) and kind.family != "list":
            sample = stand_ins.as_kind(sample, kind)
            self.mixed.add(var)
        elif op.name in ("builtin.min", "builtin.max") and len({self.facts[a].kind for a in operands(op)}) > 1:
            self.mixed.add(var)
        self.facts.of[var] = Fact(kind, loops, shape_of(sample), sample)
        if type(sample) is list and op.name in _MAKING_LISTS:
            self.own[id(sample)] = sample
        check_wrapped(self.facts, statement)

    def _kind(self, op: Op, sample: Any, span) -> Kind:
        if op.name in ("builtin.min", "builtin.max") and len(op.args) == 2 and not op.kwargs:
            first, second = operands(op)
            kinds = self.facts[first].kind, self.facts[second].kind
            kind = join_kinds(*kinds, (first, second))
            is_mixed = "array" in (kinds[0].family, kinds[1].family) and any(one.is_number for one in kinds)
            if kind is None or is_mixed:  # an array without axes makes NumPy's numbers of Python's, a number does not
                raise NotLiftable("mixed-kinds", f"'{op.name[8:]}' of values of different kinds", span)
            return kind
        return kind_of(sample)

    def probe(self, op: Op, statement: Let) -> Any:
        if op.name == "slope_of":
            if "slopes" not in self.function.attributes:
                raise NotLiftable("gradient", "'torch.autograd.grad' in a form without it", statement.span)
            return self.sample(as_atom(op.args[1]))
        if op.name == "torch.autograd.grad":
            return tuple(self.sample(atom).detach().clone() for atom in atoms(op.args[1]))
        if op.name == "tuple_or_none":
            op = replace(op, name="tuple", args=op.args[1:])
        if op.name in ("getitem", "iter_item") and isinstance(self.sample(as_atom(op.args[0])), list):
            return self._element(op, statement)
        if op.name == "unpack" and op.args[0] in self.stored and (items := self.sample(as_atom(op.args[0]))):
            return items[0]
        try:
            return self._evaluate(op, self.sample)
        except NotLiftable as refusal:
            refusal.span = refusal.span if refusal.span.line else statement.span
            raise
        except Exception as error:
            first = error
        if isinstance(first, KeyError) and (items := self.sample(as_atom(op.args[0]))):
            return next(iter(items.values()))  # the parts of the key come from different iterations
        of_strides = table.base_name(op.name) == "view" and isinstance(first, RuntimeError) and "stride" in str(first)
        for made in (
            () if of_strides else (stand_ins.stand_in, partial(stand_ins.grown, op), stand_ins.regular)
        ):  # stand-ins have strides of their own
            try:
                return self._evaluate(op, lambda atom, made=made: self._replaced(atom, made))
            except Exception:
                continue
        text = f"'{said(op.name)}' raises {type(first).__name__}: {first}"
        raise OfStrides(text, statement.span) if of_strides else NotLiftable("requirement", text, statement.span)

    def _replaced(self, atom: Atom, made: Callable[[Any], Any]) -> Any:
        return atom.value if isinstance(atom, Const) else made(self.sample(atom))

    def _evaluate(self, op: Op, value) -> Any:
        args = [operand_value(argument, value) for argument in op.args]
        special.check_operation(op.name, args, {key: operand_value(argument, value) for key, argument in op.kwargs})
        if op.name.startswith("inplace."):
            return self._evaluate_in_place(op, value)
        self._check_harmless(op, value)
        if op.name.startswith(OF_USERS):
            return evaluate(op, value, called=lambda name: callable_of(name).example)
        if table.family(op.name) == "random":
            with _streams_kept():
                return evaluate(op, value)
        return evaluate(op, value)

    def _evaluate_in_place(self, op: Op, value) -> Any:
        """``a += b`` on a copy of ``a``: it keeps its dtype, its shape and its type."""
        target = value(op.args[0])
        if hasattr(target, "__array_interface__") and not isinstance(target, numpy_scalar()):
            return evaluate(op, lambda atom: target.copy() if atom is op.args[0] else value(atom))
        if hasattr(target, "untyped_storage"):
            return evaluate(op, lambda atom: target.clone() if atom is op.args[0] else value(atom))
        return evaluate(Op(op.name.removeprefix("inplace."), op.args), value)

    def _check_harmless(self, op: Op, value) -> None:
        """A probe must not be noticed: no state changes, no arguments change, no numbers are drawn."""
        if op.name == "call":
            raise NotLiftable("unknown-call", special.unknown_effects(repr(op.args[0]), value(op.args[0])))
        receiver = value(op.args[0]) if op.args and isinstance(op.args[0], Const | Var) else None
        if op.name == "module":
            assert receiver is not None
            kind = type(receiver).__name__
            if not table.is_stateless(receiver) or getattr(receiver, "inplace", False):
                raise NotLiftable(
                    "effect-order",
                    f"'{op.args[0]!r}' ({kind}) changes its state, draws random numbers or works in place",
                )
        elif op.name in ("getitem", "iter_item", "attribute"):
            if hasattr(type(receiver), "__missing__"):
                raise NotLiftable("effect-order", "reading a dict with default values may change it")
        elif not table.is_pure_call(op.name, receiver) or self._writes(op, value):
            raise NotLiftable("effect-order", f"'{said(op.name)}' may change something")

    def _writes(self, op: Op, value) -> bool:
        args = [operand_value(argument, value) for argument in op.args]
        return writes_operand(op.name, args, {key: operand_value(argument, value) for key, argument in op.kwargs})

    def _element(self, op: Op, statement: Let) -> Any:
        items = self.sample(as_atom(op.args[0]))
        if is_backwards(op.args[1]):
            return items[::-1]
        if not items:
            raise NotLiftable("unsupported-value", "an empty list is read", statement.span)
        if _is_part(op.args[1]) and all(type(item) in (int, float, bool) for item in items):
            return items[:2]
        index = self.sample(op.args[1]) if isinstance(op.args[1], Const | Var) else None
        if index is None or not isinstance(index, int):
            raise NotLiftable("unsupported-value", "a list is sliced inside the loop", statement.span)
        item = items[index] if -len(items) <= index < len(items) else items[0]
        if isinstance(item, list) and not item:
            return next((other for other in items if other and isinstance(other, list)), item)
        return item

    def append(self, ref: Var, fact: Fact, statement: Append) -> None:
        target = self.facts.of[ref]
        if not isinstance(target.sample, list):
            raise NotLiftable("unsupported-value", f"'{ref.hint}.append' on a {target.kind.family}", statement.span)
        owner = self.owner(ref)
        # an empty list of the caller's may be reached by other ways than a parameter
        if owner in self.function.params or (not target.sample and id(target.sample) not in self.own):
            what = f"'{ref.hint}'" if owner is ref else f"an item of '{owner.hint}'"
            text = f"appends to {what}, a list that was made outside of what is lifted here"
            raise NotLiftable("effect-order", text, statement.span)
        if not target.sample:
            target.sample.append(fact.sample)
        elif kind_of(target.sample[0]) != fact.kind:
            raise NotLiftable("mixed-kinds", f"'{ref.hint}' holds different kinds of values", statement.span)
        self.facts.of[ref] = replace(target, kind=kind_of(target.sample))

    def owner(self, ref: Var) -> Var:
        """What a list was reached from by subscripts."""
        while ref in self.reached_from:
            ref = self.reached_from[ref]
        return ref

    # ------------------------------------------------------------ branches

    def branch(self, statement: If) -> None:
        cond = self.facts[statement.cond]
        special.check_operation("builtin.bool", [cond.sample], span=statement.span)
        self.block(statement.then)
        self.block(statement.orelse)
        for phi in statement.phis:
            self.facts.of[phi.var] = self.joined(phi, cond.loops, statement)

    def joined(self, phi: Phi, loops: tuple[Loop, ...], statement: If) -> Fact:
        if (is_returned(phi.var) or phi.var in self.optional) and (given := self._only_bound(phi)) is not None:
            return replace(given, loops=self.union(given.loops, loops))
        if phi.then is UNDEFINED or phi.orelse is UNDEFINED:
            raise NotLiftable(
                "unsupported-syntax", f"'{phi.var.hint}' is bound on one side of the 'if' only", statement.span
            )
        then, orelse = self.facts[phi.then], self.facts[phi.orelse]
        if UNKNOWN in (then.kind, orelse.kind) and (phi.then in self.optional or phi.orelse in self.optional):
            known = orelse if then.kind == UNKNOWN else then
            if known.kind == UNKNOWN:
                self.optional.add(phi.var)
            return replace(known, loops=self.union(then.loops, orelse.loops, loops))
        kind = join_kinds(then.kind, orelse.kind, (phi.then, phi.orelse))
        if phi.var in self.function.attributes.get("either", ()):
            kind = None
        if (kind is None or kind.rank) and (row := self._stored_row(phi, then, orelse)) is not None:
            return replace(row, loops=self.union(then.loops, orelse.loops, loops))
        begins = self.loops and (then.kind.is_number or orelse.kind.is_number)  # what iterations before have left alone
        if kind is None or (kind.is_array and kind.rank and then.shape != orelse.shape and not begins):
            if not self.loops and self._is_only_handed_out(phi.var):
                return Fact(
                    EITHER, (), (), then.sample if bool_of(self.facts[statement.cond].sample) else orelse.sample
                )
            raise NotLiftable(
                "mixed-kinds", f"'{phi.var.hint}' is of different kinds on the sides of the 'if'", statement.span
            )
        if then.kind != orelse.kind:
            self.mixed.add(phi.var)
        chosen = then if then.kind == kind else orelse
        if bool_of(self.facts[statement.cond].sample) is False and orelse.kind == kind:
            chosen = orelse
        every = self.union(then.loops, orelse.loops, loops)
        return Fact(kind, every, chosen.shape, stand_ins.as_kind(chosen.sample, kind), then.fixed and orelse.fixed)

    def _stored_row(self, phi: Phi, then: Fact, orelse: Fact) -> Fact | None:
        """The side that is a row where the other one is a single number, and both are only stored to one place."""
        row, number = (then, orelse) if then.kind.rank else (orelse, then)
        if not row.kind.is_array or not row.kind.rank or number.kind.rank:
            return None
        if number.kind.is_number:
            fits = number.kind.family in ("int", "float") and _holds(row.kind, number.kind, (phi.then, phi.orelse))
        else:
            fits = number.kind.dtype is not None and number.kind.dtype == row.kind.dtype
        return row if fits and self._is_only_stored(phi.var) else None

    def _is_only_stored(self, var: Var) -> bool:
        """Whether a value, or what is chosen of it and others, is what stores put somewhere, and nothing else."""
        if any(atom is var for _, atom in self.function.results):
            return False
        for statement in walk(self.function.body):
            match statement:
                case Store(ref=ref, index=index, value=value) if value is var and var not in (ref, *atoms(index)):
                    continue
                case If(cond=cond, phis=phis) if cond is not var:
                    joined = [phi.var for phi in phis if var in (phi.then, phi.orelse)]
                    if not all(map(self._is_only_stored, joined)):
                        return False
                case _ if var in uses(statement):
                    return False
        return True

    def _is_only_handed_out(self, var: Var) -> bool:
        """Whether a value is a result of the function, or becomes one, and nothing else reads it."""
        for statement in walk(self.function.body):
            match statement:
                case If(cond=cond, phis=phis) if cond is not var:
                    joined = [phi.var for phi in phis if var in (phi.then, phi.orelse)]
                    if not all(map(self._is_only_handed_out, joined)):
                        return False
                case Let(var=made, op=op) if op.name == "tuple" and var in operands(op):
                    if not self._is_only_handed_out(made):
                        return False
                case _ if var in uses(statement):
                    return False
        return True

    def _only_bound(self, phi: Phi) -> Fact | None:
        """Of a value that is returned on one side only: a flag says which, so that none is read unbound."""
        sides = [None if side is UNDEFINED else self.facts[side] for side in (phi.then, phi.orelse)]
        bound = [fact for fact in sides if fact is not None and fact.kind.family != "undefined"]
        unknown = [fact for fact in sides if fact is not None and fact.kind == UNKNOWN]
        if not bound and None in sides and unknown and phi.var in self.optional:
            return unknown[0]  # known when the loop has been walked through once
        return bound[0] if len(bound) == 1 else None

    # ------------------------------------------------------------ loops

    def loop(self, loop: Loop) -> None:
        self.loops.append(loop)
        bounds = self._index(loop) if isinstance(loop.domain, Range) else ()
        for carry in loop.carries:
            self.facts.of[carry.inside] = self._entry(carry, loop)
        for _ in range(4):
            if isinstance(loop.domain, While):
                self.block(loop.domain.block)
                special.check_operation("builtin.bool", [self.sample(loop.domain.cond)], span=loop.span)
            self.block(loop.body)
            if not self._widen(loop):
                break
        else:
            raise NotLiftable("mixed-kinds", "the kinds of carried values do not settle", loop.span)
        self.loops.pop()
        self._grow(loop)
        if isinstance(loop.domain, While):
            bounds = self.facts[loop.domain.cond].loops
        if loop.stop is not None:
            bounds = self.union(bounds, self.facts[loop.stop].loops)
        for carry in loop.carries:
            inside = self.facts.of[carry.inside]
            after = self.union(inside.loops, bounds)
            self.facts.of[carry.after] = replace(inside, loops=after)

    def _grow(self, loop: Loop) -> None:
        """Lists that get one item in each iteration are as long as the loop has iterations."""
        if not isinstance(loop.domain, Range) or loop.stop is not None:
            return
        bounds = [self.sample(atom) for atom in (loop.domain.lo, loop.domain.hi, loop.domain.step)]
        count = len(range(*map(int, bounds))) if bounds[2] else 0
        for statement in loop.body:
            if isinstance(statement, Append) and self.made_in.get(statement.ref) == tuple(self.loops):
                items = self.facts.of[statement.ref].sample
                if len(items) == 1 and 1 < count <= MAX_ITEMS // max(1, math.prod(shape_of(items[0]))):
                    items *= count

    def _index(self, loop: Loop) -> tuple[Loop, ...]:
        domain = loop.domain
        assert isinstance(domain, Range) and loop.index is not None
        facts = [self.facts[atom] for atom in (domain.lo, domain.hi, domain.step)]
        if any(not _counts(fact) for fact in facts):
            raise NotLiftable("unsupported-iterable", "the bounds of the range are no Python integers", loop.span)
        if domain.source is not None and not _is_sequence(self.facts[domain.source]):
            family = type(self.facts[domain.source].sample).__name__
            raise NotLiftable("unsupported-iterable", f"iterates over a {family}, which is no sequence", loop.span)
        bounds = self.union(*(fact.loops for fact in facts))
        lo = int(facts[0].sample)
        self.facts.of[loop.index] = Fact(Kind("int"), self.union(bounds, (loop,)), (), lo)
        return bounds

    def _entry(self, carry: Carry, loop: Loop) -> Fact:
        if carry.init is UNDEFINED:
            return Fact(UNKNOWN, (loop,), (), None)
        init = self.facts[carry.init]
        if carry.next is carry.inside:
            return init
        return replace(init, loops=self.union(init.loops, (loop,)))

    def _widen(self, loop: Loop) -> bool:
        """Join what came out of the body into what enters it; whether anything changed."""
        changed = False
        for carry in loop.carries:
            inside, last = self.facts.of[carry.inside], self.facts[carry.next]
            begins = inside.kind.family == "undefined"
            kind = last.kind if begins else join_kinds(inside.kind, last.kind, (carry.init, carry.next))
            if kind is None or (kind.is_array and inside.kind.is_array and last.shape != inside.shape):
                raise NotLiftable("mixed-kinds", _changes_kind(carry, inside, last), loop.span)
            loops = self.union(inside.loops, last.loops)
            if kind != inside.kind and inside.kind.family not in ("undefined", "list"):
                self.mixed.add(carry.inside)
                if self._begins_as_float(carry) and isinstance(carry.next, Var):
                    self.begun[carry.inside] = carry.next
            if last.kind.is_number and (inside.kind.is_array or (inside.kind.is_number and last.kind != kind)):
                self.mixed |= {carry.inside, carry.after}
            moves = _is_elsewhere(inside, last)
            if kind != inside.kind or loops != inside.loops or moves:
                changed = True
                sample = last.sample if kind != inside.kind or moves else inside.sample
                shape = last.shape if kind.is_array else ()
                self.facts.of[carry.inside] = Fact(kind, loops, shape, stand_ins.as_kind(sample, kind))
        return changed

    def union(self, *groups: tuple[Loop, ...]) -> tuple[Loop, ...]:
        found = {id(loop) for group in groups for loop in group}
        return tuple(loop for loop in self.loops if id(loop) in found)


def _is_elsewhere(first: Fact, later: Fact) -> bool:
    """Whether a tensor that is carried is on another device from the second iteration on."""
    return first.kind.family == later.kind.family == "tensor" and first.sample.device != later.sample.device


def _is_inplace(statement: Statement) -> TypeGuard[Let]:
    return isinstance(statement, Let) and statement.op.name.startswith("inplace.")


def _copies(statement: Statement) -> list[tuple[Var, list[Atom]]]:
    """Variables that take the value of others as it is."""
    match statement:
        case If(phis=phis):
            return [(phi.var, [phi.then, phi.orelse]) for phi in phis]
        case Loop(carries=carries):
            return [(c.inside, [c.init, c.next]) for c in carries] + [(c.after, [c.next]) for c in carries]
        case Let(var=var, op=op) if op.name == "copy":
            return [(var, list(operands(op)))]
    return []


@contextmanager
def _streams_kept() -> Iterator[None]:
    """Random generators are left as they were found."""
    import random

    import torch

    states = torch.get_rng_state(), numpy_state(), random.getstate()
    try:
        yield
    finally:
        torch.set_rng_state(states[0])
        set_numpy_state(states[1])
        random.setstate(states[2])


def numpy_scalar() -> type:
    import numpy as np

    return np.generic


def _changes_kind(carry: Carry, inside: Fact, last: Fact) -> str:
    def described(fact: Fact) -> str:
        name = fact.kind.family
        if fact.kind.is_array:
            family = "tensor" if fact.kind.family == "tensor" else "array"
            name = f"{str(fact.kind.dtype).removeprefix('torch.')} {family} of shape {fact.shape}"
        return f"{'an' if name.startswith('int') else 'a'} {name}"

    return f"'{carry.hint}' is {described(inside)} before an iteration and {described(last)} after it"


def join_kinds(a: Kind, b: Kind, values: Iterable[Operand] = ()) -> Kind | None:
    """The kind that holds both: numbers widen, a number joins the tensor or array scalar that it meets.

    ``values``: what is of these kinds; a literal is known to fit a narrow integer.
    """
    if a == b:
        return a
    if a.family == "list" and b.family == "list":
        return a if not b.items else b if not a.items else None
    if a.is_number and b.is_number:
        order = ["bool", "int", "float", "complex"]
        if "bool" in (a.family, b.family):
            return None
        return max(a, b, key=lambda kind: order.index(kind.family))
    for flag, other in ((a, b), (b, a)):
        if flag.family == "bool" and other.is_array and other.rank == 0 and "bool" in str(other.dtype):
            return flag
    for number, other in ((a, b), (b, a)):
        if number.family in ("int", "float", "complex") and other.is_array:
            narrow = other.family == "array" and str(other.dtype) != "int64" and "float" not in str(other.dtype)
            return other if not narrow and _holds(other, number, values) else None
    return None


def _holds(kind: Kind, number: Kind, values: Iterable[Operand]) -> bool:
    """Whether a number keeps its meaning when it becomes an element of this dtype."""
    name = str(kind.dtype).removeprefix("torch.")
    if "complex" in name or number.family == "complex":
        return "complex" in name
    if "float" in name or name == "int64":
        return "float" in name or number.family == "int"
    literals = [one.value for one in values if isinstance(one, Const) and type(one.value) is int]
    if "int" not in name or number.family != "int" or not literals:
        return False
    import numpy as np

    limits = np.iinfo(name)
    return all(limits.min <= literal <= limits.max for literal in literals)


def bool_of(sample: Any) -> bool | None:
    try:
        return bool(sample)
    except Exception:
        return None


def _counts(fact: Fact) -> bool:
    """Whether ``range`` takes the value as a bound."""
    single = fact.kind.family in ("tensor", "numpy") and not fact.kind.rank and "int" in str(fact.kind.dtype)
    return single or fact.kind.family in ("int", "bool")


def _is_sequence(fact: Fact) -> bool:
    import numpy as np
    import torch

    return isinstance(fact.sample, list | tuple | range | torch.Tensor | np.ndarray)


def _is_part(index: Operand) -> bool:
    """Whether a subscript is a slice without a step."""
    return isinstance(index, Slice) and isinstance(index.step, Const) and index.step.value in (None, 1)
