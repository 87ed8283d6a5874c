"""Names of the live-ins whose value is still read after the author's code has given the name to something else.

skip = x; for layer in layers: x = layer(x); return x + skip        the emitted code must not assign to ``x``
"""

from __future__ import annotations

from collections.abc import Iterator

from looplift.base.paths import roots_of
from looplift.ir.grammar import Block, Function, If, Let, Loop, Range, Statement, Var, definitions, uses, walk


def held_names(function: Function) -> set[str]:
    """Names of live-ins that no other value may take."""
    paths = function.attributes["paths"]
    returned = {atom for _, atom in function.results if isinstance(atom, Var)}
    reached = {root for param in function.params for root in roots_of(paths[param]) if root != paths[param]}
    return reached | {
        paths[param]
        for param in function.params
        if paths[param].isidentifier() and (param in returned or not _is_rebound(function.body, param, paths[param]))
    }


def _is_rebound(body: Block, param: Var, name: str) -> bool:
    """Whether the name of a live-in is given to something else that is made of it, and neither it nor what was made of
    it before is read from then on: that may be written where it is read. No loop may come before.
    """
    statements, made = list(body), {param}
    for position, statement in enumerate(statements):
        if name in {var.hint for var in _bound(statement)}:
            later = [inner for s in statements[position + 1 :] for inner in _all(s)]
            return not _reads_inside(statement, made, param, name) and not _reads(later, made)
        if not isinstance(statement, Let):
            return False
        if _reads([statement], made):
            made.add(statement.var)
    return False


def _reads(statements: list[Statement], made: set[Var]) -> bool:
    return any(not made.isdisjoint(uses(statement)) for statement in statements)


def _bound(statement: Statement) -> Iterator[Var]:
    for inner in _all(statement):
        yield from definitions(inner)


def _all(statement: Statement) -> Iterator[Statement]:
    return walk(Block((statement,)))


def _reads_inside(statement: Statement, made: set[Var], param: Var, name: str) -> bool:
    """Whether what binds the name anew reads values of before when it is bound already."""
    if isinstance(statement, Let):
        return False
    if not isinstance(statement, Loop):
        return _reads(list(_all(statement)), made)
    inside = [atom for inner in _all(statement) for atom in uses(inner) if atom in made]
    if _begins_anew(statement, name):
        return True
    if not any(carry.init is param and carry.hint == name for carry in statement.carries):
        return bool(inside)
    if _binds_others(statement, param, name):
        return True
    before = [carry.init for carry in statement.carries if carry.init is param]
    if isinstance(statement.domain, Range):
        bounds = (statement.domain.lo, statement.domain.hi, statement.domain.step)
        before += [bound for bound in bounds if bound is param]
    return len(inside) > len(before)


def _binds_others(statement: Loop, param: Var, name: str) -> bool:
    """Whether a loop gives the name to more than what becomes the carried value, and in a piece of its own may do so
    before the value of before is read: the carries of two names that take turns."""
    own = {var for carry in statement.carries if carry.init is param for var in (carry.inside, carry.after, carry.next)}
    phis = [phi for inner in _all(statement) if isinstance(inner, If) for phi in inner.phis]
    while more := {side for phi in phis if phi.var in own for side in (phi.then, phi.orelse)} - own:
        own |= more
    return any(var.hint == name and var not in own for var in _bound(statement))


def _begins_anew(statement: Loop, name: str) -> bool:
    """Whether a loop in there carries something else under the name, while what was there before is needed yet."""
    inside = (one for one in _all(statement) if isinstance(one, Loop) and one is not statement)
    begins = [carry.init for one in inside for carry in one.carries if carry.hint == name]
    return any(not (isinstance(init, Var) and init.hint == name) for init in begins)
