"""Arrays that are one or another, as an ``if`` decides: a reason where the one that is meant changes before its use.

v = out if x[i] > 0 else out + 1        v holds what ``out`` held here, in lanes; in the loop it is ``out``
out[j] = v[j - 1]
"""

from __future__ import annotations

import itertools

from looplift.base.errors import NotLiftable
from looplift.ir.grammar import If, Let, Statement, Store, Var, walk
from looplift.vectorize import sharing
from looplift.vectorize.context import Context
from looplift.vectorize.flow import stored_roots
from looplift.vectorize.views import comes_between, is_in_kernel, program_order


def check_choices(context: Context) -> None:
    """What is one array or another, as an ``if`` decides, changes with it: nothing may write to that before its use."""
    function, flow = context.facts.function, context.flow
    roots = stored_roots(flow, function.body)
    branches = [one for one in walk(function.body) if isinstance(one, If)]
    choices = [(one, phi, side) for one in branches for phi in one.phis for side in roots & {phi.then, phi.orelse}]
    if not choices:
        return
    order, inside = program_order(function.body)
    for branch, phi, side in choices:
        written = [one for one in walk(function.body) if isinstance(one, Store) and flow.root(one.ref) is side]
        for store, user in itertools.product(written, _users(context, phi.var)):
            is_changed = any(comes_between(branch, store, user, order, inside))
            if is_changed and not is_in_kernel(context, inside[id(user)]):
                message = f"'{phi.var.hint}' may be '{side.hint}', which changes before it is used"
                raise NotLiftable("aliasing", message, branch.span)


def _users(context: Context, var: Var) -> list[Statement]:
    """What uses an array, a view of it, or what is one or the other."""
    found: list[Statement] = []
    pending, seen = [var], {var}
    while pending:
        for user in context.flow.users.get(pending.pop(), ()):
            found.append(user)
            passed = [user.var] if isinstance(user, Let) and sharing.is_view(context, user) else []
            passed += [phi.var for phi in user.phis] if isinstance(user, If) else []
            pending += [one for one in passed if one not in seen]
            seen.update(passed)
    return found
