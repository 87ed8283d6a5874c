"""Arrays that are one or another, as an ``if`` or the iteration decides: a reason where the one that is meant changes
before its use.

v = out if x[i] > 0 else out + 1        v holds what ``out`` held here, in lanes; in the loop it is ``out``
out[j] = v[j - 1]

v = out                                 v is ``out`` in each iteration, and shows what the iterations before stored
for i in range(n):
    out[i] = v.sum()
    v = v.view(-1)
"""

from __future__ import annotations

import itertools

from looplift.base.errors import NotLiftable
from looplift.ir.grammar import Carry, If, Let, Loop, Statement, Store, Var, operands, walk
from looplift.ops import table
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


def check_carried(context: Context) -> None:
    """What is carried may be an array under another name: nothing may write to that under its own name before a use."""
    function = context.facts.function
    order, inside = program_order(function.body)
    stores = [one for one in walk(function.body) if isinstance(one, Store)]
    loops = [one for one in walk(function.body) if isinstance(one, Loop)]
    for loop, carry in ((one, carry) for one in loops for carry in one.carries if _may_share(context, carry)):
        for store in stores:
            met = _met(context, loop, carry, store, is_inside=loop in inside[id(store)])
            users = [*_users(context, carry.inside), *_users(context, carry.after)] if met else []
            if any(any(comes_between(loop, store, user, order, inside)) for user in users):
                message = f"'{carry.hint}' may be '{met[0].hint}', which changes before it is used"
                raise NotLiftable("aliasing", message, loop.span)


def _may_share(context: Context, carry: Carry) -> bool:
    kind = context.facts.kind(carry.inside)
    return kind.family == "list" or (kind.is_array and kind.rank > 0)


def _met(context: Context, loop: Loop, carry: Carry, store: Store, *, is_inside: bool) -> list[Var]:
    """What is stored to by its own name and may be what is carried: each iteration stores to what it makes itself."""
    root, others = context.flow.root(store.ref), {one.inside for one in loop.carries}
    takes_turns = root in others and carry.inside in context.arrays  # buffers that change places do so here, too
    if takes_turns or root in (carry.inside, carry.after):
        return []
    shown = _places(context, carry.inside) & _places(context, store.ref)
    made = {one.var for one in walk(loop.body) if isinstance(one, Let)} if is_inside else set()
    return [one for one in shown if one not in made]


def check_listed(context: Context) -> None:
    """A list or tuple holds its arrays, also one that is made of lists by ``+`` or ``*``: nothing may write to these
    before a use, but by the list itself."""
    function = context.facts.function
    lets = [one for one in walk(function.body) if isinstance(one, Let) and one.op.name in MAKING]
    listed = [one for one in lets if context.facts.kind(one.var).family in ("list", "tuple")]
    if not listed:
        return
    order, inside = program_order(function.body)
    stores = [one for one in walk(function.body) if isinstance(one, Store)]
    for made, store in itertools.product(listed, stores):
        if context.flow.root(store.ref) is made.var and _holds_each_once(context, made):
            continue
        met = _held(context, made) & _places(context, store.ref)
        users = _users(context, made.var) if met else []
        if any(any(comes_between(made, store, user, order, inside)) for user in users):
            message = f"'{made.var.hint}' holds '{next(iter(met)).hint}', which changes before it is used"
            raise NotLiftable("aliasing", message, made.span)


MAKING = table.ARITHMETIC | {"list", "tuple"}


def _holds_each_once(context: Context, made: Let) -> bool:
    """Whether a display holds no array at two places, so that its own subscripts tell them apart."""
    held = [_places(context, one) for one in operands(made.op) if isinstance(one, Var)]
    return made.op.name in ("list", "tuple") and not any(a & b for a, b in itertools.combinations(held, 2))


def _held(context: Context, made: Let) -> frozenset[Var]:
    """The places of the arrays in a list or tuple, and in the lists that it is made of."""
    found: frozenset[Var] = frozenset()
    for atom in (one for one in operands(made.op) if isinstance(one, Var)):
        inner = context.flow.definition.get(atom)
        if isinstance(inner, Let) and context.facts.kind(atom).family in ("list", "tuple"):
            found |= _held(context, inner)
        else:
            found |= _places(context, atom)
    return found


def _places(context: Context, atom: Var) -> frozenset[Var]:
    from looplift.vectorize.results import memory_of

    return memory_of(context, atom).places


def _users(context: Context, var: Var) -> list[Statement]:
    """What uses an array, a view of it, or what is one or the other."""
    found: list[Statement] = []
    pending, seen = [var], {var}
    while pending:
        current = pending.pop()
        for user in context.flow.users.get(current, ()):
            found.append(user)
            passed = [user.var] if isinstance(user, Let) and sharing.is_view(context, user) else []
            passed += [phi.var for phi in user.phis] if isinstance(user, If) else []
            if isinstance(user, Loop):
                carries = [one for one in user.carries if current in (one.init, one.next)]
                passed += [var for one in carries for var in (one.inside, one.after)]
            pending += [one for one in passed if one not in seen]
            seen.update(passed)
    return found
