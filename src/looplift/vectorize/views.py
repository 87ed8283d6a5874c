"""Views of arrays that are written to, or that leave the region: a reason where one would show something else."""

from __future__ import annotations

from looplift.base.errors import NotLiftable
from looplift.ir.grammar import (
    Append,
    Atom,
    Block,
    Const,
    If,
    Let,
    Loop,
    Range,
    Statement,
    Store,
    Var,
    as_atom,
    children,
    operands,
    walk,
)
from looplift.ops.table import UNCOPIED, base_name
from looplift.vectorize import sharing
from looplift.vectorize.context import Context
from looplift.vectorize.memory import only_shape
from looplift.vectorize.places import path_of
from looplift.vectorize.sharing import ITEMS, may_give_its_argument


def check_views(context: Context) -> None:
    """A view of an array sees later writes to it: no view may be used after a write, or be kept."""
    function, flow = context.facts.function, context.flow
    order, inside = program_order(function.body)
    stores = [s for s in walk(function.body) if isinstance(s, Store)]
    roots = {flow.root(s.ref) for s in stores}
    for statement in walk(function.body):
        if not isinstance(statement, Let) or not sharing.is_view(context, statement):
            continue
        root = sharing.origin(context, statement.var)
        if root is statement.var or root not in roots:
            continue
        _check_view(context, statement, [s for s in stores if flow.root(s.ref) is root], order, inside)


def _check_view(context: Context, view: Let, stores: list[Store], order: dict, inside: dict) -> None:
    leaves = any(atom is view.var for _, atom in context.facts.function.results)
    if leaves and any(order[id(store)] > order[id(view)] for store in stores):
        raise NotLiftable("aliasing", f"'{view.var.hint}' is a view of an array that is written to", view.span)
    for user in context.flow.users.get(view.var, ()):
        if isinstance(user, Store) and user.ref is view.var and user.value is not view.var:
            continue
        if isinstance(user, Let) and (user.op.name in SUBSCRIPTS or only_shape(user.op)):
            if user.op.args[0] is view.var:
                continue
        if isinstance(user, Let) and user.op.name in ("builtin.min", "builtin.max"):
            _check_view(context, user, stores, order, inside)  # one of its operands, as it is
        if isinstance(user, Let) and (joins := _only_joined(context, user)):
            for join in joins:
                _check_unchanged(context, view, join, stores, order, inside)
            continue
        if isinstance(user, Loop) and _is_gone_through(view.var, user):
            if any(user in inside[id(store)] for store in stores):
                raise NotLiftable("aliasing", f"'{view.var.hint}' is a view of an array that is written to", view.span)
        elif isinstance(user, Append | If | Loop) or (
            isinstance(user, Let) and user.op.name in ("tuple", "list", "copy")
        ):
            if not (
                isinstance(user, If)
                and user.cond is view.var
                and all(view.var not in (p.then, p.orelse) for p in user.phis)
            ):
                raise NotLiftable("aliasing", f"'{view.var.hint}' is a view of an array that is written to", view.span)
        _check_unchanged(context, view, user, stores, order, inside)


SUBSCRIPTS = ("getitem", "iter_item", "unpack")


def _is_gone_through(view: Var, loop: Loop) -> bool:
    """Whether a loop has a view as what it runs through, and no other use of it."""
    others = [atom for carry in loop.carries for atom in (carry.init, carry.next)]
    is_source = isinstance(loop.domain, Range) and loop.domain.source is view
    return is_source and view not in (*others, loop.stop)


def _only_joined(context: Context, display: Let) -> list[Statement]:
    """What a list or tuple is for, where that only copies its items together; nothing where it may hold them longer."""
    users = context.flow.users.get(display.var, [])
    if display.op.name not in ("tuple", "list") or display.var in {atom for _, atom in context.facts.function.results}:
        return []
    copies = all(isinstance(user, Let) and user.op.name in COPYING for user in users)
    return list(users) if copies else []


COPYING = frozenset("torch.stack torch.cat torch.concat torch.tensor np.stack np.array np.concatenate".split())


def _check_unchanged(
    context: Context, view: Let, user: Statement, stores: list[Store], order: dict, inside: dict
) -> None:
    """What a view shows must not change between where it is made and where it is used."""
    for store in stores:
        after, again = comes_between(view, store, user, order, inside)
        if after or (again and (user is not store or not _keeps_view(context, view, store))):
            message = f"'{view.var.hint}' is a view, and what it shows changes before it is used"
            raise NotLiftable("aliasing", message, view.span)


def comes_between(made: Statement, store: Store, user: Statement, order: dict, inside: dict) -> tuple[bool, bool]:
    """Whether a store comes after a statement and before a use of it; and whether it does in a loop around both."""
    after = order[id(store)] < order[id(user)] and order[id(store)] > order[id(made)]
    return after, any(loop not in inside[id(made)] for loop in inside[id(store)] if loop in inside[id(user)])


def _keeps_view(context: Context, view: Let, store: Store) -> bool:
    """Whether a store of what a view shows leaves that as it is: it goes to another place, or to the very same one."""
    places = [path_of(context, store.ref, store.index)]
    if view.op.name in ("getitem", "iter_item"):
        places.append(path_of(context, as_atom(view.op.args[0]), view.op.args[1]))
    if store.combine is not None or len(places) < 2 or any(path is None for path in places):
        return False
    one, other = (path for path in places if path is not None)
    is_place = [isinstance(item, Const | Var) and context.facts.kind(item).family == "int" for item in (*one, *other)]
    return len(one) == len(other) and all(is_place)


def is_in_kernel(context: Context, loops: tuple[Loop, ...]) -> bool:
    return any(context.decisions.get(loop, ("",))[0] == "native" for loop in loops)


def check_views_of_views(context: Context) -> None:
    """Outside of kernels a view holds what it showed when it was made: no subscript of it may come after a write."""
    function, flow = context.facts.function, context.flow
    order, inside = program_order(function.body)
    stores = [s for s in walk(function.body) if isinstance(s, Store)]
    for view in walk(function.body):
        if not isinstance(view, Let) or not context.facts.kind(view.var).is_array:
            continue
        if not sharing.is_view(context, view):
            continue
        root = sharing.origin(context, view.var)
        written = [s for s in stores if flow.root(s.ref) is root]
        if root is view.var or not written:
            continue
        for user in flow.users.get(view.var, ()):
            in_kernel = is_in_kernel(context, inside[id(user)])
            if isinstance(user, Let) and user.op.name in SUBSCRIPTS and not in_kernel:
                _check_unchanged(context, view, user, written, order, inside)


def program_order(block: Block) -> tuple[dict[int, int], dict[int, tuple[Loop, ...]]]:
    """The position of each statement, and the loops that it stands in."""
    order: dict[int, int] = {}
    inside: dict[int, tuple[Loop, ...]] = {}

    def visit(block: Block, loops: tuple[Loop, ...]) -> None:
        for statement in block:
            order[id(statement)] = len(order)
            inside[id(statement)] = loops
            inner = (*loops, statement) if isinstance(statement, Loop) else loops
            for child in children(statement):
                visit(child, inner)

    visit(block, ())
    return order, inside


# ---------------------------------------------------------------- what leaves the region


def check_result(context: Context, key: str, atom: Atom) -> None:
    """A result that in the loop is a view of something else must be that view here too."""
    if not isinstance(atom, Var) or not context.facts.kind(atom).is_array:
        return
    views = _views(context, atom, set())
    if "chosen" in views and "view" in views:
        raise context.refuse(
            "aliasing", f"'{getattr(atom, 'hint', key)}' may be a view of another tensor after the loop"
        )


def check_kept_value(context: Context, ref: Var, value: Atom) -> None:
    """Views that are put into a list which leaves the region would have to be views there as well."""
    if not isinstance(value, Var) or not context.facts.kind(value).is_array:
        return
    if _is_stored_after(context, ref, value):
        raise context.refuse("aliasing", f"'{value.hint}' is put into '{ref.hint}' before the loop stores into it")
    if any(atom is ref for _, atom in context.facts.function.results) or not is_joined(context, ref):
        _, inside = program_order(context.facts.function.body)
        if "view" in _views(context, value, set()) and not _is_all_that_is_seen(context, value, inside):
            raise context.refuse("aliasing", f"'{ref.hint}' is filled with views of a tensor")
        appends = [user for user in context.flow.users.get(value, ()) if isinstance(user, Append) and user.ref is ref]
        if not all(_is_made_in(context, value, inside[id(append)], inside) for append in appends):
            raise context.refuse("aliasing", f"'{ref.hint}' may be filled with one tensor again and again")
        if context.facts.kind(value).family != "numpy" and is_put_twice(context, ref, value):
            raise context.refuse("aliasing", f"'{ref.hint}' may hold one tensor at several places")


def is_made_for(context: Context, value: Var, loops: tuple[Loop, ...]) -> bool:
    """Whether a value is memory of its own, and a new one in each iteration of these loops."""
    _, inside = program_order(context.facts.function.body)
    return "view" not in _views(context, value, set()) and _is_made_in(context, value, loops, inside)


WHOLE = frozenset("detach cpu squeeze unsqueeze flatten view reshape view_as reshape_as".split())
"""Methods that show all of a tensor."""


def _is_all_that_is_seen(context: Context, value: Var, inside: dict[int, tuple[Loop, ...]]) -> bool:
    """Whether a value shows all of a tensor that is new in the iteration, and that nothing else can see."""
    made = context.flow.definition.get(value)
    if not isinstance(made, Let) or len(context.flow.users.get(value, ())) != 1:
        return False
    shows = made.op.name == "copy" or (made.op.name.startswith("method.") and base_name(made.op.name) in WHOLE)
    if not shows or not isinstance(first := made.op.args[0], Var):
        return context.facts.kind(value).is_array and "view" not in _views(context, value, set())
    root = context.flow.definition.get(first)
    is_new = isinstance(root, Let) and inside[id(root)] == inside[id(made)]
    return is_new and _is_all_that_is_seen(context, first, inside)


def _is_stored_after(context: Context, ref: Var, value: Var) -> bool:
    """Whether something writes to a value, or to what it is a view of, after it is put into a list."""
    from looplift.vectorize.results import memory_of

    body = context.facts.function.body
    order, _ = program_order(body)
    put = [order[id(s)] for s in walk(body) if isinstance(s, Append) and s.ref is ref and s.value is value]
    display = context.flow.definition.get(ref)
    put += [order[id(display)]] if isinstance(display, Let) and value in operands(display.op) else []
    stores = [s for s in walk(body) if isinstance(s, Store) and order[id(s)] > min(put, default=-1)]
    own = memory_of(context, value).places if stores else frozenset()
    return any(own & memory_of(context, store.ref).places for store in stores)


def is_put_twice(context: Context, ref: Var, value: Var) -> bool:
    """Whether another append to a list may take the same object."""
    from looplift.vectorize.results import memory_of

    every = [s.value for s in walk(context.facts.function.body) if isinstance(s, Append) and s.ref is ref]
    own = memory_of(context, value).places
    others = [other for other in every if other is not value]
    return len(every) > len(others) + 1 or any(own & memory_of(context, other).places for other in others)


def _is_made_in(
    context: Context,
    atom: Atom,
    loops: tuple[Loop, ...],
    inside: dict[int, tuple[Loop, ...]],
    around: tuple[Loop, ...] | None = None,
) -> bool:
    """Whether a value is a new one in each iteration of the loops; ``around``: of the outermost ones of them."""
    around = loops if around is None else around
    if not isinstance(atom, Var):
        return True
    match context.flow.definition.get(atom):
        case Let(op=op) if op.name in ("builtin.min", "builtin.max") or base_name(op.name) in UNCOPIED:
            given = [a for a in operands(op) if isinstance(a, Var) and context.facts.kind(a).is_array]
            return all(_is_made_in(context, a, loops, inside, around) for a in given)
        case Let(op=op) if op.name in SUBSCRIPTS and context.facts.kind(as_atom(op.args[0])).family == "list":
            return False
        case Let(op=op) if sharing.result_item(context, op) is not None:
            return _is_made_in(context, as_atom(op.args[0]), loops, inside, around)
        case Let(op=op) as statement if op.name != "copy":
            return inside[id(statement)] == loops
        case Let(op=op):
            return _is_made_in(context, as_atom(op.args[0]), loops, inside, around)
        case If(phis=phis):
            sides = [side for phi in phis if phi.var is atom for side in (phi.then, phi.orelse)]
            return all(_is_made_in(context, side, loops, inside, around) for side in sides)
        case Loop(carries=carries) as statement:
            if loops and statement is loops[-1]:  # of an iteration before, or what was there before the first one
                before = [carry for carry in carries if carry.inside is atom]
                if not before or (statement in around and _may_be(context, before[0].next, atom)):
                    return False
                return _is_made_in(context, before[0].init, loops[:-1], inside, around)
            after = [carry for carry in carries if carry.after is atom]
            if not after or not _is_made_in(context, after[0].next, (*loops, statement), inside, around):
                return False
            first = after[0].init  # what is there after no iteration
            if _asks_for_one(context, statement) or _is_made_in(context, first, loops, inside, around):
                return True
            return _is_item_made_in(context, first, loops, inside)
    return False


def _may_be(context: Context, atom: Atom, other: Var) -> bool:
    """Whether a value may be another one as it is: what an iteration does not replace is there in the next one."""
    pending, seen = [atom], set()
    while pending:
        current = pending.pop()
        if current is other:
            return True
        if current in seen or not isinstance(current, Var):
            continue
        seen.add(current)
        match context.flow.definition.get(current):
            case If(phis=phis):
                pending += [side for phi in phis if phi.var is current for side in (phi.then, phi.orelse)]
            case Loop(carries=carries):
                pending += [a for one in carries if current in (one.inside, one.after) for a in (one.init, one.next)]
            case Let(op=op) if op.name == "copy" or op.name in ("builtin.min", "builtin.max"):
                pending += operands(op)
    return False


def is_joined(context: Context, ref: Var) -> bool:
    """Whether a list is only stacked, counted or read."""
    for user in context.flow.users.get(ref, ()):
        if isinstance(user, Append) and (user.ref is ref or _is_only_joined(context, user.ref)):
            continue
        if isinstance(user, Let) and user.op.name in JOINING and _is_part_only_joined(context, user):
            continue
        if isinstance(user, Loop):
            continue
        if isinstance(user, If) and not any(ref in (phi.then, phi.orelse) for phi in user.phis):
            continue
        return False
    return True


def _is_part_only_joined(context: Context, made: Let) -> bool:
    """Whether what is read of a list is no list, which holds the same objects, or one that is only joined, too."""
    if made.op.name not in READING or context.facts.kind(made.var).family != "list":
        return True
    handed_out = any(atom is made.var for _, atom in context.facts.function.results)
    return not handed_out and is_joined(context, made.var)


def _is_only_joined(context: Context, ref: Var) -> bool:
    """Whether nothing but joins and lengths of a list, whose items are lists, is made of it."""
    users = [user for user in context.flow.users.get(ref, ()) if isinstance(user, Let)]
    handed_out = any(atom is ref for _, atom in context.facts.function.results)
    return not handed_out and is_joined(context, ref) and all(user.op.name in JOINING - READING for user in users)


JOINING = frozenset(
    """not builtin.bool torch.stack torch.cat torch.concat torch.tensor np.stack np.array np.asarray np.vstack
    np.concatenate np.concat np.hstack np.column_stack torch.vstack torch.hstack torch.column_stack
    builtin.len iter_len iter_item getitem sorted_places""".split()
)
READING = frozenset(("iter_item", "getitem"))


def _views(context: Context, var: Var, seen: set[Var]) -> set[str]:
    """What the value may be: a "view" of another tensor's memory, "chosen" among several."""
    if var in seen:
        return set()
    seen.add(var)
    if var in context.facts.function.params:
        return {"view"}
    found: set[str] = set()
    definition = context.flow.definition.get(var)
    match definition:
        case Let(op=op) if op.name in ITEMS and (kept := _kept_in(context, as_atom(op.args[0]))):
            found.add("chosen")
            for a in kept:
                found |= _views(context, a, seen)
        case Let(op=op) if sharing.result_item(context, op) is not None:
            pass
        case Let(op=op):
            if (op.name in ITEMS and context.facts.kind(var).is_array) or may_give_its_argument(context, definition):
                found.add("view")
                if base_name(op.name) == "ravel":  # a copy where elements are apart
                    found.add("chosen")
            elif op.name in ("builtin.min", "builtin.max"):
                found.add("chosen")
                for a in op.args:
                    if isinstance(a, Var) and context.facts.kind(a).is_array:
                        found |= _views(context, a, seen)
        case If(phis=phis):
            found.add("chosen")
            for phi in phis:
                if phi.var is var:
                    for a in (phi.then, phi.orelse):
                        found |= _views(context, a, seen) if isinstance(a, Var) else set()
        case Loop(carries=carries):
            for carry in carries:
                if carry.after is var and has_run(context, definition) and isinstance(carry.next, Var):
                    found |= _views(context, carry.next, seen)
                elif carry.inside is var or carry.after is var:
                    if carry.next is not carry.inside and context.flow.users.get(carry.inside):
                        found.add("chosen")
                    for a in (carry.init, carry.next):
                        found |= _views(context, a, seen) if isinstance(a, Var) else set()
    return found


def _kept_in(context: Context, ref: Atom) -> list[Var]:
    """What the region puts into a list."""
    users = context.flow.users.get(ref, ()) if isinstance(ref, Var) else ()
    return [
        user.value for user in users if isinstance(user, Append) and user.ref is ref and isinstance(user.value, Var)
    ]


def _is_item_made_in(
    context: Context, atom: Atom, loops: tuple[Loop, ...], inside: dict[int, tuple[Loop, ...]]
) -> bool:
    """Whether a value is an item of a list that each iteration of the loops fills, with values that it makes."""
    if not isinstance(atom, Var):
        return False
    made = context.flow.definition.get(atom)
    if not isinstance(made, Let) or made.op.name not in SUBSCRIPTS or inside[id(made)] != loops:
        return False
    owner = as_atom(made.op.args[0])
    if not isinstance(owner, Var):
        return False
    listed = context.flow.definition.get(owner)
    if not isinstance(listed, Let) or listed.op.name != "list" or listed.op.args or inside[id(listed)] != loops:
        return False
    filled = [user for user in context.flow.users.get(owner, ()) if isinstance(user, Append) and user.ref is owner]
    return all(_is_made_in(context, user.value, inside[id(user)], inside) for user in filled)


def _asks_for_one(context: Context, loop: Loop) -> bool:
    """Whether a loop stays, and has at least one iteration in all lanes, for which it asks."""
    if not isinstance(loop.domain, Range) or any(context.facts[a].loops for a in (loop.domain.lo, loop.domain.hi)):
        return False
    return loop.stop is None and context.decisions.get(loop, ("",))[0] in ("sequential", "scan")


def has_run(context: Context, loop: Statement | None) -> bool:
    """Whether a loop is one that stays and has at least one iteration, for which it asks."""
    if not isinstance(loop, Loop) or not isinstance(loop.domain, Range):
        return False
    return context.decisions.get(loop, ("",))[0] in ("sequential", "scan", "lanes")
