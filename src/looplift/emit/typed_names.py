"""Statements in; the same out, in which a name that is bound anew at the end of a straight way is another name.

words = set(words)          becomes          words_2 = set(words)
if "a" in words: ...                         if "a" in words_2: ...
"""

from __future__ import annotations

import ast
import copy

from looplift.base.syntax import children_of, nodes_of
from looplift.emit.typed_scope import refuse

_FUNCTIONS = (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def with_versions(
    statements: list[ast.stmt], parameters: set[str], held: set[str]
) -> tuple[list[ast.stmt], dict[str, str]]:
    """``parameters`` are bound before; ``held`` are names that functions inside share, which stay as they are. Also
    the last name of each that has several."""
    bound, current, counts = set(parameters), dict[str, str](), dict[str, int]()
    out: list[ast.stmt] = []
    for statement in statements:
        made = Renamed(current).visit(copy.deepcopy(statement))
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]) if name in bound and name not in held:
                counts[name] = counts.get(name, 1) + 1
                current[name] = f"{name}_{counts[name]}_"
                made.targets[0].id = current[name]
        bound |= {one.id for one in nodes_of(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        out.append(made)
    return out, current


class Renamed(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]):
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self.names:
            node.id = self.names[node.id]
        return node


def stored_names(nodes: list[ast.stmt]) -> set[str]:
    """Names that statements bind, but not those of functions and comprehensions inside."""
    found: set[str] = set()
    left: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
            return
        if isinstance(node, ast.ClassDef | ast.AsyncFunctionDef):
            raise refuse(None, "a class or an asynchronous function")
        if isinstance(node, ast.Lambda):
            return
        if isinstance(node, _COMPREHENSIONS):
            visit(node.generators[0].iter)
            return
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        if isinstance(node, ast.Nonlocal | ast.Global):
            left.update(node.names)
        for child in children_of(node):
            visit(child)

    for node in nodes:
        visit(node)
    return found - left


def captured_names(nodes: list[ast.stmt]) -> set[str]:
    """Names that functions inside read or bind; a lambda that is no function of its own stands where it is used."""
    every = [one for node in nodes for one in nodes_of(node)]
    inner: list[ast.AST] = [one for one in every if isinstance(one, ast.FunctionDef)]
    inner += [one.value for one in every if isinstance(one, ast.Assign) and isinstance(one.value, ast.Lambda)]
    return {one.id for node in inner for one in nodes_of(node) if isinstance(one, ast.Name)}


def names_in_functions(nodes: list[ast.stmt]) -> set[str]:
    """Names that functions inside read or bind."""
    inner = [one for node in nodes for one in nodes_of(node) if isinstance(one, _FUNCTIONS)]
    return {one.id for node in inner for one in nodes_of(node) if isinstance(one, ast.Name)}
