"""Removes carries, phis and pure operations that nothing reads."""

from __future__ import annotations

from looplift.base.data import replace
from looplift.ir.grammar import (
    Atom,
    Block,
    Function,
    If,
    Let,
    Loop,
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
        live = _live(function)
        pruned = replace(function, body=_block(function.body, live))
        if _size(pruned.body) == _size(function.body):
            return pruned
        function = pruned


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
            case Let(var=var, op=op) if _removable(op.name):
                edges[var] = list(operands(op))
            case _:
                _mark(live, uses(statement))
    pending = list(live)
    while pending:
        for atom in edges.get(pending.pop(), ()):
            if isinstance(atom, Var) and atom not in live:
                live.add(atom)
                pending.append(atom)
    return live


def _mark(live: set[Var], found) -> None:
    live.update(atom for operand in found for atom in atoms(operand) if isinstance(atom, Var))


def _domain_atoms(domain: Range | While) -> list[Atom]:
    if isinstance(domain, While):
        return [domain.cond]
    return [domain.lo, domain.hi, domain.step, *([domain.source] if domain.source is not None else [])]


REMOVABLE = frozenset(
    "iter_item iter_len tuple list dict zipped zipped_lists zipped_dicts mapping attribute unpack copy".split()
)


def _removable(name: str) -> bool:
    return name in REMOVABLE


def _block(block: Block, live: set[Var]) -> Block:
    return Block(tuple(s for s in (_statement(statement, live) for statement in block) if s is not None))


def _statement(statement: Statement, live: set[Var]) -> Statement | None:
    match statement:
        case Let(var=var, op=op) if var not in live and _removable(op.name):
            return None
        case If(then=then, orelse=orelse, phis=phis):
            kept = tuple(phi for phi in phis if phi.var in live)
            then, orelse = _block(then, live), _block(orelse, live)
            return replace(statement, then=then, orelse=orelse, phis=kept) if kept or then or orelse else None
        case Loop(domain=domain, carries=carries, body=body):
            if isinstance(domain, While):
                domain = replace(domain, block=_block(domain.block, live))
            kept = tuple(c for c in carries if c.after in live or c.inside in live)
            return replace(statement, domain=domain, carries=kept, body=_block(body, live))
    return statement
