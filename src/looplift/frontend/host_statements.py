"""From statements to what the names of a routine may hold."""

from __future__ import annotations

import ast

from looplift.frontend.host_attributes import assign, update
from looplift.frontend.host_expressions import evaluate, require_plain_truth
from looplift.frontend.host_flow import Flow, Operation, refuse
from looplift.frontend.host_narrowing import leaves, restriction
from looplift.frontend.host_routine import Routine
from looplift.frontend.host_stores import store_element
from looplift.frontend.host_timing import need_value
from looplift.frontend.host_values import ABSENT, NONE, Atom, Container, External, Lane, Pack, is_none, is_tensor_atom


def visit_block(flow: Flow, routine: Routine, statements: list[ast.stmt]) -> None:
    known = len(flow.restrictions)
    for position, statement in enumerate(statements):
        visit(flow, routine, statement)
        if isinstance(statement, ast.If):
            _restrict_rest(flow, routine, statement, statements[position + 1 :])
    del flow.restrictions[known:]


def _restrict_rest(flow: Flow, routine: Routine, statement: ast.If, rest: list[ast.stmt]) -> None:
    """What is known after an ``if`` of which one side leaves."""
    for side, holds in ((statement.body, False), (statement.orelse, True)):
        other = statement.orelse if side is statement.body else statement.body
        if leaves(side):
            flow.restrictions += restriction(flow, routine, statement.test, holds=holds, parts=[*other, *rest])


def _visit_side(flow: Flow, routine: Routine, test: ast.expr, side: list[ast.stmt], *, holds: bool) -> None:
    known = len(flow.restrictions)
    flow.restrictions += restriction(flow, routine, test, holds=holds, parts=side)
    visit_block(flow, routine, side)
    del flow.restrictions[known:]


def visit(flow: Flow, routine: Routine, statement: ast.stmt) -> None:
    match statement:
        case ast.Assign(targets=[ast.Attribute() as target], value=value):
            assign(flow, routine, target, evaluate(flow, routine, value))
        case ast.Assign(targets=targets, value=value):
            atoms = evaluate(flow, routine, value)
            if len(targets) == 1 and store_element(flow, routine, statement, atoms):
                return
            for target in targets:
                bind(flow, routine, target, atoms)
        case ast.AnnAssign(target=ast.Attribute() as target, value=value) if value is not None:
            assign(flow, routine, target, evaluate(flow, routine, value))
        case ast.AnnAssign(target=target, value=value) if value is not None:
            bind(flow, routine, target, evaluate(flow, routine, value))
        case ast.AugAssign():
            visit_update(flow, routine, statement)
        case ast.Expr(value=value):
            evaluate(flow, routine, value)
        case ast.Return(value=value):
            atoms = {NONE} if value is None else evaluate(flow, routine, value)
            flow.add(routine.returns, atoms)
        case ast.If(test=test, body=body, orelse=orelse):
            decide(flow, routine, test)
            _visit_side(flow, routine, test, body, holds=True)
            _visit_side(flow, routine, test, orelse, holds=False)
        case ast.While(test=test, body=body, orelse=orelse):
            decide(flow, routine, test)
            visit_block(flow, routine, body)
            visit_block(flow, routine, orelse)
        case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
            bind(flow, routine, target, flow.iterated(iterable, evaluate(flow, routine, iterable)))
            visit_block(flow, routine, body)
            visit_block(flow, routine, orelse)
        case ast.Assert(test=test):
            decide(flow, routine, test)
        case ast.Raise(exc=error):
            if not isinstance(error, ast.Call) or not isinstance(error.func, ast.Name):
                refuse("unsupported-syntax", "this 'raise' is not understood", statement)
        case ast.Delete(targets=targets):
            visit_delete(flow, routine, targets)
        case ast.Pass() | ast.Break() | ast.Continue():
            pass
        case _:
            _refuse_statement(statement)


def _refuse_statement(statement: ast.stmt) -> None:
    guarded = isinstance(statement, (ast.Try, ast.With))
    kind = type(statement).__name__.lower()
    code = "exception-handling" if guarded else "unsupported-syntax"
    refuse(code, f"a '{kind}' statement is not understood here", statement)


def decide(flow: Flow, routine: Routine, test: ast.expr) -> None:
    """A test on the host: it may not need the value of a tensor that the loop computes."""
    atoms = evaluate(flow, routine, test)
    require_host(flow, atoms, test)
    require_plain_truth(atoms, test)


def require_host(flow: Flow, atoms: set[Atom], node: ast.AST) -> None:
    if any(isinstance(atom, Lane) for atom in atoms):
        need_value(flow, atoms, node)


def visit_delete(flow: Flow, routine: Routine, targets: list[ast.expr]) -> None:
    for target in targets:
        match target:
            case ast.Name():
                pass
            case ast.Subscript(value=value, slice=index):
                evaluate(flow, routine, index)
                owners = evaluate(flow, routine, value)
                if not all(isinstance(owner, Container) for owner in owners):
                    refuse("memory-dependence", "the loop deletes from an object given from outside", target)
            case _:
                refuse("unsupported-syntax", "this 'del' is not understood", target)


def visit_update(flow: Flow, routine: Routine, statement: ast.AugAssign) -> None:
    """``x += y``: a new value for host values, in place for lists and tensors."""
    value = evaluate(flow, routine, statement.value)
    if not isinstance(statement.target, ast.Name):
        owner = evaluate(flow, routine, _as_load(statement.target, flow))
        if any(map(is_tensor_atom, owner | value)):
            refuse("aliasing", "a tensor in a container is changed in place", statement)
        if isinstance(statement.target, ast.Attribute):
            update(flow, routine, statement, owner | value)
            return
        bind(flow, routine, statement.target, owner | value)
        return
    variable = routine.variables.setdefault(statement.target.id, set())
    if any(isinstance(atom, External) or atom == ABSENT for atom in variable):
        refuse("memory-dependence", "the loop changes an object given from outside", statement)
    tensors = {atom for atom in variable | value if is_tensor_atom(atom)}
    if any(is_tensor_atom(atom) and not isinstance(atom, Lane) for atom in variable):
        refuse("aliasing", "a tensor given from outside is changed in place", statement)
    if tensors and not any(isinstance(atom, (Container, Pack)) for atom in variable):
        operation = Operation("update", "elementwise", "operator", (_as_load(statement.target, flow), statement.value))
        rank = join_ranks(flow.rank(variable), flow.rank(value))
        flow.accumulations[statement] = routine
        value = flow.lane(statement, operation, rank)
        flow.record(statement, value)
    for atom in variable:
        if isinstance(atom, Container):
            flow.add(flow.inside(atom).rest, flow.elements(value, statement.value))
    flow.add(variable, value)


def join_ranks(*ranks: int | None) -> int | None:
    return None if None in ranks else max(ranks, default=-1)  # type: ignore[type-var]


_LOADS: dict[int, tuple[ast.AST, ast.expr]] = {}


def _as_load(target: ast.expr, flow: Flow) -> ast.expr:
    """The target of an update, as an expression that reads it; always the same node for one target."""
    known = getattr(target, "_as_load", None)
    if known is None:
        known = ast.copy_location(ast.parse(ast.unparse(target), mode="eval").body, target)
        target._as_load = known  # type: ignore[attr-defined]
    return known


def bind(flow: Flow, routine: Routine, target: ast.expr, atoms: set[Atom]) -> None:
    match target:
        case ast.Name(id=name):
            flow.add(routine.variables.setdefault(name, set()), atoms)
            routine.locals.add(name)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            starred = False
            for position, part in enumerate(parts):
                if isinstance(part, ast.Starred):
                    starred = True
                    bind(flow, routine, part.value, {_rest(flow, atoms, part)})
                elif starred:
                    bind(flow, routine, part, _any_element(flow, atoms, part))
                else:
                    bind(flow, routine, part, element_at(flow, atoms, position, target))
        case ast.Subscript(value=value, slice=index):
            keys = evaluate(flow, routine, index)
            owners = evaluate(flow, routine, value)
            for owner in owners:
                store(flow, owner, index, keys, atoms, target)
        case _:
            refuse("memory-dependence", "this store into an attribute is not understood here", target)


def _rest(flow: Flow, atoms: set[Atom], node: ast.Starred) -> Atom:
    """The list that a starred target takes."""
    if any(isinstance(atom, Pack) or is_tensor_atom(atom) for atom in atoms):
        refuse("unsupported-syntax", "a starred target takes the parts of a tensor", node)
    return flow.container(node, "list", _any_element(flow, atoms, node))


def _any_element(flow: Flow, atoms: set[Atom], node: ast.AST) -> set[Atom]:
    return flow.elements({atom for atom in atoms if not is_none(atom)}, node)


def element_at(flow: Flow, atoms: set[Atom], position: int, node: ast.AST) -> set[Atom]:
    """What unpacking gives at one position."""
    found: set[Atom] = set()
    for atom in atoms:
        match atom:
            case _ if is_none(atom):
                pass
            case Container(kind="tuple") | External(types=(*_, _)):
                inside = flow.inside(atom)
                found |= inside.at(position) if position in inside.fields else flow.elements({atom}, node)
            case Pack(site=site):
                found.add(Lane(site))
            case _:
                found |= flow.elements({atom}, node)
    return found


def store(flow: Flow, owner: Atom, index: ast.expr, keys: set[Atom], atoms: set[Atom], node: ast.AST) -> None:
    if not isinstance(owner, Container):
        what = "a tensor" if is_tensor_atom(owner) else "an object given from outside"
        refuse("memory-dependence", f"the loop stores into {what}", node)
    require_host(flow, keys, index)
    contents = flow.inside(owner)
    flow.add(contents.keys, keys)
    key = index.value if isinstance(index, ast.Constant) and isinstance(index.value, str) else None
    place = contents.rest if key is None else contents.fields.setdefault(key, set())
    flow.add(place, atoms)
