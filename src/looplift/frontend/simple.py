"""Statements that may join the loops of a region: allocations before them, plain computations behind."""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Callable, Container
from typing import Any

from looplift.base.syntax import children_of, nodes_of
from looplift.frontend.names import COMPREHENSIONS

Lookup = Callable[[str], Any]
"""The value of a global name; None for a local one or one that is not bound."""

_MODULES = frozenset(("torch", "numpy", "math", "operator", "itertools", "collections"))
_BUILTINS = frozenset((
    "len", "int", "float", "bool", "complex", "list", "tuple", "dict", "set", "range", "min", "max", "sum", "abs",
    "round", "zip", "enumerate", "reversed", "sorted", "isinstance", "str",
))  # fmt: skip
_COLLECTIONS = frozenset(("defaultdict", "deque", "OrderedDict", "Counter"))
_CREATORS = frozenset((
    "zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like", "arange", "eye", "tensor",
    "as_tensor", "array", "asarray", "linspace", "clone", "copy", "copy_", "detach", "size", "dim", "numel",
    "new_zeros", "new_ones", "new_full", "new_empty", "new_tensor", "float", "double", "long", "item", "finfo", "iinfo",
))  # fmt: skip
_DENIED = frozenset(("backward", "register_hook", "retain_grad", "requires_grad_", "share_memory_", "apply_", "map_"))
_CONTAINER_METHODS = frozenset(("append", "extend", "get", "keys", "values", "items", "copy", "tolist", "astype"))
_MODULE_METHODS = frozenset(("parameters", "named_parameters", "buffers", "named_buffers"))


def is_loop(node: ast.stmt) -> bool:
    """A loop statement, or an assignment, return or expression with a comprehension."""
    match node:
        case ast.For() | ast.While():
            return True
        case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Return() | ast.Expr():
            return any(isinstance(child, COMPREHENSIONS) for child in _own_nodes(node))
    return False


def _own_nodes(node: ast.AST):
    """The nodes of a statement, without those of functions inside."""
    yield node
    for child in children_of(node):
        if not isinstance(child, ast.Lambda | ast.FunctionDef):
            yield from _own_nodes(child)


def own_loops(nodes: list[ast.stmt]) -> list[ast.AST]:
    """All loops in statements, without those of functions and classes inside, in the order of the source."""
    found: list[ast.AST] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While, *COMPREHENSIONS)):
            found.append(node)
        if not isinstance(node, ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for child in children_of(node):
                visit(child)

    for node in nodes:
        visit(node)
    return found


def written_bases(nodes: list[ast.stmt]) -> set[str]:
    """Names whose objects are written to: ``x`` in ``x[i] = v``, ``x.append(v)`` and ``x.add_(v)``."""
    found: set[str] = set()
    for node in (child for statement in nodes for child in nodes_of(statement)):
        match node:
            case ast.Subscript(value=base, ctx=ast.Store()):
                while isinstance(base, ast.Subscript | ast.Attribute):
                    base = base.value
            case ast.Call(func=ast.Attribute(value=ast.Name() as base, attr=name)):
                if name not in ("append", "extend", "add") and not name.endswith("_"):
                    continue
            case _:
                continue
        if isinstance(base, ast.Name):
            found.add(base.id)
    return found


# ---------------------------------------------------------------- before the loops


def is_allocation(node: ast.stmt, lookup: Lookup) -> bool:
    """``x = []``, ``n = len(a)``, ``rows, cols = a.shape``, ``out = torch.zeros(n)``: cheap, and without effect."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return all(map(_is_plain_target, targets)) and _allocates(value, lookup)
        case ast.AnnAssign(target=ast.Name(), value=value) if value is not None:
            return _allocates(value, lookup)
    return False


def _is_plain_target(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple | ast.List):
        return all(map(_is_plain_target, node.elts))
    return isinstance(node, ast.Name)


def _allocates(node: ast.expr, lookup: Lookup) -> bool:
    inside = functools.partial(_allocates, lookup=lookup)
    match node:
        case ast.Constant() | ast.Name():
            return True
        case ast.UnaryOp(operand=operand):
            return inside(operand)
        case ast.BinOp(left=left, right=right):
            return inside(left) and inside(right)
        case ast.Attribute(value=value):
            return inside(value)
        case ast.Subscript(value=value, slice=ast.Constant() | ast.UnaryOp() | ast.Name()):
            return inside(value)
        case ast.Starred(value=ast.Attribute(attr="shape") as shape):
            return inside(shape)
        case ast.Starred(value=ast.Subscript(value=ast.Attribute(attr="shape") as shape, slice=ast.Slice())):
            return inside(shape)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return all(map(inside, items))
        case ast.Dict(keys=keys, values=values):
            return all(key is not None and inside(key) for key in keys) and all(map(inside, values))
        case ast.Call(func=func, args=args, keywords=keywords) if not _asks_for_gradients(node):
            creates = not isinstance(func, ast.Attribute) or func.attr in _CREATORS | _COLLECTIONS
            known = creates and _is_known(func, lookup)
            return known and all(map(inside, args)) and all(inside(keyword.value) for keyword in keywords)
    return False


def shapes(node: ast.stmt) -> bool:
    """``at = (0, 0)`` or ``at = None``: what a name is before loops that may bind it to a tuple."""
    match node:
        case ast.Assign(targets=[ast.Name()], value=ast.Tuple() | ast.Constant(value=None)):
            return True
        case ast.Assign(targets=[ast.Tuple() as names], value=ast.Tuple(elts=values)) if len(names.elts) == len(values):
            return any(isinstance(v, ast.Tuple) or (isinstance(v, ast.Constant) and v.value is None) for v in values)
    return False


def starts_list(node: ast.stmt, grown: Container[str], lookup: Lookup) -> bool:
    """``out = [x[0]]`` of a list that is among those that grow: computations are its items; ``h, out = x @ w, []``."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.List() as value):
            return name in grown and _computes(value, lookup)
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            pairs = zip(targets, values, strict=True)
            starts = any(isinstance(a, ast.Name) and a.id in grown and isinstance(b, ast.List) for a, b in pairs)
            return starts and all(map(_is_plain_target, targets)) and all(_computes(one, lookup) for one in values)
    return False


# ---------------------------------------------------------------- behind the loops and between them


def is_simple(node: ast.stmt, lookup: Lookup) -> bool:
    """A computation on tensors, numbers and containers that calls nothing but operations."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return all(_is_store(target, lookup) for target in targets) and _computes(value, lookup)
        case ast.AugAssign(target=target, value=value):
            return _is_store(target, lookup) and _computes(value, lookup)
        case ast.AnnAssign(target=target, value=value):
            return value is not None and _is_store(target, lookup) and _computes(value, lookup)
        case ast.Return(value=value):
            return value is None or _computes(value, lookup)
        case ast.Expr(value=ast.Call() as call):
            return _computes(call, lookup)
        case ast.If(test=test, body=body, orelse=orelse):
            return _computes(test, lookup) and all(is_simple(child, lookup) for child in body + orelse)
        case ast.Pass():
            return True
    return False


def is_raise(node: ast.stmt) -> bool:
    """Whether it raises an exception, which is made of anything that binds no names and is no loop."""
    return isinstance(node, ast.Raise) and not any(isinstance(child, _NEVER) for child in nodes_of(node))


def _is_store(node: ast.expr, lookup: Lookup) -> bool:
    match node:
        case ast.Name():
            return True
        case ast.Subscript(value=value, slice=index):
            return _computes(value, lookup) and _computes(index, lookup)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return all(_is_store(item, lookup) for item in items)
    return False


_NEVER = (ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda, ast.NamedExpr, *COMPREHENSIONS)


def _computes(node: ast.expr, lookup: Lookup) -> bool:
    for child in nodes_of(node):
        if isinstance(child, _NEVER):
            return False
        if isinstance(child, ast.Call) and (_asks_for_gradients(child) or not _is_known(child.func, lookup)):
            return False
    return True


def _asks_for_gradients(call: ast.Call) -> bool:
    """``torch.zeros(n, requires_grad=True)``: a leaf of torch's graph, which a region makes none of."""
    flags = (keyword.value for keyword in call.keywords if keyword.arg == "requires_grad")
    return any(not (isinstance(flag, ast.Constant) and flag.value is False) for flag in flags)


def _is_known(func: ast.expr, lookup: Lookup) -> bool:
    """Whether a call is of an operation: of torch, NumPy, math, a builtin, or a method that tensors or lists have."""
    match func:
        case ast.Name(id=name):
            return _is_operation(name, lookup(name))
        case ast.Attribute(value=value, attr=name):
            root = value
            while isinstance(root, ast.Attribute):
                root = root.value
            found = lookup(root.id) if isinstance(root, ast.Name) else None
            if isinstance(found, types.ModuleType):
                return found.__name__.partition(".")[0] in _MODULES
            return name in _CONTAINER_METHODS | _MODULE_METHODS or (name in _tensor_methods() and name not in _DENIED)
    return False


def _is_operation(name: str, value: Any) -> bool:
    if value is None:
        return False
    if name in _BUILTINS or name in _COLLECTIONS:
        return True
    module = getattr(value, "__module__", None) or ("torch" if getattr(_torch(), name, None) is value else "")
    return isinstance(module, str) and module.partition(".")[0] in _MODULES and not isinstance(value, type)


def _torch():
    import torch

    return torch


@functools.cache
def _tensor_methods() -> frozenset[str]:
    return frozenset(name for name in dir(_torch().Tensor) if not name.startswith("__"))
