"""Masks that hold in every lane, choices that decide nothing, and those between booleans, which are masks too."""

from __future__ import annotations

from looplift.ir.array import Node


def excluded_middle(node: Node) -> Node | None:
    """``a | ~a`` is True: what is required where a mask holds may be the mask itself."""
    if node.op != "elementwise" or node.attrs["name"] != "or_" or len(node.args) != 2:
        return None
    if node.kind.family != "bool":
        return None
    first, second = node.args
    if _negates(first, second) or _negates(second, first):
        return Node("const", (), (), node.kind, {"value": True})
    return None


def _negates(a: Node, b: Node) -> bool:
    return a.op == "elementwise" and a.attrs["name"] in ("not", "invert") and a.args[0] is b


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


def _is_boolean(node: Node) -> bool:
    plain = node.kind.family == "tensor" and str(node.kind.dtype) == "torch.bool"
    return node.kind.family == "bool" or plain


def _is(node: Node, value: bool) -> bool:
    return node.op == "const" and node.attrs["value"] is value
