"""Carried values of known form, computed for all iterations at once: scans.

h = a * h + b, h = h + b, `if reset: h = b`           affine: (a, b) after (c, d) is (a * c, a * d + b)
if c: last = v                                        the last value that was taken
if v > best: best = v, best = max(best, v)            the greatest so far, by the last one that was taken

Integers, and values that are only taken and not computed with, keep their bits. Sums of floats are reassociated, so
floats that decide something are left to the sequential loop.
"""

from __future__ import annotations

from looplift.ir.array import Axis, Node
from looplift.ir.facts import Kind
from looplift.ir.grammar import UNDEFINED, Atom, Carry, If, Let, Loop, Var
from looplift.vectorize import alone, doubts, enlarged, nodes, numbers
from looplift.vectorize.context import Context
from looplift.vectorize.forms import (
    Chosen,
    Computed,
    Exceeds,
    Form,
    Given,
    Inside,
    Scan,
    ends,
    goes_in_order,
    keeps_order,
)
from looplift.vectorize.nodes import Val
from looplift.vectorize.reached import leaves
from looplift.vectorize.sheltered import check_regular


def lower_scan(context: Context, scan: Scan, axis: Axis) -> None:
    """Bind the carried value's next one, for all iterations; its axis is in force."""
    carry = scan.carry
    assert isinstance(carry.next, Var)
    kind = context.facts.of[carry.inside].kind
    if scan.way == "taken":
        node = _taken(context, scan, kind, axis)
    else:
        node = _affine(context, scan, kind, axis)
    context.vals[carry.next] = Val(node)


def _init(context: Context, carry: Carry, kind: Kind) -> Node:
    from looplift.vectorize.lower import fitting

    return fitting(context.node(carry.init), kind)


def _taken(context: Context, scan: Scan, kind: Kind, axis: Axis) -> Node:
    init = _absent(scan.form, kind) if scan.carry.init is UNDEFINED else _init(context, scan.carry, kind)
    taken, value = _last(context, scan.form, kind, init, axis)
    if taken is None or value is None:
        raise context.refuse("carried", f"'{scan.carry.hint}' is carried from one iteration to the next")
    differentiated = context.needs_grad and value.kind.is_array and not _only_decides(context, scan.carry)
    if differentiated:
        _check_gradients(context, scan.carry, taken, value, init)
    axes = nodes.merge_axes(taken.axes, value.axes, init.axes, (axis,))
    if not scan.final:
        made = Node("running_last", (taken, value, init), axes, kind, {"axis": axis}, scan.carry.hint)
        if differentiated and taken.axes:
            doubts.record_taken(context, made, taken, value, init, axis)
        return made
    rest = tuple(a for a in axes if a is not axis)
    if taken.op == "passes" and taken.attrs["axis"] is axis and not axis.is_ragged:
        if _is_paired(context, taken) and value is taken.args[0] and init is taken.args[1]:
            return _of_best(context, taken, kind, 1)
        args, attrs = (_best(context, taken), value, init), {"axis": axis, "along": axes}
        return Node("at_best", args, rest, kind, attrs, scan.carry.hint)
    if rest and axis in taken.axes and axis not in value.axes and not differentiated:
        return _one_value(taken, value, init, kind, axis)
    return Node("last_taken", (taken, value, init), rest, kind, {"axis": axis, "along": axes}, scan.carry.hint)


def _absent(form: Form, kind: Kind) -> Node:
    """Where the first value is taken in any case: what each but NaN and itself passes, or a number that is not read."""
    from looplift.vectorize.lower import fitting

    signs = {end.sign for end in ends(form) if isinstance(end, Exceeds)}
    lowest = {">": "-inf", ">=": "-inf", "<": "inf", "<=": "inf"}
    return fitting(nodes.const(float(lowest[signs.pop()]) if signs else 0), kind)


def _best(context: Context, passed: Node) -> Node:
    """The place of the last value that passed all before it, which is the best; one for all that is taken there."""
    if _is_paired(context, passed):
        return _of_best(context, passed, passed.kind, 0)
    if passed.serial not in context.best_places:
        rest = tuple(other for other in passed.axes if other is not passed.attrs["axis"])
        made = Node("best_place", passed.args, rest, passed.kind, passed.attrs | {"along": passed.axes}, "place")
        context.best_places[passed.serial] = made
    return context.best_places[passed.serial]


def _is_paired(context: Context, passed: Node) -> bool:
    """Whether the place of the best value and that value are found together: a gradient needs the place first."""
    others = any(axis is not passed.attrs["axis"] for axis in passed.axes)
    return context.library == "torch" and others and not context.needs_grad


def _of_best(context: Context, passed: Node, kind: Kind, item: int) -> Node:
    """The place of the last value that passed all before it, or that value."""
    rest = tuple(other for other in passed.axes if other is not passed.attrs["axis"])
    if passed.serial not in context.best_places:
        attrs = passed.attrs | {"along": passed.axes}
        context.best_places[passed.serial] = Node("best_of", passed.args, rest, Kind("tuple"), attrs, "best")
    both = context.best_places[passed.serial]
    return Node("best_item", (both,), rest, kind, {"item": item}, ("place", "best")[item])


def _one_value(taken: Node, value: Node, init: Node, kind: Kind, axis: Axis) -> Node:
    """What is one value in all iterations, if any took it."""
    rest = tuple(a for a in taken.axes if a is not axis)
    some = Node("reduce", (taken,), rest, nodes.BOOL, {"axes": (axis,), "operator": "or"})
    known = tuple(node.attrs["value"] if node.op == "const" else None for node in (value, init))
    if kind.family == "bool" and rest and known in ((True, False), (False, True)):
        return some if known[0] else nodes.negated(some)
    return nodes.select(some, value, init, kind)


def _only_decides(context: Context, carry: Carry) -> bool:
    """Whether a carried value is compared and carried on, and for nothing else: no gradient reaches it."""
    results = {atom for _, atom in context.facts.function.results}
    pending: list[Atom] = [carry.inside, carry.next, carry.after]
    seen: set[Atom] = set()
    while pending:
        atom = pending.pop()
        if not isinstance(atom, Var) or atom in seen:
            continue
        seen.add(atom)
        if atom in results:
            return False
        for user in context.flow.users.get(atom, ()):
            match user:
                case If(phis=phis):
                    pending += [phi.var for phi in phis if atom in (phi.then, phi.orelse)]
                case Loop(carries=carries):
                    pending += [part for c in carries if atom in (c.init, c.next) for part in (c.inside, c.after)]
                case Let(op=op) if op.name in COMPARING:
                    pass
                case _:
                    return False
    return True


COMPARING = frozenset(("gt", "ge", "lt", "le", "eq", "ne"))


def _check_gradients(context: Context, carry: Carry, taken: Node, value: Node, init: Node) -> None:
    """What is never taken has no gradient in the loop, and zeros here."""
    for node in (value, init):
        check_regular(context, node)
        alone.check_any_lane(context, node)
    if leaves(init) - leaves(value, surely=True):
        raise context.refuse("carried", f"the first '{carry.hint}' may get no gradient in the loop")
    if leaves(value) - leaves(init, surely=True):
        context.check_some(taken)
    doubts.check_taken(context, value, taken, init)


def _last(context: Context, form: Form, kind: Kind, init: Node, axis: Axis) -> tuple[Node | None, Node | None]:
    """Where something is taken (None: nowhere), and what."""
    from looplift.vectorize.lower import fitting

    match form:
        case Given(atom=atom):
            return nodes.const(True), fitting(context.node(atom), kind)
        case Exceeds(sign=sign, atom=atom, cond=cond, ordered=ordered, when=when, begins=begins):
            value = fitting(context.node(atom), kind)
            if ordered and (kind.family == "float" or "float" in str(kind.dtype)):
                for node in (value, init):
                    context.check(nodes.compare("eq", node, node))
            if begins is not None:
                context.check(nodes.compare("gt" if sign in (">", ">=") else "lt", value, init))
            mask = _also(context, when)
            passed = _passes(context, sign, value, mask, kind, init, axis)
            if when and mask is not None and axis not in mask.axes:  # what is asked is the same in all iterations
                passed = nodes.both(mask, passed)
            if cond is not None:
                context.vals[cond] = Val(passed)
            return passed, value
        case Chosen(cond=cond, then=then, orelse=orelse):
            test = numbers.holds(context, cond)
            with context.masked(test):
                first = _last(context, then, kind, init, axis)
            with context.masked(nodes.negated(test)):
                second = _last(context, orelse, kind, init, axis)
            return _either(context, test, first, second, kind)
    return None, None


def _also(context: Context, when: tuple[Atom, ...]) -> Node | None:
    """The mask, where all of these conditions hold."""
    mask = context.mask
    for atom in when:
        mask = nodes.both(mask, numbers.holds(context, atom))
    return mask


Taken = tuple[Node | None, Node | None]


def _either(context: Context, test: Node, first: Taken, second: Taken, kind: Kind) -> Taken:
    (here, value), (there, other) = first, second
    if here is None:
        return (None if there is None else nodes.both(nodes.negated(test), there)), other
    if there is None:
        return nodes.both(test, here), value
    assert value is not None and other is not None
    if nodes.is_const(here, True) and nodes.is_const(there, True):
        taken = nodes.const(True)
    else:
        sides = [nodes.elementwise("and_", [test, here], nodes.BOOL), nodes.both(nodes.negated(test), there)]
        taken = nodes.elementwise("or_", sides, nodes.BOOL)
    return taken, context.select(test, value, other, kind)


def _passes(context: Context, sign: str, value: Node, mask: Node | None, kind: Kind, init: Node, axis: Axis) -> Node:
    """Where a value passes all that came before it under the mask, and the one before the loop."""
    if kind.rank:
        raise context.refuse("carried", "a tensor is compared with the one before")
    if mask is not None and axis not in mask.axes:
        mask = None  # it tells lanes, of which those outside are not asked
    if kind.is_array:
        numbers.beside_tensors(context, init)
    axes = nodes.merge_axes(value.axes, init.axes, mask.axes if mask is not None else (), (axis,))
    args = (value, init) if mask is None else (value, init, mask)
    made = Node("passes", args, axes, nodes.BOOL, {"axis": axis, "sign": sign, "of": kind})
    return made


def _affine(context: Context, scan: Scan, kind: Kind, axis: Axis) -> Node:
    from looplift.vectorize.lower import fitting
    from looplift.vectorize.numbers import bits_of

    factor, term = _coefficients(context, scan.form, kind)
    init = _init(context, scan.carry, kind)
    for atom in _changes_in_place(scan.form):
        enlarged.check_size(context, init, context.node(atom))
    floating = kind.family == "float" or "float" in str(kind.dtype)
    if term is None and factor is None:
        raise context.refuse("carried", f"'{scan.carry.hint}' is carried from one iteration to the next")
    if context.needs_grad and _resets(scan.form) and leaves(init):
        raise context.refuse("carried", f"the first '{scan.carry.hint}' may get no gradient in the loop")
    if term is not None and _resets(scan.form):
        alone.check_any_lane(context, term)
    doubtful = term is not None and leaves(term) - leaves(term, surely=True)
    if context.needs_grad and scan.final and _resets(scan.form) and doubtful:
        raise context.refuse("carried", f"the last '{scan.carry.hint}' may get no gradient in the loop")
    if not floating and kind.is_number:
        term = _bounded_term(context, term)
    term = nodes.const(0.0 if floating else 0) if term is None else fitting(term, kind)
    axes = nodes.merge_axes(term.axes, init.axes, factor.axes if factor is not None else (), (axis,))
    small = not floating and bits_of(term) + nodes.INDEX_BITS < 62  # so many of them add up to
    attrs = {"axis": axis, "bits": max(bits_of(term) + nodes.INDEX_BITS, bits_of(init)) + 1 if small else 62}
    ordered = scan.carry.inside in context.flow.deciding and goes_in_order(context, kind, scan.form)
    if factor is None:
        attrs["ordered"] = floating and ordered
        made = Node("running_sum", (term, init), axes, kind, attrs, scan.carry.hint)
    else:
        if factor.axes or not factor.kind.is_number:
            factor = fitting(factor, Kind(kind.family, kind.dtype, factor.kind.rank) if kind.is_array else kind)
        begun = _begun(context, scan.form) if context.needs_grad and context.library == "torch" else None
        parts = (factor, term, init) if begun is None else (factor, term, init, begun)
        made = Node("recurrence", parts, axes, kind, attrs, scan.carry.hint)
    if floating and not ordered and not keeps_order(context, scan.carry, kind, scan.form):  # other sums may overflow
        if not scan.final and init.op == "name":
            context.names.setdefault(init.attrs["text"], 1)  # the values before those of the scan begin with it
        made = _named(context, made)
        if factor is None or _never_vanishes(factor):
            context.check(Node("finite", (made,), (), nodes.BOOL))
        else:
            context.check(Node("keeps_products", (made, factor), (), nodes.BOOL, {"axis": axis}))
    doubts.record_scan(context, made, (factor, term), init, axis, drops=_resets(scan.form))
    return made


def _never_vanishes(factor: Node) -> bool:
    """Whether each factor is 0, 1 or -1: a product of such is one of them."""
    if factor.op == "where":
        return all(map(_never_vanishes, factor.args[1:]))
    return factor.op == "const" and factor.attrs["value"] in (0, 1, -1)


def _named(context: Context, node: Node) -> Node:
    from looplift.ir.array import Assign

    name = context.fresh_name(node.hint)
    context.add(Assign(name, node))
    return Node("name", (), node.axes, node.kind, {"text": name, "local": True}, name)


def _bounded_term(context: Context, term: Node | None) -> Node | None:
    from looplift.vectorize.numbers import bounded

    if term is not None:
        bounded(context, term, nodes.INDEX_BITS)
    return term


def _changes_in_place(form: Form) -> list[Atom]:
    """What takes part in changes of the carried value in place."""
    match form:
        case Chosen(then=then, orelse=orelse):
            return _changes_in_place(then) + _changes_in_place(orelse)
        case Computed(form=inner, atom=atom, in_place=in_place):
            return _changes_in_place(inner) + [atom] * (in_place and atom is not None)  # type: ignore[list-item]
    return []


def _resets(form: Form) -> bool:
    """Whether an iteration may drop what was carried to it."""
    match form:
        case Given():
            return True
        case Chosen(then=then, orelse=orelse):
            return _resets(then) or _resets(orelse)
        case Computed(form=inner):
            return _resets(inner)
    return False


def _begun(context: Context, form: Form) -> Node | None:
    """Where an iteration drops what was carried to it; None where none does."""
    match form:
        case Given():
            return nodes.const(True)
        case Computed(form=inner):
            return _begun(context, inner)
        case Chosen(cond=cond, then=then, orelse=orelse):
            test = numbers.holds(context, cond)
            with context.masked(test):
                first = _begun(context, then)
            with context.masked(nodes.negated(test)):
                second = _begun(context, orelse)
            sides = [(test, first), (nodes.negated(test), second)]
            found = [nodes.both(side, here) for side, here in sides if here is not None]
            return nodes.elementwise("or_", found, nodes.BOOL) if len(found) > 1 else next(iter(found), None)
    return None


Pair = tuple[Node | None, Node | None]
"""``a`` and ``b`` of ``a * h + b``; an absent ``a`` is 1, an absent ``b`` is 0."""


def _coefficients(context: Context, form: Form, kind: Kind) -> Pair:
    match form:
        case Inside():
            return None, None
        case Given(atom=atom):
            return _zero(kind), _given(context, atom, kind)
        case Computed():
            return _after(context, form, kind)
        case Chosen(cond=cond, then=then, orelse=orelse):
            test = numbers.holds(context, cond)
            with context.masked(test):
                first = _coefficients(context, then, kind)
            with context.masked(nodes.negated(test)):
                second = _coefficients(context, orelse, kind)
            return (
                _selected(context, test, first[0], second[0], _one(kind), kind),
                _selected(context, test, first[1], second[1], _zero(kind), kind),
            )
    raise AssertionError(form)


def _given(context: Context, atom: Atom, kind: Kind) -> Node:
    """A value in the type of the carried one, in which the loop computes with it."""
    value = context.node(atom)
    if is_fresh_zero(value):
        return _zero(kind)
    if value.kind.family == "bool" and kind.family != "bool":
        return numbers.integer(value)  # torch takes the sum of two truth values for one of them
    return nodes.cast(value, kind.dtype) if value.kind.is_array and kind.is_array else value


def is_fresh_zero(value: Node) -> bool:
    """Whether a value is the number 0 as a tensor that was made for it."""
    fresh = value.op == "apply" and value.attrs.get("name") in ("torch.zeros", "np.zeros")
    return fresh and not value.kind.rank and not value.axes


def _zero(kind: Kind) -> Node:
    return nodes.const(0.0 if kind.family == "float" or "float" in str(kind.dtype) else 0)


def _one(kind: Kind) -> Node:
    return nodes.const(1.0 if kind.family == "float" or "float" in str(kind.dtype) else 1)


def _selected(context: Context, test: Node, a: Node | None, b: Node | None, absent: Node, kind: Kind) -> Node | None:
    from looplift.vectorize.lower import fitting

    if a is None and b is None:
        return None
    sides = [absent if side is None else side for side in (a, b)]
    if all(side.op == "const" for side in sides) and sides[0].attrs == sides[1].attrs:
        return sides[0]
    rank = max(side.kind.rank for side in sides)
    of = Kind(kind.family, kind.dtype, rank) if kind.is_array else kind
    then, orelse = (side if side.op == "const" else fitting(side, of) for side in sides)
    return context.select(test, then, orelse, of)


def _after(context: Context, form: Computed, kind: Kind) -> Pair:
    factor, term = _coefficients(context, form.form, kind)
    if form.op == "neg":
        return _times(context, factor, nodes.const(-1), kind), _times(context, term, nodes.const(-1), kind, absent=None)
    assert form.atom is not None
    value = _given(context, form.atom, kind)
    if form.op in ("add", "sub"):
        if form.op == "sub" and form.swapped:
            factor = _times(context, factor, nodes.const(-1), kind)
            term = _times(context, term, nodes.const(-1), kind, absent=None)
        negative = form.op == "sub" and not form.swapped
        return factor, _plus(context, term, value, kind, "sub" if negative else "add")
    if form.op == "mul":
        return _times(context, factor, value, kind), _times(context, term, value, kind, absent=None)
    inverse = _binary(context, "truediv", nodes.const(1.0), value, kind)
    return _times(context, factor, inverse, kind), _times(context, term, inverse, kind, absent=None)


ONE = object()


def _times(context: Context, a: Node | None, value: Node, kind: Kind, absent: object = ONE) -> Node | None:
    if a is None:
        return value if absent is ONE else None
    if a.op == "const" and a.attrs["value"] == 0:
        return a
    if a.op == "where" and not value.kind.rank and (chosen := _chosen_factor(context, a, value, kind)) is not None:
        return chosen
    return _binary(context, "mul", a, value, kind)


def _chosen_factor(context: Context, factor: Node, value: Node, kind: Kind) -> Node | None:
    """``(m ? 0 : 1) * value`` as ``m ? 0 : value``; None for other factors."""
    mask, *sides = factor.args
    found: list[Node] = []
    for side in sides:
        if _number(side) in (0, 1):
            found.append(value if _number(side) == 1 else _zero(kind))
        elif side.op == "where" and (inner := _chosen_factor(context, side, value, kind)) is not None:
            found.append(inner)
        else:
            return None
    return _selected(context, mask, found[0], found[1], _zero(kind), kind)


def _number(node: Node) -> object:
    return node.attrs["value"] if node.op == "const" else None


def _plus(context: Context, term: Node | None, value: Node, kind: Kind, name: str) -> Node:
    if term is not None and _number(term) != 0:
        return _binary(context, name, term, value, kind)
    return value if name == "add" else _binary(context, "sub", _zero(kind), value, kind)


def _binary(context: Context, name: str, a: Node, b: Node, kind: Kind) -> Node:
    from looplift.vectorize.arithmetic import arithmetic

    if a.kind.is_number and b.kind.is_number:
        family = "float" if "float" in (a.kind.family, b.kind.family) or name == "truediv" else "int"
        sides = [numbers.exact_float(context, side) if family == "float" else side for side in (a, b)]
        return nodes.elementwise(name, sides, Kind(family))
    rank = max(a.kind.rank, b.kind.rank)
    array = a.kind if a.kind.is_array else b.kind
    return arithmetic(context, name, [a, b], Kind(array.family, kind.dtype or array.dtype, rank))
