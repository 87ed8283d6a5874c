"""Removes carries, phis and pure operations that nothing reads."""

from __future__ import annotations

from collections.abc import Container

from looplift.base.data import dataclass, replace
from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Atom,
    Block,
    Const,
    Function,
    If,
    Let,
    Loop,
    Op,
    Range,
    Statement,
    Var,
    While,
    atoms,
    operands,
    uses,
    walk,
)


def prune(function: Function) -> Function:
    """The same function without what is never read. Operations that may have an effect or may raise stay."""
    while True:
        kept = _Kept(_live(function), _truths(function))
        pruned = replace(function, body=kept.block(function.body))
        if _size(pruned.body) == _size(function.body):
            return pruned
        function = pruned


def without_unread_lists(function: Function) -> Function:
    """The same function without lists of its own that only get longer, and without what is never read otherwise."""
    made = {s.var for s in walk(function.body) if isinstance(s, Let) and s.op.name == "list" and not s.op.args}
    made -= {atom for _, atom in function.results if isinstance(atom, Var)}
    for statement in walk(function.body):
        read = {atom for atom in uses(statement) if isinstance(atom, Var)}
        made -= (
            read - {statement.ref} if isinstance(statement, Append) and statement.value is not statement.ref else read
        )
    return prune(replace(function, body=_without_lists(function.body, made))) if made else function


def _without_lists(block: Block, unread: Container[Var]) -> Block:
    kept: list[Statement] = []
    for statement in block:
        match statement:
            case Append(ref=ref) if ref in unread:
                continue
            case If(then=then, orelse=orelse):
                then, orelse = _without_lists(then, unread), _without_lists(orelse, unread)
                statement = replace(statement, then=then, orelse=orelse)
            case Loop(domain=domain, body=body):
                if isinstance(domain, While):
                    domain = replace(domain, block=_without_lists(domain.block, unread))
                statement = replace(statement, domain=domain, body=_without_lists(body, unread))
        kept.append(statement)
    return Block(tuple(kept))


def _size(block: Block) -> int:
    return sum(1 + len(getattr(s, "carries", ())) + len(getattr(s, "phis", ())) for s in walk(block))


def _live(function: Function) -> set[Var]:
    """Variables that are read by something other than the carry that they belong to."""
    live: set[Var] = {atom for _, atom in function.results if isinstance(atom, Var)}
    edges: dict[Var, list[Atom]] = {}
    for statement in walk(function.body):
        match statement:
            case If(cond=cond, phis=phis):
                _mark(live, [cond])
                for phi in phis:
                    edges[phi.var] = [phi.then, phi.orelse]
            case Loop(domain=domain, carries=carries, stop=stop):
                _mark(live, [stop] if stop is not None else [])
                _mark(live, _domain_atoms(domain))
                for carry in carries:
                    edges[carry.after] = [carry.init, carry.next]
                    edges[carry.inside] = [carry.init, carry.next]
            case Let(var=var, op=op) if _removable(op):
                edges[var] = list(operands(op))
            case _:
                _mark(live, uses(statement))
    _reach(live, edges)
    unpacked: dict[Atom, list[Var]] = {}
    for statement in walk(function.body):
        if isinstance(statement, Let) and statement.op.name == "unpack":
            unpacked.setdefault(next(iter(operands(statement.op))), []).append(statement.var)
    # one name of several that nothing reads tells whether there are as many values
    live |= {names[0] for names in unpacked.values() if not live & set(names)}
    _reach(live, edges)
    return live


def _reach(live: set[Var], edges: dict[Var, list[Atom]]) -> None:
    """Add what the variables are made of."""
    pending = list(live)
    while pending:
        for atom in edges.get(pending.pop(), ()):
            if isinstance(atom, Var) and atom not in live:
                live.add(atom)
                pending.append(atom)


def _mark(live: set[Var], found) -> None:
    live.update(atom for operand in found for atom in atoms(operand) if isinstance(atom, Var))


def _domain_atoms(domain: Range | While) -> list[Atom]:
    if isinstance(domain, While):
        return [domain.cond]
    return [domain.lo, domain.hi, domain.step, *([domain.source] if domain.source is not None else [])]


REMOVABLE = frozenset("iter_item iter_len tuple list dict zipped zipped_lists zipped_dicts mapping unpack copy".split())
PLAIN = frozenset("shape dtype device ndim size T data requires_grad is_leaf is_cuda layout itemsize nbytes".split())
"""Attributes that arrays have, and that nothing happens at."""
TRUTHS = frozenset(("not", "is_", "is_not", "builtin.bool", "builtin.isinstance"))
"""Operations that give True or False."""


def _removable(op: Op) -> bool:
    if op.name == "attribute":
        return isinstance(op.args[1], Const) and op.args[1].value in PLAIN
    return op.name in REMOVABLE


def _truths(function: Function) -> set[Atom]:
    """Variables that are True or False whatever the values are; what others are may raise where it is asked."""
    made: dict[Atom, tuple[Atom, ...]] = {}
    for statement in walk(function.body):
        match statement:
            case Let(var=var, op=Op(name=name)) if name in TRUTHS:
                made[var] = ()
            case If(phis=phis):
                made |= {phi.var: (phi.then, phi.orelse) for phi in phis}
            case Loop(carries=carries):
                made |= {var: (c.init, c.next) for c in carries for var in (c.inside, c.after)}
    while True:
        kept = {var: parts for var, parts in made.items() if all(_is_truth(part, made) for part in parts)}
        if len(kept) == len(made):
            return set(kept)
        made = kept


def _is_truth(atom: Atom, made: Container[Atom]) -> bool:
    return type(atom.value) is bool if isinstance(atom, Const) else atom is UNDEFINED or atom in made


@dataclass
class _Kept:
    """What stays of a function: what is read, and what may raise."""

    live: set[Var]
    truths: set[Atom]

    def block(self, block: Block) -> Block:
        return Block(tuple(s for s in map(self.statement, block) if s is not None))

    def statement(self, statement: Statement) -> Statement | None:
        match statement:
            case Let(var=var, op=op) if var not in self.live and _removable(op):
                return None
            case If(cond=cond, then=then, orelse=orelse, phis=phis):
                kept = tuple(phi for phi in phis if phi.var in self.live)
                then, orelse = self.block(then), self.block(orelse)
                made = replace(statement, then=then, orelse=orelse, phis=kept)
                return made if kept or then or orelse or not _is_truth(cond, self.truths) else None
            case Loop(domain=domain, carries=carries, body=body):
                if isinstance(domain, While):
                    domain = replace(domain, block=self.block(domain.block))
                kept = tuple(c for c in carries if c.after in self.live or c.inside in self.live)
                return replace(statement, domain=domain, carries=kept, body=self.block(body))
        return statement
