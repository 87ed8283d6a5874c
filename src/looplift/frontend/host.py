"""From statements and live values to a host program: what runs on the host over handles, and the points of tensor work.

What depends on structure only (trees, lists, dicts, ints, recursion) stays Python in its old order. Each straight run
of tensor work between becomes a point, whose instances are batched when their inputs are ready (after TensorFlow Fold,
Looks et al. 2017). What needs the value of a tensor on the host is refused.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping, Set
from typing import Any

from looplift.base.syntax import children_of, nodes_of
from looplift.frontend.host_attributes import check_assigned
from looplift.frontend.host_cut import Cut, Program, lanes_of, view_sites
from looplift.frontend.host_filled import with_filled
from looplift.frontend.host_flow import Flow, refuse
from looplift.frontend.host_inner import Functions, taken_out_of_loops
from looplift.frontend.host_routine import Routine
from looplift.frontend.host_stages import set_stages
from looplift.frontend.host_stores import check_stores
from looplift.frontend.host_timing import Again, Timing
from looplift.frontend.host_values import Atom, Container, External, Live, is_tensor
from looplift.frontend.private import attributes_apart, names_apart
from looplift.runtime.waves_program import HostProgram


def host_program(
    statements: list[ast.stmt],
    live_ins: Mapping[str, Any],
    live_outs: list[str],
    globals: Mapping[str, Any],
    started: Set[str] = frozenset(),
) -> HostProgram:
    """Cuts the statements and the functions they call; raises NotLiftable with a reason.

    ``live_outs`` names what is read after the statements; ``"return"`` stands for the value of a last ``return``.
    ``started``: live-ins that the first statements make anew.
    """
    statements, inner = taken_out_of_loops(statements, live_ins, globals, "<region>")
    statements = with_filled(attributes_apart(names_apart(statements, live_ins), live_ins), live_ins, globals)
    returned = statements[-1] if statements and isinstance(statements[-1], ast.Return) else None
    body = statements if returned is None else statements[:-1]
    for statement in body:
        for node in nodes_of(statement):
            if isinstance(node, ast.Return):
                refuse("unsupported-syntax", "the loop is left by 'return'", node)
    flow = _analysed(statements, live_ins, globals, started, inner)
    _check_updates(flow)
    check_assigned(flow, statements[0])
    check_stores(flow)
    flow.scheduler = flow.names.fresh("waves")
    program = Program(flow)
    for routine in flow.routines.values():
        routine.name = flow.names.fresh(routine.name)
    functions = [_function(program, routine) for routine in flow.routines.values()]
    region = Cut(program, flow.region, live_outs).rewrite()
    if not program.points:
        refuse("too-small", "there is no tensor work to batch", statements[0])
    set_stages(program)
    value = region.pop().value if returned is not None else None  # type: ignore[attr-defined]
    results = _results(flow, live_outs, returned)
    return _assembled(program, functions, region, results, value, live_ins)


def _analysed(
    statements: list[ast.stmt],
    live_ins: Mapping[str, Any],
    globals: Mapping[str, Any],
    started: Set[str],
    inner: Functions,
) -> Flow:
    """The analysis, begun anew as often as it finds that the host needs the value of another tensor."""
    timing = Timing()
    for _ in range(MOST_ROUNDS):
        flow = Flow(live_ins, globals, statements, timing, started)
        flow.region.inner = inner
        try:
            flow.run()
        except Again:
            continue
        return flow
    refuse("recursion", "the host needs the values of too many tensors", statements[0])


MOST_ROUNDS = 30


def _assembled(
    program: Program,
    functions: list[ast.FunctionDef],
    region: list[ast.stmt],
    results: list[tuple[str, bool]],
    returned: ast.expr | None,
    live_ins: Mapping[str, Any],
) -> HostProgram:
    names = program.flow.names
    dispatchers = list(program.dispatchers.values())
    made = HostProgram(program.points, functions, dispatchers, region, list(live_ins), results, returned)
    made.assigned = names.fresh("assigned") if program.flow.assigned else ""
    made.scheduler, made.returned_name = program.flow.scheduler, names.fresh("returned")
    made.constants = dict(names.constants)
    made.guards = list(names.guards.items())
    made.guard_scope = {**names.constants, "__globals__": names.globals}
    return made


def _function(program: Program, routine: Routine) -> ast.FunctionDef:
    """The host form of one of the user's functions."""
    arguments = [ast.arg(name) for name in routine.parameters]
    missing = [name for name in routine.parameters if name not in routine.defaults]
    ordered = missing + [name for name in routine.parameters if name in routine.defaults]
    if ordered != routine.parameters:
        refuse(
            "unknown-call",
            f"the parameters of '{routine.name}' are in an order that is not understood",
            routine.body[0],
        )
    defaults = [routine.defaults[name] for name in routine.parameters if name in routine.defaults]
    signature = ast.arguments([], arguments, None, [], [], None, defaults)
    body = Cut(program, routine, []).rewrite()
    made = ast.FunctionDef(routine.name, signature, body, [], None)
    return ast.copy_location(made, routine.body[0])


def _results(flow: Flow, live_outs: list[str], returned: ast.Return | None) -> list[tuple[str, bool]]:
    """Which live-outs may hold handles; refuses a tensor that may share memory with another one."""
    views = view_sites(flow)
    found = []
    for name in live_outs:
        if name == "return":
            atoms = flow.region.returns
        else:
            atoms = flow.region.variables.get(name, set())
        sites = lanes_of(flow, atoms)
        check_containers(flow, name, atoms, returned or flow.region.body[0])
        if sites & views:
            node = returned or flow.region.body[0]
            refuse("aliasing", f"'{name}' may share memory with another tensor", node)
        found.append((name, bool(sites)))
    return found


def check_containers(flow: Flow, name: str, atoms: set[Atom], node: ast.AST) -> None:
    """Tensors that leave stand in lists and tuples, or as values of dicts: not as keys or in sets. Iterators stay."""
    seen: set[Atom] = set()
    queue = list(atoms)
    while queue:
        atom = queue.pop()
        if atom in seen or atom not in flow.contents:
            continue
        seen.add(atom)
        contents = flow.contents[atom]
        kind = atom.kind if isinstance(atom, Container) else ""
        if kind == "iterator":
            refuse("generator", f"'{name}' has an iterator, which reads its values when it is asked for them", node)
        if lanes_of(flow, contents.keys) or (kind == "set" and lanes_of(flow, {atom})):
            refuse("aliasing", f"'{name}' has tensors as keys or in a set", node)
        queue += contents.everything()


def _check_updates(flow: Flow) -> None:
    """``x += y`` on a tensor is in place: allowed where no other name can see that tensor."""
    for statement, routine in flow.accumulations.items():
        assert isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name)
        name = statement.target.id
        if name in routine.parameters and (routine is not flow.region or _is_outside_tensor(flow, name)):
            refuse("aliasing", f"'{name}' is changed in place and was given from outside", statement)
        for node in (item for part in routine.body for item in nodes_of(part)):
            _check_use(flow, node, name, routine)


def _given_to(targets: list[ast.expr], value: ast.expr, name: str) -> list[ast.expr]:
    """What an assignment gives to a name: of ``a, b = x, y`` its own item."""
    match targets, value:
        case [ast.Tuple(elts=parts)], ast.Tuple(elts=items) if len(parts) == len(items):
            return [item for part, item in zip(parts, items) for item in _given_to([part], item, name)]
        case [ast.Name(id=other)], _ if other != name:
            return []
    return [value]


def _is_outside_tensor(flow: Flow, name: str) -> bool:
    return is_tensor(flow.live_ins.get(name)) or isinstance(flow.atom(flow.live_ins.get(name), name), External)


def _check_use(flow: Flow, node: ast.AST, name: str, routine: Routine) -> None:
    """Every use of an updated name is an operand of tensor work or the end of the routine."""
    match node:
        case ast.AnnAssign(target=ast.Name(id=other), value=value) if other == name and value is not None:
            if not _is_fresh(flow, value):
                refuse("aliasing", f"'{name}' is changed in place and may have another name", node)
        case ast.Assign(targets=targets, value=value):
            named = [item for target in targets for item in nodes_of(target) if isinstance(item, ast.Name)]
            stored = any(item.id == name and isinstance(item.ctx, ast.Store) for item in named)
            given = _given_to(targets, value, name)
            shared = len(targets) > 1 and not isinstance(value, ast.Constant)
            if stored and (shared or not all(_is_fresh(flow, item) for item in given)):
                refuse("aliasing", f"'{name}' is changed in place and may have another name", node)
        case ast.For(target=target):
            if any(isinstance(item, ast.Name) and item.id == name for item in nodes_of(target)):
                refuse("aliasing", f"'{name}' is changed in place and may have another name", node)
    if isinstance(node, (ast.Return, ast.Compare)) or node in flow.operations or node in _returned(routine):
        operation = flow.operations.get(node)
        if operation is not None and node in flow.views and any(_is_name(item, name) for item in operation.arguments):
            refuse("aliasing", f"'{name}' is changed in place and may have another name", node)
        return
    for child in children_of(node):
        if isinstance(child, ast.Name) and child.id == name and isinstance(child.ctx, ast.Load):
            inside = isinstance(node, (ast.List, ast.Tuple)) and node in _operands(flow)
            if not inside:
                refuse("aliasing", f"'{name}' is changed in place and may have another name", child)


def _returned(routine: Routine) -> list[ast.AST]:
    """Tuples that end the routine."""
    nodes = [node for part in routine.body for node in nodes_of(part)]
    return [node.value for node in nodes if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple)]


def _operands(flow: Flow) -> set[ast.AST]:
    return {argument for operation in flow.operations.values() for argument in operation.arguments}


def _is_fresh(flow: Flow, value: ast.expr) -> bool:
    """A tensor that nothing else names: a result of an operation that makes a new one, or a literal."""
    if isinstance(value, ast.Constant):
        return True
    return value in flow.operations and value not in flow.views


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def needed_constants(program: HostProgram, source: str) -> dict[str, Any]:
    """The objects that a text needs besides builtins and live-ins, by name."""
    used = {node.id for node in nodes_of(ast.parse(source)) if isinstance(node, ast.Name)}
    return {name: value for name, value in program.constants.items() if name in used and not hasattr(builtins, name)}


__all__ = ["HostProgram", "Live", "host_program", "needed_constants"]
