"""Masks that hold in every lane, choices that decide nothing, and those between booleans, which are masks too."""

from __future__ import annotations

from looplift.ir.array import Node, merge_axes
from looplift.ir.facts import Kind


def excluded_middle(node: Node) -> Node | None:
    """``a | ~(a & b)`` is True, also where ``a`` is ``x != c`` and stands there as ``~(x == c)``.

    What is required where a mask holds may be a part of the mask itself.
    """
    if node.op != "elementwise" or node.attrs["name"] != "or_" or len(node.args) != 2:
        return None
    if node.kind.family != "bool":
        return None
    for required, outside in (node.args, node.args[::-1]):
        if _is(required, True) or _differ(required, outside):
            return _true(node)
        if _is_not(outside):
            parts = _parts(outside.args[0])
            where_held = _shown_whole(required, parts) or required
            if any(_same_test(one, part) for part in parts for one in (required, where_held)):
                return _true(node)
            if any(_is_not(part) and _differ(required, part.args[0]) for part in parts):
                return _true(node)
    return None


def _true(node: Node) -> Node:
    return Node("const", (), (), node.kind, {"value": True})


def _parts(mask: Node) -> list[Node]:
    """The conditions that hold together where a mask does."""
    if mask.op == "elementwise" and mask.attrs["name"] == "and_":
        return [part for arg in mask.args for part in _parts(arg)]
    return [mask]


TURNED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def _same_test(a: Node, b: Node) -> bool:
    """Whether two conditions are one, also with their operands the other way around."""
    if a is b or _is_some(a, b):
        return True
    if a.op != "elementwise" or b.op != "elementwise" or a.kind != b.kind or len(a.args) != 2 or len(b.args) != 2:
        return False
    turned = TURNED.get(a.attrs["name"]) == b.attrs["name"] and set(a.attrs) == set(b.attrs) == {"name"}
    return turned and all(map(_same_value, a.args, b.args[::-1]))


def _is_not(mask: Node) -> bool:
    return mask.op == "elementwise" and mask.attrs["name"] in ("not", "invert")


def _differ(unequal: Node, equal: Node) -> bool:
    """Whether one is that two numbers differ, the other one that they are equal."""
    if unequal.op != "elementwise" or equal.op != "elementwise":
        return False
    if (unequal.attrs["name"], equal.attrs["name"]) != ("ne", "eq"):
        return False
    return any(all(map(_same_number, unequal.args, args)) for args in (equal.args, equal.args[::-1]))


def _same_number(a: Node, b: Node) -> bool:
    if a.op == b.op == "const" and not isinstance(a.attrs["value"], str):
        return a.attrs["value"] == b.attrs["value"]
    return a is b


def _is_some(a: Node, b: Node) -> bool:
    """Whether one is that a mask holds somewhere, the other one that it is counted more than zero times."""
    counted = _counted(b) if a.op == "reduce" and a.attrs["operator"] == "or" else None
    if counted is None or {*map(id, _parts(a.args[0]))} != {*map(id, _parts(counted))}:
        return False
    return a.axes == b.axes and set(a.attrs["axes"]) == set(b.args[0].attrs["axes"])


def _counted(node: Node) -> Node | None:
    """The mask of which some are to hold, by their count; None where a condition is another one."""
    if node.op != "elementwise" or node.attrs["name"] not in ("gt", "ne") or not _is_zero(node.args[1]):
        return None
    count = node.args[0]
    if count.op != "reduce" or count.attrs["operator"] != "add" or not _is_test(count.args[0]):
        return None
    return count.args[0]


def _same_value(a: Node, b: Node) -> bool:
    if a.op == b.op == "const":
        values = a.attrs["value"], b.attrs["value"]
        return type(values[0]) is type(values[1]) and repr(values[0]) == repr(values[1])  # 0.0 is not -0.0
    if a.op == b.op and a.op in ("fold", "retype") and a.axes == b.axes and a.kind == b.kind and a.attrs == b.attrs:
        return all(map(_same_value, a.args, b.args))
    return a is b


def no_less_than_none(node: Node) -> Node | None:
    """A count is not below zero, nor its negative above."""
    if node.op != "elementwise" or len(node.args) != 2 or node.kind.family != "bool":
        return None
    a, b = node.args if node.attrs["name"] == "le" else node.args[::-1]
    if node.attrs["name"] not in ("le", "ge"):
        return None
    zero, other = (a, b) if a.op == "const" else (b, a)
    if not _is_zero(zero):
        return None
    if zero is b:  # -count <= 0
        if other.op != "elementwise" or other.attrs["name"] != "neg":
            return None
        (other,) = other.args
    return _true(node) if _is_count(other) else None


def _is_count(node: Node) -> bool:
    """Whether a number is how many booleans of one lane hold."""
    while node.op == "retype" and len(node.args) == 1:
        (node,) = node.args
    if node.op != "fold" or node.attrs["name"] not in ("sum", "count_nonzero") or len(node.args) != 1:
        return False
    (mask,) = node.args
    return str(node.kind.dtype) == "torch.int64" and str(mask.kind.dtype) == "torch.bool"


def needless_choice(node: Node) -> Node | None:
    """A side that no lane takes is left out so that inputs have no gradient: not where they are reached anyway."""
    return node.args[1] if node.op == "where" and node.attrs.get("needless") else None


def chosen_boolean(node: Node) -> Node | None:
    """A choice between booleans of which one is known: joined masks take one pass over the elements, and are fast."""
    if node.op != "where" or len(node.args) != 3 or not _is_boolean(node):
        return None
    mask, then, orelse = node.args
    if not (_is_boolean(mask) and mask.axes) or not all(map(_is_boolean, (then, orelse))):
        return None
    name = "and_" if _is(orelse, False) or orelse is mask else "or_" if _is(then, True) or then is mask else None
    other = then if name == "and_" else orelse
    if name is None or not (other.axes or other.kind.is_array):
        return None
    return Node("elementwise", (mask, other), node.axes, node.kind, {"name": name}, node.hint)


def joined_choices(node: Node) -> Node | None:
    """A choice in a choice, with one value for all that is not chosen: joined masks are one pass less of values."""
    if node.op != "where" or len(node.args) != 3:
        return None
    mask, inner, orelse = node.args
    if inner.op != "where" or len(inner.args) != 3 or inner.kind != node.kind:
        return None
    test, value, other = inner.args
    if not (_is_test(mask) and _same_value(orelse, other)) or node.attrs.get("held") != inner.attrs.get("held"):
        return None
    if not test.axes and test.kind.family == "bool":
        chosen = Node("where", (mask, value, other), merge_axes(mask.axes, value.axes, other.axes), node.kind)
        return Node("where", (test, chosen, other), node.axes, node.kind, node.attrs, node.hint)
    if not _is_test(test):
        return None
    both = Node("elementwise", (mask, test), merge_axes(mask.axes, test.axes), Kind("bool"), {"name": "and_"})
    return Node("where", (both, value, other), node.axes, node.kind, node.attrs, node.hint)


def chosen_anyway(node: Node) -> Node | None:
    """A choice in the terms of a sum that is chosen by the same mask: what else it gives is not seen, nor its zeros."""
    if node.op != "where" or len(node.args) != 3 or not _is_test(node.args[0]):
        return None
    mask, value, orelse = node.args
    shown = _shown(value, _parts(mask))
    return None if shown is value else Node("where", (mask, shown, orelse), node.axes, node.kind, node.attrs, node.hint)


def _shown(node: Node, parts: list[Node]) -> Node:
    """What a value is where all these conditions hold, and whose gradient is nothing elsewhere."""
    if node.op == "where" and len(node.args) == 3 and node.args[1].kind == node.kind:
        return node.args[1] if any(node.args[0] is part for part in parts) else node
    if (made := _shown_whole(node, parts)) is not None:
        return made
    if node.op != "relabel" and (node.op != "elementwise" or node.attrs["name"] not in ("add", "sub", "neg")):
        return node
    args = tuple(_shown(arg, parts) for arg in node.args)
    if all(new is old for new, old in zip(args, node.args, strict=True)):
        return node
    return Node(node.op, args, merge_axes(*(arg.axes for arg in args)), node.kind, node.attrs, node.hint)


def _shown_whole(node: Node, parts: list[Node]) -> Node | None:
    """A boolean or an integer of booleans that are joined with a condition that holds; None for anything else.

    It has no gradient, and what it is elsewhere raises nothing.
    """
    if node.op == "elementwise" and node.attrs["name"] == "and_" and len(node.args) == 2:
        for held, other in (node.args, node.args[::-1]):
            if other.axes == node.axes and other.kind == node.kind and any(held is part for part in parts):
                return other
    counts = node.op in ("first_held", "fold", "retype") or node.attrs.get("name") in TURNED
    if not counts or not node.args or not _is_whole(node) or not all(map(_is_whole, node.args)):
        return None
    alike = [part for part in parts if not part.kind.rank and set(part.axes) <= set(node.axes)]  # what is not folded
    args = tuple(_shown_whole(arg, alike) or arg for arg in node.args)
    if all(new is old for new, old in zip(args, node.args, strict=True)):
        return None
    return Node(node.op, args, node.axes, node.kind, node.attrs, node.hint)


def _is_whole(node: Node) -> bool:
    dtype = str(node.kind.dtype)
    return node.kind.family in ("bool", "int") or (node.kind.is_array and ("int" in dtype or "bool" in dtype))


def held_anyway(node: Node) -> Node | None:
    """A condition that is joined with others need not ask for these again."""
    if node.op != "elementwise" or node.attrs["name"] != "and_" or len(node.args) != 2 or not _is_test(node):
        return None
    for one, other in (node.args, node.args[::-1]):
        if other.op == "elementwise" and (made := _shown_whole(other, _parts(one))) is not None:
            if other.axes == made.axes:
                return Node("elementwise", (one, made), node.axes, node.kind, node.attrs, node.hint)
    return None


def counted_anyway(node: Node) -> Node | None:
    """A mask, where it holds anywhere: wherever it does."""
    if node.op != "elementwise" or node.attrs["name"] != "and_" or not _is_test(node):
        return None
    parts = _parts(node)
    for part in parts:
        others = [one for one in parts if one is not part]
        counted = _counted(part)
        if counted is not None and all(any(one is other for other in others) for one in _parts(counted)):
            made = others[0]
            for other in others[1:]:
                axes = merge_axes(made.axes, other.axes)
                made = Node("elementwise", (made, other), axes, node.kind, {"name": "and_"})
            return made if made.axes == node.axes and made.kind == node.kind else None
    return None


def double_negation(node: Node) -> Node | None:
    """``~~a`` is ``a``, of booleans."""
    if node.op != "elementwise" or node.attrs["name"] != "not" or node.kind.family != "bool":
        return None
    (inner,) = node.args
    if inner.op != "elementwise" or inner.attrs["name"] != "not" or inner.args[0].kind != node.kind:
        return None
    return inner.args[0]


def same_sides(node: Node) -> Node | None:
    """A choice between a value and itself."""
    if node.op != "where" or len(node.args) != 3:
        return None
    _, then, orelse = node.args
    return then if then is orelse and then.axes == node.axes and then.kind == node.kind else None


def held_anywhere(node: Node) -> Node | None:
    """Whether a mask holds in one of the lanes of one of the lanes, or in all of all, is asked once, in one form."""
    is_some = node.op == "some" or (_asks(node, "or") and not node.axes and node.kind.family == "bool")
    if is_some:
        (inner,) = node.args
        while _asks(inner, "or"):
            (inner,) = inner.args
        return None if node.op == "some" and inner is node.args[0] else Node("some", (inner,), (), node.kind, {})
    for operator in ("and", "or"):
        if _asks(node, operator) and _asks(node.args[0], operator):
            axes = (*node.attrs["axes"], *node.args[0].attrs["axes"])
            return Node("reduce", node.args[0].args, node.axes, node.kind, {**node.attrs, "axes": axes}, node.hint)
    return None


def _asks(node: Node, operator: str) -> bool:
    """Whether a value is whether a mask holds in some lanes of dense axes, or in all of them."""
    return (
        node.op == "reduce" and node.attrs["operator"] == operator
        and not any(axis.is_ragged for axis in (*node.args[0].axes, *node.axes))
    )  # fmt: skip


def _is_boolean(node: Node) -> bool:
    plain = node.kind.family == "tensor" and str(node.kind.dtype) == "torch.bool"
    return node.kind.family == "bool" or plain


def _is_test(node: Node) -> bool:
    """Whether a value is one boolean in each lane."""
    plain = node.kind.is_array and "bool" in str(node.kind.dtype) and not node.kind.rank
    return bool(node.axes) and (node.kind.family == "bool" or plain)


def _is_zero(node: Node) -> bool:
    return node.op == "const" and type(node.attrs["value"]) is int and node.attrs["value"] == 0


def _is(node: Node, value: bool) -> bool:
    return node.op == "const" and node.attrs["value"] is value
