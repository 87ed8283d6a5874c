"""Lowers a region to an array program: each loop becomes an axis where proofs allow it, else it stays a loop.

Let      align operands (broadcast, gather), mask
If       both sides under masks, phis are selects
Store    slices, gathers or scatters; replaced altogether when it covers a fresh array
Loop     an axis if check_loop says yes; else sequential, with its body lowered in the axes outside of it
"""

from __future__ import annotations

from looplift.base.errors import NotLiftable
from looplift.ir.array import Assign, Axis, Node, Program
from looplift.ir.facts import Facts, Kind
from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Atom,
    Block,
    Carry,
    Const,
    If,
    Let,
    Loop,
    Operand,
    Perform,
    Range,
    Require,
    Statement,
    Store,
    Var,
    While,
    as_atom,
)
from looplift.ops.table import CREATION
from looplift.vectorize import lists, nodes, ownership, proofs, views
from looplift.vectorize.context import Array, Context, Contribution, index_node
from looplift.vectorize.flow import Flow, stored_roots
from looplift.vectorize.indexing import extent_of, store
from looplift.vectorize.native import native_loop
from looplift.vectorize.nodes import Affine, Val
from looplift.vectorize.numbers import truth
from looplift.vectorize.operations import operation
from looplift.vectorize.reductions import accumulator_of


def lower(facts: Facts, *, library: str, needs_grad: bool, kernel_of=None) -> tuple[Program, Context]:
    """The array program of a region. Raises NotLiftable when something in it has no rule.

    ``kernel_of`` makes native kernels of loops: with it, outermost loops of scalar work become kernels.
    """
    context = Context(facts, Flow(facts.function), library, needs_grad=needs_grad, kernel_of=kernel_of)
    _enter_parameters(context)
    views.check_views(context)
    block(context, facts.function.body)
    results = [(key, _result(context, key, atom)) for key, atom in facts.function.results]
    return Program([*context.steps[0], *unread(context, [node for _, node in results])], results, library), context


RAISING = frozenset(
    ("gather", "take", "vmapped", "matmul", "module", "leading", "join", "reshaped", "apply", "fold", "pack")
)


def unread(context: Context, results: list[Node]) -> list[Assign]:
    """Values that nothing reads but that may raise when they are computed, as the loop would."""
    from looplift.ir.array import operands_of, reachable

    read = {node.serial for node in reachable([*results, *(n for s in context.steps[0] for n in operands_of(s))])}
    dead = [val.node for var, val in context.vals.items() if not context.flow.users.get(var)]
    inner = [node for node in reachable(dead) if node.op in RAISING and node.serial not in read]
    return [Assign("_", node) for node in inner if not _is_creation(node)]


def _is_creation(node: Node) -> bool:
    name = node.attrs.get("name", "")
    return node.op == "apply" and (name in CREATION or name in ("builtin.bool", "method.item"))


def _enter_parameters(context: Context) -> None:
    function = context.facts.function
    stored = stored_roots(context.flow, function.body)
    for var in function.params:
        path = function.attributes["paths"][var]
        kind = context.facts.of[var].kind
        node = nodes.name(path, kind)
        node.attrs["is_list"] = kind.family in ("list", "tuple")
        if kind.is_array:
            node.attrs["shape"] = context.facts.of[var].shape
        if var in stored:
            if not kind.is_array:
                raise NotLiftable("effect-order", f"'{path}', a {kind.family} of the caller, is changed in the loop")
            shape = tuple(extent_of(node, dim) for dim in range(kind.rank))
            context.arrays[var] = Array(var, node, kind, shape, False, ())
        context.vals[var] = Val(node)
    _share_extents(context)


def _share_extents(context: Context) -> None:
    """Extents that the variant guards to be equal are written as one of them."""
    found = {context.vals[var].node.attrs["text"]: context.vals[var].node for var in context.facts.function.params}
    for large, small in context.facts.function.attributes.get("equal", ()):
        (node, dim), (other, other_dim) = (_place(found, key) for key in (large, small))
        node.attrs.setdefault("equal", {})[dim] = (other, other_dim)


def _place(found: dict[str, Node], key: str) -> tuple[Node, int]:
    path, _, dim = key.rpartition(".shape[")
    return found[path], int(dim.rstrip("]"))


def _result(context: Context, key: str, atom: Atom) -> Node:
    val = context.val(atom)
    views.check_result(context, key, atom)
    if isinstance(val.sequence, lists.Built):
        return lists.returned(context, val.sequence)
    if val.items is not None:
        made = tuple(_result_item(context, item) for item in val.items)
        return Node("display", made, (), Kind("tuple"), {"kind": val.node.attrs["kind"]})
    return _owned(val.node)


def _result_item(context: Context, item: Val) -> Node:
    if isinstance(item.sequence, lists.Built):
        return lists.returned(context, item.sequence)
    if item.items is not None:
        made = tuple(_result_item(context, inner) for inner in item.items)
        return Node("display", made, (), Kind("tuple"), {"kind": item.node.attrs["kind"]})
    return _owned(item.node)


def _owned(node: Node) -> Node:
    if node.axes:
        raise NotLiftable("internal", "a result that still varies with a loop")
    return node


# ---------------------------------------------------------------- statements


def block(context: Context, statements: Block) -> None:
    for statement in statements:
        if statement.span.line:
            context.span = statement.span
        _statement(context, statement)


def _statement(context: Context, statement: Statement) -> None:
    match statement:
        case Let():
            _let(context, statement)
        case Store(ref=ref, index=index, value=value, combine=combine):
            array, index = _target(context, ref, index)
            ownership.check_stored_value(context, array, value, combine)
            store(context, array, index, context.node(value), combine)
        case Append(ref=ref, value=value):
            val = context.vals[ref]
            if not isinstance(val.sequence, lists.Built):
                raise context.refuse("effect-order", f"appends to '{ref.hint}', which the region did not make")
            views.check_kept_value(context, ref, value)
            val.sequence.append(context, _element(context, context.val(value)))
        case If():
            _branch(context, statement)
        case Loop():
            _loop(context, statement)
        case Require(cond=cond):
            node = truth(context.node(cond))
            if context.mask is not None and not node.axes:
                node = nodes.both(None, nodes.elementwise("and_", [node, nodes.const(True)], nodes.BOOL))
                node = context.select(context.mask, node, nodes.const(True), nodes.BOOL)
            context.check(node)
        case Perform():
            _perform(context, statement)


def _element(context: Context, val: Val) -> Node:
    if val.sequence is not None or val.items is not None:
        raise context.refuse("unsupported-value", "a list or tuple is appended to a list")
    return val.node


def _let(context: Context, statement: Let) -> None:
    op, var = statement.op, statement.var
    fact = context.facts.of[var]
    if op.name.startswith("inplace.") and fact.kind.family in ("tensor", "array", "list"):
        ownership.check_owned(context, op, statement)
    if var in context.accumulators:
        _contribute(context, var)
        return
    if op.name == "list" and not op.args:
        context.vals[var] = Val(nodes.const(None), sequence=lists.Built(var, context.active_axes()))
        return
    made = lists.joined(context, op, fact, var) or _of_built_list(context, op, fact) or operation(context, statement)
    context.vals[var] = made
    if context.flow.root(var) is var and _is_stored(context, var):
        _new_array(context, var, made, fact)


def _of_built_list(context: Context, op, fact) -> Val | None:
    """``sum``, ``len``, ``max``, ``min`` of a list that the region made."""
    if not op.args or not isinstance(op.args[0], Var):
        return None
    val = context.vals.get(op.args[0])
    if val is None or not isinstance(val.sequence, lists.Built) or op.kwargs:
        return None
    if op.name in ("builtin.len", "iter_len"):
        return Val(val.sequence.length(context))
    if op.name in ("getitem", "iter_item"):
        return val.sequence.item(context, op.args[1], fact)
    raise context.refuse("unknown-op", f"'{op.name.rpartition('.')[2]}' of a list that the loop fills")


def _is_stored(context: Context, var: Var) -> bool:
    if "stored" not in context.facts.function.attributes:
        context.facts.function.attributes["stored"] = stored_roots(context.flow, context.facts.function.body)
    return var in context.facts.function.attributes["stored"]


def _new_array(context: Context, var: Var, made: Val, fact) -> None:
    """An array made in the region and written to: private to the axes in force where it is made."""
    if not fact.kind.is_array:
        raise context.refuse("unsupported-value", f"'{var.hint}', a {fact.kind.family}, is written to")
    axes = context.active_axes()
    ownership.check_fresh(context, var)
    shape = tuple(extent_of(made.node, dim) for dim in range(fact.kind.rank))
    node = made.node
    if axes and node.axes != axes:
        node = Node("spread", (node,), axes, fact.kind, {"extents": list(shape)}, var.hint)
    node.attrs["extents"] = _creation_extents(node, shape)
    shape = tuple(extent_of(node, dim) for dim in range(fact.kind.rank))
    context.arrays[var] = Array(var, node, fact.kind, shape, True, axes)


def _creation_extents(node: Node, shape: tuple[Node, ...]) -> list[Node]:
    """The extents given to ``torch.zeros(n, m)``, so that loops over ``range(n)`` are seen to cover the array."""
    made = node.args[0] if node.op == "spread" else node
    if made.op != "apply":
        return list(shape)
    name, args = made.attrs["name"], made.args[: made.attrs["positional"]]
    base = name.rpartition(".")[2]
    if base in ("zeros_like", "ones_like", "empty_like", "full_like", "clone", "copy") and args[0].kind.rank == len(
        shape
    ):
        return [extent_of(args[0], dim) for dim in range(len(shape))]
    if base not in ("zeros", "ones", "empty", "full", "new_zeros", "new_ones", "new_full", "new_empty"):
        return list(shape)
    if base.startswith("new_"):
        args = args[1:]
    sizes = args[0].args if args and args[0].op == "display" else args
    if args and args[0].op == "const" and isinstance(args[0].attrs["value"], tuple):
        sizes = tuple(map(nodes.const, args[0].attrs["value"]))
    if base in ("full", "new_full") and args and args[0].op != "display":
        sizes = args[:1]
    if len(sizes) == len(shape) and all(s.kind.family == "int" for s in sizes):
        return list(sizes)
    return list(shape)


def _target(context: Context, ref: Var, index: Operand) -> tuple[Array, Operand]:
    """The array that a store writes to, chained subscripts put together: ``x[i][j] = v`` is ``x[i, j] = v``."""
    from looplift.ir.grammar import Group, Slice

    if ref in context.arrays:
        return context.arrays[ref], index
    statement = context.flow.definition.get(ref)
    if isinstance(statement, Let) and statement.op.name in ("getitem", "iter_item"):
        owner, first = statement.op.args
        if isinstance(owner, Var) and context.facts.kind(owner).is_array:
            array, lead = _target(context, owner, first)
            items = list(lead.items) if isinstance(lead, Group) else [lead]
            if any(isinstance(i, Slice) or (isinstance(i, Const) and not isinstance(i.value, int)) for i in items):
                raise context.refuse("aliasing", "a store through a slice of an array")
            if any(kind.is_array and kind.rank for kind in (context.facts.kind(as_atom(i)) for i in items)):
                raise context.refuse("aliasing", "a store into a copy made by an index tensor")
            last = list(index.items) if isinstance(index, Group) else [index]
            return array, Group("tuple", (*items, *last))
    raise context.refuse("aliasing", f"a store into '{ref.hint}', which is no array of its own")


# ---------------------------------------------------------------- branches


def _branch(context: Context, statement: If) -> None:
    cond = truth(context.node(statement.cond))
    with context.masked(cond):
        block(context, statement.then)
    with context.masked(nodes.negated(cond)):
        block(context, statement.orelse)
    for phi in statement.phis:
        if phi.var in context.accumulators:
            continue
        context.vals[phi.var] = _joined(context, cond, phi)


def _joined(context: Context, cond: Node, phi) -> Val:
    kind = context.facts.of[phi.var].kind
    then, orelse = context.val(phi.then), context.val(phi.orelse)
    if kind.family == "bool":
        if nodes.is_const(orelse.node, False):
            return Val(nodes.both(cond, truth(then.node)))
        if phi.orelse is not None and orelse.node is cond:
            return Val(nodes.both(cond, truth(then.node)))
        if nodes.is_const(then.node, True) or then.node is cond:
            return Val(nodes.elementwise("or_", [cond, truth(orelse.node)], nodes.BOOL))
        if nodes.is_const(then.node, False):
            return Val(nodes.both(nodes.negated(cond), truth(orelse.node)))
    if not (kind.is_array or kind.is_number):
        raise context.refuse("mixed-kinds", f"'{phi.var.hint}' is a {kind.family} that differs by iteration")
    node = context.select(cond, _fitting(then.node, kind), _fitting(orelse.node, kind), kind)
    node.hint = phi.var.hint
    return Val(node)


def _fitting(node: Node, kind: Kind) -> Node:
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
    if context.kernel_of is not None and not context.axes and not context.serial_loops and context.mask is None:
        try:
            return native_loop(context, loop)
        except NotLiftable as refusal:
            context.notes.append(f"line {loop.span.line}: no kernel, {refusal.message}")
    proof = proofs.check_loop(context, loop)
    if proof is None:
        _as_axis(context, loop)
        context.decisions[loop] = ("lanes", "", "")
        return
    try:
        if isinstance(loop.domain, While):
            from looplift.vectorize.sequential import while_loop

            while_loop(context, loop)
        else:
            from looplift.vectorize.sequential import for_loop

            for_loop(context, loop)
    except NotLiftable as refusal:
        if refusal.code in ("carried", "memory-dependence"):
            raise
        context.notes.append(f"line {loop.span.line}: {proof.message}")
        raise
    context.span = saved
    context.decisions[loop] = ("sequential", proof.code, proof.message)


def _as_axis(context: Context, loop: Loop) -> None:
    """The loop becomes an axis: its body is lowered once, for all iterations together."""
    domain = loop.domain
    assert isinstance(domain, Range)
    assert loop.index is not None
    axis, mask = _axis(context, domain, context.fresh_name(loop.index.hint))
    context.axes.append(axis)
    context.vals[loop.index] = _index_val(axis)
    for carry in loop.carries:
        _open_carry(context, loop, carry)
    with context.masked(mask):
        block(context, loop.body)
    for carry in loop.carries:
        _close_carry(context, loop, carry, axis, mask)
    context.axes.remove(axis)


def _index_val(axis: Axis) -> Val:
    return Val(index_node(axis), Affine(((axis, 1),), nodes.const(0)))


def _axis(context: Context, domain: Range, name: str) -> tuple[Axis, Node | None]:
    """The axis of a range, and a mask for bounds that move with an outer axis (a triangle)."""
    step = context.node(domain.step)
    stride = nodes.constant_of(step)
    if stride in (None, 0):
        raise context.refuse("unsupported-iterable", "a range whose step is not a constant")
    lo, hi = context.affine(domain.lo), context.affine(domain.hi)
    if lo is None or hi is None:
        return _ragged_axis(context, domain, name), None
    first, last, mask_lo, mask_hi = lo.base, hi.base, bool(lo.terms), bool(hi.terms)
    if (mask_lo or mask_hi) and stride != 1:
        raise context.refuse("unsupported-iterable", "a range with a step and a bound that moves with an outer loop")
    first = _extreme_value(context, lo, low=True) if mask_lo else first
    last = _extreme_value(context, hi, low=False) if mask_hi else last
    extent = _extent(first, last, stride)
    context.check_at_most(nodes.const(1), extent)
    axis = Axis(name, _order(context), extent, first, stride)
    return axis, _triangle(axis, lo if mask_lo else None, hi if mask_hi else None)


def _order(context: Context) -> int:
    context.depth += 1
    return context.depth


def _extreme_value(context: Context, form: Affine, low: bool) -> Node:
    """The least or greatest value of a bound over the axes that it moves with."""
    value = form.base
    for axis, coefficient in form.terms:
        if axis.is_ragged:
            raise context.refuse("ragged-shape", "a range whose bound moves with a ragged loop")
        first = axis.lo
        last = nodes.plus(axis.lo, nodes.times(nodes.minus(axis.extent, nodes.const(1)), axis.step))
        least = (coefficient * axis.step > 0) == low
        value = nodes.plus(value, nodes.times(first if least else last, coefficient))
    return value


def _extent(first: Node, last: Node, stride: int) -> Node:
    if stride == 1:
        return nodes.minus(last, first)
    if stride == -1:
        return nodes.minus(first, last)
    return Node("count", (first, last, nodes.const(stride)), (), nodes.INT, {"key": f"#{id(first)}{id(last)}{stride}"})


def _triangle(axis: Axis, lo: Affine | None, hi: Affine | None) -> Node | None:
    from looplift.vectorize.context import node_of

    mask = None
    position = index_node(axis)
    if lo is not None:
        mask = nodes.compare("ge", position, node_of(lo))
    if hi is not None:
        mask = nodes.both(mask, nodes.compare("lt", position, node_of(hi)))
    return mask


def _ragged_axis(context: Context, domain: Range, name: str) -> Axis:
    """A range whose length differs by lane: flat over all entries, with the parent's index for each."""
    lengths = context.node(domain.hi)
    if not (isinstance(domain.lo, Const) and domain.lo.value == 0) or lengths.kind.family != "int":
        raise context.refuse("ragged-shape", "a range whose start differs from lane to lane")
    if len(lengths.axes) != 1 or context.mask is not None:
        raise context.refuse("ragged-shape", "a ragged loop under an 'if' or inside several loops")
    parent = lengths.axes[0]
    if lengths.op != "lengths":
        lengths = nodes.elementwise("clamp_min", [lengths, nodes.const(0)], nodes.INT)
    extent = Node("total", (lengths,), (), nodes.INT, {"key": f"#{lengths.serial}.total"})
    context.check_at_most(nodes.const(1), extent)
    return Axis(name, _order(context), extent, nodes.const(0), 1, parent, offsets=lengths)


# ---------------------------------------------------------------- carried values of an axis


def _open_carry(context: Context, loop: Loop, carry: Carry) -> None:
    if carry.inside in context.accumulators:
        return
    if carry.next is carry.inside:
        context.vals[carry.inside] = context.val(carry.init)
        return
    if not context.flow.users.get(carry.inside) or proofs.only_carried(context, carry):
        return
    found = accumulator_of(context.flow, loop, carry)
    if found is None:
        raise context.refuse("carried", f"'{carry.hint}' is carried from one iteration to the next")
    proofs.check_reduction(context, found)
    for var in (*found.chain, *found.updates):
        context.accumulators[var] = found
    context.contributions[found] = []


def _contribute(context: Context, var: Var) -> None:
    found = context.accumulators[var]
    atom, negate = found.updates[var]
    value = context.node(atom)
    if negate:
        value = nodes.elementwise("neg", [value], value.kind)
    context.contributions[found].append(Contribution(found.operator, value, context.mask, tuple(context.axes)))


def _close_carry(context: Context, loop: Loop, carry: Carry, axis: Axis, mask: Node | None) -> None:
    found = context.accumulators.get(carry.inside)
    if found is not None:
        if found.loop is loop and found.carry is carry:
            from looplift.vectorize.folding import total

            context.vals[carry.after] = Val(total(context, found, axis))
        return
    if carry.next is carry.inside:
        context.vals[carry.after] = context.val(carry.init)
        return
    if mask is not None or axis.is_ragged:
        raise context.refuse("carried", f"the last value of '{carry.hint}' in a loop that some lanes may not enter")
    context.vals[carry.after] = _last_value(context, carry, axis)


def _last_value(context: Context, carry: Carry, axis: Axis) -> Val:
    val = context.val(carry.next)
    if carry.next is UNDEFINED or val.sequence is not None or val.items is not None:
        raise context.refuse("carried", f"the last value of '{carry.hint}'")
    kind = context.facts.of[carry.after].kind
    if val.affine is not None and any(a is axis for a, _ in val.affine.terms):
        return _last_index(val.affine, axis)
    if axis not in val.node.axes:
        return val
    rest = tuple(a for a in val.node.axes if a is not axis)
    return Val(Node("last", (val.node,), rest, kind, {"axis": axis}, carry.hint))


def _last_index(form: Affine, axis: Axis) -> Val:
    from looplift.vectorize.context import node_of

    coefficient = dict(form.terms)[axis]
    last = nodes.plus(axis.lo, nodes.times(nodes.minus(axis.extent, nodes.const(1)), axis.step))
    made = Affine(
        tuple(t for t in form.terms if t[0] is not axis), nodes.plus(form.base, nodes.times(last, coefficient))
    )
    return Val(node_of(made), made) if made.terms else Val(made.base)


# ---------------------------------------------------------------- effects


def _perform(context: Context, statement: Perform) -> None:
    from looplift.vectorize.effects import perform

    perform(context, statement)
