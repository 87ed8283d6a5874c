"""Reads of what an array held before the loop writes to it: which gradients they would have in the loop.

for i in range(n):
    kept[i] = rows[i]        from the second iteration on 'rows' as a whole has a gradient to 'x', and so has 'kept'
    rows[i] = x[i]
"""

from __future__ import annotations

from looplift.base.errors import NotLiftable
from looplift.ir.grammar import Append, Atom, Block, If, Let, Loop, Statement, Store, Var, operands, walk
from looplift.vectorize import nodes
from looplift.vectorize.context import Context


def check_old_reads(
    context: Context, loop: Loop, root: Var, reads: list[Let], stores: list[Store]
) -> NotLiftable | None:
    """None if whatever is made of old values has the written values' gradients anyway, or goes into this array."""
    if not context.needs_grad or not nodes.may_have_gradient(context.facts.kind(root).dtype):
        return None
    written = {leaf for store in stores for leaf in _reached(context, store.value)}
    missing = written - _surely(context, root)
    for read in reads:
        if missing and not _follows_store(context, loop.body, read, stores) and _escapes(context, read, root, missing):
            message = f"what '{root.hint}' held before has a gradient only from the second iteration on"
            return NotLiftable("memory-dependence", message, read.span)
    return None


def _has_gradient(context: Context, atom: Atom) -> bool:
    return isinstance(atom, Var) and not context.facts.kind(atom).is_number


def _is_leaf(context: Context, var: Var) -> bool:
    """Whether a live-in may have a gradient: what holds tensors counts as one."""
    kind = context.facts.kind(var)
    if kind.is_array:
        return nodes.may_have_gradient(kind.dtype) and getattr(context.facts[var].sample, "requires_grad", False)
    return kind.family not in ("none", "string") and not kind.is_number


def _reached(context: Context, atom: Atom) -> set[Var]:
    """The live-ins that a gradient of the value may reach."""
    found: set[Var] = set()
    seen: set[Var] = set()
    pending = [atom]
    while pending:
        current = pending.pop()
        if not isinstance(current, Var) or current in seen or not _has_gradient(context, current):
            continue
        seen.add(current)
        if current in context.facts.function.params and _is_leaf(context, current):
            found.add(current)
        pending += context.flow.sources.get(current, ())
    return found


def _surely(context: Context, atom: Atom, depth: int = 0) -> set[Var]:
    """The live-ins that a gradient of the value reaches in any run."""
    if not isinstance(atom, Var) or depth > 50 or not _has_gradient(context, atom):
        return set()
    if atom in context.facts.function.params:
        return {atom} if _is_leaf(context, atom) else set()
    match context.flow.definition.get(atom):
        case Let(op=op):
            return {leaf for operand in operands(op) for leaf in _surely(context, operand, depth + 1)}
        case If(phis=phis):
            phi = next(phi for phi in phis if phi.var is atom)
            return _surely(context, phi.then, depth + 1) & _surely(context, phi.orelse, depth + 1)
    return set()


def _follows_store(context: Context, block: Block, read: Let, stores: list[Store]) -> bool:
    """Whether the very place was written to before, in the same iteration."""
    for position, statement in enumerate(block):
        inner = [statement.body] if isinstance(statement, Loop) else []
        inner += [statement.then, statement.orelse] if isinstance(statement, If) else []
        if statement is not read and not any(found is read for part in inner for found in walk(part)):
            continue
        if any(_writes_place(context, earlier, read, stores) for earlier in block.statements[:position]):
            return True
        return any(_follows_store(context, part, read, stores) for part in inner)
    return False


def _writes_place(context: Context, statement: Statement, read: Let, stores: list[Store]) -> bool:
    from looplift.vectorize.memory import same_operand
    from looplift.vectorize.places import path_of

    if statement not in stores or read.op.name not in ("getitem", "iter_item"):
        return False
    assert isinstance(statement, Store)
    own, other = path_of(context, statement.ref, statement.index), path_of(context, *read.op.args)
    if own is None or other is None or len(own) > len(other):
        return False
    return all(same_operand(a, b) for a, b in zip(own, other, strict=False))


def _escapes(context: Context, read: Let, root: Var, missing: set[Var]) -> bool:
    """Whether something other than the array itself is made of the value, without the missing gradients."""
    results = {atom for _, atom in context.facts.function.results if isinstance(atom, Var)}
    seen: set[Var] = set()
    pending = [read.var]
    while pending:
        var = pending.pop()
        if var in seen or not _has_gradient(context, var) or missing <= _surely(context, var):
            continue
        seen.add(var)
        if var in results:
            return True
        for user in context.flow.users.get(var, ()):
            match user:
                case Let(var=made):
                    pending.append(made)
                case If(phis=phis):
                    pending += [phi.var for phi in phis if var in (phi.then, phi.orelse)]
                case Loop(carries=carries):
                    pending += [v for c in carries if var in (c.init, c.next) for v in (c.inside, c.after)]
                case Store(ref=ref, value=value) if value is var and context.flow.root(ref) is not root:
                    return True
                case Append(value=value) if value is var:
                    return True
    return False
