"""A cycle of a loop in, the form of its carried value: how the next one is made from the one before.

The forms that a scan computes are rows of ``recurrences.py``; a cycle of another form stays sequential.
"""

from __future__ import annotations

from looplift.base.data import dataclass
from looplift.ir.facts import Kind
from looplift.ir.grammar import UNDEFINED, Atom, Carry, Const, Group, If, Let, Loop, Op, Operand, Phi, Var
from looplift.vectorize import nodes
from looplift.vectorize.context import Context
from looplift.vectorize.dependence import Component, Pieces, Unit
from looplift.vectorize.memory import same_operand


@dataclass(frozen=True)
class Inside:
    """The carried value at entry of the iteration."""


@dataclass(frozen=True)
class Given:
    """A value that does not depend on the carried one."""

    atom: Atom


@dataclass(frozen=True)
class Computed:
    """``op`` of a carried form and a given value, ``swapped`` if the given one stands first; ``in_place`` where the
    carried one must not become larger."""

    op: str
    form: Form
    atom: Atom | None
    swapped: bool = False
    in_place: bool = False


@dataclass(frozen=True)
class Chosen:
    cond: Atom
    then: Form
    orelse: Form


@dataclass(frozen=True)
class Exceeds:
    """The given value where it passes the carried one, else the carried one; ``>``, ``>=``, ``<`` or ``<=``.

    ``ordered``: only among values that are no NaN.
    ``cond``: the comparison, or its conjunction with what ``when`` holds. ``begins``: whether one was taken before;
    the first is taken in any case.
    """

    sign: str
    atom: Atom
    cond: Var | None = None
    ordered: bool = False
    when: tuple[Atom, ...] = ()
    begins: Var | None = None


Form = Inside | Given | Computed | Chosen | Exceeds

LINEAR = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "truediv", "neg": "neg",
          "torch.add": "add", "torch.sub": "sub", "torch.mul": "mul"}  # fmt: skip
WIDE = 4096
"""Numbers in one step from which on a sequential loop is faster than a scan by doubling (measured on two cores)."""


def conditions(form: Form) -> set[Var]:
    """The comparisons that a scan makes itself."""
    match form:
        case Exceeds(cond=cond):
            return {cond} if cond is not None else set()
        case Chosen(then=then, orelse=orelse):
            return conditions(then) | conditions(orelse)
    return set()


@dataclass(frozen=True)
class Scan:
    """A carried value and the form of its next one: ``affine`` or ``taken``."""

    carry: Carry
    form: Form
    way: str
    views: list[Unit]
    final: bool
    """Whether only the value after the loop is read."""


def scan_of(context: Context, pieces: Pieces, component: Component) -> Scan | None:
    """The scan that a cycle is, or None."""
    if len(component.carries) != 1 or any(not isinstance(u.item, Let | Phi | Carry) for u in component.units):
        return None
    (carry,) = component.carries
    views = views_of(context, component)
    kind = context.facts.of[carry.inside].kind
    if not (kind.is_number or kind.is_array) or "complex" in str(kind.dtype or kind.family):
        return None
    members = {var for unit in component.units if unit not in views for var in unit.defines}
    form = _form(context, carry.next, carry, members)
    if form is None:
        return None
    if carry.init is UNDEFINED:
        fits = _begins_inside(context, pieces.loop, form, kind)
    else:  # another flag than that there is a value takes values that pass nothing
        fits = not any(_begins(end) for end in ends(form)) and _init_fits(context, carry, kind)
    if not fits:
        return None
    final = not _read_elsewhere(context, component, carry, form)
    if _takes(form) and _passes_alone(form):
        return Scan(carry, form, "taken", views, final)
    if _is_affine(form) and _may_reorder(context, members, kind, component, form):
        return Scan(carry, form, "affine", views, final)
    return None


def views_of(context: Context, component: Component) -> list[Unit]:
    """Elements that stand under a condition of the cycle and do not depend on it otherwise: read in any case."""
    found: list[Unit] = []
    own = {var for unit in component.units for var in unit.defines}
    for unit in component.units:
        if (
            isinstance(unit.item, Let)
            and unit.item.op.name in ("getitem", "iter_item", "method.item")
            and not unit.reads & own
        ):
            found.append(unit)
            own -= unit.defines
    return found


def _begins_inside(context: Context, loop: Loop, form: Form, kind: Kind) -> bool:
    """Whether a form reads what is carried only once it was taken, which another carried value tells."""
    begins = {_begins(end) for end in ends(form) if isinstance(end, Exceeds)}
    if kind.rank or (begins and not (kind.family == "float" or "float" in str(kind.dtype))):
        return False
    flags = [carry for carry in loop.carries if _is_constant(carry.init, False)]
    return any(begins <= {carry.inside} and _tells(context, form, carry.next, carry) for carry in flags)


def _begins(end: Form) -> Var | None:
    return end.begins if isinstance(end, Exceeds) else None


def _tells(context: Context, form: Form, atom: Atom, carry: Carry) -> bool:
    """Whether an atom is True where a form takes a value, and else what ``carry`` was."""
    match form:
        case Inside():
            return atom is carry.inside
        case Exceeds() | Given():
            return _is_constant(atom, True)
        case Chosen(cond=cond, then=then, orelse=orelse):
            made = context.flow.definition.get(atom) if isinstance(atom, Var) else None
            if not isinstance(made, If) or made.cond is not cond:
                return False
            phi = next(phi for phi in made.phis if phi.var is atom)
            return _tells(context, then, phi.then, carry) and _tells(context, orelse, phi.orelse, carry)
    return False


def _is_constant(atom: Atom, value: bool) -> bool:
    return isinstance(atom, Const) and atom.value is value


def _init_fits(context: Context, carry: Carry, kind: Kind) -> bool:
    init = context.facts[carry.init].kind
    return init == kind or (init.is_number and (kind.is_array or kind.is_number))


def _read_elsewhere(context: Context, component: Component, carry: Carry, form: Form) -> bool:
    own = {id(unit.item) for unit in component.units}
    for unit in component.units:
        for var in unit.defines:
            for user in context.flow.users.get(var, ()):
                phis = getattr(user, "phis", ())
                if any(id(phi) not in own and var in (phi.then, phi.orelse) for phi in phis):
                    return True
                if (
                    var in conditions(form)
                    or id(user) in own
                    or (phis and any(id(phi) in own for phi in phis))
                    or carry in getattr(user, "carries", ())
                ):
                    continue
                return True
    return False


def _form(context: Context, atom: Atom, carry: Carry, members: set[Var]) -> Form | None:
    if atom is carry.inside:
        return Inside()
    if not isinstance(atom, Var) or atom not in members:
        return Given(atom)
    statement = context.flow.definition.get(atom)
    if isinstance(statement, Let):
        return _computed(context, statement.op, carry, members)
    if not isinstance(statement, If):
        return None
    phi = next(phi for phi in statement.phis if phi.var is atom)
    return _chosen(context, statement.cond, phi, carry, members)


def _computed(context: Context, op: Op, carry: Carry, members: set[Var]) -> Form | None:
    name = op.name.removeprefix("inplace.")
    if op.kwargs or any(not isinstance(arg, Var | Const) for arg in op.args):
        return None
    args = [arg for arg in op.args if isinstance(arg, Var | Const)]
    if name in ("builtin.max", "builtin.min") and len(args) == 2:
        return _extreme(context, name, args, carry, members)
    if name not in LINEAR or len(args) != (1 if name == "neg" else 2):
        return None
    inner = [_form(context, arg, carry, members) for arg in args]
    if any(form is None for form in inner):
        return None
    if len(args) == 1:
        assert inner[0] is not None
        return Computed("neg", inner[0], None)
    carried = [not isinstance(form, Given) for form in inner]
    if all(carried) or not any(carried) or (name == "truediv" and carried[1]):
        return None
    position = carried.index(True)
    form = inner[position]
    assert form is not None
    in_place = op.name.startswith("inplace.")
    return Computed(LINEAR[name], form, args[1 - position], swapped=position == 1, in_place=in_place)


def _extreme(context: Context, name: str, args: list[Var | Const], carry: Carry, members: set[Var]) -> Form | None:
    """``max(a, b)`` is ``b if b > a else a``, so that a NaN stays in the first place only."""
    strict = ">" if name.endswith("max") else "<"
    if args[0] is carry.inside and args[1] not in members:
        return Exceeds(strict, args[1])
    if args[1] is carry.inside and args[0] not in members:
        return Exceeds(strict + "=", args[0], ordered=True)
    return None


COMPARISONS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}
MIRRORED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}


def _chosen(context: Context, cond: Atom, phi: Phi, carry: Carry, members: set[Var]) -> Form | None:
    then, orelse = (_form(context, side, carry, members) for side in (phi.then, phi.orelse))
    if then is None or orelse is None:
        return None
    if cond not in members:
        return Chosen(cond, then, orelse)
    if isinstance(then, Given) and isinstance(orelse, Inside):
        return _passing(context, cond, then.atom, carry, members)
    return None


def _conjunction(context: Context, cond: Atom, members: set[Var]) -> tuple[Atom, tuple[Atom, ...]]:
    """``a and b and c``: the last one, and those before it if they do not depend on what is carried."""
    statement = context.flow.definition.get(cond) if isinstance(cond, Var) else None
    if not isinstance(statement, If) or statement.cond in members:
        return cond, ()
    phi = next(phi for phi in statement.phis if phi.var is cond)
    if phi.orelse is not statement.cond and not (isinstance(phi.orelse, Const) and phi.orelse.value is False):
        return cond, ()
    last, before = _conjunction(context, phi.then, members)
    return last, (statement.cond, *before)


def _first_or(context: Context, cond: Atom, members: set[Var]) -> tuple[Var | None, Atom]:
    """``not there or a``: what tells that there is none yet, and the other condition."""
    statement = context.flow.definition.get(cond) if isinstance(cond, Var) else None
    if not isinstance(statement, If) or statement.cond in members or not isinstance(statement.cond, Var):
        return None, cond
    phi = next(phi for phi in statement.phis if phi.var is cond)
    test = context.flow.definition.get(statement.cond)
    if phi.then is not statement.cond and not _is_constant(phi.then, True):
        return None, cond
    match test:
        case Let(op=Op(name="not", args=(Var() as there,))):
            return there, phi.orelse
    return None, cond


def _passing(context: Context, cond: Atom, value: Atom, carry: Carry, members: set[Var]) -> Form | None:
    """``v > inside`` or ``inside < v`` as the condition under which ``v`` is taken."""
    if not isinstance(cond, Var):
        return None
    test, when = _conjunction(context, cond, members)
    begins, test = _first_or(context, test, members)
    statement = context.flow.definition.get(test) if isinstance(test, Var) else None
    if not isinstance(statement, Let) or statement.op.name not in COMPARISONS:
        return None
    sign, (a, b) = COMPARISONS[statement.op.name], statement.op.args
    if b is carry.inside and _same_value(context, a, value):
        return Exceeds(sign, value, cond, when=when, begins=begins)
    if a is carry.inside and _same_value(context, b, value):
        return Exceeds(MIRRORED[sign], value, cond, when=when, begins=begins)
    return None


def _same_value(context: Context, a: object, b: object) -> bool:
    """One variable, or the same element read twice from something that does not change."""
    if a is b:
        return True
    first, second = (context.flow.definition.get(x) if isinstance(x, Var) else None for x in (a, b))
    if not isinstance(first, Let) or not isinstance(second, Let) or first.op.name != second.op.name:
        return False
    if first.op.name not in ("getitem", "iter_item", "method.item", "builtin.float", "builtin.int") or first.op.kwargs:
        return False
    root = context.flow.root(first.var)
    if root in context.arrays or len(first.op.args) != len(second.op.args):
        return False
    return all(_same_operand(context, x, y) for x, y in zip(first.op.args, second.op.args, strict=True))


def _same_operand(context: Context, a: Operand, b: Operand) -> bool:
    if isinstance(a, Group) and isinstance(b, Group) and len(a.items) == len(b.items):
        return all(_same_operand(context, x, y) for x, y in zip(a.items, b.items, strict=True))
    return same_operand(a, b) or _same_value(context, a, b)


def _takes(form: Form) -> bool:
    match form:
        case Inside() | Given() | Exceeds():
            return True
        case Chosen(then=then, orelse=orelse):
            return _takes(then) and _takes(orelse)
    return False


def _passes_alone(form: Form) -> bool:
    """Whether a value that must pass the carried one is all that is ever taken: it is compared with such values."""
    found = ends(form)
    return (
        not any(isinstance(end, Exceeds) for end in found) or len([e for e in found if not isinstance(e, Inside)]) == 1
    )


def ends(form: Form) -> list[Form]:
    return [*ends(form.then), *ends(form.orelse)] if isinstance(form, Chosen) else [form]


def _is_affine(form: Form) -> bool:
    match form:
        case Inside() | Given():
            return True
        case Chosen(then=then, orelse=orelse):
            return _is_affine(then) and _is_affine(orelse)
        case Computed(form=inner):
            return _is_affine(inner)
    return False


def _may_reorder(context: Context, members: set[Var], kind: Kind, component: Component, form: Form) -> bool:
    """Whether the rounding of another order is allowed, or the order is kept, and a scan is worth its work."""
    dtype = str(kind.dtype or kind.family)
    if "bool" in dtype or "16" in dtype or (kind.family == "array" and not kind.rank):
        return False
    if kind.family == "numpy" and "float" not in dtype:
        return False
    if kind.family == "float" or "float" in dtype:
        decides = any(var in context.flow.deciding for var in members)
        if decides and not goes_in_order(context, kind, form):
            return False
    elif any(
        isinstance(u.item, Let) and u.item.op.name.removeprefix("inplace.") in ("mul", "truediv")
        for u in component.units
    ):
        return False
    (carry,) = component.carries
    if isinstance(carry.init, Const) and nodes.is_negative_zero(carry.init.value):
        return False
    return _size(context, carry) < WIDE


def keeps_order(context: Context, carry: Carry, kind: Kind, form: Form) -> bool:
    """Whether the scan is a running sum from 0 that adds one term after the other, in the type of the loop.

    So ``cumsum`` does on a CPU in double precision, and NumPy's in any.
    """
    return _is_zero(context, carry.init) and goes_in_order(context, kind, form)


def goes_in_order(context: Context, kind: Kind, form: Form) -> bool:
    """Whether the scan is a running sum, from whatever number, that can be added up in the order of the loop."""
    if not _adds_once(form):
        return False
    if context.library == "np":
        return True
    double = kind.family == "float" or str(kind.dtype) == "torch.float64"
    devices = {getattr(fact.sample, "device", None) for fact in context.facts.of.values()}
    return double and all(device is None or device.type == "cpu" for device in devices)


def _is_zero(context: Context, atom: Atom) -> bool:
    if isinstance(atom, Const):
        return type(atom.value) in (int, float) and atom.value == 0
    made = context.flow.definition.get(atom)
    fresh = isinstance(made, Let) and made.op.name in ("torch.zeros", "np.zeros")
    return fresh and not context.facts.kind(atom).rank


def _adds_once(form: Form) -> bool:
    match form:
        case Inside():
            return True
        case Computed(op=op, form=Inside(), swapped=swapped):
            return op == "add" or (op == "sub" and not swapped)
        case Chosen(then=then, orelse=orelse):
            return _adds_once(then) and _adds_once(orelse)
    return False


def _size(context: Context, carry: Carry) -> int:
    """How many numbers a step works on, in the call that the code is made for, as far as that is known."""
    size = 1
    for extent in context.facts.of[carry.inside].shape:
        size *= extent
    for axis in context.active_axes():
        size *= axis.extent.attrs.get("sample") or 1
    return size
