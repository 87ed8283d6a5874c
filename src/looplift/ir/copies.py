"""Statements of a block in, the same under new names out, with other atoms for what they read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from looplift.base.data import replace
from looplift.ir.grammar import Atom, Block, If, Let, Loop, Statement, Var, While, definitions, walk
from looplift.ir.started import Changes


def copied(
    statements: Iterable[Statement], atoms: Mapping[Atom, Atom], suffix: str
) -> tuple[list[Statement], dict[Atom, Atom]]:
    """Copies whose variables end in ``suffix``, and what stands for each atom in them."""
    block = Block(tuple(statements))
    renamed: dict[Atom, Atom] = {v: Var(f"{v.name}{suffix}") for s in walk(block) for v in definitions(s)}
    found = dict(atoms) | renamed
    changes = Changes({}, found)
    return [_defining(made, renamed) for made in changes.block(block)], found


def _defining(statement: Statement, renamed: Mapping[Atom, Atom]) -> Statement:
    def new(var: Var) -> Var:
        made = renamed.get(var, var)
        assert isinstance(made, Var)
        return made

    def block(old: Block) -> Block:
        return Block(tuple(_defining(inner, renamed) for inner in old))

    match statement:
        case Let(var=var):
            return replace(statement, var=new(var))
        case If(then=then, orelse=orelse, phis=phis):
            phis = tuple(replace(phi, var=new(phi.var)) for phi in phis)
            return replace(statement, then=block(then), orelse=block(orelse), phis=phis)
        case Loop(index=index, carries=carries, body=body, domain=domain):
            carries = tuple(replace(c, inside=new(c.inside), after=new(c.after)) for c in carries)
            if isinstance(domain, While):
                domain = replace(domain, block=block(domain.block))
            index = None if index is None else new(index)
            return replace(statement, index=index, carries=carries, body=block(body), domain=domain)
    return statement
