"""The rank of the result of a tensor operation, from its family and the ranks of its operands."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from looplift.frontend.host_values import Container, Host, Live, is_tensor_atom

if TYPE_CHECKING:
    from looplift.frontend.host_flow import Flow, Operation


def literal(node: ast.expr | None) -> object:
    """The value of a literal, or ``...`` where the node is none."""
    if node is None:
        return None
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return ...


def argument(operation: Operation, position: int, name: str) -> ast.expr | None:
    """An argument by position (the tensor is 0) or keyword."""
    if name in operation.keywords:
        return operation.keywords[name]
    return operation.arguments[position] if position < len(operation.arguments) else None


def matmul_rank(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return None
    if left < 1 or right < 1:
        return -1 if min(left, right) < 0 else None
    if left == 1 or right == 1:
        return max(left, right) - 2 if left == right else max(left, right) - 1
    return max(left, right)


def operand_rank(flow: Flow, node: ast.expr) -> int | None:
    """The rank of an operand; for a list of tensors that of its elements."""
    atoms = flow.values.get(node, set())
    if any(isinstance(atom, Container) for atom in atoms):
        return flow.rank(flow.elements(atoms, node))
    return flow.rank(atoms)


def function_rank(flow: Flow, operation: Operation) -> int | None:
    ranks = [operand_rank(flow, item) for item in operation.arguments]
    first = ranks[0] if ranks else -1
    match operation.family:
        case "elementwise":
            return None if None in ranks else max(ranks, default=-1)  # type: ignore[type-var]
        case "same":
            return first
        case "stack":
            return first + 1 if first is not None and first >= 0 else first
        case "unsqueeze" | "embedding":
            return first + 1 if first is not None and first >= 0 else first
        case "squeeze":
            known = isinstance(literal(argument(operation, 1, "dim")), int) and first is not None
            return (first - 1 if first > 0 else first) if known else None  # type: ignore[operator]
        case "drop":
            return first - 1 if first is not None and first >= 0 else first
        case "reduction":
            return _reduction_rank(operation, first)
        case "matmul":
            return matmul_rank(*ranks[:2]) if len(ranks) == 2 else None
        case "creation":
            return _sizes_rank(flow, operation.arguments[:1] if operation.name == "full" else operation.arguments)
        case "sizes":
            return _sizes_rank(flow, operation.arguments[1:]) if operation.kind == "method" else None
        case "flatten":
            return 1 if len(operation.arguments) == 1 and not operation.keywords else None
        case "scalar":
            return 0
        case "square":
            return 2
    return None


def _reduction_rank(operation: Operation, first: int | None) -> int | None:
    if first is None or first < 0:
        return first
    if set(operation.keywords) - {"dim", "keepdim", "dtype", "p", "unbiased", "correction"}:
        return None
    if operation.name in ("norm", "std", "var") and len(operation.arguments) > 1:
        return None  # of which dimensions come at another place
    axes = literal(argument(operation, 1, "dim"))
    keep = literal(argument(operation, 2, "keepdim"))
    if axes is ... or keep is ...:
        return None
    if axes is None:
        return 0 if not keep else None
    count = 1 if isinstance(axes, int) else len(axes) if isinstance(axes, (tuple, list)) else None
    if count is None:
        return None
    return first if keep else first - count


def _sizes_rank(flow: Flow, sizes: tuple[ast.expr, ...]) -> int | None:
    """``zeros(a, b)``, ``view((a, b))``: as many axes as sizes."""
    if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)):
        sizes = tuple(sizes[0].elts)
    for size in sizes:
        atoms = flow.values.get(size, set())
        if any(map(is_tensor_atom, atoms)) or not all(isinstance(atom, (Host, Live)) for atom in atoms):
            return None
    if any(not isinstance(size, ast.Constant) and len(sizes) == 1 and _may_be_tuple(flow, size) for size in sizes):
        return None
    return len(sizes)


def _may_be_tuple(flow: Flow, size: ast.expr) -> bool:
    """``torch.zeros(size)`` of a value that could be a tuple as well as a number."""
    match size:
        case ast.BinOp() | ast.UnaryOp() | ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant()):
            return False
        case ast.Call(func=ast.Name(id="len")) | ast.Call(func=ast.Attribute(attr="size"), args=[_]):
            return False
    atoms = flow.values.get(size, set())
    return not all(isinstance(atom, Live) and isinstance(atom.value, int) for atom in atoms)


def pack_arity(operation: Operation) -> int | None:
    """How many results ``chunk(5)`` or ``split([a, b])`` has."""
    if operation.name == "chunk":
        count = literal(argument(operation, 1, "chunks"))
        return count if isinstance(count, int) else None
    if operation.name == "split":
        sizes = argument(operation, 1, "split_size_or_sections") or argument(operation, 1, "split_size")
        return len(sizes.elts) if isinstance(sizes, (ast.List, ast.Tuple)) else None
    return {"topk": 2, "sort": 2, "slogdet": 2, "max": 2, "min": 2}.get(operation.name)
