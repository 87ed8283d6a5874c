"""A region that appends to lists of its caller, in; the same with lists of its own, which the caller's grow by, out.

for x in rows:                          new_scores = []
    scores.append(f(x))                 for x in rows:
                                            new_scores.append(f(x))
                                        scores.extend(new_scores)

Nothing in the region may read such a list, by this name or another one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from looplift.base.data import dataclass
from looplift.base.syntax import fresh_copy, nodes_of
from looplift.frontend.names import COMPREHENSIONS, FUNCTIONS, fresh_name, names_of

PLAIN = (ast.Name, ast.Tuple, ast.Constant)
"""What may be returned: it is spelled as it is, after the lists have grown."""
CONTAINERS = (list, tuple, dict, set, frozenset)


@dataclass
class OuterLists:
    """``names``: the lists of the caller, with those that the statements fill."""

    names: dict[str, str]
    statements: list[ast.stmt]
    returned: ast.expr | None = None

    @property
    def endings(self) -> list[str]:
        last = [] if self.returned is None else [f"return {ast.unparse(self.returned)}"]
        return [*(f"{name}.extend({own})" for name, own in self.names.items()), *last]

    @property
    def live_out(self) -> list[str]:
        """What the statements must hand on beside what follows the region reads."""
        bound = names_of(self.statements).stores
        read = set() if self.returned is None else names_of(self.returned).loads
        return [*self.names.values(), *sorted(read & bound)]

    def guards(self, values: Mapping[str, Any], paths: Iterable[str]) -> list[str]:
        """That no other list which is read is one of these."""
        lists = [name for name, value in values.items() if isinstance(value, list) and name not in self.names]
        lists += [path for path in paths if path not in values and path.replace(".", "").isidentifier()]
        names = [*self.names]
        pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
        return [f"{a} is not {b}" for a, b in (*pairs, *((name, other) for name in names for other in lists))]


def outer_lists(statements: list[ast.stmt], values: Mapping[str, Any], arguments: Iterable[str]) -> OuterLists | None:
    """None where there are no such lists, or what is read may hold one of them."""
    found = {name for name in arguments if type(values.get(name)) is list}
    if not found:
        return None
    returned = None
    if isinstance(statements[-1], ast.Return):
        returned = statements[-1].value or ast.Constant(None)
        statements = statements[:-1]
        if not statements or not all(isinstance(node, PLAIN) for node in nodes_of(returned)):
            return None
    found &= _only_appended_to(statements, found)
    if not found or any(holds_containers(value) for name, value in values.items() if name not in found):
        return None
    taken = names_of(statements)
    own = {name: fresh_name(f"new_{name}", {*values} | taken.loads | taken.stores) for name in sorted(found)}
    renamed = _Renamed(own)
    made: list[ast.stmt] = [
        ast.Assign([ast.Name(name, ast.Store())], ast.List([], ast.Load())) for name in own.values()
    ]
    for statement in made:
        ast.fix_missing_locations(ast.copy_location(statement, statements[0]))
    return OuterLists(own, [*made, *(renamed.visit(fresh_copy(statement)) for statement in statements)], returned)


def _only_appended_to(statements: list[ast.stmt], names: set[str]) -> set[str]:
    """Those of the names that stand in ``name.append(value)`` alone, as statements of their own."""
    proper: set[int] = set()
    appended: set[str] = set()
    hidden: set[str] = set()
    every = [node for statement in statements for node in nodes_of(statement)]
    for node in every:
        match node:
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=name) as owner, attr="append"), args=[_])
            ):
                proper.add(id(owner))
                appended.add(name)
        if isinstance(node, (*FUNCTIONS, *COMPREHENSIONS)):
            hidden |= {inner.id for inner in nodes_of(node) if isinstance(inner, ast.Name)}
    others = {node.id for node in every if isinstance(node, ast.Name) and id(node) not in proper}
    return names & appended - others - hidden


def holds_containers(value: Any) -> bool:
    items = [*value, *value.values()] if isinstance(value, dict) else value
    return isinstance(value, CONTAINERS) and any(isinstance(item, CONTAINERS) for item in items)


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]):
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(self.names.get(node.id, node.id), node.ctx), node)
