"""Stores through the items of a tensor that is iterated or unpacked: PyTorch refuses them where gradients are recorded.

for row in y:              raises where 'y' or what is stored asks for a gradient;
    row[0] = 1.0           'y[i][0] = 1.0' does not
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from looplift.base.errors import NotLiftable
from looplift.ir.facts import Facts
from looplift.ir.grammar import Atom, Function, If, Let, Loop, Op, Store, Var, operands, walk
from looplift.ops.table import base_name

if TYPE_CHECKING:
    from looplift.analysis.recorded import Histories

_TOGETHER = ("iter_item", "unpack")
"""What PyTorch makes by one operation that gives several views."""
_VIEWS = frozenset(
    """getitem iter_item unpack attribute copy method.view method.reshape method.t method.transpose
    method.permute method.squeeze method.unsqueeze method.flatten method.narrow method.select
    method.diagonal method.view_as method.expand method.unflatten torch.reshape torch.transpose
    torch.permute torch.squeeze torch.unsqueeze torch.flatten torch.diagonal""".split()
)


def check(function: Function) -> None:
    """Raises NotLiftable where a store may be one that raises."""
    import torch

    stores = [(store, items) for store in _stores(function) if (items := _items_written(function, store))]
    if not stores or not torch.is_grad_enabled():
        return
    from looplift.analysis.probe import analyse
    from looplift.analysis.recorded import Histories, has_history

    if any(map(has_history, (*function.attributes["values"].values(), *function.attributes["modules"].values()))):
        facts = analyse(function)
        histories = Histories(function, facts)
        for store, items in stores:
            _check_store(store, items, facts, histories)


def _stores(function: Function) -> Iterator[Store | Let]:
    """The stores and operations in place that are recorded."""
    silent = function.attributes["unrecorded_spans"]
    for statement in walk(function.body):
        if isinstance(statement, Store) or (isinstance(statement, Let) and _is_in_place(statement.op)):
            if statement.span not in silent:
                yield statement


def _is_in_place(op: Op) -> bool:
    return op.name.startswith("inplace.") or base_name(op.name).endswith("_")


def _items_written(function: Function, store: Store | Let) -> list[Let]:
    """The items whose memory a store may write to, as far as they are views of a tensor."""
    lets = {one.var: one for one in walk(function.body) if isinstance(one, Let)}
    sources = _sources(function)
    found: list[Let] = []
    pending: list[Atom] = [store.ref if isinstance(store, Store) else _owner(store.op)]
    seen: set[Atom] = set()
    while pending:
        one = pending.pop()
        if one in seen or not isinstance(one, Var):
            continue
        seen.add(one)
        pending += sources.get(one, ())
        let = lets.get(one)
        if let is not None and (let.op.name in _VIEWS or let.op.name.startswith("inplace.")):
            pending.append(_owner(let.op))
            found += [let] if let.op.name in _TOGETHER else []
    return found


def _owner(op: Op) -> Atom:
    """What an operation is one of."""
    return next(operands(op))


def _sources(function: Function) -> dict[Var, list[Atom]]:
    """What variables of loops and branches stand for."""
    found: dict[Var, list[Atom]] = {}
    for statement in walk(function.body):
        if isinstance(statement, Loop):
            for carry in statement.carries:
                found[carry.inside] = found[carry.after] = [carry.init, carry.next]
        elif isinstance(statement, If):
            found |= {phi.var: [phi.then, phi.orelse] for phi in statement.phis}
    return found


def _check_store(store: Store | Let, items: list[Let], facts: Facts, histories: Histories) -> None:
    values = [store.value] if isinstance(store, Store) else operands(store.op)
    for item in items:
        owner = _owner(item.op)
        if facts.kind(owner).family == "tensor" and any(map(histories.has, (owner, *values))):
            text = "a store through an item of a tensor that is iterated or unpacked, which PyTorch does not record"
            raise NotLiftable("effect-order", f"{text}; store by its index, as in 'y[i][0] = ...'", store.span)
