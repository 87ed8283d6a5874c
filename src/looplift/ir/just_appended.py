"""The last item of a list, read after an iteration has put it there, is that item.

out.append(f(x))           out.append(f(x))
if out[-1] > best: ...     if f(x) > best: ...
"""

from __future__ import annotations

from collections.abc import Mapping

from looplift.base.data import replace
from looplift.ir.grammar import Append, Atom, Block, Const, Function, If, Let, Loop, Statement, Var, While, uses, walk
from looplift.ir.started import JOINS, LENGTHS, Changes


def without_reads_of_what_was_appended(function: Function) -> Function:
    """The same function, in which such items have the names that they were appended by."""
    lists = _plain_lists(function)
    if not lists:
        return function
    changed = Changes({}, {})
    _read(function.body, {}, lists, changed)
    if not changed.atoms:
        return function
    results = tuple((name, changed.atom(atom)) for name, atom in function.results)
    return replace(function, body=changed.block(function.body), results=results)


def _plain_lists(function: Function) -> set[Var]:
    """Lists that are made here, and only made longer, read by item, measured and joined."""
    made = {s.var for s in walk(function.body) if isinstance(s, Let) and s.op.name == "list"}
    for statement in walk(function.body):
        used = {atom for atom in uses(statement) if isinstance(atom, Var) and atom in made}
        match statement:
            case Append(ref=ref, value=value):
                used -= {ref} - {value}
            case Let(op=op) if op.name in ("getitem", *LENGTHS, *JOINS):
                used -= {op.args[0]}  # pyright: ignore[reportAssignmentType]
        made -= used
    return made & {s.ref for s in walk(function.body) if isinstance(s, Append)}


def _read(block: Block, last: Mapping[Var, Atom], lists: set[Var], changed: Changes) -> None:
    """Note the reads of items in a block; ``last``: those that were appended before it."""
    known = dict(last)
    for statement in block:
        match statement:
            case Append(ref=ref, value=value) if ref in lists:
                known[ref] = value
            case Let(op=op) if op.name == "getitem" and op.args[0] in known and _is_last(op.args[1]):
                changed.drop(statement, known[op.args[0]])  # pyright: ignore[reportArgumentType]
            case If(then=then, orelse=orelse):
                for side in (then, orelse):
                    _read(side, known, lists, changed)
                known = _kept(known, statement)
            case Loop(body=body, domain=domain):
                inside = _kept(known, statement)
                if isinstance(domain, While):
                    _read(domain.block, inside, lists, changed)
                _read(body, inside, lists, changed)
                known = inside


def _is_last(index: object) -> bool:
    return isinstance(index, Const) and type(index.value) is int and index.value == -1


def _kept(known: Mapping[Var, Atom], statement: Statement) -> dict[Var, Atom]:
    """Items that are still the last ones in a statement and after it, or in all of its iterations."""
    longer = {s.ref for s in walk(Block((statement,))) if isinstance(s, Append)}
    return {ref: value for ref, value in known.items() if ref not in longer}
