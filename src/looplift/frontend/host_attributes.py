"""Assignments to attributes of objects given from outside in; what these may hold then, and whether that is known, out.

The objects get their attributes when all is done; until then, reads of an attribute that is assigned somewhere go
through the scheduler. So nothing but the statements themselves may read them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from looplift.frontend.host_flow import Flow, refuse
from looplift.frontend.host_values import Atom, External, Host, is_none
from looplift.runtime.waves_attributes import Attributes

if TYPE_CHECKING:
    from looplift.frontend.host_routine import Routine


def assign(flow: Flow, routine: Routine, target: ast.Attribute, atoms: set[Atom]) -> None:
    """``owner.name = value``: any object of that class may have it then, however it is reached."""
    from looplift.frontend.host_expressions import evaluate

    owners = evaluate(flow, routine, target.value)
    if not all(is_none(owner) or _is_settable(owner, target.attr) for owner in owners):
        refuse("memory-dependence", f"what '{ast.unparse(target)} = ...' does is not known", target)
    kinds = flow.assigned.setdefault(target.attr, {})
    for owner in owners:
        if isinstance(owner, External):
            flow.add(kinds.setdefault(owner.type, set()), atoms)
    for atom in list(flow.contents):
        if isinstance(atom, External) and atom.type in kinds:
            flow.add(flow.inside(atom).fields.setdefault(target.attr, set()), kinds[atom.type])


def update(flow: Flow, routine: Routine, statement: ast.AugAssign, atoms: set[Atom]) -> None:
    """``owner.name += value``, of numbers and text, which no other name sees."""
    target = statement.target
    assert isinstance(target, ast.Attribute)
    if not isinstance(target.value, ast.Name) or not all(isinstance(atom, Host) for atom in atoms):
        refuse("memory-dependence", f"'{ast.unparse(target)}' is changed in place", statement)
    assign(flow, routine, target, atoms)


def _is_settable(owner: Atom, name: str) -> bool:
    return isinstance(owner, External) and Attributes.is_plain(owner.type, name)


def check_assigned(flow: Flow, node: ast.AST) -> None:
    """What is assigned owns its memory, and no other code looks at the objects meanwhile."""
    from looplift.frontend.host import check_containers
    from looplift.frontend.host_cut import lanes_of, view_sites

    views = view_sites(flow) if flow.assigned else set()
    for name, kinds in flow.assigned.items():
        for kind, atoms in kinds.items():
            check_containers(flow, name, atoms, node)
            if lanes_of(flow, atoms) & views:
                refuse("aliasing", f"the attribute '{name}' may share memory with another tensor", node)
            _check_unseen(flow, kind, node)


COMPARED = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
SHOWN = ("__repr__", "__str__", "__format__")


def _check_unseen(flow: Flow, kind: type, node: ast.AST) -> None:
    """Nothing runs methods of a class that the statements do not name."""
    from looplift.frontend.host_cut import held_by

    if kind.__hash__ not in (None, object.__hash__):
        refuse("unknown-call", f"the hash of a '{kind.__name__}' may depend on an attribute that is set", node)
    compared, shown = (
        any(getattr(kind, name) is not getattr(object, name) for name in names) for names in (COMPARED, SHOWN)
    )
    for part in flow.values if compared or shown else ():
        if compared and isinstance(part, ast.Compare) and not isinstance(part.ops[0], (ast.Is, ast.IsNot)):
            seen = [part.left, *part.comparators]
        elif shown and isinstance(part, ast.JoinedStr):
            seen = [item.value for item in part.values if isinstance(item, ast.FormattedValue)]
        elif shown and isinstance(part, ast.Call) and part not in flow.calls and part not in flow.operations:
            seen = [*part.args, *(keyword.value for keyword in part.keywords)]
        else:
            continue
        held = (atom for one in seen for atom in held_by(flow, flow.values.get(one, set())))
        if any(isinstance(atom, External) and atom.type is kind for atom in held):
            refuse("unknown-call", f"'{ast.unparse(part)}' may run code of a '{kind.__name__}'", part)
