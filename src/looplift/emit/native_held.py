"""Uses of a loop nest in; which views of elements must stay views out, as what they show changes meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from looplift.emit.native_flow import Flow, bound_by, tail_of_body
from looplift.ir.grammar import Atom, Block, Carry, If, Let, Loop, Statement, Store, Var, While, walk


def held_views(flow: Flow, views: set[Var], handed_on: Mapping[Var, tuple[Atom, ...]]) -> frozenset[Var]:
    """Those of ``views`` that are read after a store, and those that may become one of these.

    ``handed_on``: views that methods give of others.
    """
    found = {var for var in _changing(flow, Block((flow.loop,)), ()) if var in views}
    pending = list(found)
    sources: dict[Var, list[Var]] = {}
    for var, joined in flow.feeds.items():
        for target in joined:
            sources.setdefault(target, []).append(var)
    for target, given in handed_on.items():
        sources.setdefault(target, []).extend(atom for atom in given if isinstance(atom, Var))
    twins = {
        a: b for carry in _carries(flow.loop) for a, b in ((carry.inside, carry.after), (carry.after, carry.inside))
    }
    while pending:
        var = pending.pop()
        for other in (*sources.get(var, ()), *((twins[var],) if var in twins else ())):
            if other in views and other not in found:
                found.add(other)
                pending.append(other)
    return frozenset(found)


def _carries(loop: Loop) -> Iterator[Carry]:
    for statement in walk(Block((loop,))):
        if isinstance(statement, Loop):
            yield from statement.carries


def _changing(flow: Flow, block: Block, tail: tuple[Atom, ...]) -> Iterator[Var]:
    """The variables bound in a block that are read when something was stored since."""
    for position, statement in enumerate(block.statements):
        rest = block.statements[position + 1 :]
        match statement:
            case Let(var=var) if flow.is_stale(var, rest, tail):
                yield var
            case If(then=then, orelse=orelse, phis=phis):
                yield from (phi.var for phi in phis if flow.is_stale(phi.var, rest, tail))
                yield from _changing(flow, then, tuple(phi.then for phi in phis))
                yield from _changing(flow, orelse, tuple(phi.orelse for phi in phis))
            case Loop():
                yield from (carry.inside for carry in statement.carries if is_stale(flow, statement, carry, rest, tail))
                if isinstance(statement.domain, While):
                    yield from _changing(flow, statement.domain.block, (statement.domain.cond,))
                yield from _changing(flow, statement.body, tail_of_body(statement))


def is_stale(flow: Flow, loop: Loop, carry: Carry, rest: tuple[Statement, ...], tail: tuple[Atom, ...]) -> bool:
    """Whether something is stored while a carried view of an element is held."""
    body = loop.body.statements
    bound = next((k for k, s in enumerate(body) if carry.next in bound_by(s)), -1)
    reads = [k for k, s in enumerate(body) if carry.inside in flow.reads(s)]
    last = max(reads, default=-1)
    if carry.inside in tail_of_body(loop) or carry.inside in flow.kept:
        last = len(body)
    before = any(map(flow.writes, body[:last]))
    here = 0 <= last < len(body) and not isinstance(body[last], Let | Store) and flow.writes(body[last])
    return before or here or any(map(flow.writes, body[bound + 1 :])) or flow.is_stale(carry.after, rest, tail)
