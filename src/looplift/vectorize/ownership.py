"""What is changed in place must be memory of its own, and take what is stored: a reason where it does not."""

from __future__ import annotations

from looplift.base.errors import NotLiftable
from looplift.ir.facts import Kind
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
    Op,
    Statement,
    Store,
    Var,
    as_atom,
    operands,
    walk,
)
from looplift.ops import table
from looplift.vectorize.context import Array, Context
from looplift.vectorize.flow import stored_roots
from looplift.vectorize.memory import made_inside
from looplift.vectorize.sharing import may_give_its_argument
from looplift.vectorize.views import program_order


def check_owned(context: Context, op: Op, statement: Let) -> None:
    """``x += v`` on a tensor changes it for everyone who holds it: it must be the only name of a fresh value."""
    target = op.args[0]
    name = getattr(target, "hint", "it")
    seen: set[Var] = set()
    if (
        not isinstance(target, Var)
        or not _is_owned(context, target, seen)
        or _seen_changing(context, statement, seen | _other_names(context, statement, seen))
    ):
        message = f"'{name}' is changed in place, and may be known under another name"
        raise NotLiftable("aliasing", message, statement.span)


def _seen_changing(context: Context, change: Let, names: set[Var]) -> bool:
    """Whether a value that shares memory with what is changed is read after the change, or again in a loop.

    What takes its value from the change shows the new one.
    """
    order, inside = program_order(context.facts.function.body)
    after = _shown_after(context, change, inside[id(change)])
    if any(c.next in names - after and c.next is not c.inside for loop in inside[id(change)] for c in loop.carries):
        return True  # what another change made of it before would go on
    for var in names - after:
        definition = context.flow.definition.get(var)
        home = inside.get(id(definition), ())
        if isinstance(definition, Loop) and any(c.inside is var for c in definition.carries):
            home = (*home, definition)
        if var is change.op.args[0] and any(loop not in home for loop in inside[id(change)]):
            return True  # the next iteration would begin with the value that this one does
        for user in context.flow.users.get(var, ()):
            if user is change or isinstance(user, Loop):
                continue
            later = order[id(user)] > order[id(change)] and not _exclude(context, user, change)
            again = any(loop in inside[id(change)] and loop not in home for loop in inside[id(user)])
            if later or again:
                return True
    return context.needs_grad and _changes_what_is_remembered(context, change, names | after)


def _changes_what_is_remembered(context: Context, change: Let, names: set[Var]) -> bool:
    """Whether a backward pass needs a value as it was before the change: it is told that this is no more."""
    order, inside = program_order(context.facts.function.body)
    held = names | _followed(context, {change.var}, back=True)
    makers = [context.flow.definition.get(var) for var in held]
    made = [one for one in makers if isinstance(one, Let) and not one.op.name.startswith("inplace.")]
    lasting = {
        loop
        for loop in inside[id(change)]
        if any(loop not in inside[id(one)] for one in made) or any(carry.inside in held for carry in loop.carries)
    }
    if any(_remembers_its_result(context, one.op) for one in made):
        return True
    if any(atom in held for atom in change.op.args[1:]) and table.base_name(change.op.name) not in SUMS:
        return True  # ``v *= v``
    for var in held:
        for user in context.flow.users.get(var, ()):
            if user is change or not _remembers(context, user, var):
                continue
            later = order[id(change)] > order[id(user)] and not _exclude(context, user, change)
            if later or not lasting.isdisjoint(inside[id(user)]):
                return True
    return False


def _remembers_its_result(context: Context, op: Op) -> bool:
    """Whether a backward pass needs what an operation gave; of powers where the exponent is a tensor."""
    name = table.base_name(op.name)
    if name in ("pow", "float_power"):
        return isinstance(op.args[1], Var) and context.facts.kind(op.args[1]).is_array
    return name in KEEPING_RESULTS


def _exclude(context: Context, a: Statement, b: Statement) -> bool:
    """Whether two statements stand on the two sides of an ``if``, of which one is taken."""
    for statement in walk(context.facts.function.body):
        if isinstance(statement, If):
            sides = [{id(inner) for inner in walk(side)} for side in (statement.then, statement.orelse)]
            if any(id(a) in one and id(b) in other for one, other in (sides, sides[::-1])):
                return True
    return False


def _other_names(context: Context, change: Let, names: set[Var]) -> set[Var]:
    """Variables that an ``if`` or a loop may make another name of what is changed, but for those that hold it later."""
    after = _followed(context, {change.var}, back=False)
    after |= {
        c.after for var in names for c in _carries(context, var) if c.inside is var and c.next in {*after, c.inside}
    }
    found = _followed(context, names, back=True) - names - after
    results = {atom for _, atom in context.facts.function.results}
    if results & ((names | found) - after):
        raise NotLiftable(
            "aliasing", f"'{change.var.hint}' is changed in place, and may be known under another name", change.span
        )
    return found


def _followed(context: Context, names: set[Var], *, back: bool) -> set[Var]:
    """The variables that may be the same object later on; ``back``: also in the next iteration of a loop."""
    found, pending = set(names), list(names)
    while pending:
        var = pending.pop()
        more: set[Var] = set()
        for user in context.flow.users.get(var, ()):
            match user:
                case If(phis=phis):
                    more |= {phi.var for phi in phis if var is phi.then or var is phi.orelse}
                case Loop(carries=carries):
                    same = [carry for carry in carries if var is carry.init or var is carry.next]
                    more |= {carry.after for carry in same} | ({carry.inside for carry in same} if back else set())
                case Let(op=op) if op.name in CHOOSING or (op.name.startswith("inplace.") and op.args[0] is var):
                    more.add(user.var)
        pending += more - found
        found |= more
    return found


def _shown_after(context: Context, change: Let, loops: tuple[Loop, ...]) -> set[Var]:
    """The variables that take their value from a change, in the same iteration of the ``loops`` that it is in."""
    found, pending = {change.var}, [change.var]
    while pending:
        var = pending.pop()
        more: set[Var] = set()
        for user in context.flow.users.get(var, ()):
            match user:
                case If(phis=phis):
                    more |= {phi.var for phi in phis if var is phi.then or var is phi.orelse}
                case Loop(carries=carries):
                    same = [carry for carry in carries if var is carry.init or var is carry.next]
                    inner = user not in loops
                    more |= {carry.after for carry in same} | ({carry.inside for carry in same} if inner else set())
                case Let(op=op) if op.name.startswith("inplace.") and op.args[0] is var:
                    more.add(user.var)
        pending += more - found
        found |= more
    return found


def _remembers(context: Context, user: Statement, var: Var) -> bool:
    """Whether a backward pass needs the value that a statement reads; not of sums, and of products with numbers."""
    if isinstance(user, Store):
        return user.value is var and user.combine is not None and user.combine not in SUMS
    if not isinstance(user, Let):
        return False
    short = table.base_name(user.op.name.removeprefix("inplace."))
    if short in ("add", "sub", "neg", "pos", "lt", "le", "gt", "ge", "eq", "ne"):
        return False
    others = [arg for place, arg in enumerate(user.op.args) if arg is not var or (short == "truediv" and place)]
    numbers = all(
        isinstance(arg, Const) or (isinstance(arg, Var) and context.facts.kind(arg).is_number) for arg in others
    )
    return not (short in ("mul", "truediv") and len(user.op.args) == 2 and numbers and len(others) == 1)


CHOOSING = ("builtin.min", "builtin.max")
"""What gives one of its operands itself."""


def _carries(context: Context, var: Var) -> tuple[Carry, ...]:
    definition = context.flow.definition.get(var)
    return definition.carries if isinstance(definition, Loop) else ()


SUMS = ("add", "sub")
KEEPING_RESULTS = frozenset(
    """exp exp2 expm1 sigmoid tanh tan sqrt rsqrt reciprocal relu softmax log_softmax logsumexp prod cumprod amax amin
    max min median nanmedian sgn ldexp std norm vector_norm matrix_norm hypot cdist inverse inv det solve
    cholesky""".split()
)
"""Operations whose backward pass needs what they gave, as PyTorch's `derivatives.yaml` says."""
PURE_READERS = ("elementwise", "reduction", "contraction")
INTEGERS = ("int64", "int32", "int16", "int8", "uint8", "bool")
CREATION = frozenset("zeros ones empty full zeros_like ones_like empty_like full_like clone tensor".split())
COPIES = ("method.copy", "np.copy", "np.array", "method.astype")
"""What copies an array, unless it is told not to."""


def _is_owned(context: Context, var: Var, seen: set[Var]) -> bool:
    if var in seen:
        return True
    seen.add(var)
    if var in context.facts.function.params:
        return False
    for user in context.flow.users.get(var, ()):
        if not _harmless(context, user, var):
            return False
    origins = _origins(context, var)
    return all(isinstance(a, Const) or _is_owned(context, a, seen) for a in origins) and _fresh(context, var)


def _origins(context: Context, var: Var) -> list[Atom]:
    match context.flow.definition.get(var):
        case Let(op=op) if op.name.startswith("inplace."):
            return [as_atom(op.args[0])]
        case If(phis=phis):
            return [a for p in phis if p.var is var for a in (p.then, p.orelse)]
        case Loop(carries=carries):
            return [
                a for c in carries if c.inside is var or c.after is var for a in (c.init, c.next) if a is not UNDEFINED
            ]
    return []


def _fresh(context: Context, var: Var) -> bool:
    """Whether the value is new memory: made by arithmetic or creation, not a view or an argument."""
    statement = context.flow.definition.get(var)
    if not isinstance(statement, Let):
        return statement is not None
    name = statement.op.name
    if name.startswith("inplace."):
        return True
    if name.startswith("builtin.") and name != "builtin.abs":
        return False
    base = table.base_name(name)
    if base in CREATION or base.startswith("new_") or (name in COPIES and not statement.op.kwargs):
        return True
    bare = len(statement.op.args) == 1 and not statement.op.kwargs
    return table.makes_new_memory(name, bare=bare) and "out" not in dict(statement.op.kwargs)


def is_new(context: Context, var: Var) -> bool:
    """Whether a variable is memory that was just made, and is no view."""
    return isinstance(context.flow.definition.get(var), Let) and _fresh(context, var)


def is_last_use(context: Context, var: Var, loop: Loop) -> bool:
    """Whether nothing reads a variable in a loop or after it, and nothing before it keeps a view of it."""
    order, _ = program_order(context.facts.function.body)
    users = [user for user in context.flow.users.get(var, ()) if user is not loop]
    if any(atom is var for _, atom in context.facts.function.results):
        return False
    return all(
        order[id(user)] < order[id(loop)] and (_harmless(context, user, var) or isinstance(user, Store))
        for user in users
    )


def _harmless(context: Context, user: Statement, var: Var) -> bool:
    match user:
        case Let(op=op):
            if op.name.startswith("inplace.") and op.args[0] is var:
                return True
            return table.family(op.name) in PURE_READERS and not may_give_its_argument(context, user)
        case If() | Loop():
            return True
        case Store(ref=ref):
            return ref is not var
    return False


def check_fresh(context: Context, var: Var) -> None:
    """An array made in the region and written to must be new memory, known under this name alone."""
    if not _fresh(context, var):
        raise context.refuse("aliasing", f"'{var.hint}' is written to, and may share memory with something else")
    for user in context.flow.users.get(var, ()):
        if isinstance(user, Let) and user.op.name in ("tuple", "list", "call"):
            if any(a is var for a in operands(user.op)) and any(s is user for s in walk(_loops_of(context))):
                if _is_joined_afterwards(context, var, user):
                    continue
                raise context.refuse("aliasing", f"'{var.hint}' is put into a list or tuple while it is written to")
        if isinstance(user, Append | If) or (isinstance(user, Store) and user.value is var):
            if isinstance(user, If) and user.cond is var:
                continue
            if isinstance(user, Store | Append) and context.axes:
                continue
            if isinstance(user, Append) and context.serial_loops:
                raise context.refuse("carried", f"'{user.ref.hint}' grows in a loop that stays sequential")
            raise context.refuse("aliasing", f"'{var.hint}' is known under several names while it is written to")
        if isinstance(user, Loop) and not (_made_for_each(context, var, user) or _finished_before(context, var, user)):
            raise context.refuse(
                "carried", f"'{var.hint}' is carried from one iteration to the next while it is written to"
            )


_JOINS = frozenset("torch.cat torch.concat torch.concatenate torch.stack torch.hstack torch.vstack".split())


def _is_joined_afterwards(context: Context, var: Var, display: Let) -> bool:
    """Whether a display is there for what copies its items alone, once all is written to an array that is made anew
    before each."""
    readers = context.flow.users.get(display.var, ())
    if not all(isinstance(reader, Let) and reader.op.name in _JOINS for reader in readers):
        return False
    return _is_written_before(context, var, display)


def _is_written_before(context: Context, var: Var, reader: Statement) -> bool:
    """Whether all that is written to an array comes before a statement, and the array is made anew before each."""
    body = context.facts.function.body
    order, inside = program_order(body)
    made = context.flow.definition.get(var)
    written = [s for s in walk(body) if isinstance(s, Store | Append) and context.flow.root(s.ref) is var]
    if not isinstance(made, Let) or inside[id(made)] != inside[id(reader)]:
        return False
    return all(order[id(made)] < order[id(s)] < order[id(reader)] for s in written)


def _made_for_each(context: Context, var: Var, loop: Loop) -> bool:
    """Whether each iteration makes the array anew and hands it to the next one, which only reads it."""
    stored = stored_roots(context.flow, context.facts.function.body)
    handed = [carry for carry in loop.carries if carry.next is var]
    if any(carry.init is var for carry in loop.carries) or not made_inside(var, loop):
        return False
    return all(carry.inside not in stored and carry.after not in stored for carry in handed)


def _finished_before(context: Context, var: Var, loop: Loop) -> bool:
    """Whether a loop begins with the array, to which all has been written, and writes to none of those that follow."""
    if not _is_written_before(context, var, loop):
        return False
    stored = stored_roots(context.flow, context.facts.function.body)
    begun = [carry for carry in loop.carries if carry.init is var]
    followed = {one for carry in begun for one in (carry.inside, carry.after)}
    return not followed & stored and not any(carry.next is var for carry in loop.carries)


def _loops_of(context: Context) -> Block:
    return Block(tuple(s for s in context.facts.function.body if isinstance(s, Loop)))


# ---------------------------------------------------------------- stored values


def check_stored_value(context: Context, array: Array, kind: Kind, combine: str | None) -> None:
    """The stored value must be a number or tensor that the array's dtype takes as the loop would."""
    if not (kind.is_number or kind.is_array):
        raise context.refuse("unsupported-value", f"a {kind.family} is stored into '{array.var.hint}'")
    if array.kind.rank == 0:
        raise context.refuse("unsupported-value", f"a store into '{array.var.hint}', which has no dimensions")
    _check_conversion(context, array, kind)
    if combine is not None:
        _check_combine(context, array, kind, combine)


def _check_conversion(context: Context, array: Array, kind: Kind) -> None:
    target, stored = (str(k.dtype or k.family).removeprefix("torch.") for k in (array.kind, kind))
    if target.startswith("complex"):
        return  # takes every number
    if stored.startswith("complex"):
        message = f"a complex number is stored into '{array.var.hint}', which holds real ones"
        raise context.refuse("unsupported-value", message)
    if array.kind.family == "tensor" and target in INTEGERS and kind.family == "float":
        raise context.refuse("requirement", "a Python float is stored into a tensor of integers")
    if array.kind.family == "tensor" and kind.is_array and "float" in stored and "float" not in target:
        raise context.refuse("requirement", "a float is stored into a tensor of integers")
    if array.kind.family == "array" and stored[:3] != target[:3] and not target.startswith("float"):
        raise context.refuse("unsupported-value", f"a {stored} is stored into an array of {target}")


def _check_combine(context: Context, array: Array, kind, combine: str) -> None:
    if array.kind.family == "tensor" and str(array.kind.dtype).removeprefix("torch.") in INTEGERS:
        if kind.family not in ("int",) and kind.dtype != array.kind.dtype:
            raise context.refuse("unsupported-value", f"'{combine}=' of a {kind.dtype or kind.family} into integers")
        if kind.family == "int" and "bool" in str(array.kind.dtype):
            raise context.refuse("requirement", f"'{combine}=' of an integer into booleans")
        if combine not in ("add", "sub", "mul", "max", "min", "maximum", "minimum"):
            raise context.refuse("unsupported-value", f"'{combine}=' into integers")
    if "16" in str(array.kind.dtype) and combine:
        raise context.refuse("order", f"'{array.var.hint}' accumulates in a 16-bit type")
