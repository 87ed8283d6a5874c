"""A list that a loop carries, or that is taken after its last iteration, in; whether an array may stand for it out.

    p = [x[k] for k in range(n)]           the rows of 'x' themselves
    while len(p) > 1:
        p = [p[k] + p[k + 1] for k in range(len(p) - 1)]
    return torch.stack(p)                  copies what they hold
    return p                               hands the rows out where no iteration ran

An array holds what the items hold. Where nobody sees more of them than that, they may be anything; where they are
handed out or changed, each must have been made for the list.
"""

from __future__ import annotations

from looplift.ir.grammar import UNDEFINED, Append, Atom, Carry, If, Let, Loop, Op, Store, Var, operands, walk
from looplift.ops.table import may_show
from looplift.vectorize.context import Context

ITEM = ("getitem", "iter_item")


def check_items(context: Context, carry: Carry) -> None:
    """Raises NotLiftable where items of a carried list are handed out or changed, and may be other tensors' memory."""
    from looplift.vectorize import views

    lists, items = _reached(context, carry)
    if not _are_seen(context, lists | items):
        return
    _, inside = views.program_order(context.facts.function.body)
    for statement in walk(context.facts.function.body):
        if isinstance(statement, Append) and statement.ref in lists:
            given, loops = [statement.value], inside[id(statement)]
        elif isinstance(statement, Let) and statement.var in lists and statement.op.name == "list":
            given, loops = list(operands(statement.op)), inside[id(statement)]
        else:
            continue
        for value in given:
            if not isinstance(value, Var) or not context.facts.kind(value).is_array:
                continue
            twice = isinstance(statement, Append) and views.is_put_twice(context, statement.ref, value)
            if value in items or given.count(value) > 1 or twice or not views.is_made_for(context, value, loops):
                raise context.refuse("aliasing", f"'{carry.hint}' is filled with views of a tensor")


def _reached(context: Context, carry: Carry) -> tuple[set[Var], set[Var]]:
    """The names of the list and of those that hold its items too, and the names that items of them may have."""
    function, flow = context.facts.function, context.flow
    lists = {one for one in (carry.init, carry.inside, carry.next, carry.after) if one is not UNDEFINED}
    lists = {one for one in lists if isinstance(one, Var)}
    items: set[Var] = set()
    while True:
        before = len(lists) + len(items)
        for statement in walk(function.body):
            match statement:
                case If(phis=phis):
                    for phi in phis:
                        _spread(lists, items, phi.var, phi.then, phi.orelse)
                case Loop(carries=carries):
                    for one in carries:
                        _spread(lists, items, one.inside, one.after, one.init, one.next)
                case Let(var=var, op=op):
                    _follow(lists, items, var, op)
                case Append(ref=ref, value=value) if value in items or value in lists:
                    lists |= {ref, flow.root(ref)}
        if len(lists) + len(items) == before:
            return lists, items


def _spread(lists: set[Var], items: set[Var], *same: Atom) -> None:
    """All of these may be one object."""
    for held in (lists, items):
        if any(one in held for one in same):
            held |= {one for one in same if isinstance(one, Var)}


def _follow(lists: set[Var], items: set[Var], var: Var, op: Op) -> None:
    given = set(operands(op))
    if op.name in ITEM and op.args[0] in lists:
        items.add(var)
    elif (op.name in ("list", "tuple", "dict") and given & (lists | items)) or (op.name == "copy" and given & lists):
        lists.add(var)
    elif given & items and _may_share(op):
        items.add(var)


def _may_share(op: Op) -> bool:
    """Whether an operation may give its argument, or a view of it."""
    return op.name in ("copy", "attribute", *ITEM, "unpack", "builtin.min", "builtin.max") or may_show(op.name)


def _are_seen(context: Context, held: set[Var]) -> bool:
    """Whether some of these are handed out, changed, or given to what is not known."""
    function = context.facts.function
    if any(atom in held for _, atom in function.results) or not held.isdisjoint(function.params):
        return True
    for statement in walk(function.body):
        match statement:
            case Store(ref=ref) if ref in held:
                return True
            case Store(ref=ref, value=value) if value in held and not context.facts.kind(ref).is_array:
                return True
            case Let(op=op) if op.name.startswith("inplace.") and op.args[0] in held:
                return True
            case Let(op=op) if op.name in ("call", "is_", "is_not") and set(operands(op)) & held:
                return True
    return False
