"""A loop that writes to arrays in, out None or the reason why its iterations may meet in memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from looplift.base.errors import NotLiftable
from looplift.base.spans import Span
from looplift.ir.facts import Kind
from looplift.ir.grammar import (
    Append,
    Block,
    Const,
    Group,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Slice,
    Statement,
    Store,
    Var,
    atoms,
    constant,
    definitions,
    operands,
    uses,
    walk,
)
from looplift.vectorize import old_reads, places
from looplift.vectorize.context import Context
from looplift.vectorize.flow import stored_roots


def check_memory(context: Context, loop: Loop) -> NotLiftable | None:
    """No iteration reads what another one writes, and no two write to one place in an order that matters."""
    flow = context.flow
    for root in stored_roots(flow, loop.body):
        if made_inside(root, loop):
            continue
        if (reason := check_root(context, loop, root)) is not None:
            return reason
    return None


def made_inside(root: Var, loop: Loop) -> bool:
    return any(isinstance(s, Let) and s.var is root for s in walk(loop.body))


def check_root(context: Context, loop: Loop, root: Var) -> NotLiftable | None:
    flow, hint = context.flow, root.hint
    stores = [s for s in walk(loop.body) if isinstance(s, Store) and flow.root(s.ref) is root]
    updates = [u for u in context.updates.of.values() if flow.root(u.ref) is root]
    absorbed = {var for update in updates for var in update.reads}
    reads = [s for s in walk(loop.body) if isinstance(s, Let) and _reads(context, s, root) and s.var not in absorbed]
    others = [s for s in walk(loop.body) if not isinstance(s, Store | Let | Append) and _mentions(s, root)]
    if any(isinstance(s, Append) and flow.root(s.ref) is root for s in walk(loop.body)):
        if stores or reads:
            return NotLiftable("memory-dependence", f"'{hint}' is read while the loop fills it", loop.span)
        return None
    if others:
        return NotLiftable("aliasing", f"'{hint}' changes its meaning inside the loop", loop.span)
    if (reason := check_shared(context, root, loop.span)) is not None:
        return reason
    paths = [path for s in stores if (path := places.path_of(context, s.ref, s.index)) is not None]
    if len(paths) < len(stores):
        return NotLiftable("aliasing", f"'{hint}' is written through a view", loop.span)
    for store in (s for s in walk(loop.body) if isinstance(s, Store)):
        if any(atom is root for part in (store.value, store.index) for atom in atoms(part)):
            return NotLiftable("memory-dependence", f"'{hint}' is filled and read as a whole in the loop", store.span)
    if any(update.value is root for update in updates):
        return NotLiftable("memory-dependence", f"'{hint}' is filled and read as a whole in the loop", loop.span)
    message = f"one iteration may read what another one writes to '{hint}'"
    for read in reads:
        if _is_step_of_store(context, read, stores):
            continue
        for path in _paths_read(context, read, root):
            if not _reads_apart(context, path, paths, loop, root):
                return NotLiftable("memory-dependence", message, read.span)
    for span, view in _views_used(context, loop, root):
        if not _reads_apart(context, _path_of_view(context, view, root), paths, loop, root):
            return NotLiftable("memory-dependence", message, span)
    if len(stores) > 1 and not (_only_add(context, root, stores) or _stores_agree(context, paths, loop, root)):
        return NotLiftable("order", f"several statements write to '{hint}'", loop.span)
    return old_reads.check_old_reads(context, loop, root, reads, stores)


def _paths_read(context: Context, read: Let, root: Var) -> list[places.Path | None]:
    """The places of an array that an operation reads: its own subscript, or those of the views that it works on."""
    if read.op.name in ("getitem", "iter_item"):
        owner, index = read.op.args
        assert isinstance(owner, Var | Const)
        return [places.path_of(context, owner, index)]
    found: list[places.Path | None] = []
    for atom in operands(read.op):
        if isinstance(atom, Var) and context.flow.root(atom) is root:
            found.append(_path_of_view(context, atom, root))
    return found


def _path_of_view(context: Context, var: Var, root: Var) -> places.Path | None:
    view = context.flow.definition.get(var)
    if var is root or not isinstance(view, Let) or view.op.name not in ("getitem", "iter_item"):
        return None
    owner, index = view.op.args
    assert isinstance(owner, Var | Const)
    return places.path_of(context, owner, index)


def _reads_apart(context: Context, path: places.Path | None, stores: list[places.Path], loop: Loop, root: Var) -> bool:
    """Whether what is read at a place is never what another iteration has written."""
    return path is not None and all(
        _ordered(context, path, other, loop, root) or places.are_disjoint(context, path, other, loop)
        for other in stores
    )


def _views_used(context: Context, loop: Loop, root: Var) -> Iterator[tuple[Span, Var]]:
    """What is read of an array by views that were taken before the loop, by other statements than operations."""
    inside = {var for statement in walk(loop.body) for var in definitions(statement)}
    for statement in walk(loop.body):
        read = [statement.cond] if isinstance(statement, If) else []
        read += [statement.value] if isinstance(statement, Store) else []
        if (update := context.updates.of.get(statement)) is not None:
            read.append(update.value)
        for atom in read:
            if isinstance(atom, Var) and atom not in inside and context.flow.root(atom) is root:
                yield statement.span, atom


def _holds_arrays(kind: Kind) -> bool:
    return kind.is_array or any(map(_holds_arrays, kind.items))


def check_shared(context: Context, root: Var, span: Span, beside: Loop | None = None) -> NotLiftable | None:
    """An array of the caller may share its memory with another one that is read: a guard decides. ``beside``: read by
    what stands outside of this loop."""
    function = context.facts.function
    paths, asked = function.attributes["paths"], function.attributes.setdefault("asked", set())
    if root not in function.params or root in asked:
        return None
    read = {atom for statement in _besides(function.body, beside) for atom in uses(statement)}
    for other in function.params:
        if other not in read:  # an object of which parts are read has these beside it
            continue
        if other is not root and context.facts.kind(other).is_array:
            function.attributes.setdefault("apart", set()).add(tuple(sorted((paths[root], paths[other]))))
        elif other is not root and context.facts.kind(other).family in ("list", "tuple", "object"):
            if any(map(_holds_arrays, context.facts.kind(other).items)) or not context.facts.kind(other).items:
                return NotLiftable("aliasing", f"'{other.hint}' may share memory with '{root.hint}'", span)
    if beside is None:
        function.attributes.setdefault("whole", set()).add(paths[root])
        asked.add(root)
    return None


def _besides(body: Block, loop: Loop | None) -> Iterator[Statement]:
    """All statements, without those of a loop."""
    inside = set() if loop is None else {loop, *walk(loop.body)}
    return (statement for statement in walk(body) if statement not in inside)


def _reads(context: Context, statement: Let, root: Var) -> bool:
    return any(isinstance(a, Var) and context.flow.root(a) is root for a in operands(statement.op)) and not (
        statement.op.name in ("iter_len", "builtin.len") or only_shape(statement.op)
    )


def only_shape(op: Op) -> bool:
    return (op.name == "attribute" and constant(op.args[1]) in ("shape", "dtype", "device", "ndim")) or op.name in (
        "method.size", "method.dim", "method.numel", "method.new_zeros",
    )  # fmt: skip


def _mentions(statement, root: Var) -> bool:
    return any(atom is root for atom in uses(statement))


def _is_step_of_store(context: Context, read: Let, stores: list[Store]) -> bool:
    """``x[i]`` of ``x[i][j] = v``: a view taken only to be written through."""
    users = context.flow.users.get(read.var, [])
    return bool(users) and all(
        (isinstance(u, Store) and u.ref is read.var and u.value is not read.var)
        or (
            isinstance(u, Let)
            and u.op.name == "getitem"
            and u.op.args[0] is read.var
            and _is_step_of_store(context, u, stores)
        )
        for u in users
    )


def _same_place(context: Context, a: places.Path, b: places.Path, loop: Loop) -> bool:
    """Both subscripts name the same place in one iteration, and different places in different iterations."""
    if len(a) != len(b) or not all(same_operand(x, y) for x, y in zip(a, b, strict=True)):
        return False
    return _separates(context, b, loop)


def same_operand(a: Operand, b: Operand) -> bool:
    match a, b:
        case Slice(), Slice():
            return all(map(same_operand, (a.lo, a.hi, a.step), (b.lo, b.hi, b.step)))
        case Const(), Const():
            return type(a.value) is type(b.value) and a.value == b.value
    return a is b


def _separates(context: Context, path: places.Path, loop: Loop) -> bool:
    """Whether some subscript is the loop's own index plus something that is the same wherever the path is."""
    return _tells_apart(context, [item for item in path if isinstance(item, Var)], loop)


def _tells_apart(context: Context, items: list[Var], loop: Loop) -> bool:
    """Whether iterations differ in one of these integers at least: ``i``, ``i + 1``, and ``i + j`` beside ``j``.

    One that counts from the end at times may name a place twice all the same, which its store has to check.
    """
    found = [item for item in items if _slope(context, item, loop, [other for other in items if other is not item])]
    if found and not any(places.is_positive(context, item) for item in found):
        context.told_apart.add(found[0])
    return bool(found)


def _slope(context: Context, var: Var, loop: Loop, fixed: list[Var]) -> int:
    """The coefficient of the loop's index in an affine integer; 0 if there is none or it is not affine.

    The rest of it must be the same in all iterations, or one of ``fixed``.
    """
    if var is loop.index:
        return 1
    if not _is_one_integer(context.facts.kind(var)):
        return 0
    statement = context.flow.definition.get(var)
    if not isinstance(statement, Let) or statement.op.name not in ("add", "sub"):
        return 0
    a, b = statement.op.args
    sign = 1 if statement.op.name == "add" else -1
    free = [isinstance(x, Var) and x not in fixed for x in (a, b)]
    slopes = [
        _slope(context, x, loop, fixed) if f and isinstance(x, Var) else 0 for x, f in zip((a, b), free, strict=True)
    ]
    varies = [
        f and isinstance(x, Var) and places.may_change(context, x, loop) for x, f in zip((a, b), free, strict=True)
    ]
    if any(v and not s for v, s in zip(varies, slopes, strict=True)):
        return 0
    return slopes[0] + sign * slopes[1]


def _is_one_integer(kind: Kind) -> bool:
    """Whether it is a single place, and no integer of so few bits that sums wrap around."""
    return kind.family == "int" or (kind.is_array and not kind.rank and str(kind.dtype).endswith(("int32", "int64")))


def _ordered(context: Context, a: places.Path, b: places.Path, loop: Loop, root: Var) -> bool:
    """Whether what two subscripts name is in one iteration alone, so that program order is kept."""
    return _same_place(context, a, b, loop) or _same_row(context, a, b, loop) or _when_apart(context, a, b, loop, root)


def _same_row(context: Context, a: places.Path, b: places.Path, loop: Loop) -> bool:
    """Both subscripts name places in a row that is this iteration's own."""
    return _tells_apart(context, [x for x, y in zip(a, b, strict=False) if x is y and isinstance(x, Var)], loop)


def _when_apart(context: Context, a: places.Path, b: places.Path, loop: Loop, root: Var) -> bool:
    """Both subscripts name the same place in one iteration; the store checks that no two iterations share one."""
    same = len(a) == len(b) and all(_same_value(context, x, y) for x, y in zip(a, b, strict=True))
    moving = any(loop in context.facts[atom].loops for item in b for atom in atoms(item))
    if same and moving:
        context.when_apart.add(root)
    return same and moving


STEADY = frozenset("getitem iter_item unpack add sub mul builtin.int method.item method.long method.int copy".split())


def _same_value(context: Context, a: Operand, b: Operand) -> bool:
    """Whether two operands are computed alike, from what the region does not write to."""
    if same_operand(a, b):
        return True
    if isinstance(a, Slice) and isinstance(b, Slice):
        parts = zip((a.lo, a.hi, a.step), (b.lo, b.hi, b.step), strict=True)
        return all(_same_value(context, x, y) for x, y in parts)
    if isinstance(a, Group) and isinstance(b, Group) and len(a.items) == len(b.items):
        return all(_same_value(context, x, y) for x, y in zip(a.items, b.items, strict=True))
    if not isinstance(a, Var) or not isinstance(b, Var):
        return False
    one, other = context.flow.definition.get(a), context.flow.definition.get(b)
    if not isinstance(one, Let) or not isinstance(other, Let) or one.op.kwargs or other.op.kwargs:
        return False
    if one.op.name != other.op.name or one.op.name not in STEADY or len(one.op.args) != len(other.op.args):
        return False
    written = stored_roots(context.flow, context.facts.function.body)
    if any(isinstance(atom, Var) and context.flow.root(atom) in written for atom in operands(one.op)):
        return False
    return all(_same_value(context, x, y) for x, y in zip(one.op.args, other.op.args, strict=True))


def _only_add(context: Context, root: Var, stores: list[Store]) -> bool:
    """Several statements that all add to what they find: one after the other for all iterations, to the last digit."""
    updates, dtype = context.updates.of, str(context.facts.kind(root).dtype)
    added = [
        (updates[store].operator, updates[store].value) if store in updates else (store.combine, store.value)
        for store in stores
    ]
    if "bool" in dtype or "16" in dtype or any(operator not in ("add", "sub") for operator, _ in added):
        return False
    one = len({(operator, value.value if isinstance(value, Const) else value) for operator, value in added}) == 1
    counts = one and all(isinstance(value, Const) for _, value in added)  # in any order, that is the same sum
    return "float" not in dtype or root not in context.flow.deciding or counts


def _stores_agree(context: Context, paths: list[places.Path], loop: Loop, root: Var) -> bool:
    """Several stores are in order if what any two of them name is in one iteration alone."""
    return all(
        (_separates(context, b, loop) and (_apart(a, b, loop) or places.are_mirrored(context, a, b, gap=0)))
        or _ordered(context, a, b, loop, root)
        or places.are_disjoint(context, a, b, loop)
        for a, b in itertools.combinations(paths, 2)
    )


def _apart(a: places.Path, b: places.Path, loop: Loop) -> bool:
    """Subscripts that agree on the loop's index and differ in a constant."""
    if len(a) != len(b):
        return False
    shared = any(x is y and x is loop.index for x, y in zip(a, b, strict=True))
    different = any(
        isinstance(x, Const) and isinstance(y, Const) and type(x.value) is int and type(y.value) is int
        and x.value != y.value and (x.value < 0) == (y.value < 0)
        for x, y in zip(a, b, strict=True)
    )  # fmt: skip
    return shared and different


def check_steps(context: Context, loop: Loop, *, same_index: bool, everywhere: bool) -> None:
    """A loop that stays runs step by step for all lanes: what the iterations of a loop outside of it store at one
    place must come in the order that these have.

    ``same_index``: its index is the same in all lanes; ``everywhere``: each step runs in all of them.
    """
    updated = {id(s) for update in context.updates.of for s in (update, *walk(Block((update,))))}
    for store in walk(loop.body):
        if not isinstance(store, Store) or id(store) in updated or store.combine in ("add", "sub"):
            continue
        array = context.arrays.get(context.flow.root(store.ref))
        path = places.path_of(context, store.ref, store.index)
        if array is None:
            continue
        always = everywhere and any(one is store for one in loop.body)
        for outer, axis in context.axis_of.items():
            if axis in array.axes or (path is not None and _in_order(context, path, outer, always)):
                continue
            if path is None or not same_index or not _separates(context, path, loop):
                message = f"iterations of the loop in line {outer.span.line} store at one place of '{array.name}'"
                raise context.refuse("order", message)


def _in_order(context: Context, path: places.Path, outer: Loop, always: bool) -> bool:
    """Whether no two iterations of a loop store at one place, or all of them do so in each step."""
    varies = any(
        isinstance(atom, Var) and places.may_change(context, atom, outer) for item in path for atom in atoms(item)
    )
    return _separates(context, path, outer) or (always and not varies)
