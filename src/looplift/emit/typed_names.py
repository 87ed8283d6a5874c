"""Statements in; the same out, in which a name that is bound anew at the end of a straight way is another name.

words = set(words)          becomes          words_2 = set(words)
if "a" in words: ...                         if "a" in words_2: ...
"""

from __future__ import annotations

import ast
import copy

from looplift.base.syntax import nodes_of


def with_versions(statements: list[ast.stmt], parameters: set[str], held: set[str]) -> list[ast.stmt]:
    """``parameters`` are bound before; ``held`` are names that functions inside share, which stay as they are."""
    bound, current, counts = set(parameters), dict[str, str](), dict[str, int]()
    out: list[ast.stmt] = []
    for statement in statements:
        made = _Renamed(current).visit(copy.deepcopy(statement))
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]) if name in bound and name not in held:
                counts[name] = counts.get(name, 1) + 1
                current[name] = f"{name}_{counts[name]}_"
                made.targets[0].id = current[name]
        bound |= {one.id for one in nodes_of(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        out.append(made)
    return out


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]):
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self.names:
            node.id = self.names[node.id]
        return node
