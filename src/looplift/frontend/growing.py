"""``a.append(x)``, ``a.extend(xs)`` and ``a += xs`` of lists that the region makes: one append for each item."""

from __future__ import annotations

import ast

from looplift.base.syntax import nodes_of
from looplift.frontend import attributes, expressions, loops, statements, structures
from looplift.frontend.names import assigned_names, updated_names
from looplift.frontend.scope import Builder, Structure, Value
from looplift.ir.grammar import Append, Let, Store, Var, uses, walk


def append(build: Builder, ref: Value, item: Value) -> bool:
    """Whether the value is a list that takes the item."""
    if isinstance(ref, Structure):
        ref.method(build, "append", [item], {})
        return True
    ref = build.atom(ref)
    if not isinstance(ref, Var):
        return False
    ref = attributes.grown(build, ref)
    structures.append(build, ref, item)
    build.add(Append(ref, build.atom(item), build.span))
    return True


def extend(build: Builder, owner: ast.expr, items: ast.expr) -> bool:
    """Whether ``owner`` is a list that the region makes, and was made longer by these items."""
    if not isinstance(owner, ast.Name):
        return False
    ref = build.lookup(owner.id)
    if not isinstance(ref, Var) or ref not in build.sites:
        return False
    if isinstance(items, ast.List | ast.Tuple) and not any(isinstance(item, ast.Starred) for item in items.elts):
        for value in [expressions.evaluate(build, item) for item in items.elts]:
            append(build, ref, value)
        return True
    name = f"_item_{next(build.counter)}"
    call = ast.Call(ast.Attribute(owner, "append", ast.Load()), [ast.Name(name, ast.Load())], [])
    loop = ast.For(ast.Name(name, ast.Store()), items, [ast.Expr(call)], [])
    ast.copy_location(loop, items)
    statements.translate(build, ast.fix_missing_locations(loop))
    build.env.pop(name, None)
    return True


def put_in_order(build: Builder, name: str, keywords: list[ast.keyword]) -> bool:
    """``a.sort()`` of a list that nobody knows by another name is ``a = sorted(a)``."""
    if not _is_alone(build, name) or any(word.arg != "reverse" for word in keywords):
        return False
    words = {str(word.arg): build.atom(expressions.evaluate(build, word.value)) for word in keywords}
    build.env[name] = build.emit("builtin.sorted", build.atom(build.env[name]), hint=name, **words)
    return True


_ONLY_READ = ("getitem", "iter_item", "iter_len", "builtin.len", "builtin.sum", "builtin.max", "builtin.min")


def _is_alone(build: Builder, name: str) -> bool:
    """Whether a name holds a list made in the current block, with no other name or holder."""
    ref = build.env.get(name)
    made = [s for s in build.blocks[-1] if isinstance(s, Let) and s.var is ref]
    if not isinstance(ref, Var) or not made or made[0].op.name not in ("list", "builtin.sorted"):
        return False
    others = [value for other, value in build.env.items() if other != name]
    if any(isinstance(value, Structure) or ref in loops.leaves(value) for value in others):
        return False
    for statement in walk(build.blocks[-1][build.blocks[-1].index(made[0]) :]):
        match statement:
            case Append(ref=list_, value=item) if list_ is ref and item is not ref:
                continue
            case Let(op=op) if op.name in _ONLY_READ:
                continue
            case Store(ref=list_, value=item) if list_ is ref and item is not ref:
                continue
        if ref in uses(statement):
            return False
    return True


def rebound(build: Builder, loop: ast.For | ast.While) -> list[str]:
    """The names that a loop binds anew; ``a += [x]`` makes a list longer, which stays the list that it is."""
    names = assigned_names([loop])
    names += [name for name in updated_names(loop) if name in build.env and name not in names]
    lists = {name for name in names if build.env.get(name) in build.sites}
    if not lists:
        return names
    nodes = [node for node in nodes_of(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    added = [node.target for node in nodes_of(loop) if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add)]
    bound = {node.id for node in nodes if not any(node is target for target in added)}
    return [name for name in names if name in bound or name not in lists]
