"""Tensors whose values the host needs: which expressions it computes itself, and which it waits for.

What depends only on tensors given from outside is computed by the host as written. For others, all that was recorded
so far runs first. Either is found while the analysis runs, which then begins anew.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from looplift.base.data import dataclass, field

if TYPE_CHECKING:
    from looplift.frontend.host_flow import Flow, Operation
    from looplift.frontend.host_values import Atom

Place = tuple[str, int, int, int | None, int | None]


class Again(Exception):
    """The analysis begins anew, with what was found."""


def place_of(node: ast.AST) -> Place:
    """Where an expression stands; the same in each analysis."""
    names = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    return type(node).__name__, *(getattr(node, name, -1) for name in names)  # type: ignore[return-value]


@dataclass(eq=False)
class Timing:
    """Places of operations that the host computes, and of values that it waits for."""

    early: set[Place] = field(default_factory=set)
    waited: set[Place] = field(default_factory=set)
    late: set[Place] = field(default_factory=set)

    def check_early(self, flow: Flow, node: ast.AST, operation: Operation) -> None:
        """What the host computes may not need a tensor of the loop after all; then nothing like it is early."""
        from looplift.frontend.host_values import Lane, Pack

        for part in (*operation.arguments, *operation.keywords.values()):
            if any(isinstance(atom, (Lane, Pack)) for atom in _parts(flow, part) or ()):
                self.late.add(place_of(node))
                self.early.clear()
                raise Again

    def is_early(self, node: ast.AST) -> bool:
        return bool(self.early) and place_of(node) in self.early

    def is_waited(self, node: ast.AST) -> bool:
        return bool(self.waited) and place_of(node) in self.waited


def need_value(flow: Flow, atoms: set[Atom], node: ast.AST, shown: bool = False) -> None:
    """The host needs the value of an expression that may hold tensors of the loop.

    Where its text is ``shown``, and not that of a number, one sees of which operation the tensor came.
    """
    found = _operations(flow, atoms, set())
    if found is None:
        if shown:
            from looplift.frontend.host_flow import refuse

            refuse("recursion", f"the text of '{ast.unparse(node)}' is that of a tensor that the loop computes", node)
        flow.timing.waited.add(place_of(node))
    else:
        flow.timing.early |= found
    raise Again


def _operations(flow: Flow, atoms: set[Atom], seen: set[int]) -> set[Place] | None:
    """The operations that these tensors come from, if all of them start at tensors given from outside."""
    from looplift.frontend.host_values import Lane, Pack

    nodes = {site: node for node, site in flow.sites.items()}
    found: set[Place] = set()
    for atom in atoms:
        if isinstance(atom, Pack):
            return None
        if not isinstance(atom, Lane):
            continue
        node = nodes[atom.site]
        operation = flow.operations.get(node)
        if atom.site in seen or operation is None or operation.kind in ("rows", "number"):
            return None
        if isinstance(node, (ast.AugAssign, ast.Assign)) or place_of(node) in flow.timing.late:
            return None
        found.add(place_of(node))
        for part in (*operation.arguments, *operation.keywords.values()):
            inner = _parts(flow, part)
            deeper = None if inner is None else _operations(flow, inner, seen | {atom.site})
            if deeper is None:
                return None
            found |= deeper
    return found


def _parts(flow: Flow, node: ast.expr) -> set[Atom] | None:
    """What an operand may hold, item by item for a display; None for other containers of tensors."""
    from looplift.frontend.host_values import Container

    if isinstance(node, (ast.List, ast.Tuple)):
        parts = [_parts(flow, item) for item in node.elts]
        return None if None in parts else set().union(*filter(None, parts))
    atoms = flow.values.get(node, set())
    if any(isinstance(atom, Container) for atom in atoms):
        return None
    return atoms
