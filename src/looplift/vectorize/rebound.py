"""Names of the live-ins whose value is still read after the author's code has given the name to something else.

skip = x; for layer in layers: x = layer(x); return x + skip        the emitted code must not assign to ``x``
"""

from __future__ import annotations

from collections.abc import Iterator

from looplift.ir.grammar import Block, Function, Let, Loop, Range, Statement, Var, definitions, uses, walk


def held_names(function: Function) -> set[str]:
    """Names of live-ins that no other value may take."""
    paths = function.attributes["paths"]
    returned = {atom for _, atom in function.results if isinstance(atom, Var)}
    return {
        paths[param]
        for param in function.params
        if paths[param].isidentifier() and (param in returned or not _is_rebound(function.body, param, paths[param]))
    }


def _is_rebound(body: Block, param: Var, name: str) -> bool:
    """Whether the name of a live-in is given to something else that is made of it, and it is not read from then on.

    What the code before that needs has names of its own, so no loop may come before.
    """
    statements = list(body)
    for position, statement in enumerate(statements):
        if name in {var.hint for var in _bound(statement)}:
            later = [inner for s in statements[position + 1 :] for inner in _all(s)]
            return not _is_read_inside(statement, param) and not any(param in uses(inner) for inner in later)
        if not isinstance(statement, Let):
            return False
    return False


def _bound(statement: Statement) -> Iterator[Var]:
    for inner in _all(statement):
        yield from definitions(inner)


def _all(statement: Statement) -> Iterator[Statement]:
    return walk(Block((statement,)))


def _is_read_inside(statement: Statement, param: Var) -> bool:
    if isinstance(statement, Let):
        return False
    if not isinstance(statement, Loop):
        return any(param in uses(inner) for inner in _all(statement))
    starts = [carry.init for carry in statement.carries]
    bounds = (
        [statement.domain.lo, statement.domain.hi, statement.domain.step] if isinstance(statement.domain, Range) else []
    )
    inside = [atom for inner in _all(statement) for atom in uses(inner)]
    return inside.count(param) > starts.count(param) + bounds.count(param)
