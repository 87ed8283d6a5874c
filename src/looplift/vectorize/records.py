"""Lists of tuples, lists or dicts that the region fills: the lists of their items in; one list, or an array, out."""

from __future__ import annotations

from typing import Any

from looplift.base.data import dataclass
from looplift.ir.array import Node, merge_axes
from looplift.ir.facts import Fact, Kind
from looplift.ir.grammar import Append, Group, Let, Op, Operand, Var, as_atom, atoms, constant, walk
from looplift.ops import table
from looplift.vectorize import lists, nodes
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val


@dataclass
class Records:
    """A list whose items are records: a value for each of their items."""

    columns: list[Val]
    kind: str

    def length(self, context: Context) -> Node:
        return self.columns[0].sequence.length(context)

    def item(self, context: Context, index: Operand, fact: Fact) -> Val:
        raise context.refuse("unsupported-value", f"an item of a list of {self.kind}s, as a whole")


def zipped(context: Context, op: Op, fact: Fact) -> Val:
    """The list as one value; in a loop only its columns are there."""
    keys = [constant(key) for key in atoms(op.args[0])] if isinstance(op.args[0], Group) else []
    vals = [context.val(as_atom(arg)) for arg in op.args if not isinstance(arg, Group)]
    found = Records(vals, table.ZIPPED[op.name])
    if context.axes:
        return Val(nodes.const(None), sequence=found)
    made = _apart(context, [arg for arg in op.args if isinstance(arg, Var)], [_whole(context, val) for val in vals])
    node = Node("zipped", tuple(made), (), fact.kind, {"kind": found.kind, "keys": keys}, "items")
    return Val(node, sequence=found)


def _apart(context: Context, columns: list[Var], made: list[Node]) -> list[Node]:
    """The lists of the items; those that hold the same objects are one."""
    from looplift.vectorize.results import memory_of, named

    appended = [s for s in walk(context.facts.function.body) if isinstance(s, Append)]
    inner = [_lists_in(context, column) for column in columns]
    held = [[named(context, s.value) for s in appended if s.ref in lists_in] for lists_in in inner]
    found: list[Node] = []
    for k, values in enumerate(held):
        places = [memory_of(context, value).places for value in values if context.facts.kind(value).family in SHARED]
        kin = [
            j for j in range(k) if any(own & memory_of(context, other).places for own in places for other in held[j])
        ]
        if any(held[j] != values or len(inner[j]) > 1 for j in kin):
            raise context.refuse("aliasing", f"'{columns[k].hint}' may hold one tensor at several places")
        found.append(found[kin[0]] if kin else made[k])
    return found


def _lists_in(context: Context, column: Var) -> list[Var]:
    """The lists that the region fills of which a column is made."""
    made = context.flow.definition.get(column)
    if not isinstance(made, Let) or made.op.name not in table.ZIPPED:
        return [column]
    return [ref for arg in made.op.args if isinstance(arg, Var) for ref in _lists_in(context, arg)]


SHARED = ("tensor", "array")
"""Kinds of items that may change, so that it matters which of them are one object."""


def _has_list(val: Val) -> bool:
    return val.sequence is not None or any(map(_has_list, val.items or ()))


def _whole(context: Context, val: Val) -> Node:
    if any(map(_has_list, val.items or ())):
        raise context.refuse("unsupported-value", "a list that is made here is put into a dict or tuple")
    return lists.returned(context, val.sequence) if isinstance(val.sequence, lists.Built) else val.node


def mapping(context: Context, op: Op, fact: Fact) -> Val:
    """A dict of two lists that the region fills; its keys are numbers or tuples of these."""
    keys, values = (context.val(as_atom(arg)) for arg in op.args)
    if context.axes or not _are_numbers(context, keys):
        raise context.refuse("unsupported-value", "a dict whose keys are no numbers, or one in each iteration")
    made = (_whole(context, keys), _whole(context, values))
    return Val(Node("zipped", made, (), fact.kind, {"kind": "mapping"}, "table"))


def _are_numbers(context: Context, val: Val) -> bool:
    match val.sequence:
        case Records(columns=columns, kind="tuple"):
            return all(_are_numbers(context, column) for column in columns)
        case lists.Built() as built:
            _check_comparable(context, built)
            return built.item_kind(context).is_number
    return False


def _check_comparable(context: Context, keys: lists.Built) -> None:
    """Require that no key is NaN: one object that is, is one key, and several are several."""
    if keys.item_kind(context).family in ("float", "complex"):
        node = keys.collected(context)
        context.check(nodes.compares_all("eq", node, node))


def joined(context: Context, op: Op, fact: Fact) -> Val | None:
    """``torch.tensor`` or ``np.array`` of a list of tuples or lists of numbers."""
    if not isinstance(op.args[0], Var):
        return None
    records = context.vals[op.args[0]].sequence if op.args[0] in context.vals else None
    if not isinstance(records, Records):
        return None
    plain = len(op.args) == 1 and {key for key, _ in op.kwargs} <= {"dtype"}
    node = _table(context, records, fact.kind) if plain else None
    if node is None or node.kind.rank != fact.kind.rank:
        if context.axes:
            raise context.refuse("unsupported-value", f"'{op.name}' of a list of {records.kind}s")
        return None
    return Val(Node("owned", (node,), node.axes, node.kind, {"extents": node.attrs["extents"]}, "table"))


def _table(context: Context, records: Records, kind: Kind) -> Node | None:
    """An array of one more dimension than each column has."""
    columns = [_column(context, val, kind) for val in records.columns]
    if records.kind == "dict" or any(column is None for column in columns):
        return None
    made: list[Any] = columns
    ranks = {column.kind.rank for column in made}
    if len(ranks) != 1:
        return None
    rank = ranks.pop() + 1
    first, *rest = made[0].attrs.get("extents") or [None] * (rank - 1)
    attrs = {"join": "stack", "dim": 1 - rank, "extents": [first, nodes.const(len(made)), *rest]}
    axes = merge_axes(*(column.axes for column in made))
    return Node("join", tuple(made), axes, Kind(kind.family, kind.dtype, rank), attrs)


def _column(context: Context, val: Val, kind: Kind) -> Node | None:
    """The items at one position as an array; None for what is no list of numbers."""
    built = val.sequence
    if isinstance(built, Records):
        return _table(context, built, kind)
    if not isinstance(built, lists.Built) or built.row is not None or built.ragged is not None or built.differs:
        return None
    if not built.item_kind(context).is_number:
        return None
    node = built.collected(context)
    if len(node.args) > 1:
        context.check(nodes.compare("ge", built.length(context), nodes.const(1)))
    if node.kind.dtype == kind.dtype:
        return node
    made = Kind(node.kind.family, kind.dtype, node.kind.rank)
    return Node("cast", (node,), node.axes, made, {"dtype": kind.dtype, "extents": node.attrs.get("extents")})
