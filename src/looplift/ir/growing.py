"""Tensors that a loop lengthens piece by piece become lists that are joined after it.

acc = torch.cat((acc, piece))     pieces.append(piece)
                                  after the loop: acc = torch.cat((acc, torch.cat(pieces)))

``np.append(acc, piece)`` joins both as vectors.
"""

from __future__ import annotations

import itertools

from looplift.base.data import replace
from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Block,
    Carry,
    Function,
    Group,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Perform,
    Statement,
    Store,
    Var,
    While,
    uses,
    walk,
)

JOINS = {"torch.cat": "torch.cat", "torch.concat": "torch.cat", "np.concatenate": "np.concatenate",
         "np.concat": "np.concatenate", "np.vstack": "np.vstack", "np.append": "np.concatenate"}  # fmt: skip


def joined_after_loops(function: Function) -> Function:
    """The same function with growing tensors as lists."""
    return replace(function, body=_block(function.body, itertools.count(1)))


def _block(block: Block, numbers: itertools.count) -> Block:
    out: list[Statement] = []
    for statement in block:
        match statement:
            case If():
                out.append(
                    replace(statement, then=_block(statement.then, numbers), orelse=_block(statement.orelse, numbers))
                )
            case Loop(domain=domain) if not isinstance(domain, While):
                out += _loop(replace(statement, body=_block(statement.body, numbers)), numbers)
            case _:
                out.append(statement)
    return Block(tuple(out))


def _loop(loop: Loop, numbers: itertools.count) -> list[Statement]:
    before: list[Statement] = []
    after: list[Statement] = []
    for carry in loop.carries if loop.stop is None else ():
        grown = _growth(loop, carry)
        if grown is None:
            continue
        join, items, skipped = grown
        pieces, joined = Var(f"pieces.g{next(numbers)}"), Var(f"joined.g{next(numbers)}")
        piece, start, rest = items[1], carry.init, join.op.args[1:]
        flattened: list[Let] = []
        if join.op.name == "np.append":
            piece, start, rest = Var(f"flat.g{next(numbers)}"), Var(f"start.g{next(numbers)}"), ()
            flattened = [Let(piece, Op("np.ravel", (items[1],)), join.span)]
            after.append(Let(start, Op("np.ravel", (carry.init,)), loop.span))
        if _changes_something(loop):  # it joins what the piece holds now
            held = Var(f"held.g{next(numbers)}")
            copied = Op("method.copy" if join.op.name.startswith("np.") else "method.clone", (piece,))
            flattened, piece = [*flattened, Let(held, copied, join.span)], held
        appended = [*flattened, Append(pieces, piece, join.span)]
        kept = [new for old in loop.body if old is not skipped for new in (appended if old is join else [old])]
        loop = replace(loop, carries=tuple(c for c in loop.carries if c is not carry), body=Block(tuple(kept)))
        before.append(Let(pieces, Op("list"), loop.span))
        after.append(Let(joined, Op(JOINS[join.op.name], (pieces, *rest), join.op.kwargs), loop.span))
        whole = Op(JOINS[join.op.name], (Group("tuple", (start, joined)), *rest), join.op.kwargs)
        after.append(Let(carry.after, whole, loop.span))
    return [*before, loop, *after]


def _changes_something(loop: Loop) -> bool:
    """Whether the loop may change an array that it did not make in the same statement."""
    return any(
        isinstance(s, Store | Perform) or (isinstance(s, Let) and s.op.name.startswith("inplace."))
        for s in walk(loop.body)
    )


def _growth(loop: Loop, carry: Carry) -> tuple[Let, tuple[Var, Var], Let | None] | None:
    """The statement that joins the carried value with a piece, both, and the list of them if that is one of its own.

    None if anything else reads the carried value.
    """
    join = next((s for s in loop.body if isinstance(s, Let) and s.var is carry.next), None)
    if join is None or join.op.name not in JOINS or not join.op.args:
        return None
    display, listed = join.op.args[0], None
    items: tuple[Operand, ...] = display.items if isinstance(display, Group) else ()
    if join.op.name == "np.append":
        items = join.op.args if not join.op.kwargs else ()
    elif isinstance(display, Var):
        listed = next((s for s in loop.body if isinstance(s, Let) and s.var is display), None)
        items = listed.op.args if listed is not None and listed.op.name in ("list", "tuple") else ()
    if len(items) != 2 or items[0] is not carry.inside or not isinstance(items[1], Var) or items[1] is carry.inside:
        return None
    read = [atom for inner in walk(loop.body) for atom in uses(inner)] + [other.next for other in loop.carries]
    alone = read.count(carry.inside) == 1 and read.count(carry.next) == 1
    if listed is not None:
        alone = alone and read.count(listed.var) == 1
    return (join, (carry.inside, items[1]), listed) if alone and carry.init is not UNDEFINED else None
