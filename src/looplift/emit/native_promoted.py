"""Elements that each iteration of a loop updates: held in a variable, which a processor need not store to read again.

for k in range(n):                 float c = out(i, j);
    out[i, j] += a[i, k] * b[k]    for (int64_t k = 0; k < n; ++k) c += a(i, k) * b(k);
                                   out(i, j) = c;

That is scalar replacement (Callahan, Carr and Kennedy, *Improving register allocation for subscripted variables*,
1990).
Nothing else in the loop may name the array. Where arrays of the caller might share memory, that is asked first, and a
kernel that runs with care holds a reference to the element instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from looplift.base.data import dataclass
from looplift.emit.native_access import element, indexed
from looplift.emit.native_ops import ATOM
from looplift.emit.native_values import Number, View
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import (
    Atom,
    Block,
    Const,
    Group,
    If,
    Let,
    Loop,
    Operand,
    Statement,
    Store,
    Var,
    atoms,
    definitions,
    operands,
    uses,
    walk,
)


@dataclass(frozen=True)
class Promoted:
    """An element under its own name; ``place`` is where it is."""

    key: tuple[Operand, Operand]
    name: str
    place: str


def promote(writer: Writer, loop: Loop) -> list[Promoted]:
    """Hold what a loop updates in one place, from here on."""
    if type(writer) is not Writer or writer.device is not None or writer.failure or writer.provisional:
        return []
    statements = [*walk(Block((loop,)))]
    inside = {var for statement in statements for var in definitions(statement)} | _carried(statements)
    found: list[Promoted] = []
    for store in [one for one in statements if isinstance(one, Store)]:
        key = (store.ref, store.index)
        view = writer.values.get(store.ref)
        if key in writer.promoted or not isinstance(view, View) or not _is_fixed(store, view, inside):
            continue
        if not _is_alone(writer, store, statements) or not _shares_no_memory(writer, store.ref, statements):
            continue
        target = element(writer, indexed(writer, view, store.index))
        if not isinstance(target, Number) or target.origin is None:
            continue
        name = writer.fresh(f"{store.ref.hint}_now")
        kind = view.type.cpp if target.origin in writer.findings.made else f"Held<{view.type.cpp}>"
        writer.line(f"{kind} {name} = {target.text};")
        found.append(Promoted(key, name, target.place))
        writer.promoted[key] = Number(
            name, target.type, ATOM, reads=True, alias=target.alias, place=name, origin=target.origin
        )
    return found


def demote(writer: Writer, promoted: list[Promoted]) -> None:
    """Put the elements back after the loop."""
    for one in promoted:
        writer.line(f"{one.place} = {one.name};")
        del writer.promoted[one.key]


def _carried(statements: list[Statement]) -> set[Var]:
    loops = [one for one in statements if isinstance(one, Loop)]
    return {carry.inside for loop in loops for carry in loop.carries} | {loop.index for loop in loops if loop.index}


def _is_fixed(store: Store, view: View, inside: set[Var]) -> bool:
    """Whether a store is of one element, the same in all iterations."""
    index = store.index
    parts = index.items if isinstance(index, Group) and index.kind == "tuple" else (index,)
    plain = all(isinstance(part, Var) or (isinstance(part, Const) and type(part.value) is int) for part in parts)
    if not plain or len(parts) != view.rank or view.is_list or store.method:
        return False
    return store.ref not in inside and inside.isdisjoint(atom for atom in atoms(index) if isinstance(atom, Var))


def _is_alone(writer: Writer, store: Store, statements: list[Statement]) -> bool:
    """Whether all uses of the array are of this element, one of them reads it, and what was read stays in the loop."""
    origins = writer.findings.origins
    names = {store.ref} | {var for var, origin in origins.items() if origin is origins.get(store.ref, store.ref)}
    is_read, taken = False, set[Var]()
    unknown = writer.findings.aliases - origins.keys()  # elements of who knows which array
    if any(not unknown.isdisjoint(_named(statement)) for statement in statements):
        return False
    for statement in statements:
        if names.isdisjoint(_named(statement)):
            continue
        match statement:
            case Store(ref=store.ref, index=store.index, combine=combine, method="") if statement.value not in names:
                is_read |= combine is not None
            case Let(var=var, op=op) if op.name == "getitem" and op.args == (store.ref, store.index):
                is_read = True
                taken.add(var)
            case _:
                return False
    return is_read and taken.isdisjoint(_kept(statements))


def _named(statement: Statement) -> Iterator[Atom]:
    """What a statement itself mentions, not those inside of it."""
    yield from (operands(statement.op) if isinstance(statement, Let) else uses(statement))


def _kept(statements: list[Statement]) -> Iterator[Atom]:
    """What may be read later than by the statements that name it."""
    for statement in statements:
        if isinstance(statement, Loop):
            yield from (atom for carry in statement.carries for atom in (carry.init, carry.next))
        elif isinstance(statement, If):
            yield from (side for phi in statement.phis for side in (phi.then, phi.orelse))


def _shares_no_memory(writer: Writer, ref: Var, statements: list[Statement]) -> bool:
    """Whether nothing else that the loop names is in the place of the element, as far as is asked before."""
    findings = writer.findings
    own = findings.origins.get(ref, ref)
    if findings.is_apart(own):
        return True
    if own in findings.renamed or own not in writer.input_roots:
        return False
    others: set[str] = set()
    for var in {atom for statement in statements for atom in _named(statement) if isinstance(atom, Var)}:
        origin, value = findings.origins.get(var), writer.values.get(var)
        if origin is own or findings.is_apart(origin):
            continue
        if origin is None and not isinstance(value, View) and not (isinstance(value, Number) and value.place):
            continue
        if origin is None or origin not in writer.input_roots or not isinstance(writer.values.get(origin), View):
            return False
        others.add(writer.input_roots[origin])
    writer.separate |= dict.fromkeys((writer.input_roots[own], other) for other in sorted(others))
    return True
