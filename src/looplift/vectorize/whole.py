"""A region that is to be one kernel in; a reason where a kernel, which holds numbers, would miss that they are views.

``x[i]`` of a tensor is a view: it sees later writes to ``x``, and ``v += 1`` writes to ``x`` through it. An element of
a list or of a NumPy array is a number of its own.
"""

from __future__ import annotations

from typing import Any

import torch

from looplift.base.errors import NotLiftable
from looplift.ir.facts import Fact, Facts, Kind, kind_of, shape_of
from looplift.ir.grammar import Append, Function, If, Let, Loop, Var, walk
from looplift.vectorize import ownership, views
from looplift.vectorize.context import Context
from looplift.vectorize.flow import Flow


def check_whole(function: Function) -> None:
    """Raises NotLiftable unless elements of tensors are used up before anything changes them."""
    _check_tuples(function)
    if not _has_tensors(function):
        return
    context = Context(_assumed(function), Flow(function), "torch")
    views.check_views(context)
    results = {atom for _, atom in function.results}
    for statement in walk(function.body):
        if not isinstance(statement, Let):
            continue
        if statement.op.name.startswith("inplace."):
            ownership.check_owned(context, statement.op, statement)
        if statement.op.name in ("builtin.min", "builtin.max"):
            users = context.flow.users.get(statement.var, ())
            if statement.var in results or any(map(_asks_for_kind, users)):
                message = f"'{statement.var.hint}' is a number in one iteration and a tensor in another"
                raise NotLiftable("mixed-kinds", message, statement.span)


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


def _asks_for_kind(user: object) -> bool:
    """Whether it matters if a value is a number or a tensor."""
    if isinstance(user, Let):
        return user.op.name.startswith(("method.", "attribute", "tuple", "list"))
    return isinstance(user, Append | If | Loop)


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
