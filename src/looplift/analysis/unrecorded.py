"""Blocks under ``torch.no_grad()`` inside of a loop: what they compute has no history.

The translation puts ``unrecorded(...)`` around each value that such a block computes. A value that would have a
history is detached there, others are left as they are:

with torch.no_grad():                   t = module(net, x)
    best = net(x).max()                 best = method.detach(method.max(method.detach(t)))
loss = loss + (value - best) ** 2       loss = loss + (value - best) ** 2

Where nothing that is computed outside of the blocks has a history, all of the loop may run under ``torch.no_grad()``.
A view that is made under ``torch.no_grad()`` of a tensor that asks for a gradient asks for one too, but nothing flows
through it: such views may be read inside of the blocks only.
"""

from __future__ import annotations

from looplift.analysis.recorded import (
    HOLDING,
    ITEMS,
    Histories,
    asks,
    first,
    is_inexact,
    lets_of,
)
from looplift.base.data import replace
from looplift.base.errors import NotLiftable
from looplift.base.spans import Span
from looplift.ir.facts import Facts, Kind
from looplift.ir.grammar import (
    UNRECORDED,
    Append,
    Atom,
    Function,
    If,
    Let,
    Loop,
    Op,
    Perform,
    Statement,
    Store,
    Var,
    uses,
    walk,
)
from looplift.ir.started import Changes


def runs_whole(function: Function, facts: Facts) -> bool:
    """Whether what is computed outside of the blocks has no history, so that no block makes a difference."""
    histories = Histories(function, facts)
    inside = {s.op.args[0] for s in lets_of(function) if s.op.name == UNRECORDED}
    for statement in walk(function.body):
        match statement:
            case Let(var=var, op=op) if var not in inside and op.name != UNRECORDED:
                if op.name == "call" or asks(op) or (op.name not in HOLDING and histories.reach(op)):
                    return False
            case Perform(op=op) if op.name != "builtin.print" or histories.reach(op):
                return False
            case Store(ref=ref, value=value) | Append(ref=ref, value=value):
                if histories.has(ref) or histories.has(value):
                    return False
    return not any(histories.has(atom) for _, atom in function.results)


def with_detached(function: Function, facts: Facts) -> Function:
    """The function without ``unrecorded``: what may have a history is detached. Raises NotLiftable."""
    if "inference" in function.attributes["unrecorded"] and _keeps_tensors(function, facts):
        message = "a tensor from under 'torch.inference_mode()' is kept; put the context around the loop"
        raise NotLiftable("exception-handling", message, function.span)
    histories = Histories(function, facts)
    if "stores" in function.attributes["unrecorded"] and histories.found:
        raise _refusal("a store under 'torch.no_grad()' where gradients are recorded", function.span)
    blocks = _Blocks(facts, histories)
    changes = Changes({}, {})
    for let in lets_of(function):
        if let.op.name == UNRECORDED and not blocks.is_detached(let):
            changes.drop(let, blocks.inner(let).var)
    for let in lets_of(function):
        if let.op.name == UNRECORDED and id(let) not in changes.statements:
            changes.statements[id(let)] = (replace(let, op=Op("method.detach", let.op.args)),)
        elif let.op.name in ITEMS and blocks.is_item_outside(let):
            held = Var(f"{let.var.name}.recorded")
            changes.statements[id(let)] = (replace(let, var=held), replace(let, op=Op("method.detach", (held,))))
    blocks.check_uses(function)
    results = tuple((name, changes.atom(atom)) for name, atom in function.results)
    leaves = {key: {changes.atom(leaf) for leaf in function.attributes[key]} for key in ("leaves", "set_leaves")}
    attributes = function.attributes | {"unrecorded": frozenset()} | leaves
    return replace(function, body=changes.block(function.body), results=results, attributes=attributes)


def _keeps_tensors(function: Function, facts: Facts) -> bool:
    """Whether anything but numbers outlives the region: tensors that ``torch.inference_mode()`` made stay such."""
    kept = [atom for _, atom in function.results]
    kept += [s.value for s in walk(function.body) if isinstance(s, Append | Store)]
    return not all(_is_of_numbers(facts.kind(atom)) for atom in kept)


def _is_of_numbers(kind: Kind) -> bool:
    if kind.family in ("list", "tuple"):
        return all(map(_is_of_numbers, kind.items))
    return kind.is_number or kind.family in ("none", "string")


def _refusal(message: str, span: Span) -> NotLiftable:
    return NotLiftable("gradient", f"{message}; put 'with torch.no_grad()' around the loop, or '.detach()'", span)


class _Blocks:
    """Which values of the blocks are detached, and what becomes of the others."""

    def __init__(self, facts: Facts, histories: Histories):
        self.facts, self.histories = facts, histories
        self.inside = {let.op.args[0] for let in histories.lets.values() if let.op.name == UNRECORDED}
        self.loose: set[Atom] = set()
        """Tuples of tensors that an operation of a block made: their items are detached one by one."""
        self.views: set[Atom] = set()
        """What may be a view of a tensor with a history."""

    def inner(self, let: Let) -> Let:
        (var,) = let.op.args
        assert isinstance(var, Var)
        return self.histories.lets[var]

    def is_detached(self, let: Let) -> bool:
        """Whether the value of a block is; it is itself where no history can have come to it."""
        inner = self.inner(let)
        op, kind = inner.op, self.facts.kind(inner.var)
        if op.name in ITEMS and first(op) in self.loose:
            return is_inexact(kind.dtype)
        if op.name in ITEMS and first(op) in self.views:
            self.views |= {inner.var, let.var}
            return False
        if kind.is_number or not self.histories.reach(op) or self.histories.is_handed_on(inner):
            return False
        if kind.family == "tensor" and not is_inexact(kind.dtype):
            return False
        if not self.histories.is_new(inner):
            self.views |= {inner.var, let.var}
            return False
        if kind.family == "tensor":
            return True
        self.loose |= {inner.var, let.var}
        return False

    def is_item_outside(self, let: Let) -> bool:
        """Whether an item of such a tuple is read outside of the blocks."""
        is_item = first(let.op) in self.loose and let.var not in self.inside
        return is_item and is_inexact(self.facts.kind(let.var).dtype)

    def check_uses(self, function: Function) -> None:
        """Raises NotLiftable where a view leaves its block, or a tuple is more than its items."""
        for statement in walk(function.body):
            if any(self._leaves(atom, statement) for atom in uses(statement)):
                raise _refusal("what 'torch.no_grad()' is around may hand out a tensor with a gradient", statement.span)
            match statement:
                case Store(ref=ref):
                    self._check_change(ref, statement)
                case Let(op=op) if op.name.startswith("inplace.") or op.name.endswith("_"):
                    self._check_change(first(op), statement)
        if any(atom in self.loose or atom in self.views for _, atom in function.results):
            raise _refusal("a value from under 'torch.no_grad()' is handed out", function.span)

    def _check_change(self, ref: Atom, statement: Statement) -> None:
        if ref in self.loose or ref in self.views:
            raise _refusal("a value from under 'torch.no_grad()' is changed", statement.span)

    def _leaves(self, atom: Atom, statement: Statement) -> bool:
        """Whether a statement is no reader for a view or a tuple."""
        if atom not in self.views and atom not in self.loose:
            return False
        if isinstance(statement, If | Loop):
            return not (isinstance(statement, If) and atom is statement.cond)
        if not isinstance(statement, Let) or statement.op.name == UNRECORDED:
            return not isinstance(statement, Let)
        if atom in self.loose:
            return statement.op.name not in ITEMS
        return statement.var not in self.inside and not self.facts.kind(statement.var).is_number
