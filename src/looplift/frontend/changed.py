"""The IR of a region and its arguments in, whether it may change a list, dict or set of the caller out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from looplift.ir.grammar import Append, Block, If, Let, Loop, Perform, Statement, Store, Var, walk

CONTAINERS = (list, dict, set)
READS = ("getitem", "iter_item", "unpack", "copy", "attribute")
"""Operations that may hand out what a container holds."""
CHANGES = frozenset("""
append extend insert pop remove clear add discard update popleft popitem sort reverse setdefault appendleft rotate
""".split())  # fmt: skip


def changes_containers(body: Block, values: Mapping[Var, Any]) -> bool:
    """``values``: what the arguments are."""
    statements = list(walk(body))
    holders = {var for var, value in values.items() if isinstance(value, CONTAINERS)}
    found = -1
    while found < len(holders):
        found = len(holders)
        for statement in statements:
            holders |= {var for var, sources in _bound(statement) if holders.intersection(sources)}
    return any(_changes(statement, holders) for statement in statements)


def _bound(statement: Statement) -> list[tuple[Var, tuple]]:
    """The variables that a statement binds, each with what it may be, or be an item of."""
    match statement:
        case Let(var=var, op=op) if op.name in READS:
            return [(var, op.args[:1])]
        case If(phis=phis):
            return [(phi.var, (phi.then, phi.orelse)) for phi in phis]
        case Loop(carries=carries):
            inside = [(carry.inside, (carry.init, carry.next)) for carry in carries]
            return inside + [(carry.after, (carry.init, carry.next)) for carry in carries]
    return []


def _changes(statement: Statement, holders: set[Var]) -> bool:
    match statement:
        case Store(ref=ref) | Append(ref=ref):
            return ref in holders
        case Let(op=op) | Perform(op=op):
            prefix, _, name = op.name.partition(".")
            first = op.args[0] if op.args else None
            return (prefix == "inplace" or (prefix == "method" and name in CHANGES)) and first in holders
    return False
