"""Attention and recurrent layers called on one sequence each: the sequences of all iterations are one batch."""

from __future__ import annotations

from typing import Any, NamedTuple

from looplift.ir.array import Node, merge_axes
from looplift.ir.facts import Fact, Kind
from looplift.ir.grammar import Const, Group, Op, Operand, Var
from looplift.ops import table
from looplift.vectorize import nodes
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.subscripts import extent_of

COUNTS = {"MultiheadAttention": 3, "TransformerDecoderLayer": 2}
"""How many sequences a layer takes; the others take one."""
RECURRENT = ("LSTM", "GRU", "RNN")
MASKS = ("attn_mask", "mask", "src_mask", "tgt_mask", "memory_mask")
STATES = 1
"""Where the samples of a batch are in the states of recurrent layers."""


class _Given(NamedTuple):
    """A node that is given, where the samples are in a batch of such, and by which name; ``place`` None: as it is."""

    node: Node
    place: int | None
    name: str = ""


def takes(op: Op) -> bool:
    """Whether a module is such a layer."""
    callee = op.args[0]
    return isinstance(callee, Const) and type(callee.value).__name__ in table.SEQUENCE_MODULES


def called(context: Context, op: Op, fact: Fact, var: Var) -> Val:
    """``layer(x)``, ``attention(q, k, v)`` or ``lstm(x, (h, c))`` of all sequences at once."""
    callee = op.args[0]
    assert isinstance(callee, Const)
    first = 0 if _batch_first(callee.value) else 1
    given = _given(context, op, callee, first)
    parts = [one for one in given if one.place is not None]
    owned = parts[0].node.kind.rank == 3
    if any(one.node.kind.rank != 2 + owned for one in parts):
        raise _refusal(context, callee, "sequences and states of other dimensions")
    axes = merge_axes(*(one.node.axes for one in given))
    attrs: dict[str, Any] = {
        "path": callee.path,
        "groups": [0, len(given) - 1] if type(callee.value).__name__ == "LSTM" and len(given) > 1 else [0] * len(given),
        "places": [one.place for one in given],
        "names": [one.name for one in given],
    }
    args = tuple(one.node for one in given)
    if owned:
        count = _samples(context, parts)
        args, attrs = (*args, count), {**attrs, "rows": True}
    kind = type(callee.value).__name__
    if fact.kind.family != "tuple":
        return Val(Node("cell", args, axes, fact.kind, {**attrs, "place": first}, var.hint))
    node = Node("cell", args, axes, fact.kind, attrs, f"{var.hint}_layer")
    places = (first, STATES if kind in RECURRENT else 0)
    return _parts(node, fact.kind, "", places, var.hint)


def _given(context: Context, op: Op, callee: Const, first: int) -> list[_Given]:
    kind = type(callee.value).__name__
    count = COUNTS.get(kind, 1)
    sequences = [_Given(context.node(_atom(context, callee, one)), first) for one in op.args[1 : count + 1]]
    rest = op.args[count + 1 :]
    if len(sequences) < count or (rest and kind not in RECURRENT) or len(rest) > 1:
        raise _refusal(context, callee, "other arguments than sequences")
    states = [_Given(node, STATES) for one in rest for node in _states(context, callee, one)]
    if (kind == "LSTM" and len(states) not in (0, 2)) or (kind != "LSTM" and len(states) > 1):
        raise _refusal(context, callee, "states in another form")
    return [*sequences, *states, *(_named(context, callee, name, one) for name, one in op.kwargs)]


def _atom(context: Context, callee: Const, operand: Operand) -> Const | Var:
    if not isinstance(operand, Const | Var):
        raise _refusal(context, callee, "other arguments than sequences")
    return operand


def _states(context: Context, callee: Const, operand: Operand) -> list[Node]:
    if isinstance(operand, Group):
        return [context.node(_atom(context, callee, item)) for item in operand.items]
    val = context.val(_atom(context, callee, operand))
    return [val.node] if val.items is None else [item.node for item in val.items]


def _named(context: Context, callee: Const, name: str, operand: Operand) -> _Given:
    """A setting, or a mask that is the same for all sequences and leaves each element something to attend to."""
    node = context.node(_atom(context, callee, operand))
    if node.op == "const" and not node.kind.is_array:
        return _Given(node, None, name)
    if type(callee.value).__name__ in RECURRENT or name not in MASKS or node.axes or node.kind.rank != 2:
        raise _refusal(context, callee, f"'{name}' that differs by iteration")
    context.check(Node("open_rows", (node,), (), Kind("bool")))
    return _Given(node, None, name)


def _samples(context: Context, parts: list[_Given]) -> Node:
    """How many sequences each iteration has of its own, which is the same for all arguments."""
    first, *rest = (extent_of(one.node, one.place or 0) for one in parts)
    for count in rest:
        if not nodes.same_integer(first, count):
            context.check_at_most(first, count)
            context.check_at_most(count, first)
    return first


def _parts(node: Node, kind: Kind, picked: str, places: tuple[int, int], hint: str) -> Val:
    """The results one by one: the first has its samples in the first of the places, all others in the second."""
    items: list[Val] = []
    for position, item in enumerate(kind.items):
        where = f"{picked}[{position}]"
        if item.family == "tuple":
            items.append(_parts(node, item, where, places, hint))
        elif not item.is_array:
            items.append(Val(nodes.const(None)))
        else:
            place = places[0] if where == "[0]" else places[1]
            items.append(Val(Node("part", (node,), node.axes, item, {"picked": where, "place": place}, hint)))
    shown = tuple(item.node for item in items)
    return Val(Node("display", shown, node.axes, kind, {"kind": "tuple"}), items=items)


def _batch_first(module: Any) -> bool:
    inner = module if hasattr(module, "batch_first") else module.self_attn
    return inner.batch_first


def _refusal(context: Context, callee: Const, what: str) -> Exception:
    kind = type(callee.value).__name__
    return context.refuse("unknown-op", f"'{callee.path}' ({kind}) is called on {what}")
