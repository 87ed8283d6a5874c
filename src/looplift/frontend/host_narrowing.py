"""From tests to what a name may hold where they are passed.

if isinstance(tree, tuple): … else: …      of which classes
if node.is_leaf: … else: …                 which modules, whose attributes are guarded
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from looplift.base.data import dataclass
from looplift.base.syntax import nodes_of
from looplift.frontend.host_values import Atom, Container, External, Live, is_module, is_none, is_tensor_atom

if TYPE_CHECKING:
    from looplift.frontend.host_flow import Flow
    from looplift.frontend.host_routine import Routine


@dataclass(frozen=True)
class Restriction:
    """A name holds an instance of one of the classes, or of none of them."""

    name: str
    classes: tuple[type, ...]
    holds: bool

    def allows(self, flow: Flow, atom: Atom) -> bool:
        found = _is_instance(atom, self.classes)
        return found is None or found is self.holds


@dataclass(frozen=True)
class Asked:
    """An attribute of a name is true, or is what it is compared to, or is not."""

    name: str
    attribute: str
    value: Any
    holds: bool

    def allows(self, flow: Flow, atom: Atom) -> bool:
        from looplift.frontend.host_expressions import MISSING, is_literal, module_slot

        if not isinstance(atom, Live) or not is_module(atom.value) or self.attribute in flow.assigned:
            return True
        home, stored = atom.path or flow.homes.get(id(atom.value)), module_slot(atom.value, self.attribute)
        if home is None or stored is MISSING or not (is_literal(stored) or self.value is None):
            return True
        place = f"{home}.{self.attribute}"
        if self.value is None:
            flow.guard(f"{place} is None", stored is None)
            return (stored is None) is self.holds
        flow.guard(place, stored)
        found = bool(stored) if self.value is True else stored == self.value
        return found is self.holds


def restricted(flow: Flow, name: str, atoms: set[Atom]) -> set[Atom]:
    """What a name may hold at the place that is looked at."""
    for one in flow.restrictions:
        if one.name == name:
            atoms = {atom for atom in atoms if one.allows(flow, atom)}
    return atoms


def restriction(
    flow: Flow, routine: Routine, test: ast.expr, *, holds: bool, parts: Sequence[ast.AST]
) -> list[Restriction | Asked]:
    """What is known in these parts of the text, in which the test holds or does not, if they do not bind the name."""
    found: Restriction | Asked
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return restriction(flow, routine, operand, holds=not holds, parts=parts)
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kinds]):
            if (classes := _classes(flow, kinds)) is None:
                return []
            found = Restriction(name, classes, holds)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            found = Asked(name, attribute, True, holds)
        case ast.Compare(
            left=ast.Attribute(value=ast.Name(id=name), attr=attribute),
            ops=[ast.Is() | ast.Eq() | ast.IsNot() | ast.NotEq() as sign],
            comparators=[ast.Constant(value=str() | None as value)],
        ):
            found = Asked(name, attribute, value, holds is isinstance(sign, ast.Is | ast.Eq))
        case _:
            return []
    names = [node for part in parts for node in nodes_of(part) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    return [found] if name in routine.locals and name not in bound else []


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
        case Live(value=value) if is_module(value):
            return isinstance(value, classes)
        case External():
            return issubclass(atom.type, classes)
        case Container(kind=kind) if kind in KINDS:
            return issubclass(KINDS[kind], classes)
    return None


KINDS: dict[str, type] = {kind.__name__: kind for kind in (list, tuple, set, dict)}
