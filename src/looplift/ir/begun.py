"""Lists that get their first items before a loop lengthens them, with these written out, and known not to be empty.

out = []; out.append(x)                  out = [x]
return torch.stack(out) if out else 0    return torch.stack(out)
"""

from __future__ import annotations

from looplift.base.data import replace
from looplift.ir.grammar import (
    Append,
    Block,
    Const,
    Function,
    If,
    Let,
    Loop,
    Op,
    Statement,
    Store,
    Var,
    children,
    uses,
    walk,
)
from looplift.ir.started import Changes


def begun_lists(function: Function) -> Function:
    """The same function with the first items of lists in their displays."""
    appended = {s.ref for s in walk(function.body) if isinstance(s, Append)}
    made = {s.var for s in walk(function.body) if isinstance(s, Let) and s.op.name == "list"} & appended
    if not made:
        return function
    return _without_empty_sides(replace(function, body=_with_first_items(function.body, made)))


def _with_first_items(block: Block, made: set[Var]) -> Block:
    out: list[Statement] = []
    for statement in block:
        place = _display_of(statement, out, made)
        if place is None:
            out.append(_inside(statement, made))
            continue
        assert isinstance(statement, Append)
        display = out.pop(place)
        assert isinstance(display, Let)
        out.append(replace(display, op=Op("list", (*display.op.args, statement.value))))
    return Block(tuple(out))


def _inside(statement: Statement, made: set[Var]) -> Statement:
    match statement:
        case If(then=then, orelse=orelse):
            return replace(statement, then=_with_first_items(then, made), orelse=_with_first_items(orelse, made))
        case Loop(body=body):
            return replace(statement, body=_with_first_items(body, made))
    return statement


def _display_of(statement: Statement, before: list[Statement], made: set[Var]) -> int | None:
    """Where the list is made that a statement appends to, if nothing has read it since."""
    if not isinstance(statement, Append) or statement.ref not in made or statement.value is statement.ref:
        return None
    for place in range(len(before) - 1, -1, -1):
        earlier = before[place]
        if isinstance(earlier, Let) and earlier.var is statement.ref:
            return place
        if any(statement.ref in uses(inner) for inner in walk(Block((earlier,)))):
            return None
    return None


def _without_empty_sides(function: Function) -> Function:
    """Lists with items are true."""
    full = {s.var for s in walk(function.body) if isinstance(s, Let) and s.op.name == "list" and s.op.args}
    for statement in walk(function.body):
        if isinstance(statement, Let) and statement.op.name.startswith(("method.", "inplace.")):
            full -= {atom for atom in uses(statement) if isinstance(atom, Var)}
        elif isinstance(statement, Store) and not isinstance(statement.index, Var | Const):
            full.discard(statement.ref)  # a slice may be stored no items
    changed = Changes({}, {})
    for statement in walk(function.body):
        if isinstance(statement, If) and statement.cond in full and not _holds_another(statement, full):
            changed.statements[id(statement)] = statement.then.statements
            changed.atoms.update((phi.var, phi.then) for phi in statement.phis)
    if not changed.statements:
        return function
    results = tuple((name, changed.atom(atom)) for name, atom in function.results)
    return replace(function, body=changed.block(function.body), results=results)


def _holds_another(statement: If, full: set[Var]) -> bool:
    inner = (s for block in children(statement) for s in walk(block))
    return any(isinstance(s, If) and s.cond in full for s in inner)
