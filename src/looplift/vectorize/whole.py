"""A region that is to be one kernel in; a reason where a kernel, which holds numbers, would miss what they are.

``x[i]`` of a tensor is a view: it sees later writes to ``x``. An element of a list or of a NumPy array is a number of
its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from looplift.base.errors import NotLiftable
from looplift.ir.facts import Fact, Facts, Kind, kind_of, shape_of
from looplift.ir.grammar import Append, Function, If, Let, Loop, Store, Var, walk
from looplift.vectorize import sharing

if TYPE_CHECKING:
    from looplift.vectorize.context import Context


def check_whole(function: Function) -> None:
    """Raises NotLiftable where a view is put into a list or a tuple; views in variables are the kernel's own affair."""
    _check_tuples(function)
    if not _has_tensors(function):
        return
    from looplift.vectorize.context import Context
    from looplift.vectorize.flow import Flow

    context = Context(_assumed(function), Flow(function), "torch")
    _check_put_away(context)


def _check_put_away(context: Context) -> None:
    """No view of an array that is written to goes into a list or a tuple, where it would be a number."""
    function, flow = context.facts.function, context.flow
    changed = {s.ref for s in walk(function.body) if isinstance(s, Store)}
    changed |= {a for s in walk(function.body) if (a := _changed_in_place(s)) is not None}
    roots = {sharing.origin(context, var) for var in changed} | {flow.root(var) for var in changed}
    for view in walk(function.body):
        if not isinstance(view, Let) or not sharing.is_view(context, view):
            continue
        root = sharing.origin(context, view.var)
        users = flow.users.get(view.var, ()) if root is not view.var and root in roots else ()
        if any(isinstance(u, Append) or (isinstance(u, Let) and u.op.name in ("tuple", "list")) for u in users):
            raise NotLiftable("aliasing", f"'{view.var.hint}' is a view of an array that is written to", view.span)


def _changed_in_place(statement: object) -> Var | None:
    if isinstance(statement, Let) and statement.op.name.startswith("inplace."):
        target = statement.op.args[0]
        return target if isinstance(target, Var) else None
    return None


def _check_tuples(function: Function) -> None:
    """A tuple of the caller is read only; a variable that holds one for a while is something else later."""
    values = function.attributes["values"]
    tuples = {var for var in function.params if isinstance(values[var], tuple)}
    for statement in walk(function.body):
        sides: list[object] = []
        if isinstance(statement, If):
            sides = [side for phi in statement.phis for side in (phi.then, phi.orelse)]
        elif isinstance(statement, Loop):
            sides = [side for carry in statement.carries for side in (carry.init, carry.next)]
        for side in sides:
            if isinstance(side, Var) and side in tuples:
                raise NotLiftable("mixed-kinds", f"'{side.hint}' is a tuple before the loop", statement.span)


def _has_tensors(function: Function) -> bool:
    def holds(value: Any) -> bool:
        return isinstance(value, torch.Tensor) or (isinstance(value, (list, tuple)) and any(map(holds, value[:8])))

    made = any(isinstance(s, Let) and s.op.name.startswith("torch.") for s in walk(function.body))
    return made or any(map(holds, function.attributes["values"].values()))


def _assumed(function: Function) -> Facts:
    """The kinds of live-ins; all else may be an element of a tensor."""
    facts, element = Facts(function), Kind("tensor", torch.float32, 0)
    for var in function.params:
        value = function.attributes["values"][var]
        facts.of[var] = Fact(kind_of(value), (), shape_of(value), value)
    for statement in walk(function.body):
        for var in _bound(statement):
            facts.of[var] = Fact(element, (), (), None)
    return facts


def _bound(statement: object) -> list[Var]:
    match statement:
        case Let(var=var):
            return [var]
        case If(phis=phis):
            return [phi.var for phi in phis]
        case Loop(index=index, carries=carries):
            inner = [var for carry in carries for var in (carry.inside, carry.after)]
            return inner if index is None else [index, *inner]
    return []
