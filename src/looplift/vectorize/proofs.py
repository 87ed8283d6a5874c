"""Proof obligations: each is one function that returns None, or the reason why not."""

from __future__ import annotations

from looplift.base.errors import NotLiftable
from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Atom,
    Block,
    Carry,
    Const,
    Group,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Perform,
    Slice,
    Statement,
    Store,
    Var,
    While,
    as_atom,
    constant,
    operands,
    walk,
)
from looplift.ops import table
from looplift.vectorize.context import Array, Context
from looplift.vectorize.flow import stored_roots
from looplift.vectorize.reductions import Accumulator, accumulator_of


def check_loop(context: Context, loop: Loop) -> NotLiftable | None:
    """Whether all iterations of a loop may run together; else the reason."""
    if isinstance(loop.domain, While):
        return NotLiftable("while-condition", "a 'while' loop goes on for as long as its condition holds", loop.span)
    if loop.stop is not None:
        return NotLiftable("carried", "the loop is left early, by 'break' or 'return'", loop.span)
    for check in (check_carries, check_memory, check_effects):
        if (reason := check(context, loop)) is not None:
            return reason
    return None


def check_carries(context: Context, loop: Loop) -> NotLiftable | None:
    """Every carried value is unchanged, read only after the loop, or a reduction."""
    for carry in loop.carries:
        if carry.inside in context.accumulators or carry.next is carry.inside or only_carried(context, carry):
            continue
        found = accumulator_of(context.flow, loop, carry)
        if found is None:
            message = f"'{carry.hint}' is carried from one iteration to the next"
            return NotLiftable("carried", message, loop.span)
        try:
            check_reduction(context, found)
        except NotLiftable as reason:
            return reason
    return None


def only_carried(context: Context, carry: Carry) -> bool:
    """Whether the value at entry of the body is never read there."""
    return not context.flow.users.get(carry.inside)


def check_reduction(context: Context, found: Accumulator) -> None:
    """A sum of floats may be reassociated unless it decides something; products of Python ints must not wrap."""
    fact = context.facts.of[found.carry.after]
    span = found.loop.span
    name = found.carry.hint
    kind = fact.kind
    if kind.family == "array" and not kind.rank:
        raise NotLiftable("carried", f"'{name}' accumulates in a NumPy array without dimensions", span)
    if kind.family not in ("tensor", "array", "numpy", "int", "float", "bool") or "complex" in str(kind.dtype):
        raise NotLiftable("carried", f"'{name}' accumulates {kind.family}s", span)
    floating = kind.family == "float" or "float" in str(kind.dtype)
    deciding = any(var in context.flow.deciding for var in found.updates)
    if floating and found.operator in ("add", "mul") and deciding:
        raise NotLiftable("carried", f"'{name}' decides a branch or an index, so its sum must keep its order", span)
    if found.operator == "mul" and kind.family == "int":
        raise NotLiftable("integer-range", f"the product '{name}' of Python integers may exceed 64 bits", span)
    if kind.family == "bool" or (found.operator in ("and", "or") and kind.family != "bool"):
        raise NotLiftable("carried", f"'{name}' accumulates by '{found.operator}'", span)
    if found.operator in ("min", "max", "maximum", "minimum") and context.needs_grad and floating:
        raise NotLiftable("carried", f"the gradient of '{name}' depends on the order of equal values", span)
    if "float16" in str(kind.dtype) and found.operator in ("add", "mul"):
        raise NotLiftable("carried", f"'{name}' rounds to half precision at each step", span)
    if (
        kind.family != "float"
        and kind.family != "int"
        and str(kind.dtype) in ("torch.uint8", "torch.int8", "uint8", "int8")
    ):
        raise NotLiftable("carried", f"'{name}' accumulates in a small integer type", span)


# ---------------------------------------------------------------- memory


def check_memory(context: Context, loop: Loop) -> NotLiftable | None:
    """No iteration reads what another one writes, and no two write to one place in an order that matters."""
    flow = context.flow
    for root in stored_roots(flow, loop.body):
        if _made_inside(root, loop):
            continue
        if (reason := _check_root(context, loop, root)) is not None:
            return reason
    return None


def _made_inside(root: Var, loop: Loop) -> bool:
    return any(isinstance(s, Let) and s.var is root for s in walk(loop.body))


def _check_root(context: Context, loop: Loop, root: Var) -> NotLiftable | None:
    flow, hint = context.flow, root.hint
    stores = [s for s in walk(loop.body) if isinstance(s, Store) and flow.root(s.ref) is root]
    reads = [s for s in walk(loop.body) if isinstance(s, Let) and _reads(context, s, root)]
    others = [s for s in walk(loop.body) if not isinstance(s, Store | Let | Append) and _mentions(s, root)]
    if any(isinstance(s, Append) and flow.root(s.ref) is root for s in walk(loop.body)):
        if stores or reads:
            return NotLiftable("memory-dependence", f"'{hint}' is read while the loop fills it", loop.span)
        return None
    if others:
        return NotLiftable("aliasing", f"'{hint}' changes its meaning inside the loop", loop.span)
    if (reason := _check_shared(context, root, loop)) is not None:
        return reason
    paths = [path for s in stores if (path := _path(context, s.ref, s.index)) is not None]
    if len(paths) < len(stores):
        return NotLiftable("aliasing", f"'{hint}' is written through a view", loop.span)
    for read in reads:
        if _is_step_of_store(context, read, stores):
            continue
        for path in _paths_read(context, read, root):
            if path is None or not all(_same_place(context, path, other, loop) for other in paths):
                message = f"one iteration may read what another one writes to '{hint}'"
                return NotLiftable("memory-dependence", message, read.span)
    if len(stores) > 1 and not _stores_agree(context, paths, loop):
        return NotLiftable("order", f"several statements write to '{hint}'", loop.span)
    return None


def _paths_read(context: Context, read: Let, root: Var) -> list[Path | None]:
    """The places of an array that an operation reads: its own subscript, or those of the views that it works on."""
    if read.op.name in ("getitem", "iter_item"):
        owner, index = read.op.args
        assert isinstance(owner, Var | Const)
        return [_path(context, owner, index)]
    found: list[Path | None] = []
    for atom in operands(read.op):
        if isinstance(atom, Var) and context.flow.root(atom) is root:
            view = context.flow.definition.get(atom)
            found.append(_path(context, *view.op.args) if isinstance(view, Let) and atom is not root else None)
    return found


def _check_shared(context: Context, root: Var, loop: Loop) -> NotLiftable | None:
    """An array of the caller may share its memory with another one that the loop reads: a guard decides."""
    function = context.facts.function
    if root not in function.params:
        return None
    paths = function.attributes["paths"]
    for other in function.params:
        if other is not root and context.facts.kind(other).is_array:
            context.facts.function.attributes.setdefault("apart", set()).add(tuple(sorted((paths[root], paths[other]))))
        elif other is not root and context.facts.kind(other).family in ("list", "tuple", "object"):
            if any(k.is_array for k in context.facts.kind(other).items) or not context.facts.kind(other).items:
                return NotLiftable("aliasing", f"'{other.hint}' may share memory with '{root.hint}'", loop.span)
    context.facts.function.attributes.setdefault("whole", set()).add(paths[root])
    return None


def _reads(context: Context, statement: Let, root: Var) -> bool:
    return any(isinstance(a, Var) and context.flow.root(a) is root for a in operands(statement.op)) and not (
        statement.op.name in ("iter_len", "builtin.len") or _only_shape(statement.op)
    )


def _only_shape(op: Op) -> bool:
    return (op.name == "attribute" and constant(op.args[1]) in ("shape", "dtype", "device", "ndim")) or op.name in (
        "method.size", "method.dim", "method.numel", "method.new_zeros",
    )  # fmt: skip


def _mentions(statement, root: Var) -> bool:
    from looplift.ir.grammar import uses

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


Path = list[Operand]


def _path(context: Context, ref: Operand, index: Operand) -> Path | None:
    """All subscripts from the root on, in order."""
    last = list(index.items) if isinstance(index, Group) and index.kind == "tuple" else [index]
    statement = context.flow.definition.get(ref) if isinstance(ref, Var) else None
    if isinstance(statement, Let) and statement.op.name in ("getitem", "iter_item"):
        lead = _path(context, *statement.op.args)
        return lead + last if lead is not None and not any(isinstance(item, Slice) for item in lead) else None
    return last


def _same_place(context: Context, a: Path, b: Path, loop: Loop) -> bool:
    """Both subscripts name the same place in one iteration, and different places in different iterations."""
    if len(a) != len(b) or not all(_same_operand(x, y) for x, y in zip(a, b, strict=True)):
        return False
    return _separates(context, b, loop)


def _same_operand(a: Operand, b: Operand) -> bool:
    match a, b:
        case Slice(), Slice():
            return all(map(_same_operand, (a.lo, a.hi, a.step), (b.lo, b.hi, b.step)))
        case Const(), Const():
            return type(a.value) is type(b.value) and a.value == b.value
    return a is b


def _separates(context: Context, path: Path, loop: Loop) -> bool:
    """Whether some subscript is the loop's own index plus something that this loop does not change."""
    return any(isinstance(item, Var) and _slope(context, item, loop) for item in path)


def _slope(context: Context, var: Var, loop: Loop) -> int:
    """The coefficient of the loop's index in an affine integer; 0 if there is none or it is not affine."""
    if var is loop.index:
        return 1
    if loop not in context.facts[var].loops:
        return 0
    statement = context.flow.definition.get(var)
    if not isinstance(statement, Let) or statement.op.name not in ("add", "sub"):
        return 0
    a, b = statement.op.args
    sign = 1 if statement.op.name == "add" else -1
    slopes = [_slope(context, x, loop) if isinstance(x, Var) else 0 for x in (a, b)]
    varies = [isinstance(x, Var) and loop in context.facts[x].loops for x in (a, b)]
    if any(v and not s for v, s in zip(varies, slopes, strict=True)):
        return 0
    return slopes[0] + sign * slopes[1]


def _stores_agree(context: Context, paths: list[Path], loop: Loop) -> bool:
    """Several stores are in order if each separates the iterations and all name the same place in one iteration,
    or places that differ by a constant subscript."""
    first = paths[0]
    return all(
        _separates(context, path, loop) and (_same_place(context, first, path, loop) or _apart(first, path, loop))
        for path in paths
    )


def _apart(a: Path, b: Path, loop: Loop) -> bool:
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


# ---------------------------------------------------------------- effects


def check_effects(context: Context, loop: Loop) -> NotLiftable | None:
    """Effects that must keep their order stand alone in a small loop of their own, or the loop stays."""
    for statement in walk(loop.body):
        if isinstance(statement, Let) and table.family(statement.op.name) == "random":
            if not any(statement is s for s in loop.body):
                return NotLiftable(
                    "random-order", "random numbers are drawn in an inner loop or under an 'if'", statement.span
                )
        if isinstance(statement, Perform) and not any(statement is s for s in loop.body):
            return NotLiftable("effect-order", "something is printed in an inner loop or under an 'if'", statement.span)
    return None


# ---------------------------------------------------------------- views of arrays that are written to


def check_views(context: Context) -> None:
    """A view of an array sees later writes to it: no view may be used after a write, or be kept."""
    function, flow = context.facts.function, context.flow
    order, inside = _program_order(function.body)
    stores = [s for s in walk(function.body) if isinstance(s, Store)]
    roots = {flow.root(s.ref) for s in stores}
    for statement in walk(function.body):
        if not isinstance(statement, Let) or statement.op.name not in ("getitem", "iter_item", "unpack", "attribute"):
            continue
        var = statement.var
        root = flow.root(var)
        if root is var or root not in roots or not context.facts.kind(var).is_array or _copies(context, statement):
            continue
        _check_view(context, statement, [s for s in stores if flow.root(s.ref) is root], order, inside)


def _copies(context: Context, statement: Let) -> bool:
    """Whether a read makes a copy: by an index tensor, or a scalar of NumPy."""
    if context.facts.kind(statement.var).family == "numpy":
        return True
    index = statement.op.args[1] if statement.op.name == "getitem" else None
    items = index.items if isinstance(index, Group) else (index,)
    return any(isinstance(i, Var) and context.facts.kind(i).is_array and context.facts.kind(i).rank for i in items)


def _check_view(context: Context, view: Let, stores: list[Store], order: dict, inside: dict) -> None:
    for user in context.flow.users.get(view.var, ()):
        if isinstance(user, Store) and user.ref is view.var and user.value is not view.var:
            continue
        if isinstance(user, Let) and (user.op.name in ("getitem", "iter_item", "unpack") or _only_shape(user.op)):
            if user.op.args[0] is view.var:
                continue
        if isinstance(user, Append | If | Loop) or (
            isinstance(user, Let) and user.op.name in ("tuple", "list", "copy")
        ):
            if not (
                isinstance(user, If)
                and user.cond is view.var
                and all(view.var not in (p.then, p.orelse) for p in user.phis)
            ):
                raise NotLiftable("aliasing", f"'{view.var.hint}' is a view of an array that is written to", view.span)
        for store in stores:
            after = order[id(store)] < order[id(user)] and order[id(store)] > order[id(view)]
            again = any(loop not in inside[id(view)] for loop in inside[id(store)] if loop in inside[id(user)])
            if after or (again and user is not store):
                raise NotLiftable(
                    "aliasing", f"'{view.var.hint}' is a view, and what it shows changes before it is used", view.span
                )


def _program_order(block: Block) -> tuple[dict[int, int], dict[int, tuple[Loop, ...]]]:
    """The position of each statement, and the loops that it stands in."""
    order: dict[int, int] = {}
    inside: dict[int, tuple[Loop, ...]] = {}

    def visit(block: Block, loops: tuple[Loop, ...]) -> None:
        from looplift.ir.grammar import children

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
    if isinstance(value, Var) and context.facts.kind(value).is_array and "view" in _views(context, value, set()):
        if any(atom is ref for _, atom in context.facts.function.results) or not _is_joined(context, ref):
            raise context.refuse("aliasing", f"'{ref.hint}' is filled with views of a tensor")


def _is_joined(context: Context, ref: Var) -> bool:
    """Whether a list is only stacked, counted or read."""
    for user in context.flow.users.get(ref, ()):
        if isinstance(user, Append) and user.ref is ref:
            continue
        if isinstance(user, Let) and user.op.name in JOINING:
            continue
        if isinstance(user, Loop):
            continue
        return False
    return True


JOINING = frozenset(
    """torch.stack torch.cat torch.concat torch.tensor np.stack np.array np.asarray np.vstack np.concatenate
    builtin.len iter_len iter_item getitem""".split()
)


def _views(context: Context, var: Var, seen: set[Var]) -> set[str]:
    """What the value may be: a "view" of another tensor's memory, "chosen" among several."""
    if var in seen:
        return set()
    seen.add(var)
    if var in context.facts.function.params:
        return {"view"}
    found: set[str] = set()
    match context.flow.definition.get(var):
        case Let(op=op):
            if op.name in ("getitem", "iter_item", "attribute", "unpack", "copy") or table.family(op.name) == "shape":
                base = table.base_name(op.name)
                if base in ("clone", "item", "tolist") or not context.facts.kind(var).is_array:
                    return found
                found.add("view")
            elif op.name in ("module", "call") or table.base_name(op.name) in CONVERSIONS:
                found.add("view")
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
                if carry.inside is var or carry.after is var:
                    if carry.next is not carry.inside and context.flow.users.get(carry.inside):
                        found.add("chosen")
                    for a in (carry.init, carry.next):
                        found |= _views(context, a, seen) if isinstance(a, Var) else set()
    return found


# ---------------------------------------------------------------- ownership


def check_owned(context: Context, op: Op, statement: Let) -> None:
    """``x += v`` on a tensor changes it for everyone who holds it: it must be the only name of a fresh value."""
    target = op.args[0]
    name = getattr(target, "hint", "it")
    seen: set[Var] = set()
    if not isinstance(target, Var) or not _is_owned(context, target, seen) or _seen_changing(context, statement, seen):
        message = f"'{name}' is changed in place, and may be known under another name"
        raise NotLiftable("aliasing", message, statement.span)


def _seen_changing(context: Context, change: Let, names: set[Var]) -> bool:
    """Whether a value that shares memory with what is changed is read after the change, or again in a loop."""
    order, inside = _program_order(context.facts.function.body)
    for var in names:
        definition = context.flow.definition.get(var)
        home = inside.get(id(definition), ())
        if isinstance(definition, Loop) and any(c.inside is var for c in definition.carries):
            home = (*home, definition)
        for user in context.flow.users.get(var, ()):
            if user is change or isinstance(user, Loop):
                continue
            later = order[id(user)] > order[id(change)]
            again = any(loop in inside[id(change)] and loop not in home for loop in inside[id(user)])
            if (later or again) and not (isinstance(user, If) and any(p.var in names for p in user.phis)):
                return True
    return False


PURE_READERS = ("elementwise", "reduction", "contraction")
CREATION = frozenset("zeros ones empty full zeros_like ones_like empty_like full_like clone tensor".split())
CONVERSIONS = frozenset("to float double type contiguous".split())


def _is_owned(context: Context, var: Var, seen: set[Var]) -> bool:
    if var in seen:
        return True
    seen.add(var)
    if var in context.facts.function.params:
        return False
    for user in context.flow.users.get(var, ()):
        if not _harmless(user, var):
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
    if base in CREATION or base.startswith("new_"):
        return True
    return table.family(name) in ("elementwise", "reduction") and base not in CONVERSIONS


def _harmless(user: Statement, var: Var) -> bool:
    match user:
        case Let(op=op):
            if op.name.startswith("inplace.") and op.args[0] is var:
                return True
            return table.family(op.name) in PURE_READERS and not op.name.startswith("method.to")
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
                raise context.refuse("aliasing", f"'{var.hint}' is put into a list or tuple while it is written to")
        if isinstance(user, Append | If) or (isinstance(user, Store) and user.value is var):
            if isinstance(user, If) and user.cond is var:
                continue
            if isinstance(user, Store | Append) and context.axes:
                continue
            raise context.refuse("aliasing", f"'{var.hint}' is known under several names while it is written to")
        if isinstance(user, Loop):
            raise context.refuse(
                "carried", f"'{var.hint}' is carried from one iteration to the next while it is written to"
            )


def _loops_of(context: Context) -> Block:
    return Block(tuple(s for s in context.facts.function.body if isinstance(s, Loop)))


def check_stored_value(context: Context, array: Array, value: Atom, combine: str | None) -> None:
    """The stored value must be a number or tensor that the array's dtype takes as the loop would."""
    kind = context.facts.kind(value)
    if not (kind.is_number or kind.is_array):
        raise context.refuse("unsupported-value", f"a {kind.family} is stored into '{array.var.hint}'")
    if array.kind.rank == 0:
        raise context.refuse("unsupported-value", f"a store into '{array.var.hint}', which has no dimensions")
    _check_conversion(context, array, kind)
    if combine is not None:
        _check_combine(context, array, kind, combine)


def _check_conversion(context: Context, array: Array, kind) -> None:
    import torch

    if array.kind.family == "tensor" and kind.family == "float" and array.kind.dtype in _INTEGERS(torch):
        raise context.refuse("requirement", "a Python float is stored into a tensor of integers")
    if (
        array.kind.family == "tensor"
        and kind.is_array
        and kind.dtype.is_floating_point
        and not array.kind.dtype.is_floating_point
    ):
        raise context.refuse("requirement", "a float is stored into a tensor of integers")
    if "complex" in str(array.kind.dtype) or "complex" in str(kind.dtype) or kind.family == "complex":
        raise context.refuse("unsupported-value", "complex numbers are stored")
    if array.kind.family == "array" and str(kind.dtype or kind.family)[:3] != str(array.kind.dtype)[:3]:
        if not str(array.kind.dtype).startswith("float") or str(kind.dtype or kind.family).startswith("complex"):
            raise context.refuse(
                "unsupported-value", f"a {kind.dtype or kind.family} is stored into an array of {array.kind.dtype}"
            )


def _INTEGERS(torch) -> tuple:
    return (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)


def _check_combine(context: Context, array: Array, kind, combine: str) -> None:
    if array.kind.family == "tensor" and not array.kind.dtype.is_floating_point:
        if kind.family not in ("int",) and kind.dtype != array.kind.dtype:
            raise context.refuse("unsupported-value", f"'{combine}=' of a {kind.dtype or kind.family} into integers")
        if combine not in ("add", "sub"):
            raise context.refuse("unsupported-value", f"'{combine}=' into integers")
    if "16" in str(array.kind.dtype) and combine:
        raise context.refuse("order", f"'{array.var.hint}' accumulates in a 16-bit type")
