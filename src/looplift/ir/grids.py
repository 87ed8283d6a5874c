"""A region with tensors for lists of numbers (``frontend/grids.py``) in, whether they may stand for these out.

Every value that is put into such a list is a number of its dtype. With gradients, what is marked as held there comes
from all leaves that anything in the list comes from: then what is read asks for a gradient as it does in the loop, and
each leaf gets one. What is made of items that are not known to be held, and of nothing else, is not handed out.
"""

from __future__ import annotations

from collections.abc import Iterable

from looplift.base.data import dataclass, replace
from looplift.base.errors import NotLiftable
from looplift.ir.facts import Facts
from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Atom,
    Block,
    Const,
    Function,
    Group,
    If,
    Let,
    Loop,
    Perform,
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
from looplift.ir.histories import is_made_anew

HELD = Var("held")
"""Stands for the leaves of what is in a list."""
FLOWS = frozenset(
    """add sub mul truediv neg pow exp log log1p expm1 abs sqrt rsqrt square sin cos tan tanh sigmoid relu softplus
    logsumexp logaddexp max min amax amin dist sum mean norm dot matmul mm mv minimum maximum stack cat softmax
    log_softmax getitem iter_item clone copy reshape view""".split()
)
"""Through these every operand that is a tensor of floats gets a gradient."""
DISPLAYS = ("tuple", "list")


@dataclass(frozen=True)
class Source:
    """Where a value comes from: ``sure`` are leaves that it surely comes from, ``some`` such that it may come from.

    ``is_tensor``: whether it is a tensor for sure, where a list may hold Python's numbers.
    """

    is_tensor: bool = False
    sure: frozenset[Atom] = frozenset()
    some: frozenset[Atom] = frozenset()


def check_grids(function: Function, facts: Facts, tables: dict[str, tuple[str, bool]], *, gradients: bool) -> None:
    """Raises NotLiftable where a tensor may not stand for a list; ``tables``: by the name of each the one of the
    marks, and whether it holds tensors from the beginning."""
    lets = {s.var: s for s in walk(function.body) if isinstance(s, Let)}
    made = {var.hint: var for var, let in lets.items() if let.op.name in ("torch.full", "method.clone", "torch.zeros")}
    for name, (held, holds_tensors) in tables.items():
        if name not in made or held not in made or list(v.hint for v in lets).count(name) != 1:
            raise _refusal(function, name)
        _Grid(function, facts, lets, made[name], made[held], holds_tensors, gradients=gradients).check()


def with_plain_copies(block: Block) -> Block:
    """A block in which what is read of tables is copied in one way only."""
    found: list[Statement] = []
    for statement in block:
        match statement:
            case Let(op=op) if op.name == "torch.clone":
                statement = replace(statement, op=replace(op, name="method.clone"))
            case If(then=then, orelse=orelse):
                statement = replace(statement, then=with_plain_copies(then), orelse=with_plain_copies(orelse))
            case Loop(domain=domain, body=body):
                if isinstance(domain, While):
                    domain = replace(domain, block=with_plain_copies(domain.block))
                statement = replace(statement, domain=domain, body=with_plain_copies(body))
        found.append(statement)
    return Block(tuple(found))


def _refusal(function: Function, name: str) -> NotLiftable:
    message = f"'{name}', a list of tensors, is changed in a way that no tensor is"
    return NotLiftable("memory-dependence", message, function.span)


class _Grid:
    def __init__(
        self,
        function: Function,
        facts: Facts,
        lets: dict[Var, Let],
        table: Var,
        held: Var,
        holds_tensors: bool,
        *,
        gradients: bool,
    ):
        self.function, self.facts, self.lets = function, facts, lets
        self.table, self.held, self.holds_tensors, self.gradients = table, held, holds_tensors, gradients
        self.statements = list(walk(function.body))
        self.sources: dict[Atom, Source] = {}
        self.choices: dict[Atom, If] = {phi.var: s for s in self.statements if isinstance(s, If) for phi in s.phis}
        self.stored: set[Atom] = set()
        """Values that are chosen to be stored into the list."""

    def check(self) -> None:
        kind = self.facts.kind(self.table)
        stores = [s for s in self.statements if isinstance(s, Store) and s.ref is self.table]
        if kind.family != "tensor" or not kind.dtype.is_floating_point or not stores:
            raise self.refusal()
        self._follow()
        kept = [value for s in stores for value in self._kept(s)]
        leaves = frozenset(leaf for s in stores for leaf in self.source(s.value).some) - {HELD}
        leaves = frozenset(leaf for leaf in leaves if self._asks(leaf))
        fine = all(map(self._is_plain_store, stores)) and all(map(self._is_alone, kept))
        chosen = all(self._is_harmless(s, v) for v in self.stored for s in self.statements if v in uses(s))
        whole = all(leaves <= self.source(value).sure for value in kept)
        if not (fine and chosen and whole) or self._changes_tensors() or self._looks_at_tensors():
            raise self.refusal()
        self._check_results(leaves)

    def refusal(self) -> NotLiftable:
        return _refusal(self.function, self.table.hint)

    # ------------------------------------------------------------ what is stored

    def _is_plain_store(self, store: Store) -> bool:
        places = store.index.items if isinstance(store.index, Group) else (store.index,)
        if store.combine or store.method or any(not self._is_integer(place) for place in places):
            return False
        if isinstance(store.value, Const):
            return True
        kind, table = self.facts.kind(store.value), self.facts.kind(self.table)
        like = kind.family == "tensor" and not kind.rank and kind.dtype == table.dtype
        samples = [self.facts.of[atom].sample for atom in (store.value, self.table)]
        return like and self.source(store.value).is_tensor and all(one.device.type == "cpu" for one in samples)

    def _is_integer(self, place: object) -> bool:
        if isinstance(place, Const):
            return type(place.value) is int
        return isinstance(place, Var) and self.facts.kind(place).family == "int"

    def _kept(self, store: Store) -> list[Atom]:
        """What a store puts into the list that is marked as held; the sides of an if where its stores are one."""
        block = next(b for b in _blocks(self.function.body) if store in b.statements)
        after = block.statements[block.statements.index(store) + 1 :]
        mark = next(s for s in after if isinstance(s, Store) and s.ref is self.held)
        return self._marked(store.value, mark.value)

    def _marked(self, value: Atom, mark: Atom) -> list[Atom]:
        if isinstance(mark, Const) and mark.value is False:
            return []
        choice = self.choices.get(mark) or self.choices.get(value)
        if choice is None:
            return [value]
        values = self._sides(choice, value)
        if values != (value, value):
            self.stored.add(value)
        return [one for pair in zip(values, self._sides(choice, mark), strict=True) for one in self._marked(*pair)]

    def _sides(self, choice: If, atom: Atom) -> tuple[Atom, Atom]:
        return next(((phi.then, phi.orelse) for phi in choice.phis if phi.var is atom), (atom, atom))

    def _is_alone(self, value: Atom) -> bool:
        """Whether a value is made for the list, and goes into new ones besides."""
        if not isinstance(value, Var) or not is_made_anew(self.lets.get(value), self.facts):
            return False
        return all(self._is_harmless(user, value) for user in self.statements if value in uses(user)) and all(
            atom is not value for _, atom in self.function.results
        )

    def _is_harmless(self, user: Statement, value: Atom) -> bool:
        match user:
            case Store(ref=ref):
                return ref is self.table
            case If(phis=phis):
                return all(phi.var in self.stored for phi in phis if value in (phi.then, phi.orelse))
        return isinstance(user, Let) and is_made_anew(user, self.facts)

    def _changes_tensors(self) -> bool:
        """Whether anything else is changed in place that may be an item."""
        for statement in self.statements:
            match statement:
                case Let(op=op) if op.name.startswith("inplace."):
                    if any(not isinstance(a, Const) and not self.facts.kind(a).is_number for a in atoms(op.args[0])):
                        return True
                case Store(ref=ref) if ref not in (self.table, self.held):
                    let = self.lets.get(ref)
                    if let is None or let.op.name not in ("torch.zeros", "torch.full", "torch.empty", "method.clone"):
                        return True
        return False

    def _looks_at_tensors(self) -> bool:
        """Whether more than the number of an item may be seen: what made it, or which object it is."""
        for statement in self.statements:
            match statement:
                case Perform(op=op):
                    pass
                case Let(op=op) if op.name in ("attribute", "is_", "is_not"):
                    pass
                case _:
                    continue
            if any(HELD in self.source(atom).some for atom in operands(op)):
                return True
        return False

    # ------------------------------------------------------------ what is handed out

    def _check_results(self, leaves: frozenset[Atom]) -> None:
        home = next(b for b in _blocks(self.function.body) if self.lets[self.table] in b.statements)
        out = [atom for _, atom in self.function.results]
        out += [s.value for s in self.statements if isinstance(s, Append)]
        out += [a for let in self.lets.values() if self._is_kept_display(let) for a in operands(let.op)]
        out += [s.value for s in self.statements if isinstance(s, Store) and s.ref not in (self.table, self.held)]
        direct = [atom for atom in out if isinstance(atom, Var) and self._is_item(atom)]
        if len(set(direct)) > 1 or len(direct) > 1 or any(self.lets[one] not in home.statements for one in direct):
            raise self.refusal()  # two of them might be one and the same
        for atom in out:
            source = self.source(atom)
            if HELD not in source.some or atom not in self.facts.of or not self.facts.kind(atom).is_array:
                continue
            if not source.is_tensor or not (HELD in source.sure or leaves <= source.sure):
                raise self.refusal()
        if any(self.table in uses(s) and not self._reads(s) for s in self.statements if isinstance(s, Let)):
            raise self.refusal()
        tables = (self.table, self.held)
        if any(atom in tables for _, atom in self.function.results) or any(
            atom in tables for s in self.statements if isinstance(s, (Append, If, Loop)) for atom in uses(s)
        ):
            raise self.refusal()

    def _is_kept_display(self, let: Let) -> bool:
        """Whether a list or tuple is more than the argument of an operation."""
        if let.op.name not in DISPLAYS:
            return False
        users = [s for s in self.statements if let.var in uses(s)]
        computed = all(isinstance(s, Let) and is_made_anew(s, self.facts) for s in users)
        return not computed or any(atom is let.var for _, atom in self.function.results)

    def _reads(self, statement: Let) -> bool:
        return statement.op.name == "getitem" and statement.op.args[0] is self.table

    def _is_item(self, var: Var) -> bool:
        let = self.lets.get(var)
        if let is None or let.op.name not in ("torch.clone", "method.clone"):
            return False
        inner = self.lets.get(let.op.args[0]) if isinstance(let.op.args[0], Var) else None
        return inner is not None and self._reads(inner)

    # ------------------------------------------------------------ where values come from

    def _asks(self, leaf: Atom) -> bool:
        """Whether a leaf may get a gradient."""
        return self.gradients and leaf in self.facts.of

    def source(self, atom: Atom) -> Source:
        if isinstance(atom, Const):
            return Source()
        return self.sources.get(atom, Source(True, self.leaves, frozenset()))

    def _follow(self) -> None:
        """To a fixpoint, from the best that may be: what is carried around loops comes from all leaves at first."""
        self.leaves = frozenset((HELD, *self.function.params))
        for param in self.function.params:
            fact = self.facts.of[param]
            tensor = fact.kind.family == "tensor" and fact.kind.dtype.is_floating_point
            own = frozenset((param,)) if tensor or fact.kind.family == "list" else frozenset()
            self.sources[param] = Source(fact.kind.family == "tensor", own if tensor else frozenset(), own)
        while True:
            before = dict(self.sources)
            for statement in self.statements:
                self._one(statement)
            if before == self.sources:
                return

    def _one(self, statement: Statement) -> None:
        match statement:
            case Let(var=var):
                self.sources[var] = self._made(statement)
            case If(phis=phis):
                for phi in phis:
                    self.sources[phi.var] = self._either((phi.then, phi.orelse))
            case Loop(index=index, carries=carries):
                if index is not None:
                    self.sources[index] = Source()
                for carry in carries:
                    starts = [] if carry.init is UNDEFINED else [carry.init]
                    self.sources[carry.inside] = self._either((*starts, carry.next))
                    # where it does not run at all, a number stays one
                    self.sources[carry.after] = self._either((*_variables(starts), carry.next))

    def _either(self, found: Iterable[Atom]) -> Source:
        sources = [self.source(atom) for atom in found]
        sure = frozenset.intersection(*(one.sure for one in sources))
        return Source(all(one.is_tensor for one in sources), sure, _all(sources))

    def _made(self, let: Let) -> Source:
        name = let.op.name.rpartition(".")[2]
        if self._reads(let):
            return Source(self.holds_tensors, frozenset(), frozenset((HELD,)))
        if let.op.name == "torch.clone" and self._is_item(let.var):
            return Source(True, frozenset((HELD,)), frozenset((HELD,)))
        args = list(operands(let.op))
        if let.op.name in ("builtin.min", "builtin.max"):
            return self._either(args)
        sources = [self.source(atom) for atom in args]
        kind = self.facts.kind(let.var)
        is_tensor = kind.family == "tensor" and (
            any(one.is_tensor for one in sources) or let.op.name.startswith("torch.")
        )
        flows = is_tensor and kind.dtype.is_floating_point and name in FLOWS
        sure = frozenset(leaf for one in sources for leaf in one.sure) if flows else frozenset()
        return Source(is_tensor, sure, _all(sources))


def _all(sources: Iterable[Source]) -> frozenset[Atom]:
    return frozenset(leaf for one in sources for leaf in one.some)


def _variables(found: Iterable[Atom]) -> list[Atom]:
    return [atom for atom in found if not isinstance(atom, Const)]


def _blocks(block: Block) -> Iterable[Block]:
    yield block
    for statement in block:
        for inner in children(statement):
            yield from _blocks(inner)


__all__ = ["check_grids", "with_plain_copies"]
