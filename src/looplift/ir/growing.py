"""Tensors that a loop lengthens piece by piece become lists that are joined after it.

acc = torch.cat((acc, piece))     pieces.append(piece)
                                  after the loop: acc = torch.cat((acc, torch.cat(pieces)))

``np.append(acc, piece)`` joins both as vectors.
"""

from __future__ import annotations

import itertools
from typing import Any

from looplift.base.data import dataclass, replace
from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Atom,
    Block,
    Carry,
    Const,
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
    return replace(function, body=_block(_without_empty_lists(function.body), itertools.count(1)))


def _without_empty_lists(block: Block) -> Block:
    """``torch.tensor([])`` as ``torch.empty(0)``, where nothing else reads the list."""
    lists = {s.var for s in block if isinstance(s, Let) and s.op.name == "list" and not s.op.args}
    read = [atom for s in walk(block) for atom in uses(s) if atom in lists]
    alone = [(one,) for one in lists if read.count(one) == 1]
    made = {
        s.var: replace(s, op=Op("torch.empty", (Const(0),), s.op.kwargs))
        for s in block
        if isinstance(s, Let) and s.op.name == "torch.tensor" and s.op.args in alone
    }
    gone = {s.op.args[0] for s in block if isinstance(s, Let) and s.var in made}
    return Block(tuple(made.get(s.var, s) if isinstance(s, Let) else s for s in block if not _makes(s, gone)))


def _makes(statement: Statement, values: set[Any]) -> bool:
    return isinstance(statement, Let) and statement.var in values


def _block(block: Block, numbers: itertools.count) -> Block:
    out: list[Statement] = []
    for statement in block:
        match statement:
            case If():
                out.append(
                    replace(statement, then=_block(statement.then, numbers), orelse=_block(statement.orelse, numbers))
                )
            case Loop(domain=domain) if not isinstance(domain, While):
                for made in _loop(statement, numbers):
                    inside = isinstance(made, Loop)
                    out.append(replace(made, body=_block(made.body, numbers)) if inside else made)
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
        join = grown.join
        pieces, joined = Var(f"pieces.g{next(numbers)}"), Var(f"joined.g{next(numbers)}")
        piece, start, rest = grown.piece, carry.init, join.op.args[1:]
        flattened: list[Statement] = []
        if join.op.name == "np.append":
            piece, start, rest = Var(f"flat.g{next(numbers)}"), Var(f"start.g{next(numbers)}"), ()
            flattened = [Let(piece, Op("np.ravel", (grown.piece,)), join.span)]
            after.append(Let(start, Op("np.ravel", (carry.init,)), loop.span))
        if _changes_something(loop):  # it joins what the piece holds now
            held = Var(f"held.g{next(numbers)}")
            copied = Op("method.copy" if join.op.name.startswith("np.") else "method.clone", (piece,))
            flattened, piece = [*flattened, Let(held, copied, join.span)], held
        body = _appending(loop.body, grown, [*flattened, Append(pieces, piece, join.span)])
        loop = replace(loop, carries=tuple(c for c in loop.carries if c is not carry), body=body)
        before.append(Let(pieces, Op("list"), loop.span))
        after.append(Let(joined, Op(JOINS[join.op.name], (pieces, *rest), join.op.kwargs), loop.span))
        whole = Op(JOINS[join.op.name], (Group("tuple", (start, joined)), *rest), join.op.kwargs)
        after.append(Let(carry.after, whole, loop.span))
    return [*before, loop, *after]


def _appending(block: Block, grown: _Growth, appended: list[Statement]) -> Block:
    """The block with what is appended in the place of the join, and nothing of the carried value."""
    made: list[Statement] = []
    for statement in block:
        if statement is grown.join:
            made += appended
        elif isinstance(statement, Loop) and statement in grown.around:
            carries = tuple(carry for carry in statement.carries if carry.after not in grown.values)
            made.append(replace(statement, body=_appending(statement.body, grown, appended), carries=carries))
        elif isinstance(statement, If) and statement in grown.around:
            sides = {name: _appending(getattr(statement, name), grown, appended) for name in ("then", "orelse")}
            phis = tuple(phi for phi in statement.phis if phi.var not in grown.values)
            made.append(replace(statement, **sides, phis=phis))
        elif statement is not grown.display:
            made.append(statement)
    return Block(tuple(made))


def _changes_something(loop: Loop) -> bool:
    """Whether the loop may change an array that it did not make in the same statement."""
    return any(
        isinstance(s, Store | Perform) or (isinstance(s, Let) and s.op.name.startswith("inplace."))
        for s in walk(loop.body)
    )


@dataclass(frozen=True)
class _Growth:
    """The statement that joins the carried value with a piece, the list of both if that is a statement of its own, the
    branches and loops around it, and the names of the carried value from there on."""

    join: Let
    piece: Var
    display: Let | None
    around: tuple[If | Loop, ...]
    values: frozenset[Atom]


def _growth(loop: Loop, carry: Carry) -> _Growth | None:
    """How a loop lengthens a carried value; None if anything else reads it."""
    block, inside, value = loop.body, carry.inside, carry.next
    around: list[If | Loop] = []
    values: list[Atom] = []
    times = {inside: 1}
    while isinstance(made := _maker(block, value), If | Loop):
        around.append(made)
        values.append(value)
        if isinstance(made, Loop):
            inner = next(one for one in made.carries if one.after is value)
            if inner.init is not inside or made.stop is not None or isinstance(made.domain, While):
                return None
            block, inside, value = made.body, inner.inside, inner.next
            times[inside] = 1
            continue
        phi = next(phi for phi in made.phis if phi.var is value)
        if (phi.then is inside) == (phi.orelse is inside):
            return None
        times[inside] += 1
        block, value = (made.orelse, phi.orelse) if phi.then is inside else (made.then, phi.then)
    joined = None if made is None or carry.init is UNDEFINED else _joined(block, made, inside)
    if made is None or joined is None:
        return None
    piece, display = joined
    read = [atom for one in walk(loop.body) for atom in uses(one)] + [other.next for other in loop.carries]
    times |= dict.fromkeys((*values, made.var, *([display.var] if display else [])), 1)
    return _Growth(made, piece, display, tuple(around), frozenset(values)) if _are_read(times, read) else None


def _are_read(times: dict[Any, int], read: list[Atom]) -> bool:
    return all(read.count(value) == count for value, count in times.items())


def _maker(block: Block, value: Atom) -> Let | If | Loop | None:
    """The statement of a block that makes a value."""
    for statement in block:
        if isinstance(statement, Let) and statement.var is value:
            return statement
        if isinstance(statement, If) and any(phi.var is value for phi in statement.phis):
            return statement
        if isinstance(statement, Loop) and any(carry.after is value for carry in statement.carries):
            return statement
    return None


def _joined(block: Block, join: Let, inside: Var) -> tuple[Var, Let | None] | None:
    """The piece that is joined to the carried value, and the list of both."""
    if join.op.name not in JOINS or not join.op.args:
        return None
    display, listed = join.op.args[0], None
    items: tuple[Operand, ...] = display.items if isinstance(display, Group) else ()
    if join.op.name == "np.append":
        items = join.op.args if not join.op.kwargs else ()
    elif isinstance(display, Var):
        listed = next((s for s in block if isinstance(s, Let) and s.var is display), None)
        items = listed.op.args if listed is not None and listed.op.name in ("list", "tuple") else ()
    if len(items) != 2 or items[0] is not inside or not isinstance(items[1], Var) or items[1] is inside:
        return None
    return items[1], listed
