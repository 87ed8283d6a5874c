"""From tests of types to what a name may hold where they are passed: ``if isinstance(tree, tuple): … else: …``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from looplift.base.data import dataclass
from looplift.base.syntax import nodes_of
from looplift.frontend.host_values import Atom, Container, External, Live, is_none, is_tensor_atom

if TYPE_CHECKING:
    from looplift.frontend.host_flow import Flow
    from looplift.frontend.host_routine import Routine


@dataclass(frozen=True)
class Restriction:
    """A name holds an instance of one of the classes, or of none of them."""

    name: str
    classes: tuple[type, ...]
    holds: bool

    def allows(self, atom: Atom) -> bool:
        found = _is_instance(atom, self.classes)
        return found is None or found is self.holds


def restricted(flow: Flow, name: str, atoms: set[Atom]) -> set[Atom]:
    """What a name may hold at the place that is looked at."""
    for one in flow.restrictions:
        if one.name == name:
            atoms = {atom for atom in atoms if one.allows(atom)}
    return atoms


def restriction(
    flow: Flow, routine: Routine, test: ast.expr, *, holds: bool, parts: Sequence[ast.AST]
) -> list[Restriction]:
    """What is known in these parts of the text, in which the test holds or does not, if they do not bind the name."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return restriction(flow, routine, test.operand, holds=not holds, parts=parts)
    match test:
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kinds]) if name in routine.locals:
            classes = _classes(flow, kinds)
        case _:
            return []
    names = [node for part in parts for node in nodes_of(part) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    return [] if classes is None or name in bound else [Restriction(name, classes, holds)]


def leaves(statements: list[ast.stmt]) -> bool:
    """Whether control never goes from these statements to the next."""
    match statements[-1:]:
        case [ast.Return() | ast.Raise() | ast.Continue() | ast.Break()]:
            return True
        case [ast.If(body=body, orelse=orelse)]:
            return leaves(body) and leaves(orelse)
    return False


def _classes(flow: Flow, node: ast.expr) -> tuple[type, ...] | None:
    """The classes that ``isinstance`` is asked for, None where they are not known."""
    items = node.elts if isinstance(node, ast.Tuple) else [node]
    found: list[Any] = []
    for item in items:
        atoms = flow.values.get(item, set())
        if len(atoms) != 1 or not all(isinstance(atom, Live) and isinstance(atom.value, type) for atom in atoms):
            return None
        found += [atom.value for atom in atoms if isinstance(atom, Live)]
    plain = all(type(one).__instancecheck__ in (type.__instancecheck__, _tensor_check()) for one in found)
    return tuple(found) if plain else None


def _tensor_check() -> Any:
    import torch

    return type(torch.Tensor).__instancecheck__


def _is_instance(atom: Atom, classes: tuple[type, ...]) -> bool | None:
    """Whether a value is an instance of one of the classes; None where that is not known."""
    import torch

    if is_tensor_atom(atom):
        if any(issubclass(torch.Tensor, one) for one in classes):
            return True
        return None if any(issubclass(one, torch.Tensor) for one in classes) else False
    match atom:
        case _ if is_none(atom):
            return None
        case External():
            return issubclass(atom.type, classes)
        case Container(kind=kind) if kind in KINDS:
            return issubclass(KINDS[kind], classes)
    return None


KINDS: dict[str, type] = {kind.__name__: kind for kind in (list, tuple, set, dict)}
