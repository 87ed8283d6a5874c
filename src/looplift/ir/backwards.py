"""Lists that are filled from their end to their beginning become lists that grow, read backwards behind the loop.

for t in reversed(range(n)):        for t in reversed(range(n)):
    g = r[t] + 0.9 * g                  g = r[t] + 0.9 * g
    out.insert(0, g)                    out.append(g)
                                    out = out[::-1]

So do lists of which ``out.reverse()`` is asked behind the loop.
"""

from __future__ import annotations

import itertools

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
    Range,
    Slice,
    Statement,
    Var,
    While,
    children,
    constant,
    uses,
    walk,
)
from looplift.ir.prune import prune
from looplift.ir.started import Changes

BACKWARDS = Slice(Const(None), Const(None), Const(-1))


def lists_read_backwards(function: Function) -> Function:
    """The same function with such lists appended to."""
    function = prune(function)  # names that nobody reads after a loop are no readers
    for number in itertools.count(1):
        found = next(filter(None, (_turned(function, block, number) for block in _blocks(function.body))), None)
        if found is None:
            return function
        function = found
    raise AssertionError


def _blocks(block: Block) -> list[Block]:
    inner = [child for statement in block for child in children(statement)]
    return [block, *(found for child in inner for found in _blocks(child))]


def _turned(function: Function, block: Block, number: int) -> Function | None:
    """The function without the first of these calls in a block, None if it has none."""
    made = {s.var: s for s in block if isinstance(s, Let) and s.op.name == "list"}
    for position, statement in enumerate(block.statements):
        behind = block.statements[position + 1 :]
        for var, display in made.items():
            new = Var(f"{var.hint}.b{number}")
            turned = Let(new, Op("getitem", (var, BACKWARDS)), statement.span)
            if (
                _asks(statement, var, "method.reverse", ())
                and not _grows(behind, var)
                and _is_read(function, block, var)
            ):
                return _renamed(function, {id(statement): (turned,)}, behind, var, new)
            if (insert := _only_insert(statement, var)) is not None and _is_alone(block, statement, var):
                if _is_read(function, block, var):
                    first = replace(display, op=replace(display.op, args=display.op.args[::-1]))
                    changed: dict[int, tuple[Statement, ...]] = {
                        id(display): (first,),
                        id(insert): (Append(var, insert.op.args[2], insert.span),),  # type: ignore[arg-type]
                    }
                    return _renamed(function, {**changed, id(statement): (statement, turned)}, behind, var, new)
    return None


def _asks(statement: Statement, var: Var, name: str, args: tuple[object, ...]) -> bool:
    if not isinstance(statement, Let) or statement.op.name != name or statement.op.kwargs:
        return False
    first, *rest = statement.op.args
    values = [arg.value if isinstance(arg, Const) else arg for arg in rest]
    return first is var and len(values) >= len(args) and tuple(values[: len(args)]) == args


def _grows(statements: tuple[Statement, ...], var: Var) -> bool:
    return any(isinstance(s, Append) and s.ref is var for s in walk(Block(statements)))


def _only_insert(statement: Statement, var: Var) -> Let | None:
    """The one use of a list in a loop, if that puts something in front of all items."""
    if not isinstance(statement, Loop) or isinstance(statement.domain, While):
        return None
    users = [s for s in walk(Block((statement,))) if var in uses(s)]
    if len(users) != 1 or not isinstance(users[0], Let) or not _asks(users[0], var, "method.insert", (0,)):
        return None
    _, place, *items = users[0].op.args
    if type(constant(place)) is not int or len(items) != 1 or not isinstance(items[0], Var | Const):
        return None
    return users[0]


def _is_alone(block: Block, loop: Statement, var: Var) -> bool:
    """Whether nothing before a loop puts something into the list."""
    before = block.statements[: block.statements.index(loop)]
    return not any(var in uses(s) for s in walk(Block(before)))


def _is_read(function: Function, block: Block, var: Var) -> bool:
    """Whether a list has one name, and nothing but statements of its block and the results reads it."""
    inside = {id(s) for s in walk(block)}
    for statement in walk(function.body):
        if isinstance(statement, Loop | If) and var in uses(statement) and not _goes_through(statement, var):
            return False
        if var in uses(statement) and id(statement) not in inside:
            return False
        if isinstance(statement, Let) and statement.op.name == "copy" and var in uses(statement):
            return False
    return all(atom is not var or block is function.body for _, atom in function.results)


def _goes_through(statement: Statement, var: Var) -> bool:
    """Whether a loop goes through the items of a list, and needs it for nothing else."""
    if not isinstance(statement, Loop) or not isinstance(statement.domain, Range) or statement.domain.source is not var:
        return False
    return all(var not in (carry.init, carry.next) for carry in statement.carries)


def _renamed(
    function: Function,
    statements: dict[int, tuple[Statement, ...]],
    behind: tuple[Statement, ...],
    var: Var,
    new: Var,
) -> Function:
    """The function with statements in the place of others, and a new name for the list behind them."""
    renamed = Changes({}, {var: new}).block(Block(behind))
    places = {id(old): (made,) for old, made in zip(behind, renamed, strict=True)}
    body = _with(function.body, {**places, **statements})
    results = tuple((name, new if atom is var else atom) for name, atom in function.results)
    return replace(function, body=body, results=results)


def _with(block: Block, places: dict[int, tuple[Statement, ...]]) -> Block:
    out: list[Statement] = []
    for statement in block:
        for one in places.get(id(statement), (statement,)):
            made = one
            if isinstance(one, If):
                made = replace(one, then=_with(one.then, places), orelse=_with(one.orelse, places))
            elif isinstance(one, Loop):
                made = replace(one, body=_with(one.body, places))
            out.append(made)
    return Block(tuple(out))
