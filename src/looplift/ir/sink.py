"""Stores and appends at the end of both sides of an If become one after it.

``if c: x[i] = a`` with ``else: x[i] = b`` is ``v = a if c else b`` and ``x[i] = v``; so with ``items.append``.
"""

from __future__ import annotations

import itertools

from looplift.base.data import replace
from looplift.ir.grammar import (
    Append,
    Block,
    Const,
    Function,
    Group,
    If,
    Loop,
    Operand,
    Phi,
    Slice,
    Statement,
    Store,
    Var,
    While,
    atoms,
    definitions,
    walk,
)


def sink_stores(function: Function) -> Function:
    """The same function with stores moved out of Ifs where both sides end with a store to the same place."""
    return replace(function, body=_block(function.body, itertools.count(1)))


def _block(block: Block, numbers: itertools.count) -> Block:
    out: list[Statement] = []
    for statement in block:
        match statement:
            case If():
                then, orelse = _block(statement.then, numbers), _block(statement.orelse, numbers)
                out += _branch(replace(statement, then=then, orelse=orelse), numbers)
            case Loop(domain=domain, body=body):
                if isinstance(domain, While):
                    domain = replace(domain, block=_block(domain.block, numbers))
                out.append(replace(statement, domain=domain, body=_block(body, numbers)))
            case _:
                out.append(statement)
    return Block(tuple(out))


def _branch(statement: If, numbers: itertools.count) -> list[Statement]:
    then, orelse = statement.then.statements, statement.orelse.statements
    stores: list[Statement] = []
    phis = list(statement.phis)
    while then and orelse:
        a, b = then[-1], orelse[-1]
        if not isinstance(a, Store | Append) or not isinstance(b, Store | Append):
            break
        if not _same_place(a, b) or _is_defined_in(a, statement):
            break
        var = Var(f"stored.s{next(numbers)}")
        phis.append(Phi(var, a.value, b.value))
        stores.insert(0, replace(a, value=var))
        then, orelse = then[:-1], orelse[:-1]
    if not stores:
        return [statement]
    return [replace(statement, then=Block(then), orelse=Block(orelse), phis=tuple(phis)), *stores]


def _same_place(a: Store | Append, b: Store | Append) -> bool:
    if isinstance(a, Append) or isinstance(b, Append):
        return isinstance(a, Append) and isinstance(b, Append) and a.ref is b.ref
    return a.ref is b.ref and (a.combine, a.method) == (b.combine, b.method) and _same(a.index, b.index)


def _same(a: Operand, b: Operand) -> bool:
    match a, b:
        case Group(), Group():
            return len(a.items) == len(b.items) and all(map(_same, a.items, b.items))
        case Slice(), Slice():
            return all(map(_same, (a.lo, a.hi, a.step), (b.lo, b.hi, b.step)))
        case Const(), Const():
            return type(a.value) is type(b.value) and a.value == b.value
    return a is b


def _is_defined_in(store: Store | Append, statement: If) -> bool:
    """Whether the place depends on something that a side computes."""
    made = {var for side in (statement.then, statement.orelse) for inner in walk(side) for var in definitions(inner)}
    places = atoms(store.index) if isinstance(store, Store) else ()
    return any(atom in made for atom in (store.ref, *places))
