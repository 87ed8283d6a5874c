"""What is read at places that a tensor or a list gives is a copy: stores into it are no stores into what was read.

label = getitem(labels, places)               label.read = getitem(labels, places)
label[mask] = 0                        ->     label = method.clone(label.read)
                                              label[mask] = 0
"""

from __future__ import annotations

from looplift.base.data import replace
from looplift.ir.facts import Facts
from looplift.ir.grammar import Const, Function, Group, Let, Op, Operand, Slice, Store, Var, walk
from looplift.ir.started import Changes


def with_copied_reads(function: Function, facts: Facts) -> Function | None:
    """The function in which such copies are made; None if nothing is stored into one."""
    lets = {s.var: s for s in walk(function.body) if isinstance(s, Let)}
    found = [_copy_in(s.ref, lets, facts) for s in walk(function.body) if isinstance(s, Store)]
    changes = Changes({}, {})
    for let in (let for let in found if let is not None):
        name = "method.clone" if facts.kind(let.var).family == "tensor" else "method.copy"
        held = Var(f"{let.var.name}.read")
        changes.statements[id(let)] = replace(let, var=held), replace(let, op=Op(name, (held,)))
    return replace(function, body=changes.block(function.body)) if changes.statements else None


def _copy_in(ref: Var, lets: dict[Var, Let], facts: Facts) -> Let | None:
    """The read, in a chain of subscripts, that makes a copy; None if all are views, or of lists."""
    let = lets.get(ref)
    if let is None or let.op.name != "getitem":
        return None
    owner, index = let.op.args
    if not isinstance(owner, Var):
        return None
    parts = index.items if isinstance(index, Group) and index.kind == "tuple" else (index,)
    if facts.kind(owner).is_array and facts.kind(ref).is_array and any(_is_of_places(one, facts) for one in parts):
        return let
    return _copy_in(owner, lets, facts)


def _is_of_places(part: Operand, facts: Facts) -> bool:
    """Whether a part of a subscript is a tensor or a list of places, or a mask."""
    if isinstance(part, Slice | Const):
        return False
    if isinstance(part, Group):
        return part.kind == "list"
    kind = facts.kind(part)
    return (kind.is_array and kind.rank > 0) or kind.family == "list"
