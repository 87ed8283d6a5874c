"""Lowers a region to an array program: each loop becomes an axis where proofs allow it, else it stays a loop.

Let      align operands (broadcast, gather), mask
If       both sides under masks, phis are selects
Store    slices, gathers or scatters; replaced altogether when it covers a fresh array
Loop     an axis if check_loop says yes; else sequential, with its body lowered in the axes outside of it
"""

from __future__ import annotations

import math

from looplift.base.errors import NotLiftable
from looplift.ir.array import Axis, Check, Effect, Node, Program, Run, Write, every_step, operands_of
from looplift.ir.facts import EITHER, Facts, Kind
from looplift.ir.grammar import (
    DISTINCT,
    SORTED,
    TIMES,
    UNDEFINED,
    Append,
    Atom,
    Block,
    Const,
    Group,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Perform,
    Phi,
    Range,
    Require,
    Statement,
    Store,
    Var,
    While,
    is_backwards,
    operands,
    walk,
)
from looplift.ops import slopes
from looplift.ops.table import ZIPPED, base_name
from looplift.vectorize import (
    arrays,
    carries,
    choices,
    chosen,
    doubts,
    enlarged,
    list_folds,
    lists,
    native,
    nodes,
    numbers,
    ordered,
    overlap,
    ownership,
    proofs,
    reached,
    records,
    rounding,
    rows,
    settled,
    stored_inputs,
    stores,
    tallies,
    tolist,
    unread,
    updates,
    views,
)
from looplift.vectorize.axes import axis_of
from looplift.vectorize.bounds import given_integers
from looplift.vectorize.context import Array, Context, Update, index_node
from looplift.vectorize.flow import TRUTH, Flow, is_stored, stored_roots
from looplift.vectorize.memory import check_shared, only_shape
from looplift.vectorize.nodes import Affine, Val
from looplift.vectorize.operations import operation, reads_sequence
from looplift.vectorize.rebound import held_names
from looplift.vectorize.results import results_of
from looplift.vectorize.subscripts import extent_of


def lower(facts: Facts, *, library: str, needs_grad: bool, kernel_of=None) -> tuple[Program, Context]:
    """The array program of a region. Raises NotLiftable when something in it has no rule.

    ``kernel_of`` makes native kernels of loops: with it, outermost loops of scalar work become kernels.
    """
    context = Context(facts, Flow(facts.function), library, needs_grad=needs_grad, kernel_of=kernel_of)
    context.names = dict.fromkeys(held_names(facts.function), 1)
    context.told = rounding.told(context)
    context.parts_ways = needs_grad and library == "torch" and _chooses(facts)
    if kernel_of is None and _stores(facts):
        context.updates = updates.updates_of(context.flow, facts, needs_grad=needs_grad)
    _enter_parameters(context)
    rounding.require(context, facts.function.params)
    if _stores(facts):
        views.check_views(context)
    block(context, facts.function.body)
    if _stores(facts):
        views.check_views_of_views(context)
        chosen.check_choices(context)
        chosen.check_carried(context)
        chosen.check_listed(context)
    for _, atom in facts.function.results:
        if atom in context.facts.handed:
            settled.check(context, atom)
    results, memory = results_of(context)
    lanes = any(decision != "native" for decision, _, _ in context.decisions.values())
    in_some_lanes = context.is_parted or context.parts_ways or (context.is_triangular and _multiplies(facts))
    finite = _finite(context) if lanes and needs_grad and library == "torch" and in_some_lanes else []
    made = unread.completed(context, [node for _, node in results])
    if needs_grad:
        reached.settle_choices(context, made, [node for _, node in results])
        doubts.check_all_known(context)
        changes = [step for step in every_step(made) if isinstance(step, Write | Run | Effect)]
        handed = [*(node for _, node in results), *(one for step in changes for one in operands_of(step))]
        doubts.check_moved(context, handed)
    small = given_integers(context.given, made, [node for _, node in results])
    steps = [*small, *finite, *made]
    return Program(steps, results, library, memory=memory), context


def _stores(facts: Facts) -> bool:
    """Whether the region stores into arrays or lists."""
    return any(isinstance(s, Store) for s in walk(facts.function.body))


def _chooses(facts: Facts) -> bool:
    """Whether some iterations take what others do not, and multiply it."""
    statements = list(walk(facts.function.body))
    parts = any(isinstance(s, If) or (isinstance(s, Loop) and isinstance(s.domain, While)) for s in statements)
    parts = parts or any(isinstance(s, Let) and s.op.name in ("builtin.max", "builtin.min") for s in statements)
    return parts and _multiplies(facts)


def _multiplies(facts: Facts) -> bool:
    """Whether a gradient of zero may become NaN on its way."""
    lets = [s for s in walk(facts.function.body) if isinstance(s, Let)]
    names = [s.op.name for s in lets if facts.kind(s.var).family not in ("int", "bool")]
    return not all(base_name(name.removeprefix("inplace.")) in slopes.LINEAR for name in names)


def _finite(context: Context) -> list[Check]:
    """What a lane computes and does not take has a gradient of 0 here, which infinite factors make NaN."""
    checks = []
    for var in context.facts.function.params:
        kind, path = context.facts.of[var].kind, context.facts.function.attributes["paths"][var]
        if kind.family == "tensor" and nodes.may_have_gradient(kind.dtype) and var not in context.arrays:
            checks.append(Check(Node("finite", (nodes.name(path, kind),), (), nodes.BOOL)))
        elif kind.family == "float" and not nodes.is_derived(path) and math.isfinite(context.facts.of[var].sample):
            checks.append(Check(nodes.elementwise("math.isfinite", [nodes.name(path, kind)], nodes.BOOL)))
    return checks


def _enter_parameters(context: Context) -> None:
    function = context.facts.function
    stored = stored_roots(context.flow, function.body)
    for var in function.params:
        path = function.attributes["paths"][var]
        kind = context.facts.of[var].kind
        node = nodes.name(path, kind)
        if nodes.is_derived(path):
            node = Node("derived", kind=kind, attrs={"text": path}, hint=var.name)
        node.attrs["is_list"] = kind.family in ("list", "tuple")
        if kind.family == "int":
            node.attrs["seen"] = context.facts.of[var].sample
        if kind.family == "float":
            node.attrs["unbounded"] = not math.isfinite(context.facts.of[var].sample)
        if kind.is_array:
            node.attrs["shape"] = context.facts.of[var].shape
            node.attrs["gradient"] = getattr(context.facts.of[var].sample, "requires_grad", False)
        if var in stored:
            if not kind.is_array:
                raise NotLiftable(
                    "effect-order", f"'{path}', {_said(kind)} made outside of what is lifted here, is changed"
                )
            shape = tuple(extent_of(node, dim) for dim in range(kind.rank))
            context.arrays[var] = Array(var, node, kind, shape, False, ())
            function.attributes.setdefault("whole", set()).add(path)
        context.vals[var] = Val(node)
    _share_lengths(context)
    _share_extents(context)


def _said(kind: Kind) -> str:
    return "an object" if kind.family == "object" else f"a {kind.family}"


def _share_lengths(context: Context) -> None:
    """Lists of lists that have as many items as those of another one take their lengths from it."""
    for var, other in context.facts.function.attributes.get("alike", {}).items():
        if var in context.vals and other in context.vals:
            context.vals[var].node.attrs["sizes of"] = context.vals[other].node


def _share_extents(context: Context) -> None:
    """Extents that the variant guards to be equal are written as one of them."""
    found = {context.vals[var].node.attrs["text"]: context.vals[var].node for var in context.facts.function.params}
    for large, small in context.facts.function.attributes.get("equal", ()):
        (node, dim), (other, other_dim) = (_place(found, key) for key in (large, small))
        node.attrs.setdefault("equal", {})[dim] = (other, other_dim)


def _place(found: dict[str, Node], key: str) -> tuple[Node, int]:
    path, _, dim = key.rpartition(".shape[")
    return found[path], int(dim.rstrip("]"))


# ---------------------------------------------------------------- statements


def block(context: Context, statements: Block) -> None:
    for statement in statements:
        if not context.takes(statement):
            continue
        if statement.span.line:
            context.span = statement.span
        _statement(context, statement)
        if context.told.bounds:
            rounding.require_made(context, statement)


def _statement(context: Context, statement: Statement) -> None:
    if context.facts.mixed:
        rounding.check(context, statement)
        settled.check_operands(context, statement)
    match statement:
        case Let():
            _let(context, statement)
        case Store() | If() if statement in context.updates.of:
            _update(context, context.updates.of[statement])
        case Store(ref=ref, index=index, value=value, combine=combine):
            if not context.axes and not context.serial_loops:
                _check_shared(context, ref)
            overlap.check_overlap(context, ref, index, value, combine)
            array, index = arrays.target(context, ref, index)
            _stored(context, array, index, value, combine)
        case Append(ref=ref, value=value):
            val = context.vals[ref]
            if not isinstance(val.sequence, lists.Built):
                raise context.refuse("effect-order", f"appends to '{ref.hint}', which the region did not make")
            views.check_kept_value(context, ref, value)
            val.sequence.append(context, _element(context, context.lookup(value)))
        case If():
            with context.inside(statement):
                _branch(context, statement)
        case Loop():
            rounding.require_indices(context, statement)
            with context.inside(statement):
                _loop(context, statement)
        case Require(cond=cond):
            node = numbers.holds(context, cond)
            if context.mask is not None and not node.axes:
                node = nodes.both(None, nodes.elementwise("and_", [node, nodes.const(True)], nodes.BOOL))
                node = context.select(context.mask, node, nodes.const(True), nodes.BOOL)
            context.check(node)
        case Perform():
            _perform(context, statement)


def _stored(context: Context, array: Array, index: Operand, value: Atom, combine: str | None) -> None:
    """A store of a value; of a tuple or list into a row of NumPy's, of each item in its place."""
    val, kind = context.lookup(value), context.facts.kind(value)
    if val.sequence is not None and combine is None and isinstance(val.sequence, rows.Listed):
        if rows.fits(context, val.sequence, array.kind):
            val = val.sequence.value(context)
            kind = val.node.kind
    items = val.items if kind.family in ("tuple", "list") and val.sequence is None else None
    single = all(
        item.node.kind.is_number or (item.node.kind.is_array and not item.node.kind.rank) for item in items or ()
    )
    path = index.items if isinstance(index, Group) and index.kind == "tuple" else (index,)
    if not items or combine or not single or array.kind.family != "array" or len(path) + 1 != array.kind.rank:
        ownership.check_stored_value(context, array, kind, combine)
        if array.kind.family == kind.family == "tensor" and array.kind.dtype.is_complex and not kind.dtype.is_complex:
            val = Val(nodes.cast(val.node, array.kind.dtype))  # whose gradient torch can differentiate again
        stores.store(context, array, index, val, combine)
        stored_inputs.note(context, array, val)
        return
    if not all(isinstance(one, Var | Const) and context.facts.kind(one).family in ("int", "numpy") for one in path):
        raise context.refuse("unsupported-value", f"a {kind.family} is stored into a part of '{array.var.hint}'")
    extent = array.shape[array.kind.rank - 1]
    context.check(nodes.compare("eq", extent, nodes.const(len(items))), f"={nodes.key_of(extent)}:{len(items)}")
    for position, item in enumerate(items):
        ownership.check_stored_value(context, array, item.node.kind, None)
        stores.store(context, array, Group("tuple", (*path, Const(position))), item, None)


def _check_shared(context: Context, ref: Var) -> None:
    """Outside of loops, too, what is read may be read before a store that stands in front of it."""
    if (refusal := check_shared(context, context.flow.root(ref), context.facts.function.span)) is not None:
        raise refusal


def _update(context: Context, update: Update) -> None:
    """A place combined with a value, also if several iterations do that to one place."""
    overlap.check_overlap(context, update.ref, update.index, update.value, update.operator)
    array, index = arrays.target(context, update.ref, update.index)
    if update.leads:
        stores.check_comparable(context, array, context.node(update.value))
    _stored(context, array, index, update.value, update.operator)


def _element(context: Context, val: Val) -> Val:
    """What is put into a list: a list of numbers is a row."""
    if val.sequence is None and val.items is None:
        return val
    if isinstance(val.sequence, tolist.Numbers):
        return val
    if isinstance(val.sequence, lists.Built) and val.items is None:
        return lists.as_row(context, val.sequence)
    raise context.refuse("unsupported-value", "a list or tuple is appended to a list")


def _let(context: Context, statement: Let) -> None:
    op, var = statement.op, statement.var
    if var in context.updates.absorbed:
        return
    fact = context.facts.of[var]
    if op.name.startswith("inplace.") and fact.kind.family in ("tensor", "array", "list"):
        ownership.check_owned(context, op, statement)
        _check_size(context, op, var)
    if var in context.accumulators:
        carries.contribute(context, var)
        return
    if op.name == "list" and not op.args:
        context.vals[var] = Val(nodes.const(None), sequence=_empty(context, var))
        return
    if is_stored(context.flow, var) and (begun := lists.continued(context, var, op)) is not None:
        context.vals[var] = Val(nodes.const(None), sequence=begun)
        return
    _check_kept(context, op)
    if op.name in TRUTH and isinstance(op.args[0], Var) and context.lookup(op.args[0]).sequence is not None:
        full = numbers.holds(context, op.args[0])
        context.vals[var] = Val(nodes.negated(full) if op.name == "not" else full)
        return
    made = tolist.as_list(context, statement, fact) if op.name == "method.tolist" else None
    made = tallies.tallied(context, op) if op.name in (DISTINCT, TIMES) else made
    if made is None and reads_sequence(context, op):
        made = (
            (records.joined(context, op, fact) if op.name in TABLES else None)
            or lists.joined(context, op, fact, var)
            or _of_built_list(context, op, fact, var)
            or rows.made(context, op, fact, var)
        )
    context.vals[var] = made = made or operation(context, statement)
    if context.flow.root(var) is var and is_stored(context.flow, var):
        arrays.new_array(context, var, made, fact)
    else:
        unread.note(context, var, made.node)


def _check_size(context: Context, op: Op, var: Var) -> None:
    """What is changed in place must not become larger."""
    target, value = op.args[0], op.args[1] if len(op.args) > 1 else None
    if var in context.accumulators:
        found = context.accumulators[var]
        target, value = found.carry.init, found.updates[var][0]
    sides = [context.lookup(one) for one in (target, value) if isinstance(one, Var)]
    if len(sides) == 2 and all(one.sequence is None and one.dims is None for one in sides):
        enlarged.check_size(context, sides[0].node, sides[1].node)


TABLES = ("torch.tensor", "np.array", "np.asarray")


def _empty(context: Context, var: Var) -> lists.Built:
    return lists.Built(var, context.active_axes(), outside=context.mask, depth=len(context.serial_loops))


def _check_kept(context: Context, op: Op) -> None:
    """A backward pass may keep a whole array that the next iteration of a sequential loop overwrites."""
    if op.name in ("getitem", "iter_item", "iter_len") or base_name(op.name) in ("clone", "copy", "len", *SIZES):
        return
    for atom in operands(op):
        if isinstance(atom, Var) and atom in context.arrays and not only_shape(op) and context.is_overwritten(atom):
            if context.arrays[atom].home is not context.steps[-1]:
                raise context.refuse("memory-dependence", f"'{atom.hint}' is read as a whole and written to in a loop")


SIZES = frozenset("zeros_like ones_like empty_like full_like".split())


def _of_built_list(context: Context, op, fact, var: Var) -> Val | None:
    """``sum``, ``len``, ``max``, ``min`` of a list that the region made."""
    if not op.args or not isinstance(op.args[0], Var):
        return None
    val = context.vals.get(op.args[0])
    if val is None or val.sequence is None or not isinstance(val.sequence, lists.Built) or op.kwargs:
        return None
    if op.name in ("builtin.len", "iter_len"):
        return Val(val.sequence.length(context))
    if op.name == "getitem" and is_backwards(op.args[1]):
        return lists.backwards(context, val.sequence)
    if op.name in ("getitem", "iter_item"):
        return val.sequence.item(context, op.args[1], fact)
    if op.name in ZIPPED or op.name in ("mapping", "unpack", "tuple", "list"):
        return None
    if isinstance(val.sequence, lists.Continued):
        val.sequence.collected(context)
    if op.name == SORTED:
        return ordered.places_in_order(context, val.sequence, op, var)
    if op.name in list_folds.FOLDS:
        return list_folds.folded(context, val.sequence, op, fact, var)
    raise context.refuse("unknown-op", f"'{op.name.rpartition('.')[2]}' of a list that the loop fills")


# ---------------------------------------------------------------- branches


def _branch(context: Context, statement: If) -> None:
    cond = numbers.holds(context, statement.cond)
    phis = [phi for phi in statement.phis if context.takes(phi)]
    joinable = all(_is_joinable(context, phi) for phi in phis)
    either = any(context.facts.kind(phi.var) == EITHER for phi in phis)
    if (context.serial_loops or either) and not cond.axes and joinable and not _lengthens_a_list(statement):
        roots = stored_roots(context.flow, statement.then) | stored_roots(context.flow, statement.orelse)
        then = choices.Side(lambda: block(context, statement.then), [phi.then for phi in phis])
        orelse = choices.Side(lambda: block(context, statement.orelse), [phi.orelse for phi in phis])
        choices.choose(context, cond, roots, [phi.var for phi in phis], then, orelse)
        return
    with context.masked(cond):
        block(context, statement.then)
    with context.masked(nodes.negated(cond)):
        block(context, statement.orelse)
    for phi in phis:
        if phi.var in context.accumulators:
            continue
        context.vals[phi.var] = _joined(context, cond, phi)


def _lengthens_a_list(statement: If) -> bool:
    """Whether a list that is there before grows on one side: its length depends on the condition."""
    inside = [*walk(statement.then), *walk(statement.orelse)]
    made = {inner.var for inner in inside if isinstance(inner, Let)}
    return any(isinstance(inner, Append) and inner.ref not in made for inner in inside)


def _is_joinable(context: Context, phi: Phi) -> bool:
    kind = context.facts.kind(phi.var)
    return phi.var not in context.accumulators and (kind.is_array or kind.is_number or kind == EITHER)


def _joined(context: Context, cond: Node, phi: Phi) -> Val:
    kind = context.facts.of[phi.var].kind
    if UNDEFINED in (phi.then, phi.orelse):
        return context.val(phi.orelse if phi.then is UNDEFINED else phi.then)
    then, orelse = context.val(phi.then), context.val(phi.orelse)
    if kind.family == "bool":
        if nodes.is_const(orelse.node, False):
            return Val(nodes.both(cond, numbers.truth(then.node)))
        if phi.orelse is not None and orelse.node is cond:
            return Val(nodes.both(cond, numbers.truth(then.node)))
        if nodes.is_const(then.node, True) or then.node is cond:
            return Val(nodes.elementwise("or_", [cond, numbers.truth(orelse.node)], nodes.BOOL))
        if nodes.is_const(then.node, False):
            return Val(nodes.both(nodes.negated(cond), numbers.truth(orelse.node)))
    if not (kind.is_array or kind.is_number):
        raise context.refuse("mixed-kinds", f"'{phi.var.hint}' is a {kind.family} that differs by iteration")
    node = context.select(cond, fitting(then.node, kind), fitting(orelse.node, kind), kind)
    node.hint = phi.var.hint
    return Val(node)


def fitting(node: Node, kind: Kind) -> Node:
    """A side of a join as the kind of the whole."""
    if node.kind == kind:
        return node
    if kind.is_array and node.kind.is_array and node.kind.dtype == kind.dtype:
        return node
    if kind.is_array:
        return nodes.cast(node, kind.dtype)
    wanted = nodes.lane_dtype(kind)
    if not node.axes and node.op == "const":
        return nodes.const({"float": float, "int": int}.get(kind.family, lambda v: v)(node.attrs["value"]))
    if not node.axes:
        return Node("apply", (node,), (), kind, {"name": f"builtin.{kind.family}", "kwargs": [], "positional": 1})
    return Node("retype", (nodes.cast(node, wanted),), node.axes, kind)


# ---------------------------------------------------------------- loops


def _loop(context: Context, loop: Loop) -> None:
    saved = context.span
    if context.kernel_of is not None and not context.axes and context.mask is None:
        try:
            return native.native_loop(context, loop)
        except NotLiftable as refusal:
            context.notes.append(f"line {loop.span.line}: no kernel, {refusal.message}")
            context.no_kernels.append(refusal)
    proof = proofs.check_loop(context, loop)
    if (runs := choices.runs_at_times(context, loop)) is None:
        _lowered(context, loop, proof)
    else:
        after, before = [carry.after for carry in loop.carries], [carry.init for carry in loop.carries]
        then = choices.Side(lambda: _lowered(context, loop, proof), after)
        orelse = choices.Side(lambda: None, before)
        choices.choose(context, runs, stored_roots(context.flow, loop.body), after, then, orelse)
    context.span = saved


def _lowered(context: Context, loop: Loop, proof: NotLiftable | None) -> None:
    if proof is None:
        _as_axis(context, loop)
        context.decisions[loop] = ("lanes", "", "")
        return
    try:
        decision = _remembering(context, loop, proof)
    except NotLiftable as refusal:
        if refusal.code in ("carried", "memory-dependence"):
            raise
        context.notes.append(f"line {loop.span.line}: {proof.message}")
        raise
    context.decisions[loop] = (decision, proof.code, proof.message) if decision == "sequential" else (decision, "", "")


DISTRIBUTABLE = ("carried", "memory-dependence", "order")
"""Reasons that are about some statements of a loop, and need not hold the others."""


def _remembering(context: Context, loop: Loop, proof: NotLiftable) -> str:
    """A loop whose iterations need one another: distributed as far as possible, the rest one by one."""
    from looplift.vectorize.distribution import distribute
    from looplift.vectorize.schedule import schedule_of
    from looplift.vectorize.sequential import for_loop, while_loop

    _check_changes(context, loop)
    if isinstance(loop.domain, While):
        while_loop(context, loop)
    elif proof.code in DISTRIBUTABLE and (made := schedule_of(context, loop)) is not None:
        decision = distribute(context, loop, made)
        context.distributed.add(loop)
        return decision
    else:
        for_loop(context, loop)
    return "sequential"


def _check_changes(context: Context, loop: Loop) -> None:
    """Updates in place, also those that a scan takes in, must be of the loop's own memory."""
    for statement in walk(loop.body):
        if isinstance(statement, Let) and statement.op.name.startswith("inplace."):
            if context.facts.kind(statement.var).family in ("tensor", "array", "list"):
                ownership.check_owned(context, statement.op, statement)


def _as_axis(context: Context, loop: Loop) -> None:
    """The loop becomes an axis: its body is lowered once, for all iterations together."""
    domain = loop.domain
    assert isinstance(domain, Range)
    assert loop.index is not None
    runs = loop in context.strips.values()
    axis, mask, numbers = axis_of(context, domain, context.fresh_name(loop.index.hint), runs=runs)
    context.axis_of[loop] = axis
    context.lanes_of[loop] = axis, mask
    context.axes.append(axis)
    context.vals[loop.index] = numbers
    for carry in loop.carries:
        carries.open_carry(context, loop, carry)
    with context.masked(mask):
        block(context, loop.body)
    for carry in loop.carries:
        carries.close_carry(context, loop, carry, axis, mask)
    context.axes.remove(axis)


def index_val(axis: Axis) -> Val:
    return Val(index_node(axis), Affine(((axis, 1),), nodes.const(0)))


# ---------------------------------------------------------------- effects


def _perform(context: Context, statement: Perform) -> None:
    from looplift.vectorize.effects import perform

    perform(context, statement)
