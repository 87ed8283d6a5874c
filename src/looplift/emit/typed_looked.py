"""Routines of a typed program in, whether loops look at the elements of rows that are made for them out.

for b in range(B):
    row = torch.log_softmax(x[b], -1)         # as many numbers as are looked at below: the loops are the work
    for t in range(1, T):
        total = torch.logaddexp(total, row[t, 0])
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from looplift.base.syntax import nodes_of
from looplift.emit.typed_scope import Routine

_LOOPS = (ast.For, ast.While)


def looks_at_rows(main: Routine, others: Iterable[Routine]) -> bool:
    """Whether an inner loop takes elements of what a loop around it binds, or one of a function of what it is given."""
    return _looks(main, set()) or any(_looks(one, set(one.parameters)) for one in others if one is not main)


def _looks(routine: Routine, given: set[str]) -> bool:
    loops = [node for statement in routine.body for node in nodes_of(statement) if isinstance(node, _LOOPS)]
    for loop in loops:
        inner = [node for child in loop.body for node in nodes_of(child) if isinstance(node, _LOOPS)]
        names = [node for child in loop.body for node in nodes_of(child) if isinstance(node, ast.Name)]
        bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        if any(name in bound for one in inner for name in _element_owners(one)):
            return True
        if given.intersection(_element_owners(loop)):
            return True
    return False


def _element_owners(loop: ast.For | ast.While) -> Iterator[str]:
    """The names of which a loop reads elements by subscripts that are no slices."""
    for child in loop.body:
        for node in nodes_of(child):
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load):
                parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                if not any(isinstance(part, ast.Slice) for part in parts):
                    yield node.value.id
