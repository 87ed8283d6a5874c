"""What is stored with leading dimensions of one element that its place lacks is stored without them, as torch does.

out[i] = t                            t.fitted = method.reshape(t, ())
                                  ->  out[i] = t.fitted

``reshape`` raises where there are more elements, as torch does of such a store. ``out[i].copy_(t)`` raises anyway.
"""

from __future__ import annotations

from looplift.base.data import replace
from looplift.ir.facts import Facts
from looplift.ir.grammar import Const, Function, Group, Let, Op, Operand, Slice, Statement, Store, Var, walk
from looplift.ir.started import Changes


def with_fitted_stores(function: Function, facts: Facts) -> Function | None:
    """The function in which such values are reshaped; None if there is none."""
    changes = Changes({}, {})
    for number, store in enumerate(s for s in walk(function.body) if isinstance(s, Store)):
        if (extra := _extra(store, facts)) > 0:
            changes.statements[id(store)] = tuple(_fitted(store, extra, f"fitted{number}", facts))
    return replace(function, body=changes.block(function.body)) if changes.statements else None


def _extra(store: Store, facts: Facts) -> int:
    """How many leading dimensions of one element a value has beyond those of its place."""
    value, ref = store.value, store.ref
    if store.combine is not None or store.method or not isinstance(value, Var) or facts.kind(ref).family != "tensor":
        return 0
    fact = facts[value]
    left = _rank(store.index, facts.kind(ref).rank, facts)
    if fact.kind.family != "tensor" or left is None or fact.kind.rank <= left or not fact.fixed:
        return 0
    extra = fact.kind.rank - left
    return extra if all(size == 1 for size in fact.shape[:extra]) else 0


def _rank(index: Operand, rank: int, facts: Facts) -> int | None:
    """The rank of the place that integers and slices name; None of other subscripts."""
    parts = index.items if isinstance(index, Group) and index.kind == "tuple" else (index,)
    for part in parts:
        if isinstance(part, Slice):
            continue
        if isinstance(part, Group) or facts.kind(part).family != "int":
            return None
        rank -= 1
    return rank


def _fitted(store: Store, extra: int, name: str, facts: Facts) -> list[Statement]:
    assert isinstance(store.value, Var)
    rank, hint = facts.kind(store.value).rank, store.value.hint
    made: list[Statement] = []

    def let(part: str, operation: str, *args: Operand) -> Var:
        var = Var(f"{hint}.{name}{part}")
        made.append(Let(var, Op(operation, args), store.span))
        return var

    shape = let(".shape", "attribute", store.value, Const("shape")) if extra < rank else None
    sizes = [let(f".{k}", "getitem", shape, Const(k)) for k in range(extra, rank)] if shape is not None else []
    fitted = let("", "method.reshape", store.value, Group("tuple", tuple(sizes)))
    return [*made, replace(store, value=fitted)]
