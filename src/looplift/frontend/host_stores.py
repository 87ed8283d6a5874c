"""Stores into tensors that a routine has just made in, tensor operations that give the tensor after them out.

``v = torch.zeros(4)``, then ``v[k] = 1.0``: the tensor after the store takes the name of the one before. That is the
same only if nothing else has seen it. Several subscripts and slices, as in ``T[:3, 3] = t``, are literals.
"""

from __future__ import annotations

import ast

from looplift.base.data import dataclass
from looplift.base.syntax import nodes_of
from looplift.frontend.host_expressions import is_number
from looplift.frontend.host_filled import MADE, PLACES
from looplift.frontend.host_flow import Flow, Operation, refuse
from looplift.frontend.host_routine import Routine
from looplift.frontend.host_values import HOST, Atom, Lane, Real, is_tensor_atom


def store_element(flow: Flow, routine: Routine, statement: ast.Assign, atoms: set[Atom]) -> bool:
    """Takes ``v[k] = value`` of a name for a tensor of the loop as an operation; False where it is something else."""
    from looplift.frontend.host_expressions import evaluate

    (target,) = statement.targets
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
        return False
    owners = evaluate(flow, routine, target.value)
    if not owners or not all(isinstance(owner, Lane) for owner in owners):
        return False
    literals = literal_part(target.slice)
    index = {HOST} if literals is not None else evaluate(flow, routine, target.slice)
    rank, inner = flow.rank(owners), flow.rank(atoms)
    tensors = all(map(is_tensor_atom, atoms))
    if rank == -1 or not index or not atoms or (tensors and inner == -1):
        return True  # nothing is known of them yet
    if literals is not None:
        fits = rank is not None and (inner == rank - literals.count if tensors else atoms == {HOST})
    else:
        fits = (rank is not None and inner == rank - 1) if tensors else (rank == 1 and atoms == {HOST})
        fits = fits and is_number(flow, target.slice)
    if not fits:
        refuse("memory-dependence", f"'{ast.unparse(statement)}' stores other than an element", statement)
    operation = Operation("setitem", "store", "store", (target.value, target.slice, statement.value))
    flow.stores[statement] = routine
    made = flow.lane(statement, operation, rank)
    flow.record(statement, made)
    flow.add(routine.variables[target.value.id], made)
    return True


@dataclass(frozen=True)
class Literals:
    """Subscripts and slices as the source has them: the text of a tuple, and how many of them are numbers."""

    text: str
    count: int


def literal_part(index: ast.expr) -> Literals | None:
    """``:3, 3`` as ``(slice(None, 3, None), 3)``; None for a single number, and for what is no literal."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    texts = [_literal(part) for part in parts]
    numbers = [part for part in parts if not isinstance(part, ast.Slice)]
    if (len(parts) == 1 and numbers) or None in texts:
        return None
    return Literals(f"({', '.join(map(str, texts))},)", len(numbers))


def _literal(part: ast.expr | None) -> str | None:
    match part:
        case None:
            return "None"
        case ast.Constant(value=int(value)) if type(value) is int:
            return str(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))) if type(value) is int:
            return str(-value)
        case ast.Slice(lower=lower, upper=upper, step=None):
            bounds = _literal(lower), _literal(upper)
            return None if None in bounds else f"slice({bounds[0]}, {bounds[1]})"
    return None


def filled(flow: Flow, node: ast.Call) -> set[Atom]:
    """What a tensor is after the stores of a loop: ``_filled(tensor, rows, _places(places))``."""
    assert isinstance(node.func, ast.Name)
    if node.func.id == PLACES:
        numbers = {
            part for place in flow.elements(flow.values[node.args[0]], node) for part in flow.elements({place}, node)
        }
        if any(isinstance(part, Lane) for part in numbers):
            refuse("memory-dependence", "the loop stores at a place that it computes by tensors", node)
        return {Real(2)}
    owners, rows = flow.values[node.args[0]], flow.values[node.args[1]]
    items = flow.elements(rows, node)
    if not owners or not items:
        return set()  # nothing is known of them yet
    if not all(isinstance(owner, Lane | Real) for owner in owners) or not all(map(is_tensor_atom, items)):
        refuse("memory-dependence", f"'{ast.unparse(node.args[0])}' is given something else than tensors", node)
    operation = Operation(node.func.id.strip("_"), "unknown", "filled", tuple(node.args))
    return flow.lane(node, operation, flow.rank(owners))


def check_stores(flow: Flow) -> None:
    """Each tensor that is stored into was made by the routine itself, and is not used before its last store."""
    owners = {id(_owner(statement)) for statement in flow.stores}
    for statement, routine in flow.stores.items():
        name = _owner(statement).id
        nodes = [node for part in routine.body for node in nodes_of(part)]
        bindings = [node for node in nodes if name in _bound(node)]
        made = [node for node in bindings if _makes(flow, node)]
        if _is_repeated(nodes, statement, made):  # waves would keep a copy of the tensor for each store
            refuse("memory-dependence", f"the loop stores into '{name}' again and again", statement)
        end = _end_of(statement)
        others = [node for node in bindings if node not in made and _line_of(node) <= end]
        if name in routine.parameters or not made or others:
            refuse("aliasing", f"'{name}' is stored into and may be known by another name", statement)
        uses = [node for node in nodes if _is_load(node, name) and id(node) not in owners]
        if any(_line_of(use) <= end for use in uses):
            refuse("memory-dependence", f"'{name}' is used before the loop stores into it", statement)


def _owner(statement: ast.stmt) -> ast.Name:
    """``v`` of ``v[k] = value``."""
    assert isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript)
    owner = statement.targets[0].value
    assert isinstance(owner, ast.Name)
    return owner


def _bound(node: ast.AST) -> set[str]:
    """Names that a node binds in any other way than by a store into them."""
    match node:
        case ast.Assign(targets=targets):
            parts = targets
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.For(target=target):
            parts = [target]
        case ast.comprehension(target=target) | ast.NamedExpr(target=target):
            parts = [target]
        case _:
            return set()
    names = (item for part in parts for item in nodes_of(part))
    return {item.id for item in names if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load)}


def _makes(flow: Flow, node: ast.AST) -> bool:
    """Whether a statement gives a single name a tensor that is not made of other ones."""
    match node:
        case ast.Assign(targets=[ast.Name()], value=value):
            return value in flow.operations and flow.operations[value].name in (*MADE, "eye")
    return False


def _is_load(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _line_of(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _end_of(node: ast.AST) -> int:
    return getattr(node, "end_lineno", None) or _line_of(node)


def _is_repeated(nodes: list[ast.AST], statement: ast.stmt, made: list[ast.AST]) -> bool:
    """Whether a loop is around a store, and does not make the tensor anew in front of it in each iteration."""
    loops = [node for node in nodes if isinstance(node, (ast.For, ast.While))]
    around = [loop for loop in loops if any(node is statement for node in nodes_of(loop))]
    innermost = max(around, key=lambda loop: (loop.lineno, loop.col_offset), default=None)
    if innermost is None:
        return False
    return not any(node in made and _end_of(node) < statement.lineno for node in innermost.body)
