"""Stores at the end of both sides of an If become one store after it.

    if c: x[i] = a            v = a if c else b
    else: x[i] = b            x[i] = v
"""

from __future__ import annotations

from dataclasses import replace

from looplift.ir.grammar import Block, Const, Function, Group, If, Loop, Operand, Phi, Slice, Statement, Store, Var, While


def sink_stores(function: Function) -> Function:
    """The same function with stores moved out of Ifs where both sides end with a store to the same place."""
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    out: list[Statement] = []
    for statement in block:
        match statement:
            case If():
                out += _branch(replace(statement, then=_block(statement.then), orelse=_block(statement.orelse)))
            case Loop(domain=While() as domain):
                out.append(replace(statement, domain=replace(domain, block=_block(domain.block)), body=_block(statement.body)))
            case Loop():
                out.append(replace(statement, body=_block(statement.body)))
            case _:
                out.append(statement)
    return Block(tuple(out))


def _branch(statement: If) -> list[Statement]:
    then, orelse = statement.then.statements, statement.orelse.statements
    stores: list[Statement] = []
    phis = list(statement.phis)
    while then and orelse and isinstance(then[-1], Store) and isinstance(orelse[-1], Store):
        a, b = then[-1], orelse[-1]
        if not _same_place(a, b) or _is_defined_in(a, statement):
            break
        var = Var(f"stored.{a.span.line}.{id(a)}")
        phis.append(Phi(var, a.value, b.value))
        stores.insert(0, replace(a, value=var))
        then, orelse = then[:-1], orelse[:-1]
    if not stores:
        return [statement]
    return [replace(statement, then=Block(then), orelse=Block(orelse), phis=tuple(phis)), *stores]


def _same_place(a: Store, b: Store) -> bool:
    return a.ref is b.ref and a.combine == b.combine and _same(a.index, b.index)


def _same(a: Operand, b: Operand) -> bool:
    match a, b:
        case Group(), Group():
            return len(a.items) == len(b.items) and all(map(_same, a.items, b.items))
        case Slice(), Slice():
            return all(map(_same, (a.lo, a.hi, a.step), (b.lo, b.hi, b.step)))
        case Const(), Const():
            return type(a.value) is type(b.value) and a.value == b.value
    return a is b


def _is_defined_in(store: Store, statement: If) -> bool:
    """Whether the place depends on something that a side computes."""
    from looplift.ir.grammar import atoms, definitions, walk

    made = {var for side in (statement.then, statement.orelse) for inner in walk(side) for var in definitions(inner)}
    return any(atom in made for atom in (store.ref, *atoms(store.index)))
