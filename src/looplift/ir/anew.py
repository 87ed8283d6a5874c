"""Names that an inner loop binds in its first iteration do not depend on what an outer iteration left in them.

for i in range(n):                the last ``w`` of one ``i`` would be seen by the next
    for j in range(m):            after an inner loop of no iteration only: it is asked
        w = f(i, j)               to have one
    out[i] = w
"""

from __future__ import annotations

from looplift.base.data import replace
from looplift.ir.grammar import (
    UNDEFINED,
    Atom,
    Block,
    Const,
    Function,
    If,
    Let,
    Loop,
    Op,
    Range,
    Require,
    Statement,
    Var,
    uses,
    walk,
)
from looplift.ir.prune import prune


def bound_anew(function: Function) -> Function:
    """The same function, in which such values are not carried around the outer loop."""
    loops = [s for s in walk(function.body) if isinstance(s, Loop)]
    unbound: set[Atom] = {c.inside for loop in loops for c in loop.carries if c.init is UNDEFINED}
    stale = {id(loop): found for loop in loops if (found := _stale(loop, unbound))}
    if not stale:
        return function
    return prune(replace(function, body=_block(function.body, stale)))


def _stale(loop: Loop, unbound: set[Atom]) -> set[Var]:
    """Carries whose first value is what an outer loop has left, and that no iteration reads."""
    if not isinstance(loop.domain, Range) or _step(loop.domain) not in (1, -1):
        return set()
    read = {atom for s in walk(loop.body) for atom in uses(s)} | {c.next for c in loop.carries}
    return {c.inside for c in loop.carries if c.init in unbound and c.inside not in read}


def _step(domain: Range) -> object:
    return domain.step.value if isinstance(domain.step, Const) else None


def _block(block: Block, stale: dict[int, set[Var]]) -> Block:
    out: list[Statement] = []
    for statement in block:
        match statement:
            case If(then=then, orelse=orelse):
                out.append(replace(statement, then=_block(then, stale), orelse=_block(orelse, stale)))
            case Loop():
                out += _loop(statement, stale)
            case _:
                out.append(statement)
    return Block(tuple(out))


def _loop(loop: Loop, stale: dict[int, set[Var]]) -> list[Statement]:
    changed, domain = stale.get(id(loop), set()), loop.domain
    carries = tuple(replace(c, init=UNDEFINED) if c.inside in changed else c for c in loop.carries)
    made = replace(loop, carries=carries, body=_block(loop.body, stale))
    if not changed or not isinstance(domain, Range):
        return [made]
    low, high = (domain.lo, domain.hi) if _step(domain) == 1 else (domain.hi, domain.lo)
    if isinstance(low, Const) and isinstance(high, Const):
        return [made if low.value < high.value else loop]
    runs = Var(f"runs.{next(iter(changed)).name}")
    asked = Require(runs, "a loop that binds a name for the first time has no iteration", loop.span)
    return [Let(runs, Op("lt", (low, high)), loop.span), asked, made]
