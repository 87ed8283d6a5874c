"""Gradients that are there only if some lane takes a side of a choice, and whose lanes are not all used afterwards.

An input of which no iteration takes anything has no gradient in the loop, and zeros in batched code. A choice records
in which lanes it takes the inputs that only one of its sides has. Where some of its lanes are dropped later on, by
another choice, by a shift, or as only the last one is kept, a lane that took them must be among the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from looplift.ir.array import Axis, Node, ancestors, merge_axes, reachable
from looplift.vectorize import nodes
from looplift.vectorize.reached import gradient_nodes, leaves, reached_besides

if TYPE_CHECKING:
    from looplift.vectorize.context import Context

Doubt = tuple[Node, frozenset[int]]
"""The lanes in which inputs are taken, and these inputs."""

MOVING = frozenset("shift running_sum recurrence running_last entry entry_across".split())
"""Nodes whose lanes are not those of their operands: they have doubts of their own."""


def record(context: Context, made: Node, mask: Node, inputs: set[int]) -> None:
    """Inputs that a choice takes in the lanes of a mask only."""
    if inputs:
        lanes = nodes.both(context.mask, mask)
        context.doubts.setdefault(number_of(made), []).append((lanes, frozenset(inputs)))


def record_unknown(context: Context, made: Node, inputs: frozenset[int]) -> None:
    """Inputs that some lanes of a value may lack: which ones, only the run knows."""
    if inputs:
        lanes = Node("unknown", (), made.axes, nodes.BOOL)
        context.doubts.setdefault(number_of(made), []).append((lanes, inputs))


def record_moved(context: Context, made: Node, inputs: frozenset[int]) -> None:
    """The same of a value whose lanes are not those of what it is made of, such as one of the items of a list: all may
    lack them."""
    if inputs:
        made.attrs["moved"] = True
        context.moved |= inputs
        record_unknown(context, made, inputs)


def record_read(context: Context, made: Node, value: Node, read: Callable[[Node], Node], inside: Node | None) -> None:
    """Some lanes of a value are read, those of a mask: what any of its lanes took must be taken in one of them."""
    if not context.needs_grad:
        return
    for lanes, inputs in found_in(context, value):
        if lanes.op == "asking" or is_unknown(lanes):
            record_unknown(context, made, inputs)
            continue
        there = nodes.both(inside, read(lanes))
        context.check(nodes.elementwise("or_", [nodes.negated(_some(lanes)), _some(there)], nodes.BOOL))
        record(context, made, there, set(inputs))


def record_entries(context: Context, made: Node, value: Node, entries: Callable[[Node], Node]) -> None:
    """Some lanes of a value become the entries of a ragged axis, on which what they took is told."""
    if not context.needs_grad:
        return
    found = found_in(context, value)
    if found:
        made.attrs["moved"] = True
    for lanes, inputs in found:
        if lanes.op == "asking" or is_unknown(lanes):
            record_unknown(context, made, inputs)
        else:
            context.doubts.setdefault(number_of(made), []).append((entries(lanes), inputs))


def number_of(choice: Node) -> int:
    """The number of a choice, also of those that are made of it with other operands."""
    return choice.attrs.setdefault("choice", choice.serial)


def found_in(context: Context, value: Node, besides: Node | None = None) -> list[Doubt]:
    """The doubts in a value, but for those about inputs that another one surely has, and those that both have."""
    if not context.doubts:
        return []
    sure = leaves(besides, surely=True) if besides is not None else set()
    shared = {node.serial for node in gradient_nodes(besides)} if besides is not None else set()
    own = [node for node in gradient_nodes(value, MOVING) if "choice" in node.attrs and node.serial not in shared]
    own.sort(key=lambda node: node.serial)
    found = [(node.serial, *doubt) for node in own for doubt in context.doubts.get(node.attrs["choice"], ())]
    found = [doubt for doubt in found if doubt[2] - sure]
    reached = reached_besides(value) if found else {}
    return [(lanes, inputs) for serial, lanes, inputs in found if inputs - sure - reached.get(serial, sure)]


def check(
    context: Context,
    value: Node,
    mask: Node,
    besides: Node | None = None,
    choice: Node | None = None,
    kept: Axis | None = None,
) -> None:
    """Require that what lanes of a value took is taken in a lane of the mask too, if in any.

    ``choice`` is what drops the other lanes, if it is one; ``kept`` is the axis of which the last lane is.
    """
    if not context.needs_grad:
        return
    parts = parts_of(mask)
    for lanes, inputs in found_in(context, value, besides):
        lasts = kept is not None and lanes.attrs.get("lasting") is kept
        if not lasts and not parts <= parts_of(lanes):
            if choice is None or lanes.op == "unknown":
                _check_known(context, lanes)
            nowhere = nodes.negated(_some(lanes))
            made = context.check(nodes.elementwise("or_", [nowhere, _some(nodes.both(lanes, mask))], nodes.BOOL))
            if made is not None and choice is not None:
                context.doubtful_checks.append((made, number_of(choice), inputs))


def check_entries(context: Context, value: Node, axis: Axis) -> None:
    """The same for lanes that have entries on a ragged axis; no zero becomes NaN in those that have none."""
    if not context.needs_grad or axis.lengths is None:
        return
    mask = nodes.compare("ge", axis.lengths, nodes.const(1))
    from looplift.vectorize.sheltered import check_regular_everywhere

    around = [*ancestors(axis)]
    reached = gradient_nodes(value)
    outside = [one for one in reached if any(own in around for own in one.axes) and axis not in one.axes]
    for one in outside:
        check_regular_everywhere(context, one)
    if context.items_given and any(map(context.items_of, outside)):
        _check_items(context, mask)
    for lanes, _ in found_in(context, value):
        if not any(axis is own or axis in ancestors(own) for own in lanes.axes):
            check(context, value, mask)
            return


def check_stored(context: Context, value: Node) -> None:
    """The same of a value that is stored in the entries of ragged axes."""
    for axis in context.active_axes():
        if axis.is_ragged:
            check_entries(context, value, axis)


def _check_items(context: Context, mask: Node) -> None:
    """Items of a list that lanes take before a ragged axis: each lane has an entry, or all have the same inputs."""
    if any(read.attrs.get("apart") for read in context.items_given):
        context.check(mask)
        return
    for read in context.items_given:
        alike = Node("same_inputs", read.args, (), nodes.BOOL)
        context.check(nodes.elementwise("or_", [mask, alike], nodes.BOOL))


def check_moved(context: Context, values: list[Node]) -> None:
    """What is handed out, stored or carried has the inputs that items it is made of may lack from something else."""
    from looplift.vectorize.carried_inputs import made_of

    if context.moved and any(context.moved & made_of(context, value).doubtful for value in values):
        raise context.refuse("carried", "an item of a list may get no gradient in the loop")


def check_each(context: Context, value: Node, axes: tuple[Axis, ...], mask: Node | None) -> None:
    """The same where the values of some axes are handed out one by one: each must have taken what any may take."""
    found = found_in(context, value)
    if _exclude_each_other([lanes for lanes, _ in found if set(lanes.axes) <= set(axes)]):
        raise context.refuse("carried", "an item of a list may get no gradient in the loop")
    for lanes, _ in found:
        _check_known(context, lanes)
        inner = tuple(axis for axis in lanes.axes if axis not in axes)
        ragged = [axis for axis in inner if axis.is_ragged]
        if len(ragged) > 1 or (ragged and len(inner) > 1):
            raise context.refuse("carried", "an item of a list may get no gradient in the loop")
        outer = tuple(axis for axis in lanes.axes if axis in axes)
        outer = merge_axes(outer, *(axis.parents for axis in ragged))
        taken = Node("reduce", (lanes,), outer, nodes.BOOL, {"axes": inner, "operator": "or"}) if inner else lanes
        context.check(taken if mask is None else nodes.elementwise("or_", [taken, nodes.negated(mask)], nodes.BOOL))


def check_taken(context: Context, value: Node, taken: Node, init: Node) -> None:
    """The same where the last of some lanes is kept: each of them must have taken what any lane of the value took."""
    for lanes, _ in found_in(context, value, init):
        _check_known(context, lanes)
        others = _some(nodes.both(taken, nodes.negated(lanes)))
        context.check(nodes.elementwise("or_", [nodes.negated(_some(lanes)), nodes.negated(others)], nodes.BOOL))


def record_scan(
    context: Context, made: Node, parts: tuple[Node | None, ...], init: Node, axis: Axis, *, drops: bool
) -> None:
    """What one lane of the parts takes is in the lanes after it as well, but where one ``drops`` what came before."""
    found = [doubt for part in parts if part is not None for doubt in found_in(context, part, init)]
    found = [(lanes if drops else _lasting(lanes, axis), inputs) for lanes, inputs in found]
    if found := [*found, *found_in(context, init)]:
        context.doubts[number_of(made)] = found


def record_taken(context: Context, made: Node, taken: Node, value: Node, init: Node, axis: Axis) -> None:
    """The last of the lanes so far that take a value, and the value in front before there is one."""
    record(context, made, _lasting(taken, axis), leaves(value) - leaves(init, surely=True))


def _lasting(lanes: Node, axis: Axis) -> Node:
    """Some lanes, and those after them."""
    if axis not in lanes.axes:
        return lanes
    ones = nodes.select(lanes, nodes.const(1), nodes.const(0), nodes.INT)
    count = Node("running_sum", (ones, nodes.const(0)), lanes.axes, nodes.INT, {"axis": axis, "bits": nodes.INDEX_BITS})
    found = nodes.compare("gt", count, nodes.const(0))
    found.attrs["lasting"] = axis
    return found


def record_listed(context: Context, made: Node, item: Node, axis: Axis) -> None:
    """A loop that stays has put tensors into a list, of which those ask for a gradient that took an input.

    ``item``: what it puts there in each iteration.
    """
    if not (context.needs_grad and item.kind.is_array and nodes.may_have_gradient(item.kind.dtype)):
        return
    sure = leaves(item, surely=True)
    if any(node.serial in sure and node.attrs.get("gradient") for node in gradient_nodes(item)):
        return
    (listed,) = made.args
    asking = Node("asking", (listed,), (axis,), nodes.BOOL)
    context.doubts[number_of(made)] = [(asking, frozenset((listed.serial,)))]


def record_chosen(context: Context, made: Node, chosen: Node) -> None:
    """Of what is in a list only some lanes are its items."""
    found = context.doubts.get(number_of(made), ())
    if found:
        context.doubts[number_of(made)] = [
            (lanes if is_unknown(lanes) else nodes.both(lanes, chosen), inputs) for lanes, inputs in found
        ]


def record_carried(context: Context, name: Node, value: Node) -> None:
    """A loop that stays carries in lanes what these take in each iteration, where none of its names tells which."""
    found = [doubt for doubt in found_in(context, value, name) if not is_local(doubt[0])]
    if found:
        context.doubts[number_of(name)] = found


def is_local(node: Node) -> bool:
    """Whether lanes are told by what is known inside of a loop alone, or by nothing."""
    return any(
        one.op == "unknown" or (one.op == "name" and (one.attrs.get("local") or one.attrs.get("memory")))
        for one in reachable([node])
    )


def is_unknown(lanes: Node) -> bool:
    """Whether only the run knows some of the lanes that others were made of, in a loop that stays."""
    return any(node.op == "unknown" for node in reachable([lanes]))


def check_last(context: Context, value: Node, axis: Axis) -> None:
    """The same where only the last lane of an axis is kept."""
    check(context, value, nodes.compare("eq", _position(axis), _last(axis)), kept=axis)


def check_shifted(context: Context, init: Node, value: Node, axis: Axis) -> None:
    """The same where the last lane of an axis is dropped, and another value comes in front."""
    if not context.needs_grad or not value.kind.is_array:
        return
    if leaves(value) - leaves(init, surely=True):
        context.check_at_most(nodes.const(2), axis.extent)
    check(context, value, nodes.compare("ne", _position(axis), _last(axis)), init)


def record_shifted(context: Context, made: Node, init: Node, value: Node, axis: Axis) -> None:
    """The first lane takes the inputs of the value in front, the others those of the lanes before them."""
    if not (context.needs_grad and value.kind.is_array):
        return
    first = nodes.compare("eq", _position(axis), axis.lo)
    doubtful: set[int] = set()
    for lanes, inputs in found_in(context, value, init):
        doubtful |= inputs
        record(context, made, _after(lanes, axis, first), set(inputs))
    record(context, made, nodes.negated(first), leaves(value) - leaves(init, surely=True) - doubtful)
    for lanes, inputs in found_in(context, init, value):
        record(context, made, nodes.both(first, lanes), set(inputs))
    record(context, made, first, leaves(init) - leaves(value, surely=True))


def _after(lanes: Node, axis: Axis, first: Node) -> Node:
    """Where the lane before is one of some lanes."""
    if axis not in lanes.axes:
        return nodes.both(nodes.negated(first), lanes)
    return Node("shift", (nodes.const(False), lanes), lanes.axes, nodes.BOOL, {"axis": axis})


def check_at(context: Context, value: Node, axis: Axis) -> frozenset[int]:
    """A loop that stays takes the lanes of an axis one by one: the inputs that some may lack."""
    doubtful: frozenset[int] = frozenset()
    given = [node for node in gradient_nodes(value) if node.op == "name" and not node.attrs.get("memory")]
    fine = leaves(value, surely=True, past=context.doubts)
    fine |= {node.serial for node in given if node.attrs.get("gradient") is False}
    for lanes, inputs in found_in(context, value):
        if axis not in lanes.axes or not inputs - fine:
            continue
        if lanes.op != "asking":
            doubtful |= inputs - fine
            continue
        nowhere, everywhere = nodes.negated(_some(lanes)), nodes.negated(_some(nodes.negated(lanes)))
        context.check(nodes.elementwise("or_", [nowhere, everywhere], nodes.BOOL))
    return doubtful


def check_all_known(context: Context) -> None:
    """The checks of choices that are left in the end: some choices matter to nobody."""
    for made, _, _ in context.doubtful_checks:
        _check_known(context, made.cond)


def _check_known(context: Context, lanes: Node) -> None:
    if is_unknown(lanes):
        raise context.refuse("carried", "a value that may have no gradient in some iterations of a loop that stays")


def _position(axis: Axis) -> Node:
    from looplift.vectorize.context import index_node

    return index_node(axis)


def _last(axis: Axis) -> Node:
    return nodes.plus(axis.lo, nodes.times(nodes.minus(axis.extent, nodes.const(1)), axis.step))


def _some(lanes: Node) -> Node:
    return Node("some", (lanes,), (), nodes.BOOL) if lanes.axes else lanes


def _exclude_each_other(masks: list[Node]) -> bool:
    """Whether some masks are those of both sides of one ``if``."""
    parts = {part for mask in masks for part in parts_of(mask)}
    return any(("not", part) in parts for part in parts)


def parts_of(mask: Node) -> set[Any]:
    """The conditions that hold together where a mask does."""
    if mask.op == "elementwise" and mask.attrs["name"] == "and_":
        return {part for arg in mask.args for part in parts_of(arg)}
    if mask.op == "elementwise" and mask.attrs["name"] == "not":
        return {("not", mask.args[0].serial)}
    return {mask.serial}
